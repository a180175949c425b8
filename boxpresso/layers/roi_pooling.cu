// roi_pooling.cu: the largest value of each bin of each region, and its gradient to the pixel that was the largest.
#include "region.h"
#include "slab.h"

#define FAR Real(1e9)  // pixels: coordinates beyond count as this, so that they and their differences fit an int

DEVICE int whole(Real value) { return int(min(max(value, -FAR), FAR)); }

// Where the bins of an axis of one region begin and end, clipped to the map. Products as p * (length / bins) in Real:
// other ways to write them give other bins (length 7, 13 bins).
DEVICE void caffe_bins(Real first, Real last, Real scale, int count, int limit, int* begin, int* end) {
  const int start = whole(round(first * scale)), length = max(whole(round(last * scale)) - start + 1, 1);
  const Real size = Real(length) / Real(count);
  THREAD_LOOP(p, count) {
    begin[p] = min(max(int(floor(Real(p) * size)) + start, 0), limit);
    end[p] = min(max(int(ceil(Real(p + 1) * size)) + start, 0), limit);
  }
}

// mmcv's: no rounding, and the end pixel is the image's. A region without an extent has no bins.
DEVICE void mmcv_bins(Real first, Real last, Real scale, int count, int limit, int* begin, int* end) {
  const Real start = first * scale, length = (last + 1) * scale - start, size = length / Real(count);
  THREAD_LOOP(p, count) {
    begin[p] = length > 0 ? min(max(whole(floor(Real(p) * size + start)), 0), limit) : 0;
    end[p] = length > 0 ? min(max(whole(ceil(Real(p + 1) * size + start)), 0), limit) : 0;
  }
}

// How far apart bins of an axis are that share no pixel, at least. Begins and ends never decrease.
DEVICE int apart(int count, const int* begin, const int* end) {
  int step = 1;
  for (int p = 0; p + step < count;) end[p] <= begin[p + step] ? ++p : ++step;
  return step;
}

// For region k: image[k], -1 with empty bins if it contributes nothing, and bins[k] = (begin y, end y, begin x, end x,
// apart y, apart x).
KERNEL roi_pooling_bins(int n, const Real* regions, int* image, int* bins, int batch, int height, int width,
                        int pooled_height, int pooled_width, Real scale, Real pad_ratio, int mmcv) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int found = image_of(region, 5, batch);
    int* y = bins + (2 * (pooled_height + pooled_width) + 2) * k;
    int* x = y + 2 * pooled_height;
    THREAD_LOOP(t, 1) image[k] = found;
    if (found >= 0) {
      const Real pad_x = pad_ratio != 0 ? (region[3] - region[1] + 1) * pad_ratio : 0;  // 0 * infinity is NaN
      const Real pad_y = pad_ratio != 0 ? (region[4] - region[2] + 1) * pad_ratio : 0;
      const auto cut = [&](Real first, Real last, int count, int limit, int* begin) {
        if (mmcv)
          mmcv_bins(first, last, scale, count, limit, begin, begin + count);
        else
          caffe_bins(first, last, scale, count, limit, begin, begin + count);
      };
      cut(region[2] - pad_y, region[4] + pad_y, pooled_height, height, y);
      cut(region[1] - pad_x, region[3] + pad_x, pooled_width, width, x);
    } else {
      THREAD_LOOP(i, 2 * (pooled_height + pooled_width)) y[i] = 0;
    }
    BARRIER();
    THREAD_LOOP(t, 1) {
      x[2 * pooled_width] = apart(pooled_height, y, y + pooled_height);
      x[2 * pooled_width + 1] = apart(pooled_width, x, x + pooled_width);
    }
  }
}

KERNEL roi_pooling_pack(int n, const Real* maps, Real* slabs, int channels, int area) {
  BLOCK_LOOP(slab, n) pack(slab, maps, slabs, channels, area);
}

struct Largest {
  Lanes value;   // 0 for an empty bin
  Places place;  // in the map, the first of equals; -1 for an empty bin and where all is NaN
};

// The walker: bin (ph, pw) of a region in some lanes of a slab.
DEVICE Largest largest(const Real* slab, int width, const int* y, const int* x, int pooled_height, int pooled_width, int ph,
                       int pw, int group) {
  const int top = y[ph], bottom = y[pooled_height + ph], left = x[pw], right = x[pooled_width + pw];
  Largest found = {Lanes{}, Places{} - 1};
  if (top >= bottom || left >= right) return found;
  found.value -= REAL_MAX;
  for (int h = top; h < bottom; ++h)
    for (int w = left; w < right; ++w) {
      const Lanes value = lanes(slab, h * width + w, group);
      const auto more = value > found.value;
      found.value = more ? value : found.value;
      found.place = more ? Places{} + (h * width + w) : found.place;
    }
  return found;
}

// A block owns a region in a slab; top: (K, channels, pooled_height, pooled_width), the values or the places.
KERNEL roi_pooling_forward(int n, const Real* slabs, const int* image, const int* bins, Real* top, int places, int regions,
                           int channels, int area, int width, int pooled_height, int pooled_width) {
  BLOCK_LOOP(b, n) {
    const int s = b / regions, k = b - s * regions, cells = pooled_height * pooled_width;
    const int* y = bins + (2 * (pooled_height + pooled_width) + 2) * k;
    const int* x = y + 2 * pooled_height;
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(channels) + s) * area * SLAB;
    Real* out = top + (long long)k * channels * cells;
    TILE_LOOP(ph, t, pooled_height, pooled_width * GROUPS) {
      const int pw = t / GROUPS, group = t % GROUPS, bin = ph * pooled_width + pw;
      const auto found = [&] { return largest(slab, width, y, x, pooled_height, pooled_width, ph, pw, group); };
      if (places)
        scatter(out, s * SLAB, channels, cells, bin, group, found().place);
      else
        scatter(out, s * SLAB, channels, cells, bin, group, found().value);
    }
  }
}

// A block owns a slab of an image and takes that image's regions in order, of each region bins together that share no pixel.
// diff: the slabs of bottom_diff.
KERNEL roi_pooling_backward(int n, const Real* slabs, const int* image, const int* bins, const Real* top_diff, Real* diff,
                            Real* bottom_diff, int regions, int channels, int area, int width, int pooled_height,
                            int pooled_width) {
  BLOCK_LOOP(b, n) {
    const int cells = pooled_height * pooled_width, found = b / slabs_of(channels), s = b - found * slabs_of(channels);
    const Real* slab = slabs + (long long)b * area * SLAB;
    Real* map = diff + (long long)b * area * SLAB;
    THREAD_LOOP(i, area * SLAB) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image[k] != found) continue;
      const int* y = bins + (2 * (pooled_height + pooled_width) + 2) * k;
      const int* x = y + 2 * pooled_height;
      const int step_y = x[2 * pooled_width], step_x = x[2 * pooled_width + 1];
      const Real* given = top_diff + (long long)k * channels * cells;
      for (int first = 0; first < step_y * step_x; ++first) {
        const int first_y = first / step_x, first_x = first - first_y * step_x;
        const int rows = (pooled_height - first_y + step_y - 1) / step_y;
        const int columns = (pooled_width - first_x + step_x - 1) / step_x;
        TILE_LOOP(v, u, rows, columns * GROUPS) {
          const int ph = first_y + v * step_y, pw = first_x + u / GROUPS * step_x, group = u % GROUPS;
          const Places place = largest(slab, width, y, x, pooled_height, pooled_width, ph, pw, group).place;
          const int c = s * SLAB + group * LANES;
          for (int i = 0; i < min(LANES, channels - c); ++i)
            if (lane(place, i) >= 0)
              map[lane(place, i) * SLAB + group * LANES + i] += given[(c + i) * cells + ph * pooled_width + pw];
        }
        BARRIER();
      }
    }
    unpack(b, diff, bottom_diff, channels, area);
  }
}
