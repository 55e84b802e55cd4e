#include "step/solids.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// ---- set-up ---------------------------------------------------------------------------------------------------------

void carom_solids_push(carom_solids *s, carom_arena *arena, const carom_model *model) {
  s->groups = CAROM_PUSH(arena, carom_solid_group, model->solid_count);
  s->pins = CAROM_PUSH(arena, int, model->pin_count);
  s->triangles = carom_arena_push(arena, (size_t)model->pressed_count * sizeof *s->triangles);
  s->source = CAROM_PUSH(arena, int, model->pressed_count);
  s->pressures = CAROM_PUSH(arena, double, model->pressed_count);
  s->a = CAROM_PUSH(arena, carom_vec3, model->node_count);
  s->x = CAROM_PUSH(arena, carom_vec3, model->node_count);
  s->v = CAROM_PUSH(arena, carom_vec3, model->node_count);
}

static void number_pins(carom_solids *s, const carom_solid_group *g) {
  for (int i = g->pin_start; i < g->pin_start + g->pin_count; i++) s->pins[i] = s->model->pins[i].node - g->node_start;
}

static void number_triangles(carom_solids *s, carom_solid_group *g, int *next) {
  const carom_model *m = s->model;
  g->pressed_start = *next;
  for (int p = 0; p < m->pressure_count; p++) {
    const carom_pressure *pressure = &m->pressures[p];
    if (pressure->solid < g->solid || pressure->solid >= g->solid + g->solid_count) continue;
    for (int i = 0; i < pressure->triangle_count; i++, (*next)++) {
      const int *nodes = m->pressed[pressure->triangle_start + i];
      for (int c = 0; c < 3; c++) s->triangles[*next][c] = nodes[c] - g->node_start;
      s->source[*next] = p;
      s->pressures[*next] = NAN;
    }
  }
  g->pressed_count = *next - g->pressed_start;
}

static void gather(carom_solids *s, carom_solid_group *g) {
  for (int k = g->solid; k < g->solid + g->solid_count; k++) {
    const carom_solid *solid = &s->model->solids[k];
    g->node_count += solid->node_count;
    g->pin_count += solid->pin_count;
    g->damped = g->damped || solid->matter.damping > 0;
  }
  g->node_start = s->model->solids[g->solid].node_start;
  g->pin_start = s->model->solids[g->solid].pin_start;
}

// Tetrahedra and materials of a group, for as long as it is being made.
typedef struct recipe {
  int (*tets)[4];
  int *material_of;
  carom_elastic_material *materials;
} recipe;

static void fill_recipe(const carom_model *m, const carom_solid_group *g, recipe *r) {
  int next = 0;
  for (int k = 0; k < g->solid_count; k++) {
    const carom_solid *solid = &m->solids[g->solid + k];
    r->materials[k] = solid->matter;
    for (int t = solid->tet_start; t < solid->tet_start + solid->tet_count; t++, next++) {
      for (int c = 0; c < 4; c++) r->tets[next][c] = m->tets[t][c] - g->node_start;
      r->material_of[next] = k;
    }
  }
}

// An object of our own: the model's has no scratch for two.
static carom_status make_elastic(const carom_stepper *stepper, const carom_solids *s, carom_solid_group *g, int tets,
                                 const recipe *r, carom_error *error) {
  carom_elastic_def def = carom_elastic_default_def();
  carom_elastic_options options = carom_elastic_default_options();
  fill_recipe(s->model, g, (recipe *)r);
  def.node_count = g->node_count, def.nodes = s->model->rest + g->node_start;
  def.tet_count = tets, def.tets = (const int(*)[4])r->tets, def.material_of = r->material_of;
  def.material_count = g->solid_count, def.materials = r->materials;
  def.law = s->model->solids[g->solid].law, def.threads = stepper->threads;
  options.method = s->implicit ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK;
  if (s->together) options.max_halvings = 0;  // bodies and contacts are to go along
  for (int k = 0; k < g->solid_count && g->solid_count > 1; k++) {
    double own = s->model->solids[g->solid + k].critical_step;
    options.rest_step = options.rest_step > 0 ? fmin(options.rest_step, own) : own;
  }
  carom_status status = carom_elastic_create(&def, &stepper->allocator, &g->elastic, error);
  if (status != CAROM_OK) return status;
  return carom_elastic_stepper_create(g->elastic, &options, &stepper->allocator, &g->stepper, error);
}

static carom_status make_group(const carom_stepper *stepper, const carom_solids *s, carom_solid_group *g,
                               carom_error *error) {
  const carom_allocator *a = &stepper->allocator;
  recipe r = {.tets = NULL};
  int tets = 0;
  for (int k = 0; k < g->solid_count; k++) tets += s->model->solids[g->solid + k].tet_count;
  r.tets = carom_allocate(a, (size_t)tets, sizeof *r.tets);
  bool room = CAROM_NEW_ALL(a, CAROM_ROOM(r.material_of, tets), CAROM_ROOM(r.materials, g->solid_count));
  carom_status status = r.tets && room ? make_elastic(stepper, s, g, tets, &r, error)
                                       : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d tetrahedra", tets);
  CAROM_RELEASE_ALL(a, r.tets, r.material_of, r.materials);
  return status;
}

carom_status carom_solids_prepare(carom_stepper *stepper, carom_solids *s, carom_error *error) {
  int next = 0, count;
  s->model = stepper->model;
  count = s->model->solid_count;
  s->implicit = stepper->options.quadrature == CAROM_QUADRATURE_MIDPOINT;
  s->time = NAN;
  s->together = carom_solids_may_touch(s->model);
  s->group_count = s->together && count > 0 ? 1 : count;
  carom_status status = CAROM_OK;
  for (int k = 0; k < s->group_count && status == CAROM_OK; k++) {
    carom_solid_group *g = &s->groups[k];
    g->solid = k, g->solid_count = s->together ? count : 1;
    gather(s, g);
    number_pins(s, g);
    number_triangles(s, g, &next);
    status = make_group(stepper, s, g, error);
  }
  return status;
}

void carom_solids_free(carom_solids *s) {
  for (int k = 0; k < s->group_count; k++) {
    carom_elastic_stepper_destroy(s->groups[k].stepper);
    carom_elastic_destroy(s->groups[k].elastic);
  }
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// Whether accelerations are those of this state. Clocks differ by round-off.
static bool is_known(const carom_solids *s, const carom_state *state) {
  size_t bytes = (size_t)state->node_count * sizeof *s->x;
  return fabs(s->time - state->time) < 1e-9 && !memcmp(s->x, state->nodes, bytes);
}

// Damping and contacts see velocities.
static bool is_as_fast(const carom_solids *s, const carom_state *state, const carom_solid_group *g, bool touches) {
  size_t bytes = (size_t)g->node_count * sizeof *s->v;
  return !(g->damped || touches) || !memcmp(s->v + g->node_start, state->node_velocities + g->node_start, bytes);
}

// Pressures are constant in a step, with the value of its middle. Says whether any changed.
static bool set_pressures(carom_solids *s, const carom_solid_group *g, double time) {
  bool changed = false;
  for (int i = g->pressed_start; i < g->pressed_start + g->pressed_count; i++) {
    double now = carom_pressure_at(s->model, s->source[i], time);
    changed = changed || now != s->pressures[i];
    s->pressures[i] = now;
  }
  return changed;
}

// What the functions among the loads are told.
typedef struct around {
  const carom_model *model;
  const carom_solid_group *group;
  carom_soft *soft;
  const carom_state *state;
} around;

static void move_pin(void *context, double t, int i, carom_vec3 *x, carom_vec3 *v) {
  const around *a = context;
  carom_pin_motion(a->model, a->group->pin_start + i, t, x, v);
}

static carom_status add_contacts(void *context, double t, const carom_vec3 *x, const carom_vec3 *v, carom_vec3 *f,
                                 carom_mat3 *K) {
  const around *a = context;
  (void)t;
  return carom_soft_forces(a->soft, a->state, x, v, f, K);
}

static void add_contact_stiffness(void *context, const carom_vec3 *u, carom_vec3 *y) {
  carom_soft_stiffness_times(((const around *)context)->soft, u, y);
}

static carom_elastic_loads loads_of(const carom_solids *s, around *a) {
  const carom_solid_group *g = a->group;
  return (carom_elastic_loads){.gravity = s->model->gravity,
                               .triangle_count = g->pressed_count,
                               .triangles = (const int(*)[3])s->triangles + g->pressed_start,
                               .pressure = s->pressures + g->pressed_start,
                               .pin_count = g->pin_count,
                               .pins = s->pins + g->pin_start,
                               .context = a,
                               .move = move_pin,
                               .extra = a->soft ? add_contacts : NULL,
                               .extra_times = a->soft ? add_contact_stiffness : NULL};
}

static void book(carom_ledger *ledger, const carom_elastic_report *r) {
  carom_ledger_outside(ledger, r->impulse, r->moment);
  carom_ledger_work(ledger, r->pressure_work + r->pin_work - r->dissipated);
  carom_ledger_note_solve(ledger, r->iterations, r->residual);
}

// The message counts tetrahedra of the group; the solid's name, and its own number, is what users know.
static carom_status blame(const carom_solids *s, const carom_solid_group *g, carom_soft *soft, carom_status status,
                          carom_error *error) {
  if (!error) return status;
  if (soft && soft->failure.status != CAROM_OK) *error = soft->failure;
  if (soft && soft->failure.status != CAROM_OK) return error->status;
  carom_error said = *error;
  bool one = g->solid_count == 1;
  return carom_fail(error, said.status, "%s%.100s%s%s", one ? "solid '" : "the solids",
                    one ? s->model->solids[g->solid].name : "", one ? "': " : ": ", said.message);
}

// The group's part of a state, by its own clock.
static carom_elastic_state part_of(const carom_solids *s, const carom_solid_group *g, bool known, carom_state *state) {
  return (carom_elastic_state){.t = s->time,
                               .node_count = g->node_count,
                               .x = state->nodes + g->node_start,
                               .v = state->node_velocities + g->node_start,
                               .a = s->a + g->node_start,
                               .a_known = known};
}

static carom_status advance_group(carom_solids *s, carom_solid_group *g, carom_soft *soft, carom_state *state, double h,
                                  carom_ledger *ledger, carom_error *error) {
  around a = {s->model, g, soft, state};
  carom_elastic_loads loads = loads_of(s, &a);
  carom_elastic_report report;
  carom_elastic_state own = part_of(s, g, !s->implicit, state);
  carom_status status = carom_elastic_step(g->stepper, &loads, h, &own, &report, error);
  if (status != CAROM_OK) return blame(s, g, soft, status, error);
  book(ledger, &report);
  return CAROM_OK;
}

static carom_status learn_group(carom_solids *s, carom_solid_group *g, bool known, carom_soft *soft, carom_state *state,
                                carom_error *error) {
  around a = {s->model, g, soft, state};
  carom_elastic_loads loads = loads_of(s, &a);
  carom_elastic_state own = part_of(s, g, known && is_as_fast(s, state, g, soft != NULL), state);
  carom_status status = carom_elastic_learn(g->stepper, &loads, &own, error);
  return status == CAROM_OK ? status : blame(s, g, soft, status, error);
}

carom_status carom_solids_learn(carom_solids *s, carom_soft *soft, carom_state *state, double h, carom_error *error) {
  carom_status status = CAROM_OK;
  if (state->node_count == 0) return status;
  bool known = is_known(s, state) && (!soft || carom_soft_stands(soft, state));
  if (!known) s->time = state->time;
  for (int k = 0; k < s->group_count && status == CAROM_OK; k++) {
    bool changed = set_pressures(s, &s->groups[k], s->time + 0.5 * h);
    if (!s->implicit) status = learn_group(s, &s->groups[k], known && !changed, soft, state, error);
  }
  return status;
}

static carom_status move(carom_solids *s, carom_soft *soft, carom_state *state, double h, carom_ledger *ledger,
                         carom_error *error) {
  carom_status status = CAROM_OK;
  if (soft) soft->failure = (carom_error){0};
  for (int k = 0; k < s->group_count && status == CAROM_OK; k++)
    status = advance_group(s, &s->groups[k], soft, state, h, ledger, error);
  s->time += h;
  memcpy(s->x, state->nodes, (size_t)state->node_count * sizeof *s->x);
  memcpy(s->v, state->node_velocities, (size_t)state->node_count * sizeof *s->v);
  if (soft) carom_soft_stand(soft, state);
  return status;
}

carom_status carom_solids_advance(carom_solids *s, carom_soft *soft, carom_state *state, double h, carom_ledger *ledger,
                                  carom_error *error) {
  return state->node_count == 0 ? CAROM_OK : move(s, soft, state, h, ledger, error);
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
  for (int k = 1; k < m->solid_count && carom_solids_may_touch(m); k++)
    if (m->solids[k].law != m->solids[0].law)
      return carom_fail(
          error, CAROM_ERR_UNSUPPORTED,
          "solids '%s' and '%s' have different laws (%s and %s): solids that may touch are moved together "
          "and need the same one",
          m->solids[0].name, m->solids[k].name, carom_elastic_law_name(m->solids[0].law),
          carom_elastic_law_name(m->solids[k].law));
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
