// pooling.cu: maxima, means and random picks of windows. Narrow windows share the maxima (or sums) of columns, one block
// for a row of the top; wide ones have a block each. Backward gathers: a pixel asks the windows that it is in.
#include "../core/pooling.h"
#include "random.h"

constexpr int SPAN = 512;  // columns that a block of `narrow` keeps in shared memory
constexpr int PARTS = 256;

// The windows of a row whose column k is inside the image; window j has it at pixel j * stride + k - pad.
template <int STRIDE>
DEVICE Span meeting(int k, const Pool& p) {
  const int stride = STRIDE ? STRIDE : p.stride_w, shift = k - p.pad_w, end = p.width - shift;
  return {shift < 0 ? (stride - 1 - shift) / stride : 0, end > 0 ? min((end + stride - 1) / stride, p.out_width) : 0};
}

// Joins KERNEL neighbouring columns for each of `count` windows; 0 for a size that is known only now.
template <class Op, int STRIDE, int WIDTH>
DEVICE void across(const Real* column, Real* top, int count, const Pool& p, int y, int first) {
  const int stride = STRIDE ? STRIDE : p.stride_w, width = WIDTH ? WIDTH : p.kernel_w;
  THREAD_LOOP(x, count) {
    Real value = column[x * stride];
    for (int k = 1; k < width; ++k) value = Op::join(value, column[x * stride + k]);
    top[x] = Op::finish(value, p, y, first + x);
  }
}

template <class Op>
DEVICE void narrow(int n, const Real* bottom, Real* top, const Pool& p, int chunks, int per_chunk) {
  SHARED Real column[SPAN];
  BLOCK_LOOP(b, n) {
    const int row = b / chunks, y = row % p.out_height, first = b % chunks * per_chunk;
    const int count = min(per_chunk, p.out_width - first);
    const int left = first * p.stride_w - p.pad_w, reach = (count - 1) * p.stride_w + p.kernel_w;
    const Span rows = window(y, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const int from = max(left, 0), wide = max(min(left + reach, p.width) - from, 0);
    const Real* plane = bottom + row / p.out_height * (p.height * p.width) + from;
    Real* seen = column + (from - left);
    const Real *one = plane + rows.from * p.width, *two = one + p.width, *three = two + p.width;
    const int height = rows.to - rows.from;
    if (wide < reach || height < 1 || height > 3) {
      THREAD_LOOP(t, reach) column[t] = Op::start();
      BARRIER();
    }
    if (height == 1) THREAD_LOOP(t, wide) seen[t] = Op::join(Op::start(), one[t]);
    else if (height == 2) THREAD_LOOP(t, wide) seen[t] = Op::join(Op::join(Op::start(), one[t]), two[t]);
    else if (height == 3)
      THREAD_LOOP(t, wide) seen[t] = Op::join(Op::join(Op::join(Op::start(), one[t]), two[t]), three[t]);
    else
      for (int i = 0; i < height; ++i) THREAD_LOOP(t, wide) seen[t] = Op::join(seen[t], one[i * p.width + t]);
    BARRIER();
    Real* out = top + row * p.out_width + first;
    if (p.stride_w == 2 && p.kernel_w == 2) across<Op, 2, 2>(column, out, count, p, y, first);
    else if (p.stride_w == 2 && p.kernel_w == 3) across<Op, 2, 3>(column, out, count, p, y, first);
    else if (p.stride_w == 1 && p.kernel_w == 3) across<Op, 1, 3>(column, out, count, p, y, first);
    else across<Op, 0, 0>(column, out, count, p, y, first);
    BARRIER();
  }
}

template <class Op>
DEVICE void wide(int n, const Real* bottom, Real* top, const Pool& p) {
  SHARED Real part[PARTS];
  BLOCK_LOOP(b, n) {
    const int x = b % p.out_width, row = b / p.out_width, y = row % p.out_height;
    const Span rows = window(y, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const Span columns = window(x, p.kernel_w, p.stride_w, p.pad_w, p.width);
    const Real* plane = bottom + row / p.out_height * (p.height * p.width) + rows.from * p.width + columns.from;
    int runs = max(rows.to - rows.from, 0), length = max(columns.to - columns.from, 0);
    if (length == p.width) {  // whole rows follow each other
      length *= runs;
      runs = min(runs, 1);
    }
    THREAD_LOOP(t, PARTS) part[t] = Op::start();
    for (int run = 0; run < runs; ++run)
      for (int i = 0; i < length; i += PARTS)
        THREAD_LOOP(t, min(PARTS, length - i)) part[t] = Op::join(part[t], plane[run * p.width + i + t]);
    BARRIER();
    for (int half = PARTS / 2; half > 0; half /= 2) {
      THREAD_LOOP(t, half) part[t] = Op::join(part[t], part[t + half]);
      BARRIER();
    }
    THREAD_LOOP(t, 1) top[b + t] = Op::finish(part[0], p, y, x);
    BARRIER();
  }
}

KERNEL max_narrow(int n, const Real* bottom, Real* top, Pool p, int chunks, int per_chunk) {
  narrow<Max>(n, bottom, top, p, chunks, per_chunk);
}

KERNEL mean_narrow(int n, const Real* bottom, Real* top, Pool p, int chunks, int per_chunk) {
  narrow<Mean>(n, bottom, top, p, chunks, per_chunk);
}

KERNEL max_wide(int n, const Real* bottom, Real* top, Pool p) { wide<Max>(n, bottom, top, p); }

KERNEL mean_wide(int n, const Real* bottom, Real* top, Pool p) { wide<Mean>(n, bottom, top, p); }

// Where the windows' first maxima are, as y * width + x of the image; -1 for none.
template <int STRIDE>
DEVICE void find_maxima(int n, const Real* bottom, int* mask, const Pool& p) {
  SHARED Real most[SPAN];
  const int stride = STRIDE ? STRIDE : p.stride_w;
  BLOCK_LOOP(row, n) {
    const Span rows = window(row % p.out_height, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const Real* plane = bottom + row / p.out_height * (p.height * p.width);
    for (int first = 0; first < p.out_width; first += SPAN) {
      const int count = min(SPAN, p.out_width - first);
      int* at = mask + row * p.out_width + first;
      THREAD_LOOP(t, count) {
        most[t] = Max::start();
        at[t] = -1;
      }
      BARRIER();
      for (int i = rows.from; i < rows.to; ++i)
        for (int k = 0; k < p.kernel_w; ++k) {
          const Span met = meeting<STRIDE>(k, p);
          const int from = max(met.from - first, 0), begin = i * p.width + (first + from) * stride + k - p.pad_w;
          THREAD_LOOP(t, max(min(met.to - first, count) - from, 0)) {
            const Real value = plane[begin + t * stride];
            const bool more = value > most[from + t];
            most[from + t] = more ? value : most[from + t];
            at[from + t] = more ? begin + t * stride : at[from + t];
          }
          BARRIER();
        }
    }
  }
}

KERNEL max_mask(int n, const Real* bottom, int* mask, Pool p) {
  if (p.stride_w == 1) find_maxima<1>(n, bottom, mask, p);
  else if (p.stride_w == 2) find_maxima<2>(n, bottom, mask, p);
  else find_maxima<0>(n, bottom, mask, p);
}

KERNEL mask_as_top(int n, const int* mask, Real* top) {
  GRID_LOOP(i, n) top[i] = Real(mask[i]);
}

// TRAIN: a pixel at random, each with the probability that its share of the window's sum is. TEST: the mean with these
// weights. Values are not negative, as after ReLU.
KERNEL stochastic(int n, const Real* bottom, Real* top, int* mask, Pool p, int train, unsigned key,
                  unsigned iteration) {
  BLOCK_LOOP(row, n) {
    const Span rows = window(row % p.out_height, p.kernel_h, p.stride_h, p.pad_h, p.height);
    const Real* plane = bottom + row / p.out_height * (p.height * p.width);
    THREAD_LOOP(x, p.out_width) {
      const Span columns = window(x, p.kernel_w, p.stride_w, p.pad_w, p.width);
      const int out = row * p.out_width + x;
      Real sum = 0, squares = 0;
      for (int i = rows.from; i < rows.to; ++i)
        for (int j = columns.from; j < columns.to; ++j) {
          const Real value = plane[i * p.width + j];
          sum += value;
          squares += value * value;
        }
      if (!train) {
        top[out] = squares / (sum + Real(FLT_MIN));
        continue;
      }
      const Real wanted = sum * Real((philox(out, iteration, key) + 0.5) / 4294967296.0);
      int at = -1;
      sum = 0;
      for (int i = rows.from; i < rows.to && (at < 0 || sum < wanted); ++i)
        for (int j = columns.from; j < columns.to && (at < 0 || sum < wanted); ++j) {
          at = i * p.width + j;
          sum += plane[at];
        }
      mask[out] = at;
      top[out] = at < 0 ? Real(0) : plane[at];
    }
  }
}

// bottom_diff of a pixel = the sum of share(window, pixel, y, x of the window) of each window that it is in, in one order.
// A block does a row: column k of a window meets another pixel than column k of its neighbours: these go side by side.
template <int STRIDE, class Share>
DEVICE void gather(int n, Real* bottom_diff, const Pool& p, Share share) {
  const int stride = STRIDE ? STRIDE : p.stride_w;
  BLOCK_LOOP(row, n) {
    const int y = row % p.height, plane = row / p.height * (p.out_height * p.out_width);
    const Span rows = windows(y, p.kernel_h, p.stride_h, p.pad_h, p.out_height);
    Real* diff = bottom_diff + row * p.width;
    THREAD_LOOP(x, p.width) diff[x] = 0;
    BARRIER();
    for (int i = rows.from; i < rows.to; ++i)
      for (int k = 0; k < p.kernel_w; ++k) {
        const Span met = meeting<STRIDE>(k, p);
        THREAD_LOOP(t, max(met.to - met.from, 0)) {
          const int j = met.from + t, x = j * stride + k - p.pad_w;
          diff[x] += share(plane + i * p.out_width + j, y * p.width + x, i, j);
        }
        BARRIER();
      }
  }
}

template <class Share>
DEVICE void gather(int n, Real* bottom_diff, const Pool& p, Share share) {
  if (p.stride_w == 1) gather<1>(n, bottom_diff, p, share);
  else gather<0>(n, bottom_diff, p, share);
}

KERNEL mask_backward(int n, const Real* top_diff, const int* mask, Real* bottom_diff, Pool p) {
  gather(n, bottom_diff, p,
         [=](int out, int pixel, int, int) { return mask[out] == pixel ? top_diff[out] : Real(0); });
}

KERNEL mean_backward(int n, const Real* top_diff, Real* bottom_diff, Pool p) {
  gather(n, bottom_diff, p, [=](int out, int, int i, int j) { return top_diff[out] / area(p, i, j); });
}
