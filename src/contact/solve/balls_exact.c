// What sweeps in single precision leave, made exact: impulses in their cones, velocities that follow from them, and
// the residual of both.
#include "base/threads.h"
#include "contact/solve/balls.h"
#include "contact/solve/problem.h"

enum { LANES = CAROM_BALLS_LANES };

void carom_balls_take_impulses(carom_balls *s) {
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int i = 0; i < s->problem->contact_count; i++) {
        const carom_balls_pack *p = &s->packs[s->links[i].lane / LANES];
        const carom_contact_point *c = &s->problem->contacts[i];
        int l = s->links[i].lane % LANES;
        carom_vec3 g = cm_vec3(p->g[0][l], p->g[1][l], p->g[2][l]);
        s->impulses[i] = carom_contact_project_circular(g, c->normal, c->friction);
      });
}

// ---- velocities ---------------------------------------------------------------------------------------------------

typedef struct impulse_sum {
  carom_vec3 impulse, moment;
} impulse_sum;

static void add_impulse(impulse_sum *sum, carom_vec3 f, carom_vec3 arm) {
  sum->impulse = cm_add(sum->impulse, f);
  sum->moment = cm_add(sum->moment, cm_cross(arm, f));
}

// D gamma of one ball: always summed in the same order, whoever does it.
static impulse_sum sum_of(const carom_balls *s, int ball) {
  const carom_contact_point *contacts = s->problem->contacts;
  impulse_sum sum = {0};
  for (int k = s->others[ball]; k < s->others[ball + 1]; k++)
    add_impulse(&sum, cm_neg(s->impulses[s->as_b[k]]), contacts[s->as_b[k]].arm_b);
  for (int i = s->own[ball]; i < s->own[ball + 1]; i++) add_impulse(&sum, s->impulses[i], contacts[i].arm_a);
  return sum;
}

void carom_balls_set_velocities(carom_balls *s) {
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int i = 0; i < s->ball_count; i++) {
        const carom_contact_body *body = &s->problem->bodies[i];
        double m = body->inverse_mass, k = body->inverse_inertia[0];
        impulse_sum sum = sum_of(s, i);
        s->twists[i] = (carom_balls_twist){.v = cm_axpy(body->velocity, m, sum.impulse),
                                           .w = cm_axpy(body->spin, k, sum.moment),
                                           .inverse_mass = m,
                                           .inverse_inertia = k};
      });
}

// ---- residual -----------------------------------------------------------------------------------------------------

static carom_vec3 point_velocity(carom_vec3 v, carom_vec3 w, carom_vec3 arm) { return cm_add(v, cm_cross(w, arm)); }

// rho |gamma - P(gamma - w / rho)|, as in carom/contact.h, where rho is the mean of the block of the contact: 1 / m
// along the normal, 1 / m + arm^2 / J across it.
static double contact_residual(const carom_balls *s, int i) {
  const carom_contact_point *c = &s->problem->contacts[i];
  const carom_balls_twist *A = &s->twists[s->links[i].a];
  int b = s->links[i].b;
  double along = A->inverse_mass, turning = cm_norm2(c->arm_a) * A->inverse_inertia;
  carom_vec3 u = point_velocity(A->v, A->w, c->arm_a);
  if (b < s->ball_count) {
    const carom_balls_twist *B = &s->twists[b];
    u = cm_sub(u, point_velocity(B->v, B->w, c->arm_b));
    along += B->inverse_mass, turning += cm_norm2(c->arm_b) * B->inverse_inertia;
  } else if (b > s->ball_count) {
    const carom_contact_body *B = &s->problem->bodies[c->b];
    u = cm_sub(u, point_velocity(B->velocity, B->spin, c->arm_b));
  }
  double rho = along + 2 * turning / 3;
  carom_vec3 g = s->impulses[i], f = cm_axpy(g, -1 / rho, cm_axpy(u, c->bias, c->normal));
  return rho * cm_norm(cm_sub(g, carom_contact_project_circular(f, c->normal, c->friction)));
}

double carom_balls_residual(const carom_balls *s) {
  double worst = 0;
  CAROM_PARALLEL_FOR(
      s->threads,
      schedule(static) reduction(max
                                 : worst),
      for (int i = 0; i < s->problem->contact_count; i++) {
        double e = contact_residual(s, i);
        worst = e > worst ? e : worst;
      });
  return worst;
}
