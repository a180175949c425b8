// roi_pooling.cu: the largest value of each bin of each region, and its gradient to the pixel that was the largest.
#include "bins.h"
#include "region.h"
#include "wide.h"

constexpr int BINS = 64;          // of a region, whose maxima a block keeps before it stores them plane by plane
#if defined(__CUDACC__)
constexpr int ABREAST = 1;
#else
constexpr int ABREAST = 4;  // maxima that are taken apart: one that waits for the one before would take as long as all
#endif
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

// The walker: visit(pixel, i) for the pixels of a bin in order, i < abreast; some are visited twice, so that a row has whole groups.
template <int abreast, class Visit>
DEVICE void walk(int width, const Box& box, Visit visit) {
  const int last = box.right - abreast;  // where a row's last group begins
  if (box.left >= box.right) return;
  if (last < box.left) {
    for (int y = box.top; y < box.bottom; ++y)
      for (int i = 0; i < abreast; ++i) visit(y * width + min(box.left + i, box.right - 1), i);
  } else {
    for (int y = box.top; y < box.bottom; ++y)
      for (int x = box.left; x < box.right; x += abreast)
        for (int i = 0; i < abreast; ++i) visit(y * width + min(x, last) + i, i);
  }
}

// All bins of region k in `together` slabs from s, 1 or ABREAST, which have their maps at `slab`, `next` numbers apart: `most` and
// `place`, SHARED, have room for BINS of each. top and places: (K, channels, bins), or (K, bins, channels) where channels_last;
// which of them are wanted, the values, the places or both, `values` and `argmax` say. An empty bin has the value 0 and the place
// -1, and so has one where all is NaN. The maxima of one slab are of ABREAST pixels apart, those of several of one pixel each.
template <int together>
DEVICE void put_maxima(const Real* slab, long long next, const int* bins, int k, int s, Store* top, int* places, int values, int argmax,
                       int channels_last, Wide* most, int* place, const Geometry& g) {
  const int channels = g.channels, width = g.width;
  const Pooled pooled = pooled_of(g);
  const int cells = pooled.cells(), count = min(SLAB * together, channels - s * SLAB);
  // Stores that lie far apart: between them maxima are found.
  const bool at_once = channels_last && !argmax && SHARES == 1 && count == SLAB * together;
  for (int first = 0; first < cells; first += BINS) {
    const int some = min(BINS, cells - first);
    const long long out = channels_last ? ((long long)k * cells + first) * channels + s * SLAB
                                        : ((long long)k * channels + s * SLAB) * cells + first;
    TILE_LOOP(i, share, some, SHARES) {
      const int ph = (first + i) / pooled.width, pw = first + i - ph * pooled.width;
      const Box box = box_of(bins, pooled, k, ph, pw);
      const bool empty = box.top >= box.bottom || box.left >= box.right;
      const Wide least = wide_of(empty ? Real(0) : -REAL_MAX);
      if (argmax) {
        for (int j = 0; j < together; ++j) {
          Wide largest = least;
          WidePlaces at = places_of(-1);
          walk<1>(width, box, [&](int pixel, int) { take_larger(largest, at, wide(slab + j * next, pixel, share), places_of(pixel)); });
          staged(most, j * BINS + i, share) = largest;
          for (int c = 0; c < WIDE; ++c) place[(j * BINS + i) * STAGE_ROW + share * WIDE + c] = lane(at, c);
        }
        continue;
      }
      Wide largest[ABREAST];
      for (int j = 0; j < ABREAST; ++j) largest[j] = least;
      if (together == 1) {
        walk<ABREAST>(width, box, [&](int pixel, int j) { take_larger(largest[j], wide(slab, pixel, share)); });
        for (int j = 1; j < ABREAST; ++j) take_larger(largest[0], largest[j]);
      } else {
        walk<1>(width, box, [&](int pixel, int) {
          for (int j = 0; j < together; ++j) take_larger(largest[j], wide(slab + j * next, pixel, share));
        });
      }
      for (int j = 0; j < together; ++j) {
        if (at_once) put_values(top + out + (long long)i * channels + j * SLAB, largest[j]);
        else staged(most, j * BINS + i, share) = largest[j];
      }
    }
    BARRIER();
    for (int j = 0; j < together; ++j) {
      const int lines = min(SLAB, count - j * SLAB);
      const int* at = place + j * BINS * STAGE_ROW;
      const Wide* stage = most + stage_of(j * BINS);
      if (channels_last) {
        const Real* from = (const Real*)stage;
        const long long to = out + j * SLAB;
        if (values && !at_once) TILE_LOOP(i, c, some, lines) top[to + (long long)i * channels + c] = from[i * STAGE_ROW + c];
        if (argmax) TILE_LOOP(i, c, some, lines) places[to + (long long)i * channels + c] = at[i * STAGE_ROW + c];
      } else {
        const long long to = out + (long long)j * SLAB * cells;
        if (values) empty_stage(stage, top + to, lines, cells, some);
        if (argmax) TILE_LOOP(c, i, lines, some) places[to + (long long)c * cells + i] = at[i * STAGE_ROW + c];
      }
    }
    BARRIER();
  }
}

// A block takes `group` slabs of an image after others into its room (n, group, area, SLAB), and there that image's regions.
KERNEL roi_pooling_forward(int n, const Store* features, Real* room, const int* image, const int* bins, Store* top, int* places,
                           int values, int argmax, int channels_last, int group, Geometry g) {
  const int area = g.height * g.width, slabs = slabs_of(g.channels), groups = (slabs + group - 1) / group;
  const long long next = (long long)area * SLAB;
  BLOCK_LOOP(b, n) {
    SHARED Wide most[stage_of(BINS * ABREAST)];
    SHARED int place[BINS * ABREAST * STAGE_ROW];
    Real* slab = room + b * group * next;
    for (int i = b; i < g.batch * groups; i += n) {
      const int of = i / groups, first = i % groups * group, count = min(group, slabs - first);
      for (int j = 0; j < count; ++j) {
        if (channels_last) fill_lines(of * slabs + first + j, features, slab + j * next, g.channels, area, 0, area);
        else fill_slab(of * slabs + first + j, features, slab + j * next, g.channels, area, 0, area);
      }
      BARRIER();
      for (int k = 0; k < g.regions && !STOPPED(); ++k) {
        if (max(image[k], 0) != of) continue;  // what lies in no image has empty bins
        int j = 0;
        for (; j + ABREAST <= count; j += ABREAST)
          put_maxima<ABREAST>(slab + j * next, next, bins, k, first + j, top, places, values, argmax, channels_last, most, place, g);
        for (; j < count; ++j)
          put_maxima<1>(slab + j * next, next, bins, k, first + j, top, places, values, argmax, channels_last, most, place, g);
      }
    }
  }
}

// The same of all maps in slabs (B * slabs_of(C), area, SLAB), for a GPU: a block owns a region in a slab.
KERNEL roi_pooling_forward_packed(int n, const Real* slabs, const int* image, const int* bins, Store* top, int* places, int values,
                                  int argmax, int channels_last, Geometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Wide most[stage_of(BINS)];
    SHARED int place[BINS * STAGE_ROW];
    const int s = b / g.regions, k = b - s * g.regions;
    const Real* slab = slabs + ((long long)max(image[k], 0) * slabs_of(g.channels) + s) * g.height * g.width * SLAB;
    put_maxima<1>(slab, 0, bins, k, s, top, places, values, argmax, channels_last, most, place, g);
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
