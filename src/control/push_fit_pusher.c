// Recorded pushes simulated with a support and frictions that are not the model's: on a copy of the model in which
// every body is of a material of its own, so that each pair has a friction of its own.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/push_fit.h"

struct carom_push_trial {
  const carom_push_fit_def *def;
  carom_allocator allocator;
  carom_model model;             // what is not copied is the caller's model's
  carom_body *bodies;            // (body_count)
  carom_material *materials;     // (body_count)
  carom_surface_pair *surfaces;  // (body_count) the part against each body
  carom_support support;
  carom_pusher *pusher;  // made anew for each guess: pairs of bodies keep the friction that they met with
  carom_state *state;

  // While a push is simulated.
  const carom_push_record *record;
  carom_push_sample *samples;  // (record->sample_count)
  int next;                    // the first that is still to come
  double time, pose[3];        // at the end of the step before
};

// ---- the model -----------------------------------------------------------------------------------------------------

static const int plane[3] = {0, 1, 5};  // vx, vy, wz among six

// E along other axes, turned by an angle: R E R'.
static void turn(const double from[3][3], double angle, double to[3][3]) {
  double c = cos(angle), s = sin(angle);
  const double R[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
  double half[3][3] = {{0}};
  memset(to, 0, 9 * sizeof(double));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) half[i][j] += R[i][k] * from[k][j];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) to[i][j] += half[i][k] * R[j][k];
}

// Of the body frame against the principal one, about z.
static double frame_angle(const carom_body *body) { return 2 * atan2(body->frame.q.z, body->frame.q.w); }

void carom_push_fit_support(const carom_model *model, int body, double E[3][3], carom_vec3 *center) {
  double given[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) given[i][j] = model->supports[body].matrix[plane[i]][plane[j]];
  turn((const double(*)[3])given, -frame_angle(&model->bodies[body]), E);
  *center = cm_untransform(model->bodies[body].frame, cm_zero3());
}

static carom_support support_of(const carom_push_trial *trial, const double E[3][3]) {
  int body = trial->def->body;
  carom_support support = trial->def->pusher.model->supports[body];
  double turned[3][3];
  turn(E, frame_angle(&trial->bodies[body]), turned);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 6; j++) support.matrix[plane[i]][j] = support.matrix[j][plane[i]] = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) support.matrix[plane[i]][plane[j]] = turned[i][j];
  return support;
}

static void copy_model(carom_push_trial *trial) {
  const carom_model *model = trial->def->pusher.model;
  int body = trial->def->body, count = model->body_count;
  for (int i = 0; i < count; i++) {
    trial->bodies[i] = model->bodies[i];
    trial->materials[i] = model->materials[model->bodies[i].material];
    trial->bodies[i].material = i;
    trial->surfaces[i] = (carom_surface_pair){{body, i}, carom_model_surface(model, body, i)};
  }
  trial->model = *model;
  trial->model.bodies = trial->bodies;
  trial->model.materials = trial->materials, trial->model.material_count = count;
  trial->model.surfaces = trial->surfaces, trial->model.surface_count = count;
}

// ---- simulating ----------------------------------------------------------------------------------------------------

static carom_status take(void *context, const carom_push_guess *guess, carom_error *error) {
  carom_push_trial *trial = context;
  const carom_push_fit_def *def = trial->def;
  for (int g = 0; g < def->group_count; g++)
    for (int i = 0; i < def->groups[g].body_count; i++)
      trial->surfaces[def->groups[g].bodies[i]].surface.friction = guess->mu[g];
  trial->support = support_of(trial, guess->E);
  carom_pusher_destroy(trial->pusher);
  trial->pusher = NULL;
  carom_pusher_def pusher = def->pusher;
  pusher.model = &trial->model, pusher.goal.body = -1;
  carom_status status = carom_pusher_create(&pusher, &trial->allocator, &trial->pusher, error);
  if (status != CAROM_OK) return status;
  return carom_pusher_set_support(trial->pusher, def->body, &trial->support, error);
}

static double probe_forces(const carom_push_trial *trial, const carom_push_step *step) {
  const carom_pusher_def *pusher = &trial->def->pusher;
  double sum = 0;
  for (int i = 0; i < step->contact_count; i++)
    for (int k = 0; k < trial->record->push.probe_count; k++)
      if (step->contacts[i].body_b == pusher->probes[k] && step->contacts[i].body_a == trial->def->body)
        sum += cm_norm(step->contacts[i].force);
  return sum;
}

static void write_sample(carom_push_sample *s, const double from[3], const double to[3], double t, double force) {
  for (int i = 0; i < 2; i++) s->pose[i] = from[i] + t * (to[i] - from[i]);
  s->pose[2] = from[2] + t * remainder(to[2] - from[2], 2 * acos(-1));
  s->force = force;
}

// Samples lie between the ends of steps.
static carom_status look(void *context, const carom_push_step *step, carom_error *error) {
  (void)error;
  carom_push_trial *trial = context;
  const carom_push_record *record = trial->record;
  double pose[3], force = probe_forces(trial, step);
  carom_push_pose(&trial->model, step->state, trial->def->body, pose);
  for (; trial->next < record->sample_count && record->samples[trial->next].time <= step->time; trial->next++) {
    double span = step->time - trial->time, since = record->samples[trial->next].time - trial->time;
    write_sample(&trial->samples[trial->next], trial->pose, pose, span > 0 ? since / span : 1, force);
  }
  memcpy(trial->pose, pose, sizeof pose);
  trial->time = step->time;
  return CAROM_OK;
}

// What came after the last step stays where it was.
static void finish(carom_push_trial *trial) {
  for (; trial->next < trial->record->sample_count; trial->next++)
    write_sample(&trial->samples[trial->next], trial->pose, trial->pose, 0, 0);
  for (int i = 0; i < trial->record->sample_count; i++) trial->samples[i].time = trial->record->samples[i].time;
}

static carom_status run(void *context, const carom_push_record *record, carom_push_sample *samples) {
  carom_push_trial *trial = context;
  carom_state_copy(trial->state, trial->def->start);
  carom_push_set_pose(&trial->model, trial->state, trial->def->body, record->start);
  trial->record = record, trial->samples = samples, trial->next = 0, trial->time = 0;
  memcpy(trial->pose, record->start, sizeof trial->pose);
  carom_push_result result;
  carom_pusher_listen(trial->pusher, &(carom_push_listener){trial, look});
  carom_status status = carom_pusher_run(trial->pusher, &record->push, trial->state, &result, NULL);
  if (status == CAROM_ERR_MEMORY) return status;
  if (status != CAROM_OK || result.ending != CAROM_PUSH_DONE) return CAROM_NOT_CONVERGED;
  finish(trial);
  return CAROM_OK;
}

// ---- life ----------------------------------------------------------------------------------------------------------

carom_status carom_push_trial_create(const carom_push_fit_def *def, const carom_allocator *allocator,
                                     carom_push_trial **out, carom_error *error) {
  *out = NULL;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_push_trial *trial = CAROM_NEW(&a, carom_push_trial, 1);
  if (!trial) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  trial->def = def, trial->allocator = a;
  int bodies = def->pusher.model->body_count;
  bool good = CAROM_NEW_ALL(&a, CAROM_ROOM(trial->bodies, bodies), CAROM_ROOM(trial->materials, bodies),
                            CAROM_ROOM(trial->surfaces, bodies));
  carom_status status = good ? carom_state_clone(def->start, &a, &trial->state, error)
                             : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  if (status != CAROM_OK) {
    carom_push_trial_destroy(trial);
    return status;
  }
  copy_model(trial);
  *out = trial;
  return CAROM_OK;
}

void carom_push_trial_destroy(carom_push_trial *trial) {
  if (!trial) return;
  carom_allocator a = trial->allocator;
  carom_pusher_destroy(trial->pusher);
  carom_state_destroy(trial->state);
  CAROM_RELEASE_ALL(&a, trial->bodies, trial->materials, trial->surfaces, trial);
}

carom_push_simulator carom_push_trial_simulator(carom_push_trial *trial) {
  return (carom_push_simulator){trial, take, run};
}
