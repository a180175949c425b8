// tile.h: one more word for kernels, for a small rectangle that the threads of a block share.
#pragma once
#include "kernel.h"

// TILE_LOOP(y, x, height, width): each cell once. Neighbouring threads take neighbouring x; on the host x is the inner loop.
#if defined(__CUDACC__)
#define TILE_LOOP(y, x, height, width)                    \
  THREAD_LOOP(y##_##x, (height) * (width))                \
    if (const int y = y##_##x / (width); false) {         \
    } else if (const int x = y##_##x - y * (width); false) { \
    } else
#else
#define TILE_LOOP(y, x, height, width) \
  for (int y = 0; y < (height); ++y)   \
    for (int x = 0; x < (width); ++x)
#endif
