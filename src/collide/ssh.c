// The SSH linear program (Johnson 2012, eq. 2.29) by a revised simplex method on its dual: the smallest t for which
// t beta lies in the difference D = A - B. Seen along beta, D is a flat convex figure around the origin; a basis is a
// triangle of differences d_0, d_1, d_2 whose projections u_i surround the origin, and
//
//     t = alpha . d_i,  alpha normal to the triangle with alpha.beta = 1     (the prices)
//     weights = areas of the three triangles that the origin cuts off        (the basic solution).
//
// Pricing asks for the lowest difference along alpha: one support query on each body. If nothing lies below the
// triangle it is optimal, and alpha . d_lowest is the certified lower bound. Otherwise that difference enters, and of
// the three triangles that it forms with the edges the one around the origin is the next basis.
//
// Ties are broken as if the origin were moved by (eps, eps^2) in the projection: a perturbed program has no degenerate
// pivots, so t falls at each and no basis comes twice.
#include <assert.h>
#include <float.h>

#include "collide/again.h"

typedef carom_ssh_column column;
typedef carom_ssh_program program;
typedef carom_ssh_phase phase;

// ---- columns ------------------------------------------------------------------------------------------------------

void carom_ssh_project(const program *s, column *c) {
  c->d = cm_add(cm_sub(c->xa, c->xb), s->delta);
  c->u = cm_dot(c->d, s->e1);
  c->v = cm_dot(c->d, s->e2);
}

column carom_ssh_lowest(program *s, carom_vec3 direction) {
  column c;
  c.xa = carom_support_lowest(&s->a, direction, &c.a);
  c.xb = carom_support_lowest(&s->b, cm_neg(direction), &c.b);
  c.exact = c.a >= 0 && c.b >= 0 && s->a.shape->radius == 0 && s->b.shape->radius == 0;
  carom_ssh_project(s, &c);
  s->pivots++;
  return c;
}

bool carom_ssh_recall(program *s, const carom_ssh_cache *cache, int count) {
  if (!cache || cache->count != 3) return false;
  if (s->a.shape->kind != CAROM_SHAPE_POLYTOPE || s->b.shape->kind != CAROM_SHAPE_POLYTOPE) return false;
  if (s->a.shape->radius > 0 || s->b.shape->radius > 0) return false;
  int most_a = s->a.shape->polytope.vertex_count, most_b = s->b.shape->polytope.vertex_count;
  for (int i = 0; i < count; i++) {
    column *c = &s->basis[i];
    c->a = cache->a[i], c->b = cache->b[i], c->exact = true;
    if (c->a < 0 || c->b < 0 || c->a >= most_a || c->b >= most_b) return false;
    c->xa = carom_supporter_vertex(&s->a, c->a);
    c->xb = carom_supporter_vertex(&s->b, c->b);
    carom_ssh_project(s, c);
  }
  s->a.last = cache->a[0], s->b.last = cache->b[0];
  return true;
}

// Sign of the triangle (origin, p, q), with the origin moved by (eps, eps^2): never zero for distinct projections.
// Lines that pass the origin within `tie` are taken to meet it, since round-off could not tell on which side they pass;
// that keeps slivers, whose prices are noise, out of the basis.
static double orientation(const program *s, const column *p, const column *q) {
  double du = q->u - p->u, dv = q->v - p->v;
  double area = p->u * q->v - p->v * q->u;
  if (fabs(area) > s->tie * (fabs(du) + fabs(dv))) return area;
  return fabs(dv) > s->tie ? -dv : fabs(du) > s->tie ? du : 0;
}

static bool is_left(const program *s, const column *p, const column *q) { return orientation(s, p, q) > 0; }

// ---- phase one: a triangle around the origin ----------------------------------------------------------------------

// Direction in the projection that points from the line p q to the side of the origin.
static carom_vec3 towards_origin(const program *s, const column *p, const column *q) {
  double nu = -(q->v - p->v), nv = q->u - p->u;  // left normal of p -> q
  return cm_add(cm_scale(nu, s->e1), cm_scale(nv, s->e2));
}

// A difference on the far side of the origin, seen along `out`, and low along beta if possible: the bottom of D is
// where the optimal triangle will be, so a slanted look saves pivots. If that does not reach over, the furthest one
// does.
static column reach_over(program *s, carom_vec3 out) {
  carom_vec3 slanted = cm_axpy(s->beta, s->slant / cm_norm(out), out);
  column c = carom_ssh_lowest(s, slanted);
  return cm_dot(out, c.d) < -1e-6 * s->size * cm_norm(out) ? c : carom_ssh_lowest(s, out);
}

// Beginning with an edge, keeps adding the furthest difference on the origin's side until the triangle closes around
// it.
static phase close_triangle(program *s, column p, column q) {
  while (s->pivots < s->max_pivots) {
    if (!is_left(s, &p, &q)) {  // let the origin lie to the left of p -> q
      column swap = p;
      p = q;
      q = swap;
    }
    column r = reach_over(s, cm_neg(towards_origin(s, &p, &q)));
    bool beyond_q = is_left(s, &q, &r), beyond_p = is_left(s, &r, &p);
    if (beyond_q && beyond_p) {
      s->basis[0] = p, s->basis[1] = q, s->basis[2] = r;
      return CAROM_SSH_FOUND;
    }
    if (carom_ssh_same(&r, &p) || carom_ssh_same(&r, &q) || (!beyond_q && !beyond_p)) return CAROM_SSH_MISSED;
    if (beyond_q)
      q = r;  // the origin lies outside r -> p
    else
      p = r;
  }
  return CAROM_SSH_STUCK;
}

static phase first_triangle(program *s) {
  carom_supporter_spread(&s->a);
  carom_supporter_spread(&s->b);
  carom_supporter_aim(&s->a, s->beta), carom_supporter_aim(&s->b, cm_neg(s->beta));
  column p = carom_ssh_lowest(s, s->beta);
  carom_vec3 out = cm_add(cm_scale(p.u, s->e1), cm_scale(p.v, s->e2));
  if (cm_norm(out) < 1e-6 * s->size) out = s->e1;
  column q = reach_over(s, out);
  if (carom_ssh_same(&p, &q)) q = carom_ssh_lowest(s, cm_neg(s->e2));
  if (carom_ssh_same(&p, &q)) return CAROM_SSH_MISSED;
  return close_triangle(s, p, q);
}

// The triangle of the last query, if it still surrounds the origin; otherwise one over the edge behind which the origin
// lies now.
static phase warm_triangle(program *s, const carom_ssh_cache *cache) {
  if (!carom_ssh_recall(s, cache, 3)) return CAROM_SSH_MISSED;
  const column *c = s->basis;
  double left[3] = {orientation(s, &c[0], &c[1]), orientation(s, &c[1], &c[2]), orientation(s, &c[2], &c[0])};
  int out = left[0] < left[1] ? 0 : 1;
  out = left[2] < left[out] ? 2 : out;
  if (left[out] > 0) return CAROM_SSH_FOUND;
  return close_triangle(s, c[out], c[out == 2 ? 0 : out + 1]);
}

// ---- phase two: pivots --------------------------------------------------------------------------------------------

// Prices of the basis; false when the triangle stands on edge, seen along beta.
static bool price(program *s) {
  const column *c = s->basis;
  carom_vec3 n = cm_cross(cm_sub(c[1].d, c[0].d), cm_sub(c[2].d, c[0].d));
  double area = cm_dot(n, s->beta);
  if (!(area > 0)) return false;
  s->alpha = cm_scale(1 / area, n);
  s->t = cm_dot(s->alpha, c[0].d);
  return isfinite(s->t);
}

// The entering column r replaces the corner that the origin moves away from.
static bool pivot(program *s, const column *r) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    if (!is_left(s, &s->basis[j], r) || is_left(s, &s->basis[i], r)) continue;
    s->basis[(i + 2) % 3] = *r;
    return true;
  }
  return false;
}

static bool in_basis(const program *s, const column *r) {
  return carom_ssh_same(r, &s->basis[0]) || carom_ssh_same(r, &s->basis[1]) || carom_ssh_same(r, &s->basis[2]);
}

// Good enough for a bound on round-off, and it takes no root.
static double sum_norm(carom_vec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

// A needle of a triangle has a plane that misses its corners by more than round-off: with the misses rho_i of the edges
// e_i the correction is the delta with delta.beta = 0 and delta.e_i = -rho_i.
static void refine(program *s) {
  const column *c = s->basis;
  carom_vec3 e1 = cm_sub(c[1].d, c[0].d), e2 = cm_sub(c[2].d, c[0].d);
  carom_vec3 across1 = cm_cross(e2, s->beta), across2 = cm_cross(s->beta, e1);
  double rho1 = cm_dot(s->alpha, e1), rho2 = cm_dot(s->alpha, e2), volume = cm_dot(e1, across1);
  s->alpha = cm_axpy(cm_axpy(s->alpha, -rho1 / volume, across1), -rho2 / volume, across2);
  s->t = cm_dot(s->alpha, c[0].d);
}

// How far below the plane of the basis the lowest column lies; notes the bound that the column is.
static double slack_of(program *s, const column *r) {
  double reached = cm_dot(s->alpha, r->d);
  s->lower = reached > s->lower ? reached : s->lower;
  return s->t - reached;
}

// Whether nothing lies below the plane of the basis, as the lowest column r tells. A corner of the basis itself that
// does is a reason to refine the plane, if that makes it better.
static bool is_optimal(program *s, column *r) {
  double slack = slack_of(s, r), enough = 4 * DBL_EPSILON * s->size * sum_norm(s->alpha);
  if (slack > enough && in_basis(s, r)) {
    carom_vec3 alpha = s->alpha;
    double t = s->t;
    refine(s);
    column other = carom_ssh_lowest(s, s->alpha);
    double better = slack_of(s, &other);
    if (better < slack)
      *r = other, slack = better;
    else
      s->alpha = alpha, s->t = t;
  }
  if (slack > enough && !in_basis(s, r)) return false;
  // On curved surfaces the plane may still miss its corners: what the support functions say of it is better.
  if (s->t < s->lower) s->t = s->lower;
  return true;
}

// Bodies of very different sizes have bases whose planes no refinement saves; another beginning may find a better one.
static bool is_certified(const program *s) { return s->t - s->lower <= 1e-12 * s->size * cm_norm(s->alpha); }

static phase descend(program *s) {
  s->lower = -DBL_MAX;
  while (s->pivots < s->max_pivots) {
    if (!price(s)) return CAROM_SSH_STUCK;
    column r = carom_ssh_lowest(s, s->alpha);
    if (is_optimal(s, &r)) return is_certified(s) ? CAROM_SSH_FOUND : CAROM_SSH_STUCK;
    if (!pivot(s, &r)) return CAROM_SSH_STUCK;
  }
  return CAROM_SSH_STUCK;
}

// ---- the answer ---------------------------------------------------------------------------------------------------

static void weigh(const program *s, double w[3]) {
  const column *c = s->basis;
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    const column *p = &c[(i + 1) % 3], *q = &c[(i + 2) % 3];
    w[i] = fmax(0, p->u * q->v - p->v * q->u);
    sum += w[i];
  }
  for (int i = 0; i < 3; i++) w[i] = sum > 0 ? w[i] / sum : 1.0 / 3;
}

// What the weighted columns miss t beta by.
static carom_vec3 miss_of(const program *s, const double w[3]) {
  carom_vec3 miss = cm_scale(s->t, s->beta);
  for (int i = 0; i < 3; i++) miss = cm_axpy(miss, -w[i], s->basis[i].d);
  return miss;
}

static int longest_edge(const column *c) {
  double length2[3];
  for (int i = 0; i < 3; i++) length2[i] = cm_norm2(cm_sub(c[(i + 1) % 3].d, c[i].d));
  int longest = length2[1] > length2[0] ? 1 : 0;
  return length2[2] > length2[longest] ? 2 : longest;
}

// Moves weights by `along` the edge from -> to and by `across` towards the third corner, if they stay weights that miss
// t beta by less.
static bool move_weights(const program *s, const int corner[3], const double by[3], double w[3]) {
  double x[3];
  for (int i = 0; i < 3; i++) x[corner[i]] = w[corner[i]] + by[i];
  if (!(x[0] >= 0 && x[1] >= 0 && x[2] >= 0) || !(cm_norm2(miss_of(s, x)) < cm_norm2(miss_of(s, w)))) return false;
  for (int i = 0; i < 3; i++) w[i] = x[i];
  return true;
}

// Areas of a triangle that is a needle, seen along beta or from all sides, are round-off in part. The weights move
// along its longest edge and across it until they give t beta again; across what is a mere line there may be no way.
static void polish(const program *s, double w[3]) {
  const column *c = s->basis;
  int from = longest_edge(c), to = (from + 1) % 3, third = (from + 2) % 3;
  carom_vec3 e = cm_sub(c[to].d, c[from].d), f = cm_sub(c[third].d, c[from].d);
  double foot = cm_dot(f, e) / cm_norm2(e), enough = CAROM_SSH_MISS * s->size;
  carom_vec3 height = cm_axpy(f, -foot, e);
  for (int round = 0; round < 4; round++) {
    carom_vec3 miss = miss_of(s, w);
    if (!(cm_norm2(miss) > enough * enough)) return;
    double along = cm_dot(miss, e) / cm_norm2(e), across = cm_dot(miss, height) / cm_norm2(height);
    const int corner[3] = {from, to, third};
    if (move_weights(s, corner, (double[3]){across * (foot - 1) - along, along - across * foot, across}, w)) continue;
    if (!move_weights(s, corner, (double[3]){-along, along, 0}, w)) return;
  }
}

static void fill_columns(const program *s, carom_ssh_result *r) {
  double w[3];
  weigh(s, w);
  polish(s, w);
  carom_vec3 xa = cm_zero3(), xb = cm_zero3();
  for (int i = 0; i < 3; i++) {
    const column *c = &s->basis[i];
    xa = cm_axpy(xa, w[i], c->xa);
    xb = cm_axpy(xb, w[i], c->xb);
    if (w[i] <= 16 * DBL_EPSILON) continue;
    int k = r->column_count++;
    r->vertex_a[k] = c->a, r->vertex_b[k] = c->b;
    r->column_a[k] = cm_add(s->a.p, c->xa), r->column_b[k] = cm_add(s->b.p, c->xb);
    r->weight[k] = w[i];
  }
  r->point_a = cm_add(s->a.p, xa), r->point_b = cm_add(s->b.p, xb);
  r->feature_a = carom_feature_of(s->a.shape, r->vertex_a, r->column_count);
  r->feature_b = carom_feature_of(s->b.shape, r->vertex_b, r->column_count);
  r->dual_degenerate = r->column_count < 3;
}

static void fill_result(const program *s, carom_ssh_outcome outcome, bool planar, carom_ssh_result *r) {
  *r = (carom_ssh_result){.outcome = outcome, .gap = s->t, .alpha = s->alpha, .beta = s->beta, .pivots = s->pivots};
  r->normal = cm_unit(s->alpha);
  if (planar)
    carom_ssh_planar_fill(s, r);
  else
    fill_columns(s, r);
  r->a1 = cm_dot(s->alpha, r->point_a);
  r->a2 = cm_dot(s->alpha, r->point_b);
  r->duality_gap = fmax(0, s->t - s->lower) / (s->size * cm_norm(s->alpha));
}

static void keep_basis(const program *s, carom_ssh_cache *cache) {
  if (!cache) return;
  cache->count = 3;
  for (int i = 0; i < 3; i++) cache->a[i] = s->basis[i].a, cache->b[i] = s->basis[i].b;
}

// ---- half-spaces --------------------------------------------------------------------------------------------------

// A half-space leaves only one direction for alpha, that of its own normal, so that one support query is all there is.
static void solve_halfspace(program *s, bool a_is_halfspace, carom_ssh_result *r) {
  carom_supporter *plane = a_is_halfspace ? &s->a : &s->b, *other = a_is_halfspace ? &s->b : &s->a;
  carom_vec3 outward = cm_vec3(plane->R.m[0][2], plane->R.m[1][2], plane->R.m[2][2]);
  carom_vec3 n = a_is_halfspace ? cm_neg(outward) : outward;  // from B to A
  bool reset = !(cm_dot(n, s->beta) > 1e-12);
  if (reset) s->beta = n;
  int vertex;
  carom_vec3 x = cm_add(other->p, carom_support_lowest(other, outward, &vertex));
  double height = cm_dot(outward, cm_sub(x, plane->p)), slope = cm_dot(n, s->beta);
  *r =
      (carom_ssh_result){.outcome = reset ? CAROM_SSH_RESET : CAROM_SSH_SOLVED, .gap = height / slope, .beta = s->beta};
  r->alpha = cm_scale(1 / slope, n);
  r->normal = n;
  r->pivots = 1;
  r->column_count = 1;
  r->weight[0] = 1;
  carom_vec3 foot = cm_axpy(x, a_is_halfspace ? r->gap : -r->gap, s->beta);
  r->point_a = a_is_halfspace ? foot : x, r->point_b = a_is_halfspace ? x : foot;
  r->column_a[0] = r->point_a, r->column_b[0] = r->point_b;
  r->vertex_a[0] = a_is_halfspace ? -1 : vertex, r->vertex_b[0] = a_is_halfspace ? vertex : -1;
  r->feature_a = carom_feature_of(s->a.shape, r->vertex_a, 1);
  r->feature_b = carom_feature_of(s->b.shape, r->vertex_b, 1);
  r->a1 = cm_dot(r->alpha, r->point_a), r->a2 = cm_dot(r->alpha, r->point_b);
}

// ---- spheres ------------------------------------------------------------------------------------------------------

// The difference of two spheres is a ball of radius R around c, and the line t beta enters it at
// t = beta.c - sqrt(R^2 - |c - (beta.c) beta|^2). A line that passes it by is reset to the one between the centres.
static void solve_spheres(program *s, carom_ssh_result *r) {
  double R = s->a.shape->radius + s->b.shape->radius;
  carom_vec3 c = s->delta;
  double along = cm_dot(s->beta, c), across2 = cm_norm2(cm_axpy(c, -along, s->beta));
  bool reset = !(across2 < R * R);
  if (reset) s->beta = cm_unit(c), along = cm_norm(c), across2 = 0;
  double half_chord = sqrt(R * R - across2);
  *r = (carom_ssh_result){.outcome = reset ? CAROM_SSH_RESET : CAROM_SSH_SOLVED, .gap = along - half_chord};
  r->beta = s->beta;
  r->normal = cm_scale(1 / R, cm_axpy(c, -r->gap, s->beta));
  r->alpha = cm_scale(R / half_chord, r->normal);
  r->point_a = cm_axpy(s->a.p, -s->a.shape->radius, r->normal);
  r->point_b = cm_axpy(s->b.p, s->b.shape->radius, r->normal);
  r->a1 = cm_dot(r->alpha, r->point_a), r->a2 = cm_dot(r->alpha, r->point_b);
  r->column_count = 1;
  r->weight[0] = 1;
  r->vertex_a[0] = r->vertex_b[0] = -1;
  r->column_a[0] = r->point_a, r->column_b[0] = r->point_b;
  r->feature_a = r->feature_b = CAROM_FEATURE_SMOOTH;
}

// ---- the query ----------------------------------------------------------------------------------------------------

carom_ssh_options carom_ssh_default_options(void) { return (carom_ssh_options){.max_pivots = 500}; }

// How far a first look is slanted from beta: about the angle between neighbouring faces, which falls as 1/sqrt(V). The
// factor is the best of those tried on random bodies with 8 to 512 vertices.
static double slant_of(const carom_shape *a, const carom_shape *b) {
  int va = a->kind == CAROM_SHAPE_POLYTOPE ? a->polytope.vertex_count : 1000;
  int vb = b->kind == CAROM_SHAPE_POLYTOPE ? b->polytope.vertex_count : 1000;
  return 2.6 / sqrt(va > vb ? va : vb);
}

static double size_of(const carom_shape *shape) {
  return shape->kind == CAROM_SHAPE_HALFSPACE ? 0 : shape->bounding_radius;
}

static carom_vec3 center_difference(const program *s) {
  return cm_add(cm_sub(cm_mulv(s->a.R, s->a.shape->center), cm_mulv(s->b.R, s->b.shape->center)), s->delta);
}

static carom_vec3 center_line(const program *s) {
  carom_vec3 line = center_difference(s);
  return cm_norm(line) > 1e-14 * s->size ? cm_unit(line) : cm_vec3(0, 0, 1);
}

static void set_beta(program *s, carom_vec3 beta, bool planar) {
  s->beta = beta;
  if (planar)
    carom_ssh_planar_frame(s);
  else
    cm_frame(beta, &s->e1, &s->e2);
}

// Both phases, warm if possible; a line that misses D means an unbounded program.
static phase solve_once(program *s, const carom_ssh_cache *cache, bool planar) {
  if (planar) return carom_ssh_planar_solve(s, cache);
  phase first = warm_triangle(s, cache);
  if (first != CAROM_SSH_FOUND) first = first_triangle(s);
  return first == CAROM_SSH_FOUND ? descend(s) : first;
}

static void turn_frame(program *s, double angle) {
  carom_vec3 e1 = cm_add(cm_scale(cos(angle), s->e1), cm_scale(sin(angle), s->e2));
  s->e1 = e1;
  s->e2 = cm_cross(s->beta, e1);
}

// Ties are broken along e1 and e2. Should round-off lead a solve astray among ties, it is begun again with others.
static phase solve(program *s, const carom_ssh_cache *cache, bool planar) {
  phase end = solve_once(s, cache, planar);
  for (int attempt = 1; attempt <= 4 && end == CAROM_SSH_STUCK && !planar && s->pivots < s->max_pivots; attempt++) {
    turn_frame(s, 1);
    end = solve_once(s, NULL, planar);
  }
  return end;
}

// What is known without any solve: beta itself is a plane, and the centres are on the line. Bodies with ties beyond
// round-off end here, if any do.
static void fall_back(program *s) {
  column c = carom_ssh_lowest(s, s->beta);
  for (int i = 0; i < 3; i++) s->basis[i] = c;
  s->alpha = s->beta;
  s->lower = cm_dot(s->beta, c.d);
  s->t = cm_dot(s->beta, center_difference(s));
}

static carom_status prepare(const carom_placed *a, const carom_placed *b, const carom_ssh_options *o, program *s) {
  if (!carom_pair_is_finite(a, b)) return CAROM_ERR_NUMBER;
  if (o->given_beta && !(cm_finite(o->beta) && cm_norm2(cm_unit(o->beta)) > 0)) return CAROM_ERR_NUMBER;
  carom_supporter_place(&s->a, a);
  carom_supporter_place(&s->b, b);
  s->pivots = 0;
  s->max_pivots = o->max_pivots;
  s->delta = cm_sub(a->pose.p, b->pose.p);
  s->size = size_of(a->shape) + size_of(b->shape);
  s->tie = CAROM_SSH_TIE * s->size;
  s->slant = slant_of(a->shape, b->shape);
  set_beta(s, o->given_beta ? cm_unit(o->beta) : center_line(s), o->planar);
  return CAROM_OK;
}

static carom_status find(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options,
                         carom_ssh_cache *cache, carom_ssh_result *result) {
  carom_ssh_options o = options ? *options : carom_ssh_default_options();
  program s;
  carom_status status = prepare(a, b, &o, &s);
  if (status != CAROM_OK) return status;
  bool plane_a = a->shape->kind == CAROM_SHAPE_HALFSPACE, plane_b = b->shape->kind == CAROM_SHAPE_HALFSPACE;
  if (plane_a && plane_b) return CAROM_ERR_GEOMETRY;
  if (plane_a || plane_b) {
    solve_halfspace(&s, plane_a, result);
    if (o.planar) carom_ssh_planar_halfspace(result);
    return CAROM_OK;
  }
  if (a->shape->kind == CAROM_SHAPE_SPHERE && b->shape->kind == CAROM_SHAPE_SPHERE && !o.planar) {
    solve_spheres(&s, result);
    return CAROM_OK;
  }
  phase end = solve(&s, cache, o.planar);
  bool reset = end == CAROM_SSH_MISSED;
  if (reset) {
    set_beta(&s, center_line(&s), o.planar);
    end = solve(&s, NULL, o.planar);
  }
  if (end == CAROM_SSH_MISSED) {
    fall_back(&s);
    end = CAROM_SSH_STUCK;
  }
  carom_ssh_outcome solved = reset ? CAROM_SSH_RESET : CAROM_SSH_SOLVED;
  fill_result(&s, end == CAROM_SSH_STUCK ? CAROM_SSH_LIMIT : solved, o.planar, result);
  keep_basis(&s, cache);
  return CAROM_OK;
}

carom_status carom_ssh(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options,
                       carom_ssh_cache *cache, carom_ssh_result *result) {
  bool again = cache && carom_ssh_again(a, b, options, cache, result);
  carom_status status = again ? CAROM_OK : find(a, b, options, cache, result);
  assert(status != CAROM_OK || result->outcome == CAROM_SSH_LIMIT || result->duality_gap <= 1e-12);
  return status;
}
