// The step of `moreau` and its collisions. In the order in which it happens:
//
//     find       bodies that may meet, and of those the contacts and limits that take part
//     predict    q*, masses, forces, joints: v_free
//     solve      impulses, by complementarity, with gap/h on the right: no drift into each other, ever
//     correct    velocities and positions; bodies that bounce and have met in between: back to that moment, collide
//                there, go on
//     book       what was accepted
#include "step/moreau/moreau.h"

#include <math.h>
#include <string.h>

enum {
  PIECES_MAX = 200,  // of a step, from collision to collision
  TRIES_MAX = 30,    // to end a piece at a collision
};
static const double NO_GAP = 1e-5;         // of `touch`: round-off, of which redundant contacts make what cannot be met
static const double SHORTEST = 1e-6;       // share of a piece that is tried next
static const double NOTHING_LEFT = 1e-12;  // share of a step

// ---- one smooth piece -----------------------------------------------------------------------------------------------

// Gaps may close in the piece, however short it is. What overlaps parts in the course of the whole step: in a piece
// that shrinks towards a collision it would go ever faster and always the same way, so that others always met.
static void allow_gaps(carom_moreau *m) {
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    item->bias = fabs(item->gap) <= NO_GAP * m->touch ? 0 : item->gap / (item->gap > 0 ? m->motion.h : m->whole);
  }
}

// From `origin` to `state` in h; nothing is booked but how the solve went.
static carom_status try_piece(carom_moreau *m, carom_state *state, double h, carom_ledger *ledger, carom_error *error) {
  carom_status status = carom_moreau_begin(&m->motion, m->origin, h, m->options->alpha, error);
  if (status == CAROM_OK) status = carom_moreau_candidates(m, h, error);
  if (status == CAROM_OK) status = carom_moreau_gather(m, CAROM_MOREAU_STEP, error);
  if (status != CAROM_OK) return status;
  allow_gaps(m);
  status = carom_moreau_solve(m, 0, ledger, error);
  if (status == CAROM_OK) carom_moreau_move(&m->motion, m->origin, state);
  return status;
}

static carom_status accept(carom_moreau *m, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_joints_note_turns(m->model, state);
  carom_status status = carom_moreau_book(m, CAROM_EVENT_CONTACT, ledger, error);
  return status == CAROM_OK ? carom_moreau_note_forces(m, error) : status;
}

// As much of `left` as passes without a bounce; *done is its length, and m->met, if it is shorter, who then touch.
static carom_status advance_piece(carom_moreau *m, carom_state *state, double left, double *done, carom_ledger *ledger,
                                  carom_error *error) {
  carom_ledger_mark before = carom_ledger_get_mark(ledger);
  carom_moreau_hit hit;
  double deepest;
  *done = left;
  carom_state_copy(m->origin, state);
  for (int i = 0; i < TRIES_MAX; i++) {
    carom_ledger_roll_back(ledger, &before);
    carom_status status = try_piece(m, state, *done, ledger, error);
    if (status == CAROM_OK) status = carom_moreau_first_hit(m, state, &hit, &deepest, error);
    if (status != CAROM_OK) return status;
    if (!hit.found) {
      carom_ledger_note_overlap(ledger, deepest);
      return accept(m, state, ledger, error);
    }
    memcpy(m->met, hit.body, sizeof m->met);
    *done *= fmax(hit.share, SHORTEST);
  }
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "no moment was found at which bodies '%s' and '%s' collide after t = %.9g s: use a smaller step, or "
      "no restitution between them",
      m->model->bodies[m->met[0]].name, m->model->bodies[m->met[1]].name, m->motion.time);
}

// ---- collisions -----------------------------------------------------------------------------------------------------

// How fast an item closes at the start, where that is not too slow for a bounce: else resting bodies would hop for
// ever.
static double approach_of(const carom_moreau_item *item, double slow) {
  double approach = item->surface[0] - item->before[0];
  return approach > slow ? approach : 0;
}

// Poisson: after the impulses of a plastic collision (compression) e times the normal ones are given back, and
// further impulses keep bodies from entering each other again (2.1.12-2.1.22).
static carom_status decompress(carom_moreau *m, double slow, carom_ledger *ledger, carom_error *error) {
  carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    memcpy(item->returned, item->impulse, sizeof item->returned);
    if (approach_of(item, slow) > 0) item->returned[0] += item->e * item->impulse[0];
    for (int k = 0; k <= item->tangents; k++)
      carom_row_push(m->model, &item->row[k], item->returned[k], motion->b_free.p, motion->b_free.l);
  }
  carom_moreau_free_velocity(motion);
  carom_status status = carom_moreau_solve(m, slow, ledger, error);
  for (int i = 0; i < m->items.count && status == CAROM_OK; i++)
    for (int k = 0; k < 3; k++) m->items.list[i].impulse[k] += m->items.list[i].returned[k];
  return status;
}

// Newton: u+ >= -e u-.
static bool allow_bounces(carom_moreau *m, double slow) {
  bool any = false;
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    double approach = approach_of(item, slow);
    any = any || approach > 0;
    item->bias = m->options->poisson ? 0 : -item->e * approach;
  }
  return any;
}

// What touches now collides; what may be met in the rest of the step, `left`, is found on the way.
static carom_status collide(carom_moreau *m, carom_state *state, double left, carom_ledger *ledger,
                            carom_error *error) {
  carom_status status = carom_moreau_begin(&m->motion, state, 0, 1, error);
  if (status == CAROM_OK) status = carom_moreau_candidates(m, left, error);
  if (status == CAROM_OK) status = carom_moreau_gather(m, CAROM_MOREAU_TOUCHING, error);
  if (status != CAROM_OK) return status;
  double slow = carom_moreau_slow(m);
  if (!allow_bounces(m, slow)) return CAROM_OK;
  status = carom_moreau_solve(m, slow, ledger, error);
  if (status == CAROM_OK && m->options->poisson) status = decompress(m, slow, ledger, error);
  if (status != CAROM_OK) return status;
  carom_moreau_move(&m->motion, state, state);
  return carom_moreau_book(m, CAROM_EVENT_IMPACT, ledger, error);
}

// ---- the step -------------------------------------------------------------------------------------------------------

static carom_status too_many_pieces(const carom_moreau *m, double time, carom_error *error) {
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "more than %d collisions in one step from t = %.9g s on, bodies '%s' and '%s' at last: use a smaller "
      "step, or less restitution between them",
      PIECES_MAX, time, m->model->bodies[m->met[0]].name, m->model->bodies[m->met[1]].name);
}

carom_status carom_moreau_advance(carom_stepper *stepper, carom_state *state, double h, double end,
                                  carom_ledger *ledger, carom_error *error) {
  carom_moreau *m = stepper->work;
  double start = state->time, gone = 0;
  m->whole = h;
  for (int pieces = 0; gone < h; pieces++) {
    double done = 0;
    if (pieces == PIECES_MAX) return too_many_pieces(m, start, error);
    carom_status status = m->collides ? collide(m, state, h - gone, ledger, error) : CAROM_OK;
    if (status == CAROM_OK) status = advance_piece(m, state, h - gone, &done, ledger, error);
    if (status != CAROM_OK) return status;
    state->time += done;
    gone = h - gone - done <= NOTHING_LEFT * h ? h : gone + done;
  }
  state->time = start;  // the clock is the caller's
  if (m->motion.joints.system) carom_ledger_note_constraint(ledger, carom_joints_drift_at(m->model, state, end));
  return CAROM_OK;
}
