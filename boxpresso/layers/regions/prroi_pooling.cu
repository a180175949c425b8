// prroi_pooling.cu: the exact average of the bilinear surface over each bin of each region.
//
// The surface is the sum of v[i, j] hat(y - i) hat(x - j) with hat(t) = max(0, 1 - |t|): 0 from one pixel outside the map on.
// So a bin's average is Wy . v . Wx with the averages Wy[i] of hat(y - i) and Wx[j] of hat(x - j) over its sides.
#include "bins.h"
#include "slab.h"

DEVICE double hat(double t) { return max(0.0, 1 - abs(t)); }

// The sides of a bin on one axis, in pixels of the map. In double: narrow bins are differences of nearly equal numbers.
struct Side {
  double low, high;
};

DEVICE Side side_of(const Store* region, Real scale, int axis, int p, int count) {
  const double first = min(max(double(Real(region[axis ? 1 : 2])) * scale, -1e9), 1e9);
  const double size = max(min(max(double(Real(region[axis ? 3 : 4])) * scale, -1e9), 1e9) - first, 0.0);
  return {first + p * size / count, first + (p + 1) * size / count};
}

// The average of hat(t - pixel) for t in the side: hat is straight between whole numbers, where its middle is its average.
DEVICE Real average(Side side, int pixel) {
  double sum = 0;
  for (int half = -1; half < 1; ++half) {
    const double low = max(side.low, double(pixel + half)), high = min(side.high, double(pixel + half + 1));
    if (low < high) sum += (high - low) * hat((low + high) / 2 - pixel);
  }
  return Real(sum / (side.high - side.low));
}

// The weights of region k: those of the rows of the map for each bin in y, then those of the columns for each in x.
template <class Number>
DEVICE Number* weights_of(Number* weights, int k, const Geometry& g) {
  return weights + (long long)k * (g.pooled_height * g.height + g.pooled_width * g.width);
}

// image[k]: of region k, -1 if it contributes nothing; weights (K, pooled_height * height + pooled_width * width).
KERNEL prroi_pooling_weights(int n, const Store* regions, int* image, int* bins, Real* weights, Geometry g) {
  BLOCK_LOOP(k, n) {
    const Store* region = regions + 5 * k;
    const int of = image_of(region, 5, g.batch);
    const Side down = side_of(region, g.scale, 0, 0, g.pooled_height), across = side_of(region, g.scale, 1, 0, g.pooled_width);
    const bool valid = of >= 0 && down.low < down.high && across.low < across.high;  // no area: no bins
    Real* weight = weights_of(weights, k, g);
    THREAD_LOOP(t, 1) image[k] = of;
    cut_bins(bins, pooled_of(g), k, valid, [&](int axis, int p, int* begin, int* end) {
      const Side side = side_of(region, g.scale, axis, p, axis ? g.pooled_width : g.pooled_height);
      const int limit = axis ? g.width : g.height;
      *begin = int(min(max(floor(side.low), 0.0), double(limit)));
      *end = int(min(max(ceil(side.high) + 1, 0.0), double(limit)));
      Real* of_bin = weight + (axis ? g.pooled_height * g.height : 0) + p * limit;
      for (int pixel = *begin; pixel < *end; ++pixel) of_bin[pixel] = side.low < side.high ? average(side, pixel) : Real(0);
    });
  }
}

KERNEL prroi_pooling_pack(int n, const Store* maps, Real* slabs, int channels, int area) {
  BLOCK_LOOP(slab, n) pack(slab, maps, slabs, channels, area);
}

// One bin of a region: its pixels, and the weights of rows and columns.
struct Bin {
  Box box;
  const Real *down, *across;
};

DEVICE Bin bin_of(const int* bins, const Real* weights, int k, int ph, int pw, const Geometry& g) {
  const Real* weight = weights_of(weights, k, g);
  return {box_of(bins, pooled_of(g), k, ph, pw), weight + ph * g.height, weight + g.pooled_height * g.height + pw * g.width};
}

// The walker: visit(pixel, weight) for each pixel of a bin.
template <class Visit>
DEVICE void walk(const Bin& bin, int width, Visit visit) {
  for (int y = bin.box.top; y < bin.box.bottom; ++y)
    for (int x = bin.box.left; x < bin.box.right; ++x) visit(y * width + x, bin.down[y] * bin.across[x]);
}

DEVICE Lanes average(const Real* slab, const Bin& bin, int width, int group) {
  Lanes sum = {};
  walk(bin, width, [&](int pixel, Real weight) { sum += weight * lanes(slab, pixel, group); });
  return sum;
}

// A block owns a region in a slab; top: (K, channels, pooled_height, pooled_width).
KERNEL prroi_pooling_forward(int n, const Real* slabs, const int* image, const int* bins, const Real* weights, Store* top,
                             Geometry g) {
  const int regions = g.regions, channels = g.channels, area = g.height * g.width, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, cells = pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    const int s = b / regions, k = b - s * regions;
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(channels) + s) * area * SLAB;
    Store* out = top + (long long)k * channels * cells;
    TILE_LOOP(ph, t, pooled_height, pooled_width * GROUPS) {
      const int pw = t / GROUPS, group = t % GROUPS;
      const Lanes value = average(slab, bin_of(bins, weights, k, ph, pw, g), width, group);
      scatter(out, s * SLAB, channels, cells, ph * pooled_width + pw, group, value);
    }
  }
}

// A block owns a slab of an image and takes that image's regions in order. diff: the slabs of bottom_diff.
KERNEL prroi_pooling_backward(int n, const Store* top_diff, const int* image, const int* bins, const Real* weights, Real* diff,
                              Store* bottom_diff, Geometry g) {
  const int regions = g.regions, channels = g.channels, area = g.height * g.width, width = g.width;
  BLOCK_LOOP(b, n) {
    const Pooled pooled = pooled_of(g);
    const int of = b / slabs_of(channels), channel = (b - of * slabs_of(channels)) * SLAB;
    Real* map = diff + (long long)b * area * SLAB;
    THREAD_LOOP(i, area * SLAB) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image[k] != of) continue;
      const Store* given = top_diff + (long long)k * channels * pooled.cells();
      visit_apart(bins, pooled, k, GROUPS, [&](int ph, int pw, int group) {
        const Lanes gradient = gather(given, channel, channels, pooled.cells(), ph * pooled.width + pw, group);
        walk(bin_of(bins, weights, k, ph, pw, g), width,
             [&](int pixel, Real weight) { lanes(map, pixel, group) += weight * gradient; });
      });
    }
    unpack(b, diff, bottom_diff, channels, area);
  }
}

// The surface on the line x = at (axis 1) or y = at (axis 0), averaged over the bin's other side.
DEVICE Lanes line(const Real* slab, const Bin& bin, int axis, double at, int height, int width, int group) {
  Lanes sum = {};
  const int limit = axis ? width : height, first = int(min(max(floor(at), -1.0), double(limit)));
  for (int pixel = max(first, 0); pixel <= min(first + 1, limit - 1); ++pixel) {
    Box box = bin.box;
    (axis ? box.left : box.top) = pixel;
    (axis ? box.right : box.bottom) = pixel + 1;
    const Real part = Real(hat(at - pixel));
    for (int y = box.top; y < box.bottom; ++y)
      for (int x = box.left; x < box.right; ++x)
        sum += part * (axis ? bin.down[y] : bin.across[x]) * lanes(slab, y * width + x, group);
  }
  return sum;
}

constexpr int SLOTS = 16;  // partial sums of a channel, in one fixed order

// A block owns a region in a slab; slopes: (slabs, K, 4), the part of a slab in the gradient for (x1, y1, x2, y2). A side that
// moves by d adds d (line - average) / length to a bin's average, and it moves by its share of what x1 and x2 move by.
KERNEL prroi_pooling_slopes(int n, const Real* slabs, const Store* regions, const int* image, const int* bins,
                            const Real* weights, const Store* top_diff, double* slopes, Geometry g) {
  const int channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  const Real scale = g.scale;
  BLOCK_LOOP(b, n) {
    SHARED Lanes part[4 * SLOTS * GROUPS];
    const Pooled pooled = {pooled_height, pooled_width};
    const int s = b / g.regions, k = b - s * g.regions;
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(channels) + s) * height * width * SLAB;
    const Store* given = top_diff + (long long)k * channels * pooled.cells();
    THREAD_LOOP(t, SLOTS * GROUPS) {
      const int slot = t / GROUPS, group = t % GROUPS;
      Lanes sum[4] = {};
      for (int cell = slot; cell < pooled.cells(); cell += SLOTS) {
        const int ph = cell / pooled_width, pw = cell - ph * pooled_width;
        const Bin bin = bin_of(bins, weights, k, ph, pw, g);
        if (bin.box.top >= bin.box.bottom || bin.box.left >= bin.box.right) continue;
        const Lanes gradient = gather(given, s * SLAB, channels, pooled.cells(), cell, group);
        const Lanes middle = average(slab, bin, width, group);
        for (int axis = 0; axis < 2; ++axis) {
          const int p = axis ? pw : ph, count = axis ? pooled_width : pooled_height;
          const Side side = side_of(regions + 5 * k, scale, axis, p, count);
          if (!(side.low < side.high)) continue;
          const Real length = Real(side.high - side.low), before = Real(p) / count, after = Real(p + 1) / count;
          const Lanes low = gradient * (middle - line(slab, bin, axis, side.low, height, width, group)) / length;
          const Lanes high = gradient * (line(slab, bin, axis, side.high, height, width, group) - middle) / length;
          sum[1 - axis] += low * (1 - before) + high * (1 - after);
          sum[3 - axis] += low * before + high * after;
        }
      }
      for (int q = 0; q < 4; ++q) part[(q * SLOTS + slot) * GROUPS + group] = sum[q];
    }
    BARRIER();
    THREAD_LOOP(q, 4) {
      double sum = 0;
      for (int i = q * SLOTS * GROUPS; i < (q + 1) * SLOTS * GROUPS; ++i)
        for (int l = 0; l < LANES; ++l) sum += lane(part[i], l);
      slopes[4 * (long long)b + q] = sum * scale;
    }
    BARRIER();
  }
}

// region_diff (K, 5): the sums over the slabs; 0 for the batch index.
KERNEL prroi_pooling_region_diff(int n, const double* slopes, const int* image, Store* region_diff, int regions, int slabs) {
  GRID_LOOP(i, n) {
    const int k = i / 5, q = i - 5 * k - 1;
    double sum = 0;
    for (int s = 0; s < slabs && q >= 0 && image[k] >= 0; ++s) sum += slopes[4 * (s * regions + k) + q];
    region_diff[i] = Real(sum);
  }
}
