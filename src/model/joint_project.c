// Momenta that the joints allow: Q p of Johnson 2012, eq. 3.9, by one solve and one step of refinement.
#include <math.h>
#include <string.h>

#include "model/joint_system_parts.h"

enum { ROWS = CAROM_JOINT_ROWS };

static bool is_known(const carom_joint_system *s, const carom_state *state) {
  size_t n = (size_t)state->body_count, joints = (size_t)state->joint_count;
  return s->prepared && !memcmp(s->known_x, state->x, n * sizeof *state->x) &&
         !memcmp(s->known_q, state->q, n * sizeof *state->q) &&
         !memcmp(s->known_joints, state->joints, joints * sizeof *state->joints);
}

static void remember(carom_joint_system *s, const carom_state *state) {
  size_t n = (size_t)state->body_count, joints = (size_t)state->joint_count;
  memcpy(s->known_x, state->x, n * sizeof *state->x);
  memcpy(s->known_q, state->q, n * sizeof *state->q);
  memcpy(s->known_joints, state->joints, joints * sizeof *state->joints);
  s->prepared = true;
}

void carom_joint_system_forget(carom_joint_system *system) { system->prepared = false; }

carom_status carom_joint_system_blame(const carom_joint_system *s, carom_status status, double time,
                                      carom_error *error) {
  const carom_joint *joint = s->singular >= 0 ? &s->model->joints[s->singular] : NULL;
  if (!joint)
    return carom_fail(error, status, "the joints cannot be solved at t = %.9g s: check the masses of the bodies", time);
  return carom_fail(error, status,
                    "joint '%.80s' between '%.80s' and '%.80s' cannot be solved at t = %.9g s: its equations are "
                    "dependent or not finite; check the masses of these bodies and how far away the joint is",
                    joint->name, carom_body_name(s->model, joint->body[0]), carom_body_name(s->model, joint->body[1]),
                    time);
}

carom_status carom_joint_system_prepare(carom_joint_system *s, const carom_state *state, carom_error *error) {
  if (s->model->joint_count == 0 || is_known(s, state)) return CAROM_OK;
  s->prepared = false;
  carom_joint_system_order(s, state);
  carom_joint_system_fill(s, state);
  carom_status status = carom_joint_system_factor(s);
  if (status != CAROM_OK) return carom_joint_system_blame(s, status, state->time, error);
  remember(s, state);
  return CAROM_OK;
}

static carom_vec3 spin(const carom_body *body, carom_quat q, carom_vec3 l) {
  return cm_rotate(q, cm_mul_diag(body->inverse_inertia, cm_unrotate(q, l)));
}

// c = rates - G M^-1 (p, l) for every acting joint.
static void fill_shortfall(carom_joint_system *s, const carom_state *state, const double *rates, const carom_vec3 *p,
                           const carom_vec3 *l) {
  const carom_model *m = s->model;
  for (int k = 0; k < s->order.acting_count; k++) {
    int first = s->order.acting[k] * ROWS, rows = carom_joint_row_count(&m->joints[s->order.acting[k]]);
    for (int i = first; i < first + rows; i++) {
      const carom_row *row = &s->v.left[i];
      double rate = 0;
      for (int end = 0; end < 2; end++) {
        int body = row->body[end];
        if (body == CAROM_WORLD || m->bodies[body].fixed) continue;
        rate += m->bodies[body].inverse_mass * cm_dot(row->linear[end], p[body]) +
                cm_dot(row->angular[end], spin(&m->bodies[body], state->q[body], l[body]));
      }
      s->v.c[i] = (rates ? rates[i] : 0) - rate;
    }
  }
}

void carom_joint_system_project(carom_joint_system *s, const carom_state *state, const double *rates, carom_vec3 *p,
                                carom_vec3 *l, double *impulses) {
  size_t rows = (size_t)s->model->joint_count * ROWS;
  memset(s->total, 0, rows * sizeof *s->total);
  for (int i = 0; i < s->order.node_count; i++) memset(s->v.b + 6 * s->order.nodes[i].body, 0, 6 * sizeof *s->v.b);
  for (int pass = 0; pass < 2 && s->order.acting_count > 0; pass++) {  // the second for round-off in the first
    fill_shortfall(s, state, rates, p, l);
    carom_joint_system_solve(s);
    carom_joint_system_push(s, s->v.lambda, p, l);
    for (int k = 0; k < s->order.acting_count; k++) {
      int first = s->order.acting[k] * ROWS, count = carom_joint_row_count(&s->model->joints[s->order.acting[k]]);
      for (int i = first; i < first + count; i++) s->total[i] += s->v.lambda[i];
    }
  }
  if (impulses) memcpy(impulses, s->total, rows * sizeof *impulses);
}

int carom_joint_system_missed(carom_joint_system *s, const carom_state *state, const double *rates, double *most) {
  int joint = -1;
  *most = 0;
  fill_shortfall(s, state, rates, state->p, state->l);
  for (int k = 0; k < s->order.acting_count; k++) {
    int j = s->order.acting[k], rows = carom_joint_row_count(&s->model->joints[j]);
    for (int i = j * ROWS; i < j * ROWS + rows; i++)
      if (fabs(s->v.c[i]) > *most) *most = fabs(s->v.c[i]), joint = j;
  }
  return joint;
}
