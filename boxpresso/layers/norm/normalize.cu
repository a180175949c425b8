// normalize.cu: top = bottom / norm * scale, norm = sqrt(sum of squares + eps), over an image or over the channels of
// each position. A dot product below is the same sum, of bottom * top_diff.
#include "sum.h"

constexpr int PIECE = 256;  // positions that one block does

// Sums over whole images: a block sums one plane, and joins come after it.
KERNEL plane_sums(int n, const Real* a, const Real* b, double* partial, int size) {
  SHARED double part[PARTS];
  BLOCK_LOOP(plane, n) {
    const int at = plane * size;
    const double sum = block_sum(part, size, [=](int i) { return double(a[at + i]) * b[at + i]; });
    THREAD_LOOP(t, 1) partial[plane] = sum;
  }
}

KERNEL image_norms(int n, const double* partial, Real* norm, int channels, double eps) {
  GRID_LOOP(image, n) {
    double sum = eps;
    for (int c = 0; c < channels; ++c) sum += partial[image * channels + c];
    norm[image] = Real(sqrt(sum));
  }
}

KERNEL image_dots(int n, const double* partial, Real* dot, int channels) {
  GRID_LOOP(image, n) {
    double sum = 0;
    for (int c = 0; c < channels; ++c) sum += partial[image * channels + c];
    dot[image] = Real(sum);
  }
}

KERNEL image_forward(int n, const Real* bottom, const Real* norm, const Real* scale, Real* top, int channels, int size,
                     int shared) {
  BLOCK_LOOP(plane, n) {
    const Real by = scale[shared ? 0 : plane % channels] / norm[plane / channels];
    THREAD_LOOP(i, size) top[plane * size + i] = bottom[plane * size + i] * by;
  }
}

KERNEL image_backward(int n, const Real* bottom, const Real* top_diff, const Real* norm, const Real* dot,
                      const Real* scale, Real* bottom_diff, int channels, int size, int shared) {
  BLOCK_LOOP(plane, n) {
    const Real length = norm[plane / channels], along = dot[plane / channels] / length / length;
    const Real by = scale[shared ? 0 : plane % channels] / length;
    THREAD_LOOP(i, size) {
      const int at = plane * size + i;
      bottom_diff[at] = (top_diff[at] - bottom[at] * along) * by;
    }
  }
}

// Sums over the channels of each position: a block does a piece of an image's positions, neighbours together.
KERNEL position_forward(int n, const Real* bottom, const Real* scale, Real* top, Real* norm, int channels, int size,
                        int pieces, int shared, Real eps) {
  SHARED Real sum[PIECE];
  BLOCK_LOOP(b, n) {
    const int image = b / pieces, first = b % pieces * PIECE, width = min(PIECE, size - first);
    const int at = image * channels * size + first;
    THREAD_LOOP(t, width) sum[t] = eps;
    for (int c = 0; c < channels; ++c)
      THREAD_LOOP(t, width) sum[t] += bottom[at + c * size + t] * bottom[at + c * size + t];
    THREAD_LOOP(t, width) {
      const Real length = sqrt(sum[t]);
      norm[image * size + first + t] = length;
      sum[t] = 1 / length;
    }
    for (int c = 0; c < channels; ++c) {
      const Real by = scale[shared ? 0 : c];
      THREAD_LOOP(t, width) top[at + c * size + t] = bottom[at + c * size + t] * sum[t] * by;
    }
  }
}

KERNEL position_backward(int n, const Real* bottom, const Real* top_diff, const Real* norm, const Real* scale,
                         Real* bottom_diff, int channels, int size, int pieces, int shared) {
  SHARED Real along[PIECE], inverse[PIECE];
  BLOCK_LOOP(b, n) {
    const int image = b / pieces, first = b % pieces * PIECE, width = min(PIECE, size - first);
    const int at = image * channels * size + first;
    THREAD_LOOP(t, width) along[t] = 0;
    for (int c = 0; c < channels; ++c)
      THREAD_LOOP(t, width) along[t] += bottom[at + c * size + t] * top_diff[at + c * size + t];
    THREAD_LOOP(t, width) {
      const Real length = norm[image * size + first + t];
      along[t] /= length * length;
      inverse[t] = 1 / length;
    }
    for (int c = 0; c < channels; ++c) {
      const Real by = scale[shared ? 0 : c];
      THREAD_LOOP(t, width) {
        const int i = at + c * size + t;
        bottom_diff[i] = (top_diff[i] - bottom[i] * along[t]) * inverse[t] * by;
      }
    }
  }
}

// partial[plane] = sum of bottom / norm * top_diff, and what the channels' scales (or the one) get from the planes
KERNEL scale_sums(int n, const Real* bottom, const Real* top_diff, const Real* norm, double* partial, int channels,
                  int size, int across) {
  SHARED double part[PARTS];
  BLOCK_LOOP(plane, n) {
    const int at = plane * size, image = plane / channels;
    const double sum = block_sum(part, size, [=](int i) {
      return double(bottom[at + i]) * top_diff[at + i] / norm[across ? image : image * size + i];
    });
    THREAD_LOOP(t, 1) partial[plane] = sum;
  }
}

KERNEL scale_diff(int n, const double* partial, Real* diff, int planes) {
  GRID_LOOP(c, n) {
    double sum = diff[c];
    for (int plane = c; plane < planes; plane += n) sum += partial[plane];
    diff[c] = Real(sum);
  }
}
