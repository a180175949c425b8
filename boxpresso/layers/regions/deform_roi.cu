// deform_roi.cu: ROIAlign with every bin moved by an offset and, modulated, multiplied by a mask; features channels last.
#include "channels.h"
#include "deform_roi.h"
#include "sample.h"

constexpr int SAMPLES = 64;  // of a bin, taken together
constexpr int OWNED = 64;    // channels that a block of the backward pass owns; a multiple of TILE

// The samples of a bin, up to SAMPLES at a time: visit(count, at, weight, place). Of sample s the four pixels and weights are
// at[4 s ...] and weight[4 s ...], place[2 s ...] is its y and x. The weights are divided by the number of samples; at[4 s]
// is -1 for a sample outside the map, which counts but gives nothing. Samples that touch none of the rows from `top` to `end`
// may be left out.
template <class Visit>
DEVICE void walk(const Grid& g, int height, int width, int top, int end, Visit visit) {
  SHARED int at[4 * SAMPLES];
  SHARED Real weight[4 * SAMPLES], place[2 * SAMPLES];
  const int samples = g.rows * g.columns;
  Reach down = {0, g.rows}, across = {0, g.columns};
  if (samples > MANY) {  // most may lie outside: they are left out, so that the work is bounded by what the map holds
    down = part_on_map(g.y, g.bin_height, g.rows, top, end);
    across = part_on_map(g.x, g.bin_width, g.columns, 0, width);
  }
  const int columns = across.to - across.from, taken = (down.to - down.from) * columns;
  for (int first = 0; first < taken; first += SAMPLES) {
    const int count = min(SAMPLES, taken - first);
    THREAD_LOOP(s, count) {
      const int row = down.from + (first + s) / columns, column = across.from + (first + s) % columns;
      const Real y = g.y + (row + Real(0.5)) * g.bin_height / g.rows;
      const Real x = g.x + (column + Real(0.5)) * g.bin_width / g.columns;
      at[4 * s] = -1;
      if (bilinear(y, x, height, width, at + 4 * s, weight + 4 * s))
        for (int corner = 4 * s; corner < 4 * s + 4; ++corner) weight[corner] /= samples;
      place[2 * s] = y;
      place[2 * s + 1] = x;
    }
    BARRIER();
    visit(count, at, weight, place);
    BARRIER();
  }
}

KERNEL deform_roi_turn(int n, const Store* maps, Real* last, int channels, int area) {
  BLOCK_LOOP(b, n) turn_tile(b, maps, last, channels, area);
}

KERNEL deform_roi_turn_back(int n, const Real* last, Store* maps, int channels, int area) {
  BLOCK_LOOP(b, n) turn_tile_back(b, last, maps, channels, area);
}

// A block owns a bin. features: (B, height, width, padded), pooled: (K, bins, padded); mask: (K, bins) or null for 1.
KERNEL deform_roi_forward(int n, const Real* features, const Store* regions, const Store* offset, const Store* mask,
                          Real* pooled, Real gamma, GridGeometry g) {
  const int padded = padded_of(g.channels), height = g.height, width = g.width, bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    const int k = b / bins, image = image_of(regions + 5 * k, 5, g.batch);
    Real* out = pooled + (long long)b * padded;
    bool begun = false;
    if (image >= 0) {
      const Grid grid = bin_of(region_of(regions, k, g), offset, k, b - k * bins, g, gamma);
      const Real* map = features + (long long)image * height * width * padded;
      const Real times = mask ? Real(mask[b]) : Real(1);
      walk(grid, height, width, 0, height, [&](int count, const int* at, const Real* weight, const Real*) {
        THREAD_LOOP(v, padded / LANES) {
          Vector sum = {};
          if (begun) sum = vector_at(out, v);
          for (int corner = 0; corner < 4 * count; ++corner)
            if (at[corner & ~3] >= 0)
              add_times(sum, times * weight[corner], vector_at(map + (long long)at[corner] * padded, v));
          *(Vector*)(out + v * LANES) = sum;
        }
        begun = true;
      });
    }
    if (!begun) THREAD_LOOP(c, padded) out[c] = 0;
  }
}

// The gradients of offset and mask; a block owns a bin, gradient: (K, bins, padded). Both are sums of the products of the
// gradient with a pixel over the channels. That of offset is the published kernel's: it takes the sample's own place with
// the clamped pixels, so it is the true derivative inside the map only, not in the strip of a pixel around it.
KERNEL deform_roi_moves(int n, const Real* gradient, const Real* features, const Store* regions, const Store* offset,
                        const Store* mask, Store* offset_diff, Store* mask_diff, Real gamma, GridGeometry g) {
  const int padded = padded_of(g.channels), height = g.height, width = g.width, bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Real product[4 * SAMPLES * PARTS], gain[3 * SAMPLES], sum[3];  // gain and sum: along x, along y, of the mask
    const int k = b / bins, image = image_of(regions + 5 * k, 5, g.batch);
    THREAD_LOOP(t, 3) sum[t] = 0;
    BARRIER();
    if (image >= 0) {
      const Grid grid = bin_of(region_of(regions, k, g), offset, k, b - k * bins, g, gamma);
      const Real* map = features + (long long)image * height * width * padded;
      const Real* given = gradient + (long long)b * padded;
      walk(grid, height, width, 0, height, [&](int count, const int* at, const Real* weight, const Real* place) {
        THREAD_LOOP(t, 4 * count * PARTS) {
          const int corner = t / PARTS;
          Vector total = {};
          if (at[corner & ~3] >= 0)
            for (int v = t % PARTS; v < padded / LANES; v += PARTS) {
              const Vector one = vector_at(given, v), pixel = vector_at(map + (long long)at[corner] * padded, v);
              add_product(total, one, pixel);
            }
          Real sum_of_lanes = 0;
          for (int i = 0; i < LANES; ++i) sum_of_lanes += item_of(total, i);
          product[t] = sum_of_lanes;
        }
        BARRIER();
        THREAD_LOOP(s, count) {
          Real p[4] = {}, along_y = 0, along_x = 0, inside = 0;
          if (at[4 * s] >= 0) {
            for (int i = 0; i < 4 * PARTS; ++i) p[i / PARTS] += product[4 * s * PARTS + i];
            const int top = at[4 * s] / width, left = at[4 * s] % width, low = at[4 * s + 3] / width;
            const int right = at[4 * s + 3] % width;
            const Real y = place[2 * s], x = place[2 * s + 1];
            along_x = p[3] * (y - top) + p[1] * (low - y) + p[2] * (top - y) + p[0] * (y - low);
            along_y = p[3] * (x - left) + p[2] * (right - x) + p[1] * (left - x) + p[0] * (x - right);
            for (int i = 0; i < 4; ++i) inside += p[i] * weight[4 * s + i];
          }
          gain[s] = along_x;
          gain[SAMPLES + s] = along_y;
          gain[2 * SAMPLES + s] = inside;
        }
        BARRIER();
        THREAD_LOOP(t, 3)
          for (int s = 0; s < count; ++s) sum[t] += gain[t * SAMPLES + s];
      });
      BARRIER();
      const Real times = mask ? Real(mask[b]) : Real(1);
      const Real each = times * gamma / max(grid.rows * grid.columns, 1);
      THREAD_LOOP(t, 1) {
        sum[0] *= sum[0] != 0 ? each * grid.bin_width * g.pooled_width : Real(0);  // 0 stays 0, whatever the region's size is
        sum[1] *= sum[1] != 0 ? each * grid.bin_height * g.pooled_height : Real(0);
      }
    }
    BARRIER();
    THREAD_LOOP(t, 1) {
      if (offset_diff) {
        offset_diff[2 * k * bins + b - k * bins] = sum[0];
        offset_diff[(2 * k + 1) * bins + b - k * bins] = sum[1];
      }
      if (mask_diff) mask_diff[b] = sum[2];
    }
    BARRIER();
  }
}

// The gradient of the features. A block owns OWNED channels of `band` rows of an image in diff (B, height, width, padded),
// which is 0 before, and takes the regions of that image in order: no two blocks meet, and the sums have one order.
KERNEL deform_roi_backward(int n, const Real* gradient, const Store* regions, const Store* offset, const Store* mask,
                           Real* diff, Real gamma, int band, GridGeometry g) {
  const int padded = padded_of(g.channels), height = g.height, width = g.width, bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    const int shares = (padded + OWNED - 1) / OWNED, bands = (height + band - 1) / band;
    const int image = b / (shares * bands), share = b / bands % shares;
    const int top = b % bands * band, end = min(top + band, height);
    const int first = share * OWNED, owned = min(OWNED, padded - first);
    Real* map = diff + (long long)image * height * width * padded + first;
    for (int k = 0; k < g.regions && !STOPPED(); ++k) {
      if (image_of(regions + 5 * k, 5, g.batch) != image) continue;
      const Whole whole = region_of(regions, k, g);
      for (int i = 0; i < bins; ++i) {
        const Grid grid = bin_of(whole, offset, k, i, g, gamma);
        const Real low = min(grid.y, grid.y + grid.bin_height), high = max(grid.y, grid.y + grid.bin_height);
        if ((high < top - 1 && top > 0) || (low > end && end < height)) continue;  // no sample of it can reach the band
        const Real* given = gradient + (long long)(k * bins + i) * padded + first;
        const Real times = mask ? Real(mask[k * bins + i]) : Real(1);
        walk(grid, height, width, top, end, [&](int samples, const int* at, const Real* weight, const Real*) {
          for (int corner = 0; corner < 4 * samples; ++corner) {
            if (at[corner & ~3] < 0 || at[corner] < top * width || at[corner] >= end * width) continue;
            Real* pixel = map + (long long)at[corner] * padded;
            const Real part = times * weight[corner];
            THREAD_LOOP(c, owned) pixel[c] += part * given[c];
          }
        });
      }
    }
  }
}
