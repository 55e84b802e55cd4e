// What sweeps in single precision leave, made exact: impulses in their cones, velocities that follow from them, and
// the residual of both.
#include "contact/solve/qp.h"
#include "step/cone/cone.h"

enum { LANES = CAROM_SWEEP_LANES };

void carom_sweep_take_impulses(carom_cone *cone) {
  const carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    const carom_sweep_pack *p = &s->packs[s->lane[i] / LANES];
    const carom_near *near = &cone->near[cone->active[i]];
    int l = s->lane[i] % LANES;
    carom_vec3 g = cm_vec3(p->g[0][l], p->g[1][l], p->g[2][l]);
    cone->impulses[cone->active[i]] = carom_qp_project_circular(g, near->normal, near->friction);
  }
}

// ---- velocities ---------------------------------------------------------------------------------------------------

typedef struct impulse_sum {
  carom_vec3 impulse, moment;
} impulse_sum;

static void add_impulse(impulse_sum *sum, carom_vec3 f, carom_vec3 arm) {
  sum->impulse = cm_add(sum->impulse, f);
  sum->moment = cm_add(sum->moment, cm_cross(arm, f));
}

// M^-1 D gamma of one ball: always summed in the same order, whoever does it.
static impulse_sum sum_of(const carom_cone *cone, int place) {
  const carom_sweep *s = &cone->sweep;
  impulse_sum sum = {0};
  for (int k = s->others[place]; k < s->others[place + 1]; k++) {
    int candidate = cone->active[s->links[k]];
    add_impulse(&sum, cm_neg(cone->impulses[candidate]), cone->near[candidate].arm_b);
  }
  for (int i = s->own[place]; i < s->own[place + 1]; i++)
    add_impulse(&sum, cone->impulses[cone->active[i]], cone->near[cone->active[i]].arm_a);
  return sum;
}

void carom_sweep_set_velocities(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < s->movers; i++) {
    int body = cone->mover[cone->grid.order[i]];
    double m = cone->bodies.inverse_mass[body], k = cone->bodies.over_scale[body], *V = s->velocity[i];
    impulse_sum sum = sum_of(cone, i);
    carom_vec3 v = cm_axpy(cone->v_free[body], m, sum.impulse), w = cm_axpy(cone->w_free[body], k, sum.moment);
    V[0] = v.x, V[1] = v.y, V[2] = v.z, V[3] = w.x, V[4] = w.y, V[5] = w.z, V[6] = m, V[7] = k;
    cone->v[body] = v;
    cone->w[body] = w;
  }
}

// ---- residual -----------------------------------------------------------------------------------------------------

static carom_vec3 point_velocity(const double V[8], carom_vec3 arm) {
  return cm_add(cm_vec3(V[0], V[1], V[2]), cm_cross(cm_vec3(V[3], V[4], V[5]), arm));
}

// rho |gamma - P(gamma - w / rho)|, as in carom/qp.h, where rho is the mean of the block of the contact: 1 / m along
// the normal, 1 / m + arm^2 / J across it.
static double contact_residual(const carom_cone *cone, int i, double h) {
  const carom_sweep *s = &cone->sweep;
  const carom_near *near = &cone->near[cone->active[i]];
  const double *A = s->velocity[s->ends[i].a];
  double along = A[6], turning = cm_norm2(near->arm_a) * A[7];
  carom_vec3 u = point_velocity(A, near->arm_a);
  if (s->ends[i].b < s->movers) {
    const double *B = s->velocity[s->ends[i].b];
    u = cm_sub(u, point_velocity(B, near->arm_b));
    along += B[6], turning += cm_norm2(near->arm_b) * B[7];
  } else if (s->ends[i].b > s->movers) {
    u = cm_sub(u, cm_add(cone->v[near->b], cm_cross(cone->w[near->b], near->arm_b)));
  }
  double rho = along + 2 * turning / 3;
  carom_vec3 g = cone->impulses[cone->active[i]];
  carom_vec3 f = cm_axpy(g, -1 / rho, cm_axpy(u, carom_cone_bias(cone, cone->active[i], h), near->normal));
  return rho * cm_norm(cm_sub(g, carom_qp_project_circular(f, near->normal, near->friction)));
}

double carom_sweep_residual(const carom_cone *cone, double h) {
  double worst = 0;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(max : worst) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    double e = contact_residual(cone, i, h);
    worst = e > worst ? e : worst;
  }
  return worst;
}
