#include "contact/solve/assembled.h"

#include <math.h>
#include <string.h>

#include "contact/solve/sweeps.h"
#include "solve/lcp_kernels.h"

static const double PI = 3.14159265358979323846;

// ---- polygons -------------------------------------------------------------------------------------------------------

void carom_block_corner(const carom_block *b, int corner, double d[2]) {
  double angle = b->angle + 2 * PI * corner / b->corners;
  d[0] = cos(angle), d[1] = sin(angle);
}

// Where t, outside, is projected to on the polygon of that radius: P_t = radius c + s e, with c the corner and e the
// edge (zero where the corner itself is nearest).
typedef struct side {
  double c[2], e[2], s;
} side;

static side nearest_side(const carom_block *b, const double t[2], double radius) {
  double step = 2 * PI / b->corners, angle = atan2(t[1], t[0]) - b->angle, next[2];
  int corner = (int)floor(angle / step);
  side n = {.s = 0};
  carom_block_corner(b, corner, n.c);
  carom_block_corner(b, corner + 1, next);
  double e[2] = {next[0] - n.c[0], next[1] - n.c[1]}, ee = e[0] * e[0] + e[1] * e[1];
  double s = ((t[0] - radius * n.c[0]) * e[0] + (t[1] - radius * n.c[1]) * e[1]) / ee;
  if (s >= radius) memcpy(n.c, next, sizeof next);
  if (s > 0 && s < radius) memcpy(n.e, e, sizeof e), n.s = s;
  return n;
}

static bool in_polygon(const carom_block *b, const double t[2], double radius) {
  double step = 2 * PI / b->corners, angle = atan2(t[1], t[0]) - b->angle, into = angle - step * floor(angle / step);
  return hypot(t[0], t[1]) * cos(into - step / 2) <= radius * cos(step / 2);
}

static void polygon_law(const carom_block *b, const double *z, double *P, double D[3][3]) {
  side n = nearest_side(b, z + 1, b->mu * z[0]);
  double ee = n.e[0] * n.e[0] + n.e[1] * n.e[1], ce = ee > 0 ? (n.c[0] * n.e[0] + n.c[1] * n.e[1]) / ee : 0;
  for (int r = 0; r < 2; r++) {
    P[1 + r] = b->mu * z[0] * n.c[r] + n.s * n.e[r];
    if (!D) continue;
    D[1 + r][0] = b->mu * (n.c[r] - ce * n.e[r]);
    for (int q = 0; q < 2; q++) D[1 + r][1 + q] = ee > 0 ? n.e[r] * n.e[q] / ee : 0;
  }
}

// ---- laws -----------------------------------------------------------------------------------------------------------

static void disc_law(const carom_block *b, const double *z, double size, double *P, double D[3][3]) {
  double limit = b->mu * z[0];
  for (int r = 1; r < b->width; r++) {
    P[r] = limit * z[r] / size;
    if (!D) continue;
    D[r][0] = b->mu * z[r] / size;
    for (int q = 1; q < b->width; q++) D[r][q] = limit / size * ((r == q) - z[r] * z[q] / (size * size));
  }
}

static bool sticks(const carom_block *b, const double *z, double size) {
  return b->corners > 0 && b->width == 3 ? in_polygon(b, z + 1, b->mu * z[0]) : size <= b->mu * z[0];
}

void carom_block_law(const carom_block *b, const double *z, double *P, double D[3][3]) {
  bool closed = b->kind == CAROM_BLOCK_FREE || z[0] > 0;
  if (D) memset(D, 0, 9 * sizeof(double));
  if (b->kind == CAROM_BLOCK_BOXED) {
    P[0] = fmin(fmax(z[0], b->lower), b->upper);
    if (D) D[0][0] = P[0] == z[0];
    return;
  }
  for (int r = 0; r < b->width; r++) P[r] = closed ? z[r] : 0;
  for (int r = 0; r < b->width && D && closed; r++) D[r][r] = 1;
  if (!closed || b->width == 1) return;
  double size = b->width == 3 ? hypot(z[1], z[2]) : fabs(z[1]);
  if (sticks(b, z, size)) return;
  if (b->corners > 0 && b->width == 3)
    polygon_law(b, z, P, D);
  else
    disc_law(b, z, size, P, D);
}

// ---- residuals ------------------------------------------------------------------------------------------------------

double carom_block_response(const carom_assembled *a, const carom_block *b) {
  double sum = 0;
  for (int r = b->first; r < b->first + b->width; r++) sum += carom_assembled_own(a, r);
  return sum / b->width;
}

// Where the law does not move z, P - law(z) would lose u to the round-off of a large P.
double carom_block_residual(const carom_assembled *a, const carom_block *b, const double *P, const double *u) {
  double response = carom_block_response(a, b), z[3] = {0}, law[3], worst = 0;
  if (!(response > 0)) return 0;
  for (int r = 0; r < b->width; r++) z[r] = P[b->first + r] - u[b->first + r] / response;
  carom_block_law(b, z, law, NULL);
  for (int r = 0; r < b->width; r++) {
    double off = law[r] == z[r] ? u[b->first + r] : response * (P[b->first + r] - law[r]);
    if (!(fabs(off) <= worst)) worst = fabs(off);
  }
  return worst;
}

void carom_levers_push(const carom_assembled *a, const double *P) {
  memset(a->V, 0, 6 * (size_t)a->bodies * sizeof *a->V);
  for (int r = 0; r < a->rows; r++)
    for (int end = 0; end < 2; end++)
      for (int k = 0; k < 6 && a->levers[r].body[end] >= 0; k++)
        a->V[6 * a->levers[r].body[end] + k] += P[r] * a->levers[r].SJ[end][k];
}

double carom_lever_rate(const carom_lever *lever, const double *V) {
  double rate = 0;
  for (int end = 0; end < 2; end++)
    for (int k = 0; k < 6 && lever->body[end] >= 0; k++) rate += lever->J[end][k] * V[6 * lever->body[end] + k];
  return rate;
}

// u (size) += A x with A (size x size) by columns.
static inline void add_product(int size, const double *A, const double *x, double *u) {
  if (size == 3) {
    double a = x[0], b = x[1], c = x[2];
    for (int r = 0; r < 3; r++) u[r] += A[r] * a + A[3 + r] * b + A[6 + r] * c;
  } else {
    for (int q = 0; q < size; q++)
      for (int r = 0; r < size; r++) u[r] += A[r + q * size] * x[q];
  }
}

static void add_sparse(const carom_assembled *a, const double *P, double *u) {
  const carom_block_rows *w = a->sparse;
  size_t B = (size_t)w->size;
  for (size_t i = 0; i < (size_t)a->count; i++)
    for (int k = w->start[i]; k < w->start[i + 1]; k++)
      add_product(w->size, w->value + B * B * (size_t)k, P + B * (size_t)w->column[k], u + B * i);
}

void carom_assembled_add(const carom_assembled *a, const double *P, double *u) {
  if (a->sparse) {
    add_sparse(a, P, u);
  } else if (a->W) {
    carom_lcp_combine(a->rows, a->rows, a->W, a->rows, NULL, P, u);
  } else {
    carom_levers_push(a, P);
    for (int r = 0; r < a->rows; r++) u[r] += carom_lever_rate(&a->levers[r], a->V);
  }
}

void carom_assembled_velocity(const carom_assembled *a, const double *P, double *u) {
  if (a->rows == 0) return;
  memcpy(u, a->u0, (size_t)a->rows * sizeof *u);
  carom_assembled_add(a, P, u);
}

double carom_assembled_scale(const carom_assembled *a) { return carom_lcp_largest(a->rows, a->u0); }

double carom_assembled_residual(const carom_assembled *a, const double *P, const double *u) {
  double worst = 0;
  for (int i = 0; i < a->count; i++) {
    double own = carom_block_residual(a, &a->blocks[i], P, u);
    if (!(own <= worst)) worst = own;
  }
  return isfinite(worst) ? worst : INFINITY;
}

// ---- sweeps ---------------------------------------------------------------------------------------------------------

static const double SETBACK = 4;  // growth of the energy of sweeps that drops the momentum

typedef struct run {
  const carom_assembled *a;
  const carom_iterate *x;
  double good, residual;
} run;

// u (size) += A' x with A (size x size) by columns.
static inline void add_transposed(int size, const double *A, const double *x, double *u) {
  if (size == 3) {
    double a = x[0], b = x[1], c = x[2];
    for (int r = 0; r < 3; r++) u[r] += A[3 * r] * a + A[3 * r + 1] * b + A[3 * r + 2] * c;
  } else {
    for (int r = 0; r < size; r++)
      for (int q = 0; q < size; q++) u[r] += A[q + r * size] * x[q];
  }
}

// Velocities after block number i has changed by d.
static void push_change(const carom_assembled *a, int i, const double *d, double *u) {
  const carom_block *b = &a->blocks[i];
  if (!a->sparse) {
    carom_lcp_combine(a->rows, b->width, a->W + (size_t)b->first * (size_t)a->rows, a->rows, NULL, d, u);
    return;
  }
  const carom_block_rows *w = a->sparse;
  int B = w->size;
  bool moved = false;
  for (int k = 0; k < B; k++) moved = moved || d[k] != 0;
  if (!moved) return;
  for (int k = w->start[i]; k < w->start[i + 1]; k++)  // of the column, which are those of the row transposed
    add_transposed(B, w->value + (size_t)(B * B) * (size_t)k, d, u + B * w->column[k]);
}

// The normal first, then the tangents with the velocities that its change leaves: the law of a block alone, twice.
static void visit(const run *r, int i, carom_sweep_tally *tally) {
  const carom_assembled *a = r->a;
  const carom_block *b = &a->blocks[i];
  const double *own_column =
      a->sparse ? carom_block_rows_own(a->sparse, i) : a->W + (size_t)b->first * ((size_t)a->rows + 1);
  double *P = r->x->P + b->first, *u = r->x->u + b->first, *before = r->x->P_before + b->first;
  double normal = carom_assembled_own(a, b->first), rho = carom_block_response(a, b), d[3] = {0}, z[3] = {0}, law[3];
  if (!(normal > 0)) return;
  double across = b->width > 1 ? (b->width * rho - normal) / (b->width - 1) : 0;
  z[0] = P[0] - u[0] / normal;
  d[0] = (b->kind == CAROM_BLOCK_FREE ? z[0] : fmax(z[0], 0)) - P[0];
  for (int k = 1; k < b->width; k++) z[k] = across > 0 ? P[k] - (u[k] + own_column[k] * d[0]) / across : 0;
  carom_block_law(b, z, law, NULL);
  carom_sweep_tally own = {0};
  for (int k = 0; k < b->width; k++) {
    d[k] = law[k] - P[k], P[k] = law[k];
    own.most += rho * d[k] * rho * d[k];
    own.energy += rho * d[k] * d[k];
    own.turn -= rho * d[k] * (P[k] - before[k]);
  }
  carom_sweep_add(tally, &own);
  push_change(a, i, d, r->x->u);
}

static carom_sweep_tally sweep(void *context, double beta) {
  const run *r = context;
  carom_sweep_tally tally = {0};
  carom_sweep_extrapolate(r->a->rows, beta, r->x->P, r->x->P_before);
  carom_sweep_extrapolate(r->a->rows, beta, r->x->u, r->x->u_before);
  for (int i = 0; i < r->a->count; i++) visit(r, i, &tally);
  return tally;
}

// Velocities are made afresh, to shed round-off.
static bool judge(void *context) {
  run *r = context;
  carom_assembled_velocity(r->a, r->x->P, r->x->u);
  r->residual = carom_assembled_residual(r->a, r->x->P, r->x->u);
  return r->residual <= r->good;
}

double carom_assembled_sweep(const carom_assembled *a, const carom_iterate *x, double good, int most, int *done) {
  run r = {a, x, good, 0};
  bool solved;
  if (judge(&r)) return r.residual;
  memcpy(x->P_before, x->P, (size_t)a->rows * sizeof *x->P);
  memcpy(x->u_before, x->u, (size_t)a->rows * sizeof *x->u);
  *done += carom_sweeps_run(&(carom_sweeps){&r, sweep, judge, good, SETBACK, most}, &solved);
  if (!solved) judge(&r);
  return r.residual;
}
