// Taylor arithmetic of second order: a number carries its value and its first two derivatives along one slot, and every
// operation is differentiated by hand. No step sizes, no cancellation.
#include <math.h>

#include "base/formula.h"

typedef struct jet {
  double v, d, dd;
} jet;

static jet constant(double v) { return (jet){v, 0, 0}; }

// g(x(t)) out of g, g' and g'' at x. What does not change has no derivative, whatever g' is there.
static jet chain(jet x, double g, double g1, double g2) {
  if (x.d == 0 && x.dd == 0) return constant(g);
  return (jet){g, g1 * x.d, g2 * x.d * x.d + g1 * x.dd};
}

// ---- functions of one argument --------------------------------------------------------------------------------------

static jet unary_jet(carom_function f, jet x) {
  double v = x.v, g = carom_function_value(f, v, 0), w = 1 - v * v;
  switch (f) {
    case CAROM_SQRT:
      return chain(x, g, 0.5 / g, -0.25 / (v * g));
    case CAROM_SIN:
      return chain(x, g, cos(v), -g);
    case CAROM_COS:
      return chain(x, g, -sin(v), -g);
    case CAROM_TAN:
      return chain(x, g, 1 + g * g, 2 * g * (1 + g * g));
    case CAROM_ASIN:
      return chain(x, g, 1 / sqrt(w), v / (w * sqrt(w)));
    case CAROM_ACOS:
      return chain(x, g, -1 / sqrt(w), -v / (w * sqrt(w)));
    case CAROM_ATAN:
      return chain(x, g, 1 / (1 + v * v), -2 * v / ((1 + v * v) * (1 + v * v)));
    case CAROM_EXP:
      return chain(x, g, g, g);
    case CAROM_LOG:
      return chain(x, g, 1 / v, -1 / (v * v));
    case CAROM_ABS:
      return chain(x, g, v < 0 ? -1 : 1, 0);
    default:
      return constant(g);  // floor, ceil
  }
}

// ---- operators and functions of two ---------------------------------------------------------------------------------

static jet product(jet x, jet y) {
  return (jet){x.v * y.v, x.d * y.v + x.v * y.d, x.dd * y.v + 2 * x.d * y.d + x.v * y.dd};
}

static jet quotient(jet x, jet y) {  // q = x/y: x = q y, differentiated twice
  jet q = {.v = x.v / y.v};
  q.d = (x.d - q.v * y.d) / y.v;
  q.dd = (x.dd - 2 * q.d * y.d - q.v * y.dd) / y.v;
  return q;
}

static jet power(jet x, jet y) {
  double n = y.v, g = pow(x.v, n);
  if (y.d != 0 || y.dd != 0) {  // x^y = exp(y log x)
    jet e = product(y, unary_jet(CAROM_LOG, x));
    return chain(e, g, g, g);
  }
  double g1 = n == 0 ? 0 : n * pow(x.v, n - 1), g2 = n == 0 || n == 1 ? 0 : n * (n - 1) * pow(x.v, n - 2);
  return chain(x, g, g1, g2);
}

static jet angle(jet y, jet x) {  // atan2: N/D with N = x y' - y x', D = x^2 + y^2
  double n = x.v * y.d - y.v * x.d, n1 = x.v * y.dd - y.v * x.dd;
  double d = x.v * x.v + y.v * y.v, d1 = 2 * (x.v * x.d + y.v * y.d);
  if (n == 0 && n1 == 0) return constant(atan2(y.v, x.v));
  return (jet){atan2(y.v, x.v), n / d, n1 / d - n * d1 / (d * d)};
}

static jet length(jet x, jet y) {  // r r' = x x' + y y', differentiated once more
  jet r = {.v = hypot(x.v, y.v)};
  if (x.d == 0 && x.dd == 0 && y.d == 0 && y.dd == 0) return r;
  r.d = (x.v * x.d + y.v * y.d) / r.v;
  r.dd = (x.d * x.d + x.v * x.dd + y.d * y.d + y.v * y.dd - r.d * r.d) / r.v;
  return r;
}

static jet remainder_jet(jet x, jet y) {
  double n = floor(x.v / y.v);
  return (jet){x.v - y.v * n, x.d - n * y.d, x.dd - n * y.dd};
}

static jet call(carom_function f, jet x, jet y) {
  switch (f) {
    case CAROM_ATAN2:
      return angle(x, y);
    case CAROM_HYPOT:
      return length(x, y);
    case CAROM_MIN:
      return x.v < y.v ? x : y;
    case CAROM_MAX:
      return x.v > y.v ? x : y;
    case CAROM_MOD:
      return remainder_jet(x, y);
    default:
      return unary_jet(f, x);
  }
}

static jet combine(const carom_formula_step *step, jet x, jet y) {
  switch (step->op) {
    case CAROM_OP_ADD:
      return (jet){x.v + y.v, x.d + y.d, x.dd + y.dd};
    case CAROM_OP_SUBTRACT:
      return (jet){x.v - y.v, x.d - y.d, x.dd - y.dd};
    case CAROM_OP_MULTIPLY:
      return product(x, y);
    case CAROM_OP_DIVIDE:
      return quotient(x, y);
    case CAROM_OP_POWER:
      return power(x, y);
    case CAROM_OP_CALL:
      return call((carom_function)step->index, x, y);
    default:
      return constant(carom_formula_combine(step, x.v, y.v));  // comparisons and logic: constant where smooth
  }
}

// ---- the machine ----------------------------------------------------------------------------------------------------

static jet alter(const carom_formula_step *step, jet x) {
  if (step->op == CAROM_OP_NEGATE) return (jet){-x.v, -x.d, -x.dd};
  if (step->op == CAROM_OP_NOT) return constant(!carom_is_true(x.v));
  return unary_jet((carom_function)step->index, x);
}

static jet leaf(const carom_formula_step *step, const double *slots, int t) {
  if (step->op == CAROM_OP_NUMBER) return constant(step->number);
  return (jet){slots[step->index], step->index == t ? 1 : 0, 0};
}

void carom_formula_jet(const carom_formula *formula, const double *slots, int t, double out[3]) {
  jet stack[CAROM_FORMULA_DEPTH];
  int top = -1;
  for (int i = 0; i < formula->count; i++) {
    const carom_formula_step *step = &formula->steps[i];
    int operands = carom_formula_operands(step);
    top += 1 - operands;
    jet *x = &stack[top];
    if (operands == 0)
      *x = leaf(step, slots, t);
    else if (operands == 1)
      *x = alter(step, *x);
    else
      *x = operands == 2 ? combine(step, x[0], x[1]) : carom_is_true(x[0].v) ? x[1] : x[2];
  }
  out[0] = stack[0].v, out[1] = stack[0].d, out[2] = stack[0].dd;
}
