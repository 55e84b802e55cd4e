// The loops in which pivoting spends its time. Columns are contiguous: A[i + j * lda].
#ifndef CAROM_SRC_SOLVE_LCP_KERNELS_H
#define CAROM_SRC_SOLVE_LCP_KERNELS_H

// y (m) += sum over j < count of x[j] A(:, column[j]); zeros in x cost nothing. A null column list means 0, 1, 2, ...
void carom_lcp_combine(int m, int count, const double *A, int lda, const int *column, const double *x, double *y);
// y[j] = x' A(:, j) for j < count.
void carom_lcp_dots(int m, int count, const double *A, int lda, const double *x, double *y);
// A(:, j) += y[j] x for j < count; zeros in y cost nothing.
void carom_lcp_rank_one(int m, int count, const double *x, const double *y, double *A, int lda);
// The largest |x[i]|, 0 for none.
double carom_lcp_largest(int count, const double *x);
// The smallest (max(x[i], 0) + slack) / d[i] over d[i] > least, infinity when there is none.
double carom_lcp_smallest_ratio(int count, const double *x, const double *d, double least, double slack);

#endif
