// bf16.h: BF16, whether the machine that a text is compiled for multiplies pairs of bfloat16 (AVX512-BF16, or ARM's BF16), and its
// words for that. A pair lies in 32 bits, so that a vector has as many pairs as floats. Real is float wherever this runs.
#pragma once
#include "simd.h"
#if !defined(__CUDACC__)
#include "all_vectors.h"  // GCC's part for these instructions needs others, not the same ones in each version
#endif

#if defined(__AVX512BF16__) && defined(__AVX512F__)
#define BF16 1
#elif defined(__aarch64__) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define BF16 1
#else
#define BF16 0
#endif

#if BF16
typedef int Pairs __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(int)), may_alias));

// 2 x COLUMNS numbers, rounded, as pairs of neighbours.
DEVICE Pairs pairs_of(const Columns& low, const Columns& high) {
#if defined(__AVX512F__)
  return (Pairs)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
#else
  return (Pairs)vcvtq_high_bf16_f32(vcvtq_low_bf16_f32((float32x4_t)low), (float32x4_t)high);
#endif
}

// sum + a * b, for each lane both products of its pair.
DEVICE Columns fused_pairs(const Pairs& a, const Pairs& b, const Columns& sum) {
#if defined(__AVX512F__)
  return (Columns)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
  return (Columns)vbfdotq_f32((float32x4_t)sum, (bfloat16x8_t)a, (bfloat16x8_t)b);
#endif
}

#if BY_LANE
// The same with the pair of one lane of a for all lanes of b.
template <int lane>
DEVICE Columns fused_pairs_by(const Pairs& a, const Pairs& b, const Columns& sum) {
  return (Columns)vbfdotq_laneq_f32((float32x4_t)sum, (bfloat16x8_t)b, (bfloat16x8_t)a, lane);
}
#endif
#endif
