// corner_pool.cu: running maxima along rows or columns (CornerNet), and their gradient. Columns are walked row after row, a thread
// for each. Of rows a thread takes COLUMNS beside each other, and turns what it reads, so that a vector holds a pixel of each.
#include "columns.h"

// Lines of planes of height x width: along columns where `vertical`; `reverse`: from the last pixel to the first.
struct Lines {
  int height, width, vertical, reverse;
};

// What holds after `most` at a pixel of that value; NaN holds from where it comes, as in torch's cummax.
template <class Value>
DEVICE Value larger(Value most, Value value) { return (most != most) | (value < most) ? most : value; }
// Whether that is the pixel: of equal ones the latest is.
template <class Value>
DEVICE auto takes_over(Value most, Value value) { return (value != value) | (value >= most); }

// Tile `first` of `count` rows from `line` on: tile[i] is pixel i of each.
template <class From>
DEVICE void read(const From* plane, int line, int first, const Lines& l, Columns* tile) {
  const int count = min(COLUMNS, l.height - line), pixels = min(COLUMNS, l.width - first);
  for (int i = 0; i < COLUMNS; ++i) {
    const From* row = plane + (long long)(line + i) * l.width + first;
    soon(row + (long long)COLUMNS * l.width);
    tile[i] = i < count ? load(row, pixels) : Columns{};
  }
  transpose(tile);
}
template <class To>
DEVICE void write(To* plane, int line, int first, const Lines& l, Columns* tile) {
  const int count = min(COLUMNS, l.height - line), pixels = min(COLUMNS, l.width - first);
  transpose(tile);
  for (int i = 0; i < count; ++i) {
    To* row = plane + (long long)(line + i) * l.width + first;
    soon(row + (long long)COLUMNS * l.width);
    store(row, tile[i], pixels);
  }
}

// visit(a tile's first pixel, its pixels' begin, end, step) along rows, or `falling` against them.
template <class Visit>
DEVICE void walk(const Lines& l, bool falling, Visit visit) {
  const int tiles = (l.width + COLUMNS - 1) / COLUMNS;
  for (int t = 0; t < tiles; ++t) {
    const int first = (falling ? tiles - 1 - t : t) * COLUMNS, pixels = min(COLUMNS, l.width - first);
    if (falling) visit(first, pixels - 1, -1, -1);
    else visit(first, 0, pixels, 1);
  }
}

// A block for each plane.
KERNEL corner_pool_forward(int n, const Store* bottom, Store* top, Lines l) {
  BLOCK_LOOP(b, n) {
    const Store* from = bottom + (long long)b * l.height * l.width;
    Store* to = top + (long long)b * l.height * l.width;
    if (l.vertical) {
      for (int i = 0; i < l.height; ++i) {
        const int row = l.reverse ? l.height - 1 - i : i, before = i == 0 ? row : l.reverse ? row + 1 : row - 1;
        const Store *line = from + (long long)row * l.width, *most = (i == 0 ? from : to) + (long long)before * l.width;
        Store* out = to + (long long)row * l.width;
        THREAD_LOOP(x, l.width) out[x] = larger(Real(most[x]), Real(line[x]));
      }
      continue;
    }
    THREAD_LOOP(group, (l.height + COLUMNS - 1) / COLUMNS) {
      Columns most = Columns{} - REAL_MAX - REAL_MAX;  // minus infinity
      walk(l, l.reverse, [&](int first, int begin, int end, int step) {
        Columns tile[COLUMNS];
        read(from, group * COLUMNS, first, l, tile);
        for (int i = begin; i != end; i += step) tile[i] = most = larger(most, tile[i]);
        write(to, group * COLUMNS, first, l, tile);
      });
    }
  }
}

// A block for each plane. sums: of the bottom's shape; bottom_diff itself, or in float32 where that is half. room: a row of numbers
// for each plane. First sums gets 1 where a pixel takes over and 0 elsewhere; then, against the order, what each holds for.
KERNEL corner_pool_backward(int n, const Store* bottom, const Store* top_diff, Real* sums, Real* room, Lines l) {
  BLOCK_LOOP(b, n) {
    const long long plane = (long long)b * l.height * l.width;
    if (l.vertical) {
      Real* kept = room + (long long)b * l.width;  // the maximum so far, then the sum so far
      THREAD_LOOP(x, l.width) kept[x] = -REAL_MAX - REAL_MAX;
      for (int i = 0; i < l.height; ++i) {
        const long long row = plane + (long long)(l.reverse ? l.height - 1 - i : i) * l.width;
        THREAD_LOOP(x, l.width) {
          const Real value = Real(bottom[row + x]);
          const bool takes = takes_over(kept[x], value);
          kept[x] = takes ? value : kept[x];
          sums[row + x] = takes ? Real(1) : Real(0);
        }
      }
      THREAD_LOOP(x, l.width) kept[x] = 0;
      for (int i = l.height - 1; i >= 0; --i) {
        const long long row = plane + (long long)(l.reverse ? l.height - 1 - i : i) * l.width;
        THREAD_LOOP(x, l.width) {
          const Real sum = kept[x] + Real(top_diff[row + x]);
          const bool takes = sums[row + x] > 0;
          sums[row + x] = takes ? sum : Real(0);
          kept[x] = takes ? Real(0) : sum;
        }
      }
      continue;
    }
    THREAD_LOOP(group, (l.height + COLUMNS - 1) / COLUMNS) {
      Columns most = Columns{} - REAL_MAX - REAL_MAX, sum = Columns{};
      walk(l, l.reverse, [&](int first, int begin, int end, int step) {
        Columns tile[COLUMNS];
        read(bottom + plane, group * COLUMNS, first, l, tile);
        for (int i = begin; i != end; i += step) {
          const auto takes = takes_over(most, tile[i]);
          most = takes ? tile[i] : most;
          tile[i] = takes ? Columns{} + 1 : Columns{};
        }
        write(sums + plane, group * COLUMNS, first, l, tile);
      });
      walk(l, !l.reverse, [&](int first, int begin, int end, int step) {
        Columns tile[COLUMNS], given[COLUMNS];
        read(sums + plane, group * COLUMNS, first, l, tile);
        read(top_diff + plane, group * COLUMNS, first, l, given);
        for (int i = begin; i != end; i += step) {
          const auto takes = tile[i] > 0;
          sum += given[i];
          tile[i] = takes ? sum : Columns{};
          sum = takes ? Columns{} : sum;
        }
        write(sums + plane, group * COLUMNS, first, l, tile);
      });
    }
  }
}
