// gemm.cu: C = alpha op(A) op(B) + beta C, row-major, where no vendor's library is found. A block owns a square of C and
// walks along k, one square of A and one of B in shared memory at a time.
#include "kernel.h"

// A thread has SPAN x SPAN elements of C; double's squares are smaller to fit the 48 KiB of shared memory.
constexpr int SIDE_OF_FLOATS = 64, SIDE_OF_DOUBLES = 32;
constexpr int SIDE = sizeof(Real) == 4 ? SIDE_OF_FLOATS : SIDE_OF_DOUBLES, SPAN = SIDE / 16, STEP = 16, THREADS = 256, PART = SPAN * SPAN;

// Element t of a SIDE x STEP square of op(X), k along the second axis, zero outside the matrix.
DEVICE Real element(const Real* x, int along_k, int i, int k, int rows, int depth) {
  if (i >= rows || k >= depth) return Real(0);
  return along_k ? x[(long long)i * depth + k] : x[(long long)k * rows + i];
}

KERNEL gemm_tiled(int n, int trans_a, int trans_b, int rows, int columns, int depth, Real alpha, const Real* a, const Real* b,
                  Real beta, Real* c) {
  const int across = (columns + SIDE - 1) / SIDE;
  BLOCK_LOOP(block, n) {
    const int i0 = block / across * SIDE, j0 = block % across * SIDE;
    SHARED Real left[STEP][SIDE + 1], right[STEP][SIDE + 1];
    SHARED Real sum[THREADS][PART + 1];  // a thread's sums; on a GPU odd rows keep the banks apart
    THREAD_LOOP(t, THREADS) for (int p = 0; p < PART; ++p) sum[t][p] = 0;
    for (int k0 = 0; k0 < depth; k0 += STEP) {
      BARRIER();
      THREAD_LOOP(t, SIDE * STEP) {
        // Neighbouring threads read along the axis that lies together in memory.
        const int ia = trans_a ? t % SIDE : t / STEP, ka = trans_a ? t / SIDE : t % STEP;
        const int jb = trans_b ? t / STEP : t % SIDE, kb = trans_b ? t % STEP : t / SIDE;
        left[ka][ia] = element(a, !trans_a, i0 + ia, k0 + ka, rows, depth);
        right[kb][jb] = element(b, trans_b, j0 + jb, k0 + kb, columns, depth);
      }
      BARRIER();
      THREAD_LOOP(t, THREADS) {
        const int row = t / 16, column = t % 16;  // the thread's elements: every 16th row and every 16th column from here
        Real part[PART];
        for (int p = 0; p < PART; ++p) part[p] = sum[t][p];
        for (int k = 0; k < STEP; ++k)
          for (int y = 0; y < SPAN; ++y)
            for (int x = 0; x < SPAN; ++x) part[y * SPAN + x] += left[k][row + 16 * y] * right[k][column + 16 * x];
        for (int p = 0; p < PART; ++p) sum[t][p] = part[p];
      }
    }
    BARRIER();
    THREAD_LOOP(t, THREADS) {
      for (int p = 0; p < PART; ++p) {
        const int i = i0 + t / 16 + 16 * (p / SPAN), j = j0 + t % 16 + 16 * (p % SPAN);
        if (i >= rows || j >= columns) continue;
        Real* at = c + (long long)i * columns + j;
        *at = beta == 0 ? alpha * sum[t][p] : alpha * sum[t][p] + beta * *at;
      }
    }
  }
}
