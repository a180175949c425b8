// upsample.cu: a smaller plane spread over a larger one, each element over a block, or back to where pooling took it from.
#include "kernel.h"

// n: rows of all bottom planes. Each element fills a block of scale_h rows and scale_w columns.
KERNEL nearest_forward(int n, const Real* bottom, Real* top, int width, int scale_h, int scale_w) {
  BLOCK_LOOP(row, n) {
    const Real* x = bottom + row * width;
    for (int dy = 0; dy < scale_h; ++dy) {
      Real* y = top + (row * scale_h + dy) * width * scale_w;
      THREAD_LOOP(t, width)
        for (int dx = 0; dx < scale_w; ++dx) y[t * scale_w + dx] = x[t];
    }
  }
}

KERNEL nearest_backward(int n, const Real* top_diff, Real* bottom_diff, int width, int scale_h, int scale_w) {
  BLOCK_LOOP(row, n) {
    const Real* g = top_diff + row * scale_h * width * scale_w;
    Real* d = bottom_diff + row * width;
    THREAD_LOOP(t, width) {
      Real sum = 0;
      for (int dy = 0; dy < scale_h; ++dy)
        for (int dx = 0; dx < scale_w; ++dx) sum += g[(dy * width + t) * scale_w + dx];
      d[t] = sum;
    }
  }
}

// The place in the top plane that a mask element names, or -1 for one outside of it.
DEVICE int place(Real mask, int large) { return mask >= 0 && mask < large ? int(mask) : -1; }

// n: planes. source[j]: the last bottom element that the mask sends to j, or -1.
KERNEL unpool_sources(int n, const Real* mask, int* source, int small, int large) {
  BLOCK_LOOP(plane, n) {
    const Real* m = mask + plane * small;
    int* from = source + plane * large;
    THREAD_LOOP(j, large) from[j] = -1;
    BARRIER();
    THREAD_LOOP(i, small) {
      const int j = place(m[i], large);
      if (j >= 0) raise_to(from + j, i);
    }
  }
}

KERNEL unpool_forward(int n, const Real* bottom, const int* source, Real* top, int small, int large) {
  BLOCK_LOOP(plane, n) {
    const Real* x = bottom + plane * small;
    const int* from = source + plane * large;
    Real* y = top + plane * large;
    THREAD_LOOP(j, large) y[j] = from[j] < 0 ? Real(0) : x[from[j]];
  }
}

KERNEL unpool_backward(int n, const Real* top_diff, const Real* mask, const int* source, Real* bottom_diff, int small,
                       int large) {
  BLOCK_LOOP(plane, n) {
    const Real *g = top_diff + plane * large, *m = mask + plane * small;
    const int* from = source + plane * large;
    Real* d = bottom_diff + plane * small;
    THREAD_LOOP(i, small) {
      const int j = place(m[i], large);
      d[i] = j >= 0 && from[j] == i ? g[j] : Real(0);
    }
  }
}
