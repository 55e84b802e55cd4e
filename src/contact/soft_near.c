// Which facets, nodes and parts may touch in a step. They come in an order that the boxes alone decide.
#include <math.h>

#include "base/memory.h"
#include "collide/broadphase_box.h"
#include "contact/soft.h"

typedef struct looking {
  carom_soft *s;
  int skin, other;  // skins, or a skin and a hull
  int facet;        // of a hull
  bool full;        // no memory
} looking;

static bool add(looking *l, carom_soft_kind kind, int a, int b) {
  carom_soft *s = l->s;
  if (!carom_grow(&s->arena.allocator, (void **)&s->near, s->near_count, &s->near_capacity, sizeof *s->near)) {
    l->full = true;
    return false;
  }
  s->near[s->near_count++] = (carom_soft_near){kind, l->skin, l->other, a, b};
  s->skins[l->skin].near = true;
  *(kind == CAROM_SOFT_SKINS ? &s->skins[l->other].near : &s->hulls[l->other].near) = true;
  return true;
}

// ---- skins ----------------------------------------------------------------------------------------------------------

static bool share_a_node(const int *p, const int *q) {
  for (int i = 0; i < 3; i++)
    if (p[i] == q[0] || p[i] == q[1] || p[i] == q[2]) return true;
  return false;
}

static bool look_at_facets(void *context, int a, int b) {
  looking *l = context;
  const carom_skin *p = &l->s->skins[l->skin], *q = &l->s->skins[l->other];
  if (p == q && share_a_node(p->triangles[a], p->triangles[b])) return true;
  return add(l, CAROM_SOFT_SKINS, a, b);
}

static void look_at_skins(looking *l) {
  const carom_skin *p = &l->s->skins[l->skin], *q = &l->s->skins[l->other];
  if (p == q && !l->s->model->solids[p->solid].self_contact) return;
  carom_box_tree_pairs(&p->tree, p->boxes, &q->tree, q->boxes, look_at_facets, l);
}

// ---- rigid parts ----------------------------------------------------------------------------------------------------

static bool look_at_hull_facet(void *context, int a) {
  looking *l = context;
  return add(l, CAROM_SOFT_HULL, a, l->facet);
}

// The nodes of a facet, each once for a hull; and the hull's lowest point under it.
static bool look_at_points(void *context, int a) {
  looking *l = context;
  const carom_skin *skin = &l->s->skins[l->skin];
  for (int k = 0; k < 3; k++) {
    int node = skin->node_start + skin->triangles[a][k];
    if (l->s->mark[node] == l->other + 1) continue;
    l->s->mark[node] = l->other + 1;
    if (!add(l, CAROM_SOFT_NODE, node, 0)) return false;
  }
  return isinf(l->s->hulls[l->other].deep) || add(l, CAROM_SOFT_POKE, a, 0);
}

static void look_at_hull(looking *l) {
  const carom_skin *skin = &l->s->skins[l->skin];
  const carom_hull *hull = &l->s->hulls[l->other];
  if (hull->count == 0) {
    carom_box_tree_query(&skin->tree, skin->boxes, &hull->box, look_at_points, l);
    return;
  }
  if (!carom_box_overlap(&hull->box, &skin->tree.nodes[0].box)) return;
  for (l->facet = 0; l->facet < hull->count && !l->full; l->facet++)
    carom_box_tree_query(&skin->tree, skin->boxes, &hull->boxes[l->facet], look_at_hull_facet, l);
}

// What holds a solid does not touch it.
static bool holds(const carom_model *m, int solid, int body) {
  const carom_solid *s = &m->solids[solid];
  for (int i = s->pin_start; i < s->pin_start + s->pin_count; i++)
    if (m->pins[i].body == body) return true;
  return false;
}

carom_status carom_soft_look_around(carom_soft *s, carom_error *error) {
  const carom_model *m = s->model;
  looking l = {.s = s};
  s->near_count = 0;
  if (m->ignores_contacts) return CAROM_OK;
  for (int i = 0; i < m->node_count; i++) s->mark[i] = 0;
  for (int i = 0; i < m->solid_count; i++) s->skins[i].near = false;
  for (int i = 0; i < m->part_count; i++) s->hulls[i].near = false;
  for (l.skin = 0; l.skin < m->solid_count && !l.full; l.skin++) {
    for (l.other = l.skin; l.other < m->solid_count && !l.full; l.other++) look_at_skins(&l);
    for (l.other = 0; l.other < m->part_count && !l.full; l.other++)
      if (!holds(m, l.skin, s->hulls[l.other].body)) look_at_hull(&l);
  }
  return l.full ? carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d near facets", s->near_count) : CAROM_OK;
}
