// The books of a run: what energy and momentum should be, given what the outside did and what the laws of contact
// allow, against what they are; and when to look at what overlaps.
#include "mechanics/audit.h"

#include "base/memory.h"
#include "model/fields.h"
#include "model/joints.h"
#include "model/row.h"

// ---- what there is to judge -----------------------------------------------------------------------------------------

static void tie(carom_audit *audit, int body, bool limited) {
  if (body == CAROM_WORLD) return;
  audit->tied[body] = true;
  audit->limited[body] = audit->limited[body] || limited;
}

static bool has_limits(const carom_coordinate *c) { return isfinite(c->lower) || isfinite(c->upper); }

static bool acts(const carom_coordinate *c) { return c->motor != CAROM_MOTOR_NONE || c->damping > 0; }

static void tie_joints(carom_audit *audit) {
  const carom_model *m = audit->model;
  for (int i = 0; i < m->joint_count; i++) {
    const carom_joint *j = &m->joints[i];
    bool limited = has_limits(&j->slide) || has_limits(&j->turn);
    tie(audit, j->body[0], limited);
    tie(audit, j->body[1], limited);
    audit->works = audit->works || acts(&j->slide) || acts(&j->turn);
    audit->loses = audit->loses || limited || j->latch;
    audit->latches = audit->latches || j->latch;
    audit->grounded = audit->grounded || !carom_body_moves(m, j->body[0]) || !carom_body_moves(m, j->body[1]);
  }
}

static void tie_fields(carom_audit *audit) {
  const carom_model *m = audit->model;
  for (int i = 0; i < m->spring_count; i++) {
    tie(audit, m->springs[i].body[0], false);
    tie(audit, m->springs[i].body[1], false);
    audit->works = audit->works || m->springs[i].damping > 0;
  }
  for (int i = 0; i < m->charge_count; i++) tie(audit, m->charges[i].body, false);
  for (int i = 0; i < m->force_count; i++) tie(audit, m->forces[i].body, false);
  for (int i = 0; i < m->electromagnet_count; i++) {
    tie(audit, m->electromagnets[i].body[0], false);
    tie(audit, m->electromagnets[i].body[1], false);
  }
  for (int i = 0; i < m->input_count; i++) tie(audit, m->inputs[i].body, false);
  audit->works = audit->works || m->force_count > 0 || m->electromagnet_count > 0 || m->input_count > 0 ||
                 m->drive_count > 0 || m->recirculation_count > 0;
}

static bool is_used(const carom_model *m, int material) {
  for (int i = 0; i < m->body_count; i++)
    if (m->bodies[i].material == material) return true;
  for (int i = 0; i < m->boundary_count; i++)
    if (m->boundaries[i].material == material) return true;
  for (int i = 0; i < m->solid_count; i++)
    if (m->solids[i].material == material) return true;
  return false;
}

static void add_surface(carom_audit *audit, double restitution, double friction) {
  audit->roughest.restitution = fmin(audit->roughest.restitution, restitution);
  audit->roughest.friction = fmax(audit->roughest.friction, friction);
}

static void find_roughest(carom_audit *audit) {
  const carom_model *m = audit->model;
  audit->roughest = (carom_contact_surface){1, 0};
  for (int i = 0; i < m->material_count; i++)
    if (is_used(m, i)) add_surface(audit, m->materials[i].restitution, m->materials[i].friction);
  for (int i = 0; i < m->surface_count; i++)
    add_surface(audit, m->surfaces[i].surface.restitution, m->surfaces[i].surface.friction);
}

// ---- scales ---------------------------------------------------------------------------------------------------------

static void note_scales(carom_audit *audit, const carom_balance *now) {
  double exchanged = fmax(fabs(now->potential - audit->start.potential), fabs(carom_sum_value(&audit->work)));
  audit->energy_scale = fmax(audit->energy_scale, fmax(now->kinetic, exchanged));
  audit->momentum_scale = fmax(audit->momentum_scale, now->momentum_scale);
  audit->angular_momentum_scale = fmax(audit->angular_momentum_scale, now->angular_momentum_scale);
}

// Of the least width: what lifting all bodies by it takes is the least scale of energies. A hundredth of that is what
// overlaps within their bound are worth.
static const double REST_HEIGHT = 0.1;

static double reach_of(const carom_state *state, const carom_solid *solid) {
  double most = 0;
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++)
    most = fmax(most, cm_norm(state->nodes[i]));
  return most;
}

// In a scene at rest nothing moves, but weight and reaction still pass momentum through it: what gravity gives in one
// step is the least that errors of momenta are compared with, and a small lift of all bodies for energies.
static void note_weight(carom_audit *audit, const carom_state *state) {
  double g = cm_norm(audit->model->gravity), mass = 0, moment = 0, lift = 0;
  if (g == 0) return;
  for (int i = 0; i < audit->model->body_count; i++) {
    const carom_body *body = &audit->model->bodies[i];
    double thin = audit->overlaps->thin[i];
    if (body->fixed) continue;
    mass += body->mass;
    moment += body->mass * cm_norm(state->x[i]) * g;
    if (isfinite(thin)) lift += body->mass * g * REST_HEIGHT * thin;
  }
  for (int k = 0; k < audit->model->solid_count; k++) {
    const carom_solid *solid = &audit->model->solids[k];
    mass += solid->mass;
    moment += solid->mass * reach_of(state, solid) * g;
    lift += solid->mass * g * REST_HEIGHT * audit->soft->thin[k];
  }
  double step = fabs(audit->dt);
  audit->momentum_scale = fmax(audit->momentum_scale, mass * g * step);
  audit->angular_momentum_scale = fmax(audit->angular_momentum_scale, moment * step);
  audit->energy_scale = fmax(audit->energy_scale, fmax(mass * g * step * g * step, lift));
}

// ---- energy and momenta --------------------------------------------------------------------------------------------

static void trend_add(carom_trend *line, double t, double e) {
  line->n += 1;
  double dt = t - line->mean_t, de = e - line->mean_e;
  line->mean_t += dt / line->n;
  line->mean_e += de / line->n;
  line->s_tt += dt * (t - line->mean_t);
  line->s_te += dt * (e - line->mean_e);
}

// final - initial - work + losses that the laws allow. Projections are not subtracted.
static double raw_balance(const carom_audit *audit, const carom_balance *now) {
  double energy = now->kinetic + now->potential + audit->stored;
  double start = audit->start.kinetic + audit->start.potential;
  return energy - start - carom_sum_value(&audit->work) + carom_sum_value(&audit->lawful_loss);
}

// A solid's energy may swing by the order of the method and come back (nodes.c): up by what it is now, down by what it
// was at the start.
static double less_sway(const carom_audit *audit, double raw) {
  if (raw > 0) return fmax(0, raw - audit->sway);
  return raw < 0 ? fmin(0, raw + audit->sway_start) : raw;
}

static void note_energy(carom_audit *audit, double time, double raw) {
  carom_finding_note(&audit->energy, fabs(raw), time, CAROM_WORLD, CAROM_WORLD);
  carom_finding_note(&audit->made, raw - audit->lowest, time, CAROM_WORLD, CAROM_WORLD);
  carom_finding_note(&audit->dissipated, audit->highest - raw, time, CAROM_WORLD, CAROM_WORLD);
  audit->lowest = fmin(audit->lowest, raw);
  audit->highest = fmax(audit->highest, raw);
  trend_add(&audit->energy_trend, time - audit->start_time, raw);
}

static void take_sample(carom_audit *audit, double time, const carom_balance *now) {
  double raw = raw_balance(audit, now);
  carom_vec3 dp = cm_sub(cm_sub(now->momentum, audit->start.momentum), carom_sum3_value(&audit->impulse));
  carom_vec3 dl =
      cm_sub(cm_sub(now->angular_momentum, audit->start.angular_momentum), carom_sum3_value(&audit->angular_impulse));
  note_energy(audit, time, less_sway(audit, raw));
  carom_finding_note(&audit->momentum, cm_norm(dp), time, CAROM_WORLD, CAROM_WORLD);
  carom_finding_note(&audit->angular_momentum, cm_norm(dl), time, CAROM_WORLD, CAROM_WORLD);
  carom_audit_sample *s = &audit->latest;
  s->time = time;
  s->kinetic = now->kinetic, s->potential = now->potential, s->energy = now->kinetic + now->potential;
  s->work = carom_sum_value(&audit->work);
  s->energy_error = carom_relative(raw, audit->energy_scale);
  s->momentum = now->momentum, s->angular_momentum = now->angular_momentum;
  s->momentum_error = carom_relative(cm_norm(dp), audit->momentum_scale);
  s->angular_momentum_error = carom_relative(cm_norm(dl), audit->angular_momentum_scale);
  s->restitution_loss = carom_sum_value(&audit->restitution_loss);
  s->friction_loss = carom_sum_value(&audit->friction_loss);
  s->projection_energy = carom_sum_value(&audit->projection_energy);
  double claims = s->restitution_loss + s->friction_loss - s->projection_energy;
  s->claimed_energy_error = carom_relative(raw - carom_sum_value(&audit->lawful_loss) + claims, audit->energy_scale);
  carom_vec3 moved = carom_sum3_value(&audit->projection_angular_momentum);
  s->projection_angular_momentum = cm_norm(moved);
  s->claimed_angular_momentum_error = carom_relative(cm_norm(cm_sub(dl, moved)), audit->angular_momentum_scale);
}

// Few contacts are told one by one.
static bool is_untold(const carom_step_report *r) { return r->untold > CAROM_EVENTS_TOLD; }

// Losses are claims. Either kind alone may be negative: friction that lifts a body works on it along the normal. So
// both together count then, from nothing up to what the surfaces that met can take; the rest is not booked, and what no
// surface allows is told.
static double lawful_part(double restitution, double friction, carom_lawful most) {
  double own = most.normal < most.restitution ? fmax(restitution - most.normal, 0) : 0;  // lost where nothing met
  return fmin(fmax(restitution + friction - own, 0), most.restitution + most.friction);
}

static void book_losses(carom_audit *audit, const carom_step_report *r, carom_lawful most) {
  bool untold = is_untold(r);
  if (audit->loses || (untold && audit->roughest.restitution < 1)) most.restitution = most.normal = INFINITY;
  if (untold && audit->roughest.friction > 0) most.friction = INFINITY;
  bool yields =
      most.yields || (audit->soft && audit->roughest.restitution < 1);  // a drag that takes all tells no event
  double let_go = yields ? 4 * audit->stored : 0;                       // springs, without a push
  most.restitution += let_go, most.normal += let_go;
  double claim = r->restitution_loss + r->friction_loss, unlawful = claim - most.restitution - most.friction;
  if (most.friction == 0) unlawful = fmax(unlawful, r->friction_loss);
  if (most.restitution == 0) unlawful = fmax(unlawful, r->restitution_loss - most.friction);
  carom_sum_add(&audit->lawful_loss, lawful_part(r->restitution_loss, r->friction_loss, most));
  if (unlawful > 0) carom_sum_add(&audit->unlawful, unlawful);
  if (!(unlawful <= 0))
    carom_finding_note(&audit->loss, unlawful, audit->before->time + audit->dt, CAROM_WORLD, CAROM_WORLD);
  if (isnan(claim)) carom_sum_add(&audit->unlawful, NAN);
}

// What contacts that yield hold is a claim, too: at most the largest force so far times twice the depth.
static void book_stored(carom_audit *audit, const carom_step_report *r) {
  if (r->event_count > 0) audit->force = fmax(audit->force, audit->pushed / fabs(audit->dt));
  double most = audit->loses ? INFINITY : 2 * audit->force * r->penetration;
  audit->stored = r->stored == 0 ? 0 : fmin(fmax(r->stored, 0), most);
}

static void book(carom_audit *audit, const carom_step_report *r, carom_lawful most) {
  if (audit->works) carom_sum_add(&audit->work, r->work);
  if (!audit->works && isnan(r->work)) carom_sum_add(&audit->work, NAN);
  carom_sum3_add(&audit->impulse, r->impulse);
  if (audit->grounded) carom_sum3_add(&audit->impulse, r->projection_momentum);  // by the ground, through its joints
  carom_sum3_add(&audit->angular_impulse, r->angular_impulse);
  book_losses(audit, r, most);
  book_stored(audit, r);
  carom_sum_add(&audit->restitution_loss, r->restitution_loss);
  carom_sum_add(&audit->friction_loss, r->friction_loss);
  carom_sum_add(&audit->projection_energy, r->projection_energy);
  carom_sum3_add(&audit->projection_angular_momentum, r->projection_angular_momentum);
  audit->latest.collisions += r->collisions;
  audit->latest.penetration = r->penetration;
  audit->latest.complementarity = r->complementarity;
  carom_finding_note(&audit->residual, r->complementarity, audit->before->time + audit->dt, CAROM_WORLD, CAROM_WORLD);
  audit->contacts = audit->contacts || r->collisions > 0 || r->event_count > 0 || r->penetration > 0 || r->untold > 0;
}

// ---- overlaps ------------------------------------------------------------------------------------------------------

enum { STEPS_UNSEEN = 100 };

void carom_audit_frame(carom_audit *audit) {
  if (audit->model->ignores_contacts || audit->seen) return;
  carom_overlaps_measure(audit->overlaps, audit->before, NULL, &audit->overlap);
  carom_audit_look_at_solids(audit, audit->before, true);
  for (int i = 0; i < audit->model->body_count; i++) audit->path[i] = 0;
  audit->unseen = 0;
  audit->seen = true;
}

// Bodies that moved a quarter of the least width since they were looked at are looked at again: nothing can pass
// through another in between. Those that move farther in one step are swept.
void carom_audit_look(carom_audit *audit, const carom_state *state, const carom_step_report *report) {
  bool any = false, fast = false;
  audit->seen = false;
  if (audit->model->ignores_contacts) return;
  for (int i = 0; i < audit->model->body_count; i++) {
    double thin = fmin(audit->overlaps->thin[i], audit->overlaps->least);
    if (audit->soft) thin = fmin(thin, audit->soft->least);
    audit->path[i] += audit->travel[i];
    audit->chosen[i] = audit->path[i] > 0.25 * thin;
    any = any || audit->chosen[i];
    fast = fast || audit->travel[i] > 0.5 * thin;
    if (audit->chosen[i]) audit->path[i] = 0;
  }
  if (fast) {
    for (int i = 0; i < audit->model->body_count; i++) audit->stray[i] = carom_audit_stray(audit, state, i);
    carom_passage passage = {audit->before, state, audit->travel, audit->stray, report->events, report->event_count};
    carom_overlaps_sweep(audit->overlaps, &passage, &audit->passage);
  }
  bool soft = carom_audit_choose_solids(audit);
  if (audit->soft && (any || soft)) carom_audit_look_at_solids(audit, state, false);
  audit->seen = any && audit->overlaps->grains;  // of grains it costs no more to look at all
  if (any) carom_overlaps_measure(audit->overlaps, state, audit->seen ? NULL : audit->chosen, &audit->overlap);
  if (!audit->seen) return;
  for (int i = 0; i < audit->model->body_count; i++) audit->path[i] = 0;
  audit->unseen = 0;
}

// ---- the audit -----------------------------------------------------------------------------------------------------

static void lay_out_loads(void *owner, carom_arena *arena) {
  carom_audit *audit = owner;
  carom_loads_push(&audit->loads, arena, audit->model);
  audit->directors = CAROM_PUSH(arena, carom_mat3, audit->model->body_count);
}

static carom_status make_room(carom_audit *audit, const carom_state *state, carom_error *error) {
  int n = audit->model->body_count;
  audit->step = CAROM_NEW(&audit->allocator, carom_body_step, n);
  audit->travel = CAROM_NEW(&audit->allocator, double, n);
  audit->path = CAROM_NEW(&audit->allocator, double, n);
  audit->crept = CAROM_NEW(&audit->allocator, double, n);
  audit->kick = CAROM_NEW(&audit->allocator, double, n);
  audit->swing = CAROM_NEW(&audit->allocator, double, n);
  audit->stray = CAROM_NEW(&audit->allocator, double, n);
  audit->chosen = CAROM_NEW(&audit->allocator, bool, n);
  audit->tied = CAROM_NEW(&audit->allocator, bool, n);
  audit->limited = CAROM_NEW(&audit->allocator, bool, n);
  if (!audit->step || !audit->travel || !audit->path || !audit->kick || !audit->swing || !audit->stray ||
      !audit->crept || !audit->chosen || !audit->tied || !audit->limited)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit of %d bodies", n);
  carom_status status = carom_state_clone(state, &audit->allocator, &audit->before, error);
  if (status == CAROM_OK && audit->massless) {
    audit->arena.allocator = audit->allocator;
    status = carom_arena_lay_out(&audit->arena, lay_out_loads, audit, error);
  }
  if (status == CAROM_OK) status = carom_overlaps_create(audit->model, &audit->allocator, &audit->overlaps, error);
  if (status == CAROM_OK) status = carom_audit_solids_create(audit, error);
  return status;
}

static void begin(carom_audit *audit, const carom_state *state) {
  carom_finding *findings[] = {&audit->energy,     &audit->made,      &audit->dissipated, &audit->loss,
                               &audit->momentum,   &audit->flight,    &audit->position,   &audit->angular_momentum,
                               &audit->overlap,    &audit->passage,   &audit->residual,   &audit->law,
                               &audit->slip,       &audit->drift,     &audit->creep,      &audit->equilibrium,
                               &audit->unbalanced, &audit->inversion, &audit->pins,       &audit->solid_overlap};
  for (size_t i = 0; i < sizeof findings / sizeof *findings; i++) *findings[i] = carom_finding_none();
  carom_audit_solids_begin(audit);
  audit->start = carom_balance_with(audit->model, state, audit->solid_now);
  audit->start_time = state->time;
  tie_joints(audit);
  tie_fields(audit);
  find_roughest(audit);
  note_scales(audit, &audit->start);
  take_sample(audit, state->time, &audit->start);
  carom_audit_frame(audit);
}

carom_status carom_audit_create(const carom_model *model, const carom_state *state, const carom_allocator *allocator,
                                carom_audit **audit, carom_error *error) {
  *audit = NULL;
  carom_status status = carom_state_check(model, state, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_audit *made = CAROM_NEW(&a, carom_audit, 1);
  if (!made) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit");
  made->model = model;
  made->allocator = a;
  made->massless = carom_audit_is_massless(model);
  status = make_room(made, state, error);
  if (status != CAROM_OK) {
    carom_audit_destroy(made);
    return status;
  }
  begin(made, state);
  *audit = made;
  return CAROM_OK;
}

void carom_audit_destroy(carom_audit *audit) {
  if (!audit) return;
  carom_allocator a = audit->allocator;
  carom_audit_solids_destroy(audit);
  carom_overlaps_destroy(audit->overlaps);
  carom_state_destroy(audit->before);
  if (audit->arena.memory) carom_arena_destroy(&audit->arena);
  CAROM_RELEASE_ALL(&a, audit->step, audit->travel, audit->path, audit->kick, audit->swing, audit->stray, audit->crept,
                    audit->chosen, audit->tied, audit->limited, audit->touches, audit);
}

static void judge_joints(carom_audit *audit, const carom_state *state) {
  if (audit->model->joint_count == 0) return;
  audit->joints = audit->joints || carom_joints_any(audit->model, state);
  audit->latest.constraint = carom_joints_drift(audit->model, state);
  carom_finding_note(&audit->drift, audit->latest.constraint, state->time, CAROM_WORLD, CAROM_WORLD);
}

void carom_audit_note_balance(carom_audit *audit, const carom_state *state, const carom_balance *now) {
  if (audit->steps == 0) note_weight(audit, state);
  note_scales(audit, now);
  take_sample(audit, state->time, now);
  judge_joints(audit, state);
}

// Nothing was done, so that nothing can be judged; but the run is not what it was meant to be.
static void note_failure(carom_audit *audit, const carom_state *state) {
  if (!audit->failed) audit->failed_at = state->time;
  audit->failed = true;
}

void carom_audit_step(carom_audit *audit, const carom_state *state, const carom_step_report *report) {
  audit->dt = state->time - audit->before->time;
  if (report->status != CAROM_OK || audit->dt == 0) {
    note_failure(audit, state);
    return;
  }
  audit->pushed = 0;
  for (int i = 0; i < audit->model->body_count; i++) audit->step[i] = (carom_body_step){0};
  carom_audit_solids_clear(audit);
  carom_audit_measure_solids(audit, state);
  carom_lawful most = carom_audit_events(audit, state, report);
  carom_audit_flight(audit, state, audit->dt, !is_untold(report));
  carom_audit_nodes(audit, state, !is_untold(report));
  if (!(fabs(audit->dt - report->step) <= 1e-6 * fabs(report->step)))
    carom_finding_note(&audit->position, INFINITY, state->time, CAROM_WORLD, CAROM_WORLD);
  book(audit, report, most);
  carom_balance now = carom_balance_with(audit->model, state, audit->solid_now);
  carom_audit_note_balance(audit, state, &now);
  if (audit->massless) carom_audit_equilibrium(audit, state, report);
  carom_audit_look(audit, state, report);
  carom_state_copy(audit->before, state);
  carom_audit_solids_keep(audit);
  audit->untold += report->untold;
  audit->steps++;
  if (++audit->unseen >= STEPS_UNSEEN) carom_audit_frame(audit);
}

carom_audit_sample carom_audit_latest(const carom_audit *audit) { return audit->latest; }
