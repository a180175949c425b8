// rotate_roi_pooling.cu: the largest value inside each rotated bin of each region (RRPN).
#include "bins.h"
#include "slab.h"

constexpr int CHUNK = 128;  // candidates that are tested together

// A bin: the parallelogram at A with the sides AB and AC, and the pixels around it.
struct Bin {
  Real ay, ax, by, bx, cy, cx;
  Box box;
};

// Region (batch index, cx, cy, height, width, angle in degrees, counter-clockwise); rows and columns: of the image on the map.
DEVICE Bin bin_of(const Store* region, Pooled pooled, Real scale, int ph, int pw, int rows, int columns) {
  const Real angle = Real(double(Real(region[5])) / 180 * 3.1415926535);  // as RRPN has it
  const Real step_x = Real(region[4]) * scale / pooled.width, step_y = Real(region[3]) * scale / pooled.height;
  const Real along_x = cos(angle) * step_x, along_y = -sin(angle) * step_x;  // one bin to the right
  const Real down_x = sin(angle) * step_y, down_y = cos(angle) * step_y;     // one bin down
  const Real u = -pooled.width / Real(2), v = -pooled.height / Real(2);
  const Real start_x = along_x * u + down_x * v + Real(region[1]) * scale;
  const Real start_y = along_y * u + down_y * v + Real(region[2]) * scale;
  const auto x = [&](int right, int below) { return along_x * (pw + right) + down_x * (ph + below) + start_x; };
  const auto y = [&](int right, int below) { return along_y * (pw + right) + down_y * (ph + below) + start_y; };
  Bin bin = {y(0, 0), x(0, 0), y(0, 1) - y(0, 0), x(0, 1) - x(0, 0), y(1, 0) - y(0, 0), x(1, 0) - x(0, 0), {0, 0, 0, 0}};
  const Real top = min(min(y(0, 0), y(0, 1)), min(y(1, 0), y(1, 1)));
  const Real bottom = max(max(y(0, 0), y(0, 1)), max(y(1, 0), y(1, 1)));
  const Real left = min(min(x(0, 0), x(0, 1)), min(x(1, 0), x(1, 1)));
  const Real right = max(max(x(0, 0), x(0, 1)), max(x(1, 0), x(1, 1)));
  if (abs(top) + abs(bottom) + abs(left) + abs(right) <= REAL_MAX)  // not where a product overflowed
    bin.box = {max(whole(round(top)), 0), min(whole(round(bottom)) + 1, rows), max(whole(round(left)), 0),
               min(whole(round(right)) + 1, columns)};
  return bin;
}

// Whether the middle of a pixel lies in the bin; of its edges, those at A belong to it.
DEVICE bool inside(const Bin& bin, int y, int x) {
  const Real py = y - bin.ay, px = x - bin.ax, on_b = px * bin.bx + py * bin.by, on_c = px * bin.cx + py * bin.cy;
  return on_b >= 0 && on_b < bin.bx * bin.bx + bin.by * bin.by && on_c >= 0 && on_c < bin.cx * bin.cx + bin.cy * bin.cy;
}

// The walker: visit(first, count, at) with candidates first to first + count; at: their places, -1 for one outside the bin.
// Once at least.
template <class Visit>
DEVICE void walk(const Bin& bin, int width, Visit visit) {
  SHARED int at[CHUNK];
  const int columns = max(bin.box.right - bin.box.left, 0), candidates = max(bin.box.bottom - bin.box.top, 0) * columns;
  for (int first = 0; first == 0 || first < candidates; first += CHUNK) {
    const int count = min(CHUNK, candidates - first);
    THREAD_LOOP(i, count) {
      const int row = (first + i) / columns, y = bin.box.top + row, x = bin.box.left + first + i - row * columns;
      at[i] = inside(bin, y, x) ? y * width + x : -1;
    }
    BARRIER();
    visit(first, count, at);
    BARRIER();
  }
}

// image[k]: of region k, -1 if it contributes nothing.
KERNEL rotate_roi_pooling_images(int n, const Store* regions, int* image, int batch) {
  GRID_LOOP(k, n) image[k] = image_of(regions + 6 * k, 6, batch);
}

// A block owns a bin of a region. info: rows (height, width, scale), one for each image or one for all. top and argmax:
// (K, channels, pooled_height, pooled_width); places (or null): argmax, as a top.
KERNEL rotate_roi_pooling_forward(int n, const Real* slabs, const Store* regions, const int* image, const Store* info,
                                  int infos, Store* top, int* argmax, Store* places, Geometry g) {
  const int channels = g.channels, height = g.height, width = g.width;
  const Real scale = g.scale;
  BLOCK_LOOP(b, n) {
    const Pooled pooled = pooled_of(g);
    const int k = b / pooled.cells(), cell = b - k * pooled.cells(), of = max(image[k], 0);
    int rows = 0, columns = 0;  // of the image on the map
    if (image[k] >= 0) {
      const Store* size = info + 3 * min(of, infos - 1);
      const Real image_height = Real(size[0]) * scale, image_width = Real(size[1]) * scale;
      rows = image_height > 0 ? min(whole(image_height), height) : 0;  // NaN: none
      columns = image_width > 0 ? min(whole(image_width), width) : 0;
    }
    const Real* map = slabs + (long long)of * slabs_of(channels) * height * width * SLAB;
    const Bin bin = bin_of(regions + 6 * k, pooled, scale, cell / pooled.width, cell % pooled.width, rows, columns);
    walk(bin, width, [&](int first, int count, const int* at) {
      THREAD_LOOP(t, slabs_of(channels) * GROUPS) {
        const int s = t / GROUPS, group = t % GROUPS, channel = s * SLAB + group * LANES;
        const long long out = ((long long)k * channels + channel) * pooled.cells() + cell;
        const int mine = min(LANES, channels - channel);
        const Real* slab = map + (long long)s * height * width * SLAB;
        Lanes most = {};
        Places place = Places{} - 1;
        for (int i = 0; i < count; ++i) {
          if (at[i] < 0) continue;
          const Lanes value = lanes(slab, at[i], group);
          const auto more = value > most;
          most = more ? value : most;
          place = more ? Places{} + at[i] : place;
        }
        for (int i = 0; i < mine; ++i) {
          const long long o = out + (long long)i * pooled.cells();
          if (first > 0 && !(lane(most, i) > Real(top[o]))) continue;  // than in the chunks before
          top[o] = lane(most, i);
          argmax[o] = lane(place, i);
          if (places) places[o] = Real(lane(place, i));
        }
      }
    });
  }
}

// How far apart bins of a region are that share no pixel, of `count` along an axis. Bins do not overlap, but by rounding
// neighbours may share one, and very thin bins many.
DEVICE int apart(const Store* region, const Geometry& g, int count) {
  const Real down = abs(Real(region[3]) * g.scale), across = abs(Real(region[4]) * g.scale);
  const Real farthest = (abs(Real(region[1])) + abs(Real(region[2]))) * g.scale + down + across + g.height + g.width;
  return min(min(down / g.pooled_height, across / g.pooled_width) > Real(1e-3) * farthest ? 2 : count, count);
}

// A block owns a plane and takes the regions of its image in order. sums: bottom_diff itself, or in float32 where that is half.
KERNEL rotate_roi_pooling_backward(int n, const Store* top_diff, const Store* regions, const int* argmax, const int* image,
                                   Real* sums, Store* bottom_diff, Geometry g) {
  const int channels = g.channels, area = g.height * g.width;
  BLOCK_LOOP(plane, n) {
    const Pooled pooled = pooled_of(g);
    const int of = plane / channels;
    const long long start = (long long)plane * area;
    THREAD_LOOP(i, area) sums[start + i] = 0;
    BARRIER();
    for (int k = 0; k < g.regions && !STOPPED(); ++k) {
      if (image[k] != of) continue;
      const long long first = ((long long)k * channels + plane - of * channels) * pooled.cells();
      const int step_y = apart(regions + 6 * k, g, pooled.height), step_x = apart(regions + 6 * k, g, pooled.width);
      visit_apart(pooled, step_y, step_x, 1, [&](int ph, int pw, int) {
        const long long bin = first + ph * pooled.width + pw;
        if (argmax[bin] >= 0) sums[start + argmax[bin]] += Real(top_diff[bin]);
      });
    }
    THREAD_LOOP(i, area) bottom_diff[start + i] = sums[start + i];
  }
}
