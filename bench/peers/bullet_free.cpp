// Bullet: a discrete dynamics world without deactivation. Two variants: its usual broadphase (a dynamic AABB tree),
// with filters that allow no pair; and one that does nothing at all, which is as fast as Bullet can be made.
#include <BulletCollision/CollisionDispatch/btSimulationIslandManager.h>
#include <btBulletDynamicsCommon.h>

#include <new>

#include "bench.h"

namespace {

// Hands out proxies and finds no pairs.
class NoBroadphase : public btBroadphaseInterface {
 public:
  btBroadphaseProxy *createProxy(const btVector3 &low, const btVector3 &high, int, void *user, int group, int mask,
                                 btDispatcher *) override {
    btBroadphaseProxy *proxy = new btBroadphaseProxy(low, high, user, group, mask);
    proxy->m_uniqueId = ++count;
    return proxy;
  }
  void destroyProxy(btBroadphaseProxy *proxy, btDispatcher *) override { delete proxy; }
  void setAabb(btBroadphaseProxy *, const btVector3 &, const btVector3 &, btDispatcher *) override {}
  void getAabb(btBroadphaseProxy *proxy, btVector3 &low, btVector3 &high) const override {
    low = proxy->m_aabbMin;
    high = proxy->m_aabbMax;
  }
  void rayTest(const btVector3 &, const btVector3 &, btBroadphaseRayCallback &, const btVector3 &,
               const btVector3 &) override {}
  void aabbTest(const btVector3 &, const btVector3 &, btBroadphaseAabbCallback &) override {}
  void calculateOverlappingPairs(btDispatcher *) override {}
  btOverlappingPairCache *getOverlappingPairCache() override { return &pairs; }
  const btOverlappingPairCache *getOverlappingPairCache() const override { return &pairs; }
  void getBroadphaseAabb(btVector3 &low, btVector3 &high) const override { low = high = btVector3(0, 0, 0); }
  void printStats() override {}

 private:
  btNullPairCache pairs;
  int count = 0;
};

struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btBroadphaseInterface *broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld *world;
  btBoxShape shape;
  btAlignedObjectArray<btRigidBody *> bodies;
  btScalar dt;

  World(const bench_job *job, btBroadphaseInterface *b)
      : dispatcher(&configuration),
        broadphase(b),
        world(new btDiscreteDynamicsWorld(&dispatcher, broadphase, &solver, &configuration)),
        shape(btVector3(btScalar(job->size[0] / 2), btScalar(job->size[1] / 2), btScalar(job->size[2] / 2))),
        dt(btScalar(job->dt)) {
    world->getSimulationIslandManager()->setSplitIslands(false);  // one pass over all bodies
    world->setGravity(btVector3(btScalar(job->gravity[0]), btScalar(job->gravity[1]), btScalar(job->gravity[2])));
    for (int i = 0; i < job->count; i++) add(job, job->start[i]);
  }

  void add(const bench_job *job, const bench_start &s) {
    btVector3 inertia(btScalar(job->inertia[0]), btScalar(job->inertia[1]), btScalar(job->inertia[2]));
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(job->mass), nullptr, &shape, inertia);
    info.m_startWorldTransform.setOrigin(btVector3(btScalar(s.x[0]), btScalar(s.x[1]), btScalar(s.x[2])));
    info.m_startWorldTransform.setRotation(
        btQuaternion(btScalar(s.q[1]), btScalar(s.q[2]), btScalar(s.q[3]), btScalar(s.q[0])));
    btRigidBody *body = new btRigidBody(info);
    body->setAngularVelocity(btVector3(btScalar(s.w[0]), btScalar(s.w[1]), btScalar(s.w[2])));
    body->setActivationState(DISABLE_DEACTIVATION);
    world->addRigidBody(body, 0, 0);  // no group, no mask: no pairs
    bodies.push_back(body);
  }

  ~World() {
    for (int i = bodies.size() - 1; i >= 0; i--) {
      world->removeRigidBody(bodies[i]);
      delete bodies[i];
    }
    delete world;
    delete broadphase;
  }
};

void *make(const bench_job *job, btBroadphaseInterface *broadphase) { return new World(job, broadphase); }

void *create_dbvt(const bench_job *job, char *) { return make(job, new btDbvtBroadphase()); }
void *create_bare(const bench_job *job, char *) { return make(job, new NoBroadphase()); }

void step(void *world, int steps) {
  World *w = static_cast<World *>(world);
  for (int i = 0; i < steps; i++) w->world->stepSimulation(w->dt, 0);
}

void read_body(void *world, int body, double q[4], double w[3]) {
  const btRigidBody *b = static_cast<World *>(world)->bodies[body];
  btQuaternion a = b->getOrientation();
  q[0] = a.w(), q[1] = a.x(), q[2] = a.y(), q[3] = a.z();
  for (int i = 0; i < 3; i++) w[i] = b->getAngularVelocity()[i];
}

void destroy(void *world) { delete static_cast<World *>(world); }

const char *const PRECISION = sizeof(btScalar) == 8 ? "double" : "single";

}  // namespace

extern "C" {
const bench_engine bench_bullet_dbvt = {"Bullet, AABB tree", BENCH_BULLET, PRECISION, 1000000, nullptr,
                                        create_dbvt,         step,         read_body, destroy};
const bench_engine bench_bullet_bare = {
    "Bullet, no broadphase", BENCH_BULLET, PRECISION, 1000000, nullptr, create_bare, step, read_body, destroy};
}
