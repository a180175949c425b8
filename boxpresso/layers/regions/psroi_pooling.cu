// psroi_pooling.cu: averages over the bins of regions, each bin in its own channel (R-FCN).
#include "bins.h"
#include "region.h"

// Where bin p of an axis begins and ends: rounded in the image, then scaled.
DEVICE void rfcn_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const Real start = near_by(round(first) * scale), stop = near_by((round(last) + 1) * scale);
  const Real size = max(stop - start, Real(0.1)) / count;
  *begin = min(max(whole(floor(p * size + start)), 0), limit);
  *end = min(max(whole(ceil((p + 1) * size + start)), 0), limit);
}

// torchvision's: scaled, then rounded.
DEVICE void torchvision_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const Real start = near_by(round(first * scale)), stop = near_by(round(last * scale));
  const Real size = max(stop - start, Real(1)) / count;
  *begin = min(max(whole(floor(p * size) + start), 0), limit);
  *end = min(max(whole(ceil((p + 1) * size) + start), 0), limit);
}

// image[k]: of region k, -1 if it contributes nothing.
KERNEL psroi_pooling_bins(int n, const Real* regions, int* image, int* bins, int batch, int height, int width,
                          int pooled_height, int pooled_width, Real scale, int torchvision) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int found = image_of(region, 5, batch);
    THREAD_LOOP(t, 1) image[k] = found;
    cut_bins(bins, {pooled_height, pooled_width}, k, found >= 0, [&](int axis, int p, int* begin, int* end) {
      const Real first = region[axis ? 1 : 2], last = region[axis ? 3 : 4];
      const int count = axis ? pooled_width : pooled_height, limit = axis ? width : height;
      if (torchvision)
        torchvision_bin(first, last, scale, p, count, limit, begin, end);
      else
        rfcn_bin(first, last, scale, p, count, limit, begin, end);
    });
  }
}

// The pixels of a bin, and how many, at least 1.
DEVICE int area_of(const Box& box) { return max(box.bottom - box.top, 1) * max(box.right - box.left, 1); }

// A block owns a plane: channel (ctop PH + ph) PW + pw, bin (ph, pw) of each region, which is place (k, channel) of the top.
KERNEL psroi_pooling_forward(int n, const Store* features, const int* image, const int* bins, Store* top, int regions,
                             int channels, int height, int width, int pooled_height, int pooled_width) {
  BLOCK_LOOP(plane, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    const int found = plane / channels, channel = plane - found * channels;
    const int ph = channel % pooled.cells() / pooled_width, pw = channel % pooled_width;
    const Store* map = features + (long long)plane * height * width;
    THREAD_LOOP(k, regions) {
      if (image[k] == found) {
        const Box box = box_of(bins, pooled, k, ph, pw);
        Real sum = 0;
        for (int y = box.top; y < box.bottom; ++y)
          for (int x = box.left; x < box.right; ++x) sum += Real(map[y * width + x]);
        top[(long long)k * channels + channel] = sum / area_of(box);
      }
    }
  }
}

// A block owns a plane and takes the regions of its image in order. sums: bottom_diff itself, or in float32 where that is half.
KERNEL psroi_pooling_backward(int n, const Store* top_diff, const int* image, const int* bins, Real* sums,
                              Store* bottom_diff, int regions, int channels, int height, int width, int pooled_height,
                              int pooled_width) {
  BLOCK_LOOP(plane, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    const int found = plane / channels, channel = plane - found * channels;
    const int ph = channel % pooled.cells() / pooled_width, pw = channel % pooled_width;
    Real* map = sums + (long long)plane * height * width;
    THREAD_LOOP(i, height * width) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image[k] != found) continue;
      const Box box = box_of(bins, pooled, k, ph, pw);
      const Real share = Real(top_diff[(long long)k * channels + channel]) / area_of(box);
      TILE_LOOP(y, x, max(box.bottom - box.top, 0), max(box.right - box.left, 0))
        map[(box.top + y) * width + box.left + x] += share;
      BARRIER();
    }
    THREAD_LOOP(i, height * width) bottom_diff[(long long)plane * height * width + i] = map[i];
  }
}
