// amx.h: the tile registers of AMX and the instructions that kernels use, written out, so that a text for these CPUs runs on any other.
// Each is what Intel's manual says of it, element by element. Where a CPU would raise an exception (no shapes, shapes that do not fit each
// other, or one beyond a register) the program ends. Read before the text, as avx512.h is, behind it where both are.
#pragma once
#include <immintrin.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#undef __AMX_TILE__
#undef __AMX_BF16__
#undef __AMX_INT8__
#define __AMX_TILE__ 1
#define __AMX_BF16__ 1
#define __AMX_INT8__ 1

extern "C" __attribute__((visibility("default"))) long long tile_products = 0;  // how many instructions have multiplied tiles

namespace written_out {

struct Shapes {
  uint8_t palette, start, none[14];
  uint16_t bytes[16];
  uint8_t rows[16];
};
static thread_local Shapes shapes;
static thread_local unsigned char tiles[8][16][64];

inline void must(bool fits, const char* what) {
  if (fits) return;
  std::fprintf(stderr, "amx.h: %s\n", what);
  std::abort();
}
inline void be_configured(int t) { must(shapes.palette == 1 && t < 8 && shapes.rows[t], "a tile without a shape"); }

inline void tile_release() { std::memset(&shapes, 0, sizeof shapes), std::memset(tiles, 0, sizeof tiles); }
inline void tile_loadconfig(const void* from) {
  tile_release();
  std::memcpy(&shapes, from, sizeof shapes);
  must(shapes.palette <= 1, "an unknown palette");
  for (unsigned char none : shapes.none) must(none == 0, "a shape has a bit that it must not have");
  for (int t = 0; t < 16; ++t) {
    must((shapes.rows[t] == 0) == (shapes.bytes[t] == 0), "a tile with rows of nothing, or no rows");
    must(t < 8 ? shapes.rows[t] <= 16 && shapes.bytes[t] <= 64 : shapes.rows[t] == 0, "a shape beyond a register");
  }
}
inline void tile_zero(int t) { be_configured(t), std::memset(tiles[t], 0, sizeof tiles[t]); }
inline void tile_loadd(int t, const void* from, long long pitch) {
  tile_zero(t);  // what is behind a shape
  for (int i = 0; i < shapes.rows[t]; ++i) std::memcpy(tiles[t][i], static_cast<const char*>(from) + i * pitch, shapes.bytes[t]);
}
inline void tile_stored(int t, void* to, long long pitch) {
  be_configured(t);
  for (int i = 0; i < shapes.rows[t]; ++i) std::memcpy(static_cast<char*>(to) + i * pitch, tiles[t][i], shapes.bytes[t]);
}

template <class T>
inline T part(int t, int row, int word, int i = 0) {  // of a word of 32 bits
  T value;
  std::memcpy(&value, tiles[t][row] + 4 * word + i * int(sizeof value), sizeof value);
  return value;
}
inline void fit(int sum, int a, int b) {
  __atomic_fetch_add(&tile_products, 1, __ATOMIC_RELAXED);
  be_configured(sum), be_configured(a), be_configured(b);
  must(sum != a && sum != b && a != b, "two operands in one tile");
  must(shapes.rows[sum] == shapes.rows[a] && shapes.bytes[sum] == shapes.bytes[b] && shapes.bytes[a] == 4 * shapes.rows[b],
       "shapes of operands that do not fit each other");
}
// Calls with row and column of each sum.
template <class Sum>
inline void for_each(int sum, Sum add) {
  for (int m = 0; m < shapes.rows[sum]; ++m)
    for (int n = 0; n < shapes.bytes[sum] / 4; ++n) {
      const auto value = add(m, n);
      std::memcpy(tiles[sum][m] + 4 * n, &value, sizeof value);
    }
}

inline void tile_dpbusd(int sum, int a, int b) {
  fit(sum, a, b);
  for_each(sum, [&](int m, int n) {
    uint32_t total = part<uint32_t>(sum, m, n);
    for (int k = 0; k < shapes.rows[b]; ++k)
      for (int i = 0; i < 4; ++i) total += uint32_t(int(part<uint8_t>(a, m, k, i)) * int(part<int8_t>(b, k, n, i)));
    return total;
  });
}

// Subnormal numbers are 0, of what goes in and of what comes out; rounded to nearest whatever MXCSR says, which is what it says here.
inline float normal(float value) { return std::fabs(value) < 0x1p-126f ? std::copysign(0.f, value) : value; }
inline float wide(uint16_t bits) {
  const uint32_t to = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &to, sizeof value);
  return normal(value);
}
inline void tile_dpbf16ps(int sum, int a, int b) {
  fit(sum, a, b);
  for_each(sum, [&](int m, int n) {
    float two[2] = {0, 0};
    for (int k = 0; k < shapes.rows[b]; ++k)
      for (int i = 0; i < 2; ++i) two[i] = normal(std::fma(wide(part<uint16_t>(a, m, k, i)), wide(part<uint16_t>(b, k, n, i)), two[i]));
    return normal(normal(part<float>(sum, m, n)) + normal(two[0] + two[1]));
  });
}

}  // namespace written_out

#undef _tile_loadconfig
#define _tile_loadconfig written_out::tile_loadconfig
#undef _tile_release
#define _tile_release written_out::tile_release
#undef _tile_zero
#define _tile_zero written_out::tile_zero
#undef _tile_loadd
#define _tile_loadd written_out::tile_loadd
#undef _tile_stored
#define _tile_stored written_out::tile_stored
#undef _tile_dpbusd
#define _tile_dpbusd written_out::tile_dpbusd
#undef _tile_dpbf16ps
#define _tile_dpbf16ps written_out::tile_dpbf16ps
