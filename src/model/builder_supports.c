// Supports: what bodies without inertia lie on.
#include <math.h>
#include <string.h>

#include "model/builder.h"
#include "model/support.h"

static const double SYMMETRIC = 1e-9;  // over the largest entry, lengths over the radius of gyration
static const double DEFINITE = 1e-12;  // least eigenvalue over the greatest

carom_support_def carom_support_default(void) { return (carom_support_def){.kind = CAROM_SUPPORT_VISCOUS}; }

// Of gyration, m: what angular velocities are measured by.
static double length_of(const carom_body *body) {
  double square = (body->inertia.x + body->inertia.y + body->inertia.z) / (2 * body->mass);
  return square > 0 ? sqrt(square) : 1;
}

// Its squares about the axes, m2; those of a point, which nothing turns, are 1.
static carom_vec3 gyration_of(const carom_body *body) {
  return body->inverse_inertia.x > 0 ? cm_scale(1 / body->mass, body->inertia) : cm_vec3(1, 1, 1);
}

// ---- what is said ---------------------------------------------------------------------------------------------------

static int ways(const carom_support_def *def) {
  bool dry = def->kind == CAROM_SUPPORT_DRY;
  return (def->matrix != NULL) +
         (dry ? def->force != 0 || def->torque != 0 : (def->damping != 0) + (def->points || def->point_count != 0));
}

static carom_status check_strengths(const carom_support_def *def, const char *name, carom_error *error) {
  if (!(def->force > 0) || isinf(def->force))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "support of '%s': the greatest force is %g N, expected more than 0 (and 'torque' beside it)",
                      name, def->force);
  if (!(def->torque > 0) || isinf(def->torque))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "support of '%s': the greatest torque is %g N m, expected more than 0 (and 'force' beside it)",
                      name, def->torque);
  return CAROM_OK;
}

static carom_status check_points(const carom_support_def *def, const char *name, carom_error *error) {
  if (def->point_count < 1 || !def->points)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "support of '%s': %d points, but no array of them", name,
                      def->point_count);
  for (int i = 0; i < def->point_count; i++)
    if (!(def->points[i].damping >= 0) || isinf(def->points[i].damping) || !cm_finite(def->points[i].position))
      return carom_fail(error, CAROM_ERR_NUMBER,
                        "support of '%s': the damping of point %d is %g N s/m, expected 0 or more, at a finite place",
                        name, i, def->points[i].damping);
  return CAROM_OK;
}

static carom_status check_matrix(const carom_support_def *def, double length, const char *name, carom_error *error) {
  int n = def->size;
  double most = 0, skew = 0;
  if (n != 3 && n != 6)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "support of '%s': its matrix has %d rows, expected 3 or 6", name, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double unit = (i < n - (n == 3 ? 1 : 3) ? 1 : length) * (j < n - (n == 3 ? 1 : 3) ? 1 : length);
      double a = def->matrix[i * n + j], b = def->matrix[j * n + i];
      if (!isfinite(a)) return carom_fail(error, CAROM_ERR_NUMBER, "support of '%s': its matrix is not finite", name);
      most = fmax(most, fabs(a) / unit);
      skew = fmax(skew, fabs(a - b) / unit);
    }
  if (skew > SYMMETRIC * most)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "support of '%s': its matrix is not symmetric", name);
  return CAROM_OK;
}

static carom_status check(carom_builder *b, const carom_support_def *def) {
  const carom_body *body = &b->model->bodies[def->body];
  carom_error *error = &b->error;
  if (def->kind != CAROM_SUPPORT_VISCOUS && def->kind != CAROM_SUPPORT_DRY)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "support of '%s': unknown kind %d", body->name, (int)def->kind);
  if (body->fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "support of '%s': the body is fixed and needs none", body->name);
  if (def->body < b->support_capacity && b->model->supports[def->body].kind != CAROM_SUPPORT_NONE)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' has two supports: remove one of them", body->name);
  if (ways(def) != 1)
    return carom_fail(
        error, CAROM_ERR_ARGUMENT, "support of '%s': say %s of %s", body->name, ways(def) ? "only one" : "one",
        def->kind == CAROM_SUPPORT_DRY ? "force (with torque) and matrix" : "damping (more than 0), matrix and points");
  if (def->matrix) return check_matrix(def, length_of(body), body->name, error);
  if (def->kind == CAROM_SUPPORT_DRY) return check_strengths(def, body->name, error);
  if (def->points) return check_points(def, body->name, error);
  if (def->damping > 0 && !isinf(def->damping)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER, "support of '%s': the damping is %g N s/m, expected more than 0",
                    body->name, def->damping);
}

// ---- matrices along principal axes ----------------------------------------------------------------------------------

static void put_matrix(const carom_support_def *def, const carom_body *body, double M[6][6]) {
  double user[6][6] = {{0}};
  int entries[6], n = carom_twist_entries(def->size == 3, entries);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) user[entries[i]][entries[j]] = 0.5 * (def->matrix[i * n + j] + def->matrix[j * n + i]);
  carom_support_turn(carom_read6(user), cm_rotation(body->frame.q), M);
}

// A V = v + w x r: A = [1, -hat(r)].
static void add_point(carom_vec3 r, double c, double M[6][6]) {
  carom_mat3 hat = cm_hat(r), square = cm_mmul(cm_transpose(hat), hat);
  for (int i = 0; i < 3; i++) {
    M[i][i] += c;
    for (int j = 0; j < 3; j++) {
      M[i][3 + j] -= c * hat.m[i][j];
      M[3 + j][i] -= c * hat.m[i][j];
      M[3 + i][3 + j] += c * square.m[i][j];
    }
  }
}

static void put_diagonal(carom_vec3 linear, carom_vec3 angular, double M[6][6]) {
  double d[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
  for (int i = 0; i < 6; i++) M[i][i] = d[i];
}

static carom_support make(const carom_support_def *def, const carom_body *body) {
  carom_support s = {.kind = def->kind};
  double f = def->force * def->force, t = def->torque * def->torque, c = def->damping;
  if (def->matrix)
    put_matrix(def, body, s.matrix);
  else if (def->kind == CAROM_SUPPORT_DRY)
    put_diagonal(cm_vec3(f, f, f), cm_vec3(t, t, t), s.matrix);
  else if (!def->points)
    put_diagonal(cm_vec3(c, c, c), cm_scale(c, gyration_of(body)), s.matrix);
  for (int i = 0; i < def->point_count && def->points; i++)
    add_point(cm_transform(body->frame, def->points[i].position), def->points[i].damping, s.matrix);
  return s;
}

// ---- adding ---------------------------------------------------------------------------------------------------------

static carom_status check_definite(const carom_builder *b, int index, const carom_support *s, carom_error *error) {
  const carom_body *body = &b->model->bodies[index];
  double world[6][6], least, most;
  bool planar = b->model->view.planar, viscous = s->kind == CAROM_SUPPORT_VISCOUS;
  carom_support_turn(s->matrix, cm_rotation(b->poses[index].q), world);
  if (carom_support_spectrum(carom_read6(world), planar, length_of(body), &least, &most) != CAROM_OK)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the support of '%s'", body->name);
  if (least > DEFINITE * most) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER,
                    "support of '%s': its matrix is not positive definite (least eigenvalue %.3g %s), so that the body "
                    "could %s without resistance: %s",
                    body->name, least, viscous ? "N s/m" : "N^2", planar ? "move in the plane" : "move",
                    planar ? "points need two places, bodies a shape that turns" : "points need three places");
}

static bool make_room(carom_builder *b, int count) {
  int before = b->support_capacity;
  if (count <= before) return true;
  if (!carom_reserve(&b->allocator, (void **)&b->model->supports, &b->support_capacity, count,
                     sizeof *b->model->supports))
    return false;
  memset(b->model->supports + before, 0, (size_t)(b->support_capacity - before) * sizeof *b->model->supports);
  return true;
}

int carom_builder_add_support(carom_builder *builder, const carom_support_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, def->body, false, "support")) return -1;
  carom_model *m = &builder->model->view;
  if (check(builder, def) != CAROM_OK) return -1;
  carom_support support = make(def, &builder->model->bodies[def->body]);
  if (check_definite(builder, def->body, &support, &builder->error) != CAROM_OK) return -1;
  if (!make_room(builder, def->body + 1)) return carom_builder_out_of_memory(builder);
  builder->model->supports[def->body] = support;
  return m->support_count++;
}

carom_status carom_builder_finish_supports(carom_builder *b, carom_error *error) {
  const carom_model *m = &b->model->view;
  carom_status status = CAROM_OK;
  if (m->support_count == 0) return CAROM_OK;
  if (!make_room(b, m->body_count))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the supports of %d bodies", m->body_count);
  for (int i = 0; i < m->body_count && status == CAROM_OK; i++)
    if (b->model->supports[i].kind != CAROM_SUPPORT_NONE) status = check_definite(b, i, &b->model->supports[i], error);
  return status;
}
