// Scenes that nobody chose: bodies of random kinds, sizes, places and spins that are dropped on a floor; and what any
// right motion of them obeys, measured on states alone: no two bodies in one another (carom_distance on all pairs, from
// no basis), and no energy from nowhere.
#ifndef CAROM_TESTS_STRANGERS_H
#define CAROM_TESTS_STRANGERS_H

#include "test_dcr.h"

// Boxes, plates, rods, prisms, pyramids, capsules and balls of about `size`.
static inline const carom_shape *random_shape(carom_random *r, double size) {
  double a = size * carom_random_between(r, 0.3, 1), b = size * carom_random_between(r, 0.3, 1);
  int sides = 3 + (int)carom_random_below(r, 6);
  switch (carom_random_below(r, 7)) {
    case 0:
      return box_shape(size, a, b);
    case 1:
      return box_shape(size, a, 0.05 * b);
    case 2:
      return box_shape(size, 0.08 * a, 0.08 * b);
    case 3:
      return prism_shape(sides, 0.5 * size, a);
    case 4:
      return pyramid_shape(sides, 0.5 * size, a);
    case 5:
      return capsule_shape(0.2 * a, size);
    default:
      return sphere_shape(0.5 * size);
  }
}

typedef struct stranger {
  int count;
  double size, step;  // m, s
  double restitution, friction;
  uint64_t seed;
} stranger;

// All that a seed decides: 1 to 12 bodies, 2 mm to 2 m, steps of 0.5 to 5 ms that are no longer than such bodies take
// to fall by their own size.
static inline stranger draw_stranger(uint64_t seed) {
  carom_random r = carom_random_make(seed, 1);
  stranger s = {.seed = seed};
  s.count = 1 + (int)carom_random_below(&r, 12);
  s.size = 2e-3 * pow(1000, carom_random_between(&r, 0, 1));
  s.step = 5e-4 * pow(10, carom_random_between(&r, 0, 1));
  double e[] = {0, 0.3, 0.7, 1}, mu[] = {0, 0.2, 0.5, 1};
  s.restitution = e[carom_random_below(&r, 4)];
  s.friction = mu[carom_random_below(&r, 4)];
  return s;
}

static inline world make_stranger(const stranger *s) {
  carom_random r = carom_random_make(s->seed, 2);
  carom_builder *b = new_builder();
  add_material(b, "any", 1000, s->restitution, s->friction);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  add_floor(b, cm_qidentity());
  double speed = sqrt(9.81 * s->size);
  for (int i = 0; i < s->count; i++) {
    double size = s->size * carom_random_between(&r, 0.4, 1);
    carom_body_def def = body_at(carom_random_between(&r, -1, 1) * s->size, carom_random_between(&r, -1, 1) * s->size,
                                 s->size * (1.2 + 1.9 * i));
    def.pose.q = random_rotation(&r);
    def.velocity = random_vector(&r, speed);
    def.angular_velocity = random_vector(&r, 2 * speed / s->size);
    add_shape(b, def, random_shape(&r, size));
  }
  return finish_world(b);
}

// ---- what is measured -----------------------------------------------------------------------------------------------

static inline carom_placed place_part(const world *w, int body, int part) {
  const carom_body *b = &w->model->bodies[body];
  const carom_part *p = &w->model->parts[b->part_start + part];
  return (carom_placed){p->shape, cm_compose(cm_pose(w->state->x[body], w->state->q[body]), p->pose)};
}

static inline double depth_of_parts(const world *w, int i, int k) {
  const carom_body *a = &w->model->bodies[i], *b = &w->model->bodies[k];
  double depth = 0;
  for (int m = 0; m < a->part_count; m++)
    for (int n = 0; n < b->part_count; n++) {
      carom_placed pa = place_part(w, i, m), pb = place_part(w, k, n);
      carom_distance_result d;
      if (carom_distance(&pa, &pb, NULL, &d) == CAROM_OK) depth = fmax(depth, -d.distance);
    }
  return depth;
}

// The deepest overlap of any two bodies, m.
static inline double deepest_overlap(const world *w) {
  double depth = 0;
  for (int i = 0; i < w->model->body_count; i++)
    for (int k = i + 1; k < w->model->body_count; k++) {
      const carom_body *a = &w->model->bodies[i], *b = &w->model->bodies[k];
      if (a->fixed && b->fixed) continue;
      double apart = cm_norm(cm_sub(w->state->x[i], w->state->x[k]));
      if (apart > a->bounding_radius + b->bounding_radius) continue;
      depth = fmax(depth, depth_of_parts(w, i, k));
    }
  return depth;
}

typedef struct hindsight {
  bool died;
  double time;        // reached, s
  double overlap;     // deepest of all steps, m
  double gained;      // most that energy rose above its lowest so far, over the largest kinetic energy so far
  double kept;        // final energy less the first, likewise
  double claimed;     // deepest overlap of the reports
  double energy_row;  // worst |energy error| of the audit
  double residual;
} hindsight;

static inline hindsight look_back(world w, const char *integrator, double h, double time) {
  run r = start_run(w, integrator, h);
  hindsight s = {0};
  double first = carom_audit_latest(r.audit).energy, lowest = first, kinetic = 0;
  for (int i = 0; i < (int)(time / h); i++) {
    if (!try_step(&r, NULL)) {
      s.died = true;
      break;
    }
    double K = carom_kinetic_energy(r.w.model, r.w.state), E = K + carom_potential_energy(r.w.model, r.w.state);
    kinetic = fmax(kinetic, K);
    s.overlap = fmax(s.overlap, deepest_overlap(&r.w));
    s.gained = fmax(s.gained, (E - lowest) / kinetic);
    s.kept = (E - first) / kinetic;
    lowest = fmin(lowest, E);
    s.energy_row = fmax(s.energy_row, fabs(carom_audit_latest(r.audit).claimed_energy_error));
    s.time = r.w.state->time;
  }
  s.claimed = r.penetration;
  s.residual = r.complementarity;
  end_run(&r);
  return s;
}

// A floor of one material for all, and what falls on it.
static inline carom_builder *with_floor(double e, double mu, carom_vec3 gravity) {
  carom_builder *b = new_builder();
  add_material(b, "any", 1000, e, mu);
  carom_builder_set_gravity(b, gravity);
  add_floor(b, cm_qidentity());
  return b;
}

#endif
