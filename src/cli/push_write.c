// Pushes as a problem file, which 'carom push check' reads; and what was seen of them, for 'carom push fit'.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/push.h"

static void put_text(FILE *out, const char *key, const char *text) {
  fprintf(out, "%s: ", key);
  cli_put_escaped(out, "\"%s\"\n", text, "\"\\");
}

static void put_name(FILE *out, const carom_model *model, int body) {
  cli_put_escaped(out, "\"%s\"", model->bodies[body].name, "\"\\");
}

// Where the folder of a file really is, with a slash behind it; empty when that cannot be told.
static void find_folder(const char *path, char folder[PATH_MAX + 1]) {
  char given[CLI_PATH];
  const char *slash = strrchr(path, '/');
  snprintf(given, sizeof given, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
  if (!realpath(given, folder)) folder[0] = '\0';
  size_t n = strlen(folder);
  if (n > 1 && n < PATH_MAX) memcpy(folder + n, "/", 2);
}

// As seen from the folder of the file, where the scene lies in it; else from the root.
static void put_scene(FILE *out, const carom_push_file *file, const char *path) {
  char folder[PATH_MAX + 1];
  char *whole = realpath(file->scene->path, NULL);
  find_folder(path, folder);
  size_t n = strlen(folder);
  const char *name = whole ? whole : file->scene->path;
  if (whole && n > 0 && strncmp(whole, folder, n) == 0) name += n;
  put_text(out, "scene", name);
  free(whole);
}

static void put_goal(FILE *out, const carom_push_file *file) {
  const carom_push_goal *g = &file->def.goal;
  if (g->body < 0) return;
  fputs("goal: {body: ", out);
  put_name(out, file->def.model, g->body);
  fprintf(out, ", position: [%.17g, %.17g], angle: %.17g, distance: %.17g, turn: %.17g}\n", g->position.x,
          g->position.y, g->angle, g->distance, g->turn);
}

static void put_robust(FILE *out, const carom_push_file *file) {
  const carom_push_box *b = &file->box;
  const carom_pusher_def *d = &file->def;
  if (!file->boxed) return;
  fputs("robust: {body: ", out);
  put_name(out, d->model, b->body);
  fprintf(out, ", x: %.17g, y: %.17g, angle: %.17g, friction: %.17g, settle: %.17g, settle_all: %.17g}\n", b->half[0],
          b->half[1], b->half[2], b->friction, d->settle, d->settle_all);
}

static void put_push(FILE *out, const carom_push_file *file, const carom_push *push) {
  fprintf(out, "  - duration: %.17g\n    probes:\n", push->duration);
  for (int i = 0; i < push->probe_count; i++) {
    const carom_push_probe *p = &push->probe[i];
    fputs("      - {probe: ", out);
    put_name(out, file->def.model, file->def.probes[i]);
    fprintf(out, ", at: [%.17g, %.17g], heading: %.17g, speed: %.17g}\n", p->at.x, p->at.y, p->heading, p->speed);
  }
}

static void put_problem(FILE *out, const cli_push_run *run, const char *path) {
  const carom_push_file *file = run->file;
  fputs("carom-push: 1\n", out);
  put_text(out, "title", file->title);
  put_scene(out, file, path);
  fputs("probes: [", out);
  for (int i = 0; i < file->def.probe_count; i++) {
    if (i > 0) fputs(", ", out);
    put_name(out, file->def.model, file->def.probes[i]);
  }
  fprintf(out, "]\nstep: %.17g\n", file->def.step);
  if (isfinite(file->def.force_limit)) fprintf(out, "force_limit: %.17g\n", file->def.force_limit);
  put_goal(out, file);
  put_robust(out, file);
  fputs("pushes:\n", out);
  for (int i = 0; i < run->push_count; i++) put_push(out, file, &run->pushes[i]);
}

int cli_push_write(const cli_push_run *run, const char *path, const char *command) {
  cli_page to;
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  fputs("# made by carom push plan\n", to.out);
  cli_put_escaped(to.out, "# %s\n", command, NULL);
  put_problem(to.out, run, path);
  return cli_page_end(&to, path);
}

// ---- samples --------------------------------------------------------------------------------------------------------

// Sum of the sizes of the forces of probes on the part, in the step that ends at a moment.
static double probe_force(const cli_push_run *run, const cli_push_notes *n, const cli_push_moment *m, int part) {
  const carom_pusher_def *d = &run->file->def;
  double sum = 0;
  for (int c = 0; c < m->contact_count; c++) {
    const carom_push_contact *x = &n->contacts[m->contact_start + c];
    for (int i = 0; i < d->probe_count; i++)
      if (x->body_a == part && x->body_b == d->probes[i]) sum += hypot(x->force.x, x->force.y);
  }
  return sum;
}

static void put_samples(FILE *out, const cli_push_run *run, int number, int k) {
  const cli_push_notes *n = &run->fates[number].notes;
  for (int i = 0; i < n->count; i++) {
    const double *pose = n->poses + 3 * (i * n->part_count + k);
    fprintf(out, "%d,%.17g,%.17g,%.17g,%.17g,%.9g\n", number + 1, n->moments[i].time - n->moments[0].time, pose[0],
            pose[1], pose[2], i ? probe_force(run, n, &n->moments[i - 1], run->parts[k]) : 0);
  }
}

int cli_push_write_samples(const cli_push_run *run, const char *path) {
  cli_page to;
  int k = 0, part = run->file->def.goal.body >= 0 ? run->file->def.goal.body : run->parts[0];
  while (run->parts[k] != part) k++;
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  fputs("# made by carom push check\npush,time (s),x (m),y (m),angle (rad),force (N)\n", to.out);
  for (int i = 0; i < run->count; i++) put_samples(to.out, run, i, k);
  return cli_page_end(&to, path);
}
