// deconvolution_last.cpp: Deconvolution with a filter for each channel, as upsampling has it, of channels-last arrays on the
// host, for a plan at TEST.
#include "../../device/epilogue.h"
#include "window.h"

// Along one axis, the taps that reach a pixel and their places: tap + i * stride at place - i for i in [first, end).
struct Span {
  int place, tap, first, end;
  // whole, rest: of the pixel's distance from the padding's edge, divided by the stride.
  Span(int whole, int rest, int stride, int kernel, int places)
      : place(whole), tap(rest), first(max(0, whole - places + 1)),
        end(rest < kernel ? min(whole + 1, (kernel - rest + stride - 1) / stride) : 0) {}
};

// image = activation(the places of the map spread under their taps + bias + other). weights: [tap][channel], each tap padded to
// 16 channels. geometry: the image is the top, the map the bottom; no dilation. n: images x rows of the image.
KERNEL deconvolve_last(int n, const Real* map, const Real* weights, const Real* bias, const Real* slopes, const Real* other,
                       Real* image, Geometry geometry, Layout l) {
  const Window g(geometry);
  const long long apart = (g.channels + 15) / 16 * 16;
  BLOCK_LOOP(block, n) {
    const int number = block / g.height, y = block % g.height + g.pad_h;
    const Span rows(y / g.stride_h, y % g.stride_h, g.stride_h, g.kernel_h, g.out_height);
    const long long place = (long long)(block % g.height) * g.width;
    const Epilogue e(l, bias, slopes, other ? other + (long long)number * l.other_step + place * l.other_pitch : nullptr);
    const Real* from = map + (long long)number * l.bottom_step;
    Real* to = image + (long long)number * l.top_step + place * l.top_pitch;
    for (int px = 0, whole = g.pad_w / g.stride_w, rest = g.pad_w % g.stride_w; px < g.width; ++px, to += l.top_pitch) {
      const Span columns(whole, rest, g.stride_w, g.kernel_w, g.out_width);
      for (int c = 0; c < g.channels; c += LANES) {
        const int count = g.channels - c;
        Vector sum = {};
        for (int i = rows.first; i < rows.end; ++i)
          for (int j = columns.first; j < columns.end; ++j) {
            const Real* at = from + ((long long)(rows.place - i) * g.out_width + columns.place - j) * l.bottom_pitch + c;
            const int tap = (rows.tap + i * g.stride_h) * g.kernel_w + columns.tap + j * g.stride_w;
            sum = fused(load(weights + tap * apart + c), count >= LANES ? load(at) : load_part(at, count), sum);
          }
        sum = e(sum, c, (long long)px * l.other_pitch, count);
        if (count >= LANES) store(to + c, sum);
        else store_part(to + c, sum, count);
      }
      if (++rest == g.stride_w) rest = 0, ++whole;
    }
  }
}
