// Problem files: every format, its mistakes, and the collection under testdata.
#include <dirent.h>
#include <stdint.h>
#include <unistd.h>

#include "failing_allocator.h"
#include "test.h"

#include "carom/lcp_file.h"

static carom_lcp_set *parse(const char *text) {
  carom_lcp_set *set;
  carom_error error;
  if (carom_lcp_set_parse(&(carom_bytes){"sample", text, strlen(text)}, NULL, &set, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return set;
}

// M = [1 2; 3 4], q = (-5, -6), whatever the format.
static void check_sample(const char *text, const char *format) {
  const double M[4] = {1, 3, 2, 4}, q[2] = {-5, -6};
  carom_lcp_set *set = parse(text);
  if (!set) return;
  CHECK_TEXT(carom_lcp_set_format(set), format);
  for (int k = 0; k < carom_lcp_set_count(set); k++) {
    carom_mlcp_problem p = carom_lcp_set_problem(set, k);
    CHECK(p.n == 2 && memcmp(p.M, M, sizeof M) == 0 && memcmp(p.q, q, sizeof q) == 0);
  }
  carom_lcp_set_destroy(set);
}

TEST(every_text_format_reads_the_same_problem) {
  check_sample("carom-lcp 1\nn 2\nM\n1 2\n3 4\nq -5 -6\n", "text");
  check_sample("# a remark\ncarom-lcp 1 n 2 q -5 -6 # another\n M 1 2 3 4", "text");
  check_sample("2\n0\n2\n2\n2 2\n1 3\n2 4\n-5 -6\n\nanything may follow", "siconos");
  check_sample("2\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 1\n0\n0\n1 3 2 4\n-5 -6", "siconos");                // one block
  check_sample("2 1 2 2  4 2 2  1 2  1 2  3 4  0 2 4  0 1 0 1  0 1  1 2  2 3  3 4  -5 -6", "siconos");  // four
  check_sample("2 1 2 2  2 2 1  1 2  2  3 2  0 1 2  0 0  0 1 2  1 3 4  -5 -6", "siconos");              // two rows
  check_sample("{\"M\": [[1, 2], [3, 4]], \"q\": [-5, -6]}", "json");
  check_sample(
      " [{\"name\": {\"a\": [1, \"]\"]}, \"q\": [-5,-6.0],\n\"M\": [1,2,3,4e0]},"
      "{\"M\":[[1,2],[3,4]],\"q\":[-5,-6],\"lower\":null}]\n",
      "json");
}

TEST(mixed_problems_get_free_unknowns) {
  // Two equations first, then one pair; the same as parts A B C D a b.
  const char *whole = "1 0 2 1 0 2 3 0 1 0 3 3 3 3  1 2 3 4 5 6 7 8 9  10 11 12";
  const char *parts = "0 1 2 1  1 4 2 5  9  7 8  3 6  10 11 12";
  const char *blocks = "1 1 2 1 0 2 3 0 1 1 3 3 2 2 1 2 3 3 3 2 0 1 2 0 0 0 1 2 4 5 7 8 1 3 6 9 10 11 12 a remark";
  const char *text = "carom-lcp 1 n 3 M 1 4 7 2 5 8 3 6 9 q 10 11 12 lower -inf -inf 0 upper inf inf inf";
  const char *files[] = {whole, parts, blocks, text};
  for (int f = 0; f < 4; f++) {
    carom_lcp_set *set = parse(files[f]);
    if (!set) continue;
    carom_mlcp_problem p = carom_lcp_set_problem(set, 0);
    CHECK(p.n == 3 && p.lower && isinf(p.lower[0]) && isinf(p.lower[1]) && p.lower[2] == 0);
    for (int i = 0; i < 9; i++) CHECK(p.M[i] == i + 1);
    for (int i = 0; i < 3; i++) CHECK(p.q[i] == 10 + i);
    carom_lcp_set_destroy(set);
  }
}

TEST(mistakes_in_files_are_located) {
  static const char *const broken[][2] = {
      {"", "found the end of the file"},
      {"hello", "sample:1: expected a complementarity problem"},
      {"carom-lcp 2", "the version of carom-lcp is 2"},
      {"carom-lcp 1\nn 2\nM 1 2\n3 x", "sample:4: expected a number, found 'x'"},
      {"carom-lcp 1 n 2 M 1 2 3 4 q 1", "expected a number, found the end"},
      {"carom-lcp 1 n 2 M 1 2 3 4", "both M and q"},
      {"carom-lcp 1 n 1 M 1 M 1 q 1", "at most once"},
      {"carom-lcp 1 n 1 M 1 p 1", "found 'p'"},
      {"carom-lcp 1 n -1", "n is -1"},
      {"carom-lcp 1 n 2.5", "n is 2.5"},
      {"carom-lcp 1 n 20000 M 1 2 3", "400000000 numbers are announced"},
      {"carom-lcp 1 n 1 M 1e999 q 1", "out of range"},
      {"carom-lcp 1 n 1 M nan q 1", "found 'nan'"},
      {"carom-lcp 1 n 1 M inf q 1", "found 'inf'"},
      {"2 1 2 2 2 2 1 2 3 4 5 6", "where a block row ends is 3"},
      {"2 3 2 2 1", "the storage of the matrix"},
      {"2 2 2 2 4 0 1 2", "compressed columns"},
      {"2 0 3 2 3 2 1 2 3 4 5 6 7 8", "3 rows and 2 columns, but the problem has 2 unknowns"},
      {"2 1 2 3 1 1 1", "2 rows and 3 columns"},
      {"1 0 1 1 0 1 2 0 1 0 2 1 2 1 1 1", "2 rows and 1 columns"},
      {"2 1 2 2 1 1 1 2 1 2 1 0 1 0 0 1 3 2 4 -5 -6", "the blocks do not end with the matrix"},
      {"2 1 2 2 1 1 1 2 2 2 1 1 1 0 0 1 3 2 4 -5 -6", "starts must go from 0"},
      {"2 1 2 2 1 1 1 2 2 2 1 0 1 1 0 1 3 2 4 -5 -6", "a block's column is 1"},
      {"2 1 2 2 1 1 1 2 2 2 1 0 1 0 0 1 3 2", "found the end of the file"},
      {"2 1 2 2 999999 1 1 2 2", "numbers are announced"},
      {"2 0 2 2 2 2 1 2 3", "found the end of the file"},
      {"1 1 1 1 0 3", "a block's start is 3"},
      {"0 0 1 1", "both storage flags are 0"},
      {"{}", "\"M\" and \"q\""},
      {"{\"M\": [1], \"q\": [1, 2]}", "M has 1 numbers and q 2"},
      {"{\"M\": [1], \"q\": [1], \"lower\": [0, 0]}", "n in each of the bounds"},
      {"{\"M\": [1 2]}", "',' or ']'"},
      {"{\"M\": [[1], \"q\": [1]}", "expected"},
      {"{\"M\": 1, \"q\": [1]}", "an array of numbers"},
      {"{\"M\": [1], \"q\": [1]} x", "the end of the file"},
      {"{\"M\": [1], \"M\": [1]}", "each name once"},
      {"[{\"M\": [1], \"q\": [null]}]", "found 'null'"},
      {"[", "'{'"},
      {"LCPFILE1", "ends within its head"},
      {"LCPFILE1\2\0\0\0\7\0\0\0", "ends within its head"},  // the text ends at its first zero
  };
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    carom_lcp_set *set;
    carom_error error;
    CHECK(carom_lcp_set_parse(&(carom_bytes){"sample", broken[i][0], strlen(broken[i][0])}, NULL, &set, &error) < 0 &&
          !set);
    CHECK_CONTAINS(error.message, broken[i][1]);
  }
}

static void put_bytes(unsigned char **at, const void *bytes, size_t size) {
  memcpy(*at, bytes, size);
  *at += size;
}

TEST(binary_files_and_their_ends) {
  unsigned char bytes[200], *at = bytes;
  const int32_t head[2] = {2, 2};
  const double M[4] = {1, 3, 2, 4}, q[2] = {-5, -6};
  put_bytes(&at, "LCPFILE1", 8);
  put_bytes(&at, head, 8);
  for (int k = 0; k < 2; k++) put_bytes(&at, M, sizeof M), put_bytes(&at, q, sizeof q);
  size_t size = (size_t)(at - bytes);
  carom_lcp_set *set;
  REQUIRE(carom_lcp_set_parse(&(carom_bytes){"b", bytes, size}, NULL, &set, NULL) == CAROM_OK);
  CHECK(carom_lcp_set_count(set) == 2);
  carom_mlcp_problem p = carom_lcp_set_problem(set, 1);
  CHECK(p.n == 2 && !p.lower && memcmp(p.M, M, sizeof M) == 0 && memcmp(p.q, q, sizeof q) == 0);
  carom_lcp_set_destroy(set);
  for (size_t cut = 8; cut < size; cut++)
    CHECK(carom_lcp_set_parse(&(carom_bytes){"b", bytes, cut}, NULL, &set, NULL) < 0 && !set);
}

TEST(written_problems_come_back_bit_for_bit) {
  const double M[4] = {1.0 / 3, -1e-300, 1e300, 0}, q[2] = {0.1, -0.0}, lower[2] = {-INFINITY, -2},
               upper[2] = {INFINITY, 1e-5};
  carom_mlcp_problem problem = {.n = 2, .M = M, .q = q, .lower = lower, .upper = upper}, back;
  char path[] = "/tmp/carom-lcp-XXXXXX";
  int descriptor = mkstemp(path);
  carom_lcp_set *set;
  REQUIRE(descriptor >= 0 && close(descriptor) == 0);
  REQUIRE(carom_lcp_write(&problem, path, "two\nlines", NULL, NULL) == CAROM_OK);
  REQUIRE(carom_lcp_set_read(path, NULL, &set, NULL) == CAROM_OK);
  back = carom_lcp_set_problem(set, 0);
  CHECK(back.n == 2 && memcmp(back.M, M, sizeof M) == 0 && memcmp(back.q, q, sizeof q) == 0);
  CHECK(memcmp(back.lower, lower, sizeof lower) == 0 && memcmp(back.upper, upper, sizeof upper) == 0);
  carom_lcp_set_destroy(set);
  unlink(path);
  carom_error error;
  CHECK(carom_lcp_set_read(path, NULL, &set, &error) == CAROM_ERR_IO && !set);
  CHECK_CONTAINS(error.message, path);
}

TEST(reading_survives_any_failed_allocation) {
  const char *texts[] = {"carom-lcp 1 n 2 M 1 2 3 4 q 1 2 lower 0 0 upper 1 1", "2 0 2 2 2 2 1 2 3 4 5 6",
                         "1 0 1 1 0 1 2 0 1 0 2 2 2 2 1 2 3 4 5 6",
                         "[{\"M\": [1], \"q\": [1]},{\"M\": [1], \"q\": [1]}]"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    for (int allowed = 0;; allowed++) {
      failing_allocator f = {.allowed = allowed};
      carom_allocator a = failing_allocator_of(&f);
      carom_lcp_set *set;
      carom_status status = carom_lcp_set_parse(&(carom_bytes){"t", texts[t], strlen(texts[t])}, &a, &set, NULL);
      CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && !set));
      carom_lcp_set_destroy(set);
      CHECK(f.live == 0);
      if (status == CAROM_OK) break;
    }
}

// ---- the collection ------------------------------------------------------------------------------------------------

static void solve_problem(const char *path, const carom_mlcp_problem *p, carom_lcp_method method) {
  double *z = calloc((size_t)p->n, sizeof(double)), *w = calloc((size_t)p->n, sizeof(double));
  carom_lcp_options options = carom_lcp_default_options();
  options.method = method;
  carom_lcp_info info;
  carom_mlcp_work *work;
  carom_error error;
  if (carom_mlcp_work_create(p->n, NULL, &work, &error) != CAROM_OK ||
      carom_mlcp_solve(work, p, &options, &(carom_mlcp_solution){z, w, NULL}, &info, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s: %s", path, error.message);
  else if (info.outcome != CAROM_LCP_SOLVED || !(carom_mlcp_residual(p, z) <= 1e-9))
    test_fail(__FILE__, __LINE__, "%s: %s, residual %g", path, carom_lcp_outcome_name(info.outcome), info.residual);
  carom_mlcp_work_destroy(work);
  free(z), free(w);
}

static int solve_folder(const char *folder) {
  char path[1000];
  int files = 0;
  snprintf(path, sizeof path, CAROM_TEST_SHARED "/complementarity/%s", folder);
  DIR *directory = opendir(path);
  for (struct dirent *e; directory && (e = readdir(directory));) {
    carom_lcp_set *set;
    carom_error error;
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, CAROM_TEST_SHARED "/complementarity/%s/%s", folder, e->d_name);
    files++;
    if (carom_lcp_set_read(path, NULL, &set, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      continue;
    }
    for (int i = 0; i < carom_lcp_set_count(set); i++) {
      carom_mlcp_problem p = carom_lcp_set_problem(set, i);
      solve_problem(path, &p, CAROM_LCP_LEMKE);
      solve_problem(path, &p, CAROM_LCP_AUTO);
    }
    carom_lcp_set_destroy(set);
  }
  if (directory) closedir(directory);
  return files;
}

TEST(the_collection_is_solved) {
  int files = solve_folder("lcp") + solve_folder("mlcp") + solve_folder("bin");
  if (files == 0) test_skip("the collection of complementarity problems is not here");
  CHECK(files >= 19);
}
