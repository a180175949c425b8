// roi_align_lists.cu: the lists of weights of roi_lists.h, by bin and by pixel.
#include "ranks.h"
#include "roi_lists.h"
#include "sample.h"

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

// visit(i, c, pixels, part) for the samples of bin p that lie on the map, pixels ascending: number i of the bin lies at c,
// between pixels[0] and pixels[1], of which the latter has `part`.
template <class Visit>
DEVICE void visit_samples(const Samples& axis, int p, Visit visit) {
  const Real edge = axis.from + p * axis.bin;
  const Some some = some_of(axis, edge);
  for (int s = some.first; s < some.end; ++s) {
    const int i = axis.bin < 0 ? axis.count - 1 - s : s;
    const Real c = axis.corners ? edge : edge + (i + Real(0.5)) * axis.bin / axis.count;
    int pixels[2];
    Real part;
    if (axis.corners && !(c >= Real(-0.5) && c <= axis.size - Real(0.5))) continue;
    if (neighbours(c, axis.size, pixels, pixels + 1, &part)) visit(i, c, pixels, part);
  }
}

// Where a bin's entries go: from number `begin` on, before `end`. slope and lever may be null.
struct Entries {
  int *at, begin, end;
  Real *weight, *slope, *lever;
};

// Enters the samples of bin p; the place behind its last entry. A pixel is entered once for a bin, and once more with weight 0 if
// a sample names it so: 0 * infinity is NaN there, as in the sum of single samples. low and high: the pixels taken until now.
DEVICE int enter(const Samples& axis, int p, const Entries& to, int& low, int& high) {
  int count = to.begin;
  visit_samples(axis, p, [&](int i, Real c, const int* pixels, Real part) {
    low = min(low, pixels[0]);
    high = max(high, pixels[1]);
    for (int side = 0; side < 2; ++side) {
      const Real w = side ? part : 1 - part;
      int e = count - 1;
      while (e >= to.begin && (to.at[e] > pixels[side] || (to.at[e] == pixels[side] && (to.weight[e] != 0) != (w != 0)))) --e;
      if (e < to.begin || to.at[e] != pixels[side]) {
        if (count == to.end) continue;  // only where rounding of 1e7 and more folds the bins onto each other
        e = count++;
        to.at[e] = pixels[side];
        to.weight[e] = 0;
        if (to.slope) to.slope[e] = to.lever[e] = 0;
      }
      to.weight[e] += w;
      if (to.slope && c > 0 && pixels[0] < pixels[1]) {
        to.slope[e] += side ? 1 : -1;
        to.lever[e] += (side ? 1 : -1) * (p + (i + Real(0.5)) / axis.count);
      }
    }
  });
  return count;
}

// How many entries the samples of bin p make: as they ascend, it is enough to know how two pixels have been entered, 1 with a
// weight, 2 without one, and 4 and 8 the pixel behind.
DEVICE int entries_of(const Samples& axis, int p) {
  int count = 0, last = -2, seen = 0;
  visit_samples(axis, p, [&](int, Real, const int* pixels, Real part) {
    if (pixels[0] != last) seen = pixels[0] == last + 1 ? seen >> 2 : 0;
    last = pixels[0];
    for (int side = 0; side < 2; ++side) {
      const int bit = ((side ? part : 1 - part) != 0 ? 1 : 2) << 2 * (pixels[side] - last);
      count += (seen & bit) == 0;
      seen |= bit;
    }
  });
  return count;
}

// Entries that were counted and not made, should a compiler have rounded the two walks unlike: the last pixel, with weight 0.
DEVICE void fill_up(const Entries& to, int count, int& low, int& high) {
  const int pixel = count > to.begin ? to.at[count - 1] : 0;
  for (; count < to.end; ++count) {
    to.at[count] = pixel;
    to.weight[count] = 0;
    if (to.slope) to.slope[count] = to.lever[count] = 0;
    low = min(low, pixel);
    high = max(high, pixel);
  }
}

// The lists by bin, a block for each region and on a GPU a thread for each bin. Its image in `head` is -1 if it contributes
// nothing; inverse: 1 / the samples of a bin. slope and lever, or null: how a weight changes with the start of the axis and with
// the size of a bin. Samples of `corners` lie in [-0.5, size - 0.5].
KERNEL roi_align_lists(int n, const Real* rows, int* head, Real* inverse, int* index, Real* weight, Real* slope, Real* lever,
                       ListGeometry g) {
  BLOCK_LOOP(k, n) {
    SHARED int scratch[FLAG_ROOM], lowest[2], highest[2];  // lowest: negative, so that the largest is looked for
    const Real* region = rows + 5 * (long long)k;
    const int image = image_of(region, 5, g.batch), pooled_height = g.pooled_height, pooled_width = g.pooled_width;
    const Grid grid = g.corners ? corners_of(region, pooled_height, pooled_width, g.scale, g.pad_ratio) : grid_of(region, g);
    const bool none = image < 0 || grid.rows * grid.columns == 0;
    const auto samples_of = [&](int axis) {
      return axis ? Samples{grid.x, grid.bin_width, none ? 0 : grid.columns, g.width, g.corners}
                  : Samples{grid.y, grid.bin_height, none ? 0 : grid.rows, g.height, g.corners};
    };
    const auto entries_at = [&](int axis, int begin, int end) {
      const Offsets to = offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g);
      return Entries{index + to.at, begin, end, weight + to.weight, slope ? slope + to.weight : nullptr,
                     slope ? lever + to.weight : nullptr};
    };
    THREAD_LOOP(axis, 2) {
      lowest[axis] = -(axis ? g.width : g.height);
      highest[axis] = -1;
    }
    BARRIER();
#if defined(__CUDACC__)
    for (int axis = 0; axis < 2; ++axis) {
      const int bins = axis ? pooled_width : pooled_height, room = axis ? g.room_x : g.room_y;
      int* begin = index + offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g).start;
      const auto count = [&](int p) { return entries_of(samples_of(axis), p); };
      const int all = sums_before(scratch, bins, count, [&](int p, int before, int) { begin[p] = min(before, room); });
      THREAD_LOOP(one, 1) begin[bins] = min(all, room);
    }
    BARRIER();
    THREAD_LOOP(t, pooled_height + pooled_width) {
      const int axis = t >= pooled_height, p = axis ? t - pooled_height : t;
      const Offsets to = offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g);
      int low = axis ? g.width : g.height, high = -1;
      const Entries entries = entries_at(axis, index[to.start + p], index[to.start + p + 1]);
      fill_up(entries, enter(samples_of(axis), p, entries, low, high), low, high);
      raise_to(lowest + axis, -low);
      raise_to(highest + axis, high);
    }
#else
    for (int axis = 0; axis < 2; ++axis) {
      const int bins = axis ? pooled_width : pooled_height;
      int *begin = index + offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g).start, count = 0;
      int low = axis ? g.width : g.height, high = -1;
      for (int p = 0; p < bins; ++p) {
        begin[p] = count;
        count = enter(samples_of(axis), p, entries_at(axis, count, axis ? g.room_x : g.room_y), low, high);
      }
      begin[bins] = count;
      lowest[axis] = -low;
      highest[axis] = high;
    }
#endif
    BARRIER();
    THREAD_LOOP(axis, 2) {
      const int low = -lowest[axis], high = highest[axis];
      head[5 * k + 1 + 2 * axis] = min(low, max(high, 0));
      head[5 * k + 2 + 2 * axis] = max(high - low + 1, 0);
      if (axis == 0) {
        head[5 * k] = image;
        inverse[k] = grid.rows > 0 && grid.columns > 0 ? 1 / (Real(grid.rows) * Real(grid.columns)) : Real(0);
      }
    }
    BARRIER();
  }
}

// The bins of an axis that name a pixel: visit(entry) for each entry, bins ascending.
template <class Visit>
DEVICE void visit_entries(const Axis& list, int bins, int pixel, Visit visit) {
  for (int p = 0; p < bins; ++p) {
    const int begin = list.start[p], end = list.start[p + 1];
    if (begin == end || list.at[begin] > pixel || list.at[end - 1] < pixel) continue;  // pixels ascend
    for (int e = begin; e < end; ++e)
      if (list.at[e] == pixel) visit(p, e);
  }
}

// The lists by pixel, from those by bin; on a GPU a thread for each pixel.
KERNEL roi_align_turn(int n, const int* head, const int* index, const Real* weight, int* pixel_index, Real* pixel_weight,
                      ListGeometry g) {
  BLOCK_LOOP(k, n) {
    SHARED int scratch[FLAG_ROOM];
    for (int axis = 0; axis < 2; ++axis) {
      const int bins = axis ? g.pooled_width : g.pooled_height;
      const Axis list = axis_by_bin(k, axis, head, index, weight, g);
      const Offsets to = offsets_of(k, axis, g.height + 1, g.width + 1, g);
      int *begin = pixel_index + to.start, *bin = pixel_index + to.at;
      Real* bin_weight = pixel_weight + to.weight;
#if defined(__CUDACC__)
      const auto count = [&](int i) {
        int found = 0;
        visit_entries(list, bins, list.first + i, [&](int, int) { ++found; });
        return found;
      };
      const int all = sums_before(scratch, list.length, count, [&](int i, int before, int) { begin[i] = before; });
      THREAD_LOOP(one, 1) begin[list.length] = all;
      BARRIER();
      THREAD_LOOP(i, list.length) {
        int place = begin[i];
        visit_entries(list, bins, list.first + i, [&](int p, int e) {
          bin[place] = p;
          bin_weight[place++] = list.weight[e];
        });
      }
#else
      for (int i = 0; i <= list.length; ++i) begin[i] = 0;
      for (int e = 0; e < list.start[bins]; ++e) ++begin[list.at[e] - list.first];
      for (int i = 0, sum = 0; i <= list.length; ++i) {  // where the pixel's entries end
        sum += begin[i];
        begin[i] = sum;
      }
      for (int p = bins - 1; p >= 0; --p)
        for (int e = list.start[p + 1] - 1; e >= list.start[p]; --e) {
          const int place = --begin[list.at[e] - list.first];
          bin[place] = p;
          bin_weight[place] = list.weight[e];
        }
#endif
    }
    BARRIER();
  }
}
