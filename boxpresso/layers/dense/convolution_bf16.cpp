// convolution_bf16.cpp: convolution_last.cpp with factors rounded to bfloat16 and sums in float32, on CPUs that multiply pairs of
// them (bf16.h). Term 2 k and its neighbour lie beside each other in 32 bits, of the rows and of the filters alike.
#include "../core/bf16.h"
#include "gather.h"

// A float32 as bfloat16, to the nearest, ties to even; NaN stays NaN.
DEVICE unsigned rounded(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  if (value != value) return bits >> 16 | 64;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// As pack_filters, two terms in 32 bits; a term too many is 0. n: groups x panels, or more.
KERNEL pack_bf16(int n, const Real* weights, const Real* scale, int* packed, int groups, int filters, int channels, int taps) {
  const Panels panels(filters);
  const int whole = channels * taps, pairs = (whole + 1) / 2;
  BLOCK_LOOP(block, n) {
    const int group = block % groups, panel = block / groups;
    if (panel >= panels.count) continue;
    const int width = panels.wide(panel) * LANES, channel = panels.first(panel) * LANES;
    const Real* from = weights + (long long)group * filters * whole;
    int* to = packed + ((long long)group * panels.vectors * LANES + channel) * pairs;
    auto term = [&](int f, int k) -> unsigned {
      if (f >= filters || k >= whole) return 0;
      const long long at = (long long)f * whole + (long long)(k % channels) * taps + k / channels;
      return rounded(float(from[at] * (scale ? scale[group * filters + f] : Real(1))));
    };
    for (int k = 0; k < pairs; ++k)
      for (int f = channel; f < channel + width; ++f) *to++ = int(term(f, 2 * k) | term(f, 2 * k + 1) << 16);
  }
}

#if BF16

// A row of `count` numbers in pairs; to: room for whole vectors.
DEVICE void to_pairs(const Real* from, int count, int* to) {
  for (int i = 0; i < count; i += 2 * LANES, to += LANES) {
    const Vector low = count - i >= LANES ? load(from + i) : load_part(from + i, count - i);
    const int left = count - i - LANES;
    const Vector high = left >= LANES ? load(from + i + LANES) : left > 0 ? load_part(from + i + LANES, left) : Vector{};
    *(Pairs*)to = pairs_of(low, high);
  }
}

#if BY_LANE
// LANES pairs of a tile's sums, as add_by_lane of gemm.h.
template <int R, int V, int... lane>
DEVICE void add_pairs_by_lane(const Pairs (&left)[R], const int* panel, Vector (&sum)[R][V], std::integer_sequence<int, lane...>) {
  const auto add = [&](auto at) {
    Pairs r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = *(const Pairs*)(panel + (at * V + v) * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused_pairs_by<at>(left[i], r[v], sum[i][v]);
  };
  (add(std::integral_constant<int, lane>()), ...);
}
#endif

template <int R, int V>
DEVICE void tile_bf16(int pairs, const int* left, long long pitch, const int* panel, const TileRows& t, int rows, int channel,
                      int filters, const Epilogue& e, bool first, bool last) {
  Vector sum[R][V];
  const int* line[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    line[i] = left + (i < rows ? i : 0) * pitch;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = Vector{};
  }
  long long k = 0;
#if BY_LANE
  for (; k + LANES <= pairs; k += LANES, panel += LANES * V * LANES) {
    Pairs pair[R];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) pair[i] = *(const Pairs*)(line[i] + k);
    add_pairs_by_lane(pair, panel, sum, std::make_integer_sequence<int, LANES>());
  }
#endif
  for (; k < pairs; ++k, panel += V * LANES) {
    Pairs r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = *(const Pairs*)(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Pairs pair = Pairs{} + line[i][k];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused_pairs(pair, r[v], sum[i][v]);
    }
  }
  Real sums[R][V * LANES];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(&sums[i][v * LANES], sum[i][v]);
  finish<V>(&sums[0][0], t, min(rows, R), channel, filters, e, first, last);
}

template <int V>
DEVICE void rows_bf16(int pairs, const int* left, long long pitch, const int* panel, TileRows t, int rows, int channel, int filters,
                      const Epilogue& e, bool first, bool last) {
  constexpr int R = tile_rows(V);
  for (int i = 0; i < rows;) {
    const int step = rows - i > 2 ? R : 1;
    if (step == R) tile_bf16<R, V>(pairs, left, pitch, panel, t, rows - i, channel, filters, e, first, last);
    else tile_bf16<1, V>(pairs, left, pitch, panel, t, 1, channel, filters, e, first, last);
    i += step;
    left += step * pitch;
    t.top += step * t.top_pitch;
    t.other += step * t.other_pitch;
  }
}

#endif

// As convolve_last. packed: from pack_bf16. n: images x groups x blocks of `high` places x cuts of the panels into `across`.
KERNEL convolve_bf16(int n, const Real* image, const int* packed, const Real* bias, const Real* slopes, const Real* other,
                     Real* map, Geometry geometry, Layout layout, int high, int across) {
#if BF16
  const Window g(geometry);
  const int places = g.places(), channels = g.group_channels(), filters = g.group_maps(), whole = channels * g.taps();
  const int down = (places + high - 1) / high, all_pairs = (whole + 1) / 2;
  const Panels panels(filters);
  const Gather gather(g, layout.bottom_pitch);
  const int pieces = (whole + 2 * DEEP - 1) / (2 * DEEP), deep = ((whole + pieces - 1) / pieces + 1) / 2 * 2;
  const long long pitch = deep / 2 + PAD;
  BLOCK_LOOP(block, n) {
    const int cut = block % across, p0 = block / across % down * high, product = block / across / down;
    const int group = product % g.group, number = product / g.group, rows = min(high, places - p0), f0 = group * filters;
    const int begin = panels.count * cut / across, end = panels.count * (cut + 1) / across;
    const Real* planes = image + (long long)number * layout.bottom_step + group * channels;
    const int* weights = packed + (long long)group * panels.vectors * LANES * all_pairs;
    const Epilogue e(layout, bias ? bias + f0 : nullptr, slopes ? slopes + f0 : nullptr,
                     other ? other + (long long)number * layout.other_step + f0 : nullptr);
    const TileRows t = {nullptr, 0, nullptr, nullptr, map + (long long)number * layout.top_step + f0 + (long long)p0 * layout.top_pitch,
                        layout.top_pitch, (long long)p0 * layout.other_pitch, layout.other_pitch};
    int* pairs_of = scratch<int>(3, Count(rows) * pitch + 4 * LANES);
    Real* row = scratch(4, Count(deep) + 2 * LANES);
    for (int k0 = 0; k0 < whole; k0 += deep) {
      const int depth = min(deep, whole - k0), pairs = (depth + 1) / 2;
      for (int r = 0; r < rows; ++r) {
        const Real* from = row;
        if (g.plain()) from = planes + (long long)(p0 + r) * layout.bottom_pitch + k0;
        else
          gather.row(planes, (p0 + r) / g.out_width * g.stride_h - g.pad_h, (p0 + r) % g.out_width * g.stride_w - g.pad_w, k0,
                     depth, row);
        to_pairs(from, depth, pairs_of + r * pitch);
      }
      const bool first = k0 == 0, last = k0 + depth == whole;
      for (int p = begin; p < end; ++p) {
        const int wide = panels.wide(p), channel = panels.first(p) * LANES;
        const int* panel = weights + (long long)channel * all_pairs + (long long)(k0 / 2) * wide * LANES;
        if (wide == 3) rows_bf16<3>(pairs, pairs_of, pitch, panel, t, rows, channel, filters, e, first, last);
        else if (wide == 2) rows_bf16<2>(pairs, pairs_of, pitch, panel, t, rows, channel, filters, e, first, last);
        else rows_bf16<1>(pairs, pairs_of, pitch, panel, t, rows, channel, filters, e, first, last);
      }
    }
  }
#endif
}
