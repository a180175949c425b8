// align_rotated_lists.cu: the gradient of the maps of align_rotated.cu, for a GPU: samples are found once for all channels.
//
// Lists say, for each pixel of each tile, which bins have it: what their samples weigh there together, and the place of the bin's
// gradient, in the order of regions and bins. One launch counts them, a second one puts them, each tile's behind those of the tiles
// before it; both bring half of the gradients into rows of all channels of a bin besides. listed_add.cu adds them up. Tiles whose lists
// there is no room for are left to align_rotated_tiles.cu.
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
  long long parts[FLAG_ROOM];
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

// Begins the lists of a tile, or goes on with them from where each pixel's entries begin.
DEVICE void begin(Listing& l, const int* starts) {
  THREAD_LOOP(pixel, TILE_PIXELS) {
    for (int w = 0; w < SAMPLES / 32; ++w) l.marks[w][pixel] = 0;
    l.count[pixel] = starts ? starts[pixel] : 0;
    l.last[pixel] = -1;
    l.weight[pixel] = 0;
  }
  BARRIER();
}

// Walks over the samples of a tile: counts the entries of its pixels, or puts them too.
DEVICE void list_tile(const Tile& tile, const Real* rows, Entry* entries, int clockwise, const GridGeometry& g, Listing& l) {
  const int bins = g.pooled_height * g.pooled_width, places = padded_channels(g.channels) / PLACE;
  for (int base = 0, some; base < tile.count && !STOPPED(); base += some) {
    some = take_near(rows, tile, base, clockwise, g, l.nearby);
    const long long samples = l.nearby.before[some];
    for (long long first = 0; first < samples && !STOPPED(); first += SAMPLES) {
      const int count = int(min((long long)SAMPLES, samples - first));
      THREAD_LOOP(i, count) take(l, i, find(first + i, l.nearby, g), tile, bins, places);
      BARRIER();
      list_taken(l, entries);
    }
    BARRIER();
  }
}

// The sum of the first `count` of some numbers. parts: SHARED.
DEVICE long long sum_first(const int* numbers, int count, long long* parts) {
  THREAD_LOOP(t, FLAGS) {
    long long sum = 0;
    for (int i = t; i < count; i += FLAGS) sum += numbers[i];
    parts[t] = sum;
  }
  BARRIER();
  THREAD_LOOP(t, FLAG_PART) {
    long long sum = 0;
    for (int i = t; i < FLAGS; i += FLAG_PART) sum += parts[i];
    parts[FLAGS + t] = sum;
  }
  BARRIER();
  long long all = 0;
  for (int i = 0; i < FLAG_PART; ++i) all += parts[FLAGS + i];
  return all;
}

// Counts the entries of tile `number`, and writes to its head where those of each pixel begin, from 0 on; totals: how many each tile has.
DEVICE void count_lists(const Tile& tile, int number, const Real* rows, int* heads, int* totals, int clockwise, const GridGeometry& g,
                        Listing& l) {
  begin(l, nullptr);
  list_tile(tile, rows, nullptr, clockwise, g, l);
  const int all = start_lists(l.count, l.scratch, heads + (long long)number * LIST_HEAD, 0, MOST_LISTED);
  THREAD_LOOP(one, 1) totals[number] = all <= MOST_LISTED ? all : 0;
}

// Puts the entries of tile `number` behind those of the tiles before it, where there is room for `most` of all tiles.
DEVICE void put_lists(const Tile& tile, int number, const Real* rows, int* heads, const int* totals, Entry* entries, int most,
                      int clockwise, const GridGeometry& g, Listing& l) {
  int* head = heads + (long long)number * LIST_HEAD;
  const long long first = sum_first(totals, number, l.parts);
  const int all = totals[number];
  begin(l, head);
  if (!has_lists(head)) return;
  BARRIER();
  const bool fits = first + all <= most;
  THREAD_LOOP(pixel, LIST_HEAD) head[pixel] = !fits ? -1 : pixel < TILE_PIXELS ? int(first) + l.count[pixel] : int(first) + all;
  if (!fits) return;
  entries += first;
  list_tile(tile, rows, entries, clockwise, g, l);
  THREAD_LOOP(pixel, TILE_PIXELS) {
    if (l.last[pixel] >= 0) entries[l.count[pixel] - 1] = Entry{l.weight[pixel], l.last[pixel]};
    fill_group(entries, l.count[pixel], g.regions * g.pooled_height * g.pooled_width * (padded_channels(g.channels) / PLACE));
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
// so that a multiprocessor has some that wait for memory and some that wait for arithmetic. The first launch (pass 0) counts, and packs
// the first half; the second puts. heads: see listed.h, then how many entries each tile has; entries: `most` of them; orientations: 0,
// or how many channels the region's angle mixes.
KERNEL align_rotated_prepare(int n, const Store* top_diff, const Real* rows, const int* lists, Real* packed, int* heads, Real* entries,
                             int most, int orientations, int clockwise, int pass, GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED union {
      Listing listing;
      Packing packing;
    } work;
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across;
    const Turns turns = turns_of(b, count, g.regions, g.channels, pass);
    if (turns.lists) {
      const int number = turns.number;
      const Tile tile = tile_of(number, lists, tiles, g.height, g.width);
      int* totals = heads + (long long)count * LIST_HEAD;
      if (pass == 0)
        count_lists(tile, number, rows, heads, totals, clockwise, g, work.listing);
      else
        put_lists(tile, number, rows, heads, totals, (Entry*)entries, most, clockwise, g, work.listing);
      if (number == 0 && pass == 0) pack_zeros(packed, g.regions * g.pooled_height * g.pooled_width, g.channels);
    } else {
      const int k = turns.number;
      pack_region(top_diff, rows + 6 * (long long)k, packed, k, turns.channel, orientations, g, work.packing);
    }
    BARRIER();
  }
}
