// turn_last.cpp: images between Caffe's layout, a plane a channel, and channels last, on the host.
#include "columns.h"
#include "epilogue.h"

constexpr int CHUNK = 512;  // places that a block turns

// n: images x chunks of CHUNK places. Of the layout the pitch and step of the side that is channels-last, and the other's step.
KERNEL to_last(int n, const Real* planes, Real* last, Layout layout, int channels, int places) {
  const int chunks = (places + CHUNK - 1) / CHUNK;
  BLOCK_LOOP(block, n) {
    const int number = block / chunks, p0 = block % chunks * CHUNK, count = min(CHUNK, places - p0);
    const Real* from = planes + (long long)number * layout.bottom_step + p0;
    Real* to = last + (long long)number * layout.top_step + (long long)p0 * layout.top_pitch;
    if (turn_squares(from, (long long)places, to, (long long)layout.top_pitch, channels, count, false)) continue;
    if (channels == 3) {
      for (int p = 0; p < count; ++p, to += layout.top_pitch) to[0] = from[p], to[1] = from[places + p], to[2] = from[2 * places + p];
      continue;
    }
    for (int c = 0; c < channels; ++c)
      for (int p = 0; p < count; ++p) to[(long long)p * layout.top_pitch + c] = from[(long long)c * places + p];
  }
}

KERNEL to_planes(int n, const Real* last, Real* planes, Layout layout, int channels, int places) {
  const int chunks = (places + CHUNK - 1) / CHUNK;
  BLOCK_LOOP(block, n) {
    const int number = block / chunks, p0 = block % chunks * CHUNK, count = min(CHUNK, places - p0);
    const Real* from = last + (long long)number * layout.bottom_step + (long long)p0 * layout.bottom_pitch;
    Real* to = planes + (long long)number * layout.top_step + p0;
    if (turn_squares(from, (long long)layout.bottom_pitch, to, (long long)places, count, channels, false)) continue;
    for (int c = 0; c < channels; ++c)
      for (int p = 0; p < count; ++p) to[(long long)c * places + p] = from[(long long)p * layout.bottom_pitch + c];
  }
}
