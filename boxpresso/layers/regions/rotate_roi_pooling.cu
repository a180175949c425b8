// rotate_roi_pooling.cu: the largest value inside each rotated bin of each region (RRPN).
#include "bins.h"
#include "maxima.h"
#include "wide.h"

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

// Bin number i of a table: its sides (K, bins, 6), and its boxes (K, bins, 4).
DEVICE void put_bin(const Bin& bin, int i, Real* sides, int* boxes) {
  Real* side = sides + 6 * (long long)i;
  int* box = boxes + 4 * (long long)i;
  side[0] = bin.ay, side[1] = bin.ax, side[2] = bin.by, side[3] = bin.bx, side[4] = bin.cy, side[5] = bin.cx;
  box[0] = bin.box.top, box[1] = bin.box.bottom, box[2] = bin.box.left, box[3] = bin.box.right;
}
DEVICE Box taken_box(int i, const int* boxes) {
  const int* box = boxes + 4 * (long long)i;
  return {box[0], box[1], box[2], box[3]};
}
DEVICE Bin taken_bin(int i, const Real* sides, const int* boxes) {
  const Real* side = sides + 6 * (long long)i;
  return {side[0], side[1], side[2], side[3], side[4], side[5], taken_box(i, boxes)};
}

// The pixels of a bin's box, in order, and the place of one of them; -1 for one outside the bin, or past them.
DEVICE int candidates_of(const Bin& bin) {
  return max(bin.box.bottom - bin.box.top, 0) * max(bin.box.right - bin.box.left, 0);
}
DEVICE int candidate(const Bin& bin, int i, int width) {
  if (i >= candidates_of(bin)) return -1;
  const int columns = bin.box.right - bin.box.left, row = i / columns, y = bin.box.top + row, x = bin.box.left + i - row * columns;
  return inside(bin, y, x) ? y * width + x : -1;
}

// image[k]: of region k, -1 if it contributes nothing; sides and boxes: where each bin lies. info: rows (height, width, scale), one
// for each image or one for all.
KERNEL rotate_roi_pooling_bins(int n, const Store* regions, const Store* info, int infos, int* image, Real* sides, int* boxes,
                               Geometry g) {
  const int cells = g.pooled_height * g.pooled_width;
  GRID_LOOP(i, n) {
    const int k = i / cells, cell = i - k * cells, of = image_of(regions + 6 * k, 6, g.batch);
    int rows = 0, columns = 0;  // of the image on the map
    if (of >= 0) {
      const Store* size = info + 3 * min(of, infos - 1);
      const Real image_height = Real(size[0]) * g.scale, image_width = Real(size[1]) * g.scale;
      rows = image_height > 0 ? min(whole(image_height), g.height) : 0;  // NaN: none
      columns = image_width > 0 ? min(whole(image_width), g.width) : 0;
    }
    if (cell == 0) image[k] = of;
    const Bin bin = bin_of(regions + 6 * k, pooled_of(g), g.scale, cell / g.pooled_width, cell % g.pooled_width, rows, columns);
    put_bin(bin, i, sides, boxes);
  }
}

constexpr int TOGETHER = 4;         // bins that a block takes, and
constexpr int ROUND = 256 / WIDE;   // shares of channels of them
constexpr int ROUND_ROW = ROUND + 2;  // from a bin to the next, so that threads that store neighbouring bins meet no bank twice

// A block owns TOGETHER bins; some of `candidates` at a time are tested by all threads, then read by each in its channels.
// top and argmax: (K, channels, pooled_height, pooled_width); places (or null): argmax, as a top.
KERNEL rotate_roi_pooling_forward(int n, const Real* slabs, const int* image, const Real* sides, const int* boxes, Store* top,
                                  int* argmax, Store* places, Geometry g) {
  const int channels = g.channels, width = g.width, cells = g.pooled_height * g.pooled_width, all = g.regions * cells;
  const int shares = slabs_of(channels) * SHARES;
  const long long area = (long long)g.height * width;
  BLOCK_LOOP(b, n) {
    SHARED Bin bins[TOGETHER];
    SHARED int at[TOGETHER * CHUNK];
    SHARED Wide largest[TOGETHER * ROUND_ROW];
    SHARED WidePlaces largest_at[TOGETHER * ROUND_ROW];
    const int begin = b * TOGETHER, bins_here = min(TOGETHER, all - begin);
    THREAD_LOOP(q, bins_here) bins[q] = taken_bin(begin + q, sides, boxes);
    BARRIER();
    int most_candidates = 0;
    for (int q = 0; q < bins_here; ++q) most_candidates = max(most_candidates, candidates_of(bins[q]));
    for (int begin_share = 0; begin_share < shares; begin_share += ROUND) {
      const int some = min(ROUND, shares - begin_share);
      TILE_LOOP(q, share, bins_here, some) {
        largest[q * ROUND_ROW + share] = Wide{};
        largest_at[q * ROUND_ROW + share] = places_of(-1);
      }
      for (int first = 0; first < most_candidates; first += CHUNK) {
        TILE_LOOP(q, i, bins_here, min(CHUNK, most_candidates - first)) at[q * CHUNK + i] = candidate(bins[q], first + i, width);
        BARRIER();
        TILE_LOOP(q, share, bins_here, some) {
          const int of = max(image[(begin + q) / cells], 0), s = (begin_share + share) / SHARES, in_slab = (begin_share + share) % SHARES;
          const Real* slab = slabs + ((long long)of * slabs_of(channels) + s) * area * SLAB;
          const int count = min(CHUNK, candidates_of(bins[q]) - first), place = q * ROUND_ROW + share;
          Wide most = largest[place];
          WidePlaces most_at = largest_at[place];
          for (int i = 0; i < count; ++i)
            if (const int pixel = at[q * CHUNK + i]; pixel >= 0)
              take_larger(most, most_at, wide(slab, pixel, in_slab), places_of(pixel));
          largest[place] = most;
          largest_at[place] = most_at;
        }
        BARRIER();
      }
      BARRIER();
      const int channel = begin_share * WIDE;
      TILE_LOOP(c, q, min(some * WIDE, channels - channel), bins_here) {
        const int k = (begin + q) / cells, cell = begin + q - k * cells, from = q * ROUND_ROW + c / WIDE;
        const long long o = ((long long)k * channels + channel + c) * cells + cell;
        top[o] = lane(largest[from], c % WIDE);
        const int pixel = lane(largest_at[from], c % WIDE);
        argmax[o] = pixel;
        if (places) places[o] = Real(pixel);
      }
      BARRIER();
    }
    BARRIER();
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

// Where each region has pixels, for the lists of tiles.h: a box around its bins'.
KERNEL rotate_roi_pooling_boxes(int n, const int* image, const int* boxes, int* around, int cells) {
  GRID_LOOP(k, n) {
    Box all = {0, 0, 0, 0};
    for (int cell = 0; cell < cells; ++cell) {
      const Box box = taken_box(k * cells + cell, boxes);
      if (box.top >= box.bottom || box.left >= box.right) continue;
      const bool first = all.bottom == 0;
      all = {first ? box.top : min(all.top, box.top), max(all.bottom, box.bottom), first ? box.left : min(all.left, box.left),
             max(all.right, box.right)};
    }
    int* to = around + 5 * k;
    to[0] = image[k];
    to[1] = all.top, to[2] = all.bottom - all.top;
    to[3] = all.left, to[4] = all.right - all.left;
  }
}

// The bins that touch each tile: see maxima.h. A block is a tile of an image.
KERNEL rotate_roi_pooling_marks(int n, const int* lists, const int* boxes, int* marks, Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED int word[WORDS];
    const int cells = pooled_of(g).cells();
    mark_bins(b, lists, marks, cells, g.height, g.width, word,
              [&](int k, int cell, const Tile& tile) { return meets(taken_box(k * cells + cell, boxes), tile); });
  }
}
