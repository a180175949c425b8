// vectors.h: the instructions of the machine that a text is compiled for, by the names that its compiler has for them. Read before the
// rest, as system.h is.
#pragma once
#if defined(__AVX2__) && defined(__FMA__) && defined(__GNUC__) && !defined(__clang__) && !defined(__INTEL_COMPILER)
// The parts of GCC's <immintrin.h> that are used here: to read all of it takes 0.5 to 0.8 s, which would be half of what a small file takes.
#if !defined(_IMMINTRIN_H_INCLUDED)
#define _IMMINTRIN_H_INCLUDED  // the parts ask for it
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#if defined(__AVX512F__)
#include <avx512fintrin.h>
#endif
#undef _IMMINTRIN_H_INCLUDED  // so that who includes it has the others too
#endif
#elif defined(__SSE__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
