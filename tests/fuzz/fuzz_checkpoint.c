// What a stepper remembers, altered: the first byte chooses the integrator, every five after that write up to eight
// bytes over its memory after some steps with contacts. A stepper that takes such a memory must still step or refuse.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/scene.h"
#include "carom/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

enum { STEPS_BEFORE = 12, STEPS_AFTER = 3, EDIT = 5 };

static const char *const kinds[] = {"moreau", "exact", "dcr", "cone", "potential", "newmark", "variational", "balls"};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct start {
  carom_scene *scene;
  carom_state *state;
  unsigned char *memory;
  size_t size;
} start;

static const char boxes[] =
    "carom: 1\nbodies:\n  - {name: floor, fixed: true, shape: {halfspace: }}\n"
    "  - {name: a, shape: {box: [1, 1, 1]}, density: 10, position: [0, 0, 0.5], velocity: [1, 0, 0]}\n"
    "  - {name: b, shape: {box: [1, 1, 1]}, density: 10, position: [0.1, 0, 1.5]}\n"
    "forces: {gravity: [0, 0, -9.81]}\nintegrator: {name: %s, step: %s}\nduration: 1\n";
static const char balls[] =
    "carom: 1\nbodies:\n  - {name: floor, fixed: true, shape: {halfspace: }}\n"
    "  - {name: a, shape: {sphere: 0.5}, density: 10, position: [0, 0, 0.501], velocity: [1, 0, 0]}\n"
    "  - {name: b, shape: {sphere: 0.5}, density: 10, position: [0.1, 0, 1.502]}\n"
    "forces: {gravity: [0, 0, -9.81]}\nintegrator: {name: %s, step: 2 ms}\nduration: 1\n";
// The variational integrator knows no contacts.
static const char joined[] =
    "carom: 1\nbodies:\n  - {name: a, shape: {box: [1, 1, 1]}, density: 10}\n"
    "  - {name: b, shape: {box: [1, 1, 1]}, density: 10, position: [2, 0, 0]}\n"
    "joints: [{kind: spherical, between: [a, b], at: [1, 0, 0]}]\n"
    "forces: {gravity: [0, 0, -9.81]}\nintegrator: {name: variational, step: 2 ms}\nduration: 1\n";

// Contacts of potential and newmark are stiff springs; exact takes seconds for boxes that slide.
static void write_scene(const char *kind, char *text, size_t size) {
  if (strcmp(kind, "variational") == 0)
    snprintf(text, size, "%s", joined);
  else if (strcmp(kind, "exact") == 0 || strcmp(kind, "balls") == 0)
    snprintf(text, size, balls, strcmp(kind, "exact") == 0 ? kind : "moreau");
  else
    snprintf(text, size, boxes, kind, *kind == 'p' || *kind == 'n' ? "20 us" : "2 ms");
}

static carom_scene *read_scene(const char *kind) {
  char text[1024];
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics;
  carom_scene_options options = carom_scene_default_options();
  write_scene(kind, text, sizeof text);
  carom_scene_parse(&(carom_bytes){"x.yaml", text, strlen(text)}, &options, NULL, &scene, &diagnostics);
  for (int i = 0; !scene && i < diagnostics.count; i++) fprintf(stderr, "%s\n", diagnostics.items[i].message);
  if (!scene) abort();
  carom_diagnostics_release(&diagnostics);
  return scene;
}

static start make_start(const char *kind) {
  start s = {.scene = read_scene(kind)};
  carom_stepper *stepper = NULL;
  carom_step_report report;
  carom_error error;
  if (carom_state_clone(s.scene->state, NULL, &s.state, &error) != CAROM_OK) abort();
  if (carom_stepper_create(s.scene->model, &s.scene->step, NULL, &stepper, &error) != CAROM_OK) abort();
  for (int i = 0; i < STEPS_BEFORE; i++)
    if (carom_stepper_step(stepper, s.state, &report, &error) != CAROM_OK)
      fprintf(stderr, "%s: %s\n", kind, error.message), abort();
  s.size = carom_stepper_memory(stepper, NULL, 0);
  s.memory = malloc(s.size);
  if (!s.memory) abort();
  carom_stepper_memory(stepper, s.memory, s.size);
  carom_stepper_destroy(stepper);
  return s;
}

// Numbers that counts, indices and doubles go wrong at.
static uint64_t number(unsigned char choice, unsigned char low) {
  static const uint64_t hard[] = {0,          1,          0x7FFFFFFF,         0xFFFFFFFF,         0x80000000,
                                  1ull << 40, ~0ull >> 1, 0x7FF8000000000000, 0x7FF0000000000000, 0x7FEFFFFFFFFFFFFF};
  return choice < 128 ? low : hard[choice % (sizeof hard / sizeof *hard)];
}

static void edit(unsigned char *memory, size_t size, const uint8_t *e) {
  size_t at = (size_t)(e[0] | e[1] << 8) * 4 % size, width = (size_t)1 << e[2] % 4;
  uint64_t value = number(e[3], e[4]);
  memcpy(memory + at, &value, width < size - at ? width : size - at);
}

static void go_on(const start *s, const unsigned char *memory, size_t size) {
  carom_stepper *stepper = NULL;
  carom_state *state = NULL;
  carom_step_report report;
  carom_error error;
  if (carom_state_clone(s->state, NULL, &state, &error) != CAROM_OK) abort();
  if (carom_stepper_create(s->scene->model, &s->scene->step, NULL, &stepper, &error) != CAROM_OK) abort();
  carom_status status = carom_stepper_recall(stepper, memory, size, &error);
  for (int i = 0; i < STEPS_AFTER && status == CAROM_OK; i++)
    status = carom_stepper_step(stepper, state, &report, &error);
  carom_stepper_destroy(stepper);
  carom_state_destroy(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static start starts[KINDS];
  if (size == 0) return 0;
  start *s = &starts[data[0] % KINDS];
  if (!s->scene) *s = make_start(kinds[data[0] % KINDS]);
  // What is cut off: the last byte, where bytes are left over.
  size_t left = (size - 1) % EDIT, shorter = left ? s->size - data[size - 1] % s->size : s->size;
  unsigned char *memory = malloc(shorter ? shorter : 1);  // of that size, so that reading beyond is seen
  if (!memory) abort();
  memcpy(memory, s->memory, shorter);
  for (size_t i = 1; i + EDIT <= size && shorter > 0; i += EDIT) edit(memory, shorter, data + i);
  go_on(s, memory, shorter);
  free(memory);
  return 0;
}
