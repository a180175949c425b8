// sample.h: bilinear samples of a feature map, as the align family takes them.
#pragma once
#include "kernel.h"

// One axis of `size` pixels at coordinate c: the pixels below and above, and the part of the upper one. False outside
// [-1, size] and for NaN; between -1 and 0, and from size - 1 on, the value of the border pixel.
DEVICE bool neighbours(Real c, int size, int* low, int* high, Real* part) {
  if (!(c >= -1 && c <= size) || size < 1) return false;
  c = max(c, Real(0));
  *low = min(int(c), size - 1);
  *high = min(*low + 1, size - 1);
  *part = *low == *high ? Real(0) : c - *low;
  return true;
}

// The four pixels and their weights at (y, x) of a map of height x width; false, and nothing written, outside.
DEVICE bool bilinear(Real y, Real x, int height, int width, int* at, Real* weight) {
  int top, bottom, left, right;
  Real down, across;
  if (!neighbours(y, height, &top, &bottom, &down) || !neighbours(x, width, &left, &right, &across)) return false;
  at[0] = top * width + left;
  at[1] = top * width + right;
  at[2] = bottom * width + left;
  at[3] = bottom * width + right;
  weight[0] = (1 - down) * (1 - across);
  weight[1] = (1 - down) * across;
  weight[2] = down * (1 - across);
  weight[3] = down * across;
  return true;
}
