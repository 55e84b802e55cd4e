// Random scenes: 1 to 30 bodies of all kinds and of sizes from millimetres to metres fall tumbling on a floor, with and
// without joints. A seed is a scene. The judge sees poses and velocities alone.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance.h"

static const double G = 9.81;

enum { TEXT_SIZE = 30000 };

typedef struct writer {
  char text[TEXT_SIZE];
  size_t used;
  carom_random random;
  double size;     // of the largest body, m
  double spacing;  // between neighbours
  int bodies, joints;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(w->text + w->used, TEXT_SIZE - w->used, format, arguments);
  va_end(arguments);
  if (n < 0 || w->used + (size_t)n >= TEXT_SIZE) abort();
  w->used += (size_t)n;
}

static double between(writer *w, double a, double b) { return carom_random_between(&w->random, a, b); }
static double spread(writer *w, double a, double b) { return a * pow(b / a, carom_random_uniform(&w->random)); }
static int below(writer *w, int n) { return (int)carom_random_below(&w->random, (uint32_t)n); }

// ---- the generator ------------------------------------------------------------------------------------------------

// Every shape fits into a ball of radius size/2.
static void put_shape(writer *w) {
  double s = w->size * between(w, 0.4, 1), a = s * between(w, 0.3, 0.55), b = s * between(w, 0.3, 0.55);
  switch (below(w, 9)) {
    case 0:
      put(w, "{box: [%.6g, %.6g, %.6g]}", a, b, s * between(w, 0.3, 0.55));
      break;
    case 1:
      put(w, "{box: [%.6g, %.6g, %.6g]}", a, b, s * spread(w, 0.01, 0.1));  // a plate
      break;
    case 2:
      put(w, "{box: [%.6g, %.6g, %.6g]}", 0.9 * s, s * spread(w, 0.02, 0.1), s * spread(w, 0.02, 0.1));  // a rod
      break;
    case 3:
      put(w, "{prism: {sides: %d, radius: %.6g, height: %.6g}}", 3 + below(w, 6), 0.5 * a, s * spread(w, 0.1, 0.6));
      break;
    case 4:
      put(w, "{pyramid: {sides: %d, radius: %.6g, height: %.6g}}", 3 + below(w, 4), 0.6 * a, s * between(w, 0.2, 0.5));
      break;
    case 5:
      put(w, "{capsule: {radius: %.6g, length: %.6g}}", s * spread(w, 0.02, 0.2), s * between(w, 0.1, 0.55));
      break;
    case 6:
      put(w, "{sphere: %.6g}", 0.5 * s);
      break;
    case 7:
      put(w, "{cylinder: {radius: %.6g, height: %.6g}}", 0.5 * a, s * between(w, 0.1, 0.6));
      break;
    default:
      put(w, "{cylinder: {radius: %.6g, height: %.6g, exact: true}}", 0.5 * a, s * between(w, 0.1, 0.6));
  }
}

static carom_vec3 place(const writer *w, int i) {
  int wide = w->bodies < 4 ? w->bodies : 3;
  return cm_scale(w->spacing, cm_vec3(i % wide, i / wide % 2, 0.75 + i / (2 * wide)));
}

static void put_vector(writer *w, const char *key, double most) {
  put(w, ", %s: [%.6g, %.6g, %.6g]", key, between(w, -most, most), between(w, -most, most), between(w, -most, most));
}

static void put_body(writer *w, int i, double speed) {
  carom_vec3 at = place(w, i);
  double own = below(w, 10) == 0 ? 5 * speed : speed;
  put(w, "  - {name: b%d, shape: ", i);
  put_shape(w);
  put(w, ", density: %.4g, position: [%.9g, %.9g, %.9g], rotation: {quaternion: [%.6g, %.6g, %.6g, %.6g]}",
      spread(w, 300, 8000), at.x, at.y, at.z, carom_random_normal(&w->random), carom_random_normal(&w->random),
      carom_random_normal(&w->random), carom_random_normal(&w->random));
  put_vector(w, "velocity", own);
  put_vector(w, "angular_velocity", 2 * own / w->size);
  put(w, "}\n");
}

// Neighbours in a row of the grid are joined half-way, some bodies to the world.
static void put_joints(writer *w) {
  static const char *const kinds[] = {"spherical", "revolute", "spherical", "distance"};
  put(w, "joints:\n");
  for (int i = 0; i < w->joints; i++) {
    carom_vec3 a = place(w, i), b = place(w, i + 1), at = cm_scale(0.5, cm_add(a, b));
    int kind = below(w, 4);
    put(w, "  - {name: j%d, kind: %s, between: [b%d, b%d]", i, kinds[kind], i, i + 1);
    if (kind < 3) put(w, ", at: [%.9g, %.9g, %.9g]", at.x, at.y, at.z);
    if (kind == 1) put(w, ", axis: [%.6g, %.6g, 1]", between(w, -1, 1), between(w, -1, 1));
    put(w, "}\n");
  }
}

static double surface(writer *w, double most) {
  int choice = below(w, 4);
  return choice == 0 ? 0 : choice == 1 && most <= 1 ? 1 : between(w, 0, most);
}

static void write_scene(writer *w, uint64_t seed, conformance_scene *row) {
  *w = (writer){.random = carom_random_make(seed, 0x5ce9e)};
  w->size = spread(w, 0.002, 1);
  w->spacing = 1.05 * w->size;
  w->bodies = (int)spread(w, 1, 30.999);
  w->joints = w->bodies > 1 && below(w, 3) == 0 ? 1 + below(w, w->bodies < 3 ? w->bodies - 1 : 2) : 0;
  double e = surface(w, 1), mu = surface(w, 1.5), fall = sqrt(w->size / G), speed = between(w, 0, 2) * w->size / fall;
  double h = 1e-4 * round(1e4 * spread(w, 0.5e-3, 5e-3)), t = fmin(2, 12 * fall * (1 + 0.1 * w->bodies));
  put(w, "carom: 1\ntitle: seed %llu\nmaterials: {m: {restitution: %.4g, friction: %.4g}}\n", (unsigned long long)seed,
      e, mu);
  put(w, "defaults: {body: {material: m}}\nbodies:\n  - {name: floor, shape: halfspace, fixed: true}\n");
  for (int i = 0; i < w->bodies; i++) put_body(w, i, speed);
  if (w->joints) put_joints(w);
  put(w, "forces: {gravity: %g}\nduration: %.9g\n", G, h * ceil(t / h));
  row->steps[0] = row->steps[1] = h;
}

// ---- the judge ------------------------------------------------------------------------------------------------------

static carom_pose anchor(const track *t, int frame, const carom_joint *j, int side) {
  if (j->body[side] == CAROM_WORLD) return j->frame[side];
  const track_point *p = track_at(t, frame, j->body[side]);
  return cm_compose(cm_pose(p->x, p->q), j->frame[side]);
}

static double opening(const track *t, int frame, const carom_joint *j) {
  carom_pose a = anchor(t, frame, j, 0), b = anchor(t, frame, j, 1);
  double apart = cm_norm(cm_sub(a.p, b.p));
  if (j->kind == CAROM_JOINT_DISTANCE) return fabs(apart - j->length);
  if (j->kind != CAROM_JOINT_REVOLUTE) return apart;
  carom_vec3 z = cm_vec3(0, 0, 1), cross = cm_cross(cm_rotate(a.q, z), cm_rotate(b.q, z));
  return fmax(apart, cm_norm(cross) * t->model->bodies[j->body[1]].bounding_radius);
}

static void judge_random(cell *c) {
  const track *t = c->track;
  const carom_model *m = t->model;
  for (int k = 0; k < m->joint_count; k++) {
    double worst = 0, size = m->bodies[m->joints[k].body[1]].bounding_radius;
    for (int f = 0; f < t->frames; f++) worst = fmax(worst, opening(t, f, &m->joints[k]));
    expect_at_most(c, "opening of a joint, m", worst, 1e-4 * size);
  }
  for (int i = 0; i < m->body_count; i++) {
    const track_point *end = track_at(t, t->frames - 1, i);
    if (m->bodies[i].fixed) continue;
    expect_at_most(c, "a body below the floor, m", -end->x.z, 1e-9);
    expect_at_most(c, "not finite", cm_finite(end->x) && cm_finite(end->v) && cm_finite(end->w) ? 0 : INFINITY, 1);
  }
}

conformance_scene random_scene(uint64_t seed, char **text) {
  static writer w;
  conformance_scene row = {.family = "random", .truth = judge_random, .flags = SCENE_RANDOM};
  write_scene(&w, seed, &row);
  *text = malloc(w.used + 1 + 40);
  if (!*text) abort();
  snprintf(*text, 40, "random-%llu", (unsigned long long)seed);
  snprintf(*text + 40, w.used + 1, "%s", w.text);
  row.name = *text, row.file = *text + 40;
  return row;
}
