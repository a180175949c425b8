// roi_pooling.cu: the largest value of each bin of each region, and its gradient to the pixel that was the largest.
#include "bins.h"
#include "region.h"
#include "slab.h"

// Where bin p of an axis begins and ends. Products as p * (length / bins) in Real: other ways to write them give other bins
// (length 7, 13 bins).
DEVICE void caffe_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const int start = whole(round(first * scale)), length = max(whole(round(last * scale)) - start + 1, 1);
  const Real size = Real(length) / Real(count);
  *begin = min(max(int(floor(Real(p) * size)) + start, 0), limit);
  *end = min(max(int(ceil(Real(p + 1) * size)) + start, 0), limit);
}

// mmcv's: no rounding, and the end pixel is the image's. A region without an extent has no bins.
DEVICE void mmcv_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const Real start = near_by(first * scale), length = near_by((last + 1) * scale) - start, size = length / Real(count);
  if (!(length > 0)) return;
  *begin = min(max(whole(floor(Real(p) * size + start)), 0), limit);
  *end = min(max(whole(ceil(Real(p + 1) * size + start)), 0), limit);
}

// image[k]: of region k, -1 if it contributes nothing.
KERNEL roi_pooling_bins(int n, const Store* regions, int* image, int* bins, int batch, int height, int width,
                        int pooled_height, int pooled_width, Real scale, Real pad_ratio, int mmcv) {
  BLOCK_LOOP(k, n) {
    const Store* region = regions + 5 * k;
    const int found = image_of(region, 5, batch);
    THREAD_LOOP(t, 1) image[k] = found;
    cut_bins(bins, {pooled_height, pooled_width}, k, found >= 0, [&](int axis, int p, int* begin, int* end) {
      const Real first = Real(region[axis ? 1 : 2]), last = Real(region[axis ? 3 : 4]);
      const Real pad = pad_ratio != 0 ? (last - first + 1) * pad_ratio : Real(0);  // 0 * infinity is NaN
      const int count = axis ? pooled_width : pooled_height, limit = axis ? width : height;
      if (mmcv)
        mmcv_bin(first - pad, last + pad, scale, p, count, limit, begin, end);
      else
        caffe_bin(first - pad, last + pad, scale, p, count, limit, begin, end);
    });
  }
}

KERNEL roi_pooling_pack(int n, const Store* maps, Real* slabs, int channels, int area) {
  BLOCK_LOOP(slab, n) pack(slab, maps, slabs, channels, area);
}

struct Largest {
  Lanes value;   // 0 for an empty bin
  Places place;  // in the map, the first of equals; -1 for an empty bin and where all is NaN
};

// The walker: one bin of a region in some lanes of a slab.
DEVICE Largest largest(const Real* slab, int width, const Box& box, int group) {
  Largest found = {Lanes{}, Places{} - 1};
  if (box.top >= box.bottom || box.left >= box.right) return found;
  found.value -= REAL_MAX;
  for (int y = box.top; y < box.bottom; ++y)
    for (int x = box.left; x < box.right; ++x) {
      const Lanes value = lanes(slab, y * width + x, group);
      const auto more = value > found.value;
      found.value = more ? value : found.value;
      found.place = more ? Places{} + (y * width + x) : found.place;
    }
  return found;
}

// A block owns a region in a slab; top: (K, channels, pooled_height, pooled_width), the values or the places.
KERNEL roi_pooling_forward(int n, const Real* slabs, const int* image, const int* bins, Store* top, int places, int regions,
                           int channels, int area, int width, int pooled_height, int pooled_width) {
  BLOCK_LOOP(b, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    const int s = b / regions, k = b - s * regions, cells = pooled.cells();
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(channels) + s) * area * SLAB;
    Store* out = top + (long long)k * channels * cells;
    TILE_LOOP(ph, t, pooled_height, pooled_width * GROUPS) {
      const int pw = t / GROUPS, group = t % GROUPS, bin = ph * pooled_width + pw;
      const Box box = box_of(bins, pooled, k, ph, pw);
      if (places)
        scatter(out, s * SLAB, channels, cells, bin, group, largest(slab, width, box, group).place);
      else
        scatter(out, s * SLAB, channels, cells, bin, group, largest(slab, width, box, group).value);
    }
  }
}

// A block owns a slab of an image and takes that image's regions in order. diff: the slabs of bottom_diff.
KERNEL roi_pooling_backward(int n, const Real* slabs, const int* image, const int* bins, const Store* top_diff, Real* diff,
                            Store* bottom_diff, int regions, int channels, int area, int width, int pooled_height,
                            int pooled_width) {
  BLOCK_LOOP(b, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    const int found = b / slabs_of(channels), channel = (b - found * slabs_of(channels)) * SLAB, cells = pooled.cells();
    const Real* slab = slabs + (long long)b * area * SLAB;
    Real* map = diff + (long long)b * area * SLAB;
    THREAD_LOOP(i, area * SLAB) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image[k] != found) continue;
      const Store* given = top_diff + (long long)k * channels * cells;
      visit_apart(bins, pooled, k, GROUPS, [&](int ph, int pw, int group) {
        const Places place = largest(slab, width, box_of(bins, pooled, k, ph, pw), group).place;
        const int first = channel + group * LANES;
        for (int i = 0; i < min(LANES, channels - first); ++i)
          if (lane(place, i) >= 0)
            map[lane(place, i) * SLAB + group * LANES + i] += Real(given[(first + i) * cells + ph * pooled_width + pw]);
      });
    }
    unpack(b, diff, bottom_diff, channels, area);
  }
}
