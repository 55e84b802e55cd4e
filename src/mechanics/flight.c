// Single bodies between two states: momenta change by weight and by the impulses of events alone, and positions as the
// velocities of both ends say. Bodies that joints, springs, charges or forces act on have their positions judged; their
// momenta are in the sums.
#include "mechanics/audit.h"
#include "model/row.h"
#include "model/size.h"

double carom_audit_speed(const carom_audit *audit, const carom_state *state, int body) {
  if (!carom_body_moves(audit->model, body)) return 0;
  return cm_norm(carom_state_velocity(audit->model, state, body)) +
         carom_body_radius(&audit->model->bodies[body]) *
             cm_norm(carom_state_angular_velocity(audit->model, state, body));
}

// ---- momenta --------------------------------------------------------------------------------------------------------

// What the moments of its contacts leave unexplained. Of a ball that turned back within the step the places of events
// are less well known than the normals.
static double untold_spin(const carom_audit *audit, const carom_state *state, int i) {
  carom_vec3 dl = cm_sub(state->l[i], audit->before->l[i]);
  double off = cm_norm(cm_sub(dl, audit->step[i].moment));
  if (carom_body_is_ball(audit->model, &audit->model->bodies[i]))
    off = fmin(off, cm_norm(cm_sub(dl, audit->step[i].rolled)));
  return off;
}

static void judge_momentum(carom_audit *audit, const carom_state *state, int i, double dt) {
  const carom_body *body = &audit->model->bodies[i];
  const carom_body_step *s = &audit->step[i];
  const carom_state *before = audit->before;
  carom_vec3 weight = cm_scale(body->mass * dt, audit->model->gravity);
  carom_vec3 dp = cm_sub(cm_sub(state->p[i], before->p[i]), cm_add(weight, s->impulse));
  double scale = fmax(cm_norm(state->p[i]), cm_norm(before->p[i])) + cm_norm(weight) + s->pushed;
  double spin = fmax(cm_norm(state->l[i]), cm_norm(before->l[i])) + carom_body_radius(body) * scale;
  if (cm_norm(dp) != 0) carom_finding_note(&audit->flight, cm_norm(dp) / scale, state->time, i, CAROM_WORLD);
  double twist = untold_spin(audit, state, i) - s->twisted;
  if (!(twist <= 0)) carom_finding_note(&audit->flight, twist / spin, state->time, i, CAROM_WORLD);
}

// ---- positions ------------------------------------------------------------------------------------------------------

// Joints pass on what others get.
static double pushed_of(const carom_audit *audit, int i) {
  return audit->tied[i] ? audit->pushed : audit->step[i].pushed;
}

// Joints lead bodies round others that turn: of one that may have gone more than so far round nothing is known.
static const double ROUND = 1;  // rad

static double fastest_turn(const carom_audit *audit, const carom_state *state, double dt) {
  double w = 0;
  for (int i = 0; i < audit->model->body_count; i++) {
    if (!audit->tied[i] || audit->model->bodies[i].fixed) continue;
    w = fmax(w, cm_norm(carom_state_angular_velocity(audit->model, audit->before, i)));
    w = fmax(w, cm_norm(carom_state_angular_velocity(audit->model, state, i)));
  }
  return w * fabs(dt);
}

// Between both ends a velocity is the first one and some of the impulses of the step, each weighed by the time that was
// left: so the mean differs from that of both ends by at most half of all impulses.
static double shift(const carom_audit *audit, const carom_state *state, int i, double dt) {
  double inverse = audit->model->bodies[i].inverse_mass;
  carom_vec3 v0 = cm_scale(inverse, audit->before->p[i]), v1 = cm_scale(inverse, state->p[i]);
  carom_vec3 dx = cm_sub(state->x[i], audit->before->x[i]);
  double kick = cm_norm(cm_sub(v1, v0)), before = audit->kick[i];
  double off = cm_norm(cm_axpy(dx, -0.5 * dt, cm_add(v0, v1))) - 0.5 * dt * kick;
  audit->kick[i] = audit->tied[i] ? kick : 0;  // forces that turn round within a step leave no trace in it
  if (off <= 0) return off;
  if (off > 0 && audit->tied[i] && audit->model->joint_count > 0 && audit->led_round > ROUND) return 0;
  double pushed = pushed_of(audit, i) * inverse;
  double slack = before + pushed + dt * cm_norm(audit->model->gravity);
  double rounding = 4e-16 * (cm_norm(state->x[i]) + cm_norm(dx));
  return off - 0.5 * dt * slack - rounding;
}

// Of a body that is as heavy about all axes it is along the momentum.
static carom_vec3 spin_at(const carom_audit *audit, const carom_state *state, int i) {
  carom_vec3 inverse = audit->model->bodies[i].inverse_inertia;
  bool alike = inverse.x == inverse.y && inverse.y == inverse.z;
  return alike ? cm_scale(inverse.x, state->l[i]) : carom_state_angular_velocity(audit->model, state, i);
}

// Likewise for turns, as far as they can be told: a free body's angular velocity wanders within a step by its
// asymmetry (Euler's equations), means of rotations are those of vectors to the second order only, and steps turn by
// sin(angle) = w dt or the like, right to the third (Moser and Veselov 1991).
static double turn(carom_audit *audit, const carom_state *state, int i, double dt, double *angle) {
  const carom_body *body = &audit->model->bodies[i];
  carom_vec3 w0 = spin_at(audit, audit->before, i), w1 = spin_at(audit, state, i);
  carom_vec3 theta = cm_log(cm_qmul(state->q[i], cm_qconj(audit->before->q[i])));
  double swung = cm_norm(cm_sub(w1, w0)), before = audit->swing[i];
  double off = cm_norm(cm_axpy(theta, -0.5 * dt, cm_add(w0, w1))) - 0.5 * dt * swung - 1e-15;
  audit->swing[i] = audit->tied[i] ? swung : 0;  // as of kicks
  *angle = cm_norm(theta);
  if (off <= 0) return off;
  double w = fmax(cm_norm(w0), cm_norm(w1)), I = carom_least3(body->inertia), swing = w * dt;
  double odd = I > 0 ? carom_largest3(body->inertia) / I - 1 : 0;
  double pushed = I > 0 ? (carom_body_radius(body) * pushed_of(audit, i) + audit->step[i].twisted) / I : 0;
  if (swing + dt * pushed > 1) return 0;  // too fast to tell
  return off - 0.5 * dt * (before + pushed) - swing * (fmin(odd, 1) * swing + dt * pushed + 0.25 * swing * swing);
}

// ---- the way between both ends --------------------------------------------------------------------------------------

// Euler's equations with constant spatial momentum: q' = w q / 2, w = R J^-1 R' l. One step of Runge and Kutta's.
static carom_quat turn_freely(const carom_body *body, carom_quat q, carom_vec3 l, double dt) {
  static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  carom_vec3 mean = cm_zero3(), w = cm_zero3();
  for (int k = 0; k < 4; k++) {
    carom_quat at = cm_qmul(cm_exp(cm_scale(part[k] * dt, w)), q);
    w = cm_rotate(at, cm_mul_diag(body->inverse_inertia, cm_unrotate(at, l)));
    mean = cm_axpy(mean, weight[k], w);
  }
  return cm_qunit(cm_qmul(cm_exp(cm_scale(dt, mean)), q));
}

// A body that nothing touched: its free motion against the straight way and the turn at a constant rate.
static double free_stray(const carom_audit *audit, const carom_state *state, int i) {
  enum { LOOKS = 16, MOST_PARTS = 64 };
  const carom_body *body = &audit->model->bodies[i];
  carom_vec3 v = carom_state_velocity(audit->model, audit->before, i);
  carom_quat q = audit->before->q[i];
  carom_vec3 theta = cm_log(cm_qmul(state->q[i], cm_qconj(q))), way = cm_sub(state->x[i], audit->before->x[i]);
  double swing = audit->dt * cm_norm(carom_state_angular_velocity(audit->model, audit->before, i)), worst = 0;
  int parts = 1 + (int)fmin(swing / (0.05 * LOOKS), MOST_PARTS - 1);
  for (int k = 1; k < LOOKS; k++) {
    double s = (double)k / LOOKS, t = s * audit->dt;
    for (int n = 0; n < parts; n++) q = turn_freely(body, q, audit->before->l[i], audit->dt / (LOOKS * parts));
    carom_quat straight = cm_qmul(cm_exp(cm_scale(s, theta)), audit->before->q[i]);
    carom_vec3 off = cm_sub(cm_axpy(cm_scale(t, v), 0.5 * t * t, audit->model->gravity), cm_scale(s, way));
    worst = fmax(worst, cm_norm(off) + carom_body_radius(body) * cm_norm(cm_log(cm_qmul(q, cm_qconj(straight)))));
  }
  return worst;
}

// Others were pushed on the way, nobody knows when: velocities that change by u in all lead off the straight way by dt
// u/4 at the most. A body that is not round may turn about changing axes besides.
static double pushed_stray(const carom_audit *audit, const carom_state *state, int i) {
  const carom_body *body = &audit->model->bodies[i];
  carom_vec3 w0 = carom_state_angular_velocity(audit->model, audit->before, i);
  carom_vec3 w1 = carom_state_angular_velocity(audit->model, state, i);
  double w = fmax(cm_norm(w0), cm_norm(w1)), I = carom_least3(body->inertia), dt = audit->dt;
  double odd = I > 0 ? fmin(carom_largest3(body->inertia) / I - 1, 1) : 0;
  double spun = I > 0 ? (carom_body_radius(body) * pushed_of(audit, i) + audit->step[i].twisted) / I : 0;
  double kicked = pushed_of(audit, i) * body->inverse_mass + dt * cm_norm(audit->model->gravity);
  if (audit->tied[i])
    kicked += cm_norm(
        cm_sub(carom_state_velocity(audit->model, state, i), carom_state_velocity(audit->model, audit->before, i)));
  return 0.25 * dt * (kicked + carom_body_radius(body) * (spun + cm_norm(cm_sub(w1, w0)) + odd * w * w * dt));
}

// Parts turn about the middle of the body, not about their own.
static double part_stray(const carom_audit *audit, const carom_state *state, int i) {
  const carom_body *body = &audit->model->bodies[i];
  double arm = 0, angle = cm_norm(cm_log(cm_qmul(state->q[i], cm_qconj(audit->before->q[i]))));
  for (int k = body->part_start; k < body->part_start + body->part_count; k++)
    arm = fmax(arm, cm_norm(audit->model->parts[k].pose.p));
  return arm * angle * angle / 8;
}

double carom_audit_stray(const carom_audit *audit, const carom_state *state, int i) {
  if (audit->frames_only || audit->model->bodies[i].fixed) return 0;
  bool free_body = audit->step[i].events == 0 && !audit->tied[i];
  return part_stray(audit, state, i) + (free_body ? free_stray(audit, state, i) : pushed_stray(audit, state, i));
}

static void judge_position(carom_audit *audit, const carom_state *state, int i, double dt) {
  const carom_body *body = &audit->model->bodies[i];
  double angle, thin = audit->overlaps->thin[i], r = carom_body_radius(body);
  double jump = shift(audit, state, i, dt), spin = r * turn(audit, state, i, dt, &angle);
  double size = isfinite(thin) ? thin : r > 0 ? r : 1;
  audit->travel[i] = cm_norm(cm_sub(state->x[i], audit->before->x[i])) + r * angle;
  if (audit->massless) return;  // velocities jump and tell nothing of ways, which equilibrium judges
  if (!(jump <= 0)) carom_finding_note(&audit->position, jump / size, state->time, i, CAROM_WORLD);
  if (!(spin <= 0)) carom_finding_note(&audit->position, spin / size, state->time, i, CAROM_WORLD);
}

// Fixed bodies stay, driven ones are where their drive says.
static void judge_given(carom_audit *audit, const carom_state *state, int i, carom_pose should) {
  double r = carom_body_radius(&audit->model->bodies[i]), size = r > 0 ? r : 1;
  double off = cm_norm(cm_sub(state->x[i], should.p));
  double angle = cm_norm(cm_log(cm_qmul(state->q[i], cm_qconj(should.q))));
  off = off + r * (angle > 1e-7 ? angle : 0);
  if (!(off <= 1e-12 * cm_norm(should.p)))
    carom_finding_note(&audit->position, off / size, state->time, i, CAROM_WORLD);
}

static void judge_drives(carom_audit *audit, const carom_state *state, double dt) {
  const carom_model *m = audit->model;
  for (int k = 0; k < m->drive_count; k++) {
    int b = m->drives[k].body;
    carom_vec3 v, w;
    judge_given(audit, state, b, carom_drive_pose(m, k, state->time));
    carom_model_motion(m, b, audit->before->time, dt, &v, &w);
    audit->travel[b] = dt * (cm_norm(v) + carom_body_radius(&m->bodies[b]) * cm_norm(w));
    audit->chosen[b] = true;
  }
}

void carom_audit_free_flight(carom_audit *audit, const carom_state *state, int body) {
  judge_momentum(audit, state, body, audit->dt);
}

void carom_audit_flight(carom_audit *audit, const carom_state *state, double dt, bool told) {
  const carom_model *m = audit->model;
  for (int i = 0; i < m->body_count; i++) audit->chosen[i] = false, audit->travel[i] = 0;
  if (m->drive_count > 0) judge_drives(audit, state, dt);
  if (m->joint_count > 0) audit->led_round = fastest_turn(audit, state, dt);
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].fixed) {
      if (!audit->chosen[i]) judge_given(audit, state, i, cm_pose(audit->before->x[i], audit->before->q[i]));
      continue;
    }
    if (audit->step[i].moved) continue;
    judge_position(audit, state, i, dt);
    if (told && !audit->tied[i] && !audit->massless) judge_momentum(audit, state, i, dt);
  }
}
