// prroi.h: what the kernels of PrROIPooling share: the weights that prroi_pooling_weights makes, and the sums for the regions' gradient.
#pragma once
#include "bins.h"

// The weights of region k: those of the rows of the map for each bin in y, those of the columns for each in x, then how far each
// edge lies behind the pixel before it.
template <class Number>
DEVICE Number* weights_of(Number* weights, int k, const Geometry& g) {
  return weights + (long long)k * (g.pooled_height * g.height + g.pooled_width * g.width + g.pooled_height + g.pooled_width + 2);
}

// How the sum of all averages times their gradients changes, in MOVES numbers: with the sum of the edges of x; with that sum, each
// edge times its number as a part of the bins; the same two for y; and that sum itself. An edge moves both bins that end there:
// what they have in common is taken once.
constexpr int MOVES = 5;
