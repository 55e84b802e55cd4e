// Bullet's deformable bodies: two tetrahedral bodies with its neo-Hookean force, explicit, without damping, and its
// contacts of nodes with faces, without friction.
#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btDeformableNeoHookeanForce.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

#include <new>

#include "touching.h"

namespace {

const btScalar MARGIN = btScalar(1e-3);  // m; its default, 0.25 m, is more than the blocks have

btVector3 vector(const double *p) { return btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])); }

struct World {
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btDeformableBodySolver bodySolver;
  btDeformableMultiBodyConstraintSolver solver;
  btDeformableMultiBodyDynamicsWorld world;
  btDeformableNeoHookeanForce force;
  btSoftBody *body[TOUCHING_BLOCKS];
  btScalar dt;

  explicit World(const touching_job *job)
      : dispatcher(&configuration),
        world(&dispatcher, &broadphase, makeSolver(), &configuration, &bodySolver),
        force(btScalar(job->mu), btScalar(job->lambda), btScalar(0)),
        dt(btScalar(job->dt)) {
    world.setGravity(btVector3(0, 0, 0));
    world.getWorldInfo().m_gravity = btVector3(0, 0, 0);
    world.setImplicit(false);
    world.setLineSearch(false);
    for (int i = 0; i < TOUCHING_BLOCKS; i++) {
      body[i] = makeBody(&job->block[i]);
      world.addSoftBody(body[i]);
      world.addForce(body[i], &force);
    }
  }

  btDeformableMultiBodyConstraintSolver *makeSolver() {
    solver.setDeformableSolver(&bodySolver);
    return &solver;
  }

  btSoftBody *makeBody(const touching_block *block) {
    btAlignedObjectArray<btVector3> x;
    btAlignedObjectArray<btScalar> mass;
    for (int i = 0; i < block->node_count; i++) {
      x.push_back(vector(block->nodes + 3 * i));
      mass.push_back(btScalar(block->mass[i]));
    }
    btSoftBody *b = new btSoftBody(&world.getWorldInfo(), block->node_count, &x[0], &mass[0]);
    fill(b, block);
    return b;
  }

  static void fill(btSoftBody *b, const touching_block *block) {
    for (int i = 0; i < block->node_count; i++) b->m_nodes[i].m_v = b->m_nodes[i].m_vn = vector(block->velocity);
    for (int i = 0; i < block->tet_count; i++) {
      const int *t = block->tets + 4 * i;
      b->appendTetra(t[0], t[1], t[2], t[3]);
    }
    b->m_cfg.kDP = 0, b->m_cfg.kDG = 0, b->m_cfg.drag = 0, b->m_cfg.kDF = 0;
    b->m_cfg.collisions = btSoftBody::fCollision::VF_DD;
    b->getCollisionShape()->setMargin(MARGIN);
    b->setDampingCoefficient(0);
    b->m_sleepingThreshold = 0;
    b->setActivationState(DISABLE_DEACTIVATION);
    btSoftBodyHelpers::generateBoundaryFaces(b);
    b->initializeDmInverse();
    b->initializeFaceTree();
    b->m_tetraScratches.resize(block->tet_count);
    b->m_tetraScratchesTn.resize(block->tet_count);
    b->setMaxStress(btScalar(1e30));
  }

  ~World() {
    for (int i = 0; i < TOUCHING_BLOCKS; i++) {
      world.removeForce(body[i], &force);
      world.removeSoftBody(body[i]);
      delete body[i];
    }
  }
};

void *create(const touching_job *job, char *message) {
  World *w = new (std::nothrow) World(job);
  if (!w) snprintf(message, BENCH_MESSAGE, "out of memory");
  return w;
}

bool step(void *world, int steps) {
  World *w = static_cast<World *>(world);
  for (int i = 0; i < steps; i++) w->world.stepSimulation(w->dt, 0);
  return true;
}

void read_node(void *world, int block, int node, double x[3], double v[3]) {
  const btSoftBody::Node &n = static_cast<World *>(world)->body[block]->m_nodes[node];
  for (int c = 0; c < 3; c++) x[c] = double(n.m_x[c]), v[c] = double(n.m_v[c]);
}

double stored(void *) { return 0; }

void destroy(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" {
extern const touching_engine touching_bullet;
const touching_engine touching_bullet = {"Bullet deformable",
                                         BENCH_BULLET,
                                         sizeof(btScalar) == 8 ? "double" : "single",
                                         12000,
                                         create,
                                         step,
                                         read_node,
                                         stored,
                                         destroy};
}
