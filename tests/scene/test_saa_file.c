// Stochastic programs in files: what is read of good ones, in YAML and SMPS; broken YAML, tests/data/bad_saa/NAME.yaml,
// must give exactly the lines of NAME.expected, broken SMPS the messages told here.
#include "bad_files.h"
#include "carom/saa_file.h"
#include "failing_allocator.h"

static bool read_saa(const char *path, carom_diagnostics *found) {
  carom_saa_file *file = NULL;
  carom_status status = carom_saa_read(path, NULL, NULL, &file, found);
  bool read = status == CAROM_OK || file;
  carom_saa_file_destroy(file);
  return read;
}

TEST(all_broken_stochastic_programs) { CHECK(bad_check_folder(CAROM_TEST_DATA "/bad_saa/", read_saa) >= 45); }

// ---- good ones ------------------------------------------------------------------------------------------------------

static carom_saa_file *read_good(const char *path) {
  carom_saa_file *file = NULL;
  carom_diagnostics found = {0};
  carom_saa_read(path, NULL, NULL, &file, &found);
  for (int i = 0; i < found.count; i++)
    test_fail(__FILE__, __LINE__, "%s:%d: %s", path, found.items[i].line, found.items[i].message);
  carom_diagnostics_release(&found);
  return file;
}

// The least cost over all scenarios of a file, and x.
static double solve_file(const char *path, double *x) {
  carom_saa_file *file = read_good(path);
  carom_saa_answer *a = NULL;
  carom_error error = {0};
  double cost = NAN;
  if (file && carom_saa_solve(&file->model.problem, &file->scenarios, NULL, NULL, &a, &error) == CAROM_OK) {
    CHECK(a->outcome == CAROM_SAA_SOLVED);
    CHECK_AT_MOST(a->residual, 1e-9);
    cost = a->objective;
    for (int k = 0; x && k < a->n; k++) x[k] = a->x[k];
  } else if (file) {
    test_fail(__FILE__, __LINE__, "%s: %s", path, error.message);
  }
  carom_saa_answer_destroy(a);
  carom_saa_file_destroy(file);
  return cost;
}

static void write_text(const char *path, const char *text) {
  FILE *out = fopen(path, "wb");
  if (!out || fputs(text, out) < 0 || fclose(out) != 0) test_fail(__FILE__, __LINE__, "cannot write %s", path);
}

TEST(the_farmer_is_the_same_in_both_formats) {
  double yaml[3], smps[3];
  CHECK_NEAR(solve_file(CAROM_EXAMPLES "/stochastic-farmer/problem.yaml", yaml), -108390, 1e-6);
  CHECK_NEAR(solve_file(CAROM_EXAMPLES "/stochastic-farmer/farmer.cor", smps), -108390, 1e-4);  // 0.3333333333
  for (int k = 0; k < 3; k++) CHECK_NEAR(yaml[k], smps[k], 1e-7);
}

TEST(names_are_kept) {
  carom_saa_file *file = read_good(CAROM_EXAMPLES "/stochastic-farmer/problem.yaml");
  char text[100];
  REQUIRE(file);
  CHECK_TEXT(file->title, "The farmer");
  CHECK_TEXT(file->model.problem.x_names[2], "beets");
  CHECK_TEXT(file->model.problem.y_names[5], "beets_dumped");
  CHECK_TEXT(file->model.problem.first_names[0], "land");
  CHECK_TEXT(file->model.problem.row_names[2], "beet_harvest");
  file->scenarios.name(file->scenarios.context, 2, text, sizeof text);
  CHECK_TEXT(text, "good");
  CHECK(file->scenarios.count == 3 && file->file_count == 1 && !file->maximize);
  carom_saa_file_destroy(file);
}

// Every kind of term: min (x - a)^2 + 2 x y + 3 y^2 - d y over four equal scenarios in closed form.
TEST(quadratic_terms_mean_what_is_written) {
  write_text(
      "q.yaml",
      "carom-saa: 1\nconstants: {a: 2}\nrandom:\n  d: {discrete: [1, 3, 5, 7]}\nfirst:\n  x: null\nsecond:\n  y: null\n"
      "minimize: [(x - a)^2, 2*x*y, 3*y^2 - d*y]\n");
  double x;
  double cost = solve_file("q.yaml", &x);
  // y = (d - 2x)/6; E: (x - 2)^2 - E (d - 2x)^2/12
  double best = INFINITY, at = 0;
  for (double t = -10; t <= 10; t += 1e-3) {
    double sum = (t - 2) * (t - 2);
    for (int d = 1; d <= 7; d += 2) sum -= (d - 2 * t) * (d - 2 * t) / 48;
    if (sum < best) best = sum, at = t;
  }
  CHECK_NEAR(cost, best, 1e-6);
  CHECK_NEAR(x, at, 1e-3);
}

TEST(loops_and_tables_are_written_out) {
  write_text("t.csv", "name,probability,up,down (m)\nlow,0.25,1,2\nhigh,0.75,3,6\n");
  write_text("t.yaml",
             "carom-saa: 1\nrandom:\n  up: {table: t.csv}\n  down: {table: t.csv}\n  \"e{k}\": {discrete: [0, 1], for: "
             "{k: [1, 2]}}\n"
             "first:\n  \"x{k}\": {for: {k: [0, 2]}, lower: k_low}\nsecond:\n  y: {lower: up, upper: 2*down}\n"
             "constants: {k_low: -1}\n"
             "maximize: y - x0 - x1 - x2\nconstraints:\n  \"c{k}\": {for: {k: [1, 2]}, that: \"y - x{k} <= 10*e{k} + "
             "down\"}\n  f: 0 <= x0 + x1 <= 8\n");
  carom_saa_file *file = read_good("t.yaml");
  REQUIRE(file);
  const carom_saa_problem *p = &file->model.problem;
  CHECK(p->n == 3 && p->m == 1 && p->rows == 2 && p->first_rows == 1 && file->scenarios.count == 8);
  CHECK_TEXT(p->x_names[2], "x2");
  CHECK_TEXT(p->row_names[1], "c2");
  CHECK(file->maximize && file->file_count == 2);
  char text[100];
  file->scenarios.name(file->scenarios.context, 5, text, sizeof text);
  CHECK_TEXT(text, "high, e1 0, e2 1");
  double values[20], probability;
  CHECK(file->scenarios.scenario(file->scenarios.context, 5, values, &probability, NULL) == CAROM_OK);
  CHECK_NEAR(probability, 0.75 / 4, 1e-15);
  carom_saa_file_destroy(file);
}

// Means and deviations of what is drawn, within four standard errors.
TEST(distributions_have_their_moments) {
  static const char *const texts[] = {"uniform: [2, 5]", "normal: [3, 0.5]", "lognormal: [0.1, 0.4]", "exponential: 2",
                                      "discrete: {values: [1, 2, 10], probabilities: [0.5, 0.25, 0.25]}"};
  static const double means[] = {3.5, 3, 1.19721736312181, 2, 3.5}, squares[] = {13, 9.25, 1.68202764969889, 8, 26.5};
  enum { DRAWS = 40000 };
  for (int k = 0; k < 5; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "carom-saa: 1\nrandom:\n  w: {%s}\nsecond:\n  y: null\nminimize: y^2\nconstraints:\n  c: y == w\n",
             texts[k]);
    write_text("d.yaml", text);
    carom_saa_file *file = read_good("d.yaml");
    REQUIRE(file);
    double sum = 0, square = 0, fourth = 0, values[4];
    for (int i = 0; i < DRAWS; i++) {
      carom_random r = carom_random_make(9, (uint64_t)i);
      file->model.draw(file->model.context, &r, values);
      sum += values[0] / DRAWS, square += values[0] * values[0] / DRAWS, fourth += pow(values[0], 4) / DRAWS;
    }
    CHECK_NEAR(sum, means[k], 4 * sqrt((squares[k] - means[k] * means[k]) / DRAWS));
    CHECK_NEAR(square, squares[k], 4 * sqrt((fourth - square * square) / DRAWS));
    carom_saa_file_destroy(file);
  }
}

TEST(overrides_change_yaml) {
  static const char *const sets[] = {"constants.price=2"};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = sets, options.override_count = 1;
  write_text("o.yaml",
             "carom-saa: 1\nconstants: {price: 1}\nrandom:\n  w: {discrete: [1, 2]}\nfirst:\n  x: {lower: "
             "0}\nminimize: price*x\nconstraints:\n  c: x >= w\n");
  carom_saa_file *file = NULL;
  carom_diagnostics found = {0};
  carom_saa_answer *a = NULL;
  REQUIRE(carom_saa_read("o.yaml", &options, NULL, &file, &found) == CAROM_OK);
  REQUIRE(carom_saa_solve(&file->model.problem, &file->scenarios, NULL, NULL, &a, NULL) == CAROM_OK);
  CHECK_NEAR(a->objective, 4, 1e-8);
  carom_saa_answer_destroy(a);
  carom_saa_file_destroy(file);
  carom_diagnostics_release(&found);
}

// ---- SMPS -----------------------------------------------------------------------------------------------------------

// min x + E[ 2 u + 3 v ], u + v + x >= d, u <= 3, with a quadratic term; in words.
static const char core[] =
    "NAME little\nROWS\n N cost\n N other\n L first\n G meet\n E both\nCOLUMNS\n x cost 1 first 1\n x meet 1 other 5\n "
    "u cost 2 meet 1\n"
    " u both 1\n v cost 3 meet 1\n z both 1 cost 0.5\nRHS\n rhs first 10 meet 4\n rhs both 5\nRANGES\n rng first 4\n"
    "BOUNDS\n UP bnd u 3\n FR bnd z\nQUADOBJ\n x x 0.5\n z z 1\n x u 0.125\n u u 0.5\nENDATA\n";
static const char tim[] = "TIME little\nPERIODS\n x first now\n u meet then\nENDATA\n";
static const char sto[] =
    "STOCH little\nINDEP DISCRETE\n rhs meet 8 then 0.5\n rhs meet 12 then 0.5\n v cost 3 0.25\n v cost 5 "
    "0.75\nENDATA\n";
static const char as_yaml[] =
    "carom-saa: 1\nrandom:\n  d: {discrete: [8, 12]}\n  p: {discrete: {values: [3, 5], probabilities: [0.25, 0.75]}}\n"
    "first:\n  x: {lower: 0}\nsecond:\n  u: {lower: 0, upper: 3}\n  v: {lower: 0}\n  z: null\n"
    "minimize: x + 0.25*x^2 + 2*u + p*v + 0.5*z + 0.5*z^2 + 0.125*x*u + 0.25*u^2\nconstraints:\n  first: 6 <= x <= "
    "10\n  meet: x + u + v >= d\n  both: u + z == 5\n";

static void write_smps(const char *c, const char *t, const char *s) {
  write_text("p.cor", c), write_text("p.tim", t), write_text("p.sto", s);
}

TEST(smps_and_yaml_say_the_same) {
  double x[2];
  write_smps(core, tim, sto);
  write_text("p.yaml", as_yaml);
  double a = solve_file("p.cor", &x[0]), b = solve_file("p.yaml", &x[1]);
  CHECK_NEAR(a, b, 1e-9);
  CHECK_NEAR(x[0], x[1], 1e-7);
}

// QMATRIX has both triangles, ADD and MULTIPLY change the core, MAX turns all costs about.
TEST(ways_to_write_smps_agree) {
  double expected;
  write_smps(core, tim, sto);
  expected = solve_file("p.cor", NULL);
  char changed[2000];
  snprintf(changed, sizeof changed, "%.*sQMATRIX\n x x 0.5\n z z 1\n x u 0.125\n u x 0.125\n u u 0.5\nENDATA\n",
           (int)(strstr(core, "QUADOBJ") - core), core);
  write_smps(changed, tim, sto);
  CHECK_NEAR(solve_file("p.cor", NULL), expected, 1e-9);
  write_smps(core, tim,
             "STOCH little\nINDEP DISCRETE ADD\n rhs meet 4 then 0.5\n rhs meet 8 then 0.5\nINDEP DISCRETE MULTIPLY\n "
             "v cost 1 0.25\n v cost 1.6666666666666667 0.75\nENDATA\n");
  CHECK_NEAR(solve_file("p.cor", NULL), expected, 1e-9);
  write_smps(core, tim,
             "STOCH little\nSCENARIOS DISCRETE\n SC a ROOT 0.125 then\n rhs meet 8\n SC b a 0.375 then\n v cost 5\n SC "
             "c b 0.375 then\n rhs meet 12\n SC d c 0.125 then\n v cost 3\nENDATA\n");
  CHECK_NEAR(solve_file("p.cor", NULL), expected, 1e-9);
  write_smps(core, tim,
             "STOCH little\nBLOCKS DISCRETE\n BL one then 0.5\n rhs meet 8\n BL one then 0.5\n rhs meet 12\n BL two "
             "then 0.25\n v cost 3\n BL two then 0.75\n v cost 5\nENDATA\n");
  CHECK_NEAR(solve_file("p.cor", NULL), expected, 1e-9);
}

// Names with spaces stand in columns.
TEST(fixed_columns_are_read) {
  double x;
  write_smps(
      "NAME          FIXED\nROWS\n N  COST\n G  THE ROW\nCOLUMNS\n    MY X      COST      1.0            THE ROW   "
      "1.0\n"
      "    MY Y      COST      3.0            THE ROW   1.0\nRHS\n              THE ROW   2.0\nENDATA\n",
      "TIME          FIXED\nPERIODS       LP\n    MY X      THE ROW                  NOW\n    MY Y      THE ROW        "
      "          LATER\nENDATA\n",
      "STOCH         FIXED\nINDEP         DISCRETE\n    RHS       THE ROW   2.0            LATER     0.5\n    RHS      "
      " THE ROW   4.0            LATER     0.5\nENDATA\n");
  CHECK_NEAR(solve_file("p.cor", &x), 4, 1e-8);  // x = 4: each unit of it saves 3 in half of the scenarios
}

TEST(continuous_smps_is_drawn) {
  write_smps(core, tim, "STOCH little\nINDEP NORMAL\n rhs meet 9 then 0.25\nINDEP UNIFORM\n v cost 3 then 5\nENDATA\n");
  carom_saa_file *file = read_good("p.cor");
  REQUIRE(file);
  CHECK(file->scenarios.count == 0 && isinf(file->combinations));
  double sum = 0, square = 0, low = INFINITY, high = -INFINITY, v[8];
  int n = 20000, side = -1, price = -1;
  for (int k = 0; k < file->model.problem.entry_count; k++) {
    const carom_saa_entry *e = &file->model.problem.entries[k];
    if (e->random >= 0) *(e->part == CAROM_SAA_ROW_LOW ? &side : &price) = e->random;
  }
  REQUIRE(side >= 0 && price >= 0);
  for (int i = 0; i < n; i++) {
    carom_random r = carom_random_make(4, (uint64_t)i);
    file->model.draw(file->model.context, &r, v);
    sum += v[side] / n, square += v[side] * v[side] / n;
    low = fmin(low, v[price]), high = fmax(high, v[price]);
  }
  CHECK_NEAR(sum, 9, 0.02);
  CHECK_NEAR(square - sum * sum, 0.25, 0.02);
  CHECK(low >= 3 && low < 3.01 && high <= 5 && high > 4.99);
  carom_saa_file_destroy(file);
}

typedef struct broken {
  int file;  // 0: core, 1: time, 2: stoch
  const char *find, *put, *message;
} broken;

static const broken breaks[] = {
    {0, " N other\n", " X other\n", "p.cor:4:2: error: the type of a row is N, L, G or E, got 'X'"},
    {0, " L first\n", " L first\n L first\n", "p.cor:6:4: error: there are two rows 'first'"},
    {0, "x meet 1", "x met 1", "p.cor:10:4: error: there is no row 'met' (did you mean 'meet'?)"},
    {0, "u cost 2", "u cost two", "p.cor:11:9: error: expected a number, got 'two'"},
    {0, " v cost 3 meet 1\n", " v cost 3 meet 1\n x both 2\n",
     "p.cor:14:2: error: column 'x' comes again: its lines must stand together"},
    {0, "COLUMNS\n", "COLUMNS\n M1 'MARKER' 'INTORG'\n",
     "p.cor:9:5: error: whole numbers are asked for, and carom saa has none"},
    {0, "UP bnd u 3", "UP bnd uu 3", "p.cor:21:9: error: there is no column 'uu'"},
    {0, "UP bnd u 3", "XX bnd u 3", "p.cor:21:2: error: a bound is one of LO, UP, FX, FR, MI, PL, got 'XX'"},
    {0, "FR bnd z", "BV bnd z",
     "p.cor:22:2: error: bounds of type BV are for whole or semi-continuous numbers, and carom saa has none"},
    {0, "RANGES", "RANGE", "p.cor:18:1: error: there is no section 'RANGE' in a core file (did you mean 'RANGES'?)"},
    {0, "ENDATA\n", "", "p.cor:28:1: error: the file ends before ENDATA"},
    {0, " N cost\n N other\n", "", "p.cor:7:4: error: there is no row 'cost'"},
    {1, " u meet then\n", "",
     "p.tim:4:1: error: 1 period: there is no second stage (carom saa solves problems of two stages)"},
    {1, "ENDATA", " z both last\nENDATA",
     "p.tim:5:1: error: a third period, 'last': the problem has more than two stages (carom saa solves problems of two "
     "stages)"},
    {1, "PERIODS", "PERIODS EXPLICIT",
     "p.tim:2:9: error: explicit periods are not read (order rows and columns by period, and write PERIODS IMPLICIT)"},
    {1, " x first now", " u first now", "p.tim:3:2: error: the first period must begin with the first column, 'x'"},
    {1, " u meet then", " u both then",
     "p.tim:5:1: error: row 'meet' of the first stage has column 'u' of the second (the first stage knows nothing of "
     "the second)"},
    {2, "INDEP DISCRETE", "INDEP GAMMA",
     "p.sto:2:7: error: 'GAMMA' is not read here (DISCRETE, UNIFORM and NORMAL are read, with REPLACE, ADD or "
     "MULTIPLY)"},
    {2, "INDEP DISCRETE", "DISTRIB",
     "p.sto:2:1: error: there is no section 'DISTRIB' in a stoch file (INDEP, BLOCKS and SCENARIOS are read)"},
    {2, "rhs meet 8", "rhs meat 8", "p.sto:3:6: error: there is no row 'meat' (did you mean 'meet'?)"},
    {2, "rhs meet 8", "rhs first 8", "p.sto:3:6: error: row 'first' belongs to the first stage and cannot be random"},
    {2, "rhs meet 8", "w meet 8", "p.sto:3:2: error: there is no column 'w'"},
    {2, "12 then 0.5", "12 then 0.7", "p.sto:5:1: error: probabilities of 'side of meet' add up to 1.2, not 1"},
    {2, "12 then 0.5", "12 then 0", "p.sto:4:1: error: a probability must be greater than 0 and at most 1, got 0"},
    {2, " v cost 5 0.75\n", " rhs meet 9 then 0.1\n",
     "p.sto:6:2: error: 'rhs' in row 'meet' was given already (lines of one number must stand together)"},
    {2, "ENDATA\n", "", "p.sto:7:1: error: the file ends before ENDATA"},
    {2, "INDEP DISCRETE", "BLOCKS DISCRETE", "p.sto:3:1: error: a number before the first BL or SC"},
};

static void check_broken(const broken *b) {
  char texts[3][2000], got[1000] = "";
  const char *whole[3] = {core, tim, sto};
  for (int k = 0; k < 3; k++) snprintf(texts[k], sizeof texts[k], "%s", whole[k]);
  const char *at = strstr(whole[b->file], b->find);
  if (!at) test_fail(__FILE__, __LINE__, "'%s' is not there", b->find);
  if (at)
    snprintf(texts[b->file], sizeof texts[0], "%.*s%s%s", (int)(at - whole[b->file]), whole[b->file], b->put,
             at + strlen(b->find));
  write_smps(texts[0], texts[1], texts[2]);
  carom_diagnostics found = {0};
  if (read_saa("p.cor", &found)) test_fail(__FILE__, __LINE__, "read: %s", b->message);
  CHECK(found.count == 1);
  if (found.count > 0) carom_diagnostic_format(&found.items[0], got, sizeof got);
  CHECK_TEXT(got, b->message);
  carom_diagnostics_release(&found);
}

TEST(broken_smps_gets_one_message_each) {
  for (size_t k = 0; k < sizeof breaks / sizeof *breaks; k++) check_broken(&breaks[k]);
}

TEST(missing_kin_are_told) {
  char got[1000] = "";
  write_text("lonely.cor", core);
  carom_diagnostics found = {0};
  CHECK(!read_saa("lonely.cor", &found) && found.count == 1);
  carom_diagnostic_format(&found.items[0], got, sizeof got);
  CHECK_TEXT(got, "lonely.tim: error: cannot read the file: No such file or directory");
  carom_diagnostics_release(&found);
}

static void refuse_memory(const char *path) {
  for (int allowed = 0, refused = 0;; allowed += 1 + allowed / 50) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&failing);
    carom_saa_file *file = NULL;
    carom_diagnostics found = {0};
    carom_status status = carom_saa_read(path, NULL, &a, &file, &found);
    carom_saa_file_destroy(file);
    carom_diagnostics_release(&found);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
    REQUIRE(++refused < 5000);
  }
}

TEST(readers_survive_refused_memory) {
  write_smps(core, tim, sto);
  refuse_memory("p.cor");
  refuse_memory(CAROM_EXAMPLES "/stochastic-farmer/problem.yaml");
}
