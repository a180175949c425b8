// bins.h: which pixels belong to each bin of each region, as a table of ints that is filled before the bins are read.
//
// A row of the table is a region: where its bins begin and end in y, then in x (ends not included, clipped to the map, neither
// ever decreasing), then how far apart bins are in y and in x that share no pixel.
#pragma once
#include "region.h"
#include "tile.h"

#define FAR Real(1e9)  // pixels: what lies beyond counts as lying here, so that it fits an int

DEVICE Real near_by(Real value) { return min(max(value, -FAR), FAR); }
DEVICE int whole(Real value) { return int(near_by(value)); }

struct Pooled {
  int height, width;  // bins

  constexpr int cells() const { return height * width; }
  constexpr int columns() const { return 2 * (height + width) + 2; }
};

DEVICE Pooled pooled_of(const Geometry& g) { return {g.pooled_height, g.pooled_width}; }

struct Box {
  int top, bottom, left, right;  // top >= bottom or left >= right: empty
};

DEVICE Box box_of(const int* bins, Pooled pooled, int k, int ph, int pw) {
  const int* y = bins + k * pooled.columns();
  const int* x = y + 2 * pooled.height;
  return {y[ph], y[pooled.height + ph], x[pw], x[pooled.width + pw]};
}

// Fills the row of region k by cut(axis, p, &begin, &end), axis 0 for y and 1 for x; all bins are empty unless `valid`.
template <class Cut>
DEVICE void cut_bins(int* bins, Pooled pooled, int k, bool valid, Cut cut) {
  int* y = bins + k * pooled.columns();
  int* x = y + 2 * pooled.height;
  THREAD_LOOP(p, pooled.height + pooled.width) {
    const int axis = p >= pooled.height, q = axis ? p - pooled.height : p;
    int begin = 0, end = 0;
    if (valid) cut(axis, q, &begin, &end);
    (axis ? x : y)[q] = begin;
    (axis ? x + pooled.width : y + pooled.height)[q] = end;
  }
  BARRIER();
  THREAD_LOOP(axis, 2) {
    const int count = axis ? pooled.width : pooled.height;
    const int* begin = axis ? x : y;
    int step = 1;
    for (int p = 0; p + step < count;) begin[count + p] <= begin[p + step] ? ++p : ++step;
    x[2 * pooled.width + axis] = step;
  }
}

// visit(ph, pw, group) for each bin and each of `groups`. Threads visit together bins that lie step_y rows or step_x columns
// apart, which share no pixel: so they may add to them without atomics, in an order that is always the same.
template <class Visit>
DEVICE void visit_apart(Pooled pooled, int step_y, int step_x, int groups, Visit visit) {
  for (int first = 0; first < step_y * step_x; ++first) {
    const int first_y = first / step_x, first_x = first - first_y * step_x;
    const int rows = (pooled.height - first_y + step_y - 1) / step_y, columns = (pooled.width - first_x + step_x - 1) / step_x;
    TILE_LOOP(v, u, rows, columns * groups) visit(first_y + v * step_y, first_x + u / groups * step_x, u % groups);
    BARRIER();
  }
}

template <class Visit>
DEVICE void visit_apart(const int* bins, Pooled pooled, int k, int groups, Visit visit) {
  const int* step = bins + (k + 1) * pooled.columns() - 2;
  visit_apart(pooled, step[0], step[1], groups, visit);
}

// visit(channel, bin) for each of `channels` and each bin of region k that may have pixels in rows top to bottom of the map. A
// visit may add to pixels of its bin, where no two threads meet. A GPU's threads visit together bins that share no pixel; on
// the host there is one, which takes them in the order of the region layer's top, whose last axis is channels or bins.
#if defined(__CUDACC__)
template <class Visit>
DEVICE void visit_adding(const int* bins, Pooled pooled, int k, int channels, int, int, int, Visit visit) {
  visit_apart(bins, pooled, k, channels, [&](int ph, int pw, int c) { visit(c, ph * pooled.width + pw); });
}
#else
template <class Visit>
DEVICE void visit_adding(const int* bins, Pooled pooled, int k, int channels, int channels_last, int top, int bottom,
                         Visit visit) {
  if (channels_last) {
    for (int ph = 0; ph < pooled.height; ++ph) {
      const Box row = box_of(bins, pooled, k, ph, 0);
      if (row.bottom > top && row.top < bottom) TILE_LOOP(pw, c, pooled.width, channels) visit(c, ph * pooled.width + pw);
    }
  } else {
    TILE_LOOP(c, bin, channels, pooled.cells()) visit(c, bin);
  }
}
#endif
