// Scenes of the conformance matrix by Bullet: discrete dynamics world, fast bodies followed continuously, no damping,
// no sleeping, one internal step per step. Friction and restitution of a pair are products of those of its bodies.
#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

#include "conformance.h"

namespace {

btVector3 vector(carom_vec3 v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }
btQuaternion turn(carom_quat q) { return btQuaternion(btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w)); }
btTransform transform(carom_pose p) { return btTransform(turn(p.q), vector(p.p)); }
carom_vec3 back(const btVector3 &v) { return cm_vec3(v.x(), v.y(), v.z()); }

struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  btScalar h;
  ~World() {
    for (auto &b : bodies) world.removeRigidBody(b.get());
  }
};

btCollisionShape *shape_of(const carom_shape *s, double *thin) {
  carom_vec3 half, axes = carom_shape_half_axes(s);
  double r = carom_shape_radius(s);
  *thin = thinnest_side(s);
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_SPHERE:
      return new btSphereShape(btScalar(r));
    case CAROM_SHAPE_CAPSULE:
      return new btCapsuleShapeZ(btScalar(r), btScalar(2 * carom_shape_half_length(s)));
    case CAROM_SHAPE_CYLINDER:
      return new btCylinderShapeZ(vector(axes));
    case CAROM_SHAPE_HALFSPACE:
      return new btStaticPlaneShape(btVector3(0, 0, 1), 0);
    default:
      is_box(s, &half);
      return new btBoxShape(vector(half));
  }
}

// A plane cannot be a child: it is always a body's only part, and such a body's shape is its part's.
btCollisionShape *whole(World *w, const carom_model *m, const carom_body &b, double *thin) {
  auto all = new btCompoundShape();
  w->shapes.emplace_back(all);
  for (int k = b.part_start; k < b.part_start + b.part_count; k++) {
    auto part = shape_of(m->parts[k].shape, thin);
    w->shapes.emplace_back(part);
    if (carom_shape_get_kind(m->parts[k].shape) == CAROM_SHAPE_HALFSPACE) return part;
    all->addChildShape(transform(m->parts[k].pose), part);
  }
  return all;
}

void add(World *w, const carom_scene *scene, int i) {
  const carom_model *m = scene->model;
  const carom_body &b = m->bodies[i];
  double thin = 0;
  btCollisionShape *shape = whole(w, m, b, &thin);
  btVector3 inertia = b.fixed ? btVector3(0, 0, 0) : vector(b.inertia);
  btRigidBody::btRigidBodyConstructionInfo info(b.fixed ? 0 : btScalar(b.mass), nullptr, shape, inertia);
  info.m_startWorldTransform = transform(cm_pose(scene->state->x[i], scene->state->q[i]));
  info.m_friction = btScalar(sqrt(m->materials[b.material].friction));
  info.m_restitution = btScalar(sqrt(m->materials[b.material].restitution));
  auto body = new btRigidBody(info);
  body->setActivationState(DISABLE_DEACTIVATION);
  if (!b.fixed) {
    body->setLinearVelocity(vector(carom_state_velocity(m, scene->state, i)));
    body->setAngularVelocity(vector(carom_state_angular_velocity(m, scene->state, i)));
    body->setCcdMotionThreshold(btScalar(thin / 2));
    body->setCcdSweptSphereRadius(btScalar(thin / 4));
  }
  w->bodies.emplace_back(body);
  w->world.addRigidBody(body);
}

void *open_scene(const carom_scene *scene, double h) {
  auto w = new World;
  w->h = btScalar(h);
  w->world.setGravity(vector(scene->model->gravity));
  w->world.getSolverInfo().m_restitutionVelocityThreshold = 0;
  for (int i = 0; i < scene->model->body_count; i++) add(w, scene, i);
  return w;
}

bool step(void *world) {
  auto w = static_cast<World *>(world);
  w->world.stepSimulation(w->h, 0);
  return true;
}

void read_body(void *world, int i, track_point *p) {
  const btRigidBody *b = static_cast<World *>(world)->bodies[size_t(i)].get();
  btQuaternion q = b->getOrientation();
  p->x = back(b->getCenterOfMassPosition());
  p->q = cm_quat(q.w(), q.x(), q.y(), q.z());
  p->v = back(b->getLinearVelocity());
  p->w = back(b->getAngularVelocity());
}

void close_scene(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" const conformance_peer conformance_bullet;
const conformance_peer conformance_bullet = {"Bullet", BENCH_BULLET, open_scene, step, read_body, close_scene};
