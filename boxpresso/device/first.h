// first.h: the first of many items that is wrong, told to the host (check.py).
#pragma once
#include "kernel.h"

// A block looks for the first i < items with wrong(i), and tells i, value(i) and `many` in `record`, unless it tells something
// already. first: SHARED, one int.
template <class Wrong, class Value>
DEVICE void tell_first(int* first, double* record, int mark, int items, int many, Wrong wrong, Value value) {
  THREAD_LOOP(t, 1) first[0] = 0;
  BARRIER();
  THREAD_LOOP(i, items)
    if (wrong(i)) raise_to(first, items - i);
  BARRIER();
  THREAD_LOOP(t, 1)
    if (first[0] > 0 && record[0] != mark) {
      record[1] = items - first[0];
      record[2] = value(items - first[0]);
      record[3] = many;
      record[0] = mark;
    }
  BARRIER();
}
