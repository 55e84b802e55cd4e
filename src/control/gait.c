// Gaits: a period of a motion as curves over its phase, followed joint by joint.
//
// The phase x is the time since the period began, or a length y = along . (point of a body - origin in another one).
// Angles of the joints are cubics in x between the nodes, through the slopes of parabolas, so that the angle asked for
// is h(x) and its rate h'(x) x'. In every other period bodies are in each other's places, and the joints have curves of
// their own: those of the same motion with the poses swapped.
#include "control/gait.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/joint_rows.h"
#include "model/model.h"

// ---- motions --------------------------------------------------------------------------------------------------------

static carom_status check_motion(const carom_gait_motion_def *def, const carom_model *model, carom_error *error) {
  size_t bodies = (size_t)model->body_count, joints = (size_t)model->joint_count;
  if (def->nodes < 2)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a motion needs two nodes or more, but has %d", def->nodes);
  for (int k = 0; k < def->nodes; k++) {
    if (!isfinite(def->times[k]) || (k > 0 && !(def->times[k] > def->times[k - 1])))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "node %d of a motion: the time %g s is not after the one before it",
                        k, def->times[k]);
    for (size_t i = 0; i < bodies; i++) {
      carom_pose pose = def->poses[(size_t)k * bodies + i];
      if (!(cm_finite(pose.p) && fabs(cm_qdot(pose.q, pose.q) - 1) < 1e-6))
        return carom_fail(error, CAROM_ERR_NUMBER, "node %d of a motion: the pose of body '%.80s' is none", k,
                          model->bodies[i].name);
    }
  }
  for (size_t i = 0; def->torques && i < (size_t)(def->nodes - 1) * joints; i++)
    if (!isfinite(def->torques[i]))
      return carom_fail(error, CAROM_ERR_NUMBER, "a torque of a motion is not finite: joint '%.80s'",
                        model->joints[i % joints].name);
  return CAROM_OK;
}

carom_status carom_gait_motion_create(const carom_gait_motion_def *def, const carom_model *model,
                                      const carom_allocator *allocator, carom_gait_motion **motion,
                                      carom_error *error) {
  *motion = NULL;
  carom_status status = check_motion(def, model, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  size_t nodes = (size_t)def->nodes, poses = nodes * (size_t)model->body_count;
  size_t torques = def->torques ? (nodes - 1) * (size_t)model->joint_count : 0;
  carom_gait_motion *m = CAROM_NEW(&a, carom_gait_motion, 1);
  if (m) *m = (carom_gait_motion){.allocator = a, .nodes = def->nodes, .bodies = model->body_count};
  if (!m ||
      !CAROM_NEW_ALL(&a, CAROM_ROOM(m->times, nodes), CAROM_ROOM(m->poses, poses), CAROM_ROOM(m->torques, torques))) {
    carom_gait_motion_destroy(m);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a motion of %d nodes", def->nodes);
  }
  m->joints = model->joint_count, m->drives = def->torques != NULL;
  memcpy(m->times, def->times, nodes * sizeof *m->times);
  memcpy(m->poses, def->poses, poses * sizeof *m->poses);
  if (torques > 0) memcpy(m->torques, def->torques, torques * sizeof *m->torques);
  *motion = m;
  return CAROM_OK;
}

void carom_gait_motion_destroy(carom_gait_motion *motion) {
  if (!motion) return;
  carom_allocator a = motion->allocator;
  CAROM_RELEASE_ALL(&a, motion->times, motion->poses, motion->torques, motion);
}

carom_gait carom_gait_default(void) { return (carom_gait){.foot = -1, .ground = -1, .after = 0.5, .along = {1, 0, 0}}; }

// ---- tables ---------------------------------------------------------------------------------------------------------

// A value and its derivative in the phase.
typedef struct knot {
  double v, d;
} knot;

struct carom_gait_table {
  carom_allocator allocator;
  const carom_gait *gait;
  const carom_model *model;
  int nodes, columns;  // a column for each joint, and one for time
  int *place;          // (bodies) whose place a body has in every other period
  int *partner;        // (joints) and which joint's torque a joint has then; -1: none
  double *sign;        // (joints) and with which sign
  double *x;           // (nodes) ascending phase
  knot *curves;        // (2 x columns x nodes)
};

static knot *curve(const carom_gait_table *t, int odd, int column) {
  return t->curves + ((size_t)odd * (size_t)t->columns + (size_t)column) * (size_t)t->nodes;
}

// Derivative of the parabola through three nodes, at one of them.
static double slope_at(const double *x, const knot *f, int k, int nodes) {
  if (nodes == 2) return (f[1].v - f[0].v) / (x[1] - x[0]);
  int m = k == 0 ? 1 : k == nodes - 1 ? nodes - 2 : k;
  double h0 = x[m] - x[m - 1], h1 = x[m + 1] - x[m];
  double s0 = (f[m].v - f[m - 1].v) / h0, s1 = (f[m + 1].v - f[m].v) / h1, bend = (s1 - s0) / (h0 + h1);
  return (h1 * s0 + h0 * s1) / (h0 + h1) + 2 * bend * (x[k] - x[m]);
}

// Value and derivative of the cubic between two knots.
static knot between(const knot *f, double h, double s) {
  double u = s / h, rise = (f[1].v - f[0].v) / h;
  double c = 3 * rise - 2 * f[0].d - f[1].d, e = f[0].d + f[1].d - 2 * rise;
  return (knot){f[0].v + s * (f[0].d + u * (c + u * e)), f[0].d + u * (2 * c + 3 * u * e)};
}

static int segment_at(const carom_gait_table *t, double x) {
  int low = 0, high = t->nodes - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (x < t->x[middle])
      high = middle;
    else
      low = middle;
  }
  return low;
}

// Beyond either end a curve goes straight on for a quarter of the period, so that a late foot still comes down.
static knot value_at(const carom_gait_table *t, int odd, int column, double x) {
  const knot *f = curve(t, odd, column);
  double first = t->x[0], last = t->x[t->nodes - 1], reach = 0.25 * (last - first);
  double inside = fmin(fmax(x, first), last);
  int i = segment_at(t, inside);
  knot at = between(f + i, t->x[i + 1] - t->x[i], inside - t->x[i]);
  double beyond = fmin(fmax(x - inside, -reach), reach);
  return (knot){at.v + at.d * beyond, fabs(x - inside) > reach ? 0 : at.d};
}

// ---- the phase ------------------------------------------------------------------------------------------------------

static int body_of(const carom_gait_table *t, int odd, int body) { return odd ? t->place[body] : body; }

static carom_vec3 point_of(const carom_gait_table *t, const carom_state *state, int body, carom_vec3 point) {
  return cm_transform(carom_state_pose(t->model, state, body), point);
}

static carom_vec3 velocity_of(const carom_gait_table *t, const carom_state *state, int body, carom_vec3 point) {
  carom_vec3 arm = cm_sub(point, state->x[body]);
  return cm_add(carom_state_velocity(t->model, state, body),
                cm_cross(carom_state_angular_velocity(t->model, state, body), arm));
}

static double phase_of(const carom_gait_table *t, const carom_state *state, int odd, double *rate) {
  const carom_gait *g = t->gait;
  int a = body_of(t, odd, g->body), b = body_of(t, odd, g->from);
  carom_vec3 p = point_of(t, state, a, g->point), q = point_of(t, state, b, g->origin);
  *rate = cm_dot(g->along, cm_sub(velocity_of(t, state, a, p), velocity_of(t, state, b, q)));
  return cm_dot(g->along, cm_sub(p, q));
}

// ---- filling tables -------------------------------------------------------------------------------------------------

static void place_bodies(const carom_gait_table *t, int node, int odd, carom_state *state) {
  const carom_gait_motion *m = t->gait->motion;
  const carom_pose *poses = m->poses + (size_t)node * (size_t)m->bodies;
  for (int i = 0; i < m->bodies; i++) carom_state_set_pose(t->model, state, i, poses[body_of(t, odd, i)]);
}

static void fill_node(carom_gait_table *t, int node, int odd, carom_state *state) {
  const carom_gait_motion *m = t->gait->motion;
  double rate;
  place_bodies(t, node, odd, state);
  curve(t, odd, 0)[node].v = m->times[node] - m->times[0];
  for (int j = 0; j < m->joints; j++) curve(t, odd, 1 + j)[node].v = carom_state_joint(t->model, state, j).turn;
  if (odd == 0) t->x[node] = t->gait->by_length ? phase_of(t, state, 0, &rate) : m->times[node] - m->times[0];
}

static carom_status check_phase(const carom_gait_table *t, carom_error *error) {
  for (int k = 1; k < t->nodes; k++)
    if (!(t->x[k] > t->x[k - 1]))
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "the phase does not ascend all through the plan: %g m at t = %g s, then %g m; choose another "
                        "point, or leave it out to go by time",
                        t->x[k - 1], t->gait->motion->times[k - 1], t->x[k]);
  return CAROM_OK;
}

static carom_status fill_table(carom_gait_table *t, carom_error *error) {
  carom_state *state = NULL;
  carom_status status = carom_state_create(t->model, &t->allocator, &state, error);
  if (status != CAROM_OK) return status;
  for (int j = 0; j < t->model->joint_count; j++)
    for (int end = 0; end < 2; end++) state->joints[j].frame[end] = t->model->joints[j].frame[end];
  for (int odd = 0; odd < 2; odd++)
    for (int k = 0; k < t->nodes; k++) fill_node(t, k, odd, state);
  carom_state_destroy(state);
  status = check_phase(t, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < 2 * t->columns; i++) {
    knot *f = t->curves + (size_t)i * (size_t)t->nodes;
    for (int k = 0; k < t->nodes; k++) f[k].d = slope_at(t->x, f, k, t->nodes);
  }
  return CAROM_OK;
}

// A joint between bodies that are swapped is in the place of the joint between their partners.
static void pair_joints(carom_gait_table *t) {
  const carom_model *m = t->model;
  for (int j = 0; j < m->joint_count; j++) {
    t->partner[j] = -1;
    int a = m->joints[j].body[0] < 0 ? -1 : t->place[m->joints[j].body[0]];
    int b = m->joints[j].body[1] < 0 ? -1 : t->place[m->joints[j].body[1]];
    for (int i = 0; i < m->joint_count && t->partner[j] < 0; i++) {
      const int *other = m->joints[i].body;
      bool same = other[0] == a && other[1] == b, turned = other[0] == b && other[1] == a;
      if (same || turned) t->partner[j] = i, t->sign[j] = same ? 1 : -1;
    }
  }
}

static carom_status check_gait(const carom_gait *g, const carom_model *model, carom_error *error) {
  const int bodies = model->body_count;
  bool known = g->foot < bodies && g->ground < bodies && (g->foot < 0 || g->ground >= 0);
  for (int i = 0; i < g->swap_count; i++)
    for (int k = 0; k < 2; k++) known = known && g->swap[i][k] >= 0 && g->swap[i][k] < bodies;
  if (g->by_length) known = known && g->body >= 0 && g->body < bodies && g->from >= 0 && g->from < bodies;
  if (!known) return carom_fail(error, CAROM_ERR_ARGUMENT, "a body that it names is none of the %d", bodies);
  if (!(g->after >= 0 && g->after < 1))
    return carom_fail(error, CAROM_ERR_NUMBER, "'after' is %g: it must be from 0 to below 1", g->after);
  if (g->by_length && !(cm_norm(g->along) > 0 && cm_finite(g->along) && cm_finite(g->point) && cm_finite(g->origin)))
    return carom_fail(error, CAROM_ERR_NUMBER, "the phase needs finite points and a direction that is not zero");
  if (!g->motion || g->motion->bodies != bodies || g->motion->joints != model->joint_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the motion is not one of this model");
  return CAROM_OK;
}

static carom_status set_places(carom_gait_table *t, carom_error *error) {
  for (int i = 0; i < t->model->body_count; i++) t->place[i] = i;
  for (int i = 0; i < t->gait->swap_count; i++) {
    int a = t->gait->swap[i][0], b = t->gait->swap[i][1];
    if (t->place[a] != a || t->place[b] != b || a == b || t->model->bodies[a].fixed || t->model->bodies[b].fixed)
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "'%.80s' and '%.80s' cannot be swapped: both must move, and each is swapped once",
                        t->model->bodies[a].name, t->model->bodies[b].name);
    t->place[a] = b, t->place[b] = a;
  }
  return CAROM_OK;
}

carom_status carom_gait_table_create(const carom_gait *gait, const carom_model *model, const carom_allocator *allocator,
                                     carom_gait_table **table, carom_error *error) {
  *table = NULL;
  carom_status status = check_gait(gait, model, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_gait_table *t = CAROM_NEW(&a, carom_gait_table, 1);
  size_t nodes = (size_t)gait->motion->nodes, joints = (size_t)model->joint_count;
  if (t) *t = (carom_gait_table){.allocator = a, .gait = gait, .model = model};
  if (!t || !CAROM_NEW_ALL(&a, CAROM_ROOM(t->place, model->body_count), CAROM_ROOM(t->partner, joints),
                           CAROM_ROOM(t->sign, joints), CAROM_ROOM(t->x, nodes),
                           CAROM_ROOM(t->curves, 2 * (joints + 1) * nodes))) {
    carom_gait_table_destroy(t);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a gait of %zu nodes", nodes);
  }
  t->nodes = (int)nodes, t->columns = 1 + (int)joints;
  status = set_places(t, error);
  if (status == CAROM_OK) pair_joints(t);
  if (status == CAROM_OK) status = fill_table(t, error);
  if (status != CAROM_OK)
    carom_gait_table_destroy(t);
  else
    *table = t;
  return status;
}

void carom_gait_table_destroy(carom_gait_table *table) {
  if (!table) return;
  carom_allocator a = table->allocator;
  CAROM_RELEASE_ALL(&a, table->place, table->partner, table->sign, table->x, table->curves, table);
}

// ---- following ------------------------------------------------------------------------------------------------------

static int is_odd(const double *channels) { return fmod(channels[CAROM_GAIT_STEP], 2) != 0; }

static double torque_at(const carom_gait_table *t, int odd, int joint, double x) {
  const carom_gait_motion *m = t->gait->motion;
  int from = odd ? t->partner[joint] : joint;
  if (!m->drives || from < 0) return 0;
  double torque = m->torques[(size_t)segment_at(t, x) * (size_t)m->joints + (size_t)from];
  return odd ? t->sign[joint] * torque : torque;
}

void carom_gait_begin(const carom_state *state, double *channels) {
  channels[CAROM_GAIT_STEP] = 0;
  channels[CAROM_GAIT_BEGAN] = state->time;
}

void carom_gait_sense(const carom_gait_table *t, const carom_state *state, double *channels) {
  double first = t->x[0], last = t->x[t->nodes - 1], rate = 1, *to = channels + CAROM_GAIT_OWN;
  int odd = is_odd(channels);
  double x = t->gait->by_length ? phase_of(t, state, odd, &rate) : state->time - channels[CAROM_GAIT_BEGAN];
  channels[CAROM_GAIT_PHASE] = (x - first) / (last - first);
  channels[CAROM_GAIT_TIME] = value_at(t, odd, 0, x).v;
  for (int j = 0; j < t->model->joint_count; j++) {
    if (!carom_joint_turns(t->model->joints[j].kind)) continue;
    knot h = value_at(t, odd, 1 + j, x);
    to[CAROM_GAIT_ANGLE] = h.v, to[CAROM_GAIT_RATE] = h.d * rate, to[CAROM_GAIT_TORQUE] = torque_at(t, odd, j, x);
    to += CAROM_GAIT_OF_JOINT;
  }
}

static bool has_struck(const carom_step_report *report, int foot, int ground) {
  for (int i = 0; report && i < report->event_count; i++) {
    const carom_contact_event *e = &report->events[i];
    if ((e->body_a == foot && e->body_b == ground) || (e->body_b == foot && e->body_a == ground)) return true;
  }
  return false;
}

void carom_gait_strike(const carom_gait_table *t, const carom_state *state, const carom_step_report *report,
                       double *channels) {
  const carom_gait *g = t->gait;
  bool over = g->foot < 0 ? channels[CAROM_GAIT_PHASE] >= 1
                          : channels[CAROM_GAIT_PHASE] > g->after &&
                                has_struck(report, body_of(t, is_odd(channels), g->foot), g->ground);
  if (!over) return;
  channels[CAROM_GAIT_STEP] += 1;
  channels[CAROM_GAIT_BEGAN] = state->time;
  carom_gait_sense(t, state, channels);
}
