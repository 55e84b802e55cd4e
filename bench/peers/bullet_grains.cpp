// Bullet: sequential impulses with their default 10 iterations, dynamic AABB tree, no deactivation.
#include <btBulletDynamicsCommon.h>

#include <new>

#include "granular.h"

namespace {

struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world;
  btSphereShape ball;
  btAlignedObjectArray<btStaticPlaneShape *> planes;
  btAlignedObjectArray<btRigidBody *> bodies;  // the balls, then the planes
  btScalar dt, friction;

  explicit World(const grains_job *job)
      : dispatcher(&configuration),
        world(&dispatcher, &broadphase, &solver, &configuration),
        ball(btScalar(job->radius)),
        dt(btScalar(job->dt)),
        friction(btScalar(btSqrt(btScalar(job->friction)))) {  // Bullet multiplies the two
    btScalar d = btScalar(-0.5 * job->width);
    world.setGravity(btVector3(0, 0, btScalar(-job->gravity)));
    for (int i = 0; i < job->count; i++) addBall(job, job->start[i]);
    addPlane(btVector3(0, 0, 1), 0);
    addPlane(btVector3(1, 0, 0), d), addPlane(btVector3(-1, 0, 0), d);
    addPlane(btVector3(0, 1, 0), d), addPlane(btVector3(0, -1, 0), d);
  }

  void add(const btRigidBody::btRigidBodyConstructionInfo &info) {
    btRigidBody *body = new btRigidBody(info);
    body->setFriction(friction);
    body->setRestitution(0);
    body->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(body);
    bodies.push_back(body);
  }

  void addBall(const grains_job *job, const double *x) {
    btScalar r = btScalar(job->radius), mass = btScalar(job->density * 4 / 3 * 3.141592653589793) * r * r * r;
    btVector3 inertia;
    ball.calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, &ball, inertia);
    info.m_startWorldTransform.setOrigin(btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2])));
    add(info);
  }

  void addPlane(const btVector3 &normal, btScalar offset) {
    planes.push_back(new btStaticPlaneShape(normal, offset));
    add(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, planes[planes.size() - 1]));
  }

  ~World() {
    for (int i = 0; i < bodies.size(); i++) {
      world.removeRigidBody(bodies[i]);
      delete bodies[i];
    }
    for (int i = 0; i < planes.size(); i++) delete planes[i];
  }
};

void *create(const grains_job *job, char *message) {
  World *w = new (std::nothrow) World(job);
  if (!w) snprintf(message, BENCH_MESSAGE, "out of memory");
  return w;
}

bool step(void *world) {
  World *w = static_cast<World *>(world);
  w->world.stepSimulation(w->dt, 0);
  return true;
}

void put(const btVector3 &a, double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = double(a[i]);
}

void read(void *world, int body, double x[3], double v[3], double w[3]) {
  btRigidBody *b = static_cast<World *>(world)->bodies[body];
  put(b->getWorldTransform().getOrigin(), x), put(b->getLinearVelocity(), v), put(b->getAngularVelocity(), w);
}

void destroy(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" const grains_engine grains_bullet = {
    "Bullet", BENCH_BULLET, sizeof(btScalar) == 8 ? "double" : "single", 20000, create, step, read, destroy};
