// Carom's side: explicit steps and implicit ones.
#include <stdlib.h>

#include "carom/elastic.h"
#include "carom_world.h"
#include "touching.h"

typedef struct blocks {
  carom_world world;
  carom_step_report report;
} blocks;

static void destroy(void *world) {
  blocks *b = world;
  carom_stepper_destroy(b->world.stepper);
  carom_state_destroy(b->world.state);
  carom_model_destroy(b->world.model);
  free(b);
}

static void add_block(carom_builder *builder, const touching_job *job, const touching_block *block) {
  carom_solid_def def = carom_solid_default();
  carom_vec3 *nodes = calloc((size_t)block->node_count, sizeof *nodes);
  for (int i = 0; i < block->node_count; i++)
    nodes[i] = cm_vec3(block->nodes[3 * i], block->nodes[3 * i + 1], block->nodes[3 * i + 2]);
  const carom_tets mesh = {.node_count = block->node_count,
                           .tet_count = block->tet_count,
                           .nodes = nodes,
                           .tets = (int(*)[4])(size_t)block->tets};
  def.mesh = &mesh, def.lambda = job->lambda, def.mu = job->mu, def.density = 1000;
  def.velocity = cm_vec3(block->velocity[0], block->velocity[1], block->velocity[2]);
  carom_builder_add_solid(builder, &def);
  free(nodes);
}

static void *create(const touching_job *job, carom_quadrature quadrature, char *message) {
  blocks *b = calloc(1, sizeof *b);
  carom_material_def material = carom_material_default();
  carom_step_options options = carom_step_default_options();
  carom_builder *builder = NULL;
  carom_error error = {0};
  material.restitution = 1, material.friction = 0;
  options.integrator = "potential", options.quadrature = quadrature, options.step = job->dt;
  carom_status status = carom_builder_create(NULL, &builder, &error);
  if (!status) carom_builder_add_material(builder, &material);
  for (int i = 0; i < TOUCHING_BLOCKS && !status; i++) add_block(builder, job, &job->block[i]);
  if (!status) status = carom_builder_finish(builder, &b->world.model, &b->world.state, &error);
  carom_builder_destroy(builder);
  if (!status) status = carom_stepper_create(b->world.model, &options, NULL, &b->world.stepper, &error);
  if (!status) return b;
  snprintf(message, BENCH_MESSAGE, "%.*s", BENCH_MESSAGE - 1, error.message);
  destroy(b);
  return NULL;
}

static void *create_explicit(const touching_job *job, char *message) {
  return create(job, CAROM_QUADRATURE_ENDPOINT, message);
}
static void *create_implicit(const touching_job *job, char *message) {
  return create(job, CAROM_QUADRATURE_MIDPOINT, message);
}

static bool step(void *world, int steps) {
  blocks *b = world;
  carom_error error = {0};
  for (int i = 0; i < steps; i++) {
    if (!carom_stepper_step(b->world.stepper, b->world.state, &b->report, &error)) continue;
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  return true;
}

static void read_node(void *world, int block, int node, double x[3], double v[3]) {
  const blocks *b = world;
  int i = b->world.model->solids[block].node_start + node;
  carom_vec3 p = b->world.state->nodes[i], q = b->world.state->node_velocities[i];
  x[0] = p.x, x[1] = p.y, x[2] = p.z, v[0] = q.x, v[1] = q.y, v[2] = q.z;
}

static double stored(void *world) { return ((blocks *)world)->report.stored; }

const touching_engine touching_carom = {"Carom explicit", NULL,   "double", 1000000, create_explicit, step,
                                        read_node,        stored, destroy};
const touching_engine touching_midpoint = {"Carom midpoint", NULL,   "double", 2000, create_implicit, step,
                                           read_node,        stored, destroy};
