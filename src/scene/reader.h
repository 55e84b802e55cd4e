// The inside of the scene reader: what its files share while one scene is read.
//
// Order of work: load (files, includes, overrides -> one tree), constants, materials, shapes, bodies, forces, joints,
// run. Every step reads all it can and reports all it finds; the model is built only when nothing was wrong.
#ifndef CAROM_SRC_SCENE_READER_H
#define CAROM_SRC_SCENE_READER_H

#include <math.h>

#include "base/expression.h"
#include "base/names.h"
#include "carom/port.h"
#include "carom/scene.h"
#include "scene/diagnostics.h"
#include "scene/keys.h"
#include "scene/pool.h"
#include "scene/yaml.h"

typedef struct carom_constant {
  const carom_node *node;
  enum { CAROM_CONSTANT_NEW, CAROM_CONSTANT_BUSY, CAROM_CONSTANT_READY, CAROM_CONSTANT_BAD } state;
  bool used;  // an expression asked for it
  carom_quantity value;
} carom_constant;

// What i, j, k, n and count mean in the expressions of a replicated body.
typedef struct carom_indices {
  bool active;  // within a replicated body
  bool used;    // an expression asked for one of them since this was last cleared
  double i, j, k, n, count;
} carom_indices;

// What was noted of a body.
typedef struct carom_body_record {
  const carom_node *node;
  carom_vec3 position;
  bool fixed;
} carom_body_record;

// Of a material: what solids may take from it, each with the place where it stands; null: it does not say.
typedef struct carom_matter_nodes {
  const carom_node *young, *poisson, *lambda, *mu, *damping, *law;
  bool bad;  // of a material in error, which was reported
} carom_matter_nodes;

typedef struct carom_cloud_sphere {
  carom_vec3 center;
  double radius;
} carom_cloud_sphere;

typedef struct carom_reader {
  carom_pool pool;
  carom_reporter reporter;
  carom_scene_options options;
  carom_allocator allocator;
  const char *path, *folder;  // of the scene file; the folder ends with a slash or is empty
  carom_yaml_limits limits;
  int64_t bytes_left;  // of all files together
  int files_left;
  const char **files;  // (file_count) opened so far
  int file_count, file_capacity;
  const carom_node *root;
  const carom_node *top[KEYS_IN_SCENE];
  uint64_t seed;

  carom_names constant_names;
  carom_constant *constants;
  int constant_depth;
  carom_indices indices;

  carom_builder *builder;
  bool planar;  // is told to each builder
  bool doomed;  // the builder refused something: a fresh one goes on checking, but nothing will come of it
  carom_names material_names;
  carom_names shape_names;
  const carom_shape **shapes;  // (shape_count) named shapes; null where one is in error
  int shape_count;
  int64_t vertices_left;  // over all shapes: bounds memory whatever the file says

  const carom_node *body_defaults[KEYS_IN_BODY];
  carom_names body_names;
  carom_body_record *bodies;  // (body_count)
  int body_count, body_capacity;
  int64_t pieces_left;  // parts and charges of all bodies

  carom_matter_nodes *matter;  // (material_count)
  int matter_count, matter_capacity;
  const carom_node *solid_defaults[KEYS_IN_SOLID];
  carom_names solid_names;
  const carom_node **solids;  // (solid_count) the entry of each
  int solid_count, solid_capacity;
  int64_t tets_left;  // over all solids: bounds memory whatever the file says

  carom_cloud_sphere *cloud;  // (cloud_count) bodies that clouds have placed
  int cloud_count, cloud_capacity;
  uint64_t cloud_number;  // of the cloud, and of its random numbers

  carom_names charge_set_names;
  int charge_set_count;

  carom_names joint_names;               // of joints, to their numbers; those of chains are not in it
  carom_names input_names;               // of inputs, to their numbers
  struct carom_control_nodes *controls;  // (as many as controllers) where they and their formulas stand
  int control_capacity;

  int integrator;  // index; -1 while it is not known
  bool chooses;    // it is `auto`
  bool options_set[CAROM_OPTION_COUNT];

  bool separates;  // bodies that overlap at the start

  carom_scene *scene;
} carom_reader;

// ---- scene_load.c, scene_override.c ------------------------------------------------------------------

// One tree out of the text, its includes and the overrides; null after errors.
carom_node *carom_load_tree(carom_reader *r, const char *text, size_t size);
void carom_apply_override(carom_reader *r, carom_node *root, const char *text);
// Keeps the path of a file that is about to be opened; false when out of memory.
bool carom_note_file(carom_reader *r, const char *path);
// folder + path, unless the path is absolute; in the pool. Null when out of memory.
const char *carom_join_path(carom_pool *pool, const char *folder, const char *path);

// ---- scene_values.c: typed values ----------------------------------------------------------------------
// A null node means that the key is absent: the value keeps its default and all is well. A value in error keeps
// its default too, is reported, and the function returns false.

typedef enum carom_sign { CAROM_ANY, CAROM_NOT_NEGATIVE, CAROM_POSITIVE } carom_sign;

bool carom_read_number(carom_reader *r, const carom_node *node, carom_dimension dimension, carom_sign sign,
                       double *value);
// The same for an item of a list: `label` stands for its key in messages.
bool carom_read_item(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                     carom_sign sign, double *value);
bool carom_read_integer(carom_reader *r, const carom_node *node, double least, double most, double *value);
bool carom_read_int(carom_reader *r, const carom_node *node, int least, int most, int *value);
bool carom_read_vector(carom_reader *r, const carom_node *node, carom_dimension dimension, carom_vec3 *value);
bool carom_read_vector_item(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                            carom_vec3 *value);
// A point, for which two numbers will do in the plane.
bool carom_read_place(carom_reader *r, const carom_node *node, const char *label, carom_vec3 *value);
bool carom_read_numbers(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                        int count, double *values);
bool carom_read_bool(carom_reader *r, const carom_node *node, bool *value);
// A word or text; never empty.
bool carom_read_text(carom_reader *r, const carom_node *node, const char **value);
bool carom_read_color(carom_reader *r, const carom_node *node, uint32_t *color);
bool carom_read_rotation(carom_reader *r, const carom_node *node, carom_quat *q);
// One of the words (ends with null): its number.
bool carom_read_choice(carom_reader *r, const carom_node *node, const char *const *words, int *value);
// The place of a byte within a scalar.
carom_place carom_value_place(const carom_node *node, size_t offset);
// Reports "..., got " and what the node is; always false.
bool carom_refuse(carom_reader *r, const carom_node *node, const char *hint, const char *format, ...)
    CAROM_PRINTF(4, 5);
// "a list", "'3 x'", "nothing"
const char *carom_describe(const carom_node *node, char *text, size_t size);

// ---- scene_fields.c: maps and lists --------------------------------------------------------------------

// Sorts the children of a map by the keys of a section into slots (null where absent) and reports unknown keys.
// `label` names the thing in messages ("body 'top'"). False when the node is no map; null counts as empty.
bool carom_read_fields(carom_reader *r, const carom_node *node, carom_section section, const char *label,
                       const carom_node **slots);
// The same by keys of the caller's own; without a name of theirs, unknown ones are told without a list of the known.
bool carom_read_keyed(carom_reader *r, const carom_node *node, const carom_section_keys *keys, const char *label,
                      const carom_node **slots);
// True when the node is a list or null; otherwise an error.
bool carom_read_list(carom_reader *r, const carom_node *node, const char *what);
bool carom_require(carom_reader *r, const carom_node *at, const carom_node *slot, const char *key, const char *label);
// At most one of two keys; exactly one.
bool carom_exclusive(carom_reader *r, const carom_node *a, const carom_node *b, const char *keys, const char *label);
bool carom_one_of(carom_reader *r, const carom_node *at, const carom_node *a, const carom_node *b, const char *keys,
                  const char *label);
void carom_unknown_name(carom_reader *r, const carom_node *node, const char *what, const carom_names *names);
void carom_read_constants(carom_reader *r);
// Once all is read: a constant that an override brought in and nobody asked for is a slip of the pen.
void carom_check_constants(carom_reader *r);
carom_scope carom_reader_scope(carom_reader *r);
bool carom_reader_failed(const carom_reader *r);  // out of memory, or too many errors to go on

// ---- scene_shapes.c ------------------------------------------------------------------------------------

void carom_read_named_shapes(carom_reader *r);
// The caller gets one reference; null after an error.
const carom_shape *carom_read_shape(carom_reader *r, const carom_node *node);

// ---- ports.c, magnets.c -------------------------------------------------------------------------------

// Fills the port, which the caller releases; false after an error.
bool carom_read_port(carom_reader *r, const carom_node *node, carom_port *port);
// Adds the list of magnets of a body (-1: only checks them). `label` names the body in messages.
bool carom_read_magnets(carom_reader *r, const carom_node *list, const char *label, int body);
// supports.c: what a body (-1: only checks) lies on; null: nothing.
bool carom_read_support(carom_reader *r, const carom_node *node, const char *label, int body);
// The charge set that `node` names, or the first one; -1 after an error. `at` is what needs it.
int carom_find_charge_set(carom_reader *r, const carom_node *at, const carom_node *node);
// Shapes that differ from copy to copy could fill any memory: all vertices together have a bound.
bool carom_shape_in_budget(carom_reader *r, const carom_node *at, const carom_shape *shape);

// ---- scene_replicate.c, scene_cloud.c ------------------------------------------------------------------

typedef enum carom_array_kind {
  CAROM_ONCE,
  CAROM_COUNT,
  CAROM_GRID,
  CAROM_RING,
  CAROM_STACK,
  CAROM_CLOUD,
  CAROM_CIRCLES
} carom_array_kind;

typedef struct carom_array {
  carom_array_kind kind;
  const carom_node *node;
  double n[3];  // counts along i, j, k
  double count;
  carom_vec3 spacing;
  double radius;
  carom_vec3 axis;
  bool face;
  carom_vec3 low, high;  // of a cloud
  double clearance;
  double pitch;   // of circles: between neighbours and between circles
  uint64_t seed;  // of circles
  bool rotate;
  carom_pose *placed;  // (count) by a cloud
} carom_array;

bool carom_read_array(carom_reader *r, const carom_node *node, carom_array *array);
void carom_array_set_indices(carom_reader *r, const carom_array *array, int n);
// Where copy n goes: to be put before the body's own pose.
carom_pose carom_array_pose(const carom_array *array, int n);
// Places all copies of a cloud. `bodies` (count) are their bounding spheres about their own positions; the cloud adds
// its random place to those. False after an error.
bool carom_place_cloud(carom_reader *r, carom_array *array, const carom_cloud_sphere *bodies);

// ---- copies.c: what entries of the lists of bodies and of solids have in common -------------------------

// The name of an entry; without one, `what` and `fallback`. The label is "body 'top'", or with `number` "body 3".
typedef struct carom_entry_name {
  const char *what;
  int number, fallback;
  const char *name;
  char label[100];
} carom_entry_name;

bool carom_read_entry_name(carom_reader *r, const carom_node *node, carom_entry_name *entry);
const char *carom_copy_name(carom_reader *r, const carom_array *array, const char *name, int n);
// "two bodies are named 'a'", with the line of the other one; always false.
bool carom_two_of_a_name(carom_reader *r, const carom_node *at, const carom_node *first, const char *two,
                         const char *name);

// Defaults of the keys of a section. Of a pair of keys that say the same thing in two ways, an entry's own word for it
// puts the default for the other aside.
typedef struct carom_defaults {
  int count;
  const carom_node *const *nodes;  // (count)
  const int (*pairs)[2];           // (pair_count)
  int pair_count;
} carom_defaults;

// Fills `f`; own[i] says which were there before.
void carom_fill_defaults(const carom_defaults *defaults, const carom_node **f, bool *own);
// All but `name` and `replicate`, which belong to one entry.
void carom_keep_defaults(carom_reader *r, carom_section section, const carom_node *const *given,
                         const carom_node **kept);
bool carom_read_copy_pose(carom_reader *r, const carom_node *position, const carom_node *rotation,
                          const carom_array *array, int n, carom_pose *pose);
bool carom_read_material_name(carom_reader *r, const carom_node *node, int *index);
bool carom_may_go_on(carom_reader *r, const carom_node *node, const carom_array *array, int n);
bool carom_check_copy_count(carom_reader *r, const carom_node *node, const carom_array *array, int before,
                            const char *what);

// ---- scene_materials.c, scene_bodies.c, scene_forces.c, scene_joints.c, scene_run.c --------------------

void carom_read_materials(carom_reader *r);
// matter.c: what is there of a solid's constants into the definition; what is not keeps its value there.
bool carom_read_matter(carom_reader *r, const carom_matter_nodes *nodes, const char *label, carom_solid_def *def);
void carom_read_defaults(carom_reader *r);
void carom_read_bodies(carom_reader *r);
void carom_read_solids(carom_reader *r);       // after the bodies, which hold their pins
void carom_read_charge_sets(carom_reader *r);  // before the bodies, which name them
void carom_read_forces(carom_reader *r);       // after the bodies
void carom_read_electromagnets(carom_reader *r, const carom_node *list);
void carom_check_electromagnets(carom_reader *r);  // once the model is built: warns of those out of range
void carom_read_planar(carom_reader *r);           // before the bodies: whether all is in a plane
void carom_read_joints(carom_reader *r);           // after the bodies: contacts, surfaces, apart, joints
void carom_read_granular(carom_reader *r);         // after the bodies: boundaries, drives, recirculation
// Circles of copies in horizontal layers.
bool carom_read_circles(carom_reader *r, const carom_node *node, carom_array *array);
carom_pose carom_circles_pose(const carom_array *array, int n);
void carom_read_run(carom_reader *r);

// ---- control.c, track.c: sensors and controllers, after the joints -------------------------------------

void carom_read_control(carom_reader *r);
void carom_check_control(carom_reader *r);  // once the model is built
bool carom_read_track(carom_reader *r, const carom_node *node, carom_controller_def *def, const char *label);
// gait.c: into the pool; its motion is the loop's.
bool carom_read_gait(carom_reader *r, const carom_node *node, const carom_gait **gait);
// By name; reports unknown ones.
bool carom_find_joint(carom_reader *r, const carom_node *node, int *joint);

// ---- scene_integrator.c: what is read here is what the tables of the integrators say (step/honours.h)

void carom_read_integrator(carom_reader *r);
// Once the model is built: what `auto` stands for, and whether the integrator honours it all.
void carom_check_integrator(carom_reader *r);

// ---- start.c
void carom_read_start(carom_reader *r);
void carom_check_start(carom_reader *r);  // once the model is built

// The entry of a body, or of a solid for CAROM_SOLID(i).
const carom_node *carom_thing_node(const carom_reader *r, int body);

// The item of `joints` that made a joint.
const carom_node *carom_joint_node(const carom_reader *r, int joint);

// False while the builder's body numbers may not match the scene's: check on, but build nothing more.
bool carom_reader_building(const carom_reader *r);
bool carom_find_body(carom_reader *r, const carom_node *node, int *body);  // by name; reports unknown ones
// Knots of a schedule, in the pool; an absent list leaves both as they are.
bool carom_read_schedule(carom_reader *r, const carom_node *list, const carom_knot **knots, int *count);
// Reports the builder's message at `node` when it refused something.
void carom_check_builder(carom_reader *r, const carom_node *node);

#endif
