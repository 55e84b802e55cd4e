#include "contact/potential.h"

#include <math.h>

#include "base/memory.h"
#include "contact/reach.h"

static const double SPARE = 1e-3;  // of a body's radius: pairs that begin to touch are seen before they do

static void lay_out(void *owner, carom_arena *arena) {
  carom_contact_potential *p = owner;
  int n = p->model->body_count;
  p->v = CAROM_PUSH(arena, carom_vec3, n);
  p->w = CAROM_PUSH(arena, carom_vec3, n);
  p->reach = CAROM_PUSH(arena, double, n);
  carom_soft_limits_lay_out(&p->limits, p->model, arena);
}

carom_status carom_contact_potential_create(const carom_model *model, const carom_allocator *allocator,
                                            carom_contact_potential **potential, carom_error *error) {
  const carom_contact_potential initial = {.model = model};
  carom_contact_potential *p = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  carom_status status = p ? carom_contacts_create(model, allocator, &p->pairs, error) : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) status = carom_memory_create(model, allocator, &p->memory, error);
  if (status == CAROM_OK) status = carom_joints_create(model, allocator, &p->joints, error);
  if (status == CAROM_OK && model->solid_count > 0) status = carom_soft_create(model, allocator, &p->soft, error);
  if (status != CAROM_OK)
    carom_contact_potential_destroy(p);
  else
    *potential = p;
  return status;
}

void carom_contact_potential_destroy(carom_contact_potential *p) {
  if (!p) return;
  carom_contacts_destroy(p->pairs);
  carom_memory_destroy(p->memory);
  carom_joints_destroy(p->joints);
  carom_soft_destroy(p->soft);
  carom_release(&p->arena.allocator, p->contacts);
  carom_object_destroy(p);
}

// ---- drag ---------------------------------------------------------------------------------------------------------

static double returned(double zeta) {
  double s = 1 - zeta * zeta;
  if (fabs(s) < 1e-6) return exp(-1 + s / 3);  // z acos(z) / sqrt(1 - z^2) = 1 - (1 - z^2) / 3 + ...
  return s > 0 ? exp(-zeta * acos(zeta) / sqrt(s)) : exp(-zeta * acosh(zeta) / sqrt(-s));
}

double carom_drag_ratio(double e) {
  if (e >= 1) return 0;
  e = fmax(e, 0.01);  // with no restitution at all bodies would never part again
  double low = 0, high = 1;
  while (returned(high) > e && high < 1e6) high *= 2;
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    if (returned(middle) > e)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

carom_spring_impulse carom_soft_spring(double k, double mass, double restitution, double gap, double rate, double dt) {
  double elastic = -k * gap * dt;
  double resistance = isfinite(mass) ? 2 * carom_drag_ratio(restitution) * sqrt(k * mass) : 0;
  double drag = -fmin(elastic, resistance * fmax(0, rate) * dt);
  return (carom_spring_impulse){elastic + drag, drag};
}

double carom_contact_least_mass(const carom_model *model) {
  double most = 0;
  for (int i = 0; i < model->body_count; i++) {
    const carom_body *b = &model->bodies[i];
    if (b->fixed || b->part_count == 0) continue;
    double J = fmax(b->inverse_inertia.x, fmax(b->inverse_inertia.y, b->inverse_inertia.z));
    most = fmax(most, b->inverse_mass + J * b->bounding_radius * b->bounding_radius);
  }
  return most > 0 ? 1 / (2 * most) : INFINITY;
}

// ---- overlaps -----------------------------------------------------------------------------------------------------

carom_status carom_contact_potential_update(carom_contact_potential *p, const carom_state *state, double h,
                                            carom_error *error) {
  p->time = state->time;
  p->span = h;
  for (int i = 0; i < state->body_count; i++) {
    p->v[i] = carom_state_velocity(p->model, state, i);
    p->w[i] = carom_state_angular_velocity(p->model, state, i);
  }
  carom_reach(p->model, &(carom_moving){.v = p->v, .w = p->w, .time = state->time, .h = h}, SPARE, p->reach);
  carom_status status = p->soft ? carom_soft_update(p->soft, state, h, p->reach, error) : CAROM_OK;
  return status == CAROM_OK ? carom_contacts_update(p->pairs, state, p->reach, error) : status;
}

// Where faces or edges lie on each other the weights of least norm keep the symmetry (Johnson 2012, 2.7.5): one column
// made of their points stands for all.
static void center_ties(const carom_placed *a, const carom_placed *b, carom_ssh_result *r) {
  carom_ssh_optimum o;
  if (carom_ssh_resolve(a, b, r, 0, &o) != CAROM_OK) return;
  r->alpha = o.alpha;
  r->column_count = 1;
  r->weight[0] = 1;
  r->vertex_a[0] = r->vertex_b[0] = -1;  // the point below is not a vertex
  r->column_a[0] = r->point_a = o.point_a;
  r->column_b[0] = r->point_b = o.point_b;
}

// Two parts that may overlap.
typedef struct couple {
  int pair;
  carom_placed a, b;
  bool beta_moves;
} couple;

static carom_status separate(carom_contact_potential *p, const carom_state *state, couple *c, carom_ssh_result *r) {
  carom_part_pair *parts = &p->pairs->pairs[c->pair];
  carom_ssh_options options = carom_ssh_default_options();
  options.planar = p->pairs->planar;
  c->beta_moves = carom_body_moves(p->model, parts->body_b);
  if (!c->beta_moves) {
    carom_distance_result d;
    carom_status status = carom_contacts_distance(p->pairs, c->pair, state, &d);
    r->gap = d.distance;
    if (status != CAROM_OK || d.distance >= 0) return status;
    options.given_beta = true;
    options.beta = d.normal;
  }
  carom_status status = carom_ssh(&c->a, &c->b, &options, &parts->cache, r);
  if (status == CAROM_OK && r->gap < 0 && !options.planar) center_ties(&c->a, &c->b, r);
  return status;
}

// Gradients are about the part's own frame; a body turns about its centre of mass.
static carom_vec3 about_center(carom_vec3 angular, carom_vec3 linear, carom_vec3 frame, carom_vec3 center) {
  return cm_add(angular, cm_cross(cm_sub(frame, center), linear));
}

// In a planar scene bodies move in the plane z = 0 and turn about z: what else the gradient has, as of a corner off the
// plane, is nothing that they could follow, and would only be lost again at the end of the step.
static void keep_in_plane(carom_potential_contact *c) {
  carom_vec3 n = c->found.normal;
  for (int end = 0; end < 2; end++) c->row.linear[end].z = c->row.angular[end].x = c->row.angular[end].y = 0;
  c->found.normal = cm_unit(cm_vec3(n.x, n.y, 0));
  c->found.point_a.z = c->found.point_b.z = 0;
}

static double felt_mass(const carom_model *model, const carom_row *row, const carom_state *state) {
  double answer = carom_row_answer(model, row, state->q);
  return answer > 0 ? 1 / answer : 0;
}

static carom_potential_contact contact_of(const carom_contact_potential *p, const carom_state *state, const couple *c,
                                          const carom_ssh_result *r, const carom_gap_gradient *g) {
  carom_contact found = carom_contacts_blank(p->pairs, c->pair);
  int a = found.body_a, b = found.body_b;
  found.gap = r->gap / cm_norm(r->alpha), found.normal = cm_unit(r->alpha);
  found.point_a = r->point_a, found.point_b = r->point_b;
  carom_potential_contact overlap = {
      .found = found, .gap = r->gap, .row = {.body = {a, b}, .linear = {g->a.linear, g->b.linear}}};
  overlap.row.angular[0] = about_center(g->a.angular, g->a.linear, c->a.pose.p, state->x[a]);
  overlap.row.angular[1] = about_center(g->b.angular, g->b.linear, c->b.pose.p, state->x[b]);
  if (p->model->planar) keep_in_plane(&overlap);
  overlap.mass = felt_mass(p->model, &overlap.row, state);
  return overlap;
}

static carom_status find_overlap(carom_contact_potential *p, int pair, const carom_state *state, carom_error *error) {
  const carom_part_pair *parts = &p->pairs->pairs[pair];
  if (carom_joints_hold(p->model, state, parts->body_a, parts->body_b)) return CAROM_OK;
  couple c = {.pair = pair,
              .a = carom_contacts_place(p->pairs, parts->part_a, state),
              .b = carom_contacts_place(p->pairs, parts->part_b, state)};
  carom_ssh_result r;
  carom_gap_gradient gradient;
  carom_status status = separate(p, state, &c, &r);
  if (status == CAROM_OK && r.gap >= 0) return CAROM_OK;
  if (status == CAROM_OK) status = carom_ssh_gradient(&c.a, &c.b, &r, c.beta_moves, &gradient);
  if (status != CAROM_OK) return carom_contacts_no_separation(p->pairs, pair, state, status, error);
  if (!carom_grow(&p->arena.allocator, (void **)&p->contacts, p->count, &p->capacity, sizeof *p->contacts))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
  p->contacts[p->count++] = contact_of(p, state, &c, &r, &gradient);
  return CAROM_OK;
}

// All overlaps at the state's configuration, what they store, and the deepest.
static carom_status find_overlaps(carom_contact_potential *p, const carom_state *state, double *depth,
                                  carom_error *error) {
  carom_status status = CAROM_OK;
  p->count = 0;
  p->energy = *depth = 0;
  for (int i = 0; i < p->pairs->pair_count && status == CAROM_OK; i++) status = find_overlap(p, i, state, error);
  for (int i = 0; i < p->count; i++) {
    p->energy += 0.5 * p->stiffness * p->contacts[i].gap * p->contacts[i].gap;
    *depth = fmax(*depth, -p->contacts[i].found.gap);
  }
  return status == CAROM_OK ? carom_soft_limits_find(p, state, depth, error) : status;
}

// ---- forces -------------------------------------------------------------------------------------------------------

static double driven_rate(const carom_contact_potential *p, const carom_row *row) {
  return carom_row_driven_rate(p->model, row, p->time, p->span);
}

static double rate_along(const carom_contact_potential *p, const carom_state *state, const carom_row *row) {
  return carom_row_state_rate(p->model, row, state) + driven_rate(p, row);
}

static carom_row row_at_contact(const carom_state *state, const carom_contact *c, carom_vec3 direction) {
  return carom_row_at(c->body_a, c->body_b, direction, cm_lerp(c->point_a, c->point_b, 0.5), state->x);
}

// Across the line along which the spring pushes, so that friction adds nothing to it.
static carom_row slip_of(const carom_contact_potential *p, const carom_state *state,
                         const carom_potential_contact *touch) {
  const carom_contact *c = &touch->found;
  carom_vec3 s, t;
  cm_frame(cm_unit(touch->row.linear[0]), &s, &t);
  carom_row along_s = row_at_contact(state, c, s), along_t = row_at_contact(state, c, t);
  carom_vec3 slip = cm_axpy(cm_scale(rate_along(p, state, &along_s), s), rate_along(p, state, &along_t), t);
  return row_at_contact(state, c, cm_unit(slip));
}

static void find_impulses(const carom_contact_potential *p, const carom_state *state, double dt,
                          carom_potential_contact *c) {
  double rate = rate_along(p, state, &c->row);
  c->spring = carom_soft_spring(p->stiffness, c->mass, c->found.restitution, c->gap, rate, dt);
  c->slip = slip_of(p, state, c);
  double stop = 0.5 * felt_mass(p->model, &c->slip, state) * rate_along(p, state, &c->slip);
  c->friction = -fmin(c->found.friction * c->spring.whole * cm_norm(c->row.linear[0]), stop);
}

static void push_along(const carom_contact_potential *p, carom_state *state, const carom_row *row, double impulse,
                       carom_ledger *ledger) {
  carom_ledger_row(ledger, row, impulse, state->x);
  carom_ledger_work(ledger, -impulse * driven_rate(p, row));
  carom_row_push(p->model, row, impulse, state->p, state->l);
}

// Half of a loss, with the velocities before or after the kick: work is impulse times the mean of both.
static void book_half(const carom_contact_potential *p, const carom_state *state, carom_ledger *ledger) {
  for (int i = 0; i < p->count; i++) {
    const carom_potential_contact *c = &p->contacts[i];
    carom_ledger_loss(ledger, -0.5 * c->spring.drag * rate_along(p, state, &c->row),
                      -0.5 * c->friction * rate_along(p, state, &c->slip));
  }
}

// ---- events -------------------------------------------------------------------------------------------------------

static carom_memory_record record_of(const carom_contact_potential *p, const carom_potential_contact *c) {
  return (carom_memory_record){.key = carom_memory_parts(p->model, c->found.part_a, c->found.part_b)};
}

static carom_vec3 impulse_of(const carom_potential_contact *c) {
  return cm_axpy(cm_scale(c->spring.whole, c->row.linear[0]), c->friction, c->slip.linear[0]);
}

// The place on the line along which the spring pushes that is nearest to the contact: beta turns with the centres, so
// that the line need not go through it.
static carom_vec3 pushed_at(const carom_state *state, const carom_potential_contact *c) {
  carom_vec3 f = c->row.linear[0], x = state->x[c->found.body_a];
  carom_vec3 near = cm_sub(cm_lerp(c->found.point_a, c->found.point_b, 0.5), x);
  carom_vec3 r = cm_axpy(cm_cross(f, c->row.angular[0]), cm_dot(near, f), f);
  return cm_axpy(x, 1 / cm_norm2(f), r);
}

// One event for each kick. Pairs that were not there at the end of the step before met in this one.
static carom_status tell(carom_contact_potential *p, const carom_state *state, const carom_potential_contact *c,
                         carom_ledger *ledger, carom_error *error) {
  carom_memory_record record = record_of(p, c);
  carom_vec3 before;
  bool known = carom_memory_find(p->memory, c->found.body_a, record.key, record.point, &before);
  carom_contact_event event = {.kind = known ? CAROM_EVENT_CONTACT : CAROM_EVENT_IMPACT,
                               .time = p->time + p->span,
                               .body_a = c->found.body_a,
                               .body_b = c->found.body_b,
                               .point = pushed_at(state, c),
                               .normal = cm_unit(c->row.linear[0]),
                               .impulse = impulse_of(c)};
  return carom_ledger_event(ledger, &event, error);
}

carom_status carom_contact_potential_kick(carom_contact_potential *p, carom_state *state, double dt,
                                          carom_ledger *ledger, carom_error *error) {
  double depth;
  carom_status status = find_overlaps(p, state, &depth, error);
  if (status != CAROM_OK) return status;
  carom_ledger_note_overlap(ledger, depth);
  carom_soft_limits_kick(p, state, dt, ledger);
  for (int i = 0; i < p->count; i++) find_impulses(p, state, dt, &p->contacts[i]);
  book_half(p, state, ledger);
  for (int i = 0; i < p->count; i++) {
    push_along(p, state, &p->contacts[i].row, p->contacts[i].spring.whole, ledger);
    push_along(p, state, &p->contacts[i].slip, p->contacts[i].friction, ledger);
  }
  book_half(p, state, ledger);
  for (int i = 0; i < p->count && status == CAROM_OK; i++) status = tell(p, state, &p->contacts[i], ledger, error);
  return status;
}

// The memory keeps the force of the last kick.
carom_status carom_contact_potential_note(carom_contact_potential *p, carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  carom_soft_limits_note(p, ledger);
  carom_memory_begin(p->memory);
  for (int i = 0; i < p->count && status == CAROM_OK; i++) {
    carom_memory_record record = record_of(p, &p->contacts[i]);
    record.force = cm_scale(2 / p->span, impulse_of(&p->contacts[i]));
    status = carom_memory_note(p->memory, p->contacts[i].found.body_a, &record, error);
  }
  if (status == CAROM_OK && p->soft) status = carom_soft_note(p->soft, error);
  return status == CAROM_OK ? carom_memory_end(p->memory, error) : status;
}

bool carom_contact_potential_remember(carom_contact_potential *p, carom_tape *tape) {
  return carom_tape_pass(tape, &p->stiffness, sizeof p->stiffness) && p->stiffness >= 0 &&
         carom_contacts_remember(p->pairs, tape) && carom_memory_remember(p->memory, tape) &&
         carom_soft_limits_remember(p, tape) && (!p->soft || carom_soft_remember(p->soft, tape));
}
