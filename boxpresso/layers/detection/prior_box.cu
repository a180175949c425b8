// prior_box.cu: the prior boxes of every cell of a feature map, as fractions of the image.
#include "kernel.h"

// The cells of a feature map: how many boxes each has, and cells a row; where the centre of the first cell is, in cells; and
// the distance of cells and the size of the image in pixels. clip: whether boxes end at the border of the image.
struct Cells {
  int sizes, columns;
  Real offset, step_x, step_y;
  int image_width, image_height, clip;
};

// boxes, variances: (cells, sizes, 4). size: width and height in pixels of each box of a cell, and how far down in the cell
// its centre is, from 0 to 1.
KERNEL prior_box_forward(int n, Real* boxes, Real* variances, const Real* size, const Real* variance, Cells of) {
  GRID_LOOP(i, n) {
    const int cell = i / of.sizes, row = cell / of.columns, column = cell - row * of.columns;
    const Real* pixels = size + 3 * (i - cell * of.sizes);
    const Real center_x = (Real(column) + of.offset) * of.step_x, center_y = (Real(row) + pixels[2]) * of.step_y;
    const double half_width = pixels[0] / 2., half_height = pixels[1] / 2.;
    Real* box = boxes + 4 * i;
    box[0] = Real((center_x - half_width) / of.image_width);  // in double, then rounded: as Caffe
    box[1] = Real((center_y - half_height) / of.image_height);
    box[2] = Real((center_x + half_width) / of.image_width);
    box[3] = Real((center_y + half_height) / of.image_height);
    for (int k = 0; k < 4; ++k) {
      if (of.clip) box[k] = min(max(box[k], Real(0)), Real(1));
      variances[4 * i + k] = variance[k];
    }
  }
}
