// region_base.cu: what region layers share: float16 to the type that is computed in, and back; which regions touch which tile.
#include "bins.h"
#include "tiles.h"

KERNEL widen(int n, const Store* x, Real* y) { GRID_LOOP(i, n) y[i] = Real(x[i]); }
KERNEL narrow(int n, const Real* x, Store* y) { GRID_LOOP(i, n) y[i] = x[i]; }

// Of each region the image, its first row and how many rows, its first column and how many columns, from a table of bins.
KERNEL region_boxes(int n, const int* image, const int* bins, int* boxes, int pooled_height, int pooled_width) {
  GRID_LOOP(k, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    int* box = boxes + 5 * k;
    box[0] = image[k];
    for (int axis = 0; axis < 2; ++axis) {
      const int* begin = bins + k * pooled.columns() + axis * 2 * pooled_height;
      const int count = axis ? pooled_width : pooled_height;
      int first = 0, end = 0;
      for (int p = 0; p < count; ++p) {
        if (begin[p] >= begin[count + p]) continue;  // an empty bin
        first = end > 0 ? min(first, begin[p]) : begin[p];
        end = max(end, begin[count + p]);
      }
      box[1 + 2 * axis] = first;
      box[2 + 2 * axis] = end - first;
    }
  }
}

// The lists of tiles.h; a block for each tile of each image. boxes (regions, 5): see region_boxes; order: the order that a list
// has them in.
KERNEL region_tiles(int n, const int* boxes, const int* order, int* lists, int regions, int height, int width, Tiles t) {
  BLOCK_LOOP(b, n) {
    SHARED int scratch[FLAG_ROOM];
    const int image = b / (t.down * t.across), place = b - image * t.down * t.across, top = place / t.across * t.rows, left = place % t.across * t.columns;
    const int bottom = min(top + t.rows, height), right = min(left + t.columns, width);
    int* list = lists + TILE_HEAD + (long long)b * (t.most + 1);
    const auto touches = [&](int j) {
      const int* box = boxes + 5 * order[j];
      return box[0] == image && box[2] > 0 && box[4] > 0 && box[1] < bottom && box[1] + box[2] > top && box[3] < right &&
             box[3] + box[4] > left;
    };
    const int count = compact(scratch, regions, touches, [&](int rank, int j) { list[1 + rank] = order[j]; });
    THREAD_LOOP(i, 1) list[0] = count;
    if (b == 0) THREAD_LOOP(i, 1) {
      lists[0] = t.rows;
      lists[1] = t.columns;
      lists[2] = t.down;
      lists[3] = t.across;
      lists[4] = t.most;
    }
  }
}
