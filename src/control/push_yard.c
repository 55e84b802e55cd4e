// What planning knows of the world: the sides of the part that probes can reach, where probes find a place, and what
// becomes of a push, also from where else the part may be.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/outline.h"
#include "collide/support.h"
#include "control/plan.h"
#include "control/push_tree.h"
#include "model/size.h"

enum { ROUND_SIDES = 32 };            // of a side that is round
static const double KEEP = 2e-3;      // over the extent
static const double BORE = 0.2;       // a way that ends in a jam counts up to this share before it...
static const double LEAST_WAY = 0.3;  // ...if this share of its duration is left

double carom_push_wrap(double angle) { return remainder(angle, 2 * acos(-1)); }

double carom_push_distance(const carom_push_yard *yard, const double a[3], const double b[3]) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), yard->turn_length * carom_push_wrap(a[2] - b[2]));
}

// ---- the sides of the part -----------------------------------------------------------------------------------------

static bool add_side(carom_push_yard *yard, const double from[2], const double to[2]) {
  double length = hypot(to[0] - from[0], to[1] - from[1]);
  if (!(length > 1e-9 * yard->extent)) return true;
  if (!carom_grow(&yard->allocator, (void **)&yard->sides, yard->side_count, &yard->side_capacity, sizeof *yard->sides))
    return false;
  carom_push_side *s = &yard->sides[yard->side_count++];
  *s = (carom_push_side){.at = {from[0], from[1]}, .length = length};
  s->along[0] = (to[0] - from[0]) / length, s->along[1] = (to[1] - from[1]) / length;
  s->normal[0] = s->along[1], s->normal[1] = -s->along[0];
  return true;
}

static carom_vec3 in_body_frame(const carom_push_yard *yard, const carom_part *part, carom_vec3 r) {
  return cm_untransform(yard->def->pusher.model->bodies[yard->body].frame, cm_transform(part->pose, r));
}

static void corners_of_polytope(const carom_push_yard *yard, const carom_part *part, carom_outline *o) {
  const carom_polytope *p = carom_shape_polytope(part->shape);
  o->count = 0;
  for (int i = 0; i < p->vertex_count && o->count < 2 * CAROM_OUTLINE_MAX; i++) {
    carom_vec3 r = in_body_frame(yard, part, p->vertices[i]);
    o->at[o->count++] = (carom_flat){r.x, r.y};
  }
}

static void corners_of_round(const carom_push_yard *yard, const carom_part *part, carom_outline *o) {
  carom_placed placed = {part->shape, part->pose};
  carom_supporter s;
  carom_supporter_place(&s, &placed);
  o->count = 0;
  for (int i = 0; i < ROUND_SIDES; i++) {
    double angle = 2 * acos(-1) * i / ROUND_SIDES;
    int vertex;
    carom_vec3 low = cm_add(s.p, carom_support_lowest(&s, cm_vec3(cos(angle), sin(angle), 0), &vertex));
    low = cm_untransform(yard->def->pusher.model->bodies[yard->body].frame, low);
    o->at[o->count++] = (carom_flat){low.x, low.y};
  }
}

static bool sides_of_part(carom_push_yard *yard, const carom_part *part) {
  carom_outline o;
  bool flat = carom_shape_get_kind(part->shape) == CAROM_SHAPE_POLYTOPE;
  double radius = flat ? carom_shape_radius(part->shape) : 0;
  if (flat)
    corners_of_polytope(yard, part, &o);
  else
    corners_of_round(yard, part, &o);
  carom_outline_hull(&o, 1e-9 * yard->extent);
  for (int i = 0; i < o.count; i++) {
    carom_flat a = o.at[i], b = o.at[(i + 1) % o.count];
    double length = hypot(b.u - a.u, b.v - a.v);
    double nx = length > 0 ? (b.v - a.v) / length : 0, ny = length > 0 ? -(b.u - a.u) / length : 0;
    const double from[2] = {a.u + radius * nx, a.v + radius * ny}, to[2] = {b.u + radius * nx, b.v + radius * ny};
    if (!add_side(yard, from, to)) return false;
  }
  return true;
}

static carom_status find_sides(carom_push_yard *yard, carom_error *error) {
  const carom_model *model = yard->def->pusher.model;
  const carom_body *body = &model->bodies[yard->body];
  for (int i = 0; i < body->part_count; i++)
    if (!sides_of_part(yard, &model->parts[body->part_start + i]))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of pushes");
  if (yard->side_count) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_GEOMETRY, "body '%s' has no side that a probe could push", body->name);
}

// ---- gaps ----------------------------------------------------------------------------------------------------------

static carom_pose pose_in_plane(const carom_push_yard *yard, int body, const double pose[3]) {
  carom_pose user = {cm_vec3(pose[0], pose[1], yard->state->x[body].z),
                     cm_quat(cos(0.5 * pose[2]), 0, 0, sin(0.5 * pose[2]))};
  return carom_principal_pose(yard->def->pusher.model, body, user);
}

// Of two bodies at poses of their principal frames: the least of their parts.
static double gap_between(const carom_model *model, int a, carom_pose pose_a, int b, carom_pose pose_b) {
  double least = INFINITY;
  for (int i = 0; i < model->bodies[a].part_count; i++)
    for (int k = 0; k < model->bodies[b].part_count; k++) {
      const carom_part *p = &model->parts[model->bodies[a].part_start + i];
      const carom_part *q = &model->parts[model->bodies[b].part_start + k];
      carom_placed left = {p->shape, cm_compose(pose_a, p->pose)}, right = {q->shape, cm_compose(pose_b, q->pose)};
      carom_distance_result r;
      if (carom_distance(&left, &right, NULL, &r) != CAROM_OK) return -INFINITY;
      least = fmin(least, r.distance);
    }
  return least;
}

static carom_pose probe_pose(const carom_push_yard *yard, int probe, const double at[2]) {
  int body = yard->def->pusher.probes[probe];
  carom_vec3 origin =
      cm_transform(cm_pose(yard->state->x[body], yard->state->q[body]), yard->def->pusher.model->bodies[body].frame.p);
  carom_pose pose = {yard->state->x[body], yard->state->q[body]};
  pose.p.x += at[0] - origin.x, pose.p.y += at[1] - origin.y;
  return pose;
}

double carom_push_probe_gap(const carom_push_yard *yard, int probe, const double at[2], const double pose[3]) {
  return gap_between(yard->def->pusher.model, yard->def->pusher.probes[probe], probe_pose(yard, probe, at), yard->body,
                     pose_in_plane(yard, yard->body, pose));
}

static bool is_probe(const carom_push_yard *yard, int body) {
  for (int i = 0; i < yard->def->pusher.probe_count; i++)
    if (yard->def->pusher.probes[i] == body) return true;
  return false;
}

// Of a body from all that is neither a probe nor the part.
static double wall_gap(const carom_push_yard *yard, int body, carom_pose pose) {
  const carom_model *model = yard->def->pusher.model;
  double least = INFINITY;
  for (int i = 0; i < model->body_count; i++)
    if (i != yard->body && !is_probe(yard, i))
      least = fmin(least, gap_between(model, body, pose, i, cm_pose(yard->def->start->x[i], yard->def->start->q[i])));
  return least;
}

double carom_push_wall_gap(const carom_push_yard *yard, int probe, const double at[2]) {
  return wall_gap(yard, yard->def->pusher.probes[probe], probe_pose(yard, probe, at));
}

double carom_push_part_gap(const carom_push_yard *yard, const double pose[3]) {
  return wall_gap(yard, yard->body, pose_in_plane(yard, yard->body, pose));
}

double carom_push_probe_reach(const carom_push_yard *yard, int probe, const double direction[2]) {
  const carom_model *model = yard->def->pusher.model;
  const carom_body *body = &model->bodies[yard->def->pusher.probes[probe]];
  carom_vec3 d = cm_vec3(direction[0], direction[1], 0);
  const double origin[2] = {0, 0};
  carom_pose pose = probe_pose(yard, probe, origin);  // its frame at the origin of the world
  double most = 0;
  for (int i = 0; i < body->part_count; i++) {
    const carom_part *part = &model->parts[body->part_start + i];
    carom_placed placed = {part->shape, cm_compose(pose, part->pose)};
    carom_supporter s;
    carom_supporter_place(&s, &placed);
    int vertex;
    most = fmax(most, cm_dot(d, cm_add(s.p, carom_support_lowest(&s, cm_neg(d), &vertex))));
  }
  return most;
}

double carom_push_probe_friction(const carom_push_yard *yard, int probe) {
  double mu = carom_model_surface(yard->def->pusher.model, yard->body, yard->def->pusher.probes[probe]).friction;
  return mu * (1 - yard->def->box.friction);
}

// ---- the flock -----------------------------------------------------------------------------------------------------

static bool withstands(const carom_push_yard *yard) { return yard->def->robustness != CAROM_PUSH_PLAN_NOMINAL; }

void carom_push_yard_look_closely(carom_push_yard *yard, bool closely) {
  yard->pusher = closely ? yard->fine : yard->coarse;
}

// All corners of the box for the pose, each with more or with less friction, so that neighbours differ in it: half of
// the corners of the whole box.
carom_push_flock carom_push_yard_flock(const carom_push_yard *yard) {
  const carom_push_box *box = &yard->def->box;
  carom_push_flock flock = {.count = withstands(yard) ? CAROM_PUSH_FLOCK : 1};
  for (int i = 0; i < flock.count; i++) {
    carom_push_pose(yard->def->pusher.model, yard->def->start, yard->body, flock.pose[i]);
    flock.friction[i] = 1;
    int odd = 0;
    for (int k = 0; k < 3 && i > 0; k++) {
      int sign = ((i - 1) >> k) & 1;
      odd ^= sign;
      flock.pose[i][k] += sign ? box->half[k] : -box->half[k];
    }
    if (i > 0) flock.friction[i] = odd ? 1 + box->friction : 1 - box->friction;
  }
  return flock;
}

void carom_push_spread(const carom_push_flock *flock, double spread[3]) {
  for (int k = 0; k < 3; k++) spread[k] = 0;
  for (int i = 1; i < flock->count; i++) {
    for (int k = 0; k < 2; k++) spread[k] = fmax(spread[k], fabs(flock->pose[i][k] - flock->pose[0][k]));
    spread[2] = fmax(spread[2], fabs(carom_push_wrap(flock->pose[i][2] - flock->pose[0][2])));
  }
}

bool carom_push_yard_in_goal(const carom_push_yard *yard, const carom_push_flock *flock) {
  const carom_push_goal *goal = &yard->def->pusher.goal;
  for (int i = 0; i < flock->count; i++) {
    const double *p = flock->pose[i];
    if (!(hypot(p[0] - yard->goal[0], p[1] - yard->goal[1]) <= goal->distance)) return false;
    if (!(fabs(carom_push_wrap(p[2] - yard->goal[2])) <= goal->turn)) return false;
  }
  return true;
}

// ---- pushes --------------------------------------------------------------------------------------------------------

typedef carom_status push_runner(carom_pusher *pusher, const carom_push *push, carom_state *state,
                                 carom_push_result *result, carom_error *error);

static carom_status run_one(carom_push_yard *yard, push_runner *runner, const carom_push *push, double pose[3],
                            double friction, carom_push_result *result, carom_error *error) {
  const carom_model *model = yard->def->pusher.model;
  carom_state_copy(yard->state, yard->def->start);
  carom_push_set_pose(model, yard->state, yard->body, pose);
  carom_status status = carom_pusher_set_friction(yard->pusher, friction, error);
  if (status == CAROM_OK) status = runner(yard->pusher, push, yard->state, result, error);
  if (status == CAROM_OK) carom_push_pose(model, yard->state, yard->body, pose);
  return status;
}

static bool well_ended(carom_push_ending ending) { return ending == CAROM_PUSH_DONE || ending == CAROM_PUSH_GOAL; }

// A push that cannot begin is one that is not usable; only memory and the like end the planning.
static carom_status not_begun(carom_status status, carom_push_outcome *outcome) {
  if (status != CAROM_ERR_GEOMETRY && status <= CAROM_OK) return status;
  outcome->usable = false, outcome->why = CAROM_PUSH_FAILED;
  return CAROM_OK;
}

static push_runner *runner_of(const carom_push_yard *yard) {
  return yard->def->robustness == CAROM_PUSH_PLAN_MODES ? carom_pusher_check : carom_pusher_run;
}

carom_status carom_push_yard_run(carom_push_yard *yard, carom_push *push, carom_push_flock *flock,
                                 carom_push_outcome *outcome, carom_error *error) {
  carom_push_result result;
  double before[3];
  memcpy(before, flock->pose[0], sizeof before);
  *outcome = (carom_push_outcome){0};
  carom_status status = run_one(yard, runner_of(yard), push, flock->pose[0], flock->friction[0], &result, error);
  if (status != CAROM_OK) return not_begun(status, outcome);
  outcome->usable = well_ended(result.ending), outcome->why = result.ending;
  outcome->touched = result.touch < push->duration;
  double cut = result.time - BORE * (result.time - result.touch);
  if (outcome->usable || !outcome->touched || !(cut > LEAST_WAY * push->duration)) return CAROM_OK;
  push->duration = cut;  // what went well before
  memcpy(flock->pose[0], before, sizeof before);
  status = run_one(yard, runner_of(yard), push, flock->pose[0], flock->friction[0], &result, error);
  if (status != CAROM_OK) return not_begun(status, outcome);
  outcome->usable = well_ended(result.ending);
  return CAROM_OK;
}

carom_status carom_push_yard_replay(carom_push_yard *yard, const carom_push *push, carom_push_flock *flock,
                                    carom_push_outcome *outcome, carom_error *error) {
  carom_push_result result;
  carom_status status = run_one(yard, carom_pusher_run, push, flock->pose[0], flock->friction[0], &result, error);
  if (status != CAROM_OK) return not_begun(status, outcome);
  *outcome = (carom_push_outcome){well_ended(result.ending), false, result.ending, result.touch < push->duration};
  return CAROM_OK;
}

// Modes are checked against those of the nominal pose.
static carom_status follow_in_modes(carom_push_yard *yard, const carom_push *push, const carom_push_flock *before,
                                    carom_push_flock *flock, carom_push_outcome *outcome, carom_error *error) {
  const carom_model *model = yard->def->pusher.model;
  carom_push_starts starts = {.body = yard->body, .count = before->count - 1};
  for (int i = 1; i < before->count; i++) {
    memcpy(starts.start[i - 1].pose, before->pose[i], sizeof before->pose[i]);
    starts.start[i - 1].friction = before->friction[i];
  }
  carom_state_copy(yard->state, yard->def->start);
  carom_push_set_pose(model, yard->state, yard->body, before->pose[0]);
  carom_push_verdict verdict;
  carom_status status = carom_pusher_set_friction(yard->pusher, before->friction[0], error);
  if (status == CAROM_OK) status = carom_pusher_check_all(yard->pusher, push, yard->state, &starts, &verdict, error);
  if (status != CAROM_OK) return not_begun(status, outcome);
  outcome->usable = verdict.robust, outcome->why = verdict.other.ending;
  for (int i = 1; i < before->count; i++) memcpy(flock->pose[i], starts.start[i - 1].pose, sizeof flock->pose[i]);
  return CAROM_OK;
}

carom_status carom_push_yard_follow(carom_push_yard *yard, const carom_push *push, const carom_push_flock *before,
                                    carom_push_flock *flock, carom_push_outcome *outcome, carom_error *error) {
  outcome->usable = true;
  carom_status status = CAROM_OK;
  if (yard->def->robustness == CAROM_PUSH_PLAN_MODES) {
    status = follow_in_modes(yard, push, before, flock, outcome, error);
  } else {
    for (int i = 1; i < before->count && outcome->usable && status == CAROM_OK; i++) {
      carom_push_result result = {0};
      memcpy(flock->pose[i], before->pose[i], sizeof flock->pose[i]);
      status = run_one(yard, carom_pusher_run, push, flock->pose[i], before->friction[i], &result, error);
      if (status != CAROM_OK) return not_begun(status, outcome);
      outcome->usable = well_ended(result.ending), outcome->why = result.ending;
    }
  }
  outcome->goal = status == CAROM_OK && outcome->usable && carom_push_yard_in_goal(yard, flock);
  return status;
}

// ---- life ----------------------------------------------------------------------------------------------------------

static void lay_out(carom_push_yard *yard) {
  const carom_push_plan_def *def = yard->def;
  const carom_push_goal *goal = &def->pusher.goal;
  double start[3];
  carom_push_pose(def->pusher.model, def->start, yard->body, start);
  yard->goal[0] = goal->position.x, yard->goal[1] = goal->position.y, yard->goal[2] = goal->angle;
  yard->extent = carom_body_radius(&def->pusher.model->bodies[yard->body]);
  yard->turn_length = def->turn_length > 0 ? def->turn_length : yard->extent;
  yard->longest = def->longest > 0 ? def->longest : 4 * yard->extent;
  yard->keep = KEEP * yard->extent;
  double apart = hypot(start[0] - yard->goal[0], start[1] - yard->goal[1]);
  double reach = def->reach > 0 ? def->reach : apart + 2 * yard->extent;
  for (int k = 0; k < 2; k++) {
    yard->low[k] = fmin(start[k], yard->goal[k]) - reach;
    yard->high[k] = fmax(start[k], yard->goal[k]) + reach;
  }
}

carom_status carom_push_yard_create(const carom_push_plan_def *def, const carom_allocator *allocator,
                                    carom_push_yard **out, carom_error *error) {
  *out = NULL;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_push_yard *yard = CAROM_NEW(&a, carom_push_yard, 1);
  if (!yard) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of pushes");
  yard->def = def, yard->allocator = a, yard->body = def->pusher.goal.body;
  carom_status status = carom_state_clone(def->start, &a, &yard->state, error);
  carom_pusher_def coarse = def->pusher;
  coarse.step *= def->coarse;
  if (status == CAROM_OK) status = carom_pusher_create(&def->pusher, &a, &yard->fine, error);
  if (status == CAROM_OK) status = carom_pusher_create(&coarse, &a, &yard->coarse, error);
  yard->pusher = yard->fine;
  if (status == CAROM_OK) lay_out(yard), status = find_sides(yard, error);
  if (status != CAROM_OK) {
    carom_push_yard_destroy(yard);
    return status;
  }
  *out = yard;
  return CAROM_OK;
}

void carom_push_yard_destroy(carom_push_yard *yard) {
  if (!yard) return;
  carom_allocator a = yard->allocator;
  carom_pusher_destroy(yard->fine);
  carom_pusher_destroy(yard->coarse);
  carom_state_destroy(yard->state);
  CAROM_RELEASE_ALL(&a, yard->sides, yard);
}
