// Solids in a replay page (viewer/FORMAT.md): each is a moving body without parts, whose stream is that of its centre
// of mass, and a skin whose nodes are told relative to that centre, frame by frame: with 16 bits in the box of all that
// they do there, and the stress with 8 bits.
#ifndef CAROM_SRC_EXPORT_REPLAY_SOLIDS_H
#define CAROM_SRC_EXPORT_REPLAY_SOLIDS_H

#include "base/text_buffer.h"
#include "carom/export.h"

// Up to so many solids have plots of their own; of more the sums and extremes are told.
enum { CAROM_REPLAY_SOLID_PLOTS = 6, CAROM_REPLAY_SOLID_ROWS = 3 };

typedef struct carom_replay_solids {
  const carom_result *result;
  int frames;            // that the page shows
  int node_count;        // of all skins
  int *start;            // (solid_count + 1) the first node of each skin
  int *nodes;            // (node_count) which node of the result each is
  int *number;           // (nodes of the result) its number in its skin, -1: inside
  double *stress;        // (nodes of the result) of the frame at hand, Pa; mean of the tetrahedra around it
  int *around;           // (nodes of the result) how many tetrahedra there are
  double (*box)[7];      // (solid_count) lo, hi in m from the centre, and the largest stress of a node
  double *largest;       // (solid_count x frames) stress of a tetrahedron
  uint16_t *before;      // (3 node_count) levels one frame before,
  uint16_t *slope;       // (3 node_count) and what they had grown by
  unsigned char *shade;  // (node_count) level of the stress one frame before
} carom_replay_solids;

// False when out of memory. Nodes of the skins are found here.
bool carom_replay_solids_create(carom_replay_solids *solids, const carom_result *result);
void carom_replay_solids_release(carom_replay_solids *solids);
// Room for `frames` frames; false when out of memory.
bool carom_replay_solids_reserve(carom_replay_solids *solids, int frames);

// The member "solids" of the description, or nothing when there are none.
void carom_replay_solids_describe(const carom_replay_solids *solids, carom_text_buffer *text);

// Where a solid is as a whole: centre of mass, its velocity, and the angular velocity that a rigid body of that shape
// and angular momentum would have.
typedef struct carom_solid_motion {
  carom_vec3 center, velocity, spin;
} carom_solid_motion;
carom_solid_motion carom_solid_motion_of(const carom_result *result, const carom_frame *frame, int solid);

// Plots: columns of the audit that only the page has.
int carom_replay_solids_columns(const carom_result *result);
void carom_replay_solids_describe_columns(const carom_result *result, carom_text_buffer *text);
// Of the frame `frame` of the result, which is number i of the page; once all frames were measured.
double carom_replay_solids_column(const carom_replay_solids *solids, int column, int i, int frame);

// Frame after frame, once for the boxes, and again for the levels.
void carom_replay_solids_measure(carom_replay_solids *solids, int i, const carom_frame *frame);
size_t carom_replay_solids_size(const carom_replay_solids *solids);
void carom_replay_solids_store_boxes(carom_replay_solids *solids, unsigned char *bytes);
void carom_replay_solids_pack(carom_replay_solids *solids, int i, const carom_frame *frame, unsigned char *bytes);

#endif
