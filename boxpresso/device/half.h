// half.h: float16 and bfloat16 as types to store numbers in. Arithmetic is in float: load with Real(x[i]), store with x[i] = value.
#pragma once

#if defined(__CUDACC__)
#define ON_BOTH __device__ __forceinline__
#else
#include "system.h"
#define ON_BOTH inline
#endif

// bfloat16: the upper half of a float, rounded to nearest, halves to even.
struct bfloat16 {
  unsigned short bits;

  bfloat16() = default;
  ON_BOTH bfloat16(float value) {
    unsigned from;
    memcpy(&from, &value, 4);
    const bool number = (from & 0x7fffffff) <= 0x7f800000;  // NaN stays one
    bits = (unsigned short)(number ? (from + 0x7fff + (from >> 16 & 1)) >> 16 : from >> 16 | 0x40);
  }

  ON_BOTH operator float() const {
    const unsigned to = unsigned(bits) << 16;
    float value;
    memcpy(&value, &to, 4);
    return value;
  }
};

#if defined(__NVCC__)
#include <cuda_fp16.h>
#elif defined(__FLT16_MAX__) && !defined(PLAIN_HALF)
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
typedef __fp16 half;  // there _Float16 is of C alone
#else
typedef _Float16 half;
#endif
#else

// For compilers without the type: IEEE binary16, rounded to nearest, halves to even.
struct half {
  unsigned short bits;

  half() = default;
  half(float value) {
    unsigned from, shifted;
    std::memcpy(&from, &value, 4);
    const unsigned sign = from >> 16 & 0x8000, size = from & 0x7fffffff;
    if (size > 0x7f800000) {  // NaN stays one
      shifted = 0x7e00;
    } else if (size >= 0x477ff000) {  // 65520 and more: infinity
      shifted = 0x7c00;
    } else if (size < 0x38800000) {  // below 2^-14: the addition leaves units of 2^-24 in the last bits, rounded
      const float sum = (value < 0 ? -value : value) + 0.5f;
      std::memcpy(&shifted, &sum, 4);
      shifted -= 0x3f000000;
    } else {
      shifted = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    }
    bits = (unsigned short)(sign | shifted);
  }

  operator float() const {
    const unsigned size = bits & 0x7fff;
    unsigned to = size >= 0x7c00 ? (size << 13) + 0x70000000 : (size << 13) + 0x38000000;
    float value;
    if (size < 0x400) {  // no leading one: units of 2^-24
      value = float(size) * 5.9604644775390625e-8f;
      std::memcpy(&to, &value, 4);
    }
    to |= unsigned(bits & 0x8000) << 16;
    std::memcpy(&value, &to, 4);
    return value;
  }
};

#endif
