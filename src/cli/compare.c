// carom compare: the same scene by several integrators, in a table and on a page (after Johnson 2012, Table 3.1 and
// Figures 3.87-3.90).
#include "cli/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- figures --------------------------------------------------------------------------------------------------------

const double *cli_column(const carom_result *result, const char *key) {
  const carom_audit_column *columns = carom_audit_columns();
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++)
    if (strcmp(columns[i].key, key) == 0) return result->audit + (size_t)i * (size_t)result->frame_count;
  return NULL;
}

double cli_worst(const carom_result *result, const char *column) {
  const double *values = cli_column(result, column);
  double worst = NAN;
  for (int i = 0; values && i < result->frame_count; i++) worst = fmax(worst, fabs(values[i]));
  return worst;
}

static double largest_distance(const carom_result *result, const carom_frame *a, const carom_frame *b) {
  double largest = 0;
  for (int i = 0; i < result->body_count; i++) largest = fmax(largest, cm_norm(cm_sub(a->poses[i].p, b->poses[i].p)));
  for (int i = 0; i < result->node_count; i++) largest = fmax(largest, cm_norm(cm_sub(a->nodes[i], b->nodes[i])));
  return largest;
}

// Frames are taken at the same times, since the step is the same for all.
static carom_status deviate(cli_contestant *c, carom_result *first, carom_error *error) {
  int count = c->result->frame_count < first->frame_count ? c->result->frame_count : first->frame_count;
  carom_frame a = {0}, b = {0};
  c->deviation = calloc((size_t)(c->result->frame_count > 0 ? c->result->frame_count : 1), sizeof *c->deviation);
  carom_status status = c->deviation ? carom_frame_init(first, &a, error)
                                     : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for comparing motions");
  if (status == CAROM_OK) status = carom_frame_init(c->result, &b, error);
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    status = carom_result_read_frame(first, i, &a, error);
    if (status == CAROM_OK) status = carom_result_read_frame(c->result, i, &b, error);
    c->deviation[i] = largest_distance(first, &a, &b);
  }
  for (int i = count; c->deviation && i < c->result->frame_count; i++) c->deviation[i] = NAN;
  carom_frame_release(&a);
  carom_frame_release(&b);
  return status;
}

bool cli_compare_motion(cli_comparison *comparison, carom_error *error) {
  carom_result *first = NULL;
  for (int i = 0; i < comparison->count; i++) {
    cli_contestant *c = &comparison->contestants[i];
    if (!c->result) continue;
    if (!first)
      first = c->result;
    else if (deviate(c, first, error) != CAROM_OK)
      return false;
  }
  return true;
}

// ---- the runs -------------------------------------------------------------------------------------------------------

// What is compared, and where to.
typedef struct cli_source {
  const char *scene;
  cli_list overrides;
  bool force;
  char page[CLI_PATH], command[2048];
} cli_source;

// Two runs of one name would write the same file.
static bool named_before(const cli_comparison *comparison, const cli_contestant *c) {
  for (const cli_contestant *other = comparison->contestants; other < c; other++)
    if (strcmp(other->name, c->name) == 0) {
      cli_error("compare: --integrators names '%s' twice", c->name);
      return true;
    }
  return false;
}

static bool split_names(const char *list, cli_comparison *comparison) {
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    if (comparison->count == CLI_COMPARE_MAX || length == 0 || length >= sizeof comparison->contestants[0].name)
      return cli_error("compare: --integrators takes one to %d names with commas between, not '%s'", CLI_COMPARE_MAX,
                       list);
    cli_contestant *c = &comparison->contestants[comparison->count++];
    memcpy(c->name, at, length);
    if (named_before(comparison, c)) return false;
    at += length + (at[length] == ',');
  }
  return comparison->count > 0;
}

// The scene as this integrator will run it; null after a message.
static carom_scene *read_for(cli_contestant *c, const cli_source *source) {
  cli_list own = source->overrides;
  char name[128], extension[80];
  snprintf(name, sizeof name, "integrator.name=%s", c->name);
  own.items[own.count++] = name;
  snprintf(extension, sizeof extension, ".%s.h5", c->name);
  cli_replace_extension(source->page, true, extension, c->path, sizeof c->path);
  return cli_read_scene(source->scene, &own, false);
}

static int check_files(const cli_comparison *comparison, const cli_source *source, const carom_scene *scene) {
  cli_files files = {.verb = "compare", .force = source->force, .scene = scene, .outputs = {{.path = source->page}}};
  for (int i = 0; i < comparison->count; i++)
    files.outputs[i + 1] = (cli_output){.path = comparison->contestants[i].path, .own = "carom compare"};
  return cli_check_files(&files);
}

// Refusals and mistakes are told of all, before anything is run.
static int all_can(cli_comparison *comparison, const cli_source *source) {
  int code = EXIT_GOOD;
  for (int i = 0; i < comparison->count; i++) {
    carom_scene *scene = read_for(&comparison->contestants[i], source);
    if (!scene) code = EXIT_MISTAKE;
    if (code == EXIT_GOOD && i == comparison->count - 1) code = check_files(comparison, source, scene);
    carom_scene_destroy(scene);
  }
  return code;
}

static int run_contestant(cli_contestant *c, const cli_source *source, bool quiet) {
  carom_scene *scene = read_for(c, source);
  if (!scene) return EXIT_MISTAKE;
  cli_run_settings settings = {.output = c->path, .overwrite = true, .quiet = true, .command = source->command};
  if (!quiet) cli_print(stderr, "%s ...\n", c->name);
  double start = carom_clock();
  int code = cli_run_scene(scene, &settings);
  c->wall = carom_clock() - start;
  carom_scene_destroy(scene);
  return code;
}

// An integrator that fails on the way is part of the comparison, too; Ctrl-C ends it.
static int run_all(cli_comparison *comparison, const cli_source *source, bool quiet) {
  int can = all_can(comparison, source);
  if (can != EXIT_GOOD) return can;
  for (int i = 0; i < comparison->count; i++) {
    cli_contestant *c = &comparison->contestants[i];
    c->code = run_contestant(c, source, quiet);
    if (c->code == EXIT_INTERRUPTED) return cli_stopped(source->page);
    if (c->code == EXIT_MISTAKE) return c->code;
    if (c->code == EXIT_GOOD || c->code == EXIT_FAILED) c->result = cli_open_result(c->path);
  }
  return EXIT_GOOD;
}

// ---- the table ------------------------------------------------------------------------------------------------------

static double last_deviation(const cli_contestant *c) {
  return c->deviation && c->result->frame_count > 0 ? c->deviation[c->result->frame_count - 1] : 0;
}

static void print_table(const cli_comparison *comparison) {
  cli_print(stdout, "%-12s %9s %10s %12s %12s %12s %12s %12s\n", "integrator", "time (s)", "collisions", "energy err.",
            "momentum", "ang. mom.", "overlap (m)", "deviation (m)");
  for (int i = 0; i < comparison->count; i++) {
    const cli_contestant *c = &comparison->contestants[i];
    if (!c->result) {
      cli_print(stdout, "%-12s failed\n", c->name);
      continue;
    }
    cli_print(stdout, "%-12s %9.3g %10.0f %12.2e %12.2e %12.2e %12.2e %12.2e%s\n", c->name, c->wall,
              cli_worst(c->result, "collisions"), cli_worst(c->result, "energy_error"),
              cli_worst(c->result, "momentum_error"), cli_worst(c->result, "angular_momentum_error"),
              cli_worst(c->result, "penetration"), last_deviation(c), c->code == EXIT_GOOD ? "" : "  (stopped early)");
  }
}

static void print_json(const cli_comparison *comparison, const char *page) {
  for (int i = 0; i < comparison->count; i++) {
    const cli_contestant *c = &comparison->contestants[i];
    cli_json json = cli_json_begin(stdout);
    CLI_MEMBERS(&json, CLI_T("integrator", c->name), CLI_B("complete", c->code == EXIT_GOOD), CLI_N("wall", c->wall));
    if (c->result) {
      CLI_MEMBERS(&json, CLI_N("collisions", cli_worst(c->result, "collisions")),
                  CLI_N("energy_error", cli_worst(c->result, "energy_error")),
                  CLI_N("momentum_error", cli_worst(c->result, "momentum_error")),
                  CLI_N("angular_momentum_error", cli_worst(c->result, "angular_momentum_error")),
                  CLI_N("penetration", cli_worst(c->result, "penetration")), CLI_N("deviation", last_deviation(c)),
                  CLI_T("result", c->path));
    }
    cli_json_text(&json, "page", page);
    cli_json_end(&json);
  }
}

// ---- the verb -------------------------------------------------------------------------------------------------------

static void release(cli_comparison *comparison) {
  for (int i = 0; i < comparison->count; i++) {
    free(comparison->contestants[i].deviation);
    carom_result_close(comparison->contestants[i].result);
  }
}

// An integrator that stops early is a finding; that none came to the end, or that a run left no file, is a failure.
static int outcome(const cli_comparison *comparison) {
  bool any = false;
  for (int i = 0; i < comparison->count; i++) {
    const cli_contestant *c = &comparison->contestants[i];
    any = any || (c->result && c->code == EXIT_GOOD);
    if (!c->result) return cli_error("compare: '%s' left no result; see above", c->name), EXIT_FAILED;
  }
  if (!any) cli_error("compare: none of the integrators came to the end of the run; see above");
  return any ? EXIT_GOOD : EXIT_FAILED;
}

static int compare(cli_comparison *comparison, const cli_source *source, bool json, bool quiet) {
  carom_error error = {0};
  const char *page = source->page;
  int code = run_all(comparison, source, quiet || json);
  if (code != EXIT_GOOD) return code;
  if (!cli_compare_motion(comparison, &error)) return cli_fail(&error);
  for (int i = 0; i < comparison->count && !comparison->title; i++)
    if (comparison->contestants[i].result) comparison->title = comparison->contestants[i].result->title;
  code = cli_write_comparison(comparison, page);
  if (code != EXIT_GOOD) return code;
  if (json)
    print_json(comparison, page);
  else if (!quiet) {
    print_table(comparison);
    cli_print(stdout, "\n  page    %s (open it in a browser)\n", page);
  }
  return outcome(comparison);
}

static const char about[] =
    "Runs a scene by several integrators and sets them side by side: positions, energy, momenta, overlap and time, as\n"
    "a table and as a page. Their result files are kept beside the page.";

int cli_compare(int argc, char **argv) {
  cli_source source = {0};
  const char *names = "exact,dcr,potential", *output = NULL;
  bool json = false, quiet = false;
  const cli_option options[] = {
      {CLI_TEXT, 'i', "integrators", "A,B,C", "which ones (default: exact,dcr,potential)", &names},
      {CLI_TEXT, 'o', "output", "FILE", "the page (default: the scene's name with .compare.html, here)", &output},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &source.overrides},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that 'carom compare' did not make", &source.force},
      {CLI_FLAG, 0, "json", NULL, "one line of JSON an integrator", &json},
      {CLI_FLAG, 'q', "quiet", NULL, "say nothing", &quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"compare", "SCENE.yaml [OPTIONS]", about, options, &source.scene, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  cli_comparison comparison = {0};
  if (!split_names(names, &comparison)) return EXIT_MISTAKE;
  cli_command_line(argc, argv, source.command, sizeof source.command);
  if (output)
    snprintf(source.page, sizeof source.page, "%s", output);
  else
    cli_replace_extension(source.scene, false, ".compare.html", source.page, sizeof source.page);
  code = compare(&comparison, &source, json, quiet);
  release(&comparison);
  return code;
}
