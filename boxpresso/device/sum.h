// sum.h: sums by the threads of a block, in one fixed order and in double, so that long sums keep their digits.
#pragma once
#include "kernel.h"

constexpr int PARTS = 256;  // terms i, i + PARTS, ... go to part i % PARTS

// The sum of value(i) for 0 <= i < count, given to every thread. `part` is a SHARED array of PARTS.
template <class Value>
DEVICE double block_sum(double* part, int count, Value value) {
  int parts = PARTS;
  while (parts / 2 >= count && parts > 1) parts /= 2;
  THREAD_LOOP(t, parts) part[t] = 0;
  for (int i = 0; i < count; i += PARTS) THREAD_LOOP(t, min(PARTS, count - i)) part[t] += double(value(i + t));
  BARRIER();
  for (int half = parts / 2; half > 0; half /= 2) {
    THREAD_LOOP(t, half) part[t] += part[t + half];
    BARRIER();
  }
  const double sum = part[0];
  BARRIER();
  return sum;
}
