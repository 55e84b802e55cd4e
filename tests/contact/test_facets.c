// Two triangles of surfaces: the polygon in which they cover each other, its gaps, weights, shares and rims.
#include "carom/base.h"
#include "contact/facets.h"
#include "test.h"

// ---- triangles ------------------------------------------------------------------------------------------------------

static carom_vec3 anywhere(carom_random *r, double size) {
  double x = carom_random_between(r, -size, size), y = carom_random_between(r, -size, size);
  return cm_vec3(x, y, carom_random_between(r, -size, size));
}

static double area_of(const carom_facet *f) {
  return 0.5 * cm_norm(cm_cross(cm_sub(f->x[1], f->x[0]), cm_sub(f->x[2], f->x[0])));
}

// Facets that face each other: A looks down, B up, both tilted by up to about so much (rad).
typedef struct couple {
  carom_facet a, b;
  carom_vec3 beta;  // for those that are askew
} couple;

static carom_facet flat_facet(carom_random *r, bool up) {
  carom_vec3 x[3];
  for (int i = 0; i < 3; i++) x[i] = anywhere(r, 1), x[i].z = 0;
  bool left = cm_cross(cm_sub(x[1], x[0]), cm_sub(x[2], x[0])).z > 0;
  return left == up ? carom_facet_of(x[0], x[1], x[2]) : carom_facet_of(x[0], x[2], x[1]);
}

static carom_facet moved_facet(const carom_facet *f, carom_pose pose) {
  carom_facet m = *f;
  m.normal = cm_rotate(pose.q, f->normal);
  for (int i = 0; i < 3; i++) m.x[i] = cm_transform(pose, f->x[i]), m.at[i] = cm_rotate(pose.q, f->at[i]);
  return m;
}

static carom_pose random_tilt(carom_random *r, double angle) {
  carom_vec3 turn = anywhere(r, angle);
  return cm_pose(anywhere(r, 0.2), cm_exp(cm_vec3(turn.x, turn.y, 3 * turn.z)));
}

static couple random_couple(carom_random *r, double tilt) {
  carom_facet a = flat_facet(r, false), b = flat_facet(r, true);
  couple c = {moved_facet(&a, random_tilt(r, tilt)), moved_facet(&b, random_tilt(r, tilt)), cm_zero3()};
  for (int i = 0; i < 3; i++) {
    c.a.sharp[i] = 0.3 * carom_random_uniform(r), c.b.sharp[i] = 0.3 * carom_random_uniform(r);
    c.a.at[i] = cm_unit(cm_add(c.a.normal, anywhere(r, 0.3))),
    c.b.at[i] = cm_unit(cm_add(c.b.normal, anywhere(r, 0.3)));
  }
  c.a.shrunk = carom_random_between(r, 0.8, 1.2), c.b.shrunk = carom_random_between(r, 0.8, 1.2);
  c.beta = cm_unit(cm_vec3(0.1, -0.05, 1));
  return c;
}

static couple parallel_couple(carom_random *r) {
  couple c = {flat_facet(r, false), flat_facet(r, true), cm_vec3(0, 0, 1)};
  carom_vec3 down = cm_vec3(0, 0, -0.1);
  for (int i = 0; i < 3; i++) c.a.x[i] = cm_add(c.a.x[i], down);
  return c;
}

static int meet(const couple *c, carom_facet_point *points) {
  return carom_facets_meet(&c->a, &c->b, &c->beta, points);
}

static double sum_of(const carom_facet_point *points, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += points[i].area;
  return sum;
}

// ---- the judge: the area of what two triangles of a plane have in common, strip by strip
// -----------------------------

typedef struct strip {
  double u[3], v[3];
} strip;

// Where the line at v is in the triangle.
static bool span_at(const strip *t, double v, double *low, double *high) {
  *low = INFINITY, *high = -INFINITY;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    if ((t->v[i] - v) * (t->v[j] - v) >= 0) continue;
    double u = t->u[i] + (v - t->v[i]) / (t->v[j] - t->v[i]) * (t->u[j] - t->u[i]);
    *low = fmin(*low, u), *high = fmax(*high, u);
  }
  return *low < *high;
}

static void add_crossing(const strip *a, int i, const strip *b, int j, double *breaks, int *count) {
  int k = (i + 1) % 3, l = (j + 1) % 3;
  double pu = a->u[k] - a->u[i], pv = a->v[k] - a->v[i], qu = b->u[l] - b->u[j], qv = b->v[l] - b->v[j];
  double det = pu * qv - pv * qu;
  if (det == 0) return;
  double t = ((b->u[j] - a->u[i]) * qv - (b->v[j] - a->v[i]) * qu) / det;
  if (t > 0 && t < 1) breaks[(*count)++] = a->v[i] + t * pv;
}

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

// Between two breaks the width is linear in v, and its value in the middle does.
static double common_area(const strip *a, const strip *b) {
  double breaks[15], sum = 0, low[2], high[2];
  int count = 0;
  for (int i = 0; i < 3; i++) breaks[count++] = a->v[i], breaks[count++] = b->v[i];
  for (int i = 0; i < 9; i++) add_crossing(a, i / 3, b, i % 3, breaks, &count);
  qsort(breaks, (size_t)count, sizeof *breaks, ascending);
  for (int i = 0; i + 1 < count; i++) {
    double v = 0.5 * (breaks[i] + breaks[i + 1]);
    if (!span_at(a, v, &low[0], &high[0]) || !span_at(b, v, &low[1], &high[1])) continue;
    sum += (breaks[i + 1] - breaks[i]) * fmax(0, fmin(high[0], high[1]) - fmax(low[0], low[1]));
  }
  return sum;
}

// Seen along beta, with axes of our own.
static double covered(const couple *c, carom_vec3 beta) {
  carom_vec3 side = fabs(beta.x) < 0.7 ? cm_vec3(1, 0, 0) : cm_vec3(0, 1, 0);
  carom_vec3 e = cm_unit(cm_cross(beta, side)), f = cm_cross(beta, e);
  strip a, b;
  for (int i = 0; i < 3; i++) {
    a.u[i] = cm_dot(e, c->a.x[i]), a.v[i] = cm_dot(f, c->a.x[i]);
    b.u[i] = cm_dot(e, c->b.x[i]), b.v[i] = cm_dot(f, c->b.x[i]);
  }
  return common_area(&a, &b);
}

// ---- what every pair must have
// ---------------------------------------------------------------------------------------

static void check_weights(const carom_facet *f, const double weight[3], carom_vec3 point) {
  carom_vec3 x = cm_zero3();
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    sum += weight[k];
    x = cm_axpy(x, weight[k], f->x[k]);
    CHECK(weight[k] > -1e-6 && weight[k] < 1 + 1e-6);
  }
  CHECK_NEAR(sum, 1, 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(x, point)), 1e-12);
}

static int zeros_of(const double weight[3]) {
  int zeros = 0;
  for (int k = 0; k < 3; k++) zeros += fabs(weight[k]) < 1e-6;
  return zeros;
}

// A corner of one triangle, or where a side of each crosses.
static void check_point(const couple *c, const carom_facet_point *p) {
  CHECK_NEAR(cm_norm(p->normal), 1, 1e-14);
  check_weights(&c->a, p->weight_a, p->point_a);
  check_weights(&c->b, p->weight_b, p->point_b);
  CHECK(zeros_of(p->weight_a) + zeros_of(p->weight_b) >= 2);
  double thin = fmin(area_of(&c->a), area_of(&c->b));  // weights have the round-off of areas
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(p->point_a, p->point_b), cm_scale(p->gap, p->normal))), 1e-13 + 1e-15 / thin);
  CHECK(p->area >= 0 && isfinite(p->area) && isfinite(cm_norm(p->rim)));
  CHECK_AT_MOST(fabs(cm_dot(p->rim, p->normal)), 1e-12);
}

static void check_points(const couple *c, const carom_facet_point *points, int count) {
  CHECK(count == 0 || (count >= 3 && count <= CAROM_FACET_POINTS));
  for (int i = 0; i < count; i++) check_point(c, &points[i]);
}

// ---- area -----------------------------------------------------------------------------------------------------------

TEST(shares_add_up_to_the_area_of_parallel_triangles) {
  carom_random r = carom_random_make(1, 0);
  int met = 0;
  for (int i = 0; i < 20000; i++) {
    couple c = parallel_couple(&r);
    carom_facet_point points[CAROM_FACET_POINTS];
    int count = meet(&c, points);
    double least = fmin(area_of(&c.a), area_of(&c.b));
    check_points(&c, points, count);
    CHECK_NEAR(sum_of(points, count), covered(&c, cm_vec3(0, 0, 1)), 1e-7 * fmax(least, 1e-6));
    for (int k = 0; k < count; k++) CHECK_NEAR(points[k].gap, -0.1, 1e-14);
    met += count > 0;
  }
  CHECK(met > 5000 && met < 20000);
}

// At rest the area is that of either triangle behind the polygon, or between.
TEST(tilted_triangles_have_the_area_of_one_of_them_or_between) {
  carom_random r = carom_random_make(2, 0);
  int flat = 0, askew = 0;
  for (int i = 0; i < 20000; i++) {
    couple c = random_couple(&r, 0.4);
    carom_facet_point points[CAROM_FACET_POINTS];
    for (int k = 0; k < 3; k++) c.a.at[k] = c.a.normal, c.b.at[k] = c.b.normal;
    carom_facing facing = carom_facets_face(&c.a, &c.b);
    int count = meet(&c, points);
    check_points(&c, points, count);
    if (facing == CAROM_FACING_AWAY || count == 0) continue;
    carom_vec3 beta = points[0].normal;
    double a = -cm_dot(c.a.normal, beta), b = cm_dot(c.b.normal, beta), seen = covered(&c, beta);
    if (fmin(a, b) < 0.55) continue;  // pressed from the side: it counts less
    double on_a = seen * c.a.shrunk / a, on_b = seen * c.b.shrunk / b, sum = sum_of(points, count),
           slack = 1e-6 * fmin(area_of(&c.a), area_of(&c.b));
    CHECK(sum > fmin(on_a, on_b) - slack && sum < fmax(on_a, on_b) + slack);
    flat += facing == CAROM_FACING_FLAT, askew += facing == CAROM_FACING_ASKEW;
  }
  CHECK(flat > 3000 && askew > 200);
}

// A triangle over a square that is cut in many ways: the pieces cover what the whole does.
TEST(shares_do_not_depend_on_how_a_surface_is_cut) {
  carom_random r = carom_random_make(3, 0);
  for (int i = 0; i < 2000; i++) {
    couple c = {.a = flat_facet(&r, false), .beta = cm_vec3(0, 0, 1)};
    carom_facet_point points[CAROM_FACET_POINTS];
    carom_vec3 corner[4] = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}}, center = anywhere(&r, 1.5);
    carom_vec3 rims = cm_zero3();
    double sum = 0;
    center.z = 0;
    for (int k = 0; k < 4; k++) {
      c.b = carom_facet_of(center, corner[k], corner[(k + 1) % 4]);
      int count = meet(&c, points);
      sum += sum_of(points, count);
      for (int j = 0; j < count; j++) rims = cm_add(rims, points[j].rim);
    }
    CHECK_NEAR(sum, area_of(&c.a), 1e-6);
    CHECK_AT_MOST(cm_norm(rims), 1e-6);  // sides within a surface cancel
  }
}

// ---- gaps -----------------------------------------------------------------------------------------------------------

TEST(points_are_what_is_written_of_them) {
  carom_random r = carom_random_make(4, 0);
  for (int i = 0; i < 20000; i++) {
    couple c = random_couple(&r, i % 2 ? 0.1 : 0.6);
    carom_facet_point points[CAROM_FACET_POINTS];
    int count = meet(&c, points);
    check_points(&c, points, count);
    for (int k = 1; k < count; k++) CHECK(memcmp(&points[k].normal, &points[0].normal, sizeof points[k].normal) == 0);
    if (count > 0 && carom_facets_face(&c.a, &c.b) == CAROM_FACING_ASKEW)
      CHECK_AT_MOST(cm_norm(cm_sub(points[0].normal, c.beta)), 0);
  }
}

// beta is between both normals, and goes with the smoother surface.
TEST(the_normal_is_that_of_the_smoother_surface) {
  carom_random r = carom_random_make(5, 0);
  int met = 0;
  for (int i = 0; i < 3000; i++) {
    couple c = random_couple(&r, 0.08);
    carom_facet_point points[CAROM_FACET_POINTS];
    memset(c.a.sharp, 0, sizeof c.a.sharp), memset(c.b.sharp, 0, sizeof c.b.sharp);
    if (i % 3 == 1) c.a.sharp[i % 2] = 1;
    if (i % 3 == 2) c.b.sharp[i % 2] = 1;
    if (carom_facets_face(&c.a, &c.b) != CAROM_FACING_FLAT || meet(&c, points) == 0) continue;
    double a = cm_norm(cm_add(points[0].normal, c.a.normal)), b = cm_norm(cm_sub(points[0].normal, c.b.normal));
    if (i % 3 == 0) CHECK_NEAR(a, b, 1e-12);
    if (i % 3 == 1) CHECK_AT_MOST(b, 0.003 * a + 1e-12);
    if (i % 3 == 2) CHECK_AT_MOST(a, 0.003 * b + 1e-12);
    met++;
  }
  CHECK(met > 1000);
}

TEST(facing) {
  carom_facet up = carom_facet_of(cm_vec3(0, 0, 0), cm_vec3(1, 0, 0), cm_vec3(0, 1, 0));
  for (int degrees = 0; degrees <= 180; degrees += 1) {
    double angle = degrees * acos(-1) / 180;
    carom_facet down = carom_facet_of(cm_vec3(0, 0, 0), cm_vec3(0, 1, 0), cm_vec3(1, 0, 0));
    down = moved_facet(&down, cm_pose(cm_zero3(), cm_exp(cm_vec3(angle, 0, 0))));
    if (degrees == 20 || degrees == 90) continue;  // where it changes
    carom_facing expected = degrees < 20 ? CAROM_FACING_FLAT : degrees < 90 ? CAROM_FACING_ASKEW : CAROM_FACING_AWAY;
    CHECK(carom_facets_face(&up, &down) == expected && carom_facets_face(&down, &up) == expected);
  }
}

// ---- rims -----------------------------------------------------------------------------------------------------------

static double area_when_moved(const couple *c, carom_vec3 d) {
  carom_facet_point points[CAROM_FACET_POINTS];
  couple m = *c;
  for (int i = 0; i < 3; i++) m.a.x[i] = cm_add(c->a.x[i], d);
  return sum_of(points, meet(&m, points));
}

// Their sum is the derivative of the area as A moves across beta; where corners of one pass sides of the other it
// jumps.
TEST(rims_are_how_the_area_changes) {
  carom_random r = carom_random_make(6, 0);
  int judged = 0, wrong = 0;
  for (int i = 0; i < 5000; i++) {
    couple c = parallel_couple(&r);
    carom_facet_point points[CAROM_FACET_POINTS];
    int count = meet(&c, points);
    carom_vec3 rim = cm_zero3();
    for (int k = 0; k < count; k++) rim = cm_add(rim, points[k].rim);
    if (count == 0) continue;
    for (int axis = 0; axis < 2; axis++) {
      carom_vec3 d = axis ? cm_vec3(0, 1e-5, 0) : cm_vec3(1e-5, 0, 0);
      double slope = (area_when_moved(&c, d) - area_when_moved(&c, cm_neg(d))) / 2e-5;
      judged++, wrong += fabs(slope - (axis ? rim.y : rim.x)) > 1e-3;
    }
  }
  CHECK(judged > 2000);
  CHECK_AT_MOST(wrong, 0.005 * judged);
}

// ---- symmetry -------------------------------------------------------------------------------------------------------

// Corners may come in another order.
static const carom_facet_point *find_twin(const carom_facet_point *points, int count, carom_vec3 a, carom_vec3 b) {
  const carom_facet_point *best = &points[0];
  double least = INFINITY;
  for (int i = 0; i < count; i++) {
    double d = cm_norm(cm_sub(points[i].point_a, a)) + cm_norm(cm_sub(points[i].point_b, b));
    if (d < least) least = d, best = &points[i];
  }
  CHECK_AT_MOST(least, 1e-9);
  return best;
}

// Corners that nearly coincide may be one or two, and the least of polygons nothing; their sum is what counts.
static bool is_plain(const couple *c, const carom_facet_point *points, int count) {
  if (count < 3 || sum_of(points, count) < 1e-4) return false;
  for (int i = 0; i < count; i++)
    if (cm_norm(cm_sub(points[i].point_a, points[(i + 1) % count].point_a)) < 1e-4) return false;
  return area_of(&c->a) > 1e-3 && area_of(&c->b) > 1e-3;
}

TEST(rigid_motion_moves_it_along) {
  carom_random r = carom_random_make(7, 0);
  int judged = 0;
  for (int i = 0; i < 5000; i++) {
    couple c = random_couple(&r, i % 2 ? 0.1 : 0.4), m = c;
    carom_facet_point before[CAROM_FACET_POINTS], after[CAROM_FACET_POINTS];
    carom_pose pose = cm_pose(anywhere(&r, 5), cm_exp(anywhere(&r, 3)));
    m.a = moved_facet(&c.a, pose), m.b = moved_facet(&c.b, pose), m.beta = cm_rotate(pose.q, c.beta);
    int count = meet(&c, before), again = meet(&m, after);
    if (!is_plain(&c, before, count)) continue;
    REQUIRE(again == count);
    for (int k = 0; k < count; k++) {
      CHECK_NEAR(after[k].gap, before[k].gap, 1e-11);
      CHECK_NEAR(after[k].area, before[k].area, 1e-10);
      CHECK_AT_MOST(cm_norm(cm_sub(after[k].rim, cm_rotate(pose.q, before[k].rim))), 1e-10);
      CHECK_AT_MOST(cm_norm(cm_sub(after[k].point_a, cm_transform(pose, before[k].point_a))), 1e-10);
    }
    judged++;
  }
  CHECK(judged > 1000);
}

TEST(exchanged_it_is_the_same_the_other_way_round) {
  carom_random r = carom_random_make(8, 0);
  int judged = 0;
  for (int i = 0; i < 5000; i++) {
    couple c = random_couple(&r, i % 2 ? 0.1 : 0.4), e = {c.b, c.a, cm_neg(c.beta)};
    carom_facet_point p[CAROM_FACET_POINTS], q[CAROM_FACET_POINTS];
    int count = meet(&c, p), again = meet(&e, q);
    CHECK_NEAR(sum_of(p, count), sum_of(q, again), 1e-9);
    if (!is_plain(&c, p, count)) continue;
    REQUIRE(again == count);
    for (int k = 0; k < count; k++) {
      const carom_facet_point *twin = find_twin(q, again, p[k].point_b, p[k].point_a);
      CHECK_NEAR(twin->gap, p[k].gap, 1e-11);
      CHECK_NEAR(twin->area, p[k].area, 1e-9);
      CHECK_AT_MOST(cm_norm(cm_add(twin->normal, p[k].normal)), 1e-13);
      CHECK_AT_MOST(cm_norm(cm_add(twin->rim, p[k].rim)), 1e-9);
      for (int j = 0; j < 3; j++) CHECK_NEAR(twin->weight_a[j], p[k].weight_b[j], 1e-9);
    }
    judged++;
  }
  CHECK(judged > 1000);
}

// ---- hard pairs -----------------------------------------------------------------------------------------------------

// In whatever order its corners are named: three corners, a third of the area each.
TEST(the_same_triangle_twice) {
  carom_random r = carom_random_make(9, 0);
  for (int i = 0; i < 2000; i++) {
    carom_facet f = flat_facet(&r, true);
    carom_facet_point points[CAROM_FACET_POINTS];
    carom_pose pose = cm_pose(anywhere(&r, 2), cm_exp(anywhere(&r, 3)));
    if (area_of(&f) < 1e-3) continue;
    f = moved_facet(&f, pose);
    int from = i % 3;
    couple c = {f, carom_facet_of(f.x[from], f.x[(from + 2) % 3], f.x[(from + 1) % 3]), cm_zero3()};
    int count = meet(&c, points);
    check_points(&c, points, count);
    CHECK(count == 3);
    for (int k = 0; k < count; k++) {
      CHECK_NEAR(points[k].area, area_of(&f) / 3, 1e-9);
      CHECK_AT_MOST(fabs(points[k].gap), 1e-12);
    }
  }
}

// Nothing of triangles that only share a side or a corner.
TEST(triangles_side_by_side_do_not_meet) {
  carom_random r = carom_random_make(10, 0);
  for (int i = 0; i < 5000; i++) {
    carom_facet f = flat_facet(&r, true);
    carom_facet_point points[CAROM_FACET_POINTS];
    carom_vec3 beyond = cm_sub(cm_add(f.x[0], f.x[1]), f.x[2]);
    couple side = {carom_facet_of(f.x[0], f.x[1], beyond), f, cm_vec3(0, 0, 1)};
    couple corner = {carom_facet_of(f.x[0], cm_sub(cm_scale(2, f.x[0]), f.x[2]), cm_sub(cm_scale(2, f.x[0]), f.x[1])),
                     f, cm_vec3(0, 0, 1)};
    CHECK_AT_MOST(sum_of(points, meet(&side, points)), 1e-6 * area_of(&f));
    CHECK_AT_MOST(sum_of(points, meet(&corner, points)), 1e-6 * area_of(&f));
  }
}

// Long thin triangles: what is found is finite, no more than the smaller one has, and what it should be.
TEST(slivers) {
  carom_random r = carom_random_make(11, 0);
  for (int i = 0; i < 20000; i++) {
    couple c = parallel_couple(&r);
    carom_facet_point points[CAROM_FACET_POINTS];
    double thin = pow(10, carom_random_between(&r, -9, 0));
    carom_facet *f = i % 2 ? &c.a : &c.b;
    carom_vec3 x[3] = {f->x[0], f->x[1], cm_lerp(f->x[0], f->x[1], carom_random_uniform(&r))};
    carom_vec3 across = cm_unit(cm_cross(f->normal, cm_sub(x[1], x[0])));
    *f = carom_facet_of(x[0], x[1], cm_axpy(x[2], thin, across));
    int count = meet(&c, points);
    double sum = sum_of(points, count), least = fmin(area_of(&c.a), area_of(&c.b));
    for (int k = 0; k < count; k++) {
      CHECK(isfinite(points[k].gap) && points[k].area >= 0);
      CHECK_AT_MOST(
          cm_norm(cm_sub(cm_sub(points[k].point_a, points[k].point_b), cm_scale(points[k].gap, points[k].normal))),
          1e-6);
    }
    CHECK_NEAR(sum, covered(&c, cm_vec3(0, 0, 1)), 1e-6 * least + 1e-8 * thin + 3e-8);
  }
}

TEST(apart_in_the_plane_they_do_not_meet) {
  carom_random r = carom_random_make(12, 0);
  for (int i = 0; i < 2000; i++) {
    couple c = random_couple(&r, 0.1);
    carom_facet_point points[CAROM_FACET_POINTS];
    for (int k = 0; k < 3; k++) c.a.x[k].x += 4;
    CHECK(meet(&c, points) == 0);
  }
}
