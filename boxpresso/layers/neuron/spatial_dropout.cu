// spatial_dropout.cu: each channel lives or dies by a number drawn for its index. Nothing is stored: backward draws it again.
#include "random.h"

KERNEL spatial_dropout(int n, const Real* from, Real* to, int inner, unsigned key, unsigned iteration, unsigned threshold,
                       Real scale) {
  BLOCK_LOOP(plane, n) {
    const Real factor = philox(plane, iteration, key) >= threshold ? scale : Real(0);
    const Real* source = from + plane * inner;
    Real* target = to + plane * inner;
    THREAD_LOOP(i, inner) target[i] = factor == 0 ? Real(0) : source[i] * factor;
  }
}
