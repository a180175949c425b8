// roi_align.cu: averages of bilinear samples in the bins of regions, on features with the channels last.
#include "channels.h"
#include "region.h"
#include "sample.h"

#define SAMPLES 64  // of a bin, taken together
#define OWNED 64    // channels that a block of the backward pass owns; a multiple of TILE

// One region on the map: where it starts, the size of a bin, and the rows and columns of samples in each.
struct Grid {
  Real y, x, bin_height, bin_width;
  int rows, columns;
};

DEVICE Grid grid_of(const Real* region, int pooled_height, int pooled_width, Real scale, int sampling_ratio, int aligned) {
  const Real half = aligned ? Real(0.5) : Real(0);
  const Real x = region[1] * scale - half, y = region[2] * scale - half;
  Real width = region[3] * scale - half - x, height = region[4] * scale - half - y;
  if (!aligned) {
    width = max(width, Real(1));
    height = max(height, Real(1));
  }
  Grid g = {y, x, height / pooled_height, width / pooled_width, sampling_ratio, sampling_ratio};
  if (sampling_ratio <= 0) {
    const Real most = 1 << 20;  // the layer has refused what has more samples; this keeps the others' sides an int
    g.rows = int(max(min(ceil(g.bin_height), most), Real(0)));
    g.columns = int(max(min(ceil(g.bin_width), most), Real(0)));
  }
  return g;
}

// The samples of bin (ph, pw), up to SAMPLES at a time: visit(count, at, weight) with four pixels and weights each. The
// weights are divided by the number of samples; at is -1 for a sample outside the map, which counts but gives nothing.
template <class Visit>
DEVICE void walk(const Grid& g, int ph, int pw, int height, int width, Visit visit) {
  SHARED int at[4 * SAMPLES];
  SHARED Real weight[4 * SAMPLES];
  const int samples = g.rows * g.columns;
  for (int first = 0; first < samples; first += SAMPLES) {
    const int count = min(SAMPLES, samples - first);
    THREAD_LOOP(s, count) {
      const int row = (first + s) / g.columns, column = first + s - row * g.columns;
      const Real y = g.y + ph * g.bin_height + (row + Real(0.5)) * g.bin_height / g.rows;
      const Real x = g.x + pw * g.bin_width + (column + Real(0.5)) * g.bin_width / g.columns;
      at[4 * s] = -1;
      if (bilinear(y, x, height, width, at + 4 * s, weight + 4 * s))
        for (int k = 0; k < 4; ++k) weight[4 * s + k] /= samples;
    }
    BARRIER();
    visit(count, at, weight);
    BARRIER();
  }
}

KERNEL roi_align_turn(int n, const Real* maps, Real* last, int channels, int padded, int area, int tiles) {
  BLOCK_LOOP(b, n) turn_tile(b, maps, last, channels, padded, area, tiles);
}

KERNEL roi_align_turn_back(int n, const Real* last, Real* maps, int channels, int padded, int area, int tiles) {
  BLOCK_LOOP(b, n) turn_tile_back(b, last, maps, channels, padded, area, tiles);
}

// A block owns a region; features: (B, height, width, padded), top: (K, channels, pooled_height, pooled_width).
KERNEL roi_align_forward(int n, const Real* features, const Real* regions, Real* top, int batch, int channels, int padded,
                         int height, int width, int pooled_height, int pooled_width, Real scale, int sampling_ratio,
                         int aligned) {
  BLOCK_LOOP(k, n) {
    const int bins = pooled_height * pooled_width, image = image_of(regions + 5 * k, 5, batch);
    Real* out = top + k * channels * bins;
    THREAD_LOOP(i, channels * bins) out[i] = 0;
    BARRIER();
    if (image < 0) continue;
    const Grid g = grid_of(regions + 5 * k, pooled_height, pooled_width, scale, sampling_ratio, aligned);
    const Real* map = features + (long long)image * height * width * padded;
    for (int bin = 0; bin < bins; ++bin)
      walk(g, bin / pooled_width, bin % pooled_width, height, width, [&](int count, const int* at, const Real* weight) {
        THREAD_LOOP(v, padded / LANES) {
          Real sum[LANES] = {};
          for (int s = 0; s < 4 * count; s += 4) {
            if (at[s] < 0) continue;
            for (int corner = s; corner < s + 4; ++corner) {
              const Real* pixel = map + (long long)at[corner] * padded + v * LANES;
              for (int lane = 0; lane < LANES; ++lane) sum[lane] += weight[corner] * pixel[lane];
            }
          }
          const int last = min(LANES, channels - v * LANES);
          for (int lane = 0; lane < last; ++lane) out[(v * LANES + lane) * bins + bin] += sum[lane];
        }
      });
  }
}

// A block owns OWNED channels of an image in diff (B, height, width, padded), which is 0 before, and takes the regions of
// that image in order.
KERNEL roi_align_backward(int n, const Real* top_diff, const Real* regions, Real* diff, int count, int batch, int channels,
                          int padded, int height, int width, int pooled_height, int pooled_width, Real scale,
                          int sampling_ratio, int aligned) {
  BLOCK_LOOP(b, n) {
    const int shares = (padded + OWNED - 1) / OWNED, image = b / shares, first = (b - image * shares) * OWNED;
    const int bins = pooled_height * pooled_width, vectors = min(OWNED, padded - first) / LANES;
    Real* map = diff + (long long)image * height * width * padded + first;
    for (int k = 0; k < count; ++k) {
      if (image_of(regions + 5 * k, 5, batch) != image) continue;
      const Grid g = grid_of(regions + 5 * k, pooled_height, pooled_width, scale, sampling_ratio, aligned);
      const Real* given = top_diff + (k * channels + first) * bins;
      for (int bin = 0; bin < bins; ++bin)
        walk(g, bin / pooled_width, bin % pooled_width, height, width, [&](int samples, const int* at, const Real* weight) {
          THREAD_LOOP(v, vectors) {
            Real gradient[LANES] = {};
            const int last = min(LANES, channels - first - v * LANES);
            for (int lane = 0; lane < last; ++lane) gradient[lane] = given[(v * LANES + lane) * bins + bin];
            for (int s = 0; s < 4 * samples; s += 4) {
              if (at[s] < 0) continue;
              for (int corner = s; corner < s + 4; ++corner) {
                Real* pixel = map + (long long)at[corner] * padded + v * LANES;
                for (int lane = 0; lane < LANES; ++lane) pixel[lane] += weight[corner] * gradient[lane];
              }
            }
          }
        });
    }
  }
}
