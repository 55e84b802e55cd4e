#include "limit.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>

limit_problem limit_begin(int bodies) { return (limit_problem){.bodies = bodies}; }

void limit_weight(limit_problem *p, int body, double x, double weight) {
  p->at[body] = x;
  p->weight[body] = weight;
}

void limit_contact(limit_problem *p, limit_point point) {
  if (p->contacts == LIMIT_CONTACTS) abort();
  p->points[p->contacts++] = point;
}

// The column of a force along (fx, fy) at a contact: on one body, and its opposite on the other.
static void set_column(glp_prob *lp, int column, const limit_point *c, double fx, double fy) {
  int rows[7], n = 0;
  double values[7];
  for (int side = 0; side < 2; side++) {
    int b = side ? c->from : c->on;
    double sign = side ? -1 : 1;
    if (b < 0) continue;
    rows[n + 1] = 3 * b + 1, values[n + 1] = sign * fx;
    rows[n + 2] = 3 * b + 2, values[n + 2] = sign * fy;
    rows[n + 3] = 3 * b + 3, values[n + 3] = sign * (c->x * fy - c->y * fx);
    n += 3;
  }
  glp_set_mat_col(lp, column, n, rows, values);
  glp_set_col_bnds(lp, column, GLP_LO, 0, 0);
}

// A force in a plane's cone is a sum of its two edges, each with a weight >= 0.
bool limit_stands(const limit_problem *p) {
  glp_term_out(GLP_OFF);
  glp_prob *lp = glp_create_prob();
  glp_add_rows(lp, 3 * p->bodies);
  glp_add_cols(lp, 2 * p->contacts);
  for (int b = 0; b < p->bodies; b++) {
    double right[3] = {0, p->weight[b], p->at[b] * p->weight[b]};
    for (int k = 0; k < 3; k++) glp_set_row_bnds(lp, 3 * b + k + 1, GLP_FX, right[k], right[k]);
  }
  for (int i = 0; i < p->contacts; i++) {
    const limit_point *c = &p->points[i];
    for (int side = 0; side < 2; side++) {
      double t = side ? c->mu : -c->mu;
      set_column(lp, 2 * i + side + 1, c, c->nx - t * c->ny, c->ny + t * c->nx);
    }
  }
  glp_smcp options;
  glp_init_smcp(&options);
  options.presolve = GLP_ON;
  int failed = glp_simplex(lp, &options), status = glp_get_status(lp);
  glp_delete_prob(lp);
  return failed == 0 && (status == GLP_OPT || status == GLP_FEAS);
}
