// The table of bounds, and the verdict that the worst of every law gives.
#include <stdio.h>
#include <string.h>

#include "contact/grains.h"
#include "mechanics/audit.h"

// ---- bounds: one table ---------------------------------------------------------------------------------------------

// Where integrators differ is in energy: of what order they are, and whether they lose by themselves. Laws of momentum,
// contact and geometry are the same for all. docs/audit.md gives the reasons.
typedef struct bounds_row {
  const char *integrator;
  int order;  // of the energy error in the step; 0: unknown
  double energy, drift, made, dissipation, angular_momentum, body, position, complementarity, constraint;
} bounds_row;

// clang-format off
static const bounds_row table[] = {
    // integrator  order energy drift made  fall  angular body  jumps residual joints
    {"variational", 2,    1e-2,  1e-3, 1e-2, 1e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-8},
    {"exact",       2,    1e-2,  1e-3, 1e-2, 1e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-8},
    {"potential",   2,    1e-2,  1e-3, 1e-2, 1e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-8},
    {"newmark",     2,    1e-2,  1e-3, 1e-2, 1e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-8},
    {"dcr",         1,    1e-2,  1e-2, 1e-2, 1e-2, 1e-2,   1e-2, 1e-2, 1e-6,    1e-8},  // moves bodies out of each other, and what turns with them
    {"moreau",      1,    2e-2,  2e-2, 2e-2, 2e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-4},
    {"index2",      1,    2e-2,  2e-2, 2e-2, 2e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-4},
    {"index3",      1,    2e-2,  2e-2, 2e-2, 2e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-4},
    {"quasistatic", 1,    2e-2,  2e-2, 2e-2, 2e-2, 1e-9,   1e-9, 1e-6, 1e-6,    1e-8},
    {"cone",        1,    5e-2,  5e-2, 2e-2, 5e-2, 1e-9,   1e-9, 1e-6, 1e-2,    1e-4},
    {NULL,          0,    1e-2,  1e-3, 1e-2, 1e-2, 1e-9,   1e-5, 1e-6, 1e-6,    1e-8},
};
// clang-format on

static const bounds_row *find_row(const char *integrator) {
  const bounds_row *row = table;
  while (row->integrator && (!integrator || strcmp(row->integrator, integrator) != 0)) row++;
  return row;
}

static bool is_flow(const bounds_row *row, const carom_model *model) {
  return model && model->moving_count >= CAROM_FLOW && row->integrator && strcmp(row->integrator, "cone") == 0;
}

// Contacts of solids begin and end within steps, and what each leaves is not taken back by swings.
static double drift_of(const bounds_row *row, const carom_model *model) {
  return model && model->solid_count > 0 && !model->ignores_contacts ? row->energy : row->drift;
}

carom_audit_bounds carom_audit_bounds_of(const char *integrator, const carom_model *model) {
  const bounds_row *row = find_row(integrator);
  bool flow = is_flow(row, model), loose = row->complementarity > 1e-3;  // friction is as good as its solves
  return (carom_audit_bounds){.integrator = row->integrator,
                              .energy = row->energy,
                              .energy_drift = drift_of(row, model),
                              .energy_made = row->made,
                              .dissipation = row->dissipation,
                              .unlawful_loss = 1e-6,
                              .momentum = 1e-9,
                              .angular_momentum = row->angular_momentum,
                              .body_momentum = row->body,
                              .position = row->position,
                              .penetration = flow ? 1e-2 : 1e-3,
                              .passage = 1e-2,
                              .complementarity = flow ? 5e-2 : row->complementarity,
                              .contact_law = 1e-6,
                              .friction_law = loose ? 1e-3 : 1e-6,
                              .constraint = row->constraint,
                              .creep = 1e-3,
                              .inversion = 1,
                              .solid_overlap = 5e-2,
                              .pins = 1e-6,
                              .equilibrium = 1e-6,
                              .power = 2e-2,
                              .passivity = 2e-2};
}

static const char *dissipation_note(const char *integrator) {
  switch (find_row(integrator)->order) {
    case 1:
      return "largest fall of the balance, relative; an integrator of first order in the step";
    case 2:
      return "largest fall of the balance, relative; an integrator of second order in the step";
    default:
      return "largest fall of the balance, relative; of unknown order";
  }
}

// ---- verdicts ------------------------------------------------------------------------------------------------------

const char *carom_outcome_name(carom_outcome outcome) {
  return outcome == CAROM_VERDICT_PASS ? "PASS" : outcome == CAROM_VERDICT_FAIL ? "FAIL" : "INCOMPLETE";
}

static const char *remedy(const char *key) {
  static const struct {
    const char *key, *text;
  } remedies[] = {
      {"penetration", "take a smaller step, or mend a start that overlaps ('carom check' tells)"},
      {"passage", "take a smaller step, or an integrator that sees fast bodies ('carom integrators')"},
      {"dissipation", "take a smaller step or an integrator of higher order"},
      {"complementarity", "tighten solver_tolerance or raise solver_iterations"},
      {"constraint", "take a smaller step"},
      {"solid_overlap", "take a smaller step, a finer mesh or a stiffer material"},
      {"inversion", "take a smaller step, `law: stable` or more damping"},
      {"violation", "conditions may contradict each other; else try another guess, several starts or more iterations"},
      {"momentum_defect", "tighten the solver's tolerance, or try another guess"},
      {"replay_position", "the motion is unstable, or was not solved sharply: tighten the solver's tolerance"},
      {"replay_rotation", "the motion is unstable, or was not solved sharply: tighten the solver's tolerance"},
      {"replay_chain", "the motion is unstable, or was not solved sharply: tighten the solver's tolerance"},
  };
  for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
    if (strcmp(remedies[i].key, key) == 0) return remedies[i].text;
  return "take a smaller step or another integrator ('carom integrators')";
}

static void give_reason(carom_verdict *v, const carom_verdict_row *row) {
  snprintf(v->reason, sizeof v->reason, "%s is %.3g, allowed is %.3g%s%s; %s", row->label, row->value, row->bound,
           row->where[0] ? ": " : "", row->where, remedy(row->key));
}

// How far beyond its bound; the reason is that of the row that is worst.
static double excess(const carom_verdict_row *row) {
  return isnan(row->value) ? INFINITY : row->pass ? 0 : row->value / row->bound;
}

void carom_verdict_add(carom_verdict *v, const carom_verdict_row *row, const char *where) {
  bool worst = true;
  carom_verdict_row added = *row;
  snprintf(added.where, sizeof added.where, "%s", where ? where : "");
  added.pass = row->value <= row->bound && v->count < CAROM_VERDICT_MAX;
  for (int i = 0; i < v->count; i++) worst = worst && !(excess(&v->rows[i]) >= excess(&added));
  if (v->count == 0 && v->outcome == CAROM_VERDICT_INCOMPLETE && !v->reason[0]) v->outcome = CAROM_VERDICT_PASS;
  if (!added.pass) v->outcome = CAROM_VERDICT_FAIL;
  if (!added.pass && worst) give_reason(v, &added);
  if (v->count < CAROM_VERDICT_MAX) v->rows[v->count++] = added;
  v->pass = v->outcome == CAROM_VERDICT_PASS;
}

void carom_verdict_cut_short(carom_verdict *v, const char *reason) {
  char broken[sizeof v->reason];
  snprintf(broken, sizeof broken, "%s", v->reason);
  if (v->outcome == CAROM_VERDICT_FAIL)
    snprintf(v->reason, sizeof v->reason, "%.190s. And %.190s", broken, reason);
  else
    snprintf(v->reason, sizeof v->reason, "%s", reason);
  if (v->outcome != CAROM_VERDICT_FAIL) v->outcome = CAROM_VERDICT_INCOMPLETE;
  v->pass = false;
}

// ---- of an audit ---------------------------------------------------------------------------------------------------

typedef struct judgement {
  const carom_audit *audit;
  carom_audit_bounds bounds, usual;
  carom_verdict *verdict;
} judgement;

// "'plate' and 'floor' at t = 0.3 s", "tetrahedron 7 of 'bar' at t = 0.3 s".
static int describe(const carom_audit *audit, const carom_finding *f, char *text, size_t size) {
  const carom_model *m = audit->model;
  if (isnan(f->time)) return snprintf(text, size, "%s", "");
  if (f->body[0] == CAROM_WORLD) return snprintf(text, size, "at t = %.6g s", f->time);
  const char *name = carom_model_name(m, f->body[0]);
  if (f->what) return snprintf(text, size, "%s %d of '%.40s' at t = %.6g s", f->what, f->number, name, f->time);
  if (f->body[1] == CAROM_WORLD) return snprintf(text, size, "'%.40s' at t = %.6g s", name, f->time);
  return snprintf(text, size, "'%.40s' and '%.40s' at t = %.6g s", name, carom_model_name(m, f->body[1]), f->time);
}

static double given(double bound, double usual) { return bound > 0 ? bound : usual; }

static void add(const judgement *j, carom_verdict_row row, const carom_finding *f, double usual) {
  char where[sizeof row.where] = "";
  int length = f && row.value > 0 ? describe(j->audit, f, where, sizeof where) : 0;
  if (row.bound > usual && (size_t)length < sizeof where)
    snprintf(where + length, sizeof where - (size_t)length, "%swidened by the scene from %g to %g", length ? "; " : "",
             usual, row.bound);
  carom_verdict_add(j->verdict, &row, where);
}

#define ROW(member, label, note, value, finding)                                                                \
  add(j, (carom_verdict_row){#member, label, note, value, given(j->bounds.member, j->usual.member), false, ""}, \
      finding, j->usual.member)

static void judge_energy(const judgement *j) {
  const carom_audit *a = j->audit;
  const carom_trend *line = &a->energy_trend;
  double slope = line->s_tt > 0 ? line->s_te / line->s_tt : 0, scale = a->energy_scale;
  double drift = fabs(slope) * (a->latest.time - a->start_time);
  ROW(energy, "Energy balance", "energy - start - work + lawful losses, largest, relative to the energy exchanged",
      carom_relative(a->energy.worst, scale), &a->energy);
  ROW(energy_drift, "Energy drift", "trend of the balance over the run, relative to the energy exchanged",
      carom_relative(drift, scale), NULL);
  ROW(energy_made, "Energy made", "largest rise of the balance, relative to the energy exchanged",
      carom_relative(a->made.worst, scale), &a->made);
  ROW(dissipation, "Numerical dissipation", dissipation_note(j->bounds.integrator),
      carom_relative(a->dissipated.worst, scale), &a->dissipated);
}

static void judge_momenta(const judgement *j) {
  const carom_audit *a = j->audit;
  ROW(momentum, "Linear momentum", "largest error, relative to the sum of |p|",
      carom_relative(a->momentum.worst, a->momentum_scale), &a->momentum);
  ROW(angular_momentum, "Angular momentum", "largest error, relative to the sum of |x| |p| + |l|",
      carom_relative(a->angular_momentum.worst, a->angular_momentum_scale), &a->angular_momentum);
  ROW(body_momentum, "Momentum of each body",
      a->untold > 0 ? "against weight and the impulses of its events, in steps whose contacts are all told"
                    : "against weight and the impulses of its events, relative to them",
      a->flight.worst, &a->flight);
  ROW(position, "Positions", "jumps that no velocity explains, relative to the body's least width", a->position.worst,
      &a->position);
}

// In the place of energy and momenta where nothing has inertia.
static void judge_equilibrium(const judgement *j) {
  const carom_audit *a = j->audit;
  ROW(equilibrium, "Equilibrium", "bodies have no inertia: what passes through each against what its support takes",
      a->equilibrium.worst, &a->equilibrium);
  ROW(power, "Power", "work of what is driven and of forces, less what supports and friction take, over that work",
      carom_relative(a->unbalanced.worst, a->worked), &a->unbalanced);
  ROW(passivity, "Passivity", "energy that contacts or supports gave, over the work of what is driven and of forces",
      carom_relative(carom_sum_value(&a->gained), a->worked), NULL);
  ROW(position, "Positions", "how far fixed and driven bodies are from where they should be, relative to their size",
      a->position.worst, &a->position);
}

static void judge_contacts(const judgement *j) {
  const carom_audit *a = j->audit;
  if (!a->massless)
    ROW(unlawful_loss, "Unlawful losses", "that no surface that met allows, relative to the energy exchanged",
        carom_relative(carom_sum_value(&a->unlawful), a->energy_scale), &a->loss);
  ROW(complementarity, "Contact residual", "worst of the contact solves as claimed, relative", a->residual.worst,
      &a->residual);
  ROW(contact_law, "Contact impulses", "pulling, outside the cone or where nothing touches, relative", a->law.worst,
      &a->law);
  ROW(friction_law, "Friction along the slip", "energy it put in, relative to the energy exchanged",
      carom_relative(carom_sum_value(&a->along_slip), a->energy_scale), &a->slip);
}

static void judge_geometry(const judgement *j) {
  const carom_audit *a = j->audit;
  double largest = 0;
  for (int i = 0; i < a->model->body_count; i++)
    if (!a->model->bodies[i].fixed) largest = fmax(largest, a->model->bodies[i].bounding_radius);
  bool shapes = a->model->part_count > 0 && !a->model->ignores_contacts;
  if (shapes)
    ROW(penetration, "Deepest overlap", "measured, relative to the least width of the thinner body", a->overlap.worst,
        &a->overlap);
  if (shapes)
    ROW(passage, "Passed through", "depth on the way through another body, relative to its least width",
        a->passage.worst, &a->passage);
  if (a->joints)
    ROW(constraint, "Joint drift", "largest, relative to the radius of the largest body",
        carom_relative(a->drift.worst, largest > 0 ? largest : 1), &a->drift);
}

static void judge_solids(const judgement *j) {
  const carom_audit *a = j->audit;
  if (a->model->solid_count == 0) return;
  ROW(inversion, "Inverted tetrahedra", "1 less the least det F of a tetrahedron; from 1 on it is inverted",
      a->inversion.worst, &a->inversion);
  if (!a->model->ignores_contacts)
    ROW(solid_overlap, "Overlap of solids", "measured at corners, relative to the least width of the thinner",
        a->solid_overlap.worst, &a->solid_overlap);
  if (a->model->pin_count > 0)
    ROW(pins, "Held nodes", "how far from where they are held, relative to the solid's least width", a->pins.worst,
        &a->pins);
}

// Of frames alone: energy where nothing outside works, losses where no surface takes any, free flight, geometry, and
// Coulomb's law where one body touches one that stands still.
static void judge_frames(const judgement *j) {
  const carom_audit *a = j->audit;
  bool elastic = a->roughest.restitution >= 1 && a->roughest.friction == 0 && !a->loses;
  if (a->massless) {
    ROW(position, "Positions", "how far fixed and driven bodies are from where they should be, relative to their size",
        a->position.worst, &a->position);
    return;
  }
  bool whole = !a->works && !a->solids_met;  // contacts of solids hold energy, of which frames do not tell
  if (whole)
    ROW(energy_made, "Energy made", "largest rise of energy, relative to the energy exchanged",
        carom_relative(a->made.worst, a->energy_scale), &a->made);
  if (whole && elastic)
    ROW(dissipation, "Energy lost", "largest fall of energy where no surface takes any, relative",
        carom_relative(a->dissipated.worst, a->energy_scale), &a->dissipated);
  ROW(body_momentum, "Free flight", "momentum of bodies that touch nothing, against weight", a->flight.worst,
      &a->flight);
  ROW(position, "Positions", "jumps that no velocity explains, relative to the body's least width", a->position.worst,
      &a->position);
  ROW(contact_law, "Friction cone", "impulses outside, where a body touches one that stands still", a->law.worst,
      &a->law);
  ROW(creep, "Creep", "slip with friction inside its cone, relative to the body's least width", a->creep.worst,
      &a->creep);
}

carom_verdict carom_audit_judge(carom_audit *audit, const carom_audit_bounds *bounds) {
  carom_verdict verdict = {0};
  judgement j = {audit, bounds ? *bounds : (carom_audit_bounds){0}, {0}, &verdict};
  j.usual = carom_audit_bounds_of(j.bounds.integrator, audit->model);
  if (audit->unseen > 0) carom_audit_frame(audit);
  if (audit->frames_only) judge_frames(&j);
  if (!audit->frames_only && audit->massless) judge_equilibrium(&j);
  if (!audit->frames_only && !audit->massless) judge_energy(&j), judge_momenta(&j);
  if (!audit->frames_only && audit->contacts) judge_contacts(&j);
  judge_geometry(&j);
  judge_solids(&j);
  if (audit->failed) {
    char reason[80];
    snprintf(reason, sizeof reason, "a step failed at t = %.9g s", audit->failed_at);
    carom_verdict_cut_short(&verdict, reason);
  }
  if (audit->overlaps && audit->overlaps->blind)
    carom_verdict_cut_short(&verdict, "out of memory for measuring overlaps; the rest was measured");
  if (audit->steps == 0) carom_verdict_cut_short(&verdict, "nothing was done: not a step was taken");
  return verdict;
}
