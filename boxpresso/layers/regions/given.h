// given.h: gradients of a top in slabs, (K * slabs_of(C), bins, SLAB), for kernels that make the gradients of maps in tiles.
//
// A top (K, C, bins) has the channels of a bin `bins` numbers apart: a sector of 32 bytes for each of them. In slabs threads beside
// each other, which take channels beside each other, read whole sectors.
#pragma once
#include "slab.h"

// A number of the top's gradient, and the place on the map that its maximum has; -1 for none.
struct alignas(2 * sizeof(Real)) Placed {
  Real gradient;
  int place;
};

// Region k's gradient in channel `channel` + c, which lies in one slab; that of a bin lies SLAB after that of the bin before.
template <class Number>  // Real or Placed
DEVICE const Number* given_of(const Real* slabs, int k, int channel, int c, int channels, int bins) {
  return (const Number*)slabs + ((long long)k * slabs_of(channels) + channel / SLAB) * bins * SLAB + c;
}
