// listed_add.cu: gradients of maps from the lists of listed.h, for a GPU.
//
// A thread owns channels of a pixel and keeps their sums in registers, threads beside it the next channels of the same gradients, so
// that all it reads are whole sectors.
#include "listed.h"

constexpr int ADDED_CHANNELS = 256;                 // that a block takes, in
constexpr int ADDED_PARTS = 8;                      // of the rows of a tile
constexpr int STRIP_ROWS = sizeof(Real) > 4 ? 1 : 2;  // of pixels whose sums a block keeps before it stores them plane by plane
constexpr int STRIP = STRIP_ROWS * TILE_SIDE;
constexpr int ADDED_SHARES = ADDED_CHANNELS / WIDE;
constexpr int EACH = 2;                        // shares of a thread, where there are ADDED_SHARES
constexpr unsigned ABREAST = 4;                // pixels that a thread stores at once, and
constexpr unsigned QUADS = STRIP / ABREAST;    // how often a strip has as many
constexpr int STORED = 8;                      // shares of a strip that a block stores at once

// Pixels of a row beside each other, in 16 bytes or 8.
struct alignas(sizeof(Store) < 4 ? 8 : 16) Beside {
  Store of[ABREAST];
};

// Where the sums of a strip lie: the shares of a pixel are exchanged by its place in the row, so that neither the threads that put the
// shares of a pixel nor those that take a channel of many pixels meet a bank twice.
DEVICE unsigned place_of(unsigned pixel, unsigned share) { return pixel * ADDED_SHARES + (share ^ pixel / ABREAST); }

// Pixel number i of a strip. A warp goes along ABREAST of them, the one above or below beside it, as these read the same gradients.
DEVICE unsigned pixel_of(unsigned i) { return i % QUADS * ABREAST + i / QUADS; }

// The sums of the pixels of a strip: a thread has `each` shares of WIDE channels, `threads` apart. heads[head]: where the entries of its
// first pixel begin; `group` entries are read at once, of which each pixel has a multiple. Indices are of 32 bits without a sign: a GPU makes addresses of these by one instruction.
template <int each, int group>
DEVICE void sum_strip(const int* heads, unsigned head, const Entry* entries, const Real* packed, int threads, Wide* sums) {
  TILE_LOOP(i, first, STRIP, threads) {
    const unsigned pixel = pixel_of(i);
    const int* of = heads + (head + pixel);
    const Real* from = packed + unsigned(first) * WIDE;
    Wide sum[each] = {};
    const unsigned end = of[1];
#pragma unroll 1  // most pixels have one group or two
    for (unsigned e = of[0]; e < end; e += group) {
      Entry some[group];
      Wide given[group][each];
      if constexpr (group == 1) {
        some[0] = entries[e];
      } else {
        for (int j = 0; j < group; ++j) some[j] = ((const Pair*)(entries + e))[j / 2].of[j % 2];
      }
      for (int j = 0; j < group; ++j)
        for (int s = 0; s < each; ++s) given[j][s] = (&given_at(from, some[j].place))[s * threads];
      for (int j = 0; j < group; ++j)
        for (int s = 0; s < each; ++s) sum[s] += some[j].weight * given[j][s];
    }
    for (int s = 0; s < each; ++s) sums[place_of(pixel, first) + s * threads] = sum[s];
  }
}

// `count` channels of a strip to planes of `area` numbers; down and across: how many of its rows and columns there are. `together`:
// whether ABREAST pixels of a row are stored at once, and `count` is a multiple of what a block stores at once.
template <bool together>
DEVICE void store_strip(const Wide* sums, Store* to, int count, int down, int across, long long area, int width) {
  THREAD_LOOP(t, QUADS * STORED * WIDE) {
    const unsigned quad = unsigned(t) % QUADS, first = unsigned(t) / QUADS;
    const int y = quad / (TILE_SIDE / ABREAST), x = quad % (TILE_SIDE / ABREAST) * ABREAST;
    if (y >= down || x >= across) continue;
    const Wide* from = sums + place_of(quad * ABREAST, first / WIDE);
    Store* at = to + first * area + y * width + x;
#pragma unroll 4
    for (int c = 0; c + (together ? 0 : first) < unsigned(count); c += STORED * WIDE, from += STORED, at += STORED * WIDE * area) {
      Beside values;
      for (unsigned i = 0; i < ABREAST; ++i) values.of[i] = lane(from[i * ADDED_SHARES], first % WIDE);
      if (together) {
        *(Beside*)at = values;
      } else {
        for (int i = 0; i < int(ABREAST); ++i)
          if (x + i < across) at[i] = values.of[i];
      }
    }
  }
}

// A block adds up ADDED_CHANNELS channels of a part of a tile that has lists. groups: whether each pixel has whole groups of entries.
KERNEL listed_add(int n, const Real* packed, const int* lists, const int* heads, const Real* entries, int groups, Store* diff,
                  int batch, int channels, int height, int width) {
  BLOCK_LOOP(b, n) {
    SHARED Wide sums[STRIP * ADDED_SHARES];
    const Tiles tiles = tiles_of(lists);
    const int count = batch * tiles.down * tiles.across, part = b % ADDED_PARTS, of = b / ADDED_PARTS;
    const int group = channels > ADDED_CHANNELS ? of / count : 0, number = of - group * count;
    const int channel = group * ADDED_CHANNELS, padded = padded_channels(channels);
    const int shares = min(ADDED_CHANNELS, padded - channel) / WIDE, most_rows = TILE_SIDE / ADDED_PARTS;
    const long long area = (long long)height * width;
    const Tile tile = tile_of(number, lists, tiles, height, width);
    const unsigned head = unsigned(number) * LIST_HEAD;
    if (!has_lists(heads + head)) continue;
    const bool aligned = width % ABREAST == 0 && (unsigned long long)diff % sizeof(Beside) == 0;
    for (int line = part * most_rows; line < min((part + 1) * most_rows, tile.bottom - tile.top); line += STRIP_ROWS) {
      const unsigned first = head + line * TILE_SIDE;
      const Entry* all = (const Entry*)entries;
      if (shares == ADDED_SHARES && groups)  // a constant
        sum_strip<EACH, GROUP>(heads, first, all, packed + channel, ADDED_SHARES / EACH, sums);
      else if (groups)
        sum_strip<1, GROUP>(heads, first, all, packed + channel, shares, sums);
      else
        sum_strip<1, 1>(heads, first, all, packed + channel, shares, sums);
      BARRIER();
      Store* to = diff + ((long long)tile.image * channels + channel) * area + (long long)(tile.top + line) * width + tile.left;
      const int down = tile.bottom - tile.top - line, across = tile.right - tile.left;
      if (aligned && channels - channel >= ADDED_CHANNELS)
        store_strip<true>(sums, to, ADDED_CHANNELS, down, across, area, width);
      else
        store_strip<false>(sums, to, min(ADDED_CHANNELS, channels - channel), down, across, area, width);
      BARRIER();
    }
  }
}
