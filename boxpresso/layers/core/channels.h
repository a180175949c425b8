// channels.h: feature maps with the channels last and padded to a multiple of LANES, so that what holds for a pixel (where to
// sample, with what weight) is done once and all its channels follow as vectors.
#pragma once
#include "kernel.h"

#if defined(__CUDACC__)
#define LANES 4  // channels that a thread takes together
#else
#define LANES 16
#endif
#define TILE 16

// maps (planes: B * C, area) to last (B, area, padded), or back when `back`. n: B * ceil(area / TILE) blocks.
// padded is a multiple of TILE; the channels past `channels` become 0. The maps are Store or Real.
template <class Number>
DEVICE void turn_tile(int b, const Number* maps, Real* last, int channels, int padded, int area, int tiles) {
  SHARED Real tile[TILE][TILE + 1];
  const int image = b / tiles, first = (b - image * tiles) * TILE;
  for (int c = 0; c < padded; c += TILE) {
    THREAD_LOOP(t, TILE * TILE) {
      const int row = t / TILE, column = t % TILE;
      const bool inside = c + row < channels && first + column < area;
      tile[row][column] = inside ? Real(maps[(image * channels + c + row) * area + first + column]) : Real(0);
    }
    BARRIER();
    THREAD_LOOP(t, TILE * TILE) {
      const int pixel = first + t / TILE;
      if (pixel < area) last[((long long)image * area + pixel) * padded + c + t % TILE] = tile[t % TILE][t / TILE];
    }
    BARRIER();
  }
}

template <class Number>
DEVICE void turn_tile_back(int b, const Real* last, Number* maps, int channels, int padded, int area, int tiles) {
  SHARED Real tile[TILE][TILE + 1];
  const int image = b / tiles, first = (b - image * tiles) * TILE;
  for (int c = 0; c < padded; c += TILE) {
    THREAD_LOOP(t, TILE * TILE) {
      const int pixel = first + t / TILE;
      tile[t % TILE][t / TILE] = pixel < area ? last[((long long)image * area + pixel) * padded + c + t % TILE] : Real(0);
    }
    BARRIER();
    THREAD_LOOP(t, TILE * TILE) {
      const int row = t / TILE, column = t % TILE;
      if (c + row < channels && first + column < area)
        maps[(image * channels + c + row) * area + first + column] = tile[row][column];
    }
    BARRIER();
  }
}
