// multi_roi_pooling.cu: windows of one size about points, one top for each point of an image, cut out and not pooled.
#include "kernel.h"

struct Windows {
  int channels, height, width, high, wide, points;
  Real scale;
};

// Hands visit each element of the windows about point `which` that lies in the map: where it is in the top and in the map. The
// half of a window is rounded down, what the window starts at to the nearest, halves away from 0; NaN and infinity are nowhere.
template <class Visit> DEVICE void each_inside(int n, const Real* points, int which, Windows w, Visit visit) {
  GRID_LOOP(i, n) {
    const int column = i % w.wide, row = i / w.wide % w.high, plane = i / (w.wide * w.high);
    const Real* point = points + (plane / w.channels * w.points + which) * 2;
    const Real x = round(point[0] * w.scale - w.wide / 2) + column, y = round(point[1] * w.scale - w.high / 2) + row;
    const bool inside = x >= 0 && x < w.width && y >= 0 && y < w.height;
    visit(i, inside ? (plane * w.height + int(y)) * w.width + int(x) : -1);
  }
}

KERNEL multi_roi_forward(int n, const Real* map, const Real* points, Real* top, int which, Windows w) {
  each_inside(n, points, which, w, [&](int i, int at) { top[i] = at < 0 ? Real(0) : map[at]; });
}

// No two elements of a window lie at one place of the map; windows of other points add theirs in passes of their own.
KERNEL multi_roi_backward(int n, const Real* top_diff, const Real* points, Real* diff, int which, Windows w) {
  each_inside(n, points, which, w, [&](int i, int at) {
    if (at >= 0) diff[at] += top_diff[i];
  });
}
