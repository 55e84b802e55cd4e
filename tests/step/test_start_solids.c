// Solids that begin in one another or in bodies, against distances of rigid boxes of the same size.
#include "carom/collide.h"
#include "carom/model.h"
#include "carom/step.h"
#include "test.h"

static const double SIDES[3] = {1, 0.6, 0.4};

static carom_quat random_turn(carom_random *r) {
  carom_vec3 axis =
      cm_vec3(carom_random_between(r, -1, 1), carom_random_between(r, -1, 1), carom_random_between(r, -1, 1));
  return cm_norm(axis) > 1e-3 ? cm_axis_angle(axis, carom_random_between(r, 0, 6)) : cm_qidentity();
}

static carom_pose random_pose(carom_random *r) {
  carom_pose pose;
  pose.p = cm_vec3(carom_random_between(r, -1, 1), carom_random_between(r, -1, 1), carom_random_between(r, -1, 1));
  pose.q = random_turn(r);
  return pose;
}

static const carom_shape *box_shape(void) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_box(cm_vec3(SIDES[0], SIDES[1], SIDES[2]), NULL, &shape, NULL)) test_skip("no memory");
  return shape;
}

static carom_tets box_mesh(void) {
  carom_tets_box box = carom_tets_box_default();
  carom_tets mesh = {0};
  box.size = cm_vec3(SIDES[0], SIDES[1], SIDES[2]);
  box.cells[0] = 4, box.cells[1] = 3, box.cells[2] = 2;
  if (carom_tets_init_box(&box, NULL, &mesh, NULL)) test_skip("no memory");
  return mesh;
}

static void add_solid(carom_builder *b, const carom_tets *mesh, carom_pose pose) {
  carom_solid_def def = carom_solid_default();
  def.mesh = mesh, def.pose = pose, def.lambda = def.mu = 1e4;
  carom_builder_add_solid(b, &def);
}

static void add_body(carom_builder *b, const carom_shape *shape, carom_pose pose) {
  carom_body_def def = carom_body_default();
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  def.parts = &part, def.part_count = 1, def.pose = pose;
  carom_builder_add_body(b, &def);
}

// How many pairs overlap; the first one into *worst.
static int count_overlaps(carom_builder *b, carom_overlap *worst) {
  carom_model *model = NULL;
  carom_state *state = NULL;
  carom_error error = {0};
  int count = -1;
  if (carom_builder_finish(b, &model, &state, &error) != CAROM_OK ||
      carom_start_overlaps(model, state, 1, worst, &count, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  char text[300] = "";
  if (count > 0) carom_overlap_format(model, worst, text, sizeof text);
  if (count > 0) CHECK_CONTAINS(text, "'solid0' and '");
  carom_state_destroy(state);
  carom_model_destroy(model);
  carom_builder_destroy(b);
  return count;
}

static carom_builder *new_builder(void) {
  carom_builder *b = NULL;
  if (carom_builder_create(NULL, &b, NULL) != CAROM_OK) test_skip("no memory");
  return b;
}

static double rigid_distance(const carom_shape *shape, carom_pose a, carom_pose b) {
  carom_placed pa = {shape, a}, pb = {shape, b};
  carom_distance_result d;
  CHECK(carom_distance(&pa, &pb, NULL, &d) == CAROM_OK);
  return d.distance;
}

TEST(two_solids_overlap_where_rigid_boxes_do) {
  const carom_shape *shape = box_shape();
  carom_tets mesh = box_mesh();
  carom_random r = carom_random_make(7, 0);
  int apart = 0, overlapping = 0;
  for (int i = 0; i < 400; i++) {
    carom_pose a = random_pose(&r), b = random_pose(&r);
    carom_overlap worst;
    double d = rigid_distance(shape, a, b);
    if (fabs(d) < 1e-3) continue;  // what typed numbers make is let pass
    carom_builder *builder = new_builder();
    add_solid(builder, &mesh, a);
    add_solid(builder, &mesh, b);
    CHECK(count_overlaps(builder, &worst) == (d < 0));
    *(d < 0 ? &overlapping : &apart) += 1;
  }
  CHECK(apart > 50 && overlapping > 50);
  carom_tets_release(&mesh);
  carom_shape_release(shape);
}

// Bodies are looked for by nodes and corners: what is found overlaps, and what is deep is found.
TEST(solids_in_bodies_are_found) {
  const carom_shape *shape = box_shape();
  carom_tets mesh = box_mesh();
  carom_random r = carom_random_make(8, 0);
  int apart = 0, deep = 0;
  for (int i = 0; i < 400; i++) {
    carom_pose a = random_pose(&r), b = random_pose(&r);
    carom_overlap worst;
    double d = rigid_distance(shape, a, b);
    carom_builder *builder = new_builder();
    add_solid(builder, &mesh, a);
    add_body(builder, shape, b);
    int count = count_overlaps(builder, &worst);
    apart += d > 0, deep += d < -0.15;
    if (d > 0) CHECK(count == 0);
    if (d < -0.15) CHECK(count == 1);
    if (count > 0) CHECK(worst.body_a == CAROM_SOLID(0) && worst.body_b == 0);
  }
  CHECK(apart > 50 && deep > 50);
  carom_tets_release(&mesh);
  carom_shape_release(shape);
}

static int overlaps_with_part(const carom_shape *shape, carom_vec3 at) {
  carom_tets mesh = box_mesh();
  carom_builder *b = new_builder();
  carom_overlap worst;
  carom_body_def def = carom_body_default();
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  def.parts = &part, def.part_count = 1, def.fixed = true, def.pose.p = at;
  add_solid(b, &mesh, cm_pose_identity());
  carom_builder_add_body(b, &def);
  carom_tets_release(&mesh);
  return count_overlaps(b, &worst);
}

TEST(small_balls_inside_and_floors_below) {
  const carom_shape *ball, *floor;
  REQUIRE(!carom_shape_create_sphere(0.01, NULL, &ball, NULL) && !carom_shape_create_halfspace(NULL, &floor, NULL));
  CHECK(overlaps_with_part(ball, cm_vec3(0.06, 0.04, 0.03)) == 1);
  CHECK(overlaps_with_part(ball, cm_vec3(0.06, 0.04, 0.21)) == 0);
  CHECK(overlaps_with_part(floor, cm_vec3(0, 0, -0.2)) == 0);
  CHECK(overlaps_with_part(floor, cm_vec3(0, 0, -0.20001)) == 0);
  CHECK(overlaps_with_part(floor, cm_vec3(0, 0, -0.19)) == 1);
  CHECK(overlaps_with_part(floor, cm_vec3(0, 0, 5)) == 1);
  carom_shape_release(ball);
  carom_shape_release(floor);
}

// Neighbours that share a face, and a solid in the same place as another.
TEST(touching_is_no_overlap_and_the_same_place_is_one) {
  carom_tets mesh = box_mesh();
  for (int axis = 0; axis < 3; axis++) {
    for (int same = 0; same < 2; same++) {
      carom_builder *b = new_builder();
      carom_overlap worst;
      double shift[3] = {0};
      shift[axis] = same ? 0 : SIDES[axis];
      add_solid(b, &mesh, cm_pose_identity());
      add_solid(b, &mesh, cm_pose(cm_vec3(shift[0], shift[1], shift[2]), cm_qidentity()));
      CHECK(count_overlaps(b, &worst) == same);
    }
  }
  carom_tets_release(&mesh);
}

// A plug in a socket: nodes that a body holds may be in it.
TEST(nodes_may_be_in_the_body_that_holds_them) {
  for (int pinned = 0; pinned < 2; pinned++) {
    carom_tets mesh = box_mesh();
    const carom_shape *shape = box_shape();
    carom_builder *b = new_builder();
    carom_overlap worst;
    int nodes[200], count = 0;
    carom_body_def def = carom_body_default();
    carom_part part = {.shape = shape, .pose = cm_pose_identity()};
    def.parts = &part, def.part_count = 1, def.fixed = true, def.pose.p = cm_vec3(0.9, 0, 0);
    add_solid(b, &mesh, cm_pose_identity());
    carom_builder_add_body(b, &def);
    for (int i = 0; i < mesh.node_count; i++)
      if (mesh.nodes[i].x > 0.26 && count < 200) nodes[count++] = i;
    if (pinned) carom_builder_pin(b, 0, 0, count, nodes);
    CHECK(count_overlaps(b, &worst) == !pinned);
    carom_tets_release(&mesh);
    carom_shape_release(shape);
  }
}
