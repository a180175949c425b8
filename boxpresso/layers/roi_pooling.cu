// roi_pooling.cu: the largest value of each bin of each region, and its gradient to the pixel that was the largest.
#include "channels.h"
#include "region.h"

#define FAR Real(1e9)  // pixels: coordinates beyond count as this, so that they and their differences fit an int

// Halves go away from zero.
DEVICE int nearest(Real value) { return int(min(max(round(value), -FAR), FAR)); }

// Where the bins of an axis of one region begin and end, clipped to the map. Products as p * (length / bins) in Real:
// other ways to write them give other bins (length 7, 13 bins).
DEVICE void bins(Real first, Real last, Real scale, int count, int limit, int* begin, int* end) {
  const int start = nearest(first * scale), length = max(nearest(last * scale) - start + 1, 1);
  const Real size = Real(length) / Real(count);
  THREAD_LOOP(p, count) {
    begin[p] = min(max(int(floor(Real(p) * size)) + start, 0), limit);
    end[p] = min(max(int(ceil(Real(p + 1) * size)) + start, 0), limit);
  }
}

// For region k: image[k], -1 if it contributes nothing, and edges[k] = (begin y, end y, begin x, end x) of its bins.
KERNEL roi_pooling_bins(int n, const Real* regions, int* image, int* edges, int batch, int height, int width,
                        int pooled_height, int pooled_width, Real scale, Real pad_ratio) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int found = image_of(region, 5, batch);
    THREAD_LOOP(t, 1) image[k] = found;
    if (found >= 0) {
      const Real pad_x = pad_ratio != 0 ? (region[3] - region[1] + 1) * pad_ratio : 0;  // 0 * infinity is NaN
      const Real pad_y = pad_ratio != 0 ? (region[4] - region[2] + 1) * pad_ratio : 0;
      int* y = edges + 2 * k * (pooled_height + pooled_width);
      int* x = y + 2 * pooled_height;
      bins(region[2] - pad_y, region[4] + pad_y, scale, pooled_height, height, y, y + pooled_height);
      bins(region[1] - pad_x, region[3] + pad_x, scale, pooled_width, width, x, x + pooled_width);
    }
  }
}

KERNEL roi_pooling_turn(int n, const Real* maps, Real* last, int channels, int padded, int area, int tiles) {
  BLOCK_LOOP(b, n) turn_tile(b, maps, last, channels, padded, area, tiles);
}

// A block owns a region; features: (B, height, width, padded), top and argmax: (K, channels, pooled_height, pooled_width).
// argmax: the place of the largest value in its plane, the first of equals; -1 for an empty bin and where all is NaN.
KERNEL roi_pooling_forward(int n, const Real* features, const int* image, const int* edges, Real* top, int* argmax,
                           int channels, int padded, int height, int width, int pooled_height, int pooled_width) {
  BLOCK_LOOP(k, n) {
    const int bins = pooled_height * pooled_width;
    const Real* map = features + (long long)max(image[k], 0) * height * width * padded;
    const int* y = edges + 2 * k * (pooled_height + pooled_width);
    const int* x = y + 2 * pooled_height;
    for (int bin = 0; bin < bins; ++bin) {
      const int ph = bin / pooled_width, pw = bin - ph * pooled_width;
      const bool empty = image[k] < 0 || y[ph] >= y[pooled_height + ph] || x[pw] >= x[pooled_width + pw];
      THREAD_LOOP(v, padded / LANES) {
        Real most[LANES];
        int place[LANES];
        for (int lane = 0; lane < LANES; ++lane) {
          most[lane] = empty ? Real(0) : -REAL_MAX;
          place[lane] = -1;
        }
        for (int h = y[ph]; !empty && h < y[pooled_height + ph]; ++h)
          for (int w = x[pw]; w < x[pooled_width + pw]; ++w) {
            const Real* pixel = map + (long long)(h * width + w) * padded + v * LANES;
            for (int lane = 0; lane < LANES; ++lane) {
              const bool more = pixel[lane] > most[lane];
              most[lane] = more ? pixel[lane] : most[lane];
              place[lane] = more ? h * width + w : place[lane];
            }
          }
        const int last = min(LANES, channels - v * LANES);
        for (int lane = 0; lane < last; ++lane) {
          const int i = (k * channels + v * LANES + lane) * bins + bin;
          top[i] = most[lane];
          argmax[i] = place[lane];
        }
      }
    }
  }
}

// A block owns a plane and takes the regions of its image in order.
KERNEL roi_pooling_backward(int n, const Real* top_diff, const int* argmax, const int* image, Real* bottom_diff, int regions,
                            int channels, int area, int bins) {
  BLOCK_LOOP(plane, n) {
    Real* map = bottom_diff + plane * area;
    THREAD_LOOP(p, area) map[p] = 0;
    BARRIER();
    for (int k = 0; k < regions; ++k) {
      if (image[k] != plane / channels) continue;
      const int first = (k * channels + plane % channels) * bins;
      THREAD_LOOP(i, bins)
        if (argmax[first + i] >= 0) add(map + argmax[first + i], top_diff[first + i]);
    }
  }
}
