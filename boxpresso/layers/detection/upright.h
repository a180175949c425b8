// upright.h: boxes (xmin, ymin, xmax, ymax) in pixels, the last one included, as rcnn.py's Upright has them on the host.
#pragma once
#include "kernel.h"

// numpy's minimum and maximum: NaN stays.
template <class T>
DEVICE T lower(T a, T b) { return a < b || a != a ? a : b; }
template <class T>
DEVICE T higher(T a, T b) { return a > b || a != a ? a : b; }

// The box at four offsets from a box: the centre moves by parts of the size, the size grows by exp. offset k: by[k * plane].
template <class T, class From>
DEVICE void move_box(const T* from, const From* by, long long plane, T* box) {
  for (int k = 0; k < 2; ++k) {
    const T size = from[k + 2] - from[k] + 1, centre = from[k] + T(0.5) * size;
    const T moved = T(by[k * plane]) * size + centre, half = T(0.5) * (exp(T(by[(k + 2) * plane])) * size);
    box[k] = moved - half;
    box[k + 2] = moved + half;
  }
}

// The same from an anchor that lies (x, y) away.
DEVICE void move_anchor(const double* anchor, double x, double y, const Real* by, long long plane, Real* box) {
  Real from[4];
  for (int k = 0; k < 4; ++k) from[k] = Real(anchor[k] + (k % 2 ? y : x));
  move_box(from, by, plane, box);
}
