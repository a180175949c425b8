// listed_both.cu: from the lists of listed.h two gradients in one walk, for a GPU: that of the maps and, for that of what places the
// samples, the product of each entry's gradient with its pixel of the maps, over all channels.
//
// Sixteen threads own a pixel: each some of its channels, whose sums stay in registers. What it adds to the product of an entry goes to
// the block's own memory; of a row of pixels these are added up together, a thread for each entry.
#include "both_lists.h"

constexpr int ACROSS = 16;                                 // threads of a pixel
constexpr int SUMMED = BOTH_CHANNELS / (ACROSS * WIDE);    // times WIDE channels that each takes
constexpr int BOTH_PARTS = 8;                              // of the rows of a tile, for a block each
constexpr int BOTH_ROWS = TILE_SIDE / BOTH_PARTS;
constexpr int CELL = SUMMED * ACROSS + 1;                  // Wide from a pixel to the next, so that few banks are met twice
constexpr int KEPT = sizeof(Real) > 4 ? 80 : 360;          // entries whose products a block adds up together
constexpr int KEPT_ROW = ACROSS + 4;                       // numbers from an entry to the next
constexpr int STAGED = 32;                                 // channels of half a row that threads bring in together, a number each
constexpr int EACH = BOTH_CHANNELS / STAGED;               // times for all of them
constexpr int STORED = 16;                                 // shares of a row that a block stores at once

struct alignas(4 * sizeof(Real)) Four {
  Real of[4];
};

// A row of a tile's pixels in `channels` planes of `area` numbers; what is missing becomes 0.
DEVICE void stage_row(const Store* from, int channels, int columns, int area, Wide* cells) {
  const bool whole = channels >= BOTH_CHANNELS && columns == TILE_SIDE;
  THREAD_LOOP(t, STAGED * 8) {  // eight columns of four channels for a warp: no bank is met twice
    const int x = t % 8, c = t / 8;
    const Store* at = from + (long long)c * area + x;
    Real* to = (Real*)cells + x * (CELL * WIDE) + c;
    Real values[2 * EACH];
    if (whole) {
      for (int i = 0; i < EACH; ++i)
        for (int half = 0; half < 2; ++half) values[2 * i + half] = Real(at[(long long)(i * STAGED) * area + half * 8]);
    } else {
      for (int i = 0; i < EACH; ++i)
        for (int half = 0; half < 2; ++half) {
          const bool there = c + i * STAGED < channels && x + half * 8 < columns;
          values[2 * i + half] = there ? Real(at[(long long)(i * STAGED) * area + half * 8]) : Real(0);
        }
    }
    for (int i = 0; i < EACH; ++i)
      for (int half = 0; half < 2; ++half) to[half * (8 * CELL * WIDE) + i * STAGED] = values[2 * i + half];
  }
}

// The sum of the products of some channels of a gradient with those of a pixel.
template <int TIMES>
DEVICE Real product_of(const Wide* given, const Wide* pixel) {
  Real sum = 0;
  for (int s = 0; s < TIMES; ++s)
    for (int i = 0; i < WIDE; ++i) sum += lane(given[s], i) * lane(pixel[s], i);
  return sum;
}

// Walks the entries of some pixels of a row, from `first` on. ADD: all of them, their sums to `cells` in place of the pixels; what the
// threads add to the products of the first KEPT goes to `kept`. A thread takes WIDE channels TIMES times, the last of which are there
// if WHOLE.
template <bool ADD, int TIMES, bool WHOLE>
DEVICE void walk_pixels(const int* head, int pixels, int first, const Entry* entries, const Real* packed, int shares, Wide* cells,
                        Real* kept) {
  TILE_LOOP(i, share, pixels, ACROSS) {
    Wide *cell = cells + i * CELL + share, pixel[TIMES], sum[TIMES];
    for (int s = 0; s < TIMES; ++s) {
      pixel[s] = cell[s * ACROSS];
      sum[s] = Wide{};
    }
    const Real* mine = packed + share * WIDE;
    const int end = head[i + 1] - first, last = min(end, KEPT);
    const Entry* from = entries + first;
    int e = max(head[i] - first, 0);
    Real* to = kept + e * KEPT_ROW + share;
    const auto take = [&](Wide* given) {
      const Entry entry = from[e];
      const Wide* at = &given_at(mine, entry.place);
      for (int s = 0; s < TIMES; ++s) given[s] = WHOLE || share + s * ACROSS < shares ? at[s * ACROSS] : Wide{};
      for (int s = 0; ADD && s < TIMES; ++s) sum[s] += entry.weight * given[s];
    };
#pragma unroll 1
    for (; e < last; ++e, to += KEPT_ROW) {
      Wide given[TIMES];
      take(given);
      *to = product_of<TIMES>(given, pixel);
    }
#pragma unroll 1
    for (; ADD && e < end; ++e) {
      Wide given[TIMES];
      take(given);
    }
    for (int s = 0; ADD && s < TIMES; ++s) cell[s * ACROSS] = sum[s];
  }
}

// The products of `count` entries; slots: where each is to stand, -1 for nowhere, or null for one behind the other from `first` on.
DEVICE void add_up(const Four* kept, int first, int count, const int* slots, Real* products) {
  THREAD_LOOP(e, count) {
    Four sum = {};
    for (int q = 0; q < ACROSS / 4; ++q)
      for (int i = 0; i < 4; ++i) sum.of[i] += kept[e * (KEPT_ROW / 4) + q].of[i];
    const int slot = slots ? slots[first + e] : first + e;
    if (slot >= 0) products[slot] = (sum.of[0] + sum.of[1]) + (sum.of[2] + sum.of[3]);
  }
}

// A row of sums to planes of `area` numbers.
DEVICE void store_row(const Wide* cells, Store* to, int channels, int columns, int area) {
  THREAD_LOOP(t, TILE_SIDE * STORED) {
    const int x = t % TILE_SIDE, first = t / TILE_SIDE;
    if (x >= columns) continue;
    Store* at = to + (long long)(first * WIDE) * area + x;
    const Wide* cell = cells + x * CELL + first;
    for (int share = 0; share < BOTH_CHANNELS / WIDE; share += STORED) {
      if (channels >= BOTH_CHANNELS) {
        for (int c = 0; c < WIDE; ++c) at[(long long)(share * WIDE + c) * area] = lane(cell[share], c);
      } else {
        for (int c = 0; c < WIDE; ++c)
          if ((share + first) * WIDE + c < channels) at[(long long)(share * WIDE + c) * area] = lane(cell[share], c);
      }
    }
  }
}

// Maps of `channels` planes of height x width, and how many entries there is room for.
struct BothGeometry {
  int channels, height, width, most;
};

// A block takes BOTH_CHANNELS channels of some rows of a tile that has lists. entries: those of all tiles; heads: where each pixel's
// begin among them. diff (B, channels, height, width) or null; products: (groups of channels, most); slots: see add_up().
KERNEL listed_both(int n, const Real* packed, const int* lists, const int* heads, const Real* entries, const int* slots,
                   const Store* features, Store* diff, Real* products, BothGeometry g) {
  const int channels = g.channels, height = g.height, width = g.width;
  const int groups = product_groups(channels), count = n / max(BOTH_PARTS * groups, 1);
  BLOCK_LOOP(b, n) {
    SHARED Wide cells[TILE_SIDE * CELL];
    SHARED Four kept[KEPT * KEPT_ROW / 4];
    const int part = b % BOTH_PARTS, group = groups > 1 ? b / BOTH_PARTS / count : 0, number = b / BOTH_PARTS - group * count;
    const int channel = group * BOTH_CHANNELS;
    const Tile tile = tile_of(number, lists, tiles_of(lists), height, width);
    const int* head = heads + (long long)number * LIST_HEAD;
    if (!has_lists(head)) continue;
    const int shares = min(BOTH_CHANNELS, padded_channels(channels) - channel) / WIDE, columns = tile.right - tile.left;
    const int area = height * width;
    for (int line = part * BOTH_ROWS; line < min((part + 1) * BOTH_ROWS, tile.bottom - tile.top); ++line) {
      const int *starts = head + line * TILE_SIDE, first = starts[0], end = starts[TILE_SIDE];
      const long long place = ((long long)tile.image * channels + channel) * area + (long long)(tile.top + line) * width + tile.left;
      const Entry* all = (const Entry*)entries;
      if (first < end) {
        stage_row(features + place, channels - channel, columns, area, cells);
        BARRIER();
      }
      for (int i = 0, stop; i < TILE_SIDE; i = stop) {  // as many pixels as have entries that are kept, or one
        for (stop = TILE_SIDE; stop - i > 1 && starts[stop] - starts[i] > KEPT;) stop = (i + stop) / 2;
        const int begin = starts[i], after = starts[stop];
        const auto add_kept = [&](int from) {
          add_up(kept, from, min(after - from, KEPT), slots, products + (long long)group * g.most);
        };
        for (int from = begin + KEPT; from < after; from += KEPT) {  // of one pixel
          walk_pixels<false, SUMMED, false>(starts + i, 1, from, all, packed + channel, shares, cells + i * CELL, (Real*)kept);
          BARRIER();
          add_kept(from);
          BARRIER();
        }
        const auto walk = [&](auto walk_some) {
          walk_some(starts + i, stop - i, begin, all, packed + channel, shares, cells + i * CELL, (Real*)kept);
        };
        if (shares == SUMMED * ACROSS)
          walk(walk_pixels<true, SUMMED, true>);
        else if (shares > (SUMMED + 1) / 2 * ACROSS)
          walk(walk_pixels<true, SUMMED, false>);
        else if (shares > ACROSS)
          walk(walk_pixels<true, (SUMMED + 1) / 2, false>);
        else
          walk(walk_pixels<true, 1, false>);
        BARRIER();
        add_kept(begin);
        if (stop < TILE_SIDE) BARRIER();
      }
      if (diff) store_row(cells, diff + place, channels - channel, columns, area);
      BARRIER();
    }
  }
}
