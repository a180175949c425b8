// separable_tiles.cu: separable.cu for a GPU: averages from packed slabs, by region and some slabs, and the gradient of the maps: what a
// pixel gets is found once for all channels.
//
// A launch lists, for each pixel of each tile, the bins that have it: what they weigh there, a product of weights of the lists by pixel
// of separable.h, and the place of the bin's gradient, in the order of regions and bins. It brings the gradients into rows of all
// channels of a bin besides. listed_add.cu adds them up. A tile whose lists outgrow their room gets what they would name at once (unlisted.h).
#include "both_lists.h"
#include "listed_pack.h"
#include "separable.h"
#include "unlisted.h"

// What lists are made for besides: the products of listed_both.cu stand in a table for each region, a number for each entry of its y and of
// its x by pixel. So separable_moves_listed() makes the sums for the regions' gradient of them.

constexpr int BINS = sizeof(Real) > 4 ? 32 : 64;  // of a region, whose averages a block keeps before it stores them plane by plane, in
constexpr int TOGETHER = 4;                       // slabs
constexpr int TAPS = 512;                         // entries of an axis that a block keeps

// An entry of an axis: a weight, and which pixel it has; of y the first of its row.
struct alignas(2 * sizeof(Real)) Tap {
  Real weight;
  int pixel;
};

// A pixel of a slab. Its number is an address by one instruction, as it has no sign.
struct Pixel {
  Real of[SLAB];
};

// The sum of the pixels that entries begin_y to end_y - 1 and begin_x to end_x - 1 name, with their weights; share: of the slab.
template <int UNROLLED, class Down, class Across>
DEVICE Wide weighed(const Real* share, int begin_y, int end_y, int begin_x, int end_x, Down down, Across across) {
  Wide sum = {};
  for (int e = begin_y; e < end_y; ++e) {
    const Tap y = down(e);
    const Pixel* row = (const Pixel*)share + unsigned(y.pixel);
    Wide line = {};
#pragma unroll UNROLLED
    for (int f = begin_x; f < end_x; ++f) {
      const Tap x = across(f);
      line += x.weight * *(const Wide*)(row + unsigned(x.pixel));
    }
    sum += y.weight * line;
  }
  return sum;
}

// A block owns a region in TOGETHER slabs; slabs: (B * slabs_of(C), area, SLAB), top: (K, C, pooled_height, pooled_width).
KERNEL separable_forward_packed(int n, const Real* slabs, const int* head, const Real* inverse, const int* index,
                                const Real* weight, Store* top, ListGeometry g) {
  const int channels = g.channels, count = slabs_of(channels), width = g.width, pooled_width = g.pooled_width;
  const int bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Wide averages[TOGETHER * stage_of(BINS)];
    SHARED Tap taps[2][TAPS];
    const int first_slab = b / g.regions * TOGETHER, k = b % g.regions;  // what lies in no image has empty lists and becomes 0
    const int slabs_here = min(TOGETHER, count - first_slab), channels_here = min(SLAB * TOGETHER, channels - first_slab * SLAB);
    const long long area = (long long)g.height * width;
    const Real* from = slabs + ((long long)max(head[5 * k], 0) * count + first_slab) * area * SLAB;
    const Axis y = axis_by_bin(k, 0, head, index, weight, g);
    const Axis x = axis_by_bin(k, 1, head, index, weight, g);
    const int all_y = y.start[g.pooled_height], all_x = x.start[pooled_width];
    const bool fit = max(all_y, all_x) <= TAPS;
    const auto down = [&](int e) { return Tap{y.weight[e], y.at[e] * width}; };
    const auto across = [&](int f) { return Tap{x.weight[f], x.at[f]}; };
    if (fit) THREAD_LOOP(e, all_y) taps[0][e] = down(e);
    if (fit) THREAD_LOOP(f, all_x) taps[1][f] = across(f);
    BARRIER();
    const Real factor = inverse[k];
    Store* out = top + ((long long)k * channels + first_slab * SLAB) * bins;
    for (int first = 0; first < bins; first += BINS) {
      const int some = min(BINS, bins - first);
      TILE_LOOP(i, u, some, TOGETHER * SHARES) {
        const int s = u / SHARES, share = u % SHARES;
        if (s >= slabs_here) continue;
        const int ph = (first + i) / pooled_width, pw = first + i - ph * pooled_width;
        const int begin_y = y.start[ph], end_y = y.start[ph + 1], begin_x = x.start[pw], end_x = x.start[pw + 1];
        const Real* of = from + s * area * SLAB + share * WIDE;
        const Wide sum = fit ? weighed<2>(of, begin_y, end_y, begin_x, end_x, [&](int e) { return taps[0][e]; },
                                       [&](int f) { return taps[1][f]; })
                             : weighed<1>(of, begin_y, end_y, begin_x, end_x, down, across);
        staged(averages + s * stage_of(BINS), i, share) = factor * sum;
      }
      BARRIER();
      THREAD_LOOP(t, channels_here * BINS) {
        const unsigned c = unsigned(t) / BINS, i = unsigned(t) % BINS, slab = c / SLAB;
        if (i < some) out[c * bins + first + i] = ((const Real*)averages)[(slab * BINS + i) * STAGE_ROW + c % SLAB];
      }
      BARRIER();
    }
  }
}

constexpr int CROSSED = 32;  // regions of a tile that are taken together

// What a block needs to list a tile. items: of each line of the tile, a row or a column, the entries of each region by pixel. So a pixel
// gets as many from a region as its row has times its column.
struct Crossing {
  Span items[2][TILE_SIDE][CROSSED + 1];  // a little apart, so that threads of neighbouring columns meet no bank twice
  int region[CROSSED];
  Lines<32> lines;  // its counts
};

// The lists by pixel of all regions.
struct ByPixel {
  const int *head, *index;
  const Real* weight;
  ListGeometry g;
};

// Which entries an axis of region k, 0 for y, has for a line of the map.
DEVICE Span items_of(const ByPixel& lists, int k, int axis, int line) {
  const Axis by_pixel = axis_by_pixel(k, axis, lists.head, lists.index, lists.weight, lists.g);
  const int i = line - by_pixel.first;
  return unsigned(i) < unsigned(by_pixel.length) ? Span{by_pixel.start[i], by_pixel.start[i + 1]} : Span{0, 0};
}

// An entry of an axis: a bin, and what it weighs.
struct Item {
  int bin;
  Real weight;
};

DEVICE Item item_of(const ByPixel& lists, int k, int axis, int i) {
  const Offsets to = offsets_of(k, axis, lists.g.height + 1, lists.g.width + 1, lists.g);
  return {lists.index[to.at + i], lists.weight[to.weight + i]};
}

// How many entries an axis of region k has.
DEVICE int entries_of(const ByPixel& lists, int k, int axis) {
  const Axis by_pixel = axis_by_pixel(k, axis, lists.head, lists.index, lists.weight, lists.g);
  return by_pixel.length > 0 ? by_pixel.start[by_pixel.length] : 0;
}

// The number of a bin of region k among those of all regions.
DEVICE unsigned number_of(const ListGeometry& g, int k, const Item& y, const Item& x) {
  return (k * g.pooled_height + y.bin) * g.pooled_width + x.bin;
}

// Takes the regions of a tile in order, some at once: take(some) when their entries are in `c`.
template <class Take>
DEVICE void visit_regions(const Tile& tile, const ByPixel& lists, Crossing& c, Take take) {
  for (int base = 0; base < tile.count && !STOPPED(); base += CROSSED) {
    const int some = min(CROSSED, tile.count - base);
    THREAD_LOOP(j, some) c.region[j] = tile.list[base + j];
    THREAD_LOOP(t, some * 2 * TILE_SIDE) {
      const int j = t / (2 * TILE_SIDE), axis = t / TILE_SIDE % 2, line = t % TILE_SIDE;
      const int at = (axis ? tile.left : tile.top) + line;
      const bool there = at < (axis ? tile.right : tile.bottom);
      c.items[axis][line][j] = there ? items_of(lists, tile.list[base + j], axis, at) : Span{0, 0};
    }
    BARRIER();
    take(some);
    BARRIER();
  }
}

// Counts the entries of each pixel of a tile, up to one more than `most`, where `entries` is null, or else puts them: of a region its bins
// in order. slots, or null: where the product of each entry is to stand, -1 for nowhere; tables: where those of each region begin.
DEVICE void walk_tile(const Tile& tile, Entry* entries, int most, const ByPixel& lists, int* slots, const int* tables, Crossing& c) {
  const int places = padded_channels(lists.g.channels) / PLACE;
  visit_regions(tile, lists, c, [&](int some) {
    THREAD_LOOP(pixel, TILE_PIXELS) {
      const int line = pixel / TILE_SIDE, column = pixel % TILE_SIDE;
      int count = c.lines.count[pixel];
      for (int j = 0; j < some; ++j) {
        const Span y = c.items[0][line][j], x = c.items[1][column][j];
        if (!entries) {
          count = min(count + (y.end - y.first) * (x.end - x.first), most + 1);
          continue;
        }
        for (int e = y.first; e < y.end && x.first < x.end; ++e) {
          const int k = c.region[j], table = slots ? tables[k] : -1, across = slots ? entries_of(lists, k, 1) : 0;
          const Item down = item_of(lists, k, 0, e);
          for (int f = x.first; f < x.end; ++f) {
            const Item beside = item_of(lists, k, 1, f);
            if (slots) slots[count] = table < 0 ? -1 : table + e * across + f;
            entries[count++] = Entry{down.weight * beside.weight, int(number_of(lists.g, k, down, beside) * places)};
          }
        }
      }
      c.lines.count[pixel] = count;
    }
  });
}

// The lists of a tile. first: the first of the `most` entries of `room` that the tile has.
DEVICE void list_tile(const Tile& tile, int* head, Entry* room, int first, int most, const ByPixel& lists, Crossing& c) {
  const ListGeometry& g = lists.g;
  begin_lines(c.lines);
  walk_tile(tile, nullptr, most, lists, nullptr, nullptr, c);
  if (!start_lines(c.lines, head, first, most)) return;
  walk_tile(tile, room + first, most, lists, nullptr, nullptr, c);
  end_lines(c.lines, room + first, g.regions * g.pooled_height * g.pooled_width * (padded_channels(g.channels) / PLACE));
}

// Counts the entries of each tile, for lists that have slots: these follow those of other tiles in one room (both_lists.h). Behind the
// heads of tiles stand the tables of regions, and how many entries each tile has.
KERNEL separable_count(int n, const int* lists, const int* head, const int* pixel_index, const Real* pixel_weight, int* heads,
                       ListGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Crossing crossing;
    const Tile tile = tile_of(b, lists, tiles_of(lists), g.height, g.width);
    begin_lines(crossing.lines);
    walk_tile(tile, nullptr, MOST_OF_A_PIXEL, ByPixel{head, pixel_index, pixel_weight, g}, nullptr, nullptr, crossing);
    total_lines(crossing.lines, heads + (long long)b * LIST_HEAD, heads + (long long)n * LIST_HEAD + g.regions + b);
    BARRIER();
  }
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region. heads and room: see listed.h. `most` entries have room,
// of a tile or, where there are slots, of all.
KERNEL separable_prepare(int n, const Store* top_diff, const int* lists, const int* head, const int* pixel_index,
                         const Real* pixel_weight, Real* packed, int* heads, Real* room, int* slots, int most, ListGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED union {
      Crossing crossing;
      Real square[PACKED_SQUARE];
    } work;
    SHARED long long part[ROOM_PARTS];
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across;
    const Turns turns = turns_of(b, count, g.regions, g.channels, -1);
    if (turns.lists) {
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      const ByPixel by_pixel = {head, pixel_index, pixel_weight, g};
      int *own = heads + (long long)turns.number * LIST_HEAD, *tables = heads + (long long)count * LIST_HEAD;
      if (!slots)
        list_tile(tile, own, (Entry*)room, turns.number * most, most, by_pixel, work.crossing);
      else if (place_lines(work.crossing.lines, own, tables + g.regions, turns.number, count, most, part))
        walk_tile(tile, (Entry*)room, most, by_pixel, slots, tables, work.crossing);
      if (turns.number == 0) pack_zeros(packed, g.regions * bins, g.channels);
    } else if (head[5 * turns.number] >= 0) {  // no list names a region that lies in no image
      pack(top_diff, packed, turns.number, turns.channel, g.channels, bins, work.square,
           [](const Square& square, int c, int i) { return at(square, c, i); });
    }
    BARRIER();
  }
}

// Tiles that have no lists; packed and heads: what separable_prepare() has made.
KERNEL separable_unlisted(int n, const Real* packed, const int* lists, const int* heads, const int* head, const int* pixel_index,
                          const Real* pixel_weight, Store* diff, ListGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Crossing crossing;
    const ByPixel by_pixel = {head, pixel_index, pixel_weight, g};
    const auto add_pixels = [&](const Tile& tile, int channel, const TileMap& map) {
      visit_regions(tile, by_pixel, crossing, [&](int some) {
        add_unlisted(packed, channel, g.channels, map, [&](int pixel, auto give) {
          for (int j = 0; j < some; ++j) {
            const int k = crossing.region[j];
            const Span y = crossing.items[0][pixel / TILE_SIDE][j], x = crossing.items[1][pixel % TILE_SIDE][j];
            for (int e = y.first; e < y.end && x.first < x.end; ++e) {
              const Item down = item_of(by_pixel, k, 0, e);
              for (int f = x.first; f < x.end; ++f) {
                const Item beside = item_of(by_pixel, k, 1, f);
                give(down.weight * beside.weight, number_of(g, k, down, beside));
              }
            }
          }
        });
      });
    };
    make_unlisted(b, n, lists, heads, diff, g.batch, g.channels, g.height, g.width, own, add_pixels);
  }
}

// Where the table of each region begins among `most` numbers, -1 where there is no room for it; one block.
KERNEL separable_tables(int n, const int* head, const int* pixel_index, const Real* pixel_weight, int* tables, int most, ListGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED int scratch[FLAG_ROOM];
    const ByPixel lists = {head, pixel_index, pixel_weight, g};
    const int largest = (1 << 30) / max(g.regions, 1);  // so that sums are ints
    const auto size = [&](int k) {
      return head[5 * k] < 0 ? 0 : int(min((long long)entries_of(lists, k, 0) * entries_of(lists, k, 1), largest + 1ll));
    };
    sums_before(scratch, g.regions, size,
                [&](int k, int before, int own) { tables[k] = own > largest || before > most - own ? -1 : before; });
  }
}

constexpr int SUMMED = 256;  // threads that take numbers of a table

// parts: (slabs, K, 4), as separable_moves() makes them, of regions whose tiles all have lists, and which have a table; left_out: of each
// region, whether it has not. heads: as separable_prepare() has made them; products: (groups of channels, most). A block owns a region.
KERNEL separable_moves_listed(int n, const int* lists, const int* head, const int* pixel_index, const Real* pixel_weight, const int* heads,
                              const Real* products, int most, int groups, int* left_out, Real* parts, ListGeometry g) {
  BLOCK_LOOP(k, n) {
    SHARED Real sums[4][SUMMED];
    SHARED int left;
    const ByPixel by_pixel = {head, pixel_index, pixel_weight, g};
    const Tiles tiles = tiles_of(lists);
    const int image = max(head[5 * k], 0), down = entries_of(by_pixel, k, 0), across = entries_of(by_pixel, k, 1);
    const int count = g.batch * tiles.down * tiles.across, *tables = heads + (long long)count * LIST_HEAD;
    const bool some = head[5 * k] >= 0 && down > 0 && across > 0;
    const int top = head[5 * k + 1] / TILE_SIDE, left_column = head[5 * k + 3] / TILE_SIDE;
    const int rows = some ? (head[5 * k + 1] + head[5 * k + 2] - 1) / TILE_SIDE - top + 1 : 0;
    const int columns = some ? (head[5 * k + 3] + head[5 * k + 4] - 1) / TILE_SIDE - left_column + 1 : 0;
    THREAD_LOOP(one, 1) left = some && tables[k] < 0;
    BARRIER();
    TILE_LOOP(row, column, rows, columns) {
      const int tile = (image * tiles.down + top + row) * tiles.across + left_column + column;
      if (!has_lists(heads + (long long)tile * LIST_HEAD)) raise_to(&left, 1);
    }
    BARRIER();
    const bool leave = left != 0;
    THREAD_LOOP(one, 1) left_out[k] = leave;
    if (!leave) {
      const Real *y = pixel_weight + offsets_of(k, 0, g.height + 1, g.width + 1, g).weight;
      const Real *x = pixel_weight + offsets_of(k, 1, g.height + 1, g.width + 1, g).weight;
      THREAD_LOOP(t, SUMMED) {
        Real sum[4] = {};
        for (int i = t; i < (some ? down * across : 0); i += SUMMED) {
          const int e = i / across, f = i - e * across;
          Real product = 0;
          for (int group = 0; group < groups; ++group) product += products[(long long)group * most + tables[k] + i];
          const Real in_row = y[e] * product, in_column = x[f] * product;
          sum[0] += y[e + changes_behind(g)] * in_column;
          sum[1] += y[e + 2 * changes_behind(g)] * in_column;
          sum[2] += x[f + changes_behind(g)] * in_row;
          sum[3] += x[f + 2 * changes_behind(g)] * in_row;
        }
        for (int q = 0; q < 4; ++q) sums[q][t] = sum[q];
      }
      BARRIER();
      for (int half = SUMMED / 2; half > 0; half /= 2) {
        TILE_LOOP(q, i, 4, half) sums[q][i] += sums[q][i + half];
        BARRIER();
      }
      TILE_LOOP(s, q, slabs_of(g.channels), 4) parts[4 * ((long long)s * g.regions + k) + q] = s == 0 ? sums[q][0] : Real(0);
    }
    BARRIER();
  }
}
