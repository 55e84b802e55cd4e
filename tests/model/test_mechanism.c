// Mechanisms: joint coordinates, Jacobians and the mass matrix against finite differences; inverse dynamics against
// Lagrange's equations of arms and pendulums, and against the accelerations of a motion.
#include "failing_allocator.h"
#include "fixtures.h"
#include "model/joint_rows.h"
#include "model/joints.h"

enum { KINDS = CAROM_JOINT_DISTANCE + 1, MOST = 96 };

// ---- worlds
// ----------------------------------------------------------------------------------------------------------

// A random tree in which every kind of joint occurs, in both senses; body 4 is a point. With `ground` body 0 hangs on
// the world.
static world random_tree(int n, uint64_t seed, bool ground) {
  carom_random r = carom_random_make(seed, 0);
  carom_builder *builder = new_builder();
  carom_builder_set_gravity(builder, cm_vec3(0.3, -0.2, -9.81));
  for (int i = 0; i < n; i++) {
    carom_body_def body = inert_body(carom_random_between(&r, 0.5, 2), random_moments(&r));
    body.center = random_vector(&r, 0.3);
    body.pose = cm_pose(random_vector(&r, 2), random_rotation(&r));
    if (i == 4) body.has_inertia = false, body.center = cm_zero3();
    carom_builder_add_body(builder, &body);
    if (i == 0 && !ground) continue;
    carom_joint_def joint = carom_joint_default();
    int parent = i == 0 ? CAROM_WORLD : (int)(carom_random_between(&r, 0, 1) * i);
    if (parent == 4) parent = 3;
    joint.kind = i == 4 ? CAROM_JOINT_SPHERICAL : (carom_joint_kind)((i + (int)seed) % KINDS);
    joint.body[0] = parent, joint.body[1] = i;
    if (i % 3 == 2 && parent != CAROM_WORLD) joint.body[0] = i, joint.body[1] = parent;
    joint.at_start = joint.kind != CAROM_JOINT_DISTANCE;
    joint.point[0] = random_vector(&r, 2), joint.axis[0] = random_vector(&r, 1), joint.pitch = 0.7;
    if (i == 4) joint.point[0] = body.pose.p;
    carom_builder_add_joint(builder, &joint);
  }
  return finish_world(builder);
}

static carom_mechanism *mechanism_of(const world *w) {
  carom_mechanism *m = NULL;
  carom_error error = {0};
  if (carom_mechanism_create(w->model, NULL, &m, &error) != CAROM_OK) abort();
  if (carom_mechanism_update(m, w->state, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return m;
}

static void update(carom_mechanism *m, const carom_state *state) {
  carom_error error = {0};
  if (carom_mechanism_update(m, state, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
}

static void fill_random(carom_random *r, int n, double size, double *to) {
  for (int i = 0; i < n; i++) to[i] = carom_random_between(r, -size, size);
}

// Somewhere else on the joints, with velocities that they allow.
static void stir(carom_mechanism *m, carom_state *state, uint64_t seed) {
  carom_random r = carom_random_make(seed, 1);
  double u[MOST];
  int n = carom_mechanism_freedoms(m);
  fill_random(&r, n, 1, u);
  carom_mechanism_move(m, u, state);
  update(m, state);
  fill_random(&r, n, 1, u);
  carom_mechanism_set_velocities(m, u, state);
  update(m, state);
}

static carom_mechanism *stirred(const world *w, uint64_t seed) {
  carom_mechanism *m = mechanism_of(w);
  stir(m, w->state, seed);
  return m;
}

// The state moved by u from where the mechanism is; to be released.
static carom_state *moved(const world *w, const carom_mechanism *m, const double *u) {
  carom_state *copy = NULL;
  carom_state_clone(w->state, NULL, &copy, NULL);
  carom_mechanism_move(m, u, copy);
  return copy;
}

// ---- joints
// ----------------------------------------------------------------------------------------------------------

static world two_bodies(carom_joint_kind kind, uint64_t seed) {
  carom_random r = carom_random_make(seed, (uint64_t)kind);
  carom_builder *builder = new_builder();
  for (int i = 0; i < 2; i++) {
    carom_body_def body = inert_body(1 + i, random_moments(&r));
    body.pose = cm_pose(random_vector(&r, 1), random_rotation(&r));
    carom_builder_add_body(builder, &body);
  }
  carom_joint_def joint = carom_joint_default();
  joint.kind = kind, joint.body[0] = 0, joint.body[1] = 1, joint.pitch = 0.5;
  joint.at_start = kind != CAROM_JOINT_DISTANCE;
  joint.point[0] = random_vector(&r, 1), joint.axis[0] = random_vector(&r, 1);
  carom_builder_add_joint(builder, &joint);
  return finish_world(builder);
}

// What was put in comes out, over several turns.
TEST(turns_and_slides_are_told) {
  const double pi = acos(-1);
  for (int kind = 0; kind < KINDS; kind++) {
    world w = two_bodies((carom_joint_kind)kind, 5);
    carom_mechanism *m = mechanism_of(&w);
    int count, first = carom_mechanism_joint(m, 0, &count);
    double u[MOST] = {0};
    bool turns = carom_joint_turns((carom_joint_kind)kind), slides = carom_joint_slides((carom_joint_kind)kind);
    if (slides) u[first] = 0.8;
    if (turns) u[first + count - 1] = 9;
    if (kind == CAROM_JOINT_PLANAR) u[first] = 0.25, u[first + 1] = -0.5, u[first + 2] = 9;
    carom_mechanism_move(m, u, w.state);
    CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-13);
    carom_joint_motion motion = carom_state_joint(w.model, w.state, 0);
    CHECK_NEAR(motion.turn, turns ? 9 : kind == CAROM_JOINT_PLANAR ? 9 - 2 * pi : 0, 1e-13);
    CHECK_NEAR(motion.slide, slides ? 0.8 : kind == CAROM_JOINT_SCREW ? 4.5 / (2 * pi) : 0, 1e-13);
    if (kind == CAROM_JOINT_PLANAR) CHECK_NEAR(motion.pose.p.y, -0.5, 1e-13);
    if (kind == CAROM_JOINT_DISTANCE) CHECK_NEAR(cm_norm(motion.pose.p), w.model->joints[0].length, 1e-13);
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

static carom_joint_motion joint_after(const world *w, const carom_mechanism *m, const double *nu, double t) {
  double u[MOST];
  for (int i = 0; i < carom_mechanism_freedoms(m); i++) u[i] = t * nu[i];
  carom_state *state = moved(w, m, u);
  carom_joint_motion motion = carom_state_joint(w->model, state, 0);
  carom_state_destroy(state);
  return motion;
}

TEST(rates_of_joints_are_derivatives) {
  for (int kind = 0; kind < KINDS; kind++) {
    world w = two_bodies((carom_joint_kind)kind, 6);
    carom_mechanism *m = mechanism_of(&w);
    stir(m, w.state, 3);
    double nu[MOST], t = 1e-5;
    carom_mechanism_velocities(m, nu);
    carom_joint_motion now = carom_state_joint(w.model, w.state, 0);
    carom_joint_motion before = joint_after(&w, m, nu, -t), after = joint_after(&w, m, nu, t);
    CHECK_NEAR(now.turn_rate, (after.turn - before.turn) / (2 * t), 1e-8);
    CHECK_NEAR(now.slide_rate, (after.slide - before.slide) / (2 * t), 1e-8);
    carom_vec3 v = cm_scale(1 / (2 * t), cm_sub(after.pose.p, before.pose.p));
    carom_vec3 spin = cm_scale(1 / (2 * t), cm_log(cm_qmul(after.pose.q, cm_qconj(before.pose.q))));
    CHECK_AT_MOST(cm_norm(cm_sub(now.velocity, v)), 1e-8);
    CHECK_AT_MOST(cm_norm(cm_sub(now.angular_velocity, spin)), 1e-8);
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

// ---- Jacobians and mass
// ------------------------------------------------------------------------------------------------

// Central differences of every body's motion along a freedom, in two lengths: order 4.
static void difference_motion(const world *w, const carom_mechanism *m, int freedom, carom_vec3 *v, carom_vec3 *spin) {
  const double step[2] = {2e-3, 1e-3}, weight[2] = {-1.0 / 3, 4.0 / 3};
  for (int b = 0; b < w->model->body_count; b++) v[b] = spin[b] = cm_zero3();
  for (int i = 0; i < 2; i++) {
    double u[MOST] = {0};
    u[freedom] = step[i];
    carom_state *after = moved(w, m, u);
    u[freedom] = -step[i];
    carom_state *before = moved(w, m, u);
    for (int b = 0; b < w->model->body_count; b++) {
      double s = weight[i] / (2 * step[i]);
      v[b] = cm_axpy(v[b], s, cm_sub(after->x[b], before->x[b]));
      carom_vec3 turn = cm_sub(cm_log(cm_qmul(after->q[b], cm_qconj(w->state->q[b]))),
                               cm_log(cm_qmul(before->q[b], cm_qconj(w->state->q[b]))));
      spin[b] = cm_axpy(spin[b], s, turn);
    }
    carom_state_destroy(after);
    carom_state_destroy(before);
  }
}

TEST(jacobians_and_mass_are_those_of_finite_differences) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    world w = random_tree(11, seed, seed % 2 == 0);
    carom_mechanism *m = stirred(&w, seed);
    CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-13);
    int n = carom_mechanism_freedoms(m);
    static carom_vec3 v[MOST][16], spin[MOST][16];
    double J[6 * MOST], own[36], M[MOST * MOST];
    for (int k = 0; k < n; k++) difference_motion(&w, m, k, v[k], spin[k]);
    carom_vec3 point = cm_vec3(0.3, -0.4, 0.7);
    for (int b = 0; b < w.model->body_count; b++) {
      carom_mechanism_jacobian(m, b, point, J);
      carom_state_jacobian(w.model, w.state, b, point, own);
      for (int k = 0; k < n; k++) {
        double twist[6] = {v[k][b].x, v[k][b].y, v[k][b].z, spin[k][b].x, spin[k][b].y, spin[k][b].z};
        for (int row = 0; row < 6; row++) {
          double expected = 0;
          for (int i = 0; i < 6; i++) expected += own[row + 6 * i] * twist[i];
          CHECK_NEAR(J[row + 6 * k], expected, 1e-9);
        }
      }
    }
    carom_mechanism_mass(m, M);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double expected = 0;
        for (int b = 0; b < w.model->body_count; b++) {
          const carom_body *body = &w.model->bodies[b];
          carom_vec3 a = cm_unrotate(w.state->q[b], spin[i][b]), c = cm_unrotate(w.state->q[b], spin[j][b]);
          expected += body->mass * cm_dot(v[i][b], v[j][b]);
          if (body->inverse_inertia.x > 0) expected += cm_dot(a, cm_mul_diag(body->inertia, c));
        }
        CHECK_NEAR(M[i + j * n], expected, 1e-7);
      }
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

// The Jacobian of a body's own twist, against the motion of a point.
TEST(a_points_jacobian_is_its_derivative) {
  world w = random_cloud(1, 3);
  carom_vec3 point = cm_vec3(0.2, 0.5, -0.3);
  double J[36], t = 1e-5;
  carom_state_jacobian(w.model, w.state, 0, point, J);
  carom_pose at = cm_pose(w.state->x[0], w.state->q[0]);
  for (int k = 0; k < 6; k++) {
    carom_vec3 e = cm_vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2), r[2];
    for (int side = 0; side < 2; side++) {
      double d = side ? t : -t;
      w.state->x[0] = k < 3 ? cm_axpy(at.p, d, e) : at.p;
      w.state->q[0] = k < 3 ? at.q : cm_qmul(cm_exp(cm_scale(d, e)), at.q);
      r[side] = cm_transform(carom_state_pose(w.model, w.state, 0), point);
    }
    carom_vec3 v = cm_scale(1 / (2 * t), cm_sub(r[1], r[0]));
    CHECK_AT_MOST(cm_norm(cm_sub(v, cm_vec3(J[6 * k], J[6 * k + 1], J[6 * k + 2]))), 1e-9);
    CHECK_NEAR(J[6 * k + 3 + k % 3], k < 3 ? 0 : 1, 0);
  }
  free_world(&w);
}

TEST(velocities_come_back_and_carry_the_energy) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    world w = random_tree(11, seed, seed % 2 == 0);
    carom_mechanism *m = stirred(&w, seed);
    int n = carom_mechanism_freedoms(m);
    double nu[MOST], back[MOST], M[MOST * MOST], energy = 0, kinetic = 0;
    carom_random r = carom_random_make(seed, 9);
    fill_random(&r, n, 2, nu);
    carom_mechanism_set_velocities(m, nu, w.state);
    update(m, w.state);
    carom_mechanism_velocities(m, back);
    for (int i = 0; i < n; i++) CHECK_NEAR(back[i], nu[i], 1e-12);
    carom_mechanism_mass(m, M);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) energy += 0.5 * nu[i] * M[i + j * n] * nu[j];
    for (int b = 0; b < w.model->body_count; b++)
      kinetic += 0.5 * (cm_dot(w.state->p[b], carom_state_velocity(w.model, w.state, b)) +
                        cm_dot(w.state->l[b], carom_state_angular_velocity(w.model, w.state, b)));
    CHECK_NEAR(energy, kinetic, 1e-11 * kinetic);
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

// ---- dynamics
// ----------------------------------------------------------------------------------------------------------

// Second derivatives of the motion u = nu t + nu' t^2/2, order 4.
static void difference_twice(const world *w, const carom_mechanism *m, const double *nu, const double *rate,
                             carom_vec3 *a, carom_vec3 *spin_rate) {
  const double step[2] = {4e-3, 2e-3}, weight[2] = {-1.0 / 3, 4.0 / 3};
  int n = carom_mechanism_freedoms(m);
  for (int b = 0; b < w->model->body_count; b++) a[b] = spin_rate[b] = cm_zero3();
  for (int i = 0; i < 2; i++)
    for (int side = -1; side <= 1; side += 2) {
      double u[MOST], t = side * step[i], s = weight[i] / (t * t);
      for (int k = 0; k < n; k++) u[k] = nu[k] * t + 0.5 * rate[k] * t * t;
      carom_state *state = moved(w, m, u);
      for (int b = 0; b < w->model->body_count; b++) {
        a[b] = cm_axpy(a[b], s, cm_sub(state->x[b], w->state->x[b]));
        spin_rate[b] = cm_axpy(spin_rate[b], s, cm_log(cm_qmul(state->q[b], cm_qconj(w->state->q[b]))));
      }
      carom_state_destroy(state);
    }
}

// m (a - g) and the moment about the centre of mass.
static carom_joint_load needed(const world *w, int b, carom_vec3 a, carom_vec3 spin_rate) {
  const carom_body *body = &w->model->bodies[b];
  carom_quat q = w->state->q[b];
  carom_vec3 spin = carom_state_angular_velocity(w->model, w->state, b);
  carom_vec3 turned = cm_rotate(q, cm_mul_diag(body->inertia, cm_unrotate(q, spin_rate)));
  carom_joint_load load = {cm_scale(body->mass, cm_sub(a, w->model->gravity)), cm_zero3()};
  if (body->inverse_inertia.x > 0) load.moment = cm_add(turned, cm_cross(spin, w->state->l[b]));
  return load;
}

// d'Alembert: forces along the freedoms are those of the accelerations, through the Jacobians; and the loads of the
// joints balance every body.
TEST(inverse_dynamics_moves_every_kind_of_joint) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    world w = random_tree(11, seed, seed % 2 == 0);
    carom_mechanism *m = stirred(&w, seed);
    int n = carom_mechanism_freedoms(m);
    double nu[MOST], rate[MOST], forces[MOST], expected[MOST] = {0}, J[6 * MOST];
    carom_random r = carom_random_make(seed, 4);
    carom_vec3 a[16], spin_rate[16];
    carom_joint_load loads[16];
    carom_mechanism_velocities(m, nu);
    fill_random(&r, n, 2, rate);
    difference_twice(&w, m, nu, rate, a, spin_rate);
    carom_mechanism_inverse(m, rate, forces, loads);
    for (int b = 0; b < w.model->body_count; b++) {
      carom_joint_load load = needed(&w, b, a[b], spin_rate[b]);
      carom_mechanism_jacobian(m, b, cm_untransform(w.model->bodies[b].frame, cm_zero3()), J);
      for (int k = 0; k < n; k++)
        expected[k] += cm_dot(load.force, cm_vec3(J[6 * k], J[6 * k + 1], J[6 * k + 2])) +
                       cm_dot(load.moment, cm_vec3(J[6 * k + 3], J[6 * k + 4], J[6 * k + 5]));
    }
    for (int k = 0; k < n; k++) CHECK_NEAR(forces[k], expected[k], 1e-6);
    for (int b = 0; b < w.model->body_count; b++) {
      carom_joint_load load = needed(&w, b, a[b], spin_rate[b]);
      int count;
      if (carom_mechanism_body(m, b, &count) >= 0) continue;
      for (int j = 0; j < w.model->joint_count; j++)
        for (int end = 0; end < 2; end++) {
          if (w.model->joints[j].body[end] != b) continue;
          carom_joint_place p = carom_joint_placed(&w.model->joints[j], &w.state->joints[j], w.state);
          double sign = end == 1 ? -1 : 1;
          load.force = cm_axpy(load.force, sign, loads[j].force);
          load.moment = cm_axpy(load.moment, sign,
                                cm_add(loads[j].moment, cm_cross(cm_sub(p.r[1], w.state->x[b]), loads[j].force)));
        }
      CHECK_AT_MOST(cm_norm(load.force), 1e-6);
      if (w.model->bodies[b].inverse_inertia.x > 0) CHECK_AT_MOST(cm_norm(load.moment), 1e-6);
    }
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

TEST(forward_dynamics_undoes_inverse_dynamics) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    world w = random_tree(11, seed, seed % 2 == 0);
    carom_mechanism *m = stirred(&w, seed);
    int n = carom_mechanism_freedoms(m);
    double rate[MOST], forces[MOST], back[MOST];
    carom_random r = carom_random_make(seed, 4);
    fill_random(&r, n, 2, rate);
    carom_mechanism_inverse(m, rate, forces, NULL);
    CHECK(carom_mechanism_forward(m, forces, back, NULL) == CAROM_OK);
    for (int i = 0; i < n; i++) CHECK_NEAR(back[i], rate[i], 1e-9);
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

// ---- Lagrange's equations of an arm, in long double
// --------------------------------------------------------------------

enum { ARM = 3 };
typedef long double real;
typedef struct real3 {
  real c[3];
} real3;
typedef struct arm {
  bool slides[ARM];
  carom_vec3 axis[ARM], offset[ARM], center[ARM], inertia[ARM];  // in the frame of the link before, and of the link
  double mass[ARM];
  carom_vec3 gravity;
} arm;

static real3 real_vector(carom_vec3 v) { return (real3){{v.x, v.y, v.z}}; }
static real3 plus(real3 a, real s, real3 b) {
  for (int i = 0; i < 3; i++) a.c[i] += s * b.c[i];
  return a;
}
static real3 cross(real3 a, real3 b) {
  return (real3){
      {a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0]}};
}
static real dot(real3 a, real3 b) { return a.c[0] * b.c[0] + a.c[1] * b.c[1] + a.c[2] * b.c[2]; }
// Rodrigues: turned by an angle about a unit axis.
static real3 turned(real3 v, real3 axis, real angle) {
  real3 out = plus((real3){{0}}, cosl(angle), v);
  out = plus(out, sinl(angle), cross(axis, v));
  return plus(out, (1 - cosl(angle)) * dot(axis, v), axis);
}

// Kinetic energy less potential energy at (q, q').
static real lagrangian(const arm *of, const real *q, const real *rate) {
  real3 axes[3] = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}}, origin = {{0}}, velocity = {{0}}, spin = {{0}};
  real L = 0;
  for (int i = 0; i < ARM; i++) {
    real3 offset = {{0}}, axis = {{0}}, center = {{0}};
    for (int k = 0; k < 3; k++) {
      offset = plus(offset, real_vector(of->offset[i]).c[k], axes[k]);
      axis = plus(axis, real_vector(of->axis[i]).c[k], axes[k]);
    }
    if (of->slides[i]) offset = plus(offset, q[i], axis);
    velocity = plus(velocity, 1, cross(spin, offset));
    origin = plus(origin, 1, offset);
    if (of->slides[i]) velocity = plus(velocity, rate[i], axis);
    if (!of->slides[i]) {
      spin = plus(spin, rate[i], axis);
      for (int k = 0; k < 3; k++) axes[k] = turned(axes[k], axis, q[i]);
    }
    for (int k = 0; k < 3; k++) center = plus(center, real_vector(of->center[i]).c[k], axes[k]);
    real3 v = plus(velocity, 1, cross(spin, center));
    L += of->mass[i] * (0.5L * dot(v, v) + dot(real_vector(of->gravity), plus(origin, 1, center)));
    for (int k = 0; k < 3; k++) L += 0.5L * real_vector(of->inertia[i]).c[k] * dot(spin, axes[k]) * dot(spin, axes[k]);
  }
  return L;
}

static const real nodes[4] = {-2, -1, 1, 2}, weights[4] = {1.0L / 12, -8.0L / 12, 8.0L / 12, -1.0L / 12};

// Momentum along freedom i, exactly: L is quadratic in the rates.
static real momentum(const arm *of, const real *q, const real *rate, int i) {
  real up[ARM], down[ARM];
  for (int k = 0; k < ARM; k++) up[k] = down[k] = rate[k];
  up[i] += 1, down[i] -= 1;
  return (lagrangian(of, q, up) - lagrangian(of, q, down)) / 2;
}

// d/dt of the momentum less dL/dq, by differences of order 4 along the motion.
static real lagrange_force(const arm *of, const real *q, const real *rate, const real *acceleration, int i) {
  const real t = 2e-4L;
  real force = 0;
  for (int s = 0; s < 4; s++) {
    real at[ARM], moving[ARM], aside[ARM];
    for (int k = 0; k < ARM; k++) {
      real time = nodes[s] * t;
      at[k] = q[k] + time * rate[k] + time * time / 2 * acceleration[k];
      moving[k] = rate[k] + time * acceleration[k];
      aside[k] = q[k] + (k == i ? time : 0);
    }
    force += weights[s] / t * (momentum(of, at, moving, i) - lagrangian(of, aside, rate));
  }
  return force;
}

static arm random_arm(uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  arm a = {.gravity = cm_vec3(0.5, -1, -9.81)};
  for (int i = 0; i < ARM; i++) {
    a.slides[i] = (seed >> i & 1) != 0;
    a.axis[i] = cm_unit(random_vector(&r, 1)), a.offset[i] = random_vector(&r, 0.5);
    a.center[i] = random_vector(&r, 0.5), a.inertia[i] = random_moments(&r);
    a.mass[i] = carom_random_between(&r, 0.5, 2);
  }
  return a;
}

// At q = 0 all axes are the world's.
static world world_of_arm(const arm *a) {
  carom_builder *builder = new_builder();
  carom_builder_set_gravity(builder, a->gravity);
  carom_vec3 origin = cm_zero3();
  for (int i = 0; i < ARM; i++) {
    carom_body_def body = inert_body(a->mass[i], a->inertia[i]);
    origin = cm_add(origin, a->offset[i]);
    body.pose.p = origin, body.center = a->center[i];
    carom_builder_add_body(builder, &body);
    carom_joint_def joint = carom_joint_default();
    joint.kind = a->slides[i] ? CAROM_JOINT_PRISMATIC : CAROM_JOINT_REVOLUTE;
    joint.body[0] = i == 0 ? CAROM_WORLD : i - 1, joint.body[1] = i;
    joint.at_start = true, joint.point[0] = origin, joint.axis[0] = a->axis[i];
    carom_builder_add_joint(builder, &joint);
  }
  return finish_world(builder);
}

TEST(an_arm_obeys_lagranges_equations) {
  for (uint64_t seed = 0; seed < 24; seed++) {
    arm a = random_arm(seed);
    world w = world_of_arm(&a);
    carom_mechanism *m = mechanism_of(&w);
    carom_random r = carom_random_make(seed, 7);
    double q[ARM], nu[ARM], rate[ARM], forces[ARM], back[ARM];
    fill_random(&r, ARM, 3, q), fill_random(&r, ARM, 2, nu), fill_random(&r, ARM, 5, rate);
    carom_mechanism_move(m, q, w.state);
    update(m, w.state);
    carom_mechanism_set_velocities(m, nu, w.state);
    update(m, w.state);
    carom_mechanism_inverse(m, rate, forces, NULL);
    real at[ARM], moving[ARM], acceleration[ARM];
    for (int i = 0; i < ARM; i++) at[i] = q[i], moving[i] = nu[i], acceleration[i] = rate[i];
    for (int i = 0; i < ARM; i++) CHECK_NEAR(forces[i], (double)lagrange_force(&a, at, moving, acceleration, i), 1e-9);
    CHECK(carom_mechanism_forward(m, forces, back, NULL) == CAROM_OK);
    for (int i = 0; i < ARM; i++) CHECK_NEAR(back[i], rate[i], 1e-9);
    carom_mechanism_destroy(m);
    free_world(&w);
  }
}

// Two rods of mass 1 and length 1 in the plane of x and z, hung at their ends; angles from the vertical, the second one
// against the first: textbook equations.
TEST(a_double_pendulum_moves_by_the_closed_form) {
  const double g = 9.81, I = 1.0 / 12;
  carom_builder *builder = new_builder();
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -g));
  for (int i = 0; i < 2; i++) {
    carom_body_def body = inert_body(1, cm_vec3(I, I, 1e-4));
    body.pose.p = cm_vec3(0, 0, -0.5 - i);
    carom_builder_add_body(builder, &body);
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_REVOLUTE, joint.body[0] = i - 1, joint.body[1] = i, joint.at_start = true;
    joint.point[0] = cm_vec3(0, 0, -i), joint.axis[0] = cm_vec3(0, -1, 0);
    carom_builder_add_joint(builder, &joint);
  }
  world w = finish_world(builder);
  carom_mechanism *m = mechanism_of(&w);
  double q[2] = {0.7, -1.9}, nu[2] = {1.3, -0.4}, a[2];
  carom_mechanism_move(m, q, w.state);
  update(m, w.state);
  carom_mechanism_set_velocities(m, nu, w.state);
  update(m, w.state);
  CHECK(carom_mechanism_forward(m, NULL, a, NULL) == CAROM_OK);
  double t1 = q[0], t2 = q[0] + q[1], w1 = nu[0], w2 = nu[0] + nu[1];  // absolute angles
  double M11 = I + 0.25 + 1, M22 = I + 0.25, M12 = 0.5 * cos(t1 - t2), s = 0.5 * sin(t1 - t2);
  double f1 = -s * w2 * w2 - 1.5 * g * sin(t1), f2 = s * w1 * w1 - 0.5 * g * sin(t2), det = M11 * M22 - M12 * M12;
  double a1 = (M22 * f1 - M12 * f2) / det, a2 = (M11 * f2 - M12 * f1) / det;
  CHECK_NEAR(a[0], a1, 1e-12);
  CHECK_NEAR(a[1], a2 - a1, 1e-12);
  carom_mechanism_destroy(m);
  free_world(&w);
}

// Springs, dampers, motors and applied forces are the model's own: at rest on a spring in balance nothing is needed.
TEST(fields_are_counted) {
  carom_builder *builder = new_builder();
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -10));
  carom_body_def body = inert_body(2, cm_vec3(1, 1, 1));
  carom_builder_add_body(builder, &body);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_PRISMATIC, joint.body[0] = CAROM_WORLD, joint.body[1] = 0, joint.at_start = true;
  joint.slide.stiffness = 40, joint.slide.rest = 0.25, joint.slide.damping = 3;
  joint.slide.motor = CAROM_MOTOR_FORCE, joint.slide.motor_value = 4;
  carom_builder_add_joint(builder, &joint);
  carom_force_def push = carom_force_default();
  push.body = 0, push.force = cm_vec3(1, 0, 6);
  carom_builder_add_force(builder, &push);
  world w = finish_world(builder);
  carom_mechanism *m = mechanism_of(&w);
  double nu = 0.5, force, acceleration = 1;
  carom_mechanism_set_velocities(m, &nu, w.state);
  update(m, w.state);
  carom_joint_load load;
  carom_mechanism_inverse(m, &acceleration, &force, &load);
  CHECK_NEAR(force, 2 * 1 + 2 * 10 - 40 * 0.25 + 3 * 0.5 - 4 - 6, 1e-13);
  CHECK_NEAR(load.force.z, force, 1e-13);
  CHECK_NEAR(load.force.x, -1, 1e-13);
  carom_mechanism_destroy(m);
  free_world(&w);
}

// A planar scene has three freedoms for a body.
TEST(planar_scenes_have_planar_freedoms) {
  carom_builder *builder = new_builder();
  carom_builder_set_planar(builder, true);
  carom_body_def body = inert_body(2, cm_vec3(2, 2, 3));
  carom_builder_add_body(builder, &body);
  world w = finish_world(builder);
  carom_mechanism *m = mechanism_of(&w);
  double M[9];
  int count;
  CHECK(carom_mechanism_freedoms(m) == 3 && carom_mechanism_body(m, 0, &count) == 0 && count == 3);
  carom_mechanism_mass(m, M);
  CHECK(M[0] == 2 && M[4] == 2 && M[8] == 3 && M[1] == 0);
  carom_mechanism_destroy(m);
  free_world(&w);
}

TEST(a_loop_is_refused_by_name) {
  carom_builder *builder = new_builder();
  carom_body_def body = inert_body(1, cm_vec3(1, 1, 1));
  carom_builder_add_body(builder, &body);
  for (int i = 0; i < 2; i++) {
    carom_joint_def joint = carom_joint_default();
    joint.name = i ? "second" : "first", joint.body[0] = CAROM_WORLD, joint.body[1] = 0, joint.at_start = true;
    joint.point[0] = cm_vec3(i, 0, 0);
    carom_builder_add_joint(builder, &joint);
  }
  world w = finish_world(builder);
  carom_mechanism *m = NULL;
  carom_error error = {0};
  CHECK(carom_mechanism_create(w.model, NULL, &m, &error) == CAROM_OK);
  CHECK(carom_mechanism_update(m, w.state, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "'second' closes a loop");
  carom_mechanism_destroy(m);
  free_world(&w);
}

TEST(memory_may_run_out) {
  world w = random_tree(6, 1, true);
  for (int allowed = 0; allowed < 40; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_mechanism *m = NULL;
    carom_error error = {0};
    double a[MOST];
    carom_status status = carom_mechanism_create(w.model, &allocator, &m, &error);
    CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && !m));
    if (status == CAROM_OK) CHECK(carom_mechanism_update(m, w.state, &error) == CAROM_OK);
    if (status == CAROM_OK) status = carom_mechanism_forward(m, NULL, a, &error);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    carom_mechanism_destroy(m);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
  }
  free_world(&w);
}
