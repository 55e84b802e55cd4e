// The SSH program in the plane z = 0. Seen along beta the difference of two bodies is now an interval around 0, a basis
// is a segment d_0 d_1 with u_0 < 0 < u_1, and the price alpha = beta + k e1 is its normal with alpha.beta = 1.
#include <float.h>

#include "collide/ssh.h"

typedef carom_ssh_column column;
typedef carom_ssh_program program;

static carom_vec3 flatten(carom_vec3 x) { return cm_vec3(x.x, x.y, 0); }

// A beta out of the plane is laid into it; one across the plane becomes x.
void carom_ssh_planar_frame(program *s) {
  carom_vec3 flat = flatten(s->beta);
  s->beta = cm_norm(flat) > 1e-12 ? cm_unit(flat) : cm_vec3(1, 0, 0);
  s->e1 = cm_vec3(-s->beta.y, s->beta.x, 0);
  s->e2 = cm_vec3(0, 0, 1);
}

// Ties go to the left, as if the origin were moved a little to the right.
static bool is_left(const column *c) { return c->u <= 0; }

static carom_ssh_phase first_segment(program *s) {
  column r = carom_ssh_lowest(s, s->beta);
  column other = carom_ssh_lowest(s, is_left(&r) ? cm_neg(s->e1) : s->e1);
  if (is_left(&r) == is_left(&other)) return CAROM_SSH_MISSED;
  s->basis[0] = is_left(&r) ? r : other;
  s->basis[1] = is_left(&r) ? other : r;
  return CAROM_SSH_FOUND;
}

static bool warm_segment(program *s, const carom_ssh_cache *cache) {
  return carom_ssh_recall(s, cache, 2) && is_left(&s->basis[0]) && !is_left(&s->basis[1]);
}

static void price(program *s) {
  const column *p = &s->basis[0], *q = &s->basis[1];
  double hp = cm_dot(s->beta, p->d), hq = cm_dot(s->beta, q->d);
  double k = (hp - hq) / (q->u - p->u);
  s->alpha = cm_axpy(s->beta, k, s->e1);
  s->t = hp + k * p->u;
}

carom_ssh_phase carom_ssh_planar_solve(program *s, const carom_ssh_cache *cache) {
  if (!warm_segment(s, cache)) {
    carom_ssh_phase first = first_segment(s);
    if (first != CAROM_SSH_FOUND) return first;
  }
  s->lower = -DBL_MAX;
  while (s->pivots < s->max_pivots) {
    price(s);
    column r = carom_ssh_lowest(s, s->alpha);
    double reached = cm_dot(s->alpha, r.d);
    s->lower = fmax(s->lower, reached);
    s->basis[2] = s->basis[1];  // the third place of a cached basis is unused
    if (carom_ssh_same(&r, &s->basis[0]) || carom_ssh_same(&r, &s->basis[1])) return CAROM_SSH_FOUND;
    if (s->t - reached <= 4 * DBL_EPSILON * s->size * cm_norm(s->alpha)) return CAROM_SSH_FOUND;
    s->basis[is_left(&r) ? 0 : 1] = r;
  }
  return CAROM_SSH_STUCK;
}

// One corner or two: prisms have two vertices over each corner of their shadow.
static carom_feature feature_of(const carom_vec3 *x, const int *vertex, int count, double size) {
  if (vertex[0] < 0) return CAROM_FEATURE_SMOOTH;
  return count == 2 && cm_norm(flatten(cm_sub(x[0], x[1]))) > 1e-12 * size ? CAROM_FEATURE_EDGE : CAROM_FEATURE_VERTEX;
}

void carom_ssh_planar_halfspace(carom_ssh_result *r) {
  r->planar = fabs(r->alpha.z) <= 1e-12;
  if (!r->planar) return;
  r->alpha = flatten(r->alpha), r->normal = cm_unit(flatten(r->normal));
  r->point_a = flatten(r->point_a), r->point_b = flatten(r->point_b);
}

void carom_ssh_planar_fill(const program *s, carom_ssh_result *r) {
  double span = s->basis[1].u - s->basis[0].u;
  double w[2] = {s->basis[1].u / span, -s->basis[0].u / span};
  for (int i = 0; i < 2; i++) {
    const column *c = &s->basis[i];
    carom_vec3 xa = cm_add(s->a.p, c->xa), xb = cm_add(s->b.p, c->xb);
    r->point_a = cm_axpy(r->point_a, w[i], flatten(xa));
    r->point_b = cm_axpy(r->point_b, w[i], flatten(xb));
    if (w[i] <= 16 * DBL_EPSILON) continue;
    int k = r->column_count++;
    r->vertex_a[k] = c->a, r->vertex_b[k] = c->b;
    r->column_a[k] = xa, r->column_b[k] = xb;
    r->weight[k] = w[i];
  }
  r->feature_a = feature_of(r->column_a, r->vertex_a, r->column_count, s->size);
  r->feature_b = feature_of(r->column_b, r->vertex_b, r->column_count, s->size);
  r->dual_degenerate = r->column_count < 2;
  r->planar = true;
}
