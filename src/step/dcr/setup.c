#include <math.h>

#include "base/memory.h"
#include "model/model.h"
#include "model/size.h"
#include "step/dcr/dcr.h"

static void push_law(carom_dcr_law *law, carom_arena *arena) {
  int n = CAROM_DCR_LAW_MAX;
  law->W = CAROM_PUSH(arena, double, 9 * n * n);
  law->u = CAROM_PUSH(arena, double, 3 * n);
  law->P = CAROM_PUSH(arena, double, 3 * n);
  law->e = CAROM_PUSH(arena, double, n);
  law->mu = CAROM_PUSH(arena, double, n);
}

static void push_free(carom_dcr_free *f, carom_arena *arena, const carom_model *model) {
  int n = model->body_count;
  f->loads.f = CAROM_PUSH(arena, carom_vec3, n + 1);
  f->loads.g = CAROM_PUSH(arena, carom_mat3, n + 1);
  f->loads.torque = CAROM_PUSH(arena, carom_vec3, n + 1);
  f->loads.charge_point = CAROM_PUSH(arena, carom_vec3, model->charge_count);
  f->loads.charge_force = CAROM_PUSH(arena, carom_vec3, model->charge_count);
  f->d = CAROM_PUSH(arena, carom_mat3, n);
  f->d_rate = CAROM_PUSH(arena, carom_mat3, n);
  f->v = CAROM_PUSH(arena, carom_vec3, n);
  f->w = CAROM_PUSH(arena, carom_vec3, n);
  f->a = CAROM_PUSH(arena, carom_vec3, n);
  f->alpha = CAROM_PUSH(arena, carom_vec3, n);
  f->unrest = CAROM_PUSH(arena, double, n);
  f->reach = CAROM_PUSH(arena, double, n);
}

void carom_dcr_push(carom_stepper *stepper, carom_arena *arena) {
  const carom_model *model = stepper->model;
  carom_integrator_variational.push(stepper, arena);
  carom_dcr counted = {0}, *own = CAROM_PUSH(arena, carom_dcr, 1), *w = own ? own : &counted;
  stepper->work = own;
  push_free(&w->free, arena, model);
  push_law(&w->law, arena);
  w->joint_impulses = CAROM_PUSH(arena, double, model->joint_count *CAROM_JOINT_ROWS);
  w->debt = CAROM_PUSH(arena, double, model->body_count);
  w->debt_before = CAROM_PUSH(arena, double, model->body_count);
  w->thickness = CAROM_PUSH(arena, double, model->part_count);
  w->thin = CAROM_PUSH(arena, double, model->body_count);
  w->tied = CAROM_PUSH(arena, bool, model->body_count);
  w->pushed = CAROM_PUSH(arena, double, model->body_count);
}

static carom_status create_tools(carom_dcr *w, const carom_model *model, int threads, carom_error *error) {
  const carom_allocator *a = &w->allocator;
  carom_status status = carom_contacts_create(model, a, &w->contacts, error);
  if (status == CAROM_OK) status = carom_gathering_create(model, a, &w->gathering, error);
  if (status == CAROM_OK) status = carom_groups_create(model->body_count, threads, a, &w->groups, error);
  if (status == CAROM_OK) status = carom_projection_create(w->contacts, w->gathering, w->groups, &w->projection, error);
  if (status == CAROM_OK) status = carom_memory_create(model, a, &w->memory, error);
  if (status == CAROM_OK) status = carom_joints_create(model, a, &w->joints, error);
  if (status == CAROM_OK) status = carom_impact_work_create(CAROM_DCR_LAW_MAX, a, &w->law.work, error);
  if (status == CAROM_OK && model->joint_count > 0)
    status = carom_impact_system_create(model, CAROM_IMPACT_PLASTIC, a, &w->latches, error);
  if (status == CAROM_OK) status = carom_state_create(model, a, &w->start, error);
  if (status == CAROM_OK) status = carom_state_create(model, a, &w->free_end, error);
  return status;
}

static double least_depth(const carom_dcr *w, const carom_body *body) {
  double least = INFINITY;
  for (int k = body->part_start; k < body->part_start + body->part_count; k++) least = fmin(least, 2 * w->thickness[k]);
  return least;
}

carom_status carom_dcr_prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  carom_dcr *w = stepper->work;
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status != CAROM_OK) return status;
  w->allocator = stepper->allocator;
  w->size = carom_model_smallest(model);
  w->free.fields = carom_fields_present(model);
  for (int i = 0; i < model->part_count; i++) w->thickness[i] = carom_shape_half_depth(model->parts[i].shape);
  for (int i = 0; i < model->body_count; i++) w->thin[i] = least_depth(w, &model->bodies[i]);
  for (int i = 0; i < 2 * model->joint_count; i++) {
    int body = model->joints[i / 2].body[i % 2];
    if (carom_body_moves(model, body)) w->tied[body] = true;
  }
  w->limit_capacity = carom_joints_limit_capacity(model);
  w->limits = CAROM_NEW(&w->allocator, carom_joint_limit, w->limit_capacity);
  if (!w->limits)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d limits of joints", w->limit_capacity);
  return create_tools(w, model, stepper->threads, error);
}

void carom_dcr_release(carom_stepper *stepper) {
  carom_dcr *w = stepper->work;
  if (!w) return;
  carom_state_destroy(w->start);
  carom_state_destroy(w->free_end);
  carom_impact_work_destroy(w->law.work);
  carom_impact_system_destroy(w->latches);
  carom_joints_destroy(w->joints);
  carom_memory_destroy(w->memory);
  carom_projection_destroy(w->projection);
  carom_groups_destroy(w->groups);
  carom_gathering_destroy(w->gathering);
  carom_contacts_destroy(w->contacts);
  void *blocks[] = {w->limits, w->touches, w->bars, w->pairs};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&w->allocator, blocks[i]);
  carom_integrator_variational.release(stepper);
}

bool carom_dcr_remember(carom_stepper *stepper, carom_tape *tape) {
  carom_dcr *w = stepper->work;
  return carom_integrator_variational.remember(stepper, tape) && carom_contacts_remember(w->contacts, tape) &&
         carom_memory_remember(w->memory, tape) && carom_tape_pass_numbers(tape, &w->energy_scale, 1) &&
         carom_tape_pass_numbers(tape, w->debt, (size_t)stepper->model->body_count);
}
