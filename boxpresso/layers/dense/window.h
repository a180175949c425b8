// window.h: the geometry of a convolution of two axes on the host, and the columns under its taps: rows of pixels, zero in the
// padding, that lie in no memory but the panel which is packed from them.
//
// An "image" is the larger side, a "map" the one with a place for each window.
#pragma once
#include "../core/geometry.h"

// The part of a row of places, under one tap, that lies inside the image.
struct Run {
  int at, count;  // from which column on, how many
  int pixel;      // the first one's pixel in its plane
};

// For `count` places from `first` on, and each tap, the runs inside the image: what is left out is padding.
struct Runs {
  const Window& g;
  Run* runs;   // [tap][row]
  int* used;   // [tap]
  int rows;

  Runs(const Window& g, int first, int count) : g(g) {
    rows = (first + count - 1) / g.out_width - first / g.out_width + 1;
    const size_t ints = sizeof(Run) / sizeof(int) * rows * g.taps() + g.taps();
    used = reinterpret_cast<int*>(scratch(2, ints * sizeof(int) / sizeof(Real) + 1));
    runs = reinterpret_cast<Run*>(used + g.taps());
    for (int ky = 0; ky < g.kernel_h; ++ky)
      for (int kx = 0; kx < g.kernel_w; ++kx) {
        const int tap = ky * g.kernel_w + kx, shift = kx * g.dilation_w - g.pad_w;
        // ox * stride + shift is inside [0, width) for ox in [low, high)
        const int low = shift < 0 ? (-shift + g.stride_w - 1) / g.stride_w : 0;
        const int high = g.width > shift ? (g.width - shift + g.stride_w - 1) / g.stride_w : 0;
        int oy = first / g.out_width, ox = first % g.out_width, at = 0;
        used[tap] = 0;
        while (at < count) {
          const int wide = min(count - at, g.out_width - ox), y = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
          const int from = max(low, ox), to = min(high, ox + wide);
          if (y >= 0 && y < g.height && from < to)
            runs[tap * rows + used[tap]++] = {at + from - ox, to - from, y * g.width + from * g.stride_w + shift};
          at += wide;
          ox = 0;
          ++oy;
        }
      }
  }

  // One row of columns: `out` gets the pixels of `plane` under the tap, zero in the padding, `room` elements in all.
  void row(const Real* plane, int tap, Real* out, int room) const {
    const Run* run = runs + tap * rows;
    if (used[tap] != 1 || run->count != room) std::memset(out, 0, room * sizeof(Real));
    for (int r = 0; r < used[tap]; ++r, ++run) {
      const Real* from = plane + run->pixel;
      Real* to = out + run->at;
      if (g.stride_w == 1) copy(from, to, run->count);
      else
        for (int i = 0; i < run->count; ++i) to[i] = from[i * g.stride_w];
    }
  }
};

// One group of one image: where its planes begin, and its filters.
struct Product {
  const Real *planes, *weights, *bias;
  Real* map;
  int channels;  // of the group

  Product(const Window& g, int index, const Real* image, const Real* weights, const Real* bias, Real* map) {
    const int part = index % g.group, number = index / g.group, filter = part * g.group_maps();
    channels = g.group_channels();
    planes = image + (long(number) * g.channels + part * channels) * g.pixels();
    this->weights = weights + long(filter) * channels * g.taps();
    this->bias = bias ? bias + filter : nullptr;
    this->map = map + (long(number) * g.maps + filter) * g.places();
  }
};

// How many rows of the map are taken at once where columns are written out: some 1000 places, whatever the number of workers.
DEVICE int stripe(const Window& g) { return min(g.out_height, max(1, 1024 / max(1, g.out_width))); }

// Adds `rows` rows of places from row `y0` on, one column row a tap, to the pixels of a plane that they came from.
DEVICE void add_columns(const Window& g, const Real* columns, int y0, int rows, Real* plane) {
  for (int ky = 0; ky < g.kernel_h; ++ky)
    for (int kx = 0; kx < g.kernel_w; ++kx) {
      const int shift = kx * g.dilation_w - g.pad_w;
      const int low = shift < 0 ? (-shift + g.stride_w - 1) / g.stride_w : 0;
      const int high = g.width > shift ? min(g.out_width, (g.width - shift + g.stride_w - 1) / g.stride_w) : 0;
      for (int oy = y0; oy < y0 + rows; ++oy, columns += g.out_width) {
        const int y = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
        if (y < 0 || y >= g.height) continue;
        Real* to = plane + long(y) * g.width + shift;
        if (g.stride_w == 1)
          for (int x = low; x < high; ++x) to[x] += columns[x];
        else
          for (int x = low; x < high; ++x) to[x * g.stride_w] += columns[x];
      }
    }
}
