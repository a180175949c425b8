// solver.cu: the updates of the six solvers, one pass over weights, diffs and history of all parameters, and the norm for clipping.
//
// The arrays of a parameter are found from those of the first, which a kernel is given: `distances` holds how many elements lie
// between, for w, diff and up to two of history (whole numbers, in double because an int would be too small). Block b takes a
// piece of a parameter; pieces: its number, the first element and how many. rates: the learning rate and decay of each.
//
// The gradient g is diff * scale (clipping and iter_size) + decay * w for L2, + decay * sign(w) for L1. diff stays as it is.
#include "sum.h"

constexpr int ARRAYS = 4;  // distances of a parameter

// What an update of all parameters has in common. `first` and `second` are the rule's own: momentum or what is kept of history.
struct Rule {
  int l1;
  Real scale, delta, first, second;
};

// A piece of a parameter.
struct Piece {
  int parameter, first, count;
};

DEVICE Piece piece_of(const int* pieces, int b) { return {pieces[3 * b], pieces[3 * b + 1], pieces[3 * b + 2]}; }

// Where a piece lies in array number `array`.
template <class Number>
DEVICE Number* at(Number* base, const double* distances, int array, const Piece& p) {
  return base + ((long long)distances[ARRAYS * p.parameter + array] + p.first);
}

DEVICE Real gradient(Real diff, Real w, Real decay, const Rule& rule) {
  const Real sign = w > 0 ? Real(1) : w < 0 ? Real(-1) : Real(0);
  return diff * rule.scale + decay * (rule.l1 ? sign : w);
}

// partial[b] = the sum of the squares of the b-th piece, in double.
KERNEL square_sums(int n, const Real* diff, const int* pieces, const double* distances, double* partial) {
  BLOCK_LOOP(b, n) {
    SHARED double part[PARTS];
    const Piece p = piece_of(pieces, b);
    const Real* mine = at(diff, distances, 1, p);
    const double sum = block_sum(part, p.count, [&](int i) { return double(mine[i]) * mine[i]; });
    THREAD_LOOP(t, 1) partial[b] = sum;
  }
}

// h = momentum h + rate g; w -= h
KERNEL sgd(int n, Real* w, const Real* diff, Real* h, const int* pieces, const double* distances, const Real* rates, Rule rule) {
  BLOCK_LOOP(b, n) {
    const Piece p = piece_of(pieces, b);
    const Real rate = rates[2 * p.parameter], decay = rates[2 * p.parameter + 1], momentum = rule.first;
    Real *mine = at(w, distances, 0, p), *kept = at(h, distances, 2, p);
    const Real* given = at(diff, distances, 1, p);
    THREAD_LOOP(i, p.count) {
      kept[i] = rate * gradient(given[i], mine[i], decay, rule) + momentum * kept[i];
      mine[i] -= kept[i];
    }
  }
}

// h = momentum h + rate g; w -= (1 + momentum) h - momentum (h before)
KERNEL nesterov(int n, Real* w, const Real* diff, Real* h, const int* pieces, const double* distances, const Real* rates,
                Rule rule) {
  BLOCK_LOOP(b, n) {
    const Piece p = piece_of(pieces, b);
    const Real rate = rates[2 * p.parameter], decay = rates[2 * p.parameter + 1], momentum = rule.first;
    Real *mine = at(w, distances, 0, p), *kept = at(h, distances, 2, p);
    const Real* given = at(diff, distances, 1, p);
    THREAD_LOOP(i, p.count) {
      const Real before = kept[i];
      kept[i] = rate * gradient(given[i], mine[i], decay, rule) + momentum * before;
      mine[i] -= (1 + momentum) * kept[i] - momentum * before;
    }
  }
}

// h += g^2; w -= rate g / (sqrt(h) + delta)
KERNEL adagrad(int n, Real* w, const Real* diff, Real* h, const int* pieces, const double* distances, const Real* rates,
               Rule rule) {
  BLOCK_LOOP(b, n) {
    const Piece p = piece_of(pieces, b);
    const Real rate = rates[2 * p.parameter], decay = rates[2 * p.parameter + 1];
    Real *mine = at(w, distances, 0, p), *kept = at(h, distances, 2, p);
    const Real* given = at(diff, distances, 1, p);
    THREAD_LOOP(i, p.count) {
      const Real g = gradient(given[i], mine[i], decay, rule);
      kept[i] += g * g;
      mine[i] -= rate * g / (sqrt(kept[i]) + rule.delta);
    }
  }
}

// h = keep h + (1 - keep) g^2; w -= rate g / (sqrt(h) + delta)
KERNEL rmsprop(int n, Real* w, const Real* diff, Real* h, const int* pieces, const double* distances, const Real* rates,
               Rule rule) {
  BLOCK_LOOP(b, n) {
    const Piece p = piece_of(pieces, b);
    const Real rate = rates[2 * p.parameter], decay = rates[2 * p.parameter + 1], keep = rule.first;
    Real *mine = at(w, distances, 0, p), *kept = at(h, distances, 2, p);
    const Real* given = at(diff, distances, 1, p);
    THREAD_LOOP(i, p.count) {
      const Real g = gradient(given[i], mine[i], decay, rule);
      kept[i] = keep * kept[i] + (1 - keep) * g * g;
      mine[i] -= rate * g / (sqrt(kept[i]) + rule.delta);
    }
  }
}

// h = keep h + (1 - keep) g^2; step = g sqrt((delta + s) / (delta + h)); s = keep s + (1 - keep) step^2; w -= rate step
KERNEL adadelta(int n, Real* w, const Real* diff, Real* h, Real* s, const int* pieces, const double* distances, const Real* rates,
                Rule rule) {
  BLOCK_LOOP(b, n) {
    const Piece p = piece_of(pieces, b);
    const Real rate = rates[2 * p.parameter], decay = rates[2 * p.parameter + 1], keep = rule.first, delta = rule.delta;
    Real *mine = at(w, distances, 0, p), *kept = at(h, distances, 2, p), *steps = at(s, distances, 3, p);
    const Real* given = at(diff, distances, 1, p);
    THREAD_LOOP(i, p.count) {
      const Real g = gradient(given[i], mine[i], decay, rule);
      kept[i] = keep * kept[i] + (1 - keep) * g * g;
      const Real step = g * sqrt((delta + steps[i]) / (delta + kept[i]));
      steps[i] = keep * steps[i] + (1 - keep) * step * step;
      mine[i] -= rate * step;
    }
  }
}

// m = a m + (1 - a) g; v = b v + (1 - b) g^2; w -= rate m / (sqrt(v) + delta), rate corrected for the start by the caller
KERNEL adam(int n, Real* w, const Real* diff, Real* m, Real* v, const int* pieces, const double* distances, const Real* rates,
            Rule rule) {
  BLOCK_LOOP(block, n) {
    const Piece p = piece_of(pieces, block);
    const Real rate = rates[2 * p.parameter], decay = rates[2 * p.parameter + 1], a = rule.first, b = rule.second;
    Real *mine = at(w, distances, 0, p), *mean = at(m, distances, 2, p), *square = at(v, distances, 3, p);
    const Real* given = at(diff, distances, 1, p);
    THREAD_LOOP(i, p.count) {
      const Real g = gradient(given[i], mine[i], decay, rule);
      mean[i] = a * mean[i] + (1 - a) * g;
      square[i] = b * square[i] + (1 - b) * g * g;
      mine[i] -= rate * mean[i] / (sqrt(square[i]) + rule.delta);
    }
  }
}
