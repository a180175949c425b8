// plane.h: what the position-sensitive layers share. Channel (c pooled_height + ph) pooled_width + pw of the features
// is read for bin (ph, pw) of output c alone: so a plane is for one number of each region, place (k, channel) of the
// top.
#pragma once
#include "bins.h"
#include "bits.h"
#include "tiles.h"
#include "wide.h"

// What a block of a forward takes: `together` regions from `first` on, before `end`, in one channel of their images. So a GPU has
// many blocks, SPLIT of whose threads take a region and read the pixels of its bin along rows of the map: every pixel is read once
// from memory, and nothing is copied before. With the channels last, a copy would move the maps twice more.
struct Part {
  int channel, first, end;
};

DEVICE Part part_of(int b, int together, int regions) {
  const int parts = (regions + together - 1) / together, channel = b / parts, first = (b - channel * parts) * together;
  return {channel, first, min(first + together, regions)};
}

// Threads of a GPU that share a bin, so that blocks of few regions, and thus many blocks, have work for all their threads.
#if defined(__CUDACC__)
constexpr int SPLIT_SIDE = 2;  // of rows and columns of samples each, where there are such
#else
constexpr int SPLIT_SIDE = 1;
#endif
constexpr int SPLIT = SPLIT_SIDE * SPLIT_SIDE;
constexpr int SPLIT_ROOM = 256;  // numbers that a block needs for them

// put(i, sum) for each 0 <= i < count with the sum of value(i, q) for 0 <= q < SPLIT. part: SHARED, SPLIT_ROOM numbers.
template <class Value, class Put>
DEVICE void split_sums(int count, Real* part, Value value, Put put) {
#if defined(__CUDACC__)
  for (int first = 0; first < count; first += SPLIT_ROOM / SPLIT) {
    const int some = min(SPLIT_ROOM / SPLIT, count - first);
    TILE_LOOP(i, q, some, SPLIT) part[i * SPLIT + q] = value(first + i, q);
    BARRIER();
    THREAD_LOOP(i, some) {
      Real sum = 0;
      for (int q = 0; q < SPLIT; ++q) sum += part[i * SPLIT + q];
      put(first + i, sum);
    }
    BARRIER();
  }
#else
  for (int i = 0; i < count; ++i) put(i, value(i, 0));
#endif
}

// Whether a GPU's thread reads WIDE numbers of a row at a time: rows of `width` numbers begin at a multiple of them in memory.
template <class Number>
DEVICE bool whole_rows(const Number* numbers, int width) {
#if defined(__CUDACC__)
  return sizeof(Number) == sizeof(Real) && width % WIDE == 0 && (unsigned long long)numbers % sizeof(Wide) == 0;
#else
  return false;
#endif
}

// visit(x, four) for the aligned fours of a row that hold its columns left to right, where whole_rows().
template <class Number, class Visit>
DEVICE void visit_fours(const Number* row, int left, int right, Visit visit) {
#if defined(__CUDACC__)
  for (int x = left / WIDE * WIDE; x < right; x += WIDE) visit(x, *(const Wide*)(row + x));
#endif
}

struct Plane {
  int image, channel, ph, pw;
};

DEVICE Plane plane_of(int number, const Geometry& g) {
  const int image = number / g.channels, channel = number - image * g.channels;
  return {image, channel, channel % (g.pooled_height * g.pooled_width) / g.pooled_width, channel % g.pooled_width};
}

// Plane `number` of the features' gradient: give(plane, k, gradient, map) adds what region k gives to it, for those
// of its image in order. sums: bottom_diff itself, or in float32 where that is half.
template <class Give>
DEVICE void add_regions(int number, const Store* top_diff, const int* image, Real* sums, Store* bottom_diff,
                        const Geometry& g, Give give) {
  const Plane plane = plane_of(number, g);
  const int area = g.height * g.width;
  Real* map = sums + (long long)number * area;
  THREAD_LOOP(i, area) map[i] = 0;
  BARRIER();
  for (int k = 0; k < g.regions && !STOPPED(); ++k) {
    if (image[k] != plane.image) continue;
    give(plane, k, Real(top_diff[(long long)k * g.channels + plane.channel]), map);
    BARRIER();
  }
  THREAD_LOOP(i, area) bottom_diff[(long long)number * area + i] = map[i];
}

constexpr int NOTED = 32;  // regions of a tile that are taken together

// Which of them have pixels in a row of the tile in a channel, a bit each.
struct Notes {
  int rows[TILE_SIDE][SLAB];
};

// For a GPU: take(k, row, c) for each region k of a tile, row of it and channel c of the slab from `channel` on where it may have
// pixels, regions in order. boxes(k, c, note) calls note(box) for the pixels that region k has there, or for more. A thread for a
// channel of a region notes its rows; then one that owns a row in a channel takes those that were noted. `notes`: SHARED.
template <class Boxes, class Take>
DEVICE void take_noted(const Tile& tile, int channel, int channels, Notes& notes, Boxes boxes, Take take) {
  for (int base = 0; base < tile.count && !STOPPED(); base += NOTED) {
    const int some = min(NOTED, tile.count - base);
    THREAD_LOOP(t, TILE_SIDE * SLAB) (&notes.rows[0][0])[t] = 0;
    BARRIER();
    TILE_LOOP(j, c, some, SLAB) {
      if (channel + c >= channels) continue;
      unsigned lines = 0;
      boxes(tile.list[base + j], c, [&](const Box& of) {
        if (of.left >= min(of.right, tile.right) || of.right <= tile.left) return;
        for (int row = max(of.top, tile.top); row < min(of.bottom, tile.bottom); ++row) lines |= 1u << (row - tile.top);
      });
      for (; lines != 0; lines &= lines - 1) add(&notes.rows[lowest_bit(lines)][c], int(1u << j));
    }
    BARRIER();
    TILE_LOOP(line, c, TILE_SIDE, SLAB)
      for (unsigned bits = notes.rows[line][c]; bits != 0; bits &= bits - 1) take(tile.list[base + lowest_bit(bits)], tile.top + line, c);
    BARRIER();
  }
}

// The same for the planes of their features: box(plane, k) says which pixels region k has, and give(plane, k, gradient, row, first,
// end, add) adds by add(x, value) what it gives to columns first to end of a row. `notes`, `planes`: SHARED.
template <class BoxOf, class Give>
DEVICE void add_regions_in_tiles(int b, int n, const Store* top_diff, const int* lists, Store* bottom_diff, const Geometry& g,
                                 Lanes* own, Notes& notes, Plane* planes, BoxOf box, Give give) {
  const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
    THREAD_LOOP(c, SLAB) planes[c] = plane_of(tile.image * g.channels + min(channel + c, g.channels - 1), g);
    BARRIER();
    take_noted(tile, channel, g.channels, notes, [&](int k, int c, auto note) { note(box(planes[c], k)); }, [&](int k, int row, int c) {
      const Real gradient = Real(top_diff[(long long)k * g.channels + channel + c]);
      give(planes[c], k, gradient, row, tile.left, tile.right, [&](int x, Real value) { number_at(map, tile, row, x, c) += value; });
    });
  };
  make_tiles(b, n, lists, bottom_diff, g.batch, g.channels, g.height, g.width, own, false, add_regions);
}
