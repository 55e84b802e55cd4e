// Force fields: gradients, symmetry, and long runs of conservative systems with both quadratures.
#include "fixtures.h"
#include "model/fields.h"

static const carom_quadrature BOTH[2] = {CAROM_QUADRATURE_ENDPOINT, CAROM_QUADRATURE_MIDPOINT};
static const char *const QUADRATURE_NAME[2] = {"endpoint", "midpoint"};

// Bodies with charges and springs off their centres, one of them fixed, some tied to the world.
static world tangle(uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  carom_builder *b = new_builder();
  for (int i = 0; i < 4; i++) {
    carom_body_def def = inert_body(carom_random_between(&r, 0.5, 2), random_moments(&r));
    def.pose = cm_pose(random_vector(&r, 2), random_rotation(&r));
    def.center = random_vector(&r, 0.2);
    def.fixed = i == 3;
    if (!def.fixed) def.velocity = random_vector(&r, 0.5), def.angular_velocity = random_vector(&r, 0.5);
    carom_builder_add_body(b, &def);
  }
  int set = carom_builder_add_charge_set(b, 0.7, 0.3);
  for (int i = 0; i < 9; i++)
    carom_builder_add_charge(b, set, i % 5 == 4 ? CAROM_WORLD : i % 5, random_vector(&r, 1), carom_random_normal(&r));
  for (int i = 0; i < 5; i++) {
    carom_spring_def spring = carom_spring_default();
    spring.body[0] = i % 4, spring.body[1] = i == 4 ? CAROM_WORLD : (i + 1) % 4;
    spring.point[0] = random_vector(&r, 0.5), spring.point[1] = random_vector(&r, 0.5);
    spring.stiffness = carom_random_between(&r, 1, 5), spring.rest_length = carom_random_between(&r, 0.2, 1);
    carom_builder_add_spring(b, &spring);
  }
  carom_builder_set_gravity(b, cm_vec3(0.3, -0.2, -1));
  return finish_world(b);
}

typedef struct evaluation {
  carom_vec3 f[5], torque[5];
} evaluation;

static evaluation evaluate(const world *w) {
  carom_mat3 d[5], g[5];
  carom_vec3 f[5], couple[5], charge_point[9], charge_force[9];
  for (int i = 0; i < 4; i++) d[i] = cm_rotation(w->state->q[i]);
  carom_configuration c = {.x = w->state->x, .d = d};
  carom_loads loads = {f, g, couple, charge_point, charge_force};
  carom_fields_evaluate(w->model, &c, &loads);
  evaluation e;
  for (int i = 0; i < 4; i++) e.f[i] = f[i], e.torque[i] = carom_director_torque(g[i], d[i]);
  e.f[4] = f[4], e.torque[4] = cm_axial(g[4]);
  return e;
}

static double *component(carom_vec3 *v, int k) { return k == 0 ? &v->x : k == 1 ? &v->y : &v->z; }

static double potential_turned(world *w, int body, int axis, double angle) {
  carom_quat q = w->state->q[body];
  carom_vec3 e = cm_zero3();
  *component(&e, axis) = angle;
  w->state->q[body] = cm_qmul(cm_exp(e), q);
  double V = carom_fields_potential(w->model, w->state);
  w->state->q[body] = q;
  return V;
}

TEST(forces_are_gradients_of_the_potential) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    world w = tangle(seed);
    evaluation e = evaluate(&w);
    for (int body = 0; body < 4; body++)
      for (int k = 0; k < 3; k++) {
        double step = 1e-5, *x = component(&w.state->x[body], k), kept = *x;
        *x = kept + step;
        double up = carom_fields_potential(w.model, w.state);
        *x = kept - step;
        double down = carom_fields_potential(w.model, w.state);
        *x = kept;
        CHECK_NEAR(*component(&e.f[body], k), -(up - down) / (2 * step), 1e-7);
        double turn = (potential_turned(&w, body, k, step) - potential_turned(&w, body, k, -step)) / (2 * step);
        CHECK_NEAR(*component(&e.torque[body], k), -turn, 1e-7);
      }
    free_world(&w);
  }
}

TEST(internal_forces_cancel) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    world w = tangle(seed);
    evaluation e = evaluate(&w);
    carom_vec3 force = e.f[4], moment = e.torque[4];
    for (int i = 0; i < 4; i++) {
      force = cm_add(force, e.f[i]);
      moment = cm_add(moment, cm_add(e.torque[i], cm_cross(w.state->x[i], e.f[i])));
    }
    CHECK_AT_MOST(cm_norm(force), 1e-12);
    CHECK_AT_MOST(cm_norm(moment), 1e-12);
    free_world(&w);
  }
}

// ---- long runs ---------------------------------------------------------------------------------------------------

// Two bodies with opposite charges off their centres, circling each other and turning.
static world charged_pair(void) {
  carom_builder *b = new_builder();
  for (int i = 0; i < 2; i++) {
    carom_body_def def = inert_body(1 + 0.5 * i, cm_vec3(0.1, 0.12, 0.15));
    double side = i ? -1 : 1.5;
    def.pose.p = cm_vec3(0.4 * side, 0, 0);
    def.velocity = cm_vec3(0, 0.45 * side, 0.05);
    def.angular_velocity = cm_vec3(0.2, -0.3, 0.5);
    carom_builder_add_body(b, &def);
  }
  int set = carom_builder_add_charge_set(b, 1, 0);
  carom_builder_add_charge(b, set, 0, cm_vec3(0.03, 0, 0.02), 1);
  carom_builder_add_charge(b, set, 1, cm_vec3(0, 0.04, 0), -1);
  return finish_world(b);
}

// Six bodies on five springs, plucked and turning, free in space.
static world spring_chain(void) {
  carom_builder *b = new_builder();
  for (int i = 0; i < 6; i++) {
    carom_body_def def = inert_body(1, cm_vec3(0.02, 0.03, 0.035));
    def.pose.p = cm_vec3(0.5 * i, 0.02 * i * i, 0);
    def.velocity = cm_vec3(0, 0, i % 2 ? 0.3 : -0.2);
    carom_builder_add_body(b, &def);
  }
  for (int i = 0; i < 5; i++) {
    carom_spring_def s = carom_spring_default();
    s.body[0] = i, s.body[1] = i + 1;
    s.point[0] = cm_vec3(0.1, 0, 0.02), s.point[1] = cm_vec3(-0.1, 0.02, 0);
    s.stiffness = 20, s.rest_length = 0.3;
    carom_builder_add_spring(b, &s);
  }
  return finish_world(b);
}

// A symplectic integrator's energy error swings but neither grows nor tends anywhere: over 1e5 steps the extremes stay
// those of the first tenth, and the trend over the whole run is less than half of them (a drift would be ten times the
// first tenth).
static void check_long_run(world (*make)(void), double h, double fluctuation_bound) {
  for (int k = 0; k < 2; k++) {
    world w = make();
    carom_stepper *stepper = new_stepper(&w, h, BOTH[k]);
    carom_audit *audit = NULL;
    carom_error error;
    REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, &error) == CAROM_OK);
    double early = 0, all = 0;
    for (int i = 0; i < 100000; i++) {
      carom_step_report report;
      REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
      carom_audit_step(audit, w.state, &report);
      double e = fabs(carom_audit_latest(audit).energy_error);
      if (i < 10000) early = fmax(early, e);
      all = fmax(all, e);
    }
    carom_verdict v = carom_audit_judge(audit, NULL);
    printf("%s: energy error at most %.3g (first tenth %.3g), trend %.2g, momentum %.2g, angular momentum %.2g\n",
           QUADRATURE_NAME[k], all, early, v.rows[1].value, v.rows[4].value, v.rows[5].value);
    CHECK(early > 0);
    CHECK_AT_MOST(all, fluctuation_bound);
    CHECK_AT_MOST(all, 2 * early);
    CHECK_AT_MOST(v.rows[1].value, 0.5 * all);
    CHECK_AT_MOST(v.rows[4].value, 1e-12);
    CHECK_AT_MOST(v.rows[5].value, 1e-12);
    carom_audit_destroy(audit);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

TEST(charged_pair_keeps_its_energy_for_1e5_steps) { check_long_run(charged_pair, 2e-3, 1e-2); }
TEST(spring_chain_keeps_its_energy_for_1e5_steps) { check_long_run(spring_chain, 5e-3, 1e-2); }

// ---- exact and analytic cases ------------------------------------------------------------------------------------

TEST(free_fall_is_a_parabola) {
  for (int k = 0; k < 2; k++) {
    carom_builder *b = new_builder();
    carom_body_def def = inert_body(3, cm_vec3(1, 2, 2.5));
    def.pose.p = cm_vec3(1, 2, 3);
    def.velocity = cm_vec3(0.5, -1, 4);
    def.angular_velocity = cm_vec3(1, 1, 1);
    carom_builder_add_body(b, &def);
    carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
    world w = finish_world(b);
    carom_stepper *stepper = new_stepper(&w, 0.01, BOTH[k]);
    carom_audit *audit = NULL;
    REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, NULL) == CAROM_OK);
    for (int i = 0; i < 200; i++) {
      carom_step_report report;
      REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
      carom_audit_step(audit, w.state, &report);
    }
    carom_pose pose = carom_state_pose(w.model, w.state, 0);
    CHECK_NEAR(w.state->time, 2, 1e-15);
    CHECK_NEAR(pose.p.x, 2, 1e-13);
    CHECK_NEAR(pose.p.y, 0, 1e-13);
    CHECK_NEAR(pose.p.z, 3 + 8 - 0.5 * 9.81 * 4, 1e-12);
    carom_verdict v = carom_audit_judge(audit, NULL);
    for (int i = 0; i < v.count; i++) CHECK_AT_MOST(v.rows[i].value, 1e-12);
    carom_audit_destroy(audit);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// m x'' + c x' + k x = 0 along a line: x = e^(-a t) (x0 cos w t + a x0/w sin w t).
static double damped_error(carom_quadrature quadrature, int steps, double *energy_error) {
  double m = 2, k = 8, c = 0.4, x0 = 0.3, rest = 1, T = 3;
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(m, cm_vec3(1, 1, 1));
  def.pose.p = cm_vec3(rest + x0, 0, 0);
  carom_builder_add_body(b, &def);
  carom_spring_def s = carom_spring_default();
  s.body[0] = 0;
  s.stiffness = k, s.damping = c, s.rest_length = rest;
  carom_builder_add_spring(b, &s);
  world w = finish_world(b);
  carom_stepper *stepper = new_stepper(&w, T / steps, quadrature);
  carom_audit *audit = NULL;
  if (carom_audit_create(w.model, w.state, NULL, &audit, NULL) != CAROM_OK) abort();
  for (int i = 0; i < steps; i++) {
    carom_step_report report;
    if (carom_stepper_step(stepper, w.state, &report, NULL) != CAROM_OK) abort();
    carom_audit_step(audit, w.state, &report);
  }
  *energy_error = fabs(carom_audit_latest(audit).energy_error);
  CHECK_AT_MOST(carom_audit_judge(audit, NULL).rows[4].value, 1e-12);
  double a = c / (2 * m), omega = sqrt(k / m - a * a);
  double exact = rest + exp(-a * T) * x0 * (cos(omega * T) + a / omega * sin(omega * T));
  double error = fabs(w.state->x[0].x - exact);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return error;
}

TEST(damped_spring_converges_with_second_order) {
  for (int k = 0; k < 2; k++) {
    double energy[3], error[3];
    for (int i = 0; i < 3; i++) error[i] = damped_error(BOTH[k], 100 << i, &energy[i]);
    CHECK_NEAR(log2(error[0] / error[1]), 2, 0.1);
    CHECK_NEAR(log2(error[1] / error[2]), 2, 0.05);
    CHECK_AT_MOST(energy[2], 1e-3);
    CHECK_AT_MOST(energy[2], 0.3 * energy[1] + 1e-13);
  }
}

// A scheduled force and torque: impulses are integrals of the schedule; the books must balance.
TEST(scheduled_loads_give_their_impulse) {
  for (int k = 0; k < 2; k++) {
    carom_builder *b = new_builder();
    carom_body_def def = inert_body(2, cm_vec3(1.5, 1.5, 1.5));
    def.pose.p = cm_vec3(1, 0, 0);
    carom_builder_add_body(b, &def);
    carom_knot knots[] = {{0.2, 0}, {0.4, 1}, {0.6, 1}, {1.0, 0}};
    carom_force_def f = carom_force_default();
    f.body = 0, f.force = cm_vec3(0, 3, 0), f.torque = cm_vec3(0, 0, 0.5), f.knots = knots, f.knot_count = 4;
    carom_builder_add_force(b, &f);
    world w = finish_world(b);
    carom_stepper *stepper = new_stepper(&w, 0.01, BOTH[k]);
    carom_audit *audit = NULL;
    REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, NULL) == CAROM_OK);
    for (int i = 0; i < 150; i++) {
      carom_step_report report;
      REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
      carom_audit_step(audit, w.state, &report);
    }
    double area = 0.1 + 0.2 + 0.2;  // knots fall on steps, so both rules integrate the schedule exactly
    CHECK_NEAR(w.state->p[0].y, 3 * area, 1e-12);
    CHECK_NEAR(w.state->l[0].z, 0.5 * area, 1e-12);
    carom_verdict v = carom_audit_judge(audit, NULL);
    CHECK_AT_MOST(v.rows[0].value, 1e-4);
    CHECK_AT_MOST(v.rows[4].value, 1e-13);
    CHECK_AT_MOST(v.rows[5].value, 1e-13);
    carom_audit_destroy(audit);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// Body-fixed thrust on a turning body, a fixed body and the world pulling: everything external at once.
TEST(the_books_balance_in_a_tangle) {
  for (uint64_t seed = 0; seed < 5; seed++)
    for (int k = 0; k < 2; k++) {
      world w = tangle(seed);
      carom_stepper *stepper = new_stepper(&w, 1e-3, BOTH[k]);
      carom_audit *audit = NULL;
      REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, NULL) == CAROM_OK);
      for (int i = 0; i < 2000; i++) {
        carom_step_report report;
        REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
        carom_audit_step(audit, w.state, &report);
      }
      carom_verdict v = carom_audit_judge(audit, NULL);
      CHECK_AT_MOST(v.rows[0].value, 1e-4);
      CHECK_AT_MOST(v.rows[4].value, 1e-12);
      CHECK_AT_MOST(v.rows[5].value, 1e-12);
      carom_audit_destroy(audit);
      carom_stepper_destroy(stepper);
      free_world(&w);
    }
}

// A spring too stiff for the step: the midpoint iteration diverges, is retried with smaller steps, and says so.
TEST(stiff_midpoint_is_halved_or_refused) {
  for (int hopeless = 0; hopeless < 2; hopeless++) {
    carom_builder *b = new_builder();
    carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
    def.pose.p = cm_vec3(1.1, 0, 0);
    carom_builder_add_body(b, &def);
    carom_spring_def s = carom_spring_default();
    s.body[0] = 0, s.stiffness = hopeless ? 1e12 : 1000, s.rest_length = 1;
    carom_builder_add_spring(b, &s);
    world w = finish_world(b);
    uint64_t before = carom_state_hash(w.state);
    carom_stepper *stepper = new_stepper(&w, 0.1, CAROM_QUADRATURE_MIDPOINT);
    carom_step_report report;
    carom_error error = {0};
    carom_status status = carom_stepper_step(stepper, w.state, &report, &error);
    if (hopeless) {
      CHECK(status == CAROM_NOT_CONVERGED);
      CHECK_CONTAINS(error.message, "smaller step");
      CHECK(carom_state_hash(w.state) == before);
    } else {
      CHECK(status == CAROM_OK);
      CHECK(report.halvings >= 1);
      CHECK_NEAR(w.state->time, 0.1, 1e-15);
    }
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// Editing the state between steps must not meet stale forces.
TEST(edited_states_get_fresh_forces) {
  world a = spring_chain(), b = spring_chain();
  carom_stepper *used = new_stepper(&a, 1e-3, CAROM_QUADRATURE_ENDPOINT);
  carom_stepper *fresh = new_stepper(&b, 1e-3, CAROM_QUADRATURE_ENDPOINT);
  run_steps(used, a.state, 10);
  carom_state_copy(a.state, b.state);
  a.state->x[2].z = b.state->x[2].z = 0.1;
  run_steps(used, a.state, 5);
  run_steps(fresh, b.state, 5);
  CHECK(carom_state_hash(a.state) == carom_state_hash(b.state));
  carom_stepper_destroy(used);
  carom_stepper_destroy(fresh);
  free_world(&a);
  free_world(&b);
}
