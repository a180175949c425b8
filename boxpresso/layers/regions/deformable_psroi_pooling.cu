// deformable_psroi_pooling.cu: averages of samples in bins that are moved, each bin in its own channel (Deformable ConvNets).
#include "region.h"
#include "tile.h"

#define MOST 64  // samples of a bin in each direction

// What does not change from bin to bin. `trans` (K, 2 classes, part, part): how far a bin moves in x and in y, in trans_std
// regions; null: not at all. A class moves output_dim / classes outputs alike.
struct Layout {
  int output_dim, group, pooled, part, samples, classes;
  Real scale, trans_std;

  constexpr int bins() const { return pooled * pooled; }
};

// What a channel is read for: one output, and its bins from (first_y, first_x) on, `columns` in a row.
struct Channel {
  int image, out, first_y, first_x, columns, bins;
};

// Channel (out group + gh) group + gw is for the bins whose ph group / pooled, rounded down, is gh; in x alike.
DEVICE Channel channel_of(int plane, const Layout& l) {
  const int channels = l.output_dim * l.group * l.group, image = plane / channels, channel = plane - image * channels;
  const int gh = channel / l.group % l.group, gw = channel % l.group;
  const int first_y = (gh * l.pooled + l.group - 1) / l.group, last_y = ((gh + 1) * l.pooled + l.group - 1) / l.group;
  const int first_x = (gw * l.pooled + l.group - 1) / l.group, last_x = ((gw + 1) * l.pooled + l.group - 1) / l.group;
  return {image, channel / (l.group * l.group), first_y, first_x, last_x - first_x, (last_y - first_y) * (last_x - first_x)};
}

// A bin of a region: where its first sample lies, how far apart samples are, the size of the region, its place in the top.
struct Bin {
  Real y, x, step_y, step_x, height, width;
  int place;
};

// Where the bin's class lies in trans: the x part; the y part comes part^2 later. Products as (ph / pooled) * part in Real.
DEVICE int cell_of(const Layout& l, int k, int kind, int ph, int pw) {
  const int i = min(int(floor(Real(ph) / l.pooled * l.part)), l.part - 1);
  const int j = min(int(floor(Real(pw) / l.pooled * l.part)), l.part - 1);
  return ((k * l.classes + kind) * 2 * l.part + i) * l.part + j;
}

// Bin b of those that a channel is for.
DEVICE Bin bin_of(const Store* region, const Store* trans, const Layout& l, const Channel& c, int k, int b) {
  const int ph = c.first_y + b / c.columns, pw = c.first_x + b % c.columns;
  const Real x = round(Real(region[1])) * l.scale - Real(0.5), y = round(Real(region[2])) * l.scale - Real(0.5);
  const Real width = max((round(Real(region[3])) + 1) * l.scale - Real(0.5) - x, Real(0.1));
  const Real height = max((round(Real(region[4])) + 1) * l.scale - Real(0.5) - y, Real(0.1));
  const Real bin_height = height / l.pooled, bin_width = width / l.pooled;
  Bin bin = {ph * bin_height + y, pw * bin_width + x, bin_height / l.samples, bin_width / l.samples, height, width,
             ((k * l.output_dim + c.out) * l.pooled + ph) * l.pooled + pw};
  if (trans) {
    const Store* moved = trans + cell_of(l, k, c.out / (l.output_dim / l.classes), ph, pw);
    bin.x += Real(moved[0]) * l.trans_std * width;
    bin.y += Real(moved[l.part * l.part]) * l.trans_std * height;
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

// The four pixels of a sample, and how far it lies below the upper and right of the left ones.
struct Sample {
  int at[4];
  Real down, across;
};

// The walker: visit(sample) for each sample of a bin on the map; how many there are.
template <class Visit>
DEVICE int walk(const Bin& bin, int samples, int height, int width, Visit visit) {
  int count = 0, top, bottom, left, right;
  Real down, across;
  for (int row = 0; row < samples; ++row) {
    if (!ends(bin.y + row * bin.step_y, height, &top, &bottom, &down)) continue;
    for (int column = 0; column < samples; ++column) {
      if (!ends(bin.x + column * bin.step_x, width, &left, &right, &across)) continue;
      visit(Sample{{top * width + left, top * width + right, bottom * width + left, bottom * width + right}, down, across});
      ++count;
    }
  }
  return count;
}

// A block owns a plane. top: (K, output_dim, pooled, pooled), 0 before; count (or null), alike: how many samples lay on the
// map.
KERNEL deformable_psroi_pooling_forward(int n, const Store* features, const Store* regions, const Store* trans, Store* top,
                                        Store* count, int region_count, int batch, int height, int width, int output_dim,
                                        int group, int pooled, int part, int samples, int classes, Real scale,
                                        Real trans_std) {
  BLOCK_LOOP(plane, n) {
    const Layout l = {output_dim, group, pooled, part, samples, classes, scale, trans_std};
    const Store* map = features + (long long)plane * height * width;
    const Channel c = channel_of(plane, l);
    THREAD_LOOP(t, region_count * c.bins) {
      const int k = t / c.bins;
      if (image_of(regions + 5 * k, 5, batch) != c.image) continue;
      const Bin bin = bin_of(regions + 5 * k, trans, l, c, k, t % c.bins);
      Real sum = 0;
      const int used = walk(bin, samples, height, width, [&](const Sample& s) {
        sum += (1 - s.down) * (1 - s.across) * Real(map[s.at[0]]) + (1 - s.down) * s.across * Real(map[s.at[1]]) +
               s.down * (1 - s.across) * Real(map[s.at[2]]) + s.down * s.across * Real(map[s.at[3]]);
      });
      top[bin.place] = sum / max(used, 1);
      if (count) count[bin.place] = Real(used);
    }
  }
}

// slopes: (K, output_dim, pooled, pooled, 2), the gradient for what each bin moves by in x and in y. A block owns a plane.
KERNEL deformable_psroi_pooling_slopes(int n, const Store* top_diff, const Store* features, const Store* regions,
                                       const Store* trans, Real* slopes, int region_count, int batch, int height, int width,
                                       int output_dim, int group, int pooled, int part, int samples, int classes, Real scale,
                                       Real trans_std) {
  BLOCK_LOOP(plane, n) {
    const Layout l = {output_dim, group, pooled, part, samples, classes, scale, trans_std};
    const Store* map = features + (long long)plane * height * width;
    const Channel c = channel_of(plane, l);
    THREAD_LOOP(t, region_count * c.bins) {
      const int k = t / c.bins;
      if (image_of(regions + 5 * k, 5, batch) != c.image) continue;
      const Bin bin = bin_of(regions + 5 * k, trans, l, c, k, t % c.bins);
      Real slope_x = 0, slope_y = 0;
      const int used = walk(bin, samples, height, width, [&](const Sample& s) {
        const Real v[4] = {Real(map[s.at[0]]), Real(map[s.at[1]]), Real(map[s.at[2]]), Real(map[s.at[3]])};
        slope_x += (v[1] - v[0]) * (1 - s.down) + (v[3] - v[2]) * s.down;
        slope_y += (v[2] - v[0]) * (1 - s.across) + (v[3] - v[1]) * s.across;
      });
      const Real share = Real(top_diff[bin.place]) / max(used, 1) * trans_std;
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
                                         Store* bottom_diff, int region_count, int batch, int height, int width,
                                         int output_dim, int group, int pooled, int part, int samples, int classes,
                                         Real scale, Real trans_std) {
  BLOCK_LOOP(plane, n) {
    SHARED Touched touched[2];
    const Layout l = {output_dim, group, pooled, part, samples, classes, scale, trans_std};
    const Channel c = channel_of(plane, l);
    const long long start = (long long)plane * height * width;
    THREAD_LOOP(i, height * width) sums[start + i] = 0;
    BARRIER();
    for (int k = 0; k < region_count; ++k) {
      if (image_of(regions + 5 * k, 5, batch) != c.image) continue;
      for (int b = 0; b < c.bins; ++b) {
        const Bin bin = bin_of(regions + 5 * k, trans, l, c, k, b);
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
    THREAD_LOOP(i, height * width) bottom_diff[start + i] = sums[start + i];
  }
}

// trans_diff (K, 2 classes, part, part): the slopes of the bins of a cell, over the outputs of its class.
KERNEL deformable_psroi_pooling_trans(int n, const Real* slopes, const Store* regions, Store* trans_diff, int batch,
                                      int output_dim, int pooled, int part, int classes) {
  GRID_LOOP(i, n) {
    const Layout l = {output_dim, 1, pooled, part, 1, classes, 1, 1};
    const int cells = part * part, k = i / (2 * classes * cells), kind = i / (2 * cells) % classes, axis = i / cells % 2;
    const int outputs = output_dim / classes, mine = i - axis * cells;
    Real sum = 0;
    if (image_of(regions + 5 * k, 5, batch) >= 0)
      for (int bin = 0; bin < l.bins(); ++bin)
        if (cell_of(l, k, kind, bin / pooled, bin % pooled) == mine)
          for (int out = kind * outputs; out < (kind + 1) * outputs; ++out)
            sum += slopes[2 * ((k * output_dim + out) * l.bins() + bin) + axis];
    trans_diff[i] = sum;
  }
}
