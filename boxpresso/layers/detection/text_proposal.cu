// text_proposal.cu: the boxes of CTPN at all places.
#include "kernel.h"

struct Texts {
  int anchors, height, width;
  double stride;
};

// numpy's minimum and maximum: NaN stays.
DEVICE double inside(double x, double most) {
  const double low = x < most || x != x ? x : most;
  return low > 0 || low != low ? low : 0.0;
}

// The box of each anchor (xmin, ymin, xmax, ymax) at each place, by row, column and anchor, with its centre and height moved by the
// offsets (2 anchors, height, width), clipped to the image of info: height, width; and its score, of the second half of scores (2
// anchors, height, width).
KERNEL text_boxes(int n, const Real* scores, const Real* offsets, const Real* info, const double* anchors, Real* boxes, Real* chances,
                  Texts at) {
  GRID_LOOP(i, n) {
    const int plane = at.height * at.width, place = i / at.anchors, anchor = i - place * at.anchors;
    const double y = place / at.width * at.stride, x = place % at.width * at.stride;
    const double* own = anchors + 4 * anchor;
    const double tall = own[3] + y - (own[1] + y) + 1, centre = (own[1] + y + (own[3] + y)) / 2;
    const double size = exp(double(offsets[(2ll * anchor + 1) * plane + place])) * tall;
    const double first = offsets[2ll * anchor * plane + place] * tall + centre - size / 2;
    const double wide = Real(info[1] - 1), high = Real(info[0] - 1);
    boxes[4ll * i] = Real(inside(own[0] + x, wide));
    boxes[4ll * i + 1] = Real(inside(first, high));
    boxes[4ll * i + 2] = Real(inside(own[2] + x, wide));
    boxes[4ll * i + 3] = Real(inside(first + size, high));
    chances[i] = scores[(long long)(at.anchors + anchor) * plane + place];
  }
}
