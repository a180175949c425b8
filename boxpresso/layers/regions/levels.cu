// levels.cu: rows of numbers, such as the bins of a region, brought together by level and back.
#include "kernel.h"

// to[i] = from[index[i]] and to[index[i]] = from[i], for n rows of `size` numbers; in the second no index comes twice.
KERNEL take_rows(int n, const Store* from, const int* index, Store* to, int size) {
  BLOCK_LOOP(i, n) {
    const Store* row = from + (long long)index[i] * size;
    THREAD_LOOP(k, size) to[(long long)i * size + k] = row[k];
  }
}
KERNEL put_rows(int n, const Store* from, const int* index, Store* to, int size) {
  BLOCK_LOOP(i, n) {
    Store* row = to + (long long)index[i] * size;
    THREAD_LOOP(k, size) row[k] = from[(long long)i * size + k];
  }
}
