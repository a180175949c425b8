// convolution_int8.cpp: convolution_last.cpp in 8 bits: whole sums of products of bytes, on all CPUs the same (int8.h).
#include "../../device/int8.h"
#include "../core/geometry.h"
#include <algorithm>

// Rows of a tile of V vectors of sums, as in last.h.
constexpr int rows_of(int v) {
  return VECTOR_BYTES == 64 ? (v == 3 ? 8 : 12) : VECTOR_BYTES == 32 ? (v == 3 ? 4 : v == 2 ? 6 : 8) : (v == 3 ? 3 : v == 2 ? 4 : 8);
}

// How the vectors of a group's filters are cut into panels of up to 3, as in last.h.
struct Cuts {
  int vectors, count;
  explicit Cuts(int filters) : vectors((filters + SUMS - 1) / SUMS) { count = (vectors + 2) / 3; }
  int wide(int panel) const { return vectors / count + (panel < vectors % count); }
  int first(int panel) const { return panel * (vectors / count) + min(panel, vectors % count); }
};

// packed = the filters of all groups, each group's in panels: vector by vector, TERMS terms in a lane; terms in the order (tap,
// channel). sums = bias - zero * the sum of the filter. n: groups x panels, or more.
KERNEL pack_int8(int n, const int8_t* weights, const int* bias, int* packed, int* sums, int groups, int filters, int channels,
                 int taps, int zero) {
  const Cuts cuts(filters);
  const int whole = channels * taps, steps = (whole + TERMS - 1) / TERMS;
  BLOCK_LOOP(block, n) {
    const int group = block % groups, panel = block / groups;
    if (panel >= cuts.count) continue;
    const int width = cuts.wide(panel) * SUMS, channel = cuts.first(panel) * SUMS;
    const int8_t* from = weights + (long long)(group) * filters * whole;
    int* to = packed + ((long long)(group) * cuts.vectors * SUMS + channel) * steps;
    for (int k = 0; k < steps; ++k)
      for (int f = channel; f < channel + width; ++f) {
        uint32_t lane = 0;
        for (int t = 0; t < TERMS; ++t) {
          const int term = k * TERMS + t;
          const int w = f < filters && term < whole ? from[(long long)(f) * whole + (long long)(term % channels) * taps + term / channels] : 0;
          lane |= (uint32_t(w) & (TERMS == 4 ? 0xffu : 0xffffu)) << (32 / TERMS * t);
        }
        *to++ = int(lane);
      }
    for (int f = channel; f < min(channel + width, filters); ++f) {
      int total = 0;
      for (int k = 0; k < whole; ++k) total += from[(long long)(f) * whole + k];
      sums[group * filters + f] = int(uint32_t(bias[group * filters + f]) + uint32_t(total) * uint32_t(SHIFTED - zero));
    }
  }
}

// Bytes of an image as terms of a row. They are taken in pieces: some behind the last are read, and overwritten, too.
constexpr int PIECE = 16;
DEVICE void take(const uint8_t* from, Term* to, int count) {
  for (int i = 0; i < count; i += PIECE) {
    if (sizeof(Term) == 1) std::memcpy(to + i, from + i, PIECE);
    else for (int k = 0; k < PIECE; ++k) to[i + k] = from[i + k];
  }
}

// The pixels under the window of a place, in the order (tap, channel).
struct Pixels {
  const Window& g;
  const Int8Layout& l;
  int channels;
  bool rows;  // whether a row of taps lies beside each other in the image

  Pixels(const Window& g, const Int8Layout& l)
      : g(g), l(l), channels(g.group_channels()), rows(g.dilation_w == 1 && l.bottom_pitch == channels) {}

  // image: of the group's first channel; y, x: the window's first pixel, perhaps in the padding.
  void row(const uint8_t* image, int y, int x, Term* to) const {
    const Term zero = Term(l.zero);
    for (int ky = 0; ky < g.kernel_h; ++ky, y += g.dilation_h) {
      const uint8_t* line = image + (long long)(y) * g.width * l.bottom_pitch;
      if (y < 0 || y >= g.height) {
        std::fill(to, to + g.kernel_w * channels, zero);
      } else if (rows) {
        const int low = min(max(-x, 0), g.kernel_w), high = max(low, min(g.kernel_w, g.width - x));
        std::fill(to, to + low * channels, zero);
        take(line + (long long)(x + low) * channels, to + low * channels, (high - low) * channels);
        std::fill(to + high * channels, to + g.kernel_w * channels, zero);
      } else {
        for (int kx = 0; kx < g.kernel_w; ++kx) {
          const int at = x + kx * g.dilation_w;
          if (at < 0 || at >= g.width) std::fill(to + kx * channels, to + (kx + 1) * channels, zero);
          else take(line + (long long)(at) * l.bottom_pitch, to + kx * channels, channels);
        }
      }
      to += g.kernel_w * channels;
    }
  }
};

// Stores a tile's sums. SIMPLE: without addend and slopes, and all filters exist.
template <int V, bool SIMPLE, class Top>
__attribute__((noinline)) static void finish(const Sums* sums, const Int8Epilogue& e, Top* to, long long pitch, const uint8_t* other,
                                             long long other_pitch, int rows, int count) {
  Int8Epilogue::Own own[V];
  const Int8Epilogue ends = e;  // in registers: no store changes it
  for (int v = 0; v < V; ++v) own[v] = e.own(v * SUMS);
  for (int i = 0; i < rows; ++i, to += pitch, other = other ? other + other_pitch : nullptr)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v, ++sums) {
      const int at = v * SUMS, left = SIMPLE ? SUMS : count - at;
      if (left > 0) ends.store(ends.template finish<SIMPLE>(*sums, own[v], other + at, left), to + at, left);
    }
}

// A tile of R rows x V vectors of sums: `steps` times TERMS terms of rows that lie `pitch` bytes apart.
template <int R, int V>
DEVICE void tile(int steps, const uint8_t* left, long long pitch, const int* panel, int rows, Sums* sums) {
  Sums sum[R][V] = {};
  const uint8_t* line[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) line[i] = left + (i < rows ? i : 0) * pitch;  // a row too many repeats row 0, unsaved
  for (long long k = 0; k < steps; ++k, panel += V * SUMS) {
    Sums r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = *(const Sums*)(panel + v * SUMS);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      uint32_t terms;
      std::memcpy(&terms, line[i] + 4 * k, 4);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = dot(sum[i][v], terms, r[v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[i * V + v] = sum[i][v];
}

template <int V, class Top>
DEVICE void all_rows(int steps, const uint8_t* left, long long pitch, const int* panel, const Int8Epilogue& e, Top* to, long long top_pitch,
                     long long other_pitch, int rows, int count) {
  constexpr int R = rows_of(V);
  Sums sums[R * V];
  const uint8_t* other = e.other;
  const auto end = e.simple() && count >= V * SUMS ? finish<V, true, Top> : finish<V, false, Top>;
  for (int i = 0; i < rows;) {
    const int rest = rows - i;
    int step = R;
    if (rest > R / 2 || R < 4) tile<R, V>(steps, left, pitch, panel, rest, sums);
    else if (rest > 2) tile<R / 2, V>(steps, left, pitch, panel, rest, sums), step = R / 2;
    else tile<1, V>(steps, left, pitch, panel, 1, sums), step = 1;
    end(sums, e, to, top_pitch, other, other_pitch, min(step, rest), count);
    i += step;
    left += step * pitch;
    to += step * top_pitch;
    other = other ? other + step * other_pitch : nullptr;
  }
}

template <class Top>
DEVICE void convolve(int n, const uint8_t* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                     const uint8_t* addend, Top* map, const Geometry& geometry, const Int8Layout& l) {
  const Window g(geometry);
  const int places = g.places(), channels = g.group_channels(), filters = g.group_maps(), whole = channels * g.taps();
  const int down = (places + l.high - 1) / l.high, steps = (whole + TERMS - 1) / TERMS;
  const Cuts cuts(filters);
  const Pixels pixels(g, l);
  const bool direct = g.plain() && sizeof(Term) == 1;  // a row of the image is one of the product
  const long long room = ((long long)(steps) * TERMS + 64 / sizeof(Term)) & ~3LL;  // terms from a row to the next
  BLOCK_LOOP(block, n) {
    const int cut = block % l.across, p0 = block / l.across % down * l.high, product = block / l.across / down;
    const int group = product % g.group, number = product / g.group, rows = min(l.high, places - p0), f0 = group * filters;
    const uint8_t* from = image + (long long)(number) * l.bottom_step + group * channels;
    const uint8_t* left = from + (long long)(p0) * l.bottom_pitch;
    long long pitch = l.bottom_pitch;
    if (!direct) {
      Term* to = scratch<Term>(0, Count(rows) * room);
      for (int r = 0; r < rows; ++r) {
        const int y = (p0 + r) / g.out_width, x = (p0 + r) % g.out_width;
        Term* row = to + r * room;
        pixels.row(from, y * g.stride_h - g.pad_h, x * g.stride_w - g.pad_w, row);
        std::fill(row + whole, row + steps * TERMS, Term(0));
      }
      left = (const uint8_t*)to;
      pitch = room * (long long)(sizeof(Term));
    }
    Top* to = map + (long long)(number) * l.top_step + f0 + (long long)(p0) * l.top_pitch;
    for (int p = cuts.count * cut / l.across; p < cuts.count * (cut + 1) / l.across; ++p) {
      const int wide = cuts.wide(p), channel = cuts.first(p) * SUMS;
      const int* panel = packed + ((long long)(group) * cuts.vectors * SUMS + channel) * steps;
      const auto all = wide == 3 ? all_rows<3, Top> : wide == 2 ? all_rows<2, Top> : all_rows<1, Top>;
      const uint8_t* other = addend ? addend + (long long)(number) * l.other_step + (long long)(p0) * l.other_pitch + f0 + channel : nullptr;
      const Int8Epilogue e(l, bias + f0 + channel, factors + f0 + channel, slopes ? slopes + f0 + channel : nullptr, other);
      all(steps, left, pitch, panel, e, to + channel, l.top_pitch, l.other_pitch, rows, filters - channel);
    }
  }
}

// map, or with a null one real = activation(filters * image + bias + other). packed, bias: from pack_int8, padded as factors and slopes
// are. n: images x groups x blocks of `high` places x cuts of the panels into `across`.
KERNEL convolve_int8(int n, const uint8_t* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                     const uint8_t* other, uint8_t* map, float* real, Geometry geometry, Int8Layout layout) {
  if (map) convolve(n, image, packed, bias, factors, slopes, other, map, geometry, layout);
  else convolve(n, image, packed, bias, factors, slopes, other, real, geometry, layout);
}
