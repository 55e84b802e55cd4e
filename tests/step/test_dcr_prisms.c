// Self-assembly of hexagonal prisms with charges behind their side faces (Johnson 2012, 3.5.6): height 0.4, side 0.2,
// K = 5e-4, charges of alternating sign 0.1 from the axis. Masses are not published: 0.05 kg here.
#include "test_dcr.h"

enum { PRISMS = 7 };

static void add_charges(carom_builder *b, int set, int body) {
  for (int k = 0; k < 6; k++) {
    double angle = (30 + 60 * k) * 3.14159265358979323846 / 180;  // face k lies between corners k and k + 1
    carom_builder_add_charge(b, set, body, cm_vec3(0.1 * cos(angle), 0.1 * sin(angle), 0), k % 2 == 0 ? 1 : -1);
  }
}

// One prism in the middle, six around it whose faces look at its faces from `gap` away, all a little out of place.
static world flower(double gap, double disorder, double e, double mu) {
  carom_random random = carom_random_make(7, 0);
  carom_builder *b = new_builder();
  add_material(b, "prism", 1, e, mu);
  int set = carom_builder_add_charge_set(b, 5e-4, 0);
  double apart = 0.2 * sqrt(3) + gap;
  for (int i = 0; i < PRISMS; i++) {
    double angle = (30 + 60 * (i - 1)) * 3.14159265358979323846 / 180;
    carom_body_def def = i == 0 ? body_at(0, 0, 0) : body_at(apart * cos(angle), apart * sin(angle), 0);
    def.pose.p = cm_add(def.pose.p, random_vector(&random, disorder));
    def.pose.q = cm_exp(random_vector(&random, 2 * disorder));
    def.mass = 0.05;
    add_charges(b, set, add_shape(b, def, prism_shape(6, 0.2, 0.4)));
  }
  return finish_world(b);
}

static bool touching(const world *w, int a, int b) {
  carom_placed A = {w->model->parts[a].shape,
                    cm_compose(cm_pose(w->state->x[a], w->state->q[a]), w->model->parts[a].pose)};
  carom_placed B = {w->model->parts[b].shape,
                    cm_compose(cm_pose(w->state->x[b], w->state->q[b]), w->model->parts[b].pose)};
  carom_distance_result d;
  carom_distance(&A, &B, NULL, &d);
  return d.distance < 1e-3;
}

TEST(seven_prisms_assemble_and_settle_long) {
  run r = start_run(flower(0.03, 0.01, 0.8, 0.8), "dcr", 1e-3);
  double peak = 0;
  for (int i = 0; i < 4000; i++) {
    if (!run_step(&r)) break;
    peak = fmax(peak, carom_audit_latest(r.audit).kinetic);
  }
  show_run("flower", &r);
  CHECK_AT_MOST(carom_audit_latest(r.audit).kinetic, 1e-6 * peak);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-3);
  for (int i = 1; i < PRISMS; i++) {  // the contact graph of the flower
    CHECK(touching(&r.w, 0, i));
    CHECK(touching(&r.w, i, i % 6 + 1));
  }
  end_run(&r);
}

TEST(seven_prisms_without_dissipation) {
  run r = start_run(flower(0.03, 0.01, 1, 0), "dcr", 1e-3);
  for (int i = 0; i < 5000; i++)
    if (!run_step(&r)) break;
  show_run("elastic flower", &r);
  CHECK_NEAR(r.w.state->time, 5, 1e-9);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-4);
  CHECK_AT_MOST(carom_audit_latest(r.audit).claimed_angular_momentum_error, 1e-10);
  CHECK_AT_MOST(r.penetration, 1e-9);
  end_run(&r);
}
