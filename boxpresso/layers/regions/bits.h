// bits.h: the bits of a word.
#pragma once
#include "kernel.h"

#if defined(__CUDACC__)
DEVICE int bits_of(unsigned word) { return __popc(word); }
DEVICE int lowest_bit(unsigned word) { return __ffs(int(word)) - 1; }  // its number; of a word that is not 0
#else
DEVICE int bits_of(unsigned word) { return __builtin_popcount(word); }
DEVICE int lowest_bit(unsigned word) { return __builtin_ctz(word); }
#endif
