// detection_output.cu: the boxes that predictions say.
#include "boxes.h"

// boxes[i] from the prediction offsets[offset_at[i]], relative to priors[prior_at[i]]; `clip` cuts it to the image, 0 to 1.
KERNEL detection_decode(int n, const Real* priors, const int* prior_at, const Real* variances, const int* variance_at,
                        const Real* offsets, const int* offset_at, Real* boxes, Coding how, int clip) {
  GRID_LOOP(i, n) {
    decode(how, priors + 4 * prior_at[i], variances + 4 * variance_at[i], offsets + 4 * offset_at[i], boxes + 4 * i);
    for (int k = 4 * i; clip && k < 4 * i + 4; ++k) boxes[k] = clipped(boxes[k]);
  }
}
