// Carom's side: both methods.
#include <stdlib.h>

#include "carom/elastic.h"
#include "elastic.h"

typedef struct solid {
  elastic_job job;
  carom_elastic *elastic;
  carom_elastic_stepper *stepper;
  carom_elastic_state *state;
} solid;

static void destroy(void *world) {
  solid *s = world;
  carom_elastic_state_destroy(s->state);
  carom_elastic_stepper_destroy(s->stepper);
  carom_elastic_destroy(s->elastic);
  free(s);
}

// The masses are those of the mesh at 1000 kg/m3, as in the job.
static void *create(const elastic_job *job, carom_elastic_method method, char *message) {
  solid *s = calloc(1, sizeof *s);
  carom_elastic_material material = {.density = 1000, .lambda = job->lambda, .mu = job->mu};
  carom_elastic_def def = carom_elastic_default_def();
  carom_elastic_options options = carom_elastic_default_options();
  carom_error error = {0};
  carom_vec3 *nodes = calloc((size_t)job->node_count, sizeof *nodes);
  for (int i = 0; i < job->node_count; i++)
    nodes[i] = cm_vec3(job->nodes[3 * i], job->nodes[3 * i + 1], job->nodes[3 * i + 2]);
  s->job = *job;
  def.node_count = job->node_count, def.nodes = nodes;
  def.tet_count = job->tet_count, def.tets = (const int(*)[4])job->tets;
  def.material_count = 1, def.materials = &material, def.threads = job->threads;
  options.method = method;
  carom_status status = carom_elastic_create(&def, NULL, &s->elastic, &error);
  if (!status) status = carom_elastic_state_create(s->elastic, NULL, &s->state, &error);
  if (!status) status = carom_elastic_stepper_create(s->elastic, &options, NULL, &s->stepper, &error);
  free(nodes);
  if (status) {
    snprintf(message, BENCH_MESSAGE, "%.*s", BENCH_MESSAGE - 1, error.message);
    destroy(s);
    return NULL;
  }
  for (int i = 0; i < job->node_count; i++)
    s->state->v[i] = cm_vec3(job->velocity[3 * i], job->velocity[3 * i + 1], job->velocity[3 * i + 2]);
  return s;
}

static void *create_newmark(const elastic_job *job, char *message) {
  return create(job, CAROM_ELASTIC_NEWMARK, message);
}
static void *create_midpoint(const elastic_job *job, char *message) {
  return create(job, CAROM_ELASTIC_MIDPOINT, message);
}

static void step(void *world, int steps) {
  solid *s = world;
  carom_error error = {0};
  for (int i = 0; i < steps; i++)
    if (carom_elastic_step(s->stepper, NULL, s->job.dt, s->state, NULL, &error)) fprintf(stderr, "%s\n", error.message);
}

static void read_node(void *world, int node, double x[3], double v[3]) {
  const carom_elastic_state *s = ((solid *)world)->state;
  x[0] = s->x[node].x, x[1] = s->x[node].y, x[2] = s->x[node].z;
  v[0] = s->v[node].x, v[1] = s->v[node].y, v[2] = s->v[node].z;
}

const elastic_engine elastic_carom = {"Carom newmark", NULL, "double",  2000000,
                                      create_newmark,  step, read_node, destroy};
const elastic_engine elastic_midpoint = {"Carom midpoint", NULL, "double",  12000,
                                         create_midpoint,  step, read_node, destroy};
