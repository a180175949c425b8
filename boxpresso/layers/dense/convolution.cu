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

// Each block owns one sum; its threads' parts are added up in one order, by twos, into the first.
constexpr int THREADS = 256;
DEVICE void halve(Real* part) {
  for (int half = THREADS / 2; half > 0; half /= 2) {
    THREAD_LOOP(t, half) part[t] += part[t + half];
    BARRIER();
  }
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
    halve(part);
    THREAD_LOOP(t, 1) weights_diff[b] += part[0];
    BARRIER();
  }
}

// Columns of several images, for the places [first, first + count) of each plane: columns[plane * taps + tap][place - first],
// `pitch` elements from a row to the next, a multiple of 4. `planes` are those of all images.
struct Range {
  int first, count, pitch;
};
// Two spatial axes.
struct Window {
  int height, width, out_height, out_width, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};
struct alignas(4 * sizeof(Real)) Quad {
  Real v[4];
};
constexpr int QUADS = 4 * THREADS;  // places of a block

// n: blocks of QUADS places for each plane. A thread has four places beside each other, and all their taps: one division by the
// width for them all, and each store is 128 bits wide.
KERNEL columns_2(int n, const Real* __restrict__ image, Real* __restrict__ columns, Window w, Range r) {
  const int blocks = (r.count + QUADS - 1) / QUADS, taps = w.kernel_h * w.kernel_w;
  BLOCK_LOOP(b, n) {
    const int plane = b / blocks, begin = b % blocks * QUADS;
    const Real* from = image + (long long)plane * w.height * w.width;
    Real* to = columns + (long long)plane * taps * r.pitch;
    THREAD_LOOP(t, THREADS) {
      const int at = begin + 4 * t;
      if (at < r.count) {
        const int row = (r.first + at) / w.out_width, column = r.first + at - row * w.out_width;
        int y[4], x[4];
        for (int i = 0, oy = row, ox = column; i < 4; ++i) {
          y[i] = oy * w.stride_h - w.pad_h;
          x[i] = ox * w.stride_w - w.pad_w;
          if (++ox == w.out_width) ox = 0, ++oy;
        }
        Real* store = to + at;
        for (int ky = 0; ky < w.kernel_h; ++ky)
          for (int kx = 0; kx < w.kernel_w; ++kx, store += r.pitch) {
            Quad four;
            for (int i = 0; i < 4; ++i) {
              const int yy = y[i] + ky * w.dilation_h, xx = x[i] + kx * w.dilation_w;
              const bool inside = unsigned(yy) < unsigned(w.height) && unsigned(xx) < unsigned(w.width);
              four.v[i] = inside ? from[(long long)yy * w.width + xx] : Real(0);
            }
            *(Quad*)store = four;
          }
      }
    }
  }
}

// The adjoint: image[plane][pixel] (+= where `more`) the sum of the columns over the taps that lie on it, for the pixels
// [begin, begin + pixels) of each plane. n: blocks of THREADS pixels for each plane.
KERNEL pixels_2(int n, const Real* __restrict__ columns, Real* __restrict__ image, Window w, Range r, int begin, int pixels, int more) {
  const int blocks = (pixels + THREADS - 1) / THREADS, taps = w.kernel_h * w.kernel_w;
  BLOCK_LOOP(b, n) {
    const int plane = b / blocks, from_pixel = begin + b % blocks * THREADS;
    const Real* from = columns + (long long)plane * taps * r.pitch;
    Real* to = image + (long long)plane * w.height * w.width;
    THREAD_LOOP(t, THREADS) {
      const int at = from_pixel + t;
      if (at < begin + pixels) {
        const int y = at / w.width, x = at - y * w.width;
        Real sum = 0;
        for (int ky = 0; ky < w.kernel_h; ++ky) {
          const int a = y + w.pad_h - ky * w.dilation_h, oy = w.stride_h == 1 ? a : a / w.stride_h;
          if (a < 0 || oy >= w.out_height || oy * w.stride_h != a) continue;
          for (int kx = 0; kx < w.kernel_w; ++kx) {
            const int e = x + w.pad_w - kx * w.dilation_w, ox = w.stride_w == 1 ? e : e / w.stride_w;
            if (e < 0 || ox >= w.out_width || ox * w.stride_w != e) continue;
            const long long place = (long long)oy * w.out_width + ox - r.first;
            if (place >= 0 && place < r.count) sum += from[(long long)(ky * w.kernel_w + kx) * r.pitch + place];
          }
        }
        to[at] = more ? to[at] + sum : sum;
      }
    }
  }
}

// The same for any number of axes. n: planes * taps * count.
KERNEL columns_n(int n, const Real* image, Real* columns, Range r, int pixels, int taps, int axes, const int* window) {
  GRID_LOOP(i, n) {
    const int row = i / r.count, at = pixel(row % taps, r.first + i % r.count, axes, window);
    columns[(long long)row * r.pitch + i % r.count] = at < 0 ? Real(0) : image[(long long)(row / taps) * pixels + at];
  }
}
// n: planes * pixels.
KERNEL pixels_n(int n, const Real* columns, Real* image, Range r, int pixels, int taps, int more, int axes, const int* window) {
  GRID_LOOP(i, n) {
    Real sum = 0;
    for (int tap = 0; tap < taps; ++tap) {
      const int at = place(tap, i % pixels, axes, window);
      if (at >= r.first && at - r.first < r.count) sum += columns[((long long)(i / pixels) * taps + tap) * r.pitch + at - r.first];
    }
    image[i] = more ? image[i] + sum : sum;
  }
}

constexpr int RELU = 1, LEAKY = 2, SLOPES = 3, CLIP = 4;  // activations; 0 is none. NaN stays NaN in all of them
struct Finish {
  int size, channels, places, activation;
  Real slope, low, high;
};
DEVICE Real finished(Real value, int channel, const Real* bias, const Real* slopes, Finish f) {
  if (bias) value += bias[channel];
  if (f.activation == RELU) return value < 0 ? Real(0) : value;
  if (f.activation == LEAKY) return value < 0 ? f.slope * value : value;
  if (f.activation == SLOPES) return value < 0 ? slopes[channel] * value : value;
  if (f.activation == CLIP) return value < f.low ? f.low : value > f.high ? f.high : value;
  return value;
}
// top = activation(top + bias of its channel + other); n: fours of elements. Two divisions for four elements.
KERNEL finish(int n, Real* top, const Real* bias, const Real* other, const Real* slopes, Finish f) {
  const bool wide = (unsigned long long)top % sizeof(Quad) == 0 && (unsigned long long)other % sizeof(Quad) == 0;
  GRID_LOOP(q, n) {
    const int at = 4 * q, count = min(4, f.size - at);
    int plane = at / f.places, within = at - plane * f.places, channel = plane % f.channels;
    Quad four, more;
    if (wide && count == 4) {
      four = *(const Quad*)(top + at);
      if (other) more = *(const Quad*)(other + at);
    } else {
      for (int i = 0; i < count; ++i) {
        four.v[i] = top[at + i];
        if (other) more.v[i] = other[at + i];
      }
    }
    for (int i = 0; i < count; ++i) {
      four.v[i] = finished(other ? four.v[i] + more.v[i] : four.v[i], channel, bias, slopes, f);
      if (++within == f.places) {
        within = 0;
        if (++channel == f.channels) channel = 0;
      }
    }
    if (wide && count == 4) *(Quad*)(top + at) = four;
    else for (int i = 0; i < count; ++i) top[at + i] = four.v[i];
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

// The gradient of a bias: a channel's images * places differences are cut into `parts` runs of one length, a block each, whose sums
// (part, channel) bias_total adds up in the order of the parts. Sizes alone decide the parts, so that the order is the same in every run.
// n: channels * parts. With one part sums is the gradient itself, which it adds to.
KERNEL bias_backward(int n, const Real* __restrict__ top_diff, Real* __restrict__ sums, int channels, int images, int places, int parts) {
  const long long count = (long long)images * places, each = (count + parts - 1) / parts;
  BLOCK_LOOP(b, n) {
    SHARED Real part[THREADS];
    const int channel = b % channels;
    const long long begin = b / channels * each, end = min(begin + each, count);
    THREAD_LOOP(t, THREADS) part[t] = 0;
    if (places < THREADS) {  // a block's threads lie in several images
      for (long long i = begin; i < end; i += THREADS)
        THREAD_LOOP(t, int(min((long long)THREADS, end - i))) {
          const int image = int((i + t) / places), place = int(i + t - (long long)image * places);
          part[t] += top_diff[((long long)image * channels + channel) * places + place];
        }
    } else {
      for (long long i = begin; i < end;) {
        const int image = int(i / places), first = int(i - (long long)image * places);
        const int last = int(min((long long)places, first + end - i));
        const Real* from = top_diff + ((long long)image * channels + channel) * places;
        for (int at = first; at < last; at += THREADS) THREAD_LOOP(t, min(THREADS, last - at)) part[t] += from[at + t];
        i += last - first;
      }
    }
    BARRIER();
    halve(part);
    THREAD_LOOP(t, 1) sums[b] = parts == 1 ? sums[b] + part[0] : part[0];
    BARRIER();
  }
}
// n: channels.
KERNEL bias_total(int n, const Real* sums, Real* bias_diff, int parts) {
  GRID_LOOP(channel, n) {
    Real sum = 0;
    for (int part = 0; part < parts; ++part) sum += sums[part * n + channel];
    bias_diff[channel] += sum;
  }
}
