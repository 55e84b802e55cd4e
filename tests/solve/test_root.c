// Newton - Monte Carlo and its kin: orders and the law of the error against long double arithmetic of our own, rates of
// success against a second program, roots against closed forms, and all that can go wrong.
#include <float.h>

#include "carom/root.h"
#include "failing_allocator.h"
#include "heap_counter.h"
#include "test.h"

// ---- functions ------------------------------------------------------------------------------------------------------

// One equation in the form of a problem: its context is a pair of functions.
typedef struct scalar {
  double (*f)(double x), (*slope)(double x);
} scalar;

static carom_status evaluate_scalar(void *context, const double *x, double *f, double *J) {
  const scalar *s = context;
  if (f) *f = s->f(*x);
  if (J) *J = s->slope(*x);
  return CAROM_OK;
}

static carom_root_problem problem_of(scalar *s) { return (carom_root_problem){1, s, evaluate_scalar}; }

static double cubic(double x) { return x * x * x - 2 * x + 2; }
static double cubic_slope(double x) { return 3 * x * x - 2; }
static double wave(double x) { return sin(5 * x) + x - 2; }
static double wave_slope(double x) { return 5 * cos(5 * x) + 1; }
static double arc(double x) { return atan(x); }
static double arc_slope(double x) { return 1 / (1 + x * x); }
static double bell(double x) { return x * exp(-x * x); }
static double bell_slope(double x) { return (1 - 2 * x * x) * exp(-x * x); }
static double root3(double x) { return cbrt(x); }
static double root3_slope(double x) { return 1 / (3 * cbrt(x) * cbrt(x)); }
static double growth(double x) { return exp(4 * x) - 1; }  // e = x, c = f''/(2 f') = 2 at its root
static double growth_slope(double x) { return 4 * exp(4 * x); }
static scalar cubic_of = {cubic, cubic_slope}, wave_of = {wave, wave_slope}, arc_of = {arc, arc_slope};
static scalar bell_of = {bell, bell_slope}, root3_of = {root3, root3_slope}, growth_of = {growth, growth_slope};

static carom_root_info run(scalar *s, carom_root_method method, double *x) {
  carom_root_problem p = problem_of(s);
  carom_root_options o = carom_root_default_options();
  carom_root_info info = {0};
  o.method = method;
  CHECK(carom_root_solve(NULL, &p, &o, x, &info, NULL) == CAROM_OK);
  return info;
}

static carom_root_set *search(scalar *s, double start, int runs) {
  carom_root_problem p = problem_of(s);
  carom_root_runs r = carom_root_default_runs();
  carom_root_set *set = NULL;
  r.starts = &start, r.start_count = 1, r.runs = runs;
  CHECK(carom_root_search(&p, &r, NULL, NULL, &set, NULL) == CAROM_OK);
  return set;
}

static double found_of(scalar *s, double start, int runs) {
  carom_root_set *set = search(s, start, runs);
  double found = set ? (double)set->outcomes[CAROM_ROOT_FOUND] : NAN;
  carom_root_set_destroy(set);
  return found;
}

// ---- orders ---------------------------------------------------------------------------------------------------------

// Errors e_1, ... of McDougall and Wotherspoon's method on exp(4 x) = 1 from x_0, in long double; expm1l has no
// rounding near the root.
static void errors_of_half(long double x, long double *e, int count) {
  long double last = x, star = x, middle = x;
  x -= expm1l(4 * x) / (4 * expl(4 * x));
  for (int k = 0; k < count; k++) {
    e[k] = fabsl(x);
    star = x - expm1l(4 * x) / (4 * expl(4 * middle));
    middle = 0.5L * (x + star);
    last = x;
    x = last - expm1l(4 * last) / (4 * expl(4 * middle));
  }
}

// e_k grows with a power of e_0: 2, 5, 12, 29, ..., of which each is twice the one before and the one before that, so
// that their ratio, the order, goes to 1 + sqrt 2.
TEST(mixing_by_half_has_order_1_plus_sqrt_2) {
  long double a[4], b[4], slope[4];
  errors_of_half(0.070L, a, 4);
  errors_of_half(0.071L, b, 4);
  for (int k = 0; k < 4; k++) slope[k] = logl(b[k] / a[k]) / logl(0.071L / 0.070L);
  CHECK_NEAR((double)slope[0], 2, 0.1);
  CHECK_NEAR((double)(slope[2] / slope[1]), 1 + sqrt(2), 0.05);
  CHECK_NEAR((double)(slope[3] / slope[2]), 1 + sqrt(2), 0.05);
  printf("order %.4Lf, %.4Lf\n", slope[2] / slope[1], slope[3] / slope[2]);
}

typedef struct path {
  int count;
  double x[200], star[200], g[200];
} path;

static void note(void *context, const carom_root_moment *m) {
  path *p = context;
  if (m->k >= 200) return;
  p->x[m->k] = m->x[0], p->star[m->k] = m->predicted[0], p->g[m->k] = m->g;
  p->count = m->k + 1;
}

static path path_of(scalar *s, carom_root_method method, double start, uint64_t stream) {
  carom_root_problem p = problem_of(s);
  carom_root_options o = carom_root_default_options();
  carom_root_info info;
  path found = {0};
  o.method = method, o.stream = stream, o.context = &found, o.watch = note;
  CHECK(carom_root_solve(NULL, &p, &o, &start, &info, NULL) == CAROM_OK);
  return found;
}

TEST(the_library_takes_the_steps_of_the_paper) {
  long double e[4];
  path p = path_of(&growth_of, CAROM_ROOT_HALF, 0.3, 0);
  errors_of_half(0.3L, e, 4);
  REQUIRE(p.count >= 4);
  for (int k = 1; k < p.count && k <= 4; k++) CHECK_NEAR(fabs(p.x[k]), (double)e[k - 1], 1e-15);
}

// e_k+1 = c e_k ((1 - 2 g) e_k + 2 g e_k*) to leading order: step by step, in the mean, and its order 2.
TEST(random_mixing_obeys_the_law_of_its_error) {
  double n = 0, sum = 0, x = 0, y = 0, xx = 0, xy = 0, c = 2;
  for (uint64_t stream = 0; stream < 3000; stream++) {
    path p = path_of(&growth_of, CAROM_ROOT_MONTE_CARLO, 0.1, stream);
    for (int k = 1; k + 1 < p.count; k++) {
      double e = p.x[k], next = p.x[k + 1], g = p.g[k + 1];
      if (fabs(e) > 1e-3 || fabs(e) < 1e-6 || next == 0) continue;
      CHECK_NEAR(next / (c * e * e), (1 - 2 * g) + 2 * g * p.star[k + 1] / e, 5e-3 + 1e-15 / (e * e));
      n++, sum += log(fabs(next) / (e * e));
      double u = log(fabs(e)), v = log(fabs(next));
      x += u, y += v, xx += u * u, xy += u * v;
    }
  }
  REQUIRE(n > 1000);
  CHECK_NEAR(sum / n, log(c) - 1, 0.1);
  CHECK_NEAR((n * xy - x * y) / (n * xx - x * x), 2, 0.05);
  printf("%.0f steps: mean %.4f, expected %.4f; order %.4f\n", n, sum / n, log(c) - 1,
         (n * xy - x * y) / (n * xx - x * x));
}

TEST(evaluations_are_what_the_methods_cost) {
  static const int slopes[] = {1, 1, 2};
  for (carom_root_method m = CAROM_ROOT_NEWTON; m <= CAROM_ROOT_MONTE_CARLO; m++) {
    double x = 0.3;
    carom_root_info i = run(&growth_of, m, &x);
    CHECK(i.outcome == CAROM_ROOT_FOUND && fabs(x) < 1e-12);
    CHECK(i.slope_evaluations >= 1 + slopes[m] * (i.iterations - 1));
    CHECK(i.slope_evaluations <= 2 + slopes[m] * (i.iterations - 1));
    CHECK(i.f_evaluations >= i.iterations + 2 && i.f_evaluations <= i.iterations + 3);
  }
}

// ---- rates of success -----------------------------------------------------------------------------------------------

// The algorithm of Gavrea (habilitation thesis), 3.2, once more, with random numbers of another kind (xorshift64*).
static double other_uniform(uint64_t *state) {
  *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
  return (double)((*state * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

static bool other_run(const scalar *s, double x0, uint64_t *state) {
  double last = x0, star = x0, x = x0 - s->f(x0) / s->slope(x0);
  for (int k = 1; k <= 100; k++) {
    double f = s->f(x), g = other_uniform(state);
    if (fabs(f) <= 1e-12) return true;
    double next_star = x - f / s->slope((1 - g) * last + g * star);
    last = x, star = next_star;
    x -= f / s->slope((1 - g) * last + g * star);
    if (!isfinite(x)) return false;
  }
  return fabs(s->f(x)) <= 1e-12;
}

enum { MANY = 20000 };

static double other_rate(const scalar *s, double start) {
  uint64_t state = 88172645463325252u;
  int found = 0;
  for (int i = 0; i < MANY; i++) found += other_run(s, start, &state);
  return (double)found / MANY;
}

// How many of 1000 runs succeed: the trial of the method's specification, a second program, and the library agree
// within three standard deviations.
TEST(rates_of_success_agree_with_a_second_program) {
  static const struct {
    scalar *of;
    double start, trial;
  } table[] = {{&cubic_of, 0, 994}, {&wave_of, 0.25, 802}, {&arc_of, 2, 528}, {&arc_of, 3, 57}};
  for (int i = 0; i < 4; i++) {
    double ours = found_of(table[i].of, table[i].start, MANY) / MANY, other = other_rate(table[i].of, table[i].start);
    double sigma = sqrt(other * (1 - other));
    CHECK_NEAR(ours, other, 3 * sigma * sqrt(2.0 / MANY));
    CHECK_NEAR(ours, table[i].trial / 1000, 3 * sqrt(ours * (1 - ours) / 1000));
    CHECK_NEAR(found_of(table[i].of, table[i].start, 1000) / 1000, other, 3 * sigma / sqrt(1000));
    printf("%d: %.2f %%, second program %.2f %%, trial %.1f %%\n", i, 100 * ours, 100 * other, table[i].trial / 10);
  }
}

TEST(there_is_no_way_to_a_cube_root) {  // f' is infinite there: Newton's step is three times the way
  CHECK(found_of(&root3_of, 1, 1000) == 0);
  double x = 1;
  CHECK(run(&root3_of, CAROM_ROOT_NEWTON, &x).outcome != CAROM_ROOT_FOUND);
}

TEST(where_f_is_merely_small_there_is_no_root) {
  carom_root_set *set = search(&bell_of, 1, 1000);
  REQUIRE(set);
  CHECK(set->count == 0 && set->outcomes[CAROM_ROOT_FLAT] == 1000);
  carom_root_set_destroy(set);
  double starts[] = {1, 5.4, 8, 20, 27.2, 28, -30, 1e6};
  for (int i = 0; i < 8; i++)
    for (carom_root_method m = CAROM_ROOT_NEWTON; m <= CAROM_ROOT_MONTE_CARLO; m++) {
      double x = starts[i];
      CHECK(run(&bell_of, m, &x).outcome == CAROM_ROOT_FLAT);
    }
  double x = 0.3;
  CHECK(run(&bell_of, CAROM_ROOT_NEWTON, &x).outcome == CAROM_ROOT_FOUND && x == 0);
}

// Starts at which Newton's method cycles, runs off or gets lost.
TEST(most_starts_where_newton_fails_are_solved_long) {
  static const struct {
    scalar *of;
    double start;
  } table[] = {{&cubic_of, 0},    {&cubic_of, 1},    {&cubic_of, 0.05}, {&cubic_of, -0.05}, {&cubic_of, 0.98},
               {&cubic_of, 1.02}, {&wave_of, 0.25},  {&wave_of, 0.2},   {&wave_of, 0.9},    {&wave_of, -0.2},
               {&wave_of, 0.6},   {&wave_of, -0.75}, {&arc_of, 1.5},    {&arc_of, 2},       {&arc_of, -2},
               {&arc_of, 2.5},    {&arc_of, 3},      {&arc_of, -3.5},   {&bell_of, 0.75},   {&bell_of, 1}};
  int failed = 0, solved = 0;
  for (int i = 0; i < 20; i++) {
    double x = table[i].start;
    failed += run(table[i].of, CAROM_ROOT_NEWTON, &x).outcome != CAROM_ROOT_FOUND;
    solved += found_of(table[i].of, table[i].start, 100) > 0;
  }
  CHECK(failed == 20);
  CHECK(solved >= 15);
  printf("Newton fails at %d of 20 starts; %d of them are solved\n", failed, solved);
}

// ---- equations as text ----------------------------------------------------------------------------------------------

static carom_root_equations *read(const char *const *expressions, const char *const *variables, bool plane,
                                  carom_error *error) {
  int n = 0;
  while (expressions[n]) n++;
  carom_root_equations *e;
  const carom_root_text text = {expressions, n, variables, plane};
  carom_root_equations_create(&text, NULL, &e, error);
  return e;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

// Searches from a start; null when the text is wrong.
static carom_root_set *search_text(carom_root_equations *e, const double *start, int runs) {
  carom_root_runs r = carom_root_default_runs();
  carom_root_problem p = carom_root_equations_problem(e);
  carom_root_set *set = NULL;
  r.starts = start, r.start_count = 1, r.runs = runs;
  CHECK(carom_root_search(&p, &r, NULL, NULL, &set, NULL) == CAROM_OK);
  return set;
}

static void check_among(const carom_root_set *set, const double *roots, int count, double tolerance) {
  for (int k = 0; k < set->count; k++) {
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
      double off = 0;
      for (int j = 0; j < set->n; j++) off = fmax(off, fabs(set->roots[k].x[j] - roots[i * set->n + j]));
      least = fmin(least, off);
    }
    CHECK_AT_MOST(least, tolerance);
  }
}

TEST(systems_have_the_roots_of_their_closed_forms) {
  double s = sqrt(2) / 2, u = sqrt((2 + sqrt(3)) / 4), v = sqrt((2 - sqrt(3)) / 4);
  static const char *const rosenbrock[] = {"-400*x*(y - x^2) - 2*(1 - x)", "200*(y - x^2)", NULL};
  static const char *const roth[] = {"-13 + x + ((5 - y)*y - 2)*y", "-29 + x + ((y + 1)*y - 14)*y", NULL};
  static const char *const brown[] = {"2*a + b + c - 4", "a + 2*b + c - 4", "a*b*c - 1", NULL};
  double g = (1 + sqrt(13)) / 6, l = (1 - sqrt(13)) / 6;
  const struct {
    const char *const *text;
    double start[3], roots[4][3];
    int n, roots_count, least;
  } table[] = {
      {WORDS("x^2 + y^2 - 1", "x - y"), {0.5, 0.2}, {{s, s}, {-s, -s}}, 2, 2, 1},
      {WORDS("x^2 + y^2 - 1", "x*y - 0.25"), {0.6, 0.61}, {{u, v}, {v, u}, {-u, -v}, {-v, -u}}, 2, 4, 1},
      {WORDS("x^2/4 + y^2 - 1", "x^2 - y^2/4 - 1"),
       {0.1, 0.1},
       {{sqrt(20. / 17), sqrt(12. / 17)},
        {-sqrt(20. / 17), sqrt(12. / 17)},
        {sqrt(20. / 17), -sqrt(12. / 17)},
        {-sqrt(20. / 17), -sqrt(12. / 17)}},
       2,
       4,
       1},
      {rosenbrock, {-1.2, 1}, {{1, 1}}, 2, 1, 1},
      {roth, {0.5, -2}, {{5, 4}}, 2, 1, 1},
      {brown, {0.5, 0.5, 0.5}, {{1, 1, 1}, {g, g, 4 - 3 * g}, {l, l, 4 - 3 * l}}, 3, 3, 1},
  };
  for (int i = 0; i < 6; i++) {
    carom_root_equations *e = read(table[i].text, NULL, false, NULL);
    REQUIRE(e);
    carom_root_set *set = search_text(e, table[i].start, 400);
    double roots[12];
    for (int k = 0; k < table[i].roots_count; k++)
      for (int j = 0; j < table[i].n; j++) roots[k * table[i].n + j] = table[i].roots[k][j];
    CHECK(set->count >= table[i].least);
    check_among(set, roots, table[i].roots_count, 1e-9);
    printf("%s: %d roots, %lld of 400 runs\n", table[i].text[0], set->count, (long long)set->outcomes[0]);
    carom_root_set_destroy(set);
    carom_root_equations_destroy(e);
  }
}

// Newton's method cycles about 0 and 1 in the plane as on the line.
TEST(mixing_leaves_cycles_of_newton_in_the_plane) {
  carom_root_equations *e = read(WORDS("z^3 - 2*z + 2"), NULL, true, NULL);
  REQUIRE(e);
  carom_root_problem p = carom_root_equations_problem(e);
  carom_root_runs runs = {.starts = (const double[]){0.02, 0.03}, .start_count = 1, .runs = 200, .near = 1e-6};
  carom_root_options o = carom_root_default_options();
  for (carom_root_method m = CAROM_ROOT_NEWTON; m <= CAROM_ROOT_MONTE_CARLO; m += 2) {
    carom_root_set *set;
    o.method = m;
    REQUIRE(carom_root_search(&p, &runs, &o, NULL, &set, NULL) == CAROM_OK);
    CHECK(set->count == (m == CAROM_ROOT_NEWTON ? 0 : 3));
    CHECK(set->outcomes[CAROM_ROOT_FOUND] >= (m == CAROM_ROOT_NEWTON ? 0 : 195));
    carom_root_set_destroy(set);
  }
  carom_root_equations_destroy(e);
}

// (x - r_1) ... (x - r_n) with roots that are not too near, from random starts: whatever is found is one of them, and
// all are found from enough starts.
static int check_polynomial(carom_random *random, int *found) {
  enum { STARTS = 40 };
  int n = 2 + (int)carom_random_below(random, 4);
  double r[6], starts[STARTS];
  char text[400] = "1";
  for (int i = 0; i < n; i++) {
    r[i] = -2 + (4.0 * i + carom_random_between(random, 0.2, 3)) / n;
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "*(x - (%.17g))", r[i]);
  }
  for (int i = 0; i < STARTS; i++) starts[i] = carom_random_between(random, -3, 3);
  carom_root_equations *e = read(WORDS(text), NULL, false, NULL);
  carom_root_problem p = carom_root_equations_problem(e);
  carom_root_runs runs = {.starts = starts, .start_count = STARTS, .runs = 20, .near = 1e-6};
  carom_root_set *set;
  CHECK(carom_root_search(&p, &runs, NULL, NULL, &set, NULL) == CAROM_OK);
  check_among(set, r, n, 1e-9);
  *found += set->count;
  carom_root_set_destroy(set);
  carom_root_equations_destroy(e);
  return n;
}

TEST(random_polynomials_have_their_roots_and_no_others) {
  carom_random random = carom_random_make(7, 0);
  int roots = 0, found = 0;
  for (int i = 0; i < 100; i++) roots += check_polynomial(&random, &found);
  CHECK(found <= roots);
  CHECK(found >= roots * 99 / 100);
  printf("%d of %d roots\n", found, roots);
}

TEST(roots_of_one_are_found_in_the_complex_plane) {
  double unit[10], starts[40];
  carom_random random = carom_random_make(3, 0);
  for (int k = 0; k < 5; k++) unit[2 * k] = cos(k * 0.4 * acos(-1)), unit[2 * k + 1] = sin(k * 0.4 * acos(-1));
  for (int i = 0; i < 40; i++) starts[i] = carom_random_between(&random, -2, 2);
  carom_root_equations *e = read(WORDS("z^5 - 1"), NULL, true, NULL);
  REQUIRE(e);
  carom_root_problem p = carom_root_equations_problem(e);
  carom_root_runs runs = {.starts = starts, .start_count = 20, .runs = 10, .near = 1e-6};
  carom_root_set *set;
  REQUIRE(carom_root_search(&p, &runs, NULL, NULL, &set, NULL) == CAROM_OK);
  CHECK(set->count == 5 && set->n == 2);
  check_among(set, unit, 5, 1e-12);
  carom_root_set_destroy(set);
  carom_root_equations_destroy(e);
}

// Derivatives of all functions, against differences: along both axes in the complex plane, along x on the line.
TEST(derivatives_agree_with_differences) {
  static const char *const texts[] = {
      "sqrt(z)",    "sin(z)",    "cos(z)", "tan(z)",    "asin(z)",
      "acos(z)",    "atan(z)",   "exp(z)", "log(z)",    "z^7 - 3/z^2",
      "z^2.5 - -z", "2^z + z^z", "z^0",    "z/(1+z)^3", "(z - 2)*exp(-z^2)/sqrt(1 + z)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int plane = 0; plane < 2; plane++) {
      carom_root_equations *e = read(WORDS(texts[i]), NULL, plane, NULL);
      if (!e && i == 12) continue;  // z^0 is folded: no unknown is left
      REQUIRE(e);
      carom_root_problem p = carom_root_equations_problem(e);
      double x[2] = {0.4, 0.3}, J[4], a[2], b[2];
      p.evaluate(p.context, x, NULL, J);
      for (int j = 0; j < p.n; j++) {
        double h = 1e-5;
        x[j] += h, p.evaluate(p.context, x, a, NULL);
        x[j] -= 2 * h, p.evaluate(p.context, x, b, NULL);
        x[j] += h;
        for (int k = 0; k < p.n; k++)
          CHECK_NEAR(J[k + j * p.n], (a[k] - b[k]) / (2 * h), 1e-7 * fmax(1, fabs(J[k + j * p.n])));
      }
      carom_root_equations_destroy(e);
    }
}

TEST(unknowns_come_in_the_order_asked_for) {
  carom_root_equations *e = read(WORDS("y - 2", "x - 1"), NULL, false, NULL);
  REQUIRE(e);
  CHECK_TEXT(carom_root_equations_variable(e, 0), "x");
  CHECK_TEXT(carom_root_equations_variable(e, 1), "y");
  carom_root_equations_destroy(e);
  e = read(WORDS("y - 2", "x - 1"), WORDS("y", "x"), false, NULL);
  REQUIRE(e);
  carom_root_set *set = search_text(e, (double[]){0, 0}, 1);
  CHECK(set->count == 1 && set->roots[0].x[0] == 2 && set->roots[0].x[1] == 1);
  carom_root_set_destroy(set);
  carom_root_equations_destroy(e);
}

TEST(mistakes_in_equations_are_answered) {
  static const struct {
    const char *text, *other, *variable, *part;
    bool plane;
  } table[] = {
      {"x^3 - 2*", NULL, NULL, "column 9: the expression ends", false},
      {"x^3 - 2*y)", NULL, NULL, "column 10: unexpected ')'", false},
      {"x + sni(x)", NULL, NULL, "column 5: unknown name 'sni'; did you mean 'sin'?", false},
      {"x + $", NULL, NULL, "column 5", false},
      {"", NULL, NULL, "column 1", false},
      {"2 + 3", NULL, NULL, "there is no unknown", false},
      {"x + y", NULL, NULL, "1 expression for 2 unknowns (x, y)", false},
      {"x", "x - 1", NULL, "2 expressions for 1 unknown (x)", false},
      {"x + y", NULL, "x", "unknown name 'y'", false},
      {"x", NULL, "sin", "'sin' cannot be the name", false},
      {"x", NULL, "2x", "'2x' cannot be the name", false},
      {"x", "y", "x", "named twice", false},
      {"abs(z) - 1", NULL, NULL, "abs has no derivative in the complex plane", true},
      {"if(z > 1, z, 2)", NULL, NULL, "has no derivative in the complex plane", true},
      {"x + y", "x", NULL, "the complex plane is for one expression", true},
      {"x/0", NULL, NULL, "division by zero", false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    carom_error error = {0};
    const char *const variables[] = {table[i].variable, table[i].variable, NULL};
    carom_root_equations *e =
        read(WORDS(table[i].text, table[i].other), table[i].variable ? variables : NULL, table[i].plane, &error);
    CHECK(!e && error.status == CAROM_ERR_FORMAT);
    CHECK_CONTAINS(error.message, table[i].part);
    carom_root_equations_destroy(e);
  }
}

// ---- what counts as a root ------------------------------------------------------------------------------------------

static carom_root_outcome outcome_of(const char *text, double start, carom_root_method method, double *x) {
  carom_root_equations *e = read(WORDS(text), NULL, false, NULL);
  carom_root_problem p = carom_root_equations_problem(e);
  carom_root_options o = carom_root_default_options();
  carom_root_info info;
  o.method = method;
  *x = start;
  CHECK(carom_root_solve(NULL, &p, &o, x, &info, NULL) == CAROM_OK);
  carom_root_equations_destroy(e);
  return info.outcome;
}

TEST(roots_are_known_at_any_scale_and_multiplicity) {
  static const struct {
    const char *text;
    double start, root, tolerance;
    carom_root_outcome outcome;
  } table[] = {
      {"x^2 - 2e10", 3, 141421.35623730951, 1e-10, CAROM_ROOT_FOUND},  // f comes out of rounding at 4e-6
      {"1e20*(x^2 - 2)", 3, 1.4142135623730951, 1e-15, CAROM_ROOT_FOUND},
      {"1e-20*(x^2 - 2)", 3, 1.4142135623730951, 1e-8, CAROM_ROOT_FOUND},  // |f| is below the tolerance everywhere
      {"x^2", 0, 0, 0, CAROM_ROOT_FOUND},                                  // f' = 0, and f > 0 on both sides
      {"x^3", 0, 0, 0, CAROM_ROOT_FOUND},
      {"x^2", 1, 0, 1e-7, CAROM_ROOT_FOUND},
      {"(x - 1)^4", 3, 1, 1e-6, CAROM_ROOT_FOUND},
      {"x - x^2", 0, 0, 0, CAROM_ROOT_FOUND},
      {"x^2 + 1e-13", 0, 0, 0, CAROM_ROOT_SINGULAR},  // small, but f' = 0: nothing proves a root, and there is none
      {"max(x, 0)", -1, 0, 0, CAROM_ROOT_FLAT},       // zero all about
      {"x^2 - 2", 0, 0, 0, CAROM_ROOT_SINGULAR},
      {"sqrt(x) - 2", -1, 0, 0, CAROM_ROOT_NO_NUMBER},
      {"log(x) + 1", 4, 0, 0, CAROM_ROOT_NO_NUMBER},  // Newton's step leaves the domain
      {"1/x", 1, 0, 0, CAROM_ROOT_FLAT},
      {"exp(x)", 0, 0, 0, CAROM_ROOT_FLAT},
      {"exp(exp(x))", 7, 0, 0, CAROM_ROOT_NO_NUMBER},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    double x;
    carom_root_outcome outcome = outcome_of(table[i].text, table[i].start, CAROM_ROOT_NEWTON, &x);
    if (outcome != table[i].outcome)
      test_fail(__FILE__, __LINE__, "%s: %s", table[i].text, carom_root_outcome_name(outcome));
    if (table[i].outcome == CAROM_ROOT_FOUND) CHECK_NEAR(x, table[i].root, table[i].tolerance);
  }
}

TEST(functions_without_roots_have_none) {
  static const char *const texts[] = {"exp(x)",
                                      "1/(1 + x^2)",
                                      "x^2 + 1e-9",
                                      "2 + sin(x)",
                                      "exp(-x^2)",
                                      "1/(x - 1)",
                                      "1/sin(x)",
                                      "exp(-x) + 1e-10",
                                      "x + 1/x",
                                      "x^4 - x + 2",
                                      "log(1 + x^2) + 0.01",
                                      "1/x^3",
                                      "sqrt(1 + x^2) + x/2",
                                      "exp(-abs(x))",
                                      "atan(x) + 2"};
  double starts[21];
  for (int i = 0; i < 21; i++) starts[i] = -3 + 0.3 * i + 0.01;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    carom_root_equations *e = read(WORDS(texts[i]), NULL, false, NULL);
    REQUIRE(e);
    carom_root_problem p = carom_root_equations_problem(e);
    carom_root_runs runs = {.starts = starts, .start_count = 21, .runs = 50, .near = 1e-6};
    carom_root_set *set;
    REQUIRE(carom_root_search(&p, &runs, NULL, NULL, &set, NULL) == CAROM_OK);
    if (set->count > 0) test_fail(__FILE__, __LINE__, "%s: %.17g", texts[i], set->roots[0].x[0]);
    carom_root_set_destroy(set);
    carom_root_equations_destroy(e);
  }
}

// Of a function with roots without number: a million ends would take for ever if each was compared with all roots.
TEST(many_roots_are_told_apart) {
  carom_root_equations *e = read(WORDS("sin(x)"), NULL, false, NULL);
  carom_root_set *set = search_text(e, (double[]){1.57}, 50000);
  REQUIRE(set);
  CHECK(set->count > 200);
  for (int k = 0; k < set->count; k++) {
    double x = set->roots[k].x[0], pi = acos(-1);
    CHECK_NEAR(x, pi * round(x / pi), 1e-9 * fmax(1, fabs(x)));
    CHECK(k == 0 || x - set->roots[k - 1].x[0] > 1e-6);
  }
  printf("%d roots\n", set->count);
  carom_root_set_destroy(set);
  carom_root_equations_destroy(e);
}

TEST(a_bound_ends_what_runs_off) {
  double x = 3;
  carom_root_problem p = problem_of(&arc_of);
  carom_root_options o = carom_root_default_options();
  carom_root_info info;
  o.method = CAROM_ROOT_NEWTON, o.bound = 1000;
  CHECK(carom_root_solve(NULL, &p, &o, &x, &info, NULL) == CAROM_OK);
  CHECK(info.outcome == CAROM_ROOT_FAR && info.iterations < 10);
}

TEST(roots_that_are_near_count_as_one) {
  double start[2] = {-1, 1};
  static const struct {
    const char *text;
    double near;
    int count;
  } table[] = {{"(x - 1e-4)*(x + 1e-4)", 1e-6, 2}, {"(x - 1e-4)*(x + 1e-4)", 1e-3, 1}, {"x - 1", 0, 1}};
  for (int i = 0; i < 3; i++) {
    carom_root_equations *e = read(WORDS(table[i].text), NULL, false, NULL);
    carom_root_problem p = carom_root_equations_problem(e);
    carom_root_runs runs = {.starts = start, .start_count = 2, .runs = 50, .near = table[i].near};
    carom_root_set *set;
    REQUIRE(carom_root_search(&p, &runs, NULL, NULL, &set, NULL) == CAROM_OK);
    CHECK(set->count == table[i].count);
    int64_t hits = 0;
    for (int k = 0; k < set->count; k++) hits += set->roots[k].hits;
    CHECK(hits == set->outcomes[CAROM_ROOT_FOUND]);
    CHECK(set->count < 2 || set->roots[0].x[0] < set->roots[1].x[0]);
    for (int64_t k = 0; k < set->run_count; k++)
      CHECK(set->root_of[k] < 0 ||
            fabs(set->roots[set->root_of[k]].x[0] - set->ends[k]) <= 2 * fmax(table[i].near, 1e-15));
    carom_root_set_destroy(set);
    carom_root_equations_destroy(e);
  }
}

// ---- threads, memory, mistakes --------------------------------------------------------------------------------------

TEST(the_answer_does_not_depend_on_threads) {
  carom_root_problem p = problem_of(&wave_of);
  const double starts[3] = {0.25, -1, 3};
  carom_root_set *first = NULL;
  for (int threads = 1; threads <= 8; threads *= 2) {
    carom_root_runs runs = {.starts = starts, .start_count = 3, .runs = 300, .threads = threads, .near = 1e-6};
    carom_root_set *set;
    REQUIRE(carom_root_search(&p, &runs, NULL, NULL, &set, NULL) == CAROM_OK);
    if (!first) first = set;
    CHECK(memcmp(set->ends, first->ends, (size_t)set->run_count * sizeof *set->ends) == 0);
    CHECK(memcmp(set->root_of, first->root_of, (size_t)set->run_count * sizeof *set->root_of) == 0);
    CHECK(set->count == first->count && set->f_evaluations == first->f_evaluations);
    CHECK(memcmp(set->outcomes, first->outcomes, sizeof set->outcomes) == 0);
    for (int k = 0; k < set->count; k++) CHECK(set->roots[k].x[0] == first->roots[k].x[0]);
    for (int64_t k = 0; k < set->run_count; k++) CHECK(set->infos[k].residual == first->infos[k].residual);
    if (set != first) carom_root_set_destroy(set);
  }
  carom_root_set_destroy(first);
}

TEST(run_i_is_stream_i) {
  carom_root_set *set = search(&wave_of, 0.25, 20);
  REQUIRE(set);
  for (uint64_t i = 0; i < 20; i++) {
    path p = path_of(&wave_of, CAROM_ROOT_MONTE_CARLO, 0.25, i);
    carom_random random = carom_random_make(1, i);
    for (int k = 2; k < p.count; k++) CHECK(p.g[k] == carom_random_uniform(&random));
    CHECK(p.count == set->infos[i].iterations + 1);
    if (set->root_of[i] >= 0) CHECK_NEAR(p.x[p.count - 1], set->ends[i], set->infos[i].step + 1e-14);
  }
  carom_root_set_destroy(set);
}

TEST(solves_leave_the_heap_alone) {
  if (!MALLOC_COUNTED) test_skip("this build counts no requests");
  carom_root_equations *e = read(WORDS("x^2 + y^2 - 1", "x*y - 0.25"), NULL, false, NULL);
  carom_root_problem p = carom_root_equations_problem(e), one = problem_of(&wave_of);
  carom_root_work *work;
  carom_root_info info;
  REQUIRE(carom_root_work_create(2, NULL, &work, NULL) == CAROM_OK);
  long before = heap_calls, left = heap_left;
  for (int i = 0; i < 50; i++) {
    carom_root_options o = carom_root_default_options();
    double x[2] = {0.3, 0.1 + 0.01 * i};
    o.stream = (uint64_t)i, o.method = (carom_root_method)(i % 3);
    carom_root_solve(work, &p, &o, x, &info, NULL);
    carom_root_solve(NULL, &one, &o, x, &info, NULL);
  }
  CHECK(heap_calls == before && heap_left == left);
  carom_root_work_destroy(work);
  carom_root_equations_destroy(e);
}

// Everything that allocates, with less memory than it takes.
static carom_status with_memory(const carom_allocator *a) {
  carom_root_equations *e;
  carom_root_set *set = NULL;
  const carom_root_text text = {WORDS("x^2 + y^2 - 1", "x*y - 0.25"), 2, NULL, false};
  carom_status status = carom_root_equations_create(&text, a, &e, NULL);
  CHECK((status == CAROM_OK) == (e != NULL));
  if (status != CAROM_OK) return status;
  carom_root_problem p = carom_root_equations_problem(e);
  const double start[2] = {0.6, 0.61};
  carom_root_runs runs = {.starts = start, .start_count = 1, .runs = 40, .threads = 2, .near = 1e-6};
  status = carom_root_search(&p, &runs, NULL, a, &set, NULL);
  CHECK((status == CAROM_OK) == (set != NULL));
  carom_root_set_destroy(set);
  carom_root_equations_destroy(e);
  return status;
}

TEST(memory_that_is_refused_is_told) {
  for (int allowed = 0; allowed < 200; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_status status = with_memory(&a);
    CHECK(f.live == 0);
    CHECK(status == CAROM_ERR_MEMORY || (status == CAROM_OK && allowed > 10));
    if (status == CAROM_OK) return;
  }
  test_fail(__FILE__, __LINE__, "it never succeeded");
}

static carom_status refuse(void *context, const double *x, double *f, double *J) {
  (void)context, (void)x, (void)f, (void)J;
  return CAROM_INTERRUPTED;
}

TEST(mistakes_of_the_caller_are_answered) {
  carom_root_problem p = problem_of(&wave_of), two = p, broken = {1, NULL, refuse};
  carom_root_options o = carom_root_default_options();
  carom_root_info info;
  carom_error error = {0};
  carom_root_work *work;
  double x = NAN;
  CHECK(carom_root_solve(NULL, &p, &o, &x, &info, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "component 1 is nan");
  x = 0, two.n = 2;
  CHECK(carom_root_solve(NULL, &two, &o, &x, &info, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_root_solve(NULL, &broken, &o, &x, &info, &error) == CAROM_INTERRUPTED);
  CHECK(carom_root_work_create(0, NULL, &work, &error) == CAROM_ERR_ARGUMENT && !work);
  CHECK(carom_root_work_create(CAROM_ROOT_MOST + 1, NULL, &work, &error) == CAROM_ERR_ARGUMENT && !work);
  for (int i = 0; i < 7; i++) {
    carom_root_options bad = o;
    if (i == 0) bad.max_iterations = 0;
    if (i == 1) bad.tolerance = NAN;
    if (i == 2) bad.tolerance = 0;
    if (i == 3) bad.step_tolerance = 1;
    if (i == 4) bad.bound = NAN;
    if (i == 5) bad.method = (carom_root_method)9;
    if (i == 6) bad.tolerance = INFINITY;
    CHECK(carom_root_solve(NULL, &p, &bad, &x, &info, &error) == CAROM_ERR_ARGUMENT);
  }
}

TEST(mistakes_in_searches_are_answered) {
  carom_root_problem p = problem_of(&wave_of), broken = {1, NULL, refuse};
  const double start = 0.25, wrong[2] = {0.25, INFINITY};
  const carom_root_runs good = {.starts = &start, .start_count = 1, .runs = 5, .near = 1e-6};
  carom_root_set *set;
  carom_error error = {0};
  for (int i = 0; i < 5; i++) {
    carom_root_runs bad = good;
    if (i == 0) bad.starts = NULL;
    if (i == 1) bad.start_count = 0;
    if (i == 2) bad.runs = 0;
    if (i == 3) bad.near = NAN;
    if (i == 4) bad.runs = 2000000000;
    CHECK(carom_root_search(&p, &bad, NULL, NULL, &set, &error) == CAROM_ERR_ARGUMENT && !set);
  }
  carom_root_runs far = good;
  far.starts = wrong, far.start_count = 2;
  CHECK(carom_root_search(&p, &far, NULL, NULL, &set, &error) == CAROM_ERR_NUMBER && !set);
  CHECK(carom_root_search(&broken, &good, NULL, NULL, &set, &error) == CAROM_INTERRUPTED && !set);
}
