// simt.h: how the stand-in runs the PTX that ptx.py has translated: warps of 32 threads in step, blocks one after another.
//
// All threads of a warp that are at the same basic block run it together; of several, the one that comes first in the text
// goes first, so that threads which took different ways meet again as early as the text lets them. A warp stops at a barrier until
// all threads of the block are there. What a real GPU leaves undefined is an error here: an address outside its allocation or
// not aligned to what is loaded, a barrier that part of a warp comes to, a division of integers by zero, and two threads that use
// the same bytes, one of them to write, without a barrier between; threads of two blocks have none.
#pragma once
#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "translated.h"

namespace simt {

constexpr int WARP = 32, NEVER = INT_MAX;
typedef unsigned long long Count;

struct Fault {
  std::string what;
};

// Numbers as the instructions see them. A register has the size of its class; an instruction may use fewer bits.
template <class To, class From>
inline To in(From value) {
  if constexpr (sizeof(To) == sizeof(From)) {
    To to;
    memcpy(&to, &value, sizeof to);
    return to;
  } else {
    return To(value);
  }
}
template <class To, class From>
inline void set(To& to, From value) {
  to = in<To>(value);
}
inline float f32(uint32_t bits) { return in<float>(bits); }
inline double f64(uint64_t bits) { return in<double>(bits); }

// Rounding other than to the nearest.
template <class T, class Do>
__attribute__((noinline)) T rounded(int mode, Do what) {
  const int before = fegetround();
  fesetround(mode);
  const T made = what();
  fesetround(before);
  return made;
}
template <class T>
T add_towards(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { volatile T sum = x + y; return T(sum); });
}
template <class T>
T fma_towards(int mode, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  return rounded<T>(mode, [&] { volatile T sum = std::fma(T(x), T(y), T(z)); return T(sum); });
}

template <class T>
inline T least(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class T>
inline T most(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}
template <class T>
inline T saturated(T a) { return a > T(0) ? (a < T(1) ? a : T(1)) : T(0); }  // NaN becomes 0

// A number, rounded already, to an integer: the nearest that there is; NaN becomes 0.
template <class To, class From>
inline To integer(From a) {
  if (a != a) return 0;
  const From low = From(std::is_signed_v<To> ? -std::ldexp(1.0, 8 * sizeof(To) - 1) : 0.0);
  const From high = From(std::ldexp(1.0, 8 * sizeof(To) - std::is_signed_v<To>));
  if (a <= low) return std::is_signed_v<To> ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
  if (a >= high) return std::is_signed_v<To> ? To(~(To(1) << (8 * sizeof(To) - 1))) : To(~To(0));
  return To(a);
}
template <class T>
inline T quotient(T a, T b) {
  if (b == 0) throw Fault{"divides an integer by zero"};
  if (std::is_signed_v<T> && b == T(-1)) return T(0) - a;
  return a / b;
}
template <class T>
inline T remainder(T a, T b) {
  if (b == 0) throw Fault{"divides an integer by zero"};
  if (std::is_signed_v<T> && b == T(-1)) return 0;
  return a % b;
}
template <class T>
inline T shift_left(T a, uint32_t by) { return by >= 8 * sizeof(T) ? T(0) : T(a << by); }
template <class T>
inline T shift_right(T a, uint32_t by) {
  if (by >= 8 * sizeof(T)) return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
  return T(a >> by);
}
template <class T>
inline T high(T a, T b) {
  if constexpr (sizeof(T) == 4) return T((std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>(a) * b) >> 32);
  return T((std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>(a) * b) >> 64);
}
template <class T>
inline T bits_into(T a, T b, uint32_t at, uint32_t length) {  // bfi
  at &= 255, length &= 255;
  if (at >= 8 * sizeof(T) || length == 0) return b;
  const T ones = length >= 8 * sizeof(T) ? T(~T(0)) : T((T(1) << length) - 1);
  return T((b & ~T(ones << at)) | T((a & ones) << at));
}
template <class T>
inline T bits_of(T a, uint32_t at, uint32_t length) {  // bfe of unsigned numbers
  at &= 255, length &= 255;
  const T moved = shift_right(a, at);
  return length >= 8 * sizeof(T) ? moved : T(moved & T((T(1) << length) - 1));
}
inline uint32_t reversed(uint32_t a) {
  uint32_t made = 0;
  for (int i = 0; i < 32; ++i) made |= (a >> i & 1) << (31 - i);
  return made;
}
inline uint32_t half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16, power = half >> 10 & 31, rest = half & 1023;
  if (power == 31) return sign | 0x7F800000 | (rest ? 0x400000 | rest << 13 : 0);
  if (power == 0) return sign | in<uint32_t>(float(rest) / 16777216.0f);
  return sign | (power + 112) << 23 | rest << 13;
}
inline uint16_t float_to_half(float value) {
  const uint32_t bits = in<uint32_t>(value), sign = bits >> 16 & 0x8000;
  const float a = std::fabs(value);
  if (a != a) return 0x7FFF;
  if (a >= 65520.0f) return uint16_t(sign | 0x7C00);
  if (a < 6.103515625e-05f) return uint16_t(sign | uint32_t(std::nearbyint(a * 16777216.0f)));
  const uint32_t low = in<uint32_t>(a), kept = low + 0xFFF + (low >> 13 & 1);
  return uint16_t(sign | ((kept >> 13) - (112 << 10)));
}

// Who has used some bytes last: threads of a block, between two of its barriers, which `epoch` counts.
struct Used {
  uint32_t writing_block = 0, reading_block = 0;  // their numbers and 1
  uint32_t written = 0, read = 0;                 // when
  uint16_t writer = 0, reader = 0;
};
enum : uint16_t { SEVERAL = 0xFFFF, SUMS = 0xFFFE, COMMUTES = 0xFFFD };  // threads; or by an atomic sum of floats, or of another kind
constexpr uint32_t BLOCKS = ~0u;                                         // more than one block

// Notes an access; what it must not meet, or null. `me`: a thread of a block, or by which atomic.
inline const char* meets(Used& u, uint32_t block, uint32_t epoch, uint16_t me, bool writes) {
  const bool others = u.writing_block != block, both_commute = me == COMMUTES && u.writer == COMMUTES;
  if (u.writing_block && (others || (u.written == epoch && u.writer != me)) && !both_commute)
    return others ? "another block has written" : "another thread has written";
  if (writes && u.reading_block && (u.reading_block != block || (u.read == epoch && u.reader != me)))
    return u.reading_block != block ? "another block has read" : "another thread has read";
  if (writes) {
    u.writing_block = block, u.written = epoch, u.writer = me;
  } else {
    u.reader = u.reading_block == block && u.read == epoch && u.reader != me ? uint16_t(SEVERAL) : me;
    u.reading_block = u.reading_block && u.reading_block != block ? BLOCKS : block;
    u.read = epoch;
  }
  return nullptr;
}

// What an access of a warp costs: the sectors of 32 bytes, or the times that shared memory is asked.
struct Place {
  uint32_t mask = 0;
  uint64_t at[WARP];
};

// One block that runs.
struct Block {
  const Driver* driver = nullptr;
  unsigned grid[3], size[3], number[3];
  std::vector<char> shared;
  std::vector<Used> used;
  uint32_t epoch = 1;
  bool counting = false;
  Count requests = 0, sectors = 0, asked = 0, waves = 0, least_waves = 0;
  uint32_t order = 0;  // the number of the block, of all
  int thread = 0;  // the number in its block of that which runs
  const char* where = "";
  std::map<Count, std::shared_ptr<Used>> touched;  // of the allocations that are used, by where they begin

  // Who has used an allocation; pages of it that nobody asks for cost nothing.
  Used* users(Count first, Count end) {
    auto& kept = touched[first];
    if (!kept) kept.reset((Used*)calloc((end - first + 1) / 2, sizeof(Used)), free);
    return kept.get();
  }

  [[noreturn]] void fault(const std::string& what) { throw Fault{what}; }

  // atomic: 0, SUMS or COMMUTES
  char* in_shared(uint32_t at, uint32_t bytes, bool writes, uint16_t atomic = 0) {
    const auto text = [](uint64_t number) { return std::to_string(number); };
    if (at % bytes) fault("uses shared memory at " + text(at) + " as " + text(bytes) + " bytes, which is not aligned");
    if (at + bytes > shared.size() || at + bytes < at)
      fault("uses " + text(bytes) + " bytes at " + text(at) + " of " + text(shared.size()) + " bytes of shared memory");
    for (uint32_t i = at; i < at + bytes; ++i)
      if (const char* other = meets(used[i], 1, epoch, atomic ? COMMUTES : uint16_t(thread), writes))
        fault((writes ? "writes byte " : "reads byte ") + text(i) + " of shared memory, which " + other + " since the last barrier");
    return &shared[at];
  }
};

struct Range {
  Count first = 1, end = 0;
  Used* used = nullptr;  // of each two bytes
};

struct Constant {
  const void* at;
  size_t size;
};

// An address of global memory, looked up once for all that follow in the same allocation.
inline char* in_global(Block& b, Range& known, uint64_t at, uint32_t bytes, bool writes, uint16_t atomic,
                       const std::vector<Constant>& constants) {
  if (__builtin_expect(at < known.first || at + bytes > known.end || at + bytes < at, 0)) {
    const Range before = known;
    bool found = b.driver->find(at, &known.first, &known.end);
    known.used = found && !b.counting ? b.users(known.first, known.end) : nullptr;
    for (const Constant& c : constants)
      if (!found && at >= Count(c.at) && at < Count(c.at) + c.size) found = true, known = {Count(c.at), Count(c.at) + c.size, nullptr};
    if (!found || at + bytes > known.end) {
      char text[200];
      const Range near = found ? known : before;  // of what it used before, where it has left that
      if (near.first <= near.end && at + 4096 >= near.first && at <= near.end + 4096)
        snprintf(text, sizeof text, "uses %u bytes at byte %lld of an allocation of %llu", bytes, (long long)(at - near.first), near.end - near.first);
      else
        snprintf(text, sizeof text, "uses %u bytes at %#llx, where no memory is allocated", bytes, (Count)at);
      known = {};
      b.fault(text);
    }
  }
  if (at % bytes) b.fault("uses an address as " + std::to_string(bytes) + " bytes that is not aligned to them");
  if (known.used)
    for (uint64_t i = (at - known.first) / 2; i <= (at + bytes - 1 - known.first) / 2; ++i)
      if (const char* other = meets(known.used[i], b.order + 1, b.epoch, atomic ? atomic : uint16_t(b.thread), writes))
        b.fault((writes ? "writes byte " : "reads byte ") + std::to_string(2 * i) + " of an allocation of " +
                std::to_string(known.end - known.first) + ", which " + other);
  return (char*)at;
}

// Counts what a warp's access moves.
inline void count_global(Block& b, const Place& p, uint32_t bytes) {
  if (!p.mask) return;
  uint64_t seen[4 * WARP];
  int some = 0;
  for (uint32_t m = p.mask; m; m &= m - 1) {
    const uint64_t at = p.at[__builtin_ctz(m)];
    for (uint64_t sector = at / 32; sector <= (at + bytes - 1) / 32; ++sector) {
      bool known = false;
      for (int i = some - 1; i >= 0 && !known; --i) known = seen[i] == sector;
      if (!known) seen[some++] = sector;
    }
  }
  ++b.requests;
  b.sectors += some;
  b.asked += uint64_t(bytes) * __builtin_popcount(p.mask);
}

// Shared memory has 32 banks of 4 bytes: accesses of 8 bytes are made by half a warp at a time, of 16 by a quarter.
inline void count_shared(Block& b, const Place& p, uint32_t bytes) {
  if (!p.mask) return;
  const int together = bytes <= 4 ? WARP : bytes == 8 ? WARP / 2 : WARP / 4;
  for (int first = 0; first < WARP; first += together) {
    uint64_t words[WARP][WARP];
    int some[WARP] = {}, deepest = 0;
    for (int i = first; i < first + together; ++i)
      if (p.mask >> i & 1)
        for (uint64_t word = p.at[i] / 4; word <= (p.at[i] + bytes - 1) / 4; ++word) {
          const int bank = word % WARP;
          bool known = false;
          for (int j = 0; j < some[bank] && !known; ++j) known = words[bank][j] == word;
          if (!known) words[bank][some[bank]++] = word;
          if (some[bank] > deepest) deepest = some[bank];
        }
    b.waves += deepest;
    b.least_waves += deepest > 0;
  }
}

// Runs all blocks of a kernel. Threads are Thread, of which step(b, threads, keys, resume, basic block, mask) runs a basic block.
template <class Thread, class Step>
int run(Block& b, const char* kernel, size_t shared, const unsigned* grid, const unsigned* size, Step step) {
  const unsigned threads = size[0] * size[1] * size[2];
  const unsigned warps = (threads + WARP - 1) / WARP;
  memcpy(b.grid, grid, sizeof b.grid);
  memcpy(b.size, size, sizeof b.size);
  std::vector<Thread> all(warps * WARP);
  struct Keys {
    int key[WARP], resume[WARP];
  };
  std::vector<Keys> keys(warps);
  try {
    for (Count number = 0; number < Count(grid[0]) * grid[1] * grid[2]; ++number) {
      b.number[0] = number % grid[0], b.number[1] = number / grid[0] % grid[1], b.number[2] = number / grid[0] / grid[1];
      b.order = uint32_t(number);
      b.shared.assign(shared, char(0xFF));
      b.used.assign(shared, Used{});
      b.epoch = 1;
      for (unsigned w = 0; w < warps; ++w)
        for (unsigned i = 0; i < WARP; ++i) {
          keys[w].key[i] = w * WARP + i < threads ? 0 : NEVER;
          keys[w].resume[i] = -1;
        }
      for (bool more = true; more;) {
        more = false;
        for (unsigned w = 0; w < warps; ++w) {
          Keys& k = keys[w];
          for (;;) {
            int first = NEVER;
            for (int i = 0; i < WARP; ++i) first = k.key[i] < first ? k.key[i] : first;
            if (first == NEVER) break;
            uint32_t mask = 0;
            for (int i = 0; i < WARP; ++i) mask |= uint32_t(k.key[i] == first) << i;
            step(&all[w * WARP], w * WARP, k.key, k.resume, first, mask);
          }
          int at = -1;
          for (int i = 0; i < WARP; ++i) {
            if (k.resume[i] < 0) continue;
            if (at >= 0 && k.resume[i] != at) b.fault("has threads of a warp at two different barriers");
            at = k.resume[i];
            more = true;
          }
        }
        if (more) {
          ++b.epoch;
          for (Keys& k : keys)
            for (int i = 0; i < WARP; ++i)
              if (k.resume[i] >= 0) k.key[i] = k.resume[i], k.resume[i] = -1;
        }
      }
    }
  } catch (const Fault& fault) {
    char text[400];
    snprintf(text, sizeof text, "%s: thread %d of block %u, near %s, %s", kernel, b.thread, b.number[0], b.where, fault.what.c_str());
    b.driver->fail(text);
    return 1;
  }
  return 0;
}

}  // namespace simt
