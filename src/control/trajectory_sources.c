// Where trajectories come from, and the one door to all references.
#include <math.h>

#include "base/memory.h"
#include "control/plan.h"
#include "control/trajectory.h"

// ---- waypoints
// -------------------------------------------------------------------------------------------------------

static carom_status check_waypoint(int i, const double *times, const carom_pose *poses, carom_error *error) {
  if (!isfinite(times[i]) || !cm_finite(poses[i].p))
    return carom_fail(error, CAROM_ERR_NUMBER, "waypoint %d: its time or position is not finite", i);
  if (i > 0 && !(times[i] > times[i - 1]))
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "waypoint %d is at t = %g s, not after the one before it at %g s: times must ascend", i, times[i],
                      times[i - 1]);
  double length = sqrt(cm_qdot(poses[i].q, poses[i].q));
  if (!(fabs(length - 1) <= 1e-6))
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "waypoint %d: the rotation (%g, %g, %g, %g) has the length %g: give a unit quaternion (w, x, y, z)", i,
        poses[i].q.w, poses[i].q.x, poses[i].q.y, poses[i].q.z, length);
  return CAROM_OK;
}

// Mean velocity and mean spin from one waypoint to the next; the rotation vector is the same in the axes of both.
typedef struct leg {
  double h;
  carom_vec3 v, w;
} leg;

static leg leg_after(const carom_trajectory_knot *knot) {
  double h = knot[1].time - knot[0].time;
  carom_vec3 turn = cm_log(cm_qmul(cm_qconj(knot[0].q), knot[1].q));
  return (leg){h, cm_scale(1 / h, cm_sub(knot[1].x, knot[0].x)), cm_scale(1 / h, turn)};
}

static carom_trajectory_slope slope_between(carom_vec3 before, carom_vec3 after, double h0, double h1) {
  return (carom_trajectory_slope){carom_parabola_slope(before, after, h0, h1),
                                  cm_scale(2 / (h0 + h1), cm_sub(after, before))};
}

static void set_slopes(carom_trajectory_knot *knots, int i) {
  leg before = leg_after(&knots[i - 1]), after = leg_after(&knots[i]);
  for (int side = 0; side < 2; side++) {
    knots[i].way[side] = slope_between(before.v, after.v, before.h, after.h);
    knots[i].spin[side] = slope_between(before.w, after.w, before.h, after.h);
  }
}

carom_status carom_trajectory_create_waypoints(int count, const double *times, const carom_pose *poses,
                                               const carom_allocator *allocator, carom_trajectory **trajectory,
                                               carom_error *error) {
  *trajectory = NULL;
  if (count < 2)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a trajectory needs two waypoints or more, but there are %d", count);
  for (int i = 0; i < count; i++) {
    carom_status status = check_waypoint(i, times, poses, error);
    if (status != CAROM_OK) return status;
  }
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_trajectory_knot *knots = CAROM_NEW(&a, carom_trajectory_knot, count);
  if (!knots) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d waypoints", count);
  for (int i = 0; i < count; i++) knots[i].time = times[i], knots[i].x = poses[i].p, knots[i].q = cm_qunit(poses[i].q);
  for (int i = 1; i + 1 < count; i++) set_slopes(knots, i);
  carom_status status = carom_trajectory_through(count, knots, &a, trajectory, error);
  carom_release(&a, knots);
  return status;
}

// ---- plans
// -----------------------------------------------------------------------------------------------------------

static bool has_contact(const carom_plan *plan, int node) {
  for (int i = 0; i < plan->contact_count; i++)
    if (plan->contacts[i].def.node == node) return true;
  return false;
}

// What two intervals say of one velocity is the same but for round-off, unless there is a contact between them.
static void make_smooth(carom_trajectory_slope slope[2]) {
  slope[0].rate = slope[1].rate = cm_lerp(slope[0].rate, slope[1].rate, 0.5);
}

static void read_node(const carom_plan *plan, int body, int node, carom_state *state, carom_trajectory_knot *knot) {
  knot->time = carom_plan_time(plan, node);
  for (int side = 0; side < 2; side++) {
    carom_plan_state(plan, node, side == 1, state);
    carom_rigid_motion motion = carom_state_motion(plan->model, state, body);
    knot->x = motion.position, knot->q = motion.rotation;
    knot->way[side].rate = motion.velocity;
    knot->spin[side].rate = motion.angular_velocity_body;
  }
  knot->jumps = has_contact(plan, node);
  if (!knot->jumps) make_smooth(knot->way), make_smooth(knot->spin);
}

static void read_plan(const carom_plan *plan, int body, carom_state *state, carom_trajectory_knot *knots) {
  int count = carom_plan_node_count(plan);
  for (int i = 0; i < count; i++) read_node(plan, body, i, state, &knots[i]);
  carom_trajectory_accelerate(count, knots);
}

static carom_status check_planned(const carom_plan *plan, int body, carom_error *error) {
  if (plan->path.K == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no plan to follow: solve it first");
  if (body < 0 || body >= plan->model->body_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body %d is none of the %d of the plan", body,
                      plan->model->body_count);
  if (plan->model->bodies[body].fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' is fixed: there is no motion of it to follow",
                      plan->model->bodies[body].name);
  return CAROM_OK;
}

carom_status carom_trajectory_create_plan(const carom_plan *plan, int body, const carom_allocator *allocator,
                                          carom_trajectory **trajectory, carom_error *error) {
  *trajectory = NULL;
  carom_status status = check_planned(plan, body, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  int count = carom_plan_node_count(plan);
  carom_state *state = NULL;
  carom_trajectory_knot *knots = CAROM_NEW(&a, carom_trajectory_knot, count);
  if (!knots) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d nodes of a plan", count);
  status = carom_state_clone(plan->start, &a, &state, error);
  if (status == CAROM_OK) read_plan(plan, body, state, knots);
  if (status == CAROM_OK) status = carom_trajectory_through(count, knots, &a, trajectory, error);
  carom_state_destroy(state);
  carom_release(&a, knots);
  return status;
}

// ---- one door
// --------------------------------------------------------------------------------------------------------

carom_status carom_guide_at(const carom_guide *guide, double time, carom_vec3 position, carom_guide_memory *memory,
                            carom_reference *reference, carom_error *error) {
  if (!guide->trajectory && guide->line)
    return carom_field_line_follow(guide->line, time, position, &memory->line, reference, error);
  *reference = guide->trajectory ? carom_trajectory_at(guide->trajectory, time) : carom_reference_rest(guide->pose);
  *reference = carom_reference_at(reference, guide->offset);
  return CAROM_OK;
}
