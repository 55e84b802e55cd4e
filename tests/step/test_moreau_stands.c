// What stands must stand, what falls must fall: stacks, houses of cards, arches, and Painleve's rod; with y up, in the
// plane and in space. In space contacts are redundant by the dozen: impulses are not unique, and W is singular.
#include "fixtures.h"

static const double g0 = 9.81, half_turn = 3.14159265358979323846;

static carom_builder *rough_world(double mu, bool planar) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, planar);
  put_material(b, 0, mu);
  carom_builder_set_gravity(b, cm_vec3(0, -g0, 0));
  return b;
}

// The shape stays the caller's.
static int add_shape(carom_builder *b, const carom_shape *shape, carom_pose pose) {
  carom_body_def def = carom_body_default();
  def.pose = pose;
  return put_shape(b, def, carom_shape_retain(shape));
}

static void add_floor(carom_builder *b) {
  put_shape(b, fixed_body(cm_zero3(), cm_axis_angle(cm_vec3(1, 0, 0), -half_turn / 2)), floor_shape());
}

static carom_stepper *moreau_by(const world *w, double h, const char *solver) {
  carom_step_options o = carom_step_default_options();
  o.integrator = "moreau";
  o.step = h;
  o.solver = solver;
  return stepper_by(w, &o);
}

static carom_stepper *moreau(const world *w, double h) { return moreau_by(w, h, NULL); }

static double largest_shift(const world *w, const carom_state *start) {
  double most = 0;
  for (int i = 0; i < start->body_count; i++) most = fmax(most, cm_norm(cm_sub(w->state->x[i], start->x[i])));
  return most;
}

// ---- standing -------------------------------------------------------------------------------------------------------

// Runs, and keeps an eye on the residuals: 1e-9 of the largest velocity is what a solution may miss.
static void run_solved(carom_stepper *stepper, carom_state *state, int steps) {
  for (int i = 0; i < steps; i++) {
    carom_step_report report;
    carom_error error = {0};
    if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "%s", error.message);
    CHECK_AT_MOST(report.complementarity, 1e-9);
  }
}

// Cards and stones are laid with gaps of a fraction of a millimetre; after half a second they have settled.
static void stand(world *w, double h, double seconds, double drift) {
  carom_state *start = NULL;
  carom_stepper *stepper = moreau(w, h);
  run_solved(stepper, w->state, (int)lround(0.5 / h));
  REQUIRE(carom_state_clone(w->state, NULL, &start, NULL) == CAROM_OK);
  run_solved(stepper, w->state, (int)lround(seconds / h));
  CHECK_AT_MOST(largest_shift(w, start), drift);
  carom_stepper_destroy(stepper);
  carom_state_destroy(start);
}

// ---- a stack of boxes -----------------------------------------------------------------------------------------------

static world stack(int n) {
  const carom_shape *box = box_shape(1, 1, 1);
  carom_builder *b = rough_world(0.5, false);
  add_floor(b);
  for (int i = 0; i < n; i++) add_shape(b, box, cm_pose(cm_vec3(0, 0.5 + i, 0), cm_qidentity()));
  carom_shape_release(box);
  return finish_world(b);
}

TEST(ten_boxes_stand_a_minute_long) {
  world w = stack(10);
  stand(&w, 0.02, 60, 1e-5);
  free_world(&w);
}

// The floor carries the weight of all, whoever solves the problem.
static void check_solver(const char *solver) {
  world w = stack(3);
  double h = 0.01, weight = 0;
  for (int i = 1; i <= 3; i++) weight += g0 * w.model->bodies[i].mass;
  carom_stepper *stepper = moreau_by(&w, h, solver);
  for (int i = 0; i < 20; i++) {
    carom_step_report report;
    carom_error error = {0};
    if (carom_stepper_step(stepper, w.state, &report, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "%s", error.message);
    double carried = 0;
    for (int k = 0; k < report.event_count; k++)
      if (report.events[k].body_b == 0) carried += report.events[k].impulse.y;
    CHECK_AT_MOST(report.complementarity, 1e-9);
    CHECK_NEAR(carried / (weight * h), 1, 1e-6);
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(three_boxes_stand_by_lemke) { check_solver("lemke"); }
TEST(three_boxes_stand_by_pgs) { check_solver("pgs"); }
TEST(three_boxes_stand_by_newton) { check_solver("newton"); }
TEST(three_boxes_stand_by_default) { check_solver(NULL); }

// ---- a house of cards -----------------------------------------------------------------------------------------------

// Cards are boxes with rounded edges, so that edges that lean on each other have a normal.
static const double card_length = 1, card_width = 0.7, card_round = 0.01, lean = 0.35;

static void add_card(carom_builder *b, const carom_shape *card, carom_vec3 center, double angle) {
  add_shape(b, card, cm_pose(center, cm_axis_angle(cm_vec3(0, 0, 1), -angle)));
}

// Two cards that lean on each other at x; feet stand at the height y. Returns the height of the tops.
static double add_frame(carom_builder *b, const carom_shape *card, double x, double y) {
  double half = card_length / 2, thick = 5e-4, s = sin(lean), c = cos(lean);
  double high = half * c + thick * s + card_round, wide = half * s + thick * c + card_round;
  add_card(b, card, cm_vec3(x - wide, y + high, 0), lean);
  add_card(b, card, cm_vec3(x + wide, y + high, 0), -lean);
  return y + 2 * high;
}

static world house_of_cards(int storeys, bool planar) {
  const carom_shape *card = rounded_box_shape(1e-3, card_length, card_width, card_round);
  carom_builder *b = rough_world(0.8, planar);
  add_floor(b);
  double base = 2 * (card_length * sin(lean) + 2 * card_round + 0.03), y = 0;
  for (int level = storeys; level >= 1; level--) {
    double top = y;
    for (int k = 0; k < level; k++) top = add_frame(b, card, base * (k - 0.5 * (level - 1)), y);
    const carom_shape *flat = rounded_box_shape(base - 0.004 - 2 * card_round, 1e-3, card_width, card_round);
    for (int k = 0; k < level - 1; k++)
      add_shape(b, flat,
                cm_pose(cm_vec3(base * (k + 0.5 - 0.5 * (level - 1)), top + card_round + 5e-4, 0), cm_qidentity()));
    carom_shape_release(flat);
    y = top + 2 * card_round + 1e-3;
  }
  carom_shape_release(card);
  return finish_world(b);
}

TEST(a_house_of_cards_stands) {
  world w = house_of_cards(2, true);
  stand(&w, 0.02, 2, 1e-5);
  free_world(&w);
}

TEST(a_house_of_three_storeys_stands_in_space) {
  world w = house_of_cards(3, false);
  stand(&w, 0.02, 4, 1e-5);
  free_world(&w);
}

TEST(a_house_in_space_stands_a_minute_long) {
  world w = house_of_cards(3, false);
  stand(&w, 0.02, 60, 1e-5);
  free_world(&w);
}

TEST(a_house_of_three_storeys_stands_a_minute_long) {
  world w = house_of_cards(3, true);
  CHECK(w.model->moving_count == 15);
  stand(&w, 0.1, 60, 1e-5);
  free_world(&w);
}

// ---- a masonry arch -------------------------------------------------------------------------------------------------

// A semicircle of n stones of equal angle, mean radius 1, on fixed ground on either side.
static world arch(int n, double thickness, bool planar) {
  carom_builder *b = rough_world(1, planar);
  add_floor(b);
  double inner = 1 - thickness / 2, outer = 1 + thickness / 2;
  for (int i = 0; i < n; i++) {
    carom_vec3 corners[8];
    int k = 0;
    for (int side = 0; side < 2; side++) {
      double angle = half_turn * (i + side) / n;
      for (int depth = 0; depth < 2; depth++)
        for (int ring = 0; ring < 2; ring++) {
          double r = ring ? outer : inner;
          corners[k++] = cm_vec3(r * cos(angle), r * sin(angle), depth ? 0.15 : -0.15);
        }
    }
    const carom_shape *stone = hull_shape(corners, 8);
    add_shape(b, stone, cm_pose_identity());
    carom_shape_release(stone);
  }
  return finish_world(b);
}

// The classical least thickness is 0.1075 of the mean radius (Milankovitch 1907; Heyman 1969).
TEST(a_thick_arch_stands) {
  world w = arch(11, 0.14, true);
  stand(&w, 0.02, 1, 1e-6);
  free_world(&w);
}

TEST(a_thick_arch_stands_in_space) {
  world w = arch(11, 0.14, false);
  stand(&w, 0.02, 4, 1e-6);
  free_world(&w);
}

TEST(a_thin_arch_falls_in_space) {
  world w = arch(11, 0.08, false);
  carom_stepper *stepper = moreau(&w, 0.01);
  double crown = w.state->x[6].y;
  run_solved(stepper, w.state, 100);
  CHECK(w.state->x[6].y < crown - 0.1);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_thin_arch_falls) {
  world w = arch(11, 0.08, true);
  carom_stepper *stepper = moreau(&w, 0.01);
  double crown = w.state->x[6].y;
  run_steps(stepper, w.state, 150);
  CHECK(w.state->x[6].y < crown - 0.1);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- Painleve's rod -------------------------------------------------------------------------------------------------

// A uniform rod slides on its lower end over a floor of mu = 2. At 60 degrees, with the rod leaning the way it is
// pushed into the floor by friction, 1 + 3 cos (cos - mu sin) < 0: no finite force keeps the end on the floor (Painleve
// 1895), and the rod stops in an impact although nothing collided.
TEST(painleve_rod_passes_through_the_paradox) {
  const double h = 1e-3, r = 0.01, theta = 1.0471975511965976, mu = 2;
  carom_builder *b = rough_world(mu, true);
  const carom_shape *rod = capsule_shape(r, 2);
  add_floor(b);
  // The capsule lies along its z axis: laid down along y, and leaned towards +x, so that its lower end is at -x.
  carom_quat upright = cm_axis_angle(cm_vec3(1, 0, 0), -half_turn / 2);
  carom_quat q = cm_qmul(cm_axis_angle(cm_vec3(0, 0, 1), theta - half_turn / 2), upright);
  carom_pose pose = cm_pose(cm_vec3(0, r + sin(theta), 0), q);
  add_shape(b, rod, pose);
  carom_shape_release(rod);
  world w = finish_world(b);
  CHECK(1 + 3 * cos(theta) * (cos(theta) - mu * sin(theta)) < 0);
  carom_state_set_velocity(w.model, w.state, 1, cm_vec3(-10, 0, 0), cm_zero3());
  carom_stepper *stepper = moreau(&w, h);
  double weight = w.model->bodies[1].mass * g0 * h, largest = 0, approach = 0;
  double energy = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  for (int i = 0; i < 2000; i++) {
    carom_step_report report;
    carom_error error = {0};
    carom_vec3 v = carom_state_velocity(w.model, w.state, 1), spin = carom_state_angular_velocity(w.model, w.state, 1);
    carom_vec3 arm = cm_rotate(carom_state_pose(w.model, w.state, 1).q, cm_vec3(0, 0, -1));
    double down = cm_add(v, cm_cross(spin, arm)).y;
    if (carom_stepper_step(stepper, w.state, &report, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "%s", error.message);
    double normal = 0;
    for (int k = 0; k < report.event_count; k++) normal += report.events[k].impulse.y;
    if (normal > largest) largest = normal, approach = down;
    double now = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
    CHECK(now <= energy + 1e-9 * fabs(energy));
    energy = fmin(energy, now);
    if (i == 20) {
      CHECK(largest > 100 * weight);               // an impact ...
      CHECK_AT_MOST(fabs(approach), 10 * g0 * h);  // ... without a collision
    }
  }
  CHECK(w.state->x[1].y > 0);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
