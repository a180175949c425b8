// wide.h: walks over the pixels of slabs with as many channels as a thread loads at once: 128 bits of floats on a GPU.
//
// For what does the same for all channels of a pixel: a quarter of the loads, and of the arithmetic of places and weights, that
// one channel a thread takes.
#pragma once
#include "slab.h"

// Wide: WIDE channels of a pixel, SHARES times in a slab; Lanes on the host. WidePlaces: an index for each.
#if defined(__CUDACC__)
#define WIDE 4
struct alignas(WIDE * sizeof(Real)) Wide {
  Real of[WIDE];
};
DEVICE Real lane(const Wide& value, int i) { return value.of[i]; }
DEVICE Wide wide_from(const Real* values) { return *(const Wide*)values; }
DEVICE Wide operator*(Real factor, Wide value) {
  for (int i = 0; i < WIDE; ++i) value.of[i] *= factor;
  return value;
}
DEVICE Wide operator/(Wide value, Real divisor) {
  for (int i = 0; i < WIDE; ++i) value.of[i] /= divisor;
  return value;
}
DEVICE Wide operator*(Wide a, const Wide& b) {
  for (int i = 0; i < WIDE; ++i) a.of[i] *= b.of[i];
  return a;
}
DEVICE Wide operator+(Wide a, const Wide& b) {
  for (int i = 0; i < WIDE; ++i) a.of[i] += b.of[i];
  return a;
}
DEVICE Wide operator-(Wide a, const Wide& b) {
  for (int i = 0; i < WIDE; ++i) a.of[i] -= b.of[i];
  return a;
}
DEVICE void operator+=(Wide& sum, const Wide& value) { sum = sum + value; }
DEVICE Wide wide_of(Real value) {
  Wide result;
  for (int i = 0; i < WIDE; ++i) result.of[i] = value;
  return result;
}
struct alignas(WIDE * sizeof(int)) WidePlaces {
  int of[WIDE];
};
DEVICE int lane(const WidePlaces& value, int i) { return value.of[i]; }
DEVICE WidePlaces places_of(int place) {
  WidePlaces result;
  for (int i = 0; i < WIDE; ++i) result.of[i] = place;
  return result;
}
// Without branches, so that a compiler keeps the loads of all channels together.
DEVICE void take_larger(Wide& most, Wide value) {
  for (int i = 0; i < WIDE; ++i) most.of[i] = value.of[i] > most.of[i] ? value.of[i] : most.of[i];
}
DEVICE void take_larger(Wide& most, WidePlaces& place, Wide value, WidePlaces at) {
  for (int i = 0; i < WIDE; ++i) {
    const bool more = value.of[i] > most.of[i];
    most.of[i] = more ? value.of[i] : most.of[i];
    place.of[i] = more ? at.of[i] : place.of[i];
  }
}
DEVICE void put_places(int* to, const WidePlaces& places) { *(WidePlaces*)to = places; }
DEVICE void put_values(Store* to, const Wide& values) {
  for (int i = 0; i < WIDE; ++i) to[i] = Store(values.of[i]);
}
#else
#define WIDE LANES
typedef Lanes Wide;
typedef Places WidePlaces;
DEVICE Wide wide_from(const Real* values) { return lanes_from(values); }
DEVICE Wide wide_of(Real value) { return Wide{} + value; }
DEVICE WidePlaces places_of(int place) { return WidePlaces{} + place; }
// What is larger in place of the largest until now; NaN never is, and of equals the first stays.
DEVICE void take_larger(Wide& most, const Wide& value) { most = value > most ? value : most; }
DEVICE void take_larger(Wide& most, WidePlaces& place, const Wide& value, const WidePlaces& at) {
  const auto more = value > most;
  most = more ? value : most;
  place = more ? at : place;
}
// To an address of a multiple of WIDE ints.
DEVICE void put_places(int* to, const WidePlaces& places) {
  for (int i = 0; i < WIDE; ++i) to[i] = lane(places, i);
}
// To any address. In a loop over several a compiler would take these numbers one by one.
typedef Real WideAnywhere __attribute__((vector_size(WIDE * sizeof(Real)), aligned(sizeof(Real))));
template <class To>  // Store
DEVICE void put_values(To* to, const Wide& values) {
  if (sizeof(To) == sizeof(Real)) *(WideAnywhere*)to = values;
  else
    for (int i = 0; i < WIDE; ++i) to[i] = To(lane(values, i));
}
#endif
constexpr int SHARES = SLAB / WIDE;

DEVICE const Wide& wide(const Real* slab, int pixel, int share) {
  return *(const Wide*)(slab + (long long)pixel * SLAB + share * WIDE);
}

// The sum of the products of two, in one order.
DEVICE Real dot(const Wide& a, const Wide& b) {
  Real sum = 0;
  for (int i = 0; i < WIDE; ++i) sum += lane(a, i) * lane(b, i);
  return sum;
}

// A stage: pixels, or bins, in a block's own memory, a little apart, so that threads which fill it plane by plane, or empty it so,
// meet few banks twice. It is SHARED, and stage_of(n) Wide for n pixels.
#if defined(__CUDACC__)
constexpr int STAGE_ROW = SLAB + WIDE;
#else
constexpr int STAGE_ROW = SLAB;
#endif
DEVICE constexpr int stage_of(int pixels) { return pixels * (STAGE_ROW / WIDE); }
DEVICE Wide& staged(Wide* stage, int pixel, int share) { return stage[stage_of(pixel) + share]; }

// `count` pixels of planes that are `area` numbers, of which there are `channels`, into a stage; missing channels become 0.
DEVICE void fill_stage(const Store* planes, int channels, int area, int count, Wide* stage) {
  Real* to = (Real*)stage;
#if defined(__CUDACC__)
  TILE_LOOP(c, pixel, SLAB, count)
    to[pixel * STAGE_ROW + c] = c < channels ? Real(planes[(long long)c * area + pixel]) : Real(0);
#else
  turn(planes, area, to, STAGE_ROW, min(channels, SLAB), count);
  TILE_LOOP(pixel, c, count, SLAB - channels) to[pixel * STAGE_ROW + channels + c] = 0;
#endif
}

// And back.
DEVICE void empty_stage(const Wide* stage, Store* planes, int channels, int area, int count) {
  turn((const Real*)stage, STAGE_ROW, planes, area, count, min(channels, SLAB));
}
