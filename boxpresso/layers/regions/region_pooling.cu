// region_pooling.cu: the largest feature in the bins of rectangular rings, regions without an inner rectangle.
#include "kernel.h"

struct Rings {
  int batch, channels, height, width, out_height, out_width;
  Real scale, offset;
};

struct Side { int from, to; };

// A number as an int, those beyond a million at a million.
DEVICE int whole(Real x) { return int(max(min(x, Real(1e6)), Real(-1e6))); }

// The whole pixels of a map from one edge to the other, both with them; an empty side is its middle.
DEVICE Side side_of(Real from, Real to, const Rings& g) {
  Side s = {whole(floor((from + 1 + g.offset) * g.scale + Real(0.5))), whole(ceil((to + 1 - g.offset) * g.scale - Real(0.5)))};
  if (s.from > s.to) s.from = s.to = (s.from + s.to) / 2;
  return s;
}

// sides: (R, 9): batch index, or -1 for a region that counts for nothing; then from, to of the outer columns and rows, and of
// the inner ones. n: regions.
KERNEL ring_sides(int n, const Store* regions, int* sides, Rings g) {
  GRID_LOOP(r, n) {
    Real row[9];
    bool finite = true;
    for (int i = 0; i < 9; ++i) row[i] = Real(regions[9 * r + i]), finite = finite && row[i] - row[i] == 0;
    int* to = sides + 9 * r;
    to[0] = finite && row[0] > -1 && row[0] < g.batch ? int(row[0]) : -1;
    for (int i = 0; i < 4; ++i) {
      const int at = 1 + i / 2 * 4 + i % 2;
      const Side s = finite ? side_of(row[at], row[at + 2], g) : Side{0, 0};
      to[1 + 2 * i] = s.from;
      to[2 + 2 * i] = s.to;
    }
  }
}

// places: y * width + x of the largest feature of a bin that is above 0, -1 for none. n: elements of the top.
KERNEL ring_places(int n, const Store* features, const int* sides, int* places, Rings g) {
  GRID_LOOP(at, n) {
    const int px = at % g.out_width, py = at / g.out_width % g.out_height;
    const int channel = at / g.out_width / g.out_height % g.channels, r = at / g.out_width / g.out_height / g.channels;
    const int* s = sides + 9 * r;
    const Store* map = features + (max(s[0], 0) * g.channels + channel) * (g.height * g.width);
    const Real bin_w = Real(s[2] - s[1] + 1) / g.out_width, bin_h = Real(s[4] - s[3] + 1) / g.out_height;
    const int left = max(s[1] + int(floor(px * bin_w)), 0), right = min(s[1] + int(ceil((px + 1) * bin_w)), g.width);
    const int upper = max(s[3] + int(floor(py * bin_h)), 0), lower = min(s[3] + int(ceil((py + 1) * bin_h)), g.height);
    Real most = 0;
    int place = -1;
    for (int y = upper; y < lower && s[0] >= 0; ++y)
      for (int x = left; x < right; ++x) {
        const bool hole = x > s[5] && x < s[6] && y > s[7] && y < s[8];
        const Real value = Real(map[y * g.width + x]);
        if (!hole && value > most) most = value, place = y * g.width + x;
      }
    places[at] = place;
  }
}

KERNEL ring_forward(int n, const Store* features, const int* sides, const int* places, Store* top, Rings g) {
  GRID_LOOP(at, n) {
    const int plane = at / g.out_width / g.out_height, r = plane / g.channels;
    const Store* map = features + (max(sides[9 * r], 0) * g.channels + plane % g.channels) * (g.height * g.width);
    top[at] = places[at] < 0 ? Real(0) : Real(map[places[at]]);
  }
}

// A plane of sums takes what the bins of all regions give it, in their order. n: planes.
KERNEL ring_backward(int n, const Store* top_diff, const int* sides, const int* places, Real* sums, int regions, Rings g) {
  GRID_LOOP(plane, n) {
    const int bins = g.out_height * g.out_width;
    Real* diff = sums + plane * (g.height * g.width);
    for (int i = 0; i < g.height * g.width; ++i) diff[i] = 0;
    for (int r = 0; r < regions; ++r) {
      if (sides[9 * r] != plane / g.channels) continue;
      const int first = (r * g.channels + plane % g.channels) * bins;
      for (int i = first; i < first + bins; ++i)
        if (places[i] >= 0) diff[places[i]] += Real(top_diff[i]);
    }
  }
}
