// One verdict on options and models for all who ask, with one message.
#include "step/honours.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "step/step.h"

enum { MOST_INTEGRATORS = 64 };

bool carom_integrator_takes(int integrator, carom_option option, carom_allowed *allowed) {
  const carom_integrator *i = carom_integrator_at(integrator);
  if (!i || option < 0 || option >= CAROM_OPTION_COUNT) return false;
  if (allowed) *allowed = i->honours->options[option];
  return i->honours->options[option].honoured;
}

bool carom_integrator_honours(int integrator, carom_trait trait) {
  const carom_integrator *i = carom_integrator_at(integrator);
  return i && trait >= 0 && trait < CAROM_TRAIT_COUNT && i->honours->traits[trait];
}

// ---- who does ------------------------------------------------------------------------------------------------------

// "a, b and c do", "a does" or "no integrator does".
static void say_who(const bool *able, const char *verb_of_many, const char *verb_of_one, char *text, size_t size) {
  int count = 0, said = 0;
  for (int i = 0; carom_integrator_at(i) && i < MOST_INTEGRATORS; i++) count += able[i];
  text[0] = '\0';
  for (int i = 0; carom_integrator_at(i) && i < MOST_INTEGRATORS; i++) {
    if (!able[i]) continue;
    const char *before = said == 0 ? "" : said + 1 < count ? ", " : " and ";
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", before, carom_integrator_name(i));
    said++;
  }
  size_t n = strlen(text);
  snprintf(text + n, size - n, "%s %s", count == 0 ? "no integrator" : "", count > 1 ? verb_of_many : verb_of_one);
}

static void say_who_takes(carom_option option, char *text, size_t size) {
  bool able[MOST_INTEGRATORS] = {0};
  for (int i = 0; carom_integrator_at(i) && i < MOST_INTEGRATORS; i++)
    able[i] = carom_integrator_takes(i, option, NULL);
  say_who(able, "do", "does", text, size);
}

static void say_who_honours(carom_trait trait, char *text, size_t size) {
  bool able[MOST_INTEGRATORS] = {0};
  for (int i = 0; carom_integrator_at(i) && i < MOST_INTEGRATORS; i++) able[i] = carom_integrator_honours(i, trait);
  say_who(able, "do", "does", text, size);
}

// "; a and b take it", or nothing when none does.
static void say_who_takes_value(carom_option option, carom_value value, char *text, size_t size) {
  bool able[MOST_INTEGRATORS] = {0}, any = false;
  for (int i = 0; carom_integrator_at(i) && i < MOST_INTEGRATORS; i++)
    any |= able[i] = carom_allowed_has(&carom_integrator_at(i)->honours->options[option], value);
  text[0] = '\0';
  if (!any) return;
  snprintf(text, size, "; ");
  say_who(able, "take it", "takes it", text + 2, size - 2);
}

// ---- options -------------------------------------------------------------------------------------------------------

static carom_status refuse_value(const carom_integrator *integrator, carom_option option, carom_value value,
                                 carom_error *error) {
  const carom_allowed *a = &integrator->honours->options[option];
  const carom_option_info *info = carom_option_describe((int)option);
  char allowed[300], got[100], others[300];
  carom_allowed_format(a, allowed, sizeof allowed);
  if (value.word)
    snprintf(got, sizeof got, "'%.60s'", value.word);
  else
    snprintf(got, sizeof got, "%.12g%s%s", value.number, info->unit[0] ? " " : "", info->unit);
  say_who_takes_value(option, value, others, sizeof others);
  bool number = !a->words && a->stride == 0;
  return carom_fail(error, number ? CAROM_ERR_NUMBER : CAROM_ERR_ARGUMENT, "'%s' must be %s, got %s%s%s%s%s",
                    info->name, allowed, got, others[0] ? ", with the integrator '" : "",
                    others[0] ? integrator->name : "", others[0] ? "'" : "", others);
}

carom_status carom_check_option(const carom_integrator *integrator, carom_option option, carom_value value,
                                carom_error *error) {
  const carom_honours *h = integrator->honours;
  if (!h->options[option].honoured) {
    char others[300];
    say_who_takes(option, others, sizeof others);
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "the integrator '%s' does not honour '%s'; %s", integrator->name,
                      carom_option_describe((int)option)->name, others);
  }
  if (!carom_allowed_has(&h->options[option], value)) return refuse_value(integrator, option, value, error);
  if (option == CAROM_OPTION_SOLVER && h->has_solver && !h->has_solver(value.word))
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "the contact solver %s is not in this build", value.word);
  return CAROM_OK;
}

static int format_conflict(const carom_conflict *c, char *text, size_t size) {
  char one[300], other[300];
  carom_allowed_format(&c->one.values, one, sizeof one);
  carom_allowed_format(&c->other.values, other, sizeof other);
  return snprintf(text, size, "'%s' (%s) with '%s' (%s): %s", carom_option_describe((int)c->other.option)->name, other,
                  carom_option_describe((int)c->one.option)->name, one, c->reason);
}

int carom_integrator_conflict(int integrator, int index, char *text, size_t size) {
  const carom_integrator *i = carom_integrator_at(integrator);
  bool there = i && index >= 0 && index < i->honours->conflict_count;
  return there ? format_conflict(&i->honours->conflicts[index], text, size) : -1;
}

static bool holds(const carom_setting *setting, const carom_step_options *options, const bool *set) {
  return set[setting->option] && carom_allowed_has(&setting->values, carom_option_get(options, setting->option));
}

int carom_find_conflict(const carom_integrator *integrator, const carom_step_options *options,
                        const bool set[CAROM_OPTION_COUNT], carom_error *error) {
  const carom_honours *h = integrator->honours;
  for (int i = 0; i < h->conflict_count; i++) {
    const carom_conflict *c = &h->conflicts[i];
    if (!holds(&c->one, options, set) || !holds(&c->other, options, set)) continue;
    char text[800];
    format_conflict(c, text, sizeof text);
    carom_fail(error, CAROM_ERR_UNSUPPORTED, "the integrator '%s' cannot honour %s", integrator->name, text);
    return (int)c->other.option;
  }
  return -1;
}

carom_status carom_check_options(const carom_integrator *integrator, const carom_step_options *options,
                                 const bool set[CAROM_OPTION_COUNT], carom_error *error) {
  for (int i = 0; i < CAROM_OPTION_COUNT; i++) {
    if (!set[i]) continue;
    carom_value value = carom_option_get(options, (carom_option)i);
    carom_status status = carom_check_option(integrator, (carom_option)i, value, error);
    if (status != CAROM_OK) return status;
  }
  return carom_find_conflict(integrator, options, set, error) < 0 ? CAROM_OK : CAROM_ERR_UNSUPPORTED;
}

// ---- models --------------------------------------------------------------------------------------------------------

// Either form of friction will do. Who sees no contacts is told so once.
static bool is_honoured(const carom_honours *h, carom_trait trait) {
  bool surface = trait == CAROM_TRAIT_RESTITUTION || trait == CAROM_TRAIT_FRICTION_CONE;
  if (surface && !h->traits[CAROM_TRAIT_CONTACTS]) return true;
  return h->traits[trait] || (trait == CAROM_TRAIT_FRICTION_CONE && h->traits[CAROM_TRAIT_FRICTION_PYRAMID]);
}

// A step without inertia knows how a body moves by its support alone.
static carom_status check_supported(const carom_integrator *integrator, const carom_model *m, int *user,
                                    carom_error *error) {
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].fixed || (m->support_count > 0 && m->supports[i].kind != CAROM_SUPPORT_NONE)) continue;
    *user = i;
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "the integrator '%s' has no inertia: body '%.200s' needs a support (support: ...), or 'fixed: "
                      "true', or an integrator with inertia",
                      integrator->name, m->bodies[i].name);
  }
  return CAROM_OK;
}

carom_status carom_check_trait(const carom_integrator *integrator, carom_trait trait, const carom_model *model,
                               int *user, carom_error *error) {
  *user = -1;
  if (trait == CAROM_TRAIT_SUPPORTS && integrator->honours->traits[trait])
    return check_supported(integrator, model, user, error);
  if (is_honoured(integrator->honours, trait)) return CAROM_OK;
  *user = carom_model_uses(model, trait);
  if (*user < 0) return CAROM_OK;
  char whose[300], others[300];
  carom_trait_explain(model, trait, *user, whose, sizeof whose);
  say_who_honours(trait, others, sizeof others);
  return carom_fail(error, CAROM_ERR_UNSUPPORTED, "the integrator '%s' does not honour %s%s; %s", integrator->name,
                    carom_trait_describe((int)trait)->name, whose, others);
}

carom_status carom_check_model(const carom_integrator *integrator, const carom_model *model, bool nothing_meets,
                               carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < CAROM_TRAIT_COUNT && status == CAROM_OK; i++) {
    int user;
    if (nothing_meets && i == CAROM_TRAIT_CONTACTS) continue;
    status = carom_check_trait(integrator, (carom_trait)i, model, &user, error);
  }
  return status;
}

static carom_status unknown_integrator(const char *name, carom_error *error) {
  bool all[MOST_INTEGRATORS];
  char list[300];
  for (int i = 0; i < MOST_INTEGRATORS; i++) all[i] = true;
  say_who(all, "are there", "is there", list, sizeof list);
  return carom_fail(error, CAROM_ERR_ARGUMENT, "no integrator is named '%s'; auto, %s", name ? name : "(null)", list);
}

carom_status carom_integrator_get(const char *name, const carom_integrator **integrator, carom_error *error) {
  *integrator = carom_integrator_at(carom_integrator_find(name));
  return *integrator ? CAROM_OK : unknown_integrator(name, error);
}

carom_status carom_integrator_check(const carom_integrator *integrator, const carom_model *model,
                                    const carom_step_options *options, carom_error *error) {
  bool set[CAROM_OPTION_COUNT];
  carom_options_set(options, set);
  carom_status status = carom_check_options(integrator, options, set, error);
  return status == CAROM_OK && model ? carom_check_model(integrator, model, options->nothing_meets, error) : status;
}

carom_status carom_step_check(const carom_model *model, const carom_step_options *options, carom_error *error) {
  const carom_integrator *integrator;
  carom_choice choice;
  carom_status status = carom_step_choose(model, NULL, 0, options, &choice, error);
  if (status == CAROM_OK) status = carom_integrator_get(choice.integrator, &integrator, error);
  return status == CAROM_OK ? carom_integrator_check(integrator, model, options, error) : status;
}
