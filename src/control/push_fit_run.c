// The fit as users ask for it: what makes no sense is refused, and a pusher in each thread simulates.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "control/push_fit.h"
#include "model/size.h"
#include "solve/simplex_search.h"

// ---- what is refused -----------------------------------------------------------------------------------------------

static const char *name_of(const carom_push_record *record) { return record->name ? record->name : "(no name)"; }

static carom_status check_record(const carom_push_fit_def *def, int i, carom_error *error) {
  const carom_push_record *r = &def->records[i];
  if (r->sample_count < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "recorded push %d (%s) has no samples", i, name_of(r));
  if (!(isfinite(r->start[0]) && isfinite(r->start[1]) && isfinite(r->start[2])))
    return carom_fail(error, CAROM_ERR_NUMBER, "recorded push %d (%s): where the part starts is not finite", i,
                      name_of(r));
  double before = 0;
  for (int k = 0; k < r->sample_count; k++) {
    const carom_push_sample *s = &r->samples[k];
    if (!(isfinite(s->pose[0]) && isfinite(s->pose[1]) && isfinite(s->pose[2])))
      return carom_fail(error, CAROM_ERR_NUMBER, "recorded push %d (%s), sample %d: its pose is not finite", i,
                        name_of(r), k);
    if (!(s->time >= before && s->time <= r->push.duration * (1 + 1e-9)))
      return carom_fail(
          error, CAROM_ERR_ARGUMENT,
          "recorded push %d (%s), sample %d: its time, %g s, is not between that of the sample before and "
          "the end of the push, %g s",
          i, name_of(r), k, s->time, r->push.duration);
    before = s->time;
  }
  return CAROM_OK;
}

static carom_status check_groups(const carom_push_fit_def *def, carom_error *error) {
  if (def->group_count < 0 || def->group_count > CAROM_PUSH_FIT_GROUPS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a fit has up to %d groups of surfaces, got %d", CAROM_PUSH_FIT_GROUPS,
                      def->group_count);
  for (int g = 0; g < def->group_count; g++) {
    const carom_push_surface *group = &def->groups[g];
    if (group->body_count < 1) return carom_fail(error, CAROM_ERR_ARGUMENT, "group of surfaces %d has no bodies", g);
    for (int i = 0; i < group->body_count; i++) {
      int body = group->bodies[i];
      if (body < 0 || body >= def->pusher.model->body_count || body == def->body)
        return carom_fail(error, CAROM_ERR_ARGUMENT, "group of surfaces %d: body %d is none that the part can touch", g,
                          body);
      for (int h = 0; h <= g; h++)
        for (int k = 0; k < (h < g ? def->groups[h].body_count : i); k++)
          if (def->groups[h].bodies[k] == body)
            return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' is in a group of surfaces already",
                              def->pusher.model->bodies[body].name);
    }
  }
  return CAROM_OK;
}

static carom_status check_support(const carom_push_fit_def *def, carom_error *error) {
  if (!carom_push_support_name(def->support))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no kind of support %d to fit", (int)def->support);
  if (def->support == CAROM_PUSH_SUPPORT_GIVEN && def->group_count == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "nothing is to be fitted: the support is given, and no group of surfaces is named");
  if (def->support != CAROM_PUSH_SUPPORT_POINTS) return CAROM_OK;
  if (def->point_count < 2 || def->point_count > CAROM_PUSH_FIT_POINTS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a support on points has 2 to %d of them, got %d",
                      CAROM_PUSH_FIT_POINTS, def->point_count);
  for (int i = 1; i < def->point_count; i++)
    if (cm_norm(cm_sub(def->points[i], def->points[0])) > 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "all points of the support are the same");
}

static carom_status check_numbers(const carom_push_fit_def *def, carom_error *error) {
  if (def->budget < 1 || def->starts < 0 || def->replicates < 0 || def->replicate_budget < 1)
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        "a fit needs budgets of at least 1, and no negative number of starts or replicates; got %d, %d, %d "
        "and %d",
        def->budget, def->replicate_budget, def->starts, def->replicates);
  if (!(def->confidence > 0 && def->confidence < 1))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the confidence is %g, expected between 0 and 1", def->confidence);
  if (!(def->length >= 0) || isinf(def->length))
    return carom_fail(error, CAROM_ERR_NUMBER, "the length of a fit is %g m, expected 0 or more", def->length);
  return CAROM_OK;
}

static carom_status check(const carom_push_fit_def *def, carom_error *error) {
  const carom_model *model = def->pusher.model;
  if (!carom_simplex_available())
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "this build cannot fit pushes: install NLopt (Debian: libnlopt-dev) and build again");
  if (!model || !def->start) return carom_fail(error, CAROM_ERR_ARGUMENT, "a fit needs a model and a state of it");
  if (def->body < 0 || def->body >= model->body_count || model->bodies[def->body].fixed || model->support_count == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body %d is none that moves on a support", def->body);
  if (def->record_count < 1) return carom_fail(error, CAROM_ERR_ARGUMENT, "a fit needs at least one recorded push");
  carom_status status = check_numbers(def, error);
  if (status == CAROM_OK) status = check_support(def, error);
  if (status == CAROM_OK) status = check_groups(def, error);
  for (int i = 0; i < def->record_count && status == CAROM_OK; i++) status = check_record(def, i, error);
  return status;
}

// ---- with pushers --------------------------------------------------------------------------------------------------

static double length_of(const carom_push_fit_def *def) {
  return def->length > 0 ? def->length : carom_body_radius(&def->pusher.model->bodies[def->body]);
}

// A sound definition can still be one that the pusher refuses: the first push says why.
static carom_status try_first(const carom_push_fit_job *job, carom_error *error) {
  carom_push_guess guess = carom_push_numbers_guess(&job->numbers, job->numbers.first);
  carom_status status = job->simulators[0].take(job->simulators[0].context, &guess, error);
  if (status != CAROM_OK) return status;
  carom_pusher *pusher;
  carom_state *state;
  carom_push_result result;
  status = carom_pusher_create(&job->def->pusher, job->allocator, &pusher, error);
  if (status != CAROM_OK) return status;
  status = carom_state_clone(job->def->start, job->allocator, &state, error);
  for (int i = 0; i < job->def->record_count && status == CAROM_OK; i++) {
    carom_error reason;
    carom_state_copy(state, job->def->start);
    carom_push_set_pose(job->def->pusher.model, state, job->def->body, job->def->records[i].start);
    status = carom_pusher_run(pusher, &job->def->records[i].push, state, &result, &reason);
    if (status != CAROM_OK)
      carom_fail(error, status, "recorded push %d (%s): %.800s", i, name_of(&job->def->records[i]), reason.message);
  }
  carom_state_destroy(state);
  carom_pusher_destroy(pusher);
  return status;
}

typedef struct crew {
  carom_push_trial **trials;         // (threads)
  carom_push_simulator *simulators;  // (threads)
  int threads;
} crew;

static void dismiss(const carom_allocator *a, crew *c) {
  for (int i = 0; c->trials && i < c->threads; i++) carom_push_trial_destroy(c->trials[i]);
  CAROM_RELEASE_ALL(a, c->trials, c->simulators);
}

static carom_status hire(const carom_push_fit_def *def, const carom_allocator *a, crew *c, carom_error *error) {
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(c->trials, c->threads), CAROM_ROOM(c->simulators, c->threads)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  carom_status status = CAROM_OK;
  for (int i = 0; i < c->threads && status == CAROM_OK; i++) {
    status = carom_push_trial_create(def, a, &c->trials[i], error);
    if (status == CAROM_OK) c->simulators[i] = carom_push_trial_simulator(c->trials[i]);
  }
  return status;
}

static carom_push_fit_job job_of(const carom_push_fit_def *def, const carom_allocator *a, const crew *c) {
  double E[3][3];
  carom_vec3 center;
  carom_push_fit_support(def->pusher.model, def->body, E, &center);
  double length = length_of(def);
  return (carom_push_fit_job){.def = def,
                              .numbers = carom_push_numbers_make(def, (const double(*)[3])E, center, length),
                              .length = length,
                              .simulators = c->simulators,
                              .threads = c->threads,
                              .allocator = a};
}

carom_status carom_push_fit_run(const carom_push_fit_def *def, const carom_allocator *allocator, carom_push_fit *fit,
                                carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_status status = check(def, error);
  if (status != CAROM_OK) return status;
  crew c = {.threads = carom_thread_count(def->threads)};
  status = hire(def, &a, &c, error);
  if (status == CAROM_OK) {
    carom_push_fit_job job = job_of(def, &a, &c);
    status = try_first(&job, error);
    if (status == CAROM_OK) status = carom_push_fit_search(&job, fit, error);
  }
  dismiss(&a, &c);
  return status;
}

static carom_status simulate(const carom_push_fit_def *def, const carom_push_fit *fit, const carom_push_simulator *s,
                             carom_push_sample *samples, carom_error *error) {
  carom_push_guess guess;
  memcpy(guess.E, fit->damping, sizeof guess.E);
  memcpy(guess.mu, fit->mu, sizeof guess.mu);
  carom_status status = s->take(s->context, &guess, error);
  for (int i = 0; i < def->record_count && status == CAROM_OK; i++) {
    if (s->run(s->context, &def->records[i], samples) != CAROM_OK)
      status =
          carom_fail(error, CAROM_NOT_CONVERGED, "recorded push %d (%s) comes to no end", i, name_of(&def->records[i]));
    samples += def->records[i].sample_count;
  }
  return status;
}

carom_status carom_push_fit_simulate(const carom_push_fit_def *def, const carom_push_fit *fit,
                                     const carom_allocator *allocator, carom_push_sample *samples, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_status status = check(def, error);
  if (status != CAROM_OK) return status;
  crew c = {.threads = 1};
  status = hire(def, &a, &c, error);
  if (status == CAROM_OK) status = simulate(def, fit, &c.simulators[0], samples, error);
  dismiss(&a, &c);
  return status;
}
