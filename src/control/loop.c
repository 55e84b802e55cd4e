// Control in the loop: sense, let controllers say what they want, and hold it for a step.
#include "control/loop.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/mechanics.h"
#include "model/model.h"

enum { MOST_QUEUE = 1000000 };  // steps within a delay

// ---- set-up ---------------------------------------------------------------------------------------------------------

static int queue_size(const carom_loop *loop, const carom_controller_def *def) {
  return def->delay > 0 && def->delay / loop->step < MOST_QUEUE ? (int)ceil(def->delay / loop->step) + 2 : 0;
}

// Values, what controllers remember, queues: all of it whole doubles, one after the other.
static void push_memory(carom_loop *loop, carom_arena *arena) {
  const carom_loop_def *def = loop->def;
  size_t values = (size_t)loop->channel_count * sizeof *loop->values;
  size_t memories = (size_t)def->controller_count * sizeof(carom_controller_memory), queues = 0;
  for (int i = 0; i < def->controller_count; i++)
    queues += (size_t)queue_size(loop, &def->controllers[i]) * sizeof(carom_said);
  loop->memory_size = values + memories + queues;
  loop->memory = CAROM_PUSH(arena, unsigned char, loop->memory_size);
  if (!loop->memory) return;
  loop->values = (double *)loop->memory;
  carom_controller_memory *memory = (carom_controller_memory *)(loop->memory + values);
  carom_said *queue = (carom_said *)(loop->memory + values + memories);
  for (int i = 0; i < def->controller_count; i++) {
    carom_controller *c = &loop->controllers[i];
    c->memory = memory + i;
    c->queue_size = queue_size(loop, &def->controllers[i]);
    c->queue = c->queue_size > 0 ? queue : NULL;
    queue += c->queue_size;
  }
}

static bool feeds_forward(const carom_loop_def *def) {
  for (int i = 0; i < def->controller_count; i++)
    if (def->controllers[i].kind == CAROM_CONTROLLER_SERVO && def->controllers[i].feed_forward) return true;
  return false;
}

static void lay_out(void *owner, carom_arena *arena) {
  carom_loop *loop = owner;
  const carom_model *m = loop->model;
  int freedoms = feeds_forward(loop->def) ? 6 * m->moving_count : 0;
  carom_loop_push_channels(loop, arena);
  loop->controllers = CAROM_PUSH(arena, carom_controller, loop->def->controller_count);
  loop->driven = CAROM_PUSH(arena, bool, m->input_size);
  loop->loads = CAROM_PUSH(arena, carom_joint_load, m->joint_count);
  loop->accelerations = CAROM_PUSH(arena, double, freedoms);
  loop->forces = CAROM_PUSH(arena, double, freedoms);
  push_memory(loop, arena);
}

static carom_status check_def(const carom_loop *loop, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < loop->def->sensor_count && status == CAROM_OK; i++)
    status = carom_sensor_check(loop, &loop->def->sensors[i], error);
  for (int i = 0; i < loop->def->controller_count && status == CAROM_OK; i++) {
    const carom_controller_def *c = &loop->def->controllers[i];
    if (c->delay / loop->step >= MOST_QUEUE)
      status = carom_fail(error, CAROM_ERR_NUMBER, "controller '%.80s': its delay of %g s is over %d steps", c->name,
                          c->delay, MOST_QUEUE);
  }
  return status;
}

static carom_status ready_controllers(carom_loop *loop, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < loop->def->controller_count && status == CAROM_OK; i++) {
    carom_controller *c = &loop->controllers[i];
    if (loop->fault) loop->fault->controller = i;
    status = carom_controller_ready(loop, c, &loop->def->controllers[i], error);
    for (int k = 0; status == CAROM_OK && k < c->input->count; k++) loop->driven[c->input->first + k] = true;
  }
  return status;
}

static carom_status ready_gaits(carom_loop *loop, carom_error *error) {
  for (int i = 0; i < loop->def->sensor_count; i++) {
    carom_sensor *s = &loop->sensors[i];
    carom_error why = {0};
    if (s->def.kind != CAROM_SENSOR_GAIT) continue;
    carom_status status = carom_gait_table_create(s->def.gait, loop->model, &loop->arena.allocator, &s->gait, &why);
    if (status != CAROM_OK) return carom_fail(error, status, "sensor '%.80s': %s", s->def.name, why.message);
  }
  return CAROM_OK;
}

static carom_status fill(carom_loop *loop, carom_error *error) {
  const carom_allocator *a = &loop->arena.allocator;
  carom_names_create(&loop->names, a);
  carom_status status = carom_loop_name_channels(loop, error);
  if (status == CAROM_OK) status = ready_gaits(loop, error);
  if (status == CAROM_OK && loop->reacts) status = carom_reactions_create(loop->model, a, &loop->reactions, error);
  if (status == CAROM_OK && loop->reacts) status = carom_state_create(loop->model, a, &loop->before, error);
  return status == CAROM_OK ? ready_controllers(loop, error) : status;
}

static carom_status make(const carom_loop *initial, const carom_allocator *allocator, carom_loop **loop,
                         carom_error *error) {
  *loop = NULL;
  if (!(initial->step > 0) || isinf(initial->step))
    return carom_fail(error, CAROM_ERR_NUMBER, "control in the loop by steps of %g s, expected more than 0",
                      initial->step);
  carom_status status = check_def(initial, error);
  if (status != CAROM_OK) return status;
  carom_loop *l = carom_object_create(initial, sizeof *initial, lay_out, allocator, error);
  if (!l) return CAROM_ERR_MEMORY;
  status = fill(l, error);
  if (status != CAROM_OK) {
    carom_loop_destroy(l);
    return status;
  }
  *loop = l;
  return CAROM_OK;
}

carom_status carom_loop_create(const carom_loop_def *def, const carom_model *model, double step,
                               const carom_allocator *allocator, carom_loop **loop, carom_error *error) {
  return make(&(carom_loop){.def = def, .model = model, .step = step}, allocator, loop, error);
}

void carom_loop_destroy(carom_loop *loop) {
  if (!loop) return;
  for (int i = 0; i < loop->def->controller_count; i++)
    for (int k = 0; k < 6; k++) carom_formula_destroy(loop->controllers[i].formula[k]);
  for (int i = 0; i < loop->sensor_count; i++) carom_gait_table_destroy(loop->sensors[i].gait);
  carom_reactions_destroy(loop->reactions);
  carom_mechanism_destroy(loop->mechanism);
  carom_state_destroy(loop->before);
  carom_names_destroy(&loop->names);
  carom_object_destroy(loop);
}

// ---- what can be asked ----------------------------------------------------------------------------------------------

int carom_loop_channel_count(const carom_loop *loop) { return loop->channel_count; }
const carom_channel *carom_loop_channels(const carom_loop *loop) { return loop->channels; }
int carom_loop_find_channel(const carom_loop *loop, const char *name) { return carom_names_find(&loop->names, name); }
const double *carom_loop_values(const carom_loop *loop) { return loop->values; }

bool carom_loop_tracked(const carom_loop *loop, int controller, carom_track_answer *answer) {
  if (controller < 0 || controller >= loop->def->controller_count) return false;
  const carom_controller *c = &loop->controllers[controller];
  if (c->def->kind != CAROM_CONTROLLER_TRACK || c->memory->samples == 0) return false;
  *answer = c->memory->answer;
  return true;
}

// ---- sensing --------------------------------------------------------------------------------------------------------

carom_status carom_loop_begin(carom_loop *loop, const carom_state *state, carom_error *error) {
  for (int i = 0; i < loop->sensor_count; i++)
    if (loop->sensors[i].gait) carom_gait_begin(state, loop->values + loop->sensors[i].first);
  return carom_loop_sense(loop, state, NULL, error);
}

carom_status carom_loop_sense(carom_loop *loop, const carom_state *state, const carom_step_report *report,
                              carom_error *error) {
  carom_status status = carom_state_check(loop->model, state, error);
  if (status == CAROM_OK) status = carom_sense_state(loop, state, error);
  return status == CAROM_OK ? carom_sense_step(loop, state, report, error) : status;
}

// ---- acting ---------------------------------------------------------------------------------------------------------

// Accelerations that the targets of servos ask for; joints without one go on as they are.
static void gather_accelerations(carom_loop *loop) {
  memset(loop->accelerations, 0, (size_t)carom_mechanism_freedoms(loop->mechanism) * sizeof *loop->accelerations);
  for (int i = 0; i < loop->def->controller_count; i++) {
    carom_controller *c = &loop->controllers[i];
    double target[3] = {0};
    int count;
    if (c->def->kind != CAROM_CONTROLLER_SERVO || !c->def->feed_forward) continue;
    c->freedom = carom_mechanism_joint(loop->mechanism, c->input->joint, &count);
    if (c->freedom >= 0 && count == 2 && c->input->kind == CAROM_INPUT_TURN) c->freedom++;  // after the slide
    if (c->formula[0]) carom_formula_jet(c->formula[0], loop->values, 0, target);
    if (c->freedom >= 0) loop->accelerations[c->freedom] = target[2];
  }
}

static carom_status feed_forward(carom_loop *loop, const carom_state *state, carom_error *error) {
  if (!loop->mechanism) return CAROM_OK;
  carom_status status = carom_mechanism_update(loop->mechanism, state, error);
  if (status != CAROM_OK) return status;
  gather_accelerations(loop);
  carom_mechanism_inverse(loop->mechanism, loop->accelerations, loop->forces, NULL);
  return CAROM_OK;
}

static void add_up(carom_loop *loop, double time, double *inputs) {
  for (int i = 0; i < loop->model->input_size; i++)
    if (loop->driven[i]) inputs[i] = 0;
  for (int i = 0; i < loop->def->controller_count; i++) {
    carom_controller *c = &loop->controllers[i];
    const double *u = carom_controller_do(c, time);
    for (int k = 0; k < c->input->count; k++) inputs[c->input->first + k] += u[k];
  }
}

static carom_status say_all(carom_loop *loop, const carom_state *state, carom_error *error) {
  carom_status status = feed_forward(loop, state, error);
  for (int i = 0; i < loop->def->controller_count && status == CAROM_OK; i++) {
    if (loop->fault) loop->fault->controller = i;
    if (carom_controller_is_due(&loop->controllers[i], state->time))
      status = carom_controller_say(loop, &loop->controllers[i], state, error);
  }
  return status;
}

// Who did not sense after the last step sees at least what the state tells.
static carom_status act(void *context, const carom_control_view *view, double *inputs, carom_error *error) {
  carom_loop *loop = context;
  const carom_state *state = view->state;
  carom_status status = CAROM_OK;
  if (loop->reacts) carom_state_copy(loop->before, state);
  if (loop->values[0] != state->time) status = carom_sense_state(loop, state, error);
  if (status == CAROM_OK) status = say_all(loop, state, error);
  if (status == CAROM_OK) add_up(loop, state->time, inputs);
  return status;
}

carom_status carom_loop_attach(carom_loop *loop, carom_stepper *stepper, carom_error *error) {
  carom_control control = {.act = act, .context = loop, .memory = loop->memory, .memory_size = loop->memory_size};
  bool idle = loop->channel_count == 1;  // nothing but time
  return carom_stepper_set_control(stepper, idle ? NULL : &control, error);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

carom_status carom_loop_find_fault(const carom_loop_def *def, const carom_model *model, const carom_state *state,
                                   double step, carom_loop_fault *fault, carom_error *error) {
  carom_loop *loop;
  *fault = (carom_loop_fault){.controller = -1, .formula = -1};
  carom_loop initial = {.def = def, .model = model, .step = step, .fault = fault};
  carom_status status = make(&initial, &def->allocator, &loop, error);
  if (status == CAROM_OK) status = carom_loop_begin(loop, state, error);
  if (status == CAROM_OK) status = say_all(loop, state, error);
  carom_loop_destroy(loop);
  return status;
}
