// Time of impact: closed forms; random motions against dense sampling of the gap with bisection; what must not matter.
#include "carom/collide.h"
#include "pair_file.h"
#include "shapes.h"
#include "test.h"
#include "test_geometry.h"

static const double pi = 3.14159265358979323846;

#ifdef NDEBUG
enum { MOTIONS = 14000 };  // a case; 100 000 in all
#else
enum { MOTIONS = 1500 };
#endif

// ---- helpers -------------------------------------------------------------------------------------------------------

static carom_motion moving(const carom_shape *shape, carom_vec3 from, carom_vec3 to) {
  return (carom_motion){shape, cm_pose(from, cm_qidentity()), cm_pose(to, cm_qidentity())};
}

static carom_motion resting(const carom_shape *shape) { return moving(shape, cm_zero3(), cm_zero3()); }

static carom_impact_time impact_of(carom_motion a, carom_motion b) {
  carom_impact_time r = {0};
  carom_status status = carom_time_of_impact(&a, &b, 0, NULL, &r);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "status %d", (int)status);
  return r;
}

static carom_pose random_place(carom_random *r, double distance) {
  carom_vec3 p = cm_scale(distance, random_direction(r));
  return cm_pose(p, random_rotation(r));
}

// ---- the judge of gaps ---------------------------------------------------------------------------------------------

// Least n . x over the shape, from all its vertices.
static double lowest(const carom_shape *shape, carom_pose X, carom_vec3 n) {
  double least = cm_dot(n, X.p);
  const carom_polytope *p = carom_shape_polytope(shape);
  if (p) least = INFINITY;
  for (int i = 0; p && i < p->vertex_count; i++) least = fmin(least, cm_dot(n, cm_transform(X, p->vertices[i])));
  double axis = fabs(cm_dot(n, cm_rotate(X.q, cm_vec3(0, 0, 1))));
  return least - carom_shape_radius(shape) - carom_shape_half_length(shape) * axis;
}

// The distance of the cores (vertices, ends of the segment, centre) by Wolfe's method, less the radii: exact as long as
// the cores are apart.
static double round_gap(const carom_placed *x, const carom_placed *y) {
  const carom_placed *placed[2] = {x, y};
  carom_vec3 ends[2][2];
  carom_polytope cores[2];
  for (int i = 0; i < 2; i++) {
    const carom_polytope *p = carom_shape_polytope(placed[i]->shape);
    double h = carom_shape_half_length(placed[i]->shape);
    ends[i][0] = cm_vec3(0, 0, h), ends[i][1] = cm_vec3(0, 0, -h);
    cores[i] = p ? *p : (carom_polytope){.vertex_count = h > 0 ? 2 : 1, .vertices = ends[i]};
  }
  pair_reference reference;
  double radii = carom_shape_radius(x->shape) + carom_shape_radius(y->shape);
  bool apart = pair_reference_gap(&cores[0], x->pose, &cores[1], y->pose, &reference);
  return (apart ? reference.distance : 0) - radii;
}

// For polytopes and half-spaces the separation along the normal of the linear program, vertex by vertex.
static double gap_at(const carom_motion *a, const carom_motion *b, double t, carom_ssh_cache *cache) {
  carom_placed x = {a->shape, carom_motion_at(a, t)}, y = {b->shape, carom_motion_at(b, t)};
  bool ground = carom_shape_get_kind(y.shape) == CAROM_SHAPE_HALFSPACE;
  if (!ground && (carom_shape_radius(x.shape) > 0 || carom_shape_radius(y.shape) > 0)) return round_gap(&x, &y);
  carom_ssh_result r;
  if (carom_ssh(&x, &y, NULL, cache, &r) != CAROM_OK) test_fail(__FILE__, __LINE__, "no gap");
  double low = ground ? -cm_dot(r.normal, y.pose.p) : lowest(y.shape, y.pose, cm_neg(r.normal));
  return lowest(x.shape, x.pose, r.normal) + low;
}

static double size_of(carom_motion a, carom_motion b) {
  double ra = carom_shape_bounding_radius(a.shape), rb = carom_shape_bounding_radius(b.shape);
  return (isfinite(ra) ? ra : 0) + (isfinite(rb) ? rb : 0);
}

static void release2(const carom_shape *a, const carom_shape *b) {
  carom_shape_release(a);
  carom_shape_release(b);
}

// ---- closed forms --------------------------------------------------------------------------------------------------

// Centres at distance |p + t v|, meeting when that is r1 + r2: the smaller root of a quadratic.
TEST(ball_meets_ball) {
  const carom_shape *a = sphere_shape(0.3), *b = sphere_shape(0.5);
  carom_random random = carom_random_make(11, 1);
  int found = 0;
  for (int i = 0; i < 300; i++) {
    carom_vec3 p = cm_scale(3, random_direction(&random));
    double distance = carom_random_between(&random, 0, 2);
    carom_vec3 to = cm_scale(distance, random_direction(&random));
    carom_vec3 v = cm_sub(to, p);
    carom_motion ma = moving(a, p, to), mb = resting(b);
    ma.to.q = random_rotation(&random);  // turning does not matter
    double A = cm_norm2(v), B = cm_dot(p, v), C = cm_norm2(p) - 0.64, D = B * B - A * C;
    double expected = D < 0 ? 2 : C / (-B + sqrt(D));
    carom_impact_time r = impact_of(ma, mb);
    CHECK((r.outcome == CAROM_IMPACT_FOUND) == (D >= 0 && expected <= 1));
    if (r.outcome != CAROM_IMPACT_FOUND) continue;
    found++;
    CHECK_AT_MOST(r.time, expected + 1e-15);
    CHECK_NEAR(r.time, expected, 1e-12 * fmax(1, sqrt(A / fmax(D, 1e-6))));  // speed along the normal is sqrt(D)/0.8
    CHECK_NEAR(cm_norm(cm_sub(r.normal, cm_unit(cm_axpy(p, r.time, v)))), 0, 1e-6);
  }
  CHECK(found > 100);
  release2(a, b);
}

TEST(box_falls_on_a_half_space) {
  const carom_shape *a = box_shape(1, 2, 3), *b = floor_shape();
  carom_impact_time r = impact_of(moving(a, cm_vec3(7, 5, 4), cm_vec3(7, 5, -1)), resting(b));
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK_NEAR(r.time, 0.5, 1e-12);
  CHECK_NEAR(r.normal.z, 1, 1e-15);
  CHECK(r.gap >= 0 && r.gap <= 1e-11);
  r = impact_of(resting(b), moving(a, cm_vec3(7, 5, 4), cm_vec3(7, 5, -1)));
  CHECK_NEAR(r.time, 0.5, 1e-12);
  CHECK_NEAR(r.normal.z, -1, 1e-15);
  r = impact_of(moving(a, cm_vec3(7, 5, 4), cm_vec3(7, 5, 1.6)), resting(b));
  CHECK(r.outcome == CAROM_IMPACT_NONE && r.time == 1);
  release2(a, b);
}

// The ground itself tips about y: a point at (L, 0, h) is met when the plane has turned by atan(h/L).
TEST(half_space_turns_into_a_ball) {
  const carom_shape *a = sphere_shape(0.1), *b = floor_shape();
  carom_motion ground = resting(b);
  ground.to.q = cm_axis_angle(cm_vec3(0, 1, 0), -1.0);
  carom_impact_time r = impact_of(moving(a, cm_vec3(2, 0, 1), cm_vec3(2, 0, 1)), ground);
  CHECK(r.outcome == CAROM_IMPACT_FOUND);  // h cos(s) - L sin(s) = r
  CHECK_NEAR(r.time, atan2(1, 2) - asin(0.1 / sqrt(5)), 1e-12);
  release2(a, b);
}

TEST(cube_meets_cube) {
  const carom_shape *a = box_shape(1, 1, 1), *b = box_shape(1, 1, 1);
  carom_impact_time r = impact_of(moving(a, cm_vec3(3, 0.2, -0.3), cm_vec3(-1, 0.2, -0.3)), resting(b));
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK_NEAR(r.time, 0.5, 1e-12);
  CHECK_NEAR(r.normal.x, 1, 1e-12);
  r = impact_of(moving(a, cm_vec3(3, 1.5, 0), cm_vec3(-1, 0.5, 0)), resting(b));  // y closes at t = 0.5 too: a corner
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK_NEAR(r.time, 0.5, 1e-12);
  r = impact_of(moving(a, cm_vec3(3, 1.001, 0), cm_vec3(-3, 1.001, 0)), resting(b));  // just passing
  CHECK(r.outcome == CAROM_IMPACT_NONE);
  CHECK_NEAR(r.time, 1, 0);
  CHECK_NEAR(r.normal.x, -1, 1e-12);  // it has passed: the faces across x part it now, not those that it slid along
  CHECK_NEAR(r.gap, 2, 1e-12);
  r = impact_of(moving(a, cm_vec3(1 + 1e-9, 0, 0), cm_vec3(1 + 1e-9, 5, 0)), resting(b));  // sliding along
  CHECK(r.outcome == CAROM_IMPACT_NONE);
  release2(a, b);
}

// A corner of a cube turned by 45 degrees about z meets a face; two edges at right angles meet.
TEST(corner_and_edges_meet) {
  const carom_shape *a = box_shape(1, 1, 1), *b = box_shape(1, 1, 1);
  carom_motion ma = moving(a, cm_vec3(3, 0, 0), cm_vec3(1, 0, 0));
  ma.from.q = ma.to.q = cm_axis_angle(cm_vec3(0, 0, 1), pi / 4);
  carom_impact_time r = impact_of(ma, resting(b));
  CHECK_NEAR(r.time, (3 - 0.5 - sqrt(0.5)) / 2, 1e-12);
  carom_motion mb = resting(b);
  mb.from.q = mb.to.q = cm_axis_angle(cm_vec3(0, 1, 0), pi / 4);  // edges along y against those along z
  r = impact_of(ma, mb);
  CHECK_NEAR(r.time, (3 - 2 * sqrt(0.5)) / 2, 1e-12);
  release2(a, b);
}

// A rod of length 2 L turning about its centre at height h over the plane: the end touches at asin(h/L), its lower
// corner earlier: (L sin s + w/2 cos s = h).
TEST(rod_turns_onto_a_plane) {
  double L = 1, w = 0.02, h = 0.4;
  const carom_shape *a = box_shape(2 * L, w, w), *b = floor_shape();
  carom_motion rod = moving(a, cm_vec3(0, 0, h), cm_vec3(0, 0, h));
  rod.to.q = cm_axis_angle(cm_vec3(0, 1, 0), pi / 2);
  double expected = (asin(h / hypot(L, w / 2)) - atan2(w / 2, L)) / (pi / 2);
  carom_impact_time r = impact_of(rod, resting(b));
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK_NEAR(r.time, expected, 1e-12);
  CHECK_AT_MOST(r.queries, 6);
  const carom_shape *slab = box_shape(50, 50, 1);
  r = impact_of(rod, moving(slab, cm_vec3(0.1, 0.2, -0.5), cm_vec3(0.1, 0.2, -0.5)));
  CHECK_NEAR(r.time, expected, 3e-11);  // the slab's size sets the tolerance
  rod.from.p.z = rod.to.p.z = 1.001;
  CHECK(impact_of(rod, resting(b)).outcome == CAROM_IMPACT_NONE);
  release2(a, b);
  carom_shape_release(slab);
}

// Two crossed rods, one turning about the vertical: distance of the sides from the other's edge, in the plane.
TEST(capsule_turns_onto_a_ball) {
  const carom_shape *a = capsule_shape(0.1, 4), *b = sphere_shape(0.2);
  carom_motion rod = resting(a);  // the axis z is turned to x, then by t pi/2 about z
  carom_quat lying = cm_axis_angle(cm_vec3(0, 1, 0), pi / 2);
  rod.from.q = lying;
  rod.to.q = cm_qmul(cm_axis_angle(cm_vec3(0, 0, 1), pi / 2), lying);
  carom_impact_time r = impact_of(rod, moving(b, cm_vec3(0.6, 0.8, 0), cm_vec3(0.6, 0.8, 0)));
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK_NEAR(r.time, (atan2(0.8, 0.6) - asin(0.3)) / (pi / 2), 1e-12);
  release2(a, b);
}

// An ellipsoid reaches sqrt(sum (axis_i n_i)^2) below its centre, a cylinder r sin + h/2 |cos|; while they turn about y
// at height z over the plane, bisection tells when that is z.
static double reach_below(const carom_shape *shape, carom_vec3 axes, double angle) {
  double c = cos(angle), s = sin(angle);
  return carom_shape_get_kind(shape) == CAROM_SHAPE_ELLIPSOID ? hypot(axes.z * c, axes.x * s)
                                                              : axes.x * fabs(s) + axes.z * fabs(c);
}

TEST(curved_bodies_turn_onto_a_plane) {
  carom_vec3 axes = cm_vec3(1, 0.5, 0.3);
  const carom_shape *shapes[2] = {NULL, NULL}, *plane = floor_shape();
  REQUIRE(carom_shape_create_ellipsoid(axes, NULL, &shapes[0], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cylinder(axes.x, 2 * axes.z, NULL, &shapes[1], NULL) == CAROM_OK);
  for (int i = 0; i < 2; i++) {
    double z = 0.6, low = 0, high = 0.5;  // rad
    carom_motion m = moving(shapes[i], cm_vec3(0, 0, z), cm_vec3(0, 0, z));
    m.to.q = cm_axis_angle(cm_vec3(0, 1, 0), 1);
    if (i == 0) high = 1;
    for (int k = 0; k < 60; k++) {
      double middle = (low + high) / 2;
      if (reach_below(shapes[i], axes, middle) < z)
        low = middle;
      else
        high = middle;
    }
    carom_impact_time r = impact_of(m, resting(plane));
    CHECK(r.outcome == CAROM_IMPACT_FOUND);
    CHECK_NEAR(r.time, low, 4e-12);
  }
  release2(shapes[0], shapes[1]);
  carom_shape_release(plane);
}

// An ellipsoid with equal axes is a ball, whatever way it turns.
TEST(round_ellipsoid_is_a_ball) {
  carom_random random = carom_random_make(3, 14);
  const carom_shape *round = NULL, *sphere = sphere_shape(0.4);
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(0.4, 0.4, 0.4), NULL, &round, NULL) == CAROM_OK);
  for (int i = 0; i < 100; i++) {
    const carom_shape *b = box_shape(0.5 + carom_random_uniform(&random), 1, 0.2);
    carom_vec3 p = cm_scale(3, random_direction(&random));
    carom_motion ma = moving(round, p, cm_scale(-0.3, p)), mb = resting(b);
    ma.to.q = random_rotation(&random), mb.to.q = random_rotation(&random);
    carom_impact_time r = impact_of(ma, mb);
    ma.shape = sphere;
    carom_impact_time expected = impact_of(ma, mb);
    CHECK(r.outcome == expected.outcome);
    CHECK_NEAR(r.time, expected.time, 1e-9);  // the program's normals are good to half the digits
    carom_shape_release(b);
  }
  release2(round, sphere);
}

// Two octahedra tip to tip: far from every facet's plane, and only the true distance tells when they come close.
TEST(tips_come_within_a_tolerance) {
  const carom_shape *a = NULL;
  REQUIRE(carom_shape_create_octahedron(sqrt(2), NULL, &a, NULL) == CAROM_OK);  // tips at distance 1
  carom_motion ma = moving(a, cm_vec3(4, 0.03, 0.01), cm_vec3(0, 0.03, 0.01)), mb = resting(a);
  carom_impact_time r;
  REQUIRE(carom_time_of_impact(&ma, &mb, 0.1, NULL, &r) == CAROM_OK);
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  double distance = cm_norm(cm_vec3(4 - 4 * r.time - 2, 0.03, 0.01));
  CHECK(distance <= 0.1 && distance > 0.04);
  CHECK(r.gap <= distance + 1e-12 && r.gap > 0);
  carom_shape_release(a);
}

// ---- special starts and bad numbers --------------------------------------------------------------------------------

TEST(no_motion_and_overlap_at_the_start) {
  const carom_shape *a = box_shape(1, 1, 1), *b = box_shape(1, 1, 1);
  carom_impact_time r = impact_of(moving(a, cm_vec3(2, 0, 0), cm_vec3(2, 0, 0)), resting(b));
  CHECK(r.outcome == CAROM_IMPACT_NONE && r.time == 1);
  CHECK_NEAR(r.gap, 1, 1e-14);
  r = impact_of(moving(a, cm_vec3(0.75, 0, 0), cm_vec3(9, 0, 0)), resting(b));
  CHECK(r.outcome == CAROM_IMPACT_AT_START && r.time == 0);
  CHECK_NEAR(r.gap, -0.25, 1e-14);
  r = impact_of(moving(a, cm_vec3(1, 0, 0), cm_vec3(9, 0, 0)), resting(b));
  CHECK(r.outcome == CAROM_IMPACT_AT_START);
  CHECK_NEAR(r.gap, 0, 1e-14);
  release2(a, b);
}

TEST(tolerance_stops_earlier) {
  const carom_shape *a = box_shape(1, 1, 1), *b = sphere_shape(0.5);
  carom_motion ma = moving(a, cm_vec3(5, 0, 0), cm_vec3(0, 0, 0)), mb = resting(b);
  carom_impact_time r;
  REQUIRE(carom_time_of_impact(&ma, &mb, 0.1, NULL, &r) == CAROM_OK);
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK(r.gap > 0 && r.gap <= 0.1);
  CHECK_NEAR(5 - 5 * r.time - 1, r.gap, 1e-12);
  release2(a, b);
}

TEST(bad_numbers_are_refused) {
  const carom_shape *a = box_shape(1, 1, 1), *b = floor_shape();
  carom_motion ma = moving(a, cm_vec3(0, 0, 5), cm_vec3(0, 0, -5)), mb = resting(b);
  carom_impact_time r;
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    carom_motion m = ma;
    m.to.p.y = bad[i];
    CHECK(carom_time_of_impact(&m, &mb, 0, NULL, &r) == CAROM_ERR_NUMBER);
    m = ma, m.from.q.w = bad[i];
    CHECK(carom_time_of_impact(&mb, &m, 0, NULL, &r) == CAROM_ERR_NUMBER);
    CHECK(carom_time_of_impact(&ma, &mb, bad[i], NULL, &r) == CAROM_ERR_NUMBER);
  }
  CHECK(carom_time_of_impact(&mb, &mb, 0, NULL, &r) == CAROM_ERR_GEOMETRY);
  release2(a, b);
}

TEST(motion_turns_at_a_constant_rate) {
  carom_random random = carom_random_make(5, 5);
  for (int i = 0; i < 200; i++) {
    carom_motion m = {NULL, random_place(&random, 1), cm_pose_identity()};
    m.to = random_place(&random, 2);
    double t = carom_random_uniform(&random), h = 1e-3;
    carom_pose x = carom_motion_at(&m, t), y = carom_motion_at(&m, t + h);
    CHECK_NEAR(cm_norm(cm_sub(x.p, cm_lerp(m.from.p, m.to.p, t))), 0, 1e-15);
    carom_vec3 whole = cm_log(cm_qmul(m.to.q, cm_qconj(m.from.q)));
    carom_vec3 piece = cm_log(cm_qmul(y.q, cm_qconj(x.q)));
    if (t + h <= 1) CHECK_NEAR(cm_norm(cm_sub(cm_scale(1 / h, piece), whole)), 0, 1e-11);
    CHECK_AT_MOST(cm_norm(whole), pi + 1e-12);
  }
}

// ---- random motions against sampling -------------------------------------------------------------------------------

typedef struct tally {
  int found, none, at_start, early, queries, worst;
} tally;

// The first sample at which the bodies overlap, refined by bisection; 2 when there is none.
static double sampled_impact(const carom_motion *a, const carom_motion *b, int samples) {
  carom_ssh_cache cache = {0};
  double low = 0;
  for (int i = 1; i <= samples; i++) {
    double high = (double)i / samples;
    if (gap_at(a, b, high, &cache) > 0) {
      low = high;
      continue;
    }
    for (int k = 0; k < 60 && high - low > 1e-16; k++) {
      double middle = low + (high - low) / 2;
      if (gap_at(a, b, middle, &cache) > 0)
        low = middle;
      else
        high = middle;
    }
    return high;
  }
  return 2;
}

// An impact is found no later than sampling finds it; it is earlier only where the bodies do come that close.
static void judge(carom_motion a, carom_motion b, int samples, tally *count) {
  carom_impact_time r = {0};
  carom_status status = carom_time_of_impact(&a, &b, 0, NULL, &r);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "status %d after %d queries", (int)status, r.queries);
  count->queries += r.queries;
  if (r.queries > count->worst) count->worst = r.queries;
  double size = size_of(a, b), travel = cm_norm(cm_sub(cm_sub(a.to.p, a.from.p), cm_sub(b.to.p, b.from.p)));
  if (r.outcome == CAROM_IMPACT_AT_START) {
    count->at_start++;
    CHECK_AT_MOST(gap_at(&a, &b, 0, NULL), 2e-12 * size);
    return;
  }
  double expected = sampled_impact(&a, &b, samples);
  double scale = size + 0.01 * travel;
  if (r.outcome == CAROM_IMPACT_NONE) {
    count->none++;
    if (expected <= 1 && gap_at(&a, &b, expected, NULL) < -1e-12 * scale)
      test_fail(__FILE__, __LINE__, "missed the impact at %.17g", expected);
    return;
  }
  count->found++;
  double gap = gap_at(&a, &b, r.time, NULL);
  CHECK(gap >= -1e-12 * scale);
  CHECK_NEAR(gap, r.gap, 1e-12 * scale);
  CHECK_AT_MOST(gap, 2e-12 * scale);
  CHECK_AT_MOST(r.time, expected + 1e-15);
  double before = gap_at(&a, &b, r.time - 1e-6, NULL), speed = (before - gap) / 1e-6;
  bool transversal = speed > 0.05 * (size + travel);
  if (expected - r.time > 1e-9 && !(expected == 2 && r.time > 1 - 1e-9)) {
    count->early++;  // a touch between two samples: it must go below zero just after, unless it grazes
    if (transversal) CHECK_AT_MOST(gap_at(&a, &b, fmin(1, r.time + 4e-12 * scale / speed), NULL), 1e-13 * scale);
  } else if (transversal && expected <= 1) {
    CHECK_NEAR(r.time, expected, 2e-12 * scale / speed + 1e-15);
  }
}

static carom_motion random_motion(carom_random *r, const carom_shape *shape, double distance, double reach) {
  carom_motion m = {shape, random_place(r, distance), cm_pose_identity()};
  double beside = carom_random_uniform(r);
  carom_vec3 aim = cm_scale(beside, random_direction(r));
  carom_vec3 line = cm_sub(aim, m.from.p);
  m.to.p = cm_axpy(m.from.p, reach / cm_norm(line), line);
  m.to.q = random_rotation(r);
  return m;
}

typedef const carom_shape *(*maker)(carom_random *);

static void run_motions(maker make_a, maker make_b, uint64_t stream, double reach, int motions, int samples) {
  carom_random random = carom_random_make(2026, stream);
  tally count = {0};
  for (int i = 0; i < motions; i++) {
    const carom_shape *a = make_a(&random), *b = make_b(&random);
    carom_motion ma = random_motion(&random, a, 3, reach), mb = random_motion(&random, b, 0.5, 0.5);
    if (carom_shape_get_kind(b) == CAROM_SHAPE_HALFSPACE)  // below the others, tipping a little
      mb.from = cm_pose(cm_vec3(0, 0, -3.5), cm_qidentity()),
      mb.to = cm_pose(cm_vec3(0, 0, -1), cm_exp(random_vec(&random)));
    judge(ma, mb, samples, &count);
    release2(a, b);
    if (test_failures > 5) break;
  }
  printf("%d impacts, %d none, %d at the start, %d between samples; %.2f queries, at most %d\n", count.found,
         count.none, count.at_start, count.early, (double)count.queries / motions, count.worst);
  CHECK(count.found > motions / 10);
  CHECK_AT_MOST(count.worst, 100);
}

static const carom_shape *cloud(carom_random *r) { return random_polytope(r, 4 + (int)carom_random_below(r, 20)); }
static const carom_shape *plate(carom_random *r) { return box_shape(1 + carom_random_uniform(r), 1, 1e-3); }
static const carom_shape *any_box(carom_random *r) {
  double x = carom_random_between(r, 0.1, 1.1), y = carom_random_between(r, 0.1, 1.1);
  return box_shape(x, y, carom_random_between(r, 0.1, 1.1));
}
static const carom_shape *rounded_box(carom_random *r) {
  const carom_shape *sharp = any_box(r), *shape = NULL;
  if (carom_shape_create_rounded(sharp, 0.1, NULL, &shape, NULL)) abort();
  carom_shape_release(sharp);
  return shape;
}
static const carom_shape *any_ball(carom_random *r) { return sphere_shape(0.1 + carom_random_uniform(r)); }
static const carom_shape *any_capsule(carom_random *r) { return capsule_shape(0.1 + 0.2 * carom_random_uniform(r), 1); }
static const carom_shape *ground(carom_random *r) { return (void)r, floor_shape(); }

TEST(random_boxes) { run_motions(any_box, any_box, 1, 4, MOTIONS, 60); }
TEST(random_clouds) { run_motions(cloud, cloud, 2, 4, MOTIONS, 60); }
TEST(thin_plates) { run_motions(plate, plate, 3, 4, MOTIONS, 200); }
TEST(clouds_and_plates) { run_motions(cloud, plate, 4, 4, MOTIONS, 100); }
TEST(balls_and_boxes) { run_motions(any_ball, any_box, 5, 4, MOTIONS / 2, 60); }
TEST(capsules_and_clouds) { run_motions(any_capsule, cloud, 6, 4, MOTIONS / 2, 60); }
TEST(capsules_and_balls) { run_motions(any_capsule, any_ball, 7, 4, MOTIONS / 2, 60); }
TEST(capsules_and_capsules) { run_motions(any_capsule, any_capsule, 8, 4, MOTIONS / 2, 60); }
TEST(rounded_boxes) { run_motions(rounded_box, any_box, 12, 4, MOTIONS / 4, 60); }
TEST(clouds_on_tipping_ground) { run_motions(cloud, ground, 9, 4, MOTIONS, 60); }
TEST(fast_boxes) { run_motions(any_box, any_box, 10, 1000, MOTIONS / 5, 3000); }
TEST(fast_plates) { run_motions(plate, plate, 11, 1000, MOTIONS / 10, 10000); }

// ---- what must not matter ------------------------------------------------------------------------------------------

TEST(exchange_and_warm_start_do_not_matter) {
  carom_random random = carom_random_make(77, 1);
  carom_ssh_cache cache = {0};
  for (int i = 0; i < MOTIONS / 5; i++) {
    const carom_shape *a = cloud(&random), *b = any_box(&random);
    carom_motion ma = random_motion(&random, a, 3, 4), mb = random_motion(&random, b, 0.5, 0.5);
    carom_impact_time cold = impact_of(ma, mb), swapped = impact_of(mb, ma), warm = {0};
    carom_time_of_impact(&ma, &mb, 0, &cache, &warm);  // the cache is that of other bodies
    CHECK(cold.outcome == swapped.outcome && cold.outcome == warm.outcome);
    double speed = (gap_at(&ma, &mb, cold.time - 1e-6, NULL) - cold.gap) / 1e-6;
    double slack = cold.outcome == CAROM_IMPACT_FOUND ? 1e-11 / fmax(speed, 1e-3) : 0;
    CHECK_NEAR(swapped.time, cold.time, slack);
    CHECK_NEAR(warm.time, cold.time, slack);
    if (cold.outcome == CAROM_IMPACT_FOUND && speed > 0.1) CHECK_NEAR(swapped.gap, cold.gap, 1e-11);
    release2(a, b);
  }
}

// Far from the origin only the differences of positions count.
TEST(far_from_the_origin) {
  const carom_shape *a = box_shape(1, 1, 1), *b = box_shape(1, 1, 1);
  carom_vec3 far = cm_vec3(1 << 20, -(1 << 19), 1 << 18);
  carom_motion ma = moving(a, cm_add(far, cm_vec3(3, 0.25, 0)), cm_add(far, cm_vec3(-1, 0.25, 0)));
  carom_impact_time r = impact_of(ma, moving(b, far, far));
  CHECK(r.outcome == CAROM_IMPACT_FOUND);
  CHECK_NEAR(r.time, 0.5, 1e-9);
  release2(a, b);
}

// ---- twists --------------------------------------------------------------------------------------------------------

// A bar that ends at the axis it turns about, and a ball beside the axis: the bar's side is at the ball's when
// sin(place - turned) = half the bar's width + the ball's radius.
TEST(a_bar_meets_a_ball_after_more_than_half_a_turn) {
  const carom_vec3 corners[8] = {{0, -0.1, -0.1}, {2, -0.1, -0.1}, {0, 0.1, -0.1}, {2, 0.1, -0.1},
                                 {0, -0.1, 0.1},  {2, -0.1, 0.1},  {0, 0.1, 0.1},  {2, 0.1, 0.1}};
  const carom_shape *bar = NULL, *ball = NULL;
  REQUIRE(carom_shape_create_hull(corners, 8, NULL, &bar, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_sphere(0.2, NULL, &ball, NULL) == CAROM_OK);
  for (double place = 0.6; place < 5.8; place += 0.3)
    for (double turns = 6.3; turns < 40; turns *= 2) {
      carom_vec3 at = cm_vec3(cos(place), sin(place), 0);
      carom_twisting a = {bar, cm_pose_identity(), cm_zero3(), cm_vec3(0, 0, turns)};
      carom_twisting b = {ball, cm_pose(at, cm_qidentity()), cm_zero3(), cm_vec3(1, 20, 3)};
      carom_impact_time r;
      REQUIRE(carom_time_of_impact_by_twists(&a, &b, 0, NULL, &r) == CAROM_OK);
      CHECK(r.outcome == CAROM_IMPACT_FOUND);
      CHECK_NEAR(r.time, (place - asin(0.3)) / turns, 1e-10);
    }
  carom_shape_release(bar), carom_shape_release(ball);
}

// Where two poses can tell the motion, they tell the same.
TEST(twists_of_less_than_half_a_turn_are_motions) {
  carom_random r = carom_random_make(77, 0);
  const carom_shape *box = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(1, 0.7, 0.4), NULL, &box, NULL) == CAROM_OK);
  for (int i = 0; i < 300; i++) {
    carom_twisting x[2];
    carom_motion m[2];
    for (int k = 0; k < 2; k++) {
      x[k] = (carom_twisting){box, random_place(&r, k ? 2 : 0), cm_scale(k ? 3 : 0, random_direction(&r)),
                              cm_scale(carom_random_between(&r, 0, 3), random_direction(&r))};
      m[k] = (carom_motion){box, x[k].from, carom_twisting_at(&x[k], 1)};
      carom_pose by_twist = carom_twisting_at(&x[k], 0.37), by_poses = carom_motion_at(&m[k], 0.37);
      CHECK_AT_MOST(cm_norm(cm_sub(by_twist.p, by_poses.p)), 1e-14);
      CHECK_NEAR(fabs(cm_qdot(by_twist.q, by_poses.q)), 1, 1e-14);
    }
    carom_impact_time by_twists, by_poses;
    REQUIRE(carom_time_of_impact_by_twists(&x[0], &x[1], 0, NULL, &by_twists) == CAROM_OK);
    REQUIRE(carom_time_of_impact(&m[0], &m[1], 0, NULL, &by_poses) == CAROM_OK);
    CHECK(by_twists.outcome == by_poses.outcome);
    CHECK_NEAR(by_twists.time, by_poses.time, 1e-9);
  }
  carom_shape_release(box);
}

TEST(twists_that_are_not_finite_are_refused) {
  const carom_shape *ball = NULL;
  REQUIRE(carom_shape_create_sphere(1, NULL, &ball, NULL) == CAROM_OK);
  carom_twisting a = {ball, cm_pose_identity(), cm_zero3(), cm_vec3(0, NAN, 0)};
  carom_twisting b = {ball, cm_pose(cm_vec3(5, 0, 0), cm_qidentity()), cm_zero3(), cm_zero3()};
  carom_impact_time r;
  CHECK(carom_time_of_impact_by_twists(&a, &b, 0, NULL, &r) == CAROM_ERR_NUMBER);
  CHECK(carom_time_of_impact_by_twists(&b, &a, 0, NULL, &r) == CAROM_ERR_NUMBER);
  carom_shape_release(ball);
}
