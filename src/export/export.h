// What the exporters share: which frames to take, how far the scene reaches, progress, surfaces of all shapes.
#ifndef CAROM_SRC_EXPORT_EXPORT_H
#define CAROM_SRC_EXPORT_EXPORT_H

#include "base/text_buffer.h"
#include "carom/export.h"
#include "export/surface.h"

// The frames that an export takes: all of them, or an even choice when there would be too many poses. The first and
// the last are always among them.
typedef struct carom_selection {
  int count;
  int total;  // frames in the result
} carom_selection;

carom_selection carom_select_frames(const carom_result *result, int moving_bodies, double max_poses);
int carom_selected_frame(const carom_selection *selection, int i);  // index in the result of the i-th choice
int carom_count_moving(const carom_result *result);

// Reports; CAROM_INTERRUPTED with a message when the caller asks to stop. A null progress is fine.
carom_status carom_export_progress(const carom_progress *progress, double done, double total, carom_error *error);

// Frames to go through, in order; progress runs from `begin` to `end` of 1 meanwhile.
typedef struct carom_frames {
  carom_result *result;
  carom_selection selection;
  const carom_progress *progress;  // may be null
  double begin, end;
} carom_frames;

// `visit` gets the number of the choice.
typedef carom_status carom_visit_frame(void *context, int i, const carom_frame *frame, carom_error *error);
carom_status carom_visit_frames(const carom_frames *frames, carom_visit_frame *visit, void *context,
                                carom_error *error);

// Half the side of the squares that stand for half-spaces: they lie under everything that moves.
carom_status carom_scene_reach(const carom_frames *frames, double *reach, carom_error *error);

// One surface for each shape of the result; null when out of memory. Round shapes are coarser the more surfaces the
// file will hold (`copies`).
carom_surface *carom_surfaces_create(const carom_result *result, double reach, int copies);
void carom_surfaces_release(const carom_result *result, carom_surface *surfaces);

// The two script elements that the replay page's template takes in place of its marker.
carom_status carom_replay_elements(carom_result *result, const carom_progress *progress, carom_text_buffer *text,
                                   carom_error *error);
// Puts them into a page; the template must hold the marker.
carom_status carom_replay_page(carom_result *result, const char *path, const char *page, size_t page_size,
                               const carom_progress *progress, carom_error *error);

#endif
