// Meshes of solids: made, read from a file, or a surface that is filled.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "scene/solid_reader.h"

enum { MOST_COUNT = 1000000, MOST_SURFACE_BYTES = 1 << 28, CELLS_ALONG_SHORTEST = 3, KINDS = KEY_TETS_SURFACE + 1 };

// A mesh while it is made: the value behind its kind.
typedef struct request {
  carom_reader *r;
  const carom_node *node;
  const carom_node *whole[CAROM_MOST_KEYS];  // of the section `mesh`
  const carom_node *f[CAROM_MOST_KEYS];      // of the kind
  carom_tets *tets;
} request;

static bool accept(request *q, carom_status status, const carom_error *error) {
  if (status == CAROM_OK) return true;
  if (status == CAROM_ERR_MEMORY)
    q->r->pool.failed = true;
  else
    carom_report(&q->r->reporter, q->node->place, NULL, "%s", error->message);
  return false;
}

static bool fields(request *q, carom_section section) {
  return carom_read_fields(q->r, q->node, section, q->node->key, q->f);
}

static bool need(request *q, int key, carom_section section) {
  return carom_require(q->r, q->node, q->f[key], carom_scene_sections[section].keys[key], q->node->key);
}

static bool length(request *q, int key, double *value) {
  return carom_read_number(q->r, q->f[key], CAROM_LENGTH, CAROM_POSITIVE, value);
}

static bool count(request *q, int key, int least, int *value) {
  return carom_read_int(q->r, q->f[key], least, MOST_COUNT, value);
}

// Before it is made, so that no memory is wanted for what is too large.
static bool in_budget(request *q, double tets) { return carom_tets_in_budget(q->r, q->node, tets); }

// ---- made ----------------------------------------------------------------------------------------------------------

// Near-cubic ones; of a box without extent one, for what the mesh says of it.
static void choose_cells(carom_tets_box *box) {
  double size[3] = {box->size.x, box->size.y, box->size.z};
  for (int k = 0; k < 3; k++)
    if (box->wall > 0) size[k] -= 2 * box->wall;
  double edge = fmin(size[0], fmin(size[1], size[2])) / CELLS_ALONG_SHORTEST;
  for (int k = 0; k < 3; k++) box->cells[k] = edge > 0 ? (int)fmin(MOST_COUNT, fmax(1, round(size[k] / edge))) : 1;
}

static bool read_cells(request *q, const carom_node *node, carom_tets_box *box) {
  double cells[3];
  if (!carom_read_numbers(q->r, node, "cells", CAROM_NUMBER, 3, cells)) return false;
  for (int k = 0; k < 3; k++) {
    if (!(cells[k] >= 1 && cells[k] <= MOST_COUNT && cells[k] == floor(cells[k])))
      return carom_report(&q->r->reporter, node->place, NULL, "'cells' must be whole numbers from 1 to %d, got %.12g",
                          MOST_COUNT, cells[k]);
    box->cells[k] = (int)cells[k];
  }
  return true;
}

static double tets_of_box(const carom_tets_box *b) {
  double all = 1, hollow = b->wall > 0 ? 1 : 0, per = b->pattern == CAROM_TETS_FIVE ? 5 : 6;
  for (int k = 0; k < 3; k++) {
    all *= b->cells[k] + (b->wall > 0 ? 2.0 * b->wall_cells : 0);
    hollow *= b->cells[k];
  }
  return per * (all - hollow);
}

static bool read_box(request *q, carom_tets_box *box) {
  static const char *const patterns[] = {"five", "six", NULL};
  int pattern = 0;
  if (q->node->kind == CAROM_NODE_LIST) return carom_read_vector(q->r, q->node, CAROM_LENGTH, &box->size);
  if (!fields(q, CAROM_SECTION_TETS_BOX) || !need(q, KEY_TETS_BOX_SIZE, CAROM_SECTION_TETS_BOX)) return false;
  bool good = carom_read_vector(q->r, q->f[KEY_TETS_BOX_SIZE], CAROM_LENGTH, &box->size);
  good = carom_read_choice(q->r, q->f[KEY_TETS_BOX_PATTERN], patterns, &pattern) && good;
  good = length(q, KEY_TETS_BOX_WALL, &box->wall) && good;
  good = count(q, KEY_TETS_BOX_WALL_CELLS, 1, &box->wall_cells) && good;
  if (q->f[KEY_TETS_BOX_CELLS]) good = read_cells(q, q->f[KEY_TETS_BOX_CELLS], box) && good;
  box->pattern = pattern == 0 ? CAROM_TETS_FIVE : CAROM_TETS_SIX;
  if (!q->f[KEY_TETS_BOX_WALL_CELLS] || q->f[KEY_TETS_BOX_WALL]) return good;
  return carom_report(&q->r->reporter, q->f[KEY_TETS_BOX_WALL_CELLS]->key_at, "add 'wall', or leave it out",
                      "'wall_cells' is of hollow boxes");
}

static bool make_box(request *q) {
  carom_tets_box box = carom_tets_box_default();
  carom_error error;
  if (!read_box(q, &box)) return false;
  if (box.cells[0] == 0) choose_cells(&box);
  return in_budget(q, tets_of_box(&box)) &&
         accept(q, carom_tets_init_box(&box, &q->r->allocator, q->tets, &error), &error);
}

static bool make_ball(request *q) {
  double radius = 0;
  int shells = 3;
  carom_error error;
  if (!fields(q, CAROM_SECTION_TETS_BALL) || !need(q, KEY_TETS_BALL_RADIUS, CAROM_SECTION_TETS_BALL)) return false;
  bool good = length(q, KEY_TETS_BALL_RADIUS, &radius);
  good = count(q, KEY_TETS_BALL_SHELLS, 1, &shells) && good;
  return good && in_budget(q, 8 * pow(shells, 3)) &&
         accept(q, carom_tets_init_ball(radius, shells, &q->r->allocator, q->tets, &error), &error);
}

// 6 rings^2 triangles on a disc; every prism over one is three tetrahedra.
static double tets_of_turned(const carom_tets_turned *t) {
  double widest = 0, layers = 0;
  for (int i = 0; i < t->count; i++) widest = fmax(widest, t->radius[i]);
  double layer = t->layer > 0 ? t->layer : widest / t->rings;
  for (int i = 0; i + 1 < t->count; i++) layers += fmax(1, ceil(fabs(t->z[i + 1] - t->z[i]) / layer));
  return 18.0 * t->rings * t->rings * layers;
}

static bool turn(request *q, const carom_tets_turned *turned) {
  carom_error error;
  return in_budget(q, tets_of_turned(turned)) &&
         accept(q, carom_tets_init_turned(turned, &q->r->allocator, q->tets, &error), &error);
}

enum { RINGS = 3, SECTORS = 24 };  // where the scene does not say

static bool make_cylinder(request *q) {
  const carom_section section = CAROM_SECTION_TETS_CYLINDER;
  carom_tets_turned turned = carom_tets_turned_default();
  double radius = 0, height = 0;
  if (!fields(q, section)) return false;
  turned.rings = RINGS;
  bool good = need(q, KEY_TETS_CYLINDER_RADIUS, section);
  good = need(q, KEY_TETS_CYLINDER_HEIGHT, section) && good;
  good = length(q, KEY_TETS_CYLINDER_RADIUS, &radius) && good;
  good = length(q, KEY_TETS_CYLINDER_HEIGHT, &height) && good;
  good = count(q, KEY_TETS_CYLINDER_RINGS, 1, &turned.rings) && good;
  good = length(q, KEY_TETS_CYLINDER_LAYER, &turned.layer) && good;
  const double z[2] = {-height / 2, height / 2}, r[2] = {radius, radius};
  turned.count = 2, turned.z = z, turned.radius = r;
  return good && turn(q, &turned);
}

// A list of pairs of lengths, into two arrays of the pool.
static bool read_pairs(request *q, const carom_node *list, double **first, double **second) {
  if (list->kind != CAROM_NODE_LIST) return carom_refuse(q->r, list, NULL, "'%s' expects a list of pairs", list->key);
  *first = CAROM_POOL_ARRAY(&q->r->pool, double, list->count + 1);
  *second = CAROM_POOL_ARRAY(&q->r->pool, double, list->count + 1);
  bool good = *first && *second;
  int n = 0;
  for (const carom_node *c = list->first; c && *first && *second && !carom_reader_failed(q->r); c = c->next, n++) {
    double pair[2] = {0, 0};
    good = carom_read_numbers(q->r, c, list->key, CAROM_LENGTH, 2, pair) && good;
    (*first)[n] = pair[0], (*second)[n] = pair[1];
  }
  return good;
}

static bool make_turned(request *q) {
  carom_tets_turned turned = carom_tets_turned_default();
  double *z, *radius;
  if (!fields(q, CAROM_SECTION_TURNED) || !need(q, KEY_TURNED_PROFILE, CAROM_SECTION_TURNED)) return false;
  turned.rings = RINGS;
  bool good = read_pairs(q, q->f[KEY_TURNED_PROFILE], &z, &radius);
  good = count(q, KEY_TURNED_RINGS, 1, &turned.rings) && good;
  good = length(q, KEY_TURNED_LAYER, &turned.layer) && good;
  if (!good) return false;
  turned.count = q->f[KEY_TURNED_PROFILE]->count, turned.z = z, turned.radius = radius;
  return turn(q, &turned);
}

static bool read_quad(request *q, const carom_node *node, int points, int quad[4]) {
  double corners[4] = {0};
  if (!carom_read_numbers(q->r, node, "quads", CAROM_NUMBER, 4, corners)) return false;
  for (int k = 0; k < 4; k++) {
    if (!(corners[k] >= 0 && corners[k] < points && corners[k] == floor(corners[k])))
      return carom_report(&q->r->reporter, node->place, NULL, "'quads' names point %.12g, but points go from 0 to %d",
                          corners[k], points - 1);
    quad[k] = (int)corners[k];
  }
  return true;
}

static bool read_quads(request *q, carom_tets_revolved *revolved) {
  const carom_node *list = q->f[KEY_REVOLVED_QUADS];
  if (list->kind != CAROM_NODE_LIST)
    return carom_refuse(q->r, list, NULL, "'quads' expects a list of quadrilaterals [a, b, c, d]");
  int(*quads)[4] = carom_pool_get(&q->r->pool, sizeof *quads * (size_t)(list->count + 1));
  bool good = quads != NULL;
  for (const carom_node *c = list->first; c && quads && !carom_reader_failed(q->r); c = c->next)
    good = read_quad(q, c, revolved->point_count, quads[revolved->quad_count++]) && good;
  revolved->quads = (const int(*)[4])quads;
  return good;
}

static double distance(const carom_tets_revolved *v, int a, int b) {
  return hypot(v->r[a] - v->r[b], v->z[a] - v->z[b]);
}

// Two triangles to a quadrilateral, three tetrahedra to a prism over one.
static double tets_of_revolved(const carom_tets_revolved *v) {
  double triangles = 0;
  for (int i = 0; i < v->quad_count; i++) {
    const int *c = v->quads[i];
    double along = fmax(distance(v, c[0], c[1]), distance(v, c[2], c[3]));
    double across = fmax(distance(v, c[1], c[2]), distance(v, c[3], c[0]));
    triangles += v->edge > 0 ? 2 * fmax(1, ceil(along / v->edge)) * fmax(1, ceil(across / v->edge)) : 2;
  }
  return 3 * triangles * v->sectors;
}

static bool make_revolved(request *q) {
  carom_tets_revolved revolved = carom_tets_revolved_default();
  double *radius, *z;
  carom_error error;
  if (!fields(q, CAROM_SECTION_REVOLVED)) return false;
  revolved.sectors = SECTORS;
  bool good = need(q, KEY_REVOLVED_POINTS, CAROM_SECTION_REVOLVED);
  if (!need(q, KEY_REVOLVED_QUADS, CAROM_SECTION_REVOLVED) || !good) return false;
  good = read_pairs(q, q->f[KEY_REVOLVED_POINTS], &radius, &z);
  if (good) revolved.point_count = q->f[KEY_REVOLVED_POINTS]->count, revolved.r = radius, revolved.z = z;
  good = good && read_quads(q, &revolved);
  good = count(q, KEY_REVOLVED_SECTORS, 3, &revolved.sectors) && good;
  good = length(q, KEY_REVOLVED_EDGE, &revolved.edge) && good;
  return good && in_budget(q, tets_of_revolved(&revolved)) &&
         accept(q, carom_tets_init_revolved(&revolved, &q->r->allocator, q->tets, &error), &error);
}

// ---- files ---------------------------------------------------------------------------------------------------------

// Null after an error.
static const char *find_file(request *q) {
  carom_reader *r = q->r;
  const char *name = NULL;
  if (!carom_read_text(r, q->node, &name)) return NULL;
  if (r->options.self_contained) {
    carom_report(&r->reporter, q->node->place, NULL, "this scene may not open other files");
    return NULL;
  }
  const char *path = carom_join_path(&r->pool, r->folder, name);
  return path && carom_note_file(r, path) ? path : NULL;
}

static bool ends_with(const char *text, size_t n, const char *ending) {
  size_t m = strlen(ending);
  return n >= m && strcmp(text + n - m, ending) == 0;
}

// TetGen writes two.
static bool note_other_half(carom_reader *r, const char *path) {
  size_t n = strlen(path);
  bool nodes = ends_with(path, n, ".node");
  if (!nodes && !ends_with(path, n, ".ele")) return true;
  size_t stem = n - (nodes ? 5 : 4);
  char *other = carom_pool_get(&r->pool, stem + 6);
  if (!other) return false;
  memcpy(other, path, stem);
  memcpy(other + stem, nodes ? ".ele" : ".node", nodes ? 5 : 6);
  return carom_note_file(r, other);
}

static bool read_scale(request *q, double *scale) {
  return carom_read_number(q->r, q->whole[KEY_TETS_SCALE], CAROM_LENGTH, CAROM_POSITIVE, scale);
}

static bool make_file(request *q) {
  carom_tets_options options = carom_tets_default_options();
  carom_error error;
  bool good = read_scale(q, &options.scale);
  good = carom_read_bool(q->r, q->whole[KEY_TETS_DROP_LOOSE], &options.drop_loose) && good;
  const char *path = find_file(q);
  if (!path || !good || !note_other_half(q->r, path)) return false;
  return accept(q, carom_tets_read(path, &options, &q->r->allocator, q->tets, &error), &error);
}

static bool fill(request *q, const carom_bytes *bytes, const carom_mesh_options *options, const carom_tets_fill *how) {
  carom_mesh surface = {0};
  carom_error error;
  carom_status status = carom_mesh_parse(bytes, options, &q->r->allocator, &surface, &error);
  if (status == CAROM_OK) {
    status = carom_tets_init_filled(&surface, how, &q->r->allocator, q->tets, &error);
    carom_mesh_release(&surface);
  }
  return accept(q, status, &error);
}

static bool make_surface(request *q) {
  static const char *const fillers[] = {"gmsh", "tetgen", NULL};
  carom_reader *r = q->r;
  carom_mesh_options options = carom_mesh_default_options();
  carom_tets_fill how = carom_tets_fill_default();
  int filler = 0;
  bool good = read_scale(q, &options.scale);
  good = carom_read_number(r, q->whole[KEY_TETS_EDGE], CAROM_LENGTH, CAROM_POSITIVE, &how.edge) && good;
  good = carom_read_choice(r, q->whole[KEY_TETS_FILLER], fillers, &filler) && good;
  how.filler = filler == 0 ? CAROM_TETS_GMSH : CAROM_TETS_TETGEN;
  const char *path = find_file(q);
  if (!path || !good) return false;
  carom_error why;
  size_t size;
  char *data = carom_read_file(path, MOST_SURFACE_BYTES, &r->allocator, &size, &why);
  if (!data && why.status == CAROM_ERR_MEMORY) r->reporter.out_of_memory = true;
  if (!data)
    return carom_report(&r->reporter, q->node->place, NULL, "cannot read the mesh '%s': %s", path, why.message);
  good = fill(q, &(carom_bytes){path, data, size}, &options, &how);
  carom_release(&r->allocator, data);
  return good;
}

// ---- a mesh --------------------------------------------------------------------------------------------------------

static bool make_kind(request *q, int kind) {
  static bool (*const makers[KINDS])(request *) = {
      [KEY_TETS_BOX] = make_box,         [KEY_TETS_BALL] = make_ball,         [KEY_TETS_CYLINDER] = make_cylinder,
      [KEY_TETS_TURNED] = make_turned,   [KEY_TETS_REVOLVED] = make_revolved, [KEY_TETS_FILE] = make_file,
      [KEY_TETS_SURFACE] = make_surface,
  };
  return makers[kind](q);
}

// Keys that go with some kinds only.
static bool check_belongs(carom_reader *r, const carom_node *node, bool fits, const char *to) {
  if (!node || fits) return true;
  return carom_report(&r->reporter, node->key_at, NULL, "'%s' of a mesh belongs to %s", node->key, to);
}

static bool check_others(request *q, int kind) {
  bool file = kind == KEY_TETS_FILE, surface = kind == KEY_TETS_SURFACE;
  bool good = check_belongs(q->r, q->whole[KEY_TETS_SCALE], file || surface, "'file' and 'surface'");
  good = check_belongs(q->r, q->whole[KEY_TETS_DROP_LOOSE], file, "'file'") && good;
  good = check_belongs(q->r, q->whole[KEY_TETS_EDGE], surface, "'surface'; in a revolved one it stands inside") && good;
  return check_belongs(q->r, q->whole[KEY_TETS_FILLER], surface, "'surface'") && good;
}

bool carom_tets_in_budget(carom_reader *r, const carom_node *at, double tets) {
  if (tets <= (double)r->tets_left) return true;
  return carom_report(&r->reporter, at->place, "make it coarser, or make fewer copies",
                      "a mesh of about %.3g tetrahedra, but only %.3g more will do in this scene", tets,
                      (double)r->tets_left);
}

bool carom_read_tets(carom_reader *r, const carom_node *node, carom_tets *tets) {
  request q = {.r = r, .tets = tets};
  int kind = -1, kinds = 0;
  *tets = (carom_tets){0};
  if (!carom_read_fields(r, node, CAROM_SECTION_TETS, "the mesh of a solid", q.whole)) return false;
  for (int i = 0; i < KINDS; i++)
    if (q.whole[i]) kind = i, kinds++;
  if (kinds != 1) {
    if (kinds > 1 || node->count == 0)  // otherwise the unknown key was reported
      carom_report(&r->reporter, node->place, NULL,
                   "the mesh of a solid is exactly one of 'box', 'ball', 'cylinder', 'turned', 'revolved', 'file' and "
                   "'surface', got %d",
                   kinds);
    return false;
  }
  q.node = q.whole[kind];
  bool good = check_others(&q, kind);
  good = make_kind(&q, kind) && in_budget(&q, tets->tet_count) && good;
  if (!good) carom_tets_release(tets);
  return good;
}
