// softmax.cu: exp(x) / sum(exp(x)) along the middle axis of (outer, channels, inner), and its gradient. y may be x.
#include "sum.h"

constexpr int PIECE = 256;  // positions of inner that one block does

// inner = 1, few channels: a thread does a row
KERNEL softmax_rows(int n, const Real* x, Real* y, int channels) {
  GRID_LOOP(row, n) {
    const Real* from = x + row * channels;
    Real* to = y + row * channels;
    Real most = from[0], sum = 0;
    for (int c = 1; c < channels; ++c) most = max(most, from[c]);
    for (int c = 0; c < channels; ++c) to[c] = exp(from[c] - most);
    for (int c = 0; c < channels; ++c) sum += to[c];
    for (int c = 0; c < channels; ++c) to[c] /= sum;
  }
}

// inner = 1, many channels: a block does a row
KERNEL softmax_long_rows(int n, const Real* x, Real* y, int channels) {
  SHARED double part[PARTS];
  SHARED Real top[PARTS];
  BLOCK_LOOP(row, n) {
    const Real* from = x + row * channels;
    Real* to = y + row * channels;
    THREAD_LOOP(t, PARTS) top[t] = from[min(t, channels - 1)];
    for (int c = 0; c < channels; c += PARTS)
      THREAD_LOOP(t, min(PARTS, channels - c)) top[t] = max(top[t], from[c + t]);
    BARRIER();
    for (int half = PARTS / 2; half > 0; half /= 2) {
      THREAD_LOOP(t, half) top[t] = max(top[t], top[t + half]);
      BARRIER();
    }
    const Real most = top[0];
    THREAD_LOOP(c, channels) to[c] = exp(from[c] - most);
    BARRIER();
    const Real sum = Real(block_sum(part, channels, [=](int c) { return to[c]; }));
    THREAD_LOOP(c, channels) to[c] /= sum;
  }
}

// inner > 1: a block does a piece of the positions, all channels of them; neighbours in memory are done together
KERNEL softmax_planes(int n, const Real* x, Real* y, int channels, int inner, int pieces) {
  SHARED Real most[PIECE], sum[PIECE];
  BLOCK_LOOP(b, n) {
    const int first = b % pieces * PIECE, at = b / pieces * channels * inner + first, width = min(PIECE, inner - first);
    const Real* from = x + at;
    Real* to = y + at;
    THREAD_LOOP(t, width) {
      most[t] = from[t];
      sum[t] = 0;
    }
    for (int c = 1; c < channels; ++c) THREAD_LOOP(t, width) most[t] = max(most[t], from[c * inner + t]);
    for (int c = 0; c < channels; ++c) {
      THREAD_LOOP(t, width) to[c * inner + t] = exp(from[c * inner + t] - most[t]);
      THREAD_LOOP(t, width) sum[t] += to[c * inner + t];
    }
    for (int c = 0; c < channels; ++c) THREAD_LOOP(t, width) to[c * inner + t] /= sum[t];
  }
}

// bottom_diff = y * (top_diff - sum(top_diff * y)); bottom_diff may be top_diff
KERNEL softmax_rows_backward(int n, const Real* y, const Real* top_diff, Real* bottom_diff, int channels) {
  GRID_LOOP(row, n) {
    const int at = row * channels;
    Real dot = 0;
    for (int c = 0; c < channels; ++c) dot += top_diff[at + c] * y[at + c];
    for (int c = 0; c < channels; ++c) bottom_diff[at + c] = y[at + c] * (top_diff[at + c] - dot);
  }
}

KERNEL softmax_long_rows_backward(int n, const Real* y, const Real* top_diff, Real* bottom_diff, int channels) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const int at = row * channels;
    const Real dot = Real(block_sum(part, channels, [=](int c) { return top_diff[at + c] * y[at + c]; }));
    THREAD_LOOP(c, channels) bottom_diff[at + c] = y[at + c] * (top_diff[at + c] - dot);
  }
}

KERNEL softmax_planes_backward(int n, const Real* y, const Real* top_diff, Real* bottom_diff, int channels, int inner,
                               int pieces) {
  SHARED Real dot[PIECE];
  BLOCK_LOOP(b, n) {
    const int first = b % pieces * PIECE, at = b / pieces * channels * inner + first, width = min(PIECE, inner - first);
    THREAD_LOOP(t, width) dot[t] = 0;
    for (int c = 0; c < channels; ++c)
      THREAD_LOOP(t, width) dot[t] += top_diff[at + c * inner + t] * y[at + c * inner + t];
    for (int c = 0; c < channels; ++c)
      THREAD_LOOP(t, width) {
        const int i = at + c * inner + t;
        bottom_diff[i] = y[i] * (top_diff[i] - dot[t]);
      }
  }
}
