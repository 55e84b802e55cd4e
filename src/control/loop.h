// The inside of control in the loop. A loop is laid out once: channels, then sensors that fill them, then controllers
// that read them. What must be known to go on is one block of memory, which the stepper keeps.
//
//     loop_def.c     what was asked for
//     channels.c     which channels there are
//     sensors.c      a state and a report -> channels
//     gait.c         what a planned step asks of joints -> channels
//     controllers.c  channels -> what a controller says
//     loop.c         the pipeline: sense, act, hold
#ifndef CAROM_SRC_CONTROL_LOOP_H
#define CAROM_SRC_CONTROL_LOOP_H

#include "base/arena.h"
#include "base/formula.h"
#include "base/names.h"
#include "carom/loop.h"
#include "control/gait.h"

typedef struct carom_loop_constant {
  char *name;
  double value;
} carom_loop_constant;

struct carom_loop_def {
  carom_sensor_def *sensors;          // (sensor_count) names are their own
  carom_controller_def *controllers;  // (controller_count) texts, knots and lines are their own
  carom_loop_constant *constants;     // (constant_count)
  carom_trajectory **trajectories;    // (trajectory_count) that are the definition's own
  carom_gait_motion **motions;        // (motion_count) likewise
  int sensor_count, controller_count, constant_count, trajectory_count, motion_count;
  int sensor_capacity, controller_capacity, constant_capacity, trajectory_capacity, motion_capacity;
  carom_allocator allocator;
};

// A trajectory that ends with the definition; false when out of memory (then it is destroyed at once).
bool carom_loop_def_keep(carom_loop_def *def, carom_trajectory *trajectory);
bool carom_loop_def_keep_motion(carom_loop_def *def, carom_gait_motion *motion);  // likewise

// A sensor with its place among the channels.
typedef struct carom_sensor {
  carom_sensor_def def;
  int first, count;
  carom_gait_table *gait;  // of gaits; null in others
} carom_sensor;

// What a controller remembers. Plain bytes: they go into checkpoints.
typedef struct carom_controller_memory {
  double next_sample;  // s
  double held[6];      // what it said at the last sample
  uint64_t samples;    // how many there were
  uint64_t said;       // entries of its queue so far
  carom_track_memory track;
  carom_guide_memory guide;
  carom_track_answer answer;
} carom_controller_memory;

// What was said at a time, to be done after the delay.
typedef struct carom_said {
  double time;
  double u[6];
} carom_said;

// A controller at work.
typedef struct carom_controller {
  const carom_controller_def *def;
  const carom_input *input;
  carom_formula *formula[6];
  carom_plant plant;  // track
  int freedom;        // servo with feed-forward: which number of the mechanism; -1 when its joint does not hold
  carom_controller_memory *memory;
  carom_said *queue;  // (queue_size) a ring; null without a delay
  int queue_size;
} carom_controller;

struct carom_loop {
  carom_arena arena;  // first
  const carom_loop_def *def;
  const carom_model *model;
  double step;
  struct carom_loop_fault *fault;  // is told where; null: nobody asks
  carom_channel *channels;         // (channel_count)
  char *texts;                     // names of channels, one after the other
  size_t text_size;
  int channel_count;
  carom_names names;
  carom_sensor *sensors;  // (sensor_count) those of the definition, then those of joints
  int sensor_count;
  bool reacts;  // reactions are among them
  int first_input;
  carom_controller *controllers;   // (def->controller_count)
  bool *driven;                    // (input_size) by a controller
  carom_reactions *reactions;      // null without joints
  carom_joint_load *loads;         // (joint_count)
  carom_state *before;             // from which the step began
  carom_mechanism *mechanism;      // of feed-forward; null when nobody asks for it
  double *accelerations, *forces;  // (freedoms at most) of the mechanism
  unsigned char *memory;           // values, then what controllers remember, then queues
  size_t memory_size;
  double *values;  // (channel_count) in the memory
};

// Where a definition is in error.
typedef struct carom_loop_fault {
  int controller;  // -1: in none
  int formula;     // which of its texts; -1: in none
  size_t offset;   // bytes into the text
  char message[200], hint[200];
} carom_loop_fault;

// As carom_loop_create, for the mistakes alone; and whether the controllers can act at a state.
carom_status carom_loop_find_fault(const carom_loop_def *def, const carom_model *model, const carom_state *state,
                                   double step, carom_loop_fault *fault, carom_error *error);

// ---- channels.c
// Makes room for sensors, channels and names; called by the layout, which runs twice.
void carom_loop_push_channels(carom_loop *loop, carom_arena *arena);
// Names the channels. CAROM_ERR_ARGUMENT when two are alike.
carom_status carom_loop_name_channels(carom_loop *loop, carom_error *error);

// ---- sensors.c
carom_status carom_sensor_check(const carom_loop *loop, const carom_sensor_def *sensor, carom_error *error);
// What a state tells alone; and what the step that led to it adds (report null: none did).
carom_status carom_sense_state(carom_loop *loop, const carom_state *state, carom_error *error);
carom_status carom_sense_step(carom_loop *loop, const carom_state *state, const carom_step_report *report,
                              carom_error *error);

// ---- controllers.c
carom_status carom_controller_ready(carom_loop *loop, carom_controller *controller, const carom_controller_def *def,
                                    carom_error *error);  // checks, compiles
bool carom_controller_is_due(const carom_controller *controller, double time);
// What it says now, into its memory.
carom_status carom_controller_say(carom_loop *loop, carom_controller *controller, const carom_state *state,
                                  carom_error *error);
// What it does now: what it said a delay ago.
const double *carom_controller_do(carom_controller *controller, double time);

#endif
