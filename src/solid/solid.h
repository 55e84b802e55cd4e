// The insides of carom/elastic.h.
#ifndef CAROM_SRC_SOLID_SOLID_H
#define CAROM_SRC_SOLID_SOLID_H

#include "base/arena.h"
#include "carom/elastic.h"

enum {
  CAROM_SOLID_LANES = 8,                        // tetrahedra side by side
  CAROM_SOLID_CHUNK = 32,                       // blocks that a thread takes at once
  CAROM_SOLID_CORNERS = 12 * CAROM_SOLID_LANES  // numbers of a block: [corner][component][lane]
};

// What the tetrahedra of a block are made of. Blocks of one material share one of these.
typedef struct carom_solid_matter {
  double mu[CAROM_SOLID_LANES], lambda[CAROM_SOLID_LANES], damping[CAROM_SOLID_LANES];
  double four_over_rho[CAROM_SOLID_LANES];
} carom_solid_matter;

// Eight tetrahedra, lane by lane. Those past the last are copies of the last one, of no volume.
typedef struct carom_solid_block {
  _Alignas(64) double B[3][3][CAROM_SOLID_LANES];  // Dm^-1: F = Ds B, the edges from corner 0 as columns of Ds and Dm
  double volume[CAROM_SOLID_LANES];                // at rest
  double spread[CAROM_SOLID_LANES];                // the largest eigenvalue of sum g g', g the gradients of the corners
  int node[4][CAROM_SOLID_LANES];
  const carom_solid_matter *matter;
} carom_solid_block;

// What was worst at an evaluation: least_J, and the bound to the square of the angular frequency (rad2/s2); and the
// energy and the power of damping, summed in a fixed order as it comes.
typedef struct carom_solid_sum {
  double least_J, stiffest, energy, power;
  int least_tet, stiffest_tet;
} carom_solid_sum;

struct carom_elastic {
  carom_arena arena;  // first: carom_object_create
  int node_count, tet_count, block_count, threads;
  carom_elastic_law law;
  bool damped;
  double stiffest;      // N/m: the largest entry of K to be expected, at rest
  double most_damping;  // s
  carom_vec3 *rest;
  double *mass;
  carom_solid_block *blocks;
  int *slot_start, *slots;  // (node_count + 1): where in `corners` the x of a node's corners are; y and z 8 and 16 on
  double *corners;          // (block_count x CAROM_SOLID_CORNERS)
  double *energy, *power;   // (block_count x 8) of tetrahedra, by the last evaluation that kept them
  carom_solid_sum *sums;    // (block_count / CAROM_SOLID_CHUNK, rounded up)
  carom_solid_matter *matter;
  int matter_count;  // materials, and blocks of several
};

// Corner forces at x, and what was worst; v null: without damping. Energies and powers of tetrahedra are kept where
// they are asked for.
carom_solid_sum carom_solid_evaluate(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v, bool energies);
// Sums of what was kept, in order, compensated.
double carom_solid_energy(const carom_elastic *e);
double carom_solid_power(const carom_elastic *e);  // 0 without damping
// Corner "forces" K u.
void carom_solid_product(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *u);
// Sums the corners of every node, in a fixed order.
void carom_solid_gather(const carom_elastic *e, carom_vec3 *f);
// True unless a tetrahedron is inverted and the law has a pole there.
bool carom_solid_sound(const carom_elastic *e, const carom_solid_sum *sum);
bool carom_solid_has_pole(carom_elastic_law law);

// J at x alone; the sum's stiffest means nothing.
carom_solid_sum carom_solid_jacobians(carom_elastic *e, const carom_vec3 *x);

// One tetrahedron's d2E/dx2, and what there is to make it positive: see stiffness.c. Pairs of corners (a, b <= a) are
// numbered a (a + 1)/2 + b.
enum { CAROM_SOLID_PAIRS = 10, CAROM_SOLID_ELEMENT = 9 * CAROM_SOLID_PAIRS * CAROM_SOLID_LANES };
typedef struct carom_solid_request {
  const carom_vec3 *x;
  carom_elastic_stiffness which;
  const carom_vec3 *before;  // not null: the stiffness of damping by the midpoint rule from here, over h, is added
  double h;
} carom_solid_request;
// Blocks first to last - 1, each to elements + number x CAROM_SOLID_ELEMENT: [pair][row][column][lane].
void carom_solid_elements(const carom_elastic *e, const carom_solid_request *request, int first, int last,
                          double *elements);
// Adds to K what makes A = mu + h1 d2J/dF2 + h2 c c' positive: its eigenvectors with negative eigenvalues.
typedef struct carom_solid_point {
  double F[3][3], h1, h2, mu, volume;
  double g[4][3];  // gradients of the corners
} carom_solid_point;
void carom_solid_make_positive(const carom_solid_point *point, double (*K)[CAROM_SOLID_LANES]);

// A loop over blocks or nodes is worth several threads from here on.
static inline int carom_solid_threads(const carom_elastic *e, int count, int least) {
  return count < least ? 1 : e->threads;
}

#endif
