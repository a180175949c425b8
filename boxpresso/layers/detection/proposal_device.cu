// proposal_device.cu: Proposal's regions on the device. order.cu lists those of each image, best first, at start[image] and on;
// suppress.cu says which of them stay. Upright boxes (xmin, ymin, xmax, ymax) are in pixels, the last one included: a width is
// xmax - xmin + 1. Rotated ones are (centre x, centre y, height, width, degrees).
#include "kernel.h"

// `anchors` at each of height x width places, `stride` pixels apart; im_info has `info_rows` rows, one for each image or one for all,
// of info_columns numbers: height, width and scale first. They are the boxes of an image from its box `first` on, of `items` in all: a
// feature pyramid has several such levels.
struct Places {
  int anchors, height, width, info_rows, info_columns, first, items;
  double stride;
};

// Box i, counted by image, row, column and anchor.
struct Item {
  int image, anchor, x, y, place;  // place: in a plane of scores
  long long box;                   // its number among the boxes of all levels and images
};

DEVICE Item item_of(int i, Places at) {
  Item it;
  const int row = i / at.width;
  it.x = i - row * at.width;
  it.y = row % at.height;
  it.anchor = row / at.height % at.anchors;
  it.image = row / at.height / at.anchors;
  it.place = it.y * at.width + it.x;
  it.box = (long long)it.image * at.items + at.first + it.place * at.anchors + it.anchor;
  return it;
}

// numpy's minimum and maximum: NaN stays.
DEVICE Real lower(Real a, Real b) { return a < b || a != a ? a : b; }
DEVICE Real higher(Real a, Real b) { return a > b || a != a ? a : b; }

// The score of a box, of the second half of scores (images, 2 anchors, height, width), or NaN: where it goes in values (images, room).
DEVICE void put_value(const Real* scores, Real* values, Places at, int room, Item it, bool large) {
  const int plane = at.height * at.width;
  const Real* mine = scores + (2ll * it.image + 1) * at.anchors * plane;
  const long long before = it.box - (long long)it.image * at.items;
  values[(long long)it.image * room + before] = large ? mine[(long long)it.anchor * plane + it.place] : Real(NAN);
}

// The box of every anchor at every place: moved by the offsets (images, 4 anchors, height, width), and clipped to the image. values
// (images, room): its score; NaN for a box with a side below min_size times the image's scale.
KERNEL proposal_boxes(int n, const Real* scores, const Real* offsets, const Real* info, const double* anchors, Real* boxes,
                      Real* values, Places at, int room, Real min_size) {
  GRID_LOOP(i, n) {
    const Item it = item_of(i, at);
    const int plane = at.height * at.width;
    const Real* told = info + (it.image % at.info_rows) * at.info_columns;
    const Real* by = offsets + 4ll * (it.image * at.anchors + it.anchor) * plane + it.place;
    Real box[4];
    for (int k = 0; k < 4; ++k) box[k] = Real(anchors[4 * it.anchor + k] + (k % 2 ? it.y : it.x) * at.stride);
    for (int k = 0; k < 2; ++k) {
      const Real size = box[k + 2] - box[k] + 1, centre = box[k] + Real(0.5) * size, most = told[1 - k] - 1;
      const Real moved = by[(long long)k * plane] * size + centre, half = Real(0.5) * (exp(by[(k + 2ll) * plane]) * size);
      box[k] = higher(lower(moved - half, most), Real(0));
      box[k + 2] = higher(lower(moved + half, most), Real(0));
    }
    for (int k = 0; k < 4; ++k) boxes[4 * it.box + k] = box[k];
    const Real least = min_size * told[2];
    put_value(scores, values, at, room, it, box[2] - box[0] + 1 >= least && box[3] - box[1] + 1 >= least);
  }
}

// The same of rotated boxes, with offsets (images, 5 anchors, height, width): x, y, width, height, radians. Angles end from -45 to 135.
KERNEL proposal_rotated(int n, const Real* scores, const Real* offsets, const Real* info, const double* anchors, Real* boxes,
                        Real* values, Places at, int room, Real min_size) {
  GRID_LOOP(i, n) {
    const Item it = item_of(i, at);
    const long long plane = at.height * at.width;
    const Real* told = info + (it.image % at.info_rows) * at.info_columns;
    const Real* by = offsets + 5ll * (it.image * at.anchors + it.anchor) * plane + it.place;
    const double* anchor = anchors + 5 * it.anchor;
    const Real height = Real(anchor[2]), width = Real(anchor[3]);
    Real angle = by[4 * plane] * Real(57.29577951308232) + Real(anchor[4]);
    if (angle < -45) angle += 180;
    if (angle > 135) angle -= 180;
    Real* to = boxes + 5 * it.box;
    to[0] = by[0] * width + Real(anchor[0] + it.x * at.stride);
    to[1] = by[plane] * height + Real(anchor[1] + it.y * at.stride);
    const Real tall = exp(by[3 * plane]) * height, wide = exp(by[2 * plane]) * width, least = min_size * told[2];
    to[2] = tall;
    to[3] = wide;
    to[4] = angle;
    put_value(scores, values, at, room, it, tall >= least && wide >= least);
  }
}

// The boxes (images, items, columns) that are listed, at most `most` of an image. turned, or null: the same as suppress.cu has
// rotated ones: (centre x, centre y, width, height, radians).
KERNEL proposal_listed(int n, const Real* boxes, const int* order, const int* start, Real* listed, Real* turned, int items, int most,
                       int columns) {
  GRID_LOOP(i, n) {
    const int image = i / most, at = start[image] + i - image * most;
    if (at >= start[image + 1]) continue;
    const Real* box = boxes + columns * ((long long)image * items + order[at]);
    for (int k = 0; k < columns; ++k) listed[columns * at + k] = box[k];
    if (!turned) continue;
    Real* to = turned + 5 * at;
    to[0] = box[0];
    to[1] = box[1];
    to[2] = box[3];
    to[3] = box[2];
    to[4] = box[4] * Real(0.017453292519943295);
  }
}

// The rows (image, box) of those that stay, all that are listed where kept is null, from out[image] on, at most `each` of an image, and
// their scores, unless that is null.
// Behind `each` rows of every image lies how many there are.
KERNEL proposal_rows(int n, const Real* listed, const Real* best, const int* kept, const int* start, const int* out,
                     Real* regions, Real* scores, int each, int images, int columns) {
  GRID_LOOP(i, n) {
    if (i == 0) regions[(long long)(columns + 1) * each * images] = out[images];
    const int image = i / each, k = i - image * each;
    if (k >= out[image + 1] - out[image]) continue;
    const int at = start[image] + k, from = kept ? kept[at] : at, row = out[image] + k;
    Real* to = regions + (columns + 1) * row;
    to[0] = image;
    for (int c = 0; c < columns; ++c) to[1 + c] = listed[columns * from + c];
    if (scores) scores[row] = best[from];
  }
}
