#include "scene/saa_poly.h"

#include <math.h>
#include <string.h>

typedef carom_saa_coefficient coefficient;
typedef carom_saa_term term;
typedef carom_saa_poly poly;

static const char too_long[] = "the expression grows too long; give parts of it as rows of their own";

// ---- coefficients ---------------------------------------------------------------------------------------------------

static coefficient number(double value) { return (coefficient){.number = value}; }
static bool is_number(const coefficient *c, double value) {
  return c->count == 0 && !(c->number < value) && !(c->number > value);
}

static int length_of(const coefficient *c) { return c->count > 0 ? c->count : 1; }

static carom_formula_step *append(carom_formula_step *at, const coefficient *c) {
  if (c->count == 0) {
    *at = (carom_formula_step){.op = CAROM_OP_NUMBER, .number = c->number};
    return at + 1;
  }
  memcpy(at, c->steps, (size_t)c->count * sizeof *at);
  return at + c->count;
}

// Up to three operands and the step that takes them, as code.
static const char *code(carom_pool *pool, const coefficient *const *operands, int count, carom_formula_step step,
                        coefficient *result) {
  int length = 1;
  for (int k = 0; k < count; k++) length += length_of(operands[k]);
  if (length > CAROM_FORMULA_STEPS) return too_long;
  carom_formula_step *steps = CAROM_POOL_ARRAY(pool, carom_formula_step, length), *at = steps;
  *result = number(0);
  if (!steps) return NULL;
  for (int k = 0; k < count; k++) at = append(at, operands[k]);
  *at = step;
  *result = (coefficient){.count = length, .steps = steps};
  return NULL;
}

static double apply(const carom_formula_step *step, const coefficient *x, const coefficient *y) {
  if (step->op == CAROM_OP_NEGATE) return -x->number;
  if (step->op == CAROM_OP_NOT) return !carom_is_true(x->number);
  if (step->op == CAROM_OP_CALL) return carom_function_value((carom_function)step->index, x->number, y ? y->number : 0);
  return carom_formula_combine(step, x->number, y->number);
}

static const char *combine(carom_pool *pool, const coefficient *x, const coefficient *y, carom_formula_step step,
                           coefficient *result) {
  bool plus = step.op == CAROM_OP_ADD, times = step.op == CAROM_OP_MULTIPLY;
  if (x->count == 0 && (!y || y->count == 0)) return *result = number(apply(&step, x, y)), NULL;
  if ((plus && is_number(x, 0)) || (times && is_number(x, 1))) return *result = *y, NULL;
  if ((plus && is_number(y, 0)) || (times && is_number(y, 1))) return *result = *x, NULL;
  const coefficient *const operands[] = {x, y};
  return code(pool, operands, y ? 2 : 1, step, result);
}

// ---- polynomials ----------------------------------------------------------------------------------------------------

static int compare(const term *x, const term *y) { return x->a != y->a ? x->a - y->a : x->b - y->b; }

static poly plain(carom_pool *pool, coefficient c) {
  poly p = {1, CAROM_POOL_NEW(pool, term)};
  if (!p.terms) return (poly){0, NULL};
  p.terms[0] = (term){-1, -1, c};
  return p;
}

bool carom_saa_poly_is_plain(const poly *p) { return p->count == 0 || p->terms[p->count - 1].a < 0; }
coefficient carom_saa_poly_constant(const poly *p) {
  return p->count > 0 && p->terms[0].a < 0 ? p->terms[0].c : number(0);
}

// Terms of both, by `step` where they meet (addition or subtraction); what stands alone in y is negated for the latter.
static const char *merge(carom_pool *pool, const poly *x, const poly *y, carom_formula_op op, poly *result) {
  const carom_formula_step step = {.op = op}, negate = {.op = CAROM_OP_NEGATE};
  poly sum = {0, CAROM_POOL_ARRAY(pool, term, x->count + y->count + 1)};
  int i = 0, j = 0;
  while (sum.terms && (i < x->count || j < y->count)) {
    int order = i == x->count ? 1 : j == y->count ? -1 : compare(&x->terms[i], &y->terms[j]);
    const char *wrong = NULL;
    term t = order <= 0 ? x->terms[i] : y->terms[j];
    if (order == 0) wrong = combine(pool, &x->terms[i].c, &y->terms[j].c, step, &t.c);
    if (order > 0 && op == CAROM_OP_SUBTRACT) wrong = combine(pool, &y->terms[j].c, NULL, negate, &t.c);
    if (wrong) return wrong;
    i += order <= 0, j += order >= 0;
    if (!is_number(&t.c, 0)) sum.terms[sum.count++] = t;
  }
  *result = sum;
  return NULL;
}

static const char *multiply_terms(carom_pool *pool, const term *x, const term *y, term *product) {
  int unknowns[4] = {x->a, x->b, y->a, y->b}, found[2] = {-1, -1}, count = 0;
  for (int k = 0; k < 4; k++) {
    if (unknowns[k] < 0) continue;
    if (count == 2) return "a product of more than two unknowns; costs are quadratic at most";
    found[count++] = unknowns[k];
  }
  product->a = found[0] > found[1] ? found[0] : found[1];
  product->b = found[0] > found[1] ? found[1] : found[0];
  return combine(pool, &x->c, &y->c, (carom_formula_step){.op = CAROM_OP_MULTIPLY}, &product->c);
}

static const char *multiply(carom_pool *pool, const poly *x, const poly *y, poly *result) {
  poly sum = {0, NULL};
  for (int i = 0; i < x->count; i++) {
    poly row = {0, CAROM_POOL_ARRAY(pool, term, y->count + 1)}, next;
    const char *wrong = NULL;
    for (int j = 0; j < y->count && row.terms && !wrong; j++) {
      term t;
      poly one = {1, &t};
      wrong = multiply_terms(pool, &x->terms[i], &y->terms[j], &t);
      if (!wrong) wrong = merge(pool, &row, &one, CAROM_OP_ADD, &next), row = next;
    }
    if (!wrong) wrong = merge(pool, &sum, &row, CAROM_OP_ADD, &next), sum = next;
    if (wrong) return wrong;
  }
  *result = sum;
  return NULL;
}

static const char *scale(carom_pool *pool, const poly *x, const coefficient *c, carom_formula_op op, poly *result) {
  poly scaled = {x->count, CAROM_POOL_ARRAY(pool, term, x->count + 1)};
  for (int k = 0; k < x->count && scaled.terms; k++) {
    scaled.terms[k] = x->terms[k];
    const char *wrong = combine(pool, &x->terms[k].c, c, (carom_formula_step){.op = op}, &scaled.terms[k].c);
    if (wrong) return wrong;
  }
  *result = scaled;
  return NULL;
}

// ---- code -----------------------------------------------------------------------------------------------------------

static const char *power(carom_pool *pool, const poly *x, const poly *y, poly *result) {
  coefficient exponent = carom_saa_poly_constant(y);
  if (exponent.count == 0 && is_number(&exponent, 2)) return multiply(pool, x, x, result);
  if (exponent.count == 0 && is_number(&exponent, 1)) return *result = *x, NULL;
  return "a power of an unknown; only squares are allowed";
}

static const char *choose(carom_pool *pool, const poly *x, poly *result) {
  coefficient c = carom_saa_poly_constant(&x[0]), zero = number(0);
  poly all;
  if (!carom_saa_poly_is_plain(&x[0])) return "a condition on an unknown; conditions are on what is random";
  if (c.count == 0) return *result = carom_is_true(c.number) ? x[1] : x[2], NULL;
  const char *wrong = merge(pool, &x[1], &x[2], CAROM_OP_ADD, &all);  // for which terms there are
  for (int k = 0; !wrong && k < all.count; k++) {
    const coefficient *branch[2] = {&zero, &zero};
    for (int s = 0; s < 2; s++)
      for (int j = 0; j < x[1 + s].count; j++)
        if (compare(&x[1 + s].terms[j], &all.terms[k]) == 0) branch[s] = &x[1 + s].terms[j].c;
    const coefficient *const operands[] = {&c, branch[0], branch[1]};
    wrong = code(pool, operands, 3, (carom_formula_step){.op = CAROM_OP_SELECT}, &all.terms[k].c);
  }
  *result = all;
  return wrong;
}

static const char *plain_step(carom_pool *pool, const poly *x, int count, carom_formula_step step, poly *result) {
  coefficient c[2], value;
  for (int k = 0; k < count; k++) {
    if (!carom_saa_poly_is_plain(&x[k]))
      return step.op == CAROM_OP_DIVIDE ? "a division by an unknown; rows are linear, costs quadratic"
             : step.op == CAROM_OP_CALL ? "a function of an unknown; rows are linear, costs quadratic"
                                        : "a comparison or power of an unknown; rows are linear, costs quadratic";
    c[k] = carom_saa_poly_constant(&x[k]);
  }
  const char *wrong = combine(pool, &c[0], count > 1 ? &c[1] : NULL, step, &value);
  if (!wrong) *result = plain(pool, value);
  return wrong;
}

static const char *take(carom_pool *pool, const poly *x, int count, carom_formula_step step, poly *result) {
  const coefficient minus = number(-1);
  coefficient c;
  switch (step.op) {
    case CAROM_OP_ADD:
    case CAROM_OP_SUBTRACT:
      return merge(pool, &x[0], &x[1], step.op, result);
    case CAROM_OP_NEGATE:
      return scale(pool, &x[0], &minus, CAROM_OP_MULTIPLY, result);
    case CAROM_OP_MULTIPLY:
      return multiply(pool, &x[0], &x[1], result);
    case CAROM_OP_DIVIDE:
      if (!carom_saa_poly_is_plain(&x[1])) return plain_step(pool, x, 2, step, result);
      c = carom_saa_poly_constant(&x[1]);
      return scale(pool, &x[0], &c, CAROM_OP_DIVIDE, result);
    case CAROM_OP_POWER:
      if (!carom_saa_poly_is_plain(&x[0]) && carom_saa_poly_is_plain(&x[1])) return power(pool, &x[0], &x[1], result);
      return plain_step(pool, x, 2, step, result);
    case CAROM_OP_SELECT:
      return choose(pool, x, result);
    default:
      return plain_step(pool, x, count, step, result);
  }
}

static poly slot(carom_pool *pool, int index, int unknowns) {
  if (index < unknowns) {
    poly p = plain(pool, number(1));
    if (p.terms) p.terms[0].a = index;
    return p;
  }
  carom_formula_step *step = CAROM_POOL_NEW(pool, carom_formula_step);
  if (!step) return (poly){0, NULL};
  *step = (carom_formula_step){.op = CAROM_OP_SLOT, .index = index - unknowns};
  return plain(pool, (coefficient){.count = 1, .steps = step});
}

const char *carom_saa_poly_make(const carom_formula *formula, int unknowns, carom_pool *pool, poly *result) {
  poly stack[CAROM_FORMULA_DEPTH + 1];
  int depth = 0;
  for (int k = 0; k < formula->count && !pool->failed; k++) {
    const carom_formula_step *step = &formula->steps[k];
    int operands = carom_formula_operands(step);
    poly p = {0, NULL};
    const char *wrong = NULL;
    depth -= operands;
    if (step->op == CAROM_OP_NUMBER)
      p = plain(pool, number(step->number));
    else if (step->op == CAROM_OP_SLOT)
      p = slot(pool, step->index, unknowns);
    else
      wrong = take(pool, &stack[depth], operands, *step, &p);
    if (wrong) return wrong;
    stack[depth++] = p;
  }
  *result = pool->failed ? (poly){0, NULL} : stack[0];
  return NULL;
}

const char *carom_saa_poly_subtract(carom_pool *pool, const poly *a, const poly *b, poly *difference) {
  return merge(pool, a, b, CAROM_OP_SUBTRACT, difference);
}
