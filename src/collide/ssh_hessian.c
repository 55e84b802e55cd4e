// Second derivatives of the gap with the basis held fixed. The gap is a saddle value. With one function for every
// column of the basis,
//
//     F_k(alpha) = alpha . d_k - s_k(alpha),     d_k between vertices and centres,  s_k for what is curved about them,
//
// all F_k are equal at the solution, and the gap is the stationary value of
//
//     L = F_0 - sum mu_k (F_k - F_0) - lambda (beta . alpha - 1)      over z = (alpha, lambda, mu_1 ...);
//
// there lambda is the gap and mu_k = -w_k. By the implicit function theorem, with x the twelve twists,
//
//     gap_xx = L_xx - L_xz L_zz^-1 L_zx.
//
// Every s is the length of a few components of alpha: radius |alpha| of a ball, |A R' alpha| of an ellipsoid,
// radius |(d1 . alpha, d2 . alpha)| of the rim of a cylinder or cone. All derivatives are taken in hyperdual numbers. A
// half-space leaves no alpha to choose: gap = (n . d - s(n)) / (n . beta).
#include <float.h>

#include "collide/beta_line.h"
#include "collide/hyperdual.h"
#include "math/dense.h"

enum { TWISTS = 12, ALPHA = TWISTS, LAMBDA = ALPHA + 3, MU = LAMBDA + 1, MOST_Z = 6, NEWTON_STEPS = 3 };

// One end of a column: a point that moves with the body, and how far the surface lies from it along alpha.
typedef struct end {
  carom_vec3 r;      // relative to the body's position
  double radius;     // of a ball about it
  carom_vec3 round;  // half axes along the directors: an ellipsoid, or the rim of a disc
} end;

typedef struct form {
  carom_stand a, b;
  carom_beta_line line;
  carom_vec3 beta;
  bool planar;  // alpha has no third part, and beta follows the shadows of the centres
  int count;    // columns
  end ea[3], eb[3];
  double w[3];
  carom_vec3 alpha;
  double lambda;
} form;

// ---- moving points -------------------------------------------------------------------------------------------------

static void unit_twist(int k, carom_vec3 twist[2]) {
  double e[6] = {0};
  if (k >= 0 && k < 6) e[k] = 1;
  twist[0] = cm_vec3(e[0], e[1], e[2]), twist[1] = cm_vec3(e[3], e[4], e[5]);
}

// p + r while the body moves by exp of its twist; i and j number its twists, or are out of range. The part of second
// order is the symmetric one: (w1 x (w2 x r) + w2 x (w1 x r)) / 2.
static carom_hyper3 moving(carom_vec3 p, carom_vec3 r, int i, int j) {
  carom_vec3 s[2], t[2];
  unit_twist(i, s), unit_twist(j, t);
  carom_vec3 st = cm_cross(s[1], cm_cross(t[1], r)), ts = cm_cross(t[1], cm_cross(s[1], r));
  return (carom_hyper3){cm_add(p, r), cm_add(s[0], cm_cross(s[1], r)), cm_add(t[0], cm_cross(t[1], r)),
                        cm_scale(0.5, cm_add(st, ts))};
}

// Positions are taken relative to that of B.
static carom_hyper3 difference(const form *f, carom_vec3 ra, carom_vec3 rb, int i, int j) {
  carom_vec3 delta = cm_sub(f->a.p, f->b.p);
  return ch_sub3(moving(delta, ra, i, j), moving(cm_zero3(), rb, i - 6, j - 6));
}

static carom_hyper3 moving_beta(const form *f, int i, int j) {
  if (!f->line.moves) return (carom_hyper3){.v = f->beta};
  carom_hyper3 c = difference(f, f->line.center_a, f->line.center_b, i, j);
  if (f->planar) c.v.z = c.a.z = c.b.z = c.ab.z = 0;
  return ch_scale3(ch_inverse(ch_sqrt(ch_dot(c, c))), c);
}

// A direction turns but does not shift.
static carom_hyper3 moving_director(const carom_stand *s, int k, int i, int j) {
  carom_hyper3 n = moving(cm_zero3(), cm_vec3(s->R.m[0][k], s->R.m[1][k], s->R.m[2][k]), i, j);
  carom_hyper3 shift = moving(cm_zero3(), cm_zero3(), i, j);
  n.a = cm_sub(n.a, shift.a), n.b = cm_sub(n.b, shift.b);
  return n;
}

// ---- the function --------------------------------------------------------------------------------------------------

static carom_hyper curved(const carom_stand *s, const end *e, carom_hyper3 alpha, int i, int j) {
  carom_hyper sum = {0};
  if (e->radius > 0) sum = ch_scale(e->radius, ch_sqrt(ch_dot(alpha, alpha)));
  double half[3] = {e->round.x, e->round.y, e->round.z};
  if (half[0] == 0) return sum;
  carom_hyper square = {0};
  for (int k = 0; k < 3; k++) {
    carom_hyper c = ch_scale(half[k], ch_dot(moving_director(s, k, i, j), alpha));
    square = ch_sub(square, ch_scale(-1, ch_mul(c, c)));
  }
  return ch_sub(sum, ch_scale(-1, ch_sqrt(square)));
}

static carom_hyper column_value(const form *f, int k, carom_hyper3 alpha, int i, int j) {
  carom_hyper height = ch_dot(alpha, difference(f, f->ea[k].r, f->eb[k].r, i, j));
  height = ch_sub(height, curved(&f->a, &f->ea[k], alpha, i, j));
  return ch_sub(height, curved(&f->b, &f->eb[k], alpha, i - 6, j - 6));
}

static carom_hyper variable(double value, int number, int i, int j) {
  return (carom_hyper){value, i == number, j == number, 0};
}

// L with the derivatives in its variables i and j.
static carom_hyper lagrangian(const form *f, int i, int j) {
  carom_hyper3 alpha = {.v = f->alpha};
  double *da = &alpha.a.x, *db = &alpha.b.x;
  if (i >= ALPHA && i < LAMBDA) da[i - ALPHA] = 1;
  if (j >= ALPHA && j < LAMBDA) db[j - ALPHA] = 1;
  carom_hyper first = column_value(f, 0, alpha, i, j), constraint = ch_dot(moving_beta(f, i, j), alpha);
  constraint.v -= 1;
  carom_hyper L = ch_sub(first, ch_mul(variable(f->lambda, LAMBDA, i, j), constraint));
  for (int k = 1; k < f->count; k++) {
    carom_hyper mu = variable(-f->w[k], MU + k - 1, i, j);
    L = ch_sub(L, ch_mul(mu, ch_sub(column_value(f, k, alpha, i, j), first)));
  }
  return L;
}

static carom_hyper gap_of_halfspace(const form *f, bool plane_is_a, int i, int j) {
  int shift = plane_is_a ? 0 : 6;
  carom_hyper3 n = moving_director(plane_is_a ? &f->a : &f->b, 2, i - shift, j - shift);
  carom_hyper3 up = plane_is_a ? ch_scale3((carom_hyper){.v = -1}, n) : n;  // from B to A
  carom_hyper height = column_value(f, 0, up, i, j);
  if (cm_norm(cm_sub(up.v, f->beta)) == 0 && !f->line.moves) return height;
  return ch_mul(height, ch_inverse(ch_dot(up, moving_beta(f, i, j))));
}

// ---- the basis -----------------------------------------------------------------------------------------------------

// The end that a column's point lies on.
static end end_of(const carom_stand *s, int vertex, carom_vec3 column) {
  const carom_shape *shape = s->shape;
  carom_vec3 axis = cm_vec3(s->R.m[0][2], s->R.m[1][2], s->R.m[2][2]), half = shape->half_axes;
  double along = cm_dot(axis, cm_sub(column, s->p));
  end e = {.r = cm_zero3(), .radius = shape->radius};
  switch (shape->kind) {
    case CAROM_SHAPE_POLYTOPE:
      e.r = vertex >= 0 ? carom_stand_vertex(s, vertex) : cm_sub(column, s->p);
      break;
    case CAROM_SHAPE_CAPSULE:
      e.r = cm_scale(along < 0 ? -shape->half_length : shape->half_length, axis);
      break;
    case CAROM_SHAPE_ELLIPSOID:
      e.round = half;
      break;
    case CAROM_SHAPE_CYLINDER:
      e.r = cm_scale(along < 0 ? -half.z : half.z, axis);
      e.round = cm_vec3(half.x, half.x, 0);
      break;
    case CAROM_SHAPE_CONE:
      e.r = cm_scale(along < half.z / 2 ? -half.z / 2 : 1.5 * half.z, axis);
      if (along < half.z / 2) e.round = cm_vec3(half.x, half.x, 0);
      break;
    default:
      break;
  }
  return e;
}

// Columns between the same ends are one; in the plane, between ends over each other.
static void add_column(form *f, end a, end b, double weight) {
  carom_vec3 d = cm_sub(a.r, b.r);
  for (int k = 0; k < f->count; k++) {
    carom_vec3 off = cm_sub(d, cm_sub(f->ea[k].r, f->eb[k].r));
    if (f->planar) off.z = 0;
    if (cm_norm(off) == 0) {
      f->w[k] += weight;
      return;
    }
  }
  f->ea[f->count] = a, f->eb[f->count] = b, f->w[f->count++] = weight;
}

static form make_form(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r, bool beta_moves) {
  form f = {.a = carom_stand_of(a), .b = carom_stand_of(b), .beta = r->beta, .alpha = r->alpha, .lambda = r->gap};
  f.planar = r->planar;
  f.line = carom_beta_line_of(&f.a, &f.b, r, beta_moves);
  for (int k = 0; k < r->column_count; k++)
    add_column(&f, end_of(&f.a, r->vertex_a[k], r->column_a[k]), end_of(&f.b, r->vertex_b[k], r->column_b[k]),
               r->weight[k]);
  return f;
}

// ---- the saddle ----------------------------------------------------------------------------------------------------

// The variables z: those of alpha, lambda, and mu.
static int z_count(const form *f) { return (f->planar ? 2 : 3) + f->count; }
static int z_number(const form *f, int i) { return f->planar && i >= 2 ? LAMBDA + i - 2 : ALPHA + i; }

// L_zz, factored; false where the gap has a kink: corner on corner, or on an edge, or a disc lying flat.
static bool factor(const form *f, int n, double K[MOST_Z * MOST_Z], int pivot[MOST_Z]) {
  double largest = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      double h = lagrangian(f, z_number(f, i), z_number(f, j)).ab;
      if (!isfinite(h)) return false;
      K[i + j * n] = K[j + i * n] = h;
      largest = fmax(largest, fabs(h));
    }
  if (carom_small_lu(n, K, n, pivot) != CAROM_OK) return false;
  for (int i = 0; i < n; i++)
    if (!(fabs(K[i + i * n]) > 1e-11 * largest)) return false;
  return true;
}

// The planes of curved bodies are good to half the digits; Newton's method on L_z = 0 gives the others.
static bool polish(form *f, int n) {
  bool is_curved = f->ea[0].radius + f->eb[0].radius + f->ea[0].round.x + f->eb[0].round.x > 0;
  for (int step = 0; is_curved && step < NEWTON_STEPS; step++) {
    double K[MOST_Z * MOST_Z], z[MOST_Z];
    int pivot[MOST_Z];
    if (!factor(f, n, K, pivot)) return false;
    for (int i = 0; i < n; i++) z[i] = -lagrangian(f, z_number(f, i), z_number(f, i)).a;
    carom_small_lu_solve(n, K, n, pivot, z);
    int lambda = f->planar ? 2 : 3;
    f->alpha = cm_add(f->alpha, cm_vec3(z[0], z[1], f->planar ? 0 : z[2]));
    f->lambda += z[lambda];
    for (int k = 1; k < f->count; k++) f->w[k] -= z[lambda + k];
  }
  return true;
}

static carom_status saddle_hessian(form *f, double hessian[144]) {
  int n = z_count(f), pivot[MOST_Z];
  double K[MOST_Z * MOST_Z], S[TWISTS][MOST_Z], T[TWISTS][MOST_Z];
  if (!polish(f, n) || !factor(f, n, K, pivot)) return CAROM_ERR_SINGULAR;
  for (int i = 0; i < TWISTS; i++) {
    for (int k = 0; k < n; k++) T[i][k] = S[i][k] = lagrangian(f, i, z_number(f, k)).ab;
    carom_small_lu_solve(n, K, n, pivot, T[i]);
  }
  for (int i = 0; i < TWISTS; i++)
    for (int j = 0; j <= i; j++) {
      double h = lagrangian(f, i, j).ab;
      for (int k = 0; k < n; k++) h -= (S[i][k] * T[j][k] + S[j][k] * T[i][k]) / 2;
      if (!isfinite(h)) return CAROM_ERR_SINGULAR;
      hessian[12 * i + j] = hessian[12 * j + i] = h;
    }
  return CAROM_OK;
}

static carom_status halfspace_hessian(const form *f, bool plane_is_a, double hessian[144]) {
  for (int i = 0; i < TWISTS; i++)
    for (int j = 0; j <= i; j++) {
      double h = gap_of_halfspace(f, plane_is_a, i, j).ab;
      if (!isfinite(h)) return CAROM_ERR_SINGULAR;
      hessian[12 * i + j] = hessian[12 * j + i] = h;
    }
  return CAROM_OK;
}

carom_status carom_ssh_hessian(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                               bool beta_moves, double hessian[144]) {
  if (!isfinite(result->gap) || result->column_count < 1 || result->column_count > 3) return CAROM_ERR_NUMBER;
  form f = make_form(a, b, result, beta_moves);
  bool plane_a = a->shape->kind == CAROM_SHAPE_HALFSPACE, plane_b = b->shape->kind == CAROM_SHAPE_HALFSPACE;
  return plane_a || plane_b ? halfspace_hessian(&f, plane_a, hessian) : saddle_hessian(&f, hessian);
}
