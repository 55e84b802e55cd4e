// The heart of a sweep: eight contacts at once.
//
// With s = radius of gyration x spin and arms of l such radii, the velocity of a contact is u = v_a - v_b +
// n x (l_a s_a + l_b s_b), and an impulse f changes v by f / m and s by -k l n x f on either side.
#define CAROM_LANES 8
#define CAROM_LANE_TYPE float
#define CAROM_LANE_MASK int
#include "contact/solve/balls.h"
#include "contact/solve/lanes.h"

typedef long long q4 __attribute__((vector_size(32)));

// Rows to columns.
INLINE void transpose(lanes r[8]) {
  lanes t[8], u[8];
  for (int k = 0; k < 8; k += 2) {
    t[k] = SHUFFLE(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[k + 1] = SHUFFLE(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int k = 0; k < 8; k += 4)
    for (int j = 0; j < 2; j++) {
      u[k + 2 * j] = SHUFFLE(t[k + j], t[k + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      u[k + 2 * j + 1] = SHUFFLE(t[k + j], t[k + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; k++) {
    r[k] = SHUFFLE(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[k + 4] = SHUFFLE(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

INLINE void gather(const carom_balls_body *bodies, const int *index, lanes B[8]) {
  for (int k = 0; k < CAROM_BALLS_LANES; k++) B[k] = load(bodies[index[k]].v);
  transpose(B);
}

// Bodies that cannot move are not written: several lanes or threads may hold the same one.
INLINE void scatter(carom_balls_body *bodies, const int *index, lanes B[8]) {
  lanes mass = B[3], zero = {0};
  q4 moves = (q4)(mass > zero);
  transpose(B);
  if ((moves[0] & moves[1] & moves[2] & moves[3]) == -1) {
    for (int k = 0; k < CAROM_BALLS_LANES; k++) store(bodies[index[k]].v, B[k]);
  } else {
    for (int k = 0; k < CAROM_BALLS_LANES; k++)
      if (mass[k] > 0) store(bodies[index[k]].v, B[k]);
  }
}

INLINE void push(lanes B[8], lanes3 f, lanes3 moment, lanes arm, lanes sign) {
  lanes m = sign * B[3], k = arm * B[7];
  B[0] += m * f.x, B[1] += m * f.y, B[2] += m * f.z;
  B[4] -= k * moment.x, B[5] -= k * moment.y, B[6] -= k * moment.z;
}

CAROM_SIMD_CLONES
void carom_balls_extrapolate(carom_balls_body *bodies, carom_balls_body *before, int first, int last, float beta) {
  lanes ahead = splat(beta);
  for (int i = first; i < last; i++) {  // all eight: what does not change stays
    lanes now = load(bodies[i].v);
    store(bodies[i].v, now + ahead * (now - load(before[i].v)));
    store(before[i].v, now);
  }
}

CAROM_SIMD_CLONES
carom_balls_change carom_balls_visit(carom_balls_pack *packs, int first, int last, float beta,
                                     carom_balls_body *bodies) {
  lanes squares = {0}, backward = {0}, largest = {0}, deepest = {0}, one = splat(1), ahead = splat(beta);
  for (int i = first; i < last; i++) {
    carom_balls_pack *pack = &packs[i];
    lanes A[8], B[8];
    gather(bodies, pack->a, A);
    gather(bodies, pack->b, B);
    lanes3 n = load3(pack->n), old = load3(pack->g), g = axpy(old, ahead, sub(old, load3(pack->before)));
    lanes la = load(pack->arm_a), lb = load(pack->arm_b);
    lanes3 spin = cross(n, (lanes3){la * A[4] + lb * B[4], la * A[5] + lb * B[5], la * A[6] + lb * B[6]});
    lanes3 u = {A[0] - B[0] + spin.x, A[1] - B[1] + spin.y, A[2] - B[2] + spin.z};
    lanes along = A[3] + B[3], across = along + la * la * A[7] + lb * lb * B[7];
    along = choose(along > 0, along, one), across = choose(across > 0, across, one);  // padding
    lane_contacts c = {along, across, load(pack->mu), load(pack->bias), n};
    lanes opening = dot(n, u) + c.bias;
    lanes3 next = local_solution(&c, false, g, u), d = sub(next, g), moment = cross(n, d);
    store3(pack->before, old);
    store3(pack->g, next);
    push(A, d, moment, la, one), push(B, d, moment, lb, -one);
    scatter(bodies, pack->a, A);
    scatter(bodies, pack->b, B);
    lanes change = along * along * dot(d, d);
    squares += change;
    backward -= along * along * dot(d, sub(next, old));
    largest = larger(change, largest);
    deepest = larger(-opening, deepest);
  }
  carom_balls_change total = {0};
  for (int k = 0; k < CAROM_BALLS_LANES; k++) {
    carom_sweep_add(&total.tally, &(carom_sweep_tally){largest[k], squares[k], backward[k]});
    total.deepest = deepest[k] > total.deepest ? deepest[k] : total.deepest;
  }
  return total;
}
