// bias_channel.cu: scores of the channels that labels name, raised.
#include "first.h"

// What labels say: of each pixel, or `labels` of each image.
struct Raised {
  int channels, size, labels, ignored, of_pixels, has_background, background;
};

DEVICE bool is_left_out(Real label, const int* ignored, int count) {
  if (!(label > -2147483648.0 && label < 2147483648.0)) return false;  // NaN is not
  const int value = int(label);
  for (int k = 0; k < count; ++k)
    if (ignored[k] == value) return true;
  return false;
}

// By what a channel is raised at a place of an image.
DEVICE Real raised_by(const Real* label, const int* ignored, Raised rule, Real bg, Real fg, int image, int channel, int place) {
  if (rule.of_pixels) {
    const Real own = label[image * rule.size + place];
    if (is_left_out(own, ignored, rule.ignored)) return 0;
    const bool named = own > -1 && own < rule.channels && int(own) == channel;
    if (!rule.has_background) return named ? fg : Real(0);
    return channel == rule.background ? bg : named ? fg : Real(0);
  }
  Real sum = 0;
  for (int k = 0; k < rule.labels; ++k) {
    const Real own = label[image * rule.labels + k];
    const bool named = own > -1 && own < rule.channels && int(own) == channel;
    if (named && !is_left_out(own, ignored, rule.ignored)) sum += channel == 0 ? bg : fg;
  }
  return sum;
}

KERNEL raise_channels(int n, const Real* bottom, const Real* label, const int* ignored, Real* top, Raised rule, Real bg, Real fg) {
  GRID_LOOP(i, n) {
    const int place = i % rule.size, channel = i / rule.size % rule.channels, image = i / rule.size / rule.channels;
    top[i] = bottom[i] + raised_by(label, ignored, rule, bg, fg, image, channel, place);
  }
}

// A label is a channel, or left out.
KERNEL tell_label(int n, const Real* label, const int* ignored, double* record, int items, Raised rule, int mark) {
  BLOCK_LOOP(b, n) {
    SHARED int first[1];
    tell_first(
        first, record, mark, items, rule.channels,
        [=](int i) { return !(label[i] > -1 && label[i] < rule.channels) && !is_left_out(label[i], ignored, rule.ignored); },
        [=](int i) { return label[i]; });
  }
}
