#include "model/row.h"
#include "step/quasistatic/integrator.h"

// What the outside did to bodies that move: forces, and the ground through supports. It is all they gain: nothing has
// inertia.
static void book_loads(const carom_quasi *s, carom_ledger *ledger) {
  for (int i = 0; i < s->model->body_count; i++) {
    if (!carom_body_moves(s->model, i)) continue;
    carom_vec3 f = cm_scale(s->h, s->force[i]), m = cm_scale(s->h, s->moment[i]);
    carom_ledger_outside(ledger, f, cm_add(m, cm_cross(s->at->x[i], f)));
    carom_vec3 pull = cm_axpy(f, -s->h * s->model->bodies[i].mass, s->model->gravity);  // weight has a potential
    carom_ledger_work(ledger, cm_dot(pull, s->found.v[i]) + cm_dot(m, s->found.w[i]));
  }
}

// Against supports, as dampers do: all that bodies were given.
static void book_supports(const carom_quasi *s, carom_ledger *ledger) {
  for (int i = 0; i < s->model->body_count; i++) {
    if (!carom_body_moves(s->model, i)) continue;
    const carom_vec3 *v = &s->found.v[i], *w = &s->found.w[i];
    double V[6] = {v->x, v->y, v->z, w->x, w->y, w->z}, E[6] = {0}, work = 0;
    for (int r = 0; r < 6; r++) {
      for (int c = 0; c < 6; c++) E[r] += s->matrix[i][r][c] * V[c] / s->strain[i];
      work += E[r] * V[r];
    }
    carom_vec3 f = cm_scale(-s->h, cm_vec3(E[0], E[1], E[2])), m = cm_scale(-s->h, cm_vec3(E[3], E[4], E[5]));
    carom_ledger_outside(ledger, f, cm_add(m, cm_cross(s->at->x[i], f)));
    carom_ledger_work(ledger, -s->h * work);
  }
}

// A gap that closes within the step takes the part of the work that was done before it was closed; an overlap that is
// pushed out gives.
static void book_item(const carom_quasi *s, const carom_quasi_item *item, carom_ledger *ledger) {
  double pressed = item->impulse[0] * item->rate[0], friction = 0, work = 0;
  for (int k = 0; k <= item->tangents; k++) {
    if (k > 0) friction -= item->impulse[k] * item->rate[k];
    work += item->impulse[k] * item->surface[k];
    carom_ledger_row(ledger, &item->row[k], item->impulse[k], s->at->x);
  }
  carom_ledger_work(ledger, work);
  carom_ledger_loss(ledger, pressed < 0 ? -pressed : 0, friction > 0 ? friction : 0);
  if (pressed > 0) carom_ledger_projection(ledger, pressed, cm_zero3(), cm_zero3());
}

static carom_contact_event event_of(const carom_quasi_item *item, double end) {
  carom_contact_event event = {.kind = CAROM_EVENT_CONTACT,
                               .time = end,
                               .body_a = item->contact.body_a,
                               .body_b = item->contact.body_b,
                               .point = cm_lerp(item->contact.point_a, item->contact.point_b, 0.5),
                               .normal = item->contact.normal,
                               .mode = item->mode};
  for (int k = 0; k <= item->tangents; k++)
    event.impulse = cm_axpy(event.impulse, item->impulse[k], item->row[k].linear[0]);
  return event;
}

carom_status carom_quasi_book(const carom_quasi *s, double end, carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  book_loads(s, ledger);
  book_supports(s, ledger);
  for (int i = 0; i < s->count && status == CAROM_OK; i++) {
    const carom_quasi_item *item = &s->items[i];
    if (item->impulse[0] <= 0) continue;
    book_item(s, item, ledger);
    carom_contact_event event = event_of(item, end);
    status = carom_ledger_event(ledger, &event, error);
  }
  return status;
}
