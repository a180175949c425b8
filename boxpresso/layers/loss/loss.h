// loss.h: the losses of many items, summed piece by piece.
#pragma once
#include "sum.h"

constexpr int PIECE = 1024;  // items that one block sums
enum State { WRONG = -1, IGNORED = 0, COUNTS = 1 };  // of an item's label

DEVICE bool is_int(Real label) { return label > Real(-2147483648.0) && label < Real(2147483648.0); }

// A label as Caffe compares it; one that is no int, as NaN or 1e10, is no channel.
DEVICE int truth_of(Real label) { return is_int(label) ? int(label) : -1; }

DEVICE bool is_ignored(Real label, int has_ignored, int ignored) {
  return has_ignored && is_int(label) && int(label) == ignored;
}

// Whether a label is one of `channels`, or is to be ignored.
DEVICE State state_of(Real label, int channels, int has_ignored, int ignored) {
  if (is_ignored(label, has_ignored, ignored)) return IGNORED;
  return label > -1 && label < channels ? COUNTS : WRONG;
}

// partial[3 b ...] = the sum of value(i), the items that count, those whose label is not a channel; of block b's items.
template <class StateOf, class Value>
DEVICE void piece_of_loss(double* part, double* partial, int b, int items, StateOf state, Value value) {
  const int first = b * PIECE, count = min(PIECE, items - first);
  const double loss = block_sum(part, count, [=](int i) {
    return state(first + i) == COUNTS ? double(value(first + i)) : 0;
  });
  const double valid = block_sum(part, count, [=](int i) { return state(first + i) == COUNTS; });
  const double wrong = block_sum(part, count, [=](int i) { return state(first + i) == WRONG; });
  THREAD_LOOP(t, 1) {
    partial[3 * b] = loss;
    partial[3 * b + 1] = valid;
    partial[3 * b + 2] = wrong;
  }
}
