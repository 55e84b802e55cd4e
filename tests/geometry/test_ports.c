// Docking ports with random measures: volumes in closed form, convex pieces that do not overlap, mirror symmetry to the
// last bit, noses that touch their mounts where they should; and what is refused.
#include "carom/collide.h"
#include "carom/port.h"
#include "test_geometry.h"

static const double PI = 3.14159265358979323846;

static double volume_of(const carom_port *port) {
  double volume = 0;
  for (int i = 0; i < port->count; i++) {
    carom_mass mass = {0};
    carom_error error;
    CHECK(carom_shape_mass(port->shapes[i], 1, &mass, &error) == CAROM_OK);
    volume += mass.mass;
  }
  return volume;
}

// Area of a regular polygon over the square of its inner radius.
static double polygon(int sides) { return sides * tan(PI / sides); }

// Of the radius and of its square over the length of a cone, as means.
static double mean(double a, double b) { return (a + b) / 2; }
static double mean_square(double a, double b) { return (a * a + a * b + b * b) / 3; }

// ---- judges -----------------------------------------------------------------------------------------

static void check_convex(const carom_port *port) {
  for (int i = 0; i < port->count; i++) {
    const carom_polytope *p = carom_shape_polytope(port->shapes[i]);
    if (p) CHECK_POLYTOPE(p, 1e-12 * extent_of(p));
  }
}

static carom_placed placed(const carom_port *port, int i) {
  return (carom_placed){port->shapes[i], cm_pose(port->places[i], cm_qidentity())};
}

static double gap_of(carom_placed a, carom_placed b) {
  carom_distance_result result;
  CHECK(carom_distance(&a, &b, NULL, &result) == CAROM_OK);
  return result.distance;
}

static void check_apart(const carom_port *a, const carom_port *b, double size) {
  for (int i = 0; i < a->count; i++)
    for (int k = a == b ? i + 1 : 0; k < b->count; k++)
      CHECK_AT_MOST(-gap_of(placed(a, i), placed(b, k)), 1e-12 * size);
}

static bool has_corner(const carom_port *port, carom_vec3 r) {
  for (int i = 0; i < port->count; i++) {
    const carom_polytope *p = carom_shape_polytope(port->shapes[i]);
    for (int v = 0; p && v < p->vertex_count; v++) {
      carom_vec3 at = cm_add(port->places[i], p->vertices[v]);
      if (at.x == r.x && at.y == r.y && at.z == r.z) return true;
    }
  }
  return false;
}

// Every corner has its image at y = 0 (if `at_y`) and at z = 0.
static void check_mirrored(const carom_port *port, bool at_y) {
  for (int i = 0; i < port->count; i++) {
    const carom_polytope *p = carom_shape_polytope(port->shapes[i]);
    for (int v = 0; p && v < p->vertex_count; v++) {
      carom_vec3 r = cm_add(port->places[i], p->vertices[v]);
      CHECK(!at_y || has_corner(port, cm_vec3(r.x, -r.y, r.z)));
      CHECK(has_corner(port, cm_vec3(r.x, r.y, -r.z)));
    }
  }
}

// ---- random ports -----------------------------------------------------------------------------------

static double between(carom_random *r, double low, double high) { return carom_random_between(r, low, high); }

static carom_cup_def random_cup(carom_random *r, bool planar) {
  carom_cup_def def = carom_cup_default();
  def.depth = between(r, 0.005, 0.05);
  def.mouth = between(r, 0.002, 0.03);
  def.base = between(r, -1, 1) < -0.5 ? -1 : between(r, 0, 0.03);
  def.wall = between(r, 0.0005, 0.01);
  def.floor = between(r, -1, 1) < 0 ? 0 : between(r, 0.001, 0.005);
  def.sides = 3 + (int)between(r, 0, 20);
  def.height = planar ? between(r, 0.005, 0.02) : 0;
  return def;
}

static carom_cone_def random_cone(carom_random *r, bool planar) {
  carom_cone_def def = carom_cone_default();
  def.half_angle = between(r, 0.05, 1.4);
  def.length = between(r, 0.005, 0.05);
  def.tip = between(r, -1, 1) < -0.5 ? 0 : between(r, 0.001, 0.01);
  def.stem = between(r, -1, 1) < 0 ? 0 : between(r, 0.001, 0.02);
  def.nose = between(r, -1, 1) < 0 ? 0 : between(r, 0.001, 0.005);
  def.spread = planar ? 0 : between(r, 1.2, 3) * def.nose;
  def.balls = between(r, -1, 1) < 0 ? 2 : 3;
  def.sides = 3 + (int)between(r, 0, 20);
  def.height = planar ? between(r, 0.005, 0.02) : 0;
  return def;
}

static carom_mount_def random_mount(carom_random *r, bool planar) {
  carom_mount_def def = carom_mount_default();
  def.nose = between(r, 0.001, 0.005);
  def.angle = between(r, 0.3, 1.2);
  def.seat = between(r, 1, fmin(1 / sin(def.angle), 2)) * def.nose;
  def.width = between(r, 0.1, 2) * def.nose;
  def.height = planar ? between(r, 0.005, 0.02) : 0;
  if (planar) return def;
  def.length = between(r, 0.5, 4) * def.nose;
  def.stop = between(r, -1, 1) < 0 ? 0 : between(r, 0.1, 1) * def.nose;
  double outer = def.nose / cos(def.angle) + def.width;
  def.spread = between(r, 1.01, 2) * (outer / sqrt(3) + def.length / 2 + def.stop);
  return def;
}

// ---- volumes ----------------------------------------------------------------------------------------

static double cup_volume(const carom_cup_def *d) {
  double base = d->base < 0 ? d->mouth : d->base, outer = fmax(base, d->mouth) + d->wall;
  if (d->height > 0) return 2 * d->height * (d->depth * (outer - mean(base, d->mouth)) + d->floor * outer);
  double walls = d->depth * (outer * outer - mean_square(base, d->mouth));
  return polygon(d->sides) * (walls + d->floor * outer * outer);
}

static double nose_volume(const carom_cone_def *d) {
  return (d->height > 0 ? 1 : d->balls) * 4 * PI / 3 * d->nose * d->nose * d->nose;
}

static double cone_volume(const carom_cone_def *d) {
  double base = d->tip + d->length * tan(d->half_angle), nose = d->nose > 0 ? nose_volume(d) : 0;
  if (d->height > 0) return 2 * d->height * (d->stem * base + d->length * mean(base, d->tip)) + nose;
  return polygon(d->sides) * (d->stem * base * base + d->length * mean_square(base, d->tip)) + nose;
}

static double mount_volume(const carom_mount_def *d) {
  double top = d->nose / cos(d->angle), floor = top - d->seat * tan(d->angle), outer = top + d->width;
  double flank = d->seat * (outer - mean(top, floor));
  return d->height > 0 ? 2 * flank * d->height : 6 * (flank * d->length + d->seat * d->stop * 2 * outer);
}

// ---- cases ------------------------------------------------------------------------------------------

typedef struct judged {
  double volume, size;
  bool even;
} judged;

static void judge(const carom_port *port, judged j) {
  CHECK_NEAR(volume_of(port), j.volume, 1e-10 * j.volume);
  check_convex(port);
  check_apart(port, port, j.size);
  check_mirrored(port, j.even);
}

TEST(cups_are_what_they_say) {
  carom_random r = carom_random_make(7, 1);
  for (int i = 0; i < 200; i++) {
    carom_cup_def def = random_cup(&r, i % 2);
    carom_port port;
    carom_error error;
    REQUIRE(carom_port_init_cup(&def, NULL, &port, &error) == CAROM_OK);
    CHECK(port.count == (i % 2 ? 2 : def.sides) + (def.floor > 0));
    judge(&port, (judged){cup_volume(&def), def.depth + def.mouth, i % 2 || def.sides % 2 == 0});
    carom_port_release(&port);
    CHECK(port.count == 0);
  }
}

TEST(cones_are_what_they_say) {
  carom_random r = carom_random_make(7, 2);
  for (int i = 0; i < 200; i++) {
    carom_cone_def def = random_cone(&r, i % 2);
    carom_port port;
    carom_error error;
    REQUIRE(carom_port_init_cone(&def, NULL, &port, &error) == CAROM_OK);
    CHECK(port.count == 1 + (def.stem > 0) + (def.nose > 0 ? i % 2 ? 1 : def.balls : 0));
    judge(&port, (judged){cone_volume(&def), def.length + def.stem, i % 2 || def.sides % 2 == 0});
    carom_port_release(&port);
  }
}

TEST(mounts_are_what_they_say) {
  carom_random r = carom_random_make(7, 3);
  for (int i = 0; i < 200; i++) {
    carom_mount_def def = random_mount(&r, i % 2);
    carom_port port;
    carom_error error;
    REQUIRE(carom_port_init_mount(&def, NULL, &port, &error) == CAROM_OK);
    CHECK(port.count == (i % 2 ? 2 : def.stop > 0 ? 12 : 6));
    judge(&port, (judged){mount_volume(&def), def.nose, i % 2});
    carom_port_release(&port);
  }
}

// Ball k of a nose that faces its mount at carom_mount_distance, turned about y, touches the two flanks of its groove.
static void check_seated(const carom_port *female, carom_placed ball, int pieces, int groove) {
  for (int k = 0; k < female->count; k++) {
    bool own = k / pieces == groove, flank = k % pieces < 2;
    double gap = gap_of(ball, placed(female, k));
    if (own && flank) CHECK_NEAR(gap, 0, 1e-12);
    if (!own) CHECK(gap > 0);
  }
}

TEST(a_nose_touches_every_flank) {
  carom_random r = carom_random_make(7, 4);
  for (int i = 0; i < 100; i++) {
    bool planar = i % 2;
    carom_mount_def mount = random_mount(&r, planar);
    carom_cone_def cone = random_cone(&r, planar);
    cone.nose = mount.nose;
    cone.spread = mount.spread;
    carom_port female, male;
    carom_error error;
    REQUIRE(carom_port_init_mount(&mount, NULL, &female, &error) == CAROM_OK);
    REQUIRE(carom_port_init_cone(&cone, NULL, &male, &error) == CAROM_OK);
    double distance = carom_mount_distance(&mount, &cone);
    CHECK_NEAR(carom_cone_reach(&cone), distance - (mount.seat - mount.nose), 1e-15);
    carom_pose facing = cm_pose(cm_vec3(distance, 0, 0), cm_quat(0, 0, 1, 0));
    for (int k = 0; k < (planar ? 1 : cone.balls); k++) {
      carom_placed ball = placed(&male, male.count - 1 - k);
      ball.pose = cm_compose(facing, ball.pose);
      check_seated(&female, ball, planar ? 2 : female.count / 3, planar ? 0 : k == 2 ? 0 : k + 1);
    }
    carom_port_release(&female);
    carom_port_release(&male);
  }
}

// ---- refused ----------------------------------------------------------------------------------------

typedef struct refusal {
  carom_cup_def cup;
  const char *message;
} refusal;

TEST(cups_that_cannot_be_are_refused) {
  const refusal cases[] = {
      {{.depth = 0, .mouth = 1, .wall = 1, .sides = 8}, "the depth of the cup is 0"},
      {{.depth = 1, .mouth = -1, .wall = 1, .sides = 8}, "the mouth of the cup is -1"},
      {{.depth = 1, .mouth = 1, .wall = 0, .sides = 8}, "the wall of the cup is 0"},
      {{.depth = 1, .mouth = 1, .base = NAN, .wall = 1, .sides = 8}, "the base of the cup is nan"},
      {{.depth = 1, .mouth = 1, .wall = 1, .floor = INFINITY, .sides = 8}, "the floor of the cup is inf"},
      {{.depth = 1, .mouth = 1, .wall = 1, .sides = 2}, "the cup has 2 sides; expected 3 to 64"},
      {{.depth = 1, .mouth = 1, .wall = 1, .sides = 65}, "the cup has 65 sides"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    carom_port port;
    carom_error error = {0};
    CHECK(carom_port_init_cup(&cases[i].cup, NULL, &port, &error) < 0);
    CHECK_CONTAINS(error.message, cases[i].message);
    CHECK(port.count == 0);
  }
}

TEST(cones_that_cannot_be_are_refused) {
  const double angles[] = {0, -0.1, 1.5707963267948966, 2, NAN};
  for (int i = 0; i < 5; i++) {
    carom_cone_def def = carom_cone_default();
    def.half_angle = angles[i];
    def.length = def.tip = 0.01;
    carom_port port;
    carom_error error = {0};
    CHECK(carom_port_init_cone(&def, NULL, &port, &error) == CAROM_ERR_ARGUMENT);
    CHECK_CONTAINS(error.message, "expected more than 0 and less than 90");
  }
  carom_cone_def def = carom_cone_default();
  def.half_angle = 0.5, def.length = def.tip = def.nose = 0.01;
  carom_port port;
  carom_error error = {0};
  CHECK(carom_port_init_cone(&def, NULL, &port, &error) < 0);
  CHECK_CONTAINS(error.message, "the spread of the nose is 0");
}

TEST(mounts_whose_pieces_would_meet_are_refused) {
  carom_mount_def low = carom_mount_default(), high = low, near = low;
  low.nose = high.nose = near.nose = 0.002;
  low.spread = high.spread = 0.02;
  low.seat = 0.001;
  high.seat = 0.003;
  near.spread = 0.002;
  const carom_mount_def *defs[] = {&low, &high, &near};
  const char *messages[] = {"would touch the floor", "would meet above the floor", "would meet at the axis"};
  for (int i = 0; i < 3; i++) {
    carom_port port;
    carom_error error = {0};
    CHECK(carom_port_init_mount(defs[i], NULL, &port, &error) == CAROM_ERR_ARGUMENT);
    CHECK_CONTAINS(error.message, messages[i]);
  }
}

TEST(without_memory_nothing_is_left) {
  carom_cone_def def = carom_cone_default();
  def.half_angle = 0.5, def.length = def.tip = def.stem = def.nose = 0.01, def.spread = 0.02;
  for (int allowed = 0; allowed < 200; allowed++) {
    failing heap = {0, allowed, 0};
    carom_allocator a = failing_allocator(&heap);
    carom_port port;
    carom_error error;
    carom_status status = carom_port_init_cone(&def, &a, &port, &error);
    carom_port_release(&port);
    CHECK(heap.live == 0);
    if (status == CAROM_OK) return;
    CHECK(status == CAROM_ERR_MEMORY);
  }
  CHECK(false);
}
