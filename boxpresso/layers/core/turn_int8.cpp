// turn_int8.cpp: images from float to 8 bits and back, and copies in 8 bits (int8.h), with channels last or, of floats, as planes.
#include "../../device/int8.h"

// What Python fills in. Of pitch 0 floats are planes.
struct Int8Turn {
  int channels, places, pitch, step, byte_pitch, byte_step, zero;
  float scale, inverse;  // a step of the bytes, and 1 / that
};

constexpr int PLACES = 64;  // of a block

DEVICE long long float_at(const Int8Turn& t, int image, int place, int channel) {
  const long long at = t.pitch ? (long long)(place) * t.pitch + channel : (long long)(channel) * t.places + place;
  return (long long)(image) * t.step + at;
}

// to = from / scale + zero, rounded to the nearest, ties to even, from 0 to 255. odd: 1 for each block in which a number is not
// finite. n: images x blocks of PLACES.
KERNEL quantise(int n, const float* from, uint8_t* to, int* odd, Int8Turn t) {
  const int down = (t.places + PLACES - 1) / PLACES;
  const Rounding rounded(t.zero, t.inverse);
  BLOCK_LOOP(block, n) {
    const int image = block / down, p0 = block % down * PLACES, p1 = min(t.places, p0 + PLACES);
    uint8_t* const rows = to + (long long)(image) * t.byte_step;
    Floats none = {};
    if (t.pitch) {
      for (int p = p0; p < p1; ++p)
        for (int c = 0; c < t.channels; c += SUMS) {
          const int count = t.channels - c;
          const Floats value = load_floats(from + float_at(t, image, p, c), count);
          none += value - value;  // NaN where one is not finite
          store_bytes(rows + (long long)(p) * t.byte_pitch + c, rounded(value), count);
        }
    } else {  // planes: whole vectors of a channel's places
      for (int c = 0; c < t.channels; ++c)
        for (int p = p0; p < p1; p += SUMS) {
          const int count = min(SUMS, p1 - p);
          const Floats value = load_floats(from + float_at(t, image, p, c), count);
          none += value - value;
          const Bytes bytes = rounded(value);
          uint8_t* row = rows + (long long)(p) * t.byte_pitch + c;
          if (t.byte_pitch == 1) store_bytes(row, bytes, count);
          else for (int i = 0; i < count; ++i) row[(long long)(i) * t.byte_pitch] = bytes[i];
        }
    }
    odd[block] = 0;
    for (int i = 0; i < SUMS; ++i) odd[block] |= none[i] != 0;
  }
}

// to = (from - zero) * scale, times the channel's factor where there are some. n: images x blocks of PLACES.
KERNEL dequantise(int n, const uint8_t* from, float* to, const float* factors, Int8Turn t) {
  const int down = (t.places + PLACES - 1) / PLACES;
  BLOCK_LOOP(block, n) {
    const int image = block / down, p0 = block % down * PLACES, p1 = min(t.places, p0 + PLACES);
    for (int p = p0; p < p1; ++p) {
      const uint8_t* row = from + (long long)(image) * t.byte_step + (long long)(p) * t.byte_pitch;
      for (int c = 0; c < t.channels; c += SUMS) {
        const int count = t.channels - c;
        Floats value = to_floats(to_sums(load_bytes(row + c, count)) - all_sums(t.zero)) * all_floats(t.scale);
        if (factors) value *= load_floats(factors + c, count);
        if (t.pitch) store_floats(to + float_at(t, image, p, c), value, count);
        else for (int i = 0; i < min(count, SUMS); ++i) to[float_at(t, image, p, c + i)] = value[i];
      }
    }
  }
}

// Bytes from one place to another. pitch, step: of `from`. n: images x blocks of PLACES.
KERNEL copy_int8(int n, const uint8_t* from, uint8_t* to, Int8Turn t) {
  const int down = (t.places + PLACES - 1) / PLACES;
  BLOCK_LOOP(block, n) {
    const int image = block / down, p0 = block % down * PLACES, p1 = min(t.places, p0 + PLACES);
    for (int p = p0; p < p1; ++p)
      std::memcpy(to + (long long)(image) * t.byte_step + (long long)(p) * t.byte_pitch, from + (long long)(image) * t.step + (long long)(p) * t.pitch, t.channels);
  }
}
