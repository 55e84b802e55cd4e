// Parts without inertia and the probes that push them, in the plane; `unit` is the length of one millimetre in metres.
#ifndef CAROM_SAMPLES_PUSHES_H
#define CAROM_SAMPLES_PUSHES_H

#include "worlds.h"

typedef struct push_world {
  double unit;    // m
  double a, b;    // sides of the part, in units
  double mu;      // of everything
  double c;       // damping of the part, N s/m
  double radius;  // of probes, in units
  int probes;
  double x[4], y[4];  // (probes) where they begin, in units
  double u[4], v[4];  // and how they are driven, units/s
} push_world;

static inline push_world push_world_default(void) {
  return (push_world){.unit = 1e-3, .a = 1.6, .b = 0.8, .mu = 0.3, .c = 1e-3, .radius = 0.0125};
}

static inline carom_builder *push_builder(const push_world *p) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  put_material(b, 0, p->mu);
  return b;
}

// Body 0: a rectangle with its middle at the origin.
static inline int put_part(carom_builder *b, const push_world *p, carom_pose pose) {
  return put_box(b, cm_vec3(p->a * p->unit, p->b * p->unit, 0.2 * p->unit), pose, false);
}

static inline void put_damping(carom_builder *b, int body, double c) {
  carom_support_def support = carom_support_default();
  support.body = body;
  support.damping = c;
  carom_builder_add_support(b, &support);
}

static inline void put_probes(carom_builder *b, const push_world *p) {
  for (int i = 0; i < p->probes; i++) {
    carom_drive_def drive = carom_drive_default();
    carom_vec3 at = cm_vec3(p->x[i] * p->unit, p->y[i] * p->unit, 0);
    drive.body = put_shape(b, fixed_body(at, cm_qidentity()), sphere_shape(p->radius * p->unit));
    drive.velocity = cm_vec3(p->u[i] * p->unit, p->v[i] * p->unit, 0);
    carom_builder_add_drive(b, &drive);
  }
}

static inline world push_world_make(const push_world *p) {
  carom_builder *b = push_builder(p);
  put_damping(b, put_part(b, p, cm_pose_identity()), p->c);
  put_probes(b, p);
  return finish_world(b);
}

#endif
