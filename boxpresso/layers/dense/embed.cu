// embed.cu: rows of a table by their numbers. In backward a block owns some columns of the table, so that the copies of
// one row are added in their order.
#include "first.h"

constexpr int PIECE = 64;  // columns that one block does

// Whether the table has a row of that number.
DEVICE bool known(Real number, int rows) { return number > -1 && number < rows; }

// Of the first of `items` numbers without a row the host is told; see first.h. n: 1.
KERNEL tell_number(int n, const Real* number, double* record, int items, int rows, int mark) {
  BLOCK_LOOP(b, n) {
    SHARED int first[1];
    tell_first(first, record, mark, items, rows, [=](int i) { return !known(number[i], rows); }, [=](int i) { return number[i]; });
  }
}

KERNEL look_up(int n, const Real* number, const Real* table, const Real* bias, Real* top, int rows, int width) {
  BLOCK_LOOP(m, n) {
    const bool there = known(number[m], rows);
    const Real* row = table + (there ? int(number[m]) * width : 0);
    Real* to = top + m * width;
    if (!there) THREAD_LOOP(i, width) to[i] = 0;
    else if (bias) THREAD_LOOP(i, width) to[i] = row[i] + bias[i];
    else THREAD_LOOP(i, width) to[i] = row[i];
  }
}

KERNEL weight_diff(int n, const Real* number, const Real* top_diff, Real* diff, int count, int rows, int width) {
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE, columns = min(PIECE, width - first);
    for (int m = 0; m < count; ++m) {
      if (!known(number[m], rows)) continue;
      Real* to = diff + int(number[m]) * width + first;
      THREAD_LOOP(i, columns) to[i] += top_diff[m * width + first + i];  // a thread has its own columns
    }
  }
}

KERNEL bias_diff(int n, const Real* top_diff, Real* diff, int count) {
  GRID_LOOP(i, n) {
    double sum = 0;
    for (int m = 0; m < count; ++m) sum += top_diff[m * n + i];
    diff[i] += Real(sum);
  }
}
