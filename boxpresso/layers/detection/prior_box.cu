// prior_box.cu: the prior boxes of every cell of a feature map, as fractions of the image.
#include "kernel.h"

constexpr int NO_EDGES = 0, ALL_EDGES = 1, OUTER_EDGES = 2;  // which edges of a box end at the image's: OUTER_EDGES at that of their side

// The cells of a feature map: how many boxes each has, and cells a row; where the centre of the first cell is, in cells; and
// the distance of cells and the size of the image in pixels. cut: one of the above.
struct Cells {
  int sizes, columns;
  Real offset, step_x, step_y;
  int image_width, image_height, cut;
};

// boxes, variances: (cells, sizes, 4). size: of each box of a cell its width and height, and how far its centre is from the cell's,
// in pixels.
KERNEL prior_box_forward(int n, Real* boxes, Real* variances, const Real* size, const Real* variance, Cells of) {
  GRID_LOOP(i, n) {
    const int cell = i / of.sizes, row = cell / of.columns, column = cell - row * of.columns;
    const Real* pixels = size + 4 * (i - cell * of.sizes);
    const Real center_x = (Real(column) + of.offset) * of.step_x + pixels[2];
    const Real center_y = (Real(row) + of.offset) * of.step_y + pixels[3];
    const double half_width = pixels[0] / 2., half_height = pixels[1] / 2.;
    Real* box = boxes + 4 * i;
    box[0] = Real((center_x - half_width) / of.image_width);  // in double, then rounded: as Caffe
    box[1] = Real((center_y - half_height) / of.image_height);
    box[2] = Real((center_x + half_width) / of.image_width);
    box[3] = Real((center_y + half_height) / of.image_height);
    for (int k = 0; k < 4; ++k) {
      if (of.cut == ALL_EDGES || (of.cut == OUTER_EDGES && k < 2)) box[k] = max(box[k], Real(0));
      if (of.cut == ALL_EDGES || (of.cut == OUTER_EDGES && k >= 2)) box[k] = min(box[k], Real(1));
      variances[4 * i + k] = variance[k];
    }
  }
}
