/// carom/impact.h: one impact problem, several laws. Bodies touch at some points; how do they part?
///
/// All that matters of the bodies is how the velocities at the contacts answer to impulses there:
///
///     u+ = u- + W P,      W = J M^-1 J',
///
/// with u the relative velocities of the contact points (A minus B) and P the impulses on A, three numbers a contact:
/// along the normal (from B to A) and along two tangents. A contact approaches when its normal velocity is negative.
/// Knows no bodies and no shapes; joints enter through W alone.
#ifndef CAROM_IMPACT_H
#define CAROM_IMPACT_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How colliding bodies part (docs/impacts.md).
typedef enum carom_impact_law {
  CAROM_IMPACT_GENERALIZED,    ///< default: generalised reflections; keeps energy, momentum and symmetry when e = 1
  CAROM_IMPACT_SUM,            ///< as published: one reflection along the sum of the gradients (Johnson 2012, 3.5.4)
  CAROM_IMPACT_DECOMPOSITION,  ///< as published: normal, slide and fix parts of the momentum, contact by contact
  CAROM_IMPACT_NEWTON,         ///< complementarity with Newton's restitution
  CAROM_IMPACT_POISSON,        ///< compression and decompression
  CAROM_IMPACT_PLASTIC,        ///< the normal (and, with friction, tangential) velocity is lost whatever e
} carom_impact_law;

enum { CAROM_IMPACT_LAW_COUNT = 6 };

/// "generalized", "sum", ...; null past the last.
CAROM_API const char *carom_impact_law_name(int law);

/// A borrowed view of `count` contacts. Rows 3i, 3i + 1, 3i + 2 are the normal and the tangents of contact i.
typedef struct carom_impact_problem {
  int count;                  ///< contacts, up to what the work was made for
  const double *W;            ///< (3 count x 3 count) symmetric, positive semidefinite, 1/kg
  const double *velocity;     ///< (3 count) before the impact, m/s
  const double *restitution;  ///< (count) e in [0, 1]
  const double *friction;     ///< (count) Coulomb's mu >= 0
} carom_impact_problem;

/// What comes out. The arrays are the caller's.
typedef struct carom_impact_solution {
  double *impulse;   ///< (3 count) on A, N s; carom_impact_rest reads it as a first guess
  double *velocity;  ///< (3 count) after the impulses, A minus B, m/s; out only; may be null
} carom_impact_solution;

/// What lasting contacts aim at.
typedef struct carom_impact_aim {
  const double *target;  ///< (3 count) velocities to reach, m/s; null for 0
  double noise;          ///< velocities within this of each other count as equal, m/s, >= 0
} carom_impact_aim;

/// How it went. Losses are kinetic energy turned into heat, J: >= 0 but for round-off.
typedef struct carom_impact_info {
  bool converged;   ///< false: a limit was reached, and the rest was done plastically
  int iterations;   ///< reflections, or sweeps over the contacts
  double approach;  ///< fastest approach that is left, over the fastest there was
  /// Natural residual of the contact laws over the largest velocity there was: of carom_impact_rest, and of NEWTON with
  /// Coulomb's law, where it is not round-off if energy would have risen or elastic contacts were reflected again; 0 of
  /// the other laws, which have no such form.
  double complementarity;
  double restitution_loss, friction_loss;  ///< J, by the normal and by the tangential impulses
} carom_impact_info;

typedef struct carom_impact_work carom_impact_work;  ///< scratch for problems up to a size; opaque

/// Allocates all that a solve needs for up to max_count contacts. CAROM_ERR_ARGUMENT when that is negative.
CAROM_API carom_status carom_impact_work_create(int max_count, const carom_allocator *allocator,
                                                carom_impact_work **work, carom_error *error);
CAROM_API void carom_impact_work_destroy(carom_impact_work *work);  ///< null is fine
/// How many contacts fit.
CAROM_API int carom_impact_work_capacity(const carom_impact_work *work);

/// Finds the impulses and the velocities after them. Whatever the law: no contact
/// approaches afterwards, energy does not rise, impulses push. With GENERALIZED and SUM, e = 1 and no friction, energy
/// is kept to round-off. Friction lies in Coulomb's cone (DECOMPOSITION: in the published one). Never allocates.
/// CAROM_ERR_ARGUMENT for more contacts than fit or a coefficient out of range, CAROM_ERR_NUMBER for numbers that are
/// not finite. `info` may be null.
CAROM_API carom_status carom_impact_solve(carom_impact_work *work, const carom_impact_problem *problem,
                                          carom_impact_law law, carom_impact_solution *solution,
                                          carom_impact_info *info, carom_error *error);

/// Contacts that last: impulses P with 0 <= P_n, u+_n >= target_n, one of them with equality, and Coulomb friction that
/// brings the tangential velocity to its target where it can. A null aim means targets 0 and no noise.
/// `info` may be null. Never allocates. Fails as carom_impact_solve does.
CAROM_API carom_status carom_impact_rest(carom_impact_work *work, const carom_impact_problem *problem,
                                         const carom_impact_aim *aim, carom_impact_solution *solution,
                                         carom_impact_info *info, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
