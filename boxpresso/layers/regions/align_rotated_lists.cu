// align_rotated_lists.cu: the gradient of the maps of align_rotated.cu, for a GPU: samples are found once for all channels.
//
// Lists say, for each pixel of each tile, which bins have it: what their samples weigh there together, and the place of the bin's
// gradient, in the order of regions and bins. One launch counts them, a second one puts them, each tile's behind those of the tiles
// before it; both bring half of the gradients into rows of all channels of a bin besides. listed_add.cu adds them up. Tiles whose lists
// there is no room for get what they would name at once (unlisted.h).
#include "bits.h"
#include "listed_pack.h"
#include "orientations.h"
#include "rotated_near.h"
#include "unlisted.h"

constexpr int WORDS = SAMPLES / 32;

// Samples of a tile that are taken together: `corner` is the pixel above and left, row * 256 + column, 1 more than in the tile; `corners`:
// which of its pixels the tile has, a bit each, row by row; bin: its number among those of all regions. A sample weighs down[0] or
// down[1] in its two rows times across[0] or across[1] in its two columns. marks: for each pixel of the tile which of them have it, a bit
// each; ends: which are the last of their bins.
struct Taken {
  Nearby nearby;
  int corner[SAMPLES], corners[SAMPLES], bin[SAMPLES];
  Real down[2][SAMPLES], across[2][SAMPLES];
  unsigned marks[WORDS][TILE_PIXELS], ends[WORDS];
};

// What a block needs to list them. count: the entries of a pixel; starts: how many of them there were before each word of marks.
struct Listing : Taken {
  int count[TILE_PIXELS], scratch[FLAG_ROOM];
  union {
    int starts[WORDS][TILE_PIXELS];
    long long parts[FLAG_ROOM];  // before any samples are taken
  };
};

// Before any samples are taken, and after those that were.
DEVICE void clear_marks(Taken& l) {
  THREAD_LOOP(pixel, TILE_PIXELS) {
    for (int w = 0; w < WORDS; ++w) l.marks[w][pixel] = 0;
    if (pixel < WORDS) l.ends[pixel] = 1u << 31;
  }
  BARRIER();
}

// Sample i of those taken, which marks the pixels of the tile that it has: no two threads set the same bit. weigh: whether its weights
// are wanted, too.
DEVICE void take(Taken& l, int i, const NearSample& near, const Tile& tile, int bins, bool weigh) {
  const Sample& s = near.sample;
  const Near& of = l.nearby.near[near.region];
  const int row = s.top - tile.top, column = s.left - tile.left;
  const unsigned bit = 1u << i % 32;
  if (near.last && i % 32 < 31) add(l.ends + i / 32, bit);
  l.corners[i] = 0;
  if (!touches(s, row + 1, column + 1, tile)) return;
  const bool above = row >= 0, below = s.below > 0 && s.top + 1 < tile.bottom;
  const bool left = column >= 0, right = s.beside > 0 && s.left + 1 < tile.right;
  if (weigh) {
    l.corner[i] = (row + 1) * 256 + column + 1;
    l.corners[i] = (above && left) | (above && right) << 1 | (below && left) << 2 | (below && right) << 3;
    l.bin[i] = of.k * bins + near.bin;
    l.down[0][i] = (1 - s.down) * of.share;
    l.down[1][i] = s.down * of.share;
    l.across[0][i] = 1 - s.across;
    l.across[1][i] = s.across;
  }
  unsigned* marks = l.marks[i / 32] + row * TILE_SIDE + column;
  if (above && left) add(marks, bit);
  if (above && right) add(marks + 1, bit);
  if (below && left) add(marks + TILE_SIDE, bit);
  if (below && right) add(marks + TILE_SIDE + 1, bit);
}

// Which ends are those of a bin with a mark: a mark before the end carries into it.
DEVICE unsigned ends_of(unsigned marks, unsigned ends) { return (((marks & ~ends) + ~ends) | marks) & ends; }

// Counts the entries that the samples taken make for each pixel: those of a bin in a word make one. keep: where those of a word begin.
DEVICE void count_taken(Listing& l, bool keep) {
  THREAD_LOOP(pixel, TILE_PIXELS) {
    int all = l.count[pixel];
    for (int w = 0; w < WORDS; ++w) {
      if (keep) l.starts[w][pixel] = all;
      all += bits_of(ends_of(l.marks[w][pixel], l.ends[w]));
    }
    l.count[pixel] = all;
  }
  BARRIER();
}

// What some samples of a word weigh at a pixel, in their order.
DEVICE Real weight_of(const Taken& l, int word, unsigned samples, int pixel) {
  const int here = pixel / TILE_SIDE * 256 + pixel % TILE_SIDE + 257;
  Real weight = 0;
  for (; samples; samples &= samples - 1) {
    const int j = 32 * word + lowest_bit(samples), apart = here - l.corner[j];
    weight += l.down[apart >> 8][j] * l.across[apart & 1][j];
  }
  return weight;
}

// Puts the entries of sample i: of each of its pixels for which it is the first of its bin in the word. places: from a bin to the next.
DEVICE void put_taken(const Listing& l, int i, Entry* entries, int places) {
  const int w = i / 32, from = l.corner[i], corners = l.corners[i];
  const unsigned ends = l.ends[w], before = (1u << i % 32) - 1, past = ends & before, end = ends & ~before;
  for (int corner = 0; corner < 4; ++corner) {
    if (!(corners >> corner & 1)) continue;
    const int here = from + corner / 2 * 256 + corner % 2, pixel = (here >> 8) * TILE_SIDE + (here & 255) - TILE_SIDE - 1;
    const unsigned marks = l.marks[w][pixel], earlier = marks & before;
    if ((earlier & ~past) > past) continue;  // the last mark is behind the last end: of this bin
    const Real weight = weight_of(l, w, marks & ~before & (end ^ (end - 1)), pixel);
    entries[l.starts[w][pixel] + bits_of(ends_of(marks, ends) & before)] = Entry{weight, l.bin[i] * places};
  }
}

// Takes the samples of a tile in order, some at once: use(count) when they are marked. weigh: whether with their weights.
template <class Use>
DEVICE void visit_samples(const Tile& tile, const Real* rows, int clockwise, bool weigh, const GridGeometry& g, Taken& l, Use use) {
  const int bins = g.pooled_height * g.pooled_width;
  clear_marks(l);
  for (int base = 0, some; base < tile.count && !STOPPED(); base += some) {
    some = take_near(rows, tile, base, clockwise, g, l.nearby);
    const long long samples = l.nearby.before[some];
    for (long long first = 0; first < samples && !STOPPED(); first += SAMPLES) {
      const int count = int(min((long long)SAMPLES, samples - first));
      THREAD_LOOP(i, count) take(l, i, find(first + i, l.nearby, g), tile, bins, weigh);
      BARRIER();
      use(count);
      clear_marks(l);
    }
    BARRIER();
  }
}

// Counts the entries of the pixels of a tile and, if `entries` is not null, puts them.
DEVICE void list_tile(const Tile& tile, const Real* rows, Entry* entries, int clockwise, const GridGeometry& g, Listing& l) {
  visit_samples(tile, rows, clockwise, entries != nullptr, g, l, [&](int count) {
    count_taken(l, entries != nullptr);
    if (!entries) return;
    THREAD_LOOP(i, count) put_taken(l, i, entries, padded_channels(g.channels) / PLACE);
    BARRIER();
  });
}

// The sum of the first `count` of some numbers. parts: SHARED.
DEVICE long long sum_first(const int* numbers, int count, long long* parts) {
  THREAD_LOOP(t, FLAGS) {
    long long sum = 0;
#pragma unroll 1
    for (int i = t; i < count; i += FLAGS) sum += numbers[i];
    parts[t] = sum;
  }
  BARRIER();
  THREAD_LOOP(t, FLAG_PART) {
    long long sum = 0;
#pragma unroll 1
    for (int i = t; i < FLAGS; i += FLAG_PART) sum += parts[i];
    parts[FLAGS + t] = sum;
  }
  BARRIER();
  THREAD_LOOP(one, 1) {
    long long sum = 0;
#pragma unroll 1
    for (int i = 0; i < FLAG_PART; ++i) sum += parts[FLAGS + i];
    parts[0] = sum;
  }
  BARRIER();
  return parts[0];
}

// Counts the entries of tile `number`, and writes to its head where those of each pixel begin, from 0 on; totals: how many each tile has.
DEVICE void count_lists(const Tile& tile, int number, const Real* rows, int* heads, int* totals, int clockwise, const GridGeometry& g,
                        Listing& l) {
  THREAD_LOOP(pixel, TILE_PIXELS) l.count[pixel] = 0;
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
  THREAD_LOOP(pixel, TILE_PIXELS) l.count[pixel] = head[pixel];
  if (!has_lists(head)) return;
  BARRIER();
  const bool fits = first + all <= most;
  THREAD_LOOP(pixel, LIST_HEAD) head[pixel] = !fits ? -1 : pixel < TILE_PIXELS ? int(first) + l.count[pixel] : int(first) + all;
  if (!fits) return;
  list_tile(tile, rows, entries + first, clockwise, g, l);
  THREAD_LOOP(pixel, TILE_PIXELS) {
    const int zeros = g.regions * g.pooled_height * g.pooled_width * (padded_channels(g.channels) / PLACE);
    fill_group(entries + first, l.count[pixel], zeros);
  }
}

// What a block needs to pack gradients.
struct Packing {
  Mixed mixed[PACKED_TOGETHER];  // the channels of the square that each is mixed from
  Real square[PACKED_SQUARE];
};

// PACKED_CHANNELS channels of a region's gradients packed; with orientations, which PACKED_TOGETHER is a multiple of, as the region's
// angle mixes them.
DEVICE void pack_region(const Store* top_diff, const Real* region, Real* packed, int k, int channel, int orientations,
                        const GridGeometry& g, Packing& p) {
  const int bins = g.pooled_height * g.pooled_width;
  if (orientations == 0) {
    pack(top_diff, packed, k, channel, g.channels, bins, p.square, [](const Square& square, int c, int i) { return at(square, c, i); });
    return;
  }
  const Turn turn = turn_of(region[5], orientations);
  THREAD_LOOP(c, PACKED_TOGETHER) {
    const int o = c % orientations;
    const Mixed mixed = mixed_of(turn, o, orientations, true);
    p.mixed[c] = Mixed{c - o + mixed.lower, c - o + mixed.upper};
  }
  pack(top_diff, packed, k, channel, g.channels, bins, p.square, [&](const Square& square, int c, int i) {
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

constexpr int TILES_OF_A_BLOCK = 4;  // most of which have lists, and cost only to look

// Tiles that have no lists; packed and heads: what align_rotated_prepare() has made.
KERNEL align_rotated_unlisted(int n, const Real* packed, const int* lists, const int* heads, const Real* rows, Store* diff, int clockwise,
                              GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Taken l;
    const auto add_samples = [&](const Tile& tile, int channel, const TileMap& map) {
      visit_samples(tile, rows, clockwise, true, g, l, [&](int) {
        add_unlisted(packed, channel, g.channels, map, [&](int pixel, auto give) {
          for (int w = 0; w < WORDS; ++w)
            for (unsigned rest = l.marks[w][pixel], bin; rest; rest &= ~bin) {  // bin: the marks of one
              const int first = lowest_bit(rest);
              const unsigned ends = l.ends[w] >> first << first;
              bin = rest & (ends ^ (ends - 1));
              give(weight_of(l, w, bin, pixel), l.bin[32 * w + first]);
            }
        });
      });
    };
    make_unlisted(b, n, lists, heads, diff, g.batch, g.channels, g.height, g.width, own, add_samples);
  }
}
