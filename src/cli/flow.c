// carom flow: optical flow of two images as a linear program, with its certificate.
#include "cli/flow.h"

#include <math.h>
#include <string.h>

static const char about[] =
    "Finds how the pixels of image A move to those of image B: the flow (u, v) that makes\n"
    "sum |Ix u + Iy v + It| + lambda (|ux| + |uy| + |vx| + |vy|) least, a linear program, solved by an interior point\n"
    "method that ends with a proof: no flow has a smaller sum than `dual`. Images are PNG, PGM or PPM; motions beyond "
    "a\n"
    "pixel are followed down a pyramid (--levels, --warps), and the proof is then of its last program. --levels 1\n"
    "--warps 1 is the program of the thesis as it stands. For example: carom flow A.png B.png -o flow.flo -p flow.png\n"
    "docs/flow.md has the mathematics. Exit code 1 when the gap did not close.";

typedef struct request {
  const char *lambda, *norm, *stencil, *smoothness, *levels, *warps, *median, *iterations, *tolerance, *threads,
      *longest, *impulses;
  bool json, force;
} request;

static bool read_norm_and_stencils(const request *q, carom_flow_options *o) {
  static const char *const norms[] = {"l1", "l2", NULL}, *const stencils[] = {"2", "5", NULL};
  int norm = (int)o->norm, derivative = (int)o->derivative, smoothness = (int)o->smoothness;
  if (!cli_read_word("flow", "norm", q->norm, norms, &norm) ||
      !cli_read_word("flow", "stencil", q->stencil, stencils, &derivative) ||
      !cli_read_word("flow", "smoothness", q->smoothness, stencils, &smoothness))
    return false;
  o->norm = (carom_flow_norm)norm;
  o->derivative = (carom_flow_stencil)derivative;
  o->smoothness = (carom_flow_stencil)smoothness;
  return true;
}

static bool read_options(const request *q, cli_flow_run *r) {
  carom_flow_options *o = &r->options;
  *o = carom_flow_default_options();
  bool good = read_norm_and_stencils(q, o) && cli_read_number("flow", "lambda", q->lambda, 0, 1e6, &o->lambda) &&
              cli_read_number("flow", "impulses", q->impulses, 0, 1e6, &o->impulses) &&
              cli_read_count("flow", "levels", q->levels, 0, 20, &o->levels) &&
              cli_read_count("flow", "warps", q->warps, 1, 1000, &o->warps) &&
              cli_read_count("flow", "median", q->median, 1, 15, &o->median) &&
              cli_read_count("flow", "max-iterations", q->iterations, 0, 1e6, &o->max_iterations) &&
              cli_read_number("flow", "tolerance", q->tolerance, 1e-15, 1, &o->tolerance) &&
              cli_read_count("flow", "threads", q->threads, 1, 1024, &o->threads) &&
              cli_read_number("flow", "longest", q->longest, 1e-9, 1e9, &r->longest);
  if (good && o->median % 2 == 0) good = cli_error("flow: --median: %d is even; give an odd number", o->median);
  if (good && r->mps && (o->levels != 1 || o->warps != 1))
    good = cli_error("flow: --mps writes the one program of --levels 1 --warps 1; give both");
  return good;
}

static int check_files(const request *q, const cli_flow_run *r) {
  return cli_check_files(
      &(cli_files){.verb = "flow",
                   .force = q->force,
                   .inputs = {r->paths[0], r->paths[1], r->truth_path},
                   .outputs = {{.path = r->output}, {.path = r->picture}, {.path = r->page}, {.path = r->mps}}});
}

// A mistake in what was given, or something that failed.
static int code_of(const carom_error *error) {
  cli_error("flow: %s", error->message);
  return error->status == CAROM_ERR_MEMORY ? EXIT_FAILED : EXIT_MISTAKE;
}

static int read_inputs(cli_flow_run *r) {
  carom_error error;
  if (carom_image_read(r->paths[0], NULL, &r->A, &error) != CAROM_OK ||
      carom_image_read(r->paths[1], NULL, &r->B, &error) != CAROM_OK)
    return code_of(&error);
  if (r->truth_path && carom_flow_field_read(r->truth_path, NULL, &r->truth, &error) != CAROM_OK)
    return code_of(&error);
  if (r->truth_path && (r->truth.width != r->A.width || r->truth.height != r->A.height))
    return cli_error("flow: %s has %d x %d pixels, but the images have %d x %d", r->truth_path, r->truth.width,
                     r->truth.height, r->A.width, r->A.height),
           EXIT_MISTAKE;
  return EXIT_GOOD;
}

static int estimate(cli_flow_run *r, bool quiet) {
  carom_error error;
  cli_progress progress = cli_progress_begin("flow", quiet);
  r->options.progress = cli_progress_callback(&progress);
  cli_catch_interrupts();
  carom_status status =
      carom_flow_estimate(&(carom_flow_pair){&r->A, &r->B}, &r->options, NULL, &r->field, &r->info, &error);
  cli_progress_end(&progress);
  if (status == CAROM_INTERRUPTED) return cli_stopped(r->output ? r->output : "the flow");
  if (status != CAROM_OK) return code_of(&error);
  if (r->truth_path && carom_flow_compare(&r->field, &r->truth, &r->distance, &error) != CAROM_OK)
    return code_of(&error);
  return EXIT_GOOD;
}

static carom_status write_program(const cli_flow_run *r, carom_error *error) {
  carom_flow_program *program;
  carom_flow_options options = r->options;
  options.norm = CAROM_FLOW_L1;
  carom_status status =
      carom_flow_program_create(&(carom_flow_pair){&r->A, &r->B}, NULL, &options, NULL, &program, error);
  if (status != CAROM_OK) return status;
  carom_l1_problem problem = carom_flow_program_problem(program);
  status = carom_l1_write_mps(&problem, r->mps, error);
  carom_flow_program_destroy(program);
  return status;
}

static int write_outputs(const cli_flow_run *r) {
  carom_error error;
  if ((r->output && carom_flow_field_write(&r->field, r->output, &error) != CAROM_OK) ||
      (r->picture && carom_flow_field_draw(&r->field, r->longest, r->picture, &error) != CAROM_OK) ||
      (r->mps && write_program(r, &error) != CAROM_OK))
    return cli_fail(&error);
  return r->page ? cli_flow_write_page(r) : EXIT_GOOD;
}

static int run_request(const request *q, cli_flow_run *r) {
  if (!read_options(q, r)) return EXIT_MISTAKE;
  int code = check_files(q, r);
  if (code == EXIT_GOOD) code = read_inputs(r);
  if (code == EXIT_GOOD) code = estimate(r, q->json);
  if (code == EXIT_GOOD) code = write_outputs(r);
  if (code != EXIT_GOOD) return code;
  (q->json ? cli_flow_print_json : cli_flow_print)(r);
  bool closed = r->options.norm == CAROM_FLOW_L2 || r->info.l1.outcome == CAROM_L1_SOLVED;
  return closed ? EXIT_GOOD : EXIT_FAILED;
}

int cli_flow(int argc, char **argv) {
  request q = {0};
  cli_flow_run r = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.flo", "write the flow (Middlebury)", &r.output},
      {CLI_TEXT, 'p', "picture", "FILE.png", "draw it: hue is direction, saturation is length", &r.picture},
      {CLI_TEXT, 0, "page", "FILE.html", "show images, flow and what it leaves unexplained", &r.page},
      {CLI_TEXT, 0, "truth", "FILE.flo", "tell how far the flow is from this one", &r.truth_path},
      {CLI_TEXT, 'l', "lambda", "X", "weight of the smoothness (default 0.1; 0.05 to 0.3 are usual)", &q.lambda},
      {CLI_TEXT, 0, "norm", "NORM", "l1 (default), or l2: least squares (Horn and Schunck)", &q.norm},
      {CLI_TEXT, 0, "stencil", "N", "points of derivatives of the images: 5 (default) or 2", &q.stencil},
      {CLI_TEXT, 0, "smoothness", "N", "points of derivatives of the flow: 2 (default) or 5", &q.smoothness},
      {CLI_TEXT, 0, "impulses", "X", "slopes see the median of pixels this far from it (default 0.25; 0: off)",
       &q.impulses},
      {CLI_TEXT, 0, "levels", "N", "of the pyramid; 0 (default): down to 16 pixels", &q.levels},
      {CLI_TEXT, 0, "warps", "N", "programs a level (default 2)", &q.warps},
      {CLI_TEXT, 0, "median", "N", "side of medians between programs, odd (default 5; 1: none)", &q.median},
      {CLI_TEXT, 0, "longest", "X", "pixels that are drawn in full colour (default: the longest)", &q.longest},
      {CLI_TEXT, 0, "mps", "FILE.mps", "write the program for other solvers (--levels 1 --warps 1)", &r.mps},
      {CLI_TEXT, 0, "max-iterations", "N", "of one program (default 100)", &q.iterations},
      {CLI_TEXT, 0, "tolerance", "X", "on the relative gap (default 1e-11)", &q.tolerance},
      {CLI_TEXT, 0, "threads", "N", "(default: one per processor; the answer is the same)", &q.threads},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &q.force},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &q.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"flow", "A.png B.png [OPTIONS]", about, options, r.paths, 2, 2};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  code = run_request(&q, &r);
  carom_image_release(&r.A), carom_image_release(&r.B);
  carom_flow_field_release(&r.field), carom_flow_field_release(&r.truth);
  return code;
}
