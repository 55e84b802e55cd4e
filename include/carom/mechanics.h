/// carom/mechanics.h: energies, momenta, and the audit that checks on every step that they change
/// only as the outside world makes them.
#ifndef CAROM_MECHANICS_H
#define CAROM_MECHANICS_H

#include "carom/base.h"
#include "carom/contact.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of the moving bodies of a state of this model. None of these allocates.

/// Of translation and rotation, J.
CAROM_API double carom_kinetic_energy(const carom_model *model, const carom_state *state);
/// Of gravity, charges and springs, J. Gravity's zero is at the world origin.
CAROM_API double carom_potential_energy(const carom_model *model, const carom_state *state);
/// The sum of p, world axes, kg m/s.
CAROM_API carom_vec3 carom_linear_momentum(const carom_model *model, const carom_state *state);
/// The sum of x cross p + l, about the world origin, world axes, kg m2/s.
CAROM_API carom_vec3 carom_angular_momentum(const carom_model *model, const carom_state *state);

// ---- the audit ------------------------------------------------------------------------------------

/// One line of the audit's series. Errors are relative to the scales that the audit keeps: the
/// largest kinetic energy (or exchange of energy) and momentum seen so far.
typedef struct carom_audit_sample {
  double time;                        ///< s
  double kinetic, potential, energy;  ///< J
  double work;                        ///< J, by the outside and by dampers since the start
  double energy_error;                ///< (energy - start - work) / scale
  carom_vec3 momentum;                ///< kg m/s
  double momentum_error;              ///< |momentum - start - impulses| / scale
  carom_vec3 angular_momentum;        ///< kg m2/s about the world origin
  double angular_momentum_error;      ///< |angular momentum - start - angular impulses| / scale
  // since the start:
  double restitution_loss, friction_loss;  ///< J, accounted for in energy_error
  double projection_energy;                ///< J, accounted for in energy_error
  double projection_angular_momentum;      ///< |.|, kg m2/s, accounted for in angular_momentum_error
  int64_t collisions;                      ///< impacts
  // of the last step:
  double penetration;      ///< m
  double complementarity;  ///< relative
  double constraint;       ///< m
} carom_audit_sample;

/// What counts as a pass. Begin with carom_audit_default_bounds().
typedef struct carom_audit_bounds {
  double energy;            ///< largest |energy_error|; default 1e-2
  double energy_drift;      ///< |trend of energy_error over the run|; default 1e-3
  double momentum;          ///< default 1e-9
  double angular_momentum;  ///< default 1e-9
  double penetration;       ///< deepest overlap, relative to the smallest moving body's radius; default 1e-3
  double complementarity;   ///< worst residual of the contact solves; default 1e-6
  double constraint;        ///< worst joint drift relative to the largest body's radius; default 1e-8
  double passivity;         ///< most that contacts may make in a step, relative to the energy exchanged; default 1e-9
} carom_audit_bounds;

/// One row of the verdict table.
typedef struct carom_verdict_row {
  const char *key;    ///< stable identifier, e.g. "energy_drift"
  const char *label;  ///< for people, e.g. "Energy drift"
  const char *note;   ///< what it is relative to
  double value;       ///< what was found; NaN when it could not be
  double bound;       ///< what is allowed
  bool pass;          ///< value <= bound; false when value is not a number
} carom_verdict_row;

#define CAROM_VERDICT_MAX 16  ///< most rows of a verdict
/// The verdict table. A plain value; its texts are constant.
typedef struct carom_verdict {
  int count;                                  ///< rows
  bool pass;                                  ///< all rows pass
  carom_verdict_row rows[CAROM_VERDICT_MAX];  ///< (count)
} carom_verdict;

/// The books of a run: what there was at the start, what came and went since, and the worst errors.
typedef struct carom_audit carom_audit;

/// Bounds with the defaults named above.
CAROM_API carom_audit_bounds carom_audit_default_bounds(void);
/// Begins at `state`, which is not kept. The model must outlive the audit.
CAROM_API carom_status carom_audit_create(const carom_model *model, const carom_state *state,
                                          const carom_allocator *allocator, carom_audit **audit, carom_error *error);
CAROM_API void carom_audit_destroy(carom_audit *audit);  ///< null is fine
/// Takes in one step: the state after it and what the stepper reported. Never allocates.
CAROM_API void carom_audit_step(carom_audit *audit, const carom_state *state, const carom_step_report *report);
/// The figures after the last step (or of the start).
CAROM_API carom_audit_sample carom_audit_latest(const carom_audit *audit);
/// The verdict on all steps so far; null bounds mean defaults. Rows on contacts and joints are there when the run had
/// any. Never allocates.
CAROM_API carom_verdict carom_audit_judge(const carom_audit *audit, const carom_audit_bounds *bounds);

#ifdef __cplusplus
}
#endif
#endif
