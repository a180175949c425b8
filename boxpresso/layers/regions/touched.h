// touched.h: the pixels that an axis of a bin of deformable pooling takes.
#pragma once
#include "deform_roi.h"
#include "sample.h"

constexpr int TAKEN = 16;  // samples of an axis of a bin that are taken together

// One axis of a bin: the pixels that its samples take, with the sums of their weights; of the parts as the offset's gradient
// has them, which are not clamped to the map; and of how the value changes along the axis.
struct Touched {
  int count, at[2 * TAKEN];
  Real weight[2 * TAKEN], part[2 * TAKEN], slope[2 * TAKEN];
};

// Samples first to end of an axis that starts at `edge`. Pixels ascend, and one is entered once, or once more with weight 0 if a
// sample names it so: 0 * infinity is NaN there, as in the sum of single samples.
DEVICE void touch(Touched& touched, Real edge, Real bin, int samples, int first, int end, int size) {
  int count = 0;
  for (int s = first; s < end; ++s) {
    const Real c = edge + ((bin < 0 ? samples - 1 - s : s) + Real(0.5)) * bin / samples;
    int pixel[2];
    Real upper;
    if (!neighbours(c, size, pixel, pixel + 1, &upper)) continue;
    const Real weight[2] = {1 - upper, upper}, part[2] = {pixel[1] - c, c - pixel[0]};
    for (int side = 0; side < 2; ++side) {
      int e = count - 1;
      while (e >= 0 && (touched.at[e] > pixel[side] ||
                        (touched.at[e] == pixel[side] && (touched.weight[e] != 0) != (weight[side] != 0))))
        --e;
      if (e < 0 || touched.at[e] != pixel[side]) {
        e = count++;
        touched.at[e] = pixel[side];
        touched.weight[e] = touched.part[e] = touched.slope[e] = 0;
      }
      touched.weight[e] += weight[side];
      touched.part[e] += part[side];
      touched.slope[e] += side ? 1 : -1;
    }
  }
  touched.count = count;
}

// The gradients of a bin's offset and mask, from how its sum of samples changes as it moves in x and in y, and from that sum; either
// may be null. number: of the bin among those of all regions.
DEVICE void put_moves(int number, const Grid& grid, const Real* sum, const Store* mask, Store* offset_diff, Store* mask_diff, Real gamma,
                      const GridGeometry& g) {
  const int bins = g.pooled_height * g.pooled_width, k = number / bins, bin = number - k * bins;
  const Real inverse = 1 / Real(max(grid.rows * grid.columns, 1)), each = gamma * (mask ? Real(mask[number]) : Real(1)) * inverse;
  if (offset_diff) {  // 0 stays 0, whatever the region's size is
    offset_diff[2ll * k * bins + bin] = sum[0] != 0 ? sum[0] * (each * grid.bin_width * g.pooled_width) : Real(0);
    offset_diff[(2ll * k + 1) * bins + bin] = sum[1] != 0 ? sum[1] * (each * grid.bin_height * g.pooled_height) : Real(0);
  }
  if (mask_diff) mask_diff[number] = sum[2] * inverse;
}
