// libccd: GJK with EPA, and MPR. Both tell a depth when the bodies overlap, and only that they do not otherwise.
// Support by a scan up to 32 vertices, by climbing the vertex graph from the last answer above.
#include <ccd/ccd.h>
#include <stdlib.h>

#include "separation.h"

typedef struct ccd_body {
  const carom_polytope *polytope;
  carom_mat3 R;
  carom_vec3 p;
  int last;
} ccd_body;

typedef struct ccd_world {
  const pair_set *set;
  ccd_t ccd;
} ccd_world;

static int scan(const carom_polytope *p, carom_vec3 d) {
  int best = 0;
  double most = cm_dot(p->vertices[0], d);
  for (int i = 1; i < p->vertex_count; i++) {
    double s = cm_dot(p->vertices[i], d);
    if (s > most) most = s, best = i;
  }
  return best;
}

static int climb(const carom_polytope *p, carom_vec3 d, int start) {
  double most = cm_dot(p->vertices[start], d);
  for (int at = -1; at != start;) {
    at = start;
    for (int k = p->neighbor_start[at]; k < p->neighbor_start[at + 1]; k++) {
      double s = cm_dot(p->vertices[p->neighbors[k]], d);
      if (s > most) most = s, start = p->neighbors[k];
    }
  }
  return start;
}

// The pointer that libccd hands through is const, but the body is ours.
static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *point) {
  ccd_body *b = *(ccd_body *const *)object;
  carom_vec3 d = cm_tmulv(b->R, cm_vec3(direction->v[0], direction->v[1], direction->v[2]));
  b->last = b->polytope->vertex_count > 32 ? climb(b->polytope, d, b->last) : scan(b->polytope, d);
  carom_vec3 x = cm_add(b->p, cm_mulv(b->R, b->polytope->vertices[b->last]));
  ccdVec3Set(point, x.x, x.y, x.z);
}

static void center(const void *object, ccd_vec3_t *point) {
  const ccd_body *b = *(ccd_body *const *)object;
  ccdVec3Set(point, b->p.x, b->p.y, b->p.z);
}

static void *create(const pair_set *set) {
  ccd_world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->set = set;
  CCD_INIT(&w->ccd);
  w->ccd.support1 = w->ccd.support2 = support;
  w->ccd.center1 = w->ccd.center2 = center;
  w->ccd.max_iterations = 500;
  w->ccd.epa_tolerance = 1e-12;  // exact for 3 to 8 percent more time; the default 1e-4 can miss the whole depth
  w->ccd.mpr_tolerance = 1e-8;
  return w;
}

static ccd_body body_of(const ccd_world *w, int body, carom_pose pose) {
  return (ccd_body){carom_shape_polytope(w->set->bodies[body]), cm_rotation(pose.q), pose.p, 0};
}

typedef int (*method)(const void *, const void *, const ccd_t *, ccd_real_t *, ccd_vec3_t *, ccd_vec3_t *);

static double ask(ccd_world *w, const pair_case *pair, method penetration) {
  ccd_body a = body_of(w, pair->a, pair->pose_a), b = body_of(w, pair->b, pair->pose_b), *pa = &a, *pb = &b;
  ccd_real_t depth;
  ccd_vec3_t direction, position;
  int found = penetration(&pa, &pb, &w->ccd, &depth, &direction, &position);
  return found == 0 ? -depth : found == -1 ? INFINITY : NAN;
}

static double gjk(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  return ask(world, pair, ccdGJKPenetration);
}

static double mpr(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  return ask(world, pair, ccdMPRPenetration);
}

#define OVERLAP_ONLY \
  { false, false, true }
const separation_engine separation_ccd_gjk = {"libccd GJK+EPA", BENCH_CCD, "double", false, OVERLAP_ONLY, false,
                                              create,           gjk,       free};
const separation_engine separation_ccd_mpr = {"libccd MPR", BENCH_CCD, "double", false, OVERLAP_ONLY,
                                              false,        create,    mpr,      free};
