// strided.cu: to[to_at + sum(i * to_step)] = from[from_at + sum(i * from_step)] for every index i of a shape of any rank.
// A block decodes its place once; what it then copies are loops without divisions. strided.py chooses the axes. The outer
// ones, of which there may be any number, come as three tables: their sizes and their steps on both sides.
#include "columns.h"

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

// `rows` runs of `run` elements that are contiguous on both sides; a block copies a tile of them.
struct Runs {
  int rows, run, from_row, to_row;  // the last two: from one row to the next
  int tile_rows, tile_run, axes;    // axes: how many outer ones
};

KERNEL copy_runs(int n, const Store* from, Store* to, int from_at, int to_at, Runs r, const int* size, const int* from_step,
                 const int* to_step) {
  const int across = (r.run + r.tile_run - 1) / r.tile_run, tiles = (r.rows + r.tile_rows - 1) / r.tile_rows * across;
  BLOCK_LOOP(b, n) {
    const int outer = b / tiles, tile = b % tiles;
    const int row = tile / across * r.tile_rows, first = tile % across * r.tile_run;
    const Place at = place(outer, r.axes, size, from_step, to_step);
    const Store* source = from + from_at + at.from + row * r.from_row + first;
    Store* target = to + to_at + at.to + row * r.to_row + first;
    const int height = min(r.tile_rows, r.rows - row), width = min(r.tile_run, r.run - first);
    AREA_LOOP(y, x, height, width) target[y * r.to_row + x] = source[y * r.from_row + x];
  }
}

// Two axes change places: axis p has the small step in `to`, axis q in `from`; a block copies a tile of both.
struct Turn {
  int p_size, p_from, p_to, p_tile;
  int q_size, q_from, q_to, q_tile;
  int past, axes;  // past: whether the result is written past the caches, which it does not fit
};

// A tile goes through shared memory, so that both sides are walked along their own fast axis: on the host in squares of SIDE.
constexpr int SIDE = 32;
constexpr int ROOM = 4096;  // numbers of a tile on a GPU

KERNEL copy_turned(int n, const Store* from, Store* to, int from_at, int to_at, Turn t, const int* size,
                   const int* from_step, const int* to_step) {
  const int across = (t.p_size + t.p_tile - 1) / t.p_tile, tiles = (t.q_size + t.q_tile - 1) / t.q_tile * across;
  BLOCK_LOOP(b, n) {
    const int outer = b / tiles, tile = b % tiles;
    const int p = tile % across * t.p_tile, q = tile / across * t.q_tile;
    const Place at = place(outer, t.axes, size, from_step, to_step);
    const Store* source = from + from_at + at.from + p * t.p_from + q * t.q_from;
    Store* target = to + to_at + at.to + p * t.p_to + q * t.q_to;
    const int width = min(t.p_tile, t.p_size - p), height = min(t.q_tile, t.q_size - q);
    if (t.p_to == 1 && t.q_from == 1 && turn_squares(source, t.p_from, target, t.q_to, width, height, t.past)) continue;
    SHARED Store cell[ROOM];
#if defined(__CUDACC__)
    const int wide = width, high = height;
#else
    const int wide = SIDE, high = SIDE;
#endif
    for (int left = 0; left < width; left += wide)
      for (int top = 0; top < height; top += high) {
        const int columns = min(wide, width - left), rows = min(high, height - top);
        const int line = rows | 1;  // odd: numbers that lie a line apart then do so in different banks
        AREA_LOOP(x, y, columns, rows) cell[x * line + y] = source[(left + x) * t.p_from + (top + y) * t.q_from];
        BARRIER();
        AREA_LOOP(y, x, rows, columns) target[(left + x) * t.p_to + (top + y) * t.q_to] = cell[x * line + y];
        BARRIER();
      }
  }
}
