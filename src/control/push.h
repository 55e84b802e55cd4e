// What the files of the pusher share (carom/push.h): a push under way, step by step.
//
//     push.c          definitions, poses, goals, scratch
//     push_run.c      the steps: probes, modes carried from step to step, books
//     push_verdict.c  steps that were not solved: forces that cancel out
//     push_robust.c   whether modes are kept, from one start and from several
#ifndef CAROM_SRC_CONTROL_PUSH_H
#define CAROM_SRC_CONTROL_PUSH_H

#include "base/arena.h"
#include "carom/push.h"
#include "step/quasistatic/quasistatic.h"

// A contact with its mode, as it is known again in the next step, or from another start.
typedef struct carom_push_trace {
  int part_a, part_b, body_a, body_b;
  double along;  // of its point, along the tangent: orders contacts of the same parts
  carom_vec3 point;
  carom_contact_mode mode;
} carom_push_trace;

// A list of them that grows.
typedef struct carom_push_traces {
  carom_push_trace *list;
  int count, capacity;
} carom_push_traces;

// Scratch of verdicts; grows with contacts.
typedef struct carom_push_cone {
  carom_cone_work *work;
  int room;  // contacts that there is room for
  int rows;  // the work's
  double *N, *D, *mu, *impulse;
  int *members;
} carom_push_cone;

struct carom_pusher {
  carom_arena arena;
  carom_pusher_def def;
  carom_push_listener listener;
  carom_quasi *quasi;
  double friction;
  carom_twists driven;        // (body_count) of the probes
  carom_twists was;           // (body_count) a motion to compare with
  carom_push_traces before;   // contacts of the step before
  carom_push_traces pattern;  // those of the nominal push that carry something, in order
  carom_push_traces here;     // those of the step at hand that carry something, in order
  carom_contact_mode *modes;  // (items) as carried over
  carom_push_contact *told;   // (items)
  int mode_capacity, told_capacity;
  carom_push_cone cone;
  carom_state *origin, *other;  // where several starts begin, and the one at hand; null until they are asked for
};

// A push under way.
typedef struct carom_push_way {
  carom_pusher *pusher;
  const carom_push *push;
  carom_state *state;
  carom_push_result *result;
  bool full;                     // a complementarity problem each step
  bool compare;                  // with the pattern, from where modes count
  double settle;                 // s, from when modes may count
  double t, h;                   // where it is, and the step at hand; s
  bool counts;                   // modes do
  bool approaches;               // the step ends with the first touch: whether that is open is open
  bool over;                     // it ended before its time
  bool solved;                   // the step at hand, by a complementarity problem
  double fastest;                // of the probes, m/s
  carom_quasi_margin margin;     // of the modes carried over, where that was asked
  const carom_push_trace *lost;  // a contact that carried something and is no longer near; null: none
} carom_push_way;

static inline bool carom_push_is_probe(const carom_pusher *pusher, int body) {
  for (int i = 0; i < pusher->def.probe_count; i++)
    if (pusher->def.probes[i] == body) return true;
  return false;
}

// ---- push_run.c
// Is it a push, and do its probes begin outside of all bodies of the state?
carom_status carom_push_verify(const carom_pusher *pusher, const carom_push *push, carom_error *error);
carom_status carom_push_clear(const carom_pusher *pusher, const carom_push *push, const carom_state *state,
                              carom_error *error);
// From the start to the end, or to where it ends early. `friction` on top of the pusher's.
carom_status carom_push_go(carom_push_way *way, double friction, carom_error *error);
// Adds a trace; false when out of memory.
bool carom_push_note(carom_pusher *pusher, carom_push_traces *traces, const carom_quasi_item *item);

// ---- push_verdict.c
// Judges a step that was not solved: jam, damage or failed, with forces that cancel out.
carom_status carom_push_judge(carom_push_way *way, carom_error *error);
// The same of forces that are too large: ends the push only where they can cancel out.
carom_status carom_push_judge_forces(carom_push_way *way, carom_error *error);
void carom_push_cone_release(carom_push_cone *cone, const carom_allocator *allocator);

// ---- push_robust.c
// Takes the step's forces in the modes carried over, or those of a problem; notes changes. May end the push.
carom_status carom_push_solve(carom_push_way *way, carom_error *error);

#endif
