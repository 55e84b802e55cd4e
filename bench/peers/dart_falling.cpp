// The falling cube by DART: a box above a large fixed box, restitution 1 on both, no friction, its default solver.
#include <dart/dart.hpp>

#include "falling.h"

namespace {

using namespace dart;

struct World {
  simulation::WorldPtr world = simulation::World::create();
  dynamics::SkeletonPtr cube = dynamics::Skeleton::create("cube"), floor = dynamics::Skeleton::create("floor");
};

void dress(dynamics::ShapeNode *node) {
  node->getDynamicsAspect()->setRestitutionCoeff(1);
  node->getDynamicsAspect()->setFrictionCoeff(0);
}

void *create(const falling_job *job) {
  World *w = new World;
  w->world->setGravity(Eigen::Vector3d(0, 0, -job->gravity));
  w->world->setTimeStep(job->dt);
  auto pair = w->cube->createJointAndBodyNodePair<dynamics::FreeJoint>();
  auto box = std::make_shared<dynamics::BoxShape>(Eigen::Vector3d::Constant(job->side));
  dress(pair.second->createShapeNodeWith<dynamics::CollisionAspect, dynamics::DynamicsAspect>(box));
  dynamics::Inertia inertia(job->mass, Eigen::Vector3d::Zero(), job->inertia * Eigen::Matrix3d::Identity());
  pair.second->setInertia(inertia);
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.linear() = Eigen::Quaterniond(job->q[0], job->q[1], job->q[2], job->q[3]).toRotationMatrix();
  pose.translation() = Eigen::Vector3d(0, 0, job->height);
  pair.first->setTransform(pose);
  auto weld = w->floor->createJointAndBodyNodePair<dynamics::WeldJoint>();
  auto slab = std::make_shared<dynamics::BoxShape>(Eigen::Vector3d(100, 100, 1));
  dress(weld.second->createShapeNodeWith<dynamics::CollisionAspect, dynamics::DynamicsAspect>(slab));
  Eigen::Isometry3d below = Eigen::Isometry3d::Identity();
  below.translation() = Eigen::Vector3d(0, 0, -0.5);
  weld.first->setTransformFromParentBodyNode(below);
  w->world->addSkeleton(w->cube);
  w->world->addSkeleton(w->floor);
  return w;
}

void step(void *world) { static_cast<World *>(world)->world->step(); }

void read_body(void *world, falling_body *b) {
  const dynamics::BodyNode *body = static_cast<World *>(world)->cube->getBodyNode(0);
  Eigen::Quaterniond q(body->getWorldTransform().linear());
  Eigen::Vector3d x = body->getWorldTransform().translation(), v = body->getCOMLinearVelocity();
  Eigen::Vector3d s = body->getAngularVelocity();
  b->q[0] = q.w(), b->q[1] = q.x(), b->q[2] = q.y(), b->q[3] = q.z();
  for (int i = 0; i < 3; i++) b->x[i] = x[i], b->v[i] = v[i], b->w[i] = s[i];
}

void destroy(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" const falling_engine falling_dart = {"DART", BENCH_DART, "double", create, step, read_body, destroy};
