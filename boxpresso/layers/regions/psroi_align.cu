// psroi_align.cu: averages of bilinear samples in the bins of regions, each bin in its own channel.
//
// Samples lie on a grid, so a bin's average is Wy . map . Wx / count with the weights of its rows and of its columns.
#include "plane.h"
#include "sample.h"

constexpr int WEIGHTS = 4;  // that a GPU's thread loads together
constexpr int SINGLE = 3;   // samples of a bin in each direction, up to which a GPU reads them one by one

// Bin p of an axis of a region: the pixels that its samples touch, and the sum of their weights for each.
DEVICE void weigh(Real start, Real size, int samples, int p, int limit, int* begin, int* end, Real* weight) {
  int low, high, first = limit, last = 0;
  Real part;
  const auto at = [&](int i) { return start + p * size + (i + Real(0.5)) * size / samples; };
  for (int i = 0; i < samples; ++i)
    if (neighbours(at(i), limit, &low, &high, &part)) {
      first = min(first, low);
      last = max(last, high + 1);
    }
  // What is loaded with them is 0 as well: see whole_rows().
  for (int pixel = min(first, last) / WEIGHTS * WEIGHTS; pixel < min((last + WEIGHTS - 1) / WEIGHTS * WEIGHTS, limit); ++pixel) weight[pixel] = 0;
  for (int i = 0; i < samples; ++i)
    if (neighbours(at(i), limit, &low, &high, &part)) {
      weight[low] += 1 - part;
      weight[high] += part;
    }
  *begin = min(first, last);
  *end = last;
}

// The weights of a region: its bins' in x, then its bins' in y, and what lets those of the next begin at a multiple of WEIGHTS.
DEVICE long long weights_at(int k, const Geometry& g) {
  const long long numbers = (long long)g.pooled_height * g.height + (long long)g.pooled_width * g.width;
  return k * ((numbers + WEIGHTS - 1) / WEIGHTS * WEIGHTS);
}

// image[k]: of region k, -1 if it contributes nothing; samples[k]: of a bin in y and in x, below 0 for an adaptive grid on a
// negative size.
KERNEL psroi_align_weights(int n, const Real* regions, int* image, int* samples, int* bins, Real* weights,
                           int sampling_ratio, Geometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int of = image_of(region, 5, g.batch);
    Real* weight = weights + weights_at(k, g);
    THREAD_LOOP(t, 1) image[k] = of;
    const auto size_of = [&](int axis) {
      const Real start = near_by(region[axis ? 1 : 2] * g.scale), stop = near_by(region[axis ? 3 : 4] * g.scale);
      return (stop - start) / (axis ? g.pooled_width : g.pooled_height);
    };
    const auto count_of = [&](int axis) {
      if (sampling_ratio > 0) return sampling_ratio;
      return int(max(min(ceil(size_of(axis)), Real(MOST_SAMPLES)), -Real(MOST_SAMPLES)));
    };
    THREAD_LOOP(axis, 2) samples[2 * k + axis] = of < 0 ? 1 : count_of(axis);
    cut_bins(bins, pooled_of(g), k, of >= 0, [&](int axis, int p, int* begin, int* end) {
      const Real start = near_by(region[axis ? 1 : 2] * g.scale) - Real(0.5);
      const int limit = axis ? g.width : g.height;
      Real* of_bin = weight + (axis ? 0 : g.pooled_width * g.width) + p * limit;
      weigh(start, size_of(axis), count_of(axis), p, limit, begin, end, of_bin);
    });
  }
}

// The walker: one bin of a region.
struct Bin {
  Box box;
  const Real *down, *across;  // the weights of rows and columns
  Real count;                 // of samples
};

DEVICE Bin bin_of(const int* bins, const int* samples, const Real* weights, int k, const Plane& plane, const Geometry& g) {
  const Real* weight = weights + weights_at(k, g);
  return {box_of(bins, pooled_of(g), k, plane.ph, plane.pw), weight + g.pooled_width * g.width + plane.ph * g.height,
          weight + plane.pw * g.width, Real(samples[2 * k]) * Real(samples[2 * k + 1])};
}

// A block owns `together` regions in a channel. An adaptive grid without samples gives 0 / 0.
KERNEL psroi_align_forward(int n, const Store* features, const int* image, const int* samples, const int* bins,
                           const Real* weights, Store* top, int together, Geometry g) {
  const int width = g.width, area = g.height * width;
  const bool whole = whole_rows(features, width) && whole_rows(weights, width);
  BLOCK_LOOP(b, n) {
    const Part part = part_of(b, together, g.regions);
    const Plane plane = plane_of(part.channel, g);
    THREAD_LOOP(i, part.end - part.first) {
      const int k = part.first + i;
      const Store* map = features + ((long long)max(image[k], 0) * g.channels + part.channel) * area;
      const Bin bin = bin_of(bins, samples, weights, k, plane, g);
      const int left = bin.box.left, right = bin.box.right;
      Real sum = 0;
      for (int y = bin.box.top; y < bin.box.bottom; ++y) {
        const Store* line = map + y * width;
        Real row = 0;
        if (whole) {
          visit_fours(line, left, right, [&](int x, Wide four) {
            const Wide weight = wide_from(bin.across + x);
            for (int j = 0; j < WIDE; ++j) row = x + j >= left && x + j < right ? row + lane(weight, j) * lane(four, j) : row;
          });
        } else {
          for (int x = left; x < right; ++x) row += bin.across[x] * Real(line[x]);
        }
        sum += bin.down[y] * row;
      }
      top[(long long)k * g.channels + part.channel] = sum / bin.count;
    }
  }
}

// The same for few samples, on a GPU: they are read one by one, which is fewer numbers than the rows of a bin and their weights.
KERNEL psroi_align_forward_samples(int n, const Store* features, const Real* regions, Store* top, int together, int sampling_ratio,
                                   Geometry g) {
  const int count = sampling_ratio * sampling_ratio;
  BLOCK_LOOP(b, n) {
    SHARED Real sums[SPLIT_ROOM];
    const Part part = part_of(b, together, g.regions);
    const Plane plane = plane_of(part.channel, g);
    const auto sum_of_samples = [&](int i, int q) {
      const Real* region = regions + 5 * (part.first + i);
      const int image = image_of(region, 5, g.batch);
      const Store* map = features + ((long long)max(image, 0) * g.channels + part.channel) * g.height * g.width;
      const auto at = [&](int axis, int p, int pooled, int sample) {
        const Real start = near_by(region[axis] * g.scale), size = (near_by(region[axis + 2] * g.scale) - start) / pooled;
        return start - Real(0.5) + p * size + (sample + Real(0.5)) * size / sampling_ratio;
      };
      Real sum = 0;
      for (int s = q; image >= 0 && s < count; s += SPLIT) {
        int pixel[4];
        Real weight[4];
        const Real y = at(2, plane.ph, g.pooled_height, s / sampling_ratio), x = at(1, plane.pw, g.pooled_width, s % sampling_ratio);
        if (!bilinear(y, x, g.height, g.width, pixel, weight)) continue;
        for (int corner = 0; corner < 4; ++corner) sum += weight[corner] * Real(map[pixel[corner]]);
      }
      return sum / count;
    };
    split_sums(part.end - part.first, sums, sum_of_samples,
               [=](int i, Real sum) { top[(long long)(part.first + i) * g.channels + part.channel] = sum; });
  }
}

// A block owns a plane. sums: see add_regions.
KERNEL psroi_align_backward(int n, const Store* top_diff, const int* image, const int* samples, const int* bins,
                            const Real* weights, Real* sums, Store* bottom_diff, Geometry g) {
  const int width = g.width;
  BLOCK_LOOP(b, n) {
    add_regions(b, top_diff, image, sums, bottom_diff, g, [&](const Plane& plane, int k, Real gradient, Real* map) {
      const Bin bin = bin_of(bins, samples, weights, k, plane, g);
      const Box box = bin.box;
      const Real share = gradient / bin.count;
      TILE_LOOP(y, x, max(box.bottom - box.top, 0), max(box.right - box.left, 0))
        map[(box.top + y) * width + box.left + x] += share * bin.down[box.top + y] * bin.across[box.left + x];
    });
  }
}

// The same in tiles, for a GPU.
KERNEL psroi_align_backward_tiles(int n, const Store* top_diff, const int* lists, const int* samples, const int* bins,
                                  const Real* weights, Store* bottom_diff, Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Notes notes;
    SHARED Plane planes[SLAB];
    const auto box = [&](const Plane& plane, int k) { return box_of(bins, pooled_of(g), k, plane.ph, plane.pw); };
    add_regions_in_tiles(b, n, top_diff, lists, bottom_diff, g, own, notes, planes, box,
                         [&](const Plane& plane, int k, Real gradient, int row, int first, int end, auto add) {
                           const Bin bin = bin_of(bins, samples, weights, k, plane, g);
                           const Real share = gradient / bin.count;
                           for (int x = max(first, bin.box.left); x < min(end, bin.box.right); ++x)
                             add(x, share * bin.down[row] * bin.across[x]);
                         });
  }
}
