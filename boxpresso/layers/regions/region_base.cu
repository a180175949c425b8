// region_base.cu: what region layers share: float16 to the type that is computed in, and back; which regions touch which tile.
#include "bins.h"
#include "given.h"
#include "tiles.h"

KERNEL widen(int n, const Store* x, Real* y) { GRID_LOOP(i, n) y[i] = Real(x[i]); }
KERNEL narrow(int n, const Real* x, Store* y) { GRID_LOOP(i, n) y[i] = x[i]; }

// Of each region the image, its first row and how many rows, its first column and how many columns, from a table of bins.
KERNEL region_boxes(int n, const int* image, const int* bins, int* boxes, int pooled_height, int pooled_width) {
  GRID_LOOP(k, n) {
    const Pooled pooled = {pooled_height, pooled_width};
    int* box = boxes + 5 * k;
    box[0] = image[k];
    for (int axis = 0; axis < 2; ++axis) {
      const int* begin = bins + k * pooled.columns() + axis * 2 * pooled_height;
      const int count = axis ? pooled_width : pooled_height;
      int first = 0, end = 0;
      for (int p = 0; p < count; ++p) {
        if (begin[p] >= begin[count + p]) continue;  // an empty bin
        first = end > 0 ? min(first, begin[p]) : begin[p];
        end = max(end, begin[count + p]);
      }
      box[1 + 2 * axis] = first;
      box[2 + 2 * axis] = end - first;
    }
  }
}

// The lists of tiles.h; a block for each tile of each image. boxes (regions, 5): see region_boxes; order: the order that a list
// has them in.
KERNEL region_tiles(int n, const int* boxes, const int* order, int* lists, int regions, int height, int width, Tiles t) {
  BLOCK_LOOP(b, n) {
    SHARED int scratch[FLAG_ROOM];
    const int image = b / (t.down * t.across), place = b - image * t.down * t.across, top = place / t.across * t.rows, left = place % t.across * t.columns;
    const int bottom = min(top + t.rows, height), right = min(left + t.columns, width);
    int* list = lists + TILE_HEAD + (long long)b * (t.most + 1);
    const auto touches = [&](int j) {
      const int* box = boxes + 5 * order[j];
      return box[0] == image && box[2] > 0 && box[4] > 0 && box[1] < bottom && box[1] + box[2] > top && box[3] < right &&
             box[3] + box[4] > left;
    };
    const int count = compact(scratch, regions, touches, [&](int rank, int j) { list[1 + rank] = order[j]; });
    THREAD_LOOP(i, 1) list[0] = count;
    if (b == 0) THREAD_LOOP(i, 1) {
      lists[0] = t.rows;
      lists[1] = t.columns;
      lists[2] = t.down;
      lists[3] = t.across;
      lists[4] = t.most;
    }
  }
}

constexpr int PACKED_PIXELS = 256;   // of a slab that a GPU's block brings into it,
constexpr int PACKED_THREADS = 256;  // by so many threads, each of which has
constexpr int PACKED_COLUMNS = 64;   // columns apart from the next, of one pixel or four
constexpr int PACKED_ROWS = PACKED_THREADS / PACKED_COLUMNS, PACKED_STEP = PACKED_THREADS / (SLAB / 4);

template <class Number>
struct alignas(4 * sizeof(Number)) Four {
  Number of[4];
};

// Where a block keeps a number: neither threads that put four pixels of a channel nor those that take four channels of 8 pixels meet a
// bank of shared memory twice.
DEVICE int packed_at(int channel, int pixel) { return channel * PACKED_PIXELS + (pixel ^ channel / 4 * 8); }

// maps (B, C, area) to slabs (B * slabs_of(C), area + behind, SLAB), the pixels behind and the channels past C being 0; a block
// for `pixels` pixels of a slab. On a GPU, where these are PACKED_PIXELS at most, four numbers at a time are read and written.
KERNEL region_pack(int n, const Store* maps, Real* slabs, int channels, int area, int behind, int pixels) {
  BLOCK_LOOP(b, n) {
    const int parts = max(unsigned(area + pixels - 1) / unsigned(pixels), 1u), slab = unsigned(b) / unsigned(parts);
    const int first = (b - slab * parts) * pixels, some = min(pixels, area - first);
    Real* to = slabs + (long long)slab * (area + behind) * SLAB;
    if (first + some == area) TILE_LOOP(pixel, c, behind, SLAB) to[((long long)area + pixel) * SLAB + c] = 0;
#if defined(__CUDACC__)
    if (pixels > PACKED_PIXELS) {
      fill_slab(slab, maps, to, channels, area, first, first + some);
      continue;
    }
    SHARED Four<Real> fours[SLAB * PACKED_PIXELS / 4];
    Real* numbers = fours[0].of;
    const int slabs_each = slabs_of(channels), image = unsigned(slab) / unsigned(slabs_each);
    const int channel = (slab - image * slabs_each) * SLAB, count = min(SLAB, channels - channel);
    const Store* from = maps + ((long long)image * channels + channel) * area + first;
    const bool aligned = area % 4 == 0 && (unsigned long long)from % sizeof(Four<Store>) == 0;
    THREAD_LOOP(t, PACKED_THREADS) {
      const int c = unsigned(t) / PACKED_COLUMNS, column = unsigned(t) % PACKED_COLUMNS;
      const Store* row = from + (long long)c * area;
      if (aligned && 4 * column < some) {
        for (int k = 0; k < SLAB; k += PACKED_ROWS, row += (long long)PACKED_ROWS * area) {
          Four<Real> wide = {};
          if (k < count - c) {
            const Four<Store> four = ((const Four<Store>*)row)[column];
            for (int j = 0; j < 4; ++j) wide.of[j] = Real(four.of[j]);
          }
          fours[packed_at(c + k, 4 * column) / 4] = wide;
        }
      } else if (!aligned) {
        for (int pixel = column; pixel < some; pixel += PACKED_COLUMNS)
          for (int k = 0; k < SLAB; k += PACKED_ROWS)
            numbers[packed_at(c + k, pixel)] = k < count - c ? Real(row[(long long)k * area + pixel]) : Real(0);
      }
    }
    BARRIER();
    THREAD_LOOP(t, PACKED_THREADS) {
      const int q = unsigned(t) % (SLAB / 4), pixel = unsigned(t) / (SLAB / 4);
      const Real* channels_of = numbers + packed_at(4 * q, pixel);
      Four<Real>* pixel_to = (Four<Real>*)to + (long long)(first + pixel) * (SLAB / 4) + q;
      for (int step = 0; step < some - pixel; step += PACKED_STEP) {
        Four<Real> four;
        for (int i = 0; i < 4; ++i) four.of[i] = channels_of[i * PACKED_PIXELS + step];
        pixel_to[step * (SLAB / 4)] = four;
      }
    }
    BARRIER();
#else
    fill_slab(slab, maps, to, channels, area, first, first + some);
#endif
  }
}

constexpr int PLACED_BINS = 64;                // of a slab that a block brings into it
constexpr int PLACED_ROW = PLACED_BINS + 1;    // so that threads that read the channels of a bin meet no bank twice

// Gradients of maxima (K, C, bins), or (K, bins, C) if channels_last, and their places, in slabs: see given.h. A block makes a slab of
// a region; the channels past C have place -1.
KERNEL region_placed(int n, const Store* top_diff, const int* places, Real* slabs, int channels, int bins, int channels_last) {
  BLOCK_LOOP(b, n) {
    SHARED Real gradient[SLAB * PLACED_ROW];
    SHARED int place[SLAB * PLACED_ROW];
    const int k = b / slabs_of(channels), channel = (b - k * slabs_of(channels)) * SLAB, count = min(SLAB, channels - channel);
    Placed* to = (Placed*)slabs + (long long)b * bins * SLAB;
    for (int first = 0; first < bins; first += PLACED_BINS) {
      const int some = min(PLACED_BINS, bins - first);
      if (channels_last) {
        const long long from = ((long long)k * bins + first) * channels + channel;
        TILE_LOOP(i, c, some, SLAB)
          to[(first + i) * SLAB + c] = c < count ? Placed{Real(top_diff[from + (long long)i * channels + c]), places[from + (long long)i * channels + c]}
                                                 : Placed{Real(0), -1};
        continue;
      }
      const long long from = ((long long)k * channels + channel) * bins + first;
      THREAD_LOOP(t, count * PLACED_BINS) {  // a row of as many bins as there are, or more, so that shifts find its numbers
        const int c = unsigned(t) / PLACED_BINS, i = unsigned(t) % PLACED_BINS;
        if (i >= some) continue;
        gradient[c * PLACED_ROW + i] = Real(top_diff[from + (long long)c * bins + i]);
        place[c * PLACED_ROW + i] = places[from + (long long)c * bins + i];
      }
      BARRIER();
      THREAD_LOOP(t, some * SLAB) {
        const int i = unsigned(t) / SLAB, c = unsigned(t) % SLAB;
        to[(first + i) * SLAB + c] = c < count ? Placed{gradient[c * PLACED_ROW + i], place[c * PLACED_ROW + i]} : Placed{Real(0), -1};
      }
      BARRIER();
    }
  }
}
