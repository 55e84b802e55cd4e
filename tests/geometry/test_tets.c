// Meshes of tetrahedra that are made, checked, skinned and measured; against closed forms, and against the slow way.
#include "carom/tets.h"

#include "test_geometry.h"
#include "tets_samples.h"

static const double PI = 3.14159265358979323846;

static void require_ok(carom_status status, const carom_error *error) {
  if (status) test_fail(__FILE__, __LINE__, "%s", error->message);
}

static carom_tets make_box(carom_vec3 size, int nx, int ny, int nz, carom_tets_pattern pattern) {
  carom_tets_box def = carom_tets_box_default();
  carom_tets m = {0};
  carom_error error = {0};
  def.size = size;
  def.cells[0] = nx, def.cells[1] = ny, def.cells[2] = nz;
  def.pattern = pattern;
  require_ok(carom_tets_init_box(&def, NULL, &m, &error), &error);
  CHECK(is_sound(&m));
  return m;
}

// ---- symmetry -----------------------------------------------------------------------------------

static const carom_tets *compared;
static int by_place(const void *a, const void *b) {
  carom_vec3 p = compared->nodes[*(const int *)a], q = compared->nodes[*(const int *)b];
  const double d[3] = {p.x - q.x, p.y - q.y, p.z - q.z};
  for (int k = 0; k < 3; k++)
    if (d[k] != 0) return d[k] < 0 ? -1 : 1;
  return 0;
}

static int by_corners(const void *a, const void *b) {
  const int *s = a, *t = b;
  for (int k = 0; k < 4; k++)
    if (s[k] != t[k]) return s[k] < t[k] ? -1 : 1;
  return 0;
}

static void sort4(int *v) {
  for (int i = 0; i < 4; i++)
    for (int j = i + 1; j < 4; j++)
      if (v[j] < v[i]) {
        int low = v[j];
        v[j] = v[i];
        v[i] = low;
      }
}

// Tetrahedra by the places of their nodes in the order of coordinates.
static int (*by_rank(const carom_tets *m))[4] {
  int *order = calloc((size_t)m->node_count, sizeof *order), *rank = calloc((size_t)m->node_count, sizeof *rank);
  int(*ranks)[4] = calloc((size_t)m->tet_count, sizeof *ranks);
  for (int i = 0; i < m->node_count; i++) order[i] = i;
  compared = m;
  qsort(order, (size_t)m->node_count, sizeof *order, by_place);
  for (int i = 0; i < m->node_count; i++) rank[order[i]] = i;
  for (int t = 0; t < m->tet_count; t++) {
    for (int k = 0; k < 4; k++) ranks[t][k] = rank[m->tets[t][k]];
    sort4(ranks[t]);
  }
  qsort(ranks, (size_t)m->tet_count, sizeof *ranks, by_corners);
  free(order);
  free(rank);
  return ranks;
}

// Whether the mesh is its own mirror image at a coordinate plane, nodes to the last bit and tetrahedra as sets of
// nodes.
static bool mirrors(const carom_tets *m, int axis) {
  carom_tets image = *m;
  image.nodes = calloc((size_t)m->node_count, sizeof *image.nodes);
  for (int i = 0; i < m->node_count; i++) {
    carom_vec3 p = m->nodes[i];
    image.nodes[i] = cm_vec3(axis == 0 ? 0 - p.x : p.x, axis == 1 ? 0 - p.y : p.y, axis == 2 ? 0 - p.z : p.z);
  }
  int(*a)[4] = by_rank(m), (*b)[4] = by_rank(&image);
  bool same = memcmp(a, b, (size_t)m->tet_count * sizeof *a) == 0;
  // The sorted coordinates themselves.
  int *order = calloc(2 * (size_t)m->node_count, sizeof *order), *other = order + m->node_count;
  for (int i = 0; i < m->node_count; i++) order[i] = other[i] = i;
  compared = m;
  qsort(order, (size_t)m->node_count, sizeof *order, by_place);
  compared = &image;
  qsort(other, (size_t)m->node_count, sizeof *order, by_place);
  for (int i = 0; i < m->node_count; i++)
    same = same && cm_norm(cm_sub(m->nodes[order[i]], image.nodes[other[i]])) == 0;
  free(order);
  free(a);
  free(b);
  free(image.nodes);
  return same;
}

TEST(boxes_mirror) {
  static const int cells[][3] = {{2, 2, 2}, {4, 2, 6}, {1, 2, 2}, {3, 4, 2}, {2, 2, 5}, {3, 3, 3}};
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
    const int *c = cells[i];
    carom_tets m = make_box(cm_vec3(0.1, 0.7, 1.3), c[0], c[1], c[2], CAROM_TETS_FIVE);
    for (int axis = 0; axis < 3; axis++) CHECK(mirrors(&m, axis) == (c[axis] % 2 == 0));
    CHECK(m.tet_count == 5 * c[0] * c[1] * c[2]);
    carom_tets_release(&m);
    m = make_box(cm_vec3(0.1, 0.7, 1.3), c[0], c[1], c[2], CAROM_TETS_SIX);
    CHECK(m.tet_count == 6 * c[0] * c[1] * c[2]);
    carom_tets_release(&m);
  }
}

// ---- skins --------------------------------------------------------------------------------------

// V - E + F of the surface: 2 for each closed surface without handles, 0 for one with a handle.
static int euler(const carom_tets *m) {
  carom_tets_skin s;
  carom_error error;
  require_ok(carom_tets_skin_init(m, NULL, &s, &error), &error);
  int number = s.node_count - s.edge_count + s.triangle_count;
  CHECK(2 * s.edge_count == 3 * s.triangle_count);
  CHECK(s.component_count == 1);
  carom_tets_skin_release(&s);
  CHECK(s.triangles == NULL && s.node_count == 0);
  return number;
}

static double surface_area(const carom_tets *m) {
  carom_tets_skin s;
  double area = 0;
  if (carom_tets_skin_init(m, NULL, &s, NULL)) return 0;
  for (int i = 0; i < s.node_count; i++) area += s.areas[i];
  carom_tets_skin_release(&s);
  return area;
}

// Against the exact figures of a body.
static void check_mass(const carom_tets *m, carom_mass expected, double tolerance) {
  carom_mass got;
  carom_error error;
  require_ok(carom_tets_mass(m, 7, &got, &error), &error);
  CHECK_NEAR(got.mass, expected.mass, tolerance * expected.mass);
  CHECK_AT_MOST(cm_norm(cm_sub(got.center, expected.center)), tolerance * carom_tets_measure(m).longest_edge);
  CHECK_AT_MOST(norm_of(cm_msub(got.inertia, expected.inertia)), tolerance * norm_of(expected.inertia));
}

TEST(boxes) {
  for (int pattern = CAROM_TETS_FIVE; pattern <= CAROM_TETS_SIX; pattern++) {
    carom_vec3 size = cm_vec3(0.3, 0.2, 1.1);
    carom_tets m = make_box(size, 3, 2, 7, (carom_tets_pattern)pattern);
    const carom_shape *box;
    carom_mass expected;
    REQUIRE(carom_shape_create_box(size, NULL, &box, NULL) == CAROM_OK);
    CHECK(carom_shape_mass(box, 7, &expected, NULL) == CAROM_OK);
    check_mass(&m, expected, 1e-14);
    CHECK(m.node_count == 4 * 3 * 8);
    CHECK(euler(&m) == 2);
    CHECK_NEAR(surface_area(&m), 2 * (0.06 + 0.33 + 0.22), 1e-14);
    carom_tets_quality q = carom_tets_measure(&m);
    CHECK_NEAR(q.volume, 0.066, 1e-16);
    CHECK_NEAR(q.shortest_edge, 0.1, 1e-15);
    CHECK_NEAR(q.longest_edge, sqrt(pattern == CAROM_TETS_FIVE ? 0.01 + 1.21 / 49 : 0.02 + 1.21 / 49), 1e-15);
    carom_shape_release(box);
    carom_tets_release(&m);
    CHECK(m.nodes == NULL && m.tet_count == 0);
  }
}

TEST(hollow_boxes) {
  for (int walls = 1; walls <= 3; walls++) {
    carom_tets_box def = {cm_vec3(0.2, 0.2, 0.3), {4, 2, 6}, CAROM_TETS_FIVE, 0.02, walls};
    carom_tets m = {0};
    carom_error error;
    require_ok(carom_tets_init_box(&def, NULL, &m, &error), &error);
    CHECK(is_sound(&m));
    for (int axis = 0; axis < 3; axis++) CHECK(mirrors(&m, axis));
    CHECK_NEAR(carom_tets_measure(&m).volume, 0.2 * 0.2 * 0.3 - 0.16 * 0.16 * 0.26, 1e-16);
    CHECK_NEAR(surface_area(&m), 2 * (0.04 + 0.06 + 0.06) + 2 * (0.16 * 0.16 + 2 * 0.16 * 0.26), 1e-14);
    CHECK(euler(&m) == 4);
    carom_tets_release(&m);
  }
}

// ---- round solids -------------------------------------------------------------------------------

TEST(balls) {
  carom_mass expected;
  const carom_shape *sphere;
  REQUIRE(carom_shape_create_sphere(0.5, NULL, &sphere, NULL) == CAROM_OK);
  CHECK(carom_shape_mass(sphere, 7, &expected, NULL) == CAROM_OK);
  double before = 0;
  for (int n = 1; n <= 16; n *= 2) {
    carom_tets m = {0};
    carom_error error;
    require_ok(carom_tets_init_ball(0.5, n, NULL, &m, &error), &error);
    CHECK(is_sound(&m));
    CHECK(m.tet_count == 8 * n * n * n);
    for (int axis = 0; axis < 3; axis++) CHECK(mirrors(&m, axis));
    CHECK(euler(&m) == 2);
    carom_tets_quality q = carom_tets_measure(&m);
    double missing = PI / 6 - q.volume;
    if (n == 16) CHECK_NEAR(before / missing, 4, 0.1);  // second order
    if (n == 16) check_mass(&m, expected, 0.01);
    CHECK(q.least_shape > 0.4 && q.mean_shape > 0.6);
    before = missing;
    carom_tets_release(&m);
  }
  carom_shape_release(sphere);
}

// Of a regular polygon with n sides and circumradius 1.
static double polygon(int n) { return n / 2.0 * sin(2 * PI / n); }

TEST(turned_solids) {
  static const double heights[][5] = {{-1, 1}, {0, 2}, {0, 1, 2.5}, {0, 1, 1.2, 1.3, 2}};
  static const double radii[][5] = {{0.5, 0.5}, {0.5, 0}, {0, 1, 0}, {0.2, 0.2, 0.35, 0.35, 0.1}};
  static const int counts[] = {2, 2, 3, 5};
  for (int solid = 0; solid < 4; solid++)
    for (int rings = 1; rings <= 5; rings += 2) {
      carom_tets_turned def = {counts[solid], heights[solid], radii[solid], rings, 0};
      carom_tets m = {0};
      carom_error error;
      require_ok(carom_tets_init_turned(&def, NULL, &m, &error), &error);
      CHECK(is_sound(&m));
      CHECK(euler(&m) == 2);
      double volume = 0;
      for (int i = 0; i + 1 < def.count; i++) {
        double a = def.radius[i], b = def.radius[i + 1];
        volume += polygon(6 * rings) * (def.z[i + 1] - def.z[i]) * (a * a + a * b + b * b) / 3;
      }
      CHECK_NEAR(carom_tets_measure(&m).volume, volume, 1e-14);
      if (solid == 0) CHECK(carom_tets_measure(&m).least_shape > (rings == 1 ? 0.5 : 0.6));
      carom_tets_release(&m);
    }
  // A true cylinder in the limit.
  const carom_shape *cylinder;
  carom_mass expected;
  carom_tets m = {0};
  REQUIRE(carom_shape_create_cylinder(0.5, 2, NULL, &cylinder, NULL) == CAROM_OK);
  CHECK(carom_shape_mass(cylinder, 7, &expected, NULL) == CAROM_OK);
  carom_tets_turned def = {2, heights[0], radii[0], 16, 0.25};
  REQUIRE(carom_tets_init_turned(&def, NULL, &m, NULL) == CAROM_OK);
  check_mass(&m, expected, 2e-3);
  carom_tets_release(&m);
  carom_shape_release(cylinder);
}

TEST(revolved_solids) {
  // A plate with a conical hole, and a solid that touches the axis.
  static const double r[] = {0.2, 1, 1, 0.4}, z[] = {0, 0, 0.3, 0.3};
  static const double round_r[] = {0, 0.5, 0.4, 0}, round_z[] = {0, 0, 0.3, 0.5};
  static const int plate[][4] = {{0, 1, 2, 3}}, disc[][4] = {{3, 2, 1, 0}};
  for (int sectors = 3; sectors <= 48; sectors *= 2)
    for (int fine = 0; fine < 2; fine++) {
      carom_tets_revolved def = {4, r, z, 1, plate, sectors, fine ? 0.15 : 0};
      carom_tets m = {0};
      carom_error error;
      double factor = polygon(sectors);
      require_ok(carom_tets_init_revolved(&def, NULL, &m, &error), &error);
      CHECK(is_sound(&m));
      CHECK(euler(&m) == 0);
      // A cylinder less a frustum.
      CHECK_NEAR(carom_tets_measure(&m).volume, factor * (0.3 - 0.3 * (0.04 + 0.08 + 0.16) / 3), 1e-14);
      if (!fine) CHECK(m.tet_count == 6 * sectors);
      carom_tets_release(&m);
      def = (carom_tets_revolved){4, round_r, round_z, 1, disc, sectors, fine ? 0.15 : 0};
      require_ok(carom_tets_init_revolved(&def, NULL, &m, &error), &error);
      CHECK(is_sound(&m));
      CHECK(euler(&m) == 2);
      CHECK_NEAR(carom_tets_measure(&m).volume, factor * (0.3 * (0.25 + 0.2 + 0.16) + 0.2 * 0.16) / 3, 1e-14);
      carom_tets_release(&m);
    }
}

// Quadrilaterals that share edges are cut alike: an L of three, with edges of different lengths.
TEST(sections_agree_across_their_edges) {
  static const double r[] = {1, 2, 3, 1, 2, 3, 1, 2.1}, z[] = {0, 0, 0, 0.5, 0.5, 0.6, 3, 3};
  static const int quads[][4] = {{0, 1, 4, 3}, {1, 2, 5, 4}, {4, 7, 6, 3}};
  double coarse = 0;
  for (int level = 0; level < 4; level++) {
    carom_tets_revolved def = {8, r, z, 3, quads, 12, level == 0 ? 0 : 0.7 / level};
    carom_tets m = {0};
    carom_error error;
    require_ok(carom_tets_init_revolved(&def, NULL, &m, &error), &error);
    CHECK(is_sound(&m));
    CHECK(euler(&m) == 0);
    if (level == 0) coarse = carom_tets_measure(&m).volume;
    CHECK_NEAR(carom_tets_measure(&m).volume, coarse, 1e-12);
    carom_tets_release(&m);
  }
}

// ---- wrong definitions --------------------------------------------------------------------------

static void check_box_refused(carom_tets_box def, carom_status status, const char *message) {
  carom_tets m = {.node_count = 42};
  carom_error error = {0};
  CHECK(carom_tets_init_box(&def, NULL, &m, &error) == status);
  CHECK_TEXT(error.message, message);
  CHECK(m.node_count == 42);
}

static void check_turned_refused(carom_tets_turned def, const char *message) {
  carom_tets m;
  carom_error error = {0};
  CHECK(carom_tets_init_turned(&def, NULL, &m, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, message);
}

static void check_revolved_refused(carom_tets_revolved def, carom_status status, const char *message) {
  carom_tets m;
  carom_error error = {0};
  CHECK(carom_tets_init_revolved(&def, NULL, &m, &error) == status);
  CHECK_TEXT(error.message, message);
}

TEST(wrong_boxes) {
  carom_vec3 one = cm_vec3(1, 1, 1);
  check_box_refused((carom_tets_box){cm_vec3(1, 0, 1), {1, 1, 1}, 0, 0, 1}, CAROM_ERR_ARGUMENT,
                    "the size of the box along y is 0; expected a positive length in metres");
  check_box_refused((carom_tets_box){one, {1, 0, 1}, 0, 0, 1}, CAROM_ERR_ARGUMENT,
                    "a count of cells of the box is 0; expected 1 or more");
  check_box_refused((carom_tets_box){one, {1, 1, 1}, 0, 0.5, 1}, CAROM_ERR_ARGUMENT,
                    "the walls of the box are 0.5 m thick, but it is only 1 m wide; give wall 0 for a massive box");
  check_box_refused((carom_tets_box){one, {1, 1, 1}, 0, 0.1, 0}, CAROM_ERR_ARGUMENT,
                    "the count of cells through the wall is 0; expected 1 or more");
  check_box_refused((carom_tets_box){one, {1000, 1000, 1000}, 0, 0, 1}, CAROM_ERR_LIMIT,
                    "a mesh of 6e+09 tetrahedra; expected at most 3.58e+08: make it coarser");
  check_box_refused((carom_tets_box){one, {2147483647, 2147483647, 2147483647}, 0, 0.1, 2147483647}, CAROM_ERR_LIMIT,
                    "a mesh of 1.6e+30 tetrahedra; expected at most 3.58e+08: make it coarser");
}

TEST(wrong_round_solids) {
  static const double z[] = {0, 1, 1, 2}, r[] = {1, 1, 0, 1}, negative[] = {1, -1}, cross_r[] = {0, 1, 0, 1},
                      cross_z[] = {0, 1, 1, 0};
  static const int quad[][4] = {{0, 1, 2, 3}}, far[][4] = {{0, 1, 2, 4}}, twice[][4] = {{0, 1, 1, 3}};
  carom_tets m;
  carom_error error;
  CHECK(carom_tets_init_ball(1, 0, NULL, &m, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "the count of shells of the ball is 0; expected 1 or more");
  CHECK(carom_tets_init_ball(1, 100000, NULL, &m, &error) == CAROM_ERR_LIMIT);
  check_turned_refused((carom_tets_turned){1, z, r, 1, 0}, "the count of discs is 1; expected 2 or more");
  check_turned_refused((carom_tets_turned){3, z, r, 1, 0},
                       "the height of disc 2 is 1; expected finite heights, each above the one before");
  check_turned_refused((carom_tets_turned){2, z, negative, 1, 0},
                       "the radius of a disc is -1; expected a positive length in metres");
  check_turned_refused((carom_tets_turned){2, z, (const double[]){0, 0}, 1, 0},
                       "both discs have the radius 0; expected a solid between them");
  check_revolved_refused((carom_tets_revolved){4, r, z, 1, quad, 2, 0}, CAROM_ERR_ARGUMENT,
                         "the count of sectors is 2; expected 3 or more");
  check_revolved_refused((carom_tets_revolved){4, r, z, 1, far, 6, 0}, CAROM_ERR_ARGUMENT,
                         "quadrilateral 0 of the section refers to point 4; expected 0 to 3");
  check_revolved_refused((carom_tets_revolved){4, r, z, 1, twice, 6, 0}, CAROM_ERR_ARGUMENT,
                         "quadrilateral 0 of the section has point 1 twice");
  check_revolved_refused((carom_tets_revolved){4, (const double[]){0, 1, -1, 1}, z, 1, quad, 6, 0}, CAROM_ERR_ARGUMENT,
                         "point 2 of the section is (-1, 1); expected finite numbers, r not negative");
  check_revolved_refused((carom_tets_revolved){4, r, z, 1, quad, 6, 1e-12}, CAROM_ERR_LIMIT,
                         "a mesh of 6e+12 tetrahedra; expected at most 3.58e+08: make it coarser");
  check_revolved_refused(
      (carom_tets_revolved){4, cross_r, cross_z, 1, quad, 6, 0}, CAROM_ERR_ARGUMENT,
      "quadrilateral 0 of the section is flat, or crosses itself, or has a corner turned in too far");
}

// ---- by hand ------------------------------------------------------------------------------------

TEST(meshes_made_by_hand) {
  carom_vec3 nodes[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  int tets[][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  carom_tets hand = {.node_count = 5, .tet_count = 2, .nodes = nodes, .tets = tets}, m = {0};
  carom_error error = {0};
  require_ok(carom_tets_init(&hand, NULL, NULL, &m, &error), &error);
  CHECK(is_sound(&m) && m.groups == NULL && m.name_count == 0);
  CHECK_NEAR(carom_tets_measure(&m).volume, 0.5, 1e-16);
  carom_tets_release(&m);
  tets[1][3] = 5;
  CHECK(carom_tets_init(&hand, NULL, NULL, &m, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "tetrahedron 1 refers to node 5; expected 0 to 4");
  tets[1][3] = 4;
  nodes[4].x = INFINITY;
  CHECK(carom_tets_init(&hand, NULL, NULL, &m, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, "node 4 is at (inf, 1, 1) after scaling by 1; expected finite coordinates below 1e+100 m");
  hand.tet_count = 0;
  CHECK(carom_tets_init(&hand, NULL, NULL, &m, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "a mesh without tetrahedra");
  hand.tet_count = -1;
  CHECK(carom_tets_init(&hand, NULL, NULL, &m, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "a mesh of 5 nodes and -1 tetrahedra; expected some of each");
  carom_tets_release(NULL);
  carom_tets_skin_release(NULL);
  carom_tets_edges_release(NULL);
}

// Flatness is judged by the shape, at any size and place; so are signs.
TEST(flat_at_any_scale) {
  for (int power = -60; power <= 60; power += 20) {
    double size = pow(10, power);
    for (int k = -1; k <= 1; k++) {
      carom_vec3 nodes[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, k * 1e-9}};
      int tets[][4] = {{0, 1, 2, 3}};
      carom_tets hand = {.node_count = 4, .tet_count = 1, .nodes = nodes, .tets = tets}, m = {0};
      carom_tets_options options = {.scale = size};
      carom_status status = carom_tets_init(&hand, &options, NULL, &m, NULL);
      CHECK(status == (k == 0 ? CAROM_ERR_GEOMETRY : CAROM_OK));
      if (status == CAROM_OK) CHECK(m.tets[0][2] == (k > 0 ? 2 : 3));
      carom_tets_release(&m);
    }
  }
}

// ---- against the slow way -----------------------------------------------------------------------

static const int face_of[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static bool has_face(const int *tet, const int *face) {
  int found = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 4; k++) found += tet[k] == face[i];
  return found == 3;
}

static int count_components(const carom_tets *m, int *piece) {
  int count = 0;
  for (int i = 0; i < m->node_count; i++) piece[i] = -1;
  for (int i = 0; i < m->node_count; i++) {
    if (piece[i] >= 0) continue;
    piece[i] = count;
    for (bool grown = true; grown;) {
      grown = false;
      for (int t = 0; t < m->tet_count; t++) {
        bool any = false, all = true;
        for (int k = 0; k < 4; k++) any |= piece[m->tets[t][k]] == count, all &= piece[m->tets[t][k]] == count;
        if (any && !all) {
          for (int k = 0; k < 4; k++) piece[m->tets[t][k]] = count;
          grown = true;
        }
      }
    }
    count++;
  }
  return count;
}

static void check_skin_slowly(const carom_tets *m) {
  carom_tets_skin s;
  REQUIRE(carom_tets_skin_init(m, NULL, &s, NULL) == CAROM_OK);
  int at = 0, tet_at = 0;
  double flux = 0, area = 0, shared = 0;
  for (int t = 0; t < m->tet_count; t++) {
    int alone = 0;
    for (int f = 0; f < 4; f++) {
      int face[3], owners = 0;
      for (int k = 0; k < 3; k++) face[k] = m->tets[t][face_of[f][k]];
      for (int u = 0; u < m->tet_count; u++) owners += has_face(m->tets[u], face);
      if (owners > 1) continue;
      REQUIRE(at < s.triangle_count);
      CHECK(memcmp(s.triangles[at], face, sizeof face) == 0);
      CHECK(s.triangle_tets[at++] == t);
      alone++;
      carom_vec3 a = m->nodes[face[0]], b = m->nodes[face[1]], c = m->nodes[face[2]];
      flux += cm_dot(a, cm_cross(b, c)) / 6;
      area += cm_norm(cm_cross(cm_sub(b, a), cm_sub(c, a))) / 2;
    }
    if (alone) CHECK(tet_at < s.tet_count && s.tets[tet_at++] == t);
  }
  CHECK(at == s.triangle_count && tet_at == s.tet_count);
  // Gauss: what the outward faces enclose is what the tetrahedra fill.
  CHECK_NEAR(flux, carom_tets_measure(m).volume, 1e-13);
  for (int i = 0; i < s.node_count; i++) {
    bool found = false;
    for (int t = 0; t < 3 * s.triangle_count; t++) found |= s.triangles[t / 3][t % 3] == s.nodes[i];
    CHECK(found && (i == 0 || s.nodes[i] > s.nodes[i - 1]));
    shared += s.areas[i];
  }
  CHECK_NEAR(shared, area, 1e-12);
  int *piece = calloc((size_t)m->node_count, sizeof *piece);
  CHECK(count_components(m, piece) == s.component_count);
  CHECK(memcmp(piece, s.components, (size_t)m->node_count * sizeof *piece) == 0);
  free(piece);
  carom_tets_skin_release(&s);
}

static void check_edges_slowly(const carom_tets *m) {
  carom_tets_edges e;
  REQUIRE(carom_tets_edges_init(m, NULL, &e, NULL) == CAROM_OK);
  char *joined = calloc((size_t)m->node_count * (size_t)m->node_count, 1);
  int count = 0;
  for (int t = 0; t < m->tet_count; t++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 4; k++) joined[m->tets[t][i] * m->node_count + m->tets[t][k]] = 1;
  for (int a = 0; a < m->node_count; a++)
    for (int b = a + 1; b < m->node_count; b++) {
      if (!joined[a * m->node_count + b]) continue;
      REQUIRE(count < e.count);
      CHECK(e.nodes[count][0] == a && e.nodes[count][1] == b);
      count++;
    }
  CHECK(count == e.count);
  free(joined);
  carom_tets_edges_release(&e);
}

TEST(random_meshes) {
  carom_random r = carom_random_make(1, 0);
  int pieces = 0;
  for (int trial = 0; trial < 60; trial++) {
    double chance = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 0.5 : 0.03;
    carom_tets m = sound_delaunay(&r, 8 + trial, 1, chance);
    if (!m.tets) continue;
    CHECK(is_sound(&m));
    check_skin_slowly(&m);
    check_edges_slowly(&m);
    carom_tets_skin s;
    REQUIRE(carom_tets_skin_init(&m, NULL, &s, NULL) == CAROM_OK);
    pieces += s.component_count > 1;
    carom_tets_skin_release(&s);
    carom_tets_release(&m);
  }
  CHECK(pieces > 5);
}

// The mass of a whole triangulation is that of its skin as a surface.
TEST(mass_against_the_surface) {
  carom_random r = carom_random_make(2, 0);
  int compared_count = 0;
  for (int trial = 0; trial < 40; trial++) {
    carom_tets m = sound_delaunay(&r, 20 + 5 * trial, 0.3, 1);
    for (int i = 0; i < m.node_count; i++) m.nodes[i] = cm_add(m.nodes[i], cm_vec3(5, -2, 1));
    carom_tets_skin s;
    carom_mass a, b;
    REQUIRE(carom_tets_skin_init(&m, NULL, &s, NULL) == CAROM_OK);
    carom_mesh surface = {m.node_count, s.triangle_count, m.nodes, (int *)s.triangles, {0}};
    CHECK(carom_tets_mass(&m, 3, &a, NULL) == CAROM_OK);
    if (carom_mesh_mass(&surface, 3, &b, NULL) == CAROM_OK) {  // where the slivers leave a closed surface
      compared_count++;
      CHECK_NEAR(a.mass, b.mass, 1e-14 * b.mass);
      CHECK_AT_MOST(cm_norm(cm_sub(a.center, b.center)), 1e-14);
      CHECK_AT_MOST(norm_of(cm_msub(a.inertia, b.inertia)), 1e-13 * norm_of(b.inertia));
    }
    // Lumped: the same mass, and the same centre, since the nodes of a tetrahedron share alike.
    double *masses = calloc((size_t)m.node_count, sizeof *masses), mass = 0;
    carom_vec3 first = cm_zero3();
    carom_tets_lump(&m, 3, masses);
    for (int i = 0; i < m.node_count; i++) mass += masses[i], first = cm_axpy(first, masses[i], m.nodes[i]);
    CHECK_NEAR(mass, a.mass, 1e-14 * a.mass);
    CHECK_AT_MOST(cm_norm(cm_sub(cm_scale(1 / mass, first), a.center)), 1e-13);
    free(masses);
    carom_tets_skin_release(&s);
    carom_tets_release(&m);
  }
  CHECK(compared_count > 20);
}

TEST(quality) {
  double h = sqrt(0.5);
  carom_vec3 regular[] = {{1, 0, -h}, {-1, 0, -h}, {0, 1, h}, {0, -1, h}},
             corner[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int tets[][4] = {{0, 1, 2, 3}};
  carom_tets m = {.node_count = 4, .tet_count = 1, .nodes = regular, .tets = tets}, made = {0};
  REQUIRE(carom_tets_init(&m, NULL, NULL, &made, NULL) == CAROM_OK);
  carom_tets_quality q = carom_tets_measure(&made);
  CHECK_NEAR(q.least_shape, 1, 1e-15);
  CHECK_NEAR(q.least_altitude, 2 * sqrt(2.0 / 3), 1e-15);
  CHECK_NEAR(q.volume, 8 / (6 * sqrt(2)), 1e-15);
  CHECK_NEAR(q.shortest_edge, 2, 1e-15);
  carom_tets_release(&made);
  m.nodes = corner;
  q = carom_tets_measure(&m);
  CHECK_NEAR(q.least_altitude, 1 / sqrt(3), 1e-15);
  CHECK_NEAR(q.least_shape, 12 * pow(0.5, 2.0 / 3) / 9, 1e-15);  // 3 V = 1/2, edges 1 and sqrt 2
  // Turned, moved and scaled, the shape stays, and the altitude scales.
  carom_random r = carom_random_make(4, 0);
  for (int trial = 0; trial < 200; trial++) {
    carom_pose pose = {random_vec(&r), random_rotation(&r)};
    double size = pow(10, carom_random_between(&r, -6, 6));
    carom_vec3 nodes[4], moved[4];
    for (int k = 0; k < 4; k++) nodes[k] = random_vec(&r);
    for (int k = 0; k < 4; k++) moved[k] = cm_scale(size, cm_transform(pose, nodes[k]));
    carom_tets a = m, b = m;
    a.nodes = nodes;
    b.nodes = moved;
    carom_tets_quality p = carom_tets_measure(&a);
    q = carom_tets_measure(&b);
    if (p.volume < 1e-3) continue;
    CHECK_NEAR(q.least_shape, p.least_shape, 1e-11);
    CHECK_NEAR(q.least_altitude, size * p.least_altitude, 1e-11 * size);
    CHECK(p.least_shape > 0 && p.least_shape <= 1);
  }
}

TEST(masses_out_of_range) {
  carom_tets m = make_box(cm_vec3(1, 1, 1), 1, 1, 1, CAROM_TETS_SIX);
  carom_mass mass;
  carom_error error;
  CHECK(carom_tets_mass(&m, 0, &mass, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "the density is 0; expected a positive number of kg/m3");
  carom_tets_release(&m);
  m = make_box(cm_vec3(1e90, 1e90, 1e90), 1, 1, 1, CAROM_TETS_SIX);
  CHECK(carom_tets_mass(&m, 1, &mass, &error) == CAROM_ERR_NUMBER);
  carom_tets_release(&m);
}

// ---- memory -------------------------------------------------------------------------------------

static carom_status make_and_use(int what, const carom_allocator *a, carom_error *error) {
  static const double z[] = {0, 1}, r[] = {1, 0.5}, section_r[] = {1, 2, 2, 1}, section_z[] = {0, 0, 1, 1};
  static const int quads[][4] = {{0, 1, 2, 3}};
  carom_tets m = {0};
  carom_tets_skin skin = {0};
  carom_tets_edges edges = {0};
  carom_status status = CAROM_OK;
  carom_tets_box box = {cm_vec3(1, 1, 1), {2, 2, 2}, CAROM_TETS_FIVE, 0.1, 1};
  carom_tets_turned turned = {2, z, r, 2, 0};
  carom_tets_revolved revolved = {4, section_r, section_z, 1, quads, 5, 0.3};
  if (what == 0) status = carom_tets_init_box(&box, a, &m, error);
  if (what == 1) status = carom_tets_init_ball(1, 3, a, &m, error);
  if (what == 2) status = carom_tets_init_turned(&turned, a, &m, error);
  if (what == 3) status = carom_tets_init_revolved(&revolved, a, &m, error);
  if (!status) status = carom_tets_skin_init(&m, a, &skin, error);
  if (!status) status = carom_tets_edges_init(&m, a, &edges, error);
  carom_tets_skin_release(&skin);
  carom_tets_edges_release(&edges);
  carom_tets_release(&m);
  return status;
}

TEST(allocation_fails) {
  for (int what = 0; what < 4; what++)
    for (int at = 0;; at++) {
      failing f = {0, at, 0};
      carom_allocator a = failing_allocator(&f);
      carom_error error = {0};
      carom_status status = make_and_use(what, &a, &error);
      CHECK(f.live == 0);
      if (status == CAROM_OK) {
        CHECK(at > 30);
        break;
      }
      CHECK(status == CAROM_ERR_MEMORY);
      CHECK_CONTAINS(error.message, "out of memory");
      REQUIRE(at < 1000);
    }
}
