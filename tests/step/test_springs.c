// Stiff springs: every step is taken in as many equal parts as keep their energy, or is refused with a remedy that
// works.
#include "fixtures.h"

static const char *const second_order[] = {"variational", "exact", "dcr", "potential", "newmark"};
static const char *const first_order[] = {"cone", "index2", "index3"};
enum { SECOND = 5, FIRST = 3 };

static carom_step_options by(const char *integrator, double step) {
  carom_step_options o = carom_step_default_options();
  o.integrator = integrator;
  o.step = step;
  return o;
}

static void tie(carom_builder *b, int one, int other, carom_vec3 point_one, carom_vec3 point_other, double stiffness) {
  carom_spring_def s = carom_spring_default();
  s.body[0] = one, s.body[1] = other, s.point[0] = point_one, s.point[1] = point_other;
  s.stiffness = stiffness, s.rest_length = 1;
  carom_builder_add_spring(b, &s);
}

// A mass of 1 kg at x = 1 + stretch on a spring from the origin.
static world mass_on_a_spring(double stiffness, double damping, double stretch) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  def.pose.p = cm_vec3(1 + stretch, 0, 0);
  int body = carom_builder_add_body(b, &def);
  carom_spring_def s = carom_spring_default();
  s.body[0] = CAROM_WORLD, s.body[1] = body, s.stiffness = stiffness, s.damping = damping, s.rest_length = 1;
  carom_builder_add_spring(b, &s);
  return finish_world(b);
}

static double energy_of(const world *w) {
  return carom_kinetic_energy(w->model, w->state) + carom_potential_energy(w->model, w->state);
}

// Largest rise above the start, relative.
static double energy_rise(world *w, const carom_step_options *o, int steps) {
  carom_stepper *stepper = stepper_by(w, o);
  double start = energy_of(w), most = 0;
  for (int i = 0; i < steps; i++) {
    CHECK(carom_stepper_step(stepper, w->state, NULL, NULL) == CAROM_OK);
    most = fmax(most, fabs(energy_of(w) / start - 1));
  }
  carom_stepper_destroy(stepper);
  return most;
}

// (h w / n)^2/4 and h w/2n, as they come out, keep within half of the audit's bounds.
TEST(energy_swings_by_half_of_what_the_audit_allows) {
  for (int i = 0; i < SECOND + FIRST; i++) {
    const char *name = i < SECOND ? second_order[i] : first_order[i - SECOND];
    for (int k = 0; k < 4; k++) {
      double h = 4e-3, x = (const double[]){0.01, 0.2, 0.7, 1.2}[k];
      world w = mass_on_a_spring(x * x / (h * h), 0, 0.1);
      carom_step_options o = by(name, h);
      CHECK(carom_step_check_start(w.model, w.state, &o, NULL) == CAROM_OK);
      CHECK_AT_MOST(energy_rise(&w, &o, 300), i < SECOND ? 5.01e-3 : 1.001e-2);
      free_world(&w);
    }
  }
}

static int parts_of(double x, const char *integrator) {
  world w = mass_on_a_spring(x * x / 1e-6, 0, 0.1);
  carom_step_options o = by(integrator, 1e-3);
  int parts = carom_step_parts(w.model, &o);
  free_world(&w);
  return parts;
}

TEST(no_more_parts_than_are_needed) {
  CHECK(parts_of(0.14, "variational") == 1);
  CHECK(parts_of(0.15, "variational") == 2);
  CHECK(parts_of(1, "variational") == 8);
  CHECK(parts_of(1, "index2") == 51);
  CHECK(parts_of(0.01, "cone") == 1);
  CHECK(parts_of(1, "moreau") == 1);
  world w = mass_on_a_spring(1e6, 0, 0.1);
  carom_step_options o = by("variational", 1e-3);
  o.quadrature = CAROM_QUADRATURE_MIDPOINT;  // which keeps the energy of springs as it is
  CHECK(carom_step_parts(w.model, &o) == 1);
  free_world(&w);
}

// The stiffest motion of a chain of equal masses is that of neighbours against each other, w^2 -> 4 k/m; springs that
// hold a body off its centre turn it, too. Both count.
TEST(chains_and_arms_count) {
  carom_builder *chain = new_builder(), *arm = new_builder();
  for (int i = 0; i < 6; i++) {
    carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
    def.pose.p = cm_vec3(1.0 + i, 0, 0);
    carom_builder_add_body(chain, &def);
    tie(chain, i > 0 ? i - 1 : CAROM_WORLD, i, cm_zero3(), cm_zero3(), 1e4);
  }
  world w = finish_world(chain);
  carom_step_options o = by("variational", 1e-3);  // h w = 0.2
  CHECK(carom_step_parts(w.model, &o) == 2);
  free_world(&w);
  carom_body_def def = inert_body(1, cm_vec3(0.01, 0.01, 0.01));
  def.pose.p = cm_vec3(1, 0, 0);
  int body = carom_builder_add_body(arm, &def);
  tie(arm, CAROM_WORLD, body, cm_vec3(0, 0.3, 0), cm_vec3(0, 0.3, 0), 1e4);  // 1/m + r^2/J = 10
  w = finish_world(arm);
  int parts = carom_step_parts(w.model, &o);
  CHECK(parts >= 3 && parts <= 4);  // h w = 0.32, or a little more
  w.state->x[0].x += 0.05;
  CHECK_AT_MOST(energy_rise(&w, &o, 500), 5.01e-3);
  free_world(&w);
}

// The same steps, asked for, go the same way.
TEST(parts_are_steps) {
  for (int i = 0; i < SECOND; i++) {
    world split = mass_on_a_spring(62500, 3, 0.1), small = mass_on_a_spring(62500, 3, 0.1);
    carom_step_options o = by(second_order[i], 4e-3);
    int parts = carom_step_parts(split.model, &o);
    CHECK(parts > 1);
    carom_stepper *one = stepper_by(&split, &o);
    o.step /= parts;
    carom_stepper *many = stepper_by(&small, &o);
    for (int k = 0; k < 50; k++) CHECK(carom_stepper_step(one, split.state, NULL, NULL) == CAROM_OK);
    for (int k = 0; k < 50 * parts; k++) CHECK(carom_stepper_step(many, small.state, NULL, NULL) == CAROM_OK);
    CHECK_NEAR(split.state->x[0].x, small.state->x[0].x, 1e-11);
    CHECK_NEAR(split.state->time, small.state->time, 1e-12);
    CHECK(split.state->step == 50);
    carom_stepper_destroy(one);
    carom_stepper_destroy(many);
    free_world(&split);
    free_world(&small);
  }
}

// Too stiff, or too strongly damped: the step that the message names is taken, and energy keeps within the bounds.
TEST(refused_with_a_step_that_works) {
  for (int i = 0; i < SECOND + FIRST; i++)
    for (int damped = 0; damped < 2; damped++) {
      world w = mass_on_a_spring(damped ? 1000 : 1e7, damped ? 25000 : 0, 0.01);
      carom_step_options o = by(i < SECOND ? second_order[i] : first_order[i - SECOND], 4e-3);
      carom_error error = {0};
      CHECK(carom_step_check_start(w.model, w.state, &o, &error) == CAROM_ERR_UNSUPPORTED);
      const char *remedy = strstr(error.message, "use a step below ");
      REQUIRE(remedy);
      o.step = strtod(remedy + strlen("use a step below "), NULL);
      CHECK(carom_step_check_start(w.model, w.state, &o, NULL) == CAROM_OK);
      double swing = energy_rise(&w, &o, 200);
      if (!damped) CHECK_AT_MOST(swing, i < SECOND ? 5.01e-3 : 1.001e-2);
      free_world(&w);
    }
}
