// carom_ssh_again, for quads of either kind. Nothing is projected here: with q = d - (beta.d) beta the area that two
// columns span with the origin, seen along beta, is beta . (q_i x q_j).
#include "collide/again_pair.h"

// Of the given vector, or of the line between the centres; false for ends that need more care.
CQ_INLINE bool beta_of(const pair *P, const carom_ssh_options *o, double size, carom_quad *beta) {
  carom_quad line = cq_add(cq_sub(cq_mulv(&P->Ra, &P->a->center), cq_mulv(&P->Rb, &P->b->center)), P->delta);
  if (o && o->given_beta) line = cq_of(&o->beta);
  double norm2 = cq_dot(line, line), least = o && o->given_beta ? 1e-200 : 1e-28 * size * size;
  if (!(norm2 > least && norm2 < 1e200)) return false;
  *beta = cq_scale(1 / sqrt(norm2), line);
  return true;
}

CQ_INLINE carom_quad project(carom_quad d, carom_quad beta) { return cq_axpy(d, -cq_dot(beta, d), beta); }

CQ_INLINE double area_of(carom_quad beta, carom_quad p, carom_quad q) { return cq_dot(beta, cq_cross(p, q)); }

// Weights of a triangle that clearly surrounds the origin.
CQ_INLINE bool surround(columns *c, carom_quad beta, double least) {
  carom_quad q[3];
  for (int i = 0; i < 3; i++) q[i] = project(c->d[i], beta);
  double w0 = area_of(beta, q[1], q[2]), w1 = area_of(beta, q[2], q[0]), w2 = area_of(beta, q[0], q[1]);
  if (!(w0 > least && w1 > least && w2 > least)) return false;
  double inverse = 1 / (w0 + w1 + w2);
  c->w[0] = w0 * inverse, c->w[1] = w1 * inverse, c->w[2] = w2 * inverse;
  return true;
}

// The column in the last place takes that of the corner which the origin moves away from.
CQ_INLINE bool pivot(columns *c, carom_quad beta, double least) {
  carom_quad r = project(c->d[3], beta);
  double s[3];
  for (int i = 0; i < 3; i++) s[i] = area_of(beta, project(c->d[i], beta), r);
  for (int i = 0; i < 3; i++) {
    int j = i == 2 ? 0 : i + 1, k = j == 2 ? 0 : j + 1;
    if (s[j] > least && s[i] < -least) return copy_column(c, k, c, 3), true;
  }
  return false;
}

CQ_INLINE void fill_ssh(const pair *P, const columns *c, carom_ssh_result *r) {
  carom_quad xa = cq_scale(c->w[0], c->xa[0]), xb = cq_scale(c->w[0], c->xb[0]), alpha = cq_of(&r->alpha);
  for (int i = 1; i < 3; i++) xa = cq_axpy(xa, c->w[i], c->xa[i]), xb = cq_axpy(xb, c->w[i], c->xb[i]);
  xa = cq_add(xa, P->pa), xb = cq_add(xb, P->pb);
  r->a1 = cq_dot(alpha, xa), r->a2 = cq_dot(alpha, xb);
  cq_store(&r->point_a, xa), cq_store(&r->point_b, xb);
  r->column_count = 3;
  for (int i = 0; i < 3; i++) {
    r->vertex_a[i] = c->a[i], r->vertex_b[i] = c->b[i];
    cq_store(&r->column_a[i], cq_add(P->pa, c->xa[i])), cq_store(&r->column_b[i], cq_add(P->pb, c->xb[i]));
    r->weight[i] = c->w[i];
  }
  r->feature_a = feature(c->a, 3), r->feature_b = feature(c->b, 3);
  r->dual_degenerate = r->planar = false;
}

// The plane of the three columns; false when it stands on edge, seen along beta.
CQ_INLINE bool price(const columns *c, carom_quad beta, carom_quad *alpha) {
  carom_quad n = cq_cross(cq_sub(c->d[1], c->d[0]), cq_sub(c->d[2], c->d[0]));
  double area = cq_dot(n, beta);
  *alpha = cq_scale(1 / area, n);
  return area > 0;
}

// The simplex method of ssh.c, from the last basis and as long as there are no ties; d becomes the lowest column along
// alpha. Returns the number of support queries, 0 when it gives up.
CQ_INLINE int descend(const pair *P, columns *c, carom_quad beta, double size, carom_quad *alpha, carom_quad *d) {
  const double least = 3 * CAROM_SSH_TIE * size * size;
  for (int round = 1; round <= 8; round++) {
    if (!surround(c, beta, least) || !price(c, beta, alpha)) return 0;
    low_column low = lowest(P, c, 3, *alpha);
    if (low.at >= 0) return *d = c->d[low.at], round;
    set_column(P, c, 3, low.a, low.b);
    if (!pivot(c, beta, least)) return 0;
  }
  return 0;
}

// Whether the weighted columns give t beta: of a needle of a triangle, areas are round-off in part.
CQ_INLINE bool give(const columns *c, carom_quad beta, double t, double size) {
  carom_quad miss = cq_scale(-t, beta);
  for (int i = 0; i < 3; i++) miss = cq_axpy(miss, c->w[i], c->d[i]);
  return cq_dot(miss, miss) <= CAROM_SSH_MISS * CAROM_SSH_MISS * size * size;
}

bool SSH_AGAIN(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options, carom_ssh_cache *cache,
               carom_ssh_result *r) {
  if (a->shape->kind != CAROM_SHAPE_POLYTOPE || b->shape->kind != CAROM_SHAPE_POLYTOPE || cache->count != 3)
    return false;
  if (a->shape->radius > 0 || b->shape->radius > 0 || (options && options->planar)) return false;
  pair P;
  columns c;
  carom_quad beta, alpha, d;
  double size = a->shape->bounding_radius + b->shape->bounding_radius;
  place(&P, a, b);
  if (!beta_of(&P, options, size, &beta) || !recall(&P, cache, 3, &c)) return false;
  r->pivots = descend(&P, &c, beta, size, &alpha, &d);
  if (r->pivots == 0) return false;
  if (r->pivots > 1)
    for (int i = 0; i < 3; i++) cache->a[i] = c.a[i], cache->b[i] = c.b[i];
  double norm = sqrt(cq_dot(alpha, alpha));
  r->outcome = CAROM_SSH_SOLVED;
  r->gap = cq_dot(alpha, c.d[0]);
  double slack = r->gap - cq_dot(alpha, d);
  cq_store(&r->alpha, alpha), cq_store(&r->beta, beta), cq_store(&r->normal, cq_scale(1 / norm, alpha));
  r->duality_gap = (slack > 0 ? slack : 0) / (size * norm);
  fill_ssh(&P, &c, r);
  if (!give(&c, beta, r->gap, size)) return false;
  return slack <= 8 * DBL_EPSILON * size * norm && norm < DBL_MAX;  // poses that are no numbers end here
}
