// `moreau` with joints: order against an independent integration in minimal coordinates, joint impulses in collisions.
#include "fixtures.h"

static const double g0 = 9.81;

static int add_ball(carom_builder *b, double radius, carom_vec3 at) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_sphere(radius, NULL, &shape, NULL) != CAROM_OK) abort();
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.parts = &part;
  def.part_count = 1;
  def.mass = 1;
  def.pose = cm_pose(at, cm_qidentity());
  int index = carom_builder_add_body(b, &def);
  carom_shape_release(shape);
  return index;
}

static void add_halfspace(carom_builder *b, carom_vec3 point, carom_quat turn) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_halfspace(NULL, &shape, NULL) != CAROM_OK) abort();
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.parts = &part;
  def.part_count = 1;
  def.pose = cm_pose(point, turn);
  def.fixed = true;
  carom_builder_add_body(b, &def);
  carom_shape_release(shape);
}

static void add_link(carom_builder *b, int from, int to, carom_vec3 anchor) {
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_DISTANCE;
  joint.body[0] = from;
  joint.body[1] = to;
  joint.point[0] = anchor;
  carom_builder_add_joint(b, &joint);
}

static void set_material(carom_builder *b, double e) {
  carom_material_def m = carom_material_default();
  m.name = "stuff";
  m.restitution = e;
  m.friction = 0;
  carom_builder_add_material(b, &m);
}

// ---- a double pendulum of two unit masses on unit links, in the plane of x and z
// ---------------------------------------

typedef struct angles {
  double a[2], w[2];
} angles;

static angles pendulum_rates(angles s) {
  double d = s.a[0] - s.a[1], c = cos(d), n = sin(d);
  // [2 c; c 1] (w1', w2') = (-w2^2 n - 2 g sin a1, w1^2 n - g sin a2)
  double f0 = -s.w[1] * s.w[1] * n - 2 * g0 * sin(s.a[0]), f1 = s.w[0] * s.w[0] * n - g0 * sin(s.a[1]);
  double det = 2 - c * c;
  return (angles){{s.w[0], s.w[1]}, {(f0 - c * f1) / det, (2 * f1 - c * f0) / det}};
}

static angles mix(angles s, double h, angles r) {
  for (int i = 0; i < 2; i++) s.a[i] += h * r.a[i], s.w[i] += h * r.w[i];
  return s;
}

static angles runge_kutta(angles s, double h) {
  angles k1 = pendulum_rates(s), k2 = pendulum_rates(mix(s, h / 2, k1)), k3 = pendulum_rates(mix(s, h / 2, k2));
  angles k4 = pendulum_rates(mix(s, h, k3));
  return mix(mix(mix(mix(s, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
}

static double tip(angles s) { return sin(s.a[0]) + sin(s.a[1]); }

// At the wall x = const: M (w+ - w-) = J' r with J = (cos a1, cos a2) and J w+ = -e J w-.
static angles hit_wall(angles s, double e) {
  double c = cos(s.a[0] - s.a[1]), det = 2 - c * c, j0 = cos(s.a[0]), j1 = cos(s.a[1]);
  double y0 = (j0 - c * j1) / det, y1 = (2 * j1 - c * j0) / det;  // M^-1 J'
  double r = -(1 + e) * (j0 * s.w[0] + j1 * s.w[1]) / (j0 * y0 + j1 * y1);
  s.w[0] += r * y0;
  s.w[1] += r * y1;
  return s;
}

// With the wall at `wall` (none: infinity); impacts by bisection on the step.
static angles reference(angles s, double until, double wall, double e) {
  const double dt = 1e-4;
  double t = 0;
  while (t < until - 1e-12) {
    double h = fmin(dt, until - t);
    angles next = runge_kutta(s, h);
    if (tip(next) > wall && tip(s) < wall) {
      double low = 0, high = h;
      for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (tip(runge_kutta(s, middle)) > wall)
          high = middle;
        else
          low = middle;
      }
      s = hit_wall(runge_kutta(s, low), e);
      t += low;
    } else {
      s = next;
      t += h;
    }
  }
  return s;
}

static carom_vec3 place(double angle) { return cm_vec3(sin(angle), 0, -cos(angle)); }

static double pendulum_error(const char *integrator, double alpha, double h, double until, double wall, double e) {
  const double r = 0.05;
  angles start = {{-1.2, -0.4}, {0, 0}};
  carom_builder *b = new_builder();
  set_material(b, e);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  carom_vec3 p = place(start.a[0]), q = cm_add(p, place(start.a[1]));
  int first = add_ball(b, r, p), second = add_ball(b, r, q);
  add_link(b, CAROM_WORLD, first, cm_zero3());
  add_link(b, first, second, cm_zero3());
  if (isfinite(wall)) {
    add_halfspace(b, cm_vec3(wall + r, 0, 0), cm_axis_angle(cm_vec3(0, 1, 0), -1.5707963267948966));
    carom_builder_set_apart(b, first, 2);  // only the tip meets the wall
  }
  world w = finish_world(b);
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.alpha = alpha;
  options.step = h;
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create(w.model, &options, NULL, &stepper, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  run_steps(stepper, w.state, (int)lround(until / h));
  angles end = reference(start, until, wall, e);
  carom_vec3 expected = cm_add(place(end.a[0]), place(end.a[1]));
  double off = cm_norm(cm_sub(w.state->x[second], expected));
  carom_stepper_destroy(stepper);
  free_world(&w);
  return off;
}

static double order(const char *integrator, double alpha, double until, double wall, double e, double h) {
  double coarse = pendulum_error(integrator, alpha, h, until, wall, e);
  double fine = pendulum_error(integrator, alpha, h / 4, until, wall, e);
  double p = log(coarse / fine) / log(4);
  printf("%s alpha %g: %.3g -> %.3g, order %.2f\n", integrator, alpha, coarse, fine, p);
  return p;
}

TEST(first_order_with_alpha_1) { CHECK_NEAR(order("moreau", 1, 0.6, INFINITY, 0, 2e-3), 1, 0.1); }
TEST(second_order_with_alpha_half) { CHECK_NEAR(order("moreau", 0.5, 0.6, INFINITY, 0, 4e-3), 2, 0.1); }
TEST(index_2_is_of_second_order_with_alpha_half) { CHECK_NEAR(order("index2", 0.5, 0.6, INFINITY, 0, 4e-3), 2, 0.1); }
TEST(index_3_is_of_second_order_with_alpha_half) { CHECK_NEAR(order("index3", 0.5, 0.6, INFINITY, 0, 4e-3), 2, 0.1); }
TEST(index_3_is_of_first_order_with_alpha_1) { CHECK_NEAR(order("index3", 1, 0.6, INFINITY, 0, 2e-3), 1, 0.1); }

// The tip hits the wall at about 0.45 s and rebounds.
TEST(first_order_through_an_impact) { CHECK_NEAR(order("moreau", 1, 0.6, 0.5, 0.5, 1e-3), 1, 0.25); }
TEST(an_impact_of_a_jointed_tip_is_right) { CHECK_AT_MOST(pendulum_error("moreau", 0.5, 1e-3, 0.6, 0.5, 0.5), 2e-4); }

// ---- a rod of two particles falls on a table (Gavrea 2006, Figure 2.1)
// --------------------------------------------------

// One end strikes first: the normal impulse at it goes through the rod and moves the other end, too. Without the joint
// the second particle would not notice.
TEST(impulses_go_through_a_rod) {
  carom_builder *b = new_builder();
  set_material(b, 0);
  add_halfspace(b, cm_zero3(), cm_qidentity());
  double angle = 0.7, r = 0.05;
  int low = add_ball(b, r, cm_vec3(0, 0, r + 1e-3)),
      high = add_ball(b, r, cm_add(cm_vec3(0, 0, r + 1e-3), cm_vec3(cos(angle), 0, sin(angle))));
  add_link(b, low, high, cm_zero3());
  world w = finish_world(b);
  for (int i = low; i <= high; i++) carom_state_set_velocity(w.model, w.state, i, cm_vec3(0, 0, -1), cm_zero3());
  carom_step_options options = carom_step_default_options();
  options.integrator = "moreau";
  options.step = 2e-3;
  carom_stepper *stepper = NULL;
  REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, NULL) == CAROM_OK);
  carom_step_report report;
  for (int i = 0; i < 2; i++) REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
  // By hand: p on the low end, s along the rod u. low: v = (0, -1) + p z - s u, high: v = (0, -1) + s u;
  // low.z = 0, u.(high - low) = 0  =>  2 s = p sin, p (1 - sin^2/2) = 1.
  double n = sin(angle), p = 1 / (1 - n * n / 2), s = p * n / 2;
  carom_vec3 v = carom_state_velocity(w.model, w.state, high);
  CHECK_NEAR(carom_state_velocity(w.model, w.state, low).z, 0, 1e-12);
  CHECK_NEAR(v.x, s * cos(angle), 2e-3);  // the rod has turned by a step since
  CHECK_NEAR(v.z, -1 + s * n, 2e-3);
  CHECK(fabs(v.x) > 0.2);
  CHECK_AT_MOST(report.constraint, options.step * options.step);  // what one step may leave
  carom_stepper_destroy(stepper);
  free_world(&w);
}
