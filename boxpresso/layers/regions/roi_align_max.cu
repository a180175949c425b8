// roi_align_max.cu: the largest bilinear sample in each bin of each region, and its gradient. Features in slabs.
#include "grid.h"
#include "sample.h"
#include "slab.h"

// The walker: the samples of bin (ph, pw) by rows; visit(y, x, inside, at, weight).
template <class Visit>
DEVICE void walk(const Grid& g, int ph, int pw, int height, int width, Visit visit) {
  for (int row = 0; row < g.rows; ++row)
    for (int column = 0; column < g.columns; ++column) {
      const Real y = g.y + ph * g.bin_height + (row + Real(0.5)) * g.bin_height / g.rows;
      const Real x = g.x + pw * g.bin_width + (column + Real(0.5)) * g.bin_width / g.columns;
      int at[4];
      Real weight[4];
      const bool inside = bilinear(y, x, height, width, at, weight);
      visit(y, x, inside, at, weight);
    }
}

KERNEL roi_align_max_pack(int n, const Store* maps, Real* slabs, int channels, int area) {
  BLOCK_LOOP(slab, n) pack(slab, maps, slabs, channels, area);
}

// A block owns a region in a slab; top, argmax_y and argmax_x: (K, C, pooled_height, pooled_width). A sample off the map
// takes part as 0; the first of equals wins; -1 where none did.
KERNEL roi_align_max_forward(int n, const Real* slabs, const Real* rows, Store* top, Real* argmax_y, Real* argmax_x,
                             GridGeometry g) {
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width, area = height * width;
  const int pooled_width = g.pooled_width, bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    const int s = b / regions, k = b - s * regions;
    const Real* region = rows + 5 * (long long)k;
    const int image = image_of(region, 5, g.batch);
    const Grid grid = grid_of(region, g);
    const Real* slab = slabs + ((long long)max(image, 0) * slabs_of(channels) + s) * area * SLAB;
    const long long out = (long long)k * channels * bins;
    TILE_LOOP(bin, group, bins, GROUPS) {
      Lanes most = {}, best_y = {}, best_x = {};
      best_y -= 1;
      best_x -= 1;
      if (image >= 0) {
        most -= REAL_MAX;
        walk(grid, bin / pooled_width, bin % pooled_width, height, width,
             [&](Real y, Real x, bool inside, const int* at, const Real* weight) {
               Lanes value = {};
               if (inside)
                 for (int i = 0; i < 4; ++i) value += weight[i] * lanes(slab, at[i], group);
               const auto more = value > most;
               most = more ? value : most;
               best_y = more ? Lanes{} + y : best_y;
               best_x = more ? Lanes{} + x : best_x;
             });
      }
      scatter(top + out, s * SLAB, channels, bins, bin, group, most);
      scatter(argmax_y + out, s * SLAB, channels, bins, bin, group, best_y);
      scatter(argmax_x + out, s * SLAB, channels, bins, bin, group, best_x);
    }
  }
}

// A block owns a plane of sums (B, C, height, width) and takes the regions of its image in order, of each together the bins
// that share no pixel. The mark for "none" is a y of -1, as in mmcv: a sample exactly there has no gradient.
KERNEL roi_align_max_backward(int n, const Store* top_diff, const Real* argmax_y, const Real* argmax_x, const Real* rows,
                              Real* sums, GridGeometry g) {
  const int channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(plane, n) {
    const int image = plane / channels, channel = plane - image * channels;
    Real* map = sums + (long long)plane * height * width;
    THREAD_LOOP(i, height * width) map[i] = 0;
    BARRIER();
    for (int k = 0; k < g.regions; ++k) {
      const Real* region = rows + 5 * (long long)k;
      if (image_of(region, 5, g.batch) != image) continue;
      const Grid grid = grid_of(region, g);
      const int step_y = apart(grid.y, grid.bin_height, grid.rows, pooled_height, 4);
      const int step_x = apart(grid.x, grid.bin_width, grid.columns, pooled_width, 4);
      const long long first = ((long long)k * channels + channel) * pooled_height * pooled_width;
      for (int set = 0; set < step_y * step_x; ++set) {
        const int first_y = set / step_x, first_x = set - first_y * step_x;
        TILE_LOOP(v, u, (pooled_height - first_y + step_y - 1) / step_y, (pooled_width - first_x + step_x - 1) / step_x) {
          const long long i = first + (first_y + v * step_y) * pooled_width + first_x + u * step_x;
          int at[4];
          Real weight[4];
          if (argmax_y[i] == -1 || !bilinear(argmax_y[i], argmax_x[i], height, width, at, weight)) continue;
          for (int corner = 0; corner < 4; ++corner) map[at[corner]] += weight[corner] * Real(top_diff[i]);
        }
        BARRIER();
      }
    }
  }
}
