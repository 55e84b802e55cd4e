// Groups of contacts in which bodies hit each other part by the impact law that was asked for (carom/impact.h).
#include <math.h>

#include "step/dcr/dcr.h"

// What an impulse along row j does to the velocity along row i, through one body that both share.
static double response(const carom_sweep_body *body, const carom_sweep_row *i, bool i_on_a, const carom_sweep_row *j,
                       bool j_on_a) {
  double linear = body->inverse_mass * cm_dot(i->d, j->d);
  double angular = cm_dot(i_on_a ? i->ra : i->rb, j_on_a ? j->wa : j->wb);
  return (i_on_a == j_on_a ? 1 : -1) * (linear + angular);
}

static double coupling(const carom_sweeps *s, const carom_sweep_contact *ci, int k, const carom_sweep_contact *cj,
                       int l) {
  const carom_sweep_row *i = &ci->row[k], *j = &cj->row[l];
  double W = 0;
  if (ci->a == cj->a) W += response(&s->bodies[ci->a], i, true, j, true);
  if (ci->a == cj->b) W += response(&s->bodies[ci->a], i, true, j, false);
  if (ci->b == cj->a) W += response(&s->bodies[ci->b], i, false, j, true);
  if (ci->b == cj->b) W += response(&s->bodies[ci->b], i, false, j, false);
  return W;
}

static void fill_problem(carom_dcr *w, const carom_sweep_group *g, const carom_contact *contacts) {
  const carom_sweep_contact *first = &w->sweeps->contacts[g->first];
  int rows = 3 * g->count;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j <= i; j++) {
      double W = coupling(w->sweeps, &first[i / 3], i % 3, &first[j / 3], j % 3);
      w->law_W[i + rows * j] = w->law_W[j + rows * i] = W;
    }
  for (int i = 0; i < g->count; i++) {
    const double *u = w->before[first[i].source];
    bool hit = u[0] < -w->slow[first[i].source];
    w->law_e[i] = hit ? contacts[first[i].source].restitution : 0;
    w->law_mu[i] = first[i].friction;
    for (int k = 0; k < 3; k++) w->law_u[3 * i + k] = u[k];
  }
}

carom_status carom_dcr_apply_law(carom_stepper *stepper, carom_sweep_group *g, const carom_contact *contacts,
                                 carom_step_report *report, carom_error *error) {
  carom_dcr *w = stepper->work;
  fill_problem(w, g, contacts);
  carom_impact_problem problem = {
      .count = g->count, .W = w->law_W, .velocity = w->law_u, .restitution = w->law_e, .friction = w->law_mu};
  carom_impact_info info;
  carom_status status = carom_impact_solve(w->law_work, &problem, stepper->options.law,
                                           &(carom_impact_solution){w->law_P, NULL}, &info, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < g->count; i++)
    for (int k = 0; k < 3; k++) w->sweeps->contacts[g->first + i].gamma[k] = w->law_P[3 * i + k];
  carom_sweep_apply(w->sweeps, g);
  g->skip = true;
  report->complementarity = fmax(report->complementarity, info.complementarity);
  return CAROM_OK;
}
