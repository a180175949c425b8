// listed_add.cu: gradients of maps from the lists of listed.h, for a GPU.
//
// A thread owns WIDE channels of a pixel and keeps its sum in registers, threads beside it the next channels of the same gradients, so
// that all it reads are whole sectors.
#include "listed.h"

constexpr int ADDED_CHANNELS = 128;                 // that a block takes, in
constexpr int ADDED_PARTS = 2;                      // of the rows of a tile
constexpr int STRIP = 2 * TILE_SIDE;                // pixels whose sums a block keeps before it stores them plane by plane
constexpr int ADDED_SHARES = ADDED_CHANNELS / WIDE;
constexpr int STORED = 8;                           // shares of a strip that a block stores at once
constexpr int AHEAD = 4;                            // entries whose gradients a thread asks for before it adds the first
constexpr int SUM_ROW = ADDED_SHARES + 1;           // so that threads that read neighbouring pixels meet no bank twice

// The sums of the pixels of a strip, `shares` of WIDE channels each.
DEVICE void sum_strip(const int* head, const Entry* entries, const Real* packed, int shares, Wide* sums) {
  TILE_LOOP(i, share, STRIP, shares) {
    Wide sum = {};
    for (int e = head[i], end = head[i + 1]; e < end; e += AHEAD) {
      Entry some[AHEAD];
      Wide given[AHEAD];
      for (int j = 0; j < AHEAD; ++j)
        if (e + j < end) some[j] = entries[e + j];
      for (int j = 0; j < AHEAD; ++j)
        if (e + j < end) given[j] = given_at(packed, some[j].place + share * (WIDE / PLACE));
      for (int j = 0; j < AHEAD; ++j)
        if (e + j < end) sum += some[j].weight * given[j];
    }
    sums[i * SUM_ROW + share] = sum;
  }
}

// `count` channels of a pixel, WIDE at most, to planes that are `area` numbers.
DEVICE void put_sum(const Wide& sum, Store* at, long long area, int count) {
  if (count >= WIDE) {
    for (int c = 0; c < WIDE; ++c) at[c * area] = lane(sum, c);
  } else {
    for (int c = 0; c < WIDE; ++c)
      if (c < count) at[c * area] = lane(sum, c);
  }
}

// A block adds up ADDED_CHANNELS channels of a part of a tile that has lists.
KERNEL listed_add(int n, const Real* packed, const int* lists, const int* heads, const Real* room, int most, Store* diff, int batch,
                  int channels, int height, int width) {
  BLOCK_LOOP(b, n) {
    SHARED Wide sums[STRIP * SUM_ROW];
    const Tiles tiles = tiles_of(lists);
    const int count = batch * tiles.down * tiles.across, part = b % ADDED_PARTS, number = b / ADDED_PARTS % count;
    const int channel = b / ADDED_PARTS / count * ADDED_CHANNELS, padded = padded_channels(channels);
    const int shares = min(ADDED_CHANNELS, padded - channel) / WIDE, most_rows = TILE_SIDE / ADDED_PARTS;
    const Tile tile = tile_of(number, lists, tiles, height, width);
    const int* head = heads + (long long)number * LIST_HEAD;
    if (!has_lists(head)) continue;
    const Entry* entries = entries_of(room, number, most);
    const long long area = (long long)height * width;
    for (int line = part * most_rows; line < min((part + 1) * most_rows, tile.bottom - tile.top); line += STRIP / TILE_SIDE) {
      const int* starts = head + line * TILE_SIDE;
      if (shares == ADDED_SHARES)  // a constant
        sum_strip(starts, entries, packed + channel, ADDED_SHARES, sums);
      else
        sum_strip(starts, entries, packed + channel, shares, sums);
      BARRIER();
      Store* to = diff + ((long long)tile.image * channels + channel) * area + (long long)(tile.top + line) * width + tile.left;
      THREAD_LOOP(t, STRIP * STORED) {
        const int i = t % STRIP, y = i / TILE_SIDE, x = i % TILE_SIDE;
        if (tile.top + line + y >= tile.bottom || tile.left + x >= tile.right) continue;
        Store* at = to + t / STRIP * WIDE * area + y * width + x;
        for (int share = t / STRIP; share < shares; share += STORED, at += STORED * WIDE * area)
          put_sum(sums[i * SUM_ROW + share], at, area, channels - channel - share * WIDE);
      }
      BARRIER();
    }
  }
}
