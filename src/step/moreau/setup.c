#include "base/memory.h"
#include "model/model.h"
#include "model/size.h"
#include "step/moreau/moreau.h"

// ---- scratch --------------------------------------------------------------------------------------------------------

static void push(carom_stepper *stepper, carom_arena *arena) {
  const carom_model *model = stepper->model;
  carom_moreau counted = {0}, *own = CAROM_PUSH(arena, carom_moreau, 1), *m = own ? own : &counted;
  int n = model->body_count;
  stepper->work = own;
  m->model = model;
  carom_moreau_motion_push(&m->motion, arena, model);
  m->acceleration = CAROM_PUSH(arena, double, n);
  m->reach = CAROM_PUSH(arena, double, n);
  m->way = CAROM_PUSH(arena, double, n);
  m->impacts = CAROM_PUSH(arena, int, n);
  m->number = CAROM_PUSH(arena, int, n);
  m->pushed = CAROM_PUSH(arena, bool, n);
  m->thickness = CAROM_PUSH(arena, double, model->part_count);
  m->items.limits = CAROM_PUSH(arena, carom_joint_limit, carom_joints_limit_capacity(model));
}

static bool bounces(const carom_model *model) {
  for (int i = 0; i < model->surface_count; i++)
    if (model->surfaces[i].surface.restitution > 0) return true;
  for (int i = 0; i < model->material_count; i++)
    if (model->materials[i].restitution > 0) return true;
  return carom_model_uses(model, CAROM_TRAIT_BOUNCING_LIMITS) >= 0;
}

// ---- life -----------------------------------------------------------------------------------------------------------

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  const carom_allocator *allocator = &stepper->allocator;
  carom_moreau *m = stepper->work;
  m->options = &stepper->options;
  m->allocator = stepper->allocator;
  m->collides = bounces(model) || (stepper->options.alpha > 0 && stepper->options.alpha < 1);
  for (int i = 0; i < model->part_count; i++) m->thickness[i] = carom_shape_half_depth(model->parts[i].shape);
  if (carom_moreau_solves_springs(model, &stepper->options)) m->motion.springs.count = model->spring_count;
  carom_status status = carom_moreau_motion_create(&m->motion, allocator, error);
  carom_state **const states[] = {&m->origin, &m->last, &m->meeting};
  for (size_t i = 0; i < sizeof states / sizeof *states && status == CAROM_OK; i++)
    status = carom_state_create(model, allocator, states[i], error);
  if (status == CAROM_OK) status = carom_contacts_create(model, allocator, &m->contacts, error);
  if (status == CAROM_OK) status = carom_gathering_create(model, allocator, &m->gathering, error);
  if (status == CAROM_OK) status = carom_groups_create(model->body_count, 1, allocator, &m->groups, error);
  if (status == CAROM_OK) status = carom_projection_create(m->contacts, m->gathering, m->groups, &m->projection, error);
  if (status == CAROM_OK) status = carom_memory_create(model, allocator, &m->memory, error);
  if (status == CAROM_OK) status = carom_assembly_create(model, allocator, &m->assembly, error);
  if (status == CAROM_OK) status = carom_solver_create(allocator, &m->solver, error);
  return status;
}

static void release(carom_stepper *stepper) {
  carom_moreau *m = stepper->work;
  if (!m) return;
  carom_moreau_motion_destroy(&m->motion);
  carom_state_destroy(m->origin);
  carom_state_destroy(m->last);
  carom_state_destroy(m->meeting);
  carom_projection_destroy(m->projection);
  carom_groups_destroy(m->groups);
  carom_gathering_destroy(m->gathering);
  carom_contacts_destroy(m->contacts);
  carom_memory_destroy(m->memory);
  carom_assembly_destroy(m->assembly);
  carom_solver_destroy(m->solver);
  carom_release(&stepper->allocator, m->items.list);
  carom_release(&stepper->allocator, m->items.rows);
}

bool carom_moreau_solves_springs(const carom_model *model, const carom_step_options *options) {
  return options->alpha == 0 && model->spring_count <= CAROM_MOREAU_SPRINGS_MAX;
}

// The forces of the last step, the bases of the separations, and where it ended.
static bool remember(carom_stepper *stepper, carom_tape *tape) {
  carom_moreau *m = stepper->work;
  size_t n = (size_t)stepper->model->body_count;
  return carom_memory_remember(m->memory, tape) && carom_contacts_remember(m->contacts, tape) &&
         carom_tape_pass(tape, &m->begun, sizeof m->begun) &&
         carom_tape_pass_numbers(tape, m->motion.springs.tension, (size_t)m->motion.springs.count) &&
         carom_tape_pass_numbers(tape, m->last->x, 3 * n) && carom_tape_pass_numbers(tape, m->last->q, 4 * n) &&
         carom_tape_pass_numbers(tape, m->last->p, 3 * n) && carom_tape_pass_numbers(tape, m->last->l, 3 * n);
}

const carom_integrator carom_integrator_moreau = {
    .name = "moreau",
    .summary = "complementarity: the linearly implicit alpha-family with friction, joints, restitution; rests for ever",
    .honours = &carom_honours_moreau,
    CAROM_STATIC_LIFE,
    .advance = carom_moreau_advance,
};
