// Which channels a loop has: time, those of sensors, of joints, and of inputs.
#include <stdio.h>
#include <string.h>

#include "control/loop.h"
#include "model/joint_rows.h"

enum { MOST_KINDS = CAROM_SENSOR_GAIT + 1, MOST_CHANNELS = 9 };

// A channel of a kind: what comes after the dot, and its unit.
typedef struct suffix {
  const char *name, *unit;
} suffix;

static const suffix suffixes[MOST_KINDS][MOST_CHANNELS] = {
    [CAROM_SENSOR_POSE] = {{"x", "m"},
                           {"y", "m"},
                           {"z", "m"},
                           {"qw", ""},
                           {"qx", ""},
                           {"qy", ""},
                           {"qz", ""},
                           {"angle", "rad"},
                           {"heading", "rad"}},
    [CAROM_SENSOR_VELOCITY] = {{"vx", "m/s"},
                               {"vy", "m/s"},
                               {"vz", "m/s"},
                               {"speed", "m/s"},
                               {"wx", "rad/s"},
                               {"wy", "rad/s"},
                               {"wz", "rad/s"},
                               {"spin", "rad/s"}},
    [CAROM_SENSOR_JOINT] = {{"angle", "rad"}, {"rate", "rad/s"}, {"slide", "m"}, {"speed", "m/s"}},
    [CAROM_SENSOR_REACTION] = {{"fx", "N"},
                               {"fy", "N"},
                               {"fz", "N"},
                               {"force", "N"},
                               {"mx", "N m"},
                               {"my", "N m"},
                               {"mz", "N m"},
                               {"moment", "N m"}},
    [CAROM_SENSOR_CONTACT] = {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"force", "N"}, {"touches", ""}},
    [CAROM_SENSOR_GAP] = {{"gap", "m"}},
    [CAROM_SENSOR_GAIT] = {{"step", ""}, {"phase", ""}, {"time", "s"}, {"began", "s"}},
};

// Of every joint that turns, with its name in between.
static const suffix gait_suffixes[CAROM_GAIT_OF_JOINT] = {{"angle", "rad"}, {"rate", "rad/s"}, {"torque", "N m"}};

static const suffix input_suffixes[6] = {{"thrust_x", "N"},   {"thrust_y", "N"},   {"thrust_z", "N"},
                                         {"torque_x", "N m"}, {"torque_y", "N m"}, {"torque_z", "N m"}};
static const suffix turn_suffix = {"torque", "N m"}, slide_suffix = {"thrust", "N"};

// Of joints: angle and rate, slide and speed, or all four.
static void joint_range(carom_joint_kind kind, int *from, int *to) {
  *from = carom_joint_turns(kind) ? 0 : 2;
  *to = carom_joint_slides(kind) ? 4 : 2;
}

static int channels_of(const carom_model *model, const carom_sensor_def *sensor, const suffix **first) {
  int from = 0, to = 0;
  if (sensor->kind == CAROM_SENSOR_JOINT)
    joint_range(model->joints[sensor->joint].kind, &from, &to);
  else
    while (to < MOST_CHANNELS && suffixes[sensor->kind][to].name) to++;
  *first = &suffixes[sensor->kind][from];
  return to > from ? to - from : 0;
}

static carom_sensor_def sensor_at(const carom_loop *loop, int index) {
  const carom_loop_def *def = loop->def;
  if (index < def->sensor_count) return def->sensors[index];
  int joint = (index - def->sensor_count) / 2;
  carom_sensor_def own = carom_sensor_default();
  own.name = loop->model->joints[joint].name;
  own.joint = joint;
  own.kind = (index - def->sensor_count) % 2 == 0 ? CAROM_SENSOR_JOINT : CAROM_SENSOR_REACTION;
  return own;
}

static size_t name_size(const char *of, const suffix *s) { return strlen(of) + strlen(s->name) + 2; }

// Channels of a gait's joints, and the room for their names.
static int gait_channels(const carom_model *model, const carom_sensor_def *sensor, size_t *size) {
  int count = 0;
  *size = 0;
  for (int j = 0; j < model->joint_count && sensor->kind == CAROM_SENSOR_GAIT; j++)
    for (int k = 0; k < CAROM_GAIT_OF_JOINT && carom_joint_turns(model->joints[j].kind); k++) {
      *size += strlen(sensor->name) + 1 + name_size(model->joints[j].name, &gait_suffixes[k]);
      count++;
    }
  return count;
}

static const suffix *input_suffix(const carom_input *input, int k) {
  return input->kind == CAROM_INPUT_WRENCH ? &input_suffixes[k]
         : input->kind == CAROM_INPUT_TURN ? &turn_suffix
                                           : &slide_suffix;
}

static void count_channels(carom_loop *loop) {
  loop->sensor_count = loop->def->sensor_count + 2 * loop->model->joint_count;
  loop->channel_count = 1;
  loop->text_size = 2;  // "t"
  for (int i = 0; i < loop->sensor_count; i++) {
    const suffix *s;
    carom_sensor_def sensor = sensor_at(loop, i);
    int count = channels_of(loop->model, &sensor, &s);
    loop->channel_count += count;
    for (int k = 0; k < count; k++) loop->text_size += name_size(sensor.name, &s[k]);
    size_t size;
    loop->channel_count += gait_channels(loop->model, &sensor, &size);
    loop->text_size += size;
  }
  for (int i = 0; i < loop->model->input_count; i++) {
    const carom_input *input = &loop->model->inputs[i];
    loop->channel_count += input->count;
    for (int k = 0; k < input->count; k++) loop->text_size += name_size(input->name, input_suffix(input, k));
  }
}

void carom_loop_push_channels(carom_loop *loop, carom_arena *arena) {
  count_channels(loop);
  loop->channels = CAROM_PUSH(arena, carom_channel, loop->channel_count);
  loop->sensors = CAROM_PUSH(arena, carom_sensor, loop->sensor_count);
  loop->texts = CAROM_PUSH(arena, char, loop->text_size);
}

// ---- names ----------------------------------------------------------------------------------------------------------

// The channels so far, and where the next name goes.
typedef struct naming {
  carom_loop *loop;
  char *text;
  int count;
} naming;

// What comes before the last dot; null parts are left out.
typedef struct owner {
  const char *sensor, *joint;
} owner;

static carom_status name_channel(naming *n, owner of, const suffix *s, carom_error *error) {
  carom_loop *loop = n->loop;
  char *name = n->text;
  if (of.sensor) n->text += sprintf(n->text, "%s.", of.sensor);
  if (of.joint) n->text += sprintf(n->text, "%s.", of.joint);
  n->text += 1 + sprintf(n->text, "%s", s->name);
  if (carom_names_find(&loop->names, name) >= 0)
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        "two channels are named '%.100s': give the sensor a name that no joint, input or other sensor has", name);
  loop->channels[n->count] = (carom_channel){name, s->unit};
  if (!carom_names_add(&loop->names, name, n->count++))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d channels", loop->channel_count);
  return CAROM_OK;
}

static carom_status name_gait(naming *n, carom_sensor *sensor, carom_error *error) {
  const carom_model *m = n->loop->model;
  carom_status status = CAROM_OK;
  for (int j = 0; j < m->joint_count && sensor->def.kind == CAROM_SENSOR_GAIT; j++)
    for (int k = 0; k < CAROM_GAIT_OF_JOINT && status == CAROM_OK && carom_joint_turns(m->joints[j].kind); k++) {
      status = name_channel(n, (owner){sensor->def.name, m->joints[j].name}, &gait_suffixes[k], error);
      sensor->count++;
    }
  return status;
}

static carom_status name_sensor(naming *n, carom_sensor *sensor, carom_error *error) {
  const suffix *s;
  carom_status status = CAROM_OK;
  sensor->first = n->count;
  sensor->count = channels_of(n->loop->model, &sensor->def, &s);
  for (int k = 0; k < sensor->count && status == CAROM_OK; k++)
    status = name_channel(n, (owner){sensor->def.name, NULL}, &s[k], error);
  return status == CAROM_OK ? name_gait(n, sensor, error) : status;
}

static carom_status name_inputs(naming *n, carom_error *error) {
  carom_status status = CAROM_OK;
  n->loop->first_input = n->count;
  for (int i = 0; i < n->loop->model->input_count; i++) {
    const carom_input *input = &n->loop->model->inputs[i];
    for (int k = 0; k < input->count && status == CAROM_OK; k++)
      status = name_channel(n, (owner){input->name, NULL}, input_suffix(input, k), error);
  }
  return status;
}

carom_status carom_loop_name_channels(carom_loop *loop, carom_error *error) {
  static const suffix time = {"t", "s"};
  naming n = {loop, loop->texts, 0};
  carom_status status = name_channel(&n, (owner){NULL, NULL}, &time, error);
  for (int i = 0; i < loop->sensor_count && status == CAROM_OK; i++) {
    loop->sensors[i].def = sensor_at(loop, i);
    loop->reacts = loop->reacts || loop->sensors[i].def.kind == CAROM_SENSOR_REACTION;
    status = name_sensor(&n, &loop->sensors[i], error);
  }
  return status == CAROM_OK ? name_inputs(&n, error) : status;
}
