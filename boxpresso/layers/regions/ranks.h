// ranks.h: sums of the numbers before each, and what is chosen put close together, by all threads of a block and in order.
#pragma once
#include "kernel.h"

constexpr int FLAGS = 256, FLAG_PART = 16;  // numbers that are taken together, and that one thread adds up
constexpr int FLAG_PARTS = FLAGS / FLAG_PART;
constexpr int FLAG_ROOM = FLAGS + FLAG_PARTS + FLAG_PARTS + 1;  // ints that it needs

// Where number i of those taken together lies: so that threads with a part each meet no bank of shared memory twice.
DEVICE int flag_at(int i) { return i + i / FLAG_PART; }

// put(i, before, value) for each 0 <= i < count, its value(i) and the sum of those before it; the sum of all, told to every thread.
// scratch: SHARED, FLAG_ROOM ints. A thread makes the sums within a part, another those of the parts before each.
template <class Value, class Put>
DEVICE int sums_before(int* scratch, int count, Value value, Put put) {
  int total = 0;
#if defined(__CUDACC__)
  int* parts = scratch + FLAGS + FLAG_PARTS;
  for (int first = 0; first < count; first += FLAGS) {
    THREAD_LOOP(i, FLAGS) scratch[flag_at(i)] = first + i < count ? int(value(first + i)) : 0;
    BARRIER();
    THREAD_LOOP(p, FLAG_PARTS) {
      int* part = scratch + flag_at(p * FLAG_PART);
      for (int j = 1; j < FLAG_PART; ++j) part[j] += part[j - 1];
    }
    BARRIER();
    THREAD_LOOP(p, FLAG_PARTS + 1) {
      int before = 0;
      for (int q = 0; q < p; ++q) before += scratch[flag_at(q * FLAG_PART + FLAG_PART - 1)];
      parts[p] = before;
    }
    BARRIER();
    THREAD_LOOP(i, min(FLAGS, count - first)) {
      const int inside = i % FLAG_PART ? scratch[flag_at(i) - 1] : 0;
      put(first + i, total + parts[i / FLAG_PART] + inside, scratch[flag_at(i)] - inside);
    }
    total += parts[FLAG_PARTS];
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
