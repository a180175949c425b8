// region.h: what the region layers share. A region is a row (batch index, x1, y1, x2, y2), in pixels of the image.
#pragma once
#include "kernel.h"

// The image that a region lies in; -1, so that the region contributes nothing, for an index outside the batch and for a
// region of which any number is NaN or infinite. The index is truncated, as a cast does.
template <class Number>  // Real or Store
DEVICE int image_of(const Number* region, int numbers, int batch) {
  for (int k = 0; k < numbers; ++k)
    if (!(abs(Real(region[k])) <= REAL_MAX)) return -1;
  const Real index = Real(region[0]);
  return batch > 0 && index > -1 && index < batch ? int(index) : -1;  // -0.5 is image 0, where there is one
}
