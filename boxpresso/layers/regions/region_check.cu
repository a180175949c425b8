// region_check.cu: whether regions ask for too much work, found on the GPU, so that the host need not look at them. What it looks at
// on a CPU is in region_check.py, by the same formulas.
#include "region.h"

constexpr int PARTS = 256, SHARE = 16;  // sums of regions that are made at once, and how many of those one thread adds up

// adaptive: whether the grids adapt, of which a bin may have so many `samples` (0: any). A region costs its pixels on a map of height x width
// with borders, or `each`, each of `cost`, and where the axes are `separable` `along`, or that for each pixel along an axis.
// Where bins are `turned`, the boxes around them count.
// least: of a size in pixels; most: that all may cost; mark: what tells the host that something is wrong.
struct WorkGeometry {
  int regions, batch, columns, pooled_height, pooled_width, adaptive, separable, turned, mark;
  double scale, least, height, width, cost, each, along, along_pixel, samples, most;
};

struct Asked {
  bool valid, bad;  // whether it contributes anything, and whether a bin asks for too many samples
  double cost;
};

DEVICE double larger(double a, double b) { return a < b ? b : a; }
DEVICE double smaller(double a, double b) { return b < a ? b : a; }

DEVICE Asked asked_by(const Store* region, const WorkGeometry& g) {
  if (image_of(region, g.columns, g.batch) < 0) return {false, false, 0};
  const bool corners = g.columns == 5;
  double width = Real(region[3]), height = Real(region[4]);
  if (corners) {
    width -= double(Real(region[1]));
    height -= double(Real(region[2]));
  }
  width *= g.scale;
  height *= g.scale;
  const double rows = ceil(larger(height, g.least) / g.pooled_height), columns = ceil(larger(width, g.least) / g.pooled_width);
  Asked asked = {true, g.samples > 0 && !(rows * columns <= g.samples), 0};
  if (g.turned) height = width = abs(height) + abs(width);
  if (g.adaptive && (height <= 0 || width <= 0)) height = width = 0;  // a pixel at most
  height = abs(height) + 2 + 2 * g.pooled_height;
  width = abs(width) + 2 + 2 * g.pooled_width;
  double inside = corners ? smaller(height, g.height) * smaller(width, g.width) : smaller(height * width, g.each);
  if (!g.adaptive) inside = g.separable ? smaller(inside, g.each) : g.each;
  asked.cost = g.cost * inside + g.along + g.along_pixel * (height + width);
  return asked;
}

// checked: the regions, of which those that ask for too much have a batch index that is in no image: -2 - the index; and so have all
// where together they do. Then `record` tells so: mark; how many ask for too many samples; how many contribute; what these cost
// and may cost; the first that asks for too many. It keeps what it tells until the host has read it. n: 1.
KERNEL region_check(int n, const Store* rows, Store* checked, double* record, WorkGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED double cost[PARTS + PARTS / SHARE];
    SHARED int bad[PARTS + PARTS / SHARE], valid[PARTS + PARTS / SHARE], first[PARTS + PARTS / SHARE], refused[1];
    THREAD_LOOP(p, PARTS) {
      double sum = 0;
      int found = 0, counted = 0, at = g.regions;
      for (int k = p; k < g.regions; k += PARTS) {
        const Store* region = rows + (long long)k * g.columns;
        const Asked asked = asked_by(region, g);
        Store* to = checked + (long long)k * g.columns;
        for (int c = 0; c < g.columns; ++c) to[c] = region[c];
        if (asked.bad) to[0] = Real(-2) - Real(region[0]);
        sum += asked.cost;
        counted += asked.valid;
        found += asked.bad;
        if (asked.bad) at = min(at, k);
      }
      cost[p] = sum;
      bad[p] = found;
      valid[p] = counted;
      first[p] = at;
    }
    BARRIER();
    const auto add_up = [&](int to, int from, int count) {
      double sum = 0;
      int found = 0, counted = 0, at = g.regions;
      for (int i = from; i < from + count; ++i) {
        sum += cost[i];
        found += bad[i];
        counted += valid[i];
        at = min(at, first[i]);
      }
      cost[to] = sum;
      bad[to] = found;
      valid[to] = counted;
      first[to] = at;
    };
    THREAD_LOOP(q, PARTS / SHARE) add_up(PARTS + q, q * SHARE, SHARE);
    BARRIER();
    THREAD_LOOP(one, 1) {
      add_up(0, PARTS, PARTS / SHARE);
      refused[0] = cost[0] > g.most;
      if ((bad[0] > 0 || refused[0]) && record[0] != g.mark) {
        record[1] = bad[0];
        record[2] = valid[0];
        record[3] = cost[0];
        record[4] = g.most;
        const Store* region = rows + (long long)min(first[0], g.regions - 1) * g.columns;
        for (int c = 0; c < g.columns; ++c) record[5 + c] = Real(region[c]);
        record[0] = g.mark;
      }
    }
    BARRIER();
    if (refused[0]) THREAD_LOOP(k, g.regions) {
      const long long at = (long long)k * g.columns;
      if (asked_by(rows + at, g).valid) checked[at] = Real(-2) - Real(rows[at]);
    }
    BARRIER();
  }
}
