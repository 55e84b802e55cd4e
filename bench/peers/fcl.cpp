// FCL: fcl::distance on Convex, with either of its two solvers at their default tolerances (1e-6). Signed distances by
// the first; the second knows gaps only, so that overlapping bodies go on to fcl::collide for the depth.
#include <fcl/geometry/shape/convex.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

#include <cmath>
#include <memory>
#include <vector>

#include "separation.h"

namespace {

struct World {
  std::vector<std::unique_ptr<fcl::Convexd>> bodies;
};

std::unique_ptr<fcl::Convexd> make_body(const carom_polytope *p) {
  auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
  auto faces = std::make_shared<std::vector<int>>();
  for (int i = 0; i < p->vertex_count; i++)
    vertices->push_back(fcl::Vector3d(p->vertices[i].x, p->vertices[i].y, p->vertices[i].z));
  for (int f = 0; f < p->face_count; f++) {
    faces->push_back(p->face_start[f + 1] - p->face_start[f]);
    for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++) faces->push_back(p->face_vertices[i]);
  }
  std::unique_ptr<fcl::Convexd> body(new fcl::Convexd(vertices, p->face_count, faces));
  body->computeLocalAABB();
  return body;
}

void *create(const pair_set *set) {
  World *w = new World;
  for (int i = 0; i < set->body_count; i++) w->bodies.push_back(make_body(carom_shape_polytope(set->bodies[i])));
  return w;
}

void destroy(void *world) { delete static_cast<World *>(world); }

fcl::Transform3d transform(const carom_pose &X) {
  fcl::Transform3d t = fcl::Transform3d::Identity();
  t.linear() = fcl::Quaterniond(X.q.w, X.q.x, X.q.y, X.q.z).toRotationMatrix();
  t.translation() = fcl::Vector3d(X.p.x, X.p.y, X.p.z);
  return t;
}

double depth(const fcl::Convexd *a, const fcl::Transform3d &ta, const fcl::Convexd *b, const fcl::Transform3d &tb,
             fcl::GJKSolverType solver) {
  fcl::CollisionRequestd request(1, true);
  request.gjk_solver_type = solver;
  fcl::CollisionResultd result;
  fcl::collide(a, ta, b, tb, request, result);
  return result.numContacts() > 0 ? -std::fabs(result.getContact(0).penetration_depth) : NAN;  // signs differ
}

double ask(void *world, const pair_case *pair, fcl::GJKSolverType solver) {
  World *w = static_cast<World *>(world);
  const fcl::Convexd *a = w->bodies[pair->a].get(), *b = w->bodies[pair->b].get();
  fcl::Transform3d ta = transform(pair->pose_a), tb = transform(pair->pose_b);
  try {
    fcl::DistanceRequestd request(true, solver == fcl::GST_LIBCCD);
    request.gjk_solver_type = solver;
    fcl::DistanceResultd result;
    fcl::distance(a, ta, b, tb, request, result);
    if (solver == fcl::GST_LIBCCD || result.min_distance > 0) return result.min_distance;
    return depth(a, ta, b, tb, solver);
  } catch (const std::exception &) {
    return NAN;
  }
}

double libccd(void *world, const pair_case *pair, bool) { return ask(world, pair, fcl::GST_LIBCCD); }
double indep(void *world, const pair_case *pair, bool) { return ask(world, pair, fcl::GST_INDEP); }

}  // namespace

extern "C" {
const separation_engine separation_fcl_ccd = {"FCL (libccd)", BENCH_FCL, "double", false,  {true, true, true},
                                              false,          create,    libccd,   destroy};
const separation_engine separation_fcl_indep = {"FCL (indep)", BENCH_FCL, "double", false,  {true, true, true},
                                                false,         create,    indep,    destroy};
}
