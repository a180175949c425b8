// interp.cu: bilinear interpolation of planes, or of what a margin of `cut` pixels leaves of them.
#include "simd.h"

struct Place { int low, high; Real part; };  // the pixels below and above, and the part of the upper one

// Where pixel `at` of `out` lies among `size` pixels.
DEVICE Place place(int at, int size, int out) {
  const Real x = out > 1 ? at * (Real(size - 1) / (out - 1)) : Real(0);
  const int low = min(int(x), size - 1), high = min(low + 1, size - 1);
  return {low, high, low == high ? Real(0) : x - low};
}

// A row of the top, `part` of the way from a row of the bottom to the next, each of `size` pixels. Pixel j lies parts[j] of the way from
// lows[j] to the next; both tables are padded to whole vectors.
DEVICE void between(const Real* low, const Real* high, Real part, int size, const int* lows, const Real* parts, Real* to, int width) {
  THREAD_LOOP(t, (width + COLUMNS - 1) / COLUMNS) {
    const int j = t * COLUMNS, first = lows[j], wide = lows[min(j + COLUMNS, width) - 1] + 2 - first;
    const Picks at = *(const Picks*)(lows + j);
    const Columns x = *(const Columns*)(parts + j);
    Columns a, b, c, d;
    if (size < 2) {
      a = b = pick_real(low, at);
      c = d = pick_real(high, at);
    } else if (wide <= COLUMNS && first + COLUMNS <= size) {  // all pixels lie in one vector
      const Columns above = *(const Columns*)(low + first), below = *(const Columns*)(high + first);
      const Picks from = at - first, next = from + 1;
      a = pick(above, above, from), b = pick(above, above, next);
      c = pick(below, below, from), d = pick(below, below, next);
    } else {
      pick_real_pairs(low, at, a, b);
      pick_real_pairs(high, at, c, d);
    }
    const Columns above = (1 - x) * a + x * b, below = (1 - x) * c + x * d;
    store_span(to + j, (1 - part) * above + part * below, lane_span(j, 1, width));
  }
}

// n: rows of the top
KERNEL interp_forward(int n, const Real* bottom, Real* top, const int* lows, const Real* parts, int rows, int columns, int height,
                      int width, int cut, int out_height, int out_width) {
  BLOCK_LOOP(row, n) {
    const Place y = place(row % out_height, height, out_height);
    const Real* plane = bottom + row / out_height * rows * columns + cut * columns + cut;
    between(plane + y.low * columns, plane + y.high * columns, y.part, width, lows, parts, top + row * out_width, out_width);
  }
}

// n: planes; a block owns what it adds to
KERNEL interp_backward(int n, const Real* top_diff, Real* bottom_diff, int rows, int columns, int height, int width,
                       int cut, int out_height, int out_width) {
  SUMS_IN_ANY_ORDER;
  BLOCK_LOOP(p, n) {
    Real* whole = bottom_diff + p * rows * columns;
    THREAD_LOOP(i, rows * columns) whole[i] = 0;
    BARRIER();
    Real* plane = whole + cut * columns + cut;
    for (int i = 0; i < out_height; ++i) {
      const Place y = place(i, height, out_height);
      THREAD_LOOP(j, out_width) {
        const Place x = place(j, width, out_width);
        const Real g = top_diff[(p * out_height + i) * out_width + j];
        add(plane + y.low * columns + x.low, (1 - y.part) * (1 - x.part) * g);
        add(plane + y.low * columns + x.high, (1 - y.part) * x.part * g);
        add(plane + y.high * columns + x.low, y.part * (1 - x.part) * g);
        add(plane + y.high * columns + x.high, y.part * x.part * g);
      }
    }
  }
}
