// words.h: what nvcc gives a kernel, for the host's compiler. Included before a file of kernels, it makes kernel.h take the
// GPU's words, so that the text which runs here is the one that nvcc sees, with threads, blocks and barriers that are real.
// fibres.cpp runs it quickly in one thread, threads.cpp with a thread for each thread, for ThreadSanitizer.
#pragma once
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>

#define __CUDACC__
#define __global__
#define __device__
#define __forceinline__ inline
#if defined(SHARED_BY_NOBODY)  // blocks of one thread, run at the same time
#define __shared__ static thread_local
#else  // blocks run one after another
#define __shared__ static
#endif
#if defined(REAL_THREADS)
#define OWN thread_local
#else
#define OWN
#endif

struct Index {
  unsigned x;
};
extern OWN Index threadIdx, blockIdx, blockDim, gridDim;

extern "C" void reach_barrier(int line);
#define __syncthreads() reach_barrier(__LINE__)

using std::abs; using std::ceil; using std::cos; using std::floor; using std::pow; using std::round; using std::sin; using std::sqrt;
#include "functions.h"
#define exp(x) quick::exp(x)  // as the plain run has them, bit for bit
#define expm1(x) quick::expm1(x)
#define log(x) quick::log(x)
#define log1p(x) quick::log1p(x)
#define tanh(x) quick::tanh(x)
template <class T>
static inline T min(T a, T b) { return b < a ? b : a; }
template <class T>
static inline T max(T a, T b) { return a < b ? b : a; }
static inline int __popc(unsigned word) { return __builtin_popcount(word); }
static inline int __ffs(int word) { return __builtin_ffs(word); }

// join(*at) put into *at in one step.
template <class T, class Join>
static inline void replace_atomically(T* at, Join join) {
  T was, now;
  __atomic_load(at, &was, __ATOMIC_RELAXED);
  do now = join(was);
  while (!__atomic_compare_exchange(at, &was, &now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
template <class T>
static inline void atomicAdd(T* at, T value) {
  replace_atomically(at, [=](T was) { return was + value; });
}
static inline void atomicMax(int* at, int value) {
  replace_atomically(at, [=](int was) { return was < value ? value : was; });
}

// Shared memory is all that lies in the library's .bss. What it holds when a block begins is not defined: here NaN in float
// and double, -1 in int.
extern "C" {
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
void poison_shared_memory() { std::memset(__bss_start, 0xFF, _end - __bss_start); }
}
