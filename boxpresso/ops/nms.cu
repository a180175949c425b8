// nms.cu: what ops.nms and its like need on a GPU beside the order and the suppression of layers/detection.
#include "kernel.h"

// The boxes (count, columns), best first. turn: -1 where angles, the fifth number, turn the other way, else 1.
KERNEL nms_boxes(int n, const Real* boxes, const int* order, Real* listed, int columns, Real turn) {
  GRID_LOOP(i, n) {
    const int row = i / columns, column = i - row * columns;
    const Real value = boxes[(long long)order[row] * columns + column];
    listed[i] = column == 4 ? turn * value : value;
  }
}

// The indices of those that stay, of 64 bits as torch has them: two numbers each, the lower half first.
KERNEL nms_indices(int n, const int* order, const int* kept, int* indices) {
  GRID_LOOP(i, n) {
    indices[2 * i] = order[kept[i]];
    indices[2 * i + 1] = 0;
  }
}
