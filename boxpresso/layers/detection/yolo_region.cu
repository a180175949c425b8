// yolo_region.cu: what YOLOv2 says of its boxes, box by box.
#include "kernel.h"

// n: boxes of all cells of all images, in the order of the top. Of each its coordinates, the logistic function of its
// objectness, and its classes, or their softmax.
KERNEL region_boxes(int n, const Real* map, Real* top, int boxes, int classes, int cells, int softmax) {
  const int each = 5 + classes;
  GRID_LOOP(i, n) {
    const int cell = i / boxes % cells, image = i / boxes / cells, box = i % boxes;
    const Real* from = map + (image * boxes + box) * each * cells + cell;
    Real* to = top + i * each;
    for (int k = 0; k < 4; ++k) to[k] = from[k * cells];
    to[4] = 1 / (1 + exp(-from[4 * cells]));
    Real most = from[5 * cells], sum = 0;
    for (int c = 1; c < classes; ++c) most = max(most, from[(5 + c) * cells]);
    for (int c = 0; c < classes; ++c) {
      to[5 + c] = softmax ? exp(from[(5 + c) * cells] - most) : from[(5 + c) * cells];
      sum += to[5 + c];
    }
    for (int c = 0; softmax && c < classes; ++c) to[5 + c] /= sum;
  }
}
