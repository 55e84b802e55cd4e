// Equations as text, compiled to formulas over their unknowns.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expression.h"
#include "base/formula_complex.h"
#include "base/memory.h"
#include "carom/root.h"

enum { NAME = 64 };

struct carom_root_equations {
  carom_allocator allocator;
  int count, variable_count;
  bool complex_plane;
  carom_formula *formulas[CAROM_ROOT_MOST];
  char names[CAROM_ROOT_MOST][NAME];
};

// ---- names ----------------------------------------------------------------------------------------------------------

// Compiling happens twice where the names are found: once to find them, and again with all in their order.
typedef struct naming {
  carom_root_equations *e;
  const char *text;  // of the expression
  bool open;         // new names are added
  bool full;         // there were more than fit
} naming;

static int find_name(const carom_root_equations *e, const char *name, size_t length) {
  for (int i = 0; i < e->variable_count; i++)
    if (strlen(e->names[i]) == length && memcmp(e->names[i], name, length) == 0) return i;
  return -1;
}

// A name with an argument is a function that is not known.
static bool has_argument(const naming *n, const char *name, size_t length) {
  const char *next = name + length + strspn(name + length, " ");
  return name >= n->text && *next == '(';
}

static bool add_name(naming *n, const char *name, size_t length) {
  carom_root_equations *e = n->e;
  if (length >= NAME || e->variable_count == CAROM_ROOT_MOST) return n->full = true, false;
  int k = e->variable_count++;  // in alphabetical order
  for (; k > 0 && strncmp(e->names[k - 1], name, length) > 0; k--) memcpy(e->names[k], e->names[k - 1], NAME);
  snprintf(e->names[k], NAME, "%.*s", (int)length, name);
  return true;
}

static int find(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  naming *n = context;
  (void)value;
  *slot = find_name(n->e, name, length);
  if (*slot >= 0) return 1;
  if (!n->open || has_argument(n, name, length) || !add_name(n, name, length)) return 0;
  *slot = 0;  // this code is thrown away
  return 1;
}

static void suggest(void *context, carom_nearest *nearest) {
  const naming *n = context;
  for (int i = 0; i < n->e->variable_count; i++) carom_nearest_try(nearest, n->e->names[i]);
}

// ---- compiling ------------------------------------------------------------------------------------------------------

static carom_status no_memory(carom_error *error) { return carom_fail(error, CAROM_ERR_MEMORY, "root: out of memory"); }

static carom_status compile(naming *n, carom_formula **formula, carom_error *error) {
  const carom_formula_scope scope = {.context = n, .find = find, .suggest = suggest};
  carom_expression_error why;
  if (carom_formula_compile(n->text, strlen(n->text), &scope, &n->e->allocator, formula, &why)) return CAROM_OK;
  if (!why.message[0]) return no_memory(error);
  if (n->full)
    return carom_fail(error, CAROM_ERR_FORMAT, "'%.300s', column %zu: more than %d unknowns, or a name of %d letters",
                      n->text, why.offset + 1, CAROM_ROOT_MOST, NAME);
  return carom_fail(error, CAROM_ERR_FORMAT, "'%.300s', column %zu: %s%s%s", n->text, why.offset + 1, why.message,
                    why.hint[0] ? "; " : "", why.hint);
}

static carom_status compile_all(carom_root_equations *e, const carom_root_text *text, bool open, carom_error *error) {
  for (int i = 0; i < text->count; i++) {
    naming n = {.e = e, .text = text->expressions[i], .open = open};
    carom_formula_destroy(e->formulas[i]);
    e->formulas[i] = NULL;
    carom_status status = compile(&n, &e->formulas[i], error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- checks ---------------------------------------------------------------------------------------------------------

static bool is_word(const char *name) {
  static const char *const words[] = {"if", "and", "or", "not", NULL};
  for (int i = 0; words[i]; i++)
    if (strcmp(name, words[i]) == 0) return true;
  for (int i = 0; carom_expression_word(i); i++)
    if (strcmp(name, carom_expression_word(i)) == 0) return true;
  return false;
}

static bool is_name(const char *name) {
  static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  size_t length = strspn(name, letters);
  bool digit = name[0] >= '0' && name[0] <= '9';
  return length > 0 && !name[length] && length < NAME && !digit && !is_word(name);
}

static carom_status take_names(carom_root_equations *e, const carom_root_text *text, carom_error *error) {
  for (int i = 0; i < text->count; i++) {
    const char *name = text->variables[i];
    if (!is_name(name))
      return carom_fail(error, CAROM_ERR_FORMAT,
                        "'%.80s' cannot be the name of an unknown: letters, digits and _, no "
                        "function and not pi",
                        name);
    if (find_name(e, name, strlen(name)) >= 0)
      return carom_fail(error, CAROM_ERR_FORMAT, "the unknown '%s' is named twice", name);
    snprintf(e->names[e->variable_count++], NAME, "%s", name);
  }
  return CAROM_OK;
}

static void list_names(const carom_root_equations *e, char *list, size_t size) {
  size_t at = 0;
  list[0] = '\0';
  for (int i = 0; i < e->variable_count && at < size; i++)
    at += (size_t)snprintf(list + at, size - at, "%s%s", i > 0 ? ", " : "", e->names[i]);
}

static carom_status check_count(const carom_root_equations *e, carom_error *error) {
  char list[300];
  if (e->variable_count == e->count) return CAROM_OK;
  list_names(e, list, sizeof list);
  if (e->variable_count == 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "there is no unknown in the expression%s: name one, as in 'x^2 - 2'",
                      e->count > 1 ? "s" : "");
  return carom_fail(error, CAROM_ERR_FORMAT, "%d expression%s for %d unknown%s (%s): give one for each unknown",
                    e->count, e->count > 1 ? "s" : "", e->variable_count, e->variable_count > 1 ? "s" : "", list);
}

static carom_status check_analytic(const carom_root_equations *e, carom_error *error) {
  if (!e->complex_plane) return CAROM_OK;
  if (e->count != 1)
    return carom_fail(error, CAROM_ERR_FORMAT, "the complex plane is for one expression, not %d", e->count);
  const char *fault = carom_formula_not_analytic(e->formulas[0]);
  if (!fault) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_FORMAT,
                    "%s has no derivative in the complex plane; leave it out, or write real "
                    "and imaginary part as two expressions",
                    fault);
}

// ---- making ---------------------------------------------------------------------------------------------------------

static carom_status fill(carom_root_equations *e, const carom_root_text *text, carom_error *error) {
  if (text->count < 1 || text->count > CAROM_ROOT_MOST)
    return carom_fail(error, CAROM_ERR_FORMAT, "%d expressions: 1 to %d are allowed", text->count, CAROM_ROOT_MOST);
  e->count = text->count;
  e->complex_plane = text->complex_plane;
  carom_status status = text->variables ? take_names(e, text, error) : compile_all(e, text, true, error);
  if (status == CAROM_OK) status = check_count(e, error);
  if (status == CAROM_OK) status = compile_all(e, text, false, error);
  return status == CAROM_OK ? check_analytic(e, error) : status;
}

carom_status carom_root_equations_create(const carom_root_text *text, const carom_allocator *allocator,
                                         carom_root_equations **equations, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *equations = NULL;
  carom_root_equations *e = CAROM_NEW(&a, carom_root_equations, 1);
  if (!e) return no_memory(error);
  e->allocator = a;
  carom_status status = fill(e, text, error);
  if (status == CAROM_OK) return *equations = e, status;
  carom_root_equations_destroy(e);
  return status;
}

void carom_root_equations_destroy(carom_root_equations *equations) {
  if (!equations) return;
  carom_allocator a = equations->allocator;
  for (int i = 0; i < CAROM_ROOT_MOST; i++) carom_formula_destroy(equations->formulas[i]);
  carom_release(&a, equations);
}

// ---- values ---------------------------------------------------------------------------------------------------------

static carom_status evaluate(void *context, const double *x, double *f, double *J) {
  const carom_root_equations *e = context;
  for (int i = 0; i < e->count; i++) {
    if (f) f[i] = carom_formula_value(e->formulas[i], x);
    for (int j = 0; J && j < e->count; j++) {
      double jet[3];
      carom_formula_jet(e->formulas[i], x, j, jet);
      J[i + j * e->count] = jet[1];
    }
  }
  return CAROM_OK;
}

// f(x + i y) = u + i v: u_x = v_y and u_y = -v_x (Cauchy and Riemann).
static carom_status evaluate_complex(void *context, const double *x, double *f, double *J) {
  const carom_root_equations *e = context;
  double complex z, w[2];
  memcpy(&z, x, sizeof z);  // laid out as two doubles (C17, 6.2.5); CMPLX is not in every compiler
  carom_formula_complex(e->formulas[0], &z, 0, w);
  if (f) f[0] = creal(w[0]), f[1] = cimag(w[0]);
  if (J) J[0] = J[3] = creal(w[1]), J[1] = cimag(w[1]), J[2] = -J[1];
  return CAROM_OK;
}

carom_root_problem carom_root_equations_problem(const carom_root_equations *equations) {
  carom_root_equations *e = (carom_root_equations *)equations;  // only ever read
  if (e->complex_plane) return (carom_root_problem){2, e, evaluate_complex};
  return (carom_root_problem){e->count, e, evaluate};
}

const char *carom_root_equations_variable(const carom_root_equations *equations, int i) { return equations->names[i]; }
