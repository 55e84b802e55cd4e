// The basis of complementary pivoting: which of w, z and z0 are basic, and the inverse that goes with it.
//
// The system is  w - M z - d z0 = q.  Of a basis matrix B the columns of basic w are unit vectors; what remains is the
// kernel K = M(rows, columns), where `rows` are those whose w is not basic and `columns` the z (and z0, as column n)
// that are. With N = K^-1 kept explicitly,  B x = b  reads
//
//     x_columns = -N b_rows,      x_w = b_w + M(w, columns) x_columns,
//
// and each exchange of one basic variable is an update of N of rank one. N is only as large as the number of basic z:
// for contact problems a fraction of n.
#ifndef CAROM_SRC_SOLVE_LCP_BASIS_H
#define CAROM_SRC_SOLVE_LCP_BASIS_H

#include "solve/lcp_matrix.h"

// Variables are numbered w_i = i, z_i = n + i, z0 = 2n.
typedef struct carom_lcp_basis {
  const carom_lcp_matrix *matrix;
  int n, k, lda;
  double *N;                // (lda x k) N[position of column + position of row * lda]
  int *rows, *columns;      // (k)
  int *row_at, *column_at;  // (n), (n + 1): position in the lists above, or -1
  double *border;           // (n + 1) scratch: a row or column of M
  double *product;          // (n + 1) scratch: the same times N
  double *right;            // (n + 1) scratch: the right-hand side of a system
  double *panel;            // (CAROM_LCP_INVERSE_PANEL * (n + 1)) scratch
  int *swaps;               // (n + 1) scratch
  int refactorizations;
} carom_lcp_basis;

carom_status carom_lcp_basis_create(carom_lcp_basis *basis, int n_max, const carom_allocator *allocator);
void carom_lcp_basis_destroy(carom_lcp_basis *basis, const carom_allocator *allocator);

// All w basic.
void carom_lcp_basis_reset(carom_lcp_basis *basis, const carom_lcp_matrix *matrix);
// z_i basic where chosen[i] is set, w_i elsewhere. CAROM_ERR_SINGULAR when that is no basis; then reset it.
carom_status carom_lcp_basis_choose(carom_lcp_basis *basis, const carom_lcp_matrix *matrix,
                                    const unsigned char *chosen);
// N anew from the matrix.
carom_status carom_lcp_basis_refactor(carom_lcp_basis *basis);

// x = B^-1 b, refined: basic w in xw (n; zero for rows of the kernel), the rest in xc (k, in the order of `columns`).
// Returns an estimate of the error of x.
double carom_lcp_basis_solve(const carom_lcp_basis *basis, const double *b, double *xw, double *xc);
// The same for the column of a variable that is not basic: the rate at which basic variables fall as it rises.
// *defect (may be null) tells the digits that N has lost: how far B x missed before refinement, over the largest of x.
double carom_lcp_basis_direction(const carom_lcp_basis *basis, int variable, double *xw, double *xc, double *defect);

// One exchange; xw and xc are the direction of the entering variable. Among `columns`, z for w appends, w for z moves
// the last into the gap, z for z takes the same place, w for w changes nothing.
void carom_lcp_basis_exchange(carom_lcp_basis *basis, int entering, int leaving, const double *xw, const double *xc);

#endif
