// prroi_pooling.cu: the sampler of PrROIPooling: the exact average of the bilinear surface over each bin.
//
// The surface is the sum of v[i, j] hat(y - i) hat(x - j) with hat(t) = max(0, 1 - |t|): 0 from one pixel outside the map on. So a bin
// from `low` to `high` of an axis takes each pixel i with the average of hat(t - i) over low <= t <= high. As high moves, that average
// changes by (hat(high - i) - average) / (high - low), as low moves by (average - hat(low - i)) / (high - low).
#include "separable_lists.h"

DEVICE double hat(double t) { return max(0.0, 1 - abs(t)); }

// An axis of a region, in pixels of the map. In double: narrow bins are differences of nearly equal numbers.
struct Side {
  double start, size;
  int bins, limit;
};

DEVICE Side side_of(const Store* region, int axis, bool some, const ListGeometry& g) {
  const double first = min(max(double(Real(region[axis ? 1 : 2])) * g.scale, -1e9), 1e9);
  const double size = max(min(max(double(Real(region[axis ? 3 : 4])) * g.scale, -1e9), 1e9) - first, 0.0);
  return {first, size, axis ? g.pooled_width : g.pooled_height, !some ? 0 : axis ? g.width : g.height};
}

// The average of hat(t - pixel), which is straight between whole numbers: there its middle is its average.
DEVICE double average(double low, double high, int pixel) {
  double sum = 0;
  for (int half = -1; half < 1; ++half) {
    const double from = max(low, double(pixel + half)), to = min(high, double(pixel + half + 1));
    if (from < to) sum += (to - from) * hat((from + to) / 2 - pixel);
  }
  return sum / (high - low);
}

// The sampler: see separable_lists.h. Bin p lies from start + p size / bins on.
template <class Take>
DEVICE void visit_pixels(const Side& side, int p, Take take) {
  const double low = side.start + p * side.size / side.bins, high = side.start + (p + 1) * side.size / side.bins;
  const double limit = side.limit;  // NaN is below 0 here: max() keeps its first number
  const int first = int(min(max(0.0, floor(low)), limit)), end = int(min(max(0.0, ceil(high) + 1), limit));
  for (int pixel = first; pixel < end; ++pixel) {
    const double weight = low < high ? average(low, high, pixel) : 0.0;
    take(pixel, Real(weight), [&] {
      const double before = hat(low - pixel), behind = hat(high - pixel), length = high - low;
      if (!(length > 0)) return Change{0, 0};
      return Change{Real((behind - before) / length), Real(((p + 1) * behind - p * before - weight) / length)};
    });
  }
}

// Lists by bin; regions: (K, 5). A region without an area has no bins.
KERNEL prroi_pooling_lists(int n, const Store* regions, int* head, Real* inverse, int* index, Real* weight, int changes, ListGeometry g) {
  BLOCK_LOOP(k, n) {
    const Store* region = regions + 5 * (long long)k;
    const int image = image_of(region, 5, g.batch);
    const bool some = image >= 0 && side_of(region, 0, true, g).size > 0 && side_of(region, 1, true, g).size > 0;
    list_region(k, image, Real(1), Lists{head, inverse, index, weight, changes}, g,
                [&](int axis) { return side_of(region, axis, some, g); });
  }
}

// The regions' gradient.
KERNEL prroi_pooling_regions(int n, const Real* parts, Store* diff, int count, ListGeometry g) {
  GRID_LOOP(k, n) corners_from(k, parts, count, diff, g, [](int) { return false; });
}
