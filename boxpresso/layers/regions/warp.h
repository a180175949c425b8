// warp.h: where MNC's layers take a bilinear sample of a map.
#pragma once
#include "sample.h"

// One axis of `size` pixels at coordinate c, as neighbours(); but beyond half a pixel outside there is nothing.
DEVICE bool neighbours_within(Real c, int size, int* low, int* high, Real* part) {
  return c >= Real(-0.5) && c <= size - Real(0.5) && neighbours(c, size, low, high, part);
}
