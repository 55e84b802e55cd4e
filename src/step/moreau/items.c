#include <math.h>

#include "base/memory.h"
#include "contact/reach.h"
#include "model/size.h"
#include "step/moreau/moreau.h"

// Of the bodies' radii: how far to look beyond where bodies may get, so that what rests keeps its pairs.
static const double SPARE = 1e-3;
// Of the smaller body's radius: features this far behind the nearest are points of the contact as well: corners of a
// face that is about to lie flat, but not those on the far side of a thin card.
static const double SLOP = 0.01;
// Over the thinner part's half width: gaps this small are none.
static const double TOUCH = 2e-7;
// Over the thinner part's half width: bodies farther apart at the start have no rows before it is known that they meet,
// and where, since the planes of what is far would stop what passes by.
static const double NEAR = 0.5;
static const double ELASTIC_REST = 1e-6;  // of the slowest bounce: an elastic body this slow rests
enum { OFTEN = 12 };                      // impacts of a body in one step

// ---- rows -----------------------------------------------------------------------------------------------------------

carom_vec3 carom_moreau_surface_velocity(const carom_moreau *m, int body, carom_vec3 point) {
  const carom_moreau_motion *motion = &m->motion;
  carom_vec3 v, w;
  if (m->model->drive_count == 0 || !m->model->bodies[body].fixed) return cm_zero3();
  double span = motion->h > 0 ? motion->h : m->whole;
  carom_model_motion(m->model, body, motion->h > 0 ? motion->time : motion->time - 0.5 * span, span, &v, &w);
  return cm_add(v, cm_cross(w, cm_sub(point, motion->star->x[body])));
}

double carom_moreau_thin(const carom_moreau *m, int part_a, int part_b) {
  return fmin(m->thickness[part_a], m->thickness[part_b]);
}

double carom_moreau_touch(const carom_moreau *m, int part_a, int part_b) {
  return TOUCH * carom_moreau_thin(m, part_a, part_b);
}

carom_vec3 carom_moreau_carried(const carom_state *at, const carom_state *to, int body, carom_vec3 point) {
  carom_vec3 rho = cm_unrotate(at->q[body], cm_sub(point, at->x[body]));
  return at == to ? point : cm_add(to->x[body], cm_rotate(to->q[body], rho));
}

// Rows are those of the bodies at q*, whose impulses there change no angular momentum, wherever the contact was found.
static carom_moreau_item contact_item(const carom_moreau *m, const carom_contact *c, const carom_state *at) {
  const carom_state *star = m->motion.star;
  carom_vec3 axis[3] = {c->normal}, found = cm_lerp(c->point_a, c->point_b, 0.5);
  carom_vec3 point =
      cm_lerp(carom_moreau_carried(at, star, c->body_a, found), carom_moreau_carried(at, star, c->body_b, found), 0.5);
  carom_vec3 moving = carom_moreau_surface_velocity(m, c->body_b, point);
  carom_row_tangents(c->normal, m->model->planar, axis + 1);
  carom_moreau_item item = {.kind = CAROM_MOREAU_CONTACT,
                            .contact = {c->part_a, c->part_b, point},
                            .gap = c->gap,
                            .mu = c->friction,
                            .e = c->restitution,
                            .tangents = c->friction > 0 ? (m->model->planar ? 1 : 2) : 0};
  for (int k = 0; k <= item.tangents; k++) {
    item.row[k] = carom_row_at(c->body_a, c->body_b, axis[k], point, star->x);
    item.surface[k] = cm_dot(axis[k], moving);
    item.before[k] = carom_row_rate(m->model, &item.row[k], m->motion.v.v, m->motion.v.w);
  }
  return item;
}

static carom_moreau_item limit_item(const carom_moreau *m, const carom_joint_limit *limit) {
  return (carom_moreau_item){.kind = CAROM_MOREAU_LIMIT,
                             .limit = {limit->joint, limit->turn, limit->upper},
                             .gap = limit->gap,
                             .e = limit->restitution,
                             .before = {carom_row_rate(m->model, &limit->row, m->motion.v.v, m->motion.v.w)},
                             .row = {limit->row}};
}

// ---- candidates -----------------------------------------------------------------------------------------------------

static double acceleration_of(const carom_moreau *m, int i) {
  double g = cm_norm(m->model->gravity);
  const carom_moreau_forces *forces = &m->motion.forces;
  double pull = forces->present ? cm_norm(forces->loads.f[i]) : 0;
  for (int k = 0; k < m->motion.springs.count; k++)
    if (m->model->springs[k].body[0] == i || m->model->springs[k].body[1] == i)
      pull += fabs(m->motion.springs.tension[k]);
  return g + m->model->bodies[i].inverse_mass * pull;
}

double carom_moreau_slow(const carom_moreau *m) {
  double most = 0;
  for (int i = 0; i < m->model->body_count; i++)
    if (!m->model->bodies[i].fixed) most = fmax(most, m->acceleration[i]);
  return 2 * m->whole * most;
}

// How fast an item closes, what forces add at that moment included, where that is not too slow for a bounce: else
// resting bodies would hop for ever. What is elastic bounces however slow it is, unless it is forces alone that push.
double carom_moreau_approach(const carom_moreau *m, const carom_moreau_item *item, double slow) {
  if (item->kind == CAROM_MOREAU_LIMIT && item->limit.turn) slow /= carom_model_smallest(m->model);  // rad/s
  double free = carom_row_rate(m->model, &item->row[0], m->motion.v_free.v, m->motion.v_free.w);
  double approach = item->surface[0] - free, before = item->surface[0] - item->before[0];
  bool bounces = item->e < 1 ? approach > slow : before > ELASTIC_REST * slow;
  return bounces ? fmax(approach, 0) : 0;
}

carom_status carom_moreau_candidates(carom_moreau *m, double h, carom_error *error) {
  const carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->model->body_count; i++) m->acceleration[i] = acceleration_of(m, i);
  carom_moving moving = {motion->v.v, motion->v.w, m->acceleration, motion->time, h};
  carom_reach(m->model, &moving, SPARE, m->reach);
  return carom_contacts_update(m->contacts, motion->star, m->reach, error);
}

carom_status carom_moreau_more_candidates(carom_moreau *m, carom_error *error) {
  bool more = false;
  for (int i = 0; i < m->model->body_count; i++)
    if (m->way[i] > m->reach[i]) m->reach[i] = m->way[i], more = true;
  return more ? carom_contacts_update(m->contacts, m->motion.star, m->reach, error) : CAROM_OK;
}

// ---- gathering ------------------------------------------------------------------------------------------------------

bool carom_moreau_pair_collides(const carom_moreau *m, int a, int b, double e) {
  double alpha = m->options->alpha;
  bool often = m->impacts[a] > OFTEN || m->impacts[b] > OFTEN;
  return (alpha > 0 && alpha < 1) || (often ? e >= 1 : e > 0);
}

// What would not bounce when it touches needs no collision of its own, unless the mean velocity of the step closes
// gaps.
static bool is_too_slow(const carom_moreau *m, const carom_moreau_item *item) {
  bool mean = m->options->alpha > 0 && m->options->alpha < 1;
  return !mean && item->e < 1 && carom_moreau_approach(m, item, carom_moreau_slow(m)) == 0;
}

static bool wanted(const carom_moreau *m, const carom_moreau_item *item, carom_moreau_choice choice) {
  bool limit = item->kind == CAROM_MOREAU_LIMIT;
  const int *body = item->row[0].body;
  double touch = limit ? CAROM_MOREAU_LIMIT_TOUCH : carom_moreau_touch(m, item->contact.part_a, item->contact.part_b);
  if (choice == CAROM_MOREAU_TOUCHING) return item->gap <= CAROM_MOREAU_NEARNESS * touch;
  bool later = limit ? item->e > 0 : carom_moreau_pair_collides(m, body[0], body[1], item->e);
  return !later || item->gap <= CAROM_MOREAU_NEARNESS * touch || is_too_slow(m, item);
}

static carom_status append(carom_moreau *m, const carom_moreau_item *item, carom_error *error) {
  carom_moreau_items *to = &m->items;
  if (!carom_grow(&m->allocator, (void **)&to->list, to->count, &to->capacity, sizeof *to->list))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", to->count + 1);
  to->list[to->count++] = *item;
  return CAROM_OK;
}

// Gaps are measured at q*; what counts is the one at the start of the step.
static carom_status add_item(carom_moreau *m, carom_moreau_item *item, carom_moreau_choice choice, carom_error *error) {
  item->gap -= (1 - m->motion.alpha) * m->motion.h * item->before[0];
  item->start = item->gap;
  return wanted(m, item, choice) ? append(m, item, error) : CAROM_OK;
}

// Points of a curved surface that are not the nearest now roll on to the other body as it turns; what they seem to do
// along a straight way would hold up what rolls.
static bool is_curved(const carom_moreau *m, int part) {
  carom_shape_kind kind = carom_shape_get_kind(m->model->parts[part].shape);
  return kind == CAROM_SHAPE_ELLIPSOID || kind == CAROM_SHAPE_CYLINDER || kind == CAROM_SHAPE_CONE;
}

static double slop_of(const carom_moreau *m, const carom_part_pair *pair) {
  const carom_body *a = &m->model->bodies[pair->body_a], *b = &m->model->bodies[pair->body_b];
  if (is_curved(m, pair->part_a) || is_curved(m, pair->part_b))
    return CAROM_MOREAU_NEARNESS * carom_moreau_touch(m, pair->part_a, pair->part_b);
  return SLOP * (b->fixed ? a->bounding_radius : fmin(a->bounding_radius, b->bounding_radius));
}

static carom_status gather_pair(carom_moreau *m, int index, carom_moreau_choice choice, carom_error *error) {
  const carom_part_pair *pair = &m->contacts->pairs[index];
  const carom_state *star = m->motion.star;
  carom_distance_result d;
  carom_contact points[CAROM_MANIFOLD_MAX];
  carom_status status = carom_contacts_distance(m->contacts, index, star, &d);
  if (status != CAROM_OK) return carom_contacts_no_separation(m->contacts, index, star, status, error);
  double reach = m->reach[pair->body_a] + m->reach[pair->body_b];
  double near = fmin(reach, NEAR * carom_moreau_thin(m, pair->part_a, pair->part_b));
  if (d.distance > near || carom_joints_hold(m->model, star, pair->body_a, pair->body_b)) return CAROM_OK;
  carom_contact_query query = {CAROM_CONTACT_POLYGON, reach, fmin(reach, slop_of(m, pair))};
  int count = carom_contacts_of_pair(m->contacts, index, star, &d, &query, points);
  for (int k = 0; k < count && status == CAROM_OK; k++) {
    carom_moreau_item item = contact_item(m, &points[k], star);
    status = add_item(m, &item, choice, error);
  }
  return status;
}

// How fast an item opened on the way to the end of the piece.
static double opened_at(const carom_moreau *m, const carom_moreau_item *item) {
  double after = carom_row_rate(m->model, &item->row[0], m->motion.v_new.v, m->motion.v_new.w);
  return m->motion.alpha * after + (1 - m->motion.alpha) * item->before[0] - item->surface[0];
}

// gap(q') = gap_k(q'_k) + h row.(u' - u'_k): the gap of the points that touch at the place is measured at the end, and
// what the row knows of the way there is taken off. A gap on the way, at a share of it, grows by as much less.
static void linearise_at(const carom_moreau *m, const carom_contact *c, const carom_moreau_place *place,
                         carom_moreau_item *item) {
  carom_vec3 point = cm_lerp(c->point_a, c->point_b, 0.5);
  const carom_state *to = place->share < 1 ? place->at : place->end;
  carom_vec3 a = carom_moreau_carried(place->at, to, c->body_a, point);
  carom_vec3 b = carom_moreau_carried(place->at, to, c->body_b, point);
  double gap = item->gap + place->depth + cm_dot(c->normal, cm_sub(a, b));
  item->gap = gap / place->share - m->motion.h * opened_at(m, item);
  item->again = true;
  item->dips = place->share < 1;
  if (item->dips) item->gap = fmax(item->gap, 0);  // stopped, not thrown back: that would be energy from nowhere
}

carom_status carom_moreau_gather_again(carom_moreau *m, int index, const carom_moreau_place *place,
                                       carom_error *error) {
  carom_distance_result d;
  carom_contact points[CAROM_MANIFOLD_MAX];
  carom_status status = carom_contacts_distance(m->contacts, index, place->at, &d);
  if (status != CAROM_OK) return carom_contacts_no_separation(m->contacts, index, place->at, status, error);
  double slop = slop_of(m, &m->contacts->pairs[index]);
  carom_contact_query query = {CAROM_CONTACT_POLYGON, slop, slop};
  int count = carom_contacts_of_pair(m->contacts, index, place->at, &d, &query, points);
  for (int k = 0; k < count && status == CAROM_OK; k++) {
    carom_moreau_item item = contact_item(m, &points[k], place->at);
    linearise_at(m, &points[k], place, &item);
    status = append(m, &item, error);
  }
  return status;
}

static carom_status gather_limits(carom_moreau *m, carom_moreau_choice choice, carom_error *error) {
  int count = carom_joints_limits(m->model, m->motion.star, INFINITY, m->items.limits);
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    carom_moreau_item item = limit_item(m, &m->items.limits[i]);
    status = add_item(m, &item, choice, error);
  }
  return status;
}

carom_status carom_moreau_gather(carom_moreau *m, carom_moreau_choice choice, carom_error *error) {
  m->items.count = 0;
  carom_status status = CAROM_OK;
  for (int i = 0; i < m->contacts->pair_count && status == CAROM_OK; i++) status = gather_pair(m, i, choice, error);
  if (status == CAROM_OK && m->motion.joints.system) status = gather_limits(m, choice, error);
  return status;
}
