// orientations.h: channels of orientations, and how an angle turns them (RiROIAlignRotated).
#pragma once
#include "kernel.h"

#define TWO_PI 6.283185307179586

// An angle in orientations: the whole ones, from 0 to orientations - 1, and the part above.
struct Turn {
  int whole;
  Real part;
};

DEVICE Turn turn_of(Real theta, int orientations) {
  const Real turns = Real(double(theta * orientations) / TWO_PI);
  const Real whole = floor(float(turns));  // in float, as mmcv does also in double: a multiple of the unit stays whole
  if (!(abs(turns) <= REAL_MAX)) return {0, Real(0)};
  const Real index = whole - floor(whole / orientations) * orientations;
  return {int(max(min(index, Real(orientations - 1)), Real(0))), turns - whole};
}

// The two orientations that number `o` is mixed from, or with `back` is mixed into, and the mixture.
struct Mixed {
  int lower, upper;
};

DEVICE Mixed mixed_of(const Turn& turn, int o, int orientations, int back) {
  const int shift = back ? turn.whole : orientations - turn.whole;
  return {(o + shift) % orientations, (o + shift + (back ? orientations - 1 : 1)) % orientations};
}
DEVICE Real mix(const Turn& turn, Real lower, Real upper) { return (1 - turn.part) * lower + turn.part * upper; }
