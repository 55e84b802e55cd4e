#include "control/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// ---- growing -------------------------------------------------------------------------------------------------------

void carom_program_create(carom_program *program, const carom_allocator *allocator) {
  *program = (carom_program){.allocator = carom_allocator_or_default(allocator), .f_scale = 1};
}

void carom_program_destroy(carom_program *p) {
  CAROM_RELEASE_ALL(&p->allocator, p->x, p->x_low, p->x_high, p->x_scale, p->g_low, p->g_high, p->g_scale, p->labels,
                    p->elements, p->indices, p->constants, p->places, p->jacobian_row, p->jacobian_column,
                    p->hessian_row, p->hessian_column, p->hessian_slot);
  carom_allocator a = p->allocator;
  *p = (carom_program){.allocator = a};
}

// Room for `capacity` elements in an array; keeps what is there.
static bool reserve(carom_program *p, void *array, int capacity, size_t size) {
  void *old, *larger;
  memcpy(&old, array, sizeof old);
  size_t bytes = (size_t)capacity * size;
  larger =
      old ? p->allocator.resize(p->allocator.context, old, bytes) : p->allocator.allocate(p->allocator.context, bytes);
  if (!larger) {
    p->out_of_memory = true;
    return false;
  }
  memcpy(array, &larger, sizeof larger);
  return true;
}

static int enlarged(int capacity, int needed) {
  int next = capacity < 64 ? 64 : capacity;
  while (next < needed) next += next / 2;
  return next;
}

int carom_program_variables(carom_program *p, int count, double low, double high, double scale) {
  int first = p->n;
  if (p->n + count > p->n_capacity) {
    int capacity = enlarged(p->n_capacity, p->n + count);
    if (!reserve(p, &p->x, capacity, sizeof(double)) || !reserve(p, &p->x_low, capacity, sizeof(double)) ||
        !reserve(p, &p->x_high, capacity, sizeof(double)) || !reserve(p, &p->x_scale, capacity, sizeof(double)))
      return 0;
    p->n_capacity = capacity;
  }
  for (int i = first; i < first + count; i++)
    p->x[i] = 0, p->x_low[i] = low, p->x_high[i] = high, p->x_scale[i] = scale;
  p->n += count;
  return first;
}

int carom_program_rows(carom_program *p, int count, double low, double high, double scale, carom_row_label label) {
  int first = p->m;
  if (p->m + count > p->m_capacity) {
    int capacity = enlarged(p->m_capacity, p->m + count);
    if (!reserve(p, &p->g_low, capacity, sizeof(double)) || !reserve(p, &p->g_high, capacity, sizeof(double)) ||
        !reserve(p, &p->g_scale, capacity, sizeof(double)) ||
        !reserve(p, &p->labels, capacity, sizeof(carom_row_label)))
      return 0;
    p->m_capacity = capacity;
  }
  for (int i = first; i < first + count; i++)
    p->g_low[i] = low, p->g_high[i] = high, p->g_scale[i] = scale, p->labels[i] = label;
  p->m += count;
  return first;
}

void carom_program_element(carom_program *p, const carom_element_kind *kind, void *object) {
  if (p->element_count == p->element_capacity) {
    int capacity = enlarged(p->element_capacity, p->element_count + 1);
    if (!reserve(p, &p->elements, capacity, sizeof(carom_element))) return;
    p->element_capacity = capacity;
  }
  p->elements[p->element_count++] = (carom_element){.kind = kind,
                                                    .variable_start = p->index_count,
                                                    .row_start = p->index_count,
                                                    .constant_start = p->constant_count,
                                                    .object = object};
}

static bool push_index(carom_program *p, int index) {
  if (p->index_count == p->index_capacity) {
    int capacity = enlarged(p->index_capacity, p->index_count + 1);
    if (!reserve(p, &p->indices, capacity, sizeof(int))) return false;
    p->index_capacity = capacity;
  }
  p->indices[p->index_count++] = index;
  return true;
}

void carom_element_variables(carom_program *p, int first, int count) {
  if (p->out_of_memory) return;
  carom_element *e = &p->elements[p->element_count - 1];
  for (int i = 0; i < count && push_index(p, first + i); i++) e->variable_count++;
  e->row_start = p->index_count;
}

// `first` may be CAROM_ROW_COST or CAROM_ROW_NONE, which then stands for all of them.
void carom_element_rows(carom_program *p, int first, int count) {
  if (p->out_of_memory) return;
  carom_element *e = &p->elements[p->element_count - 1];
  for (int i = 0; i < count && push_index(p, first < 0 ? first : first + i); i++) e->row_count++;
}

void carom_element_constants(carom_program *p, const double *c, int count) {
  if (p->constant_count + count > p->constant_capacity) {
    int capacity = enlarged(p->constant_capacity, p->constant_count + count);
    if (!reserve(p, &p->constants, capacity, sizeof(double))) return;
    p->constant_capacity = capacity;
  }
  if (count > 0) memcpy(p->constants + p->constant_count, c, (size_t)count * sizeof *c);
  p->constant_count += count;
}

void carom_element_constant3(carom_program *p, carom_vec3 c) {
  carom_element_constants(p, (double[]){c.x, c.y, c.z}, 3);
}

void carom_program_add(carom_program *p, const carom_element_kind *kind, const carom_range *variables,
                       const carom_range *rows, carom_values constants) {
  carom_program_element(p, kind, NULL);
  for (; variables->count > 0; variables++) carom_element_variables(p, variables->first, variables->count);
  for (; rows->count > 0; rows++) carom_element_rows(p, rows->first, rows->count);
  carom_element_constants(p, constants.values, constants.count);
}

void carom_program_fix(carom_program *p, int variable, double value) {
  if (!p->out_of_memory) p->x[variable] = p->x_low[variable] = p->x_high[variable] = value;
}

// ---- one element ---------------------------------------------------------------------------------------------------

static void lift(int n, const double *z, carom_hyper *h) {
  for (int i = 0; i < n; i++) h[i] = (carom_hyper){.v = z[i]};
}

// Two columns of the Jacobian a pass.
static void jacobian_of(const carom_form *f, carom_hyper *h, double *J) {
  carom_hyper r[CAROM_ELEMENT_ROWS];
  int n = f->n;
  for (int j = 0; j < n; j += 2) {
    h[j].a = 1;
    if (j + 1 < n) h[j + 1].b = 1;
    f->residual(f->c, h, r);
    for (int i = 0; i < f->m; i++) {
      J[i * n + j] = r[i].a;
      if (j + 1 < n) J[i * n + j + 1] = r[i].b;
    }
    h[j].a = 0;
    if (j + 1 < n) h[j + 1].b = 0;
  }
}

static double mixed(const carom_form *f, carom_hyper *h, const double *w, int i, int j) {
  carom_hyper r[CAROM_ELEMENT_ROWS];
  h[i].a = 1, h[j].b = 1;
  f->residual(f->c, h, r);
  h[i].a = 0, h[j].b = 0;
  double sum = 0;
  for (int k = 0; k < f->m; k++) sum += w[k] * r[k].ab;
  return sum;
}

static void full_hessian(const carom_form *f, carom_hyper *h, const double *w, double *H) {
  for (int i = 0; i < f->n; i++)
    for (int j = 0; j <= i; j++) H[i * f->n + j] = mixed(f, h, w, i, j);
}

static void value_of(const carom_form *f, const carom_hyper *h, double *r) {
  carom_hyper value[CAROM_ELEMENT_ROWS];
  f->residual(f->c, h, value);
  for (int i = 0; i < f->m; i++) r[i] = value[i].v;
}

void carom_residual_evaluate(const carom_form *form, const double *z, const double *w, const carom_derivatives *out) {
  carom_hyper h[CAROM_ELEMENT_VARIABLES];
  lift(form->n, z, h);
  if (out->r) value_of(form, h, out->r);
  if (out->J) jacobian_of(form, h, out->J);
  if (out->H) full_hessian(form, h, w, out->H);
}

static carom_form form_of(const carom_program *p, const carom_element *e) {
  return (carom_form){e->kind->residual, e->variable_count, e->row_count, p->constants + e->constant_start};
}

bool carom_element_evaluate(const carom_program *p, const carom_element *e, const double *x, const double *w,
                            const carom_derivatives *out) {
  double z[CAROM_ELEMENT_VARIABLES];
  const int *variables = p->indices + e->variable_start;
  carom_form f = form_of(p, e);
  for (int i = 0; i < f.n; i++) z[i] = x[variables[i]];
  if (e->kind->evaluate) return e->kind->evaluate(f.c, e->object, z, w, out);
  carom_residual_evaluate(&f, z, w, &(carom_derivatives){out->r, out->J, p->places ? NULL : out->H});
  if (!out->H || !p->places) return true;
  carom_hyper h[CAROM_ELEMENT_VARIABLES];
  lift(f.n, z, h);
  for (int k = 0; k < e->hessian_count; k++) {  // only the entries of the pattern, once that is known
    int place = p->places[e->hessian_start + k];
    out->H[place] = mixed(&f, h, w, place / f.n, place % f.n);
  }
  return true;
}

// ---- patterns ------------------------------------------------------------------------------------------------------

static bool is_fixed(const carom_program *p, int variable) { return p->x_low[variable] == p->x_high[variable]; }

// Kinds with a residual in hyperdual numbers are probed where nothing vanishes by chance; what is exactly zero there is
// zero everywhere. Fixed variables are probed at their values, so that a motion in a plane has no entries off it.
// Others count as full.
static void probe(const carom_program *p, const carom_element *e, double *J, double *H) {
  int n = e->variable_count, m = e->row_count;
  double z[CAROM_ELEMENT_VARIABLES], w[CAROM_ELEMENT_ROWS];
  const int *v = p->indices + e->variable_start;
  carom_random random = carom_random_make(20120601, 0);
  for (int i = 0; i < n; i++) {
    double anywhere = carom_random_between(&random, 0.4, 1.6);
    z[i] = is_fixed(p, v[i]) ? p->x[v[i]] : anywhere;
  }
  for (int i = 0; i < m; i++) w[i] = carom_random_between(&random, 0.5, 1.5);
  // The rows of a node before and after are often opposite: distinct weights keep them from cancelling.
  if (!e->kind->residual) {
    for (int i = 0; i < m * n; i++) J[i] = 1;
    for (int i = 0; i < n * n; i++) H[i] = 1;
    return;
  }
  carom_form f = form_of(p, e);
  carom_residual_evaluate(&f, z, w, &(carom_derivatives){.J = J, .H = H});
}

// Entries in the cost's row are the gradient's and not in the Jacobian; the solver does not see fixed variables.
static int count_places(carom_program *p, carom_element *e, const double *J, const double *H, short *places) {
  int n = e->variable_count, count = 0;
  const int *rows = p->indices + e->row_start, *v = p->indices + e->variable_start;
  for (int i = 0; i < e->row_count; i++)
    for (int j = 0; j < n; j++)
      if (J[i * n + j] != 0 && rows[i] >= 0 && !is_fixed(p, v[j])) {
        if (places) places[count] = (short)(i * n + j);
        count++;
      }
  e->jacobian_count = count;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      if (H[i * n + j] != 0 && !is_fixed(p, v[i]) && !is_fixed(p, v[j])) {
        if (places) places[count] = (short)(i * n + j);
        count++;
      }
  e->hessian_count = count - e->jacobian_count;
  return count;
}

static void number_places(carom_program *p, carom_element *e, int start) {
  e->jacobian_start = start;
  e->hessian_start = start + e->jacobian_count;
  p->jacobian_count += e->jacobian_count;
  p->hessian_count += e->hessian_count;
}

static void fill_triplets(carom_program *p) {
  int nj = 0, nh = 0;
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    const int *v = p->indices + e->variable_start, *rows = p->indices + e->row_start;
    int n = e->variable_count;
    for (int i = 0; i < e->jacobian_count; i++, nj++) {
      int place = p->places[e->jacobian_start + i];
      p->jacobian_row[nj] = rows[place / n], p->jacobian_column[nj] = v[place % n];
    }
    for (int i = 0; i < e->hessian_count; i++, nh++) {
      int place = p->places[e->hessian_start + i], a = v[place / n], b = v[place % n];
      p->hessian_row[nh] = a > b ? a : b, p->hessian_column[nh] = a > b ? b : a;
    }
  }
}

typedef struct entry {
  int row, column, number;
} entry;

static int by_place(const void *a, const void *b) {
  const entry *p = a, *q = b;
  if (p->row != q->row) return p->row < q->row ? -1 : 1;
  if (p->column != q->column) return p->column < q->column ? -1 : 1;
  return p->number < q->number ? -1 : p->number > q->number;
}

// Elements share their variables: what the solver has to take in is a fraction of what they add up to.
static bool merge_hessian(carom_program *p) {
  entry *entries = CAROM_NEW(&p->allocator, entry, p->hessian_count + 1);
  p->hessian_slot = CAROM_NEW(&p->allocator, int, p->hessian_count + 1);
  if (entries && p->hessian_slot) {
    int slot = -1;
    for (int i = 0; i < p->hessian_count; i++) entries[i] = (entry){p->hessian_row[i], p->hessian_column[i], i};
    qsort(entries, (size_t)p->hessian_count, sizeof *entries, by_place);
    for (int i = 0; i < p->hessian_count; i++) {
      const entry *e = &entries[i];
      if (i == 0 || e->row != e[-1].row || e->column != e[-1].column) slot++;
      p->hessian_row[slot] = e->row, p->hessian_column[slot] = e->column;
      p->hessian_slot[e->number] = slot;
    }
    p->hessian_count = slot + 1;
  }
  carom_release(&p->allocator, entries);
  return entries && p->hessian_slot;
}

// ---- what the solver need not see ----------------------------------------------------------------------------------

// Which rows and variables have entries.
typedef struct usage {
  bool *row, *variable;
} usage;

static void note_usage(const carom_program *p, const usage *u) {
  double J[CAROM_ELEMENT_ROWS * CAROM_ELEMENT_VARIABLES], H[CAROM_ELEMENT_VARIABLES * CAROM_ELEMENT_VARIABLES];
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    const int *rows = p->indices + e->row_start, *v = p->indices + e->variable_start;
    probe(p, e, J, H);
    for (int i = 0; i < e->row_count; i++)
      for (int j = 0; j < e->variable_count && rows[i] != CAROM_ROW_NONE; j++)
        if (J[i * e->variable_count + j] != 0 && !is_fixed(p, v[j])) {
          u->variable[v[j]] = true;
          if (rows[i] >= 0) u->row[rows[i]] = true;
        }
  }
}

static void renumber_rows(carom_program *p, const int *number) {
  for (int k = 0; k < p->element_count; k++) {
    int *rows = p->indices + p->elements[k].row_start;
    for (int i = 0; i < p->elements[k].row_count; i++)
      if (rows[i] >= 0) rows[i] = number[rows[i]];
  }
}

static void keep_row(carom_program *p, int from, int to) {
  p->g_low[to] = p->g_low[from], p->g_high[to] = p->g_high[from];
  p->g_scale[to] = p->g_scale[from], p->labels[to] = p->labels[from];
}

// Rows that no variable can change and that hold, as those off the plane of a planar motion, are dropped: they would
// leave the solver with more equations than unknowns. Those that do not hold stay, and say so.
static void drop_idle_rows(carom_program *p, const usage *u, const double *g, int *number) {
  int count = 0;
  for (int i = 0; i < p->m; i++) {
    double off = fmax(p->g_low[i] - g[i], g[i] - p->g_high[i]);
    bool idle = !u->row[i] && off <= 1e-8 * p->g_scale[i];
    number[i] = idle ? CAROM_ROW_NONE : count;
    if (!idle) keep_row(p, i, count++);
  }
  renumber_rows(p, number);
  p->m = count;
}

// And variables that change nothing stay as they are.
static bool presolve(carom_program *p) {
  usage u = {0};
  double *g = NULL;
  int *number = NULL;
  bool enough = CAROM_NEW_ALL(&p->allocator, CAROM_ROOM(u.row, p->m + 1), CAROM_ROOM(u.variable, p->n + 1),
                              CAROM_ROOM(g, p->m + 1), CAROM_ROOM(number, p->m + 1));
  if (enough) note_usage(p, &u);
  bool known = enough && carom_program_constraints(p, p->x, g);
  if (known) drop_idle_rows(p, &u, g, number);
  for (int i = 0; enough && i < p->n; i++)
    if (!u.variable[i]) carom_program_fix(p, i, p->x[i]);
  CAROM_RELEASE_ALL(&p->allocator, u.row, u.variable, g, number);
  return enough;
}

// Doubling a variable within an element (a body that meets itself) would count off-diagonal entries once too few.
carom_status carom_program_seal(carom_program *p, carom_error *error) {
  double J[CAROM_ELEMENT_ROWS * CAROM_ELEMENT_VARIABLES], H[CAROM_ELEMENT_VARIABLES * CAROM_ELEMENT_VARIABLES];
  int total = 0;
  short *places = NULL;
  if (!p->out_of_memory && !presolve(p)) p->out_of_memory = true;
  for (int pass = 0; pass < 2 && !p->out_of_memory; pass++) {
    int start = 0;
    for (int k = 0; k < p->element_count; k++) {
      carom_element *e = &p->elements[k];
      probe(p, e, J, H);
      int count = count_places(p, e, J, H, places ? places + start : NULL);
      if (pass == 1) number_places(p, e, start);
      start += count;
    }
    total = start;
    if (pass == 0) places = CAROM_NEW(&p->allocator, short, total + 1);
    if (!places) p->out_of_memory = true;
  }
  p->places = places;
  p->place_count = total;
  if (!p->out_of_memory) {
    if (!CAROM_NEW_ALL(&p->allocator, CAROM_ROOM(p->jacobian_row, p->jacobian_count + 1),
                       CAROM_ROOM(p->jacobian_column, p->jacobian_count + 1),
                       CAROM_ROOM(p->hessian_row, p->hessian_count + 1),
                       CAROM_ROOM(p->hessian_column, p->hessian_count + 1)))
      p->out_of_memory = true;
  }
  if (!p->out_of_memory) fill_triplets(p);
  if (!p->out_of_memory && !merge_hessian(p)) p->out_of_memory = true;
  if (p->out_of_memory) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of %d variables", p->n);
  return CAROM_OK;
}

// ---- callbacks of the solver ---------------------------------------------------------------------------------------

static bool has_cost(const carom_program *p, const carom_element *e) {
  const int *rows = p->indices + e->row_start;
  for (int i = 0; i < e->row_count; i++)
    if (rows[i] == CAROM_ROW_COST) return true;
  return false;
}

bool carom_program_cost(const carom_program *p, const double *x, double *f) {
  double r[CAROM_ELEMENT_ROWS];
  *f = 0;
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    if (!has_cost(p, e)) continue;
    if (!carom_element_evaluate(p, e, x, NULL, &(carom_derivatives){.r = r})) return false;
    for (int i = 0; i < e->row_count; i++)
      if (p->indices[e->row_start + i] == CAROM_ROW_COST) *f += r[i];
  }
  return isfinite(*f);
}

bool carom_program_constraints(const carom_program *p, const double *x, double *g) {
  double r[CAROM_ELEMENT_ROWS];
  memset(g, 0, (size_t)p->m * sizeof *g);
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    if (!carom_element_evaluate(p, e, x, NULL, &(carom_derivatives){.r = r})) return false;
    for (int i = 0; i < e->row_count; i++) {
      int row = p->indices[e->row_start + i];
      if (row >= 0) g[row] += r[i];
    }
  }
  return true;
}

static bool objective(void *context, const double *x, double *f) { return carom_program_cost(context, x, f); }

static bool constraints(void *context, const double *x, double *g) { return carom_program_constraints(context, x, g); }

static bool gradient(void *context, const double *x, double *df) {
  const carom_program *p = context;
  double J[CAROM_ELEMENT_ROWS * CAROM_ELEMENT_VARIABLES];
  memset(df, 0, (size_t)p->n * sizeof *df);
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    if (!has_cost(p, e)) continue;
    if (!carom_element_evaluate(p, e, x, NULL, &(carom_derivatives){.J = J})) return false;
    for (int i = 0; i < e->row_count; i++)
      for (int j = 0; j < e->variable_count && p->indices[e->row_start + i] == CAROM_ROW_COST; j++)
        df[p->indices[e->variable_start + j]] += J[i * e->variable_count + j];
  }
  return true;
}

static bool jacobian(void *context, const double *x, double *values) {
  const carom_program *p = context;
  double J[CAROM_ELEMENT_ROWS * CAROM_ELEMENT_VARIABLES];
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    if (e->jacobian_count == 0) continue;
    if (!carom_element_evaluate(p, e, x, NULL, &(carom_derivatives){.J = J})) return false;
    for (int i = 0; i < e->jacobian_count; i++) *values++ = J[p->places[e->jacobian_start + i]];
  }
  return true;
}

static bool hessian(void *context, const double *x, double factor, const double *lambda, double *values) {
  const carom_program *p = context;
  double H[CAROM_ELEMENT_VARIABLES * CAROM_ELEMENT_VARIABLES], w[CAROM_ELEMENT_ROWS];
  const int *slot = p->hessian_slot;
  memset(values, 0, (size_t)p->hessian_count * sizeof *values);
  for (int k = 0; k < p->element_count; k++) {
    const carom_element *e = &p->elements[k];
    if (e->hessian_count == 0) continue;
    for (int i = 0; i < e->row_count; i++) {
      int row = p->indices[e->row_start + i];
      w[i] = row >= 0 ? lambda[row] : row == CAROM_ROW_COST ? factor : 0;
    }
    if (!carom_element_evaluate(p, e, x, w, &(carom_derivatives){.H = H})) return false;
    for (int i = 0; i < e->hessian_count; i++) values[*slot++] += H[p->places[e->hessian_start + i]];
  }
  return true;
}

carom_nlp carom_program_nlp(carom_program *p) {
  return (carom_nlp){.n = p->n,
                     .m = p->m,
                     .x_low = p->x_low,
                     .x_high = p->x_high,
                     .g_low = p->g_low,
                     .g_high = p->g_high,
                     .x_scale = p->x_scale,
                     .g_scale = p->g_scale,
                     .f_scale = p->f_scale,
                     .jacobian_count = p->jacobian_count,
                     .hessian_count = p->hessian_count,
                     .jacobian_row = p->jacobian_row,
                     .jacobian_column = p->jacobian_column,
                     .hessian_row = p->hessian_row,
                     .hessian_column = p->hessian_column,
                     .context = p,
                     .objective = objective,
                     .gradient = gradient,
                     .constraints = constraints,
                     .jacobian = jacobian,
                     .hessian = hessian};
}

// ---- violations ----------------------------------------------------------------------------------------------------

static double excess(double value, double low, double high) { return fmax(0, fmax(low - value, value - high)); }

double carom_program_violation(const carom_program *p, const double *x, const double *g, int *row, double *absolute) {
  double worst = 0;
  *row = -1;
  *absolute = 0;
  for (int i = 0; i < p->m + p->n; i++) {
    bool bound = i >= p->m;
    int k = bound ? i - p->m : i;
    double v = bound ? excess(x[k], p->x_low[k], p->x_high[k]) : excess(g[k], p->g_low[k], p->g_high[k]);
    double scaled = v / (bound ? p->x_scale[k] : p->g_scale[k]);
    *absolute = fmax(*absolute, v);
    if (!(scaled <= worst)) worst = scaled, *row = bound ? p->m + k : k;
  }
  return worst;
}
