// solver.cu: the updates of the six solvers, each one pass over weights, diff and history, and the norm for clipping.
//
// The gradient g is diff * scale (clipping and iter_size) + decay * w for L2, + decay * sign(w) for L1. diff stays as it is.
#include "sum.h"

DEVICE Real gradient(Real diff, Real w, Real scale, Real decay, int l1) {
  const Real sign = w > 0 ? Real(1) : w < 0 ? Real(-1) : Real(0);
  return diff * scale + decay * (l1 ? sign : w);
}

// partial[b] = the sum of the squares of the b-th piece of x, in double.
KERNEL square_sums(int n, const Real* x, double* partial, int count, int piece) {
  BLOCK_LOOP(b, n) {
    SHARED double part[PARTS];
    const Real* mine = x + b * piece;
    const double sum = block_sum(part, min(piece, count - b * piece), [&](int i) { return double(mine[i]) * mine[i]; });
    THREAD_LOOP(t, 1) partial[b] = sum;
  }
}

// h = momentum h + rate g; w -= h
KERNEL sgd(int n, Real* w, const Real* diff, Real* h, Real scale, Real decay, int l1, Real rate, Real momentum) {
  GRID_LOOP(i, n) {
    h[i] = rate * gradient(diff[i], w[i], scale, decay, l1) + momentum * h[i];
    w[i] -= h[i];
  }
}

// h = momentum h + rate g; w -= (1 + momentum) h - momentum (h before)
KERNEL nesterov(int n, Real* w, const Real* diff, Real* h, Real scale, Real decay, int l1, Real rate, Real momentum) {
  GRID_LOOP(i, n) {
    const Real before = h[i];
    h[i] = rate * gradient(diff[i], w[i], scale, decay, l1) + momentum * before;
    w[i] -= (1 + momentum) * h[i] - momentum * before;
  }
}

// h += g^2; w -= rate g / (sqrt(h) + delta)
KERNEL adagrad(int n, Real* w, const Real* diff, Real* h, Real scale, Real decay, int l1, Real rate, Real delta) {
  GRID_LOOP(i, n) {
    const Real g = gradient(diff[i], w[i], scale, decay, l1);
    h[i] += g * g;
    w[i] -= rate * g / (sqrt(h[i]) + delta);
  }
}

// h = keep h + (1 - keep) g^2; w -= rate g / (sqrt(h) + delta)
KERNEL rmsprop(int n, Real* w, const Real* diff, Real* h, Real scale, Real decay, int l1, Real rate, Real delta, Real keep) {
  GRID_LOOP(i, n) {
    const Real g = gradient(diff[i], w[i], scale, decay, l1);
    h[i] = keep * h[i] + (1 - keep) * g * g;
    w[i] -= rate * g / (sqrt(h[i]) + delta);
  }
}

// h = keep h + (1 - keep) g^2; step = g sqrt((delta + s) / (delta + h)); s = keep s + (1 - keep) step^2; w -= rate step
KERNEL adadelta(int n, Real* w, const Real* diff, Real* h, Real* s, Real scale, Real decay, int l1, Real rate, Real delta,
                Real keep) {
  GRID_LOOP(i, n) {
    const Real g = gradient(diff[i], w[i], scale, decay, l1);
    h[i] = keep * h[i] + (1 - keep) * g * g;
    const Real step = g * sqrt((delta + s[i]) / (delta + h[i]));
    s[i] = keep * s[i] + (1 - keep) * step * step;
    w[i] -= rate * step;
  }
}

// m = a m + (1 - a) g; v = b v + (1 - b) g^2; w -= rate m / (sqrt(v) + delta), rate corrected for the start by the caller
KERNEL adam(int n, Real* w, const Real* diff, Real* m, Real* v, Real scale, Real decay, int l1, Real rate, Real delta, Real a,
            Real b) {
  GRID_LOOP(i, n) {
    const Real g = gradient(diff[i], w[i], scale, decay, l1);
    m[i] = a * m[i] + (1 - a) * g;
    v[i] = b * v[i] + (1 - b) * g * g;
    w[i] -= rate * m[i] / (sqrt(v[i]) + delta);
  }
}
