// What becomes of joints from one period to the next, and steps that no leg can make.
//
// At the end of a period a joint stands where another one (or itself) stood at its beginning, seen through the periodic
// map. What the beginning asks of the one, the end need not ask of the other: equations that repeat each other are a
// burden to the solver. That holds only if such a counterpart is there, and stands where the map says.
#include <stdio.h>

#include "base/memory.h"
#include "control/plan.h"

static carom_vec3 mirrored(const carom_plan *plan, carom_vec3 v) {
  int axis = plan->periodic.def.mirror;
  return cm_vec3(axis == 0 ? -v.x : v.x, axis == 1 ? -v.y : v.y, axis == 2 ? -v.z : v.z);
}

static carom_vec3 mapped(const carom_plan *plan, carom_vec3 direction) {
  return cm_rotate(plan->periodic.def.map.q, mirrored(plan, direction));
}

static bool is_fixed(const carom_plan *plan, const carom_plan_joint *j, int side) {
  return plan->model->bodies[j->body[side]].fixed;
}

// Of a joint to a fixed body: which of its bodies that is; -1: none.
static int fixed_side(const carom_plan *plan, const carom_plan_joint *j) {
  return is_fixed(plan, j, 0) ? 0 : is_fixed(plan, j, 1) ? 1 : -1;
}

// In the world, on its fixed body.
static carom_vec3 anchor(const carom_plan *plan, const carom_plan_joint *j, int side) {
  int body = j->body[side];
  return cm_transform(cm_pose(plan->start->x[body], plan->start->q[body]), j->point[side]);
}

// ---- counterparts --------------------------------------------------------------------------------------------------

static carom_vec3 axis_in(const carom_plan_joint *j, int side) {
  return side == 0 ? j->axis : cm_cross(j->cross[0], j->cross[1]);
}

// Point and axis of j on one of its bodies are those of c on the partner of that body.
static bool side_repeats(const carom_plan *plan, const carom_plan_joint *j, int side, const carom_plan_joint *c,
                         int other) {
  int body = j->body[side], of = c->body[other];
  if (plan->partner[body] != of) return false;
  bool fixed = plan->model->bodies[body].fixed;
  carom_pose here = cm_pose_inverse(plan->model->bodies[body].frame), there = cm_pose_inverse(plan->model->bodies[of].frame);
  carom_vec3 point = cm_sub(cm_transform(here, j->point[side]), mirrored(plan, cm_transform(there, c->point[other])));
  if (!fixed && cm_norm(point) > 1e-9 * plan->length_scale) return false;
  carom_quat q = fixed ? plan->start->q[body] : here.q, p = fixed ? plan->start->q[of] : there.q;
  carom_vec3 axis = cm_rotate(q, axis_in(j, side)), image = mirrored(plan, cm_rotate(p, axis_in(c, other)));
  if (fixed) image = cm_rotate(plan->periodic.def.map.q, image);
  return j->kind != CAROM_PLAN_REVOLUTE || cm_norm(cm_cross(axis, image)) <= 1e-9;
}

static bool repeats(const carom_plan *plan, const carom_plan_joint *j, const carom_plan_joint *c, bool *turned) {
  bool moves = cm_norm(j->reach) > 0 && !is_fixed(plan, j, 0);
  if (j->kind != c->kind || moves || !carom_joint_holds(plan, c, 0)) return false;
  for (int order = 0; order < 2; order++) {
    *turned = order == 1;
    if (side_repeats(plan, j, 0, c, order) && side_repeats(plan, j, 1, c, 1 - order)) return true;
  }
  return false;
}

static const carom_plan_joint *find_counterpart(const carom_plan *plan, const carom_plan_joint *j, bool *turned) {
  for (int i = 0; i < plan->joint_count && plan->periodic.set; i++)
    if (repeats(plan, j, &plan->joints[i], turned)) return &plan->joints[i];
  return NULL;
}

const carom_plan_joint *carom_joint_counterpart(const carom_plan *plan, const carom_plan_joint *j) {
  bool turned;
  return find_counterpart(plan, j, &turned);
}

// How the second body of a joint stands to the first at an angle, in the users' frames.
static carom_quat stand(const carom_plan *plan, const carom_plan_joint *j, double angle) {
  const carom_body *bodies = plan->model->bodies;
  carom_quat q = cm_qmul(cm_axis_angle(j->axis, angle), j->zero);
  return cm_qmul(cm_qmul(cm_qconj(bodies[j->body[0]].frame.q), q), bodies[j->body[1]].frame.q);
}

static double angle_of(const carom_plan *plan, const carom_plan_joint *j, carom_quat user) {
  const carom_body *bodies = plan->model->bodies;
  carom_quat q = cm_qmul(cm_qmul(bodies[j->body[0]].frame.q, user), cm_qconj(bodies[j->body[1]].frame.q));
  carom_quat turn = cm_qmul(q, cm_qconj(j->zero));
  return 2 * atan2(cm_dot(cm_vec3(turn.x, turn.y, turn.z), j->axis), turn.w);
}

// Whether every angle that c may have at the beginning is one that j may have at the end. Joints to the ground turn with
// the map; their ranges are asked for anew.
bool carom_range_repeats(const carom_plan *plan, const carom_plan_joint *j) {
  bool turned;
  const carom_plan_joint *c = find_counterpart(plan, j, &turned);
  if (!c || fixed_side(plan, j) >= 0 || !(c->upper - c->lower < INFINITY)) return false;
  double middle = 0.5 * (j->lower + j->upper), half = 0.5 * (j->upper - j->lower);
  for (int i = 0; i < 3; i++) {
    carom_quat q = stand(plan, c, c->lower + 0.5 * i * (c->upper - c->lower));
    carom_vec3 u = mirrored(plan, cm_vec3(q.x, q.y, q.z));
    if (plan->periodic.def.mirror >= 0) q = cm_quat(q.w, -u.x, -u.y, -u.z);
    double off = remainder(angle_of(plan, j, turned ? cm_qconj(q) : q) - middle, 8 * atan(1.0));
    if (fabs(off) > half + 1e-9) return false;
  }
  return true;
}

// ---- where a foot comes down ---------------------------------------------------------------------------------------

// How far what may be chosen can move the place of j against where the map puts that of c, along the axes of the body
// that j is fixed to.
static carom_vec3 freedom(const carom_plan *plan, const carom_plan_joint *j, const carom_plan_joint *c) {
  int side = fixed_side(plan, j), of = fixed_side(plan, c);
  double own[3] = {CAROM_XYZ(j->reach)}, shift[3] = {CAROM_XYZ(plan->periodic.def.reach)}, begin[3] = {CAROM_XYZ(c->reach)};
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < 3; i++) {
    carom_vec3 e = cm_vec3(i == 0, i == 1, i == 2);
    carom_vec3 from = of == 0 ? mapped(plan, cm_rotate(plan->start->q[c->body[0]], e)) : cm_zero3();
    carom_vec3 moves[3] = {cm_scale(side == 0 ? own[i] : 0, e),
                           cm_unrotate(plan->start->q[j->body[side]], cm_scale(shift[i], e)),
                           cm_unrotate(plan->start->q[j->body[side]], cm_scale(begin[i], from))};
    for (int k = 0; k < 3; k++)
      sum = cm_add(sum, cm_vec3(fabs(moves[k].x), fabs(moves[k].y), fabs(moves[k].z)));
  }
  return sum;
}

void carom_place_asked(const carom_plan *plan, const carom_plan_joint *j, bool asked[3]) {
  const carom_plan_joint *c = carom_joint_counterpart(plan, j);
  bool ground = c && fixed_side(plan, j) >= 0 && fixed_side(plan, c) >= 0;
  carom_vec3 free = ground ? freedom(plan, j, c) : cm_zero3();
  double along[3] = {CAROM_XYZ(free)};
  for (int i = 0; i < 3; i++) asked[i] = along[i] > 1e-12 * plan->length_scale;
}

// A place that contradicts the periodic map: by how much, m.
static double place_off(const carom_plan *plan, const carom_plan_joint *j, const carom_plan_joint *c) {
  int side = fixed_side(plan, j), of = fixed_side(plan, c);
  if (side < 0 || of < 0) return 0;
  carom_vec3 there = cm_add(plan->periodic.def.map.p, mapped(plan, anchor(plan, c, of)));
  carom_vec3 off = cm_unrotate(plan->start->q[j->body[side]], cm_sub(anchor(plan, j, side), there));
  carom_vec3 free = freedom(plan, j, c);
  return fmax(fmax(fabs(off.x) - free.x, fabs(off.y) - free.y), fabs(off.z) - free.z);
}

static bool place_contradicts(const carom_plan *plan, carom_plan_report *report) {
  for (int i = 0; i < plan->joint_count && plan->periodic.set; i++) {
    const carom_plan_joint *j = &plan->joints[i], *c = carom_joint_counterpart(plan, j);
    double off = c && carom_joint_holds(plan, j, plan->path.K) ? place_off(plan, j, c) : 0;
    if (off <= 1e-9 * plan->length_scale) continue;
    snprintf(report->message, sizeof report->message,
             "joint '%.60s' at the last node is %.3g m away from where the next period begins with '%.60s': its point "
             "and the periodic shift contradict each other",
             j->name, off, c->name);
    report->violation = off;
    return true;
  }
  return false;
}

// ---- how far legs reach --------------------------------------------------------------------------------------------

static bool holds_at(const carom_plan *plan, const carom_plan_joint *j, int node) {
  return (node > 0 && carom_joint_holds(plan, j, node - 1)) || carom_joint_holds(plan, j, node);
}

// Between the points of two joints on a moving body that both hold; infinite if there is none.
static double between(const carom_plan *plan, const carom_plan_joint *a, const carom_plan_joint *b) {
  double least = INFINITY;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      if (a->body[i] != b->body[k] || is_fixed(plan, a, i)) continue;
      double chosen = (i == 0 ? cm_norm(a->reach) : 0) + (k == 0 ? cm_norm(b->reach) : 0);
      least = fmin(least, cm_norm(cm_sub(a->point[i], b->point[k])) + chosen);
    }
  return least;
}

// Longest distances from joint `from` that the bodies between allow, along the shortest chains of them.
static void stretch_from(const carom_plan *plan, int from, int node, double *most) {
  for (int i = 0; i < plan->joint_count; i++) most[i] = i == from ? 0 : INFINITY;
  for (bool again = true; again;) {
    again = false;
    for (int a = 0; a < plan->joint_count; a++)
      for (int b = 0; b < plan->joint_count && isfinite(most[a]); b++) {
        if (a == b || !holds_at(plan, &plan->joints[b], node)) continue;
        double way = most[a] + between(plan, &plan->joints[a], &plan->joints[b]);
        if (way < most[b]) most[b] = way, again = true;
      }
  }
}

static bool chain_too_short(const carom_plan *plan, int from, int node, const double *most, carom_plan_report *report) {
  const carom_plan_joint *a = &plan->joints[from];
  for (int i = 0; i < plan->joint_count; i++) {
    const carom_plan_joint *b = &plan->joints[i];
    int sides[2] = {fixed_side(plan, a), fixed_side(plan, b)};
    if (sides[1] < 0 || i == from || !isfinite(most[i])) continue;
    double far = cm_norm(cm_sub(anchor(plan, a, sides[0]), anchor(plan, b, sides[1])));
    double chosen = (sides[0] == 0 ? cm_norm(a->reach) : 0) + (sides[1] == 0 ? cm_norm(b->reach) : 0);
    if (far - chosen <= most[i] + 1e-9 * plan->length_scale) continue;
    snprintf(report->message, sizeof report->message,
             "at node %d joints '%.60s' and '%.60s' are %.4g m apart, but the bodies between them reach %.4g m: put them "
             "closer together",
             node, a->name, b->name, far, most[i]);
    report->violation = far - chosen - most[i];
    return true;
  }
  return false;
}

static bool too_far_at(const carom_plan *plan, int node, double *most, carom_plan_report *report) {
  for (int i = 0; i < plan->joint_count; i++) {
    const carom_plan_joint *j = &plan->joints[i];
    if (fixed_side(plan, j) < 0 || !holds_at(plan, j, node)) continue;
    stretch_from(plan, i, node, most);
    if (chain_too_short(plan, i, node, most, report)) return true;
  }
  return false;
}

carom_status carom_plan_check_places(const carom_plan *plan, carom_plan_report *report, bool *impossible,
                                     carom_error *error) {
  double *most = CAROM_NEW(&plan->allocator, double, plan->joint_count + 1);
  if (!most) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  *impossible = too_far_at(plan, 0, most, report);
  for (int i = 0; i < plan->event_count && !*impossible; i++)
    *impossible = too_far_at(plan, carom_plan_event_node(plan, i), most, report);
  if (!*impossible) *impossible = place_contradicts(plan, report);
  carom_release(&plan->allocator, most);
  return CAROM_OK;
}
