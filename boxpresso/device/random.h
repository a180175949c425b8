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

// A number above 0 and at most 1.
DEVICE double uniform_number(unsigned index, unsigned iteration, unsigned key) {
  return (philox(index, iteration, key) + 1.0) * 0x1p-32;
}

// A normal number of mean 0 and deviation 1, by Box and Muller.
DEVICE double normal_number(unsigned index, unsigned iteration, unsigned key) {
  return sqrt(-2 * log(uniform_number(index, iteration, key))) * cos(6.283185307179586 * uniform_number(index, iteration, ~key));
}
