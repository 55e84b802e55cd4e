// Keeping bodies apart. Lifted: a plane alpha . r = a per pair and node is a variable, A's vertices lie on one side and
// B's on the other; polynomial, so that the derivatives are short. Nested: the gap of the separation oracle, whose
// derivatives in the twists are turned into those in positions and quaternions.
#include <string.h>

#include "control/kinds.h"
#include "control/nested.h"
#include "control/rotation.h"

// ---- lifted --------------------------------------------------------------------------------------------------------

enum { SIDE = 11, AT_A = 3, AT_X = 4, AT_Q = 7 };  // variables: alpha a x q

static void side_rows(const double *c, const double *z, double *r, double *J) {
  int count = (int)c[1];
  carom_vec3 alpha = {z[0], z[1], z[2]}, x = {z[AT_X], z[AT_X + 1], z[AT_X + 2]}, g[4];
  for (int i = 0; i < count; i++) {
    const double *v = c + 2 + 3 * i;
    carom_vec3 at = cm_add(x, carom_rotated(z + AT_Q, cm_vec3(v[0], v[1], v[2]), g));
    if (r) r[i] = c[0] * (cm_dot(alpha, at) - z[AT_A]);
    if (!J) continue;
    double *row = J + i * SIDE, s = c[0];
    row[0] = s * at.x, row[1] = s * at.y, row[2] = s * at.z, row[AT_A] = -s;
    row[AT_X] = s * alpha.x, row[AT_X + 1] = s * alpha.y, row[AT_X + 2] = s * alpha.z;
    for (int j = 0; j < 4; j++) row[AT_Q + j] = s * cm_dot(alpha, g[j]);
  }
}

// Rows are linear in the vertices: their weighted sum is one row at the weighted sum of the vertices.
static void side_hessian(const double *c, const double *z, const double *w, double *H) {
  double total = 0;
  carom_vec3 v = cm_zero3(), g[4];
  for (int i = 0; i < (int)c[1]; i++) {
    const double *vertex = c + 2 + 3 * i;
    total += c[0] * w[i];
    v = cm_axpy(v, c[0] * w[i], cm_vec3(vertex[0], vertex[1], vertex[2]));
  }
  memset(H, 0, SIDE * SIDE * sizeof *H);
  carom_rotated(z + AT_Q, v, g);
  for (int j = 0; j < 3; j++) H[(AT_X + j) * SIDE + j] = total;
  for (int j = 0; j < 4; j++) {
    double *row = H + (AT_Q + j) * SIDE;
    row[0] = g[j].x, row[1] = g[j].y, row[2] = g[j].z;
  }
  carom_rotated_hessian(v, cm_vec3(z[0], z[1], z[2]), H, SIDE, AT_Q);
}

static bool side_by_hand(const double *c, void *object, const double *z, const double *w,
                         const carom_derivatives *out) {
  (void)object;
  if (out->r || out->J) side_rows(c, z, out->r, out->J);
  if (out->H) side_hessian(c, z, w, out->H);
  return true;
}

static void side(const double *c, const carom_hyper *z, carom_hyper *r) {
  for (int i = 0; i < (int)c[1]; i++) {
    carom_hyper3 at = ch_add3(ch_pack3(z + AT_X), ch_rotate(ch_pack4(z + AT_Q), ch_constant3(c + 2 + 3 * i)));
    r[i] = ch_scale(c[0], ch_sub(ch_dot(ch_pack3(z), at), z[AT_A]));
  }
}
const carom_element_kind carom_kind_plane_side = {"plane side", side, side_by_hand};

static void plane_length(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  *r = ch_dot(ch_pack3(z), ch_pack3(z));
}
const carom_element_kind carom_kind_plane_length = {.name = "plane length", .residual = plane_length};

// ---- nested --------------------------------------------------------------------------------------------------------

enum { PAIR = 14 };

static carom_pose pose_of(const double *z) {
  carom_quat q = {z[3], z[4], z[5], z[6]};
  return cm_pose(cm_vec3(z[0], z[1], z[2]), cm_qunit(q));
}

// From twists about the part's position to those about the body's: the part's position moves by omega x r as well.
static void shift_gradient(const carom_gap_gradient_body *g, carom_vec3 r, double out[6]) {
  carom_vec3 angular = cm_add(g->angular, cm_cross(r, g->linear));
  double both[6] = {g->linear.x, g->linear.y, g->linear.z, angular.x, angular.y, angular.z};
  memcpy(out, both, sizeof both);
}

// T of twist(part) = T twist(body): linear += omega x r.
static void shift_matrix(carom_vec3 r, double T[36]) {
  memset(T, 0, 36 * sizeof *T);
  for (int i = 0; i < 6; i++) T[i * 6 + i] = 1;
  carom_mat3 hat = cm_hat(r);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T[i * 6 + 3 + j] = -hat.m[i][j];
}

// 2 vec(dq q*): the rotation that a change of the quaternion makes, to first order; q is unit.
static void twist_of_quaternion(const double *q, double B[12]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  double rows[12] = {-x, w, -z, y, -y, z, w, -x, -z, -y, x, w};
  for (int i = 0; i < 12; i++) B[i] = 2 * rows[i];
}

typedef struct side_map {
  double length;   // |q|
  double unit[4];  // q / |q|
  double B[42];    // twist (6) from (x, q) (7): row after row
  double pull[7];  // gradient in (x, q)
  double angular[3];
} side_map;

static void map_side(const double *z, const double gradient[6], side_map *m) {
  m->length = sqrt(z[3] * z[3] + z[4] * z[4] + z[5] * z[5] + z[6] * z[6]);
  for (int i = 0; i < 4; i++) m->unit[i] = z[3 + i] / m->length;
  double B[12];
  twist_of_quaternion(m->unit, B);
  memset(m->B, 0, sizeof m->B);
  for (int i = 0; i < 3; i++) {
    m->B[i * 7 + i] = 1;
    for (int j = 0; j < 4; j++) m->B[(3 + i) * 7 + 3 + j] = B[i * 4 + j] / m->length;
    m->angular[i] = gradient[3 + i];
  }
  for (int j = 0; j < 7; j++) {
    m->pull[j] = 0;
    for (int i = 0; i < 6; i++) m->pull[j] += gradient[i] * m->B[i * 7 + j];
  }
}

// The part of second order in theta(dq) = 2 u - 2 u0 u, with u0 + u = dq q*: takes -(pull q' + q pull') off the block.
static void add_curvature(const side_map *m, double *H, int at) {
  for (int a = 0; a < 4; a++)
    for (int b = 0; b <= a; b++)
      H[(at + 3 + a) * PAIR + at + 3 + b] -= (m->pull[3 + a] * m->unit[b] + m->pull[3 + b] * m->unit[a]) / m->length;
}

// The centre of the part swings: lin . (w1 x (w2 x r) + w2 x (w1 x r)) / 2 in the angular block.
static void add_swing(carom_vec3 lin, carom_vec3 r, double *H, int at) {
  double l[3] = {lin.x, lin.y, lin.z}, p[3] = {r.x, r.y, r.z}, dot = cm_dot(lin, r);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      H[(at + 3 + i) * 12 + at + 3 + j] += 0.5 * (l[i] * p[j] + l[j] * p[i]) - (i == j ? dot : 0);
}

static void multiply(int rows, int inner, int columns, const double *A, const double *B, double *C) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      double sum = 0;
      for (int k = 0; k < inner; k++) sum += A[i * inner + k] * B[k * columns + j];
      C[i * columns + j] = sum;
    }
}

// H (12 x 12, parts) -> T' H T with T = diag(Ta, Tb).
static void shift_hessian(carom_vec3 ra, carom_vec3 rb, double *H) {
  double T[144] = {0}, Tt[144], side[36], work[144];
  for (int body = 0; body < 2; body++) {
    shift_matrix(body == 0 ? ra : rb, side);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) T[(6 * body + i) * 12 + 6 * body + j] = side[i * 6 + j];
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) Tt[j * 12 + i] = T[i * 12 + j];
  multiply(12, 12, 12, H, T, work);
  multiply(12, 12, 12, Tt, work, H);
}

static void pull_back(const double *H, const side_map *a, const side_map *b, double *out) {
  double B[12 * PAIR] = {0}, Bt[PAIR * 12], work[12 * PAIR];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 7; j++) B[i * PAIR + j] = a->B[i * 7 + j], B[(6 + i) * PAIR + 7 + j] = b->B[i * 7 + j];
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < PAIR; j++) Bt[j * 12 + i] = B[i * PAIR + j];
  multiply(12, 12, PAIR, H, B, work);
  multiply(PAIR, 12, PAIR, Bt, work, out);
}

typedef struct query {
  carom_placed a, b;
  carom_vec3 ra, rb;  // parts' positions from the bodies'
  carom_ssh_result result;
  carom_gap_gradient gradient;
} query;

static bool ask(carom_nested_pair *pair, const double *z, query *q) {
  carom_pose A = pose_of(z), B = pose_of(z + 7);
  q->a = (carom_placed){pair->a, cm_compose(A, pair->offset_a)};
  q->b = (carom_placed){pair->b, cm_compose(B, pair->offset_b)};
  q->ra = cm_sub(q->a.pose.p, A.p), q->rb = cm_sub(q->b.pose.p, B.p);
  return carom_ssh(&q->a, &q->b, NULL, &pair->cache, &q->result) == CAROM_OK;
}

// At a kink there is no second derivative; the solver then goes on with none of this pair.
static void nested_hessian(query *q, const side_map *a, const side_map *b, double weight, double *H) {
  double twist[144];
  memset(H, 0, PAIR * PAIR * sizeof *H);
  if (carom_ssh_hessian(&q->a, &q->b, &q->result, true, twist) != CAROM_OK) return;
  shift_hessian(q->ra, q->rb, twist);
  add_swing(q->gradient.a.linear, q->ra, twist, 0);
  add_swing(q->gradient.b.linear, q->rb, twist, 6);
  pull_back(twist, a, b, H);
  add_curvature(a, H, 0);
  add_curvature(b, H, 7);
  for (int i = 0; i < PAIR * PAIR; i++) H[i] *= weight;
}

static bool nested(const double *c, void *object, const double *z, const double *w, const carom_derivatives *out) {
  (void)c;
  query q;
  if (!ask(object, z, &q)) return false;
  double *J = out->J;
  if (out->r) out->r[0] = q.result.gap;
  if (!J && !out->H) return true;
  if (carom_ssh_gradient(&q.a, &q.b, &q.result, true, &q.gradient) != CAROM_OK) return false;
  double ga[6], gb[6];
  side_map a, b;
  shift_gradient(&q.gradient.a, q.ra, ga);
  shift_gradient(&q.gradient.b, q.rb, gb);
  map_side(z, ga, &a);
  map_side(z + 7, gb, &b);
  for (int j = 0; J && j < 7; j++) J[j] = a.pull[j], J[7 + j] = b.pull[j];
  if (out->H) nested_hessian(&q, &a, &b, w[0], out->H);
  return true;
}
const carom_element_kind carom_kind_nested = {.name = "gap", .evaluate = nested};

static bool smooth_gap(const double *c, void *object, const double *z, const double *w, const carom_derivatives *out) {
  (void)c;
  carom_smooth_gap *gap = object;
  double value;
  if (!carom_smooth_gap_evaluate(gap, z, &value, out->J, out->H)) return false;
  if (out->r) out->r[0] = value;
  int n = 7 * gap->set_count;
  for (int i = 0; out->H && i < n * n; i++) out->H[i] *= w[0];
  return true;
}
const carom_element_kind carom_kind_smooth_gap = {.name = "smooth gap", .evaluate = smooth_gap};
