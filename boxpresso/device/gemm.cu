// gemm.cu: C = alpha op(A) op(B) + beta C, row-major, one product or many, where no vendor's library is found. A block owns a square of C and
// walks along k, one square of A and one of B in shared memory at a time.
#include "kernel.h"

// A thread has SPAN x SPAN elements of C; double's squares are smaller to fit the 48 KiB of shared memory.
constexpr int SIDE_OF_FLOATS = 64, SIDE_OF_DOUBLES = 32;
constexpr int SIDE = sizeof(Real) == 4 ? SIDE_OF_FLOATS : SIDE_OF_DOUBLES, SPAN = SIDE / 16, STEP = 16, THREADS = 256, PART = SPAN * SPAN;

// The matrices: op(A) is rows x depth, op(B) depth x columns. A pitch is the elements from a row to the next as it lies in
// memory, a step those from a matrix to the next, 0 for one matrix in all products.
struct Form {
  int trans_a, trans_b, rows, columns, depth;
  int left_pitch, right_pitch, out_pitch, left_step, right_step, out_step;
};

// Element (i, k) of op(X), k along the axis that is summed over, zero outside the matrix.
DEVICE Real element(const Real* x, int pitch, int along_k, int i, int k, int rows, int depth) {
  if (i >= rows || k >= depth) return Real(0);
  return along_k ? x[(long long)i * pitch + k] : x[(long long)k * pitch + i];
}

// n: squares of all products.
KERNEL gemm_tiled(int n, Form f, Real alpha, const Real* a, const Real* b, Real beta, Real* c) {
  const int across = (f.columns + SIDE - 1) / SIDE, each = across * ((f.rows + SIDE - 1) / SIDE);
  BLOCK_LOOP(block, n) {
    const int at = block % each, i0 = at / across * SIDE, j0 = at % across * SIDE;
    const Real* from = a + (long long)(block / each) * f.left_step;
    const Real* with = b + (long long)(block / each) * f.right_step;
    Real* to = c + (long long)(block / each) * f.out_step;
    SHARED Real left[STEP][SIDE + 1], right[STEP][SIDE + 1];
    SHARED Real sum[THREADS][PART + 1];  // a thread's sums; on a GPU odd rows keep the banks apart
    THREAD_LOOP(t, THREADS) for (int p = 0; p < PART; ++p) sum[t][p] = 0;
    for (int k0 = 0; k0 < f.depth; k0 += STEP) {
      BARRIER();
      THREAD_LOOP(t, SIDE * STEP) {
        // Neighbouring threads read along the axis that lies together in memory.
        const int ia = f.trans_a ? t % SIDE : t / STEP, ka = f.trans_a ? t / SIDE : t % STEP;
        const int jb = f.trans_b ? t / STEP : t % SIDE, kb = f.trans_b ? t % STEP : t / SIDE;
        left[ka][ia] = element(from, f.left_pitch, !f.trans_a, i0 + ia, k0 + ka, f.rows, f.depth);
        right[kb][jb] = element(with, f.right_pitch, f.trans_b, j0 + jb, k0 + kb, f.columns, f.depth);
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
        if (i >= f.rows || j >= f.columns) continue;
        Real* out = to + (long long)i * f.out_pitch + j;
        *out = beta == 0 ? alpha * sum[t][p] : alpha * sum[t][p] + beta * *out;
      }
    }
  }
}
