// What the parts of `carom gap` share: bodies from words, the picture, pair files.
#ifndef CAROM_SRC_CLI_GAP_H
#define CAROM_SRC_CLI_GAP_H

#include "cli/cli.h"

// A shape from a mesh file (.obj, .stl) or from words in the scene's syntax ("box: [1, 1, 1]"), at a pose from words
// ("x,y,z", "x,y,z,qw,qx,qy,qz" or "x,y,z/ax,ay,az,DEGREES"; null for none). An exit code; the shape is the caller's,
// and the scene that the words were made into, which is null for a mesh file.
int cli_gap_body(const char *label, const char *words, const char *pose, carom_placed *body, carom_scene **scene);

// What was found out about two bodies.
typedef struct cli_gap_answer {
  carom_ssh_result program;
  carom_ssh_optimum optimum;  // of the same program: all that carries the contact, with weights of least norm
  carom_distance_result distance;
} cli_gap_answer;

// A page with the two bodies, the supporting planes and the witness points; an exit code.
int cli_gap_page(const char *path, const carom_placed *a, const carom_placed *b, const cli_gap_answer *answer);

// Times and errors over all pairs of a file; an exit code.
int cli_gap_pairs(const char *path, bool json);

// ---- pair files ----------------------------------------------------------------------------------------------------

// Two placed bodies with their signed distance and normal (from b to a) from elsewhere.
typedef struct cli_pair {
  int a, b;
  carom_pose pose_a, pose_b;
  double distance;
  carom_vec3 normal;
} cli_pair;

typedef struct cli_pair_file {
  int vertex_count, body_count, pair_count, regime_count;
  int sequence_length;         // pairs that follow each other in small steps; 0 or 1: independent
  const carom_shape **bodies;  // (body_count)
  cli_pair *pairs;             // (regime_count x pair_count)
} cli_pair_file;

// False after a message in *error; nothing is left to release then.
bool cli_pair_file_read(const char *path, cli_pair_file *file, carom_error *error);
void cli_pair_file_release(cli_pair_file *file);

#endif
