// flow_warp.cu: a map sampled where a flow leads from each place.
#include "kernel.h"

// visit(pixel, weight, slope along x, slope along y) for each of the four pixels about where the flow leads from place `at` of
// an image; false where that lies outside. Beyond the last row or column its pixels stand for what would follow them.
template <class Visit>
DEVICE bool led_to(const Real* flow, int at, int height, int width, Visit visit) {
  const Real x = Real(at % width) + flow[at], y = Real(at / width) + flow[height * width + at];
  if (!(x >= 0 && y >= 0 && x < width && y < height)) return false;  // NaN leads nowhere
  const int left = int(x), top = int(y);
  const Real across = x - left, down = y - top;
  for (int corner = 0; corner < 4; ++corner) {
    const int row = min(top + corner / 2, height - 1), column = min(left + corner % 2, width - 1);
    const Real high = corner / 2 ? down : 1 - down, wide = corner % 2 ? across : 1 - across;
    visit(row * width + column, high * wide, corner % 2 ? high : -high, corner / 2 ? wide : -wide);
  }
  return true;
}

KERNEL flow_warp_forward(int n, const Real* map, const Real* flow, Real* top, int channels, int height, int width, Real fill) {
  GRID_LOOP(i, n) {
    const int places = height * width, plane = i / places;
    const Real* from = map + plane * places;
    Real sum = 0;
    const bool inside = led_to(flow + plane / channels * 2 * places, i % places, height, width,
                               [&](int pixel, Real weight, Real, Real) { sum += weight * from[pixel]; });
    top[i] = inside ? sum : fill;
  }
}

// n: planes, each by one thread, in the order of its places.
KERNEL flow_warp_map_diff(int n, const Real* flow, const Real* top_diff, Real* diff, int channels, int height, int width) {
  GRID_LOOP(plane, n) {
    const int places = height * width;
    Real* to = diff + plane * places;
    for (int i = 0; i < places; ++i) to[i] = 0;
    for (int at = 0; at < places; ++at) {
      const Real from = top_diff[plane * places + at];
      led_to(flow + plane / channels * 2 * places, at, height, width,
             [&](int pixel, Real weight, Real, Real) { to[pixel] += weight * from; });
    }
  }
}

// n: images times places.
KERNEL flow_warp_flow_diff(int n, const Real* map, const Real* flow, const Real* top_diff, Real* diff, int channels, int height,
                           int width) {
  GRID_LOOP(i, n) {
    const int places = height * width, image = i / places, at = i % places;
    double along_x = 0, along_y = 0;
    for (int c = 0; c < channels; ++c) {
      const int first = (image * channels + c) * places;
      led_to(flow + image * 2 * places, at, height, width, [&](int pixel, Real, Real of_x, Real of_y) {
        const double by = double(map[first + pixel]) * double(top_diff[first + at]);
        along_x += by * double(of_x);
        along_y += by * double(of_y);
      });
    }
    diff[image * 2 * places + at] = Real(along_x);
    diff[(image * 2 + 1) * places + at] = Real(along_y);
  }
}
