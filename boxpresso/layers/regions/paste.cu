// paste.cu: the masks of objects, each resized to its box in an image (Mask R-CNN).
#include "kernel.h"

struct PasteGeometry {
  int mask_height, mask_width, height, width, whole;  // whole: boxes in whole pixels, as torchvision has them
};

// A pixel of an axis of a mask: the ones below and above, of which one outside (-1) is 0, and the part of the upper one.
struct Place {
  int low, high;
  Real part;
};

// Pixel `at` of an image for a mask of `size` pixels in a box from begin to end.
DEVICE Place smooth(int at, Real begin, Real end, int size) {
  const Real c = (at + Real(0.5) - begin) / (end - begin) * size - Real(0.5);
  if (!(c > -1 && c < size && end > begin && end - begin <= REAL_MAX)) return {-1, -1, Real(0)};
  const int low = int(floor(c));
  return {low, low + 1 < size ? low + 1 : -1, c - low};
}

// The same where the mask is widened by a pixel of 0 on each side and the box with it, and cut to whole pixels.
DEVICE Place in_pixels(int at, Real begin, Real end, int size) {
  const Real half = (end - begin) * Real(0.5) * ((size + Real(2)) / size), middle = (end + begin) * Real(0.5);
  const Real from = middle - half, to = middle + half;
  if (!(abs(from) < Real(1e9) && abs(to) < Real(1e9))) return {-1, -1, Real(0)};
  const int first = int(from), last = int(to), count = last - first + 1;
  if (at < first || at > last) return {-1, -1, Real(0)};
  const Real c = max((at - first + Real(0.5)) * (Real(size + 2) / count) - Real(0.5), Real(0));
  const int low = min(int(c), size + 1), high = min(low + 1, size + 1);
  return {low >= 1 && low <= size ? low - 1 : -1, high >= 1 && high <= size ? high - 1 : -1, c - low};
}

// A block for each row of each result. masks (N, mask_height, mask_width), boxes (N, 4): x1, y1, x2, y2; out (N, height, width).
KERNEL paste(int n, const Store* masks, const Real* boxes, Store* out, PasteGeometry g) {
  BLOCK_LOOP(b, n) {
    const int k = b / g.height, row = b - k * g.height;
    const Real* box = boxes + 4 * (long long)k;
    const Store* mask = masks + (long long)k * g.mask_height * g.mask_width;
    const auto place = [&](int at, int axis, int size) {
      return g.whole ? in_pixels(at, box[axis], box[axis + 2], size) : smooth(at, box[axis], box[axis + 2], size);
    };
    const Place y = place(row, 1, g.mask_height);
    const auto value = [&](int i, int j) { return i < 0 || j < 0 ? Real(0) : Real(mask[i * g.mask_width + j]); };
    if (y.low < 0 && y.high < 0) {  // most rows, of most masks
      THREAD_LOOP(column, g.width) out[(long long)b * g.width + column] = Real(0);
      continue;
    }
    THREAD_LOOP(column, g.width) {
      const Place x = place(column, 0, g.mask_width);
      out[(long long)b * g.width + column] = x.low < 0 && x.high < 0 ? Real(0) :
          (1 - y.part) * ((1 - x.part) * value(y.low, x.low) + x.part * value(y.low, x.high)) +
          y.part * ((1 - x.part) * value(y.high, x.low) + x.part * value(y.high, x.high));
    }
  }
}
