// amx.h: TILED, whether the machine that a text is compiled for multiplies matrices in registers (AMX), and the words for that.
//
// A tile register holds up to 16 rows of 64 bytes: of the left operand 16 words of 32 bits a row, each two neighbouring bfloat16 or four
// bytes; of the right one, which is packed, the words of 16 filters a row; of the sums those of 16 filters.
// Sums of whole numbers are exact. Sums of pairs of bfloat16 are not those of AVX512-BF16: the products of first numbers and those of
// second ones are two sums, from 0 on and over 16 words, which are added to each other and then to what there was; each step is rounded to
// nearest, ties to even, and subnormal numbers are 0 (Intel's manual, TDPBF16PS).
#pragma once
#include "simd.h"
#include "all_vectors.h"

// UNTILED: that the operating system does not let this process use them (levels.py).
#if defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(__AMX_INT8__) && defined(__AVX512F__) && !defined(UNTILED)
#define TILED 1
#else
#define TILED 0
#endif

constexpr int TILE = 16;  // rows of a tile, and words of a row

#if TILED
// What a text writes before is written, and what it writes behind is not yet.
DEVICE void in_memory() { __asm__ volatile("" : : : "memory"); }
#endif

// While it lasts the calling thread has tiles for sums over `depth` words: four of sums, and one of each operand of whole rows and of those
// that remain at the end, or two of whole ones. They hold nothing before and after, as no function may rely on them over a call (System V ABI); what
// interrupts a thread saves them.
struct Tiles {
#if TILED
  static inline thread_local bool even = false;  // whether nothing remains: then each operand has two tiles of whole rows

  explicit Tiles(int depth) {
    struct alignas(64) {
      uint8_t palette, start, none[14];
      uint16_t bytes[16];
      uint8_t rows[16];
    } shapes = {1, 0, {}, {}, {}};
    const int rest = depth % TILE;
    for (int t = 0; t < 8; ++t) {
      const bool whole = t < 6 || rest == 0;
      shapes.rows[t] = uint8_t(whole || t == 6 ? TILE : rest), shapes.bytes[t] = uint16_t(whole || t == 7 ? 4 * TILE : 4 * rest);
    }
    even = rest == 0;
    in_memory();  // GCC takes it to read eight bytes
    _tile_loadconfig(&shapes);
  }
  ~Tiles() { _tile_release(); }
#else
  explicit Tiles(int) {}
#endif
  Tiles(const Tiles&) = delete;
};

#if TILED

// 16 rows of a left operand from `row` on, and `count` words of each from word k on. Left has row(i), the address of a row; at(k), the bytes
// from there to a word; and beside(k, most), how many words from k on lie beside each other.
struct TileOf {
  const char* at;
  long long pitch;

  // room: for a tile, where rows are not evenly apart or lie behind the last, or words not beside each other.
  template <class Left>
  TileOf(const Left& left, int row, int rows, int k, int count, char* room) {
    const int high = min(rows - row, TILE);
    at = left.row(row) + left.at(k), pitch = high > 1 ? left.row(row + 1) - left.row(row) : 0;
    bool even = high == TILE && left.beside(k, count) == count;
    for (int i = 2; i < TILE && even; ++i) even = left.row(row + i) - left.row(row + i - 1) == pitch;
    if (even) return;
    for (int q = 0, words; q < count; q += words) {
      words = left.beside(k + q, count - q);
      const long long from = left.at(k + q);
      const __mmask16 mask = __mmask16((1u << words) - 1);
      for (int i = 0; i < TILE; ++i)  // a row too many repeats the first, unsaved
        _mm512_mask_storeu_ps(room + (i * TILE + q) * 4, mask, _mm512_maskz_loadu_ps(mask, left.row(row + (i < high ? i : 0)) + from));
    }
    at = room, pitch = 4 * TILE;
  }
};

// A right operand whose words lie row by row, those of all filters beside each other.
struct EvenWords {
  const int* words;
  int vectors;

  const int* at(int, int k) const { return words + (long long)(k) * vectors * TILE; }
  int count(int, int rest) const { return min(rest, TILE); }
  long long pitch() const { return 4LL * TILE * vectors; }
};

// sums = begin + left * right, of `rows` rows and vectors * TILE filters: of bytes without sign by such with one, or of bfloat16. Right has
// `depth` rows of words, taken in steps of up to TILE: at(step, k), the first filter's word of row k, with which a step begins; count(step, rest),
// its rows, of `rest` that there are; pitch(), the bytes from a row to the next. begin: null for 0; from a row of it to the next there are
// `begin_pitch` numbers. sums: vectors * TILE numbers beside each other, and of rows the next multiple of TILE, of which
// those behind the last are anything. In a Tiles of this depth, or of one that ends with it after whole rows of words.
template <bool BYTES, class Left, class Right>
DEVICE void multiply_tiles(const Left& left, int rows, int depth, const Right& right, int vectors, const void* begin, int begin_pitch,
                           void* sums) {
// GCC takes an instruction that loads a tile for one that reads no memory.
#define LOAD(tile, at, pitch)       \
  do {                              \
    in_memory();                    \
    _tile_loadd(tile, at, pitch);   \
    in_memory();                    \
  } while (0)
#define MULTIPLY(sum, a, b)                  \
  do {                                       \
    if constexpr (BYTES) _tile_dpbusd(sum, a, b); \
    else _tile_dpbf16ps(sum, a, b);          \
  } while (0)
// a, b: the tiles of the operands. Each pair of tiles of an operand is taken in the order that the other leaves off with.
#define STEP(a, b)                                         \
  do {                                                     \
    LOAD(a, upper.at, upper.pitch);                 \
    LOAD(b, filters, pitch);                        \
    MULTIPLY(0, a, b);                                     \
    if (two) {                                             \
      LOAD(b, filters + TILE, pitch);               \
      MULTIPLY(1, a, b);                                   \
    }                                                      \
    if (both) {                                            \
      const TileOf lower(left, i + TILE, rows, k, count, room[1]); \
      LOAD(a, lower.at, lower.pitch);               \
      if (two) {                                           \
        MULTIPLY(3, a, b);                                 \
        LOAD(b, filters, pitch);                    \
      }                                                    \
      MULTIPLY(2, a, b);                                   \
    }                                                      \
  } while (0)
// The same with two tiles of each operand.
#define EVEN_STEP()                                                \
  do {                                                             \
    LOAD(4, upper.at, upper.pitch);                                \
    LOAD(5, filters, pitch);                                       \
    if (two) LOAD(6, filters + TILE, pitch);                       \
    if (both) {                                                    \
      const TileOf lower(left, i + TILE, rows, k, count, room[1]); \
      LOAD(7, lower.at, lower.pitch);                              \
    }                                                              \
    MULTIPLY(0, 4, 5);                                             \
    if (two) MULTIPLY(1, 4, 6);                                    \
    if (both) {                                                    \
      MULTIPLY(2, 7, 5);                                           \
      if (two) MULTIPLY(3, 7, 6);                                  \
    }                                                              \
  } while (0)
#define BEGIN(sum, row, vector)                                                                                         \
  do {                                                                                                                  \
    if (begin) LOAD(sum, (const char*)begin + ((row) * (long long)(begin_pitch) + (vector) * TILE) * 4, 4LL * begin_pitch); \
    else _tile_zero(sum);                                                                                               \
  } while (0)
#define END(sum, row, vector) _tile_stored(sum, (char*)sums + ((row) * (long long)(vectors) + (vector)) * 4 * TILE, sums_pitch)
  alignas(64) char room[2][TILE * TILE * 4];
  const bool even = Tiles::even;
  const long long pitch = right.pitch(), sums_pitch = 4LL * TILE * vectors;
  for (int i = 0; i < rows; i += 2 * TILE)
    for (int v = 0; v < vectors; v += 2) {
      const bool both = rows - i > TILE, two = v + 1 < vectors;
      BEGIN(0, i, v);
      if (two) BEGIN(1, i, v + 1);
      if (both) BEGIN(2, i + TILE, v);
      if (both && two) BEGIN(3, i + TILE, v + 1);
      for (int step = 0, k = 0, count; k < depth; k += count, ++step) {
        count = right.count(step, depth - k);
        const int* filters = right.at(step, k) + v * TILE;
        const TileOf upper(left, i, rows, k, count, room[0]);
        if (even) EVEN_STEP();
        else if (count == TILE) STEP(4, 5);
        else STEP(6, 7);
      }
      END(0, i, v);
      if (two) END(1, i, v + 1);
      if (both) END(2, i + TILE, v);
      if (both && two) END(3, i + TILE, v + 1);
    }
#undef END
#undef BEGIN
#undef EVEN_STEP
#undef STEP
#undef MULTIPLY
#undef LOAD
}

#endif
