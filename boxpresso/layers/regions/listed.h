// listed.h: gradients of maps whose samples are listed: for each pixel of a tile (tiles.h) which gradients it gets, with what weights.
// All entries are in one array, where those of a tile follow one another.
#pragma once
#include "tiles.h"
#include "wide.h"

constexpr int TILE_PIXELS = TILE_SIDE * TILE_SIDE;
constexpr int LIST_HEAD = TILE_PIXELS + 1;  // ints of a tile: where each pixel's entries begin, and all end; -1: there was no room
constexpr int MOST_LISTED = 1 << 22;        // entries of a tile, so that those of its pixels are counted by ints
constexpr int GROUP = 4;                    // entries that are read at once: each pixel has a multiple of them

constexpr int PLACE = 4;                    // numbers from a place to the next

// What a pixel gets: `weight` times the channels of a bin's gradient, from `place` on. These gradients are packed
// (K, bins, padded), with the channels last, and a row of zeros behind them.
struct alignas(2 * sizeof(Real)) Entry {
  Real weight;
  int place;
};

struct Quad {
  Real of[PLACE];
};

// Two entries, by one load of 128 bits where they are of floats.
struct alignas(16) Pair {
  Entry of[2];
};

// A place is an address by one instruction, as it has no sign.
DEVICE const Wide& given_at(const Real* packed, int place) { return *(const Wide*)((const Quad*)packed + unsigned(place)); }

DEVICE int padded_channels(int channels) { return slabs_of(channels) * SLAB; }
DEVICE int grouped(int entries) { return (entries + GROUP - 1) / GROUP * GROUP; }
DEVICE bool has_lists(const int* head) { return head[TILE_PIXELS] >= 0; }

// Where the entries of each pixel begin, from how many there are: whole groups, counted from `first` on in head, and from 0 on in count.
// How many they are together; head says whether that is `most` at most. scratch: SHARED, FLAG_ROOM ints; so is count.
DEVICE int start_lists(int* count, int* scratch, int* head, int first, int most) {
  const auto room = [&](int pixel) { return grouped(min(count[pixel], MOST_LISTED + 1)); };
  const int all = sums_before(scratch, TILE_PIXELS, room, [&](int pixel, int start, int) {
    head[pixel] = first + start;
    count[pixel] = start;
  });
  THREAD_LOOP(one, 1) head[TILE_PIXELS] = all <= min(most, MOST_LISTED) ? first + all : -1;
  BARRIER();
  return all;
}

// Fills up the last group of each pixel, whose entries end at `end`. zeros: the place of a row of zeros.
DEVICE void fill_group(Entry* entries, int end, int zeros) {
  for (; end % GROUP != 0; ++end) entries[end] = Entry{Real(0), zeros};
}
