// avx512.h: the instructions of AVX-512 that kernels use, written out, so that a text for these CPUs runs on any other. Each is what
// Intel's manual says of it, lane by lane. Read before the text, which then finds the intrinsics' own headers read already.
#pragma once
#include <immintrin.h>
#include <cstdint>
#include <cmath>
#include <cstring>
#define _IMMINTRIN_H_INCLUDED
#undef __AVX512F__
#undef __AVX512BF16__
#undef __AVX512VNNI__
#define __AVX512F__ 1
#define __AVX512BF16__ 1
#define __AVX512VNNI__ 1

namespace written_out {

template <class T, int COUNT>
struct Lanes {
  T at[COUNT];
  template <class V>
  explicit Lanes(const V& value) {
    static_assert(sizeof(V) == sizeof at, "");
    std::memcpy(at, &value, sizeof at);
  }
  Lanes() : at{} {}
  template <class V>
  V as() const {
    V value;
    static_assert(sizeof(V) == sizeof at, "");
    std::memcpy(&value, at, sizeof at);
    return value;
  }
};
typedef Lanes<float, 16> Floats;
typedef Lanes<double, 8> Doubles;
typedef Lanes<int32_t, 16> Ints;

template <class L, class V, class F>
inline V each(F of) {
  L to;
  for (int i = 0; i < int(sizeof to.at / sizeof to.at[0]); ++i) to.at[i] = of(i);
  return to.template as<V>();
}

#define OF_BOTH(name, ...)                                                                                     \
  inline __m512 name##_ps(__m512 a, __m512 b) {                                                              \
    const Floats x(a), y(b);                                                                                   \
    return each<Floats, __m512>([&](int i) { return x.at[i] __VA_ARGS__ y.at[i] ? x.at[i] : y.at[i]; });       \
  }                                                                                                            \
  inline __m512d name##_pd(__m512d a, __m512d b) {                                                           \
    const Doubles x(a), y(b);                                                                                  \
    return each<Doubles, __m512d>([&](int i) { return x.at[i] __VA_ARGS__ y.at[i] ? x.at[i] : y.at[i]; });     \
  }
OF_BOTH(max, >)
OF_BOTH(min, <)
#undef OF_BOTH

inline __m512 fmadd_ps(__m512 a, __m512 b, __m512 c) {
  const Floats x(a), y(b), z(c);
  return each<Floats, __m512>([&](int i) { return std::fma(x.at[i], y.at[i], z.at[i]); });
}
inline __m512d fmadd_pd(__m512d a, __m512d b, __m512d c) {
  const Doubles x(a), y(b), z(c);
  return each<Doubles, __m512d>([&](int i) { return std::fma(x.at[i], y.at[i], z.at[i]); });
}
inline __m512 mask3_fmadd_ps(__m512 a, __m512 b, __m512 c, __mmask16 mask) {
  const Floats x(fmadd_ps(a, b, c)), z(c);
  return each<Floats, __m512>([&](int i) { return mask >> i & 1 ? x.at[i] : z.at[i]; });
}
inline __m512d mask3_fmadd_pd(__m512d a, __m512d b, __m512d c, __mmask8 mask) {
  const Doubles x(fmadd_pd(a, b, c)), z(c);
  return each<Doubles, __m512d>([&](int i) { return mask >> i & 1 ? x.at[i] : z.at[i]; });
}
inline __m512 permutex2var_ps(__m512 a, __m512i places, __m512 b) {
  const Floats x(a), y(b);
  const Ints at(places);
  return each<Floats, __m512>([&](int i) { return (at.at[i] & 16 ? y : x).at[at.at[i] & 15]; });
}
inline __m512d permutex2var_pd(__m512d a, __m512i places, __m512d b) {
  const Doubles x(a), y(b);
  const Lanes<int64_t, 8> at(places);
  return each<Doubles, __m512d>([&](int i) { return (at.at[i] & 8 ? y : x).at[at.at[i] & 7]; });
}
inline __m512i cvtepi32_epi64(__m256i a) {
  const Lanes<int32_t, 8> x(a);
  return each<Lanes<int64_t, 8>, __m512i>([&](int i) { return int64_t(x.at[i]); });
}
inline __m512 mask_i32gather_ps(__m512 or_else, __mmask16 mask, __m512i places, const void* from, int scale) {
  const Floats other(or_else);
  const Ints at(places);
  return each<Floats, __m512>([&](int i) {
    float value = other.at[i];
    if (mask >> i & 1) std::memcpy(&value, static_cast<const char*>(from) + int64_t(at.at[i]) * scale, sizeof value);
    return value;
  });
}
inline __m512d mask_i32gather_pd(__m512d or_else, __mmask8 mask, __m256i places, const void* from, int scale) {
  const Doubles other(or_else);
  const Lanes<int32_t, 8> at(places);
  return each<Doubles, __m512d>([&](int i) {
    double value = other.at[i];
    if (mask >> i & 1) std::memcpy(&value, static_cast<const char*>(from) + int64_t(at.at[i]) * scale, sizeof value);
    return value;
  });
}
inline __m256i extracti64x4_epi64(__m512i a, int half) {
  __m256i value;
  std::memcpy(&value, reinterpret_cast<const char*>(&a) + 32 * half, sizeof value);
  return value;
}
inline __m256i castsi512_si256(__m512i a) { return extracti64x4_epi64(a, 0); }
inline __m512i set1_epi32(int value) {
  return each<Ints, __m512i>([&](int) { return value; });
}
inline __m512i add_epi32(__m512i a, __m512i b) {
  const Ints x(a), y(b);
  return each<Ints, __m512i>([&](int i) { return int32_t(uint32_t(x.at[i]) + uint32_t(y.at[i])); });
}
template <class... N>
inline __m512i setr_epi32(N... n) {
  const int32_t values[16] = {n...};
  return each<Ints, __m512i>([&](int i) { return values[i]; });
}
inline __mmask16 cmplt_epi32_mask(__m512i a, __m512i b) {
  const Ints x(a), y(b);
  unsigned mask = 0;
  for (int i = 0; i < 16; ++i) mask |= unsigned(x.at[i] < y.at[i]) << i;
  return __mmask16(mask);
}
inline __mmask16 cmpge_epi32_mask(__m512i a, __m512i b) { return __mmask16(~cmplt_epi32_mask(a, b)); }
inline __m512 maskz_mov_ps(__mmask16 mask, __m512 a) {
  const Floats x(a);
  return each<Floats, __m512>([&](int i) { return mask >> i & 1 ? x.at[i] : 0.f; });
}
inline __m512 maskz_loadu_ps(__mmask16 mask, const void* from) {
  return each<Floats, __m512>([&](int i) { return mask >> i & 1 ? static_cast<const float*>(from)[i] : 0.f; });
}
inline __m512d maskz_loadu_pd(__mmask8 mask, const void* from) {
  return each<Doubles, __m512d>([&](int i) { return mask >> i & 1 ? static_cast<const double*>(from)[i] : 0.; });
}
inline void mask_storeu_ps(void* to, __mmask16 mask, __m512 a) {
  const Floats x(a);
  for (int i = 0; i < 16; ++i)
    if (mask >> i & 1) static_cast<float*>(to)[i] = x.at[i];
}
inline void mask_storeu_pd(void* to, __mmask8 mask, __m512d a) {
  const Doubles x(a);
  for (int i = 0; i < 8; ++i)
    if (mask >> i & 1) static_cast<double*>(to)[i] = x.at[i];
}
inline void stream_ps(float* to, __m512 a) {
  if (reinterpret_cast<uintptr_t>(to) % 64) __builtin_trap();
  std::memcpy(to, &a, 64);
}
inline __m512 setzero_ps() { return __m512{}; }
inline __m512i loadu_si512(const void* from) {
  __m512i value;
  std::memcpy(&value, from, 64);
  return value;
}

// A float as bfloat16, to the nearest, ties to even, subnormal numbers to 0 of their sign; and back.
inline unsigned short low_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value != value) return static_cast<unsigned short>(bits >> 16 | 64);
  if ((bits & 0x7f800000) == 0) return static_cast<unsigned short>(bits >> 16 & 0x8000);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float wide_of(unsigned short low) {
  const uint32_t bits = uint32_t(low) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return (bits & 0x7f800000) == 0 ? std::copysign(0.f, value) : value;
}
typedef Lanes<unsigned short, 32> Lows;
typedef Lanes<unsigned short, 16> HalfLows;
inline __m512bh cvtne2ps_pbh(__m512 a, __m512 b) {  // b becomes the lower half
  const Floats x(a), y(b);
  return each<Lows, __m512bh>([&](int i) { return low_of(i < 16 ? y.at[i] : x.at[i - 16]); });
}
inline __m256bh cvtneps_pbh(__m512 a) {
  const Floats x(a);
  return each<HalfLows, __m256bh>([&](int i) { return low_of(x.at[i]); });
}
inline __m512i cvtepu16_epi32(__m256i a) {
  const HalfLows x(a);
  return each<Ints, __m512i>([&](int i) { return int32_t(x.at[i]); });
}
inline __m512i slli_epi32(__m512i a, unsigned count) {
  const Ints x(a);
  return each<Ints, __m512i>([&](int i) { return int32_t(count < 32 ? uint32_t(x.at[i]) << count : 0); });
}
inline __m512i permutexvar_epi16(__m512i places, __m512i a) {
  const Lows at(places), x(a);
  return each<Lows, __m512i>([&](int i) { return x.at[at.at[i] % 32]; });
}
inline __m512i load_si512(const void* from) {
  if (reinterpret_cast<uintptr_t>(from) % 64) __builtin_trap();
  return loadu_si512(from);
}
// Numbers of 16 bits of which a mask has a bit; no other memory is touched.
template <class L, class V>
inline V masked_lows(unsigned mask, const void* from) {
  const auto* at = static_cast<const unsigned short*>(from);
  return each<L, V>([&](int i) { return static_cast<unsigned short>(mask >> i & 1 ? at[i] : 0); });
}
template <class L, class V>
inline void store_lows(void* to, unsigned mask, V a) {
  const L x(a);
  auto* at = static_cast<unsigned short*>(to);
  for (int i = 0; i < int(sizeof x.at / sizeof x.at[0]); ++i)
    if (mask >> i & 1) at[i] = x.at[i];
}
inline __m256i maskz_loadu_epi16_256(__mmask16 mask, const void* from) { return masked_lows<HalfLows, __m256i>(mask, from); }
inline __m512i maskz_loadu_epi16(__mmask32 mask, const void* from) { return masked_lows<Lows, __m512i>(mask, from); }
inline void mask_storeu_epi16_256(void* to, __mmask16 mask, __m256i a) { store_lows<HalfLows>(to, mask, a); }
inline void mask_storeu_epi16(void* to, __mmask32 mask, __m512i a) { store_lows<Lows>(to, mask, a); }
inline __m512i cvtepu8_epi32(__m128i a) {
  const Lanes<uint8_t, 16> x(a);
  return each<Ints, __m512i>([&](int i) { return int32_t(x.at[i]); });
}
inline __m128i cvtepi32_epi8(__m512i a) {
  const Ints x(a);
  return each<Lanes<uint8_t, 16>, __m128i>([&](int i) { return uint8_t(x.at[i]); });
}
inline __m512i cvtps_epi32(__m512 a) {  // to nearest, ties to even
  const Floats x(a);
  return each<Ints, __m512i>([&](int i) { return int32_t(std::lrintf(x.at[i])); });
}
inline __m512i dpbusd_epi32(__m512i sum, __m512i a, __m512i b) {
  const Ints s(sum);
  const Lanes<uint8_t, 64> x(a);
  const Lanes<int8_t, 64> y(b);
  return each<Ints, __m512i>([&](int i) {
    uint32_t total = uint32_t(s.at[i]);
    for (int k = 4 * i; k < 4 * i + 4; ++k) total += uint32_t(int(x.at[k]) * int(y.at[k]));
    return int32_t(total);
  });
}
inline __m512 dpbf16_ps(__m512 sum, __m512bh a, __m512bh b) {  // the odd term first, each sum rounded
  const Floats s(sum);
  const Lows x(a), y(b);
  return each<Floats, __m512>([&](int i) {
    const float first = std::fma(wide_of(x.at[2 * i + 1]), wide_of(y.at[2 * i + 1]), s.at[i]);
    return std::fma(wide_of(x.at[2 * i]), wide_of(y.at[2 * i]), first);
  });
}

}  // namespace written_out

// A name that is not here stays that of the compiler, which refuses it without the instructions.
#undef _mm512_max_ps
#define _mm512_max_ps written_out::max_ps
#undef _mm512_max_pd
#define _mm512_max_pd written_out::max_pd
#undef _mm512_min_ps
#define _mm512_min_ps written_out::min_ps
#undef _mm512_min_pd
#define _mm512_min_pd written_out::min_pd
#undef _mm256_mask_storeu_epi16
#define _mm256_mask_storeu_epi16 written_out::mask_storeu_epi16_256
#undef _mm256_maskz_loadu_epi16
#define _mm256_maskz_loadu_epi16 written_out::maskz_loadu_epi16_256
#undef _mm512_add_epi32
#define _mm512_add_epi32 written_out::add_epi32
#undef _mm512_castsi512_si256
#define _mm512_castsi512_si256 written_out::castsi512_si256
#undef _mm512_cmpge_epi32_mask
#define _mm512_cmpge_epi32_mask written_out::cmpge_epi32_mask
#undef _mm512_cmplt_epi32_mask
#define _mm512_cmplt_epi32_mask written_out::cmplt_epi32_mask
#undef _mm512_cvtepi32_epi8
#define _mm512_cvtepi32_epi8 written_out::cvtepi32_epi8
#undef _mm512_cvtepi32_epi64
#define _mm512_cvtepi32_epi64 written_out::cvtepi32_epi64
#undef _mm512_cvtepu16_epi32
#define _mm512_cvtepu16_epi32 written_out::cvtepu16_epi32
#undef _mm512_cvtepu8_epi32
#define _mm512_cvtepu8_epi32 written_out::cvtepu8_epi32
#undef _mm512_cvtne2ps_pbh
#define _mm512_cvtne2ps_pbh written_out::cvtne2ps_pbh
#undef _mm512_cvtneps_pbh
#define _mm512_cvtneps_pbh written_out::cvtneps_pbh
#undef _mm512_cvtps_epi32
#define _mm512_cvtps_epi32 written_out::cvtps_epi32
#undef _mm512_dpbf16_ps
#define _mm512_dpbf16_ps written_out::dpbf16_ps
#undef _mm512_dpbusd_epi32
#define _mm512_dpbusd_epi32 written_out::dpbusd_epi32
#undef _mm512_extracti64x4_epi64
#define _mm512_extracti64x4_epi64 written_out::extracti64x4_epi64
#undef _mm512_fmadd_pd
#define _mm512_fmadd_pd written_out::fmadd_pd
#undef _mm512_fmadd_ps
#define _mm512_fmadd_ps written_out::fmadd_ps
#undef _mm512_load_si512
#define _mm512_load_si512 written_out::load_si512
#undef _mm512_loadu_si512
#define _mm512_loadu_si512 written_out::loadu_si512
#undef _mm512_mask3_fmadd_pd
#define _mm512_mask3_fmadd_pd written_out::mask3_fmadd_pd
#undef _mm512_mask3_fmadd_ps
#define _mm512_mask3_fmadd_ps written_out::mask3_fmadd_ps
#undef _mm512_mask_i32gather_pd
#define _mm512_mask_i32gather_pd written_out::mask_i32gather_pd
#undef _mm512_mask_i32gather_ps
#define _mm512_mask_i32gather_ps written_out::mask_i32gather_ps
#undef _mm512_mask_storeu_epi16
#define _mm512_mask_storeu_epi16 written_out::mask_storeu_epi16
#undef _mm512_mask_storeu_pd
#define _mm512_mask_storeu_pd written_out::mask_storeu_pd
#undef _mm512_mask_storeu_ps
#define _mm512_mask_storeu_ps written_out::mask_storeu_ps
#undef _mm512_maskz_loadu_epi16
#define _mm512_maskz_loadu_epi16 written_out::maskz_loadu_epi16
#undef _mm512_maskz_loadu_pd
#define _mm512_maskz_loadu_pd written_out::maskz_loadu_pd
#undef _mm512_maskz_loadu_ps
#define _mm512_maskz_loadu_ps written_out::maskz_loadu_ps
#undef _mm512_maskz_mov_ps
#define _mm512_maskz_mov_ps written_out::maskz_mov_ps
#undef _mm512_permutex2var_pd
#define _mm512_permutex2var_pd written_out::permutex2var_pd
#undef _mm512_permutex2var_ps
#define _mm512_permutex2var_ps written_out::permutex2var_ps
#undef _mm512_permutexvar_epi16
#define _mm512_permutexvar_epi16 written_out::permutexvar_epi16
#undef _mm512_set1_epi32
#define _mm512_set1_epi32 written_out::set1_epi32
#undef _mm512_setr_epi32
#define _mm512_setr_epi32 written_out::setr_epi32
#undef _mm512_setzero_ps
#define _mm512_setzero_ps written_out::setzero_ps
#undef _mm512_slli_epi32
#define _mm512_slli_epi32 written_out::slli_epi32
#undef _mm512_stream_ps
#define _mm512_stream_ps written_out::stream_ps
#define asm(...)  // held(): no register takes these vectors
