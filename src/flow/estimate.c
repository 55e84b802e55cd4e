// From two images to their flow: level by level from the coarsest, program by program about the flow so far.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "flow/program.h"
#include "math/sum.h"

enum { MOST_LEVELS = 20, LEAST_SIDE = 16, SMALLEST = 4 };

carom_flow_options carom_flow_default_options(void) {
  carom_l1_options l1 = carom_l1_default_options();
  return (carom_flow_options){.norm = CAROM_FLOW_L1,
                              .lambda = 0.1,
                              .impulses = 0.25,
                              .derivative = CAROM_FLOW_FIVE_POINT,
                              .smoothness = CAROM_FLOW_TWO_POINT,
                              .warps = 2,
                              .median = 5,
                              .max_iterations = l1.max_iterations,
                              .tolerance = l1.tolerance};
}

typedef struct estimate {
  const carom_flow_options *o;
  carom_allocator allocator;
  carom_flow_info *info;
  carom_error *error;
  int programs, done;                          // in all, so far
  carom_image A[MOST_LEVELS], B[MOST_LEVELS];  // [0] is borrowed
} estimate;

// ---- one program ----------------------------------------------------------------------------------------------------

// What a level keeps from program to program.
typedef struct level {
  carom_flow_program *program;
  carom_l1_work *work;
  double *x;               // (unknowns)
  carom_flow_field field;  // the answer
  carom_flow_field about;  // what the next program is linear about
} level;

static bool report(void *context, double done, double total) {
  const estimate *e = context;
  const carom_progress *p = &e->o->progress;
  return !p->report || p->report(p->context, e->done + 0.9 * done / total, e->programs);
}

static carom_status solve(estimate *e, level *l) {
  carom_l1_options o = carom_l1_default_options();
  carom_l1_problem p = l->program->problem;
  bool last = e->done + 1 == e->programs;
  o.max_iterations = e->o->max_iterations, o.threads = e->o->threads;
  o.tolerance = last ? e->o->tolerance : fmax(e->o->tolerance, 1e-6);
  o.progress = (carom_progress){e, report};
  e->info->rows = p.m, e->info->unknowns = p.n;
  if (e->o->norm == CAROM_FLOW_L2) return carom_l1_least_squares(l->work, &p, &o, l->x, e->error);
  carom_status status = carom_l1_solve(l->work, &p, &o, &(carom_l1_solution){l->x, NULL}, &e->info->l1, e->error);
  e->info->iterations += e->info->l1.iterations;
  return status;
}

// E1 and E2 at x, whose smoothness is weighted as the program has it: by lambda, or by its root.
static void measure(const estimate *e, const level *l) {
  const carom_l1_problem *p = &l->program->problem;
  double weight = e->o->norm == CAROM_FLOW_L2 ? sqrt(e->o->lambda) : e->o->lambda;
  carom_sum one[2] = {{0, 0}, {0, 0}}, two[2] = {{0, 0}, {0, 0}};
  for (int i = 0; i < p->m; i++) {
    double r = p->b[i];
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) r += p->value[k] * l->x[p->column[k]];
    bool smooth = i >= p->n / 2;
    carom_sum_add(&one[smooth], fabs(r));
    carom_sum_add(&two[smooth], r * r);
  }
  double ratio = weight > 0 ? e->o->lambda / weight : 0;
  e->info->energy1 = carom_sum_value(&one[0]) + ratio * carom_sum_value(&one[1]);
  e->info->energy2 = carom_sum_value(&two[0]) + (weight > 0 ? ratio / weight : 0) * carom_sum_value(&two[1]);
}

static carom_status run_program(estimate *e, level *l, const carom_image *A, const carom_image *B) {
  const carom_flow_field *about = e->done > 0 ? &l->about : NULL;
  carom_status status = carom_flow_program_fill(l->program, A, B, about, e->o, e->error);
  if (status == CAROM_OK) status = solve(e, l);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < A->width * A->height; i++) l->field.u[i] = l->x[2 * i], l->field.v[i] = l->x[2 * i + 1];
  e->done++;
  measure(e, l);
  return CAROM_OK;
}

// ---- levels ---------------------------------------------------------------------------------------------------------

static carom_status make_level(estimate *e, int k, level *l) {
  const carom_image *A = &e->A[k];
  carom_status status = carom_flow_field_init(A->width, A->height, &e->allocator, &l->field, e->error);
  if (status == CAROM_OK) status = carom_flow_field_init(A->width, A->height, &e->allocator, &l->about, e->error);
  if (status == CAROM_OK)
    status =
        carom_flow_program_create(&(carom_flow_pair){A, &e->B[k]}, NULL, e->o, &e->allocator, &l->program, e->error);
  if (status == CAROM_OK) status = carom_l1_work_create(&l->program->problem, &e->allocator, &l->work, e->error);
  if (status != CAROM_OK) return status;
  l->x = CAROM_NEW(&e->allocator, double, l->program->problem.n);
  return l->x ? CAROM_OK
              : carom_fail(e->error, CAROM_ERR_MEMORY, "out of memory for the flow of %d x %d pixels", A->width,
                           A->height);
}

static void end_level(const estimate *e, level *l) {
  carom_flow_program_destroy(l->program);
  carom_l1_work_destroy(l->work);
  carom_release(&e->allocator, l->x);
  carom_flow_field_release(&l->about);
}

// `field` is that of the level above, and becomes that of this one.
static carom_status run_level(estimate *e, int k, carom_flow_field *field) {
  level l = {0};
  carom_status status = make_level(e, k, &l);
  if (status == CAROM_OK && e->done > 0) carom_flow_stretch(field, &l.field);
  for (int w = 0; w < e->o->warps && status == CAROM_OK; w++) {
    carom_flow_median(&l.field, e->o->median, &l.about);
    status = run_program(e, &l, &e->A[k], &e->B[k]);
  }
  end_level(e, &l);
  carom_flow_field_release(field);
  *field = l.field;
  return status;
}

static int shorter_side(const carom_image *image) {
  return image->width < image->height ? image->width : image->height;
}

static carom_status make_pyramid(estimate *e) {
  int most = e->o->levels > 0 ? e->o->levels : MOST_LEVELS, least = e->o->levels > 0 ? SMALLEST : LEAST_SIDE;
  carom_status status = CAROM_OK;
  int k = 1;
  for (; k < most && shorter_side(&e->A[k - 1]) >= 2 * least && status == CAROM_OK; k++) {
    status = carom_flow_halve(&e->A[k - 1], &e->A[k], e->error);
    if (status == CAROM_OK) status = carom_flow_halve(&e->B[k - 1], &e->B[k], e->error);
  }
  e->info->levels = k;
  e->info->programs = e->programs = k * e->o->warps;
  return status;
}

static carom_status run(estimate *e, carom_flow_field *field) {
  carom_status status = make_pyramid(e);
  for (int k = e->info->levels; k-- > 0 && status == CAROM_OK;) status = run_level(e, k, field);
  for (int k = 1; k < e->info->levels; k++) carom_image_release(&e->A[k]), carom_image_release(&e->B[k]);
  return status;
}

carom_status carom_flow_estimate(const carom_flow_pair *images, const carom_flow_options *options,
                                 const carom_allocator *allocator, carom_flow_field *field, carom_flow_info *info,
                                 carom_error *error) {
  carom_flow_options o = options ? *options : carom_flow_default_options();
  carom_flow_info unused, *told = info ? info : &unused;
  *field = (carom_flow_field){0};
  *told = (carom_flow_info){0};
  carom_status status = carom_flow_check(images->A, images->B, &o, error);
  if (status != CAROM_OK) return status;
  estimate e = {.o = &o, .allocator = carom_allocator_or_default(allocator), .info = told, .error = error};
  e.A[0] = *images->A, e.B[0] = *images->B;
  e.A[0].allocator = e.B[0].allocator = e.allocator;
  status = run(&e, field);
  if (status != CAROM_OK) carom_flow_field_release(field);
  if (status == CAROM_INTERRUPTED) return carom_fail(error, status, "the flow was interrupted");
  return status;
}
