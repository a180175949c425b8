// tile.h: words for kernels, for a small rectangle that the threads of a block share.
//
// TILE_LOOP(y, x, height, width): each cell once. Neighbouring threads take neighbouring x; on the host x is the inner loop.
// AREA_LOOP is the same, and faster on a GPU where the width is not a constant of the text.
#pragma once
#include "kernel.h"

#if defined(__CUDACC__)

// What divides by the same number again and again: by a product and a comparison, where a division takes some 20 instructions.
struct Divisor {
  unsigned size, inverse;
};

DEVICE Divisor divisor_of(unsigned size) { return {size, size ? 0xFFFFFFFFu / size : 0}; }

// i / by.size: the product's upper half is that, or one less.
DEVICE unsigned quotient(unsigned i, const Divisor& by) {
  const unsigned q = unsigned((unsigned long long)i * by.inverse >> 32);
  return i - q * by.size >= by.size ? q + 1 : q;
}

#define TILE_LOOP(y, x, height, width)                    \
  THREAD_LOOP(y##_##x, (height) * (width))                \
    if (const int y = y##_##x / (width); false) {         \
    } else if (const int x = y##_##x - y * (width); false) { \
    } else
#define AREA_LOOP(y, x, height, width)                              \
  if (const Divisor y##_by = divisor_of(width); false) {            \
  } else THREAD_LOOP(y##_##x, (height) * int(y##_by.size))          \
    if (const int y = int(quotient(y##_##x, y##_by)); false) {      \
    } else if (const int x = y##_##x - y * int(y##_by.size); false) { \
    } else
#else
#define TILE_LOOP(y, x, height, width) \
  for (int y = 0; y < (height); ++y)   \
    for (int x = 0; x < (width); ++x)
#define AREA_LOOP TILE_LOOP
#endif
