// row_column_pool.cu: the mean of the maxima of a window's rows plus that of its columns. Backward gathers: a pixel asks each
// window that it is in whether it is the first maximum of its row or of its column there.
#include <cfloat>
#include "../core/pooling.h"

// The largest of `count` values, `step` apart; -FLT_MAX where none is above it.
DEVICE Real largest(const Real* value, int count, int step) {
  Real most = -FLT_MAX;
  for (int i = 0; i < count; ++i) most = value[i * step] > most ? value[i * step] : most;
  return most;
}

// Whether value[at * step] is the first of the largest.
DEVICE bool is_first_largest(const Real* value, int count, int step, int at) {
  const Real mine = value[at * step];
  if (!(mine > -FLT_MAX)) return false;
  for (int i = 0; i < count; ++i)
    if (i < at ? value[i * step] >= mine : value[i * step] > mine) return false;
  return true;
}

KERNEL row_column_forward(int n, const Real* bottom, Real* top, Pool p) {
  GRID_LOOP(i, n) {
    const int x = i % p.out_width, row = i / p.out_width, y = row % p.out_height;
    const Span rows = window(y, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const Span columns = window(x, p.kernel_w, p.stride_w, p.pad_w, p.width);
    const Real* plane = bottom + row / p.out_height * (p.height * p.width);
    const int high = rows.to - rows.from, wide = columns.to - columns.from;
    Real of_rows = 0, of_columns = 0;
    for (int r = rows.from; r < rows.to; ++r) of_rows += largest(plane + r * p.width + columns.from, wide, 1);
    for (int c = columns.from; c < columns.to; ++c) of_columns += largest(plane + rows.from * p.width + c, high, p.width);
    top[i] = high > 0 && wide > 0 ? of_rows / high + of_columns / wide : Real(0);  // no pixels: 0
  }
}

KERNEL row_column_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Pool p) {
  GRID_LOOP(i, n) {
    const int x = i % p.width, line = i / p.width, y = line % p.height, plane = line / p.height;
    const Span down = windows(y, p.kernel_h, p.stride_h, p.pad_h, p.out_height);
    const Span across = windows(x, p.kernel_w, p.stride_w, p.pad_w, p.out_width);
    const Real* image = bottom + plane * (p.height * p.width);
    Real sum = 0;
    for (int wy = down.from; wy < down.to; ++wy)
      for (int wx = across.from; wx < across.to; ++wx) {
        const Span rows = window(wy, p.kernel_h, p.stride_h, p.pad_h, p.height);
        const Span columns = window(wx, p.kernel_w, p.stride_w, p.pad_w, p.width);
        const int high = rows.to - rows.from, wide = columns.to - columns.from;
        const Real diff = top_diff[(plane * p.out_height + wy) * p.out_width + wx];
        if (is_first_largest(image + y * p.width + columns.from, wide, 1, x - columns.from)) sum += diff / high;
        if (is_first_largest(image + rows.from * p.width + x, high, p.width, y - rows.from)) sum += diff / wide;
      }
    bottom_diff[i] = sum;
  }
}
