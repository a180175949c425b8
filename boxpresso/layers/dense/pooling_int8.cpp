// pooling_int8.cpp: the maximum of each window of a channels-last image in 8 bits: of the numbers, for the scale is positive.
#include "../../device/int8.h"

// What Python fills in.
struct Int8Pool {
  int channels, height, width, out_height, out_width;
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  int bottom_pitch, bottom_step, top_pitch, top_step;
};

// The maximum over the window [y0, y1) x [x0, x1) of the channels of a vector, from `at` on; bytes behind the last are read too.
template <class Vector>
DEVICE Vector most_of(const Int8Pool& g, const uint8_t* at, int y0, int y1, int x0, int x1) {
  Vector most = {};
  for (int iy = y0; iy < y1; ++iy)
    for (int ix = x0; ix < x1; ++ix) {
      const Vector pixel = *(const Vector*)(at + ((long long)(iy) * g.width + ix) * g.bottom_pitch);
      most = pixel > most ? pixel : most;
    }
  return most;
}

typedef uint8_t Wide __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef uint8_t Few __attribute__((vector_size(16), aligned(1), may_alias));

// n: images x rows of the top.
KERNEL pool_int8(int n, const uint8_t* bottom, uint8_t* top, Int8Pool g) {
  BLOCK_LOOP(block, n) {
    const int oy = block % g.out_height, number = block / g.out_height, y = oy * g.stride_h - g.pad_h;
    const int y0 = max(y, 0), y1 = min(y + g.kernel_h, g.height);
    const uint8_t* image = bottom + (long long)(number) * g.bottom_step;
    uint8_t* to = top + (long long)(number) * g.top_step + (long long)(oy) * g.out_width * g.top_pitch;
    for (int ox = 0; ox < g.out_width; ++ox, to += g.top_pitch) {
      const int x = ox * g.stride_w - g.pad_w, x0 = max(x, 0), x1 = min(x + g.kernel_w, g.width);
      int c = 0;
      for (; c + VECTOR_BYTES <= g.channels; c += VECTOR_BYTES) *(Wide*)(to + c) = most_of<Wide>(g, image + c, y0, y1, x0, x1);
      for (; c < g.channels; c += 16) {
        const Few most = most_of<Few>(g, image + c, y0, y1, x0, x1);
        if (c + 16 <= g.channels) *(Few*)(to + c) = most;
        else std::memcpy(to + c, &most, g.channels - c);
      }
    }
  }
}
