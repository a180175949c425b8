// proposal_choice.cu: Proposal's regions on the device. order.cu lists those of each image, best first, at start[image] and on;
// suppress.cu says which of them stay. Upright boxes (xmin, ymin, xmax, ymax) are in pixels, the last one included: a width is
// xmax - xmin + 1. Rotated ones are (centre x, centre y, height, width, degrees).
#include "upright.h"

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

// The score of a box, of the second half of scores (images, 2 anchors, height, width), or NaN: where it goes in values (images, room).
DEVICE void put_value(const Real* scores, Real* values, Places at, int room, Item it, bool large) {
  const int plane = at.height * at.width;
  const Real* mine = scores + (2ll * it.image + 1) * at.anchors * plane;
  const long long before = it.box - (long long)it.image * at.items;
  values[(long long)it.image * room + before] = large ? mine[(long long)it.anchor * plane + it.place] : Real(NAN);
}

// The box of every anchor at every place: moved by the offsets (images, 4 anchors, height, width), and clipped to the image. values
// (images, room): its score; NaN for a box with a side below min_size times the image's scale. With `whole` sides are measured before
// the box is clipped, without its last pixel, and it may end at the image's side.
KERNEL proposal_boxes(int n, const Real* scores, const Real* offsets, const Real* info, const double* anchors, Real* boxes,
                      Real* values, Places at, int room, Real min_size, int whole) {
  GRID_LOOP(i, n) {
    const Item it = item_of(i, at);
    const int plane = at.height * at.width;
    const Real* told = info + (it.image % at.info_rows) * at.info_columns;
    const Real* by = offsets + 4ll * (it.image * at.anchors + it.anchor) * plane + it.place;
    Real box[4];
    move_anchor(anchors + 4 * it.anchor, it.x * at.stride, it.y * at.stride, by, plane, box);
    const Real last = whole ? 0 : 1, wide = box[2] - box[0], tall = box[3] - box[1];
    for (int k = 0; k < 4; ++k) box[k] = higher(lower(box[k], told[1 - k % 2] - last), Real(0));
    for (int k = 0; k < 4; ++k) boxes[4 * it.box + k] = box[k];
    const Real least = min_size * told[2];
    const bool large = whole ? wide >= least && tall >= least : box[2] - box[0] + 1 >= least && box[3] - box[1] + 1 >= least;
    put_value(scores, values, at, room, it, large);
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

// The numbers of the boxes of one image that stay, all that are listed where kept is null: to `taken`, and as Real to numbers, or null.
KERNEL proposal_numbers(int n, const int* order, const int* kept, const int* out, int* taken, Real* numbers) {
  GRID_LOOP(i, n) {
    if (i >= out[1]) continue;
    taken[i] = order[kept ? kept[i] : i];
    if (numbers) numbers[i] = taken[i];
  }
}
