// region.h: what the region layers share. A region is a row (batch index, x1, y1, x2, y2), in pixels of the image.
#pragma once
#include "kernel.h"

// The image that a region lies in; -1, so that the region contributes nothing, for an index outside the batch and for a
// region of which any number is NaN or infinite. The index is truncated, as a cast does.
DEVICE int image_of(const Real* region, int numbers, int batch) {
  for (int k = 0; k < numbers; ++k)
    if (!(abs(region[k]) <= REAL_MAX)) return -1;
  return region[0] > -1 && region[0] < batch ? int(region[0]) : -1;
}
