#include "glpk_lp.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>

enum { ALPHA = 1, A1 = 4, A2 = 5 };  // columns, from 1 on

typedef struct lp_data {
  int na, nb;
  carom_vec3 *x, *y;  // vertices, moved to B's middle and divided by the size, so that tolerances mean the same
  carom_vec3 beta;
  double size;
} lp_data;

static carom_vec3 mean_of(const carom_polytope *p) {
  carom_vec3 m = cm_zero3();
  for (int i = 0; i < p->vertex_count; i++) m = cm_axpy(m, 1.0 / p->vertex_count, p->vertices[i]);
  return m;
}

static double radius_of(const carom_polytope *p) {
  carom_vec3 m = mean_of(p);
  double r = 0;
  for (int i = 0; i < p->vertex_count; i++) r = fmax(r, cm_norm(cm_sub(p->vertices[i], m)));
  return r;
}

static carom_vec3 *place(const carom_polytope *p, carom_quat q, carom_vec3 offset, double size) {
  carom_vec3 *v = malloc((size_t)p->vertex_count * sizeof *v);
  if (!v) abort();
  for (int i = 0; i < p->vertex_count; i++) v[i] = cm_scale(1 / size, cm_add(cm_rotate(q, p->vertices[i]), offset));
  return v;
}

static void set_row(glp_prob *lp, int row, carom_vec3 v, int offset) {
  const int columns[] = {0, ALPHA, ALPHA + 1, ALPHA + 2, offset};
  const double values[] = {0, v.x, v.y, v.z, -1};
  glp_set_mat_row(lp, row, offset ? 4 : 3, columns, values);
}

static glp_prob *pose_problem(const lp_data *d) {
  glp_prob *lp = glp_create_prob();
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_cols(lp, 5);
  glp_add_rows(lp, d->na + d->nb + 1);
  for (int j = ALPHA; j <= A2; j++) glp_set_col_bnds(lp, j, GLP_FR, 0, 0);
  glp_set_obj_coef(lp, A1, 1);
  glp_set_obj_coef(lp, A2, -1);
  for (int i = 0; i < d->na; i++) {
    glp_set_row_bnds(lp, i + 1, GLP_LO, 0, 0);
    set_row(lp, i + 1, d->x[i], A1);
  }
  for (int i = 0; i < d->nb; i++) {
    glp_set_row_bnds(lp, d->na + i + 1, GLP_UP, 0, 0);
    set_row(lp, d->na + i + 1, d->y[i], A2);
  }
  glp_set_row_bnds(lp, d->na + d->nb + 1, GLP_FX, 1, 1);
  set_row(lp, d->na + d->nb + 1, d->beta, 0);
  return lp;
}

// The value of the plane with normal alpha: what eq. 2.29 leaves when a1 and a2 are chosen best.
static double plane_value(const lp_data *d, carom_vec3 alpha) {
  long double low = HUGE_VALL, high = -HUGE_VALL;
  for (int i = 0; i < d->na; i++) {
    carom_vec3 v = d->x[i];
    low = fminl(low, (long double)alpha.x * v.x + (long double)alpha.y * v.y + (long double)alpha.z * v.z);
  }
  for (int i = 0; i < d->nb; i++) {
    carom_vec3 v = d->y[i];
    high = fmaxl(high, (long double)alpha.x * v.x + (long double)alpha.y * v.y + (long double)alpha.z * v.z);
  }
  return (double)(low - high);
}

static void read_answer(glp_prob *lp, const lp_data *d, glpk_lp_answer *answer) {
  answer->status = glp_get_status(lp);
  if (answer->status == GLP_NOFEAS || answer->status == GLP_INFEAS || answer->status == GLP_FEAS)
    answer->status = GLP_UNDEF;
  if (answer->status != GLP_OPT) return;
  carom_vec3 alpha =
      cm_vec3(glp_get_col_prim(lp, ALPHA), glp_get_col_prim(lp, ALPHA + 1), glp_get_col_prim(lp, ALPHA + 2));
  answer->alpha = cm_scale(1 / cm_dot(alpha, d->beta), alpha);
  double objective = glp_get_obj_val(lp);
  answer->gap = objective * d->size;
  answer->slack = fabs(objective - plane_value(d, answer->alpha));
}

// With tight tolerances; where these are too tight, again from the last basis with looser ones. (glp_exact would not
// help: it rounds the data to nine digits first.)
static void solve(const lp_data *d, glpk_lp_answer *answer) {
  glp_prob *lp = pose_problem(d);
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.it_lim = 1000;
  for (double tolerance = 1e-12; tolerance < 1e-8 && answer->status == GLP_UNDEF; tolerance *= 10) {
    options.tol_bnd = options.tol_dj = options.tol_piv = tolerance;
    if (glp_simplex(lp, &options) != 0)
      glp_std_basis(lp);
    else
      read_answer(lp, d, answer);
  }
  glp_delete_prob(lp);
}

glpk_lp_answer glpk_lp_solve(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b, carom_pose pose_b,
                             carom_vec3 beta) {
  lp_data d = {.na = a->vertex_count, .nb = b->vertex_count, .beta = beta, .size = radius_of(a) + radius_of(b)};
  carom_vec3 middle = cm_rotate(pose_b.q, mean_of(b));
  d.x = place(a, pose_a.q, cm_sub(cm_sub(pose_a.p, pose_b.p), middle), d.size);
  d.y = place(b, pose_b.q, cm_neg(middle), d.size);
  glp_term_out(GLP_OFF);
  glpk_lp_answer answer = {.status = GLP_UNDEF, .gap = NAN, .size = d.size, .slack = INFINITY};
  solve(&d, &answer);
  free(d.x), free(d.y);
  return answer;
}
