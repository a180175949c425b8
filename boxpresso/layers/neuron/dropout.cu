// dropout.cu: each element lives or dies by a number drawn for its index. Nothing is stored: backward draws it again.
#include "random.h"

KERNEL dropout(int n, const Real* from, Real* to, unsigned key, unsigned iteration, unsigned threshold, Real scale) {
  GRID_LOOP(i, n) to[i] = philox(i, iteration, key) >= threshold ? from[i] * scale : Real(0);
}

KERNEL dropout_scale(int n, const Real* from, Real* to, Real scale) {
  GRID_LOOP(i, n) to[i] = from[i] * scale;
}
