// cosine_margin.cu: an angle added to that of the true class. n: rows.
#include "loss.h"

// Whether theta + m reaches pi, c being cos(theta).
DEVICE bool is_past(Real c, Real cos_m) { return c <= -cos_m; }

DEVICE Real sine_of(Real c) { return sqrt(1 - c * c); }

KERNEL add_angles(int n, const Real* cosines, const Real* label, Real* top, int length, Real cos_m, Real sin_m, Real m) {
  GRID_LOOP(row, n) {
    const int truth = truth_of(label[row]);
    if (truth < 0 || truth >= length) continue;
    const Real c = min(cosines[row * length + truth], Real(1));
    top[row * length + truth] = is_past(c, cos_m) ? c - m * sin_m : c * cos_m - sine_of(c) * sin_m;
  }
}

KERNEL angle_diffs(int n, const Real* cosines, const Real* label, const Real* top_diff, Real* diff, int length, Real cos_m,
                   Real sin_m) {
  GRID_LOOP(row, n) {
    const int truth = truth_of(label[row]);
    if (truth < 0 || truth >= length) continue;
    const int at = row * length + truth;
    const Real c = cosines[at];
    if (c < 1 && !is_past(c, cos_m)) diff[at] = top_diff[at] * (cos_m + sin_m * c / sine_of(c));
  }
}
