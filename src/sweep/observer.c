// A program at work in one run: sources are read after every step, then the nodes in their order.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sweep/program.h"

static carom_status bind(carom_observer *o, int i, carom_error *error) {
  const carom_source *s = &o->program->sources[i];
  o->bound[i] = s->index;
  if (s->kind == CAROM_SOURCE_CHANNEL) o->bound[i] = carom_loop_find_channel(o->loop, s->name);
  if (s->kind == CAROM_SOURCE_BODY) o->bound[i] = carom_model_find_body(o->model, s->name);
  if (s->kind == CAROM_SOURCE_FIGURE && s->index >= CAROM_FIGURE_COLLISIONS) o->asks_audit = o->loop != NULL;
  if (o->bound[i] >= 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "the scene of this case has no %s '%.200s'",
                    s->kind == CAROM_SOURCE_BODY ? "body" : "channel", s->name);
}

carom_status carom_observer_create(const carom_program *program, const carom_model *model, const carom_loop *loop,
                                   const carom_allocator *allocator, carom_observer *o, carom_error *error) {
  *o = (carom_observer){.program = program, .model = model, .loop = loop};
  o->allocator = carom_allocator_or_default(allocator);
  if (!CAROM_NEW_ALL(&o->allocator, CAROM_ROOM(o->bound, program->source_count),
                     CAROM_ROOM(o->slots, program->slot_count), CAROM_ROOM(o->memory, 2 * program->node_count)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the formulas of a case");
  carom_status status = CAROM_OK;
  for (int i = 0; i < program->source_count && status == CAROM_OK; i++) status = bind(o, i, error);
  return status;
}

void carom_observer_release(carom_observer *o) {
  if (!o->program) return;
  CAROM_RELEASE_ALL(&o->allocator, o->bound, o->slots, o->memory);
  *o = (carom_observer){0};
}

// ---- sources --------------------------------------------------------------------------------------------------------

static double length(carom_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static double body_value(const carom_observer *o, const carom_state *state, int body, int word) {
  if (word < 7) {
    carom_pose pose = carom_state_pose(o->model, state, body);
    const double values[] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    return values[word];
  }
  carom_vec3 v =
      word < 11 ? carom_state_velocity(o->model, state, body) : carom_state_angular_velocity(o->model, state, body);
  const double values[] = {v.x, v.y, v.z, length(v)};
  return values[(word - 7) % 4];
}

void carom_observer_figures(carom_observer *o, const double *figures, const double *inputs) {
  for (int i = 0; i < o->program->source_count; i++) {
    const carom_source *s = &o->program->sources[i];
    if (s->kind == CAROM_SOURCE_FIGURE) o->slots[s->slot] = figures[s->index];
    if (s->kind == CAROM_SOURCE_AXIS) o->slots[s->slot] = inputs[s->index];
  }
}

static void read_sources(carom_observer *o, const carom_state *state) {
  const double *channels = o->loop ? carom_loop_values(o->loop) : NULL;
  for (int i = 0; i < o->program->source_count; i++) {
    const carom_source *s = &o->program->sources[i];
    if (s->kind == CAROM_SOURCE_CHANNEL) o->slots[s->slot] = channels[o->bound[i]];
    if (s->kind == CAROM_SOURCE_BODY) o->slots[s->slot] = body_value(o, state, o->bound[i], s->index);
  }
}

// ---- reducers -------------------------------------------------------------------------------------------------------

// What a reducer makes of its next value x. `m` is its own: what it has, and what it needs besides.
static double reduce(carom_observer *o, carom_reducer reducer, double x, double *m) {
  bool begins = o->samples == 0;
  double span = o->time - o->start;
  switch (reducer) {
    case CAROM_LEAST:
      return m[0] = begins || x < m[0] || isnan(m[0]) ? x : m[0];
    case CAROM_MOST:
      return m[0] = begins || x > m[0] || isnan(m[0]) ? x : m[0];
    case CAROM_MEAN:  // over time, by the trapezoidal rule: m[0] is the integral, m[1] the last value
      m[0] = begins ? 0 : m[0] + (o->time - o->last_time) * (x + m[1]) / 2;
      m[1] = x;
      return span > 0 ? m[0] / span : x;
    case CAROM_EVER:
      return m[0] = (!begins && carom_is_true(m[0])) || carom_is_true(x);
    case CAROM_FIRST:
      if (begins) m[0] = INFINITY;
      return m[0] = m[0] == INFINITY && carom_is_true(x) ? o->time : m[0];
    case CAROM_HELD:  // m[0]: since when; NaN while it does not hold
      m[0] = !carom_is_true(x) ? NAN : begins || isnan(m[0]) ? o->time : m[0];
      return isnan(m[0]) ? 0 : o->time - m[0];
    default:
      return x;
  }
}

void carom_observer_sample(carom_observer *o, const carom_state *state) {
  const carom_program *p = o->program;
  o->last_time = o->time;
  o->time = state->time;
  if (o->samples == 0) o->start = o->last_time = o->time;
  read_sources(o, state);
  for (int i = 0; i < p->node_count; i++) {
    const carom_program_node *n = &p->nodes[i];
    double x = carom_formula_value(n->formula, o->slots);
    o->slots[n->slot] = n->reducer < 0 ? x : reduce(o, (carom_reducer)n->reducer, x, &o->memory[2 * i]);
  }
  o->samples++;
}

void carom_observer_finish(carom_observer *o) {
  const carom_program *p = o->program;
  for (int i = 0; i < p->node_count; i++)
    if (p->nodes[i].reducer < 0) o->slots[p->nodes[i].slot] = carom_formula_value(p->nodes[i].formula, o->slots);
}
