// consistency_loss.cu: joints of two frames beside the flow between them. A joint has four numbers, `inner` apart.
#include "sum.h"

DEVICE int place(Real at, int most) { return int(at > 0 ? at < most ? at : Real(most) : Real(0)); }

// How far the joint is from where the flow carries it, in x and y. joint: by image, joint, place; each: of an image.
template <class Visit>
DEVICE void visit_joint(int joint, const Real* x, const Real* flow, int inner, int each, int height, int width, Visit visit) {
  const int image = joint / each, at = joint / inner * 4 * inner + joint % inner;
  const Real *u = flow + image * 2 * height * width, *v = u + height * width;
  const int x0 = place(x[at], width - 1), y0 = place(x[at + inner], height - 1);
  const int x1 = place(x[at + 2 * inner], width - 1), y1 = place(x[at + 3 * inner], height - 1);
  const double mean_u = 0.5 * double(u[y0 * width + x0]) + 0.5 * double(u[y1 * width + x1]);
  const double mean_v = 0.5 * double(v[y0 * width + x0]) + 0.5 * double(v[y0 * width + x1]);
  visit(at, double(x[at]) + mean_u - double(x[at + 2 * inner]), double(x[at + inner]) + mean_v - double(x[at + 3 * inner]));
}

// n: joints of all images.
KERNEL consistency(int n, const Real* x, const Real* flow, double* costs, int inner, int each, int height, int width) {
  GRID_LOOP(joint, n) {
    visit_joint(joint, x, flow, inner, each, height, width,
                [=](int, double off_x, double off_y) { costs[joint] = abs(off_x) + abs(off_y); });
  }
}

// n: 1.
KERNEL consistency_sum(int n, const double* costs, Real* top, int joints, int images) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, joints, [=](int joint) { return costs[joint]; });
    THREAD_LOOP(t, 1) top[0] = Real(sum / images);
  }
}

// n: joints of all images.
KERNEL consistency_diff(int n, const Real* x, const Real* flow, const Real* top_diff, Real* bottom_diff, int inner, int each,
                        int height, int width, int images) {
  GRID_LOOP(joint, n) {
    visit_joint(joint, x, flow, inner, each, height, width, [=](int at, double off_x, double off_y) {
      const Real unit = top_diff[0] / images;
      const Real of_x = off_x > 0 ? unit : off_x < 0 ? -unit : Real(0), of_y = off_y > 0 ? unit : off_y < 0 ? -unit : Real(0);
      bottom_diff[at] = of_x, bottom_diff[at + 2 * inner] = -of_x;
      bottom_diff[at + inner] = of_y, bottom_diff[at + 3 * inner] = -of_y;
    });
  }
}
