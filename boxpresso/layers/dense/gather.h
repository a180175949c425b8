// gather.h: the pixels under the window of one place of a channels-last image, as a row of terms.
#pragma once
#include "last.h"

// Terms [k0, k0 + depth) of the window at one place into `to`. A few numbers behind them may be overwritten.
struct Gather {
  const Window& g;
  int pitch, channels, run;  // run: terms that lie beside each other in the image: of a tap, or of a row of taps

  Gather(const Window& g, int pitch) : g(g), pitch(pitch), channels(g.group_channels()) {
    // A planar image has pitch 0.
    run = g.dilation_w == 1 && pitch == channels ? g.kernel_w * channels : channels;
  }
  static void take(const Real* from, Real* to, int count) {  // `to` has room for whole vectors
    int i = 0;
    for (; i + LANES <= count; i += LANES) store(to + i, load(from + i));
    if (i < count) store(to + i, load_part(from + i, count - i));
  }
  static void clear(Real* to, int count) {
    for (int i = 0; i < count; i += LANES) store(to + i, Vector{});
  }
  // image: of the group's first channel; y, x: the window's first pixel, perhaps in the padding.
  void row(const Real* image, int y, int x, int k0, int depth, Real* to) const {
    const int taps_of_run = run / channels;
    for (int k = k0; k < k0 + depth;) {
      const int piece = k / run, from = k % run, count = min(run - from, k0 + depth - k);
      const int tap = piece * taps_of_run, ky = y + tap / g.kernel_w * g.dilation_h, kx = x + tap % g.kernel_w * g.dilation_w;
      Real* at = to + (k - k0);
      k += count;
      if (ky < 0 || ky >= g.height || kx + taps_of_run <= 0 || kx >= g.width) {
        clear(at, count);
      } else if (pitch == 0) {
        const Real* first = image + ((long long)from * g.height + ky) * g.width + kx;
        for (int i = 0; i < count; ++i) at[i] = first[(long long)i * g.height * g.width];
      } else if (kx >= 0 && kx + taps_of_run <= g.width) {
        take(image + ((long long)ky * g.width + kx) * pitch + from, at, count);
      } else {  // a row of taps that hangs over an edge: pitch == channels
        const int low = kx < 0 ? -kx * channels : 0, high = min(run, (g.width - kx) * channels);
        const Real* start = image + ((long long)ky * g.width + kx) * pitch;
        int i = from;
        const int end = from + count;
        if (i < low) clear(at, min(low, end) - i), at += min(low, end) - i, i = min(low, end);
        if (i < min(high, end)) take(start + i, at, min(high, end) - i), at += min(high, end) - i, i = min(high, end);
        if (i < end) clear(at, end - i);
      }
    }
  }
};
