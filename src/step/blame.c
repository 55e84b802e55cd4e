// What in the model may be behind a step that failed, for its message.
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

void carom_step_blame(const carom_model *model, carom_error *error) {
  int one, two;
  if (!error) return;
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
