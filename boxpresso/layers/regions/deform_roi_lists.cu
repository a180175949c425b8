// deform_roi_lists.cu: the gradient of the maps of deform_roi.cu, for a GPU: bins are found once for all channels, and where they lie.
//
// For each pixel of each tile the bins are listed that have it: what their samples weigh there together, and the place of the bin's
// gradient, in the order of regions and bins. A launch counts these entries, a second one puts them, and brings the gradients into rows of
// all channels of a bin besides. listed_both.cu walks them. A tile whose lists have no room gets what they would name at once
// (unlisted.h).
#include "both_lists.h"
#include "deform_roi_tiles.h"
#include "listed_pack.h"
#include "unlisted.h"

constexpr int AT_A_TIME = sizeof(Real) > 4 ? 32 : 64;  // bins that are listed together

// What a block needs to list the bins of a tile. weight: of each bin, what its samples weigh in a row and in a column of the tile.
struct Listing {
  Lines<AT_A_TIME> lines;
  Real weight[2][TILE_SIDE][AT_A_TIME];
  int hit[HITS], scratch[FLAG_ROOM];
};

// What the samples of bin i of those taken, along an axis, weigh in the lines `first` to end - 1 of a map of `limit`, times `times`.
DEVICE void weigh(Listing& l, int axis, int i, Real start, Real size, int count, int limit, int first, int end, Real times) {
  unsigned cover = 0;
  for (int line = 0; line < TILE_SIDE; ++line) l.weight[axis][line][i] = 0;
  const Reach near = count > COUNTED ? part_on_map(start, size, count, first, end) : Reach{0, count};
  for (int s = near.from; s < near.to; ++s) {
    int pixel[2];
    Real upper;
    if (!neighbours(sample_at(start, size, s, count), limit, pixel, pixel + 1, &upper)) continue;
    for (int side = 0; side < 2; ++side) {
      if (pixel[side] < first || pixel[side] >= end) continue;
      l.weight[axis][pixel[side] - first][i] += (side ? upper : 1 - upper) * times;
      cover |= 1u << (pixel[side] - first);
    }
  }
  l.lines.covers[axis][i] = (unsigned short)cover;
}

// Takes the bins of a tile in order, some at once: take(numbers) when what they weigh is in `l`, with their numbers among those of all
// regions. words: its marks.
template <class Take>
DEVICE void visit_bins(const Tile& tile, const int* words, const Real* places, const Store* mask, const GridGeometry& g, Listing& l,
                       Take take) {
  const int bins = g.pooled_height * g.pooled_width, count = tile.count * words_of(bins);
  for (int first = 0; first < count && !STOPPED(); first += WORDS) {
    const int hits = hits_of(tile, words, first, min(WORDS, count - first), bins, l.scratch, l.hit);
    for (int h = 0; h < hits && !STOPPED(); h += AT_A_TIME) {
      const int some = min(AT_A_TIME, hits - h);
      THREAD_LOOP(t, 2 * AT_A_TIME) {
        const int i = t % AT_A_TIME, axis = t / AT_A_TIME;
        if (i >= some) {
          l.lines.covers[axis][i] = 0;
          continue;
        }
        const Grid grid = grid_at(place_at(places, l.hit[h + i]), g);
        if (axis) {
          weigh(l, 1, i, grid.x, grid.bin_width, grid.columns, g.width, tile.left, tile.right, Real(1));
        } else {
          const Real times = (mask ? Real(mask[l.hit[h + i]]) : Real(1)) / (Real(grid.rows) * Real(grid.columns));
          weigh(l, 0, i, grid.y, grid.bin_height, grid.rows, g.height, tile.top, tile.bottom, times);
        }
      }
      BARRIER();
      mark_lines(l.lines);
      take(l.hit + h);
    }
  }
}

// Counts the entries of a tile where `entries` is null, or else puts them.
DEVICE void list_tile(const Tile& tile, const int* words, const Real* places, const Store* mask, Entry* entries, const GridGeometry& g,
                      Listing& l) {
  const int each = padded_channels(g.channels) / PLACE;
  visit_bins(tile, words, places, mask, g, l, [&](const int* numbers) {
    take_entries(l.lines, MOST_OF_A_PIXEL, entries, [&](int i, int line, int column) {
      return Entry{l.weight[0][line][i] * l.weight[1][column][i], numbers[i] * each};
    });
  });
}

// Where each bin lies, and where the bins of a region may have pixels, for the lists of tiles.h. A block owns a region.
KERNEL deform_roi_boxes(int n, const Store* regions, const Store* offset, int* boxes, Real* places, Real gamma, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(k, n) {
    SHARED int edge[4];  // of y, then of x: the first pixel, with its sign turned, and the end
    const int image = image_of(regions + 5 * (long long)k, 5, g.batch);
    const Whole whole = region_of(regions, k, g);
    const bool sampled = image >= 0 && whole.grid.rows * whole.grid.columns > 0;
    THREAD_LOOP(e, 4) edge[e] = e == 0 ? -g.height : e == 2 ? -g.width : 0;
    BARRIER();
    THREAD_LOOP(bin, bins) {
      const Grid grid = bin_of(whole, offset, k, bin, g, gamma);
      const BinPlace place = {sampled ? grid.y : Real(NAN), grid.x, grid.bin_height, grid.bin_width};
      ((BinPlace*)places)[(long long)k * bins + bin] = place;
      const Spans spans = spans_of(place, g);
      if (spans.y.first >= spans.y.end) continue;
      raise_to(edge, -spans.y.first);
      raise_to(edge + 1, spans.y.end);
      raise_to(edge + 2, -spans.x.first);
      raise_to(edge + 3, spans.x.end);
    }
    BARRIER();
    THREAD_LOOP(e, 5) boxes[5 * k + e] = e == 0 ? image : e % 2 ? -edge[e - 1] : max(edge[e - 1] + edge[e - 2], 0);
    BARRIER();
  }
}

// The marks of deform_roi_tiles.h, and how many entries each tile has: see both_lists.h. A block for each tile of each image.
KERNEL deform_roi_count(int n, const int* lists, const Real* places, int* marks, int* heads, int* totals, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width, each = words_of(bins);
  const Tiles tiles = tiles_of(lists);
  BLOCK_LOOP(b, n) {
    SHARED Listing listing;
    SHARED int word[WORDS];
    const Tile tile = tile_of(b, lists, tiles, g.height, g.width);
    int* to = marks + (long long)b * tiles.most * each;
    mark_bins(b, lists, marks, bins, g.height, g.width, word,
              [&](int k, int bin, const Tile& tile) { return touches(place_at(places, k * bins + bin), tile, g); });
    begin_lines(listing.lines);
    list_tile(tile, to, places, nullptr, nullptr, g, listing);
    total_lines(listing.lines, heads + (long long)b * LIST_HEAD, totals + b);
    BARRIER();
  }
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region. mask may be null; entries: room for `most`.
KERNEL deform_roi_prepare(int n, const Store* top_diff, const int* lists, const int* marks, const Real* places, const Store* mask,
                          Real* packed, int* heads, const int* totals, Real* entries, int most, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED union {
      Listing listing;
      Real square[PACKED_SQUARE];
    } work;
    SHARED long long part[ROOM_PARTS];
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across;
    const Turns turns = turns_of(b, count, g.regions, g.channels, -1);
    if (turns.lists) {
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      if (place_lines(work.listing.lines, heads + (long long)turns.number * LIST_HEAD, totals, turns.number, count, most, part))
        list_tile(tile, marks_of(marks, tile, tiles, bins), places, mask, (Entry*)entries, g, work.listing);
    } else {
      pack(top_diff, packed, turns.number, turns.channel, g.channels, bins, work.square,
           [](const Square& square, int c, int i) { return at(square, c, i); });
    }
    BARRIER();
  }
}

// Tiles that have no lists; packed and heads: what deform_roi_prepare() has made.
KERNEL deform_roi_unlisted(int n, const Real* packed, const int* lists, const int* marks, const Real* places, const int* heads,
                           const Store* mask, Store* diff, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Listing l;
    const auto add_bins = [&](const Tile& tile, int channel, const TileMap& map) {
      visit_bins(tile, marks_of(marks, tile, tiles_of(lists), bins), places, mask, g, l, [&](const int* numbers) {
        add_unlisted(packed, channel, g.channels, map, [&](int pixel, auto give) {
          const int line = pixel / TILE_SIDE, column = pixel % TILE_SIDE;
          visit_items(l.lines, line, column, [&](int i) { give(l.weight[0][line][i] * l.weight[1][column][i], numbers[i]); });
        });
      });
    };
    make_unlisted(b, n, lists, heads, diff, g.batch, g.channels, g.height, g.width, own, add_bins);
  }
}
