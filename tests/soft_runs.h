// Solids that deform and touch: small worlds, the methods that know them, and what must balance in a run.
#ifndef CAROM_TESTS_SOFT_RUNS_H
#define CAROM_TESTS_SOFT_RUNS_H

#include "fixtures.h"

// ---- methods --------------------------------------------------------------------------------------------------------

typedef struct soft_method {
  const char *name, *integrator;
  carom_quadrature quadrature;
} soft_method;

enum { SOFT_METHODS = 3 };
static const soft_method soft_methods[SOFT_METHODS] = {
    {"newmark", "newmark", CAROM_QUADRATURE_ENDPOINT},
    {"potential", "potential", CAROM_QUADRATURE_ENDPOINT},
    {"potential, midpoint", "potential", CAROM_QUADRATURE_MIDPOINT},
};

static inline carom_step_options soft_options(const soft_method *method, double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = method->integrator, o.quadrature = method->quadrature, o.step = h;
  return o;
}

// ---- solids ---------------------------------------------------------------------------------------------------------

// A block of rubber: 20 kPa and 1000 kg/m3 unless said otherwise.
typedef struct soft_block {
  carom_vec3 size;
  int cells[3];
  carom_vec3 at, velocity, spin;
  carom_quat turn;
  double young, poisson, density, damping;
  bool self_contact;
  carom_vec3 (*bend)(carom_vec3 rest);  // where nodes are in the mesh; null: as they are
  carom_vec3 (*flow)(carom_vec3 rest);  // how fast nodes are, by where they are in the mesh; null: no more than said
} soft_block;

static inline soft_block soft_cube(double side, int cells) {
  return (soft_block){.size = cm_vec3(side, side, side),
                      .cells = {cells, cells, cells},
                      .turn = cm_qidentity(),
                      .young = 2e4,
                      .poisson = 0.3,
                      .density = 1000};
}

static inline carom_tets soft_mesh(const soft_block *block) {
  carom_tets_box box = carom_tets_box_default();
  carom_tets mesh = {0};
  box.size = block->size;
  memcpy(box.cells, block->cells, sizeof box.cells);
  if (carom_tets_init_box(&box, NULL, &mesh, NULL) != CAROM_OK) exit(1);
  for (int i = 0; i < mesh.node_count && block->bend; i++) mesh.nodes[i] = block->bend(mesh.nodes[i]);
  return mesh;
}

static inline int put_soft(carom_builder *builder, const soft_block *block) {
  carom_solid_def def = carom_solid_default();
  carom_elastic_material matter;
  carom_tets mesh = soft_mesh(block);
  carom_vec3 *velocities = calloc((size_t)mesh.node_count, sizeof *velocities);
  for (int i = 0; i < mesh.node_count && block->flow; i++) velocities[i] = block->flow(mesh.nodes[i]);
  if (carom_elastic_material_of(block->young, block->poisson, block->density, &matter, NULL) != CAROM_OK) exit(1);
  def.mesh = &mesh, def.lambda = matter.lambda, def.mu = matter.mu, def.density = block->density;
  def.pose = cm_pose(block->at, block->turn);
  def.velocity = block->velocity, def.angular_velocity = block->spin, def.velocities = velocities;
  def.damping = block->damping, def.self_contact = block->self_contact;
  int solid = carom_builder_add_solid(builder, &def);
  carom_tets_release(&mesh);
  free(velocities);
  return solid;
}

// Holds the nodes of a block where the mesh says so.
static inline void pin_soft(carom_builder *builder, int solid, const soft_block *block, int body,
                            bool (*held)(const soft_block *block, carom_vec3 rest)) {
  carom_tets mesh = soft_mesh(block);
  int *nodes = calloc((size_t)mesh.node_count, sizeof *nodes), count = 0;
  for (int i = 0; i < mesh.node_count; i++)
    if (held(block, mesh.nodes[i])) nodes[count++] = i;
  carom_builder_pin(builder, solid, body, count, nodes);
  carom_tets_release(&mesh);
  free(nodes);
}

static inline bool at_the_bottom(const soft_block *block, carom_vec3 rest) {
  return rest.z < (1e-9 - 0.5) * block->size.z;
}

static inline bool at_the_back(const soft_block *block, carom_vec3 rest) {
  return rest.x < (1e-9 - 0.5) * block->size.x;
}

static inline int put_floor(carom_builder *builder) {
  carom_body_def def = carom_body_default();
  def.fixed = true, def.name = "floor";
  return put_shape(builder, def, floor_shape());
}

// ---- runs -----------------------------------------------------------------------------------------------------------

typedef struct soft_run {
  world world;
  carom_stepper *stepper;
  carom_status status;
  carom_error error;
  carom_step_report report;  // of the last step
  // since the start
  carom_vec3 impulse, angular_impulse;    // from outside
  carom_vec3 momentum, angular_momentum;  // at the start
  double energy, work, loss;              // at the start, J
  double least, most;                     // change of the energy that nothing accounts for, J
  double deepest;                         // m
  int events;
} soft_run;

static inline double soft_energy(const soft_run *r) {
  return carom_kinetic_energy(r->world.model, r->world.state) + carom_potential_energy(r->world.model, r->world.state);
}

static inline soft_run soft_begin_with(carom_builder *builder, const carom_step_options *options) {
  soft_run r = {.world = finish_world(builder)};
  r.stepper = stepper_by(&r.world, options);
  r.energy = soft_energy(&r);
  r.momentum = carom_linear_momentum(r.world.model, r.world.state);
  r.angular_momentum = carom_angular_momentum(r.world.model, r.world.state);
  return r;
}

static inline soft_run soft_begin(carom_builder *builder, const soft_method *method, double h) {
  carom_step_options options = soft_options(method, h);
  return soft_begin_with(builder, &options);
}

static inline void soft_end(soft_run *r) {
  carom_stepper_destroy(r->stepper);
  free_world(&r->world);
}

// One step; false when it failed, which is no failure of the test yet.
static inline bool soft_try(soft_run *r) {
  r->status = carom_stepper_step(r->stepper, r->world.state, &r->report, &r->error);
  if (r->status != CAROM_OK) return false;
  r->impulse = cm_add(r->impulse, r->report.impulse);
  r->angular_impulse = cm_add(r->angular_impulse, r->report.angular_impulse);
  r->work += r->report.work;
  r->loss += r->report.restitution_loss + r->report.friction_loss;
  r->deepest = fmax(r->deepest, r->report.penetration);
  r->events += r->report.event_count;
  double change = soft_energy(r) + r->report.stored + r->loss - r->work - r->energy;
  r->least = fmin(r->least, change), r->most = fmax(r->most, change);
  return true;
}

static inline bool soft_steps(soft_run *r, int steps) {
  for (int i = 0; i < steps; i++)
    if (!soft_try(r)) {
      test_fail(__FILE__, __LINE__, "%s", r->error.message);
      return false;
    }
  return true;
}

static inline double soft_swing(const soft_run *r) { return r->most - r->least; }

static inline carom_vec3 soft_momentum_drift(const soft_run *r) {
  carom_vec3 now = carom_linear_momentum(r->world.model, r->world.state);
  return cm_sub(cm_sub(now, r->momentum), r->impulse);
}

static inline carom_vec3 soft_spin_drift(const soft_run *r) {
  carom_vec3 now = carom_angular_momentum(r->world.model, r->world.state);
  return cm_sub(cm_sub(now, r->angular_momentum), r->angular_impulse);
}

// Momentum of a solid over its mass, m/s.
static inline carom_vec3 soft_velocity(const soft_run *r, int solid) {
  const carom_solid *s = &r->world.model->solids[solid];
  carom_vec3 p = cm_zero3();
  for (int i = s->node_start; i < s->node_start + s->node_count; i++)
    p = cm_axpy(p, r->world.model->node_masses[i], r->world.state->node_velocities[i]);
  return cm_scale(1 / s->mass, p);
}

static inline carom_vec3 soft_center(const soft_run *r, int solid) {
  const carom_solid *s = &r->world.model->solids[solid];
  carom_vec3 x = cm_zero3();
  for (int i = s->node_start; i < s->node_start + s->node_count; i++)
    x = cm_axpy(x, r->world.model->node_masses[i], r->world.state->nodes[i]);
  return cm_scale(1 / s->mass, x);
}

#endif
