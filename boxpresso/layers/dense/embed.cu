// embed.cu: rows of a table by their numbers. In backward a block owns some columns of the table, so that the copies of
// one row are added in their order.
#include "kernel.h"

constexpr int PIECE = 64;  // columns that one block does

KERNEL look_up(int n, const Real* number, const Real* table, const Real* bias, Real* top, int width) {
  BLOCK_LOOP(m, n) {
    const Real* row = table + int(number[m]) * width;
    Real* to = top + m * width;
    if (bias) THREAD_LOOP(i, width) to[i] = row[i] + bias[i];
    else THREAD_LOOP(i, width) to[i] = row[i];
  }
}

KERNEL weight_diff(int n, const Real* number, const Real* top_diff, Real* diff, int count, int width) {
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE, columns = min(PIECE, width - first);
    for (int m = 0; m < count; ++m) {
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
