// unlisted.h: the gradients of tiles whose lists have no room (listed.h), for a GPU: a block takes some of what touches its tile at a time,
// and adds at once what each pixel gets from it, in the order that whole lists have.
#pragma once
#include "listed.h"

// Adds to the pixels of a tile in a slab: visit(pixel, give) calls give(weight, number) for each bin that a pixel gets a gradient from,
// `number` of those of all regions. packed: see listed.h.
template <class Visit>
DEVICE void add_unlisted(const Real* packed, int channel, int channels, const TileMap& map, Visit visit) {
  const int padded = padded_channels(channels), step = map.plane / LANES;
  TILE_LOOP(pixel, share, TILE_PIXELS, SHARES) {
    const Real* from = packed + channel + share * WIDE;
    Real* to = map.base + pixel / TILE_SIDE * map.line + pixel % TILE_SIDE * map.pixel + share * WIDE * step;
    Real sum[WIDE];
    for (int i = 0; i < WIDE; ++i) sum[i] = to[i * step];
    visit(pixel, [&](Real weight, long long number) {
      const Wide& given = *(const Wide*)(from + number * padded);
      for (int i = 0; i < WIDE; ++i) sum[i] += weight * lane(given, i);
    });
    for (int i = 0; i < WIDE; ++i) to[i * step] = sum[i];
  }
  BARRIER();
}

// Tile after tile of those without lists, for block b of n: add(tile, channel, map) adds all that it gets in a slab. own: SHARED.
template <class Add>
DEVICE void make_unlisted(int b, int n, const int* lists, const int* heads, Store* diff, int batch, int channels, int height, int width,
                          Lanes* own, Add add) {
  const Tiles tiles = tiles_of(lists);
  const int count = batch * tiles.down * tiles.across, all = count * slabs_of(channels);
  for (int i = b; i < all && !STOPPED(); i += n)
    if (!has_lists(heads + (long long)(unsigned(i) % unsigned(count)) * LIST_HEAD))
      make_tiles(i, all, lists, diff, batch, channels, height, width, own, false, add);
}
