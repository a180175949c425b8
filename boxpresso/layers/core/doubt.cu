// doubt.cu: is there NaN?
#include "kernel.h"

constexpr int PART = 16384;  // numbers that a block looks at

// seen[b]: whether part b of the `count` numbers x holds NaN.
KERNEL nan_seen(int n, const Real* x, int* seen, int count) {
  SHARED int any;
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(one, 1) any = 0;
    BARRIER();
    THREAD_LOOP(t, min(PART, count - b * PART)) {
      const Real value = x[b * PART + t];
      if (value != value) raise_to(&any, 1);
    }
    BARRIER();
    THREAD_LOOP(one, 1) seen[b] = any;
    BARRIER();
  }
}
