// Gravity, pressure, nodal forces, pins, and what the caller adds.
#include <string.h>

#include "math/sum.h"
#include "solid/stepper.h"

static const carom_elastic_loads NOTHING = {.gravity = {0, 0, 0}};

carom_status carom_solid_check_loads(const carom_elastic *e, const carom_elastic_loads *loads, carom_error *error) {
  if (!cm_finite(loads->gravity)) return carom_fail(error, CAROM_ERR_NUMBER, "gravity is not finite");
  for (int i = 0; i < loads->pin_count; i++)
    if (loads->pins[i] < 0 || loads->pins[i] >= e->node_count)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "pin %d is node %d, but nodes go from 0 to %d", i, loads->pins[i],
                        e->node_count - 1);
  for (int i = 0; i < loads->triangle_count; i++) {
    for (int k = 0; k < 3; k++)
      if (loads->triangles[i][k] < 0 || loads->triangles[i][k] >= e->node_count)
        return carom_fail(error, CAROM_ERR_ARGUMENT,
                          "triangle %d under pressure names node %d, but nodes go from 0 to %d", i,
                          loads->triangles[i][k], e->node_count - 1);
    if (!isfinite(loads->pressure[i]))
      return carom_fail(error, CAROM_ERR_NUMBER, "the pressure on triangle %d is not finite", i);
  }
  return CAROM_OK;
}

void carom_solid_pin(const carom_elastic_loads *loads, double t, int i, carom_vec3 *x, carom_vec3 *v) {
  *v = cm_zero3();
  if (loads->move) loads->move(loads->context, t, i, x, v);
}

// ---- pressure -------------------------------------------------------------------------------------------------------

// (b - a) x (c - a): twice the area, outwards. Every corner takes a third of the force on it.
static carom_vec3 twice_area(const int *triangle, const carom_vec3 *x) {
  carom_vec3 a = x[triangle[0]];
  return cm_cross(cm_sub(x[triangle[1]], a), cm_sub(x[triangle[2]], a));
}

static void add_pressure(const carom_elastic_loads *loads, double share, const carom_vec3 *x, carom_vec3 *f) {
  for (int i = 0; i < loads->triangle_count; i++) {
    const int *n = loads->triangles[i];
    carom_vec3 each = cm_scale(-share * loads->pressure[i] / 6, twice_area(n, x));
    for (int k = 0; k < 3; k++) f[n[k]] = cm_add(f[n[k]], each);
  }
}

// -df_a/db, made symmetric: p/12 hat(a + b - 2 c). Over closed surfaces the skew parts cancel.
void carom_solid_stiffen(carom_elastic_matrix *m, const carom_solid_moment *at, const carom_vec3 *x) {
  for (int i = 0; i < at->loads->triangle_count; i++) {
    const int *n = at->loads->triangles[i];
    for (int k = 0; k < 3; k++) {
      int a = n[k], b = n[(k + 1) % 3], c = n[(k + 2) % 3];
      int place = carom_solid_matrix_find(m, a, b), mirror = carom_solid_matrix_find(m, b, a);
      if (place < 0) continue;
      carom_vec3 arm = cm_axpy(cm_add(x[a], x[b]), -2, x[c]);
      carom_mat3 block = cm_hat(cm_scale(at->share * at->loads->pressure[i] / 12, arm));
      m->blocks[place] = cm_madd(m->blocks[place], block);
      m->blocks[mirror] = cm_msub(m->blocks[mirror], block);
    }
  }
}

double carom_elastic_enclosed_volume(const carom_elastic_loads *loads, const carom_vec3 *x) {
  carom_sum sum = {0};
  carom_vec3 origin = loads->triangle_count > 0 ? x[loads->triangles[0][0]] : cm_zero3();
  for (int i = 0; i < loads->triangle_count; i++) {
    carom_vec3 corner = cm_sub(x[loads->triangles[i][0]], origin);
    carom_sum_add(&sum, cm_dot(corner, twice_area(loads->triangles[i], x)) / 6);
  }
  return carom_sum_value(&sum);
}

// ---- all of them ----------------------------------------------------------------------------------------------------

carom_status carom_solid_add_loads(const carom_elastic *e, const carom_solid_moment *at, const carom_vec3 *x,
                                   const carom_vec3 *v, carom_vec3 *f, carom_vec3 *extra, carom_mat3 *K) {
  const carom_elastic_loads *loads = at->loads ? at->loads : &NOTHING;
  if (K) memset(K, 0, (size_t)e->node_count * sizeof *K);
  if (cm_norm2(loads->gravity) > 0)
    for (int i = 0; i < e->node_count; i++) f[i] = cm_axpy(f[i], at->share * e->mass[i], loads->gravity);
  if (loads->force)
    for (int i = 0; i < e->node_count; i++) f[i] = cm_axpy(f[i], at->share, loads->force[i]);
  add_pressure(loads, at->share, x, f);
  if (!loads->extra) return CAROM_OK;
  memset(extra, 0, (size_t)e->node_count * sizeof *extra);
  carom_status status = loads->extra(loads->context, at->t, x, v, extra, K);
  for (int i = 0; i < e->node_count; i++) f[i] = cm_add(f[i], extra[i]);
  return status;
}

// ---- work -----------------------------------------------------------------------------------------------------------

double carom_solid_dot(int count, const carom_vec3 *a, const carom_vec3 *b) {
  carom_sum sum = {0};
  for (int i = 0; i < count; i++) carom_sum_add(&sum, cm_dot(a[i], b[i]));
  return carom_sum_value(&sum);
}

static double pressure_work(const carom_elastic_loads *loads, const carom_vec3 *x, const carom_vec3 *d) {
  carom_sum sum = {0};
  for (int i = 0; i < loads->triangle_count; i++) {
    const int *n = loads->triangles[i];
    carom_vec3 way = cm_add(cm_add(d[n[0]], d[n[1]]), d[n[2]]);
    carom_sum_add(&sum, -loads->pressure[i] / 6 * cm_dot(twice_area(n, x), way));
  }
  return carom_sum_value(&sum);
}

carom_solid_works carom_solid_work(const carom_elastic *e, const carom_elastic_loads *loads, const carom_vec3 *x,
                                   const carom_vec3 *d) {
  carom_sum3 moved = {0};
  for (int i = 0; i < e->node_count; i++) carom_sum3_add(&moved, cm_scale(e->mass[i], d[i]));
  return (carom_solid_works){.gravity = cm_dot(loads->gravity, carom_sum3_value(&moved)),
                             .pressure = pressure_work(loads, x, d),
                             .force = loads->force ? carom_solid_dot(e->node_count, loads->force, d) : 0};
}

// ---- what the outside did -------------------------------------------------------------------------------------------

static void book_force(carom_elastic_report *r, double h, carom_vec3 x, carom_vec3 f) {
  r->impulse = cm_axpy(r->impulse, h, f);
  r->moment = cm_axpy(r->moment, h, cm_cross(x, f));
}

void carom_solid_book_loads(const carom_elastic *e, const carom_solid_moment *at, double h, const carom_vec3 *x,
                            const carom_vec3 *extra, carom_elastic_report *r) {
  const carom_elastic_loads *loads = at->loads ? at->loads : &NOTHING;
  for (int i = 0; i < e->node_count; i++) {
    carom_vec3 f = cm_scale(e->mass[i], loads->gravity);
    if (loads->force) f = cm_add(f, loads->force[i]);
    if (loads->extra) f = cm_add(f, extra[i]);
    book_force(r, h, x[i], f);
  }
  for (int i = 0; i < loads->triangle_count; i++) {
    const int *n = loads->triangles[i];
    carom_vec3 each = cm_scale(-loads->pressure[i] / 6, twice_area(n, x));
    for (int k = 0; k < 3; k++) book_force(r, h, x[n[k]], each);
  }
}

void carom_solid_book_pin(carom_elastic_report *r, carom_vec3 impulse, carom_vec3 moment) {
  r->pin_impulse = cm_add(r->pin_impulse, impulse);
  r->impulse = cm_add(r->impulse, impulse);
  r->moment = cm_add(r->moment, moment);
}
