// A formula as code: postfix steps over numbers, run on a small stack. Compiled from text by base/expression.h; what
// the slots mean (channels, time, axes) is the business of whoever fills them. Truth is 1 and falsehood 0; whatever is
// neither zero nor NaN counts as true.
#ifndef CAROM_SRC_BASE_FORMULA_H
#define CAROM_SRC_BASE_FORMULA_H

#include "carom/base.h"

// Functions of one argument, then (from ATAN2) those of two.
typedef enum carom_function {
  CAROM_SQRT,
  CAROM_SIN,
  CAROM_COS,
  CAROM_TAN,
  CAROM_ASIN,
  CAROM_ACOS,
  CAROM_ATAN,
  CAROM_EXP,
  CAROM_LOG,
  CAROM_ABS,
  CAROM_FLOOR,
  CAROM_CEIL,
  CAROM_ATAN2,
  CAROM_HYPOT,
  CAROM_MIN,
  CAROM_MAX,
  CAROM_MOD,  // x - y floor(x/y)
  CAROM_FUNCTION_COUNT
} carom_function;

double carom_function_value(carom_function f, double x, double y);  // y: of those of two arguments
static inline bool carom_is_true(double x) { return x < 0 || x > 0; }

typedef enum carom_formula_op {
  CAROM_OP_NUMBER,  // pushes `number`
  CAROM_OP_SLOT,    // pushes slots[index]
  CAROM_OP_NEGATE,
  CAROM_OP_NOT,
  CAROM_OP_CALL,  // the function `index`, of one argument or two
  CAROM_OP_ADD,
  CAROM_OP_SUBTRACT,
  CAROM_OP_MULTIPLY,
  CAROM_OP_DIVIDE,
  CAROM_OP_POWER,
  CAROM_OP_LESS,
  CAROM_OP_LESS_EQUAL,
  CAROM_OP_GREATER,
  CAROM_OP_GREATER_EQUAL,
  CAROM_OP_EQUAL,
  CAROM_OP_NOT_EQUAL,
  CAROM_OP_AND,
  CAROM_OP_OR,
  CAROM_OP_SELECT,  // c a b -> a if c is true, else b
} carom_formula_op;

typedef struct carom_formula_step {
  carom_formula_op op;
  int index;
  double number;
} carom_formula_step;

enum { CAROM_FORMULA_DEPTH = 32, CAROM_FORMULA_STEPS = 512 };

typedef struct carom_formula {
  carom_allocator allocator;
  int count, slot_count;  // slot_count: one more than the largest slot in it
  carom_formula_step steps[];
} carom_formula;

double carom_formula_combine(const carom_formula_step *step, double x, double y);  // of a step that takes two
int carom_formula_operands(const carom_formula_step *step);  // how many numbers it takes off the stack; it leaves one
// Copies the steps. They must leave exactly one number; false when they need more than CAROM_FORMULA_DEPTH of them on
// the way. *formula is null when there is no memory.
bool carom_formula_create(const carom_formula_step *steps, int count, const carom_allocator *allocator,
                          carom_formula **formula);
void carom_formula_destroy(carom_formula *formula);  // null is fine

// Neither allocates. Both give what IEEE arithmetic gives: 1/0 is infinite, sqrt(-1) is not a number.
double carom_formula_value(const carom_formula *formula, const double *slots);
// Value, first and second derivative with respect to the slot `t`, all others held: exact, by Taylor arithmetic of
// second order. At kinks (of abs, min, max, floor, comparisons) the derivatives are those of one side.
void carom_formula_jet(const carom_formula *formula, const double *slots, int t, double jet[3]);

#endif
