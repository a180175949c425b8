// prelu.cu: the rectifier with a learned slope below zero. A plane is one channel of one image, `size` elements.
#include "kernel.h"

KERNEL prelu_forward(int n, const Real* bottom, const Real* slope, Real* top, int channels, int size, int shared) {
  BLOCK_LOOP(plane, n) {
    const Real a = slope[shared ? 0 : plane % channels];
    const Real* x = bottom + plane * size;
    Real* y = top + plane * size;
    THREAD_LOOP(t, size) y[t] = x[t] > 0 ? x[t] : a * x[t];
  }
}

KERNEL prelu_backward(int n, const Real* bottom, const Real* slope, const Real* top_diff, Real* bottom_diff, int channels,
                      int size, int shared) {
  BLOCK_LOOP(plane, n) {
    const Real a = slope[shared ? 0 : plane % channels];
    const Real* x = bottom + plane * size;
    const Real* g = top_diff + plane * size;
    Real* d = bottom_diff + plane * size;
    THREAD_LOOP(t, size) d[t] = x[t] > 0 ? g[t] : a * g[t];
  }
}

// The slope's gradient from each channel. A block owns a channel; part t of it sums the elements t, t + PARTS, ... of all
// planes, then the parts are summed: the order, and so every bit, is the same for any number of threads.
constexpr int PARTS = 256;

KERNEL prelu_slope_sums(int n, const Real* bottom, const Real* top_diff, Real* sums, int images, int size) {
  BLOCK_LOOP(c, n) {
    SHARED Real part[PARTS];
    THREAD_LOOP(t, PARTS) part[t] = 0;
    for (int image = 0; image < images; ++image)
      for (int first = 0; first < size; first += PARTS) {
        const int at = (image * n + c) * size + first;
        const Real *x = bottom + at, *g = top_diff + at;
        THREAD_LOOP(t, min(PARTS, size - first)) part[t] += x[t] > 0 ? Real(0) : x[t] * g[t];
      }
    BARRIER();
    THREAD_LOOP(t, 1) {
      Real sum = 0;
      for (int k = 0; k < PARTS; ++k) sum += part[k];
      sums[c] = sum;
    }
    BARRIER();
  }
}

// n: slopes, one for each channel or one for all of them.
KERNEL prelu_slope_diff(int n, const Real* sums, Real* slope_diff, int channels) {
  GRID_LOOP(i, n)
    for (int c = i; c < channels; c += n) slope_diff[i] += sums[c];
}
