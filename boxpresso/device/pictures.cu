// pictures.cu: bytes of pictures as the numbers that a net takes.
#include "kernel.h"

struct Pictures {
  int channels, height, width, last, reversed;  // last: the channels lie last; reversed: in the other order
  float scale;
};

// Four bytes at a time lie in a word, the first in its lowest bits. n: numbers of y, (N, C, H, W); means: of the channels of y.
KERNEL pictures(int n, const unsigned* words, const Real* means, Real* y, Pictures p) {
  GRID_LOOP(i, n) {
    const int places = p.height * p.width, plane = i / places, place = i - plane * places;
    const int image = plane / p.channels, channel = plane - image * p.channels;
    const int source = p.reversed ? p.channels - 1 - channel : channel;
    const int at = p.last ? (image * places + place) * p.channels + source : (image * p.channels + source) * places + place;
    const unsigned value = words[at / 4] >> 8 * (at % 4) & 255;
    y[i] = (Real(value) - (means ? means[channel] : Real(0))) * Real(p.scale);
  }
}
