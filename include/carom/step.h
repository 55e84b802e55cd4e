/// carom/step.h: moving a state forward in time. Every integrator stands behind this one interface,
/// so that a scene can be run by any of them.
#ifndef CAROM_STEP_H
#define CAROM_STEP_H

#include "carom/base.h"
#include "carom/impact.h"
#include "carom/lcp.h"
#include "carom/mechanics.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where the potential is sampled in the discrete Lagrangian.
typedef enum carom_quadrature {
  CAROM_QUADRATURE_ENDPOINT,  ///< half at each end: Stoermer-Verlet, explicit in the forces
  CAROM_QUADRATURE_MIDPOINT,  ///< at (q_k + q_k+1)/2: implicit, as published (Johnson 2012, 3.2)
} carom_quadrature;

/// Which energy is kept through an impact by the integrator `exact`.
typedef enum carom_energy_condition {
  CAROM_ENERGY_HAMILTONIAN,  ///< default: the projected Hamiltonian at the contact (Johnson 2012, eq. 3.74)
  CAROM_ENERGY_DISCRETE,     ///< the discrete energy of the intervals before and after (eq. 3.70)
} carom_energy_condition;

/// Is shown every contact problem of `moreau` before it is solved; the problem holds during the call only.
typedef void carom_problem_sink(void *context, double time, const carom_lcp_problem *problem);

/// Which integrator, and how. Begin with carom_step_default_options().
typedef struct carom_step_options {
  const char *integrator;       ///< default "variational"; see carom_integrator_name
  double step;                  ///< h, s; default 1e-3
  carom_quadrature quadrature;  ///< default endpoint
  int order;           ///< of smooth motion: 2, or 4 or 6 by symmetric compositions of 5 or 9 parts (variational,
                       ///< exact, dcr, potential); default 2
  int threads;         ///< default 1; 0 means one per processor. Results do not depend on it.
  double tolerance;    ///< of implicit solves, relative to the momenta; default 1e-14
  int max_iterations;  ///< of implicit solves; default 50
  int max_halvings;    ///< a step that fails is retried as 2, 4, ... smaller ones; default 6
  // contacts; each integrator reads what concerns it
  carom_impact_law law;                     ///< exact, dcr
  carom_energy_condition energy_condition;  ///< exact
  int max_impacts;                          ///< exact: impacts in one step before the Zeno guard acts; default 1000
  double stiffness;         ///< potential, newmark: C of the contact potential, N/m; default 0: from `penetration`
  double penetration;       ///< potential, newmark: overlap aimed at, m; default 0: 1e-3 of the smallest body
  double alpha;             ///< moreau: in (0, 1]; default 1
  bool poisson;             ///< moreau: Poisson's restitution instead of Newton's; default false
  int friction_directions;  ///< moreau, cone: edges of the polyhedral cone; 0: the exact cone; default -1: the
                            ///< integrator's choice (moreau 4, cone the exact cone)
  const char *solver;  ///< moreau, cone: name of the contact solver; null: the integrator's choice. Must outlive the
                       ///< stepper
  double solver_tolerance;           ///< of the contact solver; default 0: the integrator's choice
  int solver_iterations;             ///< of the contact solver; default 0: the integrator's choice
  carom_problem_sink *problem_sink;  ///< moreau; null: none
  void *sink_context;                ///< of the sink: the caller's own
} carom_step_options;

/// Options with the defaults named above.
CAROM_API carom_step_options carom_step_default_options(void);

/// The name of an integrator of this build, for options; null past the last.
CAROM_API const char *carom_integrator_name(int index);
/// One line on an integrator, for people; null past the last.
CAROM_API const char *carom_integrator_summary(int index);

/// An integrator at work: its options, scratch, and what it remembers from step to step.
typedef struct carom_stepper carom_stepper;

/// Makes a stepper for states of this model, which must outlive it. Null options mean defaults. CAROM_ERR_ARGUMENT or
/// CAROM_ERR_NUMBER for options out of range, CAROM_ERR_UNSUPPORTED or CAROM_ERR_GEOMETRY for a model that this
/// integrator cannot run; the message names those that can.
CAROM_API carom_status carom_stepper_create(const carom_model *model, const carom_step_options *options,
                                            const carom_allocator *allocator, carom_stepper **stepper,
                                            carom_error *error);
CAROM_API void carom_stepper_destroy(carom_stepper *stepper);  ///< null is fine
/// Advances the state by one step of options->step. Never allocates. On failure the state is left as
/// it was, and the message names body, time and remedy. `report` may be null.
CAROM_API carom_status carom_stepper_step(carom_stepper *stepper, carom_state *state, carom_step_report *report,
                                          carom_error *error);

/// What a stepper remembers beyond the state, from step to step: its clock, impulses to begin solves from, which bodies
/// rest on each other. With the state it continues a run bit for bit. Returns how many bytes there are, and writes them
/// into `memory` unless that is null or `size` is too small for them. Allocates nothing.
CAROM_API size_t carom_stepper_memory(const carom_stepper *stepper, void *memory, size_t size);
/// Puts back what carom_stepper_memory of a stepper with the same model and options gave. CAROM_ERR_FORMAT when it is
/// not from such a one.
CAROM_API carom_status carom_stepper_recall(carom_stepper *stepper, const void *memory, size_t size,
                                            carom_error *error);

/// What the contacts of the last step did to the inside of each body: the sum over its contacts of the mean force on it
/// (x) (centre of mass - point of contact), N m. Summed over the bodies in a volume, and divided by it, that is the
/// stress there, compression positive. Fills `moments` (body_count), with zeros for bodies that touch nothing. False,
/// and nothing filled, when the integrator does not tell (all but `cone`) or took no step yet.
CAROM_API bool carom_stepper_contact_moments(const carom_stepper *stepper, carom_mat3 *moments);

#ifdef __cplusplus
}
#endif
#endif
