#include <math.h>
#include <string.h>

#include "step/moreau/moreau.h"

static const double LANDING = 0.25;  // of the slowest bounce

static bool lasts(const carom_moreau *m, const carom_moreau_item *item) {
  return !item->impact && fabs(item->before[0] - item->surface[0]) <= carom_moreau_slow(m);
}

// What an impulse does to the kinetic energy is impulse times the mean of the velocities before and after, exactly.
// The share of the tangents is friction's, that of the normal restitution's, where surfaces have them; what neither
// may take is nobody's: the audit sees it. Contacts that last take at one end of a step what they give at the other, so
// that sums are booked when the step is over.
// A driven body that carries another works on it along the way that the latter takes: it speeds up within the step, so
// that nothing that rests on it has its velocity at both ends.
static void add_losses(carom_moreau *m, const carom_moreau_item *item, carom_ledger *ledger) {
  const carom_moreau_motion *motion = &m->motion;
  double loss = 0, friction = 0, work = 0;
  for (int k = 0; k <= item->tangents; k++) {
    double after = carom_row_rate(m->model, &item->row[k], motion->v_new.v, motion->v_new.w);
    double mean = 0.5 * (item->before[k] + after);
    double moving = k == 0 && item->surface[0] != 0 && lasts(m, item) ? mean : item->surface[k];
    double lost = -item->impulse[k] * (mean - moving);
    loss += lost;
    if (k > 0) friction += lost;
    work += item->impulse[k] * moving;
  }
  carom_ledger_work(ledger, work);
  if (item->e >= 1) friction = item->mu > 0 ? loss : 0;
  m->losses.friction += friction;
  if (item->e < 1) m->losses.restitution += loss - friction;
}

// Weight works along the way that bodies take, not along the mean of their velocities: what it did not do to bodies
// that were stopped within the piece was not lost. An impact at one moment comes after the weight.
static double spared_by_weight(carom_moreau *m, const carom_moreau_item *item, int end) {
  const carom_moreau_motion *motion = &m->motion;
  int body = item->row[0].body[end];
  if (!carom_body_moves(m->model, body) || m->pushed[body] || (motion->h == 0 && item->impact)) return 0;
  double share = motion->h > 0 ? motion->alpha - 0.5 : -0.5;
  carom_vec3 change = cm_sub(motion->v_free.v[body], motion->v_new.v[body]);
  m->pushed[body] = true;
  double spared = share * motion->kick * m->model->bodies[body].mass * cm_dot(m->model->gravity, change);
  return motion->kick == motion->h ? fmax(spared, 0) : spared;
}

void carom_moreau_book_losses(carom_moreau *m, carom_ledger *ledger) {
  double total = fmax(m->losses.restitution + m->losses.friction, 0);
  double friction = fmin(fmax(m->losses.friction, 0), total);
  carom_ledger_loss(ledger, total - friction, friction);
  m->losses.restitution = m->losses.friction = 0;
}

// Bodies that meet without a bounce have an impact all the same; what rests comes down by what forces make in a step.
static bool lands(const carom_moreau *m, const carom_moreau_item *item) {
  return item->surface[0] - item->before[0] > LANDING * carom_moreau_slow(m);
}

static carom_contact_event event_of(const carom_moreau *m, const carom_moreau_item *item) {
  carom_contact_event event = {.kind = item->impact || lands(m, item) ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
                               .time = m->motion.time + m->motion.h,
                               .body_a = item->row[0].body[0],
                               .body_b = item->row[0].body[1],
                               .point = item->contact.point,
                               .normal = item->row[0].linear[0]};
  for (int k = 0; k <= item->tangents; k++)
    event.impulse = cm_axpy(event.impulse, item->impulse[k], item->row[k].linear[0]);
  return event;
}

static carom_status book_item(carom_moreau *m, const carom_moreau_item *item, carom_ledger *ledger,
                              carom_error *error) {
  add_losses(m, item, ledger);
  if (item->e < 1) m->losses.restitution -= spared_by_weight(m, item, 0) + spared_by_weight(m, item, 1);
  for (int k = 0; k <= item->tangents; k++)
    carom_ledger_row(ledger, &item->row[k], item->impulse[k], m->motion.star->x);
  if (item->kind == CAROM_MOREAU_LIMIT) {
    if (item->impact) carom_ledger_collision(ledger);
    return CAROM_OK;
  }
  carom_contact_event event = event_of(m, item);
  return carom_ledger_event(ledger, &event, error);
}

carom_status carom_moreau_book(carom_moreau *m, carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  memset(m->pushed, 0, (size_t)m->model->body_count * sizeof *m->pushed);
  carom_moreau_book_motion(&m->motion, ledger);
  for (int i = 0; i < m->items.count && status == CAROM_OK; i++)
    if (m->items.list[i].impulse[0] > 0) status = book_item(m, &m->items.list[i], ledger, error);
  return status;
}
