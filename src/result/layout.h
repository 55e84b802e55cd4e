// The result file: every group, dataset and attribute by name, unit and meaning, in one place. docs/result-format.md
// tells the same to people; tests/python/check_result.py checks it.
#ifndef CAROM_SRC_RESULT_LAYOUT_H
#define CAROM_SRC_RESULT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define CAROM_RESULT_FORMAT "carom-result"
#define CAROM_RESULT_VERSION 1
#define CAROM_RESULT_UNFINISHED "unfinished"  // the ending until carom_recorder_finish; stays when the run is killed
#define CAROM_RESULT_COMPLETE "complete"

enum { CAROM_RESULT_ENDING_SIZE = 1024 };  // bytes: fixed, as nothing can grow once frames are written
enum { CAROM_WALL_COLUMNS = 11 };
enum { CAROM_VERDICT_TEXTS = 4, CAROM_VERDICT_COLUMNS = CAROM_VERDICT_TEXTS + 3 };  // texts, numbers, pass
enum { CAROM_RESULT_VERDICT_TEXT_SIZE = 200 };  // bytes of a verdict's key, label, note or place

// X(name, path, unit, description), and N(name, path, description) for a pure number or a text, of unit "1".
#define CAROM_RESULT_FIELDS(X, N)                                                                                      \
  N(SCENE_SOURCE, "/scene/source", "text of the scene file")                                                           \
  N(SCENE_RESOLVED, "/scene/resolved", "the whole scene as one YAML text, with includes and overrides put in")         \
  N(BODY_NAME, "/bodies/name", "name of each body")                                                                    \
  X(BODY_MASS, "/bodies/mass", "kg", "mass of each body; infinite when fixed")                                         \
  N(BODY_FIXED, "/bodies/fixed", "1 for a body that never moves, else 0")                                              \
  N(BODY_COLOR, "/bodies/color", "colour as 0xRRGGBB")                                                                 \
  X(BODY_CENTER, "/bodies/center", "m", "centre of mass in the body frame")                                            \
  X(BODY_INERTIA, "/bodies/inertia", "kg m2", "inertia about the centre of mass along the axes of the body frame")     \
  N(BODY_PART_START, "/bodies/part_start", "first part of each body, an index into /parts")                            \
  N(BODY_PART_COUNT, "/bodies/part_count", "number of convex parts of each body")                                      \
  N(PART_SHAPE, "/parts/shape", "shape of each part, an index into /shapes")                                           \
  X(PART_POSITION, "/parts/position", "m", "origin of the shape's frame in the body frame")                            \
  N(PART_ORIENTATION, "/parts/orientation", "unit quaternion (w, x, y, z): shape axes to body axes")                   \
  N(SHAPE_KIND, "/shapes/kind", "polytope, sphere, capsule, halfspace, ellipsoid, cylinder or cone")                   \
  X(SHAPE_RADIUS, "/shapes/radius", "m", "radius of a sphere or capsule, or that rounds a polytope, else 0")           \
  X(SHAPE_HALF_LENGTH, "/shapes/half_length", "m", "half the inner segment of a capsule (on its z axis), else 0")      \
  X(SHAPE_HALF_AXES, "/shapes/half_axes", "m", "of an ellipsoid; radius, radius, height/2 of cylinder and cone")       \
  N(SHAPE_VERTEX_START, "/shapes/vertex_start", "shape s has the vertices from [s] up to [s+1]")                       \
  N(SHAPE_FACE_START, "/shapes/face_start", "shape s has the faces from [s] up to [s+1]")                              \
  X(SHAPE_VERTICES, "/shapes/vertices", "m", "corners of the polytopes, each in its shape's frame")                    \
  N(SHAPE_FACE_VERTEX_START, "/shapes/face_vertex_start", "face f has the corners from [f] up to [f+1]")               \
  N(SHAPE_FACE_VERTICES, "/shapes/face_vertices",                                                                      \
    "corners of the faces, counter-clockwise seen from outside, numbered within their shape")                          \
  X(WALL_POINTS, "/walls/points", "m",                                                                                 \
    "rows: wall, body (-1: world), pose (x y z qw qx qy qz), rho, z of its profile")                                   \
  N(JOINT_NAME, "/joints/name", "name of each joint; empty for springs")                                               \
  N(JOINT_KIND, "/joints/kind",                                                                                        \
    "spherical, revolute, prismatic, cylindrical, planar, screw, fixed, distance or spring")                           \
  N(JOINT_BODY, "/joints/body", "the two bodies of each joint, indices into /bodies (-1: the world)")                  \
  X(JOINT_POSITION, "/joints/position", "m", "its points in the frames of the two bodies")                             \
  N(JOINT_ORIENTATION, "/joints/orientation", "unit quaternions: joint axes (z is the joint's axis) to body axes")     \
  N(JOINT_LATCH, "/joints/latch", "1 for a joint that is gained when its bodies collide, else 0")                      \
  N(SOLID_NAME, "/solids/name", "name of each solid that deforms")                                                     \
  N(SOLID_COLOR, "/solids/color", "colour as 0xRRGGBB")                                                                \
  N(SOLID_LAW, "/solids/law", "form of the elastic energy: neo-hooke, stable or ciarlet")                              \
  X(SOLID_DENSITY, "/solids/density", "kg/m3", "density at rest")                                                      \
  X(SOLID_LAMBDA, "/solids/lambda", "Pa", "Lame's first constant")                                                     \
  X(SOLID_MU, "/solids/mu", "Pa", "shear modulus")                                                                     \
  X(SOLID_DAMPING, "/solids/damping", "s", "viscous stress over elastic stress, for rates in place of strains")        \
  X(SOLID_MASS, "/solids/mass", "kg", "mass of each solid")                                                            \
  N(SOLID_NODE_START, "/solids/node_start", "first node of each solid, a row of /solids/rest")                         \
  N(SOLID_NODE_COUNT, "/solids/node_count", "number of nodes of each solid")                                           \
  N(SOLID_TET_START, "/solids/tet_start", "first tetrahedron of each solid, a row of /solids/tets")                    \
  N(SOLID_TET_COUNT, "/solids/tet_count", "number of tetrahedra of each solid")                                        \
  N(SOLID_TRIANGLE_START, "/solids/triangle_start", "first triangle of each solid's surface, a row of /solids/skin")   \
  N(SOLID_TRIANGLE_COUNT, "/solids/triangle_count", "number of triangles of each solid's surface")                     \
  X(SOLID_REST, "/solids/rest", "m", "nodes of all solids in the world, free of stress")                               \
  X(SOLID_NODE_MASS, "/solids/node_mass", "kg", "mass of each node: a quarter of every tetrahedron around it")         \
  N(SOLID_TETS, "/solids/tets", "four nodes of each tetrahedron, rows of /solids/rest")                                \
  N(SOLID_SKIN, "/solids/skin", "three nodes of each triangle of the surfaces, counter-clockwise seen from outside")   \
  X(PLAN_FORCE_TIME, "/plan/forces/time", "s", "times of the nodes; forces are constant from one to the next")         \
  X(PLAN_FORCE_FORCE, "/plan/forces/force", "N", "force of each actuator in each interval")                            \
  X(PLAN_FORCE_TORQUE, "/plan/forces/torque", "N m", "torque of each actuator in each interval, about its point")      \
  N(PLAN_HISTORY_SOLVE, "/plan/history/solve", "number of the solve that each iterate belongs to")                     \
  N(PLAN_HISTORY_ITERATION, "/plan/history/iteration", "iterations since the first guess")                             \
  N(PLAN_HISTORY_COST, "/plan/history/cost", "cost of each iterate")                                                   \
  N(PLAN_HISTORY_INFEASIBILITY, "/plan/history/infeasibility", "largest violation of the scaled constraints")          \
  N(PLAN_FORCE_NAME, "/plan/forces/name", "name of each actuator")                                                     \
  N(PLAN_FORCE_KIND, "/plan/forces/kind", "0 wrench, 1 thruster, 2 torque in a joint")                                 \
  X(PLAN_FORCE_POINT, "/plan/forces/point", "m", "where the force acts, in the frame of the body that is pushed")      \
  N(PLAN_FORCE_BODY, "/plan/forces/body", "the body that is pushed, and the one that the opposite acts on (-1: none)") \
  N(PLAN_FORCE_AXES, "/plan/forces/axes", "the body along whose axes force and torque are told (-1: world axes)")      \
  N(PLAN_PLANE_NODE, "/plan/planes/node", "node of each separating plane")                                             \
  N(PLAN_PLANE_SPAN, "/plan/planes/span", "1: it parts the bodies up to the next node as well; 0: at its node only")   \
  N(PLAN_PLANE_BODY, "/plan/planes/body", "the two bodies A and B that it parts, indices into /bodies")                \
  N(PLAN_PLANE_NORMAL, "/plan/planes/normal", "unit normal from B to A")                                               \
  X(PLAN_PLANE_POINT, "/plan/planes/point", "m", "a point of the plane between the two bodies")                        \
  N(PLAN_NODE_EVENT, "/plan/nodes/event", "1 for a node at which a contact was planned, else 0")                       \
  N(PLAN_NODE_ADDED, "/plan/nodes/added", "1 for a node that the solver put between those of the grid, else 0")        \
  N(PLAN_NODE_WATCHED, "/plan/nodes/watched", "1 where a pair of parts is kept apart in the interval, else 0")         \
  X(PLAN_NODE_REACTION, "/plan/nodes/reaction", "N s",                                                                 \
    "impulses that hold the joints, on their second bodies; revolute ones have two more, N m s")                       \
  X(PLAN_SOLVER_MARGIN, "/plan/solver/margin", "m", "what was added to the problem's margin")                          \
  N(PLAN_SOLVER_MAKE, "/plan/solver/make", "number that programs of the same make have in common")                     \
  N(PLAN_SOLVER_VARIABLE, "/plan/solver/variable", "variables, multipliers of their lower and upper bounds")           \
  N(PLAN_SOLVER_MULTIPLIER, "/plan/solver/multiplier", "multipliers of the constraints")                               \
  N(PLAN_JOINT_NAME, "/plan/joints/name", "name of each joint of the plan")                                            \
  X(PLAN_JOINT_FORCE, "/plan/joints/force", "N",                                                                       \
    "force on its second body at each node, world axes; 0 where it lets go")                                           \
  N(PLAN_TABLE_LABEL, "/plan/table/label", "figures of the first guess and of the optimum")                            \
  N(PLAN_TABLE_UNIT, "/plan/table/unit", "unit of each figure")                                                        \
  N(PLAN_TABLE_GUESS, "/plan/table/guess", "of the first guess, in its unit; not a number when it is not known")       \
  N(PLAN_TABLE_OPTIMUM, "/plan/table/optimum", "of the optimum")                                                       \
  X(TIME, "/trajectory/time", "s", "time of each frame")                                                               \
  X(POSITION, "/trajectory/position", "m", "origin of each body frame in the world, per frame")                        \
  N(ORIENTATION, "/trajectory/orientation", "unit quaternion (w, x, y, z): body axes to world axes, per frame")        \
  X(VELOCITY, "/trajectory/velocity", "m/s", "velocity of each centre of mass in the world, per frame")                \
  X(ANGULAR_VELOCITY, "/trajectory/angular_velocity", "rad/s", "angular velocity along world axes, per frame")         \
  X(CONTACT_MOMENT, "/trajectory/contact_moment", "N m",                                                               \
    "runs by cone: sum of contact force (x) (centre - point) of each body, rows first, per frame")                     \
  X(NODE_POSITION, "/trajectory/node_position", "m", "nodes of solids in the world, per frame")                        \
  X(NODE_VELOCITY, "/trajectory/node_velocity", "m/s", "velocity of each node of solids, per frame")                   \
  X(VON_MISES, "/trajectory/von_mises", "Pa",                                                                          \
    "von Mises' equivalent of Cauchy's stress in each tetrahedron, that of damping included, per frame")               \
  X(ELASTIC_ENERGY, "/trajectory/elastic_energy", "J", "elastic energy of each solid, per frame")                      \
  N(LEAST_J, "/trajectory/least_J",                                                                                    \
    "least volume of a tetrahedron over that at rest, of each solid, per frame; 0 or less: inside out")                \
  N(CHANNEL_NAME, "/channels/name", "name of each channel: what it is of, a dot, and what of it")                      \
  N(CHANNEL_UNIT, "/channels/unit", "unit of each channel; empty for pure numbers")                                    \
  X(CHANNEL_VALUE, "/channels/value", "see /channels/unit",                                                            \
    "a column for each channel, per frame; NaN where not told")                                                        \
  X(EVENT_TIME, "/events/time", "s", "time of each contact event, ascending")                                          \
  N(EVENT_KIND, "/events/kind", "0 impact, 1 lasting contact (told at frames only), 2 stick, 3 end of bouncing")       \
  N(EVENT_BODY, "/events/body", "the two bodies A and B of each event, indices into /bodies")                          \
  X(EVENT_POINT, "/events/point", "m", "contact point in the world")                                                   \
  N(EVENT_NORMAL, "/events/normal", "unit normal from B to A")                                                         \
  X(EVENT_IMPULSE, "/events/impulse", "N s", "impulse on A")                                                           \
  N(EVENT_MODE, "/events/mode",                                                                                        \
    "of lasting contacts that tell it: 1 sticks, 2 A slips forwards along the tangent, 3 backwards; else 0")           \
  N(CHECKPOINT_META, "/checkpoint/meta", "of each place: number (0: empty), bytes, FNV-1a hash")                       \
  N(CHECKPOINT_0, "/checkpoint/place_0", "state and memory of the run, as bytes of the machine that ran it")           \
  N(CHECKPOINT_1, "/checkpoint/place_1", "the same, one checkpoint earlier or later")                                  \
  N(RUN_ENDING, "/run/ending", "complete, interrupted, failed: ..., or unfinished when the run was killed")            \
  N(VERDICT_KEY, "/run/verdict/key", "identifier of each check")                                                       \
  N(VERDICT_LABEL, "/run/verdict/label", "name of each check")                                                         \
  N(VERDICT_NOTE, "/run/verdict/note", "what the value is relative to")                                                \
  N(VERDICT_WHERE, "/run/verdict/where", "bodies and time of the worst, and a bound that the scene widened")           \
  N(VERDICT_VALUE, "/run/verdict/value", "largest value seen")                                                         \
  N(VERDICT_BOUND, "/run/verdict/bound", "bound that the value was held against")                                      \
  N(VERDICT_PASS, "/run/verdict/pass", "1 when the value is within the bound, else 0")

#define CAROM_RESULT_AUDIT_GROUP "/audit"  // one dataset a column, named by its key: carom_audit_columns

typedef enum carom_result_field_id {
#define CAROM_RESULT_ENUM(name, ...) CAROM_FIELD_##name,
  CAROM_RESULT_FIELDS(CAROM_RESULT_ENUM, CAROM_RESULT_ENUM)
#undef CAROM_RESULT_ENUM
      CAROM_FIELD_COUNT
} carom_result_field_id;

typedef struct carom_result_field {
  const char *path, *unit, *description;
} carom_result_field;

extern const carom_result_field carom_result_fields[CAROM_FIELD_COUNT];

// The file's names of the shape kinds, by carom_shape_kind.
enum { CAROM_SHAPE_KIND_COUNT = 7, CAROM_SHAPE_KIND_NAME_SIZE = 12 };
extern const char *const carom_shape_kind_names[CAROM_SHAPE_KIND_COUNT];

// ---- the series: datasets with a row per frame, in the order in which a burst writes them --------------------------
// Time comes last: its length is what makes frames visible, so that a half-written burst is not.

enum {
  CAROM_SERIES_POSITION,
  CAROM_SERIES_ORIENTATION,
  CAROM_SERIES_VELOCITY,
  CAROM_SERIES_ANGULAR_VELOCITY,
  CAROM_SERIES_CONTACT_MOMENT,  // only in runs by an integrator that tells it
  CAROM_SERIES_NODE_POSITION,   // these five only where there are solids
  CAROM_SERIES_NODE_VELOCITY,
  CAROM_SERIES_VON_MISES,
  CAROM_SERIES_ELASTIC_ENERGY,
  CAROM_SERIES_LEAST_J,
  CAROM_SERIES_CHANNELS,  // only in runs that have some
  CAROM_SERIES_AUDIT,     // and the other columns after it
};

// What a row of a series has an entry for.
typedef enum carom_series_of {
  CAROM_OF_BODIES,
  CAROM_OF_CHANNELS,
  CAROM_OF_NODES,
  CAROM_OF_TETS,
  CAROM_OF_SOLIDS,
  CAROM_OF_KINDS
} carom_series_of;

typedef struct carom_series_counts {
  int of[CAROM_OF_KINDS];
} carom_series_counts;

typedef struct carom_series_info {
  char path[64];
  const char *unit, *description;
  int rank;       // 1: a number for each frame; 2: one for each of some things; 3: several for each
  size_t n1, n2;  // sizes of a row, 1 where the rank is less
  bool single;    // of 32 bits in the file
} carom_series_info;

int carom_series_count(void);
carom_series_info carom_series_describe(int series, const carom_series_counts *counts);
// What a series before those of the audit is of: where there are none of them it is not kept.
carom_series_of carom_series_kind(int series);

#endif
