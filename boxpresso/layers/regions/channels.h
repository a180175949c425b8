// channels.h: feature maps with the channels last and padded to a multiple of LANES, so that what holds for a pixel (where to
// sample, with what weight) is done once and all its channels follow as vectors.
#pragma once
#include "tile.h"

#if defined(__CUDACC__)
#define LANES 4  // channels that a thread takes together
#define PARTS 8  // of the channels, whose products are summed apart: work for so many threads
#else
#define LANES 16
#define PARTS 1
#endif
constexpr int TILE = 16;

DEVICE int padded_of(int channels) { return (channels + TILE - 1) / TILE * TILE; }

// A square of numbers, from source[row * far + column] to target[column * wide + row]: what lies past `rows` becomes 0, what
// lies past `columns` is left alone. Both are TILE nearly always, and then known to the compiler.
template <class From, class To>
DEVICE void turn_square(const From* source, long long far, To* target, long long wide, int rows, int columns) {
  SHARED Real tile[TILE][TILE + 1];
  const bool whole = rows == TILE && columns == TILE;
  if (whole) {
    TILE_LOOP(row, column, TILE, TILE) tile[row][column] = Real(source[row * far + column]);
  } else {
    TILE_LOOP(row, column, TILE, columns) tile[row][column] = row < rows ? Real(source[row * far + column]) : Real(0);
  }
  BARRIER();
  if (whole) {
    TILE_LOOP(column, row, TILE, TILE) target[column * wide + row] = tile[row][column];
  } else {
    TILE_LOOP(column, row, columns, TILE) target[column * wide + row] = tile[row][column];
  }
  BARRIER();
}

// maps (B * C planes of `area`), Store or Real, to last (B, area, padded): the channels past `channels` become 0. Block b does
// a tile of TILE pixels of an image; there are B * ceil(area / TILE).
template <class Number>
DEVICE void turn_tile(int b, const Number* maps, Real* last, int channels, int area) {
  const int tiles = (area + TILE - 1) / TILE, padded = padded_of(channels);
  const int image = b / tiles, first = (b - image * tiles) * TILE;
  const Number* from = maps + (long long)image * channels * area + first;
  Real* to = last + ((long long)image * area + first) * padded;
  for (int c = 0; c < padded; c += TILE)
    turn_square(from + (long long)c * area, area, to + c, padded, min(TILE, channels - c), min(TILE, area - first));
}

// And back.
template <class Number>
DEVICE void turn_tile_back(int b, const Real* last, Number* maps, int channels, int area) {
  SHARED Real tile[TILE][TILE + 1];
  const int tiles = (area + TILE - 1) / TILE, padded = padded_of(channels);
  const int image = b / tiles, first = (b - image * tiles) * TILE, columns = min(TILE, area - first);
  const Real* from = last + ((long long)image * area + first) * padded;
  Number* to = maps + (long long)image * channels * area + first;
  for (int c = 0; c < channels; c += TILE) {
    const int rows = min(TILE, channels - c);
    TILE_LOOP(column, row, columns, TILE) tile[row][column] = from[(long long)column * padded + c + row];
    BARRIER();
    if (rows == TILE && columns == TILE) {
      TILE_LOOP(row, column, TILE, TILE) to[(long long)(c + row) * area + column] = tile[row][column];
    } else {
      TILE_LOOP(row, column, rows, columns) to[(long long)(c + row) * area + column] = tile[row][column];
    }
    BARRIER();
  }
}
