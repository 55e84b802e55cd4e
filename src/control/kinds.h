// The kinds of elements that plans are made of. For each: its variables, rows and constants, in this order. q is a
// quaternion (4), x a position (3), P = (p, l) momenta (6); "out" are the rows of the balance of momentum on the side
// of the interval that begins at a node, "in" those on the side of the interval that ends there:
//
//     in(k):  P_k+ = momentum of the drift before k + half kick        out(k): -(momentum of the drift after k) + half
//     kick
//
// Where nothing else happens both are the same rows, and their sum is the discrete Euler-Lagrange equation (Johnson
// 2012, eq. 4.8).
#ifndef CAROM_SRC_CONTROL_KINDS_H
#define CAROM_SRC_CONTROL_KINDS_H

#include "control/program.h"

// ---- motion (kinds_motion.c) ----
// x0 x1 sigma | out p, in p | h m g(3)
extern const carom_element_kind carom_kind_translation;
// q0 q1 sigma | out l, in l | h E(3), E = tr(J)/2 - J
extern const carom_element_kind carom_kind_rotation;
extern const carom_element_kind carom_kind_rotation_plain;  // the same without derivatives by hand, for tests
// q | 1 row
extern const carom_element_kind carom_kind_unit;
// q0 q1 | 1 row: q0 . q1, the cosine of half the turn
extern const carom_element_kind carom_kind_turn;
// tau(6) sigma q0 q1 | out P, in P | h body_axes rho(3); a wrench at the point rho of the body
extern const carom_element_kind carom_kind_wrench;
// tau sigma q0 q1 | out P, in P | h rho(3) direction(3)
extern const carom_element_kind carom_kind_thruster;
// tau sigma, q of the first body at both ends | out l, in l of the first body, then of the second | h axis(3)
extern const carom_element_kind carom_kind_motor;
// tau(3) sigma | the same rows | h
extern const carom_element_kind carom_kind_ball_motor;
// v(n) | n rows | sign: adds sign v
extern const carom_element_kind carom_kind_link3;
extern const carom_element_kind carom_kind_link6;

// ---- joints (kinds_joint.c); a is the first body, b the second ----
// xa qa xb qb | 3 rows: where the points are apart | rho_a(3) rho_b(3)
extern const carom_element_kind carom_kind_pin;
// qa qb | 2 rows: (axis of a) . (two directions of b) | axis(3) b1(3) b2(3)
extern const carom_element_kind carom_kind_hinge;
// lambda(3) qa qb | P of a, P of b | rho_a(3) rho_b(3): lambda pushes b, and a the other way
extern const carom_element_kind carom_kind_pin_force;
// mu(2) qa qb | l of a, l of b | axis(3) b1(3) b2(3)
extern const carom_element_kind carom_kind_hinge_force;
// q P of one body | 3 rows: adds sign (velocity of the point) | sign 1/m 1/J(3) rho(3)
extern const carom_element_kind carom_kind_pin_speed;
// qa qb, l of one body | 2 rows: adds sign (b_j x n) . omega | axis(3) b1(3) b2(3) 1/J(3) sign: -1 for a, 1 for b
extern const carom_element_kind carom_kind_hinge_speed;

// ---- conditions (kinds_condition.c) ----
// x q | 3 rows: x + R rho | rho(3)
extern const carom_element_kind carom_kind_point;
// q | 1 row: (R axis) . direction | axis(3) direction(3)
extern const carom_element_kind carom_kind_direction;
// q l | 3 rows: l - R J R' omega | J(3) omega(3)
extern const carom_element_kind carom_kind_spin;
// x_other q_other x | 3 rows: x - x_other - R_other p | p(3)
extern const carom_element_kind carom_kind_relative_position;
// q_other q | 3 rows: vector part of (q_other r)* q | r(4)
extern const carom_element_kind carom_kind_relative_rotation;
// the same, but the component along an axis of `other` | 1 row | r(4) axis(3) of r's frame
extern const carom_element_kind carom_kind_relative_angle;
// x_other q_other P_other x q P | 6 rows: difference of angular velocities, and of velocities at x | m J(3) of other, m
// J(3)
extern const carom_element_kind carom_kind_relative_rest;
// x0 q0 of the partner, xK qK, shift(3) | 6 rows | turn(4) signs(3) of the mirror, frames of the partner and the
// body(4)
extern const carom_element_kind carom_kind_periodic_pose;
// P0 of the partner, PK | 6 rows | turn(4) signs(3)
extern const carom_element_kind carom_kind_periodic_momentum;

// ---- along the way (kinds_path.c) ----
// qa qb | 1 row: cos((angle - middle)/2) of a hinge | axis(3) in a, zero(4) of b in a, middle, sign of the guess
extern const carom_element_kind carom_kind_angle;
// lambda(3) | 2 rows: lambda_n, and mu^2 lambda_n^2 - |lambda_t|^2 | n(3) mu
extern const carom_element_kind carom_kind_cone;
// x q | 1 row: n . (x + R rho) | n(3) rho(3)
extern const carom_element_kind carom_kind_above_plane;
// x0 q0 x1 q1 | 1 row: the same half way between two poses | n(3) rho(3)
extern const carom_element_kind carom_kind_above_plane_between;
// q P | 1 row: adds sign n . (velocity of the point) | sign 1/m 1/J(3) rho(3) n(3)
extern const carom_element_kind carom_kind_parting;

// ---- work (kinds_work.c) ----
// rate sigma, qa0 qb0 qa1 qb1 | 1 row: sigma h rate - (how far a hinge turns in an interval) | h axis(3) in a
extern const carom_element_kind carom_kind_swing;
// rate(3) sigma, qa0 qb0 qa1 qb1 | 3 rows: sigma h rate - (how far b turns more than a, world axes) | h
extern const carom_element_kind carom_kind_swing3;
// qa q l | 1 row: adds sign (axis of a) . (angular velocity of a body) | sign axis(3) 1/J(3)
extern const carom_element_kind carom_kind_hinge_rate;
// q l | 1 row: the same of the body that the axis turns with | sign axis(3) 1/J(3)
extern const carom_element_kind carom_kind_own_rate;
// q l | 3 rows: adds sign (angular velocity) | sign 1/J(3)
extern const carom_element_kind carom_kind_turn_rate;
// w tau_a tau_b sigma rate_a rate_b | 1 row: w - (work at a node) | ha hb; see transcribe_work.c
extern const carom_element_kind carom_kind_work;
// x0 q0 x1 q1 sigma | 1 row: adds -(energy of a body in an interval) | h m J(3) g(3)
extern const carom_element_kind carom_kind_energy;
// x q P | 1 row: adds -(energy of a body at a node) | m J(3) g(3)
extern const carom_element_kind carom_kind_node_energy;
// w shift(3) | cost: weight w / |shift| | weight
extern const carom_element_kind carom_kind_per_shift;

// ---- planned contacts (kinds_contact.c) ----
// r q | 3 rows: r - R rho | rho(3)
extern const carom_element_kind carom_kind_arm;
// q_a q_b n | 3 rows: n - (R_a e_a) x (R_b e_b) | e_a(3) e_b(3)
extern const carom_element_kind carom_kind_edge_normal;
// r q s | 3 rows: r - R (o + s e) | o(3) e(3)
extern const carom_element_kind carom_kind_edge_arm;
// x_a r_a x_b r_b | 3 rows: x_a + r_a - x_b - r_b
extern const carom_element_kind carom_kind_meet;
// n r | 1 row: n . r
extern const carom_element_kind carom_kind_height;
// P_before P_after r Lambda | 6 rows: P_after - P_before - sign (Lambda, r x Lambda) | sign
extern const carom_element_kind carom_kind_impulse;
// q P r | 3 rows: adds sign (p/m + omega x r) | sign 1/m 1/J(3)
extern const carom_element_kind carom_kind_velocity;
// n u_before u_after | 1 row: n . (u_after + e u_before) | e
extern const carom_element_kind carom_kind_restitution;
// Lambda mu n u_before | 3 rows: Lambda - mu (n - friction t), t the unit tangent of u_before | friction
extern const carom_element_kind carom_kind_slide;
// n u_before u_after | 1 row: u_before . u_after without their parts along n
extern const carom_element_kind carom_kind_sliding;
// Lambda N n u_before u_after gamma | 4 rows: n . Lambda - N n.n; u_after + gamma (Lambda - N n) without its part along
// n, and the part along n of u_after + e u_before | e. The slip after the blow is opposite to the friction.
extern const carom_element_kind carom_kind_coulomb;
// Lambda N n s | 1 row: s is what is left in the cone, mu^2 N^2 n.n - |Lambda - N n|^2 | mu
extern const carom_element_kind carom_kind_blow_cone;
// Lambda u_before u_after | 1 row: Lambda . (u_before + u_after), twice the energy that the blow brings
extern const carom_element_kind carom_kind_blow_work;
// a b w | 1 row: a b - w, relative to their sizes | 1/(size of a) 1/(size of b)
extern const carom_element_kind carom_kind_product;
// x_v q_v x_f q_f N | P of v, P of f: adds -sign N (n, r x n), and the other way for f, at the corner rho of v and
// along the normal n of the face of f | n(3) rho(3) sign
extern const carom_element_kind carom_kind_flat_push;
// x_v q_v x_f q_f, P_before P_after of one of them | 1 row: adds its speed along n at the corner, sign (after u_after +
// before u_before) | n(3) rho(3) 1/m 1/J(3) sign before after of_f
extern const carom_element_kind carom_kind_flat_speed;
// x_v q_v x_f q_f | 1 row: the height (R_f n) . (x_v + R_v rho - x_f) of a vertex over a face | n(3) rho(3)
extern const carom_element_kind carom_kind_above;
// q r | 1 row: (R n) . r | n(3)
extern const carom_element_kind carom_kind_inside;
// r q c | 3 rows: r - R c; c is where a body is held, in its own frame
extern const carom_element_kind carom_kind_grip;
// xa qa ca xb qb cb | 3 rows: where the grips are apart
extern const carom_element_kind carom_kind_hold;
// lambda(3) qa ca qb cb | P of a, P of b: lambda pushes b, and a the other way
extern const carom_element_kind carom_kind_hold_force;
// q P c | 3 rows: adds sign (velocity of the grip) | sign 1/m 1/J(3)
extern const carom_element_kind carom_kind_hold_speed;

// ---- avoidance (kinds_avoid.c) ----
// alpha(3) a x q | a row per vertex, at most 24: sign (alpha . (x + R v) - a) | sign count v(3 count)
extern const carom_element_kind carom_kind_plane_side;
// alpha | 1 row: alpha . alpha
extern const carom_element_kind carom_kind_plane_length;
// x q x q | 1 row: the gap of the oracle; object: carom_nested_pair
extern const carom_element_kind carom_kind_nested;
// x q of each set of corners, at most 4 | 1 row: the smooth gap (avoid_gap.h); object: carom_smooth_gap
extern const carom_element_kind carom_kind_smooth_gap;

// ---- costs (kinds_cost.c) ----
// tau sigma | cost: weight h sigma |tau|^2 | h weight; one component each
extern const carom_element_kind carom_kind_effort;
// v | cost: weight (v - target)^2 | weight target
extern const carom_element_kind carom_kind_square;
// q | cost: weight ((R axis).direction - 1)^2 | weight axis(3) direction(3)
extern const carom_element_kind carom_kind_alignment;
// v | 1 row or cost: weight v | weight
extern const carom_element_kind carom_kind_linear;

#endif
