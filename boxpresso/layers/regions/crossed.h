// crossed.h: the lists of listed.h of a tile, where what a bin of a region gives to a pixel is the product of a weight of the
// pixel's row and one of its column.
//
// Each axis of a region has a list of its own: what it has for a line of the map, a row or a column, are its items `first` to
// end - 1. So a pixel gets as many entries from a region as its row has items times its column.
#pragma once
#include "line_lists.h"

constexpr int CROSSED = 32;  // regions of a tile that are taken together

// An item: a bin of the axis, and what it weighs in the line.
struct Item {
  int bin;
  Real weight;
};

// What a block needs to list a tile. items: of each line of the tile, those of each region.
struct Crossing {
  Span items[2][TILE_SIDE][CROSSED + 1];  // a little apart, so that threads of neighbouring columns meet no bank twice
  int region[CROSSED];
  Lines<32> lines;  // its counts
};

// The lists of a tile. items_of(k, axis, line): which items the axis of region k, 0 for y, has for a line of the map; item(k, axis,
// line, i): one of them. first: the first of the `most` entries that the tile has room for. The regions of a tile are met twice, to count their entries and to put them, in order, and of a region
// those of its bins in order.
template <class ItemsOf, class ItemOf>
DEVICE void list_crossed(const Tile& tile, int* head, Entry* room, int first, int most, int regions, int bins, int pooled_width, int channels,
                         Crossing& c, ItemsOf items_of, ItemOf item) {
  Entry* entries = room + first;
  const unsigned places = padded_channels(channels) / PLACE;
  begin_lines(c.lines);
  for (int pass = 0; pass < 2; ++pass) {
    for (int base = 0; base < tile.count && !STOPPED(); base += CROSSED) {
      const int some = min(CROSSED, tile.count - base);
      THREAD_LOOP(j, some) c.region[j] = tile.list[base + j];
      THREAD_LOOP(t, some * 2 * TILE_SIDE) {
        const int j = t / (2 * TILE_SIDE), axis = t / TILE_SIDE % 2, line = t % TILE_SIDE;
        const int at = (axis ? tile.left : tile.top) + line;
        c.items[axis][line][j] = at < (axis ? tile.right : tile.bottom) ? items_of(tile.list[base + j], axis, at) : Span{0, 0};
      }
      BARRIER();
      THREAD_LOOP(pixel, TILE_PIXELS) {
        const int line = pixel / TILE_SIDE, column = pixel % TILE_SIDE;
        int count = c.lines.count[pixel];
        for (int j = 0; j < some; ++j) {
          const Span y = c.items[0][line][j], x = c.items[1][column][j];
          if (pass == 0) {
            count = min(count + (y.end - y.first) * (x.end - x.first), most + 1);
          } else if (x.first < x.end) {
            const int k = c.region[j];
            for (int e = y.first; e < y.end; ++e) {
              const Item down = item(k, 0, tile.top + line, e);
              for (int f = x.first; f < x.end; ++f) {
                const Item across = item(k, 1, tile.left + column, f);
                const unsigned number = k * bins + down.bin * pooled_width + across.bin;
                entries[count++] = Entry{down.weight * across.weight, int(number * places)};
              }
            }
          }
        }
        c.lines.count[pixel] = count;
      }
      BARRIER();
    }
    if (pass == 0 && !start_lines(c.lines, head, first, most)) return;
  }
  end_lines(c.lines, entries, regions * bins * places);
}
