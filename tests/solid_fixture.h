// Solids in a test.
#ifndef CAROM_TESTS_SOLID_FIXTURE_H
#define CAROM_TESTS_SOLID_FIXTURE_H

#include "solid_samples.h"
#include "test.h"

static const carom_elastic_material RUBBER = {.density = 1000, .lambda = 1.5e4, .mu = 1e4};

static inline double solid_noise(carom_random *r) { return carom_random_between(r, -1, 1); }
static inline carom_vec3 solid_noise3(carom_random *r) {
  double x = solid_noise(r), y = solid_noise(r);
  return cm_vec3(x, y, solid_noise(r));
}

static inline carom_elastic *solid_of(const carom_elastic_def *def) {
  carom_elastic *e = NULL;
  carom_error error = {0};
  if (carom_elastic_create(def, NULL, &e, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  return e;
}

// A box of rubber by some law, on a mesh of its own.
typedef struct solid_sample {
  solid_mesh mesh;
  carom_elastic *elastic;
} solid_sample;

static inline solid_sample solid_sample_make(const solid_box *box, carom_elastic_law law,
                                             const carom_elastic_material *material) {
  solid_sample s = {.mesh = solid_box_make(box)};
  carom_elastic_def def = solid_def(&s.mesh, material);
  def.law = law;
  s.elastic = solid_of(&def);
  return s;
}

static inline void solid_sample_free(solid_sample *s) {
  carom_elastic_destroy(s->elastic);
  solid_mesh_free(&s->mesh);
}

static inline carom_vec3 *solid_vectors(int count) { return calloc((size_t)count, sizeof(carom_vec3)); }

static inline carom_elastic_state *solid_state(const carom_elastic *e) {
  carom_elastic_state *state = NULL;
  if (carom_elastic_state_create(e, NULL, &state, NULL)) test_fail(__FILE__, __LINE__, "no state");
  return state;
}

static inline carom_elastic_stepper *solid_stepper(carom_elastic *e, const carom_elastic_options *options) {
  carom_elastic_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_elastic_stepper_create(e, options, NULL, &stepper, &error))
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return stepper;
}

static inline double solid_largest(int count, const carom_vec3 *f) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, cm_norm(f[i]));
  return most;
}

static inline carom_mat3 solid_random_matrix(carom_random *r, double size) {
  carom_mat3 A = cm_identity3();
  for (int i = 0; i < 9; i++) A.m[i / 3][i % 3] += size * solid_noise(r);
  return A;
}

static inline void solid_map(const carom_mat3 *F, int count, const carom_vec3 *from, carom_vec3 *to) {
  for (int i = 0; i < count; i++) to[i] = cm_mulv(*F, from[i]);
}

#endif
