// Expressions of scene files: values, units, dimensions, places of errors, and hostile input.
#include "base/expression.h"
#include "carom/base.h"
#include "test.h"

static int find_some(void *context, const char *name, size_t length, carom_quantity *value) {
  (void)context;
  if (length == 4 && memcmp(name, "side", 4) == 0) {
    *value = (carom_quantity){.value = 0.5, .plain = true};
    return 1;
  }
  if (length == 4 && memcmp(name, "arm_", 4) == 0) {
    *value = (carom_quantity){.value = 2, .dimension = CAROM_LENGTH};
    return 1;
  }
  return length == 6 && memcmp(name, "broken", 6) == 0 ? -1 : 0;
}

static void suggest_some(void *context, carom_nearest *nearest) {
  (void)context;
  carom_nearest_try(nearest, "side");
}

static const carom_scope scope = {.find = find_some, .suggest = suggest_some};

static bool evaluate(const char *text, carom_quantity *q, carom_expression_error *error) {
  return carom_expression_evaluate(text, strlen(text), &scope, q, error);
}

static void check_value(const char *text, double expected, int line) {
  carom_quantity q = {.value = NAN};
  carom_expression_error error;
  if (!evaluate(text, &q, &error))
    test_fail(__FILE__, line, "\"%s\": %s", text, error.message);
  else if (!(fabs(q.value - expected) <= 4e-16 * fabs(expected)))
    test_fail(__FILE__, line, "\"%s\" = %.17g, expected %.17g", text, q.value, expected);
}
#define CHECK_VALUE(text, expected) check_value(text, expected, __LINE__)

static void check_error(const char *text, size_t offset, const char *message, int line) {
  carom_quantity q;
  carom_expression_error error;
  if (evaluate(text, &q, &error))
    test_fail(__FILE__, line, "\"%s\" = %g, expected an error", text, q.value);
  else if (error.offset != offset || !strstr(error.message, message))
    test_fail(__FILE__, line, "\"%s\": \"%s\" at %zu, expected \"%s\" at %zu", text, error.message, error.offset,
              message, offset);
}
#define CHECK_ERROR(text, offset, message) check_error(text, offset, message, __LINE__)

TEST(numbers) {
  CHECK_VALUE("0", 0);
  CHECK_VALUE("42", 42);
  CHECK_VALUE("-1.5", -1.5);
  CHECK_VALUE("+.5", 0.5);
  CHECK_VALUE("5.", 5);
  CHECK_VALUE("1e-3", 1e-3);
  CHECK_VALUE("1E+3", 1e3);
  CHECK_VALUE("6.02214076e23", 6.02214076e23);
  CHECK_VALUE("0.1", 0.1);
  CHECK_VALUE("000.125000", 0.125);
  CHECK_VALUE("  7  ", 7);
  CHECK_VALUE("1e-400", 0);
}

// The decimal point must not depend on the locale, and every number must be the nearest double, as the C compiler's is.
TEST(numbers_are_correctly_rounded) {
  carom_random random = carom_random_make(1, 0);
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = carom_random_bits(&random);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x)) continue;
    char text[40];
    snprintf(text, sizeof text, "%.17g", x);
    carom_quantity q;
    REQUIRE(evaluate(text, &q, NULL));
    CHECK(q.value == x);
  }
}

TEST(operators) {
  CHECK_VALUE("1 + 2*3", 7);
  CHECK_VALUE("(1 + 2)*3", 9);
  CHECK_VALUE("10 - 3 - 2", 5);
  CHECK_VALUE("24/4/3", 2);
  CHECK_VALUE("2^3^2", 512);
  CHECK_VALUE("-2^2", -4);
  CHECK_VALUE("(-2)^2", 4);
  CHECK_VALUE("2^-1", 0.5);
  CHECK_VALUE("--3", 3);
  CHECK_VALUE("2*-3", -6);
  CHECK_VALUE("1 - -1", 2);
  CHECK_VALUE("0.2*sqrt(2)", 0.2 * sqrt(2));
}

TEST(functions) {
  CHECK_VALUE("pi", 3.141592653589793);
  CHECK_VALUE("sqrt(16)", 4);
  CHECK_VALUE("sin(pi/2)", 1);
  CHECK_VALUE("cos(60 deg)", cos(1.0471975511965976));
  CHECK_VALUE("tan(0.3)", tan(0.3));
  CHECK_VALUE("asin(1)*2", 3.141592653589793);
  CHECK_VALUE("acos(-1)", 3.141592653589793);
  CHECK_VALUE("atan(1)*4", 3.141592653589793);
  CHECK_VALUE("atan2(1, -1)", 2.356194490192345);
  CHECK_VALUE("exp(1)", 2.718281828459045);
  CHECK_VALUE("log(exp(2))", 2);
  CHECK_VALUE("abs(-3)", 3);
  CHECK_VALUE("floor(-1.5) + ceil(1.2)", 0);
  CHECK_VALUE("hypot(3, 4)", 5);
  CHECK_VALUE("min(2, 3) + 10*max(2, 3)", 32);
  CHECK_VALUE("mod(7, 3) + mod(-1, 3)", 3);
}

TEST(names) {
  CHECK_VALUE("side/10", 0.05);
  CHECK_VALUE("2*side + side^2", 1.25);
  CHECK_ERROR("sdie", 0, "unknown name 'sdie'");
  carom_quantity q;
  carom_expression_error error;
  CHECK(!evaluate("2*sdie", &q, &error));
  CHECK_TEXT(error.hint, "did you mean 'side'?");
  CHECK(!evaluate("1 + broken", &q, &error));
  CHECK(error.reported);
}

TEST(units) {
  CHECK_VALUE("5 mm", 0.005);
  CHECK_VALUE("5mm", 0.005);
  CHECK_VALUE("2 g/cm^3", 2000);
  CHECK_VALUE("1 ms", 0.001);
  CHECK_VALUE("30 deg", 0.5235987755982988);
  CHECK_VALUE("60 rpm", 6.283185307179586);
  CHECK_VALUE("30 Hz", 30);
  CHECK_VALUE("(1/60) s", 1.0 / 60);
  CHECK_VALUE("sqrt(4) km", 2000);
  CHECK_VALUE("3 kN*m", 3000);
  CHECK_VALUE("8.99e9 N m^2/C^2", 8.99e9);
  CHECK_VALUE("36 km/h", 10);
  CHECK_VALUE("2 m^-1", 2);
  CHECK_VALUE("5 mm/2", 0.0025);
  CHECK_VALUE("1 m + 50 cm", 1.5);
  CHECK_VALUE("2 min", 120);
  CHECK_VALUE("10 m / 4 s", 2.5);
  CHECK_VALUE("(2 m)^3", 8);
}

static carom_dimension dimension_of(const char *text) {
  carom_quantity q = {.plain = true};
  carom_expression_error error;
  if (!evaluate(text, &q, &error)) test_fail(__FILE__, __LINE__, "\"%s\": %s", text, error.message);
  return q.dimension;
}

TEST(dimensions) {
  CHECK(carom_dimension_equal(dimension_of("5 mm"), CAROM_LENGTH));
  CHECK(carom_dimension_equal(dimension_of("2 g/cm^3"), CAROM_DENSITY));
  CHECK(carom_dimension_equal(dimension_of("3 N/m"), CAROM_STIFFNESS));
  CHECK(carom_dimension_equal(dimension_of("3 N s/m"), CAROM_DAMPING));
  CHECK(carom_dimension_equal(dimension_of("10 m / 4 s"), CAROM_VELOCITY));
  CHECK(carom_dimension_equal(dimension_of("sqrt(4 m^2/s^2)"), CAROM_VELOCITY));
  CHECK(carom_dimension_equal(dimension_of("2 kg*9.81 m/s^2"), CAROM_FORCE));
  CHECK(carom_dimension_equal(dimension_of("arm_*2"), CAROM_LENGTH));
  CHECK(carom_dimension_equal(dimension_of("arm_ + 1"), CAROM_LENGTH));
  CHECK(carom_dimension_equal(dimension_of("max(1, arm_)"), CAROM_LENGTH));
  CHECK(carom_dimension_equal(dimension_of("1 rpm"), CAROM_ANGULAR_VELOCITY));
  CHECK(carom_dimension_equal(dimension_of("1 Hz"), CAROM_FREQUENCY));
  carom_quantity q;
  REQUIRE(evaluate("3", &q, NULL));
  CHECK(carom_quantity_fits(&q, CAROM_MASS));
  REQUIRE(evaluate("3 m", &q, NULL));
  CHECK(!carom_quantity_fits(&q, CAROM_MASS));
  REQUIRE(evaluate("3 m/m", &q, NULL));
  CHECK(carom_quantity_fits(&q, CAROM_ANGLE));
  CHECK(!carom_quantity_fits(&q, CAROM_LENGTH));
}

TEST(errors_have_places) {
  CHECK_ERROR("", 0, "ends where a number is expected");
  CHECK_ERROR("1 +", 3, "ends where a number is expected");
  CHECK_ERROR("1 + $", 4, "unexpected '$'");
  CHECK_ERROR("2 3", 2, "unexpected '3'");
  CHECK_ERROR("(1 + 2", 6, "')' is missing");
  CHECK_ERROR("1)", 1, "unexpected ')'");
  CHECK_ERROR("1/0", 1, "division by zero");
  CHECK_ERROR("1 + 3/(2 - 2)", 5, "division by zero");
  CHECK_ERROR("0^-1", 1, "division by zero");
  CHECK_ERROR("sqrt(-1)", 0, "sqrt(-1) is not defined");
  CHECK_ERROR("2*log(0)", 2, "too large or not a number");
  CHECK_ERROR("1e999", 0, "too large or not a number");
  CHECK_ERROR("1e200*1e200", 5, "too large or not a number");
  CHECK_ERROR(".nan", 0, "expected a finite number");
  CHECK_ERROR("5 parsec", 2, "unknown unit 'parsec'");
  CHECK_ERROR("side m", 5, "unknown unit 'm'");
  CHECK_ERROR("2*mm", 2, "the unit 'mm' needs a number before it");
  CHECK_ERROR("1 m + 1 s", 4, "cannot add a length and a time");
  CHECK_ERROR("max(1 m, 1 kg)", 0, "cannot compare a length and a mass");
  CHECK_ERROR("sin(1 m)", 0, "sin expects an angle, got a length");
  CHECK_ERROR("exp(1 s)", 0, "exp expects a plain number, got a time");
  CHECK_ERROR("sqrt(2 m)", 0, "a length has no square root");
  CHECK_ERROR("2^(1 m)", 1, "an exponent must be a plain number");
  CHECK_ERROR("(2 m)^0.5", 5, "needs a whole exponent");
  CHECK_ERROR("(2 m) m", 6, "has a unit already");
  CHECK_ERROR("sqrt 2", 0, "needs its argument in parentheses");
  CHECK_ERROR("sqrt(1, 2)", 6, "sqrt expects 1 argument");
  CHECK_ERROR("atan2(1)", 7, "atan2 expects 2 arguments");
  CHECK_ERROR("5 m^x", 3, "the power of a unit must be a whole number");
  CHECK_ERROR("5 m^99", 2, "out of range");
  CHECK_ERROR("2 + \xc3\xa9", 4, "unexpected '\xc3\xa9'");
}

TEST(nesting_is_limited) {
  static const char *const pieces[] = {"(", "-", "sqrt(", "2^"};
  for (int k = 0; k < 4; k++) {
    static char text[2000000];
    size_t n = 0, m = strlen(pieces[k]);
    while (n + m < sizeof text - 2) {
      memcpy(text + n, pieces[k], m);
      n += m;
    }
    carom_quantity q;
    carom_expression_error error;
    CHECK(!carom_expression_evaluate(text, n, NULL, &q, &error));
    CHECK_CONTAINS(error.message, "nested more than");
  }
}

TEST(long_numbers_are_refused) {
  char text[1000];
  memset(text, '7', sizeof text);
  carom_quantity q;
  carom_expression_error error;
  CHECK(!carom_expression_evaluate(text, sizeof text, NULL, &q, &error));
  CHECK_CONTAINS(error.message, "digits");
  memset(text, '0', sizeof text);  // leading zeros are no digits that count
  CHECK(carom_expression_evaluate(text, sizeof text, NULL, &q, &error));
}

// Random strings of plausible pieces: never a crash, never a result that is not finite, never a place outside the text.
TEST(random_input) {
  static const char *const pieces[] = {"1",  "2.5", "e",   "-",  "+",   "*",    "/",     "^",      "(",    ")",
                                       " ",  "m",   "s",   "kg", "deg", "sqrt", "atan2", ",",      "side", "arm_",
                                       "pi", ".",   "1e9", "^2", "mod", "log",  "1e308", "broken", "\xff", "0"};
  carom_random random = carom_random_make(7, 0);
  int good = 0;
  for (int i = 0; i < 200000; i++) {
    char text[200] = "";
    int count = 1 + (int)carom_random_below(&random, 12);
    for (int k = 0; k < count; k++) strcat(text, pieces[carom_random_below(&random, 30)]);
    carom_quantity q;
    carom_expression_error error;
    if (evaluate(text, &q, &error)) {
      good++;
      if (!isfinite(q.value)) test_fail(__FILE__, __LINE__, "\"%s\" = %g", text, q.value);
    } else if (error.offset > strlen(text) || error.message[0] == '\0') {
      test_fail(__FILE__, __LINE__, "\"%s\": \"%s\" at %zu", text, error.message, error.offset);
    }
  }
  CHECK(good > 1000);
}

TEST(reserved_words) {
  CHECK(carom_expression_reserved("pi", 2));
  CHECK(carom_expression_reserved("sqrt", 4));
  CHECK(carom_expression_reserved("mm", 2));
  CHECK(carom_expression_reserved("count", 5));
  CHECK(!carom_expression_reserved("side", 4));
}
