// detection_lists.cpp: the candidates of DetectionOutput on a CPU, where one pass over the scores lists those of all labels.
#include "kernel.h"

// The places of the scores (batch, priors, labels) above the threshold, but for those of the label `background`: of a group, an image and
// a label, at (groups, priors) has their priors, sizes (groups,) how many there are, and values (groups, priors), where a prior is listed,
// its score. objectness (batch, priors, 2), or null: scores of priors with less than `least` are 0.
KERNEL detection_lists(int n, const Real* scores, const Real* objectness, Real* values, int* at, int* sizes, int priors, int labels,
                       int background, Real threshold, Real least) {
  BLOCK_LOOP(image, n) {
    int* size = sizes + (long long)image * labels;
    for (int label = 0; label < labels; ++label) size[label] = 0;
    const int split = background >= 0 && background < labels ? background : labels;
    for (int prior = 0; prior < priors; ++prior) {
      const long long place = (long long)image * priors + prior;
      const Real* own = scores + place * labels;
      const bool none = objectness && objectness[2 * place + 1] < least;
      int any = none && Real(0) > threshold;
      if (!none) {
        for (int label = 0; label < split; ++label) any |= own[label] > threshold;
        for (int label = split + 1; label < labels; ++label) any |= own[label] > threshold;
      }
      for (int label = 0; any && label < labels; ++label) {
        const Real score = none ? Real(0) : own[label];
        if (label == background || !(score > threshold)) continue;
        const long long group = (long long)image * labels + label;
        at[group * priors + size[label]++] = prior;
        values[group * priors + prior] = score;
      }
    }
  }
}
