// geometry.h: the sizes of a convolution of two axes on the host. An "image" is the larger side, a "map" the one with a place for
// each window.
#pragma once
#include "gemm.h"

// What Python fills in, for two axes: one axis is two of which the first is 1.
struct Geometry {
  int channels, maps, group;  // channels of the image and of the map
  int height, width, out_height, out_width;
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};

struct Window : Geometry {
  explicit Window(const Geometry& geometry) : Geometry(geometry) {}
  int pixels() const { return height * width; }
  int places() const { return out_height * out_width; }
  int taps() const { return kernel_h * kernel_w; }
  int group_channels() const { return channels / group; }
  int group_maps() const { return maps / group; }
  bool plain() const {  // the columns are the image itself
    return taps() == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0;
  }
};
