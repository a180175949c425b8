// deform_roi.cu: ROIAlign with every bin moved by an offset and, modulated, multiplied by a mask; for a GPU, features in packed slabs.
#include "deform_roi.h"
#include "sample.h"
#include "wide.h"

constexpr int SAMPLES = 256;  // whose pixels and weights a block keeps
constexpr int BINS = 64;      // that they belong to, at most

// Samples `first` on of some bins, `count` of each: of number i the four pixels and what they weigh; at[0][i] is -1 off the map.
struct Samples {
  int at[4][SAMPLES];
  Real weight[4][SAMPLES];
};

DEVICE void find(Samples& samples, int i, const Grid& bin, const Looked& looked, int sample, Real times, int height, int width) {
  const int row = looked.top + sample / looked.columns, column = looked.left + sample % looked.columns;
  const Real y = bin.y + (row + Real(0.5)) * bin.bin_height / bin.rows;
  const Real x = bin.x + (column + Real(0.5)) * bin.bin_width / bin.columns;
  int at[4] = {-1, -1, -1, -1};
  Real weight[4] = {};
  if (bilinear(y, x, height, width, at, weight))
    for (int corner = 0; corner < 4; ++corner) weight[corner] /= bin.rows * bin.columns;
  for (int corner = 0; corner < 4; ++corner) {
    samples.at[corner][i] = at[corner];
    samples.weight[corner][i] = times * weight[corner];
  }
}

// A block owns a region in a slab; slabs: (B * slabs_of(C), area, SLAB), top: (K, C, bins), mask: (K, bins) or null for 1. Bins whose
// samples fit are taken together, others one by one.
KERNEL deform_roi_forward(int n, const Real* slabs, const Store* regions, const Store* offset, const Store* mask, Store* top,
                          Real gamma, GridGeometry g) {
  const int height = g.height, width = g.width, bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Samples samples;
    SHARED Wide averages[stage_of(BINS)];
    const int s = b / g.regions, k = b % g.regions, image = image_of(regions + 5 * (long long)k, 5, g.batch);
    const Whole whole = region_of(regions, k, g);
    const int each = image < 0 ? 0 : whole.grid.rows * whole.grid.columns, bins_at_once = max(min(SAMPLES / max(each, 1), BINS), 1);
    const Real* slab = slabs + ((long long)max(image, 0) * slabs_of(g.channels) + s) * height * width * SLAB;
    Store* out = top + ((long long)k * g.channels + s * SLAB) * bins;
    for (int first = 0; first < bins; first += bins_at_once) {
      const int some = min(bins_at_once, bins - first);
      const auto looked_of = [&](const Grid& bin) { return looked_at(bin, height, width); };
      const int count = each > SAMPLES ? looked_of(bin_of(whole, offset, k, first, g, gamma)).count : each;
      TILE_LOOP(i, share, some, SHARES) staged(averages, i, share) = Wide{};
      for (int sample = 0; sample < count; sample += SAMPLES) {
        const int now = min(SAMPLES, count - sample);  // of each bin; all of them where there are several bins
        BARRIER();
        TILE_LOOP(i, v, some, now) {
          const Grid bin = bin_of(whole, offset, k, first + i, g, gamma);
          const Looked looked = each > SAMPLES ? looked_of(bin) : Looked{0, 0, bin.columns, each};
          const Real times = mask ? Real(mask[(long long)k * bins + first + i]) : Real(1);
          find(samples, i * now + v, bin, looked, sample + v, times, height, width);
        }
        BARRIER();
        TILE_LOOP(i, share, some, SHARES) {
          Wide& to = staged(averages, i, share);
          Wide sum = to;
          for (int v = i * now; v < (i + 1) * now; ++v)
            if (samples.at[0][v] >= 0)
              for (int corner = 0; corner < 4; ++corner) sum += samples.weight[corner][v] * wide(slab, samples.at[corner][v], share);
          to = sum;
        }
      }
      BARRIER();
      empty_stage(averages, out + first, g.channels - s * SLAB, bins, some);
      BARRIER();
    }
  }
}
