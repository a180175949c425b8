// deformable_psroi_pooling.cu: averages of samples in bins that are moved, each bin in its own channel (Deformable ConvNets).
#include "plane.h"

constexpr int MOST = 64;  // samples of a bin in each direction

// What does not change from bin to bin. `trans` (K, 2 classes, part, part): how far a bin moves in x and in y, in trans_std
// regions; null: not at all. A class moves output_dim / classes outputs alike.
struct PartGeometry {
  int regions, batch, height, width, output_dim, group, pooled, part, samples, classes;
  Real scale, trans_std;
};

// What a channel is read for: one output, and its bins from (first_y, first_x) on, `columns` in a row.
struct Channel {
  int image, out, first_y, first_x, columns, bins;
};

// Channel (out group + gh) group + gw is for the bins whose ph group / pooled, rounded down, is gh; in x alike.
DEVICE Channel channel_of(int plane, const PartGeometry& g) {
  const int channels = g.output_dim * g.group * g.group, image = plane / channels, channel = plane - image * channels;
  const int gh = channel / g.group % g.group, gw = channel % g.group;
  const int first_y = (gh * g.pooled + g.group - 1) / g.group, last_y = ((gh + 1) * g.pooled + g.group - 1) / g.group;
  const int first_x = (gw * g.pooled + g.group - 1) / g.group, last_x = ((gw + 1) * g.pooled + g.group - 1) / g.group;
  return {image, channel / (g.group * g.group), first_y, first_x, last_x - first_x, (last_y - first_y) * (last_x - first_x)};
}

// A bin of a region: where its first sample lies, how far apart samples are, the size of the region, its place in the top.
struct Bin {
  Real y, x, step_y, step_x, height, width;
  int place;
};

// Where the bin's class lies in trans: the x part; the y part comes part^2 later. Products as (ph / pooled) * part in Real.
DEVICE int cell_of(const PartGeometry& g, int k, int kind, int ph, int pw) {
  const int i = min(int(floor(Real(ph) / g.pooled * g.part)), g.part - 1);
  const int j = min(int(floor(Real(pw) / g.pooled * g.part)), g.part - 1);
  return ((k * g.classes + kind) * 2 * g.part + i) * g.part + j;
}

// Bin b of those that a channel is for.
DEVICE Bin bin_of(const Store* region, const Store* trans, const PartGeometry& g, const Channel& c, int k, int b) {
  const int ph = c.first_y + b / c.columns, pw = c.first_x + b % c.columns;
  const Real x = round(Real(region[1])) * g.scale - Real(0.5), y = round(Real(region[2])) * g.scale - Real(0.5);
  const Real width = max((round(Real(region[3])) + 1) * g.scale - Real(0.5) - x, Real(0.1));
  const Real height = max((round(Real(region[4])) + 1) * g.scale - Real(0.5) - y, Real(0.1));
  const Real bin_height = height / g.pooled, bin_width = width / g.pooled;
  Bin bin = {ph * bin_height + y, pw * bin_width + x, bin_height / g.samples, bin_width / g.samples, height, width,
             ((k * g.output_dim + c.out) * g.pooled + ph) * g.pooled + pw};
  if (trans) {
    const Store* moved = trans + cell_of(g, k, c.out / (g.output_dim / g.classes), ph, pw);
    bin.x += Real(moved[0]) * g.trans_std * width;
    bin.y += Real(moved[g.part * g.part]) * g.trans_std * height;
  }
  return bin;
}

// One axis at coordinate c: false from half a pixel outside the map on, and for NaN.
DEVICE bool ends(Real c, int size, int* low, int* high, Real* part) {
  if (!(c >= Real(-0.5) && c <= size - Real(0.5)) || size < 1) return false;
  c = min(max(c, Real(0)), Real(size - 1));
  *low = int(floor(c));
  *high = int(ceil(c));
  *part = c - *low;
  return true;
}

// The pixels that an axis' samples have, from the first one's to the last one's.
DEVICE Span span_of(Real start, Real step, int samples, int size) {
  const Real last = start + (samples - 1) * step, most = Real(size - 1);
  if (!(abs(start) + abs(last) <= REAL_MAX)) return {0, size};
  return {int(floor(min(max(min(start, last), Real(0)), most))), int(ceil(min(max(max(start, last), Real(0)), most))) + 1};
}

// The four pixels of a sample, and how far it lies below the upper and right of the left ones.
struct Sample {
  int at[4];
  Real down, across;
};

// The walker: visit(sample) for each sample of a bin on the map, or for each `step` of rows and columns from first_row and
// first_column on; how many there are.
template <int step = 1, class Visit>
DEVICE int walk(const Bin& bin, int samples, int height, int width, Visit visit, int first_row = 0, int first_column = 0) {
  int count = 0, top, bottom, left, right;
  Real down, across;
  for (int row = first_row; row < samples; row += step) {
    if (!ends(bin.y + row * bin.step_y, height, &top, &bottom, &down)) continue;
    for (int column = first_column; column < samples; column += step) {
      if (!ends(bin.x + column * bin.step_x, width, &left, &right, &across)) continue;
      visit(Sample{{top * width + left, top * width + right, bottom * width + left, bottom * width + right}, down, across});
      ++count;
    }
  }
  return count;
}

// How many samples of an axis lie on the map.
DEVICE int on_map(Real start, Real step, int samples, int size) {
  int count = 0, low, high;
  Real part;
  for (int i = 0; i < samples; ++i) count += ends(start + i * step, size, &low, &high, &part);
  return count;
}

constexpr int PLACES = SPLIT_ROOM / SPLIT;

// A block owns `together` regions in a channel. top: (K, output_dim, pooled, pooled); count (or null), alike: how many samples
// lay on the map.
KERNEL deformable_psroi_pooling_forward(int n, const Store* features, const Store* regions, const Store* trans, Store* top,
                                        Store* count, int together, PartGeometry g) {
  const int samples = g.samples, height = g.height, width = g.width, channels = g.output_dim * g.group * g.group;
  BLOCK_LOOP(b, n) {
    SHARED Real sums[SPLIT_ROOM];
    SHARED int place[PLACES];
    const Part part = part_of(b, together, g.regions);
    const Channel c = channel_of(part.channel, g);
    const auto sum_of_samples = [&](int t, int q) {
      const int k = part.first + t / c.bins, image = image_of(regions + 5 * k, 5, g.batch);
      const Store* map = features + ((long long)max(image, 0) * channels + part.channel) * height * width;
      const Bin bin = bin_of(regions + 5 * k, trans, g, c, k, t % c.bins);
      Real sum = 0;
      const auto visit = [&](const Sample& s) {
        sum += (1 - s.down) * (1 - s.across) * Real(map[s.at[0]]) + (1 - s.down) * s.across * Real(map[s.at[1]]) +
               s.down * (1 - s.across) * Real(map[s.at[2]]) + s.down * s.across * Real(map[s.at[3]]);
      };
      int used = image < 0 ? 0 : walk<SPLIT_SIDE>(bin, samples, height, width, visit, q / SPLIT_SIDE, q % SPLIT_SIDE);
      if (SPLIT > 1 && image >= 0) used = on_map(bin.y, bin.step_y, samples, height) * on_map(bin.x, bin.step_x, samples, width);
      if (q == 0) place[t % PLACES] = bin.place;
      if (q == 0 && count) count[bin.place] = Real(used);
      return sum / max(used, 1);
    };
    split_sums((part.end - part.first) * c.bins, sums, sum_of_samples, [&](int t, Real sum) { top[place[t % PLACES]] = sum; });
  }
}

// slopes: (K, output_dim, pooled, pooled, 2), the gradient for what each bin moves by in x and in y; nothing for a region that
// lies in no image. A block owns `together` regions in a channel.
KERNEL deformable_psroi_pooling_slopes(int n, const Store* top_diff, const Store* features, const Store* regions,
                                       const Store* trans, Real* slopes, int together, PartGeometry g) {
  const int samples = g.samples, height = g.height, width = g.width, channels = g.output_dim * g.group * g.group;
  BLOCK_LOOP(b, n) {
    const Part part = part_of(b, together, g.regions);
    const Channel c = channel_of(part.channel, g);
    THREAD_LOOP(t, (part.end - part.first) * c.bins) {
      const int k = part.first + t / c.bins, image = image_of(regions + 5 * k, 5, g.batch);
      if (image < 0) continue;
      const Store* map = features + ((long long)image * channels + part.channel) * height * width;
      const Bin bin = bin_of(regions + 5 * k, trans, g, c, k, t % c.bins);
      Real slope_x = 0, slope_y = 0;
      const int used = walk(bin, samples, height, width, [&](const Sample& s) {
        const Real v[4] = {Real(map[s.at[0]]), Real(map[s.at[1]]), Real(map[s.at[2]]), Real(map[s.at[3]])};
        slope_x += (v[1] - v[0]) * (1 - s.down) + (v[3] - v[2]) * s.down;
        slope_y += (v[2] - v[0]) * (1 - s.across) + (v[3] - v[1]) * s.across;
      });
      const Real share = Real(top_diff[bin.place]) / max(used, 1) * g.trans_std;
      slopes[2 * bin.place] = slope_x * share * bin.width;
      slopes[2 * bin.place + 1] = slope_y * share * bin.height;
    }
  }
}

// One axis of the samples of a bin, as walk() takes them: the pixels that they touch, each once, and the sums of their weights.
struct Touched {
  int used, count;  // samples on the map, pixels
  int at[2 * MOST];
  Real weight[2 * MOST];
};

DEVICE void touch(Touched& touched, int pixel, Real weight) {
  int i = touched.count - 1;  // samples go upwards: a pixel that is there is among the last two
  while (i >= 0 && touched.at[i] > pixel) --i;
  if (i < 0 || touched.at[i] != pixel) {
    i = touched.count++;
    touched.at[i] = pixel;
    touched.weight[i] = 0;
  }
  touched.weight[i] += weight;
}

// A block owns a plane and takes the regions of its image in order. sums: bottom_diff itself, or in float32 where that is half.
KERNEL deformable_psroi_pooling_backward(int n, const Store* top_diff, const Store* regions, const Store* trans, Real* sums,
                                         Store* bottom_diff, PartGeometry g) {
  const int samples = g.samples, height = g.height, width = g.width, area = height * width;
  BLOCK_LOOP(plane, n) {
    SHARED Touched touched[2];
    const Channel c = channel_of(plane, g);
    const long long start = (long long)plane * area;
    THREAD_LOOP(i, area) sums[start + i] = 0;
    BARRIER();
    for (int k = 0; k < g.regions && !STOPPED(); ++k) {
      if (image_of(regions + 5 * k, 5, g.batch) != c.image) continue;
      for (int b = 0; b < c.bins; ++b) {
        const Bin bin = bin_of(regions + 5 * k, trans, g, c, k, b);
        THREAD_LOOP(axis, 2) {
          Touched& mine = touched[axis];
          int low, high;
          Real upper;
          mine.used = mine.count = 0;
          for (int i = 0; i < samples; ++i) {
            const Real at = axis ? bin.x + i * bin.step_x : bin.y + i * bin.step_y;
            if (!ends(at, axis ? width : height, &low, &high, &upper)) continue;
            ++mine.used;
            touch(mine, low, 1 - upper);
            if (low < high) touch(mine, high, upper);
          }
        }
        BARRIER();
        const Real share = Real(top_diff[bin.place]) / max(touched[0].used * touched[1].used, 1);
        TILE_LOOP(y, x, touched[0].count, touched[1].count)
          sums[start + touched[0].at[y] * width + touched[1].at[x]] += share * touched[0].weight[y] * touched[1].weight[x];
        BARRIER();
      }
    }
    THREAD_LOOP(i, area) bottom_diff[start + i] = sums[start + i];
  }
}

// trans_diff (K, 2 classes, part, part): the slopes of the bins of a cell, over the outputs of its class.
KERNEL deformable_psroi_pooling_trans(int n, const Real* slopes, const Store* regions, Store* trans_diff, PartGeometry g) {
  GRID_LOOP(i, n) {
    const int cells = g.part * g.part, bins = g.pooled * g.pooled, outputs = g.output_dim / g.classes;
    const int k = i / (2 * g.classes * cells), kind = i / (2 * cells) % g.classes, axis = i / cells % 2;
    const int mine = i - axis * cells;
    Real sum = 0;
    if (image_of(regions + 5 * k, 5, g.batch) >= 0)
      for (int bin = 0; bin < bins; ++bin)
        if (cell_of(g, k, kind, bin / g.pooled, bin % g.pooled) == mine)
          for (int out = kind * outputs; out < (kind + 1) * outputs; ++out)
            sum += slopes[2 * ((k * g.output_dim + out) * bins + bin) + axis];
    trans_diff[i] = sum;
  }
}

// Where the bins of region k may have samples, for the lists of tiles.h: an upright box around the region, moved by the least and
// the most that `trans` says. What is not finite moves a bin to where it has none.
KERNEL deformable_psroi_pooling_boxes(int n, const Store* regions, const Store* trans, int* boxes, PartGeometry g) {
  GRID_LOOP(i, n) {
    const int k = i / 2, axis = i % 2;  // y, then x
    const Store* region = regions + 5 * (long long)k;
    const int cells = g.part * g.part, image = image_of(region, 5, g.batch);
    Real least = 0, most = 0;
    for (int cell = 0; trans && cell < g.classes * cells; ++cell) {
      const Real moved = Real(trans[((long long)k * g.classes + cell / cells) * 2 * cells + (1 - axis) * cells + cell % cells]);
      if (moved < least) least = moved;
      if (moved > most) most = moved;
    }
    const Real start = round(Real(region[2 - axis])) * g.scale - Real(0.5);
    const Real size = max((round(Real(region[4 - axis])) + 1) * g.scale - Real(0.5) - start, Real(0.1));
    const Real low = min(least * g.trans_std, most * g.trans_std) * size, high = max(least * g.trans_std, most * g.trans_std) * size;
    const Real limit = axis ? g.width : g.height;
    const int first = int(min(max(floor(start + low) - 2, Real(0)), limit));
    const int end = int(min(max(ceil(start + size + high) + 3, Real(0)), limit));
    if (axis == 0) boxes[5 * k] = image;
    boxes[5 * k + 1 + 2 * axis] = first;
    boxes[5 * k + 2 + 2 * axis] = max(end - first, 0);
  }
}

// The gradient of the features in tiles, for a GPU: a thread finds the samples of its row by itself. A pixel of the row takes
// from a bin the sum of the weights of its rows, times that of each of its columns in turn.
KERNEL deformable_psroi_pooling_backward_tiles(int n, const Store* top_diff, const Store* regions, const Store* trans,
                                               const int* lists, Store* bottom_diff, PartGeometry g) {
  const int samples = g.samples, height = g.height, width = g.width, channels = g.output_dim * g.group * g.group;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Channel shared[SLAB];
    SHARED Notes notes;
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      THREAD_LOOP(c, SLAB) shared[c] = channel_of(tile.image * channels + min(channel + c, channels - 1), g);
      BARRIER();
      const auto boxes = [&](int k, int c, auto note) {
        for (int i = 0; i < shared[c].bins; ++i) {
          const Bin bin = bin_of(regions + 5 * k, trans, g, shared[c], k, i);
          const Span rows = span_of(bin.y, bin.step_y, samples, height), columns = span_of(bin.x, bin.step_x, samples, width);
          note(Box{rows.first, rows.end, columns.first, columns.end});
        }
      };
      take_noted(tile, channel, channels, notes, boxes, [&](int k, int row, int c) {
        for (int i = 0; i < shared[c].bins; ++i) {
          const Bin bin = bin_of(regions + 5 * k, trans, g, shared[c], k, i);
          int low, high, down = 0, across = 0;
          Real upper, weight = 0;
          for (int s = 0; s < samples; ++s) {
            if (!ends(bin.y + s * bin.step_y, height, &low, &high, &upper)) continue;
            ++down;
            if (low == row) weight += 1 - upper;
            if (high == row && low < high) weight += upper;
          }
          if (weight == 0) continue;
          for (int s = 0; s < samples; ++s) across += ends(bin.x + s * bin.step_x, width, &low, &high, &upper);
          const Real share = Real(top_diff[bin.place]) / max(down * across, 1) * weight;
          for (int s = 0; s < samples; ++s) {
            if (!ends(bin.x + s * bin.step_x, width, &low, &high, &upper)) continue;
            if (low >= tile.left && low < tile.right) number_at(map, tile, row, low, c) += share * (1 - upper);
            if (low < high && high >= tile.left && high < tile.right) number_at(map, tile, row, high, c) += share * upper;
          }
        }
      });
    };
    make_tiles(b, n, lists, bottom_diff, g.batch, channels, height, width, own, false, add_regions);
  }
}
