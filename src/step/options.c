// Options by their numbers: names, units and places in carom_step_options, and what they are.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "step/honours.h"

typedef enum member { REAL, WHOLE, NAMED, FLAG, TEXT, HOOK } member;  // NAMED is an enum, FLAG a bool with two names

_Static_assert(sizeof(carom_impact_law) == sizeof(int) && sizeof(carom_quadrature) == sizeof(int) &&
                   sizeof(carom_energy_condition) == sizeof(int),
               "enums are read as whole numbers");

typedef struct option_row {
  carom_option_info info;
  member member;
  size_t offset;
  const char *const *words;  // of NAMED and FLAG, in order
} option_row;

const char *const carom_quadrature_words[] = {"endpoint", "midpoint", NULL};
const char *const carom_law_words[] = {"generalized", "sum", "decomposition", "newton", "poisson", "plastic", NULL};
const char *const carom_condition_words[] = {"hamiltonian", "discrete", NULL};
const char *const carom_restitution_words[] = {"newton", "poisson", NULL};

#define ROW(option, name, type, member, words, unit, preset, summary) \
  [CAROM_OPTION_##option] = {{name, unit, preset, summary}, type, offsetof(carom_step_options, member), words}
static const char chosen[] = "the integrator's choice";

// Presets are those of carom_step_default_options below; a test compares them.
static const option_row options_table[CAROM_OPTION_COUNT] = {
    ROW(STEP, "step", REAL, step, NULL, "s", "0.001", "length of a step"),
    ROW(QUADRATURE, "quadrature", NAMED, quadrature, carom_quadrature_words, "", "endpoint",
        "where the potential is sampled"),
    ROW(ORDER, "order", WHOLE, order, NULL, "", "2",
        "of the motion between contacts, by symmetric compositions of 5 or 9 parts"),
    ROW(THREADS, "threads", WHOLE, threads, NULL, "", "1", "0 means one per processor; results do not depend on it"),
    ROW(TOLERANCE, "tolerance", REAL, tolerance, NULL, "", "1e-14", "of implicit solves, relative to the momenta"),
    ROW(MAX_ITERATIONS, "max_iterations", WHOLE, max_iterations, NULL, "", "50", "of implicit solves"),
    ROW(MAX_HALVINGS, "max_halvings", WHOLE, max_halvings, NULL, "", "6",
        "a step that fails is tried again as 2, 4, ... smaller ones"),
    ROW(LAW, "law", NAMED, law, carom_law_words, "", "generalized", "how colliding bodies part"),
    ROW(ENERGY_CONDITION, "energy_condition", NAMED, energy_condition, carom_condition_words, "", "hamiltonian",
        "which energy an impact keeps"),
    ROW(MAX_IMPACTS, "max_impacts", WHOLE, max_impacts, NULL, "", "1000",
        "impacts in a step before bodies are taken to rest on each other"),
    ROW(STIFFNESS, "stiffness", REAL, stiffness, NULL, "N/m", "from `penetration`", "of the contact potential"),
    ROW(PENETRATION, "penetration", REAL, penetration, NULL, "m", "1e-3 of the thinnest part", "overlap to aim at"),
    ROW(ALPHA, "alpha", REAL, alpha, NULL, "", "half of the forces at each end",
        "1 is implicit Euler, 1/2 the trapezoidal rule"),
    ROW(RESTITUTION, "restitution", FLAG, poisson, carom_restitution_words, "", "newton", "law of restitution"),
    ROW(FRICTION_DIRECTIONS, "friction_directions", WHOLE, friction_directions, NULL, "",
        "the integrator's choice (0 for `moreau` and `cone`)", "edges of the friction pyramid; 0: the cone itself"),
    ROW(SOLVER, "solver", TEXT, solver, NULL, "", chosen, "of the contact problems"),
    ROW(SOLVER_TOLERANCE, "solver_tolerance", REAL, solver_tolerance, NULL, "", chosen,
        "residual that the contact solver goes for"),
    ROW(SOLVER_ITERATIONS, "solver_iterations", WHOLE, solver_iterations, NULL, "", chosen,
        "most that the contact solver may take"),
    ROW(PROBLEM_SINK, "problem_sink", HOOK, problem_sink, NULL, "", "none",
        "is shown every contact problem (`--dump-contact-problems`)"),
};
#undef ROW

carom_step_options carom_step_default_options(void) {
  return (carom_step_options){.integrator = "auto",
                              .step = 1e-3,
                              .quadrature = CAROM_QUADRATURE_ENDPOINT,
                              .order = 2,
                              .threads = 1,
                              .tolerance = 1e-14,
                              .max_iterations = 50,
                              .max_halvings = 6,
                              .max_impacts = 1000,
                              .friction_directions = -1};
}

const carom_option_info *carom_option_describe(int option) {
  return option >= 0 && option < CAROM_OPTION_COUNT ? &options_table[option].info : NULL;
}

// ---- values --------------------------------------------------------------------------------------------------------

static int word_count(const char *const *words) {
  int n = 0;
  while (words[n]) n++;
  return n;
}

static int find_word(const char *const *words, const char *word) {
  for (int i = 0; words[i]; i++)
    if (strcmp(words[i], word) == 0) return i;
  return -1;
}

static carom_value named(const option_row *o, int number) {
  bool known = number >= 0 && number < word_count(o->words);
  return (carom_value){number, known ? o->words[number] : NULL};
}

carom_value carom_option_get(const carom_step_options *options, carom_option which) {
  const option_row *o = &options_table[which];
  const void *at = (const char *)options + o->offset;
  switch (o->member) {
    case REAL:
      return (carom_value){.number = *(const double *)at};
    case WHOLE:
      return (carom_value){.number = *(const int *)at};
    case NAMED:
      return named(o, *(const int *)at);
    case FLAG:
      return named(o, *(const bool *)at);
    case TEXT:
      return (carom_value){.word = *(const char *const *)at};
    case HOOK:
      return (carom_value){.number = options->problem_sink != NULL};
  }
  return (carom_value){0};
}

void carom_option_put(carom_step_options *options, carom_option which, carom_value value) {
  const option_row *o = &options_table[which];
  void *at = (char *)options + o->offset;
  switch (o->member) {
    case REAL:
      *(double *)at = value.number;
      break;
    case WHOLE:
      *(int *)at = (int)value.number;
      break;
    case NAMED:
      *(int *)at = find_word(o->words, value.word);
      break;
    case FLAG:
      *(bool *)at = find_word(o->words, value.word) == 1;
      break;
    case TEXT:
      *(const char **)at = value.word;
      break;
    case HOOK:
      break;  // a function has no value in a scene
  }
}

static bool same_word(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

bool carom_option_is_set(const carom_step_options *options, carom_option which) {
  carom_step_options defaults = carom_step_default_options();
  carom_value now = carom_option_get(options, which), then = carom_option_get(&defaults, which);
  return now.number != then.number || !same_word(now.word, then.word);
}

void carom_options_set(const carom_step_options *options, bool set[CAROM_OPTION_COUNT]) {
  for (int i = 0; i < CAROM_OPTION_COUNT; i++) set[i] = carom_option_is_set(options, (carom_option)i);
}

// ---- what they may be ----------------------------------------------------------------------------------------------

static bool in_range(const carom_allowed *a, double x) {
  if (a->or_zero && x == 0) return true;
  if (!isfinite(x) || !(x >= a->least && x <= a->most) || (a->above && x == a->least)) return false;
  return a->stride == 0 || fmod(x - a->least, a->stride) == 0;
}

static bool is_hook(const carom_allowed *a) { return !a->words && a->stride == 0 && a->least == a->most; }

bool carom_allowed_has(const carom_allowed *a, carom_value value) {
  if (!a->honoured) return false;
  if (a->words) return value.word && find_word(a->words, value.word) >= 0;
  return is_hook(a) || in_range(a, value.number);
}

// "a, b or c": the words, or the few numbers of a range.
static int format_choice(const carom_allowed *a, int count, char *text, size_t size) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    char own[32], *to = (size_t)n < size ? text + n : NULL;
    snprintf(own, sizeof own, "%.0f", a->least + i * a->stride);
    const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
    n += snprintf(to, to ? size - (size_t)n : 0, "%s%s", before, a->words ? a->words[i] : own);
  }
  return n;
}

int carom_allowed_format(const carom_allowed *a, char *text, size_t size) {
  if (!a->honoured) return snprintf(text, size, "not honoured");
  if (a->words) return format_choice(a, word_count(a->words), text, size);
  if (is_hook(a)) return snprintf(text, size, "a function");
  if (a->stride > 1) return format_choice(a, (int)((a->most - a->least) / a->stride) + 1, text, size);
  if (a->stride == 1 && a->least == a->most) return snprintf(text, size, "%.0f", a->least);
  if (a->stride == 1)
    return snprintf(text, size, "%sa whole number from %.0f to %.0f", a->or_zero ? "0 or " : "", a->least, a->most);
  if (isinf(a->most)) return snprintf(text, size, "greater than %g", a->least);
  return snprintf(text, size, "greater than %g and at most %g", a->least, a->most);
}
