// Energies and forces of blocks of eight tetrahedra, and what nodes get of them. Every corner has a place of its own
// for its force, and nodes sum theirs in a fixed order: the bits do not depend on who computed what.
#include "base/threads.h"
#include "solid/lanes.h"

enum { LANES = CAROM_SOLID_LANES, CHUNK = 32, FEW_BLOCKS = 512, FEW_NODES = 2048 };

// ---- forces ---------------------------------------------------------------------------------------------------------

// f_a = -V P g_a for corners 1 to 3, and minus their sum for corner 0.
LANEWISE void store_corners(const carom_solid_block *b, const eight3x3 *P, eight scale, double *corners) {
  for (int i = 0; i < 3; i++) {
    eight sum = {0};
    for (int a = 1; a < 4; a++) {
      eight f = scale * (P->m[i][0] * lanes_load(b->B[a - 1][0]) + P->m[i][1] * lanes_load(b->B[a - 1][1]) +
                         P->m[i][2] * lanes_load(b->B[a - 1][2]));
      lanes_store(corners + (3 * a + i) * LANES, f);
      sum += f;
    }
    lanes_store(corners + i * LANES, -sum);
  }
}

// A bound to the largest w^2 of V B'AB u = w^2 M u, A = mu + h1 d2J/dF2 + h2 c c'. The eigenvalues of d2J/dF2 are
// +-s_i and the roots of x^3 - |F|^2 x - 2 J (Smith, de Goes, Kim 2019): at most 2/sqrt 3 |F| <= |F|^2/3 + 1 in size,
// from where Newton's method comes down to the largest root of y^3 - |F|^2 y + 2 J, that of the least eigenvalue -y.
LANEWISE eight stiffness_bound(const carom_solid_block *b, const lanes_strain *s, const lanes_law *w,
                               const eight3x3 *c) {
  eight none = {0}, along = none, most = s->size2 * (1.0 / 3) + 1, least = most;
  for (int i = 0; i < 2; i++) {
    eight square = least * least;
    least = (2 * square * least - 2 * s->J) / (3 * square - s->size2);
  }
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < 3; i++) {
      eight q =
          c->m[i][0] * lanes_corner(b, a, 0) + c->m[i][1] * lanes_corner(b, a, 1) + c->m[i][2] * lanes_corner(b, a, 2);
      along += q * q;
    }
  eight slope = lanes_choose(w->h1 > 0, w->h1 * most, -w->h1 * least);
  eight positive = lanes_choose(w->h2 > 0, w->h2, none);
  return lanes_load(b->spread) * (lanes_load(b->mu) + slope) + lanes_load(b->four_over_rho) * positive * along;
}

// P += F S, and the power that damping takes.
LANEWISE eight add_damping(const carom_solid_block *b, const eight3x3 *F, const carom_vec3 *v, eight3x3 *P) {
  eight3x3 rate, D, S;
  eight power = {0};
  lanes_gradient(b, v, &rate);
  lanes_strain_rate(F, &rate, &D);
  lanes_viscous(b, &D, &S);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      P->m[i][j] += F->m[i][0] * S.m[0][j] + F->m[i][1] * S.m[1][j] + F->m[i][2] * S.m[2][j];
      power += S.m[i][j] * D.m[i][j];
    }
  return power;
}

LANEWISE void evaluate_block(const carom_elastic *e, carom_elastic_law law, int number, const carom_vec3 *x,
                             const carom_vec3 *v) {
  const carom_solid_block *b = &e->blocks[number];
  eight3x3 F, c, P;
  lanes_strain s;
  lanes_law w;
  lanes_gradient(b, x, &F);
  lanes_cofactor(&F, &c);
  lanes_strain_of(&F, &c, &s);
  lanes_law_of(law, b, &s, &w);
  eight mu = lanes_load(b->mu), volume = lanes_load(b->volume), power = {0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P.m[i][j] = mu * F.m[i][j] + w.h1 * c.m[i][j];
  if (v) power = add_damping(b, &F, v, &P);
  store_corners(b, &P, -volume, e->corners + (size_t)number * CAROM_SOLID_CORNERS);
  lanes_store(e->J + LANES * (size_t)number, s.J);
  lanes_store(e->energy + LANES * (size_t)number, volume * w.W);
  lanes_store(e->power + LANES * (size_t)number, volume * power);
  lanes_store(e->stiff + LANES * (size_t)number, stiffness_bound(b, &s, &w, &c));
}

LANEWISE void evaluate_blocks(const carom_elastic *e, carom_elastic_law law, int first, const carom_vec3 *x,
                              const carom_vec3 *v) {
  int last = first + CHUNK < e->block_count ? first + CHUNK : e->block_count;
  for (int i = first; i < last; i++) evaluate_block(e, law, i, x, v);
}

CAROM_SIMD_CLONES
static void evaluate_chunk(const carom_elastic *e, int first, const carom_vec3 *x, const carom_vec3 *v) {
  switch (e->law) {
    case CAROM_ELASTIC_STABLE:
      evaluate_blocks(e, CAROM_ELASTIC_STABLE, first, x, v);
      break;
    case CAROM_ELASTIC_CIARLET:
      evaluate_blocks(e, CAROM_ELASTIC_CIARLET, first, x, v);
      break;
    default:
      evaluate_blocks(e, CAROM_ELASTIC_NEO_HOOKE, first, x, v);
      break;
  }
}

void carom_solid_evaluate(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v) {
  const carom_vec3 *rates = e->damped ? v : NULL;
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < e->block_count; i += CHUNK) evaluate_chunk(e, i, x, rates));
}

// ---- stiffness times a vector ---------------------------------------------------------------------------------------

// d c = sum over pairs of columns: c1 = f2 x f3 gives df2 x f3 + f2 x df3.
LANEWISE void cofactor_change(const eight3x3 *F, const eight3x3 *G, eight3x3 *dc) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
      dc->m[i][j] =
          G->m[p][r] * F->m[q][s] - G->m[p][s] * F->m[q][r] + F->m[p][r] * G->m[q][s] - F->m[p][s] * G->m[q][r];
    }
}

LANEWISE void product_block(const carom_elastic *e, carom_elastic_law law, int number, const carom_vec3 *x,
                            const carom_vec3 *u) {
  const carom_solid_block *b = &e->blocks[number];
  eight3x3 F, c, G, dc, P;
  lanes_strain s;
  lanes_law w;
  lanes_gradient(b, x, &F);
  lanes_gradient(b, u, &G);
  lanes_cofactor(&F, &c);
  lanes_strain_of(&F, &c, &s);
  lanes_law_of(law, b, &s, &w);
  cofactor_change(&F, &G, &dc);
  eight along = {0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) along += c.m[i][j] * G.m[i][j];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      P.m[i][j] = lanes_load(b->mu) * G.m[i][j] + w.h2 * along * c.m[i][j] + w.h1 * dc.m[i][j];
  store_corners(b, &P, lanes_load(b->volume), e->corners + (size_t)number * CAROM_SOLID_CORNERS);
}

CAROM_SIMD_CLONES
static void product_chunk(const carom_elastic *e, int first, const carom_vec3 *x, const carom_vec3 *u) {
  int last = first + CHUNK < e->block_count ? first + CHUNK : e->block_count;
  for (int i = first; i < last; i++) product_block(e, e->law, i, x, u);
}

void carom_solid_product(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *u) {
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < e->block_count; i += CHUNK) product_chunk(e, i, x, u));
}

// ---- J alone --------------------------------------------------------------------------------------------------------

CAROM_SIMD_CLONES
static void jacobian_chunk(const carom_elastic *e, int first, const carom_vec3 *x) {
  int last = first + CHUNK < e->block_count ? first + CHUNK : e->block_count;
  for (int i = first; i < last; i++) {
    eight3x3 F, c;
    lanes_gradient(&e->blocks[i], x, &F);
    lanes_cofactor(&F, &c);
    lanes_store(e->J + LANES * (size_t)i, lanes_determinant(&F, &c));
    lanes_store(e->stiff + LANES * (size_t)i, (eight){0});
  }
}

carom_solid_sum carom_solid_jacobians(carom_elastic *e, const carom_vec3 *x) {
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < e->block_count; i += CHUNK) jacobian_chunk(e, i, x));
  return carom_solid_sum_up(e);
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

static inline carom_vec3 node_sum(const carom_elastic *e, int node) {
  carom_vec3 sum = {0, 0, 0};
  for (int k = e->slot_start[node]; k < e->slot_start[node + 1]; k++) {
    const double *f = e->corners + e->slots[k];
    sum = cm_add(sum, cm_vec3(f[0], f[LANES], f[2 * LANES]));
  }
  return sum;
}

void carom_solid_gather(const carom_elastic *e, carom_vec3 *f) {
  int threads = carom_solid_threads(e, e->node_count, FEW_NODES);
  CAROM_PARALLEL_FOR(threads, schedule(static), for (int i = 0; i < e->node_count; i++) f[i] = node_sum(e, i));
}

carom_solid_sum carom_solid_sum_up(const carom_elastic *e) {
  carom_solid_sum sum = {.least_J = e->J[0], .stiffest = e->stiff[0]};
  for (int i = 1; i < e->tet_count; i++) {
    if (!(e->J[i] >= sum.least_J)) sum.least_J = e->J[i], sum.least_tet = i;  // and what is not a number
    if (!(e->stiff[i] <= sum.stiffest)) sum.stiffest = e->stiff[i], sum.stiffest_tet = i;
  }
  return sum;
}

bool carom_solid_has_pole(carom_elastic_law law) { return law != CAROM_ELASTIC_STABLE; }

bool carom_solid_sound(const carom_elastic *e, const carom_solid_sum *sum) {
  return isfinite(sum->least_J) && (sum->least_J > 0 || !carom_solid_has_pole(e->law));
}
