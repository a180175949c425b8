// convolution_pairs.cpp: convolution of two axes on the host and its gradients, from floats to floats, with factors rounded to bfloat16,
// for training on CPUs that multiply pairs of them (bf16.h). Planes of two channels become one plane of words, a pair in each; for
// the gradient of weights a pair is of two neighbouring places.
//
// Where windows lie side by side (stride 1) nothing else is written: with its padding around it a plane is one long row, in which what is
// under a tap lies at one distance from each place, so that the words of all channels under a tap are rows of a matrix as they are. The
// places that are no windows, at the ends of rows, are computed too and left out. Other windows, and those of few channels, are brought
// together as rows of words (window.h).
//
// Blocks own what they write; the cuts that order a sum depend on the shapes alone.
#include "../core/bf16.h"
#include "amx.h"
#include "window.h"

constexpr int SIDE_BY_SIDE = 8;  // words of a tap, or channels, from which on planes are read as they are

#if BF16

constexpr int ACROSS = TILED ? 4 : VECTORS, WIDE = ACROSS * LANES;  // vectors and columns of a panel
constexpr int DEEP = TILED ? 128 : DEPTH;                           // words of a sum that are done for all rows before the next
constexpr int MOST_STEPS = DEEP / SIDE_BY_SIDE;
constexpr int SUMS = 1 << 17;   // that are kept, about, before they go where they belong
typedef int Pair __attribute__((aligned(2), may_alias));

// Rows of words, a left operand of multiply_tiles: row i begins i * pitch bytes behind `begin`.
struct Words {
  const char* begin;
  long long pitch;

  const char* row(int i) const { return begin + i * pitch; }
  long long at(int k) const { return 4LL * k; }
  int beside(int, int most) const { return most; }
};

// A part of a right operand: rows of words in steps of up to TILE, from `at[step]` on, `words` apart.
struct Rows {
  const int* begins[MOST_STEPS];
  int counts[MOST_STEPS];
  int steps = 0, depth = 0;
  long long words = 0;

  void add(const int* begin, int count) { begins[steps] = begin, counts[steps++] = count, depth += count; }
  // `deep` rows, evenly apart.
  void even(const int* begin, int deep, long long pitch) {
    steps = depth = 0, words = pitch;
    for (int k = 0; k < deep; k += TILE) add(begin + k * pitch, min(TILE, deep - k));
  }
  const int* at(int step, int) const { return begins[step]; }
  int count(int step, int) const { return counts[step]; }
  long long pitch() const { return 4 * words; }
};

// Where sums of `columns` columns go: runs of them to numbers that lie beside each other.
struct Places {
  struct Run {
    int at, count;
    long long to;
  };
  Run runs[WIDE + 1];
  int used = 0;
  void add(int at, int count, long long to) {
    if (count > 0) runs[used++] = {at, count, to};
  }
};

// The vectors that `columns` numbers take.
DEVICE int vectors_of(int columns) { return (columns + LANES - 1) / LANES; }

#if !TILED
// sums[row][V * LANES] = left * right, or that is added to them, of up to ROWS rows.
template <int V>
DEVICE void tile_words(const Words& left, const Rows& right, int rows, bool first, Real* sums) {
  Vector sum[ROWS][V];
  const Pair* line[ROWS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i) {
    line[i] = (const Pair*)left.row(i < rows ? i : 0);  // a row too many repeats row 0, and its sums are of nothing
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = first ? Vector{} : load(sums + (i * V + v) * LANES);
  }
  for (int step = 0, k = 0; step < right.steps; ++step) {
    const int* from = right.begins[step];
    for (const int end = k + right.counts[step]; k < end; ++k, from += right.words) {
      Pairs r[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) r[v] = *(const Pairs*)(from + v * LANES);
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; ++i) {
        const Pairs pair = Pairs{} + line[i][k];
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] = fused_pairs(pair, r[v], sum[i][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(sums + (i * V + v) * LANES, sum[i][v]);
}
#endif

// A multiple of TILE, and of ROWS, that is not below `rows`: for so many there is room in sums.
DEVICE int with_spare(int rows) { return (rows + TILE - 1) / TILE * TILE; }

// sums[row][V * LANES] = left * right, or where it is not the `first` part that is added to them.
template <int V>
DEVICE void rows_words(const Words& left, const Rows& right, int rows, bool first, Real* sums) {
#if TILED
  multiply_tiles<false>(left, with_spare(rows), right.depth, right, V, first ? nullptr : sums, V * TILE, sums);
#else
  for (int i = 0; i < rows; i += ROWS) tile_words<V>({left.row(i), left.pitch}, right, rows - i, first, sums + i * V * LANES);
#endif
}

DEVICE void rows_words(int vectors, const Words& left, const Rows& right, int rows, bool first, Real* sums) {
  if (vectors == ACROSS) rows_words<ACROSS>(left, right, rows, first, sums);
  else if (vectors == 3) rows_words<3>(left, right, rows, first, sums);
  else if (vectors == 2) rows_words<2>(left, right, rows, first, sums);
  else rows_words<1>(left, right, rows, first, sums);
}

// Sums of `pitch` columns to where they go: c = sums + bias of the row, or, to `add`, that and c; a row of c is `ldc` numbers from the next.
DEVICE void put(const Real* sums, int pitch, int rows, const Places& places, Real* c, long long ldc, const Real* bias_of, bool add) {
  for (int i = 0; i < rows; ++i, sums += pitch) {
    const Real bias = bias_of ? bias_of[i] : Real(0);
    for (int r = 0; r < places.used; ++r) {
      const Places::Run& run = places.runs[r];
      const Real* from = sums + run.at;
      Real* to = c + i * ldc + run.to;
      int x = 0;
      for (; x + LANES <= run.count; x += LANES) {
        Vector value = load(from + x) + bias;
        if (add) value += load(to + x);
        store(to + x, value);
      }
      if (const int rest = run.count - x; rest > 0) {
        Vector value = load_part(from + x, rest) + bias;
        if (add) value += load_part(to + x, rest);
        store_part(to + x, value, rest);
      }
    }
  }
}

// The sums over `depth` words of `rows` rows and `columns` columns. panel_of(k, j, columns, pitch, room, right) gives a part of the right operand,
// from row k and column j on; it may write `pitch` words of a row into `room`. places_of(j, columns) says where these columns go.
template <class PanelOf, class PlacesOf>
DEVICE void multiply_words(int rows, int columns, int depth, const Words& left, PanelOf panel_of, PlacesOf places_of, Real* c,
                           long long ldc, const Real* bias, bool add) {
  const int high = with_spare(rows), together = max(WIDE, SUMS / high / WIDE * WIDE);  // columns whose sums are kept
  int* room = scratch<int>(0, DEEP * WIDE + LANES);
  Real* sums = scratch(1, Count(high) * ((min(together, columns) + WIDE - 1) / WIDE * WIDE));
  for (int j0 = 0; j0 < columns; j0 += together) {
    const int end = min(columns, j0 + together);
    for (int k0 = 0, deep; k0 < depth; k0 += deep) {
      deep = 0;
      for (int j = j0; j < end; j += WIDE) {
        const int wide = min(WIDE, end - j), vectors = vectors_of(wide);
        Rows right;
        panel_of(k0, j, wide, vectors * LANES, room, right);
        deep = right.depth;
        rows_words(vectors, {left.begin + left.at(k0), left.pitch}, right, rows, k0 == 0, sums + (long long)(j - j0) * high);
      }
    }
    for (int i = 0; i < rows; i += TILE)  // of few rows all columns, for those are neighbours in memory
      for (int j = j0; j < end; j += WIDE) {
        const int wide = min(WIDE, end - j), pitch = vectors_of(wide) * LANES;
        put(sums + (long long)(j - j0) * high + i * pitch, pitch, min(TILE, rows - i), places_of(j, wide), c + i * ldc, ldc,
            bias ? bias + i : nullptr, add);
      }
  }
}

// All columns, as they are.
DEVICE Places beside_each_other(int j, int columns) {
  Places places;
  places.add(0, columns, j);
  return places;
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

// `count` numbers in bfloat16.
DEVICE void round_row(const Real* from, int count, bfloat16* to) {
  int i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, load(from + i));
  if (i < count) store_part(to + i, load_part(from + i, count - i), count - i);
}

// Words of `planes` planes of floats, `pitch` elements apart, `count` numbers of each: a row of words for two planes.
DEVICE int* pair_planes(const Real* from, int planes, long long pitch, int count) {
  const int each = (planes + 1) / 2;
  int* words = scratch<int>(1, Count(each) * count + LANES);
  for (int q = 0; q < each; ++q)
    pair_rows(from + 2 * q * pitch, 2 * q + 1 < planes ? from + (2 * q + 1) * pitch : nullptr, count, words + (long long)q * count);
  return words;
}

// Planes with their padding: `lines` rows of `width` from row `top` on, whose pixels begin at column `left`, zeros around them; from a
// plane to the next there are `pitch` elements, an odd number of cache lines so that they do not all meet in one set.
struct Padded {
  int top, lines, left, width;
  long long pitch;

  // each: elements of a cache line.
  Padded(int top, int lines, int left, int width, int each, int behind)
      : top(top), lines(lines), left(left), width(width), pitch((((long long)lines * width + behind + each - 1) / each | 1) * each) {}

  // One of them, of rows of the image that row(y, to) writes.
  template <class T, class Row>
  void take(int height, int across, T* to, Row row) const {
    for (int y = 0; y < lines; ++y, to += width) {
      const bool inside = top + y >= 0 && top + y < height;
      const int begin = inside ? left : width;
      std::memset((void*)to, 0, begin * sizeof(T));
      if (!inside) continue;
      row(top + y, to + left);
      std::memset((void*)(to + left + across), 0, (width - left - across) * sizeof(T));
    }
    std::memset((void*)to, 0, (pitch - (long long)lines * width) * sizeof(T));
  }
};

#endif

// Which rows of words stand for the weights: those of the filters, a word for two channels and a tap, in the order (pair, tap), or, where
// planes are read as they are, (tap, pair); those of the adjoint convolution in either order, a row for each channel of the image, a
// word for two filters, its taps in reverse; or a row for each channel and tap.
constexpr int FORWARD = 0, ADJOINT = 1, COLUMNWISE = 2;

// n: blocks of TILE rows, of maps or of channels of the image. by_taps: the order.
KERNEL pair_weights(int n, const Real* weights, int* words, Geometry geometry, int form, int by_taps) {
#if BF16
  const Window g(geometry);
  const int channels = g.group_channels(), filters = g.group_maps(), taps = g.taps();
  const int terms = form == FORWARD ? channels : filters, each = (terms + 1) / 2;
  const long long step = form == FORWARD ? taps : (long long)channels * taps;
  const bool beside = form == FORWARD && !by_taps;  // the taps of a pair
  const int rows = form == FORWARD ? g.maps : g.channels;
  BLOCK_LOOP(block, n)
    for (int q0 = 0; q0 < each; q0 += TILE)  // squares of rows and pairs: rows of the adjoint are neighbours in what is read
      for (int row = block * TILE; row < min(rows, (block + 1) * TILE); ++row) {
        const long long first = form == FORWARD ? (long long)row * channels
                                                : (long long)(row / channels) * filters * channels + row % channels;
        int* to = words + (long long)row * each * taps;
        for (int q = q0; q < min(each, q0 + TILE); ++q)
          for (int t0 = 0; t0 < taps; t0 += LANES) {
            const Real* at = weights + first * taps + 2 * q * step + t0;
            const int count = min(LANES, taps - t0);
            alignas(64) int pairs[LANES];
            *(Pairs*)pairs = pairs_by_lane(load_part(at, count), 2 * q + 1 < terms ? load_part(at + step, count) : Vector{});
            if (beside) copy(pairs, to + q * taps + t0, count);
            else
              for (int i = 0; i < count; ++i) {
                const int t = form == ADJOINT ? taps - 1 - t0 - i : t0 + i;
                to[by_taps || form == COLUMNWISE ? t * each + q : q * taps + t] = pairs[i];
              }
          }
      }
#endif
}

// map = weights * image + bias. words: from pair_weights, in the order of taps where `by_taps`, with room for TILE rows behind them.
// n: images x groups x bands of `high` rows of places.
KERNEL correlate_pairs(int n, const Real* image, const int* words, const Real* bias, Real* map, Geometry geometry, int high, int by_taps) {
#if BF16
  const Window g(geometry);
  const int down = (g.out_height + high - 1) / high, filters = g.group_maps(), channels = g.group_channels();
  const int each = (channels + 1) / 2, depth = each * g.taps();
  const Tiles tiles(by_taps ? each : depth);
  BLOCK_LOOP(block, n) {
    const int y0 = block % down * high, rows = min(high, g.out_height - y0), product = block / down;
    const int part = product % g.group, first = y0 * g.out_width, top = y0 * g.stride_h - g.pad_h;
    const int lines = (rows - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1;
    const Real* planes = image + ((long long)(product / g.group) * g.channels + part * channels) * g.pixels();
    const Words left = {(const char*)(words + (long long)part * filters * depth), 4LL * depth};
    Real* to = map + (long long)product * filters * g.places() + first;
    const Real* own = bias ? bias + part * filters : nullptr;
    if (by_taps) {
      const int width = g.out_width + (g.kernel_w - 1) * g.dilation_w;  // that of a row with its padding
      const Padded padded(top, lines, g.pad_w, width, LANES, (g.kernel_w - 1) * g.dilation_w);
      int* pixels = scratch<int>(1, Count(each) * padded.pitch + WIDE);
      for (int q = 0; q < each; ++q) {
        const Real* low = planes + 2LL * q * g.pixels();
        const Real* upper = 2 * q + 1 < channels ? low + g.pixels() : nullptr;
        // The words behind a row's last are written before the zeros there.
        padded.take(g.height, g.width, pixels + q * padded.pitch, [&](int y, int* row) {
          const long long at = (long long)y * g.width;
          pair_rows(low + at, upper ? upper + at : nullptr, g.width, row);
        });
      }
      auto panel = [&](int k0, int j, int, int, int*, Rows& right) {
        right.words = padded.pitch;
        for (int k = k0; k < depth && right.depth < DEEP && right.steps < MOST_STEPS;) {
          const int tap = k / each, q = k % each, count = min(TILE, each - q);
          if (right.depth + count > DEEP) break;
          const int shift = tap / g.kernel_w * g.dilation_h * width + tap % g.kernel_w * g.dilation_w;
          right.add(pixels + q * padded.pitch + shift + j, count);
          k += count;
        }
      };
      auto places = [&](int j, int wide) {
        Places runs;
        for (int y = j / width; y * width < j + wide; ++y) {
          const int begin = max(j, y * width), end = min(j + wide, y * width + g.out_width);
          runs.add(begin - j, end - begin, (long long)y * g.out_width + begin - y * width);
        }
        return runs;
      };
      multiply_words(filters, (rows - 1) * width + g.out_width, depth, left, panel, places, to, g.places(), own, false);
      continue;
    }
    // The rows of pixels under the band.
    const int above = max(0, min(top, g.height)), below = max(above, min(g.height, top + lines)), count = (below - above) * g.width;
    const int* pixels = pair_planes(planes + above * g.width, channels, g.pixels(), count) - above * g.width;
    auto panel = [&](int k0, int j, int wide, int pitch, int* room, Rows& right) {
      const int deep = min(DEEP, depth - k0);
      int q = k0 / g.taps(), tap = k0 % g.taps();
      const Runs runs(g, first + j, wide, tap, min(deep, g.taps()));
      for (int k = 0; k < deep; ++k) {
        runs.row(pixels + (long long)q * count, tap, room + k * pitch, pitch);
        if (++tap == g.taps()) tap = 0, ++q;
      }
      right.even(room, deep, pitch);
    };
    multiply_words(filters, rows * g.out_width, depth, left, panel, beside_each_other, to, g.places(), own, false);
  }
#endif
}

// image = weights^T * map + bias of the image's channel, the adjoint of any window. words: COLUMNWISE, with room for TILE rows behind
// them. n: images x groups x blocks of `each` channels.
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
      auto panel = [&](int k0, int j, int some, int pitch, int* room, Rows& right) {
        const int high = min(DEEP, deep - k0);
        for (int k = 0; k < high; ++k) {
          copy(pairs + (long long)(k0 + k) * wide + j, room + k * pitch, some);
          for (int x = some; x < pitch; ++x) room[k * pitch + x] = 0;
        }
        right.even(room, high, pitch);
      };
      for (int r0 = 0; r0 < rows; r0 += TAPS) {
        const int high = min(TAPS, rows - r0);
        Real* columns = scratch(3, Count(high) * wide);
        const Words left = {(const char*)(words + ((long long)channel * g.taps() + r0) * deep), 4LL * deep};
        multiply_words(high, wide, deep, left, panel, beside_each_other, columns, wide, nullptr, false);
        const Runs runs(g, first, wide, r0 % g.taps(), min(high, g.taps()));
        for (int r = 0; r < high; ++r)
          runs.add(columns + (long long)r * wide, (r0 + r) % g.taps(), to + (long long)((r0 + r) / g.taps()) * g.pixels());
      }
    }
  }
#endif
}

// The map with its places before its filters, two places in a word: in panels of WIDE filters, of the last one as many vectors as it
// needs. width: places of a row, an even number, with zeros behind the map's; 0: all rows are one. n: images x groups x cuts of CUT filters.
KERNEL pack_map_pairs(int n, const Real* map, int* packed, Geometry geometry, int width) {
#if BF16
  const Window g(geometry);
  const int filters = g.group_maps(), places = g.places(), cuts = (filters + CUT - 1) / CUT;
  const int across = width ? g.out_width : places, half = ((width ? width : places) + 1) / 2, lines = width ? g.out_height : 1;
  const long long halves = (long long)half * lines, room = vectors_of(filters) * LANES * halves;
  BLOCK_LOOP(block, n) {
    const int product = block / cuts, begin = block % cuts * CUT;
    const Real* from = map + (long long)product * filters * places;
    for (int f = begin; f < min(begin + CUT, filters); f += LANES) {
      const int panel = f / WIDE * WIDE, pitch = vectors_of(min(WIDE, filters - panel)) * LANES;
      int* to = packed + product * room + panel * halves + f - panel;
      for (int y = 0; y < lines; ++y, to += (long long)half * pitch) {
        for (int p = 0; p < across; p += LANES) {
          const int wide = min(LANES, across - p);
          Vector square[LANES];
          take_square(from + (long long)f * places + y * across + p, places, min(LANES, filters - f), wide, square);
          for (int i = 0; i < wide; i += 2) *(Pairs*)(to + (long long)((p + i) / 2) * pitch) = pairs_by_lane(square[i], square[i + 1]);
        }
        for (int p = (across + 1) / 2; p < half; ++p) *(Pairs*)(to + (long long)p * pitch) = Pairs{};
      }
    }
  }
#endif
}

#if BF16

// Adds to sums[channel][tap][filter], of `count` channels whose planes are read as they are, the terms of some rows of places.
DEVICE void add_side_by_side(const Window& g, const Real* planes, int count, const int* right, long long halves, int y0, int rows,
                             int width, Real* sums) {
  const int filters = g.group_maps(), across = (g.kernel_w - 1) * g.dilation_w, half = rows * width / 2;
  const Padded padded(y0 - g.pad_h, rows + (g.kernel_h - 1) * g.dilation_h, g.pad_w, width, 2 * LANES, across);
  bfloat16* pixels = scratch<bfloat16>(1, Count(count + TILE) * padded.pitch + 2 * LANES);
  for (int c = 0; c < count; ++c)
    padded.take(g.height, g.width, pixels + c * padded.pitch,
                [&](int y, bfloat16* to) { round_row(planes + (long long)c * g.pixels() + (long long)y * g.width, g.width, to); });
  const int high = with_spare(count), each = high * WIDE;  // sums of a panel and a tap
  Real* kept = scratch(1, Count((filters + WIDE - 1) / WIDE * g.taps()) * each);
  const Tiles tiles(half);
  for (int k0 = 0; k0 < half; k0 += DEEP)
    for (int j = 0; j < filters; j += WIDE) {
      const int vectors = vectors_of(min(WIDE, filters - j)), pitch = vectors * LANES;
      Rows part;
      part.even(right + j * halves + ((long long)y0 * width / 2 + k0) * pitch, min(DEEP, half - k0), pitch);
      for (int tap = 0; tap < g.taps(); ++tap) {
        const int shift = tap / g.kernel_w * g.dilation_h * width + tap % g.kernel_w * g.dilation_w;
        const Words left = {(const char*)(pixels + shift + 2 * k0), 2 * padded.pitch};
        rows_words(vectors, left, part, count, k0 == 0, kept + ((long long)(j / WIDE) * g.taps() + tap) * each);
      }
    }
  for (int j = 0; j < filters; j += WIDE)
    for (int tap = 0; tap < g.taps(); ++tap) {
      const int wide = min(WIDE, filters - j);
      put(kept + ((long long)(j / WIDE) * g.taps() + tap) * each, vectors_of(wide) * LANES, count, beside_each_other(0, wide),
          sums + (long long)tap * filters + j, (long long)g.taps() * filters, nullptr, true);
    }
}

#endif

// Sums over places of image * map^T. packed: from pack_map_pairs, of `width`. partial[group][cut][tap of a channel][filter]: a cut has a share of
// the images' stripes, of `step` places, an even number, or with a width of so many rows. n: groups x cuts x blocks of `each` channels.
KERNEL weights_pairs(int n, const Real* image, const int* packed, Real* partial, Geometry geometry, int images, int cuts, int each,
                     int width, int step) {
#if BF16
  const Window g(geometry);
  const int filters = g.group_maps(), channels = g.group_channels(), places = g.places();
  const int parts = (channels + each - 1) / each, all = width ? g.out_height : places, stripes = (all - 1) / step + 1;
  const long long halves = width ? (long long)(width) / 2 * g.out_height : (places + 1) / 2;
  const long long room = vectors_of(filters) * LANES * halves;
  BLOCK_LOOP(block, n) {
    const int c0 = block % parts * each, cut = block / parts % cuts, part = block / parts / cuts;
    const int count = min(each, channels - c0), rows = count * g.taps();
    Real* sums = partial + (((long long)part * cuts + cut) * channels + c0) * g.taps() * filters;
    std::memset(sums, 0, size_t(rows) * filters * sizeof(Real));
    const long long items = (long long)images * stripes;
    int taken = -1;  // the image whose planes are rounded
    for (long long item = items * cut / cuts; item < items * (cut + 1) / cuts; ++item) {
      const int number = int(item / stripes), first = int(item % stripes) * step, wide = min(step, all - first), half = (wide + 1) / 2;
      const Real* planes = image + ((long long)number * g.channels + part * channels + c0) * g.pixels();
      const int* right = packed + ((long long)number * g.group + part) * room;
      if (width) {
        add_side_by_side(g, planes, count, right, halves, first, wide, width, sums);
        continue;
      }
      bfloat16* columns = scratch<bfloat16>(0, Count(rows + TILE) * half * 2 + LANES);
      if (g.plain()) {
        for (int c = 0; c < count; ++c) {
          bfloat16* to = columns + (long long)c * half * 2;
          round_row(planes + (long long)c * g.pixels() + first, wide, to);
          if (wide % 2) to[wide] = bfloat16(0.f);
        }
      } else {
        bfloat16* pixels = scratch<bfloat16>(1, Count(count) * g.pixels() + LANES);
        if (taken != number)
          for (int c = 0; c < count; ++c) round_row(planes + (long long)c * g.pixels(), g.pixels(), pixels + (long long)c * g.pixels());
        taken = number;
        const Runs runs(g, first, wide, 0, g.taps());
        for (int r = 0; r < rows; ++r)
          runs.row(pixels + (long long)(r / g.taps()) * g.pixels(), r % g.taps(), columns + (long long)r * half * 2, half * 2);
      }
      auto panel = [&](int k0, int j, int, int pitch, int*, Rows& words) {
        words.even(right + j * halves + (long long)(first / 2 + k0) * pitch, min(DEEP, half - k0), pitch);
      };
      const Tiles tiles(half);
      multiply_words(rows, filters, half, {(const char*)columns, 4LL * half}, panel, beside_each_other, sums, filters, nullptr, true);
    }
  }
#endif
}
