#include "step/variational/dmv.h"

#include <math.h>

#include "base/simd.h"

enum { LANES = CAROM_DMV_LANES, MAX_NEWTON = 30 };

// A Newton correction this small relative to y leaves an error of its square, which is below round-off.
static const double CONVERGED = 1e-9;

// A sphere turns by asin(h omega) a step: at h omega = 1 two solutions meet and beyond there is none. Well before that
// the angle is far off, so that no body turns by more than 0.61 rad (y.y = 0.1) in one solve.
static const double LARGEST_Y2 = 0.1;

size_t carom_dmv_bodies_cost(int body_count) {
  size_t padded = ((size_t)body_count + LANES - 1) / LANES * LANES;
  return 10 * padded * sizeof(double);
}

void carom_dmv_bodies_fill(carom_dmv_bodies *bodies, const carom_model *model, void *memory) {
  int n = (model->body_count + LANES - 1) / LANES * LANES;
  double *next = memory;
  bodies->count = n;
  for (int c = 0; c < 3; c++) bodies->J[c] = next, next += n;
  for (int c = 0; c < 3; c++) bodies->inverse_J[c] = next, next += n;
  bodies->over_scale = next, next += n;
  bodies->mass = next, next += n;
  bodies->inverse_mass = next, next += n;
  bodies->slowest_inertia = next;
  for (int i = 0; i < n; i++) {
    const carom_body *body = i < model->body_count ? &model->bodies[i] : NULL;
    bool turns = body && body->inverse_inertia.x > 0;
    carom_vec3 J = turns ? body->inertia : cm_vec3(1, 1, 1);
    double largest = fmax(J.x, fmax(J.y, J.z));
    double ratio[3] = {J.x / largest, J.y / largest, J.z / largest};
    for (int c = 0; c < 3; c++) bodies->J[c][i] = ratio[c], bodies->inverse_J[c][i] = 1 / ratio[c];
    bodies->over_scale[i] = turns ? 1 / largest : 0;
    bodies->mass[i] = body && !body->fixed ? body->mass : 0;
    bodies->inverse_mass[i] = body ? body->inverse_mass : 0;
    bodies->slowest_inertia[i] = turns ? 1 / fmin(J.x, fmin(J.y, J.z)) : 0;
  }
}

double carom_dmv_largest_turn(const carom_dmv_bodies *bodies, const carom_state *state, double h) {
  double largest = 0;
  for (int i = 0; i < state->body_count; i++) {
    double slow = bodies->slowest_inertia[i];
    double turn2 = cm_norm2(state->l[i]) * slow * slow;
    largest = turn2 <= largest ? largest : turn2;  // a NaN gets through and is caught later
  }
  return h * sqrt(largest);
}

// ---- Newton's method, lane by lane -----------------------------------------------------------------------

// One block of bodies in vector layout. The loops over lanes below are written so that compilers vectorise them whole.
typedef struct block {
  double J[3][LANES], inverse_J[3][LANES];
  double g[3][LANES], y[3][LANES];
  double done[LANES];      // 1 once converged: such lanes stay as they are, whatever their neighbours do
  double residual[LANES];  // relative
} block;

// First guess, good to second order: y0 = J^-1 g, then one fixed-point sweep y = J^-1 ((1 + y0.y0) g - y0 x J y0).
static inline void first_guess(block *b, int lanes) {
  for (int i = 0; i < lanes; i++) {
    double g1 = b->g[0][i], g2 = b->g[1][i], g3 = b->g[2][i];
    double y1 = g1 * b->inverse_J[0][i], y2 = g2 * b->inverse_J[1][i], y3 = g3 * b->inverse_J[2][i];
    double s = 1 + (y1 * y1 + y2 * y2 + y3 * y3);
    b->y[0][i] = (s * g1 - (y2 * g3 - y3 * g2)) * b->inverse_J[0][i];  // J y0 = g
    b->y[1][i] = (s * g2 - (y3 * g1 - y1 * g3)) * b->inverse_J[1][i];
    b->y[2][i] = (s * g3 - (y1 * g2 - y2 * g1)) * b->inverse_J[2][i];
    b->done[i] = 0;
  }
}

// Solves A d = -r by Cramer's rule, A = J + hat(y) J - hat(J y) - 2 g y', r the residual. J is scaled to 1, and A is
// close to it while y is small, so that no pivoting is needed.
static inline void newton_step(block *b, int lanes) {
  for (int i = 0; i < lanes; i++) {
    double J1 = b->J[0][i], J2 = b->J[1][i], J3 = b->J[2][i];
    double y1 = b->y[0][i], y2 = b->y[1][i], y3 = b->y[2][i];
    double g1 = b->g[0][i], g2 = b->g[1][i], g3 = b->g[2][i];
    double k1 = J3 - J2, k2 = J1 - J3, k3 = J2 - J1;  // (y x J y)_1 = k1 y2 y3 and so on
    double size2 = y1 * y1 + y2 * y2 + y3 * y3, s = 1 + size2;
    double r1 = J1 * y1 + k1 * y2 * y3 - s * g1;
    double r2 = J2 * y2 + k2 * y3 * y1 - s * g2;
    double r3 = J3 * y3 + k3 * y1 * y2 - s * g3;
    double a11 = J1 - 2 * g1 * y1, a12 = k1 * y3 - 2 * g1 * y2, a13 = k1 * y2 - 2 * g1 * y3;
    double a21 = k2 * y3 - 2 * g2 * y1, a22 = J2 - 2 * g2 * y2, a23 = k2 * y1 - 2 * g2 * y3;
    double a31 = k3 * y2 - 2 * g3 * y1, a32 = k3 * y1 - 2 * g3 * y2, a33 = J3 - 2 * g3 * y3;
    double c11 = a22 * a33 - a23 * a32, c12 = a23 * a31 - a21 * a33, c13 = a21 * a32 - a22 * a31;
    double over_det = -1 / (a11 * c11 + a12 * c12 + a13 * c13);
    double d1 = over_det * (c11 * r1 + (a13 * a32 - a12 * a33) * r2 + (a12 * a23 - a13 * a22) * r3);
    double d2 = over_det * (c12 * r1 + (a11 * a33 - a13 * a31) * r2 + (a13 * a21 - a11 * a23) * r3);
    double d3 = over_det * (c13 * r1 + (a12 * a31 - a11 * a32) * r2 + (a11 * a22 - a12 * a21) * r3);
    double move = 1 - b->done[i];
    b->y[0][i] = y1 + move * d1;
    b->y[1][i] = y2 + move * d2;
    b->y[2][i] = y3 + move * d3;
    double correction2 = d1 * d1 + d2 * d2 + d3 * d3;
    b->done[i] = correction2 <= CONVERGED * CONVERGED * size2 ? 1 : b->done[i];
  }
}

static inline void measure(block *b, int lanes) {
  for (int i = 0; i < lanes; i++) {
    double J1 = b->J[0][i], J2 = b->J[1][i], J3 = b->J[2][i];
    double y1 = b->y[0][i], y2 = b->y[1][i], y3 = b->y[2][i];
    double g1 = b->g[0][i], g2 = b->g[1][i], g3 = b->g[2][i];
    double size2 = y1 * y1 + y2 * y2 + y3 * y3, s = 1 + size2;
    double r1 = J1 * y1 + (J3 - J2) * y2 * y3 - s * g1;
    double r2 = J2 * y2 + (J1 - J3) * y3 * y1 - s * g2;
    double r3 = J3 * y3 + (J2 - J1) * y1 * y2 - s * g3;
    double r = r1 * r1 + r2 * r2 + r3 * r3, g = g1 * g1 + g2 * g2 + g3 * g3;
    b->residual[i] = sqrt(r / (g > 0 ? g : 1));
    b->done[i] = size2 <= LARGEST_Y2 ? b->done[i] : 0;  // the wrong branch counts as not solved
  }
}

static inline int solve(block *b, int lanes) {
  first_guess(b, lanes);
  for (int iteration = 1; iteration <= MAX_NEWTON; iteration++) {
    newton_step(b, lanes);
    double done = 1;
    for (int i = 0; i < lanes; i++) done *= b->done[i];
    if (done == 1) {
      measure(b, lanes);
      return iteration;
    }
  }
  measure(b, lanes);
  return MAX_NEWTON;
}

// ---- moving bodies ---------------------------------------------------------------------------------------

// Quaternions and momenta of the block, one array per component.
typedef struct motion {
  double q[4][LANES], l[3][LANES];
} motion;

static inline void load(const carom_dmv_bodies *bodies, const carom_state *state, int first, int lanes, block *b,
                        motion *m) {
  for (int i = 0; i < lanes; i++) {
    carom_quat q = state->q[first + i];
    carom_vec3 l = state->l[first + i];
    m->q[0][i] = q.w, m->q[1][i] = q.x, m->q[2][i] = q.y, m->q[3][i] = q.z;
    m->l[0][i] = l.x, m->l[1][i] = l.y, m->l[2][i] = l.z;
  }
  for (int i = lanes; i < LANES; i++) {
    m->q[0][i] = 1, m->q[1][i] = m->q[2][i] = m->q[3][i] = 0;
    m->l[0][i] = m->l[1][i] = m->l[2][i] = 0;
  }
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < LANES; i++) {
      b->J[c][i] = bodies->J[c][first + i];
      b->inverse_J[c][i] = bodies->inverse_J[c][first + i];
    }
}

// g = h/2 R' l / scale.
static inline void body_momentum(const carom_dmv_bodies *bodies, int first, double h, const motion *m, block *b) {
  for (int i = 0; i < LANES; i++) {
    double w = m->q[0][i], x = -m->q[1][i], y = -m->q[2][i], z = -m->q[3][i];
    double l1 = m->l[0][i], l2 = m->l[1][i], l3 = m->l[2][i];
    double t1 = 2 * (y * l3 - z * l2), t2 = 2 * (z * l1 - x * l3), t3 = 2 * (x * l2 - y * l1);
    double scale = 0.5 * h * bodies->over_scale[first + i];
    b->g[0][i] = scale * (l1 + w * t1 + (y * t3 - z * t2));
    b->g[1][i] = scale * (l2 + w * t2 + (z * t1 - x * t3));
    b->g[2][i] = scale * (l3 + w * t3 + (x * t2 - y * t1));
  }
}

// q := q (1, y), normalised: the norm takes care of both sqrt(1 + y.y) and of round-off in q.
static inline void turn(const block *b, motion *m) {
  for (int i = 0; i < LANES; i++) {
    double w = m->q[0][i], x = m->q[1][i], y = m->q[2][i], z = m->q[3][i];
    double a = b->y[0][i], c = b->y[1][i], d = b->y[2][i];
    double qw = w - x * a - y * c - z * d, qx = x + w * a + y * d - z * c;
    double qy = y + w * c + z * a - x * d, qz = z + w * d + x * c - y * a;
    double over_norm = 1 / sqrt(qw * qw + qx * qx + qy * qy + qz * qz);
    m->q[0][i] = qw * over_norm, m->q[1][i] = qx * over_norm;
    m->q[2][i] = qy * over_norm, m->q[3][i] = qz * over_norm;
  }
}

// One body in 2^k equal parts; false when even 2^max_halvings parts are too long.
static bool turn_in_parts(const carom_dmv_bodies *bodies, int i, double h, int max_halvings, carom_state *state,
                          carom_dmv_info *info) {
  carom_vec3 J = cm_vec3(bodies->J[0][i], bodies->J[1][i], bodies->J[2][i]);
  for (int k = 1; k <= max_halvings; k++) {
    double part = ldexp(h, -k);
    carom_quat q = state->q[i];
    bool solved = true;
    for (int n = 0; n < 1 << k && solved; n++) {
      carom_vec3 g = cm_scale(0.5 * part * bodies->over_scale[i], cm_unrotate(q, state->l[i]));
      block b = {
          .J = {{J.x}, {J.y}, {J.z}}, .inverse_J = {{1 / J.x}, {1 / J.y}, {1 / J.z}}, .g = {{g.x}, {g.y}, {g.z}}};
      int iterations = solve(&b, 1);
      solved = b.done[0] == 1;
      info->iterations = iterations > info->iterations ? iterations : info->iterations;
      if (solved) info->residual = fmax(info->residual, b.residual[0]);
      q = cm_qunit(cm_qmul(q, cm_quat(1, b.y[0][0], b.y[1][0], b.y[2][0])));
    }
    if (!solved) continue;
    state->q[i] = q;
    return true;
  }
  return false;
}

static void store(const carom_dmv_bodies *bodies, const block *b, const motion *m, int first, int lanes, double h,
                  int max_halvings, carom_state *state, carom_dmv_info *info) {
  for (int i = 0; i < lanes; i++) {
    int body = first + i;
    state->x[body] = cm_axpy(state->x[body], h * bodies->inverse_mass[body], state->p[body]);
    if (!cm_finite(state->x[body])) info->failed = body;
    if (bodies->over_scale[body] == 0) continue;
    if (b->done[i] == 1) {
      state->q[body] = cm_quat(m->q[0][i], m->q[1][i], m->q[2][i], m->q[3][i]);
      info->residual = fmax(info->residual, b->residual[i]);
    } else if (!turn_in_parts(bodies, body, h, max_halvings, state, info)) {
      info->failed = body;
    }
  }
}

CAROM_SIMD_CLONES
void carom_dmv_drift(const carom_dmv_bodies *bodies, int first, double h, int max_halvings, carom_state *state,
                     carom_dmv_info *info) {
  int lanes = state->body_count - first < LANES ? state->body_count - first : LANES;
  block b;
  motion m;
  load(bodies, state, first, lanes, &b, &m);
  body_momentum(bodies, first, h, &m, &b);
  int iterations = solve(&b, LANES);
  turn(&b, &m);
  if (iterations > info->iterations && iterations < MAX_NEWTON) info->iterations = iterations;
  store(bodies, &b, &m, first, lanes, h, max_halvings, state, info);
}
