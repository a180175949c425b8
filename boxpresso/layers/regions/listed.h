// listed.h: gradients of maps whose samples are listed: for each pixel of a tile (tiles.h) which gradients it gets, with what weights.
#pragma once
#include "tiles.h"
#include "wide.h"

constexpr int TILE_PIXELS = TILE_SIDE * TILE_SIDE;
constexpr int LIST_HEAD = TILE_PIXELS + 1;  // ints of a tile: where each pixel's entries begin, and all end; -1: there was no room

constexpr int PLACE = 4;                    // numbers from a place to the next

// What a pixel gets: `weight` times the channels of a bin's gradient, from `place` on. These gradients are packed
// (K, bins, padded), with the channels last.
struct alignas(2 * sizeof(Real)) Entry {
  Real weight;
  int place;
};

struct Quad {
  Real of[PLACE];
};

// A place is an address by one instruction, as it has no sign.
DEVICE const Wide& given_at(const Real* packed, int place) { return *(const Wide*)((const Quad*)packed + unsigned(place)); }

DEVICE int padded_channels(int channels) { return slabs_of(channels) * SLAB; }
DEVICE bool has_lists(const int* head) { return head[TILE_PIXELS] >= 0; }

// The entries of a tile, of which there is room for `most`.
DEVICE Entry* entries_of(Real* room, int tile, int most) { return (Entry*)room + (long long)tile * most; }
DEVICE const Entry* entries_of(const Real* room, int tile, int most) { return (const Entry*)room + (long long)tile * most; }
