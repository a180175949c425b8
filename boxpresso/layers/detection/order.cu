// order.cu: the best items of each of many groups, best first, on the device. Every tile of a group is sorted by a block of its
// own; an item's place in its group is then its place in its tile, plus how many items of the group's other tiles are better.
// Nothing is contended, so the order is the same in every run: of equal values the lower index comes first. NaN is no item.
#include "order.h"

// Block b sorts tile b % tiles of group b / tiles in place, of values (groups, tiles, TILE), of which the first `items` of each group
// count: its best come first, their indices in the group go to `at`, of the same shape, and how many there are to sizes (groups,
// tiles).
KERNEL order_tiles(int n, Real* values, int* at, int* sizes, int items, int tiles) {
  SHARED Real value[TILE];
  SHARED int count;
  BLOCK_LOOP(b, n) {
    const int first = b % tiles * TILE, size = min(TILE, items - first);
    Real* mine = values + (long long)b * TILE;
    THREAD_LOOP(t, size) value[t] = mine[t];
    THREAD_LOOP(one, 1) count = 0;
    BARRIER();
    THREAD_LOOP(t, size) {
      const Real own = value[t];
      if (own == own) {
        int place = 0;
        for (int j = 0; j < t; ++j) place += value[j] >= own;
        for (int j = t + 1; j < size; ++j) place += value[j] > own;
        mine[place] = own;
        at[(long long)b * TILE + place] = first + t;
        raise_to(&count, place + 1);
      }
    }
    BARRIER();
    THREAD_LOOP(one, 1) sizes[b] = count;
    BARRIER();
  }
}

// How many items each group has: the sums of sizes (groups, parts), where a group has many.
KERNEL order_sums(int n, const int* sizes, int* sums, int parts) {
  SHARED int sum[SHARES];
  BLOCK_LOOP(group, n) {
    THREAD_LOOP(t, SHARES) {
      int whole = 0;
      for (int k = t; k < parts; k += SHARES) whole += sizes[group * parts + k];
      sum[t] = whole;
    }
    BARRIER();
    THREAD_LOOP(one, 1) {
      int whole = 0;
      for (int t = 0; t < SHARES; ++t) whole += sum[t];
      sums[group] = whole;
    }
    BARRIER();
  }
}

// Where each group's list starts, and behind the last where it ends: a group has the sum of its sizes (groups, parts), and at most
// `most`. By one block.
KERNEL order_starts(int n, const int* sizes, int* start, int groups, int parts, int most) {
  SHARED int sum[SHARES];
  BLOCK_LOOP(b, n) {
    const int each = (groups + SHARES - 1) / SHARES;
    const auto size_of = [=](int group) {
      int size = 0;
      for (int k = 0; k < parts; ++k) size += sizes[group * parts + k];
      return min(size, most);
    };
    THREAD_LOOP(t, SHARES) {
      int whole = 0;
      for (int g = t * each; g < min(groups, t * each + each); ++g) whole += size_of(g);
      sum[t] = whole;
    }
    BARRIER();
    THREAD_LOOP(t, SHARES) {
      int before = 0;
      for (int k = 0; k < t; ++k) before += sum[k];
      for (int g = t * each; g < min(groups, t * each + each); ++g) {
        start[g] = before;
        before += size_of(g);
      }
      if (t == SHARES - 1) start[groups] = before;
    }
    BARRIER();
  }
}

// Each item of the sorted tiles goes to its place in the list of its group: best, its value, and order, its index.
KERNEL order_merge(int n, const Real* values, const int* at, const int* sizes, const int* start, Real* best, int* order, int tiles,
                   int most) {
  GRID_LOOP(i, n) {
    const int tile = i / TILE, group = tile / tiles;
    if (i - tile * TILE >= sizes[tile]) continue;
    const Real value = values[i];
    int place = i - tile * TILE;
    for (int t = group * tiles; t < group * tiles + tiles && place < most; ++t) {
      const Real* other = values + (long long)t * TILE;
      if (t != tile) place += count_above(sizes[t], value, t < tile, [=](int k) { return other[k]; });
    }
    if (place >= most) continue;
    best[start[group] + place] = value;
    order[start[group] + place] = at[i];
  }
}
