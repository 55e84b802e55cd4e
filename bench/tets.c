// Meshes of tetrahedra: made, written, read in several formats, skinned and measured, against their number; and Gmsh,
// as a program, reading the same files.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "carom/tets.h"

enum { SIZES = 3, TASKS = 10 };

typedef enum task {
  MAKE,
  WRITE_MSH,
  WRITE_VTU,
  READ_MSH,
  READ_BINARY,
  READ_VTU,
  READ_TETGEN,
  SKIN,
  EDGES,
  MEASURE
} task;
static const char *const names[TASKS] = {"make",
                                         "write .msh (text)",
                                         "write .vtu",
                                         "read .msh (text)",
                                         "read .msh (binary)",
                                         "read .vtu",
                                         "read .node/.ele",
                                         "skin",
                                         "edges",
                                         "measure"};

static void write_tetgen(const carom_tets *m) {
  FILE *node = fopen("bench.node", "w"), *ele = fopen("bench.ele", "w");
  if (!node || !ele) exit(1);
  fprintf(node, "%d 3 0 0\n", m->node_count);
  for (int i = 0; i < m->node_count; i++)
    fprintf(node, "%d %.17g %.17g %.17g\n", i, m->nodes[i].x, m->nodes[i].y, m->nodes[i].z);
  fprintf(ele, "%d 4 0\n", m->tet_count);
  for (int t = 0; t < m->tet_count; t++)
    fprintf(ele, "%d %d %d %d %d\n", t, m->tets[t][0], m->tets[t][1], m->tets[t][2], m->tets[t][3]);
  fclose(node);
  fclose(ele);
}

static bool read_back(const char *path, int count) {
  carom_tets m = {0};
  bool good = carom_tets_read(path, NULL, NULL, &m, NULL) == CAROM_OK && m.tet_count == count;
  carom_tets_release(&m);
  return good;
}

static bool skin(const carom_tets *m) {
  carom_tets_skin s;
  if (carom_tets_skin_init(m, NULL, &s, NULL)) return false;
  carom_tets_skin_release(&s);
  return true;
}

static bool edges(const carom_tets *m) {
  carom_tets_edges e;
  if (carom_tets_edges_init(m, NULL, &e, NULL)) return false;
  carom_tets_edges_release(&e);
  return true;
}

static bool make(int cells, carom_tets *m) {
  carom_tets_box def = carom_tets_box_default();
  def.size = (carom_vec3){1, 1, 1};
  def.cells[0] = def.cells[1] = def.cells[2] = cells;
  return carom_tets_init_box(&def, NULL, m, NULL) == CAROM_OK;
}

static bool measure(const carom_tets *m) {
  carom_mass mass;
  return carom_tets_measure(m).least_shape > 0 && carom_tets_mass(m, 1, &mass, NULL) == CAROM_OK;
}

static bool run(task what, int cells, carom_tets *m) {
  switch (what) {
    case MAKE:
      return make(cells, m);
    case WRITE_MSH:
      return carom_tets_write(m, "bench.msh", NULL) == CAROM_OK;
    case WRITE_VTU:
      return carom_tets_write(m, "bench.vtu", NULL) == CAROM_OK;
    case READ_MSH:
      return read_back("bench.msh", m->tet_count);
    case READ_BINARY:
      return read_back("bench-binary.msh", m->tet_count);
    case READ_VTU:
      return read_back("bench.vtu", m->tet_count);
    case READ_TETGEN:
      return read_back("bench.ele", m->tet_count);
    case SKIN:
      return skin(m);
    case EDGES:
      return edges(m);
    default:
      return measure(m);
  }
}

// Seconds of a command; NaN when it fails.
static double time_command(const char *command) {
  double begin = carom_clock();
  return system(command) == 0 ? carom_clock() - begin : NAN;
}

static void measure_size(int cells, double seconds[TASKS], double gmsh[2], int *count) {
  carom_tets m = {0};
  for (int t = 0; t < TASKS; t++) {
    if (t == READ_MSH) {
      write_tetgen(&m);
      if (system("gmsh -v 0 bench.msh -save -format msh41 -bin -o bench-binary.msh >/dev/null 2>&1") != 0)
        gmsh[1] = NAN;
    }
    double begin = carom_clock();
    bool good = run((task)t, cells, &m);
    seconds[t] = good ? carom_clock() - begin : NAN;
  }
  double start = time_command("gmsh -v 0 -parse_and_exit empty.geo >/dev/null 2>&1");
  gmsh[0] = time_command("gmsh -v 0 -parse_and_exit bench.msh >/dev/null 2>&1") - start;
  gmsh[1] = time_command("gmsh -v 0 -parse_and_exit bench-binary.msh >/dev/null 2>&1") - start;
  *count = m.tet_count;
  carom_tets_release(&m);
}

static void log_row(bench_log *log, const char *what, int count, double seconds) {
  bench_log_begin(log, "tets");
  bench_log_text(log, "task", what);
  bench_log_number(log, "tets", count);
  bench_log_number(log, "seconds", seconds);
  bench_log_end(log);
}

static void print_table(const int *counts, double seconds[SIZES][TASKS], double gmsh[SIZES][2], bench_log *log) {
  printf("| s for so many tetrahedra |");
  for (int s = 0; s < SIZES; s++) printf(" %d |", counts[s]);
  printf(" power | Gmsh, the last |\n|---|---|---|---|---|---|\n");
  for (int t = 0; t < TASKS; t++) {
    double n[SIZES], y[SIZES];
    printf("| %s |", names[t]);
    for (int s = 0; s < SIZES; s++) {
      printf(" %.3g |", seconds[s][t]);
      n[s] = counts[s];
      y[s] = seconds[s][t];
      log_row(log, names[t], counts[s], y[s]);
    }
    printf(" %.2f |", bench_fit_exponent(SIZES, n, y));
    if (t == READ_MSH || t == READ_BINARY)
      printf(" %.3g (%.1f x) |\n", gmsh[SIZES - 1][t - READ_MSH], gmsh[SIZES - 1][t - READ_MSH] / y[SIZES - 1]);
    else
      printf(" |\n");
  }
}

int main(int count, char **arguments) {
  const int cells[SIZES] = {12, 27, 58};
  const char *json = "bench-results.jsonl";
  if (count == 3 && strcmp(arguments[1], "--json") == 0)
    json = arguments[2];
  else if (count > 1)
    return printf("usage: %s [--json FILE]\n", arguments[0]), 2;
  bench_log log;
  int counts[SIZES];
  double seconds[SIZES][TASKS], gmsh[SIZES][2];
  if (!bench_log_open(&log, json, "tets")) fprintf(stderr, "%s cannot be written\n", json);
  FILE *empty = fopen("empty.geo", "w");
  if (empty) fclose(empty);
  printf("Boxes of tetrahedra, five per cell.\n\n");
  for (int s = 0; s < SIZES; s++) measure_size(cells[s], seconds[s], gmsh[s], &counts[s]);
  print_table(counts, seconds, gmsh, &log);
  static const char *const files[] = {"bench.msh",  "bench-binary.msh", "bench.vtu",
                                      "bench.node", "bench.ele",        "empty.geo"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
  bench_log_close(&log);
  return 0;
}
