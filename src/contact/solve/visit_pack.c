// The heart of a Gauss-Seidel sweep: four contacts at once.
#define CAROM_LANES 4
#define CAROM_LANE_TYPE double
#define CAROM_LANE_MASK long long
#include "contact/solve/lanes.h"
#include "contact/solve/pgs.h"

INLINE void transpose(lanes r[4]) {
  lanes t0 = SHUFFLE(r[0], r[1], 0, 4, 2, 6), t1 = SHUFFLE(r[0], r[1], 1, 5, 3, 7);
  lanes t2 = SHUFFLE(r[2], r[3], 0, 4, 2, 6), t3 = SHUFFLE(r[2], r[3], 1, 5, 3, 7);
  r[0] = SHUFFLE(t0, t2, 0, 1, 4, 5), r[1] = SHUFFLE(t1, t3, 0, 1, 4, 5);
  r[2] = SHUFFLE(t0, t2, 2, 3, 6, 7), r[3] = SHUFFLE(t1, t3, 2, 3, 6, 7);
}

// Four bodies with one number per vector: V[0..2] velocity, V[3..5] spin, V[6] inverse mass, V[7] inverse inertia.
INLINE void gather(const double *V, const int body[4], lanes out[8]) {
  for (int k = 0; k < 4; k++) {
    const double *B = V + CAROM_CONTACT_STATE * (size_t)body[k];
    out[k] = load(B), out[4 + k] = load(B + 4);
  }
  transpose(out), transpose(out + 4);
}

// Bodies that cannot move are not written: several lanes or threads may hold the same one.
INLINE void scatter(double *V, const int body[4], lanes in[8]) {
  lanes moves = in[6] + in[7];
  transpose(in), transpose(in + 4);
  for (int k = 0; k < 4; k++) {
    double *B = V + CAROM_CONTACT_STATE * (size_t)body[k];
    if (moves[k] > 0) *(lanes *)B = in[k], *(lanes *)(B + 4) = in[4 + k];
  }
}

INLINE lanes3 point_velocity(const lanes B[8], lanes3 arm) {
  lanes3 turn = cross((lanes3){B[3], B[4], B[5]}, arm);
  return (lanes3){B[0] + turn.x, B[1] + turn.y, B[2] + turn.z};
}

// Adds the impulse d at the arm's end.
INLINE void push(lanes B[8], lanes3 arm, lanes3 d) {
  lanes3 l = cross(arm, d);
  B[0] += B[6] * d.x, B[1] += B[6] * d.y, B[2] += B[6] * d.z;
  B[3] += B[7] * l.x, B[4] += B[7] * l.y, B[5] += B[7] * l.z;
}

typedef struct lane_tally {
  lanes most, energy, turn;
} lane_tally;

INLINE void visit(carom_contact_pack *pack, bool coulomb, lanes beta, double *V, lane_tally *tally) {
  lanes A[8], B[8];
  gather(V, pack->a, A), gather(V, pack->b, B);
  lanes3 n = load3(pack->n), arm_a = load3(pack->arm_a), arm_b = load3(pack->arm_b);
  lanes3 x = load3(pack->impulse), y = axpy(x, beta, sub(x, load3(pack->before)));
  lanes3 u = sub(point_velocity(A, arm_a), point_velocity(B, arm_b));
  lane_contacts c = {load(pack->along), load(pack->across), load(pack->mu), load(pack->bias), n};
  lanes3 now = local_solution(&c, coulomb, y, u), d = sub(now, y);
  store3(pack->before, x), store3(pack->impulse, now);
  push(A, arm_a, d), push(B, arm_b, (lanes3){-d.x, -d.y, -d.z});
  lanes rho = (c.along + 2 * c.across) * (1.0 / 3), dd = dot(d, d);
  tally->most = larger(rho * rho * dd, tally->most);
  tally->energy += rho * dd;
  tally->turn -= rho * dot(d, sub(now, x));
  scatter(V, pack->a, A), scatter(V, pack->b, B);
}

INLINE double total(lanes a) { return (a[0] + a[1]) + (a[2] + a[3]); }

INLINE carom_sweep_tally visit_all(const carom_contact_plan *plan, bool coulomb, const int range[2], double beta) {
  lane_tally sums = {splat(0), splat(0), splat(0)};
  for (int i = range[0]; i < range[1]; i++) visit(&plan->packs[i], coulomb, splat(beta), plan->V, &sums);
  double most = 0;
  for (int k = 0; k < 4; k++) most = sums.most[k] > most ? sums.most[k] : most;
  return (carom_sweep_tally){most, total(sums.energy), total(sums.turn)};
}

CAROM_SIMD_CLONES carom_sweep_tally carom_contact_visit_packs(const carom_contact_plan *plan, carom_contact_law law,
                                                              int first, int last, double beta) {
  const int range[2] = {first, last};
  return law == CAROM_CONTACT_COULOMB ? visit_all(plan, true, range, beta) : visit_all(plan, false, range, beta);
}
