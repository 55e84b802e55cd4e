// Solids under the audit: what moves rightly passes, whichever way it is stepped, and every fault that is put in is
// caught by its row.
#include "carom/carom.h"
#include "failing_allocator.h"
#include "heap_counter.h"
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

static double critical_step(const world *w) { return w->model->solids[0].critical_step; }

TEST(a_thrown_bar_passes_by_both_quadratures) {
  const double share[] = {0.1, 0.5, 3};
  for (int k = 0; k < 6; k++) {
    world w = thrown_bar(0.1, DOWN);
    solid_run run = {.step = share[k / 2] * critical_step(&w),
                     .steps = 300,
                     .quadrature = k % 2 == 0 ? CAROM_QUADRATURE_ENDPOINT : CAROM_QUADRATURE_MIDPOINT};
    carom_verdict v = audit_run(&w, &run);
    CHECK(v.pass);
    if (!v.pass) print_verdict(&v);
    CHECK(row_of(&v, "inversion") && row_of(&v, "body_momentum"));
    free_world(&w);
  }
}

// Newmark's energy swings by (h w / 2)2 of it, here by 12 percent, with all modes in play; none of it is gained or
// lost.
TEST(swings_of_the_method_are_not_taken_for_gains) {
  for (int k = 0; k < 3; k++) {
    world w = shaken_bar(k == 1 ? 0 : 0.2, k == 0 ? 0 : 0.5);
    solid_run run = {.step = 0.5 * critical_step(&w), .steps = 1000};
    carom_verdict v = audit_run(&w, &run);
    CHECK(v.pass);
    if (!v.pass) print_verdict(&v);
    free_world(&w);
  }
}

TEST(frames_alone_pass) {
  for (int k = 0; k < 2; k++) {
    world w = thrown_bar(0.1, DOWN);
    solid_run run = {.step = (k == 0 ? 0.25 : 4) * critical_step(&w), .steps = 100, .frames = true};
    carom_verdict v = audit_run(&w, &run);
    CHECK(v.pass && row_of(&v, "energy_made"));
    if (!v.pass) print_verdict(&v);
    free_world(&w);
  }
}

// ---- sums -----------------------------------------------------------------------------------------------------------

static double det3(carom_vec3 a, carom_vec3 b, carom_vec3 c) { return cm_dot(a, cm_cross(b, c)); }

// W of one tetrahedron, neo-Hooke, from F = Ds Dm^-1.
static double energy_by_hand(const carom_vec3 *X, const carom_vec3 *x, const int *n, double lambda, double mu) {
  carom_vec3 D[3], d[3], dual[3];
  double F[3][3] = {{0}}, square = 0;
  for (int k = 0; k < 3; k++) D[k] = cm_sub(X[n[k + 1]], X[n[0]]), d[k] = cm_sub(x[n[k + 1]], x[n[0]]);
  double six = det3(D[0], D[1], D[2]), J = det3(d[0], d[1], d[2]) / six;
  for (int k = 0; k < 3; k++) dual[k] = cm_scale(1 / six, cm_cross(D[(k + 1) % 3], D[(k + 2) % 3]));
  for (int k = 0; k < 3; k++) {
    const double now[3] = {d[k].x, d[k].y, d[k].z}, g[3] = {dual[k].x, dual[k].y, dual[k].z};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) F[i][j] += now[i] * g[j];
  }
  for (int i = 0; i < 9; i++) square += F[i / 3][i % 3] * F[i / 3][i % 3];
  return six / 6 * (0.5 * mu * (square - 3) - mu * log(J) + 0.5 * lambda * log(J) * log(J));
}

TEST(sums_are_those_of_the_arrays) {
  carom_tets mesh = box_mesh(cm_vec3(0.3, 0.2, 0.1), 3, 2, 1);
  carom_builder *b = new_builder();
  carom_body_def body = inert_body(2, cm_vec3(1, 2, 2.5));
  carom_solid_def def = rubber(&mesh, "one");
  body.pose.p = cm_vec3(3, 2, 1), body.velocity = cm_vec3(1, 2, 3), body.angular_velocity = cm_vec3(0, 0, 2);
  carom_builder_add_body(b, &body);
  carom_builder_set_gravity(b, DOWN);
  for (int k = 0; k < 2; k++) {
    def.name = k == 0 ? "one" : "two", def.pose.p = cm_vec3(-k, 0, 1);
    carom_builder_add_solid(b, &def);
  }
  world w = finish_world(b);
  carom_random r = carom_random_make(5, 0);
  double kinetic = 0, weight = 0, elastic = 0;
  carom_vec3 p = w.state->p[0], l = cm_add(w.state->l[0], cm_cross(w.state->x[0], w.state->p[0]));
  for (int i = 0; i < w.state->node_count; i++) {
    double m = w.model->node_masses[i];
    w.state->nodes[i] = cm_add(w.state->nodes[i], random_vector(&r, 0.01));
    carom_vec3 v = w.state->node_velocities[i] = random_vector(&r, 1);
    kinetic += 0.5 * m * cm_norm2(v);
    weight += 9.81 * m * w.state->nodes[i].z;
    p = cm_axpy(p, m, v);
    l = cm_axpy(l, m, cm_cross(w.state->nodes[i], v));
  }
  for (int t = 0; t < w.model->tet_count; t++)
    elastic += energy_by_hand(w.model->rest, w.state->nodes, w.model->tets[t], def.lambda, def.mu);
  double spin = 0.5 * 2 * 14 + 0.5 * cm_dot(w.state->l[0], carom_state_angular_velocity(w.model, w.state, 0));
  CHECK_NEAR(carom_kinetic_energy(w.model, w.state), kinetic + spin, 1e-12 * (kinetic + spin));
  CHECK_NEAR(carom_potential_energy(w.model, w.state), elastic + weight + 2 * 9.81, 1e-11 * (elastic + weight));
  CHECK_AT_MOST(cm_norm(cm_sub(carom_linear_momentum(w.model, w.state), p)), 1e-12 * cm_norm(p));
  CHECK_AT_MOST(cm_norm(cm_sub(carom_angular_momentum(w.model, w.state), l)), 1e-12 * cm_norm(l));
  carom_solid_sample one = carom_solid_sample_of(w.model, w.state, 0), two = carom_solid_sample_of(w.model, w.state, 1);
  CHECK_NEAR(one.kinetic + two.kinetic, kinetic, 1e-12 * kinetic);
  CHECK_NEAR(one.elastic + two.elastic, elastic, 1e-11 * elastic);
  CHECK_NEAR(one.weight + two.weight, weight, 1e-12 * weight);
  carom_vec3 both = cm_add(cm_add(one.momentum, two.momentum), w.state->p[0]);
  CHECK_AT_MOST(cm_norm(cm_sub(both, p)), 1e-12 * cm_norm(p));
  CHECK_NEAR(one.weight, 9.81 * w.model->solids[0].mass * one.center.z, 1e-12 * one.weight);
  CHECK(one.least_J > 0 && one.least_J < 1 && one.least_tet >= 0 && one.least_tet < w.model->solids[0].tet_count);
  carom_tets_release(&mesh);
  free_world(&w);
}

// A bar that is bent swings: what is kinetic becomes elastic and comes back.
TEST(energies_of_a_swinging_bar_add_up) {
  world w = shaken_bar(0, 0.3);
  carom_error error = {0};
  carom_stepper *stepper = NULL;
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational", options.step = 0.1 * critical_step(&w), options.nothing_meets = true;
  REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, &error) == CAROM_OK);
  double first = carom_kinetic_energy(w.model, w.state), most = 0;
  for (int i = 0; i < 500; i++) {
    REQUIRE(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_OK);
    carom_solid_sample s = carom_solid_sample_of(w.model, w.state, 0);
    CHECK_NEAR(s.kinetic + s.elastic, first, 1e-3 * first);
    most = fmax(most, s.elastic);
  }
  CHECK(most > 0.7 * first);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- faults ---------------------------------------------------------------------------------------------------------

enum { WHEN = 60, STEPS = 200 };

static void displace_node(seen_step *s) {
  if (s->step == WHEN) s->state->nodes[20].x += 1e-3;
}
static void add_momentum(seen_step *s) {
  for (int i = 0; s->step == WHEN && i < s->state->node_count; i++) s->state->node_velocities[i].y += 1e-6;
}
static void add_spin(seen_step *s) {
  carom_solid_sample now = carom_solid_sample_of(s->model, s->state, 0);
  for (int i = 0; s->step == WHEN && i < s->state->node_count; i++) {
    carom_vec3 *v = &s->state->node_velocities[i], arm = cm_sub(s->state->nodes[i], now.center);
    *v = cm_add(*v, cm_cross(cm_vec3(0, 0, 1e-5), arm));
  }
}
static void scale_speeds(seen_step *s, double factor) {
  for (int i = 0; s->step == WHEN && i < s->state->node_count; i++)
    s->state->node_velocities[i] = cm_scale(factor, s->state->node_velocities[i]);
}
static void make_energy(seen_step *s) { scale_speeds(s, 1.05); }
static void lose_energy(seen_step *s) { scale_speeds(s, 0.95); }
static void invert_a_tetrahedron(seen_step *s) {
  if (s->step != WHEN) return;
  const int *n = s->model->tets[7];
  carom_vec3 *x = s->state->nodes, middle = cm_scale(1.0 / 3, cm_add(cm_add(x[n[0]], x[n[1]]), x[n[2]]));
  x[n[3]] = cm_axpy(x[n[3]], 2.5, cm_sub(middle, x[n[3]]));
}
static void put_a_nan(seen_step *s) {  // at the end: no stepper goes on from there
  if (s->step == STEPS - 1) s->state->nodes[3].y = NAN;
}
static void hide_work(seen_step *s) { s->report.work = 0; }
static void move_a_pin(seen_step *s) {
  if (s->step == WHEN) s->state->nodes[s->model->pins[1].node].x += 1e-6;
}
static void tell(seen_step *s, int a, int b, carom_vec3 point, carom_vec3 impulse) {
  if (s->step != WHEN) return;
  s->event = (carom_contact_event){.kind = CAROM_EVENT_CONTACT,
                                   .time = s->state->time,
                                   .body_a = a,
                                   .body_b = b,
                                   .point = point,
                                   .normal = {0, 0, 1},
                                   .impulse = impulse};
  s->report.events = &s->event, s->report.event_count = 1;
}
static void tell_a_push(seen_step *s) { tell(s, CAROM_SOLID(0), 0, s->state->nodes[0], cm_vec3(0, 0, 1e-3)); }
static void tell_a_pull(seen_step *s) { tell(s, CAROM_SOLID(0), 0, s->state->nodes[0], cm_vec3(0, 0, -1e-3)); }
static void tell_of_nobody(seen_step *s) { tell(s, CAROM_SOLID(4), 0, s->state->nodes[0], cm_vec3(0, 0, 1e-3)); }
static void tell_of_itself(seen_step *s) {
  tell(s, CAROM_SOLID(0), CAROM_SOLID(0), s->state->nodes[0], cm_vec3(0, 0, 1e-3));
}
static void put_back(seen_step *s) {  // a solid that takes part in a recirculation
  tell(s, CAROM_SOLID(0), CAROM_WORLD, s->state->nodes[0], cm_zero3());
  s->event.kind = CAROM_EVENT_RECIRCULATED;
}

// A soft bar beside a box that never moves, far away from it; its end is held where `held`, by a driven box.
static world tested_bar(bool held, double damping) {
  carom_tets mesh = box_mesh(cm_vec3(0.4, 0.1, 0.1), 8, 2, 2);
  carom_builder *b = new_builder();
  int box = put_box(b, cm_vec3(0.1, 0.1, 0.1), cm_pose(cm_vec3(0, 0, -3), cm_qidentity()), true), ends[9], count = 0;
  carom_solid_def def = rubber(&mesh, "bar");
  carom_vec3 *v = noise(mesh.node_count, 0.05, 3);
  for (int i = 0; i < mesh.node_count; i++) v[i].z += 0.2 * cos(20 * mesh.nodes[i].x);
  def.velocities = v, def.law = CAROM_ELASTIC_STABLE, def.damping = damping;
  int solid = carom_builder_add_solid(b, &def);
  for (int i = 0; i < mesh.node_count; i++)
    if (mesh.nodes[i].x < -0.19) ends[count++] = i;
  if (held) {
    carom_drive_def drive = carom_drive_default();
    drive.body = box, drive.velocity = cm_vec3(0, 0, 0.3);
    carom_builder_add_drive(b, &drive);
    carom_builder_pin(b, solid, box, count, ends);
  }
  carom_tets_release(&mesh);
  free(v);
  return finish_world(b);
}

static carom_verdict tested(solid_mutation *mutate, bool held, double damping, int threads) {
  world w = tested_bar(held, damping);
  solid_run run = {.step = 0.25 * critical_step(&w), .steps = STEPS, .mutate = mutate, .threads = threads};
  if (held) run.integrator = "potential";
  carom_verdict v = audit_run(&w, &run);
  free_world(&w);
  return v;
}

TEST(every_fault_is_caught_by_its_row) {
  const struct {
    const char *name;
    solid_mutation *mutate;
    const char *key;
    bool held;
    double damping;
  } faults[] = {
      {"a node is displaced", displace_node, "position", false, 0},
      {"momentum is added", add_momentum, "body_momentum", false, 0},
      {"momentum is added, all in all", add_momentum, "momentum", false, 0},
      {"spin is added", add_spin, "body_momentum", false, 0},
      {"spin is added, all in all", add_spin, "angular_momentum", false, 0},
      {"energy is made", make_energy, "energy_made", false, 0},
      {"energy is lost", lose_energy, "dissipation", false, 0},
      {"a tetrahedron is inverted", invert_a_tetrahedron, "inversion", false, 0},
      {"a node is nowhere", put_a_nan, "position", false, 0},
      {"a node is nowhere, in a tetrahedron", put_a_nan, "inversion", false, 0},
      {"a held node moves", move_a_pin, "pins", true, 0},
      {"work of a drive is hidden", hide_work, "energy", true, 0},
      {"losses by damping are hidden", hide_work, "dissipation", false, 0.01},
      {"an impulse is told that was none", tell_a_push, "body_momentum", false, 0},
      {"a contact pulls", tell_a_pull, "contact_law", false, 0},
      {"a contact is far from one of the two", tell_a_push, "contact_law", false, 0},
      {"a solid that is not there", tell_of_nobody, "contact_law", false, 0},
      {"a solid that touches itself", tell_of_itself, "contact_law", false, 0},
      {"a solid that is put back", put_back, "contact_law", false, 0},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    carom_verdict good = tested(NULL, faults[i].held, faults[i].damping, 1);
    carom_verdict bad = tested(faults[i].mutate, faults[i].held, faults[i].damping, 1);
    const carom_verdict_row *row = row_of(&bad, faults[i].key);
    if (!good.pass) print_verdict(&good);
    CHECK(good.pass);
    if (bad.outcome != CAROM_VERDICT_FAIL || !row || row->pass) {
      test_fail(__FILE__, __LINE__, "%s: not caught by %s", faults[i].name, faults[i].key);
      print_verdict(&bad);
    }
  }
}

TEST(an_inversion_is_told_with_place_and_time) {
  carom_verdict v = tested(invert_a_tetrahedron, false, 0, 1);
  const carom_verdict_row *row = row_of(&v, "inversion");
  REQUIRE(row);
  CHECK(row->value > 1);
  CHECK(strstr(row->where, "tetrahedron ") && strstr(row->where, " of 'bar' at t = "));
}

TEST(the_verdict_does_not_depend_on_threads) {
  carom_verdict one = tested(NULL, true, 0.001, 1);
  for (int threads = 2; threads <= 4; threads += 2) {
    carom_verdict many = tested(NULL, true, 0.001, threads);
    REQUIRE(many.count == one.count);
    for (int i = 0; i < one.count; i++) {
      CHECK(memcmp(&one.rows[i].value, &many.rows[i].value, sizeof(double)) == 0);
      CHECK_TEXT(one.rows[i].where, many.rows[i].where);
    }
  }
}

TEST(frames_alone_tell_of_displaced_nodes_and_inversions) {
  const struct {
    solid_mutation *mutate;
    const char *key;
  } faults[] = {{displace_node, "position"}, {invert_a_tetrahedron, "inversion"}, {add_momentum, "body_momentum"}};
  for (int i = 0; i < 3; i++) {
    world w = tested_bar(false, 0);
    solid_run run = {.step = 0.25 * critical_step(&w), .steps = 100, .mutate = faults[i].mutate, .frames = true};
    // Of frames nobody knows where they are from: momenta to 1e-5.
    carom_verdict v = audit_run(&w, &run);
    const carom_verdict_row *row = row_of(&v, faults[i].key);
    CHECK(row && (i == 2 ? row->value > 1e-6 : !row->pass));
    free_world(&w);
  }
}

// ---- overlaps -------------------------------------------------------------------------------------------------------

static double overlap_at_start(world *w) {
  carom_audit *audit = NULL;
  carom_error error = {0};
  if (carom_audit_create(w->model, w->state, NULL, &audit, &error) != CAROM_OK) abort();
  carom_verdict v = carom_audit_judge(audit, NULL);
  const carom_verdict_row *row = row_of(&v, "solid_overlap");
  carom_audit_destroy(audit);
  free_world(w);
  return row ? row->value : NAN;
}

// Cubes of 0.1 m, whose least width that is too; the other's middle is at `at`.
static double overlap_of_cubes(carom_vec3 at, carom_quat turn) {
  carom_tets mesh = box_mesh(cm_vec3(0.1, 0.1, 0.1), 4, 4, 4);
  carom_builder *b = new_builder();
  carom_solid_def def = rubber(&mesh, "one");
  carom_builder_add_solid(b, &def);
  def.name = "two", def.pose = cm_pose(at, turn);
  carom_builder_add_solid(b, &def);
  carom_tets_release(&mesh);
  world w = finish_world(b);
  return overlap_at_start(&w);
}

TEST(overlaps_of_solids_are_measured) {
  carom_quat corner_down = cm_exp(cm_vec3(0, atan(sqrt(2.0)), 0)),
             turned = cm_exp(cm_vec3(0, 0, 0.25 * 3.14159265358979));
  CHECK(overlap_of_cubes(cm_vec3(0.1001, 0.01, 0), cm_qidentity()) == 0);
  CHECK_NEAR(overlap_of_cubes(cm_vec3(0.097, 0.013, 0.007), cm_qidentity()), 0.03, 1e-9);
  CHECK_NEAR(overlap_of_cubes(cm_vec3(0.01, -0.012, 0.099), cm_qidentity()), 0.01, 1e-9);
  double height = 0.05 * sqrt(3.0);
  CHECK_NEAR(overlap_of_cubes(cm_vec3(0, 0, 0.05 + height - 0.004), cm_qmul(corner_down, turned)), 0.04, 1e-6);
}

static double overlap_with_rigid(const carom_shape *shape, carom_vec3 at) {
  carom_tets mesh = box_mesh(cm_vec3(0.1, 0.1, 0.1), 4, 4, 4);
  carom_builder *b = new_builder();
  carom_body_def body = fixed_body(at, cm_qidentity());
  put_shape(b, body, shape);
  carom_solid_def def = rubber(&mesh, "cube");
  carom_builder_add_solid(b, &def);
  carom_tets_release(&mesh);
  world w = finish_world(b);
  return overlap_at_start(&w);
}

TEST(overlaps_of_solids_with_rigid_bodies_are_measured) {
  const carom_shape *s = NULL;
  carom_error error = {0};
  REQUIRE(carom_shape_create_sphere(0.05, NULL, &s, &error) == CAROM_OK);
  CHECK_NEAR(overlap_with_rigid(s, cm_vec3(0.01, 0, 0.098)), 0.02, 1e-9);  // a ball on the face
  REQUIRE(carom_shape_create_sphere(0.5, NULL, &s, &error) == CAROM_OK);
  CHECK(overlap_with_rigid(s, cm_vec3(0, 0, 0.56)) == 0);
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 0.5), NULL, &s, &error) == CAROM_OK);
  CHECK_NEAR(overlap_with_rigid(s, cm_vec3(0, 0, -0.298)), 0.02, 1e-7);  // on a plate; points have a radius of 1e-9 m
  REQUIRE(carom_shape_create_box(cm_vec3(0.02, 0.02, 0.5), NULL, &s, &error) == CAROM_OK);
  CHECK_NEAR(overlap_with_rigid(s, cm_vec3(0.013, 0.011, -0.298)), 0.1, 1e-7);  // a peg between nodes: 2 mm of 20
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
  def.name = "other", def.pose.p = cm_vec3(0.02, 0.01, 0.27), def.velocity = cm_vec3(0, 0, -0.4);
  if (two) carom_builder_add_solid(b, &def);
  carom_builder_set_gravity(b, DOWN);
  carom_tets_release(&mesh);
  return finish_world(b);
}

// Action is reaction, however contacts act: momenta of a cube that falls, and of two that hit each other, are those of
// the impulses that events tell.
TEST(momenta_of_cubes_that_touch_are_those_of_their_events) {
  for (int k = 0; k < 3; k++) {
    int failed = test_failures;
    world w = dropped_cube(0, k == 1, k == 2);
    solid_run run = {.integrator = "potential", .step = 0.25 * critical_step(&w), .steps = 500};
    carom_verdict v = audit_run(&w, &run);
    const char *const keys[] = {"momentum", "angular_momentum", "body_momentum",
                                "position", "contact_law",      "inversion"};
    for (int i = 0; i < 6; i++) {
      const carom_verdict_row *row = row_of(&v, keys[i]);
      CHECK(row && row->pass);
    }
    CHECK(row_of(&v, "solid_overlap") && row_of(&v, "solid_overlap")->value > 0);
    if (test_failures > failed) print_verdict(&v);
    free_world(&w);
  }
}

// A rigid ball or box that falls on a cube, which lies on a plate.
static world loaded_cube(bool ball) {
  carom_tets mesh = box_mesh(cm_vec3(0.1, 0.1, 0.1), 4, 4, 4);
  carom_builder *b = new_builder();
  carom_material_def m = carom_material_default();
  carom_error error = {0};
  const carom_shape *s = NULL;
  m.restitution = 1, m.friction = 0;
  carom_builder_add_material(b, &m);
  put_box(b, cm_vec3(1, 1, 0.1), cm_pose(cm_vec3(0, 0, -0.05), cm_qidentity()), true);
  if (ball)
    carom_shape_create_sphere(0.04, NULL, &s, &error);
  else
    carom_shape_create_box(cm_vec3(0.06, 0.05, 0.04), NULL, &s, &error);
  carom_body_def body = carom_body_default();
  body.name = "load", body.mass = 0.5;
  body.pose = cm_pose(cm_vec3(0.01, 0.01, 0.17), cm_exp(cm_vec3(0.1, 0.2, 0)));
  body.velocity = cm_vec3(0, 0, -0.3);
  put_shape(b, body, s);
  carom_solid_def def = rubber(&mesh, "cube");
  def.lambda = 1.5e5, def.mu = 1e5, def.pose.p = cm_vec3(0, 0, 0.0501);
  carom_builder_add_solid(b, &def);
  carom_builder_set_gravity(b, DOWN);
  carom_tets_release(&mesh);
  return finish_world(b);
}

TEST(rigid_bodies_on_solids_are_judged_with_them) {
  for (int k = 0; k < 4; k++) {
    int failed = test_failures;
    world w = loaded_cube(k % 2 == 0);
    solid_run run = {.integrator = "potential",
                     .step = 0.25 * critical_step(&w),
                     .steps = 600,
                     .stiffness = 1e5,
                     .frames = k / 2 == 1};
    carom_verdict v = audit_run(&w, &run);
    const char *const keys[] = {"momentum", "angular_momentum", "body_momentum",
                                "position", "contact_law",      "inversion"};
    for (int i = 0; i < 6; i++) {
      const carom_verdict_row *row = row_of(&v, keys[i]);
      CHECK(row ? row->pass : run.frames);
    }
    CHECK(row_of(&v, "solid_overlap")->value > 0);
    CHECK(!run.frames || !row_of(&v, "energy_made"));  // energy is in contacts, too
    if (test_failures > failed) print_verdict(&v);
    free_world(&w);
  }
}

TEST(nodes_that_no_number_can_follow_are_named) {
  world w = tested_bar(false, 0);
  carom_error error = {0};
  carom_stepper *stepper = NULL;
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational", options.step = 1e-4, options.nothing_meets = true;
  REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, &error) == CAROM_OK);
  w.state->node_velocities[5].z = 1e200;
  CHECK(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK(strstr(error.message, "node 5 of solid 'bar' moves at 1e+200 m/s") != NULL);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(the_audit_of_solids_never_allocates) {
  world w = dropped_cube(0, false, true);
  carom_error error = {0};
  carom_stepper *stepper = NULL;
  carom_audit *audit = NULL;
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential", options.step = 0.25 * critical_step(&w);
  REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, &error) == CAROM_OK);
  REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, &error) == CAROM_OK);
  for (int i = 0; i < 300; i++) {
    carom_step_report report;
    REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    long heap = heap_calls;
    carom_audit_step(audit, w.state, &report);
    CHECK(heap_calls == heap);
  }
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(the_audit_of_solids_survives_a_lack_of_memory) {
  world w = dropped_cube(0, false, true);
  int refused = 0;
  for (;; refused++) {
    failing_allocator f = {.allowed = refused};
    carom_allocator a = failing_allocator_of(&f);
    carom_audit *audit = NULL;
    carom_error error = {0};
    carom_status status = carom_audit_create(w.model, w.state, &a, &audit, &error);
    CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && !audit));
    carom_audit_destroy(audit);
    CHECK(f.live == 0);
    if (status == CAROM_OK) break;
  }
  CHECK(refused > 10);
  free_world(&w);
}
