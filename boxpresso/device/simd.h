// simd.h: the vectors of the machine that a text is compiled for. No other file asks which machine that is; where a loop knows
// of vectors, it does so in these words. On a GPU a vector is one number, for there each thread is a lane.
//
// Columns: COLUMNS neighbouring numbers of a row that a thread takes together; they need no more alignment than one of them.
#pragma once
#include "kernel.h"

#if defined(__CUDACC__)

#define COLUMNS 1
#define REGISTERS 16  // for the numbers of a thread that are worth keeping there
typedef Real Columns;
typedef int Picks;
DEVICE Real item(Columns value, int) { return value; }
DEVICE int item(Picks value, int) { return value; }
DEVICE void set_item(Columns& value, int, Real to) { value = to; }
DEVICE Columns pick(Columns a, Columns b, Picks at) { return at ? b : a; }
DEVICE Columns pick_real(const Real* from, Picks at) { return from[at]; }
DEVICE void pick_real_pairs(const Real* from, Picks at, Columns& first, Columns& second) {
  first = from[at];
  second = from[at + 1];
}
DEVICE bool any_negative(Picks places) { return places < 0; }
DEVICE Columns keep(Columns value, Picks places) { return places < 0 ? Real(0) : value; }
DEVICE void transpose(Columns*) {}
DEVICE void write_past(Real* to, Columns value) { *to = value; }
DEVICE void soon(const void*) {}
typedef bool LaneSpan;
DEVICE LaneSpan lane_span(int at, int step, int size) { return at >= 0 && at < size; }
DEVICE LaneSpan both(LaneSpan a, LaneSpan b) { return a && b; }
DEVICE bool within(LaneSpan span, int) { return span; }
DEVICE Columns load_span(const Real* from, LaneSpan span) { return span ? *from : Real(0); }
DEVICE void store_span(Real* to, Columns value, LaneSpan span) {
  if (span) *to = value;
}
DEVICE Columns fused_span(Columns a, Columns b, Columns sum, LaneSpan span) { return span ? sum + a * b : sum; }

#else

#include "vectors.h"

// The widest registers, and how many vectors there are. Compilers disagree about __BIGGEST_ALIGNMENT__ (clang's is 16 whatever the machine), so it is not asked.
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define REGISTERS 32
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define REGISTERS 16
#else
#define VECTOR_BYTES 16
#if defined(__aarch64__)
#define REGISTERS 32
#define BY_LANE 1
#else
#define REGISTERS 16
#endif
#endif
#if !defined(BY_LANE)
#define BY_LANE 0  // whether a product takes one of its factors from any lane of a register: then they are loaded as vectors
#endif

#define COLUMNS int(VECTOR_BYTES / sizeof(Real))
typedef Real Columns __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(Real)), may_alias));
typedef int Picks __attribute__((vector_size(COLUMNS * sizeof(int)), aligned(sizeof(int)), may_alias));  // places of numbers
DEVICE Real item(const Columns& value, int i) { return value[i]; }
DEVICE int item(const Picks& value, int i) { return value[i]; }
DEVICE void set_item(Columns& value, int i, Real to) { value[i] = to; }

// Exchanges the upper halves of a, cut in pieces of `step`, with the lower ones of b.
template <int step, int... i>
DEVICE void cross(Columns& a, Columns& b, std::integer_sequence<int, i...>) {
  const Columns lower = __builtin_shufflevector(a, b, (i & step ? COLUMNS + i - step : i)...);
  b = __builtin_shufflevector(a, b, (i & step ? COLUMNS + i : i + step)...);
  a = lower;
}
// COLUMNS vectors as a matrix, turned in place: halves, quarters and so on change places across the diagonal. Without the word to
// unroll, clang leaves the rows in memory.
template <int step = COLUMNS / 2>
DEVICE void transpose(Columns* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < COLUMNS / 2; ++i) {
    Columns* row = rows + i / step * 2 * step + i % step;
    cross<step>(row[0], row[step], std::make_integer_sequence<int, COLUMNS>());
  }
  if constexpr (step > 1) transpose<step / 2>(rows);
}

// Brings the cache line of an address near, which need not be one of this process's.
DEVICE void soon(const void* line) { __builtin_prefetch(line); }
// Brings it into the second cache: for what is read after more than the first one holds.
DEVICE void later(const void* line) { __builtin_prefetch(line, 0, 2); }

// Writes a vector to memory without reading its line into the caches first; `to` is aligned to a whole vector.
DEVICE void write_past(Real* to, const Columns& value) {
#if defined(__AVX512F__)
  _mm512_stream_ps((float*)to, (__m512)value);
#elif defined(__AVX__)
  _mm256_stream_ps((float*)to, (__m256)value);
#elif defined(__SSE__)
  _mm_stream_ps((float*)to, (__m128)value);
#else
  *(Columns*)to = value;
#endif
}

// a > b ? a : b and a < b ? a : b for each lane: b where one of them is NaN.
#if defined(__SSE__)
#if defined(__AVX512F__)
#define OF_LANES(name)                                                          \
  sizeof(Real) == 4 ? (Columns)_mm512_##name##_ps((__m512)a, (__m512)b) \
                    : (Columns)_mm512_##name##_pd((__m512d)a, (__m512d)b)
#elif defined(__AVX__)
#define OF_LANES(name)                                                          \
  sizeof(Real) == 4 ? (Columns)_mm256_##name##_ps((__m256)a, (__m256)b) \
                    : (Columns)_mm256_##name##_pd((__m256d)a, (__m256d)b)
#else
#define OF_LANES(name)                                                          \
  sizeof(Real) == 4 ? (Columns)_mm_##name##_ps((__m128)a, (__m128)b) \
                    : (Columns)_mm_##name##_pd((__m128d)a, (__m128d)b)
#endif
DEVICE Columns max_lanes(Columns a, Columns b) { return OF_LANES(max); }
DEVICE Columns min_lanes(Columns a, Columns b) { return OF_LANES(min); }
#undef OF_LANES
#else
DEVICE Columns max_lanes(Columns a, Columns b) { return a > b ? a : b; }
DEVICE Columns min_lanes(Columns a, Columns b) { return a < b ? a : b; }
#endif

// In a register from here on: a compiler may else read memory anew for each use.
DEVICE Columns held(Columns value) {
#if defined(__AVX512F__)
  asm("" : "+v"(value));
#elif defined(__SSE__)
  asm("" : "+x"(value));
#elif defined(__aarch64__)
  asm("" : "+w"(value));
#endif
  return value;
}

#if defined(REPRODUCIBLE) && !defined(__FMA__) && !defined(__aarch64__)
DEVICE Columns fused_each(const Columns& a, const Columns& b, const Columns& sum) {
  Columns result;
  for (int i = 0; i < COLUMNS; ++i) result[i] = fused(a[i], b[i], sum[i]);
  return result;
}
#if defined(__SSE4_1__)
// Floats by way of double, where the product is exact. To round its sum to double and then to float is to round it once, unless the
// double lies in the middle of two floats, or the float is subnormal: then one by one.
DEVICE Columns fused_in_double(const Columns& a, const Columns& b, const Columns& sum) {
  Columns result;
  __m128i twice = _mm_setzero_si128();
  for (int i = 0; i < COLUMNS; i += 4) {
    const __m128 x = _mm_loadu_ps((const float*)&a + i), y = _mm_loadu_ps((const float*)&b + i), z = _mm_loadu_ps((const float*)&sum + i);
    const __m128d lower = _mm_cvtps_pd(x) * _mm_cvtps_pd(y) + _mm_cvtps_pd(z);
    const __m128d upper = _mm_cvtps_pd(_mm_movehl_ps(x, x)) * _mm_cvtps_pd(_mm_movehl_ps(y, y)) + _mm_cvtps_pd(_mm_movehl_ps(z, z));
    const __m128i last = (__m128i)_mm_shuffle_ps((__m128)lower, (__m128)upper, _MM_SHUFFLE(2, 0, 2, 0));
    const __m128i first = (__m128i)_mm_shuffle_ps((__m128)lower, (__m128)upper, _MM_SHUFFLE(3, 1, 3, 1));
    const __m128i middle = _mm_cmpeq_epi32(_mm_and_si128(last, _mm_set1_epi32(0x1fffffff)), _mm_set1_epi32(0x10000000));
    const __m128i size = _mm_sub_epi32(_mm_slli_epi32(first, 1), _mm_set1_epi32(1));  // of 0, which is exact, the largest
    const __m128i tiny = _mm_cmpeq_epi32(size, _mm_min_epu32(size, _mm_set1_epi32(2 * (1023 - 125) << 20)));  // below 2^-125
    twice = _mm_or_si128(twice, _mm_or_si128(middle, tiny));
    _mm_storeu_ps((float*)&result + i, _mm_movelh_ps(_mm_cvtpd_ps(lower), _mm_cvtpd_ps(upper)));
  }
  return __builtin_expect(_mm_movemask_epi8(twice), 0) ? fused_each(a, b, sum) : result;
}
#endif
#endif

// As kernel.h's of each lane; elsewhere than in a REPRODUCIBLE text rounded once where the machine can: a compiler that may choose
// would choose anew in each place.
DEVICE Columns fused(const Columns& a, const Columns& b, const Columns& sum) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
  else return (Columns)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#elif defined(__FMA__)
  if constexpr (sizeof(Real) == 4) return (Columns)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
  else return (Columns)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#elif defined(__aarch64__)
  if constexpr (sizeof(Real) == 4) return (Columns)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
  else return (Columns)vfmaq_f64((float64x2_t)sum, (float64x2_t)a, (float64x2_t)b);
#elif defined(REPRODUCIBLE)
#if defined(__SSE4_1__)
  if constexpr (sizeof(Real) == 4) return fused_in_double(a, b, sum);
#endif
  return fused_each(a, b, sum);
#else
  return sum + a * b;
#endif
}

// Those of the numbers of a and then b whose places `at` has, and those of memory.
DEVICE Columns pick(const Columns& a, const Columns& b, const Picks& at) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_permutex2var_ps((__m512)a, *(const __m512i_u*)&at, (__m512)b);
  else return (Columns)_mm512_permutex2var_pd((__m512d)a, _mm512_cvtepi32_epi64(*(const __m256i_u*)&at), (__m512d)b);
#else
  const Columns both[2] = {a, b};
  Columns result;
#if defined(__AVX2__)
  if constexpr (sizeof(Real) == 4) {
    const __m256 one = _mm256_permutevar8x32_ps((__m256)a, *(const __m256i_u*)&at), two = _mm256_permutevar8x32_ps((__m256)b, *(const __m256i_u*)&at);
    return (Columns)_mm256_blendv_ps(one, two, _mm256_castsi256_ps(_mm256_slli_epi32(*(const __m256i_u*)&at, 28)));
  }
#elif defined(__aarch64__)
  if constexpr (sizeof(Real) == 4) {  // a table of bytes: number i has those from 4 i on
    const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), (uint32x4_t)(*(const int32x4_t*)&at), 0x04040404);
    return (Columns)vqtbl2q_u8({{(uint8x16_t)a, (uint8x16_t)b}}, (uint8x16_t)bytes);
  }
#endif
  for (int i = 0; i < COLUMNS; ++i) result[i] = ((const Real*)both)[at[i]];
  return result;
#endif
}
DEVICE Columns pick_real(const Real* from, const Picks& at) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_mask_i32gather_ps(__m512{}, 0xffff, *(const __m512i_u*)&at, from, 4);
  else return (Columns)_mm512_mask_i32gather_pd(__m512d{}, 0xff, *(const __m256i_u*)&at, from, 8);
#else
  Columns result;
  for (int i = 0; i < COLUMNS; ++i) result[i] = from[at[i]];
  return result;
#endif
}
// Of memory the numbers at these places, and those behind them.
DEVICE void pick_real_pairs(const Real* from, const Picks& at, Columns& first, Columns& second) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) {
    const __m512i all = *(const __m512i_u*)&at;
    const __m512 lower = (__m512)_mm512_mask_i32gather_pd(__m512d{}, 0xff, _mm512_castsi512_si256(all), from, 4);
    const __m512 upper = (__m512)_mm512_mask_i32gather_pd(__m512d{}, 0xff, _mm512_extracti64x4_epi64(all, 1), from, 4);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    first = (Columns)_mm512_permutex2var_ps(lower, even, upper);
    second = (Columns)_mm512_permutex2var_ps(lower, _mm512_add_epi32(even, _mm512_set1_epi32(1)), upper);
    return;
  }
#elif defined(__aarch64__)
  if constexpr (sizeof(Real) == 4) {
    const auto pair = [&](int i) { return vld1_f32((const float*)from + at[i]); };
    const float32x4_t lower = vcombine_f32(pair(0), pair(1)), upper = vcombine_f32(pair(2), pair(3));
    first = (Columns)vuzp1q_f32(lower, upper);
    second = (Columns)vuzp2q_f32(lower, upper);
    return;
  }
#endif
  first = pick_real(from, at);
  second = pick_real(from + 1, at);
}

// Whether any place is below 0; a vector without the numbers whose place is, 0 instead.
DEVICE bool any_negative(const Picks& places) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return _mm512_cmplt_epi32_mask(*(const __m512i_u*)&places, __m512i{}) != 0;
#endif
  int any = 0;
  for (int i = 0; i < COLUMNS; ++i) any |= places[i];
  return any < 0;
}
DEVICE Columns keep(const Columns& value, const Picks& places) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_maskz_mov_ps(_mm512_cmpge_epi32_mask(*(const __m512i_u*)&places, __m512i{}), (__m512)value);
#endif
  Columns result;
  for (int i = 0; i < COLUMNS; ++i) result[i] = places[i] < 0 ? Real(0) : value[i];
  return result;
}

// Lanes of a vector from one to another, as those whose numbers at, at + step, ... of a row of `size` there are. load_span: these of
// a vector, the others 0, and no other memory is read; fused_span: sum + a * b there, sum elsewhere.
DEVICE int lane_from(int distance, int step) { return distance <= 0 ? 0 : min((distance + step - 1) / step, COLUMNS); }
#if defined(__AVX512F__)
typedef unsigned LaneSpan;
DEVICE LaneSpan lane_span(int at, int step, int size) {
  return ((1u << lane_from(size - at, step)) - 1) & ~((1u << lane_from(-at, step)) - 1);
}
DEVICE LaneSpan both(LaneSpan a, LaneSpan b) { return a & b; }
DEVICE bool within(LaneSpan span, int lane) { return span >> lane & 1; }
DEVICE Columns load_span(const Real* from, LaneSpan span) {
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_maskz_loadu_ps((__mmask16)span, from);
  else return (Columns)_mm512_maskz_loadu_pd((__mmask8)span, from);
}
DEVICE void store_span(Real* to, const Columns& value, LaneSpan span) {
  if constexpr (sizeof(Real) == 4) _mm512_mask_storeu_ps(to, (__mmask16)span, (__m512)value);
  else _mm512_mask_storeu_pd(to, (__mmask8)span, (__m512d)value);
}
DEVICE Columns fused_span(const Columns& a, const Columns& b, const Columns& sum, LaneSpan span) {
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_mask3_fmadd_ps((__m512)a, (__m512)b, (__m512)sum, (__mmask16)span);
  else return (Columns)_mm512_mask3_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum, (__mmask8)span);
}
#else
struct LaneSpan {
  int begin, end;
};
DEVICE LaneSpan lane_span(int at, int step, int size) { return {lane_from(-at, step), lane_from(size - at, step)}; }
DEVICE LaneSpan both(const LaneSpan& a, const LaneSpan& b) { return {max(a.begin, b.begin), min(a.end, b.end)}; }
DEVICE bool within(const LaneSpan& span, int lane) { return lane >= span.begin && lane < span.end; }
DEVICE Columns load_span(const Real* from, const LaneSpan& span) {
  if (span.begin == 0 && span.end == COLUMNS) return *(const Columns*)from;
  Columns values = {};
  for (int i = span.begin; i < span.end; ++i) values[i] = from[i];
  return values;
}
DEVICE void store_span(Real* to, const Columns& value, const LaneSpan& span) {
  if (span.begin == 0 && span.end == COLUMNS) *(Columns*)to = value;
  else for (int i = span.begin; i < span.end; ++i) to[i] = value[i];
}
DEVICE Columns fused_span(const Columns& a, const Columns& b, Columns sum, const LaneSpan& span) {
  if (span.begin == 0 && span.end == COLUMNS) return fused(a, b, sum);
  for (int i = span.begin; i < span.end; ++i) sum[i] = fused(a[i], b[i], sum[i]);
  return sum;
}
#endif

// The first `count` numbers of a vector, from 1 to COLUMNS of them: no other memory is read or written.
DEVICE Columns load_part(const Real* from, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return (Columns)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from);
  else return (Columns)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), from);
#else
  Real values[COLUMNS] = {};
  for (int i = 0; i < count; ++i) values[i] = from[i];
  return *(const Columns*)values;
#endif
}
DEVICE void store_part(Real* to, const Columns& value, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) _mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1), (__m512)value);
  else _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)value);
#else
  for (int i = 0; i < count; ++i) to[i] = value[i];
#endif
}

#endif
