// mmd_loss.cu: pairs of rows of two domains under a sum of Gaussian kernels. Rows of the second count on from the first's.
#include "sum.h"

DEVICE const Real* row_of(const Real* s, const Real* t, int row, int rows, int length) {
  return row < rows ? s + row * length : t + (row - rows) * length;
}

// squares[i total + j] = |row i - row j|^2.
KERNEL mmd_squares(int n, const Real* s, const Real* t, Real* squares, int rows, int total, int length) {
  SHARED double part[PARTS];
  BLOCK_LOOP(pair, n) {
    const Real *a = row_of(s, t, pair / total, rows, length), *b = row_of(s, t, pair % total, rows, length);
    const double square = block_sum(part, length, [=](int k) {
      const double off = double(a[k]) - double(b[k]);
      return off * off;
    });
    THREAD_LOOP(i, 1) squares[pair] = Real(square);
  }
}

// gamma = one over the mean of all squares, 0 where rows do not differ; kept where it is fixed. n: 1.
KERNEL mmd_gamma(int n, const Real* squares, double* gamma, int total, int fixed) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, total * total, [=](int i) { return squares[i]; });
    THREAD_LOOP(i, 1) {
      if (!fixed || gamma[0] == 0) gamma[0] = sum > 0 ? (double(total) * total - total) / sum : 0.0;
    }
  }
}

// widths: of the kernels, in gammas. count: pairs, four of each draw: the first two are of one domain each, and count for the loss, the others against it. n: 1.
KERNEL mmd_loss(int n, const Real* squares, const int* pairs, const double* gamma, const double* widths, Real* top,
                int count, int total, int kernels) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, count, [=](int i) {
      const double square = squares[pairs[2 * i] * total + pairs[2 * i + 1]];
      double value = 0;
      for (int j = 0; j < kernels; ++j) value += exp(-(gamma[0] * widths[j]) * square);
      return i % 4 < 2 ? value : -value;
    });
    THREAD_LOOP(i, 1) top[0] = Real(sum);
  }
}

// slopes[pair] = what the difference of its rows is multiplied with. n: pairs.
KERNEL mmd_slopes(int n, const Real* squares, const int* pairs, const double* gamma, const double* widths,
                  const Real* top_diff, double* slopes, int total, int kernels) {
  GRID_LOOP(i, n) {
    const double square = squares[pairs[2 * i] * total + pairs[2 * i + 1]];
    double slope = 0;
    for (int j = 0; j < kernels; ++j) {
      const double width = gamma[0] * widths[j];
      slope -= 2 * width * exp(-width * square);
    }
    slopes[i] = (i % 4 < 2 ? slope : -slope) * double(top_diff[0]) / (n / 4);
  }
}

// first: the number of the domain's first row; count: pairs. n: rows of the domain.
KERNEL mmd_diff(int n, const Real* s, const Real* t, const int* pairs, const double* slopes, Real* bottom_diff, int first,
                int count, int rows, int length) {
  BLOCK_LOOP(at, n) {
    const int row = first + at;
    const Real* own = row_of(s, t, row, rows, length);
    Real* diff = bottom_diff + at * length;
    THREAD_LOOP(k, length) diff[k] = 0;
    for (int i = 0; i < count; ++i) {
      if (pairs[2 * i] == pairs[2 * i + 1] || (pairs[2 * i] != row && pairs[2 * i + 1] != row)) continue;
      const Real* other = row_of(s, t, pairs[2 * i] == row ? pairs[2 * i + 1] : pairs[2 * i], rows, length);
      const Real slope = Real(slopes[i]);
      THREAD_LOOP(k, length) diff[k] += slope * (own[k] - other[k]);
    }
  }
}
