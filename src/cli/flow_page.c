// The page of `carom flow`: both images, the flow in colours, and what it leaves unexplained.
#include <math.h>

#include "cli/flow.h"
#include "cli/page_data.h"

// Two hexadecimal digits a pixel, 0 to the brightest of both images.
static void put_image(FILE *out, const char *name, const carom_image *image, double white) {
  fprintf(out, "\"%s\":\"", name);
  for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
    fprintf(out, "%02x", (unsigned)lround(255 * fmin(fmax(image->grey[i] / white, 0), 1)));
  fputs("\",", out);
}

static void put_component(FILE *out, const char *name, const double *values, int64_t count) {
  fprintf(out, "\"%s\":[", name);
  for (int64_t i = 0; i < count; i++) {
    if (i > 0) fputc(',', out);
    if (isfinite(values[i]))
      fprintf(out, "%.5g", fabs(values[i]) < 1e-9 ? 0 : values[i]);
    else
      fputs("null", out);
  }
  fputs("],", out);
}

static void put_field(FILE *out, const char *u, const char *v, const carom_flow_field *f) {
  int64_t count = (int64_t)f->width * f->height;
  put_component(out, u, f->u, count);
  put_component(out, v, f->v, count);
}

static void put_number(FILE *out, const char *name, double value) {
  fprintf(out, "\"%s\":", name);
  cli_page_finite(out, value);
  fputc(',', out);
}

static void put_certificate(FILE *out, const carom_flow_info *info) {
  cli_page_member(out, "outcome", carom_l1_outcome_name(info->l1.outcome));
  put_number(out, "primal", info->l1.primal);
  put_number(out, "dual", info->l1.dual);
  put_number(out, "gap", info->l1.gap);
  put_number(out, "iterations", info->l1.iterations);
}

static void put_data(FILE *out, const cli_flow_run *r) {
  bool l1 = r->options.norm == CAROM_FLOW_L1;
  fputc('{', out);
  cli_page_member(out, "first", r->paths[0]);
  cli_page_member(out, "second", r->paths[1]);
  cli_page_member(out, "norm", l1 ? "l1" : "l2");
  put_number(out, "lambda", r->options.lambda);
  if (l1) put_certificate(out, &r->info);
  put_number(out, "energy1", r->info.energy1);
  put_number(out, "energy2", r->info.energy2);
  put_number(out, "programs", r->info.programs);
  put_number(out, "longest", r->longest > 0 ? r->longest : carom_flow_field_longest(&r->field));
  double white = 1e-300;
  for (int64_t i = 0; i < (int64_t)r->A.width * r->A.height; i++) white = fmax(white, fmax(r->A.grey[i], r->B.grey[i]));
  put_image(out, "A", &r->A, white);
  put_image(out, "B", &r->B, white);
  put_field(out, "u", "v", &r->field);
  if (r->truth_path) {
    put_field(out, "truth_u", "truth_v", &r->truth);
    put_number(out, "end_point", r->distance.end_point);
    put_number(out, "angular", r->distance.angular);
  }
  fprintf(out, "\"width\":%d,\"height\":%d}", r->A.width, r->A.height);
}

int cli_flow_write_page(const cli_flow_run *r) {
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  const char *rest = cli_page_until_data(&page, "flow_page.html");
  put_data(page.out, r);
  return cli_page_after_data(&page, rest, r->page);
}
