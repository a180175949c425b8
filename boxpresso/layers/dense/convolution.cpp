// convolution.cpp: convolution of two axes on the host (one axis is two of which the first is 1), without columns in memory:
// panels for the tiles of gemm.h are packed straight from the image.
//
// As in convolution.cu an "image" is the larger side and a "map" the one with a place for each window. Blocks own what they
// write and no sum is cut by worker; the cuts that order a sum (STRIPE) depend on the shapes alone.
#include "gemm.h"

struct Geometry {
  int channels, maps, group;  // channels of the image and of the map
  int height, width, out_height, out_width;
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;

  int pixels() const { return height * width; }
  int places() const { return out_height * out_width; }
  int taps() const { return kernel_h * kernel_w; }
  int group_channels() const { return channels / group; }
  int group_maps() const { return maps / group; }
  bool plain() const {  // the columns are the image itself
    return taps() == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0;
  }
};
DEVICE const Geometry& geometry_of(const int* numbers) { return *reinterpret_cast<const Geometry*>(numbers); }

// The part of a row of places, under one tap, that lies inside the image.
struct Run {
  int at, count;  // from which column on, how many
  int pixel;      // the first one's pixel in its plane
};

// For `count` places from `first` on, and each tap, the runs inside the image: what is left out is padding.
struct Runs {
  const Geometry& g;
  Run* runs;   // [tap][row]
  int* used;   // [tap]
  int rows;

  Runs(const Geometry& g, int first, int count) : g(g) {
    rows = (first + count - 1) / g.out_width - first / g.out_width + 1;
    const size_t ints = sizeof(Run) / sizeof(int) * rows * g.taps() + g.taps();
    used = reinterpret_cast<int*>(scratch(2, ints * sizeof(int) / sizeof(Real) + 1));
    runs = reinterpret_cast<Run*>(used + g.taps());
    for (int ky = 0; ky < g.kernel_h; ++ky)
      for (int kx = 0; kx < g.kernel_w; ++kx) {
        const int tap = ky * g.kernel_w + kx, shift = kx * g.dilation_w - g.pad_w;
        // ox * stride + shift is inside [0, width) for ox in [low, high)
        const int low = shift < 0 ? (-shift + g.stride_w - 1) / g.stride_w : 0;
        const int high = g.width > shift ? (g.width - shift + g.stride_w - 1) / g.stride_w : 0;
        int oy = first / g.out_width, ox = first % g.out_width, at = 0;
        used[tap] = 0;
        while (at < count) {
          const int wide = min(count - at, g.out_width - ox), y = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
          const int from = max(low, ox), to = min(high, ox + wide);
          if (y >= 0 && y < g.height && from < to)
            runs[tap * rows + used[tap]++] = {at + from - ox, to - from, y * g.width + from * g.stride_w + shift};
          at += wide;
          ox = 0;
          ++oy;
        }
      }
  }

  // One row of columns: `out` gets the pixels of `plane` under the tap, zero in the padding, `room` elements in all.
  void row(const Real* plane, int tap, Real* out, int room) const {
    const Run* run = runs + tap * rows;
    if (used[tap] != 1 || run->count != room) std::memset(out, 0, room * sizeof(Real));
    for (int r = 0; r < used[tap]; ++r, ++run) {
      const Real* from = plane + run->pixel;
      Real* to = out + run->at;
      if (g.stride_w == 1) copy(from, to, run->count);
      else
        for (int i = 0; i < run->count; ++i) to[i] = from[i * g.stride_w];
    }
  }
};

// One group of one image: where its planes begin, and its filters.
struct Product {
  const Real *planes, *weights, *bias;
  Real* map;
  int channels;  // of the group

  Product(const Geometry& g, int index, const Real* image, const Real* weights, const Real* bias, Real* map) {
    const int part = index % g.group, number = index / g.group, filter = part * g.group_maps();
    channels = g.group_channels();
    planes = image + (long(number) * g.channels + part * channels) * g.pixels();
    this->weights = weights + long(filter) * channels * g.taps();
    this->bias = bias ? bias + filter : nullptr;
    this->map = map + (long(number) * g.maps + filter) * g.places();
  }
};

// `rows` filters from `i0` on at `columns` places from `j0` on.
DEVICE void correlate_block(const Geometry& g, const Product& p, int i0, int rows, int j0, int columns, bool relu) {
  const int places = g.places(), depth = p.channels * g.taps();
  auto panel = [&](int k0, int deep, int j, int width, Real* room) -> Panel {
    if (g.plain()) return plain_panel(p.planes + long(k0) * places + j0 + j, places, deep, width, rows, room);
    const Runs runs(g, j0 + j, width);
    int channel = k0 / g.taps(), tap = k0 % g.taps();
    for (int k = 0; k < deep; ++k) {
      runs.row(p.planes + long(channel) * g.pixels(), tap, room + k * WIDTH, WIDTH);
      if (++tap == g.taps()) {
        tap = 0;
        ++channel;
      }
    }
    return {room, WIDTH};
  };
  const Finish finish = {1, 0, p.bias ? p.bias + i0 : nullptr, relu};
  multiply(rows, columns, depth, {p.weights + long(i0) * depth, depth, 1}, panel, p.map + long(i0) * places + j0, places,
           finish);
}

// map = relu(weights * image + bias). n: images x groups x blocks of `high` filters and `wide` places.
KERNEL correlate(int n, const Real* image, const Real* weights, const Real* bias, Real* map, const int* geometry, int relu,
                 int high, int wide) {
  const Geometry& g = geometry_of(geometry);
  const int across = (g.places() + wide - 1) / wide, down = (g.group_maps() + high - 1) / high;
  BLOCK_LOOP(block, n) {
    const int j0 = block % across * wide, i0 = block / across % down * high;
    const Product product(g, block / across / down, image, weights, bias, map);
    correlate_block(g, product, i0, min(high, g.group_maps() - i0), j0, min(wide, g.places() - j0), relu);
  }
}

// Winograd's F(2x2, 3x3) (Lavin and Gray 2016): 2 x 2 places from 4 x 4 pixels with 16 products where 36 were. Its sums
// differ from the plain ones by rounding alone as long as all is finite; a block with anything else is done again plainly.

// One step of each transform, along one axis.
DEVICE void to_taps(Vector a, Vector b, Vector c, Vector* out) {  // of 3 weights
  out[0] = a, out[1] = (a + b + c) * Real(0.5), out[2] = (a - b + c) * Real(0.5), out[3] = c;
}
DEVICE void to_points(const Vector* d, Vector* out) {  // of 4 pixels
  out[0] = d[0] - d[2], out[1] = d[1] + d[2], out[2] = d[2] - d[1], out[3] = d[1] - d[3];
}
DEVICE void to_places(const Vector* m, Vector* out) {  // of 4 products
  out[0] = m[0] + m[1] + m[2], out[1] = m[1] - m[2] - m[3];
}

// Even and odd elements apart, and together again.
DEVICE void split(const Real* __restrict__ from, Real* __restrict__ even, Real* __restrict__ odd, int n) {
  for (int i = 0; i < n; ++i) even[i] = from[2 * i], odd[i] = from[2 * i + 1];
}
DEVICE void join(const Real* __restrict__ even, const Real* __restrict__ odd, Real* __restrict__ to, int n) {
  for (int i = 0; i < n; ++i) to[2 * i] = even[i], to[2 * i + 1] = odd[i];
}

// points[16][filter][channel]; n: filters; channels: of a group.
KERNEL winograd_weights(int n, const Real* weights, Real* points, int channels) {
  BLOCK_LOOP(filter, n)
    for (int c = 0; c < channels; c += LANES) {
      const int count = min(LANES, channels - c);
      const Real* from = weights + (long(filter) * channels + c) * 9;
      Real taps[9][LANES] = {};
      for (int lane = 0; lane < count; ++lane)
        for (int tap = 0; tap < 9; ++tap) taps[tap][lane] = from[lane * 9 + tap];
      Vector rows[3][4], column[4];
      for (int y = 0; y < 3; ++y) to_taps(load(taps[3 * y]), load(taps[3 * y + 1]), load(taps[3 * y + 2]), rows[y]);
      for (int x = 0; x < 4; ++x) {
        to_taps(rows[0][x], rows[1][x], rows[2][x], column);
        for (int y = 0; y < 4; ++y) {
          Real* to = points + (long(y * 4 + x) * n + filter) * channels + c;
          if (count == LANES) store(to, column[y]);
          else copy(reinterpret_cast<const Real*>(&column[y]), to, count);
        }
      }
    }
}

// The tiles of `rows` rows of tiles from row `y0` on: tile (y, x) at [y * across + x], `pitch` elements for each plane.
struct Tiles {
  const Geometry& g;
  int y0, rows, across, pitch;

  Tiles(const Geometry& g, int y0, int rows) : g(g), y0(y0), rows(rows), across((g.out_width + 1) / 2) {
    pitch = rows * across + LANES;  // the last vector of a row of tiles runs into the next row, which is written after it
  }

  // The plane's pixels to points: element [point * step + tile].
  void take(const Real* plane, Real* points, long step) const {
    const int half = across + 1 + LANES;
    Real* lines = scratch(5, size_t(8) * half);  // 4 rows of pixels, even and odd columns apart
    for (int y = 0; y < rows; ++y) {
      for (int r = 0; r < 4; ++r) {
        Real *even = lines + 2 * r * half, *odd = even + half;
        const int line = (y0 + y) * 2 + r - g.pad_h;
        if (line < 0 || line >= g.height) {
          std::memset(even, 0, 2 * half * sizeof(Real));
          continue;
        }
        const Real* from = plane + long(line) * g.width - g.pad_w;
        const int first = (g.pad_w + 1) / 2, last = min(across + 1, (g.width + g.pad_w) / 2);  // pairs inside the image
        auto edge = [&](int x) { return x >= g.pad_w && x < g.width + g.pad_w ? from[x] : Real(0); };
        for (int i = 0; i < min(first, across + 1); ++i) even[i] = edge(2 * i), odd[i] = edge(2 * i + 1);
        split(from + 2 * first, even + first, odd + first, last - first);
        for (int i = max(first, last); i < half; ++i) even[i] = edge(2 * i), odd[i] = edge(2 * i + 1);
      }
      for (int x = 0; x < across; x += LANES) {
        Vector d[4][4], column[4], out[4];
        for (int r = 0; r < 4; ++r) {
          const Real *even = lines + 2 * r * half + x, *odd = even + half;
          const Vector pixels[4] = {load(even), load(odd), load(even + 1), load(odd + 1)};
          to_points(pixels, d[r]);
        }
        for (int i = 0; i < 4; ++i) {
          for (int r = 0; r < 4; ++r) column[r] = d[r][i];
          to_points(column, out);
          for (int r = 0; r < 4; ++r) store(points + (r * 4 + i) * step + y * across + x, out[r]);
        }
      }
    }
  }

  // Products back to places of a plane of the map. Returns whether all of them were finite.
  bool give(const Real* products, long step, Real* plane, Real bias, bool relu) const {
    Vector probe = {};
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < across; x += LANES) {
        const int tiles = min(LANES, across - x);
        Vector m[2][4], column[4];
        for (int i = 0; i < 4; ++i) {
          Vector sums[2];
          for (int r = 0; r < 4; ++r) column[r] = load(products + (r * 4 + i) * step + y * across + x);
          to_places(column, sums);
          m[0][i] = sums[0], m[1][i] = sums[1];
        }
        for (int r = 0; r < 2; ++r) {
          const int line = (y0 + y) * 2 + r;
          if (line >= g.out_height) break;
          Vector out[2];
          to_places(m[r], out);
          const Vector both = out[0] + out[1];
          for (int lane = 0; lane < LANES; ++lane) probe[lane] += lane < tiles ? 0 * both[lane] : Real(0);
          Real pairs[2 * LANES];
          for (Vector& value : out) {
            value += bias;
            if (relu) value = value < 0 ? Vector{} : value;
          }
          join(reinterpret_cast<Real*>(&out[0]), reinterpret_cast<Real*>(&out[1]), pairs, LANES);
          copy(pairs, plane + long(line) * g.out_width + 2 * x, min(2 * tiles, g.out_width - 2 * x));
        }
      }
    Real total = 0;
    for (int lane = 0; lane < LANES; ++lane) total += probe[lane];
    return total == 0;
  }
};

// As correlate, for 3 x 3 windows with stride and dilation 1. points: what winograd_weights made.
// n: images x groups x blocks of `rows` rows of tiles.
KERNEL winograd(int n, const Real* image, const Real* weights, const Real* points, const Real* bias, Real* map,
                const int* geometry, int relu, int rows) {
  const Geometry& g = geometry_of(geometry);
  const int tile_rows = (g.out_height + 1) / 2, down = (tile_rows + rows - 1) / rows, filters = g.group_maps();
  BLOCK_LOOP(block, n) {
    const int y0 = block % down * rows, index = block / down;
    const Product product(g, index, image, weights, bias, map);
    const Tiles tiles(g, y0, min(rows, tile_rows - y0));
    const long from = long(product.channels) * tiles.pitch, to = long(filters) * tiles.pitch;
    Real *pixels = scratch(3, 16 * from), *products = scratch(4, 16 * to);
    for (int c = 0; c < product.channels; ++c)
      tiles.take(product.planes + long(c) * g.pixels(), pixels + long(c) * tiles.pitch, from);
    for (int point = 0; point < 16; ++point) {
      const Real* left = points + (long(point) * g.maps + index % g.group * filters) * product.channels;
      auto panel = [&](int k0, int deep, int j, int width, Real* room) {
        return plain_panel(pixels + point * from + long(k0) * tiles.pitch + j, tiles.pitch, deep, width, filters, room);
      };
      multiply(filters, tiles.rows * tiles.across, product.channels, {left, product.channels, 1}, panel,
               products + point * to, tiles.pitch, {});
    }
    bool finite = true;
    for (int f = 0; f < filters; ++f)
      finite &= tiles.give(products + long(f) * tiles.pitch, to, product.map + long(f) * g.places(),
                           product.bias ? product.bias[f] : Real(0), relu);
    const int first = 2 * y0 * g.out_width, last = min(2 * (y0 + tiles.rows), g.out_height) * g.out_width;
    if (!finite) correlate_block(g, product, 0, filters, first, last - first, relu);
  }
}

// How many rows of the map are taken at once where columns are made: some 1000 places, whatever the number of workers.
DEVICE int stripe(const Geometry& g) { return min(g.out_height, max(1, 1024 / g.out_width)); }

// Adds `rows` rows of places from row `y0` on, one column row a tap, to the pixels of a plane that they came from.
DEVICE void add_columns(const Geometry& g, const Real* columns, int y0, int rows, Real* plane) {
  for (int ky = 0; ky < g.kernel_h; ++ky)
    for (int kx = 0; kx < g.kernel_w; ++kx) {
      const int shift = kx * g.dilation_w - g.pad_w;
      const int low = shift < 0 ? (-shift + g.stride_w - 1) / g.stride_w : 0;
      const int high = g.width > shift ? min(g.out_width, (g.width - shift + g.stride_w - 1) / g.stride_w) : 0;
      for (int oy = y0; oy < y0 + rows; ++oy, columns += g.out_width) {
        const int y = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
        if (y < 0 || y >= g.height) continue;
        Real* to = plane + long(y) * g.width + shift;
        if (g.stride_w == 1)
          for (int x = low; x < high; ++x) to[x] += columns[x];
        else
          for (int x = low; x < high; ++x) to[x * g.stride_w] += columns[x];
      }
    }
}

// The adjoint of correlate: image = weights^T * map + bias of the image's channel; Convolution's data gradient and
// Deconvolution's forward. n: images x groups x blocks of `each` channels.
KERNEL spread(int n, const Real* map, const Real* weights, const Real* bias, Real* image, const int* geometry, int each) {
  const Geometry& g = geometry_of(geometry);
  const int filters = g.group_maps(), depth = g.group_channels() * g.taps(), places = g.places();
  const int parts = (g.group_channels() + each - 1) / each, step = stripe(g);
  BLOCK_LOOP(block, n) {
    const int c0 = block % parts * each, product = block / parts, part = product % g.group, number = product / g.group;
    const int channels = min(each, g.group_channels() - c0), channel = part * g.group_channels() + c0;
    const int rows = channels * g.taps();
    const Real* from = map + (long(number) * g.maps + part * filters) * places;
    const Left left = {weights + long(part) * filters * depth + c0 * g.taps(), 1, depth};
    Real* to = image + (long(number) * g.channels + channel) * g.pixels();
    int first = 0;  // the stripe's first place
    auto panel = [&](int k0, int deep, int j, int width, Real* room) {
      return plain_panel(from + long(k0) * places + first + j, places, deep, width, rows, room);
    };
    if (g.plain()) {
      multiply(rows, places, filters, left, panel, to, places, {1, 0, bias ? bias + channel : nullptr, false});
      continue;
    }
    for (int c = 0; c < channels; ++c)
      std::fill(to + long(c) * g.pixels(), to + long(c + 1) * g.pixels(), bias ? bias[channel + c] : Real(0));
    for (int y = 0; y < g.out_height; y += step) {
      const int high = min(step, g.out_height - y), count = high * g.out_width;
      Real* columns = scratch(3, size_t(rows) * count);
      first = y * g.out_width;
      multiply(rows, count, filters, left, panel, columns, count, {});
      for (int c = 0; c < channels; ++c)
        add_columns(g, columns + long(c) * g.taps() * count, y, high, to + long(c) * g.pixels());
    }
  }
}

// The map with its places before its filters, in panels of WIDTH filters: element (place, filter) of a group at
// [filter / WIDTH][place][filter % WIDTH]. n: images x groups x cuts of CUT filters. room: elements for an image's group.
KERNEL pack_map(int n, const Real* map, Real* packed, const int* geometry, int room) {
  const Geometry& g = geometry_of(geometry);
  const int places = g.places(), filters = g.group_maps(), cuts = (filters + CUT - 1) / CUT;
  constexpr int SQUARE = 16;  // places at once, so that a line of the cache is used up before the next
  BLOCK_LOOP(block, n) {
    const int product = block / cuts, first = block % cuts * CUT;
    const Real* from = map + long(product) * filters * places;
    Real* to = packed + long(product) * room;
    for (int panel = first; panel < first + CUT; panel += WIDTH)
      for (int p = 0; p < places; p += SQUARE)
        for (int f = panel; f < panel + WIDTH; ++f) {
          Real* at = to + long(panel) * places + f - panel;
          for (int q = p; q < min(p + SQUARE, places); ++q)
            at[long(q) * WIDTH] = f < filters ? from[long(f) * places + q] : Real(0);
        }
  }
}

// weights_diff += map * image^T, summed over images and places in order. packed: what pack_map made.
// n: groups x blocks of `each` channels, whose weights a block owns.
KERNEL weights_gradient(int n, const Real* image, const Real* packed, Real* weights_diff, const int* geometry, int images,
                        int each, int room) {
  const Geometry& g = geometry_of(geometry);
  const int filters = g.group_maps(), depth = g.group_channels() * g.taps(), places = g.places();
  const int parts = (g.group_channels() + each - 1) / each, step = stripe(g);
  BLOCK_LOOP(block, n) {
    const int part = block / parts, c0 = block % parts * each, channels = min(each, g.group_channels() - c0);
    const int rows = channels * g.taps();
    Real* sums = scratch(4, size_t(rows) * filters);  // [tap][filter]
    std::memset(sums, 0, size_t(rows) * filters * sizeof(Real));
    for (int number = 0; number < images; ++number) {
      const Real* planes = image + (long(number) * g.channels + part * g.group_channels() + c0) * g.pixels();
      const Real* right = packed + (long(number) * g.group + part) * room;
      for (int y = 0; y < g.out_height; y += step) {
        const int first = y * g.out_width, count = min(step, g.out_height - y) * g.out_width;
        Left left = {planes + first, places, 1};
        if (!g.plain()) {
          Real* columns = scratch(3, size_t(rows) * count);
          const Runs runs(g, first, count);
          for (int row = 0; row < rows; ++row)
            runs.row(planes + long(row / g.taps()) * g.pixels(), row % g.taps(), columns + long(row) * count, count);
          left = {columns, count, 1};
        }
        auto panel = [&](int k0, int, int j, int, Real*) {
          return Panel{right + long(j) * places + long(first + k0) * WIDTH, WIDTH};
        };
        multiply(rows, filters, count, left, panel, sums, filters, {1, 1, nullptr, false});
      }
    }
    Real* to = weights_diff + long(part) * filters * depth + c0 * g.taps();
    for (int f = 0; f < filters; ++f)
      for (int row = 0; row < rows; ++row) to[long(f) * depth + row] += sums[long(row) * filters + f];
  }
}

// A padded plane cut by the phase of its rows and columns in the stride, so that neighbouring places read neighbouring
// elements under every tap: place (y, x) finds tap t at [offset(t) + y * pitch + x].
struct Phases {
  const Geometry& g;
  int rows, pitch;
  Real* at;

  explicit Phases(const Geometry& g) : g(g) {
    rows = g.out_height + (g.kernel_h - 1) * g.dilation_h / g.stride_h + 1;
    pitch = g.out_width + (g.kernel_w - 1) * g.dilation_w / g.stride_w + 1;
    at = scratch(3, size());
    clear();
  }
  size_t size() const { return size_t(rows) * pitch * g.stride_h * g.stride_w + LANES; }
  long offset(int tap) const {
    const int y = tap / g.kernel_w * g.dilation_h, x = tap % g.kernel_w * g.dilation_w;
    return line(y) + long(x % g.stride_w) * rows * pitch + x / g.stride_w;
  }
  long line(int y) const {  // of the padded plane's row y, phase 0
    return (long(y % g.stride_h) * g.stride_w * rows + y / g.stride_h) * pitch;
  }
  void clear() { std::memset(at, 0, size() * sizeof(Real)); }

  // Calls use(row of the plane, its pixels, where the first of them lies in `at`, how far apart) for each row and phase.
  template <class Use>
  void each_row(Use use) const {
    for (int y = 0; y < g.height; ++y) {
      const int padded = y + g.pad_h;
      if (padded / g.stride_h >= rows) break;
      for (int phase = 0; phase < g.stride_w; ++phase) {
        const int first = ((phase - g.pad_w) % g.stride_w + g.stride_w) % g.stride_w;  // the first pixel of this phase
        const int start = (first + g.pad_w) / g.stride_w;
        const int count = min((g.width - first + g.stride_w - 1) / g.stride_w, pitch - start);
        if (count > 0) use(long(y) * g.width + first, count, line(padded) + long(phase) * rows * pitch + start);
      }
    }
  }
  void take(const Real* plane) {  // the padding stays as it was cleared
    each_row([&](long pixel, int count, long to) {
      if (g.stride_w == 1) copy(plane + pixel, at + to, count);
      else
        for (int i = 0; i < count; ++i) at[to + i] = plane[pixel + i * g.stride_w];
    });
  }
  void give(Real* plane, Real bias) const {
    std::fill(plane, plane + g.pixels(), bias);
    each_row([&](long pixel, int count, long from) {
      for (int i = 0; i < count; ++i) plane[pixel + i * g.stride_w] += at[from + i];
    });
  }
};

// LANES places at once under all taps. T: the number of taps where it is known, so that the loop unrolls.
template <int T>
DEVICE Vector under_taps(const Real* at, const long* offset, const Real* weights, int taps, Real bias) {
  Vector sum = all(bias);
  for (int t = 0; t < (T ? T : taps); ++t) sum += weights[t] * load(at + offset[t]);
  return sum;
}

template <int T>
DEVICE void depthwise_plane(const Phases& phases, const Real* weights, const long* offset, Real bias, bool relu, Real* map) {
  const Geometry& g = phases.g;
  const int taps = g.taps();
  for (int y = 0; y < g.out_height; ++y, map += g.out_width)
    for (int x = 0; x < g.out_width; x += LANES) {
      const int left = g.out_width - x;
      if (left < LANES && x > 0) x -= LANES - left;  // the last vector of a row begins earlier
      Vector sum = under_taps<T>(phases.at + long(y) * phases.pitch + x, offset, weights, taps, bias);
      if (relu) sum = sum < 0 ? Vector{} : sum;
      if (left < LANES && x == 0) std::memcpy(map, &sum, left * sizeof(Real));
      else store(map + x, sum);
    }
}

DEVICE const long* offsets(const Phases& phases) {
  long* offset = reinterpret_cast<long*>(scratch(5, phases.g.taps() * sizeof(long) / sizeof(Real)));
  for (int t = 0; t < phases.g.taps(); ++t) offset[t] = phases.offset(t);
  return offset;
}

// One filter for each plane of the map. n: planes of the image, all images; each: filters for a channel.
KERNEL depthwise_correlate(int n, const Real* image, const Real* weights, const Real* bias, Real* map, const int* geometry,
                           int relu) {
  const Geometry& g = geometry_of(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  Phases phases(g);
  const long* offset = offsets(phases);
  BLOCK_LOOP(plane, n) {
    phases.take(image + long(plane) * g.pixels());
    for (int p = plane * each; p < (plane + 1) * each; ++p) {
      const int filter = p % g.maps;
      const Real *w = weights + filter * taps, b = bias ? bias[filter] : Real(0);
      if (taps == 9) depthwise_plane<9>(phases, w, offset, b, relu, map + long(p) * g.places());
      else depthwise_plane<0>(phases, w, offset, b, relu, map + long(p) * g.places());
    }
  }
}

KERNEL depthwise_spread(int n, const Real* map, const Real* weights, const Real* bias, Real* image, const int* geometry) {
  const Geometry& g = geometry_of(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  Phases phases(g);
  const long* offset = offsets(phases);
  BLOCK_LOOP(plane, n) {
    phases.clear();
    for (int p = plane * each; p < (plane + 1) * each; ++p) {
      const Real *w = weights + p % g.maps * taps, *from = map + long(p) * g.places();
      for (int y = 0; y < g.out_height; ++y, from += g.out_width)
        for (int t = 0; t < taps; ++t) {
          Real* to = phases.at + offset[t] + long(y) * phases.pitch;
          for (int x = 0; x < g.out_width; ++x) to[x] += w[t] * from[x];
        }
    }
    phases.give(image + long(plane) * g.pixels(), bias ? bias[plane % g.channels] : Real(0));
  }
}

// n: channels. A block owns its channel's filters and goes through the images in order.
KERNEL depthwise_weights(int n, const Real* image, const Real* map, Real* weights_diff, const int* geometry, int images) {
  const Geometry& g = geometry_of(geometry);
  const int each = g.maps / g.channels, taps = g.taps(), whole = g.out_width / LANES * LANES;
  Phases phases(g);
  const long* offset = offsets(phases);
  Vector* sums = reinterpret_cast<Vector*>(scratch(4, size_t(each) * taps * LANES));
  BLOCK_LOOP(channel, n) {
    std::memset(sums, 0, size_t(each) * taps * sizeof(Vector));
    for (int number = 0; number < images; ++number) {
      phases.take(image + (long(number) * n + channel) * g.pixels());
      for (int e = 0; e < each; ++e) {
        const Real* from = map + ((long(number) * n + channel) * each + e) * g.places();
        for (int y = 0; y < g.out_height; ++y, from += g.out_width)
          for (int t = 0; t < taps; ++t) {
            const Real* at = phases.at + offset[t] + long(y) * phases.pitch;
            Vector sum = sums[e * taps + t];
            for (int x = 0; x < whole; x += LANES) sum += load(at + x) * load(from + x);
            for (int x = whole; x < g.out_width; ++x) sum[x - whole] += at[x] * from[x];
            sums[e * taps + t] = sum;
          }
      }
    }
    for (int i = 0; i < each * taps; ++i)
      for (int lane = 0; lane < LANES; ++lane) weights_diff[long(channel) * each * taps + i] += sums[i][lane];
  }
}
