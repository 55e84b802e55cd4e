// Balls, and solids that are turned on a lathe.
#include <math.h>

#include "base/memory.h"
#include "geometry/tets_make.h"

#define PI 3.14159265358979323846

// ---- balls --------------------------------------------------------------------------------------
// The octahedron |x| + |y| + |z| <= n, its octants cut by Freudenthal's subdivision: with a = x + y + z, b = y + z,
// c = z an octant is n >= a >= b >= c >= 0, which is a union of the simplices into which Kuhn cuts the unit cubes of
// (a, b, c). Then every octahedron |p|_1 = k becomes a sphere. All octants are cut alike, so that they mirror and
// agree.

typedef struct ball {
  double radius;
  int n;
  int *node;  // ((2 n + 1)^3) by place of the lattice; -1 where there is none yet
} ball;

static carom_vec3 ball_point(const ball *b, const int at[3]) {
  carom_vec3 p = cm_vec3(at[0], at[1], at[2]);
  double layers = fabs(p.x) + fabs(p.y) + fabs(p.z);
  return layers > 0 ? cm_scale(b->radius * (layers / b->n) / cm_norm(p), p) : p;
}

static int ball_node(carom_tets_maker *m, const ball *b, const int abc[3], const int sign[3]) {
  const int at[3] = {sign[0] * (abc[0] - abc[1]), sign[1] * (abc[1] - abc[2]), sign[2] * abc[2]};
  size_t side = 2 * (size_t)b->n + 1;
  int *node = &b->node[((size_t)(at[2] + b->n) * side + (size_t)(at[1] + b->n)) * side + (size_t)(at[0] + b->n)];
  if (*node < 0) *node = carom_tets_maker_add_node(m, ball_point(b, at));
  return *node;
}

// The simplex of the cube at `base` that walks along the axes in this order, if it lies in the octant.
static void add_ball_tet(carom_tets_maker *m, const ball *b, const int base[3], const int *axes, const int sign[3]) {
  int corner[4][3], node[4];
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) corner[i][k] = i == 0 ? base[k] : corner[i - 1][k];
    if (i > 0) corner[i][axes[i - 1]]++;
    if (corner[i][0] < corner[i][1] || corner[i][1] < corner[i][2]) return;
  }
  for (int i = 0; i < 4; i++) node[i] = ball_node(m, b, corner[i], sign);
  carom_tets_maker_add(m, node[0], node[1], node[2], node[3]);
}

static void add_octant(carom_tets_maker *m, const ball *b, const int sign[3]) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int base[3];
  for (base[0] = 0; base[0] < b->n; base[0]++)
    for (base[1] = 0; base[1] <= base[0]; base[1]++)
      for (base[2] = 0; base[2] <= base[1] && !m->status; base[2]++)
        for (int o = 0; o < 6; o++) add_ball_tet(m, b, base, orders[o], sign);
}

carom_status carom_tets_init_ball(double radius, int shells, const carom_allocator *allocator, carom_tets *tets,
                                  carom_error *error) {
  carom_tets_maker m = carom_tets_maker_make(allocator, error);
  ball b = {.radius = radius, .n = shells};
  carom_tets_check_positive(&m, "the radius of the ball", radius);
  carom_tets_check_count(&m, "the count of shells of the ball", shells, 1);
  carom_tets_check_size(&m, 8 * pow(shells, 3));
  if (!m.status) {
    size_t side = 2 * (size_t)shells + 1, count = side * side * side;
    b.node = CAROM_NEW(&m.soup.allocator, int, count);
    if (!b.node) carom_tets_maker_no_memory(&m);
    for (size_t i = 0; b.node && i < count; i++) b.node[i] = -1;
    for (int octant = 0; octant < 8 && !m.status; octant++)
      add_octant(&m, &b, (const int[3]){octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1});
    carom_release(&m.soup.allocator, b.node);
  }
  return carom_tets_maker_finish(&m, tets);
}

// ---- turned solids ------------------------------------------------------------------------------
// A disc is a node on the axis and rings of 6, 12, 18, ... nodes about it, with 6 n^2 triangles of nearly equal sides.

carom_tets_turned carom_tets_turned_default(void) { return (carom_tets_turned){0}; }

static int ring_begin(int k) { return k == 0 ? 0 : 1 + 3 * k * (k - 1); }

// The columns of ring k count around from the x axis.
static int disc_column(int k, int i) { return k == 0 ? 0 : ring_begin(k) + i % (6 * k); }

static void fill_disc(int rings, int (*triangles)[3]) {
  int at = 0;
  for (int k = 1; k <= rings; k++)
    for (int sector = 0; sector < 6; sector++)
      for (int j = 0; j < k; j++) {
        int inner = disc_column(k - 1, sector * (k - 1) + j), outer = disc_column(k, sector * k + j);
        int next = disc_column(k, sector * k + j + 1);
        triangles[at][0] = inner;
        triangles[at][1] = outer;
        triangles[at++][2] = next;
        if (j + 1 == k) continue;
        triangles[at][0] = inner;
        triangles[at][1] = next;
        triangles[at++][2] = disc_column(k - 1, sector * (k - 1) + j + 1);
      }
}

// A tip is one node for all columns.
static void add_level(carom_tets_maker *m, int rings, double radius, double z, int *nodes) {
  nodes[0] = carom_tets_maker_add_node(m, cm_vec3(0, 0, z));
  for (int k = 1; k <= rings; k++)
    for (int i = 0; i < 6 * k; i++) {
      double angle = PI * i / (3.0 * k), r = radius * k / rings;
      nodes[disc_column(k, i)] =
          radius > 0 ? carom_tets_maker_add_node(m, cm_vec3(r * cos(angle), r * sin(angle), z)) : nodes[0];
    }
}

static double layer_of(const carom_tets_turned *def) {
  double largest = 0;
  for (int i = 0; i < def->count; i++) largest = fmax(largest, def->radius[i]);
  return def->layer > 0 ? def->layer : largest / def->rings;
}

static double layers_between(const carom_tets_turned *def, int i) {
  return fmax(1, ceil((def->z[i + 1] - def->z[i]) / layer_of(def) * (1 - 1e-9)));
}

static void add_levels(carom_tets_maker *m, const carom_tets_turned *def, int columns, int *nodes) {
  add_level(m, def->rings, def->radius[0], def->z[0], nodes);
  for (int i = 0; i + 1 < def->count; i++) {
    int layers = (int)layers_between(def, i);
    for (int l = 1; l <= layers && !m->status; l++) {
      double t = (double)l / layers, radius = (1 - t) * def->radius[i] + t * def->radius[i + 1];
      nodes += columns;
      add_level(m, def->rings, radius, l < layers ? (1 - t) * def->z[i] + t * def->z[i + 1] : def->z[i + 1], nodes);
    }
  }
}

static void check_turned(carom_tets_maker *m, const carom_tets_turned *def) {
  carom_tets_check_count(m, "the count of discs", def->count, 2);
  carom_tets_check_count(m, "the count of rings", def->rings, 1);
  if (def->layer != 0) carom_tets_check_positive(m, "the height of a layer", def->layer);
  for (int i = 0; i < def->count && !m->status; i++) {
    bool end = i == 0 || i + 1 == def->count;
    if (!(end && def->radius[i] == 0)) carom_tets_check_positive(m, "the radius of a disc", def->radius[i]);
    if (!isfinite(def->z[i]) || (i > 0 && def->z[i] <= def->z[i - 1]))
      carom_tets_maker_refuse(m, "the height of disc %d is %g; expected finite heights, each above the one before", i,
                              def->z[i]);
  }
  if (!m->status && def->count == 2 && def->radius[0] == 0 && def->radius[1] == 0)
    carom_tets_maker_refuse(m, "both discs have the radius 0; expected a solid between them");
}

carom_status carom_tets_init_turned(const carom_tets_turned *def, const carom_allocator *allocator, carom_tets *tets,
                                    carom_error *error) {
  carom_tets_maker m = carom_tets_maker_make(allocator, error);
  double levels = 1;
  check_turned(&m, def);
  for (int i = 0; i + 1 < def->count && !m.status; i++) levels += layers_between(def, i);
  carom_tets_check_size(&m, 18 * (double)def->rings * def->rings * levels);
  if (!m.status) {
    carom_tets_stack s = {NULL, NULL, 6 * def->rings * def->rings, ring_begin(def->rings + 1), (int)levels};
    int(*triangles)[3], *nodes;
    if (CAROM_NEW_ALL(&m.soup.allocator, CAROM_ROOM(triangles, s.triangle_count),
                      CAROM_ROOM(nodes, (size_t)s.column_count * (size_t)s.level_count))) {
      fill_disc(def->rings, triangles);
      add_levels(&m, def, s.column_count, nodes);
      s.triangles = (const int(*)[3])triangles;
      s.nodes = nodes;
      carom_tets_maker_add_stack(&m, &s);
    } else {
      carom_tets_maker_no_memory(&m);
    }
    CAROM_RELEASE_ALL(&m.soup.allocator, triangles, nodes);
  }
  return carom_tets_maker_finish(&m, tets);
}

// ---- revolved sections --------------------------------------------------------------------------

carom_tets_revolved carom_tets_revolved_default(void) { return (carom_tets_revolved){0}; }

// Columns on the axis have one node for all levels; the last level is the first again.
static void add_sectors(carom_tets_maker *m, const carom_section *section, int sectors, int *nodes) {
  int columns = section->point_count;
  for (int level = 0; level <= sectors; level++) {
    double angle = 2 * PI * level / sectors;
    for (int c = 0; c < columns && !m->status; c++) {
      carom_vec3 p = section->points[c];
      bool seen = level == sectors || (level > 0 && p.x == 0);
      nodes[(size_t)level * (size_t)columns + (size_t)c] =
          seen ? nodes[c] : carom_tets_maker_add_node(m, cm_vec3(p.x * cos(angle), p.x * sin(angle), p.z));
    }
  }
}

static void revolve(carom_tets_maker *m, const carom_section *section, int sectors) {
  carom_tets_stack s = {(const int(*)[3])section->triangles, NULL, section->triangle_count, section->point_count,
                        sectors + 1};
  carom_tets_check_size(m, 3.0 * section->triangle_count * sectors);
  if (m->status) return;
  int *nodes = CAROM_NEW(&m->soup.allocator, int, (size_t)s.column_count *(size_t)s.level_count);
  if (nodes) {
    add_sectors(m, section, sectors, nodes);
    s.nodes = nodes;
    carom_tets_maker_add_stack(m, &s);
  } else {
    carom_tets_maker_no_memory(m);
  }
  carom_release(&m->soup.allocator, nodes);
}

carom_status carom_tets_init_revolved(const carom_tets_revolved *def, const carom_allocator *allocator,
                                      carom_tets *tets, carom_error *error) {
  carom_tets_maker m = carom_tets_maker_make(allocator, error);
  carom_section section = {.allocator = m.soup.allocator};
  carom_tets_check_count(&m, "the count of sectors", def->sectors, 3);
  carom_section_create(&m, def, &section);
  if (!m.status) revolve(&m, &section, def->sectors);
  carom_section_destroy(&section);
  return carom_tets_maker_finish(&m, tets);
}
