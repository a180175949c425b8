// lrn_last.cpp: LRN across the channels of a channels-last image on the host, for a plan at TEST.
#include "../../device/epilogue.h"

// As in lrn.cu: scale = k + by * (the window's sum of x^2), top = x * scale^-beta.
struct Response {
  int channels, height, width, half;
  Real by, k, beta;
};

// n: images x rows.
KERNEL lrn_last(int n, const Real* bottom, Real* top, Response g, Layout layout) {
  const bool usual = g.beta == Real(0.75);
  const int half = min(g.half, g.channels);  // a wider window sees no more
  Real *squares = scratch(0, Count(half) * 2 + g.channels), *sums = scratch(1, g.channels);
  std::memset(squares, 0, (size_t(half) * 2 + g.channels) * sizeof(Real));  // zeros on both sides
  BLOCK_LOOP(row, n) {
    const int number = row / g.height, y = row % g.height;
    const Real* from = bottom + (long long)number * layout.bottom_step + (long long)y * g.width * layout.bottom_pitch;
    Real* to = top + (long long)number * layout.top_step + (long long)y * g.width * layout.top_pitch;
    for (int x = 0; x < g.width; ++x, from += layout.bottom_pitch, to += layout.top_pitch) {
      for (int c = 0; c < g.channels; ++c) squares[half + c] = from[c] * from[c];
      for (int c = 0; c < g.channels; ++c) sums[c] = squares[c];
      for (int i = 1; i <= 2 * half; ++i)
        for (int c = 0; c < g.channels; ++c) sums[c] += squares[c + i];
      for (int c = 0; c < g.channels; ++c) sums[c] = g.k + g.by * sums[c];
      if (usual)
        for (int c = 0; c < g.channels; ++c) to[c] = from[c] * (1 / sqrt(sums[c] * sqrt(sums[c])));
      else
        for (int c = 0; c < g.channels; ++c) to[c] = from[c] * pow(sums[c], -g.beta);
    }
  }
}
