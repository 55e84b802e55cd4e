// Navigation: the projection against a program solved by enumeration, gaps against a search by support directions, no
// overlaps in random scenes by a judge of our own, the same answer for any order and any number of threads, robust
// segments replayed, and all that can go wrong.
#include "carom/navigate.h"

#include "carom/lcp.h"
#include "failing_allocator.h"
#include "heap_counter.h"
#include "navigation_scenes.h"
#include "test.h"

static carom_navigate_motion *run(const carom_navigate_def *def) {
  carom_navigate_motion *m = NULL;
  carom_error error = {0};
  if (carom_navigate_run(def, NULL, &m, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return m;
}

static nav_scene scene_of(uint64_t seed, bool polygons, bool driven, int most) {
  nav_scene s;
  const nav_kind kind = {polygons, driven, most};
  nav_random_scene(&s, seed, &kind);
  return s;
}

// Definitions point into their scene.
static const carom_navigate_def *settle(nav_scene *s) {
  s->def.vehicles = s->vehicles, s->def.obstacles = s->obstacles;
  for (int i = 0; i < s->vehicle_count; i++) s->vehicles[i].cage.corners = (const double(*)[2])s->corners[i];
  for (int i = 0; i < s->obstacle_count; i++) {
    s->obstacles[i].knots = s->knots[i];
    s->obstacles[i].cage.corners = (const double(*)[2])s->corners[NAV_MOST + i];
  }
  return &s->def;
}

// ---- gaps -----------------------------------------------------------------------------------------------------------

static double reach_along(const carom_cage *c, const double place[3], double angle) {
  double dx = cos(angle), dy = sin(angle), most = c->count > 0 ? -INFINITY : 0;
  for (int i = 0; i < c->count; i++) {
    double x = cos(place[2]) * c->corners[i][0] - sin(place[2]) * c->corners[i][1];
    double y = sin(place[2]) * c->corners[i][0] + cos(place[2]) * c->corners[i][1];
    most = fmax(most, dx * x + dy * y);
  }
  return dx * place[0] + dy * place[1] + most + c->radius;
}

static double gap_along(const carom_cage *a, const double pa[3], const carom_cage *b, const double pb[3],
                        double angle) {
  return -reach_along(a, pa, angle + acos(-1.0)) - reach_along(b, pb, angle);
}

// The widest gap between parallel lines that part two cages, over many directions, more of them about the best: the
// distance of convex sets, or minus their depth.
static double widest_gap(const carom_cage *a, const double pa[3], const carom_cage *b, const double pb[3]) {
  enum { MANY = 3000, ROUNDS = 4 };
  double best = 0, width = acos(-1.0);
  for (int round = 0; round < ROUNDS; round++) {
    double middle = best, widest = -INFINITY;
    for (int i = -MANY; i <= MANY; i++) {
      double angle = middle + width * i / MANY, gap = gap_along(a, pa, b, pb, angle);
      if (gap > widest) widest = gap, best = angle;
    }
    width *= 4.0 / MANY;
  }
  return gap_along(a, pa, b, pb, best);
}

TEST(gaps_are_distances_and_depths) {
  carom_random random = carom_random_make(3, 0);
  double ca[NAV_CORNERS][2], cb[NAV_CORNERS][2];
  for (int i = 0; i < 300; i++) {
    carom_cage a = i % 3 ? nav_polygon(&random, 0.7, ca) : nav_disc(0.5), b = nav_polygon(&random, 1, cb);
    double pa[3], pb[3];
    for (int k = 0; k < 3; k++)
      pa[k] = carom_random_between(&random, -1.5, 1.5), pb[k] = carom_random_between(&random, -1, 1);
    double gap = carom_cage_gap(&a, pa, &b, pb);
    CHECK_NEAR(gap, carom_cage_gap(&b, pb, &a, pa), 1e-14);
    CHECK_NEAR(gap, widest_gap(&a, pa, &b, pb), 1e-6);
  }
}

// ---- the projection -------------------------------------------------------------------------------------------------

// One step of discs is the projection of their wishes: the program's conditions, by trying every basis.
static void expect_projection(const carom_navigate_def *def, const double (*wish)[2], const double (*got)[2]) {
  enum { MOST = 15 };
  int a[MOST], b[MOST], rows = 0;
  double nx[MOST], ny[MOST], M[MOST * MOST], q[MOST], z[MOST], w[MOST];
  for (int i = 0; i < def->vehicle_count; i++)
    for (int k = i + 1; k < def->vehicle_count; k++) {
      const carom_navigate_vehicle *v = &def->vehicles[i], *u = &def->vehicles[k];
      double dx = v->start[0] - u->start[0], dy = v->start[1] - u->start[1], d = hypot(dx, dy);
      a[rows] = i, b[rows] = k, nx[rows] = dx / d, ny[rows] = dy / d;
      q[rows] = fmax(d - v->cage.radius - u->cage.radius - def->margin, 0) / def->horizon;
      q[rows] += nx[rows] * (wish[i][0] - wish[k][0]) + ny[rows] * (wish[i][1] - wish[k][1]);
      rows++;
    }
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < rows; k++) {
      double s = (a[i] == a[k] ? 1 / def->vehicles[a[i]].mass : 0) + (b[i] == b[k] ? 1 / def->vehicles[b[i]].mass : 0);
      s -= (a[i] == b[k] ? 1 / def->vehicles[a[i]].mass : 0) + (b[i] == a[k] ? 1 / def->vehicles[b[i]].mass : 0);
      M[k * rows + i] = s * (nx[i] * nx[k] + ny[i] * ny[k]);
    }
  carom_lcp_problem p = {.n = rows, .M = M, .q = q};
  carom_lcp_options o = carom_lcp_default_options();
  carom_lcp_solution solution = {z, w, NULL};
  carom_lcp_info info;
  carom_lcp_work *work;
  o.method = CAROM_LCP_ENUMERATE;
  REQUIRE(carom_lcp_work_create(rows, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_lcp_solve(work, &p, &o, &solution, &info, NULL) == CAROM_OK && info.outcome == CAROM_LCP_SOLVED);
  carom_lcp_work_destroy(work);
  for (int i = 0; i < def->vehicle_count; i++) {
    double v[2] = {wish[i][0], wish[i][1]};
    for (int k = 0; k < rows; k++) {
      double sign = a[k] == i ? 1 : b[k] == i ? -1 : 0;
      v[0] += sign * z[k] * nx[k] / def->vehicles[i].mass, v[1] += sign * z[k] * ny[k] / def->vehicles[i].mass;
    }
    for (int k = 0; k < 2; k++) CHECK_NEAR(got[i][k], v[k], 2e-6);
  }
}

TEST(a_step_is_the_joint_projection_of_all_wishes) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    carom_random random = carom_random_make(7, seed);
    carom_navigate_vehicle v[5];
    double wish[5][2];
    carom_navigate_def def = carom_navigate_default();
    def.vehicles = v, def.vehicle_count = 3 + (int)(seed % 3), def.threads = 1;
    for (int i = 0; i < def.vehicle_count; i++) {
      v[i] = carom_navigate_vehicle_default();
      v[i].cage = nav_disc(0.4), v[i].mass = carom_random_between(&random, 0.5, 3), v[i].most_speed = 50;
      v[i].start[0] = 1.05 * cos(2.5 * i) * (1 + 0.2 * i), v[i].start[1] = 1.05 * sin(2.5 * i) * (1 + 0.2 * i);
      for (int k = 0; k < 2; k++) wish[i][k] = carom_random_between(&random, -1.5, 1.5);
    }
    carom_navigate *s = NULL;
    carom_error error = {0};
    if (carom_navigate_create(&def, NULL, &s, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
    REQUIRE(s);
    carom_navigate_command(s, &wish[0][0]);
    CHECK(carom_navigate_step(s, &error) == CAROM_OK);
    carom_navigate_view view = carom_navigate_look(s);
    expect_projection(&def, (const double(*)[2])wish, view.velocities);
    CHECK_AT_MOST(view.residual, 1e-6);
    carom_navigate_destroy(s);
  }
}

TEST(two_discs_come_to_rest_before_each_other_as_the_horizon_says) {
  carom_navigate_vehicle v[2] = {carom_navigate_vehicle_default(), carom_navigate_vehicle_default()};
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = v, def.vehicle_count = 2, def.margin = 0, def.turn = 0;
  v[0].cage = v[1].cage = nav_disc(0.5);
  v[0].start[0] = -1.5, v[0].goal[0] = 3, v[1].start[0] = 1.5, v[1].goal[0] = -3;
  carom_navigate *s;
  REQUIRE(carom_navigate_create(&def, NULL, &s, NULL) == CAROM_OK);
  double gap = 2;
  for (int i = 0; i < 60; i++) {
    CHECK(carom_navigate_step(s, NULL) == CAROM_OK);
    gap -= def.step * fmin(2, gap / def.horizon);  // both at full speed, or as the gap lets them
    carom_navigate_view view = carom_navigate_look(s);
    CHECK_NEAR(view.places[1][0] - view.places[0][0] - 1, gap, 1e-9);
    CHECK_NEAR(view.places[0][1], 0, 1e-12);
  }
  CHECK(carom_navigate_look(s).contact_count == 1);
  carom_navigate_destroy(s);
}

TEST(mass_and_gain_are_taken_up_exactly) {
  carom_navigate_vehicle v = carom_navigate_vehicle_default();
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = &v, def.vehicle_count = 1;
  v.cage = nav_disc(0.5), v.goal[0] = 1e5, v.mass = 4, v.gain = 3;
  carom_navigate *s;
  REQUIRE(carom_navigate_create(&def, NULL, &s, NULL) == CAROM_OK);
  for (int i = 1; i <= 30; i++) {
    CHECK(carom_navigate_step(s, NULL) == CAROM_OK);
    CHECK_NEAR(carom_navigate_look(s).velocities[0][0], 1 - exp(-3.0 / 4 * 0.1 * i), 1e-12);
  }
  carom_navigate_destroy(s);
}

// ---- no overlaps ----------------------------------------------------------------------------------------------------

typedef struct counts {
  int scenes, done, overlaps;
} counts;

static counts go_through(int first, int count, bool polygons, bool driven) {
  counts c = {0};
  for (int i = first; i < first + count; i++) {
    nav_scene s = scene_of((uint64_t)i, polygons, driven, 25);
    carom_navigate_motion *m = run(settle(&s));
    if (!m) return c;
    c.scenes++, c.done += m->verdict.done, c.overlaps += m->verdict.least_gap < -1e-6;
    if (m->verdict.least_gap < -1e-6)
      test_fail(__FILE__, __LINE__, "scene %d: cages overlap by %g at %g s", i, -m->verdict.least_gap,
                m->verdict.gap_time);
    carom_navigate_motion_destroy(m);
  }
  return c;
}

static void expect_good(counts c) {
  CHECK(c.overlaps == 0);
  CHECK(c.done >= 0.95 * c.scenes);
}

TEST(no_cages_overlap_and_nearly_all_arrive) {
  expect_good(go_through(0, 60, false, false));
  expect_good(go_through(2000, 40, true, false));
  expect_good(go_through(4000, 40, true, true));
}

TEST(a_thousand_random_scenes_long) {
  expect_good(go_through(10000, 400, false, false));
  expect_good(go_through(20000, 400, true, false));
  expect_good(go_through(30000, 200, true, true));
}

// The judge's sampling against the exact time of contact: two discs that pass each other within a step.
TEST(the_judge_sees_what_happens_between_frames) {
  carom_navigate_vehicle v[2] = {carom_navigate_vehicle_default(), carom_navigate_vehicle_default()};
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = v, def.vehicle_count = 2;
  v[0].cage = v[1].cage = nav_disc(0.5);
  double places[4][3] = {{-2, 0, 0}, {2, 0.5, 0}, {2, 0, 0}, {-2, 0.5, 0}};  // they go through each other
  carom_navigate_motion m = {.vehicle_count = 2, .frame_count = 2, .step = 0.1, .places = places};
  m.allocator = carom_allocator_default();
  CHECK(carom_navigate_check(&m, &def, 0, NULL) == CAROM_OK && m.verdict.least_gap > 3);
  CHECK(carom_navigate_check(&m, &def, 9, NULL) == CAROM_OK);
  CHECK_NEAR(m.verdict.least_gap, -0.5, 1e-12);
  CHECK_NEAR(m.verdict.gap_time, 0.05, 1e-12);
  CHECK(m.verdict.gap_a == 0 && m.verdict.gap_b == 1);
}

TEST(twenty_change_places_on_a_circle) {
  static nav_scene s;
  for (int count = 2; count <= 20; count += 6) {
    nav_circle(&s, count, 8, 0.5);
    carom_navigate_motion *m = run(&s.def);
    REQUIRE(m);
    CHECK(m->verdict.done && m->verdict.least_gap >= 0 && m->verdict.jams == 0);
    CHECK_AT_MOST(m->verdict.length / m->verdict.straight, 1.25);
    carom_navigate_motion_destroy(m);
  }
}

// A full turn of the scene turns the ways: nothing but what is near decides.
TEST(ways_turn_with_the_scene) {
  static nav_scene s, t;
  nav_circle(&s, 7, 4, 0.5);
  nav_circle(&t, 7, 4, 0.5);
  for (int i = 0; i < 7; i++)
    for (int k = 0; k < 2; k++) {
      double *p = k == 0 ? t.vehicles[i].start : t.vehicles[i].goal, x = p[0], y = p[1];
      p[0] = cos(1.1) * x - sin(1.1) * y, p[1] = sin(1.1) * x + cos(1.1) * y;
    }
  carom_navigate_motion *a = run(&s.def), *b = run(&t.def);
  REQUIRE(a && b);
  CHECK(a->verdict.done && b->verdict.done);
  for (int f = 0; f < 60; f++)
    for (int i = 0; i < 7; i++) {
      const double *p = a->places[f * 7 + i], *q = b->places[f * 7 + i];
      CHECK_NEAR(cos(1.1) * p[0] - sin(1.1) * p[1], q[0], 1e-4);
      CHECK_NEAR(sin(1.1) * p[0] + cos(1.1) * p[1], q[1], 1e-4);
    }
  carom_navigate_motion_destroy(a);
  carom_navigate_motion_destroy(b);
}

// ---- order and threads ----------------------------------------------------------------------------------------------

TEST(the_order_of_vehicles_and_obstacles_does_not_matter) {
  for (int seed = 50; seed < 62; seed++) {
    nav_scene s = scene_of((uint64_t)seed, seed % 2, seed % 3 == 0, 20), t;
    settle(&s);
    t = s;
    settle(&t);
    int n = s.vehicle_count, m = s.obstacle_count;
    for (int i = 0; i < n; i++) t.vehicles[i] = s.vehicles[n - 1 - i];
    for (int i = 0; i < m; i++) t.obstacles[i] = s.obstacles[m - 1 - i];
    carom_navigate_motion *a = run(&s.def), *b = run(&t.def);
    REQUIRE(a && b && a->frame_count == b->frame_count);
    for (int f = 0; f < a->frame_count; f++)
      for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
          CHECK_NEAR(a->places[f * (n + m) + i][k], b->places[f * (n + m) + n - 1 - i][k], 1e-9);
    carom_navigate_motion_destroy(a);
    carom_navigate_motion_destroy(b);
  }
}

static void make_crowd(carom_navigate_vehicle *v, int side) {
  for (int i = 0; i < side * side; i++) {
    int to = (i * 37) % (side * side);
    v[i] = carom_navigate_vehicle_default();
    v[i].cage = nav_disc(0.4);
    v[i].start[0] = i % side, v[i].start[1] = (double)(i / side);
    v[i].goal[0] = to % side, v[i].goal[1] = (double)(to / side);
  }
}

TEST(the_answer_does_not_depend_on_threads) {
  enum { SIDE = 14 };
  static carom_navigate_vehicle v[SIDE * SIDE];
  carom_navigate_def def = carom_navigate_default();
  make_crowd(v, SIDE);
  def.vehicles = v, def.vehicle_count = SIDE * SIDE, def.duration = 3, def.threads = 1;
  carom_navigate_motion *one = run(&def);
  def.threads = 4;
  carom_navigate_motion *four = run(&def);
  REQUIRE(one && four && one->frame_count == four->frame_count);
  CHECK(memcmp(one->places, four->places, sizeof *one->places * (size_t)one->frame_count * SIDE * SIDE) == 0);
  CHECK(one->verdict.least_gap > 0);
  carom_navigate_motion_destroy(one);
  carom_navigate_motion_destroy(four);
}

// ---- what vehicles keep ---------------------------------------------------------------------------------------------

TEST(speeds_spins_and_axles_stay_in_their_bounds) {
  for (int seed = 300; seed < 320; seed++) {
    nav_scene s = scene_of((uint64_t)seed, true, false, 25);
    carom_navigate *n;
    REQUIRE(carom_navigate_create(settle(&s), NULL, &n, NULL) == CAROM_OK);
    double before[NAV_MOST];
    for (int i = 0; i < s.vehicle_count; i++) before[i] = s.vehicles[i].start[2];
    for (int k = 0; k < 150; k++) {
      REQUIRE(carom_navigate_step(n, NULL) == CAROM_OK);
      carom_navigate_view view = carom_navigate_look(n);
      for (int i = 0; i < s.vehicle_count; i++) {
        const carom_navigate_vehicle *v = &s.vehicles[i];
        double spin = remainder(view.places[i][2] - before[i], 2 * acos(-1.0)) / s.def.step;
        const double *u = view.velocities[i];
        double along = cos(before[i]) * u[0] + sin(before[i]) * u[1],
               across = cos(before[i]) * u[1] - sin(before[i]) * u[0];
        if (v->steering == CAROM_STEER_SLIDE) CHECK_NEAR(spin, 0, 1e-12);
        CHECK_AT_MOST(fabs(spin), v->turn_rate + 1e-9);
        if (v->steering != CAROM_STEER_UNICYCLE) CHECK_AT_MOST(hypot(u[0], u[1]), 1.2 * v->speed + 1e-5);
        if (v->steering == CAROM_STEER_UNICYCLE) {  // the axle does not slip: its point's speed across is spin x offset
          CHECK_NEAR(across, spin * v->offset, 1e-5);
          CHECK(along <= 1.2 * v->speed + 1e-5 && along >= -v->most_reverse - 1e-5);
        }
        before[i] = view.places[i][2];
      }
    }
    carom_navigate_destroy(n);
  }
}

TEST(vehicles_keep_to_their_rails) {
  static const double points[][2] = {{0, 0}, {4, 0}, {4, 3}, {8, 5}};
  const carom_navigate_rail rail = {NULL, 4, points};
  carom_navigate_vehicle v[3] = {carom_navigate_vehicle_default(), carom_navigate_vehicle_default(),
                                 carom_navigate_vehicle_default()};
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = v, def.vehicle_count = 3, def.rails = &rail, def.rail_count = 1;
  for (int i = 0; i < 3; i++) v[i].cage = nav_disc(0.3);
  v[0].rail = 0, v[0].goal[0] = 8, v[0].goal[1] = 5;
  v[1].start[0] = 2, v[1].start[1] = -2, v[1].goal[0] = 2, v[1].goal[1] = 3;  // crosses it
  v[2].start[0] = 7, v[2].start[1] = 1, v[2].goal[0] = 1, v[2].goal[1] = 1;   // goes across
  carom_navigate_motion *m = run(&def);
  REQUIRE(m);
  CHECK(m->verdict.done && m->verdict.least_gap >= 0);
  CHECK_NEAR(m->length[0], 4 + 3 + hypot(4, 2), 0.15);
  const carom_cage dot = {.radius = 1e-3};
  for (int f = 0; f < m->frame_count; f++) {
    double off = INFINITY;
    for (int i = 0; i < 3; i++) {
      const double dx = points[i + 1][0] - points[i][0], dy = points[i + 1][1] - points[i][1], L = hypot(dx, dy);
      const double box[4][2] = {{0, -1e-6}, {L, -1e-6}, {L, 1e-6}, {0, 1e-6}},
                   at[3] = {points[i][0], points[i][1], atan2(dy, dx)};
      off = fmin(off, carom_cage_gap(&dot, m->places[3 * f], &(carom_cage){0, 4, box}, at));
    }
    CHECK_AT_MOST(off, 1e-5);
  }
  carom_navigate_motion_destroy(m);
}

TEST(ways_lead_around_what_stays_and_are_short) {
  static const double wall[4][2] = {{-0.1, -5}, {0.1, -5}, {0.1, 5}, {-0.1, 5}};
  const carom_navigate_knot at = {0, {0, 0, 0}};
  const carom_navigate_obstacle o = {.cage = {0, 4, wall}, .count = 1, .knots = &at};
  carom_navigate_vehicle v = carom_navigate_vehicle_default();
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = &v, def.vehicle_count = 1, def.obstacles = &o, def.obstacle_count = 1;
  v.cage = nav_disc(0.5), v.start[0] = -3, v.start[1] = 1, v.goal[0] = 3, v.goal[1] = 1;
  carom_navigate_motion *m = run(&def);
  REQUIRE(m);
  double taut = 2 * hypot(3 - 0.1, 4.5) + 0.2;  // around the corner, near enough
  CHECK(m->verdict.done);
  CHECK(m->length[0] > taut && m->length[0] < 1.06 * taut);
  carom_navigate_motion_destroy(m);
}

// ---- jams -----------------------------------------------------------------------------------------------------------

static const double block[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};

// A truck presses a car against a wall: forces cancel out. A gap too narrow merely holds a car back.
TEST(jams_are_told_from_mere_waiting) {
  const carom_navigate_knot stay = {0, {2, 0, 0}}, ways[] = {{0, {-3, 0, 0}}, {3, {-0.9, 0, 0}}};
  const carom_navigate_obstacle squeeze[] = {{"wall", {0, 4, block}, 1, &stay, false},
                                             {"truck", {0, 4, block}, 2, ways, false}};
  carom_navigate_vehicle v = carom_navigate_vehicle_default();
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = &v, def.vehicle_count = 1, def.obstacles = squeeze, def.obstacle_count = 2, def.routes = false;
  v.cage = nav_disc(0.5), v.goal[0] = 8, v.speed = 0.2, v.most_speed = 0.3, v.name = "car";
  def.patience = 5, def.turn = 0;
  carom_navigate_motion *m = run(&def);
  REQUIRE(m);
  CHECK(!m->verdict.done && m->jam_count == 1 && m->jams[0].closed && m->jams[0].count == 1 && m->jammed[0] == 0);
  CHECK(m->verdict.least_gap < -0.02 && m->verdict.least_gap > -0.11);  // 0.9 m are left for 1 m: the judge tells
  carom_navigate_motion_destroy(m);
  const carom_navigate_knot up = {0, {2, 1.4, 0}}, down = {0, {2, -1.4, 0}};
  const carom_navigate_obstacle narrow[] = {{"up", {0, 4, block}, 1, &up, false},
                                            {"down", {0, 4, block}, 1, &down, false}};
  def.obstacles = narrow;
  m = run(&def);
  REQUIRE(m);
  CHECK(!m->verdict.done && m->jam_count == 1 && !m->jams[0].closed && m->verdict.least_gap >= 0);
  CHECK(m->verdict.time < def.duration);  // nobody moves any more
  carom_navigate_motion_destroy(m);
}

// ---- robust segments ------------------------------------------------------------------------------------------------

// Rubs two discs past each other for a while.
static carom_navigate *make_pair(carom_navigate_vehicle v[2]) {
  carom_navigate_def def = carom_navigate_default();
  carom_navigate *s = NULL;
  def.vehicles = v, def.vehicle_count = 2, def.threads = 1;
  v[0] = v[1] = carom_navigate_vehicle_default();
  v[0].cage = v[1].cage = nav_disc(0.5);
  v[0].start[0] = -0.55, v[0].start[1] = 0.15, v[1].start[0] = 0.55, v[1].start[1] = -0.15;
  CHECK(carom_navigate_create(&def, NULL, &s, NULL) == CAROM_OK);
  return s;
}

TEST(a_segment_is_robust_while_its_contact_carries) {
  carom_navigate_vehicle v[2];
  carom_navigate *s = make_pair(v);
  REQUIRE(s);
  double towards[2][2] = {{1, 0}, {-1, 0}}, apart[2][2] = {{-1, 0}, {1, 0}}, away[2][2] = {{0.3, 0.9}, {-0.3, -0.9}};
  const double start[2][3] = {{-0.55, 0.15, 0}, {0.55, -0.15, 0}};
  carom_navigate_fate fate;
  carom_navigate_segment rub = {0.5, 0, towards}, part = {1, 0, apart}, slide = {2, 0, away};
  CHECK(carom_navigate_check_segment(s, &rub, 0.01, &fate, NULL) == CAROM_OK);
  CHECK(fate.robust && fate.carrying == 1 && fate.margin > 0 && fate.problems == 1 && fate.systems >= 20);
  CHECK(carom_navigate_put(s, 0, &start[0][0], NULL) == CAROM_OK);
  CHECK(carom_navigate_check_segment(s, &part, 0.01, &fate, NULL) == CAROM_OK && fate.robust && fate.carrying == 0);
  CHECK(carom_navigate_put(s, 0, &start[0][0], NULL) == CAROM_OK);
  CHECK(carom_navigate_check_segment(s, &slide, 0, &fate, NULL) == CAROM_OK);  // the contact lets go on the way
  carom_navigate_fate seen;
  CHECK(carom_navigate_put(s, 0, &start[0][0], NULL) == CAROM_OK);
  CHECK(carom_navigate_run_segment(s, &slide, &seen, NULL) == CAROM_OK);
  CHECK(fate.robust == seen.robust);
  if (!seen.robust) CHECK_NEAR(fate.time, seen.time, 1e-12);
  carom_navigate_destroy(s);
}

// Linear systems and problems lead to the same places.
TEST(a_robust_segment_ends_where_problems_lead) {
  carom_navigate_vehicle v[2];
  carom_navigate *s = make_pair(v);
  REQUIRE(s);
  double towards[2][2] = {{1, 0}, {-1, 0.1}}, end[2][3];
  const double start[2][3] = {{-0.55, 0.15, 0}, {0.55, -0.15, 0}};
  carom_navigate_segment rub = {0.8, 0.25, towards};
  carom_navigate_fate fate, seen;
  CHECK(carom_navigate_check_segment(s, &rub, 0, &fate, NULL) == CAROM_OK && fate.robust);
  memcpy(end, carom_navigate_look(s).places, sizeof end);
  CHECK(carom_navigate_put(s, 0, &start[0][0], NULL) == CAROM_OK);
  CHECK(carom_navigate_run_segment(s, &rub, &seen, NULL) == CAROM_OK && seen.robust && seen.basis == fate.basis);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) CHECK_NEAR(carom_navigate_look(s).places[i][k], end[i][k], 1e-9);
  carom_navigate_destroy(s);
}

static int replay(const nav_scene *s, const carom_navigate_plan *p, double half, uint64_t seed, int *switched) {
  carom_navigate *n = NULL;
  carom_random random = carom_random_make(5, seed);
  int replays = 0;
  if (carom_navigate_create(&s->def, NULL, &n, NULL) != CAROM_OK) return 0;
  for (int k = 0; k < p->count; k++)
    for (int q = 0; q < 12; q++) {
      double places[NAV_MOST][3];
      carom_navigate_fate fate;
      memcpy(places, p->places + k * s->vehicle_count, sizeof(double) * 3 * (size_t)s->vehicle_count);
      for (int i = 0; i < s->vehicle_count; i++)
        for (int d = 0; d < 2; d++) places[i][d] += carom_random_between(&random, -half, half);
      if (carom_navigate_put(n, 0, &places[0][0], NULL) != CAROM_OK) continue;  // cages overlap there
      CHECK(carom_navigate_run_segment(n, &p->segments[k], &fate, NULL) == CAROM_OK);
      *switched += fate.switches > 0 || fate.basis != p->fates[k].basis;
      replays += p->fates[k].robust;
    }
  carom_navigate_destroy(n);
  return replays;
}

TEST(robust_segments_never_switch_on_a_thousand_replays) {
  int replays = 0, switched = 0, found = 0, plans = 0, carrying = 0;
  for (uint64_t seed = 0; seed < 40 && replays < 1200; seed++) {
    nav_scene s = scene_of(9000 + seed, seed & 1, false, 4);
    carom_navigate_plan_def how = carom_navigate_plan_default();
    carom_navigate_plan *p = NULL;
    settle(&s);
    for (int i = 0; i < s.vehicle_count; i++) s.vehicles[i].steering = CAROM_STEER_SLIDE;
    how.budget = 400;
    REQUIRE(carom_navigate_plan_make(&s.def, &how, NULL, &p, NULL) == CAROM_OK && p);
    plans++, found += p->found;
    for (int k = 0; k < p->count; k++) {
      CHECK(p->fates[k].robust && p->fates[k].margin > 0);
      carrying += p->fates[k].carrying > 0;
    }
    replays += replay(&s, p, how.half, seed, &switched);
    carom_navigate_plan_destroy(p);
  }
  CHECK(replays >= 1000 && switched == 0);
  CHECK(carrying > 10 && found >= 0.8 * plans);
}

// The way of a plan is as its segments say.
TEST(a_plan_is_gone_as_planned) {
  nav_scene s = scene_of(9001, true, false, 4);
  carom_navigate_plan_def how = carom_navigate_plan_default();
  carom_navigate_plan *p = NULL, *again = NULL;
  carom_navigate_motion *m = NULL;
  settle(&s);
  for (int i = 0; i < s.vehicle_count; i++) s.vehicles[i].steering = CAROM_STEER_SLIDE;
  REQUIRE(carom_navigate_plan_make(&s.def, &how, NULL, &p, NULL) == CAROM_OK && p->found);
  REQUIRE(carom_navigate_plan_motion(&s.def, p, NULL, &m, NULL) == CAROM_OK);
  CHECK(m->verdict.done && m->verdict.least_gap >= 0);
  for (int i = 0; i < s.vehicle_count; i++)
    for (int k = 0; k < 2; k++)
      CHECK_NEAR(m->places[(m->frame_count - 1) * (s.vehicle_count + s.obstacle_count) + i][k],
                 p->places[p->count * s.vehicle_count + i][k], 1e-6);
  CHECK(carom_navigate_plan_make(&s.def, &how, NULL, &again, NULL) == CAROM_OK && again->count == p->count);
  carom_navigate_plan_destroy(p);
  carom_navigate_plan_destroy(again);
  carom_navigate_motion_destroy(m);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static const double square[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
static const double dented[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0, 0}, {-0.5, 0.5}};
static const double clockwise[3][2] = {{0, 0}, {0, 1}, {1, 0}};
static const double star[5][2] = {{1, 0}, {-0.8, 0.6}, {0.3, -0.95}, {0.3, 0.95}, {-0.8, -0.6}};

static void expect_mistake(void (*change)(carom_navigate_def *, carom_navigate_vehicle *), carom_status status,
                           const char *text) {
  carom_navigate_vehicle v[2] = {carom_navigate_vehicle_default(), carom_navigate_vehicle_default()};
  carom_navigate_def def = carom_navigate_default();
  carom_navigate *s = NULL;
  carom_error error = {0};
  def.vehicles = v, def.vehicle_count = 2;
  v[0].cage = nav_disc(0.5), v[1].cage = (carom_cage){0, 4, square};
  v[0].start[0] = -2, v[1].start[0] = 2;
  change(&def, v);
  CHECK(carom_navigate_create(&def, NULL, &s, &error) == status && !s);
  CHECK_TEXT(error.message, text);
}

static void zero_radius(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[0].cage.radius = 0; }
static void nan_radius(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[0].cage.radius = NAN; }
static void dent(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[1].cage.corners = dented; }
static void reverse(carom_navigate_def *d, carom_navigate_vehicle *v) {
  (void)d, v[1].cage = (carom_cage){0, 3, clockwise};
}
static void cross(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[1].cage = (carom_cage){0, 5, star}; }
static void overlap(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[0].start[0] = 1.2; }
static void slow(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[1].speed = -1; }
static void nowhere(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[0].goal[1] = NAN; }
static void far_start(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[0].start[0] = INFINITY; }
static void no_mass(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[1].mass = 0; }
static void no_step(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)v, d->step = 0; }
static void short_horizon(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)v, d->horizon = 0.05; }
static void nobody(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)v, d->vehicle_count = 0; }
static void no_rail(carom_navigate_def *d, carom_navigate_vehicle *v) { (void)d, v[0].rail = 2; }
static void inside(carom_navigate_def *d, carom_navigate_vehicle *v) {
  static const carom_navigate_knot at = {0, {0, 4, 0}};
  static const carom_navigate_obstacle o = {"wall", {0, 4, square}, 1, &at, false};
  d->obstacles = &o, d->obstacle_count = 1, v[0].goal[1] = 4.2, v[1].goal[1] = -3;
}
static void backwards(carom_navigate_def *d, carom_navigate_vehicle *v) {
  static const carom_navigate_knot at[] = {{1, {0, 9, 0}}, {1, {0, 8, 0}}};
  static const carom_navigate_obstacle o = {NULL, {0, 4, square}, 2, at, false};
  (void)v, d->obstacles = &o, d->obstacle_count = 1;
}

TEST(each_mistake_has_a_message) {
  expect_mistake(zero_radius, CAROM_ERR_NUMBER,
                 "vehicle 1: the radius of its cage must be positive and at most 1e+06 m, got 0 m");
  expect_mistake(nan_radius, CAROM_ERR_NUMBER,
                 "vehicle 1: the radius of its cage must be positive and at most 1e+06 m, got nan m");
  expect_mistake(dent, CAROM_ERR_NOT_CONVEX,
                 "vehicle 2: its cage is not convex, or not counter-clockwise, at corner 3 (0, 0)");
  expect_mistake(reverse, CAROM_ERR_NOT_CONVEX,
                 "vehicle 2: its cage is not convex, or not counter-clockwise, at corner 2 (0, 1)");
  expect_mistake(cross, CAROM_ERR_NOT_CONVEX, "vehicle 2: its cage is not convex: its sides cross");
  expect_mistake(overlap, CAROM_ERR_GEOMETRY,
                 "vehicle 1 and vehicle 2 overlap at the start, by 0.2 m; move one of them");
  expect_mistake(slow, CAROM_ERR_NUMBER, "vehicle 2: its speed must not be negative, got -1");
  expect_mistake(nowhere, CAROM_ERR_NUMBER, "vehicle 1: its goal is not finite or too far, got 0");
  expect_mistake(far_start, CAROM_ERR_NUMBER, "vehicle 1: its start is not finite or too far, got inf");
  expect_mistake(no_mass, CAROM_ERR_NUMBER, "vehicle 2: its mass must be positive, got 0");
  expect_mistake(no_step, CAROM_ERR_NUMBER, "navigation: the step must be positive, got 0");
  expect_mistake(short_horizon, CAROM_ERR_NUMBER, "navigation: the horizon must be at least the step, got 0.05");
  expect_mistake(nobody, CAROM_ERR_ARGUMENT, "navigation: 1 to 10000 vehicles, got 0");
  expect_mistake(no_rail, CAROM_ERR_ARGUMENT, "vehicle 1: its steering or its rail does not exist");
  expect_mistake(inside, CAROM_ERR_GEOMETRY, "vehicle 1: its goal (0, 4.2) lies inside wall");
  expect_mistake(backwards, CAROM_ERR_NUMBER, "obstacle 1: the time of knot 2 is not after that of the one before");
}

TEST(segments_say_what_they_do_not_take) {
  carom_navigate_vehicle v[2];
  carom_navigate *s = make_pair(v);
  carom_navigate_fate fate;
  carom_error error = {0};
  double wish[2][2] = {{1, 0}, {NAN, 0}};
  carom_navigate_segment segment = {1, 0, wish};
  REQUIRE(s);
  CHECK(carom_navigate_check_segment(s, &segment, 0.1, &fate, &error) == CAROM_ERR_NUMBER);
  wish[1][0] = 0;
  segment.duration = 0;
  CHECK(carom_navigate_check_segment(s, &segment, 0.1, &fate, &error) == CAROM_ERR_NUMBER);
  segment.duration = 1, segment.settle = 1;
  CHECK(carom_navigate_run_segment(s, &segment, &fate, &error) == CAROM_ERR_NUMBER);
  segment.settle = 0;
  CHECK(carom_navigate_check_segment(s, &segment, -1, &fate, &error) == CAROM_ERR_NUMBER);
  carom_navigate_destroy(s);
  carom_navigate_def def = carom_navigate_default();
  def.vehicles = v, def.vehicle_count = 2;
  v[0].steering = CAROM_STEER_UNICYCLE, v[1].start[0] = 3;
  REQUIRE(carom_navigate_create(&def, NULL, &s, NULL) == CAROM_OK);
  CHECK(carom_navigate_check_segment(s, &segment, 0.1, &fate, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "vehicle 1 must slide");
  const double there[2][3] = {{0, 0, 0}, {0.1, 0, 0}}, far[2][3] = {{0, 0, 0}, {NAN, 0, 0}};
  CHECK(carom_navigate_put(s, 0, &there[0][0], &error) == CAROM_ERR_GEOMETRY);
  CHECK(carom_navigate_put(s, 0, &far[0][0], &error) == CAROM_ERR_NUMBER);
  carom_navigate_destroy(s);
  carom_navigate_plan_def how = carom_navigate_plan_default();
  carom_navigate_plan *p;
  how.settle = 1;
  CHECK(carom_navigate_plan_make(&def, &how, NULL, &p, &error) == CAROM_ERR_NUMBER && !p);
}

// ---- memory and stopping --------------------------------------------------------------------------------------------

static carom_status with_memory(const carom_allocator *a) {
  nav_scene s = scene_of(4003, true, true, 4);
  carom_navigate_motion *m = NULL;
  settle(&s);
  s.def.duration = 2;
  carom_status status = carom_navigate_run(&s.def, a, &m, NULL);
  CHECK((status == CAROM_OK) == (m != NULL));
  carom_navigate_motion_destroy(m);
  if (status != CAROM_OK) return status;
  s.def.obstacle_count = 0;
  for (int i = 0; i < s.vehicle_count; i++) s.vehicles[i].steering = CAROM_STEER_SLIDE;
  carom_navigate_plan_def how = carom_navigate_plan_default();
  carom_navigate_plan *p = NULL;
  how.budget = 5;
  status = carom_navigate_plan_make(&s.def, &how, a, &p, NULL);
  CHECK((status == CAROM_OK) == (p != NULL));
  carom_navigate_plan_destroy(p);
  return status;
}

TEST(memory_that_is_refused_is_told) {
  for (int allowed = 0; allowed < 5000; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_status status = with_memory(&a);
    CHECK(f.live == 0);
    CHECK(status == CAROM_ERR_MEMORY || (status == CAROM_OK && allowed > 20));
    if (status == CAROM_OK) return;
  }
  test_fail(__FILE__, __LINE__, "it never succeeded");
}

TEST(steps_do_not_allocate_once_they_are_warm) {
  static nav_scene s;
  carom_navigate *n;
  if (!MALLOC_COUNTED) test_skip("the heap cannot be counted here");
  nav_circle(&s, 20, 8, 0.5);
  REQUIRE(carom_navigate_create(&s.def, NULL, &n, NULL) == CAROM_OK);
  for (int i = 0; i < 150; i++) CHECK(carom_navigate_step(n, NULL) == CAROM_OK);
  long before = heap_calls;
  for (int i = 0; i < 40; i++) CHECK(carom_navigate_step(n, NULL) == CAROM_OK);
  CHECK(heap_calls == before);
  carom_navigate_destroy(n);
}

static bool stop_at(void *context, double done, double total) {
  (void)total;
  return done < *(double *)context;
}

TEST(ways_and_plans_stop_when_they_are_told) {
  static nav_scene s;
  double most = 2;
  carom_navigate_motion *m = NULL;
  carom_navigate_plan *p = NULL;
  carom_navigate_plan_def how = carom_navigate_plan_default();
  nav_circle(&s, 4, 8, 0.5);
  s.def.progress = (carom_progress){&most, stop_at};
  CHECK(carom_navigate_run(&s.def, NULL, &m, NULL) == CAROM_INTERRUPTED);
  REQUIRE(m);
  CHECK_NEAR(m->verdict.time, 2, 0.11);
  carom_navigate_motion_destroy(m);
  how.progress = s.def.progress;
  CHECK(carom_navigate_plan_make(&s.def, &how, NULL, &p, NULL) == CAROM_INTERRUPTED);
  REQUIRE(p);
  CHECK(!p->found && p->tried == 2);
  carom_navigate_plan_destroy(p);
}
