// prior_box.cu: the prior boxes of every cell of a feature map, in parts of the image.
#include "kernel.h"

// boxes, variances: (cells, sizes, 4). size: width and height in pixels of each box of a cell.
KERNEL prior_box_forward(int n, Real* boxes, Real* variances, const Real* size, const Real* variance, int sizes, int columns,
                         Real offset, Real step_x, Real step_y, int image_width, int image_height, int clip) {
  GRID_LOOP(i, n) {
    const int cell = i / sizes, row = cell / columns, column = cell - row * columns;
    const Real center_x = (Real(column) + offset) * step_x, center_y = (Real(row) + offset) * step_y;
    const double half_width = size[2 * (i - cell * sizes)] / 2., half_height = size[2 * (i - cell * sizes) + 1] / 2.;
    Real* box = boxes + 4 * i;
    box[0] = Real((center_x - half_width) / image_width);  // in double, then rounded: as Caffe
    box[1] = Real((center_y - half_height) / image_height);
    box[2] = Real((center_x + half_width) / image_width);
    box[3] = Real((center_y + half_height) / image_height);
    for (int k = 0; k < 4; ++k) {
      if (clip) box[k] = min(max(box[k], Real(0)), Real(1));
      variances[4 * i + k] = variance[k];
    }
  }
}
