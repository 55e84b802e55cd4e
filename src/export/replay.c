// The replay page: the viewer's template with a description of the scene (JSON) and the motion (packed binary) put in.
// The format is described in viewer/FORMAT.md.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/atomic_file.h"
#include "base/embedded.h"
#include "base/memory.h"
#include "export/export.h"
#include "export/replay.h"
#include "export/replay_channels.h"
#include "export/replay_pack.h"
#include "export/replay_solids.h"

static const double max_poses = 20e6, max_nodes = 3e6;  // more would be too much for a browser

enum { COMPONENTS = 9, BOX = 8 };  // x y z qw qx qy qz speed spin; lo, hi, speed_max, spin_max

// ---- the head ------------------------------------------------------------------------------------------------------

static void add_mesh(carom_text_buffer *text, const carom_vec3 *vertices, int vertex_count, const int *face_start,
                     const int *face_vertices, int face_count) {
  carom_text_buffer_add(text, "{\"kind\":\"mesh\",\"vertices\":");
  carom_text_buffer_json_numbers(text, &vertices->x, 3 * vertex_count);
  carom_text_buffer_add(text, ",\"faces\":[");
  for (int f = 0; f < face_count; f++) {
    for (int k = face_start[f]; k < face_start[f + 1]; k++)
      carom_text_buffer_print(text, "%s%d", k > face_start[f] ? "," : f > 0 ? ",[" : "[", face_vertices[k]);
    carom_text_buffer_add(text, "]");
  }
  carom_text_buffer_add(text, "]}");
}

static void add_polytope(carom_text_buffer *text, const carom_polytope *p) {
  add_mesh(text, p->vertices, p->vertex_count, p->face_start, p->face_vertices, p->face_count);
}

static void add_surface(carom_text_buffer *text, const carom_shape *shape, int detail,
                        const carom_allocator *allocator) {
  carom_surface s;
  carom_surface_options options = {1, detail};
  if (!carom_surface_create(&s, shape, &options, allocator)) {
    text->failed = true;
    return;
  }
  add_mesh(text, s.vertices, s.vertex_count, s.face_start, s.face_vertices, s.face_count);
  carom_surface_release(&s, allocator);
}

// Cylinder and cone by their facets: the page finds sharp edges by the vertices that faces share, and the surface that
// other exports use has those of the rims twice.
static void add_faceted(carom_text_buffer *text, const carom_shape *shape, int detail,
                        const carom_allocator *allocator) {
  carom_vec3 axes = carom_shape_half_axes(shape);
  const carom_shape *facets = NULL;
  carom_status status = carom_shape_get_kind(shape) == CAROM_SHAPE_CONE
                            ? carom_shape_create_pyramid(4 * detail, axes.x, 2 * axes.z, allocator, &facets, NULL)
                            : carom_shape_create_prism(4 * detail, axes.x, 2 * axes.z, allocator, &facets, NULL);
  if (status != CAROM_OK) {
    text->failed = true;
    return;
  }
  add_polytope(text, carom_shape_polytope(facets));
  carom_shape_release(facets);
}

static void add_shape(carom_text_buffer *text, const carom_shape *shape, int detail, const carom_allocator *allocator) {
  switch (carom_shape_get_kind(shape)) {
    case CAROM_SHAPE_POLYTOPE:
      if (carom_shape_radius(shape) > 0)
        add_surface(text, shape, detail, allocator);
      else
        add_polytope(text, carom_shape_polytope(shape));
      break;
    case CAROM_SHAPE_HALFSPACE:
      carom_text_buffer_add(text, "{\"kind\":\"halfspace\"}");
      break;
    case CAROM_SHAPE_SPHERE:
      carom_text_buffer_json(text, "{\"kind\":\"sphere\",\"radius\":%n}", carom_shape_radius(shape));
      break;
    case CAROM_SHAPE_CAPSULE:
      carom_text_buffer_json(text, "{\"kind\":\"capsule\",\"half_length\":%n,\"radius\":%n}",
                             carom_shape_half_length(shape), carom_shape_radius(shape));
      break;
    case CAROM_SHAPE_ELLIPSOID:
      add_surface(text, shape, detail, allocator);
      break;
    case CAROM_SHAPE_CYLINDER:
    case CAROM_SHAPE_CONE:
      add_faceted(text, shape, detail, allocator);
      break;
  }
}

// Curved shapes other than spheres and capsules become meshes, coarser where there are many.
static void add_shapes(carom_text_buffer *text, const carom_result *result) {
  int detail = result->shape_count > 2000 ? 3 : result->shape_count > 100 ? 6 : 8;
  carom_text_buffer_add(text, ",\"shapes\":[");
  for (int s = 0; s < result->shape_count; s++) {
    if (s > 0) carom_text_buffer_add(text, ",\n");
    add_shape(text, result->shapes[s], detail, &result->allocator);
  }
  carom_text_buffer_add(text, "]");
}

static void add_parts(carom_text_buffer *text, const carom_result *result, const carom_result_body *body) {
  carom_text_buffer_add(text, ",\"parts\":[");
  for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
    const carom_pose *pose = &result->parts[p].pose;
    carom_text_buffer_json(text, "%s{\"shape\":%d,\"position\":%v,\"rotation\":%q}", p > body->part_start ? "," : "",
                           result->parts[p].shape, &pose->p.x, &pose->q.w);
  }
  carom_text_buffer_add(text, "]");
}

// Fixed bodies have no stream: their pose, that of the first frame, stands here.
static void add_body(carom_text_buffer *text, const carom_result *result, int b, const carom_frame *first) {
  const carom_result_body *body = &result->bodies[b];
  char color[8];
  snprintf(color, sizeof color, "#%06x", (unsigned)(body->color & 0xFFFFFFu));
  carom_text_buffer_json(text, "%s{\"name\":%j,\"color\":\"%s\",\"mass\":%n,\"fixed\":%b", b > 0 ? ",\n" : "",
                         body->name, color, body->mass, body->fixed);
  add_parts(text, result, body);
  if (body->fixed) {
    carom_pose pose = result->frame_count > 0 ? first->poses[b] : cm_pose_identity();
    carom_text_buffer_json(text, ",\"pose\":{\"position\":%v,\"rotation\":%q}", &pose.p.x, &pose.q.w);
  }
  carom_text_buffer_add(text, "}");
}

// A body without parts, whose frame stays parallel to the world's; its skin is told beside it.
static void add_solid(carom_text_buffer *text, const carom_result *result, int s) {
  const carom_result_solid *solid = &result->solids[s];
  char color[8];
  snprintf(color, sizeof color, "#%06x", (unsigned)(solid->color & 0xFFFFFFu));
  carom_text_buffer_json(text, "%s{\"name\":%j,\"color\":\"%s\",\"mass\":%n,\"fixed\":false,\"parts\":[],\"solid\":%d}",
                         s > 0 || result->body_count > 0 ? ",\n" : "", solid->name, color, solid->mass, s);
}

static void add_bodies(carom_text_buffer *text, const carom_result *result, const carom_frame *first) {
  carom_text_buffer_add(text, ",\"bodies\":[");
  for (int b = 0; b < result->body_count; b++) add_body(text, result, b, first);
  for (int s = 0; s < result->solid_count; s++) add_solid(text, result, s);
  carom_text_buffer_add(text, "]");
}

static void add_walls(carom_text_buffer *text, const carom_result *result) {
  if (result->wall_count == 0) return;
  carom_text_buffer_add(text, ",\"walls\":[");
  for (int i = 0; i < result->wall_count; i++) {
    const carom_result_wall *wall = &result->walls[i];
    carom_text_buffer_json(text, "%s{\"body\":%d,\"position\":%v,\"rotation\":%q,\"profile\":", i > 0 ? ",\n" : "",
                           wall->body, &wall->pose.p.x, &wall->pose.q.w);
    carom_text_buffer_json_numbers(text, &result->wall_points[wall->point_start].rho, 2 * wall->point_count);
    carom_text_buffer_add(text, "}");
  }
  carom_text_buffer_add(text, "]");
}

static void add_audit_columns(carom_text_buffer *text, const carom_result *result) {
  const carom_audit_column *columns = carom_audit_columns();
  carom_text_buffer_add(text, ",\"audit\":[");
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++) {
    bool pure = strcmp(columns[i].unit, "1") == 0;
    carom_text_buffer_json(text, "%s{\"key\":\"%s\",\"label\":%j,\"unit\":%j,\"group\":%j}", i > 0 ? ",\n" : "",
                           columns[i].key, columns[i].label, pure ? "" : columns[i].unit, columns[i].group);
  }
  carom_replay_solids_describe_columns(result, text);
  carom_text_buffer_add(text, "]");
}

static void add_verdict(carom_text_buffer *text, const carom_verdict *verdict) {
  carom_text_buffer_add(text, ",\"verdict\":[");
  for (int i = 0; i < verdict->count; i++) {
    const carom_verdict_row *row = &verdict->rows[i];
    carom_text_buffer_json(
        text, "%s{\"name\":%j,\"value\":%n,\"bound\":%n,\"unit\":\"\",\"pass\":%b,\"note\":%j,\"where\":%j}",
        i > 0 ? ",\n" : "", row->label, row->value, row->bound, row->pass, row->note, row->where);
  }
  carom_text_buffer_json(text, "],\"outcome\":%j,\"reason\":%j", carom_outcome_name(verdict->outcome), verdict->reason);
}

static void add_camera(carom_text_buffer *text, const carom_camera *camera) {
  if (camera->given)
    carom_text_buffer_json(text, ",\"camera\":{\"position\":%v,\"target\":%v}", &camera->position.x, &camera->target.x);
  else
    carom_text_buffer_add(text, ",\"camera\":null");
}

// The scene's own description, and what else someone who looks at the page should know.
static void add_description(carom_text_buffer *text, const carom_result *result, const carom_selection *selection) {
  carom_text_buffer_json(text, ",\"description\":%j", result->description);
  if (text->failed) return;
  text->length--;  // the closing quote
  if (selection->count < selection->total)
    carom_text_buffer_print(text, " This page shows %d of %d recorded frames.", selection->count, selection->total);
  if (!result->complete) carom_text_buffer_add(text, " The run did not come to its planned end.");
  carom_text_buffer_add(text, "\"");
}

static void add_head(carom_text_buffer *text, const carom_replay_solids *solids, const carom_selection *selection,
                     const carom_frame *first) {
  const carom_result *result = solids->result;
  carom_replay_channels channels = carom_replay_channels_plan(result, selection->count);
  carom_text_buffer_json(text, "{\"format\":\"carom-replay\",\"version\":1,\"title\":%j", result->title);
  add_description(text, result, selection);
  carom_text_buffer_json(text, ",\"generator\":\"carom %s\",\"integrator\":%j,\"step\":%n,\"frames\":%d,\"planar\":%b",
                         carom_version(), result->integrator, result->step, selection->count, result->planar);
  add_shapes(text, result);
  add_bodies(text, result, first);
  add_walls(text, result);
  carom_replay_solids_describe(solids, text);
  carom_replay_joints(text, result);
  add_audit_columns(text, result);
  add_verdict(text, &result->verdict);
  add_camera(text, &result->camera);
  carom_replay_events(text, result);
  carom_replay_plan(text, result);
  carom_replay_channels_describe(&channels, text);
  carom_text_buffer_add(text, "}");
}

// ---- the streams ---------------------------------------------------------------------------------------------------

// All of the packed data before compression, in the order in which it is stored.
typedef struct streams {
  const carom_result *result;
  carom_selection selection;
  int moving;  // bodies and solids
  unsigned char *bytes;
  size_t size;
  size_t box_at, plane_at, channel_at;  // where the boxes, the low bytes and the channels begin
  size_t value_count;                   // numbers in a plane
  carom_quat *last;                     // (moving) orientation in the frame before, for continuity
  uint16_t *previous;                   // (COMPONENTS x moving) value in the frame before, for the differences
  double (*limits)[BOX];                // (moving) boxes as doubles
  carom_replay_channels channels;
  size_t solid_at;  // where the skins begin
  carom_replay_solids solids;
} streams;

// How one of the things that move stands: bodies first, then solids.
typedef struct placement {
  carom_vec3 p;
  carom_quat q;
  double speed, spin;
} placement;

// The number of the body, or body_count and more for solids, after `last` (-1: the first) that moves.
static int next_moving(const carom_result *result, int last) {
  int b = last + 1;
  while (b < result->body_count && result->bodies[b].fixed) b++;
  return b;
}

static placement place(const carom_result *result, const carom_frame *frame, int b) {
  if (b < result->body_count)
    return (placement){frame->poses[b].p, frame->poses[b].q, cm_norm(frame->velocities[b]),
                       cm_norm(frame->angular_velocities[b])};
  carom_solid_motion whole = carom_solid_motion_of(result, frame, b - result->body_count);
  return (placement){whole.center, cm_qidentity(), cm_norm(whole.velocity), cm_norm(whole.spin)};
}

// What the box is computed from: three coordinates, then speed and spin.
static void measure(const placement *at, double values[5]) {
  values[0] = at->p.x;
  values[1] = at->p.y;
  values[2] = at->p.z;
  values[3] = at->speed;
  values[4] = at->spin;
  const double most = 3e38;  // what a float32 holds
  for (int i = 0; i < 5; i++) values[i] = isnan(values[i]) ? 0 : fmax(-most, fmin(most, values[i]));
}

static carom_status extend_boxes(void *context, int i, const carom_frame *frame, carom_error *error) {
  streams *s = context;
  (void)error;
  if (frame->channels) carom_replay_channels_add(&s->channels, i, frame->channels);
  carom_replay_solids_measure(&s->solids, i, frame);
  for (int m = 0, b = -1; m < s->moving; m++) {
    b = next_moving(s->result, b);
    placement at = place(s->result, frame, b);
    double v[5], *box = s->limits[m];
    measure(&at, v);
    for (int k = 0; k < 3; k++) {
      if (i == 0 || v[k] < box[k]) box[k] = v[k];
      if (i == 0 || v[k] > box[3 + k]) box[3 + k] = v[k];
    }
    for (int k = 0; k < 2; k++)
      if (v[3 + k] > box[6 + k]) box[6 + k] = v[3 + k];
  }
  return CAROM_OK;
}

// Quantisation below must use the numbers that the reader will see.
static void store_boxes(streams *s) {
  for (int m = 0; m < s->moving; m++) {
    for (int k = 0; k < BOX; k++) {
      float f = k < 3 ? carom_pack_below(s->limits[m][k]) : carom_pack_above(s->limits[m][k]);
      s->limits[m][k] = f;
      carom_pack_f32(s->bytes + s->box_at + 4 * ((size_t)m * BOX + (size_t)k), f);
    }
  }
}

static uint16_t quantise_unit(double value) {
  double scaled = isfinite(value) ? floor(value * 32767 + 0.5) : 0;
  return (uint16_t)(32768 + (scaled < -32767 ? -32767 : scaled > 32767 ? 32767 : scaled));
}

// Stored as the difference to the frame before.
static void put_value(streams *s, int component, int m, int i, uint16_t value) {
  uint16_t *previous = &s->previous[(size_t)component * (size_t)s->moving + (size_t)m];
  uint16_t difference = (uint16_t)(i == 0 ? value : value - *previous);
  size_t at = ((size_t)component * (size_t)s->moving + (size_t)m) * (size_t)s->selection.count + (size_t)i;
  *previous = value;
  carom_pack_difference(&(carom_planes){s->bytes + s->plane_at, s->value_count}, at, difference);
}

// Of q and -q, the same rotation, the one nearer to the frame before: else the differences would jump.
static carom_quat continuous(streams *s, int m, int i, carom_quat q) {
  if (i > 0 && cm_qdot(q, s->last[m]) < 0) q = cm_quat(-q.w, -q.x, -q.y, -q.z);
  s->last[m] = q;
  return q;
}

static carom_status put_frame(void *context, int i, const carom_frame *frame, carom_error *error) {
  streams *s = context;
  (void)error;
  carom_replay_solids_pack(&s->solids, i, frame, s->bytes + s->solid_at);
  for (int m = 0, b = -1; m < s->moving; m++) {
    b = next_moving(s->result, b);
    placement at = place(s->result, frame, b);
    double v[5];
    const double *box = s->limits[m];
    measure(&at, v);
    carom_quat q = continuous(s, m, i, at.q);
    for (int k = 0; k < 3; k++) put_value(s, k, m, i, carom_pack_level(v[k], box[k], box[3 + k], UINT16_MAX));
    const double c[4] = {q.w, q.x, q.y, q.z};
    for (int k = 0; k < 4; k++) put_value(s, 3 + k, m, i, quantise_unit(c[k]));
    for (int k = 0; k < 2; k++) put_value(s, 7 + k, m, i, carom_pack_level(v[3 + k], 0, box[6 + k], UINT16_MAX));
  }
  return CAROM_OK;
}

static void put_columns(streams *s) {
  size_t frames = (size_t)s->selection.count, total = (size_t)s->result->frame_count;
  int more = carom_replay_solids_columns(s->result);
  for (size_t i = 0; i < frames; i++) {
    size_t f = (size_t)carom_selected_frame(&s->selection, (int)i);
    carom_pack_f64(s->bytes + 8 * i, s->result->times[f]);
    for (size_t c = 0; c < CAROM_AUDIT_COLUMNS; c++)
      carom_pack_f64(s->bytes + 8 * ((c + 1) * frames + i), s->result->audit[c * total + f]);
    for (int c = 0; c < more; c++)
      carom_pack_f64(s->bytes + 8 * ((CAROM_AUDIT_COLUMNS + (size_t)c + 1) * frames + i),
                     carom_replay_solids_column(&s->solids, c, (int)i, (int)f));
  }
}

static carom_status allocate_streams(streams *s, carom_error *error) {
  size_t frames = (size_t)s->selection.count, moving = (size_t)s->moving;
  s->value_count = COMPONENTS * moving * frames;
  s->box_at = 8 * frames * (1 + CAROM_AUDIT_COLUMNS + (size_t)carom_replay_solids_columns(s->result));
  s->plane_at = s->box_at + 4 * BOX * moving;
  s->channel_at = s->plane_at + 2 * s->value_count;
  s->solid_at = s->channel_at + carom_replay_channels_size(&s->channels);
  const carom_allocator *allocator = &s->result->allocator;
  bool enough = carom_replay_solids_reserve(&s->solids, s->selection.count);
  s->size = s->solid_at + carom_replay_solids_size(&s->solids);
  if (enough &&
      CAROM_NEW_ALL(allocator, CAROM_ROOM(s->bytes, s->size), CAROM_ROOM(s->last, moving),
                    CAROM_ROOM(s->previous, COMPONENTS * moving), CAROM_ROOM(s->limits, moving)) &&
      carom_replay_channels_create(&s->channels))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d frames of %d bodies and %d nodes",
                    s->selection.count, s->moving, s->solids.node_count);
}

static void release_streams(streams *s) {
  carom_replay_channels_release(&s->channels);
  carom_replay_solids_release(&s->solids);
  CAROM_RELEASE_ALL(&s->result->allocator, s->bytes, s->last, s->previous, s->limits);
}

static carom_status fill_streams(streams *s, carom_result *result, const carom_progress *progress, carom_error *error) {
  carom_status status = allocate_streams(s, error);
  if (status == CAROM_OK)
    status = carom_visit_frames(&(carom_frames){result, s->selection, progress, 0, 0.25}, extend_boxes, s, error);
  if (status != CAROM_OK) return status;
  store_boxes(s);
  carom_replay_channels_pack(&s->channels, s->bytes + s->channel_at);
  carom_replay_solids_store_boxes(&s->solids, s->bytes + s->solid_at);
  put_columns(s);
  return carom_visit_frames(&(carom_frames){result, s->selection, progress, 0.25, 0.5}, put_frame, s, error);
}

// ---- packing -------------------------------------------------------------------------------------------------------

enum { PIECE = 3 << 16 };  // bytes that deflate gives at a time: whole groups of three for base64

// Deflates all of the input; every full piece of output goes to the text as base64.
static carom_status deflate_all(z_stream *z, const streams *s, unsigned char *piece, const carom_progress *progress,
                                carom_text_buffer *text, carom_error *error) {
  size_t taken = 0;
  int ended = Z_OK;
  z->next_out = piece;
  z->avail_out = PIECE;
  while (ended != Z_STREAM_END) {
    if (z->avail_in == 0 && taken < s->size) {
      size_t portion = s->size - taken < (1u << 22) ? s->size - taken : (1u << 22);
      z->next_in = s->bytes + taken;
      z->avail_in = (uInt)portion;
      taken += portion;
      carom_status status = carom_export_progress(progress, 0.5 + 0.5 * (double)taken / (double)s->size, 1, error);
      if (status != CAROM_OK) return status;
    }
    ended = deflate(z, taken == s->size ? Z_FINISH : Z_NO_FLUSH);
    if (ended == Z_STREAM_ERROR) return carom_fail(error, CAROM_ERR_MEMORY, "the motion could not be compressed");
    if (z->avail_out > 0 && ended != Z_STREAM_END) continue;
    carom_text_buffer_base64(text, piece, PIECE - z->avail_out);
    z->next_out = piece;
    z->avail_out = PIECE;
  }
  return CAROM_OK;
}

static carom_status pack(const streams *s, const carom_progress *progress, carom_text_buffer *text,
                         carom_error *error) {
  enum { LARGE = 50000000 };
  z_stream z = {0};
  unsigned char *piece = CAROM_NEW(&s->result->allocator, unsigned char, PIECE);
  if (!piece || deflateInit(&z, s->size > LARGE ? 6 : 9) != Z_OK) {
    carom_release(&s->result->allocator, piece);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for compressing the motion");
  }
  carom_status status = deflate_all(&z, s, piece, progress, text, error);
  deflateEnd(&z);
  carom_release(&s->result->allocator, piece);
  return status;
}

static carom_status add_head_element(carom_text_buffer *text, carom_result *result, const streams *s,
                                     carom_error *error) {
  carom_frame first;
  carom_status status = carom_frame_init(result, &first, error);
  if (status == CAROM_OK && result->frame_count > 0) status = carom_result_read_frame(result, 0, &first, error);
  if (status == CAROM_OK) {
    carom_text_buffer_add(text, "<script id=\"carom-replay\" type=\"application/json\">");
    add_head(text, &s->solids, &s->selection, &first);
    carom_text_buffer_add(text, "</script>\n");
  }
  carom_frame_release(&first);
  return status;
}

static carom_selection select_frames(const streams *s) {
  carom_selection of_bodies = carom_select_frames(s->result, s->moving, max_poses);
  if (s->solids.node_count == 0) return of_bodies;
  carom_selection of_nodes = carom_select_frames(s->result, s->solids.node_count, max_nodes);
  return of_nodes.count < of_bodies.count ? of_nodes : of_bodies;
}

carom_status carom_replay_elements(carom_result *result, const carom_progress *progress, carom_text_buffer *text,
                                   carom_error *error) {
  streams s = {.result = result, .moving = carom_count_moving(result) + result->solid_count};
  s.channels.result = result;
  if (!carom_replay_solids_create(&s.solids, result)) {
    release_streams(&s);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the skins of %d solids", result->solid_count);
  }
  s.selection = select_frames(&s);
  s.channels = carom_replay_channels_plan(result, s.selection.count);
  carom_status status = add_head_element(text, result, &s, error);
  if (status == CAROM_OK) status = fill_streams(&s, result, progress, error);
  if (status == CAROM_OK) {
    carom_text_buffer_add(text, "<script id=\"carom-data\" type=\"text/plain\">");
    status = pack(&s, progress, text, error);
    carom_text_buffer_add(text, "</script>");
  }
  release_streams(&s);
  if (status == CAROM_OK && text->failed)
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the replay page");
  return status;
}

// ---- the page ------------------------------------------------------------------------------------------------------

static const char marker[] = "<!--CAROM-REPLAY-->";

static const char *find_marker(const char *page, size_t size) {
  size_t length = strlen(marker);
  for (size_t i = 0; i + length <= size; i++)
    if (memcmp(page + i, marker, length) == 0) return page + i;
  return NULL;
}

static carom_status write_page(carom_atomic_file *file, const char *page, size_t size, const char *at,
                               const carom_text_buffer *elements, carom_error *error) {
  size_t before = (size_t)(at - page), after = before + strlen(marker);
  carom_status status = carom_atomic_file_write(file, page, before, error);
  if (status == CAROM_OK) status = carom_atomic_file_write(file, elements->data, elements->length, error);
  if (status == CAROM_OK) status = carom_atomic_file_write(file, page + after, size - after, error);
  return status == CAROM_OK ? carom_atomic_file_commit(file, error) : status;
}

carom_status carom_replay_page(carom_result *result, const char *path, const char *page, size_t page_size,
                               const carom_progress *progress, carom_error *error) {
  const char *at = find_marker(page, page_size);
  if (!at) return carom_fail(error, CAROM_ERR_FORMAT, "the template of the replay page lacks its marker %s", marker);
  carom_atomic_file file;
  carom_text_buffer elements = carom_text_buffer_make(&result->allocator);
  carom_status status = carom_atomic_file_open(&file, path, &result->allocator, error);
  if (status == CAROM_OK) status = carom_replay_elements(result, progress, &elements, error);
  if (status == CAROM_OK) status = write_page(&file, page, page_size, at, &elements, error);
  carom_atomic_file_abandon(&file);
  carom_text_buffer_release(&elements);
  return status;
}

carom_status carom_export_replay(carom_result *result, const char *path, const carom_progress *progress,
                                 carom_error *error) {
  for (const carom_embedded *file = carom_viewer_files; file->name; file++)
    if (strcmp(file->name, "replay.html") == 0)
      return carom_replay_page(result, path, (const char *)file->bytes, file->size, progress, error);
  return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                    "this build has no replay page: install Node.js (apt install nodejs npm) and build again (make)");
}
