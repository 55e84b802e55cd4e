// Whole ways: steps until all are there, or nothing moves any more; and who jams.
#include <math.h>
#include <string.h>

#include "base/groups.h"
#include "base/memory.h"
#include "control/navigate.h"

enum { BETWEEN = 3 };                   // moments that the check looks at in every step
static const double STANDSTILL = 1e-3;  // m in a patience: who moves less stands still

typedef struct record {
  carom_navigate *s;
  carom_navigate_motion *motion;
  int frame_capacity, start_capacity, contact_capacity;
} record;

// ---- frames ---------------------------------------------------------------------------------------------------------

static size_t width(const carom_navigate_motion *m) { return (size_t)m->vehicle_count + (size_t)m->obstacle_count; }

static bool note_contacts(record *r, const carom_navigate_view *view) {
  carom_navigate_motion *m = r->motion;
  int have = m->contact_start[m->frame_count];
  if (!carom_reserve(&m->allocator, (void **)&m->contacts, &r->contact_capacity, have + view->contact_count,
                     sizeof *m->contacts))
    return false;
  if (view->contact_count > 0)
    memcpy(m->contacts + have, view->contacts, (size_t)view->contact_count * sizeof *m->contacts);
  m->contact_start[m->frame_count + 1] = have + view->contact_count;
  return true;
}

static bool note_frame(record *r) {
  carom_navigate_motion *m = r->motion;
  carom_navigate_view view = carom_navigate_look(r->s);
  if (!carom_reserve(&m->allocator, (void **)&m->places, &r->frame_capacity, m->frame_count + 1,
                     width(m) * sizeof *m->places) ||
      !carom_reserve(&m->allocator, (void **)&m->contact_start, &r->start_capacity, m->frame_count + 2,
                     sizeof *m->contact_start))
    return false;
  if (m->frame_count == 0) m->contact_start[0] = 0;
  memcpy(m->places + (size_t)m->frame_count * width(m), view.places, width(m) * sizeof *m->places);
  if (!note_contacts(r, &view)) return false;
  m->frame_count++;
  return true;
}

static const double *place_at(const carom_navigate_motion *m, int frame, int vehicle) {
  return m->places[(size_t)frame * width(m) + (size_t)vehicle];
}

static void note_ways(record *r) {
  carom_navigate_motion *m = r->motion;
  carom_navigate_view view = carom_navigate_look(r->s);
  for (int i = 0; i < m->vehicle_count; i++) {
    const double *p = place_at(m, m->frame_count - 2, i), *q = place_at(m, m->frame_count - 1, i);
    m->length[i] += hypot(q[0] - p[0], q[1] - p[1]);
    if (!view.arrived[i])
      m->arrival[i] = INFINITY;
    else if (!isfinite(m->arrival[i]))
      m->arrival[i] = view.time;
  }
  carom_navigate_verdict *v = &m->verdict;
  v->residual = fmax(v->residual, view.residual), v->held += view.held;
  if (view.contact_count > v->most_contacts) v->most_contacts = view.contact_count;
}

// ---- the end --------------------------------------------------------------------------------------------------------

static int count_arrived(const carom_navigate_view *view) {
  int count = 0;
  for (int i = 0; i < view->vehicle_count; i++) count += view->arrived[i];
  return count;
}

static bool is_any(const bool *what, int count) {
  for (int i = 0; i < count; i++)
    if (what[i]) return true;
  return false;
}

static bool all_stand_still(const carom_navigate_motion *m, double patience) {
  int back = (int)(patience / m->step);
  if (m->frame_count <= back) return false;
  for (int i = 0; i < m->vehicle_count; i++) {
    const double *p = place_at(m, m->frame_count - 1 - back, i), *q = place_at(m, m->frame_count - 1, i);
    if (hypot(q[0] - p[0], q[1] - p[1]) > STANDSTILL) return false;
  }
  return true;
}

// ---- jams -----------------------------------------------------------------------------------------------------------

// Contacts of the last step within a group of stuck vehicles, as columns over the vehicles' velocities.
static carom_status is_closed(const carom_navigate_motion *m, const int *group, int which, bool *closed,
                              carom_error *error) {
  int first = m->contact_start[m->frame_count - 1], last = m->contact_start[m->frame_count], columns = 0;
  int *local = CAROM_NEW(&m->allocator, int, m->vehicle_count), rows = 0;
  if (!local) return carom_nav_memory(error);
  for (int i = 0; i < m->vehicle_count; i++) local[i] = group[i] == which ? 2 * rows++ : -1;
  for (int i = first; i < last; i++) columns += group[m->contacts[i].vehicle] == which;
  double *N = CAROM_NEW(&m->allocator, double, 2 * (size_t)rows * (size_t)columns);
  double *mu = CAROM_NEW(&m->allocator, double, columns);
  carom_friction_cone cone = {.rows = 2 * rows, .contacts = columns, .N = N, .mu = mu};
  carom_friction_cone_answer answer = {0};
  carom_status status = N && mu ? CAROM_OK : carom_nav_memory(error);
  for (int i = first, at = 0; i < last && status == CAROM_OK; i++) {
    const carom_navigate_contact *c = &m->contacts[i];
    if (group[c->vehicle] != which) continue;
    double *column = N + (size_t)(at++) * 2 * (size_t)rows;
    for (int k = 0; k < 2; k++) column[local[c->vehicle] + k] = c->normal[k];
    for (int k = 0; k < 2 && c->other < m->vehicle_count; k++) column[local[c->other] + k] = -c->normal[k];
  }
  if (status == CAROM_OK && columns > 0) status = carom_friction_cone_pointed(&cone, &m->allocator, &answer, error);
  *closed = status == CAROM_OK && columns > 0 && !answer.pointed;
  CAROM_RELEASE_ALL(&m->allocator, local, N, mu);
  return status == CAROM_NOT_CONVERGED ? CAROM_OK : status;
}

// Vehicles that touch in the last step belong together.
static void group_vehicles(const carom_navigate_motion *m, int *group) {
  for (int i = 0; i < m->vehicle_count; i++) group[i] = i;
  for (int i = m->contact_start[m->frame_count - 1]; i < m->contact_start[m->frame_count]; i++)
    if (m->contacts[i].other < m->vehicle_count) carom_group_unite(group, m->contacts[i].vehicle, m->contacts[i].other);
  for (int i = 0; i < m->vehicle_count; i++) group[i] = carom_group_root(group, i);
}

static carom_status note_jam(carom_navigate_motion *m, const carom_navigate_view *view, const int *group, int which,
                             carom_error *error) {
  carom_navigate_jam *jam = &m->jams[m->jam_count];
  bool stuck = false;
  *jam = (carom_navigate_jam){.time = view->time};
  jam->start = m->jam_count > 0 ? jam[-1].start + jam[-1].count : 0;
  for (int i = 0; i < m->vehicle_count; i++) {
    if (group[i] != which) continue;
    m->jammed[jam->start + jam->count++] = i;
    stuck |= view->stuck[i];
  }
  if (!stuck) return CAROM_OK;
  m->jam_count++;
  return is_closed(m, group, which, &jam->closed, error);
}

static carom_status find_jams(record *r, carom_error *error) {
  carom_navigate_motion *m = r->motion;
  carom_navigate_view view = carom_navigate_look(r->s);
  int *group = CAROM_NEW(&m->allocator, int, m->vehicle_count);
  carom_status status = group ? CAROM_OK : carom_nav_memory(error);
  if (group) group_vehicles(m, group);
  for (int i = 0; i < m->vehicle_count && status == CAROM_OK; i++)
    if (group[i] == i) status = note_jam(m, &view, group, i, error);
  carom_release(&m->allocator, group);
  m->verdict.jams = m->jam_count;
  return status;
}

// ---- the way --------------------------------------------------------------------------------------------------------

static carom_status go(record *r, const carom_navigate_def *def, carom_error *error) {
  carom_navigate_motion *m = r->motion;
  int most = (int)ceil(def->duration / def->step - 1e-9);
  double begun = carom_clock();
  carom_status status = note_frame(r) ? CAROM_OK : carom_nav_memory(error);
  for (int k = 0; k < most && status == CAROM_OK; k++) {
    carom_navigate_view view = carom_navigate_look(r->s);
    if (count_arrived(&view) == m->vehicle_count) break;
    if (is_any(view.stuck, m->vehicle_count) && all_stand_still(m, def->patience)) break;
    const carom_progress *p = &def->progress;
    if (p->report && !p->report(p->context, view.time, def->duration)) {
      status = carom_fail(error, CAROM_INTERRUPTED, "navigation was stopped after %g s", view.time);
      break;
    }
    status = carom_navigate_step(r->s, error);
    if (status == CAROM_OK && !note_frame(r)) status = carom_nav_memory(error);
    if (status == CAROM_OK) note_ways(r);
  }
  m->verdict.seconds = carom_clock() - begun;
  return status;
}

static carom_status judge(record *r, const carom_navigate_def *def, carom_error *error) {
  carom_navigate_motion *m = r->motion;
  carom_navigate_view view = carom_navigate_look(r->s);
  carom_navigate_verdict *v = &m->verdict;
  v->arrived = count_arrived(&view), v->done = v->arrived == m->vehicle_count;
  v->time = view.time, v->steps = m->frame_count - 1;
  for (int i = 0; i < m->vehicle_count; i++) {
    const carom_navigate_vehicle *w = &def->vehicles[i];
    v->length += m->length[i];
    v->straight += hypot(w->goal[0] - w->start[0], w->goal[1] - w->start[1]);
  }
  carom_status status = find_jams(r, error);
  return status == CAROM_OK ? carom_navigate_check(m, def, BETWEEN, error) : status;
}

static carom_navigate_motion *make_motion(const carom_navigate_def *def, const carom_allocator *allocator) {
  carom_allocator heap = carom_allocator_or_default(allocator);
  carom_navigate_motion *m = CAROM_NEW(&heap, carom_navigate_motion, 1);
  if (!m) return NULL;
  m->allocator = heap, m->step = def->step;
  m->vehicle_count = def->vehicle_count, m->obstacle_count = def->obstacle_count;
  int n = def->vehicle_count;
  if (!CAROM_NEW_ALL(&heap, CAROM_ROOM(m->arrival, n), CAROM_ROOM(m->length, n), CAROM_ROOM(m->jams, n),
                     CAROM_ROOM(m->jammed, n))) {
    carom_navigate_motion_destroy(m);
    return NULL;
  }
  return m;
}

// The steps of the segments, each from where it begins.
static carom_status follow(record *r, const carom_navigate_plan *plan, carom_error *error) {
  const size_t n = (size_t)plan->vehicle_count;
  double begun = carom_clock();
  carom_status status = note_frame(r) ? CAROM_OK : carom_nav_memory(error);
  for (int i = 0; i < plan->count && status == CAROM_OK; i++) {
    const carom_navigate_segment *g = &plan->segments[i];
    const double *from = plan->places[(size_t)i * n];
    int steps = (int)fmax(1, round(g->duration / r->motion->step));
    status = carom_navigate_put(r->s, carom_navigate_look(r->s).time, from, error);
    carom_navigate_command(r->s, &g->velocities[0][0]);
    for (int k = 0; k < steps && status == CAROM_OK; k++) {
      status = carom_navigate_step(r->s, error);
      if (status == CAROM_OK && !note_frame(r)) status = carom_nav_memory(error);
      if (status == CAROM_OK) note_ways(r);
    }
  }
  r->motion->verdict.seconds = carom_clock() - begun;
  return status;
}

// With or without a plan.
static carom_status make(const carom_navigate_def *def, const carom_navigate_plan *plan,
                         const carom_allocator *allocator, carom_navigate_motion **motion, carom_error *error) {
  record r = {0};
  *motion = NULL;
  carom_status status = carom_navigate_create(def, allocator, &r.s, error), judged = CAROM_OK;
  if (status != CAROM_OK) return status;
  r.motion = make_motion(def, allocator);
  if (!r.motion) {
    carom_navigate_destroy(r.s);
    return carom_nav_memory(error);
  }
  carom_navigate_view view = carom_navigate_look(r.s);
  for (int i = 0; i < def->vehicle_count; i++) r.motion->arrival[i] = view.arrived[i] ? 0 : INFINITY;
  status = plan ? follow(&r, plan, error) : go(&r, def, error);
  if (status == CAROM_OK || status == CAROM_INTERRUPTED) judged = judge(&r, def, error);
  carom_navigate_destroy(r.s);
  if (judged != CAROM_OK) status = judged;
  if (status == CAROM_OK || status == CAROM_INTERRUPTED)
    *motion = r.motion;
  else
    carom_navigate_motion_destroy(r.motion);
  return status;
}

carom_status carom_navigate_run(const carom_navigate_def *def, const carom_allocator *allocator,
                                carom_navigate_motion **motion, carom_error *error) {
  return make(def, NULL, allocator, motion, error);
}

carom_status carom_navigate_plan_motion(const carom_navigate_def *def, const carom_navigate_plan *plan,
                                        const carom_allocator *allocator, carom_navigate_motion **motion,
                                        carom_error *error) {
  return make(def, plan, allocator, motion, error);
}

void carom_navigate_motion_destroy(carom_navigate_motion *m) {
  if (!m) return;
  carom_allocator heap = m->allocator;
  CAROM_RELEASE_ALL(&heap, m->places, m->contact_start, m->contacts, m->arrival, m->length, m->jams, m->jammed, m);
}
