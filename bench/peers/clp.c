// CLP's primal simplex on the program as posed; warm: from the last basis of the same bodies.
#include <coin/Clp_C_Interface.h>
#include <stdlib.h>
#include <string.h>

#include "separation.h"

typedef struct clp_world {
  const pair_set *set;
  separation_program program;
  Clp_Simplex *model;
  CoinBigIndex start[6];
  int *index;
  double *value, *low, *high;  // matrix by columns; row bounds
  unsigned char *basis;
  bool known;
} clp_world;

static void destroy(void *world) {
  clp_world *w = world;
  if (w->model) Clp_deleteModel(w->model);
  separation_program_destroy(&w->program);
  free(w->index), free(w->value), free(w->low), free(w->high), free(w->basis);
  free(w);
}

// Columns alpha.x, alpha.y, alpha.z over all rows, then a1 over A's and a2 over B's.
static void pose(clp_world *w) {
  int n = w->set->vertex_count, rows = 2 * n + 1, at = 0;
  for (int j = 0; j < 5; j++) {
    int first = j == 4 ? n : 0, last = j < 3 ? rows : j == 3 ? n : 2 * n;
    w->start[j] = at;
    for (int i = first; i < last; i++) w->index[at] = i, w->value[at++] = -1;
  }
  w->start[5] = at;
  for (int i = 0; i < rows; i++) {
    w->low[i] = i < n ? 0 : i < 2 * n ? -HUGE_VAL : 1;
    w->high[i] = i < n ? HUGE_VAL : i < 2 * n ? 0 : 1;
  }
}

static void *create(const pair_set *set) {
  clp_world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  size_t rows = 2 * (size_t)set->vertex_count + 1;
  w->set = set;
  w->index = malloc(5 * rows * sizeof *w->index), w->value = malloc(5 * rows * sizeof *w->value);
  w->low = malloc(rows * sizeof *w->low), w->high = malloc(rows * sizeof *w->high);
  w->basis = malloc(rows + 5);
  w->model = Clp_newModel();
  bool good = w->index && w->value && w->low && w->high && w->basis && separation_program_create(&w->program, set);
  if (!good) {
    destroy(w);
    return NULL;
  }
  Clp_setLogLevel(w->model, 0);
  pose(w);
  return w;
}

static void load(clp_world *w, const pair_case *pair) {
  static const double low[5] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  static const double high[5] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}, objective[5] = {0, 0, 0, -1, 1};
  int n = 2 * w->set->vertex_count;
  separation_program_place(&w->program, w->set, pair);
  for (int j = 0; j < 3; j++) {
    double *out = w->value + w->start[j];
    for (int i = 0; i < n; i++) out[i] = w->program.vertices[3 * i + j];
    out[n] = w->program.beta[j];
  }
  Clp_loadProblem(w->model, 5, n + 1, w->start, w->index, w->value, low, high, objective, w->low, w->high);
}

static double solve(clp_world *w) {
  Clp_primal(w->model, 0);
  w->known = Clp_status(w->model) == 0;
  return w->known ? -Clp_objectiveValue(w->model) : NAN;
}

static double cold(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  load(world, pair);
  return solve(world);
}

static double warm(void *world, const pair_case *pair, bool fresh) {
  clp_world *w = world;
  bool again = w->known && !fresh;
  size_t bytes = 2 * (size_t)w->set->vertex_count + 6;
  if (again) memcpy(w->basis, Clp_statusArray(w->model), bytes);
  load(w, pair);
  if (again) Clp_copyinStatus(w->model, w->basis);
  return solve(w);
}

#define EVERYWHERE \
  { true, true, true }
const separation_engine separation_clp_cold = {"CLP", BENCH_CLP, "double", true,   EVERYWHERE,
                                               false, create,    cold,     destroy};
const separation_engine separation_clp_warm = {"CLP, warm", BENCH_CLP, "double", true,   EVERYWHERE,
                                               true,        create,    warm,     destroy};
