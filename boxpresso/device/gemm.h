// gemm.h: dense algebra on the host. A tile of C is kept in vector registers while a panel of B, packed so that it stays in
// the first cache, runs past it. gemm.cpp multiplies matrices with it, convolution packs its panels straight from the image.
//
// Each element of C is one sum over k in a fixed order, whatever the block or the worker, so results do not depend on the
// number of threads. Only rows and columns are ever split, never k.
#pragma once
#include "checked.h"
#include "simd.h"
#include <algorithm>
#include <cstring>

// A tile is ROWS x (LANES * VECTORS): as many accumulators as the registers hold beside a row of B and one element of A.
constexpr int LANES = COLUMNS, ROWS = REGISTERS == 32 ? 8 : VECTOR_BYTES == 32 ? 6 : 4;
constexpr int VECTORS = VECTOR_BYTES == 64 ? 3 : 2;
constexpr int WIDTH = LANES * VECTORS;  // columns of a tile and of a panel
constexpr int CUT = 48;                 // a multiple of WIDTH in all its forms, which the .py files cut columns at
constexpr int HIGH = 4032;              // rows of C that are packed at once: a multiple of ROWS in all its forms
constexpr int DEPTH = 192;              // rows of a panel: DEPTH x WIDTH takes three quarters of a 48 KiB first cache
typedef Columns Vector;

DEVICE Vector load(const Real* from) { return *(const Vector*)from; }
DEVICE void store(Real* to, Vector value) { *(Vector*)to = value; }
DEVICE Vector all(Real value) { return value - Vector{}; }  // x - 0 is x for every x, -0 and NaN included

// Copies n elements, most often few: without a call, and without reading past them.
DEVICE void copy(const Real* from, Real* to, int n) {
  constexpr int FEW = 4;
  if (n >= LANES) {
    int i = 0;
    for (; i + LANES <= n; i += LANES) store(to + i, load(from + i));
    if (i < n) store(to + n - LANES, load(from + n - LANES));  // the last vector overlaps the one before
  } else if (n >= FEW) {
    for (int i = 0; i + FEW <= n; i += FEW) std::memcpy(to + i, from + i, FEW * sizeof(Real));
    std::memcpy(to + n - FEW, from + n - FEW, FEW * sizeof(Real));
  } else {
    for (int i = 0; i < n; ++i) to[i] = from[i];
  }
}

// The same of other types.
template <class T>
DEVICE void copy(const T* from, T* to, int n) {
  constexpr int MANY = VECTOR_BYTES / sizeof(T);
  int i = 0;
  for (; i + MANY <= n; i += MANY) std::memcpy(to + i, from + i, VECTOR_BYTES);
  if (i == 0)
    for (; i < n; ++i) to[i] = from[i];
  else if (i < n) std::memcpy(to + n - MANY, from + n - MANY, VECTOR_BYTES);
}

// A matrix by strides: element (i, k) is at[i * row + k * step].
struct Left {
  const Real* at;
  long long row, step;
};

// A panel of B: its row k begins at at[k * step].
struct Panel {
  const Real* at;
  long long step;
};

// What becomes of a product: C = relu(alpha * product + beta * C + bias of the row). With beta 0, C is not read.
struct Finish {
  Real alpha = 1, beta = 0;
  const Real* bias = nullptr;
  bool relu = false;
};

// LANES terms of a tile's sums: a vector of each of its R rows, and as many rows of a panel of V vectors.
template <int R, int V>
DEVICE void add_by_lane(const Vector (&left)[R], const Real* right, long long step, Vector (&sum)[R][V]) {
#pragma GCC unroll 4
  for (int lane = 0; lane < LANES; ++lane, right += step) {
    Vector r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = load(right + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused(all(left[i][lane]), r[v], sum[i][v]);
  }
}

template <int V>
DEVICE void tile(int depth, const Left& a, const Panel& b, Real* c, long long ldc, int rows, int columns, const Finish& f) {
  Vector sum[ROWS][V] = {};
  const Real* line[ROWS];
  for (int i = 0; i < ROWS; ++i) line[i] = a.at + (i < rows ? i : 0) * a.row;  // a row too many repeats row 0, unsaved
  const Real* right = b.at;
  long long k = 0;
  if constexpr (BY_LANE)  // there the step is 1: see multiply_rows
    for (; k + LANES <= depth; k += LANES, right += LANES * b.step) {
      Vector left[ROWS];
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; ++i) left[i] = load(line[i] + k);
      add_by_lane(left, right, b.step, sum);
    }
  for (const long long end = depth * a.step; k != end; k += a.step, right += b.step) {
    Vector r[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) r[v] = load(right + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i) {
      const Vector left = all(line[i][k]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = fused(left, r[v], sum[i][v]);
    }
  }
  Real edge[ROWS][V * LANES];
  const bool whole = rows == ROWS && columns == V * LANES;
  if (!whole && f.beta != 0)
    for (int i = 0; i < rows; ++i) std::memcpy(edge[i], c + i * ldc, columns * sizeof(Real));
  Real* out = whole ? c : edge[0];
  const long long step = whole ? ldc : V * LANES;
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i)
    if (i < rows) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        Real* at = out + i * step + v * LANES;
        Vector value = f.alpha * sum[i][v];
        if (f.beta != 0) value += f.beta * load(at);
        if (f.bias) value += f.bias[i];
        if (f.relu) value = value < 0 ? Vector{} : value;  // NaN stays NaN
        store(at, value);
      }
    }
  if (!whole)
    for (int i = 0; i < rows; ++i) std::memcpy(c + i * ldc, edge[i], columns * sizeof(Real));
}

// Rows of A for the tiles: element (i, k) at [i / ROWS][k][i % ROWS], so that those of a tile lie beside each other, or where a
// tile loads them as vectors at [i][k].
DEVICE void pack_rows(const Left& a, int rows, int depth, Real* out) {
  if (BY_LANE) {
    for (int i = 0; i < rows; i += LANES)
      for (int k = 0; k < depth; k += LANES) {
        const int high = min(LANES, rows - i), wide = min(LANES, depth - k);
        const Real* from = a.at + i * a.row + k * a.step;
        Real* to = out + (long long)i * depth + k;
        if (a.row == 1 && high == LANES && wide == LANES) {
          Vector square[LANES];
          for (int q = 0; q < LANES; ++q) square[q] = load(from + q * a.step);
          transpose(square);
          for (int q = 0; q < LANES; ++q) store(to + (long long)q * depth, square[q]);
        } else {
          for (int q = 0; q < high; ++q)
            for (int r = 0; r < wide; ++r) to[(long long)q * depth + r] = from[q * a.row + r * a.step];
        }
      }
    return;
  }
  for (int i = 0; i < rows; i += ROWS, out += (long long)depth * ROWS) {
    const Real* from = a.at + i * a.row;
    if (i + ROWS <= rows && a.row == 1)
      for (int k = 0; k < depth; ++k) std::memcpy(out + k * ROWS, from + k * a.step, ROWS * sizeof(Real));
    else
      for (int r = 0; r < ROWS; ++r)
        for (int k = 0; k < depth; ++k) out[k * ROWS + r] = i + r < rows ? from[r * a.row + k * a.step] : Real(0);
  }
}

// Rows of B as they lie in a matrix, `stride` elements apart. Where the product has few `rows` that read the panel, and all
// its columns are there, it is used in place; otherwise it is packed, with zeros after the last column.
DEVICE Panel plain_panel(const Real* from, long long stride, int depth, int columns, int rows, Real* room) {
  if (columns == WIDTH && rows <= 4 * ROWS) return {from, stride};
  Real* to = room;
  for (int k = 0; k < depth; ++k, from += stride, to += WIDTH) {
    if (columns == WIDTH) {
      for (int v = 0; v < VECTORS; ++v) store(to + v * LANES, load(from + v * LANES));
    } else {
      copy(from, to, columns);
      for (int x = columns; x < WIDTH; ++x) to[x] = 0;
    }
  }
  return {room, WIDTH};
}

// C = A B for `rows` x `columns` of C. `panel_of(k, depth, j, columns, room)` gives the panel of B with rows from k and
// columns from j on; it may pack it into `room`, which holds DEPTH x WIDTH elements and LANES more.
template <class PanelOf>
DEVICE void multiply_rows(int rows, int columns, int depth, Left a, PanelOf panel_of, Real* c, long long ldc, const Finish& finish) {
  Real* room = scratch(0, DEPTH * WIDTH + LANES);
  int k0 = 0;
  do {
    const int deep = min(DEPTH, depth - k0);
    Finish f = finish;
    if (k0 > 0) f.beta = 1;
    if (k0 + deep < depth) {
      f.bias = nullptr;
      f.relu = false;
    }
    Left left = {a.at + k0 * a.step, a.row, a.step};
    long long next = ROWS * a.row;  // from one tile's rows to the next's
    if (a.step != 1) {
      Real* packed = scratch(1, (Count(rows) + ROWS) * DEPTH);
      pack_rows(left, rows, deep, packed);
      left = BY_LANE ? Left{packed, deep, 1} : Left{packed, 1, ROWS};
      next = (long long)ROWS * deep;
    }
    for (int j = 0; j < columns; j += WIDTH) {
      const int wide = min(WIDTH, columns - j);
      const Panel b = panel_of(k0, deep, j, wide, room);
      for (int i = 0; i < rows; i += ROWS) {
        const Left part = {left.at + i / ROWS * next, left.row, left.step};
        Real* at = c + i * ldc + j;
        Finish g = f;
        if (f.bias) g.bias = f.bias + i;
        const int high = min(ROWS, rows - i);
        if (wide > 2 * LANES) tile<VECTORS>(deep, part, b, at, ldc, high, wide, g);
        else if (wide > LANES) tile<2>(deep, part, b, at, ldc, high, wide, g);
        else tile<1>(deep, part, b, at, ldc, high, wide, g);
      }
    }
    k0 += DEPTH;
  } while (k0 < depth);
}

// The same for any number of rows, HIGH at once, so that what is packed is no more than HIGH x DEPTH elements.
template <class PanelOf>
DEVICE void multiply(int rows, int columns, int depth, Left a, PanelOf panel_of, Real* c, long long ldc, const Finish& finish) {
  for (int i = 0; i < rows; i += HIGH) {
    Finish part = finish;
    if (part.bias) part.bias += i;
    multiply_rows(min(HIGH, rows - i), columns, depth, {a.at + i * a.row, a.row, a.step}, panel_of, c + i * ldc, ldc, part);
  }
}
