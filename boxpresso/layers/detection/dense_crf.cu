// dense_crf.cu: what DeepLab's CRF does to planes between its filters. An image of the blob begins at `first`; of its planes, of
// (height, width), the upper left (rows, columns) are not padding.
#include <cfloat>
#include "kernel.h"

KERNEL crf_cut(int n, const Real* blob, Real* part, int first, int rows, int columns, int height, int width) {
  GRID_LOOP(i, n) {
    const int x = i % columns, y = i / columns % rows, c = i / columns / rows;
    part[i] = blob[first + (c * height + y) * width + x];
  }
}

KERNEL crf_add(int n, const Real* x, const Real* norm, Real* sum, int points, Real weight) {
  GRID_LOOP(i, n) sum[i] += weight * norm[i % points] * x[i];
}

KERNEL crf_paste(int n, const Real* part, Real* blob, int first, int rows, int columns, int height, int width, int logarithms) {
  GRID_LOOP(i, n) {
    const int x = i % width, y = i / width % height, c = i / width / height;
    Real q = 0;
    if (x < columns && y < rows) {
      q = part[(c * rows + y) * columns + x];
      if (logarithms) q = log(q > Real(FLT_MIN) ? q : Real(FLT_MIN));
    }
    blob[first + i] = q;
  }
}
