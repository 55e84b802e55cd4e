// Scenes of the conformance matrix by MuJoCo: elliptic cones, Newton's method, and contacts as stiff as the step
// allows, damped so that a single impact would return with e.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "mujoco_world.h"

typedef struct text {
  char *at;
  size_t used, size;
} text;

typedef struct job {
  mujoco_world *w;
  const carom_scene *scene;
} job;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
  va_list arguments;
  if (t->used + 2000 > t->size) t->at = realloc(t->at, t->size = 2 * t->size + 4000);
  if (!t->at) abort();
  va_start(arguments, format);
  t->used += (size_t)vsnprintf(t->at + t->used, t->size - t->used, format, arguments);
  va_end(arguments);
}

static void put_pose(text *t, carom_pose p) {
  put(t, " pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'", p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z);
}

static void put_geom(text *t, const carom_part *part, carom_pose pose) {
  carom_vec3 half, axes = carom_shape_half_axes(part->shape);
  double r = carom_shape_radius(part->shape);
  put(t, "<geom");
  put_pose(t, pose);
  switch (carom_shape_get_kind(part->shape)) {
    case CAROM_SHAPE_SPHERE:
      put(t, " type='sphere' size='%.17g'/>", r);
      break;
    case CAROM_SHAPE_CAPSULE:
      put(t, " type='capsule' size='%.17g %.17g'/>", r, carom_shape_half_length(part->shape));
      break;
    case CAROM_SHAPE_CYLINDER:
      put(t, " type='cylinder' size='%.17g %.17g'/>", axes.x, axes.z);
      break;
    case CAROM_SHAPE_HALFSPACE:
      put(t, " type='plane' size='0 0 1'/>");
      break;
    default:
      is_box(part->shape, &half);
      put(t, " type='box' size='%.17g %.17g %.17g'/>", half.x, half.y, half.z);
  }
}

static void put_body(text *t, const carom_scene *scene, int i) {
  const carom_body *b = &scene->model->bodies[i];
  carom_pose at = cm_pose(scene->state->x[i], scene->state->q[i]);
  if (!b->fixed) {
    put(t, "<body name='b%d'", i);
    put_pose(t, at);
    put(t, "><freejoint/><inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", b->mass, b->inertia.x,
        b->inertia.y, b->inertia.z);
  }
  for (int k = b->part_start; k < b->part_start + b->part_count; k++) {
    const carom_part *part = &scene->model->parts[k];
    put_geom(t, part, b->fixed ? cm_compose(at, part->pose) : part->pose);
  }
  if (!b->fixed) put(t, "</body>");
}

// A spring and damper with the ratio z returns exp(-pi z / sqrt(1 - z^2)).
static double damping_of(double e) {
  double l = log(fmax(e, 1e-3));
  return e <= 0 ? 1 : -l / sqrt(9.869604401089358 + l * l);
}

static void start(mujoco_world *w, const void *of) {
  const carom_scene *scene = of;
  for (int i = 0, k = 0; i < scene->model->body_count; i++) {
    if (scene->model->bodies[i].fixed) continue;
    carom_vec3 v = carom_state_velocity(scene->model, scene->state, i);
    carom_vec3 own = cm_unrotate(scene->state->q[i], carom_state_angular_velocity(scene->model, scene->state, i));
    double six[6] = {v.x, v.y, v.z, own.x, own.y, own.z};
    for (int n = 0; n < 6; n++) w->data->qvel[6 * k + n] = six[n];
    k++;
  }
}

static void *open_scene(const carom_scene *scene, double h) {
  const carom_model *m = scene->model;
  carom_contact_surface s = m->body_count > 1 ? carom_model_surface(m, 0, 1) : (carom_contact_surface){0, 0};
  double stiff = 1 / (4 * h), z = damping_of(s.restitution);
  text t = {0};
  char message[MUJOCO_MESSAGE];
  put(&t,
      "<mujoco><size njmax='4000' nconmax='1000'/><compiler inertiafromgeom='false' boundmass='0' boundinertia='0'/>");
  put(&t, "<option timestep='%.17g' gravity='%.17g %.17g %.17g' cone='elliptic' solver='Newton' tolerance='1e-12'/>", h,
      m->gravity.x, m->gravity.y, m->gravity.z);
  put(&t, "<default><geom friction='%.17g 0 0' condim='%d' solref='%.17g %.17g' solimp='0.99 0.9999 0.001'/></default>",
      fmax(s.friction, 1e-5), s.friction > 0 ? 3 : 1, -stiff * stiff, -2 * z * stiff);
  put(&t, "<worldbody>");
  for (int i = 0; i < m->body_count; i++) put_body(&t, scene, i);
  put(&t, "</worldbody></mujoco>");
  job *j = calloc(1, sizeof *j);
  if (j) *j = (job){mujoco_world_open(t.at, start, scene, message), scene};
  if (!j || !j->w) fprintf(stderr, "MuJoCo: %s\n", message);
  free(t.at);
  if (j && j->w) return j;
  free(j);
  return NULL;
}

static bool step(void *world) { return mujoco_world_step(((job *)world)->w); }

static void read_body(void *world, int i, track_point *p) {
  const job *j = world;
  int k = 0;
  for (int b = 0; b < i; b++) k += !j->scene->model->bodies[b].fixed;
  const mjtNum *q = j->w->data->qpos + 7 * k, *v = j->w->data->qvel + 6 * k;
  p->x = cm_vec3(q[0], q[1], q[2]);
  p->q = cm_qunit(cm_quat(q[3], q[4], q[5], q[6]));
  p->v = cm_vec3(v[0], v[1], v[2]);
  p->w = cm_rotate(p->q, cm_vec3(v[3], v[4], v[5]));
}

static void close_scene(void *world) {
  job *j = world;
  mujoco_world_close(j->w);
  free(j);
}

const conformance_peer conformance_mujoco = {"MuJoCo", BENCH_MUJOCO, open_scene, step, read_body, close_scene};
