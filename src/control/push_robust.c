// Whether a push keeps its modes (Gavrea 2008, 2.4: the algorithm at its end). An assignment of modes to contacts is a
// complementary basis C(alpha) of the step's problem (2.4.20); it serves as long as C(alpha) w = b has w >= 0, which is
// one linear system (carom_quasi_solve_in). The parts are moved by that w, so that b and C are those of the way itself.
//
// Where forces may be shared in several ways, one basis serves as well as another: a change of modes is only one when
// those before do not serve any more. Runs ask that, too, when a problem was solved in other modes than the one before.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/push.h"
#include "model/size.h"

static const double HOLDS = 1e-9;  // margins above minus this are none but round-off
static const double ALIKE = 1e-7;  // of the fastest probe: motions this near to each other are one

// ---- modes carried from step to step --------------------------------------------------------------------------------

static carom_status make_room(carom_pusher *p, carom_error *error) {
  if (carom_reserve(&p->arena.allocator, (void **)&p->modes, &p->mode_capacity, p->quasi->count, sizeof *p->modes))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "push: out of memory for %d contacts", p->quasi->count);
}

static int heir_of(const carom_pusher *p, int trace) {
  const carom_quasi *q = p->quasi;
  const carom_push_trace *t = &p->before.list[trace];
  int heir = -1;
  for (int i = 0; i < q->count; i++) {
    const carom_contact *c = &q->items[i].contact;
    if (q->items[i].before == trace) return i;
    if (q->items[i].before < 0 && p->modes[i] == CAROM_MODE_OPEN && c->part_a == t->part_a && c->part_b == t->part_b)
      heir = i;  // where features change, the contact of two parts goes on elsewhere
  }
  return heir;
}

// What is new is open.
static carom_status carry(carom_push_way *way, carom_error *error) {
  carom_pusher *p = way->pusher;
  carom_status status = make_room(p, error);
  if (status != CAROM_OK) return status;
  way->lost = NULL;
  for (int i = 0; i < p->quasi->count; i++) p->modes[i] = CAROM_MODE_OPEN;
  for (int k = 0; k < p->before.count; k++) {
    carom_contact_mode mode = p->before.list[k].mode;
    int heir = mode == CAROM_MODE_OPEN ? -1 : heir_of(p, k);
    if (heir >= 0) p->modes[heir] = mode;
    if (heir < 0 && mode != CAROM_MODE_OPEN && !way->lost) way->lost = &p->before.list[k];
  }
  return CAROM_OK;
}

// ---- solving --------------------------------------------------------------------------------------------------------

// Takes the step in pusher->modes if they serve.
static carom_status try_modes(carom_push_way *way, bool *serve, carom_error *error) {
  carom_pusher *p = way->pusher;
  carom_status status = carom_quasi_solve_in(p->quasi, p->modes, &way->margin, error);
  if (status != CAROM_OK) return status;
  way->result->systems++;
  *serve = way->margin.least >= -HOLDS;
  for (int i = 0; *serve && i < p->quasi->count; i++) p->quasi->items[i].mode = p->modes[i];
  return CAROM_OK;
}

// By a problem. Where it has no solution the push is over.
static carom_status solve(carom_push_way *way, carom_error *error) {
  carom_quasi_outcome outcome;
  carom_status status = carom_quasi_solve(way->pusher->quasi, &outcome, error);
  if (status != CAROM_OK) return status;
  way->result->problems++;
  way->solved = true;
  status = carry(way, error);  // items may have other numbers now
  if (status != CAROM_OK) return status;
  return outcome.solved ? carom_push_judge_forces(way, error) : carom_push_judge(way, error);
}

// ---- changes --------------------------------------------------------------------------------------------------------

static bool differs(const carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  for (int i = 0; i < p->quasi->count; i++)
    if (p->modes[i] != p->quasi->items[i].mode) return true;
  return way->lost != NULL;
}

static void tell_change(carom_push_way *way, const carom_push_trace *trace, carom_contact_mode from,
                        carom_contact_mode to) {
  carom_push_result *r = way->result;
  if (r->changes++ == 0)
    r->change = (carom_push_change){way->t + way->h, trace->body_a, trace->body_b, trace->point, from, to};
  if (way->full) return;
  r->ending = CAROM_PUSH_SWITCH;
  way->over = true;
}

static void tell_item(carom_push_way *way, int index) {
  const carom_pusher *p = way->pusher;
  const carom_quasi_item *item = &p->quasi->items[index];
  carom_push_trace trace = {
      .body_a = item->contact.body_a, .body_b = item->contact.body_b, .point = item->contact.point_b};
  tell_change(way, &trace, p->modes[index], item->mode);
}

// Of all contacts that changed, the one that the modes before fail at, if it is among them.
static void tell_worst(carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  const carom_quasi *q = p->quasi;
  int worst = way->lost ? -1 : way->margin.item, first = q->count;
  if (worst >= 0 && worst < q->count && p->modes[worst] != q->items[worst].mode) {
    tell_item(way, worst);
    return;
  }
  for (int i = q->count - 1; i >= 0; i--)
    if (p->modes[i] != q->items[i].mode) first = i;
  if (way->lost)
    tell_change(way, way->lost, way->lost->mode, CAROM_MODE_OPEN);
  else if (first < q->count)
    tell_item(way, first);
}

// ---- the modes of the nominal push ---------------------------------------------------------------------------------

static bool comes_before(const carom_push_trace *a, const carom_push_trace *b) {
  if (a->part_a != b->part_a) return a->part_a < b->part_a;
  return a->part_b != b->part_b ? a->part_b < b->part_b : a->along < b->along;
}

static bool same_parts(const carom_push_trace *a, const carom_push_trace *b) {
  return a->part_a == b->part_a && a->part_b == b->part_b;
}

// The contacts that carry something, by parts and along their tangents.
static carom_status list_here(carom_pusher *p, carom_push_traces *traces, carom_error *error) {
  traces->count = 0;
  for (int i = 0; i < p->quasi->count; i++) {
    if (p->quasi->items[i].mode == CAROM_MODE_OPEN) continue;
    if (!carom_push_note(p, traces, &p->quasi->items[i]))
      return carom_fail(error, CAROM_ERR_MEMORY, "push: out of memory for %d contacts", p->quasi->count);
    for (int k = traces->count - 1; k > 0 && comes_before(&traces->list[k], &traces->list[k - 1]); k--) {
      carom_push_trace swap = traces->list[k];
      traces->list[k] = traces->list[k - 1], traces->list[k - 1] = swap;
    }
  }
  return CAROM_OK;
}

// Among items of the parts of a trace without a mode yet, the one with the least gap; -1: there is none.
static int nearest_item(const carom_pusher *p, const carom_push_trace *trace) {
  int nearest = -1;
  for (int i = 0; i < p->quasi->count; i++) {
    const carom_contact *c = &p->quasi->items[i].contact;
    if (c->part_a != trace->part_a || c->part_b != trace->part_b || p->modes[i] != CAROM_MODE_OPEN) continue;
    if (nearest < 0 || c->gap < p->quasi->items[nearest].contact.gap) nearest = i;
  }
  return nearest;
}

static double along_of(const carom_contact *c) { return c->normal.x * c->point_b.y - c->normal.y * c->point_b.x; }

// Puts modes of two items of the same parts in the order of their places.
static void order_pair(carom_pusher *p, int i, int j) {
  const carom_contact *a = &p->quasi->items[i].contact, *b = &p->quasi->items[j].contact;
  bool open = p->modes[i] == CAROM_MODE_OPEN || p->modes[j] == CAROM_MODE_OPEN;
  if (open || a->part_a != b->part_a || a->part_b != b->part_b || !(along_of(b) < along_of(a))) return;
  carom_contact_mode swap = p->modes[i];
  p->modes[i] = p->modes[j], p->modes[j] = swap;
}

// Gives the modes of the pattern to the items here; false where there are too few. Two parts of a planar model share at
// most two points.
static bool take_pattern(carom_pusher *p) {
  int taken[2] = {-1, -1};
  for (int i = 0; i < p->quasi->count; i++) p->modes[i] = CAROM_MODE_OPEN;
  for (int k = 0; k < p->pattern.count; k++) {
    const carom_push_trace *t = &p->pattern.list[k];
    bool second = k > 0 && same_parts(t, &p->pattern.list[k - 1]);
    int item = nearest_item(p, t);
    if (item < 0) return false;
    p->modes[item] = t->mode;
    taken[second] = item;
    if (second) p->modes[taken[0]] = p->pattern.list[k - 1].mode, order_pair(p, taken[0], taken[1]);
  }
  return true;
}

// The first contact in which the modes here are not those of the pattern: what it does there and here; null: is not
// there.
typedef struct difference {
  const carom_push_trace *there, *here;
} difference;

static bool find_difference(const carom_pusher *p, difference *d) {
  const carom_push_traces *there = &p->pattern, *here = &p->here;
  int shared = there->count < here->count ? there->count : here->count, i = 0;
  while (i < shared && same_parts(&there->list[i], &here->list[i]) && there->list[i].mode == here->list[i].mode) i++;
  d->there = i < there->count ? &there->list[i] : NULL;
  d->here = i < here->count ? &here->list[i] : NULL;
  if (!d->there || !d->here || same_parts(d->there, d->here)) return d->there || d->here;
  if (comes_before(d->there, d->here))  // what comes first is missing in the other
    d->here = NULL;
  else
    d->there = NULL;
  return true;
}

static void tell_difference(carom_push_way *way, const difference *d) {
  carom_contact_mode from = d->there ? d->there->mode : CAROM_MODE_OPEN;
  tell_change(way, d->here ? d->here : d->there, from, d->here ? d->here->mode : CAROM_MODE_OPEN);
}

// ---- one step -------------------------------------------------------------------------------------------------------

static bool may_count(const carom_push_way *way) {
  bool settled = way->t >= way->settle - HOLDS * way->pusher->def.step;
  return settled && !way->approaches && (way->compare || isfinite(way->result->touch));
}

// A probe that moves pushes something.
static void note_touch(carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  for (int i = 0; isinf(way->result->touch) && i < p->quasi->count; i++) {
    const carom_quasi_item *item = &p->quasi->items[i];
    bool moves = cm_norm2(p->driven.v[item->contact.body_b]) > 0;
    if (moves && item->mode != CAROM_MODE_OPEN) way->result->touch = way->t;
  }
}

static void start_counting(carom_push_way *way) {
  way->counts = true;
  way->result->settled = way->t;
}

// Where forces may be shared in several ways, the modes here may be others and mean the same: then the parts move alike
// in those of the pattern. (Where friction is large, a step may have solutions that do not.)
static carom_status ask_pattern(carom_push_way *way, bool *same, carom_error *error) {
  carom_pusher *p = way->pusher;
  const carom_model *m = p->def.model;
  size_t bytes = sizeof(carom_vec3) * (size_t)m->body_count;
  memcpy(p->was.v, p->quasi->found.v, bytes), memcpy(p->was.w, p->quasi->found.w, bytes);
  *same = false;
  if (!take_pattern(p)) return CAROM_OK;
  carom_status status = try_modes(way, same, error);
  for (int i = 0; *same && i < m->body_count; i++) {
    if (m->bodies[i].fixed) continue;
    double off = cm_norm(cm_sub(p->quasi->found.v[i], p->was.v[i])) +
                 cm_norm(cm_sub(p->quasi->found.w[i], p->was.w[i])) * carom_body_radius(&m->bodies[i]);
    *same = off <= ALIKE * way->fastest;
  }
  return status;
}

// The step in which modes begin to count, after other starts: in the modes of the nominal push?
static carom_status join_pattern(carom_push_way *way, bool serve, carom_error *error) {
  bool same;
  difference d;
  carom_status status = serve ? CAROM_OK : solve(way, error);
  if (status != CAROM_OK || way->over) return status;
  note_touch(way);
  start_counting(way);
  status = list_here(way->pusher, &way->pusher->here, error);
  if (status != CAROM_OK || !find_difference(way->pusher, &d)) return status;
  status = ask_pattern(way, &same, error);
  if (status == CAROM_OK && !same) tell_difference(way, &d);
  return status;
}

// By a problem. Of several solutions the one in the modes before is taken: in runs that is asked afterwards, in checks
// it has been asked.
static carom_status solve_near(carom_push_way *way, carom_error *error) {
  bool serve = false;
  carom_status status = solve(way, error);
  if (status != CAROM_OK || way->over || !way->full || way->lost || !differs(way)) return status;
  status = try_modes(way, &serve, error);
  return status == CAROM_OK && !serve ? solve(way, error) : status;
}

// The modes carried over do not serve, or nobody has asked them.
static carom_status solve_again(carom_push_way *way, carom_error *error) {
  carom_status status = solve_near(way, error);
  if (status != CAROM_OK || way->over) return status;
  if (way->counts && differs(way)) tell_worst(way);
  if (way->counts) return CAROM_OK;
  note_touch(way);
  if (may_count(way)) start_counting(way);
  return CAROM_OK;
}

carom_status carom_push_solve(carom_push_way *way, carom_error *error) {
  bool serve = false, first = !way->counts && may_count(way), join = first && way->compare;
  carom_status status = carry(way, error);
  way->margin = (carom_quasi_margin){.least = -INFINITY, .item = -1};
  way->solved = false;
  if (status == CAROM_OK && !way->full && (!first || join) && !way->lost) status = try_modes(way, &serve, error);
  if (status != CAROM_OK) return status;
  if (join) return join_pattern(way, serve, error);
  if (serve && way->counts) way->result->margin = fmin(way->result->margin, way->margin.least);
  return serve ? CAROM_OK : solve_again(way, error);
}

// ---- checks ---------------------------------------------------------------------------------------------------------

static carom_status check(carom_pusher *p, const carom_push *push, carom_state *state, carom_push_result *result,
                          carom_error *error) {
  carom_push_way way = {.pusher = p, .push = push, .state = state, .result = result};
  way.settle = p->def.settle * push->duration;
  return carom_push_go(&way, 1, error);
}

static carom_status begin(const carom_pusher *p, const carom_push *push, const carom_state *state, carom_error *error) {
  carom_status status = carom_push_verify(p, push, error);
  return status == CAROM_OK ? carom_push_clear(p, push, state, error) : status;
}

carom_status carom_pusher_check(carom_pusher *pusher, const carom_push *push, carom_state *state,
                                carom_push_result *result, carom_error *error) {
  carom_status status = begin(pusher, push, state, error);
  return status == CAROM_OK ? check(pusher, push, state, result, error) : status;
}

static bool is_kept(const carom_push_result *r) { return r->ending == CAROM_PUSH_DONE || r->ending == CAROM_PUSH_GOAL; }

// ---- several starts -------------------------------------------------------------------------------------------------

carom_push_starts carom_push_corners(const carom_model *model, const carom_state *state, const carom_push_box *box) {
  carom_push_starts starts = {.body = box->body, .count = 1};
  starts.start[0].friction = 1;
  carom_push_pose(model, state, box->body, starts.start[0].pose);
  for (int k = 0; k < 4; k++) {
    double half = k < 3 ? box->half[k] : box->friction;
    if (half == 0) continue;
    for (int i = 0; i < starts.count; i++) {
      carom_push_start *low = &starts.start[i], *high = &starts.start[i + starts.count];
      *high = *low;
      double *a = k < 3 ? &low->pose[k] : &low->friction, *b = k < 3 ? &high->pose[k] : &high->friction;
      *a -= half, *b += half;
    }
    starts.count *= 2;
  }
  return starts;
}

static carom_status keep_state(carom_state **kept, const carom_state *state, const carom_pusher *p,
                               carom_error *error) {
  if (!*kept) return carom_state_clone(state, &p->arena.allocator, kept, error);
  carom_state_copy(*kept, state);
  return CAROM_OK;
}

// From one of the other starts, in silence.
static carom_status check_from(carom_pusher *p, const carom_push *push, const carom_push_starts *starts, int index,
                               carom_push_result *result, carom_error *error) {
  const carom_push_start *start = &starts->start[index];
  carom_push_listener listener = p->listener;
  carom_push_way way = {.pusher = p, .push = push, .state = p->other, .result = result, .compare = true};
  way.settle = p->def.settle_all * push->duration;
  carom_state_copy(p->other, p->origin);
  carom_push_set_pose(p->def.model, p->other, starts->body, start->pose);
  *result =
      (carom_push_result){.ending = CAROM_PUSH_FAILED, .touch = INFINITY, .settled = INFINITY, .margin = INFINITY};
  carom_status status = carom_push_clear(p, push, p->other, NULL);
  if (status != CAROM_OK) return status == CAROM_ERR_GEOMETRY ? CAROM_OK : status;
  p->listener = (carom_push_listener){0};
  status = carom_push_go(&way, start->friction, error);
  p->listener = listener;
  return status;
}

static carom_status verify_starts(const carom_pusher *p, const carom_push_starts *starts, carom_error *error) {
  const carom_model *m = p->def.model;
  if (starts->count < 0 || starts->count > CAROM_PUSH_STARTS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "push: %d starts, expected 0 to %d", starts->count, CAROM_PUSH_STARTS);
  if (starts->body < 0 || starts->body >= m->body_count || m->bodies[starts->body].fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "push: starts are of body %d, which is none that can be pushed",
                      starts->body);
  for (int i = 0; i < starts->count; i++) {
    const carom_push_start *s = &starts->start[i];
    if (!isfinite(s->pose[0]) || !isfinite(s->pose[1]) || !isfinite(s->pose[2]) || !(s->friction >= 0) ||
        isinf(s->friction))
      return carom_fail(error, CAROM_ERR_NUMBER, "push: start %d at (%g m, %g m, %g rad) with friction times %g", i,
                        s->pose[0], s->pose[1], s->pose[2], s->friction);
  }
  return CAROM_OK;
}

static void take_in(carom_push_verdict *verdict, const carom_push_result *r) {
  verdict->problems += r->problems;
  verdict->systems += r->systems;
  if (r->margin < verdict->margin) verdict->other = *r;
  verdict->margin = fmin(verdict->margin, r->margin);
}

static carom_status check_others(carom_pusher *p, const carom_push *push, carom_push_starts *starts,
                                 carom_push_verdict *verdict, carom_error *error) {
  for (int i = 0; i < starts->count; i++) {
    carom_push_result r;
    carom_status status = check_from(p, push, starts, i, &r, error);
    if (status != CAROM_OK) return status;
    take_in(verdict, &r);
    if (!is_kept(&r)) {
      verdict->other = r, verdict->start = i;
      return CAROM_OK;
    }
    carom_push_pose(p->def.model, p->other, starts->body, starts->start[i].pose);
  }
  verdict->robust = true;
  return CAROM_OK;
}

carom_status carom_pusher_check_all(carom_pusher *pusher, const carom_push *push, carom_state *state,
                                    carom_push_starts *starts, carom_push_verdict *verdict, carom_error *error) {
  carom_status status = verify_starts(pusher, starts, error);
  if (status == CAROM_OK) status = begin(pusher, push, state, error);
  if (status == CAROM_OK) status = keep_state(&pusher->origin, state, pusher, error);
  if (status == CAROM_OK) status = keep_state(&pusher->other, state, pusher, error);
  if (status != CAROM_OK) return status;
  *verdict = (carom_push_verdict){.start = -1, .margin = INFINITY};
  status = check(pusher, push, state, &verdict->nominal, error);
  verdict->other = verdict->nominal;
  take_in(verdict, &verdict->nominal);
  if (status != CAROM_OK || !is_kept(&verdict->nominal)) return status;
  status = list_here(pusher, &pusher->pattern, error);
  return status == CAROM_OK ? check_others(pusher, push, starts, verdict, error) : status;
}
