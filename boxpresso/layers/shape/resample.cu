// resample.cu: a map at another size, each place a weighted mean of the pixels around it.
#include "kernel.h"

constexpr int CUBIC = 0, LINEAR = 1, NEAREST = 2;

// The weight of a pixel at a distance: the triangle, or Keys' cubic with a = -1/2.
DEVICE Real weight_at(Real distance, int how) {
  const Real x = abs(distance);
  if (how == LINEAR) return x < 1 ? 1 - x : Real(0);
  return x <= 1 ? x * x * (Real(1.5) * x - Real(2.5)) + 1 : x < 2 ? x * (x * (Real(-0.5) * x + Real(2.5)) - 4) + 2 : Real(0);
}

// What of a pixel at a distance counts for one of the top that is `step` pixels from the next; of one row alone all.
DEVICE Real share_at(Real distance, Real step) {
  return step > 0 ? max(Real(0), 1 - abs(distance) / step) : Real(1);
}

// Corners are on corners; pixels that are NaN do not count, unless their weights are more than half of the others'.
KERNEL downsample_forward(int n, const Real* map, Real* top, int height, int width, int high, int wide, Real step_y, Real step_x) {
  const int reach_y = int(ceil(step_y)), reach_x = int(ceil(step_x));
  GRID_LOOP(i, n) {
    const int at = i % (high * wide);
    const Real* from = map + i / (high * wide) * height * width;
    const Real y = at / wide * step_y, x = at % wide * step_x;
    const int row = int(round(y)), column = int(round(x));
    Real sum = 0, whole = 0, unknown = 0;
    for (int v = max(row - reach_y, 0); v <= min(row + reach_y, height - 1); ++v)
      for (int u = max(column - reach_x, 0); u <= min(column + reach_x, width - 1); ++u) {
        const Real weight = share_at(v - y, step_y) * share_at(u - x, step_x), value = from[v * width + u];
        if (value != value) {
          unknown += weight;
        } else {
          sum += weight * value;
          whole += weight;
        }
      }
    top[i] = 2 * unknown > whole ? Real(NAN) : sum / whole;
  }
}

// step_x, step_y: pixels of the map for one of the top; sharp_x, sharp_y: by what distances are multiplied; reach_x, reach_y: how
// far pixels are looked at. The program that it is from takes the other axis' step for its offset, which shows where they differ.
KERNEL resample_forward(int n, const Real* map, Real* top, int height, int width, int high, int wide, Real step_y, Real step_x,
                        int antialias, int how) {
  const Real sharp_x = antialias ? 1 / step_x : Real(1), sharp_y = antialias ? 1 / step_y : Real(1);
  const int taps = how == CUBIC ? 4 : 2;
  const int reach_x = step_x < 1 ? 2 : int(ceil(taps / sharp_x)), reach_y = step_y < 1 ? 2 : int(ceil(taps / sharp_y));
  GRID_LOOP(i, n) {
    const int at = i % (high * wide);
    const Real* from = map + i / (high * wide) * height * width;
    const Real x = at % wide * step_x + step_y / 2 - Real(0.5), y = at / wide * step_y + step_x / 2 - Real(0.5);
    const int column = int(round(x)), row = int(round(y));
    if (how == NEAREST) {
      top[i] = from[min(max(row, 0), height - 1) * width + min(max(column, 0), width - 1)];
    } else {
      Real sum = 0, whole = 0;
      for (int v = max(row - reach_y, 0); v <= min(row + reach_y, height - 1); ++v) {
        const Real down = weight_at(sharp_y * (y - v), how);
        for (int u = max(column - reach_x, 0); u <= min(column + reach_x, width - 1); ++u) {
          const Real weight = down * weight_at(sharp_x * (x - u), how);
          sum += weight * from[v * width + u];
          whole += weight;
        }
      }
      top[i] = whole != 0 ? sum / whole : Real(0);
    }
  }
}
