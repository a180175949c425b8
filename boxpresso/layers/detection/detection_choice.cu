// detection_choice.cu: DetectionOutput's choice on the device. A group is an image and a label, labels fastest; its candidates are
// listed by order.cu, best first, at start[group] and on; suppress.cu says which of them stay.
#include "boxes.h"

// batch images with `priors` boxes each, of `labels` labels, of which `background` (-1: none) is not looked for; locations of `size`
// numbers, 12 with polygons, for each of loc_labels (1: shared by the labels). A group has `most` candidates at most, and all
// together `rows` rows. clip: cuts boxes to the image, 0 to 1. states: scores of a box that are handed on, none with polygons.
struct Heads {
  int batch, priors, labels, background, loc_labels, size, most, rows, clip, states;
};

// values (batch, labels, room >= priors): the scores (batch, priors, labels) above the threshold, NaN elsewhere. objectness (batch, priors,
// 2), or null: scores of priors with less than `least` are 0.
KERNEL detection_values(int n, const Real* scores, const Real* objectness, Real* values, Heads of, int room, Real threshold,
                        Real least) {
  GRID_LOOP(i, n) {
    const int group = i / of.priors, prior = i - group * of.priors;
    const int image = group / of.labels, label = group - image * of.labels, place = image * of.priors + prior;
    const Real score = objectness && objectness[2 * place + 1] < least ? Real(0) : scores[(long long)place * of.labels + label];
    values[(long long)group * room + prior] = label != of.background && score > threshold ? score : Real(NAN);
  }
}

// Where the locations begin that say the box of a prior of a group.
DEVICE long long location_of(Heads of, int group, int prior) {
  const int image = group / of.labels, label = group - image * of.labels;
  const long long place = (long long)image * of.priors + prior;
  return of.size * (place * of.loc_labels + (of.loc_labels == 1 ? 0 : label));
}

// The boxes of all candidates. first (batch, priors, 4), or null: locations that refine the priors.
KERNEL detection_boxes(int n, const Real* priors, const Real* variances, const Real* locations, const Real* first,
                       const int* order, const int* start, Real* boxes, Heads of, Coding how) {
  GRID_LOOP(i, n) {
    const int group = i / of.most, at = start[group] + i - group * of.most;
    if (at >= start[group + 1]) continue;
    const int prior = order[at], image = group / of.labels;
    const Real *plain = priors + 4 * prior, *variance = variances + 4 * prior;
    Real anchor[4], box[4];
    for (int k = 0; k < 4; ++k) anchor[k] = plain[k];
    if (first) decode(how, plain, variance, first + 4 * ((long long)image * of.priors + prior), anchor);
    decode(how, anchor, variance, locations + location_of(of, group, prior), box);
    for (int k = 0; k < 4; ++k) boxes[4 * at + k] = of.clip ? clipped(box[k]) : box[k];
  }
}

// The rows (image, label, score, the states, xmin, ymin, xmax, ymax), with locations of 12 numbers and four corners, from out[group]
// on; where there are none, a row of -1 for each image. Behind `rows` rows lies how many detections there are. priors: with the
// variances behind them. states (batch, priors, of.states), or null.
KERNEL detection_rows(int n, const Real* best, const Real* boxes, const int* order, const int* kept, const int* start,
                      const int* out, Real* rows, const Real* locations, const Real* priors, const Real* states, Heads of) {
  GRID_LOOP(i, n) {
    const int total = out[of.batch * of.labels], columns = (of.size == 4 ? 7 : 15) + of.states;
    if (i == 0) rows[(long long)of.rows * columns] = total;
    if (total == 0) {
      for (int k = 0; k < columns && i < of.batch; ++k) rows[i * columns + k] = k ? Real(-1) : Real(i);
      continue;
    }
    const int group = i / of.most, k = i - group * of.most;
    if (k >= out[group + 1] - out[group]) continue;
    const int from = kept[start[group] + k], image = group / of.labels;
    Real* row = rows + (long long)(out[group] + k) * columns;
    row[0] = image;
    row[1] = group - image * of.labels;
    row[2] = best[from];
    const long long place = (long long)image * of.priors + order[from];
    for (int c = 0; c < of.states; ++c) row[3 + c] = states[place * of.states + c];
    for (int c = 0; c < 4; ++c) row[3 + of.states + c] = boxes[4 * from + c];
    if (of.size == 4) continue;
    const Real *prior = priors + 4 * order[from], *variance = prior + 4 * of.priors;
    const Real* corners = locations + location_of(of, group, order[from]) + 4;
    const Real size[2] = {prior[2] - prior[0], prior[3] - prior[1]};
    for (int c = 0; c < 8; ++c) {  // clockwise from the top left
      const bool far = c % 2 ? c >= 4 : c == 2 || c == 4;
      row[7 + c] = variance[c % 2] * corners[c] * size[c % 2] + prior[c % 2 + (far ? 2 : 0)];
    }
  }
}
