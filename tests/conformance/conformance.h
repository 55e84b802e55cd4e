// The conformance matrix: scenes x integrators x two steps. Every scene has a truth that no integrator produced. A cell
// is right when the truth holds and the audit passes, refused when the scene is turned down with a reason before the
// first step, and wrong otherwise. See docs/conformance.md.
#ifndef CAROM_TESTS_CONFORMANCE_H
#define CAROM_TESTS_CONFORMANCE_H

#include "carom/carom.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- motion that was recorded, by Carom or by any other engine ----------------------------------------------------

typedef struct track_point {
  carom_vec3 x;  // centre of mass, m
  carom_quat q;  // principal frame
  carom_vec3 v, w;
} track_point;

typedef struct track {
  const carom_model *model;
  double h;
  int frames;           // one a step, the start included
  track_point *points;  // (frames, body_count)
  double *turns;        // (frames, joint_count) coordinate of the joint: turn, or slide of those that only slide
} track;

track track_begin(const carom_model *model, double h, int steps);
void track_note(track *t, const carom_state *state);  // the next frame
track_point *track_room(track *t);                    // (body_count) of the next frame, to be filled
void track_end(track *t);
const track_point *track_at(const track *t, int frame, int body);
double track_energy(const track *t, int frame);  // kinetic, and potential of gravity and springs

// ---- cells --------------------------------------------------------------------------------------------------------

enum { CONFORMANCE_TEXT = 600, CONFORMANCE_PARAMETERS = 12 };

typedef enum cell_outcome { CELL_RIGHT, CELL_REFUSED, CELL_WRONG } cell_outcome;

struct cell;
typedef void scene_truth(struct cell *cell);

// A row of the matrix.
typedef struct conformance_scene {
  const char *name, *family;
  const char *file;        // in scenes/, without its ending; or the scene itself, if it has more than one line
  const char *parameters;  // "e=0.5 mu=0.2": constants of the file, and what the truth reads
  double steps[2];         // coarse and fine, s
  scene_truth *truth;
  unsigned flags;
} conformance_scene;

enum {
  SCENE_FREE = 1,    // nothing touches: integrators without contacts take part
  SCENE_DRIVEN = 2,  // something from outside may raise the energy
  SCENE_RANDOM = 4,  // judged frame by frame
};

// What the integrator promises, on which tolerances rest.
typedef struct accuracy {
  int order;     // of smooth motion
  double late;   // s: how far the time of an impact may be off
  double depth;  // m: overlap that the method means to have
} accuracy;

typedef struct cell {
  const conformance_scene *scene;
  const char *integrator;  // or the name of a peer
  double h;
  accuracy accuracy;
  const track *track;
  // of the truth:
  int claims;
  bool broken;
  double worst;  // largest error over its tolerance
  char claim[CONFORMANCE_TEXT];
  // of the whole:
  cell_outcome outcome;
  char reason[CONFORMANCE_TEXT];
  double seconds;  // of processor time
} cell;

// Rows, by family; the last has no name.
const conformance_scene *conformance_scenes(int *count);
const conformance_scene *conformance_find(const char *name);
// The scene of a seed (random.c); its texts are in *text, to be freed.
conformance_scene random_scene(uint64_t seed, char **text);

// ---- what truths are written with ---------------------------------------------------------------------------------

double parameter(const cell *c, const char *name);  // of the scene; ends the program when there is none
int body(const cell *c, const char *name);
int frame_at(const cell *c, double time);
double duration(const cell *c);
const track_point *point_at(const cell *c, const char *name, double time);
carom_pose pose_at(const cell *c, const char *name, double time);  // of the user's frame
double tilt_at(const cell *c, const char *name, double time);      // rad that the body has turned since the start

// The most that a position may be off after a time under an acceleration that changes at the given rate (1/s).
double drift(const cell *c, double acceleration, double time, double rate);

// A statement of the truth; the worst is kept.
void expect(cell *c, const char *what, double value, double truth, double tolerance);
void expect_vector(cell *c, const char *what, carom_vec3 value, carom_vec3 truth, double tolerance);
void expect_at_most(cell *c, const char *what, double value, double bound);
// All moving bodies are where they began, within a tolerance in m, and have not turned by more than that over their
// size.
void expect_rest(cell *c, double tolerance);

// Laws that hold in every scene: nothing overlaps, contacts make no energy.
void expect_laws(cell *c);
double thinnest_side(const carom_shape *shape);
bool is_box(const carom_shape *shape, carom_vec3 *half);  // centred, along its axes

// ---- mathematics of truths ----------------------------------------------------------------------------------------

typedef void rates(const double *y, const double *parameters, double *dy);
// Runge-Kutta of fourth order with steps so small that its error is round-off.
void integrate(rates *f, const double *parameters, int n, double time, double *y);
double complete_elliptic(double k);  // K(k)
void jacobi(double u, double k, double *sn, double *cn, double *dn);

// ---- running ------------------------------------------------------------------------------------------------------

void run_cell(cell *c);  // in a process of its own: what crashes or hangs is a wrong cell
bool sees_contacts(const char *integrator);
carom_scene *read_cell(const cell *c, int threads, char *reason);  // null: refused

// Another engine. Bodies are read in their principal frames; those that do not move need not be asked about.
typedef struct conformance_peer {
  const char *name, *version;
  void *(*open)(const carom_scene *scene, double h);  // null: it cannot
  bool (*step)(void *world);                          // false: it gave up
  void (*read)(void *world, int body, track_point *point);
  void (*close)(void *world);
} conformance_peer;
extern const conformance_peer *const conformance_peers[];  // ends with null
void run_peer_cell(cell *c, const conformance_peer *peer);

// ---- what every integrator owes on a scene that it takes (honours.c) -----------------------------------------------
void check_promises(cell *c, const carom_scene *scene);

// ---- reports ------------------------------------------------------------------------------------------------------
typedef struct matrix {
  int count;
  cell *cells;
} matrix;
void print_cell(const cell *c);
bool write_json(const matrix *m, const char *path);
bool write_page(const matrix *m, const char *path);

#ifdef __cplusplus
}
#endif
#endif
