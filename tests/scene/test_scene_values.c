// Good scenes: every value of tests/data/scenes/full.yaml lands in the model, checked against figures worked out by
// hand (or by another formula), not against the reader.
#include "carom/result.h"
#include "failing_allocator.h"
#include "scene/yaml.h"
#include "test.h"

static void print(const carom_diagnostics *d) {
  for (int i = 0; i < d->count; i++) {
    char line[2000];
    carom_diagnostic_format(&d->items[i], line, sizeof line);
    fprintf(stderr, "%s\n", line);
  }
}

static carom_scene *read_options(const char *path, const carom_scene_options *options) {
  carom_scene *scene;
  carom_diagnostics d;
  carom_scene_read(path, options, NULL, &scene, &d);
  print(&d);
  carom_diagnostics_release(&d);
  return scene;
}

static carom_scene *parse_options(const char *text, const carom_scene_options *options) {
  carom_scene *scene;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){"folder/text.yaml", text, strlen(text)}, options, NULL, &scene, &d);
  print(&d);
  carom_diagnostics_release(&d);
  return scene;
}

static carom_scene *parse(const char *text) { return parse_options(text, NULL); }

#define FULL CAROM_TEST_DATA "/scenes/full.yaml"

static int find(const carom_scene *s, const char *name) { return carom_model_find_body(s->model, name); }

#define CHECK_VEC(value, ex, ey, ez, tolerance) \
  do {                                          \
    carom_vec3 w_ = (value);                    \
    CHECK_NEAR(w_.x, ex, tolerance);            \
    CHECK_NEAR(w_.y, ey, tolerance);            \
    CHECK_NEAR(w_.z, ez, tolerance);            \
  } while (0)

TEST(full_scene_head) {
  carom_scene *s = read_options(FULL, NULL);
  REQUIRE(s);
  CHECK_TEXT(s->title, "Every key at least once");
  CHECK_TEXT(s->description, "Checked by the tests value by value.\n");
  CHECK(s->seed == 42);
  CHECK(s->duration == 2);
  CHECK_NEAR(s->frame_interval, 0.02, 1e-15);
  CHECK_TEXT(s->step.integrator, "variational");
  CHECK(s->step.step == 0.001 && s->step.quadrature == CAROM_QUADRATURE_MIDPOINT && s->step.threads == 2);
  CHECK(s->step.tolerance == 1e-13 && s->step.max_iterations == 40 && s->step.max_halvings == 5);
  CHECK(s->bounds.energy == 1e-3 && s->bounds.energy_drift == 1e-4);
  CHECK(s->bounds.momentum == 1e-8 && s->bounds.angular_momentum == 1e-7);
  CHECK(s->camera.given);
  CHECK_VEC(s->camera.position, 4, -4, 3, 0);
  CHECK_VEC(s->camera.target, 0, 0, 1, 0);
  CHECK(strncmp(s->source, "# A scene that uses every section", 33) == 0);
  carom_scene_destroy(s);
}

TEST(full_scene_materials) {
  carom_scene *s = read_options(FULL, NULL);
  REQUIRE(s);
  REQUIRE(s->model->material_count == 3);
  const carom_material *m = s->model->materials;
  CHECK_TEXT(m[0].name, "default");
  CHECK(m[0].density == 500);
  CHECK_TEXT(m[1].name, "steel");
  CHECK(m[1].density == 7800 && m[1].restitution == 0.8 && m[1].friction == 0.3 && m[1].color == 0x8899AA);
  CHECK_TEXT(m[2].name, "rubber");  // merged: density and restitution from the include, friction from the scene
  CHECK_NEAR(m[2].density, 1100, 1e-9);
  CHECK(m[2].restitution == 0.9 && m[2].friction == 0.7);
  carom_scene_destroy(s);
}

TEST(full_scene_bodies) {
  carom_scene *s = read_options(FULL, NULL);
  REQUIRE(s);
  const carom_model *m = s->model;
  CHECK(m->body_count == 1 + 3 + 6 + 4 + 3 + 20 + 1);
  CHECK(find(s, "floor") == 0 && m->bodies[0].fixed);
  int top = find(s, "top");
  REQUIRE(top > 0);
  CHECK(m->bodies[top].mass == 2 && m->bodies[top].color == 0x102030);
  CHECK_NEAR(m->bodies[top].inertia.x, 2.0 / 12 * (0.2 * 0.2 + 0.1 * 0.1), 1e-15);
  carom_pose X = carom_state_pose(m, s->state, top);
  CHECK_VEC(X.p, 0, 0, 1, 1e-15);
  CHECK_VEC(cm_rotate(X.q, cm_vec3(1, 0, 0)), sqrt(3) / 2, 0.5, 0, 1e-15);
  CHECK_VEC(carom_state_velocity(m, s->state, top), 1, 0, 0, 1e-15);
  CHECK_VEC(carom_state_angular_velocity(m, s->state, top), 0, 0, 20 * 3.14159265358979 / 60, 1e-13);

  // Two balls of radius 20 mm, 7800 and 1000 kg/m3, at -0.1 and 0.1 m.
  int dumbbell = find(s, "dumbbell");
  double ball = 4.0 / 3 * 3.14159265358979323846 * 8e-6;
  CHECK_NEAR(m->bodies[dumbbell].mass, ball * 8800, 1e-12);
  CHECK_NEAR(s->state->x[dumbbell].x, 2 + (1000 * 0.1 - 7800 * 0.1) / 8800, 1e-12);

  int wheel = find(s, "wheel");
  CHECK(m->bodies[wheel].mass == 3);
  CHECK_NEAR(s->state->x[wheel].z, 0.001, 1e-15);
  CHECK_VEC(carom_state_angular_velocity(m, s->state, wheel), 0, 0, 3.14159265358979 / 3, 1e-13);
  CHECK_NEAR(s->state->l[wheel].z, 0.015 * 3.14159265358979 / 3, 1e-14);
  carom_scene_destroy(s);
}

TEST(full_scene_arrays) {
  carom_scene *s = read_options(FULL, NULL);
  REQUIRE(s);
  const carom_model *m = s->model;
  for (int n = 0; n < 6; n++) {
    char name[20];
    snprintf(name, sizeof name, "grain_%d", n);
    int g = find(s, name), i = n % 3, j = n / 3;
    REQUIRE(g > 0);
    CHECK_VEC(carom_state_pose(m, s->state, g).p, (i - 1) * 0.3, 5 + (j - 0.5) * 0.3, 0, 1e-15);
    CHECK_VEC(carom_state_velocity(m, s->state, g), 0.1 * i, 0.2 * j, n / 6.0, 1e-15);
    CHECK_TEXT(m->materials[m->bodies[g].material].name, "rubber");
    CHECK_NEAR(m->bodies[g].mass, 1100 * 0.2 * 0.1 * 0.05, 1e-12);
  }
  CHECK(m->parts[m->bodies[find(s, "grain_0")].part_start].shape ==
        m->parts[m->bodies[find(s, "grain_5")].part_start].shape);
  int spoke = find(s, "spoke_1");  // a quarter turn on: at +y, turned with it
  CHECK_VEC(carom_state_pose(m, s->state, spoke).p, 0, 2, 9, 1e-15);
  CHECK_VEC(cm_rotate(carom_state_pose(m, s->state, spoke).q, cm_vec3(1, 0, 0)), 0, 1, 0, 1e-15);
  CHECK_VEC(carom_state_pose(m, s->state, find(s, "plate_2")).p, 0, -5, 0.5, 1e-15);
  // A regular hexagon of side a has the area 3 sqrt(3)/2 a^2.
  CHECK_NEAR(m->bodies[find(s, "plate_0")].mass, 7800 * 0.2 * 1.5 * sqrt(3) * 0.01, 1e-10);
  // Copies whose shape depends on n: a tetrahedron of edge a has the volume a^3 / (6 sqrt 2).
  for (int n = 0; n < 20; n++) {
    char name[20];
    snprintf(name, sizeof name, "dust_%d", n);
    double a = 0.1 * (1 + n / 20.0);
    CHECK_NEAR(m->bodies[find(s, name)].mass, 7800 * a * a * a / (6 * sqrt(2)), 1e-9);
  }
  carom_scene_destroy(s);
}

TEST(full_scene_forces) {
  carom_scene *s = read_options(FULL, NULL);
  REQUIRE(s);
  const carom_model *m = s->model;
  CHECK_VEC(m->gravity, 0, 0, -9.81, 0);
  REQUIRE(m->charge_set_count == 1 && m->charge_count == 8);
  CHECK(m->charge_sets[0].constant == 5e-4 && m->charge_sets[0].softening == 1e-3);
  CHECK(m->charges[5].body == find(s, "grain_5") && m->charges[5].charge == 6);
  CHECK(m->charges[7].body == CAROM_WORLD && m->charges[7].charge == -1);
  CHECK_VEC(m->charges[7].point, 0, 0, 40, 0);
  REQUIRE(m->spring_count == 2);
  CHECK(m->springs[0].body[0] == find(s, "top") && m->springs[0].body[1] == CAROM_WORLD);
  CHECK(m->springs[0].stiffness == 100 && m->springs[0].damping == 0.5 && m->springs[0].rest_length == 0.5);
  CHECK(m->springs[1].body[0] == find(s, "grain_3") && m->springs[1].body[1] == find(s, "wheel"));
  // No rest length given: the distance at the start, between the origins of the two body frames.
  CHECK_NEAR(m->springs[1].rest_length, sqrt(3.3 * 3.3 + 5.15 * 5.15), 1e-12);
  REQUIRE(m->force_count == 1 && m->knot_count == 3);
  CHECK(m->forces[0].body == find(s, "wheel") && m->forces[0].body_axes);
  CHECK(m->knots[1].time == 1 && m->knots[1].factor == 1 && m->knots[2].time == 2 && m->knots[2].factor == 0);
  carom_scene_destroy(s);
}

TEST(defaults_when_nothing_is_said) {
  carom_scene *s = parse("carom: 1\n");
  REQUIRE(s);
  CHECK_TEXT(s->title, "text");
  CHECK_TEXT(s->description, "");
  CHECK_TEXT(s->path, "folder/text.yaml");
  CHECK(s->seed == 0 && s->duration == 10 && s->step.step == 1e-3);
  CHECK_NEAR(s->frame_interval, 0.033, 1e-15);
  CHECK(s->model->body_count == 0 && !s->camera.given);
  CHECK_VEC(s->model->gravity, 0, 0, 0, 0);
  carom_scene_destroy(s);
  s = parse("carom: 1\nduration: 5 ms\nforces: {gravity: 9.81}\nbodies:\n");
  REQUIRE(s);
  CHECK(s->frame_interval == 1e-3);
  CHECK_VEC(s->model->gravity, 0, 0, -9.81, 0);
  carom_scene_destroy(s);
  s = parse("carom: 1\noutput: {every: 7}\n");
  REQUIRE(s);
  CHECK_NEAR(s->frame_interval, 0.007, 1e-17);
  carom_scene_destroy(s);
}

TEST(body_defaults_and_their_opposites) {
  carom_scene *s = parse(
      "carom: 1\nmaterials: {steel: {density: 7800}}\n"
      "defaults: {body: {material: steel, shape: {sphere: 1}, mass: 3, velocity: [1, 0, 0]}}\n"
      "bodies:\n  - {name: a}\n  - {name: b, density: 10, position: [5, 0, 0]}\n"
      "  - {name: c, parts: [{shape: {box: [1, 1, 1]}}], position: [9, 0, 0], velocity: [0, 2, 0]}\n"
      "  - {name: wall, fixed: true, position: [20, 0, 0]}\n");
  REQUIRE(s);
  CHECK(s->model->bodies[0].mass == 3 && s->state->p[0].x == 3);
  CHECK_NEAR(s->model->bodies[1].mass, 10 * 4.0 / 3 * 3.14159265358979323846, 1e-12);
  CHECK(carom_shape_get_kind(s->model->parts[2].shape) == CAROM_SHAPE_POLYTOPE && s->state->p[2].y == 6);
  CHECK(s->model->bodies[3].fixed && s->state->p[3].x == 0);
  carom_scene_destroy(s);
}

static carom_quat rotation(const char *text) {
  char scene[400];
  snprintf(scene, sizeof scene, "carom: 1\nbodies: [{shape: {box: [1, 2, 3]}, rotation: %s}]\n", text);
  carom_scene *s = parse(scene);
  carom_quat q = s ? carom_state_pose(s->model, s->state, 0).q : cm_quat(0, 0, 0, 0);
  carom_scene_destroy(s);
  return q;
}

// One rotation in four spellings: 30 degrees about x, then 40 about the new y, then 50 about the new z.
TEST(rotations_agree) {
  double d = 3.14159265358979323846 / 180, a = 30 * d, b = 40 * d, c = 50 * d;
  carom_mat3 X = {{{1, 0, 0}, {0, cos(a), -sin(a)}, {0, sin(a), cos(a)}}};
  carom_mat3 Y = {{{cos(b), 0, sin(b)}, {0, 1, 0}, {-sin(b), 0, cos(b)}}};
  carom_mat3 Z = {{{cos(c), -sin(c), 0}, {sin(c), cos(c), 0}, {0, 0, 1}}};
  carom_mat3 R = cm_mmul(cm_mmul(X, Y), Z);
  char text[300];
  snprintf(text, sizeof text, "{matrix: [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}",
           R.m[0][0], R.m[0][1], R.m[0][2], R.m[1][0], R.m[1][1], R.m[1][2], R.m[2][0], R.m[2][1], R.m[2][2]);
  carom_quat q[4] = {rotation("{euler: [30 deg, 40 deg, 50 deg]}"), rotation(text)};
  carom_vec3 w = cm_log(q[0]);
  snprintf(text, sizeof text, "{axis: [%.17g, %.17g, %.17g], angle: %.17g}", 3 * w.x, 3 * w.y, 3 * w.z, cm_norm(w));
  q[2] = rotation(text);
  snprintf(text, sizeof text, "{quaternion: [%.17g, %.17g, %.17g, %.17g]}", -2 * q[1].w, -2 * q[1].x, -2 * q[1].y,
           -2 * q[1].z);
  q[3] = rotation(text);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      carom_vec3 e = cm_vec3(k == 0, k == 1, k == 2), column = cm_mulv(R, e);
      CHECK_VEC(cm_rotate(q[i], e), column.x, column.y, column.z, 1e-15);
    }
}

TEST(inertia_in_three_forms) {
  static const char *const forms[] = {"[2, 3, 4]", "[2, 3, 4, 0, 0, 0]", "[[2, 0, 0], [0, 3, 0], [0, 0, 4]]"};
  for (int i = 0; i < 3; i++) {
    char text[200];
    snprintf(text, sizeof text, "carom: 1\nbodies: [{mass: 5, inertia: %s}]\n", forms[i]);
    carom_scene *s = parse(text);
    REQUIRE(s);
    CHECK_VEC(s->model->bodies[0].inertia, 2, 3, 4, 1e-15);
    carom_scene_destroy(s);
  }
  carom_scene *s = parse("carom: 1\nbodies: [{mass: 5, inertia: [3, 3, 4, 1, 0, 0]}]\n");  // eigenvalues 2, 4, 4
  REQUIRE(s);
  carom_vec3 J = s->model->bodies[0].inertia;
  CHECK_NEAR(fmin(J.x, fmin(J.y, J.z)), 2, 1e-14);
  CHECK_NEAR(J.x + J.y + J.z, 10, 1e-14);
  carom_scene_destroy(s);
}

TEST(all_shapes) {
  carom_scene *s = parse(
      "carom: 1\ndefaults: {body: {density: 1}}\nbodies:\n"
      "  - {position: [0, 0, 0], shape: {box: {size: [1, 2, 3]}}}\n"
      "  - {position: [9, 0, 0], shape: {prism: {sides: 4, radius: 1, height: 3}}}\n"
      "  - {position: [18, 0, 0], shape: {pyramid: {sides: 4, side: 2, height: 3}}}\n"
      "  - {position: [27, 0, 0], shape: {tetrahedron: {edge: 2}}}\n"
      "  - {position: [36, 0, 0], shape: {octahedron: 2}}\n"
      "  - {position: [45, 0, 0], shape: {cone: {radius: 1, height: 3, segments: 1000}}}\n"
      "  - {position: [54, 0, 0], shape: {cylinder: {radius: 1, height: 3, segments: 1000}}}\n"
      "  - {position: [63, 0, 0], shape: {sphere: 1}}\n"
      "  - {position: [72, 0, 0], shape: {capsule: {radius: 1, length: 2}}}\n"
      "  - {position: [81, 0, 0], shape: {hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]}}\n"
      "  - {position: [90, 0, -9], shape: {halfspace: {}}, fixed: true}\n");
  REQUIRE(s);
  const double pi = 3.14159265358979323846;
  const double volumes[] = {6,  6,      4,          8 / (6 * sqrt(2)),   8 * sqrt(2) / 3,
                            pi, 3 * pi, 4 * pi / 3, 2 * pi + 4 * pi / 3, 1.0 / 6};
  for (int i = 0; i < 10; i++) CHECK_NEAR(s->model->bodies[i].mass / volumes[i], 1, i == 5 || i == 6 ? 1e-5 : 1e-13);
  carom_scene_destroy(s);
}

TEST(smooth_shapes) {
  carom_scene *s = parse(
      "carom: 1\nshapes: {brick: {box: [2, 4, 6]}}\ndefaults: {body: {density: 1}}\nbodies:\n"
      "  - {position: [0, 0, 0], shape: {ellipsoid: [1, 2, 300 cm]}}\n"
      "  - {position: [19, 0, 0], shape: {ellipsoid: {half_axes: [1, 1, 1]}}}\n"
      "  - {position: [28, 0, 0], shape: {cylinder: {radius: 1, height: 3, exact: true}}}\n"
      "  - {position: [37, 0, 0], shape: {cone: {radius: 1, height: 3, exact: true}}}\n"
      "  - {position: [46, 0, 0], shape: {rounded: {shape: brick, radius: 0.5}}}\n"
      "  - {position: [65, 0, 0], shape: {rounded: {shape: {tetrahedron: 2}, radius: 10 cm}}}\n"
      "  - {position: [74, 0, 0], shape: {cylinder: {radius: 1, height: 3, exact: false, segments: 4}}}\n"
      "  - {position: [83, 0, 0], shape: {rounded: {radius: 0.3, shape: {rounded: {shape: brick, radius: 0.2}}}}}\n");
  REQUIRE(s);
  // Steiner: V + S r + (sum of edge lengths x exterior angles)/2 r^2 + 4/3 pi r^3.
  const double pi = 3.14159265358979323846, brick = 48 + 88 * 0.5 + 12 * pi * 0.25 + 4 * pi / 3 * 0.125;
  const double tetrahedron =
      8 / (6 * sqrt(2)) + 4 * sqrt(3) * 0.1 + 6 * (pi - acos(1.0 / 3)) * 0.01 + 4 * pi / 3 * 0.001;
  const double volumes[] = {8 * pi, 4 * pi / 3, 3 * pi, pi, brick, tetrahedron, 6, brick};
  const carom_shape_kind kinds[] = {CAROM_SHAPE_ELLIPSOID, CAROM_SHAPE_ELLIPSOID, CAROM_SHAPE_CYLINDER,
                                    CAROM_SHAPE_CONE,      CAROM_SHAPE_POLYTOPE,  CAROM_SHAPE_POLYTOPE,
                                    CAROM_SHAPE_POLYTOPE,  CAROM_SHAPE_POLYTOPE};
  for (int i = 0; i < 8; i++) {
    CHECK_NEAR(s->model->bodies[i].mass / volumes[i], 1, 1e-14);
    CHECK(carom_shape_get_kind(s->model->parts[i].shape) == kinds[i]);
  }
  carom_scene_destroy(s);
}

static void check_refused(const char *shape, const char *message) {
  char text[300];
  snprintf(text, sizeof text, "carom: 1\nbodies:\n  - {shape: {%s}}\n", shape);
  carom_scene *scene;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){"text.yaml", text, strlen(text)}, NULL, NULL, &scene, &d);
  CHECK(!scene && d.count == 1);
  if (d.count > 0) CHECK_CONTAINS(d.items[0].message, message);
  carom_diagnostics_release(&d);
}

TEST(smooth_shapes_refused) {
  check_refused("ellipsoid: [1, 2, 0]", "half axis z of the ellipsoid is 0");
  check_refused("ellipsoid: 3", "ellipsoid");
  check_refused("cylinder: {radius: 1, height: 2, exact: true, segments: 8}", "an exact cylinder has no segments");
  check_refused("cone: {radius: 1, height: 2, exact: maybe}", "exact");
  check_refused("rounded: {shape: {sphere: 1}, radius: 1}", "only a shape with flat faces can be rounded");
  check_refused("rounded: {shape: {box: [1, 1, 1]}}", "radius");
  check_refused("rounded: {radius: 1}", "shape");
  check_refused("rounded: {shape: nobody, radius: 1}", "there is no shape 'nobody'");
  check_refused("rounded: {shape: {box: [1, 1, 1]}, radius: -1}", "radius");
}

// ---- clouds --------------------------------------------------------------------------------------------

static const char cloud_text[] =
    "carom: 1\nseed: 7\nbodies:\n"
    "  - {name: a, shape: {sphere: 0.1}, replicate: {cloud: {count: 300, min: [0, 0, 0], max: [2, 2, 2], clearance: "
    "0.01}}}\n"
    "  - {name: b, shape: {box: [0.1, 0.1, 0.1]}, replicate: {cloud: {count: 200, min: [0, 0, 0], max: [2, 2, 2], "
    "rotate: "
    "true}}}\n";

TEST(clouds_keep_clear) {
  carom_scene *s = parse(cloud_text);
  REQUIRE(s);
  int n = s->state->body_count;
  double small = 0.05 * sqrt(3);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double gap = cm_norm(cm_sub(s->state->x[i], s->state->x[j])) - (i < 300 ? 0.1 : small) - (j < 300 ? 0.1 : small);
      if (gap < (i < 300 ? 0.01 : 0) - 1e-12) test_fail(__FILE__, __LINE__, "bodies %d and %d: gap %g", i, j, gap);
    }
  for (int i = 0; i < n; i++) {
    carom_vec3 x = s->state->x[i];
    CHECK(x.x >= 0 && x.x <= 2 && x.y >= 0 && x.y <= 2 && x.z >= 0 && x.z <= 2);
  }
  carom_scene_destroy(s);
}

// Two clouds in the same place by different routes: box against position.
TEST(clouds_keep_clear_of_shifted_ones) {
  carom_scene *s = parse(
      "carom: 1\nbodies:\n  - {name: a, shape: {sphere: 0.1}, replicate: {cloud: {count: 40, min: [0, 0, 0], max: [1, "
      "1, "
      "1]}}}\n  - {name: b, shape: {sphere: 0.1}, position: [-5, 0, 0], replicate: {cloud: {count: 40, min: [5, 0, 0], "
      "max: "
      "[6, 1, 1]}}}\n");
  REQUIRE(s);
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < i; j++) CHECK(cm_norm(cm_sub(s->state->x[i], s->state->x[j])) > 0.2 - 1e-12);
  carom_scene_destroy(s);
}

// Directions of a body axis over many random rotations: mean near 0, mean square of each component near 1/3.
TEST(cloud_rotations_are_uniform_long) {
  carom_scene *s = parse(
      "carom: 1\nbodies: [{shape: {box: [0.01, 0.02, 0.03]}, replicate: {cloud: {count: 4000, min: [0, 0, 0], max: [9, "
      "9, 9], rotate: true}}}]\n");
  REQUIRE(s);
  carom_vec3 mean = cm_zero3(), square = cm_zero3();
  for (int i = 0; i < 4000; i++) {
    carom_vec3 d = cm_rotate(carom_state_pose(s->model, s->state, i).q, cm_vec3(0.6, 0, 0.8));
    mean = cm_axpy(mean, 1.0 / 4000, d);
    square = cm_axpy(square, 1.0 / 4000, cm_mul_diag(d, d));
  }
  CHECK_VEC(mean, 0, 0, 0, 4 / sqrt(3.0 * 4000));
  CHECK_VEC(square, 1.0 / 3, 1.0 / 3, 1.0 / 3, 4 * 0.298 / sqrt(4000));
  carom_scene_destroy(s);
}

TEST(clouds_repeat_by_seed) {
  carom_scene *a = parse(cloud_text), *b = parse(cloud_text);
  const char *set = "seed=8";
  carom_scene_options options = carom_scene_default_options();
  options.overrides = &set;
  options.override_count = 1;
  carom_scene *c = parse_options(cloud_text, &options);
  REQUIRE(a && b && c);
  CHECK(carom_state_hash(a->state) == carom_state_hash(b->state));
  CHECK(carom_state_hash(a->state) != carom_state_hash(c->state));
  carom_scene_destroy(a);
  carom_scene_destroy(b);
  carom_scene_destroy(c);
}

// ---- the resolved text ---------------------------------------------------------------------------------

static void check_round_trip(carom_scene *s) {
  carom_scene *again;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){s->path, s->resolved, strlen(s->resolved)}, NULL, NULL, &again, &d);
  if (!again) print(&d);
  carom_diagnostics_release(&d);
  REQUIRE(again);
  CHECK(carom_state_hash(s->state) == carom_state_hash(again->state));
  CHECK_TEXT(again->resolved, s->resolved);
  CHECK_TEXT(again->title, s->title);
  CHECK_TEXT(again->description, s->description);
  CHECK(again->model->charge_count == s->model->charge_count && again->model->spring_count == s->model->spring_count);
  CHECK(again->duration == s->duration && again->frame_interval == s->frame_interval);
  carom_scene_destroy(again);
}

TEST(resolved_text_round_trips) {
  const char *sets[] = {"bodies.top.mass=2.5", "title='quoted: \"text\" # here'", "constants.gap=1 cm"};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = sets;
  options.override_count = 3;
  carom_scene *s = read_options(FULL, &options);
  REQUIRE(s);
  CHECK(strncmp(s->resolved, "carom: 1\n", 9) == 0);
  CHECK(!strstr(s->resolved, "include"));
  CHECK_CONTAINS(s->resolved, "mass: 2.5");
  check_round_trip(s);
  carom_scene_destroy(s);
}

TEST(awkward_texts_round_trip) {
  carom_scene *s = parse(
      "carom: 1\ntitle: \"- a: b, [c] {d} 'e' \\\"f\\\" \\\\ \\u2028 \\x85 \\t #g\"\ndescription: |\n  line one\n\n"
      "    indented: yes\n  \xc3\xa9t\xc3\xa9\nbodies:\n  - {name: \"null\", shape: {sphere: 1}}\n"
      "  - {name: 'true', shape: {sphere: 1}, position: [5, 0, 0]}\n  - {name: \"-\", mass: 1}\n  - {name: '1e3', "
      "mass: 2}\n"
      "  - {name: ...x, mass: 1}\n  - {name: a b, mass: 1}\n");
  REQUIRE(s);
  CHECK(find(s, "null") == 0 && find(s, "true") == 1 && find(s, "-") == 2 && find(s, "1e3") == 3);
  check_round_trip(s);
  carom_scene_destroy(s);
}

TEST(aliases_are_copies) {
  carom_scene *s = parse(
      "carom: 1\nbodies:\n  - {name: a, shape: &s {sphere: 0.5}, position: &p [1, 2, 3]}\n"
      "  - {name: b, shape: *s, position: [9, 9, 9], velocity: *p}\n");
  REQUIRE(s);
  CHECK_VEC(carom_state_velocity(s->model, s->state, 1), 1, 2, 3, 1e-14);
  CHECK(s->model->bodies[0].mass == s->model->bodies[1].mass);
  check_round_trip(s);
  carom_scene_destroy(s);
}

// ---- overrides -----------------------------------------------------------------------------------------

TEST(overrides) {
  const char *sets[] = {"bodies.a.mass=2",      "bodies.1.position=[4, 0, 0]",
                        "integrator.step=2 ms", "duration=3",
                        "forces.gravity=1",     "bodies.a.mass=3",
                        "constants.x=7",        "bodies.b.velocity=[x, 0, 0]"};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = sets;
  options.override_count = 8;
  carom_scene *s = parse_options(
      "carom: 1\nbodies:\n  - {name: a, shape: {sphere: 1}}\n  - {name: b, shape: {sphere: 1}, position: [1, 0, "
      "0]}\nforces:\n",
      &options);
  REQUIRE(s);
  CHECK(s->model->bodies[0].mass == 3);
  CHECK_VEC(carom_state_pose(s->model, s->state, 1).p, 4, 0, 0, 0);
  CHECK_NEAR(carom_state_velocity(s->model, s->state, 1).x, 7, 1e-14);
  CHECK(s->step.step == 0.002 && s->duration == 3 && s->model->gravity.z == -1);
  carom_scene_destroy(s);
}

// ---- size ----------------------------------------------------------------------------------------------

// Work in proportion to the bodies, counted by what is asked of the allocator: growth that copies all bodies for each
// new one would take 1e5 times as many bytes. Names are looked up among as many in test_base.names_finds_each_of_1e5.
TEST(many_replicas_cost_little_and_share_their_shape) {
  enum { COUNT = 100000 };
  const char *text =
      "carom: 1\nbodies:\n  - name: grain\n    shape: {octahedron: 0.1}\n"
      "    replicate: {grid: {count: [50, 40, 50], spacing: 0.3}}\n    velocity: [0.1*i, sin(n), 0]\n";
  failing_allocator counted = {.allowed = -1};
  carom_allocator allocator = failing_allocator_of(&counted);
  carom_scene *s = NULL;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){"folder/text.yaml", text, strlen(text)}, NULL, &allocator, &s, &d);
  print(&d);
  carom_diagnostics_release(&d);
  REQUIRE(s);
  CHECK(s->model->body_count == COUNT);
  CHECK(s->model->parts[0].shape == s->model->parts[COUNT - 1].shape);
  CHECK_NEAR(carom_state_velocity(s->model, s->state, COUNT - 1).y, sin(COUNT - 1), 1e-12);
  CHECK_AT_MOST((double)counted.calls / COUNT, 1.01);  // 1.002: its name, and what grows by doubling
  CHECK_AT_MOST((double)counted.bytes / COUNT, 2100);  // 1973, of which 620 to see that none overlap at the start
  carom_scene_destroy(s);
  CHECK(counted.live == 0);
}
