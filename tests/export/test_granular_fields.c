// Fields on a grid, against crystals, motions and loads that are known in closed form.
#include "export/granular_fields.h"
#include "failing_allocator.h"
#include "fixtures.h"
#include "result_fixture.h"

static const double PI = 3.141592653589793;

static world ball_world(const carom_vec3 *x, int count, double r) {
  carom_builder *b = new_builder();
  put_balls(b, r, x, count);
  return finish_world(b);
}

static carom_recorder *begin_file(const char *path, world *w, carom_scene *scene, double h, const char *integrator) {
  carom_recorder *recorder = NULL;
  carom_error error = {0};
  *scene = fixture_scene(w->model, w->state);
  scene->step.step = h, scene->step.integrator = integrator;
  if (carom_recorder_open(path, scene, &(carom_recorder_options){.overwrite = true}, NULL, &recorder, &error) !=
      CAROM_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  return recorder;
}

static carom_result *end_file(const char *path, carom_recorder *recorder, world *w) {
  carom_verdict none = {0};
  carom_recorder_finish(recorder, &none, "complete", NULL);
  carom_recorder_close(recorder);
  free_world(w);
  carom_result *result = fixture_open(path);
  unlink(path);
  return result;
}

// One frame of balls that move as a rigid body: v + w x r.
static carom_result *moving_balls(const carom_vec3 *x, int count, double r, carom_vec3 v, carom_vec3 spin) {
  const char *path = fixture_path("balls.h5");
  world w = ball_world(x, count, r);
  carom_scene scene;
  carom_recorder *recorder = begin_file(path, &w, &scene, 0.01, "variational");
  for (int i = 0; i < count; i++) carom_state_set_velocity(w.model, w.state, i, cm_add(v, cm_cross(spin, x[i])), spin);
  carom_recorder_frame(recorder, w.state, NULL, NULL);
  return end_file(path, recorder, &w);
}

static carom_granular_grid make_grid(carom_vec3 low, carom_vec3 size, int nx, int ny, int nz) {
  return (carom_granular_grid){low, size, {nx, ny, nz}, nx * ny * nz};
}

// The fields of all frames of a result.
static carom_granular all_frames(carom_result *result, carom_granular_grid grid) {
  carom_granular g = {0};
  carom_error error = {0};
  carom_frame frame;
  if (carom_granular_create(&g, result, &grid, 0.01, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_frame_init(result, &frame, NULL);
  for (int f = 0; f < result->frame_count; f++) {
    carom_result_read_frame(result, f, &frame, NULL);
    if (carom_granular_add(&g, &frame, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  }
  carom_frame_release(&frame);
  return g;
}

// A face-centred cubic crystal of n^3 cubes with side a, touching balls.
static int face_centred(carom_vec3 *x, int n, double a) {
  static const double base[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  int count = 0;
  for (int i = 0; i < n * n * n; i++)
    for (int k = 0; k < 4; k++)
      x[count++] = cm_vec3(a * (i % n + base[k][0]), a * (i / n % n + base[k][1]), a * (i / n / n + base[k][2]));
  return count;
}

enum {
  VALUE_PACKING = 0,
  VALUE_V = 1,
  VALUE_GRAINS = 4,
  VALUE_COORDINATION = 5,
  VALUE_RESIDENCE = 6,
  VALUE_STRESS = 7
};

// pi / (3 sqrt 2) = 0.7405 and 12 neighbours inside, whatever the cell's offset from the lattice.
TEST(a_crystal_has_its_packing_and_coordination) {
  enum { N = 5 };
  static carom_vec3 x[4 * N * N * N];
  double a = 0.1, r = a / sqrt(8), values[CAROM_GRANULAR_VALUES];
  int count = face_centred(x, N, a);
  carom_result *result = moving_balls(x, count, r, cm_zero3(), cm_zero3());
  REQUIRE(result);
  for (int k = 0; k < 4; k++) {
    double low = a * (1 + 0.1 * k);
    carom_granular g = all_frames(result, make_grid(cm_vec3(low, low, low), cm_vec3(2 * a, 2 * a, 2 * a), 1, 1, 1));
    carom_granular_values(&g, 0, values);
    CHECK_NEAR(values[VALUE_PACKING], PI / sqrt(18), 2e-3);
    CHECK_NEAR(values[VALUE_COORDINATION], 12, 1e-12);
    carom_granular_destroy(&g);
  }
  carom_result_close(result);
}

// All volume is somewhere, exactly, however the cells cut the balls.
TEST(no_volume_is_lost) {
  static carom_vec3 x[50];
  carom_random random = carom_random_make(3, 0);
  for (int i = 0; i < 50; i++) x[i] = random_vector(&random, 1);
  carom_result *result = moving_balls(x, 50, 0.1, cm_zero3(), cm_zero3());
  REQUIRE(result);
  carom_granular g = all_frames(result, make_grid(cm_vec3(-1.2, -1.2, -1.2), cm_vec3(0.3, 0.2, 0.6), 8, 12, 4));
  double volume = 0, grains = 0;
  for (int c = 0; c < g.grid.count; c++) volume += g.cells[c].volume, grains += g.cells[c].grains;
  CHECK_NEAR(volume, 50 * 4 / 3.0 * PI * 1e-3, 1e-12);
  CHECK(grains == 50);
  carom_granular_destroy(&g);
  carom_result_close(result);
}

TEST(a_translating_cloud_has_one_velocity) {
  static carom_vec3 x[60];
  carom_random random = carom_random_make(4, 0);
  for (int i = 0; i < 60; i++) x[i] = random_vector(&random, 1);
  carom_vec3 v = cm_vec3(1, -2, 0.5);
  carom_result *result = moving_balls(x, 60, 0.1, v, cm_zero3());
  REQUIRE(result);
  carom_granular g = all_frames(result, make_grid(cm_vec3(-1.2, -1.2, -1.2), cm_vec3(0.4, 0.4, 0.4), 6, 6, 6));
  int seen = 0;
  for (int c = 0; c < g.grid.count; c++) {
    double values[CAROM_GRANULAR_VALUES];
    carom_granular_values(&g, c, values);
    CHECK((g.cells[c].volume > 0) == !isnan(values[VALUE_V]));
    if (isnan(values[VALUE_V])) continue;
    for (int i = 0; i < 3; i++) CHECK_NEAR(values[VALUE_V + i], (&v.x)[i], 1e-12);
    seen++;
  }
  CHECK(seen > 40);
  carom_granular_destroy(&g);
  carom_result_close(result);
}

// A crystal that turns as one: cell by cell the velocity is w x (centroid of the matter there), the crystal being
// symmetric about the centre of each cell of a grid that follows its cubes.
TEST(a_turning_crystal_turns_in_every_cell) {
  enum { N = 4 };
  static carom_vec3 x[4 * N * N * N];
  double a = 0.1, r = a / sqrt(8), values[CAROM_GRANULAR_VALUES];
  carom_vec3 spin = cm_vec3(0.3, -1, 2);
  int count = face_centred(x, N, a);
  carom_result *result = moving_balls(x, count, r, cm_zero3(), spin);
  REQUIRE(result);
  carom_granular g = all_frames(result, make_grid(cm_vec3(a, a, a), cm_vec3(a, a, a), 2, 2, 2));
  for (int c = 0; c < g.grid.count; c++) {
    carom_granular_values(&g, c, values);
    carom_vec3 v = cm_cross(spin, carom_granular_cell_center(&g.grid, c));
    for (int i = 0; i < 3; i++) CHECK_NEAR(values[VALUE_V + i], (&v.x)[i], 2e-3 * cm_norm(v));
  }
  carom_granular_destroy(&g);
  carom_result_close(result);
}

// ---- stress, with the contacts of a real run -----------------------------------------------------------------------

enum { COLUMN = 8 };
typedef enum record { NOTHING, CONTACTS, MOMENTS } record;

// Balls on top of each other on a floor, side^2 columns apart from each other, run until they rest; the last frame
// holds the contacts, or what they do to each ball.
static carom_result *resting_columns(int side, double r, double h, int steps, double *mass, record what) {
  const char *path = fixture_path("column.h5");
  carom_builder *b = new_builder();
  const carom_shape *ball = NULL;
  if (carom_shape_create_sphere(r, NULL, &ball, NULL) != CAROM_OK) abort();
  carom_part part = {.shape = ball, .pose = cm_pose_identity()};
  carom_boundary_def floor = carom_boundary_default();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -10));
  carom_builder_add_boundary(b, &floor);
  for (int i = 0; i < COLUMN * side * side; i++) {
    carom_body_def def = carom_body_default();
    int column = i / COLUMN;
    def.parts = &part, def.part_count = 1;
    def.pose.p = cm_vec3(3 * r * (column % side), 3 * r * (column / side), r * (2 * (i % COLUMN) + 1));
    carom_builder_add_body(b, &def);
  }
  carom_shape_release(ball);
  world w = finish_world(b);
  *mass = w.model->bodies[0].mass;
  carom_scene scene;
  carom_recorder *recorder = begin_file(path, &w, &scene, h, "cone");
  scene.step.solver = "interior", scene.step.solver_tolerance = 1e-10;
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create(w.model, &scene.step, NULL, &stepper, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_mat3 *moments = malloc((size_t)w.model->body_count * sizeof *moments);
  CHECK(!carom_stepper_contact_moments(stepper, moments));  // no step yet
  carom_step_report report = {0};
  for (int i = 0; i < steps; i++)
    if (carom_stepper_step(stepper, w.state, &report, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "%s", error.message);
  if (what == CONTACTS) carom_recorder_events(recorder, report.events, report.event_count, NULL);
  CHECK(carom_stepper_contact_moments(stepper, moments));
  if (what == MOMENTS) carom_recorder_moments(recorder, moments, NULL);
  carom_recorder_frame(recorder, w.state, NULL, NULL);
  free(moments);
  carom_stepper_destroy(stepper);
  return end_file(path, recorder, &w);
}

// Between the centres of ball i and i + 1 the stress is the weight of the COLUMN - 1 - i balls above over the area;
// below the first centre that of all.
TEST(a_column_bears_its_weight_over_its_area) {
  double r = 0.05, mass, values[CAROM_GRANULAR_VALUES], area = 0.3 * 0.2;
  carom_result *result = resting_columns(1, r, 0.01, 40, &mass, CONTACTS);
  REQUIRE(result);
  carom_granular g =
      all_frames(result, make_grid(cm_vec3(-0.15, -0.1, -r), cm_vec3(0.3, 0.2, 2 * r), 1, 1, COLUMN + 1));
  for (int c = 1; c < COLUMN; c++) {
    carom_granular_values(&g, c, values);
    CHECK_NEAR(values[VALUE_STRESS + 8], (COLUMN - c) * mass * 10 / area, 1e-3 * mass * 10 / area);
    CHECK_NEAR(values[VALUE_STRESS + 0], 0, 1e-6);
  }
  carom_granular_values(&g, 0, values);  // half of this cell lies below the floor
  CHECK_NEAR(values[VALUE_STRESS + 8], 0.5 * COLUMN * mass * 10 / area, 1e-3 * mass * 10 / area);
  carom_granular_destroy(&g);
  carom_result_close(result);
}

// The cell of ball i bears what is above its centre, half of the ball included, over its area: in a bed of 10 368
// balls, too many for their contacts to be told one by one. By hand: r ((n - i) + (n - i - 1)) m g / 2 r A.
TEST(a_large_bed_bears_its_weight_over_its_area) {
  enum { SIDE = 36 };
  double r = 0.05, mass, values[CAROM_GRANULAR_VALUES], width = 3 * r * SIDE;
  carom_result *result = resting_columns(SIDE, r, 0.01, 2, &mass, MOMENTS);
  REQUIRE(result);
  CHECK(result->event_count == 0);
  double one = SIDE * SIDE * mass * 10 / (width * width);  // of a layer
  carom_granular g =
      all_frames(result, make_grid(cm_vec3(-1.5 * r, -1.5 * r, 0), cm_vec3(width / 2, width / 2, 2 * r), 2, 2, COLUMN));
  for (int c = 0; c < g.grid.count; c++) {
    carom_granular_values(&g, c, values);
    CHECK_NEAR(values[VALUE_STRESS + 8], (COLUMN - c / 4 - 0.5) * one, 1e-3 * one);
    for (int i = 0; i < 8; i++) CHECK_NEAR(values[VALUE_STRESS + i], 0, 1e-3 * one);
  }
  carom_granular_destroy(&g);
  carom_result_close(result);
}

// Contact by contact or ball by ball, the whole is the same.
TEST(moments_of_balls_and_branches_of_contacts_have_one_sum) {
  double zz[2], mass;
  for (int k = 0; k < 2; k++) {
    double values[CAROM_GRANULAR_VALUES];
    carom_result *result = resting_columns(3, 0.05, 0.01, 5, &mass, k ? MOMENTS : CONTACTS);
    REQUIRE(result);
    carom_granular g = all_frames(result, make_grid(cm_vec3(-1, -1, -1), cm_vec3(3, 3, 3), 1, 1, 1));
    carom_granular_values(&g, 0, values);
    zz[k] = values[VALUE_STRESS + 8];
    carom_granular_destroy(&g);
    carom_result_close(result);
  }
  CHECK(zz[0] > 0);
  CHECK_NEAR(zz[1], zz[0], 1e-6 * zz[0]);
}

// Coordination is seen in the poses; stress is not, and says so instead of being nought.
TEST(stress_without_a_record_is_not_known) {
  double mass, values[CAROM_GRANULAR_VALUES];
  carom_result *result = resting_columns(1, 0.05, 0.01, 40, &mass, NOTHING);
  REQUIRE(result);
  carom_granular g = all_frames(result, make_grid(cm_vec3(-0.1, -0.1, 0), cm_vec3(0.2, 0.2, 0.8), 1, 1, 1));
  carom_granular_values(&g, 0, values);
  CHECK_NEAR(values[VALUE_COORDINATION], 2.0 * (COLUMN - 1) / COLUMN, 1e-12);
  CHECK(isnan(values[VALUE_STRESS + 8]));
  carom_granular_destroy(&g);
  carom_result_close(result);
}

// ---- residence -----------------------------------------------------------------------------------------------------

// Two balls; one comes back at t = 0.25. Frames at 0, 0.1 ... 0.5: at the end 0.25 s and 0.5 s.
TEST(residence_begins_anew_with_every_return) {
  const carom_vec3 x[2] = {{-1, 0, 0}, {1, 0, 0}};
  const char *path = fixture_path("residence.h5");
  world w = ball_world(x, 2, 0.1);
  carom_scene scene;
  carom_recorder *recorder = begin_file(path, &w, &scene, 0.01, "variational");
  carom_contact_event back = {.kind = CAROM_EVENT_RECIRCULATED, .time = 0.25, .body_a = 1, .body_b = CAROM_WORLD};
  for (int f = 0; f <= 5; f++) {
    w.state->time = 0.1 * f;
    if (f == 3) carom_recorder_events(recorder, &back, 1, NULL);
    carom_recorder_frame(recorder, w.state, NULL, NULL);
  }
  carom_result *result = end_file(path, recorder, &w);
  REQUIRE(result);
  carom_granular g = {0};
  carom_granular_grid grid = make_grid(cm_vec3(-2, -1, -1), cm_vec3(2, 2, 2), 2, 1, 1);
  REQUIRE(carom_granular_create(&g, result, &grid, 0.01, NULL) == CAROM_OK);
  carom_frame frame;
  carom_frame_init(result, &frame, NULL);
  carom_result_read_frame(result, 5, &frame, NULL);
  CHECK(carom_granular_add(&g, &frame, NULL) == CAROM_OK);
  double values[CAROM_GRANULAR_VALUES];
  carom_granular_values(&g, 0, values);
  CHECK_NEAR(values[VALUE_RESIDENCE], 0.5, 1e-12);
  carom_granular_values(&g, 1, values);
  CHECK_NEAR(values[VALUE_RESIDENCE], 0.25, 1e-12);
  CHECK_NEAR(values[VALUE_STRESS], 0, 0);  // nothing touches: known to be nought
  carom_frame_release(&frame);
  carom_granular_destroy(&g);
  carom_result_close(result);
}

// ---- shapes of all kinds, and files --------------------------------------------------------------------------------

static long count_lines(const char *path, char *first, size_t size) {
  FILE *file = fopen(path, "r");
  char line[2048];
  long lines = 0;
  if (!file) return -1;
  while (fgets(line, sizeof line, file))
    if (lines++ == 1) snprintf(first, size, "%s", line);
  fclose(file);
  return lines;
}

// Boxes, balls, capsules and a compound: the volume in the table's one cell is that of the bodies.
TEST(a_table_of_one_cell_holds_all_shapes) {
  const char *path = fixture_path("fields.h5"), *table = fixture_path("f.csv"), *image = fixture_path("f.vti");
  fixture_write(path, 3);
  carom_result *result = fixture_open(path);
  unlink(path);
  REQUIRE(result);
  carom_granular_options o = carom_granular_default_options();
  o.cells[0] = o.cells[1] = o.cells[2] = 1;
  o.low = cm_vec3(-10, -10, -10), o.high = cm_vec3(10, 10, 10);
  carom_error error = {0};
  CHECK(carom_export_granular(result, table, &o, NULL, &error) == CAROM_OK);
  char line[2048] = "";
  CHECK(count_lines(table, line, sizeof line) == 2);
  double t, x, y, z, packing;
  CHECK(sscanf(line, "%lf,%lf,%lf,%lf,%lf", &t, &x, &y, &z, &packing) == 5);
  double box = 0.2 * 0.3 * 0.4, pill = PI * 0.01 * 0.6 + 4 / 3.0 * PI * 1e-3, ball = 4 / 3.0 * PI * pow(0.25, 3);
  CHECK_NEAR(packing * 8000, 2 * box + 2 * pill + ball, 1e-9);
  CHECK(access(image, R_OK) == 0);
  o.every_frame = true, o.from = 0.005;
  CHECK(carom_export_granular(result, table, &o, NULL, &error) == CAROM_OK);
  CHECK(count_lines(table, line, sizeof line) == 3);
  unlink(table);
  unlink(image);
  carom_result_close(result);
}

TEST(fields_in_error_are_refused) {
  const char *path = fixture_path("refused.h5");
  fixture_write(path, 3);
  carom_result *result = fixture_open(path);
  unlink(path);
  REQUIRE(result);
  carom_error error = {0};
  carom_granular_options o = carom_granular_default_options();
  o.from = 7;
  CHECK(carom_export_granular(result, "no.csv", &o, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "no frame from 7 s");
  o = carom_granular_default_options();
  o.low = cm_vec3(1, 0, 0);
  CHECK(carom_export_granular(result, "no.csv", &o, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "inside out");
  o = carom_granular_default_options();
  o.cells[0] = o.cells[1] = 1 << 20;
  CHECK(carom_export_granular(result, "no.csv", &o, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "cells");
  CHECK(access("no.csv", F_OK) != 0);
  carom_result_close(result);
}

// Growing from nothing is a new block, too.
static void *counting_resize(void *context, void *block, size_t size) {
  return block ? failing_resize(context, block, size) : failing_allocate(context, size);
}

// Whichever allocation fails: a message, no file and nothing kept.
TEST(fields_out_of_memory_leave_nothing) {
  const char *path = fixture_path("oom.h5"), *table = fixture_path("oom.csv"), *image = fixture_path("oom.vti");
  fixture_write(path, 2);
  carom_result *result = fixture_open(path);
  unlink(path);
  REQUIRE(result);
  carom_allocator own = result->allocator;
  carom_granular_options o = carom_granular_default_options();
  carom_status status = CAROM_ERR_MEMORY;
  int allowed = 0;
  for (; status == CAROM_ERR_MEMORY && allowed < 500; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_error error = {0};
    result->allocator = failing_allocator_of(&f);
    result->allocator.resize = counting_resize;
    status = carom_export_granular(result, table, &o, NULL, &error);
    result->allocator = own;
    CHECK(f.live == 0);
    CHECK(status == CAROM_OK || access(table, F_OK) != 0);
    CHECK(status == CAROM_OK || strlen(error.message) > 0);
  }
  CHECK(status == CAROM_OK && allowed > 10);
  unlink(table);
  unlink(image);
  carom_result_close(result);
}
