// Complementarity through the public headers and the shared library alone.
#include "carom/carom.h"
#include "test.h"

TEST(the_example_of_the_documentation) {
  const double M[4] = {2, 1, 1, 2}, q[2] = {-5, -6};
  carom_lcp_problem problem = {.n = 2, .M = M, .q = q};
  double z[2], w[2];
  unsigned char basis[2];
  carom_lcp_work *work;
  carom_lcp_info info;
  carom_error error;
  REQUIRE(carom_lcp_work_create(2, NULL, &work, &error) == CAROM_OK);
  CHECK(carom_lcp_solve(work, &problem, NULL, &(carom_lcp_solution){z, w, basis}, &info, &error) == CAROM_OK);
  CHECK(info.outcome == CAROM_LCP_SOLVED);
  CHECK_NEAR(z[0], 4.0 / 3, 1e-15);
  CHECK_NEAR(z[1], 7.0 / 3, 1e-15);
  CHECK(basis[0] == 1 && basis[1] == 1);
  CHECK_TEXT(carom_lcp_outcome_name(info.outcome), "solved");
  CHECK_TEXT(carom_lcp_method_name(info.method), "lemke");
  carom_lcp_work_destroy(work);
}

TEST(names_are_never_null) {
  for (int i = -1; i < 10; i++) {
    CHECK(carom_lcp_outcome_name((carom_lcp_outcome)i) != NULL);
    CHECK(carom_lcp_method_name((carom_lcp_method)i) != NULL);
  }
}

TEST(mixed_files_and_tools_are_exported) {
  const char *text = "carom-lcp 1 n 2 M 2 -1 1 0 q -1 -1 lower -inf 0";
  carom_lcp_set *set;
  carom_mlcp_work *work;
  carom_lcp_info info;
  bool yes;
  double z[2], w[2];
  REQUIRE(carom_lcp_set_parse(&(carom_bytes){"text", text, strlen(text)}, NULL, &set, NULL) == CAROM_OK);
  carom_mlcp_problem problem = carom_lcp_set_problem(set, 0);
  REQUIRE(carom_mlcp_work_create(2, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_mlcp_solve(work, &problem, NULL, &(carom_mlcp_solution){z, w, NULL}, &info, NULL) == CAROM_OK);
  CHECK_NEAR(z[0], 1, 1e-15);  // 2 u - v = 1 and u >= 1 with v >= 0
  CHECK_NEAR(z[1], 1, 1e-15);
  CHECK(carom_lcp_is_p_matrix(2, problem.M, 0, &yes, NULL, NULL) == CAROM_OK && !yes);
  carom_mlcp_work_destroy(work);
  carom_lcp_set_destroy(set);
}
