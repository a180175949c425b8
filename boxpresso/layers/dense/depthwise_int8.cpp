// depthwise_int8.cpp: a filter for each channel of a channels-last image in 8 bits (int8.h). Four pixels above each other are four terms
// of a lane, a channel each: with windows that lie a row apart, two rows of places have a column of pixels in common.
#include "pixels_int8.h"

constexpr int NEAR = REGISTERS < 32 ? 2 : 4;  // neighbouring places that are summed together

// How many rows of places are computed together: two whose windows, and their taps, lie a row apart.
DEVICE int together_of(const Window& g, bool band) { return band && g.stride_h == 1 && g.dilation_h == 1 ? 2 : 1; }

// Of `together` rows of places the windows are `kernel_h + together - 1` rows high; they are cut in quads of rows.
DEVICE int quads_down(int kernel_h, int together) { return (kernel_h + together + 2) / 4; }

// packed = for each of the rows of places, quad, column of taps and vector of a quad: a lane a channel, padded to whole vectors.
// sums = bias - zero * the sum of the filter. weights: [tap][channel]. n: channels.
KERNEL pack_depthwise_int8(int n, const int8_t* weights, const int* bias, int* packed, int* sums, int channels, int kernel_h, int kernel_w,
                           int together, int zero) {
  const int down = quads_down(kernel_h, together), apart = (channels + 15) / 16 * 16;
  BLOCK_LOOP(c, n) {
    int* to = packed + c;
    for (int row = 0; row < together; ++row)
      for (int q = 0; q < down; ++q)
        for (int kx = 0; kx < kernel_w; ++kx) {
          int lane[4];
          for (int i = 0; i < 4; ++i) {
            const int ky = 4 * q + i - row;
            lane[i] = ky >= 0 && ky < kernel_h ? weights[(ky * kernel_w + kx) * channels + c] : 0;
          }
          for (int half = 0; half < QUAD; ++half, to += apart) *to = quad_lane(lane, half);
        }
    int total = 0;
    for (int tap = 0; tap < kernel_h * kernel_w; ++tap) total += weights[tap * channels + c];
    sums[c] = int(uint32_t(bias[c]) + uint32_t(total) * uint32_t(SHIFTED - zero));
  }
}

template <class Top>
struct Rows {
  const Window& g;
  const Int8Layout& l;
  const Int8Epilogue& e;
  const int* packed;
  int apart, down, height;               // height: rows of pixels that all windows are over
  const uint8_t* pixels;                 // the first window's first pixel, with SUMS bytes to read behind the last
  long long tap, line, right;            // bytes to the next tap, and to the next place's first one
  Top* map;                              // of the first place
  const uint8_t* other;
  long long top_below, other_below;      // to the next row of places

  // The four pixels above each other from row 4 * q on: what is behind the last row counts nothing.
  Sums column(const uint8_t* at, int q) const {
    const auto row = [&](int i) { return *(const Bytes*)(at + min(4 * q + i, height - 1) * line); };
    return quads(row(0), row(1), row(2), row(3));
  }
  // SUMS channels from c on of `places` places of TOGETHER rows, of which `rows` are stored. WIDE: columns of taps, which lie beside
  // each other with STRIDE between the places, or 0 for any. SIMPLE: as in int8.h, and all channels exist.
  template <int TOGETHER, int WIDE, int STRIDE, bool SIMPLE>
  void run(int c, int places, int rows) const {
    const int count = SIMPLE ? SUMS : g.channels - c;
    const Int8Epilogue ends = e;
    const auto own = e.own(c);
    const Sums start = *(const Sums*)(e.bias + c);
    const int* const filters = packed + c;
    const auto filter = [=](int row, int q, int kx, Sums* to) {
      for (int half = 0; half < QUAD; ++half)
        to[half] = *(const Sums*)(filters + ((long long)((row * down + q) * g.kernel_w + kx) * QUAD + half) * apart);
    };
    const uint8_t* const first = pixels + c;
    const auto store = [=](Sums sum, int row, int x) {
      const uint8_t* addend = SIMPLE || !other ? nullptr : other + row * other_below + x * (long long)(l.other_pitch) + c;
      ends.store(ends.template finish<SIMPLE>(sum, own, addend, count), map + row * top_below + x * (long long)(l.top_pitch) + c, count);
    };
    if constexpr (WIDE) {  // one quad of rows
      Sums weight[TOGETHER][WIDE][QUAD];
      for (int row = 0; row < TOGETHER; ++row)
        for (int kx = 0; kx < WIDE; ++kx) filter(row, 0, kx, weight[row][kx]);
      const auto near = [=](auto number, int x) __attribute__((always_inline)) {
        constexpr int COUNT = number;
        const uint8_t* at = first + x * right;
        Sums sum[TOGETHER][COUNT];
        for (auto& each : sum)
          for (Sums& one : each) one = start;
#pragma GCC unroll 16
        for (int p = 0; p < (COUNT - 1) * STRIDE + WIDE; ++p) {
          const Sums pixel = column(at + p * tap, 0);
#pragma GCC unroll 4
          for (int kx = 0; kx < WIDE; ++kx)
            if (p >= kx && (p - kx) % STRIDE == 0 && (p - kx) / STRIDE < COUNT)
#pragma GCC unroll 2
              for (int row = 0; row < TOGETHER; ++row) sum[row][(p - kx) / STRIDE] = dot_quad(sum[row][(p - kx) / STRIDE], pixel, weight[row][kx]);
        }
#pragma GCC unroll 2
        for (int row = 0; row < TOGETHER; ++row)
#pragma GCC unroll 4
          for (int i = 0; i < COUNT; ++i)
            if (row < rows) store(sum[row][i], row, x + i);
      };
      int x = 0;
      for (; x + NEAR <= places; x += NEAR) near(std::integral_constant<int, NEAR>(), x);
      for (; x < places; ++x) near(std::integral_constant<int, 1>(), x);
    } else {
      for (int x = 0; x < places; ++x) {
        Sums sum[TOGETHER];
        for (Sums& one : sum) one = start;
        for (int q = 0; q < down; ++q)
          for (int kx = 0; kx < g.kernel_w; ++kx) {
            const Sums pixel = column(first + x * right + kx * tap, q);
            for (int row = 0; row < TOGETHER; ++row) {
              Sums weight[QUAD];
              filter(row, q, kx, weight);
              sum[row] = dot_quad(sum[row], pixel, weight);
            }
          }
        for (int row = 0; row < rows; ++row) store(sum[row], row, x);
      }
    }
  }
  template <int TOGETHER, int WIDE, int STRIDE>
  void channels(int places, int rows) const {
    for (int c = 0; c < g.channels; c += SUMS)
      if (e.simple() && c + SUMS <= g.channels) run<TOGETHER, WIDE, STRIDE, true>(c, places, rows);
      else run<TOGETHER, WIDE, STRIDE, false>(c, places, rows);
  }
};

template <class Top>
DEVICE void depthwise(int n, const uint8_t* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                      const uint8_t* other, Top* map, const Geometry& geometry, const Int8Layout& l) {
  const Window g(geometry);
  const bool band = l.band;
  const int together = together_of(g, band), channels = g.channels, high = l.high, across = (g.out_height + high - 1) / high;
  const bool three = band && g.kernel_h <= 3 && g.kernel_w == 3 && g.dilation_w == 1 && g.stride_w <= 2;
  const Int8Epilogue e(l, bias, factors, slopes, other);
  const Pixels pixels(g, l, channels);
  const int wide = band ? (g.out_width - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1 : g.kernel_w;
  const int step = band ? g.dilation_h : 1;  // rows from a tap to the next
  BLOCK_LOOP(block, n) {
    const int number = block / across, y0 = block % across * high, rows = min(high, g.out_height - y0);
    const uint8_t* from = image + (long long)(number) * l.bottom_step;
    const int whole = (rows + together - 1) / together * together;
    const int lines = band ? (whole - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1 : g.kernel_h;
    uint8_t* room = scratch<uint8_t>(0, Count(lines) * wide * channels + 64);
    if (band) pixels.take(from, y0 * g.stride_h - g.pad_h, -g.pad_w, lines, wide, 1, 1, room);
    Rows<Top> part = {g, l, e, packed, (channels + 15) / 16 * 16, quads_down(g.kernel_h, together), g.kernel_h + together - 1, room,
                      (long long)(band ? g.dilation_w : 1) * channels, (long long)(step) * wide * channels, (long long)(g.stride_w) * channels,
                      nullptr, nullptr, (long long)(g.out_width) * l.top_pitch, (long long)(g.out_width) * l.other_pitch};
    for (int y = 0; y < rows; y += together) {
      part.map = map + (long long)(number) * l.top_step + (y0 + y) * part.top_below;
      part.other = other ? other + (long long)(number) * l.other_step + (y0 + y) * part.other_below : nullptr;
      const int stored = min(together, rows - y);
      if (band) {
        part.pixels = room + (long long)(y) * g.stride_h * wide * channels;
        if (three && together == 2 && g.stride_w == 1) part.template channels<2, 3, 1>(g.out_width, stored);
        else if (three && together == 1 && g.stride_w == 2) part.template channels<1, 3, 2>(g.out_width, stored);
        else if (together == 2) part.template channels<2, 0, 1>(g.out_width, stored);
        else part.template channels<1, 0, 1>(g.out_width, stored);
        continue;
      }
      for (int x = 0; x < g.out_width; ++x) {  // each window by itself
        pixels.take(from, (y0 + y) * g.stride_h - g.pad_h, x * g.stride_w - g.pad_w, g.kernel_h, g.kernel_w, g.dilation_h, g.dilation_w, room);
        part.template channels<1, 0, 1>(1, 1);
        part.map += l.top_pitch;
        if (part.other) part.other += l.other_pitch;
      }
    }
  }
}

// map, or with a null one real = activation(filters * image + bias + other). packed, bias: from pack_depthwise_int8; bias, factors and
// slopes are padded. n: images x blocks of `high` rows of places.
KERNEL depthwise_int8(int n, const uint8_t* image, const int* packed, const int* bias, const float* factors, const float* slopes,
                      const uint8_t* other, uint8_t* map, float* real, Geometry geometry, Int8Layout layout) {
  if (map) depthwise(n, image, packed, bias, factors, slopes, other, map, geometry, layout);
  else depthwise(n, image, packed, bias, factors, slopes, other, real, geometry, layout);
}
