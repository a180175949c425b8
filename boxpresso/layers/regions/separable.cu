// separable.cu: the averages of separable.h, and their gradients: top = Wy . X . Wx^T in each plane, and the gradient is
// Wy^T . G . Wx. The cost depends on the pixels touched, not on the samples.
//
// There are two ways to walk the lists of these weights. Plane by plane, with vectors along the rows of the map: nothing is
// copied, and only what the regions touch is read. Or, where many regions share a map, in slabs, with vectors along the
// channels: only the pixels that have a weight are read.
#include "columns.h"
#include "ranks.h"
#include "separable.h"
#include "slab.h"
#include "tile.h"

constexpr int STRIP = 4096;    // numbers that a block keeps between the two products
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
KERNEL separable_forward(int n, const Store* features, const int* head, const Real* inverse, const int* index,
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
KERNEL separable_backward(int n, const Store* top_diff, const int* head, const Real* inverse, const int* index,
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
KERNEL separable_forward_slabs(int n, const Store* features, const int* order, const int* head, const Real* inverse,
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
        const Real share = inverse[k];
        THREAD_LOOP(ph, pooled_height) {
          const int first_y = y.start[ph], end_y = y.start[ph + 1];
          const auto row = [&](int e) { return slab + (long long)y.at[e] * width * SLAB; };
          const bool two = end_y - first_y == 2;  // as bilinear samples have, for which loops are unrolled
          const Real *above = two ? row(first_y) : slab, *below = two ? row(first_y + 1) : slab;
          const Real up = two ? y.weight[first_y] : Real(0), down = two ? y.weight[first_y + 1] : Real(0);
          const auto sum_of_two = [&](int first, int end, int group) {
            Lanes sum = {}, upper = {}, lower = {};
            for (int f = first; f < end; ++f) {
              upper += x.weight[f] * lanes(above, x.at[f], group);
              lower += x.weight[f] * lanes(below, x.at[f], group);
            }
            sum += up * upper;
            sum += down * lower;
            return sum;
          };
          const auto sum_of_rows = [&](int first, int end, int group) {
            Lanes sum = {};
            for (int e = first_y; e < end_y; ++e) {
              Lanes across = {};
              for (int f = first; f < end; ++f) across += x.weight[f] * lanes(row(e), x.at[f], group);
              sum += y.weight[e] * across;
            }
            return sum;
          };
          for (int u = 0; u < pooled_width * GROUPS; ++u) {
            const int pw = u / GROUPS, group = u % GROUPS, first = x.start[pw], end = x.start[pw + 1];
            Lanes& average = lanes(averages, ph * pooled_width + pw, group);
            if (!two) average = sum_of_rows(first, end, group) * share;
            else if (end - first == 2) average = sum_of_two(first, first + 2, group) * share;
            else average = sum_of_two(first, end, group) * share;
          }
        }
        BARRIER();
        turn(averages, SLAB, top + ((long long)k * channels + channel) * bins, bins, bins, min(SLAB, channels - channel));
        BARRIER();
      }
    }
  }
}

// The lists by bin of a region, and how their weights change.
struct Moving {
  Axis y, x;
  const Real *slope_y, *lever_y, *slope_x, *lever_x;
};

DEVICE Moving moving_of(int k, const int* head, const int* index, const Real* weight, const ListGeometry& g) {
  const Axis y = axis_by_bin(k, 0, head, index, weight, g), x = axis_by_bin(k, 1, head, index, weight, g);
  const Real *slope_y = y.weight + changes_behind(g), *slope_x = x.weight + changes_behind(g);
  return {y, x, slope_y, slope_y + changes_behind(g), slope_x, slope_x + changes_behind(g)};
}

// Adds to sum[4] what a bin whose gradient is given adds with respect to where y starts, the height of a bin, where x starts, and the
// width of a bin. pixel(y, x): the lanes of a pixel.
template <class Pixel>
DEVICE void add_moves(const Moving& m, int ph, int pw, const Lanes& gradient, Lanes* sum, Pixel pixel) {
  Lanes move_y = {}, stretch_y = {}, move_x = {}, stretch_x = {};
  for (int e = m.y.start[ph]; e < m.y.start[ph + 1]; ++e) {
    Lanes across = {}, across_slope = {}, across_lever = {};
    for (int f = m.x.start[pw]; f < m.x.start[pw + 1]; ++f) {
      const Lanes value = pixel(m.y.at[e], m.x.at[f]);
      across += m.x.weight[f] * value;
      across_slope += m.slope_x[f] * value;
      across_lever += m.lever_x[f] * value;
    }
    move_y += m.slope_y[e] * across;
    stretch_y += m.lever_y[e] * across;
    move_x += m.y.weight[e] * across_slope;
    stretch_x += m.y.weight[e] * across_lever;
  }
  sum[0] += gradient * move_y;
  sum[1] += gradient * stretch_y;
  sum[2] += gradient * move_x;
  sum[3] += gradient * stretch_x;
}

DEVICE Real sum_of_lanes(const Lanes& value) {
  Real sum = 0;
  for (int i = 0; i < LANES; ++i) sum += lane(value, i);
  return sum;
}

// The sums that make up the regions' gradient, a block for a region in a slab of channels; parts: (slabs, K, 4). left_out, or null: which
// regions are to be done.
KERNEL separable_moves(int n, const Store* features, const Store* top_diff, const int* head, const Real* inverse,
                       const int* index, const Real* weight, const int* left_out, Real* parts, ListGeometry g) {
  const int width = g.width, area = g.height * width, pooled_width = g.pooled_width, bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes product[4][PRODUCTS], total[4];
    const int k = b % g.regions, channel = b / g.regions * SLAB, image = head[5 * k];
    if (left_out && !left_out[k]) continue;
    const Moving m = moving_of(k, head, index, weight, g);
    const Store* maps = features + (long long)max(image, 0) * g.channels * area;
    const Store* given = top_diff + (long long)k * g.channels * bins;
    const int all = image < 0 ? 0 : GROUPS * bins;
    THREAD_LOOP(t, 4) total[t] = Lanes{};
    BARRIER();
    for (int first = 0; first < all; first += PRODUCTS) {
      const int count = min(PRODUCTS, all - first);
      THREAD_LOOP(i, count) {
        const int group = (first + i) / bins, bin = first + i - group * bins, ph = bin / pooled_width;
        Lanes sum[4] = {};
        if (channel + group * LANES < g.channels) {
          const Lanes gradient = gather(given, channel, g.channels, bins, bin, group) * inverse[k];
          add_moves(m, ph, bin - ph * pooled_width, gradient, sum,
                    [&](int y, int x) { return gather(maps, channel, g.channels, area, y * width + x, group); });
        }
        for (int t = 0; t < 4; ++t) product[t][i] = sum[t];
      }
      BARRIER();
      THREAD_LOOP(t, 4)
        for (int i = 0; i < count; ++i) total[t] += product[t][i];
      BARRIER();
    }
    THREAD_LOOP(t, 4) parts[4 * (long long)b + t] = sum_of_lanes(total[t]);
  }
}

constexpr int BESIDE = 4;  // columns that a thread takes together
constexpr int BAND = 64;   // rows of a map

// What a block keeps of a region: lanes of rows of the map, and which columns of it bins name, in order.
struct Kept {
  Real *line, *sums, *dots;  // a column each; the last: an entry of y each
  int *named, *column;       // of each column, whether it is
};

// How many columns bins name.
DEVICE int name_columns(const Axis& x, int bins, const Kept& kept) {
  int count = 0;
  for (int at = x.first; at < x.first + x.length; ++at) kept.named[at] = 0;
  for (int f = x.start[0]; f < x.start[bins]; ++f) kept.named[x.at[f]] = 1;
  for (int at = x.first; at < x.first + x.length; ++at)
    if (kept.named[at]) kept.column[count++] = at;
  return count;
}

// Entries first to end - 1 of y in `count` columns: their gradient to map, and to sums and dots the sums of the values by the rows'
// weights, and of each row's values by the bins' gradient. map and values begin at row `top`.
template <int count, bool ADD, bool MOVE>
DEVICE void columns_back(const Axis& y, int first, int end, int top, const int* column, int width, int group, const Kept& kept,
                         Real* map, const Real* values) {
  Lanes gradient[count], sum[count] = {};
  for (int i = 0; i < count; ++i) gradient[i] = lanes(kept.line, column[i], group);
  for (int e = first; e < end; ++e) {
    const int row = (y.at[e] - top) * width;
    const Real weight = y.weight[e];
    Lanes dot = {};
    for (int i = 0; i < count; ++i) {
      if (ADD) lanes(map, row + column[i], group) += weight * gradient[i];
      if (MOVE) {
        const Lanes value = lanes(values, row + column[i], group);
        sum[i] += weight * value;
        dot += gradient[i] * value;
      }
    }
    if (MOVE) lanes(kept.dots, e - first, group) += dot;
  }
  for (int i = 0; MOVE && i < count; ++i) lanes(kept.sums, column[i], group) = sum[i];
}

// Both gradients of rows top to bottom of a region in a slab: adds to map, and to sum[4] as add_moves(). given: (bins, SLAB).
template <bool ADD, bool MOVE>
DEVICE void region_back(const Moving& m, const Real* given, Real inverse, int top, int bottom, int columns, int group, const Kept& kept,
                        Real* map, const Real* values, Lanes* sum, const ListGeometry& g) {
  const Axis &y = m.y, &x = m.x;
  for (int ph = 0; ph < g.pooled_height; ++ph) {
    int first = y.start[ph], end = y.start[ph + 1];
    while (first < end && y.at[first] < top) ++first;
    while (first < end && y.at[end - 1] >= bottom) --end;
    if (first == end) continue;
    for (int i = 0; i < columns; ++i) lanes(kept.line, kept.column[i], group) = Lanes{};
    for (int pw = 0; pw < g.pooled_width; ++pw) {
      const Lanes gradient = lanes(given, ph * g.pooled_width + pw, group) * inverse;
      for (int f = x.start[pw]; f < x.start[pw + 1]; ++f) lanes(kept.line, x.at[f], group) += x.weight[f] * gradient;
    }
    if (MOVE)
      for (int e = 0; e < end - first; ++e) lanes(kept.dots, e, group) = Lanes{};
    const int* column = kept.column;
    for (; column + BESIDE <= kept.column + columns; column += BESIDE)
      columns_back<BESIDE, ADD, MOVE>(y, first, end, top, column, g.width, group, kept, map, values);
    for (; column < kept.column + columns; ++column)
      columns_back<1, ADD, MOVE>(y, first, end, top, column, g.width, group, kept, map, values);
    if (!MOVE) continue;
    for (int e = first; e < end; ++e) {
      const Lanes dot = lanes(kept.dots, e - first, group);
      sum[0] += m.slope_y[e] * dot;
      sum[1] += m.lever_y[e] * dot;
    }
    for (int pw = 0; pw < g.pooled_width; ++pw) {
      Lanes slope = {}, lever = {};
      for (int f = x.start[pw]; f < x.start[pw + 1]; ++f) {
        const Lanes column = lanes(kept.sums, x.at[f], group);
        slope += m.slope_x[f] * column;
        lever += m.lever_x[f] * column;
      }
      const Lanes gradient = lanes(given, ph * g.pooled_width + pw, group) * inverse;
      sum[2] += gradient * slope;
      sum[3] += gradient * lever;
    }
  }
}

// Both gradients in one walk, where many regions share a map, for the host; either of diff and parts may be null. A block
// takes one slab of an image after another, and of that BAND rows after others, so that they stay in the nearest cache; there the regions
// of that image in `order`. room: (n, (2 BAND + 3) width + APART + regions (bins + 4) + room_y, SLAB).
KERNEL separable_both_slabs(int n, const Store* top_diff, const Store* features, const int* order, const int* head,
                            const Real* inverse, const int* index, const Real* weight, Real* room, Store* diff, Real* parts,
                            ListGeometry g) {
  const int channels = g.channels, width = g.width, area = g.height * width, bins = g.pooled_height * g.pooled_width;
  const int band = BAND * width, slabs = slabs_of(channels);
  BLOCK_LOOP(b, n) {
    SHARED int columns;
    Real* map = room + (long long)b * (2 * band + APART + 3 * width + (long long)g.regions * (bins + 4) + g.room_y) * SLAB;
    Real *values = map + (long long)(band + APART) * SLAB, *line = values + (long long)band * SLAB;
    int* named = (int*)(line + 2ll * width * SLAB);
    const Kept kept = {line, line + (long long)width * SLAB, line + 3ll * width * SLAB, named, named + width};
    Real *given = kept.dots + (long long)g.room_y * SLAB, *totals = given + (long long)g.regions * bins * SLAB;
    for (int i = b; i < g.batch * slabs; i += n) {
      const int image = i / slabs, s = i - image * slabs, some = min(SLAB, channels - s * SLAB);
      const long long plane = ((long long)image * channels + s * SLAB) * area;
      for (int k = 0; k < g.regions && !STOPPED(); ++k) {
        if (head[5 * k] != image) continue;
        Real* own = given + (long long)k * bins * SLAB;
        turn(top_diff + ((long long)k * channels + s * SLAB) * bins, bins, own, SLAB, some, bins);
        TILE_LOOP(bin, c, bins, SLAB - some) own[(long long)bin * SLAB + some + c] = 0;
        TILE_LOOP(t, c, 4, SLAB) totals[(4ll * k + t) * SLAB + c] = 0;
      }
      for (int top = 0; top < g.height; top += BAND) {
        const int rows = min(BAND, g.height - top), pixels = rows * width;
        if (diff) TILE_LOOP(row, c, rows, width * SLAB) map[(long long)row * width * SLAB + c] = 0;
        if (parts) {
          turn(features + plane + top * width, area, values, SLAB, some, pixels);
          TILE_LOOP(pixel, c, pixels, SLAB - some) values[(long long)pixel * SLAB + some + c] = 0;
        }
        BARRIER();
        for (int j = 0; j < g.regions && !STOPPED(); ++j) {
          const int k = order[j];
          if (head[5 * k] != image || head[5 * k + 1] >= top + rows || head[5 * k + 1] + head[5 * k + 2] <= top) continue;
          const Moving m = moving_of(k, head, index, weight, g);
          const Real* own = given + (long long)k * bins * SLAB;
          THREAD_LOOP(one, 1) columns = name_columns(m.x, g.pooled_width, kept);
          BARRIER();
          THREAD_LOOP(group, GROUPS) {
            Lanes sum[4] = {};
            if (!parts) region_back<true, false>(m, own, inverse[k], top, top + rows, columns, group, kept, map, values, sum, g);
            else if (!diff) region_back<false, true>(m, own, inverse[k], top, top + rows, columns, group, kept, map, values, sum, g);
            else region_back<true, true>(m, own, inverse[k], top, top + rows, columns, group, kept, map, values, sum, g);
            for (int t = 0; t < 4; ++t) lanes(totals, 4 * k + t, group) += sum[t];
          }
          BARRIER();
        }
        if (diff) turn(map, SLAB, diff + plane + top * width, area, pixels, some);
        BARRIER();
      }
      if (parts)
        THREAD_LOOP(t, 4 * g.regions)
          if (max(head[t / 4 * 5], 0) == image) parts[4ll * s * g.regions + t] = head[t / 4 * 5] < 0 ? Real(0) : sum_of(totals, t);
      BARRIER();
    }
  }
}

// The bins of an axis that name a pixel: visit(entry) for each entry, bins ascending.
template <class Visit>
DEVICE void visit_entries(const Axis& list, int bins, int pixel, Visit visit) {
  for (int p = 0; p < bins; ++p) {
    const int begin = list.start[p], end = list.start[p + 1];
    if (begin == end || list.at[begin] > pixel || list.at[end - 1] < pixel) continue;  // pixels ascend
    for (int e = begin; e < end; ++e)
      if (list.at[e] == pixel) visit(p, e);
  }
}

// An entry of a list by pixel, of axis 1 times `inverse` of its region, or null for 1.
DEVICE void put_entry(Real* weight, const Real* from, int changes, Real times, const ListGeometry& g) {
  for (int i = 0; i < (changes ? 3 : 1); ++i) weight[i * changes_behind(g)] = from[i * changes_behind(g)] * times;
}

// The lists by pixel, from those by bin; on a GPU a thread for each pixel. changes: whether with slopes and levers; inverse, or null: what
// the weights of x are to be multiplied by.
KERNEL separable_by_pixel(int n, const int* head, const Real* inverse, const int* index, const Real* weight, int* pixel_index,
                      Real* pixel_weight, int changes, ListGeometry g) {
  BLOCK_LOOP(k, n) {
    SHARED int scratch[FLAG_ROOM];
    for (int axis = 0; axis < 2; ++axis) {
      const int bins = axis ? g.pooled_width : g.pooled_height;
      const Axis list = axis_by_bin(k, axis, head, index, weight, g);
      const Offsets to = offsets_of(k, axis, g.height + 1, g.width + 1, g);
      int *begin = pixel_index + to.start, *bin = pixel_index + to.at;
      Real* bin_weight = pixel_weight + to.weight;
      const Real times = inverse && axis ? inverse[k] : Real(1);
#if defined(__CUDACC__)
      const auto count = [&](int i) {
        int found = 0;
        visit_entries(list, bins, list.first + i, [&](int, int) { ++found; });
        return found;
      };
      const int all = sums_before(scratch, list.length, count, [&](int i, int before, int) { begin[i] = before; });
      THREAD_LOOP(one, 1) begin[list.length] = all;
      BARRIER();
      THREAD_LOOP(i, list.length) {
        int place = begin[i];
        visit_entries(list, bins, list.first + i, [&](int p, int e) {
          bin[place] = p;
          put_entry(bin_weight + place++, list.weight + e, changes, times, g);
        });
      }
#else
      for (int i = 0; i <= list.length; ++i) begin[i] = 0;
      for (int e = 0; e < list.start[bins]; ++e) ++begin[list.at[e] - list.first];
      for (int i = 0, sum = 0; i <= list.length; ++i) {  // where the pixel's entries end
        sum += begin[i];
        begin[i] = sum;
      }
      for (int p = bins - 1; p >= 0; --p)
        for (int e = list.start[p + 1] - 1; e >= list.start[p]; --e) {
          const int place = --begin[list.at[e] - list.first];
          bin[place] = p;
          put_entry(bin_weight + place, list.weight + e, changes, times, g);
        }
#endif
    }
    BARRIER();
  }
}
