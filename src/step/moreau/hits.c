#include <math.h>

#include "step/moreau/moreau.h"

enum { SAMPLES = 16, BISECTIONS = 60 };

static double cubic(const double c[4], double t) { return ((c[3] * t + c[2]) * t + c[1]) * t + c[0]; }

// The first zero in (0, 1] of the cubic with these values and slopes at 0 and 1, its value at 1 being below 0: found by
// bisection between the last sample above 0 and the first below. (Gavrea 2006, 2.1, after Potra et al. 2006.)
static double cubic_root(double f0, double s0, double f1, double s1) {
  double c[4] = {f0, s0, 3 * (f1 - f0) - 2 * s0 - s1, 2 * (f0 - f1) + s0 + s1}, low = 0, high = 1;
  for (int i = 1; i <= SAMPLES; i++) {
    high = (double)i / SAMPLES;
    if (cubic(c, high) <= 0) break;
    low = high;
  }
  for (int i = 0; i < BISECTIONS; i++) {
    double t = 0.5 * (low + high);
    *(cubic(c, t) <= 0 ? &high : &low) = t;
  }
  return high;
}

static double gap_rate(const carom_moreau *m, const carom_state *state, const carom_part_pair *p,
                       const carom_distance_result *d) {
  carom_vec3 point = cm_lerp(d->point_a, d->point_b, 0.5);
  carom_row row = carom_row_at(p->body_a, p->body_b, d->normal, point, state->x);
  double moving = cm_dot(d->normal, carom_moreau_surface_velocity(m, p->body_b, point));
  return carom_row_state_rate(m->model, &row, state) - moving;
}

static bool among_items(const carom_moreau *m, const carom_part_pair *p) {
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    if (item->kind == CAROM_MOREAU_CONTACT && item->contact.part_a == p->part_a && item->contact.part_b == p->part_b)
      return true;
  }
  return false;
}

// Share of the step at which the pair touches, INFINITY when it does not or need not.
static carom_status hit_of_pair(carom_moreau *m, int index, const carom_state *end, double *share, double *overlap) {
  const carom_part_pair *p = &m->contacts->pairs[index];
  carom_distance_result d0, d1;
  *share = INFINITY;
  *overlap = 0;
  carom_status status = carom_contacts_distance(m->contacts, index, end, &d1);
  if (status != CAROM_OK || carom_joints_hold(m->model, end, p->body_a, p->body_b)) return status;
  *overlap = -d1.distance;
  if (!carom_moreau_pair_collides(m, p->restitution) || d1.distance > -m->touch || among_items(m, p)) return status;
  status = carom_contacts_distance(m->contacts, index, m->origin, &d0);
  if (status != CAROM_OK) return status;
  double s0 = m->motion.h * gap_rate(m, m->origin, p, &d0), s1 = m->motion.h * gap_rate(m, end, p, &d1);
  *share = cubic_root(fmax(d0.distance, 0), s0, d1.distance, s1);
  return status;
}

carom_status carom_moreau_first_hit(carom_moreau *m, const carom_state *end, carom_moreau_hit *hit, double *deepest,
                                    carom_error *error) {
  *hit = (carom_moreau_hit){.share = INFINITY};
  *deepest = 0;
  for (int i = 0; i < m->contacts->pair_count; i++) {
    const carom_part_pair *p = &m->contacts->pairs[i];
    double share, overlap;
    carom_status status = hit_of_pair(m, i, end, &share, &overlap);
    if (status != CAROM_OK)
      return carom_fail(error, status,
                        "no separation of bodies '%s' and '%s' at t = %.9g s: a pose is not finite; use a smaller step",
                        m->model->bodies[p->body_a].name, m->model->bodies[p->body_b].name,
                        m->motion.time + m->motion.h);
    *deepest = fmax(*deepest, overlap);
    if (share < hit->share) *hit = (carom_moreau_hit){true, share, {p->body_a, p->body_b}};
  }
  return CAROM_OK;
}
