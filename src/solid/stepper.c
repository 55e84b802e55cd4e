// States, steppers, steps with roll-back and parts, equilibria.
#include "solid/stepper.h"

#include <string.h>

#include "base/memory.h"

// ---- states ---------------------------------------------------------------------------------------------------------

carom_status carom_elastic_state_create(const carom_elastic *e, const carom_allocator *allocator,
                                        carom_elastic_state **state, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  int n = e->node_count;
  *state = NULL;
  carom_elastic_state *s = CAROM_NEW(&a, carom_elastic_state, 1);
  if (s) *s = (carom_elastic_state){.node_count = n, .allocator = a};
  if (!s || !CAROM_NEW_ALL(&a, CAROM_ROOM(s->x, n), CAROM_ROOM(s->v, n), CAROM_ROOM(s->a, n))) {
    carom_elastic_state_destroy(s);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the state of %d nodes", n);
  }
  memcpy(s->x, e->rest, (size_t)n * sizeof *s->x);
  *state = s;
  return CAROM_OK;
}

void carom_elastic_state_destroy(carom_elastic_state *s) {
  if (!s) return;
  carom_allocator a = s->allocator;
  CAROM_RELEASE_ALL(&a, s->x, s->v, s->a);
  carom_release(&a, s);
}

// ---- steppers -------------------------------------------------------------------------------------------------------

carom_elastic_options carom_elastic_default_options(void) {
  return (carom_elastic_options){
      .method = CAROM_ELASTIC_NEWMARK, .tolerance = 1e-12, .max_iterations = 50, .max_halvings = 8};
}

static void lay_out(void *owner, carom_arena *arena) {
  carom_elastic_stepper *s = owner;
  int n = s->elastic->node_count;
  carom_vec3 **arrays[] = {&s->x0,    &s->v0,   &s->a0,       &s->x1,     &s->v1,     &s->rate,          &s->f,
                           &s->own,   &s->own1, &s->extra,    &s->extra1, &s->middle, &s->target,        &s->direction,
                           &s->trial, &s->end,  &s->residual, &s->search, &s->image,  &s->preconditioned};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = CAROM_PUSH(arena, carom_vec3, n);
  s->K = CAROM_PUSH(arena, carom_mat3, n);
  s->pinned = CAROM_PUSH(arena, bool, n);
}

static carom_status check_options(const carom_elastic_options *o, carom_error *error) {
  if (o->method != CAROM_ELASTIC_NEWMARK && o->method != CAROM_ELASTIC_MIDPOINT)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no elastic method number %d", (int)o->method);
  if (!(o->tolerance > 0) || o->max_iterations < 1 || o->max_halvings > 20)
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        "tolerance %g, max_iterations %d, max_halvings %d: they must be positive, positive, and at most 20",
        o->tolerance, o->max_iterations, o->max_halvings);
  return CAROM_OK;
}

// What the guard of explicit steps compares with.
static void measure_rest(carom_elastic_stepper *s) {
  carom_elastic_limit limit;
  carom_elastic_critical_step(s, s->elastic->rest, &limit);
  s->sharp2 = limit.frequency * limit.frequency;
  s->stiff2 = carom_solid_evaluate(s->elastic, s->elastic->rest, NULL, false).stiffest;
}

carom_status carom_elastic_stepper_create(carom_elastic *elastic, const carom_elastic_options *options,
                                          const carom_allocator *allocator, carom_elastic_stepper **stepper,
                                          carom_error *error) {
  *stepper = NULL;
  carom_elastic_stepper initial = {.elastic = elastic, .options = options ? *options : carom_elastic_default_options()};
  carom_status status = check_options(&initial.options, error);
  if (status) return status;
  carom_elastic_stepper *s = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!s) return CAROM_ERR_MEMORY;
  if (s->options.method == CAROM_ELASTIC_MIDPOINT) {
    status = carom_elastic_matrix_create(elastic, allocator, &s->matrix, error);
    if (!status) status = carom_solid_factor_create(s->matrix, allocator, &s->factor, error);
  }
  if (status) {
    carom_elastic_stepper_destroy(s);
    return status;
  }
  measure_rest(s);
  *stepper = s;
  return CAROM_OK;
}

void carom_elastic_stepper_destroy(carom_elastic_stepper *s) {
  if (!s) return;
  carom_solid_factor_destroy(s->factor);
  carom_elastic_matrix_destroy(s->matrix);
  carom_object_destroy(s);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

static void copy(carom_vec3 *to, const carom_vec3 *from, int count) { memcpy(to, from, (size_t)count * sizeof *to); }

static void save(carom_elastic_stepper *s, const carom_elastic_state *state) {
  copy(s->x0, state->x, state->node_count);
  copy(s->v0, state->v, state->node_count);
  copy(s->a0, state->a, state->node_count);
}

static void restore(carom_elastic_stepper *s, double t, bool a_known, carom_elastic_state *state) {
  copy(state->x, s->x0, state->node_count);
  copy(state->v, s->v0, state->node_count);
  copy(state->a, s->a0, state->node_count);
  state->t = t, state->a_known = a_known;
  s->known = false;
}

static void mark_pins(carom_elastic_stepper *s, const carom_elastic_loads *loads) {
  memset(s->pinned, 0, (size_t)s->elastic->node_count * sizeof *s->pinned);
  for (int k = 0; k < loads->pin_count; k++) s->pinned[loads->pins[k]] = true;
}

static carom_status explain(const carom_elastic_stepper *s, const carom_solid_failure *failure, double t, double h,
                            carom_error *error) {
  bool implicit = s->options.method == CAROM_ELASTIC_MIDPOINT;
  const char *remedy = implicit ? "take shorter steps, more damping or the law stable"
                                : "take shorter steps, the method midpoint, more damping or the law stable";
  if (failure->stopped) return carom_fail(error, failure->stopped, "what adds forces stopped the step at t = %g s", t);
  switch (failure->kind) {
    case CAROM_SOLID_INVERTED:
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "tetrahedron %d is inverted (J = %.3g) after t = %g s, even in steps of %.3g s; %s",
                        failure->tet, failure->J, t, h, remedy);
    case CAROM_SOLID_TOO_LONG:
      return carom_fail(
          error, CAROM_NOT_CONVERGED,
          "steps of %.3g s are too long at t = %g s: about %.3g s are stable there, because of tetrahedron "
          "%d; take shorter steps or the method midpoint",
          h, t, carom_solid_stable_step(s), s->stiffest_tet);
    case CAROM_SOLID_LOOSE:
      return carom_fail(error, CAROM_ERR_SINGULAR, "the stiffness is singular at t = %g s: pins do not hold the solid",
                        t);
    default:
      return carom_fail(
          error, CAROM_NOT_CONVERGED,
          "no convergence in a step of %.3g s after t = %g s: the residual is %.3g of the forces at play, "
          "and tetrahedron %d has the least J (%.3g); take shorter steps, or more iterations or halvings",
          h, t, failure->residual, failure->tet, failure->J);
  }
}

static carom_solid_failure take_part(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                     carom_elastic_state *state, carom_elastic_report *report) {
  if (s->options.method == CAROM_ELASTIC_MIDPOINT) return carom_solid_midpoint(s, loads, h, state, report);
  carom_solid_failure failure = carom_solid_learn(s, loads, state);
  if (failure.kind || failure.stopped) return failure;
  if (s->options.max_halvings >= 0 && h > carom_solid_stable_step(s))
    return (carom_solid_failure){.kind = CAROM_SOLID_TOO_LONG};
  return carom_solid_newmark(s, loads, h, state, report);
}

static carom_solid_failure take_parts(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h, int parts,
                                      carom_elastic_state *state, carom_elastic_report *report) {
  carom_solid_failure failure = {.kind = CAROM_SOLID_FINE};
  for (int part = 0; part < parts && !failure.kind && !failure.stopped; part++)
    failure = take_part(s, loads, h / parts, state, report);
  return failure;
}

static carom_elastic_report blank(int parts) {
  return (carom_elastic_report){.parts = parts, .least_J = (double)INFINITY};
}

static carom_status check_step(const carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                               const carom_elastic_state *state, carom_error *error) {
  if (!isfinite(h) || !(h > 0)) return carom_fail(error, CAROM_ERR_NUMBER, "a step of %g s; it must be positive", h);
  if (state->node_count != s->elastic->node_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the state has %d nodes, the solid %d", state->node_count,
                      s->elastic->node_count);
  return carom_solid_check_loads(s->elastic, loads, error);
}

carom_status carom_elastic_step(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                carom_elastic_state *state, carom_elastic_report *report, carom_error *error) {
  static const carom_elastic_loads nothing = {.pin_count = 0};
  if (!loads) loads = &nothing;
  carom_status status = check_step(s, loads, h, state, error);
  if (status) return status;
  double t = state->t;
  bool a_known = state->a_known;
  carom_solid_failure failure = {.kind = CAROM_SOLID_FINE};
  int most = s->options.max_halvings > 0 ? s->options.max_halvings : 0;
  mark_pins(s, loads);
  save(s, state);
  for (int halvings = 0; halvings <= most; halvings++) {
    carom_elastic_report own = blank(1 << halvings);
    failure = take_parts(s, loads, h, own.parts, state, report ? &own : NULL);
    if (!failure.kind && !failure.stopped) {
      state->t = s->t = t + h;
      own.critical = s->options.method == CAROM_ELASTIC_NEWMARK ? carom_solid_stable_step(s) : (double)INFINITY;
      if (report) *report = own;
      return CAROM_OK;
    }
    status = halvings == most || failure.stopped ? explain(s, &failure, t, h / own.parts, error) : CAROM_OK;
    restore(s, t, a_known, state);
    if (failure.stopped && failure.stopped != CAROM_NOT_CONVERGED) break;
  }
  return status;
}

carom_status carom_elastic_learn(carom_elastic_stepper *s, const carom_elastic_loads *loads, carom_elastic_state *state,
                                 carom_error *error) {
  carom_status status = carom_solid_check_loads(s->elastic, loads, error);
  if (status) return status;
  carom_solid_failure failure = carom_solid_learn(s, loads, state);
  return failure.kind || failure.stopped ? explain(s, &failure, state->t, 0, error) : CAROM_OK;
}

double carom_elastic_shadow_energy(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                   const carom_elastic_state *state) {
  static const carom_elastic_loads nothing = {.pin_count = 0};
  if (!loads) loads = &nothing;
  carom_elastic *e = s->elastic;
  carom_elastic_sample sample;
  carom_elastic_measure(e, state->x, NULL, &sample);
  carom_elastic_stiffness_times(e, state->x, state->v, s->direction);
  mark_pins(s, loads);
  double correction = carom_solid_dot(e->node_count, state->v, s->direction) / 12;
  for (int i = 0; i < e->node_count; i++)
    if (!s->pinned[i]) correction -= e->mass[i] * cm_norm2(state->a[i]) / 24;
  carom_solid_works loaded = carom_solid_work(e, loads, state->x, state->x);
  return carom_elastic_kinetic_energy(e, state->v) + sample.energy - loaded.gravity - loaded.force + h * h * correction;
}

// ---- equilibrium ----------------------------------------------------------------------------------------------------

// Three pins that are not on a line, or forces that the caller adds.
static bool is_held(const carom_elastic_stepper *s, const carom_elastic_loads *loads, const carom_vec3 *x) {
  if (loads->extra) return true;
  double longest = 0, widest = 0;
  carom_vec3 along = cm_zero3(), origin = loads->pin_count > 0 ? x[loads->pins[0]] : cm_zero3();
  for (int k = 1; k < loads->pin_count; k++) {
    carom_vec3 d = cm_sub(x[loads->pins[k]], origin);
    if (cm_norm(d) > longest) longest = cm_norm(d), along = cm_unit(d);
  }
  for (int k = 1; k < loads->pin_count; k++)
    widest = fmax(widest, cm_norm(cm_cross(along, cm_sub(x[loads->pins[k]], origin))));
  (void)s;
  return widest > 1e-9 * longest;
}

static carom_solid_failure settle_at(carom_elastic_stepper *s, const carom_elastic_loads *loads, double share,
                                     const carom_elastic_state *state, carom_elastic_report *r) {
  carom_solid_newton n = {.s = s, .at = {.loads = loads, .t = share, .share = share}};
  copy(s->middle, state->x, state->node_count);
  copy(s->target, state->x, state->node_count);
  for (int k = 0; k < loads->pin_count; k++) {
    carom_vec3 v;
    carom_solid_pin(loads, share, k, &s->target[loads->pins[k]], &v);
  }
  carom_solid_failure failure = carom_solid_newton_solve(&n);
  if (failure.kind || failure.stopped) return failure;
  r->parts++;
  r->iterations += n.iterations, r->residual = fmax(r->residual, n.residual);
  r->least_J = n.least_J, r->least_tet = n.least_tet;
  return failure;
}

// Load steps of equal length, halved where one fails and doubled again after two that did not.
static carom_solid_failure climb(carom_elastic_stepper *s, const carom_elastic_loads *loads, int load_steps,
                                 carom_elastic_state *state, carom_elastic_report *r) {
  double reached = 0, first = 1.0 / load_steps, part = first;
  double least = ldexp(first, s->options.max_halvings > 0 ? -s->options.max_halvings : 0);
  carom_solid_failure failure = {.kind = CAROM_SOLID_FINE};
  for (int good = 0; reached < 1;) {
    double share = reached + part > 1 - 1e-9 ? 1 : reached + part;
    failure = settle_at(s, loads, share, state, r);
    if (failure.stopped || failure.kind == CAROM_SOLID_LOOSE) break;
    if (failure.kind) {
      good = 0, part *= 0.5;
      if (part < least) break;
      continue;
    }
    copy(state->x, s->middle, state->node_count);
    reached = share;
    if (++good % 2 == 0) part = fmin(2 * part, first);
  }
  r->critical = reached;  // how far it came, for the message
  return failure;
}

static carom_status explain_equilibrium(const carom_solid_failure *failure, double reached, carom_error *error) {
  switch (failure->kind) {
    case CAROM_SOLID_FINE:
      return carom_fail(error, failure->stopped, "what adds forces stopped at %.3g of the loads", reached);
    case CAROM_SOLID_LOOSE:
      return carom_fail(
          error, CAROM_ERR_SINGULAR,
          "the stiffness is singular at %.3g of the loads: pins do not hold the solid; pin three nodes that "
          "are not on a line",
          reached);
    default:
      return carom_fail(
          error, CAROM_NOT_CONVERGED,
          "no equilibrium was found beyond %.3g of the loads (tetrahedron %d has J = %.3g); the solid may "
          "buckle there: take more load steps, smaller loads, or follow the motion with damping",
          reached, failure->tet, failure->J);
  }
}

carom_status carom_elastic_settle(carom_elastic_stepper *s, const carom_elastic_loads *loads, int load_steps,
                                  carom_elastic_state *state, carom_elastic_report *report, carom_error *error) {
  if (!s->matrix) return carom_fail(error, CAROM_ERR_ARGUMENT, "equilibria need a stepper of the method midpoint");
  if (load_steps < 1) return carom_fail(error, CAROM_ERR_ARGUMENT, "%d load steps; at least 1 is needed", load_steps);
  carom_status status = check_step(s, loads, 1, state, error);
  if (status) return status;
  if (!is_held(s, loads, state->x)) {
    carom_solid_failure loose = {.kind = CAROM_SOLID_LOOSE};
    return explain_equilibrium(&loose, 0, error);
  }
  bool a_known = state->a_known;
  carom_elastic_report own = blank(0);
  mark_pins(s, loads);
  save(s, state);
  carom_solid_failure failure = climb(s, loads, load_steps, state, &own);
  if (failure.kind || failure.stopped) {
    restore(s, state->t, a_known, state);
    return explain_equilibrium(&failure, own.critical, error);
  }
  memset(state->v, 0, (size_t)state->node_count * sizeof *state->v);
  state->a_known = false;
  own.critical = (double)INFINITY;
  if (report) *report = own;
  return CAROM_OK;
}
