// What the parts of `carom lcp` share: questions about a problem, cones of contact impulses, and nonlinear problems.
#ifndef CAROM_SRC_CLI_LCP_H
#define CAROM_SRC_CLI_LCP_H

#include "cli/cli.h"

// Which classes M belongs to, whether a solution is sure, and in which complementary cones q lies; an exit code. The
// report goes into `json` as an object where that is not null, else to the terminal.
int cli_lcp_check(const carom_mlcp_problem *problem, const char *path, cli_json *json);
// The coordinates of q in the complementary cone that `word` names by a z or w for each pair; likewise.
int cli_lcp_cone(const carom_mlcp_problem *problem, const char *path, const char *word, cli_json *json);
// Whether the friction cone of a file is pointed; an exit code, 1 where it is not.
int cli_lcp_pointed(const char *path, bool json);

// A nonlinear problem: F(z) as expressions, where to begin, and names of the unknowns (null for alphabetical).
typedef struct cli_lcp_nonlinear {
  const char *const *expressions;
  int count;
  const char *start, *variables;
  carom_lcp_options options;
  bool json;
} cli_lcp_nonlinear;
int cli_lcp_solve_nonlinear(const cli_lcp_nonlinear *problem);

#endif
