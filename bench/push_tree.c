// Trees of pushes: Carom's planner against OMPL's control-space RRT with the same pushes, simulated the same way. Looks
// at the library's insides for single pushes.
#include "push_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/push_plan.h"
#include "control/push_tree.h"
#include "worlds.h"

// ---- the problem: a peg of 1.6 x 0.8 mm, a slot with 40 um of clearance
// ----------------------------------------------

enum { PART = 0, PROBES = 1 };

static void fixed_shape(carom_builder *b, const carom_shape *shape, carom_vec3 at, int material) {
  carom_body_def def = fixed_body(at, cm_pose_identity().q);
  def.material = material;
  put_shape(b, def, shape);
}

static void wall(carom_builder *b, double x0, double y0, double x1, double y1) {
  const carom_shape *box = NULL;
  carom_shape_create_box(cm_vec3(x1 - x0, y1 - y0, 2e-4), NULL, &box, NULL);
  fixed_shape(b, box, cm_vec3(0.5 * (x0 + x1), 0.5 * (y0 + y1), 0), 2);
}

static world make_world(void) {
  carom_builder *b = new_builder();
  carom_material_def m = carom_material_default();
  const carom_shape *shape = NULL;
  carom_support_def oil = carom_support_default();
  carom_builder_set_planar(b, true);
  m.name = "part", carom_builder_add_material(b, &m);
  m.name = "tungsten", carom_builder_add_material(b, &m);
  m.name = "glass", carom_builder_add_material(b, &m);
  carom_builder_set_surface(b, 0, 1, 0, 0.3);
  carom_builder_set_surface(b, 0, 2, 0, 0.2);
  carom_shape_create_box(cm_vec3(1.6e-3, 0.8e-3, 2e-4), NULL, &shape, NULL);
  put_shape(b, carom_body_default(), shape);
  oil.body = PART, oil.damping = 1e-3;
  carom_builder_add_support(b, &oil);
  for (int i = 0; i < 2; i++) {
    carom_shape_create_cylinder(12.5e-6, 2e-4, NULL, &shape, NULL);
    fixed_shape(b, shape, cm_vec3(0, (20 + i) * 1e-3, 0), 1);
  }
  wall(b, 0, 0.42e-3, 0.8e-3, 1.1e-3), wall(b, 0, -1.1e-3, 0.8e-3, -0.42e-3), wall(b, 0.8e-3, -1.1e-3, 1e-3, 1.1e-3);
  return finish_world(b);
}

static carom_push_plan_def make_def(const world *w) {
  carom_push_plan_def def = carom_push_plan_default();
  def.pusher.model = w->model, def.start = w->state, def.pusher.probe_count = 2;
  def.pusher.probes[0] = PROBES, def.pusher.probes[1] = PROBES + 1;
  def.pusher.goal = (carom_push_goal){PART, {-20e-6, 0, 0}, 0, 10e-6, 0.5 * acos(-1) / 180};
  def.box = (carom_push_box){PART, {20e-6, 20e-6, acos(-1) / 180}, 0.2};
  def.speed = 50e-6, def.threads = 1;
  return def;
}

// Any angle, apart of the walls.
static bool draw_start(const carom_push_plan_def *def, world *w, int number, carom_push_yard **yard) {
  carom_random r = carom_random_make(77, (uint64_t)number);
  for (;;) {
    double pose[3] = {carom_random_between(&r, -2.2e-3, -1.1e-3), carom_random_between(&r, -0.8e-3, 0.8e-3),
                      carom_random_between(&r, -acos(-1), acos(-1))};
    carom_push_set_pose(def->pusher.model, w->state, PART, pose);
    if (carom_push_yard_create(def, NULL, yard, NULL) != CAROM_OK) return false;
    if (carom_push_part_gap(*yard, pose) > 50e-6) break;
    carom_push_yard_destroy(*yard);
  }
  carom_push_yard_look_closely(*yard, false);
  return true;
}

// ---- a push for others ---------------------------------------------------------------------------------------------

static void place_on_outline(const carom_push_yard *yard, double share, carom_push_stroke *s, double *at) {
  double total = 0;
  for (int i = 0; i < yard->side_count; i++) total += yard->sides[i].length;
  *at = share * total;
  for (s->side = 0; s->side + 1 < yard->side_count && *at > yard->sides[s->side].length; s->side++)
    *at -= yard->sides[s->side].length;
}

static bool push_once(void *context, const double pose[3], const double control[PUSH_TREE_CONTROLS], double end[3]) {
  carom_push_yard *yard = context;
  carom_push_flock flock = {.count = 1, .friction = {1}};
  carom_push_stroke s = {.share = {1, 1}};
  carom_push push;
  carom_push_outcome outcome;
  double at;
  memcpy(flock.pose[0], pose, sizeof flock.pose[0]);
  place_on_outline(yard, control[0], &s, &at);
  const carom_push_side *side = &yard->sides[s.side];
  double half = (control[3] - 0.3) * side->length, off = (2 * control[1] - 1) * 0.23;
  double angle = atan2(-side->normal[1], -side->normal[0]) + pose[2] + off;
  s.heading[0] = cos(angle), s.heading[1] = sin(angle), s.way = control[2] * yard->longest;
  s.probes = half > 0 ? 2 : 1;
  s.place[0] = s.probes == 1 ? at : fmax(at - half, 0), s.place[1] = fmin(at + half, side->length);
  for (int k = 0; k < 2; k++) s.end[k] = pose[k] + s.way * s.heading[k];
  s.end[2] = pose[2];
  if (!carom_push_place_stroke(yard, &s, &flock, &push)) return false;
  if (carom_push_yard_run(yard, &push, &flock, &outcome, NULL) != CAROM_OK || !outcome.usable) return false;
  memcpy(end, flock.pose[0], 3 * sizeof *end);
  return true;
}

// ---- who plans -----------------------------------------------------------------------------------------------------

static push_tree_answer by_carom(carom_push_plan_def def, carom_push_robustness robustness) {
  carom_push_plan *plan;
  def.robustness = robustness;
  if (carom_push_plan_make(&def, NULL, &plan, NULL) != CAROM_OK) return (push_tree_answer){0};
  push_tree_answer a = {plan->found, plan->report.seconds, plan->report.nearest, plan->report.total_expansions,
                        plan->push_count};
  carom_push_plan_destroy(plan);
  return a;
}

static void print_row(const char *name, int start, const push_tree_answer *a) {
  printf("%-22s %5d %7s %9.2f %8d %9.1f %8d %12.3g\n", name, start, a->found ? "yes" : "no", a->seconds, a->pushes,
         a->pushes / a->seconds, a->length, a->nearest);
}

int main(int argc, char **argv) {
  int starts = argc > 1 ? atoi(argv[1]) : 5;
  double seconds = argc > 2 ? atof(argv[2]) : 20;
  world w = make_world();
  carom_push_plan_def def = make_def(&w);
  carom_push_yard *yard;
  printf("%-22s %5s %7s %9s %8s %9s %8s %12s\n", "tree", "start", "found", "seconds", "pushes", "pushes/s", "length",
         "nearest (m)");
  for (int i = 0; i < starts; i++) {
    if (!draw_start(&def, &w, i, &yard)) return 1;
    push_tree_answer box = by_carom(def, CAROM_PUSH_PLAN_BOX), nominal = by_carom(def, CAROM_PUSH_PLAN_NOMINAL);
    print_row("Carom, box of starts", i, &box);
    print_row("Carom, nominal", i, &nominal);
#ifdef BENCH_OMPL
    push_tree_problem p = {.context = yard, .push = push_once, .seconds = seconds, .turn_length = yard->turn_length};
    carom_push_pose(w.model, w.state, PART, p.start);
    memcpy(p.goal, yard->goal, sizeof p.goal);
    memcpy(p.low, yard->low, sizeof p.low), memcpy(p.high, yard->high, sizeof p.high);
    p.distance = def.pusher.goal.distance, p.turn = def.pusher.goal.turn;
    push_tree_answer ompl = push_tree_by_ompl(&p, (unsigned)i + 1);
    print_row("OMPL " BENCH_OMPL " RRT, nominal", i, &ompl);
#else
    (void)push_once, (void)seconds;
#endif
    carom_push_yard_destroy(yard);
  }
#ifndef BENCH_OMPL
  printf("(built without OMPL: no peer)\n");
#endif
  free_world(&w);
  return 0;
}
