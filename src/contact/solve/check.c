// What a problem must be like before it is solved; every complaint names the thing and its number.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contact/solve/problem.h"

enum { MOST_CONTACTS = 1 << 28 };  // 2 c + side stays below INT_MAX

// Says who does take the law.
static carom_status check_law(const carom_contact_options *o, carom_error *error) {
  char list[100] = "";
  if (o->law != CAROM_CONTACT_CONVEX && o->law != CAROM_CONTACT_COULOMB)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "contact law number %d does not exist", (int)o->law);
  if (o->law == CAROM_CONTACT_COULOMB && o->cone != CAROM_CONTACT_CIRCULAR)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "Coulomb's law has a circular cone, not one of generators");
  if (carom_contact_method_takes(o->method, o->law)) return CAROM_OK;
  for (int i = 0; i < CAROM_CONTACT_METHOD_COUNT; i++)
    if (carom_contact_method_takes((carom_contact_method)i, o->law))
      snprintf(list + strlen(list), sizeof list - strlen(list), " %s",
               carom_contact_method_name((carom_contact_method)i));
  return carom_fail(error, CAROM_ERR_UNSUPPORTED, "the contact solver '%s' does not take %s; these do:%s",
                    carom_contact_method_name(o->method),
                    o->law == CAROM_CONTACT_COULOMB ? "Coulomb's law" : "the convex law", list);
}

static carom_status check_options(const carom_contact_options *o, carom_error *error) {
  if (o->method < 0 || o->method >= CAROM_CONTACT_METHOD_COUNT)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "contact solver number %d does not exist", (int)o->method);
  if (o->cone != CAROM_CONTACT_CIRCULAR && o->cone != CAROM_CONTACT_GENERATORS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "friction cone number %d does not exist", (int)o->cone);
  if (o->generators < 3 || o->generators > 64)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "generators is %d, expected 3 to 64", o->generators);
  if (o->max_iterations < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "max_iterations is %d, expected 0 or more", o->max_iterations);
  if (o->threads < 0 || o->threads > 1024)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "threads is %d, expected 0 (all) to 1024", o->threads);
  if (!(o->tolerance >= 0 && o->acceptable >= 0 && o->gap_tolerance >= 0 && o->velocity_scale >= 0) ||
      !isfinite(o->velocity_scale))
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "tolerance %g, acceptable %g, gap_tolerance %g and velocity_scale %g must be 0 or more, and "
                      "the scale finite",
                      o->tolerance, o->acceptable, o->gap_tolerance, o->velocity_scale);
  return check_law(o, error);
}

static carom_status check_body(const carom_contact_body *b, int i, carom_error *error) {
  double sum = b->inverse_mass;
  for (int k = 0; k < 6; k++) sum += b->inverse_inertia[k];
  if (!isfinite(sum) || !cm_finite(b->velocity) || !cm_finite(b->spin))
    return carom_fail(error, CAROM_ERR_NUMBER, "body %d of the contact problem has a number that is not finite", i);
  if (b->inverse_mass < 0 || b->inverse_inertia[0] < 0 || b->inverse_inertia[1] < 0 || b->inverse_inertia[2] < 0)
    return carom_fail(error, CAROM_ERR_NUMBER, "body %d of the contact problem has negative mass or inertia", i);
  return CAROM_OK;
}

static bool in_range(const carom_contact_problem *p, int body) {
  return body >= CAROM_CONTACT_WORLD && body < p->body_count;
}

static carom_status check_pair(const carom_contact_problem *p, const char *what, int i, int a, int b,
                               carom_error *error) {
  if (!in_range(p, a) || !in_range(p, b))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s %d joins bodies %d and %d, expected -1 (world) to %d", what, i, a,
                      b, p->body_count - 1);
  if (a == b && a >= 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "%s %d joins body %d to itself", what, i, a);
  return CAROM_OK;
}

static carom_status check_contact(const carom_contact_problem *p, int i, carom_error *error) {
  const carom_contact_point *c = &p->contacts[i];
  carom_status status = check_pair(p, "contact", i, c->a, c->b, error);
  if (status) return status;
  bool finite = isfinite(c->bias) && isfinite(c->friction) && cm_finite(c->normal) && cm_finite(c->tangent) &&
                cm_finite(c->arm_a) && cm_finite(c->arm_b);
  if (!finite)
    return carom_fail(error, CAROM_ERR_NUMBER, "contact %d (bodies %d and %d) has a number that is not finite", i, c->a,
                      c->b);
  if (c->friction < 0)
    return carom_fail(error, CAROM_ERR_NUMBER, "contact %d (bodies %d and %d) has friction %g, expected 0 or more", i,
                      c->a, c->b, c->friction);
  if (fabs(cm_norm2(c->normal) - 1) > 1e-6)
    return carom_fail(error, CAROM_ERR_NUMBER, "contact %d (bodies %d and %d) has a normal of length %g, expected 1", i,
                      c->a, c->b, cm_norm(c->normal));
  return CAROM_OK;
}

static carom_status check_row(const carom_contact_problem *p, int i, carom_error *error) {
  const carom_contact_row *row = &p->rows[i];
  carom_status status = check_pair(p, "row", i, row->a, row->b, error);
  if (status) return status;
  double sum = row->bias;
  for (int k = 0; k < 6; k++) sum += row->jacobian_a[k] + row->jacobian_b[k];
  if (!isfinite(sum)) return carom_fail(error, CAROM_ERR_NUMBER, "row %d has a number that is not finite", i);
  if (!(row->lower <= 0 && row->upper >= 0))
    return carom_fail(error, CAROM_ERR_NUMBER, "row %d is bounded by [%g, %g], which does not hold 0", i, row->lower,
                      row->upper);
  return CAROM_OK;
}

static carom_status check_guess(const carom_contact_problem *p, const carom_contact_solution *s, carom_error *error) {
  for (int i = 0; i < p->contact_count; i++)
    if (!cm_finite(s->impulses[i]))
      return carom_fail(error, CAROM_ERR_NUMBER, "the first guess of contact %d's impulse is not finite", i);
  for (int i = 0; i < p->row_count; i++)
    if (!isfinite(s->multipliers[i]))
      return carom_fail(error, CAROM_ERR_NUMBER, "the first guess of row %d's multiplier is not finite", i);
  return CAROM_OK;
}

carom_status carom_contact_check(const carom_contact_problem *p, const carom_contact_options *options,
                                 const carom_contact_solution *solution, carom_error *error) {
  carom_contact_options o = options ? *options : carom_contact_default_options();
  carom_status status = check_options(&o, error);
  if (status) return status;
  if (p->body_count < 0 || p->contact_count < 0 || p->row_count < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the contact problem has %d bodies, %d contacts and %d rows",
                      p->body_count, p->contact_count, p->row_count);
  int width = o.cone == CAROM_CONTACT_GENERATORS ? o.generators : 3;
  if (p->contact_count > MOST_CONTACTS / width || p->row_count > MOST_CONTACTS || p->body_count > MOST_CONTACTS)
    return carom_fail(error, CAROM_ERR_LIMIT, "%d contacts, %d rows and %d bodies are too many; at most %d contacts",
                      p->contact_count, p->row_count, p->body_count, MOST_CONTACTS / width);
  if (!solution) return CAROM_OK;  // only sizes are asked about
  if ((p->contact_count && !solution->impulses) || (p->row_count && !solution->multipliers))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the solution has no room for impulses or multipliers");
  for (int i = 0; !status && i < p->body_count; i++) status = check_body(&p->bodies[i], i, error);
  for (int i = 0; !status && i < p->contact_count; i++) status = check_contact(p, i, error);
  for (int i = 0; !status && i < p->row_count; i++) status = check_row(p, i, error);
  return status || !o.warm_start ? status : check_guess(p, solution, error);
}
