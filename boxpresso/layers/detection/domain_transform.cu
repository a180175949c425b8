// domain_transform.cu: recursive filters along the rows and columns of planes, whose weights are small at edges.
#include "kernel.h"

KERNEL edge_weights(int n, const Real* edges, Real* weight, int first, Real scale, Real by, Real least) {
  GRID_LOOP(i, n) {
    const Real w = exp(scale * (1 + edges[first + i] * by));
    weight[i] = w < least ? least : w > 1 ? Real(1) : w;
  }
}

// One pass over lines: each place takes a part of its step to the place before it. n: channels * lines. Lines are `next` apart,
// places `step`; back: from the last place on. steps: where these of one image are kept, or none.
KERNEL filter_lines(int n, Real* values, const Real* weight, Real* steps, int first, int area, int lines, int next,
                    int length, int step, int back) {
  GRID_LOOP(i, n) {
    const int line = i % lines * next, plane = i / lines * area + line;
    Real* x = values + first + plane;
    for (int k = 1; k < length; ++k) {
      const int at = back ? length - 1 - k : k, before = back ? at + 1 : at - 1;
      const Real up = x[before * step] - x[at * step];
      if (steps) steps[plane + at * step] = up;
      x[at * step] += weight[line + max(at, before) * step] * up;
    }
  }
}

// The same pass for the gradient, from its last place on. n: lines, each of which owns what it adds to.
KERNEL filter_lines_diff(int n, Real* diff, const Real* weight, const Real* steps, Real* weight_diff, int first, int channels,
                         int area, int next, int length, int step, int back) {
  GRID_LOOP(i, n) {
    const int line = i * next;
    for (int c = 0; c < channels; ++c) {
      const int plane = c * area + line;
      Real* g = diff + first + plane;
      for (int k = length - 1; k > 0; --k) {
        const int at = back ? length - 1 - k : k, before = back ? at + 1 : at - 1, of = line + max(at, before) * step;
        const Real own = g[at * step];
        weight_diff[of] += own * steps[plane + at * step];
        g[before * step] += weight[of] * own;
        g[at * step] = (1 - weight[of]) * own;
      }
    }
  }
}

KERNEL edge_diffs(int n, const Real* weight, const Real* weight_diff, Real* diff, int first, Real by) {
  GRID_LOOP(i, n) diff[first + i] += by * weight[i] * weight_diff[i];
}
