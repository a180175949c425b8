// columns.h: neighbouring numbers of a row that a thread takes together: a vector on the host, one number on a GPU.
#pragma once
#include "kernel.h"

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
