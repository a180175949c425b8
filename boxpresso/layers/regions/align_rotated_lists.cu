// align_rotated_lists.cu: the gradient of the maps of align_rotated.cu, for a GPU: samples are found once for all channels.
//
// A launch lists, for each pixel of each tile, the bins that have it: what their samples weigh there together, and the place of the
// bin's gradient, in the order of regions and bins. It brings the gradients into rows of all channels of a bin besides.
// listed_add.cu adds them up. A tile whose lists outgrow their room is left to align_rotated_tiles.cu.
#include "bits.h"
#include "listed_pack.h"
#include "orientations.h"
#include "rotated_near.h"

// Samples that are listed together: `corner` is the pixel above and left, row * 256 + column, 1 more than in the tile, and a sample
// weighs down[0] or down[1] in its two rows times across[0] or across[1] in its two columns.
struct Taken {
  int corner[SAMPLES], place[SAMPLES];
  Real down[2][SAMPLES], across[2][SAMPLES];
};

// What a block needs to list the samples of a tile. marks: which of those taken have a pixel, a bit each; count: the entries of a pixel,
// weight and last: what the last of them is until now.
struct Listing {
  Nearby nearby;
  Taken taken;
  int marks[SAMPLES / 32][TILE_PIXELS];
  int count[TILE_PIXELS], last[TILE_PIXELS], scratch[FLAG_ROOM];
  Real weight[TILE_PIXELS];
};

// Sample i of those taken, which marks the pixels of the tile that it has: no two threads set the same bit.
DEVICE void take(Listing& l, int i, const NearSample& near, const Tile& tile, int bins, int places) {
  const Sample& s = near.sample;
  const Near& of = l.nearby.near[near.region];
  const int row = s.top - tile.top, column = s.left - tile.left;
  if (!touches(s, row + 1, column + 1, tile)) return;
  l.taken.corner[i] = (row + 1) * 256 + column + 1;
  l.taken.place[i] = (of.k * bins + near.bin) * places;
  l.taken.down[0][i] = (1 - s.down) * of.share;
  l.taken.down[1][i] = s.down * of.share;
  l.taken.across[0][i] = 1 - s.across;
  l.taken.across[1][i] = s.across;
  const bool above = row >= 0, below = s.below > 0 && s.top + 1 < tile.bottom;
  const bool left = column >= 0, right = s.beside > 0 && s.left + 1 < tile.right;
  int *marks = l.marks[i / 32], bit = int(1u << i % 32), pixel = row * TILE_SIDE + column;
  if (above && left) add(marks + pixel, bit);
  if (above && right) add(marks + pixel + 1, bit);
  if (below && left) add(marks + pixel + TILE_SIDE, bit);
  if (below && right) add(marks + pixel + TILE_SIDE + 1, bit);
}

// The entries of each pixel that the samples taken make, counted, or put too if `entries` is not null: samples of a bin make one. The
// last of a pixel may grow by further samples: it is put when another follows.
DEVICE void list_taken(Listing& l, Entry* entries) {
  THREAD_LOOP(pixel, TILE_PIXELS) {
    const int corner = (pixel / TILE_SIDE + 1) * 256 + pixel % TILE_SIDE + 1;
    int count = l.count[pixel], last = l.last[pixel];
    Real weight = l.weight[pixel];
    for (int w = 0; w < SAMPLES / 32; ++w) {
      unsigned word = l.marks[w][pixel];
      if (!word) continue;
      l.marks[w][pixel] = 0;
      for (; word; word &= word - 1) {
        const int i = 32 * w + lowest_bit(word), place = l.taken.place[i], from = corner - l.taken.corner[i];
        if (place != last) {
          if (entries && last >= 0) entries[count - 1] = Entry{weight, last};
          ++count;
          last = place;
          weight = 0;
        }
        if (entries) weight += l.taken.down[from >> 8][i] * l.taken.across[from & 1][i];
      }
    }
    l.count[pixel] = count;
    l.last[pixel] = last;
    l.weight[pixel] = weight;
  }
  BARRIER();
}

// The lists of a tile: see listed.h. Its samples are found twice, to count and to put them.
DEVICE void list_tile(const Tile& tile, const Real* rows, int* head, Entry* entries, int most, int clockwise,
                      const GridGeometry& g, Listing& l) {
  const int bins = g.pooled_height * g.pooled_width, places = padded_channels(g.channels) / PLACE;
  THREAD_LOOP(pixel, TILE_PIXELS) {
    for (int w = 0; w < SAMPLES / 32; ++w) l.marks[w][pixel] = 0;
    l.count[pixel] = 0;
    l.last[pixel] = -1;
    l.weight[pixel] = 0;
  }
  BARRIER();
  for (int pass = 0; pass < 2; ++pass) {
    for (int base = 0, some; base < tile.count && !STOPPED(); base += some) {
      some = take_near(rows, tile, base, clockwise, g, l.nearby);
      const long long samples = l.nearby.before[some];
      for (long long first = 0; first < samples && !STOPPED(); first += SAMPLES) {
        const int count = int(min((long long)SAMPLES, samples - first));
        THREAD_LOOP(i, count) take(l, i, find(first + i, l.nearby, g), tile, bins, places);
        BARRIER();
        list_taken(l, pass == 0 ? nullptr : entries);
      }
      BARRIER();
    }
    if (pass == 1) break;
    if (!start_lists(l.count, l.scratch, head, most)) return;
    THREAD_LOOP(pixel, TILE_PIXELS) l.last[pixel] = -1;
    BARRIER();
  }
  THREAD_LOOP(pixel, TILE_PIXELS) {
    if (l.last[pixel] >= 0) entries[l.count[pixel] - 1] = Entry{l.weight[pixel], l.last[pixel]};
    fill_group(entries, l.count[pixel], g.regions * bins * places);
  }
}

// What a block needs to pack the gradients of PACKED_CHANNELS channels of a region.
struct Packing {
  Mixed mixed[PACKED_CHANNELS];  // the channels of the square that each is mixed from
  Real square[PACKED_SQUARE];
};

// The gradients of a region packed; with orientations, which PACKED_CHANNELS is a multiple of, as the region's angle mixes them.
DEVICE void pack_region(const Store* top_diff, const Real* region, Real* packed, int k, int channel, int orientations,
                        const GridGeometry& g, Packing& p) {
  const int bins = g.pooled_height * g.pooled_width, count = min(PACKED_CHANNELS, g.channels - channel);
  if (orientations == 0) {
    pack(top_diff, packed, k, channel, g.channels, bins, p.square, [](const Square& square, int c, int i) { return at(square, c, i); });
    return;
  }
  const Turn turn = turn_of(region[5], orientations);
  THREAD_LOOP(c, count) {
    const int o = c % orientations;
    const Mixed mixed = mixed_of(turn, o, orientations, true);
    p.mixed[c] = Mixed{c - o + mixed.lower, c - o + mixed.upper};
  }
  pack(top_diff, packed, k, channel, g.channels, bins, p.square, [&](const Square& square, int c, int i) {
    if (c >= count) return Real(0);
    return mix(turn, at(square, p.mixed[c].lower, i), at(square, p.mixed[c].upper, i));
  });
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region: one after the other, for as long as there are both,
// so that a multiprocessor has some that wait for memory and some that wait for arithmetic. heads and room: see listed.h;
// orientations: 0, or how many channels the region's angle mixes.
KERNEL align_rotated_prepare(int n, const Store* top_diff, const Real* rows, const int* lists, Real* packed, int* heads,
                             Real* room, int most, int orientations, int clockwise, GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED union {
      Listing listing;
      Packing packing;
    } work;
    const Tiles tiles = tiles_of(lists);
    const Turns turns = turns_of(b, g.batch * tiles.down * tiles.across, g.regions, g.channels);
    if (turns.lists) {
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      list_tile(tile, rows, heads + (long long)turns.number * LIST_HEAD, entries_of(room, turns.number, most), most, clockwise, g,
                work.listing);
      if (turns.number == 0) pack_zeros(packed, g.regions * g.pooled_height * g.pooled_width, g.channels);
    } else {
      const int k = turns.number;
      pack_region(top_diff, rows + 6 * (long long)k, packed, k, turns.channel, orientations, g, work.packing);
    }
    BARRIER();
  }
}
