// depthwise_last.cpp: depthwise_last.h's rows of Real.
#include "depthwise_last.h"

// n: images x rows of the map.
KERNEL depthwise_last(int n, const Real* image, const Real* weights, const Real* bias, const Real* slopes, const Real* other,
                      Real* map, Geometry geometry, Layout l) {
  depthwise(n, image, weights, bias, slopes, other, map, geometry, l);
}
