// The page of `carom navigate`: a template (navigate_page.html) with cages, places and contacts put in, as one JSON
// object. Places are whole numbers of a small unit, since there are many.
#include <math.h>

#include "cli/navigate.h"
#include "cli/page_data.h"

enum { MOST_FRAMES = 900, UNITS = 20000 };  // units across the picture
static const double MOST_NUMBERS = 1.5e6;   // of places: more frames than that are left out

typedef struct page {
  FILE *out;
  const cli_navigate_run *run;
  double low[2], high[2], unit;  // m
  int stride;
} page;

// ---- the window -----------------------------------------------------------------------------------------------------

static void widen(page *p, const double at[2], double by) {
  for (int k = 0; k < 2; k++) p->low[k] = fmin(p->low[k], at[k] - by), p->high[k] = fmax(p->high[k], at[k] + by);
}

static const carom_cage *cage_of(const page *p, int i) {
  const carom_navigate_def *d = &p->run->file->def;
  return i < d->vehicle_count ? &d->vehicles[i].cage : &d->obstacles[i - d->vehicle_count].cage;
}

static int count_all(const page *p) { return p->run->motion->vehicle_count + p->run->motion->obstacle_count; }

static const double *place_of(const page *p, int frame, int i) {
  return p->run->motion->places[(size_t)frame * (size_t)count_all(p) + (size_t)i];
}

static void widen_by_cage(page *p, const carom_cage *c, const double place[3]) {
  double cosine = cos(place[2]), sine = sin(place[2]);
  if (c->count == 0) widen(p, place, c->radius);
  for (int i = 0; i < c->count; i++) {
    const double *r = c->corners[i];
    const double at[2] = {place[0] + cosine * r[0] - sine * r[1], place[1] + sine * r[0] + cosine * r[1]};
    widen(p, at, c->radius);
  }
}

// About all vehicles at all times, their goals, and what stays; what goes its way may leave the picture.
static void choose_window(page *p) {
  const carom_navigate_motion *m = p->run->motion;
  for (int k = 0; k < 2; k++) p->low[k] = INFINITY, p->high[k] = -INFINITY;
  for (int i = 0; i < m->vehicle_count; i++) {
    double reach = carom_cage_reach(cage_of(p, i));
    widen(p, p->run->file->def.vehicles[i].goal, reach);
    for (int f = 0; f < m->frame_count; f++) widen(p, place_of(p, f, i), reach);
  }
  for (int i = 0; i < m->obstacle_count; i++)
    if (p->run->file->def.obstacles[i].count == 1)
      widen_by_cage(p, cage_of(p, m->vehicle_count + i), place_of(p, 0, m->vehicle_count + i));
  p->unit = fmax(p->high[0] - p->low[0], p->high[1] - p->low[1]) / UNITS;
  double numbers = 3.0 * m->frame_count * count_all(p);
  p->stride = 1 + (m->frame_count - 1) / MOST_FRAMES;
  if (numbers / p->stride > MOST_NUMBERS) p->stride = (int)ceil(numbers / MOST_NUMBERS);
}

// ---- what is drawn --------------------------------------------------------------------------------------------------

static void put_point(page *p, const double at[2], const char *before) {
  fprintf(p->out, "%s[", before);
  cli_page_finite(p->out, at[0]);
  fputc(',', p->out);
  cli_page_finite(p->out, at[1]);
  fputc(']', p->out);
}

static void put_cage(page *p, const carom_cage *c) {
  fputs("\"radius\":", p->out);
  cli_page_number(p->out, c->radius);
  fputs(",\"corners\":[", p->out);
  for (int i = 0; i < c->count; i++) put_point(p, c->corners[i], i > 0 ? "," : "");
  fputc(']', p->out);
}

static void put_vehicle(page *p, int i) {
  const carom_navigate_vehicle *v = &p->run->file->def.vehicles[i];
  const carom_navigate_motion *m = p->run->motion;
  fputs(i > 0 ? ",{" : "{", p->out);
  cli_page_member(p->out, "name", v->name);
  put_cage(p, &v->cage);
  put_point(p, v->goal, ",\"goal\":");
  fprintf(p->out, ",\"faces\":%s,\"arrival\":", v->steering == CAROM_STEER_SLIDE ? "false" : "true");
  cli_page_finite(p->out, m->arrival[i]);
  fputs(",\"length\":", p->out);
  cli_page_number(p->out, m->length[i]);
  fputs(",\"straight\":", p->out);
  cli_page_number(p->out, hypot(v->goal[0] - v->start[0], v->goal[1] - v->start[1]));
  fputc('}', p->out);
}

static void put_obstacle(page *p, int i) {
  const carom_navigate_obstacle *o = &p->run->file->def.obstacles[i];
  fputs(i > 0 ? ",{" : "{", p->out);
  cli_page_member(p->out, "name", o->name);
  put_cage(p, &o->cage);
  fprintf(p->out, ",\"moves\":%s,\"place\":[", o->count > 1 ? "true" : "false");
  for (int k = 0; k < 3; k++) {
    if (k > 0) fputc(',', p->out);
    cli_page_finite(p->out, o->knots[0].place[k]);
  }
  fputs("]}", p->out);
}

static void put_rail(page *p, int i) {
  const carom_navigate_rail *r = &p->run->file->def.rails[i];
  fputs(i > 0 ? ",[" : "[", p->out);
  for (int k = 0; k < r->count; k++) put_point(p, r->points[k], k > 0 ? "," : "");
  fputc(']', p->out);
}

static void put_list(page *p, const char *name, int count, void (*put)(page *, int)) {
  fprintf(p->out, "\"%s\":[", name);
  for (int i = 0; i < count; i++) put(p, i);
  fputs("],", p->out);
}

// ---- frames ---------------------------------------------------------------------------------------------------------

static bool is_drawn(const page *p, int i) {
  int n = p->run->motion->vehicle_count;
  return i < n || p->run->file->def.obstacles[i - n].count > 1;
}

static void put_frame(page *p, int f) {
  const carom_navigate_motion *m = p->run->motion;
  bool first = true;
  fputs(f > 0 ? ",{\"at\":[" : "{\"at\":[", p->out);
  for (int i = 0; i < count_all(p); i++) {
    const double *at = place_of(p, f, i);
    if (!is_drawn(p, i)) continue;
    fprintf(p->out, first ? "%.0f,%.0f,%.0f" : ",%.0f,%.0f,%.0f", (at[0] - p->low[0]) / p->unit,
            (at[1] - p->low[1]) / p->unit, 1e3 * at[2]);
    first = false;
  }
  fputs("],\"touch\":[", p->out);
  for (int c = m->contact_start[f]; c < m->contact_start[f + 1]; c++)
    fprintf(p->out, c > m->contact_start[f] ? ",%d,%d,%.0f,%.0f" : "%d,%d,%.0f,%.0f", m->contacts[c].vehicle,
            m->contacts[c].other, (m->contacts[c].at[0] - p->low[0]) / p->unit,
            (m->contacts[c].at[1] - p->low[1]) / p->unit);
  fputs("]}", p->out);
}

static void put_frames(page *p) {
  int last = p->run->motion->frame_count - 1;
  fputs("\"frames\":[", p->out);
  for (int f = 0; f <= last; f += p->stride) put_frame(p, f);
  fprintf(p->out, "],\"last\":%.9g", last * p->run->motion->step);
}

// ---- verdict --------------------------------------------------------------------------------------------------------

static void put_jams(page *p) {
  const carom_navigate_motion *m = p->run->motion;
  fputs("\"jams\":[", p->out);
  for (int i = 0; i < m->jam_count; i++) {
    fprintf(p->out, "%s{\"closed\":%s,\"vehicles\":[", i > 0 ? "," : "", m->jams[i].closed ? "true" : "false");
    for (int k = 0; k < m->jams[i].count; k++) fprintf(p->out, k > 0 ? ",%d" : "%d", m->jammed[m->jams[i].start + k]);
    fputs("]}", p->out);
  }
  fputs("],", p->out);
}

static void put_plan(page *p) {
  const carom_navigate_plan *plan = p->run->plan;
  double at = 0;
  if (!plan) return;
  fputs("\"segments\":[", p->out);
  for (int i = 0; i < plan->count; i++) {
    double duration = fmax(1, round(plan->segments[i].duration / p->run->motion->step)) * p->run->motion->step;
    fprintf(p->out, "%s{\"from\":%.9g,\"to\":%.9g,\"robust\":%s,\"carrying\":%d,\"margin\":", i > 0 ? "," : "", at,
            at + duration, plan->fates[i].robust ? "true" : "false", plan->fates[i].carrying);
    cli_page_finite(p->out, plan->fates[i].margin);
    fputc('}', p->out);
    at += duration;
  }
  fputs("],", p->out);
}

static void put_verdict(page *p) {
  const carom_navigate_verdict *v = &p->run->motion->verdict;
  fprintf(p->out, "\"done\":%s,\"clear\":%s,\"arrived\":%d,\"gap\":", v->done ? "true" : "false",
          cli_navigate_is_clear(p->run) ? "true" : "false", v->arrived);
  cli_page_finite(p->out, v->least_gap);
  fprintf(p->out, ",\"gapTime\":%.9g,", v->gap_time);
  if (v->gap_a >= 0) {
    cli_page_member(p->out, "gapA", cli_navigate_name(p->run, v->gap_a));
    cli_page_member(p->out, "gapB", cli_navigate_name(p->run, v->gap_b));
  }
}

static void put_head(page *p) {
  cli_page_member(p->out, "title", p->run->file->title);
  cli_page_member(p->out, "description", p->run->file->description);
  cli_page_member(p->out, "scene", p->run->scene);
  fputs("\"low\":", p->out);
  put_point(p, p->low, "");
  put_point(p, p->high, ",\"high\":");
  fprintf(p->out, ",\"unit\":%.17g,\"step\":%.9g,", p->unit, p->run->motion->step * p->stride);
}

int cli_navigate_write_page(const cli_navigate_run *run) {
  const carom_navigate_def *d = &run->file->def;
  cli_page to;
  page p = {.run = run};
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  const char *rest = cli_page_until_data(&to, "navigate_page.html");
  p.out = to.out;
  choose_window(&p);
  fputc('{', to.out);
  put_head(&p);
  put_verdict(&p);
  put_jams(&p);
  put_plan(&p);
  put_list(&p, "vehicles", d->vehicle_count, put_vehicle);
  put_list(&p, "obstacles", d->obstacle_count, put_obstacle);
  put_list(&p, "rails", d->rail_count, put_rail);
  put_frames(&p);
  fputc('}', to.out);
  return cli_page_after_data(&to, rest, run->page);
}
