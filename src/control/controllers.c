// What a controller says: formulas, servos along joints, the tracking law; then schedule, limits, samples and delay.
#include "control/loop.h"

#include <math.h>
#include <string.h>

#include "base/expression.h"
#include "model/joint_rows.h"

// ---- formulas -------------------------------------------------------------------------------------------------------

static int find_name(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  const carom_loop *loop = context;
  char word[256];
  if (length >= sizeof word) return 0;
  memcpy(word, name, length);
  word[length] = '\0';
  *slot = carom_names_find(&loop->names, word);
  if (*slot >= 0) return 1;
  for (int i = 0; i < loop->def->constant_count; i++)
    if (strcmp(loop->def->constants[i].name, word) == 0) {
      *value = (carom_quantity){.value = loop->def->constants[i].value, .plain = true};
      return 1;
    }
  return 0;
}

static void suggest_names(void *context, carom_nearest *nearest) {
  const carom_loop *loop = context;
  for (int i = 0; i < loop->channel_count; i++) carom_nearest_try(nearest, loop->channels[i].name);
  for (int i = 0; i < loop->def->constant_count; i++) carom_nearest_try(nearest, loop->def->constants[i].name);
}

static carom_status compile(carom_loop *loop, carom_controller *c, int k, carom_error *error) {
  const char *text = c->def->formula[k];
  carom_formula_scope scope = {.context = loop, .find = find_name, .suggest = suggest_names};
  carom_expression_error why = {0};
  if (carom_formula_compile(text, strlen(text), &scope, &loop->arena.allocator, &c->formula[k], &why)) return CAROM_OK;
  if (!why.message[0]) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a formula");
  if (loop->fault) {
    loop->fault->formula = k, loop->fault->offset = why.offset;
    memcpy(loop->fault->message, why.message, sizeof why.message);
    memcpy(loop->fault->hint, why.hint, sizeof why.hint);
  }
  return carom_fail(error, CAROM_ERR_ARGUMENT, "controller '%.80s': '%.120s': %s%s%s", c->def->name, text, why.message,
                    why.hint[0] ? "; " : "", why.hint);
}

static carom_status compile_all(carom_loop *loop, carom_controller *c, carom_error *error) {
  carom_status status = CAROM_OK;
  int count = c->def->kind == CAROM_CONTROLLER_SERVO     ? 1
              : c->def->kind == CAROM_CONTROLLER_FORMULA ? c->input->count
                                                         : 0;
  for (int k = 0; k < count && status == CAROM_OK; k++)
    if (c->def->formula[k]) status = compile(loop, c, k, error);
  return status;
}

// ---- what makes sense -----------------------------------------------------------------------------------------------

static carom_status check_numbers(const carom_controller_def *d, carom_error *error) {
  if (!(d->force_limit > 0) || !(d->torque_limit > 0))
    return carom_fail(error, CAROM_ERR_NUMBER, "controller '%.80s': limits of %g N and %g N m, expected more than 0",
                      d->name, d->force_limit, d->torque_limit);
  if (!(d->sample >= 0) || !(d->delay >= 0) || isinf(d->sample) || isinf(d->delay))
    return carom_fail(error, CAROM_ERR_NUMBER, "controller '%.80s': sample time %g s and delay %g s must be 0 or more",
                      d->name, d->sample, d->delay);
  for (int i = 0; i < d->knot_count; i++)
    if (!isfinite(d->knots[i].time) || !isfinite(d->knots[i].factor) ||
        (i > 0 && !(d->knots[i].time > d->knots[i - 1].time)))
      return carom_fail(error, CAROM_ERR_NUMBER,
                        "controller '%.80s': knot %d of its schedule is not finite, or its times do not ascend",
                        d->name, i);
  return CAROM_OK;
}

static carom_status check_servo(carom_loop *loop, const carom_controller *c, carom_error *error) {
  const carom_controller_def *d = c->def;
  if (c->input->kind == CAROM_INPUT_WRENCH)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "controller '%.80s' is a servo: it needs an input along a joint, not the wrench '%.80s'", d->name,
                      c->input->name);
  if (!(d->stiffness >= 0) || !(d->damping >= 0) || isinf(d->stiffness) || isinf(d->damping))
    return carom_fail(error, CAROM_ERR_NUMBER, "controller '%.80s': stiffness %g and damping %g must be 0 or more",
                      d->name, d->stiffness, d->damping);
  if (!d->feed_forward || loop->mechanism) return CAROM_OK;
  return carom_mechanism_create(loop->model, &loop->arena.allocator, &loop->mechanism, error);
}

static carom_status check_track(const carom_loop *loop, carom_controller *c, carom_error *error) {
  const carom_controller_def *d = c->def;
  const carom_input *input = c->input;
  if (input->kind != CAROM_INPUT_WRENCH || input->body_axes || cm_norm(input->point) > 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "controller '%.80s' tracks a body: it needs a wrench at the centre of mass in world axes, which "
                      "'%.80s' is not",
                      d->name, input->name);
  c->plant = carom_plant_of(loop->model, input->body);
  if (d->cancel_weight) c->plant.external_force = cm_scale(c->plant.mass, loop->model->gravity);
  carom_error why = {0};
  carom_status status = carom_track_check(&c->plant, &d->gains, &why);
  carom_reference rest = carom_reference_rest(d->guide.pose);
  if (status == CAROM_OK && !d->guide.trajectory && !d->guide.line) status = carom_reference_check(&rest, &why);
  return status == CAROM_OK ? CAROM_OK : carom_fail(error, status, "controller '%.80s': %s", d->name, why.message);
}

carom_status carom_controller_ready(carom_loop *loop, carom_controller *c, const carom_controller_def *def,
                                    carom_error *error) {
  c->def = def;
  c->freedom = -1;
  if (def->input < 0 || def->input >= loop->model->input_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "controller '%.80s': input %d, but the model has %d", def->name,
                      def->input, loop->model->input_count);
  c->input = &loop->model->inputs[def->input];
  carom_status status = check_numbers(def, error);
  if (status == CAROM_OK && def->kind == CAROM_CONTROLLER_SERVO) status = check_servo(loop, c, error);
  if (status == CAROM_OK && def->kind == CAROM_CONTROLLER_TRACK) status = check_track(loop, c, error);
  return status == CAROM_OK ? compile_all(loop, c, error) : status;
}

// ---- laws -----------------------------------------------------------------------------------------------------------

static void say_formulas(const carom_loop *loop, const carom_controller *c, double *u) {
  for (int k = 0; k < c->input->count; k++) u[k] = c->formula[k] ? carom_formula_value(c->formula[k], loop->values) : 0;
}

static void say_servo(const carom_loop *loop, const carom_controller *c, const carom_state *state, double *u) {
  double target[3] = {0};
  carom_joint_motion q = carom_state_joint(loop->model, state, c->input->joint);
  bool turn = c->input->kind == CAROM_INPUT_TURN;
  double error = turn ? q.turn : q.slide, rate = turn ? q.turn_rate : q.slide_rate;
  if (c->formula[0]) carom_formula_jet(c->formula[0], loop->values, 0, target);
  u[0] = -c->def->stiffness * (error - target[0]) - c->def->damping * (rate - target[1]);
  if (c->freedom >= 0) u[0] += loop->forces[c->freedom];
}

static carom_status say_track(const carom_loop *loop, carom_controller *c, const carom_state *state, double *u,
                              carom_error *error) {
  carom_controller_memory *memory = c->memory;
  carom_reference reference;
  carom_error why = {0};
  carom_rigid_motion motion = carom_state_motion(loop->model, state, c->input->body);
  carom_status status = carom_guide_at(&c->def->guide, state->time, motion.position, &memory->guide, &reference, &why);
  if (status != CAROM_OK)
    return carom_fail(error, status, "controller '%.80s' at t = %.9g s: %s", c->def->name, state->time, why.message);
  memory->answer = carom_track(&c->plant, &motion, &reference, &c->def->gains, &memory->track);
  carom_vec3 torque = cm_rotate(motion.rotation, memory->answer.torque_body), force = memory->answer.force;
  u[0] = force.x, u[1] = force.y, u[2] = force.z;
  u[3] = torque.x, u[4] = torque.y, u[5] = torque.z;
  return CAROM_OK;
}

// ---- schedule and limits --------------------------------------------------------------------------------------------

// A vector keeps its direction.
static void shorten(double *u, int count, double limit) {
  double size = count == 3 ? sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) : fabs(u[0]);
  for (int k = 0; k < count && size > limit; k++) u[k] *= limit / size;
}

static void bound(const carom_controller *c, double time, double *u) {
  const carom_controller_def *d = c->def;
  double factor = carom_schedule_value(d->knots, d->knot_count, time);
  for (int k = 0; k < c->input->count; k++) u[k] *= factor;
  if (c->input->kind == CAROM_INPUT_WRENCH) {
    shorten(u, 3, d->force_limit);
    shorten(u + 3, 3, d->torque_limit);
  } else {
    shorten(u, 1, c->input->kind == CAROM_INPUT_TURN ? d->torque_limit : d->force_limit);
  }
}

// ---- samples and delay ----------------------------------------------------------------------------------------------

static const double LEEWAY = 1e-6;  // of a sample or a step: times are sums of steps

bool carom_controller_is_due(const carom_controller *c, double time) {
  return c->memory->samples == 0 || !(c->def->sample > 0) || time >= c->memory->next_sample - LEEWAY * c->def->sample;
}

static void note(carom_controller *c, double time, const double *u) {
  carom_controller_memory *memory = c->memory;
  memcpy(memory->held, u, sizeof memory->held);
  memory->samples++;
  if (c->def->sample > 0) memory->next_sample = c->def->sample * (floor(time / c->def->sample + LEEWAY) + 1);
  if (!c->queue) return;
  carom_said *entry = &c->queue[memory->said++ % (uint64_t)c->queue_size];
  entry->time = time;
  memcpy(entry->u, u, sizeof entry->u);
}

carom_status carom_controller_say(carom_loop *loop, carom_controller *c, const carom_state *state, carom_error *error) {
  double u[6] = {0};
  carom_status status = CAROM_OK;
  if (c->def->kind == CAROM_CONTROLLER_FORMULA) say_formulas(loop, c, u);
  if (c->def->kind == CAROM_CONTROLLER_SERVO) say_servo(loop, c, state, u);
  if (c->def->kind == CAROM_CONTROLLER_TRACK) status = say_track(loop, c, state, u, error);
  if (status != CAROM_OK) return status;
  for (int k = 0; k < c->input->count; k++)
    if (!isfinite(u[k]))
      return carom_fail(
          error, CAROM_ERR_NUMBER,
          "controller '%.80s' says %g for number %d of input '%.80s' at t = %.9g s: check its formula for "
          "divisions by zero and roots of negative numbers",
          c->def->name, u[k], k + 1, c->input->name, state->time);
  bound(c, state->time, u);
  note(c, state->time, u);
  return CAROM_OK;
}

// The newest that is old enough; nothing before the first is.
const double *carom_controller_do(carom_controller *c, double time) {
  static const double nothing[6] = {0};
  const carom_controller_memory *memory = c->memory;
  if (!c->queue) return memory->held;
  double then = time - c->def->delay + LEEWAY * c->def->delay;
  uint64_t size = (uint64_t)c->queue_size;
  for (uint64_t back = 1; back <= size && back <= memory->said; back++) {
    const carom_said *entry = &c->queue[(memory->said - back) % size];
    if (entry->time <= then) return entry->u;
  }
  return nothing;
}
