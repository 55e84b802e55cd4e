// What in the model may be behind a step that failed, for its message.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "step/step.h"

static bool prescribed(const carom_joint *joint) {
  return joint->slide.motor > CAROM_MOTOR_FORCE || joint->turn.motor > CAROM_MOTOR_FORCE;
}

static bool same_bodies(const carom_joint *a, const carom_joint *b) {
  return (a->body[0] == b->body[0] && a->body[1] == b->body[1]) ||
         (a->body[0] == b->body[1] && a->body[1] == b->body[0]);
}

// Two motors that prescribe how the same two bodies move against each other.
static bool find_motors(const carom_model *m, int *one, int *two) {
  for (*one = 0; *one < m->joint_count; ++*one)
    for (*two = *one + 1; *two < m->joint_count; ++*two) {
      const carom_joint *a = &m->joints[*one], *b = &m->joints[*two];
      if (prescribed(a) && prescribed(b) && same_bodies(a, b)) return true;
    }
  return false;
}

// A motor that prescribes a motion, whatever is in its way.
static const carom_joint *find_motor(const carom_model *m) {
  for (int i = 0; i < m->joint_count; i++)
    if (prescribed(&m->joints[i])) return &m->joints[i];
  return NULL;
}

// ---- bodies that no number can follow -------------------------------------------------------------------------------

static const double BEYOND = 1e100;    // m, m/s: squares and products of such numbers are still numbers
static const double INCREDIBLE = 1e9;  // m/s

// A length, as far as it matters here, whose squares may not be numbers any more.
static double largest(carom_vec3 v) { return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z))); }

static double speed_of(const carom_model *model, const carom_state *state, int body) {
  double spin = largest(carom_state_angular_velocity(model, state, body));
  return largest(carom_state_velocity(model, state, body)) + spin * model->bodies[body].bounding_radius;
}

// And what gravity and applied forces may add to it in a step.
static double speed_to_come(const carom_model *model, const carom_state *state, int body, double h) {
  double force = 0;
  for (int i = 0; i < model->force_count; i++)
    if (model->forces[i].body == body) force += largest(model->forces[i].force);
  for (int i = 0; i < model->input_count; i++) {
    const carom_input *input = &model->inputs[i];
    const double *u = state->inputs + input->first;
    if (input->body == body) force += largest(cm_vec3(u[0], u[1], u[2]));
  }
  return speed_of(model, state, body) + h * (largest(model->gravity) + force * model->bodies[body].inverse_mass);
}

static int find_fastest(const carom_model *model, const carom_state *state, double h, double *speed) {
  int fastest = -1;
  *speed = 0;
  for (int i = 0; i < model->body_count; i++) {
    if (model->bodies[i].fixed) continue;
    double v = speed_to_come(model, state, i, h);
    if (fastest < 0 || !(v <= *speed)) fastest = i, *speed = v;
  }
  return fastest;
}

// The fastest node, or one whose speed is no number; -1 where there are no solids.
static int find_fastest_node(const carom_model *model, const carom_state *state, double h, double *speed) {
  int fastest = -1;
  *speed = 0;
  for (int i = 0; i < model->node_count; i++) {
    double v = largest(state->node_velocities[i]) + h * largest(model->gravity);
    if (fastest < 0 || !(v <= *speed)) fastest = i, *speed = v;
  }
  return fastest;
}

static carom_status check_nodes(const carom_model *model, const carom_state *state, carom_error *error) {
  for (int i = 0; i < model->node_count; i++) {
    double v = largest(state->node_velocities[i]), away = largest(state->nodes[i]);
    if (v <= BEYOND && away <= BEYOND) continue;
    const carom_solid *solid = &model->solids[carom_model_solid_of(model, i)];
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "node %d of solid '%.200s' %s %.3g %s at t = %.9g s, beyond what can be computed: check its start "
        "state, its density and the pressure on it",
        i - solid->node_start, solid->name, v <= BEYOND ? "is at" : "moves at", v <= BEYOND ? away : v,
        v <= BEYOND ? "m" : "m/s", state->time);
  }
  return CAROM_OK;
}

carom_status carom_step_check_speed(const carom_model *model, const carom_state *state, carom_error *error) {
  for (int i = 0; i < model->body_count; i++) {
    const carom_body *body = &model->bodies[i];
    double v = body->fixed ? 0 : speed_of(model, state, i), away = largest(state->x[i]);
    if (v <= BEYOND && away <= BEYOND) continue;
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "body '%.200s' %s %.3g %s at t = %.9g s, beyond what can be computed: check its start state, its "
                      "mass and the forces on it",
                      body->name, v <= BEYOND ? "is at" : "moves or turns at", v <= BEYOND ? away : v,
                      v <= BEYOND ? "m" : "m/s", state->time);
  }
  return check_nodes(model, state, error);
}

// ---- messages --------------------------------------------------------------------------------------------------

static void add(carom_error *error, const char *format, ...) CAROM_PRINTF(2, 3);
static void add(carom_error *error, const char *format, ...) {
  size_t n = strlen(error->message);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message + n, sizeof error->message - n, format, arguments);
  va_end(arguments);
}

// No memory, and options that do not fit, are no matter of bodies.
static bool is_of_motion(carom_status status) {
  return status == CAROM_NOT_CONVERGED || status == CAROM_ERR_NUMBER || status == CAROM_ERR_SINGULAR ||
         status == CAROM_ERR_GEOMETRY;
}

static void tell_node(const carom_model *model, const carom_state *state, double h, carom_error *error) {
  double speed;
  int node = find_fastest_node(model, state, h, &speed);
  if (node < 0 || speed <= INCREDIBLE) return;
  const carom_solid *solid = &model->solids[carom_model_solid_of(model, node)];
  add(error, "; node %d of solid '%.60s' would move at %.3g m/s: check its start state, or take a smaller step",
      node - solid->node_start, solid->name, speed);
}

void carom_step_tell(const carom_model *model, const carom_state *state, double h, carom_error *error) {
  double speed;
  if (!error || !is_of_motion(error->status)) return;
  int body = find_fastest(model, state, h, &speed);
  if (!strstr(error->message, "t = ")) add(error, " (t = %.9g s)", state->time);
  if (strstr(error->message, "check its start state")) return;
  bool named = strchr(error->message, '\'') != NULL;
  if (body >= 0 && !(speed <= INCREDIBLE))
    add(error, "; body '%.60s' would move at %.3g m/s: check its start state, its mass and the forces on it",
        model->bodies[body].name, speed);
  else if (body >= 0 && !named)
    add(error, "; body '%.60s' is the fastest there, %.3g m/s: check its start state and the forces on it",
        model->bodies[body].name, speed);
  tell_node(model, state, h, error);
}

void carom_step_blame(const carom_model *model, carom_error *error) {
  int one, two;
  if (!error || strstr(error->message, "solid '")) return;  // solids tell what would do
  size_t n = strlen(error->message), room = sizeof error->message - n;
  const carom_joint *motor = find_motor(model);
  if (find_motors(model, &one, &two))
    snprintf(error->message + n, room,
             "; the motors of joints '%.60s' and '%.60s' prescribe the same motion: remove one",
             model->joints[one].name, model->joints[two].name);
  else if (model->drive_count > 0)
    snprintf(error->message + n, room, "; the driven body '%.60s' may leave no room: end its motion earlier",
             model->bodies[model->drives[0].body].name);
  else if (motor)
    snprintf(error->message + n, room,
             "; the motor of joint '%.60s' goes on whatever is in its way: end its motion earlier ('schedule'), or "
             "prescribe a force or torque",
             motor->name);
}
