// The metronome (Johnson 2012, 3.5.6): two octagonal prisms, side 0.2 sqrt(3), on a spherical joint; they swing towards
// each other, collide edge on edge, and swing back. Height 0.4 and the joint 0.1 away from either end are chosen here.
#include "test_dcr.h"

static world metronome(double e) {
  carom_builder *b = new_builder();
  add_material(b, "prism", 270, e, 0);
  double radius = 0.2 * sqrt(3) / (2 * sin(3.14159265358979323846 / 8));
  for (int i = 0; i < 2; i++) {
    carom_body_def def = body_at(0, 0, i == 0 ? -0.3 : 0.3);
    def.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), (i + 0.5) * 3.14159265358979323846 / 4);  // a face looks along x
    def.angular_velocity.y = i == 0 ? 1 : -1;
    add_shape(b, def, prism_shape(8, radius, 0.4));
  }
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_SPHERICAL;
  joint.body[0] = 0;
  joint.body[1] = 1;
  joint.point[0] = cm_vec3(0, 0, 0.3);
  joint.point[1] = cm_vec3(0, 0, -0.3);
  joint.collide = true;
  carom_builder_add_joint(b, &joint);
  return finish_world(b);
}

static double other_spins(const world *w) {
  double worst = 0;
  for (int i = 0; i < 2; i++) {
    carom_vec3 spin = carom_state_angular_velocity(w->model, w->state, i);
    worst = fmax(worst, hypot(spin.x, spin.z));
  }
  return worst;
}

TEST(dcr_swings_without_loss) {
  run r = start_run(metronome(1), "dcr", 0.015);
  double worst_energy = 0, worst_momentum = 0;
  for (int i = 0; i < 7000 && r.collisions < 200; i++) {
    REQUIRE(run_step(&r));
    carom_audit_sample s = carom_audit_latest(r.audit);
    worst_energy = fmax(worst_energy, fabs(s.energy_error));
    worst_momentum = fmax(worst_momentum, s.angular_momentum_error);
  }
  show_run("metronome", &r);
  CHECK(r.collisions == 200);
  CHECK_AT_MOST(worst_energy, 1e-4);    // with the projection's share removed: that of the smooth motion, of order h^2
  CHECK_AT_MOST(worst_momentum, 1e-9);  // likewise
  CHECK_AT_MOST(other_spins(&r.w), 1e-8);
  CHECK_AT_MOST(r.penetration, 1e-9);
  end_run(&r);
}

static double soft_loss(double h) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential";
  options.step = h;
  options.stiffness = 2e4;
  run r = start_run_with(metronome(1), options);
  double start = carom_audit_latest(r.audit).energy;
  for (int i = 0; i * h < 5 && run_step(&r); i++) continue;
  show_run("soft metronome", &r);
  CHECK(r.collisions >= 5);
  double change = fabs(carom_audit_latest(r.audit).energy_error);
  (void)start;
  end_run(&r);
  return change;
}

TEST(potential_improves_with_the_step) {
  double coarse = soft_loss(2e-3), fine = soft_loss(2.5e-4);
  CHECK_AT_MOST(fine, 0.25 * coarse + 1e-6);
}
