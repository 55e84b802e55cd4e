#include <math.h>

#include "carom/base.h"

// Wilson (1927): the rates p for which the hits seen lie within z standard deviations of p n,
// (p^ - p)^2 = z^2 p (1 - p) / n, solved for p.
carom_interval carom_wilson(int64_t hits, int64_t trials, double z) {
  if (trials <= 0) return (carom_interval){0, 1};
  double n = (double)trials, p = (double)hits / n, zz = z * z;
  double middle = (p + zz / (2 * n)) / (1 + zz / n);
  double half = z / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n));
  return (carom_interval){hits == 0 ? 0 : middle - half, hits == trials ? 1 : middle + half};
}
