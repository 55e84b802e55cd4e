// Groups of contacts in which bodies hit each other part by the impact law that was asked for (carom/impact.h).
#include "contact/solve/problem.h"
#include "step/dcr/dcr.h"

static void axes_of(const carom_contact_point *c, carom_vec3 axis[3]) {
  axis[0] = c->normal;
  cm_frame(c->normal, &axis[1], &axis[2]);
}

// Velocities of all contacts, in their axes.
static void read_slips(const carom_group *g, double *u) {
  for (int i = 0; i < g->problem.contact_count; i++) {
    carom_vec3 axis[3], slip = carom_contact_slip(&g->contacts[i], g->solution.velocities, g->solution.spins);
    axes_of(&g->contacts[i], axis);
    for (int k = 0; k < 3; k++) u[3 * i + k] = cm_dot(axis[k], slip);
  }
}

// A column of W is what a unit impulse does to bodies at rest.
static void fill_response(carom_group *g, double *W) {
  int n = 3 * g->problem.contact_count;
  for (int column = 0; column < n; column++) {
    carom_vec3 axis[3];
    axes_of(&g->contacts[column / 3], axis);
    for (int i = 0; i < g->problem.body_count; i++) g->solution.velocities[i] = g->solution.spins[i] = cm_zero3();
    carom_group_push(g, column / 3, axis[column % 3]);
    read_slips(g, W + (size_t)column * (size_t)n);
  }
}

static void fill_problem(carom_dcr *w, carom_group *g, const carom_contact *contacts) {
  for (int i = 0; i < g->problem.contact_count; i++) {
    const carom_dcr_touch *touch = &w->touches[g->contact[i]];
    bool hit = cm_dot(touch->before, g->contacts[i].normal) < -touch->slow;
    double restitution = contacts[touch->contact].restitution;
    carom_vec3 axis[3];
    axes_of(&g->contacts[i], axis);
    w->law.e[i] =
        hit || restitution >= 1 ? restitution : 0;  // elastic bodies that touch bounce with those that are hit
    w->law.mu[i] = g->contacts[i].friction;
    for (int k = 0; k < 3; k++) w->law.u[3 * i + k] = cm_dot(axis[k], touch->before);
  }
  fill_response(g, w->law.W);
}

carom_status carom_dcr_apply_law(carom_stepper *stepper, carom_group *g, const carom_contact *contacts,
                                 carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_dcr_law *law = &w->law;
  int count = g->problem.contact_count;
  fill_problem(w, g, contacts);
  carom_impact_problem problem = {
      .count = count, .W = law->W, .velocity = law->u, .restitution = law->e, .friction = law->mu};
  carom_impact_info info;
  carom_status status = carom_impact_solve(law->work, &problem, stepper->options.law,
                                           &(carom_impact_solution){law->P, NULL}, &info, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < count; i++) {
    const double *P = law->P + 3 * i;
    carom_vec3 axis[3];
    axes_of(&g->contacts[i], axis);
    g->solution.impulses[i] = cm_axpy(cm_axpy(cm_scale(P[0], axis[0]), P[1], axis[1]), P[2], axis[2]);
  }
  carom_group_take_up(g);
  carom_ledger_note_complementarity(ledger, info.complementarity, 0);
  return CAROM_OK;
}
