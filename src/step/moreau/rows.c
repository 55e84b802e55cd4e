// The contact problem of a step along the rows of all items, with velocities and joints eliminated:
//
//     u = u0 + alpha W P,      W = J S J',      u0 = alpha J v_free + (1 - alpha) J v - surface + bias,
//
// and the impulses of the last step to begin from: what rests has the same ones for ever.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_inverse.h"
#include "solve/lcp_kernels.h"
#include "step/moreau/moreau.h"

static const double pi = 3.14159265358979323846;

// ---- sizes ----------------------------------------------------------------------------------------------------------

int carom_moreau_directions(const carom_moreau *m, const carom_moreau_item *item) {
  if (item->tangents == 0) return 0;
  if (item->tangents == 1) return 2;
  int asked = m->options->friction_directions;
  return asked <= 0 ? 4 : asked;
}

static int pairs_of(const carom_moreau *m, const carom_moreau_item *item) {
  int d = carom_moreau_directions(m, item);
  return d > 0 ? d + 2 : 1;
}

static bool resize(carom_moreau *m, void **block, size_t count, size_t size) {
  carom_release(&m->allocator, *block);
  *block = carom_allocate(&m->allocator, count > 0 ? count : 1, size);
  return *block != NULL;
}

static bool reserve_starts(carom_moreau *m) {
  if (m->item_count + 1 <= m->start_capacity) return true;
  m->start_capacity = 0;
  size_t wanted = 2 * (size_t)(m->item_count + 1);
  int **const lists[] = {&m->row_start, &m->pair_start};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (!resize(m, (void **)lists[i], wanted, sizeof(int))) return false;
  if (!resize(m, (void **)&m->at_item, 2 * wanted, sizeof(int))) return false;
  m->start_capacity = (int)wanted;
  return true;
}

static void count_up(carom_moreau *m) {
  m->rows = m->n = 0;
  for (int i = 0; i < m->item_count; i++) {
    m->row_start[i] = m->rows;
    m->pair_start[i] = m->n;
    m->rows += 1 + m->items[i].tangents;
    m->n += pairs_of(m, &m->items[i]);
  }
  m->row_start[m->item_count] = m->rows;
  m->pair_start[m->item_count] = m->n;
}

bool carom_moreau_reserve_pairs(carom_moreau *m, int capacity) {
  size_t n = (size_t)capacity;
  m->n_capacity = 0;
  double **const vectors[] = {&m->q, &m->z, &m->w};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!resize(m, (void **)vectors[i], n, sizeof(double))) return false;
  if (!resize(m, (void **)&m->A, n * n, sizeof(double)) || !resize(m, (void **)&m->g, 2 * n, sizeof(double)) ||
      !resize(m, (void **)&m->basis, n, 1))
    return false;
  m->n_capacity = capacity;
  return true;
}

static bool reserve_newton(carom_moreau *m, size_t r) {
  carom_moreau_newton *s = &m->newton;
  double **const vectors[] = {&m->u0, &m->u, &m->P, &s->r, &s->x, &s->column, &s->best, &s->P0};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!resize(m, (void **)vectors[i], r, sizeof(double))) return false;
  return resize(m, (void **)&s->K, r * r, sizeof(double)) &&
         resize(m, (void **)&s->panel, CAROM_LCP_INVERSE_PANEL * r, sizeof(double)) &&
         resize(m, (void **)&s->swaps, r, sizeof(int)) && resize(m, (void **)&s->unknown_item, r, sizeof(int)) &&
         resize(m, (void **)&s->generator, r, sizeof *s->generator) &&
         resize(m, (void **)&s->test, r, sizeof *s->test) && resize(m, (void **)&s->phase, r, sizeof *s->phase) &&
         resize(m, (void **)&s->side, r, sizeof *s->side);
}

static bool reserve_matrices(carom_moreau *m) {
  if (m->rows > m->row_capacity) {
    m->row_capacity = 0;
    size_t r = (size_t)m->rows + (size_t)m->rows / 2;
    if (!resize(m, (void **)&m->W, r * r, sizeof(double)) || !reserve_newton(m, r)) return false;
    m->row_capacity = (int)r;
  }
  return m->n <= m->n_capacity || carom_moreau_reserve_pairs(m, m->n + m->n / 2);
}

carom_status carom_moreau_reserve(carom_moreau *m, carom_error *error) {
  bool ok = reserve_starts(m);
  if (ok) count_up(m);
  if (!ok || !reserve_matrices(m))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a contact problem of %d contacts", m->item_count);
  if (m->n_capacity == m->work_size) return CAROM_OK;
  carom_lcp_work_destroy(m->work);
  m->work = NULL;
  m->work_size = 0;
  carom_status status = carom_lcp_work_create(m->n_capacity, &m->allocator, &m->work, error);
  if (status == CAROM_OK) m->work_size = m->n_capacity;
  return status;
}

double *carom_moreau_bias(carom_moreau *m) { return m->w; }  // free until the solve, which reads it first

// ---- W = J S J' -----------------------------------------------------------------------------------------------------

static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

static void fill_column(carom_moreau *m, const carom_row *row, double *column) {
  carom_moreau_push(m->model, row, 1, m->b);
  carom_moreau_respond(m, m->b, m->y);
  carom_moreau_push(m->model, row, -1, m->b);
  for (int i = 0; i < m->item_count; i++)
    for (int k = 0; k <= m->items[i].tangents; k++)
      column[m->row_start[i] + k] = carom_moreau_rate(m->model, &m->items[i].row[k], m->y);
}

static void fill_W_with_joints(carom_moreau *m) {
  memset(m->b, 0, 6 * (size_t)m->model->body_count * sizeof *m->b);
  for (int j = 0; j < m->item_count; j++)
    for (int k = 0; k <= m->items[j].tangents; k++)
      fill_column(m, &m->items[j].row[k], m->W + (size_t)(m->row_start[j] + k) * (size_t)m->rows);
}

// Which items act on each moving body: those of body i are at_item[at_body[i]] .. at_item[at_body[i + 1] - 1].
static void sort_by_body(carom_moreau *m) {
  int bodies = m->model->body_count;
  memset(m->at_body, 0, (size_t)(bodies + 2) * sizeof *m->at_body);
  for (int i = 0; i < m->item_count; i++)
    for (int end = 0; end < 2; end++)
      if (moves(m->model, m->items[i].row[0].body[end])) m->at_body[m->items[i].row[0].body[end] + 2]++;
  for (int i = 0; i < bodies; i++) m->at_body[i + 2] += m->at_body[i + 1];
  for (int i = 0; i < m->item_count; i++)
    for (int end = 0; end < 2; end++)
      if (moves(m->model, m->items[i].row[0].body[end])) m->at_item[m->at_body[m->items[i].row[0].body[end] + 1]++] = i;
}

// W(i, j) += rows of item i times M~^-1 rows' of item j, over a body at which item i acts by its end e.
static void add_block(carom_moreau *m, int body, int i, int e, int j, const carom_vec3 *linear,
                      const carom_vec3 *angular) {
  const carom_moreau_item *a = &m->items[i];
  bool turns = m->model->bodies[body].inverse_inertia.x > 0;
  for (int l = 0; l <= m->items[j].tangents; l++) {
    double *column = m->W + (size_t)m->row_start[i] + (size_t)(m->row_start[j] + l) * (size_t)m->rows;
    for (int k = 0; k <= a->tangents; k++) {
      column[k] += cm_dot(a->row[k].linear[e], linear[l]);
      if (turns) column[k] += cm_dot(a->row[k].angular[e], angular[l]);
    }
  }
}

// All that item j does through its end f.
static void add_item_at(carom_moreau *m, int j, int f) {
  const carom_moreau_item *b = &m->items[j];
  int body = b->row[0].body[f];
  if (!moves(m->model, body)) return;
  carom_vec3 linear[3], angular[3];
  for (int l = 0; l <= b->tangents; l++) {
    linear[l] = cm_scale(m->model->bodies[body].inverse_mass, b->row[l].linear[f]);
    angular[l] = cm_mulv(m->inverse_turning[body], b->row[l].angular[f]);
  }
  for (int p = m->at_body[body]; p < m->at_body[body + 1]; p++) {
    int i = m->at_item[p];
    for (int e = 0; e < 2; e++)
      if (m->items[i].row[0].body[e] == body) add_block(m, body, i, e, j, linear, angular);
  }
}

static void fill_W(carom_moreau *m) {
  if (m->joints) {
    fill_W_with_joints(m);
    return;
  }
  memset(m->W, 0, (size_t)m->rows * (size_t)m->rows * sizeof *m->W);
  sort_by_body(m);
  for (int j = 0; j < m->item_count; j++)
    for (int f = 0; f < 2; f++) add_item_at(m, j, f);
}

void carom_moreau_fill_rows(carom_moreau *m, const double *bias) {
  fill_W(m);
  for (int i = 0; i < m->item_count; i++) {
    const carom_moreau_item *item = &m->items[i];
    for (int k = 0; k <= item->tangents; k++) {
      double free = carom_moreau_rate(m->model, &item->row[k], m->v_free);
      double u = m->alpha * free + (1 - m->alpha) * item->before[k] - item->surface[k];
      m->u0[m->row_start[i] + k] = k == 0 ? u + bias[i] : u;
    }
  }
}

double carom_moreau_scale(const carom_moreau *m) { return carom_lcp_largest(m->rows, m->u0); }

void carom_moreau_evaluate(carom_moreau *m) {
  double *P = m->newton.column;
  for (int r = 0; r < m->rows; r++) P[r] = m->alpha * m->P[r];
  memcpy(m->u, m->u0, (size_t)m->rows * sizeof *m->u);
  carom_lcp_combine(m->rows, m->rows, m->W, m->rows, NULL, P, m->u);
}

// ---- friction directions --------------------------------------------------------------------------------------------

void carom_moreau_direction(const carom_moreau *m, const carom_moreau_item *item, int a, double d[2]) {
  int count = carom_moreau_directions(m, item);
  double angle = item->turn + 2 * pi * a / count;
  d[0] = item->tangents == 1 ? (a == 0 ? 1 : -1) : cos(angle);
  d[1] = item->tangents == 1 ? 0 : sin(angle);
}

// beta of a friction impulse: it lies between two neighbouring directions.
static void spread_friction(const carom_moreau *m, const carom_moreau_item *item, const double *t, double *beta) {
  int d = carom_moreau_directions(m, item);
  memset(beta, 0, (size_t)d * sizeof *beta);
  if (item->tangents == 1) {
    beta[t[0] < 0] = fabs(t[0]);
    return;
  }
  if (t[0] == 0 && t[1] == 0) return;
  double step = 2 * pi / d, angle = atan2(t[1], t[0]) - item->turn, size = hypot(t[0], t[1]);
  angle -= 2 * pi * floor(angle / (2 * pi));
  int a = (int)floor(angle / step) % d;
  double into = angle - a * step;
  beta[a] = size * fmax(sin(step - into), 0) / sin(step);
  beta[(a + 1) % d] = size * fmax(sin(into), 0) / sin(step);
}

static double residual_of_item(carom_moreau *m, int i) {
  const carom_moreau_item *item = &m->items[i];
  const double *P = m->P + m->row_start[i], *u = m->u + m->row_start[i];
  double *z = m->z + m->pair_start[i], worst = fabs(fmin(P[0], u[0])), lambda = 0, sum = 0;
  const double *g = m->g + 2 * m->pair_start[i];
  int d = carom_moreau_directions(m, item);
  z[0] = P[0];
  if (d == 0) return worst;
  double t[2] = {u[1], item->tangents == 2 ? u[2] : 0};
  spread_friction(m, item, P + 1, z + 1);
  for (int a = 1; a <= d; a++) lambda = fmax(lambda, -(g[2 * a] * t[0] + g[2 * a + 1] * t[1]));
  for (int a = 1; a <= d; a++) {
    worst = fmax(worst, fabs(fmin(z[a], g[2 * a] * t[0] + g[2 * a + 1] * t[1] + lambda)));
    sum += z[a];
  }
  z[d + 1] = lambda;
  return fmax(worst, fabs(fmin(lambda, item->mu * P[0] - sum)));
}

double carom_moreau_residual(carom_moreau *m) {
  double worst = 0;
  for (int i = 0; i < m->item_count; i++) worst = fmax(worst, residual_of_item(m, i));
  return isfinite(worst) ? worst : INFINITY;
}

// ---- from one step to the next --------------------------------------------------------------------------------------

static bool same_pair(const carom_moreau_impulse *last, const carom_moreau_item *item) {
  if (last->part_a != item->part_a || last->part_b != item->part_b || last->body_a != item->body_a) return false;
  return item->body_a != CAROM_WORLD || last->index == item->index;
}

static carom_vec3 seen_from_a(const carom_moreau *m, const carom_moreau_item *item) {
  if (item->body_a == CAROM_WORLD) return cm_zero3();
  return cm_unrotate(m->star->q[item->body_a], cm_sub(item->point, m->star->x[item->body_a]));
}

// The one of the same pair that is nearest, since the points of a face come in any order. Pairs come in nearly the
// same order each time: looks on from where the last was found.
static const carom_moreau_impulse *find_last(const carom_moreau *m, const carom_moreau_item *item, int *from) {
  const carom_moreau_impulse *best = NULL;
  carom_vec3 point = seen_from_a(m, item);
  double least = INFINITY;
  int first = *from;
  for (int k = 0; k < m->last_count; k++) {
    int at = (first + k) % m->last_count;
    bool hit = same_pair(&m->last[at], item);
    if (!hit && best) break;
    if (!hit) continue;
    if (!best)
      for (*from = at; *from > 0 && same_pair(&m->last[*from - 1], item);) --*from;
    double distance = cm_norm(cm_sub(m->last[at].point, point));
    if (distance < least) least = distance, best = &m->last[at];
  }
  return best;
}

void carom_moreau_first_guess(carom_moreau *m) {
  int from = 0;
  double share = m->last_h > 0 ? m->h / m->last_h : 0;  // impulses of forces that persist go with h
  memset(m->P, 0, (size_t)m->rows * sizeof *m->P);
  for (int i = 0; i < m->item_count && share > 0; i++) {
    const carom_moreau_item *item = &m->items[i];
    const carom_moreau_impulse *last = find_last(m, item, &from);
    double *P = m->P + m->row_start[i];
    if (last && item->body_a == CAROM_WORLD) P[0] = share * last->limit;
    for (int k = 0; last && item->body_a != CAROM_WORLD && k <= item->tangents; k++)
      P[k] = share * cm_dot(item->row[k].linear[0], last->impulse);
  }
}

bool carom_moreau_note_impulses(carom_moreau *m) {
  m->last_count = 0;
  m->last_h = m->h;
  for (int i = 0; i < m->item_count && m->h > 0; i++) {
    const carom_moreau_item *item = &m->items[i];
    if (!carom_grow(&m->allocator, (void **)&m->last, m->last_count, &m->last_capacity, sizeof *m->last)) return false;
    carom_moreau_impulse *to = &m->last[m->last_count++];
    *to = (carom_moreau_impulse){item->part_a,     item->part_b,         item->index, item->body_a,
                                 item->impulse[0], seen_from_a(m, item), cm_zero3()};
    for (int k = 0; item->body_a != CAROM_WORLD && k <= item->tangents; k++)
      to->impulse = cm_axpy(to->impulse, item->impulse[k], item->row[k].linear[0]);
  }
  return true;
}
