// spatial_transformer.cu: a map that is sampled where a transform of each image's own says.
#include "sum.h"

constexpr int AFFINE = 0;

// Where place `at` of an output lies in the map, in pixels, and how each number of the transform moves it: moves[2 k] along x
// and moves[2 k + 1] along y. An affine one has rows before columns, a projective one columns before rows.
DEVICE void source_of(const Real* theta, int how, int at, int high, int wide, int height, int width, Real* y, Real* x,
                      Real* moves) {
  const int row = at / wide, column = at % wide;
  if (how == AFFINE) {
    const Real v = Real(2 * row) / high - 1, u = Real(2 * column) / wide - 1;
    *y = (theta[0] * v + theta[1] * u + theta[2] + 1) * height / 2;
    *x = (theta[3] * v + theta[4] * u + theta[5] + 1) * width / 2;
    for (int k = 0; k < 6; ++k) {
      const Real by = k % 3 == 0 ? v : k % 3 == 1 ? u : Real(1);
      moves[2 * k] = k < 3 ? Real(0) : by * width / 2;
      moves[2 * k + 1] = k < 3 ? by * height / 2 : Real(0);
    }
    return;
  }
  const Real u = wide > 1 ? Real(2 * column) / (wide - 1) - 1 : Real(-1), v = high > 1 ? Real(2 * row) / (high - 1) - 1 : Real(-1);
  const Real below = theta[6] * u + theta[7] * v + 1;
  const Real across = (theta[0] * u + theta[1] * v + theta[2]) / below, down = (theta[3] * u + theta[4] * v + theta[5]) / below;
  const Real wider = Real(width - 1) / 2, higher = Real(height - 1) / 2;
  *x = (across + 1) * wider;
  *y = (down + 1) * higher;
  for (int k = 0; k < 8; ++k) {
    const Real by = (k % 3 == 0 ? u : k % 3 == 1 ? v : Real(1)) / below;
    moves[2 * k] = k < 3 ? by * wider : k < 6 ? Real(0) : -by * across * wider;
    moves[2 * k + 1] = k < 3 ? Real(0) : k < 6 ? by * higher : -by * down * higher;
  }
  // Beyond the border the sample stays on it, and is not moved.
  if (!(*x >= 0 && *x <= width - 1))
    for (int k = 0; k < 8; ++k) moves[2 * k] = 0;
  if (!(*y >= 0 && *y <= height - 1))
    for (int k = 0; k < 8; ++k) moves[2 * k + 1] = 0;
  *x = *x > 0 ? (*x < width - 1 ? *x : Real(width - 1)) : Real(0);  // NaN is 0
  *y = *y > 0 ? (*y < height - 1 ? *y : Real(height - 1)) : Real(0);
}

// visit(pixel, weight, slope along y, slope along x) for each of the four pixels about (y, x) that are of the map.
template <class Visit>
DEVICE void corners(Real y, Real x, int height, int width, Visit visit) {
  if (!(y > -1 && y < height && x > -1 && x < width)) return;
  const int top = int(floor(y)), left = int(floor(x));
  const Real down = y - top, across = x - left;
  for (int corner = 0; corner < 4; ++corner) {
    const int row = top + corner / 2, column = left + corner % 2;
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    const Real high = corner / 2 ? down : 1 - down, wide = corner % 2 ? across : 1 - across;
    visit(row * width + column, high * wide, corner / 2 ? wide : -wide, corner % 2 ? high : -high);
  }
}

KERNEL transform_forward(int n, const Real* map, const Real* theta, Real* top, int channels, int height, int width, int high,
                         int wide, int how) {
  GRID_LOOP(i, n) {
    const int places = high * wide, plane = i / places, at = i % places;
    Real y, x, moves[16], sum = 0;
    source_of(theta + plane / channels * (how == AFFINE ? 6 : 8), how, at, high, wide, height, width, &y, &x, moves);
    const Real* from = map + plane * height * width;
    corners(y, x, height, width, [&](int pixel, Real weight, Real, Real) { sum += weight * from[pixel]; });
    top[i] = sum;
  }
}

// n: planes, each by one thread, in the order of its places.
KERNEL transform_map_diff(int n, const Real* theta, const Real* top_diff, Real* diff, int channels, int height, int width,
                          int high, int wide, int how) {
  GRID_LOOP(plane, n) {
    Real* to = diff + plane * height * width;
    for (int i = 0; i < height * width; ++i) to[i] = 0;
    for (int at = 0; at < high * wide; ++at) {
      Real y, x, moves[16];
      const Real from = top_diff[plane * high * wide + at];
      source_of(theta + plane / channels * (how == AFFINE ? 6 : 8), how, at, high, wide, height, width, &y, &x, moves);
      corners(y, x, height, width, [&](int pixel, Real weight, Real, Real) { to[pixel] += weight * from; });
    }
  }
}

// n: images times the numbers of a transform.
KERNEL transform_theta_diff(int n, const Real* map, const Real* theta, const Real* top_diff, Real* diff, int channels,
                            int height, int width, int high, int wide, int how) {
  SHARED double part[PARTS];
  const int numbers = how == AFFINE ? 6 : 8;
  BLOCK_LOOP(each, n) {
    const int image = each / numbers, number = each % numbers;
    const double sum = block_sum(part, high * wide, [=](int at) {
      Real y, x, moves[16];
      source_of(theta + image * numbers, how, at, high, wide, height, width, &y, &x, moves);
      double slope = 0;
      for (int c = 0; c < channels; ++c) {
        const Real* from = map + (image * channels + c) * height * width;
        double down = 0, across = 0;
        corners(y, x, height, width, [&](int pixel, Real, Real along_y, Real along_x) {
          down += double(along_y) * double(from[pixel]);
          across += double(along_x) * double(from[pixel]);
        });
        slope += double(top_diff[(image * channels + c) * high * wide + at]) *
                 (down * double(moves[2 * number + 1]) + across * double(moves[2 * number]));
      }
      return slope;
    });
    THREAD_LOOP(t, 1) diff[each] = Real(sum);
  }
}

// Of each image the numbers of a transform: those of `fixed` that are not NaN, the others from its row. n: images.
KERNEL transform_whole(int n, const Real* row, const Real* fixed, Real* theta, int numbers, int free) {
  GRID_LOOP(image, n)
    for (int k = 0, at = 0; k < numbers; ++k) theta[image * numbers + k] = fixed[k] == fixed[k] ? fixed[k] : row[image * free + at++];
}

KERNEL transform_free(int n, const Real* whole_diff, const Real* fixed, Real* diff, int numbers, int free) {
  GRID_LOOP(image, n)
    for (int k = 0, at = 0; k < numbers; ++k)
      if (!(fixed[k] == fixed[k])) diff[image * free + at++] = whole_diff[image * numbers + k];
}
