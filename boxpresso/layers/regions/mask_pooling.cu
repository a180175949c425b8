// mask_pooling.cu: planes times a mask that the planes of an image share.
#include "kernel.h"

// A block is a plane of `area` numbers.
KERNEL mask_pooling_forward(int n, const Store* bottom, const Store* mask, Store* top, int channels, int area) {
  BLOCK_LOOP(plane, n) {
    const Store* of_image = mask + (long long)(plane / channels) * area;
    const long long start = (long long)plane * area;
    THREAD_LOOP(i, area) top[start + i] = Real(bottom[start + i]) * Real(of_image[i]);
  }
}

// A block is an image: at each place the products of all channels are summed.
KERNEL mask_pooling_masks(int n, const Store* bottom, const Store* top_diff, Store* diff, int channels, int area) {
  BLOCK_LOOP(image, n) {
    const long long start = (long long)image * channels * area;
    THREAD_LOOP(i, area) {
      Real sum = 0;
      for (int c = 0; c < channels; ++c) {
        const long long at = start + (long long)c * area + i;
        sum += Real(bottom[at]) * Real(top_diff[at]);
      }
      diff[(long long)image * area + i] = sum;
    }
  }
}
