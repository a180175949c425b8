// contrastive_loss.cu: the distances of pairs, and what they cost.
#include "loss.h"

// Caffe makes an int of it: what is closer to 0 than 1 is 0, and NaN is alike.
DEVICE bool is_alike(Real value) { return !(value > -1 && value < 1); }

KERNEL distances(int n, const Real* a, const Real* b, Real* squares, int length) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const int at = row * length;
    const double sum = block_sum(part, length, [=](int i) {
      const double off = double(a[at + i]) - b[at + i];
      return off * off;
    });
    THREAD_LOOP(t, 1) squares[row] = Real(sum);
  }
}

KERNEL pair_losses(int n, const Real* squares, const Real* alike, double* partial, int rows, Real margin, int legacy) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(part, partial, b, rows, [](int) { return COUNTS; },
                  [=](int i) {
                    if (is_alike(alike[i])) return squares[i];
                    const Real room = margin - (legacy ? squares[i] : sqrt(squares[i]));
                    return room <= 0 ? Real(0) : legacy ? room : room * room;
                  });
}

// The means of the squares of like pairs and of unlike ones. A single block.
KERNEL pair_means(int n, const Real* squares, const Real* alike, Real* like, Real* unlike, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double count = block_sum(part, rows, [=](int i) { return double(is_alike(alike[i])); });
    const double near = block_sum(part, rows, [=](int i) { return is_alike(alike[i]) ? double(squares[i]) : 0; });
    const double far = block_sum(part, rows, [=](int i) { return is_alike(alike[i]) ? 0 : double(squares[i]); });
    THREAD_LOOP(t, 1) {
      like[0] = Real(near / max(count, 1.0));
      unlike[0] = Real(far / max(rows - count, 1.0));
    }
  }
}

KERNEL pair_diffs(int n, const Real* a, const Real* b, const Real* alike, const Real* squares, const Real* top_diff,
                  Real* bottom_diff, int length, Real margin, int legacy, Real sign) {
  BLOCK_LOOP(row, n) {
    Real by = sign * top_diff[0] / n;
    if (!is_alike(alike[row])) {
      const Real distance = sqrt(squares[row]), room = margin - (legacy ? squares[row] : distance);
      by *= room <= 0 ? Real(0) : legacy ? Real(-1) : -room / (distance + Real(1e-4));
    }
    THREAD_LOOP(i, length) bottom_diff[row * length + i] = by * (a[row * length + i] - b[row * length + i]);
  }
}
