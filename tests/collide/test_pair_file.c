// The judges of the separation tests are judged themselves: against each other, closed forms, the hull of all vertex
// differences, and the stored pairs.
#include "pair_file.h"

#include "shapes.h"
#include "test.h"

static carom_pose at(double x, double y, double z) { return cm_pose(cm_vec3(x, y, z), cm_qidentity()); }

TEST(boxes_in_closed_form) {
  const carom_shape *shape = box_shape(2, 2, 2);
  const carom_polytope *p = carom_shape_polytope(shape);
  pair_reference r = pair_reference_of(p, at(5, 0, 0), p, at(0, 0.3, 0));
  CHECK_NEAR(r.distance, 3, 1e-15);
  CHECK_NEAR(r.normal.x, 1, 1e-15);
  r = pair_reference_of(p, at(5, 6, 7), p, at(0, 0, 0));
  CHECK_NEAR(r.distance, sqrt(9 + 16 + 25), 1e-14);
  r = pair_reference_of(p, at(1.75, 0.3, 0.1), p, at(0, 0, 0));
  CHECK_NEAR(r.distance, -0.25, 1e-15);
  CHECK_NEAR(r.normal.x, 1, 1e-15);
  carom_shape_release(shape);
}

// A cube on its edge over another cube on its edge, crosswise: the depth is between edges.
TEST(crossed_edges_in_closed_form) {
  const carom_shape *shape = box_shape(2, 2, 2);
  const carom_polytope *p = carom_shape_polytope(shape);
  double quarter = atan(1.0);
  carom_pose a = cm_pose(cm_vec3(0, 0, 2 * sqrt(2.0) - 0.1), cm_axis_angle(cm_vec3(1, 0, 0), quarter));
  carom_pose b = cm_pose(cm_zero3(), cm_axis_angle(cm_vec3(0, 1, 0), quarter));
  pair_reference r = pair_reference_of(p, a, p, b);
  CHECK_NEAR(r.distance, -0.1, 1e-14);
  CHECK_NEAR(r.normal.z, 1, 1e-14);
  a.p.z += 0.3;
  r = pair_reference_of(p, a, p, b);
  CHECK_NEAR(r.distance, 0.2, 1e-14);
  carom_shape_release(shape);
}

// Depth by the hull of all differences of vertices: the least offset of its faces.
static double depth_by_hull(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b, carom_pose pose_b) {
  int count = a->vertex_count * b->vertex_count, n = 0;
  carom_vec3 *points = malloc((size_t)count * sizeof *points);
  if (!points) abort();
  for (int i = 0; i < a->vertex_count; i++)
    for (int j = 0; j < b->vertex_count; j++)
      points[n++] = cm_sub(cm_transform(pose_a, a->vertices[i]), cm_transform(pose_b, b->vertices[j]));
  const carom_shape *shape = NULL;
  if (carom_shape_create_hull(points, count, NULL, &shape, NULL) != CAROM_OK) abort();
  const carom_polytope *p = carom_shape_polytope(shape);
  double least = INFINITY;
  for (int f = 0; f < p->face_count; f++) least = fmin(least, p->face_offsets[f]);
  carom_shape_release(shape);
  free(points);
  return -least;
}

static void check_set(const pair_set *set, int stride, bool by_hull, double tolerance) {
  for (int regime = 0; regime < PAIR_REGIMES; regime++)
    for (int i = 0; i < set->pair_count; i += stride) {
      const pair_case *c = pair_at(set, regime, i);
      const carom_polytope *a = carom_shape_polytope(set->bodies[c->a]), *b = carom_shape_polytope(set->bodies[c->b]);
      pair_reference r = pair_reference_of(a, c->pose_a, b, c->pose_b);
      CHECK_NEAR(r.distance, c->distance, tolerance);
      CHECK_AT_MOST(r.error, 1e-16 * fmax(1, r.distance));
      CHECK((regime == PAIR_OVERLAP) == (r.distance < 0));
      if (by_hull && r.distance < 0) CHECK_NEAR(depth_by_hull(a, c->pose_a, b, c->pose_b), r.distance, 1e-9);
    }
}

TEST(generated_pairs_match_their_regimes_and_the_hull_of_differences) {
  static const int vertices[] = {8, 16, 32};
  for (int k = 0; k < 3; k++) {
    pair_set set;
    REQUIRE(pair_set_generate(&set, vertices[k], 20, 60 / (k + 1), 0, 7));
    check_set(&set, 1, true, 0);
    int settled = 0;
    for (int i = 0; i < set.pair_count; i++) settled += fabs(pair_at(&set, PAIR_OVERLAP, i)->distance + 0.05) < 1e-6;
    CHECK(settled > 0.8 * set.pair_count);
    for (int i = 0; i < set.pair_count; i++) {
      CHECK_NEAR(pair_at(&set, PAIR_SEPARATED, i)->distance, 1, 1e-5);
      CHECK_NEAR(pair_at(&set, PAIR_NEAR, i)->distance, 1e-3, 1e-8);
    }
    pair_set_release(&set);
  }
}

TEST(generated_paths_are_coherent) {
  pair_set set;
  REQUIRE(pair_set_generate(&set, 16, 8, 4 * 50, 50, 3));
  for (int regime = 0; regime < PAIR_REGIMES; regime++)
    for (int i = 0; i + 1 < set.pair_count; i++) {
      const pair_case *c = pair_at(&set, regime, i), *next = c + 1;
      if ((i + 1) % 50 == 0) continue;
      CHECK(c->a == next->a && c->b == next->b);
      CHECK_AT_MOST(cm_norm(cm_sub(next->pose_a.p, c->pose_a.p)), 0.3);
      CHECK_NEAR(cm_norm(cm_log(cm_qmul(next->pose_b.q, cm_qconj(c->pose_b.q)))), 0.01, 1e-12);
    }
  pair_set_release(&set);
}

static void check_file(const char *name, int stride) {
  char path[500], message[200];
  snprintf(path, sizeof path, "%s/pairs/%s", CAROM_TEST_SHARED, name);
  pair_set set;
  if (!pair_set_read(&set, path, message)) test_skip(message);
  check_set(&set, stride, false, 2e-14);
  pair_set_release(&set);
}

TEST(stored_pairs_8) { check_file("cold_8.bin", 1); }
TEST(stored_pairs_32) { check_file("cold_32.bin", 10); }
TEST(stored_pairs_128) { check_file("cold_128.bin", 100); }
TEST(stored_path_32) { check_file("path_32.bin", 50); }

TEST(bad_files_are_refused) {
  char message[200] = "";
  pair_set set;
  CHECK(!pair_set_read(&set, CAROM_TEST_DATA "/no_such.bin", message));
  CHECK_CONTAINS(message, "cannot be opened");
  CHECK(!pair_set_read(&set, __FILE__, message));
  CHECK_CONTAINS(message, "not a pair file");
}
