// suppress.cu: greedy suppression of boxes that overlap a better one. Group g of boxes, best first, is boxes[start[g]] to
// boxes[start[g + 1]]; kept: the indices of those that stay, in order and at most `limit`, then -1.
#include "rotated.h"

// Boxes (xmin, ymin, xmax, ymax), a width being xmax - xmin + last: 1 in whole pixels, as Fast R-CNN has them, where the last
// pixel belongs to the box, and 0 for plain coordinates. A box goes when it overlaps one that stays by the threshold or more.
// room: 5 numbers for each box: the corners and areas of those that stay lie one kind after another, so that a vector of them
// is tried at once.
KERNEL suppress_pixels(int n, const Real* boxes, const int* start, Real* room, int* kept, int limit, Real last,
                       Real threshold) {
  BLOCK_LOOP(g, n) {
    SHARED int found, clash;
    const int first = start[g], size = start[g + 1] - first;
    int* mine = kept + first;
    Real* x0 = room + 5 * first;
    Real *y0 = x0 + size, *x1 = y0 + size, *y1 = x1 + size, *areas = y1 + size;
    THREAD_LOOP(k, size) mine[k] = -1;
    THREAD_LOOP(t, 1) found = clash = 0;
    BARRIER();
    for (int i = 0; i < size && found < limit; ++i) {
      const Real* box = boxes + 4 * (first + i);
      const Real left = box[0], top = box[1], right = box[2], bottom = box[3];
      const Real area = (right - left + last) * (bottom - top + last);
      int hit = 0;
      THREAD_LOOP(k, found) {
        const Real width = max(Real(0), min(right, x1[k]) - max(left, x0[k]) + last);
        const Real height = max(Real(0), min(bottom, y1[k]) - max(top, y0[k]) + last);
        const Real shared = width * height;
        hit |= shared / (areas[k] + area - shared) >= threshold;
      }
      if (hit) raise_to(&clash, 1);
      BARRIER();
      THREAD_LOOP(t, 1) {
        if (!clash) {
          x0[found] = left;
          y0[found] = top;
          x1[found] = right;
          y1[found] = bottom;
          areas[found] = area;
          mine[found++] = first + i;
        }
        clash = 0;
      }
      BARRIER();
    }
  }
}

// The same for rotated boxes (centre x, centre y, width, height, angle in radians); one goes when it overlaps one that stays
// by more than the threshold.
KERNEL suppress_rotated(int n, const Real* boxes, const int* start, int* kept, int limit, double threshold) {
  BLOCK_LOOP(g, n) {
    SHARED int found, clash;
    const int first = start[g], size = start[g + 1] - first;
    int* mine = kept + first;
    THREAD_LOOP(k, size) mine[k] = -1;
    THREAD_LOOP(t, 1) found = clash = 0;
    BARRIER();
    for (int i = 0; i < size && found < limit; ++i) {
      THREAD_LOOP(k, found)
        if (rotated_overlap(boxes + 5 * mine[k], boxes + 5 * (first + i)) > threshold) raise_to(&clash, 1);
      BARRIER();
      THREAD_LOOP(t, 1) {
        if (!clash) mine[found++] = first + i;
        clash = 0;
      }
      BARRIER();
    }
  }
}

// overlap[i] of the rotated boxes a[i / columns] and b[i % columns].
KERNEL rotated_overlaps(int n, const Real* a, const Real* b, Real* overlap, int columns) {
  GRID_LOOP(i, n) overlap[i] = rotated_overlap(a + 5 * (i / columns), b + 5 * (i % columns));
}
