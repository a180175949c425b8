// deform_roi_tiles.h: which bins of deformable pooling may touch a tile of the map, found once for all channels.
//
// places: (K, bins, 4), where each bin starts and its size. marks: (tiles, K, words), a bit for each bin of the region that stands
// there in the tile's list of tiles.h: whether its samples may have pixels in the tile.
#pragma once
#include "deform_roi.h"
#include "ranks.h"
#include "sample.h"
#include "tiles.h"

constexpr int COUNTED = 16;            // samples of an axis, up to which each is looked at to see what a bin touches
constexpr int MARKED = 32;             // bins in a word of marks
constexpr int WORDS = sizeof(Real) > 4 ? 16 : 64;  // of a tile, that are taken together
constexpr int HITS = WORDS * MARKED;   // bins that they name, at most

// A bin, in pixels of the map; y is NaN where it has no samples.
#if defined(__CUDACC__)
struct alignas(4 * sizeof(Real)) BinPlace {
#else
struct BinPlace {
#endif
  Real y, x, height, width;
};

DEVICE const BinPlace& place_at(const Real* places, int number) { return ((const BinPlace*)places)[number]; }

DEVICE Grid grid_at(const BinPlace& place, const GridGeometry& g) {
  Grid grid = {place.y, place.x, place.height, place.width, g.sampling_ratio, g.sampling_ratio};
  if (g.sampling_ratio <= 0) {  // as grid_of() has them
    const Real most = MOST_SAMPLES;
    grid.rows = int(max(Real(0), min(most, ceil(place.height))));
    grid.columns = int(max(Real(0), min(most, ceil(place.width))));
  }
  return grid;
}

// The rows and columns of the pixels that samples of a bin may have; both are empty where one is.
struct Spans {
  Span y, x;
};

DEVICE Spans spans_of(const BinPlace& place, const GridGeometry& g) {
  const Spans spans = {pixels_of(place.y, place.height, g.height), pixels_of(place.x, place.width, g.width)};
  return spans.y.first < spans.y.end && spans.x.first < spans.x.end ? spans : Spans{{0, 0}, {0, 0}};
}

// Sample i of `count` along an axis.
DEVICE Real sample_at(Real start, Real size, int i, int count) { return start + (i + Real(0.5)) * size / count; }

// Whether some sample of an axis has one of the pixels `first` to end - 1.
DEVICE bool reaches(Real start, Real size, int samples, int limit, int first, int end) {
  int low, high;
  Real part;
  for (int i = 0; i < samples; ++i)
    if (neighbours(sample_at(start, size, i, samples), limit, &low, &high, &part) &&
        ((low >= first && low < end) || (high >= first && high < end)))
      return true;
  return false;
}

// Whether samples between two coordinates may have one of the pixels `first` to end - 1; not if they are NaN.
DEVICE bool may_reach(Real start, Real size, int first, int end) {
  return max(start, start + size) >= first - 2 && min(start, start + size) <= end + 1;
}

// Whether a bin's samples have pixels in a tile or, where they are many, may have.
DEVICE bool touches(const BinPlace& place, const Tile& tile, const GridGeometry& g) {
  if (!may_reach(place.y, place.height, tile.top, tile.bottom) || !may_reach(place.x, place.width, tile.left, tile.right)) return false;
  const Grid grid = grid_at(place, g);
  if (grid.rows > COUNTED || grid.columns > COUNTED) return true;
  return reaches(grid.y, grid.bin_height, grid.rows, g.height, tile.top, tile.bottom) &&
         reaches(grid.x, grid.bin_width, grid.columns, g.width, tile.left, tile.right);
}

DEVICE int words_of(int bins) { return (bins + MARKED - 1) / MARKED; }

// The words of a tile: words_of(bins) for each region of its list.
DEVICE const int* marks_of(const int* marks, const Tile& tile, const Tiles& t, int bins) {
  const long long number = ((long long)tile.image * t.down + tile.top / t.rows) * t.across + tile.left / t.columns;
  return marks + number * t.most * words_of(bins);
}

// The bins that some words of a tile's marks name, from word `first` on: their numbers among those of all regions, in order, to
// hit[HITS]; how many there are. scratch: SHARED, FLAG_ROOM ints.
DEVICE int hits_of(const Tile& tile, const int* words, int first, int some, int bins, int* scratch, int* hit) {
  const int each = words_of(bins);
  const auto count = [&](int i) {
    int bits = 0;
    for (unsigned word = words[first + i]; word; word &= word - 1) ++bits;
    return bits;
  };
  return sums_before(scratch, some, count, [&](int i, int before, int) {
    const int j = (first + i) / each, start = tile.list[j] * bins + (first + i - j * each) * MARKED;
    const unsigned word = words[first + i];
#pragma unroll 1  // one thread's work, which would fill a block's instructions
    for (int bit = 0; bit < MARKED && word >> bit != 0; ++bit)
      if (word >> bit & 1) hit[before++] = start + bit;
  });
}

// The marks of a tile, block b's: touches(number, tile) for bin `number` of those of all regions. word: SHARED, WORDS ints.
template <class Touches>
DEVICE void mark_bins(int b, const int* lists, int* marks, int bins, int height, int width, int* word, Touches touches) {
  const int each = words_of(bins);
  const Tiles tiles = tiles_of(lists);
  const Tile tile = tile_of(b, lists, tiles, height, width);
  int* to = marks + (long long)b * tiles.most * each;
  for (int first = 0; first < tile.count * each && !STOPPED(); first += WORDS) {
    const int some = min(WORDS, tile.count * each - first);
    THREAD_LOOP(i, some) word[i] = 0;
    BARRIER();
    TILE_LOOP(i, bit, some, MARKED) {
      const int j = (first + i) / each, bin = (first + i - j * each) * MARKED + bit;
      if (bin < bins && touches(tile.list[j], bin, tile)) add(word + i, int(1u << bit));
    }
    BARRIER();
    THREAD_LOOP(i, some) to[first + i] = word[i];
    BARRIER();
  }
}
