// fields_choice.cu: the boxes of BoxOutput and BoxGroupOutput at all places of a map.
#include "upright.h"

// `fields` of each of height x width places of `images` images, `stride` pixels apart. They are the boxes of an image from its box
// `first` on, of `items` in all, for which values have `room`. An offset is its number * std + mean; a centre moves by `far` of a field
// at most, and the logarithm of a size by `wide`.
struct Fields {
  int images, fields, channels, height, width, first, items, room;
  double stride, far, wide, mean[4], std[4];
};

// numpy's clip: NaN stays.
template <class T>
DEVICE T within(T x, T most) { return lower(higher(x, -most), most); }

// Coordinate k of the corner, and the size, of a field moved by offsets that are `plane` apart: in T.
template <class T>
DEVICE void move_field(const Real* by, long long plane, int k, T field, T place, Fields of, T* corner, T* size) {
  const T centre = T(by[k * plane]) * T(of.std[k]) + T(of.mean[k]);
  const T grown = T(by[(k + 2) * plane]) * T(of.std[k + 2]) + T(of.mean[k + 2]);
  *size = field * exp(within(grown, T(of.wide)));
  *corner = within(centre, T(of.far)) * field + place - *size / 2;
}

// BoxOutput: map (images, channels, height, width) of scores, the background's first, and four offsets; sizes: width and height of the
// one field. boxes (images, items, 4), cut at the map's pixels, computed in double; values (images, room): how much better the best class
// is than the background from `sure` on, where both sides have `least`, else NaN.
KERNEL field_boxes(int n, const Real* map, const double* sizes, Real* boxes, Real* values, Fields of, Real sure, Real least) {
  GRID_LOOP(i, n) {
    const int plane = of.height * of.width, place = i % plane, image = i / plane, classes = of.channels - 4;
    const Real* mine = map + (long long)image * of.channels * plane + place;
    const int cells[2] = {place % of.width, place / of.width}, across[2] = {of.width, of.height};
    Real* box = boxes + 4 * ((long long)image * of.items + of.first + place);
    bool large = true;
    for (int k = 0; k < 2; ++k) {
      double corner, size;
      move_field(mine + (long long)classes * plane, plane, k, sizes[k], (cells[k] + 0.5) * of.stride, of, &corner, &size);
      const double first = higher(corner, 0.0), extent = lower(size, across[k] * of.stride - first);
      box[k] = Real(first);
      box[k + 2] = Real(first + extent);
      large = large && box[k + 2] - box[k] >= least;
    }
    Real best = mine[plane];
    for (int c = 2; c < classes; ++c) best = higher(best, mine[(long long)c * plane]);
    const Real score = best - mine[0];
    values[(long long)image * of.room + of.first + place] = large && score >= sure ? score : Real(NAN);
  }
}

// BoxGroupOutput: probabilities (images * fields, channels, height, width), the background's first, and offsets (images * fields, 4,
// height, width); sizes: widths, then heights of the fields. boxes as above, but for the last pixel, which belongs to a box, in Real;
// values: 1 - the background.
KERNEL group_boxes(int n, const Real* chances, const Real* offsets, const double* sizes, Real* boxes, Real* values, Fields of, Real sure,
                   Real least) {
  GRID_LOOP(i, n) {
    const int plane = of.height * of.width, place = i % plane, row = i / plane, image = row / of.fields, field = row % of.fields;
    const int cells[2] = {place % of.width, place / of.width}, across[2] = {of.width, of.height};
    const int item = of.first + field * plane + place;
    Real* box = boxes + 4 * ((long long)image * of.items + item);
    bool large = true;
    for (int k = 0; k < 2; ++k) {
      Real corner, size;
      move_field(offsets + 4ll * row * plane + place, plane, k, Real(sizes[k * of.fields + field]),
                 Real(cells[k] + 0.5) * Real(of.stride), of, &corner, &size);
      box[k] = higher(corner, Real(0));
      box[k + 2] = lower(corner + size - 1, Real(across[k] * of.stride));
      large = large && box[k + 2] - box[k] + 1 >= least;
    }
    const Real score = 1 - chances[(long long)row * of.channels * plane + place];
    values[(long long)image * of.room + item] = large && score >= sure ? score : Real(NAN);
  }
}
