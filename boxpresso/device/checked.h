// checked.h: memory of a worker, and the sizes that it is asked for. What is beyond a machine, or is not there, is thrown as
// NoMemory, which the launchers (compiler.py) hand to Python as a number of bytes: nothing ends the process.
#pragma once
#include "arithmetic.h"
#include "kernel.h"
#include <cstddef>
#include <cstdlib>
#include <new>

struct NoMemory {
  long long bytes;  // that were asked for; the largest number where no machine has so many
};

// A number of elements: whole numbers that are multiplied and added up without overflow. No size is negative.
struct Count {
  long long value;
  Count(long long value) : value(value) {
    if (value < 0) throw NoMemory{__LONG_LONG_MAX__};
  }
};
DEVICE Count operator*(Count a, Count b) {
  long long value;
  if (__builtin_mul_overflow(a.value, b.value, &value)) throw NoMemory{__LONG_LONG_MAX__};
  return value;
}
DEVICE Count operator+(Count a, Count b) {
  long long value;
  if (__builtin_add_overflow(a.value, b.value, &value)) throw NoMemory{__LONG_LONG_MAX__};
  return value;
}

// Runs a kernel's share of the work. Returns 0, or the bytes of memory that it lacked.
template <class Work>
DEVICE long long lacking(Work work) {
  const Arithmetic arithmetic;
  try {
    work();
  } catch (const NoMemory& no) {
    return max(no.bytes, 1LL);
  } catch (const std::bad_alloc&) {
    return __LONG_LONG_MAX__;
  }
  return 0;
}

// Memory of the calling worker, kept between calls; each slot is one array of at least `count` elements of T.
template <class T = Real>
DEVICE T* scratch(int slot, Count count) {
  struct Memory {
    void* at = nullptr;
    long long bytes = 0;
    ~Memory() { free(); }
    void free() { ::operator delete(at, std::align_val_t(64)); }
  };
  static thread_local Memory memory[6];  // of each T
  Memory& m = memory[slot];
  const long long wanted = (count * (long long)(sizeof(T))).value;
  if (m.bytes < wanted) {
    m.free();
    m.at = nullptr;
    m.bytes = 0;
    const long long room = (Count(wanted) + 4096).value / 64 * 64;
    m.at = ::operator new(size_t(room), std::align_val_t(64), std::nothrow);
    if (m.at == nullptr) throw NoMemory{wanted};
    m.bytes = room;
  }
  return static_cast<T*>(m.at);
}
