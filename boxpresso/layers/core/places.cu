// places.cu: the places where an array is set, and the rows of another at these, on the device.
#include "kernel.h"

constexpr int SHARES = 256;  // parts of the flags that the threads of one block count

// Set is a flag of `least` or more; with `any` each that is not 0. places: where flags are set, in order; rows: of each place its number
// among these, or -1; count: how many there are. By one block.
KERNEL places_found(int n, const Real* flags, int* places, int* rows, int* count, int items, Real least, int any) {
  SHARED int sum[SHARES];
  BLOCK_LOOP(b, n) {
    const int each = (items + SHARES - 1) / SHARES;
    const auto set = [=](int i) { return any ? flags[i] != 0 : flags[i] >= least; };
    THREAD_LOOP(t, SHARES) {
      int some = 0;
      for (int i = t * each; i < min(items, t * each + each); ++i) some += set(i);
      sum[t] = some;
    }
    BARRIER();
    THREAD_LOOP(t, SHARES) {
      int at = 0;
      for (int k = 0; k < t; ++k) at += sum[k];
      for (int i = t * each; i < min(items, t * each + each); ++i) {
        rows[i] = set(i) ? at : -1;
        if (set(i)) places[at++] = i;
      }
      if (t == SHARES - 1) count[0] = at;
    }
    BARRIER();
  }
}

// A row of `length` numbers for each of these places, the numbers `apart` from one another, those of two places `next`. At target[tail],
// unless that is below 0: how many rows there are.
KERNEL places_rows(int n, const Real* source, const int* places, const int* count, Real* target, int length, int next, int apart,
                   int tail) {
  GRID_LOOP(i, n) {
    if (i == 0 && tail >= 0) target[tail] = count[0];
    const int row = i / length;
    if (row < count[0]) target[i] = source[(long long)places[row] * next + (long long)(i - row * length) * apart];
  }
}
