// roi_warping.cu: one bilinear sample in each bin of regions with whole corners, and its gradients.
#include "listed.h"
#include "roi_warping.h"

constexpr int PARTS = 256;  // bins p, p + PARTS, ... of a region are summed together
constexpr int BINS = 64;    // of a region, whose samples a block keeps before it stores them plane by plane

// An axis of a region in pixels of the map; axis 0 is y.
struct Side {
  Real start, length;
};

DEVICE Side side_of(const Real* region, int axis, Real scale) {
  const Real start = round(region[2 - axis] * scale), stop = round(region[4 - axis] * scale);
  return {start, max(stop - start, Real(0))};
}

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
    const Samples places = samples_of(low, part, k, g);
    Real* out = top + (long long)b * pooled_height * pooled_width;
    TILE_LOOP(ph, pw, pooled_height, pooled_width)
      out[ph * pooled_width + pw] = sample_at(map, width, row_of(places, ph), column_of(places, pw));
  }
}

// The same of all maps in slabs (B * slabs_of(C), area, SLAB), for a GPU: a block owns a region in a slab.
KERNEL roi_warping_forward_packed(int n, const Real* slabs, const int* image, const int* low, const Real* part, Real* top,
                                  Geometry g) {
  const int channels = g.channels, width = g.width, pooled_width = g.pooled_width, bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Wide samples[stage_of(BINS)];
    const int s = b / g.regions, k = b - s * g.regions;
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(channels) + s) * g.height * width * SLAB;
    const Samples places = samples_of(low, part, k, g);
    for (int first = 0; first < bins; first += BINS) {
      const int some = min(BINS, bins - first);
      TILE_LOOP(i, share, some, SHARES) {
        const int ph = (first + i) / pooled_width, pw = first + i - ph * pooled_width;
        staged(samples, i, share) = sample_of(row_of(places, ph), column_of(places, pw), [&](int y, int x) -> Wide {
          return wide(slab, y * width + x, share);
        });
      }
      BARRIER();
      Real* out = top + ((long long)k * channels + s * SLAB) * bins + first;
      const Real* from = (const Real*)samples;
      TILE_LOOP(c, i, min(SLAB, channels - s * SLAB), some) out[(long long)c * bins + i] = from[i * STAGE_ROW + c];
      BARRIER();
    }
  }
}

// A block owns the plane that it adds to, and takes the regions of its image. On the host, where a block is a thread: sums of
// several would have no order.
KERNEL roi_warping_backward(int n, const Real* top_diff, const int* image, const int* low, const Real* part, Real* diff,
                            Geometry g) {
  const int regions = g.regions, channels = g.channels, width = g.width, area = g.height * width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  SUMS_IN_ANY_ORDER;
  BLOCK_LOOP(plane, n) {
    const int of = plane / channels, c = plane - of * channels;
    Real* map = diff + (long long)plane * area;
    THREAD_LOOP(i, area) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions && !STOPPED(); ++k) {
      if (image[k] != of) continue;
      const Samples places = samples_of(low, part, k, g);
      const Real* given = top_diff + ((long long)k * channels + c) * pooled_height * pooled_width;
      TILE_LOOP(ph, pw, pooled_height, pooled_width) {
        const Real gradient = given[ph * pooled_width + pw];
        visit_pixels(width, row_of(places, ph), column_of(places, pw),
                     [&](int pixel, Real weight) { add(map + pixel, weight * gradient); });
      }
    }
  }
}

// Where each region has samples, for the lists of tiles.h.
KERNEL roi_warping_boxes(int n, const int* image, const int* low, int* boxes, Geometry g) {
  GRID_LOOP(k, n) {
    const Samples places = samples_of(low, nullptr, k, g);
    boxes[5 * k] = image[k];
    for (int axis = 0; axis < 2; ++axis) {
      const int* pixel = axis ? places.low_x : places.low_y;
      const int count = axis ? g.pooled_width : g.pooled_height, size = axis ? g.width : g.height;
      int first = size, end = 0;
      for (int p = 0; p < count; ++p) {
        if (pixel[p] < 0) continue;
        first = min(first, pixel[p]);
        end = max(end, min(pixel[p] + 2, size));
      }
      boxes[5 * k + 1 + 2 * axis] = first;
      boxes[5 * k + 2 + 2 * axis] = max(end - first, 0);
    }
  }
}

// The gradient of the maps in tiles, for a GPU, of those that have no lists; packed and heads: what roi_warping_prepare() of
// roi_warping_listed.cu has made. A thread takes the rows of samples that have its row.
KERNEL roi_warping_backward_tiles(int n, const Real* packed, const int* lists, const int* heads, const int* boxes, const int* low,
                                  const Real* part, Store* diff, Geometry g) {
  const int channels = g.channels, pooled_height = g.pooled_height, pooled_width = g.pooled_width, padded = padded_channels(channels);
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    const Tiles tiles = tiles_of(lists);
    if (has_lists(heads + (long long)(b % (g.batch * tiles.down * tiles.across)) * LIST_HEAD)) continue;
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      const auto rows = [&](int k, int c) {
        const int* box = boxes + 5 * k;
        return channel + c < channels ? Span{box[1], box[1] + box[2]} : Span{0, 0};
      };
      tile_rows(tile, SLAB, [](int) {}, rows, [&](int k, int row, int c) {
        const Samples places = samples_of(low, part, k, g);
        const Real* given = packed + (long long)k * pooled_height * pooled_width * padded + channel + c;
        for (int ph = 0; ph < pooled_height; ++ph) {
          const Place y = row_of(places, ph);
          if (y.low < 0 || (row != y.low && row != y.high)) continue;
          const Real down = weight_in(y, row);
          for (int pw = 0; pw < pooled_width; ++pw) {
            const Place x = column_of(places, pw);
            if (x.low < 0 || x.high < tile.left || x.low >= tile.right) continue;
            const Real gradient = given[(long long)(ph * pooled_width + pw) * padded];
            for (int column = max(x.low, tile.left); column <= min(x.high, tile.right - 1); ++column)
              number_at(map, tile, row, column, c) += down * weight_in(x, column) * gradient;
          }
        }
      });
    };
    make_tiles(b, n, lists, diff, g.batch, channels, g.height, g.width, own, false, add_regions);
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
    const Samples places = samples_of(low, part, k, g);
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
