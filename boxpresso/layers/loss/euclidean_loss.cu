// euclidean_loss.cu: sum((a - b)^2) / divisor, summed row by row in a fixed order.
#include "kernel.h"

// b: a null pointer stands for zeros.
KERNEL euclidean_rows(int n, const Real* a, const Real* b, Real* partial, int length) {
  GRID_LOOP(row, n) {
    double sum = 0;
    for (int i = row * length; i < (row + 1) * length; ++i) {
      const double d = double(a[i]) - (b ? double(b[i]) : 0);
      sum += d * d;
    }
    partial[row] = Real(sum);
  }
}

KERNEL weighted_rows(int n, const Real* a, const Real* b, const Real* weight, Real* partial, int length) {
  GRID_LOOP(row, n) {
    double sum = 0;
    for (int i = row * length; i < (row + 1) * length; ++i) {
      const double d = double(a[i]) - double(b[i]);
      sum += double(weight[i]) * d * d;
    }
    partial[row] = Real(sum);
  }
}

KERNEL euclidean_total(int n, const Real* partial, Real* top, int batch, int divisor) {
  GRID_LOOP(i, n) {
    double sum = 0;
    for (int row = 0; row < batch; ++row) sum += partial[row];
    top[i] = Real(sum / divisor);
  }
}

KERNEL euclidean_backward(int n, const Real* a, const Real* b, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * (a[i] - b[i]);
}

KERNEL weighted_diffs(int n, const Real* a, const Real* b, const Real* weight, const Real* top_diff, Real* bottom_diff,
                      Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * weight[i] * (a[i] - b[i]);
}

KERNEL differences(int n, const Real* a, const Real* b, Real* to) {
  GRID_LOOP(i, n) to[i] = a[i] - b[i];
}

// Of rooms: the differences in the maps of the corners that a room of each image's type has, begins[type] to begins[type + 1],
// those of background counting a fifth; 0 in other maps. size: pixels of a map.
KERNEL room_differences(int n, const Real* a, const Real* b, const Real* type, const int* begins, Real* to, int channels,
                        int size, int types) {
  GRID_LOOP(i, n) {
    const Real room = type[i / size / channels];
    const int channel = i / size % channels, own = room > -1 && room < types ? int(room) : -1;
    const bool counts = own >= 0 && channel >= begins[own] && channel < begins[own + 1];
    to[i] = counts ? (a[i] - b[i]) * (b[i] <= Real(0.01) ? Real(0.2) : Real(1)) : Real(0);
  }
}

KERNEL times_weight(int n, const Real* from, const Real* weight, Real* to) {
  GRID_LOOP(i, n) to[i] = from[i] * weight[0];
}
