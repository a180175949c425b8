// detection_output.cu: predicted boxes, and greedy suppression of those that overlap a better one of their class.
#include "boxes.h"

// boxes[i] from the prediction offsets[offset_at[i]], relative to priors[prior_at[i]]; `clip` cuts it to the image, 0 to 1.
KERNEL detection_decode(int n, const Real* priors, const int* prior_at, const Real* variances, const int* variance_at,
                        const Real* offsets, const int* offset_at, Real* boxes, int code, int in_target, int clip) {
  GRID_LOOP(i, n) {
    decode(code, in_target, priors + 4 * prior_at[i], variances + 4 * variance_at[i], offsets + 4 * offset_at[i],
           boxes + 4 * i);
    for (int k = 4 * i; clip && k < 4 * i + 4; ++k) boxes[k] = min(max(boxes[k], Real(0)), Real(1));
  }
}

// Group g, an image's candidates for one class, is boxes[start[g]] to boxes[start[g + 1]], best first. kept: the indices of
// those that stay, in order, then -1. A candidate stays when it overlaps none of those by more than the limit; with eta
// below 1 the limit shrinks by that factor each time one stays, while it is above 0.5.
KERNEL detection_suppress(int n, const Real* boxes, const int* start, int* kept, Real threshold, Real eta) {
  BLOCK_LOOP(g, n) {
    SHARED int count, clash;
    SHARED Real limit;
    const int first = start[g], last = start[g + 1];
    int* mine = kept + first;
    THREAD_LOOP(k, last - first) mine[k] = -1;
    THREAD_LOOP(t, 1) {
      count = clash = 0;
      limit = threshold;
    }
    BARRIER();
    for (int i = first; i < last; ++i) {
      THREAD_LOOP(k, count)
        if (!(overlap(boxes + 4 * i, boxes + 4 * mine[k]) <= limit)) raise_to(&clash, 1);
      BARRIER();
      THREAD_LOOP(t, 1) {
        if (!clash) {
          mine[count++] = i;
          if (eta < 1 && limit > Real(0.5)) limit *= eta;
        }
        clash = 0;
      }
      BARRIER();
    }
  }
}
