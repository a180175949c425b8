// touched.h: the pixels that an axis of a bin of deformable pooling takes.
#pragma once
#include "deform_roi.h"
#include "sample.h"

constexpr int TAKEN = 16;  // samples of an axis of a bin that are taken together

// Samples first to end of an axis that starts at `edge`. Pixels ascend, and one is entered once, or once more with weight 0 if a
// sample names it so: 0 * infinity is NaN there, as in the sum of single samples. begin(touched, e) makes entry e 0, and raise()
// adds a weight, a part that is not clamped to the map, and a slope to it.
template <class Touches>
DEVICE void touch(Touches& touched, Real edge, Real bin, int samples, int first, int end, int size) {
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
        begin(touched, e);
      }
      raise(touched, e, weight[side], part[side], side ? 1 : -1);
    }
  }
  touched.count = count;
}

// One axis of a bin: the pixels that its samples take, with the sums of their weights; of the parts as the offset's gradient
// has them, which are not clamped to the map; and of how the value changes along the axis.
struct Touched {
  int count, at[2 * TAKEN];
  Real weight[2 * TAKEN], part[2 * TAKEN], slope[2 * TAKEN];
};

DEVICE void begin(Touched& touched, int e) { touched.weight[e] = touched.part[e] = touched.slope[e] = 0; }
DEVICE void raise(Touched& touched, int e, Real weight, Real part, int slope) {
  touched.weight[e] += weight;
  touched.part[e] += part;
  touched.slope[e] += slope;
}
