// convolution_bf16.cpp: convolution of channels-last maps in bfloat16 on the host, with sums of Real, for a plan at TEST on CPUs that
// multiply pairs of them (pairs.h). A 1 x 1 window takes the map as it is; the pixels under other windows, and planes of floats, are
// brought together with their padding, so that what a window sees lies at fixed distances from its first pixel.
#include "pairs.h"

// packed = the filters of all groups, each group's in panels: panel by panel, term by term in the order (tap, channel), two of them in
// 32 bits. run: terms that lie beside each other in a map, those of a tap or of all; behind an odd number of them is a 0. scale: a
// factor a filter, or null. n: groups x panels, or more.
KERNEL pack_bf16(int n, const Real* weights, const Real* scale, int* packed, int groups, int filters, int channels, int taps, int run) {
  const Panels panels(filters);
  const int whole = channels * taps, pairs = whole / run * ((run + 1) / 2);
  BLOCK_LOOP(block, n) {
    const int group = block % groups, panel = block / groups;
    if (panel >= panels.count) continue;
    const int width = panels.wide(panel) * LANES, channel = panels.first(panel) * LANES;
    const Real* from = weights + (long long)group * filters * whole;
    int* to = packed + ((long long)group * panels.vectors * LANES + channel) * pairs;
    const auto term = [&](int f, int k) -> unsigned {
      const Real factor = scale ? scale[group * filters + f] : Real(1);
      return bfloat16(float(from[(long long)f * whole + (long long)(k % channels) * taps + k / channels] * factor)).bits;
    };
    for (int k0 = 0; k0 < whole; k0 += run)
      for (int k = k0; k < k0 + run; k += 2)
        for (int f = channel; f < channel + width; ++f)
          *to++ = f < filters ? int(term(f, k) | (k + 1 < k0 + run ? term(f, k + 1) << 16 : 0)) : 0;
  }
}

// How places and filters are cut into blocks, which Python fills in: `high` rows of `wide` places (above 1, all places of a row), and the
// panels into `across`. band: whether pixels are brought together.
struct Cut {
  int high, wide, across, band;
};

#if BF16

// The pixels under the windows of `rows` rows of `wide` places, with their padding, as pairs: `each` of a pixel beside each other, or
// of planes of floats each a plane of its own.
struct Band {
  const Window& g;
  const int channels, each;
  const bool planar;
  int high = 0, width = 0;
  int* at = nullptr;

  Band(const Window& g, bool planar) : g(g), channels(g.group_channels()), each((channels + 1) / 2), planar(planar) {}

  // Room for the pixels of the places from (y0, x0) on; gives the columns [low, end) of it that lie inside the image.
  void begin(int x0, int rows, int wide, int& low, int& end) {
    high = (rows - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1;
    width = (wide - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1;
    at = scratch<int>(3, Count(high) * width * each + 4 * LANES);
    const int left = x0 * g.stride_w - g.pad_w;
    low = max(0, min(width, -left)), end = max(low, min(width, g.width - left));
  }
  void take(const bfloat16* image, long long pitch, int y0, int x0, int rows, int wide) {
    int low, end;
    begin(x0, rows, wide, low, end);
    const int left = x0 * g.stride_w - g.pad_w;
    const bool even = channels % 2 == 0;
    for (int r = 0; r < high; ++r) {
      const int y = y0 * g.stride_h - g.pad_h + r;
      int* to = at + (long long)r * width * each;
      const bool outside = y < 0 || y >= g.height;
      const int first = outside ? width : low, last = outside ? width : end;
      std::memset(to, 0, (long long)first * each * sizeof(int));
      const bfloat16* from = image + ((long long)y * g.width + left + first) * pitch;
      if (even && pitch == channels) std::memcpy(to + (long long)first * each, from, (long long)(last - first) * each * sizeof(int));
      else
        for (int x = first; x < last; ++x, from += pitch) pixel(from, to + (long long)x * each, even);
      std::memset(to + (long long)last * each, 0, (long long)(width - last) * each * sizeof(int));
    }
  }
  void pixel(const bfloat16* from, int* to, bool even) const {
    constexpr int WHOLE = 2 * LANES;  // of a whole vector
    if (!even) to[each - 1] = from[channels - 1].bits;
    const int count = channels - !even;
    int c = 0;
    for (; c + WHOLE <= count; c += WHOLE) std::memcpy(to + c / 2, from + c, sizeof(Pairs));
    for (; c < count; c += 2) to[c / 2] = *(const Pair*)(from + c);
  }
  // The same of planes of floats.
  void take(const Real* image, int y0, int x0, int rows, int wide) {
    int low, end;
    begin(x0, rows, wide, low, end);
    const int left = x0 * g.stride_w - g.pad_w;
    const long long plane = (long long)g.height * g.width;
    for (int q = 0; q < each; ++q)
      for (int r = 0; r < high; ++r) {
        const int y = y0 * g.stride_h - g.pad_h + r;
        int* to = at + ((long long)q * high + r) * width;
        const bool outside = y < 0 || y >= g.height, alone = 2 * q + 1 == channels;
        const int first = outside ? width : low, last = outside ? width : end;
        std::memset(to, 0, first * sizeof(int));
        const Real* from = image + 2 * q * plane + (long long)y * g.width + left;
        for (int x = first; x < last; x += LANES) {
          const int count = last - x;
          const Vector one = count >= LANES ? load(from + x) : load_part(from + x, count);
          const Vector two = alone ? Vector{} : count >= LANES ? load(from + plane + x) : load_part(from + plane + x, count);
          *(Pairs*)(to + x) = pairs_by_lane(one, two);  // what is behind the last is overwritten
        }
        std::memset(to + last, 0, (width - last) * sizeof(int));
      }
  }
  // Where each pair of a filter, tap by tap, lies from a window's first pixel.
  void terms(int* to) const {
    for (int ky = 0; ky < g.kernel_h; ++ky)
      for (int kx = 0; kx < g.kernel_w; ++kx)
        for (int q = 0; q < each; ++q)
          *to++ = planar ? (q * high + ky * g.dilation_h) * width + kx * g.dilation_w
                         : (ky * g.dilation_h * width + kx * g.dilation_w) * each + q;
  }
  const Pair* first(int y, int x) const {  // of a window, from the first place on
    return at + ((long long)y * g.stride_h * width + x * g.stride_w) * (planar ? 1 : each);
  }
};

#endif

// map = activation(filters * image + bias + other). The image is in bfloat16, or planes of floats; the map in bfloat16, or floats:
// the one of the two that is there. packed: from pack_bf16. n: images x groups x blocks of places x cuts of the panels.
KERNEL convolve_bf16(int n, const bfloat16* image, const Real* planes, const int* packed, const Real* bias, const Real* slopes,
                     const bfloat16* other, bfloat16* map, Real* floats, Geometry geometry, Layout layout, Cut cut) {
#if BF16
  const int high = cut.high, wide = cut.wide, across = cut.across;
  const bool band = cut.band;
  const Window g(geometry);
  const int channels = g.group_channels(), filters = g.group_maps(), each = (channels + 1) / 2, pairs = each * g.taps();
  const int down = (g.out_height + high - 1) / high, beside = (g.out_width + wide - 1) / wide;
  const Panels panels(filters);
  Band pixels(g, planes != nullptr);
  int* terms = scratch<int>(4, Count(pairs) + 1);
  int high_of_terms = 0, width_of_terms = 0;
  const Pair** lines = scratch<const Pair*>(5, Count(high) * wide + 1);
  const int pieces = (pairs + DEEP_PAIRS - 1) / DEEP_PAIRS, unit = TILED ? TILE : 4;
  const int deep = (pairs + pieces * unit - 1) / (pieces * unit) * unit;
  Real* partial = scratch(3, Count(high) * wide * 3 * LANES + 3 * LANES * SPARE);
  const Tiles tiles(pairs);
  BLOCK_LOOP(block, n) {
    const int part = block % across, at_x = block / across % beside, at_y = block / across / beside % down;
    const int product = block / across / beside / down, group = product % g.group, number = product / g.group;
    const int y0 = at_y * high, x0 = at_x * wide, rows = min(high, g.out_height - y0), columns = min(wide, g.out_width - x0);
    const int begin = panels.count * part / across, end = panels.count * (part + 1) / across, f0 = group * filters;
    const int* weights = packed + (long long)group * panels.vectors * LANES * pairs;
    const Epilogue e(layout, bias ? bias + f0 : nullptr, slopes ? slopes + f0 : nullptr, nullptr);
    const long long place = (long long)y0 * g.out_width + x0;
    const long long to = (long long)number * layout.top_step + f0 + place * layout.top_pitch;
    const Target t = {map ? map + to : nullptr, floats ? floats + to : nullptr, layout.top_pitch,
                      other ? other + (long long)number * layout.other_step + f0 + place * layout.other_pitch : nullptr,
                      layout.other_pitch, e};
    const bfloat16* from = image ? image + (long long)number * layout.bottom_step + group * channels : nullptr;
    if (planes) pixels.take(planes + (long long)number * layout.bottom_step + (long long)group * channels * g.pixels(), y0, x0, rows, columns);
    else if (band) pixels.take(from, layout.bottom_pitch, y0, x0, rows, columns);
    if (band && (high_of_terms != pixels.high || width_of_terms != pixels.width))
      pixels.terms(terms), high_of_terms = pixels.high, width_of_terms = pixels.width;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        lines[y * columns + x] = band ? pixels.first(y, x)
                                      : (const Pair*)(from + ((long long)(y0 + y) * g.stride_h * g.width + (x0 + x) * g.stride_w) * layout.bottom_pitch);
    const bool whole = !planes && each % LANES == 0;
    for (int p = begin; p < end; ++p) {
      const int vectors = panels.wide(p), channel = panels.first(p) * LANES;
      const int* panel = weights + (long long)channel * pairs;
      for (int k0 = 0; k0 < pairs; k0 += deep) {
        const int depth = min(deep, pairs - k0);
        const PairRows left = {lines, k0, terms + k0, whole};
        const auto multiply = band ? panel_pairs<true> : panel_pairs<false>;
        multiply(vectors, depth, left, panel + (long long)k0 * vectors * LANES, rows * columns, channel, filters, partial, k0 == 0,
                 k0 + depth == pairs, t);
      }
    }
  }
#endif
}
