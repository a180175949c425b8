// mnc_stage.cu: MNC's next stage at TEST.
#include "upright.h"

// Each region (0, xmin, ymin, xmax, ymax) of regions (n, 5), moved by those of its offsets (n, 4 classes) that belong to the greatest of
// its scores (n, classes), and clipped to the image of info: height, width. Computed in double, as on the host.
KERNEL stage_regions(int n, const Real* regions, const Real* offsets, const Real* scores, const Real* info, Real* rows, int classes) {
  GRID_LOOP(i, n) {
    const Real* mine = scores + (long long)i * classes;
    int best = 0;
    for (int c = 1; c < classes && mine[best] == mine[best]; ++c)  // the first NaN, if there is one, as numpy
      if (mine[c] > mine[best] || mine[c] != mine[c]) best = c;
    double from[4], box[4];
    for (int k = 0; k < 4; ++k) from[k] = regions[5ll * i + 1 + k];
    move_box(from, offsets + 4 * ((long long)i * classes + best), 1, box);
    rows[5ll * i] = 0;
    for (int k = 0; k < 4; ++k) rows[5ll * i + 1 + k] = Real(higher(lower(box[k], double(info[1 - k % 2] - 1)), 0.0));
  }
}
