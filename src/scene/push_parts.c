// The parts of a pushing problem: probes, goal, pushes.
#include <stdio.h>

#include "base/memory.h"
#include "scene/problem.h"
#include "scene/push_reader.h"

typedef const carom_node *slots[CAROM_PUSH_MOST_KEYS];

// ---- probes --------------------------------------------------------------------------------------------------------

static bool is_driven(const carom_model *model, int body) {
  for (int i = 0; i < model->drive_count; i++)
    if (model->drives[i].body == body) return true;
  return false;
}

static int find_probe(const carom_pusher_def *d, int body) {
  for (int i = 0; i < d->probe_count; i++)
    if (d->probes[i] == body) return i;
  return -1;
}

static void read_probe(carom_push_reader *p, const carom_node *node) {
  carom_pusher_def *d = &p->file->def;
  int body = carom_push_read_body(p, node);
  if (body < 0) return;
  const carom_body *b = &d->model->bodies[body];
  carom_reporter *to = &p->r.reporter;
  if (!b->fixed)
    carom_report(to, node->place, "add 'fixed: true' to it", "probe '%.80s' moves by itself: probes are fixed bodies",
                 b->name);
  else if (is_driven(d->model, body))
    carom_report(to, node->place, "take it out of 'drives': pushes say how probes move",
                 "probe '%.80s' has a drive of its own", b->name);
  else if (b->part_count == 0)
    carom_report(to, node->place, NULL, "probe '%.80s' has no shape", b->name);
  else if (find_probe(d, body) >= 0)
    carom_report(to, node->place, NULL, "probe '%.80s' is named twice", b->name);
  else
    d->probes[d->probe_count++] = body;
}

void carom_push_read_probes(carom_push_reader *p, const carom_node *list) {
  if (!carom_read_list(&p->r, list, "names of bodies")) return;
  if (list->count < 1 || list->count > CAROM_PUSH_PROBES) {
    carom_report(&p->r.reporter, list->place, NULL, "'probes' expects 1 to %d names, got %d", CAROM_PUSH_PROBES,
                 list->count);
    return;
  }
  for (const carom_node *c = list->first; c; c = c->next) read_probe(p, c);
}

// ---- goal ----------------------------------------------------------------------------------------------------------

void carom_push_read_goal(carom_push_reader *p, const carom_node *node) {
  static const char *const keys[] = {"body", "position", "angle", "distance", "turn", NULL};
  slots f;
  carom_push_goal *g = &p->file->def.goal;
  if (!node || !carom_problem_fields(&p->r, node, keys, "goal", f)) return;
  bool good = carom_push_read_part(p, node, f[0], &g->body);
  good = carom_require(&p->r, node, f[1], "position", "goal") && carom_push_read_point(p, f[1], &g->position) && good;
  good = carom_require(&p->r, node, f[3], "distance", "goal") && good;
  good = carom_require(&p->r, node, f[4], "turn", "goal") && good;
  good = carom_read_number(&p->r, f[2], CAROM_ANGLE, CAROM_ANY, &g->angle) && good;
  good = carom_read_number(&p->r, f[3], CAROM_LENGTH, CAROM_POSITIVE, &g->distance) && good;
  good = carom_read_number(&p->r, f[4], CAROM_ANGLE, CAROM_POSITIVE, &g->turn) && good;
  if (!good) g->body = -1;
  p->goal = good ? node : NULL;
}

// ---- how well things are known -------------------------------------------------------------------------------------

static bool read_share(carom_push_reader *p, const carom_node *node, double *value) {
  double v = *value;
  if (!node || !carom_read_number(&p->r, node, CAROM_NUMBER, CAROM_NOT_NEGATIVE, &v)) return !node;
  if (v >= 1) return carom_report(&p->r.reporter, node->place, NULL, "'%s' must be less than 1, got %g", node->key, v);
  *value = v;
  return true;
}

void carom_push_read_robust(carom_push_reader *p, const carom_node *node) {
  static const char *const keys[] = {"body", "x", "y", "angle", "friction", "settle", "settle_all", NULL};
  slots f;
  carom_push_box *box = &p->file->box;
  if (!node || !carom_problem_fields(&p->r, node, keys, "robust", f)) return;
  if (!carom_push_read_part(p, node, f[0], &box->body)) return;
  carom_read_number(&p->r, f[1], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &box->half[0]);
  carom_read_number(&p->r, f[2], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &box->half[1]);
  carom_read_number(&p->r, f[3], CAROM_ANGLE, CAROM_NOT_NEGATIVE, &box->half[2]);
  read_share(p, f[4], &box->friction);
  read_share(p, f[5], &p->file->def.settle);
  read_share(p, f[6], &p->file->def.settle_all);
  for (int i = 0; i < 3; i++) p->file->boxed |= box->half[i] > 0;
  p->file->boxed |= box->friction > 0;
}

// ---- pushes --------------------------------------------------------------------------------------------------------

void carom_push_name(const carom_push_reader *p, const carom_node *push, char *text, size_t size) {
  int number = 1;
  for (int i = 0; i < p->file->push_count && p->pushes[i] != push; i++) number++;
  snprintf(text, size, "push %d", number);
}

// Which of the problem's probes an item moves: the one it names, else the next one.
static int read_which(carom_push_reader *p, const carom_node *node, int next) {
  const carom_pusher_def *d = &p->file->def;
  const char *name = NULL;
  if (!node) return next;
  if (!carom_read_text(&p->r, node, &name)) return -1;
  carom_names names;
  carom_allocator heap = carom_pool_allocator(&p->r.pool);
  carom_names_create(&names, &heap);
  for (int i = 0; i < d->probe_count; i++) carom_names_add(&names, d->model->bodies[d->probes[i]].name, i);
  int which = carom_names_find(&names, name);
  if (which < 0) carom_unknown_name(&p->r, node, "probe", &names);
  return which;
}

static void read_push_probe(carom_push_reader *p, const carom_node *node, const char *label, carom_push *push) {
  static const char *const keys[] = {"probe", "at", "heading", "speed", NULL};
  slots f;
  carom_push_probe *to = &push->probe[push->probe_count];
  if (!carom_problem_fields(&p->r, node, keys, "probe of a push", f)) return;
  int which = read_which(p, f[0], push->probe_count);
  if (which >= 0 && which != push->probe_count)
    carom_report(&p->r.reporter, node->place, "probes of a push stand in the order of 'probes', from the first on",
                 "%s: probe %d of the push must be '%.80s'", label, push->probe_count + 1,
                 p->file->def.model->bodies[p->file->def.probes[push->probe_count]].name);
  if (carom_require(&p->r, node, f[1], "at", "probe of a push")) carom_push_read_point(p, f[1], &to->at);
  carom_read_number(&p->r, f[2], CAROM_ANGLE, CAROM_ANY, &to->heading);
  carom_read_number(&p->r, f[3], CAROM_VELOCITY, CAROM_NOT_NEGATIVE, &to->speed);
  if (to->speed > 0 && !f[2]) carom_require(&p->r, node, NULL, "heading", "probe of a push");
  push->probe_count++;
}

static void read_push_probes(carom_push_reader *p, const carom_node *list, const char *label, carom_push *push) {
  int most = p->file->def.probe_count;
  if (!carom_read_list(&p->r, list, "mappings")) return;
  if (most > 0 && (list->count < 1 || list->count > most)) {
    carom_report(&p->r.reporter, list->place, NULL, "%s: 'probes' expects 1 to %d mappings, got %d", label, most,
                 list->count);
    return;
  }
  for (const carom_node *c = list->first; c && push->probe_count < most; c = c->next)
    read_push_probe(p, c, label, push);
}

static void read_place(carom_push_reader *p, const carom_node *node, carom_push_place *place) {
  static const char *const keys[] = {"body", "position", "angle", NULL};
  slots f;
  carom_vec3 at = cm_zero3();
  if (!node || !carom_problem_fields(&p->r, node, keys, "start", f)) return;
  place->given = carom_push_read_part(p, node, f[0], &place->body);
  if (carom_require(&p->r, node, f[1], "position", "start")) carom_push_read_point(p, f[1], &at);
  place->pose[0] = at.x, place->pose[1] = at.y;
  carom_read_number(&p->r, f[2], CAROM_ANGLE, CAROM_ANY, &place->pose[2]);
}

static void read_push(carom_push_reader *p, const carom_node *node, carom_push *push, carom_push_place *place) {
  static const char *const keys[] = {"duration", "probes", "start", NULL};
  slots f;
  char label[40];
  carom_push_name(p, node, label, sizeof label);
  if (!carom_problem_fields(&p->r, node, keys, label, f)) return;
  if (carom_require(&p->r, node, f[0], "duration", label))
    carom_read_number(&p->r, f[0], CAROM_TIME, CAROM_POSITIVE, &push->duration);
  if (carom_require(&p->r, node, f[1], "probes", label)) read_push_probes(p, f[1], label, push);
  read_place(p, f[2], place);
}

void carom_push_read_pushes(carom_push_reader *p, const carom_node *list) {
  carom_push_file *file = p->file;
  if (!list || !carom_read_list(&p->r, list, "mappings")) return;
  if (list->count > CAROM_PUSH_MOST) {
    carom_report(&p->r.reporter, list->place, NULL, "at most %d pushes, got %d", CAROM_PUSH_MOST, list->count);
    return;
  }
  p->pushes = CAROM_POOL_ARRAY(&p->r.pool, const carom_node *, list->count);
  if (!p->pushes ||
      !CAROM_NEW_ALL(&p->r.allocator, CAROM_ROOM(file->pushes, list->count), CAROM_ROOM(file->places, list->count))) {
    p->r.reporter.out_of_memory = true;
    return;
  }
  for (const carom_node *c = list->first; c; c = c->next) p->pushes[file->push_count++] = c;
  for (int i = 0; i < file->push_count; i++) read_push(p, p->pushes[i], &file->pushes[i], &file->places[i]);
}
