// Supports of bodies: what they are made into, along which axes, and what is refused with which words.
#include "fixtures.h"
#include "model/support.h"

static carom_builder *flat_builder(void) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  return b;
}

static int put_plate(carom_builder *b) { return put_box(b, cm_vec3(3, 1, 0.5), cm_pose_identity(), false); }

static carom_support_def viscous(int body, double damping) {
  carom_support_def def = carom_support_default();
  def.body = body, def.damping = damping;
  return def;
}

// E as seen along the axes of the body at the start.
static void matrix_of(const world *w, int body, double E[6][6]) {
  carom_support_turn(w->model->supports[body].matrix, cm_rotation(w->state->q[body]), E);
}

TEST(one_damping_makes_a_matrix_by_the_radius_of_gyration) {
  carom_builder *b = flat_builder();
  int free_body = put_box(b, cm_vec3(1, 1, 1), cm_pose(cm_vec3(9, 0, 0), cm_qidentity()), true), plate = put_plate(b);
  carom_support_def def = viscous(plate, 2);
  CHECK(carom_builder_add_support(b, &def) == 0);
  world w = finish_world(b);
  double E[6][6];
  matrix_of(&w, plate, E);
  CHECK(w.model->support_count == 1 && w.model->supports[free_body].kind == CAROM_SUPPORT_NONE);
  CHECK_NEAR(E[0][0], 2, 1e-12);
  CHECK_NEAR(E[5][5], 2 * (9 + 1) / 12.0, 1e-12);
  CHECK_NEAR(E[0][5], 0, 1e-12);
  free_world(&w);
}

// The user's frame need not be in the middle, nor along the principal axes: points and matrices are his.
TEST(matrices_and_points_are_along_the_axes_of_the_body_frame) {
  carom_pose off = cm_pose(cm_vec3(0.4, -0.2, 0), cm_exp(cm_vec3(0, 0, 0.7)));
  for (int way = 0; way < 2; way++) {
    carom_builder *b = flat_builder();
    carom_part part = {.shape = box_shape(3, 1, 0.5), .pose = off};
    carom_body_def body = carom_body_default();
    body.parts = &part, body.part_count = 1;
    int index = carom_builder_add_body(b, &body);
    carom_shape_release(part.shape);
    carom_support_def def = carom_support_default();
    carom_support_point points[2] = {{cm_vec3(1.4, -0.2, 0), 2}, {cm_vec3(0.4, 0.8, 0), 3}};
    double E[9] = {5, 0, -3, 0, 5, 2, -3, 2, 5};  // the same about the centre of mass, from (1, 0) and (0, 1)
    def.body = index;
    if (way == 0) def.points = points, def.point_count = 2;
    if (way == 1) def.matrix = E, def.size = 3;
    CHECK(carom_builder_add_support(b, &def) == 0);
    world w = finish_world(b);
    double M[6][6];
    matrix_of(&w, index, M);
    static const int at[3] = {0, 1, 5};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) CHECK_NEAR(M[at[i]][at[j]], E[3 * i + j], 1e-12);
    free_world(&w);
  }
}

TEST(an_inverse_is_that_of_the_entries_that_move) {
  carom_random r = carom_random_make(3, 0);
  for (int planar = 0; planar < 2; planar++) {
    double A[6][6] = {{0}}, B[6][6], M[6][6], scale[6] = {1, 1, 1, 1e-6, 1e-6, 1e-6};
    for (int k = 0; k < 8; k++) {
      double v[6];
      for (int i = 0; i < 6; i++) v[i] = carom_random_between(&r, -1, 1) * scale[i];
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) A[i][j] += v[i] * v[j];
    }
    REQUIRE(carom_support_invert(carom_read6(A), planar, B) == CAROM_OK);
    int entries[6], n = carom_twist_entries(planar, entries);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        M[i][j] = 0;
        for (int k = 0; k < n; k++) M[i][j] += A[entries[i]][entries[k]] * B[entries[k]][entries[j]];
        CHECK_NEAR(M[i][j] * scale[entries[j]] / scale[entries[i]], i == j, 1e-9);
      }
  }
}

// ---- what is refused ------------------------------------------------------------------------------------------------

static void check_refused(const carom_support_def *def, const char *words) {
  carom_builder *b = flat_builder();
  carom_error error = {0};
  put_plate(b);
  put_box(b, cm_vec3(1, 1, 1), cm_pose(cm_vec3(9, 0, 0), cm_qidentity()), true);
  CHECK(carom_builder_add_support(b, def) == -1);
  CHECK(carom_builder_status(b, &error) != CAROM_OK);
  CHECK_CONTAINS(error.message, words);
  carom_builder_destroy(b);
}

TEST(bad_supports_are_refused_by_name) {
  double skew[9] = {1, 0.1, 0, 0, 1, 0, 0, 0, 1}, thin[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1};
  carom_support_point spots[2] = {{cm_vec3(1, 0, 0), 1}, {cm_vec3(1, 0, 0), 2}};
  carom_support_def def = viscous(0, -1);
  check_refused(&def, "support of 'body0': the damping is -1 N s/m, expected more than 0");
  def = viscous(1, 1);
  check_refused(&def, "support of 'body1': the body is fixed and needs none");
  def = viscous(0, 0);
  check_refused(&def, "support of 'body0': say one of damping (more than 0), matrix and points");
  def = viscous(0, 1), def.matrix = thin, def.size = 3;
  check_refused(&def, "say only one of");
  def = viscous(0, 0), def.matrix = skew, def.size = 3;
  check_refused(&def, "support of 'body0': its matrix is not symmetric");
  def.matrix = thin;
  check_refused(&def, "support of 'body0': its matrix is not positive definite (least eigenvalue -1 N s/m)");
  def.size = 4;
  check_refused(&def, "its matrix has 4 rows, expected 3 or 6");
  def = viscous(0, 0), def.points = spots, def.point_count = 2;
  check_refused(&def, "not positive definite");  // both at one place
  spots[1].damping = -2;
  check_refused(&def, "the damping of point 1 is -2 N s/m, expected 0 or more");
  def = viscous(0, 0), def.kind = CAROM_SUPPORT_DRY, def.force = 1;
  check_refused(&def, "the greatest torque is 0 N m, expected more than 0");
  def.force = -1, def.torque = 1;
  check_refused(&def, "the greatest force is -1 N, expected more than 0");
  def = viscous(7, 1);
  check_refused(&def, "support: body index 7");
}

TEST(a_body_has_one_support) {
  carom_builder *b = flat_builder();
  carom_support_def def = viscous(put_plate(b), 1);
  carom_error error = {0};
  CHECK(carom_builder_add_support(b, &def) == 0 && carom_builder_add_support(b, &def) == -1);
  carom_builder_status(b, &error);
  CHECK_CONTAINS(error.message, "body 'body0' has two supports: remove one of them");
  carom_builder_destroy(b);
}

// A flat matrix cannot hold a body in space, whenever it is said that there is no plane.
TEST(the_plane_may_be_told_late_and_is_asked_again) {
  carom_builder *b = flat_builder();
  double E[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  carom_support_def def = viscous(put_plate(b), 0);
  carom_model *model = NULL;
  carom_state *state = NULL;
  carom_error error = {0};
  def.matrix = E, def.size = 3;
  CHECK(carom_builder_add_support(b, &def) == 0);
  carom_builder_set_planar(b, false);
  CHECK(carom_builder_finish(b, &model, &state, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "not positive definite");
  carom_builder_destroy(b);
}

// ---- scenes ---------------------------------------------------------------------------------------------------------

static void check_scene(const char *support, const char *words) {
  char text[800], found[2000] = "";
  carom_scene *scene = NULL;
  carom_diagnostics d;
  snprintf(text, sizeof text,
           "carom: 1\nplanar: true\nbodies:\n  - {name: part, shape: {box: [3 mm, 1 mm, 1 mm]}, support: %s}\n",
           support);
  carom_status status = carom_scene_parse(&(carom_bytes){"s.yaml", text, strlen(text)}, NULL, NULL, &scene, &d);
  for (int i = 0; i < d.count; i++)
    if (d.items[i].line == 4) strncat(found, d.items[i].message, sizeof found - strlen(found) - 1);
  if (words) CHECK_CONTAINS(found, words);
  if (!words && status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s: %s", support, found);
  if (scene && words) test_fail(__FILE__, __LINE__, "%s was read", support);
  carom_diagnostics_release(&d);
  carom_scene_destroy(scene);
}

TEST(scenes_have_supports) {
  check_scene("{damping: 1e-3 N*s/m}", NULL);
  check_scene("{damping: [[2, 0, 0], [0, 1, 0], [0, 0, 3e-7 N*m*s]]}", NULL);
  check_scene("{points: [{at: [1 mm, 0], damping: 1e-3}, {at: [-1 mm, 0, 0], damping: 2e-3 N s/m}]}", NULL);
  check_scene("{force: 10 uN, torque: 2 uN*mm}", NULL);
  check_scene("{matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 1e-6]]}", NULL);
  check_scene("{damping: 1e-3, force: 1}", "it has several");
  check_scene("{}", "it has none");
  check_scene("{dampng: 1}", "unknown key 'dampng'");
  check_scene("{damping: 3 kg}", "damping");
  check_scene("{damping: -1}", "'damping' must be");
  check_scene("{damping: [[1, 0], [0, 1]]}", "expects 3 rows of 3 numbers, or 6 of 6");
  check_scene("{damping: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}", "not positive definite (least eigenvalue -1 N s/m)");
  check_scene("{damping: [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}", "not symmetric");
  check_scene("{points: []}", "a support has 1 to 64 points");
  check_scene("{points: [{at: [0, 0]}]}", "damping");
  check_scene("{force: 1 N}", "the greatest torque is 0 N m");
}
