// What pushes are made of: definitions, poses, goals, and the pusher's scratch.
#include "control/push.h"

#include <math.h>

#include "base/memory.h"
#include "model/support.h"

const char *carom_push_ending_name(carom_push_ending ending) {
  static const char *const names[] = {"done", "goal", "jam", "damage", "switch", "failed"};
  return (unsigned)ending < sizeof names / sizeof *names ? names[ending] : "unknown";
}

// ---- poses and goals ------------------------------------------------------------------------------------------------

static const double TURN = 6.283185307179586476925;

static double wrapped(double angle) { return remainder(angle, TURN); }

void carom_push_pose(const carom_model *model, const carom_state *state, int body, double pose[3]) {
  carom_pose p = carom_state_pose(model, state, body);
  carom_vec3 x = cm_rotate(p.q, cm_vec3(1, 0, 0));
  pose[0] = p.p.x, pose[1] = p.p.y, pose[2] = atan2(x.y, x.x);
}

// By the turn that is missing about z, so that bodies keep what other attitude they have.
void carom_push_set_pose(const carom_model *model, carom_state *state, int body, const double pose[3]) {
  double now[3];
  carom_pose p = carom_state_pose(model, state, body);
  carom_push_pose(model, state, body, now);
  p.p.x = pose[0], p.p.y = pose[1];
  p.q = cm_qunit(cm_qmul(cm_exp(cm_vec3(0, 0, wrapped(pose[2] - now[2]))), p.q));
  carom_state_set_pose(model, state, body, p);
}

bool carom_push_goal_met(const carom_model *model, const carom_state *state, const carom_push_goal *goal) {
  double pose[3];
  if (!goal || goal->body < 0) return false;
  carom_push_pose(model, state, goal->body, pose);
  return hypot(pose[0] - goal->position.x, pose[1] - goal->position.y) <= goal->distance &&
         fabs(wrapped(pose[2] - goal->angle)) <= goal->turn;
}

// ---- the definition -------------------------------------------------------------------------------------------------

carom_pusher_def carom_pusher_default(void) {
  return (carom_pusher_def){.step = 0.02, .settle_all = 0.5, .force_limit = INFINITY, .goal = {.body = -1}};
}

static carom_status check_numbers(const carom_pusher_def *def, carom_error *error) {
  bool shares = def->settle >= 0 && def->settle < 1 && def->settle_all >= 0 && def->settle_all < 1;
  if (!(def->step > 0 && isfinite(def->step)))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: the step is %g s, expected more than 0", def->step);
  if (!shares)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: settle is %g and settle_all %g, expected shares in [0, 1)",
                      def->settle, def->settle_all);
  if (!(def->force_limit > 0))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: the force limit is %g N, expected more than 0",
                      def->force_limit);
  return CAROM_OK;
}

static carom_status check_probes(const carom_pusher_def *def, carom_error *error) {
  const carom_model *m = def->model;
  if (def->probe_count < 1 || def->probe_count > CAROM_PUSH_PROBES)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: %d probes, expected 1 to %d", def->probe_count,
                      CAROM_PUSH_PROBES);
  for (int i = 0; i < def->probe_count; i++) {
    int body = def->probes[i];
    if (body < 0 || body >= m->body_count)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: probe %d is body %d, and the model has %d bodies", i, body,
                        m->body_count);
    if (!m->bodies[body].fixed)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: probe '%s' moves freely; make it a fixed body",
                        m->bodies[body].name);
    for (int j = 0; j < i; j++)
      if (def->probes[j] == body)
        return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: '%s' is named twice among the probes",
                          m->bodies[body].name);
  }
  return CAROM_OK;
}

static carom_status check_model(const carom_model *m, carom_error *error) {
  if (!m->planar)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: pushes are for planar models; make the model planar");
  const char *what = m->joint_count > 0      ? "joints"
                     : m->drive_count > 0    ? "driven bodies"
                     : m->boundary_count > 0 ? "boundaries"
                     : m->input_count > 0    ? "inputs"
                                             : NULL;
  if (what)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "pusher: the model has %s, which pushes do not know; leave them out", what);
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed && (m->support_count == 0 || m->supports[i].kind == CAROM_SUPPORT_NONE))
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "pusher: body '%s' has no support, so that nothing tells how it gives way; give it one, or fix "
                        "it",
                        m->bodies[i].name);
  return CAROM_OK;
}

// ---- the scratch ----------------------------------------------------------------------------------------------------

static void lay_out(void *owner, carom_arena *arena) {
  carom_pusher *p = owner;
  carom_vec3 **const vectors[] = {&p->driven.v, &p->driven.w, &p->was.v, &p->was.w};
  for (int i = 0; i < 4; i++) *vectors[i] = CAROM_PUSH(arena, carom_vec3, p->def.model->body_count);
}

carom_status carom_pusher_create(const carom_pusher_def *def, const carom_allocator *allocator, carom_pusher **pusher,
                                 carom_error *error) {
  *pusher = NULL;
  if (!def || !def->model) return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: a model is missing");
  carom_status status = check_numbers(def, error);
  if (status == CAROM_OK) status = check_model(def->model, error);
  if (status == CAROM_OK) status = check_probes(def, error);
  if (status != CAROM_OK) return status;
  const carom_pusher initial = {.def = *def, .friction = 1};
  carom_pusher *p = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!p) return CAROM_ERR_MEMORY;
  status = carom_quasi_create(def->model, allocator, &p->quasi, error);
  if (status != CAROM_OK)
    carom_pusher_destroy(p);
  else
    *pusher = p;
  return status;
}

void carom_pusher_destroy(carom_pusher *p) {
  if (!p) return;
  carom_quasi_destroy(p->quasi);
  carom_push_cone_release(&p->cone, &p->arena.allocator);
  carom_state_destroy(p->origin);
  carom_state_destroy(p->other);
  CAROM_RELEASE_ALL(&p->arena.allocator, p->before.list, p->pattern.list, p->here.list, p->modes, p->told);
  carom_object_destroy(p);
}

const carom_pusher_def *carom_pusher_definition(const carom_pusher *pusher) { return &pusher->def; }

carom_status carom_pusher_set_support(carom_pusher *pusher, int body, const carom_support *support,
                                      carom_error *error) {
  const carom_model *m = pusher->def.model;
  double inverse[6][6];
  if (body < 0 || body >= m->body_count || m->bodies[body].fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: body %d has no support that could be set", body);
  const carom_support *s = support ? support : &m->supports[body];
  if (s->kind == CAROM_SUPPORT_NONE || carom_support_invert(s->matrix, true, inverse) != CAROM_OK)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: the matrix of the support for '%s' is not positive definite",
                      m->bodies[body].name);
  pusher->quasi->supports[body] = *s;
  return CAROM_OK;
}

carom_status carom_pusher_set_friction(carom_pusher *pusher, double factor, carom_error *error) {
  if (!(factor >= 0 && isfinite(factor)))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pusher: the factor on friction is %g, expected 0 or more", factor);
  pusher->friction = factor;
  return CAROM_OK;
}

void carom_pusher_set_goal(carom_pusher *pusher, const carom_push_goal *goal) {
  pusher->def.goal = goal ? *goal : (carom_push_goal){.body = -1};
}

void carom_pusher_listen(carom_pusher *pusher, const carom_push_listener *listener) {
  pusher->listener = listener ? *listener : (carom_push_listener){0};
}
