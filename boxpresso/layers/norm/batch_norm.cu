// batch_norm.cu: a plane is one channel of one image; the sums of a channel are those of its planes, in order.
#include "moments.h"

// Mean and 1 / sqrt(variance + eps) of a channel from the running sums, which a factor of 0 leaves at 0.
KERNEL running_stats(int n, const Real* mean_sum, const Real* variance_sum, const Real* factor, Real eps, Real* mean,
                     Real* inverse) {
  GRID_LOOP(c, n) {
    const Real by = factor[0] == 0 ? Real(0) : 1 / factor[0];
    mean[c] = mean_sum[c] * by;
    inverse[c] = 1 / sqrt(variance_sum[c] * by + eps);
  }
}

// partial[plane] = sums of d and d^2, d = x - (the channel's first x): so small a d that its squares do not cancel.
KERNEL batch_sums(int n, const Real* x, double* partial, int channels, int size) {
  SHARED Real part[2 * PARTS];
  SHARED double whole[2 * PARTS];
  BLOCK_LOOP(plane, n) {
    const Real *from = x + plane * size, origin = x[plane % channels * size];
    block_sums(part, whole, size, partial + 2 * plane, [=](int i, Real* value) {
      value[0] = from[i] - origin;
      value[1] = value[0] * value[0];
    });
  }
}

// The statistics of BN: the batch's mean and variance and, where these are wanted, running averages of them, average =
// fraction * average + (1 - fraction) * value, with the variance that normalises. A null pointer: it is not asked for.
KERNEL batch_moments(int n, const Real* x, const double* partial, Batch b, Real* mean, Real* inverse, Real* mean_average,
                     Real* variance_average, Real* mean_top, Real* variance_top) {
  const Real keep = b.fraction;
  GRID_LOOP(c, n) {
    const double variance = moments(c, n, x, partial, b, mean, inverse);
    if (mean_average) mean_average[c] = keep * mean_average[c] + (1 - keep) * mean[c];
    if (variance_average) variance_average[c] = keep * variance_average[c] + (1 - keep) * Real(variance);
    if (mean_top) mean_top[c] = mean[c];
    if (variance_top) variance_top[c] = Real(variance);
  }
}

// BN with its running averages.
KERNEL average_moments(int n, const Real* mean_average, const Real* variance_average, Real eps, Real* mean,
                       Real* inverse) {
  GRID_LOOP(c, n) {
    mean[c] = mean_average[c];
    inverse[c] = 1 / sqrt(variance_average[c] + eps);
  }
}

// The running sums: sum = keep * sum + gain * value, with the unbiased variance. `average` says that the sums are plain running
// averages (NVCaffe), which begin with the first batch itself.
DEVICE void run_on(int c, Real mean, double variance, const Batch& b, int average, Real factor, Real* mean_sum, Real* variance_sum) {
  const double count = double(b.images) * b.size, unbiased = count > 1 ? count / (count - 1) : 1;
  const Real keep = average && factor == 0 ? Real(0) : b.fraction;
  const Real gain = !average ? Real(1) : factor == 0 ? Real(1) : (1 - b.fraction) * factor;
  mean_sum[c] = keep * mean_sum[c] + gain * mean;
  variance_sum[c] = keep * variance_sum[c] + gain * Real(unbiased * variance);
}

KERNEL batch_stats(int n, const Real* x, const double* partial, Batch b, int average, const Real* factor, Real* mean,
                   Real* inverse, Real* mean_sum, Real* variance_sum) {
  GRID_LOOP(c, n) {
    const double variance = moments(c, n, x, partial, b, mean, inverse);
    run_on(c, mean[c], variance, b, average, factor[0], mean_sum, variance_sum);
  }
}

// The same of statistics that are there: the mean, and in partial[2 c] the variance.
KERNEL batch_runs_on(int n, const Real* mean, const double* partial, Batch b, int average, const Real* factor, Real* mean_sum,
                     Real* variance_sum) {
  GRID_LOOP(c, n) run_on(c, mean[c], partial[2 * c], b, average, factor[0], mean_sum, variance_sum);
}

KERNEL count_batch(int n, Real* factor, Real fraction, int average) {
  GRID_LOOP(i, n) factor[i] = !average ? factor[i] * fraction + 1 : factor[i] == 0 ? Real(1) : factor[i];
}

// y = (x - mean) * inverse, then * scale + bias where there are such; `normal` keeps the value before these two.
KERNEL normalise(int n, const Real* x, const Real* mean, const Real* inverse, const Real* scale, const Real* bias,
                 Real* y, Real* normal, int channels, int size) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % channels, at = plane * size;
    const Real off = mean[c], by = inverse[c];
    if (normal) THREAD_LOOP(i, size) normal[at + i] = (x[at + i] - off) * by;
    const Real times = scale ? by * scale[c] : by, plus = bias ? bias[c] : Real(0);
    THREAD_LOOP(i, size) y[at + i] = (x[at + i] - off) * times + plus;
  }
}

// partial[plane] = sums of diff and of diff * normalised x, the latter from `normal` or, without it, from x.
KERNEL diff_sums(int n, const Real* diff, const Real* x, const Real* normal, const Real* mean, const Real* inverse,
                 double* partial, int channels, int size) {
  SHARED Real part[2 * PARTS];
  SHARED double whole[2 * PARTS];
  BLOCK_LOOP(plane, n) {
    const int c = plane % channels;
    const Real *g = diff + plane * size, *from = (normal ? normal : x) + plane * size;
    const Real off = normal ? Real(0) : mean[c], by = normal ? Real(1) : inverse[c];
    block_sums(part, whole, size, partial + 2 * plane, [=](int i, Real* value) {
      value[0] = g[i];
      value[1] = g[i] * ((from[i] - off) * by);
    });
  }
}

// The planes' sums joined: their means for batch_diff, and the diffs of scale and bias where these are wanted.
KERNEL join_diff_sums(int n, const double* partial, int images, int size, Real* sum_mean, Real* dot_mean,
                      Real* scale_diff, Real* bias_diff) {
  GRID_LOOP(c, n) {
    double sum = 0, dot = 0;
    for (int plane = c; plane < images * n; plane += n) {
      sum += partial[2 * plane];
      dot += partial[2 * plane + 1];
    }
    sum_mean[c] = Real(sum / images / size);
    dot_mean[c] = Real(dot / images / size);
    if (scale_diff) scale_diff[c] += Real(dot);
    if (bias_diff) bias_diff[c] += Real(sum);
  }
}

KERNEL running_diff(int n, const Real* diff, const Real* inverse, const Real* scale, Real* bottom_diff, int channels,
                    int size) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % channels, at = plane * size;
    const Real times = scale ? inverse[c] * scale[c] : inverse[c];
    THREAD_LOOP(i, size) bottom_diff[at + i] = diff[at + i] * times;
  }
}

KERNEL batch_diff(int n, const Real* diff, const Real* x, const Real* normal, const Real* mean, const Real* inverse,
                  const Real* scale, const Real* sum_mean, const Real* dot_mean, Real* bottom_diff, int channels,
                  int size) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % channels, at = plane * size;
    const Real* from = (normal ? normal : x) + at;
    const Real off = normal ? Real(0) : mean[c], by = normal ? Real(1) : inverse[c];
    const Real times = scale ? inverse[c] * scale[c] : inverse[c], sum = sum_mean[c], dot = dot_mean[c];
    THREAD_LOOP(i, size) bottom_diff[at + i] = (diff[at + i] - sum - (from[i] - off) * by * dot) * times;
  }
}
