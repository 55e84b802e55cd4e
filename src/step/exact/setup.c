// Making, releasing and remembering the integrator `exact`.
#include <math.h>

#include "base/memory.h"
#include "geometry/shape.h"
#include "model/fields.h"
#include "model/model.h"
#include "step/exact/exact.h"

// How far the turning of the body moves points of the part: a ball looks the same from all sides.
static double turning_radius(const carom_part *part) {
  const carom_shape *s = part->shape;
  double core = s->kind == CAROM_SHAPE_SPHERE    ? 0
                : s->kind == CAROM_SHAPE_CAPSULE ? s->half_length
                                                 : s->bounding_radius;
  return cm_norm(part->pose.p) + core;
}

static bool is_driven(const carom_model *model, int body) {
  for (int i = 0; i < model->drive_count; i++)
    if (model->drives[i].body == body) return true;
  return false;
}

static void make_body(carom_exact *e, int b) {
  const carom_model *model = e->model;
  carom_model one = *model;
  one.body_count = 1;
  one.bodies = &model->bodies[b];
  carom_dmv_bodies_fill(&e->bodies[b].lane, &one, e->lanes + (size_t)b * carom_dmv_bodies_cost(1));
  for (int i = 0; i < one.bodies->part_count; i++) {
    int part = one.bodies->part_start + i;
    double radius = turning_radius(&model->parts[part]);
    bool turns = !one.bodies->fixed || (is_driven(model, b) && isfinite(radius));
    e->part_radius[part] = turns ? radius : 0;
    e->bodies[b].radius = fmax(e->bodies[b].radius, e->part_radius[part]);
  }
}

void carom_exact_lay_out(carom_stepper *stepper, carom_arena *arena) {
  int n = stepper->model->body_count;
  carom_integrator_variational.push(stepper, arena);
  carom_exact counted = {0}, *own = CAROM_PUSH(arena, carom_exact, 1), *e = own ? own : &counted;
  stepper->work = own;
  e->model = stepper->model;
  e->bodies = CAROM_PUSH(arena, carom_exact_body, n);
  e->lanes = carom_arena_push(arena, (size_t)n * carom_dmv_bodies_cost(1));
  e->part_radius = CAROM_PUSH(arena, double, stepper->model->part_count);
  e->v = CAROM_PUSH(arena, carom_vec3, n);
  e->w = CAROM_PUSH(arena, carom_vec3, n);
  e->reach = CAROM_PUSH(arena, double, n);
  e->groups.parent = CAROM_PUSH(arena, int, n);
  e->groups.order = CAROM_PUSH(arena, int, n);
  e->groups.count = CAROM_PUSH(arena, int, n);
  e->groups.start = CAROM_PUSH(arena, int, n + 1);
  e->held.force = CAROM_PUSH(arena, carom_vec3, n);
  e->held.torque = CAROM_PUSH(arena, carom_vec3, n);
  e->leap.jump_p = CAROM_PUSH(arena, carom_vec3, n);
  e->leap.jump_l = CAROM_PUSH(arena, carom_vec3, n);
  carom_exact_lay_out_limits(e, arena);
}

carom_status carom_exact_prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  carom_exact *e = stepper->work;
  const carom_allocator *a = &stepper->allocator;
  carom_state **states[] = {&e->begin, &e->trial.state, &e->leap.before};
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status != CAROM_OK) return status;
  e->allocator = *a;
  e->whole = carom_fields_present(model) || model->joint_count > 0;
  for (int i = 0; i < model->body_count; i++) make_body(e, i);
  carom_ledger_open(&e->trial.ledger, model, a);
  status = carom_contacts_create(model, a, &e->contacts, error);
  if (status == CAROM_OK) status = carom_impact_system_create(model, stepper->options.law, a, &e->impacts, error);
  for (int i = 0; i < 3 && status == CAROM_OK; i++) status = carom_state_create(model, a, states[i], error);
  return status;
}

void carom_exact_release(carom_stepper *stepper) {
  carom_exact *e = stepper->work;
  if (!e) return;
  carom_contacts_destroy(e->contacts);
  carom_impact_system_destroy(e->impacts);
  carom_state_destroy(e->begin);
  carom_state_destroy(e->trial.state);
  carom_state_destroy(e->leap.before);
  void *blocks[] = {e->near,          e->groups.of_pair, e->touching,    e->resting.pairs, e->resting_begin.pairs,
                    e->held.contacts, e->held.points,    e->held.numbers};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&stepper->allocator, blocks[i]);
  carom_ledger_close(&e->trial.ledger);
  carom_integrator_variational.release(stepper);
}

bool carom_exact_remember(carom_stepper *stepper, carom_tape *tape) {
  carom_exact *e = stepper->work;
  return carom_integrator_variational.remember(stepper, tape) && carom_contacts_remember(e->contacts, tape) &&
         carom_exact_remember_resting(e, tape);
}
