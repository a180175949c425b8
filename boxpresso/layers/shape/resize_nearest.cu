// resize_nearest.cu: each pixel of the top is one of the map, by tables of rows and columns that grow.
#include "kernel.h"

// inner: numbers of a pixel that lie beside each other; rows, columns: which pixel of the map each of the top is.
KERNEL nearest_forward(int n, const Real* map, const int* rows, const int* columns, Real* top, int height, int width, int high,
                       int wide, int inner) {
  GRID_LOOP(i, n) {
    const int c = i % inner, x = i / inner % wide, y = i / (inner * wide) % high, plane = i / (inner * wide * high);
    top[i] = map[((plane * height + rows[y]) * width + columns[x]) * inner + c];
  }
}

// down, across: where the rows and columns of the top begin that are of each of the map, and behind them where the last ends.
KERNEL nearest_backward(int n, const Real* top_diff, const int* down, const int* across, Real* diff, int height, int width,
                        int high, int wide, int inner) {
  GRID_LOOP(i, n) {
    const int c = i % inner, x = i / inner % width, y = i / (inner * width) % height, plane = i / (inner * width * height);
    Real sum = 0;
    for (int v = down[y]; v < down[y + 1]; ++v)
      for (int u = across[x]; u < across[x + 1]; ++u) sum += top_diff[((plane * high + v) * wide + u) * inner + c];
    diff[i] = sum;
  }
}
