// The discrete Moser-Veselov equation of one free body, which is what the reduced discrete Euler-Lagrange equation of
// the midpoint discrete Lagrangian in directors comes to (Johnson 2012, 3.2.3-3.2.4; Moser and Veselov 1991):
//
//     h hat(Pi) = F E - E F',     E = 1/2 tr(J) I - J,     R_k+1 = R_k F,     Pi = R_k' l.
//
// With the Cayley vector y of F, that is F = R((1, y)/sqrt(1 + y.y)), it is a cubic in three unknowns:
//
//     J y + y x J y = (1 + y.y) g,     g = h Pi / 2,
//
// solved by Newton's method. The spatial momentum l itself does not change, so it is kept to the last bit.
#ifndef CAROM_SRC_STEP_VARIATIONAL_DMV_H
#define CAROM_SRC_STEP_VARIATIONAL_DMV_H

#include "carom/model.h"

enum { CAROM_DMV_LANES = 8 };  // bodies solved side by side, for vector registers

// Constants of the bodies, one array per component; fixed and point-like bodies have zero `over_scale` and do not turn.
typedef struct carom_dmv_bodies {
  int count;                // a multiple of CAROM_DMV_LANES; the rest is padding that does not turn
  double *J[3];             // moments over the largest of the three
  double *inverse_J[3];     // their reciprocals
  double *over_scale;       // 1 / largest moment
  double *mass;             // 0 when fixed
  double *inverse_mass;     // 0 when fixed
  double *slowest_inertia;  // 1 / smallest moment: bounds the turn in a step
} carom_dmv_bodies;

// How a drift went, over the bodies it moved.
typedef struct carom_dmv_info {
  int iterations;   // largest number of Newton steps
  double residual;  // largest |J y + y x J y - (1 + y.y) g| / |g|
  int failed;       // a body whose equation was not solved, or -1
} carom_dmv_info;

size_t carom_dmv_bodies_cost(int body_count);
// Takes its arrays from `memory`, of carom_dmv_bodies_cost bytes, 64-byte aligned.
void carom_dmv_bodies_fill(carom_dmv_bodies *bodies, const carom_model *model, void *memory);

// Largest h |omega| that a body may have in this state; below CAROM_DMV_SAFE_TURN the drift cannot fail.
#define CAROM_DMV_SAFE_TURN 0.5
double carom_dmv_largest_turn(const carom_dmv_bodies *bodies, const carom_state *state, double h);

// Halvings of a turn alone, by how often a step may be halved: a free body can be followed however fast it turns, and
// halving its drift costs it alone, not the step of all.
static inline int carom_dmv_halvings(int max_halvings) { return max_halvings > 0 ? max_halvings + 8 : 0; }
// Moves bodies first .. first + CAROM_DMV_LANES - 1 freely for a time h: x += h p/m, R := R F. A body that turns too
// far for one solve is turned in 2, 4, ... 2^max_halvings equal parts.
void carom_dmv_drift(const carom_dmv_bodies *bodies, int first, double h, int max_halvings, carom_state *state,
                     carom_dmv_info *info);

#endif
