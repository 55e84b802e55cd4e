/// carom/model.h: what is simulated. A builder collects bodies, materials and force fields; it
/// makes a constant model and the state to start from. The model is never written after it is
/// made, so several states and threads may share it.
///
/// Inside, a body's frame is its principal frame of inertia at the centre of mass. The frame that
/// the user gave is kept in carom_body.frame; functions with `pose` in their name speak of that one.
#ifndef CAROM_MODEL_H
#define CAROM_MODEL_H

#include "carom/base.h"
#include "carom/elastic.h"
#include "carom/geometry.h"
#include "carom/tets.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_WORLD (-1)           ///< stands for "no body" where a body index is asked for
#define CAROM_SOLID(i) (-2 - (i))  ///< stands for solid i where an event names a body; its own inverse

// ---- definitions: plain structs, filled by a default function -----------------------------------

/// What a body is made of.
typedef struct carom_material_def {
  const char *name;    ///< unique; null means "material" and its number
  double density;      ///< kg/m3; default 1000
  double restitution;  ///< e in [0, 1]; default 0.5
  double friction;     ///< Coulomb mu >= 0; default 0.5
  uint32_t color;      ///< 0xRRGGBB; default CAROM_COLOR_AUTO
} carom_material_def;

#define CAROM_COLOR_AUTO 0xFF000000u  ///< take the material's colour, or one from a palette

/// One convex piece of a body.
typedef struct carom_part {
  const carom_shape *shape;  ///< the builder takes a reference of its own
  carom_pose pose;           ///< of the shape's frame in the body frame
  double density;            ///< kg/m3; 0 means the body's
} carom_part;

/// A rigid body and how it starts.
typedef struct carom_body_def {
  const char *name;             ///< unique; null means "body" and its number
  const carom_part *parts;      ///< one or more convex parts; none makes a point-like body with given mass
  int part_count;               ///< default 0
  carom_pose pose;              ///< of the body frame in the world
  carom_vec3 velocity;          ///< of the centre of mass, world frame, m/s
  carom_vec3 angular_velocity;  ///< world frame, rad/s
  double density;               ///< kg/m3; 0 means the material's
  double mass;                  ///< kg; 0 means from density; otherwise the density is scaled to meet it
  bool has_inertia;             ///< use `inertia` and `center` instead of what the parts give (needs mass)
  carom_mat3 inertia;           ///< about the centre of mass, along the body frame's axes, kg m2
  carom_vec3 center;            ///< centre of mass in the body frame, m
  int material;                 ///< index, default 0
  uint32_t color;               ///< 0xRRGGBB or CAROM_COLOR_AUTO
  bool fixed;                   ///< never moves; its mass does not matter
} carom_body_def;

/// A linear spring and damper between two points. Energy k/2 (length - rest_length)^2.
typedef struct carom_spring_def {
  int body[2];          ///< either may be CAROM_WORLD, not both
  carom_vec3 point[2];  ///< in the body frame, or in the world; m
  double stiffness;     ///< N/m, >= 0
  double damping;       ///< N s/m along the line, >= 0
  double rest_length;   ///< m; negative means the length at the start
} carom_spring_def;

/// One knot of a schedule: from its time on, the factor runs linearly to that of the next knot.
typedef struct carom_knot {
  double time;    ///< s
  double factor;  ///< what it multiplies is told where the schedule is used
} carom_knot;

/// A force and a torque on a body, constant or scheduled. Counts as external in the audit.
typedef struct carom_force_def {
  int body;                 ///< on which it acts
  carom_vec3 point;         ///< where the force acts, body frame, m
  carom_vec3 force;         ///< N
  carom_vec3 torque;        ///< N m
  bool body_axes;           ///< force and torque turn with the body; default false: world axes
  const carom_knot *knots;  ///< ascending times; constant before the first and after the last
  int knot_count;           ///< 0 means factor 1 always
  double frequency, phase;  ///< Hz and rad: the factor is multiplied by cos(2 pi frequency t + phase); default 0, 0
} carom_force_def;

/// A magnet in a face of a body: two opposite charges, apart by its thickness, the first one behind the face (Johnson
/// 2012, 3.7.1). Far away it is a dipole of the moment charge x thickness along its axis.
typedef struct carom_magnet_def {
  carom_vec3 position;  ///< of the middle of its face, body frame, m
  carom_vec3 axis;      ///< out of the face, body frame; need not be a unit vector; default x
  double charge;        ///< of the pole behind the face, in the set's unit; opposite ones attract. The other is -charge
  double thickness;     ///< m, > 0
  double recess;        ///< of the first pole behind the face, m, >= 0; it bounds the pull of magnets that touch
} carom_magnet_def;

/// Two electromagnets of carom_electromagnet_pair on two bodies of a planar scene. The law gives the load on the first;
/// the second takes the exact opposite of it, so that momenta are kept. It has no potential: its work counts as
/// external.
typedef struct carom_electromagnet_def {
  int body[2];          ///< that carry them; the second may be CAROM_WORLD
  carom_vec3 point[2];  ///< middle of the core, body frame, m
  carom_vec3 axis[2];   ///< of the core towards the other one, body frame; in the plane. Default x and -x
  double strength;      ///< product of the currents over (0.6 A)^2; negative repels; default 1
} carom_electromagnet_def;

CAROM_API carom_material_def carom_material_default(void);  ///< the defaults named above, without a name
CAROM_API carom_body_def carom_body_default(void);          ///< at rest at the world's frame; without parts
CAROM_API carom_spring_def carom_spring_default(void);      ///< without stiffness, at its length; name a body
CAROM_API carom_force_def carom_force_default(void);        ///< none, always; name the body
CAROM_API carom_magnet_def carom_magnet_default(void);      ///< at the origin along x; give charge and thickness
CAROM_API carom_electromagnet_def
carom_electromagnet_default(void);  ///< at the origins, along x and -x; name the bodies

// ---- joints: definitions ------------------------------------------------------------------------
// A joint has a frame on either body whose z is the joint's axis n. Its free coordinates are the slide n.(r1 - r0)
// of the anchor points along the axis (m) and the turn of body 1 against body 0 about it (rad, counted from the start
// pose, over as many turns as it takes).

/// What a joint leaves free.
typedef enum carom_joint_kind {
  CAROM_JOINT_SPHERICAL,    ///< the points stay together
  CAROM_JOINT_REVOLUTE,     ///< and the axes: turn
  CAROM_JOINT_PRISMATIC,    ///< slide
  CAROM_JOINT_CYLINDRICAL,  ///< slide and turn
  CAROM_JOINT_PLANAR,       ///< point 1 stays in the plane through point 0 normal to the axis; turns about the axis
  CAROM_JOINT_SCREW,        ///< turn, with slide = start + pitch x turns
  CAROM_JOINT_FIXED,        ///< nothing is free
  CAROM_JOINT_DISTANCE,     ///< a massless rigid link between the points; no axis
} carom_joint_kind;

/// What drives a free coordinate of a joint.
typedef enum carom_motor_kind {
  CAROM_MOTOR_NONE,      ///< nothing
  CAROM_MOTOR_FORCE,     ///< a force (slide, N) or torque (turn, N m) on body 1 along the axis, its opposite on body 0
  CAROM_MOTOR_RATE,      ///< the coordinate's rate is prescribed, m/s or rad/s
  CAROM_MOTOR_POSITION,  ///< the coordinate is prescribed, m or rad
} carom_motor_kind;

/// What acts along one free coordinate of a joint.
typedef struct carom_coordinate_def {
  double stiffness;         ///< N/m or N m/rad, >= 0; energy k/2 (coordinate - rest)^2
  double rest;              ///< m or rad
  double damping;           ///< N s/m or N m s/rad, >= 0
  double lower, upper;      ///< limits, m or rad; default -INFINITY, INFINITY. Not all integrators see them
  double restitution;       ///< e of the limits, in [0, 1]; default 0
  carom_motor_kind motor;   ///< default none
  double motor_value;       ///< force, rate or position; times the schedule's factor
  const carom_knot *knots;  ///< (knot_count) schedule of the motor; ascending times
  int knot_count;           ///< 0 means factor 1 always
} carom_coordinate_def;

/// Where the bodies of a latch must be for it to close: seated, as a cone in its cup.
typedef struct carom_seat {
  carom_pose pose;  ///< of the frame of body 1 as seen from that of body 0
  double position;  ///< how far the origin of body 1 may be from there, m; 0 (default) means that any pose will do
  double angle;     ///< how far it may be turned from there, rad; default INFINITY
  double speed;     ///< of that origin against body 0, m/s; default INFINITY
} carom_seat;

/// Two bodies joined.
typedef struct carom_joint_def {
  const char *name;       ///< unique; null means "joint" and its number
  carom_joint_kind kind;  ///< default spherical
  int body[2];            ///< the first may be CAROM_WORLD
  carom_vec3 point[2];    ///< anchors in the body frames (or in the world), m
  carom_vec3 axis[2];     ///< likewise; axis[1] = 0 means the same direction as axis[0] at the start. Default z and 0
  bool at_start;          ///< point[0] and axis[0] are in world axes, at the start, and hold for both bodies
  double pitch;           ///< screw: advance in m per turn
  double length;          ///< distance: m; negative (default) means the one at the start
  carom_coordinate_def slide, turn;  ///< only of the kinds that have them (screw: turn)
  bool collide;                      ///< the two bodies may touch each other; default false
  bool latch;                        ///< gained when the bodies collide: spherical, revolute (anchored at the contact)
                                     ///< and fixed (holds the pose at that moment)
  carom_seat seat;                   ///< fixed latches: they close in this pose only; default anywhere
  bool engaged;                      ///< a latch that holds at the start already
  int releases;                      ///< index of a joint that is dropped when this latch is gained; default -1
} carom_joint_def;

CAROM_API carom_coordinate_def carom_coordinate_default(void);  ///< free: no spring, damper, limits or motor
CAROM_API carom_joint_def carom_joint_default(void);            ///< spherical, free; name the bodies

// ---- driven bodies, boundaries, recirculation: definitions ---------------------------------------------
// For flows of grains: drums, plates, pistons and hoppers, and grains that leave and come back.

/// The motion of a fixed body as a function of time. With S(t) the integral of the schedule's factor from 0 to t, it is
/// moved by S velocity + factor amplitude (sin(2 pi frequency t + phase) - sin(phase)), and turned by
/// S angular_velocity about the axis through `point`, which moves along.
typedef struct carom_drive_def {
  int body;                 ///< a fixed body; at most one drive each
  carom_vec3 velocity;      ///< m/s
  carom_vec3 axis;          ///< world axes, need not be a unit vector; default z
  carom_vec3 point;         ///< world, at the start, m
  double angular_velocity;  ///< rad/s
  carom_vec3 amplitude;     ///< m
  double frequency;         ///< Hz
  double phase;             ///< rad
  const carom_knot *knots;  ///< ascending times; constant before the first and after the last
  int knot_count;           ///< 0 means factor 1 always
} carom_drive_def;

/// How a boundary is given.
typedef enum carom_boundary_kind {
  CAROM_BOUNDARY_PLANE,       ///< the solid half-space z <= 0 of its frame
  CAROM_BOUNDARY_REVOLUTION,  ///< a thin sheet: a polyline (rho, z) turned about the z axis of its frame
} carom_boundary_kind;

/// A wall that need not be convex, for integrators that say so (`cone`): inside of a cylinder, a funnel, an hourglass.
/// Touched by spheres and by the corners of polytopes.
typedef struct carom_boundary_def {
  const char *name;            ///< for messages; null means "boundary" and its number
  carom_boundary_kind kind;    ///< default a plane
  int body;                    ///< a fixed body that carries it, or CAROM_WORLD (default)
  carom_pose pose;             ///< of its frame, in the body frame or in the world
  int material;                ///< index, default 0
  const double (*profile)[2];  ///< (profile_count) rho >= 0 and z, m
  int profile_count;           ///< at least 2 for a revolution
} carom_boundary_def;

/// A grain whose centre enters the outlet box is put back at a random place of the inlet box, if there is room.
typedef struct carom_recirculation_def {
  carom_vec3 outlet_low, outlet_high;  ///< world, m; infinite sides are fine
  carom_vec3 inlet_low, inlet_high;    ///< where centres are put, world, m
  carom_vec3 velocity;                 ///< with which they start again, m/s; default 0
  uint64_t seed;                       ///< of the places; default 1
} carom_recirculation_def;

// ---- inputs: definitions -----------------------------------------------------------------------------------------

/// What an input drives.
typedef enum carom_input_kind {
  CAROM_INPUT_WRENCH,  ///< six numbers: a force at a point of a body, N, then a torque, N m
  CAROM_INPUT_TURN,    ///< one: a torque on body 1 of a joint about its axis, N m, and its opposite on body 0
  CAROM_INPUT_SLIDE,   ///< one: a force along the axis, N, likewise
} carom_input_kind;

/// Forces that are told from outside, step by step: carom_state.inputs holds them, and whoever steps the state sets
/// them between steps (carom/loop.h does). They count as external in the audit.
typedef struct carom_input_def {
  const char *name;       ///< unique; null means "input" and its number
  carom_input_kind kind;  ///< default a wrench
  int body;               ///< wrench: on which it acts
  carom_vec3 point;       ///< wrench: where the force acts, body frame, m
  bool at_center;         ///< wrench: the force acts at the centre of mass, whatever `point` says; default true
  bool body_axes;         ///< wrench: its numbers are along the axes of the body frame; default false: world axes
  int joint;              ///< turn, slide: of which joint; the coordinate must be free and have no other input
} carom_input_def;

CAROM_API carom_input_def carom_input_default(void);                  ///< a wrench at the centre of mass of body 0
CAROM_API carom_drive_def carom_drive_default(void);                  ///< at rest; name the body
CAROM_API carom_boundary_def carom_boundary_default(void);            ///< the world's half-space z <= 0
CAROM_API carom_recirculation_def carom_recirculation_default(void);  ///< without boxes: give both

// ---- supports: definitions -----------------------------------------------------------------------------------------
// What a body lies on, where that is so lossy that inertia does not matter (Gavrea 2008, 2.4): an oiled plate under a
// small part, say. A body with a support has no inertia, whatever its mass; the mass only tells its velocity from its
// momentum. Nor does it bounce. Models with supports are for integrators that say so (`quasistatic`).

/// What resists the motion of a body.
typedef enum carom_support_kind {
  CAROM_SUPPORT_NONE,     ///< nothing does: the body has inertia
  CAROM_SUPPORT_VISCOUS,  ///< a force -E V: oil
  CAROM_SUPPORT_DRY,      ///< a force -L V / sqrt(V'L V), on the ellipsoid f'L^-1 f = 1: Coulomb's friction over a face
} carom_support_kind;

/// A spot on which a body rests.
typedef struct carom_support_point {
  carom_vec3 position;  ///< body frame, m
  double damping;       ///< N s/m, >= 0
} carom_support_point;

/// The support of a body. Say one of: damping, matrix, points (viscous); force and torque, or matrix (dry). Twists are
/// the velocity of the centre of mass, m/s, and the angular velocity, rad/s.
typedef struct carom_support_def {
  int body;                 ///< one that is not fixed; at most one support each
  carom_support_kind kind;  ///< default viscous
  double damping;           ///< N s/m, of every velocity; turning takes it times the radius of gyration squared
  const double *matrix;     ///< (size x size) symmetric: E, or L; along the axes of the body frame
  int size;                 ///< of the matrix: 3 (vx, vy, wz) in planar scenes, else 6
  const carom_support_point *points;  ///< (point_count) E = sum of c A'A with A V the velocity of the spot
  int point_count;                    ///< how many
  double force, torque;               ///< the greatest that the support takes, N, N m: L = diag(force^2, .., torque^2)
} carom_support_def;

CAROM_API carom_support_def carom_support_default(void);  ///< viscous, without damping; name the body

// ---- solids that deform: definitions -------------------------------------------------------------------------------
// Beside rigid bodies a model may have solids cut into tetrahedra (carom/tets.h) of hyperelastic material
// (carom/elastic.h). Their unknowns are the positions of nodes, whose masses are lumped. Planar scenes have none.

/// A solid that deforms, and how it starts: free of stress.
typedef struct carom_solid_def {
  const char *name;              ///< unique among bodies and solids; null means "solid" and its number
  const carom_tets *mesh;        ///< at rest, in the solid's own frame; copied
  carom_pose pose;               ///< of that frame in the world
  carom_vec3 velocity;           ///< of all nodes, m/s
  carom_vec3 angular_velocity;   ///< about the centre of mass, world axes, rad/s
  const carom_vec3 *velocities;  ///< (mesh->node_count) world axes, m/s, added to those; null: none
  carom_elastic_law law;         ///< default neo-hooke
  double lambda, mu;             ///< Lame's constants, Pa; carom_elastic_material_of gives them; mu > 0
  double damping;                ///< s, see carom_elastic_material; default 0
  double density;                ///< kg/m3; 0 (default) means the material's
  int material;                  ///< of its surface, index; default 0
  uint32_t color;                ///< 0xRRGGBB or CAROM_COLOR_AUTO
  bool self_contact;             ///< its surface may touch itself; default false
} carom_solid_def;

/// Pressure on triangles of a solid's surface. It follows them as they turn and grow.
typedef struct carom_pressure_def {
  int solid;                  ///< on which it acts
  int triangle_count;         ///< at least 1
  const int (*triangles)[3];  ///< (triangle_count) nodes of its mesh, counter-clockwise from outside
  double pressure;            ///< Pa; > 0 pushes inwards
  const carom_knot *knots;    ///< ascending times; constant before the first and after the last
  int knot_count;             ///< 0 means factor 1 always
} carom_pressure_def;

CAROM_API carom_solid_def carom_solid_default(void);        ///< at rest at the world's frame; give mesh, lambda and mu
CAROM_API carom_pressure_def carom_pressure_default(void);  ///< none, on nothing, of solid 0

// ---- the builder --------------------------------------------------------------------------------
// Adders return the index of what they added. On a mistake they return -1 and the builder keeps the
// FIRST message; carom_builder_finish then fails with it. So calls need not be checked one by one. What they are given
// is copied. They may allocate.

typedef struct carom_model carom_model;      ///< what is simulated; below
typedef struct carom_state carom_state;      ///< how it moves; below
typedef struct carom_builder carom_builder;  ///< a model in the making

/// Begins a model without anything in it; its allocator becomes that of the model and the state.
CAROM_API carom_status carom_builder_create(const carom_allocator *allocator, carom_builder **builder,
                                            carom_error *error);
CAROM_API void carom_builder_destroy(carom_builder *builder);  ///< null is fine
/// Adds a material. Without any, the first body or boundary adds the default one.
CAROM_API int carom_builder_add_material(carom_builder *builder, const carom_material_def *def);
/// Adds a body: mass and inertia follow from parts and densities, or as the definition says.
CAROM_API int carom_builder_add_body(carom_builder *builder, const carom_body_def *def);
/// Uniform acceleration, world axes, m/s2. Default none.
CAROM_API void carom_builder_set_gravity(carom_builder *builder, carom_vec3 acceleration);
/// A set of point charges: every two of them on different bodies have the energy
/// constant c1 c2 / sqrt(d^2 + softening^2)  (Johnson 2012, eq. 3.51, with softening 0). The constant is in J m over
/// the unit of charge squared, which is the caller's choice; the softening in m, >= 0.
CAROM_API int carom_builder_add_charge_set(carom_builder *builder, double constant, double softening);
/// A charge of a set at a point in the body frame (or in the world for CAROM_WORLD), m.
CAROM_API int carom_builder_add_charge(carom_builder *builder, int set, int body, carom_vec3 point, double charge);
/// A magnet of a body (not of the world): adds two charges to a set; returns the index of the first.
CAROM_API int carom_builder_add_magnet(carom_builder *builder, int set, int body, const carom_magnet_def *def);
/// Adds a pair of electromagnets, for planar scenes only.
CAROM_API int carom_builder_add_electromagnets(carom_builder *builder, const carom_electromagnet_def *def);
/// Adds a spring and damper.
CAROM_API int carom_builder_add_spring(carom_builder *builder, const carom_spring_def *def);
/// Adds a force and torque on a body.
CAROM_API int carom_builder_add_force(carom_builder *builder, const carom_force_def *def);
/// A planar scene: bodies move and turn in the plane z = 0 alone. Their parts should be prisms or cylinders along z of
/// one height, or spheres, centred on that plane. The start velocities must lie in it. Default false.
CAROM_API void carom_builder_set_planar(carom_builder *builder, bool planar);
/// No bodies of the model ever touch: they pass through each other, whatever the integrator. Refused with boundaries,
/// which are there to be touched. Default false.
CAROM_API void carom_builder_ignore_contacts(carom_builder *builder, bool ignore);
/// These two bodies never touch (neighbours at a joint, say).
CAROM_API void carom_builder_set_apart(carom_builder *builder, int body_a, int body_b);
/// Restitution and friction between two materials, instead of the geometric means of theirs.
CAROM_API void carom_builder_set_surface(carom_builder *builder, int material_a, int material_b, double restitution,
                                         double friction);
/// Adds a joint. Anchors must meet at the start (to 1e-6 of the bodies' distance and size; within that, body 1's is
/// moved to meet body 0's), or the builder refuses. Velocities that the joints forbid are projected by
/// carom_builder_finish: the momenta change by joint impulses alone, the least change in the norm of kinetic energy.
CAROM_API int carom_builder_add_joint(carom_builder *builder, const carom_joint_def *def);
/// Tells how a fixed body moves.
CAROM_API int carom_builder_add_drive(carom_builder *builder, const carom_drive_def *def);
/// Adds an input; returns its index in carom_model.inputs.
CAROM_API int carom_builder_add_input(carom_builder *builder, const carom_input_def *def);
/// Adds a support; returns how many there were. Matrices must be positive definite: in planar scenes (say so first) the
/// block of vx, vy and wz. The message of one that is not names its least eigenvalue, lengths over the radius of
/// gyration.
CAROM_API int carom_builder_add_support(carom_builder *builder, const carom_support_def *def);
/// Adds a wall.
CAROM_API int carom_builder_add_boundary(carom_builder *builder, const carom_boundary_def *def);
/// Adds a solid.
CAROM_API int carom_builder_add_solid(carom_builder *builder, const carom_solid_def *def);
/// Holds nodes of a solid (numbers of its mesh): where they are at the start, as seen from a fixed or driven body, or
/// from the world (CAROM_WORLD). They move as that does. Nodes that are pinned twice are refused.
CAROM_API void carom_builder_pin(carom_builder *builder, int solid, int body, int node_count, const int *nodes);
/// Adds pressure on a solid; returns its index in carom_model.pressures.
CAROM_API int carom_builder_add_pressure(carom_builder *builder, const carom_pressure_def *def);
/// Adds an outlet and its inlet, which must not overlap.
CAROM_API int carom_builder_add_recirculation(carom_builder *builder, const carom_recirculation_def *def);
/// CAROM_OK while nothing went wrong; otherwise the status and message of the first mistake.
CAROM_API carom_status carom_builder_status(const carom_builder *builder, carom_error *error);
/// Makes the model and its start state; both are the caller's. The builder may be destroyed then, and makes no second
/// one. Fails with the first mistake.
CAROM_API carom_status carom_builder_finish(carom_builder *builder, carom_model **model, carom_state **state,
                                            carom_error *error);

// ---- the model: read it, never write it -----------------------------------------------------------

/// A material as built.
typedef struct carom_material {
  const char *name;    ///< never null
  double density;      ///< kg/m3
  double restitution;  ///< e in [0, 1]
  double friction;     ///< Coulomb's mu >= 0
  uint32_t color;      ///< 0xRRGGBB or CAROM_COLOR_AUTO
} carom_material;

/// A body as built.
typedef struct carom_body {
  const char *name;            ///< never null
  bool fixed;                  ///< never moves, or moves as a drive says
  double mass;                 ///< kg; infinite when fixed
  double inverse_mass;         ///< 1/kg; 0 when fixed
  carom_vec3 inertia;          ///< principal moments, kg m2; infinite when fixed
  carom_vec3 inverse_inertia;  ///< 1/(kg m2); 0 when fixed
  carom_pose frame;            ///< the user's body frame as seen from the principal frame
  int part_start, part_count;  ///< into carom_model.parts
  int material;                ///< into carom_model.materials
  uint32_t color;              ///< 0xRRGGBB
  double bounding_radius;      ///< about the centre of mass, m
  carom_quat upright;          ///< planar scenes: the orientation at the start, about which it turns along z
} carom_body;

// Points below are in principal frames (or in the world for CAROM_WORLD), m.

/// A point charge.
typedef struct carom_charge {
  int set;           ///< into carom_model.charge_sets
  int body;          ///< that carries it, or CAROM_WORLD
  carom_vec3 point;  ///< where
  double charge;     ///< in the set's unit
} carom_charge;

/// Charges that act on each other; see carom_builder_add_charge_set.
typedef struct carom_charge_set {
  double constant;                 ///< J m over the unit of charge squared
  double softening;                ///< m
  int charge_start, charge_count;  ///< into carom_model.charges
} carom_charge_set;

/// A spring as built.
typedef struct carom_spring {
  int body[2];          ///< or CAROM_WORLD
  carom_vec3 point[2];  ///< its ends
  double stiffness;     ///< N/m
  double damping;       ///< N s/m
  double rest_length;   ///< m, >= 0
} carom_spring;

/// A force as built.
typedef struct carom_force {
  int body;                         ///< on which it acts
  carom_vec3 point, force, torque;  ///< m, N, N m; force and torque in principal axes when body_axes, else world
  bool body_axes;                   ///< force and torque turn with the body
  int knot_start, knot_count;       ///< into carom_model.knots
  double frequency, phase;          ///< Hz, rad
} carom_force;

/// A pair of electromagnets as built.
typedef struct carom_electromagnet {
  int body[2];          ///< or CAROM_WORLD (the second)
  carom_vec3 point[2];  ///< middles of the cores
  carom_vec3 axis[2];   ///< unit, towards the other one
  double strength;      ///< factor on the law
} carom_electromagnet;

// ---- joints: the model

/// A free coordinate of a joint as built; units as in carom_coordinate_def.
typedef struct carom_coordinate {
  double stiffness, rest, damping;  ///< of its spring and damper
  double lower, upper;              ///< limits; infinite for none
  double restitution;               ///< e of the limits
  carom_motor_kind motor;           ///< what drives it
  double motor_value;               ///< force, rate or position; times the schedule's factor
  double start;                     ///< the coordinate at the start: what a prescribed rate adds to
  int input;                        ///< into carom_state.inputs; -1 for none
  int knot_start, knot_count;       ///< into carom_model.knots
} carom_coordinate;

/// A joint as built.
typedef struct carom_joint {
  const char *name;              ///< never null
  carom_joint_kind kind;         ///< what it leaves free
  int body[2];                   ///< the first may be CAROM_WORLD
  carom_pose frame[2];           ///< the joint's frame in the principal frames (or in the world); z is the axis
  double pitch;                  ///< screw: m per rad
  double length;                 ///< distance: m
  carom_coordinate slide, turn;  ///< what acts along them
  bool collide;                  ///< the two bodies may touch each other
  bool latch;                    ///< gained when the bodies collide
  carom_seat seat;               ///< where, if its `position` is not 0
  bool engaged;                  ///< a latch that holds at the start
  int releases;                  ///< a joint, or -1
} carom_joint;

// ---- inputs: the model

/// An input as built; see carom_input_def.
typedef struct carom_input {
  const char *name;       ///< never null
  carom_input_kind kind;  ///< what it drives
  int body;               ///< wrench: on which it acts
  carom_vec3 point;       ///< wrench: principal frame, m
  bool body_axes;         ///< wrench: along the axes of the user's body frame
  int joint;              ///< turn, slide: of which joint
  int first, count;       ///< its numbers in carom_state.inputs
} carom_input;

// ---- driven bodies, boundaries, recirculation: the model

/// A drive as built; see carom_drive_def.
typedef struct carom_drive {
  int body;                    ///< a fixed one
  carom_pose start;            ///< of the body at t = 0
  carom_vec3 velocity;         ///< m/s
  carom_vec3 axis;             ///< unit, world
  carom_vec3 point;            ///< world, at the start, m
  carom_vec3 amplitude;        ///< m
  double angular_velocity;     ///< rad/s
  double frequency, phase;     ///< Hz, rad
  int knot_start, knot_count;  ///< into carom_model.knots
} carom_drive;

// ---- supports: the model

/// What a body lies on, as built.
typedef struct carom_support {
  carom_support_kind kind;  ///< none, where the body has inertia
  double matrix[6][6];      ///< E, N s/m, or L, N^2; on (v of the centre of mass, w) along principal axes, lengths in m
} carom_support;

/// A boundary as built.
typedef struct carom_boundary {
  const char *name;                  ///< never null
  carom_boundary_kind kind;          ///< a plane or a surface of revolution
  int body;                          ///< that carries it, or CAROM_WORLD
  carom_pose pose;                   ///< of its frame, in the body frame or in the world
  int material;                      ///< into carom_model.materials
  int profile_start, profile_count;  ///< into carom_model.profiles
} carom_boundary;

/// A point of a profile: distance from the axis, and height along it; m.
typedef struct carom_profile_point {
  double rho, z;
} carom_profile_point;

// ---- solids that deform: the model. Nodes of all solids are counted together: of solid s those from node_start on.

/// A solid as built.
typedef struct carom_solid {
  const char *name;               ///< never null
  int node_start, node_count;     ///< into carom_model.rest and carom_state.nodes
  int tet_start, tet_count;       ///< into carom_model.tets
  int pin_start, pin_count;       ///< into carom_model.pins
  int material;                   ///< into carom_model.materials
  uint32_t color;                 ///< 0xRRGGBB
  carom_elastic_law law;          ///< form of the energy
  carom_elastic_material matter;  ///< density and constants
  bool self_contact;              ///< its surface may touch itself
  double mass;                    ///< kg
  double critical_step;           ///< s: explicit steps up to this are stable at rest, without contact
  double frequency;               ///< rad/s, of its fastest vibration at rest
  const carom_tets_skin *skin;    ///< its surface; nodes and tetrahedra are counted from 0 in each solid
  const carom_elastic *elastic;   ///< at rest as in carom_model.rest; ask only what takes it as const
} carom_solid;

/// A node that is held.
typedef struct carom_pin {
  int node;          ///< of all solids
  int body;          ///< fixed or driven, or CAROM_WORLD
  carom_vec3 point;  ///< principal frame of that body, or world; m
} carom_pin;

/// Pressure as built.
typedef struct carom_pressure {
  int solid;                           ///< into carom_model.solids
  int triangle_start, triangle_count;  ///< into carom_model.pressed
  double pressure;                     ///< Pa
  int knot_start, knot_count;          ///< into carom_model.knots
} carom_pressure;

/// Two bodies that never touch: their indices.
typedef struct carom_apart {
  int body[2];
} carom_apart;

/// How two materials meet: e in [0, 1] and Coulomb's mu >= 0.
typedef struct carom_contact_surface {
  double restitution, friction;
} carom_contact_surface;

/// What carom_builder_set_surface said.
typedef struct carom_surface_pair {
  int material[2];                ///< into carom_model.materials
  carom_contact_surface surface;  ///< instead of the means
} carom_surface_pair;

/// The model. Arrays have the count of their name.
struct carom_model {
  int body_count, part_count, material_count;                           ///< how many of each
  int charge_set_count, charge_count, spring_count, force_count;        ///< how many of each
  int knot_count, apart_count, surface_count, joint_count;              ///< how many of each
  int drive_count, boundary_count, profile_count, recirculation_count;  ///< how many of each
  int electromagnet_count;                                              ///< pairs of them
  int moving_count;                                                     ///< bodies that are not fixed
  int input_count;                                ///< sources of forces that are told from outside
  int input_size;                                 ///< how many numbers they have together
  int support_count;                              ///< bodies without inertia
  int solid_count, pin_count, pressure_count;     ///< how many of each
  int node_count, tet_count, pressed_count;       ///< of all solids; triangles of all pressures
  int loop_rows;                                  ///< most equations of joints that close loops, whichever joints hold
  bool planar;                                    ///< see carom_builder_set_planar
  bool ignores_contacts;                          ///< see carom_builder_ignore_contacts
  carom_vec3 gravity;                             ///< m/s2
  const carom_body *bodies;                       ///< (body_count)
  const carom_part *parts;                        ///< (part_count) poses in principal frames
  const carom_material *materials;                ///< (material_count)
  const carom_charge_set *charge_sets;            ///< (charge_set_count)
  const carom_charge *charges;                    ///< (charge_count) set by set
  const carom_spring *springs;                    ///< (spring_count)
  const carom_force *forces;                      ///< (force_count)
  const carom_knot *knots;                        ///< (knot_count) of all schedules
  const carom_apart *aparts;                      ///< (apart_count)
  const carom_surface_pair *surfaces;             ///< (surface_count)
  const carom_joint *joints;                      ///< (joint_count)
  const carom_drive *drives;                      ///< (drive_count)
  const carom_input *inputs;                      ///< (input_count)
  const carom_support *supports;                  ///< (body_count); null where support_count is 0
  const carom_boundary *boundaries;               ///< (boundary_count)
  const carom_profile_point *profiles;            ///< (profile_count) of all boundaries
  const carom_recirculation_def *recirculations;  ///< (recirculation_count)
  const carom_electromagnet *electromagnets;      ///< (electromagnet_count)
  const carom_solid *solids;                      ///< (solid_count)
  const carom_vec3 *rest;           ///< (node_count) where nodes are at the start, free of stress; world, m
  const double *node_masses;        ///< (node_count) kg
  const int (*tets)[4];             ///< (tet_count) nodes of all solids
  const carom_pin *pins;            ///< (pin_count) solid by solid, ascending nodes
  const carom_pressure *pressures;  ///< (pressure_count)
  const int (*pressed)[3];          ///< (pressed_count) nodes of all solids
  carom_allocator allocator;        ///< of all this
};

// Asking a model allocates nothing.

CAROM_API void carom_model_destroy(carom_model *model);  ///< null is fine
/// The index of a body by name, or -1.
CAROM_API int carom_model_find_body(const carom_model *model, const char *name);
/// The index of an input by name, or -1.
CAROM_API int carom_model_find_input(const carom_model *model, const char *name);
/// The index of a joint by name, or -1.
CAROM_API int carom_model_find_joint(const carom_model *model, const char *name);
/// Restitution and friction between two bodies (neither may be CAROM_WORLD; CAROM_SOLID(i) will do): what was set for
/// their materials, else sqrt(e1 e2) and sqrt(mu1 mu2).
CAROM_API carom_contact_surface carom_model_surface(const carom_model *model, int body_a, int body_b);

/// The index of a solid by name, or -1.
CAROM_API int carom_model_find_solid(const carom_model *model, const char *name);
/// The solid that a node belongs to (0 to node_count - 1).
CAROM_API int carom_model_solid_of(const carom_model *model, int node);
/// The name of a body or, for CAROM_SOLID(i), of a solid; "the world" for CAROM_WORLD. Never null.
CAROM_API const char *carom_model_name(const carom_model *model, int body);
/// The material of a body or, for CAROM_SOLID(i), of a solid; -1 for CAROM_WORLD.
CAROM_API int carom_model_material(const carom_model *model, int body);
/// Where a pin holds its node at a time, and how it moves there; m, m/s.
CAROM_API void carom_pin_motion(const carom_model *model, int pin, double time, carom_vec3 *x, carom_vec3 *v);
/// A pressure at a time, by its schedule, Pa.
CAROM_API double carom_pressure_at(const carom_model *model, int pressure, double time);

/// Where a driven body is at a time (principal frame, which is the user's for fixed bodies).
CAROM_API carom_pose carom_drive_pose(const carom_model *model, int drive, double time);
/// How a body whose motion is given moves from time to time + h: the constant twist (m/s of its origin, rad/s) that
/// leads from one pose to the other, world axes. Zero for bodies that are not driven, and for CAROM_WORLD.
CAROM_API void carom_model_motion(const carom_model *model, int body, double time, double h, carom_vec3 *velocity,
                                  carom_vec3 *angular_velocity);

// ---- the state ------------------------------------------------------------------------------------

/// What a state knows of a joint: joints are gained and lost, and turns add up.
typedef struct carom_joint_state {
  carom_pose frame[2];  ///< as in carom_joint, or where a latch took hold
  double turn;          ///< rad, over all turns; 0 for kinds that do not turn about an axis
  double slide;         ///< m, where the turn was 0: a screw counts from it
  int64_t active;       ///< 1 or 0
} carom_joint_state;

/// Positions and momenta, and what inputs do. Fixed bodies keep x and q, and have p = l = 0.
struct carom_state {
  double time;                  ///< s
  int64_t step;                 ///< steps taken so far
  int body_count;               ///< of the model
  carom_vec3 *x;                ///< (body_count) centre of mass, m
  carom_quat *q;                ///< (body_count) principal frame
  carom_vec3 *p;                ///< (body_count) linear momentum, kg m/s
  carom_vec3 *l;                ///< (body_count) angular momentum about the centre of mass, world axes, kg m2/s
  int joint_count;              ///< of the model
  carom_joint_state *joints;    ///< (joint_count)
  int input_size;               ///< of the model
  double *inputs;               ///< (input_size) what inputs do from here on, until they are told otherwise; N, N m
  int node_count;               ///< of the model
  carom_vec3 *nodes;            ///< (node_count) of solids, m
  carom_vec3 *node_velocities;  ///< (node_count) m/s
  carom_allocator allocator;    ///< of all this
};

/// A copy of `from` with storage of its own.
CAROM_API carom_status carom_state_clone(const carom_state *from, const carom_allocator *allocator, carom_state **state,
                                         carom_error *error);
CAROM_API void carom_state_copy(carom_state *to, const carom_state *from);  ///< of the same model; never allocates
CAROM_API void carom_state_destroy(carom_state *state);                     ///< null is fine

// None of the following allocates. `body` is an index of the model.

/// Pose of the user's body frame in the world.
CAROM_API carom_pose carom_state_pose(const carom_model *model, const carom_state *state, int body);
/// Velocity of the centre of mass, world axes, m/s. Zero for fixed bodies; of driven ones see carom_model_motion.
CAROM_API carom_vec3 carom_state_velocity(const carom_model *model, const carom_state *state, int body);
/// Angular velocity, world axes, rad/s. Zero for fixed bodies likewise.
CAROM_API carom_vec3 carom_state_angular_velocity(const carom_model *model, const carom_state *state, int body);
/// Places the user's body frame; momenta in world axes stay as they are.
CAROM_API void carom_state_set_pose(const carom_model *model, carom_state *state, int body, carom_pose pose);
/// Sets the momenta from the velocity of the centre of mass (m/s) and the angular velocity (rad/s), world axes; those
/// of fixed bodies stay zero. What joints forbid is not projected out.
CAROM_API void carom_state_set_velocity(const carom_model *model, carom_state *state, int body, carom_vec3 velocity,
                                        carom_vec3 angular_velocity);
/// Whether all numbers of a state are finite and its quaternions can be turned by: else CAROM_ERR_NUMBER, naming body
/// and field. Steppers, audits, plans and recorders ask this of every state that they are given.
CAROM_API carom_status carom_state_check(const carom_model *model, const carom_state *state, carom_error *error);
/// A 64-bit FNV-1a hash over time, positions, momenta, joints, inputs and nodes, bit for bit: equal runs have equal
/// hashes.
CAROM_API uint64_t carom_state_hash(const carom_state *state);

// ---- joints: how they stand and move ----------------------------------------------------------------

/// How body 1 of a joint stands and moves as seen from body 0, whether the joint holds or not. Frames are the joint's
/// own: z is the axis, the origin is its point.
typedef struct carom_joint_motion {
  double turn;  ///< rad. Revolute, cylindrical, screw: from the start pose, over all turns that the state remembers
                ///< (what it last noted, and not more than half a turn from it); planar: in [-pi, pi]; others: 0
  double turn_rate;   ///< rad/s
  double slide;       ///< m along the axis of body 0: prismatic, cylindrical, screw; others: 0
  double slide_rate;  ///< m/s
  carom_pose pose;    ///< of frame 1 in frame 0: rotation of spherical joints, place of planar ones; its length is that
                      ///< of a distance joint
  carom_vec3 velocity;          ///< of point 1 against body 0, axes of frame 0, m/s
  carom_vec3 angular_velocity;  ///< of body 1 against body 0, axes of frame 0, rad/s
} carom_joint_motion;

/// How a joint stands and moves in a state; any kind of joint. Allocates nothing.
CAROM_API carom_joint_motion carom_state_joint(const carom_model *model, const carom_state *state, int joint);

/// Velocity (m/s, rows 0 to 2) and angular velocity (rad/s, rows 3 to 5), world axes, of a point of a body (body frame,
/// m) as a linear map of the body's own twist: velocity of its centre of mass, then angular velocity, world axes.
/// Fills `jacobian`, column-major. It does not depend on the twists of other bodies; for fixed bodies it is zero.
CAROM_API void carom_state_jacobian(const carom_model *model, const carom_state *state, int body, carom_vec3 point,
                                    double jacobian[36]);

// ---- mechanisms: trees of joints in coordinates of their own ------------------------------------------
// All moving bodies at once, in generalised velocities nu: joint by joint (in the order of the model) the velocities
// that it leaves free, of body 1 against body 0 along the axes of frame 0, then body by body those that no joint holds.
//
//     revolute, screw     turn                      spherical   three turns, about the axes of frame 0
//     prismatic           slide                     planar      two slides in the plane, turn
//     cylindrical         slide, turn               distance    two slides across the link, three turns
//     fixed               nothing                   free body   velocity of the centre of mass, angular velocity; world
//
// In planar scenes a free body has two velocities and one turn, spherical and distance joints one turn and one slide.
// Accelerations are the derivatives of these velocities; of distance joints the components of the derivative of the
// vector that they make in frame 0. Forces go with velocities: force . velocity is power. Motors that prescribe a
// coordinate do not count here: the coordinate is free, and the force along it is what the motor has to give.

/// Scratch for the joints of a model.
typedef struct carom_mechanism carom_mechanism;

/// What a joint carries, on body 1; on body 0 it is the opposite.
typedef struct carom_joint_load {
  carom_vec3 force;   ///< world axes, N
  carom_vec3 moment;  ///< about the joint's point on body 1, world axes, N m
} carom_joint_load;

/// Makes room for the mechanism of a model, which must outlive it. Nothing below allocates after this but
/// carom_mechanism_forward, and that only when there are more freedoms than at any call before.
CAROM_API carom_status carom_mechanism_create(const carom_model *model, const carom_allocator *allocator,
                                              carom_mechanism **mechanism, carom_error *error);
CAROM_API void carom_mechanism_destroy(carom_mechanism *mechanism);  ///< null is fine
/// Takes over configuration, velocities, time and the joints that hold from a state; all that follows speaks of it.
/// CAROM_ERR_UNSUPPORTED, with the joint's name, when joints close a loop.
CAROM_API carom_status carom_mechanism_update(carom_mechanism *mechanism, const carom_state *state, carom_error *error);
CAROM_API int carom_mechanism_freedoms(const carom_mechanism *mechanism);  ///< n: how many velocities nu there are
/// Number of a joint's first freedom, and how many it has; -1 and 0 for joints that do not hold.
CAROM_API int carom_mechanism_joint(const carom_mechanism *mechanism, int joint, int *count);
/// The same of a body that hangs on no joint; -1 and 0 for bodies that do, and for fixed ones.
CAROM_API int carom_mechanism_body(const carom_mechanism *mechanism, int body, int *count);
/// Fills `velocities` (n) with nu of the state.
CAROM_API void carom_mechanism_velocities(const carom_mechanism *mechanism, double *velocities);
/// Velocity and angular velocity of a point of a body (body frame, m), world axes, as a linear map of nu: fills
/// `jacobian` (6 x n, column-major). Of a body that does not turn, rows 3 to 5 are zero.
CAROM_API void carom_mechanism_jacobian(const carom_mechanism *mechanism, int body, carom_vec3 point, double *jacobian);
/// Fills `matrix` (n x n, column-major, symmetric) with the generalised mass matrix: kinetic energy = nu' M nu / 2.
/// The mechanism is scratch, as in all that follows: one thread at a time.
CAROM_API void carom_mechanism_mass(carom_mechanism *mechanism, double *matrix);
/// Inverse dynamics: the forces (n) along the freedoms that the accelerations (n; null: zero) take, besides gravity and
/// all force fields of the model (springs, charges, applied forces; along joints: springs, dampers, force motors), but
/// not carom_state.inputs: these are what a controller asks for.
/// `loads` (joint_count; may be null) receives what the joints carry then: reactions and those forces together; zero
/// for joints that do not hold. Contacts are not counted.
CAROM_API void carom_mechanism_inverse(carom_mechanism *mechanism, const double *accelerations, double *forces,
                                       carom_joint_load *loads);
/// Forward dynamics: the accelerations (n) under forces (n; null: none) along the freedoms, gravity and the fields.
/// CAROM_ERR_SINGULAR when a freedom moves no mass. Keeps a matrix of n x n.
CAROM_API carom_status carom_mechanism_forward(carom_mechanism *mechanism, const double *forces, double *accelerations,
                                               carom_error *error);
/// Moves a state from the configuration that the mechanism took over along `displacements` (n): every joint by its
/// own, in its own coordinates, from the roots on, so that the joints hold; turns are noted. Momenta stay as they are.
CAROM_API void carom_mechanism_move(const carom_mechanism *mechanism, const double *displacements, carom_state *state);
/// Sets the momenta of a state at the configuration that the mechanism took over to those of the velocities nu (n).
CAROM_API void carom_mechanism_set_velocities(const carom_mechanism *mechanism, const double *velocities,
                                              carom_state *state);

// ---- a force law --------------------------------------------------------------------------------------

/// What one electromagnet does to another in their common plane.
typedef struct carom_magnet_load {
  double force_x, force_y;  ///< on magnet 1, in its frame, N; x leads to magnet 2
  double torque;            ///< on magnet 1, N m
} carom_magnet_load;

/// The electromagnet prototypes of Johnson 2012, appendix B (cores of 10 cm, 0.6 A), as fitted there: A/r^8 - B/r^4
/// with polynomials A, B of degree 4 in the two angles (rad; table B.1), r in units of 0.1 m. The fit holds for
/// distances of 0.1 to 0.55 m and angles within pi/5, to 10 percent of his computation. False outside: angles and short
/// distances are then taken from the border, and beyond 0.55 m it goes on. Which angles are meant is told by a figure
/// alone, and off the axis the table is not symmetric: see docs/control.md before you rely on more than the force along
/// the line.
CAROM_API bool carom_electromagnet_pair(double distance, double angle_1, double angle_2, carom_magnet_load *load);
/// Where a pair of electromagnets of a model stands for that law: distance of the middles of the cores (m), bearing of
/// the second seen along the axis of the first, and its attitude against facing the first (rad, right-handed about z).
/// True when the fit holds there.
CAROM_API bool carom_electromagnet_range(const carom_model *model, const carom_state *state, int pair, double *distance,
                                         double *bearing, double *attitude);

#ifdef __cplusplus
}
#endif
#endif
