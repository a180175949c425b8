// slab.h: feature maps in slabs of 16 channels, (B, ceil(C / 16), area, 16), for what treats all channels of a pixel alike.
//
// A slab of a usual map fits a core's cache, its pixels lie side by side, and the 16 channels of a pixel are one vector.
#pragma once
#include "columns.h"

constexpr int SLAB = 16;   // channels
constexpr int APART = 33;  // pixels between slabs that a core changes in turns: a load waits for a store at its place in another page

// Lanes: the channels of a pixel that a thread takes together, GROUPS times in a slab. Places: an index for each.
#if defined(__CUDACC__)
#define LANES 1
typedef Real Lanes;
typedef int Places;
DEVICE Real lane(Lanes value, int) { return value; }
DEVICE int lane(Places value, int) { return value; }
DEVICE Lanes lanes_from(const Real* values) { return values[0]; }
DEVICE Places places_from(const int* values) { return values[0]; }
#else
#define LANES SLAB
typedef Real Lanes __attribute__((vector_size(SLAB * sizeof(Real)), aligned(64)));
typedef decltype(Lanes() > Lanes()) Places;
DEVICE Real lane(const Lanes& value, int i) { return value[i]; }
DEVICE int lane(const Places& value, int i) { return int(value[i]); }
DEVICE Lanes lanes_from(const Real* values) {
  Lanes result;
  for (int i = 0; i < LANES; ++i) result[i] = values[i];
  return result;
}
DEVICE Places places_from(const int* values) {
  Places result;
  for (int i = 0; i < LANES; ++i) result[i] = values[i];
  return result;
}
#endif
constexpr int GROUPS = SLAB / LANES;

DEVICE int slabs_of(int channels) { return (channels + SLAB - 1) / SLAB; }

// The lanes of a group of a pixel.
DEVICE Lanes& lanes(Real* slab, int pixel, int group) { return *(Lanes*)(slab + (long long)pixel * SLAB + group * LANES); }
DEVICE const Lanes& lanes(const Real* slab, int pixel, int group) {
  return *(const Lanes*)(slab + (long long)pixel * SLAB + group * LANES);
}

// The sum of the channels of a pixel, in one order.
DEVICE Real sum_of(const Real* slab, int pixel) {
  Real sum[SLAB / 2];
  for (int i = 0; i < SLAB / 2; ++i) sum[i] = slab[(long long)pixel * SLAB + i] + slab[(long long)pixel * SLAB + SLAB / 2 + i];
  for (int half = SLAB / 4; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
  return sum[0];
}

// The lanes of a group of maps (C, area) at a pixel, and there from lanes; `channel`: the slab's first.
DEVICE Lanes gather(const Store* maps, int channel, int channels, int area, int pixel, int group) {
  Real values[LANES] = {};
  const int first = channel + group * LANES, count = min(LANES, channels - first);
  for (int i = 0; i < count; ++i) values[i] = Real(maps[(long long)(first + i) * area + pixel]);
  return lanes_from(values);
}
template <class To, class Value>  // Store, Real or int; Lanes or Places
DEVICE void scatter(To* maps, int channel, int channels, int area, int pixel, int group, const Value& value) {
  const int first = channel + group * LANES, count = min(LANES, channels - first);
  for (int i = 0; i < count; ++i) maps[(long long)(first + i) * area + pixel] = Real(lane(value, i));
}

// Slab number `slab` of maps (B, C, area) to (area, SLAB), pixels begin to end, and all from it; the channels past C are 0.
DEVICE void fill_slab(int slab, const Store* maps, Real* to, int channels, int area, int begin, int end) {
  const int image = slab / slabs_of(channels), channel = (slab - image * slabs_of(channels)) * SLAB;
  const int count = min(SLAB, channels - channel), pixels = max(end - begin, 0);
  to += (long long)begin * SLAB;
  turn(maps + ((long long)image * channels + channel) * area + begin, area, to, SLAB, count, pixels);
  if (count < SLAB) TILE_LOOP(pixel, c, pixels, SLAB - count) to[(long long)pixel * SLAB + count + c] = 0;
}
DEVICE void empty_slab(int slab, const Real* from, Store* maps, int channels, int area) {
  const int image = slab / slabs_of(channels), channel = (slab - image * slabs_of(channels)) * SLAB;
  turn(from, SLAB, maps + ((long long)image * channels + channel) * area, area, area, min(SLAB, channels - channel));
}
