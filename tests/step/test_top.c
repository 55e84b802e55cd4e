// The torque-free asymmetric top over long times, against what theory says of it.
#include "fixtures.h"

static world asymmetric_top(double omega) {
  carom_builder *builder = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 2, 2.6));
  def.pose.q = cm_axis_angle(cm_vec3(1, 2, 3), 0.7);
  def.angular_velocity = cm_scale(omega, cm_unit(cm_vec3(0.3, 1, -0.5)));
  carom_builder_add_body(builder, &def);
  return finish_world(builder);
}

// The momentum that two consecutive attitudes stand for, R_k (F E - E F')^v / h: independent of the stored one.
static carom_vec3 momentum_from_attitudes(carom_vec3 J, carom_quat q0, carom_quat q1, double h) {
  double half = 0.5 * (J.x + J.y + J.z);
  carom_mat3 E = cm_diag3(half - J.x, half - J.y, half - J.z);
  carom_mat3 F = cm_rotation(cm_qmul(cm_qconj(q0), q1));
  carom_mat3 M = cm_msub(cm_mmul(F, E), cm_mmul(E, cm_transpose(F)));
  return cm_rotate(q0, cm_scale(0.5 / h, cm_axial(M)));
}

// The discrete Moser-Veselov map keeps not only the momentum but also the energy of a free body exactly (Hairer, Lubich
// and Wanner 2006, VII.5.3), so that all there is to see is round-off: a random walk of 1e6 steps of 1e-16.
TEST(a_million_steps_keep_momentum_and_energy) {
  double h = 0.01;
  int steps = 1000000, bins = 10;
  world w = asymmetric_top(1);
  carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
  carom_vec3 l0 = carom_angular_momentum(w.model, w.state);
  double e0 = carom_kinetic_energy(w.model, w.state), largest = 0, momentum_error = 0, attitude_error = 0;
  double mean[10] = {0};
  for (int i = 0; i < steps; i++) {
    carom_quat q0 = w.state->q[0];
    run_steps(stepper, w.state, 1);
    double e = carom_kinetic_energy(w.model, w.state) / e0 - 1;
    largest = fmax(largest, fabs(e));
    mean[i / (steps / bins)] += e / (steps / bins);
    carom_vec3 l = carom_angular_momentum(w.model, w.state);
    momentum_error = fmax(momentum_error, cm_norm(cm_sub(l, l0)) / cm_norm(l0));
    if (i % 1000 == 999) {
      carom_vec3 seen = momentum_from_attitudes(w.model->bodies[0].inertia, q0, w.state->q[0], h);
      attitude_error = fmax(attitude_error, cm_norm(cm_sub(seen, l0)) / cm_norm(l0));
    }
  }
  double drift = fabs(mean[bins - 1] - mean[0]), walk = sqrt(steps) * 0x1p-52;
  printf("momentum %.2g, from attitudes %.2g, energy %.2g, first to last tenth %.2g, random walk %.2g\n",
         momentum_error, attitude_error, largest, drift, walk);
  CHECK_AT_MOST(momentum_error, 1e-11);
  CHECK_AT_MOST(attitude_error, 1e-11);
  CHECK_AT_MOST(largest, 1e-12);
  CHECK_AT_MOST(drift, 2 * walk);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(energy_is_kept_even_with_coarse_steps) {
  world w = asymmetric_top(1);
  carom_stepper *stepper = new_stepper(&w, 0.4, CAROM_QUADRATURE_MIDPOINT);
  double e0 = carom_kinetic_energy(w.model, w.state);
  for (int i = 0; i < 1000; i++) {
    run_steps(stepper, w.state, 1);
    CHECK_NEAR(carom_kinetic_energy(w.model, w.state), e0, 1e-13 * e0);
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
}
