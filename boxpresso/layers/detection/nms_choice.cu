// nms_choice.cu: the NMS layer. order.cu (on a CPU order.cpp) lists the boxes as two groups: those with a score, best first, then
// those whose score is NaN; the two lists lie one behind the other, so that together they are one list of all boxes.
#include "kernel.h"

// values (2, room): the scores of the first group, and 0 for each box of the second; NaN elsewhere.
KERNEL nms_values(int n, const Real* scores, Real* values, int room) {
  GRID_LOOP(i, n) {
    values[i] = scores[i];
    values[room + i] = scores[i] == scores[i] ? Real(NAN) : Real(0);
  }
}

// The boxes (count, columns) in that order, or where order is null as they are, from boxes whose numbers are `apart` places apart, and
// that are `next` places after one another.
KERNEL nms_listed(int n, const Real* boxes, const int* order, Real* listed, int columns, int next, int apart) {
  GRID_LOOP(i, n) {
    const int row = i / columns, from = order ? order[row] : row;
    listed[i] = boxes[(long long)from * next + (long long)(i - row * columns) * apart];
  }
}

// The indices of those that stay, and behind `most` of them their number.
KERNEL nms_rows(int n, const int* order, const int* kept, const int* stay, Real* rows, int most) {
  GRID_LOOP(i, n) {
    if (i == 0) rows[most] = stay[0];
    if (i < stay[0]) rows[i] = order ? order[kept[i]] : kept[i];
  }
}
