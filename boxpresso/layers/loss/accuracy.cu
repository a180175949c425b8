// accuracy.cu: whether each label is among the best scores, and the shares of those that are.
#include "first.h"
#include "sum.h"

constexpr int IGNORED = -1, NO_CHANNEL = -2;  // in place of 0 and 1

// right[position] = 1 where fewer than top_k scores are better than the label's, else 0; or one of the above.
KERNEL ranks(int n, const Real* score, const Real* label, int* right, int channels, int inner, int top_k,
             const int* ignored, int ignored_count) {
  GRID_LOOP(i, n) {
    const bool fits = label[i] > -1 && label[i] < channels;
    const int outer = i / inner, truth = label[i] > -2147483648.0 && label[i] < 2147483648.0 ? int(label[i]) : 0;
    bool counts = true;
    for (int k = 0; k < ignored_count; ++k) counts = counts && truth != ignored[k];
    if (!counts || !fits) {
      right[i] = counts ? NO_CHANNEL : IGNORED;
    } else {
      const Real* x = score + outer * channels * inner + i - outer * inner;
      const Real own = x[truth * inner];
      int better = 0;
      for (int c = 0; c < channels; ++c) better += x[c * inner] > own || (x[c * inner] == own && c > truth);
      right[i] = better < top_k && own == own;
    }
  }
}

// top = the share of 1 among the 0 and 1; wrong = how many labels are not a channel
KERNEL share(int n, const int* right, Real* top, Real* wrong, int positions) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double hits = block_sum(part, positions, [=](int i) { return right[i] == 1; });
    const double count = block_sum(part, positions, [=](int i) { return right[i] >= 0; });
    const double bad = block_sum(part, positions, [=](int i) { return right[i] == NO_CHANNEL; });
    THREAD_LOOP(t, 1) {
      top[b] = Real(hits / count);
      wrong[b] = Real(bad);
    }
  }
}

KERNEL share_of_class(int n, const int* right, const Real* label, Real* top, int positions) {
  SHARED double part[PARTS];
  BLOCK_LOOP(c, n) {
    const double hits = block_sum(part, positions, [=](int i) { return right[i] == 1 && int(label[i]) == c; });
    const double count = block_sum(part, positions, [=](int i) { return right[i] >= 0 && int(label[i]) == c; });
    THREAD_LOOP(t, 1) top[c] = count > 0 ? Real(hits / count) : Real(0);
  }
}

// Where `wrong` labels are not a channel, the first of them is told; see first.h. n: 1.
KERNEL tell_label_of_rank(int n, const Real* wrong, const int* right, const Real* label, double* record, int positions,
                          int channels, int mark) {
  BLOCK_LOOP(b, n) {
    SHARED int first[1];
    tell_first(first, record, mark, wrong[b] > 0 ? positions : 0, channels, [=](int i) { return right[i] == NO_CHANNEL; },
               [=](int i) { return label[i]; });
  }
}
