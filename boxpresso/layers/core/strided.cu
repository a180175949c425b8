// strided.cu: to[to_at + sum(i * to_step)] = from[from_at + sum(i * from_step)] for every index i of a shape of any rank.
// A block decodes its place once; what it then copies are loops without divisions. strided.py chooses the axes.
#include "tile.h"

struct Place { int from, to; };

// Where the outer index `i` starts, on both sides.
DEVICE Place place(int i, int axes, const int* size, const int* from_step, const int* to_step) {
  Place at = {0, 0};
  for (int a = axes - 1; a >= 0; --a) {
    const int rest = i / size[a], k = i - rest * size[a];
    at.from += k * from_step[a];
    at.to += k * to_step[a];
    i = rest;
  }
  return at;
}

// Runs that are contiguous on both sides: a block copies at most `tile_rows` rows of `tile_run` elements.
KERNEL copy_runs(int n, const Real* from, Real* to, int from_at, int to_at, int rows, int run, int from_row, int to_row,
                 int tile_rows, int tile_run, int axes, const int* size, const int* from_step, const int* to_step) {
  const int across = (run + tile_run - 1) / tile_run, tiles = (rows + tile_rows - 1) / tile_rows * across;
  BLOCK_LOOP(b, n) {
    const int outer = b / tiles, tile = b % tiles;
    const int row = tile / across * tile_rows, first = tile % across * tile_run;
    const Place at = place(outer, axes, size, from_step, to_step);
    const Real* source = from + from_at + at.from + row * from_row + first;
    Real* target = to + to_at + at.to + row * to_row + first;
    const int height = min(tile_rows, rows - row), width = min(tile_run, run - first);
    TILE_LOOP(y, x, height, width) target[y * to_row + x] = source[y * from_row + x];
  }
}

// Two axes change places: a block brings one tile through shared memory, so that both sides are walked along their own
// fast axis. Axis p has the small step in `to`, axis q in `from`.
constexpr int SIDE = 32;

KERNEL copy_turned(int n, const Real* from, Real* to, int from_at, int to_at, int p_size, int p_from, int p_to, int q_size,
                   int q_from, int q_to, int axes, const int* size, const int* from_step, const int* to_step) {
  const int across = (p_size + SIDE - 1) / SIDE, tiles = (q_size + SIDE - 1) / SIDE * across;
  BLOCK_LOOP(b, n) {
    SHARED Real cell[SIDE][SIDE + 1];  // one wider: a column then lies in 32 different banks
    const int outer = b / tiles, tile = b % tiles;
    const int p = tile % across * SIDE, q = tile / across * SIDE;
    const Place at = place(outer, axes, size, from_step, to_step);
    const Real* source = from + from_at + at.from + p * p_from + q * q_from;
    Real* target = to + to_at + at.to + p * p_to + q * q_to;
    const int width = min(SIDE, p_size - p), height = min(SIDE, q_size - q);
    TILE_LOOP(x, y, width, height) cell[x][y] = source[x * p_from + y * q_from];
    BARRIER();
    TILE_LOOP(y, x, height, width) target[x * p_to + y * q_to] = cell[x][y];
    BARRIER();
  }
}
