// What all peers of MuJoCo begin and end with: a model from a text, its data, and errors that do not end the process.
#ifndef CAROM_BENCH_PEERS_MUJOCO_WORLD_H
#define CAROM_BENCH_PEERS_MUJOCO_WORLD_H

#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct mujoco_world {
  mjModel *model;
  mjData *data;
} mujoco_world;

enum { MUJOCO_MESSAGE = 200 };

// Sets velocities and the like; may be null.
typedef void mujoco_start(mujoco_world *w, const void *job);

// From the text of a model (MJCF). One step is tried, which shows whether the model's stack suffices, and taken back.
// Null on failure, with the reason in message (MUJOCO_MESSAGE).
mujoco_world *mujoco_world_open(const char *text, mujoco_start *start, const void *job, char *message);
void mujoco_world_close(void *world);
// A step; false when MuJoCo called it an error.
bool mujoco_world_step(mujoco_world *w);

#endif
