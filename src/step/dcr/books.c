// Between state, solver and report: velocities in, impulses out, and what they did.
#include <math.h>

#include "base/memory.h"
#include "step/dcr/dcr.h"
#include "step/variational/constrained.h"

bool carom_dcr_make_room(carom_dcr *w, int contacts) {
  w->limit_first = contacts;
  contacts += w->limit_capacity;
  return carom_reserve(&w->allocator, (void **)&w->before, &w->before_capacity, contacts, sizeof *w->before) &&
         carom_reserve(&w->allocator, (void **)&w->slow, &w->slow_capacity, contacts, sizeof *w->slow);
}

void carom_dcr_load(carom_stepper *stepper, const carom_state *state, double dt) {
  carom_dcr *w = stepper->work;
  carom_sweeps_clear(w->sweeps);
  carom_sweeps_place(w->sweeps, stepper->model, state->q);
  for (int i = 0; i < state->body_count; i++) {
    carom_sweep_body *body = &w->sweeps->bodies[i];
    body->v = cm_axpy(cm_scale(body->inverse_mass, state->p[i]), dt, w->a[i]);
    body->w = cm_axpy(cm_mulv(body->inverse_inertia, state->l[i]), dt, w->alpha[i]);
  }
  for (int i = 0; i < stepper->model->drive_count; i++) {
    int driven = stepper->model->drives[i].body;
    carom_sweep_body *body = &w->sweeps->bodies[driven];
    carom_model_motion(stepper->model, driven, w->motion_time, w->motion_h, &body->v, &body->w);
  }
}

static bool is_limit(const carom_dcr *w, const carom_sweep_contact *c) { return c->source >= w->limit_first; }

// Both bodies feel the impulse at one point, so that angular momentum does not change by it.
carom_sweep_contact *carom_dcr_add(carom_dcr *w, const carom_state *state, const carom_contact *contacts, int i) {
  const carom_contact *c = &contacts[i];
  carom_vec3 point = cm_lerp(c->point_a, c->point_b, 0.5);
  carom_sweep_contact *added =
      carom_sweeps_add(w->sweeps, c->body_a, c->body_b, c->normal, point, state->x[c->body_a], state->x[c->body_b]);
  if (!added) return NULL;
  added->source = i;
  added->friction = c->friction;
  return added;
}

carom_status carom_dcr_group(carom_stepper *stepper, const carom_state *state, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  if (w->sweeps->contact_count > 0) status = carom_sweeps_add_joints(w->sweeps, stepper->model, state, false, error);
  if (status == CAROM_OK) status = carom_sweeps_group(w->sweeps, error);
  for (int i = 0; i < w->sweeps->group_count; i++) w->sweeps->groups[i].skip = w->sweeps->groups[i].count == 0;
  for (int i = 0; i < w->sweeps->joint_count; i++) {
    carom_sweep_joint *j = &w->sweeps->joints[i];
    j->before = carom_sweep_speed(w->sweeps, j->a, j->b, &j->row);
  }
  return status;
}

// ---- first guesses -------------------------------------------------------------------------------------------------

static carom_vec3 local_point(const carom_state *state, const carom_contact *c) {
  return cm_unrotate(state->q[c->body_a], cm_sub(c->point_a, state->x[c->body_a]));
}

static bool same_parts(const carom_dcr_memory *m, const carom_contact *c) {
  return m->part_a == c->part_a && m->part_b == c->part_b;
}

static int low(int a, int b) { return a < b ? a : b; }
static int high(int a, int b) { return a < b ? b : a; }

static bool comes_before(const carom_dcr_memory *m, const carom_contact *c) {
  int ml = low(m->part_a, m->part_b), cl = low(c->part_a, c->part_b);
  return ml < cl || (ml == cl && high(m->part_a, m->part_b) < high(c->part_a, c->part_b));
}

// The first remembered contact of these parts or of later ones; memory is sorted by parts, as contacts are.
static int seek(const carom_dcr *w, const carom_contact *c) {
  int from = 0, to = w->memory_count;
  while (from < to) {
    int middle = from + (to - from) / 2;
    if (comes_before(&w->memory[middle], c))
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static const carom_dcr_memory *nearest_memory(const carom_dcr *w, const carom_state *state, const carom_contact *c) {
  const carom_dcr_memory *best = NULL;
  double least = 0.05 * w->size;
  carom_vec3 point = local_point(state, c);
  for (int i = seek(w, c); i < w->memory_count && same_parts(&w->memory[i], c); i++) {
    double distance = cm_norm(cm_sub(w->memory[i].point, point));
    if (distance >= least) continue;
    least = distance;
    best = &w->memory[i];
  }
  return best;
}

static void recall_contact(const carom_dcr_memory *m, double dt, carom_sweep_contact *c) {
  double n = dt * cm_dot(m->force, c->row[0].d);
  if (n <= 0) return;
  double t = dt * cm_dot(m->force, c->row[1].d), u = dt * cm_dot(m->force, c->row[2].d), size = sqrt(t * t + u * u);
  double factor = size > c->friction * n ? c->friction * n / size : 1;
  c->gamma[0] = n;
  c->gamma[1] = factor * t;
  c->gamma[2] = factor * u;
}

void carom_dcr_recall(carom_dcr *w, const carom_state *state, const carom_contact *contacts, double dt) {
  for (int i = 0; i < w->sweeps->group_count; i++) {
    const carom_sweep_group *g = &w->sweeps->groups[i];
    for (int k = g->first; k < g->first + g->count && !g->skip; k++) {
      carom_sweep_contact *c = &w->sweeps->contacts[k];
      if (is_limit(w, c)) continue;
      const carom_dcr_memory *m = nearest_memory(w, state, &contacts[c->source]);
      if (m) recall_contact(m, dt, c);
    }
  }
}

// In the order of the contacts, which is that of their parts.
void carom_dcr_remember(carom_dcr *w, const carom_state *state, const carom_contact *contacts, double dt) {
  const carom_sweeps *s = w->sweeps;
  int count = 0;
  for (int i = 0; i < s->contact_count; i++)
    if (s->contacts[i].source >= count && !is_limit(w, &s->contacts[i])) count = s->contacts[i].source + 1;
  if (!carom_reserve(&w->allocator, (void **)&w->memory, &w->memory_capacity, count, sizeof *w->memory)) count = 0;
  w->memory_count = count;
  for (int i = 0; i < count; i++)
    w->memory[i] =
        (carom_dcr_memory){contacts[i].part_a, contacts[i].part_b, local_point(state, &contacts[i]), cm_zero3()};
  for (int i = 0; i < s->contact_count && count > 0; i++)
    if (!is_limit(w, &s->contacts[i]))
      w->memory[s->contacts[i].source].force = cm_scale(1 / dt, carom_sweep_impulse(&s->contacts[i]));
}

// ---- impulses ------------------------------------------------------------------------------------------------------

static void act(carom_stepper *stepper, carom_state *state, const carom_sweep_contact *c, carom_vec3 P,
                carom_step_report *report) {
  carom_vec3 la = cm_zero3(), lb = cm_zero3();
  for (int k = 0; k < 3; k++) {
    la = cm_axpy(la, c->gamma[k], c->row[k].ra);
    lb = cm_axpy(lb, c->gamma[k], c->row[k].rb);
  }
  state->p[c->a] = cm_add(state->p[c->a], P);
  state->l[c->a] = cm_add(state->l[c->a], la);
  if (stepper->model->bodies[c->b].fixed) {
    report->impulse = cm_add(report->impulse, P);
    report->angular_impulse = cm_add(report->angular_impulse, cm_add(cm_cross(state->x[c->a], P), la));
  } else {
    state->p[c->b] = cm_sub(state->p[c->b], P);
    state->l[c->b] = cm_sub(state->l[c->b], lb);
  }
}

static double row_kick(const carom_dcr *w, int a, int b, const carom_sweep_row *row) {
  return cm_dot(row->d, cm_sub(w->a[a], w->a[b])) + cm_dot(row->ra, w->alpha[a]) - cm_dot(row->rb, w->alpha[b]);
}

static double relative_kick(const carom_dcr *w, const carom_sweep_contact *c, int k) {
  return row_kick(w, c->a, c->b, &c->row[k]);
}

// Impulses of joints and of their limits act like those of contacts; one end may be the world.
static void act_row(const carom_stepper *stepper, carom_state *state, int a, int b, const carom_sweep_row *row,
                    double lambda, carom_step_report *report) {
  int body[2] = {a, b};
  for (int k = 0; k < 2; k++) {
    if (body[k] == stepper->model->body_count || stepper->model->bodies[body[k]].fixed) continue;
    carom_vec3 P = cm_scale(k == 0 ? lambda : -lambda, row->d);
    carom_vec3 L = cm_scale(k == 0 ? lambda : -lambda, k == 0 ? row->ra : row->rb);
    state->p[body[k]] = cm_add(state->p[body[k]], P);
    state->l[body[k]] = cm_add(state->l[body[k]], L);
    bool alone = body[1 - k] == stepper->model->body_count || stepper->model->bodies[body[1 - k]].fixed;
    if (!alone) continue;
    report->impulse = cm_add(report->impulse, P);
    report->angular_impulse = cm_add(report->angular_impulse, cm_add(cm_cross(state->x[body[k]], P), L));
  }
}

// A joint does no work; what its impulse changes in the state's energy belongs to the half kick that it takes up.
static void account_joint(const carom_dcr *w, const carom_sweep_joint *j, double kick, bool kick_to_come,
                          carom_step_report *report) {
  double after = carom_sweep_speed(w->sweeps, j->a, j->b, &j->row);
  double taken_up = kick_to_come ? kick * row_kick(w, j->a, j->b, &j->row) : 0;
  report->projection_energy += 0.5 * j->lambda * (j->before + after - 2 * taken_up) - j->lambda * j->target;
  report->work += j->lambda * j->target;  // of a motor that prescribes a rate
}

// Work of an impulse is its product with the mean of the velocities before and after it.
static double loss_of(const carom_dcr *w, const carom_sweep_contact *c, int k) {
  return -0.5 * c->gamma[k] * (w->before[c->source][k] + carom_sweep_speed(w->sweeps, c->a, c->b, &c->row[k]));
}

static void account_impact(const carom_dcr *w, const carom_sweep_contact *c, carom_step_report *report) {
  report->restitution_loss += loss_of(w, c, 0);
  report->friction_loss += loss_of(w, c, 1) + loss_of(w, c, 2);
}

// A contact that lasts takes up a kick of the forces; what it dissipates is measured from before that kick, so that a
// body at rest loses nothing. The state, though, sees the impulse alone: the difference, which the two halves of a step
// give and take, is booked with the projection.
static void account_rest(const carom_dcr *w, const carom_sweep_contact *c, double kick, bool kick_to_come,
                         carom_step_report *report) {
  double exchanged = 0, loss[3];
  for (int k = 0; k < 3; k++) {
    double taken_up = 0.5 * c->gamma[k] * kick * relative_kick(w, c, k), rise = -loss_of(w, c, k);
    loss[k] = -rise + taken_up;
    exchanged += rise - (kick_to_come ? 2 * taken_up : 0);
  }
  double normal = fmax(0, loss[0]), tangential = fmax(0, loss[1] + loss[2]);
  report->restitution_loss += normal;
  report->friction_loss += tangential;
  report->projection_energy += exchanged + normal + tangential;
}

static void note_pair(carom_dcr_pair *pair, carom_vec3 P, const carom_contact *c) {
  double size = cm_norm(P);
  pair->impulse = cm_add(pair->impulse, P);
  pair->moment = cm_axpy(pair->moment, size, cm_lerp(c->point_a, c->point_b, 0.5));
  pair->weight += size;
  pair->normal = c->normal;
}

static void book_limit(carom_stepper *stepper, carom_state *state, const carom_sweep_contact *c, double kick,
                       bool kick_to_come, carom_step_report *report) {
  const carom_dcr *w = stepper->work;
  if (kick_to_come || w->before[c->source][0] >= -w->slow[c->source])
    account_rest(w, c, kick, kick_to_come, report);
  else
    account_impact(w, c, report);
  act_row(stepper, state, c->a, c->b, &c->row[0], c->gamma[0], report);
}

// Losses are those of relative velocities; what a driven B does besides is work.
static double work_of_drive(const carom_dcr *w, const carom_sweep_contact *c) {
  const carom_sweep_body *B = &w->sweeps->bodies[c->b];
  double work = 0;
  if (B->inverse_mass > 0) return 0;
  for (int k = 0; k < 3; k++) work += c->gamma[k] * (cm_dot(c->row[k].d, B->v) + cm_dot(c->row[k].rb, B->w));
  return work;
}

void carom_dcr_book(carom_stepper *stepper, carom_state *state, const carom_contact *contacts, double kick,
                    bool kick_to_come, carom_step_report *report) {
  carom_dcr *w = stepper->work;
  for (int i = 0; i < w->sweeps->contact_count; i++) {
    const carom_sweep_contact *c = &w->sweeps->contacts[i];
    if (c->gamma[0] == 0) continue;
    if (is_limit(w, c)) {
      book_limit(stepper, state, c, kick, kick_to_come, report);
      continue;
    }
    carom_dcr_pair *pair = &w->pairs[contacts[c->source].pair];
    pair->rested = pair->rested || kick_to_come;
    if (pair->rested && !pair->impact)
      account_rest(w, c, kick, kick_to_come, report);
    else
      account_impact(w, c, report);
    carom_vec3 P = carom_sweep_impulse(c);
    act(stepper, state, c, P, report);
    if (stepper->model->drive_count > 0) report->work += work_of_drive(w, c);
    note_pair(pair, P, &contacts[c->source]);
  }
  for (int i = 0; i < w->sweeps->joint_count; i++) {
    account_joint(w, &w->sweeps->joints[i], kick, kick_to_come, report);
    const carom_sweep_joint *j = &w->sweeps->joints[i];
    act_row(stepper, state, j->a, j->b, &j->row, j->lambda, report);
  }
}

// ---- joints of bodies at rest --------------------------------------------------------------------------------------

void carom_dcr_note_rested(carom_stepper *stepper) {
  carom_dcr *w = stepper->work;
  const carom_sweeps *s = w->sweeps;
  for (int i = 0; i < s->joint_count; i++) {
    int body[2] = {s->joints[i].a, s->joints[i].b};
    for (int k = 0; k < 2; k++) {
      if (body[k] == stepper->model->body_count || stepper->model->bodies[body[k]].fixed) continue;
      w->rested[body[k]] = !s->groups[s->group_of_body[body[k]]].skip;
    }
  }
}

// Kinetic energy that impulses of joints, mu, gave to the bodies that rested.
static double given_by(carom_stepper *stepper, const carom_state *state, const carom_constrained *joints) {
  carom_dcr *w = stepper->work;
  double given = 0;
  carom_state_copy(w->start_of_settling, state);
  carom_state *before = w->start_of_settling;
  for (int i = 0; i < stepper->model->joint_count * CAROM_JOINT_ROWS; i++) w->minus_mu[i] = -joints->mu[i];
  carom_joint_system_push(joints->system, w->minus_mu, before->p, before->l);
  for (int i = 0; i < state->body_count; i++) {
    if (!w->rested[i]) continue;
    carom_vec3 v =
        cm_add(carom_state_velocity(stepper->model, state, i), carom_state_velocity(stepper->model, before, i));
    carom_vec3 spin = cm_add(carom_state_angular_velocity(stepper->model, state, i),
                             carom_state_angular_velocity(stepper->model, before, i));
    given += 0.5 * cm_dot(v, cm_sub(state->p[i], before->p[i])) + 0.5 * cm_dot(spin, cm_sub(state->l[i], before->l[i]));
  }
  return given;
}

// Joints that took up the first half kick in `rest` take up the second when the smooth motion is settled: both halves
// are booked alike.
void carom_dcr_book_settling(carom_stepper *stepper, const carom_state *state, carom_step_report *report) {
  const carom_dcr *w = stepper->work;
  const carom_constrained *joints = carom_variational_joints(stepper);
  bool any = false;
  for (int i = 0; i < state->body_count; i++) any = any || w->rested[i];
  if (joints && any) report->projection_energy += given_by(stepper, state, joints);
}

void carom_dcr_note_residuals(const carom_sweeps *s, carom_step_report *report) {
  for (int g = 0; g < s->group_count; g++) {
    if (s->groups[g].skip) continue;
    double scale = fmax(s->groups[g].scale, s->groups[g].speed);
    if (scale > 0) report->complementarity = fmax(report->complementarity, s->groups[g].residual / scale);
    if (s->groups[g].sweeps > report->iterations) report->iterations = s->groups[g].sweeps;
  }
}

carom_status carom_dcr_emit(carom_dcr *w, double time, carom_step_report *report, carom_error *error) {
  for (int i = 0; i < w->contacts->pair_count; i++) {
    const carom_dcr_pair *pair = &w->pairs[i];
    if (pair->weight == 0) continue;
    if (!carom_grow(&w->allocator, (void **)&w->events, w->event_count, &w->event_capacity, sizeof *w->events))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact events");
    w->events[w->event_count++] = (carom_contact_event){.kind = pair->impact ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
                                                        .time = time,
                                                        .body_a = w->contacts->pairs[i].body_a,
                                                        .body_b = w->contacts->pairs[i].body_b,
                                                        .point = cm_scale(1 / pair->weight, pair->moment),
                                                        .normal = pair->normal,
                                                        .impulse = pair->impulse};
    if (pair->impact) report->collisions++;
  }
  report->events = w->events;
  report->event_count = w->event_count;
  return CAROM_OK;
}
