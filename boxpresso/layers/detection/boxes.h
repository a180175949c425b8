// boxes.h: boxes (xmin, ymin, xmax, ymax), how much two overlap, and how SSD writes one box relative to another (its prior).
#pragma once
#include "kernel.h"

enum Code { CORNER = 1, CENTER_SIZE = 2, CORNER_SIZE = 3 };  // PriorBoxParameter.CodeType

// How a box is written relative to a prior: code is a Code; in_target: the network has learned the variances itself.
struct Coding {
  int code, in_target;
};

// Nothing for a box whose end comes before its start.
DEVICE Real area(const Real* box) {
  return box[2] < box[0] || box[3] < box[1] ? Real(0) : (box[2] - box[0]) * (box[3] - box[1]);
}

// Intersection over union, from 0 to 1; boxes that only touch have none.
DEVICE Real overlap(const Real* a, const Real* b) {
  const Real width = min(a[2], b[2]) - max(a[0], b[0]), height = min(a[3], b[3]) - max(a[1], b[1]);
  const Real shared = width * height;
  return width > 0 && height > 0 ? shared / (area(a) + area(b) - shared) : Real(0);
}

// From 0 to 1; NaN stays.
DEVICE Real clipped(Real x) { return x < 0 ? Real(0) : x > 1 ? Real(1) : x; }

// What a prediction says: the box at `offset` from `prior`.
DEVICE void decode(Coding how, const Real* prior, const Real* variance, const Real* offset, Real* box) {
  Real moved[4];
  for (int k = 0; k < 4; ++k) moved[k] = how.in_target ? offset[k] : variance[k] * offset[k];
  const Real width = prior[2] - prior[0], height = prior[3] - prior[1];
  if (how.code == CENTER_SIZE) {
    const Real x = moved[0] * width + (prior[0] + prior[2]) / 2, y = moved[1] * height + (prior[1] + prior[3]) / 2;
    const Real half_width = exp(moved[2]) * width / 2, half_height = exp(moved[3]) * height / 2;
    box[0] = x - half_width;
    box[1] = y - half_height;
    box[2] = x + half_width;
    box[3] = y + half_height;
  } else {
    const Real unit[2] = {how.code == CORNER ? Real(1) : width, how.code == CORNER ? Real(1) : height};
    for (int k = 0; k < 4; ++k) box[k] = prior[k] + moved[k] * unit[k % 2];
  }
}

// The offset at which a perfect prediction would lie: decode the other way, divided by the variance unless in_target.
DEVICE void encode(Coding how, const Real* prior, const Real* variance, const Real* box, Real* offset) {
  const Real width = prior[2] - prior[0], height = prior[3] - prior[1];
  if (how.code == CENTER_SIZE) {
    offset[0] = ((box[0] + box[2]) / 2 - (prior[0] + prior[2]) / 2) / width;
    offset[1] = ((box[1] + box[3]) / 2 - (prior[1] + prior[3]) / 2) / height;
    offset[2] = log((box[2] - box[0]) / width);
    offset[3] = log((box[3] - box[1]) / height);
  } else {
    const Real unit[2] = {how.code == CORNER ? Real(1) : width, how.code == CORNER ? Real(1) : height};
    for (int k = 0; k < 4; ++k) offset[k] = (box[k] - prior[k]) / unit[k % 2];
  }
  if (!how.in_target)
    for (int k = 0; k < 4; ++k) offset[k] /= variance[k];
}
