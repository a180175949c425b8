// columns.h: neighbouring numbers of a row that a thread takes together: a vector on the host, one number on a GPU.
#pragma once
#include "tile.h"

#if defined(__CUDACC__)
#define COLUMNS 1
typedef Real Columns;
DEVICE Real item(Columns value, int) { return value; }
DEVICE void transpose(Columns*) {}
#else
#include <utility>
#define COLUMNS int(__BIGGEST_ALIGNMENT__ / sizeof(Real))
typedef Real Columns __attribute__((vector_size(__BIGGEST_ALIGNMENT__), aligned(sizeof(Real)), may_alias));
DEVICE Real item(const Columns& value, int i) { return value[i]; }

// Exchanges the upper halves of a, cut in pieces of `step`, with the lower ones of b.
template <int step, int... i>
DEVICE void cross(Columns& a, Columns& b, std::integer_sequence<int, i...>) {
  const Columns lower = __builtin_shufflevector(a, b, (i & step ? COLUMNS + i - step : i)...);
  b = __builtin_shufflevector(a, b, (i & step ? COLUMNS + i : i + step)...);
  a = lower;
}
// COLUMNS vectors as a matrix, turned in place: halves, quarters and so on change places across the diagonal.
template <int step = COLUMNS / 2>
DEVICE void transpose(Columns* rows) {
  for (int i = 0; i < COLUMNS; ++i)
    if (!(i & step)) cross<step>(rows[i], rows[i + step], std::make_integer_sequence<int, COLUMNS>());
  if constexpr (step > 1) transpose<step / 2>(rows);
}
#endif

// The numbers from `row` on, as many as there are: `count`, at most COLUMNS. Store or Real.
template <class From>
DEVICE Columns load(const From* row, int count) {
  if (sizeof(From) == sizeof(Real) && count >= COLUMNS) return *(const Columns*)row;
  Real values[COLUMNS] = {};
  for (int i = 0; i < min(count, COLUMNS); ++i) values[i] = Real(row[i]);
  return *(const Columns*)values;
}

// target[c * wide + r] = source[r * far + c] for each row r and column c of source; on the host in squares of vectors.
template <class From, class To>
DEVICE void turn(const From* source, long long far, To* target, long long wide, int rows, int columns) {
  int r_done = 0, c_done = 0;
#if !defined(__CUDACC__)
  if (sizeof(From) == sizeof(Real) && sizeof(To) == sizeof(Real)) {
    r_done = rows / COLUMNS * COLUMNS;
    c_done = columns / COLUMNS * COLUMNS;
    for (int r = 0; r < r_done; r += COLUMNS)
      for (int c = 0; c < c_done; c += COLUMNS) {
        Columns square[COLUMNS];
        for (int i = 0; i < COLUMNS; ++i) square[i] = *(const Columns*)(source + (r + i) * far + c);
        transpose(square);
        for (int i = 0; i < COLUMNS; ++i) *(Columns*)(target + (c + i) * wide + r) = square[i];
      }
  }
#endif
  TILE_LOOP(c, r, columns - c_done, r_done) target[(c_done + c) * wide + r] = Real(source[r * far + c_done + c]);
  TILE_LOOP(c, r, columns, rows - r_done) target[c * wide + r_done + r] = Real(source[(r_done + r) * far + c]);
}
