#include "model/joint_system.h"

#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "math/dense.h"
#include "model/joint_system_parts.h"

enum { ROWS = CAROM_JOINT_ROWS, MOST_LOOP_ROWS = 20000 };  // the loops' matrix is dense

// ---- memory --------------------------------------------------------------------------------------------------------

static bool allocate_vectors(carom_joint_system *s) {
  const carom_model *m = s->model;
  size_t rows = (size_t)m->joint_count * ROWS, six = (size_t)m->body_count * 6;
  return CAROM_NEW_ALL(&s->allocator, CAROM_ROOM(s->v.left, rows), CAROM_ROOM(s->v.right, rows),
                       CAROM_ROOM(s->v.mass, m->body_count), CAROM_ROOM(s->v.b, six), CAROM_ROOM(s->v.z, six),
                       CAROM_ROOM(s->v.c, rows), CAROM_ROOM(s->v.lambda, rows), CAROM_ROOM(s->b_loop, six),
                       CAROM_ROOM(s->factors, m->body_count), CAROM_ROOM(s->total, rows),
                       CAROM_ROOM(s->known_x, m->body_count), CAROM_ROOM(s->known_q, m->body_count),
                       CAROM_ROOM(s->known_joints, m->joint_count));
}

carom_status carom_joint_system_create(const carom_model *model, const carom_allocator *allocator,
                                       carom_joint_system **system, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_joint_system *s = CAROM_NEW(&a, carom_joint_system, 1);
  if (s) {
    s->model = model;
    s->allocator = a;
  }
  if (s && carom_joint_order_create(&s->order, model, &a) && s->order.most_loop_rows > MOST_LOOP_ROWS) {
    carom_status status = carom_fail(
        error, CAROM_ERR_ARGUMENT, "the joints close loops by %d equations, and %d is the most: leave some joints out",
        s->order.most_loop_rows, MOST_LOOP_ROWS);
    carom_joint_system_destroy(s);
    return status;
  }
  if (!s || !s->order.nodes || !allocate_vectors(s) ||
      !carom_joint_loops_create(&s->loops, s->order.most_loop_rows, &a)) {
    carom_joint_system_destroy(s);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d joints", model->joint_count);
  }
  *system = s;
  return CAROM_OK;
}

void carom_joint_system_destroy(carom_joint_system *s) {
  if (!s) return;
  carom_allocator a = s->allocator;
  carom_joint_order_destroy(&s->order);
  carom_joint_loops_destroy(&s->loops);
  CAROM_RELEASE_ALL(&a, s->v.left, s->v.right, s->v.mass, s->v.b, s->v.z, s->v.c, s->v.lambda, s->b_loop, s->factors,
                    s->total, s->known_x, s->known_q, s->known_joints, s);
}

int carom_joint_system_most_loop_rows(const carom_joint_system *system) { return system->order.most_loop_rows; }

carom_joint_vectors *carom_joint_system_vectors(carom_joint_system *system) { return &system->v; }

const carom_joint_node *carom_joint_system_nodes(const carom_joint_system *system, int *count) {
  *count = system->order.node_count;
  return system->order.nodes;
}

void carom_joint_system_order(carom_joint_system *system, const carom_state *state) {
  carom_joint_order_update(&system->order, system->model, state);
}

// ---- filling -------------------------------------------------------------------------------------------------------

// A body that does not turn has no equations of rotation: any regular block does.
static carom_joint_mass body_mass(const carom_body *body, carom_quat q) {
  carom_mat3 R = cm_rotation(q), J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z);
  bool turns = body->inverse_inertia.x > 0;
  return (carom_joint_mass){
      body->mass, turns ? cm_mmul(R, cm_mmul(J, cm_transpose(R))) : cm_diag3(body->mass, body->mass, body->mass)};
}

void carom_joint_system_fill(carom_joint_system *s, const carom_state *state) {
  const carom_model *m = s->model;
  for (int i = 0; i < s->order.node_count; i++) {
    int body = s->order.nodes[i].body;
    s->v.mass[body] = body_mass(&m->bodies[body], state->q[body]);
  }
  for (int j = 0; j < m->joint_count; j++) {
    if (!carom_joint_acts(m, state, j)) continue;
    carom_joint_equations(m, state, j, state->time, NULL, s->v.left + j * ROWS);
    memcpy(s->v.right + j * ROWS, s->v.left + j * ROWS, ROWS * sizeof *s->v.left);
  }
}

// ---- the tree ------------------------------------------------------------------------------------------------------

static void row_vector(const carom_row *row, int end, double *w) {
  carom_vec3 f = row->linear[end], t = row->angular[end];
  w[0] = f.x, w[1] = f.y, w[2] = f.z, w[3] = t.x, w[4] = t.y, w[5] = t.z;
}

static double dot6(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static double row_dot(const carom_row *row, int end, const double *z) {
  double w[6];
  row_vector(row, end, w);
  return dot6(w, z);
}

static void row_add(const carom_row *row, int end, double factor, double *z) {
  double w[6];
  row_vector(row, end, w);
  for (int i = 0; i < 6; i++) z[i] += factor * w[i];
}

// y = A x with A (6 x n, column-major).
static void multiply(int n, const double *A, const double *x, double *y) {
  double sum[6] = {0};
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 6; i++) sum[i] += A[i + 6 * j] * x[j];
  memcpy(y, sum, (size_t)6 * sizeof *y);
}

// A (n x n in a 6 x 6) becomes its inverse; what is outside the corner becomes 0.
static carom_status invert(int n, double *A) {
  double LU[36];
  int pivot[6];
  memcpy(LU, A, sizeof LU);
  carom_status status = carom_small_lu(n, LU, 6, pivot);
  memset(A, 0, sizeof LU);
  for (int j = 0; j < n && status == CAROM_OK; j++) {
    A[7 * j] = 1;
    carom_small_lu_solve(n, LU, 6, pivot, A + 6 * j);
  }
  return status;
}

static void set_mass(const carom_joint_mass *mass, double *M) {
  memset(M, 0, 36 * sizeof *M);
  for (int i = 0; i < 3; i++) M[7 * i] = mass->mass;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) M[3 + i + 6 * (3 + j)] = mass->rotation.m[i][j];
}

// M_parent += R_a' S^-1 L_a: what the joint and all beyond it add to the inertia of the body it hangs on.
static void add_to_parent(const carom_joint_system *s, const carom_node_factor *f, const carom_joint_node *node,
                          int rows, double *M) {
  const carom_row *L = s->v.left + node->joint * ROWS, *R = s->v.right + node->joint * ROWS;
  double l[ROWS][6], r[ROWS][6];
  for (int i = 0; i < rows; i++) {
    row_vector(&L[i], 1 - node->end, l[i]);
    row_vector(&R[i], 1 - node->end, r[i]);
  }
  for (int column = 0; column < 6; column++) {
    double t[ROWS];
    for (int i = 0; i < rows; i++) t[i] = l[i][column];
    multiply(rows, f->S, t, t);
    for (int row = 0; row < 6; row++)
      for (int i = 0; i < rows; i++) M[row + 6 * column] += r[i][row] * t[i];
  }
}

static carom_status factor_node(carom_joint_system *s, const carom_joint_node *node) {
  carom_node_factor *f = &s->factors[node->body];
  carom_status status = invert(6, f->M);
  if (status != CAROM_OK || node->joint < 0) return status;
  const carom_row *L = s->v.left + node->joint * ROWS, *R = s->v.right + node->joint * ROWS;
  int rows = carom_joint_row_count(&s->model->joints[node->joint]);
  for (int j = 0; j < rows; j++) {
    row_vector(&R[j], node->end, f->W + 6 * j);
    multiply(6, f->M, f->W + 6 * j, f->W + 6 * j);
    for (int i = 0; i < rows; i++) f->S[i + 6 * j] = row_dot(&L[i], node->end, f->W + 6 * j);
  }
  status = invert(rows, f->S);
  if (status == CAROM_OK && node->parent >= 0) add_to_parent(s, f, node, rows, s->factors[node->parent].M);
  return status;
}

static carom_status factor_tree(carom_joint_system *s) {
  for (int i = 0; i < s->order.node_count; i++) {
    int body = s->order.nodes[i].body;
    set_mass(&s->v.mass[body], s->factors[body].M);
  }
  carom_status status = CAROM_OK;
  s->singular = -1;
  for (int i = s->order.node_count - 1; i >= 0 && status == CAROM_OK; i--) {
    status = factor_node(s, &s->order.nodes[i]);
    if (status != CAROM_OK) s->singular = s->order.nodes[i].joint;
  }
  return status;
}

// From the leaves: z := M^-1 b of what hangs below, lambda := S^-1 (c - L z), and its share of the parent's b.
static void eliminate(carom_joint_system *s, const carom_joint_node *node, double *b, const double *c) {
  const carom_node_factor *f = &s->factors[node->body];
  double *z = s->v.z + 6 * node->body;
  multiply(6, f->M, b + 6 * node->body, z);
  if (node->joint < 0) return;
  int rows = carom_joint_row_count(&s->model->joints[node->joint]), first = node->joint * ROWS;
  double t[ROWS];
  for (int i = 0; i < rows; i++) t[i] = (c ? c[first + i] : 0) - row_dot(&s->v.left[first + i], node->end, z);
  multiply(rows, f->S, t, t);
  memcpy(s->v.lambda + first, t, sizeof t);
  for (int i = 0; i < rows && node->parent >= 0; i++)
    row_add(&s->v.right[first + i], 1 - node->end, t[i], b + 6 * node->parent);
}

// To the leaves: lambda -= S^-1 L_a z_a, z += W lambda.
static void substitute(carom_joint_system *s, const carom_joint_node *node) {
  const carom_node_factor *f = &s->factors[node->body];
  if (node->joint < 0) return;
  int rows = carom_joint_row_count(&s->model->joints[node->joint]), first = node->joint * ROWS;
  double *z = s->v.z + 6 * node->body, *lambda = s->v.lambda + first, t[ROWS];
  if (node->parent >= 0) {
    for (int i = 0; i < rows; i++) t[i] = row_dot(&s->v.left[first + i], 1 - node->end, s->v.z + 6 * node->parent);
    multiply(rows, f->S, t, t);
    for (int i = 0; i < rows; i++) lambda[i] -= t[i];
  }
  multiply(rows, f->W, lambda, t);
  for (int i = 0; i < 6; i++) z[i] += t[i];
}

// b is used up; a null c stands for 0.
static void solve_tree(carom_joint_system *s, double *b, const double *c) {
  for (int i = s->order.node_count - 1; i >= 0; i--) eliminate(s, &s->order.nodes[i], b, c);
  for (int i = 0; i < s->order.node_count; i++) substitute(s, &s->order.nodes[i]);
}

// ---- the loops -----------------------------------------------------------------------------------------------------

// Sum over both ends of L z; bodies that do not move count nothing.
static double row_rate(const carom_joint_system *s, const carom_row *row, const double *z) {
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body != CAROM_WORLD && !s->model->bodies[body].fixed) rate += row_dot(row, end, z + 6 * body);
  }
  return rate;
}

static void row_force(const carom_joint_system *s, const carom_row *row, double factor, double *b) {
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body != CAROM_WORLD && !s->model->bodies[body].fixed) row_add(row, end, factor, b + 6 * body);
  }
}

static void clear_nodes(const carom_joint_system *s, double *b) {
  for (int i = 0; i < s->order.node_count; i++) memset(b + 6 * s->order.nodes[i].body, 0, 6 * sizeof *b);
}

static void copy_nodes(const carom_joint_system *s, double *to, const double *from) {
  for (int i = 0; i < s->order.node_count; i++) {
    size_t at = 6 * (size_t)s->order.nodes[i].body;
    memcpy(to + at, from + at, 6 * sizeof *to);
  }
}

// L M^-1 R' of one row by itself: the scale against which its pivot in the loops' matrix is judged.
static double row_scale(const carom_joint_system *s, const carom_row *row) {
  double scale = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body == CAROM_WORLD || s->model->bodies[body].fixed) continue;
    const carom_body *b = &s->model->bodies[body];
    double lightest = fmax(b->inverse_inertia.x, fmax(b->inverse_inertia.y, b->inverse_inertia.z));
    scale += b->inverse_mass * cm_norm2(row->linear[end]) + lightest * cm_norm2(row->angular[end]);
  }
  return scale;
}

// K = L_loop (tree)^-1 R_loop', column by column.
static void factor_loops(carom_joint_system *s) {
  const carom_joint_order *o = &s->order;
  carom_joint_loops *loops = &s->loops;
  carom_joint_loops_begin(loops, o->loop_row_count);
  for (int j = 0; j < o->loop_row_count; j++) {
    clear_nodes(s, s->b_loop);
    row_force(s, &s->v.right[o->loop_rows[j]], 1, s->b_loop);
    solve_tree(s, s->b_loop, NULL);
    loops->scale[j] = row_scale(s, &s->v.left[o->loop_rows[j]]);
    for (int i = 0; i < o->loop_row_count; i++)
      loops->K[i + j * loops->n] = row_rate(s, &s->v.left[o->loop_rows[i]], s->v.z);
  }
  carom_joint_loops_factor(loops);
}

carom_status carom_joint_system_factor(carom_joint_system *s) {
  carom_status status = factor_tree(s);
  if (status == CAROM_OK) factor_loops(s);
  return status;
}

void carom_joint_system_solve(carom_joint_system *s) {
  const carom_joint_order *o = &s->order;
  copy_nodes(s, s->b_loop, s->v.b);
  solve_tree(s, s->b_loop, s->v.c);
  if (o->loop_row_count == 0) return;
  double *mu = s->loops.x;
  for (int i = 0; i < o->loop_row_count; i++)
    mu[i] = s->v.c[o->loop_rows[i]] - row_rate(s, &s->v.left[o->loop_rows[i]], s->v.z);
  carom_joint_loops_solve(&s->loops);
  copy_nodes(s, s->b_loop, s->v.b);
  for (int i = 0; i < o->loop_row_count; i++) row_force(s, &s->v.right[o->loop_rows[i]], mu[i], s->b_loop);
  solve_tree(s, s->b_loop, s->v.c);
  for (int i = 0; i < o->loop_row_count; i++) s->v.lambda[o->loop_rows[i]] = mu[i];
}

void carom_joint_system_push(const carom_joint_system *s, const double *lambda, carom_vec3 *p, carom_vec3 *l) {
  for (int k = 0; k < s->order.acting_count; k++) {
    int joint = s->order.acting[k], rows = carom_joint_row_count(&s->model->joints[joint]);
    for (int i = joint * ROWS; i < joint * ROWS + rows; i++)
      for (int end = 0; end < 2; end++) {
        int body = s->v.right[i].body[end];
        if (body == CAROM_WORLD || s->model->bodies[body].fixed) continue;
        p[body] = cm_axpy(p[body], lambda[i], s->v.right[i].linear[end]);
        if (s->model->bodies[body].inverse_inertia.x > 0)
          l[body] = cm_axpy(l[body], lambda[i], s->v.right[i].angular[end]);
      }
  }
}

int carom_joint_system_loop_rank(const carom_joint_system *system) { return system->loops.rank; }
int carom_joint_system_loop_rows(const carom_joint_system *system) { return system->order.loop_row_count; }

int carom_joint_system_acting_count(const carom_joint_system *system) { return system->order.acting_count; }
const int *carom_joint_system_acting(const carom_joint_system *system) { return system->order.acting; }
