// maxima.h: gradients of maxima in tiles (tiles.h), for a GPU: each channel of a bin has a place of its own on the map.
//
// Which bins touch a tile is marked once for all channels (deform_roi_tiles.h has the marks). A block then takes some of these bins
// at a time: its threads look where their gradients go, a thread for a channel of a bin, and note it for a set of the tile's pixels;
// then a thread that owns a set in a channel adds what was noted for it, bin by bin in order. So no two threads add to one number.
#pragma once
#include "bits.h"
#include "deform_roi_tiles.h"
#include "given.h"

constexpr int SETS = TILE_SIDE;  // of a tile's pixels: its rows, say

// A block's own memory for TOGETHER bins.
template <int TOGETHER>
struct Maxima {
  int noted[(TOGETHER + 31) / 32][SETS][SLAB];  // a bit for each of the bins that give to the set in the channel
  int hit[HITS], scratch[FLAG_ROOM];
};

// Whether a box has pixels in a tile.
template <class Box>
DEVICE bool meets(const Box& box, const Tile& tile) {
  return box.top < min(box.bottom, tile.bottom) && box.bottom > tile.top && box.left < min(box.right, tile.right) &&
         box.right > tile.left;
}

// Adds to a tile in a slab. prepare(i, number) for the i-th of the bins that are taken, `number` among those of all regions;
// sets_of(i, c): the sets of pixels, two at most, that its gradient in channel c of the slab goes to; give(i, set, c) adds it to one of them.
template <int TOGETHER, class Prepare, class SetsOf, class Give>
DEVICE void add_maxima(const Tile& tile, const int* marks, int bins, Maxima<TOGETHER>& l, Prepare prepare, SetsOf sets_of, Give give) {
  const int words = (TOGETHER + 31) / 32, count = tile.count * words_of(bins);
  for (int first = 0; first < count && !STOPPED(); first += WORDS) {
    const int hits = hits_of(tile, marks, first, min(WORDS, count - first), bins, l.scratch, l.hit);
    for (int h = 0; h < hits && !STOPPED(); h += TOGETHER) {
      const int some = min(TOGETHER, hits - h);
      THREAD_LOOP(t, words * SETS * SLAB) (&l.noted[0][0][0])[t] = 0;
      THREAD_LOOP(i, some) prepare(i, l.hit[h + i]);
      BARRIER();
      THREAD_LOOP(t, some * SLAB) {
        const unsigned i = unsigned(t) / SLAB, c = unsigned(t) % SLAB;
        const Span sets = sets_of(i, c);  // two at most
        const int bit = int(1u << i % 32);
        if (sets.first < sets.end) add(&l.noted[i / 32][sets.first][c], bit);
        if (sets.first + 1 < sets.end) add(&l.noted[i / 32][sets.first + 1][c], bit);
      }
      BARRIER();
      THREAD_LOOP(t, SETS * SLAB) {
        const unsigned set = unsigned(t) / SLAB, c = unsigned(t) % SLAB;
        for (int w = 0; w < words; ++w)
          for (unsigned bits = l.noted[w][set][c]; bits != 0; bits &= bits - 1) give(32 * w + lowest_bit(bits), set, c);
      }
      BARRIER();
    }
  }
}

// The row of a place of the map among those from `first` on, `width` pixels each; for places up to 2^21 without a division.
DEVICE int row_of_place(int place, int first, int width, Real inverse) {
  const int from_first = place - first * width;
  return from_first < 1 << 21 ? int((from_first + Real(0.5)) * inverse) : from_first / width;
}

constexpr int MAXIMA = sizeof(Real) > 4 ? 32 : 64;  // bins that are taken together

// A gradient, and how far from the first number of the tile in its channel it goes to.
struct alignas(2 * sizeof(Real)) Landed {
  Real gradient;
  int at;
};

// What a block needs for maxima that are pixels of the map.
struct Pixels {
  Maxima<MAXIMA> maxima;
  int from[MAXIMA];                     // where the gradients of a bin lie: this times SLAB
  Landed landed[MAXIMA][SLAB];
};

// A gradient of maps, (B, C, height, width) or (B, height, width, C) if channels_last, of maxima that are pixels. given: see
// given.h.
DEVICE void add_pixels(int b, int n, const Real* given, const int* lists, const int* marks, Store* diff, int channels_last, int batch,
                       int channels, int height, int width, int bins, Lanes* own, Pixels& p) {
  const Tiles tiles = tiles_of(lists);
  const int slabs = slabs_of(channels);
  const Real inverse = Real(1) / width;
  make_tiles(b, n, lists, diff, batch, channels, height, width, own, channels_last,
             [&](const Tile& tile, int channel, const TileMap& map) {
    const int before = tile.top * width, pixels = (tile.bottom - tile.top) * width, columns = tile.right - tile.left;
    const auto prepare = [&](int i, int number) {
      const int k = number / bins;
      p.from[i] = number + (k * (slabs - 1) + channel / SLAB) * bins;
    };
    const auto rows_of = [&](int i, int c) {
      const Placed most = ((const Placed*)given)[(long long)p.from[i] * SLAB + c];
      if (most.place < before || most.place - before >= pixels) return Span{0, 0};
      const int row = row_of_place(most.place, tile.top, width, inverse), column = most.place - before - row * width - tile.left;
      if (unsigned(column) >= unsigned(columns)) return Span{0, 0};
      p.landed[i][c] = Landed{most.gradient, row * map.line + column * map.pixel};
      return Span{row, row + 1};
    };
    add_maxima(tile, marks_of(marks, tile, tiles, bins), bins, p.maxima, prepare, rows_of, [&](int i, int, int c) {
      const Landed landed = p.landed[i][c];
      map.base[landed.at + c * (map.plane / LANES)] += landed.gradient;
    });
  });
}
