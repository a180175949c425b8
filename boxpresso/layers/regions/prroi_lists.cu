// prroi_lists.cu: the gradients of PrROIPooling for a GPU, from lists: each pixel's bins are found once for all channels.
//
// For each pixel of each tile the bins are listed that have it, with their weight there and the place of their gradient, in the order
// of regions and bins: a launch counts them, a second one puts them, and packs the gradients besides. listed_both.cu walks them. Its
// products stand in a table for each region: a line for each bin of y and row in it, a number there for each bin of x and column. So a
// third one makes the sums for the regions' gradient.
#include "both_lists.h"
#include "listed_pack.h"
#include "prroi.h"

constexpr int LISTED = 32;                // regions that are listed together
constexpr int LINES = 2 * TILE_SIDE;      // rows, then columns, of a tile
constexpr int SIDE = 512;                 // lines and columns of a table, of which a block keeps what the products are to be multiplied by
constexpr int THREADS = 256;              // that take columns of a table, or parts of them

// Of each region the bins of an axis that have each row and each column of a tile: `first` to end - 1.
struct Lists {
  int first[LISTED][LINES], end[LISTED][LINES];
};

// The table of a region's products: its first number is `first`, or -1 if there is no room for it. Of bin ph the rows, counted from the
// map's first, have lines from y[ph] on, and of bin pw the columns stand x[pw] behind their number.
struct Table {
  int first, lines, columns;
  const int *y, *x;
};

constexpr int TABLE_HEAD = 3;             // ints before y and x
constexpr int LARGEST = REFUSED / FLAGS;  // a table of so many numbers, or more, has no room

DEVICE int table_ints(const Geometry& g) { return TABLE_HEAD + g.pooled_height + g.pooled_width; }

DEVICE Table table_of(const int* tables, int k, int most, const Geometry& g) {
  const int* own = tables + (long long)k * table_ints(g);
  const bool room = own[0] >= 0 && own[0] + (long long)own[1] * own[2] <= most;
  return {room ? own[0] : -1, own[1], own[2], own + TABLE_HEAD, own + TABLE_HEAD + g.pooled_height};
}

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

// Takes the regions of a tile in order, some at once: counts their entries where `entries` is null, or else puts them, and where their
// products are to stand in a table of `most`; tables: see prroi_count().
DEVICE void list_tile(const Tile& tile, const int* bins, const Real* weights, const int* tables, Entry* entries, int* slots, int most,
                      const Geometry& g, Lines<32>& l, Lists& lists) {
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
        if (first >= end || left >= right) continue;
        const int k = tile.list[j + i], row = tile.top + line, x = tile.left + column - TILE_SIDE;
        const Real *down = weights_of(weights, k, g) + row, *across = down - row + pooled_height * g.height + x;
        const Table table = table_of(tables, k, most, g);
        for (int ph = first; ph < end; ++ph) {
          const Real weight = down[ph * g.height];
          const int place = (k * pooled_height + ph) * pooled_width, start = table.first + (table.y[ph] + row) * table.columns + x;
          for (int pw = left; pw < right; ++pw, ++count) {
            entries[count] = {weight * across[pw * g.width], (place + pw) * each};
            if (slots) slots[count] = table.first < 0 ? -1 : start + table.x[pw];
          }
        }
      }
      l.count[pixel] = count;
    }
    BARRIER();
  }
}

// The tables of all regions, one behind the other: tables (K, table_ints). A thread takes a region.
DEVICE void make_tables(const int* bins, int* tables, int* scratch, const Geometry& g) {
  const auto numbers = [&](int k) {  // of a region, as many as there is room for at most
    const int* own = tables + (long long)k * table_ints(g);
    return min((long long)own[1] * own[2], (long long)LARGEST);
  };
  const auto size = [&](int k) {
    int* own = tables + (long long)k * table_ints(g);
    const int* from = bins + k * pooled_of(g).columns();
    for (int axis = 0; axis < 2; ++axis) {
      const int count = axis ? g.pooled_width : g.pooled_height;
      int sum = 0, *to = own + TABLE_HEAD + (axis ? g.pooled_height : 0);
      for (int p = 0; p < count; ++p) {
        to[p] = sum - from[p];
        sum += max(from[count + p] - from[p], 0);
      }
      own[1 + axis] = sum;
      from += 2 * count;
    }
    return int(numbers(k));
  };
  long long before = 0;  // the sums of FLAGS regions fit into an int
  for (int first = 0; first < g.regions && !STOPPED(); first += FLAGS) {
    const int sum = sums_before(scratch, min(FLAGS, g.regions - first), [&](int i) { return size(first + i); }, [&](int i, int start, int) {
      const bool room = before + start < REFUSED && numbers(first + i) < LARGEST;
      tables[(long long)(first + i) * table_ints(g)] = room ? int(before + start) : -1;
    });
    before += sum;
  }
}

// How many entries each tile has: see both_lists.h. A block for each tile of each image, and one behind them for the tables.
KERNEL prroi_count(int n, const int* lists, const int* bins, int* heads, int* totals, int* tables, Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lines<32> lines;
    SHARED Lists found;
    if (b == n - 1) {
      make_tables(bins, tables, lines.scratch, g);
    } else {
      const Tile tile = tile_of(b, lists, tiles_of(lists), g.height, g.width);
      begin_lines(lines);
      list_tile(tile, bins, nullptr, nullptr, nullptr, nullptr, 0, g, lines, found);
      total_lines(lines, heads + (long long)b * LIST_HEAD, totals + b);
    }
    BARRIER();
  }
}

// The Geometry of region.h, and how many entries there is room for.
struct PrepareGeometry {
  int regions, batch, channels, height, width, pooled_height, pooled_width, most;
  Real scale;
};

DEVICE Geometry geometry_of(const PrepareGeometry& p) {
  return {p.regions, p.batch, p.channels, p.height, p.width, p.pooled_height, p.pooled_width, p.scale};
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region. slots: of the products, or null.
KERNEL prroi_prepare(int n, const Store* top_diff, const int* lists, const int* bins, const Real* weights, const int* tables,
                     Real* packed, int* heads, const int* totals, Real* entries, int* slots, PrepareGeometry prepare) {
  const Geometry g = geometry_of(prepare);
  const int most = prepare.most;
  BLOCK_LOOP(b, n) {
    SHARED union {
      struct {
        Lines<32> lines;
        Lists found;
      } listing;
      Real square[PACKED_SQUARE];
    } work;
    SHARED long long part[ROOM_PARTS];
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across;
    const Turns turns = turns_of(b, count, g.regions, g.channels, -1);
    if (turns.lists) {
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      if (place_lines(work.listing.lines, heads + (long long)turns.number * LIST_HEAD, totals, turns.number, count, most, part))
        list_tile(tile, bins, weights, tables, (Entry*)entries, slots, most, g, work.listing.lines, work.listing.found);
    } else {
      pack(top_diff, packed, turns.number, turns.channel, g.channels, pooled_of(g).cells(), work.square,
           [](const Square& square, int c, int i) { return at(square, c, i); });
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

// What a line, or a column, of a table is multiplied by: the weight of its row in its bin, and the changes as the bin's edges move.
struct Factors {
  Real weight, sum, shared;
};

// Those of an axis, of which bin p has the pixels begin[p] to begin[count + p] - 1, in order of bins and pixels. weights: (count, size).
DEVICE void make_factors(Factors* to, int lines, const int* begin, const int* table, int count, const Real* weights, int size,
                         const int* below, const Real* part) {
  THREAD_LOOP(i, lines) {
    int p = 0;
    while (p + 1 < count && table[p + 1] + begin[p + 1] <= i) ++p;
    const int pixel = i - table[p];
    const Change change = change_of(edge_of(below, part, p, count), edge_of(below, part, p + 1, count), pixel);
    to[i] = {weights[(long long)p * size + pixel], change.sum, change.shared};
  }
}

// slopes: (K, MOVES), of prroi.h; left_out: of each region, whether it has a tile without lists or no table. A block owns a region.
KERNEL prroi_moves_listed(int n, const int* image, const int* bins, const Real* weights, const int* below, const int* tables,
                          const int* heads, const Real* products, int* left_out, Real* slopes, PrepareGeometry prepare) {
  const Geometry g = geometry_of(prepare);
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, groups = product_groups(g.channels);
  const int tiles_down = (g.height + TILE_SIDE - 1) / TILE_SIDE, tiles_across = (g.width + TILE_SIDE - 1) / TILE_SIDE;
  BLOCK_LOOP(k, n) {
    SHARED Factors down[SIDE], across[SIDE];
    SHARED Real sums[MOVES][THREADS];
    SHARED int left;
    const int *y = bins + k * pooled_of(g).columns(), *x = y + 2 * pooled_height, of = max(image[k], 0);
    const Table table = table_of(tables, k, prepare.most, g);
    const int first_row = y[0] / TILE_SIDE, first_column = x[0] / TILE_SIDE;
    const bool some = table.lines > 0 && table.columns > 0;
    const int rows = some ? (y[2 * pooled_height - 1] - 1) / TILE_SIDE - first_row + 1 : 0;
    const int columns = some ? (x[2 * pooled_width - 1] - 1) / TILE_SIDE - first_column + 1 : 0;
    THREAD_LOOP(one, 1) left = some && (table.first < 0 || table.lines > SIDE || table.columns > SIDE);
    BARRIER();
    TILE_LOOP(row, column, rows, columns) {
      const int tile = (of * tiles_down + first_row + row) * tiles_across + first_column + column;
      if (!has_lists(heads + (long long)tile * LIST_HEAD)) raise_to(&left, 1);
    }
    BARRIER();
    const bool leave = left != 0;
    THREAD_LOOP(one, 1) left_out[k] = leave;
    const int *below_y = below + k * (pooled_height + pooled_width + 2), *below_x = below_y + pooled_height + 1;
    const Real *weights_y = weights_of(weights, k, g), *weights_x = weights_y + pooled_height * g.height;
    const Real *part_y = weights_x + pooled_width * g.width, *part_x = part_y + pooled_height + 1;
    if (!leave) {
      make_factors(down, table.lines, y, table.y, pooled_height, weights_y, g.height, below_y, part_y);
      make_factors(across, table.columns, x, table.x, pooled_width, weights_x, g.width, below_x, part_x);
      BARRIER();
      THREAD_LOOP(t, THREADS) {
        Real sum[MOVES] = {};
        for (int group = 0; group < groups; ++group) {
          const Real* own = products + (long long)group * prepare.most + table.first;
          for (int i = t; i < table.lines * table.columns; i += THREADS) {
            const int line = i / table.columns;
            const Factors &row = down[line], &column = across[i - line * table.columns];
            const Real product = own[i], in_row = row.weight * product, in_column = column.weight * product;
            sum[0] += column.sum * in_row;
            sum[1] += column.shared * in_row;
            sum[2] += row.sum * in_column;
            sum[3] += row.shared * in_column;
            sum[4] += row.weight * in_column;
          }
        }
        for (int q = 0; q < MOVES; ++q) sums[q][t] = sum[q];
      }
      BARRIER();
      for (int half = THREADS / 2; half > 0; half /= 2) {
        TILE_LOOP(q, i, MOVES, half) sums[q][i] += sums[q][i + half];
        BARRIER();
      }
      THREAD_LOOP(q, MOVES) slopes[(long long)k * MOVES + q] = sums[q][0];
    }
    BARRIER();
  }
}
