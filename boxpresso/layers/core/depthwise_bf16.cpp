// depthwise_bf16.cpp: depthwise_last.h's rows of a map in bfloat16, on CPUs that have it.
#include "bf16.h"
#include "depthwise_last.h"

// As depthwise_last: weights and sums are of Real. The map is stored in bfloat16, or as floats, the one of the two that is there.
// n: images x rows of the map.
KERNEL depthwise_bf16(int n, const bfloat16* image, const Real* weights, const Real* bias, const Real* slopes, const bfloat16* other,
                      bfloat16* map, Real* floats, Geometry geometry, Layout l) {
#if BF16
  if (map) depthwise(n, image, weights, bias, slopes, other, map, geometry, l);
  else depthwise(n, image, weights, bias, slopes, other, floats, geometry, l);
#endif
}
