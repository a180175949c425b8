// affine.cu: y = x * scale + bias over (outer, dim, inner), scale and bias having `dim` elements, and its gradients.
// A row is one (outer, dim) pair of `inner` elements, or with inner = 1 one outer index of `dim` elements.
#include "sum.h"

constexpr int PIECE = 4096;  // elements of a row that one block does

// copy: keeps x, which in place is overwritten. Null pointers: scale 1, bias 0, no copy.
template <class Scale, class Bias>
DEVICE void piece(const Real* x, Real* y, Real* copy, int width, Scale scale, Bias bias) {
  if (copy) THREAD_LOOP(t, width) copy[t] = x[t];
  THREAD_LOOP(t, width) y[t] = x[t] * scale(t) + bias(t);
}

KERNEL affine_rows(int n, const Real* x, const Real* scale, const Real* bias, Real* y, Real* copy, int dim, int inner,
                   int pieces) {
  BLOCK_LOOP(b, n) {
    const int row = b / pieces, first = b % pieces * PIECE, at = row * inner + first;
    const Real by = scale ? scale[row % dim] : Real(1), plus = bias ? bias[row % dim] : Real(0);
    piece(x + at, y + at, copy ? copy + at : copy, min(PIECE, inner - first), [=](int) { return by; },
          [=](int) { return plus; });
  }
}

KERNEL affine_columns(int n, const Real* x, const Real* scale, const Real* bias, Real* y, Real* copy, int dim,
                      int pieces) {
  BLOCK_LOOP(b, n) {
    const int first = b % pieces * PIECE, at = b / pieces * dim + first;
    piece(x + at, y + at, copy ? copy + at : copy, min(PIECE, dim - first),
          [=](int t) { return scale ? scale[first + t] : Real(1); },
          [=](int t) { return bias ? bias[first + t] : Real(0); });
  }
}

// partial[(outer, dim, piece)] = sum of diff, or of diff * x
KERNEL sums_of_rows(int n, const Real* diff, const Real* x, double* partial, int inner, int pieces) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b % pieces * PIECE, at = b / pieces * inner + first, width = min(PIECE, inner - first);
    const double sum = x ? block_sum(part, width, [=](int i) { return double(diff[at + i]) * x[at + i]; })
                         : block_sum(part, width, [=](int i) { return diff[at + i]; });
    THREAD_LOOP(t, 1) partial[b] = sum;
  }
}

// The same for inner = 1: partial[(chunk, dim)], a chunk being `rows` outer indices.
KERNEL sums_of_columns(int n, const Real* diff, const Real* x, double* partial, int outer, int dim, int rows) {
  BLOCK_LOOP(b, n) {
    const int first = b * rows, last = min(outer, first + rows);
    THREAD_LOOP(c, dim) {
      double sum = 0;
      for (int row = first; row < last; ++row) {
        const int i = row * dim + c;
        sum += x ? double(diff[i]) * x[i] : double(diff[i]);
      }
      partial[b * dim + c] = sum;
    }
  }
}

KERNEL sums_joined(int n, const double* partial, Real* into, int outer, int pieces, int keep) {
  GRID_LOOP(c, n) {
    double sum = keep ? into[c] : Real(0);
    for (int o = 0; o < outer; ++o)
      for (int p = 0; p < pieces; ++p) sum += partial[(o * n + c) * pieces + p];
    into[c] = Real(sum);
  }
}
