// Motion of solids without contact: conservation, order, stability, waves, roll-back.
#include "failing_allocator.h"
#include "heap_counter.h"
#include "solid_fixture.h"

static const solid_box BOX = {.cells = {2, 2, 3}, .size = {0.2, 0.2, 0.3}, .disorder = 0.2, .seed = 5};

static carom_elastic_options method(carom_elastic_method which) {
  carom_elastic_options o = carom_elastic_default_options();
  o.method = which;
  return o;
}

// Smooth velocities: a shear, a stretch and a spin.
static void throw_it(carom_elastic_state *s, double size) {
  for (int i = 0; i < s->node_count; i++) {
    carom_vec3 x = s->x[i];
    s->v[i] = cm_add(cm_scale(size, cm_vec3(sin(9 * x.z), cos(7 * x.x) * x.y * 5, -8 * x.z * x.x)),
                     cm_add(cm_cross(cm_vec3(1, -2, 3), x), cm_vec3(0.5, 1, -0.25)));
  }
  s->a_known = false;
}

static double energy_of(carom_elastic *e, const carom_elastic_state *s) {
  carom_elastic_sample sample;
  carom_elastic_measure(e, s->x, NULL, &sample);
  return sample.energy + carom_elastic_kinetic_energy(e, s->v);
}

static void run(carom_elastic_stepper *stepper, const carom_elastic_loads *loads, double h, int steps,
                carom_elastic_state *s) {
  carom_error error = {0};
  for (int i = 0; i < steps; i++)
    if (carom_elastic_step(stepper, loads, h, s, NULL, &error)) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      return;
    }
}

// ---- order ----------------------------------------------------------------------------------------------------------

// Where nodes are after 0.08 s in steps of h, thrown and damped or not, under gravity and pressure, with moved pins.
static void swing(void *context, double t, int i, carom_vec3 *x, carom_vec3 *v) {
  const carom_vec3 *rest = context;
  *x = cm_add(rest[i], cm_vec3(0.01 * sin(20 * t), 0, 0.02 * t * t));
  *v = cm_vec3(0.2 * cos(20 * t), 0, 0.04 * t);
}

// A box with all loads at once: gravity, pressure all over, a force, two pins that swing.
typedef struct thrown {
  solid_sample sample;
  carom_elastic_stepper *stepper;
  carom_elastic_state *state;
  double *pressure;
  carom_vec3 *force;
  carom_elastic_loads loads;
} thrown;

static const int SWUNG[2] = {0, 1};

static thrown thrown_make(carom_elastic_method which, carom_elastic_law law, double damping) {
  carom_elastic_material m = RUBBER;
  carom_elastic_options o = method(which);
  m.damping = damping;
  thrown t = {.sample = solid_sample_make(&BOX, law, &m)};
  const solid_mesh *mesh = &t.sample.mesh;
  t.stepper = solid_stepper(t.sample.elastic, &o), t.state = solid_state(t.sample.elastic);
  t.pressure = calloc((size_t)mesh->skin_count, sizeof *t.pressure), t.force = solid_vectors(mesh->node_count);
  for (int i = 0; i < mesh->skin_count; i++) t.pressure[i] = i % 2 ? 500 : 100;
  t.force[20] = cm_vec3(1, 2, 3);
  t.loads = (carom_elastic_loads){.gravity = {0, 0, -9.81}, .pin_count = 2, .pins = SWUNG, .move = swing};
  t.loads.triangle_count = mesh->skin_count, t.loads.triangles = (const int(*)[3])mesh->skin;
  t.loads.pressure = t.pressure, t.loads.force = t.force, t.loads.context = mesh->nodes;
  throw_it(t.state, 0.3);
  for (int k = 0; k < 2; k++) swing(mesh->nodes, 0, k, &t.state->x[k], &t.state->v[k]);
  return t;
}

static void thrown_free(thrown *t) {
  free(t->pressure), free(t->force);
  carom_elastic_state_destroy(t->state);
  carom_elastic_stepper_destroy(t->stepper);
  solid_sample_free(&t->sample);
}

static carom_vec3 *path_end(carom_elastic_method which, double damping, int steps) {
  thrown t = thrown_make(which, CAROM_ELASTIC_NEO_HOOKE, damping);
  run(t.stepper, &t.loads, 0.08 / steps, steps, t.state);
  CHECK_NEAR(t.state->t, 0.08, 1e-12);
  carom_vec3 *end = solid_vectors(t.state->node_count);
  memcpy(end, t.state->x, (size_t)t.state->node_count * sizeof *end);
  thrown_free(&t);
  return end;
}

static double distance(int n, const carom_vec3 *a, const carom_vec3 *b) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, cm_norm(cm_sub(a[i], b[i])));
  return most;
}

TEST(both_methods_are_of_second_order_and_agree) {
  enum { NODES = 36 };
  const double dampings[2] = {0, 5e-4};
  for (int d = 0; d < 2; d++) {
    carom_vec3 *reference[2];
    for (int k = 0; k < 2; k++)
      reference[k] = path_end(k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK, dampings[d], 2400);
    CHECK_AT_MOST(distance(NODES, reference[0], reference[1]), 2e-6);
    for (int k = 0; k < 2; k++) {
      carom_elastic_method which = k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK;
      carom_vec3 *coarse = path_end(which, dampings[d], 150), *fine = path_end(which, dampings[d], 300);
      double order = log2(distance(NODES, coarse, reference[k]) / distance(NODES, fine, reference[k]));
      CHECK_NEAR(order, 2, 0.12);
      free(coarse), free(fine);
    }
    free(reference[0]), free(reference[1]);
  }
}

// ---- conservation ---------------------------------------------------------------------------------------------------

static void check_momenta(carom_elastic_method which, carom_elastic_law law, double damping, double h, int steps) {
  carom_elastic_material m = RUBBER;
  m.damping = damping;
  solid_sample s = solid_sample_make(&BOX, law, &m);
  carom_elastic_options o = method(which);
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
  carom_elastic_state *state = solid_state(s.elastic);
  throw_it(state, 0.5);
  carom_vec3 p = carom_elastic_linear_momentum(s.elastic, state->v);
  carom_vec3 l = carom_elastic_angular_momentum(s.elastic, state->x, state->v);
  run(stepper, NULL, h, steps, state);
  CHECK_AT_MOST(cm_norm(cm_sub(carom_elastic_linear_momentum(s.elastic, state->v), p)), 1e-12 * cm_norm(p));
  CHECK_AT_MOST(cm_norm(cm_sub(carom_elastic_angular_momentum(s.elastic, state->x, state->v), l)), 1e-12 * cm_norm(l));
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
}

TEST(momenta_are_kept_to_round_off) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++)
    for (int damped = 0; damped < 2; damped++) {
      check_momenta(CAROM_ELASTIC_NEWMARK, law, damped * 1e-3, 5e-4, 2000);
      check_momenta(CAROM_ELASTIC_MIDPOINT, law, damped * 1e-3, 4e-3, 100);
    }
}

TEST(explicit_energy_is_bounded_and_the_shadow_energy_better_kept_for_1e5_steps) {
  solid_sample s = solid_sample_make(&BOX, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, NULL);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_elastic_report report;
  carom_elastic_limit limit;
  carom_error error = {0};
  throw_it(state, 0.1);
  carom_elastic_critical_step(stepper, state->x, &limit);
  double h = limit.sharp / 4, energy = 0, off = 0, shadow = 0, shadow_off = 0, first_off = 0, ringing = 0;
  REQUIRE(carom_elastic_step(stepper, NULL, h, state, NULL, &error) == CAROM_OK);
  energy = energy_of(s.elastic, state), shadow = carom_elastic_shadow_energy(stepper, NULL, h, state);
  for (int i = 1; i < 100000; i++) {
    REQUIRE(carom_elastic_step(stepper, NULL, h, state, i % 50 ? NULL : &report, &error) == CAROM_OK);
    if (i % 50) continue;
    CHECK(report.parts == 1);
    off = fmax(off, fabs(energy_of(s.elastic, state) - energy));
    ringing = fmax(ringing, energy_of(s.elastic, state) - carom_elastic_kinetic_energy(s.elastic, state->v));
    shadow_off = fmax(shadow_off, fabs(carom_elastic_shadow_energy(stepper, NULL, h, state) - shadow));
    if (i == 10000) first_off = off;
  }
  printf("energy off by %.2g, shadow energy by %.2g of the largest elastic energy\n", off / ringing,
         shadow_off / ringing);
  CHECK_AT_MOST(off, 0.02 * ringing);
  CHECK_AT_MOST(off, 1.6 * first_off);
  CHECK_AT_MOST(shadow_off, 0.1 * off);
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
}

// What loads, pins and damping did accounts for the energy: exactly as h goes to zero, with an error of h^2.
static double imbalance(carom_elastic_method which, double h) {
  thrown t = thrown_make(which, CAROM_ELASTIC_CIARLET, 1e-3);
  double before = energy_of(t.sample.elastic, t.state), dissipated = 0, done = 0;
  while (t.state->t < 0.0499999) {
    carom_elastic_report r;
    carom_error error = {0};
    if (carom_elastic_step(t.stepper, &t.loads, h, t.state, &r, &error))
      test_fail(__FILE__, __LINE__, "%s", error.message);
    done += r.gravity_work + r.pressure_work + r.force_work + r.pin_work - r.dissipated;
    dissipated += r.dissipated;
  }
  CHECK(dissipated > 0.01 * before);
  double off = energy_of(t.sample.elastic, t.state) - before - done;
  thrown_free(&t);
  return fabs(off / before);
}

// A uniform pressure all over has a potential, p times the volume, and neither force nor torque.
TEST(pressure_all_over_keeps_momenta_and_has_a_potential) {
  for (int k = 0; k < 2; k++) {
    thrown t = thrown_make(k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK, CAROM_ELASTIC_NEO_HOOKE, 0);
    carom_elastic *e = t.sample.elastic;
    carom_elastic_loads loads = t.loads;
    double p = 2000, work = 0, h = k ? 1e-3 : 2e-4;
    loads.pin_count = 0, loads.force = NULL, loads.gravity = cm_zero3();
    for (int i = 0; i < loads.triangle_count; i++) t.pressure[i] = p;
    double volume = carom_elastic_enclosed_volume(&loads, t.state->x), before = energy_of(e, t.state);
    carom_vec3 m = carom_elastic_linear_momentum(e, t.state->v);
    carom_vec3 l = carom_elastic_angular_momentum(e, t.state->x, t.state->v);
    for (int i = 0; i < 200; i++) {
      carom_elastic_report r;
      REQUIRE(carom_elastic_step(t.stepper, &loads, h, t.state, &r, NULL) == CAROM_OK);
      work += r.pressure_work;
    }
    double stored = p * (carom_elastic_enclosed_volume(&loads, t.state->x) - volume);
    CHECK(fabs(stored) > 0.01 * before);
    CHECK_NEAR(energy_of(e, t.state) + stored, before, 2e-3 * before);
    CHECK_NEAR(work, -stored, 2e-3 * fabs(stored));
    CHECK_AT_MOST(cm_norm(cm_sub(carom_elastic_linear_momentum(e, t.state->v), m)), 1e-12 * cm_norm(m));
    CHECK_AT_MOST(cm_norm(cm_sub(carom_elastic_angular_momentum(e, t.state->x, t.state->v), l)), 1e-12 * cm_norm(l));
    thrown_free(&t);
  }
}

// Momentum changes by what loads and pins gave: over one step of free fall with pins, to round-off.
TEST(impulses_of_pins_balance_the_momentum) {
  for (int k = 0; k < 2; k++) {
    thrown t = thrown_make(k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK, CAROM_ELASTIC_NEO_HOOKE, 0);
    double mass = 1000 * 0.2 * 0.2 * 0.3, h = 5e-4;
    carom_elastic_report r;
    t.loads.triangle_count = 0;
    for (int i = 0; i < 20; i++) {
      carom_vec3 before = carom_elastic_linear_momentum(t.sample.elastic, t.state->v);
      REQUIRE(carom_elastic_step(t.stepper, &t.loads, h, t.state, &r, NULL) == CAROM_OK);
      carom_vec3 given = cm_add(r.pin_impulse, cm_scale(h, cm_add(t.force[20], cm_vec3(0, 0, -9.81 * mass))));
      carom_vec3 change = cm_sub(carom_elastic_linear_momentum(t.sample.elastic, t.state->v), before);
      CHECK_AT_MOST(cm_norm(cm_sub(change, given)), 1e-13 * mass);
    }
    thrown_free(&t);
  }
}

TEST(books_of_work_balance_the_energy) {
  for (int k = 0; k < 2; k++) {
    carom_elastic_method which = k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK;
    double coarse = imbalance(which, 5e-4), fine = imbalance(which, 1.25e-4);
    CHECK_AT_MOST(coarse, 2e-3);
    CHECK_AT_MOST(fine, coarse / 10);
  }
}

static carom_status spring(void *context, double t, const carom_vec3 *x, const carom_vec3 *v, carom_vec3 *f,
                           carom_mat3 *K) {
  (void)t, (void)v;
  double k = *(const double *)context;
  f[3] = cm_axpy(f[3], -k, x[3]);
  if (K) K[3] = cm_madd(K[3], cm_diag3(k, k, k));
  return k < 0 ? CAROM_INTERRUPTED : CAROM_OK;
}

TEST(forces_that_the_caller_adds_act_and_can_stop_a_step) {
  for (int m = 0; m < 2; m++) {
    solid_sample s = solid_sample_make(&BOX, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
    carom_elastic_options o = method(m ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK);
    carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
    carom_elastic_state *state = solid_state(s.elastic);
    double k = 50, work = 0;
    carom_elastic_loads loads = {.extra = spring, .context = &k};
    throw_it(state, 0.1);
    double before = energy_of(s.elastic, state) + 0.5 * k * cm_norm2(state->x[3]),
           stored = 0.5 * k * cm_norm2(state->x[3]);
    for (int i = 0; i < 200; i++) {
      carom_elastic_report r;
      REQUIRE(carom_elastic_step(stepper, &loads, 2e-4, state, &r, NULL) == CAROM_OK);
      work += r.extra_work;
    }
    double now = 0.5 * k * cm_norm2(state->x[3]);
    CHECK_NEAR(energy_of(s.elastic, state) + now, before, 1e-3 * before);
    CHECK_NEAR(work, stored - now, 1e-4 * before);
    carom_error error = {0};
    carom_vec3 kept = state->x[7];
    k = -1;
    CHECK(carom_elastic_step(stepper, &loads, 2e-4, state, NULL, &error) == CAROM_INTERRUPTED);
    CHECK_CONTAINS(error.message, "what adds forces stopped the step at t = 0.04 s");
    CHECK(memcmp(&kept, &state->x[7], sizeof kept) == 0);
    carom_elastic_state_destroy(state);
    carom_elastic_stepper_destroy(stepper);
    solid_sample_free(&s);
  }
}

// ---- stability ------------------------------------------------------------------------------------------------------

static double growth(double share, double damping, const solid_box *box) {
  carom_elastic_material m = RUBBER;
  m.damping = damping;
  solid_sample s = solid_sample_make(box, CAROM_ELASTIC_NEO_HOOKE, &m);
  carom_elastic_options o = carom_elastic_default_options();
  o.max_halvings = -1;
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_elastic_limit limit;
  carom_random r = carom_random_make(2, 0);
  carom_elastic_critical_step(stepper, s.mesh.nodes, &limit);
  CHECK(limit.bound <= limit.sharp && (damping > 0 || limit.bound > 0.35 * limit.sharp));
  CHECK(limit.tet >= 0 && limit.tet < s.mesh.tet_count);
  for (int i = 0; i < state->node_count; i++) state->v[i] = cm_scale(1e-7, solid_noise3(&r));
  double before = carom_elastic_kinetic_energy(s.elastic, state->v), most = 0;
  for (int i = 0; i < 1500 && most < 1e6 * before; i++) {
    if (carom_elastic_step(stepper, NULL, share * limit.sharp, state, NULL, NULL)) most = INFINITY;
    most = fmax(most, carom_elastic_kinetic_energy(s.elastic, state->v));
  }
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
  return most / before;
}

TEST(steps_are_stable_just_below_the_critical_one_and_not_above) {
  const solid_box boxes[2] = {BOX, {.cells = {3, 3, 3}, .size = {1, 2, 1}, .six = true, .disorder = 0.25, .seed = 9}};
  const double dampings[3] = {0, 1e-4, 1e-2};
  for (int b = 0; b < 2; b++)
    for (int d = 0; d < 3; d++) {
      CHECK_AT_MOST(growth(0.95, dampings[d], &boxes[b]), 30);
      CHECK(growth(1.05, dampings[d], &boxes[b]) > 1e5);
    }
}

TEST(steps_that_are_too_long_are_parted_or_refused_with_the_limit) {
  solid_sample s = solid_sample_make(&BOX, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
  carom_elastic_options o = carom_elastic_default_options();
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_elastic_limit limit;
  carom_elastic_report report;
  carom_error error = {0};
  carom_elastic_critical_step(stepper, s.mesh.nodes, &limit);
  throw_it(state, 0.01);
  REQUIRE(carom_elastic_step(stepper, NULL, 7 * limit.sharp, state, &report, &error) == CAROM_OK);
  CHECK(report.parts == 8);
  CHECK_NEAR(report.critical, limit.sharp, 0.05 * limit.sharp);
  carom_elastic_stepper_destroy(stepper);
  o.max_halvings = 1;
  stepper = solid_stepper(s.elastic, &o);
  CHECK(carom_elastic_step(stepper, NULL, 7 * limit.sharp, state, &report, &error) == CAROM_NOT_CONVERGED);
  char expected[80];
  snprintf(expected, sizeof expected, "steps of %.3g s are too long at t = %g s: about ", 3.5 * limit.sharp, state->t);
  CHECK_CONTAINS(error.message, expected);
  CHECK_CONTAINS(error.message, "take shorter steps or the method midpoint");
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
}

// ---- waves ----------------------------------------------------------------------------------------------------------

// Between frictionless walls only motion along a bar is left: by forces that take the rest away for implicit steps, and
// by taking it out of the state after each explicit one.
enum { SLICES = 101, IN_A_SLICE = 4 };

static carom_status keep_straight(void *context, double t, const carom_vec3 *x, const carom_vec3 *v, carom_vec3 *f,
                                  carom_mat3 *K) {
  const carom_vec3 *rest = context;
  const double k = 1e5;  // N/m
  (void)t, (void)v;
  for (int i = 0; i < SLICES * IN_A_SLICE; i++) {
    f[i].y -= k * (x[i].y - rest[i].y), f[i].z -= k * (x[i].z - rest[i].z);
    if (K) K[i] = cm_madd(K[i], cm_diag3(0, k, k));
  }
  return CAROM_OK;
}

static void straighten(const carom_vec3 *rest, carom_elastic_state *s) {
  for (int i = 0; i < s->node_count; i++) {
    s->x[i].y = rest[i].y, s->x[i].z = rest[i].z;
    s->v[i].y = s->v[i].z = s->a[i].y = s->a[i].z = 0;
  }
}

// The lowest mode of a free bar of length L has the angular frequency pi c / L: its ends are where they rest after L /
// (2 c), and again after each L / c.
static double wave_speed(carom_elastic_method which, carom_elastic_law law, double h) {
  const solid_box box = {.cells = {SLICES - 1, 1, 1}, .size = {1, 0.01, 0.01}};
  solid_sample s = solid_sample_make(&box, law, &RUBBER);
  carom_elastic_options o = method(which);
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_elastic_loads loads = {.context = s.mesh.nodes};
  if (which == CAROM_ELASTIC_MIDPOINT) loads.extra = keep_straight;
  double last = 0, end = 0;
  for (int i = 0; i < state->node_count; i++) state->x[i].x += 1e-5 * cos(3.141592653589793 * state->x[i].x);
  for (int crossings = 0; crossings < 3 && state->t < 2;) {
    run(stepper, &loads, h, 1, state);
    if (which == CAROM_ELASTIC_NEWMARK) straighten(s.mesh.nodes, state);
    double now = state->x[0].x;
    if (last != 0 && now * last < 0) end = state->t - h * now / (now - last), crossings++;
    last = now;
  }
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
  return 2.5 / end;
}

TEST(waves_travel_at_the_speed_of_sound) {
  double c = sqrt((RUBBER.lambda + 2 * RUBBER.mu) / RUBBER.density);
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    double ours[2] = {wave_speed(CAROM_ELASTIC_NEWMARK, law, 4e-4), wave_speed(CAROM_ELASTIC_MIDPOINT, law, 1e-3)};
    printf("%s: %.4f, %.4f of sqrt((lambda + 2 mu)/rho)\n", carom_elastic_law_name(law), ours[0] / c, ours[1] / c);
    for (int k = 0; k < 2; k++) CHECK_NEAR(ours[k], c, 0.002 * c);
  }
}

// ---- anything at all ------------------------------------------------------------------------------------------------

// Whatever it is thrown with: either a step ends well, without inversions where the law has a pole, or it fails with a
// message and leaves the state alone.
static void hurl(uint64_t seed, int *failed, int *parted, double *most) {
  carom_random r = carom_random_make(seed, 1);
  solid_box box = {.cells = {1, 1, 2}, .size = {0.1, 0.1, 0.2}, .disorder = 0, .seed = seed};
  carom_elastic_material m = RUBBER;
  m.damping = seed % 3 ? 0 : 1e-3;
  solid_sample s = solid_sample_make(&box, (carom_elastic_law)(seed % 3), &m);
  carom_elastic_options o = method(seed % 2 ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK);
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
  carom_elastic_state *state = solid_state(s.elastic);
  double size = exp(carom_random_between(&r, log(0.1), log(100))),
         h = exp(carom_random_between(&r, log(1e-4), log(1e-2)));
  for (int i = 0; i < state->node_count; i++) state->v[i] = cm_scale(size, solid_noise3(&r));
  carom_vec3 p = carom_elastic_linear_momentum(s.elastic, state->v), kept[12];
  double scale = 0, energy = carom_elastic_kinetic_energy(s.elastic, state->v);
  for (int i = 0; i < state->node_count; i++) scale += carom_elastic_masses(s.elastic)[i] * cm_norm(state->v[i]);
  for (int i = 0; i < 20; i++) {
    carom_elastic_report report = {0};
    carom_elastic_sample sample;
    carom_error error = {0};
    memcpy(kept, state->x, sizeof kept);
    double t = state->t;
    carom_status status = carom_elastic_step(stepper, NULL, h, state, &report, &error);
    carom_elastic_measure(s.elastic, state->x, NULL, &sample);
    CHECK(sample.least_J > 0 || seed % 3 == CAROM_ELASTIC_STABLE);
    CHECK(isfinite(sample.energy));
    if (status) {
      CHECK(status == CAROM_NOT_CONVERGED);
      CHECK_CONTAINS(error.message, "tetrahedron");
      CHECK_CONTAINS(error.message, "take shorter steps");
      CHECK(state->t == t && memcmp(kept, state->x, sizeof kept) == 0);
      ++*failed;
      break;
    }
    CHECK(report.least_J <= sample.least_J + 1e-12);
    *parted += report.parts > 1;
    *most = fmax(*most, energy_of(s.elastic, state) / energy);
  }
  CHECK_AT_MOST(cm_norm(cm_sub(carom_elastic_linear_momentum(s.elastic, state->v), p)), 1e-12 * scale);
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
}

TEST(a_thousand_random_throws_invert_nothing_without_a_word) {
  int failed = 0, parted = 0;
  double most = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) hurl(seed, &failed, &parted, &most);
  printf("of 1000, %d ended with a message; %d steps were taken in parts; energy at most %.3g times the first\n",
         failed, parted, most);
  CHECK_AT_MOST(most, 3);
  CHECK(failed < 300 && parted > 50);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

// Four steps on a cube of so many cells a side; `handed_over`: another stepper goes on after two, as after a kill.
static carom_elastic_state *four_steps(carom_elastic_method which, const solid_mesh *mesh, int threads,
                                       bool handed_over) {
  carom_elastic_material m = RUBBER;
  carom_elastic_options o = method(which);
  m.damping = 1e-3;
  carom_elastic_def def = solid_def(mesh, &m);
  def.threads = threads;
  carom_elastic *e = solid_of(&def);
  carom_elastic_stepper *stepper = solid_stepper(e, &o);
  carom_elastic_state *state = solid_state(e);
  throw_it(state, 0.1);
  for (int i = 0; i < 2; i++) {
    run(stepper, NULL, which == CAROM_ELASTIC_MIDPOINT ? 4e-3 : 8e-4, 2, state);
    if (!handed_over) continue;
    carom_elastic_stepper_destroy(stepper);
    stepper = solid_stepper(e, &o);
  }
  carom_elastic_stepper_destroy(stepper);
  carom_elastic_destroy(e);
  return state;
}

static void check_threads(carom_elastic_method which, int cells) {
  solid_box box = {.cells = {cells, cells, cells}, .size = {1, 1, 1}, .disorder = 0.2, .seed = 6};
  solid_mesh mesh = solid_box_make(&box);
  carom_elastic_state *one = four_steps(which, &mesh, 1, false);
  for (int threads = 2; threads <= 3; threads++) {
    carom_elastic_state *more = four_steps(which, &mesh, threads, threads == 3);
    size_t bytes = (size_t)one->node_count * sizeof *one->x;
    CHECK(memcmp(one->x, more->x, bytes) == 0 && memcmp(one->v, more->v, bytes) == 0);
    carom_elastic_state_destroy(more);
  }
  carom_elastic_state_destroy(one);
  solid_mesh_free(&mesh);
}

TEST(threads_and_handing_over_change_no_bit_of_explicit_steps) { check_threads(CAROM_ELASTIC_NEWMARK, 13); }
TEST(threads_and_handing_over_change_no_bit_of_implicit_steps) { check_threads(CAROM_ELASTIC_MIDPOINT, 8); }

// ---- other scales ---------------------------------------------------------------------------------------------------

// The end of a throw in units of 2^length m, 2^time s and 2^mass kg, brought back; NULL on failure.
static carom_vec3 *in_units(carom_elastic_method which, int length, int time, int mass) {
  solid_box box = BOX;
  carom_elastic_material m = RUBBER;
  carom_elastic_options o = method(which);
  double pascal = ldexp(1, mass - length - 2 * time);
  box.size = cm_vec3(ldexp(0.2, length), ldexp(0.2, length), ldexp(0.3, length));
  m.lambda *= pascal, m.mu *= pascal, m.damping = ldexp(1e-3, time), m.density = ldexp(1000, mass - 3 * length);
  solid_sample s = solid_sample_make(&box, CAROM_ELASTIC_NEO_HOOKE, &m);
  carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
  carom_elastic_state *state = solid_state(s.elastic);
  carom_elastic_loads loads = {.gravity = {0, 0, ldexp(-9.81, length - 2 * time)}};
  carom_random r = carom_random_make(4, 0);
  for (int i = 0; i < state->node_count; i++) state->v[i] = cm_scale(ldexp(0.5, length - time), solid_noise3(&r));
  run(stepper, &loads, ldexp(which == CAROM_ELASTIC_MIDPOINT ? 2e-3 : 4e-4, time), 20, state);
  carom_vec3 *end = solid_vectors(state->node_count);
  for (int i = 0; i < state->node_count; i++) end[i] = cm_scale(ldexp(1, -length), state->x[i]);
  carom_elastic_state_destroy(state);
  carom_elastic_stepper_destroy(stepper);
  solid_sample_free(&s);
  return end;
}

TEST(units_of_powers_of_two_change_no_bit) {
  const int units[4][3] = {{-20, -10, -40}, {10, 3, 30}, {-30, 0, 0}, {0, -20, 17}};
  for (int k = 0; k < 2; k++) {
    carom_elastic_method which = k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK;
    carom_vec3 *plain = in_units(which, 0, 0, 0);
    for (int i = 0; i < 4; i++) {
      carom_vec3 *other = in_units(which, units[i][0], units[i][1], units[i][2]);
      CHECK(memcmp(plain, other, 36 * sizeof *plain) == 0);
      free(other);
    }
    free(plain);
  }
}

// Far from the origin positions have fewer digits; steps go on, and say what residual that leaves.
TEST(solids_far_from_the_origin_move_as_near_ones) {
  for (int k = 0; k < 2; k++) {
    solid_sample s = solid_sample_make(&BOX, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
    carom_elastic_options o = method(k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK);
    carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
    carom_elastic_state *near = solid_state(s.elastic), *far = solid_state(s.elastic);
    const carom_vec3 away = {3e4, -2e4, 1e5};
    carom_elastic_report report = {0};
    carom_error error = {0};
    throw_it(near, 0.3), throw_it(far, 0.3);
    for (int i = 0; i < far->node_count; i++) far->x[i] = cm_add(far->x[i], away);
    run(stepper, NULL, 5e-4, 40, near);
    for (int i = 0; i < 40; i++) {
      carom_status status = carom_elastic_step(stepper, NULL, 5e-4, far, &report, &error);
      if (status) puts(error.message);
      REQUIRE(status == CAROM_OK);
      CHECK_AT_MOST(report.residual, 1e-6);
    }
    for (int i = 0; i < far->node_count; i++) far->x[i] = cm_sub(far->x[i], away);
    CHECK_AT_MOST(distance(far->node_count, near->x, far->x), 1e-8);
    carom_elastic_state_destroy(near);
    carom_elastic_state_destroy(far);
    carom_elastic_stepper_destroy(stepper);
    solid_sample_free(&s);
  }
}

// ---- memory ---------------------------------------------------------------------------------------------------------

TEST(steps_ask_the_heap_for_nothing) {
  if (!MALLOC_COUNTED) test_skip("requests of the heap cannot be counted here");
  for (int k = 0; k < 2; k++) {
    solid_sample s = solid_sample_make(&BOX, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
    carom_elastic_options o = method(k ? CAROM_ELASTIC_MIDPOINT : CAROM_ELASTIC_NEWMARK);
    carom_elastic_stepper *stepper = solid_stepper(s.elastic, &o);
    carom_elastic_state *state = solid_state(s.elastic);
    carom_elastic_report report;
    throw_it(state, 0.1);
    long before = heap_calls;
    for (int i = 0; i < 5; i++) carom_elastic_step(stepper, NULL, 1e-3, state, &report, NULL);
    CHECK(heap_calls == before);
    carom_elastic_state_destroy(state);
    carom_elastic_stepper_destroy(stepper);
    solid_sample_free(&s);
  }
}

static carom_status make_everything(const solid_mesh *mesh, const carom_allocator *a) {
  carom_elastic_def def = solid_def(mesh, &RUBBER);
  carom_elastic_options o = method(CAROM_ELASTIC_MIDPOINT);
  carom_elastic *e = NULL;
  carom_elastic_stepper *stepper = NULL;
  carom_elastic_state *state = NULL;
  carom_error error = {0};
  carom_status status = carom_elastic_create(&def, a, &e, &error);
  if (!status) status = carom_elastic_state_create(e, a, &state, &error);
  if (!status) status = carom_elastic_stepper_create(e, &o, a, &stepper, &error);
  if (status) CHECK_CONTAINS(error.message, "out of memory");
  carom_elastic_stepper_destroy(stepper);
  carom_elastic_state_destroy(state);
  carom_elastic_destroy(e);
  return status;
}

TEST(refused_memory_is_an_error_and_no_leak) {
  solid_mesh mesh = solid_box_make(&BOX);
  carom_status status = CAROM_ERR_MEMORY;
  int refusals = 0;
  for (int allowed = 0; status != CAROM_OK && allowed < 500; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    status = make_everything(&mesh, &a);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    CHECK(f.live == 0);
    refusals += status != CAROM_OK;
  }
  CHECK(status == CAROM_OK && refusals > 20);
  solid_mesh_free(&mesh);
}
