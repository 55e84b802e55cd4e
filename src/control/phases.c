// What changes on the way: events at which joints begin and end, periodic motions, and clearances.
#include <string.h>

#include "base/memory.h"
#include "carom/mechanics.h"
#include "control/plan.h"
#include "model/model.h"

carom_periodic_def carom_periodic_default(void) {
  return (carom_periodic_def){.mirror = -1, .map = cm_pose_identity()};
}
carom_clearance_def carom_clearance_default(void) {
  return (carom_clearance_def){.normal = {0, 1, 0}, .until = CAROM_LAST_NODE};
}

// ---- events --------------------------------------------------------------------------------------------------------

static bool check_listed(carom_plan *plan, const int *joints, int count, bool caught) {
  for (int i = 0; i < count; i++) {
    if (joints[i] < 0 || joints[i] >= plan->joint_count) {
      carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "an event names joint %d, but there are %d", joints[i],
                        plan->joint_count);
      return false;
    }
    const carom_plan_joint *j = &plan->joints[joints[i]];
    if (caught && j->caught < 0 && j->released >= 0) {
      carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "joint '%.60s' is released before it is caught: give two joints",
                        j->name);
      return false;
    }
    if ((caught ? j->caught : j->released) < 0) continue;
    carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "joint '%.60s' is %s twice: give it once, or two joints", j->name,
                      caught ? "caught" : "released");
    return false;
  }
  return true;
}

static bool check_at_once(carom_plan *plan, const carom_plan_event_def *def, int node) {
  for (int i = 0; i < def->caught_count; i++)
    for (int k = 0; k < def->released_count; k++)
      if (def->caught[i] == def->released[k]) {
        carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "joint '%.60s' is caught and released at once, at node %d",
                          plan->joints[def->caught[i]].name, node);
        return false;
      }
  return true;
}

static bool check_event(carom_plan *plan, const carom_plan_event_def *def, int node) {
  int after = plan->event_count ? plan->events[plan->event_count - 1].node : 0;
  const char *wrong = NULL;
  if (node <= after || node > plan->def.intervals) wrong = "expected nodes in ascending order, up to the last one";
  if (carom_plan_contact_at(plan, node)) wrong = "there is a planned contact: put them at different nodes";
  if (def->caught_count + def->released_count == 0) wrong = "it neither catches nor releases a joint";
  if (wrong) carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "an event at node %d: %s", node, wrong);
  return !wrong && check_listed(plan, def->caught, def->caught_count, true) &&
         check_listed(plan, def->released, def->released_count, false) && check_at_once(plan, def, node);
}

int carom_plan_add_event(carom_plan *plan, const carom_plan_event_def *def) {
  int node = def->node == CAROM_LAST_NODE ? plan->def.intervals : def->node;
  if (!check_event(plan, def, node)) return -1;
  if (!carom_grow(&plan->allocator, (void **)&plan->events, plan->event_count, &plan->event_capacity,
                  sizeof *plan->events))
    return carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a plan");
  for (int i = 0; i < def->caught_count; i++) plan->joints[def->caught[i]].caught = plan->event_count;
  for (int i = 0; i < def->released_count; i++) plan->joints[def->released[i]].released = plan->event_count;
  plan->events[plan->event_count] = (carom_plan_event){.node = node, .last = node == plan->def.intervals};
  return plan->event_count++;
}

// ---- periodic motions ----------------------------------------------------------------------------------------------

static carom_vec3 mirrored(int axis, carom_vec3 v) {
  return cm_vec3(axis == 0 ? -v.x : v.x, axis == 1 ? -v.y : v.y, axis == 2 ? -v.z : v.z);
}

// The inertia of a body in the frame of the user.
static carom_mat3 user_inertia(const carom_body *b) {
  carom_mat3 R = cm_rotation(cm_qconj(b->frame.q));
  return cm_mmul(cm_mmul(R, cm_diag3(b->inertia.x, b->inertia.y, b->inertia.z)), cm_transpose(R));
}

// Whether a body is like another, or like its mirror image: centre of mass and inertia in the user's frames.
static bool alike(const carom_body *a, const carom_body *b, int mirror) {
  carom_vec3 ca = cm_pose_inverse(a->frame).p, cb = mirrored(mirror, cm_pose_inverse(b->frame).p);
  carom_mat3 A = user_inertia(a), B = user_inertia(b);
  double size = a->inertia.x + a->inertia.y + a->inertia.z, off = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sign = (i == mirror) != (j == mirror) ? -1 : 1;
      off = fmax(off, fabs(A.m[i][j] - sign * B.m[i][j]));
    }
  double length = sqrt(size / a->mass);
  return fabs(a->mass - b->mass) <= 1e-9 * a->mass && cm_norm(cm_sub(ca, cb)) <= 1e-9 * length && off <= 1e-9 * size;
}

static bool check_pair(carom_plan *plan, const int pair[2], const bool *taken) {
  const carom_body *bodies = plan->model->bodies;
  for (int i = 0; i < 2; i++) {
    if (pair[i] < 0 || pair[i] >= plan->model->body_count) {
      carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a swap names body %d, but there are %d", pair[i],
                        plan->model->body_count);
      return false;
    }
    if (bodies[pair[i]].fixed) {
      carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a swap of body '%.60s', which does not move", bodies[pair[i]].name);
      return false;
    }
    if (!taken[pair[i]] && pair[0] != pair[1]) continue;
    carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                      "body '%.60s' is swapped twice: each body takes the place of one other, in one pair",
                      bodies[pair[i]].name);
    return false;
  }
  return true;
}

static bool check_alike(carom_plan *plan, const carom_periodic_def *def) {
  const carom_body *bodies = plan->model->bodies;
  for (int i = 0; i < plan->model->body_count; i++) {
    if (bodies[i].fixed || alike(&bodies[i], &bodies[plan->partner[i]], def->mirror)) continue;
    carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                      "body '%.60s' takes the place of '%.60s' but is not like it%s: their masses, centres and inertias "
                      "must agree",
                      bodies[i].name, bodies[plan->partner[i]].name, def->mirror < 0 ? "" : " (mirrored)");
    return false;
  }
  return true;
}

static bool set_partners(carom_plan *plan, const carom_periodic_def *def) {
  bool *taken = CAROM_NEW(&plan->allocator, bool, plan->model->body_count + 1);
  bool good = taken != NULL;
  if (!taken) carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a plan");
  for (int i = 0; good && i < plan->model->body_count; i++) plan->partner[i] = i;
  for (int i = 0; good && i < def->swap_count; i++) {
    const int *pair = def->swap[i];
    good = check_pair(plan, pair, taken);
    if (!good) break;
    taken[pair[0]] = taken[pair[1]] = true;
    plan->partner[pair[0]] = pair[1], plan->partner[pair[1]] = pair[0];
  }
  carom_release(&plan->allocator, taken);
  return good && check_alike(plan, def);
}

static bool check_map(carom_plan *plan, const carom_periodic_def *def) {
  const char *wrong = NULL;
  if (def->mirror < -1 || def->mirror > 2) wrong = "the mirror is x, y, z or none";
  if (!(cm_qdot(def->map.q, def->map.q) > 0) || !isfinite(cm_norm(def->map.p))) wrong = "the map needs numbers";
  if (!(def->reach.x >= 0 && def->reach.y >= 0 && def->reach.z >= 0)) wrong = "the reach must not be negative";
  if (wrong) carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a periodic motion: %s", wrong);
  return !wrong;
}

int carom_plan_set_periodic(carom_plan *plan, const carom_periodic_def *def) {
  if (plan->periodic.set) return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a motion is periodic in one way only");
  if (!check_map(plan, def) || !set_partners(plan, def)) return -1;
  plan->periodic = (carom_plan_periodic){.set = true, .def = *def, .found = def->map.p};
  plan->periodic.def.swap = NULL;
  plan->periodic.def.map.q = cm_qunit(def->map.q);
  carom_vec3 any = cm_vec3(INFINITY, INFINITY, INFINITY);
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed && !plan->free_starts[i].free)
      plan->free_starts[i] = (carom_free_start){true, true, any, any, any};
  return 0;
}

carom_vec3 carom_plan_shift(const carom_plan *plan) { return plan->periodic.set ? plan->periodic.found : cm_zero3(); }

// Rotations are pseudo-vectors.
static carom_quat mirrored_turn(int axis, carom_quat q) {
  carom_vec3 u = mirrored(axis, cm_vec3(q.x, q.y, q.z));
  return axis < 0 ? q : cm_quat(q.w, -u.x, -u.y, -u.z);
}

carom_pose carom_periodic_pose(const carom_plan *plan, int body, carom_pose other) {
  const carom_periodic_def *d = &plan->periodic.def;
  const carom_body *bodies = plan->model->bodies;
  carom_quat user = mirrored_turn(d->mirror, cm_qmul(other.q, bodies[plan->partner[body]].frame.q));
  carom_quat q = cm_qmul(cm_qmul(d->map.q, user), cm_qconj(bodies[body].frame.q));
  return cm_pose(cm_add(plan->periodic.found, cm_rotate(d->map.q, mirrored(d->mirror, other.p))), cm_qunit(q));
}

carom_turned carom_unwrap(const carom_plan *plan, int body, carom_turned of) {
  const carom_periodic_def *d = &plan->periodic.def;
  const carom_body *bodies = plan->model->bodies;
  carom_quat user = cm_qmul(cm_qconj(d->map.q), cm_qmul(of.q, bodies[plan->partner[body]].frame.q));
  double handed = d->mirror < 0 ? 1 : -1;
  return (carom_turned){.x = mirrored(d->mirror, cm_unrotate(d->map.q, of.x)),
                        .q = cm_qmul(mirrored_turn(d->mirror, user), cm_qconj(bodies[body].frame.q)),
                        .p = mirrored(d->mirror, cm_unrotate(d->map.q, of.p)),
                        .l = cm_scale(handed, mirrored(d->mirror, cm_unrotate(d->map.q, of.l)))};
}

void carom_plan_wrap(const carom_plan *plan, carom_state *state) {
  carom_state *now = plan->scratch;
  if (!plan->periodic.set) return;
  carom_state_copy(now, state);
  for (int i = 0; i < plan->model->body_count; i++) {
    if (plan->model->bodies[i].fixed) continue;
    int of = plan->partner[i];
    carom_turned t = carom_unwrap(
        plan, i, (carom_turned){cm_sub(now->x[of], plan->periodic.found), now->q[of], now->p[of], now->l[of]});
    state->x[i] = t.x, state->q[i] = cm_qunit(t.q), state->p[i] = t.p, state->l[i] = t.l;
  }
}

// ---- clearances ----------------------------------------------------------------------------------------------------

int carom_plan_add_clearance(carom_plan *plan, const carom_clearance_def *def) {
  int last = plan->def.intervals, until = def->until == CAROM_LAST_NODE ? last : def->until;
  if (def->body < 0 || def->body >= plan->model->body_count || plan->model->bodies[def->body].fixed)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a clearance needs a body that moves");
  if (cm_norm(def->normal) == 0 || !isfinite(def->offset) || !isfinite(def->bump))
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a clearance needs a normal, an offset and a bump");
  if (def->from < 0 || until > last || def->from >= until)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a clearance from node %d to %d: expected 0 <= from < until <= %d",
                             def->from, until, last);
  if (!carom_grow(&plan->allocator, (void **)&plan->clearances, plan->clearance_count, &plan->clearance_capacity,
                  sizeof *plan->clearances))
    return carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a plan");
  carom_clearance_def *c = &plan->clearances[plan->clearance_count];
  *c = *def;
  c->normal = cm_unit(def->normal);
  c->point = cm_transform(plan->model->bodies[def->body].frame, def->point);
  return plan->clearance_count++;
}

// ---- the answer ----------------------------------------------------------------------------------------------------

int carom_plan_joint_count(const carom_plan *plan) { return plan->joint_count; }
int carom_plan_event_count(const carom_plan *plan) { return plan->event_count; }
int carom_plan_event_node(const carom_plan *plan, int event) { return carom_event_node(plan, &plan->events[event]); }

static carom_vec3 multiplier_at(const carom_plan *plan, const double *lambda, int row, int joint) {
  const double *z = lambda + (size_t)row * (size_t)carom_plan_multipliers(plan) + plan->joints[joint].offset;
  return cm_vec3(z[0], z[1], z[2]);
}

carom_vec3 carom_plan_event_impulse(const carom_plan *plan, int event, int joint) {
  if (!carom_joint_holds(plan, &plan->joints[joint], carom_plan_event_node(plan, event))) return cm_zero3();
  return multiplier_at(plan, plan->path.impulse, event, joint);
}

// The multiplier of a node stands for half the interval before and half the one after; at an event each side has its own.
carom_vec3 carom_plan_joint_force(const carom_plan *plan, int node, int joint) {
  const carom_plan_event *e = carom_plan_event_at(plan, node);
  bool before = node > 0 && carom_joint_holds(plan, &plan->joints[joint], node - 1);
  bool after = node < plan->path.K && carom_joint_holds(plan, &plan->joints[joint], node);
  carom_vec3 sum = cm_zero3();
  double time = 0;
  if (after || (before && !e && node == plan->path.K)) sum = multiplier_at(plan, plan->path.lambda, node, joint);
  if (before && e) sum = cm_add(sum, multiplier_at(plan, plan->path.hold, (int)(e - plan->events), joint));
  if (before) time += 0.5 * carom_plan_step(plan, node - 1);
  if (after) time += 0.5 * carom_plan_step(plan, node);
  return time > 0 ? cm_scale(1 / time, sum) : cm_zero3();
}

const carom_vec3 *carom_node_block(const carom_plan *plan, int node, bool after) {
  const carom_plan_event *e = carom_plan_event_at(plan, node);
  if (e) return carom_path_block(plan, &plan->path, (int)(e - plan->events), after ? CAROM_AFTER : CAROM_BEFORE);
  return carom_path_block(plan, &plan->path, 0, node == 0 ? CAROM_START : CAROM_END);
}

double carom_node_energy(const carom_plan *plan, int node, bool after) {
  carom_state *s = plan->scratch;
  const carom_vec3 *block = carom_node_block(plan, node, after);
  size_t n = (size_t)plan->model->body_count;
  for (size_t i = 0; i < n; i++) {
    s->x[i] = plan->path.x[(size_t)node * n + i], s->q[i] = plan->path.q[(size_t)node * n + i];
    s->p[i] = block[2 * i], s->l[i] = block[2 * i + 1];
  }
  return carom_kinetic_energy(plan->model, s) + carom_potential_energy(plan->model, s);
}

double carom_event_loss(const carom_plan *plan, int event) {
  int node = carom_plan_event_node(plan, event);
  return carom_node_energy(plan, node, false) - carom_node_energy(plan, node, true);
}

double carom_energy_change(const carom_plan *plan) {
  return carom_node_energy(plan, plan->path.K, false) - carom_node_energy(plan, 0, true);
}
