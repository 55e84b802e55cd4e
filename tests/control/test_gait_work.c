// Costs of work and of the largest torque, against cases that are known, and against the report.
#include "bipeds.h"

// A wheel or a pendulum on a hinge goes from rest to rest.
typedef struct hinge_case {
  double c, angle, T;  // centre of mass from the hinge; how far; how long
  carom_vec3 gravity;
  int K;
  bool back;  // and to where it came from
} hinge_case;

static const double wheel_mass = 2.5, wheel_moment = 0.8;

static carom_plan *turned(const hinge_case *h, world *w) {
  stage s = {.turn = {1, 0, 0, 0}, .planar = true, .gravity = h->gravity};
  carom_builder *b = begin_stage(&s);
  put_link(b, &s, "wheel", wheel_mass, cm_vec3(0.7, 0.5, wheel_moment), h->c, cm_zero3());
  *w = finish_world(b);
  carom_plan_def def = carom_plan_default();
  def.intervals = h->K, def.step = h->T / h->K;
  carom_plan *plan = begin_plan(w, def);
  add_torque(plan, add_hinge(plan, "axle", (int[]){0, 1}, 0, 0));
  carom_condition_def end = carom_condition_default();
  if (h->back) {
    end.kind = CAROM_CONDITION_ROTATION, end.body = 1, end.node = h->K / 2;
    end.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), h->angle);
    carom_plan_add_condition(plan, &end);
    end = carom_condition_default();
  }
  end.kind = CAROM_CONDITION_ROTATION, end.body = 1,
  end.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), h->back ? 0 : h->angle);
  carom_plan_add_condition(plan, &end);
  end.kind = CAROM_CONDITION_VELOCITY;
  carom_plan_add_condition(plan, &end);
  return plan;
}

typedef struct found {
  double cost;
  carom_plan_work work;
} found;

static found least(hinge_case h, carom_cost_kind kind, carom_power power) {
  world w;
  carom_plan *plan = turned(&h, &w);
  add_cost(plan, kind, power, 1);
  // Work has local optima, and round-off decides which of them one start comes to.
  found out = {.cost = solve_plan_from(plan, h.back ? 4 : 1).cost};
  out.work = carom_plan_find_work(plan);
  carom_plan_destroy(plan);
  free_world(&w);
  return out;
}

// Full torque one way, then the other: 4 J angle / T^2; the momentum of a step knows the sine of the turn, so that this
// holds up to the square of the step.
TEST(least_peak_is_bang_bang) {
  hinge_case h = {0, 1.3, 1.7, {0, 0, 0}, 10, false};
  double exact = 4 * wheel_moment * h.angle / (h.T * h.T), off[2];
  for (int i = 0; i < 2; i++) {
    h.K = 10 << i;
    found f = least(h, CAROM_COST_PEAK, 0);
    CHECK_NEAR(f.work.peak, f.cost, 1e-6 * exact);
    off[i] = f.cost / exact - 1;
  }
  CHECK_AT_MOST(fabs(off[0]), 6e-3);
  CHECK_NEAR(off[0] / off[1], 4, 0.3);
}

// Torques that last an interval do more than the blow that is best: as much more as intervals are long.
static void check_least_blows(hinge_case h, carom_power power, double exact) {
  double coarse = least(h, CAROM_COST_WORK, power).cost - exact;
  h.K *= 2;
  double fine = least(h, CAROM_COST_WORK, power).cost - exact;
  CHECK(fine > 0 && coarse < 0.2 * exact);
  CHECK_NEAR(coarse / fine, 2, 0.25);
}

// Without weight nothing is cheaper than to go at one speed: kicked on and stopped, 1/2 J (angle/T)^2 each.
TEST(least_work_is_a_constant_speed) {
  hinge_case h = {0, 1.1, 1.9, {0, 0, 0}, 30, false};
  double kick = 0.5 * wheel_moment * pow(h.angle / h.T, 2);
  check_least_blows(h, CAROM_POWER_POSITIVE, kick);
  check_least_blows(h, CAROM_POWER_JOINTS, 2 * kick);
  found total = least(h, CAROM_COST_WORK, CAROM_POWER_TOTAL);
  CHECK_NEAR(total.cost, 2 * kick, 1e-3 * kick);
  CHECK_NEAR(total.cost, total.work.kinds[CAROM_POWER_TOTAL], 1e-7);
  CHECK_NEAR(total.work.kinds[CAROM_POWER_NET], 0, 1e-9);
  CHECK_NEAR(least(h, CAROM_COST_WORK, CAROM_POWER_NET).cost, 0, 1e-9);
}

// There and back in the same time: braked and kicked twice. Nothing turns a wheel back for nothing.
TEST(turning_back_costs_work_long) {
  hinge_case h = {0, 1.1, 1.9, {0, 0, 0}, 30, true};
  double kick = 0.5 * wheel_moment * pow(2 * h.angle / h.T, 2);
  check_least_blows(h, CAROM_POWER_POSITIVE, 2 * kick);
  CHECK(least(h, CAROM_COST_WORK, CAROM_POWER_JOINTS).cost > 4 * kick);
}

// Lifted slowly, no kind of work is less than the weight's, and none is more, but for the drift that work joint by
// joint is charged, which is second order in the step.
TEST(least_work_of_lifting_is_the_height) {
  hinge_case h = {-0.35, 0.9, 2.5, {0, -9.81, 0}, 80, false};
  double lift = wheel_mass * 9.81 * 0.35 * (1 - cos(h.angle));
  for (int power = CAROM_POWER_TOTAL; power <= CAROM_POWER_NET; power++) {
    bool each = power == CAROM_POWER_JOINTS || power == CAROM_POWER_POSITIVE;
    found f = least(h, CAROM_COST_WORK, (carom_power)power);
    if (each) {
      hinge_case fine = h;
      fine.K *= 2;
      double off = f.cost - lift, less = least(fine, CAROM_COST_WORK, (carom_power)power).cost - lift;
      CHECK(less > 0 && off < 3e-3 * lift);
      CHECK_NEAR(off / less, 4, 0.6);
    } else {
      CHECK_NEAR(f.cost, lift, 2e-6 * lift);
    }
    CHECK_NEAR(f.work.kinds[CAROM_POWER_NET], lift, 1e-8);
    CHECK_NEAR(f.work.change, lift, 1e-8);
    CHECK(f.work.loss == 0 && f.work.transport == 0);
  }
}

// Let down: all of it is braking. Positive work can be had for nothing, joints charge the height, net pays it back.
TEST(least_work_of_lowering) {
  hinge_case h = {0.35, 0.9, 2.5, {0, -9.81, 0}, 30, false};
  double drop = wheel_mass * 9.81 * 0.35 * (1 - cos(h.angle));
  found positive = least(h, CAROM_COST_WORK, CAROM_POWER_POSITIVE);
  CHECK(positive.cost >= -1e-9 && positive.cost < 0.02 * drop);
  found joints = least(h, CAROM_COST_WORK, CAROM_POWER_JOINTS);
  CHECK(joints.cost >= drop * (1 - 1e-9) && joints.cost < 1.02 * drop);
  CHECK_NEAR(least(h, CAROM_COST_WORK, CAROM_POWER_NET).cost, -drop, 1e-7);
}

// ---- gaits ---------------------------------------------------------------------------------------------------------

static const stage level = {.turn = {1, 0, 0, 0}, .planar = true, .gravity = {0, -3.7, 0}};

// What the solver minimised is what the report says: work and drift over weight and way. Nothing is less than the loss.
static void check_transport(biped *b, carom_power power) {
  add_cost(b->plan, CAROM_COST_TRANSPORT, power, 1);
  carom_plan_report report = solve_plan(b->plan);
  carom_plan_work work = carom_plan_find_work(b->plan);
  double told = work.kinds[power] + (power == CAROM_POWER_JOINTS ? work.drift : 0);
  if (power == CAROM_POWER_POSITIVE)  // only drift that brings energy is charged
    CHECK(report.cost * work.transport >= told - 1e-7 && report.cost * work.transport <= told + work.drift + 1e-7);
  else
    CHECK_NEAR(report.cost * work.transport, told, 1e-6 * fmax(told, 0.1));
  CHECK(report.cost * work.transport >= work.loss - 1e-7);
  CHECK_NEAR(work.kinds[CAROM_POWER_NET], work.loss, 1e-8);
}

TEST(transport_of_a_gait_is_what_is_told) {
  for (int power = CAROM_POWER_TOTAL; power <= CAROM_POWER_POSITIVE; power++) {
    biped b = begin_knees(level, 10, 0.9);
    check_transport(&b, (carom_power)power);
    end_biped(&b);
  }
}

// Joints with three components.
TEST(transport_in_space_is_what_is_told) {
  biped b = begin_sway(10, 0.6);
  check_transport(&b, CAROM_POWER_JOINTS);
  end_biped(&b);
}

TEST(peak_of_a_gait_is_its_largest_torque) {
  biped b = begin_knees(level, 10, 0.9), effort = begin_knees(level, 10, 0.9);
  add_cost(b.plan, CAROM_COST_PEAK, 0, 1);
  add_cost(effort.plan, CAROM_COST_EFFORT, 0, 1);
  double cost = solve_plan(b.plan).cost, most = 0;
  solve_plan(effort.plan);
  for (int k = 0; k < 10; k++)
    for (int i = 0; i < carom_plan_actuator_count(b.plan); i++) {
      double torque;
      carom_plan_forces(b.plan, k, i, &torque);
      most = fmax(most, fabs(torque));
    }
  CHECK_NEAR(cost, most, 1e-6 * most);
  CHECK_NEAR(carom_plan_find_work(b.plan).peak, most, 1e-12 * most);
  CHECK(cost < 0.9 * carom_plan_find_work(effort.plan).peak);
  end_biped(&b);
  end_biped(&effort);
}
