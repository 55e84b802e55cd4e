// Binary glTF 2.0 (Khronos, "glTF 2.0 Specification", 2021): one file with meshes, materials, a node for each body with
// its parts below it, and an animation of the bodies. glTF has y up, so that the root node turns everything by -90
// degrees about x.
//
// The binary chunk holds, in this order: positions, normals, indices, times, translations, rotations. The accessors are
// 3 s, 3 s + 1 and 3 s + 2 for shape s, then the times, then two for each moving body.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "export/export.h"

static const double max_poses = 20e6;

enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };
enum { VIEW_POSITIONS, VIEW_NORMALS, VIEW_INDICES, VIEW_TIMES, VIEW_TRANSLATIONS, VIEW_ROTATIONS, VIEW_COUNT };

// Where one shape lies in the vertex and index arrays.
typedef struct range {
  size_t vertex, vertex_count, index, index_count;
} range;

typedef struct glb {
  carom_result *result;
  carom_surface *surfaces;
  carom_selection selection;
  int *slot_of;  // (selection.count) where each chosen frame goes, or -1: its time is no later than the one before
  int frame_count;
  int moving;
  range *ranges;  // (shape_count)
  size_t vertex_count, index_count;
  float *positions, *normals;  // (3 vertex_count)
  uint32_t *indices;           // (index_count)
  float *times;                // (frame_count)
  float *translations;         // (moving x frame_count x 3)
  float *rotations;            // (moving x frame_count x 4) as (x, y, z, w)
  carom_pose *first;           // (body_count)
  uint64_t *meshes;            // (mesh_count) shape and colour of each mesh, ascending
  uint64_t *colors;            // (color_count) ascending
  size_t mesh_count, color_count;
  size_t view_size[VIEW_COUNT];
  carom_text_buffer json;
} glb;

static carom_status out_of_memory(carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the glTF scene; export fewer frames or bodies");
}

// ---- meshes --------------------------------------------------------------------------------------------------------

// Newell's method (Sutherland, Sproull and Schumacker 1974): exact for planar polygons, steady for nearly planar ones.
static carom_vec3 face_normal(const carom_surface *s, int f) {
  carom_vec3 n = cm_zero3();
  for (int k = s->face_start[f]; k < s->face_start[f + 1]; k++) {
    int next = k + 1 < s->face_start[f + 1] ? k + 1 : s->face_start[f];
    n = cm_add(n, cm_cross(s->vertices[s->face_vertices[k]], s->vertices[s->face_vertices[next]]));
  }
  return cm_unit(n);
}

static void put3(float *to, carom_vec3 v) {
  to[0] = (float)v.x;
  to[1] = (float)v.y;
  to[2] = (float)v.z;
}

static uint32_t *put_fan(uint32_t *index, const carom_surface *s, int f, const uint32_t *corner) {
  for (int k = 2; k < s->face_start[f + 1] - s->face_start[f]; k++, index += 3) {
    index[0] = corner[0];
    index[1] = corner[k - 1];
    index[2] = corner[k];
  }
  return index;
}

// Flat faces need corners of their own, as a vertex has one normal; round shapes share theirs.
static void put_surface(glb *g, const carom_surface *s, const range *r, uint32_t *corner) {
  uint32_t *index = g->indices + r->index, vertex = 0;
  float *position = g->positions + 3 * r->vertex, *normal = g->normals + 3 * r->vertex;
  for (int i = 0; s->normals && i < s->vertex_count; i++) {
    put3(position + 3 * i, s->vertices[i]);
    put3(normal + 3 * i, s->normals[i]);
  }
  for (int f = 0; f < s->face_count; f++) {
    carom_vec3 n = face_normal(s, f);
    for (int k = s->face_start[f]; k < s->face_start[f + 1]; k++) {
      corner[k - s->face_start[f]] = s->normals ? (uint32_t)s->face_vertices[k] : vertex;
      if (s->normals) continue;
      put3(position + 3 * vertex, s->vertices[s->face_vertices[k]]);
      put3(normal + 3 * vertex, n);
      vertex++;
    }
    index = put_fan(index, s, f, corner);
  }
}

static void measure_surfaces(glb *g, size_t *longest) {
  for (int i = 0; i < g->result->shape_count; i++) {
    const carom_surface *s = &g->surfaces[i];
    range *r = &g->ranges[i];
    r->vertex = g->vertex_count;
    r->index = g->index_count;
    r->vertex_count = (size_t)(s->normals ? s->vertex_count : s->corner_count);
    r->index_count = 3 * (size_t)(s->corner_count - 2 * s->face_count);  // a face with n corners is n - 2 triangles
    g->vertex_count += r->vertex_count;
    g->index_count += r->index_count;
    if ((size_t)s->corner_count > *longest) *longest = (size_t)s->corner_count;
  }
}

static carom_status make_meshes(glb *g, carom_error *error) {
  const carom_allocator *allocator = &g->result->allocator;
  size_t longest = 1;
  g->ranges = CAROM_NEW(allocator, range, g->result->shape_count);
  if (!g->ranges) return out_of_memory(error);
  measure_surfaces(g, &longest);
  bool have = CAROM_NEW_ALL(allocator, CAROM_ROOM(g->positions, 3 * g->vertex_count),
                            CAROM_ROOM(g->normals, 3 * g->vertex_count), CAROM_ROOM(g->indices, g->index_count));
  uint32_t *corner = CAROM_NEW(allocator, uint32_t, longest);
  bool enough = have && corner;
  for (int i = 0; enough && i < g->result->shape_count; i++) put_surface(g, &g->surfaces[i], &g->ranges[i], corner);
  carom_release(allocator, corner);
  return enough ? CAROM_OK : out_of_memory(error);
}

// ---- materials: glTF ties them to meshes, so there is a mesh for each pair of shape and colour ---------------------

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static size_t sort_and_unite(uint64_t *keys, size_t count) {
  qsort(keys, count, sizeof *keys, compare_keys);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (i == 0 || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
  return kept;
}

static size_t index_of(const uint64_t *keys, size_t count, uint64_t key) {
  const uint64_t *found = bsearch(&key, keys, count, sizeof key, compare_keys);
  return found ? (size_t)(found - keys) : 0;
}

static uint64_t mesh_key(const glb *g, int body, int part) {
  return (uint64_t)g->result->parts[part].shape << 24 | (g->result->bodies[body].color & 0xFFFFFFu);
}

static carom_status collect_materials(glb *g, carom_error *error) {
  const carom_result *result = g->result;
  size_t room = 0;  // bodies of a damaged file may share parts
  for (int b = 0; b < result->body_count; b++) room += (size_t)result->bodies[b].part_count;
  if (!CAROM_NEW_ALL(&result->allocator, CAROM_ROOM(g->meshes, room), CAROM_ROOM(g->colors, room)))
    return out_of_memory(error);
  for (int b = 0; b < result->body_count; b++) {
    const carom_result_body *body = &result->bodies[b];
    for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
      g->meshes[g->mesh_count++] = mesh_key(g, b, p);
      g->colors[g->color_count++] = body->color & 0xFFFFFFu;
    }
  }
  g->mesh_count = sort_and_unite(g->meshes, g->mesh_count);
  g->color_count = sort_and_unite(g->colors, g->color_count);
  return CAROM_OK;
}

// ---- motion --------------------------------------------------------------------------------------------------------

// Times are 32-bit floats from 0 that must grow strictly; frames that would not are left out.
static carom_status choose_frames(glb *g, carom_error *error) {
  const carom_allocator *allocator = &g->result->allocator;
  if (!CAROM_NEW_ALL(allocator, CAROM_ROOM(g->slot_of, g->selection.count), CAROM_ROOM(g->times, g->selection.count)))
    return out_of_memory(error);
  for (int i = 0; i < g->selection.count; i++) {
    float time = (float)(g->result->times[carom_selected_frame(&g->selection, i)] - g->result->times[0]);
    bool later = isfinite(time) && (g->frame_count == 0 || time > g->times[g->frame_count - 1]);
    g->slot_of[i] = later ? g->frame_count : -1;
    if (later) g->times[g->frame_count++] = time;
  }
  size_t poses = (size_t)g->moving * (size_t)g->frame_count;
  if (!CAROM_NEW_ALL(allocator, CAROM_ROOM(g->translations, 3 * poses), CAROM_ROOM(g->rotations, 4 * poses),
                     CAROM_ROOM(g->first, g->result->body_count)))
    return out_of_memory(error);
  for (int b = 0; b < g->result->body_count; b++) g->first[b] = cm_pose_identity();
  return CAROM_OK;
}

// Viewers interpolate between quaternions as they stand, so that neighbours must not differ in sign.
static void put_rotation(float *to, carom_quat q, bool has_previous) {
  const float c[4] = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
  float dot = 0;
  for (int k = 0; has_previous && k < 4; k++) dot += c[k] * to[k - 4];
  for (int k = 0; k < 4; k++) to[k] = dot < 0 ? -c[k] : c[k];
}

static carom_status put_frame(void *context, int i, const carom_frame *frame, carom_error *error) {
  glb *g = context;
  int slot = g->slot_of[i];
  (void)error;
  if (slot < 0) return CAROM_OK;
  for (int b = 0, m = 0; b < g->result->body_count; b++) {
    carom_pose pose = frame->poses[b];
    pose.q = cm_qunit(pose.q);
    if (slot == 0) g->first[b] = pose;
    if (g->result->bodies[b].fixed) continue;
    size_t at = (size_t)m++ * (size_t)g->frame_count + (size_t)slot;
    put3(g->translations + 3 * at, pose.p);
    put_rotation(g->rotations + 4 * at, pose.q, slot > 0);
  }
  return CAROM_OK;
}

// ---- the JSON chunk ------------------------------------------------------------------------------------------------

static void add_pose(carom_text_buffer *json, const carom_pose *pose) {
  const double q[4] = {pose->q.x, pose->q.y, pose->q.z, pose->q.w};
  carom_text_buffer_json(json, ",\"translation\":%v,\"rotation\":%q", &pose->p.x, q);
}

static void add_index_list(carom_text_buffer *json, const char *key, int from, int count) {
  if (count == 0) return;  // empty lists are not allowed
  carom_text_buffer_print(json, ",\"%s\":[", key);
  for (int i = 0; i < count; i++) carom_text_buffer_print(json, i > 0 ? ",%d" : "%d", from + i);
  carom_text_buffer_add(json, "]");
}

// Node 0 is the root, then come the bodies, then their parts.
static void add_nodes(glb *g) {
  const carom_result *result = g->result;
  carom_text_buffer *json = &g->json;
  carom_text_buffer_add(
      json, ",\"nodes\":[{\"name\":\"z up to y up\",\"rotation\":[-0.70710678118654757,0,0,0.70710678118654757]");
  add_index_list(json, "children", 1, result->body_count);
  carom_text_buffer_add(json, "}");
  int part_node = 1 + result->body_count;
  for (int b = 0; b < result->body_count; b++) {
    carom_text_buffer_json(json, ",\n{\"name\":%j", result->bodies[b].name);
    add_pose(json, &g->first[b]);
    add_index_list(json, "children", part_node, result->bodies[b].part_count);
    carom_text_buffer_add(json, "}");
    part_node += result->bodies[b].part_count;
  }
  for (int b = 0; b < result->body_count; b++) {
    const carom_result_body *body = &result->bodies[b];
    for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
      carom_text_buffer_print(json, ",\n{\"mesh\":%zu", index_of(g->meshes, g->mesh_count, mesh_key(g, b, p)));
      add_pose(json, &result->parts[p].pose);
      carom_text_buffer_add(json, "}");
    }
  }
  carom_text_buffer_add(json, "]");
}

// sRGB to linear light, IEC 61966-2-1.
static double linear_of(uint32_t byte) {
  double c = byte / 255.0;
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void add_materials(glb *g) {
  if (g->mesh_count == 0) return;
  carom_text_buffer_add(&g->json, ",\"materials\":[");
  for (size_t i = 0; i < g->color_count; i++) {
    uint32_t color = (uint32_t)g->colors[i];
    const double rgba[4] = {linear_of(color >> 16), linear_of(color >> 8 & 255), linear_of(color & 255), 1};
    carom_text_buffer_print(&g->json, "%s{\"name\":\"#%06x\"", i > 0 ? ",\n" : "", (unsigned)color);
    carom_text_buffer_json(
        &g->json, ",\"pbrMetallicRoughness\":{\"baseColorFactor\":%q,\"metallicFactor\":0,\"roughnessFactor\":0.7}}",
        rgba);
  }
  carom_text_buffer_add(&g->json, "],\"meshes\":[");
  for (size_t i = 0; i < g->mesh_count; i++) {
    int shape = (int)(g->meshes[i] >> 24);
    size_t material = index_of(g->colors, g->color_count, g->meshes[i] & 0xFFFFFFu);
    carom_text_buffer_print(
        &g->json,
        "%s{\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"indices\":%d,\"material\":%zu}]}",
        i > 0 ? ",\n" : "", 3 * shape, 3 * shape + 1, 3 * shape + 2, material);
  }
  carom_text_buffer_add(&g->json, "]");
}

// Views must not be empty, so that those of what is not there are left out and the others move up.
static int view_index(const glb *g, int view) {
  int index = 0;
  for (int v = 0; v < view; v++) index += g->view_size[v] > 0;
  return index;
}

static void add_limits(glb *g, const float *values, size_t count, int width) {
  double low[3], high[3];
  for (int k = 0; k < width; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
    for (size_t i = 0; i < count; i++) {
      low[k] = fmin(low[k], values[i * (size_t)width + (size_t)k]);
      high[k] = fmax(high[k], values[i * (size_t)width + (size_t)k]);
    }
  }
  carom_text_buffer_add(&g->json, ",\"min\":");
  carom_text_buffer_json_numbers(&g->json, low, width);
  carom_text_buffer_add(&g->json, ",\"max\":");
  carom_text_buffer_json_numbers(&g->json, high, width);
}

// With the limits of the values where `width` is not 0; positions and times must have them.
static void add_accessor(glb *g, int view, size_t offset, size_t count, const char *kind, int width) {
  const char *separator = g->json.data && g->json.length && g->json.data[g->json.length - 1] == '[' ? "" : ",\n";
  const void *values[VIEW_COUNT] = {[VIEW_POSITIONS] = g->positions, [VIEW_TIMES] = g->times};
  carom_text_buffer_json(
      &g->json, "%s{\"bufferView\":%d,\"byteOffset\":%z,\"componentType\":%d,\"count\":%z,\"type\":\"%s\"", separator,
      view_index(g, view), offset, view == VIEW_INDICES ? UNSIGNED_INT : FLOAT, count, kind);
  if (width > 0) add_limits(g, (const float *)values[view] + offset / sizeof(float), count, width);
  carom_text_buffer_add(&g->json, "}");
}

static bool has_animation(const glb *g) { return g->frame_count > 1 && g->moving > 0; }

static void add_accessors(glb *g) {
  size_t frames = (size_t)g->frame_count;
  if (g->result->shape_count == 0 && !has_animation(g)) return;
  carom_text_buffer_add(&g->json, ",\"accessors\":[");
  for (int s = 0; s < g->result->shape_count; s++) {
    const range *r = &g->ranges[s];
    add_accessor(g, VIEW_POSITIONS, 12 * r->vertex, r->vertex_count, "VEC3", 3);
    add_accessor(g, VIEW_NORMALS, 12 * r->vertex, r->vertex_count, "VEC3", 0);
    add_accessor(g, VIEW_INDICES, 4 * r->index, r->index_count, "SCALAR", 0);
  }
  if (has_animation(g)) add_accessor(g, VIEW_TIMES, 0, frames, "SCALAR", 1);
  for (size_t m = 0; has_animation(g) && m < (size_t)g->moving; m++) {
    add_accessor(g, VIEW_TRANSLATIONS, 12 * m * frames, frames, "VEC3", 0);
    add_accessor(g, VIEW_ROTATIONS, 16 * m * frames, frames, "VEC4", 0);
  }
  carom_text_buffer_add(&g->json, "]");
}

static void add_animation(glb *g) {
  if (!has_animation(g)) return;
  static const char *const paths[2] = {"translation", "rotation"};
  carom_text_buffer *json = &g->json;
  int times = 3 * g->result->shape_count;
  carom_text_buffer_add(json, ",\"animations\":[{\"name\":\"motion\",\"samplers\":[");
  for (int i = 0; i < 2 * g->moving; i++)
    carom_text_buffer_print(json, "%s{\"input\":%d,\"interpolation\":\"LINEAR\",\"output\":%d}", i > 0 ? ",\n" : "",
                            times, times + 1 + i);
  carom_text_buffer_add(json, "],\"channels\":[");
  for (int b = 0, i = 0; b < g->result->body_count; b++) {
    for (int k = 0; !g->result->bodies[b].fixed && k < 2; k++, i++)
      carom_text_buffer_print(json, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", i > 0 ? ",\n" : "",
                              i, 1 + b, paths[k]);
  }
  carom_text_buffer_add(json, "]}]");
}

static void add_views(glb *g, size_t total) {
  size_t offset = 0;
  if (total == 0) return;
  carom_text_buffer_print(&g->json, ",\"buffers\":[{\"byteLength\":%zu}],\"bufferViews\":[", total);
  for (int v = 0; v < VIEW_COUNT; v++) {
    if (g->view_size[v] == 0) continue;
    carom_text_buffer_print(&g->json, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", offset > 0 ? ",\n" : "",
                            offset, g->view_size[v]);
    if (v <= VIEW_NORMALS) carom_text_buffer_print(&g->json, ",\"byteStride\":12,\"target\":%d", ARRAY_BUFFER);
    if (v == VIEW_INDICES) carom_text_buffer_print(&g->json, ",\"target\":%d", ELEMENT_ARRAY_BUFFER);
    carom_text_buffer_add(&g->json, "}");
    offset += g->view_size[v];
  }
  carom_text_buffer_add(&g->json, "]");
}

static size_t measure_views(glb *g) {
  size_t poses = has_animation(g) ? (size_t)g->moving * (size_t)g->frame_count : 0;
  g->view_size[VIEW_POSITIONS] = g->view_size[VIEW_NORMALS] = 12 * g->vertex_count;
  g->view_size[VIEW_INDICES] = 4 * g->index_count;
  g->view_size[VIEW_TIMES] = poses > 0 ? 4 * (size_t)g->frame_count : 0;
  g->view_size[VIEW_TRANSLATIONS] = 12 * poses;
  g->view_size[VIEW_ROTATIONS] = 16 * poses;
  size_t total = 0;
  for (int v = 0; v < VIEW_COUNT; v++) total += g->view_size[v];
  return total;
}

static void add_json(glb *g, size_t total) {
  carom_text_buffer *json = &g->json;
  carom_text_buffer_json(
      json,
      "{\"asset\":{\"version\":\"2.0\",\"generator\":\"carom %s\"},\"scene\":0,\"scenes\":[{\"name\":"
      "%j,\"nodes\":[0]}]",
      carom_version(), g->result->title);
  add_nodes(g);
  add_materials(g);
  add_accessors(g);
  add_animation(g);
  add_views(g, total);
  carom_text_buffer_add(json, "}");
  while (json->length % 4 != 0 && !json->failed) carom_text_buffer_add(json, " ");
}

// ---- the file ------------------------------------------------------------------------------------------------------

static void put_u32(unsigned char *to, size_t value) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> 8 * i & 255);
}

// Numbers are stored as the host has them: glTF wants little endian, as have all machines that HDF5 packages of ours
// run on; the others are refused.
static bool little_endian(void) {
  const uint16_t probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  return first == 1;
}

static carom_status write_chunks(const glb *g, carom_atomic_file *file, size_t binary, carom_error *error) {
  unsigned char head[20] = "glTF\2\0\0\0", chunk[8] = "\0\0\0\0BIN";
  put_u32(head + 8, sizeof head + g->json.length + (binary > 0 ? sizeof chunk + binary : 0));
  put_u32(head + 12, g->json.length);
  memcpy(head + 16, "JSON", 4);
  put_u32(chunk, binary);
  const void *views[VIEW_COUNT] = {g->positions, g->normals, g->indices, g->times, g->translations, g->rotations};
  carom_status status = carom_atomic_file_write(file, head, sizeof head, error);
  if (status == CAROM_OK) status = carom_atomic_file_write(file, g->json.data, g->json.length, error);
  if (status == CAROM_OK && binary > 0) status = carom_atomic_file_write(file, chunk, sizeof chunk, error);
  for (int v = 0; v < VIEW_COUNT && status == CAROM_OK; v++)
    status = carom_atomic_file_write(file, views[v], g->view_size[v], error);
  return status == CAROM_OK ? carom_atomic_file_commit(file, error) : status;
}

static carom_status gather(glb *g, const carom_progress *progress, carom_error *error) {
  double reach;
  g->moving = carom_count_moving(g->result);
  g->selection = carom_select_frames(g->result, g->moving, max_poses);
  carom_status status = carom_scene_reach(&(carom_frames){g->result, g->selection, progress, 0, 0.3}, &reach, error);
  if (status != CAROM_OK) return status;
  g->surfaces = carom_surfaces_create(g->result, reach, g->result->shape_count);
  if (!g->surfaces) return out_of_memory(error);
  status = make_meshes(g, error);
  if (status == CAROM_OK) status = collect_materials(g, error);
  if (status == CAROM_OK) status = choose_frames(g, error);
  if (status == CAROM_OK)
    status = carom_visit_frames(&(carom_frames){g->result, g->selection, progress, 0.3, 1}, put_frame, g, error);
  return status;
}

static carom_status write_scene(glb *g, carom_atomic_file *file, carom_error *error) {
  size_t total = measure_views(g);
  add_json(g, total);
  if (g->json.failed) return out_of_memory(error);
  if (total > UINT32_MAX - 1024 - g->json.length)
    return carom_fail(error, CAROM_ERR_LIMIT, "'%.700s' would exceed the 4 GB that a .glb file can hold; export to VTK",
                      file->path);
  return write_chunks(g, file, total, error);
}

static void release_glb(glb *g) {
  if (g->surfaces) carom_surfaces_release(g->result, g->surfaces);
  CAROM_RELEASE_ALL(&g->result->allocator, g->slot_of, g->ranges, g->positions, g->normals, g->indices, g->times,
                    g->translations, g->rotations, g->first, g->meshes, g->colors);
  carom_text_buffer_release(&g->json);
}

carom_status carom_export_glb(carom_result *result, const char *path, const carom_progress *progress,
                              carom_error *error) {
  if (!little_endian()) return carom_fail(error, CAROM_ERR_UNSUPPORTED, "glTF export needs a little-endian machine");
  glb g = {.result = result, .json = carom_text_buffer_make(&result->allocator)};
  carom_atomic_file file;
  carom_status status = carom_atomic_file_open(&file, path, &result->allocator, error);
  if (status == CAROM_OK) status = gather(&g, progress, error);
  if (status == CAROM_OK) status = write_scene(&g, &file, error);
  carom_atomic_file_abandon(&file);
  release_glb(&g);
  return status;
}
