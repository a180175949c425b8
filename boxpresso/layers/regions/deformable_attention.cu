// deformable_attention.cu: multi-scale deformable attention: each query takes bilinear samples of maps of several sizes where
// it says, weights them and sums them up; and the gradients of that.
//
// value: (N, S, M, D), the pixels of all levels one after another, M heads of D channels. where: (N, Q, M, L, P, 2), x and y in
// parts of a level's width and height. how_much: (N, Q, M, L, P). A sample lies at x W - 1/2, y H - 1/2; pixels outside the
// map are 0, and a sample that has none inside, or lies nowhere (NaN, infinity), counts for nothing.
#include "columns.h"

// The L P samples of a head of a query are `samples`; `together` of the heads of a query are done at once.
struct AttentionGeometry {
  int pixels, heads, depth, queries, levels, points, samples, together;
};

constexpr int SAMPLES = 256;  // whose pixels and weights a block keeps

// For each sample: its pixels (-1: outside the map), how far it lies beyond the first, and how much it counts. `at` counts
// pixels of the image.
struct Samples {
  int at[4][SAMPLES];
  Real down[SAMPLES], across[SAMPLES], weight[SAMPLES];
};

// Without branches, so that the host makes vectors of it.
DEVICE void put(Samples& chunk, int i, Real x, Real y, Real weight, int height, int width, int start) {
  const Real on_x = x * width - Real(0.5), on_y = y * height - Real(0.5);
  const bool inside = (on_y > -1) & (on_x > -1) & (on_y < height) & (on_x < width);
  const Real safe_x = inside ? on_x : Real(0), safe_y = inside ? on_y : Real(0);
  const Real floor_x = floor(safe_x), floor_y = floor(safe_y);
  const int left = int(floor_x), top = int(floor_y), first = start + top * width + left;
  const bool above = inside & (top >= 0), below = inside & (top + 1 < height);
  const bool before = left >= 0, behind = left + 1 < width;
  chunk.at[0][i] = above & before ? first : -1;
  chunk.at[1][i] = above & behind ? first + 1 : -1;
  chunk.at[2][i] = below & before ? first + width : -1;
  chunk.at[3][i] = below & behind ? first + width + 1 : -1;
  chunk.down[i] = safe_y - floor_y;
  chunk.across[i] = safe_x - floor_x;
  chunk.weight[i] = inside ? weight : Real(0);
}

// Samples first to first + count - 1 of a query's heads; levels: height, width and first pixel, of each sample of all heads.
DEVICE void find(Samples& chunk, const Real* where, const Real* how_much, const int* levels, int all, int first, int count) {
  THREAD_LOOP(i, count)
    put(chunk, i, where[2 * (first + i)], where[2 * (first + i) + 1], how_much[first + i], levels[first + i],
        levels[all + first + i], levels[2 * all + first + i]);
}

// What a corner of a sample weighs.
DEVICE Real share(const Samples& chunk, int i, int corner) {
  const Real down = corner < 2 ? 1 - chunk.down[i] : chunk.down[i];
  return down * (corner % 2 ? chunk.across[i] : 1 - chunk.across[i]);
}

// The pixel, or zeros where there is none.
DEVICE const Store* pixel(const Store* from, const Store* zeros, int at, long long stride) {
  return at < 0 ? zeros : from + at * stride;
}

#if defined(__CUDACC__)
constexpr int VECTORS = 1;
#else
constexpr int VECTORS = 4;  // of channels that are done together
#endif
template <int V>
struct Times {
  static constexpr int value = V;
};

// visit(Times<V>, channel, size) for the channels from begin to end, V vectors of them at a time, each of `size` channels.
template <class Visit>
DEVICE void visit_channels(int begin, int end, Visit visit) {
  while (begin < end) {
    const int left = end - begin;
    if (VECTORS == 4 && left >= 4 * COLUMNS) {
      visit(Times<VECTORS>(), begin, COLUMNS);
      begin += 4 * COLUMNS;
    } else if (VECTORS == 4 && left >= 2 * COLUMNS) {
      visit(Times<VECTORS / 2 + VECTORS % 2>(), begin, COLUMNS);
      begin += 2 * COLUMNS;
    } else {
      visit(Times<1>(), begin, min(left, COLUMNS));
      begin += COLUMNS;
    }
  }
}

// The channels that a thread takes together: all of a head on the host, one on a GPU.
DEVICE int taken(int depth) { return VECTORS == 1 ? 1 : depth; }

template <class To>
DEVICE void put_vector(To* to, const Columns& value, int size) {
  if (sizeof(To) == sizeof(Real) && size >= COLUMNS) {
    *(Columns*)to = value;
    return;
  }
  for (int c = 0; c < size; ++c) to[c] = item(value, c);
}

// A block for each query. top: (N, Q, M D); zeros: D of them; sums: as the top, where a head has more than SAMPLES samples.
KERNEL deformable_attention_forward(int n, const Store* value, const int* levels, const Real* where, const Real* how_much,
                                    const Store* zeros, Real* sums, Store* top, AttentionGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Samples chunk;
    const long long stride = (long long)g.heads * g.depth;
    const Store* image = value + (b / g.queries) * g.pixels * stride;
    const long long query = (long long)b * g.heads * g.samples;
    for (int head = 0; head < g.heads; head += g.together) {
      const int heads = min(g.together, g.heads - head), wide = taken(g.depth);
      for (int first = 0; first < g.samples; first += SAMPLES) {
        const int count = min(SAMPLES, g.samples - first), last = first + count == g.samples;
        find(chunk, where + 2 * query, how_much + query, levels, g.heads * g.samples, head * g.samples + first, heads * count);
        BARRIER();
        TILE_LOOP(h, part, heads, g.depth / wide) {
          const Store* from = image + (head + h) * g.depth;
          const long long to = b * stride + (head + h) * g.depth;
          visit_channels(part * wide, part * wide + wide, [&](auto times, int channel, int size) {
            constexpr int V = decltype(times)::value;
            Columns sum[V];
            for (int v = 0; v < V; ++v) sum[v] = first ? load(sums + to + channel + v * COLUMNS, size) : Columns{};
            for (int i = h * count; i < (h + 1) * count; ++i)
              for (int corner = 0; corner < 4; ++corner) {
                const Store* at = pixel(from, zeros, chunk.at[corner][i], stride) + channel;
                const Real weight = chunk.weight[i] * share(chunk, i, corner);
                for (int v = 0; v < V; ++v) sum[v] += weight * load(at + v * COLUMNS, size);
              }
            for (int v = 0; v < V; ++v) {
              if (last) put_vector(top + to + channel + v * COLUMNS, sum[v], size);
              else put_vector(sums + to + channel + v * COLUMNS, sum[v], size);
            }
          });
        }
        BARRIER();
      }
    }
  }
}

// Sums over channels: channel c adds to number c % FOLDED of FOLD vectors, on a CPU whatever its vectors are.
constexpr int FOLD = COLUMNS == 1 || COLUMNS > 16 ? 1 : 16 / COLUMNS, FOLDED = FOLD * COLUMNS;

// The sum of these numbers, in one order.
DEVICE Real sum_of(const Columns* value) {
  Real part[FOLDED];
  for (int i = 0; i < FOLDED; ++i) part[i] = item(value[i / COLUMNS], i % COLUMNS);
  for (int half = FOLDED / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  return part[0];
}

// The gradients of the places and of the weights, a block for each query, a thread for each sample. Either may be null.
KERNEL deformable_attention_moves(int n, const Store* value, const int* levels, const Real* where, const Real* how_much,
                                  const Store* zeros, const Store* top_diff, Real* where_diff, Real* how_much_diff,
                                  AttentionGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Samples chunk;
    const long long stride = (long long)g.heads * g.depth, query = (long long)b * g.heads * g.samples;
    const Store* image = value + (b / g.queries) * g.pixels * stride;
    const int all = g.heads * g.samples;
    for (int first = 0; first < all; first += SAMPLES) {
      const int count = min(SAMPLES, all - first);
      find(chunk, where + 2 * query, how_much + query, levels, all, first, count);
      BARRIER();
      THREAD_LOOP(i, count) {
        const int head = (first + i) / g.samples;
        const Store *given = top_diff + b * stride + head * g.depth, *from = image + head * g.depth;
        const Store* at[4];
        for (int corner = 0; corner < 4; ++corner) at[corner] = pixel(from, zeros, chunk.at[corner][i], stride);
        const Real down = chunk.down[i], across = chunk.across[i];
        Columns blend[FOLD] = {}, by_x[FOLD] = {}, by_y[FOLD] = {};
        for (int c = 0; c < g.depth; c += COLUMNS) {
          const int size = min(COLUMNS, g.depth - c), fold = FOLD == 1 ? 0 : c / COLUMNS % FOLD;
          const Columns gradient = load(given + c, size), v0 = load(at[0] + c, size), v1 = load(at[1] + c, size);
          const Columns v2 = load(at[2] + c, size), v3 = load(at[3] + c, size);
          blend[fold] += gradient * ((1 - down) * ((1 - across) * v0 + across * v1) + down * ((1 - across) * v2 + across * v3));
          by_x[fold] += gradient * ((1 - down) * (v1 - v0) + down * (v3 - v2));
          by_y[fold] += gradient * ((1 - across) * (v2 - v0) + across * (v3 - v1));
        }
        const bool inside = max(max(chunk.at[0][i], chunk.at[1][i]), max(chunk.at[2][i], chunk.at[3][i])) >= 0;
        const long long to = query + first + i;
        if (how_much_diff) how_much_diff[to] = inside ? sum_of(blend) : Real(0);
        if (where_diff) {
          const Real weight = chunk.weight[i];
          where_diff[2 * to] = inside ? weight * levels[all + first + i] * sum_of(by_x) : Real(0);
          where_diff[2 * to + 1] = inside ? weight * levels[first + i] * sum_of(by_y) : Real(0);
        }
      }
      BARRIER();
    }
  }
}

// The gradient of the values, a block for each band of rows of a level of a head of an image: it alone adds there, and takes
// the samples in order. rows: (L, 3), height, width and first pixel; diff, (N, S, M, D), is 0 before.
KERNEL deformable_attention_spread(int n, const int* rows, const Real* where, const Real* how_much, const Store* top_diff,
                                   Real* diff, int bands, AttentionGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Samples chunk;
    const int band = b % bands, level = b / bands % g.levels, head = b / bands / g.levels % g.heads;
    const int image = b / bands / g.levels / g.heads;
    const int height = rows[3 * level], width = rows[3 * level + 1], start = rows[3 * level + 2];
    const int tall = (height + bands - 1) / bands, wide = taken(g.depth);
    const int begin = start + min(band * tall, height) * width, end = start + min((band + 1) * tall, height) * width;
    const long long stride = (long long)g.heads * g.depth;
    Real* map = diff + image * g.pixels * stride + head * g.depth;
    const int all = begin < end ? g.queries * g.points : 0;
    for (int first = 0; first < all; first += SAMPLES) {
      const int count = min(SAMPLES, all - first);
      THREAD_LOOP(i, count) {
        const int query = (first + i) / g.points, point = first + i - query * g.points;
        const long long from = (((long long)image * g.queries + query) * g.heads + head) * g.samples + level * g.points + point;
        put(chunk, i, where[2 * from], where[2 * from + 1], how_much[from], height, width, start);
      }
      BARRIER();
      THREAD_LOOP(part, g.depth / wide) {
        visit_channels(part * wide, part * wide + wide, [&](auto times, int channel, int size) {
          constexpr int V = decltype(times)::value;
          for (int i = 0; i < count; ++i) {
            const long long query = (long long)image * g.queries + (first + i) / g.points;
            const Store* given = top_diff + query * stride + head * g.depth + channel;
            for (int corner = 0; corner < 4; ++corner) {
              const int at = chunk.at[corner][i];
              if (at < begin || at >= end) continue;
              const Real weight = chunk.weight[i] * share(chunk, i, corner);
              Real* to = map + at * stride + channel;
              for (int v = 0; v < V; ++v)
                put_vector(to + v * COLUMNS, load(to + v * COLUMNS, size) + weight * load(given + v * COLUMNS, size), size);
            }
          }
        });
      }
      BARRIER();
    }
  }
}
