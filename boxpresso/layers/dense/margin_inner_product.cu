// margin_inner_product.cu: the score of the true class, as if its angle were several times as large.
#include <cfloat>
#include "sum.h"

DEVICE int truth_of(Real label, int classes) { return label > -1 && label < classes ? int(label) : -1; }

// The rows of a matrix to length 1; a row of zeros stays, and one that is as long as it can be made.
KERNEL margin_unit_rows(int n, Real* weights, int depth) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    Real* w = weights + row * depth;
    const double square = block_sum(part, depth, [=](int i) { return double(w[i]) * double(w[i]); });
    const double close = sizeof(Real) == sizeof(float) ? 1e-6 : 1e-14;
    const Real by = square > 0 && abs(square - 1) > close ? Real(1 / sqrt(square)) : Real(1);
    THREAD_LOOP(i, depth) w[i] *= by;
  }
}

// psi(theta) and its derivative by the cosine: (-1)^k T(cos) - 2 k, T being the Chebyshev polynomial of degree m, so that
// T(cos(theta)) = cos(m theta).
DEVICE void psi_of(Real cosine, int m, Real* psi, Real* slope) {
  const Real c = cosine, c2 = c * c;
  const Real value = m == 2 ? 2 * c2 - 1 : m == 3 ? (4 * c2 - 3) * c : (8 * c2 - 8) * c2 + 1;
  const Real rise = m == 2 ? 4 * c : m == 3 ? 12 * c2 - 3 : (32 * c2 - 16) * c;
  // k counts the multiples of pi / m that the angle has passed: the cosine lies below cos(pi / m), cos(2 pi / m), ...
  const Real half = Real(0.70710678118654752), mid = m == 2 ? Real(0) : m == 3 ? Real(0.5) : half;
  const int k = m == 2 ? (c < 0) : m == 3 ? (c < mid) + (c < -mid) : (c < half) + (c < 0) + (c < -half);
  const Real sign = k % 2 ? Real(-1) : Real(1);
  *psi = sign * value - 2 * Real(k);
  *slope = sign * rise;
}

// top[row, truth], and factors[3 row ...]: what the gradient by x has of w beyond 1 and of x, and the gradient by w of w.
KERNEL margin_forward(int n, const Real* x, const Real* label, const Real* weights, Real* top, Real* factors, int classes,
                      int depth, int m, int sphere, Real share) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const int truth = truth_of(label[row], classes);
    const Real *from = x + row * depth, *w = weights + max(truth, 0) * depth;
    const double xx = block_sum(part, depth, [=](int i) { return double(from[i]) * double(from[i]); });
    const double ww = block_sum(part, depth, [=](int i) { return double(w[i]) * double(w[i]); });
    THREAD_LOOP(t, 1) {
      Real* facts = factors + 3 * row;
      facts[0] = facts[1] = facts[2] = 0;
      if (truth >= 0 && xx > 0 && ww > 0) {
        Real* score = top + row * classes + truth;
        const Real long_x = Real(sqrt(xx)), long_w = Real(sqrt(ww));
        const Real cosine = min(max(*score / (long_x * long_w), Real(-1)), Real(1));
        Real psi, slope;
        psi_of(cosine, m, &psi, &slope);
        const Real rest = psi - cosine * slope, of_x = rest * long_w / long_x;
        const Real by = (sphere ? 1 / max(sqrt(slope * slope + of_x * of_x), Real(1e-30)) : Real(1)) / (1 + share);
        facts[0] = slope * by + share / (1 + share) - 1;
        facts[1] = of_x * by;
        facts[2] = rest * long_x / long_w / (1 + share);
        *score = (long_x * long_w * psi + share * *score) / (1 + share);
      }
    }
    BARRIER();
  }
}

KERNEL margin_diffs(int n, const Real* top_diff, const Real* x, const Real* label, const Real* weights, const Real* factors,
                    Real* bottom_diff, int classes, int depth) {
  BLOCK_LOOP(row, n) {
    const int truth = truth_of(label[row], classes);
    if (truth >= 0) {
      const Real g = top_diff[row * classes + truth], of_w = g * factors[3 * row], of_x = g * factors[3 * row + 1];
      THREAD_LOOP(i, depth) bottom_diff[row * depth + i] += of_w * weights[truth * depth + i] + of_x * x[row * depth + i];
    }
  }
}

// n: classes; each sums the rows that are its own.
KERNEL margin_weight_diffs(int n, const Real* top_diff, const Real* x, const Real* label, const Real* weights,
                           const Real* factors, Real* diff, int rows, int depth) {
  BLOCK_LOOP(c, n) {
    THREAD_LOOP(i, depth) {
      Real sum = 0;
      for (int row = 0; row < rows; ++row)
        if (truth_of(label[row], n) == c)
          sum += top_diff[row * n + c] * (factors[3 * row] * x[row * depth + i] + factors[3 * row + 2] * weights[c * depth + i]);
      diff[c * depth + i] += sum;
    }
  }
}

// top: the mean of -log(p[label]). n: 1.
KERNEL margin_losses(int n, const Real* probability, const Real* label, Real* top, int rows, int classes) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, rows, [=](int row) {
      const int truth = truth_of(label[row], classes);
      const Real p = truth < 0 ? Real(1) : probability[row * classes + truth];
      return -log(double(p < Real(FLT_MIN) ? Real(FLT_MIN) : p));  // a NaN stays one
    });
    THREAD_LOOP(t, 1) top[b] = Real(sum / rows);
  }
}

KERNEL margin_loss_diffs(int n, const Real* probability, const Real* label, const Real* top_diff, Real* diff, int classes) {
  BLOCK_LOOP(row, n) {
    const int truth = truth_of(label[row], classes);
    const Real by = truth < 0 ? Real(0) : top_diff[0] / n;
    THREAD_LOOP(c, classes) diff[row * classes + c] = by * (probability[row * classes + c] - Real(c == truth));
  }
}
