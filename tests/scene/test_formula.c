// Formulas: compiled code against a tree that is evaluated directly, derivatives against differences, and messages.
#include "base/expression.h"
#include "carom/base.h"
#include "failing_allocator.h"
#include "test.h"

enum { T, X, Y, ANGLE, SLOTS };
static const char *const names[] = {"t", "x", "y", "hinge.angle", NULL};
static const char *const reducers[] = {"most", "ever", NULL};

typedef struct reductions {
  int count, which[8];
  carom_formula *arguments[8];
} reductions;

static int find(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  (void)context;
  *slot = -1;
  for (int i = 0; names[i]; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return *slot = i, 1;
  if (length == 7 && memcmp(name, "port-a ", 7) == 0) return *slot = X, 1;
  if (length == 4 && memcmp(name, "gain", 4) == 0)
    return *value = (carom_quantity){.value = 2.5, .dimension = CAROM_TORSION}, 1;
  return length == 6 && memcmp(name, "broken", 6) == 0 ? -1 : 0;
}

static void suggest(void *context, carom_nearest *nearest) {
  (void)context;
  for (int i = 0; names[i]; i++) carom_nearest_try(nearest, names[i]);
}

static int reduce(void *context, int reducer, carom_formula *argument) {
  reductions *r = context;
  if (r->count == 8) return -1;
  r->which[r->count] = reducer;
  r->arguments[r->count] = argument;
  return SLOTS + r->count++;
}

static reductions kept;
static const carom_formula_scope scope = {&kept, find, suggest, reducers, reduce};

static carom_formula *compile(const char *text) {
  carom_formula *f = NULL;
  carom_expression_error error;
  if (!carom_formula_compile(text, strlen(text), &scope, NULL, &f, &error))
    test_fail(__FILE__, __LINE__, "\"%s\": %s at %zu", text, error.message, error.offset);
  return f;
}

static const double at[SLOTS] = {0.7, 3, -2, 0.25};

static void check_value(const char *text, double expected, int line) {
  carom_formula *f = compile(text);
  double value = f ? carom_formula_value(f, at) : NAN;
  if (!(fabs(value - expected) <= 4e-16 * fabs(expected)))
    test_fail(__FILE__, line, "\"%s\" = %.17g, expected %.17g", text, value, expected);
  carom_formula_destroy(f);
}
#define CHECK_VALUE(text, expected) check_value(text, expected, __LINE__)

static void check_error(const char *text, size_t offset, const char *message, int line) {
  carom_formula *f = NULL;
  carom_expression_error error;
  if (carom_formula_compile(text, strlen(text), &scope, NULL, &f, &error))
    test_fail(__FILE__, line, "\"%s\": expected an error", text);
  else if (error.offset != offset || !(strstr(error.message, message) || strstr(error.hint, message)))
    test_fail(__FILE__, line, "\"%s\": \"%s\" (%s) at %zu, expected \"%s\" at %zu", text, error.message, error.hint,
              error.offset, message, offset);
  carom_formula_destroy(f);
}
#define CHECK_ERROR(text, offset, message) check_error(text, offset, message, __LINE__)

TEST(values) {
  CHECK_VALUE("3", 3);
  CHECK_VALUE("x", 3);
  CHECK_VALUE("2 - x", -1);
  CHECK_VALUE("x - 2", 1);
  CHECK_VALUE("2 - x - y*4/x + 1", 2 - 3 + 8.0 / 3 + 1);
  CHECK_VALUE("-x^2", -9);
  CHECK_VALUE("2^x", 8);
  CHECK_VALUE("x^y^2", 81);
  CHECK_VALUE("atan2(1, x) + atan2(y, 1) + hypot(x, 4)", atan2(1, 3) + atan2(-2, 1) + 5);
  CHECK_VALUE("min(x, y) + 10*max(1, y) + 100*mod(y, 3)", -2 + 10 + 100);
  CHECK_VALUE("-2*(hinge.angle - 0.3*sin(2*t)) - 0.5*x", -2 * (0.25 - 0.3 * sin(1.4)) - 1.5);
  CHECK_VALUE("'port-a '*2", 6);
  CHECK_VALUE("-(-x)", 3);
}

TEST(units_fold_and_slots_are_plain) {
  CHECK_VALUE("x + 5 mm", 3.005);
  CHECK_VALUE("hinge.angle - 180 deg", 0.25 - 3.14159265358979323846);
  CHECK_VALUE("gain*hinge.angle + 2 N m s/rad * x", 2.5 * 0.25 + 6);  // no units left to disagree
  CHECK_VALUE("2 N * t", 1.4);                                        // time, not a tonne
  CHECK_VALUE("2 s * min(x, 1)", 2);                                  // nor a minute
  CHECK_VALUE("2 min", 120);
  CHECK_ERROR("x + (1 m + 1 s)", 9, "cannot add");
  CHECK_ERROR("(x + 1) mm", 8, "write '* 1 mm'");
  CHECK_ERROR("x^(1 m)", 1, "an exponent must be a plain number");
  CHECK_ERROR("1 m < 1 s", 4, "cannot compare");
}

TEST(truth) {
  CHECK_VALUE("x < 3", 0);
  CHECK_VALUE("x <= 3", 1);
  CHECK_VALUE("x > y", 1);
  CHECK_VALUE("x >= 3 cm", 1);
  CHECK_VALUE("y == -2", 1);
  CHECK_VALUE("y != -2", 0);
  CHECK_VALUE("1 < 2", 1);
  CHECK_VALUE("x > 1 and y > 1", 0);
  CHECK_VALUE("x > 1 or y > 1", 1);
  CHECK_VALUE("x > 1 or y > 1 and y > 1", 1);  // and binds closer
  CHECK_VALUE("(x > 1 or y > 1) and y > 1", 0);
  CHECK_VALUE("not x > 1", 0);  // and not less close than comparisons
  CHECK_VALUE("not not x > 1", 1);
  CHECK_VALUE("not y == 2 and x == 3", 1);
  CHECK_VALUE("if(x > 2, 10, 20)", 10);
  CHECK_VALUE("if(1 > 2, x, 20 mm)", 0.02);
  CHECK_VALUE("if(x < 2, 1/(x - 3), y)", -2);  // the branch not taken may divide by zero
  CHECK_VALUE("1 + (x > 2)*2", 3);
  CHECK_VALUE("sqrt(y) > 0 or sqrt(y) <= 0", 0);  // not a number is not true
  CHECK_VALUE("if(sqrt(y), 1, 2)", 2);
}

TEST(plain_expressions_have_no_truth) {
  carom_quantity q;
  carom_expression_error error;
  const char *const texts[] = {"1 < 2", "1 == 1", "not 1", "1 and 1", "if(1, 2, 3)", "a.b", "'a'"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    CHECK(!carom_expression_evaluate(texts[i], strlen(texts[i]), NULL, &q, &error));
}

TEST(mistakes) {
  CHECK_ERROR("", 0, "ends where a number is expected");
  CHECK_ERROR("x +", 3, "ends where a number is expected");
  CHECK_ERROR("hinge.angel", 0, "did you mean 'hinge.angle'?");
  CHECK_ERROR("1 + mots(x)", 4, "did you mean 'most'?");
  CHECK_ERROR("x = 3", 2, "compare with '=='");
  CHECK_ERROR("1 < x < 3", 6, "do not chain");
  CHECK_ERROR("x / 0", 2, "division by zero");
  CHECK_ERROR("if(x, 1)", 7, "if expects 3 arguments");
  CHECK_ERROR("if x", 0, "if needs a condition");
  CHECK_ERROR("most x", 0, "most needs its argument in parentheses");
  CHECK_ERROR("most(x, y)", 6, "most expects 1 argument");
  CHECK_ERROR("broken + 1", 0, "in error");
  CHECK_ERROR("'port", 0, "quote is not closed");
  CHECK_ERROR("x and", 5, "ends where a number is expected");
  CHECK_ERROR("x ! 3", 2, "unexpected '!'");
  CHECK_ERROR("3 andy", 2, "unknown unit 'andy'");
}

TEST(reducers_compile_their_argument_by_itself) {
  kept = (reductions){0};
  carom_formula *f = compile("1 + ever(most(x - 2) > 1 s) * 2");
  REQUIRE(f && kept.count == 2);
  CHECK(kept.which[0] == 0 && kept.which[1] == 1);
  CHECK(carom_formula_value(kept.arguments[0], at) == 1);
  double slots[SLOTS + 2] = {0, 0, 0, 0, 1.5, 0};
  CHECK(carom_formula_value(kept.arguments[1], slots) == 1);
  slots[SLOTS + 1] = 4;
  CHECK(carom_formula_value(f, slots) == 9);
  CHECK(f->slot_count == SLOTS + 2);
  carom_formula_destroy(f);
  for (int i = 0; i < kept.count; i++) carom_formula_destroy(kept.arguments[i]);
}

TEST(limits_are_told) {
  char text[8000] = "";
  for (int i = 0; i < 40; i++) strcat(text, "x + (y*");
  strcat(text, "t");
  for (int i = 0; i < 40; i++) strcat(text, ")");
  CHECK_ERROR(text, 0, "more than 32 numbers at a time");
  strcpy(text, "x");
  for (int i = 0; i < 400; i++) strcat(text, " + x");
  carom_formula *f = NULL;
  carom_expression_error error;
  CHECK(!carom_formula_compile(text, strlen(text), &scope, NULL, &f, &error) && strstr(error.message, "512 steps"));
  strcpy(text, "");
  for (int i = 0; i < 100; i++) strcat(text, "not ");
  strcat(text, "x");
  CHECK(!carom_formula_compile(text, strlen(text), &scope, NULL, &f, &error) && strstr(error.message, "nested"));
}

TEST(no_memory_is_a_failure_without_a_message) {
  failing_allocator failing = {.allowed = 0};
  carom_allocator a = failing_allocator_of(&failing);
  carom_formula *f = NULL;
  carom_expression_error error;
  CHECK(!carom_formula_compile("x + 1", 5, &scope, &a, &f, &error));
  CHECK(!f && error.message[0] == '\0');
}

// ---- random formulas ------------------------------------------------------------------------------------------------

// A formula as a tree of its own: written as text for the compiler, and evaluated directly.
typedef struct tree {
  int kind;  // of the tables below
  double number;
  struct tree *child[3];
} tree;

enum { NUMBER, SLOT, FIRST_SMOOTH, LAST_SMOOTH = FIRST_SMOOTH + 14, LAST_ROUGH = LAST_SMOOTH + 12 };

static tree pool[4000];
static int used;

static const struct {
  const char *before, *between, *after;
  int count;
} shapes[] = {
    {"(", "+", ")", 2},
    {"(", "-", ")", 2},
    {"(", "*", ")", 2},
    {"(", "/(1.5+abs(", ")))", 2},
    {"(-", "", ")", 1},
    {"sin(", "", ")", 1},
    {"cos(", "", ")", 1},
    {"atan(", "", ")", 1},
    {"exp(sin(", "", "))", 1},
    {"sqrt(2+sin(", "", "))", 1},
    {"log(3+cos(", "", "))", 1},
    {"hypot(", ",1.25+exp(sin(", ")))", 2},
    {"atan2(", ",3+sin(", "))", 2},
    {"(1.5+sin(", "))^(", ")", 2},
    {"(", ")^2", "", 1},
    {"min(", ",", ")", 2},
    {"max(", ",", ")", 2},
    {"abs(", "", ")", 1},
    {"floor(", "", ")", 1},
    {"mod(", ",1.5+abs(", "))", 2},
    {"(", "<", ")", 2},
    {"(", ">=", ")", 2},
    {"(", " and ", ")", 2},
    {"(", " or ", ")", 2},
    {"(not ", "", ")", 1},
    {"if(", ",", ")", 3},
    {"ceil(", "", ")", 1},
};

static double truth(double x) { return x < 0 || x > 0; }

static double direct(const tree *n, const double *slots) {
  if (n->kind == NUMBER) return n->number;
  if (n->kind == SLOT) return slots[(int)n->number];
  double a = direct(n->child[0], slots), b = n->child[1] ? direct(n->child[1], slots) : 0;
  switch (n->kind - FIRST_SMOOTH) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a / (1.5 + fabs(b));
    case 4:
      return -a;
    case 5:
      return sin(a);
    case 6:
      return cos(a);
    case 7:
      return atan(a);
    case 8:
      return exp(sin(a));
    case 9:
      return sqrt(2 + sin(a));
    case 10:
      return log(3 + cos(a));
    case 11:
      return hypot(a, 1.25 + exp(sin(b)));
    case 12:
      return atan2(a, 3 + sin(b));
    case 13:
      return pow(1.5 + sin(a), b);
    case 14:
      return pow(a, 2);
    case 15:
      return a < b ? a : b;
    case 16:
      return a > b ? a : b;
    case 17:
      return fabs(a);
    case 18:
      return floor(a);
    case 19:
      return a - (1.5 + fabs(b)) * floor(a / (1.5 + fabs(b)));
    case 20:
      return a < b;
    case 21:
      return a >= b;
    case 22:
      return truth(a) * truth(b);
    case 23:
      return truth(a) + truth(b) > 0;
    case 24:
      return 1 - truth(a);
    case 25:
      return truth(a) > 0 ? b : direct(n->child[2], slots);
    default:
      return ceil(a);
  }
}

static tree *grow(carom_random *random, int depth, int kinds) {
  tree *n = &pool[used++];
  *n = (tree){0};
  uint32_t leaf = carom_random_below(random, 5);
  if (depth == 0 || leaf == 0) {
    n->kind = leaf < 3 ? SLOT : NUMBER;
    n->number =
        n->kind == SLOT ? (double)carom_random_below(random, 3) : floor(carom_random_between(random, -40, 40)) / 8;
    return n;
  }
  n->kind = FIRST_SMOOTH + (int)carom_random_below(random, (uint32_t)kinds);
  if (n->kind == FIRST_SMOOTH + 3 && kinds <= 15) n->kind = FIRST_SMOOTH;  // has a kink
  for (int i = 0; i < shapes[n->kind - FIRST_SMOOTH].count; i++) n->child[i] = grow(random, depth - 1, kinds);
  return n;
}

static void put(char *text, size_t size, const char *more) { strncat(text, more, size - strlen(text) - 1); }

static void write_tree(const tree *n, char *text, size_t size) {
  char word[40];
  if (n->kind == NUMBER) snprintf(word, sizeof word, n->number < 0 ? "(%.17g)" : "%.17g", n->number);
  if (n->kind == SLOT) snprintf(word, sizeof word, "%s", names[(int)n->number]);
  if (n->kind < FIRST_SMOOTH) {
    put(text, size, word);
    return;
  }
  int k = n->kind - FIRST_SMOOTH;
  put(text, size, shapes[k].before);
  for (int i = 0; i < shapes[k].count; i++) {
    write_tree(n->child[i], text, size);
    if (i + 1 < shapes[k].count || shapes[k].count == 1) put(text, size, shapes[k].between);
  }
  put(text, size, shapes[k].after);
}

// Null for one that folds to something that is refused (a constant that is not finite), or too large.
static carom_formula *random_formula(carom_random *random, int kinds, const tree **root, char *text, size_t size) {
  carom_formula *f = NULL;
  used = 0;
  text[0] = '\0';
  *root = grow(random, 4, kinds);
  write_tree(*root, text, size);
  carom_expression_error error;
  if (carom_formula_compile(text, strlen(text), &scope, NULL, &f, &error)) return f;
  if (!strstr(error.message, "too large")) test_fail(__FILE__, __LINE__, "\"%s\": %s", text, error.message);
  return NULL;
}

TEST(random_formulas_have_the_value_of_their_tree) {
  carom_random random = carom_random_make(41, 0);
  char text[8000];
  const tree *root;
  int compared = 0;
  for (int i = 0; i < 4000; i++) {
    carom_formula *f = random_formula(&random, 27, &root, text, sizeof text);
    for (int j = 0; f && j < 3; j++) {
      double slots[SLOTS];
      for (int k = 0; k < SLOTS; k++) slots[k] = carom_random_between(&random, -3, 3);
      double a = carom_formula_value(f, slots), b = direct(root, slots);
      if (!(a == b || (isnan(a) && isnan(b)))) test_fail(__FILE__, __LINE__, "\"%s\": %.17g, not %.17g", text, a, b);
      compared++;
    }
    carom_formula_destroy(f);
  }
  CHECK(compared > 11000);
}

// Central differences of fourth order with two steps: where these agree, the jet has to agree as well.
static void differences(const tree *root, double *slots, double h, double d[2]) {
  double f[5], t = slots[T];
  for (int i = 0; i < 5; i++) {
    slots[T] = t + (i - 2) * h;
    f[i] = direct(root, slots);
  }
  slots[T] = t;
  d[0] = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * h);
  d[1] = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h * h);
}

static bool near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b)); }

TEST(jets_are_derivatives) {
  carom_random random = carom_random_make(42, 0);
  char text[8000];
  const tree *root;
  int compared = 0;
  for (int i = 0; i < 6000; i++) {
    carom_formula *f = random_formula(&random, 15, &root, text, sizeof text);
    double slots[SLOTS], coarse[2], fine[2], jet[3];
    for (int k = 0; k < SLOTS; k++) slots[k] = carom_random_between(&random, -1.5, 1.5);
    differences(root, slots, 4e-3, coarse);
    differences(root, slots, 2e-3, fine);
    if (f) carom_formula_jet(f, slots, T, jet);
    bool settled = near(coarse[0], fine[0], 1e-6) && near(coarse[1], fine[1], 1e-6) && fabs(direct(root, slots)) < 1e3;
    if (f && settled) {
      compared++;
      if (jet[0] != direct(root, slots) || !near(jet[1], fine[0], 2e-6) || !near(jet[2], fine[1], 2e-6))
        test_fail(__FILE__, __LINE__, "\"%s\": %g %g, not %g %g", text, jet[1], jet[2], fine[0], fine[1]);
    }
    carom_formula_destroy(f);
  }
  CHECK(compared > 4000);
}

static void check_jet(const char *text, double v, double d, double dd, int line) {
  carom_formula *f = compile(text);
  double jet[3] = {NAN, NAN, NAN};
  if (f) carom_formula_jet(f, at, T, jet);
  if (!(fabs(jet[0] - v) < 1e-14 && fabs(jet[1] - d) < 1e-14 && fabs(jet[2] - dd) < 1e-14))
    test_fail(__FILE__, line, "\"%s\": %.17g %.17g %.17g", text, jet[0], jet[1], jet[2]);
  carom_formula_destroy(f);
}
#define CHECK_JET(text, v, d, dd) check_jet(text, v, d, dd, __LINE__)

TEST(jets_of_every_function) {
  const double t = 0.7;
  CHECK_JET("3", 3, 0, 0);
  CHECK_JET("x", 3, 0, 0);
  CHECK_JET("t^3", t * t * t, 3 * t * t, 6 * t);
  CHECK_JET("t^1", t, 1, 0);
  CHECK_JET("t^0", 1, 0, 0);
  CHECK_JET("(t - 0.7)^2", 0, 0, 2);
  CHECK_JET("1/t", 1 / t, -1 / (t * t), 2 / (t * t * t));
  CHECK_JET("2^t", pow(2, t), log(2) * pow(2, t), log(2) * log(2) * pow(2, t));
  CHECK_JET("tan(t)", tan(t), 1 + tan(t) * tan(t), 2 * tan(t) * (1 + tan(t) * tan(t)));
  CHECK_JET("asin(t)", asin(t), 1 / sqrt(1 - t * t), t / pow(1 - t * t, 1.5));
  CHECK_JET("acos(t)", acos(t), -1 / sqrt(1 - t * t), -t / pow(1 - t * t, 1.5));
  CHECK_JET("sqrt(x - 3) + t", t, 1, 0);  // constant where its derivative is infinite
  CHECK_JET("abs(-t)", t, 1, 0);
  CHECK_JET("min(t, 2*t) + max(t, x)", t + 3, 1, 0);
  CHECK_JET("mod(5*t, 2)", 3.5 - 2, 5, 0);
  CHECK_JET("floor(t) + ceil(t)", 1, 0, 0);
  CHECK_JET("if(t > 0.5, t^2, x)", t * t, 2 * t, 2);
  CHECK_JET("(t > 0.5) + (not t > 0.5 or t < 1 and t != 3)", 2, 0, 0);
  CHECK_JET("atan2(y, x) + hypot(x, 4)", atan2(-2, 3) + 5, 0, 0);
}
