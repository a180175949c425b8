// align_rotated.cu: averages of bilinear samples in the bins of rotated regions, and their gradients. Features in slabs.
//
// A region is a row (batch index, cx, cy, w, h, theta); its samples lie on an upright grid around its centre, turned by theta:
// y = yy cos - xx sin + cy, x = yy sin + xx cos + cx (the image's y goes down, so theta turns it counter-clockwise).
#include "grid.h"
#include "region.h"
#include "sample.h"
#include "slab.h"

struct Turned {
  Grid grid;  // around the centre
  Real y, x, sine, cosine;
};

// `clockwise` turns the other way; `aligned` takes half a pixel off the centre; without, sizes are at least 1.
DEVICE Turned turned(const Real* region, int pooled_height, int pooled_width, Real scale, int sampling_ratio, int aligned,
                     int clockwise) {
  const Real half = aligned ? Real(0.5) : Real(0), theta = clockwise ? -region[5] : region[5];
  Real width = region[3] * scale, height = region[4] * scale;
  if (!aligned) {
    width = max(width, Real(1));
    height = max(height, Real(1));
  }
  Turned t = {grid_of(-height / 2, -width / 2, height, width, pooled_height, pooled_width, sampling_ratio),
              region[2] * scale - half, region[1] * scale - half, sin(theta), cos(theta)};
  if (!(abs(t.y) + abs(t.x) <= REAL_MAX)) t.grid.rows = t.grid.columns = 0;
  return t;
}

// The walker: the samples of bin (ph, pw) that lie on the map, by rows; visit(yy, xx, y, x, at, weight).
template <class Visit>
DEVICE void walk(const Turned& t, int ph, int pw, int height, int width, Visit visit) {
  const Grid& g = t.grid;
  for (int row = 0; row < g.rows; ++row) {
    const Real yy = g.y + ph * g.bin_height + (row + Real(0.5)) * g.bin_height / g.rows;
    for (int column = 0; column < g.columns; ++column) {
      const Real xx = g.x + pw * g.bin_width + (column + Real(0.5)) * g.bin_width / g.columns;
      const Real y = yy * t.cosine - xx * t.sine + t.y, x = yy * t.sine + xx * t.cosine + t.x;
      int at[4];
      Real weight[4];
      if (bilinear(y, x, height, width, at, weight)) visit(yy, xx, y, x, at, weight);
    }
  }
}

KERNEL align_rotated_pack(int n, const Store* maps, Real* slabs, int channels, int area) {
  BLOCK_LOOP(slab, n) pack(slab, maps, slabs, channels, area);
}

// A block owns a region in a slab; top: (K, C, pooled_height, pooled_width).
KERNEL align_rotated_forward(int n, const Real* slabs, const Real* rows, Store* top, int regions, int batch, int channels,
                             int height, int width, int pooled_height, int pooled_width, Real scale, int sampling_ratio,
                             int aligned, int clockwise) {
  BLOCK_LOOP(b, n) {
    const int s = b / regions, k = b - s * regions, bins = pooled_height * pooled_width;
    const int image = image_of(rows + 6 * (long long)k, 6, batch);
    const Turned t = turned(rows + 6 * (long long)k, pooled_height, pooled_width, scale, sampling_ratio, aligned, clockwise);
    const Real* slab = slabs + ((long long)max(image, 0) * slabs_of(channels) + s) * height * width * SLAB;
    const Real count = max(Real(t.grid.rows) * Real(t.grid.columns), Real(1));
    TILE_LOOP(bin, group, bins, GROUPS) {
      Lanes sum = {};
      if (image >= 0)
        walk(t, bin / pooled_width, bin % pooled_width, height, width,
             [&](Real, Real, Real, Real, const int* at, const Real* weight) {
               for (int i = 0; i < 4; ++i) sum += weight[i] * lanes(slab, at[i], group);
             });
      scatter(top + (long long)k * channels * bins, s * SLAB, channels, bins, bin, group, Lanes(sum / count));
    }
  }
}

// A block owns `tall` rows of a slab of an image in sums, and takes that image's regions in order, of each together the bins
// that share no pixel: each number has one owner and one order.
KERNEL align_rotated_backward(int n, const Store* top_diff, const Real* rows, Real* sums, int regions, int batch,
                              int channels, int bands, int tall, int height, int width, int pooled_height, int pooled_width,
                              Real scale, int sampling_ratio, int aligned, int clockwise) {
  BLOCK_LOOP(b, n) {
    const int slab = b / bands, image = slab / slabs_of(channels), s = slab - image * slabs_of(channels);
    const int first_row = (b - slab * bands) * tall, end_row = min(first_row + tall, height);
    const int first = first_row * width, end = end_row * width, bins = pooled_height * pooled_width;
    Real* map = sums + (long long)slab * height * width * SLAB;
    for (int pixel = first; pixel < end; pixel += 1 << 16)
      THREAD_LOOP(i, min(end - pixel, 1 << 16) * SLAB) map[(long long)pixel * SLAB + i] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image_of(rows + 6 * (long long)k, 6, batch) != image) continue;
      const Turned t =
          turned(rows + 6 * (long long)k, pooled_height, pooled_width, scale, sampling_ratio, aligned, clockwise);
      const Grid& g = t.grid;
      const Real reach = abs(g.y * t.cosine) + abs(g.x * t.sine) + 2;  // of samples above and below the centre
      if (t.y + reach < first_row || t.y - reach > end_row) continue;
      const int step_y = apart(abs(t.y) + abs(t.x), g.bin_height, g.rows, pooled_height, 6);
      const int step_x = apart(abs(t.y) + abs(t.x), g.bin_width, g.columns, pooled_width, 6);
      const Store* given = top_diff + (long long)k * channels * bins;
      const Real count = Real(g.rows) * Real(g.columns);
      for (int set = 0; set < step_y * step_x; ++set) {
        const int first_y = set / step_x, first_x = set - first_y * step_x;
        TILE_LOOP(v, u, (pooled_height - first_y + step_y - 1) / step_y,
                  (pooled_width - first_x + step_x - 1) / step_x * GROUPS) {
          const int ph = first_y + v * step_y, pw = first_x + u / GROUPS * step_x, group = u % GROUPS;
          const Lanes gradient = gather(given, s * SLAB, channels, bins, ph * pooled_width + pw, group) / count;
          walk(t, ph, pw, height, width, [&](Real, Real, Real, Real, const int* at, const Real* weight) {
            for (int i = 0; i < 4; ++i)
              if (at[i] >= first && at[i] < end) lanes(map, at[i], group) += weight[i] * gradient;
          });
        }
        BARRIER();
      }
    }
  }
}

KERNEL align_rotated_unpack(int n, const Real* slabs, Store* maps, int channels, int area) {
  BLOCK_LOOP(slab, n) unpack(slab, slabs, maps, channels, area);
}

#define PRODUCTS 256  // kept before they are summed

// The sums that the regions' gradient is made of, a block for a region in a slab; parts: (slabs, K, 5): with respect to the
// centre's x and y, the width, the height and the angle, on the map.
KERNEL align_rotated_moves(int n, const Real* slabs, const Store* top_diff, const Real* rows, Real* parts, int regions,
                           int batch, int channels, int height, int width, int pooled_height, int pooled_width, Real scale,
                           int sampling_ratio, int aligned, int clockwise) {
  BLOCK_LOOP(b, n) {
    SHARED Real product[5][PRODUCTS], total[5];
    const int s = b / regions, k = b - s * regions, bins = pooled_height * pooled_width;
    const int image = image_of(rows + 6 * (long long)k, 6, batch);
    const Turned t = turned(rows + 6 * (long long)k, pooled_height, pooled_width, scale, sampling_ratio, aligned, clockwise);
    const Real* slab = slabs + ((long long)max(image, 0) * slabs_of(channels) + s) * height * width * SLAB;
    const Store* given = top_diff + (long long)k * channels * bins;
    const int all = image < 0 ? 0 : bins * GROUPS;
    THREAD_LOOP(i, 5) total[i] = 0;
    for (int first = 0; first < all; first += PRODUCTS / LANES) {
      const int count = min(PRODUCTS / LANES, all - first);
      THREAD_LOOP(item, count) {
        const int bin = (first + item) / GROUPS, group = (first + item) % GROUPS;
        Lanes sum[5] = {};
        walk(t, bin / pooled_width, bin % pooled_width, height, width,
             [&](Real yy, Real xx, Real y, Real x, const int* at, const Real*) {
               Real down[4], across[4];
               bilinear_slopes(y, x, height, width, down, across);
               Lanes gy = {}, gx = {};
               for (int i = 0; i < 4; ++i) {
                 gy += down[i] * lanes(slab, at[i], group);
                 gx += across[i] * lanes(slab, at[i], group);
               }
               sum[0] += gx;
               sum[1] += gy;
               sum[2] += xx * (gx * t.cosine - gy * t.sine);  // xx and yy grow with the width and the height
               sum[3] += yy * (gy * t.cosine + gx * t.sine);
               sum[4] += gx * (yy * t.cosine - xx * t.sine) - gy * (yy * t.sine + xx * t.cosine);
             });
        const Lanes gradient = gather(given, s * SLAB, channels, bins, bin, group);
        for (int i = 0; i < 5; ++i)
          for (int j = 0; j < LANES; ++j) product[i][item * LANES + j] = lane(sum[i], j) * lane(gradient, j);
      }
      BARRIER();
      THREAD_LOOP(i, 5)
        for (int j = 0; j < count * LANES; ++j) total[i] += product[i][j];
      BARRIER();
    }
    const Real samples = max(Real(t.grid.rows) * Real(t.grid.columns), Real(1));
    THREAD_LOOP(i, 5) parts[5 * (long long)b + i] = total[i] / samples;
  }
}

// The gradient of (batch index, cx, cy, w, h, theta) from those sums; the number of samples is taken as fixed, and so is a size
// that is held at 1.
KERNEL align_rotated_corners(int n, const Real* parts, const Real* rows, Store* diff, int count, Real scale, int aligned,
                             int clockwise) {
  GRID_LOOP(k, n) {
    Real sum[5] = {};
    for (int part = 0; part < count; ++part)
      for (int i = 0; i < 5; ++i) sum[i] += parts[5 * ((long long)part * n + k) + i];
    const Real* region = rows + 6 * (long long)k;
    Store* out = diff + 6 * (long long)k;
    out[0] = Real(0);
    out[1] = scale * sum[0];
    out[2] = scale * sum[1];
    for (int axis = 0; axis < 2; ++axis) {
      const Real size = region[3 + axis];
      out[3 + axis] = abs(size) > 0 && (aligned || size * scale > 1) ? sum[2 + axis] / size : Real(0);
    }
    out[5] = clockwise ? -sum[4] : sum[4];
  }
}
