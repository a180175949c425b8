// crop_resize.cu: boxes of images, each resized to one size, as TensorFlow's crop_and_resize has it; and its gradients.
#include "columns.h"
#include "region.h"
#include "wide.h"

struct CropGeometry {
  int batch, channels, height, width, crop_height, crop_width, nearest;
  Real outside;  // the value of what lies outside the image
};

// Where element i of `count` along an axis of `size` pixels lies: the pixel below, -1 outside; `part` of the one above. The
// order of the arithmetic is TensorFlow's.
DEVICE Real place(Real begin, Real end, int i, int count, int size) {
  if (count <= 1) return Real(0.5) * (begin + end) * (size - 1);
  const Real step = (end - begin) * (size - 1) / (count - 1);
  return begin * (size - 1) + i * step;
}

// images: the image of each box, -1 for none. low, part: (K, crop_height + crop_width), by rows, then columns.
KERNEL crop_resize_places(int n, const Real* boxes, const Real* indices, int* images, int* low, Real* part, CropGeometry g) {
  GRID_LOOP(k, n) {
    const Real* box = boxes + 4 * (long long)k;
    const int all = g.crop_height + g.crop_width, image = image_of(indices + k, 1, g.batch);
    bool finite = true;
    for (int i = 0; i < 4; ++i) finite &= abs(box[i]) <= REAL_MAX;
    images[k] = finite ? image : -1;
    for (int i = 0; i < all; ++i) {
      const bool row = i < g.crop_height;
      const int size = row ? g.height : g.width;
      const Real c = row ? place(box[0], box[2], i, g.crop_height, size)
                         : place(box[1], box[3], i - g.crop_height, g.crop_width, size);
      const bool inside = finite && image >= 0 && c >= 0 && c <= size - 1;
      const Real at = inside ? (g.nearest ? round(c) : floor(c)) : Real(-1);
      low[(long long)k * all + i] = int(at);
      part[(long long)k * all + i] = inside && !g.nearest ? c - at : Real(0);
    }
  }
}

constexpr int PLANES = 8;     // of a box that a block takes
constexpr int ELEMENTS = 64;  // of a crop, that a block keeps before it stores them plane by plane

// COLUMNS neighbouring columns of a crop: the pixels that they lie between, counted from `first`, and how far beyond the left one.
struct Chunk {
  int number, count, first, last, there;  // there: how many pixels from `first` on the row has, at most 2 COLUMNS
  bool near, whole;                 // near: all their pixels are among these; whole: none lies outside the image
  Picks left, right;
  Columns across;
};

DEVICE Chunk chunk_of(int number, const int* column, const Real* acrosses, const CropGeometry& g) {
  int first = g.width, last = -1, lefts[COLUMNS], rights[COLUMNS];
  Real parts[COLUMNS];
  Chunk chunk;
  chunk.number = number, chunk.count = min(COLUMNS, g.crop_width - number * COLUMNS), chunk.whole = true;
  column += number * COLUMNS, acrosses += number * COLUMNS;
  for (int i = 0; i < chunk.count; ++i) {
    if (column[i] >= 0) first = min(first, column[i]), last = max(last, column[i]);
    else chunk.whole = false;
  }
  for (int i = 0; i < COLUMNS; ++i) {
    const bool inside = i < chunk.count && column[i] >= 0;
    parts[i] = inside ? acrosses[i] : Real(0);
    lefts[i] = inside ? column[i] - first : 0;
    rights[i] = lefts[i] + (parts[i] > 0);
  }
  chunk.first = first, chunk.last = last, chunk.there = min(g.width - first, 2 * COLUMNS), chunk.near = last + 1 - first < 2 * COLUMNS;
  chunk.left = *(const Picks*)lefts, chunk.right = *(const Picks*)rights, chunk.across = *(const Columns*)parts;
  return chunk;
}

// Brings near what a row of a plane is read for there.
DEVICE void soon_row(const Store* row, const Chunk& chunk) {
  if (chunk.last - chunk.first < COLUMNS * 64 / int(sizeof(Store)))
    for (int x = chunk.first; x <= chunk.last; x += 64 / sizeof(Store)) soon(row + x);
  else
    for (int i = 0; i < chunk.count; ++i) soon(row + chunk.first + item(chunk.left, i));
}

// A row of a plane, interpolated there.
DEVICE Columns across_row(const Store* row, const Chunk& chunk) {
  Columns lower, upper;
  row += chunk.first;
  if (chunk.near) {
    const Columns one = load(row, chunk.there), next = chunk.there > COLUMNS ? load(row + COLUMNS, chunk.there - COLUMNS) : Columns{};
    lower = pick(one, next, chunk.left);
    upper = pick(one, next, chunk.right);
  } else {
    lower = pick(row, chunk.left);
    upper = pick(row, chunk.right);
  }
  return lower + (upper - lower) * chunk.across;
}

// A block for PLANES channels of a box. top: (K, C, crop_height, crop_width). A thread goes down COLUMNS columns of a crop, and
// interpolates a row of the image once for all rows of the crop that lie beside it. The host takes all planes of some columns,
// the GPU's threads neighbouring columns.
KERNEL crop_resize_forward(int n, const Store* features, const int* images, const int* low, const Real* part, Store* top,
                           int boxes, CropGeometry g) {
  BLOCK_LOOP(b, n) {
    const int k = b % boxes, channel = b / boxes * PLANES, planes = min(PLANES, g.channels - channel);
    const int all = g.crop_height + g.crop_width, chunks = (g.crop_width + COLUMNS - 1) / COLUMNS;
    const int* row = low + (long long)k * all;
    const Real* downs = part + (long long)k * all;
    Chunk chunk;
    chunk.number = -1;
    THREAD_LOOP(t, planes * chunks) {
      const int number = COLUMNS > 1 ? t / planes : t % chunks, c = channel + (COLUMNS > 1 ? t % planes : t / chunks);
      if (chunk.number != number) chunk = chunk_of(number, row + g.crop_height, downs + g.crop_height, g);
      const Store* plane = features + ((long long)max(images[k], 0) * g.channels + c) * g.height * g.width;
      Store* out = top + ((long long)k * g.channels + c) * g.crop_height * g.crop_width + number * COLUMNS;
      int above = -1, below = -1;  // rows that are interpolated
      Columns upper = {}, lower = {};
      for (int ph = 0; ph < g.crop_height; ++ph, out += g.crop_width) {
        Columns value = Columns{} + g.outside;
        if (row[ph] >= 0 && chunk.first < g.width) {
          const auto take = [&](int y) {
            return y == above ? upper : y == below ? lower : across_row(plane + (long long)y * g.width, chunk);
          };
          const int next = row[ph] + (downs[ph] > 0);
          if (c + 1 < channel + planes) {
            const int area = g.height * g.width;
            if (row[ph] != above && row[ph] != below) soon_row(plane + area + (long long)row[ph] * g.width, chunk);
            if (next != row[ph]) soon_row(plane + area + (long long)next * g.width, chunk);
          }
          const Columns one = take(row[ph]), two = next == row[ph] ? one : take(next);
          above = row[ph], below = next, upper = one, lower = two;
          value = upper + (lower - upper) * downs[ph];
          if (!chunk.whole)
            for (int i = 0; i < chunk.count; ++i)
              if (row[g.crop_height + number * COLUMNS + i] < 0) set_item(value, i, g.outside);
        }
        store(out, value, chunk.count);
      }
    }
  }
}

// Where many boxes share an image. A block takes one slab after another into its room (n, area + cells, SLAB), and there all boxes
// of that image: the channels of an element are one vector, which is turned into planes at the end.
KERNEL crop_resize_forward_slabs(int n, const Store* features, const int* images, const int* low, const Real* part, Real* room,
                                 Store* top, int boxes, CropGeometry g) {
  BLOCK_LOOP(b, n) {
    const int area = g.height * g.width, cells = g.crop_height * g.crop_width, slabs = slabs_of(g.channels);
    const int all = g.crop_height + g.crop_width;
    Real *slab = room + (long long)b * (area + cells) * SLAB, *crop = slab + (long long)area * SLAB;
    for (int i = b; i < g.batch * slabs; i += n) {
      const int image = i / slabs, channel = (i - image * slabs) * SLAB;
      int first = g.height, end = 0;  // rows that boxes have elements in
      for (int k = 0; k < boxes && !STOPPED(); ++k)
        if (images[k] == image)
          for (int ph = 0; ph < g.crop_height; ++ph)
            if (const int y = low[(long long)k * all + ph]; y >= 0) first = min(first, y), end = max(end, min(y + 2, g.height));
      fill_slab(i, features, slab, g.channels, area, first * g.width, end * g.width);
      BARRIER();
      for (int k = 0; k < boxes && !STOPPED(); ++k) {
        if (max(images[k], 0) != image) continue;  // what lies in no image is outside everywhere
        const int *row = low + (long long)k * all, *column = row + g.crop_height;
        const Real *downs = part + (long long)k * all, *acrosses = downs + g.crop_height;
        TILE_LOOP(ph, u, g.crop_height, g.crop_width * GROUPS) {
          const int pw = u / GROUPS, group = u % GROUPS, left = column[pw];
          Lanes value = Lanes{} + g.outside;
          if (row[ph] >= 0 && left >= 0) {
            const Real down = downs[ph], across = acrosses[pw];
            const int right = left + (across > 0);
            const Real *above = slab + (long long)row[ph] * g.width * SLAB, *below = above + (down > 0 ? g.width * SLAB : 0);
            const Lanes upper = lanes(above, left, group) + (lanes(above, right, group) - lanes(above, left, group)) * across;
            const Lanes lower = lanes(below, left, group) + (lanes(below, right, group) - lanes(below, left, group)) * across;
            value = upper + (lower - upper) * down;
          }
          lanes(crop, ph * g.crop_width + pw, group) = value;
        }
        BARRIER();
        turn(crop, SLAB, top + ((long long)k * g.channels + channel) * cells, cells, cells, min(SLAB, g.channels - channel));
        BARRIER();
      }
    }
  }
}

// The same of all maps in slabs (B * slabs_of(C), area, SLAB), for a GPU: a block owns a box in a slab.
KERNEL crop_resize_forward_packed(int n, const Real* slabs, const int* images, const int* low, const Real* part, Store* top,
                                  int boxes, CropGeometry g) {
  const int channels = g.channels, all = g.crop_height + g.crop_width, cells = g.crop_height * g.crop_width, width = g.width;
  BLOCK_LOOP(b, n) {
    SHARED Wide elements[stage_of(ELEMENTS)];
    const int s = b / boxes, k = b - s * boxes;
    const Real* slab = slabs + ((long long)max(images[k], 0) * slabs_of(channels) + s) * g.height * width * SLAB;
    const int *row = low + (long long)k * all, *column = row + g.crop_height;
    const Real *downs = part + (long long)k * all, *acrosses = downs + g.crop_height;
    Store* out = top + ((long long)k * channels + s * SLAB) * cells;
    for (int first = 0; first < cells; first += ELEMENTS) {
      const int some = min(ELEMENTS, cells - first);
      TILE_LOOP(i, share, some, SHARES) {
        const int ph = (first + i) / g.crop_width, pw = first + i - ph * g.crop_width, left = column[pw];
        Wide value = wide_of(g.outside);
        if (row[ph] >= 0 && left >= 0) {
          const Real down = downs[ph], across = acrosses[pw];
          const int right = left + (across > 0);
          const Real *above = slab + (long long)row[ph] * width * SLAB, *below = above + (down > 0 ? width * SLAB : 0);
          const Wide upper = wide(above, left, share) + across * (wide(above, right, share) - wide(above, left, share));
          const Wide lower = wide(below, left, share) + across * (wide(below, right, share) - wide(below, left, share));
          value = upper + down * (lower - upper);
        }
        staged(elements, i, share) = value;
      }
      BARRIER();
      empty_stage(elements, out + first, channels - s * SLAB, cells, some);
      BARRIER();
    }
  }
}

// visit(ph, weight of it) for the rows of a crop that have row h of the image among theirs, in order.
template <class Visit>
DEVICE void rows_at(const int* row, const Real* part, int crop_height, int h, Visit visit) {
  for (int ph = 0; ph < crop_height; ++ph) {
    if (row[ph] == h) visit(ph, 1 - part[ph]);
    else if (row[ph] >= 0 && row[ph] + 1 == h && part[ph] > 0) visit(ph, part[ph]);
  }
}

// The gradient of the features, a block for each plane (image and channel), which alone adds there, box after box. On a GPU a
// thread has rows of its own; the host takes the rows of the crop one after another.
KERNEL crop_resize_spread(int n, const Store* top_diff, const int* images, const int* low, const Real* part, Real* diff,
                          int boxes, CropGeometry g) {
  BLOCK_LOOP(b, n) {
    const int image = b / g.channels, c = b - image * g.channels, all = g.crop_height + g.crop_width;
    Real* plane = diff + (long long)b * g.height * g.width;
    THREAD_LOOP(i, g.height * g.width) plane[i] = 0;
    BARRIER();
    for (int k = 0; k < boxes && !STOPPED(); ++k) {
      if (images[k] != image) continue;
      const int *row = low + (long long)k * all, *column = row + g.crop_height;
      const Real* parts = part + (long long)k * all;
      const Store* given = top_diff + ((long long)k * g.channels + c) * g.crop_height * g.crop_width;
      const auto add_row = [&](int h, int ph, Real weight) {
        Real* line = plane + (long long)h * g.width;
        for (int pw = 0; pw < g.crop_width; ++pw) {
          if (column[pw] < 0) continue;
          const Real across = parts[g.crop_height + pw], gradient = weight * Real(given[ph * g.crop_width + pw]);
          line[column[pw]] += (1 - across) * gradient;
          if (across > 0) line[column[pw] + 1] += across * gradient;
        }
      };
#if defined(__CUDACC__)
      THREAD_LOOP(h, g.height) rows_at(row, parts, g.crop_height, h, [&](int ph, Real weight) { add_row(h, ph, weight); });
#else
      for (int ph = 0; ph < g.crop_height; ++ph) {
        if (row[ph] < 0) continue;
        add_row(row[ph], ph, 1 - parts[ph]);
        if (parts[ph] > 0) add_row(row[ph] + 1, ph, parts[ph]);
      }
#endif
    }
  }
}

// How the sum of the gradients times the values changes as each element of a crop moves by a pixel, down and to the right:
// moves (K, crop_height, crop_width, 2), summed over the channels in order.
KERNEL crop_resize_moves(int n, const Store* features, const Store* top_diff, const int* images, const int* low,
                         const Real* part, Real* moves, CropGeometry g) {
  GRID_LOOP(i, n) {
    const int cells = g.crop_height * g.crop_width, k = i / cells, cell = i - k * cells, all = g.crop_height + g.crop_width;
    const int ph = cell / g.crop_width, pw = cell - ph * g.crop_width, area = g.height * g.width;
    const int *row = low + (long long)k * all, above = row[ph], left = row[g.crop_height + pw];
    const Real down = part[(long long)k * all + ph], across = part[(long long)k * all + g.crop_height + pw];
    const int below = above + (down > 0), right = left + (across > 0);
    Real by_y = 0, by_x = 0;
    if (above >= 0 && left >= 0)
      for (int c = 0; c < g.channels; ++c) {
        const Store* map = features + ((long long)images[k] * g.channels + c) * area;
        const Real v0 = Real(map[above * g.width + left]), v1 = Real(map[above * g.width + right]);
        const Real v2 = Real(map[below * g.width + left]), v3 = Real(map[below * g.width + right]);
        const Real gradient = Real(top_diff[((long long)k * g.channels + c) * cells + cell]);
        by_y += gradient * ((1 - across) * (v2 - v0) + across * (v3 - v1));
        by_x += gradient * ((1 - down) * (v1 - v0) + down * (v3 - v2));
      }
    moves[2 * (long long)i] = by_y;
    moves[2 * (long long)i + 1] = by_x;
  }
}

// The gradient of (y1, x1, y2, x2) from those.
KERNEL crop_resize_boxes(int n, const Real* moves, Store* diff, CropGeometry g) {
  GRID_LOOP(k, n) {
    Real sum[4] = {};
    for (int ph = 0; ph < g.crop_height; ++ph)
      for (int pw = 0; pw < g.crop_width; ++pw) {
        const Real* by = moves + 2 * (((long long)k * g.crop_height + ph) * g.crop_width + pw);
        const Real y = g.crop_height > 1 ? Real(ph) / (g.crop_height - 1) : Real(0.5);
        const Real x = g.crop_width > 1 ? Real(pw) / (g.crop_width - 1) : Real(0.5);
        sum[0] += by[0] * (1 - y);
        sum[1] += by[1] * (1 - x);
        sum[2] += by[0] * y;
        sum[3] += by[1] * x;
      }
    for (int i = 0; i < 4; ++i) diff[4 * (long long)k + i] = g.nearest ? Real(0) : sum[i] * ((i % 2 ? g.width : g.height) - 1);
  }
}
