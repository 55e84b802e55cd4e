// carom_distance_again, for quads of either kind.
#include "collide/again_pair.h"

// The nearest point of an edge, as carom_foot_on_edge finds it.
CQ_INLINE bool weigh_edge(columns *c, carom_quad *foot) {
  carom_quad a = c->d[0], b = c->d[1], e = cq_sub(b, a);
  double wa = cq_dot(b, e), wb = -cq_dot(a, e);
  if (!(wa > 0 && wb > 0)) return false;
  double inverse = 1 / (wa + wb);
  wa *= inverse, wb *= inverse;
  carom_quad p = wa > wb ? cq_axpy(a, wb, e) : cq_axpy(b, -wa, e);
  *foot = cq_axpy(p, -cq_dot(p, e) * inverse, e);
  c->w[0] = wa, c->w[1] = wb;
  return true;
}

// With n = ab x ac the foot is p = (n.a / n.n) n = a + w1 ab + w2 ac; n . ((p - a) x ac) = w1 n.n, and p x ac is normal
// to n, so that w1 = a . (n x ac) / n.n = ac . (a x n) / n.n. Likewise w2 = -ab . (a x n) / n.n.
CQ_INLINE bool weigh_face(columns *c, carom_quad *foot, carom_quad *direction) {
  carom_quad a = c->d[0], ab = cq_sub(c->d[1], a), ac = cq_sub(c->d[2], a), n = cq_cross(ab, ac);
  double nn = cq_dot(n, n);
  if (!(nn > 1e-20 * cq_dot(ab, ab) * cq_dot(ac, ac))) return false;  // needles want the care of gjk.c
  double inverse = 1 / nn;
  c->w[1] = cq_dot(a, cq_cross(n, ac)) * inverse, c->w[2] = cq_dot(a, cq_cross(ab, n)) * inverse;
  c->w[0] = 1 - c->w[1] - c->w[2];
  double h = cq_dot(n, a);
  *foot = cq_scale(h * inverse, n);
  *direction = cq_flip(n, h);  // known before the division ends
  return true;
}

// The nearest point of the columns, its direction and its weights; false when not all columns carry it.
CQ_INLINE bool weigh(columns *c, int count, carom_quad *p, carom_quad *direction) {
  const double least = 1e-12;
  if (count == 3) return weigh_face(c, p, direction) && c->w[0] > least && c->w[1] > least && c->w[2] > least;
  bool good = true;
  if (count == 1)
    *p = c->d[0], c->w[0] = 1;
  else
    good = weigh_edge(c, p) && c->w[0] > least && c->w[1] > least;
  *direction = *p;
  return good;
}

// The answer from columns that carry p, d being the lowest one of all; false when round-off has spoilt p.
CQ_INLINE bool fill(const pair *P, const columns *c, int count, carom_quad p, double norm2, carom_quad d,
                    carom_distance_result *r) {
  double norm = sqrt(norm2), inverse = 1 / norm, ra = P->a->radius, rb = P->b->radius;
  double size = P->a->bounding_radius + P->b->bounding_radius, slack = (norm2 - cq_dot(p, d)) * inverse;
  carom_quad n = cq_scale(inverse, p), xa = cq_scale(-ra, n), xb = cq_scale(rb, n);
  r->distance = norm - ra - rb;
  cq_store(&r->normal, n);
  r->column_count = count;
  for (int i = 0; i < count; i++) {
    xa = cq_axpy(xa, c->w[i], c->xa[i]), xb = cq_axpy(xb, c->w[i], c->xb[i]);
    r->vertex_a[i] = c->a[i], r->vertex_b[i] = c->b[i], r->weight[i] = c->w[i];
  }
  for (int i = count; i < 3; i++) r->vertex_a[i] = r->vertex_b[i] = 0, r->weight[i] = 0;
  cq_store(&r->point_a, cq_add(xa, P->pa)), cq_store(&r->point_b, cq_add(xb, P->pb));
  r->feature_a = feature(c->a, count), r->feature_b = feature(c->b, count);
  r->iterations = 1;
  r->duality_gap = (slack > 0 ? slack : 0) / size;  // without a branch
  return slack <= DBL_EPSILON * (size + norm);
}

// Not so near that round-off speaks, nor so far that poses cannot be numbers.
CQ_INLINE bool is_apart(const pair *P, double norm2) {
  double round_off = 8 * DBL_EPSILON * (P->a->bounding_radius + P->b->bounding_radius);
  return norm2 > round_off * round_off && norm2 < DBL_MAX;
}

// Directions swing wildly when bodies all but touch and the columns are not the right ones. On large bodies every swing
// is a long climb: carom_distance knows better then.
CQ_INLINE bool swings(const pair *P) {
  double size = P->a->bounding_radius + P->b->bounding_radius;
  bool large = P->a->lane_count > CAROM_SCAN_LIMIT && P->b->lane_count > CAROM_SCAN_LIMIT;
  return large && cq_dot(P->delta, P->delta) < 1.3 * size * size;
}

// The centre of D lies beyond p when the bodies are apart; otherwise p looks the wrong way.
CQ_INLINE bool looks_away(const pair *P, carom_quad p, double norm2) {
  if (P->a->lane_count <= CAROM_SCAN_LIMIT) return false;  // a scan costs no more
  carom_quad c = cq_sub(cq_mulv(&P->Ra, &P->a->center), cq_mulv(&P->Rb, &P->b->center));
  return cq_dot(p, cq_add(c, P->delta)) < norm2;
}

// One case for each number of columns, so that loops are unrolled and all stays in registers. When the columns carry p
// but one lies lower, it is put behind them, and *last is |p|^2.
CQ_INLINE bool again(const pair *P, columns *c, int count, carom_distance_result *result, double *last) {
  carom_quad p, direction;
  *last = DBL_MAX;
  if (!weigh(c, count, &p, &direction)) return false;
  double norm2 = cq_dot(p, p);
  if (!is_apart(P, norm2) || looks_away(P, p, norm2)) return false;
  low_column low = lowest(P, c, count, direction);
  if (low.at < 0) {  // as low as the others, if round-off says so
    set_column(P, c, low.at = count, low.a, low.b);
    *last = norm2;
  }
  return fill(P, c, count, p, norm2, c->d[low.at], result);
}

// ---- a few steps away ----------------------------------------------------------------------------------------------

// The nearest point of a few columns, and the one to three that carry it.
typedef struct nearest {
  carom_quad p;
  double norm2, w[3];
  int count, index[3];
} nearest;

CQ_INLINE void consider(const columns *from, int i, int j, int k, int count, nearest *best) {
  columns c;
  carom_quad p, direction;
  c.d[0] = from->d[i], c.d[1] = from->d[j], c.d[2] = from->d[k];
  if (!weigh(&c, count, &p, &direction)) return;
  double norm2 = cq_dot(p, p);
  if (!(norm2 < best->norm2)) return;
  best->count = count, best->p = p, best->norm2 = norm2;
  best->index[0] = i, best->index[1] = j, best->index[2] = k;
  for (int m = 0; m < count; m++) best->w[m] = c.w[m];
}

// All corners, edges and faces of the columns; only those with the last one when it has just been added, since the
// others have been looked at before.
CQ_INLINE void nearest_of(const columns *c, int count, bool with_last, nearest *best) {
  *best = (nearest){.norm2 = DBL_MAX};
  for (int k = count - 1; k >= (with_last ? count - 1 : 0); k--) {
    consider(c, k, k, k, 1, best);
    for (int j = 0; j < k; j++) {
      consider(c, j, k, k, 2, best);
      for (int i = 0; i < j; i++) consider(c, i, j, k, 3, best);
    }
  }
}

// Those that carry the nearest point move to the front; their numbers rise, so that none is lost on the way.
CQ_INLINE void keep_nearest(columns *c, const nearest *best) {
  for (int i = 0; i < best->count; i++) {
    copy_column(c, i, c, best->index[i]);
    c->w[i] = best->w[i];
  }
}

// GJK (gjk.c) without its care for degenerate columns, from the columns of the last query. The last of them is new when
// the others are known to come as near as `last`. Gives up, rather than being wrong, when |p| does not fall.
CQ_APART bool walk(const pair *P, columns *c, int count, double last, carom_ssh_cache *cache,
                   carom_distance_result *result) {
  nearest best;
  bool with_last = last < DBL_MAX;
  for (int round = with_last ? 2 : 1; round <= 6; round++, with_last = true) {
    nearest_of(c, count, with_last, &best);
    if (!(best.norm2 < last) || !is_apart(P, best.norm2)) return false;
    keep_nearest(c, &best);
    low_column low = lowest(P, c, best.count, best.p);
    if (low.at >= 0) {
      cache->count = best.count;
      for (int i = 0; i < best.count; i++) cache->a[i] = c->a[i], cache->b[i] = c->b[i];
      bool good = fill(P, c, best.count, best.p, best.norm2, c->d[low.at], result);
      result->iterations = round;
      return good;
    }
    last = best.norm2, count = best.count + 1;
    set_column(P, c, best.count, low.a, low.b);
  }
  return false;
}

// ---- overlapping bodies --------------------------------------------------------------------------------------------

// A face of the cached polytope: h = n . corner, so that its plane lies h / |n| from the origin.
typedef struct face {
  carom_quad n;
  double h, nn;
} face;

enum { POINT_MASK = CAROM_CACHE_POINTS - 1 };  // a spoilt cache must not lead out of the array

CQ_INLINE face face_of(const carom_quad *d, const unsigned char *v) {
  carom_quad a = d[v[0] & POINT_MASK];
  face f;
  f.n = cq_cross(cq_sub(d[v[1] & POINT_MASK], a), cq_sub(d[v[2] & POINT_MASK], a));
  f.h = cq_dot(f.n, a), f.nn = cq_dot(f.n, f.n);
  return f;
}

CQ_INLINE bool recall_points(const pair *P, const carom_ssh_cache *cache, carom_quad *d) {
  const carom_polytope *a = &P->a->polytope, *b = &P->b->polytope;
  for (int i = 0; i < cache->points; i++) {
    unsigned va = (unsigned)cache->point_a[i], vb = (unsigned)cache->point_b[i];
    if (va >= (unsigned)a->vertex_count || vb >= (unsigned)b->vertex_count) return false;
    d[i] = cq_add(cq_sub(cq_mulv(&P->Ra, &a->vertices[va]), cq_mulv(&P->Rb, &b->vertices[vb])), P->delta);
  }
  for (int i = cache->points; i < CAROM_CACHE_POINTS; i++) d[i] = cq_sub(P->delta, P->delta);
  return true;
}

// Whether all faces turn away from the origin and none is nearer than `f`.
CQ_INLINE bool faces_hold(const carom_quad *d, const carom_ssh_cache *cache, const face *f) {
  bool hold = f->h > 0;
  double h2 = f->h * f->h * (1 - 4 * DBL_EPSILON);
  for (int i = 0; i < cache->faces; i++) {
    face g = face_of(d, cache->corner[i]);
    hold = hold & (g.h > 0) & (g.h * g.h * f->nn >= h2 * g.nn);
  }
  return hold;
}

static int nearest_face(const carom_quad *d, const carom_ssh_cache *cache) {
  int found = 0;
  double least = DBL_MAX;
  for (int i = 0; i < cache->faces; i++) {
    face g = face_of(d, cache->corner[i]);
    double distance2 = g.h * fabs(g.h) / g.nn;
    if (distance2 < least) least = distance2, found = i;
  }
  return found;
}

// Weights of the foot of the perpendicular on a face, as in weigh_face.
CQ_INLINE bool weigh_foot(const carom_quad *d, const unsigned char *v, const face *f, double w[3]) {
  const double least = 1e-12;
  carom_quad a = d[v[0] & POINT_MASK], ab = cq_sub(d[v[1] & POINT_MASK], a), ac = cq_sub(d[v[2] & POINT_MASK], a);
  double inverse = 1 / f->nn;
  w[1] = cq_dot(a, cq_cross(f->n, ac)) * inverse, w[2] = cq_dot(a, cq_cross(ab, f->n)) * inverse;
  w[0] = 1 - w[1] - w[2];
  return w[0] > least && w[1] > least && w[2] > least;
}

// The face around the foot: the nearest, k, or one in the same plane (a parallelogram is two faces).
CQ_INLINE int face_around_foot(const carom_quad *d, const carom_ssh_cache *cache, int k, face *f, double w[3]) {
  if (weigh_foot(d, cache->corner[k], f, w)) return k;
  double h2 = f->h * f->h * (1 + 64 * DBL_EPSILON), nn = f->nn;
  for (int i = 0; i < cache->faces; i++) {
    face g = face_of(d, cache->corner[i]);
    if (g.h * g.h * nn > h2 * g.nn || !weigh_foot(d, cache->corner[i], &g, w)) continue;
    *f = g;
    return i;
  }
  return -1;
}

CQ_INLINE carom_quad mix(const carom_quad3 *R, const carom_polytope *p, const int v[3], const double w[3]) {
  carom_vec3 x;
  carom_quad sum = cq_scale(w[0], cq_of(&p->vertices[v[0]]));
  sum = cq_axpy(cq_axpy(sum, w[1], cq_of(&p->vertices[v[1]])), w[2], cq_of(&p->vertices[v[2]]));
  cq_store(&x, sum);
  return cq_mulv(R, &x);
}

// How far D reaches along n; at least as far as the face, whose columns are those of the result.
CQ_INLINE double reach_of(const pair *P, const carom_distance_result *r, carom_quad n, double depth) {
  const carom_polytope *a = &P->a->polytope, *b = &P->b->polytope;
  int va = vertex_of(P->a, cq_tmulv(&P->Ra, cq_neg(n)), r->vertex_a[0]);
  int vb = vertex_of(P->b, cq_tmulv(&P->Rb, n), r->vertex_b[0]);
  for (int i = 0; i < 3; i++)
    if (r->vertex_a[i] == va && r->vertex_b[i] == vb) return depth;
  carom_quad x = cq_sub(cq_mulv(&P->Ra, &a->vertices[va]), cq_mulv(&P->Rb, &b->vertices[vb]));
  return cq_dot(n, cq_add(x, P->delta));
}

CQ_INLINE void fill_depth(const pair *P, carom_quad n, double depth, carom_distance_result *r) {
  double ra = P->a->radius, rb = P->b->radius;
  r->distance = -depth - ra - rb;
  cq_store(&r->normal, cq_neg(n));
  cq_store(&r->point_a, cq_add(cq_axpy(mix(&P->Ra, &P->a->polytope, r->vertex_a, r->weight), ra, n), P->pa));
  cq_store(&r->point_b, cq_add(cq_axpy(mix(&P->Rb, &P->b->polytope, r->vertex_b, r->weight), -rb, n), P->pb));
  r->feature_a = feature(r->vertex_a, 3), r->feature_b = feature(r->vertex_b, 3);
  r->iterations = 1;
  r->column_count = 3;
}

static void put_first(carom_ssh_cache *cache, int k) {
  for (int i = 0; i < 3; i++) {
    unsigned char v = cache->corner[0][i];
    cache->corner[0][i] = cache->corner[k][i], cache->corner[k][i] = v;
  }
}

// The cached polytope once more: if its nearest face is a part of D's boundary and the others are no nearer, it tells
// the depth (carom_epa_again says why that is enough).
CQ_APART bool depth_again(const pair *P, carom_ssh_cache *cache, carom_distance_result *result) {
  carom_quad d[CAROM_CACHE_POINTS];
  if (cache->points < 4 || cache->points > CAROM_CACHE_POINTS || cache->faces != 2 * cache->points - 4) return false;
  if (!recall_points(P, cache, d)) return false;
  int k = 0;  // nearest last time
  face f = face_of(d, cache->corner[0]);
  if (!faces_hold(d, cache, &f)) {
    k = nearest_face(d, cache);
    f = face_of(d, cache->corner[k]);
    if (!faces_hold(d, cache, &f)) return false;
  }
  k = face_around_foot(d, cache, k, &f, result->weight);
  if (k < 0) return false;
  for (int i = 0; i < 3; i++) {
    int v = cache->corner[k][i];
    if (v >= cache->points) return false;
    result->vertex_a[i] = cache->point_a[v], result->vertex_b[i] = cache->point_b[v];
  }
  double inverse = 1 / sqrt(f.nn), depth = f.h * inverse, size = P->a->bounding_radius + P->b->bounding_radius;
  carom_quad n = cq_scale(inverse, f.n);
  double slack = reach_of(P, result, n, depth) - depth;
  double tolerance = 4 * DBL_EPSILON * (size + sqrt(cq_dot(P->delta, P->delta)));
  if (!(slack <= tolerance && depth > tolerance)) return false;
  if (k > 0) put_first(cache, k);
  fill_depth(P, n, depth, result);
  result->duality_gap = (slack > 0 ? slack : 0) / size;
  return true;
}

bool DISTANCE_AGAIN(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                    carom_distance_result *result) {
  int count = cache->count;
  if (a->shape->kind != CAROM_SHAPE_POLYTOPE || b->shape->kind != CAROM_SHAPE_POLYTOPE) return false;
  if (count < 1 || count > 3) return false;
  pair P;
  columns c;
  place(&P, a, b);
  if (cache->points > 0) return depth_again(&P, cache, result);
  if (!recall(&P, cache, count, &c)) return false;
  double last;
  bool found = count == 1   ? again(&P, &c, 1, result, &last)
               : count == 2 ? again(&P, &c, 2, result, &last)
                            : again(&P, &c, 3, result, &last);
  if (found) return true;
  return !swings(&P) && walk(&P, &c, last < DBL_MAX ? count + 1 : count, last, cache, result);
}
