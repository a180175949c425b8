// places.cu: the places where an array is set, and the rows of another at these, on the device.
#include "running.h"

// Set is a flag of `least` or more; with `any` each that is not 0. places: where flags are set, in order; rows: of each place its number
// among these, or -1; count: how many there are. By one block.
KERNEL places_found(int n, const Real* flags, int* places, int* rows, int* count, int items, Real least, int any) {
  SHARED int sum[STRETCHES];
  BLOCK_LOOP(b, n) {
    const auto set = [=](int i) { return int(any ? flags[i] != 0 : flags[i] >= least); };
    const auto tell = [=](int i, int at, int is_set) {
      rows[i] = is_set ? at : -1;
      if (is_set) places[at] = i;
    };
    running_sums(sum, items, set, tell, [=](int all) { count[0] = all; });
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
