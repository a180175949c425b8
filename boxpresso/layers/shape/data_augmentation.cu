// data_augmentation.cu: crops of images, turned and coloured, and their mean. Row `image` of `how` holds HOW numbers: the six of
// the transformation, six of colours, 22 along axes of colours, five of effects. `space`: the three axes of colours, where the
// mean colour lies on each, the mean colour, how far the batch reaches along each axis, the length of that.
#include "random.h"
#include "sum.h"

constexpr int HOW = 39, SPACE = 19, PIECE = 4096;
// The sizes of images and crops, and which of the changes of colours there are.
struct Crops {
  int channels, height, width, high, wide, axes, colours, effects;
};

constexpr int COLOURS = 6, AXES = 12, EFFECTS = 34;  // where they begin in a row

DEVICE Real to_power(Real x, Real exponent) { return exponent == 1 ? x : x == 0 ? Real(0) : pow(x, exponent); }

DEVICE Real with_sign(Real size, Real x) { return x < 0 ? -size : size; }

// Moves a colour along the axes; e: 22 numbers.
DEVICE void along_axes(Real* rgb, const Real* e, const Real* space, Real most) {
  const Real *axes = space, *mean_on = space + 9, *mean = space + 12, *reach = space + 15, whole = space[18];
  Real on[3];
  for (int c = 0; c < 3; ++c) {
    on[c] = 0;
    for (int k = 0; k < 3; ++k) on[c] += axes[3 * c + k] * (rgb[k] - mean[k]);
    if (reach[c] > Real(1e-2)) {
      on[c] /= reach[c];
      on[c] = (with_sign(to_power(abs(on[c]), e[c]), on[c]) + e[3 + c]) * e[6 + c];
    }
  }
  for (int c = 0; c < 3; ++c) on[c] += mean_on[c];
  if (reach[0] > Real(1e-2)) on[0] = (with_sign(to_power(abs(on[0]), e[9]), on[0]) + e[12]) * e[15];
  const Real strong = sqrt(on[1] * on[1] + on[2] * on[2]);
  const Real stronger = strong > Real(1e-2) ? max(to_power(strong, e[10]) + e[13], Real(0)) * e[16] : strong;
  if (e[21] != 0) {
    const Real first = cos(e[21]) * on[1] - sin(e[21]) * on[2], second = sin(e[21]) * on[1] + cos(e[21]) * on[2];
    on[1] = first;
    on[2] = second;
  }
  for (int c = 0; c < 3; ++c)
    if (reach[c] > Real(1e-2)) on[c] *= reach[c];
  const Real before = sqrt(on[0] * on[0] + on[1] * on[1] + on[2] * on[2]);
  if (strong > Real(1e-2)) {
    on[1] = on[1] / strong * stronger;
    on[2] = on[2] / strong * stronger;
  }
  if (whole > Real(1e-2)) {
    const Real now = sqrt(on[0] * on[0] + on[1] * on[1] + on[2] * on[2]);
    const Real wanted = max(to_power(before / whole, e[18]) + e[19], Real(0)) * e[20] * whole;
    if (now > Real(1e-2))
      for (int c = 0; c < 3; ++c) on[c] = min(on[c] / now * wanted, reach[c]);
  }
  for (int c = 0; c < 3; ++c)
    rgb[c] = max(min(axes[c] * on[0] + axes[3 + c] * on[1] + axes[6 + c] * on[2], most), Real(0));
}

// gamma, brightness, contrast and a factor for each channel, after which the brightness is what it was.
DEVICE void recolour(Real* rgb, const Real* c, Real most) {
  const Real before = rgb[0] + rgb[1] + rgb[2];
  for (int k = 0; k < 3; ++k) rgb[k] *= c[3 + k];
  const Real by = before / (rgb[0] + rgb[1] + rgb[2] + Real(0.01));
  for (int k = 0; k < 3; ++k) {
    const Real bent = to_power(max(Real(0), min(rgb[k] * by, Real(1))), c[0]) + c[1];
    rgb[k] = max(Real(0), min(Real(0.5) + (bent - Real(0.5)) * c[2], most));
  }
}

// n: places of all crops.
KERNEL augment(int n, const Real* bottom, const Real* how, const Real* space, Real* top, Crops crops, Real most) {
  const int channels = crops.channels, height = crops.height, width = crops.width, high = crops.high, wide = crops.wide;
  GRID_LOOP(i, n) {
    const int image = i / (high * wide), at = i % (high * wide), x = at % wide, y = at / wide;
    const Real* row = how + image * HOW;
    const Real across = max(Real(0), min(x * row[0] + y * row[2] + row[4], width - Real(1.05)));
    const Real down = max(Real(0), min(x * row[1] + y * row[3] + row[5], height - Real(1.05)));
    const int left = int(across), above = int(down), right = min(left + 1, width - 1), below = min(above + 1, height - 1);
    const Real u = across - left, v = down - above;
    Real rgb[3];
    for (int c = 0; c < channels; ++c) {
      const Real* from = bottom + (image * channels + c) * height * width;
      const Real value = (1 - u) * (1 - v) * from[above * width + left] + u * v * from[below * width + right] +
                         (1 - u) * v * from[below * width + left] + u * (1 - v) * from[above * width + right];
      if (c < 3) rgb[c] = value;
      top[(image * channels + c) * high * wide + at] = value;
    }
    if (channels != 3 || !(crops.axes || crops.colours || crops.effects)) continue;
    if (crops.axes) along_axes(rgb, row + AXES, space, most);
    if (crops.colours) recolour(rgb, row + COLOURS, most);
    const Real* e = row + EFFECTS;
    const bool shaded = (x - wide / 2) * e[0] + (y - high / 2) * e[1] - e[2] > 0;
    for (int c = 0; c < 3; ++c) {
      if (crops.effects) rgb[c] = max(Real(0), min(shaded ? rgb[c] - e[3] : rgb[c], most));
      top[(image * 3 + c) * high * wide + at] = rgb[c];
    }
  }
}

// Normal noise, of the deviation of each image; each: numbers of an image.
KERNEL add_noise(int n, const Real* how, Real* top, int each, unsigned key, unsigned iteration) {
  GRID_LOOP(i, n) {
    const Real deviation = how[i / each * HOW + HOW - 1];
    if (deviation > 0) top[i] += Real(double(deviation) * normal_number(i, iteration, key));
  }
}

// pieces[6 b ...] = the sum of each channel over block b's pixels, and how far they reach along each axis.
KERNEL colour_pieces(int n, const Real* x, const Real* axes, double* pieces, int pixels, int size) {
  GRID_LOOP(b, n) {
    double* own = pieces + 6 * b;
    for (int k = 0; k < 6; ++k) own[k] = 0;
    for (int i = b * PIECE; i < min(pixels, (b + 1) * PIECE); ++i) {
      const Real* from = x + i / size * 3 * size + i % size;
      for (int c = 0; c < 3; ++c) {
        own[c] += double(from[c * size]);
        double on = 0;
        for (int k = 0; k < 3; ++k) on += double(axes[3 * c + k]) * double(from[k * size]);
        own[3 + c] = max(own[3 + c], abs(on));
      }
    }
  }
}

// The mean of all images of forward number `number` and of those before it. n: numbers of an image.
KERNEL gather_mean(int n, const Real* top, Real* mean, int images, Real number) {
  GRID_LOOP(i, n) {
    double sum = 0;
    for (int image = 0; image < images; ++image) sum += double(top[image * n + i]);
    mean[i] = Real((double(mean[i]) * (double(number) - 1) + sum / images) / double(number));
  }
}

KERNEL channel_means(int n, const Real* mean, Real* means, int size) {
  SHARED double part[PARTS];
  BLOCK_LOOP(c, n) {
    const double sum = block_sum(part, size, [=](int i) { return double(mean[c * size + i]); });
    THREAD_LOOP(t, 1) means[c] = Real(sum / size);
  }
}

// means: `count` of them, each of `size` numbers that follow one another.
KERNEL subtract_mean(int n, Real* top, const Real* means, int count, int size) {
  GRID_LOOP(i, n) top[i] -= means[i / size % count];
}
