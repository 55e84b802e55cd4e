// What `carom flow` says, as text and as JSON.
#include <math.h>

#include "cli/flow.h"

static int points_of(carom_flow_stencil stencil) { return stencil == CAROM_FLOW_FIVE_POINT ? 5 : 2; }
static bool is_l1(const cli_flow_run *r) { return r->options.norm == CAROM_FLOW_L1; }

// Mean motion of all pixels.
static void mean_of(const carom_flow_field *f, double *u, double *v) {
  int64_t count = (int64_t)f->width * f->height;
  *u = *v = 0;
  for (int64_t i = 0; i < count; i++) *u += f->u[i] / (double)count, *v += f->v[i] / (double)count;
}

static const char *const remedies[] = {
    [CAROM_L1_SOLVED] = "optimal",
    [CAROM_L1_LIMIT] = "out of iterations: allow more (--max-iterations)",
    [CAROM_L1_STALLED] = "rounding stopped it: ask for a larger --tolerance, or a --lambda that is not so small",
};

static void print_certificate(const carom_flow_info *info) {
  const carom_l1_info *l1 = &info->l1;
  cli_print(stdout, "primal      %.12g\ndual        %.12g\ngap         %.1e   (%s)\n|A'y|       %.1e\n", l1->primal,
            l1->dual, l1->gap, remedies[l1->outcome], l1->stationarity);
  cli_print(stdout, "iterations  %d of the last program, %d of all; %.2g operations each\n", l1->iterations,
            info->iterations, l1->factor_flops);
}

void cli_flow_print(const cli_flow_run *r) {
  const carom_flow_info *info = &r->info;
  double u, v;
  mean_of(&r->field, &u, &v);
  cli_print(stdout, "%s to %s, %d x %d pixels: %s, lambda %g, %d-point slopes, %d-point smoothness\n", r->paths[0],
            r->paths[1], r->A.width, r->A.height, is_l1(r) ? "l1" : "l2", r->options.lambda,
            points_of(r->options.derivative), points_of(r->options.smoothness));
  cli_print(stdout, "%d program%s on %d level%s; the last has %d rows and %d unknowns\n", info->programs,
            info->programs > 1 ? "s" : "", info->levels, info->levels > 1 ? "s" : "", info->rows, info->unknowns);
  if (is_l1(r)) print_certificate(info);
  cli_print(stdout, "energies    E1 %.9g, E2 %.9g\n", info->energy1, info->energy2);
  cli_print(stdout, "motion      mean (%.6f, %.6f), longest %.6f pixels\n", u, v, carom_flow_field_longest(&r->field));
  if (r->truth_path)
    cli_print(stdout, "error       end point %.6f pixels (at most %.4f), angular %.4f degrees, over %lld pixels\n",
              r->distance.end_point, r->distance.end_point_most, r->distance.angular, (long long)r->distance.pixels);
  if (r->output) cli_print(stdout, "flow: %s\n", r->output);
  if (r->picture) cli_print(stdout, "picture: %s\n", r->picture);
  if (r->page) cli_print(stdout, "page: %s\n", r->page);
  if (r->mps) cli_print(stdout, "program: %s\n", r->mps);
}

static void json_certificate(cli_json *json, const carom_flow_info *info) {
  const carom_l1_info *l1 = &info->l1;
  CLI_MEMBERS(json, CLI_T("outcome", carom_l1_outcome_name(l1->outcome)), CLI_N("primal", l1->primal),
              CLI_N("dual", l1->dual), CLI_N("gap", l1->gap), CLI_N("stationarity", l1->stationarity),
              CLI_I("iterations", l1->iterations), CLI_I("all_iterations", info->iterations),
              CLI_I("factorizations", l1->factorizations), CLI_N("factor_flops", l1->factor_flops),
              CLI_N("factor_entries", l1->factor_entries));
}

static void json_error(cli_json *json, const carom_flow_error *d) {
  cli_json_open(json, "error", '{');
  CLI_MEMBERS(json, CLI_N("end_point", d->end_point), CLI_N("end_point_most", d->end_point_most),
              CLI_N("angular", d->angular), CLI_I("pixels", d->pixels));
  cli_json_close(json, '}');
}

void cli_flow_print_json(const cli_flow_run *r) {
  const carom_flow_info *info = &r->info;
  cli_json json = cli_json_begin(stdout);
  double u, v;
  mean_of(&r->field, &u, &v);
  CLI_MEMBERS(&json, CLI_T("first", r->paths[0]), CLI_T("second", r->paths[1]), CLI_I("width", r->A.width),
              CLI_I("height", r->A.height), CLI_T("norm", is_l1(r) ? "l1" : "l2"), CLI_N("lambda", r->options.lambda),
              CLI_I("stencil", points_of(r->options.derivative)), CLI_I("smoothness", points_of(r->options.smoothness)),
              CLI_I("levels", info->levels), CLI_I("programs", info->programs), CLI_I("rows", info->rows),
              CLI_I("unknowns", info->unknowns));
  if (is_l1(r)) json_certificate(&json, info);
  CLI_MEMBERS(&json, CLI_N("energy1", info->energy1), CLI_N("energy2", info->energy2), CLI_N("mean_u", u),
              CLI_N("mean_v", v), CLI_N("longest", carom_flow_field_longest(&r->field)));
  if (r->truth_path) json_error(&json, &r->distance);
  if (r->output) cli_json_text(&json, "flow", r->output);
  if (r->picture) cli_json_text(&json, "picture", r->picture);
  if (r->page) cli_json_text(&json, "page", r->page);
  if (r->mps) cli_json_text(&json, "mps", r->mps);
  cli_json_end(&json);
}
