// Solids in scenes: meshes of every source, matter, motion, pins, pressure, arrays, and what a run makes of them.
#include <stdarg.h>
#include <unistd.h>

#include "carom/plan.h"
#include "carom/scene.h"
#include "carom/step.h"
#include "carom/tets.h"
#include "failing_allocator.h"
#include "test.h"

static char folder[200];

static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/carom_test_XXXXXX");
  if (!mkdtemp(folder)) test_skip("no temporary folder");
}

static const char *path_of(const char *name) {
  static char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put_file(const char *name, const char *text) {
  FILE *f = fopen(path_of(name), "wb");
  if (!f) test_skip("cannot write a temporary file");
  fputs(text, f);
  fclose(f);
}

static void remove_folder(void) {
  char command[300];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  if (system(command) != 0) test_fail(__FILE__, __LINE__, "%s", command);
}

// A scene of "carom: 1" and what is given; null after telling why. In the folder when there is one.
static carom_scene *read_scene(const char *format, ...) {
  char text[8000], line[2000];
  int n = snprintf(text, sizeof text, "carom: 1\n");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
  va_end(arguments);
  carom_scene *scene;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){path_of("scene.yaml"), text, strlen(text)}, NULL, NULL, &scene, &d);
  for (int i = 0; i < d.error_count; i++) {
    carom_diagnostic_format(&d.items[i], line, sizeof line);
    test_fail(__FILE__, __LINE__, "%s", line);
  }
  carom_diagnostics_release(&d);
  return scene;
}

// The one message that a scene is refused with.
static void check_refused(const char *text, const char *expected) {
  char whole[4000], line[2000];
  carom_scene *scene;
  carom_diagnostics d;
  snprintf(whole, sizeof whole, "carom: 1\n%s", text);
  CHECK(carom_scene_parse(&(carom_bytes){path_of("scene.yaml"), whole, strlen(whole)}, NULL, NULL, &scene, &d) ==
        CAROM_ERR_SCENE);
  REQUIRE(d.count == 1);
  carom_diagnostic_format(&d.items[0], line, sizeof line);
  CHECK_CONTAINS(line, expected);
  carom_diagnostics_release(&d);
}

// ---- meshes --------------------------------------------------------------------------------------------------------

static double determinant(const carom_vec3 *x, const int *t) {
  carom_vec3 a = cm_sub(x[t[1]], x[t[0]]), b = cm_sub(x[t[2]], x[t[0]]), c = cm_sub(x[t[3]], x[t[0]]);
  return cm_dot(cm_cross(a, b), c);
}

static double volume_of(const carom_model *m, const carom_solid *s) {
  double sum = 0;
  for (int i = 0; i < s->tet_count; i++) sum += determinant(m->rest, m->tets[s->tet_start + i]) / 6;
  return sum;
}

// Mass and volume of a mesh, with density 1100, against a volume in m3; how many tetrahedra.
static int check_mesh(const char *mesh, double volume, double tolerance) {
  carom_scene *s = read_scene("solids:\n  - {name: it, mesh: %s, density: 1100, young: 1 MPa, poisson: 0.3}\n", mesh);
  if (!s) return 0;
  const carom_model *m = s->model;
  CHECK(m->solid_count == 1);
  CHECK(m->body_count == 0);
  double v = volume_of(m, &m->solids[0]);
  if (!(fabs(v - volume) <= tolerance * volume))
    test_fail(__FILE__, __LINE__, "%s: %.17g, not %.17g m3", mesh, v, volume);
  CHECK_NEAR(m->solids[0].mass, 1100 * v, 1e-13 * 1100 * v);
  int count = m->tet_count;
  carom_scene_destroy(s);
  return count;
}

static double polygon(int sides, double radius) {
  return sides / 2.0 * radius * radius * sin(2 * 3.14159265358979323846 / sides);
}

TEST(meshes_that_are_made_weigh_what_they_should) {
  CHECK(check_mesh("{box: [10 cm, 20 cm, 30 cm]}", 6e-3, 1e-13) == 5 * 3 * 6 * 9);
  CHECK(check_mesh("{box: {size: [0.1, 0.1, 0.25]}}", 2.5e-3, 1e-13) == 5 * 3 * 3 * 8);
  CHECK(check_mesh("{box: {size: [1, 2, 3], cells: [1, 2, 4], pattern: six}}", 6, 1e-13) == 6 * 8);
  CHECK(check_mesh("{box: {size: [1, 1, 1], cells: [2, 2, 2], wall: 10 cm}}", 1 - 0.8 * 0.8 * 0.8, 1e-13) ==
        5 * (4 * 4 * 4 - 2 * 2 * 2));
  CHECK(check_mesh("{box: {size: [1, 1, 1], wall: 10 cm, wall_cells: 2}}", 1 - 0.8 * 0.8 * 0.8, 1e-13) ==
        5 * (7 * 7 * 7 - 3 * 3 * 3));
  const double sphere = 4 * 3.14159265358979323846 / 3 * 1e-3;
  CHECK(check_mesh("{ball: {radius: 10 cm}}", 0.85 * sphere, 0.01) == 8 * 27);
  CHECK(check_mesh("{ball: {radius: 10 cm, shells: 10}}", 0.985 * sphere, 0.015) == 8 * 1000);
  check_mesh("{cylinder: {radius: 5 cm, height: 20 cm, rings: 2}}", polygon(12, 0.05) * 0.2, 1e-12);
  check_mesh("{cylinder: {radius: 5 cm, height: 20 cm, rings: 2, layer: 1 cm}}", polygon(12, 0.05) * 0.2, 1e-12);
  // A truncated pyramid over a hexagon, and a cone on it: h/3 (A + sqrt(A B) + B).
  double wide = polygon(6, 0.2), narrow = polygon(6, 0.1);
  check_mesh("{turned: {profile: [[0, 0.2], [0.3, 0.1], [0.4, 0]], rings: 1}}",
             0.1 * (wide + sqrt(wide * narrow) + narrow) + 0.1 / 3 * narrow, 1e-12);
  check_mesh("{revolved: {points: [[0.1, 0], [0.2, 0], [0.2, 0.5], [0.1, 0.5]], quads: [[0, 1, 2, 3]], sectors: 10}}",
             0.5 * (polygon(10, 0.2) - polygon(10, 0.1)), 1e-12);
  check_mesh("{revolved: {points: [[0.1, 0], [0.2, 0], [0.2, 0.5], [0.1, 0.5]], quads: [[0, 1, 2, 3]], edge: 5 cm}}",
             0.5 * (polygon(24, 0.2) - polygon(24, 0.1)), 1e-12);
}

// A bar of 2 along x, from -1 to 1: the half with x < 0 is the group 3, "left", the other one the group 7.
static void write_bar(const char *name) {
  carom_tets_box box = carom_tets_box_default();
  carom_tets bar = {0};
  carom_error error = {0};
  box.size = cm_vec3(2, 1, 1);
  box.cells[0] = 4, box.cells[1] = box.cells[2] = 2;
  if (carom_tets_init_box(&box, NULL, &bar, &error) != CAROM_OK) test_skip(error.message);
  int *groups = calloc((size_t)bar.tet_count, sizeof *groups);
  for (int t = 0; t < bar.tet_count; t++) {
    double x = 0;
    for (int k = 0; k < 4; k++) x += bar.nodes[bar.tets[t][k]].x;
    groups[t] = x < 0 ? 3 : 7;
  }
  char left[] = "left";
  carom_tets_name names[] = {{3, left}};
  carom_tets named = bar;
  named.groups = groups, named.names = names, named.name_count = 1;
  if (carom_tets_write(&named, path_of(name), &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  free(groups);
  carom_tets_release(&bar);
}

TEST(meshes_are_read_from_files) {
  make_folder();
  write_bar("bar.msh");
  write_bar("bar.vtu");
  put_file("one.node", "5 3 0 0\n1 0 0 0\n2 3 0 0\n3 0 3 0\n4 0 0 3\n5 9 9 9\n");
  put_file("one.ele", "1 4 0\n1 1 2 3 4\n");
  put_file("one.vtk",
           "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
           "0 0 0 3 0 0 0 3 0 0 0 3\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
  CHECK(check_mesh("{file: bar.msh}", 2, 1e-13) == 5 * 16);
  CHECK(check_mesh("{file: bar.vtu, scale: 1 mm}", 2e-9, 1e-13) == 5 * 16);
  CHECK(check_mesh("{file: one.vtk, scale: 0.1}", 4.5e-3, 1e-13) == 1);
  CHECK(check_mesh("{file: one.node, drop_loose: true}", 4.5, 1e-13) == 1);
  CHECK(check_mesh("{file: one.ele, drop_loose: true}", 4.5, 1e-13) == 1);
  check_refused("solids:\n  - {mesh: {file: one.ele}, young: 1, poisson: 0}\n", "one.node:6: node 5 ");
  remove_folder();
}

static const char octahedron[] =
    "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n"
    "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";

// The surface of a box with sides of 1, cut into 4 x 4 squares each.
static void write_surface(const char *name) {
  carom_tets_box box = carom_tets_box_default();
  carom_tets mesh = {0};
  carom_tets_skin skin = {0};
  box.size = cm_vec3(1, 1, 1);
  for (int k = 0; k < 3; k++) box.cells[k] = 4;
  FILE *f = fopen(path_of(name), "wb");
  if (!f || carom_tets_init_box(&box, NULL, &mesh, NULL) || carom_tets_skin_init(&mesh, NULL, &skin, NULL))
    test_skip("no memory, or no file");
  for (int i = 0; i < mesh.node_count; i++)
    fprintf(f, "v %.17g %.17g %.17g\n", mesh.nodes[i].x, mesh.nodes[i].y, mesh.nodes[i].z);
  for (int t = 0; t < skin.triangle_count; t++)
    fprintf(f, "f %d %d %d\n", skin.triangles[t][0] + 1, skin.triangles[t][1] + 1, skin.triangles[t][2] + 1);
  fclose(f);
  carom_tets_skin_release(&skin);
  carom_tets_release(&mesh);
}

TEST(surfaces_are_filled_by_gmsh_and_tetgen) {
  make_folder();
  write_surface("box.obj");
  if (system("command -v gmsh >/dev/null && command -v tetgen >/dev/null") != 0) {
    remove_folder();
    test_skip("gmsh and tetgen are not both installed");
  }
  CHECK(check_mesh("{surface: box.obj}", 1, 1e-6) > 50);
  int coarse = check_mesh("{surface: box.obj, filler: tetgen, scale: 10 cm}", 1e-3, 1e-6);
  CHECK(check_mesh("{surface: box.obj, filler: tetgen, scale: 10 cm, edge: 1 cm}", 1e-3, 1e-6) > 2 * coarse);
  remove_folder();
}

TEST(fillers_that_are_not_installed_are_named) {
  make_folder();
  put_file("eight.obj", octahedron);
  setenv("PATH", folder, 1);
  check_refused(
      "solids:\n  - {mesh: {surface: eight.obj}, young: 1 MPa, poisson: 0.3}\n",
      "scene.yaml:3:22: error: the program gmsh, which fills surfaces with tetrahedra, is not installed; install "
      "it (Debian: the package gmsh)");
  check_refused("solids:\n  - {mesh: {surface: eight.obj, filler: tetgen}, young: 1 MPa, poisson: 0.3}\n",
                "the package tetgen");
  setenv("PATH", "/usr/bin:/bin", 1);
  remove_folder();
}

TEST(files_of_solids_are_noted_and_follow_their_includes) {
  make_folder();
  char command[500];
  snprintf(command, sizeof command, "mkdir %s/parts", folder);
  REQUIRE(system(command) == 0);
  write_bar("parts/bar.msh");
  put_file("parts/one.node", "4 3 0 0\n0 0 0 0\n1 3 0 0\n2 0 3 0\n3 0 0 3\n");
  put_file("parts/one.ele", "1 4 0\n0 0 1 2 3\n");
  put_file("parts/lib.yaml",
           "defaults: {solid: {young: 1 MPa, poisson: 0.2}}\nsolids:\n  - {name: bar, mesh: {file: bar.msh}}\n"
           "  - {name: one, mesh: {file: one.ele}, position: [9, 0, 0]}\n");
  carom_scene *s = read_scene("include: parts/lib.yaml\ntitle: includes\n");
  REQUIRE(s);
  CHECK(s->model->solid_count == 2);
  CHECK(s->file_count == 5);
  char wanted[400];
  snprintf(wanted, sizeof wanted, "%s", path_of("parts/one.node"));
  bool found = false;
  for (int i = 0; i < s->file_count; i++) found = found || strcmp(s->files[i], wanted) == 0;
  CHECK(found);
  CHECK_CONTAINS(s->resolved, "file: parts/bar.msh");

  carom_scene *again;
  carom_diagnostics d;
  CHECK(carom_scene_parse(&(carom_bytes){path_of("again.yaml"), s->resolved, strlen(s->resolved)}, NULL, NULL, &again,
                          &d) == CAROM_OK);
  REQUIRE(again);
  CHECK(carom_state_hash(s->state) == carom_state_hash(again->state));
  CHECK_TEXT(again->resolved, s->resolved);
  carom_diagnostics_release(&d);
  carom_scene_destroy(again);
  carom_scene_destroy(s);

  carom_scene_options options = carom_scene_default_options();
  options.self_contained = true;
  const char *text = "carom: 1\nsolids:\n  - {mesh: {file: /etc/passwd}, young: 1, poisson: 0}\n";
  CHECK(carom_scene_parse(&(carom_bytes){"x.yaml", text, strlen(text)}, &options, NULL, &s, &d) == CAROM_ERR_SCENE);
  REQUIRE(d.count == 1);
  CHECK_TEXT(d.items[0].message, "this scene may not open other files");
  carom_diagnostics_release(&d);
  remove_folder();
}

// ---- matter --------------------------------------------------------------------------------------------------------

// Constants of a solid with these words, in a scene with a material and defaults.
static void check_matter(const char *words, double lambda, double mu, double damping, carom_elastic_law law) {
  carom_scene *s = read_scene(
      "materials:\n"
      "  gel: {density: 950, lambda: 3 kPa, mu: 2 kPa, damping: 1 ms, law: stable}\n"
      "  steel: {density: 7850, young: 210 GPa, poisson: 0.3}\n"
      "defaults: {solid: {material: gel, mesh: {box: [1, 1, 1]}}}\n"
      "solids:\n  - {name: it%s%s}\n",
      words[0] ? ", " : "", words);
  if (!s) return;
  const carom_elastic_material *m = &s->model->solids[0].matter;
  CHECK_NEAR(m->lambda, lambda, 1e-14 * fabs(lambda));
  CHECK_NEAR(m->mu, mu, 1e-14 * mu);
  CHECK_NEAR(m->damping, damping, 1e-18);
  CHECK(s->model->solids[0].law == law);
  carom_scene_destroy(s);
}

TEST(constants_come_from_the_solid_its_defaults_and_its_material) {
  const double E = 1e6, nu = 0.25, lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = E / (2 * (1 + nu));
  check_matter("", 3e3, 2e3, 1e-3, CAROM_ELASTIC_STABLE);
  check_matter("mu: 4 kPa, law: ciarlet", 3e3, 4e3, 1e-3, CAROM_ELASTIC_CIARLET);
  check_matter("young: 1 MPa, poisson: 0.25", lambda, mu, 1e-3, CAROM_ELASTIC_STABLE);
  check_matter("material: steel", 210e9 * 0.3 / (1.3 * 0.4), 210e9 / 2.6, 0, CAROM_ELASTIC_NEO_HOOKE);
  check_matter("material: steel, young: 1 MPa, poisson: 0.25, damping: 2 ms", lambda, mu, 2e-3,
               CAROM_ELASTIC_NEO_HOOKE);
  check_matter("material: steel, lambda: -1, mu: 2", -1, 2, 0, CAROM_ELASTIC_NEO_HOOKE);
}

TEST(a_solid_has_the_density_friction_and_colour_of_its_material_or_its_own) {
  carom_scene *s = read_scene(
      "materials: {gel: {density: 950, lambda: 3 kPa, mu: 2 kPa, friction: 0.7, color: \"#102030\"}}\n"
      "solids:\n  - {mesh: {box: [1, 1, 1]}, material: gel}\n"
      "  - {mesh: {box: [1, 1, 1]}, material: gel, density: 2 g/cm^3, position: [3, 0, 0], color: \"#010203\","
      " self_contact: true}\n");
  REQUIRE(s);
  const carom_solid *a = &s->model->solids[0], *b = &s->model->solids[1];
  CHECK_TEXT(a->name, "solid0");
  CHECK_TEXT(b->name, "solid1");
  CHECK_NEAR(a->mass, 950, 1e-10);
  CHECK_NEAR(b->mass, 2000, 1e-9);
  CHECK(a->color == 0x102030 && b->color == 0x010203);
  CHECK(!a->self_contact && b->self_contact);
  CHECK(s->model->materials[a->material].friction == 0.7 && a->material == b->material);
  carom_scene_destroy(s);
}

// ---- motion --------------------------------------------------------------------------------------------------------

static carom_vec3 turned(carom_vec3 x) { return cm_vec3(-x.y, x.x, x.z); }  // by 90 degrees about z

TEST(solids_start_where_and_as_fast_as_they_should) {
  carom_scene *s = read_scene(
      "constants: {rate: 3}\n"
      "solids:\n  - name: it\n    mesh: {box: {size: [1, 2, 3], cells: [1, 2, 3]}}\n    young: 1 MPa\n    poisson: "
      "0.3\n"
      "    position: [5, 6, 7]\n    rotation: {axis: [0, 0, 1], angle: 90 deg}\n"
      "    velocity: [\"-rate*x\", \"y*z - hypot(x, 1 cm)\", 30 cm/s]\n    angular_velocity_body: [1, 0, 2 rad/s]\n");
  REQUIRE(s);
  const carom_vec3 center = {5, 6, 7}, w = {0, 1, 2};
  carom_tets_box box = carom_tets_box_default();
  carom_tets mesh = {0};
  box.size = cm_vec3(1, 2, 3);
  for (int k = 0; k < 3; k++) box.cells[k] = k + 1;
  REQUIRE(carom_tets_init_box(&box, NULL, &mesh, NULL) == CAROM_OK && mesh.node_count == s->state->node_count);
  for (int i = 0; i < mesh.node_count; i++) {
    carom_vec3 x = cm_add(center, turned(mesh.nodes[i]));
    CHECK_AT_MOST(cm_norm(cm_sub(s->state->nodes[i], x)), 1e-14);
    carom_vec3 v = cm_vec3(-3 * x.x, x.y * x.z - hypot(x.x, 0.01), 0.3);
    v = cm_add(v, cm_cross(w, cm_sub(x, center)));
    CHECK_AT_MOST(cm_norm(cm_sub(s->state->node_velocities[i], v)), 1e-12);
  }
  carom_tets_release(&mesh);
  carom_scene_destroy(s);
}

TEST(velocities_of_numbers_are_those_of_all_nodes) {
  carom_scene *s = read_scene(
      "solids:\n  - {mesh: {ball: {radius: 1}}, young: 1 MPa, poisson: 0.3, velocity: [1, -2 m/s, 3 cm/s],"
      " angular_velocity: [0, 0, 4]}\n");
  REQUIRE(s);
  for (int i = 0; i < s->state->node_count; i++) {
    carom_vec3 x = s->state->nodes[i], v = cm_vec3(1 - 4 * x.y, -2 + 4 * x.x, 0.03);
    CHECK_AT_MOST(cm_norm(cm_sub(s->state->node_velocities[i], v)), 1e-13);
  }
  carom_scene_destroy(s);
}

// ---- pins and pressure ---------------------------------------------------------------------------------------------

static const carom_pin *pin_of(const carom_model *m, int node) {
  for (int i = 0; i < m->pin_count; i++)
    if (m->pins[i].node == node) return &m->pins[i];
  return NULL;
}

TEST(pins_hold_what_places_and_groups_select) {
  make_folder();
  write_bar("bar.msh");
  carom_scene *s = read_scene(
      "bodies:\n  - {name: wall, shape: {box: [1, 1, 1]}, fixed: true, position: [0, 0, 50]}\n"
      "drives: [{body: wall, velocity: [0, 2, 0]}]\napart: []\n"
      "solids:\n  - name: bar\n    mesh: {file: bar.msh}\n    young: 1 MPa\n    poisson: 0.3\n    position: [10, 0, "
      "0]\n"
      "    pinned:\n      - {group: left, where: \"x < 9.6 and not y > 0\"}\n"
      "      - {where: \"x > 109 mm + 10.4\", group: 7, to: wall}\n"
      "      - {where: \"y < -49 cm and x < 9.1\", to: world}\n");
  REQUIRE(s);
  const carom_model *m = s->model;
  int seen = 0;
  for (int i = 0; i < m->node_count; i++) {
    carom_vec3 x = s->state->nodes[i];
    bool to_world = x.x < 9.6 && x.y <= 0, to_wall = x.x > 10.509;
    const carom_pin *pin = pin_of(m, i);
    CHECK((pin != NULL) == (to_world || to_wall));
    if (!pin) continue;
    seen++;
    CHECK(pin->body == (to_wall ? 0 : CAROM_WORLD));
    CHECK_NEAR(s->state->node_velocities[i].y, to_wall ? 2 : 0, 1e-15);
  }
  CHECK(seen == m->pin_count && seen == 2 * 2 * 3 + 9);
  carom_scene_destroy(s);
  remove_folder();
}

TEST(pressure_acts_on_triangles_with_all_corners_there) {
  make_folder();
  write_bar("bar.msh");
  carom_scene *s = read_scene(
      "solids:\n  - name: bar\n    mesh: {file: bar.msh}\n    young: 1 MPa\n    poisson: 0.3\n"
      "    rotation: {axis: [0, 0, 1], angle: 90 deg}\n"
      "    pressure:\n      - {where: \"z > 0.49\", value: 2 kPa, schedule: [[0, 0], [2 s, 1]]}\n"
      "      - {where: \"z > 49 cm\", group: left, value: -3 Pa}\n      - {value: 5}\n");
  REQUIRE(s);
  const carom_model *m = s->model;
  REQUIRE(m->pressure_count == 3);
  const int counts[3] = {2 * 8, 2 * 4, 2 * (2 * 4 + 4 * 8)};
  const double areas[3] = {2, 1, 10};
  for (int p = 0; p < 3; p++) {
    const carom_pressure *pressure = &m->pressures[p];
    carom_vec3 area = cm_zero3();
    double sum = 0;
    CHECK(pressure->triangle_count == counts[p]);
    for (int t = 0; t < pressure->triangle_count; t++) {
      const int *v = m->pressed[pressure->triangle_start + t];
      carom_vec3 a = m->rest[v[0]];
      carom_vec3 n = cm_scale(0.5, cm_cross(cm_sub(m->rest[v[1]], a), cm_sub(m->rest[v[2]], a)));
      CHECK(p != 1 || a.y <= 1e-12);  // the left half is turned to y < 0
      area = cm_add(area, n), sum += cm_norm(n);
    }
    CHECK_NEAR(sum, areas[p], 1e-12);
    CHECK_NEAR(area.z, p == 2 ? 0 : areas[p], 1e-12);  // it points outwards
  }
  CHECK_NEAR(carom_pressure_at(m, 0, 1), 1000, 1e-12);
  CHECK_NEAR(carom_pressure_at(m, 1, 1), -3, 1e-15);
  carom_scene_destroy(s);
  remove_folder();
}

TEST(groups_that_are_not_there_are_answered_with_those_that_are) {
  make_folder();
  write_bar("bar.msh");
  check_refused("solids:\n  - {mesh: {file: bar.msh}, young: 1, poisson: 0, pinned: [{group: right}]}\n",
                "scene.yaml:3:68: error: the mesh of solid 0 has no group 'right' of tetrahedra (there are 'left', 7)");
  remove_folder();
}

// ---- arrays --------------------------------------------------------------------------------------------------------

TEST(copies_differ_by_their_indices) {
  carom_scene *s = read_scene(
      "solids:\n  - name: cube\n    replicate: {grid: {count: [2, 1, 2], spacing: 3}}\n"
      "    mesh: {box: {size: [1, 1, 1], cells: [1 + k, 1, 1]}}\n    young: (1 + n)*1 MPa\n    poisson: 0.3\n"
      "    position: [0, 0, 10]\n    velocity: [-x, n, 0]\n    pinned: [{where: \"x > i*3 - 1.1\"}]\n");
  REQUIRE(s);
  const carom_model *m = s->model;
  REQUIRE(m->solid_count == 4);
  CHECK(carom_model_find_solid(m, "cube_3") == 3);
  for (int n = 0; n < 4; n++) {
    const carom_solid *one = &m->solids[n];
    int i = n % 2, k = n / 2, first = one->node_start;
    CHECK(one->tet_count == 5 * (1 + k));
    CHECK_NEAR(one->matter.mu, (1 + n) * 1e6 / 2.6, 1e-6);
    CHECK(one->pin_count == 4);
    carom_vec3 low = s->state->nodes[first], high = low;
    for (int a = first; a < first + one->node_count; a++) {
      carom_vec3 x = s->state->nodes[a];
      low = cm_vec3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
      high = cm_vec3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
      bool pinned = pin_of(m, a) != NULL;
      CHECK_NEAR(s->state->node_velocities[a].x, pinned ? 0 : -x.x, 1e-14);
      CHECK_NEAR(s->state->node_velocities[a].y, pinned ? 0 : n, 1e-14);
    }
    CHECK_NEAR(low.x, -1.5 + 3 * i - 0.5, 1e-14);
    CHECK_NEAR(high.x, -1.5 + 3 * i + 0.5, 1e-14);
    CHECK_NEAR(0.5 * (low.z + high.z), 10 - 1.5 + 3 * k, 1e-14);
  }
  carom_scene_destroy(s);
}

TEST(clouds_of_solids_keep_their_distance) {
  carom_scene *s = read_scene(
      "seed: 5\nsolids:\n  - {name: b, replicate: {cloud: {count: 20, min: [-2, -2, -2], max: [2, 2, 2], rotate: "
      "true}},"
      " mesh: {ball: {radius: 30 cm, shells: 2}}, young: 1 MPa, poisson: 0.3}\n");
  REQUIRE(s);
  const carom_model *m = s->model;
  carom_vec3 centers[20];
  REQUIRE(m->solid_count == 20);
  for (int n = 0; n < 20; n++) {
    carom_vec3 sum = cm_zero3();
    for (int i = 0; i < m->solids[n].node_count; i++) sum = cm_add(sum, s->state->nodes[m->solids[n].node_start + i]);
    centers[n] = cm_scale(1.0 / m->solids[n].node_count, sum);
    for (int k = 0; k < n; k++) CHECK(cm_norm(cm_sub(centers[n], centers[k])) > 0.6 - 1e-9);
  }
  carom_scene_destroy(s);
}

TEST(all_tetrahedra_of_a_scene_have_a_bound) {
  carom_scene_options options = carom_scene_default_options();
  carom_scene *scene;
  carom_diagnostics d;
  const char *text =
      "carom: 1\nsolids:\n  - {name: a, mesh: {box: [1, 1, 1]}, young: 1, poisson: 0, replicate: {stack: {count: 3, "
      "spacing: 2}}}\n";
  for (int most = 200; most <= 203; most += 3) {
    options.max_bodies = most;  // two tetrahedra for each: 3 cubes have 3 * 135
    carom_status status = carom_scene_parse(&(carom_bytes){"x.yaml", text, strlen(text)}, &options, NULL, &scene, &d);
    CHECK(status == (most == 203 ? CAROM_OK : CAROM_ERR_SCENE));
    if (status != CAROM_OK)
      CHECK_TEXT(d.items[0].message, "a mesh of about 135 tetrahedra, but only 130 more will do in this scene");
    carom_diagnostics_release(&d);
    carom_scene_destroy(scene);
  }
}

// ---- runs ----------------------------------------------------------------------------------------------------------

static carom_state *run(const carom_scene *s, int steps) {
  carom_stepper *stepper = NULL;
  carom_state *state = NULL;
  carom_error error = {0};
  carom_status status = carom_state_clone(s->state, NULL, &state, &error);
  if (status == CAROM_OK) status = carom_stepper_create(s->model, &s->step, NULL, &stepper, &error);
  for (int i = 0; i < steps && status == CAROM_OK; i++) status = carom_stepper_step(stepper, state, NULL, &error);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_stepper_destroy(stepper);
  return state;
}

static carom_vec3 momentum(const carom_model *m, const carom_state *state) {
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < m->node_count; i++) sum = cm_axpy(sum, m->node_masses[i], state->node_velocities[i]);
  return sum;
}

static carom_vec3 center_of(const carom_model *m, const carom_state *state) {
  carom_vec3 sum = cm_zero3();
  double mass = 0;
  for (int i = 0; i < m->node_count; i++)
    sum = cm_axpy(sum, m->node_masses[i], state->nodes[i]), mass += m->node_masses[i];
  return cm_scale(1 / mass, sum);
}

// Explicit and implicit, of solids alone: the centre of mass falls as a point.
TEST(a_scene_of_solids_alone_runs) {
  static const char *const quadratures[] = {"endpoint", "midpoint"};
  for (int q = 0; q < 2; q++) {
    carom_scene *s = read_scene(
        "solids:\n  - {name: it, mesh: {box: [1, 1, 2]}, density: 500, young: 1 MPa, poisson: 0.3,"
        " velocity: [1 - x/10, 0, 2], angular_velocity: [0, 1, 0]}\n"
        "forces: {gravity: 10}\nintegrator: {step: 1 ms, quadrature: %s}\nduration: 0.1\n",
        quadratures[q]);
    REQUIRE(s);
    CHECK_TEXT(s->step.integrator, "variational");
    carom_vec3 from = center_of(s->model, s->state);
    carom_state *end = run(s, 100);
    REQUIRE(end);
    carom_vec3 moved = cm_sub(center_of(s->model, end), from), p = momentum(s->model, end);
    CHECK_NEAR(moved.x, 0.1, 1e-12);
    CHECK_NEAR(moved.y, 0, 1e-12);
    CHECK_NEAR(moved.z, 0.2 - 0.05, 1e-12);
    CHECK_NEAR(p.x, 1000, 1e-9);
    CHECK_NEAR(p.z, 1000, 1e-9);
    carom_state_destroy(end);
    carom_scene_destroy(s);
  }
}

// The impulse of pressure on one side of a cube that is stiff: p A t.
TEST(pressure_pushes_and_solids_move_beside_bodies) {
  carom_scene *s = read_scene(
      "bodies:\n  - {name: ball, shape: {sphere: 1}, mass: 1, position: [0, 9, 0], velocity: [0, 3, 0]}\n"
      "solids:\n  - {name: it, mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, young: 100 MPa, poisson: 0.3,"
      " pressure: [{where: \"x < -0.499\", value: 3 kPa}]}\n"
      "apart: []\nintegrator: {step: 0.1 ms}\nduration: 0.1\n");
  REQUIRE(s);
  CHECK_TEXT(s->step.integrator, "potential");
  carom_state *end = run(s, 100);
  REQUIRE(end);
  CHECK_NEAR(momentum(s->model, end).x, 3e3 * 0.01, 3e3 * 0.01 * 1e-4);
  CHECK_NEAR(end->x[0].y, 9.03, 1e-12);
  carom_state_destroy(end);
  carom_scene_destroy(s);
}

TEST(pinned_nodes_go_where_a_driven_body_takes_them) {
  carom_scene *s = read_scene(
      "bodies:\n  - {name: wall, shape: {box: [1, 1, 1]}, fixed: true, position: [0, 0, 50]}\n"
      "drives: [{body: wall, velocity: [0, 2, 0]}]\n"
      "solids:\n  - {name: it, mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, young: 1 MPa, poisson: 0.3,"
      " pinned: [{where: \"z > 0.4\", to: wall}]}\n"
      "integrator: {step: 0.1 ms}\nduration: 0.1\n");
  REQUIRE(s);
  carom_state *end = run(s, 200);
  REQUIRE(end);
  double pulled = 0;
  for (int i = 0; i < s->model->node_count; i++) {
    carom_vec3 moved = cm_sub(end->nodes[i], s->state->nodes[i]);
    if (pin_of(s->model, i))
      CHECK_AT_MOST(cm_norm(cm_sub(moved, cm_vec3(0, 0.04, 0))), 1e-14);
    else
      pulled += moved.y;
  }
  CHECK(pulled > 0);
  carom_state_destroy(end);
  carom_scene_destroy(s);
}

TEST(steps_that_are_too_long_are_taken_in_parts_or_refused) {
  carom_scene *s = read_scene(
      "solids:\n  - {mesh: {box: [1, 1, 1]}, young: 1 MPa, poisson: 0.3}\nintegrator: {step: 10 ms}\nduration: 0.1\n");
  REQUIRE(s);
  double critical = s->model->solids[0].critical_step;
  CHECK(critical > 1e-3 && critical < 0.02);  // c = 37 m/s, cells of 0.33 m
  int parts = carom_step_parts(s->model, &s->step);
  CHECK(parts > 1 && 0.01 / parts < critical && 0.01 / (parts - 1) > 0.5 * critical);
  carom_scene_destroy(s);
  carom_error error = {0};
  s = read_scene("solids:\n  - {name: it, mesh: {box: [1, 1, 1]}, young: 1e4 GPa, poisson: 0.3}\n");
  REQUIRE(s);
  CHECK(carom_step_check_start(s->model, s->state, &s->step, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "solid 'it' is too stiff for explicit steps");
  s->step.quadrature = CAROM_QUADRATURE_MIDPOINT;
  CHECK(carom_step_check_start(s->model, s->state, &s->step, &error) == CAROM_OK);
  CHECK(carom_step_parts(s->model, &s->step) == 1);
  carom_scene_destroy(s);
}

TEST(plans_refuse_solids) {
  carom_scene *s = read_scene(
      "bodies: [{name: b, shape: {sphere: 1}, mass: 1}]\n"
      "solids:\n  - {name: soft, mesh: {box: [1, 1, 1]}, young: 1 MPa, poisson: 0.3, position: [5, 0, 0]}\n");
  REQUIRE(s);
  carom_plan_def def = carom_plan_default();
  carom_plan *plan = NULL;
  carom_error error = {0};
  CHECK(carom_plan_create(s->model, s->state, &def, NULL, &plan, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "plans know rigid bodies alone: take the solids ('soft') out of the scene");
  carom_scene_destroy(s);
}

// ---- memory --------------------------------------------------------------------------------------------------------

TEST(memory_runs_out_in_a_scene_of_solids) {
  static const char text[] =
      "carom: 1\nmaterials: {gel: {lambda: 3 kPa, mu: 2 kPa}}\nbodies: [{name: w, shape: {sphere: 1}, fixed: true}]\n"
      "solids:\n  - {name: a, mesh: {turned: {profile: [[0, 1], [1, 1]], rings: 1}}, material: gel, position: [0, 0, "
      "9],"
      " velocity: [x, 0, 0], pinned: [{where: z > 9.5, to: w}], pressure: [{value: 1}],"
      " replicate: {cloud: {count: 2, min: [0, 0, 0], max: [9, 0, 0]}}}\n";
  int refused = 0;
  for (int limit = 0; limit < 2000; limit++) {
    failing_allocator f = {.allowed = limit};
    carom_allocator a = failing_allocator_of(&f);
    carom_scene *s;
    carom_diagnostics d;
    carom_status status = carom_scene_parse(&(carom_bytes){"m.yaml", text, sizeof text - 1}, NULL, &a, &s, &d);
    carom_scene_destroy(s);
    carom_diagnostics_release(&d);
    CHECK(f.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
    refused++;
  }
  CHECK(refused > 100 && refused < 2000);
}
