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
    if (g.plain()) return plain_panel(p.planes + (long long)k0 * places + j0 + j, places, deep, width, rows, room);
    int channel = k0 / g.taps(), tap = k0 % g.taps();
    const Runs runs(g, j0 + j, width, tap, min(deep, g.taps()));
    for (int k = 0; k < deep; ++k) {
      runs.row(p.planes + (long long)channel * g.pixels(), tap, room + k * WIDTH, WIDTH);
      if (++tap == g.taps()) {
        tap = 0;
        ++channel;
      }
    }
    return {room, WIDTH};
  };
  const Finish finish = {1, 0, p.bias ? p.bias + i0 : nullptr, relu};
  multiply(rows, columns, depth, {p.weights + (long long)i0 * depth, depth, 1}, panel, p.map + (long long)i0 * places + j0, places,
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
      const Real* from = weights + ((long long)filter * channels + c) * 9;
      Real taps[9][LANES] = {};
      for (int lane = 0; lane < count; ++lane)
        for (int tap = 0; tap < 9; ++tap) taps[tap][lane] = from[lane * 9 + tap];
      Vector rows[3][4], column[4];
      for (int y = 0; y < 3; ++y) to_taps(load(taps[3 * y]), load(taps[3 * y + 1]), load(taps[3 * y + 2]), rows[y]);
      for (int x = 0; x < 4; ++x) {
        to_taps(rows[0][x], rows[1][x], rows[2][x], column);
        for (int y = 0; y < 4; ++y) {
          Real* to = points + ((long long)(y * 4 + x) * n + filter) * channels + c;
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
      const Real* from = weights + (((long long)channel / channels * filters + f) * channels + channel % channels) * taps;
      Real* to = turned + ((long long)channel * filters + f) * taps;
      for (int t = 0; t < taps; ++t) to[t] = from[taps - 1 - t];
    }
}

// The same for windows of one tap. n: groups x blocks of CUT channels.
KERNEL turn_points(int n, const Real* weights, Real* turned, Geometry geometry) {
  const Window g(geometry);
  const int channels = g.group_channels(), filters = g.group_maps(), parts = (channels + CUT - 1) / CUT;
  BLOCK_LOOP(block, n) {
    const long long part = block / parts;
    const int first = block % parts * CUT, last = min(channels, first + CUT);
    for (int f = 0; f < filters; f += LANES)
      for (int c = first; c < last; c += LANES) {
        const int high = min(LANES, filters - f), wide = min(LANES, last - c);
        Vector square[LANES];
        take_square(weights + (part * filters + f) * channels + c, channels, high, wide, square);
        for (int i = 0; i < wide; ++i) store_part(turned + (part * channels + c + i) * filters + f, square[i], high);
      }
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
    const long long from = (long long)(product.channels) * tiles.pitch, to = (long long)filters * tiles.pitch;
    Real *pixels = scratch(3, Count(from) * 16), *products = scratch(4, Count(to) * 16);
    for (int c = 0; c < product.channels; ++c)
      tiles.take(product.planes + (long long)c * g.pixels(), pixels + (long long)c * tiles.pitch, from);
    for (int point = 0; point < 16; ++point) {
      const Real* left = points + ((long long)point * g.maps + index % g.group * filters) * product.channels;
      auto panel = [&](int k0, int deep, int j, int width, Real* room) {
        return plain_panel(pixels + point * from + (long long)k0 * tiles.pitch + j, tiles.pitch, deep, width, filters, room);
      };
      multiply(filters, tiles.rows * tiles.across, product.channels, {left, product.channels, 1}, panel,
               products + point * to, tiles.pitch, {});
    }
    bool finite = true;
    for (int f = 0; f < filters; ++f)
      finite &= tiles.give(products + (long long)f * tiles.pitch, to, product.map + (long long)f * g.places(),
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
    const Real* from = map + ((long long)number * g.maps + part * filters) * places;
    const Left left = {weights + (long long)part * filters * depth + c0 * g.taps(), 1, depth};
    Real* to = image + ((long long)number * g.channels + channel) * g.pixels();
    int first = 0;  // the stripe's first place
    auto panel = [&](int k0, int deep, int j, int width, Real* room) {
      return plain_panel(from + (long long)k0 * places + first + j, places, deep, width, rows, room);
    };
    if (g.plain()) {
      multiply(rows, places, filters, left, panel, to, places, {1, 0, bias ? bias + channel : nullptr, false});
      continue;
    }
    for (int c = 0; c < channels; ++c)
      std::fill(to + (long long)c * g.pixels(), to + (long long)(c + 1) * g.pixels(), bias ? bias[channel + c] : Real(0));
    for (first = 0; first < places; first += step) {
      const int count = min(step, places - first);
      for (int r0 = 0; r0 < rows; r0 += TAPS) {
        const int high = min(TAPS, rows - r0);
        Real* columns = scratch(3, Count(high) * count);
        multiply(high, count, filters, {left.at + r0, 1, depth}, panel, columns, count, {});
        const Runs runs(g, first, count, r0 % g.taps(), min(high, g.taps()));
        for (int r = 0; r < high; ++r)
          runs.add(columns + (long long)r * count, (r0 + r) % g.taps(), to + (long long)((r0 + r) / g.taps()) * g.pixels());
      }
    }
  }
}

// The map with its places before its filters, in panels of WIDTH filters: element (place, filter) of a group at
// [filter / WIDTH][place][filter % WIDTH]. `count` places of the group that begins at `from`, and filters from `first` up to
// `last`, a multiple of WIDTH; what is past the group's filters is zero.
DEVICE void pack_places(const Window& g, const Real* from, int count, int first, int last, Real* to) {
  const int places = g.places(), filters = g.group_maps();
  for (int f = first; f < last; f += LANES) {
    Real* panel = to + (long long)(f / WIDTH * WIDTH) * count + f % WIDTH;
    for (int p = 0; p < count; p += LANES) {
      const int wide = min(LANES, count - p);
      Vector square[LANES];
      take_square(from + (long long)f * places + p, places, max(0, filters - f), wide, square);
      for (int q = 0; q < wide; ++q) store(panel + (long long)(p + q) * WIDTH, square[q]);
    }
  }
}

// A whole map. n: images x groups x cuts of CUT filters. room: elements for an image's group.
KERNEL pack_map(int n, const Real* map, Real* packed, Geometry geometry, int room) {
  const Window g(geometry);
  const int cuts = (g.group_maps() + CUT - 1) / CUT;
  BLOCK_LOOP(block, n) {
    const int product = block / cuts, first = block % cuts * CUT;
    pack_places(g, map + (long long)product * g.group_maps() * g.places(), g.places(), first, first + CUT,
                packed + (long long)product * room);
  }
}

// sums[tap of `channels`][filter] += image * map^T over `count` places from `first` on. planes: of the first channel.
// packed: the map, its places `pitch` to a panel, place `first` first.
DEVICE void add_products(const Window& g, const Real* planes, int channels, const Real* packed, int pitch, int first, int count,
                         Real* sums) {
  const int taps = channels * g.taps(), filters = g.group_maps();
  auto panel = [&](int k0, int, int j, int, Real*) { return Panel{packed + (long long)j * pitch + (long long)k0 * WIDTH, WIDTH}; };
  if (g.plain()) {
    multiply(taps, filters, count, {planes + first, g.places(), 1}, panel, sums, filters, {1, 1, nullptr, false});
    return;
  }
  for (int r0 = 0; r0 < taps; r0 += TAPS) {
    const int high = min(TAPS, taps - r0);
    Real* columns = scratch(3, Count(high) * count);
    const Runs runs(g, first, count, r0 % g.taps(), min(high, g.taps()));
    for (int r = 0; r < high; ++r)
      runs.row(planes + (long long)((r0 + r) / g.taps()) * g.pixels(), (r0 + r) % g.taps(), columns + (long long)r * count, count);
    multiply(high, filters, count, {columns, count, 1}, panel, sums + (long long)r0 * filters, filters, {1, 1, nullptr, false});
  }
}

// to[filter * depth + row] += the sum over `cuts` of sums[cut][row][filter], for filters from `first` up to `last`.
DEVICE void add_turned(const Real* sums, int rows, int filters, int cuts, Real* to, int depth, int first, int last) {
  for (int f = first; f < last; f += LANES)
    for (int r = 0; r < rows; r += LANES) {
      const int wide = min(LANES, last - f), high = min(LANES, rows - r);
      Vector square[LANES] = {};
      for (int cut = 0; cut < cuts; ++cut)
        for (int i = 0; i < high; ++i) {
          const Real* from = sums + ((long long)cut * rows + r + i) * filters + f;
          square[i] += wide == LANES ? load(from) : load_part(from, wide);
        }
      transpose(square);
      for (int i = 0; i < wide; ++i) {
        Real* at = to + (long long)(f + i) * depth + r;
        if (high == LANES) store(at, load(at) + square[i]);
        else store_part(at, load_part(at, high) + square[i], high);
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
    Real* sums = scratch(4, Count(rows) * filters);  // [tap][filter]
    std::memset(sums, 0, size_t(rows) * filters * sizeof(Real));
    for (int number = 0; number < images; ++number) {
      const Real* planes = image + ((long long)number * g.channels + part * g.group_channels() + c0) * g.pixels();
      const Real* right = packed + ((long long)number * g.group + part) * room;
      for (int first = 0; first < places; first += step)
        add_products(g, planes, channels, right + (long long)first * WIDTH, places, first, min(step, places - first), sums);
    }
    add_turned(sums, rows, filters, 1, weights_diff + (long long)part * filters * depth + c0 * g.taps(), depth, 0, filters);
  }
}

// The same for few weights and many places: a block goes through a cut of the places of all images, `together` at once, and
// packs its map as it goes. partial[group][cut][tap][filter]; n: groups x cuts; each: channels at once.
KERNEL weights_by_places(int n, const Real* image, const Real* map, Real* partial, Geometry geometry, int images, int cuts,
                         int together, int each) {
  const Window g(geometry);
  const int filters = g.group_maps(), channels = g.group_channels(), depth = channels * g.taps();
  const int down = (g.places() - 1) / together + 1, wide = (filters + WIDTH - 1) / WIDTH * WIDTH;
  BLOCK_LOOP(block, n) {
    const int part = block / cuts, cut = block % cuts;
    Real* sums = partial + (long long)block * depth * filters;
    std::memset(sums, 0, size_t(depth) * filters * sizeof(Real));
    for (int step = int((long long)images * down * cut / cuts); step < int((long long)images * down * (cut + 1) / cuts); ++step) {
      const int number = step / down, first = step % down * together, count = min(together, g.places() - first);
      Real* packed = scratch(4, Count(count) * wide);
      const Real* from = map + ((long long)number * g.maps + part * filters) * g.places() + first;
      pack_places(g, from, count, 0, wide, packed);
      const Real* planes = image + ((long long)number * g.channels + part * channels) * g.pixels();
      for (int c = 0; c < channels; c += each)
        add_products(g, planes + (long long)c * g.pixels(), min(each, channels - c), packed, count, first, count,
                     sums + (long long)c * g.taps() * filters);
    }
  }
}

// The cuts joined. n: groups x blocks of CUT filters.
KERNEL join_weights(int n, const Real* partial, Real* weights_diff, int filters, int depth, int cuts) {
  const int blocks = (filters + CUT - 1) / CUT;
  BLOCK_LOOP(block, n) {
    const int part = block / blocks, first = block % blocks * CUT;
    add_turned(partial + (long long)part * cuts * depth * filters, depth, filters, cuts, weights_diff + (long long)part * filters * depth,
               depth, first, min(filters, first + CUT));
  }
}

// Weight gradients of 3 x 3 windows by Winograd's transforms: the same 16 products for a tile of 2 x 2 places, summed over tiles.
// Of `images` images the tiles of `rows` rows from row `y0` on, `tiles` in all.
struct Part {
  int images, y0, rows, tiles;
};

// points[16][channel][tile] of the image; a channel has room for `pitch` tiles. n: channels.
KERNEL take_points(int n, const Real* image, Real* points, Geometry geometry, Part p, int pitch) {
  const Window g(geometry);
  const Tiles tiles(g, p.y0, p.rows);
  BLOCK_LOOP(channel, n)
    for (int i = 0; i < p.images; ++i)  // in order: a row's last vector runs into what is written next
      tiles.take(image + ((long long)i * n + channel) * g.pixels(), points + (long long)channel * pitch + (long long)i * p.rows * tiles.across,
                 (long long)n * pitch);
}

// panels[16][filter / WIDTH][tile][filter % WIDTH] of the map. n: blocks of CUT filters.
KERNEL spread_points(int n, const Real* map, Real* panels, Geometry geometry, Part p) {
  const Window g(geometry);
  const Tiles tiles(g, p.y0, p.rows);
  const long long room = (long long)n * CUT * p.tiles;
  BLOCK_LOOP(block, n)
    for (int f = block * CUT; f < (block + 1) * CUT; f += LANES)
      for (int i = 0; i < p.images; ++i) {
        Real* to = panels + (long long)(f / WIDTH * WIDTH) * p.tiles + f % WIDTH + (long long)i * p.rows * tiles.across * WIDTH;
        tiles.spread(map + ((long long)i * g.maps + f) * g.places(), g.maps - f, to, room);
      }
}

// sums[16][channel][filter] += points * panels^T. n: 16 x blocks of `each` channels.
KERNEL add_points(int n, const Real* points, const Real* panels, Real* sums, Geometry geometry, Part p, int pitch, int each) {
  const int channels = geometry.channels, filters = geometry.maps, parts = (channels + each - 1) / each;
  const long long room = (long long)((filters + CUT - 1) / CUT) * CUT * p.tiles;
  BLOCK_LOOP(block, n) {
    const int point = block / parts, c = block % parts * each;
    const Left left = {points + ((long long)point * channels + c) * pitch, pitch, 1};
    auto panel = [&](int k0, int, int j, int, Real*) {
      return Panel{panels + point * room + (long long)j * p.tiles + (long long)k0 * WIDTH, WIDTH};
    };
    multiply(min(each, channels - c), filters, p.tiles, left, panel, sums + ((long long)point * channels + c) * filters, filters,
             {1, 1, nullptr, false});
  }
}

// gradient[tap][channel][filter] of sums; wild[channel]: whether any is not finite. n: channels.
KERNEL taps_of_points(int n, const Real* sums, Real* gradient, int* wild, int filters) {
  BLOCK_LOOP(channel, n) {
    Vector probe = {};
    for (int f = 0; f < filters; f += LANES) {
      const int count = min(LANES, filters - f);
      Vector m[4][4], rows[4][3], column[4], out[3];
      for (int i = 0; i < 16; ++i) {
        const Real* from = sums + ((long long)i * n + channel) * filters + f;
        m[i / 4][i % 4] = count == LANES ? load(from) : load_part(from, count);
      }
      for (int r = 0; r < 4; ++r) from_points(m[r], rows[r]);
      for (int x = 0; x < 3; ++x) {
        for (int r = 0; r < 4; ++r) column[r] = rows[r][x];
        from_points(column, out);
        for (int y = 0; y < 3; ++y) {
          probe += 0 * out[y];
          store_part(gradient + ((long long)(3 * y + x) * n + channel) * filters + f, out[y], count);
        }
      }
    }
    Real total = 0;
    for (int lane = 0; lane < LANES; ++lane) total += probe[lane];
    wild[channel] = !(total == 0);
  }
}

// weights_diff[filter][channel][tap] += gradient[tap][channel][filter]. n: blocks of CUT filters.
KERNEL add_taps(int n, const Real* gradient, Real* weights_diff, int channels, int filters) {
  BLOCK_LOOP(block, n)
    for (int f = block * CUT; f < min(filters, (block + 1) * CUT); f += LANES)
      for (int c = 0; c < channels; ++c) {
        Real taps[9][LANES];
        const int count = min(LANES, min(filters, (block + 1) * CUT) - f);
        for (int t = 0; t < 9; ++t) store(taps[t], load_part(gradient + ((long long)t * channels + c) * filters + f, count));
        for (int i = 0; i < count; ++i) {
          Real* to = weights_diff + ((long long)(f + i) * channels + c) * 9;
          for (int t = 0; t < 9; ++t) to[t] += taps[t][i];
        }
      }
}

// One filter for each plane of the map. n: planes of the image, all images; each: filters for a channel.
KERNEL depthwise_correlate(int n, const Real* image, const Real* weights, const Real* bias, Real* map, Geometry geometry,
                           int relu) {
  const Window g(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  const Phases phases(g);
  BLOCK_LOOP(plane, n) {
    phases.take(image + (long long)plane * g.pixels());
    for (int p = plane * each; p < (plane + 1) * each; ++p) {
      const int filter = p % g.maps;
      Real* to = map + (long long)p * g.places();
      for (int y = 0; y < g.out_height; ++y, to += g.out_width)
        row_under(phases.at + (long long)y * phases.pitch, phases.offset, weights + filter * taps, taps,
                  bias ? bias[filter] : Real(0), relu, to, g.out_width);
    }
  }
}

KERNEL depthwise_spread(int n, const Real* map, const Real* weights, const Real* bias, Real* image, Geometry geometry) {
  const Window g(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  const Spread receiver(g, each);
  BLOCK_LOOP(plane, n) {
    const int channel = plane % g.channels;
    const Real *from = map + (long long)plane * each * g.places(), *filters = weights + (long long)channel * each * taps;
    const Real plus = bias ? bias[channel] : Real(0);
    Real *to = image + (long long)plane * g.pixels(), wild = 0;
    for (int t = 0; t < each * taps; ++t) wild += 0 * filters[t];
    if (wild == 0) {
      receiver.take(from);
      receiver.give(filters, plus, to);
    } else {
      receiver.give_singly(from, filters, plus, to);
    }
  }
}

// n: channels. A block owns its channel's filters and goes through the images in order.
KERNEL depthwise_weights(int n, const Real* image, const Real* map, Real* weights_diff, Geometry geometry, int images) {
  const Window g(geometry);
  const int each = g.maps / g.channels, taps = g.taps();
  const Phases phases(g);
  Parts* sums = scratch<Parts>(4, Count(each) * taps);
  BLOCK_LOOP(channel, n) {
    std::memset(sums, 0, size_t(each) * taps * sizeof(Parts));
    for (int number = 0; number < images; ++number) {
      phases.take(image + ((long long)number * n + channel) * g.pixels());
      for (int e = 0; e < each; ++e) {
        const Real* from = map + (((long long)number * n + channel) * each + e) * g.places();
        if (taps == 9) sum_under_taps<9>(phases, from, taps, sums + e * taps);
        else sum_under_taps<0>(phases, from, taps, sums + e * taps);
      }
    }
    for (int i = 0; i < each * taps; ++i)
      for (int part = 0; part < PARTS; ++part) weights_diff[(long long)channel * each * taps + i] += sums[i].of[part / LANES][part % LANES];
  }
}
