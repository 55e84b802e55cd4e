// dlib's find_min_global: an upper bound by Lipschitz constants (LIPO), in turn with a quadratic trust region.
#include <dlib/global_optimization.h>

#include "design.h"

namespace {
using point = dlib::matrix<double, 0, 1>;

point copy(const double *from, int n) {
  point to(n);
  for (int i = 0; i < n; i++) to(i) = from[i];
  return to;
}
}  // namespace

void design_by_dlib(design_counter *c) {
  auto value = [c](const point &x) { return design_evaluate(c, &x(0)); };
  dlib::stop_condition done = [c](double) { return design_is_done(c); };
  dlib::find_min_global(value, copy(c->low, c->dimension), copy(c->high, c->dimension),
                        dlib::max_function_calls(DESIGN_BUDGET), dlib::FOREVER, 0.0,
                        std::vector<dlib::function_evaluation>{}, done);
}
