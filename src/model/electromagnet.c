// The electromagnet pair law of Johnson 2012, eq. B.1 and table B.1. With r in units of 0.1 m, the length of the cores,
// the force along the axis is that of two pairs of poles (4.1e-4/2 N m2 at the ends of the cores) within a few percent;
// in metres it would be 1e8 N.
#include <math.h>

#include "carom/model.h"

typedef struct term {
  int power_1, power_2;  // of the angles
  double c[6];           // A and B of the force along x, along y, and of the torque
} term;

static const term table[] = {
    {0, 0, {1.0670, -1.2094e-1, 6.4039e-2, 4.7942e-3, 3.7875e-3, 2.3510e-4}},
    {1, 0, {3.9386e-1, 1.9773e-2, -1.3789, -4.8787e-1, -5.7298e-2, -1.6165e-3}},
    {0, 1, {-2.2751, -8.6915e-2, 1.0495, 1.2083, 1.3477e-1, 2.6519e-3}},
    {2, 0, {-3.5943, -1.2634e-2, -5.0010e-1, -5.8262e-2, -5.0081e-2, -3.3933e-3}},
    {1, 1, {9.5071, -1.8160e-1, 6.9851, 1.8216e-1, 1.7989e-1, 1.1954e-2}},
    {0, 2, {-7.8914, 4.4923e-1, 1.6582, -2.0492e-1, -2.5131e-1, -2.4009e-2}},
    {3, 0, {-1.5941, -7.5574e-2, -1.5941e1, 2.5680e-1, 9.5810e-2, 3.9108e-3}},
    {2, 1, {1.5989e1, 5.9169e-1, -3.0040, -1.3194, -3.2429e-1, -9.8745e-3}},
    {1, 2, {-3.0049e1, -8.7829e-1, -1.2417e1, 2.4993, 3.9376e-1, -2.1262e-2}},
    {0, 3, {2.0957e1, 5.5594e-2, -6.0380e1, -7.2965e-1, -2.0751e-1, 4.5830e-2}},
    {4, 0, {1.8429, 4.7644e-2, 8.2519e-1, 8.8162e-2, 9.7361e-2, 6.5745e-3}},
    {3, 1, {1.5481, -1.0365, -6.8201, -7.9217e-1, -3.6091e-1, -1.6871e-2}},
    {2, 2, {-1.4833e1, -1.0365, 5.4298, 1.6634, 7.8222e-1, 2.8853e-2}},
    {1, 3, {2.1632e1, 1.4074, 5.2455, -2.2440, -7.6435e-1, 9.3861e-3}},
    {0, 4, {-1.2404e1, -8.9385, 6.0322e1, 4.1154e-1, 3.9942e-1, -2.2715e-2}},
};

static const double NEAREST = 0.1, FARTHEST = 0.55, WIDEST = 0.62831853071795864769, UNIT = 0.1;

static double within(double value, double low, double high) { return fmin(fmax(value, low), high); }

bool carom_electromagnet_pair(double distance, double angle_1, double angle_2, carom_magnet_load *load) {
  double a = within(angle_1, -WIDEST, WIDEST), b = within(angle_2, -WIDEST, WIDEST);
  double r = fmax(distance, NEAREST) / UNIT, far = 1 / (r * r * r * r), sum[6] = {0};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    double factor = pow(a, table[i].power_1) * pow(b, table[i].power_2);
    for (int k = 0; k < 6; k++) sum[k] += factor * table[i].c[k];
  }
  load->force_x = far * (far * sum[0] - sum[1]);
  load->force_y = far * (far * sum[2] - sum[3]);
  load->torque = far * (far * sum[4] - sum[5]);
  return distance >= NEAREST && distance <= FARTHEST && a == angle_1 && b == angle_2;
}
