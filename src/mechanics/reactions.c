// What joints carried in a step, from the motion alone. The change of a body's momenta is due to gravity, force fields,
// contacts and joints; the first three are known. In a tree what is left goes from the leaves to the roots, joint by
// joint; where joints close loops it is shared out by the multipliers of their equations.
#include <string.h>

#include "base/arena.h"
#include "carom/mechanics.h"
#include "model/joint_fields.h"
#include "model/joints.h"
#include "model/mechanism.h"
#include "model/model.h"

struct carom_reactions {
  carom_arena arena;  // first
  const carom_model *model;
  carom_mechanism *mechanism;
  carom_joints *joints;
  carom_state *mean;          // between the two states
  carom_joint_load *demands;  // (body_count) what came through joints, at the centre of mass: N, N m
  carom_loads loads;
  carom_mat3 *d, *dv;  // (body_count)
  carom_vec3 *v;       // (body_count)
  carom_vec3 *p, *l;   // (body_count) impulses that are shared out
  double *impulses;    // (joint_count * CAROM_JOINT_ROWS)
};

static void lay_out(void *owner, carom_arena *arena) {
  carom_reactions *r = owner;
  int bodies = r->model->body_count;
  r->demands = CAROM_PUSH(arena, carom_joint_load, bodies);
  carom_loads_push(&r->loads, arena, r->model);
  r->d = CAROM_PUSH(arena, carom_mat3, bodies);
  r->dv = CAROM_PUSH(arena, carom_mat3, bodies);
  r->v = CAROM_PUSH(arena, carom_vec3, bodies);
  r->p = CAROM_PUSH(arena, carom_vec3, bodies);
  r->l = CAROM_PUSH(arena, carom_vec3, bodies);
  r->impulses = CAROM_PUSH(arena, double, r->model->joint_count *CAROM_JOINT_ROWS);
}

carom_status carom_reactions_create(const carom_model *model, const carom_allocator *allocator,
                                    carom_reactions **reactions, carom_error *error) {
  carom_reactions initial = {.model = model};
  *reactions = NULL;
  carom_reactions *r = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!r) return CAROM_ERR_MEMORY;
  carom_status status = carom_mechanism_create(model, allocator, &r->mechanism, error);
  if (status == CAROM_OK) status = carom_joints_create(model, allocator, &r->joints, error);
  if (status == CAROM_OK) status = carom_state_create(model, allocator, &r->mean, error);
  if (status == CAROM_OK) {
    *reactions = r;
    return CAROM_OK;
  }
  carom_reactions_destroy(r);
  return status;
}

void carom_reactions_destroy(carom_reactions *reactions) {
  if (!reactions) return;
  carom_mechanism_destroy(reactions->mechanism);
  carom_joints_destroy(reactions->joints);
  carom_state_destroy(reactions->mean);
  carom_object_destroy(reactions);
}

// ---- what came through joints ---------------------------------------------------------------------------------------

static carom_quat halfway(carom_quat a, carom_quat b) {
  double s = cm_qdot(a, b) < 0 ? -1 : 1;
  return cm_qunit(cm_quat(a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z));
}

static void take_mean(carom_reactions *r, const carom_state *before, const carom_state *after) {
  carom_state *mean = r->mean;
  carom_state_copy(mean, after);
  mean->time = 0.5 * (before->time + after->time);
  for (int i = 0; i < mean->body_count; i++) {
    mean->x[i] = cm_lerp(before->x[i], after->x[i], 0.5);
    mean->q[i] = halfway(before->q[i], after->q[i]);
    mean->p[i] = cm_lerp(before->p[i], after->p[i], 0.5);
    mean->l[i] = cm_lerp(before->l[i], after->l[i], 0.5);
  }
}

static carom_configuration configuration_of(carom_reactions *r, const carom_state *state, bool joints) {
  for (int i = 0; i < state->body_count; i++) {
    r->d[i] = cm_rotation(state->q[i]);
    r->v[i] = carom_state_velocity(r->model, state, i);
    r->dv[i] = cm_mmul(cm_hat(carom_state_angular_velocity(r->model, state, i)), r->d[i]);
  }
  return (carom_configuration){.time = state->time,
                               .x = state->x,
                               .d = r->d,
                               .v = r->v,
                               .dv = r->dv,
                               .joints = joints ? state->joints : NULL,
                               .inputs = r->mean->inputs};
}

// Gravity and fields at a state, which make up `share` of the mean over the step. With joints: what acts along these,
// too.
static void take_off_fields(carom_reactions *r, const carom_state *state, double share, bool joints) {
  carom_configuration c = configuration_of(r, state, joints);
  carom_fields_evaluate(r->model, &c, &r->loads);
  for (int i = 0; i < state->body_count; i++) {
    if (r->model->bodies[i].fixed) continue;
    carom_joint_load *own = &r->demands[i];
    carom_vec3 torque = cm_add(r->loads.torque[i], carom_director_torque(r->loads.g[i], r->d[i]));
    carom_vec3 force = cm_axpy(r->loads.f[i], r->model->bodies[i].mass, r->model->gravity);
    own->force = cm_axpy(own->force, -share, force);
    own->moment = cm_axpy(own->moment, -share, torque);
  }
}

static void take_off_event(carom_reactions *r, const carom_contact_event *e, double h) {
  for (int end = 0; end < 2; end++) {
    int body = end == 0 ? e->body_a : e->body_b;
    if (body == CAROM_WORLD || r->model->bodies[body].fixed) continue;
    carom_vec3 force = cm_scale((end == 0 ? 1 : -1) / h, e->impulse);
    carom_joint_load *own = &r->demands[body];
    own->force = cm_sub(own->force, force);
    own->moment = cm_sub(own->moment, cm_cross(cm_sub(e->point, r->mean->x[body]), force));
  }
}

static void find_demands(carom_reactions *r, const carom_state *before, const carom_state *after,
                         const carom_step_report *report, bool joints) {
  double h = after->time - before->time;
  for (int i = 0; i < after->body_count; i++)
    r->demands[i] = (carom_joint_load){cm_scale(1 / h, cm_sub(after->p[i], before->p[i])),
                                       cm_scale(1 / h, cm_sub(after->l[i], before->l[i]))};
  take_off_fields(r, before, 0.5, joints);
  take_off_fields(r, after, 0.5, joints);
  for (int i = 0; report && i < report->event_count; i++) take_off_event(r, &report->events[i], h);
}

// ---- closed loops
// -----------------------------------------------------------------------------------------------------

// What fields do along the coordinates comes on top of the multipliers.
static void add_along(carom_reactions *r, const carom_configuration *c, int joint, carom_joint_load *load) {
  double slide, turn;
  const carom_joint *def = &r->model->joints[joint];
  carom_joint_place place = carom_joint_placed(def, &r->mean->joints[joint], r->mean);
  carom_joint_fields_along(r->model, c, joint, &slide, &turn);
  load->force = cm_axpy(load->force, slide, place.n);
  load->moment = cm_axpy(load->moment, turn, place.n);
}

static carom_status share_out(carom_reactions *r, carom_joint_load *loads, carom_error *error) {
  for (int i = 0; i < r->model->body_count; i++)
    r->p[i] = cm_neg(r->demands[i].force), r->l[i] = cm_neg(r->demands[i].moment);
  carom_status status = carom_joints_project(r->joints, r->mean, r->p, r->l, r->impulses, error);
  if (status != CAROM_OK) return status;
  carom_configuration c = configuration_of(r, r->mean, true);
  memset(loads, 0, (size_t)r->model->joint_count * sizeof *loads);
  for (int j = 0; j < r->model->joint_count; j++) {
    if (!carom_joint_acts(r->model, r->mean, j)) continue;
    carom_joint_impulse reaction = carom_joints_reaction(r->model, r->mean, j, r->impulses);
    loads[j] = (carom_joint_load){reaction.linear, reaction.angular};
    add_along(r, &c, j, &loads[j]);
  }
  return CAROM_OK;
}

carom_status carom_reactions_find(carom_reactions *reactions, const carom_state *before, const carom_state *after,
                                  const carom_step_report *report, carom_joint_load *loads, carom_error *error) {
  carom_reactions *r = reactions;
  take_mean(r, before, after);
  bool tree = carom_mechanism_update(r->mechanism, r->mean, NULL) == CAROM_OK;
  find_demands(r, before, after, report, !tree);
  if (!tree) return share_out(r, loads, error);
  carom_mechanism_carry(r->mechanism, r->demands, loads);
  return CAROM_OK;
}
