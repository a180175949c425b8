// both_lists.h: the lists of listed.h of all tiles, one behind the other in one room: counted by a first launch, written by a second.
// From them listed_both.cu makes the gradient of the maps and the product of each entry's gradient with its pixel.
#pragma once
#include "line_lists.h"

constexpr int BOTH_CHANNELS = 256;        // over which a product is added up at once
constexpr int MOST_OF_A_PIXEL = 1 << 22;  // entries; a tile where a pixel has more is refused
constexpr int REFUSED = 1 << 30;
constexpr int ROOM_PARTS = 128;

DEVICE int product_groups(int channels) { return (channels + BOTH_CHANNELS - 1) / BOTH_CHANNELS; }

// After all entries of a tile are counted: where each pixel's begin, to `head`, and how many there are.
template <int TOGETHER>
DEVICE void total_lines(Lines<TOGETHER>& l, int* head, int* total) {
  const auto count = [&](int pixel) { return l.count[pixel]; };
  const int all = sums_before(l.scratch, TILE_PIXELS, count, [&](int pixel, int start, int) { head[pixel] = start; });
  THREAD_LOOP(one, 1) *total = all;
  BARRIER();
  THREAD_LOOP(pixel, TILE_PIXELS)
    if (l.count[pixel] > MOST_OF_A_PIXEL) raise_to(total, REFUSED);
}

// Between the launches: where each pixel's entries begin among all, to `head`; whether there is room for those of the tile. Tiles of few
// come first, so that one that has very many leaves no other without. part: SHARED, ROOM_PARTS numbers.
template <int TOGETHER>
DEVICE bool place_lines(Lines<TOGETHER>& l, int* head, const int* totals, int number, int tiles, int most, long long* part) {
  const int mine = totals[number], many = most / 8;
  THREAD_LOOP(p, ROOM_PARTS) {
    long long sum = 0;
    for (int i = p; i < tiles; i += ROOM_PARTS)
      if (totals[i] > many ? mine > many && i < number : mine > many || i < number) sum += totals[i];
    part[p] = sum;
  }
  BARRIER();
  THREAD_LOOP(one, 1)
    for (int p = 1; p < ROOM_PARTS; ++p) part[0] += part[p];
  BARRIER();
  const long long before = part[0];
  const bool fits = before + mine <= most;
  THREAD_LOOP(pixel, TILE_PIXELS) l.count[pixel] = head[pixel] += fits ? int(before) : 0;
  THREAD_LOOP(one, 1) head[TILE_PIXELS] = fits ? int(before) + mine : -1;
  BARRIER();
  return fits;
}
