// order.h: sizes and searches of order.cu, and of kernels that read the lists that it makes.
#pragma once
#include "kernel.h"

constexpr int TILE = 512;   // items that a block sorts
constexpr int SHARES = 256;  // parts of a sum that one block adds up

// How many of the first `size` values at(0), at(1), ... of a falling list are above `value`; with `equal`, or equal to it.
template <class At>
DEVICE int count_above(int size, Real value, bool equal, At at) {
  int from = 0, to = size;
  while (from < to) {
    const int middle = (from + to) / 2;
    const Real seen = at(middle);
    if (equal ? seen >= value : seen > value) from = middle + 1;
    else to = middle;
  }
  return from;
}
