// A pebble bed that is filled and comes to rest, for the test and the benchmark of contact solvers: pebbles in layers
// of circles fall into a vessel with a conical bottom (Gavrea 2.3, figure 2.5), its outlet shut. Friction cones have
// three generators, so that every solver has the same program.
#ifndef CAROM_SAMPLES_PEBBLES_H
#define CAROM_SAMPLES_PEBBLES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"

static const char *const pebble_solvers[] = {"pgs", "apgd", "spg", "interior", "tao-blmvm", "tao-tron"};
enum { PEBBLE_SOLVERS = sizeof pebble_solvers / sizeof *pebble_solvers };

static const char pebble_scene[] =
    "carom: 1\n"
    "seed: 1\n"
    "constants: {pebbles: 800}\n"
    "materials:\n  graphite: {density: 1700, friction: 0.3, restitution: 0}\n"
    "defaults: {body: {material: graphite}}\n"
    "bodies:\n"
    "  - name: pebble\n"
    "    shape: {sphere: 3 cm}\n"
    "    replicate: {circles: {count: pebbles, radius: 25 cm, pitch: 6.2 cm, spacing: 6.2 cm}}\n"
    "    position: [0, 0, 25 cm]\n"
    "boundaries:\n"
    "  - {name: vessel, profile: [[0, 0], [0.09, 0], [0.3, 0.2], [0.3, 4]]}\n"
    "forces: {gravity: 9.81}\n"
    "integrator: {name: cone, step: 10 ms, friction_directions: 3}\n"
    "duration: 1 s\n";

typedef struct pebble_job {
  int pebbles, steps;
  const char *solver;
  double tolerance, h;
  double limit;  // s of the clock within which steps may begin; infinity where only the motion matters
} pebble_job;

typedef struct pebble_run {
  int steps;        // taken
  double *energy;   // (steps) kinetic, after each step, J
  double gap;       // worst relative duality gap of a step
  double residual;  // worst relative residual of a step
  int iterations;   // of the solver, in all
  double seconds;
  char message[300];  // why it ended early; empty when it did not
} pebble_run;

static carom_status pebbles_load(const pebble_job *job, carom_scene **scene, carom_error *error) {
  char count[64];
  snprintf(count, sizeof count, "constants.pebbles=%d", job->pebbles);
  const char *const overrides[] = {count};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = 1;
  carom_diagnostics diagnostics = {0};
  carom_bytes text = {"pebbles.yaml", pebble_scene, strlen(pebble_scene)};
  carom_status status = carom_scene_parse(&text, &options, NULL, scene, &diagnostics);
  if (diagnostics.count > 0) carom_diagnostic_format(&diagnostics.items[0], error->message, sizeof error->message);
  carom_diagnostics_release(&diagnostics);
  return status;
}

static carom_status pebbles_step(carom_stepper *stepper, carom_scene *scene, pebble_run *run, carom_error *error) {
  carom_step_report report;
  carom_status status = carom_stepper_step(stepper, scene->state, &report, error);
  if (status != CAROM_OK) return status;
  run->energy[run->steps++] = carom_kinetic_energy(scene->model, scene->state);
  run->gap = fmax(run->gap, report.duality_gap);
  run->residual = fmax(run->residual, report.complementarity);
  run->iterations += report.iterations;
  return status;
}

// False when the scene or a step failed, with the reason in `message`.
static bool pebbles_fall(const pebble_job *job, pebble_run *run) {
  carom_scene *scene = NULL;
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  *run = (pebble_run){.energy = malloc((size_t)job->steps * sizeof(double))};
  carom_status status = run->energy ? pebbles_load(job, &scene, &error) : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) {
    scene->step.solver = job->solver, scene->step.solver_tolerance = job->tolerance, scene->step.step = job->h;
    status = carom_stepper_create(scene->model, &scene->step, NULL, &stepper, &error);
  }
  double begin = carom_clock();
  while (status == CAROM_OK && run->steps < job->steps && carom_clock() - begin < job->limit)
    status = pebbles_step(stepper, scene, run, &error);
  run->seconds = carom_clock() - begin;
  snprintf(run->message, sizeof run->message, "%.299s", status == CAROM_OK ? "" : error.message);
  carom_stepper_destroy(stepper);
  carom_scene_destroy(scene);
  return status == CAROM_OK;
}

static double pebbles_peak(const pebble_run *run) {
  double peak = 0;
  for (int i = 0; i < run->steps; i++) peak = fmax(peak, run->energy[i]);
  return peak;
}

// Largest |E_s - E_b| / E_b (Gavrea 2.3) while the reference b holds at least `share` of its peak.
static double pebbles_difference(const pebble_run *s, const pebble_run *b, double share) {
  double worst = 0, peak = pebbles_peak(b);
  for (int i = 0; i < s->steps && i < b->steps; i++)
    if (b->energy[i] > share * peak) worst = fmax(worst, fabs(s->energy[i] - b->energy[i]) / b->energy[i]);
  return worst;
}

// When the pile has stopped: the first time at which less than `share` of the peak is left, after it; infinite when
// that does not come.
static double pebbles_stop(const pebble_run *run, double h, double share) {
  double peak = pebbles_peak(run);
  bool past = false;
  for (int i = 0; i < run->steps; i++) {
    past = past || run->energy[i] == peak;
    if (past && run->energy[i] < share * peak) return (i + 1) * h;
  }
  return INFINITY;
}

#endif
