/// carom/friction.h: the problem of Coulomb friction, with all velocities eliminated.
///
/// At each contact, with u = W r + q and components normal first, then one tangent (plane) or two (space):
///
///     r_n >= 0,  u_n >= 0,  r_n u_n = 0,        |r_t| <= mu r_n,   and where |u_t| > 0:  r_t = -mu r_n u_t / |u_t|
///
/// The cone is round, stick is stick, slip opposes and does not part what it slides on. In the form of De Saxce and
/// Feng (1998): r in K, u + mu |u_t| e_n in the dual cone K*, and orthogonal to each other. This is not the optimum of
/// anything, and need not have a solution. W is symmetric and positive semidefinite, often singular: there are more
/// contacts than bodies can tell apart, and then many r with one u.
///
/// The judge of all methods is the natural map: the largest |r - P_K(r - (u + mu |u_t| e_n) / w)| w of a contact, with
/// w the mean of the diagonal of its block of W; a velocity. docs/friction.md has the mathematics and the file formats.
#ifndef CAROM_FRICTION_H
#define CAROM_FRICTION_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A borrowed view. W by square blocks: those of contact i are number start[i] to start[i + 1] - 1.
typedef struct carom_friction_problem {
  int dimension;      ///< of a contact: 2 or 3
  int contact_count;  ///< how many
  const int *start;   ///< (contact_count + 1)
  const int *column;  ///< (start[contact_count]) the contact that a block multiplies the impulse of; ascending in a row
  const double *W;    ///< (dimension * dimension * start[contact_count]) blocks, each column after column
  const double *q;    ///< (dimension * contact_count) velocities without impulses
  const double *mu;   ///< (contact_count) coefficients of friction, >= 0
} carom_friction_problem;

/// The methods; the names are those of carom_friction_method_name.
typedef enum carom_friction_method {
  CAROM_FRICTION_AUTO,         ///< "auto": some sweeps, then Newton's method, then interior ones, in turns
  CAROM_FRICTION_SWEEPS,       ///< "sweeps": block Gauss-Seidel with momentum; needs no factorisation
  CAROM_FRICTION_NEWTON,       ///< "newton": semismooth Newton with proximal terms, factored by sparse blocks
  CAROM_FRICTION_INTERIOR,     ///< "interior": through the inside of all cones, factored likewise; begins from nothing
  CAROM_FRICTION_METHOD_COUNT  ///< how many there are
} carom_friction_method;

/// "auto", "sweeps", ...; null for a value outside the list.
CAROM_API const char *carom_friction_method_name(carom_friction_method method);

/// Begin with carom_friction_default_options(); the solver never writes here.
typedef struct carom_friction_options {
  carom_friction_method method;  ///< default auto
  double tolerance;              ///< on the natural map over the largest |q|; default 1e-9
  int max_sweeps;                ///< in all; 0 (default) lets the method choose
  int max_steps;                 ///< linear systems in all; 0 (default) lets the method choose
  bool warm_start;               ///< take the incoming r as the first guess; default false
} carom_friction_options;

/// Options with the defaults named above.
CAROM_API carom_friction_options carom_friction_default_options(void);

/// How it ended. All but the first tell how good r is by the residual.
typedef enum carom_friction_outcome {
  CAROM_FRICTION_SOLVED,      ///< within the tolerance
  CAROM_FRICTION_LIMIT,       ///< max_sweeps or max_steps reached, or no further progress
  CAROM_FRICTION_INFEASIBLE,  ///< there is none, and `certificate` proves it
} carom_friction_outcome;

/// "solved", "limit", "infeasible"; null for a value outside the list.
CAROM_API const char *carom_friction_outcome_name(carom_friction_outcome outcome);

/// How it went; the residual is computed from the problem and the answer.
typedef struct carom_friction_info {
  carom_friction_outcome outcome;  ///< how it ended
  carom_friction_method method;    ///< the one that ended it
  int sweeps;                      ///< Gauss-Seidel sweeps made
  int steps;                       ///< linear systems solved
  double residual;                 ///< natural map, m/s
  double velocity_scale;           ///< largest |q|, m/s
  double relative;                 ///< residual / velocity_scale; 0 where both are
  int worst;                       ///< contact where the residual is
  double asymmetry;                ///< largest |W - W'| over the largest |W|; the symmetric part is solved
  double seconds;                  ///< by the clock
} carom_friction_info;

/// Impulses and velocities, each (dimension * contact_count).
typedef struct carom_friction_solution {
  double *r;            ///< with warm_start in and out, else out
  double *u;            ///< out: W r + q
  double *certificate;  ///< (contact_count) out where there is no solution, else zero: normal impulses >= 0 that move
                        ///< nothing while q approaches along them. May be null
} carom_friction_solution;

/// Solves. CAROM_OK whatever the outcome; a failure is about the call: CAROM_ERR_NUMBER for numbers that are not
/// finite, CAROM_ERR_ARGUMENT for blocks out of order or a negative diagonal. Null options mean defaults. Allocates.
CAROM_API carom_status carom_friction_solve(const carom_friction_problem *problem,
                                            const carom_friction_options *options,
                                            const carom_friction_solution *solution, const carom_allocator *allocator,
                                            carom_friction_info *info, carom_error *error);

/// The judge: the natural map at r with its velocities u = W r + q, m/s. *worst (may be null) is the contact it is at.
CAROM_API double carom_friction_residual(const carom_friction_problem *problem, const double *r, const double *u,
                                         int *worst);

#ifdef __cplusplus
}
#endif
#endif
