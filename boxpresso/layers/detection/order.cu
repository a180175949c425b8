// order.cu: the best items of each of many groups, best first, on the device, and rows of them. Every tile of a group is sorted by a block
// of its own; an item's place in its group is then its place in its tile, plus how many items of the group's other tiles are better.
// Nothing is contended, so the order is the same in every run: of equal values the lower index comes first. NaN is no item.
#include "order.h"
#include "running.h"

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
  SHARED int sum[STRETCHES];
  BLOCK_LOOP(b, n) {
    const auto size_of = [=](int group) {
      int size = 0;
      for (int k = 0; k < parts; ++k) size += sizes[group * parts + k];
      return min(size, most);
    };
    running_sums(sum, groups, size_of, [=](int group, int before, int) { start[group] = before; }, [=](int all) { start[groups] = all; });
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

// The boxes (groups, items, columns) that are listed, at most `most` of a group; `share` items of a group have one box. turned, or null:
// the same of rotated boxes (centre x, centre y, height, width, degrees) as suppress.cu has them, (centre x, centre y, width, height,
// radians).
KERNEL order_listed(int n, const Real* boxes, const int* order, const int* start, Real* listed, Real* turned, int items, int most,
                    int columns, int share) {
  GRID_LOOP(i, n) {
    const int group = i / most, at = start[group] + i - group * most;
    if (at >= start[group + 1]) continue;
    const Real* box = boxes + columns * ((long long)group * items + order[at] / share);
    for (int k = 0; k < columns; ++k) listed[(long long)columns * at + k] = box[k];
    if (!turned) continue;
    Real* to = turned + 5ll * at;
    to[0] = box[0];
    to[1] = box[1];
    to[2] = box[3];
    to[3] = box[2];
    to[4] = box[4] * Real(0.017453292519943295);
  }
}

// How many of the boxes that stay, stay[group], are among the `keep` best (-1: all) of their image, which has `labels` groups; of equal
// scores those of the lower label go first. kept[start[group] + k]: the k-th that stays, best first, whose score best[..] is.
KERNEL order_taken(int n, const Real* best, const int* kept, const int* start, const int* stay, int* taken, int labels, int keep) {
  SHARED int count;
  BLOCK_LOOP(group, n) {
    const int first = group / labels * labels;
    int whole = 0;
    for (int g = first; g < first + labels; ++g) whole += stay[g];
    const bool all = keep < 0 || whole <= keep;
    THREAD_LOOP(one, 1) count = all ? stay[group] : 0;
    BARRIER();
    THREAD_LOOP(k, all ? 0 : min(stay[group], keep)) {
      const Real score = best[kept[start[group] + k]];
      int better = k;
      for (int g = first; g < first + labels && better < keep; ++g) {
        const int* list = kept + start[g];
        if (g != group) better += count_above(stay[g], score, g < group, [=](int j) { return best[list[j]]; });
      }
      if (better < keep) raise_to(&count, k + 1);
    }
    BARRIER();
    THREAD_LOOP(one, 1) taken[group] = count;
    BARRIER();
  }
}

// The rows (group, box) of those that stay, all that are listed where kept is null, from out[group] on, at most `each` of a group. scores,
// or null: their scores; with more than 1 for `wide` the whole rows, and behind each its score.
// Behind `each` rows of every group lies how many there are.
KERNEL order_rows(int n, const Real* listed, const Real* best, const int* kept, const int* start, const int* out, Real* rows,
                  Real* scores, int each, int groups, int columns, int wide) {
  GRID_LOOP(i, n) {
    if (i == 0) rows[(columns + 1ll) * each * groups] = out[groups];
    const int group = i / each, k = i - group * each;
    if (k >= out[group + 1] - out[group]) continue;
    const int at = start[group] + k, from = kept ? kept[at] : at;
    const long long row = out[group] + k;
    Real* to = rows + (columns + 1) * row;
    to[0] = group;
    for (int c = 0; c < columns; ++c) to[1 + c] = listed[(long long)columns * from + c];
    if (!scores) continue;
    Real* beside = scores + wide * row;
    for (int c = 0; c < wide - 1; ++c) beside[c] = to[c];
    beside[wide - 1] = best[from];
  }
}
