// Joints as equations and as impulses: rows against finite differences, projections, null space, latches, limits.
#include "failing_allocator.h"
#include "fixtures.h"
#include "model/joint_system.h"
#include "model/joints.h"
#include "model/null_space.h"

enum { ROWS = CAROM_JOINT_ROWS, KINDS = CAROM_JOINT_DISTANCE + 1 };

static int degrees_of(carom_joint_kind kind) {
  static const int f[] = {3, 1, 1, 2, 3, 1, 0, 5};
  return f[kind];
}

static carom_body_def random_body(carom_random *r) {
  carom_body_def def = inert_body(carom_random_between(r, 0.5, 2), random_moments(r));
  def.pose = cm_pose(random_vector(r, 2), random_rotation(r));
  def.velocity = random_vector(r, 1);
  def.angular_velocity = random_vector(r, 2);
  return def;
}

static carom_joint_def random_joint(carom_random *r, carom_joint_kind kind, int a, int b) {
  carom_joint_def def = carom_joint_default();
  def.kind = kind;
  def.body[0] = a, def.body[1] = b;
  def.at_start = true;
  def.point[0] = random_vector(r, 2);
  def.axis[0] = random_vector(r, 1);
  def.pitch = 0.7;
  if (kind == CAROM_JOINT_DISTANCE) def.at_start = false, def.point[1] = random_vector(r, 1);
  return def;
}

// A random tree of n bodies; every kind of joint occurs. With `ground` body 0 hangs on the world.
static world random_tree(int n, uint64_t seed, bool ground) {
  carom_random r = carom_random_make(seed, 0);
  carom_builder *builder = new_builder();
  for (int i = 0; i < n; i++) {
    carom_body_def body = random_body(&r);
    carom_builder_add_body(builder, &body);
    if (i == 0 && !ground) continue;
    int parent = i == 0 ? CAROM_WORLD : (int)(carom_random_between(&r, 0, 1) * i);
    carom_joint_def joint = random_joint(&r, (carom_joint_kind)((i + (int)seed) % KINDS), parent, i);
    if (i % 3 == 2 && parent != CAROM_WORLD) joint.body[0] = i, joint.body[1] = parent;
    carom_builder_add_joint(builder, &joint);
  }
  return finish_world(builder);
}

static carom_joints *new_joints(const world *w) {
  carom_joints *joints = NULL;
  carom_error error = {0};
  if (carom_joints_create(w->model, NULL, &joints, &error) != CAROM_OK) abort();
  return joints;
}

// Largest |dg/dt| by the rows, from the momenta.
static double worst_rate(const world *w, const carom_vec3 *p, const carom_vec3 *l) {
  double worst = 0;
  carom_state *s = w->state;
  for (int j = 0; j < w->model->joint_count; j++) {
    if (!s->joints[j].active) continue;
    carom_row rows[ROWS];
    carom_joint_equations(w->model, s, j, s->time, NULL, rows);
    for (int i = 0; i < carom_joint_row_count(&w->model->joints[j]); i++) {
      double rate = 0;
      for (int end = 0; end < 2; end++) {
        int b = rows[i].body[end];
        if (b == CAROM_WORLD || w->model->bodies[b].fixed) continue;
        const carom_body *body = &w->model->bodies[b];
        carom_vec3 spin = cm_rotate(s->q[b], cm_mul_diag(body->inverse_inertia, cm_unrotate(s->q[b], l[b])));
        rate += body->inverse_mass * cm_dot(rows[i].linear[end], p[b]) + cm_dot(rows[i].angular[end], spin);
      }
      worst = fmax(worst, fabs(rate));
    }
  }
  return worst;
}

TEST(start_velocities_are_projected) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    world w = random_tree(12, seed, seed % 2 == 0);
    CHECK_AT_MOST(worst_rate(&w, w.state->p, w.state->l), 1e-13);
    CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-14);
    free_world(&w);
  }
}

// Rows against central differences of the residuals under a rigid motion of either body.
TEST(rows_are_gradients) {
  for (int kind = 0; kind < KINDS; kind++) {
    carom_random r = carom_random_make(7, (uint64_t)kind);
    carom_builder *builder = new_builder();
    for (int i = 0; i < 2; i++) {
      carom_body_def body = random_body(&r);
      carom_builder_add_body(builder, &body);
    }
    carom_joint_def def = random_joint(&r, (carom_joint_kind)kind, 0, 1);
    if (carom_joint_slides(def.kind)) def.slide.motor = CAROM_MOTOR_RATE;
    if (carom_joint_turns(def.kind)) def.turn.motor = CAROM_MOTOR_RATE;
    carom_builder_add_joint(builder, &def);
    world w = finish_world(builder);
    const carom_joint *joint = w.model->joints;
    carom_state *s = w.state;
    carom_row rows[ROWS];
    carom_joint_equations(w.model, s, 0, 0, NULL, rows);
    int count = carom_joint_row_count(joint);
    for (int body = 0; body < 2; body++)
      for (int axis = 0; axis < 6; axis++) {
        double step = 1e-5, g[2][ROWS];
        carom_vec3 e = cm_vec3(axis % 3 == 0, axis % 3 == 1, axis % 3 == 2), x = s->x[body];
        carom_quat q = s->q[body];
        for (int side = 0; side < 2; side++) {
          double d = side ? step : -step;
          if (axis < 3)
            s->x[body] = cm_axpy(x, d, e);
          else
            s->q[body] = cm_qmul(cm_exp(cm_scale(d, e)), q);
          carom_joint_equations(w.model, s, 0, 0, g[side], NULL);
          s->x[body] = x, s->q[body] = q;
        }
        for (int i = 0; i < count; i++) {
          carom_vec3 gradient = axis < 3 ? rows[i].linear[body] : rows[i].angular[body];
          CHECK_NEAR((g[1][i] - g[0][i]) / (2 * step), cm_dot(e, gradient), 1e-8);
        }
      }
    free_world(&w);
  }
}

static void random_momenta(carom_random *r, int n, carom_vec3 *p, carom_vec3 *l) {
  for (int i = 0; i < n; i++) p[i] = random_vector(r, 1), l[i] = random_vector(r, 1);
}

// p' M^-1 p with any momenta.
static double energy_of(const world *w, const carom_vec3 *p, const carom_vec3 *l, const carom_vec3 *p2,
                        const carom_vec3 *l2) {
  double sum = 0;
  for (int i = 0; i < w->state->body_count; i++) {
    carom_quat q = w->state->q[i];
    const carom_body *b = &w->model->bodies[i];
    sum += b->inverse_mass * cm_dot(p[i], p2[i]) +
           cm_dot(cm_unrotate(q, l[i]), cm_mul_diag(b->inverse_inertia, cm_unrotate(q, l2[i])));
  }
  return sum;
}

// Q p is allowed, Q is a projection, orthogonal in the norm of kinetic energy, and what internal joints do to the
// momentum of a floating tree is nothing.
TEST(projection_is_orthogonal) {
  enum { N = 12 };
  for (uint64_t seed = 1; seed <= 16; seed++) {
    bool ground = seed % 2 == 0;
    world w = random_tree(N, seed, ground);
    carom_joints *joints = new_joints(&w);
    carom_random r = carom_random_make(seed, 5);
    carom_vec3 p[N], l[N], p0[N], l0[N], dp[N], dl[N], before = cm_zero3(), after = cm_zero3();
    carom_error error;
    double impulses[N * ROWS];
    random_momenta(&r, N, p, l);
    memcpy(p0, p, sizeof p), memcpy(l0, l, sizeof l);
    REQUIRE(carom_joints_project(joints, w.state, p, l, impulses, &error) == CAROM_OK);
    CHECK_AT_MOST(worst_rate(&w, p, l), 1e-13);
    for (int i = 0; i < N; i++) {
      dp[i] = cm_sub(p0[i], p[i]), dl[i] = cm_sub(l0[i], l[i]);
      before = cm_add(before, cm_add(l0[i], cm_cross(w.state->x[i], p0[i])));
      after = cm_add(after, cm_add(l[i], cm_cross(w.state->x[i], p[i])));
    }
    CHECK_NEAR(energy_of(&w, p, l, dp, dl), 0, 1e-12);
    carom_joint_impulse outside = carom_joints_external(w.model, w.state, impulses);
    CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(after, before), outside.angular)), 1e-12);
    if (!ground) CHECK_AT_MOST(cm_norm(outside.linear), 0);
    carom_joints_destroy(joints);
    free_world(&w);
  }
}

TEST(null_space_of_trees) {
  enum { N = 16 };
  for (uint64_t seed = 1; seed <= 16; seed++) {
    world w = random_tree(N, seed, seed % 2 == 0);
    carom_joints *joints = new_joints(&w);
    carom_error error;
    int expected = seed % 2 == 0 ? 0 : 6, dof = joints_freedoms(joints, w.state);
    for (int j = 0; j < w.model->joint_count; j++) expected += degrees_of(w.model->joints[j].kind);
    REQUIRE(dof == expected);
    double *P = calloc((size_t)(6 * N * dof), sizeof *P);
    REQUIRE(joints_null_space(joints, w.state, P, &error) == CAROM_OK);
    for (int k = 0; k < dof; k++) {  // as momenta of bodies with these twists: G P = 0
      carom_vec3 p[N], l[N];
      const double *t = P + k * 6 * N;
      for (int i = 0; i < N; i++) {
        const carom_body *b = &w.model->bodies[i];
        carom_vec3 spin = cm_vec3(t[6 * i + 3], t[6 * i + 4], t[6 * i + 5]);
        p[i] = cm_scale(b->mass, cm_vec3(t[6 * i], t[6 * i + 1], t[6 * i + 2]));
        l[i] = cm_rotate(w.state->q[i], cm_mul_diag(b->inertia, cm_unrotate(w.state->q[i], spin)));
      }
      CHECK_AT_MOST(worst_rate(&w, p, l), 1e-12);
    }
    free(P);
    carom_joints_destroy(joints);
    free_world(&w);
  }
}

// F_d stays on the constraints however far it goes, and its derivative is P.
TEST(reparametrisation_of_trees) {
  enum { N = 16, MOST = 6 * N };
  for (uint64_t seed = 1; seed <= 16; seed++) {
    world w = random_tree(N, seed, seed % 2 == 0);
    carom_joints *joints = new_joints(&w);
    carom_state *s = w.state, *moved = NULL;
    carom_error error;
    carom_random r = carom_random_make(seed, 9);
    REQUIRE(carom_state_clone(s, NULL, &moved, &error) == CAROM_OK);
    int dof = joints_freedoms(joints, s);
    double u[MOST], *P = calloc((size_t)(6 * N * dof), sizeof *P);
    for (int k = 0; k < dof; k++) u[k] = carom_random_between(&r, -1, 1);
    REQUIRE(joints_retract(joints, s, u, moved->x, moved->q, &error) == CAROM_OK);
    carom_joints_note_turns(w.model, moved);
    CHECK_AT_MOST(carom_joints_drift(w.model, moved), 1e-13);
    CHECK_AT_MOST(0.1, cm_norm(cm_sub(moved->x[N - 1], s->x[N - 1])));  // it did move
    REQUIRE(joints_null_space(joints, s, P, &error) == CAROM_OK);
    for (int k = 0; k < dof; k++) {
      double step = 1e-6;
      carom_vec3 x[2][N];
      carom_quat q[2][N];
      for (int side = 0; side < 2; side++) {
        memset(u, 0, sizeof u);
        u[k] = side ? step : -step;
        joints_retract(joints, s, u, x[side], q[side], &error);
      }
      for (int i = 0; i < N; i++) {
        const double *t = P + k * 6 * N + 6 * i;
        carom_vec3 v = cm_scale(0.5 / step, cm_sub(x[1][i], x[0][i]));
        carom_vec3 spin = cm_scale(0.5 / step, cm_log(cm_qmul(q[1][i], cm_qconj(q[0][i]))));
        CHECK_AT_MOST(cm_norm(cm_sub(v, cm_vec3(t[0], t[1], t[2]))), 1e-8);
        CHECK_AT_MOST(cm_norm(cm_sub(spin, cm_vec3(t[3], t[4], t[5]))), 1e-8);
      }
    }
    free(P);
    carom_state_destroy(moved);
    carom_joints_destroy(joints);
    free_world(&w);
  }
}

// ---- limits --------------------------------------------------------------------------------------------------------

static world limited_arm(void) {
  carom_builder *builder = new_builder();
  carom_body_def body = inert_body(2, cm_vec3(0.3, 0.4, 0.5));
  body.pose.p = cm_vec3(1, 0, 0);
  body.angular_velocity = cm_vec3(0, 0, 1.5);
  body.velocity = cm_vec3(0, 1.5, 0);
  carom_builder_add_body(builder, &body);
  carom_joint_def def = carom_joint_default();
  def.kind = CAROM_JOINT_REVOLUTE;
  def.body[1] = 0;
  def.at_start = true;
  def.turn.lower = -0.5, def.turn.upper = 0.3, def.turn.restitution = 0.7;
  carom_builder_add_joint(builder, &def);
  return finish_world(builder);
}

// An arm that swings freely reaches its stop when it must; the impulse along the limit's row, taken through the joint,
// turns its rate round by e.
// Honours limits and latches; far from them it moves as the variational integrator does.
static carom_stepper *exact_stepper(const world *w) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "exact";
  return stepper_by(w, &options);
}

TEST(limit_as_frictionless_contact) {
  world w = limited_arm();
  carom_joints *joints = new_joints(&w);
  carom_stepper *stepper = exact_stepper(&w);
  carom_joint_limit limit[2];
  carom_error error;
  REQUIRE(carom_joints_limit_capacity(w.model) == 2);
  CHECK(carom_joints_limits(w.model, w.state, 0.1, limit) == 0);
  REQUIRE(carom_joints_limits(w.model, w.state, INFINITY, limit) == 2);
  CHECK_NEAR(limit[0].gap, 0.5, 1e-15);
  CHECK_NEAR(limit[1].gap, 0.3, 1e-15);
  run_steps(stepper, w.state, 180);  // 0.27 rad at 1.5 rad/s
  REQUIRE(carom_joints_limits(w.model, w.state, 0.1, limit) == 1);
  CHECK(limit[0].upper && limit[0].turn && limit[0].restitution == 0.7);
  CHECK_NEAR(limit[0].gap, 0.03, 1e-4);
  // M_c^-1 along the row: about the hinge the arm has J = 0.5 + 2.
  carom_vec3 p = limit[0].row.linear[1], l = limit[0].row.angular[1];
  REQUIRE(carom_joints_project(joints, w.state, &p, &l, NULL, &error) == CAROM_OK);
  carom_vec3 v = cm_scale(0.5, p), spin = cm_vec3(0, 0, l.z / 0.5);
  double response = cm_dot(limit[0].row.linear[1], v) + cm_dot(limit[0].row.angular[1], spin);
  CHECK_NEAR(response, 1 / 2.5, 1e-12);
  double rate = cm_dot(limit[0].row.angular[1], carom_state_angular_velocity(w.model, w.state, 0));
  double impulse = -(1 + 0.7) * rate / response;
  w.state->p[0] = cm_axpy(w.state->p[0], impulse, p);
  w.state->l[0] = cm_axpy(w.state->l[0], impulse, l);
  CHECK_NEAR(carom_state_angular_velocity(w.model, w.state, 0).z, -0.7 * 1.5, 1e-6);
  CHECK_AT_MOST(worst_rate(&w, w.state->p, w.state->l), 1e-13);
  carom_stepper_destroy(stepper);
  carom_joints_destroy(joints);
  free_world(&w);
}

// ---- latches -------------------------------------------------------------------------------------------------------

// A block that pivots about one foot lands on the other: Pekarek's wedge (2010, 4.5) with half-width a and the centre
// of mass at height b. Angular momentum about the new foot stays; the ratio of the rates follows.
static world rocking_block(double a, double b, double rate) {
  carom_builder *builder = new_builder();
  carom_body_def ground = carom_body_default();
  ground.fixed = true;
  carom_builder_add_body(builder, &ground);
  carom_body_def block = inert_body(2, cm_vec3(0.5, 0.11, 0.5));
  block.pose.p = cm_vec3(a, 0, b);
  block.angular_velocity = cm_vec3(0, rate, 0);
  block.velocity = cm_cross(block.angular_velocity, cm_vec3(a, 0, b));
  carom_builder_add_body(builder, &block);
  for (int foot = 0; foot < 2; foot++) {
    carom_joint_def def = carom_joint_default();
    def.kind = CAROM_JOINT_REVOLUTE;
    def.body[0] = 0, def.body[1] = 1;
    def.axis[0] = cm_vec3(0, 1, 0);
    def.point[0] = cm_vec3(foot ? 2 * a : 0, 0, 0);
    def.point[1] = cm_vec3(foot ? a : -a, 0, -b);
    def.latch = true;
    def.engaged = foot == 0;
    def.releases = 1 - foot;
    carom_builder_add_joint(builder, &def);
  }
  return finish_world(builder);
}

TEST(transition_of_feet) {
  double a = 0.2, b = 0.3, J = 0.11, m = 2;
  world w = rocking_block(a, b, 1);
  carom_joints *joints = new_joints(&w);
  carom_error error;
  CHECK_NEAR(carom_state_angular_velocity(w.model, w.state, 1).y, 1, 1e-14);
  carom_vec3 contact = cm_vec3(2 * a + 1e-3, 0, 0);
  int latch = carom_joints_find_latch(w.model, w.state, 1, 0, contact);
  REQUIRE(latch == 1);
  uint64_t before = carom_state_hash(w.state);
  carom_joints_gain(w.model, w.state, latch, cm_vec3(2 * a, 0, 0));
  CHECK(carom_state_hash(w.state) != before);
  CHECK(w.state->joints[0].active == 0 && w.state->joints[1].active == 1);
  CHECK(carom_joints_find_latch(w.model, w.state, 0, 1, contact) == 0);  // and back again
  CHECK(carom_joints_hold(w.model, w.state, 0, 1));
  REQUIRE(carom_joints_project(joints, w.state, w.state->p, w.state->l, NULL, &error) == CAROM_OK);
  double expected = (J + m * (b * b - a * a)) / (J + m * (a * a + b * b));
  CHECK_NEAR(carom_state_angular_velocity(w.model, w.state, 1).y, expected, 1e-13);
  carom_joints_destroy(joints);
  free_world(&w);
}

// Records travel with clones, copies and hashes; steps go on from a gained joint.
TEST(joint_records_in_states) {
  world w = rocking_block(0.2, 0.3, 1);
  carom_state *copy = NULL;
  carom_error error;
  REQUIRE(carom_state_clone(w.state, NULL, &copy, &error) == CAROM_OK);
  CHECK(copy->joint_count == 2 && carom_state_hash(copy) == carom_state_hash(w.state));
  carom_joints_gain(w.model, w.state, 1, cm_vec3(0.4, 0, 0.01));
  CHECK(copy->joints[1].active == 0 && carom_state_hash(copy) != carom_state_hash(w.state));
  carom_state_copy(copy, w.state);
  CHECK(copy->joints[1].active == 1 && carom_state_hash(copy) == carom_state_hash(w.state));
  carom_joints_drop(copy, 1);
  CHECK(carom_state_hash(copy) != carom_state_hash(w.state) && !carom_joints_any(w.model, copy));
  carom_stepper *stepper = exact_stepper(&w);
  run_steps(stepper, w.state, 100);
  carom_vec3 anchor = cm_add(w.state->x[1], cm_rotate(w.state->q[1], w.state->joints[1].frame[1].p));
  CHECK_AT_MOST(cm_norm(cm_sub(anchor, cm_vec3(0.4, 0, 0.01))), 1e-13);
  carom_stepper_destroy(stepper);
  carom_state_destroy(copy);
  free_world(&w);
}

// A fixed latch makes a plastic pair: momentum stays, both go on as one.
TEST(fixed_latch_is_plastic) {
  carom_builder *builder = new_builder();
  for (int i = 0; i < 2; i++) {
    carom_body_def body = inert_body(1, cm_vec3(0.1, 0.1, 0.1));
    body.pose = cm_pose(cm_vec3(i, 0, 0), i ? cm_quat(0.8, 0, 0.6, 0) : cm_qidentity());
    body.velocity = cm_vec3(i ? 0 : 0.5, 0, 0);
    carom_builder_add_body(builder, &body);
  }
  carom_joint_def def = carom_joint_default();
  def.kind = CAROM_JOINT_FIXED;
  def.body[0] = 0, def.body[1] = 1;
  def.latch = true;
  carom_builder_add_joint(builder, &def);
  world w = finish_world(builder);
  carom_joints *joints = new_joints(&w);
  carom_error error;
  CHECK(w.model->apart_count == 0);
  CHECK_NEAR(w.state->p[0].x, 0.5, 0);
  carom_joints_gain(w.model, w.state, 0, cm_vec3(0.5, 0, 0));
  CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-15);
  REQUIRE(carom_joints_project(joints, w.state, w.state->p, w.state->l, NULL, &error) == CAROM_OK);
  for (int i = 0; i < 2; i++) CHECK_NEAR(carom_state_velocity(w.model, w.state, i).x, 0.25, 1e-14);
  carom_joints_destroy(joints);
  free_world(&w);
}

// ---- builder -------------------------------------------------------------------------------------------------------

TEST(joints_keep_their_bodies_apart) {
  carom_random r = carom_random_make(1, 1);
  carom_builder *builder = new_builder();
  for (int i = 0; i < 3; i++) {
    carom_body_def body = random_body(&r);
    carom_builder_add_body(builder, &body);
  }
  carom_joint_def def = random_joint(&r, CAROM_JOINT_SPHERICAL, 0, 1);
  CHECK(carom_builder_add_joint(builder, &def) == 0);
  def.body[0] = 2, def.collide = true;
  CHECK(carom_builder_add_joint(builder, &def) == 1);
  world w = finish_world(builder);
  REQUIRE(w.model->apart_count == 1);
  CHECK(w.model->aparts[0].body[0] == 0 && w.model->aparts[0].body[1] == 1);
  CHECK(carom_model_find_joint(w.model, "joint1") == 1 && carom_model_find_joint(w.model, "elbow") == -1);
  CHECK(carom_joints_hold(w.model, w.state, 1, 0) && !carom_joints_hold(w.model, w.state, 1, 2));
  free_world(&w);
}

TEST(memory_for_joints_runs_out) {
  world w = random_tree(6, 3, true);
  for (int allowed = 0;; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_joints *joints = NULL;
    carom_error error;
    carom_status status = carom_joints_create(w.model, &a, &joints, &error);
    if (status == CAROM_OK) {
      int calls = f.calls;
      REQUIRE(carom_joints_project(joints, w.state, w.state->p, w.state->l, NULL, &error) == CAROM_OK);
      CHECK(f.calls == calls);
      carom_joints_destroy(joints);
    }
    CHECK(f.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
  }
  free_world(&w);
}

// The world without joints: everything does nothing.
TEST(no_joints) {
  world w = random_cloud(3, 1);
  carom_joints *joints = new_joints(&w);
  carom_error error;
  uint64_t before = carom_state_hash(w.state);
  CHECK(carom_joints_project(joints, w.state, w.state->p, w.state->l, NULL, &error) == CAROM_OK);
  CHECK(carom_state_hash(w.state) == before);
  CHECK(carom_joints_drift(w.model, w.state) == 0 && joints_freedoms(joints, w.state) == 18);
  carom_joints_destroy(joints);
  free_world(&w);
}
