// arithmetic.h: how a worker computes, whatever a library that is loaded beside us has told the CPU in its thread (what is linked
// with -ffast-math does): to the nearest, ties to even, and with subnormal numbers.
#pragma once

struct Arithmetic {
#if defined(__SSE2__)
  static constexpr unsigned OTHERWISE = 0xe040;  // of MXCSR: the rounding, results and operands that are flushed to zero
  const unsigned before = __builtin_ia32_stmxcsr();
  static void set(unsigned word) { __builtin_ia32_ldmxcsr(word); }
#elif defined(__aarch64__)
  static constexpr unsigned long long OTHERWISE = 0x3c80007;  // of FPCR: the rounding, zeros for subnormal numbers, one NaN for all
  const unsigned long long before = read();
  static unsigned long long read() {
    unsigned long long word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(unsigned long long word) { __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
  static constexpr unsigned OTHERWISE = 0;
  const unsigned before = 0;
  static void set(unsigned) {}
#endif
  Arithmetic() {
    if (before & OTHERWISE) set(before & ~OTHERWISE);
  }
  ~Arithmetic() {
    if (before & OTHERWISE) set(before);
  }
  Arithmetic(const Arithmetic&) = delete;
};
