// What may touch within a step, and what its bodies answer to forces.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/size.h"
#include "model/support.h"
#include "step/quasistatic/parts.h"

// Over the fastest surface: how fast any point of a body is thought to be. What is pushed at an edge gets ahead of what
// pushes it by half; solves that find more gather anew.
static const double LEEWAY = 3.0;
// Of the bodies' radii: how far to look beyond where bodies may get, so that what rests keeps its pairs.
static const double SPARE = 1e-3;
// Of the thinner part's half width: features this far behind the nearest are no points of the contact any more, however
// far bodies may get: they are on the far side.
static const double SLOP = 0.25;
// Of the bodies' radii: how far off the place where it was a contact is known again, beyond where bodies may get.
static const double SAME_PLACE = 0.02;

// ---- how bodies are driven and pulled -------------------------------------------------------------------------------

static void set_driven(carom_quasi *s, const carom_state *state, const carom_twists *driven) {
  for (int i = 0; i < s->model->body_count; i++) {
    s->driven.v[i] = s->driven.w[i] = cm_zero3();
    if (!s->model->bodies[i].fixed) continue;
    if (driven)
      s->driven.v[i] = driven->v[i], s->driven.w[i] = driven->w[i];
    else
      carom_model_motion(s->model, i, state->time, s->h, &s->driven.v[i], &s->driven.w[i]);
  }
}

// Forces are those in the middle of the step, at the places of its start.
static void set_loads(carom_quasi *s, const carom_state *state) {
  const carom_model *m = s->model;
  bool fields = carom_fields_present(m);
  for (int i = 0; i < m->body_count; i++) s->directors[i] = cm_rotation(state->q[i]);
  carom_configuration c = {.time = state->time + 0.5 * s->h,
                           .x = state->x,
                           .d = s->directors,
                           .joints = state->joints,
                           .inputs = state->inputs};
  if (fields) carom_fields_evaluate(m, &c, &s->loads);
  for (int i = 0; i < m->body_count; i++) {
    s->force[i] = s->moment[i] = cm_zero3();
    if (m->bodies[i].fixed) continue;
    s->force[i] = cm_scale(m->bodies[i].mass, m->gravity);
    if (!fields) continue;
    s->force[i] = cm_add(s->force[i], s->loads.f[i]);
    s->moment[i] = cm_add(carom_director_torque(s->loads.g[i], s->directors[i]), s->loads.torque[i]);
  }
}

// ---- what bodies answer ---------------------------------------------------------------------------------------------

static carom_status set_supports(carom_quasi *s, carom_error *error) {
  for (int i = 0; i < s->model->body_count; i++) {
    if (s->model->bodies[i].fixed) continue;
    if (s->supports[i].kind == CAROM_SUPPORT_NONE)
      return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "body '%s' has no support, and a step without inertia cannot tell how it moves: give it one "
                        "(support: ...), fix it, or take an integrator with inertia",
                        s->model->bodies[i].name);
    carom_support_turn(carom_read6(s->supports[i].matrix), s->directors[i], s->matrix[i]);
    if (carom_support_invert(carom_read6(s->matrix[i]), s->model->planar, s->inverse[i]) != CAROM_OK)
      return carom_fail(error, CAROM_ERR_NUMBER, "support of '%s': its matrix is not positive definite",
                        s->model->bodies[i].name);
  }
  return CAROM_OK;
}

double carom_quasi_speed(const carom_quasi *s, const carom_twists *twists, int body) {
  return cm_norm(twists->v[body]) + cm_norm(twists->w[body]) * carom_body_radius(&s->model->bodies[body]);
}

// A dry support is begun with the strain of a body that moves as fast as what pushes it.
static void set_free(carom_quasi *s) {
  const carom_model *m = s->model;
  s->fastest = 0;
  for (int i = 0; i < m->body_count; i++)
    if (m->bodies[i].fixed) s->fastest = fmax(s->fastest, carom_quasi_speed(s, &s->driven, i));
  double driven = s->fastest;
  for (int i = 0; i < m->body_count; i++) {
    s->free.v[i] = s->free.w[i] = cm_zero3();
    s->strain[i] = 1;
    if (m->bodies[i].fixed) continue;
    if (s->supports[i].kind == CAROM_SUPPORT_DRY) s->strain[i] = carom_quasi_first_strain(s, i, driven);
    carom_quasi_answer(s, i, s->force[i], s->moment[i], &s->free.v[i], &s->free.w[i]);
    if (s->supports[i].kind == CAROM_SUPPORT_VISCOUS) s->fastest = fmax(s->fastest, carom_quasi_speed(s, &s->free, i));
  }
}

void carom_quasi_answer(const carom_quasi *s, int body, carom_vec3 p, carom_vec3 l, carom_vec3 *v, carom_vec3 *w) {
  carom_support_answer(carom_read6(s->inverse[body]), p, l, v, w);
  *v = cm_scale(s->strain[body], *v), *w = cm_scale(s->strain[body], *w);
}

// ---- items ----------------------------------------------------------------------------------------------------------

static carom_vec3 surface_velocity(const carom_quasi *s, int body, carom_vec3 point) {
  return cm_add(s->driven.v[body], cm_cross(s->driven.w[body], cm_sub(point, s->at->x[body])));
}

static carom_quasi_item item_of(const carom_quasi *s, const carom_contact *c) {
  carom_vec3 axis[3] = {c->normal}, point = cm_lerp(c->point_a, c->point_b, 0.5);
  carom_vec3 moving = surface_velocity(s, c->body_b, point);
  bool planar = s->model->planar;
  carom_row_tangents(c->normal, planar, axis + 1);
  double mu = c->friction * s->friction_scale;
  carom_quasi_item item = {.contact = *c, .mu = mu, .tangents = mu > 0 ? carom_quasi_across(s) : 0, .before = -1};
  item.place = cm_unrotate(s->at->q[c->body_a], cm_sub(point, s->at->x[c->body_a]));
  for (int k = 0; k <= carom_quasi_across(s); k++) {
    item.row[k] = carom_row_at(c->body_a, c->body_b, axis[k], point, s->at->x);
    item.surface[k] = cm_dot(axis[k], moving);
  }
  return item;
}

static double slop_of(const carom_quasi *s, const carom_part_pair *pair, double reach) {
  return fmin(reach, SLOP * fmin(s->thickness[pair->part_a], s->thickness[pair->part_b]));
}

static carom_status add_items(carom_quasi *s, const carom_contact *points, int count, carom_error *error) {
  for (int k = 0; k < count; k++) {
    if (!carom_grow(&s->allocator, (void **)&s->items, s->count, &s->capacity, sizeof *s->items))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", s->count + 1);
    s->items[s->count++] = item_of(s, &points[k]);
  }
  return CAROM_OK;
}

// A disc touches what is convex in one point. (The polygon of its cylinder has neighbours of that point, with gaps and
// its normal, that are none of the disc.)
static carom_status gather_pair(carom_quasi *s, int index, carom_error *error) {
  const carom_part_pair *pair = &s->contacts->pairs[index];
  carom_distance_result d;
  carom_contact points[CAROM_MANIFOLD_MAX];
  double reach = s->reach[pair->body_a] + s->reach[pair->body_b];
  if (carom_quasi_disc_contact(s, index, points)) return add_items(s, points, points[0].gap <= reach, error);
  carom_contact_query query = {CAROM_CONTACT_POLYGON, reach, slop_of(s, pair, reach)};
  int count = carom_quasi_prism_contacts(s, index, &query, points);
  if (count >= 0) return add_items(s, points, count, error);
  carom_status status = carom_contacts_distance(s->contacts, index, s->at, &d);
  if (status != CAROM_OK) return carom_contacts_no_separation(s->contacts, index, s->at, status, error);
  if (d.distance > reach) return CAROM_OK;
  count = carom_contacts_of_pair(s->contacts, index, s->at, &d, &query, points);
  return add_items(s, points, count, error);
}

// ---- the same contacts as before ------------------------------------------------------------------------------------

static carom_status keep_traces(carom_quasi *s, carom_error *error) {
  if (!carom_reserve(&s->allocator, (void **)&s->before, &s->before_capacity, s->count, sizeof *s->before))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", s->count);
  for (int i = 0; i < s->count; i++)
    s->before[i] = (carom_quasi_trace){s->items[i].contact.part_a, s->items[i].contact.part_b, s->items[i].place};
  s->before_count = s->count;
  return CAROM_OK;
}

static bool is_taken(const carom_quasi *s, int trace, int items) {
  for (int i = 0; i < items; i++)
    if (s->items[i].before == trace) return true;
  return false;
}

static int find_before(const carom_quasi *s, int index) {
  const carom_quasi_item *item = &s->items[index];
  const carom_contact *c = &item->contact;
  double most =
      SAME_PLACE * carom_body_radius(&s->model->bodies[c->body_a]) + 2 * s->reach[c->body_a] + 2 * s->reach[c->body_b];
  int found = -1;
  for (int k = 0; k < s->before_count; k++) {
    const carom_quasi_trace *t = &s->before[k];
    if (t->part_a != c->part_a || t->part_b != c->part_b || is_taken(s, k, index)) continue;
    double distance = cm_norm(cm_sub(t->point, item->place));
    if (distance < most) found = k, most = distance;
  }
  return found;
}

// ---- gathering ------------------------------------------------------------------------------------------------------

carom_status carom_quasi_collect(carom_quasi *s, carom_error *error) {
  s->count = 0;
  carom_status status = carom_contacts_update(s->contacts, s->at, s->reach, error);
  for (int i = 0; i < s->contacts->pair_count && status == CAROM_OK; i++) status = gather_pair(s, i, error);
  for (int i = 0; i < s->count && status == CAROM_OK; i++) s->items[i].before = find_before(s, i);
  return status;
}

static void set_reach(carom_quasi *s) {
  for (int i = 0; i < s->model->body_count; i++) {
    const carom_body *body = &s->model->bodies[i];
    double speed = body->fixed ? carom_quasi_speed(s, &s->driven, i) : LEEWAY * s->fastest;
    s->reach[i] = s->h * speed + (body->fixed ? 0 : SPARE * carom_body_radius(body));
  }
}

carom_status carom_quasi_gather(carom_quasi *s, const carom_state *state, double h, const carom_twists *driven,
                                carom_error *error) {
  carom_status status = s->at ? keep_traces(s, error) : CAROM_OK;
  if (status != CAROM_OK) return status;
  s->h = h;
  s->at = state;
  set_driven(s, state, driven);
  set_loads(s, state);
  status = set_supports(s, error);
  if (status != CAROM_OK) return status;
  set_free(s);
  set_reach(s);
  return carom_quasi_collect(s, error);
}
