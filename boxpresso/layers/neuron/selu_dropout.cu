// selu_dropout.cu: each element is scaled and shifted, or becomes one value, by a number drawn for its index.
#include "random.h"

KERNEL selu_dropout(int n, const Real* from, Real* to, unsigned key, unsigned iteration, unsigned threshold, Real scale,
                    Real dropped, Real shift) {
  GRID_LOOP(i, n) to[i] = (philox(i, iteration, key) >= threshold ? from[i] * scale : dropped) + shift;
}
