// Derivatives of the gap by differences of the gap itself: central ones where it is smooth, one-sided ones at ties.
#ifndef CAROM_TEST_GAP_PAIR_H
#define CAROM_TEST_GAP_PAIR_H

#include "test_collide.h"

typedef struct pair {
  carom_placed a, b;
  bool moves;           // beta follows the centres
  carom_ssh_options o;  // beta, if not
} pair;

// Steps of 1e-5 away from ties make needles of the basis, which once cost the certificate.
static inline carom_ssh_result query(const pair *p) {
  carom_ssh_options o = p->o;
  o.given_beta = !p->moves;
  carom_ssh_result r = solved(&p->a, &p->b, &o);
  if (r.outcome != CAROM_SSH_LIMIT) CHECK_AT_MOST(r.duality_gap, 1e-12);
  return r;
}

// The pair after both bodies moved along their twists for a while: p + t v, exp(t w) q.
static inline pair moved(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2], double t) {
  pair q = *p;
  q.a.pose.p = cm_axpy(q.a.pose.p, t, ta[0]);
  q.b.pose.p = cm_axpy(q.b.pose.p, t, tb[0]);
  q.a.pose.q = cm_qmul(cm_exp(cm_scale(t, ta[1])), q.a.pose.q);
  q.b.pose.q = cm_qmul(cm_exp(cm_scale(t, tb[1])), q.b.pose.q);
  return q;
}

static inline double gap_at(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2], double t) {
  pair q = moved(p, ta, tb, t);
  return query(&q).gap;
}

static inline void unit_twists(int k, carom_vec3 ta[2], carom_vec3 tb[2]) {
  double e[12] = {0};
  e[k] = 1;
  ta[0] = cm_vec3(e[0], e[1], e[2]), ta[1] = cm_vec3(e[3], e[4], e[5]);
  tb[0] = cm_vec3(e[6], e[7], e[8]), tb[1] = cm_vec3(e[9], e[10], e[11]);
}

static inline void random_twists(carom_random *r, carom_vec3 ta[2], carom_vec3 tb[2]) {
  for (int i = 0; i < 2; i++) {
    ta[i] = random_vec(r);
    tb[i] = random_vec(r);
  }
}

static inline void as_list(const carom_gap_gradient *g, double list[12]) {
  carom_vec3 v[4] = {g->a.linear, g->a.angular, g->b.linear, g->b.angular};
  for (int i = 0; i < 4; i++) list[3 * i] = v[i].x, list[3 * i + 1] = v[i].y, list[3 * i + 2] = v[i].z;
}

static inline double along_twists(const carom_gap_gradient *g, const carom_vec3 ta[2], const carom_vec3 tb[2]) {
  return cm_dot(g->a.linear, ta[0]) + cm_dot(g->a.angular, ta[1]) + cm_dot(g->b.linear, tb[0]) +
         cm_dot(g->b.angular, tb[1]);
}

static inline bool same_basis(const carom_ssh_result *p, const carom_ssh_result *q) {
  if (p->column_count != q->column_count) return false;
  double sum_p = 0, sum_q = 0;  // order does not matter
  for (int i = 0; i < p->column_count; i++) {
    sum_p += 1 << (p->vertex_a[i] + 1), sum_p += 4096 * (1 << (p->vertex_b[i] + 1));
    sum_q += 1 << (q->vertex_a[i] + 1), sum_q += 4096 * (1 << (q->vertex_b[i] + 1));
  }
  return sum_p == sum_q;
}

static inline carom_gap_gradient gradient_of(const pair *p) {
  carom_ssh_result r = query(p);
  carom_gap_gradient g = {0};
  carom_status status = carom_ssh_gradient(&p->a, &p->b, &r, p->moves, &g);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", carom_status_text(status));
  return g;
}

static inline double derivative_of(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2]) {
  carom_ssh_result r = query(p);
  double d = NAN;
  carom_status status =
      carom_ssh_directional(&p->a, &p->b, &r, p->moves, (carom_vec3[4]){ta[0], ta[1], tb[0], tb[1]}, &d);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", carom_status_text(status));
  return d;
}

static inline void release_pair(const pair *p) { carom_shape_release(p->a.shape), carom_shape_release(p->b.shape); }

// Well inside a piece: the same basis a little way off in both directions.
static inline bool is_smooth(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2], double t) {
  carom_ssh_result here = query(p);
  pair before = moved(p, ta, tb, -t), after = moved(p, ta, tb, t);
  carom_ssh_result left = query(&before), right = query(&after);
  bool plain = here.outcome == CAROM_SSH_SOLVED && left.outcome == CAROM_SSH_SOLVED &&
               right.outcome == CAROM_SSH_SOLVED && cm_norm(here.alpha) < 5;
  return plain && same_basis(&here, &left) && same_basis(&here, &right);
}

// Fourth-order differences, so that the step may be large enough to keep round-off out.
static inline double central(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2], double h) {
  double near = gap_at(p, ta, tb, h) - gap_at(p, ta, tb, -h);
  double far = gap_at(p, ta, tb, 2 * h) - gap_at(p, ta, tb, -2 * h);
  return (8 * near - far) / (12 * h);
}

// One-sided, of fourth order: the error is h^4 / 5 times the fifth derivative, and round-off about 1e-14 / h.
static inline double one_sided(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2], double h) {
  static const double c[5] = {-25, 48, -36, 16, -3};
  double sum = 0;
  for (int k = 0; k < 5; k++) sum += c[k] * gap_at(p, ta, tb, k * h);
  return sum / (12 * h);
}

// Everything about one pair at a tie: along random twists the derivative is what the gap does, and the gradient lies
// between the two one-sided derivatives (a Clarke gradient has <g, d> <= the largest, and >= the smallest derivative).
static inline void check_one_sided(const pair *p, carom_random *random, int directions, double tolerance) {
  for (int k = 0; k < directions; k++) {
    carom_vec3 ta[2], tb[2];
    random_twists(random, ta, tb);
    // A piece may end within the longer steps, and round-off of the gap (up to 1e-11 / 12h) spoils the shorter ones.
    double d = derivative_of(p, ta, tb), expected = INFINITY;
    for (double step = 1e-4; step > 5e-7; step /= 10) {
      double slope = one_sided(p, ta, tb, step);
      if (fabs(slope - d) < fabs(expected - d)) expected = slope;
    }
    CHECK_NEAR(d, expected, tolerance * (1 + fabs(d)));
  }
}

// Symmetric part of the derivative of the gradient, by differences.
static inline void difference_hessian(const pair *p, double h, double H[144]) {
  double J[12][12];
  for (int k = 0; k < 12; k++) {
    carom_vec3 ta[2], tb[2];
    double plus[12], minus[12];
    unit_twists(k, ta, tb);
    pair after = moved(p, ta, tb, h), before = moved(p, ta, tb, -h);
    carom_gap_gradient right = gradient_of(&after), left = gradient_of(&before);
    as_list(&right, plus), as_list(&left, minus);
    for (int i = 0; i < 12; i++) J[i][k] = (plus[i] - minus[i]) / (2 * h);
  }
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 12; k++) H[12 * i + k] = (J[i][k] + J[k][i]) / 2;
}

static inline bool all_smooth(const pair *p, double t) {
  for (int k = 0; k < 12; k++) {
    carom_vec3 ta[2], tb[2];
    unit_twists(k, ta, tb);
    if (!is_smooth(p, ta, tb, t)) return false;
  }
  return true;
}

static inline double largest_difference(const double *A, const double *B, double *scale) {
  double worst = 0;
  *scale = 0;
  for (int i = 0; i < 144; i++) worst = fmax(worst, fabs(A[i] - B[i])), *scale = fmax(*scale, fabs(A[i]));
  return worst;
}

// The Hessian of a hundred random pairs against differences of the gradient, where the gap is smooth.
static inline void check_hessians(pair (*draw)(carom_random *, bool), uint64_t seed, bool moves) {
  carom_random random = carom_random_make(seed, moves);
  int checked = 0;
  for (int i = 0; i < 100; i++) {
    pair p = draw(&random, moves);
    double H[144], D[144], scale;
    if (all_smooth(&p, 1e-4)) {
      carom_ssh_result r = query(&p);
      CHECK(carom_ssh_hessian(&p.a, &p.b, &r, moves, H) == CAROM_OK);
      difference_hessian(&p, 3e-6, D);
      double worst = largest_difference(H, D, &scale);
      CHECK_AT_MOST(worst, 1e-5 * fmax(1, scale));
      checked++;
    }
    release_pair(&p);
  }
  CHECK(checked > 50);
}

// Second derivative along twists from the gap alone, of fourth order.
static inline double second_difference(const pair *p, const carom_vec3 ta[2], const carom_vec3 tb[2], double h) {
  double near = gap_at(p, ta, tb, h) + gap_at(p, ta, tb, -h),
         far = gap_at(p, ta, tb, 2 * h) + gap_at(p, ta, tb, -2 * h);
  return (16 * near - far - 30 * query(p).gap) / (12 * h * h);
}

static inline double quadratic(const double H[144], const carom_vec3 ta[2], const carom_vec3 tb[2]) {
  const carom_vec3 v[4] = {ta[0], ta[1], tb[0], tb[1]};
  double x[12], sum = 0;
  for (int i = 0; i < 4; i++) x[3 * i] = v[i].x, x[3 * i + 1] = v[i].y, x[3 * i + 2] = v[i].z;
  for (int i = 0; i < 144; i++) sum += H[i] * x[i / 12] * x[i % 12];
  return sum;
}

// Whether the second derivative runs straight through: it jumps where a cap becomes a side, and then differences of any
// length give the mean of both.
static inline bool is_steady(const pair *p, const double H[144], const carom_vec3 ta[2], const carom_vec3 tb[2],
                             double t) {
  double sum = 0, here = quadratic(H, ta, tb), D[144];
  for (int side = -1; side <= 1; side += 2) {
    pair q = moved(p, ta, tb, side * t);
    carom_ssh_result r = query(&q);
    if (carom_ssh_hessian(&q.a, &q.b, &r, q.moves, D) != CAROM_OK) return false;
    sum += quadratic(D, ta, tb);
  }
  return fabs(sum - 2 * here) < 0.01 * (1 + fabs(here));
}

// A symmetric matrix is known by its squares along enough twists. Two step lengths that disagree tell that a piece ends
// nearby; where they agree, their errors are as 16 to 1, and extrapolated away. The gap of curved bodies is good to
// 1e-12 or so, which steps of 6e-3 make 1e-7 of.
static inline int check_squares(const pair *p, const double H[144], carom_random *random, double *worst) {
  int checked = 0;
  for (int k = 0; k < 12; k++) {
    carom_vec3 ta[2], tb[2];
    random_twists(random, ta, tb);
    double fine = second_difference(p, ta, tb, 6e-3), coarse = second_difference(p, ta, tb, 12e-3);
    if (fabs(fine - coarse) > 1e-4 * (1 + fabs(fine)) || !is_steady(p, H, ta, tb, 24e-3)) continue;
    fine += (fine - coarse) / 15;
    double error = fabs(quadratic(H, ta, tb) - fine) / (1 + fabs(fine));
    CHECK_AT_MOST(error, 2e-6);
    *worst = fmax(*worst, error);
    checked++;
  }
  return checked;
}

#endif
