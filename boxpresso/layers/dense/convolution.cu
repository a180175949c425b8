// convolution.cu: convolution of any number of axes, through columns (im2col) and a matrix product, on either device.
// An "image" is the larger side (Convolution's bottom, Deconvolution's top), a "map" the side with a place for each window.
#include "kernel.h"

// window: `axes` numbers each of image size, map size, kernel, stride, pad and dilation, from the first axis to the last.
struct Axis {
  int image, map, kernel, stride, pad, dilation;
};
DEVICE Axis axis_of(const int* window, int axes, int a) {
  const int* w = window + a;
  return {w[0], w[axes], w[2 * axes], w[3 * axes], w[4 * axes], w[5 * axes]};
}

// Where in its plane of the image the tap of a window lies, or -1 in the padding. With `axes` a constant the loop unrolls.
DEVICE int pixel(int tap, int place, int axes, const int* window) {
  int at = 0, step = 1;
  bool inside = true;
  for (int a = axes - 1; a >= 0; --a) {
    const Axis w = axis_of(window, axes, a);
    const int x = place % w.map * w.stride - w.pad + tap % w.kernel * w.dilation;
    place /= w.map;
    tap /= w.kernel;
    inside = inside && x >= 0 && x < w.image;
    at += x * step;
    step *= w.image;
  }
  return inside ? at : -1;
}

// The place whose window has that pixel of the image as its tap, or -1 where there is none.
DEVICE int place(int tap, int pixel, int axes, const int* window) {
  int at = 0, step = 1;
  bool inside = true;
  for (int a = axes - 1; a >= 0; --a) {
    const Axis w = axis_of(window, axes, a);
    const int x = pixel % w.image + w.pad - tap % w.kernel * w.dilation;
    pixel /= w.image;
    tap /= w.kernel;
    inside = inside && x >= 0 && x % w.stride == 0 && x / w.stride < w.map;
    at += x / w.stride * step;
    step *= w.map;
  }
  return inside ? at : -1;
}

// columns[channel, tap, place] = the pixel under that tap; n: all of columns. pixels, places: elements of a plane.
DEVICE Real column(int i, const Real* image, int pixels, int taps, int places, int axes, const int* window) {
  const int row = i / places, at = pixel(row % taps, i % places, axes, window);
  return at < 0 ? Real(0) : image[row / taps * pixels + at];
}
KERNEL im2col(int n, const Real* image, Real* columns, int pixels, int taps, int places, int axes, const int* window) {
  GRID_LOOP(i, n) columns[i] = column(i, image, pixels, taps, places, axes, window);
}
KERNEL im2col_2(int n, const Real* image, Real* columns, int pixels, int taps, int places, const int* window) {
  GRID_LOOP(i, n) columns[i] = column(i, image, pixels, taps, places, 2, window);
}

// image[channel, pixel] = the sum of columns over the taps that lay on it; n: all of image.
DEVICE Real gathered(int i, const Real* columns, int pixels, int taps, int places, int axes, const int* window) {
  Real sum = 0;
  for (int tap = 0; tap < taps; ++tap) {
    const int at = place(tap, i % pixels, axes, window);
    if (at >= 0) sum += columns[(i / pixels * taps + tap) * places + at];
  }
  return sum;
}
KERNEL col2im(int n, const Real* columns, Real* image, int pixels, int taps, int places, int axes, const int* window) {
  GRID_LOOP(i, n) image[i] = gathered(i, columns, pixels, taps, places, axes, window);
}
KERNEL col2im_2(int n, const Real* columns, Real* image, int pixels, int taps, int places, const int* window) {
  GRID_LOOP(i, n) image[i] = gathered(i, columns, pixels, taps, places, 2, window);
}

// Depthwise: plane p of the map is made from plane p / each of the image, for all images of the batch at once.
DEVICE Real depthwise(int i, const Real* image, const Real* weights, int filters, int each, int pixels, int taps, int places,
                      int axes, const int* window) {
  const int plane = i / places;
  const Real *from = image + plane / each * pixels, *w = weights + plane % filters * taps;
  Real sum = 0;
  for (int tap = 0; tap < taps; ++tap) {
    const int at = pixel(tap, i % places, axes, window);
    if (at >= 0) sum += w[tap] * from[at];
  }
  return sum;
}
KERNEL depthwise_correlate(int n, const Real* image, const Real* weights, Real* map, int filters, int each, int pixels,
                           int taps, int places, int axes, const int* window) {
  if (axes == 2) {
    GRID_LOOP(i, n) map[i] = depthwise(i, image, weights, filters, each, pixels, taps, places, 2, window);
  } else {
    GRID_LOOP(i, n) map[i] = depthwise(i, image, weights, filters, each, pixels, taps, places, axes, window);
  }
}

DEVICE Real depthwise_adjoint(int i, const Real* map, const Real* weights, int filters, int each, int pixels, int taps,
                              int places, int axes, const int* window) {
  const int plane = i / pixels;
  Real sum = 0;
  for (int tap = 0; tap < taps; ++tap) {
    const int at = place(tap, i % pixels, axes, window);
    if (at < 0) continue;
    for (int p = plane * each; p < (plane + 1) * each; ++p) sum += weights[p % filters * taps + tap] * map[p * places + at];
  }
  return sum;
}
KERNEL depthwise_spread(int n, const Real* map, const Real* weights, Real* image, int filters, int each, int pixels, int taps,
                        int places, int axes, const int* window) {
  if (axes == 2) {
    GRID_LOOP(i, n) image[i] = depthwise_adjoint(i, map, weights, filters, each, pixels, taps, places, 2, window);
  } else {
    GRID_LOOP(i, n) image[i] = depthwise_adjoint(i, map, weights, filters, each, pixels, taps, places, axes, window);
  }
}

// Each block owns one sum; its threads' parts are added up in one order.
constexpr int THREADS = 256;
DEVICE Real total(const Real* part) {
  Real sum = 0;
  for (int t = 0; t < THREADS; ++t) sum += part[t];
  return sum;
}

// n: filters * taps, one block for each weight.
KERNEL depthwise_weights(int n, const Real* image, const Real* map, Real* weights_diff, int images, int filters, int each,
                         int pixels, int taps, int places, int axes, const int* window) {
  BLOCK_LOOP(b, n) {
    SHARED Real part[THREADS];
    THREAD_LOOP(t, THREADS) {
      Real sum = 0;
      for (int image_at = 0; image_at < images; ++image_at) {
        const int plane = image_at * filters + b / taps;
        for (int i = t; i < places; i += THREADS) {
          const int at = pixel(b % taps, i, axes, window);
          if (at >= 0) sum += image[plane / each * pixels + at] * map[plane * places + i];
        }
      }
      part[t] = sum;
    }
    BARRIER();
    THREAD_LOOP(t, 1) weights_diff[b] += total(part);
    BARRIER();
  }
}

// top = relu(top + bias of its plane); n: planes of the batch.
KERNEL add_bias(int n, Real* top, const Real* bias, int has_bias, int channels, int places, int relu) {
  BLOCK_LOOP(plane, n) {
    const Real b = has_bias ? bias[plane % channels] : Real(0);
    Real* to = top + (long long)plane * places;
    THREAD_LOOP(i, places) {
      const Real value = to[i] + b;
      to[i] = relu && value < 0 ? Real(0) : value;
    }
  }
}

// n: channels. The sum over all images and places of a channel, added to bias_diff.
KERNEL bias_backward(int n, const Real* top_diff, Real* bias_diff, int images, int places) {
  BLOCK_LOOP(channel, n) {
    SHARED Real part[THREADS];
    THREAD_LOOP(t, THREADS) part[t] = 0;
    for (int image = 0; image < images; ++image) {
      const Real* from = top_diff + ((long long)image * n + channel) * places;
      for (int i = 0; i < places; i += THREADS) {
        const int count = min(THREADS, places - i);
        THREAD_LOOP(t, count) part[t] += from[i + t];  // part[t] is one thread's own
      }
    }
    BARRIER();
    THREAD_LOOP(t, 1) bias_diff[channel] += total(part);
    BARRIER();
  }
}
