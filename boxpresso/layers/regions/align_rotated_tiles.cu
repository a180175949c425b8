// align_rotated_tiles.cu: the gradient of the maps of align_rotated.cu in tiles, for a GPU, where lists of their samples outgrow the
// room that they have (listed.h): samples are found by each slab of channels.
//
// A thread that owns a row of the tile in a channel meets the samples of its row alone.
#include "listed.h"
#include "rotated_near.h"
#include "wide.h"

constexpr int TILES_OF_A_BLOCK = 4;               // most of which have lists, and cost only to look
constexpr int HITS = sizeof(Real) > 4 ? 16 : 64;  // samples that are added together: what fits a block's own memory

// Some of the samples that touch the tile: their gradients, and for each row those with a pixel in it.
struct Hits {
  Wide given[stage_of(HITS)];
  int count[TILE_SIDE];
  unsigned char list[TILE_SIDE][HITS];
};

DEVICE void sort(const Found& found, const unsigned char* hit, int some, const Near* near, const Real* packed, int channel,
                 const Tile& tile, const GridGeometry& g, Hits& hits) {
  const int bins = g.pooled_height * g.pooled_width, padded = padded_channels(g.channels);
  TILE_LOOP(i, share, some, SHARES) {
    const Near& of = near[region_of(found.where[hit[i]])];
    const int place = of.k * bins + found.bin[hit[i]];
    staged(hits.given, i, share) = of.share * *(const Wide*)(packed + (long long)place * padded + channel + share * WIDE);
  }
  THREAD_LOOP(line, tile.bottom - tile.top) {
    int count = 0;
    for (int i = 0; i < some; ++i) {
      const int where = found.where[hit[i]], row = row_of(where);
      if (row == line + 1 || (row == line && where & 2)) hits.list[line][count++] = (unsigned char)i;
    }
    hits.count[line] = count;
  }
  BARRIER();
}

// Adds them to the tile, a thread to a row in a group.
DEVICE void add(const Found& found, const unsigned char* hit, const Hits& hits, const Tile& tile, const TileMap& map) {
  TILE_LOOP(line, group, tile.bottom - tile.top, GROUPS) {
    Lanes* to = line_of(map, tile, tile.top + line, group);
    for (int l = 0; l < hits.count[line]; ++l) {
      const int i = hits.list[line][l], s = hit[i], where = found.where[s], left = tile.left + column_of(where) - 1;
      const Lanes gradient = *(const Lanes*)((const Real*)hits.given + i * STAGE_ROW + group * LANES);
      const Real down = row_of(where) == line + 1 ? 1 - found.down[s] : found.down[s];
      if (left >= tile.left) along(to, map, left) += down * (1 - found.across[s]) * gradient;
      if (where & 1 && left + 1 < tile.right) along(to, map, left + 1) += down * found.across[s] * gradient;
    }
  }
  BARRIER();
}

// packed and heads: what align_rotated_prepare() of align_rotated_lists.cu has made.
KERNEL align_rotated_backward_tiles(int n, const Real* packed, const int* lists, const int* heads, const Real* rows, Store* diff,
                                    int clockwise, GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Nearby nearby;
    SHARED Found found;
    SHARED Hits hits;
    SHARED int scratch[FLAG_ROOM];
    SHARED unsigned char hit[SAMPLES];
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across, all = count * slabs_of(g.channels);
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      for (int base = 0, some; base < tile.count && !STOPPED(); base += some) {
        some = take_near(rows, tile, base, clockwise, g, nearby);
        const long long samples = nearby.before[some];
        for (long long first = 0; first < samples && !STOPPED(); first += SAMPLES) {
          const int count = int(min((long long)SAMPLES, samples - first));
          THREAD_LOOP(i, count) put(found, i, find(first + i, nearby, g), tile);
          BARRIER();
          const auto touches = [&](int i) { return found.where[i] >= 0; };
          const int all = compact(scratch, count, touches, [&](int rank, int i) { hit[rank] = (unsigned char)i; });
          for (int h = 0; h < all; h += HITS) {
            sort(found, hit + h, min(HITS, all - h), nearby.near, packed, channel, tile, g, hits);
            add(found, hit + h, hits, tile, map);
          }
        }
        BARRIER();
      }
    };
    for (int i = b; i < all && !STOPPED(); i += n) {
      if (has_lists(heads + (long long)(unsigned(i) % unsigned(count)) * LIST_HEAD)) continue;
      make_tiles(i, all, lists, diff, g.batch, g.channels, g.height, g.width, own, false, add_regions);
    }
  }
}
