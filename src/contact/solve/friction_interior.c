#include "contact/solve/friction_interior.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/vec.h"
#include "solve/front_factor.h"

static const double BACK_OFF = 0.95;                             // of the way to the boundary
static const double LEAST_CENTRING = 1e-4, MOST_CENTRING = 0.8;  // sigma over the mean product
static const double SHORT = 1e-2;                                // a step that leads nowhere
static const double LEAST_MU = 1e-9;                             // without friction the cone would be a ray
enum { STUCK = 4 };

typedef struct interior {
  const carom_assembled *a;
  int size;
  double scale, response, slope;
  carom_allocator allocator;
  int *start, *neighbor;
  double *diagonal, *below, *above;
  carom_factor *factor;
  double *x, *y, *dx, *dy, *P, *u, *R, *rhs;  // (3 count) x, y; (rows) others
  carom_mat3 *Q;
} interior;

static double det(const double *x) {
  double t = hypot(x[1], x[2]);
  return (x[0] - t) * (x[0] + t);
}

// Q = 2 v v' - det(v) J with Q x = y.
static carom_mat3 scaling(const double *x, const double *y) {
  double dx = det(x), dy = det(y), a = 1 / sqrt(dx), b = 1 / sqrt(dy), v[3];
  double c = sqrt(0.5 * (1 + a * b * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2])));
  double size = sqrt(sqrt(dy / dx));
  for (int k = 0; k < 3; k++) v[k] = size * (b * y[k] + (k ? -a : a) * x[k]) / (2 * c);
  carom_mat3 Q;
  double d = sqrt(dy / dx);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Q.m[i][j] = 2 * v[i] * v[j] - (i == j ? (i ? -d : d) : 0);
  return Q;
}

// How far to the boundary of the cone along d, at most 1 / BACK_OFF: the first root of det(x + length d).
static double reach(const double *x, const double *d) {
  double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2], b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2], c = det(x);
  double under = b * b - a * c, most = 1 / BACK_OFF;
  if (a < 0 && b >= 0) most = fmin(most, (b + sqrt(under)) / -a);
  if (b < 0 && under >= 0) most = fmin(most, c / (sqrt(under) - b));
  if (d[0] < 0) most = fmin(most, -x[0] / d[0]);
  return most;
}

static bool make_arrays(interior *s) {
  size_t n = (size_t)s->a->count + 1, rows = (size_t)s->a->rows + 1, area = (size_t)(s->size * s->size);
  size_t pairs = (size_t)s->a->sparse->start[n - 1] / 2 + 1;
  return CAROM_NEW_ALL(&s->allocator, CAROM_ROOM(s->start, n), CAROM_ROOM(s->neighbor, pairs),
                       CAROM_ROOM(s->diagonal, area * n), CAROM_ROOM(s->below, area * pairs),
                       CAROM_ROOM(s->above, area * pairs), CAROM_ROOM(s->x, 3 * n), CAROM_ROOM(s->y, 3 * n),
                       CAROM_ROOM(s->dx, 3 * n), CAROM_ROOM(s->dy, 3 * n), CAROM_ROOM(s->Q, n), CAROM_ROOM(s->P, rows),
                       CAROM_ROOM(s->u, rows), CAROM_ROOM(s->R, rows), CAROM_ROOM(s->rhs, rows));
}

static void take_pair(interior *s, const double *A, int pair) {
  int B = s->size;
  for (int c = 0; c < B; c++)
    for (int r = 0; r < B; r++) {
      s->above[B * B * pair + r + c * B] = A[r + c * B];
      s->below[B * B * pair + r + c * B] = A[c + r * B];
    }
}

// The blocks off the diagonal are those of W, for good.
static bool make(interior *s) {
  const carom_block_rows *w = s->a->sparse;
  int pairs = 0;
  if (!make_arrays(s)) return false;
  for (int j = 0; j < s->a->count; j++) {
    s->start[j] = pairs;
    for (int k = w->start[j]; k < w->start[j + 1]; k++) {
      if (w->column[k] <= j) continue;
      take_pair(s, w->value + s->size * s->size * k, pairs);
      s->neighbor[pairs++] = w->column[k];
    }
  }
  s->start[s->a->count] = pairs;
  carom_block_pattern pattern = {s->size, s->a->count, s->start, s->neighbor};
  return carom_factor_create_lu(&pattern, false, &s->allocator, &s->factor) == CAROM_OK;
}

static double mu_of(const interior *s, int i) { return fmax(s->a->blocks[i].mu, LEAST_MU); }

static void to_P(const interior *s, const double *x, double *P) {
  int B = s->size;
  for (int i = 0; i < s->a->count; i++) {
    P[B * i] = x[3 * i] / mu_of(s, i);
    for (int k = 1; k < B; k++) P[B * i + k] = x[3 * i + k];
  }
}

// R = W r + q - u(y)
static double fill_residual(interior *s) {
  int B = s->size;
  double most = 0;
  to_P(s, s->x, s->P);
  carom_assembled_velocity(s->a, s->P, s->u);
  for (int i = 0; i < s->a->count; i++) {
    const double *y = s->y + 3 * i;
    s->R[B * i] = s->u[B * i] - mu_of(s, i) * (y[0] - hypot(y[1], y[2]));
    for (int k = 1; k < B; k++) s->R[B * i + k] = s->u[B * i + k] - y[k];
    for (int k = 0; k < B; k++) most = fmax(most, fabs(s->R[B * i + k]));
  }
  return most;
}

// S z for z (3), with S = u'(y) where the slope is 1.
static void apply_slope(const interior *s, int i, const double *z, double *out) {
  const double *y = s->y + 3 * i;
  double t = hypot(y[1], y[2]), along = t > 0 ? (y[1] * z[1] + y[2] * z[2]) / t : 0;
  out[0] = mu_of(s, i) * (z[0] - s->slope * along), out[1] = z[1], out[2] = z[2];
}

static bool factor(interior *s) {
  const carom_block_rows *w = s->a->sparse;
  int B = s->size;
  for (int i = 0; i < s->a->count; i++) {
    double *D = s->diagonal + B * B * i, mu = mu_of(s, i);
    const double *own = carom_block_rows_own(w, i);
    s->Q[i] = scaling(s->x + 3 * i, s->y + 3 * i);
    for (int c = 0; c < B; c++) {
      double z[3], out[3];
      for (int r = 0; r < 3; r++) z[r] = s->Q[i].m[r][c] * (c == 0 ? mu : 1);
      apply_slope(s, i, z, out);
      for (int r = 0; r < B; r++) D[r + c * B] = own[r + c * B] + out[r];
    }
  }
  return carom_factor_compute_lu(s->factor, &(carom_block_values){s->diagonal, s->below, s->above}) == CAROM_OK;
}

// dx and dy towards x o y = target e.
static void find_step(interior *s, double target) {
  int B = s->size;
  for (int i = 0; i < s->a->count; i++) {
    const double *x = s->x + 3 * i, *y = s->y + 3 * i;
    double d = det(x), z[3], out[3];
    for (int k = 0; k < 3; k++) z[k] = target * (k ? -x[k] : x[k]) / d - y[k];
    memcpy(s->dy + 3 * i, z, sizeof z);
    apply_slope(s, i, z, out);
    for (int k = 0; k < B; k++) s->rhs[B * i + k] = -s->R[B * i + k] + out[k];
  }
  carom_factor_solve_lu(s->factor, s->rhs);
  for (int i = 0; i < s->a->count; i++) {
    double *dx = s->dx + 3 * i;
    dx[0] = mu_of(s, i) * s->rhs[B * i];
    for (int k = 1; k < 3; k++) dx[k] = k < B ? s->rhs[B * i + k] : 0;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) s->dy[3 * i + r] -= s->Q[i].m[r][c] * dx[c];
  }
}

static double length_of_step(const interior *s) {
  double length = 1 / BACK_OFF;
  for (int i = 0; i < s->a->count; i++) {
    length = fmin(length, reach(s->x + 3 * i, s->dx + 3 * i));
    length = fmin(length, reach(s->y + 3 * i, s->dy + 3 * i));
  }
  return BACK_OFF * length;
}

static double mean_product(const interior *s) {
  double sum = 0;
  for (int k = 0; k < 3 * s->a->count; k++) sum += s->x[k] * s->y[k];
  return sum / s->a->count;
}

static void begin(interior *s) {
  s->response = 0;
  for (int i = 0; i < s->a->count; i++) s->response += carom_block_response(s->a, &s->a->blocks[i]) / s->a->count;
  for (int i = 0; i < s->a->count; i++) {
    double w = fmax(carom_block_response(s->a, &s->a->blocks[i]), 1e-12 * s->response);
    s->y[3 * i] = s->scale, s->x[3 * i] = s->scale / w;
  }
}

// One step; how far it went.
static double advance(interior *s, double product) {
  find_step(s, 0);
  double left = 1 - fmin(length_of_step(s), 1), sigma = fmin(fmax(left * left * left, LEAST_CENTRING), MOST_CENTRING);
  find_step(s, sigma * product);
  double length = length_of_step(s);
  for (int k = 0; k < 3 * s->a->count; k++) s->x[k] += length * s->dx[k], s->y[k] += length * s->dy[k];
  return length;
}

static void follow(interior *s, const carom_friction_path *path, int *steps) {
  double length = 1;
  for (int k = 0, stuck = 0; k < path->most && stuck < STUCK; k++) {
    double off = fill_residual(s), product = mean_product(s), small = path->wanted * s->scale;
    if (off <= small && product * s->response <= small * s->scale) return;
    if (!factor(s)) return;
    ++*steps;
    length = advance(s, product);
    stuck = length < SHORT ? stuck + 1 : 0;
  }
}

static void release(const interior *s) {
  carom_factor_destroy(s->factor);
  CAROM_RELEASE_ALL(&s->allocator, s->start, s->neighbor, s->diagonal, s->below, s->above, s->x, s->y, s->dx, s->dy,
                    s->Q, s->P, s->u, s->R, s->rhs);
}

carom_status carom_friction_interior(const carom_assembled *a, const carom_friction_path *path,
                                     const carom_allocator *allocator, double *P, int *steps) {
  interior s = {.a = a,
                .size = a->sparse->size,
                .allocator = *allocator,
                .scale = carom_assembled_scale(a),
                .slope = path->slope};
  carom_status status = make(&s) ? CAROM_OK : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) {
    begin(&s);
    follow(&s, path, steps);
    to_P(&s, s.x, P);
  }
  release(&s);
  return status;
}
