/// carom/push_fit.h: which support and which friction explain pushes that were recorded (Gavrea 2008, 2.4: a
/// three-point support, an L-infinity fit, Nelder and Mead's method).
///
///     carom_push_fit_def def = carom_push_fit_default();
///     def.pusher = pusher_def, def.start = state, def.body = part;
///     def.records = records, def.record_count = n;
///     def.groups = &(carom_push_surface){.name = "probes", .bodies = probes, .body_count = 2}, def.group_count = 1;
///     carom_push_fit_run(&def, NULL, &fit, &error);
///
/// Sought is p with the least  max |q_simulated - q_measured|  over all pushes and samples, lengths over `length`,
/// angles in rad. Motion depends on the support up to a factor alone, where nothing but probes pushes: measured forces
/// set it.
#ifndef CAROM_PUSH_FIT_H
#define CAROM_PUSH_FIT_H

#include "carom/push.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where the part was at a time.
typedef struct carom_push_sample {
  double time;     ///< from the start of the push, s, >= 0
  double pose[3];  ///< x, y, angle as of carom_push_pose; m, rad
  double force;    ///< sum of the forces of all probes on the part (of their sizes), N; NaN: not measured
} carom_push_sample;

/// A push that was recorded.
typedef struct carom_push_record {
  const char *name;                  ///< for messages; may be null
  carom_push push;                   ///< what the probes did
  double start[3];                   ///< where the part was at time 0: x, y, angle; m, rad
  const carom_push_sample *samples;  ///< (sample_count) ascending times
  int sample_count;                  ///< at least 1
} carom_push_record;

/// How a support is written by few numbers. Lengths below are about the centre of mass.
typedef enum carom_push_support {
  CAROM_PUSH_SUPPORT_ISOTROPIC,  ///< E = c diag(1, 1, radius^2)
  CAROM_PUSH_SUPPORT_DIAGONAL,   ///< E = diag(cx, cy, c radius^2), c the mean of both, along the axes of the body frame
  CAROM_PUSH_SUPPORT_POINTS,     ///< E = sum of c_i A_i'A_i, A_i V the velocity of the i-th spot
  CAROM_PUSH_SUPPORT_GIVEN,      ///< that of the model: friction alone is sought
} carom_push_support;

/// "isotropic", "diagonal", "points", "given"; null for a number that is none.
CAROM_API const char *carom_push_support_name(carom_push_support support);

/// Surfaces of one friction: the part against some bodies.
typedef struct carom_push_surface {
  const char *name;   ///< of the parameter: "mu of <name>"; null: its number
  const int *bodies;  ///< (body_count) of the model; a body belongs to one group at most
  int body_count;     ///< at least 1
} carom_push_surface;

enum { CAROM_PUSH_FIT_POINTS = 8, CAROM_PUSH_FIT_GROUPS = 8, CAROM_PUSH_FIT_MOST = 20 };  ///< most of them

/// What is fitted to what. Begin with carom_push_fit_default().
typedef struct carom_push_fit_def {
  carom_pusher_def pusher;           ///< model, probes, step
  const carom_state *start;          ///< where all other bodies are
  int body;                          ///< which part was watched
  const carom_push_record *records;  ///< (record_count)
  int record_count;                  ///< at least 1
  carom_push_support support;        ///< default isotropic
  const carom_vec3 *points;          ///< (point_count) body frame, m: spots of CAROM_PUSH_SUPPORT_POINTS
  int point_count;                   ///< 2 to CAROM_PUSH_FIT_POINTS
  const carom_push_surface *groups;  ///< (group_count) whose friction is sought; that of others is the model's
  int group_count;                   ///< 0 to CAROM_PUSH_FIT_GROUPS
  double length;   ///< m: what a length is divided by; 0 (default): half the greatest extent of the part
  int starts;      ///< of the search, besides the one from the model's values; default 4
  int budget;      ///< simulations of all pushes, at most, to find the best; default 4000
  int replicates;  ///< fits to pushes drawn anew, with replacement, for the intervals; default 40; 0: no intervals
  int replicate_budget;  ///< simulations of all pushes for each of them; default 400
  double confidence;     ///< of the intervals; default 0.9
  uint64_t seed;         ///< default 1
  int threads;           ///< for the replicates; 0 (default): one per processor. The answer is the same for any number
  carom_progress progress;  ///< told of replicates (the first fit counts as one)
} carom_push_fit_def;

CAROM_API carom_push_fit_def carom_push_fit_default(void);  ///< the defaults named above

/// One number that was sought.
typedef struct carom_push_parameter {
  char name[48];       ///< "radius", "ratio", "share 1", "mu of probes", ...
  double value;        ///< of the best fit
  double low, high;    ///< percentiles over the replicates; the whole range, where it is not identified
  double least, most;  ///< the range that was searched
  bool identified;     ///< false: the interval spans the range, or no value of it makes the fit worse
} carom_push_parameter;

/// What came out.
typedef struct carom_push_fit {
  int parameter_count;                                   ///< how many numbers
  carom_push_parameter parameters[CAROM_PUSH_FIT_MOST];  ///< (parameter_count)
  double damping[3][3];  ///< E about the centre of mass, along the axes of the body frame: N s/m, N s, N m s
  bool scale_known;      ///< false: E is known up to a factor; it is given with the model's E_xx + E_yy
  double mu[CAROM_PUSH_FIT_GROUPS];  ///< (group_count)
  double residual;                   ///< the least largest one: lengths over `length`, rad
  int worst_record, worst_sample;    ///< where it is
  double rms;                        ///< root of the mean square of all residuals, likewise
  double force_residual;             ///< largest of measured forces, over the largest force; NaN: none was measured
  double length;                     ///< m, as used
  int evaluations, failures;         ///< simulations of all pushes; those that came to no end
  bool within_budget;                ///< no search for the best was cut short
  int replicates;                    ///< that intervals rest on
} carom_push_fit;

/// Fits. CAROM_ERR_ARGUMENT and CAROM_ERR_NUMBER name the record, sample or group that makes no sense;
/// CAROM_ERR_UNSUPPORTED in a build without NLopt; CAROM_NOT_CONVERGED where no parameters at all lead to an end of all
/// pushes; CAROM_INTERRUPTED, with what was found so far in *fit, when `progress` says stop after the first fit.
CAROM_API carom_status carom_push_fit_run(const carom_push_fit_def *def, const carom_allocator *allocator,
                                          carom_push_fit *fit, carom_error *error);

/// The pushes of a definition simulated with what was found: writes the poses at the times of all samples, one record
/// after the other.
CAROM_API carom_status carom_push_fit_simulate(const carom_push_fit_def *def, const carom_push_fit *fit,
                                               const carom_allocator *allocator, carom_push_sample *samples,
                                               carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
