// What defines an answer by Coulomb's law.
#ifndef CAROM_TESTS_COULOMB_H
#define CAROM_TESTS_COULOMB_H

#include "contact/solve/problem.h"
#include "contact_problems.h"
#include "test.h"

// The law, contact by contact, from the velocities that came out.
static inline void check_law(const contact_case *q, double tolerance) {
  for (int i = 0; i < q->problem.contact_count; i++) {
    const carom_contact_point *c = &q->contacts[i];
    carom_vec3 u = carom_contact_slip(c, q->velocities, q->spins), f = q->impulses[i];
    double rho = q->bodies[c->a < 0 ? c->b : c->a].inverse_mass;
    double un = cm_dot(u, c->normal) + c->bias, fn = rho * cm_dot(f, c->normal);
    carom_vec3 ut = cm_axpy(u, -cm_dot(u, c->normal), c->normal), ft = cm_axpy(cm_scale(rho, f), -fn, c->normal);
    double slip = cm_norm(ut), limit = c->friction * fn;
    CHECK_AT_MOST(-fn, 0);
    CHECK_AT_MOST(-un, tolerance);
    CHECK_AT_MOST(fmin(fn, un), tolerance);
    CHECK_AT_MOST(cm_norm(ft), limit * (1 + 1e-12) + 1e-15);
    if (fn < 1e3 * tolerance || slip < 1e3 * tolerance) continue;
    CHECK_NEAR(cm_norm(ft), limit, 1e3 * tolerance);                           // slides at the limit,
    CHECK_NEAR(cm_dot(ft, ut) / slip, -limit, 1e3 * tolerance * (1 + limit));  // against the slip
  }
  for (int i = 0; i < q->problem.row_count; i++) {
    double rate = carom_contact_rate(&q->rows[i], q->velocities, q->spins) + q->rows[i].bias, f = q->multipliers[i];
    if (f > q->rows[i].lower) CHECK_AT_MOST(rate, tolerance);
    if (f < q->rows[i].upper) CHECK_AT_MOST(-rate, tolerance);
  }
}

#endif
