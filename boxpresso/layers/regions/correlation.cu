// correlation.cu: how much patches of one map resemble those around them in another (FlowNet), and the gradients of that.
//
// top[n, p, q, y, x] = sum over c, i, j of a[n, c, v, w] b[n, c, v + dy, w + dx] with v = y stride - pad + i dilation, likewise w,
// dy = (p - reach) patch_step, dx = (q - reach) patch_step; 0 outside either map.
#include "columns.h"

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

constexpr int BESIDE = REGISTERS == 32 ? 9 : 3;  // displacements across that a thread sums together: they read the same pixels of a
constexpr int VECTORS = COLUMNS == 1 ? 1 : REGISTERS == 32 ? 2 : 4;  // of columns, too

// Pixels at, at + stride, ... of a row, those of a span.
DEVICE Columns pixels_of(const Store* row, int at, int stride, const LaneSpan& span) {
  if (sizeof(Store) == sizeof(Real) && stride == 1) return load_span((const Real*)row + at, span);
  Real values[COLUMNS] = {};
  for (int i = 0; i < COLUMNS; ++i)
    if (within(span, i)) values[i] = Real(row[at + i * stride]);
  return *(const Columns*)values;
}

// A block for each row of the top and displacement down.
KERNEL correlation_forward(int n, const Store* a, const Store* b, Store* top, CorrelationGeometry g) {
  BLOCK_LOOP(block, n) {
    const int y = block % g.out_height, patch = 2 * g.reach + 1, p = block / g.out_height % patch;
    const int image = block / g.out_height / patch, area = g.height * g.width, dy = (p - g.reach) * g.patch_step;
    const Store *one = a + (long long)image * g.channels * area, *other = b + (long long)image * g.channels * area;
    THREAD_LOOP(part, (g.out_width + VECTORS * COLUMNS - 1) / (VECTORS * COLUMNS)) {
      for (int q = 0; q < patch; q += BESIDE) {
        Columns sum[BESIDE][VECTORS] = {};
        for (int tap = 0; tap < g.kernel * g.kernel; ++tap) {
          const int v = y * g.stride - g.pad + tap / g.kernel * g.dilation;
          if (v < 0 || v >= g.height || v + dy < 0 || v + dy >= g.height) continue;
          const int shift = tap % g.kernel * g.dilation - g.pad, dx = (q - g.reach) * g.patch_step;
          int at[VECTORS];
          LaneSpan near[VECTORS], far[BESIDE][VECTORS];
          for (int i = 0; i < VECTORS; ++i) {
            at[i] = (part * VECTORS + i) * COLUMNS * g.stride + shift;
            near[i] = lane_span(at[i], g.stride, g.width);
            for (int k = 0; k < BESIDE; ++k)
              far[k][i] = both(near[i], lane_span(at[i] + dx + k * g.patch_step, g.stride, g.width));
          }
          for (int c = 0; c < g.channels; ++c) {
            const Store *from = one + (long long)c * area + v * g.width, *to = other + (long long)c * area + (v + dy) * g.width;
            for (int i = 0; i < VECTORS; ++i) {
              const Columns pixels = pixels_of(from, at[i], g.stride, near[i]);
              for (int k = 0; k < BESIDE; ++k) {
                const Columns beside = pixels_of(to, at[i] + dx + k * g.patch_step, g.stride, far[k][i]);
                sum[k][i] = fused_span(pixels, beside, sum[k][i], far[k][i]);
              }
            }
          }
        }
        for (int k = 0; k < BESIDE && q + k < patch; ++k) {
          Store* row = top + (((long long)image * patch * patch + p * patch + q + k) * g.out_height + y) * g.out_width;
          for (int i = 0; i < VECTORS; ++i) {
            const int first = (part * VECTORS + i) * COLUMNS;
            store(row + first, sum[k][i], g.out_width - first);
          }
        }
      }
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
