// compact_bilinear.cu: products of two channels each, added up in the bins that the channels are drawn for.
#include "kernel.h"

// Of each bin the pairs from begins[bin] to begins[bin + 1]: place + 1 in a (C1, C2) matrix, negative where the sign is.
template <class Product>
DEVICE double sum_of_bin(const int* begins, const int* pairs, int bin, Product product) {
  double sum = 0;
  for (int k = begins[bin]; k < begins[bin + 1]; ++k) {
    const int pair = abs(pairs[k]) - 1;
    sum += pairs[k] < 0 ? -double(product(pair)) : double(product(pair));
  }
  return sum;
}

// From the products of all pairs, summed over places. n: bins of all images.
KERNEL bins_of_sums(int n, const Real* products, const int* begins, const int* pairs, Real* top, int bins, int pairs_of_image,
                    Real scale) {
  GRID_LOOP(i, n) {
    const Real* of_image = products + i / bins * pairs_of_image;
    top[i] = scale * Real(sum_of_bin(begins, pairs, i % bins, [=](int pair) { return of_image[pair]; }));
  }
}

// bins: of each pair its bin + 1, negative where the sign is. n: pairs of all images.
KERNEL bins_of_sums_backward(int n, const Real* top_diff, const int* bin_of, Real* product_diff, int bins, int pairs_of_image,
                             Real scale) {
  GRID_LOOP(i, n) {
    const int bin = bin_of[i % pairs_of_image];
    const Real diff = scale * top_diff[i / pairs_of_image * bins + abs(bin) - 1];
    product_diff[i] = bin < 0 ? -diff : diff;
  }
}

// Of each place alone. n: places of all bins of all images.
KERNEL bins_of_places(int n, const Real* a, const Real* b, const int* begins, const int* pairs, Real* top, int bins,
                      int of_a, int of_b, int size, Real scale) {
  GRID_LOOP(i, n) {
    const int place = i % size, image = i / size / bins;
    const Real *first = a + image * of_a * size + place, *second = b + image * of_b * size + place;
    top[i] = scale * Real(sum_of_bin(begins, pairs, i / size % bins, [=](int pair) {
      return first[pair / of_b * size] * second[pair % of_b * size];
    }));
  }
}

// The gradient of one bottom, from the values of the other: pair (c, k) lies at c * step_own + k * step_other. n: its elements.
KERNEL bins_of_places_backward(int n, const Real* top_diff, const Real* other, const int* bin_of, Real* diff, int bins, int own,
                               int others, int step_own, int step_other, int size, Real scale) {
  GRID_LOOP(i, n) {
    const int place = i % size, channel = i / size % own, image = i / size / own;
    double sum = 0;
    for (int k = 0; k < others; ++k) {
      const int bin = bin_of[channel * step_own + k * step_other];
      const double term = double(other[(image * others + k) * size + place]) *
                          top_diff[(image * bins + abs(bin) - 1) * size + place];
      sum += bin < 0 ? -term : term;
    }
    diff[i] = scale * Real(sum);
  }
}
