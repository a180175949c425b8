// pooling.h: the windows of an image.
#pragma once
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
