// deformable.cu: convolution whose taps are moved by offsets. For one image: where each tap of each place samples, the columns
// of samples for gemm, and the two ways back. A column is (deformable group, tap, place), the place running fastest.
#include "kernel.h"

// The four pixels at (y, x) and their weights; a pixel outside the map is -1 and counts as 0, and so is a sample that is a
// whole pixel or more away from the map, or NaN.
DEVICE void corners(Real y, Real x, int height, int width, int* at, Real* weight) {
  at[0] = at[1] = at[2] = at[3] = -1;
  weight[0] = weight[1] = 0;  // how far below and right of the upper left pixel
  if (!(y > -1 && y < height && x > -1 && x < width)) return;
  const int top = int(floor(y)), left = int(floor(x));
  weight[0] = y - top;
  weight[1] = x - left;
  for (int corner = 0; corner < 4; ++corner) {
    const int row = top + corner / 2, column = left + corner % 2;
    if (row >= 0 && row < height && column >= 0 && column < width) at[corner] = row * width + column;
  }
}

DEVICE Real pixel(const Real* map, int at) { return at < 0 ? Real(0) : map[at]; }

struct Window {
  int height, width, out_height, out_width, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};

// n: deformable groups * taps blocks. offset: (deformable groups, taps, 2: y and x, places). parts: (columns, 2), at: (columns,
// 4).
KERNEL deformable_places(int n, const Real* offset, int* at, Real* parts, Window w) {
  BLOCK_LOOP(b, n) {
    const int places = w.out_height * w.out_width, tap = b % (w.kernel_h * w.kernel_w);
    const int y = tap / w.kernel_w * w.dilation_h - w.pad_h, x = tap % w.kernel_w * w.dilation_w - w.pad_w;
    THREAD_LOOP(p, places) {
      const int i = b * places + p, row = p / w.out_width, column = p - row * w.out_width;
      const Real down = row * w.stride_h + y + offset[2 * b * places + p];
      const Real across = column * w.stride_w + x + offset[(2 * b + 1) * places + p];
      corners(down, across, w.height, w.width, at + 4 * i, parts + 2 * i);
    }
  }
}

// n: channels * taps blocks. columns: (channels, taps, places) = the sample times the mask (1 where it is null); `shared`
// channels have one deformable group.
KERNEL deformable_columns(int n, const Real* image, const int* at, const Real* parts, const Real* mask, Real* columns,
                          int taps, int places, int area, int shared) {
  BLOCK_LOOP(b, n) {
    const int channel = b / taps, first = (channel / shared * taps + b % taps) * places;
    const Real* map = image + channel * area;
    THREAD_LOOP(p, places) {
      const int* k = at + 4 * (first + p);
      const Real fy = parts[2 * (first + p)], fx = parts[2 * (first + p) + 1];
      const Real upper = (1 - fx) * pixel(map, k[0]) + fx * pixel(map, k[1]);
      const Real lower = (1 - fx) * pixel(map, k[2]) + fx * pixel(map, k[3]);
      const Real value = (1 - fy) * upper + fy * lower;
      columns[b * places + p] = mask ? mask[first + p] * value : value;
    }
  }
}

// The gradients of offset and mask, n: deformable groups * taps * places; given: the gradient of the columns.
KERNEL deformable_moves(int n, const Real* given, const Real* image, const int* at, const Real* parts, const Real* mask,
                        Real* offset_diff, Real* mask_diff, int taps, int places, int area, int shared) {
  GRID_LOOP(i, n) {
    const int row = i / places, p = i - row * places, group = row / taps, tap = row - group * taps;
    const int* k = at + 4 * i;
    Real product[4] = {};  // of the gradient with each pixel, over the channels
    for (int c = group * shared; c < (group + 1) * shared; ++c) {
      const Real g = given[(c * taps + tap) * places + p];
      for (int corner = 0; corner < 4; ++corner) product[corner] += g * pixel(image + c * area, k[corner]);
    }
    const Real fy = parts[2 * i], fx = parts[2 * i + 1], times = mask ? mask[i] : Real(1);
    const Real upper = (1 - fx) * product[0] + fx * product[1], lower = (1 - fx) * product[2] + fx * product[3];
    if (offset_diff) {
      offset_diff[2 * row * places + p] = times * (lower - upper);
      offset_diff[(2 * row + 1) * places + p] =
          times * ((1 - fy) * (product[1] - product[0]) + fy * (product[3] - product[2]));
    }
    if (mask_diff) mask_diff[i] = (1 - fy) * upper + fy * lower;
  }
}
