// The methods of PETSc/TAO, through the shared library and its plug-in, on one rank and on two.
#include <stdio.h>
#include <unistd.h>

#include "contact_problems.h"
#include "test.h"

static const carom_contact_method tao_methods[] = {CAROM_CONTACT_BLMVM, CAROM_CONTACT_TRON};

static void need_plugin(void) {
  if (!carom_contact_method_available(CAROM_CONTACT_BLMVM))
    test_skip("libcarom_tao.so is not there, or cannot be loaded here");
}

static double speed_difference(const contact_case *a, const contact_case *b) {
  double worst = 0;
  for (int i = 0; i < a->problem.body_count; i++) {
    worst = fmax(worst, cm_norm(cm_sub(a->velocities[i], b->velocities[i])));
    worst = fmax(worst, 0.05 * cm_norm(cm_sub(a->spins[i], b->spins[i])));
  }
  return worst;
}

static void add_hinged_pair(contact_case *q) {
  for (int i = 0; i < 3; i++) {
    carom_vec3 e = cm_vec3(i == 0, i == 1, i == 2), l = cm_cross(cm_vec3(0.05, 0, 0), e);
    q->rows[q->problem.row_count++] = (carom_contact_row){.a = 0,
                                                          .b = 1,
                                                          .jacobian_a = {e.x, e.y, e.z, l.x, l.y, l.z},
                                                          .jacobian_b = {-e.x, -e.y, -e.z, l.x, l.y, l.z},
                                                          .lower = -INFINITY,
                                                          .upper = INFINITY};
  }
}

// Gauss-Seidel and TAO share nothing but the problem; the pile has a joint and a body that cannot move.
static void check_against_gauss_seidel(carom_contact_method method) {
  contact_case *one = contact_pile_case(5, 5, 5, 0.5, 11), *other = contact_pile_case(5, 5, 5, 0.5, 11);
  add_hinged_pair(one), add_hinged_pair(other);
  one->bodies[7] = other->bodies[7] = (carom_contact_body){.velocity = {0, 0, 0.01}};
  carom_contact_options o = carom_contact_default_options();
  o.cone = CAROM_CONTACT_GENERATORS, o.tolerance = 1e-7, o.max_iterations = 20000;
  contact_solve(one, &o);
  o.method = method;
  carom_contact_info info = contact_solve(other, &o);
  if (info.outcome != CAROM_CONTACT_SOLVED)
    test_fail(__FILE__, __LINE__, "%s: outcome %d, residual %g of %g after %d", carom_contact_method_name(method),
              (int)info.outcome, info.residual, info.velocity_scale, info.iterations);
  CHECK_AT_MOST(info.residual, 1e-7 * info.velocity_scale);
  CHECK_AT_MOST(speed_difference(one, other), 1e-4 * info.velocity_scale);
  free(one), free(other);
}

TEST(blmvm_gives_the_motion_of_gauss_seidel) {
  need_plugin();
  check_against_gauss_seidel(CAROM_CONTACT_BLMVM);
}

TEST(tron_gives_the_motion_of_gauss_seidel) {
  need_plugin();
  check_against_gauss_seidel(CAROM_CONTACT_TRON);
}

TEST(a_gap_asked_for_is_met) {
  need_plugin();
  for (int i = 0; i < 2; i++) {
    contact_case *q = contact_pile_case(4, 4, 4, 0.3, 5);
    carom_contact_options o = carom_contact_default_options();
    o.method = tao_methods[i], o.cone = CAROM_CONTACT_GENERATORS, o.generators = 5;
    o.tolerance = 1e-2, o.gap_tolerance = 1e-6;
    carom_contact_info info = contact_solve(q, &o);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    CHECK_AT_MOST(info.relative_gap, 1e-6);
    free(q);
  }
}

TEST(circular_cones_are_refused_with_advice) {
  need_plugin();
  contact_case *q = contact_pile_case(2, 2, 2, 0.3, 5);
  carom_contact_work *w;
  carom_error error = {0};
  carom_contact_options o = carom_contact_default_options();
  o.method = CAROM_CONTACT_TRON;
  REQUIRE(carom_contact_work_create(NULL, &w, NULL) == CAROM_OK);
  CHECK(carom_contact_solve(w, &q->problem, &o, &q->solution, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "generators");
  carom_contact_work_destroy(w);
  free(q);
}

// ---- ranks ------------------------------------------------------------------------------------

static const char *answer_path(void) { return getenv("CAROM_TEST_ANSWER"); }

// By itself: one rank solves. Under mpirun, called by the next case: all ranks solve and the first writes the motion
// down.
TEST(every_rank_solves) {
  need_plugin();
  int rank, count;
  carom_error error = {0};
  REQUIRE(carom_contact_ranks(&rank, &count, &error) == CAROM_OK);
  CHECK(rank >= 0 && rank < count);
  FILE *file = answer_path() && rank == 0 ? fopen(answer_path(), "wb") : NULL;
  for (int i = 0; i < 2; i++) {
    contact_case *q = contact_pile_case(6, 5, 7, 0.5, 21);
    carom_contact_options o = carom_contact_default_options();
    add_hinged_pair(q);
    o.method = tao_methods[i], o.cone = CAROM_CONTACT_GENERATORS, o.tolerance = 1e-7;
    carom_contact_info info = contact_solve(q, &o);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    if (file) fwrite(&count, sizeof count, 1, file);
    if (file) fwrite(q->velocities, sizeof *q->velocities, (size_t)q->problem.body_count, file);
    if (file) fwrite(q->spins, sizeof *q->spins, (size_t)q->problem.body_count, file);
    free(q);
  }
  if (file) fclose(file);
}

TEST(two_ranks_give_the_motion_of_one) {
  need_plugin();
  if (system("mpirun --version >/dev/null 2>&1") != 0) test_skip("mpirun is not there");
  char path[] = "/tmp/carom-ranks-XXXXXX", self[1000], command[3000];
  int descriptor = mkstemp(path);
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  REQUIRE(descriptor >= 0 && length > 0);
  close(descriptor);
  self[length] = 0;
  snprintf(command, sizeof command,
           "CAROM_TEST_ANSWER=%s OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "
           "mpirun --oversubscribe -n 2 '%s' every_rank_solves >/dev/null",
           path, self);
  CHECK(system(command) == 0);
  FILE *file = fopen(path, "rb");
  REQUIRE(file);
  for (int i = 0; i < 2; i++) {
    contact_case *q = contact_pile_case(6, 5, 7, 0.5, 21), *two = contact_pile_case(6, 5, 7, 0.5, 21);
    carom_contact_options o = carom_contact_default_options();
    add_hinged_pair(q);
    o.method = tao_methods[i], o.cone = CAROM_CONTACT_GENERATORS, o.tolerance = 1e-7;
    carom_contact_info info = contact_solve(q, &o);
    int count = 0;
    CHECK(fread(&count, sizeof count, 1, file) == 1 && count == 2);
    size_t bodies = (size_t)q->problem.body_count;
    CHECK(fread(two->velocities, sizeof *two->velocities, bodies, file) == bodies);
    CHECK(fread(two->spins, sizeof *two->spins, bodies, file) == bodies);
    CHECK_AT_MOST(speed_difference(q, two), 1e-4 * info.velocity_scale);
    free(q), free(two);
  }
  fclose(file);
  remove(path);
}
