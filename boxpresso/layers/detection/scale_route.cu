// scale_route.cu: the regions of one range of sizes. order.cu lists those that route_values names.
#include "kernel.h"

constexpr int SHARES = 256;  // threads that look for the closest region

// The root of a region's area (image, xmin, ymin, xmax, ymax, ..), the last pixel included; 0 where it has none.
DEVICE double size_of(const Real* region) {
  const double width = double(region[3]) - region[1] + 1, height = double(region[4]) - region[2] + 1;
  return width > 0 && height > 0 ? sqrt(width * height) : 0;
}

// values: -i where the size of region i is from low on and below high, else NaN.
KERNEL route_values(int n, const Real* regions, Real* values, int columns, double low, double high) {
  GRID_LOOP(i, n) {
    const double size = size_of(regions + (long long)i * columns);
    values[i] = size >= low && size < high ? Real(-i) : Real(NAN);
  }
}

// taken, and how many there are: the regions of order, start[1] of them; where there are none, of all `regions` the first whose size is
// closest to the middle, by ratio. By one block.
KERNEL route_taken(int n, const Real* regions, const int* order, const int* start, int* taken, int* count, int rows, int columns,
                   double middle) {
  SHARED double least[SHARES];
  SHARED int at[SHARES];
  BLOCK_LOOP(b, n) {
    const int some = start[1];
    THREAD_LOOP(i, some) taken[i] = order[i];
    THREAD_LOOP(t, some ? 0 : SHARES) {
      least[t] = 0;
      at[t] = -1;
      for (int i = t; i < rows; i += SHARES) {
        const double size = size_of(regions + (long long)i * columns);
        const double apart = max(size / middle, middle / size);
        if (at[t] < 0 || apart < least[t]) {
          least[t] = apart;
          at[t] = i;
        }
      }
    }
    BARRIER();
    THREAD_LOOP(one, 1) {
      int best = 0;
      for (int t = 1; t < (some ? 0 : SHARES); ++t)
        if (at[t] >= 0 && (least[t] < least[best] || (least[t] == least[best] && at[t] < at[best]))) best = t;
      if (!some) taken[0] = at[best];
      count[0] = max(some, 1);
    }
    BARRIER();
  }
}

// The rows of `width` numbers that were taken; at target[tail], unless that is below 0, how many they are.
KERNEL route_rows(int n, const Real* source, const int* taken, const int* count, Real* target, int width, int tail) {
  GRID_LOOP(i, n) {
    const int row = i / width;
    if (i == 0 && tail >= 0) target[tail] = count[0];
    if (row < count[0]) target[i] = source[(long long)taken[row] * width + i % width];
  }
}
