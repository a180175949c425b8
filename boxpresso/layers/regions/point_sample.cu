// point_sample.cu: bilinear samples of maps at points, and the gradients of that. Pixels outside a map are 0.
#include "wide.h"

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

constexpr int POINTS = 256;  // that a block takes together
constexpr int SOME = 64;     // that a block takes in a slab, on a GPU

// at (N, 4, P): the four pixels of each point, -1 outside the map; part (N, 2, P): how far it lies beyond the first, down and across.
// A block for POINTS points of an image; two loops without branches, which the host makes vectors of.
KERNEL point_places(int n, const Real* where, int* at, Real* part, PointGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED int top[POINTS], left[POINTS];
    const int points = g.points, height = g.height, width = g.width, blocks = (points + POINTS - 1) / POINTS;
    const int image = b / blocks, first = (b - image * blocks) * POINTS, count = min(POINTS, points - first);
    const Real* from = where + 2 * ((long long)image * points + first);
    int* to = at + (long long)image * 4 * points + first;
    Real* parts = part + (long long)image * 2 * points + first;
    const Real shift = g.corners ? Real(0) : Real(0.5), wide = length_of(width, g.corners), high = length_of(height, g.corners);
    THREAD_LOOP(i, count) {
      const Real x = from[2 * i] * wide - shift, y = from[2 * i + 1] * high - shift;
      const bool inside = (y > -1) & (x > -1) & (y < height) & (x < width);
      const Real safe_x = inside ? x : Real(-2), safe_y = inside ? y : Real(-2), floor_x = floor(safe_x), floor_y = floor(safe_y);
      left[i] = int(floor_x);
      top[i] = int(floor_y);
      parts[i] = safe_y - floor_y;
      parts[points + i] = safe_x - floor_x;
    }
    THREAD_LOOP(i, count) {
      const int pixel = top[i] * width + left[i], below = height - 2 - top[i], right = width - 2 - left[i];
      to[i] = min(top[i], left[i]) >= 0 ? pixel : -1;
      to[points + i] = min(min(top[i], left[i] + 1), right) >= 0 ? pixel + 1 : -1;
      to[2 * points + i] = min(min(top[i] + 1, left[i]), below) >= 0 ? pixel + width : -1;
      to[3 * points + i] = min(min(top[i] + 1, left[i] + 1), min(below, right)) >= 0 ? pixel + width + 1 : -1;
    }
    BARRIER();
  }
}

DEVICE Real share(Real down, Real across, int corner) {
  return (corner < 2 ? 1 - down : down) * (corner % 2 ? across : 1 - across);
}

constexpr int LINE = 64 / sizeof(Store);     // numbers of a cache line

DEVICE Picks places_from(const int* at, int count) {
  if (count >= COLUMNS) return *(const Picks*)at;
  int places[COLUMNS];
  for (int i = 0; i < COLUMNS; ++i) places[i] = i < count ? at[i] : -1;
  return *(const Picks*)places;
}

// Two neighbours in a row of a plane, left and right, which both are 0 where their place is -1. They are read together, from `pair`
// on, where `paired`.
DEVICE void pair_at(const Store* plane, const Picks& at, const Picks& beside, const Picks& pair, bool paired, Columns& left,
                    Columns& right) {
  if (paired) {
    pick_pairs(plane, pair, left, right);
    left = keep(left, at), right = keep(right, beside);
  } else {
    left = keep(pick(plane, at >= 0 ? at : 0 * at), at);
    right = keep(pick(plane, beside >= 0 ? beside : 0 * beside), beside);
  }
}

// What the host brings near of the next planes meanwhile: all of their lines, where about so many are read, or those of the points.
constexpr int NOTHING = 0, SWEPT = 1, PICKED = 2;

// A block for `together` planes of an image, a thread for COLUMNS points.
KERNEL point_sample_forward(int n, const Store* features, const int* at, const Real* part, Store* top, int together,
                                 int ahead, PointGeometry g) {
  BLOCK_LOOP(b, n) {
    const int groups = (g.channels + together - 1) / together, image = b / groups, channel = (b - image * groups) * together;
    const int area = g.height * g.width, planes = min(together, g.channels - channel), vectors = (g.points + COLUMNS - 1) / COLUMNS;
    const Store *maps = features + ((long long)image * g.channels + channel) * area, *next = maps + (long long)planes * area;
    const int *pixels = at + (long long)image * 4 * g.points;
    const bool last = b + 1 == n;
    const int lines = last ? 0 : planes * ((area + LINE - 1) / LINE);
    const Real *downs = part + (long long)image * 2 * g.points, *acrosses = downs + g.points;
    THREAD_LOOP(v, vectors) {
      const int first = v * COLUMNS, count = g.points - first;
      Picks corner[4], pair[2], far = {};
      for (int i = 0; i < 4; ++i) corner[i] = places_from(pixels + i * g.points + first, count);
      for (int i = 0; i < 2; ++i) {
        pair[i] = corner[2 * i] >= 0 ? corner[2 * i] : corner[2 * i + 1] >= 0 ? corner[2 * i + 1] - 1 : 0 * corner[0];
        far |= (area - 2 - pair[i]) | pair[i];
      }
      const bool paired = COLUMNS > 1 && !any_negative(far);
      const Columns down = load(downs + first, count), across = load(acrosses + first, count);
      const Columns upper = 1 - down, before = 1 - across;
      if (ahead == SWEPT)
        for (int line = (long long)lines * v / vectors; line < (long long)lines * (v + 1) / vectors; ++line) soon(next + line * LINE);
      if (ahead == PICKED && !last)
        for (int c = 0; c < planes; ++c)
          for (int i = 0; i < min(COLUMNS, count); ++i) {
            soon(next + (long long)c * area + max(pixels[first + i], 0));
            soon(next + (long long)c * area + max(pixels[2 * g.points + first + i], 0));
          }
      for (int c = 0; c < planes; ++c) {
        const Store* plane = maps + (long long)c * area;
        Columns value[4];
        for (int i = 0; i < 2; ++i)
          pair_at(plane, corner[2 * i], corner[2 * i + 1], pair[i], paired, value[2 * i], value[2 * i + 1]);
        const Columns sum = upper * (before * value[0] + across * value[1]) + down * (before * value[2] + across * value[3]);
        store(top + ((long long)image * g.channels + channel + c) * g.points + first, sum, count);
      }
    }
  }
}

// The channels of slab `slab` at point p of its image, from pixels in that slab.
DEVICE Lanes sample(const Real* slab, const int* at, const Real* part, int p, int points, int group) {
  const Real down = part[p], across = part[points + p];
  Lanes value[4];
  for (int corner = 0; corner < 4; ++corner) {
    const int pixel = at[corner * points + p];
    value[corner] = pixel < 0 ? Lanes{} : lanes(slab, pixel, group);
  }
  const Real before = 1 - across;
  return (1 - down) * (before * value[0] + across * value[1]) + down * (before * value[2] + across * value[3]);
}

// Where an image has many points: a block takes one slab after another into its room (n, area + POINTS, SLAB), and there all points,
// some at a time: their channels are vectors, which are turned into planes at the end.
KERNEL point_sample_forward_slabs(int n, const Store* features, const int* at, const Real* part, Real* room, Store* top, int batch,
                                  PointGeometry g) {
  BLOCK_LOOP(b, n) {
    const int area = g.height * g.width, slabs = slabs_of(g.channels);
    Real *slab = room + (long long)b * (area + POINTS) * SLAB, *samples = slab + (long long)area * SLAB;
    for (int i = b; i < batch * slabs; i += n) {
      const int image = i / slabs, channel = (i - image * slabs) * SLAB;
      fill_slab(i, features, slab, g.channels, area, 0, area);
      BARRIER();
      for (int first = 0; first < g.points && !STOPPED(); first += POINTS) {
        const int count = min(POINTS, g.points - first);
        const int* pixels = at + (long long)image * 4 * g.points + first;
        const Real* parts = part + (long long)image * 2 * g.points + first;
        TILE_LOOP(p, group, count, GROUPS) lanes(samples, p, group) = sample(slab, pixels, parts, p, g.points, group);
        BARRIER();
        Store* out = top + ((long long)image * g.channels + channel) * g.points + first;
        turn(samples, SLAB, out, g.points, count, min(SLAB, g.channels - channel));
        BARRIER();
      }
    }
  }
}

// The same of all maps in slabs (batch * slabs_of(C), area, SLAB), for a GPU: a block owns SOME points in a slab.
KERNEL point_sample_forward_packed(int n, const Real* slabs, const int* at, const Real* part, Store* top, PointGeometry g) {
  const int channels = g.channels, count = slabs_of(channels), parts = (g.points + SOME - 1) / SOME;
  BLOCK_LOOP(b, n) {
    SHARED Wide samples[stage_of(SOME)];
    const int i = b / parts, first = (b - i * parts) * SOME, image = i / count, channel = (i - image * count) * SLAB;
    const int some = min(SOME, g.points - first);
    const Real* slab = slabs + (long long)i * g.height * g.width * SLAB;
    const int* pixels = at + (long long)image * 4 * g.points + first;
    const Real* downs = part + (long long)image * 2 * g.points + first;
    TILE_LOOP(p, share, some, SHARES) {
      const auto pixel_at = [&](int corner) -> Wide {
        const int pixel = pixels[corner * g.points + p];
        return pixel < 0 ? Wide{} : wide(slab, pixel, share);
      };
      const Real down = downs[p], across = downs[g.points + p], before = 1 - across;
      const Wide upper = before * pixel_at(0) + across * pixel_at(1), lower = before * pixel_at(2) + across * pixel_at(3);
      staged(samples, p, share) = (1 - down) * upper + down * lower;
    }
    BARRIER();
    empty_stage(samples, top + ((long long)image * channels + channel) * g.points + first, channels - channel, g.points, some);
    BARRIER();
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
