#define _DEFAULT_SOURCE 1  // MAP_ANONYMOUS
// One cell: read, step, audit, judge.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance.h"

enum { MOST_OVERRIDES = CONFORMANCE_PARAMETERS + 4, PROCESSOR_LIMIT = 30 };  // s: only there to end what hangs

bool sees_contacts(const char *integrator) {
  int index = carom_integrator_find(integrator);
  return index < 0 || carom_integrator_honours(index, CAROM_TRAIT_CONTACTS);
}

static accuracy accuracy_of(const char *integrator, double h) {
  static const char *const second[] = {"variational", "exact", "dcr", "potential", "newmark", NULL};
  accuracy a = {.order = 1, .late = h};
  for (int i = 0; second[i]; i++)
    if (strcmp(integrator, second[i]) == 0) a.order = 2;
  if (strcmp(integrator, "exact") == 0) a.late = h * h;
  return a;
}

// ---- reading ------------------------------------------------------------------------------------------------------

typedef struct overrides {
  char texts[MOST_OVERRIDES][80];
  const char *items[MOST_OVERRIDES];
  int count;
} overrides;

static void override(overrides *o, const char *format, const char *key, const char *value) {
  if (o->count == MOST_OVERRIDES) abort();
  snprintf(o->texts[o->count], sizeof o->texts[0], format, key, value);
  o->items[o->count] = o->texts[o->count];
  o->count++;
}

// "T" is the duration, all others are constants.
static void override_parameters(overrides *o, const char *parameters) {
  char copy[400], *save = NULL;
  snprintf(copy, sizeof copy, "%s", parameters ? parameters : "");
  for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
    if (strncmp(word, "T=", 2) == 0)
      override(o, "%s%s", "duration", word + 1);
    else
      override(o, "constants.%s%s", word, "");
}

carom_scene *read_cell(const cell *c, int threads, char *reason) {
  char path[600], number[40];
  snprintf(path, sizeof path, "%s/%.100s.yaml", CONFORMANCE_SCENES, c->scene->file);
  overrides o = {0};
  override(&o, "integrator.%s=%s", "name", c->integrator);
  snprintf(number, sizeof number, "%.17g", c->h);
  override(&o, "integrator.%s=%s", "step", number);
  snprintf(number, sizeof number, "%d", threads);
  if (threads > 1) override(&o, "integrator.%s=%s", "threads", number);
  override_parameters(&o, c->scene->parameters);
  carom_scene_options options = carom_scene_default_options();
  options.overrides = o.items, options.override_count = o.count;
  carom_scene *scene = NULL;
  carom_diagnostics found = {0};
  carom_bytes bytes = {c->scene->name, c->scene->file, strlen(c->scene->file)};
  if (strchr(c->scene->file, '\n'))
    carom_scene_parse(&bytes, &options, NULL, &scene, &found);
  else
    carom_scene_read(path, &options, NULL, &scene, &found);
  for (int i = found.count - 1; i >= 0 && !scene; i--)
    if (!found.items[i].warning) snprintf(reason, CONFORMANCE_TEXT, "%s", found.items[i].message);
  carom_diagnostics_release(&found);
  return scene;
}

// A scene that none of the integrators may refuse for what is written in it: mistakes in our own files must not count
// as refusals.
static void check_file(const cell *c) {
  cell plain = *c;
  char reason[CONFORMANCE_TEXT] = "";
  bool touches = !(c->scene->flags & SCENE_FREE);
  plain.integrator = touches ? "auto" : "variational";  // whoever can
  carom_scene *scene = read_cell(&plain, 1, reason);
  if (!scene) fprintf(stderr, "%s.yaml: %s\n", c->scene->file, reason), exit(2);
  carom_scene_destroy(scene);
}

// ---- running ------------------------------------------------------------------------------------------------------

static void conclude(cell *c, cell_outcome outcome, const char *kind, const char *text) {
  c->outcome = outcome;
  snprintf(c->reason, sizeof c->reason, "%.90s%.500s", kind, text);
}

static void name_failing_rows(const carom_verdict *v, char *text, size_t size) {
  size_t used = 0;
  for (int i = 0; i < v->count && used < size; i++)
    if (!v->rows[i].pass)
      used += (size_t)snprintf(text + used, size - used, "%s%s %.2g > %.2g", used ? ", " : "", v->rows[i].key,
                               v->rows[i].value, v->rows[i].bound);
}

static void judge(cell *c, const carom_verdict *verdict) {
  char text[CONFORMANCE_TEXT], rows[CONFORMANCE_TEXT - 200] = "";
  name_failing_rows(verdict, rows, sizeof rows);
  c->scene->truth(c);
  expect_laws(c);
  if (c->broken) {
    snprintf(text, sizeof text, "%.390s; verdict %s", c->claim, verdict->pass ? "PASS" : "FAIL");
    conclude(c, CELL_WRONG, verdict->pass ? "false PASS: " : "untrue: ", text);
  } else if (!verdict->pass) {
    conclude(c, CELL_WRONG, "false FAIL: ", rows);
  } else {
    snprintf(text, sizeof text, "%d claims; nearest to its bound: %.400s", c->claims, c->claim);
    conclude(c, CELL_RIGHT, "", text);
  }
}

typedef struct live {
  carom_state *state;
  carom_stepper *stepper;
  carom_audit *audit;
} live;

// As `carom run` does it.
static carom_status march(live *l, const carom_scene *scene, int steps, track *t, carom_error *error) {
  int per_frame = (int)fmax(1, round(scene->frame_interval / scene->step.step));
  track_note(t, l->state);
  carom_audit_frame(l->audit);
  carom_status status = CAROM_OK;
  for (int i = 0; i < steps && status == CAROM_OK; i++) {
    carom_step_report report;
    status = carom_stepper_step(l->stepper, l->state, &report, error);
    if (status != CAROM_OK) break;
    carom_audit_step(l->audit, l->state, &report);
    if ((i + 1) % per_frame == 0 || i + 1 == steps) carom_audit_frame(l->audit);
    track_note(t, l->state);
  }
  return status;
}

static void step_through(cell *c, const carom_scene *scene, live *l) {
  int steps = (int)lround(scene->duration / scene->step.step);
  carom_error error = {0};
  char text[CONFORMANCE_TEXT];
  track t = track_begin(scene->model, scene->step.step, steps);
  carom_status status = march(l, scene, steps, &t, &error);
  c->track = &t;
  if (status != CAROM_OK) {
    snprintf(text, sizeof text, "at t = %.4g s: %.500s", l->state->time, error.message);
    conclude(c, CELL_WRONG, l->state->step == 0 ? "died in its first step " : "died ", text);
  } else {
    carom_verdict verdict = carom_audit_judge(l->audit, &scene->bounds);
    judge(c, &verdict);
  }
  c->track = NULL;
  track_end(&t);
  if (c->outcome == CELL_RIGHT && c->h == c->scene->steps[0] && !(c->scene->flags & SCENE_RANDOM))
    check_promises(c, scene);
}

static void run_inside(cell *c) {
  char reason[CONFORMANCE_TEXT] = "";
  check_file(c);
  carom_scene *scene = read_cell(c, 1, reason);
  if (scene) c->accuracy = accuracy_of(scene->step.integrator, c->h);
  if (!scene) {
    conclude(c, reason[0] ? CELL_REFUSED : CELL_WRONG, reason[0] ? "" : "refused without a reason", reason);
    return;
  }
  live l = {0};
  carom_error error = {0};
  carom_status status = carom_state_clone(scene->state, NULL, &l.state, &error);
  if (status == CAROM_OK) status = carom_stepper_create(scene->model, &scene->step, NULL, &l.stepper, &error);
  if (status == CAROM_OK) status = carom_audit_create(scene->model, l.state, NULL, &l.audit, &error);
  bool made = status == CAROM_OK;
  if (made) status = carom_step_check_start(scene->model, l.state, &scene->step, &error);
  if (status == CAROM_OK)
    step_through(c, scene, &l);
  else
    conclude(c, made ? CELL_REFUSED : CELL_WRONG,
             made ? "" : "the reader takes what the stepper refuses: ", error.message);
  carom_audit_destroy(l.audit);
  carom_stepper_destroy(l.stepper);
  carom_state_destroy(l.state);
  carom_scene_destroy(scene);
}

// ---- in a process of its own ----------------------------------------------------------------------------------------

static double processor_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

typedef void cell_work(cell *c, const void *job);

static void apart(cell *c, cell_work *work, const void *job) {
  cell *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  *shared = *c;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    setrlimit(RLIMIT_CPU, &(struct rlimit){PROCESSOR_LIMIT, PROCESSOR_LIMIT});
    double start = processor_seconds();
    work(shared, job);
    shared->seconds = processor_seconds() - start;
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  *c = *shared;
  munmap(shared, sizeof *shared);
  char text[80];
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  bool hung = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  if (hung) c->seconds = PROCESSOR_LIMIT;
  snprintf(text, sizeof text, hung ? "hung: more than %d s of processor time" : "crashed: signal %d",
           hung                  ? PROCESSOR_LIMIT
           : WIFSIGNALED(status) ? WTERMSIG(status)
                                 : 0);
  conclude(c, CELL_WRONG, "", text);
}

static void work_inside(cell *c, const void *job) {
  (void)job;
  run_inside(c);
}

void run_cell(cell *c) { apart(c, work_inside, NULL); }

// ---- peers ----------------------------------------------------------------------------------------------------------

static void judge_peer(cell *c) {
  char text[CONFORMANCE_TEXT];
  c->scene->truth(c);
  expect_laws(c);
  snprintf(text, sizeof text, "%.500s", c->claim);
  conclude(c, c->broken ? CELL_WRONG : CELL_RIGHT, c->broken ? "untrue: " : "", text);
}

// What the adapters can say to an engine; null when all of it.
static const char *beyond_peers(const carom_model *m) {
  if (m->joint_count || m->spring_count || m->force_count || m->drive_count || m->charge_count || m->boundary_count)
    return "joints, springs, forces and drives are not handed on to other engines";
  if (m->planar) return "planar scenes are not handed on to other engines";
  for (int i = 0; i < m->part_count; i++) {
    carom_vec3 half;
    carom_shape_kind kind = carom_shape_get_kind(m->parts[i].shape);
    if ((kind == CAROM_SHAPE_POLYTOPE && !is_box(m->parts[i].shape, &half)) || kind == CAROM_SHAPE_CONE ||
        kind == CAROM_SHAPE_ELLIPSOID)
      return "of shapes only boxes, balls, capsules, cylinders and planes are handed on";
  }
  return NULL;
}

static void note_peer(const conformance_peer *peer, void *world, const carom_scene *scene, track *t) {
  track_point *p = track_room(t);
  for (int i = 0; i < scene->model->body_count; i++) {
    p[i] = (track_point){scene->state->x[i], scene->state->q[i], cm_zero3(), cm_zero3()};
    if (!scene->model->bodies[i].fixed) peer->read(world, i, &p[i]);
  }
}

static bool march_peer(const conformance_peer *peer, const carom_scene *scene, int steps, track *t) {
  void *world = peer->open(scene, t->h);
  bool fine = world != NULL;
  if (fine) note_peer(peer, world, scene, t);
  for (int i = 0; i < steps && fine; i++) {
    fine = peer->step(world);
    note_peer(peer, world, scene, t);
  }
  if (world) peer->close(world);
  return fine;
}

static void peer_inside(cell *c, const void *job) {
  const conformance_peer *peer = job;
  char reason[CONFORMANCE_TEXT] = "";
  cell plain = *c;
  plain.integrator = c->scene->flags & SCENE_FREE ? "variational" : "auto";
  carom_scene *scene = read_cell(&plain, 1, reason);
  c->accuracy = (accuracy){.order = 1, .late = c->h};
  int steps = (int)lround(scene->duration / c->h);
  track t = track_begin(scene->model, c->h, steps);
  c->track = &t;
  const char *beyond = beyond_peers(scene->model);
  if (beyond)
    conclude(c, CELL_REFUSED, "", beyond);
  else if (march_peer(peer, scene, steps, &t))
    judge_peer(c);
  else
    conclude(c, CELL_WRONG, "", "it gave up");
  c->track = NULL;
  track_end(&t);
  carom_scene_destroy(scene);
}

void run_peer_cell(cell *c, const conformance_peer *peer) { apart(c, peer_inside, peer); }
