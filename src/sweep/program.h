// The formulas of a sweep: outcomes, classes and when a run may end, over slots that are filled after every step.
//
// A slot is a source (a channel of the loop, a coordinate of a body, an axis, a figure of the run) or a node: a reducer
// such as most(x), or the value of a formula. Nodes are evaluated in the order in which they were made, so that one may
// use those before it: ever(held(seated) > 1 s).
#ifndef CAROM_SRC_SWEEP_PROGRAM_H
#define CAROM_SRC_SWEEP_PROGRAM_H

#include "base/expression.h"
#include "carom/sweep.h"

// Figures of the run. What is of the audit is looked up only where a formula asks for it.
typedef enum carom_figure {
  CAROM_FIGURE_TIME,
  CAROM_FIGURE_STEPS,
  CAROM_FIGURE_DURATION,
  CAROM_FIGURE_STOPPED,  // by `until`
  CAROM_FIGURE_PASSED,   // the audit's verdict; 0 until the end
  CAROM_FIGURE_COLLISIONS,
  CAROM_FIGURE_KINETIC,
  CAROM_FIGURE_POTENTIAL,
  CAROM_FIGURE_ENERGY,
  CAROM_FIGURE_ENERGY_ERROR,
  CAROM_FIGURE_MOMENTUM_ERROR,
  CAROM_FIGURE_PENETRATION,
  CAROM_FIGURE_COUNT
} carom_figure;

// Of a plan; the time is that of the node at hand.
typedef enum carom_plan_figure {
  CAROM_PLAN_FIGURE_TIME,
  CAROM_PLAN_FIGURE_DURATION,
  CAROM_PLAN_FIGURE_COST,
  CAROM_PLAN_FIGURE_GUESS_COST,
  CAROM_PLAN_FIGURE_ITERATIONS,
  CAROM_PLAN_FIGURE_VIOLATION,
  CAROM_PLAN_FIGURE_PASSED,
  CAROM_PLAN_FIGURE_GAP,  // between avoided bodies, at and between nodes
  CAROM_PLAN_FIGURE_NODES,
  CAROM_PLAN_FIGURE_WORK_TOTAL,  // of torques in joints, as carom_power counts it
  CAROM_PLAN_FIGURE_WORK_JOINTS,
  CAROM_PLAN_FIGURE_WORK_POSITIVE,
  CAROM_PLAN_FIGURE_WORK_NET,
  CAROM_PLAN_FIGURE_LOSS,       // that events take
  CAROM_PLAN_FIGURE_TRANSPORT,  // weight x shift of a periodic motion
  CAROM_PLAN_FIGURE_COUNT
} carom_plan_figure;

typedef enum carom_source_kind {
  CAROM_SOURCE_FIGURE,
  CAROM_SOURCE_AXIS,
  CAROM_SOURCE_CHANNEL,
  CAROM_SOURCE_BODY
} carom_source_kind;

typedef struct carom_source {
  carom_source_kind kind;
  int index;   // figure, axis, or word of a body
  char *name;  // of the channel or the body; null for others
  int slot;
} carom_source;

typedef enum carom_reducer {
  CAROM_LEAST,
  CAROM_MOST,
  CAROM_MEAN,
  CAROM_FINAL,
  CAROM_EVER,
  CAROM_FIRST,
  CAROM_HELD,
  CAROM_REDUCER_COUNT
} carom_reducer;

typedef struct carom_program_node {
  int slot, reducer;  // reducer -1: just the value
  carom_formula *formula;
} carom_program_node;

// "path=..{formula}..": what an axis sets.
typedef struct carom_setting {
  int piece_count;
  char **texts;              // (piece_count) what stands before each formula, and at the end
  carom_formula **formulas;  // (piece_count) null at the end
  int axis;                  // whose value `value` is; -1: of none
} carom_setting;

typedef struct carom_program {
  carom_source *sources;
  int source_count, source_capacity;
  carom_program_node *nodes;
  int node_count, node_capacity;
  int slot_count;
  int *outcomes;                      // (outcome_count) slots
  int *classes;                       // (formula_count) slots
  int formula_count;                  // classes that have a formula; of plans "infeasible" and "limit" come next
  bool tells_unsolved;                // there are those two
  int until;                          // slot, or -1
  int starts;                         // of each plan
  carom_scene_options scene_options;  // how the scenes of cases are read; without overrides
  carom_setting *settings;
  int setting_count, setting_capacity;
  carom_allocator allocator;
} carom_program;

extern const char *const carom_reducer_names[];      // ends with null
extern const char *const carom_figure_names[];       // likewise
extern const char *const carom_plan_figure_names[];  // likewise
extern const char *const carom_body_words[];         // likewise: x, y, ..., spin

void carom_program_release(carom_program *program);  // all that it holds
// The slot of a source that is wanted, made if need be; -1 when out of memory. `length` 0: no name.
int carom_program_source(carom_program *program, carom_source_kind kind, int index, const char *name, size_t length);
// The slot of a node, which takes the formula; -1 (and the formula is gone) when out of memory.
int carom_program_node_add(carom_program *program, int reducer, carom_formula *formula);

// ---- at work (observer.c) -------------------------------------------------------------------------------------------

typedef struct carom_observer {
  const carom_program *program;
  const carom_model *model;
  const carom_loop *loop;
  int *bound;      // (source_count) channel or body of the scene at hand
  double *slots;   // (slot_count)
  double *memory;  // (2 x node_count) of reducers
  bool asks_audit;
  double time, last_time, start;
  int64_t samples;
  carom_allocator allocator;
} carom_observer;

// Plans have no loop: null. Fails with CAROM_ERR_ARGUMENT where the scene has no such channel or body.
carom_status carom_observer_create(const carom_program *program, const carom_model *model, const carom_loop *loop,
                                   const carom_allocator *allocator, carom_observer *observer, carom_error *error);
void carom_observer_release(carom_observer *observer);
// Figures of the run before each sample.
void carom_observer_figures(carom_observer *observer, const double *figures, const double *inputs);
// Takes in the state now; allocates nothing.
void carom_observer_sample(carom_observer *observer, const carom_state *state);
// The values of formulas once more, with reducers as they are: when the verdict has come.
void carom_observer_finish(carom_observer *observer);

// Squared distance of two cases, in parts of the axes.
double carom_cases_distance(const carom_cases *cases, const carom_sweep *sweep, int64_t a, int64_t b);
// Makes room for `more` cases after those that are there; false when out of memory, and then nothing is changed.
bool carom_cases_extend(carom_cases **cases, const carom_sweep *sweep, int64_t more);

// ---- one case (run.c, plan_case.c) ----------------------------------------------------------------------------------

// The first error that was found, as the reason why a case failed.
void carom_case_refuse(const carom_sweep *sweep, const carom_diagnostics *found, carom_case *c);
// Outcomes and class from what the observer has seen; `figures` as they are at the end.
void carom_case_conclude(const carom_sweep *sweep, carom_observer *observer, const double *figures, carom_case *c);
// A case that is a plan; as carom_sweep_run.
carom_status carom_sweep_solve(const carom_sweep *sweep, const carom_case_options *options, carom_case *c,
                               carom_error *error);

#endif
