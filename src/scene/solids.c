// Solids that deform: one entry of the list may stand for many copies.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/solid_reader.h"

// One entry of the list while it is read.
typedef struct entry {
  const carom_node *node;
  const carom_node *f[CAROM_MOST_KEYS];  // with defaults filled in
  bool own[CAROM_MOST_KEYS];             // not from the defaults
  const char *label;                     // "solid 'cube'"
  const char *name;
  carom_array array;
  carom_tets mesh;  // of the copy at hand
  carom_tets_skin skin;
  bool mesh_varies;        // from copy to copy
  carom_vec3 *nodes;       // (mesh.node_count) in the world
  carom_vec3 *velocities;  // (mesh.node_count) what formulas give
  carom_solid_scratch scratch;
} entry;

// ---- defaults ------------------------------------------------------------------------------------------------------

static void fill_defaults(const carom_reader *r, entry *e) {
  static const int pairs[][2] = {{KEY_SOLID_YOUNG, KEY_SOLID_LAMBDA},
                                 {KEY_SOLID_YOUNG, KEY_SOLID_MU},
                                 {KEY_SOLID_POISSON, KEY_SOLID_LAMBDA},
                                 {KEY_SOLID_POISSON, KEY_SOLID_MU},
                                 {KEY_SOLID_ANGULAR_VELOCITY, KEY_SOLID_ANGULAR_VELOCITY_BODY}};
  carom_fill_defaults(&(carom_defaults){KEYS_IN_SOLID, r->solid_defaults, pairs, 5}, e->f, e->own);
}

// ---- names ---------------------------------------------------------------------------------------------------------

static bool check_new_name(carom_reader *r, const entry *e, const char *name) {
  const carom_node *at = e->f[KEY_SOLID_NAME] ? e->f[KEY_SOLID_NAME] : e->node;
  int solid = carom_names_find(&r->solid_names, name), body = carom_names_find(&r->body_names, name);
  if (solid >= 0) return carom_two_of_a_name(r, at, r->solids[solid], "two solids", name);
  return body < 0 || carom_two_of_a_name(r, at, r->bodies[body].node, "a body and a solid", name);
}

static bool add_record(carom_reader *r, const entry *e, const char *name) {
  bool is_new = check_new_name(r, e, name);
  void *solids = (void *)r->solids;
  if (!carom_pool_grow(&r->pool, &solids, r->solid_count, &r->solid_capacity, sizeof *r->solids)) return false;
  r->solids = solids;
  r->solids[r->solid_count] = e->node;
  if (carom_names_add(&r->solid_names, name, r->solid_count++)) return is_new;
  r->pool.failed = true;
  return false;
}

// Before any copy is read, as those of bodies.
static bool register_names(carom_reader *r, const entry *e) {
  for (int n = 0; n < (int)e->array.count; n++) {
    const char *name = carom_copy_name(r, &e->array, e->name, n);
    if (!name || !add_record(r, e, name)) return false;
  }
  return true;
}

// ---- the mesh ------------------------------------------------------------------------------------------------------

static void release_mesh(carom_reader *r, entry *e) {
  carom_solid_scratch *s = &e->scratch;
  carom_tets_release(&e->mesh);
  carom_tets_skin_release(&e->skin);
  CAROM_RELEASE_ALL(&r->allocator, e->nodes, e->velocities, s->in_place, s->mark, s->in_group, s->nodes, s->holders,
                    s->triangles);
  e->nodes = e->velocities = NULL;
  *s = (carom_solid_scratch){0};
}

static bool make_room(carom_reader *r, entry *e) {
  carom_solid_scratch *s = &e->scratch;
  int nodes = e->mesh.node_count;
  carom_error error;
  return carom_tets_skin_init(&e->mesh, &r->allocator, &e->skin, &error) == CAROM_OK &&
         CAROM_NEW_ALL(&r->allocator, CAROM_ROOM(e->nodes, nodes), CAROM_ROOM(e->velocities, nodes),
                       CAROM_ROOM(s->in_place, nodes), CAROM_ROOM(s->mark, nodes),
                       CAROM_ROOM(s->in_group, e->mesh.tet_count), CAROM_ROOM(s->nodes, nodes),
                       CAROM_ROOM(s->holders, nodes), CAROM_ROOM(s->triangles, e->skin.triangle_count));
}

// A mesh that is there already stays.
static bool read_mesh(carom_reader *r, entry *e) {
  const carom_node *node = e->f[KEY_SOLID_MESH];
  if (e->mesh.node_count > 0 && !e->mesh_varies) return true;
  release_mesh(r, e);
  if (!carom_require(r, e->node, node, "mesh", e->label)) return false;
  r->indices.used = false;
  if (!carom_read_tets(r, node, &e->mesh)) return false;
  e->mesh_varies = r->indices.used;
  if (make_room(r, e)) return true;
  r->pool.failed = true;
  return false;
}

// ---- matter --------------------------------------------------------------------------------------------------------

static const carom_node *first_of(const carom_node *a, const carom_node *b) { return a ? a : b; }

// A solid's own words, then the defaults', then its material's; of the two ways to name the constants that which
// comes first.
static carom_matter_nodes matter_of(const entry *e, const carom_matter_nodes *material) {
  const carom_node *const *f = e->f;
  carom_matter_nodes own = {f[KEY_SOLID_YOUNG],
                            f[KEY_SOLID_POISSON],
                            f[KEY_SOLID_LAMBDA],
                            f[KEY_SOLID_MU],
                            f[KEY_SOLID_DAMPING],
                            f[KEY_SOLID_LAW],
                            false},
                     all = own;
  if (!own.lambda && !own.mu)
    all.young = first_of(own.young, material->young), all.poisson = first_of(own.poisson, material->poisson);
  if (!own.young && !own.poisson)
    all.lambda = first_of(own.lambda, material->lambda), all.mu = first_of(own.mu, material->mu);
  all.damping = first_of(own.damping, material->damping), all.law = first_of(own.law, material->law);
  return all;
}

static bool check_matter(carom_reader *r, const entry *e, const carom_matter_nodes *m) {
  if ((m->young && m->poisson) || (m->lambda && m->mu)) return true;
  const char *missing = m->young ? "'poisson'" : m->poisson ? "'young'" : m->lambda ? "'mu'" : "'lambda'";
  const char *hint = "they stand in the solid, its material, or the defaults of solids";
  if (m->young || m->poisson || m->lambda || m->mu)
    return carom_report(&r->reporter, e->node->place, hint,
                        "missing key %s in %s: 'young' goes with 'poisson', 'lambda' with 'mu'", missing, e->label);
  return carom_report(&r->reporter, e->node->place, hint, "%s needs 'young' and 'poisson', or 'lambda' and 'mu'",
                      e->label);
}

static bool read_matter(carom_reader *r, const entry *e, carom_solid_def *def) {
  bool good = carom_read_material_name(r, e->f[KEY_SOLID_MATERIAL], &def->material);
  carom_matter_nodes none = {0}, *material = def->material < r->matter_count ? &r->matter[def->material] : &none;
  if (material->bad) return false;
  carom_matter_nodes m = matter_of(e, material);
  if (r->doomed) def->material = 0;
  good = carom_read_number(r, e->f[KEY_SOLID_DENSITY], CAROM_DENSITY, CAROM_POSITIVE, &def->density) && good;
  return carom_read_matter(r, &m, e->label, def) && good && check_matter(r, e, &m);
}

// ---- motion --------------------------------------------------------------------------------------------------------

static double *component(carom_vec3 *v, int k) { return k == 0 ? &v->x : k == 1 ? &v->y : &v->z; }

static bool evaluate(carom_reader *r, const carom_node *node, const entry *e, const carom_formula *formula, int k) {
  for (int i = 0; i < e->mesh.node_count; i++) {
    carom_vec3 x = e->nodes[i];
    double v = carom_place_formula_value(formula, x);
    *component(&e->velocities[i], k) = v;
    if (!isfinite(v))
      return carom_report(&r->reporter, node->place, NULL, "'velocity' is not finite at (%.6g, %.6g, %.6g) m", x.x, x.y,
                          x.z);
  }
  return true;
}

// A number, or a formula in the place of the node.
static bool read_velocity_component(carom_reader *r, const carom_node *node, const entry *e, int k,
                                    carom_solid_def *def) {
  carom_formula *formula;
  if (!carom_read_place_formula(r, node, "velocity", &formula)) return false;
  bool good = true;
  if (formula->slot_count == 0) {
    good = carom_read_item(r, node, "velocity", CAROM_VELOCITY, CAROM_ANY, component(&def->velocity, k));
  } else if (e->mesh.node_count > 0) {
    good = evaluate(r, node, e, formula, k);
    def->velocities = e->velocities;
  }
  carom_formula_destroy(formula);
  return good;
}

static bool read_velocity(carom_reader *r, const carom_node *node, const entry *e, carom_solid_def *def) {
  if (!node) return true;
  if (node->kind != CAROM_NODE_LIST || node->count != 3)
    return carom_refuse(r, node, NULL,
                        "'velocity' of a solid expects a list of three numbers, or formulas in x, y and z");
  if (e->mesh.node_count > 0) memset(e->velocities, 0, (size_t)e->mesh.node_count * sizeof *e->velocities);
  bool good = true;
  int k = 0;
  for (const carom_node *c = node->first; c; c = c->next) good = read_velocity_component(r, c, e, k++, def) && good;
  return good;
}

static bool read_motion(carom_reader *r, const entry *e, carom_solid_def *def) {
  const carom_node *spin = e->f[KEY_SOLID_ANGULAR_VELOCITY], *own_spin = e->f[KEY_SOLID_ANGULAR_VELOCITY_BODY];
  carom_vec3 w = cm_zero3();
  bool good = true;
  if (e->own[KEY_SOLID_ANGULAR_VELOCITY] && e->own[KEY_SOLID_ANGULAR_VELOCITY_BODY])
    good = carom_exclusive(r, spin, own_spin, "angular_velocity and angular_velocity_body", e->label);
  good = carom_read_vector(r, spin ? spin : own_spin, CAROM_ANGULAR_VELOCITY, &w) && good;
  def->angular_velocity = spin ? w : cm_rotate(def->pose.q, w);
  return read_velocity(r, e->f[KEY_SOLID_VELOCITY], e, def) && good;
}

// ---- one copy ------------------------------------------------------------------------------------------------------

static void place_nodes(entry *e, carom_pose pose) {
  for (int i = 0; i < e->mesh.node_count; i++) e->nodes[i] = cm_transform(pose, e->mesh.nodes[i]);
}

static bool read_definition(carom_reader *r, entry *e, int n, carom_solid_def *def) {
  bool good = carom_read_copy_pose(r, e->f[KEY_SOLID_POSITION], e->f[KEY_SOLID_ROTATION], &e->array, n, &def->pose);
  good = read_mesh(r, e) && good;
  place_nodes(e, def->pose);
  def->mesh = &e->mesh;
  good = read_matter(r, e, def) && good;
  good = read_motion(r, e, def) && good;
  good = carom_read_bool(r, e->f[KEY_SOLID_SELF_CONTACT], &def->self_contact) && good;
  return carom_read_color(r, e->f[KEY_SOLID_COLOR], &def->color) && good;
}

static bool read_copy(carom_reader *r, entry *e, int n) {
  carom_solid_def def = carom_solid_default();
  carom_array_set_indices(r, &e->array, n);
  def.name = carom_copy_name(r, &e->array, e->name, n);
  if (!def.name) return false;
  bool good = read_definition(r, e, n, &def) && carom_tets_in_budget(r, e->node, e->mesh.tet_count);
  int solid = -1;
  if (good) {
    r->tets_left -= e->mesh.tet_count;
    solid = carom_builder_add_solid(r->builder, &def);
    if (solid < 0) carom_check_builder(r, e->node);
  }
  if (e->mesh.node_count == 0) return false;
  const carom_solid_place place = {e->label, &e->mesh, &e->skin, e->nodes, e->scratch, solid};
  good = carom_read_pins(r, e->f[KEY_SOLID_PINNED], &place) && good;
  return carom_read_pressures(r, e->f[KEY_SOLID_PRESSURE], &place) && good && solid >= 0;
}

// ---- one entry -----------------------------------------------------------------------------------------------------

// The radius about the origin of the solid's frame that holds all nodes.
static double reach(const entry *e) {
  double radius = 0;
  for (int i = 0; i < e->mesh.node_count; i++) radius = fmax(radius, cm_norm(e->mesh.nodes[i]));
  return radius;
}

static bool place_cloud(carom_reader *r, entry *e) {
  int count = (int)e->array.count;
  carom_cloud_sphere *solids = CAROM_POOL_ARRAY(&r->pool, carom_cloud_sphere, count);
  if (!solids) return false;
  for (int n = 0; n < count && !carom_reader_failed(r); n++) {
    carom_array_set_indices(r, &e->array, n);
    if (!read_mesh(r, e) || !carom_read_vector(r, e->f[KEY_SOLID_POSITION], CAROM_LENGTH, &solids[n].center))
      return false;
    solids[n].radius = reach(e);
  }
  return carom_place_cloud(r, &e->array, solids);
}

static void read_copies(carom_reader *r, entry *e) {
  if (e->array.kind == CAROM_CLOUD && !place_cloud(r, e)) {
    if (!carom_reader_failed(r)) read_copy(r, e, 0);  // for its other mistakes
    return;
  }
  // One copy in error is enough: the others have the same mistake.
  for (int n = 0; n < (int)e->array.count && !carom_reader_failed(r); n++)
    if (!carom_may_go_on(r, e->node, &e->array, n) || !read_copy(r, e, n)) return;
}

// False when reading on makes no sense: too many solids.
static bool read_entry(carom_reader *r, const carom_node *node, int number) {
  carom_entry_name name = {.what = "solid", .number = number, .fallback = r->solid_count, .name = ""};
  bool named = carom_read_entry_name(r, node, &name);
  entry e = {.node = node, .name = name.name, .label = name.label};
  if (!carom_read_fields(r, node, CAROM_SECTION_SOLID, e.label, e.f)) return true;
  fill_defaults(r, &e);
  r->indices.active = false;
  bool good = carom_read_array(r, e.f[KEY_SOLID_REPLICATE], &e.array);
  if (good && !carom_check_copy_count(r, node, &e.array, r->solid_count, "solids")) return false;
  if (!good) e.array = (carom_array){.kind = CAROM_ONCE, .n = {1, 1, 1}, .count = 1};
  good = named && register_names(r, &e) && good;
  // With a broken array or name the rest is still read once, for its own mistakes.
  if (good)
    read_copies(r, &e);
  else if (named && !carom_reader_failed(r))
    read_copy(r, &e, 0);
  release_mesh(r, &e);
  r->indices.active = false;
  return true;
}

void carom_read_solids(carom_reader *r) {
  const carom_node *list = r->top[KEY_SCENE_SOLIDS];
  int number = 0;
  if (!carom_read_list(r, list, "solids") || !list || carom_node_is_null(list)) return;
  if (r->planar && list->count > 0) {
    carom_report(&r->reporter, list->key_at, "leave out 'planar' or the solids",
                 "a planar scene has no solids that deform");
    return;
  }
  for (const carom_node *c = list->first; c && !carom_reader_failed(r); c = c->next)
    if (!read_entry(r, c, number++)) break;
}
