// separable.h: averages whose weights are a product of one of the row and one of the column, as lists for each axis of each region:
//
//   top[ph][pw] = inverse * (sum over the rows y of bin ph, sum over the columns x of bin pw: weight_y[y] * weight_x[x] * map[y][x])
//
// An operator says which pixels a bin of an axis takes, with which weights: its sampler, in a file of its own (roi_align.cu,
// roi_warping.cu). separable_lists.h makes lists of that; separable.cu and separable_tiles.cu walk them, for all operators alike.
#pragma once
#include "region.h"

// `regions` regions of maps (batch, channels, height, width), cut into pooled_height x pooled_width bins.
struct ListGeometry {
  int regions, batch, channels, height, width, pooled_height, pooled_width;
  int room_y, room_x;  // entries that the lists of a region have room for, on each axis
  Real scale;
};

// One axis of a region, as lists. By bin: entries start[p] to start[p + 1] are the pixels that bin p takes, and with which
// weight. By pixel: those of pixel `first + i` are the bins that it gives to.
struct Axis {
  const int *start, *at;
  const Real* weight;
  int first, length;  // the pixels that are touched lie in [first, first + length)
};

// Where axis 0 (y) or 1 (x) of region k lies in lists of so many starts an axis: index holds (K, starts of both axes), then
// (K, rooms of both) for what the entries are about; weight is (K, rooms).
struct Offsets {
  long long start, at, weight;
};

DEVICE Offsets offsets_of(int k, int axis, int starts_y, int starts_x, const ListGeometry& g) {
  const int starts = starts_y + starts_x;
  const long long entry = (long long)k * (g.room_y + g.room_x) + axis * g.room_y;
  return {(long long)k * starts + axis * starts_y, (long long)g.regions * starts + entry, entry};
}

// How weights change: changes (2, K, rooms) has for each the slope, with the start of the axis, and behind all of them the lever, with
// the size of a bin.
DEVICE long long levers_behind(const ListGeometry& g) { return (long long)g.regions * (g.room_y + g.room_x); }

// An axis by bin and by pixel. head: (K, 5): the image, then first and length of y and of x.
DEVICE Axis axis_of(int k, int axis, const int* head, const int* index, const Real* weight, const Offsets& to) {
  return {index + to.start, index + to.at, weight + to.weight, head[5 * k + 1 + 2 * axis], head[5 * k + 2 + 2 * axis]};
}
DEVICE Axis axis_by_bin(int k, int axis, const int* head, const int* index, const Real* weight, const ListGeometry& g) {
  return axis_of(k, axis, head, index, weight, offsets_of(k, axis, g.pooled_height + 1, g.pooled_width + 1, g));
}
DEVICE Axis axis_by_pixel(int k, int axis, const int* head, const int* index, const Real* weight, const ListGeometry& g) {
  return axis_of(k, axis, head, index, weight, offsets_of(k, axis, g.height + 1, g.width + 1, g));
}
