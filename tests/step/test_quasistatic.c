// The integrator `quasistatic`: pushes against closed forms and against `moreau` with next to no mass, supports, slots,
// jams, scales, and what it refuses.
#include "carom/carom.h"
#include "failing_allocator.h"
#include "fixtures.h"
#include "heap_counter.h"
#include "pushes.h"

static carom_step_options options_of(double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = "quasistatic";
  o.step = h;
  return o;
}

static void run_for(const world *w, double h, double duration) {
  carom_step_options o = options_of(h);
  carom_stepper *stepper = stepper_by(w, &o);
  run_steps(stepper, w->state, (int)lround(duration / h));
  carom_stepper_destroy(stepper);
}

static double angle_of(const carom_state *state, int body) { return cm_log(state->q[body]).z; }

// ---- one probe, its path --------------------------------------------------------------------------------------------

// The part under a frictionless probe below it, by the closed form of its rates and Runge and Kutta's method; units.
static void rates(const push_world *p, const double s[3], double t, double d[3]) {
  double l2 = (p->a * p->a + p->b * p->b) / 12, c = cos(s[2]), sn = sin(s[2]);
  double dx = p->x[0] + p->u[0] * t - s[0], dy = p->y[0] + p->v[0] * t - s[1];
  double r = c * dx + sn * dy, n[2] = {-sn, c}, vn = n[0] * p->u[0] + n[1] * p->v[0], v = vn * l2 / (l2 + r * r);
  d[0] = v * n[0], d[1] = v * n[1], d[2] = vn * r / (l2 + r * r);
}

static void integrate(const push_world *p, double duration, int steps, double s[3]) {
  double h = duration / steps, k[4][3], m[3];
  static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  for (int i = 0; i < steps; i++) {
    for (int j = 0; j < 4; j++) {
      for (int a = 0; a < 3; a++) m[a] = s[a] + (j > 0 ? part[j] * h * k[j - 1][a] : 0);
      rates(p, m, (i + part[j]) * h, k[j]);
    }
    for (int a = 0; a < 3; a++)
      for (int j = 0; j < 4; j++) s[a] += h * weight[j] * k[j][a];
  }
}

static double path_error(const push_world *p, double h, double duration, const double truth[3]) {
  world w = push_world_make(p);
  run_for(&w, h, duration);
  double error = hypot(w.state->x[0].x / p->unit - truth[0], w.state->x[0].y / p->unit - truth[1]);
  error += fabs(angle_of(w.state, 0) - truth[2]);
  free_world(&w);
  return error;
}

TEST(a_push_follows_its_closed_form_to_first_order) {
  push_world p = push_world_default();
  p.mu = 0, p.probes = 1, p.x[0] = 0.5, p.y[0] = -0.4 - p.radius, p.u[0] = 0.01, p.v[0] = 0.05;
  double truth[3] = {0}, error[4];
  integrate(&p, 5, 4000, truth);
  REQUIRE(truth[2] > 0.2);  // it turns well
  for (int i = 0; i < 4; i++) error[i] = path_error(&p, 0.1 / (1 << i), 5, truth);
  for (int i = 0; i < 3; i++) CHECK_NEAR(error[i] / error[i + 1], 2, 0.15);
  CHECK_AT_MOST(error[3], 1e-3);
}

// ---- against a body with inertia ------------------------------------------------------------------------------------

static const double spots[3][2] = {{-0.6, -0.3}, {0.7, -0.2}, {0.1, 0.35}}, dampings[3] = {1e-3, 0.5e-3, 2e-3};

static void put_three_points(carom_builder *b, int body, double unit) {
  carom_support_def support = carom_support_default();
  carom_support_point points[3];
  for (int i = 0; i < 3; i++)
    points[i] = (carom_support_point){cm_vec3(spots[i][0] * unit, spots[i][1] * unit, 0), dampings[i]};
  support.body = body, support.points = points, support.point_count = 3;
  carom_builder_add_support(b, &support);
}

// Two dampers to far away at every spot resist its velocity as oil does.
static void put_far_dampers(carom_builder *b, int body, double unit) {
  double far = 1e4 * unit;
  for (int i = 0; i < 6; i++) {
    carom_spring_def s = carom_spring_default();
    carom_vec3 at = cm_vec3(spots[i / 2][0] * unit, spots[i / 2][1] * unit, 0);
    s.body[0] = body, s.point[0] = at, s.damping = dampings[i / 2];
    s.body[1] = CAROM_WORLD, s.point[1] = cm_add(at, i % 2 ? cm_vec3(0, far, 0) : cm_vec3(far, 0, 0));
    carom_builder_add_spring(b, &s);
  }
}

static world damped_world(const push_world *p, double mass) {
  carom_builder *b = push_builder(p);
  double u = p->unit;
  carom_body_def def = carom_body_default();
  def.mass = mass > 0 ? mass : 1;
  int part = put_shape(b, def, box_shape(p->a * u, p->b * u, 0.2 * u));
  if (mass > 0)
    put_far_dampers(b, part, u);
  else
    put_three_points(b, part, u);
  put_probes(b, p);
  return finish_world(b);
}

TEST(moreau_with_next_to_no_mass_does_the_same) {
  push_world p = push_world_default();
  p.unit = 1, p.probes = 1, p.radius = 0.05;
  p.x[0] = 0.3, p.y[0] = -0.4 - p.radius, p.u[0] = -0.02, p.v[0] = 0.05;
  world still = damped_world(&p, 0);
  run_for(&still, 0.01, 4);
  double off[2];
  for (int k = 0; k < 2; k++) {
    world w = damped_world(&p, k == 0 ? 1e-3 : 1e-6);
    carom_step_options o = options_of(0.01);
    o.integrator = "moreau";
    carom_stepper *stepper = stepper_by(&w, &o);
    run_steps(stepper, w.state, 400);
    off[k] = cm_norm(cm_sub(w.state->x[0], still.state->x[0])) + fabs(angle_of(w.state, 0) - angle_of(still.state, 0));
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  REQUIRE(fabs(angle_of(still.state, 0)) > 0.05);
  CHECK_AT_MOST(off[1], 2e-4);  // of the step and of anchors at 1e4
  CHECK(off[0] > 3 * off[1]);
  free_world(&still);
}

TEST(points_make_the_matrix_that_they_should) {
  push_world p = push_world_default();
  p.probes = 1, p.x[0] = 0.3, p.y[0] = -0.4 - p.radius, p.v[0] = 0.05;
  world a = damped_world(&p, 0);
  double E[9] = {0};
  for (int i = 0; i < 3; i++) {
    double c = dampings[i], x = spots[i][0] * p.unit, y = spots[i][1] * p.unit;
    E[0] += c, E[4] += c, E[8] += c * (x * x + y * y);
    E[2] -= c * y, E[6] -= c * y, E[5] += c * x, E[7] += c * x;
  }
  carom_builder *b = push_builder(&p);
  carom_support_def support = carom_support_default();
  support.body = put_part(b, &p, cm_pose_identity()), support.matrix = E, support.size = 3;
  carom_builder_add_support(b, &support);
  put_probes(b, &p);
  world w = finish_world(b);
  run_for(&a, 0.02, 5);
  run_for(&w, 0.02, 5);
  CHECK_AT_MOST(cm_norm(cm_sub(a.state->x[0], w.state->x[0])), 1e-12 * p.unit);
  CHECK_NEAR(angle_of(a.state, 0), angle_of(w.state, 0), 1e-12);
  free_world(&a);
  free_world(&w);
}

// The matrix turns with the body: a part that starts turned by any angle, pushed likewise, ends turned by that angle.
TEST(supports_turn_with_their_bodies) {
  for (int k = 0; k < 2; k++) {
    double turn = 1.1 * k, c = cos(turn), s = sin(turn);
    push_world p = push_world_default();
    p.probes = 1;
    p.x[0] = c * 0.3 + s * (0.4 + p.radius), p.y[0] = s * 0.3 - c * (0.4 + p.radius);
    p.u[0] = -s * 0.05, p.v[0] = c * 0.05;
    carom_builder *b = push_builder(&p);
    int part = put_part(b, &p, cm_pose(cm_zero3(), cm_exp(cm_vec3(0, 0, turn))));
    put_three_points(b, part, p.unit);
    put_probes(b, &p);
    world w = finish_world(b);
    run_for(&w, 0.02, 5);
    static carom_vec3 first;
    carom_vec3 end = cm_unrotate(cm_exp(cm_vec3(0, 0, turn)), w.state->x[0]);
    if (k == 0) first = end;
    CHECK_AT_MOST(cm_norm(cm_sub(end, first)), 1e-10 * p.unit);
    free_world(&w);
  }
}

// ---- scales ---------------------------------------------------------------------------------------------------------

static push_world two_probes(void) {
  push_world p = push_world_default();
  p.probes = 2;
  p.x[0] = -0.3, p.y[0] = -0.42, p.u[0] = 0.005, p.v[0] = 0.05;
  p.x[1] = 0.83, p.y[1] = 0.1, p.u[1] = -0.02, p.v[1] = 0.01;
  return p;
}

TEST(the_same_scene_in_micrometres_moves_the_same) {
  static const double units[] = {1, 1e-3, 1e-6};
  carom_vec3 first = cm_zero3();
  double turned = 0;
  for (int k = 0; k < 3; k++) {
    push_world p = two_probes();
    p.unit = units[k];
    world w = push_world_make(&p);
    run_for(&w, 0.02, 6);
    carom_vec3 x = cm_scale(1 / p.unit, w.state->x[0]);
    if (k == 0) first = x, turned = angle_of(w.state, 0);
    CHECK_AT_MOST(cm_norm(cm_sub(x, first)), 1e-8);
    CHECK_NEAR(angle_of(w.state, 0), turned, 1e-8);
    free_world(&w);
  }
  CHECK(cm_norm(first) > 0.1);
}

// ---- dry supports ---------------------------------------------------------------------------------------------------

static world dry_world(const push_world *p, double force, double torque) {
  carom_builder *b = push_builder(p);
  carom_support_def support = carom_support_default();
  support.body = put_part(b, p, cm_pose_identity());
  support.kind = CAROM_SUPPORT_DRY, support.force = force, support.torque = torque;
  carom_builder_add_support(b, &support);
  put_probes(b, p);
  return finish_world(b);
}

static double pressed(const carom_step_report *report) {
  double sum = 0;
  for (int i = 0; i < report->event_count; i++) sum += cm_norm(report->events[i].impulse) / report->step;
  return sum;
}

// With L = F^2 diag(1, 1, l^2) the path is that over oil, and forces do not depend on the speed.
TEST(a_dry_support_gives_the_path_of_oil_and_forces_of_its_own) {
  push_world p = push_world_default();
  p.probes = 1, p.x[0] = 0.3, p.y[0] = -0.4 - p.radius, p.v[0] = 0.05;
  double l = sqrt((p.a * p.a + p.b * p.b) / 12) * p.unit, force = 1e-5, first = 0;
  world oil = push_world_make(&p);
  run_for(&oil, 0.02, 5);
  for (int k = 0; k < 2; k++) {
    push_world q = p;
    q.v[0] *= 1 + k;
    world w = dry_world(&q, force, force * l);
    carom_step_options o = options_of(0.02 / (1 + k));
    carom_stepper *stepper = stepper_by(&w, &o);
    carom_step_report report = {0};
    carom_error error = {0};
    for (int i = 0; i < 250; i++) REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[0], oil.state->x[0])), 1e-9 * p.unit);
    if (k == 0) first = pressed(&report);
    CHECK(pressed(&report) > 0.1 * force && pressed(&report) < force);
    CHECK_NEAR(pressed(&report) / first, 1, 1e-6);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  free_world(&oil);
}

static world pulled_world(double pull) {
  push_world p = push_world_default();
  carom_builder *b = push_builder(&p);
  carom_support_def support = carom_support_default();
  carom_force_def f = carom_force_default();
  support.body = f.body = put_part(b, &p, cm_pose_identity());
  support.kind = CAROM_SUPPORT_DRY, support.force = 1e-5, support.torque = 1e-8;
  f.force = cm_vec3(pull, 0, 0);
  carom_builder_add_support(b, &support);
  carom_builder_add_force(b, &f);
  return finish_world(b);
}

TEST(what_a_dry_support_can_hold_rests_and_what_it_cannot_is_told) {
  world w = pulled_world(0.9e-5);
  run_for(&w, 0.02, 2);
  CHECK_AT_MOST(cm_norm(w.state->x[0]), 1e-9 * 1e-3);
  free_world(&w);
  w = pulled_world(1.1e-5);
  carom_step_options o = options_of(0.02);
  carom_stepper *stepper = stepper_by(&w, &o);
  carom_error error = {0};
  CHECK(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "more than its dry support can hold");
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// One dry part pushes another: both forces must be met together.
TEST(a_dry_part_pushes_another) {
  push_world p = push_world_default();
  p.probes = 1, p.x[0] = -0.8 - p.radius, p.u[0] = 0.05, p.mu = 0;
  carom_builder *b = push_builder(&p);
  for (int k = 0; k < 2; k++) {
    carom_support_def support = carom_support_default();
    support.body = put_part(b, &p, cm_pose(cm_vec3(1.7 * k * p.unit, 0, 0), cm_qidentity()));
    support.kind = CAROM_SUPPORT_DRY, support.force = 1e-5 * (1 + k), support.torque = 1e-8;
    carom_builder_add_support(b, &support);
  }
  put_probes(b, &p);
  world w = finish_world(b);
  carom_step_options o = options_of(0.02);
  carom_stepper *stepper = stepper_by(&w, &o);
  carom_step_report report = {0};
  carom_error error = {0};
  for (int i = 0; i < 200; i++) REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
  CHECK_NEAR(w.state->x[1].x - w.state->x[0].x, 1.6 * p.unit, 1e-9 * p.unit);
  double most = 0;
  for (int i = 0; i < report.event_count; i++) most = fmax(most, cm_norm(report.events[i].impulse) / report.step);
  CHECK_NEAR(most, 3e-5, 1e-9);  // what the probe has to give
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Where one of them is about to stick, or both slow each other down in turns, plain passes for the strains took
// hundreds or never ended: at 6.35 s, 5.9 s and 1.65 s of these pushes.
TEST(dry_parts_that_hardly_move_or_slow_each_other_down_are_pushed_on) {
  const struct {
    double mu, at, beside, force;
  } cases[] = {{0.3, 0.3, -0.3, 1.0}, {0.6, 0.3, -0.4, 2.9}, {0.3, 0.1, -0.5, 0.4}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    push_world p = push_world_default();
    p.probes = 1, p.x[0] = cases[k].at, p.y[0] = -0.42, p.v[0] = 0.05, p.mu = cases[k].mu;
    carom_builder *b = push_builder(&p);
    for (int i = 0; i < 2; i++) {
      carom_support_def support = carom_support_default();
      carom_quat turned = i == 0 ? cm_qidentity() : cm_exp(cm_vec3(0, 0, 0.25 * acos(-1)));
      carom_vec3 place = cm_vec3(i * cases[k].beside * p.unit, 1.3 * i * p.unit, 0);
      support.body = put_part(b, &p, cm_pose(place, turned));
      support.kind = CAROM_SUPPORT_DRY, support.force = 1e-5 * (i == 0 ? 1 : cases[k].force), support.torque = 4e-9;
      carom_builder_add_support(b, &support);
    }
    put_probes(b, &p);
    world w = finish_world(b);
    run_for(&w, 0.05, 8);
    CHECK(w.state->x[0].y > 0.1 * p.unit);
    free_world(&w);
  }
}

// ---- forces ---------------------------------------------------------------------------------------------------------

TEST(forces_and_weight_move_a_part_against_its_support) {
  push_world p = push_world_default();
  carom_builder *b = push_builder(&p);
  carom_body_def def = carom_body_default();
  carom_force_def f = carom_force_default();
  def.mass = 1e-6;
  f.body = put_shape(b, def, box_shape(1.6e-3, 0.8e-3, 0.2e-3));
  put_damping(b, f.body, 1e-3);
  f.force = cm_vec3(2e-8, 0, 0), f.torque = cm_vec3(0, 0, 1e-11);
  carom_builder_add_force(b, &f);
  carom_builder_set_gravity(b, cm_vec3(0, -0.01, 0));
  world w = finish_world(b);
  run_for(&w, 0.02, 2);
  double l2 = (1.6e-3 * 1.6e-3 + 0.8e-3 * 0.8e-3) / 12;
  CHECK_NEAR(w.state->x[0].x, 2 * 2e-8 / 1e-3, 1e-15);
  CHECK_NEAR(w.state->x[0].y, -2 * 1e-8 / 1e-3, 1e-15);
  CHECK_NEAR(angle_of(w.state, 0), 2 * 1e-11 / (1e-3 * l2), 1e-9);
  free_world(&w);
}

// ---- space ----------------------------------------------------------------------------------------------------------

// In space a frictionless push at r along n gives the twist E^-1 (n, r x n) scaled to the speed of the probe.
TEST(a_push_in_space_gives_the_twist_of_the_matrix) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0);
  int part = put_box(b, cm_vec3(2, 1, 0.6), cm_pose_identity(), false);
  put_damping(b, part, 3);
  carom_drive_def drive = carom_drive_default();
  drive.body = put_shape(b, fixed_body(cm_vec3(0.4, -0.5 - 0.1, 0.2), cm_qidentity()), sphere_shape(0.1));
  drive.velocity = cm_vec3(0, 0.05, 0);
  carom_builder_add_drive(b, &drive);
  world w = finish_world(b);
  carom_vec3 arm = cm_cross(cm_vec3(0.4, -0.5, 0.2), cm_vec3(0, 1, 0));
  carom_vec3 l2 = cm_scale(1.0 / 12, cm_vec3(1 + 0.36, 4 + 0.36, 4 + 1));
  carom_vec3 w1 = cm_vec3(arm.x / l2.x, 0, arm.z / l2.z);
  double f = 0.05 / (1 + arm.x * w1.x + arm.z * w1.z);
  run_for(&w, 1e-3, 1e-3);
  carom_vec3 spin = carom_state_angular_velocity(w.model, w.state, part);
  CHECK_NEAR(carom_state_velocity(w.model, w.state, part).y, f, 1e-9);
  CHECK_AT_MOST(cm_norm(cm_sub(spin, cm_scale(f, w1))), 1e-5);  // the momentum is read at the end of the step
  free_world(&w);
}

// ---- slots ----------------------------------------------------------------------------------------------------------

// A peg is pushed into a slot 40 um wider than it is; it begins off the middle, and turned.
static world slot_world(double offset, double turn, double speed) {
  push_world p = push_world_default();
  double u = p.unit, half = 0.42;
  p.probes = 2, p.mu = 0.2;
  for (int i = 0; i < 2; i++) {
    double along = i ? 0.25 : -0.25, c = cos(turn), s = sin(turn), back = 0.8 + p.radius + 1e-3;
    p.x[i] = -1.2 - c * back - s * along, p.y[i] = offset - s * back + c * along, p.u[i] = speed;
  }
  carom_builder *b = push_builder(&p);
  int peg = put_part(b, &p, cm_pose(cm_vec3(-1.2 * u, offset * u, 0), cm_exp(cm_vec3(0, 0, turn))));
  put_damping(b, peg, p.c);
  put_probes(b, &p);
  for (int side = -1; side <= 1; side += 2)
    put_box(b, cm_vec3(1.6 * u, 1 * u, 0.2 * u), cm_pose(cm_vec3(0.8 * u, side * (half + 0.5) * u, 0), cm_qidentity()),
            true);
  return finish_world(b);
}

static double run_with_overlap(const world *w, double h, int steps) {
  carom_step_options o = options_of(h);
  carom_stepper *stepper = stepper_by(w, &o);
  double deepest = 0;
  for (int i = 0; i < steps; i++) {
    carom_step_report report;
    carom_error error = {0};
    if (carom_stepper_step(stepper, w->state, &report, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "step %d: %s", i, error.message);
      break;
    }
    deepest = fmax(deepest, report.penetration);
  }
  carom_stepper_destroy(stepper);
  return deepest;
}

// There are no chamfers: it enters where its front corners do.
TEST(a_peg_enters_a_slot_of_forty_micrometres_clearance) {
  static const double offsets[] = {-0.015, 0, 0.01, 0.019}, turns[] = {-0.01, -0.005, 0, 0.005, 0.01};
  int entered = 0;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 5; k++) {
      if (fabs(offsets[i] + 0.8 * turns[k]) > 0.0195) continue;
      world w = slot_world(offsets[i], turns[k], 0.05);
      double deepest = run_with_overlap(&w, 0.02, 1600), u = 1e-3;
      CHECK_AT_MOST(deepest, 0.02e-6);
      CHECK(w.state->x[0].x > 0.35 * u);  // the front is 1.15 mm in
      CHECK_AT_MOST(fabs(w.state->x[0].y), 0.021 * u);
      entered++;
      free_world(&w);
    }
  CHECK(entered >= 12);
}

// Off by more than the clearance it stays outside: it stands at the walls' faces, or is told to be jammed there.
TEST(a_peg_beside_the_slot_stays_outside) {
  world w = slot_world(0.2, 0, 0.05);
  carom_step_options o = options_of(0.02);
  carom_stepper *stepper = stepper_by(&w, &o);
  carom_error error = {0};
  carom_status status = CAROM_OK;
  for (int i = 0; i < 1600 && status == CAROM_OK; i++) status = carom_stepper_step(stepper, w.state, NULL, &error);
  CHECK(status == CAROM_ERR_SINGULAR);
  CHECK_CONTAINS(error.message, "jammed");
  CHECK(w.state->x[0].x < -0.79e-3);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- jams -----------------------------------------------------------------------------------------------------------

static carom_status run_to_failure(const world *w, double h, int steps, carom_error *error) {
  carom_step_options o = options_of(h);
  carom_stepper *stepper = stepper_by(w, &o);
  carom_status status = CAROM_OK;
  for (int i = 0; i < steps && status == CAROM_OK; i++) status = carom_stepper_step(stepper, w->state, NULL, error);
  carom_stepper_destroy(stepper);
  return status;
}

TEST(probes_that_squeeze_a_part_are_told) {
  push_world p = push_world_default();
  p.probes = 2, p.mu = 0.3;
  for (int i = 0; i < 2; i++) {
    p.x[i] = i ? 0.05 : -0.05, p.y[i] = (i ? 1 : -1) * (0.4 + p.radius + 0.001), p.v[i] = i ? -0.05 : 0.05;
  }
  world w = push_world_make(&p);
  carom_error error = {0};
  CHECK(run_to_failure(&w, 0.02, 100, &error) == CAROM_ERR_SINGULAR);
  CHECK_CONTAINS(error.message, "crushed at t");
  CHECK_CONTAINS(error.message, "'body0' and 'body1', 'body0' and 'body2'");
  free_world(&w);
  p.x[0] = -0.2, p.x[1] = 0.2;  // beyond the cone, d/L > mu: the part turns between them
  w = push_world_make(&p);
  CHECK(run_to_failure(&w, 0.02, 20, &error) == CAROM_OK);
  CHECK(fabs(angle_of(w.state, 0)) > 0.01);
  free_world(&w);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

TEST(a_run_goes_on_from_a_checkpoint_bit_for_bit) {
  push_world p = two_probes();
  world w = push_world_make(&p), v = push_world_make(&p);
  carom_step_options o = options_of(0.02);
  carom_stepper *one = stepper_by(&w, &o), *two = stepper_by(&v, &o);
  static unsigned char memory[1 << 16];
  carom_error error = {0};
  run_steps(one, w.state, 120);
  size_t size = carom_stepper_memory(one, memory, sizeof memory);
  REQUIRE(size <= sizeof memory);
  carom_state_copy(v.state, w.state);
  REQUIRE(carom_stepper_recall(two, memory, size, &error) == CAROM_OK);
  run_steps(one, w.state, 150);
  run_steps(two, v.state, 150);
  CHECK(carom_state_hash(w.state) == carom_state_hash(v.state));
  carom_stepper_destroy(one);
  carom_stepper_destroy(two);
  free_world(&w);
  free_world(&v);
}

// A step in which a part would turn far is taken in parts, as if it had been asked for in these parts.
TEST(a_step_that_turns_too_far_is_taken_in_parts) {
  push_world p = push_world_default();
  p.probes = 1, p.mu = 0, p.x[0] = 0.75, p.y[0] = -0.4 - p.radius, p.v[0] = 0.05;
  world w = push_world_make(&p);
  carom_step_options o = options_of(4);
  carom_stepper *stepper = stepper_by(&w, &o);
  carom_step_report report;
  carom_error error = {0};
  REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
  CHECK(report.halvings > 0);
  CHECK_AT_MOST(report.penetration, 5e-4 * 2 * p.radius * p.unit);
  carom_stepper_destroy(stepper);
  world v = push_world_make(&p);
  run_for(&v, 4.0 / (1 << report.halvings), 4);
  CHECK(!memcmp(&v.state->x[0], &w.state->x[0], sizeof v.state->x[0]));
  free_world(&w);
  free_world(&v);
}

TEST(steps_allocate_nothing) {
  if (!MALLOC_COUNTED) test_skip("malloc is not counted here");
  push_world p = two_probes();
  world w = push_world_make(&p);
  carom_step_options o = options_of(0.02);
  carom_stepper *stepper = stepper_by(&w, &o);
  run_steps(stepper, w.state, 150);
  long before = heap_calls;
  run_steps(stepper, w.state, 100);
  CHECK_NEAR((double)(heap_calls - before), 0, 0);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(allocation_that_fails_loses_nothing) {
  push_world p = two_probes();
  world w = push_world_make(&p);
  bool done = false;
  for (int allowed = 0; allowed < 400 && !done; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_step_options o = options_of(0.02);
    carom_stepper *stepper = NULL;
    carom_error error = {0};
    carom_state *state = NULL;
    REQUIRE(carom_state_clone(w.state, NULL, &state, &error) == CAROM_OK);
    carom_status status = carom_stepper_create(w.model, &o, &a, &stepper, &error);
    for (int i = 0; i < 40 && status == CAROM_OK; i++) status = carom_stepper_step(stepper, state, NULL, &error);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    done = status == CAROM_OK;
    carom_stepper_destroy(stepper);
    carom_state_destroy(state);
    CHECK(f.live == 0);
  }
  CHECK(done);
  free_world(&w);
}

// ---- random pushes --------------------------------------------------------------------------------------------------

// Probes come from anywhere at a part between two walls; what can be done passes the audit, what cannot is told.
TEST(random_pushes_pass_the_audit) {
  carom_random r = carom_random_make(11, 0);
  int done = 0, failed = 0, parts = 0;
  for (int k = 0; k < 60; k++) {
    push_world p = push_world_default();
    p.unit = pow(10, carom_random_between(&r, -6, 0));
    p.mu = carom_random_between(&r, 0, 0.8), p.probes = 2;
    for (int i = 0; i < 2; i++) {
      double from = carom_random_between(&r, -3, 3);
      p.x[i] = 1.2 * cos(from), p.y[i] = 1.2 * sin(from);
      p.u[i] = -0.05 * cos(from) + carom_random_between(&r, -0.03, 0.03);
      p.v[i] = -0.05 * sin(from) + carom_random_between(&r, -0.03, 0.03);
    }
    carom_builder *b = push_builder(&p);
    put_damping(b, put_part(b, &p, cm_pose(cm_zero3(), cm_exp(cm_vec3(0, 0, carom_random_between(&r, -1, 1))))), p.c);
    put_probes(b, &p);
    put_box(b, cm_vec3(6 * p.unit, p.unit, p.unit), cm_pose(cm_vec3(0, 1.9 * p.unit, 0), cm_qidentity()), true);
    world w = finish_world(b);
    carom_step_options o = options_of(0.05);
    carom_stepper *stepper = stepper_by(&w, &o);
    carom_audit *audit = NULL;
    carom_step_report report;
    carom_error error = {0};
    REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, &error) == CAROM_OK);
    carom_status status = CAROM_OK;
    for (int i = 0; i < 600 && status == CAROM_OK; i++) {
      status = carom_stepper_step(stepper, w.state, &report, &error);
      if (status != CAROM_OK) break;
      carom_audit_step(audit, w.state, &report);
      CHECK_AT_MOST(report.complementarity, 1e-9);
      parts += report.halvings > 0;
    }
    carom_verdict v = carom_audit_judge(audit, &(carom_audit_bounds){.integrator = "quasistatic"});
    CHECK(status == CAROM_OK || status == CAROM_ERR_SINGULAR);
    if (status != CAROM_OK && status != CAROM_ERR_SINGULAR) fprintf(stderr, "%d: %s\n", k, error.message);
    CHECK(v.outcome != CAROM_VERDICT_FAIL);
    if (v.outcome == CAROM_VERDICT_FAIL) fprintf(stderr, "%d: %s\n", k, v.reason);
    *(status == CAROM_OK ? &done : &failed) += 1;
    carom_audit_destroy(audit);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  if (getenv("CAROM_TALK")) fprintf(stderr, "%d done, %d jammed, %d steps in parts\n", done, failed, parts);
  CHECK(done >= 30);
}

// ---- what is refused ------------------------------------------------------------------------------------------------

TEST(bodies_without_a_support_are_refused) {
  push_world p = push_world_default();
  carom_builder *b = push_builder(&p);
  put_damping(b, put_part(b, &p, cm_pose_identity()), p.c);
  put_part(b, &p, cm_pose(cm_vec3(0, 5e-3, 0), cm_qidentity()));
  world w = finish_world(b);
  carom_error error = {0};
  carom_step_options o = options_of(0.02);
  CHECK(carom_step_check(w.model, &o, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "has no inertia: body 'body1' needs a support");
  free_world(&w);
}

TEST(other_integrators_refuse_supports_and_auto_finds_the_one) {
  push_world p = two_probes();
  world w = push_world_make(&p);
  carom_step_options o = carom_step_default_options();
  carom_choice choice;
  carom_error error = {0};
  for (int i = 0; carom_integrator_name(i); i++) {
    o.integrator = carom_integrator_name(i);
    if (strcmp(o.integrator, "quasistatic") == 0) continue;
    CHECK(carom_step_check(w.model, &o, &error) == CAROM_ERR_UNSUPPORTED);
    if (strcmp(o.integrator, "moreau") == 0) CHECK_CONTAINS(error.message, "supports (body 'body0')");
  }
  o.integrator = "auto";
  REQUIRE(carom_step_choose(w.model, w.state, 1, &o, &choice, &error) == CAROM_OK);
  CHECK_TEXT(choice.integrator, "quasistatic");
  free_world(&w);
}
