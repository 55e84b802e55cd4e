#include "export/export.h"

#include <math.h>

#include "base/memory.h"

int carom_count_moving(const carom_result *result) {
  int moving = 0;
  for (int b = 0; b < result->body_count; b++) moving += !result->bodies[b].fixed;
  return moving;
}

carom_selection carom_select_frames(const carom_result *result, int moving_bodies, double max_poses) {
  carom_selection selection = {result->frame_count, result->frame_count};
  double bodies = moving_bodies > 0 ? moving_bodies : 1;
  double most = fmax(2, floor(max_poses / bodies));
  if (selection.count > most) selection.count = (int)most;
  return selection;
}

// Rounded to the nearest frame of an even division, so that the last choice is the last frame.
int carom_selected_frame(const carom_selection *selection, int i) {
  if (selection->count == selection->total) return i;
  int64_t steps = selection->count - 1;
  return (int)(((int64_t)i * (selection->total - 1) + steps / 2) / steps);
}

carom_status carom_export_progress(const carom_progress *progress, double done, double total, carom_error *error) {
  if (!progress || !progress->report || progress->report(progress->context, done, total)) return CAROM_OK;
  return carom_fail(error, CAROM_INTERRUPTED, "the export was interrupted; nothing was written");
}

carom_status carom_visit_frames(const carom_frames *frames, carom_visit_frame *visit, void *context,
                                carom_error *error) {
  carom_result *result = frames->result;
  const carom_selection *selection = &frames->selection;
  double span = frames->end - frames->begin;
  carom_frame frame;
  carom_status status = carom_frame_init(result, &frame, error);
  for (int i = 0; status == CAROM_OK && i < selection->count; i++) {
    status = carom_export_progress(frames->progress, frames->begin + span * i / selection->count, 1, error);
    if (status == CAROM_OK) status = carom_result_read_frame(result, carom_selected_frame(selection, i), &frame, error);
    if (status == CAROM_OK) status = visit(context, i, &frame, error);
  }
  carom_frame_release(&frame);
  return status;
}

// ---- how far the scene reaches -------------------------------------------------------------------------------------

typedef struct extent {
  const carom_result *result;
  double reach;   // of what moves, from the world origin
  double offset;  // of half-spaces, from the world origin
} extent;

static carom_status add_extent(void *context, int i, const carom_frame *frame, carom_error *error) {
  extent *e = context;
  (void)i;
  (void)error;
  for (int b = 0; b < e->result->body_count; b++) {
    const carom_result_body *body = &e->result->bodies[b];
    for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
      const carom_result_part *part = &e->result->parts[p];
      double distance = cm_norm(cm_transform(frame->poses[b], part->pose.p));
      double radius = carom_shape_bounding_radius(e->result->shapes[part->shape]);
      if (isfinite(radius)) {
        if (distance + radius > e->reach) e->reach = distance + radius;
      } else if (distance > e->offset) {
        e->offset = distance;
      }
    }
  }
  return CAROM_OK;
}

// A square of half side (reach of the bodies + offset of the half-space) about the half-space's own origin lies under
// all of them wherever they are.
carom_status carom_scene_reach(const carom_frames *frames, double *reach, carom_error *error) {
  const carom_result *result = frames->result;
  bool needed = false;
  for (int s = 0; s < result->shape_count; s++)
    needed = needed || carom_shape_get_kind(result->shapes[s]) == CAROM_SHAPE_HALFSPACE;
  *reach = 1;
  if (!needed) return CAROM_OK;
  extent e = {result, 0, 0};
  carom_status status = carom_visit_frames(frames, add_extent, &e, error);
  double sum = e.reach + e.offset;
  if (sum > 0 && isfinite(sum)) *reach = 1.1 * sum;
  return status;
}

// ---- surfaces ------------------------------------------------------------------------------------------------------

carom_surface *carom_surfaces_create(const carom_result *result, double reach, int copies) {
  carom_surface_options options = {reach, copies > 20000 ? 2 : copies > 2000 ? 3 : 6};
  carom_surface *surfaces = CAROM_NEW(&result->allocator, carom_surface, result->shape_count);
  for (int s = 0; surfaces && s < result->shape_count; s++) {
    if (carom_surface_create(&surfaces[s], result->shapes[s], &options, &result->allocator)) continue;
    carom_surfaces_release(result, surfaces);
    return NULL;
  }
  return surfaces;
}

void carom_surfaces_release(const carom_result *result, carom_surface *surfaces) {
  for (int s = 0; surfaces && s < result->shape_count; s++) carom_surface_release(&surfaces[s], &result->allocator);
  carom_release(&result->allocator, surfaces);
}
