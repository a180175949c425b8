// joints.cu: joints of people, from maps of classes or of their own, and maps of joints.
#include "sum.h"

// centre = x and y of the mean of the places whose class belongs to the joint, 0 without one. n: images times joints.
KERNEL joint_centres(int n, const Real* classes, const int* joint_of, Real* centre, int joints, int height, int width,
                     int known) {
  SHARED double part[PARTS];
  BLOCK_LOOP(i, n) {
    const Real* own = classes + i / joints * height * width;
    const int joint = i % joints;
    auto belongs = [=](int at) {
      const Real number = own[at];
      return number > -1 && number < known && joint_of[int(number)] == joint ? 1 : 0;
    };
    const double seen = block_sum(part, height * width, belongs);
    const double x = block_sum(part, height * width, [=](int at) { return double(belongs(at) * (at % width)); });
    const double y = block_sum(part, height * width, [=](int at) { return double(belongs(at) * (at / width)); });
    THREAD_LOOP(t, 1) {
      centre[2 * i] = seen > 0 ? Real(int(x / seen)) : Real(0);
      centre[2 * i + 1] = seen > 0 ? Real(int(y / seen)) : Real(0);
    }
  }
}

// centre = x and y of the largest number of a map, of equal ones the first. n: maps.
KERNEL joint_peaks(int n, const Real* maps, Real* centre, int height, int width) {
  GRID_LOOP(i, n) {
    const Real* own = maps + i * height * width;
    int best = 0;
    for (int at = 1; at < height * width; ++at) best = own[at] > own[best] ? at : best;
    centre[2 * i] = Real(best % width);
    centre[2 * i + 1] = Real(best / width);
  }
}

// map = 4 / sqrt(2 pi) exp(-d^2 / 2), d the distance from the centre; 0 for a centre at (0, 0). n: pixels of all maps.
KERNEL joint_maps(int n, const Real* centre, Real* map, int height, int width) {
  GRID_LOOP(i, n) {
    const Real* own = centre + 2 * (i / (height * width));
    const int x = i % width, y = i / width % height;
    const double cx = trunc(double(own[0])), cy = trunc(double(own[1]));
    const double square = (x - cx) * (x - cx) + (y - cy) * (y - cy);
    map[i] = cx == 0 && cy == 0 ? Real(0) : Real(4 * 0.3989422804014327 * exp(-0.5 * square));
  }
}
