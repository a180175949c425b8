// soften.cu: suppression that lowers the scores of boxes that overlap better ones: Soft-NMS, one box after another, and
// Matrix-NMS, all at once. Boxes are (xmin, ymin, xmax, ymax), a width being xmax - xmin + last.
#include "kernel.h"

constexpr int PARTS = 64;  // in which the best box is looked for
constexpr int NAIVE = 0, LINEAR = 1, GAUSSIAN = 2;

// Intersection over union; 0 for boxes that share nothing, or NaN.
DEVICE Real overlap_of(const Real* a, const Real* b, Real last) {
  const Real width = min(a[2], b[2]) - max(a[0], b[0]) + last, height = min(a[3], b[3]) - max(a[1], b[1]) + last;
  const Real area_a = (a[2] - a[0] + last) * (a[3] - a[1] + last), area_b = (b[2] - b[0] + last) * (b[3] - b[1] + last);
  const Real overlap = width * height / (area_a + area_b - width * height);
  return width > 0 && height > 0 && overlap >= 0 ? overlap : Real(0);
}

// Group g of boxes is boxes[start[g]] to boxes[start[g + 1]]. Again and again the best of those that are left is taken, the
// first of equals, and the scores of the others shrink by how much they overlap it; one that falls below `least` goes.
// order, taken: the boxes that stay and their scores then, in the order of taking; -1 after the last. left: the scores.
KERNEL soft_suppress(int n, const Real* boxes, const int* start, Real* left, int* order, Real* taken, Real last, Real threshold,
                     Real sigma, Real least, int method) {
  BLOCK_LOOP(g, n) {
    SHARED int best[PARTS];
    const int first = start[g], size = start[g + 1] - first;
    const Real* all = boxes + 4 * (long long)first;
    Real* score = left + first;
    THREAD_LOOP(k, size) order[first + k] = -1;
    BARRIER();
    for (int step = 0; step < size; ++step) {
      THREAD_LOOP(t, PARTS) {
        best[t] = -1;
        for (int k = t; k < size; k += PARTS)
          if (score[k] > -REAL_MAX && (best[t] < 0 || score[k] > score[best[t]])) best[t] = k;
      }
      BARRIER();
      THREAD_LOOP(t, 1) {
        for (int i = 1; i < PARTS; ++i) {
          const int k = best[i], top = best[0];
          if (k >= 0 && (top < 0 || score[k] > score[top] || (score[k] == score[top] && k < top))) best[0] = k;
        }
        if (best[0] >= 0) {
          order[first + step] = first + best[0];
          taken[first + step] = score[best[0]];
          score[best[0]] = -REAL_MAX;
        }
      }
      BARRIER();
      const int chosen = best[0];
      if (chosen < 0) break;
      THREAD_LOOP(k, size) {
        if (score[k] > -REAL_MAX) {
          const Real overlap = overlap_of(all + 4 * chosen, all + 4 * k, last);
          Real weight = 1;
          if (method == GAUSSIAN) weight = exp(-overlap * overlap / sigma);
          else if (overlap >= threshold) weight = method == LINEAR ? 1 - overlap : Real(0);
          const Real value = score[k] * weight;
          score[k] = value >= least ? value : -REAL_MAX;
        }
      }
      BARRIER();
    }
  }
}

// most[j]: how much box j overlaps a better one of its class, at most; boxes best first.
KERNEL most_overlaps(int n, const Real* boxes, const int* classes, Real* most, Real last) {
  GRID_LOOP(j, n) {
    Real value = 0;
    for (int i = 0; i < j; ++i)
      if (classes[i] == classes[j]) value = max(value, overlap_of(boxes + 4 * (long long)i, boxes + 4 * (long long)j, last));
    most[j] = value;
  }
}

// decay[j]: the smallest over the better boxes i of the class of f(overlap of i and j) / f(most[i]), at most 1.
KERNEL matrix_decay(int n, const Real* boxes, const int* classes, const Real* most, Real* decay, Real last, Real sigma,
                    int method) {
  GRID_LOOP(j, n) {
    Real value = 1;
    for (int i = 0; i < j; ++i) {
      if (classes[i] != classes[j]) continue;
      const Real overlap = overlap_of(boxes + 4 * (long long)i, boxes + 4 * (long long)j, last), of = most[i];
      if (method == GAUSSIAN) value = min(value, exp(sigma * (of * of - overlap * overlap)));
      else if (of < 1) value = min(value, (1 - overlap) / (1 - of));
    }
    decay[j] = value;
  }
}
