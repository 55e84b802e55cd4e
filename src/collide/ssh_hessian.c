// Second derivatives of the gap with the basis held fixed. What the gap is then, is known in closed form. With d_i the
// differences of the basis, taken between the vertices of polytopes and the centres of curved ends, and rho the sum of
// the bodies' radii, t beta must touch the hull of the d_i fattened by rho:
//
//   three differences, a plane:   N = (d1 - d0) x (d2 - d0),  gap = (d0 . N - rho |N|) / (beta . N)
//   two, a cylinder about a line, or one, a sphere about a point: the smaller root t of
//       |P (t beta - d0)|^2 = rho^2   with P the projection along the line, or the identity
//   a half-space and a point d:   gap = (n . d - rho) / (n . beta)
//
// and all of it is evaluated in hyperdual numbers, once for every pair of the twelve twists.
#include <float.h>

#include "collide/beta_line.h"
#include "collide/hyperdual.h"

typedef struct form {
  carom_stand a, b;
  carom_beta_line line;
  carom_vec3 beta;
  int count;                // differences
  carom_vec3 ra[3], rb[3];  // their ends, relative to the bodies' positions
  double rho;
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
  return ch_scale3(ch_inverse(ch_sqrt(ch_dot(c, c))), c);
}

// ---- the closed forms ----------------------------------------------------------------------------------------------

static carom_hyper gap_of_plane(const form *f, const carom_hyper3 d[3], carom_hyper3 beta) {
  carom_hyper3 N = ch_cross(ch_sub3(d[1], d[0]), ch_sub3(d[2], d[0]));
  if (cm_dot(N.v, beta.v) < 0) N = ch_cross(ch_sub3(d[2], d[0]), ch_sub3(d[1], d[0]));
  carom_hyper height = ch_dot(d[0], N);
  if (f->rho > 0) height = ch_sub(height, ch_scale(f->rho, ch_sqrt(ch_dot(N, N))));
  return ch_mul(height, ch_inverse(ch_dot(beta, N)));
}

// x . y without the parts along m; m may be null.
static carom_hyper dot_across(carom_hyper3 x, carom_hyper3 y, const carom_hyper3 *m) {
  carom_hyper xy = ch_dot(x, y);
  if (!m) return xy;
  return ch_sub(xy, ch_mul(ch_mul(ch_dot(x, *m), ch_dot(y, *m)), ch_inverse(ch_dot(*m, *m))));
}

static carom_hyper gap_of_round(const form *f, const carom_hyper3 d[3], carom_hyper3 beta) {
  carom_hyper3 m = ch_sub3(d[1], d[0]);
  const carom_hyper3 *line = f->count == 2 ? &m : NULL;
  carom_hyper A = dot_across(beta, beta, line), B = dot_across(beta, d[0], line), C = dot_across(d[0], d[0], line);
  C.v -= f->rho * f->rho;
  carom_hyper root = ch_sqrt(ch_sub(ch_mul(B, B), ch_mul(A, C)));
  return ch_mul(ch_sub(B, root), ch_inverse(A));
}

static carom_hyper gap_of_halfspace(const form *f, bool plane_is_a, int i, int j) {
  const carom_stand *plane = plane_is_a ? &f->a : &f->b;
  int shift = plane_is_a ? 0 : 6;
  carom_vec3 axis = cm_vec3(plane->R.m[0][2], plane->R.m[1][2], plane->R.m[2][2]);
  carom_hyper3 n = moving(cm_zero3(), axis, i - shift, j - shift);
  carom_hyper3 foot = moving(cm_zero3(), cm_zero3(), i - shift, j - shift);
  n.a = cm_sub(n.a, foot.a), n.b = cm_sub(n.b, foot.b);  // a direction turns but does not shift
  carom_hyper3 d = difference(f, plane_is_a ? cm_zero3() : f->ra[0], plane_is_a ? f->rb[0] : cm_zero3(), i, j);
  carom_hyper height = ch_dot(n, d);
  if (plane_is_a) height = ch_scale(-1, height);
  height.v -= f->rho;
  if (cm_norm(cm_sub(cm_scale(plane_is_a ? -1 : 1, axis), f->beta)) == 0 && !f->line.moves) return height;
  carom_hyper slope = ch_dot(n, moving_beta(f, i, j));
  return ch_mul(height, ch_inverse(plane_is_a ? ch_scale(-1, slope) : slope));
}

static carom_hyper gap_of(const form *f, int i, int j) {
  bool plane_a = f->a.shape->kind == CAROM_SHAPE_HALFSPACE, plane_b = f->b.shape->kind == CAROM_SHAPE_HALFSPACE;
  if (plane_a || plane_b) return gap_of_halfspace(f, plane_a, i, j);
  carom_hyper3 d[3] = {0}, beta = moving_beta(f, i, j);
  for (int k = 0; k < f->count; k++) d[k] = difference(f, f->ra[k], f->rb[k], i, j);
  return f->count == 3 ? gap_of_plane(f, d, beta) : gap_of_round(f, d, beta);
}

// ---- the basis -----------------------------------------------------------------------------------------------------

// The centre of the curved end that a column's point lies on, or the vertex itself.
static carom_vec3 core_of(const carom_stand *s, int vertex, carom_vec3 column) {
  if (s->shape->kind == CAROM_SHAPE_POLYTOPE) return carom_stand_vertex(s, vertex);
  if (s->shape->kind != CAROM_SHAPE_CAPSULE) return cm_zero3();
  carom_vec3 axis = cm_vec3(s->R.m[0][2], s->R.m[1][2], s->R.m[2][2]);
  double along = cm_dot(axis, cm_sub(column, s->p));
  return cm_scale(along < 0 ? -s->shape->half_length : s->shape->half_length, axis);
}

// Ellipsoids, cylinders and cones are no fattened points, lines or polytopes.
static bool has_core(const carom_shape *shape) {
  return shape->kind == CAROM_SHAPE_POLYTOPE || shape->kind == CAROM_SHAPE_SPHERE ||
         shape->kind == CAROM_SHAPE_CAPSULE || shape->kind == CAROM_SHAPE_HALFSPACE;
}

static void add_difference(form *f, carom_vec3 ra, carom_vec3 rb) {
  carom_vec3 d = cm_sub(ra, rb);
  for (int k = 0; k < f->count; k++)
    if (cm_norm(cm_sub(d, cm_sub(f->ra[k], f->rb[k]))) == 0) return;
  f->ra[f->count] = ra, f->rb[f->count++] = rb;
}

static form make_form(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r, bool beta_moves) {
  form f = {.a = carom_stand_of(a), .b = carom_stand_of(b), .beta = r->beta};
  f.line = carom_beta_line_of(&f.a, &f.b, r, beta_moves);
  f.rho = a->shape->radius + b->shape->radius;
  for (int k = 0; k < r->column_count; k++)
    add_difference(&f, core_of(&f.a, r->vertex_a[k], r->column_a[k]), core_of(&f.b, r->vertex_b[k], r->column_b[k]));
  return f;
}

carom_status carom_ssh_hessian(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                               bool beta_moves, double hessian[144]) {
  if (!isfinite(result->gap) || result->column_count < 1 || result->column_count > 3) return CAROM_ERR_NUMBER;
  if (!has_core(a->shape) || !has_core(b->shape)) return CAROM_ERR_GEOMETRY;
  form f = make_form(a, b, result, beta_moves);
  bool half = a->shape->kind == CAROM_SHAPE_HALFSPACE || b->shape->kind == CAROM_SHAPE_HALFSPACE;
  if (!half && f.rho == 0 && f.count < 3) return CAROM_ERR_SINGULAR;  // a kink: corner on corner, or on an edge
  for (int i = 0; i < 12; i++)
    for (int j = 0; j <= i; j++) {
      double h = gap_of(&f, i, j).ab;
      if (!isfinite(h)) return CAROM_ERR_SINGULAR;
      hessian[12 * i + j] = hessian[12 * j + i] = h;
    }
  return CAROM_OK;
}
