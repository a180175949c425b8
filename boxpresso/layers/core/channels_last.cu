// channels_last.cu: what a chain of convolutions by cuDNN needs around it on a GPU, on arrays whose channels are last: filters in
// cuDNN's order, windows pooled, a factor and an addend for each channel. A thread has four channels beside each other.
#include "pooling.h"

struct alignas(4 * sizeof(Real)) Quad {
  Real v[4];
};
DEVICE bool aligned(const void* at) { return (unsigned long long)at % sizeof(Quad) == 0; }

// Four numbers from `at` on; those behind the first `count` are 0.
DEVICE Quad four_from(const Real* at, int count, bool wide) {
  Quad four = {};
  if (wide) return *(const Quad*)at;
  for (int i = 0; i < count; ++i) four.v[i] = at[i];
  return four;
}
DEVICE void store(Real* at, const Quad& four, int count, bool wide) {
  if (wide) *(Quad*)at = four;
  else
    for (int i = 0; i < count; ++i) at[i] = four.v[i];
}

// last[filter][tap][channel] = weights[filter][channel][tap]; n: all weights.
KERNEL filters_last(int n, const Real* __restrict__ weights, Real* __restrict__ last, int channels, int taps) {
  GRID_LOOP(i, n) {
    const int row = i / channels, channel = i - row * channels, filter = row / taps, tap = row - filter * taps;
    last[i] = weights[((long long)filter * channels + channel) * taps + tap];
  }
}

// Maxima and means of windows, column by column as pooling.cu has them, so that both layouts give the same bits.
template <class Op>
DEVICE void pool(int n, const Real* bottom, Real* top, const Pool& p, int channels) {
  const int fours = (channels + 3) / 4;
  const bool wide = channels % 4 == 0 && aligned(bottom) && aligned(top);
  GRID_LOOP(i, n) {
    const int place = i / fours, first = 4 * (i - place * fours), count = min(4, channels - first);
    const int row = place / p.out_width, x = place - row * p.out_width, image = row / p.out_height, y = row - image * p.out_height;
    const Span rows = window(y, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const Span columns = window(x, p.kernel_w, p.stride_w, p.pad_w, p.width);
    const Real* from = bottom + (long long)image * p.height * p.width * channels + first;
    Quad value;
    for (int c = 0; c < 4; ++c) value.v[c] = Op::start();
    for (int k = columns.from; k < columns.to; ++k) {
      Quad column;
      for (int c = 0; c < 4; ++c) column.v[c] = Op::start();
      for (int j = rows.from; j < rows.to; ++j) {
        const Quad pixel = four_from(from + ((long long)j * p.width + k) * channels, count, wide);
        for (int c = 0; c < 4; ++c) column.v[c] = Op::join(column.v[c], pixel.v[c]);
      }
      for (int c = 0; c < 4; ++c) value.v[c] = Op::join(value.v[c], column.v[c]);
    }
    for (int c = 0; c < 4; ++c) value.v[c] = Op::finish(value.v[c], p, y, x);
    store(top + (long long)place * channels + first, value, count, wide);
  }
}

// n: places of all images times fours of channels.
KERNEL max_last(int n, const Real* bottom, Real* top, Pool p, int channels) { pool<Max>(n, bottom, top, p, channels); }

KERNEL mean_last(int n, const Real* bottom, Real* top, Pool p, int channels) { pool<Mean>(n, bottom, top, p, channels); }

// Wide windows, as of a whole image: a block has one place of the top in GROUP channels, and its threads share the pixels.
constexpr int GROUP = 32, FOURS = GROUP / 4, PARTS = 32;
template <class Op>
DEVICE void pool_wide(int n, const Real* bottom, Real* top, const Pool& p, int channels) {
  const int groups = (channels + GROUP - 1) / GROUP;
  const bool wide = channels % 4 == 0 && aligned(bottom) && aligned(top);
  BLOCK_LOOP(b, n) {
    SHARED Quad part[PARTS * FOURS];
    const int place = b / groups, begin = b % groups * GROUP;
    const int row = place / p.out_width, x = place - row * p.out_width, image = row / p.out_height, y = row - image * p.out_height;
    const Span rows = window(y, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const Span columns = window(x, p.kernel_w, p.stride_w, p.pad_w, p.width);
    const int width = max(columns.to - columns.from, 0), pixels = max(rows.to - rows.from, 0) * width;
    THREAD_LOOP(t, PARTS * FOURS) {
      const int first = begin + 4 * (t % FOURS), count = min(4, channels - first);
      Quad value;
      for (int c = 0; c < 4; ++c) value.v[c] = Op::start();
      for (int i = t / FOURS; i < pixels && count > 0; i += PARTS) {
        const int j = i / width, pixel = (rows.from + j) * p.width + columns.from + i - j * width;
        const Quad at = four_from(bottom + ((long long)image * p.height * p.width + pixel) * channels + first, count, wide);
        for (int c = 0; c < 4; ++c) value.v[c] = Op::join(value.v[c], at.v[c]);
      }
      part[t] = value;
    }
    BARRIER();
    for (int half = PARTS / 2; half > 0; half /= 2) {
      THREAD_LOOP(t, half * FOURS) {
        for (int c = 0; c < 4; ++c) part[t].v[c] = Op::join(part[t].v[c], part[t + half * FOURS].v[c]);
      }
      BARRIER();
    }
    THREAD_LOOP(t, FOURS) {
      const int first = begin + 4 * t, count = min(4, channels - first);
      if (count > 0) {
        Quad value = part[t];
        for (int c = 0; c < 4; ++c) value.v[c] = Op::finish(value.v[c], p, y, x);
        store(top + (long long)place * channels + first, value, count, wide);
      }
    }
    BARRIER();
  }
}

// n: places of all images times groups of channels, a block for each.
KERNEL max_last_wide(int n, const Real* bottom, Real* top, Pool p, int channels) { pool_wide<Max>(n, bottom, top, p, channels); }

KERNEL mean_last_wide(int n, const Real* bottom, Real* top, Pool p, int channels) { pool_wide<Mean>(n, bottom, top, p, channels); }

// top = bottom * scale + shift of its channel, and what is below 0 times its slope; each where it is given. It may be in place.
// n: fours of the `size` elements. One division for four of them.
KERNEL affine_last(int n, const Real* bottom, const Real* scale, const Real* shift, const Real* slopes, Real* top, int size,
                   int channels) {
  const bool both = aligned(bottom) && aligned(top);
  GRID_LOOP(q, n) {
    const int at = 4 * q, count = min(4, size - at);
    const bool wide = both && count == 4;
    int channel = at % channels;
    Quad four = four_from(bottom + at, count, wide);
    for (int i = 0; i < count; ++i) {
      Real value = four.v[i];
      if (scale) value *= scale[channel];
      if (shift) value += shift[channel];
      if (slopes && value < 0) value *= slopes[channel];
      four.v[i] = value;
      if (++channel == channels) channel = 0;
    }
    store(top + at, four, count, wide);
  }
}
