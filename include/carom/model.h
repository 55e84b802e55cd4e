/// carom/model.h: what is simulated. A builder collects bodies, materials and force fields; it
/// makes a constant model and the state to start from. The model is never written after it is
/// made, so several states and threads may share it.
///
/// Inside, a body's frame is its principal frame of inertia at the centre of mass. The frame that
/// the user gave is kept in carom_body.frame; functions with `pose` in their name speak of that one.
#ifndef CAROM_MODEL_H
#define CAROM_MODEL_H

#include "carom/base.h"
#include "carom/geometry.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_WORLD (-1)  ///< stands for "no body" where a body index is asked for

// ---- definitions: plain structs, filled by a default function -----------------------------------

typedef struct carom_material_def {
  const char *name;    ///< must be unique
  double density;      ///< kg/m3; default 1000
  double restitution;  ///< e in [0, 1]; default 0.5
  double friction;     ///< Coulomb mu >= 0; default 0.5
  uint32_t color;      ///< 0xRRGGBB; default CAROM_COLOR_AUTO
} carom_material_def;

#define CAROM_COLOR_AUTO 0xFF000000u  ///< take the material's colour, or one from a palette

/// One convex piece of a body, in the body's frame.
typedef struct carom_part {
  const carom_shape *shape;
  carom_pose pose;
  double density;  ///< kg/m3; 0 means the body's
} carom_part;

typedef struct carom_body_def {
  const char *name;         ///< unique; null means "body" and its number
  const carom_part *parts;  ///< one or more convex parts; none makes a point-like body with given mass
  int part_count;
  carom_pose pose;              ///< of the body frame in the world
  carom_vec3 velocity;          ///< of the centre of mass, world frame, m/s
  carom_vec3 angular_velocity;  ///< world frame, rad/s
  double density;               ///< kg/m3; 0 means the material's
  double mass;                  ///< kg; 0 means from density; otherwise the density is scaled to meet it
  bool has_inertia;             ///< use `inertia` and `center` instead of what the parts give (needs mass)
  carom_mat3 inertia;           ///< about the centre of mass, along the body frame's axes
  carom_vec3 center;            ///< centre of mass in the body frame
  int material;                 ///< index, default 0
  uint32_t color;               ///< 0xRRGGBB or CAROM_COLOR_AUTO
  bool fixed;                   ///< never moves; its mass does not matter
} carom_body_def;

/// A linear spring and damper between two points. Energy k/2 (length - rest_length)^2.
typedef struct carom_spring_def {
  int body[2];          ///< either may be CAROM_WORLD, not both
  carom_vec3 point[2];  ///< in the body frame, or in the world
  double stiffness;     ///< N/m, >= 0
  double damping;       ///< N s/m along the line, >= 0
  double rest_length;   ///< m; negative means the length at the start
} carom_spring_def;

/// One knot of a schedule: from its time on, the factor runs linearly to that of the next knot.
typedef struct carom_knot {
  double time;
  double factor;
} carom_knot;

/// A force and a torque on a body, constant or scheduled. Counts as external in the audit.
typedef struct carom_force_def {
  int body;
  carom_vec3 point;         ///< where the force acts, body frame
  carom_vec3 force;         ///< N
  carom_vec3 torque;        ///< N m
  bool body_axes;           ///< force and torque turn with the body; default false: world axes
  const carom_knot *knots;  ///< ascending times; constant before the first and after the last
  int knot_count;           ///< 0 means factor 1 always
} carom_force_def;

CAROM_API carom_material_def carom_material_default(void);
CAROM_API carom_body_def carom_body_default(void);
CAROM_API carom_spring_def carom_spring_default(void);
CAROM_API carom_force_def carom_force_default(void);

// ---- the builder --------------------------------------------------------------------------------
// Adders return the index of what they added. On a mistake they return -1 and the builder keeps the
// FIRST message; carom_builder_finish then fails with it. So calls need not be checked one by one.

typedef struct carom_model carom_model;
typedef struct carom_state carom_state;
typedef struct carom_builder carom_builder;

CAROM_API carom_status carom_builder_create(const carom_allocator *allocator, carom_builder **builder,
                                            carom_error *error);
CAROM_API void carom_builder_destroy(carom_builder *builder);  ///< null is fine
CAROM_API int carom_builder_add_material(carom_builder *builder, const carom_material_def *def);
CAROM_API int carom_builder_add_body(carom_builder *builder, const carom_body_def *def);
/// Uniform acceleration, m/s2. Default none.
CAROM_API void carom_builder_set_gravity(carom_builder *builder, carom_vec3 acceleration);
/// A set of point charges: every two of them on different bodies have the energy
/// constant c1 c2 / sqrt(d^2 + softening^2)  (Johnson 2012, eq. 3.51, with softening 0).
CAROM_API int carom_builder_add_charge_set(carom_builder *builder, double constant, double softening);
/// `point` is in the body frame (or in the world for CAROM_WORLD).
CAROM_API int carom_builder_add_charge(carom_builder *builder, int set, int body, carom_vec3 point, double charge);
CAROM_API int carom_builder_add_spring(carom_builder *builder, const carom_spring_def *def);
CAROM_API int carom_builder_add_force(carom_builder *builder, const carom_force_def *def);
/// A planar scene: bodies move and turn in the plane z = 0 alone. Their parts should be prisms or cylinders along z of
/// one height, or spheres, centred on that plane. The start velocities must lie in it. Default false.
CAROM_API void carom_builder_set_planar(carom_builder *builder, bool planar);
/// These two bodies never touch (neighbours at a joint, say).
CAROM_API void carom_builder_set_apart(carom_builder *builder, int body_a, int body_b);
/// Restitution and friction between two materials, instead of the geometric means of theirs.
CAROM_API void carom_builder_set_surface(carom_builder *builder, int material_a, int material_b, double restitution,
                                         double friction);
/// CAROM_OK while nothing went wrong; otherwise the status and message of the first mistake.
CAROM_API carom_status carom_builder_status(const carom_builder *builder, carom_error *error);
/// Makes the model and its start state; both are the caller's. The builder may be destroyed then.
CAROM_API carom_status carom_builder_finish(carom_builder *builder, carom_model **model, carom_state **state,
                                            carom_error *error);

// ---- the model: read it, never write it -----------------------------------------------------------

typedef struct carom_material {
  const char *name;
  double density, restitution, friction;
  uint32_t color;
} carom_material;

typedef struct carom_body {
  const char *name;
  bool fixed;
  double mass;                 ///< kg; infinite when fixed
  double inverse_mass;         ///< 0 when fixed
  carom_vec3 inertia;          ///< principal moments, kg m2; infinite when fixed
  carom_vec3 inverse_inertia;  ///< 0 when fixed
  carom_pose frame;            ///< the user's body frame as seen from the principal frame
  int part_start, part_count;  ///< into carom_model.parts
  int material;
  uint32_t color;          ///< 0xRRGGBB
  double bounding_radius;  ///< about the centre of mass
} carom_body;

/// Points below are in principal frames (or in the world for CAROM_WORLD).
typedef struct carom_charge {
  int set, body;
  carom_vec3 point;
  double charge;
} carom_charge;

typedef struct carom_charge_set {
  double constant, softening;
  int charge_start, charge_count;  ///< into carom_model.charges
} carom_charge_set;

typedef struct carom_spring {
  int body[2];
  carom_vec3 point[2];
  double stiffness, damping, rest_length;
} carom_spring;

typedef struct carom_force {
  int body;
  carom_vec3 point, force, torque;  ///< in principal axes when body_axes
  bool body_axes;
  int knot_start, knot_count;  ///< into carom_model.knots
} carom_force;

/// Two bodies that never touch.
typedef struct carom_apart {
  int body[2];
} carom_apart;

/// How two materials meet.
typedef struct carom_contact_surface {
  double restitution, friction;
} carom_contact_surface;

typedef struct carom_surface_pair {
  int material[2];
  carom_contact_surface surface;
} carom_surface_pair;

struct carom_model {
  int body_count, part_count, material_count, charge_set_count, charge_count, spring_count, force_count, knot_count;
  int moving_count;  ///< bodies that are not fixed
  int apart_count, surface_count;
  bool planar;                      ///< see carom_builder_set_planar
  carom_vec3 gravity;               ///< m/s2
  const carom_body *bodies;         ///< (body_count)
  const carom_part *parts;          ///< (part_count) poses in principal frames
  const carom_material *materials;  ///< (material_count)
  const carom_charge_set *charge_sets;
  const carom_charge *charges;
  const carom_spring *springs;
  const carom_force *forces;
  const carom_knot *knots;
  const carom_apart *aparts;
  const carom_surface_pair *surfaces;
  carom_allocator allocator;
};

CAROM_API void carom_model_destroy(carom_model *model);  ///< null is fine
/// The index of a body by name, or -1.
CAROM_API int carom_model_find_body(const carom_model *model, const char *name);
/// Restitution and friction between two bodies: what was set for their materials, else sqrt(e1 e2) and sqrt(mu1 mu2).
CAROM_API carom_contact_surface carom_model_surface(const carom_model *model, int body_a, int body_b);

// ---- the state ------------------------------------------------------------------------------------

/// Positions and momenta. Fixed bodies keep x and q, and have p = l = 0.
struct carom_state {
  double time;   ///< s
  int64_t step;  ///< steps taken so far
  int body_count;
  carom_vec3 *x;  ///< (body_count) centre of mass, m
  carom_quat *q;  ///< (body_count) principal frame
  carom_vec3 *p;  ///< (body_count) linear momentum, kg m/s
  carom_vec3 *l;  ///< (body_count) angular momentum about the centre of mass, world axes, kg m2/s
  carom_allocator allocator;
};

/// A copy of `from` with storage of its own.
CAROM_API carom_status carom_state_clone(const carom_state *from, const carom_allocator *allocator, carom_state **state,
                                         carom_error *error);
CAROM_API void carom_state_copy(carom_state *to, const carom_state *from);  ///< same body_count; never allocates
CAROM_API void carom_state_destroy(carom_state *state);                     ///< null is fine

/// Pose of the user's body frame.
CAROM_API carom_pose carom_state_pose(const carom_model *model, const carom_state *state, int body);
CAROM_API carom_vec3 carom_state_velocity(const carom_model *model, const carom_state *state, int body);
CAROM_API carom_vec3 carom_state_angular_velocity(const carom_model *model, const carom_state *state, int body);
/// Places the user's body frame; momenta in world axes stay as they are.
CAROM_API void carom_state_set_pose(const carom_model *model, carom_state *state, int body, carom_pose pose);
CAROM_API void carom_state_set_velocity(const carom_model *model, carom_state *state, int body, carom_vec3 velocity,
                                        carom_vec3 angular_velocity);
/// A 64-bit FNV-1a hash over time, positions and momenta, bit for bit: equal runs have equal hashes.
CAROM_API uint64_t carom_state_hash(const carom_state *state);

#ifdef __cplusplus
}
#endif
#endif
