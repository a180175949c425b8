// pooling_bf16.cpp: pooling_last.h's windows over maps in bfloat16, on CPUs that have it.
#include "../core/bf16.h"
#include "pooling_last.h"

// As pool_last: sums are of Real. The top is stored in bfloat16, or as floats, the one of the two that is there. n: images x rows of
// the top x cuts of the channels.
KERNEL pool_bf16(int n, const bfloat16* bottom, bfloat16* top, Real* floats, LastPool g, Layout layout, int cuts) {
#if BF16
  if (top) pool(n, bottom, top, g, layout, cuts);
  else pool(n, bottom, floats, g, layout, cuts);
#endif
}
