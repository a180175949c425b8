// spatial_product.cu: x * a, with one factor a for each place of an image, and their gradients.
#include "kernel.h"

// n: channels of all images. Also the gradient of x, from that of the top.
KERNEL by_place(int n, const Real* x, const Real* factor, Real* top, int channels, int size) {
  BLOCK_LOOP(plane, n) {
    const Real* by = factor + plane / channels * size;
    THREAD_LOOP(i, size) top[plane * size + i] = x[plane * size + i] * by[i];
  }
}

// n: places of all images.
KERNEL factors_of_places(int n, const Real* x, const Real* top_diff, Real* factor_diff, int channels, int size) {
  GRID_LOOP(i, n) {
    const int first = i / size * channels * size + i % size;
    double sum = 0;
    for (int c = 0; c < channels; ++c) sum += double(x[first + c * size]) * top_diff[first + c * size];
    factor_diff[i] = Real(sum);
  }
}
