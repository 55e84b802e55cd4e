// Meshes: what is written comes back, what is wrong is told with file and line, what is not convex is told how far.
#include <locale.h>

#include "test_geometry.h"

static carom_status parse(const char *name, const char *text, carom_mesh *mesh, carom_error *error) {
  return carom_mesh_parse(&(carom_bytes){name, text, strlen(text)}, NULL, NULL, mesh, error);
}

static void check_refused(const char *name, const char *text, carom_status status, const char *message) {
  carom_mesh mesh = {.vertex_count = 42};
  carom_error error = {0};
  carom_status got = parse(name, text, &mesh, &error);
  if (got != status) test_fail(__FILE__, __LINE__, "status %d, expected %d", got, status);
  CHECK(error.status == status);
  CHECK_TEXT(error.message, message);
  CHECK(mesh.vertex_count == 42);
}

// ---- round trips ------------------------------------------------------------------------------

typedef struct text {
  char *data;
  size_t size;
} text;

static int triangle_count(const carom_polytope *p) {
  int count = 0;
  for (int f = 0; f < p->face_count; f++) count += p->face_start[f + 1] - p->face_start[f] - 2;
  return count;
}

static text write_obj(const carom_polytope *p) {
  text t;
  FILE *file = open_memstream(&t.data, &t.size);
  for (int i = 0; i < p->vertex_count; i++)
    fprintf(file, "v %.17g %.17g %.17g\r\n", p->vertices[i].x, p->vertices[i].y, p->vertices[i].z);
  for (int f = 0; f < p->face_count; f++) {
    fputc('f', file);
    for (int k = p->face_start[f]; k < p->face_start[f + 1]; k++) fprintf(file, " %d", p->face_vertices[k] + 1);
    fputs("\r\n", file);
  }
  fclose(file);
  return t;
}

static text write_stl(const carom_polytope *p) {
  text t;
  FILE *file = open_memstream(&t.data, &t.size);
  fputs("solid x\n", file);
  for (int f = 0; f < p->face_count; f++)
    for (int k = p->face_start[f] + 1; k + 1 < p->face_start[f + 1]; k++) {
      int c[3] = {p->face_vertices[p->face_start[f]], p->face_vertices[k], p->face_vertices[k + 1]};
      fputs("facet normal 0 0 0\nouter loop\n", file);
      for (int i = 0; i < 3; i++)
        fprintf(file, "vertex %.17g %.17g %.17g\n", p->vertices[c[i]].x, p->vertices[c[i]].y, p->vertices[c[i]].z);
      fputs("endloop\nendfacet\n", file);
    }
  fputs("endsolid x\n", file);
  fclose(file);
  return t;
}

static void put_word(unsigned char *to, uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(word >> 8 * i);
}

static void put_float(unsigned char *to, double value) {
  float f = (float)value;
  uint32_t word;
  memcpy(&word, &f, 4);
  put_word(to, word);
}

// Begins with "solid" on purpose.
static text write_binary(const carom_polytope *p) {
  int n = triangle_count(p), at = 0;
  text t = {calloc(1, 84 + 50 * (size_t)n), 84 + 50 * (size_t)n};
  unsigned char *data = (unsigned char *)t.data;
  memcpy(data, "solid but binary", 16);
  put_word(data + 80, (uint32_t)n);
  for (int f = 0; f < p->face_count; f++)
    for (int k = p->face_start[f] + 1; k + 1 < p->face_start[f + 1]; k++, at++) {
      int c[3] = {p->face_vertices[p->face_start[f]], p->face_vertices[k], p->face_vertices[k + 1]};
      for (int i = 0; i < 3; i++) {
        unsigned char *corner = data + 84 + 50 * at + 12 + 12 * i;
        put_float(corner, p->vertices[c[i]].x);
        put_float(corner + 4, p->vertices[c[i]].y);
        put_float(corner + 8, p->vertices[c[i]].z);
      }
    }
  return t;
}

static void check_round_trip(const char *name, text t, const carom_polytope *p, double tolerance) {
  carom_mesh mesh;
  carom_error error = {0};
  carom_mesh_options hull = {.scale = 1, .hull = true};
  const carom_shape *shape = NULL;
  carom_status status = carom_mesh_parse(&(carom_bytes){name, t.data, t.size}, NULL, NULL, &mesh, &error);
  free(t.data);
  if (status) test_fail(__FILE__, __LINE__, "%s: %s", name, error.message);
  REQUIRE(status == CAROM_OK);
  CHECK(mesh.vertex_count == p->vertex_count);
  CHECK(mesh.triangle_count == triangle_count(p));
  carom_mass a, b;
  CHECK(carom_mesh_mass(&mesh, 1, &a, NULL) == CAROM_OK);
  // Rounded to single precision a solid is not quite convex any more.
  status = carom_shape_create_mesh(&mesh, tolerance > 1e-9 ? &hull : NULL, NULL, &shape, &error);
  if (status) test_fail(__FILE__, __LINE__, "%s: %s", name, error.message);
  REQUIRE(status == CAROM_OK);
  const carom_polytope *q = carom_shape_polytope(shape);
  CHECK(lattice_holds(q));
  CHECK(q->vertex_count == p->vertex_count);
  if (tolerance <= 1e-9) CHECK(q->face_count == p->face_count);
  CHECK(carom_shape_mass(shape, 1, &b, NULL) == CAROM_OK);
  CHECK_NEAR(a.mass, b.mass, fmax(tolerance, 1e-13));
  CHECK_AT_MOST(norm_of(cm_msub(a.inertia, b.inertia)), fmax(tolerance, 1e-13));
  carom_shape_release(shape);
  carom_mesh_release(&mesh);
  CHECK(mesh.vertices == NULL && mesh.vertex_count == 0);
}

TEST(round_trips) {
  carom_random r = carom_random_make(1, 0);
  for (int trial = 0; trial < 60; trial++) {
    const carom_shape *shape = NULL;
    if (trial % 3 == 0)
      REQUIRE(carom_shape_create_prism(3 + trial, 1, 2, NULL, &shape, NULL) == CAROM_OK);
    else
      shape = random_polytope(&r, 10 + trial);
    REQUIRE(shape);
    const carom_polytope *p = carom_shape_polytope(shape);
    check_round_trip("a.obj", write_obj(p), p, 0);
    check_round_trip("a.STL", write_stl(p), p, 0);
    check_round_trip("no extension", write_obj(p), p, 0);
    check_round_trip("no extension", write_stl(p), p, 0);
    if (trial % 3) check_round_trip("a.stl", write_binary(p), p, 1e-5);
    carom_shape_release(shape);
  }
}

TEST(files) {
  const struct {
    const char *path;
    int vertices, triangles;
    double volume;
  } files[] = {{CAROM_TEST_DATA "/meshes/cube.obj", 8, 12, 8},
               {CAROM_TEST_DATA "/meshes/corner.obj", 12, 20, 3},
               {CAROM_TEST_DATA "/meshes/tetrahedron.stl", 4, 4, 8.0 / 3}};
  for (int i = 0; i < 3; i++) {
    carom_mesh mesh;
    carom_error error = {0};
    carom_status status = carom_mesh_read(files[i].path, NULL, NULL, &mesh, &error);
    if (status) test_fail(__FILE__, __LINE__, "%s", error.message);
    REQUIRE(status == CAROM_OK);
    CHECK(mesh.vertex_count == files[i].vertices);
    CHECK(mesh.triangle_count == files[i].triangles);
    carom_mass mass;
    CHECK(carom_mesh_mass(&mesh, 1, &mass, NULL) == CAROM_OK);
    CHECK_NEAR(mass.mass, files[i].volume, 1e-15 * files[i].volume);
    carom_mesh_release(&mesh);
  }
}

// The L-shaped corner has closed-form moments: three unit cubes.
TEST(mass_of_a_nonconvex_mesh) {
  carom_mesh mesh;
  REQUIRE(carom_mesh_read(CAROM_TEST_DATA "/meshes/corner.obj", NULL, NULL, &mesh, NULL) == CAROM_OK);
  carom_mass mass, cube = {6, {0.5, 0.5, 0.5}, cm_diag3(1, 1, 1)}, sum = cube;
  cube.center = cm_vec3(1.5, 0.5, 0.5);
  sum = carom_mass_add(sum, cube);
  cube.center = cm_vec3(0.5, 1.5, 0.5);
  sum = carom_mass_add(sum, cube);
  REQUIRE(carom_mesh_mass(&mesh, 6, &mass, NULL) == CAROM_OK);
  CHECK_NEAR(mass.mass, 18, 1e-14);
  CHECK_AT_MOST(cm_norm(cm_sub(mass.center, sum.center)), 1e-15);
  CHECK_AT_MOST(norm_of(cm_msub(mass.inertia, sum.inertia)), 1e-13);
  carom_mesh_release(&mesh);
}

TEST(scale_and_weld) {
  const char *split =
      "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\nv 1e-7 0 0\nv 0 0 999.9999999\n"
      "f 5 3 2\nf 1 4 3\nf 1 2 6\nf 2 3 4\nf 1 5 2\n";
  carom_mesh mesh;
  carom_mesh_options options = carom_mesh_default_options();
  options.scale = 1e-3;
  REQUIRE(carom_mesh_parse(&(carom_bytes){"a.obj", split, strlen(split)}, &options, NULL, &mesh, NULL) == CAROM_OK);
  CHECK(mesh.vertex_count == 4);
  CHECK(mesh.triangle_count == 4);  // the last one had two corners that are one
  CHECK(mesh.vertices[1].x == 1);
  carom_mass mass;
  CHECK(carom_mesh_mass(&mesh, 6, &mass, NULL) == CAROM_OK);
  CHECK_NEAR(mass.mass, 1, 1e-12);
  carom_mesh_release(&mesh);
  options.weld_tolerance = 0;
  REQUIRE(carom_mesh_parse(&(carom_bytes){"a.obj", split, strlen(split)}, &options, NULL, &mesh, NULL) == CAROM_OK);
  CHECK(mesh.vertex_count == 6 && mesh.triangle_count == 5);
  carom_mesh_release(&mesh);
}

// A cloud of points without faces is good for a hull.
TEST(points_only) {
  carom_mesh mesh;
  carom_error error = {0};
  const carom_shape *shape = NULL;
  REQUIRE(parse("cloud.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .1 .1 .1", &mesh, &error) == CAROM_OK);
  CHECK(carom_shape_create_mesh(&mesh, NULL, NULL, &shape, &error) == CAROM_ERR_GEOMETRY);
  CHECK_TEXT(error.message, "the mesh has no triangles, only 5 vertices; ask for the hull (hull: true)");
  carom_mesh_options options = carom_mesh_default_options();
  options.hull = true;
  CHECK(carom_shape_create_mesh(&mesh, &options, NULL, &shape, &error) == CAROM_OK);
  CHECK(carom_shape_polytope(shape)->vertex_count == 4);
  carom_shape_release(shape);
  carom_mesh_release(&mesh);
}

// A decimal comma in the user's locale must change nothing.
TEST(locale) {
  const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
  bool found = false;
  for (int i = 0; i < 5 && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) test_skip("no locale with a decimal comma is installed");
  carom_mesh mesh;
  REQUIRE(parse("a.obj", "v 0.5 1.25e-1 -2.75\n", &mesh, NULL) == CAROM_OK);
  CHECK(mesh.vertices[0].x == 0.5 && mesh.vertices[0].y == 0.125 && mesh.vertices[0].z == -2.75);
  carom_mesh_release(&mesh);
  CHECK(strtod("0,5", NULL) == 0.5);  // and the user's locale is as it was
  setlocale(LC_ALL, "C");
}

// ---- what is wrong with a file ----------------------------------------------------------------

TEST(obj_errors) {
  check_refused("a.obj", "", CAROM_ERR_FORMAT, "a.obj: the file is empty");
  check_refused("a.obj", "# nothing\n", CAROM_ERR_FORMAT, "a.obj: no vertices; expected lines such as 'v 0 0 1'");
  check_refused("a.obj", "v 0 0 0\nv 1 zero 0\n", CAROM_ERR_FORMAT, "a.obj:2: expected a number, found 'zero'");
  check_refused("a.obj", "v 0 0\nv 1 1 0\n", CAROM_ERR_FORMAT, "a.obj:1: expected a number, found the end of the line");
  check_refused("a.obj", "v 0 0", CAROM_ERR_FORMAT, "a.obj:1: expected a number, found the end of the file");
  check_refused("a.obj", "v 0 0 nan\n", CAROM_ERR_FORMAT, "a.obj:1: expected a number, found 'nan'");
  check_refused("a.obj", "v 0 0 0x10\n", CAROM_ERR_FORMAT, "a.obj:1: expected a number, found '0x10'");
  check_refused("a.obj", "v 0 0 1e400\n", CAROM_ERR_NUMBER,
                "a.obj:1: 1e400 is out of range; expected a coordinate below 1e+100");
  check_refused("a.obj", "v 0 0 0\nf 1 1 2\n", CAROM_ERR_FORMAT,
                "a.obj:2: the face refers to vertex 2, but the file has vertices 1 to 1 (1 so far)");
  check_refused("a.obj", "v 0 0 0\nf 0 1 1\n", CAROM_ERR_FORMAT,
                "a.obj:2: the face refers to vertex 0, but the file has vertices 1 to 1 (1 so far)");
  check_refused("a.obj", "v 0 0 0\nf -2 1 1\nv 1 1 1\n", CAROM_ERR_FORMAT,
                "a.obj:2: the face refers to vertex -2, but the file has vertices 1 to 2 (1 so far)");
  check_refused("a.obj", "v 0 0 0\nf 1 x 1\n", CAROM_ERR_FORMAT, "a.obj:2: expected a vertex number, found 'x'");
  check_refused("a.obj", "v 0 0 0\nf 1/2 99999999999999 1\n", CAROM_ERR_FORMAT,
                "a.obj:2: expected a vertex number, found '99999999999999'");
  check_refused("a.obj", "v 0 0 0\n\n# c:\\dir\\\nf 1 1 # two\n", CAROM_ERR_FORMAT,
                "a.obj:4: a face with 2 corners; expected at least 3");
}

TEST(stl_errors) {
  check_refused("a.stl", "hello", CAROM_ERR_FORMAT,
                "a.stl: 5 bytes is too short; expected ASCII STL ('solid ...') or binary STL (at least 84 bytes)");
  check_refused("a.stl", "solid\nendsolid\n", CAROM_ERR_FORMAT, "a.stl: no triangles");
  check_refused("a.stl", "solid\nfacet normal 0 0 1\nouter lop\n", CAROM_ERR_FORMAT,
                "a.stl:3: expected 'loop', found 'lop'");
  check_refused("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 x 0\n", CAROM_ERR_FORMAT,
                "a.stl:5: expected a number, found 'x'");
  check_refused("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
                CAROM_ERR_FORMAT, "a.stl:6: expected 'vertex', found 'endloop'");
  check_refused("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", CAROM_ERR_FORMAT,
                "a.stl:5: expected 'vertex', found the end of the file");
  check_refused("a.stl", "solid\nfaced", CAROM_ERR_FORMAT, "a.stl:2: expected 'facet' or 'endsolid', found 'faced'");
  check_refused("a.stl", "solid\nendsolid\nfacet", CAROM_ERR_FORMAT,
                "a.stl:3: expected 'solid' or the end of the file, found 'facet'");
  check_refused("a.stl", "solid\n", CAROM_ERR_FORMAT,
                "a.stl:2: expected 'facet' or 'endsolid', found the end of the file");
}

TEST(binary_errors) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &shape, NULL) == CAROM_OK);
  text t = write_binary(carom_shape_polytope(shape));
  carom_mesh mesh;
  carom_error error = {0};
  CHECK(carom_mesh_parse(&(carom_bytes){"a.stl", t.data, t.size - 10}, NULL, NULL, &mesh, &error) == CAROM_ERR_FORMAT);
  CHECK_TEXT(
      error.message,
      "a.stl: neither ASCII STL (no leading 'solid') nor binary STL: bytes 80 to 83 announce 12 triangles, so 684 "
      "bytes were expected but the file has 674; is it cut short?");
  put_word((unsigned char *)t.data + 80, 0xffffffffu);
  CHECK(carom_mesh_parse(&(carom_bytes){"a.stl", t.data, t.size}, NULL, NULL, &mesh, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "announce 4294967295 triangles, so 214748364834 bytes were expected");
  put_word((unsigned char *)t.data + 80, 12);
  put_float((unsigned char *)t.data + 84 + 50 * 3 + 16, INFINITY);
  CHECK(carom_mesh_parse(&(carom_bytes){"a.stl", t.data, t.size}, NULL, NULL, &mesh, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, "a.stl: triangle 3 (byte 234): a coordinate is inf; expected a finite number");
  free(t.data);
  carom_shape_release(shape);
}

TEST(io_errors) {
  carom_mesh mesh;
  carom_error error = {0};
  CHECK(carom_mesh_read("/no/such/file.obj", NULL, NULL, &mesh, &error) == CAROM_ERR_IO);
  CHECK_TEXT(error.message, "/no/such/file.obj: cannot be read: No such file or directory");
  CHECK(carom_mesh_read(CAROM_TEST_DATA, NULL, NULL, &mesh, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "cannot be read: it is a folder");
}

TEST(option_errors) {
  carom_mesh mesh;
  carom_error error = {0};
  carom_mesh_options options = carom_mesh_default_options();
  CHECK(options.scale == 1 && !options.hull && options.weld_tolerance == 1e-9);
  options.scale = -1;
  CHECK(carom_mesh_parse(&(carom_bytes){"a.obj", "v 1 1 1", 7}, &options, NULL, &mesh, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "the scale of a mesh is -1; expected a positive number");
  options.scale = 1e101;
  CHECK(carom_mesh_parse(&(carom_bytes){"a.obj", "v 1 1 1", 7}, &options, NULL, &mesh, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, "a.obj: vertex 0 is beyond 1e+100 m after scaling by 1e+101");
  options = carom_mesh_default_options();
  options.weld_tolerance = 0.5;
  CHECK(carom_mesh_parse(&(carom_bytes){"a.obj", "v 1 1 1", 7}, &options, NULL, &mesh, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "the weld tolerance is 0.5; expected 0 to 0.1 (of the extent)");
}

// ---- what is wrong with a mesh ----------------------------------------------------------------

static void check_mesh_refused(const char *obj, carom_status status, const char *message) {
  carom_mesh mesh;
  carom_error error = {0};
  const carom_shape *shape = NULL;
  REQUIRE(parse("a.obj", obj, &mesh, &error) == CAROM_OK);
  CHECK(carom_shape_create_mesh(&mesh, NULL, NULL, &shape, &error) == status);
  CHECK_TEXT(error.message, message);
  CHECK(shape == NULL);
  carom_mesh_options options = carom_mesh_default_options();
  options.hull = true;  // the advice helps
  CHECK(carom_shape_create_mesh(&mesh, &options, NULL, &shape, &error) == CAROM_OK);
  carom_shape_release(shape);
  carom_mesh_release(&mesh);
}

#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"

TEST(not_closed) {
  check_mesh_refused(
      TETRAHEDRON "f 1 3 2\nf 1 4 3\nf 1 2 4\n", CAROM_ERR_GEOMETRY,
      "the mesh is not closed: the edge between vertices 1 and 2 (triangle 0) belongs to 1 triangle: the "
      "surface has a hole there; close it, or ask for the hull (hull: true)");
  check_mesh_refused(
      TETRAHEDRON "f 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 4 3\n", CAROM_ERR_GEOMETRY,
      "the mesh is not closed: the edge between vertices 1 and 2 (triangle 0) belongs to 2 triangles: the "
      "two are wound in opposite senses; make the orientation consistent, or ask for the hull (hull: true)");
  check_mesh_refused(
      TETRAHEDRON "f 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\nf 1 2 3\n", CAROM_ERR_GEOMETRY,
      "the mesh is not closed: the edge between vertices 0 and 1 (triangle 0) belongs to 3 triangles: more "
      "than two meet there; separate the parts, or ask for the hull (hull: true)");
}

TEST(inside_out) {
  const char *obj = TETRAHEDRON "f 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n";
  check_mesh_refused(
      obj, CAROM_ERR_GEOMETRY,
      "the mesh is inside out: its triangles are clockwise seen from outside; reverse their order or ask "
      "for the hull (hull: true)");
  carom_mesh mesh;
  carom_error error = {0};
  carom_mass mass;
  REQUIRE(parse("a.obj", obj, &mesh, &error) == CAROM_OK);
  CHECK(carom_mesh_mass(&mesh, 1, &mass, &error) == CAROM_ERR_GEOMETRY);
  CHECK_TEXT(error.message,
             "the mesh is inside out (it encloses -0.167 m3): its triangles are clockwise seen from outside; reverse "
             "their order");
  carom_mesh_release(&mesh);
  REQUIRE(parse("a.obj", TETRAHEDRON "f 1 2 3\nf 1 3 2\n", &mesh, &error) == CAROM_OK);
  CHECK(carom_mesh_mass(&mesh, 1, &mass, &error) == CAROM_ERR_GEOMETRY);
  CHECK_TEXT(error.message, "the mesh encloses no volume (0 m3 at an extent of 1 m)");
  carom_mesh_release(&mesh);
}

TEST(not_convex) {
  carom_mesh mesh;
  carom_error error = {0};
  const carom_shape *shape = NULL;
  REQUIRE(carom_mesh_read(CAROM_TEST_DATA "/meshes/corner.obj", NULL, NULL, &mesh, &error) == CAROM_OK);
  CHECK(carom_shape_create_mesh(&mesh, NULL, NULL, &shape, &error) == CAROM_ERR_NOT_CONVEX);
  CHECK_TEXT(
      error.message,
      "the mesh is not convex: vertex 10 lies 1 m (0.5 of the extent) outside the plane of triangle 12; ask for the "
      "hull (hull: true) or split it into convex parts");
  CHECK(shape == NULL);
  carom_mesh_options options = carom_mesh_default_options();
  options.hull = true;
  CHECK(carom_shape_create_mesh(&mesh, &options, NULL, &shape, &error) == CAROM_OK);
  carom_mass mass;
  CHECK(carom_shape_mass(shape, 1, &mass, NULL) == CAROM_OK);
  CHECK_NEAR(mass.mass, 3.5, 1e-14);
  carom_shape_release(shape);
  carom_mesh_release(&mesh);
}

// A vertex pushed in by a known amount is found, and the amount told, down to the tolerance.
TEST(dents) {
  for (int k = 1; k <= 12; k++) {
    double depth = pow(10, -k);
    char obj[1000];
    snprintf(obj, sizeof obj,
             "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\nv 0 0 %.17g\n"
             "f 1 3 4 2\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\nf 5 6 9\nf 6 8 9\nf 8 7 9\nf 7 5 9\n",
             1 - depth);
    carom_mesh mesh;
    carom_error error = {0};
    const carom_shape *shape = NULL;
    REQUIRE(parse("a.obj", obj, &mesh, &error) == CAROM_OK);
    carom_status status = carom_shape_create_mesh(&mesh, NULL, NULL, &shape, &error);
    CHECK(status == (depth > 1e-9 ? CAROM_ERR_NOT_CONVEX : CAROM_OK));
    if (shape) CHECK(carom_shape_polytope(shape)->vertex_count == 8);
    if (status) {  // the plane of a tilted triangle passes below the far edge by twice the depth
      const char *told = strstr(error.message, "lies ");
      REQUIRE(told);
      CHECK_NEAR(strtod(told + 5, NULL), 2 * depth / hypot(1, depth), 0.006 * depth);
    }
    carom_shape_release(shape);
    carom_mesh_release(&mesh);
  }
}

TEST(meshes_made_by_hand) {
  carom_vec3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int triangles[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
  carom_mesh mesh = {.vertex_count = 4, .triangle_count = 4, .vertices = v, .triangles = triangles};
  carom_error error = {0};
  carom_mass mass;
  CHECK(carom_mesh_mass(&mesh, 6, &mass, &error) == CAROM_OK);
  CHECK_NEAR(mass.mass, 1, 1e-15);
  triangles[4] = 4;
  CHECK(carom_mesh_mass(&mesh, 1, &mass, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "triangle 1 of the mesh refers to vertex 4; expected 0 to 3");
  triangles[4] = 3;
  v[2].y = NAN;
  CHECK(carom_mesh_mass(&mesh, 1, &mass, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, "vertex 2 of the mesh is (0, nan, 0); expected finite coordinates below 1e+100 m");
  mesh.vertex_count = 0;
  CHECK(carom_mesh_mass(&mesh, 1, &mass, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "a mesh of 0 vertices and 4 triangles; expected some of each");
}

// ---- memory -----------------------------------------------------------------------------------

static carom_status read_and_use(const carom_allocator *a, carom_error *error) {
  carom_mesh mesh;
  const carom_shape *shape = NULL;
  carom_mass mass;
  carom_status status = carom_mesh_read(CAROM_TEST_DATA "/meshes/cube.obj", NULL, a, &mesh, error);
  if (status) return status;
  status = carom_shape_create_mesh(&mesh, NULL, a, &shape, error);
  carom_shape_release(shape);
  if (!status) status = carom_mesh_mass(&mesh, 1, &mass, error);
  carom_mesh_release(&mesh);
  return status;
}

TEST(allocation_fails) {
  for (int at = 0;; at++) {
    failing f = {0, at, 0};
    carom_allocator a = failing_allocator(&f);
    carom_error error = {0};
    carom_status status = read_and_use(&a, &error);
    CHECK(f.live == 0);
    if (status == CAROM_OK) {
      CHECK(at > 20);
      break;
    }
    CHECK(status == CAROM_ERR_MEMORY);
    CHECK_CONTAINS(error.message, "out of memory");
    REQUIRE(at < 1000);
  }
}
