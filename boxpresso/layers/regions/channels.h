// channels.h: feature maps with the channels last and padded to a multiple of LANES, so that what holds for a pixel (where to
// sample, with what weight) is done once and all its channels follow as vectors.
#pragma once
#include "columns.h"

#if defined(__CUDACC__)
#define LANES 4  // channels that a thread takes together
#define PARTS 8  // of the channels, whose products are summed apart: work for so many threads
#else
#define LANES 16
#define PARTS 1
#endif
constexpr int TILE = 16;  // pixels, and channels, that are turned together

// LANES channels: on a GPU 128 bits of floats, in one load; maps with channels last begin at a multiple of that.
#if defined(__CUDACC__)
struct alignas(LANES * sizeof(Real)) Vector {
  Real of[LANES];
};
DEVICE void add_product(Vector& sum, const Vector& a, const Vector& b) {
  for (int i = 0; i < LANES; ++i) sum.of[i] += a.of[i] * b.of[i];
}
DEVICE void add_times(Vector& sum, Real factor, const Vector& value) {
  for (int i = 0; i < LANES; ++i) sum.of[i] += factor * value.of[i];
}
DEVICE Real item_of(const Vector& value, int i) { return value.of[i]; }
#else
typedef Real Vector __attribute__((vector_size(LANES * sizeof(Real)), aligned(sizeof(Real)), may_alias));
DEVICE void add_product(Vector& sum, const Vector& a, const Vector& b) { sum += a * b; }
DEVICE void add_times(Vector& sum, Real factor, const Vector& value) { sum += factor * value; }
DEVICE Real item_of(const Vector& value, int i) { return value[i]; }
#endif
DEVICE Vector vector_at(const Real* last, int number) { return *(const Vector*)(last + (long long)number * LANES); }

DEVICE int padded_of(int channels) { return (channels + TILE - 1) / TILE * TILE; }

// maps (B * C planes of `area`), Store or Real, to last (B, area, padded): the channels past `channels` become 0. Block b does
// a tile of TILE pixels of an image; there are B * ceil(area / TILE).
template <class Number>
DEVICE void turn_tile(int b, const Number* maps, Real* last, int channels, int area) {
  const int tiles = (area + TILE - 1) / TILE, padded = padded_of(channels);
  const int image = b / tiles, first = (b - image * tiles) * TILE, pixels = min(TILE, area - first);
  const Number* from = maps + (long long)image * channels * area + first;
  Real* to = last + ((long long)image * area + first) * padded;
  for (int c = 0; c < channels; c += TILE)
    turn(from + (long long)c * area, area, to + c, padded, min(TILE, channels - c), pixels);
  TILE_LOOP(pixel, c, pixels, padded - channels) to[(long long)pixel * padded + channels + c] = 0;
}

// And back.
template <class Number>
DEVICE void turn_tile_back(int b, const Real* last, Number* maps, int channels, int area) {
  const int tiles = (area + TILE - 1) / TILE, padded = padded_of(channels);
  const int image = b / tiles, first = (b - image * tiles) * TILE, pixels = min(TILE, area - first);
  const Real* from = last + ((long long)image * area + first) * padded;
  Number* to = maps + (long long)image * channels * area + first;
  for (int c = 0; c < channels; c += TILE)
    turn(from + c, padded, to + (long long)c * area, area, pixels, min(TILE, channels - c));
}
