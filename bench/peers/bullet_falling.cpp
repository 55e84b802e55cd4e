// The falling cube by Bullet: discrete dynamics world, box on a static plane, restitution 1 on both and no friction,
// or the other way round; no damping, no sleeping; one internal step per step.
#include <btBulletDynamicsCommon.h>

#include <cmath>

#include "falling.h"

namespace {

struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world;
  btBoxShape box;
  btStaticPlaneShape plane;
  btRigidBody *cube, *floor;
  btScalar dt;

  explicit World(const falling_job *job)
      : dispatcher(&configuration),
        world(&dispatcher, &broadphase, &solver, &configuration),
        box(btVector3(btScalar(job->side / 2), btScalar(job->side / 2), btScalar(job->side / 2))),
        plane(btVector3(0, 0, 1), 0),
        dt(btScalar(job->dt)) {
    world.setGravity(btVector3(btScalar(job->gravity * sin(job->slope)), 0, btScalar(-job->gravity * cos(job->slope))));
    world.getSolverInfo().m_restitutionVelocityThreshold = 0;
    btVector3 inertia(btScalar(job->inertia), btScalar(job->inertia), btScalar(job->inertia));
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(job->mass), nullptr, &box, inertia);
    info.m_startWorldTransform.setOrigin(btVector3(0, 0, btScalar(job->height)));
    info.m_startWorldTransform.setRotation(
        btQuaternion(btScalar(job->q[1]), btScalar(job->q[2]), btScalar(job->q[3]), btScalar(job->q[0])));
    info.m_restitution = job->friction > 0 ? 0 : 1, info.m_friction = btScalar(job->friction);
    cube = new btRigidBody(info);
    cube->setActivationState(DISABLE_DEACTIVATION);
    cube->setLinearVelocity(btVector3(btScalar(job->velocity), 0, 0));
    world.addRigidBody(cube);
    btRigidBody::btRigidBodyConstructionInfo ground(0, nullptr, &plane);
    ground.m_restitution = job->friction > 0 ? 0 : 1, ground.m_friction = job->friction > 0 ? 1 : 0;
    floor = new btRigidBody(ground);
    world.addRigidBody(floor);
  }

  ~World() {
    world.removeRigidBody(cube);
    world.removeRigidBody(floor);
    delete cube;
    delete floor;
  }
};

void *create(const falling_job *job) { return new World(job); }
void step(void *world) {
  World *w = static_cast<World *>(world);
  w->world.stepSimulation(w->dt, 0);
}
void read_body(void *world, falling_body *b) {
  const btRigidBody *c = static_cast<World *>(world)->cube;
  btQuaternion q = c->getOrientation();
  b->q[0] = q.w(), b->q[1] = q.x(), b->q[2] = q.y(), b->q[3] = q.z();
  for (int i = 0; i < 3; i++) {
    b->x[i] = c->getCenterOfMassPosition()[i];
    b->v[i] = c->getLinearVelocity()[i];
    b->w[i] = c->getAngularVelocity()[i];
  }
}
void destroy(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" const falling_engine falling_bullet = {
    "Bullet", BENCH_BULLET, sizeof(btScalar) == 8 ? "double" : "single", create, step, read_body, destroy};
