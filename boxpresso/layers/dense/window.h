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

// For `count` places from `first` on, and `taps` taps from `tap0` on, after the last one the first again, the runs inside the
// image: what is left out is padding.
struct Runs {
  const Window& g;
  Run* runs;  // [tap][row]
  int* used;  // [tap]
  int rows, tap0;

  Runs(const Window& g, int first, int count, int tap0, int taps) : g(g), tap0(tap0) {
    rows = (first + count - 1) / g.out_width - first / g.out_width + 1;
    runs = scratch<Run>(2, Count(rows) * taps);
    used = scratch<int>(2, taps);
    for (int t = 0; t < taps; ++t) {
      const int tap = (tap0 + t) % g.taps(), ky = tap / g.kernel_w, shift = tap % g.kernel_w * g.dilation_w - g.pad_w;
      // ox * stride + shift is inside [0, width) for ox in [low, high)
      const int low = shift < 0 ? (-shift - 1) / g.stride_w + 1 : 0;
      const int high = g.width > shift ? (g.width - shift - 1) / g.stride_w + 1 : 0;
      int oy = first / g.out_width, ox = first % g.out_width, at = 0;
      used[t] = 0;
      while (at < count) {
        const int wide = min(count - at, g.out_width - ox), y = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
        const int from = max(low, ox), to = min(high, ox + wide);
        if (y >= 0 && y < g.height && from < to)
          runs[t * rows + used[t]++] = {at + from - ox, to - from, y * g.width + from * g.stride_w + shift};
        at += wide;
        ox = 0;
        ++oy;
      }
    }
  }
  int index(int tap) const { return tap < tap0 ? tap - tap0 + g.taps() : tap - tap0; }

  // One row of columns: `out` gets the pixels of `plane` under the tap, zero in the padding, `room` elements in all.
  template <class T>
  void row(const T* plane, int tap, T* out, int room) const {
    const int t = index(tap);
    const Run* run = runs + t * rows;
    if (used[t] != 1 || run->count != room) std::memset((void*)out, 0, room * sizeof(T));
    for (int r = 0; r < used[t]; ++r, ++run) {
      const T* from = plane + run->pixel;
      T* to = out + run->at;
      if (g.stride_w == 1) copy(from, to, run->count);
      else
        for (int i = 0; i < run->count; ++i) to[i] = from[i * g.stride_w];
    }
  }
  // The adjoint: adds a row of columns to the pixels that it is of.
  void add(const Real* row, int tap, Real* plane) const {
    const int t = index(tap);
    const Run* run = runs + t * rows;
    for (int r = 0; r < used[t]; ++r, ++run) {
      const Real* from = row + run->at;
      Real* to = plane + run->pixel;
      if (g.stride_w == 1)
        for (int i = 0; i < run->count; ++i) to[i] += from[i];
      else
        for (int i = 0; i < run->count; ++i) to[i * g.stride_w] += from[i];
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
    planes = image + ((long long)number * g.channels + part * channels) * g.pixels();
    this->weights = weights + (long long)filter * channels * g.taps();
    this->bias = bias ? bias + filter : nullptr;
    this->map = map + ((long long)number * g.maps + filter) * g.places();
  }
};

// `high` rows of up to LANES, `wide` numbers of each, as a square, turned; zero where there are none.
DEVICE void take_square(const Real* from, long long stride, int high, int wide, Vector* square) {
  for (int i = 0; i < LANES; ++i)
    square[i] = i >= high ? Vector{} : wide == LANES ? load(from + i * stride) : load_part(from + i * stride, wide);
  transpose(square);
}

// Columns that are written out: of so many places at once, whole rows of the map where one is not longer than that, and of so
// many rows of them, whatever the number of workers.
constexpr int PLACES = 1024, TAPS = 4096;
DEVICE int stripe(const Window& g) {
  return g.out_width > PLACES ? PLACES : min(g.out_height, max(1, PLACES / max(1, g.out_width))) * g.out_width;
}
