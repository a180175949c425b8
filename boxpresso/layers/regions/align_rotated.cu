// align_rotated.cu: averages of bilinear samples in the bins of rotated regions, and their gradients. Features in slabs.
#include "orientations.h"
#include "rotated.h"
#include "tiles.h"
#include "wide.h"

constexpr int SAMPLES = 256;  // whose pixels and weights a block keeps
constexpr int BINS = 64;      // that they belong to, at most

// Samples one after another, by bin, row and column: where they lie and what their pixels weigh. One outside the map has the
// pixel `area`, which the features' slabs have as zeros, with weights of 0.
struct Samples {
  int at[4][SAMPLES];
  Real weight[4][SAMPLES];
};

template <class Chunk>
DEVICE void put_places(Chunk& chunk, int i, const Sample& s) {
  chunk.at[0][i] = s.inside ? s.at : s.nowhere;
  chunk.at[1][i] = s.inside ? s.at + s.beside : s.nowhere;
  chunk.at[2][i] = s.inside ? s.at + s.below : s.nowhere;
  chunk.at[3][i] = s.inside ? s.at + s.below + s.beside : s.nowhere;
}

DEVICE void put(Samples& chunk, int i, const Sample& s) {
  const Real one = s.inside ? Real(1) : Real(0);
  put_places(chunk, i, s);
  chunk.weight[0][i] = one * (1 - s.down) * (1 - s.across);
  chunk.weight[1][i] = one * (1 - s.down) * s.across;
  chunk.weight[2][i] = one * s.down * (1 - s.across);
  chunk.weight[3][i] = one * s.down * s.across;
}

// What is in them: `bins` bins from (ph, pw) on, `count` samples of each, from number `first` of a bin on.
struct Some {
  int ph, pw, bins, first, count;
};

// The walker: put() is called for each of `some` samples and stores what the kernel needs of it. Quotients are of Reals, which are
// exact here.
template <class Chunk>
DEVICE void find(const Turned t, const Some some, int pooled_width, int height, int width, Chunk& chunk) {
  const Real count = some.count, columns = t.grid.columns, bins = pooled_width, half = Real(0.5);
  THREAD_LOOP(i, some.bins * some.count) {
    const int b = int((i + half) / count), sample = some.first + i - b * some.count, row = int((sample + half) / columns);
    const int down_bins = int((some.pw + b + half) / bins), ph = some.ph + down_bins;
    const int pw = some.pw + b - down_bins * pooled_width, column = sample - row * t.grid.columns;
    put(chunk, i, sample_of(t, ph, pw, row, column, height, width));
  }
}

// Whether samples `first` to first + count - 1 of bin (ph, pw) may lie in rows top to bottom and columns left to right: the upright
// box around their rows and columns does, widened by what rounding may move them.
DEVICE bool may_touch(const Turned& t, int ph, int pw, int first, int count, int from_y, int to_y, int from_x, int to_x) {
  const Grid& g = t.grid;
  const int top = first / g.columns, bottom = (first + count - 1) / g.columns;
  const int left = top == bottom ? first - top * g.columns : 0;
  const int right = top == bottom ? first + count - 1 - top * g.columns : g.columns - 1;
  const Real half = Real(0.5);
  const Real y0 = g.y + ph * g.bin_height + (top + half) * g.bin_height / g.rows;
  const Real y1 = g.y + ph * g.bin_height + (bottom + half) * g.bin_height / g.rows;
  const Real x0 = g.x + pw * g.bin_width + (left + half) * g.bin_width / g.columns;
  const Real x1 = g.x + pw * g.bin_width + (right + half) * g.bin_width / g.columns;
  const Real yy = (y0 + y1) / 2, xx = (x0 + x1) / 2, tall = abs(y1 - y0) / 2, wide = abs(x1 - x0) / 2;
  const Real y = yy * t.cosine - xx * t.sine + t.y, x = yy * t.sine + xx * t.cosine + t.x;
  const Real sine = abs(t.sine), cosine = abs(t.cosine);
  const Real margin = 2 + Real(1e-5) * (abs(t.y) + abs(t.x) + abs(g.y) + abs(g.x) + abs(yy) + abs(xx) + tall + wide);
  const Real reach_y = tall * cosine + wide * sine + margin, reach_x = tall * sine + wide * cosine + margin;
  return !(y + reach_y < from_y || y - reach_y > to_y || x + reach_x < from_x || x - reach_x > to_x);  // NaN: it may
}

// visit(bin, some) for the samples of a region, as many at a time as SAMPLES and `most` bins; bin: the number of their first.
// Of bins with more samples those are passed over that lie outside the map, but for the first and the last of each bin: the
// work is bounded by what the map holds.
template <class Visit>
DEVICE void visit_some(const Turned& t, int pooled_height, int pooled_width, int height, int width, int most, Visit visit) {
  const Grid& g = t.grid;
  const int bins = pooled_height * pooled_width, samples = g.rows * g.columns;
  const int together = samples == 0 ? most : max(min(SAMPLES / samples, most), 1);
  for (int bin = 0; bin < bins; bin += together) {
    const int ph = bin / pooled_width, pw = bin % pooled_width, last = samples - 1 - (samples - 1) % SAMPLES;
    const bool all = samples <= SAMPLES, any = all || may_touch(t, ph, pw, 0, samples, 0, height, 0, width);
    for (int first = 0; first == 0 || (first < samples && !STOPPED()); first += SAMPLES) {
      if (!any && first > 0) first = last;
      const int count = min(SAMPLES, samples - first);
      if (!all && first > 0 && first < last && !may_touch(t, ph, pw, first, count, 0, height, 0, width)) continue;
      visit(bin, Some{ph, pw, min(together, bins - bin), first, count});
    }
  }
}

// Features in slabs (B * slabs_of(C), area + 1, SLAB); the last pixel is 0.
DEVICE void fill(int slab, const Store* maps, Real* to, int channels, int area) {
  fill_slab(slab, maps, to, channels, area, 0, area);
  THREAD_LOOP(c, SLAB) to[(long long)area * SLAB + c] = 0;
}

// The averages of `some` bins of a slab to their planes; with orientations, which SLAB is a multiple of, as the region's angle mixes
// them. A region that lies in no image has averages of 0.
DEVICE void put_averages(const Wide* averages, Store* planes, int channels, int bins, int some, const Real* region, int image,
                         int orientations) {
  if (orientations == 0) {
    empty_stage(averages, planes, channels, bins, some);
    return;
  }
  const Turn turn = image < 0 ? Turn{0, Real(0)} : turn_of(region[5], orientations);
  TILE_LOOP(c, i, min(channels, SLAB), some) {
    const int o = c % orientations;
    const Mixed mixed = mixed_of(turn, o, orientations, false);
    const Real* from = (const Real*)averages + i * STAGE_ROW + c - o;
    planes[(long long)c * bins + i] = mix(turn, from[mixed.lower], from[mixed.upper]);
  }
}

constexpr int MOST_TOGETHER = 4;  // slabs for which a block of a GPU finds samples once; half as many in double, for its memory
constexpr int TOGETHER = MOST_TOGETHER * 4 / sizeof(Real);
#if defined(__CUDACC__)
constexpr int ABREAST = 1;  // of these slabs, whose pixels a thread reads by the same places and weights
#else
constexpr int ABREAST = TOGETHER;
#endif

// The averages of `some` bins of `count` slabs, which lie `each` apart, to averages; a thread takes so many slabs together.
template <int together>
DEVICE void average(const Samples& chunk, const Some& some, int samples, const Real* slab, long long each, int count, Wide* averages) {
  AREA_LOOP(c, shares, some.bins, count / together * SHARES) {
    const int first = shares / SHARES * together, share = shares % SHARES;
    const Real* maps = slab + first * each;
    Wide sum[together] = {};
    for (int v = c * some.count; v < (c + 1) * some.count; ++v) {
      Wide value[together] = {};
      for (int corner = 0; corner < 4; ++corner)
        for (int s = 0; s < together; ++s) value[s] += chunk.weight[corner][v] * wide(maps + s * each, chunk.at[corner][v], share);
      for (int s = 0; s < together; ++s) sum[s] += value[s];
    }
    for (int s = 0; s < together; ++s) {
      Wide& to = staged(averages + (first + s) * stage_of(BINS), c, share);
      to = some.first == 0 ? sum[s] : to + sum[s];
      if (some.first + some.count >= samples) to = to / max(Real(samples), Real(1));
    }
  }
}

// The regions of `together` slabs are shared by `parts` blocks, in `order`; top: (K, C, pooled_height, pooled_width). All slabs are
// there, and features null; or there is room for `together` of each block, which fills its own with some slabs after others, so that they
// stay in the caches: then a slab has 1 part. orientations: see put_averages().
KERNEL align_rotated_forward(int n, const Store* features, Real* room, const int* order, const Real* rows, Store* top,
                             int parts, int together, int orientations, int clockwise, GridGeometry g) {
  const int regions = g.regions, batch = g.batch, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Samples chunk;
    SHARED Wide averages[TOGETHER * stage_of(BINS)];
    const int area = height * width, bins = pooled_height * pooled_width, slabs = slabs_of(channels);
    const int groups = (slabs + together - 1) / together;
    const long long each = (long long)(area + 1) * SLAB;
    for (int i = b / parts; i < batch * groups; i += n / parts) {
      const int image = i / groups, begin = (i - image * groups) * together, count = min(together, slabs - begin);
      Real* slab = room + (features ? b / parts * together : image * slabs + begin) * each;
      for (int s = 0; features && s < count; ++s) fill(image * slabs + begin + s, features, slab + s * each, channels, area);
      BARRIER();
      for (int j = b % parts; j < regions && !STOPPED(); j += parts) {
        const int k = order[j], of = image_of(rows + 6 * (long long)k, 6, batch);
        if (max(of, 0) != image) continue;
        Turned t = turned(rows + 6 * (long long)k, g, clockwise);
        if (of < 0) t.grid.rows = t.grid.columns = 0;
        const int samples = t.grid.rows * t.grid.columns;
        visit_some(t, pooled_height, pooled_width, height, width, BINS, [&](int bin, const Some& some) {
          find(t, some, pooled_width, height, width, chunk);
          BARRIER();
          if (ABREAST > 1 && count == TOGETHER) average<ABREAST>(chunk, some, samples, slab, each, count, averages);
          else average<1>(chunk, some, samples, slab, each, count, averages);
          BARRIER();
          for (int s = 0; s < count && some.first + some.count >= samples; ++s) {
            const int channel = (begin + s) * SLAB;
            put_averages(averages + s * stage_of(BINS), top + ((long long)k * channels + channel) * bins + bin, channels - channel,
                         bins, some.bins, rows + 6 * (long long)k, of, orientations);
          }
        });
        BARRIER();
      }
    }
  }
}

// Adds the gradient of bin number c of those taken, from given, over `samples` of them, to the pixels of `some` in a group of so many
// slabs, which lie `each` apart: of one alone, a sample would wait for what the one before it added to the same pixels.
template <int together>
DEVICE void add_back(const Samples& chunk, int c, int some, Real samples, const Lanes* given, int group, Real* map, long long each, int area) {
  Lanes gradient[together];
  for (int t = 0; t < together; ++t) gradient[t] = given[(t * BINS + c) * GROUPS + group] / samples;
  for (int s = c * some; s < (c + 1) * some; ++s)
    for (int corner = 0; corner < 4; ++corner) {
      const int at = chunk.at[corner][s];
      for (int t = 0; at < area && t < together; ++t) lanes(map + t * each, at, group) += chunk.weight[corner][s] * gradient[t];
    }
}

// A block takes `together` slabs of an image after others, ABREAST or one, into its room (n, together, area + APART, SLAB), and there that image's regions in order, of
// each together the bins that share no pixel: each number has one owner and one order.
KERNEL align_rotated_backward(int n, const Store* top_diff, Real* room, const int* order, const Real* rows, Store* diff,
                              int together, int clockwise, GridGeometry g) {
  const int regions = g.regions, batch = g.batch, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Samples chunk;
    SHARED Lanes given[TOGETHER * BINS * GROUPS];
    const int area = height * width, bins = pooled_height * pooled_width, slabs = slabs_of(channels);
    const int groups = (slabs + together - 1) / together;
    const long long each = (long long)(area + APART) * SLAB;
    Real* map = room + b * together * each;
    for (int i = b; i < batch * groups; i += n) {
      const int image = i / groups, begin = (i - image * groups) * together, count = min(together, slabs - begin);
      for (int s = 0; s < count; ++s) {
        TILE_LOOP(row, c, height, width * SLAB) map[s * each + (long long)row * width * SLAB + c] = 0;
        if (channels - (begin + s) * SLAB >= SLAB) continue;
        THREAD_LOOP(v, BINS * GROUPS) given[s * BINS * GROUPS + v] = Lanes{};  // missing channels
      }
      BARRIER();
      for (int j = 0; j < regions && !STOPPED(); ++j) {
        const int k = order[j];
        if (image_of(rows + 6 * (long long)k, 6, batch) != image) continue;
        const Turned t = turned(rows + 6 * (long long)k, g, clockwise);
        const Grid& grid = t.grid;
        const Real reach = abs(grid.y * t.cosine) + abs(grid.x * t.sine) + 2;  // of samples above and below the centre
        if (grid.rows * grid.columns == 0 || t.y + reach < 0 || t.y - reach > height) continue;
        const int step_y = apart(abs(t.y) + abs(t.x), grid.bin_height, grid.rows, pooled_height, 6);
        const int step_x = apart(abs(t.y) + abs(t.x), grid.bin_width, grid.columns, pooled_width, 6);
        const Store* from = top_diff + ((long long)k * channels + begin * SLAB) * bins;
        const Real samples = Real(grid.rows) * Real(grid.columns);
        visit_some(t, pooled_height, pooled_width, height, width, BINS, [&](int bin, const Some& some) {
          for (int s = 0; s < count; ++s)
            turn(from + (long long)s * SLAB * bins + bin, bins, (Real*)(given + s * BINS * GROUPS), SLAB,
                 min(SLAB, channels - (begin + s) * SLAB), some.bins);
          find(t, some, pooled_width, height, width, chunk);
          BARRIER();
          for (int set = 0; set < step_y * step_x; ++set) {
            const int first_y = set / step_x, first_x = set - first_y * step_x;
            TILE_LOOP(v, u, (pooled_height - first_y + step_y - 1) / step_y,
                      (pooled_width - first_x + step_x - 1) / step_x * GROUPS) {
              const int c = (first_y + v * step_y) * pooled_width + first_x + u / GROUPS * step_x - bin, group = u % GROUPS;
              if (unsigned(c) >= unsigned(some.bins)) continue;
              if (count == ABREAST) {
                add_back<ABREAST>(chunk, c, some.count, samples, given, group, map, each, area);
              } else {
                for (int s = 0; s < count; ++s)
                  add_back<1>(chunk, c, some.count, samples, given + s * BINS * GROUPS, group, map + s * each, each, area);
              }
            }
            BARRIER();
          }
        });
      }
      BARRIER();
      for (int s = 0; s < count; ++s) empty_slab(image * slabs + begin + s, map + s * each, diff, channels, area);
      BARRIER();
    }
  }
}

// Where each region may have pixels, for the lists of tiles.h.
KERNEL align_rotated_boxes(int n, const Real* rows, int* boxes, int clockwise, GridGeometry g) {
  GRID_LOOP(k, n) {
    const Turned t = turned(rows + 6 * (long long)k, g, clockwise);
    const bool any = t.grid.rows * t.grid.columns > 0;
    const Real half_height = abs(t.grid.y), half_width = abs(t.grid.x), sine = abs(t.sine), cosine = abs(t.cosine);
    const Real reach[2] = {half_height * cosine + half_width * sine, half_height * sine + half_width * cosine};
    boxes[5 * k] = image_of(rows + 6 * (long long)k, 6, g.batch);
    for (int axis = 0; axis < 2; ++axis) {
      const Real centre = axis ? t.x : t.y, limit = axis ? g.width : g.height;
      const Real margin = 2 + Real(1e-5) * (abs(centre) + reach[axis]);
      const int first = int(min(max(floor(centre - reach[axis] - margin), Real(0)), limit));
      const int end = int(min(max(ceil(centre + reach[axis] + margin) + 1, Real(0)), limit));
      boxes[5 * k + 1 + 2 * axis] = first;
      boxes[5 * k + 2 + 2 * axis] = any ? max(end - first, 0) : 0;
    }
  }
}

constexpr int PRODUCTS = 256;  // stored before they are summed

// How samples change as they move: their places, how far they lie beyond the first pixel, whether the value there changes with
// y and with x (1 or 0), and where they lie before they are turned.
struct Moves {
  int at[4][SAMPLES];
  Real down[SAMPLES], across[SAMPLES], moves_y[SAMPLES], moves_x[SAMPLES], yy[SAMPLES], xx[SAMPLES];
};

DEVICE void put(Moves& chunk, int i, const Sample& s) {
  put_places(chunk, i, s);
  chunk.down[i] = s.down;
  chunk.across[i] = s.across;
  chunk.moves_y[i] = s.inside & (s.y > 0) & (s.below > 0) ? Real(1) : Real(0);
  chunk.moves_x[i] = s.inside & (s.x > 0) & (s.beside > 0) ? Real(1) : Real(0);
  chunk.yy[i] = s.inside ? s.yy : Real(0);
  chunk.xx[i] = s.inside ? s.xx : Real(0);
}

// The sums that make up the regions' gradient, a block for a region in a slab; parts: (slabs, K, 5): with respect to the
// centre's x and y, the width, the height and the angle, on the map.
KERNEL align_rotated_moves(int n, const Real* slabs, const Store* top_diff, const Real* rows, Real* parts, int clockwise,
                           GridGeometry g) {
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, bins = pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Moves chunk;
    SHARED Real product[5][PRODUCTS], total[5];
    const int slab_number = b / regions, k = b - slab_number * regions;
    const int image = image_of(rows + 6 * (long long)k, 6, g.batch);
    Turned t = turned(rows + 6 * (long long)k, g, clockwise);
    if (image < 0) t.grid.rows = t.grid.columns = 0;
    const long long first_slab = (long long)max(image, 0) * slabs_of(channels) + slab_number;
    const Real* slab = slabs + first_slab * (height * width + 1) * SLAB;
    const Store* given = top_diff + (long long)k * channels * bins;
    THREAD_LOOP(i, 5) total[i] = 0;
    visit_some(t, pooled_height, pooled_width, height, width, PRODUCTS / SLAB, [&](int bin, const Some& some) {
      find(t, some, pooled_width, height, width, chunk);
      BARRIER();
      TILE_LOOP(c, group, some.bins, GROUPS) {
        Lanes sum[5] = {};
        for (int s = c * some.count; s < (c + 1) * some.count; ++s) {
          const Lanes &v0 = lanes(slab, chunk.at[0][s], group), &v1 = lanes(slab, chunk.at[1][s], group);
          const Lanes &v2 = lanes(slab, chunk.at[2][s], group), &v3 = lanes(slab, chunk.at[3][s], group);
          const Real down = chunk.down[s], across = chunk.across[s], yy = chunk.yy[s], xx = chunk.xx[s];
          const Lanes gx = chunk.moves_x[s] * ((1 - down) * (v1 - v0) + down * (v3 - v2));
          const Lanes gy = chunk.moves_y[s] * ((1 - across) * (v2 - v0) + across * (v3 - v1));
          sum[0] += gx;
          sum[1] += gy;
          sum[2] += xx * (gx * t.cosine - gy * t.sine);  // xx and yy grow with the width and the height
          sum[3] += yy * (gy * t.cosine + gx * t.sine);
          sum[4] += gx * (yy * t.cosine - xx * t.sine) - gy * (yy * t.sine + xx * t.cosine);
        }
        const Lanes gradient = gather(given, slab_number * SLAB, channels, bins, bin + c, group);
        for (int i = 0; i < 5; ++i)
          for (int j = 0; j < LANES; ++j) product[i][(c * GROUPS + group) * LANES + j] = lane(sum[i], j) * lane(gradient, j);
      }
      BARRIER();
      THREAD_LOOP(i, 5)
        for (int j = 0; j < some.bins * SLAB; ++j) total[i] += product[i][j];
      BARRIER();
    });
    const Real samples = max(Real(t.grid.rows) * Real(t.grid.columns), Real(1));
    THREAD_LOOP(i, 5) parts[5 * (long long)b + i] = total[i] / samples;
  }
}

// The gradient of (batch index, cx, cy, w, h, theta) from those sums; the number of samples is taken as fixed, and so is a size
// that is held at 1.
KERNEL align_rotated_corners(int n, const Real* parts, const Real* rows, Store* diff, int count, int clockwise,
                             GridGeometry g) {
  GRID_LOOP(k, n) {
    Real sum[5] = {};
    for (int part = 0; part < count; ++part)
      for (int i = 0; i < 5; ++i) sum[i] += parts[5 * ((long long)part * n + k) + i];
    const Real* region = rows + 6 * (long long)k;
    Store* out = diff + 6 * (long long)k;
    out[0] = Real(0);
    out[1] = g.scale * sum[0];
    out[2] = g.scale * sum[1];
    for (int axis = 0; axis < 2; ++axis) {
      const Real size = region[3 + axis];
      out[3 + axis] = abs(size) > 0 && (g.aligned || size * g.scale > 1) ? sum[2 + axis] / size : Real(0);
    }
    out[5] = clockwise ? -sum[4] : sum[4];
  }
}
