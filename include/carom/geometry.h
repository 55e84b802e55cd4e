/// carom/geometry.h: convex shapes, their mass properties, and meshes from files.
///
/// A shape is immutable once made and counted by reference: share one among as many bodies and
/// threads as you like. Lengths are in metres, in the shape's own frame.
#ifndef CAROM_GEOMETRY_H
#define CAROM_GEOMETRY_H

#include "carom/base.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a shape is, in its own frame.
typedef enum carom_shape_kind {
  CAROM_SHAPE_POLYTOPE,   ///< convex hull of vertices, fattened by carom_shape_radius if that is not 0
  CAROM_SHAPE_SPHERE,     ///< centred at the origin
  CAROM_SHAPE_CAPSULE,    ///< a segment on the z axis, |z| <= half_length, fattened by radius
  CAROM_SHAPE_HALFSPACE,  ///< the points z <= 0; unbounded, so for fixed bodies only
  CAROM_SHAPE_ELLIPSOID,  ///< centred at the origin, its axes along x, y, z
  CAROM_SHAPE_CYLINDER,   ///< truly round; centred at the origin, its axis along z
  CAROM_SHAPE_CONE,       ///< truly round; base at z = -height/4, apex at z = 3/4 height
} carom_shape_kind;

/// One edge: its two vertices and the two faces that meet there. Seen from outside, f[0] lies to
/// the left when walking from v[0] to v[1].
typedef struct carom_polytope_edge {
  int v[2];  ///< vertices
  int f[2];  ///< faces
} carom_polytope_edge;

/// A convex polytope with its whole face lattice. Faces are maximal: coplanar triangles are merged.
typedef struct carom_polytope {
  int vertex_count;                  ///< at least 4
  int face_count;                    ///< at least 4
  int edge_count;                    ///< vertex_count + face_count - 2 (Euler)
  const carom_vec3 *vertices;        ///< (vertex_count) in the shape's frame, m
  const int *face_start;             ///< (face_count + 1) offsets into face_vertices
  const int *face_vertices;          ///< (2 edge_count) counter-clockwise seen from outside
  const carom_vec3 *face_normals;    ///< (face_count) unit, outward
  const double *face_offsets;        ///< (face_count) the face lies in normal . r = offset, m
  const carom_polytope_edge *edges;  ///< (edge_count)
  const int *neighbor_start;         ///< (vertex_count + 1) offsets into neighbors
  const int *neighbors;              ///< (2 edge_count) the vertex graph, ascending per vertex
} carom_polytope;

/// A convex shape; constant from the moment it is made.
typedef struct carom_shape carom_shape;

// ---- making shapes ----------------------------------------------------------------------------
// Each returns CAROM_OK and one reference in *shape, which the caller gives back by carom_shape_release; or a negative
// status, a message and null: CAROM_ERR_ARGUMENT for a length that is not positive or a count out of range,
// CAROM_ERR_NUMBER for one that is not finite or far out of range, CAROM_ERR_GEOMETRY for points without volume.

/// The convex hull of points (at least four, not in one plane). Points inside the hull, duplicates
/// and points within about `1e-10` of the extent from a face are dropped; vertices keep the input order.
CAROM_API carom_status carom_shape_create_hull(const carom_vec3 *points, int count, const carom_allocator *allocator,
                                               const carom_shape **shape, carom_error *error);
/// A box centred at the origin with the given full side lengths along x, y, z, m.
CAROM_API carom_status carom_shape_create_box(carom_vec3 size, const carom_allocator *allocator,
                                              const carom_shape **shape, carom_error *error);
/// A right prism, centred at the origin, over a regular polygon with `sides` corners of
/// circumradius `radius`; the first corner lies on +x, the axis is z.
CAROM_API carom_status carom_shape_create_prism(int sides, double radius, double height,
                                                const carom_allocator *allocator, const carom_shape **shape,
                                                carom_error *error);
/// A right pyramid over such a polygon; the base lies at z = -height/4 so that the centre of mass
/// is at the origin, the apex at z = 3/4 height.
CAROM_API carom_status carom_shape_create_pyramid(int sides, double radius, double height,
                                                  const carom_allocator *allocator, const carom_shape **shape,
                                                  carom_error *error);
/// A regular tetrahedron of the given edge length, centred at the origin.
CAROM_API carom_status carom_shape_create_tetrahedron(double edge, const carom_allocator *allocator,
                                                      const carom_shape **shape, carom_error *error);
/// A regular octahedron of the given edge length, centred at the origin, its corners on the axes.
CAROM_API carom_status carom_shape_create_octahedron(double edge, const carom_allocator *allocator,
                                                     const carom_shape **shape, carom_error *error);
/// A ball centred at the origin.
CAROM_API carom_status carom_shape_create_sphere(double radius, const carom_allocator *allocator,
                                                 const carom_shape **shape, carom_error *error);
/// A capsule along z, centred at the origin. `length` is that of the inner segment (0 allowed), so the whole is
/// length + 2 radius long.
CAROM_API carom_status carom_shape_create_capsule(double radius, double length, const carom_allocator *allocator,
                                                  const carom_shape **shape, carom_error *error);
/// The half-space z <= 0, for fixed bodies: it has no mass.
CAROM_API carom_status carom_shape_create_halfspace(const carom_allocator *allocator, const carom_shape **shape,
                                                    carom_error *error);

/// An ellipsoid centred at the origin, with these half axes along x, y and z, m.
CAROM_API carom_status carom_shape_create_ellipsoid(carom_vec3 half_axes, const carom_allocator *allocator,
                                                    const carom_shape **shape, carom_error *error);
/// A round cylinder with the axis z, centred at the origin.
CAROM_API carom_status carom_shape_create_cylinder(double radius, double height, const carom_allocator *allocator,
                                                   const carom_shape **shape, carom_error *error);
/// A round cone with the axis z; the base lies at z = -height/4 and the apex at z = 3/4 height, so that the centre of
/// mass is at the origin.
CAROM_API carom_status carom_shape_create_cone(double radius, double height, const carom_allocator *allocator,
                                               const carom_shape **shape, carom_error *error);
/// A polytope fattened by a ball: all points within `radius` of it. Still of kind CAROM_SHAPE_POLYTOPE, with the
/// lattice of `polytope` (which is copied, vertex by vertex in its order) and the sum of both radii if that was round
/// already.
CAROM_API carom_status carom_shape_create_rounded(const carom_shape *polytope, double radius,
                                                  const carom_allocator *allocator, const carom_shape **shape,
                                                  carom_error *error);

// A faceted cylinder is a prism and a faceted cone a pyramid with many sides.

CAROM_API const carom_shape *carom_shape_retain(const carom_shape *shape);  ///< one more reference; returns `shape`
CAROM_API void carom_shape_release(const carom_shape *shape);               ///< one reference less; null is fine

// ---- asking shapes ----------------------------------------------------------------------------

/// Which kind it is; it tells which of the functions below answer.
CAROM_API carom_shape_kind carom_shape_get_kind(const carom_shape *shape);
/// Radius of the ball that fattens the core: a point (sphere), a segment (capsule) or a polytope (rounded). Otherwise
/// 0.
CAROM_API double carom_shape_radius(const carom_shape *shape);
CAROM_API double carom_shape_half_length(const carom_shape *shape);  ///< half the segment of a capsule, m; else 0
/// Ellipsoid: its half axes, m. Cylinder and cone: (radius, radius, height/2). Otherwise 0.
CAROM_API carom_vec3 carom_shape_half_axes(const carom_shape *shape);
/// The polytope, without its rounding, as long as the shape lives; null for other kinds.
CAROM_API const carom_polytope *carom_shape_polytope(const carom_shape *shape);
/// Largest distance from the shape's origin to any of its points, m (infinite for a half-space).
CAROM_API double carom_shape_bounding_radius(const carom_shape *shape);

// ---- meshes -----------------------------------------------------------------------------------

/// Triangles as read from a file; corners are welded vertices. A value: zero it, or let a reader fill it, and give back
/// what is in it by carom_mesh_release.
typedef struct carom_mesh {
  int vertex_count;           ///< after welding
  int triangle_count;         ///< polygons count as several
  carom_vec3 *vertices;       ///< (vertex_count) m
  int *triangles;             ///< (3 triangle_count) vertices, in the order of the file: counter-clockwise from outside
  carom_allocator allocator;  ///< of the arrays
} carom_mesh;

/// How a mesh is read and made into a shape. Begin with carom_mesh_default_options().
typedef struct carom_mesh_options {
  double scale;           ///< multiplies every coordinate; default 1
  bool hull;              ///< take the convex hull of whatever the file holds; default false
  double weld_tolerance;  ///< corners closer than this times the extent are one vertex; default 1e-9
} carom_mesh_options;

/// Options with the defaults named above.
CAROM_API carom_mesh_options carom_mesh_default_options(void);
/// Reads OBJ (polygons are fanned), STL ASCII or STL binary; the kind is told by content and name. CAROM_ERR_IO when
/// the file cannot be read, CAROM_ERR_FORMAT with the line that is wrong, CAROM_ERR_NUMBER for coordinates or options
/// out of range, CAROM_ERR_LIMIT beyond 2 GiB. On failure *mesh is left as it was.
CAROM_API carom_status carom_mesh_read(const char *path, const carom_mesh_options *options,
                                       const carom_allocator *allocator, carom_mesh *mesh, carom_error *error);
/// The same from memory; its name also tells OBJ from STL.
CAROM_API carom_status carom_mesh_parse(const carom_bytes *bytes, const carom_mesh_options *options,
                                        const carom_allocator *allocator, carom_mesh *mesh, carom_error *error);
/// Frees the arrays and zeroes *mesh; null is fine.
CAROM_API void carom_mesh_release(carom_mesh *mesh);
/// A shape from a mesh. A mesh that is not closed or not convex is refused with advice (how far it
/// is from convex, and at which vertex) unless options->hull: CAROM_ERR_GEOMETRY and CAROM_ERR_NOT_CONVEX. The mesh is
/// copied.
CAROM_API carom_status carom_shape_create_mesh(const carom_mesh *mesh, const carom_mesh_options *options,
                                               const carom_allocator *allocator, const carom_shape **shape,
                                               carom_error *error);

// ---- mass properties --------------------------------------------------------------------------

/// What a solid weighs, in some frame.
typedef struct carom_mass {
  double mass;         ///< kg
  carom_vec3 center;   ///< centre of mass, m
  carom_mat3 inertia;  ///< about the centre of mass, along the axes of the frame; kg m2
} carom_mass;

/// Exact integrals over the solid at uniform density (kg/m3), in the shape's frame. CAROM_ERR_GEOMETRY for a
/// half-space, CAROM_ERR_NUMBER for a density that is not positive or a mass out of range. Never allocates.
CAROM_API carom_status carom_shape_mass(const carom_shape *shape, double density, carom_mass *mass, carom_error *error);
/// Exact integrals over the inside of a closed, consistently oriented mesh, convex or not, at uniform density (kg/m3).
/// CAROM_ERR_GEOMETRY when it is not closed. Allocates for the check, by the mesh's allocator.
CAROM_API carom_status carom_mesh_mass(const carom_mesh *mesh, double density, carom_mass *mass, carom_error *error);
/// The same solid after it was moved by `pose`.
CAROM_API carom_mass carom_mass_transform(carom_mass mass, carom_pose pose);
/// Two solids as one (parallel axes).
CAROM_API carom_mass carom_mass_add(carom_mass a, carom_mass b);
/// Principal moments, kg m2 (ascending unless the inertia is diagonal already, which keeps its axes) and
/// the pose of the principal frame: its origin at the centre of mass.
CAROM_API void carom_mass_principal(carom_mass mass, carom_vec3 *moments, carom_pose *frame);

#ifdef __cplusplus
}
#endif
#endif
