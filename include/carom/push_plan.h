/// carom/push_plan.h: which pushes lead a part to its goal, also when it is not quite where it is said to be and
/// friction is not quite what it is said to be (Gavrea 2008, 2.4: randomized planning over robust pushes).
///
///     carom_push_plan_def def = carom_push_plan_default();
///     def.pusher = pusher_def, def.start = state, def.speed = 50e-6;
///     def.box = (carom_push_box){part, {20e-6, 20e-6, 0.0175}, 0.2};
///     carom_push_plan_make(&def, NULL, &plan, &error);
///     ... plan->found, plan->pushes, plan->push_count ...
///     carom_push_plan_destroy(plan);
///
/// A tree of pushes grows from the start, since pushes cannot be undone. With the part as it is said to be, the corners
/// of the box of where else it may be go through each push, so that pushes which bring them together (two probes that
/// align a face) are found to be worth their while.
#ifndef CAROM_PUSH_PLAN_H
#define CAROM_PUSH_PLAN_H

#include "carom/push.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a push must withstand to be taken.
typedef enum carom_push_robustness {
  CAROM_PUSH_PLAN_NOMINAL,  ///< nothing: the part is where it is said to be
  CAROM_PUSH_PLAN_BOX,      ///< no jam nor damage from any start, and all end in the goal
  CAROM_PUSH_PLAN_MODES,    ///< and no contact changes its mode once it has settled (carom_pusher_check_all)
} carom_push_robustness;

/// "nominal", "box", "modes"; null for a number that is none.
CAROM_API const char *carom_push_robustness_name(carom_push_robustness robustness);

/// What is planned. Begin with carom_push_plan_default().
typedef struct carom_push_plan_def {
  carom_pusher_def pusher;           ///< model, probes, step, goal
  const carom_state *start;          ///< where all bodies are
  carom_push_box box;                ///< how well the part is known at the start; its body is the goal's
  carom_push_robustness robustness;  ///< default box
  int most_probes;                   ///< at once, at most; default 2
  double speed;                      ///< of probes, m/s
  double longest;                    ///< way of a push, m; 0 (default): twice the greatest extent of the part
  double reach;  ///< m: how far from start and goal the part is led; 0 (default): as far as they are apart, and the
                 ///< greatest extent of the part more
  double turn_length;  ///< m: how far a turn by 1 rad counts; 0 (default): half the greatest extent of the part
  double goal_bias;    ///< share of samples that are the goal; default 0.3
  double coarse;  ///< steps of the tree are so many times as long as the pusher's, >= 1; default 5. Plans are simulated
                  ///< again with the pusher's before they count
  int budget;     ///< expansions (simulated pushes) of each seed, at most; default 2000
  int most_pushes;          ///< of a plan; default 12
  int seeds;                ///< trees; the best plan of all is kept; default 1
  uint64_t seed;            ///< of the first; default 1
  int threads;              ///< 0 (default): one per processor. The answer is the same for any number
  bool shorten;             ///< drop pushes that are not needed; default true
  carom_progress progress;  ///< told of expansions, of all seeds; stops when it says so: the best so far is kept
} carom_push_plan_def;

CAROM_API carom_push_plan_def carom_push_plan_default(void);  ///< the defaults named above

/// What it took.
typedef struct carom_push_plan_report {
  int seed;                     ///< which tree the plan is from, from 0
  int expansions;               ///< tried in that tree
  int total_expansions;         ///< in all trees
  int nodes;                    ///< of that tree
  int jams, damages, switches;  ///< pushes of that tree refused for it
  int failures;                 ///< steps not solved, and probes that found no place or hit a wall
  int dropped;                  ///< pushes by shortening
  int solved_seeds;             ///< trees that reached the goal
  double cost;                  ///< s: how long the pushes take
  double nearest;               ///< of all ends: distance to the goal, m, a turn by 1 rad counting turn_length
  double seconds;               ///< of the clock
} carom_push_plan_report;

/// Pushes one after the other.
typedef struct carom_push_plan {
  bool found;                     ///< they lead to the goal; else to where it was nearest
  int push_count;                 ///< how many
  carom_push *pushes;             ///< (push_count)
  double (*poses)[3];             ///< (push_count + 1) where the part is in between: x, y, angle
  double (*spreads)[3];           ///< (push_count + 1) how far the other starts are off, at most: m, m, rad
  carom_push_plan_report report;  ///< what it took
  carom_allocator allocator;      ///< of all this
} carom_push_plan;

/// Plans. A goal that was not reached is no failure (plan->found). CAROM_ERR_ARGUMENT for what makes no sense, naming
/// it; CAROM_INTERRUPTED, with what was found so far, when `progress` says stop.
CAROM_API carom_status carom_push_plan_make(const carom_push_plan_def *def, const carom_allocator *allocator,
                                            carom_push_plan **plan, carom_error *error);
CAROM_API void carom_push_plan_destroy(carom_push_plan *plan);  ///< null is fine

/// How plans fare from starts drawn at random.
typedef struct carom_push_trials {
  int trials;                   ///< how many
  int reached;                  ///< the goal
  int jams, damages, failures;  ///< pushes that ended so
  double worst[3];  ///< of the ends of all trials that came through, off the goal: |x|, |y|, |angle|; m, rad
} carom_push_trials;

/// Runs the pushes of a plan `count` times with the part and the friction drawn evenly from def->box.
CAROM_API carom_status carom_push_plan_replay(const carom_push_plan_def *def, const carom_push_plan *plan, int count,
                                              carom_push_trials *trials, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
