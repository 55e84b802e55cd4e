// The audit as an accountant: it is handed states and reports made up here, so that every error is known beforehand.
#include "fixtures.h"

static carom_audit *new_audit(const world *w) {
  carom_audit *audit = NULL;
  if (carom_audit_create(w->model, w->state, NULL, &audit, NULL) != CAROM_OK) abort();
  return audit;
}

static const carom_verdict_row *row(const carom_verdict *verdict, const char *key) {
  for (int i = 0; i < verdict->count; i++)
    if (strcmp(verdict->rows[i].key, key) == 0) return &verdict->rows[i];
  abort();
}

// One body of mass 2 at (1, 0, 0) that moves with 3 m/s along y and spins with 4 kg m2/s about z. Kinetic energy 9 + 1.
// When `pushed`, there is a force that may do work.
static world spinner_with(bool pushed) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(2, cm_vec3(8, 8, 8));
  def.pose.p = cm_vec3(1, 0, 0), def.velocity = cm_vec3(0, 3, 0), def.angular_velocity = cm_vec3(0, 0, 0.5);
  carom_builder_add_body(b, &def);
  carom_force_def force = carom_force_default();
  force.body = 0;
  if (pushed) carom_builder_add_force(b, &force);
  return finish_world(b);
}

static world spinner(void) { return spinner_with(false); }

// To a time, as the velocities of both ends say.
static void carry(const world *w, carom_vec3 velocity_before, double time) {
  double dt = time - w->state->time;
  carom_vec3 v = cm_add(velocity_before, carom_state_velocity(w->model, w->state, 0));
  w->state->x[0] = cm_axpy(w->state->x[0], 0.5 * dt, v);
  carom_vec3 spin = carom_state_angular_velocity(w->model, w->state, 0);
  w->state->q[0] = cm_qmul(cm_exp(cm_scale(dt, spin)), w->state->q[0]);
  w->state->time = time;
}

static void end_world(world *w, carom_audit *audit) {
  carom_audit_destroy(audit);
  free_world(w);
}

TEST(balances_are_those_of_the_textbook) {
  world w = spinner();
  CHECK_NEAR(carom_kinetic_energy(w.model, w.state), 10, 1e-14);
  CHECK(carom_potential_energy(w.model, w.state) == 0);
  CHECK_NEAR(carom_linear_momentum(w.model, w.state).y, 6, 1e-15);
  CHECK_NEAR(carom_angular_momentum(w.model, w.state).z, 6 + 4, 1e-14);
  free_world(&w);
}

TEST(the_start_is_free_of_error) {
  world w = spinner();
  w.state->time = 5;
  carom_audit *audit = new_audit(&w);
  carom_audit_sample s = carom_audit_latest(audit);
  CHECK(s.time == 5 && s.energy_error == 0 && s.momentum_error == 0 && s.angular_momentum_error == 0 && s.work == 0);
  CHECK_NEAR(s.energy, 10, 1e-14);
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK(!v.pass && v.outcome == CAROM_VERDICT_INCOMPLETE && strstr(v.reason, "not a step") && v.count >= 4);
  for (int i = 0; i < v.count; i++) {
    CHECK(v.rows[i].pass && v.rows[i].value == 0 && v.rows[i].label && v.rows[i].note);
    for (int j = 0; j < i; j++) CHECK(strcmp(v.rows[i].key, v.rows[j].key) != 0);
  }
  end_world(&w, audit);
}

// p grows by 1 in y without anybody reporting an impulse: |dp| = 1 over a scale of 7, dL = 1 over 7 + 4, and
// dE = (49 - 36)/4 over a kinetic energy of 13.25.
TEST(errors_are_relative_to_the_largest_seen) {
  world w = spinner();
  carom_audit *audit = new_audit(&w);
  carom_step_report nothing = {.step = 1};
  w.state->p[0].y = 7, w.state->time = 1;
  carom_audit_step(audit, w.state, &nothing);
  carom_audit_sample s = carom_audit_latest(audit);
  CHECK_NEAR(s.momentum_error, 1.0 / 7, 1e-14);
  CHECK_NEAR(s.angular_momentum_error, 1.0 / 11, 1e-14);
  CHECK_NEAR(s.energy_error, 3.25 / 13.25, 1e-14);
  w.state->p[0].y = 6, w.state->time = 2;  // back again: the latest error is gone, the worst stays
  carom_audit_step(audit, w.state, &nothing);
  s = carom_audit_latest(audit);
  CHECK(s.momentum_error == 0 && s.energy_error == 0);
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK_NEAR(row(&v, "momentum")->value, 1.0 / 7, 1e-14);
  CHECK_NEAR(row(&v, "angular_momentum")->value, 1.0 / 11, 1e-14);
  CHECK_NEAR(row(&v, "energy")->value, 3.25 / 13.25, 1e-14);
  CHECK(!v.pass);
  end_world(&w, audit);
}

TEST(reported_work_and_impulses_explain_the_change) {
  world w = spinner_with(true);
  carom_audit *audit = new_audit(&w);
  for (int i = 1; i <= 100; i++) {  // a push of 0.01 N s per step in y through the centre
    double before = w.state->p[0].y, after = before + 0.01;
    carom_step_report report = {.step = 0.1, .impulse = cm_vec3(0, 0.01, 0), .angular_impulse = cm_vec3(0, 0, 0.01)};
    report.work = (after * after - before * before) / 4;
    carom_vec3 v = carom_state_velocity(w.model, w.state, 0);
    w.state->p[0].y = after;
    carry(&w, v, 0.1 * i);
    report.angular_impulse = cm_vec3(0, 0, 0.01);
    carom_audit_step(audit, w.state, &report);
  }
  carom_audit_sample s = carom_audit_latest(audit);
  CHECK_NEAR(s.work, (49 - 36) / 4.0, 1e-12);
  CHECK_NEAR(s.momentum.y, 7, 1e-12);
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK(v.pass);
  for (int i = 0; i < v.count; i++) CHECK_AT_MOST(v.rows[i].value, 1e-13);
  end_world(&w, audit);
}

// The energy error is a t plus a swing that is forty times as high: the trend row must see a t alone.
TEST(a_known_drift_is_measured_through_the_noise) {
  world w = spinner();
  carom_audit *audit = new_audit(&w);
  double duration = 200, drift = 1e-3, swing = 0.04, pi = acos(-1);
  for (int i = 1; i <= 20000; i++) {
    double t = duration * i / 20000, error = drift * t / duration + swing * sin(2 * pi * t);
    w.state->time = t;
    w.state->p[0].y = sqrt(4 * (9 + error));
    carom_step_report report = {.step = 0.01, .impulse = cm_zero3()};
    carom_audit_step(audit, w.state, &report);
  }
  carom_verdict v = carom_audit_judge(audit, NULL);
  // A sine over 200 whole periods leaves a slope of 6/(pi 200) of its height, 0.0004: allow for it.
  CHECK_NEAR(row(&v, "energy_drift")->value * 10, drift, 5e-4);
  CHECK_NEAR(row(&v, "energy")->value, (swing + drift) / 10, 2e-4);
  CHECK(!row(&v, "momentum")->pass);
  end_world(&w, audit);
}

TEST(a_pure_drift_is_measured_exactly) {
  world w = spinner();
  w.state->time = 3;
  carom_audit *audit = new_audit(&w);
  for (int i = 1; i <= 1000; i++) {
    w.state->time = 3 + 0.1 * i;
    w.state->l[0].z = sqrt(2 * 8 * (1 - 0.5 * i / 1000));  // loses half a joule of ten
    carom_step_report report = {.step = 0.1, .impulse = cm_zero3()};
    carom_audit_step(audit, w.state, &report);
  }
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK_NEAR(row(&v, "energy_drift")->value, 0.05, 1e-12);
  CHECK_NEAR(carom_audit_latest(audit).energy_error, -0.05, 1e-14);
  end_world(&w, audit);
}

// ---- numbers that are not numbers --------------------------------------------------------------------------------

// One bad step among good ones; every row that it touches must fail at the end, however good the rest was.
static carom_verdict verdict_after(void (*spoil)(carom_state *, carom_step_report *)) {
  world w = spinner();
  carom_audit *audit = new_audit(&w);
  carom_state *start = NULL;
  if (carom_state_clone(w.state, NULL, &start, NULL) != CAROM_OK) abort();
  for (int i = 1; i <= 10; i++) {
    carom_step_report report = {.step = 0.1, .impulse = cm_zero3()};
    carom_state_copy(w.state, start);
    carry(&w, carom_state_velocity(w.model, w.state, 0), 0.1 * i);
    if (i == 5) spoil(w.state, &report);
    carom_audit_step(audit, w.state, &report);
  }
  carom_verdict v = carom_audit_judge(audit, NULL);
  carom_state_destroy(start);
  end_world(&w, audit);
  return v;
}

static void spoil_momentum(carom_state *state, carom_step_report *report) { (void)report, state->p[0].x = NAN; }
static void spoil_spin(carom_state *state, carom_step_report *report) { (void)report, state->l[0].x = NAN; }
static void spoil_position(carom_state *state, carom_step_report *report) { (void)report, state->x[0].x = NAN; }
static void spoil_work(carom_state *state, carom_step_report *report) { (void)state, report->work = NAN; }
static void spoil_impulse(carom_state *state, carom_step_report *report) { (void)state, report->impulse.z = NAN; }
static void overflow(carom_state *state, carom_step_report *report) { (void)report, state->p[0].y = INFINITY; }
static void spoil_nothing(carom_state *state, carom_step_report *report) { (void)state, (void)report; }

TEST(one_nan_spoils_the_verdict_for_good) {
  carom_verdict v = verdict_after(spoil_nothing);
  CHECK(v.pass);
  v = verdict_after(spoil_momentum);
  CHECK(!v.pass && !row(&v, "energy")->pass && !row(&v, "energy_drift")->pass && !row(&v, "momentum")->pass &&
        !row(&v, "angular_momentum")->pass);
  CHECK(isnan(row(&v, "momentum")->value));
  v = verdict_after(spoil_spin);
  CHECK(!v.pass && !row(&v, "energy")->pass && row(&v, "momentum")->pass && !row(&v, "angular_momentum")->pass);
  v = verdict_after(spoil_position);
  CHECK(!v.pass && !row(&v, "angular_momentum")->pass && row(&v, "momentum")->pass);
  v = verdict_after(spoil_work);
  CHECK(!v.pass && !row(&v, "energy")->pass && row(&v, "momentum")->pass);
  v = verdict_after(spoil_impulse);
  CHECK(!v.pass && !row(&v, "momentum")->pass && row(&v, "energy")->pass);
  v = verdict_after(overflow);
  CHECK(!v.pass && !row(&v, "energy")->pass && !row(&v, "momentum")->pass);
}

// ---- verdicts ------------------------------------------------------------------------------------------------------

TEST(nothing_at_rest_passes) {
  world none = finish_world(new_builder());
  carom_audit *audit = new_audit(&none);
  carom_step_report report = {.step = 1};
  none.state->time = 1;
  carom_audit_step(audit, none.state, &report);
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK(v.pass && row(&v, "energy")->value == 0);
  end_world(&none, audit);

  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  carom_builder_add_body(b, &def);
  world still = finish_world(b);
  audit = new_audit(&still);
  carom_stepper *stepper = new_stepper(&still, 0.1, CAROM_QUADRATURE_ENDPOINT);
  for (int i = 0; i < 10; i++) {
    REQUIRE(carom_stepper_step(stepper, still.state, &report, NULL) == CAROM_OK);
    carom_audit_step(audit, still.state, &report);
  }
  v = carom_audit_judge(audit, NULL);
  CHECK(v.pass);
  for (int i = 0; i < v.count; i++) CHECK(v.rows[i].value == 0);
  carom_stepper_destroy(stepper);
  end_world(&still, audit);
}

TEST(motion_out_of_nothing_fails) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  carom_builder_add_body(b, &def);
  world w = finish_world(b);
  carom_audit *audit = new_audit(&w);
  w.state->p[0].x = 1e-30, w.state->time = 1;  // however little: all of it is error
  carom_step_report report = {.step = 1};
  carom_audit_step(audit, w.state, &report);
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK(!v.pass && !row(&v, "momentum")->pass && !row(&v, "energy")->pass);
  CHECK_NEAR(row(&v, "momentum")->value, 1, 1e-14);
  end_world(&w, audit);
}

TEST(bounds_decide) {
  world w = spinner();
  carom_audit *audit = new_audit(&w);
  carom_step_report nothing = {.step = 1};
  w.state->p[0].y = 7, w.state->time = 1;
  carom_audit_step(audit, w.state, &nothing);
  carom_audit_bounds wide = {.energy = 0.5,
                             .energy_drift = 0.5,
                             .energy_made = 0.5,
                             .dissipation = 0.5,
                             .momentum = 0.5,
                             .angular_momentum = 0.5,
                             .body_momentum = 0.5,
                             .position = 50};
  CHECK(carom_audit_judge(audit, &wide).pass);
  static const char *const keys[] = {"energy", "energy_drift", "momentum", "angular_momentum"};
  for (int i = 0; i < 4; i++) {
    carom_audit_bounds b = wide;
    double *fields[] = {&b.energy, &b.energy_drift, &b.momentum, &b.angular_momentum};
    carom_verdict all = carom_audit_judge(audit, &wide);
    *fields[i] = row(&all, keys[i])->value;
    CHECK(carom_audit_judge(audit, &b).pass);  // exactly at the bound is a pass
    *fields[i] = nextafter(*fields[i], 0);
    carom_verdict v = carom_audit_judge(audit, &b);
    CHECK(!v.pass);
    for (int k = 0; k < 4; k++) CHECK(row(&v, keys[k])->pass == (k != i));
    CHECK(row(&v, keys[i])->bound == *fields[i]);
    CHECK(strstr(v.reason, row(&v, keys[i])->label) && strstr(row(&v, "position")->where, "widened by the scene from"));
  }
  end_world(&w, audit);
}

TEST(gravity_has_its_zero_at_the_origin) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(3, cm_vec3(1, 1, 1));
  def.pose.p = cm_vec3(0, 0, 2);
  carom_builder_add_body(b, &def);
  carom_body_def fixed = carom_body_default();
  fixed.fixed = true, fixed.pose.p = cm_vec3(0, 0, 100);
  carom_builder_add_body(b, &fixed);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -10));
  world w = finish_world(b);
  CHECK_NEAR(carom_potential_energy(w.model, w.state), 60, 1e-13);
  free_world(&w);
}

// A step that fails leaves the state as it was; whoever judges then must not hear that all is well.
TEST(a_failed_step_is_no_pass) {
  world w = spinner();
  carom_audit *audit = new_audit(&w);
  carom_stepper *stepper;
  carom_step_options o = carom_step_default_options();
  carom_step_report report;
  carom_error error = {0};
  o.integrator = "variational", o.step = 0.01, o.nothing_meets = true;
  REQUIRE(carom_stepper_create(w.model, &o, NULL, &stepper, &error) == CAROM_OK);
  for (int i = 0; i < 3; i++) {
    CHECK(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK && report.status == CAROM_OK);
    carom_audit_step(audit, w.state, &report);
  }
  CHECK(carom_audit_judge(audit, NULL).pass);
  carom_vec3 l = w.state->l[0];
  w.state->l[0] = cm_vec3(1e9, 2e9, 3e9);
  uint64_t hash = carom_state_hash(w.state);
  CHECK(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_ERR_NUMBER && report.status == CAROM_ERR_NUMBER);
  CHECK(carom_state_hash(w.state) == hash);
  w.state->l[0] = l;
  carom_audit_step(audit, w.state, &report);
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK(!v.pass && v.outcome == CAROM_VERDICT_INCOMPLETE);
  CHECK_CONTAINS(v.reason, "a step failed at t = 0.03 s");
  CHECK(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
  carom_audit_step(audit, w.state, &report);
  CHECK(!carom_audit_judge(audit, NULL).pass);  // for good
  carom_stepper_destroy(stepper);
  end_world(&w, audit);
}

// Where states enter, those that are none are refused by name.
TEST(states_that_are_not_finite_are_refused) {
  world w = spinner();
  carom_audit *audit = NULL;
  carom_stepper *stepper;
  carom_step_options o = carom_step_default_options();
  o.integrator = "variational", o.nothing_meets = true;
  REQUIRE(carom_stepper_create(w.model, &o, NULL, &stepper, NULL) == CAROM_OK);
  double *numbers[] = {&w.state->time,   &w.state->x[0].y, &w.state->q[0].w,
                       &w.state->q[0].z, &w.state->p[0].x, &w.state->l[0].z};
  static const char *const fields[] = {"time", "position", "quaternion", "quaternion", "momentum", "angular momentum"};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 2; k++) {
      carom_error error = {0};
      double kept = *numbers[i];
      *numbers[i] = k ? NAN : -INFINITY;
      uint64_t hash = carom_state_hash(w.state);
      CHECK(carom_state_check(w.model, w.state, &error) == CAROM_ERR_NUMBER);
      CHECK_CONTAINS(error.message, fields[i]);
      if (i > 0) CHECK_CONTAINS(error.message, w.model->bodies[0].name);
      CHECK(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_ERR_NUMBER);
      CHECK(carom_audit_create(w.model, w.state, NULL, &audit, &error) == CAROM_ERR_NUMBER && !audit);
      CHECK(carom_step_check_start(w.model, w.state, &o, &error) == CAROM_ERR_NUMBER);
      CHECK(carom_state_hash(w.state) == hash);
      *numbers[i] = kept;
    }
  w.state->q[0] = cm_quat(0, 0, 0, 0);
  CHECK(carom_state_check(w.model, w.state, NULL) == CAROM_ERR_NUMBER);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
