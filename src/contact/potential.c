#include "contact/potential.h"

#include <math.h>

#include "base/memory.h"
#include "base/tape.h"
#include "model/joints.h"

carom_status carom_contact_potential_create(const carom_model *model, const carom_allocator *allocator,
                                            carom_contact_potential **potential, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_contact_potential *p = CAROM_NEW(&a, carom_contact_potential, 1);
  if (!p) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact potential");
  *p = (carom_contact_potential){.model = model, .allocator = a};
  p->reach = CAROM_NEW(&a, double, model->body_count);
  carom_status status = p->reach ? carom_contacts_create(model, &a, &p->pairs, error)
                                 : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact potential");
  if (status != CAROM_OK) {
    carom_contact_potential_destroy(p);
    return status;
  }
  *potential = p;
  return CAROM_OK;
}

void carom_contact_potential_destroy(carom_contact_potential *p) {
  if (!p) return;
  carom_allocator a = p->allocator;
  carom_contacts_destroy(p->pairs);
  carom_release(&a, p->contacts);
  carom_release(&a, p->events);
  carom_release(&a, p->touching);
  carom_release(&a, p->reach);
  carom_release(&a, p);
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
  p->motion_time = state->time;
  p->motion_h = h;
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *b = &p->model->bodies[i];
    double speed = cm_norm(carom_state_velocity(p->model, state, i)) +
                   b->bounding_radius * cm_norm(carom_state_angular_velocity(p->model, state, i));
    p->reach[i] = b->fixed ? 0 : 1.5 * h * (speed + h * cm_norm(p->model->gravity)) + 1e-3 * b->bounding_radius;
  }
  for (int i = 0; i < p->model->drive_count; i++) {
    int body = p->model->drives[i].body;
    double radius = p->model->bodies[body].bounding_radius;
    carom_vec3 v, w;
    carom_model_motion(p->model, body, state->time, h, &v, &w);
    p->reach[body] = 1.5 * h * (cm_norm(v) + (isfinite(radius) ? radius * cm_norm(w) : 0));
  }
  return carom_contacts_update(p->pairs, state->x, state->q, p->reach, error);
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

static carom_status separate(carom_contact_potential *p, int pair, const carom_state *state, const carom_placed *a,
                             const carom_placed *b, carom_ssh_result *r, bool *beta_moves) {
  carom_part_pair *parts = &p->pairs->pairs[pair];
  carom_ssh_options options = carom_ssh_default_options();
  options.planar = p->pairs->planar;
  *beta_moves = !p->model->bodies[parts->body_b].fixed;
  if (!*beta_moves) {
    carom_distance_result d;
    carom_status status = carom_contacts_distance(p->pairs, pair, state->x, state->q, &d);
    r->gap = d.distance;
    if (status != CAROM_OK || d.distance >= 0) return status;
    options.given_beta = true;
    options.beta = d.normal;
  }
  carom_status status = carom_ssh(a, b, &options, &parts->cache, r);
  if (status == CAROM_OK && r->gap < 0 && !options.planar) center_ties(a, b, r);
  return status;
}

static double felt_mass(const carom_model *model, const carom_state *state, const carom_potential_contact *c) {
  const carom_body *A = &model->bodies[c->body_a], *B = &model->bodies[c->body_b];
  carom_vec3 ta = cm_unrotate(state->q[c->body_a], c->ang_a), tb = cm_unrotate(state->q[c->body_b], c->ang_b);
  double response = A->inverse_mass * cm_norm2(c->lin_a) + B->inverse_mass * cm_norm2(c->lin_b) +
                    cm_dot(ta, cm_mul_diag(A->inverse_inertia, ta)) + cm_dot(tb, cm_mul_diag(B->inverse_inertia, tb));
  return response > 0 ? 1 / response : 0;
}

// Gradients are about the part's own frame; a body turns about its centre of mass.
static carom_vec3 about_center(carom_vec3 angular, carom_vec3 linear, carom_vec3 frame, carom_vec3 center) {
  return cm_add(angular, cm_cross(cm_sub(frame, center), linear));
}

// In a planar scene bodies move in the plane z = 0 and turn about z: what else the gradient has, as of a corner off the
// plane, is nothing that they could follow, and would only be lost again at the end of the step.
static void keep_in_plane(carom_potential_contact *c) {
  c->lin_a.z = c->lin_b.z = 0;
  c->ang_a.x = c->ang_a.y = c->ang_b.x = c->ang_b.y = 0;
  c->normal = cm_unit(cm_vec3(c->normal.x, c->normal.y, 0));
  c->point.z = 0;
}

static carom_potential_contact contact_of(const carom_contact_potential *p, int pair, const carom_state *state,
                                          const carom_placed *a, const carom_placed *b, const carom_ssh_result *r,
                                          const carom_gap_gradient *g) {
  const carom_part_pair *parts = &p->pairs->pairs[pair];
  carom_potential_contact c = {.body_a = parts->body_a,
                               .body_b = parts->body_b,
                               .part_a = parts->part_a,
                               .part_b = parts->part_b,
                               .gap = r->gap,
                               .depth = -r->gap / cm_norm(r->alpha),
                               .lin_a = g->a.linear,
                               .lin_b = g->b.linear,
                               .normal = cm_unit(r->alpha),
                               .point = cm_lerp(r->point_a, r->point_b, 0.5),
                               .restitution = parts->restitution,
                               .friction = parts->friction};
  c.ang_a = about_center(g->a.angular, g->a.linear, a->pose.p, state->x[c.body_a]);
  c.ang_b = about_center(g->b.angular, g->b.linear, b->pose.p, state->x[c.body_b]);
  if (p->model->planar) keep_in_plane(&c);
  c.mass = felt_mass(p->model, state, &c);
  return c;
}

static carom_status evaluate_pair(carom_contact_potential *p, int pair, const carom_state *state, carom_error *error) {
  const carom_part_pair *parts = &p->pairs->pairs[pair];
  if (carom_joints_hold(p->model, state, parts->body_a, parts->body_b)) return CAROM_OK;
  carom_placed a = carom_contacts_place(p->pairs, parts->part_a, state->x, state->q);
  carom_placed b = carom_contacts_place(p->pairs, parts->part_b, state->x, state->q);
  carom_ssh_result r;
  carom_gap_gradient gradient;
  bool beta_moves;
  carom_status status = separate(p, pair, state, &a, &b, &r, &beta_moves);
  if (status == CAROM_OK && r.gap >= 0) return CAROM_OK;
  if (status == CAROM_OK) status = carom_ssh_gradient(&a, &b, &r, beta_moves, &gradient);
  if (status != CAROM_OK)
    return carom_fail(error, status, "no separation of bodies '%s' and '%s' at t = %.9g s: a pose is not finite",
                      p->model->bodies[parts->body_a].name, p->model->bodies[parts->body_b].name, state->time);
  if (!carom_grow(&p->allocator, (void **)&p->contacts, p->count, &p->capacity, sizeof *p->contacts))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
  p->contacts[p->count++] = contact_of(p, pair, state, &a, &b, &r, &gradient);
  return CAROM_OK;
}

carom_status carom_contact_potential_evaluate(carom_contact_potential *p, const carom_state *state, double *energy,
                                              double *depth, carom_error *error) {
  carom_status status = CAROM_OK;
  p->count = 0;
  *energy = *depth = 0;
  for (int i = 0; i < p->pairs->pair_count && status == CAROM_OK; i++) status = evaluate_pair(p, i, state, error);
  for (int i = 0; i < p->count; i++) {
    *energy += 0.5 * p->stiffness * p->contacts[i].gap * p->contacts[i].gap;
    *depth = fmax(*depth, p->contacts[i].depth);
  }
  return status;
}

// ---- forces -------------------------------------------------------------------------------------------------------

static bool may_be_driven(const carom_contact_potential *p, int body) {
  return p->model->drive_count > 0 && p->model->bodies[body].fixed;
}

static carom_vec3 velocity(const carom_contact_potential *p, const carom_state *state, int body) {
  carom_vec3 v, w;
  if (may_be_driven(p, body)) {
    carom_model_motion(p->model, body, p->motion_time, p->motion_h, &v, &w);
    return v;
  }
  return cm_scale(p->model->bodies[body].inverse_mass, state->p[body]);
}

static carom_vec3 spin(const carom_contact_potential *p, const carom_state *state, int body) {
  carom_vec3 v, w;
  if (may_be_driven(p, body)) {
    carom_model_motion(p->model, body, p->motion_time, p->motion_h, &v, &w);
    return w;
  }
  carom_vec3 L = cm_unrotate(state->q[body], state->l[body]);
  return cm_rotate(state->q[body], cm_mul_diag(p->model->bodies[body].inverse_inertia, L));
}

static double gap_rate(const carom_contact_potential *p, const carom_state *state, const carom_potential_contact *c) {
  return cm_dot(c->lin_a, velocity(p, state, c->body_a)) + cm_dot(c->ang_a, spin(p, state, c->body_a)) +
         cm_dot(c->lin_b, velocity(p, state, c->body_b)) + cm_dot(c->ang_b, spin(p, state, c->body_b));
}

static carom_vec3 point_velocity(const carom_contact_potential *p, const carom_state *state, int body,
                                 carom_vec3 point) {
  return cm_add(velocity(p, state, body), cm_cross(spin(p, state, body), cm_sub(point, state->x[body])));
}

static carom_vec3 slip(const carom_contact_potential *p, const carom_state *state, const carom_potential_contact *c) {
  carom_vec3 u = cm_sub(point_velocity(p, state, c->body_a, c->point), point_velocity(p, state, c->body_b, c->point));
  return cm_axpy(u, -cm_dot(u, c->normal), c->normal);
}

// The mass that a tangential impulse at the point feels.
static double tangential_mass(const carom_contact_potential *p, const carom_state *state,
                              const carom_potential_contact *c, carom_vec3 t) {
  double response = 0;
  int bodies[2] = {c->body_a, c->body_b};
  for (int k = 0; k < 2; k++) {
    const carom_body *body = &p->model->bodies[bodies[k]];
    carom_vec3 arm = cm_unrotate(state->q[bodies[k]], cm_cross(cm_sub(c->point, state->x[bodies[k]]), t));
    response += body->inverse_mass + cm_dot(arm, cm_mul_diag(body->inverse_inertia, arm));
  }
  return response > 0 ? 1 / response : 0;
}

static void find_impulses(const carom_contact_potential *p, const carom_state *state, double dt,
                          carom_potential_contact *c) {
  double elastic = -p->stiffness * c->gap * dt, parting = fmax(0, gap_rate(p, state, c));
  double resistance = 2 * carom_drag_ratio(c->restitution) * sqrt(p->stiffness * c->mass);
  c->drag = -fmin(elastic, resistance * parting * dt);
  c->impulse = elastic + c->drag;
  carom_vec3 u = slip(p, state, c), t = cm_unit(u);
  double stop = 0.5 * tangential_mass(p, state, c, t) * cm_norm(u);
  c->push = cm_scale(-fmin(c->friction * c->impulse * cm_norm(c->lin_a), stop), t);
}

// What a driven B does against the forces on it.
static double work_of_drive(const carom_contact_potential *p, const carom_state *state,
                            const carom_potential_contact *c) {
  double against = cm_dot(c->lin_b, velocity(p, state, c->body_b)) + cm_dot(c->ang_b, spin(p, state, c->body_b));
  return cm_dot(c->push, point_velocity(p, state, c->body_b, c->point)) - c->impulse * against;
}

static void act(const carom_contact_potential *p, carom_state *state, const carom_potential_contact *c,
                carom_step_report *report) {
  carom_vec3 pa = cm_axpy(c->push, c->impulse, c->lin_a);
  carom_vec3 la = cm_axpy(cm_cross(cm_sub(c->point, state->x[c->body_a]), c->push), c->impulse, c->ang_a);
  state->p[c->body_a] = cm_add(state->p[c->body_a], pa);
  state->l[c->body_a] = cm_add(state->l[c->body_a], la);
  if (p->model->bodies[c->body_b].fixed) {
    report->impulse = cm_add(report->impulse, pa);
    report->angular_impulse = cm_add(report->angular_impulse, cm_add(cm_cross(state->x[c->body_a], pa), la));
    if (may_be_driven(p, c->body_b)) report->work += work_of_drive(p, state, c);
    return;
  }
  carom_vec3 pb = cm_axpy(cm_neg(c->push), c->impulse, c->lin_b);
  carom_vec3 lb = cm_axpy(cm_cross(cm_sub(c->point, state->x[c->body_b]), cm_neg(c->push)), c->impulse, c->ang_b);
  state->p[c->body_b] = cm_add(state->p[c->body_b], pb);
  state->l[c->body_b] = cm_add(state->l[c->body_b], lb);
}

// Half of a loss, with the velocities before or after the kick: work is impulse times the mean of both.
static void account(const carom_contact_potential *p, const carom_state *state, const carom_potential_contact *c,
                    carom_step_report *report) {
  report->restitution_loss -= 0.5 * c->drag * gap_rate(p, state, c);
  report->friction_loss -= 0.5 * cm_dot(c->push, slip(p, state, c));
}

void carom_contact_potential_kick(carom_contact_potential *p, carom_state *state, double dt,
                                  carom_step_report *report) {
  for (int i = 0; i < p->count; i++) find_impulses(p, state, dt, &p->contacts[i]);
  for (int i = 0; i < p->count; i++) account(p, state, &p->contacts[i], report);
  for (int i = 0; i < p->count; i++) act(p, state, &p->contacts[i], report);
  for (int i = 0; i < p->count; i++) account(p, state, &p->contacts[i], report);
}

// ---- events -------------------------------------------------------------------------------------------------------

static bool touched(const carom_contact_potential *p, const carom_potential_contact *c) {
  for (int i = 0; i < p->touching_count; i++)
    if (p->touching[i][0] == c->part_a && p->touching[i][1] == c->part_b) return true;
  return false;
}

carom_status carom_contact_potential_note(carom_contact_potential *p, double time, carom_step_report *report,
                                          carom_error *error) {
  for (int i = 0; i < p->count; i++) {
    const carom_potential_contact *c = &p->contacts[i];
    bool anew = !touched(p, c);
    if (anew) report->collisions++;
    if (!carom_grow(&p->allocator, (void **)&p->events, p->event_count, &p->event_capacity, sizeof *p->events))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact events");
    p->events[p->event_count++] = (carom_contact_event){.kind = anew ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
                                                        .time = time,
                                                        .body_a = c->body_a,
                                                        .body_b = c->body_b,
                                                        .point = c->point,
                                                        .normal = c->normal,
                                                        .impulse = cm_axpy(c->push, c->impulse, c->lin_a)};
  }
  p->touching_count = 0;
  for (int i = 0; i < p->count; i++) {
    if (!carom_grow(&p->allocator, (void **)&p->touching, p->touching_count, &p->touching_capacity,
                    sizeof *p->touching))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
    p->touching[p->touching_count][0] = p->contacts[i].part_a;
    p->touching[p->touching_count++][1] = p->contacts[i].part_b;
  }
  report->events = p->events;
  report->event_count = p->event_count;
  return CAROM_OK;
}

// ---- for checkpoints ----------------------------------------------------------------------------------------------

bool carom_contact_potential_remember(carom_contact_potential *p, carom_tape *tape) {
  int count = p->touching_count;
  if (!carom_tape_pass(tape, &p->stiffness, sizeof p->stiffness) || !(p->stiffness >= 0)) return false;
  if (!carom_tape_pass_count(tape, &count, sizeof *p->touching)) return false;
  if (!carom_reserve(&p->allocator, (void **)&p->touching, &p->touching_capacity, count, sizeof *p->touching))
    return false;
  p->touching_count = count;
  return carom_tape_pass(tape, p->touching, (size_t)count * sizeof *p->touching);
}
