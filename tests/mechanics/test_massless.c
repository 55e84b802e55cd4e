// The audit of bodies without inertia: right motions pass, and faults put in between a step and its audit are caught.
#include "carom/carom.h"
#include "fixtures.h"
#include "pushes.h"

enum { MOST_EVENTS = 32, STEPS = 300 };

// A part is pushed along a wall by a probe that slides on it; `other` is what the audit takes for the truth.
static push_world sliding(void) {
  push_world p = push_world_default();
  p.probes = 1;
  p.x[0] = -0.8 - p.radius, p.y[0] = -0.2, p.u[0] = 0.05, p.v[0] = 0.005;
  return p;
}

static world make(const push_world *p, bool dry, double c) {
  carom_builder *b = push_builder(p);
  int part = put_part(b, p, cm_pose_identity());
  carom_support_def support = carom_support_default();
  support.body = part;
  support.damping = dry ? 0 : c;
  support.kind = dry ? CAROM_SUPPORT_DRY : CAROM_SUPPORT_VISCOUS;
  support.force = dry ? c * 1e-2 : 0;
  support.torque = dry ? c * 5e-6 : 0;
  carom_builder_add_support(b, &support);
  put_probes(b, p);
  double u = p->unit;
  put_box(b, cm_vec3(6 * u, 0.5 * u, 0.2 * u), cm_pose(cm_vec3(0, (0.4 + 0.25 + 0.02) * u, 0), cm_qidentity()), true);
  return finish_world(b);
}

typedef struct seen {
  carom_state *before, *state;
  carom_step_report report;
  carom_contact_event events[MOST_EVENTS];
  int step;
} seen;

typedef void mutation(seen *s);

static void take_step(seen *s, carom_stepper *stepper, mutation *mutate) {
  carom_error error = {0};
  carom_state_copy(s->before, s->state);
  if (carom_stepper_step(stepper, s->state, &s->report, &error) != CAROM_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  for (int i = 0; i < s->report.event_count; i++) s->events[i] = s->report.events[i];
  s->report.events = s->events;
  if (mutate) mutate(s);
}

static carom_verdict judge(const world *done, const world *judged, mutation *mutate) {
  carom_error error = {0};
  static seen s;
  carom_step_options o = carom_step_default_options();
  o.step = 0.02;
  carom_stepper *stepper = stepper_by(done, &o);
  carom_audit *audit = NULL;
  s = (seen){0};
  if (carom_state_clone(done->state, NULL, &s.state, &error) != CAROM_OK ||
      carom_state_clone(done->state, NULL, &s.before, &error) != CAROM_OK ||
      carom_audit_create(judged->model, s.state, NULL, &audit, &error) != CAROM_OK)
    exit(1);
  for (; s.step < STEPS; s.step++) {
    take_step(&s, stepper, mutate);
    carom_audit_step(audit, s.state, &s.report);
  }
  carom_verdict verdict = carom_audit_judge(audit, &(carom_audit_bounds){.integrator = "quasistatic"});
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  carom_state_destroy(s.state);
  carom_state_destroy(s.before);
  return verdict;
}

static const carom_verdict_row *row_of(const carom_verdict *v, const char *key) {
  for (int i = 0; i < v->count; i++)
    if (strcmp(v->rows[i].key, key) == 0) return &v->rows[i];
  return NULL;
}

static carom_verdict judge_one(bool dry, mutation *mutate) {
  push_world p = sliding();
  world w = make(&p, dry, 1e-3);
  carom_verdict v = judge(&w, &w, mutate);
  free_world(&w);
  return v;
}

TEST(right_motions_without_inertia_pass) {
  for (int dry = 0; dry < 2; dry++) {
    carom_verdict v = judge_one(dry, NULL);
    CHECK(v.outcome == CAROM_VERDICT_PASS);
    if (!v.pass) fprintf(stderr, "%s\n", v.reason);
    CHECK(row_of(&v, "equilibrium") && row_of(&v, "power") && row_of(&v, "passivity"));
    CHECK(!row_of(&v, "energy") && !row_of(&v, "momentum"));  // they suppose inertia
  }
}

// ---- faults ---------------------------------------------------------------------------------------------------------

static bool late(const seen *s) { return s->step == 200; }

static void dropped_impulse(seen *s) {
  if (late(s)) s->report.event_count--;
}
static void weaker_impulse(seen *s) {
  for (int i = 0; i < s->report.event_count; i++) s->events[i].impulse = cm_scale(0.9999, s->events[i].impulse);
}
static void along_the_slip(seen *s) {
  for (int i = 0; i < s->report.event_count; i++) {
    carom_contact_event *e = &s->events[i];
    carom_vec3 normal = cm_scale(cm_dot(e->impulse, e->normal), e->normal);
    if (e->mode != CAROM_MODE_STICK) e->impulse = cm_sub(cm_scale(2, normal), e->impulse);
  }
}
static void pulling(seen *s) {
  if (late(s)) s->events[0].impulse = cm_neg(s->events[0].impulse);
}
static void outside_the_cone(seen *s) {
  carom_contact_event *e = &s->events[0];
  carom_vec3 normal = cm_scale(cm_dot(e->impulse, e->normal), e->normal);
  if (late(s)) e->impulse = cm_axpy(e->impulse, 2, cm_sub(e->impulse, normal));
}
static void farther_than_pushed(seen *s) {
  if (late(s)) s->state->x[0] = cm_axpy(s->state->x[0], 1e-3, cm_sub(s->state->x[0], s->before->x[0]));
}
static void turned_by_hand(seen *s) {
  if (late(s)) s->state->q[0] = cm_qmul(cm_exp(cm_vec3(0, 0, 1e-5)), s->state->q[0]);
}
static void into_the_wall(seen *s) {
  if (s->step >= 200) s->state->x[0].y += 2e-6;
}
static void into_the_probe(seen *s) {
  if (s->step >= 200) s->state->x[0].x -= 0.5e-6;
}

static const struct {
  const char *name, *row;
  mutation *mutate;
} faults[] = {
    {"a dropped contact impulse", "equilibrium", dropped_impulse},
    {"impulses weaker by 1e-4", "equilibrium", weaker_impulse},
    {"friction along the slip", "friction_law", along_the_slip},
    {"friction that gives energy", "passivity", along_the_slip},
    {"an impulse that pulls", "contact_law", pulling},
    {"friction outside its cone", "contact_law", outside_the_cone},
    {"a step longer by 1e-3 than what pushed", "equilibrium", farther_than_pushed},
    {"a body turned by hand", "equilibrium", turned_by_hand},
    {"steps that penetrate the wall", "penetration", into_the_wall},
    {"steps that penetrate the probe", "penetration", into_the_probe},
};

// A dry support takes the same however fast a body goes.
static bool is_one(bool dry, mutation *mutate) { return !dry || mutate != farther_than_pushed; }

TEST(faults_in_motions_without_inertia_are_caught) {
  for (int dry = 0; dry < 2; dry++)
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
      if (!is_one(dry, faults[i].mutate)) continue;
      carom_verdict v = judge_one(dry, faults[i].mutate);
      const carom_verdict_row *row = row_of(&v, faults[i].row);
      if (!row || row->pass) test_fail(__FILE__, __LINE__, "%s: missed (%g)", faults[i].name, row ? row->value : -1);
    }
}

TEST(a_wrong_support_is_caught) {
  push_world p = sliding(), longer = p;
  longer.a *= 1.001;  // its radius of gyration
  world w = make(&p, false, 1e-3), stronger = make(&p, false, 1.0001e-3), other = make(&longer, false, 1e-3);
  carom_verdict v = judge(&w, &stronger, NULL);
  CHECK(row_of(&v, "equilibrium")->value > 1e-5);
  v = judge(&w, &other, NULL);
  CHECK(row_of(&v, "equilibrium")->value > 1e-5);
  free_world(&w);
  free_world(&stronger);
  free_world(&other);
}

// Frames of unknown origin: overlaps and jumps are still told, momenta are not asked for.
TEST(frames_without_inertia_are_judged_by_what_is_left) {
  push_world p = sliding();
  world w = make(&p, false, 1e-3);
  carom_step_options o = carom_step_default_options();
  o.step = 0.02;
  carom_stepper *stepper = stepper_by(&w, &o);
  carom_audit *audit = NULL;
  carom_error error = {0};
  REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, &error) == CAROM_OK);
  for (int i = 0; i < 50; i++) {
    run_steps(stepper, w.state, 1);
    carom_audit_motion(audit, w.state);
  }
  carom_verdict v = carom_audit_judge(audit, NULL);
  CHECK(v.outcome == CAROM_VERDICT_PASS);
  CHECK(!row_of(&v, "body_momentum") && row_of(&v, "position"));
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
