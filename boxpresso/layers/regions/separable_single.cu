// separable_single.cu: separable.cu for lists of one bilinear sample a bin, plane by plane.
//
// A bin has two pixels of an axis at most. So a plane is read where samples lie, not in all columns of a region, which may be many more.
#include "columns.h"
#include "separable.h"

constexpr int PLANES = 8;     // of a region that a block takes
constexpr int LINE = 2048;    // pixels of a row whose gradient is made before it is weighed for two of them
#if defined(__CUDACC__)
constexpr int STRIP = 1;  // vectors of a row's bins that are taken together: as many as a thread has registers for,
#else
constexpr int STRIP = 16;  // and on the CPU more, row by row: rows lie pages apart
#endif

// A sample along an axis: the pixels that it lies between, and how far beyond the lower one; low = -1: it takes none.
struct Sample {
  int low, high;
  Real part;
};

DEVICE Sample sample_of(const Axis& axis, int p) {
  const int begin = axis.start[p], end = axis.start[p + 1];
  if (begin == end) return {-1, -1, 0};
  return {axis.at[begin], axis.at[end - 1], end - begin > 1 ? axis.weight[begin + 1] : Real(0)};
}

// COLUMNS neighbouring bins of a row: the pixels that they lie between, counted from `first`, and how far beyond the left one.
struct Chunk {
  int number, count, first, last, there;  // there: how many pixels from `first` on the row has, at most 2 COLUMNS
  bool near, whole;                       // near: all their pixels are among these; whole: each bin has some
  Picks left, right;
  Columns across;
};

DEVICE Chunk chunk_of(int number, const Axis& x, const ListGeometry& g) {
  int first = g.width, last = -1, lefts[COLUMNS], rights[COLUMNS];
  Real parts[COLUMNS];
  Chunk chunk;
  chunk.number = number, chunk.count = min(COLUMNS, g.pooled_width - number * COLUMNS), chunk.whole = true;
  for (int i = 0; i < COLUMNS; ++i) {
    const Sample sample = i < chunk.count ? sample_of(x, number * COLUMNS + i) : Sample{-1, -1, 0};
    lefts[i] = sample.low, rights[i] = sample.high, parts[i] = sample.part;
    if (sample.low >= 0) first = min(first, sample.low), last = max(last, sample.high);
    else if (i < chunk.count) chunk.whole = false;
  }
  for (int i = 0; i < COLUMNS; ++i) {
    const bool some = lefts[i] >= 0;
    lefts[i] = some ? lefts[i] - first : 0;
    rights[i] = some ? rights[i] - first : 0;
  }
  chunk.first = first, chunk.last = last, chunk.there = min(g.width - first, 2 * COLUMNS), chunk.near = last - first < 2 * COLUMNS;
  chunk.left = *(const Picks*)lefts, chunk.right = *(const Picks*)rights, chunk.across = *(const Columns*)parts;
  return chunk;
}

// Brings near what a row of a plane is read for there.
DEVICE void soon_row(const Store* row, const Chunk& chunk) {
  if (chunk.last - chunk.first < COLUMNS * 64 / int(sizeof(Store)))
    for (int x = chunk.first; x <= chunk.last; x += 64 / sizeof(Store)) soon(row + x);
  else
    for (int i = 0; i < chunk.count; ++i) soon(row + chunk.first + item(chunk.left, i));
}

// What a row of a plane has there: the pixels on the left, and how much more those on the right are.
struct Ends {
  Columns lower, change;
};

DEVICE Ends ends_of(const Store* row, const Chunk& chunk) {
  Columns lower, upper;
  row += chunk.first;
  if (chunk.near) {
    const Columns one = load(row, chunk.there), next = chunk.there > COLUMNS ? load(row + COLUMNS, chunk.there - COLUMNS) : Columns{};
    lower = pick(one, next, chunk.left);
    upper = pick(one, next, chunk.right);
  } else {
    lower = pick(row, chunk.left);
    upper = pick(row, chunk.right);
  }
  return {lower, upper - lower};
}

// A row of a plane, interpolated there.
DEVICE Columns across_row(const Store* row, const Chunk& chunk) {
  const Ends ends = ends_of(row, chunk);
  return ends.lower + ends.change * chunk.across;
}

// A block owns PLANES channels of a region; features: (B, C, height, width), top: (K, C, pooled_height, pooled_width). A thread goes down
// COLUMNS columns of bins, and interpolates a row of the map once for all bins that lie beside it. The host takes all planes of some
// columns, the GPU's threads neighbouring columns.
KERNEL separable_forward_single(int n, const Store* features, const int* head, const int* index, const Real* weight, Store* top,
                                ListGeometry g) {
  const int regions = g.regions, channels = g.channels, pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    const int k = b % regions, channel = b / regions * PLANES, planes = min(PLANES, channels - channel);
    const int chunks = (pooled_width + COLUMNS - 1) / COLUMNS, area = g.height * g.width;
    const Axis y = axis_by_bin(k, 0, head, index, weight, g), x = axis_by_bin(k, 1, head, index, weight, g);
    Chunk chunk;
    chunk.number = -1;
    THREAD_LOOP(t, planes * chunks) {
      const int number = COLUMNS > 1 ? t / planes : t % chunks, c = channel + (COLUMNS > 1 ? t % planes : t / chunks);
      if (chunk.number != number) chunk = chunk_of(number, x, g);
      const Store* plane = features + ((long long)max(head[5 * k], 0) * channels + c) * area;
      Store* out = top + ((long long)k * channels + c) * pooled_height * pooled_width + number * COLUMNS;
      int above = -1, below = -1;  // rows that are interpolated
      Columns upper = {}, lower = {};
      for (int ph = 0; ph < pooled_height; ++ph, out += pooled_width) {
        Columns value = {};
        const Sample row = sample_of(y, ph);
        if (row.low >= 0 && chunk.first < g.width) {
          const auto take = [&](int y) {
            return y == above ? upper : y == below ? lower : across_row(plane + (long long)y * g.width, chunk);
          };
          if (c + 1 < channel + planes) {
            if (row.low != above && row.low != below) soon_row(plane + area + (long long)row.low * g.width, chunk);
            if (row.high != row.low) soon_row(plane + area + (long long)row.high * g.width, chunk);
          }
          const Columns one = take(row.low), two = row.high == row.low ? one : take(row.high);
          above = row.low, below = row.high, upper = one, lower = two;
          value = upper + (lower - upper) * row.part;
          if (!chunk.whole)
            for (int i = 0; i < chunk.count; ++i)
              if (sample_of(x, number * COLUMNS + i).low < 0) set_item(value, i, Real(0));
        }
        store(out, value, chunk.count);
      }
    }
  }
}

// The gradient of the maps, for the host: a block owns a plane of sums (B, C, height, width), and takes the regions of its image in order.
KERNEL separable_backward_single(int n, const Store* top_diff, const int* head, const int* index, const Real* weight, Real* sums,
                                 ListGeometry g) {
  BLOCK_LOOP(b, n) {
    const int image = b / g.channels, c = b - image * g.channels, pooled_width = g.pooled_width;
    SHARED Real strip[LINE];
    Real* plane = sums + (long long)b * g.height * g.width;
    THREAD_LOOP(i, g.height * g.width) plane[i] = 0;
    BARRIER();
    THREAD_LOOP(one, 1) for (int k = 0; k < g.regions && !STOPPED(); ++k) {
      if (head[5 * k] != image) continue;
      const Axis y = axis_by_bin(k, 0, head, index, weight, g), x = axis_by_bin(k, 1, head, index, weight, g);
      const Store* given = top_diff + ((long long)k * g.channels + c) * g.pooled_height * pooled_width;
      const int first = x.start[0], left = x.first;
      const bool pairs = x.start[pooled_width] - first == 2 * pooled_width, once = x.length <= min(LINE, pooled_width);
      const auto add_row = [&](Real* line, Real down) {
        for (int pw = 0; pw < pooled_width; ++pw) {
          const int f = pairs ? first + 2 * pw : x.start[pw], end = pairs ? f + 2 : x.start[pw + 1];
          if (f == end) continue;
          const Real gradient = down * Real(given[pw]);
          line[x.at[f]] += x.weight[f] * gradient;
          if (end - f > 1) line[x.at[f + 1]] += x.weight[f + 1] * gradient;
        }
      };
      for (int ph = 0; ph < g.pooled_height; ++ph, given += pooled_width) {
        if (once && y.start[ph] < y.start[ph + 1]) {
          for (int i = 0; i < x.length; ++i) strip[i] = 0;
          add_row(strip - left, Real(1));
        }
        for (int e = y.start[ph]; e < y.start[ph + 1]; ++e) {
          Real* line = plane + (long long)y.at[e] * g.width;
          if (once) for (int i = 0; i < x.length; ++i) line[left + i] += y.weight[e] * strip[i];
          else add_row(line, y.weight[e]);
        }
      }
    }
    BARRIER();
  }
}

// The sums that make up the regions' gradient, for the host: a block owns PLANES channels of a region; parts: (blocks of channels, K, 4).
// A sample moves as the second of its two pixels says: see Change in separable_lists.h.
KERNEL separable_moves_single(int n, const Store* features, const Store* top_diff, const int* head, const int* index, const Real* weight,
                              Real* parts, ListGeometry g) {
  const int channels = g.channels, pooled_width = g.pooled_width, area = g.height * g.width;
  BLOCK_LOOP(b, n) {
    SHARED Real sum[PLANES][4];
    const int k = b % g.regions, channel = b / g.regions * PLANES, planes = min(PLANES, channels - channel);
    const Axis y = axis_by_bin(k, 0, head, index, weight, g), x = axis_by_bin(k, 1, head, index, weight, g);
    const auto change_of = [&](const Axis& axis, int p, bool lever) {
      const int second = axis.start[p + 1] - 1;
      return second > axis.start[p] ? axis.weight[second + (lever ? 2 : 1) * changes_behind(g)] : Real(0);
    };
    THREAD_LOOP(t, planes) for (int i = 0; i < 4; ++i) sum[t][i] = 0;
    for (int begin = 0; begin * COLUMNS < pooled_width; begin += STRIP) {
      SHARED Chunk chunks[STRIP];
      SHARED Real slopes[STRIP * COLUMNS], levers[STRIP * COLUMNS];
      const int count = min(STRIP, (pooled_width - 1) / COLUMNS + 1 - begin), bins = min(STRIP * COLUMNS, pooled_width - begin * COLUMNS);
      THREAD_LOOP(i, count) chunks[i] = chunk_of(begin + i, x, g);
      THREAD_LOOP(i, bins) {
        slopes[i] = change_of(x, begin * COLUMNS + i, false);
        levers[i] = change_of(x, begin * COLUMNS + i, true);
      }
      BARRIER();
      THREAD_LOOP(t, planes) {
        const Store* plane = features + ((long long)max(head[5 * k], 0) * channels + channel + t) * area;
        const Store* given = top_diff + ((long long)k * channels + channel + t) * g.pooled_height * pooled_width;
        Columns move_y[STRIP], stretch_y[STRIP], move_x[STRIP];
        for (int i = 0; i < count; ++i) move_y[i] = stretch_y[i] = move_x[i] = Columns{};
        for (int ph = 0; ph < g.pooled_height; ++ph, given += pooled_width) {
          const Sample row = sample_of(y, ph);
          if (row.low < 0) continue;
          const Real slope = change_of(y, ph, false), lever = change_of(y, ph, true);
          const Store *low = plane + (long long)row.low * g.width, *high = plane + (long long)row.high * g.width;
          for (int i = 0; i < count; ++i) {
            const Chunk& chunk = chunks[i];
            if (chunk.first == g.width) continue;
            if (t + 1 < planes) {
              soon_row(low + area, chunk);
              if (row.high != row.low) soon_row(high + area, chunk);
            }
            const Ends above = ends_of(low, chunk), below = row.high == row.low ? above : ends_of(high, chunk);
            const Columns gradient = load(given + chunk.number * COLUMNS, chunk.count);
            const Columns by_y = gradient * (below.lower + below.change * chunk.across - above.lower - above.change * chunk.across);
            move_y[i] += by_y * slope;
            stretch_y[i] += by_y * lever;
            move_x[i] += gradient * (above.change + (below.change - above.change) * row.part);
          }
        }
        const Real *along_y = (const Real*)move_y, *along_stretch = (const Real*)stretch_y, *along_x = (const Real*)move_x;
        for (int i = 0; i < bins; ++i) {
          if (sample_of(x, begin * COLUMNS + i).low < 0) continue;
          sum[t][0] += along_y[i];
          sum[t][1] += along_stretch[i];
          sum[t][2] += slopes[i] * along_x[i];
          sum[t][3] += levers[i] * along_x[i];
        }
      }
      BARRIER();
    }
    BARRIER();
    THREAD_LOOP(i, 4) {
      Real all = 0;
      for (int t = 0; t < planes; ++t) all += sum[t][i];
      parts[4 * (long long)b + i] = all;
    }
    BARRIER();
  }
}
