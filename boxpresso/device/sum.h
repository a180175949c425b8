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

// The two sums of value(i, values) for 0 <= i < count, in one pass: short runs are summed in Real, the runs in double. `part`
// and `whole` are SHARED arrays of 2 * PARTS; thread 0 writes the sums to `to`.
template <class Value>
DEVICE void block_sums(Real* part, double* whole, int count, double* to, Value value) {
  constexpr int RUN = 16;
  int parts = PARTS;
  while (parts / 2 >= count && parts > 1) parts /= 2;
  THREAD_LOOP(t, 2 * parts) whole[t] = 0;
  BARRIER();
  for (int start = 0; start < count; start += RUN * parts) {
    THREAD_LOOP(t, parts) part[t] = part[parts + t] = 0;
    for (int i = start; i < min(count, start + RUN * parts); i += parts)
      THREAD_LOOP(t, min(parts, count - i)) {
        Real values[2];
        value(i + t, values);
        part[t] += values[0];
        part[parts + t] += values[1];
      }
    THREAD_LOOP(t, parts) {  // the numbers that this thread has summed
      whole[t] += part[t];
      whole[parts + t] += part[parts + t];
    }
  }
  BARRIER();
  for (int half = parts / 2; half > 0; half /= 2) {
    THREAD_LOOP(t, half) {
      whole[t] += whole[t + half];
      whole[parts + t] += whole[parts + t + half];
    }
    BARRIER();
  }
  THREAD_LOOP(t, 1) to[0] = whole[0], to[1] = whole[parts];
  BARRIER();
}
