// roi_warping.cu: one bilinear sample in each bin of regions with whole corners, and its gradients.
#include "region.h"
#include "tile.h"
#include "warp.h"

constexpr int PARTS = 256;  // bins p, p + PARTS, ... of a region are summed together

// An axis of a region in pixels of the map; axis 0 is y.
struct Side {
  Real start, length;
};

DEVICE Side side_of(const Real* region, int axis, Real scale) {
  const Real start = round(region[2 - axis] * scale), stop = round(region[4 - axis] * scale);
  return {start, max(stop - start, Real(0))};
}

// The places of a region's rows and columns of samples.
struct Places {
  const int *low_y, *low_x;
  const Real *part_y, *part_x;
  int height, width;
};

DEVICE Places places_of(const int* low, const Real* part, int k, const Geometry& g) {
  const long long row = (long long)k * (g.pooled_height + g.pooled_width), column = row + g.pooled_height;
  return {low + row, low + column, part + row, part + column, g.height, g.width};
}
DEVICE Place row_of(const Places& p, int ph) { return {p.low_y[ph], min(p.low_y[ph] + 1, p.height - 1), p.part_y[ph]}; }
DEVICE Place column_of(const Places& p, int pw) { return {p.low_x[pw], min(p.low_x[pw] + 1, p.width - 1), p.part_x[pw]}; }

// A block is a region; low and part: (K, pooled_height + pooled_width), rows before columns.
KERNEL roi_warping_places(int n, const Real* regions, int* image, int* low, Real* part, Geometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * (long long)k;
    const int of = image_of(region, 5, g.batch), places = g.pooled_height + g.pooled_width;
    THREAD_LOOP(p, places) {
      if (p == 0) image[k] = of;
      const int axis = p < g.pooled_height ? 0 : 1, bin = axis ? p - g.pooled_height : p;
      const Side side = side_of(region, axis, g.scale);
      const Real at = side.start + bin * (side.length / (axis ? g.pooled_width : g.pooled_height));
      int below = -1, above;
      Real upper = 0;
      const bool inside = of >= 0 && neighbours_within(at, axis ? g.width : g.height, &below, &above, &upper);
      low[(long long)k * places + p] = inside ? below : -1;
      part[(long long)k * places + p] = inside ? upper : Real(0);
    }
  }
}

// A block is a channel of a region.
KERNEL roi_warping_forward(int n, const Real* features, const int* image, const int* low, const Real* part, Real* top,
                           Geometry g) {
  const int channels = g.channels, width = g.width, pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    const int k = b / channels, c = b - k * channels;
    const Real* map = features + ((long long)max(image[k], 0) * channels + c) * g.height * width;
    const Places places = places_of(low, part, k, g);
    Real* out = top + (long long)b * pooled_height * pooled_width;
    TILE_LOOP(ph, pw, pooled_height, pooled_width)
      out[ph * pooled_width + pw] = sample_at(map, width, row_of(places, ph), column_of(places, pw));
  }
}

// A block owns the plane that it adds to, and takes the regions of its image.
KERNEL roi_warping_backward(int n, const Real* top_diff, const int* image, const int* low, const Real* part, Real* diff,
                            Geometry g) {
  const int regions = g.regions, channels = g.channels, width = g.width, area = g.height * width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(plane, n) {
    const int of = plane / channels, c = plane - of * channels;
    Real* map = diff + (long long)plane * area;
    THREAD_LOOP(i, area) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions && !STOPPED(); ++k) {
      if (image[k] != of) continue;
      const Places places = places_of(low, part, k, g);
      const Real* given = top_diff + ((long long)k * channels + c) * pooled_height * pooled_width;
      TILE_LOOP(ph, pw, pooled_height, pooled_width) {
        const Real gradient = given[ph * pooled_width + pw];
        visit_pixels(width, row_of(places, ph), column_of(places, pw),
                     [&](int pixel, Real weight) { add(map + pixel, weight * gradient); });
      }
    }
  }
}

// A block is a region. A sample moves by 1 - s with where its region starts and by s with where it ends, if it lies at part s
// of the side; a side that is held at 0 does not end. Where a sample lies beyond the border pixels nothing changes with it.
KERNEL roi_warping_regions(int n, const Real* features, const Real* top_diff, const Real* regions, const int* image,
                           const int* low, const Real* part, Real* diff, Geometry g) {
  const int channels = g.channels, width = g.width, area = g.height * width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, bins = pooled_height * pooled_width;
  const Real scale = g.scale;
  BLOCK_LOOP(k, n) {
    SHARED Real sum[4][PARTS];  // of x1, y1, x2, y2
    const Places places = places_of(low, part, k, g);
    const Real* map = features + (long long)max(image[k], 0) * channels * area;
    const Real* given = top_diff + (long long)k * channels * bins;
    const Side side_y = side_of(regions + 5 * (long long)k, 0, scale), side_x = side_of(regions + 5 * (long long)k, 1, scale);
    THREAD_LOOP(t, PARTS) {
      for (int i = 0; i < 4; ++i) sum[i][t] = 0;
      for (int bin = t; bin < bins; bin += PARTS) {
        const int ph = bin / pooled_width, pw = bin - ph * pooled_width;
        const Place y = row_of(places, ph), x = column_of(places, pw);
        if (y.low < 0 || x.low < 0) continue;
        Real down = 0, across = 0;
        for (int c = 0; c < channels; ++c) {
          const Real *above = map + (long long)c * area + y.low * width, *below = above + (y.high - y.low) * width;
          const Real gradient = given[(long long)c * bins + bin];
          down += gradient * ((1 - x.part) * (below[x.low] - above[x.low]) + x.part * (below[x.high] - above[x.high]));
          across += gradient * ((1 - y.part) * (above[x.high] - above[x.low]) + y.part * (below[x.high] - below[x.low]));
        }
        const Real far_y = Real(ph) / pooled_height, far_x = Real(pw) / pooled_width;
        if (side_y.start + far_y * side_y.length < 0) down = 0;
        if (side_x.start + far_x * side_x.length < 0) across = 0;
        const Real to_y = side_y.length > 0 ? far_y : Real(0), to_x = side_x.length > 0 ? far_x : Real(0);
        sum[0][t] += (1 - to_x) * across;
        sum[1][t] += (1 - to_y) * down;
        sum[2][t] += to_x * across;
        sum[3][t] += to_y * down;
      }
    }
    BARRIER();
    THREAD_LOOP(t, 5) {
      Real total = 0;
      if (t > 0)
        for (int p = 0; p < PARTS; ++p) total += sum[t - 1][p];
      diff[5 * (long long)k + t] = scale * total;
    }
    BARRIER();
  }
}
