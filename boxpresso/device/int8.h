// int8.h: numbers of 8 bits on the host, as simd.h has them for Real: vectors of whole sums, and the products that are added to them.
//
// A number is scale * (q - zero) with q from 0 to 255; a weight scale * w with w from -127 to 127. Sums of products are whole numbers
// in 32 bits, so they are the same in whatever order and by whatever instructions they are made. What becomes of a sum is one
// conversion to float and single products and sums of floats, each rounded to nearest, ties to even: a file that includes this is
// compiled with UNFUSED, so that results are bitwise identical on all machines.
//
// Neighbouring terms of a sum lie together in 32 bits, TERMS of them: four of 8 bits where the machine adds four such products
// (AVX512-VNNI, AVX-VNNI, NEON's dot product), else two of 16 bits, whose products and sums of two fit in 32 bits exactly
// (the two products of 8 bits that AVX2 adds in 16 would not).
#pragma once
#include "checked.h"
#include "simd.h"
#include "all_vectors.h"

constexpr int SUMS = VECTOR_BYTES / 4;  // of a vector
typedef int32_t Sums __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef uint32_t Bits __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef float Floats __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef uint8_t Bytes __attribute__((vector_size(SUMS), aligned(1), may_alias));

#if (defined(__AVX512VNNI__) && defined(__AVX512F__)) || (defined(__AVXVNNI__) && !defined(__AVX512F__)) || defined(__ARM_FEATURE_DOTPROD)
constexpr int TERMS = 4;
typedef uint8_t Term;  // of a row; a weight beside it has as many bits
#else
constexpr int TERMS = 2;
typedef uint16_t Term;
#endif

// What an instruction takes a left operand as, and what must be added to a sum for each unit of its weights: signed ones, on NEON.
#if defined(__ARM_FEATURE_DOTPROD)
constexpr int SHIFTED = 128;
#else
constexpr int SHIFTED = 0;
#endif

DEVICE Sums all_sums(int value) { return value - Sums{}; }
DEVICE Floats all_floats(float value) { return value - Floats{}; }
DEVICE Sums added(Sums a, Sums b) { return (Sums)((Bits)a + (Bits)b); }  // it may overflow on the way

// sum + the products of the TERMS terms of each lane with those of its filter.
DEVICE Sums dot(Sums sum, Sums terms, Sums filters) {
#if defined(__AVX512VNNI__) && defined(__AVX512F__)
  return (Sums)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)terms, (__m512i)filters);
#elif defined(__AVX512BW__)
  return added(sum, (Sums)_mm512_madd_epi16((__m512i)terms, (__m512i)filters));
#elif defined(__AVXVNNI__) && !defined(__AVX512F__)
  return (Sums)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)terms, (__m256i)filters);
#elif defined(__AVX2__) && !defined(__AVX512F__)
  return added(sum, (Sums)_mm256_madd_epi16((__m256i)terms, (__m256i)filters));
#elif defined(__SSE2__) && !defined(__AVX__)
  return added(sum, (Sums)_mm_madd_epi16((__m128i)terms, (__m128i)filters));
#elif defined(__ARM_FEATURE_DOTPROD)
  return (Sums)vdotq_s32((int32x4_t)sum, (int8x16_t)filters, (int8x16_t)(terms ^ int(0x80808080u)));
#else
  return added(sum, ((Sums)((Bits)filters << 16) >> 16) * (terms & 0xffff) + (filters >> 16) * (Sums)((Bits)terms >> 16));
#endif
}

// Four terms of bytes in a lane, and what they are multiplied by: vectors `apart` ints from each other, one of four weights of 8 bits,
// or one of the first and third with 16, one of the second and fourth.
constexpr int QUAD = 4 / TERMS;  // vectors
DEVICE Sums dot_quad(Sums sum, Sums quad, const Sums* filters) {
  if (TERMS == 4) return dot(sum, quad, filters[0]);
  return dot(dot(sum, quad & 0x00ff00ff, filters[0]), (Sums)((Bits)quad >> 8) & 0x00ff00ff, filters[QUAD - 1]);
}
// The lane of a vector of `dot_quad` for these weights. half: which of the vectors.
DEVICE int quad_lane(const int (&w)[4], int half) {
  if (TERMS == 4) return int((w[0] & 255) | (w[1] & 255) << 8 | (w[2] & 255) << 16 | uint32_t(w[3] & 255) << 24);
  return int((w[half] & 65535) | uint32_t(w[half + 2] & 65535) << 16);
}
// Lane i has byte i of each of the four.
template <int... i>
DEVICE Sums quads_of(Bytes a, Bytes b, Bytes c, Bytes d, std::integer_sequence<int, i...>) {
  typedef uint16_t Pairs __attribute__((vector_size(2 * SUMS), may_alias));
  const Pairs first = (Pairs)__builtin_shufflevector(a, b, (i / 2 + i % 2 * SUMS)...);
  const Pairs second = (Pairs)__builtin_shufflevector(c, d, (i / 2 + i % 2 * SUMS)...);
  return (Sums)__builtin_shufflevector(first, second, (i / 2 + i % 2 * SUMS)...);
}
DEVICE Sums quads(Bytes a, Bytes b, Bytes c, Bytes d) { return quads_of(a, b, c, d, std::make_integer_sequence<int, 2 * SUMS>()); }

DEVICE Floats to_floats(Sums sums) { return __builtin_convertvector(sums, Floats); }
DEVICE Sums to_sums(Bytes bytes) {
#if defined(__AVX512F__)
  return (Sums)_mm512_cvtepu8_epi32((__m128i)bytes);
#else
  return __builtin_convertvector(bytes, Sums);
#endif
}
DEVICE Bytes to_bytes(Sums sums) {  // of sums from 0 to 255
#if defined(__AVX512F__)
  return (Bytes)_mm512_cvtepi32_epi8((__m512i)sums);
#else
  return __builtin_convertvector(sums, Bytes);
#endif
}

// The nearest whole number, the even one of two, of numbers that fit.
DEVICE Sums nearest(Floats values) {
#if defined(__AVX512F__)
  return (Sums)_mm512_cvtps_epi32((__m512)values);
#elif defined(__AVX__)
  return (Sums)_mm256_cvtps_epi32((__m256)values);
#elif defined(__SSE2__)
  return (Sums)_mm_cvtps_epi32((__m128)values);
#elif defined(__ARM_NEON) && defined(__aarch64__)
  return (Sums)vcvtnq_s32_f32((float32x4_t)values);
#else
  Sums result;
  for (int i = 0; i < SUMS; ++i) result[i] = int32_t(__builtin_lrintf(values[i]));
  return result;
#endif
}

// The larger and the smaller of both; the bound in place of NaN.
#if defined(__AVX512F__)
DEVICE Floats at_least(Floats values, Floats bound) { return (Floats)_mm512_max_ps((__m512)values, (__m512)bound); }
DEVICE Floats at_most(Floats values, Floats bound) { return (Floats)_mm512_min_ps((__m512)values, (__m512)bound); }
#elif defined(__AVX__)
DEVICE Floats at_least(Floats values, Floats bound) { return (Floats)_mm256_max_ps((__m256)values, (__m256)bound); }
DEVICE Floats at_most(Floats values, Floats bound) { return (Floats)_mm256_min_ps((__m256)values, (__m256)bound); }
#elif defined(__SSE2__)
DEVICE Floats at_least(Floats values, Floats bound) { return (Floats)_mm_max_ps((__m128)values, (__m128)bound); }
DEVICE Floats at_most(Floats values, Floats bound) { return (Floats)_mm_min_ps((__m128)values, (__m128)bound); }
#else
DEVICE Floats at_least(Floats values, Floats bound) { return values > bound ? values : bound; }
DEVICE Floats at_most(Floats values, Floats bound) { return values < bound ? values : bound; }
#endif

// Copies the first `count` numbers of a vector, from 1 to LANES - 1, in pieces of half a vector, a quarter and so on.
template <int LANES, class T>
DEVICE void copy_part(const T* from, T* to, int count) {
#pragma GCC unroll 4
  for (int size = LANES / 2; size; size /= 2)
    if (count & size) {
      std::memcpy(to, from, size * sizeof(T));
      from += size;
      to += size;
    }
}
// Whole vectors, and the first `count` of one, from 1 on: no other memory is read or written.
DEVICE Bytes load_bytes(const uint8_t* from, int count) {
  if (count >= SUMS) return *(const Bytes*)from;
  uint8_t bytes[SUMS] = {};
  copy_part<SUMS>(from, bytes, count);
  return *(const Bytes*)bytes;
}
DEVICE void store_bytes(uint8_t* to, Bytes value, int count) {
  if (count >= SUMS) *(Bytes*)to = value;
  else copy_part<SUMS>((const uint8_t*)&value, to, count);
}
DEVICE Floats load_floats(const float* from, int count) {
  if (count >= SUMS) return *(const Floats*)from;
  float values[SUMS] = {};
  copy_part<SUMS>(from, values, count);
  return *(const Floats*)values;
}
DEVICE void store_floats(float* to, Floats value, int count) {
  if (count >= SUMS) *(Floats*)to = value;
  else copy_part<SUMS>((const float*)&value, to, count);
}

// Floats to bytes: / scale + zero, rounded to the nearest, ties to even, from 0 to 255.
struct Rounding {
  Floats inverse, least, most;
  Sums zero;
  Rounding(int zero, float inverse)
      : inverse(all_floats(inverse)), least(all_floats(float(-zero))), most(all_floats(float(255 - zero))), zero(all_sums(zero)) {}
  Bytes operator()(Floats value) const { return to_bytes(nearest(at_most(at_least(value * inverse, least), most)) + zero); }
};

// How the arrays of a kernel lie, as epilogue.h's Layout, and what is done with a sum. What Python fills in.
struct Int8Layout {
  int images;
  int bottom_pitch, bottom_step;  // bytes from a pixel to the next, from an image to the next
  int top_pitch, top_step;        // elements, of the top's type
  int other_pitch, other_step;    // bytes, of what is added before the activation
  int zero, top_zero, other_zero;
  int high, across;               // the places, or rows of places, of a block, and into how many the filters are cut
  int band;                       // whether the pixels of a block, which is of whole rows of places, are taken together
  float other_scale;              // a step of the addend, in those of the top
  float inverse;                  // 1 / a step of the bottom
  float least, most;              // of what is stored, in steps of the top
};

// factor * sum + other, then the activation: in steps of the top. A sum has begun at `bias`. That is what a float top holds; one of bytes holds the
// nearest whole number of them from its zero on.
struct Int8Epilogue {
  const int* bias;
  const float *factors, *slopes;  // slopes: null where there are none
  const uint8_t* other;           // null where there is none
  Floats least, most, other_scale;
  Sums top_zero, other_zero;

  Int8Epilogue(const Int8Layout& l, const int* bias, const float* factors, const float* slopes, const uint8_t* other)
      : bias(bias), factors(factors), slopes(slopes), other(other), least(all_floats(l.least)), most(all_floats(l.most)),
        other_scale(all_floats(l.other_scale)), top_zero(all_sums(l.top_zero)), other_zero(all_sums(l.other_zero)) {}

  bool simple() const { return !other && !slopes; }

  // What SUMS filters from a channel on have of their own; the arrays are padded.
  struct Own {
    Floats factor, slope;
  };
  Own own(int channel) const {
    return {*(const Floats*)(factors + channel), slopes ? *(const Floats*)(slopes + channel) : Floats{}};
  }
  // Sums of a place, of which `count` exist; addend: of the first. SIMPLE: as `simple` says.
  template <bool SIMPLE>
  Floats finish(Sums sums, const Own& own, const uint8_t* addend, int count) const {
    Floats value = to_floats(sums) * own.factor;
    if (!SIMPLE && other) value += to_floats(to_sums(load_bytes(addend, count)) - other_zero) * other_scale;
    if (!SIMPLE && slopes) value = value < 0 ? own.slope * value : value;
    return at_most(at_least(value, least), most);
  }
  void store(Floats value, uint8_t* to, int count) const { store_bytes(to, to_bytes(added(nearest(value), top_zero)), count); }
  void store(Floats value, float* to, int count) const { store_floats(to, value, count); }
};
