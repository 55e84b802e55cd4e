// carom info: what a result file holds and how its run went.
#include <math.h>
#include <string.h>

#include "cli/cli.h"

static const char about[] =
    "Describes a result file: provenance, contents, verdict. Works on files of runs that were killed, too.";

static double last_time(const carom_result *r) { return r->frame_count > 0 ? r->times[r->frame_count - 1] : 0; }

// What a channel is of ends at the last dot; that many bytes, 0 when there is none.
static size_t owner_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : 0;
}

static bool same_owner(const char *a, const char *b) {
  size_t length = owner_length(a);
  return length == owner_length(b) && strncmp(a, b, length) == 0;
}

// Whether channel i stands on the line of channel `first`.
static bool goes_on(const carom_result *r, int first, int i) {
  enum { ENOUGH = 24 };
  return i < r->channel_count && i < first + ENOUGH && same_owner(r->channels[first].name, r->channels[i].name);
}

// The channels from `first` on that are of one thing: "hinge.angle (rad), .fx .fy .fz (N)". Returns the first of the
// rest.
static int print_channels_of_one(const carom_result *r, int first) {
  int i = first;
  cli_print(stdout, "              ");
  for (; goes_on(r, first, i); i++) {
    const char *name = r->channels[i].name, *unit = r->channels[i].unit;
    bool more = goes_on(r, first, i + 1), shared = more && strcmp(unit, r->channels[i + 1].unit) == 0;
    cli_print(stdout, "%s", name + (i > first ? owner_length(name) : 0));
    if (unit[0] && !shared) cli_print(stdout, " (%s)", unit);
    if (more) cli_print(stdout, shared && owner_length(name) > 0 ? " " : ", ");
  }
  cli_print(stdout, "\n");
  return i;
}

static void print_channels(const carom_result *r) {
  enum { LINES = 12 };
  if (r->channel_count == 0) return;
  cli_print(stdout, "  channels    %d\n", r->channel_count);
  int i = 0;
  for (int line = 0; i < r->channel_count && line < LINES; line++) i = print_channels_of_one(r, i);
  if (i < r->channel_count) cli_print(stdout, "              and %d more; --json lists them\n", r->channel_count - i);
}

// The largest stored energy and the smallest det F that a solid had in any frame.
static void find_extremes(const carom_result *r, int solid, double *energy, double *least_J) {
  *energy = *least_J = NAN;
  for (int f = 0; f < r->frame_count; f++) {
    int i = f * r->solid_count + solid;
    *energy = fmax(*energy, r->elastic_energies[i]);
    *least_J = fmin(*least_J, r->least_J[i]);
  }
}

static void print_solids(const carom_result *r) {
  enum { LINES = 12 };
  if (r->solid_count == 0) return;
  cli_print(stdout, "  solids      %d that deform: %d nodes, %d tetrahedra\n", r->solid_count, r->node_count,
            r->tet_count);
  for (int i = 0; i < r->solid_count && i < LINES; i++) {
    const carom_result_solid *s = &r->solids[i];
    double energy, least_J;
    find_extremes(r, i, &energy, &least_J);
    cli_print(stdout, "              %s: %.4g kg, %d tetrahedra, %s; elastic energy up to %.3g J, least J %.3g\n",
              s->name, s->mass, s->tet_count, carom_elastic_law_name((carom_elastic_law)s->law), energy, least_J);
  }
  if (r->solid_count > LINES)
    cli_print(stdout, "              and %d more; --json lists them\n", r->solid_count - LINES);
}

static void print_text(const char *path, const carom_result *r) {
  cli_print(stdout, "%s: %s\n", path, r->title);
  if (r->description[0]) cli_print(stdout, "  %s\n", r->description);
  cli_print(stdout, "  made by     carom %s on %s, %s\n", r->version, r->host, r->created);
  cli_print(stdout, "  command     %s\n", r->command);
  cli_print(stdout, "  run         %s, step %g s, seed %llu; %s\n", r->integrator, r->step, (unsigned long long)r->seed,
            r->ending);
  if (r->choice) cli_print(stdout, "  chosen      %s, since %s\n", r->integrator, r->choice);
  cli_print(stdout, "  contents    %d bodies, %d shapes, %d frames, t = 0 to %g of %g s\n", r->body_count,
            r->shape_count, r->frame_count, last_time(r), r->duration);
  print_solids(r);
  print_channels(r);
  if (!r->complete)
    cli_print(stdout, "  note        the run did not finish; what is here is sound up to the last frame\n");
  cli_print(stdout, "\n");
  cli_print_verdict(&r->verdict, stdout);
}

static void add_channels(cli_json *json, const carom_result *r) {
  cli_json_open(json, "channels", '[');
  for (int i = 0; i < r->channel_count; i++) {
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", r->channels[i].name), CLI_T("unit", r->channels[i].unit));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void add_solids(cli_json *json, const carom_result *r) {
  cli_json_open(json, "solids", '[');
  for (int i = 0; i < r->solid_count; i++) {
    const carom_result_solid *s = &r->solids[i];
    double energy, least_J;
    find_extremes(r, i, &energy, &least_J);
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", s->name), CLI_T("law", carom_elastic_law_name((carom_elastic_law)s->law)),
                CLI_N("mass", s->mass), CLI_I("nodes", s->node_count), CLI_I("tetrahedra", s->tet_count),
                CLI_N("largest_elastic_energy", energy), CLI_N("least_J", least_J));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void print_json(const char *path, const carom_result *r, bool scene) {
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("file", path), CLI_T("title", r->title), CLI_T("version", r->version),
              CLI_T("host", r->host), CLI_T("created", r->created), CLI_T("command", r->command),
              CLI_T("integrator", r->integrator));
  if (r->choice) cli_json_text(&json, "integrator_choice", r->choice);
  CLI_MEMBERS(&json, CLI_N("step", r->step), CLI_N("duration", r->duration), CLI_I("seed", (long long)r->seed),
              CLI_T("ending", r->ending), CLI_B("complete", r->complete), CLI_I("bodies", r->body_count),
              CLI_I("shapes", r->shape_count), CLI_I("frames", r->frame_count), CLI_N("last_time", last_time(r)));
  if (r->solid_count > 0) add_solids(&json, r);
  add_channels(&json, r);
  cli_json_verdict(&json, &r->verdict);
  if (scene) cli_json_text(&json, "scene", r->scene_resolved);
  cli_json_end(&json);
}

int cli_info(int argc, char **argv) {
  const char *path = NULL;
  bool json = false, scene = false;
  const cli_option options[] = {
      {CLI_FLAG, 0, "scene", NULL, "print the scene that was run, as one YAML text", &scene},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"info", "RESULT.h5 [OPTIONS]", about, options, &path, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  cli_guard(path);
  carom_result *result = cli_open_result(path);
  if (!result) return EXIT_FAILED;
  if (json)
    print_json(path, result, scene);
  else if (scene)
    cli_print_lines(result->scene_resolved);
  else
    print_text(path, result);
  carom_result_close(result);
  return EXIT_GOOD;
}
