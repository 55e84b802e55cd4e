// Unknowns with their bounds, costs and rows of a stochastic program: expressions into entries.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/saa_reader.h"

typedef carom_saa_poly poly;
typedef carom_saa_coefficient coefficient;

// ---- expressions ----------------------------------------------------------------------------------------------------

// Unknowns, then random variables, are slots; constants are numbers.
static int find_name(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  carom_saa_reader *p = context;
  carom_scope scope = carom_reader_scope(&p->r);
  char text[64];
  if (length < sizeof text) {
    memcpy(text, name, length);
    text[length] = 0;
    int unknown = carom_names_find(&p->unknowns, text), variable = carom_names_find(&p->variables, text);
    *slot = unknown >= 0 ? unknown : variable >= 0 ? CAROM_SAA_MOST_UNKNOWNS + variable : -1;
    if (*slot >= 0) return 1;
  }
  *slot = -1;
  return scope.find(scope.context, name, length, value);
}

static void suggest(void *context, carom_nearest *nearest) {
  carom_saa_reader *p = context;
  carom_nearest_try_all(nearest, &p->unknowns);
  carom_nearest_try_all(nearest, &p->variables);
  carom_nearest_try_all(nearest, &p->r.constant_names);
}

// A piece of an expression as it stands in the file or, where braces were filled in, elsewhere.
typedef struct piece {
  const char *text;
  size_t length;
} piece;

static carom_place place_of(const carom_node *node, const char *whole, const piece *e, size_t offset) {
  return whole == node->text ? carom_value_place(node, (size_t)(e->text - whole) + offset) : node->place;
}

static bool read_poly(carom_saa_reader *p, const carom_node *node, const char *whole, piece e, poly *result) {
  const carom_formula_scope scope = {.context = p, .find = find_name, .suggest = suggest};
  carom_allocator heap = carom_pool_allocator(&p->r.pool);
  carom_formula *formula = NULL;
  carom_expression_error error;
  if (!carom_formula_compile(e.text, e.length, &scope, &heap, &formula, &error)) {
    if (!error.message[0] && !error.reported) return p->r.reporter.out_of_memory = true, false;
    if (!error.reported)
      carom_report(&p->r.reporter, place_of(node, whole, &e, error.offset), error.hint, "%s", error.message);
    return false;
  }
  const char *wrong = carom_saa_poly_make(formula, CAROM_SAA_MOST_UNKNOWNS, &p->file->tables->pool, result);
  if (wrong) return carom_report(&p->r.reporter, place_of(node, whole, &e, 0), NULL, "%s", wrong);
  return !p->file->tables->pool.failed;
}

// ---- entries --------------------------------------------------------------------------------------------------------

static double value_of(const carom_saa_reader *p, const coefficient *c, const double *variables) {
  (void)p;
  union {
    carom_formula formula;
    char room[sizeof(carom_formula) + CAROM_FORMULA_STEPS * sizeof(carom_formula_step)];
  } f;
  if (c->count == 0) return c->number;
  f.formula.count = c->count;
  memcpy(f.formula.steps, c->steps, (size_t)c->count * sizeof *c->steps);
  return carom_formula_value(&f.formula, variables);
}

// Twice a coefficient, for squares.
static coefficient twice(carom_pool *pool, coefficient c) {
  if (c.count == 0) return (coefficient){.number = 2 * c.number};
  carom_formula_step *steps = CAROM_POOL_ARRAY(pool, carom_formula_step, c.count + 2);
  if (!steps) return c;
  memcpy(steps, c.steps, (size_t)c.count * sizeof *steps);
  steps[c.count] = (carom_formula_step){.op = CAROM_OP_NUMBER, .number = 2};
  steps[c.count + 1] = (carom_formula_step){.op = CAROM_OP_MULTIPLY};
  return (coefficient){.count = c.count + 2, .steps = steps};
}

static bool put(carom_saa_reader *p, const carom_node *node, carom_saa_part part, int row, int column, coefficient c) {
  carom_saa_entry e = {part, row, column, value_of(p, &c, p->means), -1};
  if (c.count > CAROM_FORMULA_STEPS)
    return carom_report(&p->r.reporter, node->place, NULL, "the expression grows too long; split it into rows");
  if (c.count > 0) {
    e.random = carom_saa_add_random(p->file, c.steps, c.count);
    if (e.random < 0 && !p->file->tables->pool.failed)
      return carom_report(&p->r.reporter, node->place, NULL, "the expression nests too deep; split it into rows");
    if (!isfinite(e.value)) e.value = 1;
  }
  if (!isfinite(e.value))
    return carom_report(&p->r.reporter, node->place, NULL, "'%.60s' comes to %g", node->key ? node->key : "this",
                        e.value);
  return carom_saa_add_entry(p->file, e);
}

// ---- unknowns -------------------------------------------------------------------------------------------------------

static bool is_open(const carom_node *node) {
  return carom_node_is(node, "inf") || carom_node_is(node, "-inf") || carom_node_is_null(node);
}

static void read_bound(carom_saa_reader *p, const carom_node *node, bool second, carom_saa_part part, int at) {
  poly bound;
  if (!node || is_open(node)) return;
  if (node->kind != CAROM_NODE_SCALAR) {
    carom_refuse(&p->r, node, NULL, "'%s' expects a number", node->key);
    return;
  }
  const char *text = carom_saa_expand(p, node, node->text);
  if (!text || !read_poly(p, node, text, (piece){text, strlen(text)}, &bound)) return;
  coefficient c = carom_saa_poly_constant(&bound);
  if (!carom_saa_poly_is_plain(&bound))
    carom_report(&p->r.reporter, node->place, "make it a row in 'constraints'", "a bound cannot have unknowns in it");
  else if (c.count > 0 && !second)
    carom_report(&p->r.reporter, node->place, "make it a row in 'constraints', which must then hold in every scenario",
                 "a bound of the first stage cannot be random");
  else
    put(p, node, part, at, 0, c);
}

static bool add_unknown(carom_saa_reader *p, const carom_node *node, bool second, int *at) {
  carom_saa_problem *q = &p->file->model.problem;
  carom_pool *pool = &p->file->tables->pool;
  const char *name = carom_saa_expand(p, node, node->key);
  if (!name || !carom_saa_check_name(p, node, name, "an unknown")) return false;
  if (p->unknown_count >= CAROM_SAA_MOST_UNKNOWNS)
    return carom_report(&p->r.reporter, node->place, NULL, "more than %d unknowns", CAROM_SAA_MOST_UNKNOWNS);
  const char *kept = carom_pool_text(pool, name, strlen(name));
  if (!kept || !carom_pool_grow(pool, (void **)&p->unknown_names, p->unknown_count, &p->unknown_capacity,
                                sizeof *p->unknown_names))
    return false;
  p->unknown_names[p->unknown_count] = kept;
  if (!carom_names_add(&p->unknowns, kept, p->unknown_count++)) p->r.pool.failed = true;
  *at = second ? q->m++ : q->n++;
  return true;
}

static void read_unknown(carom_saa_reader *p, const carom_node *node, bool second) {
  static const char *const keys[] = {"lower", "upper", "for", NULL};
  const carom_node *f[CAROM_SAA_MOST_KEYS] = {NULL};
  char label[100];
  int at = 0;
  snprintf(label, sizeof label, "unknown '%.80s'", node->key);
  if (!carom_node_is_null(node) && !carom_problem_fields(&p->r, node, keys, label, f)) return;
  if (!carom_saa_read_loop(p, f[2], &p->loop)) return;
  for (; p->loop.at <= p->loop.to && !carom_reader_failed(&p->r); p->loop.at++) {
    if (!add_unknown(p, node, second, &at)) return;
    read_bound(p, f[0], second, second ? CAROM_SAA_Y_LOW : CAROM_SAA_X_LOW, at);
    read_bound(p, f[1], second, second ? CAROM_SAA_Y_HIGH : CAROM_SAA_X_HIGH, at);
  }
}

void carom_saa_read_unknowns(carom_saa_reader *p, const carom_node *map, bool second) {
  if (!map || carom_node_is_null(map)) return;
  if (map->kind != CAROM_NODE_MAP) {
    carom_refuse(&p->r, map, NULL, "'%s' must be a mapping from names to bounds", map->key);
    return;
  }
  for (const carom_node *c = map->first; c && !carom_reader_failed(&p->r); c = c->next) read_unknown(p, c, second);
  p->loop = (carom_saa_loop){0};
}

// ---- costs ----------------------------------------------------------------------------------------------------------

static void put_cost(carom_saa_reader *p, const carom_node *node, const carom_saa_term *t) {
  int n = p->file->model.problem.n;
  bool a_first = t->a < n, b_first = t->b < n;
  int a = a_first ? t->a : t->a - n, b = b_first ? t->b : t->b - n;
  coefficient c = t->a >= 0 && t->a == t->b ? twice(&p->file->tables->pool, t->c) : t->c;
  if (t->a < 0)
    put(p, node, CAROM_SAA_CONSTANT, 0, 0, c);
  else if (t->b < 0)
    put(p, node, a_first ? CAROM_SAA_X_COST : CAROM_SAA_Y_COST, a, 0, c);
  else if (a_first != b_first)
    put(p, node, CAROM_SAA_YX, a, b, c);  // a > b, so that a is of the second stage
  else
    put(p, node, a_first ? CAROM_SAA_XX : CAROM_SAA_YY, a, b, c);
}

static void read_cost(carom_saa_reader *p, const carom_node *node) {
  const poly none = {0, NULL};
  poly cost, least;
  const char *text = carom_saa_expand(p, node, node->text);
  if (!text || !read_poly(p, node, text, (piece){text, strlen(text)}, &cost)) return;
  least = cost;
  if (p->file->maximize) carom_saa_poly_subtract(&p->file->tables->pool, &none, &cost, &least);
  for (int k = 0; k < least.count; k++) put_cost(p, node, &least.terms[k]);
}

static void read_cost_item(carom_saa_reader *p, const carom_node *node) {
  static const char *const keys[] = {"for", "cost", NULL};
  const carom_node *f[CAROM_SAA_MOST_KEYS];
  if (node->kind == CAROM_NODE_SCALAR && !carom_node_is_null(node)) {
    read_cost(p, node);
    return;
  }
  if (!carom_problem_fields(&p->r, node, keys, "a cost", f) || !carom_require(&p->r, node, f[1], "cost", "a cost") ||
      !carom_saa_read_loop(p, f[0], &p->loop))
    return;
  if (f[1]->kind != CAROM_NODE_SCALAR || carom_node_is_null(f[1])) {
    carom_refuse(&p->r, f[1], NULL, "'cost' expects an expression");
    return;
  }
  for (; p->loop.at <= p->loop.to && !carom_reader_failed(&p->r); p->loop.at++) read_cost(p, f[1]);
  p->loop = (carom_saa_loop){0};
}

void carom_saa_read_costs(carom_saa_reader *p, const carom_node *node) {
  if (node->kind != CAROM_NODE_LIST) {
    read_cost_item(p, node);
    return;
  }
  for (const carom_node *c = node->first; c && !carom_reader_failed(&p->r); c = c->next) read_cost_item(p, c);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// "a <= b", "a == b", "a <= b <= c": the pieces and what stands between them.
typedef struct relation {
  piece pieces[3];
  char signs[2];  // '<', '>' or '='
  int count;      // of signs
} relation;

static const char one_relation[] = "a row is one relation such as 'a + b <= c', or 'low <= a <= high'";

// The operator at `at`: its length, 0 for none, -1 for one that is none here.
static int operator_at(const char *at) {
  if ((at[0] == '<' || at[0] == '>' || at[0] == '=') && at[1] == '=') return 2;
  return at[0] == '<' || at[0] == '>' || at[0] == '=' || (at[0] == '!' && at[1] == '=') ? -1 : 0;
}

static bool split(carom_saa_reader *p, const carom_node *node, const char *text, relation *r) {
  int depth = 0;
  const char *begin = text;
  *r = (relation){.count = 0};
  for (const char *c = text; *c; c++) {
    depth += (*c == '(') - (*c == ')');
    int length = depth == 0 ? operator_at(c) : 0;
    if (length < 0)
      return carom_report(&p->r.reporter,
                          text == node->text ? carom_value_place(node, (size_t)(c - text)) : node->place,
                          "write <=, >= or ==", "'%.1s' is no relation of a row", c);
    if (length == 0) continue;
    if (r->count == 2) return carom_report(&p->r.reporter, node->place, NULL, "%s", one_relation);
    r->pieces[r->count] = (piece){begin, (size_t)(c - begin)};
    r->signs[r->count++] = *c;
    begin = c + length, c += length - 1;
  }
  r->pieces[r->count] = (piece){begin, strlen(begin)};
  if (r->count == 0 || (r->count == 2 && (r->signs[0] != r->signs[1] || r->signs[0] == '=')))
    return carom_report(&p->r.reporter, node->place, NULL, "%s", one_relation);
  return true;
}

// A row: its linear terms and its sides.
typedef struct row {
  poly terms;
  bool has_low, has_high;
  coefficient low, high;
} row;

// side - (constant of terms)
static coefficient side_of(carom_saa_reader *p, const poly *side, const poly *terms) {
  carom_saa_term t;
  poly constant = {terms->count > 0 && terms->terms[0].a < 0 ? 1 : 0, &t}, rest = {0, NULL};
  if (constant.count) t = terms->terms[0];
  carom_saa_poly_subtract(&p->file->tables->pool, side, &constant, &rest);
  return carom_saa_poly_constant(&rest);
}

static bool make_row(carom_saa_reader *p, const carom_node *node, const char *text, const relation *r, row *made) {
  poly e[3], none = {0, NULL};
  carom_pool *pool = &p->file->tables->pool;
  *made = (row){.has_low = false};
  for (int k = 0; k <= r->count; k++)
    if (!read_poly(p, node, text, r->pieces[k], &e[k])) return false;
  if (r->count == 1) {
    carom_saa_poly_subtract(pool, &e[0], &e[1], &made->terms);
    made->has_low = r->signs[0] != '<', made->has_high = r->signs[0] != '>';
    made->low = made->high = side_of(p, &none, &made->terms);
    return true;
  }
  if (!carom_saa_poly_is_plain(&e[0]) || !carom_saa_poly_is_plain(&e[2]))
    return carom_report(&p->r.reporter, node->place, NULL, "in 'low <= a <= high', unknowns stand in the middle only");
  bool up = r->signs[0] == '<';
  made->terms = e[1];
  made->has_low = made->has_high = true;
  made->low = side_of(p, up ? &e[0] : &e[2], &e[1]);
  made->high = side_of(p, up ? &e[2] : &e[0], &e[1]);
  return true;
}

enum { OF_FIRST, OF_MEAN, OF_SCENARIO };

static int kind_of(const carom_saa_reader *p, const row *r, bool means) {
  bool first = !(r->has_low && r->low.count > 0) && !(r->has_high && r->high.count > 0);
  for (int k = 0; k < r->terms.count; k++)
    first = first && r->terms.terms[k].a < p->file->model.problem.n &&
            (r->terms.terms[k].a < 0 || r->terms.terms[k].c.count == 0);
  return means ? OF_MEAN : first ? OF_FIRST : OF_SCENARIO;
}

static int add_row(carom_saa_reader *p, int kind, const char *name) {
  carom_saa_problem *q = &p->file->model.problem;
  int *const counts[] = {&q->first_rows, &q->mean_rows, &q->rows};
  carom_pool *pool = &p->file->tables->pool;
  const char *kept = carom_pool_text(pool, name, strlen(name));
  if (!kept || !carom_pool_grow(pool, (void **)&p->row_names[kind], *counts[kind], &p->row_capacity[kind],
                                sizeof *p->row_names[kind]))
    return -1;
  p->row_names[kind][*counts[kind]] = kept;
  if (!carom_names_add(&p->rows, kept, *counts[kind])) p->r.pool.failed = true;
  return (*counts[kind])++;
}

static bool check_row(carom_saa_reader *p, const carom_node *node, const char *name, const row *r) {
  if (carom_names_find(&p->rows, name) >= 0)
    return carom_report(&p->r.reporter, node->key_at, "choose another name", "there is a row '%.80s' already", name);
  if (carom_saa_poly_is_plain(&r->terms))
    return carom_report(&p->r.reporter, node->place, NULL, "row '%.80s' has no unknown", name);
  for (int k = 0; k < r->terms.count; k++)
    if (r->terms.terms[k].b >= 0)
      return carom_report(&p->r.reporter, node->place, NULL, "row '%.80s' has a product of unknowns; rows are linear",
                          name);
  return true;
}

static void put_row(carom_saa_reader *p, const carom_node *node, const char *name, const row *r, bool means) {
  static const carom_saa_part parts[3][4] = {
      {CAROM_SAA_FIRST_X, CAROM_SAA_FIRST_X, CAROM_SAA_FIRST_LOW, CAROM_SAA_FIRST_HIGH},
      {CAROM_SAA_MEAN_X, CAROM_SAA_MEAN_Y, CAROM_SAA_MEAN_LOW, CAROM_SAA_MEAN_HIGH},
      {CAROM_SAA_ROW_X, CAROM_SAA_ROW_Y, CAROM_SAA_ROW_LOW, CAROM_SAA_ROW_HIGH}};
  int kind = kind_of(p, r, means), n = p->file->model.problem.n;
  int at = add_row(p, kind, name);
  if (at < 0) return;
  for (int k = 0; k < r->terms.count; k++) {
    const carom_saa_term *t = &r->terms.terms[k];
    if (t->a >= 0) put(p, node, parts[kind][t->a >= n], at, t->a >= n ? t->a - n : t->a, t->c);
  }
  if (r->has_low) put(p, node, parts[kind][2], at, 0, r->low);
  if (r->has_high) put(p, node, parts[kind][3], at, 0, r->high);
}

static void read_one(carom_saa_reader *p, const carom_node *node, const carom_node *value, bool means) {
  const char *name = carom_saa_expand(p, node, node->key), *text = carom_saa_expand(p, value, value->text);
  relation parts;
  row r;
  if (!name || !text || !split(p, value, text, &parts) || !make_row(p, value, text, &parts, &r)) return;
  if (check_row(p, node, name, &r)) put_row(p, value, name, &r, means);
}

static void read_row(carom_saa_reader *p, const carom_node *node, bool means) {
  static const char *const keys[] = {"for", "that", NULL};
  const carom_node *f[CAROM_SAA_MOST_KEYS], *value = node;
  char label[100];
  snprintf(label, sizeof label, "row '%.80s'", node->key);
  p->loop = (carom_saa_loop){0};
  if (node->kind == CAROM_NODE_MAP) {
    if (!carom_problem_fields(&p->r, node, keys, label, f) || !carom_require(&p->r, node, f[1], "that", label)) return;
    if (!carom_saa_read_loop(p, f[0], &p->loop)) return;
    value = f[1];
  }
  if (value->kind != CAROM_NODE_SCALAR || carom_node_is_null(value)) {
    carom_refuse(&p->r, value, NULL, "%s expects a relation such as 'a + b <= c'", label);
    return;
  }
  for (; p->loop.at <= p->loop.to && !carom_reader_failed(&p->r); p->loop.at++) read_one(p, node, value, means);
  p->loop = (carom_saa_loop){0};
}

void carom_saa_read_rows(carom_saa_reader *p, const carom_node *map, bool means) {
  if (!map || carom_node_is_null(map)) return;
  if (map->kind != CAROM_NODE_MAP) {
    carom_refuse(&p->r, map, NULL, "'%s' must be a mapping from names to relations", map->key);
    return;
  }
  for (const carom_node *c = map->first; c && !carom_reader_failed(&p->r); c = c->next) read_row(p, c, means);
}
