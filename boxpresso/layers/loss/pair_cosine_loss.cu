// pair_cosine_loss.cu: cosines of pairs of rows, and what they cost.
#include "loss.h"

// facts[3 p ...] of pair p of rows: their product and their lengths, of which 0 is 1.
KERNEL pair_cosines(int n, const Real* x, const int* pairs, Real* facts, int length) {
  SHARED double part[PARTS];
  BLOCK_LOOP(pair, n) {
    const int a = pairs[2 * pair] * length, b = pairs[2 * pair + 1] * length;
    const double product = block_sum(part, length, [=](int i) { return double(x[a + i]) * double(x[b + i]); });
    const double first = block_sum(part, length, [=](int i) { return double(x[a + i]) * double(x[a + i]); });
    const double second = block_sum(part, length, [=](int i) { return double(x[b + i]) * double(x[b + i]); });
    THREAD_LOOP(t, 1) {
      facts[3 * pair] = Real(product);
      facts[3 * pair + 1] = first > 0 ? Real(sqrt(first)) : Real(1);
      facts[3 * pair + 2] = second > 0 ? Real(sqrt(second)) : Real(1);
    }
  }
}

KERNEL pair_cosine_losses(int n, const Real* facts, const int* pairs, const Real* label, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int) { return COUNTS; },
        [=](int i) {
          const Real cosine = abs(facts[3 * i] / (facts[3 * i + 1] * facts[3 * i + 2]));
          return label[pairs[2 * i]] == label[pairs[2 * i + 1]] ? 1 - cosine : cosine;
        });
}

// The rows of pairs; the others keep what they have.
KERNEL pair_cosine_diffs(int n, const Real* x, const Real* facts, const int* pairs, const Real* label, const Real* top_diff,
                         Real* bottom_diff, int length, Real scale) {
  BLOCK_LOOP(pair, n) {
    const int a = pairs[2 * pair], b = pairs[2 * pair + 1];
    const Real product = facts[3 * pair], first = facts[3 * pair + 1], second = facts[3 * pair + 2];
    const Real sign = Real((product > 0) - (product < 0)) * (label[a] == label[b] ? -1 : 1);
    const Real by = scale * top_diff[0] * sign / (first * second);
    THREAD_LOOP(i, length) {
      const Real u = x[a * length + i], v = x[b * length + i];
      bottom_diff[a * length + i] = by * (v - product / first * u / first);
      bottom_diff[b * length + i] = by * (u - product / second * v / second);
    }
  }
}
