// ctc_loss.cu: the cost of a sequence of labels without their places, and its gradient, in logarithms of double precision.
#include "loss.h"

constexpr double NEVER = -1e300;  // the logarithm of a probability of 0

struct Ctc {
  int steps, batch, classes, most, blank;  // most: labels that a sequence may have
  int timed;  // whether labels are (steps, batch) and end at the first that is negative, in place of (batch, most)
  int divisor;  // of the gradient
};

DEVICE double log_add(double a, double b) {
  const double top = max(a, b), low = min(a, b);
  return low <= NEVER ? top : top + log(1 + exp(low - top));
}

// What place u of a sequence stands for: blanks at even places, label u / 2 between them.
DEVICE int at_place(const int* word, int u, int blank) { return u % 2 ? word[u / 2] : blank; }

// Whether a path may go from place u - 2 to place u: not over the blank between two equal labels.
DEVICE bool skips(const int* word, int u) { return u % 2 && u > 1 && word[u / 2] != word[u / 2 - 1]; }

// words: (batch, most), labels without blanks; lengths: (batch, 2), how many, and the steps; -1 labels where one is none of
// the classes.
KERNEL ctc_words(int n, const Real* label, const Real* running, int* words, int* lengths, Ctc c) {
  GRID_LOOP(k, n) {
    int count = 0, steps = c.steps;
    bool wrong = false, ended = false;
    for (int i = 0; i < c.most; ++i) {
      const Real at = label[c.timed ? i * c.batch + k : k * c.most + i];
      const int one = c.timed ? truth_of(at + Real(0.5)) : truth_of(at);
      ended = ended || (c.timed && !(at >= 0 && one < c.classes - 1));
      wrong = wrong || (!c.timed && state_of(at, c.classes, 0, 0) != COUNTS);
      if (!ended && !wrong && (c.timed || one != c.blank)) words[k * c.most + count++] = one;
    }
    for (int t = c.steps - 1; c.timed && t > 0; --t)
      if (!(running[t * c.batch + k] >= Real(0.5))) steps = t;
    lengths[2 * k] = wrong ? -1 : count;
    lengths[2 * k + 1] = steps;
  }
}

// logs[t, k]: the logarithm of the softmax of a row. n: rows.
KERNEL ctc_logs(int n, const Real* x, double* logs, int classes) {
  GRID_LOOP(row, n) {
    const Real* from = x + row * classes;
    double most = from[0], sum = 0;
    for (int i = 1; i < classes; ++i) most = max(most, double(from[i]));
    for (int i = 0; i < classes; ++i) sum += exp(from[i] - most);
    for (int i = 0; i < classes; ++i) logs[row * classes + i] = from[i] - most - log(sum);
  }
}

// ahead[k, t, u]: the logarithm of the probability of all paths that are at place u at step t.
KERNEL ctc_costs(int n, const double* logs, const int* words, const int* lengths, double* ahead, double* costs, Ctc c) {
  GRID_LOOP(k, n) {
    const int* word = words + k * c.most;
    const int places = 2 * max(lengths[2 * k], 0) + 1, steps = lengths[2 * k + 1];
    const int wide = 2 * c.most + 1;
    double* row = ahead + k * c.steps * wide;
    for (int t = 0; t < steps; ++t, row += wide)
      for (int u = 0; u < places; ++u) {
        double sum = t == 0 && u < 2 ? 0 : NEVER;
        if (t > 0) {
          sum = row[u - wide];
          if (u > 0) sum = log_add(sum, row[u - 1 - wide]);
          if (skips(word, u)) sum = log_add(sum, row[u - 2 - wide]);
        }
        row[u] = sum <= NEVER ? NEVER : sum + logs[(t * c.batch + k) * c.classes + at_place(word, u, c.blank)];
      }
    row -= wide;
    costs[k] = -(places > 1 ? log_add(row[places - 1], row[places - 2]) : row[0]);
  }
}

KERNEL ctc_losses(int n, const double* costs, const int* lengths, double* partial, int items, int finite) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items,
        [=](int i) { return lengths[2 * i] < 0 ? WRONG : finite && !(costs[i] < -NEVER) ? IGNORED : COUNTS; },
        [=](int i) { return costs[i] < -NEVER ? costs[i] : double(INFINITY); });
}

// behind: (batch, 2, places), of this step and the one after it: the logarithm of the probability of the rest of a path.
KERNEL ctc_diffs(int n, const double* logs, const int* words, const int* lengths, const double* ahead, const double* costs,
                 double* behind, const Real* top_diff, Real* bottom_diff, Ctc c) {
  GRID_LOOP(k, n) {
    const int* word = words + k * c.most;
    const int places = 2 * max(lengths[2 * k], 0) + 1, steps = lengths[2 * k + 1];
    const int wide = 2 * c.most + 1;
    const bool never = !(costs[k] < -NEVER);
    const double by = double(top_diff[0]) / c.divisor;
    for (int t = c.steps - 1; t >= 0; --t) {
      Real* diff = bottom_diff + (t * c.batch + k) * c.classes;
      const double* here = logs + (t * c.batch + k) * c.classes;
      for (int i = 0; i < c.classes; ++i) diff[i] = t < steps && !never ? Real(by * exp(here[i])) : Real(0);
      if (t >= steps || never) continue;
      double *now = behind + (2 * k + t % 2) * wide, *after = behind + (2 * k + 1 - t % 2) * wide;
      const double* next = here + c.batch * c.classes;
      for (int u = 0; u < places; ++u) {
        double sum = t == steps - 1 && u + 2 >= places ? 0 : NEVER;
        for (int v = u; t < steps - 1 && v < min(u + 3, places); ++v)
          if (after[v] > NEVER && (v < u + 2 || skips(word, v))) sum = log_add(sum, after[v] + next[at_place(word, v, c.blank)]);
        now[u] = sum;
        const double path = ahead[(k * c.steps + t) * wide + u];
        if (sum > NEVER && path > NEVER)
          diff[at_place(word, u, c.blank)] -= Real(by * exp(path + sum + costs[k]));
      }
    }
  }
}
