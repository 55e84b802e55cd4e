// What can be told of a pushing problem before anything is pushed: whether the scene is one of pushes, whether the goal
// can be reached at all, and whether probes begin outside the parts.
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "contact/pairs.h"
#include "scene/push_reader.h"

static const double LEEWAY = 1e-6;  // of the smaller body: overlaps below come from rounding what is written

// ---- the scene -----------------------------------------------------------------------------------------------------

static bool has_support(const carom_model *model, int body) {
  return model->supports && model->supports[body].kind != CAROM_SUPPORT_NONE;
}

void carom_push_check_scene(carom_push_reader *p) {
  const carom_model *model = p->file->scene->model;
  carom_place at = p->scene->place;
  if (!model->planar) carom_report(&p->r.reporter, at, "add 'planar: true' to it", "the scene is not planar");
  if (model->moving_count == 0)
    carom_report(&p->r.reporter, at, NULL, "the scene has no body that moves: there is nothing to push");
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed && !has_support(model, i))
      carom_report(&p->r.reporter, at, "give it a 'support' that resists its motion",
                   "part '%.80s' of the scene has no support", model->bodies[i].name);
}

// ---- places --------------------------------------------------------------------------------------------------------

typedef struct places {
  carom_push_reader *p;
  carom_contacts *contacts;
  carom_state *state;
} places;

static bool is_probe(const carom_pusher_def *d, int body) {
  for (int i = 0; i < d->probe_count; i++)
    if (d->probes[i] == body) return true;
  return false;
}

static double size_of(const carom_model *model, int body) {
  double radius = model->bodies[body].bounding_radius;
  return isfinite(radius) ? radius : 0;
}

typedef bool interest(const carom_pusher_def *d, const carom_contact *c, int which);

// The deepest overlap of those that are of interest; depth 0: none.
static carom_contact deepest(places *s, interest *is_of_interest, int which) {
  const carom_pusher_def *d = &s->p->file->def;
  const carom_contact_query query = {CAROM_CONTACT_NEAREST, 0, 0};
  carom_contact worst = {0};
  const carom_contact *found;
  int count;
  carom_error error;
  if (carom_contacts_update(s->contacts, s->state, NULL, &error) != CAROM_OK ||
      carom_contacts_find(s->contacts, s->state, &query, &found, &count, &error) != CAROM_OK) {
    s->p->r.reporter.out_of_memory |= error.status == CAROM_ERR_MEMORY;
    return worst;
  }
  for (int i = 0; i < count; i++) {
    const carom_contact *c = &found[i];
    double a = size_of(d->model, c->body_a), b = size_of(d->model, c->body_b), least = b > 0 ? fmin(a, b) : a;
    if (c->gap < worst.gap && c->gap < -LEEWAY * least && is_of_interest(d, c, which)) worst = *c;
  }
  return worst;
}

static bool goal_in_fixture(const carom_pusher_def *d, const carom_contact *c, int which) {
  return c->body_a == which && d->model->bodies[c->body_b].fixed && !is_probe(d, c->body_b);
}

static bool part_in_probe(const carom_pusher_def *d, const carom_contact *c, int which) {
  return c->body_b == d->probes[which];
}

static bool part_in_other(const carom_pusher_def *d, const carom_contact *c, int which) {
  (void)which;
  return !is_probe(d, c->body_b);
}

static void check_goal(places *s) {
  carom_push_reader *p = s->p;
  const carom_push_goal *g = &p->file->def.goal;
  const carom_model *model = p->file->scene->model;
  if (!p->goal || g->turn > 1) return;  // any angle will do, or nearly
  carom_push_set_pose(model, s->state, g->body, (double[]){g->position.x, g->position.y, g->angle});
  carom_contact c = deepest(s, goal_in_fixture, g->body);
  if (c.gap < 0)
    carom_report(&p->r.reporter, p->goal->place, "is the slot narrower than the part?",
                 "at its goal, '%.80s' overlaps '%.80s' by %.4g m", model->bodies[g->body].name,
                 model->bodies[c.body_b].name, -c.gap);
}

// Before the first push, and where a push says where it begins.
static void check_start(places *s, const carom_node *at, const char *label) {
  const carom_model *model = s->p->file->scene->model;
  carom_contact c = deepest(s, part_in_other, 0);
  if (c.gap < 0)
    carom_report(&s->p->r.reporter, at->place, "move it apart", "%s: '%.80s' begins inside '%.80s', %.4g m deep", label,
                 model->bodies[c.body_a].name, model->bodies[c.body_b].name, -c.gap);
}

// Where the part is known: at the first push, and where a push says so.
static void check_push(places *s, int number) {
  carom_push_reader *p = s->p;
  const carom_push_file *file = p->file;
  const carom_model *model = file->scene->model;
  const carom_push *push = &file->pushes[number];
  const carom_push_place *place = &file->places[number];
  char label[40];
  snprintf(label, sizeof label, "push %d", number + 1);
  if (place->given) carom_push_set_pose(model, s->state, place->body, place->pose);
  check_start(s, p->pushes[number], label);
  for (int i = 0; i < push->probe_count; i++) {
    int probe = file->def.probes[i];
    carom_pose pose = carom_state_pose(model, s->state, probe);
    pose.p = cm_vec3(push->probe[i].at.x, push->probe[i].at.y, pose.p.z);
    carom_state_set_pose(model, s->state, probe, pose);
    carom_contact c = deepest(s, part_in_probe, i);
    if (c.gap < 0)
      carom_report(&p->r.reporter, p->pushes[number]->place, "let it begin outside",
                   "%s: probe '%.80s' begins inside '%.80s', %.4g m deep", label, model->bodies[probe].name,
                   model->bodies[c.body_a].name, -c.gap);
  }
}

// A push of so many steps would never end.
static void check_durations(carom_push_reader *p) {
  const carom_push_file *file = p->file;
  for (int i = 0; i < file->push_count; i++)
    if (file->pushes[i].duration > CAROM_PUSH_STEPS * file->def.step)
      carom_report(&p->r.reporter, p->pushes[i]->place, "make it shorter, or the 'step' longer",
                   "push %d: %g s take more than ten million steps of %g s", i + 1, file->pushes[i].duration,
                   file->def.step);
}

void carom_push_check_places(carom_push_reader *p) {
  const carom_push_file *file = p->file;
  places s = {.p = p};
  carom_error error;
  check_durations(p);
  if (carom_contacts_create(file->scene->model, &p->r.allocator, &s.contacts, &error) == CAROM_OK &&
      carom_state_clone(file->scene->state, &p->r.allocator, &s.state, &error) == CAROM_OK) {
    check_goal(&s);
    carom_state_copy(s.state, file->scene->state);
    if (file->push_count == 0) check_start(&s, p->scene, "the scene");
    for (int i = 0; i < file->push_count; i++) {
      if (i > 0 && !file->places[i].given) continue;
      carom_state_copy(s.state, file->scene->state);
      check_push(&s, i);
    }
  } else if (error.status == CAROM_ERR_MEMORY) {
    p->r.reporter.out_of_memory = true;
  }
  carom_contacts_destroy(s.contacts);
  carom_state_destroy(s.state);
}
