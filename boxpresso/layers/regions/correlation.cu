// correlation.cu: how much patches of one map resemble those around them in another (FlowNet), and the gradients of that.
//
// top[n, p, q, y, x] = sum over c, i, j of a[n, c, v, w] b[n, c, v + dy, w + dx] with v = y stride - pad + i dilation, likewise w,
// dy = (p - reach) patch_step, dx = (q - reach) patch_step; 0 outside either map.
#include "kernel.h"

struct CorrelationGeometry {
  int channels, height, width, out_height, out_width, kernel, reach, stride, pad, dilation, patch_step;
};

DEVICE bool on_map(int y, int x, const CorrelationGeometry& g) { return y >= 0 && y < g.height && x >= 0 && x < g.width; }

KERNEL correlation_forward(int n, const Store* a, const Store* b, Store* top, CorrelationGeometry g) {
  BLOCK_LOOP(block, n) {  // a row of the top
    const int y = block % g.out_height, patch = 2 * g.reach + 1, displaced = block / g.out_height % (patch * patch);
    const int image = block / g.out_height / (patch * patch), area = g.height * g.width;
    const int dy = (displaced / patch - g.reach) * g.patch_step, dx = (displaced % patch - g.reach) * g.patch_step;
    const Store *one = a + (long long)image * g.channels * area, *other = b + (long long)image * g.channels * area;
    THREAD_LOOP(x, g.out_width) {
      Real sum = 0;
      for (int i = 0; i < g.kernel; ++i)
        for (int j = 0; j < g.kernel; ++j) {
          const int v = y * g.stride - g.pad + i * g.dilation, w = x * g.stride - g.pad + j * g.dilation;
          if (!on_map(v, w, g) || !on_map(v + dy, w + dx, g)) continue;
          const Store *p = one + v * g.width + w, *q = other + (v + dy) * g.width + w + dx;
          for (int c = 0; c < g.channels; ++c) sum += Real(p[(long long)c * area]) * Real(q[(long long)c * area]);
        }
      top[(long long)block * g.out_width + x] = sum;
    }
  }
}

// The gradient of a, from b, with sign 1; of b, from a, with sign -1. Each pixel gathers from the tops that read it, in order.
KERNEL correlation_backward(int n, const Store* other, const Store* top_diff, Store* diff, int sign, CorrelationGeometry g) {
  BLOCK_LOOP(block, n) {  // a row of the map
    const int h = block % g.height, plane = block / g.height, image = plane / g.channels, patch = 2 * g.reach + 1;
    const Store* map = other + (long long)plane * g.height * g.width;
    THREAD_LOOP(w, g.width) {
      Real sum = 0;
      for (int displaced = 0; displaced < patch * patch; ++displaced) {
        const int dy = (displaced / patch - g.reach) * g.patch_step, dx = (displaced % patch - g.reach) * g.patch_step;
        if (!on_map(h + sign * dy, w + sign * dx, g)) continue;
        const Store* given = top_diff + ((long long)image * patch * patch + displaced) * g.out_height * g.out_width;
        const int row = sign > 0 ? h : h - dy, column = sign > 0 ? w : w - dx;  // where it lies in a
        Real part = 0;
        for (int i = 0; i < g.kernel; ++i)
          for (int j = 0; j < g.kernel; ++j) {
            const int v = row + g.pad - i * g.dilation, u = column + g.pad - j * g.dilation;
            if (v < 0 || u < 0 || v % g.stride || u % g.stride) continue;
            if (v / g.stride < g.out_height && u / g.stride < g.out_width)
              part += Real(given[(long long)(v / g.stride) * g.out_width + u / g.stride]);
          }
        sum += part * Real(map[(h + sign * dy) * g.width + w + sign * dx]);
      }
      diff[(long long)block * g.width + w] = sum;
    }
  }
}
