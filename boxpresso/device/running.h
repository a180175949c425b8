// running.h: running sums by the threads of one block.
#pragma once
#include "kernel.h"

constexpr int STRETCHES = 256;  // of neighbouring items; a thread takes one

// visit(i, before, size) for each i < items with its size(i) and the sum of those before it, then end(sum of all). sum: SHARED,
// STRETCHES numbers.
template <class Size, class Visit, class End>
DEVICE void running_sums(int* sum, int items, Size size, Visit visit, End end) {
  const int each = (items + STRETCHES - 1) / STRETCHES;
  THREAD_LOOP(t, STRETCHES) {
    int whole = 0;
    for (int i = t * each; i < min(items, t * each + each); ++i) whole += size(i);
    sum[t] = whole;
  }
  BARRIER();
  THREAD_LOOP(t, STRETCHES) {
    int before = 0;
    for (int k = 0; k < t; ++k) before += sum[k];
    for (int i = t * each; i < min(items, t * each + each); ++i) {
      const int mine = size(i);
      visit(i, before, mine);
      before += mine;
    }
    if (t == STRETCHES - 1) end(before);
  }
  BARRIER();
}
