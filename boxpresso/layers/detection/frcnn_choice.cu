// frcnn_choice.cu: FrcnnOutput's detections. A group is a class; its regions are listed by order.cu, the likeliest first, at
// start[class] and on; suppress.cu says which of them stay. Boxes are double.
#include "upright.h"

// `rows` regions of `columns` numbers, each with chances of `classes` classes and four offsets for each of `boxes` of these (2: those
// of the last hold for all). An offset is its number * std + mean. At most `most` regions of a class are listed, and `all` rows written.
struct Regions {
  int rows, columns, classes, boxes, most, all;
  double mean[4], std[4];
};

// values (classes, room): the chances (rows, classes) from `sure` on, NaN elsewhere and of the background.
KERNEL frcnn_values(int n, const Real* chances, Real* values, Regions of, int room, Real sure) {
  GRID_LOOP(i, n) {
    const int label = i / of.rows, row = i - label * of.rows;
    const Real chance = chances[(long long)row * of.classes + label];
    values[(long long)label * room + row] = label && chance >= sure ? chance : Real(NAN);
  }
}

// The boxes of all that are listed: the regions, moved by offsets (rows, 4 boxes), cut at the image of size[0] x size[1] pixels.
KERNEL frcnn_boxes(int n, const Real* regions, const Real* offsets, const Real* size, const int* order, const int* start, double* boxes,
                   Regions of) {
  GRID_LOOP(i, n) {
    const int label = i / of.most, at = start[label] + i - label * of.most;
    if (at >= start[label + 1]) continue;
    const Real* region = regions + (long long)order[at] * of.columns + 1;
    const Real* by = offsets + 4 * ((long long)order[at] * of.boxes + min(label, of.boxes - 1));
    double* box = boxes + 4ll * at;
    for (int k = 0; k < 2; ++k) {
      const double extent = double(region[k + 2]) - region[k] + 1, middle = (double(region[k + 2]) + region[k]) / 2;
      const double grown = extent * exp(by[k + 2] * of.std[k + 2] + of.mean[k + 2]);
      const double first = (by[k] * of.std[k] + of.mean[k]) * extent + middle - (grown - 1) / 2;
      box[k] = higher(first, 0.0);
      box[k + 2] = lower(first + grown - 1, double(size[1 - k]));
    }
  }
}

// Whether a region is of another image than the first: to foreign[0]. By one block.
KERNEL frcnn_foreign(int n, const Real* regions, int* foreign, Regions of) {
  SHARED int seen;
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(one, 1) seen = 0;
    BARRIER();
    THREAD_LOOP(i, of.rows) if (regions[(long long)i * of.columns] != 0) raise_to(&seen, 1);
    BARRIER();
    THREAD_LOOP(one, 1) foreign[0] = seen;
    BARRIER();
  }
}

// The rows (0, xmin, ymin, xmax, ymax, label, score): one that is no detection, then from out[label] on those that stay. Behind 1 + `all`
// rows lies how many detections there are, and whether a region is foreign.
KERNEL frcnn_rows(int n, const Real* best, const double* boxes, const int* kept, const int* start, const int* out, const int* foreign,
                  Real* rows, Regions of) {
  GRID_LOOP(i, n) {
    if (i == 0) {
      rows[7ll * (1 + of.all)] = out[of.classes];
      rows[7ll * (1 + of.all) + 1] = foreign[0];
      for (int k = 0; k < 7; ++k) rows[k] = k ? Real(-1) : Real(0);
    }
    const int label = i / of.most, k = i - label * of.most;
    if (k >= out[label + 1] - out[label]) continue;
    const int from = kept[start[label] + k];
    Real* row = rows + 7ll * (1 + out[label] + k);
    row[0] = 0;
    for (int c = 0; c < 4; ++c) row[1 + c] = Real(boxes[4ll * from + c]);
    row[5] = label;
    row[6] = best[from];
  }
}
