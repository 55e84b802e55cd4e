// Docking by Box2D. Its tolerances are made for bodies of 0.1 to 10 m (slop 5 mm): lengths are scaled by 100. 20 and 10
// iterations; bodies never sleep, and bounce at any speed.
#include <box2d/box2d.h>

#include <cmath>
#include <cstring>

#include "docking.h"

namespace {
const double SCALE = 100;

struct Run {
  const docking_job *job;
  b2World world{b2Vec2(0, 0)};
  b2Body *bodies[2];
};

b2Vec2 vec(double x, double y) { return b2Vec2(float(SCALE * x), float(SCALE * y)); }

void add_fixture(b2Body *body, const b2Shape *shape, const docking_job *job, int group) {
  b2FixtureDef def;
  def.shape = shape;
  def.density = 0;
  def.friction = float(job->friction);
  def.restitution = float(job->restitution);
  def.restitutionThreshold = 0;
  def.filter.groupIndex = int16(-group);
  body->CreateFixture(&def);
}

// Corners of the upper face: the lower one has the same shadow.
bool add_piece(Run *r, const docking_piece &p) {
  if (p.radius > 0) {
    b2CircleShape circle;
    circle.m_radius = float(SCALE * p.radius);
    circle.m_p = vec(p.center[0], p.center[1]);
    add_fixture(r->bodies[p.body], &circle, r->job, p.body + 1);
    return true;
  }
  b2Vec2 corners[DOCKING_CORNERS];
  int count = 0;
  for (int i = 0; i < p.corner_count; i++)
    if (p.corners[i][2] > 0) corners[count++] = vec(p.corners[i][0], p.corners[i][1]);
  if (count > b2_maxPolygonVertices) return false;
  b2PolygonShape polygon;
  polygon.Set(corners, count);
  add_fixture(r->bodies[p.body], &polygon, r->job, p.body + 1);
  return true;
}

void add_body(Run *r, int i) {
  const docking_body &b = r->job->start[i];
  b2BodyDef def;
  def.type = b2_dynamicBody;
  def.position = vec(b.x[0], b.x[1]);
  def.angle = float(2 * std::atan2(b.q[3], b.q[0]));
  def.linearVelocity = vec(b.v[0], b.v[1]);
  def.angularVelocity = float(b.w[2]);
  def.allowSleep = false;
  r->bodies[i] = r->world.CreateBody(&def);
}

void set_mass(Run *r, int i) {
  b2MassData mass;
  mass.mass = float(r->job->mass);
  mass.center = b2Vec2(0, 0);
  mass.I = float(SCALE * SCALE * r->job->inertia[2]);
  r->bodies[i]->SetMassData(&mass);
}

void destroy(void *world) { delete static_cast<Run *>(world); }

void *create(const docking_job *job) {
  Run *r = new Run{job};
  for (int i = 0; i < 2; i++) add_body(r, i);
  for (int i = 0; i < job->piece_count; i++)
    if (!add_piece(r, job->pieces[i])) return destroy(r), nullptr;
  for (int i = 0; i < 2; i++) set_mass(r, i);
  return r;
}

void read_bodies(void *world, docking_body bodies[2]) {
  Run *r = static_cast<Run *>(world);
  std::memset(bodies, 0, 2 * sizeof *bodies);
  for (int i = 0; i < 2; i++) {
    b2Vec2 x = r->bodies[i]->GetPosition(), v = r->bodies[i]->GetLinearVelocity();
    double half = r->bodies[i]->GetAngle() / 2;
    bodies[i].x[0] = x.x / SCALE, bodies[i].x[1] = x.y / SCALE;
    bodies[i].q[0] = std::cos(half), bodies[i].q[3] = std::sin(half);
    bodies[i].v[0] = v.x / SCALE, bodies[i].v[1] = v.y / SCALE;
    bodies[i].w[2] = r->bodies[i]->GetAngularVelocity();
  }
}

void step(void *world) {
  Run *r = static_cast<Run *>(world);
  docking_body bodies[2];
  double force[2][3], torque[2][3];
  read_bodies(r, bodies);
  docking_forces(r->job, bodies, force, torque);
  for (int i = 0; i < 2; i++) {
    r->bodies[i]->ApplyForceToCenter(vec(force[i][0], force[i][1]), true);
    r->bodies[i]->ApplyTorque(float(SCALE * SCALE * torque[i][2]), true);
  }
  r->world.Step(float(r->job->dt), 20, 10);
}
}  // namespace

extern "C" {
extern const docking_engine docking_box2d;
const docking_engine docking_box2d = {"Box2D", BENCH_BOX2D, "single", true, false, create, step, read_bodies, destroy};
}
