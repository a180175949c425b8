// psroi_align.cu: averages of bilinear samples in the bins of regions, each bin in its own channel.
//
// Samples lie on a grid, so a bin's average is Wy . map . Wx / count with the weights of its rows and of its columns.
#include "bins.h"
#include "region.h"
#include "sample.h"

#define MOST 1048576  // samples of a bin and axis; the layer has refused what asks for more

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
  for (int pixel = first; pixel < last; ++pixel) weight[pixel] = 0;
  for (int i = 0; i < samples; ++i)
    if (neighbours(at(i), limit, &low, &high, &part)) {
      weight[low] += 1 - part;
      weight[high] += part;
    }
  *begin = min(first, last);
  *end = last;
}

// image[k]: of region k, -1 if it contributes nothing; samples[k]: of a bin in y and in x, below 0 for an adaptive grid on a
// negative size; weights (K, pooled_height * height + pooled_width * width).
KERNEL psroi_align_weights(int n, const Real* regions, int* image, int* samples, int* bins, Real* weights, int batch,
                           int height, int width, int pooled_height, int pooled_width, Real scale, int sampling_ratio) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int found = image_of(region, 5, batch);
    Real* weight = weights + (long long)k * (pooled_height * height + pooled_width * width);
    THREAD_LOOP(t, 1) image[k] = found;
    const auto size_of = [&](int axis) {
      const Real start = near_by(region[axis ? 1 : 2] * scale), stop = near_by(region[axis ? 3 : 4] * scale);
      return (stop - start) / (axis ? pooled_width : pooled_height);
    };
    const auto count_of = [&](int axis) {
      if (sampling_ratio > 0) return sampling_ratio;
      return int(max(min(ceil(size_of(axis)), Real(MOST)), -Real(MOST)));
    };
    THREAD_LOOP(axis, 2) samples[2 * k + axis] = found < 0 ? 1 : count_of(axis);
    cut_bins(bins, {pooled_height, pooled_width}, k, found >= 0, [&](int axis, int p, int* begin, int* end) {
      const Real start = near_by(region[axis ? 1 : 2] * scale) - Real(0.5);
      const int limit = axis ? width : height;
      Real* of_bin = weight + (axis ? pooled_height * height : 0) + p * limit;
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

DEVICE Bin bin_of(const int* bins, const int* samples, const Real* weights, Pooled pooled, int k, int ph, int pw, int height,
                  int width) {
  const Real* weight = weights + (long long)k * (pooled.height * height + pooled.width * width);
  return {box_of(bins, pooled, k, ph, pw), weight + ph * height, weight + pooled.height * height + pw * width,
          Real(samples[2 * k]) * Real(samples[2 * k + 1])};
}

// A block owns a plane: channel (ctop PH + ph) PW + pw, bin (ph, pw) of each region, which is place (k, channel) of the top.
// An adaptive grid without samples gives 0 / 0.
KERNEL psroi_align_forward(int n, const Store* features, const int* image, const int* samples, const int* bins,
                           const Real* weights, Store* top, int regions, int channels, int height, int width,
                           int pooled_height, int pooled_width) {
  BLOCK_LOOP(plane, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    const int found = plane / channels, channel = plane - found * channels;
    const int ph = channel % pooled.cells() / pooled_width, pw = channel % pooled_width;
    const Store* map = features + (long long)plane * height * width;
    THREAD_LOOP(k, regions) {
      if (image[k] == found) {
        const Bin bin = bin_of(bins, samples, weights, pooled, k, ph, pw, height, width);
        Real sum = 0;
        for (int y = bin.box.top; y < bin.box.bottom; ++y) {
          Real row = 0;
          for (int x = bin.box.left; x < bin.box.right; ++x) row += bin.across[x] * Real(map[y * width + x]);
          sum += bin.down[y] * row;
        }
        top[(long long)k * channels + channel] = sum / bin.count;
      }
    }
  }
}

// A block owns a plane and takes the regions of its image in order. sums: bottom_diff itself, or in float32 where that is half.
KERNEL psroi_align_backward(int n, const Store* top_diff, const int* image, const int* samples, const int* bins,
                            const Real* weights, Real* sums, Store* bottom_diff, int regions, int channels, int height,
                            int width, int pooled_height, int pooled_width) {
  BLOCK_LOOP(plane, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    const int found = plane / channels, channel = plane - found * channels;
    const int ph = channel % pooled.cells() / pooled_width, pw = channel % pooled_width;
    Real* map = sums + (long long)plane * height * width;
    THREAD_LOOP(i, height * width) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image[k] != found) continue;
      const Bin bin = bin_of(bins, samples, weights, pooled, k, ph, pw, height, width);
      const Real share = Real(top_diff[(long long)k * channels + channel]) / bin.count;
      TILE_LOOP(y, x, max(bin.box.bottom - bin.box.top, 0), max(bin.box.right - bin.box.left, 0))
        map[(bin.box.top + y) * width + bin.box.left + x] += share * bin.down[bin.box.top + y] * bin.across[bin.box.left + x];
      BARRIER();
    }
    THREAD_LOOP(i, height * width) bottom_diff[(long long)plane * height * width + i] = map[i];
  }
}
