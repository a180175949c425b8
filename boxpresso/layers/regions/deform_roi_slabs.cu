// deform_roi_slabs.cu: the gradients of deform_roi.cu for the host: in slabs, all in one walk.
//
// The samples of a bin are a grid, so a pixel's weight is a product of one of its row and one of its column, as in roi_align.cu;
// only the lists of these weights are a bin's own. They are made anew for each slab: so many would not stay in a cache.
//
// The gradient of an offset is the published kernel's: it takes the sample's own place with the clamped pixels, so it is the true
// derivative inside the map only, not in the strip of a pixel around it.
#include "slab.h"
#include "touched.h"

constexpr int BATCH = 8;  // bins of a region that are taken together

// The walker: visit(first, count, touched) for the bins of region k, some at a time; touched[2 b] is the y axis of bin first + b,
// touched[2 b + 1] its x axis. More than once for a bin of many samples.
template <class Visit>
DEVICE void walk(const Store* regions, const Store* offset, int k, const GridGeometry& g, Real gamma, Visit visit) {
  SHARED Touched touched[2 * BATCH];
  const Whole whole = region_of(regions, k, g);
  const int bins = g.pooled_height * g.pooled_width;
  for (int first = 0; first < bins; first += BATCH)
    for (int row = 0; row < whole.grid.rows; row += TAKEN)
      for (int column = 0; column < whole.grid.columns; column += TAKEN) {
        const int count = min(BATCH, bins - first);
        THREAD_LOOP(t, 2 * count) {
          const Grid grid = bin_of(whole, offset, k, first + t / 2, g, gamma);
          if (t % 2)
            touch(touched[t], grid.x, grid.bin_width, grid.columns, column, min(column + TAKEN, grid.columns), g.width);
          else
            touch(touched[t], grid.y, grid.bin_height, grid.rows, row, min(row + TAKEN, grid.rows), g.height);
        }
        BARRIER();
        visit(first, count, touched);
        BARRIER();
      }
}

// Adds a bin's gradient to the pixels of rows that the threads of a block share, a thread for each row and group.
DEVICE void spread(const Touched& y, const Touched& x, const Real* given, int bin, Real times, Real* map, int width) {
  TILE_LOOP(first, group, y.count, GROUPS) {
    if (first > 0 && y.at[first] == y.at[first - 1]) continue;  // a row that is entered twice is one thread's
    for (int e = first; e < y.count && y.at[e] == y.at[first]; ++e) {
      const Lanes share = times * y.weight[e] * lanes(given, bin, group);
      Real* row = map + (long long)y.at[e] * width * SLAB;
      for (int f = 0; f < x.count; ++f) lanes(row, x.at[f], group) += x.weight[f] * share;
    }
  }
}

// Adds to gain (3, bins, SLAB) the products of a bin's gradient with how its sum of samples changes as it moves in x, then in y,
// and with that sum itself where it is `masked`.
DEVICE void gain_of(const Touched& y, const Touched& x, const Real* given, int bins, int bin, int group, const Real* map,
                    int width, bool masked, Real* gain) {
  Lanes along_x = {}, along_y = {}, inside = {};
  for (int e = 0; e < y.count; ++e) {
    const Real* row = map + (long long)y.at[e] * width * SLAB;
    Lanes slope = {}, part = {}, sum = {};
    for (int f = 0; f < x.count; ++f) {
      const Lanes value = lanes(row, x.at[f], group);
      slope += x.slope[f] * value;
      part += x.part[f] * value;
      if (masked) sum += x.weight[f] * value;
    }
    along_x += y.part[e] * slope;
    along_y += y.slope[e] * part;
    inside += y.weight[e] * sum;
  }
  const Lanes gradient = lanes(given, bin, group);
  lanes(gain, bin, group) += gradient * along_x;
  lanes(gain, bins + bin, group) += gradient * along_y;
  if (masked) lanes(gain, 2 * bins + bin, group) += gradient * inside;
}

// A block takes one slab of an image after another into its room (n, 2 area + 4 bins, SLAB), and there the regions of that image
// in `order`: each number has one owner and one order. diff or null: the gradient of the features; parts or null, (slabs, K,
// bins, 3): what a slab adds to the gradients of the offset in x and y and of the mask.
KERNEL deform_roi_slabs_backward(int n, const Store* top_diff, const Store* features, const int* order, const Store* regions,
                                 const Store* offset, const Store* mask, Real* room, Store* diff, Real* parts, Real gamma,
                                 GridGeometry g) {
  const int channels = g.channels, height = g.height, width = g.width, area = height * width;
  const int bins = g.pooled_height * g.pooled_width, count = slabs_of(channels);
  BLOCK_LOOP(b, n) {
    Real *map = room + (long long)b * (2 * area + 4 * bins) * SLAB, *values = map + (long long)area * SLAB;
    Real *given = values + (long long)area * SLAB, *gain = given + bins * SLAB;
    for (int i = b; i < g.batch * count; i += n) {
      const int image = i / count, slab = i - image * count;
      if (diff) TILE_LOOP(row, c, height, width * SLAB) map[(long long)row * width * SLAB + c] = 0;
      if (parts) fill_slab(i, features, values, channels, area, 0, area);
      BARRIER();
      for (int j = 0; j < g.regions && !STOPPED(); ++j) {
        const int k = order[j];
        if (image_of(regions + 5 * (long long)k, 5, g.batch) != image) continue;
        const int owned = min(SLAB, channels - slab * SLAB);
        turn(top_diff + ((long long)k * channels + slab * SLAB) * bins, bins, given, SLAB, owned, bins);
        TILE_LOOP(bin, c, bins, SLAB - owned) given[bin * SLAB + owned + c] = 0;
        if (parts) TILE_LOOP(bin, c, 3 * bins, SLAB) gain[bin * SLAB + c] = 0;
        BARRIER();
        walk(regions, offset, k, g, gamma, [&](int first, int some, const Touched* touched) {
          if (parts)
            TILE_LOOP(t, group, some, GROUPS)
              gain_of(touched[2 * t], touched[2 * t + 1], given, bins, first + t, group, values, width, mask != 0, gain);
          const Grid grid = region_of(regions, k, g).grid;
          for (int t = 0; diff && t < some; ++t) {
            const Real times = (mask ? Real(mask[(long long)k * bins + first + t]) : Real(1)) / (grid.rows * grid.columns);
            spread(touched[2 * t], touched[2 * t + 1], given, first + t, times, map, width);
            BARRIER();
          }
        });
        if (parts)
          THREAD_LOOP(t, 3 * bins)
            parts[(((long long)slab * g.regions + k) * bins + t % bins) * 3 + t / bins] = sum_of(gain, t);
        BARRIER();
      }
      if (diff) empty_slab(i, map, diff, channels, area);
      BARRIER();
    }
  }
}

// The gradients of offset (K, 2, bins) and mask (K, bins) from the parts of all slabs; either may be null.
KERNEL deform_roi_slabs_moves(int n, const Real* parts, const Store* regions, const Store* mask, Store* offset_diff,
                              Store* mask_diff, Real gamma, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  GRID_LOOP(i, n) {
    const int k = i / bins, bin = i - k * bins;
    Real sum[3] = {};
    if (image_of(regions + 5 * (long long)k, 5, g.batch) >= 0)
      for (int slab = 0; slab < slabs_of(g.channels); ++slab)
        for (int t = 0; t < 3; ++t) sum[t] += parts[(((long long)slab * g.regions + k) * bins + bin) * 3 + t];
    put_moves(i, region_of(regions, k, g).grid, sum, mask, offset_diff, mask_diff, gamma, g);
  }
}
