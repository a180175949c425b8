// deform_roi_moves.cu: the gradients of the offsets and the mask of deform_roi.cu, for a GPU, from maps as they are.
//
// A block owns a tile of the map in some slabs. It brings the tile's pixels of a slab into its own memory, with the row below and
// the column behind it, so that the maps are read once; a thread takes a part of those samples of a bin whose upper left pixel
// lies in the tile, in all channels of the slab. A bin of ordinary size has samples in two rows and two columns of tiles at most:
// each of these four has a place of its own for what it adds, which deform_roi_moves_sum adds up in order. Bins with samples in
// more tiles, or with very many, are read from memory by all threads of the block whose tile their first sample is in.
#include "deform_roi_tiles.h"
#include "wide.h"

constexpr int BESIDE = TILE_SIDE + 1;  // rows and columns of pixels that samples of a tile have
constexpr int TOGETHER = 2;            // slabs of a block
#if defined(__CUDACC__)
constexpr int HELD = sizeof(Real) > 4 ? WIDE : SLAB;  // channels that a block brings into its memory at once
constexpr int HELD_ROW = HELD + WIDE;                 // from a pixel to the next: few banks are met twice
#else
constexpr int HELD = SLAB, HELD_ROW = SLAB;
#endif
constexpr int SLOTS = 4;               // tiles that a bin's samples may be in
constexpr int SPLIT = 4;               // threads of such a bin, and
constexpr int PASS = 256 / SPLIT;      // bins that are taken together
constexpr int PORTIONS = 16;           // of the samples of other bins, a thread each in every channel
constexpr int GAINS = HELD * PORTIONS > PASS * SPLIT ? HELD * PORTIONS : PASS * SPLIT;

DEVICE int slot_of(int row, int column) { return 2 * (row % 2) + column % 2; }

// One sample: its place, the pixels around it, and how far it lies below the upper and behind the left ones.
struct Sample {
  Real y, x, down, across;
  int top, low, left, right;
};

// Adds to sum what corner 0 to 3 of a sample gives, upper before lower and left before right; p: its pixel's product with the
// gradient. Along x, along y, of the mask; the first two are the published kernel's: see deform_roi.cu.
DEVICE void add_corner(const Sample& s, int corner, Real p, Real* sum) {
  const bool lower = corner / 2, right = corner % 2;
  const Real along_y = lower ? s.y - s.top : s.low - s.y, along_x = right ? s.x - s.left : s.right - s.x;
  sum[0] += (right ? along_y : -along_y) * p;
  sum[1] += (lower ? along_x : -along_x) * p;
  sum[2] += (lower ? s.down : 1 - s.down) * (right ? s.across : 1 - s.across) * p;
}

// The pixels of a tile, and those beside it, in `channels` planes from `from` on; missing channels become 0.
DEVICE void stage(const Tile& tile, const Store* from, int channels, int height, int width, Wide* values) {
  const int rows = min(tile.bottom + 1, height) - tile.top, columns = min(tile.right + 1, width) - tile.left;
  const Store* corner = from + (long long)tile.top * width + tile.left;
  const long long area = (long long)height * width;
  Real* to = (Real*)values;
  TILE_LOOP(part, cell, rows * (TILE_SIDE / 8), HELD * 8) {  // eight columns of four channels for a warp: no bank is met twice
    const int row = part / (TILE_SIDE / 8), x = part % (TILE_SIDE / 8) * 8 + cell % 8, c = cell / 8;
    if (x < columns) to[(row * BESIDE + x) * HELD_ROW + c] = c < channels ? Real(corner[c * area + row * width + x]) : Real(0);
  }
  if (columns > TILE_SIDE) TILE_LOOP(row, c, rows, HELD)
    to[(row * BESIDE + TILE_SIDE) * HELD_ROW + c] = c < channels ? Real(corner[c * area + row * width + TILE_SIDE]) : Real(0);
}

// Adds to sum what samples `first`, first + SPLIT, .. of a bin give that are in a tile; given: its gradient, the channels that are held.
DEVICE void add_samples(const Grid& grid, int first, const Tile& tile, const Wide* given, const Wide* values, const GridGeometry& g,
                        Real* sum) {
#pragma unroll 1  // more at once would cost registers, and with them blocks
  for (int i = first; i < grid.rows * grid.columns; i += SPLIT) {
    const int row = i / grid.columns;
    Sample s;
    s.y = sample_at(grid.y, grid.bin_height, row, grid.rows);
    s.x = sample_at(grid.x, grid.bin_width, i - row * grid.columns, grid.columns);
    if (!neighbours(s.y, g.height, &s.top, &s.low, &s.down) || s.top < tile.top || s.top >= tile.bottom) continue;
    if (!neighbours(s.x, g.width, &s.left, &s.right, &s.across) || s.left < tile.left || s.left >= tile.right) continue;
#pragma unroll 2
    for (int corner = 0; corner < 4; ++corner) {
      const int y = (corner / 2 ? s.low : s.top) - tile.top, x = (corner % 2 ? s.right : s.left) - tile.left;
      const Wide* pixel = values + (y * BESIDE + x) * (HELD_ROW / WIDE);
      Wide products = {};
      for (int share = 0; share < HELD / WIDE; ++share) products += given[share] * pixel[share];
      Real p = 0;
      for (int c = 0; c < WIDE; ++c) p += lane(products, c);
      add_corner(s, corner, p, sum);
    }
  }
}

// What PORTIONS threads in each channel add for all samples of a bin; gain: SHARED. maps, given: from the first channel that is held on.
DEVICE void add_wide(const Grid& grid, const Store* maps, const Store* given, int channels, int bins, const GridGeometry& g,
                     Real (*gain)[GAINS]) {
  const Looked looked = looked_at(grid, g.height, g.width);
  TILE_LOOP(c, portion, HELD, PORTIONS) {
    Real sum[3] = {};
    for (int i = portion; c < channels && i < looked.count; i += PORTIONS) {
      Sample s;
      s.y = sample_at(grid.y, grid.bin_height, looked.top + i / looked.columns, grid.rows);
      s.x = sample_at(grid.x, grid.bin_width, looked.left + i % looked.columns, grid.columns);
      if (!neighbours(s.y, g.height, &s.top, &s.low, &s.down) || !neighbours(s.x, g.width, &s.left, &s.right, &s.across)) continue;
      const Store* plane = maps + (long long)c * g.height * g.width;
      const Store *upper = plane + (long long)s.top * g.width, *lower = plane + (long long)s.low * g.width;
      const Real gradient = Real(given[(long long)c * bins]);
      for (int corner = 0; corner < 4; ++corner)
        add_corner(s, corner, gradient * Real((corner / 2 ? lower : upper)[corner % 2 ? s.right : s.left]), sum);
    }
    for (int q = 0; q < 3; ++q) gain[q][c * PORTIONS + portion] = sum[q];
  }
}

DEVICE int groups_of(int channels) { return (slabs_of(channels) + TOGETHER - 1) / TOGETHER; }

// parts: (groups of slabs, K, bins, SLOTS, kinds), what a block adds for the gradient of a bin's offset in x and y, and of its mask
// where kinds is 3. The slabs of a block are added up there.
KERNEL deform_roi_moves_tiles(int n, const Store* top_diff, const Store* features, const int* lists, const int* marks,
                              const Real* places, Real* parts, int kinds, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width, tiles = g.batch * tiles_of(lists).down * tiles_of(lists).across;
  BLOCK_LOOP(b, n) {
    SHARED Wide values[BESIDE * BESIDE * (HELD_ROW / WIDE)];
    SHARED Wide given[PASS * (HELD_ROW / WIDE)];
    SHARED int scratch[FLAG_ROOM], hit[HITS], owned[PASS], wide;
    SHARED Real gain[3][GAINS];
    const int group = b / tiles, first_channel = group * TOGETHER * SLAB, end = min(first_channel + TOGETHER * SLAB, g.channels);
    const Tile tile = tile_of(b - group * tiles, lists, tiles_of(lists), g.height, g.width);
    const int row = tile.top / TILE_SIDE, column = tile.left / TILE_SIDE;
    const int* words = marks_of(marks, tile, tiles_of(lists), bins);
    const int count = tile.count * words_of(bins);
    Real* mine = parts + (long long)group * g.regions * bins * SLOTS * kinds;
    for (int channel = first_channel; channel < end && count > 0 && !STOPPED(); channel += HELD) {
      const int channels = min(HELD, end - channel);
      const Store* maps = features + ((long long)tile.image * g.channels + channel) * g.height * g.width;
      const auto put = [&](int number, int q, Real value) {
        Real& part = mine[((long long)number * SLOTS + slot_of(row, column)) * kinds + q];
        part = channel == first_channel ? value : part + value;
      };
      const auto given_at = [&](int number) {
        const int k = number / bins;
        return top_diff + ((long long)k * g.channels + channel) * bins + (number - k * bins);
      };
      stage(tile, maps, channels, g.height, g.width, values);
      THREAD_LOOP(one, 1) wide = 0;
      BARRIER();
      for (int first = 0; first < count; first += WORDS) {
        const int hits = hits_of(tile, words, first, min(WORDS, count - first), bins, scratch, hit);
        for (int pass = 0; pass < hits; pass += PASS) {
          const int some = min(PASS, hits - pass);
          THREAD_LOOP(h, some) {
            const BinPlace place = place_at(places, hit[pass + h]);
            const Owners owners = owners_of(place, grid_at(place, g), g);
            const bool here = owners.some && row >= owners.top && row <= owners.bottom && column >= owners.left && column <= owners.right;
            owned[h] = here && !owners.wide;
            if (here && owners.wide) raise_to(&wide, 1);
          }
          TILE_LOOP(c, h, HELD, some)
            ((Real*)given)[h * HELD_ROW + c] = c < channels ? Real(given_at(hit[pass + h])[(long long)c * bins]) : Real(0);
          BARRIER();
          TILE_LOOP(h, part, some, SPLIT) {
            Real sum[3] = {};
            const Grid grid = grid_at(place_at(places, hit[pass + h]), g);
            if (owned[h]) add_samples(grid, part, tile, given + h * (HELD_ROW / WIDE), values, g, sum);
            for (int q = 0; q < 3; ++q) gain[q][h * SPLIT + part] = sum[q];
          }
          BARRIER();
          THREAD_LOOP(h, some)
            for (int q = 0; q < kinds && owned[h]; ++q) {
              Real sum = 0;
              for (int part = 0; part < SPLIT; ++part) sum += gain[q][h * SPLIT + part];
              put(hit[pass + h], q, sum);
            }
        }
        BARRIER();
        for (int h = 0; wide && h < hits; ++h) {
          const BinPlace place = place_at(places, hit[h]);
          const Grid grid = grid_at(place, g);
          const Owners owners = owners_of(place, grid, g);
          if (!owners.wide || row != owners.top || column != owners.left) continue;
          add_wide(grid, maps, given_at(hit[h]), channels, bins, g, gain);
          BARRIER();
          THREAD_LOOP(q, kinds) {
            Real sum = 0;
            for (int i = 0; i < channels * PORTIONS; ++i) sum += gain[q][i];
            put(hit[h], q, sum);
          }
          BARRIER();
        }
        BARRIER();
      }
    }
  }
}

// The gradients of offset (K, 2, bins) and mask (K, bins) from the parts of all tiles and slabs; either may be null.
KERNEL deform_roi_moves_sum(int n, const Real* parts, const Real* places, const Store* mask, Store* offset_diff, Store* mask_diff,
                            Real gamma, int kinds, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  GRID_LOOP(i, n) {
    const int k = i / bins, bin = i - k * bins;
    const BinPlace place = place_at(places, i);
    const Grid grid = grid_at(place, g);
    const Owners owners = owners_of(place, grid, g);
    Real sum[3] = {};
    for (int group = 0; owners.some && group < groups_of(g.channels); ++group)
      for (int row = owners.top; row <= owners.bottom; ++row)
        for (int column = owners.left; column <= owners.right; ++column) {
          const Real* part = parts + (((long long)group * g.regions * bins + i) * SLOTS + slot_of(row, column)) * kinds;
          for (int q = 0; q < 3; ++q)
            if (q < kinds) sum[q] += part[q];
        }
    const Real inverse = 1 / Real(max(grid.rows * grid.columns, 1)), each = gamma * (mask ? Real(mask[i]) : Real(1)) * inverse;
    if (offset_diff) {  // 0 stays 0, whatever the region's size is
      offset_diff[2 * k * bins + bin] = sum[0] != 0 ? sum[0] * (each * place.width * g.pooled_width) : Real(0);
      offset_diff[(2 * k + 1) * bins + bin] = sum[1] != 0 ? sum[1] * (each * place.height * g.pooled_height) : Real(0);
    }
    if (mask_diff) mask_diff[i] = sum[2] * inverse;
  }
}
