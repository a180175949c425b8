// strided.cu: to[to_at + sum(i * to_step)] = from[from_at + sum(i * from_step)] for every index i of a shape of any rank.
// A block decodes its place once; what it then copies are loops without divisions. strided.py chooses the axes.
#include "columns.h"
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
KERNEL copy_runs(int n, const Store* from, Store* to, int from_at, int to_at, int rows, int run, int from_row, int to_row,
                 int tile_rows, int tile_run, int axes, const int* size, const int* from_step, const int* to_step) {
  const int across = (run + tile_run - 1) / tile_run, tiles = (rows + tile_rows - 1) / tile_rows * across;
  BLOCK_LOOP(b, n) {
    const int outer = b / tiles, tile = b % tiles;
    const int row = tile / across * tile_rows, first = tile % across * tile_run;
    const Place at = place(outer, axes, size, from_step, to_step);
    const Store* source = from + from_at + at.from + row * from_row + first;
    Store* target = to + to_at + at.to + row * to_row + first;
    const int height = min(tile_rows, rows - row), width = min(tile_run, run - first);
    TILE_LOOP(y, x, height, width) target[y * to_row + x] = source[y * from_row + x];
  }
}

// Two axes change places: a block brings one tile through shared memory, so that both sides are walked along their own
// fast axis. Axis p has the small step in `to`, axis q in `from`. `past`: results so large that no cache keeps them.
constexpr int SIDE = 32;

KERNEL copy_turned(int n, const Store* from, Store* to, int from_at, int to_at, int p_size, int p_from, int p_to, int q_size,
                   int q_from, int q_to, int p_tile, int q_tile, int past, int axes, const int* size, const int* from_step,
                   const int* to_step) {
  const int across = (p_size + p_tile - 1) / p_tile, tiles = (q_size + q_tile - 1) / q_tile * across;
  BLOCK_LOOP(b, n) {
    const int outer = b / tiles, tile = b % tiles;
    const int p = tile % across * p_tile, q = tile / across * q_tile;
    const Place at = place(outer, axes, size, from_step, to_step);
    const Store* source = from + from_at + at.from + p * p_from + q * q_from;
    Store* target = to + to_at + at.to + p * p_to + q * q_to;
    const int width = min(p_tile, p_size - p), height = min(q_tile, q_size - q);
    if (p_to == 1 && q_from == 1 && turn_squares(source, p_from, target, q_to, width, height, past)) continue;
    SHARED Store cell[SIDE][SIDE + 1];  // one wider: a column then lies in 32 different banks
    for (int left = 0; left < width; left += SIDE)
      for (int top = 0; top < height; top += SIDE) {
        const int columns = min(SIDE, width - left), rows = min(SIDE, height - top);
        TILE_LOOP(x, y, columns, rows) cell[x][y] = source[(left + x) * p_from + (top + y) * q_from];
        BARRIER();
        TILE_LOOP(y, x, rows, columns) target[(left + x) * p_to + (top + y) * q_to] = cell[x][y];
        BARRIER();
      }
  }
}
