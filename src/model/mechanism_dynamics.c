// Mechanisms: inverse dynamics by Newton and Euler from the roots to the leaves and back (Luh, Walker and Paul 1980),
// in world axes, and forward dynamics through the mass matrix.
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense.h"
#include "model/mechanism.h"

// ---- accelerations, from the roots on ------------------------------------------------------------------------------

static carom_vec3 centripetal(carom_vec3 w, carom_vec3 arm) { return cm_cross(w, cm_cross(w, arm)); }

// Of the point at `arm` from the centre of a body.
static carom_vec3 acceleration_at(const carom_twist *motion, const carom_twist *rate, carom_vec3 arm) {
  return cm_add(rate->v, cm_add(cm_cross(rate->w, arm), centripetal(motion->w, arm)));
}

// Rates of W and V as seen in the world: directions turn with body 0 of the joint, whose angular velocity is w0; a link
// of given length keeps its points on a sphere.
static carom_freedom relative_rate(const carom_mechanism *m, const carom_link *link, carom_freedom motion,
                                   carom_vec3 w0, const double *accelerations) {
  carom_freedom rate = carom_link_sum(link, accelerations);
  rate.w = cm_add(rate.w, cm_cross(w0, motion.w));
  rate.v = cm_axpy(rate.v, 2, cm_cross(w0, motion.v));
  if (link->joint >= 0 && m->model->joints[link->joint].kind == CAROM_JOINT_DISTANCE)
    rate.v = cm_axpy(rate.v, -cm_norm2(motion.v) / cm_norm2(link->d), link->d);
  return rate;
}

static void accelerate(carom_mechanism *m, const carom_link *link, const double *accelerations) {
  int body = link->body, parent = link->parent < 0 ? -1 : m->links[link->parent].body;
  carom_twist still = {cm_zero3(), cm_zero3()}, motion = still, rate = still;
  carom_vec3 arm = cm_zero3();
  if (parent >= 0) motion = m->motion[parent], rate = m->rate[parent], arm = cm_sub(link->r, m->x[parent]);
  carom_vec3 w0 = link->sign > 0 ? motion.w : m->motion[body].w;
  carom_freedom change = relative_rate(m, link, carom_link_motion(m, link), w0, accelerations);
  carom_vec3 at_r = cm_axpy(acceleration_at(&motion, &rate, arm), link->sign, change.v);
  carom_twist *own = &m->rate[body];
  own->w = link->turns ? cm_axpy(rate.w, link->sign, change.w) : cm_zero3();
  carom_vec3 back = cm_sub(link->r, m->x[body]);
  own->v = cm_sub(at_r, cm_add(cm_cross(own->w, back), centripetal(m->motion[body].w, back)));
}

// ---- fields --------------------------------------------------------------------------------------------------------

static void evaluate_fields(carom_mechanism *m) {
  for (int i = 0; i < m->model->body_count; i++) {
    m->d[i] = cm_rotation(m->q[i]);
    m->dv[i] = cm_mmul(cm_hat(m->motion[i].w), m->d[i]);
    m->velocities[i] = m->motion[i].v;
  }
  carom_configuration c = {m->time, m->x, m->d, m->velocities, m->dv, m->joints, NULL, false};
  carom_fields_evaluate(m->model, &c, &m->fields);
}

// What it takes to accelerate a body besides gravity and the fields: at its centre of mass.
static carom_joint_load demand(const carom_mechanism *m, int body) {
  const carom_body *b = &m->model->bodies[body];
  const carom_twist *motion = &m->motion[body], *rate = &m->rate[body];
  carom_joint_load load = {cm_scale(b->mass, cm_sub(rate->v, m->model->gravity)), cm_zero3()};
  load.force = cm_sub(load.force, m->fields.f[body]);
  if (!(b->inverse_inertia.x > 0)) return load;
  carom_vec3 w = cm_unrotate(m->q[body], motion->w), w_rate = cm_unrotate(m->q[body], rate->w);
  carom_vec3 euler = cm_add(cm_mul_diag(b->inertia, w_rate), cm_cross(w, cm_mul_diag(b->inertia, w)));
  carom_vec3 torque = cm_add(m->fields.torque[body], carom_director_torque(m->fields.g[body], m->d[body]));
  load.moment = cm_sub(cm_rotate(m->q[body], euler), torque);
  return load;
}

// ---- loads, from the leaves on -------------------------------------------------------------------------------------

static carom_vec3 moment_about(const carom_joint_load *load, carom_vec3 at, carom_vec3 point) {
  return cm_add(load->moment, cm_cross(cm_sub(at, point), load->force));
}

// Without demands: what it takes to accelerate the bodies.
static void gather_loads(carom_mechanism *m, const carom_joint_load *demands) {
  for (int i = 0; i < m->link_count; i++) {
    int body = m->links[i].body;
    carom_joint_load own = demands ? demands[body] : demand(m, body);
    m->load[i] = (carom_joint_load){own.force, moment_about(&own, m->x[body], m->links[i].r)};
  }
  for (int i = m->link_count - 1; i >= 0; i--) {
    const carom_link *link = &m->links[i];
    if (!link->turns) m->load[i].moment = cm_zero3();  // nothing turns it, and it passes on no moments
    if (link->parent < 0) continue;
    carom_joint_load *parent = &m->load[link->parent];
    parent->moment = cm_add(parent->moment, moment_about(&m->load[i], link->r, m->links[link->parent].r));
    parent->force = cm_add(parent->force, m->load[i].force);
  }
}

static void tell_loads(const carom_mechanism *m, carom_joint_load *loads) {
  memset(loads, 0, (size_t)m->model->joint_count * sizeof *loads);
  for (int i = 0; i < m->link_count; i++) {
    const carom_link *link = &m->links[i];
    if (link->joint < 0) continue;
    loads[link->joint].force = cm_scale(link->sign, m->load[i].force);
    loads[link->joint].moment = cm_scale(link->sign, m->load[i].moment);
  }
}

void carom_mechanism_carry(carom_mechanism *mechanism, const carom_joint_load *demands, carom_joint_load *loads) {
  gather_loads(mechanism, demands);
  tell_loads(mechanism, loads);
}

void carom_mechanism_inverse(carom_mechanism *m, const double *accelerations, double *forces, carom_joint_load *loads) {
  evaluate_fields(m);
  for (int i = 0; i < m->link_count; i++) accelerate(m, &m->links[i], accelerations);
  gather_loads(m, NULL);
  for (int i = 0; i < m->link_count; i++) {
    const carom_link *link = &m->links[i];
    for (int k = 0; k < link->count; k++)
      forces[link->first + k] =
          link->sign * (cm_dot(link->f[k].v, m->load[i].force) + cm_dot(link->f[k].w, m->load[i].moment));
  }
  if (loads) tell_loads(m, loads);
}

// n x n, and n more.
static carom_status make_room(carom_mechanism *m, carom_error *error) {
  size_t n = (size_t)m->freedoms, room = n * (n + 1);
  void **matrix = (void **)&m->matrix;
  if (room < INT_MAX && carom_reserve(&m->arena.allocator, matrix, &m->matrix_room, (int)room, sizeof(double)))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the mass matrix of %d freedoms", m->freedoms);
}

carom_status carom_mechanism_forward(carom_mechanism *m, const double *forces, double *accelerations,
                                     carom_error *error) {
  int n = m->freedoms;
  carom_status status = make_room(m, error);
  if (status != CAROM_OK) return status;
  double *matrix = m->matrix, *bias = m->matrix + (size_t)n * (size_t)n;
  carom_mechanism_mass(m, matrix);
  if (carom_small_cholesky(n, matrix, n) != CAROM_OK)
    return carom_fail(error, CAROM_ERR_SINGULAR,
                      "the mass matrix of %d freedoms is singular at t = %.9g s: a joint moves bodies without mass or "
                      "inertia along its freedom",
                      n, m->time);
  carom_mechanism_inverse(m, NULL, bias, NULL);
  for (int i = 0; i < n; i++) accelerations[i] = (forces ? forces[i] : 0) - bias[i];
  carom_small_cholesky_solve(n, matrix, n, accelerations);
  return CAROM_OK;
}
