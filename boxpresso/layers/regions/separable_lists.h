// separable_lists.h: the lists by bin of separable.h, from an operator's sampler, and its regions' gradient from four sums.
//
// A sampler is one axis of a region: a struct, and visit_pixels(sampler, p, take), which calls take(pixel, weight, change) for what
// bin p takes, no pixel more than one before the largest until then. change() is a Change.
#pragma once
#include "ranks.h"
#include "separable.h"

// How a weight changes with the start of the axis, and with the size of a bin.
struct Change {
  Real slope, lever;
};

// What list_region() writes, of all regions; changes: whether slopes and levers, too.
struct Lists {
  int* head;
  Real* inverse;
  int* index;
  Real* weight;
  int changes;
};

// Where a bin's entries go: from number `begin` on, before `end`.
struct Entries {
  int *at, begin, end;
  Real *weight, *slope, *lever;
};

// Enters the pixels of bin p; the place behind its last entry. A pixel is entered once for a bin, and once more with weight 0 if
// it is taken so: 0 * infinity is NaN there, as in the sum of single samples. low and high: the pixels taken until now.
template <class Sampler>
DEVICE int enter(const Sampler& axis, int p, const Entries& to, int& low, int& high) {
  int count = to.begin;
  visit_pixels(axis, p, [&](int pixel, Real w, auto change) {
    low = min(low, pixel);
    high = max(high, pixel);
    int e = count - 1;
    while (e >= to.begin && (to.at[e] > pixel || (to.at[e] == pixel && (to.weight[e] != 0) != (w != 0)))) --e;
    if (e < to.begin || to.at[e] != pixel) {
      if (count == to.end) return;  // only where rounding of 1e7 and more folds the bins onto each other
      e = count++;
      to.at[e] = pixel;
      to.weight[e] = 0;
      if (to.slope) to.slope[e] = to.lever[e] = 0;
    }
    to.weight[e] += w;
    if (to.slope) {
      const Change changes = change();
      to.slope[e] += changes.slope;
      to.lever[e] += changes.lever;
    }
  });
  return count;
}

// How many entries bin p makes: it is enough to know how the last two pixels have been entered, 1 with a weight, 2 without one, and
// 4 and 8 the pixel behind.
template <class Sampler>
DEVICE int entries_of(const Sampler& axis, int p) {
  int count = 0, last = -2, seen = 0;
  visit_pixels(axis, p, [&](int pixel, Real w, auto) {
    const int step = pixel - last - 1;
    if (step > 0) seen = step == 1 ? seen >> 2 : 0, last += step;
    const int bit = (w != 0 ? 1 : 2) << 2 * (pixel - last);
    count += (seen & bit) == 0;
    seen |= bit;
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

// The lists of region k, all threads of a block, and on a GPU a thread for each bin; sampler(axis): that of y (0) and of x (1). image:
// -1 for a region that contributes nothing; share: what the sum of a bin is multiplied by.
template <class SamplerOf>
DEVICE void list_region(int k, int image, Real share, const Lists& lists, const ListGeometry& g, SamplerOf sampler) {
  SHARED int lowest[2], highest[2];  // lowest: negative, so that the largest is looked for
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  const auto entries_at = [&](int axis, int begin, int end) {
    const Offsets to = offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g);
    Real *of = lists.weight + to.weight, *slope = lists.changes ? of + changes_behind(g) : nullptr;
    return Entries{lists.index + to.at, begin, end, of, slope, slope ? slope + changes_behind(g) : nullptr};
  };
  THREAD_LOOP(axis, 2) {
    lowest[axis] = -(axis ? g.width : g.height);
    highest[axis] = -1;
  }
  BARRIER();
#if defined(__CUDACC__)
  SHARED int scratch[FLAG_ROOM];
  for (int axis = 0; axis < 2; ++axis) {
    const int bins = axis ? pooled_width : pooled_height, room = axis ? g.room_x : g.room_y;
    int* begin = lists.index + offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g).start;
    const auto count = [&](int p) { return entries_of(sampler(axis), p); };
    const int all = sums_before(scratch, bins, count, [&](int p, int before, int) { begin[p] = min(before, room); });
    THREAD_LOOP(one, 1) begin[bins] = min(all, room);
  }
  BARRIER();
  THREAD_LOOP(t, pooled_height + pooled_width) {
    const int axis = t >= pooled_height, p = axis ? t - pooled_height : t;
    const Offsets to = offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g);
    int low = axis ? g.width : g.height, high = -1;
    const Entries entries = entries_at(axis, lists.index[to.start + p], lists.index[to.start + p + 1]);
    fill_up(entries, enter(sampler(axis), p, entries, low, high), low, high);
    raise_to(lowest + axis, -low);
    raise_to(highest + axis, high);
  }
#else
  for (int axis = 0; axis < 2; ++axis) {
    const int bins = axis ? pooled_width : pooled_height;
    int *begin = lists.index + offsets_of(k, axis, pooled_height + 1, pooled_width + 1, g).start, count = 0;
    int low = axis ? g.width : g.height, high = -1;
    for (int p = 0; p < bins; ++p) {
      begin[p] = count;
      count = enter(sampler(axis), p, entries_at(axis, count, axis ? g.room_x : g.room_y), low, high);
    }
    begin[bins] = count;
    lowest[axis] = -low;
    highest[axis] = high;
  }
#endif
  BARRIER();
  THREAD_LOOP(axis, 2) {
    const int low = -lowest[axis], high = highest[axis];
    lists.head[5 * k + 1 + 2 * axis] = min(low, max(high, 0));
    lists.head[5 * k + 2 + 2 * axis] = max(high - low + 1, 0);
    if (axis == 0) {
      lists.head[5 * k] = image;
      lists.inverse[k] = share;
    }
  }
  BARRIER();
}

// The sums of separable_moves() for region k from `count` parts of them, (count, K, 4): how the value changes with where y starts, with
// the height of a bin, with where x starts, and with the width of a bin.
DEVICE void sum_parts(int k, const Real* parts, int count, Real* sum, const ListGeometry& g) {
  for (int t = 0; t < 4; ++t) sum[t] = 0;
  for (int part = 0; part < count; ++part)
    for (int t = 0; t < 4; ++t) sum[t] += parts[4 * ((long long)part * g.regions + k) + t];
}

// The gradient of (batch index, x1, y1, x2, y2) of region k from those, where an axis starts at scale * x1 and its bins share
// scale * (x2 - x1); held(axis): whether that size is held at a number, 0 for x.
template <class Held>
DEVICE void corners_from(int k, const Real* parts, int count, Store* diff, const ListGeometry& g, Held held) {
  Real sum[4];
  sum_parts(k, parts, count, sum, g);
  Store* out = diff + 5 * (long long)k;
  out[0] = Real(0);
  for (int axis = 0; axis < 2; ++axis) {
    const Real end = held(axis) ? Real(0) : sum[3 - 2 * axis] / (axis ? g.pooled_height : g.pooled_width);
    out[1 + axis] = g.scale * (sum[2 - 2 * axis] - end);
    out[3 + axis] = g.scale * end;
  }
}
