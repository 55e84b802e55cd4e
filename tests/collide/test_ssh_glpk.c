// The optimum of carom_ssh against GLPK's on the program as posed.
#include <glpk.h>

#include "carom/collide.h"
#include "glpk_lp.h"
#include "ssh_samples.h"
#include "test.h"

enum { POOL = 60 };

typedef struct plan {
  uint64_t seed;
  int pairs;
  int first, last;  // kinds
  double scale;
  bool square;
  bool beta;  // given, about the line of centres
} plan;

static void report(const plan *p, int i, const carom_placed *a, const carom_placed *b, const carom_ssh_result *x) {
  fprintf(stderr, "  seed %d pair %d: outcome %d pivots %d duality gap %.3g beta %.17g %.17g %.17g |alpha| %.3g\n",
          (int)p->seed, i, (int)x->outcome, x->pivots, x->duality_gap, x->beta.x, x->beta.y, x->beta.z,
          cm_norm(x->alpha));
  sample_print(a, b);
}

static glpk_lp_answer ask_glpk(const carom_placed *a, const carom_placed *b, carom_vec3 beta) {
  return glpk_lp_solve(carom_shape_polytope(a->shape), a->pose, carom_shape_polytope(b->shape), b->pose, beta);
}

// A reset must mean that the program was unbounded; and whatever beta was used in the end, both find one optimum.
static void compare(const plan *p, int i, const carom_placed *a, const carom_placed *b, const carom_ssh_options *o,
                    double *worst) {
  carom_ssh_result x;
  carom_status status = carom_ssh(a, b, o, NULL, &x);
  int before = test_failures;
  CHECK(status == CAROM_OK && x.outcome != CAROM_SSH_LIMIT);
  if (status == CAROM_OK) {
    glpk_lp_answer y = ask_glpk(a, b, x.beta);
    CHECK(y.status == GLP_OPT);
    CHECK_AT_MOST(y.slack, 1e-11);
    CHECK_NEAR(x.gap / y.size, y.gap / y.size, 1e-10);
    *worst = fmax(*worst, fabs(x.gap - y.gap) / y.size);
    if (o->given_beta) {
      bool kept = x.outcome != CAROM_SSH_RESET;
      CHECK(kept == (ask_glpk(a, b, cm_unit(o->beta)).status == GLP_OPT));
    }
  }
  if (test_failures > before) report(p, i, a, b, &x);
}

static void run(plan p) {
  carom_random r = carom_random_make(p.seed, 0);
  const carom_shape *pool[POOL];
  for (int i = 0; i < POOL; i++)
    pool[i] = sample_shape(&r, (sample_kind)(p.first + i % (p.last - p.first + 1)), p.scale);
  double worst = 0;
  for (int i = 0; i < p.pairs; i++) {
    carom_placed a = {.shape = pool[carom_random_below(&r, POOL)]}, b = {.shape = pool[carom_random_below(&r, POOL)]};
    if (p.square)
      sample_square_poses(&r, p.scale, &a, &b);
    else
      sample_poses(&r, p.scale, &a, &b);
    carom_ssh_options o = carom_ssh_default_options();
    o.given_beta = p.beta;
    o.beta = cm_axpy(cm_sub(a.pose.p, b.pose.p), 0.3 * p.scale, sample_direction(&r));
    compare(&p, i, &a, &b, &o, &worst);
  }
  printf("%d pairs, worst difference %.3g of the size\n", p.pairs, worst);
  for (int i = 0; i < POOL; i++) carom_shape_release(pool[i]);
}

TEST(primitives) { run((plan){1, 5000, SAMPLE_BOX, SAMPLE_CONE, 1, false, false}); }
TEST(random_hulls) { run((plan){2, 5000, SAMPLE_HULL, SAMPLE_HULL, 1, false, false}); }
TEST(plates_needles_slivers) { run((plan){3, 5000, SAMPLE_PLATE, SAMPLE_SLIVER, 1, false, false}); }
TEST(grids_square_to_each_other) { run((plan){4, 5000, SAMPLE_GRID, SAMPLE_GRID, 1, true, false}); }
TEST(primitives_square_to_each_other) { run((plan){5, 5000, SAMPLE_BOX, SAMPLE_OCTAHEDRON, 1, true, false}); }
TEST(grids_with_given_beta) { run((plan){6, 5000, SAMPLE_GRID, SAMPLE_GRID, 1, true, true}); }
TEST(all_kinds_with_given_beta) { run((plan){7, 5000, SAMPLE_BOX, SAMPLE_GRID, 1, false, true}); }
TEST(micrometres) { run((plan){8, 2500, SAMPLE_BOX, SAMPLE_GRID, 1e-6, false, false}); }
TEST(millimetres) { run((plan){9, 2500, SAMPLE_BOX, SAMPLE_GRID, 1e-3, false, false}); }
TEST(kilometres) { run((plan){10, 2500, SAMPLE_BOX, SAMPLE_GRID, 1e3, false, false}); }
TEST(megametres) { run((plan){11, 2500, SAMPLE_BOX, SAMPLE_GRID, 1e6, false, false}); }

TEST(all_kinds_25000_pairs_long) { run((plan){12, 25000, SAMPLE_BOX, SAMPLE_GRID, 1, false, false}); }
TEST(given_beta_15000_pairs_long) { run((plan){13, 15000, SAMPLE_BOX, SAMPLE_GRID, 1, false, true}); }
TEST(square_15000_pairs_long) { run((plan){14, 15000, SAMPLE_BOX, SAMPLE_GRID, 1, true, false}); }

// Aligned unit cubes: face on face, edge on edge, corner on corner, and one inside the other.
TEST(aligned_cubes) {
  const carom_shape *cube = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &cube, NULL) == CAROM_OK);
  plan p = {15, 0, 0, 0, 1, true, false};
  carom_ssh_options o = carom_ssh_default_options();
  double worst = 0;
  int n = 0;
  for (int i = -8; i <= 8; i++)
    for (int j = -8; j <= 8; j += 2)
      for (int k = -8; k <= 8; k += 2) {
        carom_placed a = {cube, cm_pose(cm_vec3(0.25 * i, 0.25 * j, 0.25 * k), cm_qidentity())};
        carom_placed b = {cube, cm_pose_identity()};
        compare(&p, n++, &a, &b, &o, &worst);
      }
  printf("%d pairs, worst difference %.3g of the size\n", n, worst);
  carom_shape_release(cube);
}
