#include "model/magnet_fields.h"

#include <math.h>

#include "model/model.h"

// ---- where a pair stands ------------------------------------------------------------------------------

// Middles and axes of the two cores in the world; axes need not be of unit length (directors may be stretched).
typedef struct pair_place {
  carom_vec3 r[2], n[2];
} pair_place;

typedef struct pair_range {
  double distance, bearing, attitude;
} pair_range;

static double angle_between(carom_vec3 from, carom_vec3 to) { return atan2(cm_cross(from, to).z, cm_dot(from, to)); }

static pair_range range_of(const pair_place *p) {
  carom_vec3 d = cm_sub(p->r[1], p->r[0]);
  return (pair_range){hypot(d.x, d.y), angle_between(p->n[0], d), angle_between(p->n[0], cm_neg(p->n[1]))};
}

static pair_place place_in(const carom_electromagnet *pair, const carom_configuration *c) {
  pair_place p;
  for (int end = 0; end < 2; end++) {
    int body = pair->body[end];
    bool world = body == CAROM_WORLD;
    p.r[end] = world ? pair->point[end] : cm_add(c->x[body], cm_mulv(c->d[body], pair->point[end]));
    p.n[end] = world ? pair->axis[end] : cm_mulv(c->d[body], pair->axis[end]);
  }
  return p;
}

// ---- the load -----------------------------------------------------------------------------------------

// On either end: a force at its point, and a couple.
typedef struct pair_load {
  carom_vec3 force[2], couple[2];
} pair_load;

// Of the readings of table B.1 the one that two pairs of poles bear out: its angles are those of the first magnet as
// the second sees it (docs/control.md). The second body takes the opposite force at the same place in space.
static pair_load load_of(const carom_electromagnet *pair, const pair_place *p) {
  pair_range range = range_of(p);
  carom_magnet_load law;
  carom_electromagnet_pair(range.distance, -range.attitude, -range.bearing, &law);
  carom_vec3 x = cm_unit(p->n[0]), y = cm_vec3(-x.y, x.x, 0);
  carom_vec3 force = cm_scale(pair->strength, cm_add(cm_scale(law.force_x, x), cm_scale(law.force_y, y)));
  carom_vec3 couple = cm_vec3(0, 0, pair->strength * law.torque);
  carom_vec3 arm = cm_cross(cm_sub(p->r[0], p->r[1]), force);
  return (pair_load){{force, cm_neg(force)}, {couple, cm_neg(cm_add(couple, arm))}};
}

void carom_magnet_fields_add(const carom_model *model, const carom_configuration *c, carom_loads *loads) {
  for (int i = 0; i < model->electromagnet_count; i++) {
    const carom_electromagnet *pair = &model->electromagnets[i];
    pair_place p = place_in(pair, c);
    pair_load load = load_of(pair, &p);
    for (int end = 0; end < 2; end++) {
      int slot = pair->body[end] == CAROM_WORLD ? model->body_count : pair->body[end];
      loads->f[slot] = cm_add(loads->f[slot], load.force[end]);
      loads->g[slot] = cm_madd(loads->g[slot], cm_outer(load.force[end], pair->point[end]));
      loads->torque[slot] = cm_add(loads->torque[slot], load.couple[end]);
    }
  }
}

// ---- the books ----------------------------------------------------------------------------------------

// Angular velocity from directors and their rate: exact for a rotation, second order for a midpoint pair.
static carom_vec3 spin_of(const carom_configuration *c, int body) {
  return cm_scale(0.5, cm_axial(cm_mmul(c->dv[body], cm_transpose(c->d[body]))));
}

static void book_end(const carom_model *model, const carom_configuration *c, const carom_electromagnet *pair, int end,
                     const pair_load *load, carom_resultant *r) {
  int body = pair->body[end];
  if (body == CAROM_WORLD || model->bodies[body].fixed) {
    r->moment = cm_sub(r->moment, load->couple[end]);
    return;
  }
  if (!c->v) return;
  carom_vec3 velocity = cm_add(c->v[body], cm_mulv(c->dv[body], pair->point[end]));
  r->power += cm_dot(load->force[end], velocity) + cm_dot(load->couple[end], spin_of(c, body));
}

void carom_magnet_fields_resultant(const carom_model *model, const carom_configuration *c, carom_resultant *r) {
  for (int i = 0; i < model->electromagnet_count; i++) {
    const carom_electromagnet *pair = &model->electromagnets[i];
    pair_place p = place_in(pair, c);
    pair_load load = load_of(pair, &p);
    for (int end = 0; end < 2; end++) book_end(model, c, pair, end, &load, r);
  }
}

// ---- asked from outside -------------------------------------------------------------------------------

bool carom_electromagnet_range(const carom_model *model, const carom_state *state, int pair, double *distance,
                               double *bearing, double *attitude) {
  const carom_electromagnet *m = &model->electromagnets[pair];
  pair_place p;
  for (int end = 0; end < 2; end++) {
    int body = m->body[end];
    p.r[end] = carom_state_point(state, body, m->point[end]);
    p.n[end] = body == CAROM_WORLD ? m->axis[end] : cm_rotate(state->q[body], m->axis[end]);
  }
  pair_range range = range_of(&p);
  carom_magnet_load load;
  *distance = range.distance;
  *bearing = range.bearing;
  *attitude = range.attitude;
  return carom_electromagnet_pair(range.distance, -range.attitude, -range.bearing, &load);
}
