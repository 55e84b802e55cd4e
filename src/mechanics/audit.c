// The books of a run: what energy and momentum should be, given what the outside did, against what they are.
#include <math.h>

#include "base/memory.h"
#include "math/sum.h"
#include "mechanics/balance.h"

// Running least-squares line through (time, error): means and central moments (Welford 1962).
typedef struct trend {
  double n, mean_t, mean_e, s_tt, s_te;
} trend;

static void trend_add(trend *line, double t, double e) {
  line->n += 1;
  double dt = t - line->mean_t, de = e - line->mean_e;
  line->mean_t += dt / line->n;
  line->mean_e += de / line->n;
  line->s_tt += dt * (t - line->mean_t);
  line->s_te += dt * (e - line->mean_e);
}

static double trend_slope(const trend *line) { return line->s_tt > 0 ? line->s_te / line->s_tt : 0; }

struct carom_audit {
  const carom_model *model;
  carom_allocator allocator;
  carom_balance start;
  double start_time;
  carom_sum work, restitution_loss, friction_loss, projection_energy;
  carom_sum3 impulse, angular_impulse;  // projections counted in
  carom_sum3 projection_angular_momentum;
  bool contacts, joints;                // any were reported
  double least_radius, largest_radius;  // of the moving bodies
  double penetration_worst, complementarity_worst, constraint_worst;
  double gain_worst;                                            // most that contacts made in a step, J
  double energy_scale, momentum_scale, angular_momentum_scale;  // largest seen so far
  double energy_worst, momentum_worst, angular_momentum_worst;  // absolute
  trend energy_trend;                                           // of the absolute energy error
  carom_audit_sample latest;
};

carom_audit_bounds carom_audit_default_bounds(void) {
  return (carom_audit_bounds){.energy = 1e-2,
                              .energy_drift = 1e-3,
                              .momentum = 1e-9,
                              .angular_momentum = 1e-9,
                              .penetration = 1e-3,
                              .complementarity = 1e-6,
                              .constraint = 1e-8,
                              .passivity = 1e-9};
}

// 0/0 is a system at rest that stays at rest: no error.
static double relative(double error, double scale) { return error == 0 ? 0 : error / scale; }

static void raise_to(double *largest, double value) {
  if (value > *largest || isnan(value)) *largest = value;  // written so that a NaN comes in and sticks
}

static double losses(const carom_audit *audit) {
  return carom_sum_value(&audit->restitution_loss) + carom_sum_value(&audit->friction_loss);
}

static void note_scales(carom_audit *audit, const carom_balance *now) {
  double exchanged = fmax(fabs(now->potential - audit->start.potential), fabs(carom_sum_value(&audit->work)));
  audit->energy_scale = fmax(audit->energy_scale, fmax(now->kinetic, exchanged));
  audit->momentum_scale = fmax(audit->momentum_scale, now->momentum_scale);
  audit->angular_momentum_scale = fmax(audit->angular_momentum_scale, now->angular_momentum_scale);
}

static void take_sample(carom_audit *audit, double time, const carom_balance *now) {
  double work = carom_sum_value(&audit->work);
  double energy = now->kinetic + now->potential, start = audit->start.kinetic + audit->start.potential;
  double projection = carom_sum_value(&audit->projection_energy);
  double energy_error = energy - start - work + losses(audit) - projection;
  carom_vec3 dp = cm_sub(cm_sub(now->momentum, audit->start.momentum), carom_sum3_value(&audit->impulse));
  carom_vec3 dl =
      cm_sub(cm_sub(now->angular_momentum, audit->start.angular_momentum), carom_sum3_value(&audit->angular_impulse));
  raise_to(&audit->energy_worst, fabs(energy_error));
  raise_to(&audit->momentum_worst, cm_norm(dp));
  raise_to(&audit->angular_momentum_worst, cm_norm(dl));
  trend_add(&audit->energy_trend, time - audit->start_time, energy_error);
  int64_t collisions = audit->latest.collisions;
  audit->latest = (carom_audit_sample){
      .time = time,
      .kinetic = now->kinetic,
      .potential = now->potential,
      .energy = energy,
      .work = work,
      .energy_error = relative(energy_error, audit->energy_scale),
      .momentum = now->momentum,
      .momentum_error = relative(cm_norm(dp), audit->momentum_scale),
      .angular_momentum = now->angular_momentum,
      .angular_momentum_error = relative(cm_norm(dl), audit->angular_momentum_scale),
      .restitution_loss = carom_sum_value(&audit->restitution_loss),
      .friction_loss = carom_sum_value(&audit->friction_loss),
      .projection_energy = projection,
      .projection_angular_momentum = cm_norm(carom_sum3_value(&audit->projection_angular_momentum)),
      .collisions = collisions,
  };
}

// In a scene at rest nothing moves, but weight and reaction still pass momentum through it: what gravity gives in one
// step is the least that errors are compared with.
static void note_weight(carom_audit *audit, const carom_state *state, double step) {
  double g = cm_norm(audit->model->gravity);
  if (g == 0 || !(step > 0)) return;
  double mass = 0, moment = 0;
  for (int i = 0; i < audit->model->body_count; i++) {
    const carom_body *body = &audit->model->bodies[i];
    if (body->fixed) continue;
    mass += body->mass;
    moment += body->mass * cm_norm(state->x[i]) * g;
  }
  audit->momentum_scale = fmax(audit->momentum_scale, mass * g * step);
  audit->angular_momentum_scale = fmax(audit->angular_momentum_scale, moment * step);
  audit->energy_scale = fmax(audit->energy_scale, mass * g * step * g * step);
}

static void measure_bodies(carom_audit *audit) {
  audit->least_radius = INFINITY;
  for (int i = 0; i < audit->model->body_count; i++) {
    const carom_body *body = &audit->model->bodies[i];
    if (body->fixed || !(body->bounding_radius > 0)) continue;
    audit->least_radius = fmin(audit->least_radius, body->bounding_radius);
    audit->largest_radius = fmax(audit->largest_radius, body->bounding_radius);
  }
}

carom_status carom_audit_create(const carom_model *model, const carom_state *state, const carom_allocator *allocator,
                                carom_audit **audit, carom_error *error) {
  *audit = NULL;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_audit *books = CAROM_NEW(&a, carom_audit, 1);
  if (!books) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit");
  books->model = model;
  books->allocator = a;
  books->start = carom_balance_of(model, state);
  books->start_time = state->time;
  measure_bodies(books);
  note_scales(books, &books->start);
  take_sample(books, state->time, &books->start);
  *audit = books;
  return CAROM_OK;
}

void carom_audit_destroy(carom_audit *audit) {
  if (!audit) return;
  carom_allocator allocator = audit->allocator;
  carom_release(&allocator, audit);
}

// Moving overlapping bodies apart changes what is conserved; the change is known, and booked as if it came from outside
// (Johnson 2012, 3.5.3).
static void book_projection(carom_audit *audit, const carom_step_report *report) {
  carom_sum_add(&audit->projection_energy, report->projection_energy);
  carom_sum3_add(&audit->impulse, report->projection_momentum);
  carom_sum3_add(&audit->angular_impulse, report->projection_angular_momentum);
  carom_sum3_add(&audit->projection_angular_momentum, report->projection_angular_momentum);
}

static void book_contacts(carom_audit *audit, const carom_step_report *report) {
  carom_sum_add(&audit->restitution_loss, report->restitution_loss);
  carom_sum_add(&audit->friction_loss, report->friction_loss);
  // Either alone may be negative: friction that lifts a body works on it along the normal. Only both together say
  // whether the contacts made energy.
  raise_to(&audit->gain_worst, -(report->restitution_loss + report->friction_loss));
  raise_to(&audit->penetration_worst, report->penetration);
  raise_to(&audit->complementarity_worst, report->complementarity);
  raise_to(&audit->constraint_worst, report->constraint);
  audit->contacts = audit->contacts || report->collisions > 0 || report->event_count > 0 || report->penetration > 0;
  audit->joints = audit->joints || report->constraint > 0;
  audit->latest.collisions += report->collisions;
}

void carom_audit_step(carom_audit *audit, const carom_state *state, const carom_step_report *report) {
  carom_sum_add(&audit->work, report->work);
  carom_sum3_add(&audit->impulse, report->impulse);
  carom_sum3_add(&audit->angular_impulse, report->angular_impulse);
  book_projection(audit, report);
  book_contacts(audit, report);
  carom_balance now = carom_balance_of(audit->model, state);
  if (audit->latest.time == audit->start_time) note_weight(audit, state, report->step);
  note_scales(audit, &now);
  take_sample(audit, state->time, &now);
  audit->latest.penetration = report->penetration;
  audit->latest.complementarity = report->complementarity;
  audit->latest.constraint = report->constraint;
}

carom_audit_sample carom_audit_latest(const carom_audit *audit) { return audit->latest; }

static void add_row(carom_verdict *verdict, const char *key, const char *label, const char *note, double value,
                    double bound) {
  bool pass = value <= bound;
  verdict->rows[verdict->count++] = (carom_verdict_row){key, label, note, value, bound, pass};
  verdict->pass = verdict->pass && pass;
}

static void judge_contacts(const carom_audit *audit, const carom_audit_bounds *b, carom_verdict *verdict) {
  add_row(verdict, "penetration", "Deepest overlap", "relative to the radius of the smallest moving body",
          relative(audit->penetration_worst, audit->least_radius), b->penetration);
  add_row(verdict, "complementarity", "Contact residual", "worst of the contact solves, relative",
          audit->complementarity_worst, b->complementarity);
  add_row(verdict, "passivity", "Energy made by contacts", "in one step, relative to the energy exchanged",
          relative(fmax(0, audit->gain_worst), audit->energy_scale), b->passivity);
}

carom_verdict carom_audit_judge(const carom_audit *audit, const carom_audit_bounds *bounds) {
  carom_audit_bounds b = bounds ? *bounds : carom_audit_default_bounds();
  carom_verdict verdict = {.pass = true};
  double duration = audit->latest.time - audit->start_time;
  double drift = fabs(trend_slope(&audit->energy_trend)) * duration;
  add_row(&verdict, "energy", "Energy error", "largest, relative to the energy exchanged",
          relative(audit->energy_worst, audit->energy_scale), b.energy);
  add_row(&verdict, "energy_drift", "Energy drift", "trend over the run, relative to the energy exchanged",
          relative(drift, audit->energy_scale), b.energy_drift);
  add_row(&verdict, "momentum", "Linear momentum error", "largest, relative to the sum of |p|",
          relative(audit->momentum_worst, audit->momentum_scale), b.momentum);
  add_row(&verdict, "angular_momentum", "Angular momentum error", "largest, relative to the sum of |x| |p| + |l|",
          relative(audit->angular_momentum_worst, audit->angular_momentum_scale), b.angular_momentum);
  if (audit->contacts) judge_contacts(audit, &b, &verdict);
  if (audit->joints)
    add_row(&verdict, "constraint", "Joint drift", "largest, relative to the radius of the largest body",
            relative(audit->constraint_worst, audit->largest_radius > 0 ? audit->largest_radius : 1), b.constraint);
  return verdict;
}
