// label_specific_add.cu: a number added to the score of the true class.
#include "loss.h"

KERNEL add_to_truth(int n, const Real* bottom, const Real* label, Real* top, int length, Real bias) {
  GRID_LOOP(i, n) {
    const Real score = bottom[i];
    top[i] = truth_of(label[i / length]) == i % length && score > -bias ? score + bias : score;
  }
}
