// ristretto.cu: numbers of few bits.
#include <math.h>
#include "random.h"

// round(x * scale) / scale, the whole number between low and high. key: 0 rounds halves away from 0, as C does; another draws
// for each element whether it goes up or down.
KERNEL round_fixed(int n, const Real* from, Real* to, Real scale, Real low, Real high, unsigned key) {
  GRID_LOOP(i, n) {
    const Real x = from[i] * scale;
    const Real whole = key ? floor(x + Real(philox(i, 0, key)) * Real(1.0 / 4294967296.0)) : round(x);
    to[i] = (whole < low ? low : whole > high ? high : whole) / scale;
  }
}

// Plus or minus the power of 2 that is nearest, between two exponents.
KERNEL round_powers(int n, const Real* from, Real* to, int low, int high, unsigned key) {
  GRID_LOOP(i, n) {
    const Real x = log2(abs(from[i]));
    const Real power = key ? floor(x + Real(philox(i, 0, key)) * Real(1.0 / 4294967296.0)) : round(x);
    const Real kept = power > low ? (power < high ? power : Real(high)) : Real(low);
    to[i] = from[i] >= 0 ? exp2(kept) : -exp2(kept);
  }
}
