// local.cu: windows of an image, each with filters of its own, and their gradients.
#include "kernel.h"

struct Local {
  int channels, height, width, maps, out_height, out_width, kernel, stride, pad, dilation;
};

// Which pixel of its plane is under a tap of a window; -1 in the padding.
DEVICE int pixel_under(const Local& g, int place, int tap) {
  const int y = place / g.out_width * g.stride - g.pad + tap / g.kernel * g.dilation;
  const int x = place % g.out_width * g.stride - g.pad + tap % g.kernel * g.dilation;
  return y >= 0 && y < g.height && x >= 0 && x < g.width ? y * g.width + x : -1;
}

// The output along one axis whose window has the pixel `at` under the tap `tap`; -1 for none.
DEVICE int window_over(const Local& g, int at, int tap, int windows) {
  const int from = at + g.pad - tap * g.dilation;
  return from >= 0 && from % g.stride == 0 && from / g.stride < windows ? from / g.stride : -1;
}

// n: elements of the top. Weights: (map, channel, tap, place); bias: (map, place), or a null pointer.
KERNEL local_forward(int n, const Real* bottom, const Real* weights, const Real* bias, Real* top, Local g) {
  GRID_LOOP(i, n) {
    const int places = g.out_height * g.out_width, taps = g.kernel * g.kernel, pixels = g.height * g.width;
    const int place = i % places, map = i / places % g.maps;
    const Real* image = bottom + (long long)(i / places / g.maps) * g.channels * pixels;
    const Real* filter = weights + (long long)map * g.channels * taps * places + place;
    Real sum = bias ? bias[map * places + place] : Real(0);
    for (int tap = 0; tap < taps; ++tap) {
      const int pixel = pixel_under(g, place, tap);
      if (pixel < 0) continue;
      for (int c = 0; c < g.channels; ++c)
        sum += image[(long long)c * pixels + pixel] * filter[(long long)(c * taps + tap) * places];
    }
    top[i] = sum;
  }
}

// n: weights, to whose diff is added.
KERNEL local_weights(int n, const Real* bottom, const Real* top_diff, Real* diff, int images, Local g) {
  GRID_LOOP(i, n) {
    const int places = g.out_height * g.out_width, taps = g.kernel * g.kernel, pixels = g.height * g.width;
    const int place = i % places, tap = i / places % taps, c = i / places / taps % g.channels, map = i / places / taps / g.channels;
    const int pixel = pixel_under(g, place, tap);
    if (pixel < 0) continue;
    Real sum = 0;
    for (int image = 0; image < images; ++image)
      sum += top_diff[((long long)image * g.maps + map) * places + place] *
             bottom[((long long)image * g.channels + c) * pixels + pixel];
    diff[i] += sum;
  }
}

// n: biases, to whose diff is added.
KERNEL local_bias(int n, const Real* top_diff, Real* diff, int images) {
  GRID_LOOP(i, n) {
    Real sum = 0;
    for (int image = 0; image < images; ++image) sum += top_diff[(long long)image * n + i];
    diff[i] += sum;
  }
}

// n: elements of the bottom.
KERNEL local_backward(int n, const Real* top_diff, const Real* weights, Real* bottom_diff, Local g) {
  GRID_LOOP(i, n) {
    const int places = g.out_height * g.out_width, taps = g.kernel * g.kernel;
    const int x = i % g.width, y = i / g.width % g.height, c = i / g.width / g.height % g.channels;
    const Real* diff = top_diff + (long long)(i / g.width / g.height / g.channels) * g.maps * places;
    Real sum = 0;
    for (int tap = 0; tap < taps; ++tap) {
      const int oy = window_over(g, y, tap / g.kernel, g.out_height), ox = window_over(g, x, tap % g.kernel, g.out_width);
      if (oy < 0 || ox < 0) continue;
      const int place = oy * g.out_width + ox;
      for (int map = 0; map < g.maps; ++map)
        sum += diff[(long long)map * places + place] *
               weights[((long long)(map * g.channels + c) * taps + tap) * places + place];
    }
    bottom_diff[i] = sum;
  }
}
