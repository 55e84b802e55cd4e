// Boxes and hollow boxes of tetrahedra. Corners of a cell count in binary: bit 0 is x, bit 1 y, bit 2 z.
#include <math.h>

#include "base/memory.h"
#include "geometry/tets_make.h"

carom_tets_box carom_tets_box_default(void) { return (carom_tets_box){.pattern = CAROM_TETS_FIVE, .wall_cells = 1}; }

// The large one in the middle, and one at each other corner; every second cell is mirrored (corner ^ 7).
static const int five[5][4] = {{0, 3, 5, 6}, {1, 0, 3, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 5, 6}};
// Around the diagonal from 0 to 7, one for each order of the axes (Kuhn 1960).
static const int six[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

typedef struct grid {
  const carom_tets_box *def;
  int walls;     // cells through a wall, 0 for a massive box
  int cells[3];  // in all
} grid;

// Mirrors to the last bit: what lies on one side is computed as on the other.
static double coordinate(const grid *g, int axis, int i) {
  const double sides[3] = {g->def->size.x, g->def->size.y, g->def->size.z};
  double half = sides[axis] / 2;
  int n = g->cells[axis], inner = g->def->cells[axis];
  if (i < g->walls) return -(half - g->def->wall * ((double)i / g->walls));
  if (i > n - g->walls) return half - g->def->wall * ((double)(n - i) / g->walls);
  double reach = g->walls > 0 ? half - g->def->wall : half;
  return reach * ((double)(2 * (i - g->walls) - inner) / inner);
}

static bool is_hollow(const grid *g, const int cell[3]) {
  for (int k = 0; k < 3; k++)
    if (cell[k] < g->walls || cell[k] >= g->cells[k] - g->walls) return false;
  return g->walls > 0;
}

static int node_at(const grid *g, const int cell[3], int corner) {
  int x = cell[0] + (corner & 1), y = cell[1] + (corner >> 1 & 1), z = cell[2] + (corner >> 2);
  return (z * (g->cells[1] + 1) + y) * (g->cells[0] + 1) + x;
}

static void add_nodes(carom_tets_maker *m, const grid *g) {
  for (int z = 0; z <= g->cells[2]; z++)
    for (int y = 0; y <= g->cells[1]; y++)
      for (int x = 0; x <= g->cells[0] && !m->status; x++)
        carom_tets_maker_add_node(m, cm_vec3(coordinate(g, 0, x), coordinate(g, 1, y), coordinate(g, 2, z)));
}

static void add_cell(carom_tets_maker *m, const grid *g, const int cell[3]) {
  bool kuhn = g->def->pattern == CAROM_TETS_SIX;
  int flip = !kuhn && (cell[0] + cell[1] + cell[2]) % 2 ? 7 : 0;
  for (int t = 0; t < (kuhn ? 6 : 5); t++) {
    const int *c = kuhn ? six[t] : five[t];
    carom_tets_maker_add(m, node_at(g, cell, c[0] ^ flip), node_at(g, cell, c[1] ^ flip), node_at(g, cell, c[2] ^ flip),
                         node_at(g, cell, c[3] ^ flip));
  }
}

static void add_cells(carom_tets_maker *m, const grid *g) {
  int cell[3];
  for (cell[2] = 0; cell[2] < g->cells[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < g->cells[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < g->cells[0] && !m->status; cell[0]++)
        if (!is_hollow(g, cell)) add_cell(m, g, cell);
}

static void check(carom_tets_maker *m, const carom_tets_box *def) {
  carom_tets_check_positive(m, "the size of the box along x", def->size.x);
  carom_tets_check_positive(m, "the size of the box along y", def->size.y);
  carom_tets_check_positive(m, "the size of the box along z", def->size.z);
  for (int k = 0; k < 3; k++) carom_tets_check_count(m, "a count of cells of the box", def->cells[k], 1);
  if (def->wall == 0) return;
  carom_tets_check_positive(m, "the wall of the box", def->wall);
  carom_tets_check_count(m, "the count of cells through the wall", def->wall_cells, 1);
  double least = fmin(def->size.x, fmin(def->size.y, def->size.z));
  if (2 * def->wall >= least)
    carom_tets_maker_refuse(
        m, "the walls of the box are %g m thick, but it is only %g m wide; give wall 0 for a massive box", def->wall,
        least);
}

carom_status carom_tets_init_box(const carom_tets_box *def, const carom_allocator *allocator, carom_tets *tets,
                                 carom_error *error) {
  carom_tets_maker m = carom_tets_maker_make(allocator, error);
  grid g = {.def = def, .walls = def->wall > 0 ? def->wall_cells : 0};
  double size = 6;
  check(&m, def);
  for (int k = 0; k < 3; k++) {
    double cells = (double)def->cells[k] + 2.0 * g.walls;
    size *= cells;
    g.cells[k] = cells < CAROM_TETS_MAX ? (int)cells : CAROM_TETS_MAX;
  }
  carom_tets_check_size(&m, size);
  if (!m.status) add_nodes(&m, &g);
  if (!m.status) add_cells(&m, &g);
  return carom_tets_maker_finish(&m, tets);
}
