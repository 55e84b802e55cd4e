// Discs and prisms in the plane in closed form, against the separation oracle.
#include "fixtures.h"
#include "step/quasistatic/parts.h"

// A prism over random corners on an ellipse, or a disc.
static const carom_shape *random_figure(carom_random *r, double unit) {
  const carom_shape *shape = NULL;
  carom_vec3 points[24];
  int n = 3 + (int)carom_random_below(r, 9);
  if (carom_random_uniform(r) < 0.2) {
    carom_shape_create_cylinder(unit * carom_random_between(r, 0.2, 1), unit, NULL, &shape, NULL);
    return shape;
  }
  for (int i = 0; i < n; i++) {
    double a = 6.283185307179586 * (i + 0.9 * carom_random_uniform(r)) / n;
    for (int k = 0; k < 2; k++)
      points[2 * i + k] = cm_vec3(unit * cos(a), 0.6 * unit * sin(a), (k ? 0.5 : -0.5) * unit);
  }
  carom_shape_create_hull(points, 2 * n, NULL, &shape, NULL);
  return shape;
}

static carom_pose random_place(carom_random *r, double unit) {
  double a = carom_random_between(r, -3, 3);
  return cm_pose(cm_vec3(unit * carom_random_between(r, -1.5, 1.5), unit * carom_random_between(r, -1.5, 1.5), 0),
                 cm_quat(cos(a / 2), 0, 0, sin(a / 2)));
}

static world figure_and_disc(carom_random *r, double unit, bool disc_moves) {
  carom_builder *b = new_builder();
  const carom_shape *figure = random_figure(r, unit), *disc = NULL;
  carom_body_def one = carom_body_default(), two = one;
  carom_support_def oil = carom_support_default();
  carom_shape_create_cylinder(unit * carom_random_between(r, 0.02, 0.6), unit, NULL, &disc, NULL);
  carom_builder_set_planar(b, true);
  one.pose = random_place(r, unit), two.pose = random_place(r, unit);
  one.fixed = disc_moves, two.fixed = !disc_moves;
  put_shape(b, one, figure), put_shape(b, two, disc);
  oil.body = disc_moves, oil.damping = 1;
  carom_builder_add_support(b, &oil);
  return finish_world(b);
}

// The kernel's contact against what the oracle says of the same pair.
static void compare(const world *w, carom_random *r, double unit, int *seen) {
  carom_quasi *q = NULL;
  carom_error error;
  carom_distance_result d;
  carom_vec3 turn = cm_vec3(0, 0, carom_random_between(r, -2, 2));
  for (int i = 0; i < 2; i++)
    if (!w->model->bodies[i].fixed) w->state->q[i] = cm_qunit(cm_qmul(cm_exp(turn), w->state->q[i]));
  REQUIRE(carom_quasi_create(w->model, NULL, &q, &error) == CAROM_OK);
  carom_vec3 v[2] = {cm_vec3(4 * unit, 0, 0), cm_vec3(4 * unit, 0, 0)}, still[2] = {cm_zero3(), cm_zero3()};
  REQUIRE(carom_quasi_gather(q, w->state, 1, &(carom_twists){v, still}, &error) == CAROM_OK);
  CHECK(q->count == 1 && q->contacts->pair_count == 1);
  const carom_contact *c = &q->items[0].contact;
  REQUIRE(carom_contacts_distance(q->contacts, 0, w->state, &d) == CAROM_OK);
  double tall = 0.95 * unit;  // overlaps deeper than bodies are high part them along z
  if (fabs(d.distance) < tall) CHECK_AT_MOST(fabs(d.distance - c->gap) / unit, 1e-9);
  if (d.distance > 1e-3 * unit) {
    CHECK_AT_MOST(cm_norm(cm_sub(d.normal, c->normal)), 1e-5);
    CHECK_AT_MOST(hypot(d.point_a.x - c->point_a.x, d.point_a.y - c->point_a.y) / unit, 1e-5);
  }
  carom_vec3 apart = cm_sub(c->point_a, c->point_b);
  CHECK_AT_MOST(cm_norm(cm_axpy(apart, -c->gap, c->normal)) / unit, 1e-12);
  CHECK_NEAR(cm_norm(c->normal), 1, 1e-12);
  *seen += carom_quasi_disc_contact(q, 0, &(carom_contact){0});
  carom_quasi_destroy(q);
}

TEST(discs_touch_as_the_oracle_says) {
  carom_random random = carom_random_make(3, 0);
  int seen = 0;
  for (int i = 0; i < 3000; i++) {
    double unit = pow(10, -(i % 7));
    world w = figure_and_disc(&random, unit, i % 2);
    compare(&w, &random, unit, &seen);
    free_world(&w);
  }
  CHECK(seen == 3000);
}

// What is no prism, or leans, is left to the oracle.
TEST(shapes_that_are_no_prisms_are_left_to_the_oracle) {
  const carom_shape *shape[3] = {0}, *box = NULL;
  carom_shape_create_tetrahedron(1, NULL, &shape[0], NULL);
  carom_shape_create_pyramid(4, 1, 1, NULL, &shape[1], NULL);
  carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &box, NULL);
  carom_shape_create_rounded(box, 0.1, NULL, &shape[2], NULL);
  carom_shape_release(box);
  for (int i = 0; i < 3; i++) {
    carom_builder *b = new_builder();
    carom_body_def part = carom_body_default();
    carom_support_def oil = carom_support_default();
    const carom_shape *disc = NULL;
    carom_quasi *q = NULL;
    carom_builder_set_planar(b, true);
    put_shape(b, part, shape[i]);
    carom_shape_create_cylinder(0.1, 1, NULL, &disc, NULL);
    put_shape(b, fixed_body(cm_vec3(1, 0, 0), cm_qidentity()), disc);
    oil.damping = 1;
    carom_builder_add_support(b, &oil);
    world w = finish_world(b);
    CHECK(carom_quasi_create(w.model, NULL, &q, NULL) == CAROM_OK);
    CHECK(q->shadows[0].kind == CAROM_QUASI_OTHER && q->shadows[1].kind == CAROM_QUASI_DISC);
    carom_quasi_destroy(q);
    free_world(&w);
  }
}

// ---- prisms ---------------------------------------------------------------------------------------------------------

static world two_prisms(carom_random *r, double unit) {
  carom_builder *b = new_builder();
  carom_body_def one = carom_body_default(), two = one;
  carom_support_def oil = carom_support_default();
  carom_builder_set_planar(b, true);
  one.pose = random_place(r, unit), two.pose = random_place(r, unit), two.fixed = true;
  const carom_shape *figure[2] = {0};
  for (int i = 0; i < 2; i++)
    while (!figure[i] || carom_shape_get_kind(figure[i]) != CAROM_SHAPE_POLYTOPE) {
      carom_shape_release(figure[i]);
      figure[i] = random_figure(r, unit);
    }
  put_shape(b, one, figure[0]), put_shape(b, two, figure[1]);
  oil.damping = 1;
  carom_builder_add_support(b, &oil);
  return finish_world(b);
}

// The nearest contact is as near as the oracle says, in its direction; all of them lie on both figures.
static void compare_prisms(const world *w, double unit, int *apart, int *within) {
  carom_quasi *q = NULL;
  carom_distance_result d;
  carom_vec3 v[2] = {cm_vec3(4 * unit, 0, 0), cm_vec3(4 * unit, 0, 0)}, still[2] = {cm_zero3(), cm_zero3()};
  REQUIRE(carom_quasi_create(w->model, NULL, &q, NULL) == CAROM_OK);
  REQUIRE(carom_quasi_gather(q, w->state, 1, &(carom_twists){v, still}, NULL) == CAROM_OK);
  REQUIRE(q->count >= 1 && q->count <= 3);
  REQUIRE(carom_contacts_distance(q->contacts, 0, w->state, &d) == CAROM_OK);
  double least = INFINITY, tall = 0.95 * unit;
  for (int i = 0; i < q->count; i++) {
    const carom_contact *c = &q->items[i].contact;
    least = fmin(least, c->gap);
    carom_vec3 off = cm_sub(c->point_a, c->point_b);
    CHECK_AT_MOST(cm_norm(cm_axpy(off, -c->gap, c->normal)) / unit, 1e-12);
    if (d.distance > 1e-3 * unit) CHECK_AT_MOST(cm_norm(cm_sub(d.normal, c->normal)), 1e-5);
  }
  if (fabs(d.distance) < tall) CHECK_AT_MOST(fabs(d.distance - least) / unit, 1e-9);
  *apart += d.distance > 0, *within += d.distance < 0;
  carom_quasi_destroy(q);
}

TEST(prisms_touch_as_the_oracle_says) {
  carom_random random = carom_random_make(4, 0);
  int apart = 0, within = 0;
  for (int i = 0; i < 3000; i++) {
    double unit = pow(10, -(i % 7));
    world w = two_prisms(&random, unit);
    compare_prisms(&w, unit, &apart, &within);
    free_world(&w);
  }
  CHECK(apart > 500 && within > 500);
}

// A box over a wall, by a hair, level or tilted by less than the hair: both ends of its lower side.
TEST(a_box_on_a_wall_touches_at_both_ends) {
  for (int i = 0; i < 60; i++) {
    double unit = pow(10, -(i % 7)), tilt = (i % 5 - 2) * 1e-9, gap = i % 3 == 0 ? 0 : i % 3 == 1 ? 1e-7 : -1e-7;
    carom_builder *b = new_builder();
    carom_quasi *q = NULL;
    carom_support_def oil = carom_support_default();
    carom_builder_set_planar(b, true);
    carom_pose at = cm_pose(cm_vec3(0, (0.4 + gap) * unit, 0), cm_quat(cos(tilt / 2), 0, 0, sin(tilt / 2)));
    put_box(b, cm_vec3(1.6 * unit, 0.8 * unit, unit), at, false);
    put_box(b, cm_vec3(5 * unit, unit, unit), cm_pose(cm_vec3(2 * unit, -0.5 * unit, 0), cm_qidentity()), true);
    oil.damping = 1;
    carom_builder_add_support(b, &oil);
    world w = finish_world(b);
    carom_vec3 v[2] = {cm_zero3(), cm_vec3(0.01 * unit, 0, 0)}, still[2] = {cm_zero3(), cm_zero3()};
    REQUIRE(carom_quasi_create(w.model, NULL, &q, NULL) == CAROM_OK);
    CHECK(carom_quasi_gather(q, w.state, 1, &(carom_twists){v, still}, NULL) == CAROM_OK);
    REQUIRE(q->count == 2);
    double left = fmin(q->items[0].contact.point_b.x, q->items[1].contact.point_b.x) / unit;
    double right = fmax(q->items[0].contact.point_b.x, q->items[1].contact.point_b.x) / unit;
    CHECK_NEAR(left, -0.5, 1e-6);
    CHECK_NEAR(right, 0.8, 1e-6);
    for (int k = 0; k < 2; k++) {
      CHECK_NEAR(q->items[k].contact.normal.y, 1, 1e-8);
      CHECK_NEAR(q->items[k].contact.gap / unit, gap, 2e-9);
    }
    carom_quasi_destroy(q);
    free_world(&w);
  }
}
