// tiles.h: gradients of maps, made in tiles: a block owns a tile of a map in SLAB channels and adds what the regions that touch it
// give, in their order. So a GPU has thousands of blocks that share nothing: no atomics, and the same bits in every run.
//
// Lists say which regions touch a tile; region_base.cu makes them in a counting pass. A tile is TILE_SIDE x TILE_SIDE pixels in
// the block's own memory, where a thread owns a row in one channel: it takes all regions of the tile by itself, so that no thread
// waits for another. The CPU has slabs of whole maps, which stay in the caches of its cores; there a row has all channels of a slab.
#pragma once
#include "ranks.h"
#include "slab.h"

constexpr int TILE_SIDE = 16;                           // rows and columns
constexpr int TILE_ROW = TILE_SIDE + 1;                 // numbers from a row to the next, odd, and
constexpr int TILE_PLANE = TILE_SIDE * TILE_ROW + 2;    // from a channel to the next, even: 2 rows of 16 channels meet no bank twice
constexpr int TILE_HEAD = 5;                            // ints before the lists: the numbers of Tiles

// `down` x `across` tiles of rows x columns pixels; a list has room for `most` regions.
struct Tiles {
  int rows, columns, down, across, most;
};

DEVICE Tiles tiles_of(const int* lists) { return {lists[0], lists[1], lists[2], lists[3], lists[4]}; }

// Rows top to bottom and columns left to right of an image, and the numbers of the regions that touch them, in order.
struct Tile {
  int image, top, bottom, left, right, count;
  const int* list;
};

// Tile `number` of all images: lists hold TILE_HEAD ints, then for each tile how many regions there are, and room for them.
DEVICE Tile tile_of(int number, const int* lists, const Tiles& t, int height, int width) {
  const int image = number / (t.down * t.across), place = number - image * t.down * t.across;
  const int row = place / t.across, y = row * t.rows, x = (place - row * t.across) * t.columns;
  const int* list = lists + TILE_HEAD + (long long)number * (t.most + 1);
  return {image, y, min(y + t.rows, height), x, min(x + t.columns, width), list[0], list + 1};
}

// The sums of a tile: number (row, x, group) of the tile lies at base[row * line + x * pixel + group * plane].
struct TileMap {
  Real* base;
  int line, pixel, plane;
};

DEVICE Lanes& at(const TileMap& map, int row, int x, int group) {
  return *(Lanes*)(map.base + (long long)row * map.line + x * map.pixel + group * map.plane);
}

// A row of the map in a group, from which a thread counts pixels of the whole map: number x is along(line, map, x).
DEVICE Lanes* line_of(const TileMap& map, const Tile& tile, int row, int group) {
  return (Lanes*)(map.base + (long long)(row - tile.top) * map.line + group * map.plane - (long long)tile.left * map.pixel);
}
#if defined(__CUDACC__)
DEVICE Lanes& along(Lanes* line, const TileMap& map, int x) { return line[x * map.pixel]; }
#else
DEVICE Lanes& along(Lanes* line, const TileMap&, int x) { return line[x]; }  // a pixel is one vector
#endif

// Number (row, x) of the map in one channel of the slab, for what treats channels differently.
DEVICE Real& number_at(const TileMap& map, const Tile& tile, int row, int x, int channel) {
  return map.base[(row - tile.top) * map.line + (x - tile.left) * map.pixel + channel * (map.plane / LANES)];
}

// The block's own memory, SHARED and of TILE_OWN Lanes, as such a map.
#if defined(__CUDACC__)
constexpr int TILE_OWN = SLAB * TILE_PLANE;
DEVICE TileMap own_map(Lanes* own) { return {(Real*)own, TILE_ROW, 1, TILE_PLANE}; }
#else
constexpr int TILE_OWN = TILE_SIDE * TILE_SIDE;
DEVICE TileMap own_map(Lanes* own) { return {(Real*)own, TILE_SIDE * SLAB, SLAB, LANES}; }
#endif
// Some of the pixels of an axis, or of other things that are counted.
struct Span {
  int first, end;
};

// The pixels of an axis of `size` that samples between two coordinates may have: from `first` on, before `end`.
DEVICE Span pixels_of(Real start, Real bin, int size) {
  const Real low = min(start, start + bin), high = max(start, start + bin), limit = size;
  if (!(low <= high)) return {0, 0};  // NaN
  const Real first = min(max(floor(low) - 1, Real(0)), limit), end = min(max(floor(high) + 3, Real(0)), limit);
  return {int(min(first, max(limit - 1, Real(0)))), int(end)};
}

DEVICE void clear(const TileMap& map, const Tile& tile) {
#if defined(__CUDACC__)
  THREAD_LOOP(pixel, TILE_SIDE * TILE_SIDE) {  // of a whole tile, so that what is added for a channel is a constant
    const unsigned u = pixel;
    for (int c = 0; c < SLAB; ++c) at(map, u / TILE_SIDE, u % TILE_SIDE, c) = 0;
  }
#else
  TILE_LOOP(line, u, tile.bottom - tile.top, (tile.right - tile.left) * GROUPS)
    at(map, line, u / GROUPS, u % GROUPS) = Lanes{};
#endif
}

// The tile to its place in maps (B, C, area), from `channel` on.
DEVICE void store(const TileMap& map, const Tile& tile, Store* maps, int channel, int channels, int height, int width) {
  const int rows = tile.bottom - tile.top, columns = tile.right - tile.left, count = min(SLAB, channels - channel);
  const long long area = (long long)height * width;
  Store* to = maps + ((long long)tile.image * channels + channel) * area + (long long)tile.top * width + tile.left;
#if defined(__CUDACC__)
  THREAD_LOOP(pixel, TILE_SIDE * TILE_SIDE) {
    const unsigned u = pixel;
    const int row = u / TILE_SIDE, x = u % TILE_SIDE;
    if (row >= rows || x >= columns) continue;
    Store* pixel_to = to + row * width + x;
    if (count == SLAB) {  // a constant
      for (int c = 0; c < SLAB; ++c, pixel_to += area) *pixel_to = at(map, row, x, c);
    } else {
      for (int c = 0; c < count; ++c, pixel_to += area) *pixel_to = at(map, row, x, c);
    }
  }
#else
  for (int row = 0; row < rows; ++row) turn(map.base + (long long)row * map.line, SLAB, to + row * width, area, columns, count);
#endif
}

DEVICE void store_last(const TileMap& map, const Tile& tile, Store* maps, int channel, int channels, int height, int width) {
  const int columns = tile.right - tile.left;
  Store* to = maps + (((long long)tile.image * height + tile.top) * width + tile.left) * channels + channel;
  TILE_LOOP(pixel, c, (tile.bottom - tile.top) * columns, min(SLAB, channels - channel)) {
    const int row = pixel / columns, x = pixel - row * columns;
    to[((long long)row * width + x) * channels + c] = number_at(map, tile, tile.top + row, tile.left + x, c);
  }
}

// What a kernel that makes a gradient in tiles of its blocks' own memory does: for each of its tiles in a slab
// add(tile, channel, map), the tile stored in maps (B, C, height, width) after it, or (B, height, width, C) if channels_last.
template <class Add>
DEVICE void make_tiles(int b, int n, const int* lists, Store* maps, int batch, int channels, int height, int width, Lanes* own,
                       int channels_last, Add add) {
  const TileMap map = own_map(own);
  const Tiles tiles = tiles_of(lists);
  const int count = batch * tiles.down * tiles.across;
  for (int i = b; i < count * slabs_of(channels); i += n) {
    const Tile tile = tile_of(i % count, lists, tiles, height, width);
    const int channel = i / count * SLAB;
    clear(map, tile);
    BARRIER();
    add(tile, channel, map);
    BARRIER();
    if (channels_last)
      store_last(map, tile, maps, channel, channels, height, width);
    else
      store(map, tile, maps, channel, channels, height, width);
    BARRIER();
  }
}
