// Events, periodic motions, and what holds along the whole way, as elements.
#include "control/kinds.h"
#include "control/plan.h"

static bool is_foot(const carom_plan_joint *j) { return cm_norm(j->normal) > 0; }

// ---- events --------------------------------------------------------------------------------------------------------

// 6 rows for every moving body: P_before - P_after + impulses = 0.
static int add_impulse_rows(carom_plan *plan, int node, int number) {
  carom_program *P = &plan->program;
  int first = P->m;
  double p = plan->mass_scale * plan->speed_scale;
  carom_row_label label = {CAROM_ROW_EVENT, node, number, -1};
  for (int i = 0; i < plan->model->body_count; i++) {
    if (plan->model->bodies[i].fixed) continue;
    int row = carom_program_rows(P, 3, 0, 0, p, label);
    carom_program_rows(P, 3, 0, 0, p * plan->length_scale, label);
    for (int after = 0; after < 2; after++) {
      carom_program_add(P, &carom_kind_link6, CAROM_OF({carom_variable_P(plan, node, i, after == 1), 6}),
                        CAROM_INTO({row, 6}), CAROM_WITH(after == 1 ? -1 : 1));
    }
  }
  return first;
}

// A foot that is let go does not move into what it stood on.
static void add_parting(carom_plan *plan, const carom_plan_joint *j, int node, int number) {
  carom_program *P = &plan->program;
  int row = carom_program_rows(P, 1, 0, INFINITY, plan->speed_scale, (carom_row_label){CAROM_ROW_EVENT, node, number, -1});
  for (int i = 0; i < 2; i++) {
    const carom_body *b = &plan->model->bodies[j->body[i]];
    carom_vec3 rho = i == 0 ? j->found : j->point[1];
    if (b->fixed) continue;
    carom_program_add(
        P, &carom_kind_parting,
        CAROM_OF({carom_variable_q(plan, node, j->body[i]), 4}, {carom_variable_P(plan, node, j->body[i], true), 6}),
        CAROM_INTO({row, 1}),
        CAROM_WITH(i == 0 ? -1 : 1, b->inverse_mass, CAROM_XYZ(b->inverse_inertia), CAROM_XYZ(rho),
                   CAROM_XYZ(j->normal)));
  }
}

// p+ = Q p-: the momenta agree with the old joints before and with the new ones afterwards (Pekarek 2010, 3.5.4-5).
static void add_event(carom_plan *plan, int number) {
  carom_plan_event *e = &plan->events[number];
  int node = carom_event_node(plan, e);
  e->hold = carom_transcribe_hold(plan, node, false, plan->layout.in[node]);
  e->impulse = carom_transcribe_hold(plan, node, true, add_impulse_rows(plan, node, number));
  for (int i = 0; i < plan->joint_count; i++)
    if (plan->joints[i].released == number && is_foot(&plan->joints[i]))
      add_parting(plan, &plan->joints[i], node, number);
}

// A foot comes down on the plane that it is caught on, wherever that is.
static void add_landing(carom_plan *plan, int number) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[number];
  carom_vec3 n = cm_unrotate(plan->start->q[j->body[0]], j->normal);
  double normal[3] = {CAROM_XYZ(n)}, height = cm_dot(n, j->point[0]);
  int row = carom_program_rows(P, 1, height, height, plan->length_scale,
                               (carom_row_label){CAROM_ROW_JOINT, 0, number, -1});
  for (int c = 0; c < 3; c++)
    carom_program_add(P, &carom_kind_linear, CAROM_OF({j->grip + c, 1}), CAROM_INTO({row, 1}), CAROM_WITH(normal[c]));
}

static void add_landings(carom_plan *plan) {
  for (int i = 0; i < plan->joint_count && plan->simulated; i++)
    if (carom_joint_lands(&plan->joints[i])) add_landing(plan, i);
}

void carom_transcribe_events(carom_plan *plan) {
  add_landings(plan);
  for (int i = 0; i < plan->event_count && !plan->program.out_of_memory; i++) add_event(plan, i);
}

// ---- periodic motions ----------------------------------------------------------------------------------------------

static void add_shift(carom_plan *plan) {
  carom_program *P = &plan->program;
  const carom_periodic_def *d = &plan->periodic.def;
  double middle[3] = {CAROM_XYZ(d->map.p)}, reach[3] = {CAROM_XYZ(d->reach)};
  double found[3] = {CAROM_XYZ(plan->periodic.found)};
  int at = plan->periodic.shift = carom_program_variables(P, 3, 0, 0, plan->length_scale);
  for (int i = 0; i < 3 && !P->out_of_memory; i++)
    P->x_low[at + i] = middle[i] - reach[i], P->x_high[at + i] = middle[i] + reach[i], P->x[at + i] = found[i];
}

static int periodic_rows(carom_plan *plan, int body, double linear, double angular) {
  carom_row_label label = {CAROM_ROW_PERIOD, plan->path.K, body, -1};
  int row = carom_program_rows(&plan->program, 3, 0, 0, linear, label);
  carom_program_rows(&plan->program, 3, 0, 0, angular, label);
  return row;
}

static void add_periodic(carom_plan *plan, int body) {
  carom_program *P = &plan->program;
  const carom_periodic_def *d = &plan->periodic.def;
  int K = plan->path.K, partner = plan->partner[body];
  double signs[3] = {d->mirror == 0 ? -1 : 1, d->mirror == 1 ? -1 : 1, d->mirror == 2 ? -1 : 1};
  double p = plan->mass_scale * plan->speed_scale;
  bool after = carom_plan_event_at(plan, K);
  carom_quat partner_frame = plan->model->bodies[partner].frame.q, frame = plan->model->bodies[body].frame.q;
  carom_program_add(P, &carom_kind_periodic_pose,
                    CAROM_OF({carom_variable_x(plan, 0, partner), 7}, {carom_variable_x(plan, K, body), 7},
                             {plan->periodic.shift, 3}),
                    CAROM_INTO({periodic_rows(plan, body, plan->length_scale, 1), 6}),
                    CAROM_WITH(CAROM_WXYZ(d->map.q), signs[0], signs[1], signs[2], CAROM_WXYZ(partner_frame),
                               CAROM_WXYZ(frame)));
  carom_program_add(
      P, &carom_kind_periodic_momentum,
      CAROM_OF({carom_variable_P(plan, 0, partner, true), 6}, {carom_variable_P(plan, K, body, after), 6}),
      CAROM_INTO({periodic_rows(plan, body, p, p * plan->length_scale), 6}),
      CAROM_WITH(CAROM_WXYZ(d->map.q), signs[0], signs[1], signs[2]));
}

void carom_transcribe_periodic(carom_plan *plan) {
  int K = plan->path.K;
  if (plan->simulated && plan->joint_count > 0 && !carom_plan_event_at(plan, K))
    carom_transcribe_hold(plan, K, false, plan->layout.in[K]);
  if (!plan->periodic.set) return;
  add_shift(plan);
  if (plan->joint_count > 0 && !carom_plan_event_at(plan, K) && plan->layout.multiplier[K] < 0)
    plan->layout.multiplier[K] = carom_transcribe_hold(plan, K, false, plan->layout.in[K]);
  for (int i = 0; i < plan->model->body_count && !plan->program.out_of_memory; i++)
    if (!plan->model->bodies[i].fixed) add_periodic(plan, i);
}

// ---- ranges of joints ----------------------------------------------------------------------------------------------

// A quaternion and its negative are one rotation: the sign is that of the path.
static double angle_sign(const carom_plan *plan, const carom_plan_joint *j, int k, double middle) {
  size_t at = (size_t)k * (size_t)plan->model->body_count;
  carom_quat qa = plan->path.q[at + (size_t)j->body[0]], qb = plan->path.q[at + (size_t)j->body[1]];
  carom_quat turn = cm_qmul(cm_qmul(cm_qconj(qa), qb), cm_qconj(j->zero));
  double sine = cm_dot(cm_vec3(turn.x, turn.y, turn.z), j->axis);
  return cos(0.5 * middle) * turn.w + sin(0.5 * middle) * sine < 0 ? -1 : 1;
}

static void add_range(carom_plan *plan, int number, int k) {
  const carom_plan_joint *j = &plan->joints[number];
  double middle = 0.5 * (j->lower + j->upper), least = cos(0.25 * (j->upper - j->lower));
  int row = carom_program_rows(&plan->program, 1, least, INFINITY, 1, (carom_row_label){CAROM_ROW_RANGE, k, number, -1});
  carom_program_add(&plan->program, &carom_kind_angle,
                    CAROM_OF({carom_variable_q(plan, k, j->body[0]), 4}, {carom_variable_q(plan, k, j->body[1]), 4}),
                    CAROM_INTO({row, 1}),
                    CAROM_WITH(CAROM_XYZ(j->axis), CAROM_WXYZ(j->zero), middle, angle_sign(plan, j, k, middle)));
}

static bool held_at(const carom_plan *plan, const carom_plan_joint *j, int k) {
  return (k > 0 && carom_joint_holds(plan, j, k - 1)) || carom_joint_holds(plan, j, k);
}

static void add_ranges(carom_plan *plan, int number) {
  const carom_plan_joint *j = &plan->joints[number];
  if (!(j->upper - j->lower < INFINITY)) return;
  // The end of a period is its beginning.
  int last = carom_range_repeats(plan, j) ? plan->path.K - 1 : plan->path.K;
  for (int k = 0; k <= last; k++)
    if (held_at(plan, j, k)) add_range(plan, number, k);
}

// ---- feet ----------------------------------------------------------------------------------------------------------

// The impulse at these multipliers lies in the cone. Typical ones are those of the weight in an interval.
static void add_cone(carom_plan *plan, int number, int k, int multiplier) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[number];
  carom_row_label label = {CAROM_ROW_FOOT, k, number, -1};
  double typical = plan->force_scale * plan->time_scale / plan->path.K;
  int push = carom_program_rows(P, 1, 0, INFINITY, typical, label);
  int lean = isinf(j->friction) ? CAROM_ROW_NONE : carom_program_rows(P, 1, 0, INFINITY, typical * typical, label);
  carom_program_add(P, &carom_kind_cone, CAROM_OF({multiplier + j->offset, 3}), CAROM_INTO({push, 1}, {lean, 1}),
                    CAROM_WITH(CAROM_XYZ(j->normal), isinf(j->friction) ? 0 : j->friction));
}

static void add_cones(carom_plan *plan, int number) {
  const carom_plan_joint *j = &plan->joints[number];
  for (int k = 0; k < plan->path.K; k++)
    if (carom_joint_holds(plan, j, k)) add_cone(plan, number, k, plan->layout.multiplier[k]);
  int K = plan->path.K;
  if (plan->layout.multiplier[K] >= 0 && carom_joint_holds(plan, j, K - 1))
    add_cone(plan, number, K, plan->layout.multiplier[K]);
  for (int i = 0; i < plan->event_count; i++) {
    int node = carom_event_node(plan, &plan->events[i]);
    if (carom_joint_holds(plan, j, node - 1)) add_cone(plan, number, node, plan->events[i].hold);
    if (carom_joint_holds(plan, j, node)) add_cone(plan, number, node, plan->events[i].impulse);
  }
}

// ---- clearances ----------------------------------------------------------------------------------------------------

static int clearance_row(carom_plan *plan, int number, int k, double share) {
  const carom_clearance_def *c = &plan->clearances[number];
  double height = c->offset + c->bump * sin(3.14159265358979323846 * share);
  return carom_program_rows(&plan->program, 1, height, INFINITY, plan->length_scale,
                            (carom_row_label){CAROM_ROW_CLEARANCE, k, number, -1});
}

static void add_clearance(carom_plan *plan, int number) {
  carom_program *P = &plan->program;
  const carom_clearance_def *c = &plan->clearances[number];
  int until = carom_plan_resolve_node(plan, c->until);
  double span = until - c->from;
  for (int k = c->from; k < until; k++) {
    carom_range here = {carom_variable_x(plan, k, c->body), 7}, next = {carom_variable_x(plan, k + 1, c->body), 7};
    carom_values what = CAROM_WITH(CAROM_XYZ(c->normal), CAROM_XYZ(c->point));
    if (k > c->from)
      carom_program_add(P, &carom_kind_above_plane, CAROM_OF(here),
                        CAROM_INTO({clearance_row(plan, number, k, (k - c->from) / span), 1}), what);
    carom_program_add(P, &carom_kind_above_plane_between, CAROM_OF(here, next),
                      CAROM_INTO({clearance_row(plan, number, k, (k + 0.5 - c->from) / span), 1}), what);
  }
}

void carom_transcribe_paths(carom_plan *plan) {
  for (int i = 0; i < plan->joint_count && !plan->program.out_of_memory; i++) {
    add_ranges(plan, i);
    if (is_foot(&plan->joints[i])) add_cones(plan, i);
  }
  for (int i = 0; i < plan->clearance_count && !plan->program.out_of_memory; i++) add_clearance(plan, i);
}
