// Approach curves: derivatives, invariants of field lines, frames that do not flip, starts that are refused, and
// docking.
#include "control/tracking.h"

static const double PI = 3.14159265358979323846;

static carom_field_line some_line(uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  carom_field_line line = carom_field_line_default();
  line.center = random_vector(&r, 1);
  line.docked = random_rotation(&r);
  return line;
}

static carom_vec3 port_axis(const carom_field_line *line) { return cm_rotate(line->docked, cm_vec3(-1, 0, 0)); }

// `angle` off the port's axis, in the plane at `around` about it.
static carom_vec3 place(const carom_field_line *line, double distance, double angle, double around) {
  carom_vec3 side = cm_vec3(0, cos(around), sin(around));
  carom_vec3 d = cm_add(cm_vec3(-cos(angle), 0, 0), cm_scale(sin(angle), side));
  return cm_axpy(line->center, distance, cm_rotate(line->docked, d));
}

// Along the line from x for a time, by small steps.
static carom_vec3 flown(const carom_field_line *line, carom_vec3 x, double time) {
  int steps = 200;
  double h = time / steps;
  for (int i = 0; i < steps; i++) {
    carom_vec3 k1 = carom_field_line_at(line, x, 2).velocity;
    carom_vec3 k2 = carom_field_line_at(line, cm_axpy(x, h / 2, k1), 2).velocity;
    carom_vec3 k3 = carom_field_line_at(line, cm_axpy(x, h / 2, k2), 2).velocity;
    carom_vec3 k4 = carom_field_line_at(line, cm_axpy(x, h, k3), 2).velocity;
    x = cm_axpy(x, h / 6, cm_add(cm_add(k1, k4), cm_scale(2, cm_add(k2, k3))));
  }
  return x;
}

static const double nodes[4] = {-2, -1, 1, 2}, weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};

// All derivatives against differences of order 4 along the line.
TEST(derivatives_are_exact) {
  double worst[4] = {0};
  for (uint64_t seed = 1; seed <= 60; seed++) {
    carom_field_line line = some_line(seed);
    carom_random r = carom_random_make(seed, 3);
    carom_vec3 x = place(&line, carom_random_between(&r, 0.2, 0.6), carom_random_between(&r, 0, 1.5),
                         carom_random_between(&r, 0, 2 * PI));
    int axis = carom_field_line_axis(&line, x);
    carom_reference now = carom_field_line_at(&line, x, axis);
    carom_vec3 v = cm_zero3(), a = v, w = v, w_rate = v;
    double t = 1e-2;
    for (int i = 0; i < 4; i++) {
      double s = weights[i] / t;
      carom_reference then = carom_field_line_at(&line, flown(&line, x, nodes[i] * t), axis);
      v = cm_axpy(v, s, then.position);
      a = cm_axpy(a, s, then.velocity);
      w = cm_axpy(w, s, cm_log(cm_qmul(cm_qconj(now.rotation), then.rotation)));
      w_rate = cm_axpy(w_rate, s, then.angular_velocity_body);
    }
    worst[0] = fmax(worst[0], cm_norm(cm_sub(v, now.velocity)));
    worst[1] = fmax(worst[1], cm_norm(cm_sub(a, now.acceleration)));
    worst[2] = fmax(worst[2], cm_norm(cm_sub(w, now.angular_velocity_body)));
    worst[3] = fmax(worst[3], cm_norm(cm_sub(w_rate, now.angular_acceleration_body)));
  }
  for (int i = 0; i < 4; i++) CHECK_AT_MOST(worst[i], 1e-9);
}

// a_d = -(3 eta/|d|) ((c0.dbar) P v_d + dbar (c0.P v_d)), by hand.
TEST(the_acceleration_is_that_of_the_closed_form) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    carom_field_line line = some_line(seed);
    carom_vec3 x = place(&line, 0.4, 0.1 * (double)(seed % 15), (double)seed), c0 = port_axis(&line);
    carom_reference at = carom_field_line_at(&line, x, 2);
    carom_vec3 d = cm_sub(x, line.center), bar = cm_unit(d), b = cm_sub(cm_scale(3 * cm_dot(c0, bar), bar), c0);
    carom_vec3 v = cm_scale(-line.speed, b), Pv = cm_axpy(v, -cm_dot(bar, v), bar);
    carom_vec3 a = cm_add(cm_scale(cm_dot(c0, bar), Pv), cm_scale(cm_dot(c0, Pv), bar));
    CHECK_AT_MOST(cm_norm(cm_sub(at.velocity, v)), 1e-16);
    CHECK_AT_MOST(cm_norm(cm_sub(at.acceleration, cm_scale(-3 * line.speed / cm_norm(d), a))), 1e-16);
    double cosine = cm_dot(c0, bar);
    CHECK_NEAR(cm_norm(at.velocity), line.speed * sqrt(1 + 3 * cosine * cosine), 1e-15);
    CHECK_AT_MOST(cm_norm(cm_sub(cm_rotate(at.rotation, cm_vec3(1, 0, 0)), cm_unit(v))), 1e-14);
  }
}

// Every line is r = R sin^2(angle); followed in steps of any length it keeps R, and it ends docked.
TEST(a_followed_line_keeps_its_invariant_and_ends_docked) {
  for (int k = 0; k < 3; k++) {
    carom_field_line line = some_line(3);
    line.stop = 0.05;
    double h = k == 0 ? 1e-3 : k == 1 ? 0.05 : 1, farthest = 0.4 / pow(sin(0.6), 2), worst = 0;
    carom_vec3 x = place(&line, 0.4, 0.6, 1);
    carom_field_line_memory memory = {0};
    carom_reference at = {0};
    for (double t = 0; t < 20; t += h) {
      CHECK(carom_field_line_follow(&line, t, x, &memory, &at, NULL) == CAROM_OK);
      carom_vec3 d = cm_sub(memory.position, line.center);
      double r = cm_norm(d), sine = cm_norm(cm_cross(d, port_axis(&line))) / r;
      if (r > line.stop) worst = fmax(worst, fabs(r / (sine * sine) - farthest));
      x = at.position;
    }
    CHECK_AT_MOST(worst, 1e-8);
    CHECK_AT_MOST(cm_norm(cm_sub(at.position, cm_axpy(line.center, line.stop, port_axis(&line)))), 1e-15);
    CHECK_NEAR(fabs(cm_qdot(at.rotation, line.docked)), 1, 1e-15);
    CHECK(cm_norm(at.velocity) == 0 && memory.rebased == 0);
  }
}

// In every plane through the port's axis, those of its second and third axis included, from abeam to the port: the
// frame turns smoothly, by no more than the path does and its roll, and becomes the docked one.
TEST(frames_never_flip) {
  carom_field_line line = some_line(5);
  for (int plane = 0; plane < 64; plane++) {
    double around = plane * (2 * PI / 64);
    carom_vec3 x = place(&line, 0.5, 1.55, around);
    int axis = carom_field_line_axis(&line, x);
    carom_field_line_memory memory = {0};
    carom_reference before = carom_field_line_at(&line, x, axis), at = before;
    double fastest = 0;
    for (int i = 1; i < 2000 && cm_norm(cm_sub(at.position, line.center)) > 0.05; i++) {
      CHECK(carom_field_line_follow(&line, i * 5e-3, memory.axis ? memory.position : x, &memory, &at, NULL) ==
            CAROM_OK);
      fastest = fmax(fastest, cm_norm(cm_log(cm_qmul(cm_qconj(before.rotation), at.rotation))) / 5e-3);
      CHECK(memory.axis == axis);
      before = at;
    }
    CHECK_AT_MOST(fastest, 2);
    CHECK_AT_MOST(cm_norm(cm_log(cm_qmul(cm_qconj(line.docked), at.rotation))), 0.5);
  }
}

TEST(starts_behind_are_refused_or_flown_round) {
  carom_field_line line = some_line(7);
  carom_error error = {0};
  carom_field_line_memory memory = {0};
  carom_reference at;
  carom_vec3 behind = place(&line, 0.5, 2.2, 0.3);
  CHECK(carom_field_line_follow(&line, 0, behind, &memory, &at, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "behind the dipole, 126.1 degrees off");
  CHECK_CONTAINS(error.message, "'reach' to 0.765 m");
  CHECK(memory.axis == 0);
  line.reach = 0.8;
  carom_vec3 x = behind;
  double farthest = 0;
  for (int i = 0; i < 60000; i++) {
    CHECK(carom_field_line_follow(&line, i * 1e-3, x, &memory, &at, &error) == CAROM_OK);
    x = memory.position;
    farthest = fmax(farthest, cm_norm(cm_sub(x, line.center)));
  }
  CHECK_NEAR(farthest, 0.5 / pow(sin(2.2), 2), 1e-6);
  CHECK_NEAR(cm_norm(cm_sub(at.position, line.center)), line.stop, 1e-15);
  carom_vec3 on_axis = place(&line, 0.5, PI, 0);
  line.reach = 1e6;
  CHECK(carom_field_line_check(&line, on_axis, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_field_line_check(&line, line.center, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "counts as docked");
  CHECK(carom_field_line_check(&line, place(&line, 0.5, PI / 2 - 1e-9, 0), &error) == CAROM_OK);
}

TEST(bad_lines_are_refused) {
  carom_vec3 x = cm_vec3(-1, 0, 0);
  carom_error error = {0};
  carom_field_line line = carom_field_line_default();
  CHECK(carom_field_line_check(&line, x, &error) == CAROM_OK);
  line.speed = 0;
  CHECK(carom_field_line_check(&line, x, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "speed");
  line = carom_field_line_default(), line.docked.w = 2;
  CHECK(carom_field_line_check(&line, x, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "unit quaternion");
  line = carom_field_line_default(), line.stop = -1;
  CHECK(carom_field_line_check(&line, x, &error) == CAROM_ERR_NUMBER);
}

TEST(time_does_not_run_backwards) {
  carom_field_line line = some_line(2);
  carom_field_line_memory memory = {0}, kept;
  carom_reference a, b;
  carom_error error = {0};
  carom_vec3 x = place(&line, 0.4, 0.5, 2);
  CHECK(carom_field_line_follow(&line, 1, x, &memory, &a, &error) == CAROM_OK);
  kept = memory;
  CHECK(carom_field_line_follow(&line, 2, x, &memory, &a, &error) == CAROM_OK);
  CHECK(carom_field_line_follow(&line, 1.5, x, &memory, &b, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "put its memory back");
  CHECK(carom_field_line_follow(&line, 2, x, &kept, &b, &error) == CAROM_OK);  // put back: the same bits
  CHECK(memcmp(&a, &b, sizeof a) == 0);
}

TEST(a_craft_that_strays_gets_a_new_line) {
  carom_field_line line = some_line(2);
  carom_field_line_memory memory = {0};
  carom_reference at;
  carom_vec3 x = place(&line, 0.5, 0.5, 2);
  CHECK(carom_field_line_follow(&line, 0, x, &memory, &at, NULL) == CAROM_OK);
  CHECK(cm_norm(cm_sub(at.position, x)) == 0);
  CHECK(carom_field_line_follow(&line, 0.1, x, &memory, &at, NULL) == CAROM_OK);
  CHECK(memory.rebased == 0 && cm_norm(cm_sub(at.position, x)) > 4e-3);
  carom_vec3 elsewhere = place(&line, 0.5, 0.9, 1);
  CHECK(carom_field_line_follow(&line, 0.2, elsewhere, &memory, &at, NULL) == CAROM_OK);
  CHECK(memory.rebased == 1 && cm_norm(cm_sub(at.position, elsewhere)) == 0);
  CHECK(carom_field_line_follow(&line, 0.3, place(&line, 0.5, 3, 1), &memory, &at, NULL) == CAROM_OK);
  CHECK(memory.rebased == 1);  // behind the dipole there is no line to take up
  line.mode = CAROM_FIELD_LINE_REBASE;
  CHECK(carom_field_line_follow(&line, 0.4, x, &memory, &at, NULL) == CAROM_OK);
  CHECK_AT_MOST(cm_norm(cm_sub(at.position, cm_axpy(x, line.ahead, at.velocity))), 1e-16);
}

// ---- docking without contact: the law and the line together
// -------------------------------------------------------------

typedef struct docking {
  double distance, angle;  // at the end: m, rad
  double turned;           // until it points along its line for the first time, rad
} docking;

// The published gains; kicks of 5 ms.
static docking dock(uint64_t seed, carom_track_map map, carom_field_line_mode mode) {
  carom_random r = carom_random_make(seed, 9);
  carom_field_line line = some_line(seed);
  line.mode = mode;
  carom_plant plant = cubesat();
  carom_track_gains gains = carom_track_default_gains();
  gains.map = map;
  carom_guide guide = {.line = &line};
  carom_guide_memory guided = {0};
  carom_track_memory memory = {0};
  carom_rigid_motion m = {.rotation = random_rotation(&r), .velocity = random_vector(&r, 5e-3)};
  m.position =
      place(&line, carom_random_between(&r, 0.35, 0.7), carom_random_between(&r, 0, 1), carom_random_between(&r, 0, 6));
  m.angular_velocity_body = random_vector(&r, 5e-3);
  const double h = 5e-3;
  docking end = {0};
  bool aligned = false;
  for (int i = 0; i < 8000; i++) {
    carom_reference reference;
    if (carom_guide_at(&guide, i * h, m.position, &guided, &reference, NULL) != CAROM_OK) return (docking){1, 1, 9};
    carom_track_answer u = carom_track(&plant, &m, &reference, &gains, &memory);
    carom_vec3 w = m.angular_velocity_body, change, gyration = cm_cross(cm_mulv(plant.inertia, w), w);
    cm_solve3(plant.inertia, cm_add(gyration, u.torque_body), &change);
    m.velocity = cm_axpy(m.velocity, h / plant.mass, u.force);
    m.angular_velocity_body = cm_axpy(w, h, change);
    m.position = cm_axpy(m.position, h, m.velocity);
    m.rotation = cm_qunit(cm_qmul(m.rotation, cm_exp(cm_scale(h, m.angular_velocity_body))));
    aligned = aligned || u.angle < 0.2;
    if (!aligned) end.turned += h * cm_norm(u.spin_error);
    end.angle = u.angle;
  }
  end.distance = cm_norm(cm_sub(m.position, cm_axpy(line.center, line.stop, port_axis(&line))));
  return end;
}

TEST(crafts_from_in_front_dock_and_none_unwinds) {
  int docked = 0, starts = 100;
  double turned = 0;
  for (int i = 0; i < starts; i++) {
    docking end = dock((uint64_t)i + 1, (carom_track_map)(i % 2), CAROM_FIELD_LINE_INTEGRATE);
    docked += end.distance < 1e-2 && end.angle < PI / 180;
    turned = fmax(turned, end.turned);
  }
  CHECK(docked == starts);
  CHECK_AT_MOST(turned, PI + 0.1);
}

TEST(rebased_lines_lead_to_the_port_as_well) {
  for (int i = 0; i < 20; i++) {
    docking end = dock((uint64_t)i + 1, CAROM_TRACK_EXPONENTIAL, CAROM_FIELD_LINE_REBASE);
    CHECK_AT_MOST(end.distance, 1e-2);
    CHECK_AT_MOST(end.angle, PI / 180);
  }
}
