// What the audit says of passages between two states, against the way that was really gone: free motion followed in
// small steps, of which the audit sees every 64th.
#include "fixtures.h"
#include "model/model.h"

enum { FINE = 64, TRIES = 400 };

static const double STEP = 2.7e-3, THIN = 0.0073;

// A rod over a thin plate, tumbling by most of a radian in a step.
static world rod_over_plate(carom_random *random, bool fast) {
  carom_builder *b = new_builder();
  carom_body_def plate = carom_body_default(), rod = carom_body_default();
  const carom_shape *shapes[2] = {NULL, NULL};
  if (carom_shape_create_box(cm_vec3(2, 2, 0.005), NULL, &shapes[0], NULL) != CAROM_OK ||
      carom_shape_create_box(cm_vec3(0.127, 0.5 * THIN, 0.0064), NULL, &shapes[1], NULL) != CAROM_OK)
    abort();
  plate.fixed = true;
  rod.pose.p = cm_vec3(0, 0, 0.15);
  rod.pose.q = cm_qmul(cm_exp(cm_scale(0.03, cm_vec3(carom_random_normal(random), carom_random_normal(random), 0))),
                       cm_exp(cm_vec3(carom_random_between(random, -3, 3), 0, 0)));
  rod.velocity = cm_vec3(2, -3, fast ? carom_random_between(random, -150, -60) : carom_random_between(random, -1, 1));
  rod.angular_velocity = cm_add(cm_vec3(0, 0, carom_random_between(random, -150, 150)),
                                cm_rotate(rod.pose.q, cm_vec3(carom_random_between(random, -250, 250), 0, 0)));
  put_shape(b, plate, shapes[0]);
  put_shape(b, rod, shapes[1]);
  return finish_world(b);
}

static double gap_of(const world *w) {
  carom_placed at[2];
  for (int i = 0; i < 2; i++) at[i] = (carom_placed){w->model->parts[i].shape, cm_pose(w->state->x[i], w->state->q[i])};
  carom_distance_result d;
  if (carom_distance(&at[0], &at[1], NULL, &d) != CAROM_OK) abort();
  return d.distance;
}

// Goes one step; returns the least gap on the way.
static double go(const world *w) {
  carom_step_options o = carom_step_default_options();
  carom_stepper *stepper = NULL;
  o.integrator = "variational", o.step = STEP / FINE, o.nothing_meets = true;
  if (carom_stepper_create(w->model, &o, NULL, &stepper, NULL) != CAROM_OK) abort();
  double least = gap_of(w);
  for (int i = 0; i < FINE; i++) {
    if (carom_stepper_step(stepper, w->state, NULL, NULL) != CAROM_OK) abort();
    least = fmin(least, gap_of(w));
  }
  carom_stepper_destroy(stepper);
  return least;
}

static double passage(const carom_verdict *v) {
  for (int i = 0; i < v->count; i++)
    if (strcmp(v->rows[i].key, "passage") == 0) return v->rows[i].value;
  abort();
}

// The straight way of a body that tumbles is not its own: nothing is said of what it did not do, and nothing is kept
// quiet of what it did.
TEST(passages_are_those_of_the_free_motion) {
  carom_random random = carom_random_make(7, 1);
  int clear = 0, through = 0, accused = 0, told = 0;
  for (int i = 0; i < TRIES; i++) {
    world w = rod_over_plate(&random, i % 4 == 0);
    w.state->x[1].z -= gap_of(&w) - carom_random_between(&random, 1e-4, 1e-2);
    carom_audit *audit = NULL;
    if (carom_audit_create(w.model, w.state, NULL, &audit, NULL) != CAROM_OK) abort();
    double first = gap_of(&w), least = go(&w);
    carom_step_report report = {.step = STEP};
    carom_audit_step(audit, w.state, &report);
    carom_verdict v = carom_audit_judge(audit, NULL);
    if (first > 0 && least > 0) clear++, accused += passage(&v) > 1e-2;
    if (first > 0 && least < -0.3 * THIN && gap_of(&w) > 0) through++, told += passage(&v) > 1e-2;
    carom_audit_destroy(audit);
    free_world(&w);
  }
  if (getenv("CAROM_TEST_VERBOSE")) printf("clear %d accused %d through %d told %d\n", clear, accused, through, told);
  CHECK(clear > 20 && accused == 0);
  CHECK(through > 5 && told == through);
}
