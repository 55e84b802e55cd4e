// The tables of what integrators honour, cell by cell: the C interface and the reader of scenes give the same verdict
// with the same words, refusals name those that do, and whatever is accepted does something.
#include "carom/impact.h"
#include "carom/scene.h"
#include "fixtures.h"
#include "step/step.h"

enum { TEXT = 4000, SCENE_STEPS = 60 };

static int integrator_count(void) {
  int n = 0;
  while (carom_integrator_name(n)) n++;
  return n;
}

// ---- scenes --------------------------------------------------------------------------------------------------------

typedef struct verdict {
  carom_status status;
  char message[4000];  // of a scene: all findings
} verdict;

static carom_scene *parse(const char *text, bool bodies_only, verdict *v) {
  carom_scene_options options = carom_scene_default_options();
  options.bodies_only = bodies_only;
  carom_scene *scene = NULL;
  carom_diagnostics d;
  *v = (verdict){.status =
                     carom_scene_parse(&(carom_bytes){"scene.yaml", text, strlen(text)}, &options, NULL, &scene, &d)};
  for (int i = 0; i < d.count; i++) {
    size_t n = strlen(v->message);
    if (!d.items[i].warning)
      snprintf(v->message + n, sizeof v->message - n, "%s%s", n > 0 ? "\n" : "", d.items[i].message);
  }
  carom_diagnostics_release(&d);
  return scene;
}

static verdict by_check(const carom_model *model, const carom_step_options *options) {
  carom_error error = {0};
  verdict v = {.status = carom_step_check(model, options, &error)};
  snprintf(v.message, sizeof v.message, "%s", error.message);
  return v;
}

static verdict by_stepper(const carom_model *model, const carom_step_options *options) {
  carom_error error = {0};
  carom_stepper *stepper = NULL;
  verdict v = {.status = carom_stepper_create(model, options, NULL, &stepper, &error)};
  snprintf(v.message, sizeof v.message, "%s", error.message);
  carom_stepper_destroy(stepper);
  return v;
}

// The scene may have more to say than the one message of the C interface.
static void check_same(const char *what, verdict scene, verdict c) {
  bool said = c.status == CAROM_OK ? !scene.message[0] : strstr(scene.message, c.message) != NULL;
  if ((scene.status == CAROM_OK) != (c.status == CAROM_OK) || !said)
    test_fail(__FILE__, __LINE__, "%s: %d '%s' in the scene, %d '%s' in C", what, scene.status, scene.message, c.status,
              c.message);
}

static void check_expected(const char *what, verdict v, bool good) {
  if ((v.status == CAROM_OK) != good) test_fail(__FILE__, __LINE__, "%s: %d '%s'", what, v.status, v.message);
}

// Names in a list: those that honour it, and none that does not. The integrator itself comes first in the message.
static void check_names(const char *what, const char *message, int refusing, bool (*able)(int integrator, int which),
                        int which) {
  const char *list = strrchr(message, ';');  // of the last finding
  bool any = false;
  if (!list) {
    test_fail(__FILE__, __LINE__, "%s: no names in '%s'", what, message);
    return;
  }
  CHECK_CONTAINS(message, carom_integrator_name(refusing));
  for (int i = 0; carom_integrator_name(i); i++) {
    bool said = strstr(list, carom_integrator_name(i)) != NULL;
    any = any || able(i, which);
    if (said != able(i, which)) test_fail(__FILE__, __LINE__, "%s: '%s'", what, message);
  }
  if (!any) CHECK_CONTAINS(list, "no integrator does");
}

// ---- the tables are whole ------------------------------------------------------------------------------------------

TEST(every_integrator_has_a_table) {
  for (int i = 0; carom_integrator_name(i); i++) {
    CHECK(carom_integrator_at(i)->honours != NULL);
    CHECK(carom_integrator_find(carom_integrator_name(i)) == i);
    CHECK(carom_integrator_takes(i, CAROM_OPTION_STEP, NULL));
  }
  CHECK(integrator_count() == 10 && carom_integrator_find("euler") == -1 && carom_integrator_find(NULL) == -1);
  CHECK(!carom_integrator_takes(-1, CAROM_OPTION_STEP, NULL) && !carom_integrator_honours(99, CAROM_TRAIT_GRAVITY));
  CHECK(carom_integrator_conflict(-1, 0, NULL, 0) < 0 && carom_integrator_conflict(0, 0, NULL, 0) < 0);
}

TEST(options_and_traits_are_described) {
  for (int o = 0; o < CAROM_OPTION_COUNT; o++) {
    const carom_option_info *info = carom_option_describe(o);
    REQUIRE(info && info->name && info->unit && info->preset && info->summary);
    bool taken = false;
    for (int i = 0; carom_integrator_name(i); i++) taken = taken || carom_integrator_takes(i, (carom_option)o, NULL);
    if (!taken) test_fail(__FILE__, __LINE__, "no integrator takes '%s'", info->name);
  }
  for (int t = 0; t < CAROM_TRAIT_COUNT; t++)
    REQUIRE(carom_trait_describe(t) && carom_trait_describe(t)->name && carom_trait_describe(t)->summary);
  CHECK(!carom_option_describe(CAROM_OPTION_COUNT) && !carom_option_describe(-1));
  CHECK(!carom_trait_describe(CAROM_TRAIT_COUNT) && !carom_trait_describe(-1));
}

// What is said of defaults is what they are; words are in the order of their enums.
TEST(presets_are_the_defaults) {
  carom_step_options defaults = carom_step_default_options();
  for (int o = 0; o < CAROM_OPTION_COUNT; o++) {
    carom_value value = carom_option_get(&defaults, (carom_option)o);
    const char *preset = carom_option_describe(o)->preset;
    char number[40];
    CHECK(!carom_option_is_set(&defaults, (carom_option)o));
    bool chosen = strchr(preset, ' ') || o == CAROM_OPTION_PROBLEM_SINK;  // in words: found when the run begins
    snprintf(number, sizeof number, "%g", value.number);
    if (!chosen) CHECK_TEXT(preset, value.word ? value.word : number);
  }
  for (int law = 0; law <= CAROM_IMPACT_LAW_COUNT; law++) {
    const char *word = carom_law_words[law], *name = carom_impact_law_name(law);
    CHECK(law < CAROM_IMPACT_LAW_COUNT ? word && name && strcmp(word, name) == 0 : !word && !name);
  }
}

TEST(ranges_in_words) {
  static const char *const three[] = {"a", "b", "c", NULL};
  const struct {
    carom_allowed allowed;
    const char *text;
  } cases[] = {
      {{0}, "not honoured"},
      {CAROM_WORDS(three), "a, b or c"},
      {CAROM_WHOLE(0, 20), "a whole number from 0 to 20"},
      {CAROM_WHOLE(0, 0), "0"},
      {CAROM_EVERY(2, 2, 6), "2, 4 or 6"},
      {CAROM_ZERO_OR(3, 64), "0 or a whole number from 3 to 64"},
      {CAROM_ABOVE(0, 1), "greater than 0 and at most 1"},
      {CAROM_ABOVE(0, INFINITY), "greater than 0"},
      {CAROM_HOOK, "a function"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[100], cut[4];
    CHECK(carom_allowed_format(&cases[i].allowed, text, sizeof text) == (int)strlen(cases[i].text));
    CHECK_TEXT(text, cases[i].text);
    CHECK(carom_allowed_format(&cases[i].allowed, cut, sizeof cut) == (int)strlen(cases[i].text));
    CHECK(strncmp(cut, cases[i].text, strlen(cut)) == 0 && strlen(cut) == (strlen(text) < 3 ? strlen(text) : 3));
  }
}

// ---- options, cell by cell -----------------------------------------------------------------------------------------

static bool takes(int integrator, int option) { return carom_integrator_takes(integrator, (carom_option)option, NULL); }

// A value as C has it and as a scene has it.
typedef struct sample {
  carom_value value;
  char text[60];
} sample;

static sample number(double x) {
  sample s = {.value = {.number = x}};
  snprintf(s.text, sizeof s.text, "%.17g", x);
  return s;
}

static sample word(const char *w) {
  sample s = {.value = {.word = w}};
  snprintf(s.text, sizeof s.text, "%s", w);
  return s;
}

// Values that are allowed: the ends and something between.
static int samples_inside(const carom_allowed *a, sample *out) {
  int n = 0;
  if (a->words) {
    for (int k = 0; a->words[k]; k++) out[n++] = word(a->words[k]);
    return n;
  }
  double most = fmin(a->most, 1e9),
         middle = a->stride > 0 ? a->least + a->stride : 0.25 * a->least + 0.75 * fmin(most, 1);
  if (!a->above) out[n++] = number(a->least);
  out[n++] = number(middle);
  if (isfinite(a->most)) out[n++] = number(most);
  if (a->or_zero) out[n++] = number(0);
  return n;
}

static int samples_outside(const carom_allowed *a, sample *out) {
  int n = 0;
  if (a->words) {
    out[n++] = word("nonsense");
    return n;
  }
  out[n++] = number(a->above ? a->least : a->least - (a->stride > 0 ? a->stride : 1));
  out[n++] = number(-7);
  if (isfinite(a->most)) out[n++] = number(a->most + (a->stride > 0 ? a->stride : 1e-9));
  if (a->stride > 0) out[n++] = number(a->least + 0.5);
  if (a->stride > 1) out[n++] = number(a->least + 1);
  if (a->or_zero) out[n++] = number(2);
  return n;
}

// Of an integrator that takes it: something that is not the default.
static sample sample_of_another(carom_option option) {
  carom_allowed a = {0};
  sample inside[40];
  for (int i = 0; carom_integrator_name(i) && !a.honoured; i++) carom_integrator_takes(i, option, &a);
  int n = samples_inside(&a, inside);
  carom_step_options options = carom_step_default_options();
  for (int k = 0; k < n; k++) {
    carom_option_put(&options, option, inside[k].value);
    if (carom_option_is_set(&options, option)) return inside[k];
  }
  test_fail(__FILE__, __LINE__, "nothing but the default is allowed for '%s'",
            carom_option_describe((int)option)->name);
  return inside[0];
}

// Without inertia a body needs a support.
static const char *ball(int integrator) {
  if (carom_integrator_honours(integrator, CAROM_TRAIT_SUPPORTS))
    return "carom: 1\nbodies: [{name: ball, shape: {sphere: 0.1}, support: {damping: 1}}]\n";
  return "carom: 1\nbodies: [{name: ball, shape: {sphere: 0.1}, velocity: [1, 0, 0]}]\n";
}

// An enum has no member for a word that is none, and whole numbers have no halves.
static bool fits_in_c(carom_option option, const sample *s) {
  bool named = option == CAROM_OPTION_QUADRATURE || option == CAROM_OPTION_LAW || option == CAROM_OPTION_RESTITUTION ||
               option == CAROM_OPTION_ENERGY_CONDITION;
  if (s->value.word) return !(named && strcmp(s->value.word, "nonsense") == 0);
  return s->value.number == floor(s->value.number) || option == CAROM_OPTION_ALPHA || option == CAROM_OPTION_STEP ||
         option == CAROM_OPTION_TOLERANCE || option == CAROM_OPTION_SOLVER_TOLERANCE ||
         option == CAROM_OPTION_STIFFNESS || option == CAROM_OPTION_PENETRATION;
}

// What the reader of scenes and what the stepper made from its options say.
static verdict by_scene(int integrator, carom_option option, const sample *s, bool make_stepper) {
  char text[TEXT];
  verdict v, made = {0};
  snprintf(text, sizeof text, "%sintegrator: {name: %s, %s: %s}\nduration: 1\n", ball(integrator),
           carom_integrator_name(integrator), carom_option_describe((int)option)->name, s->text);
  carom_scene *scene = parse(text, false, &v);
  if (scene && make_stepper) made = by_stepper(scene->model, &scene->step);
  if (made.status != CAROM_OK) test_fail(__FILE__, __LINE__, "'carom run' refuses what was read: %s", made.message);
  if (scene) {
    carom_value got = carom_option_get(&scene->step, option);
    CHECK(s->value.word ? got.word && strcmp(got.word, s->value.word) == 0 : got.number == s->value.number);
  }
  carom_scene_destroy(scene);
  return v;
}

static void try_option(int integrator, carom_option option, const sample *s, bool good, const carom_model *model) {
  char what[200];
  snprintf(what, sizeof what, "%s, %s: %s", carom_integrator_name(integrator), carom_option_describe((int)option)->name,
           s->text);
  bool make_stepper = option != CAROM_OPTION_THREADS || s->value.number <= 4;  // a thousand threads help nobody
  verdict read = by_scene(integrator, option, s, make_stepper);
  bool absent = strstr(read.message, "not in this build") != NULL;
  check_expected(what, read, good && !absent);
  if (!takes(integrator, (int)option)) check_names(what, read.message, integrator, takes, (int)option);
  if (!fits_in_c(option, s)) return;
  carom_step_options options = carom_step_default_options();
  options.integrator = carom_integrator_name(integrator);
  carom_option_put(&options, option, s->value);
  if (!carom_option_is_set(&options, option)) return;  // C cannot tell the default from nothing
  check_same(what, read, by_check(NULL, &options));
  check_same(what, read, by_check(model, &options));
  if (make_stepper) check_same(what, read, by_stepper(model, &options));
}

TEST(every_option_of_every_integrator) {
  int tried = 0;
  for (int i = 0; carom_integrator_name(i); i++) {
    verdict v;
    carom_scene *scene = parse(ball(i), false, &v);
    REQUIRE(scene);
    for (int o = 0; o < CAROM_OPTION_PROBLEM_SINK; o++) {
      carom_allowed a;
      sample s[40];
      if (!carom_integrator_takes(i, (carom_option)o, &a)) {
        s[0] = sample_of_another((carom_option)o);
        try_option(i, (carom_option)o, &s[0], false, scene->model);
        tried++;
        continue;
      }
      int inside = samples_inside(&a, s), outside = samples_outside(&a, s + inside);
      for (int k = 0; k < inside + outside; k++) try_option(i, (carom_option)o, &s[k], k < inside, scene->model);
      tried += inside + outside;
    }
    carom_scene_destroy(scene);
  }
  printf("%d values tried\n", tried);
  CHECK(tried > 250);
}

// A word that another integrator knows is refused with its name.
TEST(words_of_others_are_told_apart) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "cone", options.solver = "lemke";
  verdict v = by_check(NULL, &options);
  CHECK_TEXT(v.message,
             "'solver' must be pgs, apgd, spg, interior, tao-blmvm or tao-tron, got 'lemke', with the integrator "
             "'cone'; moreau takes it");
  CHECK(v.status == CAROM_ERR_ARGUMENT);
  sample s = word("lemke");
  check_same("lemke", v, by_scene(carom_integrator_find("cone"), CAROM_OPTION_SOLVER, &s, false));
}

TEST(enums_out_of_range_are_refused) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "exact", options.law = (carom_impact_law)17;
  CHECK_TEXT(by_check(NULL, &options).message,
             "'law' must be generalized, sum, decomposition, newton, poisson or plastic, got 17");
  options = carom_step_default_options();
  options.integrator = "moreau", options.alpha = NAN;
  CHECK(by_check(NULL, &options).status == CAROM_ERR_NUMBER);
}

static void sink(void *context, const carom_shown_problem *problem) {
  CHECK(problem->linear && problem->friction);
  CHECK(2 * problem->friction->contact_count <= problem->linear->n);
  ++*(int *)context;
}

TEST(the_problem_sink_is_for_moreau) {
  for (int i = 0; carom_integrator_name(i); i++) {
    carom_step_options options = carom_step_default_options();
    options.integrator = carom_integrator_name(i), options.problem_sink = sink;
    verdict v = by_check(NULL, &options);
    check_expected(carom_integrator_name(i), v, strcmp(carom_integrator_name(i), "moreau") == 0);
    if (v.status != CAROM_OK) check_names("sink", v.message, i, takes, CAROM_OPTION_PROBLEM_SINK);
  }
}

// ---- not together --------------------------------------------------------------------------------------------------

typedef struct pair {
  const char *integrator, *options;
  bool good;
} pair;

TEST(options_that_exclude_each_other) {
  static const pair pairs[] = {
      {"exact", "energy_condition: discrete, order: 4", false},
      {"exact", "energy_condition: discrete, order: 2", true},
      {"exact", "energy_condition: hamiltonian, order: 4", true},
      {"potential", "stiffness: 100, penetration: 1 mm", false},
      {"newmark", "stiffness: 100, penetration: 1 mm", false},
      {"moreau", "solver: newton, solver_iterations: 10", false},
      {"moreau", "solver: pgs, solver_iterations: 10", true},
      {"moreau", "solver_iterations: 10", true},
      {"cone", "solver: tao-tron, friction_directions: 0", false},
  };
  int conflicts = 0, refused = 0;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char text[TEXT];
    verdict v;
    snprintf(text, sizeof text, "%sintegrator: {name: %s, %s}\n", ball(0), pairs[i].integrator, pairs[i].options);
    carom_scene *scene = parse(text, false, &v);
    bool absent = strstr(v.message, "not in this build") != NULL;
    check_expected(text, v, pairs[i].good);
    if (!pairs[i].good && !absent) CHECK_CONTAINS(v.message, "cannot honour");
    refused += !pairs[i].good;
    carom_scene_destroy(scene);
  }
  char text[1000];
  for (int i = 0; carom_integrator_name(i); i++)
    for (int c = 0; carom_integrator_conflict(i, c, text, sizeof text) >= 0; c++) conflicts++;
  CHECK(conflicts == refused);  // none is left out above
}

TEST(the_c_interface_sees_conflicts_too) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential", options.stiffness = 100, options.penetration = 1e-3;
  char text[TEXT];
  verdict v, c = by_check(NULL, &options);
  snprintf(text, sizeof text, "%sintegrator: {name: potential, stiffness: 100, penetration: 1 mm}\n", ball(0));
  carom_scene *scene = parse(text, false, &v);
  CHECK(!scene && c.status == CAROM_ERR_UNSUPPORTED);
  check_same("stiffness and penetration", v, c);
}

// ---- options for one integrator alone ------------------------------------------------------------------------------

static carom_scene *parse_integrator(const char *section, verdict *v) {
  char text[TEXT];
  snprintf(text, sizeof text, "%sintegrator: %s\n", ball(0), section);
  return parse(text, false, v);
}

TEST(options_for_another_integrator_wait) {
  static const char section[] =
      "{name: exact, order: 4, for: {potential: {stiffness: 77, order: 6}, exact: {order: 2}}}";
  verdict v;
  carom_scene *scene = parse_integrator(section, &v);
  REQUIRE(scene);
  CHECK(scene->step.order == 2 && scene->step.stiffness == 0);
  carom_scene_destroy(scene);
  scene = parse_integrator("{name: moreau, order: 4, for: {moreau: {order: ~, alpha: 0.5}}}", &v);
  REQUIRE(scene);
  CHECK(scene->step.order == 2 && scene->step.alpha == 0.5);
  carom_scene_destroy(scene);
  scene = parse_integrator("{name: potential, order: 4, for: {potential: {stiffness: 77}, dcr: {law: plastic}}}", &v);
  REQUIRE(scene);
  CHECK(scene->step.order == 4 && scene->step.stiffness == 77 && scene->step.law == CAROM_IMPACT_GENERALIZED);
  carom_scene_destroy(scene);
}

TEST(options_for_another_integrator_are_checked) {
  static const struct {
    const char *section, *message;
  } cases[] = {
      {"{for: {potential: {law: plastic}}}", "the integrator 'potential' does not honour 'law'; exact and dcr do"},
      {"{for: {moreau: {alpha: 2}}}", "'alpha' must be greater than 0 and at most 1, got 2"},
      {"{for: {newmark: {stiffness: 1, penetration: 1}}}", "the integrator 'newmark' cannot honour 'penetration'"},
      {"{for: {mroeau: {alpha: 1}}}", "no integrator is named 'mroeau'"},
      {"{for: {moreau: {step: 1}}}", "'step' is the same for all integrators"},
      {"{for: {moreau: {name: cone}}}", "'name' is the same for all integrators"},
      {"{for: {moreau: {for: {}}}}", "'for' is the same for all integrators"},
      {"{for: {moreau: {aplha: 1}}}", "unknown key 'aplha'"},
      {"{for: moreau}", "'for' expects names of integrators with their options"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    verdict v;
    CHECK(!parse_integrator(cases[i].section, &v));
    CHECK_CONTAINS(v.message, cases[i].message);
  }
}

// An override can take an option away.
TEST(options_without_a_value_are_absent) {
  verdict v;
  carom_scene *scene = parse_integrator("{name: moreau, order: ~, law: null, for: }", &v);
  CHECK(scene != NULL);
  carom_scene_destroy(scene);
}

static void check_place(const char *text, int line, int column) {
  carom_scene *scene = NULL;
  carom_diagnostics d;
  CHECK(carom_scene_parse(&(carom_bytes){"scene.yaml", text, strlen(text)}, NULL, NULL, &scene, &d) == CAROM_ERR_SCENE);
  if (d.count != 1 || d.items[0].line != line || d.items[0].column != column)
    test_fail(__FILE__, __LINE__, "%d findings, the first at %d:%d, expected one at %d:%d in\n%s", d.count,
              d.count ? d.items[0].line : 0, d.count ? d.items[0].column : 0, line, column, text);
  carom_diagnostics_release(&d);
}

TEST(refusals_have_places) {
  check_place("carom: 1\nintegrator:\n  name: cone\n  order: 4\n", 4, 3);     // the key
  check_place("carom: 1\nintegrator:\n  name: moreau\n  alpha: 4\n", 4, 10);  // the value
  check_place("carom: 1\nintegrator:\n  name: exact\n  energy_condition: discrete\n  order: 4\n", 5, 3);
  check_place("carom: 1\nintegrator:\n  name: exact\n  for:\n    moreau:\n      order: 4\n", 6, 7);
  const char *joint =
      "carom: 1\nintegrator: {name: cone}\nbodies:\n  - {name: a, shape: {sphere: 1}}\njoints:\n"
      "  - {kind: spherical, between: [world, a], at: [1, 0, 0]}\n"
      "  - {kind: revolute, between: [world, a], at: [1, 0, 0], turn: {upper: 1, restitution: 0.5}}\n";
  check_place(joint, 7, 75);
}

// ---- traits, cell by cell ------------------------------------------------------------------------------------------

// A scene with the trait, and one without. Both begin with `head`; integrators without contacts may still be TIED.
typedef struct trait_case {
  carom_trait trait;
  const char *with, *without;
} trait_case;

// Soft contacts that a step of 1 ms can follow.
static const char head[] =
    "carom: 1\nmaterials: {m: {restitution: %g, friction: %g, density: 1000}}\n"
    "integrator: {name: %s, step: 1 ms, for: {potential: {penetration: 2 cm}, newmark: {penetration: 2 cm}}}\n"
    "defaults: {body: {material: m%s}}\nduration: 60 ms\n";

#define MEETING                                                                                       \
  "bodies: [{name: a, shape: {sphere: 0.5}, velocity: [1, 0.2, 0]}, {name: b, shape: {sphere: 0.5}, " \
  "position: [1.004, 0, 0], velocity: [-1, 0, 0]}]\n"
#define ARM "bodies: [{name: a, mass: 1, inertia: [0.1, 0.2, 0.25], position: [1, 0.2, 0]}]\n"
#define SWUNG                                                                                              \
  "bodies: [{name: a, mass: 1, inertia: [0.1, 0.2, 0.25], position: [1, 0.2, 0], velocity: [-0.4, 2, 0], " \
  "angular_velocity: [0, 0, 2]}]\n"
#define FALL "forces: {gravity: 9.81}\n"
#define ASKEW "forces: {springs: [{from: {body: a}, to: {world: [0, 1, 1]}, stiffness: 10, rest_length: 0.1}]}\n"
#define JOINT(text) FALL "joints: [{name: j, between: [world, a], " text "}]\n"
#define TURNING(text) \
  "forces: {gravity: [0, 9.81, 0]}\njoints: [{name: j, kind: revolute, between: [world, a], at: [0, 0, 0]" text "}]\n"
#define TWO "bodies: [{name: a, mass: 1}, {name: b, mass: 1, position: [1, 0, 0]}]\n"
#define LANDING "bodies: [{name: a, shape: {sphere: 0.1}, position: [0, 0, 0.11], velocity: [0.3, 0, -1]}, "
#define BESIDE "bodies: [{name: a, mass: 1, position: [1, 0, 0]}]\n"
#define TIED \
  "forces: {springs: [{from: {body: a}, to: {body: floor, point: [0.5, 0, 0]}, stiffness: 300, rest_length: 0}]}\n"

static const trait_case trait_cases[] = {
    {CAROM_TRAIT_CONTACTS, MEETING, MEETING "apart: [[a, b]]\n"},
    {CAROM_TRAIT_RESTITUTION, MEETING "surfaces: [{between: [m, m], restitution: 0.5, friction: 0}]\n", MEETING},
    {CAROM_TRAIT_FRICTION_CONE, MEETING "surfaces: [{between: [m, m], restitution: 0, friction: 0.02}]\n", MEETING},
    {CAROM_TRAIT_SPHERICAL, ARM JOINT("kind: spherical, at: [0, 0, 0]"), ARM FALL},
    {CAROM_TRAIT_REVOLUTE, ARM JOINT("kind: revolute, at: [0, 0, 0], axis: [0, 1, 0]"), ARM FALL},
    {CAROM_TRAIT_PRISMATIC, ARM JOINT("kind: prismatic, at: [1, 0.2, 0], axis: [1, 0, 1]"), ARM FALL},
    {CAROM_TRAIT_CYLINDRICAL, ARM JOINT("kind: cylindrical, at: [1, 0.2, 0], axis: [1, 0, 1]"), ARM FALL},
    {CAROM_TRAIT_PLANAR, ARM JOINT("kind: planar, at: [1, 0.2, 0], axis: [1, 0, 1]"), ARM FALL},
    {CAROM_TRAIT_SCREW, ARM JOINT("kind: screw, at: [1, 0.2, 0], pitch: 0.5"), ARM FALL},
    {CAROM_TRAIT_FIXED, ARM JOINT("kind: fixed, at: [0, 0, 0]"), ARM FALL},
    {CAROM_TRAIT_DISTANCE, ARM JOINT("kind: distance, points: [[0, 0, 1], [0, 0, 0]]"), ARM FALL},
    {CAROM_TRAIT_LIMITS, SWUNG TURNING(", turn: {upper: 5e-3}"), SWUNG TURNING("")},
    {CAROM_TRAIT_BOUNCING_LIMITS, SWUNG TURNING(", turn: {upper: 5e-3, restitution: 0.9}"),
     SWUNG TURNING(", turn: {upper: 5e-3}")},
    {CAROM_TRAIT_LATCHES, MEETING "joints: [{name: j, kind: fixed, between: [a, b], latch: true}]\n", MEETING},
    {CAROM_TRAIT_FORCE_MOTORS, ARM TURNING(", turn: {motor: {torque: 30}}"), ARM TURNING("")},
    {CAROM_TRAIT_RATE_MOTORS, ARM TURNING(", turn: {motor: {rate: 3, schedule: [[0, 0], [1, 9]]}}"), ARM TURNING("")},
    {CAROM_TRAIT_POSITION_MOTORS, ARM TURNING(", turn: {motor: {position: 1, schedule: [[0, 0], [1, 1]]}}"),
     ARM TURNING("")},
    {CAROM_TRAIT_JOINT_SPRINGS, ARM TURNING(", turn: {stiffness: 50, rest: 0.3, damping: 1}"), ARM TURNING("")},
    {CAROM_TRAIT_GRAVITY, TWO FALL, TWO},
    {CAROM_TRAIT_SPRINGS, TWO "forces: {springs: [{from: {body: a}, to: {body: b}, stiffness: 50, rest_length: 0}]}\n",
     TWO},
    {CAROM_TRAIT_DAMPERS,
     TWO "forces: {gravity: 9.81, springs: [{from: {body: a}, to: {world: [0, 0, 1]}, stiffness: 0, damping: 50}]}\n",
     TWO FALL},
    {CAROM_TRAIT_CHARGES,
     TWO "forces: {charges: [{name: q, constant: 1, points: [{body: a, charge: 1}, {body: b, charge: 1}]}]}\n", TWO},
    {CAROM_TRAIT_APPLIED_FORCES, TWO "forces: {applied: [{body: a, force: [0, 3, 0]}]}\n", TWO},
    {CAROM_TRAIT_DRIVES,
     LANDING "{name: floor, fixed: true, shape: {box: [2, 2, 1]}, position: [0, 0, -0.5]}]\n" TIED
             "drives: [{body: floor, velocity: [0, 0, 0.5]}]\n",
     LANDING "{name: floor, fixed: true, shape: {box: [2, 2, 1]}, position: [0, 0, -0.5]}]\n" TIED},
    {CAROM_TRAIT_TURNING_PLANES,
     LANDING "{name: floor, fixed: true, shape: {halfspace: ~}}]\n" TIED
             "drives: [{body: floor, angular_velocity: 5, point: [0, 3, 0]}]\n",
     LANDING "{name: floor, fixed: true, shape: {halfspace: ~}}]\n" TIED},
    {CAROM_TRAIT_BOUNDARIES, LANDING "]\nboundaries: [{name: wall, plane: [0, 0, 1]}]\n", LANDING "]\n"},
    {CAROM_TRAIT_BOUNDED_POINTS,
     "bodies: [{name: dot, mass: 1, position: [0, 0, 1]}]\nboundaries: [{name: wall, plane: [0, 0, 1]}]\n",
     "bodies: [{name: dot, mass: 1, position: [0, 0, 1]}]\n"},
    {CAROM_TRAIT_RECIRCULATION,
     LANDING
     "]\nrecirculation: [{outlet: {min: [-1, -1, -1], max: [1, 1, 0.1]}, inlet: {min: [0, 0, 2], max: [1, 1, 3]}}]\n",
     LANDING "]\n"},
    {CAROM_TRAIT_PLANAR_SCENES, TWO ASKEW "planar: true\n", TWO ASKEW},
    {CAROM_TRAIT_SUPPORTS, "bodies: [{name: a, mass: 1, support: {damping: 1}}]\n", "bodies: [{name: a, mass: 1}]\n"},
    {CAROM_TRAIT_SOLIDS, BESIDE FALL "solids: [{name: s, mesh: {box: [0.1, 0.1, 0.1]}, young: 1e5, poisson: 0.3}]\n",
     BESIDE FALL},
};
enum { TRAIT_CASES = sizeof trait_cases / sizeof *trait_cases };

static bool sees(int integrator, int trait) { return carom_integrator_honours(integrator, (carom_trait)trait); }

// What moves has no inertia there: it neither falls freely nor bounces. tests/step/test_quasistatic.c has its scenes.
static bool has_no_inertia(int integrator) { return sees(integrator, CAROM_TRAIT_SUPPORTS); }

static void write_scene(char *text, const char *body, int integrator, double e, double mu) {
  const char *support = sees(integrator, CAROM_TRAIT_SUPPORTS) ? ", support: {damping: 1}" : "";
  int n = snprintf(text, TEXT, head, e, mu, carom_integrator_name(integrator), support);
  bool tied = strstr(body, TIED) && !carom_integrator_honours(integrator, CAROM_TRAIT_CONTACTS);
  snprintf(text + n, (size_t)(TEXT - n), "%s%s", body, tied ? "contacts: ignore\n" : "");
}

// Every trait that a model alone can have is tried.
TEST(all_traits_are_tried) {
  bool tried[CAROM_TRAIT_COUNT] = {0};
  for (int i = 0; i < TRAIT_CASES; i++) {
    char text[TEXT];
    verdict v;
    tried[trait_cases[i].trait] = true;
    for (int with = 0; with < 2; with++) {
      write_scene(text, with ? trait_cases[i].with : trait_cases[i].without, 0, 0, 0);
      carom_scene *scene = parse(text, true, &v);
      if (!scene) test_fail(__FILE__, __LINE__, "%s\n%s", text, v.message);
      if (scene && (carom_model_uses(scene->model, trait_cases[i].trait) >= 0) != with)
        test_fail(__FILE__, __LINE__, "the trait '%s' is %s in\n%s",
                  carom_trait_describe((int)trait_cases[i].trait)->name, with ? "not found" : "found", text);
      carom_scene_destroy(scene);
    }
  }
  for (int t = 0; t < CAROM_TRAIT_COUNT; t++)
    if (!tried[t] && t != CAROM_TRAIT_FRICTION_PYRAMID)
      test_fail(__FILE__, __LINE__, "'%s' is not tried", carom_trait_describe(t)->name);
}

// Other traits of the scene may be refused first; then there is nothing to be seen of this one.
static bool honours_the_rest(int integrator, const carom_model *model, carom_trait but) {
  for (int t = 0; t < CAROM_TRAIT_COUNT; t++)
    if (t != (int)but && carom_model_uses(model, (carom_trait)t) >= 0 && !sees(integrator, t)) return false;
  return true;
}

static void try_trait(int integrator, const trait_case *c) {
  char text[TEXT], what[200];
  verdict read, built;
  snprintf(what, sizeof what, "%s, %s", carom_integrator_name(integrator), carom_trait_describe((int)c->trait)->name);
  write_scene(text, c->with, integrator, 0, 0);
  carom_scene *bodies = parse(text, true, &built), *scene = parse(text, false, &read);
  if (!bodies) {
    test_fail(__FILE__, __LINE__, "%s: %s", what, built.message);
    return;
  }
  bool rest = honours_the_rest(integrator, bodies->model, c->trait);
  check_expected(what, read, sees(integrator, (int)c->trait) && rest);
  check_same(what, read, by_check(bodies->model, &bodies->step));
  check_same(what, read, by_stepper(bodies->model, &bodies->step));
  if (read.status != CAROM_OK && rest) check_names(what, read.message, integrator, sees, (int)c->trait);
  carom_scene_destroy(scene);
  carom_scene_destroy(bodies);
}

TEST(every_trait_of_every_integrator) {
  for (int i = 0; carom_integrator_name(i); i++)
    for (int k = 0; k < TRAIT_CASES; k++)
      if (!has_no_inertia(i) || trait_cases[k].trait != CAROM_TRAIT_RESTITUTION) try_trait(i, &trait_cases[k]);
}

// Bodies that gravity alone moves and that surely miss each other need no contacts.
TEST(contacts_that_cannot_come_are_not_asked_for) {
  static const struct {
    const char *bodies;
    bool apart;
  } cases[] = {
      {"[{name: a, shape: {sphere: 0.1}, velocity: [1, 0, 0]}, {name: b, shape: {box: [0.2, 0.2, 0.2]}, position: [0, "
       "1, 0], velocity: [1, 0.2, 0]}]\n",
       true},
      {"[{name: a, shape: {sphere: 0.1}, velocity: [1, 0, 0]}, {name: b, shape: {sphere: 0.1}, position: [0, 1, 0], "
       "velocity: [1, -0.9, 0]}]\n",
       false},
      {"[{name: a, shape: {sphere: 0.1}, position: [0, 0, 6]}, {name: floor, fixed: true, shape: {halfspace: ~}}]\n",
       true},  // falls 4.905 m in the second
      {"[{name: a, shape: {sphere: 0.1}, position: [0, 0, 5]}, {name: floor, fixed: true, shape: {halfspace: ~}}]\n",
       false},
      {"[{name: a, shape: {sphere: 0.1}, velocity: [8, 0, 4.905]}, {name: post, fixed: true, shape: {sphere: 0.1}, "
       "position: [4, 0, 0.5]}]\n",
       true},  // flies over at 1.226 m
      {"[{name: a, shape: {sphere: 0.1}, velocity: [8, 0, 4.905]}, {name: post, fixed: true, shape: {sphere: 0.1}, "
       "position: [4, 0, 1.1]}]\n",
       false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    verdict v;
    snprintf(text, sizeof text,
             "carom: 1\nduration: 1\nforces: {gravity: 9.81}\nintegrator: {name: variational}\nbodies: %s",
             cases[i].bodies);
    carom_scene *scene = parse(text, false, &v);
    CHECK((scene != NULL) == cases[i].apart);
    if (scene) CHECK(scene->step.nothing_meets && by_stepper(scene->model, &scene->step).status == CAROM_OK);
    carom_scene_destroy(scene);
  }
}

// Where all pairs are held apart nothing can touch, however many pairs are named twice.
TEST(contacts_that_cannot_be_are_not_warned_of) {
  static const char *const aparts[] = {"", "apart: [[a, b], [a, b], [b, a]]\n", "apart: [[a, b], [a, c], [b, c]]\n"};
  for (int k = 0; k < 3; k++) {
    char text[TEXT];
    verdict v;
    snprintf(text, sizeof text,
             "carom: 1\nbodies: [{name: a, shape: {sphere: 1}}, {name: b, shape: {sphere: 1}, position: [5, 0, 0]}, "
             "{name: c, fixed: true, shape: {sphere: 1}, position: [9, 0, 0]}, {name: d, fixed: true}]\n%s",
             aparts[k]);
    carom_scene *scene = parse(text, false, &v);
    REQUIRE(scene);
    CHECK((carom_model_uses(scene->model, CAROM_TRAIT_CONTACTS) >= 0) == (k < 2));
    carom_scene_destroy(scene);
  }
}

// Nothing is stepped for a plan: what the default integrator honours does not matter.
TEST(plans_need_no_integrator) {
  char text[TEXT];
  verdict v;
  write_scene(text, ARM TURNING(", turn: {upper: 1}"), 0, 0, 0);
  carom_scene *scene = parse(text, true, &v);
  CHECK(scene != NULL);
  carom_scene_destroy(scene);
  scene = parse(text, false, &v);
  CHECK(scene == NULL);
}

// ---- what is honoured does something -------------------------------------------------------------------------------

typedef struct outcome {
  bool failed;
  char message[1000];
  carom_vec3 x, p, l;  // of body 0 at the end
  carom_vec3 all;      // momentum of all that moves then
  uint64_t hash;
} outcome;

static outcome run_scene(const carom_scene *scene, int steps) {
  outcome o = {0};
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create(scene->model, &scene->step, NULL, &stepper, &error) != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    return o;
  }
  for (int i = 0; i < steps && !o.failed; i++) {
    o.failed = carom_stepper_step(stepper, scene->state, NULL, &error) != CAROM_OK;
    if (o.failed) snprintf(o.message, sizeof o.message, "%s", error.message);
  }
  o.x = scene->state->x[0], o.p = scene->state->p[0], o.l = scene->state->l[0];
  o.all = carom_linear_momentum(scene->model, scene->state);
  o.hash = carom_state_hash(scene->state);
  carom_stepper_destroy(stepper);
  return o;
}

static outcome run_text(const char *text, int steps) {
  verdict v;
  outcome o = {.failed = true};
  carom_scene *scene = parse(text, false, &v);
  if (!scene) test_fail(__FILE__, __LINE__, "%s\n%s", v.message, text);
  if (scene) o = run_scene(scene, steps);
  carom_scene_destroy(scene);
  return o;
}

TEST(contacts_that_are_not_seen_are_refused_unless_ignored) {
  for (int i = 0; carom_integrator_name(i); i++) {
    char text[TEXT];
    verdict v;
    write_scene(text, MEETING, i, 0, 0);
    carom_scene *scene = parse(text, false, &v);
    CHECK((scene != NULL) == sees(i, CAROM_TRAIT_CONTACTS));
    if (!scene) CHECK_CONTAINS(v.message, "would pass through each other, which 'contacts: ignore' asks for");
    if (!scene) check_names("contacts", v.message, i, sees, CAROM_TRAIT_CONTACTS);
    carom_scene_destroy(scene);
    write_scene(text, MEETING "contacts: ignore\n", i, 0, 0);
    outcome through = run_text(text, SCENE_STEPS);
    write_scene(text, MEETING "apart: [[a, b]]\n", i, 0, 0);
    outcome apart = run_text(text, SCENE_STEPS);
    CHECK(!through.failed && !apart.failed && through.hash == apart.hash);
  }
}

static double difference(const outcome *a, const outcome *b) {
  return cm_norm(cm_sub(a->x, b->x)) + cm_norm(cm_sub(a->p, b->p)) + cm_norm(cm_sub(a->l, b->l)) +
         cm_norm(cm_sub(a->all, b->all));
}

static void check_effect(int integrator, const char *what, const outcome *with, const outcome *without) {
  if (with->failed || without->failed)
    test_fail(__FILE__, __LINE__, "%s, %s: %s%s", carom_integrator_name(integrator), what, with->message,
              without->message);
  else if (!(difference(with, without) > 1e-9))
    test_fail(__FILE__, __LINE__, "%s: %s does nothing (%g)", carom_integrator_name(integrator), what,
              difference(with, without));
}

TEST(traits_that_are_honoured_do_something) {
  for (int i = 0; carom_integrator_name(i); i++)
    for (int k = 0; k < TRAIT_CASES; k++) {
      const trait_case *c = &trait_cases[k];
      char with[TEXT], without[TEXT];
      if (!sees(i, (int)c->trait) || has_no_inertia(i)) continue;
      write_scene(with, c->with, i, 0, 0.5);
      write_scene(without, c->without, i, 0, 0.5);
      outcome a = run_text(with, SCENE_STEPS), b = run_text(without, SCENE_STEPS);
      check_effect(i, carom_trait_describe((int)c->trait)->name, &a, &b);
    }
}

// Though there is no material at all that bounces.
TEST(limits_that_bounce_need_no_material) {
  for (int i = 0; carom_integrator_name(i); i++) {
    carom_builder *builder = new_builder();
    put_material(builder, 0, 0);
    carom_body_def arm = inert_body(1, cm_vec3(0.1, 0.2, 0.25));
    arm.pose.p = cm_vec3(1, 0, 0), arm.velocity = cm_vec3(0, 2, 0), arm.angular_velocity = cm_vec3(0, 0, 2);
    int body = carom_builder_add_body(builder, &arm);
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_REVOLUTE, joint.body[0] = CAROM_WORLD, joint.body[1] = body, joint.at_start = true;
    joint.turn.upper = 5e-3, joint.turn.restitution = 0.9;
    carom_builder_add_joint(builder, &joint);
    world w = finish_world(builder);
    carom_step_options options = carom_step_default_options();
    options.integrator = carom_integrator_name(i);
    if (sees(i, CAROM_TRAIT_BOUNCING_LIMITS)) {
      if (takes(i, CAROM_OPTION_PENETRATION)) options.penetration = 0.02;
      carom_stepper *stepper = stepper_by(&w, &options);
      run_steps(stepper, w.state, SCENE_STEPS);
      if (!(fabs(w.state->p[0].y + 1.8) < 0.05))
        test_fail(__FILE__, __LINE__, "%s: %g kg m/s after the bounce", carom_integrator_name(i), w.state->p[0].y);
      carom_stepper_destroy(stepper);
    }
    free_world(&w);
  }
}

// Limits of joints are as stiff as is safe when nothing has a shape and nothing moves.
TEST(soft_limits_need_no_shapes) {
  char text[TEXT];
  write_scene(text, ARM "joints: [{kind: revolute, between: [world, a], at: [0, 0, 0], turn: {upper: 1}}]\n",
              carom_integrator_find("potential"), 0, 0);
  outcome o = run_text(text, SCENE_STEPS);
  if (o.failed) test_fail(__FILE__, __LINE__, "%s", o.message);
}

// Not only differs: swings back.
TEST(limits_that_bounce_throw_back) {
  for (int i = 0; carom_integrator_name(i); i++) {
    char text[TEXT];
    if (!sees(i, CAROM_TRAIT_LIMITS)) continue;
    write_scene(text, SWUNG TURNING(", turn: {upper: 5e-3}"), i, 0, 0);
    outcome stopped = run_text(text, SCENE_STEPS);
    CHECK(!stopped.failed && stopped.p.y > -0.1);
    if (!sees(i, CAROM_TRAIT_BOUNCING_LIMITS)) continue;
    write_scene(text, SWUNG TURNING(", turn: {upper: 5e-3, restitution: 0.9}"), i, 0, 0);
    outcome bounced = run_text(text, SCENE_STEPS);
    if (!(bounced.p.y < -0.8))
      test_fail(__FILE__, __LINE__, "%s: %g kg m/s after the bounce", carom_integrator_name(i), bounced.p.y);
  }
}

#define OBLIQUE                                                                                                     \
  "bodies: [{name: a, shape: {box: [0.2, 0.3, 0.4]}, position: [0, 0, 0.25], rotation: {axis: [1, 2, 0.5], angle: " \
  "0.3}, velocity: [0.7, 0.3, -4]}, {name: floor, fixed: true, shape: {halfspace: ~}}]\n"

TEST(contacts_have_restitution_and_friction) {
  for (int i = 0; carom_integrator_name(i); i++) {
    char dull[TEXT], bouncing[TEXT], rough[TEXT], coarse[TEXT + 100];
    if (!sees(i, CAROM_TRAIT_CONTACTS) || has_no_inertia(i)) continue;
    CHECK(sees(i, CAROM_TRAIT_RESTITUTION) && sees(i, CAROM_TRAIT_FRICTION_CONE));
    write_scene(dull, OBLIQUE, i, 0, 0);
    write_scene(bouncing, OBLIQUE, i, 0.9, 0);
    write_scene(rough, OBLIQUE, i, 0, 0.5);
    outcome a = run_text(dull, SCENE_STEPS), b = run_text(bouncing, SCENE_STEPS), c = run_text(rough, SCENE_STEPS);
    check_effect(i, "restitution", &a, &b);
    check_effect(i, "friction", &a, &c);
    CHECK(sees(i, CAROM_TRAIT_FRICTION_PYRAMID) == takes(i, CAROM_OPTION_FRICTION_DIRECTIONS));
    if (!sees(i, CAROM_TRAIT_FRICTION_PYRAMID)) continue;
    const char *cut = strstr(rough, "step: 1 ms");
    for (int directions = 0; directions <= 3; directions += 3) {
      snprintf(coarse, sizeof coarse, "%.*sfriction_directions: %d, %s", (int)(cut - rough), rough, directions, cut);
      if (directions == 0)
        c = run_text(coarse, SCENE_STEPS);
      else
        b = run_text(coarse, SCENE_STEPS);
    }
    check_effect(i, "a friction pyramid", &b, &c);
  }
}

// Two values of an option, and a scene in which they part ways. `also` are options that bring the choice to bear.
typedef struct option_case {
  carom_option option;
  const char *values[2], *bodies, *also;
  double e, mu;
  const char *integrators;  // null: all that take the option
} option_case;

#define SPRUNG                                                                                                    \
  "bodies: [{name: a, mass: 1, inertia: [0.01, 0.02, 0.025], angular_velocity: [9, 20, 3]}]\n"                    \
  "forces: {springs: [{from: {body: a, point: [0.1, 0, 0]}, to: {world: [1, 0, 0]}, stiffness: 300, damping: 2, " \
  "rest_length: 0.1}]}\n"
#define SPINNING "bodies: [{name: a, mass: 1, inertia: [0.01, 0.02, 0.025], angular_velocity: [900, 2000, 300]}]\n"
#define STACK                                                                                                        \
  "bodies: [{name: a, shape: {box: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1001], velocity: [0.5, 0.2, 0]}, {name: b, " \
  "shape: {box: [0.2, 0.2, 0.2]}, position: [0.03, 0, 0.3002]}, {name: c, shape: {box: [0.2, 0.2, 0.2]}, position: " \
  "[0, 0.03, 0.5003]}, {name: floor, fixed: true, shape: {halfspace: ~}}]\nforces: {gravity: 9.81}\n"

// More bodies than go to Newton's method at once.
#define TOWER                                                                                                  \
  "bodies: [{name: a, shape: {box: [0.2, 0.2, 0.1]}, position: [0.02*sin(n), 0.02*cos(3*n), 0.05], velocity: " \
  "[0.3*sin(2*n), 0, 0], replicate: {stack: {count: 16, spacing: 0.1}}}, {name: floor, fixed: true, shape: "   \
  "{halfspace: ~}}]\nforces: {gravity: 9.81}\n"
// Slides onto the floor with four corners at once.
#define FLAT                                                                                                     \
  "bodies: [{name: a, shape: {box: [0.2, 0.3, 0.4]}, position: [0, 0, 0.2001], velocity: [2, 0.3, -1]}, {name: " \
  "floor, "                                                                                                      \
  "fixed: true, shape: {halfspace: ~}}]\n"
// Hops many times in a step.
#define TREMBLING                                                                                              \
  "bodies: [{name: a, shape: {sphere: 0.1}, position: [0, 0, 0.1 + 1e-7]}, {name: floor, fixed: true, shape: " \
  "{halfspace: ~}}]\nforces: {gravity: 9.81}\n"

static const option_case option_cases[] = {
    {CAROM_OPTION_STEP, {"1 ms", "2 ms"}, SPRUNG, "", 0, 0, NULL},
    {CAROM_OPTION_QUADRATURE, {"endpoint", "midpoint"}, SPRUNG, "", 0, 0, NULL},
    {CAROM_OPTION_ORDER, {"2", "4"}, SPRUNG, "", 0, 0, NULL},
    {CAROM_OPTION_ORDER, {"4", "6"}, SPRUNG, "", 0, 0, NULL},
    {CAROM_OPTION_TOLERANCE, {"1e-14", "1e-3"}, SPRUNG, "", 0, 0, NULL},
    {CAROM_OPTION_MAX_ITERATIONS, {"50", "1"}, SPRUNG, "max_halvings: 0", 0, 0, NULL},
    {CAROM_OPTION_MAX_HALVINGS, {"0", "12"}, SPINNING, "", 0, 0, "variational dcr potential newmark cone"},
    {CAROM_OPTION_MAX_HALVINGS, {"0", "12"}, SPRUNG, "max_iterations: 4", 0, 0, "exact"},
    {CAROM_OPTION_MAX_HALVINGS, {"0", "6"}, STACK, "solver: pgs, solver_iterations: 50", 0, 0.5, "moreau"},
    {CAROM_OPTION_LAW, {"generalized", "plastic"}, OBLIQUE, "", 0.9, 0.5, NULL},
    {CAROM_OPTION_LAW, {"sum", "decomposition"}, OBLIQUE, "", 0.9, 0.5, NULL},
    {CAROM_OPTION_LAW, {"newton", "poisson"}, FLAT, "", 0.9, 0.5, NULL},
    {CAROM_OPTION_ENERGY_CONDITION, {"hamiltonian", "discrete"}, OBLIQUE FALL, "", 1, 0, NULL},
    {CAROM_OPTION_MAX_IMPACTS, {"1", "1000"}, TREMBLING, "", 0.5, 0, NULL},
    {CAROM_OPTION_STIFFNESS, {"1000", "2000"}, MEETING, "", 1, 0, NULL},
    {CAROM_OPTION_PENETRATION, {"2 cm", "3 cm"}, MEETING, "", 1, 0, NULL},
    {CAROM_OPTION_ALPHA, {"1", "0.5"}, SPRUNG, "", 0, 0, NULL},
    {CAROM_OPTION_RESTITUTION, {"newton", "poisson"}, OBLIQUE, "", 0.9, 0.5, NULL},
    {CAROM_OPTION_FRICTION_DIRECTIONS, {"3", "0"}, OBLIQUE, "", 0, 0.5, NULL},
    {CAROM_OPTION_SOLVER, {"lemke", "pgs"}, STACK, "", 0, 0.5, "moreau"},
    {CAROM_OPTION_SOLVER, {"pgs", "apgd"}, STACK, "", 0, 0.5, "cone"},
    {CAROM_OPTION_SOLVER, {"spg", "interior"}, STACK, "", 0, 0.5, "cone"},
    {CAROM_OPTION_SOLVER_TOLERANCE, {"1e-12", "1e-2"}, STACK, "", 0, 0.5, "dcr"},
    {CAROM_OPTION_SOLVER_TOLERANCE, {"1e-9", "1e-2"}, STACK, "solver: pgs", 0, 0.5, "moreau cone"},
    {CAROM_OPTION_SOLVER_ITERATIONS, {"1", "2000"}, TOWER, "", 0, 0.5, "dcr"},
    {CAROM_OPTION_SOLVER_ITERATIONS, {"1", "20000"}, STACK, "solver: pgs, max_halvings: 0", 0, 0.5, "moreau cone"},
};
enum { OPTION_CASES = sizeof option_cases / sizeof *option_cases };

static outcome run_option(int integrator, const option_case *c, int k) {
  char text[TEXT];
  bool step = c->option == CAROM_OPTION_STEP;
  snprintf(text, sizeof text,
           "carom: 1\nmaterials: {m: {restitution: %g, friction: %g, density: 1000}}\ndefaults: {body: {material: m}}\n"
           "integrator: {name: %s, %s%s: %s%s%s}\nduration: 60 ms\n%s",
           c->e, c->mu, carom_integrator_name(integrator), step ? "" : "step: 1 ms, ",
           carom_option_describe((int)c->option)->name, c->values[k], c->also[0] ? ", " : "", c->also, c->bodies);
  return run_text(text, SCENE_STEPS);
}

static bool applies(int integrator, const option_case *c) {
  return takes(integrator, (int)c->option) &&
         (!c->integrators || strstr(c->integrators, carom_integrator_name(integrator)));
}

// Threads must do nothing; steps of index2 and index3 never fail in a scene as small as these, and are halved by
// stepper.c as all others are.
static bool may_do_nothing(int integrator, int option) {
  const char *name = carom_integrator_name(integrator);
  return option == CAROM_OPTION_THREADS || (option == CAROM_OPTION_MAX_HALVINGS && strncmp(name, "index", 5) == 0);
}

TEST(options_that_are_honoured_do_something) {
  for (int i = 0; carom_integrator_name(i); i++) {
    bool tried[CAROM_OPTION_COUNT] = {0};
    if (has_no_inertia(i)) continue;
    for (int k = 0; k < OPTION_CASES; k++) {
      const option_case *c = &option_cases[k];
      if (!applies(i, c)) continue;
      outcome a = run_option(i, c, 0), b = run_option(i, c, 1);
      tried[c->option] = true;
      if (a.failed == b.failed && a.hash == b.hash && strcmp(a.message, b.message) == 0)
        test_fail(__FILE__, __LINE__, "%s: '%s' of %s or %s is the same%s%s", carom_integrator_name(i),
                  carom_option_describe((int)c->option)->name, c->values[0], c->values[1], a.failed ? ": " : "",
                  a.message);
    }
    for (int o = 0; o < CAROM_OPTION_PROBLEM_SINK; o++)
      if (takes(i, o) && !tried[o] && !may_do_nothing(i, o))
        test_fail(__FILE__, __LINE__, "%s: '%s' is not tried", carom_integrator_name(i),
                  carom_option_describe(o)->name);
  }
}

TEST(threads_change_nothing) {
  static const option_case threads = {CAROM_OPTION_THREADS, {"1", "2"}, STACK, "", 0, 0.5, NULL};
  for (int i = 0; carom_integrator_name(i); i++) {
    if (!sees(i, CAROM_TRAIT_CONTACTS) || has_no_inertia(i) || strcmp(carom_integrator_name(i), "newmark") == 0 ||
        strcmp(carom_integrator_name(i), "potential") == 0)
      continue;  // the soft ones ask for smaller steps here
    outcome a = run_option(i, &threads, 0), b = run_option(i, &threads, 1);
    CHECK(!a.failed && a.hash == b.hash);
  }
}

TEST(the_problem_sink_is_shown_problems) {
  char text[TEXT];
  verdict v;
  int calls = 0;
  write_scene(text, STACK, carom_integrator_find("moreau"), 0, 0.5);
  carom_scene *scene = parse(text, false, &v);
  REQUIRE(scene);
  scene->step.problem_sink = sink, scene->step.sink_context = &calls;
  run_scene(scene, SCENE_STEPS);
  CHECK(calls >= SCENE_STEPS);
  carom_scene_destroy(scene);
}
