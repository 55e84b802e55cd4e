/// carom/collide.h: how far apart are two convex bodies, in which direction, and which points say so.
///
/// The separation oracle is the supporting separating hyperplane test (SSH) of Johnson (2012), chapter 2. As a linear
/// program over a plane normal alpha and two offsets it reads (eq. 2.29)
///
///     gap = max a1 - a2   with   alpha.x >= a1 on A,  alpha.y <= a2 on B,  beta.alpha = 1,
///
/// and its dual: the smallest t for which t beta is a difference x - y of points of A and B. beta is a unit vector from
/// B towards A, by default from centre to centre. gap > 0 apart, = 0 touching, < 0 overlapping; the normal points from
/// B to A. Where the Euclidean signed distance is wanted instead (eq. 2.28), ask carom_distance.
///
/// Queries never allocate and may run in any number of threads at once.
#ifndef CAROM_COLLIDE_H
#define CAROM_COLLIDE_H

#include "carom/base.h"
#include "carom/geometry.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A shape somewhere in the world.
typedef struct carom_placed {
  const carom_shape *shape;  ///< borrowed
  carom_pose pose;           ///< of the shape's frame in the world; q must be a unit quaternion
} carom_placed;

/// What of a body carries the contact.
typedef enum carom_feature {
  CAROM_FEATURE_VERTEX,  ///< one corner
  CAROM_FEATURE_EDGE,    ///< two corners
  CAROM_FEATURE_FACE,    ///< three corners or more
  CAROM_FEATURE_SMOOTH,  ///< a point of a curved surface or of a half-space
} carom_feature;

/// How a query ended. All but the last are answers.
typedef enum carom_ssh_outcome {
  CAROM_SSH_SOLVED,  ///< with the given beta
  CAROM_SSH_RESET,   ///< with the given beta the program was unbounded (the bodies are apart); solved with another beta
  CAROM_SSH_LIMIT,   ///< the pivot limit was reached; the gap is an upper bound and duality_gap says how far off
} carom_ssh_outcome;

/// How to ask. Begin with carom_ssh_default_options().
typedef struct carom_ssh_options {
  bool given_beta;  ///< use `beta` instead of the line between the centres; default false
  carom_vec3 beta;  ///< world axes, any length but zero
  bool planar;      ///< the plane case: bodies are their shadows on z = 0, alpha and beta lie in it; default false.
                    ///< (A half-space that leans out of the plane has no shadow, and is asked about in space.)
  int max_pivots;   ///< default 500
} carom_ssh_options;

enum { CAROM_CACHE_POINTS = 32, CAROM_CACHE_FACES = 2 * CAROM_CACHE_POINTS - 4 };

/// What to begin from: the vertex pairs of the last query of the same two bodies, and of overlapping ones the polytope
/// that proved their depth. Zero it before the first query, and leave it to the queries from then on.
typedef struct carom_ssh_cache {
  int count;                                                     ///< 0: nothing known
  int a[3], b[3];                                                ///< (count) vertices of the last basis
  int points, faces;                                             ///< of the polytope; 0: none
  int point_a[CAROM_CACHE_POINTS], point_b[CAROM_CACHE_POINTS];  ///< vertex pairs whose differences are its corners
  unsigned char corner[CAROM_CACHE_FACES][3];                    ///< of its faces, counter-clockwise from outside
} carom_ssh_cache;

/// The answer of carom_ssh: gap, plane, weights and witness points. World axes, m.
typedef struct carom_ssh_result {
  carom_ssh_outcome outcome;            ///< how it ended
  double gap;                           ///< a1 - a2, m: > 0 apart, < 0 overlapping
  carom_vec3 alpha;                     ///< plane normal with beta.alpha = 1
  double a1, a2;                        ///< alpha.x >= a1 on A, alpha.y <= a2 on B
  carom_vec3 normal;                    ///< alpha over its length, from B to A
  carom_vec3 beta;                      ///< unit vector that was used
  carom_vec3 point_a, point_b;          ///< witness points: point_a - point_b = gap beta
  int column_count;                     ///< vertex pairs with a weight, 1 to 3
  int vertex_a[3], vertex_b[3];         ///< their vertices; -1 on a curved surface
  carom_vec3 column_a[3], column_b[3];  ///< their points, world; of a planar query with their heights over the plane
  double weight[3];                     ///< dual weights: >= 0, sum 1, and they give the witness points
  carom_feature feature_a, feature_b;   ///< what carries the contact, from the weighted columns
  bool dual_degenerate;  ///< several planes give the same gap (a corner meets a corner or an edge); carom_ssh_resolve
                         ///< tells more
  int pivots;            ///< how hard it was
  double duality_gap;    ///< (gap - certified lower bound) / size of the bodies, >= 0
  bool planar;           ///< of the bodies' shadows: the functions below take the answer as one in the plane
} carom_ssh_result;

/// Options with the defaults named above.
CAROM_API carom_ssh_options carom_ssh_default_options(void);
/// The SSH linear program of two shapes. `options` and `cache` may be null; the cache is read and written.
/// CAROM_ERR_NUMBER when a pose or beta is not finite, CAROM_ERR_GEOMETRY when both bodies are half-spaces.
CAROM_API carom_status carom_ssh(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options,
                                 carom_ssh_cache *cache, carom_ssh_result *result);

// ---- Euclidean signed distance ------------------------------------------------------------------------------------

/// The answer of carom_distance. World axes, m.
typedef struct carom_distance_result {
  double distance;               ///< m; > 0: shortest distance; < 0: minus the least translation that parts the bodies
  carom_vec3 normal;             ///< unit, from B to A; moving A by -distance along it makes the bodies touch
  carom_vec3 point_a, point_b;   ///< point_a - point_b = distance normal
  int column_count;              ///< vertex pairs with a weight, 1 to 3
  int vertex_a[3], vertex_b[3];  ///< their vertices; -1 on a curved surface
  double weight[3];              ///< >= 0, sum 1; they give the points
  carom_feature feature_a, feature_b;  ///< what carries the contact
  int iterations;                      ///< how hard it was
  double duality_gap;  ///< certified error of the distance over the size of the bodies: round-off, but for curved
                       ///< bodies about one centre, where it may be 1e-2: -distance along the normal parts them, but
                       ///< that it is the least, and the points, are known to no more than that
} carom_distance_result;

/// The quadratically constrained program (Johnson 2012, eq. 2.28): the true signed distance, begun from the
/// cache or else from the line between the centres. The cache is the one of carom_ssh and may be shared with it; it may
/// be null. CAROM_ERR_NUMBER when a pose is not finite, CAROM_ERR_GEOMETRY when both bodies are half-spaces.
CAROM_API carom_status carom_distance(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                                      carom_distance_result *result);

// ---- degeneracy and contact polygons ------------------------------------------------------------------------------

enum { CAROM_MANIFOLD_MAX = 8, CAROM_OPTIMAL_MAX = 64 };

/// The whole optimal set of the program: all vertices that lie in the supporting planes whichever optimal plane is
/// taken and so may carry weight, and the answer of least norm, which reflects the symmetry of the contact (Johnson
/// 2012, 2.7.5, eqs. 2.70-2.71). Curved surfaces and half-spaces have points without a number, -1; of a cylinder's or
/// cone's flat end there are points of the rim. In the plane an edge has all vertices whose shadows lie on it.
typedef struct carom_ssh_optimum {
  int count_a, count_b;                                             ///< active vertices, at most CAROM_OPTIMAL_MAX each
  int vertex_a[CAROM_OPTIMAL_MAX], vertex_b[CAROM_OPTIMAL_MAX];     ///< (count_a), (count_b)
  double weight_a[CAROM_OPTIMAL_MAX], weight_b[CAROM_OPTIMAL_MAX];  ///< of least norm: >= 0, each sums to 1
  carom_vec3 alpha;                                                 ///< of least norm among the optimal planes
  double a1, a2;                                                    ///< offsets of that plane, as in carom_ssh_result
  carom_vec3 point_a, point_b;                                      ///< witness points of these weights, world
  carom_feature feature_a, feature_b;  ///< from the active vertices: 1 vertex, 2 edge, more: face
  bool primal_degenerate;              ///< several weights give the same plane: a face or an edge carries the contact
  bool dual_degenerate;                ///< several planes give the same gap
} carom_ssh_optimum;

/// Resolves ties of a solved query of the same two bodies at the same poses. `tolerance` is relative to the bodies'
/// size; 0 means 1e-10. CAROM_ERR_NUMBER when the result is not one.
CAROM_API carom_status carom_ssh_resolve(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                                         double tolerance, carom_ssh_optimum *optimum);

/// One corner of a contact polygon.
typedef struct carom_manifold_point {
  carom_vec3 point_a, point_b;  ///< on A and on B, world, m
  double gap;                   ///< along the normal, m; < 0 overlapping
} carom_manifold_point;

/// Where two bodies touch: up to eight points of the contact polygon, around the normal.
typedef struct carom_manifold {
  carom_vec3 normal;                                ///< unit, from B to A, world
  int count;                                        ///< 1 to CAROM_MANIFOLD_MAX
  carom_manifold_point points[CAROM_MANIFOLD_MAX];  ///< (count) in order around the normal
} carom_manifold;

/// The contact polygon of two bodies whose separating plane is known: features within `slop` (m) of the planes are
/// clipped against each other. Always at least one point: the nearest ones where the features pass by each other.
/// CAROM_ERR_GEOMETRY when both are half-spaces, or the normal lies along the half-space; CAROM_ERR_NUMBER when a
/// number is not finite or `slop` is negative.
CAROM_API carom_status carom_contact_manifold(const carom_placed *a, const carom_placed *b, carom_vec3 normal,
                                              double slop, carom_manifold *manifold);
/// The same in the plane: where the bodies' shadows on z = 0 touch, which is one point or the two ends of a segment, at
/// z = 0. Of the normal the part in the plane counts. CAROM_ERR_NUMBER when it has none, CAROM_ERR_GEOMETRY also when a
/// half-space leans out of the plane and so has no shadow.
CAROM_API carom_status carom_contact_manifold_planar(const carom_placed *a, const carom_placed *b, carom_vec3 normal,
                                                     double slop, carom_manifold *manifold);

// ---- derivatives --------------------------------------------------------------------------------------------------

/// Change of the gap with a body: in its twist about the position of its pose (world axes), and in the redundant
/// coordinates (position, directors d1 d2 d3) of Johnson (2012), eqs. 3.40-3.50. The gap of a planar query changes with
/// all of these too, as shadows do when bodies lean over; where bodies stay in the plane only x, y and the angle about
/// z count.
typedef struct carom_gap_gradient_body {
  carom_vec3 linear, angular;        ///< 1, and m per rad
  carom_vec3 position, director[3];  ///< 1, and m
} carom_gap_gradient_body;

/// Change of the gap with both bodies and with the points that carry it.
typedef struct carom_gap_gradient {
  carom_gap_gradient_body a, b;         ///< in the motion of A and of B
  carom_vec3 column_a[3], column_b[3];  ///< in the points of the weighted columns, beta held fixed
} carom_gap_gradient;

/// Gradient of the gap at a solved query (one element of the subdifferential at ties). `beta_moves`: beta follows the
/// centres, as by default; false when it was given and stays. CAROM_ERR_NUMBER when the result is not one.
CAROM_API carom_status carom_ssh_gradient(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                                          bool beta_moves, carom_gap_gradient *gradient);

/// One-sided derivative of the gap when the bodies begin to move with the given twists (a linear, a angular,
/// b linear, b angular; m/s and rad/s, world axes, about the positions of their poses): exact at ties too, as the value
/// of a small linear program over the optimal set. (A flat round end counts as a polygon of 48 corners.)
CAROM_API carom_status carom_ssh_directional(const carom_placed *a, const carom_placed *b,
                                             const carom_ssh_result *result, bool beta_moves,
                                             const carom_vec3 twists[4], double *derivative);

/// Second derivative in the two twists (a linear, a angular, b linear, b angular), the basis held fixed: 12 x 12,
/// symmetric part of the left-trivialised Hessian, row-major. CAROM_ERR_SINGULAR where the gap has a kink (a corner
/// meets a corner or an edge, or the flat end of a cylinder or cone is what touches).
CAROM_API carom_status carom_ssh_hessian(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                                         bool beta_moves, double hessian[144]);

// ---- time of impact -----------------------------------------------------------------------------------------------

/// A body that moves from one pose to another while the time runs from 0 to 1: straight, and turning at a constant rate
/// about the origin of its pose (the short way).
typedef struct carom_motion {
  const carom_shape *shape;  ///< borrowed
  carom_pose from, to;       ///< of the shape's frame in the world, at times 0 and 1
} carom_motion;

/// A body that moves by a twist while the time runs from 0 to 1: straight, and turning about the origin of its pose, by
/// any angle, several times round too.
typedef struct carom_twisting {
  const carom_shape *shape;    ///< borrowed
  carom_pose from;             ///< of the shape's frame in the world, at time 0
  carom_vec3 linear, angular;  ///< m and rad in the whole time, world axes
} carom_twisting;

/// How a search for an impact ended.
typedef enum carom_impact_outcome {
  CAROM_IMPACT_NONE,      ///< apart all the way
  CAROM_IMPACT_FOUND,     ///< apart at the start, touching at `time`
  CAROM_IMPACT_AT_START,  ///< touching or overlapping from the start
} carom_impact_outcome;

/// The answer of carom_time_of_impact. World axes, m.
typedef struct carom_impact_time {
  carom_impact_outcome outcome;  ///< how it ended
  double time;                   ///< in [0, 1]; the bodies are still apart, by at most the tolerance
  carom_vec3 normal;             ///< from B to A
  carom_vec3 point_a, point_b;   ///< nearest points at that time
  double gap;                    ///< at that time, along the normal, m
  int queries;                   ///< of the separation oracle
} carom_impact_time;

/// The pose at a time; before 0 and after 1 the body rests.
CAROM_API carom_pose carom_motion_at(const carom_motion *motion, double time);
/// First time at which the bodies come within `tolerance` (m; 0 means 1e-12 of their size) of each other, by
/// conservative advancement on separating planes: never past it, since up to that time a plane is proven to part the
/// bodies. The tolerance is raised to what positions and times can be told apart by. CAROM_NOT_CONVERGED after 500
/// queries, with *impact at the last time that is safe; CAROM_ERR_NUMBER when a number is not finite,
/// CAROM_ERR_GEOMETRY when both bodies are half-spaces. `cache` may be null.
CAROM_API carom_status carom_time_of_impact(const carom_motion *a, const carom_motion *b, double tolerance,
                                            carom_ssh_cache *cache, carom_impact_time *impact);
/// The pose at a time; before 0 and after 1 the body rests.
CAROM_API carom_pose carom_twisting_at(const carom_twisting *twisting, double time);
/// As carom_time_of_impact, for motions that two poses cannot tell: of more than half a turn.
CAROM_API carom_status carom_time_of_impact_by_twists(const carom_twisting *a, const carom_twisting *b,
                                                      double tolerance, carom_ssh_cache *cache,
                                                      carom_impact_time *impact);

// ---- broad phase --------------------------------------------------------------------------------------------------

/// An axis-aligned box: its corners in the world, m.
typedef struct carom_aabb {
  carom_vec3 low, high;
} carom_aabb;

/// The box around a placed shape; infinite along some axes for a half-space, NaN when the pose is not finite.
CAROM_API carom_aabb carom_aabb_of(const carom_placed *placed);

/// Two proxies whose fattened boxes overlap.
typedef struct carom_pair {
  int a, b;    ///< numbers of the proxies; a < b
  int64_t id;  ///< stays the same as long as the pair persists
} carom_pair;

/// How to look. Begin with carom_broadphase_default_options().
typedef struct carom_broadphase_options {
  double margin;      ///< boxes are fattened by this much, m; default 0: 5 percent of each box's longest finite side
  bool uniform_grid;  ///< a grid instead of a tree: for many bodies of about one size; default false
} carom_broadphase_options;

/// Who may meet whom. Two proxies are paired when their boxes overlap, they are not of one body nor both fixed,
/// (group_a & mask_b) and (group_b & mask_a) are not zero, and no exclusion was made.
typedef struct carom_proxy_def {
  carom_aabb box;        ///< before fattening
  int body;              ///< proxies of one body never meet; -1: of no body
  uint32_t group, mask;  ///< default 1 and all ones
  bool fixed;            ///< two fixed proxies never meet
} carom_proxy_def;

/// Boxes that move, and who is near whom.
typedef struct carom_broadphase carom_broadphase;

/// Options with the defaults named above.
CAROM_API carom_broadphase_options carom_broadphase_default_options(void);
/// A proxy of no body, in group 1, that may meet all; its box must still be given.
CAROM_API carom_proxy_def carom_proxy_default(void);
/// Makes one without proxies. CAROM_ERR_NUMBER when the margin is negative or not finite.
CAROM_API carom_status carom_broadphase_create(const carom_broadphase_options *options,
                                               const carom_allocator *allocator, carom_broadphase **broadphase,
                                               carom_error *error);
CAROM_API void carom_broadphase_destroy(carom_broadphase *broadphase);  ///< null is fine
/// Adds a proxy; *proxy is its number from 0 on. Numbers of removed proxies are used again. CAROM_ERR_NUMBER for a box
/// with a NaN or turned inside out, CAROM_ERR_ARGUMENT for a body below -1. May allocate.
CAROM_API carom_status carom_broadphase_add(carom_broadphase *broadphase, const carom_proxy_def *def, int *proxy,
                                            carom_error *error);
/// Takes a proxy out; its pairs end with the next update. Never allocates.
CAROM_API void carom_broadphase_remove(carom_broadphase *broadphase, int proxy);
/// From the next update on proxies of these two bodies are not paired, for instance since a joint holds them together.
/// CAROM_ERR_ARGUMENT for a negative number. May allocate.
CAROM_API carom_status carom_broadphase_exclude(carom_broadphase *broadphase, int body_a, int body_b,
                                                carom_error *error);
/// Moves a proxy; its fattened box changes only when the new box leaves it. A box with a NaN or turned inside out is
/// not taken, and the next update says so (once); likewise for a number that is not in use, here and in remove. Never
/// allocates.
CAROM_API void carom_broadphase_move(carom_broadphase *broadphase, int proxy, carom_aabb box);
/// Finds all pairs after the moves, sorted by (a, b). The array belongs to the broad phase and holds until the next
/// call. Allocates only when the number of pairs grows beyond what it ever was. CAROM_ERR_NUMBER or CAROM_ERR_ARGUMENT
/// for what went wrong in a move or remove before.
CAROM_API carom_status carom_broadphase_update(carom_broadphase *broadphase, const carom_pair **pairs, int *count,
                                               carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
