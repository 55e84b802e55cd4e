// Depths of overlapping bodies against all facets of their difference, found by trying every three of its points. The
// bodies sit on small lattices, where faces, edges and corners line up and almost every decision of the expanding
// polytope is a tie: what it sees, where its horizon runs, which face is nearest, which face holds the foot.
#include <pthread.h>

#include "collide/epa.h"
#include "pair_file.h"
#include "test_collide.h"

enum { MOST_POINTS = 400 };

typedef struct cloud {
  int count;
  carom_vec3 d[MOST_POINTS];
} cloud;

static cloud differences(const carom_placed *a, const carom_placed *b) {
  cloud D = {0};
  int na = carom_shape_polytope(a->shape)->vertex_count, nb = carom_shape_polytope(b->shape)->vertex_count;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb && D.count < MOST_POINTS; j++)
      D.d[D.count++] = cm_sub(world_vertex(a, i), world_vertex(b, j));
  return D;
}

// How far the points reach beyond a plane through one of them.
static double beyond(const cloud *D, carom_vec3 n, double h) {
  double most = -1e300;
  for (int i = 0; i < D->count; i++) most = fmax(most, cm_dot(n, D->d[i]) - h);
  return most;
}

// The least distance of a supporting plane through three of the points: every facet is among these, and no supporting
// plane is nearer than the nearest facet. Negative when the origin is outside.
static double brute_depth(const cloud *D) {
  double least = 1e300;
  for (int i = 0; i < D->count; i++)
    for (int j = i + 1; j < D->count; j++)
      for (int k = j + 1; k < D->count; k++) {
        carom_vec3 n = cm_cross(cm_sub(D->d[j], D->d[i]), cm_sub(D->d[k], D->d[i]));
        double norm = cm_norm(n);
        if (norm < 1e-9) continue;
        n = cm_scale(1 / norm, n);
        double h = cm_dot(n, D->d[i]);
        if (h < 0) n = cm_neg(n), h = -h;
        if (h < least && beyond(D, n, h) <= 1e-11) least = h;
      }
  return least;
}

// The answer must be deep enough (a facet at that depth exists), provably no deeper (the plane supports D), and own up.
static void check_depth(const carom_placed *a, const carom_placed *b, const cloud *D, double depth,
                        const carom_distance_result *r) {
  CHECK_NEAR(r->distance, -depth, 1e-12);
  CHECK_NEAR(cm_norm(r->normal), 1, 1e-14);
  CHECK_AT_MOST(beyond(D, cm_neg(r->normal), depth), 1e-11);
  CHECK_AT_MOST(fabs(r->distance + depth), r->duality_gap * 10 + 1e-13);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(r->point_a, r->point_b), cm_scale(r->distance, r->normal))), 1e-11);
  carom_vec3 xa = cm_zero3(), xb = cm_zero3();
  double sum = 0;
  for (int i = 0; i < r->column_count; i++) {
    CHECK(r->weight[i] >= 0);
    sum += r->weight[i];
    xa = cm_axpy(xa, r->weight[i], world_vertex(a, r->vertex_a[i]));
    xb = cm_axpy(xb, r->weight[i], world_vertex(b, r->vertex_b[i]));
  }
  CHECK_NEAR(sum, 1, 1e-13);
  CHECK_AT_MOST(cm_norm(cm_sub(xa, r->point_a)) + cm_norm(cm_sub(xb, r->point_b)), 1e-11);
}

// Turned by quarters about the middle of the lattice, shifted by halves; `blur` spoils every tie by about that much.
static carom_placed lattice_placed(carom_random *r, const carom_shape *shape, double blur) {
  carom_quat q = cm_qidentity();
  for (int k = 0; k < 3; k++) {
    carom_vec3 axis = cm_vec3(k == 0, k == 1, k == 2);
    double quarters = carom_random_below(r, 4), off = carom_random_between(r, -blur, blur);
    q = cm_qmul(cm_axis_angle(axis, 1.5707963267948966 * quarters + off), q);
  }
  double x = carom_random_below(r, 3), y = carom_random_below(r, 3), z = carom_random_below(r, 3);
  carom_vec3 p = cm_axpy(cm_scale(0.5, cm_vec3(x - 1, y - 1, z - 1)), blur, cm_vec3(0.3, -0.7, 0.4));
  q = cm_qunit(q);
  return (carom_placed){shape, cm_pose(cm_sub(p, cm_rotate(q, cm_vec3(1, 1, 1))), q)};
}

static int compare_lattice_bodies(uint64_t seed, int count, double blur) {
  carom_random random = carom_random_make(seed, 0);
  int deep = 0;
  for (int i = 0; i < count; i++) {
    const carom_shape *a = grid_polytope(&random), *b = grid_polytope(&random);
    carom_placed A = lattice_placed(&random, a, blur), B = lattice_placed(&random, b, blur);
    carom_distance_result r;
    CHECK(carom_distance(&A, &B, NULL, &r) == CAROM_OK);
    if (r.distance < -1e-6) {
      cloud D = differences(&A, &B);
      check_depth(&A, &B, &D, brute_depth(&D), &r);
      deep++;
    }
    carom_shape_release(a), carom_shape_release(b);
  }
  return deep;
}

TEST(lattice_bodies_with_exact_ties) { CHECK(compare_lattice_bodies(1, 60, 0) > 30); }
TEST(lattice_bodies_with_ties_near_round_off) { CHECK(compare_lattice_bodies(2, 60, 1e-15) > 30); }
TEST(lattice_bodies_with_broken_ties) { CHECK(compare_lattice_bodies(3, 60, 1e-8) > 30); }

// One cache along a walk of poses, lattice sites and all that lies between: what was proven for other poses proves
// nothing now.
TEST(cached_depths_along_a_walk) {
  carom_random random = carom_random_make(5, 0);
  for (int i = 0; i < 12; i++) {
    const carom_shape *a = grid_polytope(&random), *b = grid_polytope(&random);
    carom_placed A = lattice_placed(&random, a, 0), B = lattice_placed(&random, b, 0);
    carom_ssh_cache cache = {0};
    double speed = i % 3 == 0 ? 0.3 : i % 3 == 1 ? 0.05 : 1e-9;
    carom_vec3 v = cm_vec3(carom_random_normal(&random), carom_random_normal(&random), carom_random_normal(&random));
    for (int k = 0; k < 12; k++) {
      carom_distance_result r;
      CHECK(carom_distance(&A, &B, &cache, &r) == CAROM_OK);
      cloud D = differences(&A, &B);
      if (r.distance < -1e-6) check_depth(&A, &B, &D, brute_depth(&D), &r);
      A.pose.q = cm_qunit(cm_qmul(cm_axis_angle(v, speed), A.pose.q));
      A.pose.p = cm_scale(k % 4 == 3 ? 0.5 : 1, cm_axpy(A.pose.p, 0.2 * speed, cm_unit(v)));
    }
    carom_shape_release(a), carom_shape_release(b);
  }
}

// A polytope cached for other bodies is closed, but lies anywhere: turned inside out, or beside the origin. It must not
// be taken for a proof.
TEST(caches_of_other_bodies) {
  carom_random random = carom_random_make(6, 0);
  carom_ssh_cache cache = {0};
  int taken = 0;
  for (int i = 0; i < 150; i++) {
    const carom_shape *a = grid_polytope(&random), *b = grid_polytope(&random);
    carom_placed A = lattice_placed(&random, a, 0.01), B = lattice_placed(&random, b, 0.01);
    carom_distance_result r;
    taken += cache.points > 0;
    CHECK(carom_distance(&A, &B, &cache, &r) == CAROM_OK);
    cloud D = differences(&A, &B);
    if (r.distance < -1e-6) check_depth(&A, &B, &D, brute_depth(&D), &r);
    carom_shape_release(a), carom_shape_release(b);
  }
  CHECK(taken > 50);
}

// From any columns: one, two that are the same, three in a line, four in a plane, four beside the origin.
TEST(any_first_simplex) {
  carom_random random = carom_random_make(7, 0);
  for (int i = 0; i < 60; i++) {
    const carom_shape *a = grid_polytope(&random), *b = grid_polytope(&random);
    carom_placed A = lattice_placed(&random, a, 0), B = lattice_placed(&random, b, 0);
    cloud D = differences(&A, &B);
    double depth = brute_depth(&D);
    carom_distance_result r;
    CHECK(carom_distance(&A, &B, NULL, &r) == CAROM_OK);
    for (int k = 0; k < 4 && r.distance < -1e-6; k++) {
      carom_difference E;
      carom_difference_place(&E, &A, &B);
      carom_simplex s = {.count = 1 + k};
      for (int c = 0; c <= k; c++) {
        int va = (int)carom_random_below(&random, (uint32_t)carom_shape_polytope(a)->vertex_count);
        s.c[c] = carom_difference_column(&E, va, c % carom_shape_polytope(b)->vertex_count);
      }
      carom_facet f;
      carom_epa(&E, &s, &f, NULL);
      CHECK_NEAR(f.depth, depth, 1e-12);
      CHECK_NEAR(f.upper, depth, 1e-11);
      CHECK_AT_MOST(beyond(&D, f.normal, f.depth), 1e-11);
      carom_vec3 foot = cm_zero3();
      for (int c = 0; c < f.count; c++) foot = cm_axpy(foot, f.w[c], f.c[c].d);
      CHECK_AT_MOST(cm_norm(cm_sub(foot, cm_scale(f.depth, f.normal))), 1e-11);
    }
    carom_shape_release(a), carom_shape_release(b);
  }
}

// Prisms whose sides, edges and corners all line up: hundreds of coplanar columns. The judge tries all facets.
TEST(aligned_prisms) {
  for (int n = 4; n <= 24; n += 4)
    for (int turn = 0; turn < 3; turn++) {
      const carom_shape *a = NULL, *b = NULL;
      CHECK(carom_shape_create_prism(n, 1, 1, NULL, &a, NULL) == CAROM_OK);
      CHECK(carom_shape_create_prism(n, 1, 1.5, NULL, &b, NULL) == CAROM_OK);
      carom_quat q = cm_axis_angle(cm_vec3(0, 0, 1), 3.14159265358979323846 * turn / n / 2);
      carom_placed A = {a, cm_pose(cm_vec3(0.9, 0, 0.25), q)}, B = {b, cm_pose_identity()};
      pair_reference truth = pair_reference_depth(carom_shape_polytope(a), A.pose, carom_shape_polytope(b), B.pose);
      carom_distance_result r;
      CHECK(carom_distance(&A, &B, NULL, &r) == CAROM_OK);
      CHECK_NEAR(r.distance, truth.distance, 1e-12);
      CHECK_NEAR(r.point_a.z - r.point_b.z, r.distance * r.normal.z, 1e-12);
      carom_shape_release(a), carom_shape_release(b);
    }
}

// Round ellipsoids are spheres: the depth is known. A search that stops on a curved surface stops below it, and must
// say by how much.
TEST(bounds_of_curved_depths) {
  carom_random random = carom_random_make(8, 0);
  const carom_shape *ball = NULL;
  CHECK(carom_shape_create_ellipsoid(cm_vec3(1, 1, 1), NULL, &ball, NULL) == CAROM_OK);
  for (int i = 0; i < 20; i++) {
    carom_placed A = {ball, random_pose(&random, 1)}, B = {ball, random_pose(&random, 0)};
    carom_difference E;
    carom_difference_place(&E, &A, &B);
    carom_vec3 line = cm_sub(A.pose.p, B.pose.p);
    double depth = 2 - cm_norm(line);
    if (depth < 0.1 || depth > 1.9) continue;
    carom_simplex s = {.count = 1};
    s.c[0] = carom_difference_lowest(&E, line);
    carom_facet f;
    carom_epa(&E, &s, &f, NULL);
    CHECK(f.depth <= depth + 1e-15 && depth <= f.upper + 1e-15);
    CHECK_AT_MOST(f.upper - f.depth, 1e-10);
  }
  carom_shape_release(ball);
}

// ---- the stack -----------------------------------------------------------------------------------------------------

// A sanitizer puts guards around every array and keeps all temporaries apart.
#if defined(__SANITIZE_ADDRESS__)
enum { STACK = 1024 * 1024 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
enum { STACK = 1024 * 1024 };
#else
enum { STACK = 64 * 1024 };
#endif
#else
enum { STACK = 64 * 1024 };
#endif

typedef struct job {
  carom_placed a, b;
  carom_distance_result r;
} job;

static void *ask(void *context) {
  job *j = context;
  carom_ssh_cache cache = {0};
  for (int k = 0; k < 3; k++)
    if (carom_distance(&j->a, &j->b, &cache, &j->r) != CAROM_OK) return NULL;
  return j;
}

// Queries are made in many threads, some with little stack: 64 KB must do for the search, the threads library and all.
TEST(depth_in_a_thread_with_little_stack) {
  job j = {.a = placed_plain(box_of(1, 1, 1), 0.6, 0.1, 0), .b = placed_plain(box_of(1, 2, 1), 0, 0, 0)};
  pthread_attr_t attributes;
  pthread_t thread;
  void *answer = NULL;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, STACK) == 0);
  REQUIRE(pthread_create(&thread, &attributes, ask, &j) == 0);
  REQUIRE(pthread_join(thread, &answer) == 0);
  CHECK(answer == &j);
  CHECK_NEAR(j.r.distance, -0.4, 1e-14);
  pthread_attr_destroy(&attributes);
  carom_shape_release(j.a.shape), carom_shape_release(j.b.shape);
}
