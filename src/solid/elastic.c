// Making a solid: checks, shape functions, masses, places of corners.
#include <float.h>
#include <limits.h>

#include "base/memory.h"
#include "base/threads.h"
#include "solid/solid.h"

enum { LANES = CAROM_SOLID_LANES, MOST_TETS = INT_MAX / 32 };

// A tetrahedron whose volume is below this times the cube of its longest edge counts as flat: its shape functions would
// have no digits left.
static const double FLAT = 1e-10;

static const char *const LAW_NAMES[CAROM_ELASTIC_LAWS] = {"neo-hooke", "stable", "ciarlet"};

const char *carom_elastic_law_name(carom_elastic_law law) {
  return (unsigned)law < CAROM_ELASTIC_LAWS ? LAW_NAMES[law] : "unknown law";
}

carom_elastic_def carom_elastic_default_def(void) {
  return (carom_elastic_def){.law = CAROM_ELASTIC_NEO_HOOKE, .threads = 1};
}

// ---- materials ------------------------------------------------------------------------------------------------------

static bool positive(double value) { return isfinite(value) && value > 0; }

carom_status carom_elastic_material_of(double young, double poisson, double density, carom_elastic_material *material,
                                       carom_error *error) {
  if (!positive(young))
    return carom_fail(error, CAROM_ERR_NUMBER, "Young's modulus is %g Pa; it must be positive and finite", young);
  if (!(poisson < 0.5))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "Poisson's ratio is %g; it must be below 0.5, where nothing can change its volume (rubber: 0.49)",
                      poisson);
  if (!(poisson > -1))
    return carom_fail(error, CAROM_ERR_NUMBER, "Poisson's ratio is %g; it must be above -1", poisson);
  if (!positive(density))
    return carom_fail(error, CAROM_ERR_NUMBER, "the density is %g kg/m3; it must be positive and finite", density);
  *material = (carom_elastic_material){.density = density,
                                       .lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson)),
                                       .mu = young / (2 * (1 + poisson))};
  return CAROM_OK;
}

static carom_status check_material(const carom_elastic_material *m, int i, carom_error *error) {
  if (!positive(m->density))
    return carom_fail(error, CAROM_ERR_NUMBER, "material %d: the density is %g kg/m3; it must be positive and finite",
                      i, m->density);
  if (!positive(m->mu))
    return carom_fail(error, CAROM_ERR_NUMBER, "material %d: mu is %g Pa; it must be positive and finite", i, m->mu);
  if (!isfinite(m->lambda) || !(3 * m->lambda + 2 * m->mu > 0))
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "material %d: lambda is %g Pa; it must be finite and above -2/3 mu = %g Pa (Poisson's ratio above "
        "-1)",
        i, m->lambda, -2.0 / 3 * m->mu);
  if (!isfinite(m->damping) || !(m->damping >= 0))
    return carom_fail(error, CAROM_ERR_NUMBER, "material %d: the damping is %g s; it must be 0 or positive, and finite",
                      i, m->damping);
  return CAROM_OK;
}

// ---- geometry -------------------------------------------------------------------------------------------------------

typedef struct tet_shape {
  carom_vec3 edge[3];
  double volume, longest;
} tet_shape;

static tet_shape shape_of(const carom_elastic_def *def, int tet) {
  const int *n = def->tets[tet];
  tet_shape s = {.longest = 0};
  for (int k = 0; k < 3; k++) s.edge[k] = cm_sub(def->nodes[n[k + 1]], def->nodes[n[0]]);
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < a; b++) s.longest = fmax(s.longest, cm_norm(cm_sub(def->nodes[n[a]], def->nodes[n[b]])));
  s.volume = cm_dot(cm_cross(s.edge[0], s.edge[1]), s.edge[2]) / 6;
  return s;
}

static carom_status check_tet(const carom_elastic_def *def, int tet, carom_error *error) {
  for (int a = 0; a < 4; a++)
    if (def->tets[tet][a] < 0 || def->tets[tet][a] >= def->node_count)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "tetrahedron %d names node %d, but nodes go from 0 to %d", tet,
                        def->tets[tet][a], def->node_count - 1);
  if (def->material_of && (def->material_of[tet] < 0 || def->material_of[tet] >= def->material_count))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "tetrahedron %d names material %d, but materials go from 0 to %d", tet,
                      def->material_of[tet], def->material_count - 1);
  tet_shape s = shape_of(def, tet);
  if (!(fabs(s.volume) > FLAT * s.longest * s.longest * s.longest))
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "tetrahedron %d is flat: its volume is %.3g m3 with edges of up to %.3g m; mesh again without "
                      "slivers, or leave it out",
                      tet, s.volume, s.longest);
  if (s.volume < 0)
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "tetrahedron %d is inside out: its volume is %.3g m3; exchange two of its nodes", tet, s.volume);
  return CAROM_OK;
}

static carom_status check_nodes(const carom_elastic_def *def, const int *corner_start, carom_error *error) {
  for (int i = 0; i < def->node_count; i++)
    if (corner_start[i] == corner_start[i + 1])
      return carom_fail(error, CAROM_ERR_GEOMETRY, "node %d belongs to no tetrahedron; leave it out", i);
  return CAROM_OK;
}

static carom_status check(const carom_elastic_def *def, carom_error *error) {
  if (def->tet_count < 1 || def->node_count < 4 || def->material_count < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "%d nodes, %d tetrahedra and %d materials; a solid needs 4, 1 and 1 at least", def->node_count,
                      def->tet_count, def->material_count);
  if (def->tet_count > MOST_TETS)
    return carom_fail(error, CAROM_ERR_LIMIT, "%d tetrahedra; at most %d are possible", def->tet_count, MOST_TETS);
  if ((unsigned)def->law >= CAROM_ELASTIC_LAWS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no elastic law number %d", (int)def->law);
  for (int i = 0; i < def->material_count; i++) {
    carom_status status = check_material(&def->materials[i], i, error);
    if (status) return status;
  }
  for (int i = 0; i < def->node_count; i++)
    if (!cm_finite(def->nodes[i])) return carom_fail(error, CAROM_ERR_NUMBER, "node %d is not finite", i);
  for (int i = 0; i < def->tet_count; i++) {
    carom_status status = check_tet(def, i, error);
    if (status) return status;
  }
  return CAROM_OK;
}

// ---- filling --------------------------------------------------------------------------------------------------------

static const carom_elastic_material *material_of(const carom_elastic_def *def, int tet) {
  return &def->materials[def->material_of ? def->material_of[tet] : 0];
}

// The rows of Dm^-1 are gradients of corners 1 to 3.
static void gradients_of(const tet_shape *s, carom_vec3 g[4]) {
  for (int k = 0; k < 3; k++)
    g[k + 1] = cm_scale(1 / (6 * s->volume), cm_cross(s->edge[(k + 1) % 3], s->edge[(k + 2) % 3]));
  g[0] = cm_neg(cm_add(cm_add(g[1], g[2]), g[3]));
}

static double spread_of(const carom_vec3 g[4]) {
  carom_mat3 G = {{{0}}}, vectors;
  carom_vec3 values;
  for (int a = 0; a < 4; a++) G = cm_madd(G, cm_outer(g[a], g[a]));
  cm_eigen3(G, &values, &vectors);
  return values.z;
}

// One material to a block mostly: the material's own matter; blocks of several have one of their own, behind these.
static bool is_mixed(const carom_elastic_def *def, int block) {
  for (int i = LANES * block; i < LANES * (block + 1) && i < def->tet_count; i++)
    if (material_of(def, i) != material_of(def, LANES * block)) return true;
  return false;
}

static int count_mixed(const carom_elastic_def *def) {
  int count = 0;
  for (int i = 0; i < (def->tet_count + LANES - 1) / LANES; i++) count += is_mixed(def, i);
  return count;
}

static void fill_matter(carom_solid_matter *matter, const carom_elastic_material *m, int lane) {
  matter->mu[lane] = m->mu, matter->lambda[lane] = m->lambda, matter->damping[lane] = m->damping;
  matter->four_over_rho[lane] = 4 / m->density;
}

static void share_matter(carom_elastic *e, const carom_elastic_def *def) {
  carom_solid_matter *next = e->matter + def->material_count;
  for (int i = 0; i < def->material_count; i++)
    for (int l = 0; l < LANES; l++) fill_matter(&e->matter[i], &def->materials[i], l);
  for (int i = 0; i < e->block_count; i++) {
    bool mixed = is_mixed(def, i);
    e->blocks[i].matter = mixed ? next : &e->matter[material_of(def, LANES * i) - def->materials];
    for (int l = 0; mixed && l < LANES; l++)
      fill_matter(next, material_of(def, LANES * i + l < def->tet_count ? LANES * i + l : def->tet_count - 1), l);
    next += mixed;
  }
}

static void fill_lane(carom_elastic *e, const carom_elastic_def *def, int tet, int place) {
  carom_solid_block *b = &e->blocks[place / LANES];
  int l = place % LANES;
  const carom_elastic_material *m = material_of(def, tet);
  tet_shape s = shape_of(def, tet);
  carom_vec3 g[4];
  gradients_of(&s, g);
  for (int k = 0; k < 3; k++) b->B[k][0][l] = g[k + 1].x, b->B[k][1][l] = g[k + 1].y, b->B[k][2][l] = g[k + 1].z;
  for (int a = 0; a < 4; a++) b->node[a][l] = def->tets[tet][a];
  double spread = spread_of(g);
  b->volume[l] = place == tet ? s.volume : 0;
  b->spread[l] = spread;
  e->damped = e->damped || m->damping > 0;
  e->most_damping = fmax(e->most_damping, m->damping);
  e->stiffest = fmax(e->stiffest, (fabs(m->lambda) + 2 * m->mu) * s.volume * spread);
  if (place == tet)
    for (int a = 0; a < 4; a++) e->mass[def->tets[tet][a]] += 0.25 * m->density * s.volume;
}

// Corners of nodes in the order of tetrahedra.
static void count_corners(const carom_elastic_def *def, int *start) {
  for (int i = 0; i < def->tet_count; i++)
    for (int a = 0; a < 4; a++) start[def->tets[i][a] + 1]++;
  for (int i = 0; i < def->node_count; i++) start[i + 1] += start[i];
}

static void fill_slots(carom_elastic *e, const carom_elastic_def *def) {
  for (int i = def->tet_count; i-- > 0;)
    for (int a = 4; a-- > 0;) {
      int last = --e->slot_start[def->tets[i][a] + 1];
      e->slots[last] = i / LANES * CAROM_SOLID_CORNERS + 3 * a * LANES + i % LANES;
    }
  for (int i = 0; i < def->node_count; i++) e->slot_start[i] = e->slot_start[i + 1];
  e->slot_start[def->node_count] = 4 * def->tet_count;
}

static void fill(carom_elastic *e, const carom_elastic_def *def) {
  for (int i = 0; i < def->node_count; i++) e->rest[i] = def->nodes[i];
  for (int place = 0; place < e->block_count * LANES; place++)
    fill_lane(e, def, place < def->tet_count ? place : def->tet_count - 1, place);
  share_matter(e, def);
  fill_slots(e, def);
}

static void lay_out(void *owner, carom_arena *arena) {
  carom_elastic *e = owner;
  size_t lanes = (size_t)e->block_count * LANES;
  e->rest = CAROM_PUSH(arena, carom_vec3, e->node_count);
  e->mass = CAROM_PUSH(arena, double, e->node_count);
  e->blocks = CAROM_PUSH(arena, carom_solid_block, e->block_count);
  e->slot_start = CAROM_PUSH(arena, int, e->node_count + 1);
  e->slots = CAROM_PUSH(arena, int, 4 * (size_t)e->tet_count);
  e->corners = CAROM_PUSH(arena, double, (size_t)e->block_count *CAROM_SOLID_CORNERS);
  e->energy = CAROM_PUSH(arena, double, lanes);
  e->power = CAROM_PUSH(arena, double, lanes);
  e->sums = CAROM_PUSH(arena, carom_solid_sum, e->block_count / CAROM_SOLID_CHUNK + 1);
  e->matter = CAROM_PUSH(arena, carom_solid_matter, e->matter_count);
}

carom_status carom_elastic_create(const carom_elastic_def *def, const carom_allocator *allocator,
                                  carom_elastic **elastic, carom_error *error) {
  *elastic = NULL;
  carom_status status = check(def, error);
  if (status) return status;
  carom_elastic initial = {.node_count = def->node_count,
                           .tet_count = def->tet_count,
                           .block_count = (def->tet_count + LANES - 1) / LANES,
                           .threads = carom_thread_count(def->threads),
                           .law = def->law,
                           .matter_count = def->material_count + count_mixed(def)};
  carom_elastic *e = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!e) return CAROM_ERR_MEMORY;
  count_corners(def, e->slot_start);
  status = check_nodes(def, e->slot_start, error);
  if (status) {
    carom_object_destroy(e);
    return status;
  }
  fill(e, def);
  *elastic = e;
  return CAROM_OK;
}

void carom_elastic_destroy(carom_elastic *e) {
  if (e) carom_object_destroy(e);
}

int carom_elastic_node_count(const carom_elastic *e) { return e->node_count; }
int carom_elastic_tet_count(const carom_elastic *e) { return e->tet_count; }
const carom_vec3 *carom_elastic_rest(const carom_elastic *e) { return e->rest; }
const double *carom_elastic_masses(const carom_elastic *e) { return e->mass; }
