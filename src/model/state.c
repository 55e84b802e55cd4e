#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

// One block: the struct, then x, q, p, l, the joints, the inputs and the nodes.
static size_t block_size(const carom_model *model) {
  size_t n = (size_t)model->body_count;
  return sizeof(carom_state) + n * (3 * sizeof(carom_vec3) + sizeof(carom_quat)) +
         (size_t)model->joint_count * sizeof(carom_joint_state) + (size_t)model->input_size * sizeof(double) +
         2 * (size_t)model->node_count * sizeof(carom_vec3);
}

carom_status carom_state_create(const carom_model *model, const carom_allocator *allocator, carom_state **state,
                                carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_state *s = carom_allocate(&a, block_size(model), 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the state of %d bodies", model->body_count);
  s->body_count = model->body_count;
  s->joint_count = model->joint_count;
  s->input_size = model->input_size;
  s->allocator = a;
  s->x = (carom_vec3 *)(s + 1);
  s->q = (carom_quat *)(s->x + s->body_count);
  s->p = (carom_vec3 *)(s->q + s->body_count);
  s->l = s->p + s->body_count;
  s->joints = (carom_joint_state *)(s->l + s->body_count);
  s->inputs = (double *)(s->joints + s->joint_count);
  s->node_count = model->node_count;
  s->nodes = (carom_vec3 *)(s->inputs + s->input_size);
  s->node_velocities = s->nodes + s->node_count;
  *state = s;
  return CAROM_OK;
}

void carom_state_copy(carom_state *to, const carom_state *from) {
  size_t n = (size_t)from->body_count;
  to->time = from->time;
  to->step = from->step;
  memcpy(to->x, from->x, n * sizeof *to->x);
  memcpy(to->q, from->q, n * sizeof *to->q);
  memcpy(to->p, from->p, n * sizeof *to->p);
  memcpy(to->l, from->l, n * sizeof *to->l);
  if (from->joint_count > 0) memcpy(to->joints, from->joints, (size_t)from->joint_count * sizeof *to->joints);
  if (from->input_size > 0) memcpy(to->inputs, from->inputs, (size_t)from->input_size * sizeof *to->inputs);
  if (from->node_count == 0 || to->node_count == 0) return;  // integrators keep states of bodies alone
  memcpy(to->nodes, from->nodes, (size_t)from->node_count * sizeof *to->nodes);
  memcpy(to->node_velocities, from->node_velocities, (size_t)from->node_count * sizeof *to->node_velocities);
}

carom_status carom_state_clone(const carom_state *from, const carom_allocator *allocator, carom_state **state,
                               carom_error *error) {
  *state = NULL;
  const carom_model sizes = {.body_count = from->body_count,
                             .joint_count = from->joint_count,
                             .input_size = from->input_size,
                             .node_count = from->node_count};
  carom_status status = carom_state_create(&sizes, allocator, state, error);
  if (status == CAROM_OK) carom_state_copy(*state, from);
  return status;
}

void carom_state_destroy(carom_state *state) {
  if (!state) return;
  carom_allocator allocator = state->allocator;
  carom_release(&allocator, state);
}

carom_vec3 carom_state_point(const carom_state *state, int body, carom_vec3 point) {
  return body == CAROM_WORLD ? point : cm_add(state->x[body], cm_rotate(state->q[body], point));
}

carom_vec3 carom_body_spin_momentum(const carom_body *body, carom_quat q, carom_vec3 angular_velocity) {
  if (body->fixed) return cm_zero3();
  return cm_rotate(q, cm_mul_diag(body->inertia, cm_unrotate(q, angular_velocity)));
}

carom_pose carom_state_pose(const carom_model *model, const carom_state *state, int body) {
  return cm_compose(cm_pose(state->x[body], state->q[body]), model->bodies[body].frame);
}

carom_vec3 carom_state_velocity(const carom_model *model, const carom_state *state, int body) {
  return cm_scale(model->bodies[body].inverse_mass, state->p[body]);
}

carom_vec3 carom_state_angular_velocity(const carom_model *model, const carom_state *state, int body) {
  carom_quat q = state->q[body];
  return cm_rotate(q, cm_mul_diag(model->bodies[body].inverse_inertia, cm_unrotate(q, state->l[body])));
}

void carom_state_set_pose(const carom_model *model, carom_state *state, int body, carom_pose pose) {
  pose.q = cm_qunit(pose.q);
  carom_pose principal = cm_compose(pose, cm_pose_inverse(model->bodies[body].frame));
  state->x[body] = principal.p;
  state->q[body] = cm_qunit(principal.q);
}

void carom_state_set_velocity(const carom_model *model, carom_state *state, int body, carom_vec3 velocity,
                              carom_vec3 angular_velocity) {
  const carom_body *b = &model->bodies[body];
  state->p[body] = b->fixed ? cm_zero3() : cm_scale(b->mass, velocity);
  state->l[body] = carom_body_spin_momentum(b, state->q[body], angular_velocity);
}

static bool finite3(carom_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static bool is_rotation(carom_quat q) {
  double square = cm_qdot(q, q);
  return isfinite(square) && square > 1e-12;
}

static const char *broken_field(const carom_state *state, int i) {
  if (!finite3(state->x[i])) return "position (x)";
  if (!is_rotation(state->q[i])) return "quaternion (q)";
  if (!finite3(state->p[i])) return "momentum (p)";
  return finite3(state->l[i]) ? NULL : "angular momentum (l)";
}

static carom_status check_inputs(const carom_model *model, const carom_state *state, carom_error *error) {
  for (int i = 0; i < model->input_count; i++) {
    const carom_input *input = &model->inputs[i];
    for (int k = input->first; k < input->first + input->count; k++)
      if (!isfinite(state->inputs[k]))
        return carom_fail(error, CAROM_ERR_NUMBER,
                          "input '%.200s' in the state at t = %.9g s is not finite: check what its controller says",
                          input->name, state->time);
  }
  return CAROM_OK;
}

static carom_status check_nodes(const carom_model *model, const carom_state *state, carom_error *error) {
  for (int i = 0; i < state->node_count; i++) {
    bool placed = finite3(state->nodes[i]);
    if (placed && finite3(state->node_velocities[i])) continue;
    const carom_solid *solid = &model->solids[carom_model_solid_of(model, i)];
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "the %s of node %d of solid '%.200s' in the state at t = %.9g s is not finite: check where it is, "
                      "how fast it moves, and its mass",
                      placed ? "velocity" : "position", i - solid->node_start, solid->name, state->time);
  }
  return CAROM_OK;
}

carom_status carom_state_check(const carom_model *model, const carom_state *state, carom_error *error) {
  if (state->body_count != model->body_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the state has %d bodies, the model %d", state->body_count,
                      model->body_count);
  if (state->joint_count != model->joint_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the state has %d joints, the model %d", state->joint_count,
                      model->joint_count);
  if (state->input_size != model->input_size)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the state has %d numbers of inputs, the model %d", state->input_size,
                      model->input_size);
  if (state->node_count != model->node_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the state has %d nodes of solids, the model %d", state->node_count,
                      model->node_count);
  if (!isfinite(state->time))
    return carom_fail(error, CAROM_ERR_NUMBER, "the time of the state is not a finite number; set state->time");
  for (int i = 0; i < state->body_count; i++) {
    const char *field = broken_field(state, i);
    if (field)
      return carom_fail(
          error, CAROM_ERR_NUMBER,
          "the %s of body '%.200s' in the state at t = %.9g s is not finite%s: check where it is, how fast it "
          "moves, and its mass",
          field, model->bodies[i].name, state->time, field[0] == 'q' ? " or of no length" : "");
  }
  for (int i = 0; i < state->joint_count; i++)
    if (!isfinite(state->joints[i].turn))
      return carom_fail(error, CAROM_ERR_NUMBER, "the turn of joint '%.200s' in the state at t = %.9g s is not finite",
                        model->joints[i].name, state->time);
  carom_status status = check_inputs(model, state, error);
  return status == CAROM_OK ? check_nodes(model, state, error) : status;
}

uint64_t carom_state_hash(const carom_state *state) {
  uint64_t hash = carom_hash_bytes(CAROM_HASH_START, &state->time, sizeof state->time);
  size_t n = (size_t)state->body_count;
  hash = carom_hash_bytes(hash, state->x, n * sizeof *state->x);
  hash = carom_hash_bytes(hash, state->q, n * sizeof *state->q);
  hash = carom_hash_bytes(hash, state->p, n * sizeof *state->p);
  hash = carom_hash_bytes(hash, state->l, n * sizeof *state->l);
  hash = carom_hash_bytes(hash, state->joints, (size_t)state->joint_count * sizeof *state->joints);
  hash = carom_hash_bytes(hash, state->inputs, (size_t)state->input_size * sizeof *state->inputs);
  hash = carom_hash_bytes(hash, state->nodes, (size_t)state->node_count * sizeof *state->nodes);
  return carom_hash_bytes(hash, state->node_velocities, (size_t)state->node_count * sizeof *state->node_velocities);
}
