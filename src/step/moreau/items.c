#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "step/moreau/moreau.h"

// ---- rows -----------------------------------------------------------------------------------------------------------

static carom_row contact_row(const carom_moreau *m, const carom_contact *c, carom_vec3 point, carom_vec3 axis) {
  carom_row row = {.body = {c->body_a, c->body_b}};
  for (int end = 0; end < 2; end++) {
    carom_vec3 along = end == 0 ? axis : cm_neg(axis);
    row.linear[end] = along;
    row.angular[end] = cm_cross(cm_sub(point, m->star->x[row.body[end]]), along);
  }
  return row;
}

// Two tangents; in a planar scene the first lies in the plane.
static void tangents_of(carom_vec3 n, bool planar, carom_vec3 t[2]) {
  carom_vec3 other = planar || fabs(n.z) < 0.7 ? cm_vec3(0, 0, 1) : cm_vec3(1, 0, 0);
  t[0] = cm_unit(cm_cross(other, n));
  t[1] = cm_cross(n, t[0]);
}

// The velocity of a driven body's surface at a point, over the step.
static carom_vec3 surface_velocity(const carom_moreau *m, int body, carom_vec3 point) {
  carom_vec3 v, w;
  if (m->model->drive_count == 0 || !m->model->bodies[body].fixed) return cm_zero3();
  carom_model_motion(m->model, body, m->time, m->h > 0 ? m->h : m->options->step, &v, &w);
  return cm_add(v, cm_cross(w, cm_sub(point, m->star->x[body])));
}

static carom_moreau_item contact_item(const carom_moreau *m, const carom_contact *c) {
  carom_vec3 t[2], middle = cm_lerp(c->point_a, c->point_b, 0.5);
  tangents_of(c->normal, m->model->planar, t);
  carom_moreau_item item = {.gap = c->gap,
                            .mu = c->friction,
                            .e = c->restitution,
                            .body_a = c->body_a,
                            .body_b = c->body_b,
                            .part_a = c->part_a,
                            .part_b = c->part_b,
                            .point = middle,
                            .normal = c->normal};
  item.tangents = c->friction > 0 ? (m->model->planar ? 1 : 2) : 0;
  item.row[0] = contact_row(m, c, middle, c->normal);
  for (int k = 0; k < item.tangents; k++) item.row[1 + k] = contact_row(m, c, middle, t[k]);
  carom_vec3 moving = surface_velocity(m, c->body_b, middle);
  for (int k = 0; k <= item.tangents; k++) item.surface[k] = cm_dot(item.row[k].linear[0], moving);
  return item;
}

static carom_moreau_item limit_item(const carom_joint_limit *limit) {
  carom_moreau_item item = {.gap = limit->gap,
                            .e = limit->restitution,
                            .body_a = CAROM_WORLD,
                            .body_b = CAROM_WORLD,
                            .part_a = limit->joint,
                            .part_b = limit->upper,
                            .index = limit->turn};
  item.row[0] = limit->row;
  return item;
}

// ---- candidates -----------------------------------------------------------------------------------------------------

static double fastest_force(const carom_moreau *m, int i) {
  double a = cm_norm(m->model->gravity);
  return m->loads_present ? a + m->model->bodies[i].inverse_mass * cm_norm(m->loads.f[i]) : a;
}

double carom_moreau_slow(const carom_moreau *m, double h) {
  double a = 0;
  for (int i = 0; i < m->model->body_count; i++)
    if (!m->model->bodies[i].fixed) a = fmax(a, fastest_force(m, i));
  return 2 * h * a;
}

// How far any point of a body can go in h, as far as the present velocities and forces tell.
static double reach_of(const carom_moreau *m, const carom_state *state, int i, double h) {
  const carom_body *body = &m->model->bodies[i];
  if (body->fixed) return 0;
  double spin = cm_norm(carom_state_angular_velocity(m->model, state, i));
  double speed = body->inverse_mass * cm_norm(state->p[i]) + h * fastest_force(m, i);
  return h * (speed + spin * body->bounding_radius) + 1e-3 * body->bounding_radius;
}

carom_status carom_moreau_candidates(carom_moreau *m, const carom_state *state, double h, carom_error *error) {
  for (int i = 0; i < state->body_count; i++) m->reach[i] = reach_of(m, state, i, h);
  return carom_contacts_update(m->contacts, m->star, m->reach, error);
}

// ---- gathering ------------------------------------------------------------------------------------------------------

static bool add_item(carom_moreau *m, const carom_moreau_item *item) {
  if (!carom_grow(&m->allocator, (void **)&m->items, m->item_count, &m->item_capacity, sizeof *m->items)) return false;
  m->items[m->item_count++] = *item;
  return true;
}

// Gaps are measured at q*; what counts is the one at the start of the step.
static void finish_item(const carom_moreau *m, carom_moreau_item *item) {
  for (int k = 0; k <= item->tangents; k++) item->before[k] = carom_moreau_rate(m->model, &item->row[k], m->v);
  item->gap -= (1 - m->alpha) * m->h * item->before[0];
}

// With alpha < 1 a step by itself would throw bodies that meet within it back at (1 - alpha)/alpha of their speed,
// since it is the mean velocity that closes the gap: they collide at the moment they meet, as those that bounce do.
static bool collides(const carom_moreau *m, double e) { return e > 0 || m->options->alpha < 1; }

static bool wanted(const carom_moreau *m, const carom_moreau_item *item, carom_moreau_choice choice, double touch) {
  bool later = item->body_a == CAROM_WORLD ? item->e > 0 : collides(m, item->e);  // no moment is sought for limits
  return (choice == CAROM_MOREAU_STEP && !later) || item->gap <= touch;
}

// Features this far behind the nearest are points of the contact as well: corners of a face that is about to lie flat,
// but not those on the far side of a thin card.
static double slop_of(const carom_moreau *m, const carom_part_pair *pair) {
  const carom_body *a = &m->model->bodies[pair->body_a], *b = &m->model->bodies[pair->body_b];
  double r = b->fixed ? a->bounding_radius : fmin(a->bounding_radius, b->bounding_radius);
  return 0.01 * r;
}

static carom_status gather_pair(carom_moreau *m, int index, carom_moreau_choice choice, double touch,
                                carom_error *error) {
  const carom_part_pair *pair = &m->contacts->pairs[index];
  carom_distance_result d;
  carom_contact points[CAROM_MANIFOLD_MAX];
  carom_status status = carom_contacts_distance(m->contacts, index, m->star, &d);
  if (status != CAROM_OK)
    return carom_fail(error, status, "no separation of bodies '%s' and '%s': a pose is not finite",
                      m->model->bodies[pair->body_a].name, m->model->bodies[pair->body_b].name);
  double reach = m->reach[pair->body_a] + m->reach[pair->body_b], slop = fmin(reach, slop_of(m, pair));
  if (d.distance > reach || carom_joints_hold(m->model, m->star, pair->body_a, pair->body_b)) return CAROM_OK;
  carom_contact_query query = {CAROM_CONTACT_POLYGON, reach, slop};
  int count = carom_contacts_of_pair(m->contacts, index, m->star, &d, &query, points);
  for (int k = 0; k < count; k++) {
    carom_moreau_item item = contact_item(m, &points[k]);
    item.index = k;
    finish_item(m, &item);
    if (wanted(m, &item, choice, touch) && !add_item(m, &item))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts of a step");
  }
  return CAROM_OK;
}

static carom_status gather_limits(carom_moreau *m, carom_moreau_choice choice, double touch, carom_error *error) {
  int count = carom_joints_limits(m->model, m->star, INFINITY, m->limits);
  for (int i = 0; i < count; i++) {
    carom_moreau_item item = limit_item(&m->limits[i]);
    finish_item(m, &item);
    if (wanted(m, &item, choice, touch) && !add_item(m, &item))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for joint limits");
  }
  return CAROM_OK;
}

carom_status carom_moreau_gather(carom_moreau *m, carom_moreau_choice choice, double touch, carom_error *error) {
  m->item_count = 0;
  if (m->contact_free) return CAROM_OK;
  carom_status status = CAROM_OK;
  for (int i = 0; i < m->contacts->pair_count && status == CAROM_OK; i++)
    status = gather_pair(m, i, choice, touch, error);
  if (status == CAROM_OK && m->joints) status = gather_limits(m, choice, touch, error);
  return status;
}

// ---- collisions -----------------------------------------------------------------------------------------------------

// The first zero in (0, 1] of the cubic with these values and slopes at 0 and 1, its value at 1 being below 0: found by
// bisection between the last sample above 0 and the first below. (Gavrea 2006, 2.1, after Potra et al. 2006.)
static double cubic_root(double f0, double s0, double f1, double s1) {
  double c = s0, b = 3 * (f1 - f0) - 2 * s0 - s1, a = 2 * (f0 - f1) + s0 + s1, low = 0, high = 1;
  for (int i = 1; i <= 16; i++) {
    double t = i / 16.0;
    if (((a * t + b) * t + c) * t + f0 <= 0) {
      high = t;
      break;
    }
    low = t;
  }
  for (int i = 0; i < 60; i++) {
    double t = 0.5 * (low + high);
    if (((a * t + b) * t + c) * t + f0 <= 0)
      high = t;
    else
      low = t;
  }
  return high;
}

static carom_vec3 point_velocity(const carom_moreau *m, const carom_state *state, int body, carom_vec3 point) {
  const carom_model *model = m->model;
  if (model->bodies[body].fixed) return surface_velocity(m, body, point);
  carom_vec3 w = carom_state_angular_velocity(model, state, body);
  return cm_add(carom_state_velocity(model, state, body), cm_cross(w, cm_sub(point, state->x[body])));
}

static double gap_rate(const carom_moreau *m, const carom_state *state, const carom_part_pair *p,
                       const carom_distance_result *d) {
  carom_vec3 a = point_velocity(m, state, p->body_a, d->point_a);
  carom_vec3 b = point_velocity(m, state, p->body_b, d->point_b);
  return cm_dot(d->normal, cm_sub(a, b));
}

static bool among_items(const carom_moreau *m, const carom_part_pair *p) {
  for (int i = 0; i < m->item_count; i++)
    if (m->items[i].body_a == p->body_a && m->items[i].part_a == p->part_a && m->items[i].part_b == p->part_b)
      return true;
  return false;
}

// Share of the step at which the pair touches, 2 when it does not: only what bounces counts.
static carom_status hit_of_pair(carom_moreau *m, int index, const carom_state *end, double h, double touch,
                                double *share, double *overlap) {
  carom_part_pair *p = &m->contacts->pairs[index];
  carom_distance_result d0, d1;
  *share = 2;
  carom_status status = carom_contacts_distance(m->contacts, index, end, &d1);
  if (status != CAROM_OK || carom_joints_hold(m->model, end, p->body_a, p->body_b)) return status;
  *overlap = -d1.distance;
  if (!collides(m, p->restitution) || d1.distance > -touch || among_items(m, p)) return status;
  status = carom_contacts_distance(m->contacts, index, m->origin, &d0);
  if (status != CAROM_OK) return status;
  double s0 = h * gap_rate(m, m->origin, p, &d0), s1 = h * gap_rate(m, end, p, &d1);
  *share = cubic_root(fmax(d0.distance, 0), s0, d1.distance, s1);
  return status;
}

carom_status carom_moreau_first_hit(carom_moreau *m, const carom_state *end, double h, double touch, double *share,
                                    double *deepest, carom_error *error) {
  *share = 2;
  *deepest = 0;
  for (int i = 0; i < m->contacts->pair_count; i++) {
    double own = 2, overlap = 0;
    carom_status status = hit_of_pair(m, i, end, h, touch, &own, &overlap);
    if (status != CAROM_OK)
      return carom_fail(error, status, "no separation of bodies '%s' and '%s' at the end of a step",
                        m->model->bodies[m->contacts->pairs[i].body_a].name,
                        m->model->bodies[m->contacts->pairs[i].body_b].name);
    *share = fmin(*share, own);
    *deepest = fmax(*deepest, overlap);
  }
  return CAROM_OK;
}
