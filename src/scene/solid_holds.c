// What acts on parts of solids: pins and pressure, on nodes and triangles that a formula or a group selects.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/solid_reader.h"

// Which nodes and tetrahedra an item selects: those that are marked, or all.
typedef struct choice {
  bool by_place, by_group;
} choice;

// ---- groups --------------------------------------------------------------------------------------------------------

static const char *name_of_group(const carom_tets *mesh, int group) {
  for (int i = 0; i < mesh->name_count; i++)
    if (mesh->names[i].group == group) return mesh->names[i].name;
  return NULL;
}

static bool has_group(const carom_tets *mesh, int group) {
  for (int i = 0; mesh->groups && i < mesh->tet_count; i++)
    if (mesh->groups[i] == group) return true;
  return false;
}

// By its name, else by its number; 0: there is none.
static int find_group(const carom_tets *mesh, const carom_node *node) {
  for (int i = 0; i < mesh->name_count; i++)
    if (carom_node_is(node, mesh->names[i].name) && has_group(mesh, mesh->names[i].group)) return mesh->names[i].group;
  char *end;
  long number = strtol(node->text, &end, 10);
  return *end == '\0' && number > 0 && number <= INT32_MAX && has_group(mesh, (int)number) ? (int)number : 0;
}

// "'shell', 'core', 7", in the order of the tetrahedra.
static void list_groups(const carom_tets *mesh, char *text, size_t size) {
  enum { MOST = 20 };
  int told[MOST], count = 0;
  size_t n = 0;
  text[0] = '\0';
  for (int i = 0; mesh->groups && i < mesh->tet_count && count < MOST; i++) {
    int group = mesh->groups[i];
    bool known = group == 0;
    for (int k = 0; k < count; k++) known = known || told[k] == group;
    if (known) continue;
    const char *name = name_of_group(mesh, group);
    if (name)
      n += (size_t)snprintf(text + n, n < size ? size - n : 0, "%s'%.60s'", count ? ", " : "", name);
    else
      n += (size_t)snprintf(text + n, n < size ? size - n : 0, "%s%d", count ? ", " : "", group);
    told[count++] = group;
    if (n >= size) return;
  }
}

static bool mark_group(carom_reader *r, const carom_node *node, const carom_solid_place *solid) {
  const carom_tets *mesh = solid->mesh;
  const char *text = NULL;
  char groups[300], hint[340];
  if (!carom_read_text(r, node, &text)) return false;
  int group = find_group(mesh, node);
  if (group == 0) {
    list_groups(mesh, groups, sizeof groups);
    snprintf(hint, sizeof hint, groups[0] ? "there are %s" : "its tetrahedra are in no group; say 'where'", groups);
    return carom_report(&r->reporter, node->place, hint, "the mesh of %s has no group '%.80s' of tetrahedra",
                        solid->label, text);
  }
  for (int i = 0; i < mesh->tet_count; i++) solid->scratch.in_group[i] = mesh->groups[i] == group;
  return true;
}

// ---- places --------------------------------------------------------------------------------------------------------

static bool mark_places(carom_reader *r, const carom_node *node, const carom_solid_place *solid) {
  carom_formula *formula;
  if (!carom_read_place_formula(r, node, "where", &formula)) return false;
  for (int i = 0; i < solid->mesh->node_count; i++)
    solid->scratch.in_place[i] = carom_is_true(carom_place_formula_value(formula, solid->nodes[i]));
  carom_formula_destroy(formula);
  return true;
}

static bool choose(carom_reader *r, const carom_node *where, const carom_node *group, const carom_solid_place *solid,
                   choice *chosen) {
  *chosen = (choice){.by_place = where != NULL, .by_group = group != NULL};
  bool good = !where || mark_places(r, where, solid);
  return (!group || mark_group(r, group, solid)) && good;
}

static bool nothing_there(carom_reader *r, const carom_node *at, const carom_solid_place *solid, const char *what,
                          const char *has) {
  carom_vec3 low = solid->nodes[0], high = low;
  char hint[300];
  for (int i = 1; i < solid->mesh->node_count; i++) {
    carom_vec3 x = solid->nodes[i];
    low = cm_vec3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
    high = cm_vec3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
  }
  snprintf(hint, sizeof hint, "its nodes start within x %.6g to %.6g, y %.6g to %.6g, z %.6g to %.6g m", low.x, high.x,
           low.y, high.y, low.z, high.z);
  return carom_report(&r->reporter, at->place, hint, "no %s of %s %s there", what, solid->label, has);
}

// ---- pins ----------------------------------------------------------------------------------------------------------

// Nodes of the mesh, ascending, into the scratch; the count.
static int choose_nodes(const carom_solid_place *solid, choice chosen) {
  const carom_tets *mesh = solid->mesh;
  const carom_solid_scratch *s = &solid->scratch;
  int count = 0;
  for (int i = 0; i < mesh->node_count; i++) s->mark[i] = !chosen.by_group;
  for (int t = 0; t < mesh->tet_count && chosen.by_group; t++)
    for (int k = 0; k < 4 && s->in_group[t]; k++) s->mark[mesh->tets[t][k]] = true;
  for (int i = 0; i < mesh->node_count; i++)
    if (s->mark[i] && (!chosen.by_place || s->in_place[i])) s->nodes[count++] = i;
  return count;
}

static bool find_holder(carom_reader *r, const carom_node *node, int *body) {
  *body = CAROM_WORLD;
  if (!node || carom_node_is(node, "world")) return true;
  if (!carom_find_body(r, node, body)) return false;
  if (r->bodies[*body].fixed) return true;
  return carom_report(&r->reporter, node->place, "give it 'fixed: true', and a drive if it moves as you say",
                      "'%.80s' moves freely; pins hold on to the world and to fixed or driven bodies", node->text);
}

// Of `count` chosen nodes leaves out those that the same body holds already; -1 - node for one that another body holds.
static int leave_out_held(const carom_solid_scratch *s, int body, int count) {
  enum { NOBODY = 0 };
  int kept = 0, holder = body + 2;  // the world is -1
  for (int i = 0; i < count; i++) {
    int node = s->nodes[i];
    if (s->holders[node] != NOBODY && s->holders[node] != holder) return -1 - node;
    if (s->holders[node] == NOBODY) s->nodes[kept++] = node;
    s->holders[node] = holder;
  }
  return kept;
}

static bool two_holders(carom_reader *r, const carom_node *at, const carom_solid_place *solid, int node) {
  carom_vec3 x = solid->nodes[node];
  return carom_report(&r->reporter, at->place, "let the two select different nodes",
                      "the node of %s at (%.6g, %.6g, %.6g) m is pinned to something else already", solid->label, x.x,
                      x.y, x.z);
}

static bool read_pin(carom_reader *r, const carom_node *node, const carom_solid_place *solid) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[130];
  int body;
  choice chosen;
  snprintf(label, sizeof label, "pin of %s", solid->label);
  if (!carom_read_fields(r, node, CAROM_SECTION_PIN, label, f)) return false;
  const carom_node *where = f[KEY_PIN_WHERE], *group = f[KEY_PIN_GROUP];
  if (!where && !group)
    return carom_report(&r->reporter, node->place, NULL, "%s needs 'where', 'group' or both", label);
  bool good = find_holder(r, f[KEY_PIN_TO], &body);
  if (!choose(r, where, group, solid, &chosen) || !good) return false;
  int count = choose_nodes(solid, chosen);
  if (count == 0) return nothing_there(r, where ? where : group, solid, "node", "is");
  count = leave_out_held(&solid->scratch, body, count);
  if (count < 0) return two_holders(r, node, solid, -1 - count);
  if (solid->solid < 0 || !carom_reader_building(r)) return true;
  carom_builder_pin(r->builder, solid->solid, body, count, solid->scratch.nodes);
  carom_check_builder(r, node);
  return true;
}

bool carom_read_pins(carom_reader *r, const carom_node *list, const carom_solid_place *solid) {
  if (!list || carom_node_is_null(list)) return true;
  if (!carom_read_list(r, list, "pins {where:, group:, to:}")) return false;
  memset(solid->scratch.holders, 0, (size_t)solid->mesh->node_count * sizeof *solid->scratch.holders);
  bool good = true;
  for (const carom_node *c = list->first; c && !carom_reader_failed(r); c = c->next)
    good = read_pin(r, c, solid) && good;
  return good;
}

// ---- pressure ------------------------------------------------------------------------------------------------------

// With all its corners there, and in front of a tetrahedron of the group.
static bool has_triangle(const carom_solid_place *solid, int t, choice chosen) {
  const int *corners = solid->skin->triangles[t];
  const bool *there = solid->scratch.in_place;
  if (chosen.by_group && !solid->scratch.in_group[solid->skin->triangle_tets[t]]) return false;
  return !chosen.by_place || (there[corners[0]] && there[corners[1]] && there[corners[2]]);
}

static int choose_triangles(const carom_solid_place *solid, choice chosen) {
  int count = 0;
  for (int t = 0; t < solid->skin->triangle_count; t++)
    if (has_triangle(solid, t, chosen))
      memcpy(solid->scratch.triangles[count++], solid->skin->triangles[t], sizeof *solid->scratch.triangles);
  return count;
}

static bool read_pressure(carom_reader *r, const carom_node *node, const carom_solid_place *solid) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[130];
  choice chosen;
  carom_pressure_def def = carom_pressure_default();
  snprintf(label, sizeof label, "pressure on %s", solid->label);
  if (!carom_read_fields(r, node, CAROM_SECTION_PRESSURE, label, f)) return false;
  const carom_node *where = f[KEY_PRESSURE_WHERE], *group = f[KEY_PRESSURE_GROUP];
  bool good = carom_require(r, node, f[KEY_PRESSURE_VALUE], "value", label);
  good = carom_read_number(r, f[KEY_PRESSURE_VALUE], CAROM_PRESSURE, CAROM_ANY, &def.pressure) && good;
  good = carom_read_schedule(r, f[KEY_PRESSURE_SCHEDULE], &def.knots, &def.knot_count) && good;
  if (!choose(r, where, group, solid, &chosen) || !good) return false;
  def.solid = solid->solid;
  def.triangles = (const int(*)[3])solid->scratch.triangles;
  def.triangle_count = choose_triangles(solid, chosen);
  if (def.triangle_count == 0)
    return nothing_there(r, where ? where : group, solid, "triangle of the surface", "has all its corners");
  if (def.solid >= 0 && carom_reader_building(r) && carom_builder_add_pressure(r->builder, &def) < 0)
    carom_check_builder(r, node);
  return true;
}

bool carom_read_pressures(carom_reader *r, const carom_node *list, const carom_solid_place *solid) {
  bool good = true;
  if (!list || carom_node_is_null(list)) return true;
  if (!carom_read_list(r, list, "pressures {where:, group:, value:, schedule:}")) return false;
  for (const carom_node *c = list->first; c && !carom_reader_failed(r); c = c->next)
    good = read_pressure(r, c, solid) && good;
  return good;
}
