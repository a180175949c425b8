// prroi_lists.cu: the gradients of PrROIPooling for a GPU, from lists: each pixel's bins are found once for all channels.
//
// For each pixel of each tile the bins are listed that have it, with their weight there and the place of their gradient, in the order
// of regions and bins: a launch counts them, a second one puts them, and packs the gradients besides. listed_both.cu walks them. From its
// products a third one makes the sums for the regions' gradient.
#include "both_lists.h"
#include "listed_pack.h"
#include "prroi.h"

constexpr int LISTED = 32;                // regions that are listed together
constexpr int LINES = 2 * TILE_SIDE;      // rows, then columns, of a tile
constexpr int SUMS = 256;                 // threads whose sums are kept apart, and
constexpr int SUMMED_AT_ONCE = 16;        // of them, that are added up at once

// Of each region the bins of an axis that have each row and each column of a tile: `first` to end - 1.
struct Lists {
  int first[LISTED][LINES], end[LISTED][LINES];
};

// How many of the ascending numbers at[0] to at[count - 1] are `most` at most.
DEVICE int up_to(const int* at, int count, int most) {
  int low = 0;
  while (low < count) {
    const int middle = (low + count) / 2;
    if (at[middle] <= most)
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

// Takes the regions of a tile in order, some at once: counts their entries where `entries` is null, or else puts them.
DEVICE void list_tile(const Tile& tile, const int* bins, const Real* weights, Entry* entries, const Geometry& g, Lines<32>& l,
                      Lists& lists) {
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, each = padded_channels(g.channels) / PLACE;
  for (int j = 0; j < tile.count && !STOPPED(); j += LISTED) {
    const int some = min(LISTED, tile.count - j);
    TILE_LOOP(i, line, some, LINES) {
      const bool axis = line >= TILE_SIDE;
      const int* begin = bins + tile.list[j + i] * pooled_of(g).columns() + (axis ? 2 * pooled_height : 0);
      const int count = axis ? pooled_width : pooled_height, at = axis ? tile.left + line - TILE_SIDE : tile.top + line;
      lists.first[i][line] = up_to(begin + count, count, at);
      lists.end[i][line] = up_to(begin, count, at);
    }
    BARRIER();
    THREAD_LOOP(pixel, TILE_PIXELS) {
      const int line = pixel / TILE_SIDE, column = TILE_SIDE + pixel % TILE_SIDE;
      const bool on = tile.top + line < tile.bottom && tile.left + column - TILE_SIDE < tile.right;
      int count = l.count[pixel];
      for (int i = 0; i < some && on; ++i) {
        const int first = lists.first[i][line], end = lists.end[i][line], left = lists.first[i][column], right = lists.end[i][column];
        if (!entries) {
          const long long found = (long long)max(end - first, 0) * max(right - left, 0);
          count = int(min(count + found, (long long)MOST_OF_A_PIXEL + 1));
          continue;
        }
        const int k = tile.list[j + i];
        const Real *down = weights_of(weights, k, g) + tile.top + line;
        const Real *across = down - tile.top - line + pooled_height * g.height + tile.left + column - TILE_SIDE;
        for (int ph = first; ph < end; ++ph) {
          const Real weight = down[ph * g.height];
          const int row = (k * pooled_height + ph) * pooled_width;
          for (int pw = left; pw < right; ++pw) entries[count++] = {weight * across[pw * g.width], (row + pw) * each};
        }
      }
      l.count[pixel] = count;
    }
    BARRIER();
  }
}

// How many entries each tile has: see both_lists.h. A block for each tile of each image.
KERNEL prroi_count(int n, const int* lists, const int* bins, int* heads, int* totals, Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lines<32> lines;
    SHARED Lists found;
    const Tile tile = tile_of(b, lists, tiles_of(lists), g.height, g.width);
    begin_lines(lines);
    list_tile(tile, bins, nullptr, nullptr, g, lines, found);
    total_lines(lines, heads + (long long)b * LIST_HEAD, totals + b);
    BARRIER();
  }
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region. entries: room for `most`.
KERNEL prroi_prepare(int n, const Store* top_diff, const int* lists, const int* bins, const Real* weights, Real* packed, int* heads,
                     const int* totals, Real* entries, int most, Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lines<32> lines;
    SHARED Lists found;
    SHARED Real square[PACKED_SQUARE];
    SHARED long long part[ROOM_PARTS];
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across;
    const Turns turns = turns_of(b, count, g.regions, g.channels);
    if (turns.lists) {
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      if (place_lines(lines, heads + (long long)turns.number * LIST_HEAD, totals, turns.number, count, most, part))
        list_tile(tile, bins, weights, (Entry*)entries, g, lines, found);
    } else {
      pack(top_diff, packed, turns.number, turns.channel, g.channels, pooled_of(g).cells(), square,
           [&](int c, int i) { return square[c * PACKED_ROW + i]; });
    }
    BARRIER();
  }
}

// An edge of a bin: the pixel before it, how far behind that it lies, and its number as a part of the bins.
struct Edge {
  int below;
  Real part, share;
};

DEVICE Edge edge_of(const int* below, const Real* part, int e, int count) { return {below[e], part[e], Real(e) / count}; }

// The weight of a pixel in the surface at an edge.
DEVICE Real nearness(const Edge& edge, int pixel) {
  return pixel == edge.below ? 1 - edge.part : pixel == edge.below + 1 ? edge.part : Real(0);
}

// How a bin's average changes with its two edges of an axis: by their sum, and by that of each times its share.
struct Change {
  Real sum, shared;
};

DEVICE Change change_of(const Edge& low, const Edge& high, int pixel) {
  const Real before = nearness(low, pixel), behind = nearness(high, pixel);
  return {behind - before, high.share * behind - low.share * before};
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

// slopes: (K, pooled_height, MOVES), of prroi.h, what the bins of a row of a region give whose tiles all have lists. A block owns a row;
// entries, products: see listed_both.cu.
KERNEL prroi_moves_listed(int n, const int* image, const int* bins, const Real* weights, const int* below, const int* heads,
                          const Real* entries, const Real* products, int most, Real* slopes, Geometry g) {
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, each = padded_channels(g.channels) / PLACE;
  const int tiles_down = (g.height + TILE_SIDE - 1) / TILE_SIDE, tiles_across = (g.width + TILE_SIDE - 1) / TILE_SIDE;
  const int groups = product_groups(g.channels);
  BLOCK_LOOP(b, n) {
    SHARED Real sums[MOVES][SUMS];
    const int k = b / pooled_height, ph = b - k * pooled_height, of = max(image[k], 0);
    const int *y = bins + k * pooled_of(g).columns(), *x = y + 2 * pooled_height;
    if (!listed(y, heads, of, g)) continue;
    const int *below_y = below + k * (pooled_height + pooled_width + 2), *below_x = below_y + pooled_height + 1;
    const Real *down = weights_of(weights, k, g), *across = down + pooled_height * g.height;
    const Real *part_y = across + pooled_width * g.width, *part_x = part_y + pooled_height + 1;
    const int top = y[ph], bottom = y[pooled_height + ph], left = x[0], right = max(x[2 * pooled_width - 1], left);
    const Edge low = edge_of(below_y, part_y, ph, pooled_height), high = edge_of(below_y, part_y, ph + 1, pooled_height);
    THREAD_LOOP(t, SUMS) {
      Real sum[MOVES] = {};
      for (int i = t; i < (bottom - top) * (right - left); i += SUMS) {
        const int line = i / (right - left), row = top + line, column = left + i - line * (right - left);
        const int tile = (of * tiles_down + row / TILE_SIDE) * tiles_across + column / TILE_SIDE;
        const int* head = heads + (long long)tile * LIST_HEAD + row % TILE_SIDE * TILE_SIDE + column % TILE_SIDE;
        const int first = up_to(x + pooled_width, pooled_width, column);
        int at = entry_at((const Entry*)entries, head[0], head[1], ((k * pooled_height + ph) * pooled_width + first) * each);
        const Real weight = down[ph * g.height + row];
        const Change along_y = change_of(low, high, row);
        for (int pw = first; pw < pooled_width && x[pw] <= column; ++pw, ++at) {
          Real product = 0;
          for (int group = 0; group < groups; ++group) product += products[(long long)group * most + at];
          const Change along_x = change_of(edge_of(below_x, part_x, pw, pooled_width), edge_of(below_x, part_x, pw + 1, pooled_width), column);
          const Real in_column = across[pw * g.width + column] * product, in_row = weight * product;
          sum[0] += along_x.sum * in_row;
          sum[1] += along_x.shared * in_row;
          sum[2] += along_y.sum * in_column;
          sum[3] += along_y.shared * in_column;
          sum[4] += weight * in_column;
        }
      }
      for (int q = 0; q < MOVES; ++q) sums[q][t] = sum[q];
    }
    BARRIER();
    TILE_LOOP(q, part, MOVES, SUMS / SUMMED_AT_ONCE) {
      Real sum = 0;
      for (int i = 0; i < SUMMED_AT_ONCE; ++i) sum += sums[q][part + i * (SUMS / SUMMED_AT_ONCE)];
      sums[q][part] = sum;
    }
    BARRIER();
    THREAD_LOOP(q, MOVES) {
      Real sum = 0;
      for (int part = 0; part < SUMS / SUMMED_AT_ONCE; ++part) sum += sums[q][part];
      slopes[(long long)b * MOVES + q] = sum;
    }
    BARRIER();
  }
}
