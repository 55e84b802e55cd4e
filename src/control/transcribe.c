// From the problem to a nonlinear program: variables, rows, and one element for every piece of physics.
#include <string.h>

#include "base/memory.h"
#include "control/kinds.h"
#include "control/plan.h"

// ---- where things are ----------------------------------------------------------------------------------------------

int carom_variable_x(const carom_plan *plan, int node, int body) {
  const carom_layout *L = &plan->layout;
  return (plan->model->bodies[body].fixed ? L->fixed : L->node[node]) + 7 * plan->slot[body];
}
int carom_variable_q(const carom_plan *plan, int node, int body) { return carom_variable_x(plan, node, body) + 3; }

int carom_variable_P(const carom_plan *plan, int node, int body, bool after) {
  const carom_layout *L = &plan->layout;
  int first = after ? L->after[node] : L->before[node];
  return first < 0 || plan->model->bodies[body].fixed ? -1 : first + 6 * plan->slot[body];
}

int carom_body_row(const carom_plan *plan, int row, int body) {
  return plan->model->bodies[body].fixed || row < 0 ? CAROM_ROW_NONE : row + 6 * plan->slot[body];
}
int carom_row_in(const carom_plan *plan, int node, int body) {
  return carom_body_row(plan, plan->layout.in[node], body);
}
int carom_row_out(const carom_plan *plan, int node, int body) {
  return carom_body_row(plan, plan->layout.out[node], body);
}

void carom_layout_destroy(carom_plan *plan) {
  carom_layout *L = &plan->layout;
  CAROM_RELEASE_ALL(&plan->allocator, L->node, L->tau, L->multiplier, L->before, L->after, L->in, L->out, L->rate,
                    L->rate_before, L->rate_after, L->energy, L->energy_before, L->energy_after);
  *L = (carom_layout){0};
}

static carom_status create_layout(carom_plan *plan, carom_error *error) {
  carom_layout *L = &plan->layout;
  const carom_allocator *a = &plan->allocator;
  carom_layout_destroy(plan);
  int nodes = plan->path.K + 1;
  int **arrays[] = {&L->node, &L->tau,         &L->multiplier, &L->before, &L->after,         &L->in,          &L->out,
                    &L->rate, &L->rate_before, &L->rate_after, &L->energy, &L->energy_before, &L->energy_after};
  bool good = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i] = CAROM_NEW(a, int, nodes);
    good = good && *arrays[i];
    for (int k = 0; *arrays[i] && k < nodes; k++) (*arrays[i])[k] = -1;
  }
  if (!good) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of %d nodes", nodes);
  L->moving_count = plan->model->moving_count;
  L->fixed_count = plan->model->body_count - L->moving_count;
  L->component_count = carom_plan_components(plan);
  L->multiplier_count = carom_plan_multipliers(plan);
  return CAROM_OK;
}

// ---- variables -----------------------------------------------------------------------------------------------------

static bool momentum_asked(const carom_plan *plan, int node) {
  for (int i = 0; i < plan->condition_count; i++) {
    const carom_condition_def *c = &plan->conditions[i];
    bool moving = c->kind == CAROM_CONDITION_VELOCITY || c->kind == CAROM_CONDITION_RELATIVE_REST ||
                  c->kind == CAROM_CONDITION_PERIODIC;
    if (moving && carom_plan_resolve_node(plan, c->node) == node) return true;
  }
  return false;
}

static void put_pose(carom_program *P, int at, carom_vec3 x, carom_quat q) {
  double z[7] = {x.x, x.y, x.z, q.w, q.x, q.y, q.z};
  if (!P->out_of_memory) memcpy(P->x + at, z, sizeof z);
}

static void fix_range(carom_program *P, int first, int count) {
  for (int i = first; i < first + count && !P->out_of_memory; i++) carom_program_fix(P, i, P->x[i]);
}

static void add_sigmas(carom_plan *plan) {
  carom_program *P = &plan->program;
  int count = carom_plan_segments(plan);
  bool free = count > 1 || plan->def.free_time || plan->simulated;
  plan->layout.sigma = carom_program_variables(P, count, plan->def.scale_low, plan->def.scale_high, 1);
  for (int i = 0; i < count && !P->out_of_memory; i++) {
    P->x[plan->layout.sigma + i] = plan->path.sigma[i];
    if (!free) carom_program_fix(P, plan->layout.sigma + i, plan->path.sigma[i]);
    if (plan->simulated && !carom_stretch_ends_by_itself(plan, i))
      carom_program_fix(P, plan->layout.sigma + i, plan->path.sigma[i]);
  }
}

static void add_fixed_bodies(carom_plan *plan) {
  carom_layout *L = &plan->layout;
  L->fixed = carom_program_variables(&plan->program, 7 * L->fixed_count, -INFINITY, INFINITY, plan->length_scale);
  for (int i = 0; i < plan->model->body_count; i++)
    if (plan->model->bodies[i].fixed) {
      int at = L->fixed + 7 * plan->slot[i];
      put_pose(&plan->program, at, plan->start->x[i], plan->start->q[i]);
      fix_range(&plan->program, at, 7);
    }
}

static void add_node(carom_plan *plan, int k) {
  carom_layout *L = &plan->layout;
  carom_program *P = &plan->program;
  int n = plan->model->body_count;
  L->node[k] = P->n;
  for (int i = 0; i < n; i++) {
    if (plan->model->bodies[i].fixed) continue;
    int x = carom_program_variables(P, 3, -INFINITY, INFINITY, plan->length_scale);
    carom_program_variables(P, 4, -INFINITY, INFINITY, 1);
    size_t at = (size_t)k * (size_t)n + (size_t)i;
    put_pose(P, x, plan->path.x[at], plan->path.q[at]);
  }
}

static void add_forces(carom_plan *plan, int k) {
  carom_layout *L = &plan->layout;
  carom_program *P = &plan->program;
  double force = plan->force_scale, torque = force * plan->length_scale;
  L->tau[k] = P->n;
  for (int i = 0; i < plan->actuator_count; i++) {
    const carom_plan_actuator *u = &plan->actuators[i];
    int forces = u->def.kind == CAROM_ACTUATOR_WRENCH && !u->def.no_force ? 3 : 0;
    if (u->def.kind == CAROM_ACTUATOR_THRUSTER)
      carom_program_variables(P, 1, u->def.low, u->def.high, force);
    else {
      if (forces) carom_program_variables(P, 3, -u->def.force_bound, u->def.force_bound, force);
      carom_program_variables(P, u->components - forces, -u->def.torque_bound, u->def.torque_bound, torque);
    }
  }
  const double *tau = plan->path.tau + (size_t)k * (size_t)L->component_count;
  if (!P->out_of_memory) memcpy(P->x + L->tau[k], tau, (size_t)L->component_count * sizeof *tau);
  if (plan->simulated) fix_range(P, L->tau[k], L->component_count);
}

static int add_momenta(carom_plan *plan) {
  int first = plan->program.n;
  double p = plan->mass_scale * plan->speed_scale;
  for (int i = 0; i < plan->layout.moving_count; i++) {
    carom_program_variables(&plan->program, 3, -INFINITY, INFINITY, p);
    carom_program_variables(&plan->program, 3, -INFINITY, INFINITY, p * plan->length_scale);
  }
  return first;
}

// Momenta are variables at both ends, at contacts and events, and where a condition speaks of them.
static void lift_momenta(carom_plan *plan) {
  carom_layout *L = &plan->layout;
  for (int k = 0; k <= plan->path.K; k++) {
    bool breaks = carom_plan_breaks_at(plan, k), ends = k == 0 || k == plan->path.K;
    if (!breaks && !ends && !momentum_asked(plan, k)) continue;
    if (k > 0) L->before[k] = add_momenta(plan);
    if (k < plan->path.K || breaks) L->after[k] = breaks || k == 0 ? add_momenta(plan) : L->before[k];
  }
}

static void guess_momenta(carom_plan *plan) {
  carom_program *P = &plan->program;
  for (int k = 0; k <= plan->path.K && !P->out_of_memory; k++)
    for (int i = 0; i < plan->model->body_count; i++)
      for (int after = 0; after < 2; after++) {
        int at = carom_variable_P(plan, k, i, after == 1);
        if (at < 0) continue;
        carom_vec3 p, l;
        int interval = after == 1 && k < plan->path.K ? k : k - 1;
        if (interval < 0) continue;
        bool known = plan->path.known && (k == 0 || k == plan->path.K || carom_plan_event_at(plan, k));
        const carom_vec3 *block = known ? carom_node_block(plan, k, after == 1) : NULL;
        carom_path_momentum(plan, &plan->path, interval, i, &p, &l);
        if (block) p = block[2 * i], l = block[2 * i + 1];
        double z[6] = {p.x, p.y, p.z, l.x, l.y, l.z};
        memcpy(P->x + at, z, sizeof z);
      }
}

// ---- rows of motion ------------------------------------------------------------------------------------------------

static int add_balance(carom_plan *plan, int k) {
  int first = plan->program.m;
  double p = plan->mass_scale * plan->speed_scale;
  for (int i = 0; i < plan->model->body_count; i++) {
    if (plan->model->bodies[i].fixed) continue;
    carom_row_label label = {CAROM_ROW_MOTION, k, i, -1};
    carom_program_rows(&plan->program, 3, 0, 0, p, label);
    carom_program_rows(&plan->program, 3, 0, 0, p * plan->length_scale, label);
  }
  return first;
}

static void link_momenta(carom_plan *plan, int row, int variable, double sign) {
  for (int i = 0; i < plan->layout.moving_count; i++) {
    carom_program_add(&plan->program, &carom_kind_link6, CAROM_OF({variable + 6 * i, 6}), CAROM_INTO({row + 6 * i, 6}),
                      CAROM_WITH(sign));
  }
}

// in: (drift before + kick) - P_before = 0;  out: P_after - (drift after) + kick = 0.
static void add_balances(carom_plan *plan) {
  carom_layout *L = &plan->layout;
  for (int k = 0; k <= plan->path.K; k++) {
    bool lifted = L->before[k] >= 0 || L->after[k] >= 0;
    if (!lifted) {
      L->in[k] = L->out[k] = add_balance(plan, k);
      continue;
    }
    if (k > 0) link_momenta(plan, L->in[k] = add_balance(plan, k), L->before[k], -1);
    if (k < plan->path.K) link_momenta(plan, L->out[k] = add_balance(plan, k), L->after[k], 1);
  }
}

static void add_drift(carom_plan *plan, int k, int body) {
  carom_program *P = &plan->program;
  const carom_body *b = &plan->model->bodies[body];
  double h = plan->path.h[k], half = 0.5 * (b->inertia.x + b->inertia.y + b->inertia.z);
  int sigma = plan->layout.sigma + carom_plan_segment(plan, k);
  int out = carom_row_out(plan, k, body), in = carom_row_in(plan, k + 1, body);
  carom_program_add(
      P, &carom_kind_translation,
      CAROM_OF({carom_variable_x(plan, k, body), 3}, {carom_variable_x(plan, k + 1, body), 3}, {sigma, 1}),
      CAROM_INTO({out, 3}, {in, 3}), CAROM_WITH(h, b->mass, CAROM_XYZ(plan->model->gravity)));
  carom_program_add(
      P, &carom_kind_rotation,
      CAROM_OF({carom_variable_q(plan, k, body), 4}, {carom_variable_q(plan, k + 1, body), 4}, {sigma, 1}),
      CAROM_INTO({out + 3, 3}, {in + 3, 3}),
      CAROM_WITH(h, half - b->inertia.x, half - b->inertia.y, half - b->inertia.z));
}

// The momentum of a step knows the sine of the turn only, so that a half-turn looks like rest. Turns are kept to what
// the forward integrator takes in one step as well (step/dmv.h).
static const double most_turn = 0.45;  // rad

static void add_turn(carom_plan *plan, int k, int body) {
  carom_program *P = &plan->program;
  carom_row_label label = {CAROM_ROW_TURN, k, body, -1};
  int row = carom_program_rows(P, 1, cos(0.5 * most_turn), INFINITY, 1, label);
  carom_program_add(P, &carom_kind_turn,
                    CAROM_OF({carom_variable_q(plan, k, body), 4}, {carom_variable_q(plan, k + 1, body), 4}),
                    CAROM_INTO({row, 1}), CAROM_PLAIN);
}

static void add_motion(carom_plan *plan) {
  for (int k = 0; k < plan->path.K; k++)
    for (int i = 0; i < plan->model->body_count; i++)
      if (!plan->model->bodies[i].fixed) {
        add_drift(plan, k, i);
        add_turn(plan, k, i);
      }
}

static bool is_fixed(const carom_program *P, int first, int count) {
  for (int i = first; i < first + count; i++)
    if (P->x_low[i] != P->x_high[i]) return false;
  return true;
}

static void add_unit_rows(carom_plan *plan) {
  carom_program *P = &plan->program;
  for (int k = 0; k <= plan->path.K && !P->out_of_memory; k++)
    for (int i = 0; i < plan->model->body_count; i++) {
      int q = carom_variable_q(plan, k, i);
      if (plan->model->bodies[i].fixed || is_fixed(P, q, 4)) continue;
      int row = carom_program_rows(P, 1, 0, 0, 1, (carom_row_label){CAROM_ROW_UNIT, k, i, -1});
      carom_program_add(P, &carom_kind_unit, CAROM_OF({q, 4}), CAROM_INTO({row, 1}), CAROM_PLAIN);
    }
}

// ---- the start, the clock ------------------------------------------------------------------------------------------

static void bound_about(carom_program *P, int first, carom_vec3 center, carom_vec3 reach) {
  double c[3] = {center.x, center.y, center.z}, r[3] = {reach.x, reach.y, reach.z};
  for (int i = 0; i < 3 && !P->out_of_memory; i++) {
    P->x_low[first + i] = c[i] - r[i], P->x_high[first + i] = c[i] + r[i];
    P->x[first + i] = fmin(fmax(P->x[first + i], c[i] - r[i]), c[i] + r[i]);
  }
}

// |l| <= J_max |omega| component by component: a box that holds all spins within the bounds whatever the rotation.
static void free_momenta(carom_plan *plan, int body, const carom_free_start *f) {
  const carom_body *b = &plan->model->bodies[body];
  int P = carom_variable_P(plan, 0, body, true);
  double J = fmax(b->inertia.x, fmax(b->inertia.y, b->inertia.z));
  bound_about(&plan->program, P, plan->start->p[body], cm_scale(b->mass, f->velocity));
  bound_about(&plan->program, P + 3, plan->start->l[body], cm_scale(J, f->angular_velocity));
}

static void set_start(carom_plan *plan) {
  carom_program *P = &plan->program;
  for (int i = 0; i < plan->model->body_count && !P->out_of_memory; i++) {
    if (plan->model->bodies[i].fixed) continue;
    const carom_free_start *f = &plan->free_starts[i];
    int x = carom_variable_x(plan, 0, i), q = carom_variable_q(plan, 0, i);
    bound_about(P, x, plan->start->x[i], f->free ? f->position : cm_zero3());
    if (!f->rotation) fix_range(P, q, 4);
    if (f->free)
      free_momenta(plan, i, f);
    else {
      bound_about(P, carom_variable_P(plan, 0, i, true), plan->start->p[i], cm_zero3());
      bound_about(P, carom_variable_P(plan, 0, i, true) + 3, plan->start->l[i], cm_zero3());
    }
  }
}

// In a planar scene nothing leaves the plane. What was free there before is fixed; the program drops what then has no
// unknowns. Only where the principal axes lie along z, so that a turn in the plane is two components of the quaternion.
bool carom_plan_is_flat(const carom_plan *plan) {
  for (int i = 0; i < plan->model->body_count; i++) {
    carom_quat q = plan->start->q[i];
    if (!plan->model->bodies[i].fixed && (q.x != 0 || q.y != 0)) return false;
  }
  return plan->model->planar;
}

static void flatten(carom_plan *plan) {
  carom_program *P = &plan->program;
  if (!carom_plan_is_flat(plan)) return;
  for (int k = 0; k <= plan->path.K && !P->out_of_memory; k++)
    for (int i = 0; i < plan->model->body_count; i++) {
      if (plan->model->bodies[i].fixed) continue;
      carom_program_fix(P, carom_variable_x(plan, k, i) + 2, plan->start->x[i].z);
      for (int c = 1; c <= 2; c++) carom_program_fix(P, carom_variable_q(plan, k, i) + c, 0);
      for (int after = 0; after < 2; after++) {
        int at = carom_variable_P(plan, k, i, after == 1);
        for (int c = 2; at >= 0 && c <= 4; c++) carom_program_fix(P, at + c, 0);
      }
    }
}

// The sum of sigma h is the duration.
static void set_clock(carom_plan *plan) {
  carom_program *P = &plan->program;
  const carom_plan_def *d = &plan->def;
  double T = d->step * d->intervals, low = T, high = T;
  int segments = carom_plan_segments(plan);
  if ((segments == 1 && !d->free_time) || plan->simulated) return;
  if (d->free_time) low = d->shortest > 0 ? d->shortest : 0, high = d->longest > 0 ? d->longest : INFINITY;
  int row = carom_program_rows(P, 1, low, high, T, (carom_row_label){CAROM_ROW_TIME, -1, -1, -1});
  for (int s = 0; s < segments; s++) {
    double sum = 0;
    for (int k = 0; k < plan->path.K; k++) sum += carom_plan_segment(plan, k) == s ? plan->path.h[k] : 0;
    carom_program_add(P, &carom_kind_linear, CAROM_OF({plan->layout.sigma + s, 1}), CAROM_INTO({row, 1}),
                      CAROM_WITH(sum));
  }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

// Speeds and forces are measured by how far the path goes and by the weight.
static void find_scales(carom_plan *plan) {
  double reach = plan->length_scale, T = plan->time_scale;
  size_t n = (size_t)plan->model->body_count;
  for (size_t i = n; i < (size_t)(plan->path.K + 1) * n; i++)
    reach = fmax(reach, cm_norm(cm_sub(plan->path.x[i], plan->path.x[i % n])));
  plan->speed_scale = reach / T;
  plan->force_scale = plan->mass_scale * fmax(reach / (T * T), cm_norm(plan->model->gravity));
}

carom_status carom_transcribe(carom_plan *plan, carom_error *error) {
  carom_program *P = &plan->program;
  carom_program_destroy(P);
  carom_program_create(P, &plan->allocator);
  find_scales(plan);
  carom_status status = create_layout(plan, error);
  if (status != CAROM_OK) return status;
  add_sigmas(plan);
  add_fixed_bodies(plan);
  for (int k = 0; k <= plan->path.K; k++) {
    add_node(plan, k);
    if (k < plan->path.K) add_forces(plan, k);
  }
  lift_momenta(plan);
  if (P->out_of_memory) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  guess_momenta(plan);
  set_start(plan);
  flatten(plan);
  add_balances(plan);
  add_motion(plan);
  carom_transcribe_actuators(plan);
  status = carom_transcribe_penalties(plan, error);
  if (status != CAROM_OK) return status;
  carom_transcribe_joints(plan);
  carom_transcribe_events(plan);
  carom_transcribe_periodic(plan);
  carom_transcribe_conditions(plan);
  carom_transcribe_contacts(plan);
  carom_transcribe_paths(plan);
  add_unit_rows(plan);
  status = carom_transcribe_avoidance(plan, error);
  if (status != CAROM_OK) return status;
  carom_transcribe_costs(plan);
  set_clock(plan);
  return carom_program_seal(P, error);
}

// ---- back to a path ------------------------------------------------------------------------------------------------

static carom_vec3 vector_at(const double *z) { return cm_vec3(z[0], z[1], z[2]); }

static void read_momenta(carom_plan *plan, int node, bool after, carom_vec3 *block) {
  for (int i = 0; i < plan->model->body_count; i++) {
    int P = carom_variable_P(plan, node, i, after);
    block[2 * i] = P < 0 ? cm_zero3() : vector_at(plan->program.x + P);
    block[2 * i + 1] = P < 0 ? cm_zero3() : vector_at(plan->program.x + P + 3);
  }
}

static void read_event(carom_plan *plan, int number) {
  const carom_plan_event *e = &plan->events[number];
  const double *x = plan->program.x;
  size_t m = (size_t)carom_plan_multipliers(plan), at = (size_t)number;
  memcpy(plan->path.hold + at * m, x + e->hold, m * sizeof *x);
  memcpy(plan->path.impulse + at * m, x + e->impulse, m * sizeof *x);
  for (int after = 0; after < 2; after++)
    read_momenta(plan, carom_event_node(plan, e), after == 1,
                 carom_path_block(plan, &plan->path, number, after == 1 ? CAROM_AFTER : CAROM_BEFORE));
}

// What was chosen besides the motion: impulses of events, places of joints, the periodic shift.
static void read_breaks(carom_plan *plan) {
  const double *x = plan->program.x;
  for (int i = 0; i < plan->event_count; i++) read_event(plan, i);
  plan->path.known = true;
  read_momenta(plan, 0, true, carom_path_block(plan, &plan->path, 0, CAROM_START));
  read_momenta(plan, plan->path.K, false, carom_path_block(plan, &plan->path, 0, CAROM_END));
  for (int i = 0; i < plan->joint_count; i++)
    if (plan->joints[i].grip >= 0) plan->joints[i].found = vector_at(x + plan->joints[i].grip);
  if (plan->periodic.set) plan->periodic.found = vector_at(x + plan->periodic.shift);
}

void carom_plan_read_back(carom_plan *plan) {
  const carom_layout *L = &plan->layout;
  const double *x = plan->program.x;
  carom_path *path = &plan->path;
  int n = plan->model->body_count;
  for (int i = 0; i < carom_plan_segments(plan); i++) path->sigma[i] = x[L->sigma + i];
  read_breaks(plan);
  for (int k = 0; k <= path->K; k++) {
    for (int i = 0; i < n; i++) {
      const double *z = x + carom_variable_x(plan, k, i);
      size_t at = (size_t)k * (size_t)n + (size_t)i;
      path->x[at] = cm_vec3(z[0], z[1], z[2]);
      path->q[at] = cm_qunit(cm_quat(z[3], z[4], z[5], z[6]));
    }
    if (L->multiplier[k] >= 0)
      memcpy(path->lambda + (size_t)k * (size_t)L->multiplier_count, x + L->multiplier[k],
             (size_t)L->multiplier_count * sizeof *x);
    if (k < path->K)
      memcpy(path->tau + (size_t)k * (size_t)L->component_count, x + L->tau[k], (size_t)L->component_count * sizeof *x);
  }
}
