// pairs.h: the products of channels-last maps in bfloat16 on the host: pairs of neighbouring channels times packed pairs of filters,
// LANES filters a vector, with sums of Real (bf16.h). As in last.h a tile of R rows x V vectors of sums stays in registers, and each
// sum is over its terms in a fixed order whatever the worker.
#pragma once
#include "../core/bf16.h"
#include "amx.h"
#include "last.h"

#if BF16
typedef int Pair __attribute__((aligned(2), may_alias));  // two neighbours of a map
constexpr int DEEP_PAIRS = 256;  // of a sum that are done before the next rows
constexpr int SPARE = TILE;      // rows behind the last, of a tile that has too many

// Where whole sums go: a map in bfloat16 or as floats, the one of the two that is there, and what is done with them before.
struct Target {
  bfloat16* map;
  Real* floats;
  long long pitch;
  const bfloat16* other;  // added before the activation; null where there is nothing
  long long other_pitch;
  const Epilogue& e;  // bias, activation

  // The first `count` of LANES sums, for the filters from `channel` on, of a row.
  void put(const Vector& value, long long row, int channel, int count) const {
    if (map) {
      if (count >= LANES) store(map + row * pitch + channel, value);
      else store_part(map + row * pitch + channel, value, count);
    } else if (count >= LANES) store(floats + row * pitch + channel, value);
    else store_part(floats + row * pitch + channel, value, count);
  }
  Vector added(const Vector& value, long long row, int channel, int count) const {
    const bfloat16* at = other + row * other_pitch + channel;
    return value + (count >= LANES ? load(at) : load_part(at, count));
  }
};

// Stores the sums of a tile with any activation. This is code of its own: in every tile it would take most of the time to compile.
__attribute__((noinline)) static void finish_pairs(const Real* sums, int vectors, int rows, long long row, int channel, int filters,
                                                   const Target& t) {
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v, sums += LANES) {
      const int at = channel + v * LANES, count = filters - at;
      if (count <= 0) continue;
      Vector value = load(sums);
      if (t.e.bias) value += load(t.e.bias + at);
      if (t.other) value = t.added(value, row + i, at, count);
      const Epilogue& e = t.e;
      if (e.activation == LEAKY) value = value < 0 ? e.slope * value : value;
      else if (e.activation == SLOPES) value = value < 0 ? load(e.slopes + at) * value : value;
      else value = min_lanes(e.most(), max_lanes(e.least(), value));  // NaN stays NaN
      t.put(value, row + i, at, count);
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

// What a panel of filters is multiplied with: pair k of row i lies at lines[i][shift + k], or with a table at
// lines[i][terms[k]]. beside: whether LANES pairs of the table lie beside each other, from each multiple of LANES on.
struct PairRows {
  const Pair* const* lines;
  long long shift;
  const int* terms;
  bool beside;
};

// Pairs [0, depth) of the sums of `rows` rows and the V vectors of filters from `channel` on. partial: (R, V * LANES) of sums that
// do not begin, or end, here; first, last: whether they do.
template <int R, int V, bool TERMS>
DEVICE void tile_pairs(int depth, const PairRows& left, int row, const int* panel, int rows, int channel, int filters, Real* partial,
                       bool first, bool last, const Target& t) {
  Vector sum[R][V];
  const Pair* line[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    line[i] = left.lines[row + (i < rows ? i : 0)] + (TERMS ? 0 : left.shift);  // a row too many repeats row 0, unsaved
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = first ? Vector{} : load(partial + (i < rows ? i : 0) * V * LANES + v * LANES);
  }
  long long k = 0;
#if BY_LANE
  if (!TERMS || left.beside)
    for (; k + LANES <= depth; k += LANES, panel += LANES * V * LANES) {
      Pairs pair[R];
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) std::memcpy(&pair[i], line[i] + (TERMS ? (long long)(left.terms[k]) : k), sizeof(Pairs));
      add_pairs_by_lane(pair, panel, sum, std::make_integer_sequence<int, LANES>());
    }
#endif
  for (; k < depth; ++k, panel += V * LANES) {
    Pairs r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = *(const Pairs*)(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Pairs pair = Pairs{} + line[i][TERMS ? (long long)(left.terms[k]) : k];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused_pairs(pair, r[v], sum[i][v]);
    }
  }
  const int high = min(rows, R);
  if (!last) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)  // of a row too many into the room of rows to come, or behind them
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) store(partial + (i * V + v) * LANES, sum[i][v]);
    return;
  }
  // Most often: whole vectors to a map in bfloat16, with bounds, from the registers that they are in.
  if (t.map && !t.other && channel + V * LANES <= filters && t.e.bounded()) {
    const Vector least = t.e.least(), most = t.e.most();
    const long long pitch = t.pitch;
    bfloat16* to = t.map + row * pitch + channel;
    Vector bias[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) bias[v] = t.e.bias ? load(t.e.bias + channel + v * LANES) : -Vector{};
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i, to += pitch) {
      if (i == high) break;
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) store(to + v * LANES, min_lanes(most, max_lanes(least, sum[i][v] + bias[v])));  // NaN stays NaN
    }
    return;
  }
  Real sums[R][V * LANES];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(&sums[i][v * LANES], sum[i][v]);
  finish_pairs(&sums[0][0], V, high, row, channel, filters, t);
}

#if TILED
// The rows as a left operand of multiply_tiles.
template <bool TERMS>
struct RowsOfPairs {
  const PairRows& rows;
  const char* row(int i) const { return (const char*)(rows.lines[i] + (TERMS ? 0 : rows.shift)); }
  long long at(int k) const { return 4LL * (TERMS ? rows.terms[k] : k); }
  int beside(int k, int most) const {
    int count = TERMS ? 1 : most;
    while (count < most && rows.terms[k + count] == rows.terms[k] + count) ++count;
    return count;
  }
};
#endif

// All rows of a panel of V vectors.
template <int V, bool TERMS>
DEVICE void rows_pairs(int depth, const PairRows& left, const int* panel, int rows, int channel, int filters, Real* partial, bool first,
                       bool last, const Target& t) {
#if TILED
  multiply_tiles<false>(RowsOfPairs<TERMS>{left}, rows, depth, EvenWords{panel, V}, V, first ? nullptr : partial, V * TILE, partial);
  if (!last) return;
  depth = 0, first = false;  // whole sums are stored below
#endif
  constexpr int R = min(8, tile_rows(V));  // of more the places of the rows are not all in registers
  for (int i = 0; i < rows;) {
    const int rest = rows - i;
    Real* sums = partial + (long long)(i) * V * LANES;
    if (rest >= R / 2 + 1 || R < 4) tile_pairs<R, V, TERMS>(depth, left, i, panel, rest, channel, filters, sums, first, last, t), i += R;
    else if (rest >= 3) tile_pairs<R / 2, V, TERMS>(depth, left, i, panel, rest, channel, filters, sums, first, last, t), i += R / 2;
    else tile_pairs<1, V, TERMS>(depth, left, i, panel, 1, channel, filters, sums, first, last, t), i += 1;
  }
}

// Pairs [0, pairs) of a panel of `wide` vectors for all rows.
template <bool TERMS>
DEVICE void panel_pairs(int wide, int depth, const PairRows& left, const int* panel, int rows, int channel, int filters, Real* partial,
                        bool first, bool last, const Target& t) {
  if (wide == 3) rows_pairs<3, TERMS>(depth, left, panel, rows, channel, filters, partial, first, last, t);
  else if (wide == 2) rows_pairs<2, TERMS>(depth, left, panel, rows, channel, filters, partial, first, last, t);
  else rows_pairs<1, TERMS>(depth, left, panel, rows, channel, filters, partial, first, last, t);
}
#endif
