// A and b of two images: rows of brightness, then the differences of u and v to the right and down.
#include "flow/program.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// ---- stencils -------------------------------------------------------------------------------------------------------

static carom_flow_taps mirrored(carom_flow_taps t) {
  for (int k = 0; k < t.count / 2; k++) {
    int offset = t.offset[k];
    double weight = t.weight[k];
    t.offset[k] = t.offset[t.count - 1 - k], t.weight[k] = t.weight[t.count - 1 - k];
    t.offset[t.count - 1 - k] = offset, t.weight[t.count - 1 - k] = weight;
  }
  for (int k = 0; k < t.count; k++) t.offset[k] = -t.offset[k], t.weight[k] = -t.weight[k];
  return t;
}

static const carom_flow_taps central = {2, {-1, 1}, {-0.5, 0.5}}, forward = {2, {0, 1}, {-1, 1}},
                             one_sided = {3, {0, 1, 2}, {-1.5, 2, -0.5}},
                             five_point = {4, {-2, -1, 1, 2}, {1 / 12.0, -8 / 12.0, 8 / 12.0, -1 / 12.0}};

carom_flow_taps carom_flow_image_taps(carom_flow_stencil stencil, int position, int length) {
  int before = position, after = length - 1 - position;
  if (length == 2) return before == 0 ? forward : mirrored(forward);
  if (before == 0) return one_sided;
  if (after == 0) return mirrored(one_sided);
  return stencil == CAROM_FLOW_FIVE_POINT && before > 1 && after > 1 ? five_point : central;
}

carom_flow_taps carom_flow_smooth_taps(carom_flow_stencil stencil, int position, int length) {
  int before = position, after = length - 1 - position;
  if (stencil == CAROM_FLOW_TWO_POINT || length == 2) return after > 0 ? forward : (carom_flow_taps){0};
  if (before == 0) return forward;
  if (after == 0) return mirrored(forward);
  return before > 1 && after > 1 ? five_point : central;
}

// Differences from the pixel itself, so that grey has no slope at all; and what is mere rounding is no slope either, or
// a whole image would go a long way for nothing.
double carom_flow_slope(const carom_image *image, carom_flow_stencil stencil, int x, int y, bool down) {
  static const double rounding = 1e-14;
  carom_flow_taps t = carom_flow_image_taps(stencil, down ? y : x, down ? image->height : image->width);
  ptrdiff_t step = down ? image->width : 1;
  const double *here = image->grey + (ptrdiff_t)y * image->width + x;
  double slope = 0, size = 0;
  for (int k = 0; k < t.count; k++) {
    double there = here[t.offset[k] * step];
    slope += t.weight[k] * (there - *here);
    size += fabs(t.weight[k]) * (fabs(there) + fabs(*here));
  }
  return fabs(slope) <= rounding * size ? 0 : slope;
}

// ---- warping --------------------------------------------------------------------------------------------------------

// Weights of the four pixels about a place t after the second of them (Keys 1981, a = -1/2).
static void cubic_weights(double t, double w[4]) {
  w[0] = ((-0.5 * t + 1) * t - 0.5) * t;
  w[1] = (1.5 * t - 2.5) * t * t + 1;
  w[2] = ((-1.5 * t + 2) * t + 0.5) * t;
  w[3] = (0.5 * t - 0.5) * t * t;
}

static int within(int i, int count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

// NaN outside.
static double look(const carom_image *image, double x, double y) {
  if (!(x >= 0 && y >= 0 && x <= image->width - 1 && y <= image->height - 1)) return NAN;
  int i = (int)x, j = (int)y;
  double wx[4], wy[4], sum = 0;
  cubic_weights(x - i, wx);
  cubic_weights(y - j, wy);
  for (int l = 0; l < 4; l++) {
    const double *row = image->grey + (ptrdiff_t)within(j + l - 1, image->height) * image->width;
    for (int k = 0; k < 4; k++) sum += wy[l] * wx[k] * row[within(i + k - 1, image->width)];
  }
  return sum;
}

void carom_flow_warp(const carom_image *B, const carom_flow_field *around, carom_image *warped) {
  for (int y = 0, i = 0; y < B->height; y++)
    for (int x = 0; x < B->width; x++, i++) warped->grey[i] = look(B, x + around->u[i], y + around->v[i]);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

typedef struct filling {
  carom_flow_program *program;
  int row, entry;
} filling;

static void begin_row(filling *f, double b) { f->program->b[f->row] = b; }

static void add_entry(filling *f, int column, double value) {
  f->program->column[f->entry] = column;
  f->program->value[f->entry++] = value;
}

static void end_row(filling *f) { f->program->row_start[++f->row] = f->entry; }

// weight du/dx, ... of one component in one direction.
static void add_smoothness(filling *f, carom_flow_stencil stencil, double weight, int component, bool down) {
  int width = f->program->width, height = f->program->height, step = down ? width : 1;
  for (int y = 0, i = 0; y < height; y++)
    for (int x = 0; x < width; x++, i++) {
      carom_flow_taps t = carom_flow_smooth_taps(stencil, down ? y : x, down ? height : width);
      if (t.count == 0) continue;
      begin_row(f, 0);
      for (int k = 0; k < t.count; k++) add_entry(f, 2 * (i + t.offset[k] * step) + component, weight * t.weight[k]);
      end_row(f);
    }
}

static int count_line(carom_flow_stencil stencil, int length, int *rows) {
  int entries = 0;
  for (int i = 0; i < length; i++) {
    int taps = carom_flow_smooth_taps(stencil, i, length).count;
    entries += taps;
    *rows += taps > 0;
  }
  return entries;
}

// In the 2-norm lambda stands before squares.
static double weight_of(const carom_flow_options *o) { return o->norm == CAROM_FLOW_L2 ? sqrt(o->lambda) : o->lambda; }

// What brightness is made of: the images, B warped, and what slopes are taken of.
typedef struct sight {
  const carom_image *A, *B, *smooth_A, *smooth_B;
  const carom_flow_field *around;  // null: at rest
} sight;

static double mean_slope(const sight *s, carom_flow_stencil stencil, int x, int y, bool down) {
  return 0.5 *
         (carom_flow_slope(s->smooth_A, stencil, x, y, down) + carom_flow_slope(s->smooth_B, stencil, x, y, down));
}

// Ix u + Iy v + It, linear about the motion (u0, v0) that B was warped by: slopes are means of A's and B's, which makes
// this exact for parabolas. Where B is not seen the row is zero.
static void add_brightness(filling *f, const sight *s, carom_flow_stencil stencil) {
  for (int y = 0, i = 0; y < s->A->height; y++)
    for (int x = 0; x < s->A->width; x++, i++) {
      double Ix = mean_slope(s, stencil, x, y, false), Iy = mean_slope(s, stencil, x, y, true);
      double It = s->B->grey[i] - s->A->grey[i];
      bool seen = isfinite(Ix) && isfinite(Iy) && isfinite(It);
      double past = s->around ? Ix * s->around->u[i] + Iy * s->around->v[i] : 0;
      begin_row(f, seen ? It - past : 0);
      add_entry(f, 2 * i, seen ? Ix : 0);
      add_entry(f, 2 * i + 1, seen ? Iy : 0);
      end_row(f);
    }
}

static void fill(carom_flow_program *p, const sight *s, const carom_flow_options *o) {
  filling f = {p, 0, 0};
  p->row_start[0] = 0;
  add_brightness(&f, s, o->derivative);
  for (int k = 0; k < 4; k++) add_smoothness(&f, o->smoothness, weight_of(o), k % 2, k > 1);
}

// Room for B warped and for both images without impulses.
typedef struct room {
  carom_image warped, smooth[2];
} room;

static carom_status make_images(room *m, const carom_flow_program *p, bool warped, bool smooth, carom_error *error) {
  carom_status status = CAROM_OK;
  *m = (room){0};
  if (warped) status = carom_image_init(p->width, p->height, &p->allocator, &m->warped, error);
  for (int k = 0; k < 2 && smooth && status == CAROM_OK; k++)
    status = carom_image_init(p->width, p->height, &p->allocator, &m->smooth[k], error);
  return status;
}

carom_status carom_flow_program_fill(carom_flow_program *p, const carom_image *A, const carom_image *B,
                                     const carom_flow_field *around, const carom_flow_options *o, carom_error *error) {
  room m;
  sight s = {A, B, A, B, around};
  carom_status status = make_images(&m, p, around != NULL, o->impulses > 0, error);
  if (status == CAROM_OK) {
    if (around) carom_flow_warp(B, around, &m.warped), s.B = s.smooth_B = &m.warped;
    if (o->impulses > 0) {
      carom_flow_calm(A, o->impulses, &m.smooth[0]), s.smooth_A = &m.smooth[0];
      carom_flow_calm(s.B, o->impulses, &m.smooth[1]), s.smooth_B = &m.smooth[1];
    }
    fill(p, &s, o);
  }
  carom_image_release(&m.warped), carom_image_release(&m.smooth[0]), carom_image_release(&m.smooth[1]);
  return status;
}

// ---- programs -------------------------------------------------------------------------------------------------------

static carom_status check_options(const carom_flow_options *o, carom_error *error) {
  if (!(o->lambda >= 0) || !isfinite(o->lambda))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "lambda is %g; it must be a number >= 0", o->lambda);
  if (!(o->impulses >= 0)) return carom_fail(error, CAROM_ERR_ARGUMENT, "impulses is %g; it must be >= 0", o->impulses);
  if (o->levels < 0 || o->levels > 20 || o->warps < 1 || o->warps > 1000)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "levels %d must be 0 to 20, warps %d must be 1 to 1000", o->levels,
                      o->warps);
  if (o->median < 1 || o->median > 15 || o->median % 2 == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the side of medians is %d; it must be odd, 1 to 15", o->median);
  return CAROM_OK;
}

static carom_status check_pixels(const carom_image *image, const char *name, carom_error *error) {
  for (int y = 0, i = 0; y < image->height; y++)
    for (int x = 0; x < image->width; x++, i++)
      if (!isfinite(image->grey[i]))
        return carom_fail(error, CAROM_ERR_NUMBER, "pixel %d of row %d of the %s image is not finite", x, y, name);
  return CAROM_OK;
}

carom_status carom_flow_check(const carom_image *A, const carom_image *B, const carom_flow_options *o,
                              carom_error *error) {
  if (A->width != B->width || A->height != B->height)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the images differ in size: %d x %d and %d x %d pixels", A->width,
                      A->height, B->width, B->height);
  if (A->width < 2 || A->height < 2)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "images of %d x %d pixels have no slopes; flow needs 2 x 2 or more",
                      A->width, A->height);
  carom_status status = check_options(o, error);
  if (status == CAROM_OK) status = check_pixels(A, "first", error);
  return status == CAROM_OK ? check_pixels(B, "second", error) : status;
}

carom_status carom_flow_program_create(const carom_flow_pair *images, const carom_flow_field *around,
                                       const carom_flow_options *options, const carom_allocator *allocator,
                                       carom_flow_program **program, carom_error *error) {
  const carom_image *A = images->A, *B = images->B;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_flow_options o = options ? *options : carom_flow_default_options();
  *program = NULL;
  carom_status status = carom_flow_check(A, B, &o, error);
  if (status != CAROM_OK) return status;
  carom_flow_program *p = CAROM_NEW(&a, carom_flow_program, 1);
  if (p) {
    int N = A->width * A->height, right = 0, down = 0;
    int entries = count_line(o.smoothness, A->width, &right) * A->height;
    entries = 2 * (entries + count_line(o.smoothness, A->height, &down) * A->width) + 2 * N;
    int rows = N + 2 * (right * A->height + down * A->width);
    *p = (carom_flow_program){.allocator = a, .width = A->width, .height = A->height};
    bool there = CAROM_NEW_ALL(&a, CAROM_ROOM(p->row_start, (size_t)rows + 1), CAROM_ROOM(p->column, entries),
                               CAROM_ROOM(p->value, entries), CAROM_ROOM(p->b, rows));
    p->problem = (carom_l1_problem){rows, 2 * N, 2, p->row_start, p->column, p->value, p->b};
    if (there) status = carom_flow_program_fill(p, A, B, around, &o, error);
    if (there && status == CAROM_OK) return *program = p, CAROM_OK;
    carom_flow_program_destroy(p);
  }
  if (status != CAROM_OK) return status;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the flow of %d x %d pixels", A->width, A->height);
}

void carom_flow_program_destroy(carom_flow_program *p) {
  if (!p) return;
  CAROM_RELEASE_ALL(&p->allocator, p->row_start, p->column, p->value, p->b);
  carom_allocator allocator = p->allocator;
  carom_release(&allocator, p);
}

carom_l1_problem carom_flow_program_problem(const carom_flow_program *program) { return program->problem; }
