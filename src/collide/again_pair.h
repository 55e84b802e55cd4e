// What the functions of again.h share, for quads of either kind.
#ifndef CAROM_SRC_COLLIDE_AGAIN_PAIR_H
#define CAROM_SRC_COLLIDE_AGAIN_PAIR_H

#include <float.h>

#include "collide/again.h"

#ifdef CAROM_QUAD_AVX2
#include "collide/scan_lanes.h"
#define CAROM_AGAIN_SCAN carom_scan_lanes
#else
#define CAROM_AGAIN_SCAN carom_scan_lowest
#endif

typedef struct pair {
  carom_quad3 Ra, Rb;
  carom_quad pa, pb, delta;  // positions, and A's minus B's
  const carom_shape *a, *b;
} pair;

CQ_INLINE void place(pair *P, const carom_placed *a, const carom_placed *b) {
  P->a = a->shape, P->b = b->shape;
  cq_rotations(&a->pose.q, &b->pose.q, &P->Ra, &P->Rb);
  P->pa = cq_of(&a->pose.p), P->pb = cq_of(&b->pose.p);
  P->delta = cq_sub(P->pa, P->pb);
}

enum { MOST_COLUMNS = 4 };

typedef struct columns {
  int a[MOST_COLUMNS], b[MOST_COLUMNS];                            // vertices
  carom_quad xa[MOST_COLUMNS], xb[MOST_COLUMNS], d[MOST_COLUMNS];  // relative to the bodies' positions; differences
  double w[3];
} columns;

CQ_INLINE void set_column(const pair *P, columns *c, int i, int a, int b) {
  c->a[i] = a, c->b[i] = b;
  c->xa[i] = cq_mulv(&P->Ra, &P->a->polytope.vertices[a]);
  c->xb[i] = cq_mulv(&P->Rb, &P->b->polytope.vertices[b]);
  c->d[i] = cq_add(cq_sub(c->xa[i], c->xb[i]), P->delta);
}

CQ_INLINE void copy_column(columns *to, int i, const columns *from, int k) {
  to->a[i] = from->a[k], to->b[i] = from->b[k];
  to->xa[i] = from->xa[k], to->xb[i] = from->xb[k], to->d[i] = from->d[k];
}

CQ_INLINE bool recall(const pair *P, const carom_ssh_cache *cache, int count, columns *c) {
  unsigned na = (unsigned)P->a->polytope.vertex_count, nb = (unsigned)P->b->polytope.vertex_count;
  for (int i = 0; i < count; i++) {
    if ((unsigned)cache->a[i] >= na || (unsigned)cache->b[i] >= nb) return false;
    set_column(P, c, i, cache->a[i], cache->b[i]);
  }
  return true;
}

CQ_INLINE int vertex_of(const carom_shape *shape, carom_vec3 local, int start) {
  if (shape->lane_count > CAROM_SCAN_LIMIT) return carom_polytope_climb(&shape->polytope, cm_neg(local), start);
  int i = CAROM_AGAIN_SCAN(shape->lanes[0], shape->lanes[1], shape->lanes[2], shape->lane_count, local);
  return i < shape->polytope.vertex_count ? i : 0;
}

// The lowest column along a direction: which of those at hand it is, or -1 and its vertices.
typedef struct low_column {
  int at, a, b;
} low_column;

CQ_INLINE low_column lowest(const pair *P, const columns *c, int count, carom_quad direction) {
  low_column low = {.at = -1};
  low.a = vertex_of(P->a, cq_tmulv(&P->Ra, direction), c->a[count - 1]);
  low.b = vertex_of(P->b, cq_tmulv(&P->Rb, cq_neg(direction)), c->b[count - 1]);
  for (int i = 0; i < count; i++)
    if (c->a[i] == low.a && c->b[i] == low.b) low.at = i;
  return low;
}

static carom_feature feature(const int *v, int count) {
  if (count == 1) return CAROM_FEATURE_VERTEX;
  if (count == 2) return v[0] == v[1] ? CAROM_FEATURE_VERTEX : CAROM_FEATURE_EDGE;
  bool p = v[0] == v[1], q = v[1] == v[2], r = v[2] == v[0];
  if (p && q) return CAROM_FEATURE_VERTEX;
  return p || q || r ? CAROM_FEATURE_EDGE : CAROM_FEATURE_FACE;
}

#endif
