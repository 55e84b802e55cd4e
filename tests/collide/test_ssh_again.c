// Queries along paths, with the cache of the step before: the answers must be those of a query from nothing, whatever
// the bodies and however they move; and both ways of computing them give the same bits.
#include <string.h>

#include "collide/again.h"
#include "pair_file.h"
#include "ssh_samples.h"

typedef struct path {
  carom_placed a, b;
  carom_vec3 v, w;  // of B, per step
} path;

// B passes A at random, turning: apart, through it, and apart again.
static path random_path(carom_random *r, sample_kind kind_a, sample_kind kind_b, int steps, bool square) {
  path p = {.a = {sample_shape(r, kind_a, 1), cm_pose_identity()},
            .b = {sample_shape(r, kind_b, 1), cm_pose_identity()}};
  carom_vec3 from = cm_scale(1.4, sample_direction(r)), aim = cm_scale(0.3, sample_direction(r));
  p.b.pose.p = from;
  p.v = cm_scale(2.0 / steps, cm_sub(aim, from));
  p.w = cm_scale(carom_random_uniform(r) / steps, sample_direction(r));
  p.a.pose.q = square ? sample_square_turn(r) : sample_turn(r);
  p.b.pose.q = square ? sample_square_turn(r) : sample_turn(r);
  if (square) p.w = cm_zero3(), p.v = cm_vec3(0, 0, -2 * from.z / steps);
  return p;
}

static void release(path *p) {
  carom_shape_release(p->a.shape);
  carom_shape_release(p->b.shape);
}

static void step(path *p) { p->b.pose = cm_pose(cm_add(p->b.pose.p, p->v), cm_qmul(cm_exp(p->w), p->b.pose.q)); }

static void check_sound(const path *p, const carom_distance_result *x) {
  double size = carom_shape_bounding_radius(p->a.shape) + carom_shape_bounding_radius(p->b.shape), sum = 0;
  CHECK_NEAR(cm_norm(x->normal), 1, 1e-14);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(x->point_a, x->point_b), cm_scale(x->distance, x->normal))), 4e-14 * size);
  REQUIRE(x->column_count >= 1 && x->column_count <= 3);
  carom_vec3 a = cm_zero3(), b = cm_zero3();
  for (int i = 0; i < x->column_count; i++) {
    CHECK(x->weight[i] >= 0);
    sum += x->weight[i];
    a = cm_axpy(a, x->weight[i], cm_transform(p->a.pose, carom_shape_polytope(p->a.shape)->vertices[x->vertex_a[i]]));
    b = cm_axpy(b, x->weight[i], cm_transform(p->b.pose, carom_shape_polytope(p->b.shape)->vertices[x->vertex_b[i]]));
  }
  CHECK_NEAR(sum, 1, 1e-13);
  CHECK_NEAR(cm_norm(cm_sub(a, x->point_a)), carom_shape_radius(p->a.shape), 4e-14 * size);
  CHECK_NEAR(cm_norm(cm_sub(b, x->point_b)), carom_shape_radius(p->b.shape), 4e-14 * size);
}

// Depths of thin bodies are known to the certified error only.
static void check_equal(const path *p, const carom_distance_result *warm, const carom_distance_result *cold) {
  double size = carom_shape_bounding_radius(p->a.shape) + carom_shape_bounding_radius(p->b.shape);
  double error = size * (1e-13 + warm->duality_gap + cold->duality_gap);
  CHECK_NEAR(warm->distance, cold->distance, error);
  CHECK_AT_MOST(warm->duality_gap, 1e-11);
}

static void follow(carom_random *r, sample_kind kind_a, sample_kind kind_b, bool square, double rounding) {
  enum { STEPS = 60 };
  path p = random_path(r, kind_a, kind_b, STEPS, square);
  if (rounding > 0) {
    const carom_shape *core = p.a.shape;
    REQUIRE(carom_shape_create_rounded(core, rounding, NULL, &p.a.shape, NULL) == CAROM_OK);
    carom_shape_release(core);
  }
  carom_ssh_cache cache = {0}, mixed = {0};
  for (int i = 0; i < STEPS; i++, step(&p)) {
    carom_distance_result cold = {0}, warm = {0}, other = {0};
    carom_ssh_result lp, lp_cold;
    REQUIRE(carom_distance(&p.a, &p.b, NULL, &cold) == CAROM_OK);
    REQUIRE(carom_distance(&p.a, &p.b, &cache, &warm) == CAROM_OK);
    check_sound(&p, &warm);
    check_equal(&p, &warm, &cold);
    REQUIRE(carom_ssh(&p.a, &p.b, NULL, &mixed, &lp) == CAROM_OK &&
            carom_ssh(&p.a, &p.b, NULL, NULL, &lp_cold) == CAROM_OK);
    CHECK_NEAR(lp.gap, lp_cold.gap, 1e-12 * cm_norm(lp.alpha) * (1 + rounding * 1e5));
    REQUIRE(carom_distance(&p.a, &p.b, &mixed, &other) == CAROM_OK);
    check_equal(&p, &other, &cold);
  }
  release(&p);
}

static void follow_all(uint64_t seed, bool square, double rounding) {
  carom_random r = carom_random_make(seed, 0);
  for (int a = 0; a < SAMPLE_KINDS; a++)
    for (int b = 0; b < SAMPLE_KINDS; b++) {
      for (int k = 0; k < 3; k++) follow(&r, (sample_kind)a, (sample_kind)b, square, rounding);
    }
}

TEST(paths_of_all_kinds) { follow_all(71, false, 0); }
TEST(paths_of_all_kinds_square_to_each_other) { follow_all(72, true, 0); }
TEST(paths_of_rounded_bodies) { follow_all(73, false, 0.05); }

// A shape with more vertices than are scanned, against the judges of pair files, which know no caches.
TEST(paths_of_many_vertices) {
  pair_set set;
  REQUIRE(pair_set_generate(&set, 80, 4, 120, 40, 9));
  for (int regime = 0; regime < PAIR_REGIMES; regime++) {
    carom_ssh_cache cache = {0};
    for (int i = 0; i < set.pair_count; i++) {
      const pair_case *c = pair_at(&set, regime, i);
      carom_placed a = {set.bodies[c->a], c->pose_a}, b = {set.bodies[c->b], c->pose_b};
      carom_distance_result x;
      REQUIRE(carom_distance(&a, &b, &cache, &x) == CAROM_OK);
      CHECK_NEAR(x.distance, c->distance, 1e-13);
    }
  }
  pair_set_release(&set);
}

// What a cache saves: nearly all answers take one look, and the others begin from the polytope of the last.
TEST(caches_save_queries) {
  static const double most[PAIR_REGIMES] = {1.3, 1.6, 1.4};
  pair_set set;
  REQUIRE(pair_set_generate(&set, 16, 8, 800, 100, 10));
  for (int regime = 0; regime < PAIR_REGIMES; regime++) {
    carom_ssh_cache cache = {0};
    long queries = 0;
    for (int i = 0; i < set.pair_count; i++) {
      const pair_case *c = pair_at(&set, regime, i);
      carom_placed a = {set.bodies[c->a], c->pose_a}, b = {set.bodies[c->b], c->pose_b};
      carom_distance_result x;
      if (i % set.sequence_length == 0) cache = (carom_ssh_cache){0};
      REQUIRE(carom_distance(&a, &b, &cache, &x) == CAROM_OK);
      CHECK_NEAR(x.distance, c->distance, 1e-13);
      queries += x.iterations;
    }
    printf("%s: %.3f queries\n", pair_regime_names[regime], (double)queries / set.pair_count);
    CHECK_AT_MOST((double)queries / set.pair_count, most[regime]);
  }
  pair_set_release(&set);
}

// ---- the same bits -------------------------------------------------------------------------------------------------

#ifdef CAROM_HAS_AVX2
static long compare_distance(const path *p, const carom_ssh_cache *cache) {
  carom_ssh_cache c = *cache, d = *cache;
  carom_distance_result x, y;
  memset(&x, 0, sizeof x), memset(&y, 0, sizeof y);
  bool plain = carom_distance_again_plain(&p->a, &p->b, &c, &x), wide = carom_distance_again_avx2(&p->a, &p->b, &d, &y);
  CHECK(plain == wide && memcmp(&c, &d, sizeof c) == 0);
  CHECK(!plain || memcmp(&x, &y, sizeof x) == 0);
  return plain;
}

static long compare_ssh(const path *p, const carom_ssh_cache *cache) {
  carom_ssh_cache c = *cache, d = *cache;
  carom_ssh_result x, y;
  memset(&x, 0, sizeof x), memset(&y, 0, sizeof y);
  bool plain = carom_ssh_again_plain(&p->a, &p->b, NULL, &c, &x),
       wide = carom_ssh_again_avx2(&p->a, &p->b, NULL, &d, &y);
  CHECK(plain == wide && memcmp(&c, &d, sizeof c) == 0);
  CHECK(!plain || memcmp(&x, &y, sizeof x) == 0);
  return plain;
}

TEST(both_ways_give_the_same_bits) {
  if (!carom_has_avx2()) test_skip("no AVX2 here");
  carom_random r = carom_random_make(74, 0);
  long found = 0;
  for (int trial = 0; trial < 200; trial++) {
    path p = random_path(&r, (sample_kind)(trial % SAMPLE_KINDS), SAMPLE_HULL, 40, false);
    carom_ssh_cache cache = {0}, basis = {0};
    for (int i = 0; i < 40; i++, step(&p)) {
      carom_distance_result x;
      carom_ssh_result y;
      found += compare_distance(&p, &cache) + compare_ssh(&p, &basis);
      REQUIRE(carom_distance(&p.a, &p.b, &cache, &x) == CAROM_OK &&
              carom_ssh(&p.a, &p.b, NULL, &basis, &y) == CAROM_OK);
    }
    release(&p);
  }
  CHECK(found > 9000);
}
#endif

// ---- caches that do not fit ----------------------------------------------------------------------------------------

// A polytope of other bodies is a closed surface still; if it proves anything, that is true.
TEST(polytopes_of_other_bodies) {
  carom_random r = carom_random_make(75, 0);
  carom_ssh_cache cache = {0};
  for (int trial = 0; trial < 3000; trial++) {
    path p = random_path(&r, (sample_kind)(trial % SAMPLE_KINDS), (sample_kind)(trial / 7 % SAMPLE_KINDS), 60,
                         trial % 5 == 0);
    p.b.pose.p = cm_scale(carom_random_uniform(&r), p.b.pose.p);
    carom_distance_result cold = {0}, warm = {0};
    REQUIRE(carom_distance(&p.a, &p.b, NULL, &cold) == CAROM_OK &&
            carom_distance(&p.a, &p.b, &cache, &warm) == CAROM_OK);
    check_sound(&p, &warm);
    check_equal(&p, &warm, &cold);
    release(&p);
  }
}

static void spoil(carom_random *r, carom_ssh_cache *c) {
  unsigned char *bytes = (unsigned char *)c;
  for (size_t i = 0; i < sizeof *c; i++)
    if (carom_random_below(r, 4) == 0) bytes[i] = (unsigned char)carom_random_below(r, 256);
  c->count = (int)carom_random_below(r, 5), c->points = (int)carom_random_below(r, 20);
  if (carom_random_below(r, 2)) c->faces = 2 * c->points - 4;
}

// Noise in a cache may cost the answer, which is its owner's fault, but nothing else.
TEST(noise_in_a_cache) {
  carom_random r = carom_random_make(76, 0);
  carom_ssh_cache cache = {0};
  for (int trial = 0; trial < 3000; trial++) {
    path p = random_path(&r, SAMPLE_HULL, SAMPLE_BOX, 60, false);
    carom_distance_result x = {0};
    REQUIRE(carom_distance(&p.a, &p.b, &cache, &x) == CAROM_OK);
    spoil(&r, &cache);
    REQUIRE(carom_distance(&p.a, &p.b, &cache, &x) == CAROM_OK);
    CHECK(isfinite(x.distance) && x.column_count >= 1 && x.column_count <= 3);
    release(&p);
  }
}

TEST(numbers_that_are_none) {
  carom_random r = carom_random_make(77, 0);
  path p = random_path(&r, SAMPLE_HULL, SAMPLE_BOX, 60, false);
  static const double bad[3] = {NAN, INFINITY, -INFINITY};
  for (int deep = 0; deep < 2; deep++) {
    carom_ssh_cache cache = {0};
    carom_distance_result x;
    carom_ssh_result y;
    if (deep) p.b.pose.p = cm_zero3();
    REQUIRE(carom_distance(&p.a, &p.b, &cache, &x) == CAROM_OK);
    for (int i = 0; i < 3 * 7; i++) {
      carom_ssh_cache basis = {0};
      REQUIRE(carom_ssh(&p.a, &p.b, NULL, &basis, &y) == CAROM_OK);
      carom_placed b = p.b;
      ((double *)&b.pose)[i / 3] = bad[i % 3];
      CHECK(carom_distance(&p.a, &b, &cache, &x) == CAROM_ERR_NUMBER);
      CHECK(carom_distance(&b, &p.a, &cache, &x) == CAROM_ERR_NUMBER);
      CHECK(carom_ssh(&p.a, &b, NULL, &basis, &y) == CAROM_ERR_NUMBER);
    }
  }
  release(&p);
}
