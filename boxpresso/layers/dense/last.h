// last.h: the products of channels-last convolutions on the host: rows of pixels times packed filters, LANES filters a vector.
//
// A tile of R rows x V vectors of sums stays in registers while both operands run past it. As in gemm.h each sum is over k in
// a fixed order whatever the worker, and only rows and filters are split.
#pragma once
#include "epilogue.h"
#include "window.h"

// Rows of a tile of V vectors: as many sums as the registers hold beside a row of filters and an element of the image.
constexpr int tile_rows(int v) {
  return VECTOR_BYTES == 64 ? (v == 3 ? 8 : 12) : VECTOR_BYTES == 32 ? (v == 3 ? 4 : v == 2 ? 6 : 8) : (v == 3 ? 3 : v == 2 ? 4 : 8);
}
constexpr int DEEP = 256;  // terms of a sum that are done before the next filters: a panel of so many stays in the caches
constexpr int PAD = LANES; // between packed rows, so that they do not fall on the same lines of the first cache

// How the vectors of a group's filters are cut into panels of up to 3: none of one vector beside others.
struct Panels {
  int vectors, count;
  explicit Panels(int filters) : vectors((filters + LANES - 1) / LANES) {
    count = (vectors + 2) / 3;
  }
  int wide(int panel) const {  // vectors of a panel: as even as can be
    return vectors / count + (panel < vectors % count);
  }
  int first(int panel) const {  // the vector that a panel begins with
    const int rest = vectors % count;
    return panel * (vectors / count) + (panel < rest ? panel : rest);
  }
};

// A tile's rows: of the left operand, of the top, and of what is added. Term k of a row lies at [k], or with a table at
// [terms[k]] of its own place in `lines`.
struct TileRows {
  const Real* left;
  long left_pitch;
  const Real* const* lines;
  const int* terms;
  Real* top;
  long top_pitch;
  long other, other_pitch;
};

// sums of `rows` rows and the V vectors of filters from `channel` on. first, last: whether the sums begin, and end, here.
template <int R, int V, bool TABLE>
DEVICE void tile_last(int depth, const TileRows& t, const Real* panel, int rows, int channel, int filters, const Epilogue& e,
                      bool first, bool last) {
  Vector sum[R][V];
  const Real* line[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    const int row = i < rows ? i : 0;  // a row too many repeats row 0, unsaved
    line[i] = TABLE ? t.lines[row] : t.left + row * t.left_pitch;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = Vector{};
  }
  for (long k = 0; k < depth; ++k, panel += V * LANES) {
    Vector r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = load(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Vector left = all(line[i][TABLE ? long(t.terms[k]) : k]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] += left * r[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    if (i >= rows) break;
    Real* to = t.top + i * t.top_pitch + channel;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v, to += LANES) {
      const int count = filters - channel - v * LANES;
      Vector value = sum[i][v];
      if (!first) value += count >= LANES ? load(to) : load_part(to, count);
      if (last) value = e(value, channel + v * LANES, t.other + i * t.other_pitch, count);
      if (count >= LANES) store(to, value);
      else store_part(to, value, count);
    }
  }
}

// All rows of a panel of V vectors.
template <int V, bool TABLE>
DEVICE void rows_last(int depth, TileRows t, const Real* panel, int rows, int channel, int filters, const Epilogue& e,
                      bool first, bool last) {
  constexpr int R = TABLE ? min(8, tile_rows(V)) : tile_rows(V);
  for (int i = 0; i < rows;) {
    const int left = rows - i;
    int step = R;
    if (left >= R / 2 + 1 || R < 4) tile_last<R, V, TABLE>(depth, t, panel, left, channel, filters, e, first, last);
    else if (left >= 3) tile_last<R / 2, V, TABLE>(depth, t, panel, left, channel, filters, e, first, last), step = R / 2;
    else tile_last<1, V, TABLE>(depth, t, panel, 1, channel, filters, e, first, last), step = 1;
    i += step;
    t.left += step * t.left_pitch;
    t.lines += TABLE ? step : 0;
    t.top += step * t.top_pitch;
    t.other += step * t.other_pitch;
  }
}

// Panels [first, end) of filters for some rows; depth: of these sums, from term `k0` on; whole: of all of a filter.
template <bool TABLE>
DEVICE void panels_last(int depth, int k0, int whole, const TileRows& t, const Real* weights, int rows, int filters,
                        int first_panel, int end_panel, const Epilogue& e) {
  const Panels panels(filters);
  const bool first = k0 == 0, last = k0 + depth == whole;
  for (int p = first_panel; p < end_panel; ++p) {
    const int wide = panels.wide(p), channel = panels.first(p) * LANES;
    const Real* panel = weights + long(channel) * whole + long(k0) * wide * LANES;
    if (wide == 3) rows_last<3, TABLE>(depth, t, panel, rows, channel, filters, e, first, last);
    else if (wide == 2) rows_last<2, TABLE>(depth, t, panel, rows, channel, filters, e, first, last);
    else rows_last<1, TABLE>(depth, t, panel, rows, channel, filters, e, first, last);
  }
}

// Filters (group, filter, term) by `term_of(k)`, the place of term k in a filter, into panels: vector by vector, term by term.
template <class TermOf>
DEVICE void pack_panel(const Real* weights, const Real* scale, int filters, int whole, int panel, Real* packed, TermOf term_of) {
  const Panels panels(filters);
  const int width = panels.wide(panel) * LANES, channel = panels.first(panel) * LANES;
  Real* to = packed + long(channel) * whole;
  for (int k = 0; k < whole; ++k) {
    const long from = term_of(k);
    for (int f = channel; f < channel + width; ++f)
      *to++ = f < filters ? weights[long(f) * whole + from] * (scale ? scale[f] : Real(1)) : Real(0);
  }
}
