// GLPK's primal simplex on the program as posed, at default tolerances; warm: from the last basis of the same bodies.
#include <glpk.h>
#include <stdlib.h>

#include "separation.h"

typedef struct glpk_world {
  const pair_set *set;
  separation_program program;
  glp_prob *lp;
  glp_smcp options;
  int *row, *column;  // of the matrix, from 1 on
  double *value;
} glpk_world;

static void destroy(void *world) {
  glpk_world *w = world;
  if (w->lp) glp_delete_prob(w->lp);
  separation_program_destroy(&w->program);
  free(w->row), free(w->column), free(w->value);
  free(w);
}

// All bodies of a set have the same number of vertices, so that rows and bounds never change.
static void pose(glpk_world *w) {
  int n = w->set->vertex_count, at = 0;
  glp_set_obj_dir(w->lp, GLP_MAX);
  glp_add_cols(w->lp, 5);
  glp_add_rows(w->lp, 2 * n + 1);
  for (int j = 1; j <= 5; j++) glp_set_col_bnds(w->lp, j, GLP_FR, 0, 0);
  glp_set_obj_coef(w->lp, 4, 1);
  glp_set_obj_coef(w->lp, 5, -1);
  for (int i = 1; i <= 2 * n + 1; i++) {
    int kind = i <= n ? GLP_LO : i <= 2 * n ? GLP_UP : GLP_FX;
    glp_set_row_bnds(w->lp, i, kind, kind == GLP_FX ? 1 : 0, kind == GLP_FX ? 1 : 0);
    for (int j = 1; j <= 3; j++) w->row[++at] = i, w->column[at] = j;
    if (i <= 2 * n) w->row[++at] = i, w->column[at] = i <= n ? 4 : 5, w->value[at] = -1;
  }
}

static void *create(const pair_set *set) {
  glpk_world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  size_t entries = 8 * (size_t)set->vertex_count + 4;
  w->set = set;
  w->row = calloc(entries, sizeof *w->row), w->column = calloc(entries, sizeof *w->column);
  w->value = calloc(entries, sizeof *w->value);
  w->lp = glp_create_prob();
  if (!w->row || !w->column || !w->value || !separation_program_create(&w->program, set)) {
    destroy(w);
    return NULL;
  }
  glp_init_smcp(&w->options);
  w->options.msg_lev = GLP_MSG_OFF;
  glp_term_out(GLP_OFF);
  pose(w);
  return w;
}

static void load(glpk_world *w, const pair_case *pair) {
  int n = 2 * w->set->vertex_count, at = 0;
  separation_program_place(&w->program, w->set, pair);
  for (int i = 0; i <= n; i++) {
    const double *x = i < n ? w->program.vertices + 3 * i : w->program.beta;
    for (int k = 0; k < 3; k++) w->value[++at] = x[k];
    if (i < n) at++;
  }
  glp_load_matrix(w->lp, at, w->row, w->column, w->value);
}

static double solve(glpk_world *w) {
  int failed = glp_simplex(w->lp, &w->options);
  return failed == 0 && glp_get_status(w->lp) == GLP_OPT ? glp_get_obj_val(w->lp) : NAN;
}

static double cold(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  glpk_world *w = world;
  load(w, pair);
  glp_std_basis(w->lp);
  return solve(w);
}

static double warm(void *world, const pair_case *pair, bool fresh) {
  glpk_world *w = world;
  load(w, pair);
  if (fresh) glp_std_basis(w->lp);
  double gap = solve(w);
  if (!isnan(gap)) return gap;
  glp_std_basis(w->lp);
  return solve(w);
}

#define EVERYWHERE \
  { true, true, true }
const separation_engine separation_glpk_cold = {"GLPK", BENCH_GLPK, "double", true,   EVERYWHERE,
                                                false,  create,     cold,     destroy};
const separation_engine separation_glpk_warm = {"GLPK, warm", BENCH_GLPK, "double", true,   EVERYWHERE,
                                                true,         create,     warm,     destroy};
