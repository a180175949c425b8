// convolution_last.cpp: convolution of channels-last images on the host, for a plan at TEST. A block of places gathers the
// pixels under its windows into rows, which last.h multiplies by packed filters; a 1 x 1 window takes the image as it is.
#include "gather.h"

// packed = the filters of all groups, each group's in panels. terms in the order (tap, channel): the image's own.
// scale: a factor a filter, or null. n: groups x panels, or more.
KERNEL pack_filters(int n, const Real* weights, const Real* scale, Real* packed, int groups, int filters, int channels, int taps) {
  const Panels panels(filters);
  const int whole = channels * taps;
  BLOCK_LOOP(block, n) {
    const int group = block % groups, panel = block / groups;
    if (panel >= panels.count) continue;
    pack_panel(weights + (long long)group * filters * whole, scale ? scale + group * filters : nullptr, filters, whole, panel,
               packed + (long long)group * panels.vectors * LANES * whole,
               [&](int k) { return (long long)(k % channels) * taps + k / channels; });
  }
}

// The pixels under the windows of whole rows of places, with their padding: what a window sees lies at fixed distances from
// its first pixel, `terms`, so that nothing is gathered. A planar image, of pitch 0, stays one.
struct Band {
  const Window& g;
  const int pitch, channels, step, width;  // width: of a row, padding included
  int rows = 0;
  Real* at = nullptr;

  Band(const Window& g, int pitch)
      : g(g), pitch(pitch), channels(g.group_channels()), step(g.stride_w * (pitch ? channels : 1)),
        width((g.out_width - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1) {}

  // For `count` rows of places from row y0 on.
  void take(const Real* image, int y0, int count) {
    rows = (count - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1;
    at = scratch(3, Count(rows) * width * channels + 2 * LANES);
    const int low = min(g.pad_w, width), high = max(low, min(width, g.width + g.pad_w));  // the columns inside the image
    const int planes = pitch ? 1 : channels, wide = pitch ? channels : 1;
    for (int c = 0; c < planes; ++c)
      for (int r = 0; r < rows; ++r) {
        const int y = y0 * g.stride_h - g.pad_h + r;
        Real* to = at + ((long long)c * rows + r) * width * wide;
        if (y < 0 || y >= g.height) {
          std::fill(to, to + (long long)width * wide, Real(0));
          continue;
        }
        std::fill(to, to + (long long)low * wide, Real(0));
        const Real* from = image + ((long long)c * g.height + y) * g.width * (pitch ? pitch : 1);
        if (pitch == 0 || pitch == channels) std::memcpy(to + (long long)low * wide, from, sizeof(Real) * (high - low) * wide);
        else
          for (int x = 0; x < high - low; ++x) copy(from + (long long)x * pitch, to + (low + (long long)x) * wide, wide);
        std::fill(to + (long long)high * wide, to + (long long)width * wide, Real(0));
      }
  }
  // Where term k, of the order (tap, channel), lies from a window's first pixel.
  void terms(int* to) const {
    for (int ky = 0; ky < g.kernel_h; ++ky)
      for (int kx = 0; kx < g.kernel_w; ++kx)
        for (int c = 0; c < channels; ++c)
          *to++ = pitch ? (ky * g.dilation_h * width + kx * g.dilation_w) * channels + c
                        : (c * rows + ky * g.dilation_h) * width + kx * g.dilation_w;
  }
  // The first pixel of the first window of the row of places that is `y` rows behind the first; the next window's lies `step` further.
  const Real* first(int y) const { return at + (long long)y * g.stride_h * width * (pitch ? channels : 1); }
};

// map = activation(filters * image + bias + other). n: images x groups x blocks of `high` places x cuts of the panels into
// `across`. packed: from pack_filters. band: whether blocks are of whole rows, whose pixels are taken as a band.
KERNEL convolve_last(int n, const Real* image, const Real* packed, const Real* bias, const Real* slopes, const Real* other,
                     Real* map, Geometry geometry, Layout layout, int high, int across, int band) {
  const Window g(geometry);
  const int places = g.places(), channels = g.group_channels(), filters = g.group_maps(), whole = channels * g.taps();
  const int down = (places + high - 1) / high;
  const Panels panels(filters);
  const Gather gather(g, layout.bottom_pitch);
  Band pixels(g, layout.bottom_pitch);
  // A pitch that is a multiple of a page falls on the same lines of the first cache row by row: packed, it does not.
  const bool direct = g.plain() && layout.bottom_pitch && (layout.bottom_pitch * sizeof(Real) % 4096 != 0 || panels.count == 1);
  const int pieces = (whole + DEEP - 1) / DEEP, unit = 4;  // of terms that a machine multiplies together
  const int deep = (whole + pieces * unit - 1) / (pieces * unit) * unit;
  int* terms = scratch<int>(4, Count(whole) + 1);
  int rows_of_terms = 0;
  const Real** lines = scratch<const Real*>(5, Count(high) + 1);
  BLOCK_LOOP(block, n) {
    const int cut = block % across, p0 = block / across % down * high, product = block / across / down;
    const int group = product % g.group, number = product / g.group, rows = min(high, places - p0);
    const int first = panels.count * cut / across, end = panels.count * (cut + 1) / across, f0 = group * filters;
    const long long plane = layout.bottom_pitch ? 1 : (long long)(g.height) * g.width;
    const Real* planes = image + (long long)number * layout.bottom_step + group * channels * plane;
    const Real* weights = packed + (long long)group * panels.vectors * LANES * whole;
    const Epilogue e(layout, bias ? bias + f0 : nullptr, slopes ? slopes + f0 : nullptr,
                     other ? other + (long long)number * layout.other_step + f0 : nullptr);
    TileRows t = {planes + (long long)p0 * layout.bottom_pitch, layout.bottom_pitch, lines, terms,
                  map + (long long)number * layout.top_step + f0 + (long long)p0 * layout.top_pitch, layout.top_pitch,
                  (long long)p0 * layout.other_pitch, layout.other_pitch};
    if (band) {
      pixels.take(planes, p0 / g.out_width, rows / g.out_width);
      if (rows_of_terms != pixels.rows) pixels.terms(terms), rows_of_terms = pixels.rows;
      for (int r = 0, y = 0; r < rows; ++y) {
        const Real* at = pixels.first(y);
        for (int x = 0; x < g.out_width; ++x, at += pixels.step) lines[r++] = at;
      }
    }
    for (int k0 = 0; k0 < whole; k0 += deep) {
      const int depth = min(deep, whole - k0);
      TileRows part = t;
      if (band) {
        part.terms += k0;
        const bool beside = BY_LANE && layout.bottom_pitch && channels % LANES == 0;
        const auto panels_of = beside ? panels_last<BY_LANE ? TABLE_BESIDE : TABLE> : panels_last<TABLE>;
        panels_of(depth, k0, whole, part, weights, rows, filters, first, end, e);
        continue;
      }
      if (direct) {
        part.left += k0;
      } else {
        Real* room = scratch(3, Count(rows) * (deep + PAD) + 2 * LANES);
        for (int r = 0; r < rows; ++r) {
          const int y = (p0 + r) / g.out_width, x = (p0 + r) % g.out_width;
          gather.row(planes, y * g.stride_h - g.pad_h, x * g.stride_w - g.pad_w, k0, depth, room + (long long)r * (deep + PAD));
        }
        part.left = room;
        part.left_pitch = deep + PAD;
      }
      panels_last<0>(depth, k0, whole, part, weights, rows, filters, first, end, e);
    }
  }
}
