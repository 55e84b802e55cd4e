#include "export/replay_solids.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "export/replay_pack.h"

enum { BOX = 7, SHADES = 255 };

// ---- the skins -----------------------------------------------------------------------------------------------------

static void number_nodes(carom_replay_solids *s) {
  const carom_result *result = s->result;
  for (int i = 0; i < result->node_count; i++) s->number[i] = -1;
  for (int k = 0; k < result->triangle_count; k++)
    for (int c = 0; c < 3; c++) s->number[result->skin[k][c]] = 0;
  for (int k = 0; k < result->solid_count; k++) {
    const carom_result_solid *solid = &result->solids[k];
    s->start[k] = s->node_count;
    for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
      if (s->number[i] < 0) continue;
      s->number[i] = s->node_count - s->start[k];
      s->nodes[s->node_count++] = i;
    }
  }
  s->start[result->solid_count] = s->node_count;
}

static void count_around(carom_replay_solids *s) {
  for (int t = 0; t < s->result->tet_count; t++)
    for (int c = 0; c < 4; c++) s->around[s->result->tets[t][c]]++;
}

bool carom_replay_solids_create(carom_replay_solids *s, const carom_result *result) {
  *s = (carom_replay_solids){.result = result};
  if (result->solid_count == 0) return true;
  const carom_allocator *a = &result->allocator;
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(s->start, result->solid_count + 1), CAROM_ROOM(s->nodes, result->node_count),
                     CAROM_ROOM(s->number, result->node_count), CAROM_ROOM(s->stress, result->node_count),
                     CAROM_ROOM(s->around, result->node_count), CAROM_ROOM(s->box, result->solid_count)))
    return false;
  number_nodes(s);
  count_around(s);
  return true;
}

bool carom_replay_solids_reserve(carom_replay_solids *s, int frames) {
  s->frames = frames;
  if (s->node_count == 0) return true;
  return CAROM_NEW_ALL(&s->result->allocator, CAROM_ROOM(s->largest, (size_t)s->result->solid_count * (size_t)frames),
                       CAROM_ROOM(s->before, 3 * s->node_count), CAROM_ROOM(s->slope, 3 * s->node_count),
                       CAROM_ROOM(s->shade, s->node_count));
}

void carom_replay_solids_release(carom_replay_solids *s) {
  if (!s->result) return;
  CAROM_RELEASE_ALL(&s->result->allocator, s->start, s->nodes, s->number, s->stress, s->around, s->box, s->largest,
                    s->before, s->slope, s->shade);
  *s = (carom_replay_solids){0};
}

// About the centre of mass.
static double rest_radius(const carom_result *result, const carom_result_solid *solid) {
  carom_vec3 center = cm_zero3();
  double mass = 0, radius = 0;
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
    mass += result->node_masses[i];
    center = cm_axpy(center, result->node_masses[i], result->rest[i]);
  }
  center = cm_scale(1 / mass, center);
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++)
    radius = fmax(radius, cm_norm(cm_sub(result->rest[i], center)));
  return radius;
}

void carom_replay_solids_describe(const carom_replay_solids *s, carom_text_buffer *text) {
  const carom_result *result = s->result;
  if (result->solid_count == 0) return;
  carom_text_buffer_add(text, ",\"solids\":[");
  for (int k = 0; k < result->solid_count; k++) {
    const carom_result_solid *solid = &result->solids[k];
    carom_text_buffer_json(text, "%s{\"body\":%d,\"radius\":%n,\"nodes\":%d,\"tetrahedra\":%d,\"triangles\":[",
                           k > 0 ? ",\n" : "", result->body_count + k, rest_radius(result, solid),
                           s->start[k + 1] - s->start[k], solid->tet_count);
    for (int i = 0; i < solid->triangle_count; i++) {
      const int *corner = result->skin[solid->triangle_start + i];
      carom_text_buffer_print(text, "%s%d,%d,%d", i > 0 ? "," : "", s->number[corner[0]], s->number[corner[1]],
                              s->number[corner[2]]);
    }
    carom_text_buffer_add(text, "]}");
  }
  carom_text_buffer_add(text, "]");
}

// ---- as a whole ----------------------------------------------------------------------------------------------------

static void add_inertia(carom_mat3 *inertia, double m, carom_vec3 r) {
  const double x[3] = {r.x, r.y, r.z}, square = cm_norm2(r);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) inertia->m[i][k] += m * ((i == k ? square : 0) - x[i] * x[k]);
}

static void find_center(const carom_result *result, const carom_frame *frame, const carom_result_solid *solid,
                        carom_solid_motion *motion) {
  double mass = 0;
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
    double m = result->node_masses[i];
    mass += m;
    motion->center = cm_axpy(motion->center, m, frame->nodes[i]);
    motion->velocity = cm_axpy(motion->velocity, m, frame->node_velocities[i]);
  }
  motion->center = cm_scale(1 / mass, motion->center);
  motion->velocity = cm_scale(1 / mass, motion->velocity);
}

carom_solid_motion carom_solid_motion_of(const carom_result *result, const carom_frame *frame, int s) {
  const carom_result_solid *solid = &result->solids[s];
  carom_solid_motion motion = {cm_zero3(), cm_zero3(), cm_zero3()};
  carom_mat3 inertia = {{{0}}};
  carom_vec3 angular = cm_zero3();
  find_center(result, frame, solid, &motion);
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
    carom_vec3 r = cm_sub(frame->nodes[i], motion.center), v = cm_sub(frame->node_velocities[i], motion.velocity);
    angular = cm_axpy(angular, result->node_masses[i], cm_cross(r, v));
    add_inertia(&inertia, result->node_masses[i], r);
  }
  if (!cm_solve3(inertia, angular, &motion.spin)) motion.spin = cm_zero3();
  return motion;
}

// ---- plots ---------------------------------------------------------------------------------------------------------

static bool has_own_plots(const carom_result *result) { return result->solid_count <= CAROM_REPLAY_SOLID_PLOTS; }

int carom_replay_solids_columns(const carom_result *result) {
  if (result->solid_count == 0) return 0;
  return CAROM_REPLAY_SOLID_ROWS * (has_own_plots(result) ? result->solid_count : 1);
}

void carom_replay_solids_describe_columns(const carom_result *result, carom_text_buffer *text) {
  static const struct {
    const char *key, *all, *unit, *group;
  } rows[CAROM_REPLAY_SOLID_ROWS] = {{"elastic", "Sum of all solids", "J", "Elastic energy"},
                                     {"least_J", "Least of all solids", "", "Least J"},
                                     {"stress", "Largest of all solids", "Pa", "Largest stress"}};
  int each = carom_replay_solids_columns(result) / CAROM_REPLAY_SOLID_ROWS;
  for (int r = 0; r < CAROM_REPLAY_SOLID_ROWS; r++)
    for (int k = 0; k < each; k++)
      carom_text_buffer_json(text, ",\n{\"key\":\"solid%d.%s\",\"label\":%j,\"unit\":%j,\"group\":%j}", k, rows[r].key,
                             has_own_plots(result) ? result->solids[k].name : rows[r].all, rows[r].unit, rows[r].group);
}

static double value_of(const carom_replay_solids *s, int row, int solid, int i, int frame) {
  int at = frame * s->result->solid_count + solid;
  if (row == 0) return s->result->elastic_energies[at];
  return row == 1 ? s->result->least_J[at] : s->largest[solid * s->frames + i];
}

double carom_replay_solids_column(const carom_replay_solids *s, int column, int i, int frame) {
  int count = s->result->solid_count;
  if (has_own_plots(s->result)) return value_of(s, column / count, column % count, i, frame);
  double all = value_of(s, column, 0, i, frame);
  for (int k = 1; k < count; k++) {
    double one = value_of(s, column, k, i, frame);
    all = column == 0 ? all + one : column == 1 ? fmin(all, one) : fmax(all, one);
  }
  return all;
}

// ---- frames --------------------------------------------------------------------------------------------------------

// What cannot be drawn is no stress.
static double drawable(double stress) { return isfinite(stress) ? stress : 0; }

static void spread_stress(carom_replay_solids *s, const carom_frame *frame) {
  const carom_result *result = s->result;
  memset(s->stress, 0, (size_t)result->node_count * sizeof *s->stress);
  for (int t = 0; t < result->tet_count; t++)
    for (int c = 0; c < 4; c++) s->stress[result->tets[t][c]] += drawable((double)frame->stresses[t]);
  for (int i = 0; i < result->node_count; i++) s->stress[i] /= s->around[i] > 0 ? s->around[i] : 1;
}

static void extend_box(carom_replay_solids *s, int solid, carom_vec3 center, const carom_frame *frame, bool first) {
  double *box = s->box[solid];
  for (int n = s->start[solid]; n < s->start[solid + 1]; n++) {
    carom_vec3 r = cm_sub(frame->nodes[s->nodes[n]], center);
    const double x[3] = {r.x, r.y, r.z};
    for (int c = 0; c < 3; c++) {
      if ((first && n == s->start[solid]) || x[c] < box[c]) box[c] = x[c];
      if ((first && n == s->start[solid]) || x[c] > box[3 + c]) box[3 + c] = x[c];
    }
    box[6] = fmax(box[6], s->stress[s->nodes[n]]);
  }
}

void carom_replay_solids_measure(carom_replay_solids *s, int i, const carom_frame *frame) {
  const carom_result *result = s->result;
  if (result->solid_count == 0) return;
  spread_stress(s, frame);
  for (int k = 0; k < result->solid_count; k++) {
    const carom_result_solid *solid = &result->solids[k];
    double *largest = &s->largest[k * s->frames + i];
    for (int t = solid->tet_start; t < solid->tet_start + solid->tet_count; t++)
      *largest = fmax(*largest, drawable((double)frame->stresses[t]));
    extend_box(s, k, carom_solid_motion_of(result, frame, k).center, frame, i == 0);
  }
}

// ---- the data ------------------------------------------------------------------------------------------------------

static size_t value_count(const carom_replay_solids *s) { return 3 * (size_t)s->node_count * (size_t)s->frames; }
static size_t box_size(const carom_replay_solids *s) { return 4 * BOX * (size_t)s->result->solid_count; }

size_t carom_replay_solids_size(const carom_replay_solids *s) {
  return box_size(s) + 2 * value_count(s) + (size_t)s->node_count * (size_t)s->frames;
}

// Levels below must use the numbers that the reader will see.
void carom_replay_solids_store_boxes(carom_replay_solids *s, unsigned char *bytes) {
  for (int k = 0; k < s->result->solid_count; k++)
    for (int c = 0; c < BOX; c++) {
      float f = c < 3 ? carom_pack_below(s->box[k][c]) : carom_pack_above(s->box[k][c]);
      s->box[k][c] = (double)f;
      carom_pack_f32(bytes + 4 * ((size_t)k * BOX + (size_t)c), f);
    }
}

// Smooth motion goes on as it did, so that little is left of the difference to that.
static uint16_t unforeseen(carom_replay_solids *s, size_t run, int i, uint16_t level) {
  uint16_t slope = (uint16_t)(i == 0 ? 0 : level - s->before[run]), left;
  left = i == 0 ? level : (uint16_t)(slope - s->slope[run]);
  s->before[run] = level;
  s->slope[run] = slope;
  return left;
}

static void pack_node(carom_replay_solids *s, int i, size_t n, const double x[3], const double *box,
                      unsigned char *bytes) {
  size_t nodes = (size_t)s->node_count, frames = (size_t)s->frames;
  carom_planes planes = {bytes + box_size(s), value_count(s)};
  for (size_t c = 0; c < 3; c++) {
    uint16_t level = carom_pack_level(x[c], box[c], box[3 + c], UINT16_MAX);
    carom_pack_difference(&planes, (c * nodes + n) * frames + (size_t)i, unforeseen(s, 3 * n + c, i, level));
  }
  unsigned char shade = (unsigned char)carom_pack_level(s->stress[s->nodes[n]], 0, box[6], SHADES);
  unsigned char *shades = planes.bytes + 2 * planes.count;
  shades[n * frames + (size_t)i] = (unsigned char)(i == 0 ? shade : shade - s->shade[n]);
  s->shade[n] = shade;
}

void carom_replay_solids_pack(carom_replay_solids *s, int i, const carom_frame *frame, unsigned char *bytes) {
  if (s->result->solid_count == 0) return;
  spread_stress(s, frame);
  for (int k = 0; k < s->result->solid_count; k++) {
    carom_vec3 center = carom_solid_motion_of(s->result, frame, k).center;
    for (int n = s->start[k]; n < s->start[k + 1]; n++) {
      carom_vec3 r = cm_sub(frame->nodes[s->nodes[n]], center);
      pack_node(s, i, (size_t)n, (const double[3]){r.x, r.y, r.z}, s->box[k], bytes);
    }
  }
}
