// line_lists.h: the lists of listed.h of a tile, from items that each have some rows and some columns of it, in the items' order.
#pragma once
#include "bits.h"
#include "listed.h"
#include "ranks.h"

// What a block needs of TOGETHER items, a multiple of 32, that are taken at once.
template <int TOGETHER>
struct Lines {
  unsigned short covers[2][TOGETHER];             // of each: the rows, and the columns, of the tile that it has pixels in, a bit each
  unsigned lines[2][TOGETHER / 32][TILE_SIDE];    // the same by lines: bit i % 32 of word i / 32 is item i's
  int count[TILE_PIXELS], scratch[FLAG_ROOM];
};

template <int TOGETHER>
DEVICE void begin_lines(Lines<TOGETHER>& l) {
  THREAD_LOOP(pixel, TILE_PIXELS) l.count[pixel] = 0;
  BARRIER();
}

// Which of the items have a pixel in each row and each column of the tile.
template <int TOGETHER>
DEVICE void mark_lines(Lines<TOGETHER>& l) {
  const int words = TOGETHER / 32;
  THREAD_LOOP(m, 2 * words * TILE_SIDE) {
    const int axis = m / (words * TILE_SIDE), w = m / TILE_SIDE % words, line = m % TILE_SIDE;
    unsigned word = 0;
    for (int i = 0; i < 32; ++i) word |= unsigned(l.covers[axis][32 * w + i] >> line & 1) << i;
    l.lines[axis][w][line] = word;
  }
  BARRIER();
}

// visit(i) for the items that have the pixel in a row and a column of the tile.
template <int TOGETHER, class Visit>
DEVICE void visit_items(const Lines<TOGETHER>& l, int line, int column, Visit visit) {
  for (int w = 0; w < TOGETHER / 32; ++w)
    for (unsigned both = l.lines[0][w][line] & l.lines[1][w][column]; both; both &= both - 1) visit(32 * w + lowest_bit(both));
}

// Counts the entries of each pixel, up to one more than `most`, or puts make(i, line, column) of items i from l.count[pixel] on.
template <int TOGETHER, class Make>
DEVICE void take_entries(Lines<TOGETHER>& l, int most, Entry* entries, Make make) {
  THREAD_LOOP(pixel, TILE_PIXELS) {
    const int line = pixel / TILE_SIDE, column = pixel % TILE_SIDE;
    int count = l.count[pixel];
    for (int w = 0; w < TOGETHER / 32 && !entries; ++w)
      count = min(count + bits_of(l.lines[0][w][line] & l.lines[1][w][column]), most + 1);
    if (entries) visit_items(l, line, column, [&](int i) { entries[count++] = make(i, line, column); });
    l.count[pixel] = count;
  }
  BARRIER();
}

// Between counting and putting: where each pixel's entries begin, from `first` on, to `head`; whether there is room for them all.
template <int TOGETHER>
DEVICE bool start_lines(Lines<TOGETHER>& l, int* head, int first, int most) {
  return start_lists(l.count, l.scratch, head, first, most) <= min(most, MOST_LISTED);
}

// After all have been put.
template <int TOGETHER>
DEVICE void end_lines(Lines<TOGETHER>& l, Entry* entries, int zeros) {
  THREAD_LOOP(pixel, TILE_PIXELS) fill_group(entries, l.count[pixel], zeros);
}
