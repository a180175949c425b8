// passes.h: the gradients of tiles whose lists have no room (listed.h), for a GPU: a block lists a few entries of each pixel at a time
// in its own memory and adds them up, pass after pass, in the order that whole lists have.
#pragma once
#include "listed.h"

constexpr int PASSED = sizeof(Real) > 4 ? 2 : 4;  // entries of a pixel that a pass takes

struct Pass {
  Entry entries[TILE_PIXELS * PASSED];
  int count[TILE_PIXELS], more;  // more: whether a further pass may have entries
};

// Adds what is listed to a tile in a slab; packed: see listed.h.
DEVICE void add_pass(const Pass& pass, const Real* packed, int channel, const TileMap& map) {
  TILE_LOOP(pixel, share, TILE_PIXELS, SHARES) {
    const int count = pass.count[pixel], step = map.plane / LANES;
    if (count == 0) continue;
    Real* to = map.base + pixel / TILE_SIDE * map.line + pixel % TILE_SIDE * map.pixel + share * WIDE * step;
    Real sum[WIDE];
    for (int i = 0; i < WIDE; ++i) sum[i] = to[i * step];
    for (int e = pixel * PASSED; e < pixel * PASSED + count; ++e) {
      const Entry entry = pass.entries[e];
      const Wide& given = given_at(packed + channel + share * WIDE, entry.place);
      for (int i = 0; i < WIDE; ++i) sum[i] += entry.weight * lane(given, i);
    }
    for (int i = 0; i < WIDE; ++i) to[i * step] = sum[i];
  }
}

// A block owns a tile in a slab, and does nothing where that has lists. begin(tile) comes first; then list(tile), as often as it leaves
// pass.more, lists what comes next. own, pass: SHARED.
template <class Begin, class List>
DEVICE void add_in_passes(int b, int n, const Real* packed, const int* lists, const int* heads, Store* diff, int batch, int channels,
                          int height, int width, Lanes* own, Pass& pass, Begin begin, List list) {
  const Tiles tiles = tiles_of(lists);
  if (has_lists(heads + (long long)(b % (batch * tiles.down * tiles.across)) * LIST_HEAD)) return;
  make_tiles(b, n, lists, diff, batch, channels, height, width, own, false, [&](const Tile& tile, int channel, const TileMap& map) {
    begin(tile);
    for (bool more = true; more && !STOPPED();) {
      THREAD_LOOP(one, 1) pass.more = 0;
      BARRIER();
      list(tile);
      BARRIER();
      add_pass(pass, packed, channel, map);
      more = pass.more != 0;
      BARRIER();
    }
  });
}
