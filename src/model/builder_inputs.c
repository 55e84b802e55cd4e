// Inputs: forces that are told from outside, step by step.
#include <stdio.h>

#include "model/builder.h"
#include "model/joint_rows.h"

carom_input_def carom_input_default(void) { return (carom_input_def){.at_center = true}; }

int carom_model_find_input(const carom_model *model, const char *name) {
  return carom_names_find(&((const carom_model_full *)model)->input_names, name);
}

static carom_status check_wrench(carom_builder *b, const carom_input_def *def, const char *name) {
  if (!carom_builder_knows_body(b, def->body, false, "input")) return b->error.status;
  if (b->model->bodies[def->body].fixed)
    return carom_fail(&b->error, CAROM_ERR_ARGUMENT, "input '%s' acts on body '%s', which is fixed", name,
                      b->model->bodies[def->body].name);
  if (!def->at_center && !cm_finite(def->point))
    return carom_fail(&b->error, CAROM_ERR_NUMBER, "input '%s': its point is not finite", name);
  return CAROM_OK;
}

static carom_coordinate *coordinate_of(carom_builder *b, const carom_input_def *def) {
  carom_joint *joint = &b->model->joints[def->joint];
  return def->kind == CAROM_INPUT_TURN ? &joint->turn : &joint->slide;
}

static carom_status check_coordinate(carom_builder *b, const carom_input_def *def, const char *name) {
  bool turn = def->kind == CAROM_INPUT_TURN;
  if (def->joint < 0 || def->joint >= b->model->view.joint_count)
    return carom_fail(&b->error, CAROM_ERR_ARGUMENT, "input '%s': joint index %d, but there are %d joints so far", name,
                      def->joint, b->model->view.joint_count);
  const carom_joint *joint = &b->model->joints[def->joint];
  if (!(turn ? carom_joint_turns(joint->kind) : carom_joint_slides(joint->kind)))
    return carom_fail(&b->error, CAROM_ERR_ARGUMENT, "input '%s': joint '%s' does not %s", name, joint->name,
                      turn ? "turn about an axis" : "slide");
  const carom_coordinate *c = coordinate_of(b, def);
  if (carom_motor_prescribes(c->motor))
    return carom_fail(&b->error, CAROM_ERR_ARGUMENT,
                      "input '%s': a motor of joint '%s' prescribes what it would push: remove one of them", name,
                      joint->name);
  if (c->input >= 0)
    return carom_fail(&b->error, CAROM_ERR_ARGUMENT, "input '%s': joint '%s' has another one there already", name,
                      joint->name);
  return CAROM_OK;
}

static carom_status check(carom_builder *b, const carom_input_def *def, const char *name) {
  if (carom_names_find(&b->model->input_names, name) >= 0)
    return carom_fail(&b->error, CAROM_ERR_ARGUMENT, "two inputs are named '%s'", name);
  return def->kind == CAROM_INPUT_WRENCH ? check_wrench(b, def, name) : check_coordinate(b, def, name);
}

static void append(carom_builder *b, const carom_input_def *def, const char *name) {
  carom_model *m = &b->model->view;
  bool wrench = def->kind == CAROM_INPUT_WRENCH;
  carom_input input = {.name = name, .kind = def->kind, .first = m->input_size, .count = wrench ? 6 : 1};
  input.body = wrench ? def->body : CAROM_WORLD;
  input.joint = wrench ? -1 : def->joint;
  input.body_axes = wrench && def->body_axes;
  if (wrench && !def->at_center) input.point = carom_builder_point(b, def->body, def->point);
  if (!wrench) coordinate_of(b, def)->input = input.first;
  b->model->inputs[m->input_count++] = input;
  m->input_size += input.count;
}

int carom_builder_add_input(carom_builder *builder, const carom_input_def *def) {
  if (!carom_builder_sound(builder)) return -1;
  carom_model *m = &builder->model->view;
  char fallback[32];
  snprintf(fallback, sizeof fallback, "input%d", m->input_count);
  const char *name = def->name ? def->name : fallback;
  if (check(builder, def, name) != CAROM_OK) return -1;
  char *copy = carom_copy_text(&builder->allocator, name);
  if (!copy || !CAROM_BUILDER_GROW(builder, builder->model->inputs, m->input_count, builder->input_capacity) ||
      !carom_names_add(&builder->model->input_names, copy, m->input_count)) {
    carom_release(&builder->allocator, copy);
    return carom_builder_out_of_memory(builder);
  }
  append(builder, def, copy);
  return m->input_count - 1;
}
