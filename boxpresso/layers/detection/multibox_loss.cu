// multibox_loss.cu: the losses of locations and scores over the priors that matching and mining have chosen.
#include "boxes.h"
#include "sum.h"

// boxes (N, P, L, 4): what the locations of all priors say.
KERNEL multibox_decode(int n, const Real* locations, const Real* priors, const Real* variances, Real* boxes, int count,
                       int classes, Coding how) {
  GRID_LOOP(i, n) {
    const int prior = i / classes % count;
    decode(how, priors + 4 * prior, variances + 4 * prior, locations + 4 * i, boxes + 4 * i);
  }
}

// Match i, places[i] = (at, box, prior): the location `at`, relative to priors[box] with the variances of `prior`, against
// the box truth[i]. inside: 1, or 0 for a coordinate that does not count. residual (n, 4): prediction minus target, in units of the variance.
KERNEL multibox_location(int n, const Real* locations, const int* places, const Real* priors, const Real* variances,
                         const Real* truth, const int* inside, Real* residual, Real* loss, Coding how, int smooth) {
  GRID_LOOP(i, n) {
    const int at = places[3 * i], box = places[3 * i + 1];
    const Real* variance = variances + 4 * places[3 * i + 2];
    Real target[4], sum = 0;
    encode(how, priors + 4 * box, variance, truth + 4 * i, target);
    for (int k = 0; k < 4; ++k) {
      Real r = inside[4 * i + k] ? locations[4 * at + k] - target[k] : Real(0);
      if (how.in_target) r /= variance[k];
      residual[4 * i + k] = r;
      sum += smooth && abs(r) >= 1 ? abs(r) - Real(0.5) : Real(0.5) * r * r;
    }
    loss[i] = sum;
  }
}

// Not divided by the variance when in_target: as Caffe.
KERNEL multibox_location_backward(int n, const Real* residual, const int* at, const Real* top_diff, Real* bottom_diff,
                                  Real scale, int smooth) {
  GRID_LOOP(i, n)
    for (int k = 0; k < 4; ++k) {
      const Real r = residual[4 * i + k];
      bottom_diff[4 * at[i] + k] = scale * top_diff[0] * (smooth ? min(max(r, Real(-1)), Real(1)) : r);
    }
}

// The largest score of a row and the sum of exp(score - largest).
DEVICE Real softmax_of(const Real* scores, int classes, Real* largest) {
  Real most = scores[0], sum = 0;
  for (int c = 1; c < classes; ++c) most = max(most, scores[c]);
  for (int c = 0; c < classes; ++c) sum += exp(scores[c] - most);
  *largest = most;
  return sum;
}

// Row i against label[i]; a row of label -1 does not take part.
// weights: of each label, or none.
KERNEL multibox_softmax(int n, const Real* scores, const int* label, const Real* weights, Real* loss, int classes) {
  GRID_LOOP(i, n) {
    loss[i] = 0;
    if (label[i] < 0) continue;
    Real most;
    const Real sum = softmax_of(scores + i * classes, classes, &most);
    const Real part = exp(scores[i * classes + label[i]] - most) / sum;
    loss[i] = -log(max(part, Real(1.17549435e-38))) * (weights ? weights[label[i]] : Real(1));
  }
}

KERNEL multibox_softmax_backward(int n, const Real* scores, const int* label, const Real* weights, const Real* top_diff,
                                 Real* bottom_diff, int classes, Real scale) {
  GRID_LOOP(i, n) {
    const Real* row = scores + i * classes;
    Real* diff = bottom_diff + i * classes;
    const Real factor = label[i] < 0 ? Real(0) : scale * top_diff[0] * (weights ? weights[label[i]] : Real(1));
    Real most, sum = 1;
    if (label[i] >= 0) sum = softmax_of(row, classes, &most);
    for (int c = 0; c < classes; ++c)
      diff[c] = label[i] < 0 ? Real(0) : factor * (exp(row[c] - most) / sum - Real(c == label[i]));
  }
}

// Each score against its target, 0 or 1; a row whose label is -1 does not take part.
KERNEL multibox_logistic(int n, const Real* scores, const int* label, const Real* target, Real* loss, int classes) {
  GRID_LOOP(i, n) {
    Real sum = 0;
    for (int j = i * classes; label[i] >= 0 && j < (i + 1) * classes; ++j) {
      const Real x = scores[j];
      sum += log(1 + exp(-abs(x))) + max(x, Real(0)) - x * target[j];
    }
    loss[i] = sum;
  }
}

KERNEL multibox_logistic_backward(int n, const Real* scores, const int* label, const Real* target, const Real* top_diff,
                                  Real* bottom_diff, int classes, Real scale) {
  GRID_LOOP(i, n) {
    for (int j = i * classes; j < (i + 1) * classes; ++j)
      bottom_diff[j] = label[i] < 0 ? Real(0) : scale * top_diff[0] * (1 / (1 + exp(-scores[j])) - target[j]);
  }
}

KERNEL multibox_total(int n, const Real* location_loss, int matches, Real location_scale, const Real* score_loss, int rows,
                      Real score_scale, Real* top) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double locations = block_sum(part, matches, [&](int i) { return location_loss[i]; });
    const double scores = block_sum(part, rows, [&](int i) { return score_loss[i]; });
    THREAD_LOOP(t, 1) top[b] = Real(location_scale * locations + score_scale * scores);
  }
}
