// What `carom navigate` tells: the verdict as text and as JSON, and the ways as a table.
#include <math.h>
#include <string.h>

#include "cli/navigate.h"

static const double OVERLAP = 1e-6;  // m: less is round-off

enum { NAMES = 12 };  // of a jam, told as text

const char *cli_navigate_name(const cli_navigate_run *run, int number) {
  const carom_navigate_def *d = &run->file->def;
  if (number < 0) return "nobody";
  return number < d->vehicle_count ? d->vehicles[number].name : d->obstacles[number - d->vehicle_count].name;
}

bool cli_navigate_is_clear(const cli_navigate_run *run) { return run->motion->verdict.least_gap >= -OVERLAP; }

// ---- text -----------------------------------------------------------------------------------------------------------

static void print_length(double length) {
  double size = fabs(length);
  cli_print(stdout, size >= 0.1 ? "%.3g m" : "%.3g mm", size >= 0.1 ? length : 1e3 * length);
}

static void print_clearance(const cli_navigate_run *run) {
  const carom_navigate_verdict *v = &run->motion->verdict;
  if (v->gap_a < 0) {
    cli_print(stdout, "  nothing else was there to keep off\n");
    return;
  }
  cli_print(stdout, cli_navigate_is_clear(run) ? "  least clearance " : "  CAGES OVERLAPPED: clearance ");
  print_length(v->least_gap);
  cli_print(stdout, ", between %s and %s at %.4g s\n", cli_navigate_name(run, v->gap_a),
            cli_navigate_name(run, v->gap_b), v->gap_time);
}

static void print_jam(const cli_navigate_run *run, const carom_navigate_jam *jam) {
  const int *who = run->motion->jammed + jam->start;
  cli_print(stdout, jam->closed ? "  jam (forces at the contacts cancel out): " : "  blocked: ");
  for (int i = 0; i < jam->count && i < NAMES; i++)
    cli_print(stdout, i > 0 ? ", %s" : "%s", cli_navigate_name(run, who[i]));
  cli_print(stdout, jam->count > NAMES ? " and %d more\n" : "\n", jam->count - NAMES);
}

static void print_late(const cli_navigate_run *run) {
  const carom_navigate_motion *m = run->motion;
  int told = 0, late = m->vehicle_count - m->verdict.arrived;
  cli_print(stdout, "  %d of %d vehicles at their goals after %.4g s; not there: ", m->verdict.arrived,
            m->vehicle_count, m->verdict.time);
  for (int i = 0; i < m->vehicle_count && told < NAMES; i++)
    if (!isfinite(m->arrival[i])) cli_print(stdout, told++ > 0 ? ", %s" : "%s", cli_navigate_name(run, i));
  cli_print(stdout, late > NAMES ? " and %d more\n" : "\n", late - NAMES);
}

static void print_plan(const cli_navigate_run *run) {
  const carom_navigate_plan *p = run->plan;
  cli_print(stdout, "  plan: %d segments in %.4g s, %d tried, %d refused", p->count, p->duration, p->tried, p->refused);
  if (isfinite(p->least_margin)) cli_print(stdout, "; robust, least margin %.3g m/s", p->least_margin);
  cli_print(stdout, "\n");
}

void cli_navigate_print(const cli_navigate_run *run) {
  const carom_navigate_motion *m = run->motion;
  const carom_navigate_verdict *v = &m->verdict;
  cli_print(stdout, "%s: %d vehicle%s, %d obstacle%s\n", run->file->title, m->vehicle_count,
            m->vehicle_count == 1 ? "" : "s", m->obstacle_count, m->obstacle_count == 1 ? "" : "s");
  if (run->plan) print_plan(run);
  if (v->done)
    cli_print(stdout, "  all at their goals after %.4g s (%d steps)\n", v->time, v->steps);
  else
    print_late(run);
  print_clearance(run);
  for (int i = 0; i < m->jam_count; i++) print_jam(run, &m->jams[i]);
  if (v->straight > 0) cli_print(stdout, "  ways %.4g times as long as the straight lines\n", v->length / v->straight);
  if (v->held > 0) cli_print(stdout, "  %d steps of groups were shortened to keep cages apart\n", v->held);
  if (run->page) cli_print(stdout, "  page: %s\n", run->page);
  if (run->csv) cli_print(stdout, "  table: %s\n", run->csv);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void json_vehicles(cli_json *json, const cli_navigate_run *run) {
  const carom_navigate_motion *m = run->motion;
  cli_json_open(json, "vehicles", '[');
  for (int i = 0; i < m->vehicle_count; i++) {
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", cli_navigate_name(run, i)), CLI_N("arrival", m->arrival[i]),
                CLI_N("length", m->length[i]));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_jams(cli_json *json, const cli_navigate_run *run) {
  const carom_navigate_motion *m = run->motion;
  cli_json_open(json, "jams", '[');
  for (int i = 0; i < m->jam_count; i++) {
    const carom_navigate_jam *jam = &m->jams[i];
    cli_json_open(json, NULL, '{');
    cli_json_bool(json, "closed", jam->closed);
    cli_json_open(json, "vehicles", '[');
    for (int k = 0; k < jam->count; k++) cli_json_text(json, NULL, cli_navigate_name(run, m->jammed[jam->start + k]));
    cli_json_close(json, ']');
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_segment(cli_json *json, const cli_navigate_run *run, int number) {
  const carom_navigate_segment *s = &run->plan->segments[number];
  const carom_navigate_fate *f = &run->plan->fates[number];
  cli_json_open(json, NULL, '{');
  CLI_MEMBERS(json, CLI_N("duration", s->duration), CLI_N("settle", s->settle), CLI_B("robust", f->robust),
              CLI_N("margin", f->margin), CLI_I("carrying", f->carrying));
  cli_json_open(json, "velocities", '[');
  for (int i = 0; i < run->plan->vehicle_count; i++) {
    cli_json_open(json, NULL, '[');
    for (int k = 0; k < 2; k++) cli_json_number(json, NULL, s->velocities[i][k]);
    cli_json_close(json, ']');
  }
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

static void json_plan(cli_json *json, const cli_navigate_run *run) {
  const carom_navigate_plan *p = run->plan;
  cli_json_open(json, "plan", '{');
  CLI_MEMBERS(json, CLI_B("found", p->found), CLI_I("tried", p->tried), CLI_I("refused", p->refused),
              CLI_I("nodes", p->nodes), CLI_N("duration", p->duration), CLI_N("margin", p->least_margin));
  cli_json_open(json, "segments", '[');
  for (int i = 0; i < p->count; i++) json_segment(json, run, i);
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

void cli_navigate_json(const cli_navigate_run *run) {
  const carom_navigate_motion *m = run->motion;
  const carom_navigate_verdict *v = &m->verdict;
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("title", run->file->title), CLI_B("done", v->done), CLI_I("arrived", v->arrived),
              CLI_B("clear", cli_navigate_is_clear(run)), CLI_N("clearance", v->least_gap),
              CLI_N("clearance_time", v->gap_time), CLI_N("time", v->time), CLI_I("steps", v->steps),
              CLI_N("length", v->length), CLI_N("straight", v->straight), CLI_I("most_contacts", v->most_contacts),
              CLI_I("held", v->held), CLI_N("residual", v->residual));
  if (v->gap_a >= 0)
    CLI_MEMBERS(&json, CLI_T("clearance_a", cli_navigate_name(run, v->gap_a)),
                CLI_T("clearance_b", cli_navigate_name(run, v->gap_b)));
  if (run->plan) json_plan(&json, run);
  json_jams(&json, run);
  json_vehicles(&json, run);
  cli_json_end(&json);
}

// ---- the table ------------------------------------------------------------------------------------------------------

// Names with commas or quotes are quoted; nothing that could be taken for a line end is in them.
static void put_name(FILE *out, const char *name) {
  if (!strpbrk(name, ",\"\n\r")) {
    fputs(name, out);
    return;
  }
  fputc('"', out);
  for (const char *c = name; *c; c++) {
    if (*c == '"') fputc('"', out);
    fputc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
  }
  fputc('"', out);
}

int cli_navigate_write_csv(const cli_navigate_run *run) {
  const carom_navigate_motion *m = run->motion;
  int all = m->vehicle_count + m->obstacle_count;
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  fputs("# made by carom\ntime,name,x,y,heading\n", page.out);
  for (int f = 0; f < m->frame_count; f++)
    for (int i = 0; i < all; i++) {
      const double *p = m->places[(size_t)f * (size_t)all + (size_t)i];
      bool stays = i >= m->vehicle_count && run->file->def.obstacles[i - m->vehicle_count].count == 1;
      if (stays && f > 0) continue;
      fprintf(page.out, "%.9g,", f * m->step);
      put_name(page.out, cli_navigate_name(run, i));
      fprintf(page.out, ",%.9g,%.9g,%.9g\n", p[0], p[1], p[2]);
    }
  return cli_page_end(&page, run->csv);
}
