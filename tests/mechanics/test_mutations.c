// Faults put in behind the integrators' backs, between a step and its audit: every one must be caught, and the same
// runs without them must pass. So must a set of right motions of all kinds.
#include "carom/carom.h"
#include "test.h"

enum { MOST_EVENTS = 64 };

// A step as the audit is going to see it. Events are a copy that may be changed.
typedef struct seen {
  const carom_model *model;
  const carom_state *before;
  carom_state *state;
  carom_step_report report;
  carom_contact_event events[MOST_EVENTS];
  int step;
} seen;

typedef void mutation(seen *s);

// ---- scenes -------------------------------------------------------------------------------------------------------

#define HEAD "carom: 1\nmaterials: {smooth: {restitution: 1, friction: 0}, rough: {restitution: 0, friction: 0.3}, "
#define MATERIALS HEAD "half: {restitution: 0.5, friction: 0.2}}\n"
#define FLOOR "  - {name: floor, shape: halfspace, fixed: true, material: "

static const char BOUNCE[] =
    MATERIALS "bodies:\n" FLOOR
              "smooth}\n"
              "  - {name: ball, shape: {sphere: 0.1}, material: smooth, position: [0, 0, 0.5],"
              " velocity: [0.3, 0, 0]}\n"
              "forces: {gravity: 9.81}\nintegrator: {name: exact, step: 1 ms}\nduration: 0.6\n";
static const char SLIDE[] =
    MATERIALS "bodies:\n" FLOOR
              "rough}\n"
              "  - {name: block, shape: {box: [0.4, 0.3, 0.2]}, material: rough, position: [0, "
              "0, 0.1], velocity: [2, 0, 0]}\n"
              "forces: {gravity: 9.81}\nintegrator: {name: moreau, step: 1 ms}\nduration: 0.3\n";
static const char TUMBLE[] = MATERIALS
    "bodies:\n"
    "  - {name: brick, shape: {box: [0.1, 0.2, 0.3]}, velocity: [1, 0, 0], "
    "angular_velocity: [0.1, 5, 0.1]}\n"
    "integrator: {name: variational, step: 1 ms}\nduration: 0.3\n";
static const char SWING[] = MATERIALS
    "bodies:\n"
    "  - {name: rod, shape: {box: [0.05, 0.05, 1]}, position: [0.5, 0, 0], rotation: "
    "{axis: [0, 1, 0], angle: 90 deg}}\n"
    "joints: [{name: pin, kind: spherical, between: [world, rod], at: [0, 0, 0]}]\n"
    "forces: {gravity: 9.81}\nintegrator: {name: variational, step: 1 ms}\nduration: 0.3\n";
static const char SHOT[] = MATERIALS
    "bodies:\n"
    "  - {name: plate, shape: {box: [1, 1, 0.01]}, fixed: true, material: smooth}\n"
    "  - {name: bullet, shape: {sphere: 0.01}, material: smooth, position: [0, 0, 0.45], "
    "velocity: [0, 0, -100]}\n"
    "integrator: {name: exact, step: 1 ms}\nduration: 0.01\n";
static const char CARRY[] = MATERIALS
    "bodies:\n"
    "  - {name: table, shape: {box: [2, 2, 0.1]}, position: [0, 0, -0.05], fixed: true, "
    "material: rough}\n"
    "  - {name: block, shape: {box: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1], material: "
    "rough}\n"
    "drives: [{body: table, velocity: [0, 0, 0.1]}]\n"
    "forces: {gravity: 9.81}\nintegrator: {name: moreau, step: 1 ms}\nduration: 0.2\n";

static const char DROP[] =
    MATERIALS "bodies:\n" FLOOR
              "half}\n"
              "  - {name: ball, shape: {sphere: 0.1}, material: half, position: [0, 0, 0.4], velocity: [1, 0, 0]}\n"
              "forces: {gravity: 9.81}\nintegrator: {name: moreau, step: 1 ms}\nduration: 0.5\n";
static const char SKID[] =
    MATERIALS "bodies:\n" FLOOR
              "rough}\n"
              "  - {name: ball, shape: {sphere: 5 cm}, material: rough, position: [0, 0, 5 cm], velocity: [3, 0, 0]}\n"
              "forces: {gravity: 9.81}\nintegrator: {name: dcr, step: 1 ms}\nduration: 0.2\n";
static const char ROLL[] =
    MATERIALS "bodies:\n" FLOOR
              "rough}\n"
              "  - {name: wheel, shape: {cylinder: {radius: 0.1, height: 0.05, exact: true}}, material: rough, "
              "position: [0, 0, 0.1], rotation: {axis: [1, 0, 0], angle: 90 deg}, velocity: [2, 0, 0], "
              "angular_velocity: [0, 20, 0]}\n"
              "forces: {gravity: 9.81}\nintegrator: {name: dcr, step: 1 ms}\nduration: 0.5\n";
static const char MEET[] = MATERIALS
    "bodies:\n"
    "  - {name: other, shape: {sphere: 0.1}, mass: 3, material: half, position: [0.5, 0.05, 0]}\n"
    "  - {name: ball, shape: {sphere: 0.1}, mass: 1, material: half, velocity: [2, 0, 0]}\n"
    "integrator: {name: exact, step: 1 ms}\nduration: 0.3\n";
static const char MOTOR[] = MATERIALS
    "bodies:\n"
    "  - {name: rod, shape: {box: [1, 0.1, 0.1]}, mass: 3, position: [0.5, 0, 0]}\n"
    "joints: [{name: hinge, kind: revolute, between: [world, rod], at: [0, 0, 0], turn: {motor: {torque: 2}}}]\n"
    "integrator: {name: variational, step: 1 ms}\nduration: 0.5\n";

static carom_scene *read_scene(const char *text, const char *integrator) {
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics;
  char name[64];
  snprintf(name, sizeof name, "integrator.name=%s", integrator ? integrator : "");
  const char *overrides[] = {name};
  carom_scene_options options = carom_scene_default_options();
  if (integrator) options.overrides = overrides, options.override_count = 1;
  carom_bytes bytes = {"mutation.yaml", text, strlen(text)};
  if (carom_scene_parse(&bytes, &options, NULL, &scene, &diagnostics) != CAROM_OK) {
    for (int i = 0; i < diagnostics.count; i++) fprintf(stderr, "%s\n", diagnostics.items[i].message);
    abort();
  }
  carom_diagnostics_release(&diagnostics);
  return scene;
}

static void take_step(seen *s, carom_stepper *stepper, carom_state *before, mutation *mutate) {
  carom_error error = {0};
  carom_state_copy(before, s->state);
  if (carom_stepper_step(stepper, s->state, &s->report, &error) != CAROM_OK) {
    fprintf(stderr, "%s\n", error.message);
    abort();
  }
  if (s->report.event_count > MOST_EVENTS - 1) s->report.event_count = MOST_EVENTS - 1;
  for (int i = 0; i < s->report.event_count; i++) s->events[i] = s->report.events[i];
  s->report.events = s->events;
  if (mutate) mutate(s);
}

static carom_verdict judge(const char *text, const char *integrator, mutation *mutate) {
  carom_scene *scene = read_scene(text, integrator);
  carom_state *state = NULL, *before = NULL;
  carom_stepper *stepper = NULL;
  carom_audit *audit = NULL;
  if (carom_state_clone(scene->state, NULL, &state, NULL) != CAROM_OK ||
      carom_state_clone(scene->state, NULL, &before, NULL) != CAROM_OK ||
      carom_stepper_create(scene->model, &scene->step, NULL, &stepper, NULL) != CAROM_OK ||
      carom_audit_create(scene->model, state, NULL, &audit, NULL) != CAROM_OK)
    abort();
  static seen s;
  s = (seen){.model = scene->model, .before = before, .state = state};
  for (int steps = (int)lround(scene->duration / scene->step.step); s.step < steps; s.step++) {
    take_step(&s, stepper, before, mutate);
    carom_audit_step(audit, state, &s.report);
    if (s.step % 10 == 0) carom_audit_frame(audit);
  }
  carom_verdict verdict = carom_audit_judge(audit, &scene->bounds);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  carom_state_destroy(before);
  carom_state_destroy(state);
  carom_scene_destroy(scene);
  return verdict;
}

// ---- faults -------------------------------------------------------------------------------------------------------

enum { BODY = 1, FIRST = 0 };  // the one that moves over a floor; the only one

static bool late(const seen *s) { return s->step == 100; }
static bool impact(const seen *s) { return s->report.event_count > 0; }
static double energy(const seen *s) {
  return carom_kinetic_energy(s->model, s->state) + carom_potential_energy(s->model, s->state);
}

// Adds an impulse to body and event alike, and tells the outside.
static void push_event(seen *s, carom_vec3 J) {
  s->events[0].impulse = cm_add(s->events[0].impulse, J);
  s->state->p[BODY] = cm_add(s->state->p[BODY], J);
  s->report.impulse = cm_add(s->report.impulse, J);
}

static void lost_event(seen *s) { s->report.event_count = 0; }
static void leak_in_flight(seen *s) {
  if (late(s)) s->state->p[BODY] = cm_scale(sqrt(0.99), s->state->p[BODY]);
}
static void swapped_normal(seen *s) {
  if (impact(s)) s->events[0].normal = cm_neg(s->events[0].normal);
}
// The ball comes back a little slower, and the loss is booked as restitution.
static void loss_at_e_1(seen *s) {
  if (!impact(s)) return;
  double before = energy(s);
  push_event(s, cm_vec3(0, 0, -0.01 * s->state->p[BODY].z));
  s->report.restitution_loss += before - energy(s);
}
static void moved_by_hand(seen *s) {
  if (late(s)) s->state->x[BODY].x += 1e-3;
}
static void spun_in_flight(seen *s) {
  if (late(s)) s->state->l[BODY].z += 1e-4;
}
static void doubled_time(seen *s) {
  if (late(s)) s->state->time += 1e-3;
}
static void phantom_event(seen *s) {
  if (!late(s)) return;
  carom_vec3 J = cm_vec3(0, 0, 0.1), below = cm_sub(s->state->x[BODY], cm_vec3(0, 0, 0.1));
  s->events[s->report.event_count++] = (carom_contact_event){
      .kind = CAROM_EVENT_IMPACT, .time = s->state->time, .body_a = BODY, .point = below, .normal = cm_vec3(0, 0, 1)};
  push_event(s, J);
}
static void pulling_impulse(seen *s) {
  if (impact(s)) s->events[0].impulse = cm_neg(s->events[0].impulse);
}
static void event_elsewhere(seen *s) {
  if (impact(s)) s->events[0].point = cm_add(s->events[0].point, cm_vec3(0, 0, 0.3));
}
static void gain_as_projection(seen *s) {
  if (!impact(s)) return;
  double before = energy(s);
  push_event(s, cm_vec3(0, 0, 0.05 * s->state->p[BODY].z));
  s->report.projection_energy += energy(s) - before;
}
static void gain_as_work(seen *s) {
  if (!late(s)) return;
  double before = energy(s);
  s->state->p[BODY].z *= 1.1;
  s->report.work += energy(s) - before;
  s->report.impulse.z += s->state->p[BODY].z * (1 - 1 / 1.1);
}
static void not_a_number(seen *s) {
  if (late(s)) s->report.friction_loss = NAN;
}
static void friction_at_mu_0(seen *s) {
  if (impact(s)) s->report.friction_loss += 1e-3 * carom_kinetic_energy(s->model, s->state);
}
static void weaker_gravity(seen *s) {
  double J = 0.01 * s->model->bodies[BODY].mass * 9.81 * 1e-3;
  s->state->p[BODY].z += J;
  s->report.impulse.z += J;
}
static void event_too_late(seen *s) {
  if (impact(s)) s->events[0].time += 0.1;
}
static void grain_put_elsewhere(seen *s) {
  if (!late(s)) return;
  s->state->x[BODY].z += 0.2;
  s->events[s->report.event_count++] = (carom_contact_event){.kind = CAROM_EVENT_RECIRCULATED,
                                                             .time = s->state->time,
                                                             .body_a = BODY,
                                                             .body_b = CAROM_WORLD,
                                                             .point = s->state->x[BODY]};
}
static void hidden_among_untold(seen *s) {
  s->report.untold = s->report.event_count;
  s->report.event_count = 0;
}

static carom_vec3 across(const carom_contact_event *e) {
  return cm_axpy(e->impulse, -cm_dot(e->impulse, e->normal), e->normal);
}
static void outside_the_cone(seen *s) {
  for (int i = 0; i < s->report.event_count; i++) {
    carom_vec3 more = cm_scale(0.5, across(&s->events[i]));
    s->events[i].impulse = cm_add(s->events[i].impulse, more);
    s->state->p[BODY] = cm_add(s->state->p[BODY], more);
    s->report.impulse = cm_add(s->report.impulse, more);
  }
}
static void along_the_slip(seen *s) {
  if (s->step % 20 != 10) return;
  for (int i = 0; i < s->report.event_count; i++) {
    carom_vec3 turned = cm_scale(-2, across(&s->events[i]));
    s->events[i].impulse = cm_add(s->events[i].impulse, turned);
    s->state->p[BODY] = cm_add(s->state->p[BODY], turned);
    s->report.impulse = cm_add(s->report.impulse, turned);
  }
}
static void skipped_contact(seen *s) {
  if (s->step < 100) return;
  double h = 1e-3, m = s->model->bodies[BODY].mass;
  carom_vec3 fall = cm_vec3(0, 0, -9.81 * m * h);
  s->state->p[BODY] = cm_add(s->before->p[BODY], fall);
  s->state->x[BODY] = cm_axpy(s->before->x[BODY], 0.5 * h / m, cm_add(s->before->p[BODY], s->state->p[BODY]));
  s->report = (carom_step_report){.step = h, .impulse = fall, .events = s->events};
}
static void creeping_down(seen *s) { s->state->x[BODY].z -= 5e-5; }
static void floor_moved(seen *s) {
  if (late(s)) s->state->x[0].z -= 1e-3;
}
static void turned_spin(seen *s) {
  if (late(s)) s->state->l[FIRST] = cm_rotate(cm_exp(cm_vec3(1e-4, 0, 0)), s->state->l[FIRST]);
}
static void turned_body(seen *s) {
  if (late(s)) s->state->q[FIRST] = cm_qmul(cm_exp(cm_vec3(0, 0, 0.01)), s->state->q[FIRST]);
}
static void slow_drag(seen *s) { s->state->p[FIRST] = cm_scale(1 - 1e-6, s->state->p[FIRST]); }
static void open_joint(seen *s) {
  if (late(s)) s->state->x[FIRST].z -= 1e-3;
}
static void drag_as_work(seen *s) {
  double before = energy(s);
  s->state->l[FIRST] = cm_scale(0.999, s->state->l[FIRST]);
  s->state->p[FIRST] = cm_scale(0.999, s->state->p[FIRST]);
  s->report.work += energy(s) - before;
}
static void through_the_plate(seen *s) {
  if (!impact(s)) return;
  s->state->p[BODY] = s->before->p[BODY];
  s->state->x[BODY] = cm_axpy(s->before->x[BODY], 1e-3 * s->model->bodies[BODY].inverse_mass, s->before->p[BODY]);
  s->report = (carom_step_report){.step = 1e-3, .events = s->events};
}
static void drive_left_behind(seen *s) {
  if (late(s)) s->state->x[0].z -= 1e-3;
}

// ---- faults of other kinds -----------------------------------------------------------------------------------------

// Makes friction this many times as large, and books what it takes.
static void scale_friction(seen *s, double factor) {
  double before = energy(s);
  for (int i = 0; i < s->report.event_count; i++) {
    carom_vec3 more = cm_scale(factor - 1, across(&s->events[i]));
    s->events[i].impulse = cm_add(s->events[i].impulse, more);
    s->state->p[BODY] = cm_add(s->state->p[BODY], more);
    s->report.impulse = cm_add(s->report.impulse, more);
  }
  s->report.friction_loss += before - energy(s);
}
static void friction_too_large(seen *s) { scale_friction(s, 1.05); }
static void friction_too_small(seen *s) { scale_friction(s, 0.95); }
static void no_friction_for_a_step(seen *s) {
  if (s->step == 50) scale_friction(s, 0);
}

// Impacts part by another coefficient, and the losses are booked as they are.
static void change_rebound(seen *s, double more) {
  if (!impact(s) || s->events[0].kind != CAROM_EVENT_IMPACT) return;
  carom_vec3 n = s->events[0].normal;
  double before = energy(s), down = -cm_dot(s->before->p[BODY], n);
  if (down <= 0) return;
  push_event(s, cm_scale(more * down, n));
  s->report.restitution_loss += before - energy(s);
}
static void rebound_too_fast(seen *s) { change_rebound(s, 0.05); }
static void rebound_too_slow(seen *s) { change_rebound(s, -0.05); }

static void pair_too_slow(seen *s) {
  if (!impact(s)) return;
  carom_contact_event *e = &s->events[0];
  const carom_body *a = &s->model->bodies[e->body_a], *b = &s->model->bodies[e->body_b];
  carom_vec3 u =
      cm_sub(cm_scale(a->inverse_mass, s->before->p[e->body_a]), cm_scale(b->inverse_mass, s->before->p[e->body_b]));
  double before = energy(s), j = 0.05 * cm_dot(u, e->normal) / (a->inverse_mass + b->inverse_mass);
  e->impulse = cm_axpy(e->impulse, j, e->normal);
  s->state->p[e->body_a] = cm_axpy(s->state->p[e->body_a], j, e->normal);
  s->state->p[e->body_b] = cm_axpy(s->state->p[e->body_b], -j, e->normal);
  s->report.restitution_loss += before - energy(s);
}

static void contact_left_out(seen *s) {
  if (s->step >= 50 && s->step < 60) {
    double h = 1e-3, m = s->model->bodies[BODY].mass;
    carom_vec3 fall = cm_vec3(0, 0, -9.81 * m * h);
    s->state->p[BODY] = cm_add(s->before->p[BODY], fall);
    s->state->l[BODY] = s->before->l[BODY];
    s->state->x[BODY] = cm_axpy(s->before->x[BODY], 0.5 * h / m, cm_add(s->before->p[BODY], s->state->p[BODY]));
    s->report = (carom_step_report){.step = h, .impulse = fall, .events = s->events};
  }
}
static void no_weight_for_a_step(seen *s) {
  if (!late(s)) return;
  double J = s->model->bodies[BODY].mass * 9.81 * 1e-3;
  s->state->p[BODY].z += J;
  s->report.impulse.z += J;
}
static void leaking_spin(seen *s) { s->state->l[BODY] = cm_scale(0.999, s->state->l[BODY]); }
static void slowing_wheel(seen *s) {  // by a torque and a force that keep it rolling, booked as restitution
  double before = energy(s);
  carom_vec3 less = cm_scale(-5e-5, s->state->p[BODY]);
  s->state->p[BODY] = cm_add(s->state->p[BODY], less);
  s->state->l[BODY] = cm_scale(1 - 5e-5, s->state->l[BODY]);
  if (s->report.event_count > 0) s->events[0].impulse = cm_add(s->events[0].impulse, less);
  s->report.impulse = cm_add(s->report.impulse, less);
  s->report.restitution_loss += before - energy(s);
}
static void pushed_along_the_floor(seen *s) {
  if (late(s)) s->state->x[BODY].x += 1e-3;
}
static void swapped_bodies(seen *s) {
  if (!impact(s)) return;
  int a = s->events[0].body_a;
  s->events[0].body_a = s->events[0].body_b, s->events[0].body_b = a;
}
static void unequal_reaction(seen *s) {
  if (impact(s)) s->state->p[BODY] = cm_axpy(s->state->p[BODY], 0.01, s->events[0].impulse);
}
static void wrong_mass(seen *s) {  // as if the struck ball were lighter by a hundredth
  if (impact(s)) s->state->p[FIRST] = cm_scale(1.01, s->state->p[FIRST]);
}
static void idle_torque(seen *s) {  // turns the momentum, does no work
  if (late(s)) s->state->l[FIRST] = cm_rotate(cm_exp(cm_vec3(0, 0, 1e-3)), s->state->l[FIRST]);
}
static void work_overstated(seen *s) { s->report.work *= 1.1; }
static void work_understated(seen *s) { s->report.work *= 0.9; }
static void gain_as_negative_loss(seen *s) {
  if (!impact(s)) return;
  double before = energy(s);
  push_event(s, cm_vec3(0.3 * s->state->p[BODY].x, 0, 0));
  s->report.restitution_loss -= energy(s) - before;
}

// ---- they are all caught -------------------------------------------------------------------------------------------

static const struct {
  const char *name, *row, *scene;  // the law that it breaks
  mutation *mutate;
} faults[] = {
    {"a lost event", "body_momentum", BOUNCE, lost_event},
    {"a leak of one percent", "body_momentum", BOUNCE, leak_in_flight},
    {"a swapped normal", "contact_law", BOUNCE, swapped_normal},
    {"a loss booked at e = 1", "unlawful_loss", BOUNCE, loss_at_e_1},
    {"a body moved by hand by 1 mm", "position", BOUNCE, moved_by_hand},
    {"a ball set spinning in flight", "body_momentum", BOUNCE, spun_in_flight},
    {"doubled time", "position", BOUNCE, doubled_time},
    {"an event without a contact", "contact_law", BOUNCE, phantom_event},
    {"an impulse that pulls", "contact_law", BOUNCE, pulling_impulse},
    {"an event elsewhere", "contact_law", BOUNCE, event_elsewhere},
    {"a gain booked as projection", "energy_made", BOUNCE, gain_as_projection},
    {"a gain booked as work", "energy_made", BOUNCE, gain_as_work},
    {"a loss that is not a number", "unlawful_loss", BOUNCE, not_a_number},
    {"friction booked at mu = 0", "unlawful_loss", BOUNCE, friction_at_mu_0},
    {"gravity that is one percent too weak", "body_momentum", BOUNCE, weaker_gravity},
    {"an event at another time", "contact_law", BOUNCE, event_too_late},
    {"a body put elsewhere as if recirculated", "contact_law", BOUNCE, grain_put_elsewhere},
    {"an event hidden among untold ones", "body_momentum", BOUNCE, hidden_among_untold},
    {"an impulse outside the cone", "contact_law", SLIDE, outside_the_cone},
    {"friction along the slip", "friction_law", SLIDE, along_the_slip},
    {"a skipped contact", "penetration", SLIDE, skipped_contact},
    {"a block that creeps into the floor", "position", SLIDE, creeping_down},
    {"a fixed body that moved", "position", SLIDE, floor_moved},
    {"a spin that turned in flight", "body_momentum", TUMBLE, turned_spin},
    {"a body turned by hand", "position", TUMBLE, turned_body},
    {"a drag of a millionth a step", "body_momentum", TUMBLE, slow_drag},
    {"a joint pulled open by 1 mm", "constraint", SWING, open_joint},
    {"a drag booked as work", "dissipation", SWING, drag_as_work},
    {"a body through a wall", "passage", SHOT, through_the_plate},
    {"a driven body left behind", "position", CARRY, drive_left_behind},
    {"friction that is 5 percent too large", "contact_law", SLIDE, friction_too_large},
    {"friction that is 5 percent too small", "contact_law", SLIDE, friction_too_small},
    {"the same under a ball that skids", "contact_law", SKID, friction_too_small},
    {"friction left out for one step", "contact_law", SLIDE, no_friction_for_a_step},
    {"a rebound by e + 0.05", "contact_law", DROP, rebound_too_fast},
    {"a rebound by e - 0.05", "contact_law", DROP, rebound_too_slow},
    {"the same of two balls", "contact_law", MEET, pair_too_slow},
    {"a contact left out for ten steps", "penetration", SLIDE, contact_left_out},
    {"no gravity for one step", "body_momentum", DROP, no_weight_for_a_step},
    {"a spin that leaks in flight", "body_momentum", DROP, leaking_spin},
    {"a spin that leaks in rolling", "energy", SKID, leaking_spin},
    {"a wheel that slows down by restitution", "dissipation", ROLL, slowing_wheel},
    {"a block pushed along the floor by 1 mm", "position", SLIDE, pushed_along_the_floor},
    {"an event with its bodies swapped", "body_momentum", DROP, swapped_bodies},
    {"a reaction that is 1 percent too small", "momentum", MEET, unequal_reaction},
    {"a struck body of another mass", "body_momentum", MEET, wrong_mass},
    {"a torque that does no work", "angular_momentum", SWING, idle_torque},
    {"work of a motor overstated", "dissipation", MOTOR, work_overstated},
    {"work of a motor understated", "energy_made", MOTOR, work_understated},
    {"a gain booked as a negative loss", "contact_law", DROP, gain_as_negative_loss},
};

TEST(every_fault_is_caught) {
  int count = (int)(sizeof faults / sizeof *faults);
  CHECK(count >= 50);
  for (int i = 0; i < count; i++) {
    carom_verdict v = judge(faults[i].scene, NULL, faults[i].mutate);
    const carom_verdict_row *row = NULL;
    for (int k = 0; k < v.count; k++)
      if (strcmp(v.rows[k].key, faults[i].row) == 0) row = &v.rows[k];
    if (v.outcome != CAROM_VERDICT_FAIL || !row || row->pass)
      test_fail(__FILE__, __LINE__, "%s: %s, %s", faults[i].name, carom_outcome_name(v.outcome), v.reason);
    if (row) printf("%-42s %-24s %.2e %s\n", faults[i].name, row->label, row->value, row->where);
  }
}

// ---- and nothing else ----------------------------------------------------------------------------------------------

static void check_passes(const char *name, const char *scene, const char *integrator) {
  carom_verdict v = judge(scene, integrator, NULL);
  if (v.outcome != CAROM_VERDICT_PASS)
    test_fail(__FILE__, __LINE__, "%s by %s: %s, %s", name, integrator ? integrator : "its own",
              carom_outcome_name(v.outcome), v.reason);
}

TEST(the_same_runs_without_faults_pass) {
  const char *scenes[] = {BOUNCE, SLIDE, TUMBLE, SWING, SHOT, CARRY, DROP, SKID, ROLL, MEET, MOTOR};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) check_passes(scenes[i], scenes[i], NULL);
}

static const char FALLS[] = MATERIALS "bodies:\n" FLOOR
                                      "half}\n"
                                      "  - {name: ball, shape: {sphere: 2 mm}, material: half, position: [0, 0, 5 cm], "
                                      "angular_velocity: [30, 0, 0]}\n"
                                      "  - {name: box, shape: {box: [0.3, 0.2, 0.1]}, material: half, position: [1, 0, "
                                      "0.4], rotation: {axis: [1, 1, 0], angle: 0.3}, angular_velocity: [0, 2, 1]}\n"
                                      "forces: {gravity: 9.81}\nintegrator: {step: 0.5 ms}\nduration: 0.4\n";
static const char STACK[] =
    MATERIALS "bodies:\n" FLOOR
              "rough}\n"
              "  - {name: box, shape: {box: [0.5, 0.5, 0.2]}, material: rough, replicate: {count: "
              "3}, position: [0.05*n, 0, 0.1 + 0.2*n]}\n"
              "forces: {gravity: 9.81}\nintegrator: {step: 1 ms}\nduration: 0.5\n";
static const char SPRINGS[] = MATERIALS
    "bodies:\n"
    "  - {name: bob, shape: {sphere: 0.1}, mass: 1, position: [0, 0, -1]}\n"
    "forces: {gravity: 9.81, springs: [{from: {world: [0, 0, 0]}, to: {body: bob, "
    "point: [0, 0, 0]}, stiffness: 50, damping: 1}]}\n"
    "integrator: {name: variational, step: 2 ms}\nduration: 1\n";
static const char PLANE[] = "planar: true\n" MATERIALS
                            "bodies:\n"
                            "  - {name: disc, shape: {sphere: 0.1}, material: smooth, replicate: {count: 3}, position: "
                            "[0.5*n, 0.03*n, 0], velocity: [1 - n, 0, 0]}\n"
                            "integrator: {name: exact, step: 1 ms}\nduration: 0.5\n";
static const char GRAINS[] =
    MATERIALS "bodies:\n" FLOOR
              "rough}\n"
              "  - {name: grain, shape: {sphere: 1 cm}, material: rough, replicate: {cloud: "
              "{count: 40, min: [-0.1, -0.1, 0.02], max: [0.1, 0.1, 0.2], clearance: 1 mm}}}\n"
              "forces: {gravity: 9.81}\nintegrator: {name: cone, step: 0.5 ms}\nduration: 0.2\n";

TEST(right_motions_of_all_kinds_pass) {
  static const struct {
    const char *name, *scene, *integrators[4];
  } right[] = {{"falls", FALLS, {"exact", "dcr"}},
               {"stack", STACK, {"moreau", "dcr", "exact"}},
               {"springs", SPRINGS, {"variational"}},
               {"plane", PLANE, {"exact", "dcr"}},
               {"grains", GRAINS, {"cone"}},
               {"bounce", BOUNCE, {"dcr", "moreau"}},
               {"slide", SLIDE, {"exact", "dcr", "cone"}},
               {"tumble", TUMBLE, {"exact", "dcr"}},
               {"swing", SWING, {"exact", "moreau"}}};
  for (size_t i = 0; i < sizeof right / sizeof *right; i++)
    for (int k = 0; k < 4 && right[i].integrators[k]; k++)
      check_passes(right[i].name, right[i].scene, right[i].integrators[k]);
}
