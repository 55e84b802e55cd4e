#include "carom/push_fit.h"

#include "control/push_fit.h"
#include "failing_allocator.h"
#include "pegs.h"
#include "solve/simplex_search.h"

enum { PUSHES = 20, SAMPLES = 12 };

static void needs_nlopt(void) {
  if (!carom_simplex_available()) test_skip("built without NLopt");
}

// ---- recordings that the pusher itself made ------------------------------------------------------------------------

typedef struct bench {
  peg_scene scene;
  world w;  // what is known: with other friction, and another support, than the recordings were made with
  carom_push_record records[PUSHES];
  carom_push_sample samples[PUSHES][SAMPLES];
  carom_push_surface groups[2];
  carom_vec3 points[3];
  carom_push_fit_def def;
} bench;

static const int probe_bodies[2] = {PEG_PROBES, PEG_PROBES + 1};
static const int wall_bodies[1] = {PEG_WALLS};

// A wall above the part; pushes every other time slide along it.
static world wall_world(const peg_scene *s) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  peg_material(b, "part"), peg_material(b, "tungsten"), peg_material(b, "glass");
  carom_builder_set_surface(b, 0, 1, 0, s->mu_probe);
  carom_builder_set_surface(b, 0, 2, 0, s->mu_wall);
  peg_part(b, s);
  peg_probes(b, s);
  peg_wall(b, s->unit, -4, 0.6, 4, 0.8);
  return finish_world(b);
}

// One probe pushes obliquely at a place of a side, far from the wall; each other push leads the part along the wall, on
// which it rubs.
static carom_push draw_push(const peg_scene *s, carom_random *random, int i) {
  double u = s->unit, r = s->radius + 1e-3, quarter = acos(-1) / 2;
  double place = carom_random_between(random, -1, 1), off = carom_random_between(random, -0.5, 0.5);
  carom_push push = {.duration = 12, .probe_count = 1};
  carom_push_probe *p = &push.probe[0];
  *p = (carom_push_probe){.at = {(-0.8 - r) * u, 0.3 * place * u, 0}, .heading = off, .speed = s->speed * u};
  if (i % 2) p->at.y = 0.1 * place * u, p->heading = 0.2 + 0.3 * off;
  if (i % 4 == 2) p->at = cm_vec3(0.7 * place * u, (-0.4 - r) * u, 0), p->heading = quarter + off;
  return push;
}

static void lay_out(bench *b, carom_random *random) {
  for (int i = 0; i < PUSHES; i++) {
    b->records[i] = (carom_push_record){.push = draw_push(&b->scene, random, i), .samples = b->samples[i]};
    b->records[i].sample_count = SAMPLES;
    b->records[i].start[1] = (i % 2 ? 0.195 : -2) * b->scene.unit;
    b->records[i].push.probe[0].at.y += b->records[i].start[1];
    for (int k = 0; k < SAMPLES; k++) {
      b->samples[i][k] = (carom_push_sample){.time = 12.0 * (k + 1) / SAMPLES, .force = NAN};
    }
  }
}

// With what is to be found.
typedef struct truth {
  double E[3][3], mu[2];
  double noise;  // m, and rad of half the part
} truth;

static void record(bench *b, const truth *t, carom_random *random) {
  carom_push_fit fit = {0};
  static carom_push_sample seen[PUSHES * SAMPLES];
  memcpy(fit.damping, t->E, sizeof t->E);
  memcpy(fit.mu, t->mu, sizeof t->mu);
  carom_error error;
  if (carom_push_fit_simulate(&b->def, &fit, NULL, seen, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  for (int i = 0; i < b->def.record_count * SAMPLES; i++) {
    carom_push_sample *s = &b->samples[i / SAMPLES][i % SAMPLES];
    memcpy(s->pose, seen[i].pose, sizeof s->pose);
    for (int k = 0; k < 3; k++)
      s->pose[k] += t->noise * carom_random_between(random, -1, 1) / (k == 2 ? 0.9 * b->scene.unit : 1);
  }
}

static void make_bench(bench *b, double unit) {
  b->scene = peg_default();
  b->scene.unit = unit, b->scene.mu_probe = 0.5, b->scene.mu_wall = 0.5, b->scene.step = 0.1;
  b->w = wall_world(&b->scene);
  carom_random random = carom_random_make(5, 0);
  lay_out(b, &random);
  b->groups[0] = (carom_push_surface){"probes", probe_bodies, 2};
  b->groups[1] = (carom_push_surface){"walls", wall_bodies, 1};
  carom_push_plan_def plan = peg_plan(&b->scene, &b->w);
  b->def = carom_push_fit_default();
  b->def.pusher = plan.pusher, b->def.start = b->w.state, b->def.body = PEG_BODY;
  b->def.records = b->records, b->def.record_count = PUSHES;
  b->def.groups = b->groups, b->def.group_count = 2;
  b->def.replicates = 0, b->def.threads = 1;
}

static void end_bench(bench *b) { free_world(&b->w); }

// c at the spots, and the E that comes of them about the centre of mass.
static truth three_points(bench *b, const double c[3], double mu_probe, double mu_wall) {
  const double at[3][2] = {{-0.5, -0.3}, {0.6, -0.2}, {0.1, 0.3}};
  truth t = {.mu = {mu_probe, mu_wall}};
  for (int i = 0; i < 3; i++) {
    b->points[i] = cm_vec3(at[i][0] * b->scene.unit, at[i][1] * b->scene.unit, 0);
    double x = b->points[i].x, y = b->points[i].y;
    t.E[0][0] += c[i], t.E[1][1] += c[i], t.E[2][2] += c[i] * (x * x + y * y);
    t.E[0][2] -= c[i] * y, t.E[1][2] += c[i] * x;
  }
  t.E[2][0] = t.E[0][2], t.E[2][1] = t.E[1][2];
  b->def.support = CAROM_PUSH_SUPPORT_POINTS, b->def.points = b->points, b->def.point_count = 3;
  return t;
}

// Largest difference of E's shapes (the trace of the upper block taken out), lengths over the unit.
static double shape_error(const double E[3][3], const double F[3][3], double unit) {
  double most = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      double length = (i == 2 ? unit : 1) * (k == 2 ? unit : 1);
      most = fmax(most, fabs(E[i][k] / (E[0][0] + E[1][1]) - F[i][k] / (F[0][0] + F[1][1])) / length);
    }
  return most;
}

static carom_push_fit fit_of(const bench *b) {
  carom_push_fit fit = {0};
  carom_error error;
  if (carom_push_fit_run(&b->def, NULL, &fit, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return fit;
}

static void check_exact(double unit) {
  needs_nlopt();
  static bench b;
  make_bench(&b, unit);
  truth t = three_points(&b, (const double[3]){2e-4, 5e-4, 3e-4}, 0.3, 0.2);
  carom_random random = carom_random_make(6, 0);
  b.def.record_count = 6, b.def.pusher.step = 0.6;
  record(&b, &t, &random);
  b.def.starts = 0, b.def.budget = 3000;
  carom_push_fit fit = fit_of(&b);
  CHECK_AT_MOST(shape_error((const double(*)[3])fit.damping, (const double(*)[3])t.E, b.scene.unit), 1e-6);
  CHECK_NEAR(fit.mu[0], 0.3, 1e-6);
  CHECK_NEAR(fit.mu[1], 0.2, 1e-6);
  CHECK_AT_MOST(fit.residual, 1e-6);
  CHECK(!fit.scale_known && fit.parameter_count == 5);
  CHECK_TEXT(fit.parameters[1].name, "share 1");
  CHECK_NEAR(fit.parameters[1].value, 0.5, 1e-6);
  CHECK_TEXT(fit.parameters[3].name, "mu of probes");
  end_bench(&b);
}

TEST(three_points_without_noise) { check_exact(1e-3); }
TEST(three_points_without_noise_in_metres) { check_exact(1); }

// 20 pushes seen by a camera that is off by up to 1 um: E and mu within 2 percent.
TEST(three_points_with_noise_long) {
  needs_nlopt();
  static bench b;
  make_bench(&b, 1e-3);
  truth t = three_points(&b, (const double[3]){2e-4, 5e-4, 3e-4}, 0.3, 0.2);
  t.noise = 1e-6;
  carom_random random = carom_random_make(7, 0);
  b.def.pusher.step = 0.3;
  record(&b, &t, &random);
  b.def.starts = 1, b.def.budget = 1500;
  carom_push_fit fit = fit_of(&b);
  double error = shape_error((const double(*)[3])fit.damping, (const double(*)[3])t.E, b.scene.unit);
  printf("shape %g mu %g %g residual %g um, rms %g, %d evaluations\n", error, fit.mu[0], fit.mu[1],
         fit.residual * fit.length * 1e6, fit.rms, fit.evaluations);
  CHECK_AT_MOST(error, 0.01);
  CHECK_NEAR(fit.mu[0], 0.3, 0.006);
  CHECK_NEAR(fit.mu[1], 0.2, 0.004);
  CHECK_AT_MOST(fit.residual * fit.length, 1.3e-6);
  end_bench(&b);
}

// Forces, where they were measured, tell the scale of E: here it is three times the model's.
TEST(forces_set_the_scale) {
  needs_nlopt();
  static bench b;
  make_bench(&b, 1e-3);
  truth t = three_points(&b, (const double[3]){2e-4, 5e-4, 3e-4}, 0.3, 0.2);
  carom_random random = carom_random_make(6, 0);
  b.def.record_count = 6, b.def.pusher.step = 0.6;
  for (int i = 0; i < 9; i++) t.E[i / 3][i % 3] *= 3;
  record(&b, &t, &random);
  carom_push_fit seen = {0};
  static carom_push_sample samples[PUSHES * SAMPLES];
  memcpy(seen.damping, t.E, sizeof t.E);
  memcpy(seen.mu, t.mu, sizeof t.mu);
  REQUIRE(carom_push_fit_simulate(&b.def, &seen, NULL, samples, NULL) == CAROM_OK);
  for (int i = 0; i < SAMPLES; i++) b.samples[2][i].force = samples[2 * SAMPLES + i].force;
  CHECK(samples[2 * SAMPLES + 5].force > 0);
  b.def.support = CAROM_PUSH_SUPPORT_POINTS, b.def.starts = 0, b.def.budget = 1200;
  carom_push_fit fit = fit_of(&b);
  CHECK(fit.scale_known);
  CHECK_AT_MOST(fit.force_residual, 1e-3);
  for (int i = 0; i < 3; i++) CHECK_NEAR(fit.damping[i][i] / t.E[i][i], 1, 1e-3);
  end_bench(&b);
}

TEST(the_same_for_any_number_of_threads) {
  needs_nlopt();
  static bench b;
  make_bench(&b, 1e-3);
  truth t = three_points(&b, (const double[3]){2e-4, 5e-4, 3e-4}, 0.3, 0.2);
  t.noise = 2e-6;
  carom_random random = carom_random_make(8, 0);
  b.def.record_count = 4, b.def.pusher.step = 1;
  record(&b, &t, &random);
  b.def.starts = 0, b.def.budget = 150, b.def.replicates = 6, b.def.replicate_budget = 40;
  carom_push_fit one = fit_of(&b);
  b.def.threads = 3;
  carom_push_fit three = fit_of(&b);
  CHECK(one.residual == three.residual && one.replicates == 6 && three.replicates == 6);
  for (int i = 0; i < one.parameter_count; i++) {
    const carom_push_parameter *p = &one.parameters[i], *q = &three.parameters[i];
    CHECK(p->value == q->value && p->low == q->low && p->high == q->high);
    CHECK(p->low <= p->value && p->value <= p->high);
  }
  end_bench(&b);
}

// ---- pushes in closed form -----------------------------------------------------------------------------------------

// A frictionless probe at r_p beside the centre of a part with E = c diag(1, 1, l^2), at first: it turns by
// omega = v r_p / (l^2 + r_p^2) and its centre moves at v - omega r_p. Friction plays no part.
typedef struct closed_form {
  carom_push_guess guess;
} closed_form;

static carom_status take_closed(void *context, const carom_push_guess *guess, carom_error *error) {
  (void)error;
  ((closed_form *)context)->guess = *guess;
  return CAROM_OK;
}

static carom_status run_closed(void *context, const carom_push_record *record, carom_push_sample *samples) {
  const closed_form *c = context;
  double l2 = c->guess.E[2][2] / c->guess.E[0][0], r = record->push.probe[0].at.x, v = record->push.probe[0].speed;
  for (int i = 0; i < record->sample_count; i++) {
    double turn = v * r / (l2 + r * r), t = samples[i].time = record->samples[i].time;
    samples[i].pose[0] = 0, samples[i].pose[1] = t * (v - turn * r), samples[i].pose[2] = t * turn;
    samples[i].force = c->guess.E[0][0] * (v - turn * r);
  }
  return CAROM_OK;
}

typedef struct closed_bench {
  world w;
  carom_push_record records[PUSHES];
  carom_push_sample samples[PUSHES][SAMPLES];
  carom_push_surface group;
  carom_push_fit_def def;
} closed_bench;

enum { CLOSED_GROUP = PEG_PROBES };
static const double closed_radius = 0.45;

static void make_closed(closed_bench *b, double noise) {
  static const int bodies[1] = {CLOSED_GROUP};
  peg_scene s = peg_default();
  s.unit = 1;
  b->w = peg_world(&s);
  b->group = (carom_push_surface){"probe", bodies, 1};
  b->def = carom_push_fit_default();
  b->def.pusher.model = b->w.model, b->def.start = b->w.state, b->def.body = PEG_BODY;
  b->def.records = b->records, b->def.record_count = PUSHES;
  b->def.groups = &b->group, b->def.group_count = 1;
  closed_form known = {.guess.E = {{1, 0, 0}, {0, 1, 0}, {0, 0, closed_radius * closed_radius}}};
  carom_random random = carom_random_make(21, 0);
  for (int i = 0; i < PUSHES; i++) {
    carom_push_record *r = &b->records[i];
    *r = (carom_push_record){.samples = b->samples[i], .sample_count = SAMPLES};
    r->push.probe[0].at.x = carom_random_between(&random, -0.8, 0.8), r->push.probe[0].speed = 0.1;
    for (int k = 0; k < SAMPLES; k++) b->samples[i][k].time = 0.2 * (k + 1);
    run_closed(&known, r, b->samples[i]);
    for (int k = 0; k < SAMPLES; k++)
      for (int j = 0; j < 3; j++) b->samples[i][k].pose[j] += noise * carom_random_between(&random, -1, 1);
  }
}

static carom_status fit_closed(closed_bench *b, int threads, carom_push_fit *fit, carom_error *error) {
  static const double E[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 0.09}};
  closed_form forms[4];
  carom_push_simulator simulators[4];
  for (int i = 0; i < 4; i++) simulators[i] = (carom_push_simulator){&forms[i], take_closed, run_closed};
  carom_allocator a = carom_allocator_default();
  carom_push_fit_job job = {.def = &b->def, .length = 1, .simulators = simulators, .threads = threads, .allocator = &a};
  job.numbers = carom_push_numbers_make(&b->def, E, cm_zero3(), 1);
  return carom_push_fit_search(&job, fit, error);
}

TEST(closed_form_with_intervals) {
  needs_nlopt();
  static closed_bench b;
  double width[2];
  for (int k = 0; k < 2; k++) {
    make_closed(&b, k ? 1e-3 : 1e-5);
    carom_push_fit fit;
    REQUIRE(fit_closed(&b, 2, &fit, NULL) == CAROM_OK);
    const carom_push_parameter *radius = &fit.parameters[0], *mu = &fit.parameters[1];
    CHECK_TEXT(radius->name, "radius");
    CHECK_NEAR(radius->value, closed_radius, k ? 0.01 : 1e-4);
    CHECK(radius->identified && radius->low <= radius->value && radius->value <= radius->high);
    CHECK(fit.replicates == b.def.replicates);
    width[k] = radius->high - radius->low;
    // What plays no part may be anything, and that is said.
    CHECK(!mu->identified && mu->low == mu->least && mu->high == mu->most);
    free_world(&b.w);
  }
  CHECK(width[0] > 0 && width[1] > 10 * width[0]);
}

TEST(closed_form_exactly) {
  needs_nlopt();
  static closed_bench b;
  make_closed(&b, 0);
  b.def.replicates = 0;
  carom_push_fit fit;
  REQUIRE(fit_closed(&b, 1, &fit, NULL) == CAROM_OK);
  CHECK_NEAR(fit.parameters[0].value, closed_radius, 1e-6);
  CHECK_AT_MOST(fit.residual, 1e-7);
  CHECK(fit.within_budget && fit.failures == 0);
  free_world(&b.w);
}

static bool stop_soon(void *context, double done, double total) {
  CHECK(done <= total);
  return ++*(int *)context < 3;
}

TEST(interruption) {
  needs_nlopt();
  static closed_bench b;
  make_closed(&b, 1e-4);
  int calls = 0;
  b.def.progress = (carom_progress){&calls, stop_soon};
  carom_push_fit fit;
  carom_error error;
  CHECK(fit_closed(&b, 1, &fit, &error) == CAROM_INTERRUPTED);
  CHECK(fit.replicates == 2);
  CHECK_NEAR(fit.parameters[0].value, closed_radius, 1e-3);  // what was found stays
  free_world(&b.w);
}

// ---- what is refused -----------------------------------------------------------------------------------------------

static void refuse(const carom_push_fit_def *def, const char *says) {
  carom_push_fit fit;
  carom_error error = {0};
  CHECK(carom_push_fit_run(def, NULL, &fit, &error) < 0);
  CHECK_CONTAINS(error.message, says);
}

TEST(what_is_refused) {
  needs_nlopt();
  static bench b;
  make_bench(&b, 1e-3);
  truth t = three_points(&b, (const double[3]){2e-4, 5e-4, 3e-4}, 0.3, 0.2);
  carom_random random = carom_random_make(6, 0);
  record(&b, &t, &random);
  const carom_push_fit_def sound = b.def;
  b.def.record_count = 0, refuse(&b.def, "at least one recorded push"), b.def = sound;
  b.def.point_count = 1, refuse(&b.def, "2 to 8"), b.def = sound;
  b.def.body = PEG_PROBES, refuse(&b.def, "moves on a support"), b.def = sound;
  b.def.confidence = 1, refuse(&b.def, "confidence"), b.def = sound;
  b.def.budget = 0, refuse(&b.def, "budget"), b.def = sound;
  b.def.support = CAROM_PUSH_SUPPORT_GIVEN, b.def.group_count = 0, refuse(&b.def, "nothing is to be fitted"),
  b.def = sound;
  b.groups[1].bodies = probe_bodies, refuse(&b.def, "already"), b.groups[1].bodies = wall_bodies;
  b.samples[3][4].time = 100, refuse(&b.def, "recorded push 3"), b.samples[3][4].time = 5;
  b.samples[3][4].pose[1] = (double)NAN, refuse(&b.def, "sample 4"), b.samples[3][4].pose[1] = 0;
  b.records[2].sample_count = 0, refuse(&b.def, "no samples"), b.records[2].sample_count = SAMPLES;
  b.records[0].push.duration = -1, refuse(&b.def, "recorded push 0");
  end_bench(&b);
}

TEST(memory_runs_out) {
  needs_nlopt();
  static bench b;
  make_bench(&b, 1e-3);
  truth t = three_points(&b, (const double[3]){2e-4, 5e-4, 3e-4}, 0.3, 0.2);
  carom_random random = carom_random_make(6, 0);
  b.def.record_count = 1, b.def.pusher.step = 2;
  record(&b, &t, &random);
  b.def.starts = 0, b.def.budget = 4, b.def.replicates = 1, b.def.replicate_budget = 2;
  carom_status status = CAROM_ERR_MEMORY;
  for (int allowed = 0; status != CAROM_OK && allowed < 10000; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_push_fit fit;
    carom_error error = {0};
    status = carom_push_fit_run(&b.def, &a, &fit, &error);
    CHECK(status == CAROM_OK || error.message[0]);
    CHECK(f.live == 0);
  }
  CHECK(status == CAROM_OK);
  end_bench(&b);
}
