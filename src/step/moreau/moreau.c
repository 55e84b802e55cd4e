// The step of `moreau` and its collisions. In the order in which it happens:
//
//     find       bodies that may meet, and of those the contacts and limits that take part
//     predict    q*, masses, forces, joints: v_free
//     solve      impulses, by complementarity, with gap/h on the right
//     move       by the impulses found, and measure all gaps and joints anew; where bodies entered each other or joints
//                came apart, rows are taken again there, and the step is solved again, until nothing overlaps at its
//                end
//     collide    bodies that bounce and have met in between: back to that moment, collide there, go on
//     book       what was accepted
//
// Where nothing touches, jointed bodies and those in fields move as `variational` moves them, and free ones as free
// bodies do in any case.
#include "step/moreau/moreau.h"

#include <math.h>
#include <string.h>

#include "model/size.h"

enum {
  PIECES_MAX = 400,  // of a step, from collision to collision
  FINEST = 128,      // into which the rest of a step goes where jointed bodies turn fast
  TRIES_MAX = 30,    // to end a piece at a collision
  SOLVES_MAX = 16,   // of a piece, with rows taken again
  SPRINGS_MAX = 14,  // of those, for springs that turn
};
static const double NO_GAP = 1e-4;         // of `touch`: round-off, of which redundant contacts make what cannot be met
static const double SHORTEST = 1e-6;       // share of a piece that is tried next
static const double NOTHING_LEFT = 1e-12;  // share of a step
static const double START = 1e-7;          // over the thinnest part: overlap at the start that is none
static const double EXCESS = 8;            // overlaps over `touch` that may stay where solves no longer help
static const double JOINT_TURN = 0.05;     // rad in a piece, at which the energy of jointed bodies is kept to 1e-3
static const double JOINTS_MET = 1e-11;    // over the smallest body, or rad
static const double JOINTS_OFF = 1e-7;     // that may stay where solves no longer help; the next step takes it up

// ---- one smooth piece -----------------------------------------------------------------------------------------------

static double touch_of(const carom_moreau *m, const carom_moreau_item *item) {
  if (item->kind == CAROM_MOREAU_LIMIT) return CAROM_MOREAU_LIMIT_TOUCH;
  return carom_moreau_touch(m, item->contact.part_a, item->contact.part_b);
}

// Without an alpha half of the forces acts at either end of a piece.
static bool is_symmetric(const carom_moreau *m) { return m->options->alpha == 0; }

// Gaps may close in the piece, however short it is. What overlaps at the start is not driven apart by velocities: that
// would be energy from nowhere.
static void allow_gaps(carom_moreau *m) {
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    item->bias = item->again || item->gap > NO_GAP * touch_of(m, item) ? item->gap / m->motion.h : 0;
  }
}

// How far joints are off at the end; the rates asked for next make up for it.
static bool joints_met(carom_moreau *m, const carom_state *state, double *before) {
  int worst;
  if (!m->motion.joints.system) return true;
  double size = fmin(1, carom_model_smallest(m->model)), off = carom_moreau_correct(&m->motion, state, &worst) / size;
  bool stalled = off > 0.5 * *before && off <= JOINTS_OFF;
  *before = off;
  return off <= JOINTS_MET || stalled;
}

static carom_status solve_piece(carom_moreau *m, carom_state *state, carom_moreau_meeting *meeting,
                                carom_ledger *ledger, carom_error *error) {
  double off = INFINITY, excess = INFINITY;
  for (int i = 0; i < SOLVES_MAX; i++) {
    allow_gaps(m);
    carom_moreau_free_velocity(&m->motion);
    carom_status status = carom_moreau_solve(m, 0, ledger, error);
    if (status != CAROM_OK) return status;
    status = carom_moreau_move(&m->motion, state, error);
    if (status == CAROM_OK) status = carom_moreau_meet(m, state, meeting, error);
    bool met = status == CAROM_OK && joints_met(m, state, &off);
    if (status == CAROM_OK && !meeting->hit && i < SPRINGS_MAX && !carom_moreau_springs_met(&m->motion, state)) {
      met = false;
      status = carom_moreau_couple_springs(&m->motion, error);
    }
    if (status != CAROM_OK || meeting->hit || (meeting->entered == 0 && met)) return status;
    if (met && meeting->excess <= EXCESS && meeting->excess > 0.5 * excess) return status;
    excess = meeting->excess;
  }
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "bodies '%s' and '%s' could not be kept apart at t = %.9g s (overlap %.2g m): use a smaller step",
                    m->model->bodies[meeting->body[0]].name, carom_body_name(m->model, meeting->body[1]),
                    m->motion.time + m->motion.h, meeting->deepest);
}

// From `origin` to `state` in h; nothing is booked but how the solve went.
static carom_status try_piece(carom_moreau *m, carom_state *state, double h, carom_moreau_meeting *meeting,
                              carom_ledger *ledger, carom_error *error) {
  carom_moreau_span span =
      is_symmetric(m) ? (carom_moreau_span){h, 0.5 * h, 1} : (carom_moreau_span){h, h, m->options->alpha};
  carom_status status = carom_moreau_begin(&m->motion, m->origin, &span, error);
  if (status == CAROM_OK) status = carom_moreau_candidates(m, h, error);
  if (status == CAROM_OK) status = carom_moreau_gather(m, CAROM_MOREAU_STEP, error);
  return status == CAROM_OK ? solve_piece(m, state, meeting, ledger, error) : status;
}

static carom_status accept(carom_moreau *m, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_joints_note_turns(m->model, state);
  carom_status status = carom_moreau_book(m, ledger, error);
  return status == CAROM_OK ? carom_moreau_note_forces(m, error) : status;
}

// As much of `left` as passes without a bounce; *done is its length, and m->met, if it is shorter, who then touch.
static carom_status advance_piece(carom_moreau *m, carom_state *state, double left, double *done, carom_ledger *ledger,
                                  carom_error *error) {
  carom_ledger_mark before = carom_ledger_get_mark(ledger);
  carom_moreau_meeting meeting;
  *done = left;
  carom_state_copy(m->origin, state);
  for (int i = 0; i < TRIES_MAX; i++) {
    carom_ledger_roll_back(ledger, &before);
    carom_status status = try_piece(m, state, *done, &meeting, ledger, error);
    if (status != CAROM_OK) return status;
    if (!meeting.hit) {
      carom_ledger_note_overlap(ledger, meeting.deepest);
      return accept(m, state, ledger, error);
    }
    memcpy(m->met, meeting.body, sizeof m->met);
    *done *= fmax(meeting.share, SHORTEST);
  }
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "no moment was found at which bodies '%s' and '%s' collide after t = %.9g s: use a smaller step, or "
      "no restitution between them",
      m->model->bodies[m->met[0]].name, carom_body_name(m->model, m->met[1]), m->motion.time);
}

// ---- the step -------------------------------------------------------------------------------------------------------

static carom_status too_many_pieces(const carom_moreau *m, double time, carom_error *error) {
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "more than %d collisions in one step from t = %.9g s on, bodies '%s' and '%s' at last: use a smaller "
      "step, or less restitution between them",
      PIECES_MAX, time, m->model->bodies[m->met[0]].name, carom_body_name(m->model, m->met[1]));
}

// Jointed bodies swing in energy by the square of their turn in a piece: those that turn far go in equal pieces.
static double longest_piece(const carom_moreau *m, const carom_state *state, double left) {
  double fastest = 0;
  for (int i = 0; i < m->model->joint_count; i++)
    for (int end = 0; end < 2; end++) {
      int body = m->model->joints[i].body[end];
      if (!carom_body_moves(m->model, body) || !carom_joint_acts(m->model, state, i)) continue;
      fastest = fmax(fastest, cm_norm(carom_state_angular_velocity(m->model, state, body)));
    }
  double pieces = ceil(left * fastest / JOINT_TURN);
  return pieces > 1 ? left / fmin(pieces, FINEST) : left;
}

// Whether the state is as the last step left it, so that all that touches has collided.
static bool goes_on(const carom_moreau *m, const carom_state *state) {
  size_t n = (size_t)state->body_count;
  return !memcmp(m->last->x, state->x, n * sizeof *state->x) && !memcmp(m->last->q, state->q, n * sizeof *state->q) &&
         !memcmp(m->last->p, state->p, n * sizeof *state->p) && !memcmp(m->last->l, state->l, n * sizeof *state->l);
}

// A start that overlaps is mended once, by positions alone: velocities would be energy from nowhere.
static carom_status part(carom_moreau *m, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_moreau_span moment = {0, 0, 1};
  carom_projection_info info;
  double thinnest = INFINITY;
  for (int i = 0; i < m->model->part_count; i++) thinnest = fmin(thinnest, m->thickness[i]);
  double energy = carom_potential_energy(m->model, state);
  carom_vec3 momentum = carom_angular_momentum(m->model, state);
  carom_status status = carom_moreau_begin(&m->motion, state, &moment, error);
  if (status == CAROM_OK) status = carom_moreau_candidates(m, m->whole, error);
  if (status == CAROM_OK) status = carom_projection_run(m->projection, state, START * thinnest, &info, error);
  if (status != CAROM_OK || info.iterations == 0) return status;
  carom_ledger_note_overlap(ledger, info.overlap_before);
  carom_ledger_projection(ledger, carom_potential_energy(m->model, state) - energy, cm_zero3(),
                          cm_sub(carom_angular_momentum(m->model, state), momentum));
  return CAROM_OK;
}

carom_status carom_moreau_advance(carom_stepper *stepper, carom_state *state, double h, double end,
                                  carom_ledger *ledger, carom_error *error) {
  carom_moreau *m = stepper->work;
  double start = state->time, gone = 0;
  bool halves = is_symmetric(m);
  carom_status status = CAROM_OK;
  m->whole = h;
  m->losses.restitution = m->losses.friction = 0;
  memset(m->impacts, 0, (size_t)state->body_count * sizeof *m->impacts);
  if (!m->begun) status = part(m, state, ledger, error);
  int collisions = 0, events = ledger->report.event_count;
  for (int pieces = 0; gone < h && status == CAROM_OK; pieces++) {
    double piece = longest_piece(m, state, h - gone), done = 0;
    if (collisions == PIECES_MAX) return too_many_pieces(m, start, error);
    if (m->collides && !(halves && (pieces > 0 || goes_on(m, state))))
      status = carom_moreau_collide(m, state, 0, ledger, error);
    if (status == CAROM_OK) status = advance_piece(m, state, piece, &done, ledger, error);
    if (done < piece) collisions++;
    state->time += done;
    if (status == CAROM_OK && halves) status = carom_moreau_collide(m, state, 0.5 * done, ledger, error);
    gone = h - gone - done <= NOTHING_LEFT * h ? h : gone + done;
  }
  if (status != CAROM_OK) return status;
  state->time = start;  // the clock is the caller's
  carom_moreau_book_losses(m, ledger);
  carom_ledger_merge(ledger, events);
  carom_state_copy(m->last, state);
  m->begun = 1;
  if (m->motion.joints.system) carom_ledger_note_constraint(ledger, carom_joints_drift_at(m->model, state, end));
  return CAROM_OK;
}
