// columns.h: rows of numbers taken as vectors, and a matrix transposed in squares of them.
#pragma once
#include "simd.h"
#include "tile.h"

// The numbers from `row` on, as many as there are: `count`, at most COLUMNS. Store or Real.
template <class From>
DEVICE Columns load(const From* row, int count) {
  if (sizeof(From) == sizeof(Real)) return count >= COLUMNS ? *(const Columns*)row : load_span((const Real*)row, lane_span(0, 1, count));
  Real values[COLUMNS] = {};
  for (int i = 0; i < min(count, COLUMNS); ++i) values[i] = Real(row[i]);
  return *(const Columns*)values;
}

// `count` numbers from `row` on, at most COLUMNS, from a vector. Store or Real.
template <class To>
DEVICE void store(To* row, const Columns& value, int count) {
  if (sizeof(To) == sizeof(Real) && count >= COLUMNS) *(Columns*)row = value;
  else if (sizeof(To) == sizeof(Real)) store_span((Real*)row, value, lane_span(0, 1, count));
  else for (int i = 0; i < min(count, COLUMNS); ++i) row[i] = item(value, i);
}

// The numbers from `row` on whose places `at` has. Store or Real.
template <class From>
DEVICE Columns pick(const From* row, const Picks& at) {
  if (sizeof(From) == sizeof(Real)) return pick_real((const Real*)row, at);
  Real values[COLUMNS];
  for (int i = 0; i < COLUMNS; ++i) values[i] = Real(row[item(at, i)]);
  return *(const Columns*)values;
}

// Those numbers, and those behind them.
template <class From>
DEVICE void pick_pairs(const From* row, const Picks& at, Columns& first, Columns& second) {
  if (sizeof(From) == sizeof(Real)) return pick_real_pairs((const Real*)row, at, first, second);
  first = pick(row, at);
  second = pick(row + 1, at);
}

// target[c * wide + r] = source[r * far + c] for each row r and column c of source, by squares of vectors, of which the last
// ones overlap those before; false, and nothing done, where no square fits. `past`: where the target's alignment allows it,
// results are written past the caches.
template <class From, class To>
DEVICE bool turn_squares(const From* source, long long far, To* target, long long wide, int rows, int columns, int past) {
  if (sizeof(From) != sizeof(Real) || sizeof(To) != sizeof(Real) || COLUMNS == 1) return false;
  if (rows < COLUMNS || columns < COLUMNS) return false;
  const bool aligned = (unsigned long long)target % sizeof(Columns) == 0 && wide % COLUMNS == 0;
  for (int column = 0; column < columns; column += COLUMNS)
    for (int row = 0; row < rows; row += COLUMNS) {
      const int r = min(row, rows - COLUMNS), c = min(column, columns - COLUMNS);
      Columns square[COLUMNS];
      for (int i = 0; i < COLUMNS; ++i) square[i] = *(const Columns*)(source + (r + i) * far + c);
      transpose(square);
      To* to = target + c * wide + r;
      if (past && aligned && r % COLUMNS == 0)
        for (int i = 0; i < COLUMNS; ++i) write_past((Real*)(to + i * wide), square[i]);
      else
        for (int i = 0; i < COLUMNS; ++i) *(Columns*)(to + i * wide) = square[i];
    }
  return true;
}

// The same for any matrix, small ones element by element.
template <class From, class To>
DEVICE void turn(const From* source, long long far, To* target, long long wide, int rows, int columns) {
  if (turn_squares(source, far, target, wide, rows, columns, false)) return;
  AREA_LOOP(c, r, columns, rows) target[c * wide + r] = Real(source[r * far + c]);
}
