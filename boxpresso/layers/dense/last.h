// last.h: the products of channels-last convolutions on the host: rows of pixels times packed filters, LANES filters a vector.
//
// A tile of R rows x V vectors of sums stays in registers while both operands run past it. As in gemm.h each sum is over k in
// a fixed order whatever the worker, and only rows and filters are split.
#pragma once
#include "epilogue.h"
#include "window.h"

// Rows of a tile of V vectors: as many sums as the registers hold beside a row of filters and an element of the image.
constexpr int tile_rows(int v) {
  if (BY_LANE) return v == 3 ? 5 : v == 2 ? 8 : 12;  // and a vector of each row of the image
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
  long long left_pitch;
  const Real* const* lines;
  const int* terms;
  Real* top;
  long long top_pitch;
  long long other, other_pitch;
};
// 0: without a table. TABLE_BESIDE: LANES terms lie beside each other, from each multiple of LANES on.
constexpr int TABLE = 1, TABLE_BESIDE = 2;

// Stores the sums of a tile. This is code of its own: in every tile it would take most of the time to compile.
template <int V, int KIND>
DEVICE void finish_as(const Real* sums, const TileRows& t, int rows, int channel, int filters, const Epilogue& e, bool first) {
  for (int i = 0; i < rows; ++i) {
    Real* to = t.top + i * t.top_pitch + channel;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v, to += LANES, sums += LANES) {
      const int count = filters - channel - v * LANES;
      Vector value = load(sums);
      if (count >= LANES) {
        if (!first) value += load(to);
        if (KIND >= 0) value = e.template apply<KIND>(value, channel + v * LANES, t.other + i * t.other_pitch, LANES);
        store(to, value);
      } else if (count > 0) {
        if (!first) value += load_part(to, count);
        if (KIND >= 0) value = e.template apply<KIND>(value, channel + v * LANES, t.other + i * t.other_pitch, count);
        store_part(to, value, count);
      }
    }
  }
}
template <int V>
__attribute__((noinline)) static void finish(const Real* sums, const TileRows& t, int rows, int channel, int filters,
                                             const Epilogue& e, bool first, bool last) {
  if (!last) finish_as<V, -1>(sums, t, rows, channel, filters, e, first);
  else if (e.activation == RELU) finish_as<V, RELU>(sums, t, rows, channel, filters, e, first);
  else if (e.activation == LEAKY) finish_as<V, LEAKY>(sums, t, rows, channel, filters, e, first);
  else if (e.activation == SLOPES) finish_as<V, SLOPES>(sums, t, rows, channel, filters, e, first);
  else if (e.activation == CLIP) finish_as<V, CLIP>(sums, t, rows, channel, filters, e, first);
  else finish_as<V, 0>(sums, t, rows, channel, filters, e, first);
}

// The same from the registers that the sums are in: of sums that go on, which are stored as they are, and where the activation is a
// matter of bounds, as none, RELU and CLIP are.
template <int V>
struct Bounds {
  Vector bias[V], least, most;
  const Real* other;
  bool first, last;  // whether the sums begin, and end, here

  Bounds(const Epilogue& e, int channel, bool first, bool last)
      : least(e.least()), most(e.most()), other(last && e.other ? e.other + channel : nullptr), first(first), last(last) {
    for (int v = 0; v < V; ++v) bias[v] = e.bias ? load(e.bias + channel + v * LANES) : -Vector{};
  }
};

// Sums of `rows` rows and the V vectors of filters from `channel` on. first, last: whether the sums begin, and end, here. bounds:
// null where other activations end them.
template <int R, int V, int TERMS>
DEVICE void tile_last(int depth, const TileRows& t, const Real* panel, int rows, int channel, int filters, const Epilogue& e,
                      bool first, bool last, const Bounds<V>* bounds) {
  Vector sum[R][V];
  const Real* line[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    const int row = i < rows ? i : 0;  // a row too many repeats row 0, unsaved
    line[i] = TERMS ? t.lines[row] : t.left + row * t.left_pitch;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[i][v] = Vector{};
  }
  long long k = 0;
  if constexpr (BY_LANE)
    if (TERMS != TABLE)
      for (; k + LANES <= depth; k += LANES, panel += LANES * V * LANES) {
        Vector left[R];
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) left[i] = load(line[i] + (TERMS ? (long long)(t.terms[k]) : k));
        add_by_lane(left, panel, V * LANES, sum);
      }
  for (; k < depth; ++k, panel += V * LANES) {
    Vector r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = load(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const Vector left = all(line[i][TERMS ? (long long)(t.terms[k]) : k]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused(left, r[v], sum[i][v]);
    }
  }
  if (bounds) {
    const Vector least = bounds->least, most = bounds->most;
    const Real* other = bounds->other ? bounds->other + t.other : nullptr;
    Real* to = t.top + channel;
    const long long pitch = t.top_pitch, other_pitch = t.other_pitch;
    const int count = filters - channel - (V - 1) * LANES;  // of the last vector
    const bool begins = bounds->first, ends = bounds->last;
    Vector bias[V];
    for (int v = 0; v < V; ++v) bias[v] = bounds->bias[v];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      if (i == rows) break;
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const bool whole = v < V - 1 || count >= LANES;
        Vector value = sum[i][v];
        if (!begins) value += whole ? load(to + v * LANES) : load_part(to + v * LANES, count);
        if (ends) {
          value += bias[v];
          if (other) value += whole ? load(other + v * LANES) : load_part(other + v * LANES, count);
          value = min_lanes(most, max_lanes(least, value));  // NaN stays NaN
        }
        if (whole) store(to + v * LANES, value);
        else store_part(to + v * LANES, value, count);
      }
      to += pitch;
      other = other ? other + other_pitch : nullptr;
    }
    return;
  }
  Real sums[R][V * LANES];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(&sums[i][v * LANES], sum[i][v]);
  finish<V>(&sums[0][0], t, min(rows, R), channel, filters, e, first, last);
}

// All rows of a panel of V vectors. next: `ahead` elements that are wanted after it, or none.
template <int V, int TERMS>
DEVICE void rows_last(int depth, TileRows t, const Real* panel, int rows, int channel, int filters, const Epilogue& e,
                      bool first, bool last, const Real* next = nullptr, int ahead = 0) {
  constexpr int R = !TERMS ? tile_rows(V) : BY_LANE && V == 3 ? 6 : min(8, tile_rows(V));  // of 5 g++ moves some registers about
  const Bounds<V> of_panel(e, channel, first, last);
  const Bounds<V>* bounds = !last || e.bounded() ? &of_panel : nullptr;
  const int share = rows < 2 * R ? 0 : ahead / (rows / R) + 1;  // for each tile
  for (int i = 0; i < rows;) {
    for (const Real* const end = next + min(share, ahead); next < end; next += LANES, ahead -= LANES) later(next);
    const int left = rows - i;
    int step = R;
    if (left >= R / 2 + 1 || R < 4) tile_last<R, V, TERMS>(depth, t, panel, left, channel, filters, e, first, last, bounds);
    else if (left >= 3) tile_last<R / 2, V, TERMS>(depth, t, panel, left, channel, filters, e, first, last, bounds), step = R / 2;
    else tile_last<1, V, TERMS>(depth, t, panel, 1, channel, filters, e, first, last, bounds), step = 1;
    i += step;
    t.left += step * t.left_pitch;
    t.lines += TERMS ? step : 0;
    t.top += step * t.top_pitch;
    t.other += step * t.other_pitch;
  }
}

// Panels [first, end) of filters for some rows; depth: of these sums, from term `k0` on; whole: of all of a filter.
template <int TERMS>
DEVICE void panels_last(int depth, int k0, int whole, const TileRows& t, const Real* weights, int rows, int filters,
                        int first_panel, int end_panel, const Epilogue& e) {
  const Panels panels(filters);
  const bool first = k0 == 0, last = k0 + depth == whole;
  for (int p = first_panel; p < end_panel; ++p) {
    const int wide = panels.wide(p), channel = panels.first(p) * LANES;
    const Real* panel = weights + (long long)channel * whole + (long long)k0 * wide * LANES;
    const int after = p + 1 < end_panel ? p + 1 : first_panel, k = p + 1 < end_panel ? k0 : k0 + depth;
    const int ahead = min(depth, whole - k) * panels.wide(after) * LANES;  // of the next panel, or of the first one's next terms
    const Real* next = weights + (long long)panels.first(after) * LANES * whole + (long long)k * panels.wide(after) * LANES;
    if (wide == 3) rows_last<3, TERMS>(depth, t, panel, rows, channel, filters, e, first, last, next, ahead);
    else if (wide == 2) rows_last<2, TERMS>(depth, t, panel, rows, channel, filters, e, first, last, next, ahead);
    else rows_last<1, TERMS>(depth, t, panel, rows, channel, filters, e, first, last, next, ahead);
  }
}

// Filters (group, filter, term) by `term_of(k)`, the place of term k in a filter, into panels: vector by vector, term by term.
template <class TermOf>
DEVICE void pack_panel(const Real* weights, const Real* scale, int filters, int whole, int panel, Real* packed, TermOf term_of) {
  const Panels panels(filters);
  const int width = panels.wide(panel) * LANES, channel = panels.first(panel) * LANES;
  Real* to = packed + (long long)channel * whole;
  for (int k = 0; k < whole; ++k) {
    const long long from = term_of(k);
    for (int f = channel; f < channel + width; ++f)
      *to++ = f < filters ? weights[(long long)f * whole + from] * (scale ? scale[f] : Real(1)) : Real(0);
  }
}
