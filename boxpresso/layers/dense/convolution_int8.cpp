// convolution_int8.cpp: convolution_last.cpp in 8 bits: whole sums of products of bytes, on all CPUs the same (int8.h).
#include "pixels_int8.h"
#include "amx.h"

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

// packed = the filters of all groups, each group's in panels: vector by vector, TERMS terms in a lane, and 0 behind the end of each of
// the `pieces` of `length` terms that a filter has. sums = bias - zero * the sum of the filter. n: groups x panels, or more.
KERNEL pack_int8(int n, const int8_t* weights, const int* bias, int* packed, int* sums, int groups, int filters, int pieces, int length,
                 int zero) {
  const Cuts cuts(filters);
  const int whole = pieces * length, steps = (length + TERMS - 1) / TERMS;
  BLOCK_LOOP(block, n) {
    const int group = block % groups, panel = block / groups;
    if (panel >= cuts.count) continue;
    const int width = cuts.wide(panel) * SUMS, channel = cuts.first(panel) * SUMS;
    const int8_t* from = weights + (long long)(group) * filters * whole;
    int* to = packed + ((long long)(group) * cuts.vectors * SUMS + channel) * pieces * steps;
    for (int k = 0; k < pieces * steps; ++k)
      for (int f = channel; f < channel + width; ++f) {
        uint32_t lane = 0;
        for (int t = 0; t < TERMS; ++t) {
          const int term = k % steps * TERMS + t;
          const int w = f < filters && term < length ? from[(long long)(f) * whole + k / steps * length + term] : 0;
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

// Where the terms of a window lie: at[i] bytes from its first one on there are `steps` times TERMS for each of so many pieces.
struct Runs {
  int pieces, steps;
  const int* at;
};

#if TILED
// Places, whose terms begin `places[i]` bytes behind `left`, as a left operand of multiply_tiles.
struct RowsOfBytes {
  const Runs& runs;
  const uint8_t* left;
  const int* places;
  const char* row(int i) const { return (const char*)left + places[i]; }
  long long at(int k) const { return runs.at[k / runs.steps] + 4LL * (k % runs.steps); }
  int beside(int k, int most) const { return min(most, runs.steps - k % runs.steps); }
};
#endif

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

// A tile of R rows x V vectors of sums, which begin at `start`. Row i has its first term `at[i]` bytes behind `left`.
template <int R, int V>
DEVICE void tile(const Runs& runs, const uint8_t* left, const int* at, const int* panel, const int* start, int rows, Sums* sums) {
  Sums sum[R][V];
  const uint8_t* line[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    line[i] = left + at[i < rows ? i : 0];  // a row too many repeats row 0, unsaved
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = *(const Sums*)(start + v * SUMS);
  }
  for (int piece = 0; piece < runs.pieces; ++piece) {
    const long long first = runs.at[piece], end = first + 4LL * runs.steps;
    for (long long k = first; k < end; k += 4, panel += V * SUMS) {
      Sums r[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) r[v] = *(const Sums*)(panel + v * SUMS);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        uint32_t terms;
        std::memcpy(&terms, line[i] + k, 4);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] = dot(sum[i][v], all_sums(int(terms)), r[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[i * V + v] = sum[i][v];
}

template <int V, class Top>
DEVICE void all_rows(const Runs& runs, const uint8_t* left, const int* at, const int* panel, const Int8Epilogue& e, Top* to,
                     long long top_pitch, long long other_pitch, int rows, int count) {
  constexpr int R = TILED ? 2 * TILE : rows_of(V);
  Sums sums[R * V];
  const uint8_t* other = e.other;
  const auto end = e.simple() && count >= V * SUMS ? finish<V, true, Top> : finish<V, false, Top>;
  for (int i = 0; i < rows;) {
    const int rest = rows - i;
    int step = R;
#if TILED
    multiply_tiles<true>(RowsOfBytes{runs, left, at + i}, min(rest, R), runs.pieces * runs.steps, EvenWords{panel, V}, V, e.bias, 0, sums);
#else
    if (rest > R / 2 || R < 4) tile<R, V>(runs, left, at + i, panel, e.bias, rest, sums);
    else if (rest > 2) tile<R / 2, V>(runs, left, at + i, panel, e.bias, rest, sums), step = R / 2;
    else tile<1, V>(runs, left, at + i, panel, e.bias, 1, sums), step = 1;
#endif
    end(sums, e, to, top_pitch, other, other_pitch, min(step, rest), count);
    i += step;
    to += step * top_pitch;
    other = other ? other + step * other_pitch : nullptr;
  }
}

// From: uint8_t of a channels-last image, or float of planes.
template <class From, class Top>
DEVICE void convolve(int n, const From* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                     const uint8_t* addend, Top* map, int* odd, const Geometry& geometry, const Int8Layout& l) {
  const Window g(geometry);
  constexpr bool planar = sizeof(From) == 4;
  const bool band = l.band;
  const int places = g.places(), channels = g.group_channels(), filters = g.group_maps(), whole = channels * g.taps();
  const int down = (places + l.high - 1) / l.high;
  const Cuts cuts(filters);
  Pixels pixels(g, l, channels);
  // What is neighbouring in memory is one piece: a row of taps with all channels, a row of one plane, or a tap with all channels.
  const bool lines = planar || g.dilation_w == 1;
  const int depth = planar ? 1 : channels, planes = planar ? channels : 1, length = lines ? g.kernel_w * depth : depth;
  const int pieces = planes * g.kernel_h * (lines ? 1 : g.kernel_w), steps = (length + TERMS - 1) / TERMS;
  // The pixels are the image itself, a band of whole rows of places, or those of each place by itself.
  const bool direct = !planar && sizeof(Term) == 1 && g.pad_h == 0 && g.pad_w == 0 && (g.taps() == 1 || !lines || l.bottom_pitch == channels);
  const int wide = band ? (g.out_width - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1 : 0;
  const long long room = ((long long)(whole) + 64 / sizeof(Term)) & ~3LL;  // terms of a place by itself
  int* const at = scratch<int>(0, Count(l.high) + 1);
  int* const piece_at = scratch<int>(1, Count(pieces) + 1);
  const Runs runs = {pieces, steps, piece_at};
  const Tiles tiles(pieces * steps);
  BLOCK_LOOP(block, n) {
    const int cut = block % l.across, p0 = block / l.across % down * l.high, product = block / l.across / down;
    const int group = product % g.group, number = product / g.group, rows = min(l.high, places - p0), f0 = group * filters;
    const From* from = image + (long long)(number) * l.bottom_step + (long long)(group) * channels * (planar ? g.pixels() : 1);
    const uint8_t* left = (const uint8_t*)from;
    const int y0 = p0 / g.out_width, high = band ? (rows / g.out_width - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1 : 0;
    long long tap, line, plane, right, below;  // terms from a tap to the next, and from a place to the next
    if (direct) {
      tap = (long long)(g.dilation_w) * l.bottom_pitch, line = (long long)(g.dilation_h) * g.width * l.bottom_pitch, plane = 0;
      right = (long long)(g.stride_w) * l.bottom_pitch, below = (long long)(g.stride_h) * g.width * l.bottom_pitch;
      left += below * y0;
    } else if (band) {
      Term* to = scratch<Term>(0, Count(high) * wide * channels + 64);
      pixels.take(from, y0 * g.stride_h - g.pad_h, -g.pad_w, high, wide, 1, 1, to);
      left = (const uint8_t*)to;
      tap = (long long)(g.dilation_w) * depth, line = (long long)(g.dilation_h) * wide * depth, plane = (long long)(high) * wide;
      right = (long long)(g.stride_w) * depth, below = (long long)(g.stride_h) * wide * depth;
    } else {
      Term* to = scratch<Term>(0, Count(rows) * room);
      for (int r = 0; r < rows; ++r) {
        const int y = (p0 + r) / g.out_width, x = (p0 + r) % g.out_width;
        pixels.take(from, y * g.stride_h - g.pad_h, x * g.stride_w - g.pad_w, g.kernel_h, g.kernel_w, g.dilation_h, g.dilation_w, to + r * room);
      }
      left = (const uint8_t*)to;
      tap = depth, line = (long long)(g.kernel_w) * depth, plane = g.taps(), right = room, below = room * g.out_width;
    }
    for (int c = 0, i = 0; c < planes; ++c)
      for (int ky = 0; ky < g.kernel_h; ++ky)
        for (int kx = 0; kx < (lines ? 1 : g.kernel_w); ++kx, ++i) piece_at[i] = int((c * plane + ky * line + kx * tap) * (long long)(sizeof(Term)));
    const int begin = p0 % g.out_width, size = int(sizeof(Term)), apart = int(right) * size;
    for (int r = 0, x = begin, y = 0; r < rows; x = 0, ++y) {  // a row of places at a time
      const int first = int((y * below + (direct || band ? x : x - begin) * right) * size), count = min(rows - r, g.out_width - x);
      for (int i = 0; i < count; ++i) at[r + i] = first + i * apart;
      r += count;
    }
    Top* to = map + (long long)(number) * l.top_step + f0 + (long long)(p0) * l.top_pitch;
    for (int p = cuts.count * cut / l.across; p < cuts.count * (cut + 1) / l.across; ++p) {
      const int vectors = cuts.wide(p), channel = cuts.first(p) * SUMS;
      const int* panel = packed + ((long long)(group) * cuts.vectors * SUMS + channel) * pieces * steps;
      const auto all = vectors == 3 ? all_rows<3, Top> : vectors == 2 ? all_rows<2, Top> : all_rows<1, Top>;
      const uint8_t* other = addend ? addend + (long long)(number) * l.other_step + (long long)(p0) * l.other_pitch + f0 + channel : nullptr;
      const Int8Epilogue e(l, bias + f0 + channel, factors + f0 + channel, slopes ? slopes + f0 + channel : nullptr, other);
      all(runs, left, at, panel, e, to + channel, l.top_pitch, l.other_pitch, rows, filters - channel);
    }
    if (odd) odd[block] = pixels.none != 0, pixels.none = 0;
  }
}

// map, or with a null one real = activation(filters * image + bias + other). packed, bias: from pack_int8, padded as factors and slopes
// are. n: images x groups x blocks of `high` places x cuts of the panels into `across`.
KERNEL convolve_int8(int n, const uint8_t* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                     const uint8_t* other, uint8_t* map, float* real, Geometry geometry, Int8Layout layout) {
  if (map) convolve(n, image, packed, bias, factors, slopes, other, map, nullptr, geometry, layout);
  else convolve(n, image, packed, bias, factors, slopes, other, real, nullptr, geometry, layout);
}

// The same of an image as planes of floats. odd: 1 for each block in which one of them is not finite.
KERNEL convolve_planes_int8(int n, const float* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                            const uint8_t* other, uint8_t* map, float* real, int* odd, Geometry geometry, Int8Layout layout) {
  if (map) convolve(n, image, packed, bias, factors, slopes, other, map, odd, geometry, layout);
  else convolve(n, image, packed, bias, factors, slopes, other, real, odd, geometry, layout);
}
