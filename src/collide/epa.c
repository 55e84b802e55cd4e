// The expanding polytope algorithm (van den Bergen 2001, "Proximity queries and penetration depth computation on 3D
// game objects"). A polytope inside D grows: its face nearest to the origin is either a part of D's boundary, and then
// the answer, since every other face lies further out; or D reaches beyond it, and its furthest column becomes a
// corner.
//
// Distances are signed, so that the first tetrahedron need not hold the origin: faces that look away from it come
// first.
//
// Columns often lie in one plane or on one line (boxes, equal bodies). A column in the plane of a face leaves the face
// alone; a new face that has no area then takes over the plane of the face across its edge, which it continues, and is
// never looked at as a face of its own.
#include "collide/epa.h"

#include <float.h>
#include <string.h>

#include "collide/survey.h"

// Euler: F = 2 V - 4. Polytopes end with some 20 to 50 corners, curved bodies with 150, and all but some find room in
// less than 32 KB of stack. Only equal bodies in one place, all of whose facets are nearly as near, need more.
#define POINTS_FOR(faces) ((faces) / 2 + 2)
enum { CACHED = 160, SMALL = 304, LARGE = 1024, MOST_POINTS = POINTS_FOR(LARGE) };
enum { SMALL_CACHE = 16 };  // corners kept of small bodies

// A curved difference has no facets to arrive at. Faces of width s lie about s^2 below it, and their normals are known
// to round-off / s.
#define CURVED_TOLERANCE 1e-11
#define CURVED_NEAR 1e-7

// What a search may leave between its bounds, over the size of the bodies, without all facets being looked at.
#define LEFT 1e-13
#define CURVED_LEFT 1e-9

typedef struct face {
  short v[3];         // corners, counter-clockwise from outside
  short neighbor[3];  // across the edge v[k] v[k + 1]
  bool alive, closed;
  carom_vec3 n;
  double distance;
} face;

typedef struct face_edge {
  short face, edge;
} face_edge;

typedef struct polytope {
  double tolerance;  // round-off of a height
  double enough;     // growth below this is not worth another corner
  double near2;      // squared distance below which two columns of a curved surface are one
  int most_faces, point_count, face_count, free_count, horizon_count;
  carom_column *points;  // (POINTS_FOR(most_faces))
  face *faces;           // (most_faces)
  double *key;           // (most_faces) distance, or infinite for dead faces and those without area
  short *free;           // (most_faces)
  face_edge *horizon;    // (3 most_faces / 2) faces that stay, and the edge of each that the growing corner sees
  face_edge *stack;      // (most_faces + 3) edges still to be crossed on the way to the horizon
} polytope;

// Gives a polytope room on the stack of the function that says so.
#define MAKE_ROOM(P, most)                \
  carom_column points_[POINTS_FOR(most)]; \
  face faces_[most];                      \
  double key_[most];                      \
  short free_[most];                      \
  face_edge horizon_[3 * (most) / 2];     \
  face_edge stack_[(most) + 3];           \
  polytope P = {.most_faces = most,       \
                .points = points_,        \
                .faces = faces_,          \
                .key = key_,              \
                .free = free_,            \
                .horizon = horizon_,      \
                .stack = stack_}

static int next(int k) { return k == 2 ? 0 : k + 1; }

// ---- the first tetrahedron -----------------------------------------------------------------------------------------

typedef struct flat {
  int count;
  carom_column c[4];
  carom_vec3 e[3];  // orthonormal, the first count - 1 span the columns
} flat;

static carom_vec3 off(const flat *f, carom_vec3 d) {
  carom_vec3 r = cm_sub(d, f->c[0].d);
  for (int i = 0; i + 1 < f->count; i++) r = cm_axpy(r, -cm_dot(r, f->e[i]), f->e[i]);
  return r;
}

static void extend(flat *f, carom_column c) {
  if (f->count > 0) f->e[f->count - 1] = cm_unit(off(f, c.d));
  f->c[f->count++] = c;
}

// A direction normal to the columns, and one more to try where there is a choice.
static carom_vec3 normal_to(const flat *f, int choice) {
  if (f->count == 1) return choice == 0 ? cm_vec3(1, 0, 0) : choice == 1 ? cm_vec3(0, 1, 0) : cm_vec3(0, 0, 1);
  if (f->count == 3) return cm_cross(f->e[0], f->e[1]);
  carom_vec3 u, v;
  cm_frame(f->e[0], &u, &v);
  return choice == 0 ? u : v;
}

// The column of D furthest from the flat, looked for in all directions normal to it.
static carom_column furthest(carom_difference *D, const flat *f) {
  carom_column best = f->c[0];
  double most = -1;
  for (int choice = 0; choice + f->count < 4; choice++) {
    carom_vec3 n = normal_to(f, choice);
    for (int side = 0; side < 2; side++) {
      carom_vec3 direction = side ? cm_neg(n) : n;
      carom_difference_aim(D, direction);
      carom_column c = carom_difference_lowest(D, direction);
      double r = cm_norm2(off(f, c.d));
      if (r > most) most = r, best = c;
    }
  }
  return best;
}

// Columns of the simplex as far as they are independent, and others to make up four.
static flat first_columns(carom_difference *D, const carom_simplex *s) {
  flat f = {0};
  double least = 1e-6 * D->size;
  extend(&f, s->c[0]);
  for (int i = 1; i < s->count && f.count < 4; i++)
    if (cm_norm2(off(&f, s->c[i].d)) > least * least) extend(&f, s->c[i]);
  while (f.count < 4) extend(&f, furthest(D, &f));
  return f;
}

// ---- faces ---------------------------------------------------------------------------------------------------------

// The plane of a face; false when its corners lie on one line, within round-off.
static bool span(polytope *P, int i) {
  face *f = &P->faces[i];
  carom_vec3 a = P->points[f->v[0]].d, ab = cm_sub(P->points[f->v[1]].d, a), ac = cm_sub(P->points[f->v[2]].d, a);
  carom_vec3 n = cm_cross(ab, ac);
  double nn = cm_norm2(n), line = 64 * P->tolerance * P->tolerance * fmax(cm_norm2(ab), cm_norm2(ac));
  if (!(nn > line)) return false;
  f->n = cm_scale(1 / sqrt(nn), n);
  f->distance = cm_dot(f->n, a);
  P->key[i] = f->distance;
  return true;
}

static void begin(polytope *P, flat first) {
  carom_vec3 a = first.c[0].d, n = cm_cross(cm_sub(first.c[1].d, a), cm_sub(first.c[2].d, a));
  bool swap = cm_dot(n, cm_sub(first.c[3].d, a)) > 0;  // the fourth corner lies behind the first face
  static const short corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const short neighbors[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  P->points[0] = first.c[0], P->points[1] = first.c[swap ? 2 : 1];
  P->points[2] = first.c[swap ? 1 : 2], P->points[3] = first.c[3];
  P->point_count = P->face_count = 4;
  for (int i = 0; i < 4; i++) {
    face *f = &P->faces[i];
    for (int k = 0; k < 3; k++) f->v[k] = corners[i][k], f->neighbor[k] = neighbors[i][k];
    f->alive = true, f->closed = false;
    if (!span(P, i)) P->key[i] = DBL_MAX, f->n = cm_zero3(), f->distance = 0;
  }
}

// ---- growth --------------------------------------------------------------------------------------------------------

static bool sees(const polytope *P, const face *f, carom_vec3 d) {
  return cm_dot(f->n, d) - f->distance > P->tolerance;
}

static void bury(polytope *P, int i) {
  P->faces[i].alive = false;
  P->key[i] = DBL_MAX;
  P->free[P->free_count++] = (short)i;
}

static int edge_towards(const face *f, int other) {
  return f->neighbor[0] == other ? 0 : f->neighbor[1] == other ? 1 : 2;
}

// Buries face i and all those around it that the corner sees, and notes the edges where sight ends, in order around the
// corner: the edges of a face are crossed one after the other, and all that lies behind one before the next.
static void flood(polytope *P, int i, carom_vec3 corner) {
  int count = 0;
  P->horizon_count = 0;
  bury(P, i);
  for (int k = 2; k >= 0; k--) P->stack[count++] = (face_edge){(short)i, (short)k};
  while (count > 0) {
    face_edge from = P->stack[--count];
    short across = P->faces[from.face].neighbor[from.edge];
    const face *f = &P->faces[across];
    if (!f->alive) continue;
    int k = edge_towards(f, from.face);
    if (!sees(P, f, corner)) {
      P->horizon[P->horizon_count++] = (face_edge){across, (short)k};
      continue;
    }
    bury(P, across);
    P->stack[count++] = (face_edge){across, (short)next(next(k))};
    P->stack[count++] = (face_edge){across, (short)next(k)};
  }
}

// The horizon must be one closed loop; round-off may tear it.
static bool is_loop(const polytope *P) {
  if (P->horizon_count < 3) return false;
  for (int i = 0; i < P->horizon_count; i++) {
    face_edge e = P->horizon[i], g = P->horizon[i + 1 < P->horizon_count ? i + 1 : 0];
    if (P->faces[e.face].v[e.edge] != P->faces[g.face].v[next(g.edge)]) return false;
  }
  return true;
}

static bool has_room(const polytope *P) {
  return P->point_count < POINTS_FOR(P->most_faces) &&
         P->horizon_count <= P->free_count + P->most_faces - P->face_count;
}

static short new_face(polytope *P) { return P->free_count > 0 ? P->free[--P->free_count] : (short)P->face_count++; }

// A fan of faces from the newest corner to the horizon.
static void close_fan(polytope *P) {
  short corner = (short)(P->point_count - 1), first = -1, last = -1;
  for (int i = 0; i < P->horizon_count; i++) {
    face_edge e = P->horizon[i];
    face *across = &P->faces[e.face];
    short made = new_face(P);
    face *f = &P->faces[made];
    f->v[0] = across->v[next(e.edge)], f->v[1] = across->v[e.edge], f->v[2] = corner;
    f->neighbor[0] = e.face, f->neighbor[2] = last;
    f->alive = true, f->closed = false;
    across->neighbor[e.edge] = made;
    if (last >= 0) P->faces[last].neighbor[1] = made;
    if (first < 0) first = made;
    last = made;
    if (!span(P, made)) f->n = across->n, f->distance = across->distance, P->key[made] = DBL_MAX;
  }
  P->faces[last].neighbor[1] = first;
  P->faces[first].neighbor[2] = last;
}

typedef enum growth { GROWN, TORN, NO_ROOM } growth;

static growth grow(polytope *P, int i, const carom_column *c) {
  flood(P, i, c->d);
  if (!is_loop(P)) return TORN;
  if (!has_room(P)) return NO_ROOM;
  P->points[P->point_count++] = *c;
  close_fan(P);
  return GROWN;
}

// ---- the nearest face ----------------------------------------------------------------------------------------------

static int nearest_face(const polytope *P) {
  int best = 0;
  for (int i = 1; i < P->face_count; i++)
    if (P->key[i] < P->key[best]) best = i;
  return best;
}

// Whether the polytope has the column already; on a curved surface, one too near to make a face with.
static bool is_corner(const polytope *P, const carom_column *c) {
  for (int i = 0; i < P->point_count; i++) {
    const carom_column *q = &P->points[i];
    if (carom_column_same(q, c) || cm_norm2(cm_sub(q->d, c->d)) <= P->near2) return true;
  }
  return false;
}

// The point of a face that lies nearest to `foot`.
static carom_simplex nearest_to(const polytope *P, const face *f, carom_vec3 foot) {
  carom_simplex s = {.count = 3};
  for (int k = 0; k < 3; k++) {
    s.c[k] = P->points[f->v[k]];
    s.c[k].d = cm_sub(s.c[k].d, foot);
  }
  carom_simplex_nearest(&s);
  return s;
}

// Of the faces in the plane of face i, the one around the foot of the perpendicular.
static void around_foot(const polytope *P, int i, carom_facet *facet) {
  carom_vec3 n = P->faces[i].n, foot = cm_scale(P->faces[i].distance, n);
  double away = fmax(64 * P->tolerance, P->enough);
  carom_simplex best = nearest_to(P, &P->faces[i], foot);
  for (int j = 0; j < P->face_count && best.norm2 > P->tolerance * P->tolerance; j++) {
    const face *f = &P->faces[j];
    bool in_plane = P->key[j] < DBL_MAX && fabs(f->distance - P->faces[i].distance) <= away && cm_dot(f->n, n) > 0.99;
    if (!in_plane) continue;
    carom_simplex s = nearest_to(P, f, foot);
    if (s.norm2 < best.norm2) best = s;
  }
  carom_simplex_polish(&best);
  facet->count = best.count;
  for (int k = 0; k < best.count; k++) {
    facet->c[k] = best.c[k], facet->w[k] = best.w[k];
    facet->c[k].d = cm_add(best.c[k].d, foot);
  }
}

// Whether a support query climbs, and so takes longer than looking at all of a small polytope.
static bool is_large(const carom_difference *D) {
  return D->a.shape->lane_count > CAROM_SCAN_LIMIT || D->b.shape->lane_count > CAROM_SCAN_LIMIT;
}

// ---- the polytope in the cache -------------------------------------------------------------------------------------

// Which face of a tie was nearest depends on where the search began. Small bodies with many ties (prisms, say) need
// many corners: from nothing they cost little and their answers do not depend on the past. Large bodies keep more
// corners, where the nearest face stands alone but for the other half of a parallelogram.
static bool is_worth_keeping(const polytope *P, const carom_difference *D, int nearest, int points) {
  if (points == P->point_count && points <= SMALL_CACHE) return true;
  if (points > CAROM_CACHE_POINTS || !is_large(D)) return false;
  int tied = 0;
  for (int i = 0; i < P->face_count; i++) tied += P->key[i] <= P->key[nearest] + 1e-10 * D->size;
  return tied <= 2;
}

// Numbers for the corners of faces that are left, in order; -1 for the others.
static int number_corners(const polytope *P, short number[MOST_POINTS]) {
  int count = 0;
  for (int i = 0; i < P->point_count; i++) number[i] = -1;
  for (int i = 0; i < P->face_count; i++)
    for (int k = 0; k < 3 && P->faces[i].alive; k++) number[P->faces[i].v[k]] = 0;
  for (int i = 0; i < P->point_count; i++)
    if (number[i] == 0) number[i] = (short)count++;
  return count;
}

// Corners and faces with numbers of their own, the nearest face first. Nothing is kept where a face has no area, or a
// corner no vertices.
static void keep(const polytope *P, const carom_difference *D, int nearest, carom_ssh_cache *cache) {
  if (!cache) return;
  cache->points = cache->faces = 0;
  short number[MOST_POINTS];
  int points = number_corners(P, number);
  if (!is_worth_keeping(P, D, nearest, points)) return;
  for (int i = 0; i < P->point_count; i++) {
    if (number[i] < 0) continue;
    cache->point_a[number[i]] = P->points[i].a, cache->point_b[number[i]] = P->points[i].b;
    if (P->points[i].a < 0 || P->points[i].b < 0) return;
  }
  int count = 0;
  for (int i = -1; i < P->face_count; i++) {
    int k = i < 0 ? nearest : i;
    if (i == nearest || !P->faces[k].alive) continue;
    if (!(P->key[k] < DBL_MAX) || count == CAROM_CACHE_FACES) return;
    for (int c = 0; c < 3; c++) cache->corner[count][c] = (unsigned char)number[P->faces[k].v[c]];
    count++;
  }
  cache->points = points, cache->faces = count;
}

static bool recall_points(polytope *P, carom_difference *D, const carom_ssh_cache *cache) {
  int na = carom_core_count(D->a.shape), nb = carom_core_count(D->b.shape);
  if (cache->count == 0 || cache->points < 4 || cache->points > CAROM_CACHE_POINTS) return false;
  if (cache->faces != 2 * cache->points - 4) return false;
  P->point_count = cache->points;
  for (int i = 0; i < cache->points; i++) {
    int a = cache->point_a[i], b = cache->point_b[i];
    if (a < 0 || b < 0 || a >= na || b >= nb) return false;
    P->points[i] = carom_difference_column(D, a, b);
  }
  int near = cache->corner[0][0] < cache->points ? cache->corner[0][0] : 0;
  D->a.last = cache->point_a[near], D->b.last = cache->point_b[near];
  return true;
}

// Faces know their neighbours by the edge that they run through the other way.
static bool recall_faces(polytope *P, const carom_ssh_cache *cache) {
  short across[CAROM_CACHE_POINTS][CAROM_CACHE_POINTS];
  memset(across, -1, sizeof across);
  P->face_count = cache->faces;
  for (int i = 0; i < cache->faces; i++) {
    face *f = &P->faces[i];
    for (int k = 0; k < 3; k++)
      if ((f->v[k] = cache->corner[i][k]) >= cache->points) return false;
    for (int k = 0; k < 3; k++) {
      if (across[f->v[k]][f->v[next(k)]] >= 0) return false;
      across[f->v[k]][f->v[next(k)]] = (short)i;
    }
    f->alive = true, f->closed = false;
    if (!span(P, i)) return false;
  }
  for (int i = 0; i < cache->faces; i++) {
    face *f = &P->faces[i];
    for (int k = 0; k < 3; k++)
      if ((f->neighbor[k] = across[f->v[next(k)]][f->v[k]]) < 0) return false;
  }
  return true;
}

// ---- the search ----------------------------------------------------------------------------------------------------

typedef enum ending {
  AT_FACET,   // the nearest face is a part of D's boundary
  AT_LIMIT,   // round-off: the nearest face is the best there is
  OUTSIDE,    // the origin is outside of D
  TOO_LARGE,  // no room: likewise
} ending;

static void prepare(polytope *P, const carom_difference *D) {
  P->tolerance = 4 * D->round_off;
  P->enough = carom_difference_is_curved(D) ? CURVED_TOLERANCE * D->size : P->tolerance;
  P->near2 = carom_difference_is_curved(D) ? CURVED_NEAR * CURVED_NEAR * D->size * D->size : -1;
  P->free_count = 0;
}

// What lies furthest out over a small face is near its corners; over a large one it may be anywhere.
static void begin_climb(const polytope *P, carom_difference *D, const face *f) {
  const carom_column *c = &P->points[f->v[0]];
  double width2 = fmax(cm_norm2(cm_sub(P->points[f->v[1]].d, c->d)), cm_norm2(cm_sub(P->points[f->v[2]].d, c->d)));
  if (width2 > 0.1 * D->size * D->size) {
    carom_difference_aim(D, cm_neg(f->n));
    return;
  }
  double most = -DBL_MAX, least = DBL_MAX;  // all corners lie equally far out; the further A's vertex, the nearer B's
  for (int k = 0; k < 3; k++) {
    c = &P->points[f->v[k]];
    double h = cm_dot(f->n, c->xa);
    if (h > most) most = h, D->a.last = c->a > 0 ? c->a : 0;
    if (h < least) least = h, D->b.last = c->b > 0 ? c->b : 0;
  }
}

// Grows until the nearest face, *nearest, is the answer. Of a polytope that may have dents (`convex` is false) a corner
// can lie beyond a face.
static ending expand(polytope *P, carom_difference *D, bool convex, int *nearest, double *upper) {
  *upper = DBL_MAX;
  for (int i = *nearest = nearest_face(P); !P->faces[i].closed; i = *nearest = nearest_face(P)) {
    face f = P->faces[i];
    begin_climb(P, D, &f);
    carom_column c = carom_difference_lowest(D, cm_neg(f.n));
    double reach = cm_dot(f.n, c.d);
    *upper = reach < *upper ? reach : *upper;
    if (reach < -P->tolerance) return OUTSIDE;
    if (reach - f.distance <= P->enough) return AT_FACET;
    if (is_corner(P, &c)) {  // the face is too thin for its plane to be trusted
      if (!convex) return AT_LIMIT;
      P->faces[i].closed = true;
      P->key[i] = reach;
      continue;
    }
    growth g = grow(P, i, &c);
    if (g == GROWN) continue;
    P->faces[i] = f;
    return g == NO_ROOM ? TOO_LARGE : AT_LIMIT;
  }
  return AT_LIMIT;
}

static void fill(const polytope *P, int i, carom_facet *facet) {
  facet->normal = P->faces[i].n;
  facet->depth = facet->lower = P->faces[i].distance;
  around_foot(P, i, facet);
}

static ending search(polytope *P, carom_difference *D, const carom_simplex *s, carom_facet *facet,
                     carom_ssh_cache *cache) {
  int nearest;
  prepare(P, D);
  begin(P, first_columns(D, s));
  ending end = expand(P, D, true, &nearest, &facet->upper);
  fill(P, nearest, facet);
  keep(P, D, nearest, cache);
  return end;
}

// Not inlined: otherwise both rooms would be taken together, and always.
static __attribute__((noinline)) ending search_small(carom_difference *D, const carom_simplex *s, carom_facet *facet,
                                                     carom_ssh_cache *cache) {
  MAKE_ROOM(P, SMALL);
  return search(&P, D, s, facet, cache);
}

static __attribute__((noinline)) ending search_large(carom_difference *D, const carom_simplex *s, carom_facet *facet,
                                                     carom_ssh_cache *cache) {
  MAKE_ROOM(P, LARGE);
  return search(&P, D, s, facet, cache);
}

// Another way to the depth, where the polytope has not proven it; false where it all but has.
static bool give_up(carom_difference *D, carom_facet *facet) {
  double left = (facet->upper - facet->depth) / D->size;
  bool can = carom_survey_can(D);
  if (left <= (can ? LEFT : CURVED_LEFT)) return false;
  if (can)
    carom_survey(D, facet);
  else
    carom_descend(D, facet);
  return true;
}

void carom_epa(carom_difference *D, const carom_simplex *s, carom_facet *facet, carom_ssh_cache *cache) {
  ending end = search_small(D, s, facet, cache);
  if (end == TOO_LARGE) end = search_large(D, s, facet, cache);
  if ((end == TOO_LARGE || end == AT_LIMIT) && give_up(D, facet) && cache) cache->points = cache->faces = 0;
}

// The first tetrahedron from the corners alone; false when they lie in one plane.
static bool widest_columns(const carom_difference *D, const carom_column *c, int count, flat *f) {
  f->count = 0;
  extend(f, c[0]);
  while (f->count < 4) {
    double most = 0;
    int best = 0;
    for (int i = 1; i < count; i++) {
      double r = cm_norm2(off(f, c[i].d));
      if (r > most) most = r, best = i;
    }
    if (!(most > 1e-12 * D->size * D->size)) return false;
    extend(f, c[best]);
  }
  return true;
}

static int face_below(const polytope *P, carom_vec3 d) {
  for (int i = 0; i < P->face_count; i++)
    if (P->key[i] < DBL_MAX && sees(P, &P->faces[i], d)) return i;
  return -1;
}

// The hull of the corners, without a support query: what to do when the bodies have moved so far that the polytope has
// dents.
static bool mend(polytope *P, const carom_difference *D) {
  carom_column c[2 * CAROM_CACHE_POINTS];
  flat first;
  int count = P->point_count < 2 * CAROM_CACHE_POINTS ? P->point_count : 2 * CAROM_CACHE_POINTS;
  memcpy(c, P->points, (size_t)count * sizeof *c);
  if (!widest_columns(D, c, count, &first)) return false;
  P->free_count = 0;
  begin(P, first);
  for (int i = 0; i < count; i++) {
    int below = is_corner(P, &c[i]) ? -1 : face_below(P, c[i].d);
    if (below >= 0 && grow(P, below, &c[i]) != GROWN) return false;
  }
  return true;
}

// Bodies have moved, and the polytope may not be convex any more. What proves the depth is no more than this: its faces
// make a closed surface, all of them turn their outer side away from the origin, and none is nearer than the answer.
// For then every ray from the origin meets one of them, at a distance of at least the depth.
static bool grow_again(polytope *P, carom_difference *D, bool convex, int *nearest, double *upper) {
  return expand(P, D, convex, nearest, upper) == AT_FACET && P->faces[*nearest].distance > P->tolerance;
}

bool carom_epa_again(carom_difference *D, carom_facet *facet, carom_ssh_cache *cache) {
  MAKE_ROOM(P, CACHED);
  int nearest;
  prepare(&P, D);
  if (!recall_points(&P, D, cache) || !recall_faces(&P, cache)) return false;
  if (!grow_again(&P, D, false, &nearest, &facet->upper) &&
      !(is_large(D) && mend(&P, D) && grow_again(&P, D, true, &nearest, &facet->upper)))
    return false;
  fill(&P, nearest, facet);
  keep(&P, D, nearest, cache);
  return true;
}
