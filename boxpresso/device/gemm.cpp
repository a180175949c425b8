// gemm.cpp: C = alpha op(A) op(B) + beta C on the host, row-major. Blocks own rectangles of C, so no sum is ever split.
#include "gemm.h"

// A panel of B where B lies transposed, k along the rows of `from`, which are `stride` elements apart.
DEVICE Panel turned_panel(const Real* from, long long stride, int depth, int columns, Real* room) {
  for (int x = 0; x < WIDTH; ++x, from += stride)
    for (int k = 0; k < depth; ++k) room[k * WIDTH + x] = x < columns ? from[k] : Real(0);
  return {room, WIDTH};
}

// Block b owns the row part b / column_parts of `high` rows and the column part of `wide` columns.
struct Block { int rows, columns; };  // of C, that one block computes

KERNEL gemm(int n, int trans_a, int trans_b, int rows, int columns, int depth, Real alpha, const Real* a, const Real* b,
            Real beta, Real* c, Block size) {
  const int high = size.rows, wide = size.columns;
  const int column_parts = (columns + wide - 1) / wide;
  BLOCK_LOOP(block, n) {
    const int i0 = block / column_parts * high, j0 = block % column_parts * wide;
    const Left left = trans_a ? Left{a + i0, 1, rows} : Left{a + (long long)i0 * depth, depth, 1};
    const int height = min(high, rows - i0);
    auto panel = [&](int k0, int deep, int j, int width, Real* room) -> Panel {
      j += j0;
      if (trans_b) return turned_panel(b + (long long)j * depth + k0, depth, deep, width, room);
      return plain_panel(b + (long long)k0 * columns + j, columns, deep, width, height, room);
    };
    multiply(height, min(wide, columns - j0), depth, left, panel, c + (long long)i0 * columns + j0, columns,
             Finish{alpha, beta});
  }
}

// C = alpha A B^T + beta C for an A of few rows and a large B: computed as the transpose, B A^T, so that the large matrix is
// read in place. n: blocks of `high` rows of B, which are columns of C.
KERNEL gemm_few_rows(int n, int rows, int columns, int depth, Real alpha, const Real* a, const Real* b, Real beta, Real* c,
                     int high) {
  BLOCK_LOOP(block, n) {
    const int first = block * high, count = min(high, columns - first);
    Real* turned = scratch(2, Count(count) * rows);
    for (int i = 0; i < rows && beta != 0; ++i)
      for (int j = 0; j < count; ++j) turned[j * rows + i] = c[(long long)i * columns + first + j];
    auto panel = [&](int k0, int deep, int j, int width, Real* room) {
      return turned_panel(a + (long long)j * depth + k0, depth, deep, width, room);
    };
    multiply(count, rows, depth, {b + (long long)first * depth, depth, 1}, panel, turned, rows, {alpha, beta});
    for (int i = 0; i < rows; ++i) {
      Real* to = c + (long long)i * columns + first;
      for (int j = 0; j < count; ++j) to[j] = turned[j * rows + i];
    }
  }
}

// The dot products of one row with F others, each in PARTS sums, whatever the machine's vectors: term k goes to k % PARTS, and then
// the upper half is added to the lower one until one is left.
template <int F>
DEVICE void dots_of(int depth, const Real* row, const Real* few, Real* result) {
  constexpr int PARTS = 32, U = PARTS / LANES;
  Vector sum[F][U] = {};
  int k = 0;
  for (; k + PARTS <= depth; k += PARTS)
    for (int u = 0; u < U; ++u) {
      const Vector r = load(row + k + u * LANES);
      for (int f = 0; f < F; ++f) sum[f][u] = fused(r, load(few + (long long)f * depth + k + u * LANES), sum[f][u]);
    }
  for (int u = 0; k < depth; ++u, k += LANES) {
    const int rest = min(LANES, depth - k);
    const Vector r = load_part(row + k, rest);
    for (int f = 0; f < F; ++f) sum[f][u] = fused(r, load_part(few + (long long)f * depth + k, rest), sum[f][u]);
  }
  for (int f = 0; f < F; ++f) {
    Real parts[PARTS];
    for (int u = 0; u < U; ++u) store(parts + u * LANES, sum[f][u]);
    for (int half = PARTS / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
    result[f] = parts[0];
  }
}

// Few rows against many, both with k along the rows: each of the many is read once, from end to end.
// c[i * many_step + f * few_step] = alpha * dot(many[i], few[f]) + beta * c[...]
KERNEL dots(int n, int few_rows, int depth, Real alpha, const Real* many, const Real* few, Real beta, Real* c, int many_step,
            int few_step, int items) {
  BLOCK_LOOP(block, n) {
    const int first = int((long long)items * block / n), last = int((long long)items * (block + 1) / n);
    for (int i = first; i < last; ++i) {
      const Real* row = many + (long long)i * depth;
      for (int f = 0; f < few_rows;) {
        Real result[4];
        const int step = few_rows - f >= 4 ? 4 : 1;
        if (step == 4) dots_of<4>(depth, row, few + (long long)f * depth, result);
        else dots_of<1>(depth, row, few + (long long)f * depth, result);
        for (int s = 0; s < step; ++s, ++f) {
          Real& at = c[(long long)i * many_step + (long long)f * few_step];
          at = beta == 0 ? alpha * result[s] : alpha * result[s] + beta * at;
        }
      }
    }
  }
}

// Few rows of A times B, B with its columns along the rows: each block owns columns and adds up rows of B in order.
// Element (f, k) of A is a[f * row + k * step].
KERNEL sums(int n, int rows, int columns, int depth, Real alpha, const Real* a, int row, int step, const Real* b, Real beta,
            Real* c) {
  BLOCK_LOOP(block, n) {
    const int first = int((long long)columns * block / n), wide = int((long long)columns * (block + 1) / n) - first;
    Real* total = scratch(0, Count(rows) * wide);
    std::memset(total, 0, size_t(rows) * wide * sizeof(Real));
    int k = 0;
    for (; k + 4 <= depth; k += 4)
      for (int i = 0; i < rows; ++i) {
        const Real *x = a + (long long)i * row + (long long)k * step, *from = b + (long long)k * columns + first;
        const Real *y = from + columns, *z = y + columns, *w = z + columns;
        const Real p = x[0], q = x[step], r = x[2ll * step], s = x[3ll * step];
        Real* to = total + (long long)i * wide;
        for (int j = 0; j < wide; ++j) to[j] = fused(s, w[j], fused(r, z[j], fused(q, y[j], fused(p, from[j], to[j]))));
      }
    for (; k < depth; ++k)
      for (int i = 0; i < rows; ++i) {
        const Real x = a[(long long)i * row + (long long)k * step], *from = b + (long long)k * columns + first;
        Real* to = total + (long long)i * wide;
        for (int j = 0; j < wide; ++j) to[j] = fused(x, from[j], to[j]);
      }
    for (int i = 0; i < rows; ++i) {
      Real *to = c + (long long)i * columns + first, *from = total + (long long)i * wide;
      if (beta == 0)
        for (int j = 0; j < wide; ++j) to[j] = alpha * from[j];
      else
        for (int j = 0; j < wide; ++j) to[j] = alpha * from[j] + beta * to[j];
    }
  }
}
