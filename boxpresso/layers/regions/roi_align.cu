// roi_align.cu: the sampler of ROIAlign's average.
//
// A region's bins are cut into rows x columns cells, and a bilinear sample lies in the middle of each: sample i of bin p of an axis
// is at c = from + p bin + (i + 1/2) bin / count. It takes the pixels below and above c with the weights 1 - part and part, where
// part = c - the pixel below; nothing outside [-1, size]; the border pixels hold outside the map. The top is the samples' average.
// Cascade R-CNN's form has one sample at each corner of the cells: c = from + p bin, in [-1/2, size - 1/2].
#include "grid.h"
#include "sample.h"
#include "separable_lists.h"

// One axis of a region: where its bins start, and what is asked of each sample.
struct Samples {
  Real from, bin;  // where the first bin starts, and the size of one, in pixels of the map
  int count, size, corners;
};

// The samples of a bin that may lie on the map: those that are clearly off it are passed over.
struct Some {
  int first, end;
};

DEVICE Some some_of(const Samples& axis, Real edge) {
  const Real step = axis.bin / max(axis.count, 1), most = axis.count;
  if (axis.count <= 0 || !(abs(step) > 0)) return {0, axis.count};
  const Real a = (-2 - edge) / step, b = (axis.size + 1 - edge) / step;
  return {int(max(min(min(a, b) - 2, most), Real(0))), int(max(min(max(a, b) + 2, most), Real(0)))};
}

// The sampler: see separable_lists.h. Where a border pixel holds, nothing changes as a sample moves.
template <class Take>
DEVICE void visit_pixels(const Samples& axis, int p, Take take) {
  const Real edge = axis.from + p * axis.bin;
  const Some some = some_of(axis, edge);
  for (int s = 0; s < some.end - some.first; ++s) {
    const int i = axis.bin < 0 ? some.end - 1 - s : some.first + s;  // pixels ascend
    const Real c = axis.corners ? edge : edge + (i + Real(0.5)) * axis.bin / axis.count;
    int low, high;
    Real part;
    if (axis.corners && !(c >= Real(-0.5) && c <= axis.size - Real(0.5))) continue;
    if (!neighbours(c, axis.size, &low, &high, &part)) continue;
    const auto change = [&](Real sign) {
      return c > 0 && low < high ? Change{sign, sign * (p + (i + Real(0.5)) / axis.count)} : Change{0, 0};
    };
    take(low, 1 - part, [&] { return change(-1); });
    take(high, part, [&] { return change(1); });
  }
}

// What a layer asks of samples: see grid.h; corners: whether they are Cascade R-CNN's.
struct SampleGeometry {
  int sampling_ratio, aligned, corners;
  Real pad_ratio;
};

// Lists by bin; rows: (K, 5).
KERNEL roi_align_lists(int n, const Real* rows, int* head, Real* inverse, int* index, Real* weight, int changes,
                       SampleGeometry asked, ListGeometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = rows + 5 * (long long)k;
    const int image = image_of(region, 5, g.batch);
    const GridGeometry samples = {g.regions, g.batch, g.channels, g.height, g.width, g.pooled_height, g.pooled_width, asked.sampling_ratio,
                                  asked.aligned, g.scale};
    const Grid grid = asked.corners ? corners_of(region, g.pooled_height, g.pooled_width, g.scale, asked.pad_ratio) : grid_of(region, samples);
    const bool some = image >= 0 && grid.rows * grid.columns != 0;
    const Real share = grid.rows > 0 && grid.columns > 0 ? 1 / (Real(grid.rows) * Real(grid.columns)) : Real(0);
    list_region(k, image, share, Lists{head, inverse, index, weight, changes}, g, [&](int axis) {
      return axis ? Samples{grid.x, grid.bin_width, some ? grid.columns : 0, g.width, asked.corners}
                  : Samples{grid.y, grid.bin_height, some ? grid.rows : 0, g.height, asked.corners};
    });
  }
}

// The regions' gradient; the number of samples is taken as fixed, and so is a size that is held at 1.
KERNEL roi_align_regions(int n, const Real* parts, const Real* rows, Store* diff, int count, int aligned, ListGeometry g) {
  GRID_LOOP(k, n) {
    const Real* region = rows + 5 * (long long)k;
    corners_from(k, parts, count, diff, g, [&](int axis) { return !aligned && !((region[3 + axis] - region[1 + axis]) * g.scale > 1); });
  }
}
