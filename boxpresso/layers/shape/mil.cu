// mil.cu: one score of `count`, which lie `inner` elements apart.
#include "kernel.h"

// top = the largest; with `noisy` 1 - the product of what they lack of 1, and the largest at least.
KERNEL mil_forward(int n, const Real* x, Real* top, int count, int inner, int noisy) {
  GRID_LOOP(i, n) {
    const Real* own = x + i / inner * count * inner + i % inner;
    Real most = own[0];
    double none = 1;
    for (int k = 0; k < count; ++k) {
      const Real value = own[k * inner];
      most = value > most ? value : most;
      none *= 1 - double(value);
    }
    const Real any = Real(1 - none);
    top[i] = noisy && any > most ? any : most;
  }
}

// n: elements of x.
KERNEL mil_backward(int n, const Real* x, const Real* top, const Real* top_diff, Real* bottom_diff, int count, int inner,
                    int noisy) {
  GRID_LOOP(i, n) {
    const int at = i / (count * inner) * inner + i % inner;
    const Real share = x[i] < 1 ? (1 - top[at]) / (1 - x[i]) : Real(1);
    const Real slope = noisy ? share < 1 ? share : Real(1) : x[i] == top[at] ? Real(1) : Real(0);
    bottom_diff[i] = top_diff[at] * slope;
  }
}
