// libcarom_tao.so: the bound-constrained program of generators (Gavrea 2.3.10) by TAO's BLMVM and TRON, over MPI. Every
// rank holds the problem; unknowns, products and vectors are shared out by contacts, bodies by stretches of a walk over
// the contact graph. Unknowns are scaled by sqrt(rho), which gives N a unit diagonal.
#include <petsctao.h>

#include "contact/solve/tao.h"
#include "contact/solve/tao_parts.h"

typedef struct session {
  carom_contact_system *s;
  carom_contact_info *info;
  carom_parts parts;
  void *memory;
  Vec x, lower, upper;  // unknowns times sqrt(rho)
  Vec reference, slope,
      difference;  // f is measured from here: near the end differences of f would be lost in round-off
  Mat levers;      // D' over sqrt(rho): unknowns by bodies in the order of the walk
  Vec all;         // wrenches, then velocities of all bodies
  Vec root;        // sqrt(rho), 1 where that is zero
  Vec r;           // own part of r
  Mat hessian;
  Tao tao;
  double residual;
} session;

// ---- the product ------------------------------------------------------------------------------

// y = N x in scaled unknowns.
static PetscErrorCode multiply(session *m, Vec x, Vec y) {
  double *v;
  PetscFunctionBegin;
  PetscCall(MatMultTranspose(m->levers, x, m->all));
  PetscCall(VecGetArray(m->all, &v));
  carom_parts_mobility(&m->parts, v);
  PetscCall(VecRestoreArray(m->all, &v));
  PetscCall(MatMult(m->levers, m->all, y));
  m->info->products++;
  PetscFunctionReturn(0);
}

static PetscErrorCode shell_multiply(Mat A, Vec x, Vec y) {
  session *m;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &m));
  PetscCall(multiply(m, x, y));
  PetscFunctionReturn(0);
}

// g = N x + r and f(x) - f(reference) = (x - reference)' (g + slope) / 2, exact for a quadratic.
static PetscErrorCode objective(Tao tao, Vec x, PetscReal *f, Vec g, void *context) {
  session *m = context;
  PetscReal with_g, with_slope;
  PetscFunctionBegin;
  (void)tao;
  PetscCall(multiply(m, x, g));
  PetscCall(VecAXPY(g, 1, m->r));
  PetscCall(VecWAXPY(m->difference, -1, m->reference, x));
  PetscCall(VecDot(m->difference, g, &with_g));
  PetscCall(VecDot(m->difference, m->slope, &with_slope));
  *f = (with_g + with_slope) / 2;
  PetscFunctionReturn(0);
}

static PetscErrorCode hessian(Tao tao, Vec x, Mat H, Mat P, void *context) {
  PetscFunctionBegin;
  (void)tao, (void)x, (void)P, (void)context;
  PetscCall(MatAssemblyBegin(H, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(H, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

// ---- when to stop -----------------------------------------------------------------------------

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// The residual of all methods. A projected gradient will do in place of the gradient: they differ only where neither
// moves the projection.
static PetscErrorCode natural_residual(session *m, Vec x, Vec g, double *residual) {
  Vec vectors[] = {x, g, m->lower, m->upper, m->root};
  const double *v[5], *xs, *gs, *lower, *upper, *root;
  double worst = 0;
  PetscFunctionBegin;
  for (int i = 0; i < 5; i++) PetscCall(VecGetArrayRead(vectors[i], &v[i]));
  xs = v[0], gs = v[1], lower = v[2], upper = v[3], root = v[4];
  for (int i = 0, k = 0; i < m->parts.item_count; i++) {
    double sum = 0, rho = m->s->rho[m->parts.items[i]];
    for (int last = k + carom_parts_width(&m->parts, m->parts.items[i]); k < last; k++) {
      double e = root[k] * (xs[k] - clamp(xs[k] - gs[k], lower[k], upper[k]));  // rho (x - P(x - w / rho))
      sum += e * e;
    }
    if (rho > 0) worst = PetscMax(worst, PetscSqrtReal(sum));
  }
  for (int i = 0; i < 5; i++) PetscCall(VecRestoreArrayRead(vectors[i], &v[i]));
  PetscCallMPI(MPI_Allreduce(&worst, residual, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode converged(Tao tao, void *context) {
  session *m = context;
  Vec x, g;
  PetscInt iteration;
  PetscFunctionBegin;
  PetscCall(TaoGetSolution(tao, &x));
  PetscCall(TaoGetGradient(tao, &g, NULL, NULL));
  PetscCall(TaoGetIterationNumber(tao, &iteration));
  PetscCall(natural_residual(m, x, g, &m->residual));
  if (m->residual <= m->s->options.tolerance * m->s->scale)
    PetscCall(TaoSetConvergedReason(tao, TAO_CONVERGED_USER));
  else if (m->info->iterations + iteration >= m->s->options.max_iterations)
    PetscCall(TaoSetConvergedReason(tao, TAO_DIVERGED_MAXITS));
  PetscFunctionReturn(0);
}

// ---- set-up -----------------------------------------------------------------------------------

static PetscErrorCode share_out(session *m) {
  PetscMPIInt rank, ranks;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  char *bytes;
  PetscCall(PetscCalloc1(carom_parts_bytes(m->s, ranks), &bytes));
  m->memory = bytes;
  carom_parts_make(&m->parts, m->s, rank, ranks, m->memory);
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_vectors(session *m) {
  Vec vectors[] = {m->x, m->lower, m->upper, m->root, m->r};
  double *v[5];
  const carom_contact_problem *p = &m->s->problem;
  PetscFunctionBegin;
  for (int i = 0; i < 5; i++) PetscCall(VecGetArray(vectors[i], &v[i]));
  double *x = v[0], *lower = v[1], *upper = v[2], *root = v[3], *r = v[4];
  for (int i = 0, k = 0; i < m->parts.item_count; i++) {
    int item = m->parts.items[i];
    size_t from = carom_contact_offset(m->s, item);
    double rho = m->s->rho[item];
    const carom_contact_row *row = item < p->contact_count ? NULL : &p->rows[item - p->contact_count];
    for (int last = k + carom_parts_width(&m->parts, item); k < last; k++, from++) {
      root[k] = rho > 0 ? PetscSqrtReal(rho) : 1;
      lower[k] = !(rho > 0) ? 0 : !row ? 0 : row->lower < -1e300 ? PETSC_NINFINITY : row->lower * root[k];
      upper[k] = !(rho > 0) ? 0 : !row || row->upper > 1e300 ? PETSC_INFINITY : row->upper * root[k];
      x[k] = m->s->x[from] * root[k];
      r[k] = m->s->r[from] / root[k];
    }
  }
  for (int i = 0; i < 5; i++) PetscCall(VecRestoreArray(vectors[i], &v[i]));
  PetscFunctionReturn(0);
}

// One row of the levers for each own unknown: six numbers for each of two bodies.
static PetscErrorCode fill_levers(session *m) {
  const carom_contact_problem *p = &m->s->problem;
  PetscInt row;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(m->levers, &row, NULL));
  for (int i = 0; i < m->parts.item_count; i++) {
    int item = m->parts.items[i], body[2];
    double root = m->s->rho[item] > 0 ? PetscSqrtReal(m->s->rho[item]) : 1;
    carom_contact_bodies_of(p, item, body);
    for (int k = 0; k < carom_parts_width(&m->parts, item); k++, row++) {
      carom_vec3 f = item < p->contact_count ? carom_contact_generator(m->s, item, k) : cm_vec3(1, 0, 0);
      for (int side = 0; side < 2; side++) {
        double wrench[6] = {0};
        PetscInt place = body[side] < 0 ? -1 : m->parts.position[body[side]];
        carom_contact_add_wrench(p, item, side, cm_scale(1 / root, f), wrench);
        if (place >= 0) PetscCall(MatSetValuesBlocked(m->levers, 1, &row, 1, &place, wrench, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(m->levers, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m->levers, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_levers(session *m) {
  const carom_parts *p = &m->parts;
  PetscFunctionBegin;
  PetscInt n = p->unknowns[p->rank], own = 6 * (p->stretch[p->rank + 1] - p->stretch[p->rank]);
  PetscCall(MatCreate(PETSC_COMM_WORLD, &m->levers));
  PetscCall(MatSetSizes(m->levers, n, own, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(m->levers, MATAIJ));
  PetscCall(MatSetBlockSizes(m->levers, 1, 6));
  PetscCall(MatSeqAIJSetPreallocation(m->levers, 12, NULL));
  PetscCall(MatMPIAIJSetPreallocation(m->levers, 12, NULL, 12, NULL));
  PetscCall(fill_levers(m));
  PetscCall(MatCreateVecs(m->levers, &m->all, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_vectors(session *m) {
  PetscFunctionBegin;
  PetscInt n = m->parts.unknowns[m->parts.rank];
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, n, PETSC_DETERMINE, &m->x));
  Vec *others[] = {&m->lower, &m->upper, &m->reference, &m->slope, &m->difference, &m->root, &m->r};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) PetscCall(VecDuplicate(m->x, others[i]));
  PetscCall(fill_vectors(m));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, m, &m->hessian));
  PetscCall(MatShellSetOperation(m->hessian, MATOP_MULT, (void (*)(void))shell_multiply));
  PetscCall(MatSetOption(m->hessian, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_solver(session *m) {
  PetscFunctionBegin;
  bool newton = m->s->options.method == CAROM_CONTACT_TRON;
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &m->tao));
  PetscCall(TaoSetOptionsPrefix(m->tao, "carom_"));
  PetscCall(TaoSetType(m->tao, newton ? TAOTRON : TAOBLMVM));
  PetscCall(TaoSetSolution(m->tao, m->x));
  PetscCall(TaoSetVariableBounds(m->tao, m->lower, m->upper));
  PetscCall(TaoSetObjectiveAndGradient(m->tao, NULL, objective, m));
  PetscCall(TaoSetHessian(m->tao, m->hessian, m->hessian, hessian, m));
  PetscCall(TaoSetConvergenceTest(m->tao, converged, m));
  PetscCall(TaoSetMaximumFunctionEvaluations(m->tao, PETSC_MAX_INT));
  PetscCall(TaoSetMaximumIterations(m->tao, PETSC_MAX_INT));
  PetscCall(TaoSetTolerances(m->tao, 0, 0, 0));
  // N is never formed, so that its free part must be taken without copying it.
  PetscCall(PetscOptionsSetValue(NULL, "-carom_tao_subset_type", "matrixfree"));
  PetscCall(PetscOptionsSetValue(NULL, "-carom_pc_type", "none"));
  PetscCall(TaoSetFromOptions(m->tao));
  PetscFunctionReturn(0);
}

// ---- run --------------------------------------------------------------------------------------

static PetscErrorCode move_reference(session *m) {
  PetscFunctionBegin;
  PetscCall(VecCopy(m->x, m->reference));
  PetscCall(multiply(m, m->x, m->slope));
  PetscCall(VecAXPY(m->slope, 1, m->r));
  PetscFunctionReturn(0);
}

// A line search that fails has met the round-off of f; from a new reference it may go on, as long as that helps.
static PetscErrorCode run(session *m) {
  PetscFunctionBegin;
  carom_contact_outcome outcome = CAROM_CONTACT_LIMIT;
  for (double before = PETSC_MAX_REAL;; before = m->residual) {
    TaoConvergedReason reason;
    PetscInt iterations;
    PetscCall(move_reference(m));
    PetscCall(TaoSolve(m->tao));
    PetscCall(TaoGetConvergedReason(m->tao, &reason));
    PetscCall(TaoGetIterationNumber(m->tao, &iterations));
    m->info->iterations += (int)iterations;
    if (reason == TAO_CONVERGED_USER) outcome = CAROM_CONTACT_SOLVED;
    if (reason == TAO_CONVERGED_USER || reason == TAO_DIVERGED_MAXITS) break;
    outcome = CAROM_CONTACT_STALLED;
    if (!(m->residual < 0.9 * before)) break;
  }
  m->info->outcome = outcome;
  PetscFunctionReturn(0);
}

// The whole answer on every rank.
static PetscErrorCode gather_answer(session *m) {
  const carom_parts *p = &m->parts;
  Vec everything;
  VecScatter scatter;
  const double *v;
  PetscFunctionBegin;
  PetscCall(VecPointwiseDivide(m->x, m->x, m->root));
  PetscCall(VecScatterCreateToAll(m->x, &scatter, &everything));
  PetscCall(VecScatterBegin(scatter, m->x, everything, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, m->x, everything, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(everything, &v));
  PetscInt *next;
  PetscCall(PetscMalloc1((size_t)p->ranks, &next));
  for (int rank = 0, at = 0; rank < p->ranks; at += p->unknowns[rank++]) next[rank] = at;
  for (int i = 0; i < m->s->problem.contact_count + m->s->problem.row_count; i++) {
    PetscInt *at = &next[carom_parts_owner(p, i)];
    for (int k = 0; k < carom_parts_width(p, i); k++) m->s->x[carom_contact_offset(m->s, i) + (size_t)k] = v[(*at)++];
  }
  PetscCall(PetscFree(next));
  PetscCall(VecRestoreArrayRead(everything, &v));
  PetscCall(VecDestroy(&everything));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(0);
}

static PetscErrorCode clean_up(session *m) {
  PetscFunctionBegin;
  Vec *vectors[] = {&m->x, &m->lower, &m->upper, &m->reference, &m->slope, &m->difference, &m->root, &m->r, &m->all};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PetscCall(VecDestroy(vectors[i]));
  PetscCall(MatDestroy(&m->levers));
  PetscCall(MatDestroy(&m->hessian));
  PetscCall(TaoDestroy(&m->tao));
  PetscCall(PetscFree(m->memory));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve_session(session *m) {
  PetscFunctionBegin;
  PetscCall(share_out(m));
  PetscCall(make_levers(m));
  PetscCall(make_vectors(m));
  PetscCall(make_solver(m));
  PetscCall(run(m));
  PetscCall(gather_answer(m));
  PetscFunctionReturn(0);
}

// ---- the plug-in ------------------------------------------------------------------------------

static void end_petsc(void) {
  PetscBool finalized = PETSC_FALSE;
  if (!PetscFinalized(&finalized) && !finalized) PetscFinalize();
}

static carom_status fail(carom_error *error, carom_status status, const char *what) {
  if (error) {
    error->status = status;
    snprintf(error->message, sizeof error->message, "%s", what);
  }
  return status;
}

// PETSc and MPI live as long as the process; neither may be started twice.
static carom_status begin_petsc(carom_error *error) {
  PetscBool running = PETSC_FALSE;
  if (PetscInitialized(&running)) return fail(error, CAROM_ERR_UNSUPPORTED, "PETSc does not answer");
  if (running) return CAROM_OK;
  if (PetscInitializeNoArguments())
    return fail(error, CAROM_ERR_UNSUPPORTED,
                "PETSc cannot be started; is MPI installed, and mpirun used as it should?");
  PetscPopSignalHandler();  // signals belong to the program
  atexit(end_petsc);
  return CAROM_OK;
}

static carom_status solve(carom_contact_system *s, carom_contact_info *info, carom_error *error) {
  carom_status status = begin_petsc(error);
  if (status) return status;
  session m = {.s = s, .info = info};
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  PetscErrorCode code = solve_session(&m);
  clean_up(&m);
  PetscPopErrorHandler();
  if (!code) return CAROM_OK;
  const char *text = NULL;
  char message[300];
  PetscErrorMessage(code, &text, NULL);
  snprintf(message, sizeof message, "PETSc/TAO failed with code %d (%s)", (int)code, text ? text : "unknown");
  return fail(error, code == PETSC_ERR_MEM ? CAROM_ERR_MEMORY : CAROM_ERR_UNSUPPORTED, message);
}

static carom_status ranks(int *rank, int *count, carom_error *error) {
  carom_status status = begin_petsc(error);
  if (status) return status;
  MPI_Comm_rank(PETSC_COMM_WORLD, rank);
  MPI_Comm_size(PETSC_COMM_WORLD, count);
  return CAROM_OK;
}

static carom_status largest(int *value, carom_error *error) {
  int own = *value;
  carom_status status = begin_petsc(error);
  if (status) return status;
  if (MPI_Allreduce(&own, value, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD) == MPI_SUCCESS) return CAROM_OK;
  return fail(error, CAROM_ERR_UNSUPPORTED, "MPI cannot reach the other ranks");
}

__attribute__((visibility("default"))) const carom_contact_tao_plugin *carom_contact_tao_plugin_get(void) {
  static const carom_contact_tao_plugin plugin = {CAROM_CONTACT_TAO_VERSION, solve, ranks, largest};
  return &plugin;
}
