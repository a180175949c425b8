// view.cu: scores of viewpoints, whose classes have `period` views each that go round.
#include "loss.h"

constexpr int REAL = 10000;  // labels from here on are those of real images, the others of rendered ones
constexpr double MOST = 87.33654475055310898657;  // -log of the smallest float

struct Views { int length, period, background, bandwidth; Real sigma, rendered, real; };  // rows of scores, and the loss

// The labels without what tells real images from rendered ones; NaN and what is no int stay, to be refused.
KERNEL view_labels(int n, const Real* label, Real* plain) {
  GRID_LOOP(i, n) plain[i] = label[i] >= REAL ? label[i] - REAL : label[i];
}

// log(sum of exp) over the views of each row's own class; 0 for background.
KERNEL view_log_sums(int n, const Real* x, const Real* plain, double* log_sums, int length, int period) {
  GRID_LOOP(row, n) {
    const int label = truth_of(plain[row]), first = label / period * period;
    log_sums[row] = 0;
    if (label < 0 || first + period > length) continue;
    const Real* own = x + row * length + first;
    double most = own[0], sum = 0;
    for (int k = 1; k < period; ++k) most = max(most, double(own[k]));
    for (int k = 0; k < period; ++k) sum += exp(double(own[k]) - most);
    log_sums[row] = most + log(sum);
  }
}

KERNEL view_losses(int n, const Real* x, const Real* label, const Real* plain, const double* log_sums, double* partial,
                   int rows, Views v) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, rows, [=](int i) { return state_of(plain[i], v.background + 1, 0, 0); },
        [=](int i) {
          const int truth = truth_of(plain[i]), view = truth % v.period;
          double loss = 0;
          if (truth == v.background) return loss;
          const Real* own = x + i * v.length + (truth - view);
          for (int k = -v.bandwidth; k <= v.bandwidth; ++k) {
            const double missing = log_sums[i] - double(own[(view + k + v.period) % v.period]);
            loss += exp(-abs(double(k)) / v.sigma) * min(missing, MOST);
          }
          return loss * (label[i] < REAL ? v.rendered : v.real);
        });
}

KERNEL view_diffs(int n, const Real* x, const Real* label, const Real* plain, const double* log_sums, const Real* top_diff,
                  Real* diff, Views v, Real whole, Real scale) {
  GRID_LOOP(i, n) {
    const int row = i / v.length, at = i % v.length, truth = truth_of(plain[row]), view = truth % v.period;
    const int k = at - (truth - view);
    diff[i] = 0;
    if (truth < 0 || truth >= v.background || k < 0 || k >= v.period) continue;
    const int ahead = k > view ? k - view : view - k, away = min(ahead, v.period - ahead);
    const double wanted = away <= v.bandwidth ? exp(-double(away) / v.sigma) : 0;
    const double weight = label[row] < REAL ? v.rendered : v.real;
    diff[i] = Real(scale * top_diff[0] * weight * (whole * exp(double(x[i]) - log_sums[row]) - wanted));
  }
}

// How many rows have the best view of the label's class within `tolerance` views of it, and how many are not background.
KERNEL view_hits(int n, const Real* x, const Real* plain, double* partial, int rows, int length, int period, int background,
                 Real tolerance) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, rows, [=](int i) { return state_of(plain[i], background + 1, 1, background); },
        [=](int i) {
          const int truth = truth_of(plain[i]), view = truth % period;
          const Real* own = x + i * length + (truth - view);
          int best = 0;
          for (int k = 1; k < period; ++k)
            if (own[k] > own[best]) best = k;
          const int away = best > view ? best - view : view - best;
          return double(min(away, period - away) <= tolerance);
        });
}
