// Sweeps of plans: which case begins from which.
#include <math.h>
#include <stdlib.h>

#include "sweep/program.h"
#include "test.h"
// Neighbours on a grid are a wave apart, and the middle comes first; by brute force over all cases, the nearest solved
// case of an earlier wave is the one that is found.
TEST(cases_begin_from_the_nearest_of_earlier_waves) {
  enum { NX = 5, NY = 4, N = NX * NY };
  carom_axis axes[2] = {{.name = "x", .unit = "", .from = 1, .to = 100, .logarithmic = true, .count = NX},
                        {.name = "y", .unit = "", .from = -1, .to = 1, .count = NY}};
  carom_program program = {.formula_count = 1, .tells_unsolved = true};
  carom_sweep sweep = {.axes = axes, .class_count = 5, .column_count = 2, .program = &program};
  sweep.sampling = (carom_sampling){.design = CAROM_DESIGN_GRID, .axes = axes, .axis_count = 2, .count = N};
  double values[2 * N];
  int classes[N], waves[N];
  carom_cases cases = {.count = N, .column_count = 2, .classes = classes, .values = values};
  carom_random random = carom_random_make(5, 0);
  for (int i = 0; i < N; i++) {
    carom_sampling_inputs(&sweep.sampling, i, values + 2 * i);
    waves[i] = carom_sweep_wave(&sweep, i);
    CHECK(waves[i] == abs(i / NY - 2) + abs(i % NY - 1));
  }
  for (int trial = 0; trial < 200; trial++) {
    for (int i = 0; i < N; i++) classes[i] = (int)carom_random_below(&random, 6) - 1;
    for (int i = 0; i < N; i++) {
      int64_t found = carom_cases_neighbour(&cases, &sweep, i, -1);
      double best = INFINITY;
      int expected = -1;
      for (int j = 0; j < N; j++) {
        bool solved = classes[j] == 0 || classes[j] == 3;  // solved, infeasible, limit, other, failed
        double dx = (j / NY - i / NY) / 4.0, dy = (j % NY - i % NY) / 3.0, d = dx * dx + dy * dy;
        if (solved && waves[j] < waves[i] && d < best - 1e-9) best = d, expected = j;
      }
      // Two that are as near differ by rounding in the logarithm.
      double fx = ((int)found / NY - i / NY) / 4.0, fy = ((int)found % NY - i % NY) / 3.0;
      CHECK((found < 0) == (expected < 0));
      if (found >= 0) CHECK_NEAR(fx * fx + fy * fy, best, 1e-9);
      if (found >= 0) CHECK(waves[found] < waves[i] && (classes[found] == 0 || classes[found] == 3));
    }
  }
  for (int i = 0; i < N; i++) classes[i] = 0;
  CHECK(carom_cases_neighbour(&cases, &sweep, 7, 0) == -1 && carom_cases_neighbour(&cases, &sweep, 7, 7) == 3);
}

TEST(waves_of_other_designs_double) {
  carom_sweep sweep = {.sampling = {.design = CAROM_DESIGN_HALTON}};
  const int expected[] = {0, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int i = 0; i < 9; i++) CHECK(carom_sweep_wave(&sweep, i) == expected[i]);
}
