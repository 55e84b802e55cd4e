// The matrix I + H B theta B' H' of the interior point: one block of six rows per body that moves, one block per pair
// of bodies that touch or are joined. It is positive definite whatever the contacts, and far smaller than N.
#include <math.h>
#include <string.h>

#include "contact/solve/interior.h"

size_t carom_interior_entries(const carom_contact_problem *p) {
  return 21 * (size_t)p->body_count + 36 * ((size_t)p->contact_count + (size_t)p->row_count);
}

// Lower Cholesky factor of a positive semidefinite 3 x 3 matrix; a pivot that vanishes leaves its column zero.
static void factor_inertia(const double I[6], double L[9]) {
  const double A[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
  double largest = fmax(fmax(I[0], I[1]), I[2]);
  memset(L, 0, 9 * sizeof *L);
  for (int j = 0; j < 3; j++) {
    double pivot = A[j][j];
    for (int k = 0; k < j; k++) pivot -= L[j + 3 * k] * L[j + 3 * k];
    if (!(pivot > 1e-14 * largest)) continue;
    L[j + 3 * j] = sqrt(pivot);
    for (int i = j + 1; i < 3; i++) {
      double sum = A[i][j];
      for (int k = 0; k < j; k++) sum -= L[i + 3 * k] * L[j + 3 * k];
      L[i + 3 * j] = sum / L[j + 3 * j];
    }
  }
}

void carom_interior_factor_bodies(carom_interior *m) {
  const carom_contact_problem *p = &m->s->problem;
  m->blocks = 0;
  for (int i = 0; i < p->body_count; i++) {
    factor_inertia(p->bodies[i].inverse_inertia, m->factor + 9 * (size_t)i);
    m->block[i] = carom_contact_can_move(p, i) ? m->blocks++ : -1;
  }
}

// L' (f, l) of a body
static void whiten(const carom_interior *m, int body, const double wrench[6], double out[6]) {
  const double *L = m->factor + 9 * (size_t)body, *l = wrench + 3;
  double root = sqrt(m->s->problem.bodies[body].inverse_mass);
  for (int k = 0; k < 3; k++) out[k] = root * wrench[k];
  out[3] = L[0] * l[0] + L[1] * l[1] + L[2] * l[2];
  out[4] = L[4] * l[1] + L[5] * l[2];
  out[5] = L[8] * l[2];
}

// The columns of H of one side: three world directions for a contact, one for a row. False where nothing moves.
static bool columns_of(const carom_interior *m, int unit, int side, double H[3][6]) {
  const carom_contact_problem *p = &m->s->problem;
  int body[2];
  carom_contact_bodies_of(p, unit, body);
  if (body[side] < 0 || m->block[body[side]] < 0) return false;
  for (int k = 0; k < (unit < p->contact_count ? 3 : 1); k++) {
    double wrench[6] = {0};
    carom_contact_add_wrench(p, unit, side, cm_vec3(k == 0, k == 1, k == 2), wrench);
    whiten(m, body[side], wrench, H[k]);
  }
  return true;
}

carom_vec3 carom_interior_read(const carom_interior *m, int unit, const double *z) {
  double sum[3] = {0}, H[3][6];
  int body[2], columns = unit < m->s->problem.contact_count ? 3 : 1;
  carom_contact_bodies_of(&m->s->problem, unit, body);
  for (int side = 0; side < 2; side++)
    for (int k = 0, moves = columns_of(m, unit, side, H); moves && k < columns; k++)
      sum[k] += carom_contact_dot6(H[k], z + 6 * (size_t)m->block[body[side]]);
  return cm_vec3(sum[0], sum[1], sum[2]);
}

void carom_interior_push(const carom_interior *m, int unit, carom_vec3 f, double *z) {
  const double force[3] = {f.x, f.y, f.z};
  double H[3][6];
  int body[2], columns = unit < m->s->problem.contact_count ? 3 : 1;
  carom_contact_bodies_of(&m->s->problem, unit, body);
  for (int side = 0; side < 2; side++)
    for (int k = 0, moves = columns_of(m, unit, side, H); moves && k < columns; k++)
      for (int i = 0; i < 6; i++) z[6 * (size_t)m->block[body[side]] + (size_t)i] += force[k] * H[k][i];
}

// ---- pattern ----------------------------------------------------------------------------------

// Blocks below the diagonal, block column by block column, ascending and each once.
static void fill_neighbors(carom_interior *m) {
  const carom_contact_problem *p = &m->s->problem;
  int filled = 0;
  for (int b = 0; b < p->body_count; b++) {
    if (m->block[b] < 0) continue;
    int first = filled;
    m->neighbor_start[m->block[b]] = filled;
    for (int k = m->s->incident_start[b]; k < m->s->incident_start[b + 1]; k++) {
      int body[2];
      carom_contact_bodies_of(p, m->s->incident[k] >> 1, body);
      int other = body[1 - (m->s->incident[k] & 1)], block = other < 0 ? -1 : m->block[other], at = filled;
      if (block <= m->block[b]) continue;
      while (at > first && m->neighbor[at - 1] > block) at--;
      if (at > first && m->neighbor[at - 1] == block) continue;
      memmove(m->neighbor + at + 1, m->neighbor + at, (size_t)(filled - at) * sizeof *m->neighbor);
      m->neighbor[at] = block;
      filled++;
    }
  }
  m->neighbor_start[m->blocks] = filled;
}

void carom_interior_pattern(carom_interior *m) {
  fill_neighbors(m);
  int entries = 0;
  for (int b = 0; b < m->blocks; b++)
    for (int j = 0; j < 6; j++) {
      m->column[6 * b + j] = entries;
      for (int i = j; i < 6; i++) m->row[entries++] = 6 * b + i;
      for (int k = m->neighbor_start[b]; k < m->neighbor_start[b + 1]; k++)
        for (int i = 0; i < 6; i++) m->row[entries++] = 6 * m->neighbor[k] + i;
    }
  m->column[6 * m->blocks] = entries;
}

carom_sparse carom_interior_matrix(const carom_interior *m) {
  return (carom_sparse){6 * m->blocks, m->column, m->row, m->value};
}

// ---- values -----------------------------------------------------------------------------------

static int neighbor_number(const carom_interior *m, int column, int block) {
  int low = m->neighbor_start[column], high = m->neighbor_start[column + 1];
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (m->neighbor[middle] <= block)
      low = middle;
    else
      high = middle;
  }
  return low - m->neighbor_start[column];
}

// One side of a unit in the matrix.
typedef struct half {
  bool moves;
  int block;
  double H[3][6];
} half;

// Adds P' theta Q to the block (row, column), row >= column, with P and Q given by columns.
static void add_block(carom_interior *m, const half *P, const half *Q, const carom_mat3 *theta, int columns) {
  int row = P->block, column = Q->block;
  double TQ[3][6] = {{0}};
  for (int k = 0; k < columns; k++)
    for (int l = 0; l < columns; l++)
      for (int j = 0; j < 6; j++) TQ[k][j] += theta->m[k][l] * Q->H[l][j];
  int below = row == column ? 0 : 6 * neighbor_number(m, column, row);
  for (int j = 0; j < 6; j++) {
    double *value = m->value + m->column[6 * column + j] + (row == column ? -j : 6 - j + below);
    for (int i = row == column ? j : 0; i < 6; i++)
      for (int k = 0; k < columns; k++) value[i] += P->H[k][i] * TQ[k][j];
  }
}

static void add_unit(carom_interior *m, int unit) {
  const carom_mat3 *theta = &m->units[unit].theta;
  int body[2], columns = unit < m->s->problem.contact_count ? 3 : 1;
  half sides[2];
  carom_contact_bodies_of(&m->s->problem, unit, body);
  for (int k = 0; k < 2; k++) {
    sides[k].moves = columns_of(m, unit, k, sides[k].H);
    if (!sides[k].moves) continue;
    sides[k].block = m->block[body[k]];
    add_block(m, &sides[k], &sides[k], theta, columns);
  }
  int lower = sides[0].moves && sides[1].moves && sides[0].block > sides[1].block ? 0 : 1;
  if (sides[0].moves && sides[1].moves) add_block(m, &sides[lower], &sides[1 - lower], theta, columns);
}

void carom_interior_assemble(carom_interior *m) {
  memset(m->value, 0, (size_t)m->column[6 * m->blocks] * sizeof *m->value);
  for (int j = 0; j < 6 * m->blocks; j++) m->value[m->column[j]] = 1;
  for (int i = 0; i < m->s->problem.contact_count + m->s->problem.row_count; i++)
    if (m->units[i].kind != CAROM_CONTACT_SKIPPED) add_unit(m, i);
}
