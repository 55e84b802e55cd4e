// Contact of solids that deform, as a run shows it: what is kept, what is carried, and what holds or slides.
#include "contact/soft.h"
#include "soft_runs.h"

// ---- momenta --------------------------------------------------------------------------------------------------------

typedef struct partner {
  const char *name;
  const carom_shape *(*shape)(void);  // null: another solid
  double swing;                       // most of the energy that comes and goes without friction, as measured
} partner;

static const carom_shape *a_box(void) { return box_shape(0.06, 0.06, 0.06); }
static const carom_shape *a_ball(void) { return sphere_shape(0.03); }
static const carom_shape *a_small_ball(void) { return sphere_shape(0.008); }
static const carom_shape *a_capsule(void) { return capsule_shape(0.02, 0.05); }
static const carom_shape *a_cylinder(void) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_cylinder(0.03, 0.05, NULL, &shape, &error), &shape, &error);
}
static const carom_shape *a_hull(void) {
  carom_random r = carom_random_make(11, 0);
  carom_vec3 points[60];
  for (int i = 0; i < 60; i++) points[i] = cm_scale(0.04, cm_unit(random_vector(&r, 1)));
  return hull_shape(points, 60);
}

static const partner partners[] = {{"a solid", NULL, 0.02},
                                   {"a box", a_box, 0.15},
                                   {"a ball", a_ball, 0.1},
                                   {"a small ball", a_small_ball, 0.3},
                                   {"a capsule", a_capsule, 0.05},
                                   {"a cylinder", a_cylinder, 0.4},
                                   {"a hull of many faces", a_hull, 0.02}};
enum { PARTNERS = sizeof partners / sizeof *partners };

// Something falls askew and spinning onto a block that floats.
static carom_builder *collision(const partner *p, double e, double mu) {
  carom_builder *b = new_builder();
  soft_block block = soft_cube(0.1, 3);
  put_material(b, e, mu);
  put_soft(b, &block);
  if (!p->shape) {
    block.at = cm_vec3(0.033, 0.021, 0.13), block.turn = cm_exp(cm_vec3(0.1, 0.2, 0.4));
    block.velocity = cm_vec3(0.2, 0.1, -0.6), block.spin = cm_vec3(1, 2, 3);
    put_soft(b, &block);
    return b;
  }
  carom_body_def def = carom_body_default();
  def.pose = cm_pose(cm_vec3(0.011, 0.007, 0.11), cm_exp(cm_vec3(0.3, 0.2, 0.1)));
  def.velocity = cm_vec3(0.2, 0.1, -0.6), def.angular_velocity = cm_vec3(1, 2, 1);
  put_shape(b, def, p->shape());
  return b;
}

// Those of what is solved for are as good as the solution.
static double spin_bound(const soft_method *method) {
  return method->quadrature == CAROM_QUADRATURE_MIDPOINT ? 1e-8 : 1e-12;
}

static void check_momenta(const partner *p, const soft_method *method, double mu) {
  soft_run r = soft_begin(collision(p, mu > 0 ? 0.5 : 1, mu), method, 5e-4);
  soft_steps(&r, 240);
  double size = cm_norm(r.momentum), drift = cm_norm(soft_momentum_drift(&r)) / size;
  double spin = cm_norm(soft_spin_drift(&r)) / (0.1 * size), swing = soft_swing(&r) / r.energy;
  if (!(drift < 1e-12 && spin < spin_bound(method) && r.events > 0))
    test_fail(__FILE__, __LINE__, "%s, %s, mu %g: momenta drift by %.2g and %.2g in %d contacts", p->name, method->name,
              mu, drift, spin, r.events);
  if (mu == 0 && !(swing < p->swing))
    test_fail(__FILE__, __LINE__, "%s, %s: energy swings by %.2g", p->name, method->name, swing);
  soft_end(&r);
}

TEST(momenta_are_kept_without_friction_long) {
  for (int i = 0; i < PARTNERS; i++)
    for (int k = 0; k < SOFT_METHODS; k++) check_momenta(&partners[i], &soft_methods[k], 0);
}

TEST(momenta_are_kept_with_friction_long) {
  for (int i = 0; i < PARTNERS; i++)
    for (int k = 0; k < SOFT_METHODS; k++) check_momenta(&partners[i], &soft_methods[k], 0.5);
}

// ---- energy ---------------------------------------------------------------------------------------------------------

static double swing_of_a_bounce(const soft_method *method, double h) {
  carom_builder *b = new_builder();
  soft_block block = soft_cube(0.1, 2);
  put_material(b, 1, 0);
  put_floor(b);
  block.at.z = 0.06, block.velocity.z = -0.5;
  put_soft(b, &block);
  soft_run r = soft_begin(b, method, h);
  soft_steps(&r, (int)lround(0.12 / h));
  CHECK(soft_velocity(&r, 0).z > 0.2);
  double swing = soft_swing(&r) / r.energy;
  soft_end(&r);
  return swing;
}

TEST(a_bounce_keeps_energy_to_second_order) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    double was = swing_of_a_bounce(&soft_methods[k], 4e-4);
    CHECK_AT_MOST(was, 2e-3);
    for (double h = 2e-4; h > 4e-5; h /= 2) {
      double swing = swing_of_a_bounce(&soft_methods[k], h);
      CHECK_NEAR(was / swing, 4, 0.4);
      was = swing;
    }
  }
}

// ---- weight ---------------------------------------------------------------------------------------------------------

static const double G = 9.81;

static soft_block resting_block(int cells, double poisson) {
  soft_block block = soft_cube(0.1, cells);
  block.at.z = 0.05, block.poisson = poisson, block.damping = 5e-3;
  return block;
}

static soft_run rest(const soft_block *block, const soft_method *method, double h, double time) {
  carom_builder *b = new_builder();
  put_material(b, 0.5, 0.5);
  put_floor(b);
  put_soft(b, block);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  soft_run r = soft_begin(b, method, h);
  soft_steps(&r, (int)lround(time / h));
  return r;
}

static double weight_of(const soft_run *r) { return r->world.model->solids[0].mass * G; }

// By what contacts tell of their impulses.
TEST(weight_is_carried) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    soft_block block = resting_block(3, 0.3);
    soft_run r = rest(&block, &soft_methods[k], 5e-4, 1);
    double told = 0;
    for (int i = 0; i < 400 && soft_steps(&r, 1); i++)
      for (int e = 0; e < r.report.event_count; e++) told += r.report.events[e].impulse.z;
    CHECK_NEAR(told / 0.2 / weight_of(&r), 1, 1e-3);
    soft_end(&r);
  }
}

// The lowest nodes of a block that rests: how deep they are, and the stiffness that they have there.
typedef struct sole {
  double least, most, mean;  // m
  double stiffness, force;   // N/m, N
} sole;

static sole sole_of(const soft_run *r) {
  sole s = {.least = INFINITY};
  carom_soft *soft = NULL;
  int count = 0;
  if (carom_soft_create(r->world.model, NULL, &soft, NULL) != CAROM_OK) test_skip("no memory");
  for (int i = 0; i < r->world.model->node_count; i++) {
    double depth = -r->world.state->nodes[i].z;
    if (r->world.model->rest[i].z > 1e-6) continue;
    s.least = fmin(s.least, depth), s.most = fmax(s.most, depth), s.mean += depth;
    s.stiffness += soft->node_stiffness[i], s.force += soft->node_stiffness[i] * depth;
    count++;
  }
  s.mean /= count;
  carom_soft_destroy(soft);
  return s;
}

// Without Poisson's ratio nothing bends it; nodes of a mesh of five tetrahedra a cell carry unlike shares of the
// weight.
TEST(a_block_sinks_by_its_pressure_over_the_stiffness_and_evenly) {
  for (int k = 1; k < SOFT_METHODS; k++) {
    double was = INFINITY;
    for (int cells = 2; cells <= 4; cells *= 2) {
      soft_block block = resting_block(cells, 0);
      soft_run r = rest(&block, &soft_methods[k], 5e-4, 1);
      sole s = sole_of(&r);
      CHECK_NEAR(s.force / weight_of(&r), 1, 1e-3);
      CHECK_NEAR(s.mean * s.stiffness / weight_of(&r), 1, 0.1);
      CHECK_AT_MOST(s.most / s.least, 3);  // as measured
      CHECK_AT_MOST(s.mean, 0.75 * was);   // finer meshes are overlapped less
      was = s.mean;
      soft_end(&r);
    }
  }
}

// Of the surface of a cube, over that of a layer of its cells.
static double stiffness_over_layer(int cells) {
  carom_builder *b = new_builder();
  soft_block block = soft_cube(0.1, cells);
  carom_soft *soft = NULL;
  put_soft(b, &block);
  world w = finish_world(b);
  double stiffness;
  if (carom_soft_create(w.model, NULL, &soft, NULL) != CAROM_OK) test_skip("no memory");
  stiffness = soft->skins[0].stiffness;
  carom_soft_destroy(soft);
  free_world(&w);
  return stiffness * (0.1 / cells) / block.young;
}

TEST(contact_gets_no_stiffer_than_the_tetrahedra_behind_it) {
  double coarse = stiffness_over_layer(4);
  CHECK(coarse > 0.5 && coarse < 10);
  for (int cells = 8; cells <= 16; cells *= 2) CHECK_NEAR(stiffness_over_layer(cells) / coarse, 1, 0.02);
}

// ---- friction -------------------------------------------------------------------------------------------------------

static soft_run incline(const soft_method *method, double slope, double mu, double time) {
  carom_builder *b = new_builder();
  soft_block block = resting_block(2, 0.3);
  put_material(b, 0.5, mu);
  put_floor(b);
  put_soft(b, &block);
  carom_builder_set_gravity(b, cm_scale(G / hypot(1, slope), cm_vec3(slope, 0, -1)));
  soft_run r = soft_begin(b, method, 5e-4);
  soft_steps(&r, (int)lround(time / 5e-4));
  return r;
}

TEST(it_holds_on_an_incline) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    soft_run r = incline(&soft_methods[k], 0.3, 0.5, 3);
    carom_vec3 from = soft_center(&r, 0);
    soft_steps(&r, 1000);
    CHECK_AT_MOST(cm_norm(cm_sub(soft_center(&r, 0), from)) / 0.5, 1e-5);
    soft_end(&r);
  }
}

TEST(it_slides_down_a_steep_one) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    soft_run r = incline(&soft_methods[k], 0.5, 0.2, 0.5);
    double from = soft_velocity(&r, 0).x;
    soft_steps(&r, 1000);
    double a = (soft_velocity(&r, 0).x - from) / 0.5, expected = G / hypot(1, 0.5) * (0.5 - 0.2);
    CHECK_NEAR(a / expected, 1, 2e-3);
    soft_end(&r);
  }
}

// ---- no snagging ----------------------------------------------------------------------------------------------------

static soft_run slide_over(const soft_method *method) {
  carom_builder *b = new_builder();
  soft_block slab = soft_cube(0.1, 1), block = soft_cube(0.05, 2);
  put_material(b, 1, 0);
  slab.size = cm_vec3(0.6, 0.1, 0.03);
  slab.cells[0] = 31, slab.cells[1] = 5, slab.cells[2] = 2;
  slab.at.z = -0.015, slab.young = block.young = 2e5;
  pin_soft(b, put_soft(b, &slab), &slab, CAROM_WORLD, at_the_bottom);
  block.at = cm_vec3(-0.25, 0.003, 0.025), block.velocity.x = 1;
  put_soft(b, &block);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  return soft_begin(b, method, 5e-4);
}

// A block of 2 x 2 cells over 23 sides of another mesh: neither holds nor kicks it.
TEST(blocks_slide_over_each_others_edges_long) {
  for (int k = 1; k < SOFT_METHODS; k++) {
    soft_run r = slide_over(&soft_methods[k]);
    double worst = 0;
    for (int i = 0; i < 900 && soft_steps(&r, 1); i++) worst = fmax(worst, fabs(soft_velocity(&r, 1).x - 1));
    CHECK_AT_MOST(worst, 4e-3);  // as measured
    CHECK(soft_center(&r, 1).x - -0.25 > 22 * 0.6 / 31 && r.events > 800);
    soft_end(&r);
  }
}
