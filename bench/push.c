// Robust pushes: what modes that are kept save (Gavrea 2008, 2.4), against a complementarity problem each step. The
// whole of a push, and the solves alone: the linear system in given modes, the solver that runs take, and Lemke's
// method on (2.4.20). Looks at the library's insides, so it takes the static one.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "carom/carom.h"
#include "step/quasistatic/quasistatic.h"

enum { PAIRS_MOST = 64, ROUNDS = 7 };

typedef struct scene {
  const char *name;
  int walls;
  double wall[3][4];  // corners, mm
  int probes;
  double way[2][4];  // x, y mm, heading, speed mm/s
  double duration;
} scene;

static const scene scenes[] = {
    {"one probe sticks", 0, {{0}}, 1, {{0.05, -0.43, 1.5707963, 0.05}}, 8},
    {"one probe slides", 0, {{0}}, 1, {{0, -0.43, 0.9, 0.05}}, 4},
    {"two probes", 0, {{0}}, 2, {{0.5, -0.43, 1.5707963, 0.05}, {-0.5, -0.43, 1.5707963, 0.05}}, 8},
    {"along a wall", 1, {{-3, 0.4, 9, 0.8}}, 1, {{-0.83, 0.1, 0.2, 0.05}}, 8},
    {"through a slot", 2, {{-3, 0.4, 9, 0.8}, {-3, -0.8, 9, -0.4005}}, 1, {{-0.83, 0.1, 0.2, 0.05}}, 8},
    {"two probes, wall", 1, {{-3, 0.4, 9, 0.8}}, 2, {{-0.83, 0.1, 0.2, 0.05}, {-0.3, -0.43, 1.3, 0.02}}, 8},
};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *message) {
  fprintf(stderr, "%s\n", message);
  exit(1);
}

// ---- the world ------------------------------------------------------------------------------------------------------

static void add(carom_builder *b, const carom_shape *shape, carom_vec3 at, bool fixed) {
  carom_body_def def = carom_body_default();
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  def.parts = &part, def.part_count = 1, def.fixed = fixed;
  def.pose = cm_pose(at, cm_qidentity());
  carom_builder_add_body(b, &def);
  carom_shape_release(shape);
}

static void build(const scene *s, carom_model **model, carom_state **state) {
  carom_builder *b;
  carom_error error;
  const carom_shape *shape;
  carom_material_def material = carom_material_default();
  carom_support_def oil = carom_support_default();
  if (carom_builder_create(NULL, &b, &error) != CAROM_OK) fail(error.message);
  material.friction = 0.3;
  carom_builder_add_material(b, &material);
  carom_builder_set_planar(b, true);
  carom_shape_create_box(cm_vec3(1.6e-3, 0.8e-3, 0.2e-3), NULL, &shape, NULL);
  add(b, shape, cm_zero3(), false);
  oil.damping = 1e-3;
  carom_builder_add_support(b, &oil);
  for (int i = 0; i < 2; i++) {
    carom_shape_create_cylinder(12.5e-6, 0.2e-3, NULL, &shape, NULL);
    add(b, shape, cm_vec3(0, 1e-2 * (1 + i), 0), true);
  }
  for (int i = 0; i < s->walls; i++) {
    const double *w = s->wall[i];
    carom_shape_create_box(cm_vec3(1e-3 * (w[2] - w[0]), 1e-3 * (w[3] - w[1]), 0.2e-3), NULL, &shape, NULL);
    add(b, shape, cm_vec3(0.5e-3 * (w[0] + w[2]), 0.5e-3 * (w[1] + w[3]), 0), true);
  }
  if (carom_builder_finish(b, model, state, &error) != CAROM_OK) fail(error.message);
  carom_builder_destroy(b);
}

static carom_push push_of(const scene *s) {
  carom_push push = {.duration = s->duration, .probe_count = s->probes};
  for (int i = 0; i < s->probes; i++)
    push.probe[i] =
        (carom_push_probe){cm_vec3(1e-3 * s->way[i][0], 1e-3 * s->way[i][1], 0), s->way[i][2], 1e-3 * s->way[i][3]};
  return push;
}

// ---- whole pushes ---------------------------------------------------------------------------------------------------

typedef carom_status push_call(carom_pusher *, const carom_push *, carom_state *, carom_push_result *, carom_error *);

// Seconds a step, the least of some rounds.
static double time_push(push_call *call, carom_pusher *pusher, const carom_push *push, const carom_state *start,
                        carom_push_result *result) {
  carom_state *state;
  carom_error error;
  double least = INFINITY;
  if (carom_state_clone(start, NULL, &state, &error) != CAROM_OK) fail(error.message);
  for (int round = 0; round < ROUNDS; round++) {
    double begun = seconds();
    int steps = 0;
    for (int i = 0; i < 20; i++) {
      carom_state_copy(state, start);
      if (call(pusher, push, state, result, &error) != CAROM_OK) fail(error.message);
      steps += result->steps;
    }
    least = fmin(least, (seconds() - begun) / steps);
  }
  carom_state_destroy(state);
  return least;
}

// ---- solves alone ---------------------------------------------------------------------------------------------------

// (2.4.20) of the step at hand: normals, friction both ways, slips.
static int fill_lcp(const carom_quasi *q, double *M, double *b) {
  const carom_system *s = &q->solver->whole;
  int c = s->count, n = 4 * c, row[3 * PAIRS_MOST];
  double sign[3 * PAIRS_MOST];
  memset(M, 0, sizeof(double) * (size_t)(n * n));
  for (int k = 0; k < c; k++) {
    row[k] = s->blocks[k].first, sign[k] = 1;
    for (int side = 0; side < 2; side++) row[c + 2 * k + side] = row[k] + 1, sign[c + 2 * k + side] = side ? -1 : 1;
  }
  for (int i = 0; i < 3 * c; i++) {
    b[i] = sign[i] * s->u0[row[i]];
    for (int j = 0; j < 3 * c; j++) M[i + j * n] = sign[i] * sign[j] * s->W[row[i] + row[j] * s->rows];
  }
  for (int k = 0; k < c; k++) {
    int slip = 3 * c + k;
    b[slip] = 0;
    M[slip + k * n] = s->blocks[k].mu;
    for (int i = c + 2 * k; i < c + 2 * k + 2; i++) M[i + slip * n] = 1, M[slip + i * n] = -1;
  }
  return n;
}

typedef struct solve_times {
  double modes, solver, lemke;
  int contacts;
} solve_times;

static double time_lemke(const carom_quasi *q) {
  static double M[PAIRS_MOST * PAIRS_MOST], b[PAIRS_MOST], z[PAIRS_MOST], w[PAIRS_MOST];
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  carom_lcp_work *work;
  double least = INFINITY;
  options.method = CAROM_LCP_LEMKE;
  if (4 * q->count > PAIRS_MOST || carom_lcp_work_create(PAIRS_MOST, NULL, &work, NULL) != CAROM_OK) fail("lemke");
  for (int round = 0; round < ROUNDS; round++) {
    double begun = seconds();
    for (int i = 0; i < 2000; i++) {
      carom_lcp_problem p = {.n = fill_lcp(q, M, b), .M = M, .q = b};
      carom_lcp_solve(work, &p, &options, &(carom_lcp_solution){z, w, NULL}, &info, NULL);
    }
    least = fmin(least, (seconds() - begun) / 2000);
  }
  carom_lcp_work_destroy(work);
  return least;
}

static double time_solver(carom_quasi *q) {
  double least = INFINITY;
  carom_quasi_outcome outcome;
  for (int round = 0; round < ROUNDS; round++) {
    double begun = seconds();
    for (int i = 0; i < 2000; i++) carom_quasi_solve(q, &outcome, NULL);
    least = fmin(least, (seconds() - begun) / 2000);
  }
  return least;
}

static double time_modes(carom_quasi *q) {
  carom_contact_mode modes[PAIRS_MOST];
  carom_quasi_margin margin;
  double least = INFINITY;
  for (int i = 0; i < q->count; i++) modes[i] = q->items[i].mode;
  for (int round = 0; round < ROUNDS; round++) {
    double begun = seconds();
    for (int i = 0; i < 2000; i++) carom_quasi_solve_in(q, modes, &margin, NULL);
    least = fmin(least, (seconds() - begun) / 2000);
  }
  return least;
}

// Of the last step of a push.
static solve_times time_solves(const carom_model *model, const carom_push *push, carom_state *state) {
  carom_quasi *q;
  carom_error error;
  carom_vec3 v[16] = {{0}}, still[16] = {{0}};
  for (int i = 0; i < push->probe_count; i++) {
    const carom_push_probe *p = &push->probe[i];
    v[1 + i] = cm_scale(p->speed, cm_vec3(cos(p->heading), sin(p->heading), 0));
  }
  if (carom_quasi_create(model, NULL, &q, &error) != CAROM_OK ||
      carom_quasi_gather(q, state, 0.02, &(carom_twists){v, still}, &error) != CAROM_OK)
    fail(error.message);
  carom_quasi_outcome outcome;
  carom_quasi_solve(q, &outcome, NULL);
  solve_times t = {.contacts = q->count};
  t.solver = time_solver(q), t.modes = time_modes(q), t.lemke = time_lemke(q);
  carom_quasi_destroy(q);
  return t;
}

// ---- the table ------------------------------------------------------------------------------------------------------

static void measure(const scene *s, bench_log *log) {
  carom_model *model;
  carom_state *state;
  carom_pusher *pusher;
  carom_push_result ran, checked;
  carom_error error;
  carom_pusher_def def = carom_pusher_default();
  build(s, &model, &state);
  def.model = model, def.probe_count = 2, def.probes[0] = 1, def.probes[1] = 2, def.settle = 0.1;
  if (carom_pusher_create(&def, NULL, &pusher, &error) != CAROM_OK) fail(error.message);
  carom_push push = push_of(s);
  double run = time_push(carom_pusher_run, pusher, &push, state, &ran);
  double check = time_push(carom_pusher_check, pusher, &push, state, &checked);
  if (carom_pusher_run(pusher, &push, state, &ran, &error) != CAROM_OK) fail(error.message);
  solve_times t = time_solves(model, &push, state);
  printf("%-18s %-7s %5d %5d %8d %8.2f %8.2f %6.1f %8.2f %8.2f %8.2f %6.1f %6.1f\n", s->name,
         carom_push_ending_name(checked.ending), checked.steps, checked.problems, t.contacts, 1e6 * run, 1e6 * check,
         run / check, 1e6 * t.lemke, 1e6 * t.solver, 1e6 * t.modes, t.lemke / t.modes, t.solver / t.modes);
  bench_log_begin(log, "push");
  bench_log_text(log, "case", s->name);
  bench_log_number(log, "run", run);
  bench_log_number(log, "check", check);
  bench_log_number(log, "lemke", t.lemke);
  bench_log_number(log, "solver", t.solver);
  bench_log_number(log, "modes", t.modes);
  bench_log_end(log);
  carom_pusher_destroy(pusher);
  carom_state_destroy(state), carom_model_destroy(model);
}

int main(int count, char **arguments) {
  const char *json = "bench-results.jsonl";
  if (count == 3 && strcmp(arguments[1], "--json") == 0)
    json = arguments[2];
  else if (count > 1)
    return printf("usage: %s [--json FILE]\n", arguments[0]), 2;
  bench_log log;
  if (!bench_log_open(&log, json, "push")) fprintf(stderr, "%s cannot be written\n", json);
  printf("Microseconds a step (processor time, the least of %d rounds).\n\n", ROUNDS);
  printf("%-18s %-7s %5s %5s %8s %8s %8s %6s %8s %8s %8s %6s %6s\n", "push", "ends", "steps", "probl", "contacts",
         "run", "check", "ratio", "lemke", "solver", "modes", "l/m", "s/m");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) measure(&scenes[i], &log);
  bench_log_close(&log);
  return 0;
}
