// proposal_device.cu: Proposal's regions on the device. order.cu lists those of each image, best first, at start[image] and on;
// suppress.cu says which of them stay. Boxes are in pixels, the last one included: a width is xmax - xmin + 1.
#include "kernel.h"

// `anchors` at each of height x width places, `stride` pixels apart; im_info has `info_rows` rows, one for each image or one for all,
// of info_columns numbers: height, width and scale first.
struct Places {
  int anchors, height, width, info_rows, info_columns;
  double stride;
};

// numpy's minimum and maximum: NaN stays.
DEVICE Real lower(Real a, Real b) { return a < b || a != a ? a : b; }
DEVICE Real higher(Real a, Real b) { return a > b || a != a ? a : b; }

// The box of every anchor at every place, by image, row, column, anchor: moved by the offsets (images, 4 anchors, height, width), and
// clipped to the image. values (images, room): its score, of the second half of scores (images, 2 anchors, height, width); NaN for a box with a
// side below min_size times the image's scale.
KERNEL proposal_boxes(int n, const Real* scores, const Real* offsets, const Real* info, const double* anchors, Real* boxes,
                      Real* values, Places at, int room, Real min_size) {
  GRID_LOOP(i, n) {
    const int plane = at.height * at.width, row = i / at.width, x = i - row * at.width, y = row % at.height;
    const int anchor = row / at.height % at.anchors, image = row / at.height / at.anchors, place = y * at.width + x;
    const Real *told = info + (image % at.info_rows) * at.info_columns, *score = scores + 2ll * image * at.anchors * plane;
    const Real* by = offsets + 4ll * (image * at.anchors + anchor) * plane + place;
    Real box[4];
    for (int k = 0; k < 4; ++k) box[k] = Real(anchors[4 * anchor + k] + (k % 2 ? y : x) * at.stride);
    for (int k = 0; k < 2; ++k) {
      const Real size = box[k + 2] - box[k] + 1, centre = box[k] + Real(0.5) * size, most = told[1 - k] - 1;
      const Real moved = by[(long long)k * plane] * size + centre, half = Real(0.5) * (exp(by[(k + 2ll) * plane]) * size);
      box[k] = higher(lower(moved - half, most), Real(0));
      box[k + 2] = higher(lower(moved + half, most), Real(0));
    }
    const int item = place * at.anchors + anchor;
    Real* to = boxes + 4 * ((long long)image * at.anchors * plane + item);
    for (int k = 0; k < 4; ++k) to[k] = box[k];
    const Real least = min_size * told[2];
    const bool large = box[2] - box[0] + 1 >= least && box[3] - box[1] + 1 >= least;
    values[(long long)image * room + item] = large ? score[(long long)(at.anchors + anchor) * plane + place] : Real(NAN);
  }
}

// The boxes (images, items, 4) that are listed, at most `most` of an image.
KERNEL proposal_listed(int n, const Real* boxes, const int* order, const int* start, Real* listed, int items, int most) {
  GRID_LOOP(i, n) {
    const int image = i / most, at = start[image] + i - image * most;
    if (at >= start[image + 1]) continue;
    for (int k = 0; k < 4; ++k) listed[4 * at + k] = boxes[4 * ((long long)image * items + order[at]) + k];
  }
}

// The rows (image, xmin, ymin, xmax, ymax) of those that stay, from out[image] on, at most `each` of an image, and their scores, unless
// that is null. Behind `rows` rows lies how many there are.
KERNEL proposal_rows(int n, const Real* listed, const Real* best, const int* kept, const int* start, const int* out,
                     Real* regions, Real* scores, int each, int images) {
  GRID_LOOP(i, n) {
    if (i == 0) regions[5ll * each * images] = out[images];
    const int image = i / each, k = i - image * each;
    if (k >= out[image + 1] - out[image]) continue;
    const int from = kept[start[image] + k], row = out[image] + k;
    regions[5 * row] = image;
    for (int c = 0; c < 4; ++c) regions[5 * row + 1 + c] = listed[4 * from + c];
    if (scores) scores[row] = best[from];
  }
}
