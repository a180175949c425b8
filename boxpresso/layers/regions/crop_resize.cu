// crop_resize.cu: the sampler of CropAndResize, TensorFlow's crop_and_resize.
//
// One sample a bin: row p of n lies at c = begin (size - 1) + p (end - begin) (size - 1) / (n - 1), a single one in the middle between
// begin and end. It takes the pixels below and above c with the weights 1 - part and part, where part = c - the pixel below, or, with
// `nearest`, the one that c rounds to. Outside [0, size - 1] it takes nothing: there the top is `outside`.
#include "separable_lists.h"

// What a layer asks of samples.
struct CropGeometry {
  int nearest;
  Real outside;  // the value of what lies outside the image
};

// An axis of a box: where its first element lies, in parts of the image, and how far apart elements are, in pixels.
struct Side {
  Real begin, step;
  int size, nearest;
};

DEVICE Side side_of(const Real* box, int axis, bool some, const CropGeometry& asked, const ListGeometry& g) {
  const Real begin = box[axis], end = box[2 + axis];
  const int bins = axis ? g.pooled_width : g.pooled_height, size = !some ? 0 : axis ? g.width : g.height;
  if (bins <= 1) return {Real(0.5) * (begin + end), 0, size, asked.nearest};
  return {begin, (end - begin) * (size - 1) / (bins - 1), size, asked.nearest};
}

// The sampler: see separable_lists.h. At a pixel's centre, which takes that pixel alone, nothing changes as a sample moves.
template <class Take>
DEVICE void visit_pixels(const Side& side, int p, Take take) {
  const Real c = side.begin * (side.size - 1) + p * side.step;  // the order of the arithmetic is TensorFlow's
  if (!(c >= 0 && c <= side.size - 1)) return;
  const int pixel = int(side.nearest ? round(c) : floor(c));
  const Real part = side.nearest ? Real(0) : c - pixel;
  const auto change = [&](Real sign) { return part > 0 ? Change{sign, sign * p} : Change{0, 0}; };
  take(pixel, 1 - part, [&] { return change(-1); });
  if (part > 0) take(pixel + 1, part, [&] { return change(1); });
}

// Lists by bin; boxes: (K, 4), y1, x1, y2, x2; indices: the image of each.
KERNEL crop_resize_lists(int n, const Real* boxes, const Real* indices, int* head, Real* inverse, int* index, Real* weight, int changes,
                         CropGeometry asked, ListGeometry g) {
  BLOCK_LOOP(k, n) {
    const Real* box = boxes + 4 * (long long)k;
    bool some = true;
    for (int i = 0; i < 4; ++i) some &= abs(box[i]) <= REAL_MAX;
    const int image = some ? image_of(indices + k, 1, g.batch) : -1;
    list_region(k, image, Real(1), Lists{head, inverse, index, weight, changes}, g,
                [&](int axis) { return side_of(box, axis, image >= 0, asked, g); });
  }
}

// What lies outside the images, in a block for each box; top: (K, C, pooled_height, pooled_width).
KERNEL crop_resize_outside(int n, const int* head, const int* index, Store* top, CropGeometry asked, ListGeometry g) {
  const int height = g.pooled_height, width = g.pooled_width;
  BLOCK_LOOP(k, n) {
    const Axis y = axis_by_bin(k, 0, head, index, nullptr, g), x = axis_by_bin(k, 1, head, index, nullptr, g);
    Store* out = top + (long long)k * g.channels * height * width;
    const auto fill = [&](int bin, int bins, int step) {
      for (int c = 0; c < g.channels; ++c)
        for (int i = 0; i < bins; ++i) out[(long long)c * height * width + bin + i * step] = asked.outside;
    };
    THREAD_LOOP(ph, height) if (y.start[ph] == y.start[ph + 1]) fill(ph * width, width, 1);
    BARRIER();
    THREAD_LOOP(pw, width) if (x.start[pw] == x.start[pw + 1]) fill(pw, height, width);
    BARRIER();
  }
}

// The gradient of (y1, x1, y2, x2), from the sums of separable_moves(): see corners_from() in separable_lists.h. An axis starts at begin,
// and each of its steps is a share of end - begin; a single element lies in their middle.
KERNEL crop_resize_boxes(int n, const Real* parts, Store* diff, int count, ListGeometry g) {
  GRID_LOOP(k, n) {
    Real sum[4];
    sum_parts(k, parts, count, sum, g);
    for (int axis = 0; axis < 2; ++axis) {
      const int bins = axis ? g.pooled_width : g.pooled_height, last = (axis ? g.width : g.height) - 1;
      const Real end = bins > 1 ? sum[2 * axis + 1] / (bins - 1) : Real(0.5) * sum[2 * axis];
      diff[4 * (long long)k + axis] = (sum[2 * axis] - end) * last;
      diff[4 * (long long)k + 2 + axis] = end * last;
    }
  }
}
