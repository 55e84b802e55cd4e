// Solids under the audit: what moves rightly passes, whichever way it is stepped, and every fault that is put in is
// caught by its row.
#include "carom/carom.h"
#include "solid_runs.h"

// A bar that is thrown, spins and vibrates.
static carom_vec3 *noise(int count, double size, uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  carom_vec3 *v = calloc((size_t)count, sizeof *v);
  for (int i = 0; i < count; i++) v[i] = random_vector(&r, size);
  return v;
}

static world thrown_bar(double shake, carom_vec3 gravity) {
  carom_tets mesh = box_mesh(cm_vec3(0.4, 0.1, 0.1), 8, 2, 2);
  carom_vec3 *v = noise(mesh.node_count, shake, 7);
  carom_builder *b = new_builder();
  carom_solid_def def = rubber(&mesh, "bar");
  def.velocity = cm_vec3(0.5, 0.2, 1), def.angular_velocity = cm_vec3(1, 2, 3), def.velocities = v;
  carom_builder_set_gravity(b, gravity);
  carom_builder_add_solid(b, &def);
  carom_tets_release(&mesh);
  free(v);
  return finish_world(b);
}

static const carom_vec3 DOWN = {0, 0, -9.81};

TEST(a_thrown_bar_passes_by_both_quadratures) {
  for (int q = 0; q < 2; q++)
    for (int n = 0; n < 2; n++) {
      world w = thrown_bar(0.05, DOWN);
      double critical = w.model->solids[0].critical_step;
      solid_run run = {.step = (n == 0 ? 0.25 : 0.7) * critical,
                       .steps = 400,
                       .quadrature = q == 0 ? CAROM_QUADRATURE_ENDPOINT : CAROM_QUADRATURE_MIDPOINT};
      carom_verdict v = audit_run(&w, &run);
      CHECK(v.pass);
      fprintf(stderr, "q %d n %d\n", q, n);
      print_verdict(&v);
      free_world(&w);
    }
}

static world shaken_bar(double shake, double bend) {
  carom_tets mesh = box_mesh(cm_vec3(0.4, 0.1, 0.1), 8, 2, 2);
  carom_vec3 *v = noise(mesh.node_count, shake, 7);
  for (int i = 0; i < mesh.node_count; i++) v[i].z += bend * cos(20 * mesh.nodes[i].x);
  carom_builder *b = new_builder();
  carom_solid_def def = rubber(&mesh, "bar");
  def.velocities = v;
  carom_builder_add_solid(b, &def);
  carom_tets_release(&mesh);
  free(v);
  return finish_world(b);
}

// A cube that falls on a plate that stands still, turned so that a corner comes first where it is `askew`.
static world dropped_cube(double friction, bool askew, bool two) {
  carom_tets mesh = box_mesh(cm_vec3(0.1, 0.1, 0.1), 3, 3, 3);
  carom_builder *b = new_builder();
  carom_material_def m = carom_material_default();
  m.restitution = 1, m.friction = friction;
  carom_builder_add_material(b, &m);
  put_box(b, cm_vec3(1, 1, 0.1), cm_pose(cm_vec3(0, 0, -0.05), cm_qidentity()), true);
  carom_solid_def def = rubber(&mesh, "cube");
  def.lambda = 1.5e5, def.mu = 1e5;
  def.pose = cm_pose(cm_vec3(0, 0, 0.11), askew ? cm_exp(cm_vec3(0.5, 0.3, 0)) : cm_qidentity());
  def.velocity = cm_vec3(0.3, 0, -0.5);
  carom_builder_add_solid(b, &def);
  def.name = "other", def.pose.p = cm_vec3(0.02, 0.01, 0.3), def.velocity = cm_vec3(0, 0, -1);
  if (two) carom_builder_add_solid(b, &def);
  carom_builder_set_gravity(b, DOWN);
  carom_tets_release(&mesh);
  return finish_world(b);
}

TEST(explore) {
  for (int k = 0; k < 8; k++) {
    world w = dropped_cube(k % 2 ? 0.5 : 0, k / 2 % 2, k / 4);
    double critical = w.model->solids[0].critical_step;
    solid_run run = {.integrator = "potential", .step = 0.25 * critical, .steps = 1000};
    carom_verdict v = audit_run(&w, &run);
    fprintf(stderr, "explore %d h %g\n", k, run.step);
    print_verdict(&v);
    free_world(&w);
  }
}
