// inner_product.cu: the bias of a fully connected layer; its products are device/blas.py's.
#include "kernel.h"

// Every row of top becomes the bias; the product is added to it. n: rows.
KERNEL bias_forward(int n, const Real* bias, Real* top, int columns) {
  BLOCK_LOOP(row, n) {
    Real* to = top + (long long)row * columns;
    THREAD_LOOP(j, columns) to[j] = bias[j];
  }
}
