// bf16.cpp: whether the CPU has bfloat16, for whoever asks before there is a layer that would use it.
#include "bf16.h"

// yes = whether this CPU can multiply pairs of bfloat16. n: 1.
KERNEL bf16_available(int n, int* yes) {
  GRID_LOOP(i, n) yes[i] = BF16 && sizeof(Real) == 4;
}
