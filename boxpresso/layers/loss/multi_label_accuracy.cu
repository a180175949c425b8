// multi_label_accuracy.cu: how many yes-or-no labels have a score of the right sign, counted piece by piece.
#include "sum.h"

constexpr int LABELS_OF_BLOCK = 1024;
constexpr int COUNTS = 4;  // yes that are right, all yes, no that are right, all no

KERNEL count_signs(int n, const Real* score, const Real* label, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b * LABELS_OF_BLOCK, count = min(LABELS_OF_BLOCK, items - first);
    for (int k = 0; k < COUNTS; ++k) {
      const double sum = block_sum(part, count, [=](int i) {
        const bool is_yes = label[first + i] >= 1, is_no = label[first + i] <= -1, high = score[first + i] >= 0;
        return k == 0 ? is_yes && high : k == 1 ? is_yes : k == 2 ? is_no && score[first + i] < 0 : is_no;
      });
      THREAD_LOOP(t, 1) partial[COUNTS * b + k] = sum;
    }
  }
}

// top: recall, the share of no that are right, the harmonic mean of both, precision, F1; 0 where one has no value.
KERNEL shares_of_signs(int n, const double* partial, Real* top, int blocks) {
  GRID_LOOP(i, n) {
    double sum[COUNTS] = {};
    for (int b = 0; b < blocks; ++b)
      for (int k = 0; k < COUNTS; ++k) sum[k] += partial[COUNTS * b + k];
    const double right = sum[0], yes = sum[1], rejected = sum[2], no = sum[3], wrong = no - rejected;
    top[0] = Real(yes > 0 ? right / yes : 0);
    top[1] = Real(no > 0 ? rejected / no : 0);
    top[2] = Real(right > 0 && rejected > 0 ? 2 / (yes / right + no / rejected) : 0);
    top[3] = Real(right > 0 ? right / (right + wrong) : 0);
    top[4] = Real(right > 0 ? 2 * right / (2 * right + wrong + yes - right) : 0);
  }
}
