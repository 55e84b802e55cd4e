// Pushing through a problem while taking notes of each step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/push.h"

// ---- notes ----------------------------------------------------------------------------------------------------------

// Room for `more` behind `count` things; false when out of memory.
static bool make_room(void **array, int count, int more, int *capacity, size_t size) {
  if (count + more <= *capacity) return true;
  int wanted = 2 * (count + more);
  void *grown = realloc(*array, (size_t)wanted * size);
  if (!grown) return false;
  *array = grown;
  *capacity = wanted;
  return true;
}

static bool add_contacts(cli_push_notes *n, const carom_push_step *step) {
  int count = step->contact_count;
  if (!make_room((void **)&n->contacts, n->contact_count, count, &n->contact_capacity, sizeof *n->contacts))
    return false;
  if (count > 0) memcpy(n->contacts + n->contact_count, step->contacts, (size_t)count * sizeof *n->contacts);
  n->contact_count += count;
  return true;
}

static bool add_moment(cli_push_run *run, const carom_state *state, double time) {
  cli_push_notes *n = run->notes;
  const carom_model *model = run->file->scene->model;
  if (!make_room((void **)&n->moments, n->count, 1, &n->capacity, sizeof *n->moments) ||
      !make_room((void **)&n->poses, 3 * n->count * n->part_count, 3 * n->part_count, &n->pose_capacity,
                 sizeof *n->poses))
    return false;
  cli_push_moment *m = &n->moments[n->count];
  *m = (cli_push_moment){.time = run->begun + time, .contact_start = n->contact_count};
  for (int i = 0; i < run->push->probe_count; i++) {
    const carom_push_probe *p = &run->push->probe[i];
    m->probes[i][0] = p->at.x + time * p->speed * cos(p->heading);
    m->probes[i][1] = p->at.y + time * p->speed * sin(p->heading);
  }
  for (int k = 0; k < n->part_count; k++)
    carom_push_pose(model, state, run->parts[k], n->poses + 3 * (n->count * n->part_count + k));
  n->count++;
  return true;
}

// What was seen of a step belongs to the moment at which it began.
static carom_status note_step(void *context, const carom_push_step *step, carom_error *error) {
  cli_push_run *run = context;
  cli_push_notes *n = run->notes;
  if (cli_interrupted()) {
    *error = (carom_error){.status = CAROM_INTERRUPTED};
    return CAROM_INTERRUPTED;
  }
  bool room = add_contacts(n, step);
  if (room) n->moments[n->count - 1].contact_count += step->contact_count;
  if (!room || !add_moment(run, step->state, step->time)) {
    *error = (carom_error){.status = CAROM_ERR_MEMORY};
    return CAROM_ERR_MEMORY;
  }
  return CAROM_OK;
}

// The end shows the contacts of the last step.
static void close_notes(cli_push_notes *n) {
  if (n->count < 2) return;
  cli_push_moment *last = &n->moments[n->count - 1];
  last->contact_start = last[-1].contact_start;
  last->contact_count = last[-1].contact_count;
}

// ---- pushes ---------------------------------------------------------------------------------------------------------

static bool may_go_on(carom_push_ending ending) { return ending == CAROM_PUSH_DONE || ending == CAROM_PUSH_GOAL; }

static bool begins_anew(const cli_push_run *run, int number) { return run->places && run->places[number].given; }

static void begin_push(cli_push_run *run, int number) {
  const carom_model *model = run->file->scene->model;
  bool anew = begins_anew(run, number);
  if (anew) carom_push_set_pose(model, run->state, run->places[number].body, run->places[number].pose);
  if (run->file->boxed && (number == 0 || anew)) {
    run->starts = carom_push_corners(model, run->state, &run->file->box);
    memset(run->lost, 0, sizeof run->lost);
  }
  run->fates[number].corner = -1;
  run->push = &run->pushes[number];
  run->notes = &run->fates[number].notes;
  run->notes->part_count = run->part_count;
  run->begun = run->state->time;
}

// Where the part is in the end when it begins in a corner of the box, with its friction.
static carom_status carry_corner(cli_push_run *run, cli_push_fate *fate, int corner, carom_state *state,
                                 carom_error *error) {
  const carom_model *model = run->file->scene->model;
  carom_push_start *start = &run->starts.start[corner];
  carom_push_result result;
  carom_push_set_pose(model, state, run->starts.body, start->pose);
  carom_status status = carom_pusher_set_friction(run->pusher, start->friction, error);
  if (status == CAROM_OK) status = carom_pusher_run(run->pusher, run->push, state, &result, error);
  if (status != CAROM_OK) return status;
  carom_push_pose(model, state, run->starts.body, start->pose);
  run->lost[corner] = !may_go_on(result.ending);
  if (run->lost[corner] && fate->corner < 0) fate->corner = corner, fate->ending = result.ending;
  return CAROM_OK;
}

// A corner from which a probe would begin inside the part is lost, too.
static carom_status carry_corners(cli_push_run *run, int number, const carom_state *begin, carom_state *state,
                                  carom_error *error) {
  cli_push_fate *fate = &run->fates[number];
  carom_status status = CAROM_OK;
  for (int k = 0; k < run->starts.count && status == CAROM_OK; k++) {
    if (run->lost[k]) continue;
    carom_state_copy(state, begin);
    status = carry_corner(run, fate, k, state, error);
    if (status != CAROM_ERR_GEOMETRY) continue;
    status = CAROM_OK;
    run->lost[k] = true;
    if (fate->corner < 0) fate->corner = k, fate->ending = CAROM_PUSH_FAILED, fate->blocked = true;
  }
  carom_error ignored;
  carom_pusher_set_friction(run->pusher, 1, &ignored);
  return status;
}

static carom_push_starts corners_left(const cli_push_run *run) {
  carom_push_starts left = {.body = run->starts.body};
  for (int k = 0; k < run->starts.count; k++)
    if (!run->lost[k]) left.start[left.count++] = run->starts.start[k];
  return left;
}

static carom_status check_push(cli_push_run *run, int number, carom_state *from, carom_error *error) {
  cli_push_fate *fate = &run->fates[number];
  carom_push_starts starts = corners_left(run);
  if (!run->file->boxed) return carom_pusher_check(run->pusher, run->push, from, &fate->check, error);
  carom_status status = carom_pusher_check_all(run->pusher, run->push, from, &starts, &fate->verdict, error);
  fate->verdict.robust = fate->verdict.robust && starts.count == run->starts.count;
  fate->check = fate->verdict.nominal;
  return status;
}

static carom_status run_push(cli_push_run *run, int number, carom_state *scratch[2], carom_error *error) {
  const carom_push_listener listener = {run, note_step};
  begin_push(run, number);
  for (int i = 0; i < 2; i++) carom_state_copy(scratch[i], run->state);
  carom_pusher_listen(run->pusher, &listener);
  carom_status status = add_moment(run, run->state, 0) ? CAROM_OK : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) status = carom_pusher_run(run->pusher, run->push, run->state, &run->fates[number].run, error);
  carom_pusher_listen(run->pusher, NULL);
  close_notes(run->notes);
  carom_push_starts before = run->starts;
  if (status == CAROM_OK && run->file->boxed) status = carry_corners(run, number, scratch[0], scratch[1], error);
  carom_push_starts after = run->starts;
  run->starts = before;  // the check begins where the push does
  if (status == CAROM_OK) status = check_push(run, number, scratch[0], error);
  run->starts = after;
  return status;
}

static int told(const cli_push_run *run, carom_status status, const carom_error *error) {
  if (status == CAROM_INTERRUPTED) return cli_error("%s: interrupted", run->verb), EXIT_INTERRUPTED;
  if (status == CAROM_ERR_MEMORY) return cli_error("%s: out of memory", run->verb), EXIT_FAILED;
  cli_error("%s: push %d: %s", run->verb, run->count + 1, error->message);
  return status == CAROM_ERR_GEOMETRY || status == CAROM_ERR_ARGUMENT ? EXIT_MISTAKE : EXIT_FAILED;
}

static carom_status run_pushes(cli_push_run *run, carom_error *error) {
  carom_state *scratch[2] = {NULL, NULL};
  carom_status status = carom_state_clone(run->state, NULL, &scratch[0], error);
  if (status == CAROM_OK) status = carom_state_clone(run->state, NULL, &scratch[1], error);
  for (run->count = 0; status == CAROM_OK && run->count < run->push_count;) {
    if (run->count > 0 && !begins_anew(run, run->count) && !may_go_on(run->fates[run->count - 1].run.ending)) break;
    status = run_push(run, run->count, scratch, error);
    run->count += status == CAROM_OK;
  }
  carom_state_destroy(scratch[0]);
  carom_state_destroy(scratch[1]);
  return status;
}

static bool find_parts(cli_push_run *run) {
  const carom_model *model = run->file->scene->model;
  run->parts = calloc((size_t)model->body_count + 1, sizeof *run->parts);
  run->fates = calloc((size_t)run->push_count + 1, sizeof *run->fates);
  for (int i = 0; run->parts && i < model->body_count; i++)
    if (!model->bodies[i].fixed) run->parts[run->part_count++] = i;
  return run->parts && run->fates;
}

static void count_corners(cli_push_run *run) {
  const carom_push_goal *goal = &run->file->def.goal;
  for (int k = 0; run->file->boxed && goal->body == run->starts.body && k < run->starts.count; k++) {
    const double *pose = run->starts.start[k].pose;
    double turn = remainder(pose[2] - goal->angle, 2 * 3.14159265358979323846);
    bool there = hypot(pose[0] - goal->position.x, pose[1] - goal->position.y) <= goal->distance;
    run->reached += !run->lost[k] && there && fabs(turn) <= goal->turn;
  }
}

int cli_push_all(cli_push_run *run) {
  carom_error error = {0};
  if (!find_parts(run)) return cli_error("%s: out of memory", run->verb), EXIT_FAILED;
  carom_status status = carom_state_clone(run->file->scene->state, NULL, &run->state, &error);
  if (status == CAROM_OK) status = carom_pusher_create(&run->file->def, NULL, &run->pusher, &error);
  if (status == CAROM_OK) status = run_pushes(run, &error);
  if (status == CAROM_OK && run->count > 0) count_corners(run);
  return status == CAROM_OK ? EXIT_GOOD : told(run, status, &error);
}

bool cli_push_is_good(const cli_push_run *run, int number) {
  const cli_push_fate *fate = &run->fates[number];
  return may_go_on(fate->run.ending) && may_go_on(fate->check.ending) && (!run->file->boxed || fate->verdict.robust);
}

bool cli_push_box_holds(const cli_push_run *run) {
  bool holds = run->count == run->push_count;
  for (int i = 0; i < run->count; i++) holds = holds && run->fates[i].corner < 0;
  return holds && (run->file->def.goal.body < 0 || run->reached == run->starts.count);
}

bool cli_push_reaches_goal(const cli_push_run *run) {
  return run->state && carom_push_goal_met(run->file->scene->model, run->state, &run->file->def.goal);
}

void cli_push_release(cli_push_run *run) {
  for (int i = 0; run->fates && i < run->push_count; i++) {
    free(run->fates[i].notes.moments);
    free(run->fates[i].notes.poses);
    free(run->fates[i].notes.contacts);
  }
  free(run->fates);
  free(run->parts);
  carom_state_destroy(run->state);
  carom_pusher_destroy(run->pusher);
}
