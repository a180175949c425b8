// hashing_loss.cu: pairs of rows of one batch, near where they are alike, apart by a margin where not; numbers near 1 and -1.
#include "sum.h"

// squares[i rows + j] = |x_i - x_j|^2, and whether the two are alike: of one label, or with several of one in common.
KERNEL hash_pairs(int n, const Real* x, const Real* label, Real* squares, int* like, int rows, int length, int labels) {
  SHARED double part[PARTS];
  BLOCK_LOOP(pair, n) {
    const int i = pair / rows, j = pair % rows;
    const double square = block_sum(part, length, [=](int k) {
      const double off = double(x[i * length + k]) - double(x[j * length + k]);
      return off * off;
    });
    const double common = block_sum(part, labels > 1 ? labels : 0, [=](int k) {
      return double(label[i * labels + k]) * double(label[j * labels + k]);
    });
    THREAD_LOOP(t, 1) {
      squares[pair] = Real(square);
      like[pair] = labels > 1 ? common > 0 : int(label[i]) == int(label[j]);
    }
  }
}

// costs[row] = its pairs with later rows / (rows (rows - 1)) + tradeoff / rows * the sum of ||x| - 1|. n: rows.
KERNEL hash_costs(int n, const Real* x, const Real* squares, const int* like, double* costs, int length, Real margin,
                  Real tradeoff) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const double pairs = block_sum(part, n - row - 1, [=](int k) {
      const int at = row * n + row + 1 + k;
      const double square = squares[at], room = double(margin) - square;
      return like[at] ? square : room > 0 ? room : 0;
    });
    const double far = block_sum(part, length, [=](int k) { return abs(abs(double(x[row * length + k])) - 1); });
    THREAD_LOOP(t, 1) costs[row] = pairs / n / (n - 1) + double(tradeoff) * far / n;
  }
}

// n: 1.
KERNEL hash_loss(int n, const double* costs, Real* top, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, rows, [=](int row) { return costs[row]; });
    THREAD_LOOP(t, 1) top[0] = Real(sum);
  }
}

// n: rows.
KERNEL hash_diffs(int n, const Real* x, const Real* squares, const int* like, const Real* top_diff, Real* bottom_diff,
                  int length, Real margin, Real tradeoff) {
  BLOCK_LOOP(row, n) {
    THREAD_LOOP(k, length) {
      const Real own = x[row * length + k];
      Real sum = 0;
      for (int other = 0; other < n; ++other) {
        const int at = row * n + other;
        const Real way = like[at] ? Real(1) : margin - squares[at] > 0 ? Real(-1) : Real(0);
        sum += way * (own - x[other * length + k]);
      }
      const Real slope = own >= 1 || (own <= 0 && own >= -1) ? Real(1) : Real(-1);
      bottom_diff[row * length + k] = top_diff[0] * (sum / n / (n - 1) + tradeoff / n * slope);
    }
  }
}
