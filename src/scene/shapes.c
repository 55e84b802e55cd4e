// Shapes: { box: [...] }, { sphere: 0.1 }, ... and names of shapes.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "scene/reader.h"

enum { MOST_SIDES = 1024, MOST_MESH_BYTES = 1 << 28 };

// One shape while it is read: the value behind its kind, and where messages of the geometry go.
typedef struct request {
  carom_reader *r;
  const carom_node *node;
  const carom_node *f[CAROM_MOST_KEYS];
  const carom_shape *shape;
} request;

// The message of a shape that the geometry refused.
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

// ---- kinds -------------------------------------------------------------------------------------------

// A kind with one vector, which may stand alone: "box: [1, 2, 3]" for "box: {size: [1, 2, 3]}".
static bool read_triple(request *q, carom_section section, carom_vec3 *value) {
  const carom_node *node = q->node;
  if (node->kind == CAROM_NODE_MAP) {
    if (!fields(q, section) || !need(q, 0, section)) return false;
    node = q->f[0];
  }
  return carom_read_vector(q->r, node, CAROM_LENGTH, value);
}

typedef carom_status create_triple(carom_vec3, const carom_allocator *, const carom_shape **, carom_error *);

static bool make_triple(request *q, carom_section section, create_triple *create) {
  carom_vec3 value = {0, 0, 0};
  carom_error error;
  return read_triple(q, section, &value) && accept(q, create(value, &q->r->allocator, &q->shape, &error), &error);
}

static bool make_box(request *q) { return make_triple(q, CAROM_SECTION_BOX, carom_shape_create_box); }
static bool make_ellipsoid(request *q) { return make_triple(q, CAROM_SECTION_ELLIPSOID, carom_shape_create_ellipsoid); }

// Circumradius, from the radius or from the length of a side: side = 2 radius sin(pi / sides).
static bool read_polygon(request *q, int *sides, double *radius, double *height) {
  if (!fields(q, CAROM_SECTION_PRISM)) return false;
  bool good = need(q, KEY_PRISM_SIDES, CAROM_SECTION_PRISM);
  good = need(q, KEY_PRISM_HEIGHT, CAROM_SECTION_PRISM) && good;
  good = carom_one_of(q->r, q->node, q->f[KEY_PRISM_RADIUS], q->f[KEY_PRISM_SIDE], "radius and side", q->node->key) &&
         good;
  double side = 0;
  good = carom_read_int(q->r, q->f[KEY_PRISM_SIDES], 3, MOST_SIDES, sides) && good;
  good = length(q, KEY_PRISM_RADIUS, radius) && good;
  good = length(q, KEY_PRISM_SIDE, &side) && good;
  good = length(q, KEY_PRISM_HEIGHT, height) && good;
  if (good && q->f[KEY_PRISM_SIDE]) *radius = side / (2 * sin(3.14159265358979323846 / *sides));
  return good;
}

typedef carom_status create_column(int, double, double, const carom_allocator *, const carom_shape **, carom_error *);
typedef carom_status create_round(double, double, const carom_allocator *, const carom_shape **, carom_error *);

static bool make_column(request *q, create_column *create) {
  int sides = 3;
  double radius = 0, height = 0;
  carom_error error;
  return read_polygon(q, &sides, &radius, &height) &&
         accept(q, create(sides, radius, height, &q->r->allocator, &q->shape, &error), &error);
}

static bool make_prism(request *q) { return make_column(q, carom_shape_create_prism); }
static bool make_pyramid(request *q) { return make_column(q, carom_shape_create_pyramid); }

// What a cylinder or cone is to be: `segments` is 0 when exact.
typedef struct round_request {
  int segments;
  double radius, height;
} round_request;

static bool read_segments(request *q, int *segments) {
  bool exact = false, good = carom_read_bool(q->r, q->f[KEY_CYLINDER_EXACT], &exact);
  *segments = 32;
  good = carom_read_int(q->r, q->f[KEY_CYLINDER_SEGMENTS], 3, MOST_SIDES, segments) && good;
  if (!exact) return good;
  *segments = 0;
  const carom_node *given = q->f[KEY_CYLINDER_SEGMENTS];
  if (given)
    carom_report(&q->r->reporter, given->key_at, "leave out 'segments' or 'exact'", "an exact %s has no segments",
                 q->node->key);
  return good && !given;
}

static bool read_round(request *q, round_request *round) {
  if (!fields(q, CAROM_SECTION_CYLINDER)) return false;
  bool good = need(q, KEY_CYLINDER_RADIUS, CAROM_SECTION_CYLINDER);
  good = need(q, KEY_CYLINDER_HEIGHT, CAROM_SECTION_CYLINDER) && good;
  good = read_segments(q, &round->segments) && good;
  good = length(q, KEY_CYLINDER_RADIUS, &round->radius) && good;
  return length(q, KEY_CYLINDER_HEIGHT, &round->height) && good;
}

static bool make_round(request *q, create_column *faceted, create_round *exact) {
  round_request c = {0};
  if (!read_round(q, &c)) return false;
  const carom_allocator *a = &q->r->allocator;
  carom_error error;
  return accept(q,
                c.segments > 0 ? faceted(c.segments, c.radius, c.height, a, &q->shape, &error)
                               : exact(c.radius, c.height, a, &q->shape, &error),
                &error);
}

static bool make_cylinder(request *q) { return make_round(q, carom_shape_create_prism, carom_shape_create_cylinder); }
static bool make_cone(request *q) { return make_round(q, carom_shape_create_pyramid, carom_shape_create_cone); }

// A kind with one length, which may stand alone: "sphere: 0.1" for "sphere: {radius: 0.1}".
static bool read_single(request *q, carom_section section, double *value) {
  if (q->node->kind != CAROM_NODE_MAP) return carom_read_number(q->r, q->node, CAROM_LENGTH, CAROM_POSITIVE, value);
  return fields(q, section) && need(q, 0, section) && length(q, 0, value);
}

typedef carom_status create_single(double, const carom_allocator *, const carom_shape **, carom_error *);

static bool make_single(request *q, carom_section section, create_single *create) {
  double value = 0;
  carom_error error;
  return read_single(q, section, &value) && accept(q, create(value, &q->r->allocator, &q->shape, &error), &error);
}

static bool make_tetrahedron(request *q) {
  return make_single(q, CAROM_SECTION_TETRAHEDRON, carom_shape_create_tetrahedron);
}
static bool make_octahedron(request *q) {
  return make_single(q, CAROM_SECTION_TETRAHEDRON, carom_shape_create_octahedron);
}
static bool make_sphere(request *q) { return make_single(q, CAROM_SECTION_SPHERE, carom_shape_create_sphere); }

static bool make_capsule(request *q) {
  double radius = 0, span = 0;
  if (!fields(q, CAROM_SECTION_CAPSULE)) return false;
  bool good = need(q, KEY_CAPSULE_RADIUS, CAROM_SECTION_CAPSULE);
  good = need(q, KEY_CAPSULE_LENGTH, CAROM_SECTION_CAPSULE) && good;
  good = length(q, KEY_CAPSULE_RADIUS, &radius) && good;
  good = carom_read_number(q->r, q->f[KEY_CAPSULE_LENGTH], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &span) && good;
  carom_error error;
  return good && accept(q, carom_shape_create_capsule(radius, span, &q->r->allocator, &q->shape, &error), &error);
}

static bool make_rounded(request *q) {
  if (!fields(q, CAROM_SECTION_ROUNDED)) return false;
  double radius = 0;
  bool good = need(q, KEY_ROUNDED_SHAPE, CAROM_SECTION_ROUNDED);
  good = need(q, KEY_ROUNDED_RADIUS, CAROM_SECTION_ROUNDED) && good;
  good = length(q, KEY_ROUNDED_RADIUS, &radius) && good;
  const carom_shape *core = good ? carom_read_shape(q->r, q->f[KEY_ROUNDED_SHAPE]) : NULL;
  if (!core) return false;
  carom_error error;
  good = accept(q, carom_shape_create_rounded(core, radius, &q->r->allocator, &q->shape, &error), &error);
  carom_shape_release(core);
  return good;
}

static bool make_halfspace(request *q) {
  if (!carom_node_is_null(q->node) && !(q->node->kind == CAROM_NODE_MAP && q->node->count == 0)) {
    return carom_refuse(q->r, q->node, "it is z <= 0 in the frame of its body", "'halfspace' takes no value");
  }
  carom_error error;
  return accept(q, carom_shape_create_halfspace(&q->r->allocator, &q->shape, &error), &error);
}

static bool make_hull(request *q) {
  if (!carom_read_list(q->r, q->node, "points")) return false;
  carom_vec3 *points = CAROM_POOL_ARRAY(&q->r->pool, carom_vec3, q->node->count);
  if (!points) return false;
  bool good = true;
  int n = 0;
  for (const carom_node *c = q->node->first; c && !carom_reader_failed(q->r); c = c->next)
    good = carom_read_vector_item(q->r, c, "hull", CAROM_LENGTH, &points[n++]) && good;
  carom_error error;
  return good && accept(q, carom_shape_create_hull(points, n, &q->r->allocator, &q->shape, &error), &error);
}

// ---- meshes ------------------------------------------------------------------------------------------

static bool parse_mesh(request *q, const char *path, const void *data, size_t size, const carom_mesh_options *options) {
  carom_mesh mesh = {0};
  carom_error error;
  carom_status status = carom_mesh_parse(&(carom_bytes){path, data, size}, options, &q->r->allocator, &mesh, &error);
  if (status == CAROM_OK) {
    status = carom_shape_create_mesh(&mesh, options, &q->r->allocator, &q->shape, &error);
    carom_mesh_release(&mesh);
  }
  return accept(q, status, &error);
}

static bool load_mesh(request *q, const carom_node *file, const char *name, const carom_mesh_options *options) {
  carom_reader *r = q->r;
  if (r->options.self_contained)
    return carom_report(&r->reporter, file->place, NULL, "this scene may not open other files");
  const char *path = carom_join_path(&r->pool, r->folder, name);
  if (!path || !carom_note_file(r, path)) return false;
  carom_error why;
  size_t size;
  char *data = carom_read_file(path, MOST_MESH_BYTES, &r->allocator, &size, &why);
  if (!data && why.status == CAROM_ERR_MEMORY) r->reporter.out_of_memory = true;
  if (!data) return carom_report(&r->reporter, file->place, NULL, "cannot read the mesh '%s': %s", path, why.message);
  bool good = parse_mesh(q, path, data, size, options);
  carom_release(&r->allocator, data);
  return good;
}

static bool make_mesh(request *q) {
  if (!fields(q, CAROM_SECTION_MESH) || !need(q, KEY_MESH_FILE, CAROM_SECTION_MESH)) return false;
  carom_mesh_options options = carom_mesh_default_options();
  const char *name = NULL;
  bool good = carom_read_text(q->r, q->f[KEY_MESH_FILE], &name);
  good = carom_read_number(q->r, q->f[KEY_MESH_SCALE], CAROM_NUMBER, CAROM_POSITIVE, &options.scale) && good;
  good = carom_read_bool(q->r, q->f[KEY_MESH_HULL], &options.hull) && good;
  return good && load_mesh(q, q->f[KEY_MESH_FILE], name, &options);
}

// ---- a shape -----------------------------------------------------------------------------------------

static bool make_kind(request *q, int kind) {
  static bool (*const makers[KEYS_IN_SHAPE])(request *) = {
      [KEY_SHAPE_BOX] = make_box,
      [KEY_SHAPE_PRISM] = make_prism,
      [KEY_SHAPE_PYRAMID] = make_pyramid,
      [KEY_SHAPE_TETRAHEDRON] = make_tetrahedron,
      [KEY_SHAPE_OCTAHEDRON] = make_octahedron,
      [KEY_SHAPE_CYLINDER] = make_cylinder,
      [KEY_SHAPE_CONE] = make_cone,
      [KEY_SHAPE_SPHERE] = make_sphere,
      [KEY_SHAPE_CAPSULE] = make_capsule,
      [KEY_SHAPE_ELLIPSOID] = make_ellipsoid,
      [KEY_SHAPE_ROUNDED] = make_rounded,
      [KEY_SHAPE_HALFSPACE] = make_halfspace,
      [KEY_SHAPE_HULL] = make_hull,
      [KEY_SHAPE_MESH] = make_mesh,
  };
  return makers[kind](q);
}

bool carom_shape_in_budget(carom_reader *r, const carom_node *at, const carom_shape *shape) {
  const carom_polytope *p = carom_shape_polytope(shape);
  r->vertices_left -= p ? p->vertex_count : 1;
  if (r->vertices_left >= 0) return true;
  return carom_report(&r->reporter, at->place, "share one shape among many bodies",
                      "the shapes have too many vertices");
}

static bool within_budget(request *q) {
  bool good = carom_shape_in_budget(q->r, q->node, q->shape);
  if (!good) carom_shape_release(q->shape);
  return good;
}

static const carom_shape *read_definition(carom_reader *r, const carom_node *node) {
  const carom_node *kinds[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_SHAPE, "shape", kinds)) return NULL;
  int kind = -1, count = 0;
  for (int i = 0; i < KEYS_IN_SHAPE; i++) {
    if (!kinds[i]) continue;
    kind = i;
    count++;
  }
  if (count != 1) {
    if (count > 1 || node->count == 0)  // otherwise the unknown key was reported
      carom_report(&r->reporter, node->place, NULL, "a shape needs exactly one kind, got %d", count);
    return NULL;
  }
  request q = {.r = r, .node = kinds[kind]};
  return make_kind(&q, kind) && within_budget(&q) ? q.shape : NULL;
}

static const carom_shape *find_named(carom_reader *r, const carom_node *node) {
  int index = carom_names_find(&r->shape_names, node->text);
  if (index >= 0) return r->shapes[index] ? carom_shape_retain(r->shapes[index]) : NULL;
  if (carom_node_is(node, "halfspace")) {
    carom_error error;
    request q = {.r = r, .node = node};
    return accept(&q, carom_shape_create_halfspace(&r->allocator, &q.shape, &error), &error) ? q.shape : NULL;
  }
  carom_unknown_name(r, node, "shape", &r->shape_names);
  return NULL;
}

const carom_shape *carom_read_shape(carom_reader *r, const carom_node *node) {
  if (node->kind == CAROM_NODE_SCALAR && !carom_node_is_null(node)) return find_named(r, node);
  if (node->kind == CAROM_NODE_MAP) return read_definition(r, node);
  char got[80];
  carom_report(&r->reporter, node->place, NULL, "'shape' expects the name of a shape or a mapping, got %s",
               carom_describe(node, got, sizeof got));
  return NULL;
}

void carom_read_named_shapes(carom_reader *r) {
  const carom_node *map = r->top[KEY_SCENE_SHAPES];
  if (!map || carom_node_is_null(map)) return;
  if (map->kind != CAROM_NODE_MAP) {
    char got[80];
    carom_report(&r->reporter, map->place, NULL, "'shapes' must be a mapping from names to shapes, got %s",
                 carom_describe(map, got, sizeof got));
    return;
  }
  r->shapes = CAROM_POOL_ARRAY(&r->pool, const carom_shape *, map->count);
  if (!r->shapes) return;
  for (const carom_node *c = map->first; c && !carom_reader_failed(r); c = c->next) {
    if (c->kind != CAROM_NODE_MAP) {
      char got[80];
      carom_report(&r->reporter, c->place, NULL, "shape '%.80s' must be a mapping, got %s", c->key,
                   carom_describe(c, got, sizeof got));
    } else {
      r->shapes[r->shape_count] = read_definition(r, c);
    }
    if (!carom_names_add(&r->shape_names, c->key, r->shape_count++)) r->pool.failed = true;
  }
}
