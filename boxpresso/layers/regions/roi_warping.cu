// roi_warping.cu: the sampler of ROIWarping, and of MaskResize, whose region is a whole plane.
//
// One bilinear sample a bin, where the bin starts: bin p of an axis is at c = start + p length / bins, with the corners rounded to
// pixels of the map. It takes the pixels below and above c with the weights 1 - part and part, where part = c - the pixel below;
// border pixels hold for half a pixel beyond them, and from there on there is nothing.
#include "sample.h"
#include "separable_lists.h"

// An axis of a region in pixels of the map.
struct Side {
  Real start, length;
  int bins, size;
};

DEVICE Side side_of(const Real* region, int axis, bool some, const ListGeometry& g) {
  const Real start = round(region[2 - axis] * g.scale), stop = round(region[4 - axis] * g.scale);
  return {start, max(stop - start, Real(0)), axis ? g.pooled_width : g.pooled_height, !some ? 0 : axis ? g.width : g.height};
}

// The sampler: see separable_lists.h. Where a sample lies beyond the border pixels nothing changes with it.
template <class Take>
DEVICE void visit_pixels(const Side& side, int p, Take take) {
  const Real c = side.start + p * (side.length / side.bins);
  int low, high;
  Real part;
  if (!(c >= Real(-0.5) && c <= side.size - Real(0.5)) || !neighbours(c, side.size, &low, &high, &part)) return;
  const auto change = [&](Real sign) { return c >= 0 && low < high ? Change{sign, sign * p} : Change{0, 0}; };
  take(low, 1 - part, [&] { return change(-1); });
  take(high, part, [&] { return change(1); });
}

// Lists by bin; rows: (K, 5).
KERNEL roi_warping_lists(int n, const Real* rows, int* head, Real* inverse, int* index, Real* weight, int changes, ListGeometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = rows + 5 * (long long)k;
    const int image = image_of(region, 5, g.batch);
    list_region(k, image, Real(1), Lists{head, inverse, index, weight, changes}, g,
                [&](int axis) { return side_of(region, axis, image >= 0, g); });
  }
}

// The regions' gradient, as if their corners had not been rounded; a side that is held at 0 does not end.
KERNEL roi_warping_regions(int n, const Real* parts, const Real* rows, Store* diff, int count, ListGeometry g) {
  GRID_LOOP(k, n) {
    const Real* region = rows + 5 * (long long)k;
    corners_from(k, parts, count, diff, g, [&](int axis) { return !(side_of(region, 1 - axis, true, g).length > 0); });
  }
}
