// listed_pack.h: gradients of bins (K, C, bins) with all channels of a bin beside each other, for the sums of listed.h.
#pragma once
#include "listed.h"

constexpr int PACKED_BINS_SHIFT = 6;
constexpr int PACKED_BINS = 1 << PACKED_BINS_SHIFT;  // of a region, and
constexpr int PACKED_CHANNELS = 64;                  // of them, that a block packs at once
constexpr int AT_ONCE = 8;                           // numbers that a thread asks for before it uses the first
constexpr int PACKED_ROW = PACKED_BINS + 1;          // so that threads which read a bin's channels meet few banks twice
constexpr int PACKED_SQUARE = PACKED_CHANNELS * PACKED_ROW;

// What block b of those that list tiles and pack regions does: one after the other, for as long as there are both.
struct Turns {
  bool lists;
  int number, channel;  // of the tile, or of the region; and from which channel on that is packed
};

DEVICE Turns turns_of(int b, int tiles, int regions, int channels) {
  const int parts = (channels + PACKED_CHANNELS - 1) / PACKED_CHANNELS, both = 2 * min(tiles, regions * parts);
  const int number = b < both ? b / 2 : b - both / 2;
  if (b < both ? b % 2 == 0 : number < tiles) return {true, number, 0};
  return {false, number / parts, number % parts * PACKED_CHANNELS};
}

// PACKED_CHANNELS channels of region k, from `channel` on, to packed (K, bins, padded): value(c, i) for channel c of them and bin i
// of those in the square, where number (c, i) is at square[c * PACKED_ROW + i]. Channels past the last are 0 there. Indices of
// channels and bins are found by shifts. square: SHARED, PACKED_SQUARE numbers.
template <class Value>
DEVICE void pack(const Store* top_diff, Real* packed, int k, int channel, int channels, int bins, Real* square, Value value) {
  const int padded = padded_channels(channels);
  const int count = min(PACKED_CHANNELS, channels - channel), width = min(PACKED_CHANNELS, padded - channel);
  int shift = 0;  // of a row of as many bins as there are, or more
  while (shift < PACKED_BINS_SHIFT && 1 << shift < bins) ++shift;
  for (int first = 0; first < bins; first += PACKED_BINS) {
    const int some = min(PACKED_BINS, bins - first);
    const Store* from = top_diff + ((long long)k * channels + channel) * bins + first;
    Real* to = packed + ((long long)k * bins + first) * padded + channel;
    THREAD_LOOP(t, width / AT_ONCE << shift) {
      const int c = (t >> shift) * AT_ONCE, i = t & ((1 << shift) - 1);
      if (i >= some) continue;
      Real values[AT_ONCE];
      const Store* at = from + (long long)c * bins + i;
      if (c + AT_ONCE <= count) {
        for (int j = 0; j < AT_ONCE; ++j, at += bins) values[j] = Real(*at);
      } else {
        for (int j = 0; j < AT_ONCE; ++j, at += bins) values[j] = c + j < count ? Real(*at) : Real(0);
      }
      for (int j = 0; j < AT_ONCE; ++j) square[(c + j) * PACKED_ROW + i] = values[j];
    }
    BARRIER();
    TILE_LOOP(i, share, some, PACKED_CHANNELS / WIDE) {
      if (share * WIDE >= width) continue;
      Real values[WIDE];
      for (int lane = 0; lane < WIDE; ++lane) values[lane] = value(share * WIDE + lane, i);
      *(Wide*)(to + (long long)i * padded + share * WIDE) = wide_from(values);
    }
    BARRIER();
  }
}
