// yolo_choice.cu: YOLO's detections on the device. The scores of an image are one group of order.cu, which lists the best at
// start[image] and on; suppress.cu says which of them stay.
#include "kernel.h"

// A map (images, boxes * (5 + classes), height, width), whose places are those of an image from `first` on, of `places` in all; anchors
// have `scale` units for each of its pixels. `exclusive`: the classes of a box exclude each other, so that it has one score.
struct Map {
  int boxes, classes, height, width, first, places, exclusive;
  double scale;
};

DEVICE Real logistic(Real x) { return 1 / (1 + exp(-x)); }

// The box (xmin, ymin, xmax, ymax) at each place of a map, by row, column and box, and its scores: where they are detections to values
// (images, room), else NaN; one for each class, or where classes exclude each other that of the likeliest, whose label goes to `labels`
// (images, places). anchors: (width, height) of each box. n counts images, boxes, rows and columns.
KERNEL yolo_places(int n, const Real* map, const Real* anchors, Real* boxes, Real* values, int* labels, Map of, int room,
                   Real threshold) {
  GRID_LOOP(i, n) {
    const int plane = of.height * of.width, at = i % plane, whole = i / plane, box = whole % of.boxes, image = whole / of.boxes;
    const int place = of.first + at * of.boxes + box;
    const Real* mine = map + (5ll + of.classes) * whole * plane + at;
    const Real cells[2] = {Real(of.width), Real(of.height)}, column[2] = {Real(at % of.width), Real(at / of.width)};
    Real* to = boxes + 4 * ((long long)image * of.places + place);
    for (int k = 0; k < 2; ++k) {
      const Real centre = (column[k] + logistic(mine[k * plane])) / cells[k];
      const Real half = exp(mine[(k + 2ll) * plane]) * anchors[2 * box + k] / (cells[k] * Real(of.scale)) / 2;
      to[k] = centre - half;
      to[k + 2] = centre + half;
    }
    const Real sure = logistic(mine[4ll * plane]);
    const Real* chances = mine + 5ll * plane;
    Real* own = values + (long long)image * room;
    if (!of.exclusive) {
      for (int c = 0; c < of.classes; ++c) {
        const Real score = sure * logistic(chances[(long long)c * plane]);
        own[place * of.classes + c] = score > threshold ? score : Real(NAN);
      }
      continue;
    }
    Real most = chances[0], sum = 0, best = -1;
    for (int c = 1; c < of.classes; ++c) {  // NaN stays
      const Real chance = chances[(long long)c * plane];
      if (chance > most || chance != chance) most = chance;
    }
    for (int c = 0; c < of.classes; ++c) sum += exp(chances[(long long)c * plane] - most);
    int label = 0;
    for (int c = 0; c < of.classes; ++c) {
      const Real score = sure * exp(chances[(long long)c * plane] - most) / sum;
      if (score > best || score != score) {
        best = score;
        label = c;
      }
    }
    own[place] = best >= threshold ? best : Real(NAN);
    labels[(long long)image * of.places + place] = label;
  }
}

struct Rows {
  int images, places, most, classes;  // as above; classes is 1 where a place has one score, whose label is in labels (images, places)
};

// The rows (image, label from 1, score, xmin, ymin, xmax, ymax) of those that stay, from out[image] on; where there are none, a row of -1
// for each image. Behind images * most rows lies how many detections there are, and whether an image has more scores than are listed.
KERNEL yolo_rows(int n, const Real* best, const Real* listed, const int* order, const int* kept, const int* start, const int* out,
                 const int* sums, const int* labels, Real* rows, Rows of) {
  GRID_LOOP(i, n) {
    const int total = out[of.images];
    if (i == 0) {
      int more = 0;
      for (int k = 0; k < of.images; ++k) more |= sums[k] > of.most;
      rows[7ll * of.images * of.most] = total;
      rows[7ll * of.images * of.most + 1] = more;
    }
    if (total == 0) {
      for (int k = 0; k < 7 && i < of.images; ++k) rows[7 * i + k] = k ? Real(-1) : Real(i);
      continue;
    }
    const int image = i / of.most, k = i - image * of.most;
    if (k >= out[image + 1] - out[image]) continue;
    const int from = kept[start[image] + k], item = order[from];
    Real* row = rows + 7ll * (out[image] + k);
    row[0] = image;
    row[1] = 1 + (labels ? labels[image * of.places + item] : item % of.classes);
    row[2] = best[from];
    for (int c = 0; c < 4; ++c) row[3 + c] = listed[4ll * from + c];
  }
}
