// listed_pack.h: gradients of bins (K, C, bins) with all channels of a bin beside each other, for the sums of listed.h.
#pragma once
#include "listed.h"

constexpr int PACKED_CHANNELS = 128;                      // of a region that a block packs at once, and
constexpr int PACKED_BINS = sizeof(Real) > 4 ? 32 : 64;   // of its bins
constexpr int PACKED_SQUARE = PACKED_CHANNELS * (PACKED_BINS + 1);
constexpr int READERS = 256, AT_ONCE = 7;                 // numbers that a thread asks for before it uses the first: READERS apart

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

// Channels of some bins in a block's own memory: those of a channel lie beside each other, `row` numbers from a channel to the next.
// Odd rows let threads that read the channels of a few bins meet no bank twice.
struct Square {
  Real* numbers;
  int row;
};
DEVICE Real& at(const Square& square, int c, int bin) { return square.numbers[c * square.row + bin]; }

// PACKED_CHANNELS channels of region k, from `channel` on, to packed (K, bins, padded): value(square, c, i) for channel c of them and
// bin i of those in the square. Channels past the last are 0 there. numbers: SHARED, PACKED_SQUARE of them.
template <class Value>
DEVICE void pack(const Store* top_diff, Real* packed, int k, int channel, int channels, int bins, Real* numbers, Value value) {
  const int padded = padded_channels(channels), together = WIDE * 8;  // channels that threads beside each other store
  const int count = min(PACKED_CHANNELS, channels - channel), width = min(PACKED_CHANNELS, padded - channel);
  const bool whole = bins <= PACKED_BINS;  // all bins at once, which lie here as they do there
  const Square square = {numbers, whole ? bins : PACKED_BINS + 1};
  for (int first = 0; first < bins; first += PACKED_BINS) {
    const int some = min(PACKED_BINS, bins - first);
    const Store* from = top_diff + ((long long)k * channels + channel) * bins + first;
    if (whole) {
      const int all = count * bins;
      THREAD_LOOP(t, READERS) {
        for (int start = t; start < width * bins; start += READERS * AT_ONCE) {
          Real values[AT_ONCE];
          for (int j = 0; j < AT_ONCE; ++j) values[j] = start + j * READERS < all ? Real(from[start + j * READERS]) : Real(0);
          for (int j = 0; j < AT_ONCE; ++j)
            if (start + j * READERS < width * bins) numbers[start + j * READERS] = values[j];
        }
      }
    } else {
      THREAD_LOOP(t, width * PACKED_BINS) {
        const int c = unsigned(t) / PACKED_BINS, i = unsigned(t) % PACKED_BINS;
        if (i < some) at(square, c, i) = c < count ? Real(from[(long long)c * bins + i]) : Real(0);
      }
    }
    BARRIER();
    Real* to = packed + ((long long)k * bins + first) * padded + channel;
    THREAD_LOOP(t, (some + 3) / 4 * 4 * (PACKED_CHANNELS / WIDE)) {  // 8 shares of 4 bins are a warp's
      const unsigned u = t, part = u / 32 % (PACKED_CHANNELS / together), i = u / (32 * (PACKED_CHANNELS / together)) * 4 + u / 8 % 4;
      const int c = part * together + u % 8 * WIDE;
      if (int(i) >= some || c >= width) continue;
      Real values[WIDE];
      for (int lane = 0; lane < WIDE; ++lane) values[lane] = value(square, c + lane, i);
      *(Wide*)(to + (i * unsigned(padded) + c)) = wide_from(values);
    }
    BARRIER();
  }
}

// The row of zeros behind the packed gradients of `rows` bins, which fills up the groups of lists.
DEVICE void pack_zeros(Real* packed, int rows, int channels) {
  const int padded = padded_channels(channels);
  THREAD_LOOP(c, padded) packed[(long long)rows * padded + c] = 0;
}
