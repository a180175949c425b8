// psroi_pooling.cu: averages over the bins of regions, each bin in its own channel (R-FCN).
#include "plane.h"

// Where bin p of an axis begins and ends: rounded in the image, then scaled.
DEVICE void rfcn_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const Real start = near_by(round(first) * scale), stop = near_by((round(last) + 1) * scale);
  const Real size = max(stop - start, Real(0.1)) / count;
  *begin = min(max(whole(floor(p * size + start)), 0), limit);
  *end = min(max(whole(ceil((p + 1) * size + start)), 0), limit);
}

// torchvision's: scaled, then rounded.
DEVICE void torchvision_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const Real start = near_by(round(first * scale)), stop = near_by(round(last * scale));
  const Real size = max(stop - start, Real(1)) / count;
  *begin = min(max(whole(floor(p * size) + start), 0), limit);
  *end = min(max(whole(ceil((p + 1) * size) + start), 0), limit);
}

// image[k]: of region k, -1 if it contributes nothing. The last `less` rows and columns of the map are left out.
KERNEL psroi_pooling_bins(int n, const Real* regions, int* image, int* bins, int torchvision, int less, Geometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int of = image_of(region, 5, g.batch);
    THREAD_LOOP(t, 1) image[k] = of;
    cut_bins(bins, pooled_of(g), k, of >= 0, [&](int axis, int p, int* begin, int* end) {
      const Real first = region[axis ? 1 : 2], last = region[axis ? 3 : 4];
      const int count = axis ? g.pooled_width : g.pooled_height, limit = (axis ? g.width : g.height) - less;
      if (torchvision)
        torchvision_bin(first, last, g.scale, p, count, limit, begin, end);
      else
        rfcn_bin(first, last, g.scale, p, count, limit, begin, end);
    });
  }
}

// The pixels of a bin, and how many, at least 1.
DEVICE int area_of(const Box& box) { return max(box.bottom - box.top, 1) * max(box.right - box.left, 1); }

// A block owns `together` regions in a channel.
KERNEL psroi_pooling_forward(int n, const Store* features, const int* image, const int* bins, Store* top, int together, Geometry g) {
  const int width = g.width, area = g.height * width;
  const bool whole = whole_rows(features, width);
  BLOCK_LOOP(b, n) {
    SHARED Real sums[SPLIT_ROOM];
    const Part part = part_of(b, together, g.regions);
    const Plane plane = plane_of(part.channel, g);
    const auto sum_of_rows = [=](int i, int q) {
      const int k = part.first + i;
      const Store* map = features + ((long long)max(image[k], 0) * g.channels + part.channel) * area;
      const Box box = box_of(bins, pooled_of(g), k, plane.ph, plane.pw);  // empty for a region that lies in no image
      Real sum = 0;
      for (int y = box.top + q; y < box.bottom; y += SPLIT) {
        const Store* row = map + y * width;
        if (whole) {
          visit_fours(row, box.left, box.right, [&](int x, Wide four) {
            for (int j = 0; j < WIDE; ++j) sum = x + j >= box.left && x + j < box.right ? sum + lane(four, j) : sum;
          });
        } else {
          for (int x = box.left; x < box.right; ++x) sum += Real(row[x]);
        }
      }
      return sum / area_of(box);
    };
    split_sums(part.end - part.first, sums, sum_of_rows,
               [=](int i, Real sum) { top[(long long)(part.first + i) * g.channels + part.channel] = sum; });
  }
}

// A block owns a plane. sums: see add_regions.
KERNEL psroi_pooling_backward(int n, const Store* top_diff, const int* image, const int* bins, Real* sums,
                              Store* bottom_diff, Geometry g) {
  const int width = g.width;
  BLOCK_LOOP(b, n) {
    add_regions(b, top_diff, image, sums, bottom_diff, g, [&](const Plane& plane, int k, Real gradient, Real* map) {
      const Box box = box_of(bins, pooled_of(g), k, plane.ph, plane.pw);
      const Real share = gradient / area_of(box);
      TILE_LOOP(y, x, max(box.bottom - box.top, 0), max(box.right - box.left, 0))
        map[(box.top + y) * width + box.left + x] += share;
    });
  }
}

// The same in tiles, for a GPU.
KERNEL psroi_pooling_backward_tiles(int n, const Store* top_diff, const int* lists, const int* bins, Store* bottom_diff,
                                    Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Notes notes;
    SHARED Plane planes[SLAB];
    const auto box = [&](const Plane& plane, int k) { return box_of(bins, pooled_of(g), k, plane.ph, plane.pw); };
    add_regions_in_tiles(b, n, top_diff, lists, bottom_diff, g, own, notes, planes, box,
                         [&](const Plane& plane, int k, Real gradient, int, int first, int end, auto add) {
                           const Box of = box(plane, k);
                           const Real share = gradient / area_of(of);
                           for (int x = max(first, of.left); x < min(end, of.right); ++x) add(x, share);
                         });
  }
}
