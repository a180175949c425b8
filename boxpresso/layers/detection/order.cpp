// order.cpp: the best items of each of many groups, best first, on a CPU: what order.cu finds tile by tile, a thread sorts here at once.
// Of equal values the lower index comes first. NaN is no item.
#include "kernel.h"

#include <algorithm>
#include <cstring>

constexpr int AT_ONCE = 16;

// at (groups, items): where the numbers of values (groups, items) are that are not NaN; sizes (groups,): how many a group has.
KERNEL order_places(int n, const Real* values, int* at, int* sizes, int items) {
  BLOCK_LOOP(group, n) {
    const Real* mine = values + (long long)group * items;
    int *to = at + (long long)group * items, size = 0;
    for (int first = 0; first < items; first += AT_ONCE) {
      const int behind = min(first + AT_ONCE, items);
      int any = 0;
      for (int i = first; i < behind; ++i) any |= mine[i] == mine[i];
      for (int i = first; any && i < behind; ++i)
        if (mine[i] == mine[i]) to[size++] = i;
    }
    sizes[group] = size;
  }
}

// An item as a number of 64 bits, less where it is better: in the upper half its value, upside down in the order of unsigned numbers, in
// the lower its index.
typedef unsigned long long Key;
DEVICE Key key_of(float value, int at) {
  value += 0.0f;  // one zero
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return Key(bits >> 31 ? bits : ~(bits | 0x80000000u)) << 32 | unsigned(at);
}
DEVICE int place_of(Key key) { return int(unsigned(key)); }

// And of a value of 64 bits.
struct Pair {
  double value;
  int at;
  bool operator<(const Pair& other) const { return value > other.value || (value == other.value && at < other.at); }
};
DEVICE Pair key_of(double value, int at) { return {value, at}; }
DEVICE int place_of(const Pair& pair) { return pair.at; }

// The items that `at` and `sizes` list, of each group the `most` best: best, their values, and order, their indices, from start[group] on.
// room (workers, items, 2).
KERNEL order_lists(int n, const Real* values, const int* at, const int* sizes, const int* start, Real* best, int* order, Real* room,
                   int items, int most) {
  typedef decltype(key_of(Real(0), 0)) Item;
  static_assert(sizeof(Item) == 2 * sizeof(Real), "the room is counted in Reals");
  Item* keys = (Item*)(room + 2ll * worker * items);
  BLOCK_LOOP(group, n) {
    const Real* mine = values + (long long)group * items;
    const int *from = at + (long long)group * items, size = sizes[group], count = min(size, most);
    for (int k = 0; k < size; ++k) keys[k] = key_of(mine[from[k]], from[k]);
    if (count < size) std::nth_element(keys, keys + count, keys + size);
    std::sort(keys, keys + count);
    for (int k = 0; k < count; ++k) {
      order[start[group] + k] = place_of(keys[k]);
      best[start[group] + k] = mine[place_of(keys[k])];
    }
  }
}

// order_taken of order.cu, for each image of `labels` groups: they are gone through side by side, best first.
KERNEL order_shares(int n, const Real* best, const int* kept, const int* start, const int* stay, int* taken, int labels, int keep) {
  BLOCK_LOOP(image, n) {
    const int *from = start + (long long)image * labels, *has = stay + (long long)image * labels;
    int *take = taken + (long long)image * labels, whole = 0;
    for (int label = 0; label < labels; ++label) whole += has[label];
    const bool all = keep < 0 || whole <= keep;
    for (int label = 0; label < labels; ++label) take[label] = all ? has[label] : 0;
    for (int k = 0; k < keep && !all; ++k) {
      int next = -1;
      Real most = 0;
      for (int label = 0; label < labels; ++label) {
        if (take[label] >= has[label]) continue;
        const Real score = best[kept[from[label] + take[label]]];
        if (next < 0 || score > most) next = label, most = score;
      }
      ++take[next];
    }
  }
}
