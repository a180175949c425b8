// epilogue.h: channels-last images on the host, and what is done with a sum before it is stored there.
//
// Channels last: pixel p of an image begins at [p * pitch], its channels lie beside each other. A pitch of more than the
// channels leaves room for the neighbours in a concatenation.
#pragma once
#include "gemm.h"

constexpr int RELU = 1, LEAKY = 2, SLOPES = 3, CLIP = 4;  // activations; 0 is none

// How the arrays of a kernel lie, and the activation in its store. What Python fills in.
struct Layout {
  int images;
  int bottom_pitch, bottom_step;  // elements from a pixel to the next, from an image to the next
  int top_pitch, top_step;
  int other_pitch, other_step;  // of what is added before the activation
  int activation;               // one of the above
  int halved;                   // whether the top holds the maximum of each 2 x 2 places; of winograd_last.cpp alone
  Real slope, low, high;
};

// value = activation(value + bias + other), for LANES channels of a pixel. Other: the numbers of what is added.
template <class Other>
struct EpilogueOf {
  const Real *bias, *slopes;  // of the first channel; null where there is none
  const Other* other;
  int activation;
  Real slope, low, high;

  EpilogueOf(const Layout& l, const Real* bias, const Real* slopes, const Other* other)
      : bias(bias), slopes(slopes), other(other), activation(l.activation), slope(l.slope), low(l.low), high(l.high) {}

  // None, RELU and CLIP are bounds, [least, most]; NaN stays NaN with min_lanes(most, max_lanes(least, value)).
  bool bounded() const { return activation != LEAKY && activation != SLOPES; }
  Vector least() const { return all(activation == RELU ? 0 : activation == CLIP ? low : -INFINITY); }
  Vector most() const { return all(activation == CLIP ? high : INFINITY); }

  // KIND: the activation. count: of channels that there are from `channel` on, at least one; the vectors of parameters are
  // padded to whole ones. NaN stays NaN in all activations.
  template <int KIND>
  Vector apply(Vector value, int channel, long long other_at, int count) const {
    if (bias) value += load(bias + channel);
    if (other) value += count >= LANES ? load(other + other_at + channel) : load_part(other + other_at + channel, count);
    if (KIND == RELU) return value < 0 ? Vector{} : value;
    if (KIND == LEAKY) return value < 0 ? slope * value : value;
    if (KIND == SLOPES) return value < 0 ? load(slopes + channel) * value : value;
    if (KIND == CLIP) {
      value = value < low ? all(low) : value;
      return value > high ? all(high) : value;
    }
    return value;
  }
  Vector operator()(Vector value, int channel, long long other_at, int count) const {
    switch (activation) {
      case RELU: return apply<RELU>(value, channel, other_at, count);
      case LEAKY: return apply<LEAKY>(value, channel, other_at, count);
      case SLOPES: return apply<SLOPES>(value, channel, other_at, count);
      case CLIP: return apply<CLIP>(value, channel, other_at, count);
      default: return apply<0>(value, channel, other_at, count);
    }
  }
};
typedef EpilogueOf<Real> Epilogue;
