// lifted_struct_loss.cu: distances of all rows, what each pair of one label costs, and how each distance moves the sum.
#include "loss.h"

KERNEL lifted_distances(int n, const Real* x, Real* spans, int rows, int length) {
  SHARED double part[PARTS];
  BLOCK_LOOP(pair, n) {
    const Real *a = x + pair / rows * length, *b = x + pair % rows * length;
    const double square = block_sum(part, length, [=](int i) {
      const double off = double(a[i]) - double(b[i]);
      return off * off;
    });
    THREAD_LOOP(t, 1) spans[pair] = Real(sqrt(square));
  }
}

// costs[i, j] of pairs i < j of one label: D + the logarithm of the sum over rows of other labels; without such rows, and
// where there is no pair, -infinity.
KERNEL lifted_costs(int n, const Real* spans, const Real* label, Real* costs, int rows, Real margin) {
  GRID_LOOP(pair, n) {
    const int i = pair / rows, j = pair % rows;
    double most = -double(REAL_MAX), sum = 0;
    const bool counts = i < j && label[i] == label[j];
    for (int k = 0; counts && k < rows; ++k)
      if (label[k] != label[i]) most = max(most, double(margin - min(spans[i * rows + k], spans[j * rows + k])));
    for (int k = 0; counts && k < rows; ++k)
      if (label[k] != label[i])
        sum += exp(margin - spans[i * rows + k] - most) + exp(margin - spans[j * rows + k] - most);
    costs[pair] = sum > 0 ? Real(most + log(sum)) + spans[pair] : -REAL_MAX;
  }
}

KERNEL lifted_losses(int n, const Real* costs, const Real* label, double* partial, int items, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items,
        [=](int i) { return i / rows < i % rows && label[i / rows] == label[i % rows] ? COUNTS : IGNORED; },
        [=](int i) {
          const double cost = max(costs[i], Real(0));
          return cost * cost;
        });
}

// top = the sum / twice the number of pairs, which is left in result[0]; 0 without pairs.
KERNEL lifted_join(int n, const double* partial, Real* top, Real* result, int blocks) {
  GRID_LOOP(i, n) {
    double sum = 0, pairs = 0;
    for (int b = 0; b < blocks; ++b) {
      sum += partial[3 * b];
      pairs += partial[3 * b + 1];
    }
    result[i] = Real(max(pairs, 1.0));
    top[i] = Real(sum / (2 * max(pairs, 1.0)));
  }
}

// moves[i, k]: the derivative of the loss by D_ik as row i sees it; a pair (i, j) gives half of D_ij to each.
KERNEL lifted_moves(int n, const Real* spans, const Real* costs, const Real* label, const Real* pairs, const Real* top_diff,
                    Real* moves, int rows, Real margin) {
  GRID_LOOP(pair, n) {
    const int i = pair / rows, k = pair % rows;
    Real sum = 0;
    if (i != k && label[i] == label[k]) sum = max(costs[min(i, k) * rows + max(i, k)], Real(0)) / 2;
    if (label[i] != label[k])
      for (int j = 0; j < rows; ++j)
        if (j != i && label[j] == label[i]) {
          const int at = min(i, j) * rows + max(i, j);
          const Real cost = costs[at];  // of which e^(margin - D_ik) is one term of the sum under the logarithm
          if (cost > 0) sum -= cost * exp(margin - spans[pair] - (cost - spans[at]));
        }
    moves[pair] = top_diff[0] / pairs[0] * sum;
  }
}

// A row's gradient: every distance that it has a part in, along its direction. n: elements.
KERNEL lifted_diffs(int n, const Real* x, const Real* spans, const Real* moves, Real* bottom_diff, int rows, int length) {
  GRID_LOOP(at, n) {
    const int i = at / length, c = at % length;
    Real sum = 0;
    for (int k = 0; k < rows; ++k) {
      const Real gap = spans[i * rows + k];
      if (gap > 0) sum += (moves[i * rows + k] + moves[k * rows + i]) / gap * (x[at] - x[k * length + c]);
    }
    bottom_diff[at] = sum;
  }
}
