// Starts in which bodies overlap: found with how deep, whatever the shapes and sizes, and parted by the least motion.
#include "carom/scene.h"
#include "failing_allocator.h"
#include "fixtures.h"

enum { MOST = 8 };

typedef struct found {
  int count;
  carom_overlap o[MOST];
} found;

static found overlaps_of(const carom_model *model, const carom_state *state) {
  found f = {0};
  carom_error error = {0};
  if (carom_start_overlaps(model, state, MOST, f.o, &f.count, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return f;
}

static carom_scene *read_bodies(const char *text) {
  carom_scene_options options = carom_scene_default_options();
  options.bodies_only = true;
  carom_scene *scene = NULL;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){"scene.yaml", text, strlen(text)}, &options, NULL, &scene, &d);
  for (int i = 0; i < d.count; i++) test_fail(__FILE__, __LINE__, "%s", d.items[i].message);
  carom_diagnostics_release(&d);
  return scene;
}

#define TWO(a, b, x) "bodies: [{name: a, shape: {" a "}}, {name: b, shape: {" b "}, position: [" x ", 0, 0]}]\n"

// Depths in closed form; a factor u makes them millimetres or a hundred metres.
static const struct {
  const char *text;
  double depth, thinnest;  // over u; depth 0: there is none
} cases[] = {
    {TWO("sphere: 1*u", "sphere: 0.5*u", "1.4*u"), 0.1, 1},
    {TWO("sphere: 1*u", "sphere: 0.5*u", "1.5*u"), 0, 0},
    {TWO("sphere: 1*u", "sphere: 0.5*u", "1.49999*u"), 0, 0},  // as typed
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 0.1*u, 1*u]", "0.99*u"), 0.01, 0.1},
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 0.1*u, 1*u]", "1*u"), 0, 0},
    {TWO("box: [2*u, 2*u, 2*u]", "capsule: {radius: 0.1*u, length: 1*u}", "1.05*u"), 0.05, 0.2},
    {TWO("prism: {sides: 6, radius: 1*u, height: 1*u}", "sphere: 0.5*u", "1.2*u"), 0.3, 0},
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 1*u, 1*u]", "0.9*u") "apart: [[a, b]]\n", 0, 0},
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 1*u, 1*u]", "0.9*u") "contacts: ignore\n", 0, 0},
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 1*u, 1*u]", "0.9*u") "joints: [{kind: revolute, between: [a, b], at: [0, "
                                                                  "0, 0]}]\n",
     0, 0},
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 1*u, 1*u]", "0.9*u") "joints: [{kind: prismatic, between: [a, b], at: [0, "
                                                                  "0, 0], axis: [1, 0, 0], collide: true}]\n",
     0.1, 1},
    {TWO("box: [1*u, 1*u, 1*u]", "box: [1*u, 1*u, 1*u]", "0.9*u") "planar: true\n", 0.1, 1},
    {"bodies: [{name: a, shape: {sphere: 1*u}, position: [0, 0, 0.9*u]}]\nboundaries: [{name: w, plane: [0, 0, 1]}]\n",
     0.1, 2},
    {"bodies: [{name: a, shape: {box: [1*u, 1*u, 1*u]}, position: [0, 0, 0.3*u]}]\n"
     "boundaries: [{name: w, plane: [0, 0, 1]}]\n",
     0.2, 1},
    {"bodies: [{name: a, shape: {sphere: 0.5*u}, position: [0.7*u, 0, 1*u]}]\n"
     "boundaries: [{name: w, profile: [[1*u, 0], [1*u, 2*u]]}]\n",
     0.2, 1},
    {"bodies: [{name: floor, shape: {halfspace: {}}, fixed: true}, {name: a, shape: {sphere: 1*u}, "
     "position: [0, 0, 0.9*u]}]\n",
     0.1, 2},
};

static const double scales[] = {1e-3, 1, 100};

static carom_scene *read_case(size_t i, double scale) {
  char text[1000];
  snprintf(text, sizeof text, "carom: 1\nconstants: {u: %g}\n%s", scale, cases[i].text);
  return read_bodies(text);
}

TEST(overlaps_are_as_deep_as_they_are) {
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      carom_scene *s = read_case(i, scales[k]);
      REQUIRE(s);
      found f = overlaps_of(s->model, s->state);
      bool there = cases[i].depth > 0;
      if (f.count != there || (there && !(fabs(f.o[0].depth / scales[k] - cases[i].depth) < 1e-3 * cases[i].depth)))
        test_fail(__FILE__, __LINE__, "%d overlaps, %g deep, not %g: %s", f.count, f.o[0].depth / scales[k],
                  cases[i].depth, cases[i].text);
      if (there && cases[i].thinnest > 0) CHECK_NEAR(f.o[0].thinnest / scales[k], cases[i].thinnest, 1e-9);
      carom_scene_destroy(s);
    }
}

// What is left is round-off, and bodies that float keep their centre of mass: the closest point in the metric of mass.
TEST(parted_bodies_touch_and_moved_least) {
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      if (cases[i].depth == 0) continue;
      carom_scene *s = read_case(i, scales[k]);
      REQUIRE(s);
      double moved[2] = {0}, smallest = 0.05 * scales[k];
      carom_error error = {0};
      carom_state *before = NULL;
      carom_state_clone(s->state, NULL, &before, NULL);
      if (carom_start_separate(s->model, s->state, moved, &error) != CAROM_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", cases[i].text, error.message);
      CHECK(overlaps_of(s->model, s->state).count == 0);
      double way = moved[0] + (s->model->body_count > 1 ? moved[1] : 0);
      if (s->model->joint_count == 0 && !(fabs(way - cases[i].depth * scales[k]) < 1e-3 * cases[i].depth * scales[k]))
        test_fail(__FILE__, __LINE__, "moved by %g, not by %g: %s", way / scales[k], cases[i].depth, cases[i].text);
      if (s->model->moving_count == 2) {
        carom_vec3 shift = cm_zero3();
        for (int b = 0; b < 2; b++)
          shift = cm_axpy(shift, s->model->bodies[b].mass, cm_sub(s->state->x[b], before->x[b]));
        double mass = s->model->bodies[0].mass + s->model->bodies[1].mass;
        CHECK_AT_MOST(cm_norm(shift) / mass, 1e-6 * smallest);
      }
      carom_state_destroy(before);
      carom_scene_destroy(s);
    }
}

TEST(velocities_stay_as_they_were_given) {
  carom_scene *s = read_bodies(
      "carom: 1\nbodies: [{name: a, shape: {box: [1, 1, 1]}, velocity: [1, 2, 3], angular_velocity: [3, 2, 1]}, {name: "
      "b, "
      "shape: {box: [1, 2, 1]}, position: [0.9, 0.4, 0], rotation: {axis: [0, 0, 1], angle: 0.3}, angular_velocity: "
      "[0, 1, "
      "2]}]\n");
  REQUIRE(s);
  CHECK(overlaps_of(s->model, s->state).count == 1);
  CHECK(carom_start_separate(s->model, s->state, NULL, NULL) == CAROM_OK);
  CHECK_AT_MOST(cm_norm(cm_sub(carom_state_velocity(s->model, s->state, 0), cm_vec3(1, 2, 3))), 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(carom_state_angular_velocity(s->model, s->state, 0), cm_vec3(3, 2, 1))), 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(carom_state_angular_velocity(s->model, s->state, 1), cm_vec3(0, 1, 2))), 1e-12);
  carom_scene_destroy(s);
}

TEST(joints_beyond_their_limits_are_found_and_put_back) {
  carom_scene *s = read_bodies(
      "carom: 1\nbodies: [{name: door, shape: {box: [1, 0.1, 2]}}]\n"
      "joints: [{name: hinge, kind: revolute, between: [world, door], at: [-0.5, 0, 0], turn: {lower: 0.2, upper: "
      "1}}]\n");
  REQUIRE(s);
  found f = overlaps_of(s->model, s->state);
  char text[200];
  REQUIRE(f.count == 1 && f.o[0].joint == 0);
  CHECK_NEAR(f.o[0].depth, 0.2, 1e-12);
  carom_overlap_format(s->model, &f.o[0], text, sizeof text);
  CHECK_TEXT(text, "joint 'hinge' is 0.2 beyond its limit at the start");
  CHECK(carom_start_separate(s->model, s->state, NULL, NULL) == CAROM_OK);
  CHECK(overlaps_of(s->model, s->state).count == 0);
  CHECK_NEAR(s->state->x[0].y, 0.5 * sin(0.2), 1e-6);
  carom_scene_destroy(s);
}

// The worst come first, and all are counted.
TEST(many_overlaps_are_counted) {
  carom_builder *b = new_builder();
  carom_vec3 x[40];
  for (int i = 0; i < 40; i++) x[i] = cm_vec3(0.1 * i - 1e-4 * i * i, 0, 0);  // diameter 0.1
  put_balls(b, 0.05, x, 40);
  world w = finish_world(b);
  found f = overlaps_of(w.model, w.state);
  CHECK(f.count == 39);
  for (int i = 1; i < MOST; i++) CHECK(f.o[i].depth <= f.o[i - 1].depth);
  CHECK(f.o[0].body_a + f.o[0].body_b == 38 + 39);
  free_world(&w);
}

// A block of balls pressed together by a tenth of their diameter.
TEST(thousands_of_balls_are_parted) {
  enum { SIDE = 12, COUNT = SIDE * SIDE * SIDE };
  carom_builder *b = new_builder();
  carom_vec3 *x = calloc(COUNT, sizeof *x);
  for (int i = 0; i < COUNT; i++) x[i] = cm_scale(0.099, cm_vec3(i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)));
  put_balls(b, 0.05, x, COUNT);
  free(x);
  world w = finish_world(b);
  carom_error error = {0};
  CHECK(overlaps_of(w.model, w.state).count == 3 * SIDE * SIDE * (SIDE - 1));
  if (carom_start_separate(w.model, w.state, NULL, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK(overlaps_of(w.model, w.state).count == 0);
  free_world(&w);
}

TEST(no_way_apart_is_told) {
  carom_scene *s = read_bodies(
      "carom: 1\nbodies: [{name: floor, shape: {halfspace: {}}, fixed: true}, {name: lid, shape: {halfspace: {}}, "
      "rotation: "
      "{axis: [1, 0, 0], angle: 180 deg}, position: [0, 0, 1], fixed: true}, {name: a, shape: {sphere: 0.6}, position: "
      "[0, 0, "
      "0.5]}]\n");
  REQUIRE(s);
  carom_error error = {0};
  uint64_t before = carom_state_hash(s->state);
  CHECK(carom_start_separate(s->model, s->state, NULL, &error) == CAROM_NOT_CONVERGED);
  CHECK_CONTAINS(error.message, "there is no way apart: 'a' and '");
  CHECK(carom_state_hash(s->state) == before);
  carom_scene_destroy(s);
}

// A cube of balls that touch, each near 26 others: bases that nobody asks for again would take half a kilobyte a pair.
TEST(looking_for_overlaps_keeps_no_pairs) {
  enum { SIDE = 12, BALLS = SIDE * SIDE * SIDE };
  static carom_vec3 x[BALLS];
  failing_allocator heap = {.allowed = -1};
  carom_allocator counted = failing_allocator_of(&heap);
  carom_builder *b = NULL;
  REQUIRE(carom_builder_create(&counted, &b, NULL) == CAROM_OK);
  for (int i = 0; i < BALLS; i++) x[i] = cm_vec3(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
  put_balls(b, 0.5, x, BALLS);
  world w = finish_world(b);
  size_t before = heap.bytes;
  CHECK(overlaps_of(w.model, w.state).count == 0);
  double each = (double)(heap.bytes - before) / BALLS;
  if (getenv("CAROM_TEST_VERBOSE")) printf("%.0f bytes a ball\n", each);
  CHECK(each < 2000);  // 21 220 with the bases
  w.state->x[0].x += 0.1;
  CHECK(overlaps_of(w.model, w.state).count == 1);
  free_world(&w);
}
