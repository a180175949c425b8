// kernel.h: the words that a kernel is written in. PyCUDA compiles them for the GPU, the host's C++ compiler for the CPU.
//
// The contract that makes one text right on both machines:
// 1. The first argument is `int n`: how many items (GRID_LOOP) or blocks (BLOCK_LOOP) there are. Work is reached through
//    the loops alone, so a kernel is right for any grid and any block size. threadIdx does not exist on the host.
// 2. On the host a worker is one block of one thread with a share of the items or blocks: BARRIER() vanishes, SHARED is a
//    local array, and each loop is a plain loop that the compiler vectorises.
// 3. A cooperative kernel is a BLOCK_LOOP around THREAD_LOOPs with BARRIER() between them, never inside one. A value that
//    crosses a barrier lives in SHARED.
// 4. add() and raise_to() may be contended by the threads of one block, never by two blocks: a block owns what it changes.
//    So the host needs no atomics, and its sums are bitwise identical for any number of workers. No other write may meet
//    another thread's read or write without a BARRIER() between them, not even one of the same value.
//    Threads that add() floating-point numbers to one place do so in any order, which decides the last bits: such a kernel
//    begins with SUMS_IN_ANY_ORDER; and runs in blocks of one thread where results have to be deterministic. Whole numbers need
//    no such word. A function that it calls is handed its `add`.
// `Real`, what is computed in, is float or double, given on the command line. `Store` is the type of numbers that may be
// kept in 16 bits (-DStore=half or bfloat16; Real is float then), and Real otherwise: Real(x[i]) loads one, x[i] = value stores it.
#pragma once

#ifdef Store
#include "half.h"
#else
#define Store Real
#endif

#if defined(__CUDACC__)

#define KERNEL extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define SHARED __shared__
#define BARRIER() __syncthreads()
// The loop counter is unsigned so that adding the stride to it cannot overflow before it passes n < 2^31. The `if` has its
// `else`, so that one after the loop belongs to the caller's `if`, as it does on the host.
#define LOOP_FROM(i, n, first, step) \
  for (unsigned i##_at = (first), i##_step = (step); i##_at < unsigned(n); i##_at += i##_step) \
    if (const int i = int(i##_at); false) { \
    } else
#define GRID_LOOP(i, n) LOOP_FROM(i, n, blockIdx.x * blockDim.x + threadIdx.x, blockDim.x * gridDim.x)
#define BLOCK_LOOP(b, n) LOOP_FROM(b, n, blockIdx.x, gridDim.x)
#define THREAD_LOOP(t, n) LOOP_FROM(t, n, threadIdx.x, blockDim.x)
#define STOPPED() false
template <class T>
DEVICE void add(T* at, T value) {
  static_assert(T(0.5) == T(0), "a kernel whose threads add() floating-point numbers to one place begins with SUMS_IN_ANY_ORDER;");
  atomicAdd(at, value);
}
#define SUMS_IN_ANY_ORDER const auto add = [](auto* at, auto value) { atomicAdd(at, value); }
DEVICE void raise_to(int* at, int value) { atomicMax(at, value); }

#else

#include "system.h"
#define KERNEL static __attribute__((noinline)) void  // the launchers that device/compiler.py appends have C's names
#define DEVICE static inline
#define SHARED
#define BARRIER()
using std::abs; using std::ceil; using std::floor; using std::round; using std::sqrt;
#include "functions.h"
#ifdef REPRODUCIBLE
#define exp(x) same::exp(x)
#define exp2(x) same::exp2(x)
#define expm1(x) same::expm1(x)
#define log(x) same::log(x)
#define log1p(x) same::log1p(x)
#define log2(x) same::log2(x)
#define sin(x) same::sin(x)
#define cos(x) same::cos(x)
#define tanh(x) same::tanh(x)
#define pow(x, y) same::pow(x, y)
#else
#define exp(x) quick::exp(x)
#define expm1(x) quick::expm1(x)
#define log(x) quick::log(x)
#define log1p(x) quick::log1p(x)
#define tanh(x) quick::tanh(x)
using std::cos; using std::pow; using std::sin;
#endif
template <class T>
DEVICE constexpr T min(T a, T b) { return b < a ? b : a; }
template <class T>
DEVICE constexpr T max(T a, T b) { return a < b ? b : a; }
static thread_local int worker = 0, workers = 1;  // set by workers.h
static volatile int never = 0, *stop_at = &never;  // where it says that the caller waits no longer: see interrupt.h
DEVICE int share_of(int n, int id) { return int((long long)n * id / workers); }
#define GRID_LOOP(i, n) for (int i = share_of(n, worker), i##_end = share_of(n, worker + 1); i < i##_end; ++i)
#define BLOCK_LOOP(b, n) \
  for (int b = share_of(n, worker), b##_end = share_of(n, worker + 1); b < b##_end && !STOPPED(); ++b)
#define STOPPED() (*stop_at != 0)  // whether a long loop inside a block is to end, as BLOCK_LOOP does by itself
#define THREAD_LOOP(t, n) for (int t = 0; t < (n); ++t)
template <class T>
DEVICE void add(T* at, T value) { *at += value; }
#define SUMS_IN_ANY_ORDER
DEVICE void raise_to(int* at, int value) { *at = max(*at, value); }

#endif

// a * b + sum, rounded once. Where this text is REPRODUCIBLE a product and a sum are one operation nowhere else, and here they
// are one by all compilers for all CPUs; otherwise that is the compiler's choice.
#if defined(REPRODUCIBLE) && !defined(__CUDACC__)
#if defined(__FMA__) || defined(__aarch64__)
DEVICE float fused(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }
DEVICE double fused(double a, double b, double sum) { return __builtin_fma(a, b, sum); }
#else
// The product is exact in double. Of its sum an inexact last bit is made 1, so that the rounding to float sees which side of a
// tie it is on (rounding to odd, Boldo and Melquiond 2008).
DEVICE float fused(float a, float b, float sum) {
  const double product = double(a) * double(b), other = sum, total = product + other, of_other = total - product;
  const double rest = (product - (total - of_other)) + (other - of_other);
  unsigned long long bits;
  __builtin_memcpy(&bits, &total, 8);
  const bool inexact = rest < 0 || rest > 0;  // NaN, of infinity, is neither
  const unsigned long long up = (rest > 0) == (total > 0) ? 1 : ~0ull;
  bits += inexact && !(bits & 1) ? up : 0;
  double odd;
  __builtin_memcpy(&odd, &bits, 8);
  return float(odd);
}
DEVICE double fused(double a, double b, double sum) { return std::fma(a, b, sum); }
#endif
#else
DEVICE float fused(float a, float b, float sum) { return sum + a * b; }
DEVICE double fused(double a, double b, double sum) { return sum + a * b; }
#endif

// The largest finite Real: what a running maximum starts below, as Caffe's does (-FLT_MAX).
#define REAL_MAX (sizeof(Real) == sizeof(float) ? Real(3.402823466e+38) : Real(1.7976931348623157e+308))
