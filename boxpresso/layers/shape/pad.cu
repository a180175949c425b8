// pad.cu: borders around an image. Each axis has a table of which element of the bottom is where in the top, and one of the
// way back.
#include "kernel.h"

constexpr int PADDED_AXES = 4;

struct Borders {
  int bottom[PADDED_AXES], top[PADDED_AXES];  // the sizes
};

// source: for each place of each axis the bottom's place, or -1, which is `value`. n: elements of the top.
KERNEL pad_forward(int n, const Real* bottom, Real* top, const int* source, Borders g, Real value) {
  GRID_LOOP(i, n) {
    const int x = i % g.top[3], y = i / g.top[3] % g.top[2], c = i / g.top[3] / g.top[2] % g.top[1];
    const int at[PADDED_AXES] = {i / g.top[3] / g.top[2] / g.top[1], c, y, x};
    const int* table = source;
    int place = 0, inside = 1;
    for (int k = 0; k < PADDED_AXES; ++k) {
      const int from = table[at[k]];
      inside = inside && from >= 0;
      place = place * g.bottom[k] + from;
      table += g.top[k];
    }
    top[i] = inside ? bottom[place] : value;
  }
}

// For each place of each axis of the bottom, starts[place] to starts[place + 1] are the entries of `copies`, places of the top;
// the axes follow one another. n: elements of the bottom.
KERNEL pad_backward(int n, const Real* top_diff, Real* bottom_diff, const int* starts, const int* copies, Borders g) {
  GRID_LOOP(i, n) {
    const int *w = starts + i / g.bottom[3] / g.bottom[2] / g.bottom[1];
    const int *c = starts + g.bottom[0] + i / g.bottom[3] / g.bottom[2] % g.bottom[1];
    const int *y = starts + g.bottom[0] + g.bottom[1] + i / g.bottom[3] % g.bottom[2];
    const int *x = starts + g.bottom[0] + g.bottom[1] + g.bottom[2] + i % g.bottom[3];
    Real sum = 0;
    for (int a = w[0]; a < w[1]; ++a)
      for (int b = c[0]; b < c[1]; ++b)
        for (int d = y[0]; d < y[1]; ++d)
          for (int e = x[0]; e < x[1]; ++e)
            sum += top_diff[((copies[a] * g.top[1] + copies[b]) * g.top[2] + copies[d]) * g.top[3] + copies[e]];
    bottom_diff[i] = sum;
  }
}
