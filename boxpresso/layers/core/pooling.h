// pooling.h: the windows of an image.
#pragma once
#include <cfloat>
#include "kernel.h"

struct Pool {
  int height, width, out_height, out_width, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  int inside;  // AVE divides by the pixels inside the image, not by those inside image + pad
};

struct Span { int from, to; };

// The pixels of window `at` along one axis; none where from >= to, as where it lies behind the last pixel.
DEVICE Span window(int at, int kernel, int stride, int pad, int size) {
  const int from = at * stride - pad;
  return {min(max(from, 0), size), min(from + kernel, size)};
}

// The windows along one axis that pixel `at` is in.
DEVICE Span windows(int at, int kernel, int stride, int pad, int count) {
  const int end = at + pad;
  return {end < kernel ? 0 : (end - kernel) / stride + 1, min(end / stride + 1, count)};
}

// What AVE divides by along one axis: Caffe's windows reach into the padding, but not beyond it.
DEVICE int extent(int at, int kernel, int stride, int pad, int size, int inside) {
  const int from = at * stride - pad;
  return inside ? min(from + kernel, size) - max(from, 0) : min(from + kernel, size + pad) - from;
}

DEVICE Real area(const Pool& p, int y, int x) {  // not an int, in which 65536 x 65536 is 0
  return Real(extent(y, p.kernel_h, p.stride_h, p.pad_h, p.height, p.inside)) *
         Real(extent(x, p.kernel_w, p.stride_w, p.pad_w, p.width, p.inside));
}

struct Max {  // of an empty window it is -FLT_MAX, in double too
  DEVICE Real start() { return -FLT_MAX; }
  DEVICE Real join(Real a, Real b) { return b > a ? b : a; }
  DEVICE Real finish(Real value, const Pool&, int, int) { return value; }
};

struct Mean {
  DEVICE Real start() { return 0; }
  DEVICE Real join(Real a, Real b) { return a + b; }
  DEVICE Real finish(Real value, const Pool& p, int y, int x) { return value / area(p, y, x); }
};
