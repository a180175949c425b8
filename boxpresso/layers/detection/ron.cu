// ron.cu: the boxes and scores of one scale of RON.
#include "upright.h"

// `anchors` at each of height x width places of `images` images, `stride` pixels apart; `classes` with the background.
struct Scale {
  int images, anchors, height, width, classes;
  double stride;
};

// Boxes (images, places * anchors, 4) from offsets (images, 4 anchors, height, width), by row, column and anchor, and scores (images,
// places * anchors, classes): first the objectness, of the second half of objects (images, 2 anchors, height, width), then the chances
// (images, classes, anchors * height, width) of the classes but the background. n counts images, anchors, rows and columns.
KERNEL ron_boxes(int n, const Real* objects, const Real* chances, const Real* offsets, const double* anchors, Real* boxes, Real* scores,
                 Scale of) {
  GRID_LOOP(i, n) {
    const int plane = of.height * of.width, place = i % plane, anchor = i / plane % of.anchors, image = i / plane / of.anchors;
    const long long row = ((long long)image * plane + place) * of.anchors + anchor, part = (long long)of.anchors * plane;
    const Real* by = offsets + 4ll * (image * of.anchors + anchor) * plane + place;
    Real box[4];
    move_anchor(anchors + 4 * anchor, place % of.width * of.stride, place / of.width * of.stride, by, plane, box);
    for (int k = 0; k < 4; ++k) boxes[4 * row + k] = box[k];
    Real* to = scores + of.classes * row;
    to[0] = objects[(2ll * image + 1) * part + (long long)anchor * plane + place];
    const Real* of_class = chances + of.classes * image * part + (long long)anchor * plane + place;
    for (int c = 1; c < of.classes; ++c) to[c] = of_class[c * part];
  }
}
