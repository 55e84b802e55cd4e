// The step of `quasistatic`:
//
//     find    bodies that may touch, and their contacts
//     solve   forces by complementarity, with gap/h on the right; with dry supports, until their strains are met
//     book    what was found
//     move    q + h v; driven bodies as they are driven; overlaps that linear gaps left are measured
#include "step/quasistatic/quasistatic.h"

#include <math.h>

#include "step/quasistatic/integrator.h"

// Over the least width of the thinner part: overlaps that a step may leave because bodies turn within it, or slide
// round corners; the next one pushes them out. More, and the step is taken in parts.
static const double LINEAR = 5e-4;

typedef struct quasistatic {
  carom_quasi *quasi;
} quasistatic;

// ---- life -----------------------------------------------------------------------------------------------------------

static void push(carom_stepper *stepper, carom_arena *arena) { stepper->work = CAROM_PUSH(arena, quasistatic, 1); }

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  quasistatic *w = stepper->work;
  return carom_quasi_create(stepper->model, &stepper->allocator, &w->quasi, error);
}

static void release(carom_stepper *stepper) {
  quasistatic *w = stepper->work;
  if (w) carom_quasi_destroy(w->quasi);
}

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  quasistatic *w = stepper->work;
  return carom_contacts_remember(w->quasi->contacts, tape);
}

// ---- the step -------------------------------------------------------------------------------------------------------

static double deepest_at_start(const carom_quasi *s) {
  double depth = 0;
  for (int i = 0; i < s->count; i++) depth = fmax(depth, -s->items[i].contact.gap);
  return depth;
}

// Beyond what it may be, m.
static double excess_of(const carom_quasi *s, const carom_contact *c, double before) {
  double thin = 2 * fmin(s->thickness[c->part_a], s->thickness[c->part_b]);
  return -c->gap - fmax(before, LINEAR * thin);
}

static carom_status measure(carom_quasi *s, const carom_state *state, double before, carom_ledger *ledger,
                            carom_error *error) {
  carom_contact_query query = {.detail = CAROM_CONTACT_NEAREST, .reach = 0};
  const carom_contact *contacts;
  int count, worst = -1;
  double excess = 0;
  carom_status status = carom_contacts_find(s->contacts, state, &query, &contacts, &count, error);
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    double own = excess_of(s, &contacts[i], before);
    carom_ledger_note_overlap(ledger, fmax(-contacts[i].gap, 0));
    if (!(own <= excess)) excess = own, worst = i;
  }
  if (status != CAROM_OK || worst < 0) return status;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "bodies '%s' and '%s' could not be kept apart at t = %.9g s (overlap %.2g m): use a smaller step",
                    s->model->bodies[contacts[worst].body_a].name, s->model->bodies[contacts[worst].body_b].name,
                    s->at->time + s->h, -contacts[worst].gap);
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  quasistatic *w = stepper->work;
  carom_quasi_outcome outcome;
  carom_status status = carom_quasi_gather(w->quasi, state, h, NULL, error);
  if (status == CAROM_OK) status = carom_quasi_solve(w->quasi, &outcome, error);
  if (status != CAROM_OK) return status;
  if (!outcome.solved) return carom_quasi_blame(w->quasi, &outcome, error);
  carom_ledger_note_solve(ledger, outcome.iterations, 0);
  carom_ledger_note_complementarity(ledger, outcome.residual, 0);
  status = carom_quasi_book(w->quasi, end, ledger, error);
  if (status != CAROM_OK) return status;
  double before = deepest_at_start(w->quasi);
  carom_quasi_move(w->quasi, state);
  carom_drives_place(stepper->model, state, end);
  return measure(w->quasi, state, before, ledger, error);
}

const carom_integrator carom_integrator_quasistatic = {
    .name = "quasistatic",
    .summary = "no inertia: bodies on supports that resist motion, pushed by driven ones; complementarity",
    .honours = &carom_honours_quasistatic,
    CAROM_STATIC_LIFE,
    .advance = advance,
};
