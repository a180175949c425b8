// dense_block.cu: a block of DenseNet in one layer. Images have `whole` channels in its top, of which a transition reads the first
// `channels`; what it makes of them lies by itself, (images, channels, pixels).
#include "sum.h"

struct Block {
  int images, whole, channels, height, width;
};

// The mean and the variance of each channel over all images. n: channels.
KERNEL block_moments(int n, const Real* x, double* mean, double* variance, Block b) {
  SHARED double part[PARTS];
  BLOCK_LOOP(c, n) {
    const int pixels = b.height * b.width, count = b.images * pixels;
    const Real* from = x + c * pixels;
    const double middle = block_sum(part, count, [=](int i) { return double(from[i / pixels * b.whole * pixels + i % pixels]); }) / count;
    const double square = block_sum(part, count, [=](int i) {
      const double off = double(from[i / pixels * b.whole * pixels + i % pixels]) - middle;
      return off * off;
    });
    THREAD_LOOP(t, 1) {
      mean[c] = middle;
      variance[c] = square / count;
    }
  }
}

// What the running averages become with those of a batch of `count` numbers. n: channels.
KERNEL block_runs_on(int n, const double* mean, const double* variance, Real* means, Real* variances, int count, Real share) {
  GRID_LOOP(c, n) {
    const double whole = count > 1 ? variance[c] * count / (count - 1.0) : variance[c];
    means[c] = Real((1 - double(share)) * double(means[c]) + double(share) * mean[c]);
    variances[c] = Real((1 - double(share)) * double(variances[c]) + double(share) * whole);
  }
}

// The running averages, in the place of those of a batch. n: channels.
KERNEL block_recorded(int n, const Real* means, const Real* variances, double* mean, double* variance) {
  GRID_LOOP(c, n) {
    mean[c] = double(means[c]);
    variance[c] = double(variances[c]);
  }
}

DEVICE Real normal_of(Real x, double mean, double variance) { return Real((double(x) - mean) / sqrt(variance + 1e-5)); }

// to = max(scale * normal + bias, 0). n: numbers of `to`.
KERNEL block_normal(int n, const Real* x, const double* mean, const double* variance, const Real* scale, const Real* bias, Real* to,
                    Block b) {
  GRID_LOOP(i, n) {
    const int pixels = b.height * b.width, c = i / pixels % b.channels, image = i / pixels / b.channels;
    const Real from = x[(image * b.whole + c) * pixels + i % pixels];
    to[i] = max(scale[c] * normal_of(from, mean[c], variance[c]) + bias[c], Real(0));
  }
}

// The gradients of block_normal: adds to those of scale and bias where they are asked for, and to that of x. after: `to`.
// batch: whether mean and variance are those of x. n: channels.
KERNEL block_normal_diffs(int n, const Real* x, const double* mean, const double* variance, const Real* scale, const Real* after,
                          const Real* diff, Real* scale_diff, Real* bias_diff, Real* x_diff, int batch, Block b) {
  SHARED double part[PARTS];
  BLOCK_LOOP(c, n) {
    const int pixels = b.height * b.width, count = b.images * pixels;
    const double middle = mean[c], spread = variance[c];
    const auto own = [=](int i) { return (i / pixels * b.channels + c) * pixels + i % pixels; };
    const auto place = [=](int i) { return (i / pixels * b.whole + c) * pixels + i % pixels; };
    const auto flow = [=](int i) { return after[own(i)] > 0 ? double(diff[own(i)]) : 0.0; };
    const double sum = block_sum(part, count, flow);
    const double dot = block_sum(part, count, [=](int i) { return flow(i) * double(normal_of(x[place(i)], middle, spread)); });
    THREAD_LOOP(t, 1) {
      if (scale_diff) scale_diff[c] += Real(dot);
      if (bias_diff) bias_diff[c] += Real(sum);
    }
    const double by = double(scale[c]) / sqrt(spread + 1e-5);
    THREAD_LOOP(i, count) {
      const double common = batch ? (sum + double(normal_of(x[place(i)], middle, spread)) * dot) / count : 0.0;
      x_diff[place(i)] += Real(by * (flow(i) - common));
    }
  }
}

// columns[9 c + k, pixel] = the pixel of channel c that tap k of a turned 3 x 3 filter meets. n: 9 * channels * pixels.
KERNEL block_columns(int n, const Real* x, Real* columns, int height, int width) {
  GRID_LOOP(i, n) {
    const int pixels = height * width, at = i % pixels, tap = i / pixels % 9, c = i / pixels / 9;
    const int row = at / width + 1 - tap / 3, column = at % width + 1 - tap % 3;
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    columns[i] = inside ? x[(c * height + row) * width + column] : Real(0);
  }
}

// The gradient of block_columns. n: channels * pixels.
KERNEL block_columns_diff(int n, const Real* columns, Real* diff, int height, int width) {
  GRID_LOOP(i, n) {
    const int pixels = height * width, at = i % pixels, c = i / pixels;
    Real sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
      const int row = at / width - 1 + tap / 3, column = at % width - 1 + tap % 3;
      if (row >= 0 && row < height && column >= 0 && column < width)
        sum += columns[(c * 9 + tap) * pixels + row * width + column];
    }
    diff[i] = sum;
  }
}
