// From what was collected to a sound mesh: every way in goes through here.
#include <math.h>

#include "base/memory.h"
#include "geometry/shape.h"
#include "geometry/tets.h"
#include "geometry/weld.h"

#define EPSILON 0x1p-52

// ---- nodes --------------------------------------------------------------------------------------

static carom_status scale_nodes(carom_tet_soup *soup, double scale, carom_error *error) {
  for (int i = 0; i < soup->node_count; i++) {
    carom_tet_node *n = &soup->nodes[i];
    n->at = cm_scale(scale, n->at);
    if (carom_find_bad_point(&n->at, 1) >= 0)
      return carom_fail(error, CAROM_ERR_NUMBER,
                        "%snode %lld is at (%g, %g, %g) after scaling by %g; expected finite coordinates below %g m",
                        carom_node_place(soup, n).text, (long long)n->tag, n->at.x, n->at.y, n->at.z, scale,
                        CAROM_LENGTH_MAX);
  }
  return CAROM_OK;
}

// Renumbers what is used; number (node_count) is zeroed and becomes the new number of each node.
static void drop_loose(carom_tet_soup *soup, int *number) {
  int kept = 0;
  for (int t = 0; t < soup->tet_count; t++)
    for (int k = 0; k < 4; k++) number[soup->tets[t].v[k]] = 1;
  for (int i = 0; i < soup->node_count; i++) {
    if (!number[i]) continue;
    soup->nodes[kept] = soup->nodes[i];
    number[i] = kept++;
  }
  for (int t = 0; t < soup->tet_count; t++)
    for (int k = 0; k < 4; k++) soup->tets[t].v[k] = number[soup->tets[t].v[k]];
  soup->node_count = kept;
}

static carom_status refuse_loose(const carom_tet_soup *soup, int *number, carom_error *error) {
  int first = -1, count = 0;
  for (int t = 0; t < soup->tet_count; t++)
    for (int k = 0; k < 4; k++) number[soup->tets[t].v[k]] = 1;
  for (int i = soup->node_count - 1; i >= 0; i--)
    if (!number[i]) first = i, count++;
  if (count == 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_GEOMETRY,
                    "%snode %lld belongs to no tetrahedron (%d of %d do not); remove it, or ask for such nodes to be "
                    "left out (drop_loose)",
                    carom_node_place(soup, &soup->nodes[first]).text, (long long)soup->nodes[first].tag, count,
                    soup->node_count);
}

static carom_status check_loose(carom_tet_soup *soup, bool drop, carom_error *error) {
  int *number = CAROM_NEW(&soup->allocator, int, soup->node_count);
  if (!number) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d nodes", soup->node_count);
  carom_status status = CAROM_OK;
  if (drop)
    drop_loose(soup, number);
  else
    status = refuse_loose(soup, number, error);
  carom_release(&soup->allocator, number);
  return status;
}

// ---- volumes ------------------------------------------------------------------------------------

typedef struct signs {
  int negative, first_negative, flat;  // flat: the first, or -1
  double volume_of_first;
} signs;

// -1, 0 or 1. Rounding of the coordinates and of the products leaves this much of a determinant unknown.
static int sign_of(const carom_tet_soup *soup, const carom_tet *tet, double *determinant) {
  carom_vec3 p[4];
  double longest = 0, largest = 0;
  for (int k = 0; k < 4; k++) p[k] = soup->nodes[tet->v[k]].at;
  for (int e = 0; e < 6; e++)
    longest = fmax(longest, cm_norm(cm_sub(p[carom_tet_edge[e][1]], p[carom_tet_edge[e][0]])));
  for (int k = 0; k < 4; k++) largest = fmax(largest, fmax(fabs(p[k].x), fmax(fabs(p[k].y), fabs(p[k].z))));
  double unknown = 4 * EPSILON * longest * longest * fmax(longest, largest);
  *determinant = carom_tet_determinant(p[0], p[1], p[2], p[3]);
  return fabs(*determinant) > unknown ? (*determinant > 0 ? 1 : -1) : 0;
}

static signs find_signs(const carom_tet_soup *soup) {
  signs s = {.flat = -1, .first_negative = -1};
  for (int t = 0; t < soup->tet_count; t++) {
    double determinant;
    int sign = sign_of(soup, &soup->tets[t], &determinant);
    if (sign == 0 && s.flat < 0) s.flat = t;
    if (sign < 0 && s.negative++ == 0) s.first_negative = t, s.volume_of_first = determinant / 6;
  }
  return s;
}

static carom_status refuse_flat(const carom_tet_soup *soup, const carom_tet *tet, carom_error *error) {
  for (int e = 0; e < 6; e++) {
    int a = tet->v[carom_tet_edge[e][0]], b = tet->v[carom_tet_edge[e][1]];
    if (a == b)
      return carom_fail(error, CAROM_ERR_GEOMETRY, "%stetrahedron %lld has node %lld twice; remove it, or correct it",
                        carom_tet_place(soup, tet->line).text, (long long)tet->tag, (long long)soup->nodes[a].tag);
  }
  return carom_fail(
      error, CAROM_ERR_GEOMETRY,
      "%stetrahedron %lld is flat: its nodes lie in one plane; remove it, or mesh again with better shapes",
      carom_tet_place(soup, tet->line).text, (long long)tet->tag);
}

static void turn_round(carom_tet_soup *soup) {
  for (int t = 0; t < soup->tet_count; t++) {
    int *v = soup->tets[t].v, third = v[2];
    v[2] = v[3];
    v[3] = third;
  }
}

static carom_status check_volumes(carom_tet_soup *soup, carom_error *error) {
  signs s = find_signs(soup);
  if (s.flat >= 0) return refuse_flat(soup, &soup->tets[s.flat], error);
  if (s.negative > 0 && s.negative < soup->tet_count) {
    const carom_tet *tet = &soup->tets[s.first_negative];
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "%stetrahedron %lld has a negative volume (%.3g m3), as have %d of %d; swap two corners of each, "
                      "or mesh again if they are folded over",
                      carom_tet_place(soup, tet->line).text, (long long)tet->tag, s.volume_of_first, s.negative,
                      soup->tet_count);
  }
  if (s.negative > 0) turn_round(soup);
  return CAROM_OK;
}

// ---- faces --------------------------------------------------------------------------------------

static bool same_corners(const int *a, const int *b) {
  for (int i = 0; i < 4; i++) {
    bool found = false;
    for (int j = 0; j < 4; j++) found = found || a[i] == b[j];
    if (!found) return false;
  }
  return true;
}

// Whether a face, seen from outside, runs through its nodes in an even permutation of ascending order.
static bool runs_up(const carom_tets *tets, int face) {
  const int *tet = tets->tets[face / 4], *c = carom_tet_face[face % 4];
  return ((tet[c[0]] < tet[c[1]]) + (tet[c[1]] < tet[c[2]]) + (tet[c[2]] < tet[c[0]])) == 2;
}

// Faces order[i .. end-1] are equal, and that is not as it should be.
static carom_status refuse_face(const carom_tet_soup *soup, const carom_tet_faces *faces, int i, int end,
                                carom_error *error) {
  int f = faces->order[i];
  const carom_tet *a = &soup->tets[f / 4], *b = &soup->tets[faces->order[i + 1] / 4];
  carom_place place = carom_tet_place(soup, b->line);
  if (same_corners(a->v, b->v))
    return carom_fail(error, CAROM_ERR_GEOMETRY, "%stetrahedron %lld has the same nodes as tetrahedron %lld; remove it",
                      place.text, (long long)b->tag, (long long)a->tag);
  const carom_tet_node *n[3];
  for (int k = 0; k < 3; k++) n[k] = &soup->nodes[faces->nodes[k][f]];
  if (end - i > 2)
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "%s%d tetrahedra share the face of nodes %lld, %lld, %lld, among them %lld and %lld; expected at "
                      "most two: the mesh overlaps itself, mesh again",
                      place.text, end - i, (long long)n[0]->tag, (long long)n[1]->tag, (long long)n[2]->tag,
                      (long long)a->tag, (long long)b->tag);
  return carom_fail(error, CAROM_ERR_GEOMETRY,
                    "%stetrahedra %lld and %lld lie on the same side of the face of nodes %lld, %lld, %lld that they "
                    "share: the mesh overlaps itself, mesh again",
                    place.text, (long long)a->tag, (long long)b->tag, (long long)n[0]->tag, (long long)n[1]->tag,
                    (long long)n[2]->tag);
}

// `tets` has the tetrahedra of the soup in its order.
static carom_status check_faces(const carom_tet_soup *soup, const carom_tets *tets, carom_error *error) {
  carom_tet_faces faces;
  if (!carom_tet_faces_create(tets, &soup->allocator, &faces))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the faces of %d tetrahedra", tets->tet_count);
  carom_status status = CAROM_OK;
  for (int i = 0, end; i < faces.count && !status; i = end) {
    end = carom_tet_faces_run(&faces, i);
    bool fine = end - i == 1 || (end - i == 2 && runs_up(tets, faces.order[i]) != runs_up(tets, faces.order[i + 1]));
    if (!fine) status = refuse_face(soup, &faces, i, end, error);
  }
  carom_tet_faces_destroy(&faces, &soup->allocator);
  return status;
}

// ---- handing over -------------------------------------------------------------------------------

static bool has_groups(const carom_tet_soup *soup) {
  for (int t = 0; t < soup->tet_count; t++)
    if (soup->tets[t].group != 0) return true;
  return false;
}

static carom_status copy_arrays(carom_tet_soup *soup, carom_tets *tets, carom_error *error) {
  const carom_allocator *a = &soup->allocator;
  bool groups = has_groups(soup);
  *tets = (carom_tets){.node_count = soup->node_count, .tet_count = soup->tet_count, .allocator = *a};
  bool ready = CAROM_NEW_ALL(a, CAROM_ROOM(tets->nodes, soup->node_count), CAROM_ROOM(tets->tets, soup->tet_count));
  if (ready && groups) ready = CAROM_NEW_ALL(a, CAROM_ROOM(tets->groups, soup->tet_count));
  if (!ready) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d tetrahedra", soup->tet_count);
  for (int i = 0; i < soup->node_count; i++) tets->nodes[i] = soup->nodes[i].at;
  for (int t = 0; t < soup->tet_count; t++) {
    for (int k = 0; k < 4; k++) tets->tets[t][k] = soup->tets[t].v[k];
    if (groups) tets->groups[t] = soup->tets[t].group;
  }
  return CAROM_OK;
}

static void hand_over_names(carom_tet_soup *soup, carom_tets *tets) {
  tets->name_count = soup->name_count;
  tets->names = soup->names;
  soup->name_count = 0;
  soup->names = NULL;
}

static carom_status check_any(const carom_tet_soup *soup, carom_error *error) {
  if (soup->tet_count > 0) return CAROM_OK;
  carom_place place = carom_tet_place(soup, 0);
  if (soup->passed_over > 0)
    return carom_fail(error, CAROM_ERR_FORMAT,
                      "%sno tetrahedra, only %lld elements without a volume; mesh the inside too (gmsh -3, tetgen -p)",
                      place.text, (long long)soup->passed_over);
  return carom_fail(error, soup->name ? CAROM_ERR_FORMAT : CAROM_ERR_ARGUMENT, "%sa mesh without tetrahedra",
                    place.text);
}

carom_status carom_tet_soup_finish(carom_tet_soup *soup, const carom_tets_options *options, carom_tets *tets,
                                   carom_error *error) {
  carom_tets made = {0};
  carom_status status = check_any(soup, error);
  if (!status) status = scale_nodes(soup, options->scale, error);
  if (!status) status = check_volumes(soup, error);
  if (!status) status = check_loose(soup, options->drop_loose, error);
  if (!status) status = copy_arrays(soup, &made, error);
  if (!status) status = check_faces(soup, &made, error);
  if (!status) hand_over_names(soup, &made);
  carom_tet_soup_release(soup);
  if (status)
    carom_tets_release(&made);
  else
    *tets = made;
  return status;
}
