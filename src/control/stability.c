// Floquet multipliers of a periodic motion: how a small disturbance at the start has grown when the next period begins.
//
// The plan's own equations, with the forces as they were planned and without what was asked of the motion, say what
// happens by itself from a start z: F(z, y) = 0 with as many unknowns y as equations. Their exact derivatives give
// dy/dz by the implicit function theorem, through all events: a foot that comes down ends a stretch, so that the
// instant of the event and the place where it happens are among the unknowns. Disturbances are those that the joints at
// the start allow.
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"
#include "math/dense.h"
#include "solve/sparse_lu.h"

// ---- the equations -------------------------------------------------------------------------------------------------

typedef struct linear {
  carom_plan *plan;  // transcribed as simulated
  carom_program *P;
  int *number;  // (n) of a variable among those of its kind; see `kind`
  char *kind;   // (n) 's' start, 'y' unknown, 0 fixed
  int starts, unknowns;
  int *equation;  // (m) number among the equations that hold unknowns; -1: none of them
  int equations, start_rows;
  double *values;       // (jacobian_count)
  double *size;         // (starts) of such variables: all of what follows is in parts of it, whatever the units
  double *G, *B;        // (start_rows x starts) and (starts x starts): what starts must meet, and those that do
  int dimension;        // of the tangent space
  double *right;        // (unknowns x dimension) dy/dz on the basis
  double *map, *moved;  // (dimension x dimension), (starts)
  int *rows, *columns;  // (jacobian_count)
  double *entries;
} linear;

static bool is_free(const carom_program *P, int i) { return P->x_low[i] != P->x_high[i]; }

static void mark_start(linear *w, int first, int count) {
  for (int i = first; i < first + count; i++)
    if (is_free(w->P, i)) w->kind[i] = 's';
}

static void sort_variables(linear *w) {
  const carom_plan *plan = w->plan;
  for (int i = 0; i < w->P->n; i++) w->kind[i] = is_free(w->P, i) ? 'y' : 0;
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed) {
      mark_start(w, carom_variable_x(plan, 0, i), 7);
      mark_start(w, carom_variable_P(plan, 0, i, true), 6);
    }
  for (int i = 0; i < w->P->n; i++)
    w->number[i] = w->kind[i] == 's' ? w->starts++ : w->kind[i] == 'y' ? w->unknowns++ : -1;
}

// Equations with unknowns count; those of the start alone say which disturbances there are.
static void sort_rows(linear *w) {
  const carom_program *P = w->P;
  for (int i = 0; i < P->m; i++) w->equation[i] = -1;
  for (int i = 0; i < P->jacobian_count; i++)
    if (w->kind[P->jacobian_column[i]] == 'y') w->equation[P->jacobian_row[i]] = 0;
  for (int i = 0; i < P->m; i++) {
    bool equation = P->g_low[i] == P->g_high[i];
    if (equation && w->equation[i] == 0)
      w->equation[i] = w->equations++;
    else if (equation)
      w->equation[i] = -2 - w->start_rows++;
    else
      w->equation[i] = -1;
  }
}

// ---- linear algebra ------------------------------------------------------------------------------------------------

static carom_status find_tangent(linear *w, carom_error *error) {
  const carom_program *P = w->P;
  for (int i = 0; i < P->n; i++)
    if (w->kind[i] == 's') w->size[w->number[i]] = P->x_scale[i];
  for (int i = 0; i < P->jacobian_count; i++) {
    int row = -2 - w->equation[P->jacobian_row[i]], column = P->jacobian_column[i];
    if (row >= 0 && w->kind[column] == 's')
      w->G[row + w->number[column] * w->start_rows] +=
          w->values[i] * P->x_scale[column] / P->g_scale[P->jacobian_row[i]];
  }
  carom_status status = carom_dense_null_space(w->start_rows, w->starts, w->G, 1e-9, w->B, &w->dimension);
  return status == CAROM_OK ? CAROM_OK : carom_fail(error, status, "no directions in which to disturb the start");
}

static double start_change(const linear *w, int variable, int direction) {
  int i = w->number[variable];
  return w->size[i] * w->B[i + direction * w->starts];
}

// F_y dy = -F_z dz for all directions at once.
static carom_status find_response(linear *w, carom_error *error) {
  const carom_program *P = w->P;
  int count = 0;
  for (int i = 0; i < P->jacobian_count; i++) {
    int row = w->equation[P->jacobian_row[i]], column = P->jacobian_column[i];
    if (row < 0) continue;
    if (w->kind[column] == 'y')
      w->rows[count] = row, w->columns[count] = w->number[column], w->entries[count++] = w->values[i];
    for (int d = 0; w->kind[column] == 's' && d < w->dimension; d++)
      w->right[(size_t)d * (size_t)w->unknowns + (size_t)row] -= w->values[i] * start_change(w, column, d);
  }
  carom_triplets A = {w->unknowns, count, w->rows, w->columns, w->entries};
  return carom_sparse_solve(&A, &w->plan->allocator, w->dimension, w->right, error);
}

// ---- the next start ------------------------------------------------------------------------------------------------

static double change_of(const linear *w, int variable, int direction) {
  if (w->kind[variable] == 'y') return w->right[(size_t)direction * (size_t)w->unknowns + (size_t)w->number[variable]];
  if (w->kind[variable] == 's') return start_change(w, variable, direction);
  return 0;
}

static carom_vec3 change3(const linear *w, int variable, int direction) {
  return cm_vec3(change_of(w, variable, direction), change_of(w, variable + 1, direction),
                 change_of(w, variable + 2, direction));
}

// Where the next period's ground begins: the place of the foot that was caught last has moved along.
static carom_vec3 ground_moved(const linear *w, int direction) {
  const carom_plan *plan = w->plan;
  for (int i = 0; i < plan->joint_count; i++) {
    const carom_plan_joint *j = &plan->joints[i];
    if (carom_joint_lands(j) && plan->events[j->caught].last)
      return cm_rotate(plan->start->q[j->body[0]], change3(w, j->grip, direction));
  }
  return cm_zero3();
}

static void put(const linear *w, int variable, carom_vec3 v) {
  double z[3] = {v.x, v.y, v.z};
  for (int i = 0; i < 3; i++)
    if (w->kind[variable + i] == 's') w->moved[w->number[variable + i]] = z[i];
}

// A quaternion and its negative are the same: the sign is that of the start.
static void put_turn(const linear *w, int body, carom_quat changed, carom_quat now) {
  int at = carom_variable_q(w->plan, 0, body);
  double sign = cm_qdot(now, w->plan->path.q[body]) < 0 ? -1 : 1;
  if (w->kind[at] == 's') w->moved[w->number[at]] = sign * changed.w;
  put(w, at + 1, cm_scale(sign, cm_vec3(changed.x, changed.y, changed.z)));
}

// The periodic map is linear in all of it.
static void wrap_body(const linear *w, int body, int direction, carom_vec3 ground) {
  const carom_plan *plan = w->plan;
  int of = plan->partner[body], K = plan->path.K;
  bool after = carom_plan_event_at(plan, K);
  int q = carom_variable_q(plan, K, of), P = carom_variable_P(plan, K, of, after);
  carom_vec3 u = change3(w, q + 1, direction);
  carom_turned end = {.x = cm_sub(change3(w, carom_variable_x(plan, K, of), direction), ground),
                      .q = cm_quat(change_of(w, q, direction), u.x, u.y, u.z),
                      .p = change3(w, P, direction),
                      .l = change3(w, P + 3, direction)};
  carom_turned next = carom_unwrap(plan, body, end);
  carom_turned now = carom_unwrap(
      plan, body, (carom_turned){.q = plan->path.q[(size_t)K * (size_t)plan->model->body_count + (size_t)of]});
  put(w, carom_variable_x(plan, 0, body), next.x);
  put_turn(w, body, next.q, now.q);
  put(w, carom_variable_P(plan, 0, body, true), next.p);
  put(w, carom_variable_P(plan, 0, body, true) + 3, next.l);
}

static void fill_map(linear *w) {
  for (int d = 0; d < w->dimension; d++) {
    carom_vec3 ground = ground_moved(w, d);
    memset(w->moved, 0, (size_t)w->starts * sizeof *w->moved);
    for (int i = 0; i < w->plan->model->body_count; i++)
      if (!w->plan->model->bodies[i].fixed) wrap_body(w, i, d, ground);
    for (int e = 0; e < w->dimension; e++) {
      double sum = 0;
      for (int i = 0; i < w->starts; i++) sum += w->B[i + e * w->starts] * w->moved[i] / w->size[i];
      w->map[e + d * w->dimension] = sum;
    }
  }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static bool make_room(linear *w) {
  const carom_allocator *a = &w->plan->allocator;
  size_t n = (size_t)w->P->n, m = (size_t)w->P->m, entries = (size_t)w->P->jacobian_count;
  return CAROM_NEW_ALL(a, CAROM_ROOM(w->number, n + 1), CAROM_ROOM(w->kind, n + 1), CAROM_ROOM(w->equation, m + 1),
                       CAROM_ROOM(w->values, entries + 1), CAROM_ROOM(w->rows, entries + 1),
                       CAROM_ROOM(w->columns, entries + 1), CAROM_ROOM(w->entries, entries + 1));
}

static bool make_small_room(linear *w) {
  size_t s = (size_t)w->starts, r = (size_t)w->start_rows;
  return CAROM_NEW_ALL(&w->plan->allocator, CAROM_ROOM(w->G, r * s + 1), CAROM_ROOM(w->B, s * s + 1),
                       CAROM_ROOM(w->right, (size_t)w->unknowns * s + 1), CAROM_ROOM(w->map, s * s + 1),
                       CAROM_ROOM(w->moved, s + 1), CAROM_ROOM(w->size, s + 1));
}

static void release(linear *w) {
  CAROM_RELEASE_ALL(&w->plan->allocator, w->number, w->kind, w->equation, w->values, w->rows, w->columns, w->entries);
  CAROM_RELEASE_ALL(&w->plan->allocator, w->G, w->B, w->right, w->map, w->moved, w->size);
}

static carom_status linearize(linear *w, carom_error *error) {
  carom_nlp nlp = carom_program_nlp(w->P);
  if (!make_room(w)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the stability of a plan");
  if (!nlp.jacobian(nlp.context, w->P->x, w->values))
    return carom_fail(error, CAROM_ERR_NUMBER, "the motion has no derivatives");
  sort_variables(w);
  sort_rows(w);
  if (w->equations != w->unknowns)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "the motion does not follow from its start: %d unknowns in %d equations (feet that land need a "
                      "normal)",
                      w->unknowns, w->equations);
  if (!make_small_room(w)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the stability of a plan");
  carom_status status = find_tangent(w, error);
  return status == CAROM_OK ? find_response(w, error) : status;
}

// The same problem, as what happens by itself.
static carom_status simulated(const carom_plan *plan, carom_plan **out, carom_error *error) {
  carom_status status = carom_plan_copy(plan, out, error);
  if (status != CAROM_OK) return status;
  carom_plan *s = *out;
  s->simulated = true;
  s->cost_count = s->condition_count = s->avoided_count = s->clearance_count = 0;
  for (int i = 0; i < s->joint_count; i++) s->joints[i].lower = -INFINITY, s->joints[i].upper = INFINITY;
  s->periodic.set = false;
  status = carom_path_copy(plan, &plan->path, &s->path, error);
  return status == CAROM_OK ? carom_transcribe(s, error) : status;
}

static carom_status check(const carom_plan *plan, carom_error *error) {
  if (plan->path.K == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no plan yet: solve it first");
  if (!plan->periodic.set) return carom_fail(error, CAROM_ERR_ARGUMENT, "only a periodic motion is stable or not");
  if (plan->contact_count || plan->penalty_count)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "stability is known of motions with events, not with contacts");
  return CAROM_OK;
}

static void sort_by_size(int n, double *real, double *imaginary) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && hypot(real[j], imaginary[j]) > hypot(real[j - 1], imaginary[j - 1]); j--) {
      double r = real[j], c = imaginary[j];
      real[j] = real[j - 1], imaginary[j] = imaginary[j - 1];
      real[j - 1] = r, imaginary[j - 1] = c;
    }
}

carom_status carom_plan_find_multipliers(const carom_plan *plan, int most, double *real, double *imaginary, int *count,
                                         carom_error *error) {
  carom_plan *s = NULL;
  *count = 0;
  carom_status status = check(plan, error);
  if (status == CAROM_OK) status = simulated(plan, &s, error);
  linear w = {.plan = s, .P = s ? &s->program : NULL};
  if (status == CAROM_OK) status = linearize(&w, error);
  if (status == CAROM_OK && w.dimension > most)
    status = carom_fail(error, CAROM_ERR_LIMIT, "%d multipliers, with room for %d", w.dimension, most);
  if (status == CAROM_OK) {
    fill_map(&w);
    status = carom_dense_eigenvalues(w.dimension, w.map, real, imaginary);
    if (status != CAROM_OK) carom_fail(error, status, "no eigenvalues of the period's map");
  }
  if (status == CAROM_OK) {
    *count = w.dimension;
    sort_by_size(*count, real, imaginary);
  }
  if (s) release(&w);
  carom_plan_destroy(s);
  return status;
}
