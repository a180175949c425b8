// noise.cu: random numbers added to values, drawn for the index of each.
#include "random.h"
#include "sum.h"

constexpr int PIECE = 4096;  // elements that one block sums

// partial[b] = the sum of the squares of block b's elements
KERNEL noise_squares(int n, const Real* x, double* partial, int count) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE;
    const double sum = block_sum(part, min(PIECE, count - first), [=](int i) { return double(x[first + i]) * x[first + i]; });
    THREAD_LOOP(t, 1) partial[b] = sum;
  }
}

// size[0] = the root of the mean square. n: 1.
KERNEL noise_size(int n, const double* partial, Real* size, int blocks, int count) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, blocks, [=](int i) { return partial[i]; });
    THREAD_LOOP(t, 1) size[0] = Real(sqrt(sum / count));
  }
}

// gaussian: to = from + mean + deviation * (size, where it is given) * a normal number; else
// to = from + mean + deviation * a number from -1 to 1.
KERNEL noise_add(int n, const Real* from, Real* to, const Real* size, unsigned key, unsigned iteration, int gaussian,
                 Real mean, Real deviation) {
  GRID_LOOP(i, n) {
    const double drawn = gaussian ? normal_number(i, iteration, key) : 2 * uniform_number(i, iteration, key) - 1;
    to[i] = from[i] + mean + Real(deviation * (size ? double(size[0]) : 1.0) * drawn);
  }
}
