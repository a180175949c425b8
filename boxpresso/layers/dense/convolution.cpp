// convolution.cpp: convolution of two axes on the host (one axis is two of which the first is 1), without columns in memory:
// panels for the tiles of gemm.h are packed straight from the image.
//
// Blocks own what they write and no sum is cut by worker; the cuts that order a sum (`stripe`) depend on the shapes alone.
// window.h has the geometry, winograd.h the transforms for 3 x 3 windows, depthwise.h the planes with a filter each.
#include "depthwise.h"
#include "window.h"
#include "winograd.h"

// `rows` filters from `i0` on at `columns` places from `j0` on.
DEVICE void correlate_block(const Window& g, const Product& p, int i0, int rows, int j0, int columns, bool relu) {
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
KERNEL correlate(int n, const Real* image, const Real* weights, const Real* bias, Real* map, Geometry geometry, int relu,
                 int high, int wide) {
  const Window g(geometry);
  const int across = (g.places() + wide - 1) / wide, down = (g.group_maps() + high - 1) / high;
  BLOCK_LOOP(block, n) {
    const int j0 = block % across * wide, i0 = block / across % down * high;
    const Product product(g, block / across / down, image, weights, bias, map);
    correlate_block(g, product, i0, min(high, g.group_maps() - i0), j0, min(wide, g.places() - j0), relu);
  }
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

// The weights of the adjoint: turned[channel][filter] has the taps of [filter][channel] in reverse. n: channels of the image.
KERNEL turn_weights(int n, const Real* weights, Real* turned, Geometry geometry) {
  const Window g(geometry);
  const int channels = g.group_channels(), filters = g.group_maps(), taps = g.taps();
  BLOCK_LOOP(channel, n)
    for (int f = 0; f < filters; ++f) {
      const Real* from = weights + ((long(channel) / channels * filters + f) * channels + channel % channels) * taps;
      Real* to = turned + (long(channel) * filters + f) * taps;
      for (int t = 0; t < taps; ++t) to[t] = from[taps - 1 - t];
    }
}

// As correlate, for 3 x 3 windows with stride and dilation 1. points: from winograd_weights. Where anything is
// not finite, a block is done again plainly.
// n: images x groups x blocks of `rows` rows of tiles.
KERNEL winograd(int n, const Real* image, const Real* weights, const Real* points, const Real* bias, Real* map,
                Geometry geometry, int relu, int rows) {
  const Window g(geometry);
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

// The adjoint of correlate: image = weights^T * map + bias of the image's channel; Convolution's data gradient and
// Deconvolution's forward. n: images x groups x blocks of `each` channels.
KERNEL spread(int n, const Real* map, const Real* weights, const Real* bias, Real* image, Geometry geometry, int each) {
  const Window g(geometry);
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
KERNEL pack_map(int n, const Real* map, Real* packed, Geometry geometry, int room) {
  const Window g(geometry);
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

// weights_diff += map * image^T, summed over images and places in order. packed: from pack_map.
// n: groups x blocks of `each` channels, whose weights a block owns.
KERNEL weights_gradient(int n, const Real* image, const Real* packed, Real* weights_diff, Geometry geometry, int images,
                        int each, int room) {
  const Window g(geometry);
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

// One filter for each plane of the map. n: planes of the image, all images; each: filters for a channel.
KERNEL depthwise_correlate(int n, const Real* image, const Real* weights, const Real* bias, Real* map, Geometry geometry,
                           int relu) {
  const Window g(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  const Phases phases(g);
  BLOCK_LOOP(plane, n) {
    phases.take(image + long(plane) * g.pixels());
    for (int p = plane * each; p < (plane + 1) * each; ++p) {
      const int filter = p % g.maps;
      Real* to = map + long(p) * g.places();
      for (int y = 0; y < g.out_height; ++y, to += g.out_width)
        row_under(phases.at + long(y) * phases.pitch, phases.offset, weights + filter * taps, taps,
                  bias ? bias[filter] : Real(0), relu, to, g.out_width);
    }
  }
}

KERNEL depthwise_spread(int n, const Real* map, const Real* weights, const Real* bias, Real* image, Geometry geometry) {
  const Window g(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  const Gather gather(g, each);
  BLOCK_LOOP(plane, n) {
    const int channel = plane % g.channels;
    const Real *from = map + long(plane) * each * g.places(), *filters = weights + long(channel) * each * taps;
    const Real plus = bias ? bias[channel] : Real(0);
    Real *to = image + long(plane) * g.pixels(), wild = 0;
    for (int t = 0; t < each * taps; ++t) wild += 0 * filters[t];
    if (wild == 0) {
      gather.take(from);
      gather.give(filters, plus, to);
    } else {
      gather.give_singly(from, filters, plus, to);
    }
  }
}

// n: channels. A block owns its channel's filters and goes through the images in order.
KERNEL depthwise_weights(int n, const Real* image, const Real* map, Real* weights_diff, Geometry geometry, int images) {
  const Window g(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  const Phases phases(g);
  Vector* sums = reinterpret_cast<Vector*>(scratch(4, size_t(each) * taps * LANES));
  BLOCK_LOOP(channel, n) {
    std::memset(sums, 0, size_t(each) * taps * sizeof(Vector));
    for (int number = 0; number < images; ++number) {
      phases.take(image + (long(number) * n + channel) * g.pixels());
      for (int e = 0; e < each; ++e) {
        const Real* from = map + ((long(number) * n + channel) * each + e) * g.places();
        if (taps == 9) sum_under_taps<9>(phases, from, taps, sums + e * taps);
        else sum_under_taps<0>(phases, from, taps, sums + e * taps);
      }
    }
    for (int i = 0; i < each * taps; ++i)
      for (int lane = 0; lane < LANES; ++lane) weights_diff[long(channel) * each * taps + i] += sums[i][lane];
  }
}
