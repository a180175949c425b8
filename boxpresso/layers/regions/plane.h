// plane.h: what the position-sensitive layers share. Channel (c pooled_height + ph) pooled_width + pw of the features
// is read for bin (ph, pw) of output c alone: so a plane is for one number of each region, place (k, channel) of the
// top.
#pragma once
#include "bins.h"

struct Plane {
  int image, channel, ph, pw;
};

DEVICE Plane plane_of(int number, const Geometry& g) {
  const int image = number / g.channels, channel = number - image * g.channels;
  return {image, channel, channel % (g.pooled_height * g.pooled_width) / g.pooled_width, channel % g.pooled_width};
}

// Plane `number` of the features' gradient: give(plane, k, gradient, map) adds what region k gives to it, for those
// of its image in order. sums: bottom_diff itself, or in float32 where that is half.
template <class Give>
DEVICE void add_regions(int number, const Store* top_diff, const int* image, Real* sums, Store* bottom_diff,
                        const Geometry& g, Give give) {
  const Plane plane = plane_of(number, g);
  const int area = g.height * g.width;
  Real* map = sums + (long long)number * area;
  THREAD_LOOP(i, area) map[i] = 0;
  BARRIER();
  for (int k = 0; k < g.regions; ++k) {
    if (image[k] != plane.image) continue;
    give(plane, k, Real(top_diff[(long long)k * g.channels + plane.channel]), map);
    BARRIER();
  }
  THREAD_LOOP(i, area) bottom_diff[(long long)number * area + i] = map[i];
}
