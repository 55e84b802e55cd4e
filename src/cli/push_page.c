// The page of pushes: a template (push_page.html) with bodies, ways, contacts and forces put in, as one JSON object.
#include <math.h>
#include <stdlib.h>

#include "cli/page_data.h"
#include "cli/push.h"
#include "cli/push_outline.h"

enum { MOST_MOMENTS = 400 };  // drawn of a push

typedef struct page {
  FILE *out;
  const cli_push_run *run;
  const carom_model *model;
  cli_outline outline;
  double size;  // of the part, m
} page;

static void put_numbers(FILE *out, const double *values, int count) {
  fputc('[', out);
  for (int i = 0; i < count; i++) {
    if (i > 0) fputc(',', out);
    cli_page_finite(out, values[i]);
  }
  fputc(']', out);
}

static void put_member(FILE *out, const char *name, const double *values, int count) {
  fprintf(out, "\"%s\":", name);
  put_numbers(out, values, count);
  fputc(',', out);
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

// In the frame that carom_push_pose tells of.
static void put_piece(page *p, const double at[3]) {
  double c = cos(at[2]), s = sin(at[2]);
  fputc('[', p->out);
  for (int i = 0; i < p->outline.count; i++) {
    double x = p->outline.points[i][0] - at[0], y = p->outline.points[i][1] - at[1];
    if (i > 0) fputc(',', p->out);
    put_numbers(p->out, (double[]){c * x + s * y, c * y - s * x}, 2);
  }
  fputc(']', p->out);
}

static void put_body(page *p, int number) {
  const carom_body *b = &p->model->bodies[number];
  const carom_state *state = p->run->file->scene->state;
  carom_pose pose = cm_pose(state->x[number], state->q[number]);
  double at[3];
  carom_push_pose(p->model, state, number, at);
  fputs(number > 0 ? ",{" : "{", p->out);
  cli_page_member(p->out, "name", b->name);
  put_member(p->out, "at", at, 3);
  fprintf(p->out, "\"fixed\":%s,\"radius\":", b->fixed ? "true" : "false");
  cli_page_finite(p->out, b->bounding_radius);
  fputs(",\"pieces\":[", p->out);
  for (int i = 0; i < b->part_count; i++) {
    const carom_part *part = &p->model->parts[b->part_start + i];
    cli_outline_of(&(carom_placed){part->shape, cm_compose(pose, part->pose)}, 100 * p->size, &p->outline);
    if (i > 0) fputc(',', p->out);
    put_piece(p, at);
  }
  fputs("]}", p->out);
}

static void put_list(FILE *out, const char *name, const int *values, int count) {
  fprintf(out, "\"%s\":[", name);
  for (int i = 0; i < count; i++) fprintf(out, i ? ",%d" : "%d", values[i]);
  fputs("],", out);
}

static void put_head(page *p, int chosen) {
  const carom_push_file *file = p->run->file;
  const carom_push_goal *g = &file->def.goal;
  cli_page_member(p->out, "title", file->title);
  cli_page_member(p->out, "problem", p->run->problem);
  fprintf(p->out, "\"chosen\":%d,\"size\":", chosen);
  cli_page_number(p->out, p->size);
  fputc(',', p->out);
  put_list(p->out, "parts", p->run->parts, p->run->part_count);
  put_list(p->out, "probes", file->def.probes, file->def.probe_count);
  fputs("\"goal\":", p->out);
  if (g->body >= 0) {
    fprintf(p->out, "{\"body\":%d,\"at\":", g->body);
    put_numbers(p->out, (double[]){g->position.x, g->position.y, g->angle}, 3);
    fputs("},", p->out);
  } else {
    fputs("null,", p->out);
  }
  fputs("\"bodies\":[", p->out);
  for (int i = 0; i < p->model->body_count; i++) put_body(p, i);
  fputs("],", p->out);
}

// ---- pushes ---------------------------------------------------------------------------------------------------------

static void put_contact(page *p, const carom_push_contact *c, bool first) {
  fprintf(p->out, "%s{\"a\":%d,\"b\":%d,\"mode\":%d,\"mu\":", first ? "" : ",", c->body_a, c->body_b, (int)c->mode);
  cli_page_number(p->out, carom_model_surface(p->model, c->body_a, c->body_b).friction);
  fputc(',', p->out);
  put_member(p->out, "at", (double[]){c->point.x, c->point.y}, 2);
  put_member(p->out, "normal", (double[]){c->normal.x, c->normal.y}, 2);
  fputs("\"force\":", p->out);
  put_numbers(p->out, (double[]){c->force.x, c->force.y}, 2);
  fputc('}', p->out);
}

static void put_moment(page *p, const cli_push_notes *n, const carom_push *push, int i) {
  const cli_push_moment *m = &n->moments[i];
  fputs("{\"t\":", p->out);
  cli_page_number(p->out, m->time);
  fputs(",\"parts\":[", p->out);
  for (int k = 0; k < n->part_count; k++) {
    if (k > 0) fputc(',', p->out);
    put_numbers(p->out, n->poses + 3 * (i * n->part_count + k), 3);
  }
  fputs("],\"probes\":[", p->out);
  for (int q = 0; q < p->run->file->def.probe_count; q++) {
    if (q > 0) fputc(',', p->out);
    if (q < push->probe_count)
      put_numbers(p->out, m->probes[q], 2);
    else
      fputs("null", p->out);
  }
  fputs("],\"contacts\":[", p->out);
  for (int c = 0; c < m->contact_count; c++) put_contact(p, &n->contacts[m->contact_start + c], c == 0);
  fputs("]}", p->out);
}

static void put_moments(page *p, const cli_push_notes *n, const carom_push *push) {
  int stride = 1 + (n->count - 1) / MOST_MOMENTS;
  fputs("\"steps\":[", p->out);
  for (int i = 0; i < n->count; i += stride) {
    bool last = i + stride >= n->count;
    if (i > 0) fputc(',', p->out);
    put_moment(p, n, push, last ? n->count - 1 : i);
  }
  fputs("],", p->out);
}

static void put_certificate(page *p, const carom_push_result *r) {
  fputs("\"certificate\":", p->out);
  if (r->force_count == 0) {
    fputs("null", p->out);
    return;
  }
  for (int i = 0; i < r->force_count; i++) {
    const carom_push_force *f = &r->forces[i];
    fprintf(p->out, "%s{\"a\":%d,\"b\":%d,\"at\":", i ? "," : "[", f->body_a, f->body_b);
    put_numbers(p->out, (double[]){f->point.x, f->point.y}, 2);
    fputs(",\"force\":", p->out);
    put_numbers(p->out, (double[]){f->force.x, f->force.y}, 2);
    fputc('}', p->out);
  }
  fputc(']', p->out);
}

static bool breaks_off(carom_push_ending ending) {
  return ending == CAROM_PUSH_JAM || ending == CAROM_PUSH_DAMAGE || ending == CAROM_PUSH_FAILED;
}

static void put_box(page *p, const cli_push_fate *fate) {
  char text[80];
  const carom_push_verdict *v = &fate->verdict;
  if (!p->run->file->boxed) return;
  if (fate->corner >= 0)
    snprintf(text, sizeof text, "%s from corner %d", cli_push_why_lost(fate), fate->corner + 1);
  else if (v->robust)
    snprintf(text, sizeof text, "robust, margin %.3g", v->margin);
  else
    snprintf(text, sizeof text, "comes through; modes change");
  fprintf(p->out, "\"box\":{\"good\":%s,\"bad\":%s,\"text\":", v->robust ? "true" : "false",
          fate->corner >= 0 ? "true" : "false");
  cli_page_text(p->out, text);
  fputs("},", p->out);
}

static void put_push(page *p, int number) {
  const cli_push_fate *fate = &p->run->fates[number];
  const carom_push_result *worst = fate->check.changes > 0 ? &fate->check : &fate->verdict.other;
  char change[300];
  fputs(number > 0 ? ",{" : "{", p->out);
  cli_page_member(p->out, "ending", carom_push_ending_name(fate->run.ending));
  fprintf(p->out, "\"bad\":%s,\"time\":", breaks_off(fate->run.ending) ? "true" : "false");
  cli_page_number(p->out, fate->run.time);
  fputs(",\"margin\":", p->out);
  cli_page_finite(p->out, fate->check.margin);
  fputc(',', p->out);
  put_box(p, fate);
  cli_push_tell_change(p->model, &worst->change, change, sizeof change);
  if (worst->changes > 0) cli_page_member(p->out, "change", change);
  put_moments(p, &fate->notes, &p->run->pushes[number]);
  put_certificate(p, &fate->run);
  fputc('}', p->out);
}

// The first that goes wrong, else the first.
static int interesting(const cli_push_run *run) {
  for (int i = 0; i < run->count; i++)
    if (!cli_push_is_good(run, i)) return i;
  return 0;
}

int cli_push_write_page(const cli_push_run *run, const char *path) {
  cli_page to;
  page *p = calloc(1, sizeof *p);
  int part = run->file->def.goal.body >= 0 ? run->file->def.goal.body : run->parts[0];
  if (!p || !cli_page_begin(&to)) return free(p), EXIT_FAILED;
  const char *rest = cli_page_until_data(&to, "push_page.html");
  *p = (page){.out = to.out, .run = run, .model = run->file->scene->model};
  p->size = p->model->bodies[part].bounding_radius;
  fputc('{', to.out);
  put_head(p, interesting(run));
  fputs("\"pushes\":[", to.out);
  for (int i = 0; i < run->count; i++) put_push(p, i);
  fputs("]}", to.out);
  free(p);
  return cli_page_after_data(&to, rest, path);
}
