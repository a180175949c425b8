// spp.cu: a block pools one plane into the bins of every level. Bins of a level do not overlap, so that in backward a
// pixel asks one bin of each.
#include "kernel.h"

struct Level { int bins, high, wide, pad_h, pad_w; };
DEVICE Level level_of(const int* levels, int l) {
  const int* p = levels + 5 * l;
  return {p[0], p[1], p[2], p[3], p[4]};
}

struct Span { int from, to, size; };  // pixels of a bin along one axis; `size` counts its padding too
DEVICE Span span(int bin, int length, int pad, int size) {
  const int from = bin * length - pad, to = min(from + length, size + pad);
  return {max(from, 0), min(to, size), to - from};
}

// Where a level of a plane begins in the top: behind the levels before it, each of all channels.
DEVICE int place(int plane, int channels, int before, int all, int bins) {
  return plane / channels * channels * all + channels * before + plane % channels * bins * bins;
}
DEVICE int bins_of(const int* levels, int height) {
  int sum = 0;
  for (int l = 0; l < height; ++l) sum += levels[5 * l] * levels[5 * l];
  return sum;
}

KERNEL spp_forward(int n, const Real* bottom, Real* top, int* mask, int channels, int rows, int columns, int height,
                   const int* levels, int average) {
  BLOCK_LOOP(plane, n) {
    const Real* x = bottom + plane * rows * columns;
    const int all = bins_of(levels, height);
    for (int l = 0, before = 0; l < height; ++l) {
      const Level level = level_of(levels, l);
      const int at = place(plane, channels, before, all, level.bins);
      THREAD_LOOP(b, level.bins * level.bins) {
        const Span down = span(b / level.bins, level.high, level.pad_h, rows);
        const Span across = span(b % level.bins, level.wide, level.pad_w, columns);
        Real sum = 0;
        int best = down.from * columns + across.from;
        for (int i = down.from; i < down.to; ++i)
          for (int j = across.from; j < across.to; ++j) {
            sum += x[i * columns + j];
            if (x[i * columns + j] > x[best]) best = i * columns + j;
          }
        top[at + b] = average ? sum / (down.size * across.size) : x[best];
        mask[at + b] = best;
      }
      before += level.bins * level.bins;
    }
  }
}

KERNEL spp_backward(int n, const Real* top_diff, const int* mask, Real* bottom_diff, int channels, int rows,
                    int columns, int height, const int* levels, int average) {
  BLOCK_LOOP(plane, n) {
    const int all = bins_of(levels, height);
    THREAD_LOOP(pixel, rows * columns) {
      const int y = pixel / columns, x = pixel % columns;
      Real sum = 0;
      for (int l = 0, before = 0; l < height; ++l) {
        const Level level = level_of(levels, l);
        const int i = (y + level.pad_h) / level.high, j = (x + level.pad_w) / level.wide;
        const int at = place(plane, channels, before, all, level.bins) + i * level.bins + j;
        const Span down = span(i, level.high, level.pad_h, rows), across = span(j, level.wide, level.pad_w, columns);
        if (average) sum += top_diff[at] / (down.size * across.size);
        else if (mask[at] == pixel) sum += top_diff[at];
        before += level.bins * level.bins;
      }
      bottom_diff[plane * rows * columns + pixel] = sum;
    }
  }
}
