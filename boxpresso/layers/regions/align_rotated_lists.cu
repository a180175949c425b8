// align_rotated_lists.cu: the gradient of the maps of align_rotated.cu, for a GPU: samples are found once for all channels.
//
// A first launch lists, for each pixel of each tile, the samples that have it: a weight and the place of the sample's gradient,
// in the order of regions and of their samples. It brings the gradients into rows of all channels of a bin besides. A second one
// adds them up: a thread owns WIDE channels of a pixel and keeps its sum in registers, threads beside it the next channels of
// the same gradients, so that all it reads are whole sectors. A tile whose lists outgrow their room is left to align_rotated_tiles.cu.
#include "bits.h"
#include "listed.h"
#include "orientations.h"
#include "rotated_near.h"
#include "wide.h"

constexpr int WORDS = SAMPLES / 32;                  // of a bit for each of the samples that are found together
constexpr int PACKED_BINS_SHIFT = 6;
constexpr int PACKED_BINS = 1 << PACKED_BINS_SHIFT;  // of a region, and
constexpr int PACKED_CHANNELS = 64;                  // of them, that a block packs at once
constexpr int AT_ONCE = 8;                           // numbers that a thread asks for before it uses the first
constexpr int PACKED_ROW = PACKED_BINS + 1;          // so that threads which read a bin's channels meet few banks twice

// What a block needs to list the samples of a tile.
struct Listing {
  Near near[NEAR];
  long long before[NEAR + 1];
  Found found;
  unsigned covers[SAMPLES];             // of each sample: see cover_of()
  unsigned lines[2][WORDS][TILE_SIDE];  // bit i % 32 of word i / 32: whether sample i has a pixel in a row, and in a column
  int count[TILE_PIXELS], scratch[FLAG_ROOM];
};

// The lines of the tile that a sample found at `where` has pixels in: bits 0 to 15 for rows, the others for columns.
DEVICE unsigned cover_of(int where) {
  const unsigned rows = unsigned((where & 2) + 1) << row_of(where) >> 1, columns = unsigned(2 * (where & 1) + 1) << column_of(where) >> 1;
  return where < 0 ? 0 : (rows & 0xffff) | columns << 16;
}

// Which of the samples that were found have a pixel in each row and each column of the tile.
DEVICE void mark_lines(Listing& l) {
  THREAD_LOOP(m, 2 * WORDS * TILE_SIDE) {
    const int axis = m / (WORDS * TILE_SIDE), w = m / TILE_SIDE % WORDS, line = m % TILE_SIDE;
    unsigned word = 0;
    for (int i = 0; i < 32; ++i) word |= (l.covers[32 * w + i] >> (TILE_SIDE * axis + line) & 1) << i;
    l.lines[axis][w][line] = word;
  }
}

// The entry that sample i of those found makes for the pixel of the tile at (line, column).
DEVICE Entry entry_of(const Listing& l, int i, int line, int column, int bins, int places) {
  const int where = l.found.where[i];
  const Real down = row_of(where) == line + 1 ? 1 - l.found.down[i] : l.found.down[i];
  const Real across = column_of(where) == column + 1 ? 1 - l.found.across[i] : l.found.across[i];
  return {down * across, (l.near[region_of(where)].k * bins + l.found.bin[i]) * places};
}

// Counts the entries of each pixel, up to one more than `most`, or puts them from l.count[pixel] on.
DEVICE void take_entries(Listing& l, int bins, int places, int most, Entry* entries) {
  THREAD_LOOP(pixel, TILE_PIXELS) {
    const int line = pixel / TILE_SIDE, column = pixel % TILE_SIDE;
    int count = l.count[pixel];
    for (int w = 0; w < WORDS; ++w) {
      unsigned both = l.lines[0][w][line] & l.lines[1][w][column];
      if (!entries)
        count = min(count + bits_of(both), most + 1);
      else
        for (; both; both &= both - 1) entries[count++] = entry_of(l, 32 * w + lowest_bit(both), line, column, bins, places);
    }
    l.count[pixel] = count;
  }
}

// The lists of a tile: see listed.h. Its samples are found twice, to count and to put them.
DEVICE void list_tile(const Tile& tile, const Real* rows, int* head, Entry* entries, int most, int clockwise,
                      const GridGeometry& g, Listing& l) {
  const int bins = g.pooled_height * g.pooled_width, places = padded_channels(g.channels) / PLACE;
  THREAD_LOOP(pixel, TILE_PIXELS) l.count[pixel] = 0;
  BARRIER();
  for (int pass = 0; pass < 2; ++pass) {
    for (int base = 0; base < tile.count && !STOPPED(); base += NEAR) {
      const int some = take_near(rows, tile, base, clockwise, g, l.near, l.before);
      for (long long first = 0; first < l.before[some] && !STOPPED(); first += SAMPLES) {
        const int count = int(min((long long)SAMPLES, l.before[some] - first));
        THREAD_LOOP(i, SAMPLES) {
          if (i < count) find(first + i, l.near, l.before, some, tile, g, l.found, i);
          l.covers[i] = i < count ? cover_of(l.found.where[i]) : 0;
        }
        BARRIER();
        mark_lines(l);
        BARRIER();
        take_entries(l, bins, places, most, pass == 0 ? nullptr : entries);
        BARRIER();
      }
    }
    if (pass == 1) break;
    const auto count = [&](int pixel) { return l.count[pixel]; };
    const int all = sums_before(l.scratch, TILE_PIXELS, count, [&](int pixel, int start, int) {
      head[pixel] = start;
      l.count[pixel] = start;
    });
    THREAD_LOOP(one, 1) head[TILE_PIXELS] = all <= most ? all : -1;
    BARRIER();
    if (all > most) break;
  }
}

// What a block needs to pack the gradients of PACKED_CHANNELS channels of a region.
struct Packing {
  Real square[PACKED_CHANNELS * PACKED_ROW];
  Mixed mixed[PACKED_CHANNELS];  // the channels of the square that each is mixed from
};

// The gradients of PACKED_CHANNELS channels of a region, from `channel` on, divided by its samples, to packed (K, bins, padded);
// the channels past C are 0. With orientations, which PACKED_CHANNELS is a multiple of, as the region's angle mixes them. Indices of
// channels and bins are found by shifts.
DEVICE void pack(const Store* top_diff, const Real* region, Real* packed, int k, int channel, int orientations,
                 const GridGeometry& g, Packing& p) {
  const int bins = g.pooled_height * g.pooled_width, padded = padded_channels(g.channels);
  const int count = min(PACKED_CHANNELS, g.channels - channel), width = min(PACKED_CHANNELS, padded - channel);
  const Grid grid = grid_around(region, g);
  const Real samples = Real(grid.rows) * Real(grid.columns), inverse = 1 / samples;
  const bool exact = ((long long)grid.rows * grid.columns & ((long long)grid.rows * grid.columns - 1)) == 0;  // a power of 2
  if (samples == 0 || image_of(region, 6, g.batch) < 0) return;  // no list names it
  const Turn turn = orientations > 0 ? turn_of(region[5], orientations) : Turn{0, Real(0)};
  if (orientations > 0) THREAD_LOOP(c, count) {
    const int o = c % orientations;
    const Mixed mixed = mixed_of(turn, o, orientations, true);
    p.mixed[c] = Mixed{c - o + mixed.lower, c - o + mixed.upper};
  }
  int shift = 0;  // of a row of as many bins as there are, or more
  while (shift < PACKED_BINS_SHIFT && 1 << shift < bins) ++shift;
  for (int first = 0; first < bins; first += PACKED_BINS) {
    const int some = min(PACKED_BINS, bins - first);
    const Store* from = top_diff + ((long long)k * g.channels + channel) * bins + first;
    Real* to = packed + ((long long)k * bins + first) * padded + channel;
    THREAD_LOOP(t, width / AT_ONCE << shift) {
      const int c = (t >> shift) * AT_ONCE, i = t & ((1 << shift) - 1);
      if (i >= some) continue;
      Real values[AT_ONCE];
      const Store* at = from + (long long)c * bins + i;
      if (c + AT_ONCE <= count) {
        for (int j = 0; j < AT_ONCE; ++j, at += bins) values[j] = Real(*at);
      } else {
        for (int j = 0; j < AT_ONCE; ++j, at += bins) values[j] = c + j < count ? Real(*at) : Real(0);
      }
      for (int j = 0; j < AT_ONCE; ++j) p.square[(c + j) * PACKED_ROW + i] = values[j];
    }
    BARRIER();
    TILE_LOOP(i, share, some, PACKED_CHANNELS / WIDE) {
      if (share * WIDE >= width) continue;
      Real values[WIDE];
      for (int lane = 0; lane < WIDE; ++lane) {
        const int c = share * WIDE + lane;
        values[lane] = p.square[c * PACKED_ROW + i];
        if (orientations > 0 && c < count) {
          const Mixed mixed = p.mixed[c];
          values[lane] = mix(turn, p.square[mixed.lower * PACKED_ROW + i], p.square[mixed.upper * PACKED_ROW + i]);
        }
        values[lane] = exact ? values[lane] * inverse : values[lane] / samples;  // the same number, and faster
      }
      *(Wide*)(to + (long long)i * padded + share * WIDE) = wide_from(values);
    }
    BARRIER();
  }
}

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region: one after the other, for as long as there are both,
// so that a multiprocessor has some that wait for memory and some that wait for arithmetic. heads and room: see listed.h;
// orientations: 0, or how many channels the region's angle mixes.
KERNEL align_rotated_prepare(int n, const Store* top_diff, const Real* rows, const int* lists, Real* packed, int* heads,
                             Real* room, int most, int orientations, int clockwise, GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Listing listing;
    SHARED Packing packing;
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across, parts = (g.channels + PACKED_CHANNELS - 1) / PACKED_CHANNELS;
    const int both = 2 * min(count, g.regions * parts), number = b < both ? b / 2 : b - both / 2;
    if (b < both ? b % 2 == 0 : number < count) {
      const Tile tile = tile_of(number, lists, tiles, g.height, g.width);
      list_tile(tile, rows, heads + (long long)number * LIST_HEAD, entries_of(room, number, most), most, clockwise, g, listing);
    } else {
      const int k = number / parts, part = number - k * parts;
      pack(top_diff, rows + 6 * (long long)k, packed, k, part * PACKED_CHANNELS, orientations, g, packing);
    }
    BARRIER();
  }
}

constexpr int ADDED_CHANNELS = 128;                 // that a block takes, in
constexpr int ADDED_PARTS = 2;                      // of the rows of a tile
constexpr int STRIP = 2 * TILE_SIDE;                // pixels whose sums a block keeps before it stores them plane by plane
constexpr int ADDED_SHARES = ADDED_CHANNELS / WIDE;
constexpr int STORED = 8;                           // shares of a strip that a block stores at once
constexpr int AHEAD = 4;                            // entries whose gradients a thread asks for before it adds the first
constexpr int SUM_ROW = ADDED_SHARES + 1;           // so that threads that read neighbouring pixels meet no bank twice

// The sums of the pixels of a strip, `shares` of WIDE channels each.
DEVICE void sum_strip(const int* head, const Entry* entries, const Real* packed, int shares, Wide* sums) {
  TILE_LOOP(i, share, STRIP, shares) {
    Wide sum = {};
    for (int e = head[i], end = head[i + 1]; e < end; e += AHEAD) {
      Entry some[AHEAD];
      Wide given[AHEAD];
      for (int j = 0; j < AHEAD; ++j)
        if (e + j < end) some[j] = entries[e + j];
      for (int j = 0; j < AHEAD; ++j)
        if (e + j < end) given[j] = given_at(packed, some[j].place + share * (WIDE / PLACE));
      for (int j = 0; j < AHEAD; ++j)
        if (e + j < end) sum += some[j].weight * given[j];
    }
    sums[i * SUM_ROW + share] = sum;
  }
}

// `count` channels of a pixel, WIDE at most, to planes that are `area` numbers.
DEVICE void put_sum(const Wide& sum, Store* at, long long area, int count) {
  if (count >= WIDE) {
    for (int c = 0; c < WIDE; ++c) at[c * area] = lane(sum, c);
  } else {
    for (int c = 0; c < WIDE; ++c)
      if (c < count) at[c * area] = lane(sum, c);
  }
}

// A block adds up ADDED_CHANNELS channels of a part of a tile that has lists.
KERNEL align_rotated_add(int n, const Real* packed, const int* lists, const int* heads, const Real* room, int most, Store* diff,
                         GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Wide sums[STRIP * SUM_ROW];
    const Tiles tiles = tiles_of(lists);
    const int count = g.batch * tiles.down * tiles.across, part = b % ADDED_PARTS, number = b / ADDED_PARTS % count;
    const int channel = b / ADDED_PARTS / count * ADDED_CHANNELS, channels = g.channels, padded = padded_channels(channels);
    const int shares = min(ADDED_CHANNELS, padded - channel) / WIDE, most_rows = TILE_SIDE / ADDED_PARTS;
    const Tile tile = tile_of(number, lists, tiles, g.height, g.width);
    const int* head = heads + (long long)number * LIST_HEAD;
    if (!has_lists(head)) continue;
    const Entry* entries = entries_of(room, number, most);
    const long long area = (long long)g.height * g.width;
    for (int line = part * most_rows; line < min((part + 1) * most_rows, tile.bottom - tile.top); line += STRIP / TILE_SIDE) {
      const int* starts = head + line * TILE_SIDE;
      if (shares == ADDED_SHARES)  // a constant
        sum_strip(starts, entries, packed + channel, ADDED_SHARES, sums);
      else
        sum_strip(starts, entries, packed + channel, shares, sums);
      BARRIER();
      Store* to = diff + ((long long)tile.image * channels + channel) * area + (long long)(tile.top + line) * g.width + tile.left;
      THREAD_LOOP(t, STRIP * STORED) {
        const int i = t % STRIP, y = i / TILE_SIDE, x = i % TILE_SIDE;
        if (tile.top + line + y >= tile.bottom || tile.left + x >= tile.right) continue;
        Store* at = to + t / STRIP * WIDE * area + y * g.width + x;
        for (int share = t / STRIP; share < shares; share += STORED, at += STORED * WIDE * area)
          put_sum(sums[i * SUM_ROW + share], at, area, channels - channel - share * WIDE);
      }
      BARRIER();
    }
  }
}
