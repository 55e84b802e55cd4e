// The discrete Euler-Lagrange equations with multipliers (Johnson 2012, 3.8 in the (q, p) form 3.14-3.15), around a
// drift that knows nothing of joints:
//
//     p_half = p_k + (kick) + G'(q_k) lambda,   q_k+1 = drift(q_k, p_half),   g(q_k+1) = 0      carom_constrained_drift
//     p_k+1  = p_half + (kick) + G'(q_k+1) mu,  G M^-1 p_k+1 = 0 (hidden constraints, 3.19) carom_constrained_settle
//
// mu is a part of the next step's lambda, so the trajectory is that of (3.8) and of the null-space form (3.13).
#ifndef CAROM_SRC_STEP_VARIATIONAL_CONSTRAINED_H
#define CAROM_SRC_STEP_VARIATIONAL_CONSTRAINED_H

#include "model/joint_system.h"
#include "step/step.h"

typedef struct carom_constrained {
  carom_joint_system *system;
  carom_vec3 *x, *p, *l;  // (body_count) at the start of the drift
  carom_quat *q;          // (body_count)
  double *lambda;         // (joint_count * CAROM_JOINT_ROWS) impulses of the last drift
  double *mu;             // likewise of the last settling
  double *g;              // likewise: residuals
  double *rates;          // likewise: what motors prescribe
  carom_vec3 *force,
      *torque;  // (joint_count) mean over the last step on body[1]; the moment about the joint's point there
} carom_constrained;

// One stretch of smooth motion, from the time `start` to `end`; parts of composed steps may go back in time.
typedef struct carom_leg {
  const carom_stepper *stepper;
  carom_ledger *ledger;
  double h, start, end;
} carom_leg;

// Moves the bodies freely along a leg.
typedef carom_status (*carom_drift)(const carom_leg *leg, carom_state *state, carom_error *error);

// Lays the arrays out; the system is the owner's to create.
void carom_constrained_push(carom_constrained *joints, carom_arena *arena, const carom_model *model);

// Finds the multipliers with which the drift ends on the constraints; p and l then hold p_half. CAROM_NOT_CONVERGED
// asks for a smaller step.
carom_status carom_constrained_drift(carom_constrained *joints, const carom_leg *leg, carom_drift drift,
                                     carom_state *state, carom_error *error);
// Books what the ground and the motors did by lambda; to be called before anything is settled at the new configuration.
void carom_constrained_book_drift(carom_constrained *joints, const carom_leg *leg, const carom_state *state);
// Makes the momenta consistent at the state's configuration and the end of the leg.
carom_status carom_constrained_settle(carom_constrained *joints, const carom_leg *leg, carom_state *state,
                                      carom_error *error);
// Books the last settling, and the drift from the constraints that is left.
void carom_constrained_book_settling(carom_constrained *joints, const carom_leg *leg, const carom_state *state);

// Where motors by position have a kink at the start of a leg, the bodies are given their new rates by an impulse.
carom_status carom_constrained_pass_kink(carom_constrained *joints, const carom_leg *leg, carom_state *state,
                                         carom_error *error);

// Of the last stretch that the variational integrator went: null when the model has no joints. For joint forces.
const carom_constrained *carom_variational_joints(const carom_stepper *stepper);
// Power of dampers and applied forces at a state, W.
double carom_variational_power(const carom_stepper *stepper, const carom_state *state, double time);

#endif
