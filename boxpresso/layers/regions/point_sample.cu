// point_sample.cu: bilinear samples of maps at points, and the gradients of that. Pixels outside a map are 0.
#include "kernel.h"

struct PointGeometry {
  int channels, height, width, points, corners;  // corners: 0 and 1 are the centres of the first and last pixels
};

// How many pixels of an axis lie between 0 and 1.
DEVICE Real length_of(int size, int corners) { return Real(corners ? size - 1 : size); }

// Where number k of `count` of point i, of all images' points, lies in a table.
DEVICE long long place_of(int i, int count, int k, const PointGeometry& g) {
  const int image = i / g.points;
  return ((long long)image * count + k) * g.points + i - image * g.points;
}

// at (N, 4, P): the four pixels of each point, -1 outside the map; part (N, 2, P): how far it lies beyond the first, down and across.
KERNEL point_places(int n, const Real* where, int* at, Real* part, PointGeometry g) {
  GRID_LOOP(i, n) {
    const Real shift = g.corners ? Real(0) : Real(0.5);
    const Real x = where[2 * (long long)i] * length_of(g.width, g.corners) - shift;
    const Real y = where[2 * (long long)i + 1] * length_of(g.height, g.corners) - shift;
    const bool inside = y > -1 && x > -1 && y < g.height && x < g.width;
    const Real safe_x = inside ? x : Real(0), safe_y = inside ? y : Real(0), floor_x = floor(safe_x), floor_y = floor(safe_y);
    const int left = int(floor_x), top = int(floor_y);
    for (int corner = 0; corner < 4; ++corner) {
      const int row = top + corner / 2, column = left + corner % 2;
      const bool there = inside && row >= 0 && row < g.height && column >= 0 && column < g.width;
      at[place_of(i, 4, corner, g)] = there ? row * g.width + column : -1;
    }
    part[place_of(i, 2, 0, g)] = safe_y - floor_y;
    part[place_of(i, 2, 1, g)] = safe_x - floor_x;
  }
}

DEVICE Real share(Real down, Real across, int corner) {
  return (corner < 2 ? 1 - down : down) * (corner % 2 ? across : 1 - across);
}

// A block for each plane (image and channel). Without branches, so that the host makes vectors of it.
KERNEL point_sample_forward(int n, const Store* features, const int* at, const Real* part, Store* top, PointGeometry g) {
  BLOCK_LOOP(b, n) {
    const Store* plane = features + (long long)b * g.height * g.width;
    const int* pixels = at + (long long)(b / g.channels) * 4 * g.points;
    const Real *downs = part + (long long)(b / g.channels) * 2 * g.points, *acrosses = downs + g.points;
    THREAD_LOOP(p, g.points) {
      Real sum = 0;
      for (int corner = 0; corner < 4; ++corner) {
        const int pixel = pixels[corner * g.points + p];
        const Real value = Real(plane[max(pixel, 0)]);  // a map has a pixel: point_sample.py
        sum += pixel >= 0 ? share(downs[p], acrosses[p], corner) * value : Real(0);
      }
      top[(long long)b * g.points + p] = sum;
    }
  }
}

// A thread owns a plane, and takes the points in order.
KERNEL point_sample_spread(int n, const Store* top_diff, const int* at, const Real* part, Real* diff, PointGeometry g) {
  GRID_LOOP(b, n) {
    Real* plane = diff + (long long)b * g.height * g.width;
    const int* pixels = at + (long long)(b / g.channels) * 4 * g.points;
    const Real *downs = part + (long long)(b / g.channels) * 2 * g.points, *acrosses = downs + g.points;
    for (int i = 0; i < g.height * g.width; ++i) plane[i] = 0;
    for (int p = 0; p < g.points; ++p) {
      const Real gradient = Real(top_diff[(long long)b * g.points + p]);
      for (int corner = 0; corner < 4; ++corner) {
        const int pixel = pixels[corner * g.points + p];
        if (pixel >= 0) plane[pixel] += share(downs[p], acrosses[p], corner) * gradient;
      }
    }
  }
}

// The gradient of the points, summed over the channels in order.
KERNEL point_sample_moves(int n, const Store* features, const Store* top_diff, const int* at, const Real* part, Store* diff,
                          PointGeometry g) {
  GRID_LOOP(i, n) {
    const int image = i / g.points, p = i - image * g.points;
    int pixel[4];
    for (int corner = 0; corner < 4; ++corner) pixel[corner] = at[place_of(i, 4, corner, g)];
    const Real down = part[place_of(i, 2, 0, g)], across = part[place_of(i, 2, 1, g)];
    Real by_x = 0, by_y = 0;
    for (int c = 0; c < g.channels; ++c) {
      const long long number = (long long)image * g.channels + c;
      const Store* plane = features + number * g.height * g.width;
      Real v[4];
      for (int corner = 0; corner < 4; ++corner) v[corner] = pixel[corner] < 0 ? Real(0) : Real(plane[pixel[corner]]);
      const Real gradient = Real(top_diff[number * g.points + p]);
      by_x += gradient * ((1 - down) * (v[1] - v[0]) + down * (v[3] - v[2]));
      by_y += gradient * ((1 - across) * (v[2] - v[0]) + across * (v[3] - v[1]));
    }
    const bool some = max(max(pixel[0], pixel[1]), max(pixel[2], pixel[3])) >= 0;
    diff[2 * (long long)i] = some ? by_x * length_of(g.width, g.corners) : Real(0);
    diff[2 * (long long)i + 1] = some ? by_y * length_of(g.height, g.corners) : Real(0);
  }
}
