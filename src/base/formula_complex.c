// Taylor arithmetic of first order in the complex plane.
#include "base/formula_complex.h"

#include "base/expression.h"

typedef double complex number;

typedef struct dual {
  number v, d;
} dual;

static dual constant(number v) { return (dual){v, 0}; }

// What does not change has no derivative, whatever g' is there.
static dual chain(dual x, number g, number g1) { return (dual){g, x.d == 0 ? 0 : g1 * x.d}; }

static dual function(carom_function f, dual x) {
  number v = x.v, g;
  switch (f) {
    case CAROM_SQRT:
      return g = csqrt(v), chain(x, g, 0.5 / g);
    case CAROM_SIN:
      return chain(x, csin(v), ccos(v));
    case CAROM_COS:
      return chain(x, ccos(v), -csin(v));
    case CAROM_TAN:
      return g = ctan(v), chain(x, g, 1 + g * g);
    case CAROM_ASIN:
      return chain(x, casin(v), 1 / csqrt(1 - v * v));
    case CAROM_ACOS:
      return chain(x, cacos(v), -1 / csqrt(1 - v * v));
    case CAROM_ATAN:
      return chain(x, catan(v), 1 / (1 + v * v));
    case CAROM_EXP:
      return g = cexp(v), chain(x, g, g);
    default:
      return chain(x, clog(v), 1 / v);
  }
}

// Whole powers by squaring: cpow goes through the logarithm, which rounds more and has none of 0.
static number whole_power(number x, int n) {
  number y = 1;
  for (unsigned k = (unsigned)(n < 0 ? -n : n); k > 0; k >>= 1, x *= x)
    if (k & 1) y *= x;
  return n < 0 ? 1 / y : y;
}

static bool is_whole(number n) {
  return cimag(n) == 0 && creal(n) >= -1000 && creal(n) <= 1000 && creal(n) == (int)creal(n);
}

static dual power(dual x, dual y) {
  if (y.d == 0 && is_whole(y.v)) {
    int n = (int)creal(y.v);
    return chain(x, whole_power(x.v, n), n == 0 ? 0 : n * whole_power(x.v, n - 1));
  }
  number g = cpow(x.v, y.v), slope = y.d * clog(x.v) + (x.d == 0 ? 0 : y.v * x.d / x.v);
  return (dual){g, x.d == 0 && y.d == 0 ? 0 : g * slope};
}

static dual combine(carom_formula_op op, dual x, dual y) {
  switch (op) {
    case CAROM_OP_ADD:
      return (dual){x.v + y.v, x.d + y.d};
    case CAROM_OP_SUBTRACT:
      return (dual){x.v - y.v, x.d - y.d};
    case CAROM_OP_MULTIPLY:
      return (dual){x.v * y.v, x.d * y.v + x.v * y.d};
    case CAROM_OP_POWER:
      return power(x, y);
    default:  // division: x = q y, differentiated
      return (dual){x.v / y.v, (x.d - x.v / y.v * y.d) / y.v};
  }
}

static const char *fault(const carom_formula_step *step) {
  if (step->op == CAROM_OP_CALL) return step->index >= CAROM_ABS ? carom_expression_word(step->index) : NULL;
  if (step->op == CAROM_OP_NOT || (step->op >= CAROM_OP_AND && step->op <= CAROM_OP_OR)) return "logic";
  if (step->op == CAROM_OP_SELECT) return "if";
  return step->op >= CAROM_OP_LESS ? "a comparison" : NULL;
}

const char *carom_formula_not_analytic(const carom_formula *formula) {
  for (int i = 0; i < formula->count; i++)
    if (fault(&formula->steps[i])) return fault(&formula->steps[i]);
  return NULL;
}

void carom_formula_complex(const carom_formula *formula, const double complex *slots, int t, double complex out[2]) {
  dual stack[CAROM_FORMULA_DEPTH];
  int top = -1;
  for (int i = 0; i < formula->count; i++) {
    const carom_formula_step *step = &formula->steps[i];
    int operands = carom_formula_operands(step);
    top += 1 - operands;
    dual *x = &stack[top];
    if (step->op == CAROM_OP_NUMBER)
      *x = constant(step->number);
    else if (step->op == CAROM_OP_SLOT)
      *x = (dual){slots[step->index], step->index == t ? 1 : 0};
    else if (step->op == CAROM_OP_NEGATE)
      *x = (dual){-x->v, -x->d};
    else
      *x = operands == 1 ? function((carom_function)step->index, *x) : combine(step->op, x[0], x[1]);
  }
  out[0] = stack[0].v, out[1] = stack[0].d;
}
