// turn_bf16.cpp: images from float to bfloat16 and back, channels last or, of floats, as planes, on CPUs that have it.
#include "bf16.h"
#include "gemm.h"

// What Python fills in. Of pitch 0 floats are planes.
struct Bf16Turn {
  int channels, places, pitch, step, half_pitch, half_step;
};

constexpr int SPAN = 64;  // places of a block

#if BF16
// LANES channels of up to LANES places between planes and channels last: place p, channel c at [c * plane + p] and [p * pitch + c].
DEVICE void square_to_last(const Real* from, long long plane, bfloat16* to, long long pitch, int channels, int places) {
  Vector rows[LANES];
  for (int c = 0; c < LANES; ++c)
    rows[c] = c >= channels ? Vector{} : places >= LANES ? load(from + c * plane) : load_part(from + c * plane, places);
  transpose(rows);
  for (int p = 0; p < min(LANES, places); ++p)
    if (channels >= LANES) store(to + p * pitch, rows[p]);
    else store_part(to + p * pitch, rows[p], channels);
}
DEVICE void square_to_planes(const bfloat16* from, long long pitch, Real* to, long long plane, int channels, int places) {
  Vector rows[LANES];
  for (int p = 0; p < LANES; ++p)
    rows[p] = p >= places ? Vector{} : channels >= LANES ? load(from + p * pitch) : load_part(from + p * pitch, channels);
  transpose(rows);
  for (int c = 0; c < min(LANES, channels); ++c)
    if (places >= LANES) store(to + c * plane, rows[c]);
    else store_part(to + c * plane, rows[c], places);
}

// `count` numbers that lie beside each other.
template <class From, class To>
DEVICE void beside(const From* from, To* to, int count) {
  int i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, load(from + i));
  if (i < count) store_part(to + i, load_part(from + i, count - i), count - i);
}
#endif

// n: images x blocks of SPAN places.
KERNEL to_bf16(int n, const Real* from, bfloat16* to, Bf16Turn t) {
#if BF16
  const int down = (t.places + SPAN - 1) / SPAN;
  BLOCK_LOOP(block, n) {
    const int image = block / down, p0 = block % down * SPAN, p1 = min(t.places, p0 + SPAN);
    const Real* source = from + (long long)(image) * t.step;
    bfloat16* target = to + (long long)(image) * t.half_step;
    if (t.pitch) {
      if (t.pitch == t.channels && t.half_pitch == t.channels) beside(source + (long long)(p0) * t.pitch, target + (long long)(p0) * t.pitch, (p1 - p0) * t.channels);
      else for (int p = p0; p < p1; ++p) beside(source + (long long)(p) * t.pitch, target + (long long)(p) * t.half_pitch, t.channels);
      continue;
    }
    for (int c = 0; c < t.channels; c += LANES)
      for (int p = p0; p < p1; p += LANES)
        square_to_last(source + (long long)(c) * t.places + p, t.places, target + (long long)(p) * t.half_pitch + c, t.half_pitch, t.channels - c, p1 - p);
  }
#endif
}

KERNEL from_bf16(int n, const bfloat16* from, Real* to, Bf16Turn t) {
#if BF16
  const int down = (t.places + SPAN - 1) / SPAN;
  BLOCK_LOOP(block, n) {
    const int image = block / down, p0 = block % down * SPAN, p1 = min(t.places, p0 + SPAN);
    const bfloat16* source = from + (long long)(image) * t.half_step;
    Real* target = to + (long long)(image) * t.step;
    if (t.pitch) {
      if (t.pitch == t.channels && t.half_pitch == t.channels) beside(source + (long long)(p0) * t.pitch, target + (long long)(p0) * t.pitch, (p1 - p0) * t.channels);
      else for (int p = p0; p < p1; ++p) beside(source + (long long)(p) * t.half_pitch, target + (long long)(p) * t.pitch, t.channels);
      continue;
    }
    for (int c = 0; c < t.channels; c += LANES)
      for (int p = p0; p < p1; p += LANES)
        square_to_planes(source + (long long)(p) * t.half_pitch + c, t.half_pitch, target + (long long)(c) * t.places + p, t.places, t.channels - c, p1 - p);
  }
#endif
}

// From one place to another. pitch, step: of `from`. n: images x blocks of SPAN places.
KERNEL copy_bf16(int n, const bfloat16* from, bfloat16* to, Bf16Turn t) {
  const int down = (t.places + SPAN - 1) / SPAN;
  BLOCK_LOOP(block, n) {
    const int image = block / down, p0 = block % down * SPAN, p1 = min(t.places, p0 + SPAN);
    for (int p = p0; p < p1; ++p)
      std::memcpy(to + (long long)(image) * t.half_step + (long long)(p) * t.half_pitch, from + (long long)(image) * t.step + (long long)(p) * t.pitch, t.channels * sizeof *to);
  }
}
