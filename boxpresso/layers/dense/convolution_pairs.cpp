// convolution_pairs.cpp: convolution of two axes on the host and its gradients, from floats to floats, with factors rounded to bfloat16,
// for training on CPUs that multiply pairs of them (bf16.h). Planes of two channels become one plane of words, a pair in each, and
// what is under a tap a row of words (window.h). For the gradient of weights a pair is of two neighbouring places.
//
// Blocks own what they write; the cuts that order a sum depend on the shapes alone.
#include "../core/bf16.h"
#include "amx.h"
#include "window.h"

#if BF16

// Rows of words: row i from at + i * pitch on.
struct Words {
  const int* at;
  long long pitch;

  const char* row(int i) const { return (const char*)(at + i * pitch); }
  static long long at_word(int k) { return 4LL * k; }
};

#if TILED
struct LeftWords {
  const Words& words;
  const char* row(int i) const { return words.row(i); }
  long long at(int k) const { return Words::at_word(k); }
  int beside(int, int most) const { return most; }
};
#endif

// The vectors that `columns` numbers take.
DEVICE int vectors_of(int columns) { return (columns + LANES - 1) / LANES; }

// sums[row][V * LANES] = left * right over `depth` words, of up to ROWS rows.
template <int V>
DEVICE void tile_words(int depth, const Words& left, const int* right, int rows, Real* sums) {
  Vector sum[ROWS][V] = {};
  const int* line[ROWS];
  for (int i = 0; i < ROWS; ++i) line[i] = left.at + (i < rows ? i : 0) * left.pitch;  // a row too many repeats row 0, unsaved
  for (int k = 0; k < depth; ++k, right += V * LANES) {
    Pairs r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = *(const Pairs*)(right + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i) {
      const Pairs pair = Pairs{} + line[i][k];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused_pairs(pair, r[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(sums + (i * V + v) * LANES, sum[i][v]);
}

constexpr int ONCE = 4 * TILE;  // rows whose sums are made before they are stored

// c = finish(left * right) of `rows` rows and `columns` columns, for which `right` has V vectors a row.
template <int V>
DEVICE void rows_words(int depth, const Words& left, const int* right, int rows, int columns, Real* c, long long ldc, const Finish& f) {
  Real* sums = scratch(1, ONCE * WIDTH);
  for (int i0 = 0; i0 < rows; i0 += ONCE) {
    const int high = min(ONCE, rows - i0);
    const Words part = {left.at + i0 * left.pitch, left.pitch};
#if TILED
    multiply_tiles<false>(LeftWords{part}, high, depth, right, V, nullptr, 0, sums);
#else
    for (int i = 0; i < high; i += ROWS) tile_words<V>(depth, {part.at + i * part.pitch, part.pitch}, right, high - i, sums + i * V * LANES);
#endif
    for (int i = 0; i < high; ++i)
      for (int v = 0; v < V; ++v) {
        const int count = columns - v * LANES;
        Real* to = c + (i0 + i) * ldc + v * LANES;
        Vector value = load(sums + (i * V + v) * LANES);
        if (f.beta != 0) value += count >= LANES ? load(to) : load_part(to, count);
        if (f.bias) value += f.bias[i0 + i];
        if (count >= LANES) store(to, value);
        else store_part(to, value, count);
      }
  }
}

// c = left * right + bias of the row, or with beta 1 added to c: `rows` x `columns` sums over `depth` words. panel_of(k, deep, j, columns,
// pitch, room) gives words of rows from k and columns from j on, `pitch` of a row; it may write them into `room`.
template <class PanelOf>
DEVICE void multiply_words(int rows, int columns, int depth, const Words& left, PanelOf panel_of, Real* c, long long ldc,
                           const Finish& finish) {
  int* room = scratch<int>(0, DEPTH * WIDTH + LANES);
  for (int k0 = 0; k0 < depth; k0 += DEPTH) {
    const int deep = min(DEPTH, depth - k0);
    Finish f = finish;
    if (k0 > 0) f.beta = 1;
    if (k0 + deep < depth) f.bias = nullptr;
    const Words part = {left.at + k0, left.pitch};
    for (int j = 0; j < columns; j += WIDTH) {
      const int wide = min(WIDTH, columns - j), vectors = vectors_of(wide);
      const int* panel = panel_of(k0, deep, j, wide, vectors * LANES, room);
      if (vectors == VECTORS) rows_words<VECTORS>(deep, part, panel, rows, wide, c + j, ldc, f);
      else if (vectors == 2) rows_words<2>(deep, part, panel, rows, wide, c + j, ldc, f);
      else rows_words<1>(deep, part, panel, rows, wide, c + j, ldc, f);
    }
  }
}

// A word for each of `count` numbers of two rows; high: null for zeros. What lies behind the last, up to a vector, is overwritten.
DEVICE void pair_rows(const Real* low, const Real* high, int count, int* to) {
  for (int i = 0; i < count; i += LANES) {
    const int rest = count - i;
    const Vector one = rest >= LANES ? load(low + i) : load_part(low + i, rest);
    const Vector two = !high ? Vector{} : rest >= LANES ? load(high + i) : load_part(high + i, rest);
    *(Pairs*)(to + i) = pairs_by_lane(one, two);
  }
}

// `count` numbers in bfloat16, and a 0 behind an odd number of them.
DEVICE void round_row(const Real* from, int count, bfloat16* to) {
  int i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, load(from + i));
  if (i < count) store_part(to + i, load_part(from + i, count - i), count - i);
  if (count % 2) to[count] = bfloat16(0.f);
}

// Words of `planes` planes of floats, `pitch` elements apart, `count` numbers of each: a row of words for two planes.
DEVICE int* pair_planes(const Real* from, int planes, long long pitch, int count) {
  const int each = (planes + 1) / 2;
  int* words = scratch<int>(1, Count(each) * count + LANES);
  for (int q = 0; q < each; ++q)
    pair_rows(from + 2 * q * pitch, 2 * q + 1 < planes ? from + (2 * q + 1) * pitch : nullptr, count, words + (long long)q * count);
  return words;
}

#endif

// Which rows of words stand for the weights: those of the filters, a word for two channels and a tap, in the order (pair, tap); those of
// the adjoint convolution, a row for each channel of the image, a word for two filters, its taps in reverse; or a row for each channel and tap.
constexpr int FORWARD = 0, ADJOINT = 1, COLUMNWISE = 2;

// n: maps, or channels of the image.
KERNEL pair_weights(int n, const Real* weights, int* words, Geometry geometry, int form) {
#if BF16
  const Window g(geometry);
  const int channels = g.group_channels(), filters = g.group_maps(), taps = g.taps();
  const int terms = form == FORWARD ? channels : filters, each = (terms + 1) / 2;
  BLOCK_LOOP(row, n) {
    const long long part = row / channels;
    const Real* from = form == FORWARD ? weights + (long long)row * channels * taps
                                       : weights + (part * filters * channels + row % channels) * taps;
    const long long step = form == FORWARD ? taps : (long long)channels * taps;
    for (int q = 0; q < each; ++q)
      for (int t = 0; t < taps; ++t) {
        const Real* at = from + 2 * q * step + (form == ADJOINT ? taps - 1 - t : t);
        const unsigned low = bfloat16(float(at[0])).bits, high = 2 * q + 1 < terms ? bfloat16(float(at[step])).bits : 0;
        words[form == COLUMNWISE ? ((long long)row * taps + t) * each + q : ((long long)row * each + q) * taps + t] = int(low | high << 16);
      }
  }
#endif
}

// map = weights * image + bias. words: from pair_weights. n: images x groups x bands of `high` rows of places.
KERNEL correlate_pairs(int n, const Real* image, const int* words, const Real* bias, Real* map, Geometry geometry, int high) {
#if BF16
  const Window g(geometry);
  const int down = (g.out_height + high - 1) / high, filters = g.group_maps(), channels = g.group_channels();
  const int each = (channels + 1) / 2, depth = each * g.taps();
  const Tiles tiles(depth);
  BLOCK_LOOP(block, n) {
    const int y0 = block % down * high, rows = min(high, g.out_height - y0), product = block / down;
    const int part = product % g.group, first = y0 * g.out_width;
    // The rows of pixels under the band.
    const int top = y0 * g.stride_h - g.pad_h, above = max(0, min(top, g.height));
    const int below = max(above, min(g.height, top + (rows - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1));
    const int count = (below - above) * g.width;
    const Real* planes = image + ((long long)(product / g.group) * g.channels + part * channels) * g.pixels();
    const int* pixels = pair_planes(planes + above * g.width, channels, g.pixels(), count) - above * g.width;
    auto panel = [&](int k0, int deep, int j, int wide, int pitch, int* room) -> const int* {
      int q = k0 / g.taps(), tap = k0 % g.taps();
      if (g.plain()) {
        for (int k = 0; k < deep; ++k, ++q) {
          copy(pixels + (long long)q * count + first + j, room + k * pitch, wide);
          for (int x = wide; x < pitch; ++x) room[k * pitch + x] = 0;
        }
        return room;
      }
      const Runs runs(g, first + j, wide, tap, min(deep, g.taps()));
      for (int k = 0; k < deep; ++k) {
        runs.row(pixels + (long long)q * count, tap, room + k * pitch, pitch);
        if (++tap == g.taps()) tap = 0, ++q;
      }
      return room;
    };
    const Words left = {words + (long long)part * filters * depth, depth};
    multiply_words(filters, rows * g.out_width, depth, left, panel, map + ((long long)product * filters) * g.places() + first, g.places(),
                   {1, 0, bias ? bias + part * filters : nullptr, false});
  }
#endif
}

// image = weights^T * map + bias of the image's channel, the adjoint of any window. words: COLUMNWISE. n: images x groups x blocks of `each`
// channels.
KERNEL spread_pairs(int n, const Real* map, const int* words, const Real* bias, Real* image, Geometry geometry, int each) {
#if BF16
  const Window g(geometry);
  const int filters = g.group_maps(), channels = g.group_channels(), places = g.places(), deep = (filters + 1) / 2;
  const int parts = (channels + each - 1) / each, step = stripe(g);
  const Tiles tiles(deep);
  BLOCK_LOOP(block, n) {
    const int c0 = block % parts * each, product = block / parts, part = product % g.group;
    const int count = min(each, channels - c0), channel = part * channels + c0;
    Real* to = image + ((long long)(product / g.group) * g.channels + channel) * g.pixels();
    for (int c = 0; c < count; ++c)
      std::fill(to + (long long)c * g.pixels(), to + (long long)(c + 1) * g.pixels(), bias ? bias[channel + c] : Real(0));
    const int rows = count * g.taps();
    for (int first = 0; first < places; first += step) {
      const int wide = min(step, places - first);
      const int* pairs = pair_planes(map + (long long)product * filters * places + first, filters, places, wide);
      auto panel = [&](int k0, int high, int j, int some, int pitch, int* room) -> const int* {
        for (int k = 0; k < high; ++k) {
          copy(pairs + (long long)(k0 + k) * wide + j, room + k * pitch, some);
          for (int x = some; x < pitch; ++x) room[k * pitch + x] = 0;
        }
        return room;
      };
      for (int r0 = 0; r0 < rows; r0 += TAPS) {
        const int high = min(TAPS, rows - r0);
        Real* columns = scratch(3, Count(high) * wide);
        multiply_words(high, wide, deep, {words + ((long long)channel * g.taps() + r0) * deep, deep}, panel, columns, wide, {});
        const Runs runs(g, first, wide, r0 % g.taps(), min(high, g.taps()));
        for (int r = 0; r < high; ++r)
          runs.add(columns + (long long)r * wide, (r0 + r) % g.taps(), to + (long long)((r0 + r) / g.taps()) * g.pixels());
      }
    }
  }
#endif
}

// The map with its places before its filters, two places in a word: in panels of WIDTH filters, of the last one as many vectors as it
// needs. n: images x groups x cuts of CUT filters.
KERNEL pack_map_pairs(int n, const Real* map, int* packed, Geometry geometry) {
#if BF16
  const Window g(geometry);
  const int filters = g.group_maps(), places = g.places(), halves = (places + 1) / 2, cuts = (filters + CUT - 1) / CUT;
  const long long room = (long long)vectors_of(filters) * LANES * halves;
  BLOCK_LOOP(block, n) {
    const int product = block / cuts, begin = block % cuts * CUT;
    const Real* from = map + (long long)product * filters * places;
    for (int f = begin; f < min(begin + CUT, filters); f += LANES) {
      const int panel = f / WIDTH * WIDTH, pitch = vectors_of(min(WIDTH, filters - panel)) * LANES;
      int* to = packed + product * room + (long long)panel * halves + f - panel;
      for (int p = 0; p < places; p += LANES) {
        const int wide = min(LANES, places - p);
        Vector square[LANES];
        take_square(from + (long long)f * places + p, places, min(LANES, filters - f), wide, square);
        for (int i = 0; i < wide; i += 2) *(Pairs*)(to + (long long)((p + i) / 2) * pitch) = pairs_by_lane(square[i], square[i + 1]);
      }
    }
  }
#endif
}

// Sums over places of image * map^T. packed: from pack_map_pairs. partial[group][cut][tap of a channel][filter]: a cut has a share of
// the images' stripes of places. n: groups x cuts x blocks of `each` channels.
KERNEL weights_pairs(int n, const Real* image, const int* packed, Real* partial, Geometry geometry, int images, int cuts, int each) {
#if BF16
  const Window g(geometry);
  const int filters = g.group_maps(), channels = g.group_channels(), places = g.places(), halves = (places + 1) / 2;
  const int parts = (channels + each - 1) / each, step = max(2, stripe(g) & ~1), stripes = (places - 1) / step + 1;
  const long long room = (long long)vectors_of(filters) * LANES * halves;
  BLOCK_LOOP(block, n) {
    const int c0 = block % parts * each, cut = block / parts % cuts, part = block / parts / cuts;
    const int count = min(each, channels - c0), rows = count * g.taps();
    Real* sums = partial + (((long long)part * cuts + cut) * channels + c0) * g.taps() * filters;
    std::memset(sums, 0, size_t(rows) * filters * sizeof(Real));
    const long long items = (long long)images * stripes;
    int taken = -1;  // the image whose planes are rounded
    for (long long item = items * cut / cuts; item < items * (cut + 1) / cuts; ++item) {
      const int number = int(item / stripes), first = int(item % stripes) * step, wide = min(step, places - first), half = (wide + 1) / 2;
      const Real* planes = image + ((long long)number * g.channels + part * channels + c0) * g.pixels();
      bfloat16* columns = scratch<bfloat16>(0, Count(rows) * half * 2 + LANES);
      if (g.plain()) {
        for (int c = 0; c < count; ++c) round_row(planes + (long long)c * g.pixels() + first, wide, columns + (long long)c * half * 2);
      } else {
        bfloat16* pixels = scratch<bfloat16>(1, Count(count) * (g.pixels() + 1) + LANES);
        if (taken != number)
          for (int c = 0; c < count; ++c) round_row(planes + (long long)c * g.pixels(), g.pixels(), pixels + (long long)c * g.pixels());
        taken = number;
        const Runs runs(g, first, wide, 0, g.taps());
        for (int r = 0; r < rows; ++r)
          runs.row(pixels + (long long)(r / g.taps()) * g.pixels(), r % g.taps(), columns + (long long)r * half * 2, half * 2);
      }
      const int* right = packed + ((long long)number * g.group + part) * room;
      auto panel = [&](int k0, int, int j, int, int pitch, int*) -> const int* {
        return right + (long long)j * halves + (long long)(first / 2 + k0) * pitch;
      };
      const Tiles tiles(half);
      multiply_words(rows, filters, half, {(const int*)columns, half}, panel, sums, filters, {1, 1, nullptr, false});
    }
  }
#endif
}
