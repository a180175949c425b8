// fixed_point.cu: numbers of a few bits with a point, whose place goes by the numbers themselves.
#include "sum.h"

constexpr int PIECE = 4096;  // numbers that one block looks at
constexpr int NOWHERE = 32767;  // the place of the point of numbers that are all 0
constexpr int HALVES_AWAY = 0, HALVES_UP = 1, TOWARDS_ZERO = 2;  // how a number becomes a whole one

// 2^place x as the whole number that `bits` hold, and that number back; 0 for a place that no number has.
DEVICE Real held(Real x, Real place, int bits, int way) {
  if (!(place < 1023)) return Real(0);
  const double at = max(floor(double(place)), -1022.0);
  const double scaled = double(x) * exp2(at), limit = exp2(double(bits - 1));
  const double up = way == HALVES_UP && scaled < 0 && scaled - floor(scaled) == 0.5 ? ceil(scaled) : round(scaled);
  const double whole = way == TOWARDS_ZERO ? (scaled < 0 ? ceil(scaled) : floor(scaled)) : up;
  const double kept = way == TOWARDS_ZERO ? whole : min(max(whole, -limit), limit - 1);
  return Real(kept * exp2(-at));
}

DEVICE double logistic(double x) { return 1 / (1 + exp(-x)); }

// steps[b] = the least step with which the numbers of block b are held, with half a step to spare.
KERNEL fixed_steps(int n, const Real* x, double* steps, int count, int bits) {
  SHARED double most[PARTS];
  const double limit = exp2(double(bits - 1));
  BLOCK_LOOP(b, n) {
    const Real* own = x + (long long)b * PIECE;
    const int items = min(PIECE, count - b * PIECE);
    THREAD_LOOP(t, PARTS) {
      double step = 0;
      for (int i = t; i < items; i += PARTS) step = max(step, double(own[i]) / (own[i] < 0 ? -limit - 0.5 : limit - 0.5));
      most[t] = step;
    }
    BARRIER();
    for (int half = PARTS / 2; half > 0; half /= 2) {
      THREAD_LOOP(t, half) most[t] = max(most[t], most[t + half]);
      BARRIER();
    }
    THREAD_LOOP(t, 1) steps[b] = most[0];
    BARRIER();
  }
}

// place = the last place of the point at which no number is too large. n: 1.
KERNEL first_place(int n, const double* steps, Real* place, int blocks) {
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(t, 1) {
      double step = 0;
      for (int i = 0; i < blocks; ++i) step = max(step, steps[i]);
      int at = step > 0 && step < 1e300 ? 0 : NOWHERE;
      if (at == 0) {
        while (step * exp2(double(at)) > 1) --at;
        while (step * exp2(double(at + 1)) <= 1) ++at;
      }
      place[b] = Real(at);
    }
  }
}

// errors[b * places + k] = the sum of the squares by which the numbers of block b, or their sigmoids, miss with the point k places
// behind the first. n: blocks * places.
KERNEL fixed_errors(int n, const Real* x, const Real* first, double* errors, int count, int places, int bits, int of_sigmoid) {
  SHARED double part[PARTS];
  BLOCK_LOOP(at, n) {
    const int b = at / places;
    const Real place = *first + Real(at % places);
    const Real* own = x + (long long)b * PIECE;
    const double sum = block_sum(part, min(PIECE, count - b * PIECE), [=](int i) {
      const Real other = held(own[i], place, bits, HALVES_AWAY);
      const double off = of_sigmoid ? logistic(double(own[i])) - logistic(double(other)) : double(own[i]) - double(other);
      return off * off;
    });
    THREAD_LOOP(t, 1) errors[at] = sum;
  }
}

// place = the first of `places` with the least error. n: 1.
KERNEL best_place(int n, const double* errors, Real* place, int blocks, int places) {
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(t, 1) {
      double least = 0;
      int best = 0;
      for (int k = 0; k < places; ++k) {
        double error = 0;
        for (int i = 0; i < blocks; ++i) error += errors[i * places + k];
        if (k == 0 || error < least) least = error, best = k;
      }
      if (place[b] < NOWHERE) place[b] += Real(best);
    }
  }
}

KERNEL hold_fixed(int n, const Real* from, Real* to, const Real* place, int bits, int way) {
  GRID_LOOP(i, n) to[i] = held(from[i], *place, bits, way);
}
