/// carom/push.h: pushing without inertia (Gavrea 2008, 2.4). Probes move on straight lines for a while and push parts
/// that lie on supports which resist their motion. What becomes of a push, and whether it keeps its modes of contact,
/// also from starts nearby and with other friction (robust). Which friction and which support explain pushes that were
/// recorded is told by carom/push_fit.h, and which pushes lead from here to there by carom/push_plan.h.
///
///     carom_pusher_def def = carom_pusher_default();
///     def.model = model, def.probe_count = 1, def.probes[0] = carom_model_find_body(model, "probe");
///     carom_pusher_create(&def, NULL, &pusher, &error);
///     carom_pusher_run(pusher, &push, state, &result, &error);           // a complementarity problem each step
///     carom_pusher_check(pusher, &push, state, &result, &error);         // robust? one problem, then linear systems
///     carom_push_starts starts = carom_push_corners(model, state, &box);
///     carom_pusher_check_all(pusher, &push, state, &starts, &verdict, &error);  // and from the corners of a box?
///
/// What becomes of a push is an answer, not an error: functions fail for pushes that make no sense, with a message that
/// names the probe.
#ifndef CAROM_PUSH_H
#define CAROM_PUSH_H

#include "carom/base.h"
#include "carom/contact.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- pushes -----------------------------------------------------------------------------------------------------

enum { CAROM_PUSH_PROBES = 4 };        ///< most probes of a push
enum { CAROM_PUSH_STEPS = 10000000 };  ///< most steps of a push: its duration over the pusher's step

/// A probe's way: straight, at constant speed; it does not turn.
typedef struct carom_push_probe {
  carom_vec3 at;   ///< of the probe's body frame at the start, world, m (x and y count)
  double heading;  ///< rad, against the world's x; the way it moves. Its orientation stays that of the model
  double speed;    ///< m/s, >= 0; 0: it is in the way, and stays
} carom_push_probe;

/// A push: what all probes do, and for how long. A probe that is apart of the part comes nearer first, freely.
typedef struct carom_push {
  double duration;                            ///< s, > 0
  int probe_count;                            ///< how many of the probes take part, the first ones of the pusher; the
                                              ///< others are put far away, where they touch nothing
  carom_push_probe probe[CAROM_PUSH_PROBES];  ///< (probe_count)
} carom_push;

/// How a push ended.
typedef enum carom_push_ending {
  CAROM_PUSH_DONE,    ///< it took its time
  CAROM_PUSH_GOAL,    ///< and the part is where it shall be
  CAROM_PUSH_JAM,     ///< forces that cancel out grew without bound, walls among what carries them
  CAROM_PUSH_DAMAGE,  ///< likewise, between probes alone
  CAROM_PUSH_SWITCH,  ///< (of checks) a contact changed its mode
  CAROM_PUSH_FAILED,  ///< the step was not solved, though forces cannot cancel out; of another start of a check: a
                      ///< probe begins inside a body there
} carom_push_ending;

/// "done", "goal", "jam", "damage", "switch", "failed"; never null.
CAROM_API const char *carom_push_ending_name(carom_push_ending ending);

/// Where a part shall be.
typedef struct carom_push_goal {
  int body;             ///< which part; -1: there is no goal
  carom_vec3 position;  ///< of its body frame, world, m (x and y count)
  double angle;         ///< of its body frame against the world's x, rad; whole turns do not count
  double distance;      ///< how far off it may be, m
  double turn;          ///< and by what angle, rad; INFINITY (or pi): any will do
} carom_push_goal;

/// Whether the part is where it shall be; false without a goal.
CAROM_API bool carom_push_goal_met(const carom_model *model, const carom_state *state, const carom_push_goal *goal);

/// x and y of a body's frame, m, and its angle about z against the world's x, in [-pi, pi], rad.
CAROM_API void carom_push_pose(const carom_model *model, const carom_state *state, int body, double pose[3]);
/// Puts a body there.
CAROM_API void carom_push_set_pose(const carom_model *model, carom_state *state, int body, const double pose[3]);

// ---- what pushes are made of ------------------------------------------------------------------------------------

/// What pushes are made of. Begin with carom_pusher_default().
typedef struct carom_pusher_def {
  const carom_model *model;       ///< planar; must outlive the pusher. All parts that move have supports
  int probe_count;                ///< how many probes there are, 1 to CAROM_PUSH_PROBES
  int probes[CAROM_PUSH_PROBES];  ///< fixed bodies of the model without a drive, which pushes move
  double step;         ///< s; default 0.02. The last step of a push may be shorter, and the step in which the
                       ///< first probe touches is cut in two at that moment
  double settle;       ///< share of the duration, in [0, 1), in which modes may still change in carom_pusher_check;
                       ///< default 0: from the first step in which a contact carries a force, none may
  double settle_all;   ///< likewise for the other starts of carom_pusher_check_all; default 0.5
  double force_limit;  ///< N; forces beyond it count as a step that was not solved, where they can cancel out; default
                       ///< INFINITY
  carom_push_goal goal;  ///< default: none
} carom_pusher_def;

CAROM_API carom_pusher_def carom_pusher_default(void);  ///< the defaults named above; give model and probes

typedef struct carom_pusher carom_pusher;  ///< scratch for pushes of a model; one thread at a time; opaque

/// CAROM_ERR_ARGUMENT, naming body and remedy, for models that are not planar, bodies that move and have no support
/// (CAROM_ERR_UNSUPPORTED where joints, forces or the like act on them), and probes that are not fixed.
CAROM_API carom_status carom_pusher_create(const carom_pusher_def *def, const carom_allocator *allocator,
                                           carom_pusher **pusher, carom_error *error);
CAROM_API void carom_pusher_destroy(carom_pusher *pusher);                              ///< null is fine
CAROM_API const carom_pusher_def *carom_pusher_definition(const carom_pusher *pusher);  ///< as it was given

// Nothing below allocates after the first steps that have so many contacts.

struct carom_support;
/// Takes another support for a body than the model's, from the next push on; null: the model's again. For those who
/// look for the support that explains what was seen. CAROM_ERR_ARGUMENT where the damping is not positive definite.
CAROM_API carom_status carom_pusher_set_support(carom_pusher *pusher, int body, const struct carom_support *support,
                                                carom_error *error);
/// Multiplies all friction between bodies (mu of contacts) by a factor >= 0, from the next push on; 1 at first.
CAROM_API carom_status carom_pusher_set_friction(carom_pusher *pusher, double factor, carom_error *error);
/// The goal from the next push on; null: none.
CAROM_API void carom_pusher_set_goal(carom_pusher *pusher, const carom_push_goal *goal);

// ---- looking on -------------------------------------------------------------------------------------------------

/// A contact of a step.
typedef struct carom_push_contact {
  int body_a, body_b;       ///< A moves
  carom_vec3 point;         ///< where it acts, midway between both, at the start of the step, world, m
  carom_vec3 normal;        ///< unit, from B to A
  carom_vec3 force;         ///< on A, mean over the step, N
  double gap;               ///< at the start of the step, m
  carom_contact_mode mode;  ///< what it does
} carom_push_contact;

/// A step, just taken.
typedef struct carom_push_step {
  const carom_state *state;            ///< at its end; momenta tell the velocities during the step. Probes stand where
                                       ///< they are; state->time goes on from push to push
  double time;                         ///< at its end, from the start of the push, s
  double step;                         ///< how long it was, s
  double margin;                       ///< as in carom_push_result, of this step alone; NaN where a problem was solved
  bool solved;                         ///< by a complementarity problem; else in the modes of the step before
  int contact_count;                   ///< of all that are near
  const carom_push_contact *contacts;  ///< (contact_count) hold during the call
} carom_push_step;

/// Is told of each step: to record, to sample, to draw. Not CAROM_OK ends the push with that status.
typedef struct carom_push_listener {
  void *context;                                                                         ///< the caller's own
  carom_status (*step)(void *context, const carom_push_step *step, carom_error *error);  ///< may be null
} carom_push_listener;

/// From the next push on; null: nobody listens any more. Checks from several starts tell of the first start alone.
CAROM_API void carom_pusher_listen(carom_pusher *pusher, const carom_push_listener *listener);

// ---- what became of it ------------------------------------------------------------------------------------------

/// A contact that changed its mode.
typedef struct carom_push_change {
  double time;                  ///< from the start of the push, at the end of the step that is other, s
  int body_a, body_b;           ///< A moves
  carom_vec3 point;             ///< world, m
  carom_contact_mode from, to;  ///< a contact that is no more near (or not yet) is open
} carom_push_change;

/// One of forces that cancel out.
typedef struct carom_push_force {
  int body_a, body_b;  ///< A moves; one of them may be a probe or a wall
  carom_vec3 point;    ///< where it acts, midway between both, world, m
  carom_vec3 normal;   ///< unit, from B to A
  carom_vec3 force;    ///< on A, within its friction cone; parts along the normals sum to 1 over all
} carom_push_force;

enum { CAROM_PUSH_FORCES = 16 };  ///< most forces told of a certificate

/// What became of a push.
typedef struct carom_push_result {
  carom_push_ending ending;  ///< how it ended
  double time;               ///< from the start of the push to where the state is now, s
  int steps;                 ///< taken
  int problems, systems;     ///< complementarity problems and linear systems solved
  double touch;              ///< when a contact first carried a force, from the start, s; INFINITY: none did
  double settled;            ///< from when on modes count: the end of the settling, but not before `touch`, s
  /// How far the modes were from a change where they were nearest to it, over all steps after `settled` in which linear
  /// systems were solved: gaps and slips over how far the fastest probe moved in the step, forces over the largest.
  /// INFINITY where there were none, as in runs.
  double margin;
  int changes;               ///< of modes after `settled` (of checks: at most 1)
  carom_push_change change;  ///< the first of them
  // Of jams and damage: forces at contacts, each in its cone, that cancel out on every part, while the probes work
  // against them: so forces may grow without bound, and no motion obeys all contacts.
  int force_count;                             ///< 0 otherwise
  carom_push_force forces[CAROM_PUSH_FORCES];  ///< (force_count)
  double cancel;                               ///< what is left of their sum: |W lambda|, lengths over that of the part
  double largest_force;                        ///< of a contact in a step, mean over it, N
  double overlap;                              ///< deepest of a contact at the start of a step, m; >= 0
  double work;                                 ///< J, of the probes
  double damping, friction;  ///< J, what supports took, and what friction (and gaps that close within a step) did:
                             ///< together they are the work, each being measured by itself
} carom_push_result;

// ---- running and checking ---------------------------------------------------------------------------------------
// All three move the parts of `state` and put the probes where they are in the end; its time goes on. Where a push ends
// early, the state is that before the step that could not be (jam, damage, failed) or changed its modes (switch).
// Fail with CAROM_ERR_ARGUMENT for durations, speeds and counts that are out of range, CAROM_ERR_NUMBER for numbers
// that are not finite, and CAROM_ERR_GEOMETRY where a probe begins inside a body, naming both; the state is then as it
// was.

/// A push, with a complementarity problem each step. Changes of modes are counted, and end nothing.
CAROM_API carom_status carom_pusher_run(carom_pusher *pusher, const carom_push *push, carom_state *state,
                                        carom_push_result *result, carom_error *error);

/// Is the push robust: does no contact change its mode once it has settled (def.settle)? One complementarity problem is
/// solved at the first step that counts; then linear systems in the modes found, until they do not hold. What a problem
/// solved there says counts: CAROM_PUSH_SWITCH with when, which contact, and what it changed to. A contact that comes
/// near and carries nothing is no change, one that carries is. DONE and GOAL: it is robust; a push that touches nothing
/// is, too (`touch` tells).
CAROM_API carom_status carom_pusher_check(carom_pusher *pusher, const carom_push *push, carom_state *state,
                                          carom_push_result *result, carom_error *error);

/// Where a part may be, and friction.
typedef struct carom_push_start {
  double pose[3];   ///< x, y, angle as of carom_push_pose; m, rad
  double friction;  ///< factor on all friction, on top of carom_pusher_set_friction
} carom_push_start;

enum { CAROM_PUSH_STARTS = 16 };  ///< most starts of a check

/// Several starts of one part.
typedef struct carom_push_starts {
  int body;                                   ///< which part
  int count;                                  ///< how many starts
  carom_push_start start[CAROM_PUSH_STARTS];  ///< (count)
} carom_push_starts;

/// How well a part is known.
typedef struct carom_push_box {
  int body;         ///< which part
  double half[3];   ///< x, y, m, and angle, rad: +- these about where the state has it; >= 0
  double friction;  ///< factors 1 - this and 1 + this on friction; in [0, 1]
} carom_push_box;

/// The corners of a box about a state: 2 for each entry that is not 0.
CAROM_API carom_push_starts carom_push_corners(const carom_model *model, const carom_state *state,
                                               const carom_push_box *box);

/// What a check from several starts found.
typedef struct carom_push_verdict {
  bool robust;  ///< from all of them
  int start;    ///< the first from which it is not: its number; -1: from the state itself, or all are robust
  carom_push_result nominal;  ///< from the state itself
  carom_push_result other;    ///< from `start`; if robust, that with the least margin. If a push from there has other
                              ///< modes than from the state, `change` tells from what (there) to what (here)
  double margin;              ///< the least of all
  int problems, systems;      ///< solved for all of them
} carom_push_verdict;

/// Is the push robust from the state, and from other starts: does it, after the share def.settle_all of its duration,
/// have the modes that it has from the state itself (as of carom_pusher_check), and keep them to the end? `state` is
/// moved as by carom_pusher_check; each start is replaced by where the part ended from there, so that the next push may
/// begin with them. Stops at the first that is not robust: the starts after it are as they were.
CAROM_API carom_status carom_pusher_check_all(carom_pusher *pusher, const carom_push *push, carom_state *state,
                                              carom_push_starts *starts, carom_push_verdict *verdict,
                                              carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
