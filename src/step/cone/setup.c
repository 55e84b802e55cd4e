// Scratch and options of the integrator `cone`.
#include <math.h>

#include "base/memory.h"
#include "model/model.h"
#include "model/size.h"
#include "step/cone/cone.h"

// ---- scratch ------------------------------------------------------------------------------------------------------

static void push_velocities(carom_velocities *V, int n, carom_arena *arena) {
  V->v = CAROM_PUSH(arena, carom_vec3, n);
  V->w = CAROM_PUSH(arena, carom_vec3, n);
}

static void push_bodies(carom_cone_bodies *b, const carom_model *m, carom_arena *arena) {
  int n = m->body_count;
  b->mover = CAROM_PUSH(arena, int, n);
  b->rank = CAROM_PUSH(arena, int, n);
  b->radius = CAROM_PUSH(arena, double, n);
  b->touches = CAROM_PUSH(arena, bool, n);
  b->pushed = CAROM_PUSH(arena, bool, n);
  b->falls = CAROM_PUSH(arena, bool, n);
  b->lasts = CAROM_PUSH(arena, bool, n);
  b->bounces = CAROM_PUSH(arena, bool, n);
  b->share = CAROM_PUSH(arena, double, n);
  b->middle = CAROM_PUSH(arena, carom_vec3, n);
  push_velocities(&b->start, n, arena);
  push_velocities(&b->free, n, arena);
  push_velocities(&b->after, n, arena);
  b->constants_room = carom_arena_push(arena, carom_dmv_bodies_cost(n));
}

static void push_search(carom_cone *c, carom_arena *arena) {
  const carom_model *m = c->model;
  c->search.reach = CAROM_PUSH(arena, double, m->body_count);
  c->search.acceleration = CAROM_PUSH(arena, double, m->body_count);
  c->search.wall_count = CAROM_PUSH(arena, int, m->moving_count);
  c->search.first = CAROM_PUSH(arena, int, m->body_count + 1);
  c->walls.parts = CAROM_PUSH(arena, int, m->part_count);
  c->walls.boxes = CAROM_PUSH(arena, carom_aabb, m->part_count);
  c->walls.frames = CAROM_PUSH(arena, carom_pose, m->boundary_count);
  c->walls.upward = CAROM_PUSH(arena, carom_vec3, m->boundary_count);
}

void carom_cone_push(carom_stepper *stepper, carom_arena *arena) {
  carom_cone counted = {0}, *own = CAROM_PUSH(arena, carom_cone, 1), *c = own ? own : &counted;
  const carom_model *m = stepper->model;
  int program = m->moving_count + m->drive_count;
  stepper->work = own;
  c->model = m;
  push_bodies(&c->bodies, m, arena);
  if (carom_fields_present(m)) {
    carom_loads_push(&c->fields.loads, arena, m);
    c->fields.directors = CAROM_PUSH(arena, carom_mat3, m->body_count);
    c->fields.director_rates = CAROM_PUSH(arena, carom_mat3, m->body_count);
  }
  push_search(c, arena);
  carom_cone_joints_push(c, arena);
  c->program.bodies = CAROM_PUSH(arena, carom_contact_body, program);
  c->program.velocities = CAROM_PUSH(arena, carom_vec3, program);
  c->program.spins = CAROM_PUSH(arena, carom_vec3, program);
}

static const double MASS_RATIO = 1e3;  // from which on solves must be better
enum { FEW_BALLS = 32 };               // so many are searched for and solved like bodies of any shape

// ---- what the model is --------------------------------------------------------------------------------------------

static bool all_balls(const carom_model *m) {
  for (int i = 0; i < m->body_count; i++) {
    const carom_body *b = &m->bodies[i];
    bool round = b->inertia.x == b->inertia.y && b->inertia.y == b->inertia.z;
    if (!b->fixed && !(round && carom_body_is_ball(m, b))) return false;
  }
  return m->apart_count == 0 && m->joint_count == 0 && !m->planar && !m->ignores_contacts;
}

// Half the least depth of any part that moves: of balls, the radius.
static double thinnest(const carom_model *m) {
  double least = INFINITY;
  for (int i = 0; i < m->body_count; i++)
    for (int k = 0; k < m->bodies[i].part_count && !m->bodies[i].fixed; k++)
      least = fmin(least, carom_shape_half_depth(m->parts[m->bodies[i].part_start + k].shape));
  return isfinite(least) ? least : carom_model_smallest(m);
}

static double lightest(const carom_model *m) {
  double mass = INFINITY;
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed) mass = fmin(mass, m->bodies[i].mass);
  return mass;
}

static void number_bodies(carom_cone *c) {
  const carom_model *m = c->model;
  carom_cone_bodies *b = &c->bodies;
  int movers = 0;
  b->balls = all_balls(m) && m->moving_count > FEW_BALLS;
  b->smallest = b->balls ? carom_model_smallest(m) : thinnest(m);
  carom_dmv_bodies_fill(&b->constants, m, b->constants_room);
  for (int i = 0; i < m->body_count; i++) {
    b->radius[i] = m->bodies[i].bounding_radius;
    b->rank[i] = m->bodies[i].fixed ? -1 : movers;
    if (!m->bodies[i].fixed) b->mover[movers++] = i;
  }
  for (int i = 0; i < m->drive_count; i++) b->rank[m->drives[i].body] = m->moving_count + i;
}

static void look_for_one_material(carom_cone *c) {
  const carom_model *m = c->model;
  const int *mover = c->bodies.mover;
  bool alike = m->moving_count > 0;
  for (int i = 1; i < m->moving_count && alike; i++)
    alike = m->bodies[mover[i]].material == m->bodies[mover[0]].material;
  c->search.alike = alike;
  if (alike) c->search.surface = carom_model_surface(m, mover[0], mover[0]);
}

static void list_fixed_parts(carom_cone *c) {
  for (int i = 0; i < c->model->part_count; i++)
    if (c->model->bodies[c->search.parts->body_of_part[i]].fixed) c->walls.parts[c->walls.part_count++] = i;
}

// ---- options ------------------------------------------------------------------------------------------------------

static void read_options(const carom_stepper *stepper, carom_cone *c) {
  const carom_step_options *asked = &stepper->options;
  carom_cone_program *p = &c->program;
  carom_contact_options *o = &p->options;
  *o = carom_contact_default_options();
  o->warm_start = true;
  o->threads = stepper->threads;
  o->max_iterations = asked->solver_iterations;
  p->exacting = asked->solver_tolerance > 0;
  if (p->exacting) o->tolerance = o->gap_tolerance = asked->solver_tolerance;
  if (asked->solver) carom_contact_method_by_name(asked->solver, &o->method);
  bool tao = o->method == CAROM_CONTACT_BLMVM || o->method == CAROM_CONTACT_TRON;
  o->cone = tao || asked->friction_directions > 0 ? CAROM_CONTACT_GENERATORS : CAROM_CONTACT_CIRCULAR;
  if (asked->friction_directions > 0) o->generators = asked->friction_directions;
  p->swept = c->bodies.balls && !p->exacting && !asked->solver && o->cone == CAROM_CONTACT_CIRCULAR;
  p->lawful = !c->bodies.balls && c->model->moving_count < CAROM_FLOW && !p->exacting && !asked->solver &&
              o->cone == CAROM_CONTACT_CIRCULAR;
  p->bounces = carom_cone_may_bounce(c->model);
  p->unequal = carom_model_heaviest(c->model) > MASS_RATIO * lightest(c->model);
}

// ---- what lives on the heap ---------------------------------------------------------------------------------------

static carom_status create_lawful(carom_cone *c, carom_error *error) {
  const carom_model *m = c->model;
  carom_cone_program *p = &c->program;
  int bodies = m->body_count > m->moving_count + m->drive_count ? m->body_count : m->moving_count + m->drive_count;
  carom_status status = carom_groups_create(bodies, c->threads, &c->allocator, &p->groups, error);
  if (status != CAROM_OK || m->boundary_count > 0) return status;
  status = carom_gathering_create(m, &c->allocator, &p->gathering, error);
  if (status == CAROM_OK)
    status = carom_projection_create(c->search.parts, p->gathering, p->groups, &p->projection, error);
  if (status == CAROM_OK) status = carom_state_create(m, &c->allocator, &p->before, error);
  if (status == CAROM_OK && p->bounces)
    status = carom_impact_system_create(m, CAROM_IMPACT_GENERALIZED, &c->allocator, &p->impacts, error);
  return status;
}

static carom_status create_all(carom_cone *c, carom_error *error) {
  const carom_model *m = c->model;
  const carom_allocator *a = &c->allocator;
  carom_status status = carom_contacts_create(m, a, &c->search.parts, error);
  if (status == CAROM_OK) status = carom_memory_create(m, a, &c->memory, error);
  if (status == CAROM_OK && c->bodies.balls)
    status = carom_grain_grid_create(&c->search.grid, m->moving_count, a, error);
  if (status == CAROM_OK && c->program.swept) status = carom_balls_create(&c->program.balls, m->moving_count, a, error);
  if (status == CAROM_OK) status = carom_contact_work_create(a, &c->program.solver, error);
  if (status == CAROM_OK && c->program.lawful) status = create_lawful(c, error);
  if (status == CAROM_OK && (c->program.projection || m->joint_count > 0))
    status = carom_state_create(m, a, &c->trial, error);
  return status;
}

carom_status carom_cone_prepare(carom_stepper *stepper, carom_error *error) {
  carom_cone *c = stepper->work;
  c->allocator = stepper->allocator;
  c->threads = stepper->threads;
  c->fields.present = carom_fields_present(c->model);
  number_bodies(c);
  look_for_one_material(c);
  read_options(stepper, c);
  carom_status status = create_all(c, error);
  if (status == CAROM_OK) list_fixed_parts(c);
  return status;
}

void carom_cone_release(carom_stepper *stepper) {
  carom_cone *c = stepper->work;
  if (!c) return;
  carom_cone_program *p = &c->program;
  carom_contacts_destroy(c->search.parts);
  carom_memory_destroy(c->memory);
  if (c->search.grid.count > 0) carom_grain_grid_destroy(&c->search.grid);
  carom_balls_destroy(&p->balls);
  carom_contact_work_destroy(p->solver);
  carom_projection_destroy(p->projection);
  carom_gathering_destroy(p->gathering);
  carom_groups_destroy(p->groups);
  carom_impact_system_destroy(p->impacts);
  carom_state_destroy(p->before);
  carom_state_destroy(c->trial);
  void *blocks[] = {c->search.near, c->search.unsorted, c->search.due, p->chosen,  p->impulses,
                    p->rebound,     p->active,          p->contacts,   p->solution};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&c->allocator, blocks[i]);
}

// Boxes and bases of parts serve bodies of any shape only.
bool carom_cone_remember(carom_stepper *stepper, carom_tape *tape) {
  carom_cone *c = stepper->work;
  return carom_memory_remember(c->memory, tape) && carom_tape_pass_numbers(tape, &c->owed, 1) &&
         carom_tape_pass_numbers(tape, &c->forgone, 1) &&
         (c->bodies.balls || carom_contacts_remember(c->search.parts, tape));
}
