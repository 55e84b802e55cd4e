// Numbers as people write them: "0.2*sqrt(2)", "30 deg", "side/10", "2 g/cm^3". A recursive-descent evaluator that
// never allocates; nesting is limited.
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }
//   factor  = ("-" | "+") factor | power
//   power   = primary [ "^" factor ]
//   primary = number [units] | "(" sum ")" [units] | name "(" sum { "," sum } ")" [units] | name
//   units   = unit { [ "*" | "/" ] unit }        unit = name of a unit [ "^" ["-"] digits ]
//
// A quantity with units carries its dimension; one without is plain and stands for SI units wherever it is used.
//
// The same parser compiles formulas: names that stand for a slot make code instead of numbers, while all that is
// constant is folded with its units. What a slot takes part in is a plain number in SI units: channels and time have
// none. In formulas only there are comparisons and logic, names with dots ("hinge.angle") or in quotes ("'port-a.x'"),
// and if:
//
//   choice  = both { "or" both }          both = refusal { "and" refusal }      refusal = "not" refusal | relation
//   relation = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]              primary = "if(" choice, choice, choice
//   ")"
//
// with `choice` in place of `sum` inside parentheses.
#ifndef CAROM_SRC_BASE_EXPRESSION_H
#define CAROM_SRC_BASE_EXPRESSION_H

#include "base/formula.h"
#include "base/nearest.h"

// Exponents of metre, kilogram, second, radian, coulomb.
typedef struct carom_dimension {
  signed char m, kg, s, rad, c;
} carom_dimension;

#define CAROM_DIMENSION(m, kg, s, rad, c) ((carom_dimension){(m), (kg), (s), (rad), (c)})
#define CAROM_NUMBER CAROM_DIMENSION(0, 0, 0, 0, 0)
#define CAROM_LENGTH CAROM_DIMENSION(1, 0, 0, 0, 0)
#define CAROM_MASS CAROM_DIMENSION(0, 1, 0, 0, 0)
#define CAROM_TIME CAROM_DIMENSION(0, 0, 1, 0, 0)
#define CAROM_ANGLE CAROM_DIMENSION(0, 0, 0, 1, 0)
#define CAROM_VELOCITY CAROM_DIMENSION(1, 0, -1, 0, 0)
#define CAROM_ANGULAR_VELOCITY CAROM_DIMENSION(0, 0, -1, 1, 0)
#define CAROM_ACCELERATION CAROM_DIMENSION(1, 0, -2, 0, 0)
#define CAROM_DENSITY CAROM_DIMENSION(-3, 1, 0, 0, 0)
#define CAROM_INERTIA CAROM_DIMENSION(2, 1, 0, 0, 0)
#define CAROM_FORCE CAROM_DIMENSION(1, 1, -2, 0, 0)
#define CAROM_TORQUE CAROM_DIMENSION(2, 1, -2, 0, 0)
#define CAROM_PRESSURE CAROM_DIMENSION(-1, 1, -2, 0, 0)
#define CAROM_STIFFNESS CAROM_DIMENSION(0, 1, -2, 0, 0)
#define CAROM_DAMPING CAROM_DIMENSION(0, 1, -1, 0, 0)
#define CAROM_TORSION CAROM_DIMENSION(2, 1, -2, -1, 0)
#define CAROM_TORSION_DAMPING CAROM_DIMENSION(2, 1, -1, -1, 0)
#define CAROM_FREQUENCY CAROM_DIMENSION(0, 0, -1, 0, 0)
#define CAROM_CHARGE CAROM_DIMENSION(0, 0, 0, 0, 1)
#define CAROM_CHARGE_CONSTANT CAROM_DIMENSION(3, 1, -2, 0, -2)

typedef struct carom_quantity {
  double value;  // in SI units
  bool plain;    // written without units
  bool live;     // formulas: not `value`, but what the code leaves on the stack
  carom_dimension dimension;
} carom_quantity;

// What names mean. `find` returns 1 (found), 0 (unknown) or -1 (known but in error, which is reported already).
typedef struct carom_scope {
  void *context;
  int (*find)(void *context, const char *name, size_t length, carom_quantity *value);
  void (*suggest)(void *context, carom_nearest *nearest);
} carom_scope;

typedef struct carom_expression_error {
  size_t offset;  // bytes from the start of the text
  bool reported;  // nothing more to say: a name in it is in error
  char message[200], hint[200];
} carom_expression_error;

// Evaluates the whole text. `scope` may be null. The result is always finite.
bool carom_expression_evaluate(const char *text, size_t length, const carom_scope *scope, carom_quantity *result,
                               carom_expression_error *error);
// As a value of the wanted dimension: plain numbers always fit, and an angle may be left out of a unit (1/s for rad/s).
bool carom_quantity_fits(const carom_quantity *quantity, carom_dimension wanted);

// ---- formulas --------------------------------------------------------------------------------------

// What names mean in a formula.
typedef struct carom_formula_scope {
  void *context;
  // 1: it stands for slot *slot, or with *slot < 0 for the constant *value; 0: unknown; -1: in error, reported already.
  int (*find)(void *context, const char *name, size_t length, carom_quantity *value, int *slot);
  void (*suggest)(void *context, carom_nearest *nearest);
  // Words such as "most" in most(x), which see all of a run: the argument is compiled by itself, and `reduce` (which
  // takes it, and returns -1 when there is no memory) gives the slot in which its result will be. Null: none.
  const char *const *reducers;  // (ends with null)
  int (*reduce)(void *context, int reducer, carom_formula *argument);
} carom_formula_scope;

// Compiles the whole text. False with a message, or with an empty one when there is no memory.
bool carom_formula_compile(const char *text, size_t length, const carom_formula_scope *scope,
                           const carom_allocator *allocator, carom_formula **formula, carom_expression_error *error);

// ---- units (expression_units.c) --------------------------------------------------------------------

typedef struct carom_unit {
  const char *name;
  double factor;  // in SI units
  carom_dimension dimension;
} carom_unit;

const carom_unit *carom_unit_find(const char *name, size_t length);  // null when there is none
const carom_unit *carom_unit_at(int index);                          // null past the last
bool carom_dimension_equal(carom_dimension a, carom_dimension b);
// a * b^power; false when an exponent grows out of range.
bool carom_dimension_multiply(carom_dimension *a, carom_dimension b, int power);
// "a length", "a velocity", or "a quantity in m^2 kg" for one without a name. Returns `text` or a constant.
const char *carom_dimension_name(carom_dimension dimension, char *text, size_t size);
const char *carom_dimension_unit(carom_dimension dimension, char *text, size_t size);  // "m/s", "" for a number

// True for pi, functions, units and the indices i, j, k, n, count: words that no constant may be called.
bool carom_expression_reserved(const char *name, size_t length);
const char *carom_expression_word(int index);  // the functions and pi, for suggestions and docs; null past the last

#endif
