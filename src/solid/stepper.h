// What steps and equilibria share.
#ifndef CAROM_SRC_SOLID_STEPPER_H
#define CAROM_SRC_SOLID_STEPPER_H

#include "solid/matrix.h"

struct carom_elastic_stepper {
  carom_arena arena;  // first: carom_object_create
  carom_elastic *elastic;
  carom_elastic_options options;
  carom_vec3 *x0, *v0, *a0;     // (node_count each) to go back to
  carom_vec3 *x1, *v1;          // at the start of a part
  carom_vec3 *rate;             // velocities that damping sees
  carom_vec3 *f;                // all forces
  carom_vec3 *own, *own1;       // those of the solid itself: now, at the start of a part
  carom_vec3 *extra, *extra1;   // those of the caller's function: now, at the start of a part
  carom_vec3 *middle, *target;  // Newton's method: where it is, where inertia alone would lead
  carom_vec3 *direction, *trial, *end;
  carom_vec3 *residual, *search, *image, *preconditioned;  // of conjugate gradients
  carom_mat3 *K;                                           // blocks on the diagonal from the caller's function
  bool *pinned;
  carom_elastic_matrix *matrix;  // null for explicit steps
  carom_solid_factor *factor;
  double sharp2, stiff2;  // rad2/s2 at rest: the largest eigenvalue of M^-1 K; what the evaluation's bound was
  double now2;            // the latter where the state is now
  int stiffest_tet;
  double stored;  // J, now
  double power;   // W, taken by damping now
  double t;       // of the state that now2, power and extra are of
  bool known;     // whether they are
};

// Where a part of a step failed, for the message.
typedef struct carom_solid_failure {
  enum {
    CAROM_SOLID_FINE,
    CAROM_SOLID_INVERTED,
    CAROM_SOLID_TOO_LONG,
    CAROM_SOLID_STALLED,
    CAROM_SOLID_ASTRAY,
    CAROM_SOLID_LOOSE
  } kind;
  carom_status stopped;  // not CAROM_OK: the caller's function ended it
  int tet;
  double J;
  double residual;
} carom_solid_failure;

// Loads at one place and time. `share` scales gravity, pressure and `force`.
typedef struct carom_solid_moment {
  const carom_elastic_loads *loads;
  double t, share;
} carom_solid_moment;

// f += all loads at x, v; what the caller's function adds goes to `extra` (overwritten), too; K (null: not wanted) is
// overwritten with its blocks.
carom_status carom_solid_add_loads(const carom_elastic *e, const carom_solid_moment *at, const carom_vec3 *x,
                                   const carom_vec3 *v, carom_vec3 *f, carom_vec3 *extra, carom_mat3 *K);
// Adds the symmetric part of the stiffness of pressure.
void carom_solid_stiffen(carom_elastic_matrix *matrix, const carom_solid_moment *at, const carom_vec3 *x);
// Where pin i is to be at time t; where it is, at rest, without a function.
void carom_solid_pin(const carom_elastic_loads *loads, double t, int i, carom_vec3 *x, carom_vec3 *v);
carom_status carom_solid_check_loads(const carom_elastic *e, const carom_elastic_loads *loads, carom_error *error);

// Newton's method on  f(m) = inertia M (m - target),  f at m with velocities 2 (m - before)/h; pins go to
// pin_target in the first iteration.
typedef struct carom_solid_newton {
  carom_elastic_stepper *s;
  carom_solid_moment at;
  double inertia;            // 1/s2; 0: equilibrium
  const carom_vec3 *before;  // null: equilibrium
  double h;
  int iterations;
  double residual, least_J;
  int least_tet;
} carom_solid_newton;
// From s->middle and to it; s->target holds the target of free nodes and the place of pins. s->f: the forces there.
carom_solid_failure carom_solid_newton_solve(carom_solid_newton *n);

// One part of a step of h from the state. Booked where the report is not null.
carom_solid_failure carom_solid_newmark(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                        carom_elastic_state *state, carom_elastic_report *report);
carom_solid_failure carom_solid_midpoint(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                         carom_elastic_state *state, carom_elastic_report *report);
// Learns what is known of a state at the start of a step: `a`, now2, power, extra.
carom_solid_failure carom_solid_learn(carom_elastic_stepper *s, const carom_elastic_loads *loads,
                                      carom_elastic_state *state);

// Whether the solid's own forces did what was stored and taken by damping, roughly: exactly they do in linear
// elasticity. Where a step is far too long for a solid that is strongly deformed, it ends with energy from nowhere.
typedef struct carom_solid_balance {
  double work, stored_before, stored, dissipated;
  double way;  // how far any node went, m
} carom_solid_balance;
bool carom_solid_plausible(const carom_elastic_stepper *s, const carom_solid_balance *b);

// How long explicit steps may be, from an estimate of the largest eigenvalue.
double carom_solid_stable_step(const carom_elastic_stepper *s);

// What gravity, pressure and `force` do along displacements d, the pressure at x; and the work of given forces.
typedef struct carom_solid_works {
  double gravity, pressure, force;
} carom_solid_works;
carom_solid_works carom_solid_work(const carom_elastic *e, const carom_elastic_loads *loads, const carom_vec3 *x,
                                   const carom_vec3 *d);
// Impulse and moment of all loads but pins at x over h; `extra` is what the caller's function gave there. And of what
// holds a pin.
void carom_solid_book_loads(const carom_elastic *e, const carom_solid_moment *at, double h, const carom_vec3 *x,
                            const carom_vec3 *extra, carom_elastic_report *report);
void carom_solid_book_pin(carom_elastic_report *report, carom_vec3 impulse, carom_vec3 moment);
double carom_solid_dot(int count, const carom_vec3 *a, const carom_vec3 *b);

#endif
