// efficiency.cu: what a machine moves and computes at most, beside which benchmarks/efficiency.py holds the operators.
#include "kernel.h"

// McCalpin's triad: two numbers read, one written.
KERNEL triad(int n, const Real* b, const Real* c, Real* a, Real factor) {
  GRID_LOOP(i, n) a[i] = b[i] + factor * c[i];
}

constexpr int LANES = 96;  // 12 registers of 8 numbers, or 6 of 16

constexpr int NEAR = 1365 * LANES;  // numbers, 512 KB: more than a core's first cache holds, and less than its second

// `steps` walks over NEAR numbers of x (n, NEAR) for each of n blocks, and their sums.
KERNEL near_loads(int n, const Real* x, Real* y, int steps) {
  BLOCK_LOOP(i, n) THREAD_LOOP(t, 1) {
    Real sums[LANES] = {};
    for (int step = 0; step < steps; ++step)
      for (int at = 0; at < NEAR; at += LANES)
        for (int lane = 0; lane < LANES; ++lane) sums[lane] += x[i * NEAR + at + lane];
    Real sum = 0;
    for (int lane = 0; lane < LANES; ++lane) sum += sums[lane];
    y[i] = sum;
  }
}

// LANES chains of `steps` multiply-adds for each of n numbers, which never leave the registers.
KERNEL multiply_add(int n, const Real* x, Real* y, Real factor, int steps) {
  BLOCK_LOOP(i, n) THREAD_LOOP(t, 1) {
    Real sums[LANES];
    for (int lane = 0; lane < LANES; ++lane) sums[lane] = x[lane];
    for (int step = 0; step < steps; ++step)
      for (int lane = 0; lane < LANES; ++lane) sums[lane] = sums[lane] * factor + x[lane];
    Real sum = 0;
    for (int lane = 0; lane < LANES; ++lane) sum += sums[lane];
    y[i] = sum;
  }
}
