/// carom/lcp.h: complementarity problems.
///
///     w = M z + q,   z >= 0,   w >= 0,   z'w = 0                    (the linear problem, LCP)
///
/// and its relatives with free or boxed unknowns (MLCP) and with a nonlinear w = F(z) (NCP). Stands on
/// base.h alone: no bodies, no contacts. Notation follows Cottle, Pang and Stone (1992).
///
/// Two questions have two answers. The status says whether the call was sound; the outcome in `info`
/// says how the mathematics ended: a ray or a limit is an answer, not an error.
#ifndef CAROM_LCP_H
#define CAROM_LCP_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the problem --------------------------------------------------------------------------------

/// A square matrix of blocks, stored by block rows. Diagonal blocks are square; blocks may differ in
/// size. Blocks that are not stored are zero.
typedef struct carom_lcp_blocks {
  int block_count;         ///< block rows, and as many block columns
  const int *start;        ///< (block_count + 1) first unknown of each block; the last entry is n
  const int *row_start;    ///< (block_count + 1) where each block row begins in `column`
  const int *column;       ///< (row_start[block_count]) block column, ascending within a row
  const double *value;     ///< the blocks one after the other, each column-major
} carom_lcp_blocks;

/// A borrowed view: the caller owns the arrays and may edit them between solves.
typedef struct carom_lcp_problem {
  int n;                           ///< number of complementary pairs
  const double *M;                 ///< n x n, column-major; null when `blocks` is given
  const carom_lcp_blocks *blocks;  ///< the same matrix as blocks, or null
  const double *q;                 ///< n
} carom_lcp_problem;

// ---- how to solve -------------------------------------------------------------------------------

typedef enum carom_lcp_method {
  CAROM_LCP_AUTO,        ///< Lemke; again with other covering vectors, then Newton, when that fails
  CAROM_LCP_LEMKE,       ///< complementary pivoting with a lexicographic ratio test
  CAROM_LCP_PGS,         ///< projected Gauss-Seidel or SOR, by blocks when there are any
  CAROM_LCP_NEWTON_FB,   ///< semismooth Newton on the Fischer-Burmeister function, with line search
  CAROM_LCP_NEWTON_MIN,  ///< semismooth Newton on min(z, w), with line search
  CAROM_LCP_ENUMERATE    ///< every complementary basis in turn; up to CAROM_LCP_ENUMERATE_MAX pairs
} carom_lcp_method;

enum { CAROM_LCP_ENUMERATE_MAX = 20 };

/// Where to begin.
typedef enum carom_lcp_start {
  CAROM_LCP_START_COLD,  ///< from z = 0
  CAROM_LCP_START_Z,     ///< from the z that comes in
  CAROM_LCP_START_BASIS  ///< from the basis that comes in (pivoting; other methods take its z)
} carom_lcp_start;

/// Begin with carom_lcp_default_options(); the solver never writes here.
typedef struct carom_lcp_options {
  carom_lcp_method method;  ///< default CAROM_LCP_AUTO
  carom_lcp_start start;    ///< default CAROM_LCP_START_COLD
  int max_iterations;       ///< pivots, sweeps or Newton steps; 0 (default) chooses: 50 n pivots, 10000 sweeps, 200 steps
  double time_limit;        ///< seconds; 0 (default) for none
  double tolerance;         ///< on the natural residual over max(1, |q|_inf); default 1e-10
  const double *covering;   ///< Lemke's covering vector (n, positive); null (default) chooses
  double relaxation;        ///< SOR factor in (0, 2); default 1
  int block_size;           ///< PGS on a dense matrix: unknowns per block; default 1
} carom_lcp_options;

CAROM_API carom_lcp_options carom_lcp_default_options(void);

// ---- how it ended -------------------------------------------------------------------------------

typedef enum carom_lcp_outcome {
  CAROM_LCP_SOLVED,   ///< the residual is within the tolerance
  CAROM_LCP_RAY,      ///< Lemke ended on a ray: for copositive-plus and like matrices, no solution exists
  CAROM_LCP_NONE,     ///< every basis was tried (enumeration): there is no solution
  CAROM_LCP_LIMIT,    ///< out of iterations
  CAROM_LCP_TIME,     ///< out of time
  CAROM_LCP_STALLED,  ///< no further progress: a local minimum of the merit function, or digits lost
} carom_lcp_outcome;

/// "solved", "ray", ...; never null.
CAROM_API const char *carom_lcp_outcome_name(carom_lcp_outcome outcome);
/// "lemke", "pgs", ...; never null.
CAROM_API const char *carom_lcp_method_name(carom_lcp_method method);

typedef struct carom_lcp_info {
  carom_lcp_outcome outcome;
  carom_lcp_method method;  ///< the one that gave the answer
  int iterations;           ///< in the unit of that method, over all attempts with it
  int attempts;             ///< 1 when the first try succeeded
  int refactorizations;     ///< of the basis, for accuracy
  double residual;          ///< |min(z, M z + q)|_inf at the z returned, recomputed from M and q
  double seconds;
} carom_lcp_info;

// ---- solving ------------------------------------------------------------------------------------

typedef struct carom_lcp_work carom_lcp_work;  ///< scratch for problems up to a size; opaque

/// Allocates all that any method needs for up to n_max pairs, dense or in blocks. A null allocator means
/// the library's.
CAROM_API carom_status carom_lcp_work_create(carom_lcp_work **work, int n_max, const carom_allocator *allocator,
                                             carom_error *error);
CAROM_API void carom_lcp_work_destroy(carom_lcp_work *work);  ///< null is fine

/// Never allocates. Fills z and w (n each; w = M z + q) and info whatever the outcome. `basis` (n, may be
/// null) holds 1 where z_i is basic and 0 where w_i is: the complementary basis C(alpha) that gave the
/// answer, and on entry the one to begin with (CAROM_LCP_START_BASIS). Null options mean the defaults.
/// Fails for wrong sizes and for numbers that are not finite.
CAROM_API carom_status carom_lcp_solve(carom_lcp_work *work, const carom_lcp_problem *problem,
                                       const carom_lcp_options *options, double *z, double *w, unsigned char *basis,
                                       carom_lcp_info *info, carom_error *error);

/// The judge of every method and every test: |min(z, M z + q)|_inf; infinity when that is not a number.
CAROM_API double carom_lcp_residual(const carom_lcp_problem *problem, const double *z);

/// w (n) = M z + q.
CAROM_API void carom_lcp_evaluate(const carom_lcp_problem *problem, const double *z, double *w);

#ifdef __cplusplus
}
#endif
#endif
