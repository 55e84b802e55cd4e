// The integrator `auto`: a list of rules, to be tuned here alone.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/size.h"
#include "step/honours.h"
#include "step/step.h"

enum {
  CROWD = 1000,  // moving bodies from which on one solve for all of them pays
  GRAINS = 200,  // likewise, where all are balls
  FEW = 30,      // moving bodies up to which every impact may be looked up by itself
};

static bool nothing_touches(const carom_wish *w) {
  return w->nothing_meets || (carom_model_uses(w->model, CAROM_TRAIT_CONTACTS) < 0 && w->model->boundary_count == 0);
}

static bool has_walls(const carom_wish *w) { return w->model->boundary_count > 0 || w->model->recirculation_count > 0; }

static bool is_crowd(const carom_wish *w) { return w->model->moving_count >= CROWD; }

static bool is_heap_of_balls(const carom_wish *w) {
  const carom_model *m = w->model;
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed && !carom_body_is_ball(m, &m->bodies[i])) return false;
  return m->moving_count >= GRAINS && m->joint_count == 0;
}

static bool loses(carom_contact_surface s) { return s.restitution < 1 || s.friction > 0; }

static bool keeps_energy(const carom_wish *w) {
  return w->model->moving_count <= FEW && carom_find_surface(w->model, loses) < 0 &&
         carom_model_uses(w->model, CAROM_TRAIT_LIMITS) < 0;
}

static bool any(const carom_wish *w) {
  (void)w;
  return true;
}

typedef struct rule {
  carom_auto_rule said;
  bool (*suits)(const carom_wish *wish);
} rule;

static bool has_supports(const carom_wish *w) { return w->model->support_count > 0; }

static bool has_solids(const carom_wish *w) { return w->model->solid_count > 0; }

static const rule rules[] = {
    {{"quasistatic", "bodies lie on supports, and have no inertia"}, has_supports},
    {{"variational", "nothing can touch"}, nothing_touches},
    {{"potential", "there are solids that deform"}, has_solids},
    {{"cone", "there are boundaries or recirculation"}, has_walls},
    {{"cone", "a thousand bodies or more move"}, is_crowd},
    {{"cone", "two hundred balls or more move, and nothing else"}, is_heap_of_balls},
    {{"exact", "every surface has e = 1 and no friction, no joint has limits, and at most 30 bodies move"},
     keeps_energy},
    {{"dcr", "bodies may touch, with losses, rest or joints"}, any},
    {{"moreau", "the ones above do not honour all that is asked"}, any},
    {{"exact", "nor does moreau"}, any},
    {{"cone", "nor does exact"}, any},
    {{"potential", "nor does cone"}, any},
    {{"newmark", "nor does potential"}, any},
    {{"index2", "nor does newmark"}, any},
};
enum { RULE_COUNT = sizeof rules / sizeof *rules };

const carom_auto_rule *carom_auto_describe(int index) {
  return index >= 0 && index < RULE_COUNT ? &rules[index].said : NULL;
}

bool carom_is_auto(const char *name) { return name && strcmp(name, "auto") == 0; }

static carom_status check_wish(const carom_wish *w, const carom_integrator *integrator, carom_error *error) {
  carom_status status = carom_check_options(integrator, w->options, w->set, error);
  return status == CAROM_OK && w->model ? carom_check_model(integrator, w->model, w->nothing_meets, error) : status;
}

// The first that suits and honours everything. What stood in the way of the first that suits is worth telling.
carom_status carom_select(const carom_wish *wish, carom_choice *choice, carom_error *error) {
  carom_error first = {0}, other;
  for (int i = 0; i < RULE_COUNT; i++) {
    if (wish->model ? !rules[i].suits(wish) : rules[i].suits != any) continue;
    const carom_integrator *integrator = carom_integrator_at(carom_integrator_find(rules[i].said.integrator));
    if (check_wish(wish, integrator, first.message[0] ? &other : &first) != CAROM_OK) continue;
    choice->integrator = integrator->name;
    snprintf(choice->reason, sizeof choice->reason, "%s%s%.500s", rules[i].said.when, first.message[0] ? "; " : "",
             first.message);
    return CAROM_OK;
  }
  return carom_fail(error, first.status, "no integrator honours all of this together: %s", first.message);
}

carom_status carom_step_choose(const carom_model *model, const carom_state *state, double duration,
                               const carom_step_options *options, carom_choice *choice, carom_error *error) {
  bool set[CAROM_OPTION_COUNT];
  *choice = (carom_choice){.integrator = options->integrator};
  if (!carom_is_auto(options->integrator)) return CAROM_OK;
  carom_options_set(options, set);
  bool apart = options->nothing_meets || (model && state && carom_stay_apart(model, state, duration));
  return carom_select(&(carom_wish){model, options, set, apart}, choice, error);
}
