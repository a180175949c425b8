// bf16.h: BF16, whether the machine that a text is compiled for multiplies pairs of bfloat16 (AVX512-BF16, or ARM's BF16), and its
// words for that. A pair lies in 32 bits, so that a vector has as many pairs as floats. Real is float wherever this runs.
//
// Maps in bfloat16 are loaded as floats, and stored rounded to the nearest, ties to even; NaN stays NaN.
#pragma once
#include "half.h"
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

// A vector of numbers of a map, or the first `count` of them, from 1 on: no other memory is read or written.
DEVICE Columns load(const bfloat16* from) {
#if defined(__AVX512F__)
  return (Columns)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)from)), 16);
#else
  return (Columns)vshll_n_u16(vld1_u16((const uint16_t*)from), 16);
#endif
}
DEVICE Columns load_part(const bfloat16* from, int count) {
#if defined(__AVX512F__)
  const __m256i bits = _mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1), from);
  return (Columns)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
#else
  bfloat16 values[COLUMNS] = {};
  for (int i = 0; i < count; ++i) values[i] = from[i];
  return load(values);
#endif
}
DEVICE void store(bfloat16* to, const Columns& value) {
#if defined(__AVX512F__)
  _mm256_storeu_si256((__m256i*)to, (__m256i)_mm512_cvtneps_pbh((__m512)value));
#else
  vst1_u16((uint16_t*)to, (uint16x4_t)vcvt_bf16_f32((float32x4_t)value));
#endif
}
DEVICE void store_part(bfloat16* to, const Columns& value, int count) {
#if defined(__AVX512F__)
  _mm256_mask_storeu_epi16(to, (__mmask16)((1u << count) - 1), (__m256i)_mm512_cvtneps_pbh((__m512)value));
#else
  bfloat16 values[COLUMNS];
  store(values, value);
  for (int i = 0; i < count; ++i) to[i] = values[i];
#endif
}

// 2 x COLUMNS numbers of a map, those at even places and those at odd ones, or the first `count` of them all, the others 0.
DEVICE void split(const Pairs& pairs, Columns& even, Columns& odd) {
  const Pairs low = pairs << 16, high = pairs & int(0xffff0000);
  even = (Columns)low, odd = (Columns)high;
}
DEVICE Pairs load_pairs(const bfloat16* from) {
  Pairs pairs;
  std::memcpy(&pairs, from, sizeof pairs);
  return pairs;
}
DEVICE Pairs load_pairs_part(const bfloat16* from, int count) {
#if defined(__AVX512F__)
  return (Pairs)_mm512_maskz_loadu_epi16((__mmask32)((1ull << count) - 1), from);
#else
  bfloat16 values[2 * COLUMNS] = {};
  for (int i = 0; i < count; ++i) values[i] = from[i];
  return load_pairs(values);
#endif
}
DEVICE void store_pairs_part(bfloat16* to, const Pairs& pairs, int count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_epi16(to, (__mmask32)((1ull << count) - 1), (__m512i)pairs);
#else
  bfloat16 values[2 * COLUMNS];
  std::memcpy(values, &pairs, sizeof pairs);
  for (int i = 0; i < count; ++i) to[i] = values[i];
#endif
}

// Pairs of the numbers that two vectors have in the same lane, rounded.
DEVICE Pairs pairs_by_lane(const Columns& low, const Columns& high) {
#if defined(__AVX512F__)
  const __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);  // all of low, then all of high
  alignas(64) static const short places[32] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return (Pairs)_mm512_permutexvar_epi16(_mm512_load_si512(places), both);
#else
  const uint32x4_t lower = vmovl_u16((uint16x4_t)vcvt_bf16_f32((float32x4_t)low));
  return (Pairs)vorrq_u32(lower, vshll_n_u16((uint16x4_t)vcvt_bf16_f32((float32x4_t)high), 16));
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
