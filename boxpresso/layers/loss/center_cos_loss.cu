// center_cos_loss.cu: the angles between rows of features and the centres of their classes.
#include "loss.h"

// products[3 row ...] = x c, |x|^2 and |c|^2 of a row and its centre; 0 for a label that is no class.
KERNEL center_products(int n, const Real* x, const Real* label, const Real* centers, double* products, int length, int classes) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const bool known = state_of(label[row], classes, 0, 0) == COUNTS;
    const Real *own = x + row * length, *center = centers + (known ? truth_of(label[row]) : 0) * length;
    const int count = known ? length : 0;
    const double both = block_sum(part, count, [=](int i) { return double(own[i]) * double(center[i]); });
    const double of_x = block_sum(part, count, [=](int i) { return double(own[i]) * double(own[i]); });
    const double of_center = block_sum(part, count, [=](int i) { return double(center[i]) * double(center[i]); });
    THREAD_LOOP(t, 1) {
      products[3 * row] = both;
      products[3 * row + 1] = of_x;
      products[3 * row + 2] = of_center;
    }
  }
}

// 1 / (|x| |c|); 0 where one of them is 0.
DEVICE double steepness(const double* product) {
  const double square = product[1] * product[2];
  return square > 0 ? 1 / sqrt(square) : 0;
}

KERNEL center_cosines(int n, const double* products, const Real* label, double* partial, int items, int classes) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(part, partial, b, items, [=](int i) { return state_of(label[i], classes, 0, 0); },
                  [=](int i) { return -products[3 * i] * steepness(products + 3 * i); });
}

// The gradient of -cos by what is `own` of x and c, whose square is product[of].
DEVICE double turn(const double* product, int of, Real own, Real other) {
  const double along = product[of] > 0 ? product[0] / product[of] : 0;
  return (along * double(own) - double(other)) * steepness(product);
}

// A centre's gradient gets the sum over the rows of its class, divided by 1 + their number. n: classes.
KERNEL center_turns(int n, const Real* x, const Real* label, const Real* centers, const double* products, Real* diff, int rows,
                    int length) {
  BLOCK_LOOP(c, n) {
    THREAD_LOOP(i, length) {
      double sum = 0;
      int count = 0;
      for (int row = 0; row < rows; ++row)
        if (truth_of(label[row]) == c) {
          sum += turn(products + 3 * row, 2, centers[c * length + i], x[row * length + i]);
          ++count;
        }
      if (count) diff[c * length + i] += Real(sum / (1 + count));
    }
  }
}

KERNEL feature_turns(int n, const Real* x, const Real* label, const Real* centers, const double* products, const Real* top_diff,
                     Real* diff, int rows, int length, int classes) {
  GRID_LOOP(i, n) {
    const int row = i / length;
    const bool known = state_of(label[row], classes, 0, 0) == COUNTS;
    const Real center = known ? centers[truth_of(label[row]) * length + i % length] : Real(0);
    diff[i] = known ? Real(double(top_diff[0]) / rows * turn(products + 3 * row, 1, x[i], center)) : Real(0);
  }
}
