// random.h: random numbers by counter, the same on both devices and for any number of threads.
#pragma once
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
