// deform_roi_moves.cu: the gradients of the offsets and the mask of deform_roi.cu, for a GPU, from the products of listed_both.cu.
//
// A bin's samples are a grid, so what a pixel gives is a product of one number of its row and one of its column, times the pixel's
// product with the bin's gradient over all channels: it stands where the pixel's list has the bin. Bins with pixels in a tile that
// has no lists are read from the maps by a launch of their own.
#include "both_lists.h"
#include "deform_roi_tiles.h"
#include "touched.h"

constexpr int MOVED = 16;                  // bins that a block takes together
constexpr int SIDES = 4;                   // of the threads of each, that take a pixel at a time
constexpr int EACH = SIDES * SIDES;
constexpr int REST = 8;                    // bins that a block looks for whose pixels are not listed
constexpr int ABREAST = 32, PORTIONS = 8;  // pixels of such a bin that are read together, and threads that share their channels

// The samples of an axis that are looked at, in the order of touch().
DEVICE Reach looked_from(Reach of_all, Real size, int count) {
  return size < 0 ? Reach{count - of_all.to, count - of_all.from} : of_all;
}

// A bin as its pixels are looked for; image: -1 for one that is left to another launch.
struct Moved {
  Grid grid;
  Reach down, across;
  int image;
};

// Whether all tiles that a bin may have pixels in have lists.
DEVICE bool listed(const BinPlace& place, const int* heads, int image, const GridGeometry& g) {
  const Spans spans = spans_of(place, g);
  if (spans.y.first >= spans.y.end) return true;
  const int tiles_down = (g.height + TILE_SIDE - 1) / TILE_SIDE, tiles_across = (g.width + TILE_SIDE - 1) / TILE_SIDE;
  for (int row = spans.y.first / TILE_SIDE; row * TILE_SIDE < spans.y.end; ++row)
    for (int column = spans.x.first / TILE_SIDE; column * TILE_SIDE < spans.x.end; ++column)
      if (!has_lists(heads + (((long long)image * tiles_down + row) * tiles_across + column) * LIST_HEAD)) return false;
  return true;
}

// Bin `number`, if its tiles have lists or else, for `rest`, if not.
DEVICE Moved moved_of(int number, const int* boxes, const int* heads, const Real* places, bool rest, const GridGeometry& g) {
  const BinPlace place = place_at(places, number);
  const int image = max(boxes[5 * (number / (g.pooled_height * g.pooled_width))], 0);  // a bin in no image has no samples
  Moved moved = {grid_at(place, g), {0, 0}, {0, 0}, -1};
  const Grid& grid = moved.grid;
  if (listed(place, heads, image, g) == rest) return moved;
  const Looked looked = looked_at(grid, g.height, g.width);
  moved.image = image;
  if (!(grid.y == grid.y) || looked.count == 0) return moved;
  moved.down = looked_from({looked.top, looked.top + looked.count / looked.columns}, grid.bin_height, grid.rows);
  moved.across = looked_from({looked.left, looked.left + looked.columns}, grid.bin_width, grid.columns);
  return moved;
}

// The pixels that TAKEN samples of an axis have, from `first` of those that are looked at on.
DEVICE void touch_axis(Touched& touched, const Moved& moved, int axis, int first, const GridGeometry& g) {
  const Reach reach = axis ? moved.across : moved.down;
  const int from = reach.from + first, end = min(from + TAKEN, reach.to);
  if (axis)
    touch(touched, moved.grid.x, moved.grid.bin_width, moved.grid.columns, from, end, g.width);
  else
    touch(touched, moved.grid.y, moved.grid.bin_height, moved.grid.rows, from, end, g.height);
}

// Adds what a pixel gives, of which `product` is that with the bin's gradient: as the bin moves in x, in y, and of the mask. The first two
// are the published kernel's: see deform_roi_slabs.cu.
DEVICE void add_pixel(const Touched& y, int e, const Touched& x, int f, Real product, Real* sum) {
  sum[0] += y.part[e] * x.slope[f] * product;
  sum[1] += y.slope[e] * x.part[f] * product;
  sum[2] += y.weight[e] * x.weight[f] * product;
}

// Which of the entries from `first` to end - 1, whose places ascend, has `place`.
DEVICE int entry_at(const Entry* entries, int first, int end, int place) {
  while (first < end) {
    const int middle = (first + end) / 2;
    if (entries[middle].place < place)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

// A block owns MOVED bins, and a bin EACH threads. boxes: of deform_roi_boxes(); entries, products: see listed_both.cu.
KERNEL deform_roi_moves_listed(int n, const int* boxes, const int* heads, const Real* entries, const Real* products, int most,
                               const Real* places, const Store* mask, Store* offset_diff, Store* mask_diff, Real gamma,
                               GridGeometry g) {
  const int all = g.regions * g.pooled_height * g.pooled_width, each = padded_channels(g.channels) / PLACE;
  const int tiles_down = (g.height + TILE_SIDE - 1) / TILE_SIDE, tiles_across = (g.width + TILE_SIDE - 1) / TILE_SIDE;
  const int groups = product_groups(g.channels);
  BLOCK_LOOP(b, n) {
    SHARED Touched touched[2 * MOVED];
    SHARED Moved moved[MOVED];
    SHARED Real gain[3][MOVED * EACH], sums[MOVED][3];
    const int first = b * MOVED, some = min(MOVED, all - first);
    THREAD_LOOP(h, some) {
      moved[h] = moved_of(first + h, boxes, heads, places, false, g);
      for (int q = 0; q < 3; ++q) sums[h][q] = 0;
    }
    BARRIER();
    int rows = g.sampling_ratio, columns = rows;  // the most samples of an axis of these bins
    for (int h = 0; h < some && g.sampling_ratio <= 0; ++h) {
      rows = max(rows, moved[h].down.to - moved[h].down.from);
      columns = max(columns, moved[h].across.to - moved[h].across.from);
    }
    for (int row = 0; row < rows; row += TAKEN)
      for (int column = 0; column < columns; column += TAKEN) {
        THREAD_LOOP(t, 2 * some) touch_axis(touched[t], moved[t / 2], t % 2, t % 2 ? column : row, g);
        BARRIER();
        THREAD_LOOP(t, some * EACH) {
          const int h = t / EACH, image = moved[h].image;
          const Touched &y = touched[2 * h], &x = touched[2 * h + 1];
          Real sum[3] = {};
          for (int e = t / SIDES % SIDES; e < y.count && image >= 0; e += SIDES)
            for (int f = t % SIDES; f < x.count; f += SIDES) {
              const int tile = (image * tiles_down + y.at[e] / TILE_SIDE) * tiles_across + x.at[f] / TILE_SIDE;
              const int* head = heads + (long long)tile * LIST_HEAD + y.at[e] % TILE_SIDE * TILE_SIDE + x.at[f] % TILE_SIDE;
              const int at = entry_at((const Entry*)entries, head[0], head[1], (first + h) * each);
              Real product = 0;
              for (int group = 0; group < groups; ++group) product += products[(long long)group * most + at];
              add_pixel(y, e, x, f, product, sum);
            }
          for (int q = 0; q < 3; ++q) gain[q][t] = sum[q];
        }
        BARRIER();
        TILE_LOOP(h, q, some, 3) {
          Real sum = 0;
          for (int i = 0; i < EACH; ++i) sum += gain[q][h * EACH + i];
          sums[h][q] += sum;
        }
        BARRIER();
      }
    THREAD_LOOP(h, some)
      if (moved[h].image >= 0) put_moves(first + h, moved[h].grid, sums[h], mask, offset_diff, mask_diff, gamma, g);
    BARRIER();
  }
}

// The bins that the other launch has left, of REST that a block looks at: their pixels are read from the maps. packed: (K, bins, padded).
KERNEL deform_roi_moves_rest(int n, const int* boxes, const int* heads, const Real* places, const Store* mask, const Real* packed,
                             const Store* features, Store* offset_diff, Store* mask_diff, Real gamma, GridGeometry g) {
  const int all = g.regions * g.pooled_height * g.pooled_width;
  const long long area = (long long)g.height * g.width;
  BLOCK_LOOP(b, n) {
    SHARED Touched touched[2];
    SHARED Moved moved[REST];
    SHARED Real gain[3][ABREAST * PORTIONS], sums[3];
    const int first = b * REST, some = min(REST, all - first);
    THREAD_LOOP(h, some) moved[h] = moved_of(first + h, boxes, heads, places, true, g);
    BARRIER();
    for (int h = 0; h < some && !STOPPED(); ++h) {
      const Moved& one = moved[h];
      if (one.image < 0) continue;
      const Real* given = packed + (long long)(first + h) * padded_channels(g.channels);
      const Store* maps = features + one.image * (long long)g.channels * area;
      THREAD_LOOP(q, 3) sums[q] = 0;
      for (int row = 0; row < one.down.to - one.down.from; row += TAKEN)
        for (int column = 0; column < one.across.to - one.across.from; column += TAKEN) {
          THREAD_LOOP(axis, 2) touch_axis(touched[axis], one, axis, axis ? column : row, g);
          BARRIER();
          TILE_LOOP(portion, at, PORTIONS, ABREAST) {
            const Touched &y = touched[0], &x = touched[1];
            Real sum[3] = {};
            for (int m = at; m < y.count * x.count; m += ABREAST) {
              const int e = m / x.count, f = m - e * x.count;
              const Store* pixel = maps + y.at[e] * (long long)g.width + x.at[f];
              Real product = 0;
              for (int c = portion; c < g.channels; c += PORTIONS) product += given[c] * Real(pixel[c * area]);
              add_pixel(y, e, x, f, product, sum);
            }
            for (int q = 0; q < 3; ++q) gain[q][portion * ABREAST + at] = sum[q];
          }
          BARRIER();
          TILE_LOOP(q, portion, 3, PORTIONS) {
            Real sum = 0;
            for (int i = 0; i < ABREAST; ++i) sum += gain[q][portion * ABREAST + i];
            gain[q][portion * ABREAST] = sum;
          }
          BARRIER();
          THREAD_LOOP(q, 3)
            for (int portion = 0; portion < PORTIONS; ++portion) sums[q] += gain[q][portion * ABREAST];
          BARRIER();
        }
      THREAD_LOOP(lone, 1) put_moves(first + h, one.grid, sums, mask, offset_diff, mask_diff, gamma, g);
      BARRIER();
    }
    BARRIER();
  }
}
