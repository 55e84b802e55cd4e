#include "mujoco_world.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MuJoCo's own answer to an error is to end the process.
static jmp_buf on_error;
static char error_text[MUJOCO_MESSAGE];

static void catch_error(const char *message) {
  snprintf(error_text, sizeof error_text, "%.190s", message);
  longjmp(on_error, 1);
}

static mjModel *load(const char *text) {
  mjVFS *vfs = malloc(sizeof *vfs);
  if (!vfs) return NULL;
  mj_defaultVFS(vfs);
  mjModel *model = NULL;
  if (mj_makeEmptyFileVFS(vfs, "model.xml", (int)strlen(text)) == 0) {
    memcpy(vfs->filedata[0], text, strlen(text));
    model = mj_loadXML("model.xml", vfs, error_text, sizeof error_text);
  }
  mj_deleteVFS(vfs);
  free(vfs);
  return model;
}

static bool begin(mujoco_world *w, const char *text, mujoco_start *start, const void *job) {
  w->model = load(text);
  if (w->model) w->data = mj_makeData(w->model);
  if (!w->data) return false;
  if (start) start(w, job);
  mj_step(w->model, w->data);
  mj_resetData(w->model, w->data);
  if (start) start(w, job);
  return true;
}

mujoco_world *mujoco_world_open(const char *text, mujoco_start *start, const void *job, char *message) {
  mujoco_world *volatile w = calloc(1, sizeof *w);
  volatile bool fine = false;
  snprintf(error_text, sizeof error_text, "out of memory");
  mju_user_error = catch_error;
  if (w && setjmp(on_error) == 0) fine = begin(w, text, start, job);
  mju_user_error = NULL;
  if (fine) return w;
  snprintf(message, MUJOCO_MESSAGE, "%.190s", error_text);
  if (w) mujoco_world_close(w);
  return NULL;
}

void mujoco_world_close(void *world) {
  mujoco_world *w = world;
  if (w->data) mj_deleteData(w->data);
  if (w->model) mj_deleteModel(w->model);
  free(w);
}

bool mujoco_world_step(mujoco_world *w) {
  volatile bool fine = false;
  mju_user_error = catch_error;
  if (setjmp(on_error) == 0) {
    mj_step(w->model, w->data);
    fine = true;
  }
  mju_user_error = NULL;
  return fine;
}
