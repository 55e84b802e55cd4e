// Bullet on convex hulls without margin: btGjkPairDetector with EPA for depths, and btGjkEpaSolver2 by itself, which is
// its fastest way. Neither keeps anything between queries.
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

#include "separation.h"

namespace {

struct World {
  btAlignedObjectArray<btConvexHullShape *> bodies;
  btVoronoiSimplexSolver simplex;
  btGjkEpaPenetrationDepthSolver epa;

  ~World() {
    for (int i = 0; i < bodies.size(); i++) delete bodies[i];
  }
};

btVector3 vector(const carom_vec3 &v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }

btTransform transform(const carom_pose &X) {
  return btTransform(btQuaternion(btScalar(X.q.x), btScalar(X.q.y), btScalar(X.q.z), btScalar(X.q.w)), vector(X.p));
}

void *create(const pair_set *set) {
  World *w = new World;
  for (int i = 0; i < set->body_count; i++) {
    const carom_polytope *p = carom_shape_polytope(set->bodies[i]);
    btConvexHullShape *body = new btConvexHullShape;
    for (int k = 0; k < p->vertex_count; k++) body->addPoint(vector(p->vertices[k]), false);
    body->recalcLocalAabb();
    body->setMargin(0);
    w->bodies.push_back(body);
  }
  return w;
}

void destroy(void *world) { delete static_cast<World *>(world); }

double query(void *world, const pair_case *pair, bool) {
  World *w = static_cast<World *>(world);
  btGjkPairDetector detector(w->bodies[pair->a], w->bodies[pair->b], &w->simplex, &w->epa);
  btGjkPairDetector::ClosestPointInput input;
  input.m_transformA = transform(pair->pose_a);
  input.m_transformB = transform(pair->pose_b);
  btPointCollector result;
  detector.getClosestPoints(input, result, nullptr);
  return result.m_hasResult ? double(result.m_distance) : double(NAN);
}

// Apart, its distance; if that says that they meet, its depth.
double query_epa2(void *world, const pair_case *pair, bool) {
  World *w = static_cast<World *>(world);
  const btConvexHullShape *a = w->bodies[pair->a], *b = w->bodies[pair->b];
  btTransform X = transform(pair->pose_a), Y = transform(pair->pose_b);
  btVector3 guess = X.getOrigin() - Y.getOrigin();
  btGjkEpaSolver2::sResults result;
  if (btGjkEpaSolver2::Distance(a, X, b, Y, guess, result)) return double(result.distance);
  if (btGjkEpaSolver2::Penetration(a, X, b, Y, guess, result, false)) return double(result.distance);
  return double(NAN);
}

const char *const PRECISION = sizeof(btScalar) == 8 ? "double" : "single";

}  // namespace

extern "C" {
const separation_engine separation_bullet = {
    "Bullet GJK+EPA", BENCH_BULLET, PRECISION, false, {true, true, true}, false, create, query, destroy};
const separation_engine separation_bullet_epa2 = {
    "Bullet GjkEpa2", BENCH_BULLET, PRECISION, false, {true, true, true}, false, create, query_epa2, destroy};
}
