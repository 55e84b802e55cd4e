#include "sweep/program.h"

#include <string.h>

#include "base/memory.h"

const char *const carom_reducer_names[] = {"least", "most", "mean", "final", "ever", "first", "held", NULL};
const char *const carom_figure_names[] = {
    "t",         "steps",  "duration",     "stopped",        "passed",      "collisions", "kinetic",
    "potential", "energy", "energy_error", "momentum_error", "penetration", NULL};
const char *const carom_plan_figure_names[] = {
    "t",     "duration",   "cost",        "guess_cost",    "iterations", "violation", "passed",    "gap",
    "nodes", "work_total", "work_joints", "work_positive", "work_net",   "loss",      "transport", NULL};
const char *const carom_body_words[] = {"x",  "y",  "z",     "qw", "qx", "qy", "qz",   "vx",
                                        "vy", "vz", "speed", "wx", "wy", "wz", "spin", NULL};

static bool is_source(const carom_source *s, carom_source_kind kind, int index, const char *name, size_t length) {
  if (s->kind != kind || s->index != index) return false;
  return !s->name || (strlen(s->name) == length && memcmp(s->name, name, length) == 0);
}

int carom_program_source(carom_program *p, carom_source_kind kind, int index, const char *name, size_t length) {
  for (int i = 0; i < p->source_count; i++)
    if (is_source(&p->sources[i], kind, index, name, length)) return p->sources[i].slot;
  if (!carom_grow(&p->allocator, (void **)&p->sources, p->source_count, &p->source_capacity, sizeof *p->sources))
    return -1;
  carom_source s = {.kind = kind, .index = index, .slot = p->slot_count};
  if (length > 0 && !(s.name = carom_copy_text_n(&p->allocator, name, length))) return -1;
  p->sources[p->source_count++] = s;
  return p->slot_count++;
}

int carom_program_node_add(carom_program *p, int reducer, carom_formula *formula) {
  if (!carom_grow(&p->allocator, (void **)&p->nodes, p->node_count, &p->node_capacity, sizeof *p->nodes)) {
    carom_formula_destroy(formula);
    return -1;
  }
  p->nodes[p->node_count++] = (carom_program_node){p->slot_count, reducer, formula};
  return p->slot_count++;
}

static void release_setting(carom_program *p, carom_setting *s) {
  for (int i = 0; i < s->piece_count; i++) {
    carom_release(&p->allocator, s->texts[i]);
    carom_formula_destroy(s->formulas[i]);
  }
  CAROM_RELEASE_ALL(&p->allocator, s->texts, s->formulas);
}

void carom_program_release(carom_program *p) {
  for (int i = 0; i < p->source_count; i++) carom_release(&p->allocator, p->sources[i].name);
  for (int i = 0; i < p->node_count; i++) carom_formula_destroy(p->nodes[i].formula);
  for (int i = 0; i < p->setting_count; i++) release_setting(p, &p->settings[i]);
  CAROM_RELEASE_ALL(&p->allocator, p->sources, p->nodes, p->settings, p->outcomes, p->classes);
}
