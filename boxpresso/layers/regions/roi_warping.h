// roi_warping.h: where the samples of ROIWarping's regions lie.
#pragma once
#include "region.h"
#include "warp.h"

// The places of a region's rows and columns of samples.
struct Samples {
  const int *low_y, *low_x;
  const Real *part_y, *part_x;
  int height, width;
};

DEVICE Samples samples_of(const int* low, const Real* part, int k, const Geometry& g) {
  const long long row = (long long)k * (g.pooled_height + g.pooled_width), column = row + g.pooled_height;
  return {low + row, low + column, part + row, part + column, g.height, g.width};
}
DEVICE Place row_of(const Samples& p, int ph) { return {p.low_y[ph], min(p.low_y[ph] + 1, p.height - 1), p.part_y[ph]}; }
DEVICE Place column_of(const Samples& p, int pw) { return {p.low_x[pw], min(p.low_x[pw] + 1, p.width - 1), p.part_x[pw]}; }

// What a sample's place weighs in a line that is one of its two.
DEVICE Real weight_in(const Place& place, int line) {
  return (line == place.low ? 1 - place.part : Real(0)) + (line == place.high ? place.part : Real(0));
}
