// Scenes of the conformance matrix by DART, with its default solver and Bullet's or FCL's shapes as it was built. A
// plane is the upper face of a large box.
#include <dart/dart.hpp>

#include "conformance.h"

namespace {

using namespace dart;

struct World {
  simulation::WorldPtr world = simulation::World::create();
  std::vector<dynamics::BodyNode *> nodes;
};

Eigen::Vector3d vector(carom_vec3 v) { return Eigen::Vector3d(v.x, v.y, v.z); }
carom_vec3 back(const Eigen::Vector3d &v) { return cm_vec3(v[0], v[1], v[2]); }

Eigen::Isometry3d transform(carom_pose p) {
  Eigen::Isometry3d t = Eigen::Isometry3d::Identity();
  t.linear() = Eigen::Quaterniond(p.q.w, p.q.x, p.q.y, p.q.z).toRotationMatrix();
  t.translation() = vector(p.p);
  return t;
}

double scene_size(const carom_model *m) {
  double size = 1e-3;
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed) size = std::max(size, m->bodies[i].bounding_radius);
  return size;
}

dynamics::ShapePtr shape_of(const carom_shape *s, double size, carom_pose *pose) {
  carom_vec3 half, axes = carom_shape_half_axes(s);
  double r = carom_shape_radius(s);
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_SPHERE:
      return std::make_shared<dynamics::SphereShape>(r);
    case CAROM_SHAPE_CAPSULE:
      return std::make_shared<dynamics::CapsuleShape>(r, 2 * carom_shape_half_length(s));
    case CAROM_SHAPE_CYLINDER:
      return std::make_shared<dynamics::CylinderShape>(axes.x, 2 * axes.z);
    case CAROM_SHAPE_HALFSPACE:
      *pose = cm_compose(*pose, cm_pose(cm_vec3(0, 0, -5 * size), cm_qidentity()));
      return std::make_shared<dynamics::BoxShape>(Eigen::Vector3d(200 * size, 200 * size, 10 * size));
    default:
      is_box(s, &half);
      return std::make_shared<dynamics::BoxShape>(2 * vector(half));
  }
}

void dress(dynamics::BodyNode *node, const carom_model *m, int i) {
  const carom_body &b = m->bodies[i];
  for (int k = b.part_start; k < b.part_start + b.part_count; k++) {
    carom_pose pose = m->parts[k].pose;
    auto shape = shape_of(m->parts[k].shape, scene_size(m), &pose);
    auto part = node->createShapeNodeWith<dynamics::CollisionAspect, dynamics::DynamicsAspect>(shape);
    part->setRelativeTransform(transform(pose));
    part->getDynamicsAspect()->setFrictionCoeff(m->materials[b.material].friction);
    part->getDynamicsAspect()->setRestitutionCoeff(sqrt(m->materials[b.material].restitution));
  }
}

void add(World *w, const carom_scene *scene, int i) {
  const carom_model *m = scene->model;
  const carom_body &b = m->bodies[i];
  auto skeleton = dynamics::Skeleton::create(b.name);
  Eigen::Isometry3d at = transform(cm_pose(scene->state->x[i], scene->state->q[i]));
  dynamics::BodyNode *node = nullptr;
  if (b.fixed) {
    auto pair = skeleton->createJointAndBodyNodePair<dynamics::WeldJoint>();
    pair.first->setTransformFromParentBodyNode(at);
    node = pair.second;
  } else {
    auto pair = skeleton->createJointAndBodyNodePair<dynamics::FreeJoint>();
    node = pair.second;
    node->setInertia(dynamics::Inertia(b.mass, Eigen::Vector3d::Zero(), vector(b.inertia).asDiagonal()));
    pair.first->setTransform(at);
    pair.first->setLinearVelocity(vector(carom_state_velocity(m, scene->state, i)), dynamics::Frame::World());
    pair.first->setAngularVelocity(vector(carom_state_angular_velocity(m, scene->state, i)), dynamics::Frame::World());
  }
  dress(node, m, i);
  w->nodes.push_back(node);
  w->world->addSkeleton(skeleton);
}

void *open_scene(const carom_scene *scene, double h) {
  auto w = new World;
  w->world->setGravity(vector(scene->model->gravity));
  w->world->setTimeStep(h);
  for (int i = 0; i < scene->model->body_count; i++) add(w, scene, i);
  return w;
}

bool step(void *world) {
  static_cast<World *>(world)->world->step();
  return true;
}

void read_body(void *world, int i, track_point *p) {
  const dynamics::BodyNode *b = static_cast<World *>(world)->nodes[size_t(i)];
  Eigen::Quaterniond q(b->getWorldTransform().linear());
  p->x = back(b->getWorldTransform().translation());
  p->q = cm_quat(q.w(), q.x(), q.y(), q.z());
  p->v = back(b->getCOMLinearVelocity());
  p->w = back(b->getAngularVelocity());
}

void close_scene(void *world) { delete static_cast<World *>(world); }

}  // namespace

extern "C" const conformance_peer conformance_dart;
const conformance_peer conformance_dart = {"DART", BENCH_DART, open_scene, step, read_body, close_scene};
