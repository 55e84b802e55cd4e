/// carom/elastic.h: solids that deform, as linear tetrahedra of hyperelastic material: energies, forces, stiffness,
/// stresses, motion in time without contact, and equilibrium. docs/solids.md has the mathematics. Stands on base.h and
/// vec.h alone.
///
/// The unknowns are positions of nodes. With F = dx/dX in a tetrahedron, C = F'F and J = det F, the energy per volume
/// at rest is one of three laws, all with Lame's constants lambda and mu for small strains:
///
///     neo-hooke   mu/2 (tr C - 3) - mu ln J + lambda/2 (ln J)^2
///     ciarlet     mu/2 (tr C - 3) - mu ln J + lambda/4 (J^2 - 1 - 2 ln J)
///     stable      mu/2 (tr C - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2
///
/// The first two grow without bound as J goes to 0, and are not defined for J <= 0; the third survives inversion.
///
/// An object holds the scratch of its evaluations, so that two threads must not use one at once; within a call it works
/// with as many threads as it was given, and with the same bits for any number of them. Evaluations and steps allocate
/// nothing (but for what OpenMP asks for when there are several threads).
#ifndef CAROM_ELASTIC_H
#define CAROM_ELASTIC_H

#include "carom/base.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- material and mesh ----------------------------------------------------------------------------------------------

/// The energy's form, see above.
typedef enum carom_elastic_law {
  CAROM_ELASTIC_NEO_HOOKE,  ///< with a pole at J = 0
  CAROM_ELASTIC_STABLE,     ///< without one
  CAROM_ELASTIC_CIARLET,    ///< with a pole; the CIARLET_EL of CalculiX
  CAROM_ELASTIC_LAWS        ///< how many there are
} carom_elastic_law;

/// "neo-hooke", "stable", "ciarlet"; never null.
CAROM_API const char *carom_elastic_law_name(carom_elastic_law law);

/// What a tetrahedron is made of.
typedef struct carom_elastic_material {
  double density;  ///< at rest, kg/m3; > 0
  double lambda;   ///< Lame's first constant, Pa; > -2/3 mu
  double mu;       ///< the shear modulus, Pa; > 0
  /// s; >= 0. The viscous stress (second Piola-Kirchhoff) is damping (lambda tr E' I + 2 mu E') with E' the rate of
  /// Green's strain: rigid motion is not damped, and both momenta are kept. A vibration of angular frequency w loses
  /// the fraction w damping / 2 of critical.
  double damping;
} carom_elastic_material;

/// From Young's modulus (Pa, > 0) and Poisson's ratio (-1 < nu < 0.5); damping is 0. CAROM_ERR_NUMBER with the remedy.
CAROM_API carom_status carom_elastic_material_of(double young, double poisson, double density,
                                                 carom_elastic_material *material, carom_error *error);

/// What a solid is made from. Begin with carom_elastic_default_def().
typedef struct carom_elastic_def {
  int node_count;                           ///< at least 4
  const carom_vec3 *nodes;                  ///< (node_count) at rest, m
  int tet_count;                            ///< at least 1
  const int (*tets)[4];                     ///< (tet_count) nodes; (b - a) x (c - a) . (d - a) > 0
  int material_count;                       ///< at least 1
  const carom_elastic_material *materials;  ///< (material_count)
  const int *material_of;                   ///< (tet_count) index of each one's material; null: all have the first
  carom_elastic_law law;                    ///< default neo-hooke
  int threads;                              ///< 0: one per processor; default 1
} carom_elastic_def;

/// A definition with the defaults named above, and nothing else.
CAROM_API carom_elastic_def carom_elastic_default_def(void);

typedef struct carom_elastic carom_elastic;  ///< a solid at rest and scratch; opaque

/// Checks, copies and prepares. CAROM_ERR_GEOMETRY names the first tetrahedron that is flat or inside out, or node that
/// belongs to none; CAROM_ERR_ARGUMENT an index that is out of range; CAROM_ERR_NUMBER a constant.
CAROM_API carom_status carom_elastic_create(const carom_elastic_def *def, const carom_allocator *allocator,
                                            carom_elastic **elastic, carom_error *error);
CAROM_API void carom_elastic_destroy(carom_elastic *elastic);                  ///< null is fine
CAROM_API int carom_elastic_node_count(const carom_elastic *elastic);          ///< as given
CAROM_API int carom_elastic_tet_count(const carom_elastic *elastic);           ///< as given
CAROM_API const carom_vec3 *carom_elastic_rest(const carom_elastic *elastic);  ///< (node_count) where nodes rest, m
/// (node_count) lumped masses, kg: a quarter of each tetrahedron's goes to each of its nodes.
CAROM_API const double *carom_elastic_masses(const carom_elastic *elastic);

// ---- energies, forces, stresses -------------------------------------------------------------------------------------

/// What an evaluation measured.
typedef struct carom_elastic_sample {
  double energy;       ///< stored, J
  double dissipation;  ///< what damping takes, W; >= 0
  double least_J;      ///< the least det F
  int least_tet;       ///< where that is
} carom_elastic_sample;

/// The elastic energy and its kin at positions x (node_count); v (null: at rest) is for the dissipation alone. Where a
/// tetrahedron is inverted and the law has a pole, the energy is infinite.
CAROM_API void carom_elastic_measure(carom_elastic *elastic, const carom_vec3 *x, const carom_vec3 *v,
                                     carom_elastic_sample *sample);
/// Fills f (node_count) with -dE/dx, N, and the forces of damping where v is not null; `sample` may be null.
/// CAROM_ERR_GEOMETRY names a tetrahedron that is inverted though the law has a pole; f then means nothing.
CAROM_API carom_status carom_elastic_forces(carom_elastic *elastic, const carom_vec3 *x, const carom_vec3 *v,
                                            carom_vec3 *f, carom_elastic_sample *sample, carom_error *error);
/// Cauchy's stress of every tetrahedron (tet_count), Pa, that of damping included where v is not null; and von Mises'
/// (tet_count), which may be null.
CAROM_API void carom_elastic_stress(const carom_elastic *elastic, const carom_vec3 *x, const carom_vec3 *v,
                                    carom_mat3 *stress, double *von_mises);
/// The elastic energy at positions x (node_count), J, as carom_elastic_measure has it, and the least det F and where it
/// is (both may be null). Uses no scratch: any number of threads may ask one object at once.
CAROM_API double carom_elastic_energy(const carom_elastic *elastic, const carom_vec3 *x, double *least_J,
                                      int *least_tet);
/// Fills y (node_count) with the product of the exact stiffness d2E/dx2 at x and u (node_count), without a matrix.
CAROM_API void carom_elastic_stiffness_times(carom_elastic *elastic, const carom_vec3 *x, const carom_vec3 *u,
                                             carom_vec3 *y);

/// Of velocities v (node_count), J.
CAROM_API double carom_elastic_kinetic_energy(const carom_elastic *elastic, const carom_vec3 *v);
/// Of velocities v (node_count), kg m/s.
CAROM_API carom_vec3 carom_elastic_linear_momentum(const carom_elastic *elastic, const carom_vec3 *v);
/// About the origin, kg m2/s.
CAROM_API carom_vec3 carom_elastic_angular_momentum(const carom_elastic *elastic, const carom_vec3 *x,
                                                    const carom_vec3 *v);

// ---- the stiffness as a matrix --------------------------------------------------------------------------------------

/// Blocks of 3 x 3 by rows, all of a symmetric matrix. Borrowed from carom_elastic_matrix.
typedef struct carom_elastic_blocks {
  int node_count;            ///< rows
  const int *start;          ///< (node_count + 1)
  const int *column;         ///< (start[node_count]) ascending in a row
  const carom_mat3 *blocks;  ///< (start[node_count]) of d2E / dx_row dx_column, N/m
} carom_elastic_blocks;

typedef struct carom_elastic_matrix carom_elastic_matrix;  ///< the pattern, made once, and values; opaque

/// Which stiffness.
typedef enum carom_elastic_stiffness {
  CAROM_ELASTIC_EXACT,    ///< second derivatives of the energy
  CAROM_ELASTIC_POSITIVE  ///< those, with negative eigenvalues of d2W/dF2 of every tetrahedron made zero
} carom_elastic_stiffness;

/// Makes the pattern; `elastic` must outlive it. All values are zero.
CAROM_API carom_status carom_elastic_matrix_create(carom_elastic *elastic, const carom_allocator *allocator,
                                                   carom_elastic_matrix **matrix, carom_error *error);
CAROM_API void carom_elastic_matrix_destroy(carom_elastic_matrix *matrix);  ///< null is fine
/// Fills the values at x (node_count).
CAROM_API void carom_elastic_matrix_fill(carom_elastic_matrix *matrix, const carom_vec3 *x,
                                         carom_elastic_stiffness which);
/// y = K u, (node_count) each.
CAROM_API void carom_elastic_matrix_times(const carom_elastic_matrix *matrix, const carom_vec3 *u, carom_vec3 *y);
/// The blocks; they change with the next fill.
CAROM_API carom_elastic_blocks carom_elastic_matrix_blocks(const carom_elastic_matrix *matrix);

// ---- loads ----------------------------------------------------------------------------------------------------------

/// What acts on a solid. All zero: nothing. Borrowed during a call.
typedef struct carom_elastic_loads {
  carom_vec3 gravity;         ///< m/s2
  int triangle_count;         ///< under pressure
  const int (*triangles)[3];  ///< (triangle_count) nodes; (b - a) x (c - a) points out of the solid
  const double *pressure;   ///< (triangle_count) Pa; > 0 pushes inwards. It follows the triangle as it turns and grows
  const carom_vec3 *force;  ///< (node_count) N; null: none
  int pin_count;            ///< nodes that are held or moved
  const int *pins;          ///< (pin_count) nodes, none twice
  void *context;            ///< handed to what follows
  /// Where pin number i (of `pins`) is at time t, and its velocity. Null: pins stay where they are.
  void (*move)(void *context, double t, int i, carom_vec3 *x, carom_vec3 *v);
  /// Adds further nodal forces (contact, say) to f (node_count) at time t, and, where K is not null, blocks on the
  /// diagonal that stand for -df/dx to K (node_count), symmetric and not negative: they help Newton's method and change
  /// no result. Null: none. Its status, when it is not CAROM_OK, ends the call; CAROM_NOT_CONVERGED asks for more
  /// parts.
  carom_status (*extra)(void *own, double t, const carom_vec3 *x, const carom_vec3 *v, carom_vec3 *f, carom_mat3 *K);
  /// Adds the product of -df/dx, where `extra` was asked last, and u (node_count) to y, as a symmetric matrix that is
  /// not negative. Then K should be no less than that matrix, and Newton's method solves with it by conjugate
  /// gradients. Null: K is taken for it.
  void (*extra_times)(void *own, const carom_vec3 *u, carom_vec3 *y);
} carom_elastic_loads;

/// The volume that the triangles under pressure enclose at x (m3), where every edge is shared by two of them. A
/// pressure p that is the same all over such a surface has the potential energy p times this.
CAROM_API double carom_elastic_enclosed_volume(const carom_elastic_loads *loads, const carom_vec3 *x);

// ---- motion ---------------------------------------------------------------------------------------------------------

/// Where nodes are and how they move. All that a step remembers is here: a copy is a checkpoint, and goes on with the
/// same bits.
typedef struct carom_elastic_state {
  double t;        ///< s
  int node_count;  ///< of the solid
  carom_vec3 *x;   ///< (node_count) m
  carom_vec3 *v;   ///< (node_count) m/s
  carom_vec3 *a;   ///< (node_count) m/s2, forces over masses (at pins, too), with which the next explicit step begins
  bool a_known;    ///< set it to false after changing x, v, t or the loads; the next step then finds `a` first
  carom_allocator allocator;  ///< of the arrays
} carom_elastic_state;

/// At rest at t = 0.
CAROM_API carom_status carom_elastic_state_create(const carom_elastic *elastic, const carom_allocator *allocator,
                                                  carom_elastic_state **state, carom_error *error);
CAROM_API void carom_elastic_state_destroy(carom_elastic_state *state);  ///< null is fine

/// How long explicit steps may be at some positions, without contact. Beyond, errors grow from step to step.
typedef struct carom_elastic_limit {
  double bound;      ///< s; the least over tetrahedra of what each would allow alone: never too long, often too short
  int tet;           ///< where that is
  double sharp;      ///< s; from the largest eigenvalue of M^-1 K by Lanczos' method, within 1e-3
  double frequency;  ///< rad/s, of that eigenvalue
  int products;      ///< of K and a vector that it took
} carom_elastic_limit;

/// How motion is stepped.
typedef enum carom_elastic_method {
  CAROM_ELASTIC_NEWMARK,  ///< explicit: Newmark's method with beta = 0 and gamma = 1/2 (Johnson 2012, eq. 3.3)
  CAROM_ELASTIC_MIDPOINT  ///< implicit: the variational midpoint rule (Johnson 2012, eq. 3.4 with gamma = 1/2)
} carom_elastic_method;

/// Begin with carom_elastic_default_options().
typedef struct carom_elastic_options {
  carom_elastic_method method;  ///< default CAROM_ELASTIC_NEWMARK
  double tolerance;             ///< implicit: on the residual relative to the forces at play; default 1e-12
  int max_iterations;           ///< of Newton's method, for one step or load step; default 50
  /// A step is taken in up to 2^max_halvings equal parts where it is too long for the solid as it is then, or would
  /// invert a tetrahedron, or does not converge; default 8. Negative: never, and explicit steps are not compared with
  /// what is stable.
  int max_halvings;
  /// s; how long explicit steps may be at rest, for solids in several pieces of different materials: each piece allows
  /// its own, which is more than the stiffest one would with the strongest damping. Default 0: found from those.
  double rest_step;
} carom_elastic_options;

/// Options with the defaults named above.
CAROM_API carom_elastic_options carom_elastic_default_options(void);

/// How a step went. Work is what the loads did on the solid in it, J.
typedef struct carom_elastic_report {
  int parts;               ///< that the step was taken in
  int iterations;          ///< of Newton's method, over all parts
  double residual;         ///< the largest that was left, relative to the forces at play
  double critical;         ///< s; explicit: how long the parts might have been, estimated
  double least_J;          ///< at the ends (and middles) of parts
  int least_tet;           ///< where that is
  double dissipated;       ///< by damping, J
  double gravity_work;     ///< J
  double pressure_work;    ///< J
  double force_work;       ///< of `force`, J
  double extra_work;       ///< of `extra`, J
  double pin_work;         ///< of what holds and moves the pins, J
  carom_vec3 pin_impulse;  ///< of what holds and moves the pins, N s
  carom_vec3 impulse;      ///< of all loads and pins together, N s
  carom_vec3 moment;       ///< theirs about the origin, N m s
} carom_elastic_report;

typedef struct carom_elastic_stepper carom_elastic_stepper;  ///< opaque

/// Allocates all that steps need; `elastic` must outlive it. `options` null: defaults. A solid may have several.
CAROM_API carom_status carom_elastic_stepper_create(carom_elastic *elastic, const carom_elastic_options *options,
                                                    const carom_allocator *allocator, carom_elastic_stepper **stepper,
                                                    carom_error *error);
CAROM_API void carom_elastic_stepper_destroy(carom_elastic_stepper *stepper);  ///< null is fine

/// Finds how long explicit steps may be at x (node_count). Pins are not taken into account: they only make longer ones
/// possible.
CAROM_API void carom_elastic_critical_step(carom_elastic_stepper *stepper, const carom_vec3 *x,
                                           carom_elastic_limit *limit);

/// One step of h > 0 seconds. `loads` null: none; `report` null: nothing is booked. On failure the state is as it was:
/// CAROM_NOT_CONVERGED names the tetrahedron, the time and a remedy, and a shorter step may succeed.
CAROM_API carom_status carom_elastic_step(carom_elastic_stepper *stepper, const carom_elastic_loads *loads, double h,
                                          carom_elastic_state *state, carom_elastic_report *report, carom_error *error);

/// Finds the accelerations with which the next explicit step begins, unless they are known, as carom_elastic_step
/// would: for those who want to know the forces of `extra` before the step. Fails as it does.
CAROM_API carom_status carom_elastic_learn(carom_elastic_stepper *stepper, const carom_elastic_loads *loads,
                                           carom_elastic_state *state, carom_error *error);

/// What explicit steps of h keep better than the energy, J: that of the modified equation, to second order in h
/// (Hairer, Lubich, Wanner 2006, IX.3), T + V + h^2 (v.Kv / 12 - a.Ma / 24), without damping and with gravity, `force`
/// and pins at rest as the only loads. The state's `a` must be known.
CAROM_API double carom_elastic_shadow_energy(carom_elastic_stepper *stepper, const carom_elastic_loads *loads, double h,
                                             const carom_elastic_state *state);

/// Moves the state's x to equilibrium under the loads, which grow with s from 0 to 1 in `load_steps` (at least 1) equal
/// parts or more; pins are where `move` says at time s. Velocities become zero, and no
/// work is booked. The stepper must be of the midpoint
/// method. CAROM_NOT_CONVERGED tells how far it came; the state is then as it was. CAROM_ERR_SINGULAR: the pins do not
/// hold it.
CAROM_API carom_status carom_elastic_settle(carom_elastic_stepper *stepper, const carom_elastic_loads *loads,
                                            int load_steps, carom_elastic_state *state, carom_elastic_report *report,
                                            carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
