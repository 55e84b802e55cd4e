// Energies and forces of blocks of eight tetrahedra, and what nodes get of them. Every corner has a place of its own
// for its force, and nodes sum theirs in a fixed order: the bits do not depend on who computed what.
#include "base/threads.h"
#include "math/sum.h"
#include "solid/lanes.h"

enum { LANES = CAROM_SOLID_LANES, CHUNK = CAROM_SOLID_CHUNK, FEW_BLOCKS = 512, FEW_NODES = 2048 };

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
  return lanes_load(b->matter->four_over_rho) *
         (lanes_load(b->spread) * (lanes_load(b->matter->mu) + slope) + positive * along);
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

// The worst of each lane, and the blocks they are in (what is not a number is worst), and sums.
typedef struct lanes_worst {
  eight least, stiffest, energy, power;
  eight_int least_block, stiffest_block;
} lanes_worst;

LANEWISE void note_least(lanes_worst *w, int number, eight J) {
  eight_int better = ~(J >= w->least);
  w->least = lanes_choose(better, J, w->least);
  w->least_block = (w->least_block & ~better) | (better & number);
}

LANEWISE void note_stiffest(lanes_worst *w, int number, eight bound) {
  eight_int better = ~(bound <= w->stiffest);
  w->stiffest = lanes_choose(better, bound, w->stiffest);
  w->stiffest_block = (w->stiffest_block & ~better) | (better & number);
}

LANEWISE lanes_worst nothing_yet(void) {
  eight none = {0};
  return (lanes_worst){.least = none + (double)INFINITY, .stiffest = none - 1, .energy = none, .power = none};
}

// Lanes past the last tetrahedron are copies of it.
static int tet_of(const carom_elastic *e, int64_t block, int lane) {
  int tet = LANES * (int)block + lane;
  return tet < e->tet_count ? tet : e->tet_count - 1;
}

static void merge(carom_solid_sum *sum, const carom_solid_sum *other) {
  if (!(other->least_J >= sum->least_J)) sum->least_J = other->least_J, sum->least_tet = other->least_tet;
  sum->energy += other->energy, sum->power += other->power;
  if (!(other->stiffest <= sum->stiffest)) sum->stiffest = other->stiffest, sum->stiffest_tet = other->stiffest_tet;
}

LANEWISE carom_solid_sum worst_of(const carom_elastic *e, const lanes_worst *w) {
  carom_solid_sum sum = {w->least[0], w->stiffest[0], w->energy[0], w->power[0], 0, 0};
  sum.least_tet = tet_of(e, w->least_block[0], 0), sum.stiffest_tet = tet_of(e, w->stiffest_block[0], 0);
  for (int l = 1; l < LANES; l++) {
    carom_solid_sum lane = {w->least[l], w->stiffest[l], w->energy[l], w->power[l], 0, 0};
    lane.least_tet = tet_of(e, w->least_block[l], l), lane.stiffest_tet = tet_of(e, w->stiffest_block[l], l);
    merge(&sum, &lane);
  }
  return sum;
}

// What is evaluated, and where.
typedef struct task {
  const carom_elastic *e;
  const carom_vec3 *x, *v;
  bool energies;
} task;

LANEWISE void evaluate_block(const task *t, carom_elastic_law law, int number, lanes_worst *worst) {
  const carom_elastic *e = t->e;
  const carom_solid_block *b = &e->blocks[number];
  eight3x3 F, c, P;
  lanes_strain s;
  lanes_law w;
  lanes_gradient(b, t->x, &F);
  lanes_cofactor(&F, &c);
  lanes_strain_of(&F, &c, &s);
  lanes_law_of(law, b, &s, &w);
  eight mu = lanes_load(b->matter->mu), volume = lanes_load(b->volume), power = {0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P.m[i][j] = mu * F.m[i][j] + w.h1 * c.m[i][j];
  if (t->v) power = add_damping(b, &F, t->v, &P);
  store_corners(b, &P, -volume, e->corners + (size_t)number * CAROM_SOLID_CORNERS);
  note_least(worst, number, s.J);
  note_stiffest(worst, number, stiffness_bound(b, &s, &w, &c));
  worst->energy += volume * w.W, worst->power += volume * power;
  if (!t->energies) return;
  lanes_store(e->energy + LANES * (size_t)number, volume * w.W);
  lanes_store(e->power + LANES * (size_t)number, volume * power);
}

static inline int chunk_end(const carom_elastic *e, int first) {
  return first + CHUNK < e->block_count ? first + CHUNK : e->block_count;
}

LANEWISE void evaluate_blocks(const task *t, carom_elastic_law law, int first) {
  lanes_worst worst = nothing_yet();
  for (int i = first; i < chunk_end(t->e, first); i++) evaluate_block(t, law, i, &worst);
  t->e->sums[first / CHUNK] = worst_of(t->e, &worst);
}

CAROM_SIMD_CLONES
static void evaluate_chunk(const task *t, int first) {
  switch (t->e->law) {
    case CAROM_ELASTIC_STABLE:
      evaluate_blocks(t, CAROM_ELASTIC_STABLE, first);
      break;
    case CAROM_ELASTIC_CIARLET:
      evaluate_blocks(t, CAROM_ELASTIC_CIARLET, first);
      break;
    default:
      evaluate_blocks(t, CAROM_ELASTIC_NEO_HOOKE, first);
      break;
  }
}

static carom_solid_sum sum_up(const carom_elastic *e) {
  carom_solid_sum sum = e->sums[0];
  for (int i = CHUNK; i < e->block_count; i += CHUNK) merge(&sum, &e->sums[i / CHUNK]);
  return sum;
}

carom_solid_sum carom_solid_evaluate(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v, bool energies) {
  task t = {e, x, e->damped ? v : NULL, energies};
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static), for (int i = 0; i < e->block_count; i += CHUNK) evaluate_chunk(&t, i));
  return sum_up(e);
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
      P.m[i][j] = lanes_load(b->matter->mu) * G.m[i][j] + w.h2 * along * c.m[i][j] + w.h1 * dc.m[i][j];
  store_corners(b, &P, lanes_load(b->volume), e->corners + (size_t)number * CAROM_SOLID_CORNERS);
}

CAROM_SIMD_CLONES
static void product_chunk(const carom_elastic *e, int first, const carom_vec3 *x, const carom_vec3 *u) {
  for (int i = first; i < chunk_end(e, first); i++) product_block(e, e->law, i, x, u);
}

void carom_solid_product(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *u) {
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < e->block_count; i += CHUNK) product_chunk(e, i, x, u));
}

// ---- J alone --------------------------------------------------------------------------------------------------------

CAROM_SIMD_CLONES
static void jacobian_chunk(const carom_elastic *e, int first, const carom_vec3 *x) {
  lanes_worst worst = nothing_yet();
  for (int i = first; i < chunk_end(e, first); i++) {
    eight3x3 F, c;
    lanes_gradient(&e->blocks[i], x, &F);
    lanes_cofactor(&F, &c);
    note_least(&worst, i, lanes_determinant(&F, &c));
  }
  e->sums[first / CHUNK] = worst_of(e, &worst);
}

carom_solid_sum carom_solid_jacobians(carom_elastic *e, const carom_vec3 *x) {
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < e->block_count; i += CHUNK) jacobian_chunk(e, i, x));
  return sum_up(e);
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

static double total(const double *terms, int count) {
  carom_sum sum = {0};
  for (int i = 0; i < count; i++) carom_sum_add(&sum, terms[i]);
  return carom_sum_value(&sum);
}

double carom_solid_energy(const carom_elastic *e) { return total(e->energy, e->tet_count); }
double carom_solid_power(const carom_elastic *e) { return e->damped ? total(e->power, e->tet_count) : 0; }

bool carom_solid_has_pole(carom_elastic_law law) { return law != CAROM_ELASTIC_STABLE; }

bool carom_solid_sound(const carom_elastic *e, const carom_solid_sum *sum) {
  return isfinite(sum->least_J) && (sum->least_J > 0 || !carom_solid_has_pole(e->law));
}
