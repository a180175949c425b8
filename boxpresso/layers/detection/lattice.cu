// lattice.cu: values to the corners of a lattice, blurred there, and back to the points. A corner's values lie together.
#include "kernel.h"

// A corner sums its points, in their order. entries: places in (points, corners) by corner, from starts[corner] on.
KERNEL splat(int n, const Real* x, const int* entries, const int* starts, const Real* weights, Real* values, int channels,
             int points, int corners) {
  BLOCK_LOOP(v, n) {
    THREAD_LOOP(c, channels) {
      Real sum = 0;
      for (int i = starts[v]; i < starts[v + 1]; ++i) sum += weights[entries[i]] * x[c * points + entries[i] / corners];
      values[v * channels + c] = sum;
    }
  }
}

// Half of both neighbours along one direction is added; a neighbour that no point has made counts 0.
KERNEL blur(int n, const Real* values, const int* neighbours, Real* result, int channels, int first) {
  BLOCK_LOOP(v, n) {
    const int a = neighbours[2 * (first + v)], b = neighbours[2 * (first + v) + 1];
    THREAD_LOOP(c, channels) {
      Real sum = 0;
      if (a >= 0) sum += values[a * channels + c];
      if (b >= 0) sum += values[b * channels + c];
      result[v * channels + c] = values[v * channels + c] + sum / 2;
    }
  }
}

KERNEL slice_points(int n, const Real* values, const int* offsets, const Real* weights, Real* y, int channels, int corners,
                    Real scale) {
  BLOCK_LOOP(p, n) {
    THREAD_LOOP(c, channels) {
      Real sum = 0;
      for (int k = 0; k < corners; ++k) sum += weights[p * corners + k] * values[offsets[p * corners + k] * channels + c];
      y[c * n + p] = scale * sum;
    }
  }
}

KERNEL inverse(int n, Real* norm) {
  GRID_LOOP(i, n) norm[i] = 1 / (norm[i] + Real(1e-20));
}
