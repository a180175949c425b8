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

KERNEL corner_pool_forward(int n, const Store* bottom, Store* top, Lines l) {
  GRID_LOOP(line, n)
    walk_largest(line, bottom, l, [&](long long at, long long best) { top[at] = bottom[best]; });
}

// sums: of the bottom's shape; bottom_diff itself, or in float32 where that is half.
KERNEL corner_pool_backward(int n, const Store* bottom, const Store* top_diff, Real* sums, Lines l) {
  GRID_LOOP(line, n) {
    walk(line, l, [&](long long at) { sums[at] = 0; });
    walk_largest(line, bottom, l, [&](long long at, long long best) { sums[best] += Real(top_diff[at]); });
  }
}
