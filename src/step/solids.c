#include "step/solids.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// ---- set-up ---------------------------------------------------------------------------------------------------------

void carom_solids_push(carom_solids *s, carom_arena *arena, const carom_model *model) {
  s->elastics = CAROM_PUSH(arena, carom_elastic *, model->solid_count);
  s->steppers = CAROM_PUSH(arena, carom_elastic_stepper *, model->solid_count);
  s->pins = CAROM_PUSH(arena, int, model->pin_count);
  s->pressed_start = CAROM_PUSH(arena, int, model->solid_count + 1);
  s->triangles = carom_arena_push(arena, (size_t)model->pressed_count * sizeof *s->triangles);
  s->source = CAROM_PUSH(arena, int, model->pressed_count);
  s->pressures = CAROM_PUSH(arena, double, model->pressed_count);
  s->a = CAROM_PUSH(arena, carom_vec3, model->node_count);
  s->x = CAROM_PUSH(arena, carom_vec3, model->node_count);
  s->v = CAROM_PUSH(arena, carom_vec3, model->node_count);
}

static void number_pins(carom_solids *s) {
  for (int k = 0; k < s->model->solid_count; k++) {
    const carom_solid *solid = &s->model->solids[k];
    for (int i = solid->pin_start; i < solid->pin_start + solid->pin_count; i++)
      s->pins[i] = s->model->pins[i].node - solid->node_start;
  }
}

static void number_triangles(carom_solids *s) {
  const carom_model *m = s->model;
  int next = 0;
  for (int k = 0; k < m->solid_count; k++) {
    s->pressed_start[k] = next;
    for (int p = 0; p < m->pressure_count; p++) {
      const carom_pressure *pressure = &m->pressures[p];
      for (int i = 0; i < pressure->triangle_count && pressure->solid == k; i++, next++) {
        const int *nodes = m->pressed[pressure->triangle_start + i];
        for (int c = 0; c < 3; c++) s->triangles[next][c] = nodes[c] - m->solids[k].node_start;
        s->source[next] = p;
        s->pressures[next] = NAN;
      }
    }
  }
  s->pressed_start[m->solid_count] = next;
}

// An object of our own: the model's has no scratch for two.
static carom_status make_elastic(const carom_stepper *stepper, carom_solids *s, int k, carom_error *error) {
  const carom_model *m = s->model;
  const carom_solid *solid = &m->solids[k];
  carom_elastic_def def = carom_elastic_default_def();
  carom_elastic_options options = carom_elastic_default_options();
  int(*tets)[4] = carom_allocate(&stepper->allocator, (size_t)solid->tet_count, sizeof *tets);
  if (!tets) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for solid '%s'", solid->name);
  for (int t = 0; t < solid->tet_count; t++)
    for (int c = 0; c < 4; c++) tets[t][c] = m->tets[solid->tet_start + t][c] - solid->node_start;
  def.node_count = solid->node_count, def.nodes = m->rest + solid->node_start;
  def.tet_count = solid->tet_count, def.tets = (const int(*)[4])tets;
  def.material_count = 1, def.materials = &solid->matter;
  def.law = solid->law, def.threads = stepper->threads;
  options.method = s->implicit ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK;
  carom_status status = carom_elastic_create(&def, &stepper->allocator, &s->elastics[k], error);
  carom_release(&stepper->allocator, tets);
  if (status != CAROM_OK) return status;
  return carom_elastic_stepper_create(s->elastics[k], &options, &stepper->allocator, &s->steppers[k], error);
}

carom_status carom_solids_prepare(carom_stepper *stepper, carom_solids *s, carom_error *error) {
  s->model = stepper->model;
  s->implicit = stepper->options.quadrature == CAROM_QUADRATURE_MIDPOINT;
  s->time = NAN;
  if (s->model->solid_count == 0) return CAROM_OK;
  carom_status status = CAROM_OK;
  for (int k = 0; k < s->model->solid_count && status == CAROM_OK; k++) status = make_elastic(stepper, s, k, error);
  number_pins(s);
  number_triangles(s);
  return status;
}

void carom_solids_free(carom_solids *s) {
  for (int k = 0; s->model && k < s->model->solid_count; k++) {
    carom_elastic_stepper_destroy(s->steppers[k]);
    carom_elastic_destroy(s->elastics[k]);
  }
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// Whether accelerations are those of this state.
static bool is_known(const carom_solids *s, const carom_state *state) {
  size_t bytes = (size_t)state->node_count * sizeof *s->x;
  return s->time == state->time && !memcmp(s->x, state->nodes, bytes);
}

// Damping sees velocities, which contacts have changed perhaps.
static bool is_as_fast(const carom_solids *s, const carom_state *state, const carom_solid *solid) {
  size_t bytes = (size_t)solid->node_count * sizeof *s->v;
  return solid->matter.damping == 0 ||
         !memcmp(s->v + solid->node_start, state->node_velocities + solid->node_start, bytes);
}

// Pressures are constant in a step, with the value of its middle. Says whether any of this solid changed.
static bool set_pressures(carom_solids *s, int k, double time) {
  bool changed = false;
  for (int i = s->pressed_start[k]; i < s->pressed_start[k + 1]; i++) {
    double now = carom_pressure_at(s->model, s->source[i], time);
    changed = changed || now != s->pressures[i];
    s->pressures[i] = now;
  }
  return changed;
}

typedef struct mover {
  const carom_model *model;
  int first;  // pin of this solid
} mover;

static void move_pin(void *context, double t, int i, carom_vec3 *x, carom_vec3 *v) {
  const mover *m = context;
  carom_pin_motion(m->model, m->first + i, t, x, v);
}

static carom_elastic_loads loads_of(const carom_solids *s, int k, mover *holder) {
  const carom_solid *solid = &s->model->solids[k];
  int first = s->pressed_start[k];
  *holder = (mover){s->model, solid->pin_start};
  return (carom_elastic_loads){.gravity = s->model->gravity,
                               .triangle_count = s->pressed_start[k + 1] - first,
                               .triangles = (const int(*)[3])s->triangles + first,
                               .pressure = s->pressures + first,
                               .pin_count = solid->pin_count,
                               .pins = s->pins + solid->pin_start,
                               .context = holder,
                               .move = move_pin};
}

static void book(carom_ledger *ledger, const carom_elastic_report *r) {
  carom_ledger_outside(ledger, r->impulse, r->moment);
  carom_ledger_work(ledger, r->pressure_work + r->pin_work - r->dissipated);
  carom_ledger_note_solve(ledger, r->iterations, r->residual);
}

static carom_status advance_one(carom_solids *s, int k, bool known, carom_state *state, double h, carom_ledger *ledger,
                                carom_error *error) {
  const carom_solid *solid = &s->model->solids[k];
  mover holder;
  bool changed = set_pressures(s, k, state->time + 0.5 * h);
  carom_elastic_loads loads = loads_of(s, k, &holder);
  carom_elastic_report report;
  carom_elastic_state own = {.t = state->time,
                             .node_count = solid->node_count,
                             .x = state->nodes + solid->node_start,
                             .v = state->node_velocities + solid->node_start,
                             .a = s->a + solid->node_start,
                             .a_known = known && !changed && is_as_fast(s, state, solid)};
  carom_status status = carom_elastic_step(s->steppers[k], &loads, h, &own, &report, error);
  if (status == CAROM_OK) book(ledger, &report);
  if (status == CAROM_OK || !error) return status;
  carom_error said = *error;
  return carom_fail(error, said.status, "solid '%.100s': %s", solid->name, said.message);
}

carom_status carom_solids_advance(carom_solids *s, carom_state *state, double h, carom_ledger *ledger,
                                  carom_error *error) {
  carom_status status = CAROM_OK;
  if (state->node_count == 0) return status;
  bool known = !s->implicit && is_known(s, state);
  for (int k = 0; k < s->model->solid_count && status == CAROM_OK; k++)
    status = advance_one(s, k, known, state, h, ledger, error);
  s->time = state->time + h;
  memcpy(s->x, state->nodes, (size_t)state->node_count * sizeof *s->x);
  memcpy(s->v, state->node_velocities, (size_t)state->node_count * sizeof *s->v);
  return status;
}

bool carom_solids_remember(carom_solids *s, carom_tape *tape) {
  if (!s->model || s->model->solid_count == 0) return true;
  size_t bytes = (size_t)s->model->node_count * sizeof *s->a;
  return carom_tape_pass(tape, s->a, bytes) && carom_tape_pass(tape, s->x, bytes) &&
         carom_tape_pass(tape, s->v, bytes) && carom_tape_pass(tape, &s->time, sizeof s->time) &&
         carom_tape_pass(tape, s->pressures, (size_t)s->model->pressed_count * sizeof *s->pressures);
}

// ---- how long steps may be ------------------------------------------------------------------------------------------

// Of what is stable at rest: a solid that is deformed is stiffer, and contacts are (contact/soft.c).
static double share_of(const carom_integrator *integrator) {
  return integrator->honours->traits[CAROM_TRAIT_CONTACTS] ? 0.5 : 0.7;
}

// The solid that allows the shortest steps.
static int stiffest(const carom_model *m) {
  int worst = 0;
  for (int k = 1; k < m->solid_count; k++)
    if (m->solids[k].critical_step < m->solids[worst].critical_step) worst = k;
  return worst;
}

static bool is_explicit(const carom_integrator *integrator, const carom_model *m, const carom_step_options *options) {
  bool sees = integrator->honours->traits[CAROM_TRAIT_SOLIDS];
  return sees && m->solid_count > 0 && options->quadrature == CAROM_QUADRATURE_ENDPOINT;
}

int carom_solids_parts(const carom_integrator *integrator, const carom_model *m, const carom_step_options *options) {
  if (!is_explicit(integrator, m, options)) return 1;
  double parts = ceil(options->step / (share_of(integrator) * m->solids[stiffest(m)].critical_step));
  return (int)fmax(1, fmin(parts, CAROM_MOST_PARTS));
}

carom_status carom_solids_check(const carom_integrator *integrator, const carom_model *m,
                                const carom_step_options *options, carom_error *error) {
  if (m->solid_count == 0 || !integrator->honours->traits[CAROM_TRAIT_SOLIDS]) return CAROM_OK;
  if (options->order > 2)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "solid '%s': solids that deform move by methods of order 2, not %d: leave `order` out",
                      m->solids[0].name, options->order);
  if (!is_explicit(integrator, m, options)) return CAROM_OK;
  const carom_solid *worst = &m->solids[stiffest(m)];
  double longest = CAROM_MOST_PARTS * share_of(integrator) * worst->critical_step;
  if (options->step <= longest) return CAROM_OK;
  bool newmark = !integrator->honours->options[CAROM_OPTION_QUADRATURE].honoured;
  return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                    "solid '%s' is too stiff for explicit steps of %g s (%.2g s are stable, and a step is taken in %d "
                    "parts at most): use a step below %.2g s, or %s`quadrature: midpoint`, which is implicit",
                    worst->name, options->step, worst->critical_step, CAROM_MOST_PARTS, longest,
                    newmark ? "the integrator 'potential' with " : "");
}
