// The complementarity problem of a step (2.1.8), with velocities and joints eliminated: for every item
//
//     0 <= c_n    _|_   n'(alpha v' + (1 - alpha) v) + bias      >= 0
//     0 <= beta   _|_   D'(alpha v' + (1 - alpha) v) + lambda e  >= 0
//     0 <= lambda _|_   mu c_n - e' beta                         >= 0
//
// with v' = v_free + S (n c_n + D beta). The exact cone is reached by turning the directions: when one of them lies
// along the friction impulse (or against the sliding), the polygon is as good as the circle, so solve and turn until
// they do.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "step/moreau.h"

enum { DIRECTIONS_MAX = 64, TURNS_MAX = 30 };

static const double pi = 3.14159265358979323846;

// ---- sizes ----------------------------------------------------------------------------------------------------------

static int directions(const carom_moreau *m, const carom_moreau_item *item) {
  if (item->tangents == 0) return 0;
  if (item->tangents == 1) return 2;
  int asked = m->options->friction_directions;
  return asked == 0 ? 4 : asked < 3 ? 3 : asked > DIRECTIONS_MAX ? DIRECTIONS_MAX : asked;
}

static int pairs_of(const carom_moreau *m, const carom_moreau_item *item) {
  int d = directions(m, item);
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
  if (!resize(m, (void **)&m->row_start, wanted, sizeof(int)) ||
      !resize(m, (void **)&m->pair_start, wanted, sizeof(int)))
    return false;
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

// A larger problem is another one: what was known of the smaller does not help.
static bool reserve_pairs(carom_moreau *m, size_t n) {
  m->n_capacity = 0;
  m->basis_count = 0;
  bool ok = resize(m, (void **)&m->A, n * n, sizeof(double)) && resize(m, (void **)&m->q, n, sizeof(double)) &&
            resize(m, (void **)&m->z, n, sizeof(double)) && resize(m, (void **)&m->w, n, sizeof(double)) &&
            resize(m, (void **)&m->basis, n, 1);
  if (ok) m->n_capacity = (int)n;
  return ok;
}

static bool reserve_matrices(carom_moreau *m) {
  if (m->rows > m->row_capacity) {
    m->row_capacity = 0;
    size_t r = (size_t)m->rows + (size_t)m->rows / 2;
    if (!resize(m, (void **)&m->W, r * r, sizeof(double))) return false;
    m->row_capacity = (int)r;
  }
  return m->n <= m->n_capacity || reserve_pairs(m, (size_t)m->n + (size_t)m->n / 2);
}

bool carom_moreau_remember(carom_moreau *m, const unsigned char *basis, int count, int capacity) {
  if (capacity != m->n_capacity && !reserve_pairs(m, (size_t)capacity)) return false;
  if (count > 0) memcpy(m->basis, basis, (size_t)count);
  m->basis_count = count;
  return true;
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
  carom_status status = carom_lcp_work_create(&m->work, m->n_capacity, &m->allocator, error);
  if (status == CAROM_OK) m->work_size = m->n_capacity;
  return status;
}

double *carom_moreau_bias(carom_moreau *m) { return m->w; }  // free until the solve, which reads it first

// ---- W = J S J' -----------------------------------------------------------------------------------------------------

static const carom_joint_row *row_at(const carom_moreau *m, int item, int k) { return &m->items[item].row[k]; }

static void set_load(const carom_moreau *m, const carom_joint_row *row, double sign, double *b) {
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body == CAROM_WORLD || m->model->bodies[body].fixed) continue;
    for (int k = 0; k < 3; k++) {
      b[6 * body + k] += sign * (&row->linear[end].x)[k];
      b[6 * body + 3 + k] += sign * (&row->angular[end].x)[k];
    }
  }
}

static void fill_column(carom_moreau *m, const carom_joint_row *row, double *column) {
  set_load(m, row, 1, m->b);
  carom_moreau_respond(m, m->b, m->y);
  set_load(m, row, -1, m->b);
  for (int i = 0; i < m->item_count; i++)
    for (int k = 0; k <= m->items[i].tangents; k++)
      column[m->row_start[i] + k] = carom_moreau_rate(m->model, row_at(m, i, k), m->y);
}

static void fill_W_with_joints(carom_moreau *m) {
  memset(m->b, 0, 6 * (size_t)m->model->body_count * sizeof *m->b);
  for (int j = 0; j < m->item_count; j++)
    for (int k = 0; k <= m->items[j].tangents; k++)
      fill_column(m, row_at(m, j, k), m->W + (size_t)(m->row_start[j] + k) * (size_t)m->rows);
}

// row_i M~^-1 row_j' over the bodies that both act on.
static double coupling(const carom_moreau *m, const carom_joint_row *a, const carom_joint_row *b) {
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    int body = a->body[i];
    if (body == CAROM_WORLD || m->model->bodies[body].fixed) continue;
    for (int j = 0; j < 2; j++) {
      if (b->body[j] != body) continue;
      sum += m->model->bodies[body].inverse_mass * cm_dot(a->linear[i], b->linear[j]);
      if (m->model->bodies[body].inverse_inertia.x > 0)
        sum += cm_dot(a->angular[i], cm_mulv(m->inverse_turning[body], b->angular[j]));
    }
  }
  return sum;
}

static bool share_body(const carom_model *model, const carom_moreau_item *a, const carom_moreau_item *b) {
  for (int i = 0; i < 2; i++) {
    int body = a->row[0].body[i];
    if (body == CAROM_WORLD || model->bodies[body].fixed) continue;
    if (b->row[0].body[0] == body || b->row[0].body[1] == body) return true;
  }
  return false;
}

static void fill_W(carom_moreau *m) {
  if (m->joints) {
    fill_W_with_joints(m);
    return;
  }
  memset(m->W, 0, (size_t)m->rows * (size_t)m->rows * sizeof *m->W);
  for (int j = 0; j < m->item_count; j++)
    for (int i = 0; i < m->item_count; i++) {
      if (!share_body(m->model, &m->items[i], &m->items[j])) continue;
      for (int l = 0; l <= m->items[j].tangents; l++)
        for (int k = 0; k <= m->items[i].tangents; k++)
          m->W[(size_t)(m->row_start[i] + k) + (size_t)(m->row_start[j] + l) * (size_t)m->rows] =
              coupling(m, row_at(m, i, k), row_at(m, j, l));
    }
}

// ---- the LCP --------------------------------------------------------------------------------------------------------

// Column a of the map from (c_n, beta) to impulses along the rows.
static void generator(const carom_moreau *m, const carom_moreau_item *item, int a, double g[3]) {
  g[0] = a == 0;
  g[1] = g[2] = 0;
  if (a == 0) return;
  int d = directions(m, item);
  double angle = item->turn + 2 * pi * (a - 1) / d;
  g[1] = item->tangents == 1 ? (a == 1 ? 1 : -1) : cos(angle);
  g[2] = item->tangents == 1 ? 0 : sin(angle);
}

static void fill_block(carom_moreau *m, int i, int j) {
  const carom_moreau_item *a = &m->items[i], *b = &m->items[j];
  int da = directions(m, a), db = directions(m, b);
  const double *W = m->W + (size_t)m->row_start[i] + (size_t)m->row_start[j] * (size_t)m->rows;
  for (int q = 0; q <= db; q++) {
    double gb[3], Wg[3] = {0};
    generator(m, b, q, gb);
    for (int l = 0; l <= b->tangents; l++)
      for (int k = 0; k <= a->tangents; k++) Wg[k] += W[(size_t)k + (size_t)l * (size_t)m->rows] * gb[l];
    double *column = m->A + (size_t)m->pair_start[i] + (size_t)(m->pair_start[j] + q) * (size_t)m->n;
    for (int p = 0; p <= da; p++) {
      double ga[3];
      generator(m, a, p, ga);
      column[p] = m->alpha * (ga[0] * Wg[0] + ga[1] * Wg[1] + ga[2] * Wg[2]);
    }
  }
}

static void fill_cone(carom_moreau *m, int i) {
  const carom_moreau_item *item = &m->items[i];
  int d = directions(m, item), first = m->pair_start[i], last = first + d + 1;
  if (d == 0) return;
  size_t n = (size_t)m->n;
  m->A[(size_t)last + (size_t)first * n] = item->mu;
  for (int a = 1; a <= d; a++) {
    m->A[(size_t)(first + a) + (size_t)last * n] = 1;
    m->A[(size_t)last + (size_t)(first + a) * n] = -1;
  }
}

// alpha J v_free + (1 - alpha) J v, less the surface's own velocity.
static void velocity_along(const carom_moreau *m, const carom_moreau_item *item, double u[3]) {
  for (int k = 0; k <= item->tangents; k++) {
    double free = carom_moreau_rate(m->model, &item->row[k], m->v_free);
    u[k] = m->alpha * free + (1 - m->alpha) * item->before[k] - item->surface[k];
  }
}

static void fill_right_hand_side(carom_moreau *m, const double *bias) {
  for (int i = 0; i < m->item_count; i++) {
    double u[3] = {0}, own = bias[i];
    int d = directions(m, &m->items[i]), first = m->pair_start[i];
    velocity_along(m, &m->items[i], u);
    m->q[first] = u[0] + own;
    for (int a = 1; a <= d; a++) {
      double g[3];
      generator(m, &m->items[i], a, g);
      m->q[first + a] = g[1] * u[1] + g[2] * u[2];
    }
    if (d > 0) m->q[first + d + 1] = 0;
  }
}

static void fill_problem(carom_moreau *m) {
  memset(m->A, 0, (size_t)m->n * (size_t)m->n * sizeof *m->A);
  for (int j = 0; j < m->item_count; j++) {
    for (int i = 0; i < m->item_count; i++) fill_block(m, i, j);
    fill_cone(m, j);
  }
}

// ---- solving --------------------------------------------------------------------------------------------------------

// Which items these are: a basis is worth keeping when they are the same as before.
static uint64_t items_key(const carom_moreau *m) {
  uint64_t key = 14695981039346656037u;
  for (int i = 0; i < m->item_count; i++) {
    const int parts[4] = {m->items[i].part_a, m->items[i].part_b, m->items[i].index, m->items[i].tangents};
    for (int k = 0; k < 4; k++) key = (key ^ (uint32_t)parts[k]) * 1099511628211u;
  }
  return key;
}

static carom_lcp_method method_of(const char *solver) {
  if (!solver) return CAROM_LCP_AUTO;
  if (strcmp(solver, "pgs") == 0) return CAROM_LCP_PGS;
  if (strcmp(solver, "newton") == 0) return CAROM_LCP_NEWTON_FB;
  return CAROM_LCP_LEMKE;
}

static carom_status solve_once(carom_moreau *m, double time, carom_step_report *report, carom_error *error) {
  carom_lcp_problem problem = {.n = m->n, .M = m->A, .q = m->q};
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  uint64_t key = items_key(m);
  options.method = method_of(m->options->solver);
  if (m->options->solver_tolerance > 0) options.tolerance = m->options->solver_tolerance;
  if (m->options->solver_iterations > 0) options.max_iterations = m->options->solver_iterations;
  if (m->basis_count == m->n && m->basis_key == key) options.start = CAROM_LCP_START_BASIS;
  if (m->options->problem_sink) m->options->problem_sink(m->options->sink_context, time, &problem);
  carom_status status = carom_lcp_solve(m->work, &problem, &options, m->z, m->w, m->basis, &info, error);
  if (status != CAROM_OK) return status;
  m->basis_count = info.outcome == CAROM_LCP_SOLVED ? m->n : 0;
  m->basis_key = key;
  if (info.iterations > report->iterations) report->iterations = info.iterations;
  double scale = 0;
  for (int i = 0; i < m->n; i++) scale = fmax(scale, fabs(m->q[i]));
  report->complementarity = fmax(report->complementarity, info.residual / fmax(scale, 1e-300));
  if (info.outcome == CAROM_LCP_SOLVED) return CAROM_OK;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "the contact problem of %d contacts at t = %.9g s was not solved (%s, residual %.2g after %d "
                    "iterations of %s): use a smaller step or another solver",
                    m->item_count, time, carom_lcp_outcome_name(info.outcome), info.residual, info.iterations,
                    carom_lcp_method_name(info.method));
}

static void read_impulses(carom_moreau *m) {
  for (int i = 0; i < m->item_count; i++) {
    carom_moreau_item *item = &m->items[i];
    int d = directions(m, item);
    memset(item->impulse, 0, sizeof item->impulse);
    for (int a = 0; a <= d; a++) {
      double g[3];
      generator(m, item, a, g);
      for (int k = 0; k < 3; k++) item->impulse[k] += g[k] * m->z[m->pair_start[i] + a];
    }
  }
}

// Turns the directions towards the friction impulses, or against the sliding where there is none; how far, at most.
static double turn_directions(carom_moreau *m) {
  double most = 0;
  carom_moreau_apply(m);
  for (int i = 0; i < m->item_count; i++) {
    carom_moreau_item *item = &m->items[i];
    if (item->tangents < 2 || item->impulse[0] <= 0) continue;
    double x = item->impulse[1], y = item->impulse[2];
    if (hypot(x, y) <= 1e-12 * item->impulse[0]) continue;
    // The impulse of a polygon leans towards its corners; sliding tells the direction better.
    double sx = -m->alpha * carom_moreau_rate(m->model, &item->row[1], m->v_new) - (1 - m->alpha) * item->before[1] +
                item->surface[1];
    double sy = -m->alpha * carom_moreau_rate(m->model, &item->row[2], m->v_new) - (1 - m->alpha) * item->before[2] +
                item->surface[2];
    bool slides = hypot(x, y) > (1 - 1e-9) * item->mu * item->impulse[0] * 0.7 && hypot(sx, sy) > 1e-10;
    double angle = slides ? atan2(sy, sx) : atan2(y, x), change = remainder(angle - item->turn, pi / 2);
    item->turn += change;
    most = fmax(most, fabs(change));
  }
  return most;
}

carom_status carom_moreau_solve(carom_moreau *m, const double *bias, double time, carom_step_report *report,
                                carom_error *error) {
  if (m->item_count == 0) return CAROM_OK;
  fill_W(m);
  fill_right_hand_side(m, bias);
  fill_problem(m);
  carom_status status = solve_once(m, time, report, error);
  if (status == CAROM_OK) read_impulses(m);
  if (m->options->friction_directions != 0) return status;
  // Right-hand sides of the normals are kept: only the directions change.
  for (int round = 0; round < TURNS_MAX && status == CAROM_OK && turn_directions(m) > 1e-11; round++) {
    for (int i = 0; i < m->item_count; i++) {
      double u[3] = {0};
      velocity_along(m, &m->items[i], u);
      for (int a = 1; a <= directions(m, &m->items[i]); a++) {
        double g[3];
        generator(m, &m->items[i], a, g);
        m->q[m->pair_start[i] + a] = g[1] * u[1] + g[2] * u[2];
      }
    }
    fill_problem(m);
    status = solve_once(m, time, report, error);
    if (status == CAROM_OK) read_impulses(m);
  }
  return status;
}
