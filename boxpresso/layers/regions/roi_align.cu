// roi_align.cu: averages of bilinear samples in the bins of regions, and their gradients.
//
// A sample's weight is a product of a weight of its row and one of its column, and so is whether it lies on the map. So the
// samples of a bin reach a pixel with (sum of row weights) * (sum of column weights): top = Wy . X . Wx^T / count in each
// plane, and the gradient is Wy^T . G . Wx / count. The cost depends on the pixels touched, not on the samples.
//
// There are two ways to walk the lists of these weights. Plane by plane, with vectors along the rows of the map: nothing is
// copied, and only what the regions touch is read. Or, where many regions share a map, in slabs, with vectors along the
// channels: only the pixels that have a weight are read.
#include "columns.h"
#include "roi_lists.h"
#include "slab.h"
#include "tile.h"

constexpr int STRIP = 4096;    // numbers that a block keeps between the two products
constexpr int PART = 16;       // channels that a block of the regions' gradient takes
constexpr int PRODUCTS = 256;  // of them stored before they are summed

// A strip holds some lines, which are bins of channels (line = channel * pooled_height + ph), of so many columns. COLUMNS
// lines at a time stand side by side, so that either product works on vectors.
DEVICE Columns& strip_at(Real* strip, int block, int column, int columns) {
  return *(Columns*)(strip + (block * columns + column) * COLUMNS);
}

// The first product: of each line, from column `left` on, the weighted sum of its rows.
template <class Map>
DEVICE void sum_rows(const Map* maps, const Axis& y, int first, int lines, int left, int columns, int area, int width,
                     int pooled_height, Real* strip) {
  TILE_LOOP(block, v, (lines + COLUMNS - 1) / COLUMNS, (columns + COLUMNS - 1) / COLUMNS) {
    const int from = max(min(v * COLUMNS, columns - COLUMNS), 0);  // the last vector may overlap the one before
    Columns rows[COLUMNS];
    for (int i = 0; i < COLUMNS; ++i) {
      const int line = min(first + block * COLUMNS + i, first + lines - 1), channel = line / pooled_height;
      const int p = line - channel * pooled_height;
      const Map* map = maps + (long long)channel * area + left + from;
      Columns sum = {};
      for (int e = y.start[p]; e < y.start[p + 1]; ++e)
        sum += y.weight[e] * load(map + y.at[e] * width, columns);
      rows[i] = sum;
    }
    transpose(rows);
    for (int x = 0; x < min(COLUMNS, columns); ++x) strip_at(strip, block, from + x, columns) = rows[x];
  }
}

// A block owns a region in `group` channels; features: (B, C, height, width), top: (K, C, pooled_height, pooled_width).
KERNEL roi_align_forward(int n, const Store* features, const int* head, const Real* inverse, const int* index,
                         const Real* weight, Store* top, int group, ListGeometry g) {
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Real strip[STRIP];
    const int k = b % regions, channel = b / regions * group, image = head[5 * k];
    const int bins = pooled_height * pooled_width, area = height * width;
    const Axis y = axis_by_bin(k, 0, head, index, weight, g);
    const Axis x = axis_by_bin(k, 1, head, index, weight, g);
    const int all = min(group, channels - channel) * pooled_height;
    Store* out = top + ((long long)k * channels + channel) * bins;
    if (image < 0 || y.length == 0 || x.length == 0) {
      THREAD_LOOP(i, all * pooled_width) out[i] = Real(0);
      continue;
    }
    const Store* maps = features + ((long long)image * channels + channel) * area;
    const int span = min(max(x.length, COLUMNS), width), begin = min(x.first, width - span);
    const int columns = min(span, STRIP / COLUMNS), lines = STRIP / columns / COLUMNS * COLUMNS;
    for (int first = 0; first < all; first += lines)
      for (int left = begin; left < begin + span; left += columns) {
        const int some = min(columns, begin + span - left), count = min(lines, all - first);
        sum_rows(maps, y, first, count, left, some, area, width, pooled_height, strip);
        BARRIER();
        TILE_LOOP(block, p, (count + COLUMNS - 1) / COLUMNS, pooled_width) {
          Columns sum = {};
          for (int e = x.start[p]; e < x.start[p + 1]; ++e)
            if (unsigned(x.at[e] - left) < unsigned(some))
              sum += x.weight[e] * strip_at(strip, block, x.at[e] - left, some);
          sum *= inverse[k];
          Store* place = out + (first + block * COLUMNS) * pooled_width + p;
          for (int i = 0; i < min(COLUMNS, count - block * COLUMNS); ++i)
            place[i * pooled_width] = (left > begin ? Real(place[i * pooled_width]) : Real(0)) + item(sum, i);
        }
        BARRIER();
      }
  }
}

// A block owns a plane of sums (B, C, height, width) and takes the regions of its image in order, by pixel: each number has
// one owner and one order.
KERNEL roi_align_backward(int n, const Store* top_diff, const int* head, const Real* inverse, const int* index,
                          const Real* weight, Real* sums, ListGeometry g) {
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(plane, n) {
    SHARED Real strip[STRIP];
    const int image = plane / channels, channel = plane - image * channels;
    Real* map = sums + (long long)plane * height * width;
    THREAD_LOOP(i, height * width) map[i] = 0;
    BARRIER();
    for (int k = 0; k < regions && !STOPPED(); ++k) {
      if (head[5 * k] != image) continue;
      const Axis y = axis_by_pixel(k, 0, head, index, weight, g);
      const Axis x = axis_by_pixel(k, 1, head, index, weight, g);
      const Store* given = top_diff + ((long long)k * channels + channel) * pooled_height * pooled_width;
      const int most = STRIP / pooled_height;
      for (int left = 0; left < x.length; left += most) {
        const int columns = min(most, x.length - left);
        TILE_LOOP(p, i, pooled_height, columns) {
          Real sum = 0;
          for (int e = x.start[left + i]; e < x.start[left + i + 1]; ++e)
            sum += x.weight[e] * Real(given[p * pooled_width + x.at[e]]);
          strip[p * columns + i] = sum * inverse[k];
        }
        BARRIER();
        TILE_LOOP(row, v, y.length, (columns + COLUMNS - 1) / COLUMNS) {
          const int begin = y.start[row], end = y.start[row + 1], i = v * COLUMNS;
          if (begin == end) continue;
          Real* out = map + (y.first + row) * width + x.first + left;
          if (i + COLUMNS <= columns) {
            Columns sum = *(const Columns*)(out + i);
            for (int e = begin; e < end; ++e) sum += y.weight[e] * load(strip + y.at[e] * columns + i, COLUMNS);
            *(Columns*)(out + i) = sum;
          } else {
            for (int e = begin; e < end; ++e)
              for (int j = i; j < columns; ++j) out[j] += y.weight[e] * strip[y.at[e] * columns + j];
          }
        }
        BARRIER();
      }
    }
  }
}

// A block takes one slab after another into its room (n, area + bins, SLAB), and there the regions of that image in `order`:
// a slab stays in the cache of a core, and so do the pixels of one region for the next.
// top: (K, C, pooled_height, pooled_width).
KERNEL roi_align_forward_slabs(int n, const Store* features, const int* order, const int* head, const Real* inverse,
                               const int* index, const Real* weight, Real* room, Store* top, ListGeometry g) {
  const int regions = g.regions, batch = g.batch, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    const int area = height * width, bins = pooled_height * pooled_width, slabs = slabs_of(channels);
    Real *slab = room + (long long)b * (area + bins) * SLAB, *averages = slab + (long long)area * SLAB;
    for (int i = b; i < batch * slabs; i += n) {
      const int image = i / slabs, channel = (i - image * slabs) * SLAB;
      int first_row = height, end_row = 0;  // that regions have pixels in
      for (int k = 0; k < regions && !STOPPED(); ++k)
        if (head[5 * k] == image) {
          first_row = min(first_row, head[5 * k + 1]);
          end_row = max(end_row, head[5 * k + 1] + head[5 * k + 2]);
        }
      fill_slab(i, features, slab, channels, area, first_row * width, end_row * width);
      BARRIER();
      for (int j = 0; j < regions && !STOPPED(); ++j) {
        const int k = order[j];
        if (max(head[5 * k], 0) != image) continue;  // what lies in no image has empty lists and becomes 0
        const Axis y = axis_by_bin(k, 0, head, index, weight, g);
        const Axis x = axis_by_bin(k, 1, head, index, weight, g);
        TILE_LOOP(ph, u, pooled_height, pooled_width * GROUPS) {
          const int pw = u / GROUPS, group = u % GROUPS;
          Lanes sum = {};
          for (int e = y.start[ph]; e < y.start[ph + 1]; ++e) {
            const Real* row = slab + (long long)y.at[e] * width * SLAB;
            Lanes across = {};
            for (int f = x.start[pw]; f < x.start[pw + 1]; ++f) across += x.weight[f] * lanes(row, x.at[f], group);
            sum += y.weight[e] * across;
          }
          lanes(averages, ph * pooled_width + pw, group) = sum * inverse[k];
        }
        BARRIER();
        turn(averages, SLAB, top + ((long long)k * channels + channel) * bins, bins, bins, min(SLAB, channels - channel));
        BARRIER();
      }
    }
  }
}

// And back, y's lists by pixel: a thread owns a row of the region, so that each number has one owner and one order.
KERNEL roi_align_backward_slabs(int n, const Store* top_diff, const int* order, const int* head, const Real* inverse,
                                const int* index, const Real* weight, const int* pixel_index, const Real* pixel_weight,
                                Real* room, Store* diff, ListGeometry g) {
  const int regions = g.regions, batch = g.batch, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    const int area = height * width, bins = pooled_height * pooled_width, slabs = slabs_of(channels);
    Real *slab = room + (long long)b * (area + bins) * SLAB, *given = slab + (long long)area * SLAB;
    for (int i = b; i < batch * slabs; i += n) {
      const int image = i / slabs, channel = (i - image * slabs) * SLAB;
      TILE_LOOP(row, c, height, width * SLAB) slab[(long long)row * width * SLAB + c] = 0;
      for (int j = 0; j < regions && !STOPPED(); ++j) {
        const int k = order[j];
        if (head[5 * k] != image) continue;
        const Axis y = axis_by_pixel(k, 0, head, pixel_index, pixel_weight, g);
        const Axis x = axis_by_bin(k, 1, head, index, weight, g);
        const Store* from = top_diff + ((long long)k * channels + channel) * bins;
        turn(from, bins, given, SLAB, min(SLAB, channels - channel), bins);
        BARRIER();
        TILE_LOOP(row, group, y.length, GROUPS) {
          if (y.start[row] == y.start[row + 1]) continue;
          Real* out = slab + (long long)(y.first + row) * width * SLAB;
          for (int pw = 0; pw < pooled_width; ++pw) {
            Lanes share = {};
            for (int e = y.start[row]; e < y.start[row + 1]; ++e)
              share += y.weight[e] * lanes(given, y.at[e] * pooled_width + pw, group);
            share *= inverse[k];
            for (int f = x.start[pw]; f < x.start[pw + 1]; ++f) lanes(out, x.at[f], group) += x.weight[f] * share;
          }
        }
        BARRIER();
      }
      BARRIER();
      empty_slab(i, slab, diff, channels, area);
      BARRIER();
    }
  }
}

// The sums that make up the regions' gradient, a block for a region in PART channels; parts: (ceil(C / PART), K, 4): with
// respect to where y starts, the height of a bin, where x starts, and the width of a bin.
KERNEL roi_align_moves(int n, const Store* features, const Store* top_diff, const int* head, const Real* inverse,
                       const int* index, const Real* weight, const Real* slope, const Real* lever, Real* parts,
                       ListGeometry g) {
  const int regions = g.regions, channels = g.channels, width = g.width, area = g.height * width;
  const int pooled_width = g.pooled_width, bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Real product[4][PRODUCTS], total[4];
    const int k = b % regions, channel = b / regions * PART, image = head[5 * k];
    const Axis y = axis_by_bin(k, 0, head, index, weight, g);
    const Axis x = axis_by_bin(k, 1, head, index, weight, g);
    const Real *slope_y = slope + (y.weight - weight), *lever_y = lever + (y.weight - weight);
    const Real *slope_x = slope + (x.weight - weight), *lever_x = lever + (x.weight - weight);
    const Store* maps = features + ((long long)max(image, 0) * channels + channel) * area;
    const Store* given = top_diff + ((long long)k * channels + channel) * bins;
    const int all = image < 0 ? 0 : min(PART, channels - channel) * bins;
    THREAD_LOOP(t, 4) total[t] = 0;
    for (int first = 0; first < all; first += PRODUCTS) {
      const int count = min(PRODUCTS, all - first);
      THREAD_LOOP(i, count) {
        const int bin = (first + i) % bins, ph = bin / pooled_width, pw = bin % pooled_width;
        const Store* map = maps + (long long)((first + i) / bins) * area;
        Real move_y = 0, stretch_y = 0, move_x = 0, stretch_x = 0;
        for (int e = y.start[ph]; e < y.start[ph + 1]; ++e) {
          Real across = 0, across_slope = 0, across_lever = 0;
          for (int f = x.start[pw]; f < x.start[pw + 1]; ++f) {
            const Real value = Real(map[y.at[e] * width + x.at[f]]);
            across += x.weight[f] * value;
            across_slope += slope_x[f] * value;
            across_lever += lever_x[f] * value;
          }
          move_y += slope_y[e] * across;
          stretch_y += lever_y[e] * across;
          move_x += y.weight[e] * across_slope;
          stretch_x += y.weight[e] * across_lever;
        }
        const Real gradient = Real(given[first + i]) * inverse[k];
        product[0][i] = move_y * gradient;
        product[1][i] = stretch_y * gradient;
        product[2][i] = move_x * gradient;
        product[3][i] = stretch_x * gradient;
      }
      BARRIER();
      THREAD_LOOP(t, 4)
        for (int i = 0; i < count; ++i) total[t] += product[t][i];
      BARRIER();
    }
    THREAD_LOOP(t, 4) parts[4 * (long long)b + t] = total[t];
  }
}

// The gradient of (batch index, x1, y1, x2, y2) from those sums; the number of samples is taken as fixed, and so is a size
// that is held at 1.
KERNEL roi_align_corners(int n, const Real* parts, const Real* rows, Store* diff, int count, ListGeometry g) {
  GRID_LOOP(k, n) {
    Real sum[4] = {};
    for (int part = 0; part < count; ++part)
      for (int t = 0; t < 4; ++t) sum[t] += parts[4 * ((long long)part * n + k) + t];
    const Real* region = rows + 5 * (long long)k;
    Store* out = diff + 5 * (long long)k;
    out[0] = Real(0);
    for (int axis = 0; axis < 2; ++axis) {  // x, then y
      const Real length = (region[3 + axis] - region[1 + axis]) * g.scale;
      const bool moves = g.aligned || length > 1;
      const Real end = moves ? sum[3 - 2 * axis] / (axis ? g.pooled_height : g.pooled_width) : Real(0);
      out[1 + axis] = g.scale * (sum[2 - 2 * axis] - end);
      out[3 + axis] = g.scale * end;
    }
  }
}
