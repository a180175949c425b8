// align_rotated_lists.cu: the gradient of the maps of align_rotated.cu, for a GPU: samples are found once for all channels.
//
// A launch lists, for each pixel of each tile, the samples that have it: a weight and the place of the sample's gradient, in the order of
// regions and of their samples. It brings the gradients into rows of all channels of a bin besides. listed_add.cu adds them up.
// A tile whose lists outgrow their room is left to align_rotated_tiles.cu.
#include "line_lists.h"
#include "listed_pack.h"
#include "orientations.h"
#include "rotated_near.h"

// What a block needs to list the samples of a tile.
struct Listing {
  Near near[NEAR];
  long long before[NEAR + 1];
  Found found;
  Lines<SAMPLES> lines;
};

// The rows, or the columns, of the tile that a sample found at `where` has pixels in; `two`: whether there is a second one.
DEVICE unsigned short cover_of(int where, int line, int two) {
  return where < 0 ? 0 : (unsigned short)(unsigned(2 * two + 1) << line >> 1);
}

// The entry that sample i of those found makes for the pixel of the tile at (line, column).
DEVICE Entry entry_of(const Listing& l, int i, int line, int column, int bins, int places) {
  const int where = l.found.where[i];
  const Real down = row_of(where) == line + 1 ? 1 - l.found.down[i] : l.found.down[i];
  const Real across = column_of(where) == column + 1 ? 1 - l.found.across[i] : l.found.across[i];
  return {down * across, (l.near[region_of(where)].k * bins + l.found.bin[i]) * places};
}

// The lists of a tile: see listed.h. Its samples are found twice, to count and to put them.
DEVICE void list_tile(const Tile& tile, const Real* rows, int* head, Entry* entries, int most, int clockwise,
                      const GridGeometry& g, Listing& l) {
  const int bins = g.pooled_height * g.pooled_width, places = padded_channels(g.channels) / PLACE;
  begin_lines(l.lines);
  for (int pass = 0; pass < 2; ++pass) {
    for (int base = 0; base < tile.count && !STOPPED(); base += NEAR) {
      const int some = take_near(rows, tile, base, clockwise, g, l.near, l.before);
      for (long long first = 0; first < l.before[some] && !STOPPED(); first += SAMPLES) {
        const int count = int(min((long long)SAMPLES, l.before[some] - first));
        THREAD_LOOP(i, SAMPLES) {
          if (i < count) find(first + i, l.near, l.before, some, tile, g, l.found, i);
          const int where = i < count ? l.found.where[i] : -1;
          l.lines.covers[0][i] = cover_of(where, row_of(where), where >> 1 & 1);
          l.lines.covers[1][i] = cover_of(where, column_of(where), where & 1);
        }
        BARRIER();
        mark_lines(l.lines);
        take_entries(l.lines, most, pass == 0 ? nullptr : entries,
                     [&](int i, int line, int column) { return entry_of(l, i, line, column, bins, places); });
      }
    }
    if (pass == 0 && !start_lines(l.lines, head, most)) break;
  }
}

// What a block needs to pack the gradients of PACKED_CHANNELS channels of a region.
struct Packing {
  Real square[PACKED_SQUARE];
  Mixed mixed[PACKED_CHANNELS];  // the channels of the square that each is mixed from
};

// The gradients of a region packed, divided by its samples; with orientations, which PACKED_CHANNELS is a multiple of, as the
// region's angle mixes them.
DEVICE void pack_region(const Store* top_diff, const Real* region, Real* packed, int k, int channel, int orientations,
                        const GridGeometry& g, Packing& p) {
  const int count = min(PACKED_CHANNELS, g.channels - channel);
  const Grid grid = grid_around(region, g);
  const Real samples = Real(grid.rows) * Real(grid.columns), inverse = 1 / samples;
  const bool exact = ((long long)grid.rows * grid.columns & ((long long)grid.rows * grid.columns - 1)) == 0;  // a power of 2
  if (samples == 0 || image_of(region, 6, g.batch) < 0) return;  // no list names it
  const Turn turn = orientations > 0 ? turn_of(region[5], orientations) : Turn{0, Real(0)};
  if (orientations > 0) THREAD_LOOP(c, count) {
    const int o = c % orientations;
    const Mixed mixed = mixed_of(turn, o, orientations, true);
    p.mixed[c] = Mixed{c - o + mixed.lower, c - o + mixed.upper};
  }
  pack(top_diff, packed, k, channel, g.channels, g.pooled_height * g.pooled_width, p.square, [&](int c, int i) {
    Real value = p.square[c * PACKED_ROW + i];
    if (orientations > 0 && c < count) {
      const Mixed mixed = p.mixed[c];
      value = mix(turn, p.square[mixed.lower * PACKED_ROW + i], p.square[mixed.upper * PACKED_ROW + i]);
    }
    return exact ? value * inverse : value / samples;  // the same number, and faster
  });
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region: one after the other, for as long as there are both,
// so that a multiprocessor has some that wait for memory and some that wait for arithmetic. heads and room: see listed.h;
// orientations: 0, or how many channels the region's angle mixes.
KERNEL align_rotated_prepare(int n, const Store* top_diff, const Real* rows, const int* lists, Real* packed, int* heads,
                             Real* room, int most, int orientations, int clockwise, GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Listing listing;
    SHARED Packing packing;
    const Tiles tiles = tiles_of(lists);
    const Turns turns = turns_of(b, g.batch * tiles.down * tiles.across, g.regions, g.channels);
    if (turns.lists) {
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      list_tile(tile, rows, heads + (long long)turns.number * LIST_HEAD, entries_of(room, turns.number, most), most, clockwise, g,
                listing);
    } else {
      const int k = turns.number;
      pack_region(top_diff, rows + 6 * (long long)k, packed, k, turns.channel, orientations, g, packing);
    }
    BARRIER();
  }
}
