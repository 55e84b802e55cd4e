// Plans out of texts, and momenta on both sides of their planned contacts.
#ifndef CAROM_TESTS_BLOWS_H
#define CAROM_TESTS_BLOWS_H

#include "carom/impact.h"
#include "control/plan.h"
#include "plans.h"

static inline bool solve(carom_plan *plan, const carom_plan_options *options, carom_plan_report *report) {
  carom_error error = {0};
  if (!carom_plan_available()) test_skip("built without Ipopt");
  if (carom_plan_solve(plan, options, report, &error) == CAROM_OK) return true;
  test_fail(__FILE__, __LINE__, "%s", error.message);
  return false;
}

static inline void write_text(const char *path, const char *text) {
  FILE *out = fopen(path, "w");
  REQUIRE(out != NULL);
  fputs(text, out);
  fclose(out);
}

// The problem names its scene NAME_scene.yaml.
static inline carom_plan_file *read_texts(const char *name, const char *scene, const char *problem) {
  char scene_path[80], path[80];
  snprintf(scene_path, sizeof scene_path, "%s_scene.yaml", name);
  snprintf(path, sizeof path, "%s.yaml", name);
  write_text(scene_path, scene);
  write_text(path, problem);
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  if (!carom_plan_available()) test_skip("built without Ipopt");
  if (carom_plan_read(path, NULL, NULL, &file, &found) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", found.count ? found.items[0].message : "memory");
  carom_diagnostics_release(&found);
  remove(path);
  remove(scene_path);
  return file;
}

// Momenta, velocities and a point of a body at a contact, as the program has them.
typedef struct side {
  carom_vec3 p, l, v, omega;
} side;

static inline side side_of(const carom_plan *plan, int node, int body, bool after) {
  const double *P = plan->program.x + carom_variable_P(plan, node, body, after);
  const carom_body *b = &plan->model->bodies[body];
  carom_quat q = plan->path.q[(size_t)node * (size_t)plan->model->body_count + (size_t)body];
  side s = {.p = {P[0], P[1], P[2]}, .l = {P[3], P[4], P[5]}};
  s.v = cm_scale(b->inverse_mass, s.p);
  s.omega = cm_rotate(q, cm_mul_diag(b->inverse_inertia, cm_unrotate(q, s.l)));
  return s;
}

static inline carom_vec3 position(const carom_plan *plan, int node, int body) {
  return plan->path.x[(size_t)node * (size_t)plan->model->body_count + (size_t)body];
}

static inline carom_vec3 turn_of(const carom_plan *plan, int node, int body, carom_vec3 v) {
  return cm_rotate(plan->path.q[(size_t)node * (size_t)plan->model->body_count + (size_t)body], v);
}

static inline carom_vec3 speed_at(const side *s, carom_vec3 arm) { return cm_add(s->v, cm_cross(s->omega, arm)); }

// One contact of body 0 with a fixed one by Newton's law: normal y, tangents x and z; law: restitution, friction.
static inline void impact_by_law(const carom_plan *plan, int node, carom_vec3 arm, const side *before,
                                 const double law[2], double impulse[3]) {
  static const carom_vec3 axis[3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  const carom_body *b = &plan->model->bodies[0];
  double W[9], u[3];
  carom_vec3 speed = speed_at(before, arm);
  for (int i = 0; i < 3; i++) {
    u[i] = cm_dot(axis[i], speed);
    for (int j = 0; j < 3; j++) {
      carom_vec3 ti = cm_cross(arm, axis[i]), tj = cm_cross(arm, axis[j]);
      carom_quat q = plan->path.q[(size_t)node * (size_t)plan->model->body_count];
      carom_vec3 omega = cm_rotate(q, cm_mul_diag(b->inverse_inertia, cm_unrotate(q, tj)));
      W[3 * i + j] = (i == j ? b->inverse_mass : 0) + cm_dot(ti, omega);
    }
  }
  carom_impact_problem problem = {1, W, u, &law[0], &law[1]};
  carom_impact_work *work;
  carom_impact_info info;
  REQUIRE(carom_impact_work_create(1, NULL, &work, NULL) == CAROM_OK);
  for (int i = 0; i < 3; i++) impulse[i] = 0;
  CHECK(carom_impact_solve(work, &problem, CAROM_IMPACT_NEWTON, &(carom_impact_solution){impulse, NULL}, &info, NULL) ==
        CAROM_OK);
  carom_impact_work_destroy(work);
}

#endif
