/// carom/tets.h: solids as meshes of tetrahedra: read, made, checked, measured, skinned and written.
///
/// Tetrahedra have four nodes and straight edges. Lengths are in metres, in the solid's own frame. Every mesh that a
/// function of this header fills is sound: indices in range, finite coordinates, volumes positive, every node in a
/// tetrahedron, no tetrahedron twice, and where tetrahedra share a face there are two, one on each side.
#ifndef CAROM_TETS_H
#define CAROM_TETS_H

#include "carom/base.h"
#include "carom/geometry.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The name of a group of tetrahedra, as the file has it.
typedef struct carom_tets_name {
  int group;   ///< its number
  char *name;  ///< ends with a zero
} carom_tets_name;

/// A mesh of tetrahedra at rest. A value: zero it, or let a function fill it, and give back what is in it by
/// carom_tets_release.
typedef struct carom_tets {
  int node_count;             ///< at least 4
  int tet_count;              ///< at least 1
  carom_vec3 *nodes;          ///< (node_count) rest positions, m
  int (*tets)[4];             ///< (tet_count) nodes a, b, c, d with ((b-a) x (c-a)).(d-a) > 0
  int *groups;                ///< (tet_count) numbers of physical groups or regions, 0: none; null when all are in none
  int name_count;             ///< of groups with a name
  carom_tets_name *names;     ///< (name_count) in the order of the file
  carom_allocator allocator;  ///< of the arrays; the default one in a mesh made by hand that leaves it zero
} carom_tets;

/// How a mesh is read. Begin with carom_tets_default_options().
typedef struct carom_tets_options {
  double scale;     ///< multiplies every coordinate; default 1
  bool drop_loose;  ///< leave out nodes that no tetrahedron has, rather than refuse them; default false
} carom_tets_options;

/// Options with the defaults named above.
CAROM_API carom_tets_options carom_tets_default_options(void);

// ---- reading and writing ------------------------------------------------------------------------
// What is read is refused with file, line (where the file has lines) and number of the node or element as the file
// counts: CAROM_ERR_FORMAT where it is not what it should be or ends early, CAROM_ERR_GEOMETRY where the mesh is not
// sound, CAROM_ERR_NUMBER for coordinates that are not finite or out of range, CAROM_ERR_UNSUPPORTED for elements with
// a volume that are no tetrahedra of four nodes, CAROM_ERR_IO, CAROM_ERR_LIMIT beyond 2 GiB. Points, lines and surface
// elements are passed over. When all tetrahedra have negative volumes they are turned round, since the file then means
// the other order of corners. On failure *tets is left as it was.

/// Reads Gmsh .msh (2.2 and 4.1), legacy .vtk and .vtu (unstructured grids), in all of which ASCII or binary is told by
/// the content, or a pair of TetGen files, of which `path` names either NAME.node or NAME.ele.
CAROM_API carom_status carom_tets_read(const char *path, const carom_tets_options *options,
                                       const carom_allocator *allocator, carom_tets *tets, carom_error *error);
/// The same from memory, but for TetGen.
CAROM_API carom_status carom_tets_parse(const carom_bytes *bytes, const carom_tets_options *options,
                                        const carom_allocator *allocator, carom_tets *tets, carom_error *error);
/// The same from two TetGen files in memory: files[0] has the nodes (.node), files[1] the elements (.ele).
CAROM_API carom_status carom_tets_parse_tetgen(const carom_bytes *files, const carom_tets_options *options,
                                               const carom_allocator *allocator, carom_tets *tets, carom_error *error);
/// Copies and checks a mesh made by hand, whose nodes and elements messages count from 0.
CAROM_API carom_status carom_tets_init(const carom_tets *from, const carom_tets_options *options,
                                       const carom_allocator *allocator, carom_tets *tets, carom_error *error);
/// Frees the arrays and zeroes *tets; null is fine.
CAROM_API void carom_tets_release(carom_tets *tets);

/// Writes NAME.vtu (XML with base64 data, groups as cell data "group") or NAME.msh (Gmsh 4.1, ASCII) whole or not at
/// all. Coordinates keep all their bits, nodes and tetrahedra their order. CAROM_ERR_ARGUMENT for another ending,
/// CAROM_ERR_IO, CAROM_ERR_MEMORY.
CAROM_API carom_status carom_tets_write(const carom_tets *tets, const char *path, carom_error *error);

// ---- generating ---------------------------------------------------------------------------------
// Each fills *tets, or returns a negative status with a message: CAROM_ERR_ARGUMENT for lengths that are not positive
// or counts out of range, CAROM_ERR_NUMBER, CAROM_ERR_LIMIT for too many tetrahedra, CAROM_ERR_MEMORY.

/// How a box-shaped cell is cut.
typedef enum carom_tets_pattern {
  CAROM_TETS_FIVE,  ///< five, of two mirror-images in turn: even counts of cells mirror at x = 0, y = 0 and z = 0
  CAROM_TETS_SIX,   ///< six about a diagonal, the same in every cell (Kuhn): equal volumes
} carom_tets_pattern;

/// A box centred at the origin, massive or hollow.
typedef struct carom_tets_box {
  carom_vec3 size;             ///< full side lengths, m
  int cells[3];                ///< along x, y and z; of a hollow box those of the hollow
  carom_tets_pattern pattern;  ///< default CAROM_TETS_FIVE
  double wall;                 ///< thickness of the walls, m; 0 (default): massive
  int wall_cells;              ///< through a wall; default 1
} carom_tets_box;

/// A solid of revolution without a hole: discs on the axis z, one above another, with straight sides between them.
typedef struct carom_tets_turned {
  int count;             ///< of discs, at least 2
  const double *z;       ///< (count) their heights, ascending, m
  const double *radius;  ///< (count) more than 0, but the first and the last may be 0: a tip, m
  int rings;             ///< of cells from the axis to the side; ring k has 6 k nodes
  double layer;          ///< most height of a layer, m; 0 (default): that of a ring at the largest radius
} carom_tets_turned;

/// A solid of revolution about z whose half-section is made of quadrilaterals: sleeves, cuffs, plates with conical
/// holes. Neighbouring quadrilaterals share points by their numbers. They may touch the axis, but tetrahedra there are
/// as thin as the sectors are narrow: solids without a hole are better turned.
typedef struct carom_tets_revolved {
  int point_count;        ///< at least 4
  const double *r;        ///< (point_count) distances from the axis, 0 or more, m
  const double *z;        ///< (point_count) heights, m
  int quad_count;         ///< at least 1
  const int (*quads)[4];  ///< (quad_count) points, in order around each
  int sectors;            ///< about the axis, at least 3
  double edge;  ///< most length of an edge in the half-section, m; 0 (default): the quadrilaterals as they are
} carom_tets_revolved;

CAROM_API carom_tets_box carom_tets_box_default(void);            ///< five per cell; give size and cells
CAROM_API carom_tets_turned carom_tets_turned_default(void);      ///< give count, z, radius and rings
CAROM_API carom_tets_revolved carom_tets_revolved_default(void);  ///< give points, quadrilaterals and sectors

/// A box or a hollow box. Its nodes mirror to the last bit at the coordinate planes.
CAROM_API carom_status carom_tets_init_box(const carom_tets_box *def, const carom_allocator *allocator,
                                           carom_tets *tets, carom_error *error);
/// A ball centred at the origin: 8 n^3 tetrahedra, n shells about the centre. It mirrors at x = 0, y = 0 and z = 0.
CAROM_API carom_status carom_tets_init_ball(double radius, int shells, const carom_allocator *allocator,
                                            carom_tets *tets, carom_error *error);
/// A cylinder, a cone, a pin with a bulge. Round sides are inscribed prisms of 6 rings faces.
CAROM_API carom_status carom_tets_init_turned(const carom_tets_turned *def, const carom_allocator *allocator,
                                              carom_tets *tets, carom_error *error);
/// A tube, a sleeve, a plate with a conical hole. Round sides are inscribed prisms of `sectors` faces.
CAROM_API carom_status carom_tets_init_revolved(const carom_tets_revolved *def, const carom_allocator *allocator,
                                                carom_tets *tets, carom_error *error);

// ---- filling a surface --------------------------------------------------------------------------

/// The program that fills a surface.
typedef enum carom_tets_filler { CAROM_TETS_GMSH, CAROM_TETS_TETGEN } carom_tets_filler;

/// How a surface is filled. Begin with carom_tets_fill_default().
typedef struct carom_tets_fill {
  carom_tets_filler filler;  ///< default CAROM_TETS_GMSH
  const char *program;       ///< path of the program; null (default): `gmsh` or `tetgen` in the folders of PATH
  const char *folder;        ///< where the folder of temporary files is made; null (default): TMPDIR, or /tmp
  double edge;               ///< wanted length of edges inside, m; 0 (default): as the triangles of the surface suggest
  double seconds;            ///< the program is ended after so long; default 600
} carom_tets_fill;

/// The defaults named above.
CAROM_API carom_tets_fill carom_tets_fill_default(void);
/// Fills a closed surface, which may have hollows, with tetrahedra whose faces on it are its triangles. This is the one
/// function of the library that runs another program, and only a process of it, without a shell: with arguments of our
/// own making, no input, its output kept for messages, and files in a folder that only this user can read and that is
/// removed after. CAROM_ERR_UNSUPPORTED when the program is not installed, CAROM_ERR_GEOMETRY when the surface is not
/// closed or the program could not fill it (with what it said last), or filled another volume; CAROM_NOT_CONVERGED when
/// it took too long.
CAROM_API carom_status carom_tets_init_filled(const carom_mesh *surface, const carom_tets_fill *fill,
                                              const carom_allocator *allocator, carom_tets *tets, carom_error *error);

// ---- skin ---------------------------------------------------------------------------------------

/// The surface of a mesh, and who is there. A value: carom_tets_skin_init fills it, carom_tets_skin_release frees it.
typedef struct carom_tets_skin {
  int triangle_count;         ///< faces that only one tetrahedron has
  int (*triangles)[3];        ///< (triangle_count) nodes of the mesh, counter-clockwise from outside; by tetrahedron
  int *triangle_tets;         ///< (triangle_count) the tetrahedron behind each, ascending
  int node_count;             ///< of nodes at the surface
  int *nodes;                 ///< (node_count) ascending
  double *areas;              ///< (node_count) a third of the triangles around each, m2: they add up to the surface
  int tet_count;              ///< of tetrahedra with a face at the surface
  int *tets;                  ///< (tet_count) ascending
  int edge_count;             ///< of edges of the triangles
  int (*edges)[2];            ///< (edge_count) nodes, the lower one first; ascending
  int component_count;        ///< pieces of the mesh that share no node
  int *components;            ///< (nodes of the mesh) the piece of each node; pieces count by their lowest nodes
  carom_allocator allocator;  ///< of the arrays
} carom_tets_skin;

/// The skin of a mesh, in a time that grows with its size. Only CAROM_ERR_MEMORY for a sound mesh.
CAROM_API carom_status carom_tets_skin_init(const carom_tets *tets, const carom_allocator *allocator,
                                            carom_tets_skin *skin, carom_error *error);
/// Frees the arrays and zeroes *skin; null is fine.
CAROM_API void carom_tets_skin_release(carom_tets_skin *skin);

/// The edges of all tetrahedra, inside and out, each once.
typedef struct carom_tets_edges {
  int count;                  ///< of edges
  int (*nodes)[2];            ///< (count) the lower one first; ascending
  carom_allocator allocator;  ///< of the array
} carom_tets_edges;

/// All edges of a mesh. CAROM_ERR_MEMORY, CAROM_ERR_LIMIT.
CAROM_API carom_status carom_tets_edges_init(const carom_tets *tets, const carom_allocator *allocator,
                                             carom_tets_edges *edges, carom_error *error);
/// Frees the array and zeroes *edges; null is fine.
CAROM_API void carom_tets_edges_release(carom_tets_edges *edges);

// ---- measuring ----------------------------------------------------------------------------------

/// Volume of every tetrahedron, m3, into volumes (tet_count). Never allocates.
CAROM_API void carom_tets_volumes(const carom_tets *tets, double *volumes);
/// Lumped masses, kg, into masses (node_count): a quarter of every tetrahedron to each of its nodes. Never allocates.
CAROM_API void carom_tets_lump(const carom_tets *tets, double density, double *masses);
/// Exact mass, centre and inertia at uniform density (kg/m3). CAROM_ERR_ARGUMENT for a density that is not positive,
/// CAROM_ERR_NUMBER for a mass out of range. Never allocates.
CAROM_API carom_status carom_tets_mass(const carom_tets *tets, double density, carom_mass *mass, carom_error *error);

/// How good a mesh is to compute with. The shape of a tetrahedron is its mean ratio 12 (3 V)^(2/3) / sum of squared
/// edges (Liu and Joe 1994): 1 for a regular one, 0 for a flat one.
typedef struct carom_tets_quality {
  double volume;          ///< of all, m3
  double least_shape;     ///< of the worst tetrahedron
  double mean_shape;      ///< over all tetrahedra
  int worst;              ///< the tetrahedron with the least shape; the first of several
  double least_altitude;  ///< distance of a node from the face opposite, m: what limits explicit time steps
  int flattest;           ///< the tetrahedron with the least altitude; the first of several
  double shortest_edge;   ///< m
  double longest_edge;    ///< m
} carom_tets_quality;

/// Measures a mesh. Never allocates.
CAROM_API carom_tets_quality carom_tets_measure(const carom_tets *tets);

#ifdef __cplusplus
}
#endif
#endif
