// sequences.cu: labels that scores spell, one thread a sequence, and how far they are from those that are wanted.
#include "kernel.h"

struct Sequences {
  int steps, batch, classes, blank;
  int merges;      // whether equal labels of neighbouring steps are one
  int time_first;  // whether scores are (steps, batch, classes), not (batch, steps, classes)
};

// words: (batch, steps), the best class of each step without blanks, -1 behind the last; lengths; costs: minus the sum of
// the best scores, where it is given. running: 0 at the step with which a sequence has ended, where it is given.
KERNEL greedy_words(int n, const Real* score, const Real* running, int* words, int* lengths, Real* costs, Sequences s) {
  GRID_LOOP(k, n) {
    int count = 0, before = -1;
    Real cost = 0;
    for (int t = 0; t < s.steps; ++t) {
      if (t && running && running[t * s.batch + k] == 0) break;
      const Real* x = score + (s.time_first ? t * s.batch + k : k * s.steps + t) * s.classes;
      int best = 0;
      for (int c = 1; c < s.classes; ++c)
        if (x[c] > x[best]) best = c;
      cost -= x[best];
      if (best != s.blank && !(s.merges && best == before)) words[k * s.steps + count++] = best;
      before = best;
    }
    lengths[k] = count;
    for (int i = count; i < s.steps; ++i) words[k * s.steps + i] = -1;
    if (costs) costs[k] = cost;
  }
}

KERNEL words_as_top(int n, const int* words, Real* top) {
  GRID_LOOP(i, n) top[i] = Real(words[i]);
}

// words: (batch, most), the labels of each sequence, up to the first negative one (ends), or without blanks, or both (ends: 2).
// by_time: label
// is (most, batch), not (batch, most).
KERNEL given_words(int n, const Real* label, int* words, int* lengths, int most, int ends, int by_time, int blank) {
  GRID_LOOP(k, n) {
    int count = 0;
    bool over = false;
    for (int i = 0; i < most; ++i) {
      const Real at = label[by_time ? i * n + k : k * most + i];
      const int one = at > -1 && at < Real(2147483647.0) ? int(at + Real(0.5)) : -1;
      over = over || (ends && !(at >= 0));
      if (!over && (ends == 1 || one != blank)) words[k * most + count++] = one;
    }
    lengths[k] = count;
    for (int i = count; i < most; ++i) words[k * most + i] = -1;
  }
}

// told[4 k ...]: how many labels must be changed, put in or left out, how many there are wanted and seen, and how many are
// right on the way that the program goes. table: (batch, (seen + 1) * (wanted + 1)); without it the first is 0 or 1.
KERNEL edits(int n, const int* seen, const int* seen_lengths, const int* wanted, const int* wanted_lengths, int* table,
             double* told, int most_seen, int most_wanted) {
  GRID_LOOP(k, n) {
    const int *a = seen + k * most_seen, *b = wanted + k * most_wanted;
    const int rows = seen_lengths[k], columns = wanted_lengths[k], wide = columns + 1;
    int away = rows != columns, right = 0;
    if (!table) {
      for (int i = 0; i < rows && !away; ++i) away = a[i] != b[i];
    } else {
      int* d = table + k * (most_seen + 1) * (most_wanted + 1);
      for (int i = 0; i <= rows; ++i)
        for (int j = 0; j <= columns; ++j) {
          if (!i || !j) {
            d[i * wide + j] = i + j;
            continue;
          }
          const int change = d[(i - 1) * wide + j - 1] + (a[i - 1] != b[j - 1]);
          d[i * wide + j] = min(change, min(d[(i - 1) * wide + j], d[i * wide + j - 1]) + 1);
        }
      away = d[rows * wide + columns];
      for (int i = rows, j = columns; i > 0 && j > 0;) {
        const int above = d[(i - 1) * wide + j] + 1, left = d[i * wide + j - 1] + 1;
        const int change = d[(i - 1) * wide + j - 1] + (a[i - 1] != b[j - 1]);
        if (change < above && change < left) {
          right += a[i - 1] == b[j - 1];
          --i, --j;
        } else if (above < left && change >= above) {
          --i;
        } else {
          --j;
        }
      }
      if (!away) right = rows;
    }
    told[4 * k] = away;
    told[4 * k + 1] = columns;
    told[4 * k + 2] = rows;
    told[4 * k + 3] = right;
  }
}

// Means over `count` sequences: how many are wholly right, the first three of `told`, how many labels are right; and
// 1 - the mean of the changes over the longer length, the last of the five. n: 1.
KERNEL sequence_means(int n, const double* told, Real* means, int count) {
  GRID_LOOP(b, n) {
    double sums[6] = {0, 0, 0, 0, 0, 0};
    for (int k = 0; k < count; ++k) {
      const double* at = told + 4 * k;
      const double longer = max(at[1], at[2]);
      sums[0] += at[0] == 0;
      for (int i = 0; i < 4; ++i) sums[1 + i] += at[i];
      sums[5] += longer > 0 ? at[0] / longer : 0;
    }
    for (int i = 0; i < 6; ++i) means[i] = Real(i < 5 ? sums[i] / count : 1 - sums[i] / count);
  }
}
