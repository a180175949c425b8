// listed_pack.h: gradients of bins (K, C, bins) with all channels of a bin beside each other, for the sums of listed.h.
#pragma once
#include "listed.h"

constexpr int PACKED_CHANNELS = 256;                     // of a region that a block packs,
constexpr int PACKED_TOGETHER = 128;                     // of them that are packed at once, and
constexpr int PACKED_BINS = sizeof(Real) > 4 ? 28 : 60;  // of the region's bins: two blocks have room in the 64 KB of a T4
constexpr int PACKED_SQUARE = PACKED_TOGETHER * (PACKED_BINS + 1);
constexpr int AT_ONCE = 5;                               // numbers that a thread asks for before it uses the first, and
constexpr int PACKERS = 256;                             // from one to the next; threads of a block

// What block b of those that list tiles and pack regions does: one after the other, for as long as there are both.
struct Turns {
  bool lists;
  int number, channel;  // of the tile, or of the region; and from which channel on that is packed
};

// half: 0 or 1 where all tiles are listed by two launches, each of which packs half; else -1.
DEVICE Turns turns_of(int b, int tiles, int regions, int channels, int half) {
  const int parts = (channels + PACKED_CHANNELS - 1) / PACKED_CHANNELS, all = regions * parts;
  const int first = half == 1 ? all / 2 : 0, both = 2 * min(tiles, half < 0 ? all : half == 1 ? all - all / 2 : all / 2);
  const int number = b < both ? b / 2 : b - both / 2;
  if (b < both ? b % 2 == 0 : number < tiles) return {true, number, 0};
  const int part = first + number;
  return {false, part / parts, part % parts * PACKED_CHANNELS};
}

// Channels of some bins in a block's own memory: those of a channel lie beside each other, `row` numbers from a channel to the next.
// Odd rows let threads that read the channels of a few bins meet no bank twice.
struct Square {
  Real* numbers;
  int row;
};
DEVICE Real& at(const Square& square, int c, int bin) { return square.numbers[c * square.row + bin]; }

// `count` numbers, as they lie.
DEVICE void copy(const Store* from, Real* to, int count) {
  THREAD_LOOP(t, PACKERS) {
#pragma unroll 1  // registers
    for (int i = t; i < count; i += PACKERS * AT_ONCE) {
      const int left = count - i;
      Real values[AT_ONCE];
      for (int j = 0; j < AT_ONCE; ++j)
        if (left > j * PACKERS) values[j] = Real(from[i + j * PACKERS]);
      for (int j = 0; j < AT_ONCE; ++j)
        if (left > j * PACKERS) to[i + j * PACKERS] = values[j];
    }
  }
}

// `width` channels of the `some` bins in a square, to rows that are `padded` numbers, of all channels of a bin: value(square, c, i) for
// channel c and bin i.
template <class Value>
DEVICE void spread(const Square& square, int width, int some, Real* packed, int padded, Value value) {
  constexpr unsigned together = 8, abreast = 4;  // shares of so many bins are a warp's
  constexpr unsigned parts = PACKED_TOGETHER / WIDE / together, step = PACKERS / (together * parts);
  THREAD_LOOP(t, PACKERS) {
    const unsigned u = t, c = (u % together + u / (together * abreast) % parts * together) * WIDE;
    int i = u / together % abreast + u / (together * abreast * parts) * abreast;
    if (int(c) >= width) continue;
#pragma unroll 1
    for (Real* to = packed + ((long long)i * padded + c); i < some; i += step, to += step * padded) {
      Real values[WIDE];
      for (int lane = 0; lane < WIDE; ++lane) values[lane] = value(square, c + lane, i);
      *(Wide*)to = wide_from(values);
    }
  }
  BARRIER();
}

// PACKED_TOGETHER channels of region k, from `channel` on, to packed (K, bins, padded): value(square, c, i) for
// channel c of them and bin i of those in the square. Channels past the last are 0 there. numbers: SHARED, PACKED_SQUARE of them.
template <class Value>
DEVICE void pack_together(const Store* top_diff, Real* packed, int k, int channel, int channels, int bins, Real* numbers, Value value) {
  const int padded = padded_channels(channels);
  const int count = min(PACKED_TOGETHER, channels - channel), width = min(PACKED_TOGETHER, padded - channel);
  const Store* from = top_diff + ((long long)k * channels + channel) * bins;
  Real* to = packed + (long long)k * bins * padded + channel;
  if (bins <= PACKED_BINS) {  // all of them, which lie here as they do there
    copy(from, numbers, count * bins);
    THREAD_LOOP(t, (width - count) * bins) numbers[count * bins + t] = 0;
    BARRIER();
    spread(Square{numbers, bins}, width, bins, to, padded, value);
    return;
  }
  const Square square = {numbers, PACKED_BINS + 1};
  for (int first = 0; first < bins; first += PACKED_BINS) {
    const int some = min(PACKED_BINS, bins - first);
    THREAD_LOOP(t, width * PACKED_BINS) {
      const int c = unsigned(t) / PACKED_BINS, i = unsigned(t) % PACKED_BINS;
      if (i < some) at(square, c, i) = c < count ? Real(from[(long long)c * bins + first + i]) : Real(0);
    }
    BARRIER();
    spread(square, width, some, to + (long long)first * padded, padded, value);
  }
}

// PACKED_CHANNELS channels of region k, from `channel` on.
template <class Value>
DEVICE void pack(const Store* top_diff, Real* packed, int k, int channel, int channels, int bins, Real* numbers, Value value) {
#pragma unroll 1
  for (const int end = min(channels, channel + PACKED_CHANNELS); channel < end; channel += PACKED_TOGETHER)
    pack_together(top_diff, packed, k, channel, channels, bins, numbers, value);
}

// The row of zeros behind the packed gradients of `rows` bins, which fills up the groups of lists.
DEVICE void pack_zeros(Real* packed, int rows, int channels) {
  const int padded = padded_channels(channels);
  THREAD_LOOP(c, padded) packed[(long long)rows * padded + c] = 0;
}
