// overlaps.cu: how much polygons, and rotated boxes, overlap, pair by pair.
#include "rotated.h"

// Twice the area of the triangle (0, 0), (x0, y0), (x1, y1): positive where it turns from x to y.
DEVICE Real twice_area(Real x0, Real y0, Real x1, Real y1) { return x0 * y1 - x1 * y0; }

DEVICE Real area_of(const Polygon& p) {
  Real twice = 0;
  for (int k = 0; k < p.count; ++k) {
    const int next = k + 1 == p.count ? 0 : k + 1;
    twice += twice_area(p.x[k] - p.x[0], p.y[k] - p.y[0], p.x[next] - p.x[0], p.y[next] - p.y[0]);
  }
  return twice / 2;
}

// Triangle k of the fan from the first corner of a polygon of (x, y), relative to (x0, y0), turning from x to y; its sign as the
// polygon's corners turn, 0 for one without an area.
DEVICE int fan(const Real* polygon, int k, Real x0, Real y0, Polygon* out) {
  const int corner[3] = {0, k + 1, k + 2};
  out->count = 3;
  for (int i = 0; i < 3; ++i) {
    out->x[i] = polygon[2 * corner[i]] - x0;
    out->y[i] = polygon[2 * corner[i] + 1] - y0;
  }
  const Real area = area_of(*out);
  if (area < 0) {
    const Real x = out->x[1], y = out->y[1];
    out->x[1] = out->x[2];
    out->y[1] = out->y[2];
    out->x[2] = x;
    out->y[2] = y;
  }
  return area > 0 ? 1 : area < 0 ? -1 : 0;
}

// The part that two simple polygons share, convex or not: the sum over the triangles of their fans, with their signs.
DEVICE Real shared_area(const Real* a, int corners_a, const Real* b, int corners_b) {
  Real sum = 0;
  for (int i = 0; i < corners_a - 2; ++i) {
    Polygon first;
    const int sign = fan(a, i, a[0], a[1], &first);
    for (int j = 0; sign && j < corners_b - 2; ++j) {
      Polygon second, whole = first, half;
      const int other = fan(b, j, a[0], a[1], &second);
      if (!other) continue;
      for (int k = 0; k < 3; ++k) {
        const int next = k == 2 ? 0 : k + 1;
        cut(&whole, second.x[k], second.y[k], second.x[next], second.y[next], &half);
        whole = half;
      }
      sum += sign * other * max(area_of(whole), Real(0));
    }
  }
  return abs(sum);
}

DEVICE Real polygon_area(const Real* p, int corners) {
  Real twice = 0;
  for (int k = 1; k < corners - 1; ++k)
    twice += twice_area(p[2 * k] - p[0], p[2 * k + 1] - p[1], p[2 * k + 2] - p[0], p[2 * k + 3] - p[1]);
  return abs(twice) / 2;
}

// Of two areas and what they share: intersection over union, or over the first (`foreground`); 0 where one has none, or NaN.
DEVICE Real ratio(Real shared, Real a, Real b, int foreground) {
  if (!(a > 0 && b > 0 && a + b <= REAL_MAX) || !(shared >= 0)) return 0;
  shared = min(shared, min(a, b));
  return shared / (foreground ? a : a + b - shared);
}

// overlap[i] of polygons (x, y of each corner) a[i / columns] and b[i % columns], or a[i] and b[i] where columns is 0.
KERNEL polygon_overlaps(int n, const Real* a, const Real* b, Real* overlap, int columns, int corners_a, int corners_b,
                        int foreground) {
  GRID_LOOP(i, n) {
    const Real* one = a + 2 * (long long)corners_a * (columns ? i / columns : i);
    const Real* other = b + 2 * (long long)corners_b * (columns ? i % columns : i);
    const Real areas[2] = {polygon_area(one, corners_a), polygon_area(other, corners_b)};
    const bool some = areas[0] > 0 && areas[1] > 0;
    overlap[i] = ratio(some ? shared_area(one, corners_a, other, corners_b) : Real(0), areas[0], areas[1], foreground);
  }
}

// The same of rotated boxes (centre x, centre y, width, height, angle in radians).
KERNEL box_overlaps(int n, const Real* a, const Real* b, Real* overlap, int columns, int foreground) {
  GRID_LOOP(i, n) {
    const Real* one = a + 5 * (long long)(columns ? i / columns : i);
    const Real* other = b + 5 * (long long)(columns ? i % columns : i);
    const Real area = one[2] * one[3], both = area + other[2] * other[3], part = rotated_overlap(one, other);
    overlap[i] = part > 0 ? (foreground ? part / (1 + part) * both / area : part) : Real(0);
  }
}
