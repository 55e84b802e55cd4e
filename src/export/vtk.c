// For ParaView: a collection (.pvd) and, for each frame, a PolyData file (.vtp) of the bodies and an unstructured grid
// (.vtu) of the solids, where there are some, in a folder beside it. The files are XML with base64 data; what does not
// change from frame to frame is encoded once.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/vtk_block.h"
#include "export/export.h"
#include "export/vtk_solids.h"

typedef struct vtk {
  carom_result *result;
  carom_atomic_file collection;
  carom_surface *surfaces;
  char *folder;   // where the files end up
  char *staging;  // where they are written: a folder of its own until all are there
  char *path;     // scratch for a file's path
  size_t path_size;
  int point_count, face_count, corner_count;
  float *points, *velocities;   // (3 point_count)
  carom_text_buffer constants;  // connectivity, offsets and body numbers, encoded
  size_t offset_of[3];          // where each of them begins within `constants`
  carom_vtk_solids solids;
  carom_text_buffer text;
} vtk;

// ---- encoding ------------------------------------------------------------------------------------------------------

static void add_xml_text(carom_text_buffer *text, const char *string) {
  for (const char *s = string; *s;) {
    int length = carom_utf8_length(s);
    if (*s == '&' || *s == '<' || *s == '>' || *s == '"')
      carom_text_buffer_print(text, "&#%d;", *s);
    else if (length > 1 || (length == 1 && (unsigned char)*s >= 0x20))
      carom_text_buffer_add_n(text, s, (size_t)length);
    else
      carom_text_buffer_add(text, "?");
    s += length > 0 ? length : 1;
  }
}

// ---- geometry ------------------------------------------------------------------------------------------------------

static carom_status count_all(vtk *v, carom_error *error) {
  int64_t points = 0, faces = 0, corners = 0;
  for (int p = 0; p < v->result->part_count; p++) {
    const carom_surface *s = &v->surfaces[v->result->parts[p].shape];
    points += s->vertex_count;
    faces += s->face_count;
    corners += s->corner_count;
  }
  if (points > INT_MAX / 3 || corners > INT_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "the scene has too many faces for a VTK file; export fewer bodies");
  v->point_count = (int)points;
  v->face_count = (int)faces;
  v->corner_count = (int)corners;
  return CAROM_OK;
}

static void fill_constants(vtk *v, int *connectivity, int *offsets, int *body_of) {
  int point = 0, face = 0, corner = 0;
  for (int b = 0; b < v->result->body_count; b++) {
    const carom_result_body *body = &v->result->bodies[b];
    for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
      const carom_surface *s = &v->surfaces[v->result->parts[p].shape];
      for (int i = 0; i < s->corner_count; i++) connectivity[corner + i] = point + s->face_vertices[i];
      for (int f = 0; f < s->face_count; f++, face++) {
        offsets[face] = corner + s->face_start[f + 1];
        body_of[face] = b;
      }
      corner += s->corner_count;
      point += s->vertex_count;
    }
  }
}

static carom_status encode_constants(vtk *v, carom_error *error) {
  const carom_allocator *allocator = &v->result->allocator;
  size_t faces = (size_t)v->face_count, corners = (size_t)v->corner_count;
  int *connectivity = CAROM_NEW(allocator, int, corners + 2 * faces);
  if (!connectivity) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d faces", v->face_count);
  int *offsets = connectivity + corners, *body_of = offsets + faces;
  fill_constants(v, connectivity, offsets, body_of);
  const int *arrays[3] = {connectivity, offsets, body_of};
  const size_t counts[3] = {corners, faces, faces};
  for (int i = 0; i < 3; i++) {
    v->offset_of[i] = v->constants.length;
    carom_vtk_add_block(&v->constants, arrays[i], counts[i] * sizeof(int));
  }
  carom_release(allocator, connectivity);
  return v->constants.failed ? carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d faces", v->face_count)
                             : CAROM_OK;
}

// A point of a rigid body moves with v + w x (r - c), c the centre of mass.
static void place_body(vtk *v, const carom_frame *frame, int b, float **point, float **velocity) {
  const carom_result_body *body = &v->result->bodies[b];
  carom_vec3 center = cm_transform(frame->poses[b], body->center);
  for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
    const carom_surface *s = &v->surfaces[v->result->parts[p].shape];
    carom_pose pose = cm_compose(frame->poses[b], v->result->parts[p].pose);
    for (int i = 0; i < s->vertex_count; i++) {
      carom_vec3 r = cm_transform(pose, s->vertices[i]);
      carom_vec3 u = cm_add(frame->velocities[b], cm_cross(frame->angular_velocities[b], cm_sub(r, center)));
      const double both[6] = {r.x, r.y, r.z, u.x, u.y, u.z};
      for (int k = 0; k < 3; k++) *(*point)++ = (float)both[k];
      for (int k = 3; k < 6; k++) *(*velocity)++ = (float)both[k];
    }
  }
}

// ---- one frame -----------------------------------------------------------------------------------------------------

static void add_array(carom_text_buffer *text, const char *type, const char *name, int components, size_t offset) {
  carom_text_buffer_print(
      text, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n", type,
      name, components, offset);
}

static void add_frame_xml(vtk *v, double time) {
  carom_text_buffer *t = &v->text;
  size_t points_size = 12 * (size_t)v->point_count, first = carom_vtk_block_length(points_size), second = 2 * first;
  carom_text_buffer_print(
      t,
      "<?xml version=\"1.0\"?>\n<!-- made by carom -->\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"%s\" "
      "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n<DataArray type=\"Float64\" "
      "Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">",
      carom_vtk_byte_order());
  carom_text_buffer_number(t, time, 17);
  carom_text_buffer_print(
      t,
      "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" "
      "NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n<PointData Vectors=\"velocity\">\n",
      v->point_count, v->face_count);
  add_array(t, "Float32", "velocity", 3, first);
  carom_text_buffer_add(t, "</PointData>\n<CellData Scalars=\"body\">\n");
  add_array(t, "Int32", "body", 1, second + v->offset_of[2]);
  carom_text_buffer_add(t, "</CellData>\n<Points>\n");
  add_array(t, "Float32", "points", 3, 0);
  carom_text_buffer_add(t, "</Points>\n<Polys>\n");
  add_array(t, "Int32", "connectivity", 1, second + v->offset_of[0]);
  add_array(t, "Int32", "offsets", 1, second + v->offset_of[1]);
  carom_text_buffer_add(t, "</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"base64\">\n_");
  carom_vtk_add_block(t, v->points, points_size);
  carom_vtk_add_block(t, v->velocities, points_size);
  carom_text_buffer_add_n(t, v->constants.data, v->constants.length);
  carom_text_buffer_add(t, "\n</AppendedData>\n</VTKFile>\n");
}

// What each frame has a file of.
enum { OF_BODIES, OF_SOLIDS, PARTS };
static const char *const endings[PARTS] = {"vtp", "vtu"};

static int part_count(const vtk *v) { return v->result->solid_count > 0 ? PARTS : 1; }

static const char *frame_path(vtk *v, const char *folder, int frame, int part) {
  snprintf(v->path, v->path_size, "%s/frame_%06d.%s", folder, frame, endings[part]);
  return v->path;
}

static carom_status write_text(carom_atomic_file *file, const carom_text_buffer *text, carom_error *error) {
  if (text->failed) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", file->path);
  carom_status status = carom_atomic_file_write(file, text->data, text->length, error);
  return status == CAROM_OK ? carom_atomic_file_commit(file, error) : status;
}

static void add_bodies(vtk *v, const carom_frame *frame) {
  float *point = v->points, *velocity = v->velocities;
  for (int b = 0; b < v->result->body_count; b++) place_body(v, frame, b, &point, &velocity);
  add_frame_xml(v, frame->time);
}

static carom_status write_part(vtk *v, int i, int part, const carom_frame *frame, carom_error *error) {
  carom_text_buffer_clear(&v->text);
  if (part == OF_BODIES)
    add_bodies(v, frame);
  else
    carom_vtk_solids_add(&v->solids, frame, &v->text);
  carom_atomic_file file;
  carom_status status = carom_atomic_file_open(&file, frame_path(v, v->staging, i, part), &v->result->allocator, error);
  file.quick = true;
  if (status == CAROM_OK) status = write_text(&file, &v->text, error);
  carom_atomic_file_abandon(&file);
  return status;
}

static carom_status write_frame(void *context, int i, const carom_frame *frame, carom_error *error) {
  vtk *v = context;
  carom_status status = CAROM_OK;
  for (int part = 0; part < part_count(v) && status == CAROM_OK; part++) status = write_part(v, i, part, frame, error);
  return status;
}

// ---- folders -------------------------------------------------------------------------------------------------------

// "dir/name.pvd" keeps its frames in "dir/name_frames"; null when out of memory.
static char *folder_beside(const char *path, const carom_allocator *allocator) {
  size_t length = strlen(path);
  if (length >= 4 && strcmp(path + length - 4, ".pvd") == 0) length -= 4;
  char *folder = CAROM_NEW(allocator, char, length + sizeof "_frames");
  if (folder) snprintf(folder, length + sizeof "_frames", "%.*s_frames", (int)length, path);
  return folder;
}

static carom_status make_staging(vtk *v, carom_error *error) {
  const carom_allocator *allocator = &v->result->allocator;
  size_t size = strlen(v->folder) + 48;
  v->path_size = size + 32;
  v->path = CAROM_NEW(allocator, char, v->path_size);
  char *name = CAROM_NEW(allocator, char, size);
  if (!name || !v->path) {
    carom_release(allocator, name);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", v->folder);
  }
  snprintf(name, size, "%s.%ld.part", v->folder, (long)getpid());
  if (mkdir(name, 0777) != 0) {
    carom_status status = carom_fail_file(error, "create the folder", name, errno);
    carom_release(allocator, name);
    return status;
  }
  v->staging = name;
  return CAROM_OK;
}

static carom_status publish_part(vtk *v, int part, char *from, carom_error *error) {
  int i = 0;
  for (; part < part_count(v) && i < v->result->frame_count; i++) {
    snprintf(from, v->path_size, "%s", frame_path(v, v->staging, i, part));
    if (rename(from, frame_path(v, v->folder, i, part)) != 0) return carom_fail_file(error, "write", v->path, errno);
  }
  while (unlink(frame_path(v, v->folder, i, part)) == 0) i++;
  return CAROM_OK;
}

// The staging folder takes the name if that is free. Otherwise the files move into the folder that is there, which may
// hold files of others; frames of an older, longer export go.
static carom_status publish_frames(vtk *v, carom_error *error) {
  struct stat info;
  if (stat(v->folder, &info) != 0 && rename(v->staging, v->folder) == 0) return CAROM_OK;
  char *from = CAROM_NEW(&v->result->allocator, char, v->path_size);
  if (!from) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", v->folder);
  carom_status status = CAROM_OK;
  for (int part = 0; status == CAROM_OK && part < PARTS; part++) status = publish_part(v, part, from, error);
  carom_release(&v->result->allocator, from);
  if (status == CAROM_OK) rmdir(v->staging);
  return status;
}

static void remove_staging(vtk *v) {
  if (!v->staging) return;
  for (int i = 0; i < v->result->frame_count; i++)
    for (int part = 0; part < part_count(v); part++) unlink(frame_path(v, v->staging, i, part));
  rmdir(v->staging);
}

// ---- the collection ------------------------------------------------------------------------------------------------

static carom_status write_collection(vtk *v, carom_error *error) {
  const char *slash = strrchr(v->folder, '/'), *folder = slash ? slash + 1 : v->folder;
  carom_text_buffer *t = &v->text;
  carom_text_buffer_clear(t);
  carom_text_buffer_print(t,
                          "<?xml version=\"1.0\"?>\n<!-- made by carom -->\n<VTKFile type=\"Collection\" "
                          "version=\"0.1\" byte_order=\"%s\">\n"
                          "<Collection>\n",
                          carom_vtk_byte_order());
  for (int i = 0; i < v->result->frame_count; i++)
    for (int part = 0; part < part_count(v); part++) {
      carom_text_buffer_add(t, "<DataSet timestep=\"");
      carom_text_buffer_number(t, v->result->times[i], 17);
      carom_text_buffer_print(t, "\" part=\"%d\" file=\"", part);
      add_xml_text(t, folder);
      carom_text_buffer_print(t, "/frame_%06d.%s\"/>\n", i, endings[part]);
    }
  carom_text_buffer_add(t, "</Collection>\n</VTKFile>\n");
  return write_text(&v->collection, t, error);
}

static carom_status prepare(vtk *v, const carom_progress *progress, carom_error *error) {
  const carom_allocator *allocator = &v->result->allocator;
  carom_selection all = {v->result->frame_count, v->result->frame_count};
  double reach;
  carom_status status = carom_scene_reach(&(carom_frames){v->result, all, progress, 0, 0.2}, &reach, error);
  if (status != CAROM_OK) return status;
  v->surfaces = carom_surfaces_create(v->result, reach, v->result->part_count);
  if (!v->surfaces) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the surfaces of the bodies");
  status = count_all(v, error);
  if (status == CAROM_OK) status = encode_constants(v, error);
  if (status == CAROM_OK) status = carom_vtk_solids_create(&v->solids, v->result, error);
  if (status != CAROM_OK) return status;
  if (CAROM_NEW_ALL(allocator, CAROM_ROOM(v->points, 3 * v->point_count),
                    CAROM_ROOM(v->velocities, 3 * v->point_count)))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d points", v->point_count);
}

static void release_vtk(vtk *v) {
  const carom_allocator *allocator = &v->result->allocator;
  if (v->surfaces) carom_surfaces_release(v->result, v->surfaces);
  CAROM_RELEASE_ALL(allocator, v->folder, v->staging, v->path, v->points, v->velocities);
  carom_atomic_file_abandon(&v->collection);
  carom_vtk_solids_release(&v->solids);
  carom_text_buffer_release(&v->constants);
  carom_text_buffer_release(&v->text);
}

carom_status carom_export_vtk(carom_result *result, const char *path, const carom_progress *progress,
                              carom_error *error) {
  vtk v = {.result = result};
  v.constants = carom_text_buffer_make(&result->allocator);
  v.text = carom_text_buffer_make(&result->allocator);
  v.folder = folder_beside(path, &result->allocator);
  carom_selection all = {result->frame_count, result->frame_count};
  carom_status status = v.folder ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", path);
  if (status == CAROM_OK) status = carom_atomic_file_open(&v.collection, path, &result->allocator, error);
  if (status == CAROM_OK) status = prepare(&v, progress, error);
  if (status == CAROM_OK) status = make_staging(&v, error);
  if (status == CAROM_OK)
    status = carom_visit_frames(&(carom_frames){result, all, progress, 0.2, 1}, write_frame, &v, error);
  if (status == CAROM_OK) status = publish_frames(&v, error);
  if (status == CAROM_OK)
    status = write_collection(&v, error);
  else
    remove_staging(&v);
  release_vtk(&v);
  return status;
}
