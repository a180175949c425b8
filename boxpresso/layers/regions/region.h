// region.h: what the region layers share. A region is a row (batch index, x1, y1, x2, y2), in pixels of the image.
//
// Feature maps lie in two layouts. Planes, as blobs have them, where a plane is read for few numbers and a copy
// would cost more than it saves: PSROI*, ROIWarping, masks, ROIAlign of few regions, gradients of maxima. Slabs of 16
// channels (slab.h), where many bins share pixels: ROIAlign, ROIPooling, PrROIPooling, rotated ones, Deform*.
#pragma once
#include "kernel.h"

constexpr int MOST_SAMPLES = 1 << 20;  // in a bin: what asks for more is no region but an error, which the layer refuses

// What a kernel is told of its arrays: so many regions on maps (batch, channels, height, width), cut into pooled_height x
// pooled_width bins; scale: pixels of the map in one of the image. Layers that need more declare a struct of their own.
struct Geometry {
  int regions, batch, channels, height, width, pooled_height, pooled_width;
  Real scale;
};

// The image that a region lies in; -1, so that the region contributes nothing, for an index outside the batch and for a
// region of which any number is NaN or infinite. The index is truncated, as a cast does.
template <class Number>  // Real or Store
DEVICE int image_of(const Number* region, int numbers, int batch) {
  for (int k = 0; k < numbers; ++k)
    if (!(abs(Real(region[k])) <= REAL_MAX)) return -1;
  const Real index = Real(region[0]);
  return batch > 0 && index > -1 && index < batch ? int(index) : -1;  // -0.5 is image 0, where there is one
}
