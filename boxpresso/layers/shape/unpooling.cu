// unpooling.cu: each element over its window of a larger plane, or at the first place of it.
#include "kernel.h"

struct Spread {
  int height, width, out_height, out_width, kernel_h, kernel_w, stride_h, stride_w;
  int method;  // 0: at the window's first place (the last window wins); 1: over the window, divided by its size; 2: over it
};

// The pixels of window (y, x) within the plane.
struct Area { int top, bottom, left, right; };

DEVICE Area area_of(int y, int x, const Spread& s) {
  const int top = y * s.stride_h, left = x * s.stride_w;
  const int high = s.method ? s.kernel_h : 1, wide = s.method ? s.kernel_w : 1;
  return {top, min(top + high, s.out_height), left, min(left + wide, s.out_width)};
}

DEVICE Real share(const Area& a, const Spread& s) {
  return s.method == 1 ? 1 / (Real(a.bottom - a.top) * Real(a.right - a.left)) : Real(1);
}

// The first window that may hold a pixel; the last is pixel / stride.
DEVICE int first_window(int pixel, int kernel, int stride) { return pixel < kernel ? 0 : (pixel - kernel) / stride + 1; }

KERNEL spread_forward(int n, const Real* bottom, Real* top, Spread s) {
  GRID_LOOP(i, n) {
    const int x = i % s.out_width, y = i / s.out_width % s.out_height, plane = i / s.out_width / s.out_height;
    const Real* from = bottom + plane * s.height * s.width;
    const int high = s.method ? s.kernel_h : 1, wide = s.method ? s.kernel_w : 1;
    Real sum = 0;
    for (int h = first_window(y, high, s.stride_h); h <= min(y / s.stride_h, s.height - 1); ++h)
      for (int w = first_window(x, wide, s.stride_w); w <= min(x / s.stride_w, s.width - 1); ++w)
        sum += from[h * s.width + w] * share(area_of(h, w, s), s);
    top[i] = sum;
  }
}

KERNEL spread_backward(int n, const Real* top_diff, Real* bottom_diff, Spread s) {
  GRID_LOOP(i, n) {
    const int plane = i / s.width / s.height;
    const Real* from = top_diff + plane * s.out_height * s.out_width;
    const Area a = area_of(i / s.width % s.height, i % s.width, s);
    Real sum = 0;
    for (int y = a.top; y < a.bottom; ++y)
      for (int x = a.left; x < a.right; ++x) sum += from[y * s.out_width + x];
    bottom_diff[i] = a.top < a.bottom && a.left < a.right ? sum * share(a, s) : Real(0);
  }
}
