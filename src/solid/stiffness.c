// Second derivatives of the energy of a tetrahedron. With q_a = c g_a (c = dJ/dF, g_a the gradient of corner a) and
// w_ab = F (g_a x g_b), since d2J/dF2 is the same three-fold product as J with two factors replaced,
//
//     K_ab = V (mu (g_a.g_b) 1 + h'' q_a q_b' - h' hat(w_ab)).
#include <string.h>

#include "solid/lanes.h"

enum { LANES = CAROM_SOLID_LANES };

static const int PAIR[CAROM_SOLID_PAIRS][2] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1},
                                               {2, 2}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};

typedef eight eight_vector[3];

typedef struct corner_fields {
  eight_vector g[4], q[4];
} corner_fields;

LANEWISE void multiply(const eight3x3 *A, const eight *x, eight *y) {
  for (int i = 0; i < 3; i++) y[i] = A->m[i][0] * x[0] + A->m[i][1] * x[1] + A->m[i][2] * x[2];
}

LANEWISE eight dot(const eight *a, const eight *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

LANEWISE void pair_stiffness(const eight3x3 *F, const lanes_law *w, const corner_fields *f, const int pair[2], eight mu,
                             eight K[3][3]) {
  const eight *ga = f->g[pair[0]], *gb = f->g[pair[1]], *qa = f->q[pair[0]], *qb = f->q[pair[1]];
  eight_vector cross = {ga[1] * gb[2] - ga[2] * gb[1], ga[2] * gb[0] - ga[0] * gb[2], ga[0] * gb[1] - ga[1] * gb[0]};
  eight_vector t;
  multiply(F, cross, t);
  eight diagonal = mu * dot(ga, gb);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) K[i][j] = w->h2 * qa[i] * qb[j];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    K[i][i] += diagonal;
    K[j][k] += w->h1 * t[i];  // -hat(t)
    K[k][j] -= w->h1 * t[i];
  }
}

// ---- damping --------------------------------------------------------------------------------------------------------

// By the midpoint rule Green's strain changes at the rate sym(F' (F+ - F-))/h, of which twice sym(F+' dF)/h is the
// change with F. The symmetric part of the two factors F and F+ is that of their mean G, but for a square of F+ - F;
// the skew part, small as the strain of a step, is left to the iteration.
typedef struct damping_fields {
  eight3x3 G, GG, S;  // S: the viscous stress, for the part by the turning of forces
  eight_vector p[4];  // G g_a
  eight lambda, mu;   // 2 tau / h times the constants
} damping_fields;

LANEWISE void prepare_damping(const carom_solid_block *b, const carom_solid_request *r, const eight3x3 *F,
                              const corner_fields *f, damping_fields *d) {
  eight3x3 before, rate, D;
  lanes_gradient(b, r->before, &before);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      eight change = F->m[i][j] - before.m[i][j];
      rate.m[i][j] = change * (2 / r->h);
      d->G.m[i][j] = F->m[i][j] + 0.5 * change;
    }
  lanes_strain_rate(F, &rate, &D);
  lanes_viscous(b, &D, &d->S);
  for (int a = 0; a < 4; a++) multiply(&d->G, f->g[a], d->p[a]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) d->GG.m[i][j] = dot(d->G.m[i], d->G.m[j]);
  eight scale = lanes_load(b->matter->damping) * (2 / r->h);
  d->lambda = scale * lanes_load(b->matter->lambda), d->mu = scale * lanes_load(b->matter->mu);
}

LANEWISE void pair_damping(const damping_fields *d, const corner_fields *f, const int pair[2],
                           carom_elastic_stiffness which, eight K[3][3]) {
  const eight *ga = f->g[pair[0]], *gb = f->g[pair[1]], *pa = d->p[pair[0]], *pb = d->p[pair[1]];
  eight along = d->mu * dot(ga, gb), turning = {0};
  eight_vector Sg;
  multiply(&d->S, gb, Sg);
  if (which == CAROM_ELASTIC_EXACT) turning = dot(ga, Sg);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) K[i][j] = d->lambda * pa[i] * pb[j] + d->mu * pb[i] * pa[j] + along * d->GG.m[i][j];
    K[i][i] += turning;
  }
}

LANEWISE void add_damping(const carom_solid_block *b, const carom_solid_request *r, const eight3x3 *F,
                          const corner_fields *f, double *K) {
  damping_fields d;
  prepare_damping(b, r, F, f, &d);
  for (int p = 0; p < CAROM_SOLID_PAIRS; p++) {
    eight block[3][3];
    pair_damping(&d, f, PAIR[p], r->which, block);
    for (int i = 0; i < 9; i++) {
      double *to = K + (size_t)(9 * p + i) * LANES;
      lanes_store(to, lanes_load(to) + lanes_load(b->volume) * block[i / 3][i % 3]);
    }
  }
}

// ---- all pairs ------------------------------------------------------------------------------------------------------

// What making it positive needs of each lane.
typedef struct lane_points {
  double F[3][3][LANES], h1[LANES], h2[LANES], g[4][3][LANES];
} lane_points;

static void make_lanes_positive(const carom_solid_block *b, const lane_points *points, double *K) {
  for (int l = 0; l < LANES; l++) {
    if (b->volume[l] == 0) continue;
    carom_solid_point p = {.h1 = points->h1[l], .h2 = points->h2[l], .mu = b->matter->mu[l], .volume = b->volume[l]};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) p.F[i][j] = points->F[i][j][l];
    for (int a = 0; a < 4; a++)
      for (int j = 0; j < 3; j++) p.g[a][j] = points->g[a][j][l];
    carom_solid_make_positive(&p, (double(*)[LANES])(K + l));
  }
}

LANEWISE void prepare(const carom_solid_block *b, const eight3x3 *c, corner_fields *f) {
  for (int a = 0; a < 4; a++) {
    for (int j = 0; j < 3; j++) f->g[a][j] = lanes_corner(b, a, j);
    multiply(c, f->g[a], f->q[a]);
  }
}

LANEWISE void keep_points(const eight3x3 *F, const lanes_law *w, const corner_fields *f, lane_points *points) {
  memcpy(points->F, F->m, sizeof points->F);
  memcpy(points->h1, &w->h1, sizeof points->h1);
  memcpy(points->h2, &w->h2, sizeof points->h2);
  for (int a = 0; a < 4; a++) memcpy(points->g[a], f->g[a], sizeof points->g[a]);
}

LANEWISE void element(const carom_elastic *e, const carom_solid_request *r, int number, double *K) {
  const carom_solid_block *b = &e->blocks[number];
  eight3x3 F, c;
  lanes_strain s;
  lanes_law w;
  corner_fields f;
  lane_points points;
  lanes_gradient(b, r->x, &F);
  lanes_cofactor(&F, &c);
  lanes_strain_of(&F, &c, &s);
  lanes_law_of(e->law, b, &s, &w);
  prepare(b, &c, &f);
  for (int p = 0; p < CAROM_SOLID_PAIRS; p++) {
    eight block[3][3];
    pair_stiffness(&F, &w, &f, PAIR[p], lanes_load(b->matter->mu), block);
    for (int i = 0; i < 9; i++)
      lanes_store(K + (size_t)(9 * p + i) * LANES, lanes_load(b->volume) * block[i / 3][i % 3]);
  }
  if (r->before && e->damped) add_damping(b, r, &F, &f, K);
  if (r->which == CAROM_ELASTIC_EXACT) return;
  keep_points(&F, &w, &f, &points);
  make_lanes_positive(b, &points, K);
}

CAROM_SIMD_CLONES
void carom_solid_elements(const carom_elastic *e, const carom_solid_request *request, int first, int last,
                          double *elements) {
  for (int i = first; i < last; i++) element(e, request, i, elements + (size_t)i * CAROM_SOLID_ELEMENT);
}
