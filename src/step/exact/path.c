// Paths between impacts. A free body under gravity moves by a formula of its own: with the kick of resting contacts and
// weight at the start, x(t) = x + t p'/m, p' = p + t c + t m g/2, and its attitude by one discrete Moser-Veselov step
// of length t from l' = l + t n. Bodies that act on each other by fields or joints are moved together by the
// variational integrator, into a state for trial.
#include <float.h>
#include <math.h>

#include "geometry/shape.h"
#include "step/exact/exact.h"
#include "step/variational/composition.h"

// ---- free bodies -------------------------------------------------------------------------------------------------

typedef struct moved {
  carom_vec3 x;
  carom_quat q;
  carom_dmv_info info;
} moved;

// Drifts one body with given momenta, in the parts that the order asks for. Without forces in between they need no
// kicks; under weight, p being that of the middle, the place is that of the composed kicks and drifts as well.
static moved drift(const carom_stepper *stepper, const carom_state *state, int body, carom_vec3 p, carom_vec3 l,
                   double t) {
  const carom_exact *e = stepper->work;
  const carom_composition *c = carom_composition_of(stepper->options.order);
  moved m = {state->x[body], state->q[body], {.failed = -1}};
  carom_state one = {.body_count = 1, .x = &m.x, .q = &m.q, .p = &p, .l = &l};
  for (int i = 0; i < c->stages; i++)
    carom_dmv_drift(&e->bodies[body].lane, 0, c->weights[i] * t, stepper->options.max_halvings, &one, &m.info);
  if (c->stages > 1) m.x = cm_axpy(state->x[body], t * e->model->bodies[body].inverse_mass, p);  // less round-off
  return m;
}

static carom_pose free_pose(const carom_stepper *stepper, const carom_state *state, int body, double t) {
  const carom_exact *e = stepper->work;
  double weight = 0.5 * t * e->model->bodies[body].mass;
  carom_vec3 p = cm_axpy(cm_axpy(state->p[body], t, e->held.force[body]), weight, e->model->gravity);
  moved m = drift(stepper, state, body, p, cm_axpy(state->l[body], t, e->held.torque[body]), t);
  return cm_pose(m.x, m.q);
}

static carom_status free_move(carom_stepper *stepper, carom_state *state, int body, double t, carom_ledger *ledger,
                              carom_error *error) {
  const carom_exact *e = stepper->work;
  double mass = e->model->bodies[body].mass;
  carom_vec3 g = e->model->gravity, x = state->x[body];
  carom_vec3 p = cm_axpy(state->p[body], 0.5 * t * mass, g);
  moved m = drift(stepper, state, body, p, state->l[body], t);
  if (m.info.failed >= 0)
    return carom_fail(error, CAROM_NOT_CONVERGED, "body '%s' cannot be turned at t = %.9g s: use a smaller step",
                      e->model->bodies[body].name, state->time);
  state->x[body] = m.x, state->q[body] = m.q;
  state->p[body] = cm_axpy(p, 0.5 * t * mass, g);
  carom_ledger_outside_at(ledger, cm_scale(t * mass, g), cm_lerp(x, m.x, 0.5));
  carom_ledger_note_solve(ledger, m.info.iterations, m.info.residual);
  return CAROM_OK;
}

// ---- bodies that act on each other -------------------------------------------------------------------------------

const carom_state *carom_exact_try(carom_stepper *stepper, const carom_state *state, double time) {
  carom_exact *e = stepper->work;
  carom_exact_trial *t = &e->trial;
  if (t->from == state && t->time == time) return t->state;
  carom_state_copy(t->state, state);
  for (int i = 0; i < state->body_count; i++) {
    t->state->p[i] = cm_axpy(state->p[i], time, e->held.force[i]);
    t->state->l[i] = cm_axpy(state->l[i], time, e->held.torque[i]);
  }
  carom_status status = CAROM_OK;
  carom_ledger_begin(&t->ledger, time);
  if (time > 0)
    status = carom_integrator_variational.advance(stepper, t->state, time, state->time + time, &t->ledger, &t->error);
  if (status != CAROM_OK) t->status = status;
  carom_drives_place(e->model, t->state, e->now + time);
  t->from = state;
  t->time = time;
  return t->state;
}

const carom_state *carom_exact_end(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                                   double time) {
  carom_exact *e = stepper->work;
  if (e->whole) return carom_exact_try(stepper, state, time);
  for (int i = 0; i < group->count; i++) {
    int body = group->bodies[i];
    carom_pose pose = free_pose(stepper, state, body, time);
    e->trial.state->x[body] = pose.p, e->trial.state->q[body] = pose.q;
  }
  carom_drives_place(e->model, e->trial.state, e->now + time);
  return e->trial.state;
}

static carom_pose fixed_pose(const carom_exact *e, const carom_state *state, int body, double time) {
  for (int i = 0; i < e->model->drive_count; i++)
    if (e->model->drives[i].body == body) return carom_drive_pose(e->model, i, e->now + time);
  return cm_pose(state->x[body], state->q[body]);
}

carom_pose carom_exact_pose(carom_stepper *stepper, const carom_state *state, int body, double time) {
  const carom_exact *e = stepper->work;
  if (e->model->bodies[body].fixed) return fixed_pose(e, state, body, time);
  if (time == 0) return cm_pose(state->x[body], state->q[body]);
  if (!e->whole) return free_pose(stepper, state, body, time);
  const carom_state *then = carom_exact_try(stepper, state, time);
  return cm_pose(then->x[body], then->q[body]);
}

// The trial may have been there already, unless contacts were to push on the way.
static carom_status whole_move(carom_stepper *stepper, carom_state *state, double time, carom_ledger *ledger,
                               carom_error *error) {
  carom_exact *e = stepper->work;
  carom_exact_trial *t = &e->trial;
  bool known = t->from == state && t->time == time && carom_exact_held_count(e) == 0 && t->status == CAROM_OK;
  double end = state->time + time;
  carom_status status = CAROM_OK;
  if (known) {
    carom_state_copy(state, t->state);
    carom_ledger_add(ledger, &t->ledger);
  } else if (time > 0) {
    status = carom_integrator_variational.advance(stepper, state, time, end, ledger, error);
  }
  state->time = end;
  t->from = NULL;  // the state has changed under the trial
  return status;
}

carom_status carom_exact_move(carom_stepper *stepper, carom_state *state, const carom_exact_group *group, double time,
                              carom_ledger *ledger, carom_error *error) {
  const carom_exact *e = stepper->work;
  if (e->whole) return whole_move(stepper, state, time, ledger, error);
  for (int i = 0; i < group->count; i++) {
    carom_status status = free_move(stepper, state, group->bodies[i], time, ledger, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- bounds ------------------------------------------------------------------------------------------------------

// Free rotation keeps L^2 = |l|^2 and 2T = l.w, hence the sum of J_i (J_3 - J_i) w_i^2 = 2T J_3 - L^2 with J_3 the
// largest moment: each of its terms bounds a component of w, and so does L/J_i. The sum is convex in l, so that the
// kick of a torque n, by which l goes to l + 2 t n, is covered by its two ends. w' = J^-1 (l x w + n); the discrete
// step follows to higher order, which the factors cover while it turns by less than half a radian.
static void bound_spins(carom_vec3 J, carom_vec3 Pi, double w[3]) {
  double J3 = fmax(J.x, fmax(J.y, J.z)), j[3] = {J.x, J.y, J.z}, l[3] = {Pi.x, Pi.y, Pi.z}, sum = 0, L = cm_norm(Pi);
  for (int i = 0; i < 3; i++) sum += l[i] * l[i] * (j[i] > 0 ? J3 / j[i] - 1 : 0);
  for (int i = 0; i < 3; i++) {
    if (!(j[i] > 0)) continue;
    double most = L / j[i], by_energy = j[i] < J3 ? sqrt(sum / (j[i] * (J3 - j[i]))) : most;
    w[i] = fmax(w[i], fmin(most, by_energy));
  }
}

static void bound_turning(const carom_exact *e, carom_exact_body *b, const carom_state *state, carom_vec3 torque,
                          double duration) {
  const carom_body *body = &e->model->bodies[b - e->bodies];
  int i = (int)(b - e->bodies);
  carom_vec3 J = body->inertia, Pi = cm_unrotate(state->q[i], state->l[i]), n = cm_unrotate(state->q[i], torque);
  double w[3] = {0}, inverse[3] = {body->inverse_inertia.x, body->inverse_inertia.y, body->inverse_inertia.z};
  b->spin = b->turning = 0;
  if (b->radius == 0) return;  // a ball looks the same from all sides
  bound_spins(J, Pi, w);
  bound_spins(J, cm_axpy(Pi, 2 * duration, n), w);
  double W = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), turned = cm_norm(n) * fmin(1, W * duration);
  double faster[3] = {fabs(J.y - J.z) * w[1] * w[2] + 2 * (fabs(n.x) + turned),
                      fabs(J.z - J.x) * w[2] * w[0] + 2 * (fabs(n.y) + turned),
                      fabs(J.x - J.y) * w[0] * w[1] + 2 * (fabs(n.z) + turned)},
         A = 0;
  for (int k = 0; k < 3; k++) A += faster[k] * faster[k] * inverse[k] * inverse[k];
  b->spin = 1.1 * W;
  b->turning = 2 * (W * W + sqrt(A));
}

double carom_exact_spin(const carom_exact *e, const carom_state *state, int body) {
  double w[3] = {0};
  bound_spins(e->model->bodies[body].inertia, cm_unrotate(state->q[body], state->l[body]), w);
  return 1.1 * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

static void bound_free(carom_exact *e, const carom_state *state, int body, double duration) {
  carom_exact_body *b = &e->bodies[body];
  double inverse_mass = e->model->bodies[body].inverse_mass;
  b->speed = inverse_mass * cm_norm(state->p[body]);
  b->acceleration = cm_axpy(e->model->gravity, 2 * inverse_mass, e->held.force[body]);
  b->slack = 0;
  bound_turning(e, b, state, e->held.torque[body], duration);
}

// Joints and fields: accelerations are taken from where the path leads, and trebled.
static void bound_whole(carom_exact *e, const carom_state *state, int body, double t) {
  carom_exact_body *b = &e->bodies[body];
  const carom_state *then = e->trial.state;
  carom_vec3 v = carom_state_velocity(e->model, state, body);
  carom_vec3 away = cm_sub(cm_sub(then->x[body], state->x[body]), cm_scale(t, v));
  b->speed = cm_norm(v);
  b->acceleration = cm_zero3();
  b->slack = 3 * (2 * cm_norm(away) / (t * t));
  bound_turning(e, b, state, cm_scale(3 / t, cm_sub(then->l[body], state->l[body])), t);
}

// From the twists over short parts of the time; accelerations are trebled, as above.
void carom_exact_bound_driven(carom_exact *e, double time, double duration) {
  enum { PARTS = 8 };
  double part = duration / PARTS;
  for (int i = 0; i < e->model->drive_count; i++) {
    int body = e->model->drives[i].body;
    carom_exact_body *b = &e->bodies[body];
    carom_vec3 v_last = cm_zero3(), w_last = cm_zero3();
    double faster = 0, turning = 0, spin = 0;
    b->speed = 0;
    for (int k = 0; k < PARTS; k++) {
      carom_vec3 v, w;
      carom_model_motion(e->model, body, time + k * part, part, &v, &w);
      b->speed = fmax(b->speed, cm_norm(v));
      spin = fmax(spin, cm_norm(w));
      if (k > 0) faster = fmax(faster, cm_norm(cm_sub(v, v_last)) / part);
      if (k > 0) turning = fmax(turning, cm_norm(cm_sub(w, w_last)) / part);
      v_last = v, w_last = w;
    }
    b->acceleration = cm_zero3();
    b->slack = 3 * faster;
    b->speed += part * b->slack;
    b->spin = 1.1 * spin + 3 * part * turning;
    b->turning = b->spin > 0 ? 4 * (b->spin * b->spin + turning) : 0;
  }
}

carom_status carom_exact_bound(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                               double duration) {
  carom_exact *e = stepper->work;
  if (e->whole) carom_exact_try(stepper, state, duration);
  for (int i = 0; i < group->count; i++) {
    if (e->whole)
      bound_whole(e, state, group->bodies[i], duration);
    else
      bound_free(e, state, group->bodies[i], duration);
  }
  return e->trial.status;
}

double carom_exact_travel(const carom_exact_body *b, double radius, double duration) {
  double a = cm_norm(b->acceleration) + b->slack;
  return duration * (b->speed + 0.5 * a * duration + radius * b->spin);
}

double carom_exact_bend(const carom_exact *e, const carom_part_pair *pair) {
  const carom_exact_body *a = &e->bodies[pair->body_a], *b = &e->bodies[pair->body_b];
  double bend = cm_norm(cm_sub(a->acceleration, b->acceleration)) + a->slack + b->slack;
  return bend + e->part_radius[pair->part_a] * a->turning + e->part_radius[pair->part_b] * b->turning;
}

double carom_exact_size(const carom_exact *e, int part_a, int part_b) {
  double a = e->model->parts[part_a].shape->bounding_radius, b = e->model->parts[part_b].shape->bounding_radius;
  return (isinf(a) ? 0 : a) + (isinf(b) ? 0 : b);
}

double carom_exact_within(const carom_exact *e, const carom_state *state, const carom_part_pair *pair) {
  double size = carom_exact_size(e, pair->part_a, pair->part_b);
  double far = cm_norm(state->x[pair->body_a]) + cm_norm(state->x[pair->body_b]) + size;
  return fmax(CAROM_EXACT_WITHIN * size, 64 * DBL_EPSILON * far);
}

double carom_exact_closed(const carom_exact *e, const carom_state *state, const carom_part_pair *pair) {
  double size = carom_exact_size(e, pair->part_a, pair->part_b);
  return fmax(CAROM_EXACT_RELEASE * size, 8 * carom_exact_within(e, state, pair));
}
