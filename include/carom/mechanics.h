/// carom/mechanics.h: energies, momenta, and the audit that judges a motion by the laws of mechanics.
#ifndef CAROM_MECHANICS_H
#define CAROM_MECHANICS_H

#include "carom/base.h"
#include "carom/contact.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of the moving bodies and the nodes of solids of a state of this model. None of these allocates.

/// Of translation and rotation, and of nodes, J.
CAROM_API double carom_kinetic_energy(const carom_model *model, const carom_state *state);
/// Of gravity, charges, springs and deformed solids, J. Gravity's zero is at the world origin. Infinite where a
/// tetrahedron is inverted and its law has a pole there.
CAROM_API double carom_potential_energy(const carom_model *model, const carom_state *state);
/// The sum of p, world axes, kg m/s.
CAROM_API carom_vec3 carom_linear_momentum(const carom_model *model, const carom_state *state);
/// The sum of x cross p + l, about the world origin, world axes, kg m2/s.
CAROM_API carom_vec3 carom_angular_momentum(const carom_model *model, const carom_state *state);

/// What one solid that deforms has.
typedef struct carom_solid_sample {
  double kinetic;               ///< of its nodes, J
  double elastic;               ///< stored by deformation, J; infinite as above
  double weight;                ///< of gravity, J, zero at the world origin
  carom_vec3 center;            ///< of mass, m
  carom_vec3 momentum;          ///< kg m/s; over the mass it is the velocity of the centre
  carom_vec3 angular_momentum;  ///< about the world origin, kg m2/s
  double least_J;               ///< the least det F; a tetrahedron is inverted where it is not above 0
  int least_tet;                ///< where that is, counted from 0 in the solid
} carom_solid_sample;

/// Of solid `solid` of the model. Allocates nothing; any number of threads may ask at once.
CAROM_API carom_solid_sample carom_solid_sample_of(const carom_model *model, const carom_state *state, int solid);

// ---- what joints carried ------------------------------------------------------------------------------
// Found from a motion: what changed the momenta of every body in a step, less gravity, force fields and contacts, came
// through its joints. So it holds for every integrator, impacts and limits included.

/// Scratch for the joints of a model.
typedef struct carom_reactions carom_reactions;

/// Makes room; the model must outlive it. Nothing below allocates after this.
CAROM_API carom_status carom_reactions_create(const carom_model *model, const carom_allocator *allocator,
                                              carom_reactions **reactions, carom_error *error);
CAROM_API void carom_reactions_destroy(carom_reactions *reactions);  ///< null is fine
/// Fills `loads` (joint_count) with what the joints carried in the step from `before` to `after`, mean over it: forces
/// and moments on body 1 about the joint's point, motors, springs, limits and inputs along it included; zero for joints
/// that do not hold. `report` tells the contacts of the step; null: there were none. Where joints close a loop, what
/// its limits carry is not told apart, and of redundant joints the smallest loads in the norm of the masses are given.
/// CAROM_ERR_SINGULAR where joints cannot be solved.
CAROM_API carom_status carom_reactions_find(carom_reactions *reactions, const carom_state *before,
                                            const carom_state *after, const carom_step_report *report,
                                            carom_joint_load *loads, carom_error *error);

// ---- the audit ------------------------------------------------------------------------------------
// It sees a model and a motion: states, the events between them, and the work that was applied. What an integrator says
// of itself is a claim: losses count only as far as the surfaces that met allow them, and what projections put in or
// take out is not booked at all. docs/audit.md has the formula of every row.

/// One line of the audit's series. Errors are relative to the scales that the audit keeps: the
/// largest kinetic energy (or exchange of energy) and momentum seen so far.
typedef struct carom_audit_sample {
  double time;                        ///< s
  double kinetic, potential, energy;  ///< J
  double work;                        ///< J, by the outside and by dampers since the start
  double energy_error;                ///< (energy - start - work + lawful losses) / scale
  carom_vec3 momentum;                ///< kg m/s
  double momentum_error;              ///< |momentum - start - impulses| / scale
  carom_vec3 angular_momentum;        ///< kg m2/s about the world origin
  double angular_momentum_error;      ///< |angular momentum - start - angular impulses| / scale
  // since the start, as claimed:
  double restitution_loss, friction_loss;  ///< J
  double projection_energy;                ///< J, not accounted for above
  double projection_angular_momentum;      ///< |.|, kg m2/s, not accounted for above
  /// What is left of both errors when every claim is taken for true: losses and projections. Nothing, if the books of
  /// an integrator are complete.
  double claimed_energy_error, claimed_angular_momentum_error;
  int64_t collisions;  ///< impacts
  // of the last step:
  double penetration;      ///< m, as claimed
  double complementarity;  ///< relative, as claimed
  double constraint;       ///< m
} carom_audit_sample;

/// What counts as a pass, law by law; all are relative. Zero means the bound of the table (carom_audit_bounds_of).
typedef struct carom_audit_bounds {
  const char *integrator;   ///< whose row of the table: what a wider bound is shown against; null: of unknown origin
  double energy;            ///< largest raw balance: energy - start - work + losses
  double energy_drift;      ///< its trend over the run
  double energy_made;       ///< its largest rise: what contacts, projections and motors put in
  double dissipation;       ///< its largest fall: what the method loses by itself
  double unlawful_loss;     ///< losses that no surface that met allows
  double momentum;          ///< of all bodies
  double angular_momentum;  ///< of all bodies
  double body_momentum;     ///< of each body by itself
  double position;          ///< jumps that no velocity explains, over the body's least width
  double penetration;       ///< deepest overlap, over the least width of the thinner body
  double passage;           ///< depth on the way through another body, likewise
  double complementarity;   ///< residual of the contact solves, as claimed
  double contact_law;       ///< impulses that pull, leave the cone or act where nothing touches
  double friction_law;      ///< energy that friction put in by acting along the slip
  double constraint;        ///< joint drift over the largest body's radius
  double creep;             ///< slip with friction inside its cone, over the body's least width (motions by frames)
  double inversion;         ///< 1 less the least det F of a tetrahedron, which is inverted where that is not below 1
  double solid_overlap;     ///< deepest overlap of a solid that deforms, over the least width of the thinner
  double pins;              ///< how far held nodes are from where they should be, over the solid's least width
  // models whose bodies lie on supports, in the place of energy and momenta:
  double equilibrium;  ///< what passes through a body against what its support takes, over what passes
  double power;        ///< work of driven bodies and forces less what supports and friction take, over that work
  double passivity;    ///< energy that contacts or supports gave, likewise
} carom_audit_bounds;

/// One row of the verdict table.
typedef struct carom_verdict_row {
  const char *key;    ///< stable identifier, e.g. "energy_drift"
  const char *label;  ///< for people, e.g. "Energy drift"
  const char *note;   ///< what it is relative to
  double value;       ///< what was found; NaN when it could not be
  double bound;       ///< what is allowed
  bool pass;          ///< value <= bound; false when value is not a number
  char where[160];    ///< which bodies and when, and "widened by the scene from a to b"; may be empty
} carom_verdict_row;

/// How a run or a motion did.
typedef enum carom_outcome {
  CAROM_VERDICT_INCOMPLETE,  ///< died, interrupted, or nothing was done: no law was seen broken, but that is no pass
  CAROM_VERDICT_PASS,        ///< came to its end, and every row is within its bound
  CAROM_VERDICT_FAIL,        ///< a row is not
} carom_outcome;

#define CAROM_VERDICT_MAX 24  ///< most rows of a verdict
/// The verdict table. A plain value; its texts are constant or in it.
typedef struct carom_verdict {
  int count;                                  ///< rows
  bool pass;                                  ///< outcome == CAROM_VERDICT_PASS
  carom_outcome outcome;                      ///< pass, fail or incomplete
  char reason[400];                           ///< one line: why, and what to do about it; empty for a pass
  carom_verdict_row rows[CAROM_VERDICT_MAX];  ///< (count)
} carom_verdict;

/// "PASS", "FAIL" or "INCOMPLETE".
CAROM_API const char *carom_outcome_name(carom_outcome outcome);
/// Says that what was judged did not come to its end, why, and what to do about it: a pass becomes incomplete, a
/// failure keeps its rows. A verdict never passes afterwards.
CAROM_API void carom_verdict_cut_short(carom_verdict *verdict, const char *reason);
/// Adds a row; verdict and reason follow. `where` may be null. Rows beyond CAROM_VERDICT_MAX fail the verdict unseen.
CAROM_API void carom_verdict_add(carom_verdict *verdict, const carom_verdict_row *row, const char *where);

/// The books of a run: what there was at the start, what came and went since, and the worst errors.
typedef struct carom_audit carom_audit;

/// The bounds of the table for motions of a model by an integrator; null, or a name that is not in the table, gives
/// those for motions of unknown origin. `model` may be null.
CAROM_API carom_audit_bounds carom_audit_bounds_of(const char *integrator, const carom_model *model);
/// Begins at `state`, which is copied. The model must outlive the audit.
CAROM_API carom_status carom_audit_create(const carom_model *model, const carom_state *state,
                                          const carom_allocator *allocator, carom_audit **audit, carom_error *error);
CAROM_API void carom_audit_destroy(carom_audit *audit);  ///< null is fine
/// Takes in one step: the state after it and what the stepper reported. A step that failed (report->status), or that
/// led nowhere, leaves the figures as they are and makes the verdict incomplete. Looks for overlaps where bodies have
/// moved by a quarter of their least width, and every hundred steps at all of them. Allocates only when there are more
/// pairs of near bodies than ever before.
CAROM_API void carom_audit_step(carom_audit *audit, const carom_state *state, const carom_step_report *report);
/// Takes in the next frame of a motion of which nothing else is known: no events, no work, no books. Rows that need
/// them are left out of the verdict. Allocates as carom_audit_step does.
CAROM_API void carom_audit_motion(carom_audit *audit, const carom_state *state);
/// Looks at all near bodies now: at the frames that are recorded. Allocates as carom_audit_step does.
CAROM_API void carom_audit_frame(carom_audit *audit);
/// The figures after the last step (or of the start).
CAROM_API carom_audit_sample carom_audit_latest(const carom_audit *audit);
/// The verdict on all steps so far, after a last look at all near bodies; null bounds mean the table's for motions of
/// unknown origin. Rows on contacts and joints are there when the run had any. Without a step, or after one that
/// failed, the verdict is incomplete.
CAROM_API carom_verdict carom_audit_judge(carom_audit *audit, const carom_audit_bounds *bounds);

#ifdef __cplusplus
}
#endif
#endif
