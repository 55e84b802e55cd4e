#include "base/formula.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// ---- functions ------------------------------------------------------------------------------------------------------

static double lower(double x, double y) { return x < y ? x : y; }
static double higher(double x, double y) { return x > y ? x : y; }
static double remainder_of(double x, double y) { return x - y * floor(x / y); }

static double (*const unary[])(double) = {sqrt, sin, cos, tan, asin, acos, atan, exp, log, fabs, floor, ceil};
static double (*const binary[])(double, double) = {atan2, hypot, lower, higher, remainder_of};

double carom_function_value(carom_function f, double x, double y) {
  return f < CAROM_ATAN2 ? unary[f](x) : binary[f - CAROM_ATAN2](x, y);
}

// ---- making ---------------------------------------------------------------------------------------------------------

int carom_formula_operands(const carom_formula_step *step) {
  if (step->op == CAROM_OP_NUMBER || step->op == CAROM_OP_SLOT) return 0;
  if (step->op == CAROM_OP_NEGATE || step->op == CAROM_OP_NOT) return 1;
  if (step->op == CAROM_OP_CALL) return step->index < CAROM_ATAN2 ? 1 : 2;
  return step->op == CAROM_OP_SELECT ? 3 : 2;
}

static int depth_needed(const carom_formula_step *steps, int count) {
  int depth = 0, most = 0;
  for (int i = 0; i < count; i++) {
    depth += 1 - carom_formula_operands(&steps[i]);
    if (depth > most) most = depth;
  }
  return most;
}

bool carom_formula_create(const carom_formula_step *steps, int count, const carom_allocator *allocator,
                          carom_formula **formula) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *formula = NULL;
  if (depth_needed(steps, count) > CAROM_FORMULA_DEPTH) return false;
  carom_formula *f = carom_allocate(&a, 1, sizeof *f + (size_t)count * sizeof *steps);
  if (!f) return true;
  f->allocator = a;
  f->count = count;
  memcpy(f->steps, steps, (size_t)count * sizeof *steps);
  for (int i = 0; i < count; i++)
    if (steps[i].op == CAROM_OP_SLOT && steps[i].index >= f->slot_count) f->slot_count = steps[i].index + 1;
  *formula = f;
  return true;
}

void carom_formula_destroy(carom_formula *formula) {
  if (!formula) return;
  carom_allocator a = formula->allocator;
  carom_release(&a, formula);
}

// ---- values ---------------------------------------------------------------------------------------------------------

double carom_formula_combine(const carom_formula_step *step, double x, double y) {
  switch (step->op) {
    case CAROM_OP_ADD:
      return x + y;
    case CAROM_OP_SUBTRACT:
      return x - y;
    case CAROM_OP_MULTIPLY:
      return x * y;
    case CAROM_OP_DIVIDE:
      return x / y;
    case CAROM_OP_POWER:
      return pow(x, y);
    case CAROM_OP_LESS:
      return x < y;
    case CAROM_OP_LESS_EQUAL:
      return x <= y;
    case CAROM_OP_GREATER:
      return x > y;
    case CAROM_OP_GREATER_EQUAL:
      return x >= y;
    case CAROM_OP_EQUAL:
      return x == y;
    case CAROM_OP_NOT_EQUAL:
      return x != y;
    case CAROM_OP_AND:
      return carom_is_true(x) && carom_is_true(y);
    case CAROM_OP_OR:
      return carom_is_true(x) || carom_is_true(y);
    default:
      return carom_function_value((carom_function)step->index, x, y);
  }
}

static double alter(const carom_formula_step *step, double x) {
  if (step->op == CAROM_OP_NEGATE) return -x;
  return step->op == CAROM_OP_NOT ? !carom_is_true(x) : carom_function_value((carom_function)step->index, x, 0);
}

double carom_formula_value(const carom_formula *formula, const double *slots) {
  double stack[CAROM_FORMULA_DEPTH];
  int top = -1;
  for (int i = 0; i < formula->count; i++) {
    const carom_formula_step *step = &formula->steps[i];
    int operands = carom_formula_operands(step);
    top += 1 - operands;
    double *x = &stack[top];
    if (operands == 0)
      *x = step->op == CAROM_OP_NUMBER ? step->number : slots[step->index];
    else if (operands == 1)
      *x = alter(step, *x);
    else
      *x = operands == 2 ? carom_formula_combine(step, x[0], x[1]) : carom_is_true(x[0]) ? x[1] : x[2];
  }
  return stack[0];
}
