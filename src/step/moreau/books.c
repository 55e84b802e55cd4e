#include <math.h>

#include "step/moreau/moreau.h"

// What an impulse does to the kinetic energy is impulse times the mean of the velocities before and after, exactly.
// Friction takes impulse times sliding, which complementarity keeps from being negative; the rest is restitution's,
// or a gain where bodies that overlapped were pushed apart.
static void book_energy(const carom_moreau *m, const carom_moreau_item *item, carom_ledger *ledger) {
  const carom_moreau_motion *motion = &m->motion;
  double loss = 0, friction = 0, work = 0;
  for (int k = 0; k <= item->tangents; k++) {
    double after = carom_row_rate(m->model, &item->row[k], motion->v_new.v, motion->v_new.w) - item->surface[k];
    double before = item->before[k] - item->surface[k];
    loss -= item->impulse[k] * 0.5 * (before + after);
    if (k > 0) friction -= item->impulse[k] * (motion->alpha * after + (1 - motion->alpha) * before);
    work += item->impulse[k] * item->surface[k];
  }
  carom_ledger_work(ledger, work);
  carom_ledger_loss(ledger, fmax(loss - friction, 0), friction);
  carom_ledger_projection(ledger, fmax(friction - loss, 0), cm_zero3(), cm_zero3());
}

static carom_contact_event event_of(const carom_moreau *m, const carom_moreau_item *item, carom_event_kind kind) {
  carom_contact_event event = {.kind = kind,
                               .time = m->motion.time + m->motion.h,
                               .body_a = item->row[0].body[0],
                               .body_b = item->row[0].body[1],
                               .point = item->contact.point,
                               .normal = item->row[0].linear[0]};
  for (int k = 0; k <= item->tangents; k++)
    event.impulse = cm_axpy(event.impulse, item->impulse[k], item->row[k].linear[0]);
  return event;
}

static carom_status book_item(const carom_moreau *m, const carom_moreau_item *item, carom_event_kind kind,
                              carom_ledger *ledger, carom_error *error) {
  book_energy(m, item, ledger);
  for (int k = 0; k <= item->tangents; k++)
    carom_ledger_row(ledger, &item->row[k], item->impulse[k], m->motion.star->x);
  if (item->kind == CAROM_MOREAU_LIMIT) {
    if (kind == CAROM_EVENT_IMPACT) carom_ledger_collision(ledger);
    return CAROM_OK;
  }
  carom_contact_event event = event_of(m, item, kind);
  return carom_ledger_event(ledger, &event, error);
}

carom_status carom_moreau_book(carom_moreau *m, carom_event_kind kind, carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  carom_moreau_book_motion(&m->motion, ledger);
  for (int i = 0; i < m->items.count && status == CAROM_OK; i++)
    if (m->items.list[i].impulse[0] > 0) status = book_item(m, &m->items.list[i], kind, ledger, error);
  return status;
}
