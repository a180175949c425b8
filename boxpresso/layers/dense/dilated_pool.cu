// dilated_pool.cu: pooling windows whose pixels, the taps, are some apart.
#include <cfloat>
#include "kernel.h"

struct Taps {
  int height, width, out_height, out_width, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int inside;  // the mean is over the taps inside the image, not over those inside image and padding
};

struct Run { int from, to; };

// The taps of a window that begins at `start` whose pixels are from `least` on and below `end`.
DEVICE Run taps_within(int start, int kernel, int dilation, int least, int end) {
  const int from = start < least ? (least - start + dilation - 1) / dilation : 0;
  return {min(from, kernel), start < end ? min((end - start + dilation - 1) / dilation, kernel) : 0};
}

// Calls visit(pixel) for the taps of window (y, x) inside the image; returns how many the mean is over.
template <class Visit>
DEVICE Real taps_of(int y, int x, const Taps& t, Visit visit) {
  const int top = y * t.stride_h - t.pad_h, left = x * t.stride_w - t.pad_w;
  const Run rows = taps_within(top, t.kernel_h, t.dilation_h, 0, t.height);
  const Run columns = taps_within(left, t.kernel_w, t.dilation_w, 0, t.width);
  for (int i = rows.from; i < rows.to; ++i)
    for (int j = columns.from; j < columns.to; ++j) visit((top + i * t.dilation_h) * t.width + left + j * t.dilation_w);
  if (t.inside) return Real(max(rows.to - rows.from, 0)) * Real(max(columns.to - columns.from, 0));
  const Run all_rows = taps_within(top, t.kernel_h, t.dilation_h, top, t.height + t.pad_h);
  const Run all_columns = taps_within(left, t.kernel_w, t.dilation_w, left, t.width + t.pad_w);
  return Real(all_rows.to) * Real(all_columns.to);
}

KERNEL dilated_max(int n, const Real* bottom, Real* top, int* mask, Taps t) {
  GRID_LOOP(at, n) {
    const Real* plane = bottom + at / t.out_width / t.out_height * t.height * t.width;
    Real most = -FLT_MAX;
    int place = -1;
    taps_of(at / t.out_width % t.out_height, at % t.out_width, t, [&](int pixel) {
      if (plane[pixel] > most) most = plane[pixel], place = pixel;
    });
    if (top) top[at] = most;
    mask[at] = place;
  }
}

KERNEL dilated_mean(int n, const Real* bottom, Real* top, Taps t) {
  GRID_LOOP(at, n) {
    const Real* plane = bottom + at / t.out_width / t.out_height * t.height * t.width;
    Real sum = 0;
    const Real count = taps_of(at / t.out_width % t.out_height, at % t.out_width, t, [&](int pixel) { sum += plane[pixel]; });
    top[at] = sum / count;
  }
}

// A pixel asks the windows that have a tap on it; mask is a null pointer for the mean.
KERNEL dilated_diff(int n, const Real* top_diff, const int* mask, Real* bottom_diff, Taps t) {
  GRID_LOOP(at, n) {
    const int column = at % t.width, row = at / t.width % t.height, plane = at / t.width / t.height;
    Real sum = 0;
    for (int i = 0; i < min(t.kernel_h, (row + t.pad_h) / t.dilation_h + 1); ++i)
      for (int j = 0; j < min(t.kernel_w, (column + t.pad_w) / t.dilation_w + 1); ++j) {
        const int y = row + t.pad_h - i * t.dilation_h, x = column + t.pad_w - j * t.dilation_w;
        const bool hit = y % t.stride_h == 0 && x % t.stride_w == 0;
        if (hit && y / t.stride_h < t.out_height && x / t.stride_w < t.out_width) {
          const int window = (plane * t.out_height + y / t.stride_h) * t.out_width + x / t.stride_w;
          if (!mask) sum += top_diff[window] / taps_of(y / t.stride_h, x / t.stride_w, t, [](int) {});
          else if (mask[window] == row * t.width + column) sum += top_diff[window];
        }
      }
    bottom_diff[at] = sum;
  }
}
