// roi_pooling.cu: the largest value of each bin of each region, and its gradient to the pixel that was the largest.
#include "bins.h"
#include "region.h"
#include "wide.h"

constexpr int BINS = 64;          // of a region, whose maxima a block keeps before it stores them plane by plane
constexpr int ABREAST = 4;        // columns of a bin whose maxima the host takes apart
constexpr int LINE_PIXELS = 256;  // that a GPU's block brings into a slab

// Where bin p of an axis begins and ends. Products as p * (length / bins) in Real: other ways to write them give other bins
// (length 7, 13 bins).
DEVICE void caffe_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const int start = whole(round(first * scale)), length = max(whole(round(last * scale)) - start + 1, 1);
  const Real size = Real(length) / Real(count);
  *begin = min(max(int(floor(Real(p) * size)) + start, 0), limit);
  *end = min(max(int(ceil(Real(p + 1) * size)) + start, 0), limit);
}

// mmcv's: no rounding, and the end pixel is the image's. A region without an extent has no bins.
DEVICE void mmcv_bin(Real first, Real last, Real scale, int p, int count, int limit, int* begin, int* end) {
  const Real start = near_by(first * scale), length = near_by((last + 1) * scale) - start, size = length / Real(count);
  if (!(length > 0)) return;
  *begin = min(max(whole(floor(Real(p) * size + start)), 0), limit);
  *end = min(max(whole(ceil(Real(p + 1) * size + start)), 0), limit);
}

// image[k]: of region k, -1 if it contributes nothing.
KERNEL roi_pooling_bins(int n, const Real* regions, int* image, int* bins, Real pad_ratio, int mmcv, Geometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = regions + 5 * k;
    const int of = image_of(region, 5, g.batch);
    THREAD_LOOP(t, 1) image[k] = of;
    cut_bins(bins, pooled_of(g), k, of >= 0, [&](int axis, int p, int* begin, int* end) {
      const Real first = region[axis ? 1 : 2], last = region[axis ? 3 : 4];
      const Real pad = pad_ratio != 0 ? (last - first + 1) * pad_ratio : Real(0);  // 0 * infinity is NaN
      const int count = axis ? g.pooled_width : g.pooled_height, limit = axis ? g.width : g.height;
      if (mmcv)
        mmcv_bin(first - pad, last + pad, g.scale, p, count, limit, begin, end);
      else
        caffe_bin(first - pad, last + pad, g.scale, p, count, limit, begin, end);
    });
  }
}

// Pixels `first` to first + some - 1 of slab number `slab` of maps (B, area, C) to (area, SLAB); WIDE numbers at a time, where both lie so.
DEVICE void fill_lines(int slab, const Store* maps, Real* to, int channels, int area, int first, int some) {
  const int image = slab / slabs_of(channels), channel = (slab - image * slabs_of(channels)) * SLAB;
  const int count = min(SLAB, channels - channel);
  const Store* from = maps + ((long long)image * area + first) * channels + channel;
  to += (long long)first * SLAB;
  if (sizeof(Store) == sizeof(Real) && count == SLAB && channels % WIDE == 0 && (unsigned long long)maps % sizeof(Wide) == 0) {
    TILE_LOOP(pixel, share, some, SHARES)
      *(Wide*)(to + (long long)pixel * SLAB + share * WIDE) = *(const Wide*)(from + (long long)pixel * channels + share * WIDE);
  } else if (count == SLAB) {
    TILE_LOOP(pixel, c, some, SLAB) to[(long long)pixel * SLAB + c] = Real(from[(long long)pixel * channels + c]);
  } else {
    TILE_LOOP(pixel, c, some, SLAB)
      to[(long long)pixel * SLAB + c] = c < count ? Real(from[(long long)pixel * channels + c]) : Real(0);
  }
}

// maps (B, area, C) to slabs, for a GPU: a block for LINE_PIXELS pixels of one.
KERNEL roi_pooling_pack_lines(int n, const Store* maps, Real* slabs, int channels, int area) {
  BLOCK_LOOP(b, n) {
    const int parts = max((area + LINE_PIXELS - 1) / LINE_PIXELS, 1), slab = b / parts, first = (b - slab * parts) * LINE_PIXELS;
    fill_lines(slab, maps, slabs + (long long)slab * area * SLAB, channels, area, first, min(LINE_PIXELS, area - first));
  }
}

struct Largest {
  Lanes value;   // 0 for an empty bin
  Places place;  // in the map, the first of equals; -1 for an empty bin and where all is NaN
};

// The walker: one bin of a region in some lanes of a slab.
DEVICE Largest largest(const Real* slab, int width, const Box& box, int group) {
  Largest result = {Lanes{}, Places{} - 1};
  if (box.top >= box.bottom || box.left >= box.right) return result;
  result.value -= REAL_MAX;
  for (int y = box.top; y < box.bottom; ++y)
    for (int x = box.left; x < box.right; ++x) {
      const Lanes value = lanes(slab, y * width + x, group);
      const auto more = value > result.value;
      result.value = more ? value : result.value;
      result.place = more ? Places{} + (y * width + x) : result.place;
    }
  return result;
}

// Its value alone: ABREAST columns at a time, as one that waits for the one before would take as long as all.
DEVICE Lanes largest_value(const Real* slab, int width, const Box& box, int group) {
  if (box.top >= box.bottom || box.left >= box.right) return Lanes{};
  Lanes most[ABREAST];
  for (int i = 0; i < ABREAST; ++i) most[i] = Lanes{} - REAL_MAX;
  for (int y = box.top; y < box.bottom; ++y)
    for (int x = box.left; x < box.right; x += ABREAST)
      for (int i = 0; i < ABREAST; ++i) {
        const Lanes value = lanes(slab, y * width + min(x + i, box.right - 1), group);
        most[i] = value > most[i] ? value : most[i];
      }
  for (int i = 1; i < ABREAST; ++i) most[0] = most[i] > most[0] ? most[i] : most[0];
  return most[0];
}

// One number of each lane, `step` apart.
template <class To, class Value>
DEVICE void put(To* to, int step, int count, const Value& value) {
  if (step == 1 && count == LANES) {
    for (int i = 0; i < LANES; ++i) to[i] = lane(value, i);
  } else {
    for (int i = 0; i < count; ++i) to[i * step] = lane(value, i);
  }
}

// A block takes one slab of an image after another into its room (n, area, SLAB), and there that image's regions, on the host. top and
// places: (K, channels, bins), or (K, bins, channels) where channels_last; which of them are wanted, the values, the places or both,
// `values` and `argmax` say.
KERNEL roi_pooling_forward(int n, const Store* features, Real* room, const int* image, const int* bins, Store* top, int* places,
                           int values, int argmax, int channels_last, Geometry g) {
  const int channels = g.channels, area = g.height * g.width, width = g.width, slabs = slabs_of(channels);
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    Real* slab = room + (long long)b * area * SLAB;
    for (int i = b; i < g.batch * slabs; i += n) {
      if (channels_last) fill_lines(i, features, slab, channels, area, 0, area);
      else fill_slab(i, features, slab, channels, area, 0, area);
      BARRIER();
      const int s = i % slabs, cells = pooled.cells(), step = channels_last ? 1 : cells;
      for (int k = 0; k < g.regions && !STOPPED(); ++k) {
        if (max(image[k], 0) != i / slabs) continue;  // what lies in no image has empty bins
        TILE_LOOP(ph, t, pooled_height, pooled_width * GROUPS) {
          const int pw = t / GROUPS, group = t % GROUPS, bin = ph * pooled_width + pw;
          const int channel = s * SLAB + group * LANES, count = min(LANES, channels - channel);
          const long long at = (long long)k * channels * cells + (channels_last ? bin * channels + channel : channel * cells + bin);
          const Box box = box_of(bins, pooled, k, ph, pw);
          if (argmax) {
            const Largest most = largest(slab, width, box, group);
            put(places + at, step, count, most.place);
            if (values) put(top + at, step, count, most.value);
          } else {
            put(top + at, step, count, largest_value(slab, width, box, group));
          }
        }
      }
      BARRIER();
    }
  }
}

// The walker of a GPU: visit(value, place) for the pixels of a bin in a share of a slab, in order.
template <class Visit>
DEVICE void walk(const Real* slab, int width, const Box& box, int share, Visit visit) {
  for (int y = box.top; y < box.bottom; ++y) {
    const int line = y * width;
    for (int x = box.left; x < box.right; ++x) visit(wide(slab, line + x, share), line + x);
  }
}

// The same for a GPU: a thread takes WIDE channels of a bin.
KERNEL roi_pooling_forward_packed(int n, const Real* slabs, const int* image, const int* bins, Store* top, int* places, int values,
                                  int argmax, int channels_last, Geometry g) {
  const int channels = g.channels, width = g.width;
  BLOCK_LOOP(b, n) {
    SHARED Wide largest[stage_of(BINS)];
    SHARED int largest_at[BINS * STAGE_ROW];
    const Pooled pooled = pooled_of(g);
    const int s = b / g.regions, k = b - s * g.regions, cells = pooled.cells(), count = min(SLAB, channels - s * SLAB);
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(channels) + s) * g.height * width * SLAB;
    for (int first = 0; first < cells; first += BINS) {
      const int some = min(BINS, cells - first);
      TILE_LOOP(i, share, some, SHARES) {
        const int ph = (first + i) / pooled.width, pw = first + i - ph * pooled.width;
        const Box box = box_of(bins, pooled, k, ph, pw);
        const bool empty = box.top >= box.bottom || box.left >= box.right;
        Wide most = wide_of(empty ? Real(0) : -REAL_MAX);
        if (argmax) {
          WidePlaces place = places_of(-1);
          walk(slab, width, box, share, [&](const Wide& value, int at) { take_larger(most, place, value, places_of(at)); });
          for (int c = 0; c < WIDE; ++c) largest_at[i * STAGE_ROW + share * WIDE + c] = lane(place, c);
        } else {
          walk(slab, width, box, share, [&](const Wide& value, int) { take_larger(most, value); });
        }
        staged(largest, i, share) = most;
      }
      BARRIER();
      const long long out = channels_last ? ((long long)k * cells + first) * channels + s * SLAB
                                          : ((long long)k * channels + s * SLAB) * cells + first;
      if (channels_last) {
        const Real* from = (const Real*)largest;
        if (values) TILE_LOOP(i, c, some, count) top[out + (long long)i * channels + c] = from[i * STAGE_ROW + c];
        if (argmax) TILE_LOOP(i, c, some, count) places[out + (long long)i * channels + c] = largest_at[i * STAGE_ROW + c];
      } else {
        if (values) empty_stage(largest, top + out, channels - s * SLAB, cells, some);
        if (argmax) TILE_LOOP(c, i, count, some) places[out + (long long)c * cells + i] = largest_at[i * STAGE_ROW + c];
      }
      BARRIER();
    }
  }
}

KERNEL roi_pooling_places(int n, const int* places, Store* top) { GRID_LOOP(i, n) top[i] = Real(places[i]); }

// A block owns `group` channels of a band of an image's rows and takes that image's regions in order. sums: bottom_diff, in
// Real. Where the channels are the last axis a band is better than a group, for it reads on and on.
KERNEL roi_pooling_backward(int n, const Store* top_diff, const int* places, const int* image, const int* bins, Real* sums,
                            int group, int bands, int channels_last, Geometry g) {
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width;
  BLOCK_LOOP(b, n) {
    const Pooled pooled = pooled_of(g);
    const int groups = (channels + group - 1) / group, band = b % bands, of = b / bands / groups;
    const int channel = b / bands % groups * group, count = min(group, channels - channel), cells = pooled.cells();
    const int top = height * band / bands, bottom = height * (band + 1) / bands, begin = top * width, end = bottom * width;
    const int next = channels_last ? 1 : cells, wide = channels_last ? 1 : height * width;  // steps of channels: top, map
    const int step = channels_last ? channels : 1;                                          // steps of bins and of pixels
    Real* map = sums + (long long)of * channels * height * width + (long long)channel * wide;
    if (channels_last) {
      TILE_LOOP(pixel, c, end - begin, count) map[(long long)(begin + pixel) * channels + c] = 0;
    } else {
      TILE_LOOP(c, pixel, count, end - begin) map[(long long)c * wide + begin + pixel] = 0;
    }
    BARRIER();
    for (int k = 0; k < regions && !STOPPED(); ++k) {
      if (image[k] != of) continue;
      const long long first = (long long)k * channels * cells + channel * next;
      visit_adding(bins, pooled, k, count, channels_last, top, bottom, [&](int c, int bin) {
        const long long at = first + c * next + bin * step;
        const int pixel = places[at];
        if (pixel >= begin && pixel < end) map[(long long)c * wide + (long long)pixel * step] += Real(top_diff[at]);
      });
    }
  }
}
