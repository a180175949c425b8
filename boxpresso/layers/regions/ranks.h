// ranks.h: sums of the numbers before each, and what is chosen put close together, by all threads of a block and in order.
#pragma once
#include "kernel.h"

constexpr int FLAGS = 256, FLAG_PART = 16;            // numbers that are taken together, and that one thread adds up
constexpr int FLAG_ROOM = FLAGS + FLAGS / FLAG_PART;  // ints that it needs

// put(i, before, value) for each 0 <= i < count, its value(i) and the sum of those before it; the sum of all, told to every thread.
// scratch: SHARED, FLAG_ROOM ints. Sums are made by parts, so that each is a few numbers.
template <class Value, class Put>
DEVICE int sums_before(int* scratch, int count, Value value, Put put) {
  int total = 0;
#if defined(__CUDACC__)
  for (int first = 0; first < count; first += FLAGS) {
    THREAD_LOOP(i, FLAGS) scratch[i] = first + i < count ? int(value(first + i)) : 0;
    BARRIER();
    THREAD_LOOP(p, FLAGS / FLAG_PART) {
      int sum = 0;
      for (int j = 0; j < FLAG_PART; ++j) sum += scratch[p * FLAG_PART + j];
      scratch[FLAGS + p] = sum;
    }
    BARRIER();
    THREAD_LOOP(i, min(FLAGS, count - first)) {
      int before = total;
      for (int p = 0; p < i / FLAG_PART; ++p) before += scratch[FLAGS + p];
      for (int j = i / FLAG_PART * FLAG_PART; j < i; ++j) before += scratch[j];
      put(first + i, before, scratch[i]);
    }
    for (int p = 0; p < FLAGS / FLAG_PART; ++p) total += scratch[FLAGS + p];
    BARRIER();
  }
#else
  for (int i = 0; i < count; ++i) {
    const int found = int(value(i));
    put(i, total, found);
    total += found;
  }
#endif
  return total;
}

// put(rank, i) for each 0 <= i < count that chosen(i) chooses, its rank among them in order; how many there are.
template <class Chosen, class Put>
DEVICE int compact(int* scratch, int count, Chosen chosen, Put put) {
  return sums_before(scratch, count, [&](int i) { return chosen(i) ? 1 : 0; }, [&](int i, int before, int value) {
    if (value) put(before, i);
  });
}
