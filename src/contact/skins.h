// Surfaces that solids touch with and are touched by: their own, which deform, and those of rigid parts. A skin is made
// of facets in a tree of boxes; a hull of a rigid polytope is few facets that move with the body. Curved parts and
// half-spaces have none: points are held against them one by one.
#ifndef CAROM_SRC_CONTACT_SKINS_H
#define CAROM_SRC_CONTACT_SKINS_H

#include "carom/model.h"
#include "collide/box_tree.h"
#include "contact/facets.h"

// Of a solid. Facet i is that of triangle i of its carom_tets_skin.
typedef struct carom_skin {
  bool near;  // something is
  int solid, count, node_start, node_count;
  const int (*triangles)[3];  // (count) nodes of the solid
  int (*neighbors)[3];        // (count) across the side from corner i to i + 1; -1: none
  carom_facet *facets;        // (count) as they are now
  carom_vec3 *normals;        // (node_count) of the surface at its nodes, unit
  double *area;               // (count) at rest, m2
  carom_aabb *boxes;          // (count) widened by how far they may get
  double stiffness;           // of contact, Pa/m
  double mean_area;           // of a facet at rest, m2
  double *deep;               // (count) overlaps beyond are no contact any more, m
  carom_box_tree tree;
} carom_skin;

// Of a rigid part; without facets where it is curved or unbounded.
typedef struct carom_hull {
  int part, body, count;
  int (*triangles)[3];   // (count) vertices of its polytope
  int (*neighbors)[3];   // (count) as of a skin
  carom_vec3 *vertices;  // (vertex_count) in the world
  carom_facet *facets;   // (count) in the world
  carom_vec3 *normals;   // (vertex_count) unit
  carom_aabb *boxes;     // (count) widened
  carom_aabb box;        // of the part, widened
  carom_placed placed;
  double deep;  // m
  bool near;    // something is
} carom_hull;

carom_status carom_skin_init(const carom_model *model, int solid, const carom_allocator *allocator, carom_skin *skin,
                             carom_error *error);
void carom_skin_release(carom_skin *skin, const carom_allocator *allocator);
// Facets to where the nodes (of all solids) are.
void carom_skin_place(carom_skin *skin, const carom_vec3 *nodes);
// Boxes to where they are, widened by how far nodes may get in h.
void carom_skin_fit(carom_skin *skin, const carom_state *state, double h);

carom_status carom_hull_init(const carom_model *model, int part, int body, const carom_allocator *allocator,
                             carom_hull *hull, carom_error *error);
void carom_hull_release(carom_hull *hull, const carom_allocator *allocator);
// To where its body is; boxes are widened by `reach`.
void carom_hull_fit(carom_hull *hull, const carom_model *model, const carom_state *state, double reach);

#endif
