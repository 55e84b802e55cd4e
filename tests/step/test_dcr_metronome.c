// The metronome (Johnson 2012, 3.5.6): two octagonal prisms, side 0.2 sqrt(3), on a spherical joint; they swing towards
// each other, collide edge on edge, and swing back. Height 0.4 and the joint 0.1 away from either end are chosen here.
#include "test_dcr.h"

// `turn`: of the upper prism about the axis; pi/8 lets an edge meet a face.
static world metronome_turned(double e, double turn) {
  carom_builder *b = new_builder();
  add_material(b, "prism", 270, e, 0);
  double radius = 0.2 * sqrt(3) / (2 * sin(3.14159265358979323846 / 8));
  for (int i = 0; i < 2; i++) {
    carom_body_def def = body_at(0, 0, i == 0 ? -0.3 : 0.3);
    def.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), (i + 0.5) * 3.14159265358979323846 / 4 + i * turn);
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

// A face of either looks along x: they meet edge on edge.
static world metronome(double e) { return metronome_turned(e, 0); }

static double other_spins(const world *w) {
  double worst = 0;
  for (int i = 0; i < 2; i++) {
    carom_vec3 spin = carom_state_angular_velocity(w->model, w->state, i);
    worst = fmax(worst, hypot(spin.x, spin.z));
  }
  return worst;
}

// Returns the worst energy error, of the states alone: nothing is booked as the projection's.
static double swing(world w, double h, int steps, int order) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "dcr";
  options.step = h;
  options.order = order;
  run r = start_run_with(w, options);
  double worst_energy = 0, worst_momentum = 0;
  for (int i = 0; i < steps && r.collisions < 200; i++) {
    if (!run_step(&r)) break;
    carom_audit_sample s = carom_audit_latest(r.audit);
    worst_energy = fmax(worst_energy, fabs(s.claimed_energy_error));
    worst_momentum = fmax(worst_momentum, s.claimed_angular_momentum_error);
  }
  show_run("metronome", &r);
  if (getenv("CAROM_TEST_VERBOSE")) printf("h = %g: energy %.2g, momentum %.2g\n", h, worst_energy, worst_momentum);
  CHECK(r.collisions == 200);
  CHECK_AT_MOST(worst_momentum, 1e-9);
  CHECK_AT_MOST(other_spins(&r.w), 1e-8);
  CHECK_AT_MOST(r.penetration, 1e-9);
  end_run(&r);
  return worst_energy;
}

// What is left is the oscillation of the smooth motion, of the order of that.
TEST(dcr_swings_without_loss) { CHECK_AT_MOST(swing(metronome(1), 0.015, 7000, 2), 1e-4); }
TEST(dcr_swings_without_loss_long) { CHECK_AT_MOST(swing(metronome(1), 1.25e-4, 800000, 2), 1.1e-9); }  // 1.02e-9
TEST(dcr_swings_without_loss_fourth_order) { CHECK_AT_MOST(swing(metronome(1), 0.015, 7000, 4), 1e-8); }
TEST(dcr_swings_edge_on_face_long) {
  const double pi = 3.14159265358979323846;
  CHECK_AT_MOST(swing(metronome_turned(1, pi / 8), 0.015, 7000, 2), 1e-4);
  CHECK_AT_MOST(swing(metronome_turned(1, pi / 8), 0.015, 7000, 4), 1e-8);
  CHECK_AT_MOST(swing(metronome_turned(1, pi / 8), 0.015, 7000, 6), 1e-9);
}

// Impulses that gain a little energy, by what the solver leaves, once had all their restitution taken away, and the
// metronome stopped at its 62nd collision at this step and order.
TEST(small_gains_do_not_cost_the_restitution) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "dcr";
  options.step = 0.015;
  options.order = 6;
  run r = start_run_with(metronome(1), options);
  for (int i = 0; i < 3000 && run_step(&r); i++) continue;
  double energy = carom_audit_latest(r.audit).energy;
  CHECK(r.collisions >= 80);
  CHECK_AT_MOST(fabs(r.restitution_loss), 1e-6 * energy);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-5);
  end_run(&r);
}

// Johnson 2012, 3.3.5, figure 3.27: the contact potential acts or does not act for a whole step, and energy changes at
// every collision; less so with smaller steps (there h = 1.5e-3 s and 1e-4 s). Returns the largest change.
static double soft_change(double h) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential";
  options.step = h;
  options.stiffness = 2e4;
  run r = start_run_with(metronome(1), options);
  double worst = 0, start = carom_audit_latest(r.audit).energy;
  for (int i = 0; i * h < 10 && run_step(&r); i++)
    if (carom_audit_latest(r.audit).penetration == 0)
      worst = fmax(worst, fabs(carom_audit_latest(r.audit).energy / start - 1));
  show_run("soft metronome", &r);
  if (getenv("CAROM_TEST_VERBOSE")) printf("h = %g: energy changes by %.2g\n", h, worst);
  CHECK(r.collisions >= 5);
  end_run(&r);
  return worst;
}

TEST(potential_improves_with_the_step) {
  double coarse = soft_change(1.5e-3), fine = soft_change(1e-4);
  CHECK(coarse > 1e-6);
  CHECK_AT_MOST(fine, 0.1 * coarse);
}
