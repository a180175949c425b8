// correlation.cu: how much patches of one map resemble those around them in another (FlowNet), and the gradients of that.
//
// top[n, p, q, y, x] = factor * sum over c, i, j of a[n, c, v, w] b[n, c, v + dy, w + dx] with v = y stride - pad + i dilation, likewise w,
// dy = (p - reach) patch_step, dx = (q - reach) patch_step; 0 outside either map.
#include "columns.h"

struct CorrelationGeometry {
  int channels, height, width, out_height, out_width, kernel, reach, stride, pad, dilation, patch_step;
  Real factor;  // 1, or 1 over the number of products of a sum
};

constexpr int FURTHEST = 1048576;  // of what a layer is given: no place that is looked for overflows an int
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
            store(row + first, sum[k][i] * g.factor, g.out_width - first);
          }
        }
      }
    }
  }
}

constexpr int GROUP = 8;                          // channels that a thread sums together: they take the same numbers of the top
constexpr int DEEP = REGISTERS == 32 ? 2 : 1;     // vectors of columns, too

// What the gradients `given` of an image's tops give to row h of GROUP maps from column `first` on, from as many maps of the other
// input. STRIDED: whether the top has a number for some columns alone.
template <bool STRIDED>
DEVICE void gather_row(const Store* maps, const Store* given, int channels, int h, int first, int sign, Columns (&sum)[GROUP][DEEP],
                       const CorrelationGeometry& g) {
  const int patch = 2 * g.reach + 1, area = g.height * g.width;
  for (int down = 0; down < patch * g.kernel; ++down) {
    const int p = down / g.kernel, dy = (p - g.reach) * g.patch_step, row = sign > 0 ? h : h - dy;  // where it lies in a
    const int v = row + g.pad - down % g.kernel * g.dilation;
    if (h + sign * dy < 0 || h + sign * dy >= g.height || v < 0 || v % g.stride || v / g.stride >= g.out_height) continue;
    const Store* line = maps + (long long)(h + sign * dy) * g.width;
    for (int along = 0; along < patch * g.kernel; ++along) {
      const int q = along / g.kernel, dx = (q - g.reach) * g.patch_step;
      const Store* from = given + ((long long)(p * patch + q) * g.out_height + v / g.stride) * g.out_width;
      for (int i = 0; i < DEEP; ++i) {
        const int w = first + i * COLUMNS, beside = w + sign * dx;
        const int u = (sign > 0 ? w : w - dx) + g.pad - along % g.kernel * g.dilation;
        const LaneSpan there = both(lane_span(w, 1, g.width), lane_span(beside, 1, g.width));
        if (STRIDED) {
          for (int lane = 0; lane < COLUMNS; ++lane) {
            const int at = u + lane;
            if (!within(there, lane) || at < 0 || at % g.stride || at / g.stride >= g.out_width) continue;
            const Real gradient = Real(from[at / g.stride]);
            for (int c = 0; c < GROUP; ++c) {
              const Real value = Real(line[(long long)min(c, channels - 1) * area + beside + lane]);
              set_item(sum[c][i], lane, item(sum[c][i], lane) + gradient * value);
            }
          }
        } else {
          const LaneSpan span = both(there, lane_span(u, 1, g.out_width));  // 0 on both sides elsewhere
          const Columns gradient = pixels_of(from, u, 1, span);
          for (int c = 0; c < GROUP; ++c)
            sum[c][i] = fused(gradient, pixels_of(line + (long long)min(c, channels - 1) * area, beside, 1, span), sum[c][i]);
        }
      }
    }
  }
}

// The gradient of a, from b, with sign 1; of b, from a, with sign -1. Each pixel gathers from the tops that read it, in order. A
// block for a row of GROUP maps.
KERNEL correlation_backward(int n, const Store* other, const Store* top_diff, Store* diff, int sign, CorrelationGeometry g) {
  BLOCK_LOOP(block, n) {
    const int groups = (g.channels + GROUP - 1) / GROUP, h = block % g.height, image = block / g.height / groups;
    const int channel = (block / g.height - image * groups) * GROUP, channels = min(GROUP, g.channels - channel);
    const int patch = 2 * g.reach + 1;
    const long long start = ((long long)image * g.channels + channel) * g.height * g.width;
    const Store* given = top_diff + (long long)image * patch * patch * g.out_height * g.out_width;
    THREAD_LOOP(part, (g.width + DEEP * COLUMNS - 1) / (DEEP * COLUMNS)) {
      const int first = part * DEEP * COLUMNS;
      Columns sum[GROUP][DEEP] = {};
      if (g.stride == 1) gather_row<false>(other + start, given, channels, h, first, sign, sum, g);
      else gather_row<true>(other + start, given, channels, h, first, sign, sum, g);
      for (int c = 0; c < channels; ++c)
        for (int i = 0; i < DEEP; ++i) {
          const int w = first + i * COLUMNS;
          store(diff + start + ((long long)c * g.height + h) * g.width + w, sum[c][i] * g.factor, g.width - w);
        }
    }
  }
}
