// deform_roi_slabs.cu: deform_roi.cu for the host, and its gradients: in slabs, all gradients in one walk.
//
// The samples of a bin are a grid, so a pixel's weight is a product of one of its row and one of its column, as in roi_align.cu;
// only the lists of these weights are a bin's own. They are made anew for each slab: so many would not stay in a cache.
//
// The gradient of an offset is the published kernel's: it takes the sample's own place with the clamped pixels, so it is the true
// derivative inside the map only, not in the strip of a pixel around it.
#include "slab.h"
#include "touched.h"

constexpr int BATCH = 8;     // bins of a region that are taken together
constexpr int TOGETHER = 2;  // slabs for which forward finds once what bins touch: more would leave a core's nearer caches

// The walker: visit(first, count, touched) for the bins of region k, some at a time; touched[2 b] is the y axis of bin first + b,
// touched[2 b + 1] its x axis. More than once for a bin of many samples.
template <class Visit>
DEVICE void walk(const Store* regions, const Store* offset, int k, const GridGeometry& g, Real gamma, Visit visit) {
  SHARED Touched touched[2 * BATCH];
  const Whole whole = region_of(regions, k, g);
  const int bins = g.pooled_height * g.pooled_width;
  for (int first = 0; first < bins; first += BATCH)
    for (int row = 0; row < whole.grid.rows; row += TAKEN) {
      const int count = min(BATCH, bins - first);
      THREAD_LOOP(t, count) {
        const Grid grid = bin_of(whole, offset, k, first + t, g, gamma);
        touch(touched[2 * t], grid.y, grid.bin_height, grid.rows, row, min(row + TAKEN, grid.rows), g.height);
      }
      BARRIER();
      bool any = false;
      for (int t = 0; t < count; ++t) any |= touched[2 * t].count > 0;
      for (int column = 0; any && column < whole.grid.columns; column += TAKEN) {
        THREAD_LOOP(t, count) {
          const Grid grid = bin_of(whole, offset, k, first + t, g, gamma);
          touch(touched[2 * t + 1], grid.x, grid.bin_width, grid.columns, column, min(column + TAKEN, grid.columns), g.width);
        }
        BARRIER();
        visit(first, count, touched);
        BARRIER();
      }
      BARRIER();
    }
}

// A block takes TOGETHER slabs of an image after others into its room (n, TOGETHER (area + bins), SLAB), and there the regions of that
// image in `order`. top: (K, C, bins), mask: (K, bins) or null for 1.
KERNEL deform_roi_slabs_forward(int n, const Store* features, const int* order, const Store* regions, const Store* offset,
                                const Store* mask, Real* room, Store* top, Real gamma, GridGeometry g) {
  const int channels = g.channels, width = g.width, area = g.height * width, bins = g.pooled_height * g.pooled_width;
  const int slabs = slabs_of(channels), groups = (slabs + TOGETHER - 1) / TOGETHER;
  BLOCK_LOOP(b, n) {
    Real *maps = room + (long long)b * TOGETHER * (area + bins) * SLAB, *averages = maps + (long long)TOGETHER * area * SLAB;
    for (int i = b; i < g.batch * groups; i += n) {
      const int image = i / groups, begin = (i - image * groups) * TOGETHER, count = min(TOGETHER, slabs - begin);
      for (int s = 0; s < count; ++s)
        fill_slab(image * slabs + begin + s, features, maps + (long long)s * area * SLAB, channels, area, 0, area);
      BARRIER();
      for (int j = 0; j < g.regions && !STOPPED(); ++j) {
        const int k = order[j], of = image_of(regions + 5 * (long long)k, 5, g.batch);
        if (max(of, 0) != image) continue;  // what lies in no image becomes 0
        TILE_LOOP(bin, c, count * bins, SLAB) averages[bin * SLAB + c] = 0;
        BARRIER();
        const Grid grid = region_of(regions, k, g).grid;
        const auto add_samples = [&](int first, int some, const Touched* touched) {
          TILE_LOOP(t, u, some, count * GROUPS) {
            const int s = u / GROUPS, group = u % GROUPS;
            const Touched &y = touched[2 * t], &x = touched[2 * t + 1];
            const Real times = (mask ? Real(mask[(long long)k * bins + first + t]) : Real(1)) / (grid.rows * grid.columns);
            Lanes sum = {};
            for (int e = 0; e < y.count; ++e) {
              const Real* row = maps + ((long long)s * area + y.at[e] * width) * SLAB;
              Lanes across = {};
              for (int f = 0; f < x.count; ++f) across += x.weight[f] * lanes(row, x.at[f], group);
              sum += y.weight[e] * across;
            }
            lanes(averages, s * bins + first + t, group) += times * sum;
          }
        };
        if (of >= 0) walk(regions, offset, k, g, gamma, add_samples);
        for (int s = 0; s < count; ++s) {
          const int channel = (begin + s) * SLAB;
          Store* out = top + ((long long)k * channels + channel) * bins;
          turn(averages + s * bins * SLAB, SLAB, out, bins, bins, min(SLAB, channels - channel));
        }
        BARRIER();
      }
    }
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
