// bf16.h: BF16, whether the machine that a text is compiled for multiplies pairs of bfloat16 (AVX512-BF16), and its words for that.
#pragma once
#include "simd.h"

#if defined(__AVX512BF16__) && defined(__AVX512F__)
#define BF16 1
// All of it, for simd.h takes parts alone: GCC's part for these instructions needs others, not the same ones in each version.
#include <immintrin.h>
#else
#define BF16 0
#endif
