// dropout.cu: each element lives or dies by a number drawn for its index. Nothing is stored: backward draws it again.
#include "kernel.h"

// Philox 2x32 with ten rounds (Salmon et al. 2011): 32 random bits of a counter (index, iteration) and a key.
DEVICE unsigned philox(unsigned index, unsigned iteration, unsigned key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long product = 0xD256D193ull * index;
    index = unsigned(product >> 32) ^ key ^ iteration;
    iteration = unsigned(product);
    key += 0x9E3779B9u;
  }
  return index;
}

KERNEL dropout(int n, const Real* from, Real* to, unsigned key, unsigned iteration, unsigned threshold, Real scale) {
  GRID_LOOP(i, n) to[i] = philox(i, iteration, key) >= threshold ? from[i] * scale : Real(0);
}

KERNEL dropout_scale(int n, const Real* from, Real* to, Real scale) {
  GRID_LOOP(i, n) to[i] = from[i] * scale;
}
