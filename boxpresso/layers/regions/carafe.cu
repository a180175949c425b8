// carafe.cu: upsampling by a kernel for each pixel of the result (CARAFE), and its gradients.
//
// top[n, c, y, x] = sum over i, j < k of mask[n, (g k + i) k + j, y, x] features[n, c, y / s + i - k / 2, x / s + j - k / 2]
// with g = c / (C / G), quotients rounded down, and 0 outside the features.
#include "kernel.h"

struct CarafeGeometry {
  int channels, height, width, kernel, groups, scale;
};

constexpr int TOGETHER = 128;  // columns of the top
constexpr int REACH = 512;     // (k - 1) s at most: how far the kernel reaches along a row of the top
constexpr int CHANNELS = 32;   // that a block takes
constexpr int TAPS = 8;        // of a row of the kernel that are summed together

// The columns from begin to end; a column is always the same thread's.
#if defined(__CUDACC__)
#define SPAN_LOOP(x, begin, end) THREAD_LOOP(x, max(end, 0)) if (x >= (begin))
#else
#define SPAN_LOOP(x, begin, end) for (int x = max(begin, 0); x < (end); ++x)
#endif

// line[u] = the feature under column first + u - (k / 2) s of the top, where 0 outside; so tap j of column x is line[x + j s].
DEVICE void widen(Real* line, const Store* row, int first, int count, const CarafeGeometry& g) {
  THREAD_LOOP(u, count + (g.kernel - 1) * g.scale) {
    const int x = first + u - g.kernel / 2 * g.scale;
    line[u] = x >= 0 && x < g.width * g.scale ? Real(row[x / g.scale]) : Real(0);
  }
}

// Which image, group and channels a block has, of row y of `rows`.
struct Share {
  int image, group, begin, end, y;
};
DEVICE Share share_of_block(int b, int rows, const CarafeGeometry& g) {
  const int each = g.channels / g.groups, parts = (each + CHANNELS - 1) / CHANNELS, y = b % rows, part = b / rows % parts;
  const int group = b / rows / parts % g.groups, begin = group * each + part * CHANNELS;
  return {b / rows / parts / g.groups, group, begin, min(begin + CHANNELS, (group + 1) * each), y};
}

// A block for each row of the top and some channels of a group.
KERNEL carafe_forward(int n, const Store* features, const Store* mask, Store* top, CarafeGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Real sum[TOGETHER];
    SHARED Real line[TOGETHER + REACH];
    const int rows = g.height * g.scale, wide = g.width * g.scale;
    const Share s = share_of_block(b, rows, g);
    const Store* weight = mask + (long long)(s.image * g.groups + s.group) * g.kernel * g.kernel * rows * wide + (long long)s.y * wide;
    for (int first = 0; first < wide; first += TOGETHER) {
      const int count = min(TOGETHER, wide - first);
      for (int c = s.begin; c < s.end; ++c) {
        const long long plane = (long long)s.image * g.channels + c;
        THREAD_LOOP(x, count) sum[x] = 0;
        for (int i = 0; i < g.kernel; ++i) {
          const int row = s.y / g.scale + i - g.kernel / 2;
          if (row < 0 || row >= g.height) continue;
          widen(line, features + (plane * g.height + row) * g.width, first, count, g);
          BARRIER();
          for (int j = 0; j < g.kernel; ++j) {
            const Store* part = weight + (long long)(i * g.kernel + j) * rows * wide + first;
            THREAD_LOOP(x, count) sum[x] += Real(part[x]) * line[x + j * g.scale];
          }
          BARRIER();
        }
        THREAD_LOOP(x, count) top[(plane * rows + s.y) * wide + first + x] = sum[x];
      }
    }
  }
}

// The gradient of the features, a block for each of their rows and some channels: first by columns of the top, then those of a
// feature together.
KERNEL carafe_features(int n, const Store* mask, const Store* top_diff, Store* diff, CarafeGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Real sum[TOGETHER];
    const int rows = g.height * g.scale, wide = g.width * g.scale;
    const Share s = share_of_block(b, g.height, g);
    const Store* weight = mask + (long long)(s.image * g.groups + s.group) * g.kernel * g.kernel * rows * wide;
    const int step = TOGETHER / g.scale;  // features at a time: carafe.py keeps s below TOGETHER
    for (int c = s.begin; c < s.end; ++c) {
      const long long plane = (long long)s.image * g.channels + c;
      for (int from = 0; from < g.width; from += step) {
        const int first = from * g.scale, count = min(step, g.width - from) * g.scale;
        THREAD_LOOP(x, count) sum[x] = 0;
        for (int i = 0; i < g.kernel; ++i) {
          const int row = s.y - i + g.kernel / 2;
          if (row < 0 || row >= g.height) continue;
          for (int y = row * g.scale; y < (row + 1) * g.scale; ++y)
            for (int j = 0; j < g.kernel; ++j) {
              const int back = (j - g.kernel / 2) * g.scale, low = back - first, high = wide + back - first;
              const Store* part = weight + ((long long)(i * g.kernel + j) * rows + y) * wide + first - back;
              const Store* given = top_diff + (plane * rows + y) * wide + first - back;
              SPAN_LOOP(x, low, min(count, high)) sum[x] += Real(part[x]) * Real(given[x]);
            }
        }
        BARRIER();
        THREAD_LOOP(w, count / g.scale) {
          Real total = 0;
          for (int x = w * g.scale; x < (w + 1) * g.scale; ++x) total += sum[x];
          diff[(plane * g.height + s.y) * g.width + from + w] = total;
        }
        BARRIER();
      }
    }
  }
}

// The gradient of the masks, a block for each row of the kernel and of the top, summed over the channels in order.
KERNEL carafe_mask(int n, const Store* features, const Store* top_diff, Store* diff, CarafeGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Real sum[TAPS][TOGETHER];
    SHARED Real line[TOGETHER + REACH];
    const int rows = g.height * g.scale, wide = g.width * g.scale, y = b % rows, i = b / rows % g.kernel;
    const int group = b / rows / g.kernel % g.groups, image = b / rows / g.kernel / g.groups, each = g.channels / g.groups;
    const int row = y / g.scale + i - g.kernel / 2;
    Store* out = diff + ((long long)((image * g.groups + group) * g.kernel + i) * g.kernel * rows + y) * wide;
    for (int first = 0; first < wide; first += TOGETHER)
      for (int tap = 0; tap < g.kernel; tap += TAPS) {
        const int count = min(TOGETHER, wide - first), taps = min(TAPS, g.kernel - tap);
        for (int j = 0; j < taps; ++j) THREAD_LOOP(x, count) sum[j][x] = 0;
        for (int c = group * each; row >= 0 && row < g.height && c < (group + 1) * each; ++c) {
          const long long plane = (long long)image * g.channels + c;
          const Store* given = top_diff + (plane * rows + y) * wide + first;
          widen(line, features + (plane * g.height + row) * g.width, first, count, g);
          BARRIER();
          for (int j = 0; j < taps; ++j)
            THREAD_LOOP(x, count) sum[j][x] += line[x + (tap + j) * g.scale] * Real(given[x]);
          BARRIER();
        }
        for (int j = 0; j < taps; ++j)
          THREAD_LOOP(x, count) out[(long long)(tap + j) * rows * wide + first + x] = sum[j][x];
      }
  }
}
