// pixels_int8.h: the pixels under the windows of a block of places, in 8 bits. Term: uint8_t, or uint16_t where products are of 16 bits.
#pragma once
#include "../../device/int8.h"
#include "../core/geometry.h"
#include <algorithm>

// What a block's windows are over: rows of pixels as terms, with the zero in the place of padding.
struct Pixels {
  const Window& g;
  const Int8Layout& l;
  int channels;
  float none = 0;  // NaN once a number was not finite

  Pixels(const Window& g, const Int8Layout& l, int channels) : g(g), l(l), channels(channels) {}

  // `high` rows of `wide` pixels that are `down` and `across` apart, from (y, x) on, perhaps in the padding. image: of the group's first
  // channel. Bytes are taken in pieces: some behind the last are read, and terms behind them written, too.
  template <class Term>
  void take(const uint8_t* image, int y, int x, int high, int wide, int down, int across, Term* to) const {
    const int low = x >= 0 ? 0 : min(wide, (-x + across - 1) / across);
    const int end = x >= g.width ? low : max(low, min(wide, (g.width - x + across - 1) / across));
    const bool beside = across == 1 && l.bottom_pitch == channels;
    for (; high > 0; --high, y += down, to += (long long)(wide) * channels) {
      const bool outside = y < 0 || y >= g.height;
      const int first = outside ? wide : low, last = outside ? wide : end;
      std::fill(to, to + (long long)(first) * channels, Term(l.zero));
      const uint8_t* from = image + ((long long)(y) * g.width + x + (long long)(first) * across) * l.bottom_pitch;
      if (beside) copy(from, to + (long long)(first) * channels, (last - first) * channels);
      else
        for (int i = first; i < last; ++i, from += (long long)(across) * l.bottom_pitch) copy(from, to + (long long)(i) * channels, channels);
      std::fill(to + (long long)(last) * channels, to + (long long)(wide) * channels, Term(l.zero));
    }
  }
  template <class Term>
  static void copy(const uint8_t* from, Term* to, int count) {
    constexpr int PIECE = 16;
    for (int i = 0; i < count; i += PIECE) {
      if (sizeof(Term) == 1) std::memcpy(to + i, from + i, PIECE);
      else for (int k = 0; k < PIECE; ++k) to[i + k] = from[i + k];
    }
  }
  // The same of planes of floats, which are rounded to 8 bits on the way: one plane behind the other.
  template <class Term>
  void take(const float* image, int y, int x, int high, int wide, int down, int across, Term* to) {
    const Rounding rounded(l.zero, l.inverse);
    const int low = x >= 0 ? 0 : min(wide, (-x + across - 1) / across);
    const int end = x >= g.width ? low : max(low, min(wide, (g.width - x + across - 1) / across));
    Floats odd = {};
    for (int c = 0; c < channels; ++c, image += (long long)(g.height) * g.width)
      for (int r = 0; r < high; ++r, to += wide) {
        const int at = y + r * down;
        const bool outside = at < 0 || at >= g.height;
        const int first = outside ? wide : low, last = outside ? wide : end;
        std::fill(to, to + first, Term(l.zero));
        const float* from = image + (long long)(at) * g.width + x;
        for (int i = first; i < last; i += SUMS) {
          const int count = min(SUMS, last - i);
          float apart[SUMS];
          if (across != 1)
            for (int k = 0; k < count; ++k) apart[k] = from[(long long)(i + k) * across];
          const Floats value = load_floats(across != 1 ? apart : from + i, count);
          odd += value - value;
          const Bytes bytes = rounded(value);
          if (sizeof(Term) == 1) store_bytes((uint8_t*)to + i, bytes, count);
          else for (int k = 0; k < count; ++k) to[i + k] = bytes[k];
        }
        std::fill(to + last, to + wide, Term(l.zero));
      }
    for (int i = 0; i < SUMS; ++i) none += odd[i];
  }
};
