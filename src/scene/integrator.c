// The integrator and its options: which it honours, and what each may be, is in its table (step/honours.h).
#include <string.h>

#include "base/memory.h"
#include "scene/reader.h"
#include "step/honours.h"

enum { MOST_INTEGRATORS = 64 };

// The name comes to 0 for `auto`.
static bool read_name(carom_reader *r, const carom_node *node) {
  const char *names[MOST_INTEGRATORS + 2] = {"auto"};
  int choice = 0;
  for (int i = 0; i < MOST_INTEGRATORS && carom_integrator_name(i); i++) names[i + 1] = carom_integrator_name(i);
  if (!carom_read_choice(r, node, names, &choice)) return false;
  r->integrator = choice - 1;
  r->chooses = choice == 0;
  return true;
}

// ---- options -------------------------------------------------------------------------------------------------------

static carom_dimension dimension_of(carom_option option) {
  switch (option) {
    case CAROM_OPTION_STEP:
      return CAROM_TIME;
    case CAROM_OPTION_STIFFNESS:
      return CAROM_STIFFNESS;
    case CAROM_OPTION_PENETRATION:
      return CAROM_LENGTH;
    default:
      return CAROM_NUMBER;
  }
}

// While the integrator is not known: any that takes the option.
static int any_that_takes(carom_option option) {
  int i = 0;
  while (carom_integrator_name(i) && !carom_integrator_takes(i, option, NULL)) i++;
  return i;
}

// And this value; the first of all when there is none.
static int any_that_takes_value(carom_option option, carom_value value) {
  carom_error error;
  for (int i = 0; carom_integrator_name(i); i++)
    if (carom_check_option(carom_integrator_at(i), option, value, &error) == CAROM_OK) return i;
  return any_that_takes(option);
}

// Words are those that any integrator knows, so that the message can tell whose they are.
static bool read_word(carom_reader *r, const carom_node *node, carom_option option, carom_value *value) {
  for (int i = 0; carom_integrator_name(i); i++) {
    carom_allowed a;
    if (!carom_integrator_takes(i, option, &a)) continue;
    for (int k = 0; a.words[k]; k++)
      if (carom_node_is(node, a.words[k])) return value->word = a.words[k], true;
  }
  return carom_read_text(r, node, &value->word);
}

static bool read_value(carom_reader *r, const carom_node *node, carom_option option, carom_value *value) {
  carom_allowed a = {0};
  carom_integrator_takes(any_that_takes(option), option, &a);
  if (a.words) return read_word(r, node, option, value);
  return carom_read_number(r, node, dimension_of(option), CAROM_ANY, &value->number);
}

// The nearest word, for one that is misspelt.
static void hint_at(const carom_allowed *a, const carom_value *value, char *hint, size_t size) {
  hint[0] = '\0';
  if (!a->words || !value->word) return;
  carom_nearest nearest = carom_nearest_begin(value->word, strlen(value->word));
  for (int k = 0; a->words[k]; k++) carom_nearest_try(&nearest, a->words[k]);
  carom_nearest_hint(&nearest, hint, size);
}

static void read_option(carom_reader *r, const carom_node *node, int integrator, carom_option option,
                        carom_step_options *options) {
  carom_allowed allowed = {0};
  carom_value value = {0};
  carom_error error;
  char hint[100];
  bool known = integrator >= 0;
  bool honoured = carom_integrator_takes(known ? integrator : any_that_takes(option), option, &allowed);
  if (honoured && !read_value(r, node, option, &value)) return;
  if (!known) integrator = any_that_takes_value(option, value);
  if (carom_check_option(carom_integrator_at(integrator), option, value, &error) == CAROM_OK) {
    carom_option_put(options, option, value);
    return;
  }
  hint_at(&allowed, &value, hint, sizeof hint);
  carom_report(&r->reporter, honoured ? node->place : node->key_at, hint, "%s", error.message);
}

static int key_of(int option) {
  const carom_section_keys *keys = &carom_scene_sections[CAROM_SECTION_INTEGRATOR];
  for (int k = 0; k < keys->count; k++)
    if (strcmp(keys->keys[k], carom_option_describe(option)->name) == 0) return k;
  return -1;
}

// `fields` are those of the section; an unknown integrator is -1. A key without a value is as good as absent: so an
// override can take one away.
static void read_options(carom_reader *r, const carom_node *const *fields, int integrator,
                         carom_step_options *options) {
  bool set[CAROM_OPTION_COUNT] = {0};
  carom_error error;
  for (int i = 0; i < CAROM_OPTION_COUNT; i++) {
    int k = key_of(i);
    if (k < 0 || !fields[k] || carom_node_is_null(fields[k])) continue;
    read_option(r, fields[k], integrator, (carom_option)i, options);
    set[i] = true;
  }
  if (integrator == r->integrator) memcpy(r->options_set, set, sizeof set);
  int conflict = integrator >= 0 ? carom_find_conflict(carom_integrator_at(integrator), options, set, &error) : -1;
  if (conflict >= 0) carom_report(&r->reporter, fields[key_of(conflict)]->key_at, NULL, "%s", error.message);
}

// ---- options for one integrator alone ------------------------------------------------------------------------------

static bool refuse_inside(carom_reader *r, const carom_node *node) {
  if (node) carom_report(&r->reporter, node->key_at, NULL, "'%s' is the same for all integrators", node->key);
  return node != NULL;
}

static int find_integrator(carom_reader *r, const carom_node *item) {
  int index = carom_integrator_find(item->key);
  if (index >= 0) return index;
  char hint[100];
  carom_nearest nearest = carom_nearest_begin(item->key, strlen(item->key));
  for (int i = 0; carom_integrator_name(i); i++) carom_nearest_try(&nearest, carom_integrator_name(i));
  carom_nearest_hint(&nearest, hint, sizeof hint);
  carom_report(&r->reporter, item->key_at, hint, "no integrator is named '%.60s'", item->key);
  return -1;
}

// Of the integrator that will run: they take the place of the others. Of another one: only to see whether they are
// sound.
static void read_own_options(carom_reader *r, const carom_node *item, const carom_node **fields) {
  const carom_node *f[CAROM_MOST_KEYS];
  int index = find_integrator(r, item);
  if (!carom_read_fields(r, item, CAROM_SECTION_INTEGRATOR, "integrator", f) || index < 0) return;
  bool bad = refuse_inside(r, f[KEY_INTEGRATOR_NAME]);
  bad = refuse_inside(r, f[KEY_INTEGRATOR_STEP]) || bad;
  if (refuse_inside(r, f[KEY_INTEGRATOR_FOR]) || bad) return;
  if (index == r->integrator) {
    for (int k = 0; k < KEYS_IN_INTEGRATOR; k++)
      if (f[k]) fields[k] = f[k];
    return;
  }
  carom_step_options other = carom_step_default_options();
  read_options(r, f, index, &other);
}

static void read_section(carom_reader *r, const carom_node **f) {
  const carom_node *own = f[KEY_INTEGRATOR_FOR];
  if (own && own->kind != CAROM_NODE_MAP && !carom_node_is_null(own))
    carom_report(&r->reporter, own->place, NULL, "'for' expects names of integrators with their options");
  for (const carom_node *c = own && own->kind == CAROM_NODE_MAP ? own->first : NULL; c; c = c->next)
    read_own_options(r, c, f);
  read_options(r, f, r->integrator, &r->scene->step);
}

void carom_read_integrator(carom_reader *r) {
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_INTEGRATOR];
  r->integrator = -1;
  r->chooses = !node;
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_INTEGRATOR, "integrator", f)) return;
  if (read_name(r, f[KEY_INTEGRATOR_NAME]) && r->integrator >= 0)
    r->scene->step.integrator = carom_integrator_name(r->integrator);
  read_section(r, f);
}

// Once the model is known. The section is read again, as that of the integrator that was chosen.
static bool choose(carom_reader *r) {
  carom_scene *s = r->scene;
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_INTEGRATOR];
  carom_error error = {0};
  carom_choice choice;
  if (carom_select(&(carom_wish){s->model, &s->step, r->options_set, s->step.nothing_meets}, &choice, &error) !=
      CAROM_OK) {
    return carom_report(&r->reporter, node ? node->place : r->root->place, NULL, "%s", error.message);
  }
  r->integrator = carom_integrator_find(choice.integrator);
  s->step.integrator = choice.integrator;
  s->choice = carom_copy_text(&r->allocator, choice.reason);
  if (node && carom_read_fields(r, node, CAROM_SECTION_INTEGRATOR, "integrator", f)) read_section(r, f);
  return true;
}

// ---- traits of the model -------------------------------------------------------------------------------------------

// The first of these keys in the node or in the maps in it.
static const carom_node *find_key(const carom_node *node, const char *const *keys) {
  for (const carom_node *c = node->kind == CAROM_NODE_MAP ? node->first : NULL; c; c = c->next) {
    for (int i = 0; keys[i]; i++)
      if (strcmp(c->key, keys[i]) == 0) return c;
    const carom_node *deeper = find_key(c, keys);
    if (deeper) return deeper;
  }
  return NULL;
}

static carom_place place_in_joint(const carom_reader *r, carom_trait trait, int joint) {
  static const char *const limits[] = {"lower", "upper", NULL}, *const bounce[] = {"restitution", NULL};
  static const char *const latch[] = {"latch", NULL}, *const motor[] = {"motor", NULL}, *const kind[] = {"kind", NULL};
  static const char *const springs[] = {"stiffness", "damping", NULL};
  const carom_node *node = carom_joint_node(r, joint);
  const char *const *keys = trait == CAROM_TRAIT_LIMITS            ? limits
                            : trait == CAROM_TRAIT_BOUNCING_LIMITS ? bounce
                            : trait == CAROM_TRAIT_LATCHES         ? latch
                            : trait == CAROM_TRAIT_JOINT_SPRINGS   ? springs
                            : trait < CAROM_TRAIT_LIMITS           ? kind
                                                                   : motor;
  const carom_node *found = node ? find_key(node, keys) : NULL;
  return found ? found->key_at : node ? node->place : r->root->place;
}

static carom_place place_of_section(const carom_reader *r, int key) {
  return r->top[key] ? r->top[key]->key_at : r->root->place;
}

static carom_place place_of_drive(const carom_reader *r, int drive) {
  const carom_node *node = r->top[KEY_SCENE_DRIVES] ? r->top[KEY_SCENE_DRIVES]->first : NULL;
  for (int i = 0; node && i < drive; i++) node = node->next;
  return node ? node->place : place_of_section(r, KEY_SCENE_DRIVES);
}

static carom_place place_of_name(const carom_reader *r) {
  const carom_node *node = r->top[KEY_SCENE_INTEGRATOR], *name = node ? carom_node_find(node, "name", 4) : NULL;
  return name ? name->place : place_of_section(r, KEY_SCENE_INTEGRATOR);
}

static carom_place place_of_trait(const carom_reader *r, carom_trait trait, int user) {
  if (trait >= CAROM_TRAIT_SPHERICAL && trait <= CAROM_TRAIT_JOINT_SPRINGS) return place_in_joint(r, trait, user);
  switch (trait) {
    case CAROM_TRAIT_CONTACTS:
      return place_of_name(r);
    case CAROM_TRAIT_DRIVES:
    case CAROM_TRAIT_TURNING_PLANES:
      return place_of_drive(r, user);
    case CAROM_TRAIT_BOUNDED_POINTS:
    case CAROM_TRAIT_SUPPORTS:
      return carom_thing_node(r, user)->place;
    case CAROM_TRAIT_SOLIDS:
      return carom_thing_node(r, CAROM_SOLID(user))->place;
    case CAROM_TRAIT_BOUNDARIES:
      return place_of_section(r, KEY_SCENE_BOUNDARIES);
    case CAROM_TRAIT_RECIRCULATION:
      return place_of_section(r, KEY_SCENE_RECIRCULATION);
    case CAROM_TRAIT_PLANAR_SCENES:
      return place_of_section(r, KEY_SCENE_PLANAR);
    default:
      return place_of_section(r, KEY_SCENE_FORCES);
  }
}

static void check_traits(carom_reader *r) {
  const carom_scene *s = r->scene;
  for (int i = 0; i < CAROM_TRAIT_COUNT; i++) {
    carom_trait trait = (carom_trait)i;
    carom_error error;
    int user;
    if (trait == CAROM_TRAIT_CONTACTS && s->step.nothing_meets) continue;
    if (carom_check_trait(carom_integrator_at(r->integrator), trait, s->model, &user, &error) != CAROM_OK)
      carom_report(&r->reporter, place_of_trait(r, trait, user), NULL, "%s", error.message);
  }
}

void carom_check_integrator(carom_reader *r) {
  carom_scene *s = r->scene;
  s->step.nothing_meets = carom_stay_apart(s->model, s->state, s->duration);
  if (!r->chooses || choose(r)) check_traits(r);
  s->bounds.integrator = s->step.integrator;
}
