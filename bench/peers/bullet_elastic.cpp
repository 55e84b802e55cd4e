// Bullet's deformable bodies: a tetrahedral body with its neo-Hookean force, explicit, no gravity, no damping, nothing
// to collide with and no self-collision.
#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btDeformableNeoHookeanForce.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

#include <new>

#include "elastic.h"

namespace {

struct World {
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btDeformableBodySolver bodySolver;
  btDeformableMultiBodyConstraintSolver solver;
  btDeformableMultiBodyDynamicsWorld world;
  btDeformableNeoHookeanForce force;
  btSoftBody *body;
  btScalar dt;

  explicit World(const elastic_job *job)
      : dispatcher(&configuration),
        world(&dispatcher, &broadphase, makeSolver(), &configuration, &bodySolver),
        force(btScalar(job->mu), btScalar(job->lambda), btScalar(0)),
        body(makeBody(job)),
        dt(btScalar(job->dt)) {
    world.setGravity(btVector3(0, 0, 0));
    world.setImplicit(false);
    world.setLineSearch(false);
    fill(job);
    world.addSoftBody(body);
    world.addForce(body, &force);
  }

  btDeformableMultiBodyConstraintSolver *makeSolver() {
    solver.setDeformableSolver(&bodySolver);
    return &solver;
  }

  btSoftBody *makeBody(const elastic_job *job) {
    btAlignedObjectArray<btVector3> x;
    btAlignedObjectArray<btScalar> mass;
    for (int i = 0; i < job->node_count; i++) {
      x.push_back(vector(job->nodes + 3 * i));
      mass.push_back(btScalar(job->mass[i]));
    }
    return new btSoftBody(&world.getWorldInfo(), job->node_count, &x[0], &mass[0]);
  }

  static btVector3 vector(const double *p) { return btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])); }

  void fill(const elastic_job *job) {
    for (int i = 0; i < job->node_count; i++)
      body->m_nodes[i].m_v = body->m_nodes[i].m_vn = vector(job->velocity + 3 * i);
    for (int i = 0; i < job->tet_count; i++) {
      const int *t = job->tets + 4 * i;
      body->appendTetra(t[0], t[1], t[2], t[3]);
    }
    body->m_cfg.kDP = 0, body->m_cfg.kDG = 0, body->m_cfg.drag = 0;
    body->setDampingCoefficient(0);
    body->m_sleepingThreshold = 0;
    body->setActivationState(DISABLE_DEACTIVATION);
    btSoftBodyHelpers::generateBoundaryFaces(body);
    body->initializeDmInverse();
    body->m_tetraScratches.resize(job->tet_count);
    body->m_tetraScratchesTn.resize(job->tet_count);
    body->setMaxStress(btScalar(1e30));
  }

  ~World() {
    world.removeForce(body, &force);
    world.removeSoftBody(body);
    delete body;
  }
};

void *create(const elastic_job *job, char *message) {
  World *w = new (std::nothrow) World(job);
  if (!w) snprintf(message, BENCH_MESSAGE, "out of memory");
  return w;
}

void step(void *world, int steps) {
  World *w = static_cast<World *>(world);
  for (int i = 0; i < steps; i++) w->world.stepSimulation(w->dt, 0);
}

void read_node(void *world, int node, double x[3], double v[3]) {
  const btSoftBody::Node &n = static_cast<World *>(world)->body->m_nodes[node];
  for (int c = 0; c < 3; c++) x[c] = double(n.m_x[c]), v[c] = double(n.m_v[c]);
}

void destroy(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" {
extern const elastic_engine elastic_bullet;
const elastic_engine elastic_bullet = {
    "Bullet deformable", BENCH_BULLET, sizeof(btScalar) == 8 ? "double" : "single", 100000, create, step,
    read_node,           destroy};
}
