// carafe.cu: upsampling by a kernel for each pixel of the result (CARAFE), and its gradients.
//
// top[n, c, y, x] = sum over i, j < k of mask[n, (g k + i) k + j, y, x] features[n, c, y / s + i - k / 2, x / s + j - k / 2]
// with g = c / (C / G), quotients rounded down, and 0 outside the features.
#include "kernel.h"
#include "tile.h"

struct CarafeGeometry {
  int channels, height, width, kernel, groups, scale;
};

constexpr int COLUMNS_TOGETHER = 256;

// A block for each row of each plane of the top.
KERNEL carafe_forward(int n, const Store* features, const Store* mask, Store* top, CarafeGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Real sum[COLUMNS_TOGETHER];
    const int rows = g.height * g.scale, wide = g.width * g.scale, plane = b / rows, y = b - plane * rows;
    const int image = plane / g.channels, group = (plane - image * g.channels) / (g.channels / g.groups);
    const Store* map = features + (long long)plane * g.height * g.width;
    const Store* weight = mask + (long long)(image * g.groups + group) * g.kernel * g.kernel * rows * wide + (long long)y * wide;
    for (int first = 0; first < wide; first += COLUMNS_TOGETHER) {
      const int count = min(COLUMNS_TOGETHER, wide - first);
      THREAD_LOOP(x, count) sum[x] = 0;
      for (int i = 0; i < g.kernel; ++i) {
        const int row = y / g.scale + i - g.kernel / 2;
        if (row < 0 || row >= g.height) continue;
        for (int j = 0; j < g.kernel; ++j) {
          const Store* part = weight + (long long)(i * g.kernel + j) * rows * wide + first;
          const Store* line = map + row * g.width;
          THREAD_LOOP(x, count) {
            const int column = (first + x) / g.scale + j - g.kernel / 2;
            if (column >= 0 && column < g.width) sum[x] += Real(part[x]) * Real(line[column]);
          }
        }
      }
      THREAD_LOOP(x, count) top[(long long)b * wide + first + x] = sum[x];
    }
  }
}

// The gradient of the features: each pixel gathers from those of the top that read it, in order.
KERNEL carafe_features(int n, const Store* mask, const Store* top_diff, Store* diff, CarafeGeometry g) {
  BLOCK_LOOP(b, n) {
    const int rows = g.height * g.scale, wide = g.width * g.scale, plane = b / g.height, h = b - plane * g.height;
    const int image = plane / g.channels, group = (plane - image * g.channels) / (g.channels / g.groups);
    const Store* given = top_diff + (long long)plane * rows * wide;
    const Store* weight = mask + (long long)(image * g.groups + group) * g.kernel * g.kernel * rows * wide;
    THREAD_LOOP(w, g.width) {
      Real sum = 0;
      for (int i = 0; i < g.kernel; ++i) {
        const int from_row = h - i + g.kernel / 2;
        if (from_row < 0 || from_row >= g.height) continue;
        for (int j = 0; j < g.kernel; ++j) {
          const int from_column = w - j + g.kernel / 2;
          if (from_column < 0 || from_column >= g.width) continue;
          const Store* part = weight + (long long)(i * g.kernel + j) * rows * wide;
          for (int y = from_row * g.scale; y < (from_row + 1) * g.scale; ++y)
            for (int x = from_column * g.scale; x < (from_column + 1) * g.scale; ++x)
              sum += Real(part[(long long)y * wide + x]) * Real(given[(long long)y * wide + x]);
        }
      }
      diff[(long long)b * g.width + w] = sum;
    }
  }
}

// The gradient of the masks, a block for each row of each of their planes, summed over the channels in order.
KERNEL carafe_mask(int n, const Store* features, const Store* top_diff, Store* diff, CarafeGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Real sum[COLUMNS_TOGETHER];
    const int rows = g.height * g.scale, wide = g.width * g.scale, plane = b / rows, y = b - plane * rows;
    const int taps = g.kernel * g.kernel, tap = plane % taps, group = plane / taps % g.groups, image = plane / taps / g.groups;
    const int row = y / g.scale + tap / g.kernel - g.kernel / 2, each = g.channels / g.groups;
    for (int first = 0; first < wide; first += COLUMNS_TOGETHER) {
      const int count = min(COLUMNS_TOGETHER, wide - first);
      THREAD_LOOP(x, count) sum[x] = 0;
      for (int c = group * each; row >= 0 && row < g.height && c < (group + 1) * each; ++c) {
        const long long number = (long long)image * g.channels + c;
        const Store* line = features + (number * g.height + row) * g.width;
        const Store* given = top_diff + (number * rows + y) * wide + first;
        THREAD_LOOP(x, count) {
          const int column = (first + x) / g.scale + tap % g.kernel - g.kernel / 2;
          if (column >= 0 && column < g.width) sum[x] += Real(line[column]) * Real(given[x]);
        }
      }
      THREAD_LOOP(x, count) diff[(long long)b * wide + first + x] = sum[x];
    }
  }
}
