// The skin of a mesh: faces that only one tetrahedron has, their nodes and edges, and the pieces.
#include "base/groups.h"
#include "base/memory.h"
#include "geometry/tets.h"

static carom_allocator skin_allocator(const carom_allocator *given) {
  return given->allocate ? *given : carom_allocator_default();
}

// ---- edges --------------------------------------------------------------------------------------

typedef struct pairs {
  int count;
  int *low, *high, *order, *other, *slot;  // (count), slot (node_count + 1)
} pairs;

static bool pairs_create(pairs *p, int count, int node_count, const carom_allocator *a) {
  *p = (pairs){.count = count};
  return CAROM_NEW_ALL(a, CAROM_ROOM(p->low, count), CAROM_ROOM(p->high, count), CAROM_ROOM(p->order, count),
                       CAROM_ROOM(p->other, count), CAROM_ROOM(p->slot, (size_t)node_count + 1));
}

static void pairs_destroy(pairs *p, const carom_allocator *a) {
  CAROM_RELEASE_ALL(a, p->low, p->high, p->order, p->other, p->slot);
}

static void pairs_set(pairs *p, int i, int a, int b) {
  p->low[i] = a < b ? a : b;
  p->high[i] = a < b ? b : a;
  p->order[i] = i;
}

// Each pair once, ascending; null when out of memory.
static int (*pairs_unique(pairs *p, int node_count, const carom_allocator *a, int *kept))[2] {
  carom_sort_by(p->high, node_count, p->order, p->other, p->count, p->slot);
  carom_sort_by(p->low, node_count, p->other, p->order, p->count, p->slot);
  *kept = 0;
  for (int i = 0; i < p->count; i++) {
    int at = p->order[i], last = *kept > 0 ? p->other[*kept - 1] : -1;
    if (last < 0 || p->low[last] != p->low[at] || p->high[last] != p->high[at]) p->other[(*kept)++] = at;
  }
  int(*edges)[2] = carom_allocate(a, (size_t)*kept, sizeof *edges);
  for (int i = 0; edges && i < *kept; i++) {
    edges[i][0] = p->low[p->other[i]];
    edges[i][1] = p->high[p->other[i]];
  }
  return edges;
}

carom_status carom_tets_edges_init(const carom_tets *tets, const carom_allocator *allocator, carom_tets_edges *edges,
                                   carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  pairs p;
  int(*nodes)[2] = NULL, count = 0;
  if (tets->tet_count > CAROM_TETS_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "more than %d tetrahedra", CAROM_TETS_MAX);
  if (pairs_create(&p, 6 * tets->tet_count, tets->node_count, &a)) {
    for (int t = 0; t < tets->tet_count; t++)
      for (int e = 0; e < 6; e++)
        pairs_set(&p, 6 * t + e, tets->tets[t][carom_tet_edge[e][0]], tets->tets[t][carom_tet_edge[e][1]]);
    nodes = pairs_unique(&p, tets->node_count, &a, &count);
  }
  pairs_destroy(&p, &a);
  if (!nodes)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the edges of %d tetrahedra", tets->tet_count);
  *edges = (carom_tets_edges){count, nodes, a};
  return CAROM_OK;
}

void carom_tets_edges_release(carom_tets_edges *edges) {
  if (!edges) return;
  carom_allocator a = skin_allocator(&edges->allocator);
  carom_release(&a, edges->nodes);
  *edges = (carom_tets_edges){0};
}

// ---- triangles ----------------------------------------------------------------------------------

// Marks the faces that stand alone; returns how many.
static int mark_alone(const carom_tet_faces *faces, bool *alone) {
  int count = 0;
  for (int i = 0, end; i < faces->count; i = end) {
    end = carom_tet_faces_run(faces, i);
    alone[faces->order[i]] = end == i + 1;
    count += end == i + 1;
  }
  return count;
}

static bool add_triangles(const carom_tets *m, const bool *alone, carom_tets_skin *s) {
  const carom_allocator *a = &s->allocator;
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(s->triangles, s->triangle_count), CAROM_ROOM(s->triangle_tets, s->triangle_count),
                     CAROM_ROOM(s->tets, s->triangle_count)))
    return false;
  int at = 0;
  for (int f = 0; f < 4 * m->tet_count; f++) {
    if (!alone[f]) continue;
    for (int k = 0; k < 3; k++) s->triangles[at][k] = m->tets[f / 4][carom_tet_face[f % 4][k]];
    s->triangle_tets[at++] = f / 4;
    if (s->tet_count == 0 || s->tets[s->tet_count - 1] != f / 4) s->tets[s->tet_count++] = f / 4;
  }
  return true;
}

static bool find_triangles(const carom_tets *m, carom_tets_skin *s) {
  carom_tet_faces faces;
  bool *alone = CAROM_NEW(&s->allocator, bool, 4 * (size_t)m->tet_count);
  bool ready = alone && carom_tet_faces_create(m, &s->allocator, &faces);
  if (ready) {
    s->triangle_count = mark_alone(&faces, alone);
    carom_tet_faces_destroy(&faces, &s->allocator);
    ready = add_triangles(m, alone, s);
  }
  carom_release(&s->allocator, alone);
  return ready;
}

static bool find_edges(const carom_tets *m, carom_tets_skin *s) {
  pairs p;
  bool ready = pairs_create(&p, 3 * s->triangle_count, m->node_count, &s->allocator);
  if (ready) {
    for (int i = 0; i < p.count; i++) pairs_set(&p, i, s->triangles[i / 3][i % 3], s->triangles[i / 3][(i + 1) % 3]);
    s->edges = pairs_unique(&p, m->node_count, &s->allocator, &s->edge_count);
    ready = s->edges != NULL;
  }
  pairs_destroy(&p, &s->allocator);
  return ready;
}

// ---- nodes --------------------------------------------------------------------------------------

// place (nodes of the mesh): where each node stands among those at the surface, or -1.
static void number_nodes(const carom_tets *m, carom_tets_skin *s, int *place) {
  for (int i = 0; i < m->node_count; i++) place[i] = -1;
  for (int t = 0; t < s->triangle_count; t++)
    for (int k = 0; k < 3; k++) place[s->triangles[t][k]] = 0;
  for (int i = 0; i < m->node_count; i++)
    if (place[i] == 0) place[i] = s->node_count++;
}

static void share_areas(const carom_tets *m, carom_tets_skin *s, const int *place) {
  for (int i = 0; i < m->node_count; i++)
    if (place[i] >= 0) s->nodes[place[i]] = i;
  for (int t = 0; t < s->triangle_count; t++) {
    double area = cm_norm(carom_newell(m->nodes, s->triangles[t], 3)) / 2;
    for (int k = 0; k < 3; k++) s->areas[place[s->triangles[t][k]]] += area / 3;
  }
}

static bool find_nodes(const carom_tets *m, carom_tets_skin *s) {
  int *place = CAROM_NEW(&s->allocator, int, m->node_count);
  bool ready = place != NULL;
  if (ready) {
    number_nodes(m, s, place);
    ready = CAROM_NEW_ALL(&s->allocator, CAROM_ROOM(s->nodes, s->node_count), CAROM_ROOM(s->areas, s->node_count));
  }
  if (ready) share_areas(m, s, place);
  carom_release(&s->allocator, place);
  return ready;
}

// ---- pieces -------------------------------------------------------------------------------------

// The root of a group is its lowest node, so roots come before what is in their groups.
static bool find_components(const carom_tets *m, carom_tets_skin *s) {
  int *parent = CAROM_NEW(&s->allocator, int, m->node_count);
  s->components = parent ? CAROM_NEW(&s->allocator, int, m->node_count) : NULL;
  if (s->components) {
    for (int i = 0; i < m->node_count; i++) parent[i] = i;
    for (int t = 0; t < m->tet_count; t++)
      for (int k = 1; k < 4; k++) carom_group_unite(parent, m->tets[t][0], m->tets[t][k]);
    for (int i = 0; i < m->node_count; i++) {
      int root = carom_group_root(parent, i);
      s->components[i] = root == i ? s->component_count++ : s->components[root];
    }
  }
  carom_release(&s->allocator, parent);
  return s->components != NULL;
}

// ---- the skin -----------------------------------------------------------------------------------

carom_status carom_tets_skin_init(const carom_tets *tets, const carom_allocator *allocator, carom_tets_skin *skin,
                                  carom_error *error) {
  carom_tets_skin s = {.allocator = carom_allocator_or_default(allocator)};
  if (find_triangles(tets, &s) && find_edges(tets, &s) && find_nodes(tets, &s) && find_components(tets, &s)) {
    *skin = s;
    return CAROM_OK;
  }
  carom_tets_skin_release(&s);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the skin of %d tetrahedra", tets->tet_count);
}

void carom_tets_skin_release(carom_tets_skin *skin) {
  if (!skin) return;
  carom_allocator a = skin_allocator(&skin->allocator);
  CAROM_RELEASE_ALL(&a, skin->triangles, skin->triangle_tets, skin->nodes, skin->areas, skin->tets, skin->edges,
                    skin->components);
  *skin = (carom_tets_skin){0};
}
