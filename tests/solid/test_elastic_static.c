// Equilibria: patches, moduli, beams; and CalculiX, where it is installed, on the same meshes with the same law.
#include <unistd.h>

#include "solid_fixture.h"

static carom_elastic_stepper *implicit(carom_elastic *e) {
  carom_elastic_options o = carom_elastic_default_options();
  o.method = CAROM_ELASTIC_MIDPOINT;
  return solid_stepper(e, &o);
}

typedef struct pin_list {
  int count;
  int *nodes;
} pin_list;

// Nodes with lo <= component c <= hi.
static pin_list nodes_between(const solid_mesh *m, int c, double lo, double hi) {
  pin_list p = {0, malloc((size_t)m->node_count * sizeof *p.nodes)};
  for (int i = 0; i < m->node_count; i++) {
    double at = c == 0 ? m->nodes[i].x : c == 1 ? m->nodes[i].y : m->nodes[i].z;
    if (at >= lo - 1e-9 && at <= hi + 1e-9) p.nodes[p.count++] = i;
  }
  return p;
}

static void add_nodes(pin_list *p, pin_list more) {
  int *all = malloc((size_t)(p->count + more.count) * sizeof *all);
  memcpy(all, p->nodes, (size_t)p->count * sizeof *all);
  memcpy(all + p->count, more.nodes, (size_t)more.count * sizeof *all);
  free(p->nodes), free(more.nodes);
  p->nodes = all, p->count += more.count;
}

// ---- patches --------------------------------------------------------------------------------------------------------

typedef struct patch {
  const carom_vec3 *rest;
  const int *pins;
  carom_mat3 F;
} patch;

static void stretch(void *context, double t, int i, carom_vec3 *x, carom_vec3 *v) {
  const patch *p = context;
  carom_vec3 X = p->rest[p->pins[i]];
  *x = cm_lerp(X, cm_mulv(p->F, X), t);
  *v = cm_zero3();
}

TEST(a_patch_settles_to_homogeneous_deformation) {
  const solid_box box = {.cells = {3, 4, 3}, .size = {0.3, 0.4, 0.3}, .disorder = 0.25, .seed = 2};
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    solid_sample s = solid_sample_make(&box, law, &RUBBER);
    carom_elastic_stepper *stepper = implicit(s.elastic);
    carom_elastic_state *state = solid_state(s.elastic);
    carom_elastic_report report;
    carom_error error = {0};
    carom_random r = carom_random_make(3, (uint64_t)law);
    pin_list pins = nodes_between(&s.mesh, 0, 0, 0);
    for (int c = 0; c < 3; c++)
      for (int side = 0; side < 2; side++)
        if (c + side > 0)
          add_nodes(&pins, nodes_between(&s.mesh, c, side * (c == 1 ? 0.4 : 0.3), side * (c == 1 ? 0.4 : 0.3)));
    patch p = {s.mesh.nodes, pins.nodes, solid_random_matrix(&r, 0.3)};
    carom_elastic_loads loads = {.pin_count = pins.count, .pins = pins.nodes, .move = stretch, .context = &p};
    carom_status status = carom_elastic_settle(stepper, &loads, 3, state, &report, &error);
    if (status) puts(error.message);
    REQUIRE(status == CAROM_OK);
    for (int i = 0; i < state->node_count; i++)
      CHECK_AT_MOST(cm_norm(cm_sub(state->x[i], cm_mulv(p.F, s.mesh.nodes[i]))), 1e-12);
    CHECK_NEAR(report.least_J, cm_det(p.F), 1e-10);
    free(pins.nodes);
    carom_elastic_state_destroy(state);
    carom_elastic_stepper_destroy(stepper);
    solid_sample_free(&s);
  }
}

// ---- beams ----------------------------------------------------------------------------------------------------------

enum { L_OVER_H = 8 };

// The deflection of a cantilever of length 0.8 and square section 0.1 under its own weight, cells a side of the
// section.
static double droop(int cells, double young, double poisson, carom_elastic_law law) {
  const double length = 0.8, side = 0.1;
  const solid_box box = {.cells = {L_OVER_H * cells, cells, cells}, .size = {length, side, side}};
  carom_elastic_material m;
  if (carom_elastic_material_of(young, poisson, 1000, &m, NULL)) return NAN;
  solid_sample s = solid_sample_make(&box, law, &m);
  carom_elastic_stepper *stepper = implicit(s.elastic);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_error error = {0};
  pin_list root = nodes_between(&s.mesh, 0, 0, 0), tip = nodes_between(&s.mesh, 0, length, length);
  carom_elastic_loads loads = {.gravity = {0, 0, -9.81}, .pin_count = root.count, .pins = root.nodes};
  double down = 0;
  if (carom_elastic_settle(stepper, &loads, 1, state, NULL, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  for (int i = 0; i < tip.count; i++) down += (s.mesh.nodes[tip.nodes[i]].z - state->x[tip.nodes[i]].z) / tip.count;
  free(root.nodes), free(tip.nodes);
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
  return down;
}

// Timoshenko's beam with nu = 0: q L^4 / (8 E I) + q L^2 / (2 k G A), k = 5/6. Linear tetrahedra are too stiff in
// bending, by a factor that goes to 1 as the square of their size: what is extrapolated from two meshes is compared.
TEST(a_cantilever_droops_as_a_beam) {
  const double young = 1e8, side = 0.1, L = 0.8, q = 1000 * 9.81 * side * side;
  double bending = q * L * L * L * L / (8 * young * side * side * side * side / 12);
  double shear = q * L * L / (2 * (5.0 / 6) * (young / 2) * side * side), expected = bending + shear;
  double coarse = droop(2, young, 0, CAROM_ELASTIC_NEO_HOOKE), fine = droop(4, young, 0, CAROM_ELASTIC_NEO_HOOKE);
  double finest = droop(6, young, 0, CAROM_ELASTIC_NEO_HOOKE);
  double limit = (36 * finest - 16 * fine) / 20;
  printf("of the beam's %.4g mm: %.3f, %.3f, %.3f with 2, 4, 6 cells; extrapolated %.4f\n", 1e3 * expected,
         coarse / expected, fine / expected, finest / expected, limit / expected);
  CHECK(coarse < fine && fine < finest && finest < expected);
  CHECK_NEAR(limit, expected, 0.01 * expected);
}

// ---- messages -------------------------------------------------------------------------------------------------------

TEST(what_is_not_held_or_cannot_be_reached_says_so) {
  const solid_box box = {.cells = {2, 2, 2}, .size = {0.2, 0.2, 0.2}};
  solid_sample s = solid_sample_make(&box, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
  carom_elastic_stepper *stepper = implicit(s.elastic), *explicit_one = solid_stepper(s.elastic, NULL);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_error error = {0};
  const int line[3] = {0, 1, 2}, bad[1] = {27};
  carom_elastic_loads loads = {.gravity = {0, 0, -9.81}, .pin_count = 3, .pins = line};
  CHECK(carom_elastic_settle(stepper, &loads, 1, state, NULL, &error) == CAROM_ERR_SINGULAR);
  CHECK_CONTAINS(error.message, "pins do not hold the solid; pin three nodes that are not on a line");
  CHECK(carom_elastic_settle(explicit_one, &loads, 1, state, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "equilibria need a stepper of the method midpoint");
  loads.pins = bad, loads.pin_count = 1;
  CHECK(carom_elastic_step(stepper, &loads, 1e-3, state, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "pin 0 is node 27, but nodes go from 0 to 26");
  loads.pin_count = 0;
  CHECK(carom_elastic_step(stepper, &loads, 0, state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, "a step of 0 s; it must be positive");

  pin_list ends = nodes_between(&s.mesh, 0, 0, 0);
  add_nodes(&ends, nodes_between(&s.mesh, 0, 0.2, 0.2));
  patch crushed = {s.mesh.nodes, ends.nodes, cm_diag3(-0.5, 1, 1)};
  carom_elastic_loads crush = {.pin_count = ends.count, .pins = ends.nodes, .move = stretch, .context = &crushed};
  CHECK(carom_elastic_settle(stepper, &crush, 4, state, NULL, &error) == CAROM_NOT_CONVERGED);
  CHECK_CONTAINS(error.message, "no equilibrium was found beyond 0.6");
  CHECK(memcmp(state->x, s.mesh.nodes, (size_t)state->node_count * sizeof *state->x) == 0);
  free(ends.nodes);
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  carom_elastic_stepper_destroy(explicit_one);
  solid_sample_free(&s);
}

static const carom_vec3 CORNERS[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};

static void refused(const carom_elastic_def *def, carom_status expected, const char *message) {
  carom_elastic *e = NULL;
  carom_error error = {0};
  CHECK(carom_elastic_create(def, NULL, &e, &error) == expected);
  CHECK(e == NULL);
  CHECK_TEXT(error.message, message);
}

TEST(bad_solids_are_refused_with_one_message_each) {
  const int good[1][4] = {{0, 1, 2, 3}}, inside_out[2][4] = {{0, 1, 2, 3}, {4, 1, 2, 3}}, far[1][4] = {{0, 1, 2, 9}};
  const int flat[1][4] = {{0, 1, 2, 2}}, below[1][4] = {{0, 1, 2, -1}}, which[1] = {1};
  carom_elastic_material m = RUBBER;
  carom_elastic_def def = carom_elastic_default_def();
  def.node_count = 5, def.nodes = CORNERS, def.tet_count = 1, def.tets = good, def.material_count = 1,
  def.materials = &m;
  refused(&def, CAROM_ERR_GEOMETRY, "node 4 belongs to no tetrahedron; leave it out");
  def.node_count = 4, def.tets = far;
  refused(&def, CAROM_ERR_ARGUMENT, "tetrahedron 0 names node 9, but nodes go from 0 to 3");
  def.tets = below;
  refused(&def, CAROM_ERR_ARGUMENT, "tetrahedron 0 names node -1, but nodes go from 0 to 3");
  def.tets = flat;
  refused(
      &def, CAROM_ERR_GEOMETRY,
      "tetrahedron 0 is flat: its volume is 0 m3 with edges of up to 1.41 m; mesh again without slivers, or leave it "
      "out");
  def.node_count = 5, def.tets = inside_out, def.tet_count = 2;
  refused(&def, CAROM_ERR_GEOMETRY, "tetrahedron 1 is inside out: its volume is -0.333 m3; exchange two of its nodes");
  def.node_count = 4, def.tets = good, def.tet_count = 1, def.material_of = which;
  refused(&def, CAROM_ERR_ARGUMENT, "tetrahedron 0 names material 1, but materials go from 0 to 0");
  def.material_of = NULL, m.density = 0;
  refused(&def, CAROM_ERR_NUMBER, "material 0: the density is 0 kg/m3; it must be positive and finite");
  m = RUBBER, m.mu = -1;
  refused(&def, CAROM_ERR_NUMBER, "material 0: mu is -1 Pa; it must be positive and finite");
  m = RUBBER, m.lambda = -7000;
  refused(
      &def, CAROM_ERR_NUMBER,
      "material 0: lambda is -7000 Pa; it must be finite and above -2/3 mu = -6666.67 Pa (Poisson's ratio above -1)");
  m = RUBBER, m.damping = -1;
  refused(&def, CAROM_ERR_NUMBER, "material 0: the damping is -1 s; it must be 0 or positive, and finite");
  m = RUBBER, def.tet_count = 0;
  refused(&def, CAROM_ERR_ARGUMENT, "4 nodes, 0 tetrahedra and 1 materials; a solid needs 4, 1 and 1 at least");
  def.tet_count = 1, def.law = (carom_elastic_law)7;
  refused(&def, CAROM_ERR_ARGUMENT, "there is no elastic law number 7");
  carom_vec3 wild[4] = {{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}, {0, 0, 1}};
  def.law = 0, def.nodes = wild;
  refused(&def, CAROM_ERR_NUMBER, "node 2 is not finite");
}

static void no_material(double young, double poisson, double density, const char *message) {
  carom_elastic_material m;
  carom_error error = {0};
  CHECK(carom_elastic_material_of(young, poisson, density, &m, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, message);
}

TEST(bad_constants_are_refused_with_one_message_each) {
  no_material(0, 0.3, 1000, "Young's modulus is 0 Pa; it must be positive and finite");
  no_material(1e5, 0.5, 1000,
              "Poisson's ratio is 0.5; it must be below 0.5, where nothing can change its volume (rubber: 0.49)");
  no_material(1e5, -1, 1000, "Poisson's ratio is -1; it must be above -1");
  no_material(1e5, NAN, 1000,
              "Poisson's ratio is nan; it must be below 0.5, where nothing can change its volume (rubber: 0.49)");
  no_material(1e5, 0.3, -2, "the density is -2 kg/m3; it must be positive and finite");
}

// ---- CalculiX -------------------------------------------------------------------------------------------------------
// Its user material CIARLET_EL is the law ciarlet, its C3D4 the tetrahedron used here: nothing is left but round-off
// and how many digits it prints. It sums energies by the trapezoidal rule over its increments, with an error of their
// square, so that two runs are extrapolated.

static const double YOUNG = 1e5, POISSON = 0.3;

typedef struct deck {
  const char *name;
  const solid_mesh *mesh;
  pin_list pins;
  carom_vec3 *to;           // where pins end
  const carom_vec3 *force;  // (node_count); null: none
  int increments;
} deck;

static bool write_deck(const deck *d) {
  char path[100];
  snprintf(path, sizeof path, "%s.inp", d->name);
  FILE *f = fopen(path, "w");
  if (!f) return false;
  const solid_mesh *m = d->mesh;
  fputs("*NODE, NSET=ALL\n", f);
  for (int i = 0; i < m->node_count; i++)
    fprintf(f, "%d,%.15g,%.15g,%.15g\n", i + 1, m->nodes[i].x, m->nodes[i].y, m->nodes[i].z);
  fputs("*ELEMENT, TYPE=C3D4, ELSET=SOLID\n", f);
  for (int i = 0; i < m->tet_count; i++) {
    const int *t = m->tets[i];
    fprintf(f, "%d,%d,%d,%d,%d\n", i + 1, t[0] + 1, t[1] + 1, t[2] + 1, t[3] + 1);
  }
  fprintf(f, "*MATERIAL, NAME=CIARLET_EL\n*USER MATERIAL, CONSTANTS=2\n%g,%g\n", YOUNG, POISSON);
  fprintf(f, "*SOLID SECTION, ELSET=SOLID, MATERIAL=CIARLET_EL\n*STEP, NLGEOM, INC=100000\n*STATIC, DIRECT\n%.17g,1.\n",
          1.0 / d->increments);
  fputs("*CONTROLS, PARAMETERS=FIELD\n1e-9,1e-9,,,1e-9\n*BOUNDARY\n", f);
  for (int k = 0; k < d->pins.count; k++) {
    carom_vec3 u = cm_sub(d->to[k], m->nodes[d->pins.nodes[k]]);
    int n = d->pins.nodes[k] + 1;
    fprintf(f, "%d,1,1,%.15g\n%d,2,2,%.15g\n%d,3,3,%.15g\n", n, u.x, n, u.y, n, u.z);
  }
  if (d->force) fputs("*CLOAD\n", f);
  for (int i = 0; d->force && i < m->node_count; i++)
    if (cm_norm2(d->force[i]) > 0)
      fprintf(f, "%d,1,%.15g\n%d,2,%.15g\n%d,3,%.15g\n", i + 1, d->force[i].x, i + 1, d->force[i].y, i + 1,
              d->force[i].z);
  fputs("*EL PRINT, ELSET=SOLID, TOTALS=ONLY, FREQUENCY=100000\nELSE\n", f);
  fputs("*NODE PRINT, NSET=ALL, FREQUENCY=100000\nU\n*END STEP\n", f);
  return fclose(f) == 0;
}

// The total energy and the displacements at the end.
static bool read_answer(const deck *d, double *energy, carom_vec3 *u) {
  char path[100], line[200];
  snprintf(path, sizeof path, "%s.dat", d->name);
  FILE *f = fopen(path, "r");
  int nodes = 0, section = 0;
  *energy = NAN;
  while (f && fgets(line, sizeof line, f)) {
    int n;
    carom_vec3 v;
    if (strstr(line, "total internal energy")) section = 1;
    if (strstr(line, "displacements")) section = 2;
    if (section == 1 && sscanf(line, "%lf", energy) == 1) section = 0;
    if (section == 2 && sscanf(line, "%d %lf %lf %lf", &n, &v.x, &v.y, &v.z) == 4) u[n - 1] = v, nodes++;
  }
  if (f) fclose(f);
  return nodes == d->mesh->node_count && isfinite(*energy);
}

static bool calculix(deck *d, int increments, double *energy, carom_vec3 *u) {
  char command[200];
  d->increments = increments;
  snprintf(command, sizeof command, "OMP_NUM_THREADS=1 ccx %s > %s.log 2>&1", d->name, d->name);
  return write_deck(d) && system(command) == 0 && read_answer(d, energy, u);
}

static void go(void *context, double t, int i, carom_vec3 *x, carom_vec3 *v) {
  const deck *d = context;
  *x = cm_lerp(d->mesh->nodes[d->pins.nodes[i]], d->to[i], t);
  *v = cm_zero3();
}

// Both solve; energies to 1e-6 and displacements to 1e-6 of the largest.
static void compare(deck *d) {
  carom_elastic_material m;
  REQUIRE(carom_elastic_material_of(YOUNG, POISSON, 1000, &m, NULL) == CAROM_OK);
  carom_elastic_def def = solid_def(d->mesh, &m);
  def.law = CAROM_ELASTIC_CIARLET;
  carom_elastic *e = solid_of(&def);
  carom_elastic_stepper *stepper = implicit(e);
  carom_elastic_state *state = solid_state(e);
  carom_elastic_loads loads = {
      .pin_count = d->pins.count, .pins = d->pins.nodes, .move = go, .context = d, .force = d->force};
  carom_elastic_sample sample;
  carom_error error = {0};
  carom_status status = carom_elastic_settle(stepper, &loads, 4, state, NULL, &error);
  if (status) puts(error.message);
  REQUIRE(status == CAROM_OK);
  carom_elastic_measure(e, state->x, NULL, &sample);
  double coarse = NAN, fine = NAN, far = 0, off = 0;
  carom_vec3 *u = solid_vectors(d->mesh->node_count);
  bool ran = calculix(d, 40, &coarse, u) && calculix(d, 80, &fine, u);
  CHECK(ran);
  double theirs = (4 * fine - coarse) / 3;
  for (int i = 0; ran && i < d->mesh->node_count; i++) {
    carom_vec3 ours = cm_sub(state->x[i], d->mesh->nodes[i]);
    far = fmax(far, cm_norm(ours)), off = fmax(off, cm_norm(cm_sub(ours, u[i])));
  }
  printf("%-10s energy %.9g J, CalculiX's off by %.1e; displacements by %.1e of the largest\n", d->name, sample.energy,
         theirs / sample.energy - 1, off / far);
  CHECK_NEAR(theirs, sample.energy, 1e-6 * sample.energy);
  CHECK_AT_MOST(off, 1e-6 * far);
  free(u);
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  carom_elastic_destroy(e);
}

static bool is_installed(void) { return system("command -v ccx > /dev/null 2>&1") == 0; }

// A bar of 2 x 2 x 6 cells, disordered, both ends pinned; the far end goes where `how` says.
static void compare_bar(const char *name, carom_vec3 (*how)(carom_vec3 X)) {
  if (!is_installed()) test_skip("CalculiX (calculix-ccx) is not installed");
  const solid_box box = {.cells = {6, 2, 2}, .size = {0.3, 0.1, 0.1}, .disorder = 0.2, .seed = 12};
  solid_mesh mesh = solid_box_make(&box);
  deck d = {.name = name, .mesh = &mesh, .pins = nodes_between(&mesh, 0, 0, 0)};
  int root = d.pins.count;
  add_nodes(&d.pins, nodes_between(&mesh, 0, 0.3, 0.3));
  d.to = solid_vectors(d.pins.count);
  for (int k = 0; k < d.pins.count; k++) {
    carom_vec3 X = mesh.nodes[d.pins.nodes[k]];
    d.to[k] = k < root ? X : how(X);
  }
  compare(&d);
  free(d.to), free(d.pins.nodes);
  solid_mesh_free(&mesh);
}

static carom_vec3 pull(carom_vec3 X) { return cm_add(X, cm_vec3(0.09, 0, 0)); }
static carom_vec3 slide(carom_vec3 X) { return cm_add(X, cm_vec3(0, 0.06, 0.02)); }
static carom_vec3 bend(carom_vec3 X) {
  double a = 0.7, y = X.y - 0.05;
  return cm_vec3(0.27 + y * -sin(a), 0.05 + 0.1 + y * cos(a), X.z);
}
static carom_vec3 twist(carom_vec3 X) {
  double a = 1.2, y = X.y - 0.05, z = X.z - 0.05;
  return cm_vec3(X.x, 0.05 + y * cos(a) - z * sin(a), 0.05 + y * sin(a) + z * cos(a));
}

TEST(calculix_agrees_on_a_bar_that_is_pulled) { compare_bar("pulled", pull); }
TEST(calculix_agrees_on_a_bar_that_is_sheared) { compare_bar("sheared", slide); }
TEST(calculix_agrees_on_a_bar_that_is_bent) { compare_bar("bent", bend); }
TEST(calculix_agrees_on_a_bar_that_is_twisted) { compare_bar("twisted", twist); }

// The whole surface goes inwards; inside, nodes find their places.
TEST(calculix_agrees_on_a_block_that_is_compressed) {
  if (!is_installed()) test_skip("CalculiX (calculix-ccx) is not installed");
  const solid_box box = {.cells = {4, 4, 4}, .size = {0.2, 0.2, 0.2}, .disorder = 0.25, .seed = 13};
  solid_mesh mesh = solid_box_make(&box);
  deck d = {.name = "volume", .mesh = &mesh, .pins = {0, malloc((size_t)mesh.node_count * sizeof(int))}};
  for (int i = 0; i < mesh.node_count; i++) {
    int a = i % 5, b = i / 5 % 5, c = i / 25;
    if (a % 4 == 0 || b % 4 == 0 || c % 4 == 0) d.pins.nodes[d.pins.count++] = i;
  }
  d.to = solid_vectors(d.pins.count);
  for (int k = 0; k < d.pins.count; k++) {
    carom_vec3 X = mesh.nodes[d.pins.nodes[k]];
    d.to[k] = cm_vec3(0.8 * X.x, 0.8 * X.y + 0.3 * X.x * X.x, 0.85 * X.z);
  }
  compare(&d);
  free(d.to), free(d.pins.nodes);
  solid_mesh_free(&mesh);
}

// A cantilever with a force on the nodes of its tip that bends it by more than its height.
TEST(calculix_agrees_on_a_cantilever) {
  if (!is_installed()) test_skip("CalculiX (calculix-ccx) is not installed");
  const solid_box box = {.cells = {12, 2, 2}, .size = {0.6, 0.05, 0.05}};
  solid_mesh mesh = solid_box_make(&box);
  deck d = {.name = "cantilever", .mesh = &mesh, .pins = nodes_between(&mesh, 0, 0, 0)};
  pin_list tip = nodes_between(&mesh, 0, 0.6, 0.6);
  carom_vec3 *force = solid_vectors(mesh.node_count);
  for (int i = 0; i < tip.count; i++) force[tip.nodes[i]] = cm_vec3(0, 0.001, -0.06);
  d.to = solid_vectors(d.pins.count), d.force = force;
  for (int k = 0; k < d.pins.count; k++) d.to[k] = mesh.nodes[d.pins.nodes[k]];
  compare(&d);
  free(d.to), free(d.pins.nodes), free(tip.nodes), free(force);
  solid_mesh_free(&mesh);
}
