// corner_pool.cu: running maxima along rows or columns (CornerNet), and their gradient. A thread takes a line.
#include "kernel.h"

// Line i of planes of height x width: along columns where `vertical`; `reverse`: from the last pixel to the first.
struct Lines {
  int height, width, vertical, reverse;
};

// visit(place of each pixel of the line, in order)
template <class Visit>
DEVICE void walk(int line, const Lines& l, Visit visit) {
  const int lines = l.vertical ? l.width : l.height, count = l.vertical ? l.height : l.width;
  const int plane = line / lines, at = line - plane * lines, step = l.vertical ? l.width : 1;
  const long long first = (long long)plane * l.height * l.width + (l.vertical ? at : at * l.width);
  for (int i = 0; i < count; ++i) visit(first + (long long)(l.reverse ? count - 1 - i : i) * step);
}

// Of equal pixels the latest holds, and NaN holds from where it comes, as in torch's cummax.
template <class Visit>
DEVICE void walk_largest(int line, const Store* bottom, const Lines& l, Visit visit) {
  long long best = -1;
  walk(line, l, [&](long long at) {
    const Real value = Real(bottom[at]), so_far = best < 0 ? value : Real(bottom[best]);
    if (best < 0 || value != value || value >= so_far) best = at;
    visit(at, best);
  });
}

// What holds after `so_far` at a pixel of that value.
DEVICE Real larger(Real so_far, Real value) { return so_far != so_far || value < so_far ? so_far : value; }

// A block for each plane.
KERNEL corner_pool_forward(int n, const Store* bottom, Store* top, Lines l) {
  BLOCK_LOOP(b, n) {
    const Store* from = bottom + (long long)b * l.height * l.width;
    Store* to = top + (long long)b * l.height * l.width;
#if defined(__CUDACC__)
    THREAD_LOOP(line, l.vertical ? l.width : l.height) {
      Real most = -REAL_MAX;
      bool first = true;
      walk(line, l, [&](long long at) {
        most = first ? Real(from[at]) : larger(most, Real(from[at]));
        first = false;
        to[at] = most;
      });
    }
#else
    // Row after row, each as a vector; of a row its columns one after another.
    for (int i = 0; i < l.height; ++i) {
      const int row = l.vertical && l.reverse ? l.height - 1 - i : i, before = l.reverse ? row + 1 : row - 1;
      const Store* line = from + row * l.width;
      Store* out = to + row * l.width;
      if (l.vertical) {
        if (i == 0) {
          for (int x = 0; x < l.width; ++x) out[x] = line[x];
        } else {
          for (int x = 0; x < l.width; ++x) out[x] = larger(Real(to[before * l.width + x]), Real(line[x]));
        }
        continue;
      }
      const int start = l.reverse ? l.width - 1 : 0, step = l.reverse ? -1 : 1;
      Real most = l.width ? Real(line[start]) : Real(0);
      for (int x = 0; x < l.width; ++x) {
        most = larger(most, Real(line[start + x * step]));
        out[start + x * step] = most;
      }
    }
#endif
  }
}

// sums: of the bottom's shape; bottom_diff itself, or in float32 where that is half.
KERNEL corner_pool_backward(int n, const Store* bottom, const Store* top_diff, Real* sums, Lines l) {
  GRID_LOOP(line, n) {
    walk(line, l, [&](long long at) { sums[at] = 0; });
    walk_largest(line, bottom, l, [&](long long at, long long best) { sums[best] += Real(top_diff[at]); });
  }
}
