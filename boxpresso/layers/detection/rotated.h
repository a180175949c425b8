// rotated.h: how much two rotated boxes overlap. A box is (centre x, centre y, width, height, angle in radians). Which way
// the angle turns matters where centres differ: see corners().
#pragma once
#include "kernel.h"

struct Polygon {  // convex; two rectangles share one of 8 corners at most
  Real x[16], y[16];
  int count;
};

DEVICE void corners(const Real* box, Real x0, Real y0, Polygon* out) {
  const Real c = cos(box[4]) / 2, s = sin(box[4]) / 2, cx = box[0] - x0, cy = box[1] - y0;
  const Real wx = box[2] * c, wy = box[2] * s, hx = -box[3] * s, hy = box[3] * c;
  const Real sign_w[4] = {-1, 1, 1, -1}, sign_h[4] = {-1, -1, 1, 1};
  for (int k = 0; k < 4; ++k) {
    out->x[k] = cx + sign_w[k] * wx + sign_h[k] * hx;
    out->y[k] = cy + sign_w[k] * wy + sign_h[k] * hy;
  }
  out->count = 4;
}

// What of `in` lies left of the line from (x0, y0) to (x1, y1).
DEVICE void cut(const Polygon* in, Real x0, Real y0, Real x1, Real y1, Polygon* out) {
  out->count = 0;
  for (int k = 0; k < in->count; ++k) {
    const int next = k + 1 == in->count ? 0 : k + 1;
    const Real a = (x1 - x0) * (in->y[k] - y0) - (y1 - y0) * (in->x[k] - x0);
    const Real b = (x1 - x0) * (in->y[next] - y0) - (y1 - y0) * (in->x[next] - x0);
    if (a >= 0 && out->count < 16) {
      out->x[out->count] = in->x[k];
      out->y[out->count++] = in->y[k];
    }
    if ((a > 0 && b < 0) || (a < 0 && b > 0)) {
      const Real part = a / (a - b);
      if (out->count < 16) {
        out->x[out->count] = in->x[k] + part * (in->x[next] - in->x[k]);
        out->y[out->count++] = in->y[k] + part * (in->y[next] - in->y[k]);
      }
    }
  }
}

// Intersection over union, from 0 to 1; 0 for a box without area or with NaN.
DEVICE Real rotated_overlap(const Real* a, const Real* b) {
  const Real area_a = a[2] * a[3], area_b = b[2] * b[3];
  if (!(a[2] > 0 && a[3] > 0 && b[2] > 0 && b[3] > 0)) return 0;
  const Real dx = a[0] - b[0], dy = a[1] - b[1];
  const Real reach = sqrt(a[2] * a[2] + a[3] * a[3]) + sqrt(b[2] * b[2] + b[3] * b[3]);  // twice the sum of the radii
  if (!(4 * (dx * dx + dy * dy) < reach * reach)) return 0;
  Polygon whole, other, half;
  corners(a, a[0], a[1], &whole);  // relative to one centre: far from the origin no digits are lost
  corners(b, a[0], a[1], &other);
  for (int k = 0; k < 4; ++k) {
    const int next = (k + 1) % 4;
    cut(&whole, other.x[k], other.y[k], other.x[next], other.y[next], &half);
    whole = half;
  }
  Real twice = 0;
  for (int k = 0; k < whole.count; ++k) {
    const int next = k + 1 == whole.count ? 0 : k + 1;
    twice += whole.x[k] * whole.y[next] - whole.x[next] * whole.y[k];
  }
  const Real shared = max(twice / 2, Real(0));
  return shared / (area_a + area_b - shared);
}
