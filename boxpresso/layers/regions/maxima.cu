// maxima.cu: for a GPU, which bins of a table touch which tile, and the gradient of maxima that are pixels: see maxima.h.
#include "bins.h"
#include "maxima.h"

// A block is a tile of an image.
KERNEL maxima_marks(int n, const int* lists, const int* bins, int* marks, int pooled_height, int pooled_width, int height, int width) {
  BLOCK_LOOP(b, n) {
    SHARED int word[WORDS];
    const Pooled pooled = {pooled_height, pooled_width};
    mark_bins(b, lists, marks, pooled.cells(), height, width, word, [&](int k, int bin, const Tile& tile) {
      return meets(box_of(bins, pooled, k, bin / pooled.width, bin % pooled.width), tile);
    });
  }
}

// given: see given.h.
KERNEL maxima_backward(int n, const Real* given, const int* lists, const int* marks, Store* diff, int channels_last, int batch,
                       int channels, int height, int width, int cells) {
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Pixels pixels;
    add_pixels(b, n, given, lists, marks, diff, channels_last, batch, channels, height, width, cells, own, pixels);
  }
}
