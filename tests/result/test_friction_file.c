// Problems of friction in files: Siconos' text, FCLIB's HDF5, there and back; broken ones; and the collection of others
// where it is there.
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "carom/friction_file.h"
#include "friction_samples.h"
#include "test.h"

static carom_friction_file *parse(const char *text, carom_error *error) {
  carom_friction_file *file = NULL;
  carom_friction_file_parse(&(carom_bytes){"a.dat", text, strlen(text)}, NULL, &file, error);
  return file;
}

static const char dense[] = "2 2 0\n4 4 4 4\n 2 0.5 0 0  0.5 1 0 0.1  0 0 3 0  0 0.1 0 4\n-1 0.25 2e-1 0\n0.5 0.7\n1\n";
static const char blocks[] =
    "2\n2\n1\n4\n4\n4\n2\n2\n2 4\n2 4\n3\n4\n0 2 4\n0 1 0 1\n0\n2 0.5 0.5 1\n1\n0 0 0 0.1\n2\n0 0 0 0.1\n3\n3 0 0 4\n"
    "-1 0.25 2e-1 0\n0.5 0.7\n";

static double entry(const carom_friction_problem *p, int row, int column) {
  int d = p->dimension;
  for (int k = p->start[row / d]; k < p->start[row / d + 1]; k++)
    if (p->column[k] == column / d) return p->W[d * d * k + row % d + column % d * d];
  return 0;
}

TEST(both_storages_of_siconos_say_the_same) {
  carom_friction_file *a = parse(dense, NULL), *b = parse(blocks, NULL);
  REQUIRE(a && b);
  carom_friction_problem p = carom_friction_file_problem(a), q = carom_friction_file_problem(b);
  CHECK(strcmp(carom_friction_file_format(a), "siconos") == 0);
  CHECK(strcmp(carom_friction_file_format(b), "siconos blocks") == 0);
  REQUIRE(p.dimension == 2 && q.dimension == 2 && p.contact_count == 2 && q.contact_count == 2);
  CHECK(!carom_friction_file_guess(a));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) CHECK(entry(&p, i, j) == entry(&q, i, j));
  CHECK(entry(&p, 0, 1) == 0.5 && entry(&p, 1, 3) == 0.1 && entry(&p, 3, 3) == 4);
  for (int i = 0; i < 4; i++) CHECK(p.q[i] == q.q[i]);
  CHECK(p.q[2] == 0.2 && p.mu[1] == 0.7 && q.mu[0] == 0.5);
  carom_friction_file_destroy(a);
  carom_friction_file_destroy(b);
}

static void check_refused(const char *text, const char *part) {
  carom_error error = {0};
  CHECK(!parse(text, &error));
  CHECK(error.status == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, part);
}

TEST(broken_texts_are_told_with_the_place) {
  check_refused("", "a.dat");
  check_refused("4 1 0", "dimension");
  check_refused("3 1 2", "storage");
  check_refused("3 1000000 0", "the file ends before");
  check_refused("2 1 0 2 2 2 3 1 0 0 1 0 0 0.5", "the number of columns of W");
  check_refused("2 1 0 2 2 2 2 1 0 zero 1 0 0 0.5", "zero");
  check_refused("2 1 0 2 2 2 2 1 0 0 1 0 0", "a.dat:1");
  check_refused("2 1 0 2 2 2 2 1 0 0 1 0 0 0.5 0 0", "end of the file");
  check_refused("2 1 1 2 2 1 1 1 2 2 2 1 0 1 1 0 1 0 0 1 0 0 0.5", "column of a block");
  check_refused("2 1 1 2 2 1 1 1 2 2 2 1 0 0 0 0 1 0 0 1 0 0 0.5", "expected 0 and 1");
}

TEST(every_beginning_of_a_text_is_refused_or_read) {
  char text[sizeof blocks];
  for (size_t size = 0; size < sizeof blocks - 8; size++) {
    memcpy(text, blocks, size);
    text[size] = 0;
    carom_friction_file *file = parse(text, NULL);
    CHECK(!file);
    carom_friction_file_destroy(file);
  }
}

TEST(fclib_keeps_problem_and_answer_to_the_bit) {
  friction_sample s = friction_sample_pile(&(friction_pile){30, 0.5, 3, 0.4, 0.1, 0.2, 1});
  size_t rows = 3 * (size_t)s.problem.contact_count;
  double *r = calloc(rows, sizeof *r), *u = calloc(rows, sizeof *u);
  const char *path = "friction_test.hdf5";
  carom_error error;
  carom_friction_solution answer = {r, u, NULL};
  REQUIRE(carom_friction_solve(&s.problem, NULL, &answer, NULL, NULL, NULL) == CAROM_OK);
  REQUIRE(carom_friction_file_write(&s.problem, &answer, "a pile", path, NULL, &error) == CAROM_OK);
  carom_friction_file *file;
  REQUIRE(carom_friction_file_read(path, NULL, &file, &error) == CAROM_OK);
  carom_friction_problem p = carom_friction_file_problem(file);
  REQUIRE(p.contact_count == s.problem.contact_count && p.dimension == 3);
  CHECK(memcmp(p.start, s.start, ((size_t)p.contact_count + 1) * sizeof *p.start) == 0);
  CHECK(memcmp(p.column, s.column, (size_t)p.start[p.contact_count] * sizeof *p.column) == 0);
  CHECK(memcmp(p.W, s.W, 9 * (size_t)p.start[p.contact_count] * sizeof *p.W) == 0);
  CHECK(memcmp(p.q, s.q, rows * sizeof *p.q) == 0);
  CHECK(memcmp(p.mu, s.mu, (size_t)p.contact_count * sizeof *p.mu) == 0);
  REQUIRE(carom_friction_file_guess(file));
  CHECK(memcmp(carom_friction_file_guess(file), r, rows * sizeof *r) == 0);
  carom_friction_file_destroy(file);
  unlink(path);
  free(r), free(u);
  friction_sample_free(&s);
}

TEST(a_file_that_is_not_there_is_told) {
  carom_friction_file *file;
  carom_error error;
  CHECK(carom_friction_file_read("no/such.dat", NULL, &file, &error) == CAROM_ERR_IO && !file);
  CHECK_CONTAINS(error.message, "correct the path");
  CHECK(carom_friction_file_parse(&(carom_bytes){"x", "\x89HDF\r\n\x1a\n", 8}, NULL, &file, &error) ==
        CAROM_ERR_FORMAT);
}

// ---- the collection -------------------------------------------------------------------------------------------------

// The natural map by its definition, at velocities of the symmetric part of W.
static double score(const carom_friction_problem *p, const double *r) {
  int d = p->dimension, size = d * p->contact_count;
  double worst = 0, scale = 0, *u = calloc((size_t)size, sizeof *u);
  for (int k = 0; k < size; k++) u[k] = p->q[k], scale = fmax(scale, fabs(u[k]));
  for (int i = 0; i < p->contact_count; i++)
    for (int k = p->start[i]; k < p->start[i + 1]; k++)
      for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
          double half = 0.5 * p->W[d * d * k + a + d * b];
          u[d * i + a] += half * r[d * p->column[k] + b];
          u[d * p->column[k] + b] += half * r[d * i + a];
        }
  for (int i = 0; i < p->contact_count; i++) {
    double mean = 0, z[3] = {0}, best[3] = {0}, mu = p->mu[i];
    for (int a = 0; a < d; a++) mean += entry(p, d * i + a, d * i + a) / d;
    double slip = d == 3 ? hypot(u[3 * i + 1], u[3 * i + 2]) : fabs(u[2 * i + 1]);
    for (int a = 0; a < d; a++) z[a] = r[d * i + a] - (u[d * i + a] + (a ? 0 : mu * slip)) / mean;
    double t = hypot(z[1], z[2]);
    if (t <= mu * z[0]) memcpy(best, z, sizeof best);
    if (t > mu * z[0] && mu * t > -z[0]) {
      best[0] = (z[0] + mu * t) / (1 + mu * mu);
      best[1] = mu * best[0] * z[1] / t, best[2] = mu * best[0] * z[2] / t;
    }
    for (int a = 0; a < d; a++) worst = fmax(worst, mean * fabs(r[d * i + a] - best[a]));
  }
  free(u);
  return worst / scale;
}

static void check_file(const char *path) {
  carom_friction_file *file;
  carom_error error;
  REQUIRE(carom_friction_file_read(path, NULL, &file, &error) == CAROM_OK);
  carom_friction_problem p = carom_friction_file_problem(file);
  size_t rows = (size_t)(p.dimension * p.contact_count);
  double *r = calloc(rows, sizeof *r), *u = calloc(rows, sizeof *u);
  REQUIRE(carom_friction_solve(&p, NULL, &(carom_friction_solution){r, u, NULL}, NULL, NULL, NULL) == CAROM_OK);
  double worst = score(&p, r);
  if (!(worst <= 1e-9)) test_fail(__FILE__, __LINE__, "%s: %.2g", path, worst);
  free(r), free(u);
  carom_friction_file_destroy(file);
}

TEST(all_friction_problems_of_others_are_solved) {
  DIR *folder = opendir(CAROM_TEST_SHARED "/friction");
  if (!folder) test_skip("the collection of friction problems is not here");
  int solved = 0;
  for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
    char path[600];
    const char *dot = strrchr(e->d_name, '.');
    snprintf(path, sizeof path, "%s/friction/%s", CAROM_TEST_SHARED, e->d_name);
    if (!dot || (strcmp(dot, ".dat") != 0 && strcmp(dot, ".hdf5") != 0)) continue;
    check_file(path);
    solved++;
  }
  closedir(folder);
  CHECK(solved == 14);
}
