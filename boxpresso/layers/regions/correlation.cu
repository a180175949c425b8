// correlation.cu: how much patches of one map resemble those around them in another (FlowNet), and the gradients of that.
//
// top[n, p, q, y, x] = sum over c, i, j of a[n, c, v, w] b[n, c, v + dy, w + dx] with v = y stride - pad + i dilation, likewise w,
// dy = (p - reach) patch_step, dx = (q - reach) patch_step; 0 outside either map.
#include "kernel.h"

struct CorrelationGeometry {
  int channels, height, width, out_height, out_width, kernel, reach, stride, pad, dilation, patch_step;
};

constexpr int TOGETHER = 128;  // columns

// The columns from begin to end; a column is always the same thread's.
#if defined(__CUDACC__)
#define SPAN_LOOP(x, begin, end) THREAD_LOOP(x, max(end, 0)) if (x >= (begin))
#else
#define SPAN_LOOP(x, begin, end) for (int x = max(begin, 0); x < (end); ++x)
#endif

// From the first to the last of `count` columns x whose source x step + shift lies in 0 .. width - 1, moved by `by` too.
DEVICE void range_of(int step, int shift, int by, int width, int count, int* begin, int* end) {
  const int low = max(0, -by) - shift, high = min(width, width - by) - 1 - shift;  // of x step
  *begin = max(0, low > 0 ? (low + step - 1) / step : 0);
  *end = high < 0 ? 0 : min(count, high / step + 1);
}

// A block for each row of the top.
KERNEL correlation_forward(int n, const Store* a, const Store* b, Store* top, CorrelationGeometry g) {
  BLOCK_LOOP(block, n) {
    SHARED Real sum[TOGETHER];
    const int y = block % g.out_height, patch = 2 * g.reach + 1, displaced = block / g.out_height % (patch * patch);
    const int image = block / g.out_height / (patch * patch), area = g.height * g.width;
    const int dy = (displaced / patch - g.reach) * g.patch_step, dx = (displaced % patch - g.reach) * g.patch_step;
    const Store *one = a + (long long)image * g.channels * area, *other = b + (long long)image * g.channels * area;
    for (int first = 0; first < g.out_width; first += TOGETHER) {
      const int count = min(TOGETHER, g.out_width - first);
      THREAD_LOOP(x, count) sum[x] = 0;
      for (int tap = 0; tap < g.kernel * g.kernel; ++tap) {
        const int v = y * g.stride - g.pad + tap / g.kernel * g.dilation;
        if (v < 0 || v >= g.height || v + dy < 0 || v + dy >= g.height) continue;
        const int shift = first * g.stride - g.pad + tap % g.kernel * g.dilation;
        int begin, end;
        range_of(g.stride, shift, dx, g.width, count, &begin, &end);
        for (int c = 0; c < g.channels; ++c) {
          const Store *p = one + (long long)c * area + v * g.width, *q = other + (long long)c * area + (v + dy) * g.width + dx;
          if (g.stride == 1) {
            SPAN_LOOP(x, begin, end) sum[x] += Real(p[x + shift]) * Real(q[x + shift]);
          } else {
            SPAN_LOOP(x, begin, end) sum[x] += Real(p[x * g.stride + shift]) * Real(q[x * g.stride + shift]);
          }
        }
      }
      THREAD_LOOP(x, count) top[(long long)block * g.out_width + first + x] = sum[x];
    }
  }
}

// The gradient of a, from b, with sign 1; of b, from a, with sign -1. Each pixel gathers from the tops that read it, in order.
KERNEL correlation_backward(int n, const Store* other, const Store* top_diff, Store* diff, int sign, CorrelationGeometry g) {
  BLOCK_LOOP(block, n) {  // a row of the map
    SHARED Real sum[TOGETHER];
    const int h = block % g.height, plane = block / g.height, image = plane / g.channels, patch = 2 * g.reach + 1;
    const Store* map = other + (long long)plane * g.height * g.width;
    for (int first = 0; first < g.width; first += TOGETHER) {
      const int count = min(TOGETHER, g.width - first);
      THREAD_LOOP(w, count) sum[w] = 0;
      for (int displaced = 0; displaced < patch * patch; ++displaced) {
        const int dy = (displaced / patch - g.reach) * g.patch_step, dx = (displaced % patch - g.reach) * g.patch_step;
        if (h + sign * dy < 0 || h + sign * dy >= g.height) continue;
        const Store* given = top_diff + ((long long)image * patch * patch + displaced) * g.out_height * g.out_width;
        const Store* line = map + (h + sign * dy) * g.width + sign * dx;
        const int row = sign > 0 ? h : h - dy, back = sign > 0 ? 0 : -dx;  // where it lies in a
        for (int tap = 0; tap < g.kernel * g.kernel; ++tap) {
          const int v = row + g.pad - tap / g.kernel * g.dilation, shift = first + back + g.pad - tap % g.kernel * g.dilation;
          if (v < 0 || v % g.stride || v / g.stride >= g.out_height) continue;
          const Store* from = given + (long long)(v / g.stride) * g.out_width;
          const int low = max(-shift, -first - sign * dx), high = min(count, g.width - first - sign * dx);
          if (g.stride == 1) {
            const int end = min(high, g.out_width - shift);
            SPAN_LOOP(w, low, end) sum[w] += Real(from[w + shift]) * Real(line[first + w]);
          } else {
            SPAN_LOOP(w, low, high) {
              const int u = w + shift;
              if (u % g.stride == 0 && u / g.stride < g.out_width)
                sum[w] += Real(from[u / g.stride]) * Real(line[first + w]);
            }
          }
        }
      }
      THREAD_LOOP(w, count) diff[(long long)block * g.width + first + w] = sum[w];
    }
  }
}
