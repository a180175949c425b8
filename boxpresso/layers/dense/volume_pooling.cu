// volume_pooling.cu: maxima and means of windows of volumes. Backward gathers: an element asks the windows that it is in.
#include <cfloat>
#include "kernel.h"

struct Volume {
  int size_d, size_h, size_w, out_d, out_h, out_w, kernel_d, kernel_h, kernel_w;
  int stride_d, stride_h, stride_w, pad_d, pad_h, pad_w;
};

struct Run { int from, to; };

// The part of window i that lies inside an axis.
DEVICE Run inside(int i, int kernel, int stride, int pad, int size) {
  const int from = i * stride - pad;
  return {max(from, 0), min(from + kernel, size)};
}

// How much of window i lies inside an axis and its padding.
DEVICE Real length(int i, int kernel, int stride, int pad, int size) {
  const int from = i * stride - pad;
  return Real(min(from + kernel, size + pad) - from);
}

DEVICE Real area(int d, int h, int w, const Volume& v) {
  return length(d, v.kernel_d, v.stride_d, v.pad_d, v.size_d) * length(h, v.kernel_h, v.stride_h, v.pad_h, v.size_h) *
         length(w, v.kernel_w, v.stride_w, v.pad_w, v.size_w);
}

// Calls visit(element of the volume) for window `at` of all volumes, along depth, height, width.
template <class Visit>
DEVICE void elements(int at, const Volume& v, Visit visit) {
  const Run d = inside(at / v.out_w / v.out_h % v.out_d, v.kernel_d, v.stride_d, v.pad_d, v.size_d);
  const Run h = inside(at / v.out_w % v.out_h, v.kernel_h, v.stride_h, v.pad_h, v.size_h);
  const Run w = inside(at % v.out_w, v.kernel_w, v.stride_w, v.pad_w, v.size_w);
  for (int z = d.from; z < d.to; ++z)
    for (int y = h.from; y < h.to; ++y)
      for (int x = w.from; x < w.to; ++x) visit((z * v.size_h + y) * v.size_w + x);
}

DEVICE int volume_of(int at, const Volume& v) {
  return at / v.out_w / v.out_h / v.out_d * (v.size_d * v.size_h * v.size_w);
}

KERNEL volume_max(int n, const Real* bottom, Real* top, Volume v) {
  GRID_LOOP(at, n) {
    const Real* volume = bottom + volume_of(at, v);
    Real most = -FLT_MAX;
    elements(at, v, [&](int i) { most = volume[i] > most ? volume[i] : most; });
    top[at] = most;
  }
}

KERNEL volume_places(int n, const Real* bottom, int* places, Volume v) {
  GRID_LOOP(at, n) {
    const Real* volume = bottom + volume_of(at, v);
    Real most = -FLT_MAX;
    int place = -1;
    elements(at, v, [&](int i) {
      if (volume[i] > most) most = volume[i], place = i;
    });
    places[at] = place;
  }
}

KERNEL volume_mean(int n, const Real* bottom, Real* top, Volume v) {
  GRID_LOOP(at, n) {
    const Real* volume = bottom + volume_of(at, v);
    Real sum = 0;
    elements(at, v, [&](int i) { sum += volume[i]; });
    top[at] = sum / area(at / v.out_w / v.out_h % v.out_d, at / v.out_w % v.out_h, at % v.out_w, v);
  }
}

// The windows of an axis that hold element i.
DEVICE Run holding(int i, int kernel, int stride, int pad, int out) {
  const int behind = i + pad - kernel;
  return {behind < 0 ? 0 : behind / stride + 1, min((i + pad) / stride + 1, out)};
}

// places is a null pointer for the mean.
KERNEL volume_diff(int n, const Real* top_diff, const int* places, Real* bottom_diff, Volume v) {
  GRID_LOOP(at, n) {
    const int x = at % v.size_w, y = at / v.size_w % v.size_h, z = at / v.size_w / v.size_h % v.size_d;
    const int volume = v.size_d * v.size_h * v.size_w, first = at / volume * v.out_d * v.out_h * v.out_w;
    const Run d = holding(z, v.kernel_d, v.stride_d, v.pad_d, v.out_d);
    const Run h = holding(y, v.kernel_h, v.stride_h, v.pad_h, v.out_h);
    const Run w = holding(x, v.kernel_w, v.stride_w, v.pad_w, v.out_w);
    Real sum = 0;
    for (int i = d.from; i < d.to; ++i)
      for (int j = h.from; j < h.to; ++j)
        for (int k = w.from; k < w.to; ++k) {
          const int window = first + (i * v.out_h + j) * v.out_w + k;
          if (!places) sum += top_diff[window] / area(i, j, k, v);
          else if (places[window] == at % volume) sum += top_diff[window];
        }
    bottom_diff[at] = sum;
  }
}
